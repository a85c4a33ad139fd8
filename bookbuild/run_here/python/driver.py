"""Runs the cells of a page in the page's own Python; what they put out are messages as Jupyter's, one JSON a line."""

import ast
import io
import json
import linecache
import os
import sys
import traceback

CELLS = sys.modules["__main__"].__dict__
MESSAGES = 4  # the file that the page reads


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


def outcome(code, name):
    """Run a cell as a notebook does, and show the value of its last line."""
    tree = ast.parse(code, name)
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
        failed = f"{type(error).__name__}: {error}".split("\n")[0]
        tell("error", traceback=["".join(traceback.format_exception(type(error), error, inside)).rstrip()])
    tell("status", execution_state="idle")
    tell("ended", error=failed, line=line)


sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")
