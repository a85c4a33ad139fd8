"""The exercises of chapter 10, on positional encodings."""

import numpy as np

from minitransformer.positions import angles, rotary, sinusoidal_positions

from . import Check, Lines, Mend

_RNG = np.random.default_rng(10)
_QUERIES = tuple((_RNG.normal(size=shape),) for shape in ((5, 6), (4, 8)))


def _frequencies(exponent):
    """Return a function of d: the frequencies 10000^−exponent(i, d) of the pairs i."""
    return lambda d: 10000.0 ** -exponent(np.arange(d // 2), d)


_right = _frequencies(lambda i, d: 2 * i / d)
_half = _frequencies(lambda i, d: i / d)


def _table(frequencies=_right, first=0):
    """Return a table of positions with these frequencies, which begins at a position of its own."""

    def table(n, d):
        turns = np.arange(first, first + n)[:, None] * frequencies(d)
        return np.stack([np.sin(turns), np.cos(turns)], axis=-1).reshape(n, d)

    return table


def _by_feature(exponent, first=0):
    """Return a table of positions with an exponent for each feature instead of each pair."""

    def table(n, d):
        feature = np.arange(d)
        turns = np.arange(first, first + n)[:, None] / 10000.0 ** exponent(feature, d)
        return np.where(feature % 2, np.cos(turns), np.sin(turns))

    return table


def _turned(frequencies=_right, first=0):
    def turned(x):
        turns = np.arange(first, first + len(x))[:, None] * frequencies(x.shape[1])
        even, odd = x[:, 0::2], x[:, 1::2]
        pairs = [even * np.cos(turns) - odd * np.sin(turns), even * np.sin(turns) + odd * np.cos(turns)]
        return np.stack(pairs, axis=-1).reshape(x.shape)

    return turned


def _both_plus(x):
    cos, sin = np.cos(angles(np.arange(len(x)), x.shape[1])), np.sin(angles(np.arange(len(x)), x.shape[1]))
    even, odd = x[:, 0::2], x[:, 1::2]
    return np.stack([even * cos + odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)


def _turned_halves(x):
    turns = angles(np.arange(len(x)), x.shape[1])
    a, b = np.split(x, 2, axis=1)
    return np.hstack([a * np.cos(turns) - b * np.sin(turns), a * np.sin(turns) + b * np.cos(turns)])


def _half_turned(x):
    y = x.copy()
    y[:, 0::2] = rotary(x)[:, 0::2]
    return y


def _overwritten(x):
    turns = angles(np.arange(len(x)), x.shape[1])
    y = x.copy()
    y[:, 0::2] = y[:, 0::2] * np.cos(turns) - y[:, 1::2] * np.sin(turns)
    y[:, 1::2] = y[:, 0::2] * np.sin(turns) + y[:, 1::2] * np.cos(turns)
    return y


def _an_angle_a_feature(spread):
    """Return a turn with angles (n, d), which `spread` makes of the positions (n, 1) and d."""

    def turned(x):
        turns = spread(np.arange(len(x))[:, None], x.shape[1])
        partners = np.stack([-x[:, 1::2], x[:, 0::2]], axis=-1).reshape(x.shape)
        return x * np.cos(turns) + partners * np.sin(turns)

    return turned


CHECKS = {
    "positions-row": Check(
        [np.sin(3), np.cos(3), np.sin(0.03), np.cos(0.03)],
        {
            "sine and cosine are swapped: feature 2i is the sine.": [np.cos(3), np.sin(3), np.cos(0.03), np.sin(0.03)],
            "positions are counted from 0: that is the row of position 2.": (
                [np.sin(2), np.cos(2), np.sin(0.02), np.cos(0.02)]
            ),
            "positions are counted from 0: that is the row of position 4.": (
                [np.sin(4), np.cos(4), np.sin(0.04), np.cos(0.04)]
            ),
            "the two features of a hand stand side by side: not all sines first.": (
                [np.sin(3), np.sin(0.03), np.cos(3), np.cos(0.03)]
            ),
            "you turned by degrees: angles are in radians.": (
                [np.sin(np.pi / 60), np.cos(np.pi / 60), np.sin(np.pi / 6000), np.cos(np.pi / 6000)]
            ),
            "i is the number of the hand, not of the feature: sine and cosine share an angle.": (
                [np.sin(3), np.cos(0.03), np.sin(3e-4), np.cos(3e-6)]
            ),
            "the exponent is 2i/d: the second hand is a hundredth as fast as the first, not a tenth.": (
                [np.sin(3), np.cos(3), np.sin(0.3), np.cos(0.3)]
            ),
            "the exponent is 2i/d: the last hand of d/2 does not quite reach 1/10000.": (
                [np.sin(3), np.cos(3), np.sin(3e-4), np.cos(3e-4)]
            ),
            "the second hand must be slower than the first: divide.": [np.sin(3), np.cos(3), np.sin(300), np.cos(300)],
            "these are the angles: their sines and cosines are still to come.": [3, 3, 0.03, 0.03],
        },
    ),
    "positions-bug": Check(
        sinusoidal_positions,
        {
            "nothing is mended yet: print the row of position 0, and compare the exponents of features 0 and 1.": (
                _by_feature(lambda i, d: 2 * i / d, first=1)
            ),
            "one is left: the row of position 0 should be 0, 1, 0, 1, …": _table(first=1),
            "one is left: features 2i and 2i + 1 belong to one hand, so they need one exponent.": (
                _by_feature(lambda i, d: 2 * i / d)
            ),
            "the exponents still differ within a pair, and the first row is still that of position 1.": (
                _by_feature(lambda i, d: i / d, first=1)
            ),
            "the exponents are half as large now, and still differ within a pair.": _by_feature(lambda i, d: i / d),
            "a pair shares an exponent now, but it is half of 2i/d; and the first row is that of position 1.": (
                _table(_half, first=1)
            ),
            "a pair shares an exponent now, but it is half of 2i/d.": _table(_half),
            "positions are counted from 0, not from −1; the exponents are right.": _table(first=-1),
            "positions are counted from 0, not from −1; and the exponents still differ within a pair.": (
                _by_feature(lambda i, d: 2 * i / d, first=-1)
            ),
        },
        ((7, 6), (3, 8)),
    ),
    "positions-rotary": Check(
        rotary,
        {
            "you turned the other way; the scores would be the same, but the book turns from the first feature of a "
            "pair towards the second.": lambda x: rotary(x, -np.arange(len(x))),
            "you paired the first half with the second, as some programs do: here neighbours are a pair.": (
                _turned_halves
            ),
            "the pairs are turned, but they must stand side by side again: interleave them.": (
                lambda x: np.hstack([rotary(x)[:, 0::2], rotary(x)[:, 1::2]])
            ),
            "that is one complex number for each pair: its real and its imaginary part are the two features.": (
                lambda x: (x[:, 0::2] + 1j * x[:, 1::2]) * np.exp(1j * angles(np.arange(len(x)), x.shape[1]))
            ),
            "nothing is added here: positions turn the rows.": lambda x: x + sinusoidal_positions(*x.shape),
            "a turn mixes the two features of a pair: multiplying each by a number does not.": (
                lambda x: x * sinusoidal_positions(*x.shape)
            ),
            "all your pairs turn by one angle: each has a frequency of its own.": _turned(lambda d: np.ones(d // 2)),
            "positions are counted from 0: the first row stays as it is.": _turned(first=1),
            "the even features are right, and the odd ones have to turn as well.": _half_turned,
            "the odd features were made of the even ones that had been turned already: keep the old ones.": (
                _overwritten
            ),
            "both features of a pair turn by the same angle: yours differ, so lengths change.": _an_angle_a_feature(
                lambda t, d: t / 10000.0 ** (np.arange(d) / d)
            ),
            "the angles are laid side by side twice, so neighbours differ: np.repeat gives each two features.": (
                _an_angle_a_feature(lambda t, d: np.tile(t * _right(d), 2))
            ),
            "one of the two sines needs a minus: what you have does not keep lengths.": _both_plus,
            "the exponent is 2i/d for the pair i: yours is half of that.": _turned(_half),
        },
        _QUERIES,
    ),
}

FORMS = {
    "positions-bug": Mend(
        {
            "t, feature = np.arange(1, n + 1), np.arange(d)": {
                "positions should be counted from 0": "t, feature = np.arange(n), np.arange(d)",
                "positions should be counted from −1": "t, feature = np.arange(-1, n - 1), np.arange(d)",
            },
            "turns = t[:, None] / 10000 ** (2 * feature / d)": {
                "the exponent should be halved": "turns = t[:, None] / 10000 ** (feature / d)",
                "the exponent should be that of the pair": "turns = t[:, None] / 10000 ** (2 * (feature // 2) / d)",
                "the exponent should be that of the pair, and halved": (
                    "turns = t[:, None] / 10000 ** ((feature // 2) / d)"
                ),
            },
        }
    ),
    "positions-rotary": Lines(
        (
            "moved = pairs * np.exp(-1j * angles(np.arange(n), d))",
            "moved = pairs * np.exp(1j * np.arange(n)[:, None])",
            "return np.concatenate([moved.real, moved.imag], axis=-1)",
        )
    ),
}
