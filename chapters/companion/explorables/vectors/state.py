"""Two arrows: a and b, each [x, y]."""

from ..shared.states import numbers

STATE = {"a": numbers(2), "b": numbers(2)}
