"""Byte-pair encoding, a model of text, sampling, the key–value cache, drafts, n-gram models; built in chapter 16."""

# ruff: noqa: F401 - this hands on what the modules beside it have

from .cache import KeyValueCache, decode_step
from .counting import KneserNey, interpolated, ngram_counts, ngrams
from .encoding import PIECES, BytePairEncoding, apply_merges, learn_merges, merge_pair, pieces, text_bytes
from .measuring import bits_per_byte, token_probabilities
from .plays import load_plays, windows
from .speculating import checked_drafts, speculate
from .writer import MERGES, WINDOW, new_writer, text_model
from .writing import beam_text, discourage, generate, sample, sampling_probabilities
