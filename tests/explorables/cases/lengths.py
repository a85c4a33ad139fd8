"""What the tests begin with, do and expect of the explorable "lengths"."""

import math

START = {"length": 16384, "heads": 32, "width": 128, "bytes": 2, "block": 512}
DEVICES = {"phone": 8e9, "laptop": 16e9, "accelerator": 80e9}


def memory(length, heads, width, bytes, block):
    """Return the bytes of queries, keys, values and output of all heads, and of their scores: all, and one tile."""
    vectors = 4 * length * width
    return {
        "table": bytes * heads * (vectors + length**2),
        "tiles": bytes * heads * (vectors + min(block, length) ** 2),
    }


def multiplications(length, heads, width, block, **_):
    """Return those of scores and mixing, to which tiles add at each block of keys, and those of the matrices."""
    d = heads * width
    scores = 2 * length**2 * d
    converted = math.ceil(length / block) * length * heads * (width + 1)
    return {"table": scores, "tiles": scores + converted}, 12 * length * d**2


def most(room, kind, state):
    """Return the longest text that fits into so many bytes, found by halving; it is longer than a tile."""
    low, high = state["block"], 2**40
    while high - low > 1:
        middle = (low + high) // 2
        fits = memory(**{**state, "length": middle})[kind] <= room
        low, high = (middle, high) if fits else (low, middle)
    return low


def scaled(number, base):
    """Return a number, divided by the largest power of `base` below it."""
    return number / base ** (len(str(number)) - 1 if base == 10 else (len(str(number)) - 1) // 3)


def numbers(**state):
    """Return what is needed at a length, each in its unit, and the longest text on each device."""
    scores, matrices = multiplications(**state)
    found = {"length": state["length"]}
    for kind, size in memory(**state).items():
        found |= {f"memory-{kind}": scaled(size, 1000), f"scores-{kind}": scaled(scores[kind], 10)}
        found[f"matrices-{kind}"] = scaled(matrices, 10)
        found |= {f"{name}-{kind}": most(room, kind, state) for name, room in DEVICES.items()}
    return found


WALK = [
    ("slider", "length", "ArrowRight", {"length": 19484}),
    ("slider", "length", "Home", {"length": 16}),
    ("slider", "length", "End", {"length": 2**20}),
    ("slider", "length", "Shift+ArrowLeft", {"length": 185364}),
    ("spinbutton", "length as a number", "1000", {"length": 1000}),
    ("combobox", "heads", "1", {"heads": 1}),
    ("combobox", "width of a head", "64", {"width": 64}),
    ("combobox", "bytes a number", "4", {"bytes": 4}),
    ("combobox", "tile", "64", {"block": 64}),
    ("combobox", "heads", "32", {"heads": 32}),
    ("combobox", "width of a head", "128", {"width": 128}),
    ("combobox", "bytes a number", "2", {"bytes": 2}),
    ("combobox", "tile", "512", {"block": 512}),
    ("spinbutton", "length as a number", "16384", START),
]
SPOKEN = ("slider", "length", 2 * "ArrowUp ", {"length": 23170}, "{said}")
OTHER = {"bytes": 4}
ROOMY = {"length": 2**20, "heads": 128, "width": 256, "bytes": 4, "block": 1024}
TYPED_WRONG = ("length as a number", ["15", "16.5", "1048577"])
TOUCHED = ("length", (-60, 0))
SAID = [
    ({}, [], "At 16,384 tokens the table needs 17.7 GB and fits into an accelerator; the tiles need 554 MB, 32 times"),
    ({"length": 16}, [], "the table needs 541 kB and fits into a phone; the tiles need 541 kB, about as much."),
    ({"length": 2**20}, [], "needs 70.4 TB and fits into none of the three; the tiles need 34.4 GB, 2,048 times less."),
    ({"length": 1000, "block": 64}, [], "the tiles need 33.0 MB, 2.9 times less."),
    ({"length": 15557}, [], "and fits into a laptop;"),
    ({"length": 15558}, [], "and fits into an accelerator;"),
]
BECOMES = [
    ({"length": 100, "heads": 7, "width": 33, "block": 1024, "bytes": 1}, [], {}),
    (ROOMY, [("slider", "length", "Home")], {"length": 16}),
    ({"length": 16, "heads": 1, "width": 16, "bytes": 1, "block": 16}, [], {}),
]
WRITTEN = [({"length": 2**20}, {"memory-table": "70.4", "scores-table": "9.01"})]
REFUSED = [
    ("length", 15),
    ("length", 2**20 + 1),
    ("heads", 0),
    ("width", 8),
    ("bytes", 3),
    ("bytes", 2.0),
    ("block", 8),
]
