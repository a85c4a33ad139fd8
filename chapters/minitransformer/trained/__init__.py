"""What is found in models that were trained: inside the book's own, between its twins, and without each part."""

# ruff: noqa: F401 - this hands on what the modules beside it have

from ..translation import FILE, load_model, load_runs
from .examples import Example, examples, scored
from .inside import seen
