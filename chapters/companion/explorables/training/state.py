"""One training: losses, each of equally many steps; and at `steps`, evenly apart, what was measured of one row.

That is exact, the share of rows that are right; says, what the model says where `targets` are right; and weights, how
much each target looks at each of `labels`.  step is the one that is shown.
"""

from ..shared.states import fits, numbers, one_of, words


def _even(value, state):
    """Tell whether a value is [0, s, 2 s, …] with a whole number s, at least up to s."""
    integers = isinstance(value, list) and len(value) > 1 and all(type(v) is int for v in value)
    return integers and value[1] > 0 and value == list(range(0, len(value) * value[1], value[1]))


STATE = {
    "losses": numbers((2, None), positive=True),
    "steps": fits("two or more whole numbers from 0 on, evenly apart", _even),
    "exact": numbers("steps", least=0, most=1),
    "labels": words((2, 12)),
    "targets": words((2, 13), longest=5),
    "says": words("steps", "targets", longest=5),
    "weights": numbers("steps", "targets", "labels", least=0, most=1),
    "step": one_of("steps"),
}
