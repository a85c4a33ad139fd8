"""That the tests can drive Firefox, for those that look at pages in it."""

import pytest

TOP = """async (browser, {address, place}) => {
  const page = await browser.newPage();
  await page.goto(`${address}#${place}`);
  return page.evaluate((id) => document.getElementById(id).getBoundingClientRect().top, place);
}"""
PAGE = "data:text/html,<p style='height:3000px'>a</p><h2 id=b>b</h2><p style='height:3000px'>c</p>"


def test_a_script_drives_firefox_and_returns_what_it_saw(run_in_firefox):
    assert abs(run_in_firefox(TOP, {"address": PAGE, "place": "b"})) < 2


def test_an_error_of_a_script_fails_the_test(run_in_firefox):
    with pytest.raises(AssertionError, match="no such thing"):
        run_in_firefox("() => { throw Error('no such thing'); }")
