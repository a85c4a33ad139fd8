"""The comic of a machine set by hand: it plays and stops, and its pictures show what the two attentions do."""

import numpy as np
import pytest

from minitransformer.masks import causal_mask
from minitransformer.multi_head import multi_head_attention
from tests.explorables.cases.comic import START
from tests.shared.explorable_page import act, assert_shows, control, said

CURRENT = "[...document.querySelectorAll('.mt-scene')].findIndex((one) => one.matches('.mt-current')) + 1"


def tables(ids, v, sharp=1000.0):
    """Return the weights of two attentions, the one back by a place, the other to a word that has found this word."""
    n = len(ids)
    word, before, said, place = np.split(np.eye(3 * v + n), [v, 2 * v, 3 * v])
    looks = (place, np.roll(place, -1, axis=0), before), (word, before.T @ word, said)
    x, found = word[ids] + place, []
    for asks, answers, writes in looks:
        keys = asks.T @ answers if answers.shape == asks.shape else answers
        params = {"W_Q": sharp * asks.T @ asks, "W_K": keys, "W_V": word.T @ word, "W_O": word.T @ writes}
        output, weights = multi_head_attention(x, params, 1, keep=causal_mask(n))
        x, found = x + output, [*found, weights[0]]
    return found, x @ said.T


def test_the_weights_at_the_start_are_those_of_a_machine_set_by_hand():
    known = list(dict.fromkeys(START["words"]))
    (first, second), scores = tables([known.index(word) for word in START["words"]], len(known))
    np.testing.assert_allclose(first, START["first"], atol=1e-6)
    np.testing.assert_allclose(second, START["second"], atol=6e-4)
    assert known[scores[-1].argmax()] == "cat"


def test_it_plays_panel_by_panel_until_the_hand_takes_over(show):
    tab = show(("comic", START))
    assert tab.locator(".mt-due").count() == 3
    act(tab, "button", "play")
    assert tab.evaluate(CURRENT) == 2
    tab.wait_for_function(f"{CURRENT} === 3")
    control(tab, "slider", "word that asks").press("ArrowLeft")
    assert control(tab, "button", "play").is_visible()
    tab.wait_for_timeout(2400)
    assert tab.evaluate(CURRENT) == 3
    assert tab.locator(".mt-asking b").all_inner_texts() == ["sat", "sat", ""]


def test_where_motion_is_reduced_all_panels_are_there_at_once(show):
    tab = show(("comic", START), motion="reduce")
    act(tab, "button", "to end")
    assert tab.locator(".mt-due").count() == 0 and said(tab) == "It says what has followed “the”: “cat”."
    assert tab.locator(".mt-found b").inner_text() == "cat"
    assert tab.locator(".mt-scene:last-child .mt-asking").inner_text().split() == ["the", "after", "sat", "cat"]
    act(tab, "button", "restart")
    assert tab.evaluate(CURRENT) == 1


@pytest.mark.parametrize("asks", [2, 5])
def test_a_tap_on_a_card_lets_its_word_ask(show, asks):
    tab = show(("comic", {**START, "asks": 4, "panel": 4}))
    tab.locator(".mt-scene:last-child li").nth(asks - 1).click()
    assert_shows(tab, "comic", {**START, "asks": asks})


def test_a_line_leads_from_each_word_to_where_it_looks(show):
    tab = show(("comic", {**START, "panel": 4}))
    lines = tab.locator(".mt-throw").evaluate_all("(all) => all.map((line) => line.getAttribute('d'))")
    drawn = np.array([d != "" for d in lines]).reshape(4, 5, 5)
    right = np.zeros((4, 5, 5), bool)
    right[1] = np.array(START["first"]) > 0
    right[2:, 4] = np.array(START["second"])[4] > 0
    np.testing.assert_array_equal(drawn, right)
