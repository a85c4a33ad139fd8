"""The exercises of chapter 11, on feed-forward networks."""

import numpy as np
from scipy.special import erf, ndtr

from minitransformer.feed_forward import gelu

from . import Check, Lines, Mend, Typed

_RNG = np.random.default_rng(11)
_BITS = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 0, 1]], dtype=float)
_SHARES = np.array([[0.5, 0.5, 0.25], [0.75, 0.5, 0.5], [1, 0, 0.5], [0.25, 0.25, 0.25], [1, 1, 0.5]])
_NETWORKS = tuple(
    tuple(_RNG.normal(size=shape) for shape in ((n, d), (d, hidden), hidden, (hidden, d), d))
    for n, d, hidden in ((4, 3, 5), (2, 4, 7))
)
_GAUGES = tuple((_RNG.normal(size=(hidden, d)), _RNG.uniform(0.3, 3, size=hidden)) for hidden, d in ((5, 3), (2, 6)))


def _of_sum(bend):
    """A function of how many of the three features are 1."""
    return lambda x: bend(x.sum(axis=1, keepdims=True))


def _network(bend=lambda x, W_1, b_1: np.maximum(x @ W_1 + b_1, 0), last=lambda places: 1):
    """The network with another first half, or with its last bias times a factor that may depend on the place."""
    return lambda x, W_1, b_1, W_2, b_2: bend(x, W_1, b_1) @ W_2 + b_2 * last(np.arange(len(x))[:, None])


def _after(x, W_1, b_1):
    return np.maximum(x @ W_1, 0) + b_1


CHECKS = {
    "feed-forward-majority": Check(
        _of_sum(lambda s: np.maximum(s - 1, 0) - np.maximum(s - 2, 0)),
        {
            "three ones give 2: a second hinge must take 1 away.": _of_sum(lambda s: np.maximum(s - 1, 0)),
            "that is exactly two of the three: with three ones it says 0.": _of_sum(
                lambda s: np.maximum(s - 1, 0) - 2 * np.maximum(s - 2, 0)
            ),
            "that is at least one: the hinges stand at 0 and 1, and should be one further.": _of_sum(
                lambda s: np.maximum(s, 0) - np.maximum(s - 1, 0)
            ),
            "that is all three: the hinge stands at 2, and should come one before.": _of_sum(
                lambda s: np.maximum(s - 2, 0)
            ),
            "nothing is cut off: without a bend your output is the sum less 1.": _of_sum(lambda s: s - 1),
            "your answer is reversed: it says 1 where fewer than two are 1.": _of_sum(
                lambda s: 1 - np.maximum(s - 1, 0) + np.maximum(s - 2, 0)
            ),
            "three ones give 3: something must take 2 away there, and nothing elsewhere.": _of_sum(
                lambda s: np.maximum(s - 1, 0) + np.maximum(s - 2, 0)
            ),
            "that is whether the number of ones is odd.": _of_sum(lambda s: s % 2),
            "that is a step, which no two hinges make: between 1 and 2 the output rises in a straight line.": _of_sum(
                lambda s: (s >= 2).astype(float)
            ),
            "that is a step at 1: it should rise from there to 2 in a straight line.": _of_sum(
                lambda s: (s > 1).astype(float)
            ),
            "the answer is right, in the shape (n,): W_2 is (2, 1), so that the output is (n, 1).": lambda x: np.clip(
                x.sum(axis=1) - 1, 0, 1
            ),
        },
        ((_BITS,), (_SHARES,), (_BITS[1:6],)),
    ),
    "feed-forward-parameters": Check(
        762,
        {
            "the biases are missing: one for each hidden unit, and one for each output.": 720,
            "a bias is the same for every token: the 100 does not matter.": 4920,
            "the network is the same for every token: the 100 does not matter.": 76200,
            "b_2 is missing: the output has a bias as well.": 750,
            "b_1 is missing: the hidden layer has a bias as well.": 732,
            "there are two matrices: W_2 leads back from 30 to 12.": 402,
            "b_2 is as wide as the output, 12, not as the hidden layer.": 780,
            "b_1 is as wide as the hidden layer, 30, not as the token.": 744,
            "here the hidden layer is 30 wide, not four times 12.": 1212,
        },
    ),
    "feed-forward-gelu": Check(
        lambda x: x * ndtr(x),
        {
            "√2 is missing: erf belongs to a variance of 1/2, so divide x by √2 first.": lambda x: x * (1 + erf(x)) / 2,
            "you multiplied by √2: divide.": lambda x: x * (1 + erf(x * 2**0.5)) / 2,
            "that is Φ(x), the gate: multiply by x.": ndtr,
            "that is the probability of lying between −x and x: add 1 and halve.": lambda x: x * erf(x / 2**0.5),
            "halve it: as it is, Φ would go up to 2.": lambda x: x * (1 + erf(x / 2**0.5)),
            "the 1 is missing: half of all numbers lie below 0.": lambda x: x * erf(x / 2**0.5) / 2,
            "that is the formula with tanh, which is close; the exact one is asked for.": gelu,
            "that is another approximation, with a sigmoid of 1.702 x; the exact one is asked for.": lambda x: (
                x / (1 + np.exp(-1.702 * x))
            ),
            "that is SiLU, whose gate is the logistic function: here it is Φ.": lambda x: x / (1 + np.exp(-x)),
            "erf(x) is no Φ(x): divide x by √2, add 1 and halve.": lambda x: x * erf(x),
            "divide by √2, not by 2.": lambda x: x * (1 + erf(x / 2)) / 2,
            "that is the ReLU: the gate should open smoothly.": lambda x: np.maximum(x, 0),
        },
        ((np.array([-2.7, -0.8, 0.0, 0.6, 1.9]),), (np.array([[0.3], [-1.4]]),)),
    ),
    "feed-forward-bug": Check(
        _network(),
        {
            "nothing is repaired: b_1 comes after the bend, and b_2 depends on the place.": _network(
                _after, lambda places: places
            ),
            "places are gone; b_1 is still added after the bend, where it moves no hinge.": _network(_after),
            "the hinges are right; b_2 is still multiplied by the place.": _network(last=lambda places: places),
            "b_1 is gone: without it, all hinges go through 0.": _network(lambda x, W_1, b_1: np.maximum(x @ W_1, 0)),
            "b_2 is gone: the output has a bias, the same for every token.": _network(last=lambda places: 0),
            "the bend is gone: cut off what is negative.": _network(lambda x, W_1, b_1: x @ W_1 + b_1),
            "counting the places from 1 is no cure: b_2 is the same for every token.": _network(
                last=lambda places: places + 1
            ),
            "b_1 is subtracted: add it.": _network(lambda x, W_1, b_1: np.maximum(x @ W_1 - b_1, 0)),
            "the bend comes last: it stands between the two matrices.": lambda x, W_1, b_1, W_2, b_2: np.maximum(
                (x @ W_1 + b_1) @ W_2 + b_2, 0
            ),
        },
        _NETWORKS,
    ),
    "feed-forward-gauge": Check(
        lambda W_2, a: W_2 / a[:, None],
        {
            "you multiplied: what enters is a times as large, so divide what leaves.": lambda W_2, a: W_2 * a[:, None],
            "unit i meets row i with its own a[i], not with their mean.": lambda W_2, a: W_2 / a.mean(),
            "nothing is changed: each hidden unit is a[i] times as large.": lambda W_2, a: W_2,
            "divide by a once: max(0, a z) is a max(0, z), not its square.": lambda W_2, a: W_2 / a[:, None] ** 2,
            "divide by a, not by its root: what enters has the whole factor.": lambda W_2, a: W_2 / a[:, None] ** 0.5,
            "you subtracted: undo a factor by division.": lambda W_2, a: W_2 - a[:, None],
            "a is in the wrong order: row i belongs to a[i].": lambda W_2, a: W_2 / a[::-1, None],
        },
        _GAUGES,
    ),
}

FORMS = {
    "feed-forward-majority": Lines(
        (
            'hinges = {"W_1": np.ones((3, 2)), "b_1": [0, -1]}',
            'out = {"W_2": [[1], [-2]], "b_2": [0]}',
            'out = {"W_2": [[1], [1]], "b_2": [0]}',
        )
    ),
    "feed-forward-gelu": Lines(("below = (1 + erf(x)) / 2", "below = (1 + erf(x / 2)) / 2", "below = erf(x / 2**0.5)")),
    "feed-forward-bug": Mend(
        {
            "wide = np.maximum(x @ W_1, 0) + b_1": {
                "b_1 has the wrong sign": "wide = np.maximum(x @ W_1, 0) - b_1",
                "b_1 comes too late": "wide = np.maximum(x @ W_1 + b_1, 0)",
                "the bend comes too early": "wide = x @ W_1 + b_1",
            },
            "return wide @ W_2 + b_2 * places": {
                "the places should be counted from 1": "return wide @ W_2 + b_2 * (places + 1)",
                "the bias should be the same at all places": "return wide @ W_2 + b_2",
                "there should be no bias here": "return wide @ W_2",
            },
        }
    ),
    "feed-forward-gauge": Typed(
        "Type what it returns for `W_2` = ((4, 8, 2), (3, 6, 9)) and `a` = (2, 3).",
        (np.array([[4, 8, 2], [3, 6, 9]]), np.array([2, 3])),
    ),
}
