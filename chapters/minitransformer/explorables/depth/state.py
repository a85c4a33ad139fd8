"""What many layers make of a size: scale, depth, and what was measured at that scale behind 1 to 48 layers."""

from ..shared.states import numbers, whole

STATE = {
    "scale": numbers(positive=True),
    "depth": whole(1, 48),
    "plain": numbers(48, positive=True),
    "residual": numbers(48, positive=True),
}
