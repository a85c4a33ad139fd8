"""What tests of explorables share: a page opened from its file, which the test makes as `book`."""

import pytest


@pytest.fixture
def opened(browser, book):
    """Return a function that opens the page from its file, and the names of what it has loaded."""
    contexts = []

    def begin(**kind):
        contexts.append(browser.new_context(**kind))
        tab, loaded = contexts[-1].new_page(), []
        tab.on("pageerror", lambda error: pytest.fail(str(error)))
        tab.on("request", lambda request: loaded.append(request.url.rpartition("/")[2]))
        tab.goto(book.as_uri())
        return tab, loaded

    yield begin
    for context in contexts:
        context.close()
