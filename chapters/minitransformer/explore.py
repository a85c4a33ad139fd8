"""Explorables: drawings that can be moved, each one module for the page, for JupyterLab and for a kernel."""

import base64
import html
import json
import math
import re
from pathlib import Path

import anywidget
import numpy as np
import traitlets
from IPython.display import HTML

from . import figures
from .feed_forward import gelu
from .transformer import count, layer_shapes, stack_size

FOLDER = Path(__file__).parent / "explorables"
PAIR = "a list of two finite numbers", lambda value, _: _numbers(value) and len(value) == 2
SCORES = "a list of two or more finite numbers", lambda value, _: _numbers(value) and len(value) > 1
LABELS = "a list of words, one for each score", lambda value, whole: _words(value, len(whole["scores"]))
WORDS = "a list of two or more words", lambda value, _: isinstance(value, list) and _words(value, max(len(value), 2))
POSITIVE = "a positive finite number", lambda value, _: _numbers([value]) and value > 0
FINITE = "a finite number", lambda value, _: _numbers([value])
FLAG = "True or False", lambda value, _: type(value) is bool
POINTS = "a list of points [x, y], one for each label", lambda value, whole: _table(value, len(whole["labels"]), 2)
SQUARE = "a row and a column of finite numbers for each label", lambda v, all: _table(v, *2 * [len(all["labels"])])
ROWS = "a row of finite numbers for each label, all of one width", lambda value, all: _table(value, len(all["labels"]))
MATRIX = "rows of finite numbers, one for each column of x", lambda value, all: _table(value, len(all["x"][0]))
SHARED = "rows like those of W_Q", lambda value, all: _table(value, len(all["W_Q"]), len(all["W_Q"][0]))
ALIKE = "rows like those of queries", lambda value, all: _table(value, len(all["queries"]), len(all["queries"][0]))
HEADS = "a number that divides the width", lambda v, all: type(v) is int and v > 0 and len(all["queries"][0]) % v == 0
STEP = "a step, from 0 to 5", lambda value, _: type(value) is int and 0 <= value <= 5
PADDED = "a number of labels, at least one left", lambda v, all: type(v) is int and 0 <= v < len(all["labels"])
ENCODING = "sinusoidal or learned or rotary", lambda value, _: value in ("sinusoidal", "learned", "rotary")
PLACES = "2 to 64 rows of pairs of numbers", lambda v, _: any(_table(v, n) for n in range(2, 65)) and not len(v[0]) % 2
PLACE = "a position that has a row in learned", lambda v, all: type(v) is int and 0 <= v < len(all["learned"])
WIDE = "as many finite numbers as a row of learned", lambda v, all: _table([v], 1, len(all["learned"][0]))
MODEL = "decoder or encoder-decoder", lambda value, _: value in ("decoder", "encoder-decoder")
SIZE = "a whole number from 1 to 100000", lambda value, _: type(value) is int and 1 <= value <= 100_000
NORM = "pre or post", lambda value, _: value in ("pre", "post")
SIZES = "d", "heads", "layers", "hidden", "vocabulary", "n"
NAMES = "4 to 8 words", lambda value, _: any(_words(value, size) for size in range(4, 9))
EACH = "a finite number for each label", lambda value, all: _table([value], 1, len(all["labels"]))
DEPTH = "a whole number from 1 to 48", lambda value, _: type(value) is int and 1 <= value <= 48
MEASURED = "48 positive finite numbers", lambda value, _: _numbers(value) and len(value) == 48 and min(value) > 0
THREE = "three words", lambda value, _: _words(value, 3)
NARROW = "one or two numbers for each label", lambda v, all: any(_table(v, len(all["labels"]), n) for n in (1, 2))
WISH = "a finite number for each column of values", lambda value, all: _table([value], 1, len(all["values"][0]))
LOSSES = "two or more positive finite numbers", lambda v, _: _numbers(v) and len(v) > 1 and min(v) > 0
STEPS = "two or more whole numbers from 0 on, evenly apart", lambda value, _: _even(value)
ONE_OF = "one of steps", lambda value, all: type(value) is int and value in all["steps"]
SHARES = "a share from 0 to 1 for each of steps", lambda value, all: _shares([value], 1, len(all["steps"]))
FEW = "2 to 12 words", lambda value, _: any(_words(value, size) for size in range(2, 13))
SHORT = "2 to 13 words of at most 5 letters", lambda value, _: any(_short(value, size) for size in range(2, 14))
SAYS = (
    "for each of steps a word of at most 5 letters for each of targets",
    lambda value, all: _each(value, all, lambda words: _short(words, len(all["targets"]))),
)
MAPS = (
    "for each of steps a table of shares from 0 to 1, targets by labels",
    lambda value, all: _each(value, all, lambda table: _shares(table, len(all["targets"]), len(all["labels"]))),
)
OF_MODEL = "d", "hidden", "layers", "heads", "encoder_layers", "encoder_heads", "tied"
MODELLED = "sizes as packed gives them", lambda value, _: _sizes(value)
VOCABULARY = "words after <pad>, <s> and </s>", lambda v, _: _known(v, v) and v[:3] == ["<pad>", "<s>", "</s>"]
GROUPS = "lists of words of source, by their names", lambda value, all: _grouped(value, all["source"])
SENTENCE = "words of source, with a space between two", lambda v, all: _sentences([v], all["source"])
SENTENCES = "a list of sentences in words of source", lambda v, all: _sentences(v, all["source"])
SPOKEN = "a list of words of target", lambda value, all: _known(value, all["target"])
RISING = "whole numbers, each above the last", lambda v, _: _numbers(v) and sorted({int(n) for n in v}) == v != []
BASE64 = "for each of steps weights of these sizes, as packed gives them", lambda value, all: _packed(value, all)
TWINS = "two rows of equally many words", lambda value, _: _both(value, lambda row: _words(row, len(value[0])))
ALIGNED = (
    "two tables of shares from 0 to 1, french by english",
    lambda value, all: _both(value, lambda table: _shares(table, len(all["french"][0]), len(all["english"][0]))),
)
COUNTS = (
    "two tables with a row of two numbers for each word of english",
    lambda value, all: _both(value, lambda table: _table(table, len(all["english"][0]), 2)),
)
LOOKS = (
    "two tables of shares from 0 to 1, layers by english",
    lambda value, all: _both(value, lambda table: _shares(table, len(value[0]), len(all["english"][0]))),
)
WHICH = "0 or 1", lambda value, _: type(value) is int and value in (0, 1)
VIEW = "0 or the number of a layer", lambda value, all: type(value) is int and 0 <= value <= len(all["looks"][0])
TEXT = "a list of sentences, 2 to 40 words with a space between two", lambda v, _: _text(v)
REACH = "a whole number from 1 to 4", lambda value, _: type(value) is int and 1 <= value <= 4
IN_TEXT = "the place of a word of sentences, from 1 on", lambda v, all: type(v) is int and v in _places(all)
LISTED = "for each of words the same number of words, with a space between two", lambda v, all: _listed(v, all)
COSINES = "for each of words a number for each word of near", lambda v, all: _table(v, len(all["words"]), _wide(all))
MAPPED = "a point [x, y] for each of words", lambda value, all: _table(value, len(all["words"]), 2)
OF_WORDS = "one of words", lambda value, all: value in all["words"]
STATES = {  # explorable -> part of its state -> what it must be, in words and as a test of it and the whole state
    "vectors": {"a": PAIR, "b": PAIR},
    "temperature": {"scores": SCORES, "labels": LABELS, "temperature": POSITIVE},
    "lookup": {"labels": WORDS, "query": PAIR, "keys": POINTS, "values": POINTS, "scale": POSITIVE},
    "sheet": {"labels": WORDS, "x": ROWS, "W_Q": MATRIX, "W_K": SHARED, "W_V": MATRIX, "scaled": FLAG},
    "masks": {"labels": WORDS, "scores": SQUARE, "causal": FLAG, "padded": PADDED, "temperature": POSITIVE},
    "heads": {"labels": WORDS, "queries": ROWS, "keys": ALIKE, "values": ALIKE, "heads": HEADS, "step": STEP},
    "position": {"kind": ENCODING, "learned": PLACES, "position": PLACE, "query": WIDE, "key": WIDE},
    "build": {"kind": MODEL, **dict.fromkeys(SIZES, SIZE), "norm": NORM, "tied": FLAG},
    "features": {"labels": NAMES, "x": EACH, "gain": EACH, "bias": EACH, "eps": POSITIVE},
    "depth": {"scale": POSITIVE, "depth": DEPTH, "plain": MEASURED, "residual": MEASURED},
    "graph": {"labels": THREE, "query": PAIR, "keys": POINTS, "values": NARROW, "wish": WISH},
    "training": {
        **{"losses": LOSSES, "steps": STEPS, "exact": SHARES, "labels": FEW, "targets": SHORT, "says": SAYS},
        **{"weights": MAPS, "step": ONE_OF},
    },
    "translator": {
        **{"sizes": MODELLED, "source": VOCABULARY, "target": VOCABULARY, "groups": GROUPS, "twins": SENTENCES},
        **{"examples": SENTENCES, "sentence": SENTENCE, "pronouns": SPOKEN, "steps": RISING, "step": ONE_OF},
        "weights": BASE64,
    },
    "twins": {
        **{"english": TWINS, "french": TWINS, "weights": ALIGNED, "swaps": COUNTS, "looks": LOOKS},
        **{"shown": WHICH, "view": VIEW},
    },
    "window": {"sentences": TEXT, "window": REACH, "place": IN_TEXT, "weighed": FLAG},
    "words": {"words": WORDS, "points": MAPPED, "near": LISTED, "cosines": COSINES, "chosen": OF_WORDS},
    "shares": {"scores": SCORES, "labels": LABELS, "shift": FINITE},
}


def _numbers(value):
    numbers = isinstance(value, list) and all(isinstance(v, int | float) and type(v) is not bool for v in value)
    return numbers and all(map(math.isfinite, value))


def _words(value, size):
    return isinstance(value, list) and len(value) == size and all(isinstance(v, str) for v in value)


def _table(value, rows, columns=None):
    """Say whether `value` is a list of `rows` lists of `columns` finite numbers each, or of as many as the first."""
    lists = isinstance(value, list) and len(value) == rows and all(map(_numbers, value))
    return lists and len(value[0]) > 0 and all(len(row) == (columns or len(value[0])) for row in value)


def _short(value, size):
    return _words(value, size) and all(len(word) <= 5 for word in value)


def _even(value):
    """Say whether `value` is [0, s, 2 s, …] with a whole number s, at least up to s."""
    whole = isinstance(value, list) and len(value) > 1 and all(type(v) is int for v in value)
    return whole and value[1] > 0 and value == list(range(0, len(value) * value[1], value[1]))


def _shares(value, rows, columns):
    """Say whether `value` is a table as in `_table` of numbers from 0 to 1."""
    return _table(value, rows, columns) and all(0 <= share <= 1 for row in value for share in row)


def _both(value, fits):
    """Say whether `value` is a list of two, of which each `fits`."""
    return isinstance(value, list) and len(value) == 2 and all(map(fits, value))


def _each(value, whole, fits):
    """Say whether `value` is a list that has for each step of a training what `fits`."""
    return isinstance(value, list) and len(value) == len(whole["steps"]) and all(map(fits, value))


def _sizes(value):
    """Say whether `value` has the sizes of a Transformer that can be: its heads divide d, which is even."""
    whole = (
        isinstance(value, dict) and set(value) == set(OF_MODEL) and all(type(v) in (int, bool) for v in value.values())
    )
    divide = lambda numbers: not any(value["d"] % number for number in numbers)
    return (
        whole and all(value[name] > 0 for name in OF_MODEL[:-1]) and divide((2, value["heads"], value["encoder_heads"]))
    )


def _known(value, words):
    """Say whether `value` is a list of words that are all among `words`."""
    return isinstance(value, list) and len(value) > 0 and _words(value, len(value)) and set(value) <= set(words)


def _sentences(value, words):
    return isinstance(value, list) and all(isinstance(v, str) and _known(v.split(" "), words) for v in value)


def _grouped(value, words):
    return isinstance(value, dict) and len(value) > 0 and all(_known(group, words) for group in value.values())


def _packed(value, whole):
    """Say whether `value` is a list that has for each of the steps the numbers of the model, float16 in base64."""
    sizes = whole["sizes"]
    layer, with_cross = (count(layer_shapes(sizes["d"], sizes["hidden"], cross)) for cross in (False, True))
    tables = len(whole["source"]) + len(whole["target"]) * (1 if sizes["tied"] else 2)
    rows = tables + 4  # and gain and bias after the last layer of either side
    numbers = rows * sizes["d"] + sizes["encoder_layers"] * layer + sizes["layers"] * with_cross
    return _words(value, len(whole["steps"])) and {len(text) for text in value} == {(2 * numbers + 2) // 3 * 4}


def _text(value):
    """Say whether `value` is a list of sentences, together of 2 to 40 words, with one space between two words."""
    lists = isinstance(value, list) and all(isinstance(v, str) and all(v.split(" ")) for v in value)
    return lists and 2 <= sum(len(v.split(" ")) for v in value) <= 40


def _places(whole):
    """Return the places of all words of the sentences."""
    return range(1, sum(len(sentence.split(" ")) for sentence in whole["sentences"]) + 1)


def _listed(value, whole):
    """Say whether `value` has a text of equally many words for each of the words."""
    texts = _words(value, len(whole["words"]))
    return texts and all(all(text.split(" ")) for text in value) and len({text.count(" ") for text in value}) == 1


def _wide(whole):
    """Return how many words are near each of the words."""
    return len(whole["near"][0].split(" "))


def packed(model, *snapshots):
    """Return what "translator" is told of a model: its sizes, and its weights as they are or at each of `snapshots`.

    Shapes: model a pre-norm Transformer with a source_vocabulary, sinusoidal positions and gelu; snapshots
    vectors like model.flat -> {"sizes": a dict, "weights": a list of strings, float16 in base64}.
    Raises ValueError where the model is another.  Used in chapter 15.
    """
    for name, expected in {"norm": "pre", "positions": "sinusoidal", "activation": gelu}.items():
        if getattr(model, name) != expected:
            raise ValueError(f"{name} is {getattr(model, name)!r}; expected {expected!r}, all that the page can run.")
    sizes = model.d, model.hidden, *stack_size(model, "decoder"), *stack_size(model, "encoder"), model.tied
    halves = [np.asarray(flat, "<f2").tobytes() for flat in snapshots or [model.flat]]
    return {"sizes": dict(zip(OF_MODEL, sizes)), "weights": [base64.b64encode(each).decode() for each in halves]}


def _checked(name, state):
    """Return `state` with lists in place of arrays; raise ValueError where the explorable `name` cannot show it."""
    if name not in STATES:
        raise ValueError(f"name is {name!r}; expected an explorable: {' or '.join(STATES)}.")
    if set(state) != set(STATES[name]):
        raise ValueError(f"{name} was given {', '.join(state) or 'no state'}; expected {', '.join(STATES[name])}.")
    state = {key: value.tolist() if hasattr(value, "tolist") else value for key, value in state.items()}
    state |= {key: list(value) for key, value in state.items() if isinstance(value, tuple)}
    for key, (expected, fits) in STATES[name].items():
        if not fits(state[key], state):
            raise ValueError(f"{key} is {repr(state[key])[:500]}; expected {expected}.")
    return state


def _code(stem):
    """Return the code of a module without its comments, with what it imports written into it, and no other names."""
    code = re.sub(r"^ *//.*\n", "", (FOLDER / f"{stem}.mjs").read_text("utf8"), flags=re.M)
    inside = lambda found: f"const {found[1]} = (() => {{\n{_code(found[2])}return {found[1]};\n}})();"
    return re.sub(r'^import ({[^}]*}) from "./(\w+).mjs";$', inside, code, flags=re.M).replace("export ", "")


def _module(name):
    """Return the code of an explorable."""
    return _code(name).replace("default {", "const explorable = {")


def _trait(key):
    """Return how a widget calls a part of the state: it has `keys` of its own, the names of all that it shares."""
    return "keys_" if key == "keys" else key


def _style(name):
    return "".join((FOLDER / f"{stem}.css").read_text("utf8") for stem in ("parts", name))


def explorable(name, still, **state):
    """Return the explorable `name` as HTML that needs no kernel, server or network; used in chapters 1 to 15.

    `still` is the Picture that is seen in its place in print and without JavaScript.  `state` is how it starts:
    "vectors" a (2,), b (2,); "temperature" scores (n,), labels (n,), temperature; and, all with labels (n,):
    "lookup" query (2,), keys and values (n, 2), scale; "sheet" x (n, d), W_Q and W_K (d, d_k), W_V (d, d_v), scaled;
    "masks" scores (n, n), causal, padded (how many at the end), temperature; "heads" queries, keys and values (n, d),
    heads, step (0 to 5).  "position" kind, position, learned (n, d), query and key (d,); "build" kind ("decoder" or
    "encoder-decoder"), d, heads, layers, hidden, vocabulary, n, norm ("pre" or "post"), tied.
    "features" labels, x, gain and bias (d,), eps; "depth" scale, depth (1 to 48), plain and residual (48,), measured.
    "graph" labels (3,), query (2,), keys (3, 2), values (3, d_v) and wish (d_v,), d_v being 1 or 2.
    "training" labels (m,), the source; targets (n,), what is right; losses, each of equally many steps; steps (k,),
    evenly apart, and what was measured before each of them: exact (k,), says (k, n), weights (k, n, m); step.
    "translator" what `packed` gives of a model at steps (k,); source and target, its vocabularies; in source words
    groups (lists by name), twins, examples and sentence; pronouns, the target's words shown first; step.
    "twins" two sentences, as `twins.twins` returns them.  "window" sentences (strings), window (1 to 4), place (of the
    word in the middle, from 1 on), weighed (as PPMI in place of counts).  "words" words (n,), points (n, 2), near (n
    strings of k words), cosines (n, k), chosen (one of words).
    "shares" scores (n,), labels (n,), shift.
    Raises ValueError where the name is unknown or the state is not of this kind.
    """
    data = html.escape(json.dumps(_checked(name, state), ensure_ascii=False))
    script = _module(name) + (FOLDER / "host.mjs").read_text("utf8").replace("export ", "")
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
    """

    def check(widget, change):
        now = {key: change.value if _trait(key) == change.trait.name else getattr(widget, _trait(key)) for key in state}
        return _checked(name, now)[change.trait.name.rstrip("_")]

    traits = {_trait(key): traitlets.Any(value).tag(sync=True) for key, value in _checked(name, state).items()}
    esm = _module(name) + (FOLDER / "widget.mjs").read_text("utf8")
    parts = {"_esm": esm, "_css": figures.css() + _style(name), "check": traitlets.validate(*traits)(check), **traits}
    return type(name.title(), (anywidget.AnyWidget,), parts)()
