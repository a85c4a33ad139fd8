"""The explorables of a page in fewer letters: the same behaviour, less to load."""

import pytest
from sphinx.errors import ExtensionError

from bookbuild.site.small_explorables import short, shorter
from minitransformer.explore import explorable
from tests.shared.explorable_page import STILL

STATE = {"scores": [0, 1, 2], "labels": ["a", "b", "c"], "temperature": 1}
WHOLE = explorable("temperature", STILL, **STATE).data


def test_an_explorable_is_a_third_shorter_and_what_is_around_it_stays():
    less = short(f"<p>before  </p>{WHOLE}<p>after  </p>")
    assert len(less) < 2 / 3 * len(WHOLE)
    assert less.startswith("<p>before  </p>" + WHOLE.partition("<style>")[0])
    assert less.endswith(WHOLE.partition("</script>")[2] + "<p>after  </p>")


def test_two_explorables_keep_their_own_code():
    one, two = (
        f'<div class="mt-explorable"><style>.{name}{{}}</style><div></div><script>{name}()</script>' for name in "ab"
    )
    assert short(one + two) == (one + two).replace(".a{}", "").replace(".b{}", "").replace(")<", ");<")


def test_a_page_without_explorables_stays_as_it_is():
    assert short("<p>text</p>") == "<p>text</p>"


def test_code_that_cannot_be_read_stops_the_build():
    with pytest.raises(ExtensionError, match="could not be shortened"):
        shorter([("const = 1", "js")])


def test_a_shortened_explorable_works(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{short(WHOLE)}", "utf8")
    tab = browser.new_page()
    tab.on("pageerror", lambda error: pytest.fail(str(error)))
    tab.goto(path.as_uri())
    before = tab.locator(".mt-live").inner_text()
    slider = tab.locator(".mt-live input[type=range]").first
    slider.focus()
    tab.keyboard.press("Home")
    assert tab.locator(".mt-live").inner_text() != before
    tab.close()
