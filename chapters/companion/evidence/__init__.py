"""What is found in models that were trained: inside the book's own, between its twins, and without each part."""

# ruff: noqa: F401 - this hands on what the modules beside it have

from .activations import activations
from .examples import Example, animals_and_things, examples, hidden, looks, scored, twin_examples
from .lookups import Lookup, lookup, translate_with
from .norms import NORMS, without_norms
from .suspects import suspect
