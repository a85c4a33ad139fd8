"""Public checkpoints: `load_pretrained` reads a folder into a model of the book, `save_pretrained` writes one.

Used in chapter 19.
"""

# ruff: noqa: F401 - this hands on what the modules beside it have

from .. import today  # first, as each of the two packages hands on what is in the other
from . import reading
from .loading import load_pretrained
from .saving import save_pretrained
from .tokens import PublicEncoding
