"""States at an edge, and what a press makes of them: the numbers, how these are written, and what is said of it."""

import re

import numpy as np
import pytest

from minitransformer.positions import sinusoidal_positions
from tests.shared.explorable_numbers import features, head_steps
from tests.shared.explorable_page import EIGHT, PUBLISHED, START, act, assert_shows, run_widget, said, text

BLEND = "tie: the output is a blend, and like none of the values."
MEAN = "the output is the mean of the values, at any scale."
ROSE = "Every hidden score rose by 2. The largest change of a weight is"
PAST = "each row sees itself and what came before it"
SQUARE = "Scores and mix, the tokens’ square, outgrow a layer’s matrices where n > 2d + hidden ="
LIMIT = "With divided branches it never exceeds exp(s²/2) ="
WRONG = ("checkbox", "reshape without swapping")
ALIKE = {name: [row[:3] * 2 for row in START["heads"][name]] for name in ("queries", "keys")}
ONE = {"scale": 1, "plain": [1.0] * 48, "residual": (2.0 ** (np.arange(1, 49) / 2)).tolist()}
SINES = sinusoidal_positions(12, 4).tolist()
MOVED = "The pale band is the curve of position 3, moved along: they differ by at most"
STEPS = [head_steps(**START["heads"], wrong=wrong)[0] for wrong in (False, True)]
APART = [f"differ from the right ones by up to {abs(STEPS[0][step] - STEPS[1][step]).max():.2f}." for step in (3, 4)]
DOUBLED = [features(**{**START["features"], "eps": 1, "x": x}) for x in ([1, 2, 3, 6], [2, 4, 6, 12])]
CHANGE = max(abs(DOUBLED[0][f"out-{i}"] - DOUBLED[1][f"out-{i}"]) for i in range(4))
# Explorable -> what differs from its start, what is done there, and what its sentence says then.
SAID = {
    "vectors": [
        ({}, [("button", "same direction")], "Positive: the shadow of b falls forwards, along a."),
        ({}, [("button", "orthogonal")], "Zero: a and b are orthogonal."),
        ({"a": [0.1, 0.3], "b": [-2.1, 0.7]}, [], "Zero"),  # but for rounding
        ({}, [("button", "opposite")], "Negative: the shadow of b falls backwards, against a."),
        ({}, [("button", "longer")], "the product prefers b, the cosine c. Length beats direction."),
        ({"a": [0, 0]}, [], "Undefined: zero vectors have no direction."),
    ],
    "temperature": [
        ({"temperature": 0.05}, [], "Near the cold limit: arg max, everything to “a”."),
        ({"scores": [2, 2, 0, 0], "temperature": 0.05}, [], "arg max, everything to “a” and “b”, who tie."),
        ({"temperature": 50}, [], "Near the hot limit: uniform, everyone gets the same."),
        ({"scores": [3] * 4}, [], "All scores are equal, and so are all weights, at any temperature."),
        ({"scores": [0, 2, 1, 0], "temperature": 2}, [], "“b” weighs 1.65 times as much as “c”: e to the power of"),
        ({}, [("button", "add 10")], "Every score rose by 10. The largest change of a weight is 0.000."),
        ({"temperature": 3}, [("button", "double")], "the weights that the old scores have at T = 1.5."),
    ],
    "lookup": [
        ({}, [], "“cat” weighs 2.89 times as much as “mat”: e to the power of 1.06, the lead of its scaled score."),
        ({"scale": 0.001}, [], "Near one limit: all keys weigh about the same, and the output is the mean"),
        ({"scale": 5.0}, [], "Near the other limit, a hard lookup: the output is all but the value of “cat”."),
        ({"query": [1.0, 2.0]}, [], f"“cat” and “mat” {BLEND}"),
        ({}, [("button", "between two keys")], BLEND),
        ({"query": [-0.1, 0.3], "keys": [[0.6, 0.4], [0.3, 0.3], [0.9, 0.5]]}, [], f"All keys tie: {MEAN}"),
        ({"keys": [[1, 2]] * 3}, [("button", "between")], "All keys are the same: they always tie."),
        ({"keys": [[1, 0.5], [3, 1], [-1, -1]]}, [("button", "query on")], "“cat”, yet “mat” wins: its key is longer."),
        ({"query": [0.5, 0.8]}, [("button", "a long")], "the weights that 5.0 times the scale would give."),
        ({}, [("button", "a long query"), ("slider", "query", "ArrowDown")], "the output is all but"),
        ({}, [("button", "zero query")], f"A zero query: all scores are 0, and {MEAN}"),
        ({"query": [0, 0]}, [("button", "a long query")], "A zero query has no direction in which it could grow."),
    ],
    "sheet": [
        ({}, [("checkbox", "÷ √3")], "divided by 1.73: these are their weights at the temperature 1.73."),
        ({"scaled": True}, [("checkbox", "÷ √3")], "as they are: these are their weights at the temperature 1."),
        ({}, [("button", "WK = WQ")], "“I” for “coding” and “coding” for “I” are both 10."),
        ({}, [("button", "identity")], "“coding”, gives no word more than itself: 0.67."),
        ({"W_Q": np.eye(3, 2).tolist(), "W_K": np.eye(3, 2).tolist()}, [("button", "identity")], "cut to 2 numbers"),
        ({}, [("button", "double WQ")], "the weights that the old scores have at half the temperature."),
        ({"x": [[6e5, 0, 0]] * 3, "W_Q": [[0, 6e5, 0]] * 3}, [("button", "double")], "Not every number could be"),
        ({}, [("button", "swap")], "“I” and “coding” changed places, and every word kept its output (largest change 0"),
    ],
    "masks": [
        ({}, [], "Nothing is hidden: every row shares one whole among all columns."),
        ({"causal": True}, [], f"Causal: {PAST}."),
        ({"padded": 1}, [], "Padding: no row sees the last column; the padding's own rows are there, and nobody reads"),
        ({"causal": True, "padded": 2}, [], f"Both: {PAST}, but not the last 2 columns."),
        ({"causal": True, "padded": 2}, [("checkbox", "padding on")], "the first 2 columns. 2 rows see nothing:"),
        ({"causal": True}, [("checkbox", "mask after")], "Wrong: the row of “it” sums to 0.17."),
        ({"causal": True}, [("button", "raise")], f"{ROSE} 0.000."),
        ({}, [("button", "raise")], "Nothing is hidden yet: switch a mask on."),
        ({}, [("button", "raise"), ("checkbox", "causal")], f"Causal: {PAST}."),
    ],
    "heads": [
        ({}, [], "Q has 6 numbers for each of 3 tokens. The heads will share its columns, 3 each,"),
        ({"step": 1}, [], "Q.reshape(3, 2, 3) cuts the row of each token"),
        ({"step": 2}, [], "Then .swapaxes(0, 1) gives (2, 3, 3): a table for each head"),
        ({"step": 3}, [], "q · k / √3 (small), and their softmax. “the” looks most at “the” in head 1 and most"),
        ({"step": 3, **ALIKE}, [], "Here all heads look most at the same tokens."),
        ({"step": 3, "heads": 1}, [], "One head has one way of looking."),
        ({"step": 4}, [], "2 outputs of 3 tokens, 3 numbers wide"),
        ({"step": 5}, [], "At last .swapaxes(0, 1).reshape(3, 6) puts the heads of each token side by side"),
        ({"step": 1}, [WRONG], "Wrong: Q.reshape(2, 3, 3) at once; the shape is right and no error is raised."),
        ({"step": 1}, [WRONG], "the row of “cat” in head 1 is a piece of “the”"),
        ({"step": 2}, [WRONG], "two pieces of “the” pose as “the” and “cat” in head 1"),
        ({"step": 3}, [WRONG], f"no error is raised. These weights {APART[0]}"),
        ({"step": 4}, [WRONG], f"but the outputs {APART[1]}"),
        ({"step": 5}, [WRONG], "Wrong: .reshape(3, 6) alone; the shape is right and no error is raised."),
        ({"step": 5, "heads": 1}, [WRONG], "With one head there is nothing to swap: both ways are the same."),
    ],
    "position": [
        ({}, [], "Move the slider: the pale band is this curve, and will move along with it."),
        ({}, [("slider", "position", "End")], f"it depends on the distance alone. {MOVED} 0.00."),
        ({"kind": "rotary"}, [("slider", "position", "End")], f"on query and key. {MOVED} 0.00."),
        ({"kind": "learned"}, [("slider", "position", "End")], "nothing ties them. " + MOVED),
        ({"kind": "learned", "learned": SINES}, [], "In this table the curve only moves along;"),
    ],
    "build": [
        ({}, [], "parameters: feed-forward, 64%; of the multiplications: feed-forward, 59%. " + SQUARE + " 96."),
        ({"vocabulary": 10_000, "n": 5000}, [], "the embedding, 96%; of the multiplications: scores and mix, 66%."),
        (PUBLISHED["2017 base"], [], f"{SQUARE} 3,072 in the encoder, and n > 2d + hidden/2 = 2,048 in the decoder."),
        ({**PUBLISHED["GPT-2 small"], "n": 100}, [], "The published model has 124,439,808: it also has biases in"),
        ({**PUBLISHED["GPT-2 small"], "layers": 13}, [], f"{SQUARE} 4,608."),
        ({**PUBLISHED["GPT-2 small"], "heads": 7}, [], "7 heads do not divide d = 768: each head needs d / heads"),
    ],
    "features": [
        ({}, [], "The mean is 3.00, the standard deviation 1.87: each normalised feature says how many of these it"),
        ({}, [], "lies from the mean, and none exceeds √3 = 1.73."),
        ({"x": [0, 0, 500, 0]}, [], "“c” stands alone and is as large as any can be, √3 = 1.73,"),
        ({"x": [1, 1, 2, 2], "eps": 0.75}, [], "Here ε counts beside the variance: normalised, the standard deviation"),
        ({"x": [0] * 4}, [], "All features are equal: no differences are left. Each output is its bias;"),
        ({"x": [0.1] * 4, "eps": 1e-10}, [], "All features are equal: no differences are left."),
        ({"gain": [1, 1, 2, 1]}, [], " Gain and bias then stretch and shift each feature by itself."),
        ({}, [("button", "add 1")], "The largest change of an output is 0.000: the mean rose with them."),
        ({}, [("button", "double")], "The largest change of an output is 0.000: so did the standard deviation."),
        ({"eps": 1.0}, [("button", "double")], f"change of an output is {CHANGE:.3f}, for ε counts here."),
        ({}, [("button", "add 1"), ("slider", "a", "ArrowRight")], "The mean is "),
    ],
    "depth": [
        (
            *(ONE, []),
            "24 layers, s = 1: plain 1.00, residual 4096; with branches divided by √24, 1.63. Only at s = 1 does the "
            f"plain chain keep its size. The residual one grows by √2 in each layer. {LIMIT} 1.65.",
        ),
        (
            *({"scale": 0.5, "depth": 48}, []),
            "48 layers, s = 0.5: plain 3.6e-15, residual 211.8; with branches divided by √48, 1.13. The plain chain "
            f"multiplies by less than 1 each time, and vanishes. The residual one lets a 1 through. {LIMIT} 1.13.",
        ),
        (
            *({"scale": 2, "depth": 1}, []),
            "1 layer, s = 2: plain 2.00, residual 2.24; with branches divided by √1, 2.24. Both multiply by more than "
            f"1 each time, and explode. {LIMIT} 7.39.",
        ),
    ],
    "graph": [
        ({}, [], "The query should look more at “animal” and less at “road”. The largest gradient is that of the "),
        ({}, [], "that of the value of “street”, number 1: its weight times the wish, 0.39 × 2 = 0.78."),
        ({"query": [9, 0]}, [], "“animal”, number 1: its score’s gradient times the query, 0.402 × 9 ÷ √2 = 2.557."),
        ({"query": [0, 0.1], "keys": [[9, 0], [-9, 0], [0, 0]]}, [], "is that of the query, number 1: all scores pull"),
        ({"keys": [[9, 0], [0, 1], [0, 2]]}, [], "Saturated: “animal” has nearly all the weight, and"),
        ({"keys": [[9, 0], [0, 1], [0, 2]]}, [], "has stopped (chapter 3); only the value of “animal” learns."),
        ({"query": [0, 0]}, [], "No key learns: its gradient is a multiple of the query, which is 0."),
        ({"query": [0, 0], "keys": [[0, 0]] * 3}, [], "The query is 0 and all keys are alike, so that neither"),
        ({"values": [[2, 1]] * 3}, [], "All values fulfil the wish alike. Where the query looks changes nothing:"),
        ({"values": [[1, 0], [2, 4], [3, 8]]}, [], "All values fulfil the wish alike."),
        ({"wish": [0, 0]}, [], "Nothing is wished for: all gradients are 0, and a step moves nothing."),
        ({"wish": [0, 0]}, [("button", "take a step")], "Nothing is wished for"),
    ],
    "training": [
        ({}, [], "Step 20 of 40: loss 0.300, 31.2% of held-out rows right; of this one, 2 of 4 words."),
        ({"step": 0}, [], "Step 0 of 40: loss 2.500, 0% of held-out rows right; of this one, 0 of 4 words."),
        ({"step": 10}, [], "Step 10 of 40: loss 1.200, 5% of held-out rows right; of this one, 1 of 4 words."),
        ({"step": 30}, [], "loss 0.020, >99.9% of held-out rows right; of this one, 3 of 4 words."),
        (
            {"losses": [1e-4] * 7},
            [("slider", "step", "End")],
            "loss <0.001, 100% of held-out rows right; of this one, 4",
        ),
    ],
}


# Explorable -> what differs from its start, what is done there, and what that makes of it.
LARGE = [[1e308, -1e308, 3.0, 0.0], [800.0, 0.0, 799.0, -800.0], [1e-300] * 4, [-1e308] * 4]
EYE = np.eye(3, 2).tolist()
EYES = {"W_Q": EYE, "W_K": EYE, "W_V": np.eye(3).tolist()}
FIVE = [[0.0, 0.0], [4.0, 0.0], [5.0, 3.0], [1.0, 4.0], [2.0, 2.0]]
BECOMES = {
    "vectors": [
        *(({"a": a, "b": b}, [], {}) for a, b in [([-0.3, 4.9], [-5.0, -1.7]), ([0.1, 0.2], [-0.2, 0.1])]),
        *(({"a": a, "b": b}, [], {}) for a, b in [([0, 0], [1, 2]), ([3, 1], [0, 0]), ([0, 0], [0, 0])]),
    ],
    "temperature": [
        ({"scores": [1000.0, 999.0, -1000.0, 999.0], "temperature": 0.05}, [], {}),
        ({"scores": [1e308, -1e308, 1e308, 0], "temperature": 20}, [], {}),
        ({"scores": [-1e308, -1e308], "labels": ["a", "b"], "temperature": 1e-300}, [], {}),
        ({"scores": [0.001, 0.002] * 6, "labels": list("abcdefghijkl"), "temperature": 1e300}, [], {}),
        ({"scores": [1e308, 1e308, 0, -1e308]}, [("button", "double")], {}),
    ],
    "lookup": [
        ({"query": [900.0, 40.0], "keys": [[500.0, 1.0], [500.0, 1.00001], [-3.0, 2.0]]}, [], {}),
        ({"query": [0, 0]}, [("button", "a long query")], {}),
        ({"query": [0.5, 0.8]}, [("button", "a long query")], {"query": [2.5, 4]}),
        ({}, [("button", "query on a key")] * 4, {"query": [2.0, 0.5]}),
        ({"values": FIVE, "keys": FIVE, "labels": list("abcde")}, [("slider", "scale", "Home")], {"scale": 0.00707}),
    ],
    "sheet": [
        ({"x": [[0.05, -0.3, 0.7]] * 3, "W_V": [[1]] * 3}, [], {}),
        ({"x": [[1e30, 0, -3e30], [2e30, 1, 0], [1, 2, 3]], "W_Q": [[-1.7e6, 3, 1]] * 3}, [], {}),
        ({"x": [[0, 0, 0]] * 3, "scaled": True}, [], {}),
        ({"W_Q": [[6e5, 1], [0, 0], [0, 0]], "W_K": EYE}, [("button", "double")], {"W_Q": [[6e5, 2], [0, 0], [0, 0]]}),
        ({"W_Q": [[1, 2]] * 3, "W_K": [[3, 4]] * 3}, [("button", "identity")], EYES),
    ],
    "masks": [
        *(({"scores": LARGE, "causal": True, "temperature": warmth}, [], {}) for warmth in (1, 1e-300, 1e300)),
        ({"padded": 3, "causal": True}, [], {}),
    ],
    "features": [
        ({"x": [1.0, -4e5, 9e5, 0.0]}, [("button", "double")], {"x": [2, -8e5, 1e6, 0]}),  # never without end
        ({"x": [0.3, 2.0, 3.0, 6.1]}, [("button", "add 1")], {"x": [1.3, 3, 4, 7.1]}),
        (EIGHT, [("spinbutton", "epsilon as a number", "1e-10")], {"eps": 1e-10}),
    ],
    "build": [({"n": 60}, [("slider", "tokens n", "ArrowRight")], {"n": 128})],  # from the nearest stop
    "depth": [({"scale": 5}, [("slider", "depth", "Home ArrowDown")], {"depth": 1})],
}
# Explorable -> what differs from its start, and how its numbers are written there.
WRITTEN = {
    "vectors": [({"a": [0, 0]}, {"dot": "0.00", "cosine": "undefined", "angle": "undefined", "shadow": "undefined"})],
    "temperature": [
        ({"scores": [0, 9, -99, -99]}, {"weight-0": "<0.001", "weight-1": ">0.999"}),
        ({"scores": [0, 9, 0, 0], "temperature": 0.01}, {"weight-0": "0.000", "weight-1": "1.000"}),
    ],
    "lookup": [
        ({"query": [4.0, -0.5]}, {"weight-0": ">0.999", "weight-1": "<0.001", "weight-2": "<0.001"}),
        ({"query": [4.0, 4.0], "scale": 1e308}, {"weight-0": "1.000", "scaled-0": "∞", "output-1": "−1.5"}),
    ],
    "sheet": [
        ({}, {"scores-2-0": "6", "weights-2-0": "0.12", "weights-2-1": "<0.01", "outputs-0-0": "1.99"}),
        ({"x": [[1e6, 0, 0], [0, 0, 30.25], [0, 0, -123.456]], "W_V": [[1]] * 3}, {"V-0-0": "1e6", "V-2-0": "−123"}),
    ],
    "masks": [
        ({"scores": [[0, 9, 0, 0]] * 4}, {"weight-0-0": "<0.01", "weight-0-1": ">0.99", "part-1": ">0.999"}),
        ({"causal": True, "temperature": 20}, {"weight-0-1": "", "sum-0": "1", "whole": "1.000"}),
    ],
    "graph": [
        ({"query": [9, 0]}, {"weight-0-0": "0.757", "d-value-0-0": "1.513", "d-weight-0-0": "1.9", "d-key-2-1": "0"}),
        ({"query": [90, 0]}, {"weight-1-0": "<0.001", "d-key-1-0": "≈0", "d-value-1-0": "≈0", "score-0-0": "63.64"}),
        ({"wish": [0, -2e6]}, {"d-score-0-0": "3e5", "d-weight-2-0": "−2e6", "d-value-2-0": "0"}),
    ],
    "training": [
        ({"weights": [[[1, 0.004, 0.126]] * 4] * 5}, {"weight-0-0": "100", "weight-0-1": "", "weight-0-2": "13"})
    ],
    "heads": [
        ({}, {"right-0-0-0-0": "0.1", "right-0-0-0-1": "−0.1"}),
        ({"queries": [[1, 0, -2, 0, 3, 0]] * 3}, {"right-0-0-0-0": "1", "right-0-0-0-2": "−2"}),
        ({"queries": [[0.13, 0, 1, 1, 1, 1]] * 3}, {"right-0-0-0-0": "0.13", "right-0-0-0-1": "0.00"}),
    ],
}


@pytest.mark.parametrize("name", BECOMES)
def test_the_numbers_hold_at_the_edges(show, name):
    tab = show()
    for change, acts, changes in BECOMES[name]:
        run_widget(tab, name, {**START[name], **change})
        for role, label, *keys in acts:
            act(tab, role, label, *keys)
        assert_shows(tab, name, {**START[name], **change, **changes})
        assert not re.search("NaN|Infinity", tab.locator(".mt-live").inner_html())


@pytest.mark.parametrize("name", WRITTEN)
def test_a_number_is_written_with_what_it_needs_and_as_0_or_1_only_where_it_is(show, name):
    tab = show()
    for change, written in WRITTEN[name]:
        run_widget(tab, name, {**START[name], **change})
        assert {number: text(tab, number) for number in written} == written


@pytest.mark.parametrize("name", SAID)
def test_the_sentence_says_what_is_seen(show, name):
    tab = show()
    for change, acts, sentence in SAID[name]:
        run_widget(tab, name, {**START[name], **change})
        for role, label, *keys in acts:
            act(tab, role, label, *keys)
        assert sentence in said(tab)
