"""Every public function, given bad input, does it right or refuses it in a sentence of its own, and changes no input.

The good call of a function is that of its docstring's example; one argument at a time is replaced by what a reader may
hand over by mistake: bad arrays for an array, bad numbers for a number, and so on.
"""

import copy
import inspect
import linecache
import re
from collections import defaultdict
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

import minitransformer
from minitransformer.arrays import doors
from minitransformer.training import running
from tests.helper.test_examples import PUBLIC, examples

CHANGED, UNNAMED = "changes its input", "does not name it: "
HOME = str(Path(minitransformer.__file__).parent)
pytestmark = pytest.mark.filterwarnings("ignore")  # NumPy's, about numbers that are no numbers


class Foreign:
    """What no function knows."""


ARRAYS = {
    "of no axis": np.array(3.0),
    "of one axis": np.arange(3.0),
    "of three axes": np.ones((2, 3, 5)),
    "of four axes": np.ones((2, 1, 3, 4)),
    "without rows": np.ones((0, 4)),
    "without columns": np.ones((4, 0)),
    "of NaN": np.full((2, 4), np.nan),
    "of infinities": np.full((2, 4), -np.inf),
    "of huge numbers": np.full((2, 4), 1e300),
    "of negative whole numbers": np.full((2, 4), -3),
    "of large whole numbers": np.full((2, 4), 10**9),
    "of float16": np.full((2, 4), 300, np.float16),
    "of complex numbers": np.ones((2, 4), complex),
    "of objects": np.array([[Foreign(), 1], [2, 3]]),
    "of texts": np.array([["a", "b"], ["c", "d"]]),
    "masked": np.ma.array(np.ones((2, 4)), mask=np.eye(2, 4)),
    "a list": [[1, 2], [3, 4]],
    "ragged": [[1, 2], [3]],
    "an empty list": [],
    "nothing": None,
    "a text": "nonsense",
}
NUMBERS = {
    "zero": 0,
    "minus one": -1,
    "two and a half": 2.5,
    "seven": 7,
    "NaN": np.nan,
    "infinity": np.inf,
    "a text": "nonsense",
    "nothing": None,
    "an array": np.ones((2, 2)),
}
TEXTS = {"an unknown name": "nonsense", "an empty text": "", "a number": 2.5, "nothing": None}
ROWS = {"an empty list": [], "nothing": None, "a number": 3, "unknown words": [["nonsense", "words"]]}
DICTS = {"an empty dict": {}, "nothing": None, "a list": [1, 2]}
FILES = {"a missing file": Path("none.npz"), "a folder": Path("."), "a damaged file": Path("damaged.npz")}
OTHERS = {"nothing": None, "a text": "nonsense"}
ROLES = ((np.ndarray, ARRAYS), (bool, {}), ((int, float, np.number), NUMBERS), (str, TEXTS), (dict, DICTS))


def bad_for(value):
    """Return what may stand in the place of a good argument by mistake: in words -> value."""
    if isinstance(value, list | tuple):
        return ARRAYS if value and kind_of(value) in "biuf" else ROWS
    roles = (*ROLES, (Path, FILES), (type(None), {}), (object, OTHERS))
    return next(bad for kind, bad in roles if isinstance(value, kind))


def kind_of(value):
    """Return the kind of the array that a list would be, O where it would be none."""
    try:
        return np.asarray(value).dtype.kind
    except ValueError:
        return "O"


@cache
def good_calls():
    """Return the first call of each function in its own example: module -> {name: its arguments}."""
    found = defaultdict(dict)
    for name, function in PUBLIC.items():
        known, calls = examples(name).globs, []
        known[name.rpartition(".")[2]] = noted(function, calls)
        for example in examples(name).examples if inspect.isfunction(function) else ():
            exec(compile(example.source, name, "single"), known)
            if calls:
                found[name.split(".")[1]][name] = calls[0]
                break
    return found


def noted(function, calls):
    """Return a function that notes with what it is called, and a copy of that, and calls the other."""

    def call(*arguments, **named):
        given = inspect.signature(function).bind(*arguments, **named)
        given.apply_defaults()
        calls.append(copy.deepcopy(given))
        return function(*arguments, **named)

    return call


def same(one, two):
    """Tell whether two inputs are the same, arrays bit by bit; objects of other kinds are not looked into."""
    if isinstance(one, np.ndarray) and one.dtype != object:
        return (one.dtype, one.shape, one.tobytes()) == (two.dtype, two.shape, two.tobytes())
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    return True


def is_a_sentence(error, name):
    """Tell whether the package raised an error itself, with a sentence that says what was expected, or what to do.

    That of a door names the argument, as it knows no more than which ones may be at fault.
    """
    last = error.__traceback__
    while last.tb_next:
        last = last.tb_next
    file = last.tb_frame.f_code.co_filename
    ours = file.startswith(HOME) and linecache.getline(file, last.tb_lineno).strip().startswith("raise ")
    kind = isinstance(error, ValueError | TypeError | KeyError | OSError)
    said = any(sign in str(error) for sign in ("expected", ";", "did you mean", "free some space"))
    return ours and kind and said and (file != doors.__file__ or re.search(rf"\b{name} is ", str(error)) is not None)


def outcome(function, good, name, bad):
    """Return how a call with a bad argument ends: "right", "refused", or what is wrong with it."""
    given = copy.deepcopy(good)
    given.arguments[name] = bad
    before = copy.deepcopy(given.arguments)
    try:
        found = function(*given.args, **given.kwargs)
        if inspect.isgenerator(found):
            next(found, None)
    except Exception as error:
        if not is_a_sentence(error, name):
            return f"{type(error).__name__}: {error}"
        return "refused" if re.search(rf"\b{name}\b", str(error)) else f"{UNNAMED}{error}"
    return "right" if same(before, given.arguments) else CHANGED


# Where an error stays that is none of these sentences, by the reason: functions, each with its arguments


LEFT_OUT = ("figures", "explorables", "explore", "checks")  # pictures, whose tests look at them; check has its own
BARE = {("tensors.library", "name")}  # a ModuleNotFoundError, which says what to install
OTHERWISE = {  # what a sentence says in place of the argument's name -> where: functions, each with an argument
    r"^\S*\.npz |^\. ": """files.read path, files.written path, checkpoints.save path, tensors.read_json path,
        tensors.in_file path""",  # the file's own name
    r"^(n|rate|norm|sentence|targets|gain) |x has shape": """inputs.whole value, inputs.whole least,
        inputs.number value, inputs.number least, inputs.number most, inputs.one_of value, inputs.one_of choices,
        inputs.text value, inputs.whole_numbers x, shapes.for_features vector""",  # the name that is handed over
    r"expected .* too": """inputs.entry name, shapes.matrix_for name, shapes.bias_for name, self_attention.project name,
        self_attention.project_vjp name, decoder.linear name, decoder.linear_vjp name, embedding.embed table,
        embedding.embed_vjp table""",  # the entry that is missing
    "^change has ": "inside.patched name, inside.patched_each name, inside.ablated name",
    "_vjp beside it": """feed_forward.feed_forward_vjp activation, layers.layer_vjp activation, decoder.turned_vjp turn,
        decoder.network_vjp activation""",
    "not among the|^rows is empty|^sentence is ": """inside.seen english, lookups.lookup english, pairs.batch_of pairs,
        twins.pronouns sentences, pairs.right pairs, pairs.word_numbers rows, translator.translate sentence""",
    "the width is ": """positions.angles d, positions.sinusoidal_positions d, positions.rotary x,
        positions.rotary_vjp x""",
    "the scores have|the logits have": """shapes.kept_by_heads queries, shapes.kept_by_heads keys,
        answers.log_probability ids, answers.log_probability_vjp ids""",
    r"the sublayer's output|squares overflow|x has shape \(\)": """residuals.added change, layer_norm.root mean_square,
        writing.shares logits""",
    "numbers of the vocabulary|for each sequence": """answers.targets_for logits, models.source_mask source,
        masks.padding_mask n""",  # what does not fit to it
    "words occur|tokens; |arrays; |^model_type |^factor ": """word_vectors.train_vectors sentences,
        word_vectors.train_vectors min_count, inside.copies vocabulary, own.own_planned most, layouts.sizes_of config,
        layouts.slowed rope""",
}
SAID = {tuple(place.split()): word for word, places in OTHERWISE.items() for place in places.split(",")}
OVERWRITTEN = {("tiles.take_in", name) for name in ("state", "scores", "values")} | {("tiles.tile_back", "scores")}


def is_known(place, how):
    """Tell whether an argument of a function is one of which it is known that a call may end so."""
    if how.startswith(UNNAMED):
        return place in SAID and re.search(SAID[place], how.removeprefix(UNNAMED)) is not None
    return place in (OVERWRITTEN if how == CHANGED else BARE)


def outcomes(module):
    """Yield for each call of a module's functions with one bad argument where that was, what it was, how it ended."""
    for name, good in good_calls()[module].items():
        parameters = inspect.signature(PUBLIC[name]).parameters
        for argument, value in good.arguments.items():
            if parameters[argument].kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
                for what, bad in bad_for(value).items():
                    place = ".".join(name.split(".")[-2:]), argument
                    yield place, what, outcome(PUBLIC[name], good, argument, bad)


MODULES = sorted({name.split(".")[1] for name in PUBLIC} - set(LEFT_OUT))


@pytest.mark.parametrize("module", MODULES)
def test_bad_input_is_done_right_or_refused_in_a_sentence_and_never_changed(module, monkeypatch, tmp_path, capsys):
    good_calls()
    monkeypatch.setattr(running, "tqdm", partial(running.tqdm, disable=True))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "damaged.npz").write_bytes(b"PK\x03\x04 nonsense")
    with np.errstate(all="ignore"):
        found = [one for one in outcomes(module) if one[2] not in ("right", "refused")]
    assert [one for one in found if not is_known(one[0], one[2])] == []
    names = {place for place, *_ in found}
    of_module = {".".join(name.split(".")[-2:]) for name in good_calls()[module]}
    known = [place for place in (*BARE, *SAID) if place[0] in of_module]
    assert [place for place in known if place not in names] == [], "no longer so: leave it out"


def test_every_function_has_a_good_call():
    tried = {name for calls in good_calls().values() for name in calls}
    assert [name for name in PUBLIC if inspect.isfunction(PUBLIC[name]) and name not in tried] == []
