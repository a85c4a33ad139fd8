"""What the sizes of a decoder cost: each area is as large as its cost, beside those of the published models."""

import numpy as np
import pytest

from companion.explorables.models.state import SIZES
from minitransformer.today import CONFIGS, parameters_of
from tests.explorables.cases.models import START, of
from tests.shared.explorable_page import run_widget

WIDTHS = "(all) => all.map((one) => parseFloat(one.style.width))"


@pytest.mark.parametrize("begun", ["Llama 3.1 8B", "Qwen3 30B-A3B"])
def test_areas_are_the_parameters_of_the_model_and_of_the_published_ones(show, begun):
    tab = run_widget(show(), "models", START | of(begun))
    every = np.array([parameters_of(config) for config in CONFIGS.values()])
    square = tab.locator(".mt-whole-square").first
    outlines = square.locator(".mt-outline").evaluate_all(WIDTHS)
    np.testing.assert_allclose(np.square(outlines), 1e4 * every / every.max(), rtol=1e-4)
    (filled,) = square.locator(".mt-filled").evaluate_all(WIDTHS)
    assert filled == outlines[list(CONFIGS).index(begun)]
    named = tab.locator(".mt-largest").all_text_contents()
    assert named[0] == f"outermost: {list(CONFIGS)[int(every.argmax())]}"


def test_what_is_larger_than_all_published_ones_fills_its_square(show):
    tab = run_widget(show(), "models", START | dict.fromkeys(SIZES, 128) | {"d": 8192})
    assert tab.locator(".mt-filled").evaluate_all(WIDTHS) == 4 * [100]
