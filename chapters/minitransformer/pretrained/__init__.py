"""Public checkpoints: `load_pretrained` reads a folder into a model of the book, `save_pretrained` writes one.

Used in chapter 19.
"""

# ruff: noqa: F401 - this hands on what the modules beside it have

from .loading import load_pretrained
from .saving import save_pretrained
from .tokens import PublicEncoding
