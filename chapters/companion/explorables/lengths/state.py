"""What attention over a text costs in one layer: length, in tokens, heads, the width of a head, and bytes of a number.

block is how many queries and keys online attention takes at a time.
"""

from ..shared.states import one_of, whole

STATE = {
    "length": whole(16, 2**20),
    "heads": whole(1, 128),
    "width": whole(16, 256),
    "bytes": one_of(1, 2, 4),
    "block": whole(16, 1024),
}
