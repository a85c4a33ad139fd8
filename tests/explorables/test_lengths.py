"""What attention costs: its curves, marks and devices stand where Python has them."""

import re

import numpy as np
import pytest

from tests.explorables.cases.lengths import DEVICES, ROOMY, START, memory
from tests.shared.explorable_page import control, run_widget

LOW, HIGH = 3, 15  # powers of 10 of bytes, between which the chart lies


def heights(sizes):
    """Return how far below the top of the chart so many bytes stand, in per cent."""
    return 100 * (HIGH - np.log10(sizes)) / (HIGH - LOW)


def styled(tab, css):
    """Return the numbers of the styles of all elements of one kind."""
    styles = tab.locator(css).evaluate_all("(all) => all.map((one) => one.getAttribute('style'))")
    return [float(re.search(r"[\d.]+", style)[0]) for style in styles]


@pytest.mark.parametrize("change", [{}, {"length": 100, "heads": 5, "width": 200, "bytes": 1, "block": 99}])
def test_both_curves_and_their_marks_are_the_memory(show, change):
    state = START | change
    tab = run_widget(show(), "lengths", state)
    lengths = np.round(16 * 2 ** np.linspace(0, 16, 65)).astype(int)
    sizes = [memory(**{**state, "length": int(length)}) for length in lengths]
    for kind in ("table", "tiles"):
        path = tab.locator(f"path.mt-{kind}").get_attribute("d")
        points = np.array(re.findall(r"-?[\d.]+(?:e-\d+)?", path), float).reshape(-1, 2)
        np.testing.assert_allclose(points[:, 0], 100 * np.log2(lengths / 16) / 16, atol=1e-9)
        np.testing.assert_allclose(points[:, 1], heights([size[kind] for size in sizes]), atol=1e-9)
        assert (points >= 0).all() and (points <= 100).all()
        np.testing.assert_allclose(styled(tab, f".mt-here > .mt-{kind}"), [heights(memory(**state)[kind])], rtol=1e-5)
    np.testing.assert_allclose(styled(tab, ".mt-here"), [100 * np.log2(state["length"] / 16) / 16], rtol=1e-5)
    np.testing.assert_allclose(styled(tab, ".mt-rooms > span"), heights([*DEVICES.values()][1:]), rtol=1e-5)


def test_the_largest_model_stays_in_the_chart(show):
    tab = run_widget(show(), "lengths", ROOMY)
    assert all(0 <= place <= 100 for place in styled(tab, ".mt-here > *"))


def test_a_number_that_no_list_has_is_shown_in_it(show):
    tab = run_widget(show(), "lengths", START | {"heads": 7})
    assert control(tab, "combobox", "heads").input_value() == "7"
    tab.evaluate("set('block', 100)")
    assert control(tab, "combobox", "tile").input_value() == "100"
