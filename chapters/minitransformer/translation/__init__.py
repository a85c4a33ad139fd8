"""Translation: batches of sentence pairs, greedy decoding, beam search, the book's translator; built in chapter 15."""

# ruff: noqa: F401 - this hands on what the modules beside it have

from .decoding import END, PAD, START, beam_search, greedy_decode
from .pairs import (
    MARKS,
    NUMBERS,
    PRONOUNS,
    SENTENCES,
    Language,
    batch_of,
    correct_words,
    draw_batch,
    english_words,
    french_text,
    french_words,
    word_numbers,
)
from .translator import BOOK, FILE, load_model, load_progress, load_runs, load_stages, new_model, translate
