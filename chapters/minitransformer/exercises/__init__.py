"""The exercises of each chapter: the right answer and the usual wrong ones, each filed under its hint."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Check:
    """The right answer (a value, or a function tried on the tuples in `probes`) and hint -> wrong answer.

    Where `vjp` is true, a function takes x and returns its result and its backward pass, which is compared with finite
    differences; a probe is x and the gradient that comes from behind.
    """

    right: Any
    wrong: dict = field(default_factory=dict)
    probes: tuple = ()
    vjp: bool = False
