"""What every model of the book must hold, and each of these tests seen to fail on a model that is broken."""

import itertools

import numpy as np
import pytest

from minitransformer.attention import attention
from minitransformer.masks import leaks
from minitransformer.multi_head import merge_heads
from minitransformer.self_attention import self_attention
from tests.shared.models import MODELS, MULTI, SINGLE, WIDTH, Model, causal

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
ORDER = [3, 0, 5, 1, 4, 2]


def tokens(*leading):
    return np.random.default_rng(0).normal(size=(*leading, len(ORDER), WIDTH))


# What is asked of a model


def causal_just_where_promised(model):
    """No leak is found in a causal model, and one in every other."""
    for x in (tokens(), tokens(2), 1e-3 * tokens()):
        found = leaks(model.run, x)
        assert not found if model.causal else found


def equivariant_just_where_promised(model):
    """f(P x) is P f(x) for a model that does not know the order of its tokens, and far from it for every other."""
    for x in (tokens(), tokens(2)):
        right = model.run(x)[..., ORDER, :]
        error = np.abs(model.run(x[..., ORDER, :]) - right).max() / np.abs(right).max()
        assert error < 1e-12 if model.equivariant else error > 1e-3


def batches_are_single_sequences(model):
    """A sequence gets the same outputs alone as among others."""
    x = tokens(2, 3)
    whole = model.run(x)
    for index in np.ndindex(2, 3):
        np.testing.assert_allclose(model.run(x[index]), whole[index], atol=1e-12)


def other_lengths_fit(model):
    """A model takes sequences of any length, also of one token and of none."""
    widths = {model.run(tokens()[:n]).shape for n in (0, 1, 4)}
    assert {shape[0] for shape in widths} == {0, 1, 4} and len({shape[1] for shape in widths}) == 1


def inputs_are_left_alone(model):
    """A model neither writes to its tokens nor remembers them."""
    x = tokens()
    x.flags.writeable = False
    before = model.run(x).copy()
    model.run(2 * x)
    assert (model.run(x) == before).all()


CHECKS = [
    causal_just_where_promised,
    equivariant_just_where_promised,
    batches_are_single_sequences,
    other_lengths_fit,
    inputs_are_left_alone,
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", MODELS)
def test_a_model_keeps_its_promises_and_makes_all_that_it_keeps(name, check):
    check(MODELS[name])


# Broken models


def cut_without_turning(x, keep=None, turned_back=True):
    """Attend with three heads that are cut by a reshape alone, and joined by `merge_heads` or by a reshape alone."""
    parts = [(x @ MULTI[name]).reshape(*x.shape[:-2], 3, x.shape[-2], -1) for name in ("W_Q", "W_K", "W_V")]
    output, _ = attention(*parts, keep)
    return (merge_heads(output) if turned_back else output.reshape(*x.shape[:-1], -1)) @ MULTI["W_O"]


def peeking(x):
    """Let each token look at the next one as well."""
    return self_attention(x, SINGLE, np.tri(x.shape[-2], k=1, dtype=bool))[0]


def in_place(x):
    """Double the tokens where they are."""
    x *= 2
    return x


CALLS = itertools.count()
PLAIN, MASKED, HEADS_MASKED = (
    MODELS[name].run for name in ("self_attention", "self_attention, causal", "multi_head_attention, causal")
)
BROKEN = {
    causal_just_where_promised: {
        "no mask": Model(PLAIN, causal=True),
        "no mask, heads": Model(MODELS["multi_head_attention"].run, causal=True),
        "a step too far": Model(peeking, causal=True),
        "wrong polarity": Model(lambda x: self_attention(x, SINGLE, ~causal(x))[0], causal=True),
        "transposed mask": Model(lambda x: self_attention(x, SINGLE, causal(x).T)[0], causal=True),
        "a mean over all tokens": Model(lambda x: MASKED(x - x.mean(-2, keepdims=True)), causal=True),
        "heads cut without turning": Model(lambda x: cut_without_turning(x, causal(x)), causal=True),
        "a promise not made": Model(MASKED),
    },
    equivariant_just_where_promised: {
        "a mask": Model(MASKED, equivariant=True),
        "a mask, heads": Model(HEADS_MASKED, equivariant=True),
        "positions": Model(lambda x: PLAIN(x + np.eye(x.shape[-2], WIDTH)), equivariant=True),
        "heads cut without turning": Model(cut_without_turning, equivariant=True),
        "heads cut and joined without": Model(lambda x: cut_without_turning(x, turned_back=False), equivariant=True),
        "the first token in all": Model(lambda x: x + x[..., :1, :], equivariant=True),
        "a promise not made": Model(PLAIN),
    },
    batches_are_single_sequences: {
        "a mean over the batch": Model(lambda x: x - x.mean(axis=0)),
        "a running sum along the batch": Model(lambda x: np.add.accumulate(x, axis=0)),
        "the largest number of all": Model(lambda x: x / np.abs(x).max()),
    },
    other_lengths_fit: {
        "one length": Model(lambda x: x + np.eye(6, WIDTH)),
        "no empty sequence": Model(lambda x: x - x.max(-2, keepdims=True)),
        "a width that depends on the length": Model(lambda x: x @ np.ones((WIDTH, x.shape[-2]))),
        "one row for all": Model(lambda x: x.sum(-2, keepdims=True)),
    },
    inputs_are_left_alone: {"works in place": Model(in_place), "remembers": Model(lambda x: x + next(CALLS))},
}


@pytest.mark.parametrize("check, name", [(check, name) for check, models in BROKEN.items() for name in models])
def test_a_broken_model_is_caught(check, name):
    with pytest.raises((AssertionError, ValueError)) as caught:
        check(BROKEN[check][name])
    refused = ("one length", "no empty sequence", "works in place")  # by NumPy
    assert (caught.type is ValueError) == (name in refused)
