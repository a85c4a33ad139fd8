"""Text as tokens, a model that writes it, its cache, what counting and compressors reach; built in chapter 16."""

# ruff: noqa: F401 - this hands on what the modules beside it have

from .cache import KeyValueCache, step
from .counting import KneserNey, blended, counted, grams
from .encoding import PIECES, BytePairEncoding, apply_merges, learn_merges, merged, pieces, text_bytes
from .measuring import COMPRESSORS, bits_per_byte, compressed, foretold
from .plays import load_plays, windows
from .writer import MERGES, WINDOW, new_writer, text_model
from .writing import beam_text, choose, generate, shares
