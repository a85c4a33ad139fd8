"""Runs the cells of a page in the page's own Python; what they put out are messages as Jupyter's, one JSON a line."""

import ast
import builtins
import io
import json
import linecache
import os
import re
import sys
import traceback

from absent import ELSEWHERE

CELLS = sys.modules["__main__"].__dict__
MESSAGES = 4  # the file that the page reads
LONGEST = 300  # characters of an error that the page's bar shows
COMMAND = re.compile(r"^\s*([%!]+\s*[\w.-]*)|^\s*\??([\w.]+)\?+\s*$|^\s*\?+([\w.]+)\s*$")  # of notebooks


def tell(kind, **content):
    """Send a message to the page."""
    data = (json.dumps({"header": {"msg_type": kind}, "content": content}) + "\n").encode()
    while data:
        data = data[os.write(MESSAGES, data) :]


class Stream(io.TextIOBase):
    """A stream whose text goes to the page at once."""

    encoding = "utf-8"

    def __init__(self, name):
        self.name = name

    def writable(self):
        """Tell that this can be written to."""
        return True

    def write(self, text):
        """Send a text; return its length."""
        if text:
            tell("stream", name=self.name, text=text)
        return len(text)


def data_of(value):
    """Return how a value is shown, as Jupyter does: by types of data."""
    rich = getattr(type(value), "_repr_html_", None)
    return {"text/plain": repr(value), **({"text/html": rich(value)} if rich else {})}


def parsed(code, name):
    """Return the tree of a cell; SyntaxError with a sentence at what notebooks understand beyond Python."""
    try:
        return ast.parse(code, name)
    except SyntaxError as error:
        found = COMMAND.match((error.text or "").rstrip())
        if not found:
            raise
        command, *asked = found.groups()
        asked = next(filter(None, asked), "")
        way = f"write help({asked})" if asked else "run this cell on Binder, or at home"
        said = f"{command or f'{asked}?'} is a command of notebooks, which the Python of this page does not know: {way}"
        raise SyntaxError(said, (name, error.lineno, 1, error.text)) from None


def outcome(code, name):
    """Run a cell as a notebook does, and show the value of its last line."""
    tree = parsed(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), CELLS)
    value = eval(compile(ast.Expression(last.value), name, "eval"), CELLS) if last else None
    if value is not None and not code.rstrip().endswith(";"):
        CELLS["_"] = value
        tell("execute_result", data=data_of(value))


def run(code, name):
    """Run a cell and tell how it ended."""
    linecache.cache[name] = len(code), None, code.splitlines(True), name
    failed, line = "", 0
    try:
        outcome(code, name)
    except BaseException as error:  # also SystemExit: the page's Python goes on
        inside = error.__traceback__
        while inside and inside.tb_frame.f_code.co_filename == __file__:
            inside = inside.tb_next
        line = inside.tb_lineno if inside else 0
        if isinstance(error, SyntaxError) and error.filename == name:
            inside = None  # it lies in the parser
        if isinstance(error, ModuleNotFoundError):  # Python's own words speak of site-packages
            error = ImportError(f"{error.name} {ELSEWHERE}.")
        failed = f"{type(error).__name__}: {error}".split("\n")[0][:LONGEST]
        tell("error", traceback=["".join(traceback.format_exception(type(error), error, inside)).rstrip()])
    tell("status", execution_state="idle")
    tell("ended", error=failed, line=line)


def display(*values):
    """Show values below the cell."""
    for value in values:
        tell("display_data", data=data_of(value))


def ask(*_):
    """Stand for `input`."""
    raise RuntimeError("input() has nobody to ask in the Python of this page: write the answer into the cell.")


builtins.display, builtins.input = display, ask
sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")
