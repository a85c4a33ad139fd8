"""That a fault in Firefox is one of the test; tests/pages drives it."""

import pytest


def test_an_error_of_a_script_fails_the_test(run_in_firefox):
    with pytest.raises(AssertionError, match="no such thing"):
        run_in_firefox("() => { throw Error('no such thing'); }")
