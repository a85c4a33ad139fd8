"""Explorables: drawings that can be moved, each one module for the page, for JupyterLab and for a kernel."""

import html
import importlib
import json
import re
from pathlib import Path

import anywidget
import traitlets
from IPython.display import HTML

from . import figures

FOLDER = Path(__file__).parent / "explorables"
SHARED = FOLDER / "shared"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/module.mjs"))


def _checked(name, state):
    """Return `state` with lists in place of arrays; raise ValueError where the explorable `name` cannot show it."""
    if name not in NAMES:
        raise ValueError(f"name is {name!r}; expected an explorable: {' or '.join(NAMES)}.")
    checks = importlib.import_module(f".explorables.{name}.state", __package__).STATE
    if set(state) != set(checks):
        raise ValueError(f"{name} was given {', '.join(state) or 'no state'}; expected {', '.join(checks)}.")
    state = {key: value.tolist() if hasattr(value, "tolist") else value for key, value in state.items()}
    state |= {key: list(value) for key, value in state.items() if isinstance(value, tuple)}
    for key, check in checks.items():
        if expected := check(state[key], state):
            raise ValueError(f"{key} is {repr(state[key])[:500]}; expected {expected}.")
    return state


def _code(path):
    """Return the code of a module without its comments, with what it imports written into it, and no other names."""
    code = re.sub(r"^ *//.*\n", "", path.read_text("utf8"), flags=re.M)
    inside = lambda found: f"const {found[1]} = (() => {{\n{_code(path.parent / found[2])}return {found[1]};\n}})();"
    return re.sub(r'^import ({[^}]*}) from "([./\w]+)";$', inside, code, flags=re.M).replace("export ", "")


def _module(name):
    """Return the code of an explorable."""
    return _code(FOLDER / name / "module.mjs").replace("default {", "const explorable = {")


def _trait(key):
    """Return how a widget calls a part of the state: it has `keys` of its own, the names of all that it shares."""
    return "keys_" if key == "keys" else key


def _style(name):
    return "".join(path.read_text("utf8") for path in (SHARED / "parts.css", FOLDER / name / "style.css"))


def explorable(name, still, **state):
    """Return the explorable `name` as HTML that needs no kernel, server or network; used in chapters 1 to 18.

    `still` is the Picture that is seen in its place in print and without JavaScript.  `state` is how it starts, lists
    or arrays: `explorables/NAME/state.py` says of which parts, and what each of them can be.
    Raises ValueError where the name is unknown or the state is not of this kind.

    >>> still = figures.arrows({"a": [3, 1], "b": [1, 2]}, alt="Two arrows.")
    >>> page = explorable("vectors", still, a=[3, 1], b=[1, 2])
    >>> "mt-explorable" in page.data
    True
    """
    data = html.escape(json.dumps(_checked(name, state), ensure_ascii=False))
    script = _module(name) + (SHARED / "host.mjs").read_text("utf8").replace("export ", "")
    # A classic script runs where it stands, before what follows it is painted: nothing moves when it starts.
    return HTML(
        f'<div class="mt-explorable" data-state="{data}"><style>{_style(name)}</style><div></div>'
        f'<script>(() => {{\n"use strict";\n{script}mount(document.currentScript, explorable);\n}})();</script>'
        f'<div class="mt-still">{still._repr_html_()}</div></div>'
    )


def live(name, **state):
    """Return the explorable `name` as a widget: Python reads and sets what the reader moves.

    `state` is as in `explorable`, and is checked again when it is set.  In JupyterLab, as chapter 3 tells:
    `widget = live("vectors", a=[3, 1], b=[1, 2])`, then `widget.a` and `widget.a = [0, 2]`.
    The keys of a query are `widget.keys_`, as any widget has `keys` of another kind.

    >>> widget = live("vectors", a=[3, 1], b=[1, 2])
    >>> widget.a = [0, 2]
    >>> widget.a
    [0, 2]
    """

    def check(widget, change):
        now = {key: change.value if _trait(key) == change.trait.name else getattr(widget, _trait(key)) for key in state}
        return _checked(name, now)[change.trait.name.rstrip("_")]

    traits = {_trait(key): traitlets.Any(value).tag(sync=True) for key, value in _checked(name, state).items()}
    esm = _module(name) + (SHARED / "widget.mjs").read_text("utf8")
    parts = {"_esm": esm, "_css": figures.css() + _style(name), "check": traitlets.validate(*traits)(check), **traits}
    return type(name.title(), (anywidget.AnyWidget,), parts)()
