"""Hinges that add up to a curve: its heights at as many places, evenly from -3 to 3, and of each hinge place and slope.

A hinge adds slope · max(0, x - place), or slope · (x - place) where it is not bent.
"""

from ..shared.states import numbers, one_of

STATE = {
    "curve": numbers((2, 241)),
    "places": numbers((1, 6), least=-3.5, most=2.5),
    "slopes": numbers("places", least=-1e6, most=1e6),
    "bent": one_of(True, False),
}
