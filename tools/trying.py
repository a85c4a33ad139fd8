"""The pytest plugin of `make mutants`: tests are collected once, and each mutant is tried in a fork of that process.

First all tests run without a mutant, to learn which of them come to which function and how long they take.  Then each
mutant of `plan.json`, {mutant: test files}, is tried with the tests of its files that come to its function, the
quickest first, until one fails or they have taken `MOST` seconds; `found.jsonl` gets its name and the code with which
its fork has ended.
"""

import functools
import gc
import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, settings

state = importlib.import_module("mutmut.state").state  # which is installed where nox runs this, and nowhere else
SURVIVED, FAILED, BROKEN, UNREACHED = 0, 1, 70, 33
MOST = 40  # seconds of tests for each mutant: those that take longer are of whole models, and seldom decide
LIMIT = 2 * MOST  # seconds after which a mutant counts as one that runs without end
made, failing = {}, []  # the functions that a fixture has come to; what to do when a test fails
settings.register_profile("quick", settings.get_profile("ci"), phases=[Phase.explicit, Phase.generate])
settings.load_profile("quick")  # which looks for no smaller example of a failure


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    """Note to which functions a fixture comes, as a test that is given what another one had made comes to them too."""
    found = yield
    made.setdefault(fixturedef.argname, set()).update(state()._stats)
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    """Tell of a failure before a report is made of it, which takes longer than most tests."""
    if failing and call.excinfo and not call.excinfo.errisinstance(pytest.skip.Exception):
        failing[-1](item, call)


def pytest_runtestloop(session):
    """Try the mutants, in the place of running the tests."""
    if session.testsfailed:
        return None  # pytest tells of what cannot be collected
    every = [each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)]
    caches = [each for each in every if str(each.__module__).startswith("minitransformer")]
    gc.freeze()  # or each fork's collector goes through all that it shares with this process, and so copies it
    seconds, reached = times_and_tests(session.items, caches)
    with Path("found.jsonl").open("a", encoding="utf-8") as found:
        for mutant, files in json.loads(Path("plan.json").read_text(encoding="utf-8")).items():
            names = set(reached.get(mutant.rpartition("__mutmut_")[0], []))
            items = [item for item in session.items if item.nodeid in names and item.location[0] in files]
            items.sort(key=lambda item: seconds[item.nodeid])
            items = items[: np.searchsorted(np.cumsum([seconds[item.nodeid] for item in items]), MOST) + 1]
            code = forked(attempt, mutant, items, caches) if items else UNREACHED
            print(json.dumps([mutant, code]), file=found, flush=True)
    return True


def times_and_tests(items, caches):
    """Return the seconds of each test and the tests of each function; end where a test fails without a mutant."""
    if forked(write_measured, items, caches):
        pytest.exit("the tests could not be run without a mutant", 1)
    seconds, reached, failed = json.loads(Path("measured.json").read_text(encoding="utf-8"))
    if failed:
        pytest.exit(f"the tests do not pass without mutants: {', '.join(failed)}", 1)
    return seconds, reached


def forked(work, *arguments):
    """Run a function in a fork, and return the code with which that ends."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code = BROKEN
    try:
        code = work(*arguments)
    finally:
        os._exit(code)


def write_measured(items, caches):
    """Run the tests without a mutant; write the seconds of each and the tests of each function to `measured.json`."""
    switch_to("stats")
    seconds, reached, failed = {}, {}, []
    failing.append(lambda item, call: failed.append(item.nodeid))
    for item, following in zip(items, [*items[1:], None]):
        forget(caches)  # or a test comes to nothing that one before it has come to
        start = time.process_time()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        seconds[item.nodeid] = time.process_time() - start
        functions = set(state()._stats).union(*(made.get(name, ()) for name in item.fixturenames))
        for function in functions:
            reached.setdefault(function, []).append(item.nodeid)
        state()._stats.clear()
    Path("measured.json").write_text(json.dumps([seconds, reached, failed]), encoding="utf-8")
    return SURVIVED


def attempt(mutant, items, caches):
    """Run tests with a mutant, and end at the first one that fails."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 1))
    switch_to(mutant)
    failing.append(lambda item, call: os._exit(FAILED))
    forget(caches)
    for item, following in zip(items, [*items[1:], None]):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    return SURVIVED


def switch_to(mutant):
    """Let functions be this mutant's, and not look that up in the environment at every call, as they otherwise do."""
    os.environ["MUTANT_UNDER_TEST"] = mutant
    if trampoline := sys.modules.get("mutmut.mutation.trampoline"):
        trampoline.get_mutant_under_test = lambda: mutant


def forget(caches):
    """Empty the caches of the helper's functions."""
    for cache in caches:
        cache.cache_clear()
