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


# How an exercise is answered on the book's pages, where nothing can run; a value is typed in without more being said.


@dataclass
class Typed:
    """What the answer returns for the arguments `given`, `said` in words, is typed in; or its shape alone."""

    said: str
    given: tuple
    shape: bool = False


@dataclass
class Lines:
    """The lines of the solution are put in order; among them stand lines of known mistakes, the `strangers`.

    They are the lines of the function `of` where that is not the one that is checked but one that it uses.
    """

    strangers: tuple
    of: str = ""


@dataclass
class Mend:
    """A line of the code is found, and what is wrong with it: line -> {what may be wrong: what would stand there}."""

    causes: dict


@dataclass
class Pick:
    """The number of a statement is the answer; the statements are the numbered list of the exercise."""
