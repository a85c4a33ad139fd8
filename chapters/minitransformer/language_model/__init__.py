"""Byte-pair encoding, a model of text, sampling, the key–value cache, n-gram models; built in chapter 16."""

# ruff: noqa: F401 - this hands on what the modules beside it have

from .cache import KeyValueCache, decode_step
from .counting import KneserNey, interpolated, ngram_counts, ngrams
from .encoding import PIECES, BytePairEncoding, apply_merges, learn_merges, merge_pair, pieces, text_bytes
from .measuring import COMPRESSORS, bits_per_byte, compressed_bits, token_probabilities
from .plays import load_plays, windows
from .writer import MERGES, WINDOW, new_writer, text_model
from .writing import beam_text, generate, sample, sampling_probabilities
