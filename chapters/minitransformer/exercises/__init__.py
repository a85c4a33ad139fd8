"""The exercises of each chapter: the right answer and the usual wrong ones, each filed under its hint."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Check:
    """The right answer (a value, or a function tried on the tuples in `probes`) and hint -> wrong answer."""

    right: Any
    wrong: dict = field(default_factory=dict)
    probes: tuple = ()
