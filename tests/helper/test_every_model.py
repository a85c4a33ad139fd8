"""What every model of the book holds, and that none holds more than it promises in tests/shared/models.py."""

import numpy as np
import pytest

from minitransformer.masks import leaks
from tests.shared.models import MODELS, WIDTH
from tests.shared.oracles import error, random

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
ORDER = [3, 0, 5, 1, 4, 2]
TOKENS = random(len(ORDER), WIDTH)
TEXTS = random(2, len(ORDER), WIDTH)
EVERY = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@EVERY
@pytest.mark.parametrize("x", [TOKENS, TEXTS, 1e-3 * TOKENS], ids=["tokens", "texts", "small"])
def test_a_causal_model_has_no_leak_and_every_other_has_one(model, x):
    assert (leaks(model.run, x) == []) == model.causal


@EVERY
@pytest.mark.parametrize("x", [TOKENS, TEXTS], ids=["tokens", "texts"])
def test_permuted_tokens_give_permuted_outputs_where_promised_and_nowhere_else(model, x):
    difference = error(model.run(x[..., ORDER, :]), model.run(x)[..., ORDER, :])
    assert difference < 1e-12 if model.equivariant else difference > 1e-3


@EVERY
def test_a_text_gets_the_same_outputs_alone_as_among_others(model):
    x = random(2, 3, len(ORDER), WIDTH)
    whole = model.run(x)
    for index in np.ndindex(2, 3):
        np.testing.assert_allclose(model.run(x[index]), whole[index], atol=1e-12)


@EVERY
def test_a_text_may_be_of_any_length_also_of_one_token_and_of_none(model):
    width = model.run(TOKENS).shape[1]
    assert [model.run(TOKENS[:n]).shape for n in (0, 1, 4)] == [(0, width), (1, width), (4, width)]


@EVERY
def test_a_model_neither_writes_to_its_tokens_nor_remembers_them(model):
    x = TOKENS.copy()
    x.flags.writeable = False
    before = model.run(x).copy()
    model.run(2 * x)
    assert (model.run(x) == before).all()
