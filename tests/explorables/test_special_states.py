"""States at an edge, and what a press makes of them: the numbers, how these are written, and what is said of it.

Each case says what differs from its explorable's start, what is done there, and what that makes of it.
"""

import re

import pytest

from tests.shared.explorable_page import act, assert_shows, case, having, run_widget, said, text


@pytest.mark.parametrize("name", having("BECOMES"))
def test_the_numbers_hold_at_the_edges(show, name):
    tab = show()
    for change, acts, changes in case(name).BECOMES:
        run_widget(tab, name, {**case(name).START, **change})
        for role, label, *keys in acts:
            act(tab, role, label, *keys)
        assert_shows(tab, name, {**case(name).START, **change, **changes})
        assert not re.search("NaN|Infinity", tab.locator(".mt-live").inner_html())


@pytest.mark.parametrize("name", having("WRITTEN"))
def test_a_number_is_written_with_what_it_needs_and_as_0_or_1_only_where_it_is(show, name):
    tab = show()
    for change, written in case(name).WRITTEN:
        run_widget(tab, name, {**case(name).START, **change})
        assert {number: text(tab, number) for number in written} == written


@pytest.mark.parametrize("name", having("SAID"))
def test_the_sentence_says_what_is_seen(show, name):
    tab = show()
    for change, acts, sentence in case(name).SAID:
        run_widget(tab, name, {**case(name).START, **change})
        for role, label, *keys in acts:
            act(tab, role, label, *keys)
        assert sentence in said(tab)
