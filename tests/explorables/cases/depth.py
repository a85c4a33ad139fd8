"""What the tests begin with, do and expect of the explorable "depth"."""

import numpy as np

START = {
    "scale": 0.9,
    "depth": 24,
    "plain": [0.9**i * (1 + 0.1 * (-1) ** i) for i in range(1, 49)],
    "residual": [1.81 ** (i / 2) * (1 - 0.1 * (-1) ** i) for i in range(1, 49)],
}


def chains(scale, depths):
    """Return what each chain's gradient measures behind `depths` layers, by adding up squares layer by layer."""
    found = {"plain": [], "residual": [], "divided": []}
    for depth in depths:
        plain, residual, divided = 1.0, 1.0, 1.0  # squares
        for _ in range(int(depth)):
            plain, residual = plain * scale**2, residual + scale**2 * residual
            divided += scale**2 / depth * divided
        for name, square in zip(found, (plain, residual, divided)):
            found[name].append(np.sqrt(square))
    return {name: np.array(sizes) for name, sizes in found.items()}


def numbers(scale, depth, plain, residual, known=True):
    """Return the sizes behind so many layers; `known` says whether they were measured at this scale."""
    sizes = {name: curve[0] for name, curve in chains(scale, [depth]).items()}
    measured = {"measured-plain": plain[depth - 1], "measured-residual": residual[depth - 1]}
    measured = measured if known else dict.fromkeys(measured)
    return sizes | measured | {"depth": depth, "scale": scale}


WALK = [
    *(("slider", "depth", key, {"depth": n}) for key, n in {"Home": 1, "Shift+ArrowUp": 11, "End": 48}.items()),
    ("slider", "scale", "End", {"scale": 2}, {"known": False}),
    ("slider", "scale", "ArrowDown Shift+ArrowDown", {"scale": 1.37}),
    ("spinbutton", "scale as a number", "3.5", {"scale": 3.5}),
    *(("button", f"s = {scale}", "", {"scale": scale}) for scale in (0.5, 1, 2)),
    ("button", "start again", "", START, {"known": True}),
]
SPOKEN = ("slider", "depth", 3 * "ArrowUp ", {"depth": 27}, "{said}")
ROOMY = {**START, "depth": 48}
LIMIT = "With divided branches it never exceeds exp(s²/2) ="
ONE = {"scale": 1, "plain": [1.0] * 48, "residual": (2.0 ** (np.arange(1, 49) / 2)).tolist()}
SAID = [
    (
        ONE,
        [],
        f"24 layers, s = 1: plain 1.00, residual 4096; with branches divided by √24, 1.63. Only at s = 1 does the "
        f"plain chain keep its size. The residual one grows by √2 in each layer. {LIMIT} 1.65.",
    ),
    (
        {"scale": 0.5, "depth": 48},
        [],
        f"48 layers, s = 0.5: plain 3.6e-15, residual 211.8; with branches divided by √48, 1.13. The plain chain "
        f"multiplies by less than 1 each time, and vanishes. The residual one lets a 1 through. {LIMIT} 1.13.",
    ),
    (
        {"scale": 2, "depth": 1},
        [],
        f"1 layer, s = 2: plain 2.00, residual 2.24; with branches divided by √1, 2.24. Both multiply by more than "
        f"1 each time, and explode. {LIMIT} 7.39.",
    ),
]
BECOMES = [({"scale": 5}, [("slider", "depth", "Home ArrowDown")], {"depth": 1})]
REFUSED = [("depth", 49), ("plain", [1, 0]), ("residual", [0] * 48)]
