"""A token of three features on its way through layer normalisation, in a space that can be turned.

x is the token, with a gain and a bias for each feature.  step says how far it is: 0 as it is, 1 without its mean,
2 divided by its standard deviation, 3 with gain and bias.  view is in degrees: how far the space is turned about the
line of equal features, and from how far above the plane of mean 0 it is seen, 90 for straight from above.
"""

from ..shared.states import fits, numbers, whole

STATE = {
    "x": numbers(3, least=-2.5, most=2.5),
    "gain": numbers(3, least=-2, most=2),
    "bias": numbers(3, least=-1, most=1),
    "step": whole(0, 3),
    "view": fits(
        "a turn from -180 to 180 and a height from -90 to 90, in degrees",
        lambda value, state: not numbers(2, least=-180, most=180)(value, state) and abs(value[1]) <= 90,
    ),
}
