"""What a learner calls, given bad input, does it right or refuses it in a sentence that names the argument at fault.

That is promised of what chapters 1 to 12 build, of what looks into the book's translator there, and of `train`,
`generate` and what loads a file; a function within the package that our own code hands nonsense raises NumPy's error.
The good call of a function is that of its docstring's example; one argument at a time is replaced by what a reader may
hand over by mistake: bad arrays for an array, bad numbers for a number, and so on.
"""

import copy
import inspect
import linecache
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import companion
import minitransformer
from minitransformer.training import running
from tests.helper.test_examples import PUBLIC, examples

PROMISED = {  # module, of minitransformer where no package is named -> its functions
    "word_vectors": "count_pairs ppmi train_vectors pca load_vectors",
    "dot_product": "unit cosine_similarity cosine_matrix nearest",
    "softmax": "softmax log_softmax entropy",
    "attention": "attention",
    "self_attention": "project self_attention",
    "masks": "causal_mask padding_mask leaks",
    "multi_head": "split_heads merge_heads multi_head_attention",
    "layer_norm": "layer_norm rms_norm",
    "residuals": "residual",
    "positions": "sinusoidal_positions rotary alibi_bias",
    "feed_forward": "relu gelu feed_forward",
    "transformer.embedding": "embed logits_of",
    "transformer.layers": "layer stack",
    "transformer.models": "LanguageModel Transformer",
    "companion.evidence.examples": "examples twin_examples scored",
    "companion.evidence.activations": "activations",
    "companion.evidence.lookups": "lookup translate_with",
    "companion.evidence.asked": "load_asked load_answers",
    "translation.translator": "translate",
    "translation.pairs": "english_words french_words",
    "training.dropout": "dropout",
    "training.loop": "train",
    "language_model.writing": "generate",
    "pretrained.loading": "load_pretrained",
}
WHOLE = {m if m.startswith("companion.") else f"minitransformer.{m}": names for m, names in PROMISED.items()}
TRIED = {"public_model.loading.load_gguf", "public_model.smollm2.load_smollm2"}  # on files, in test_public_model.py
NAMES = [f"{module}.{name}" for module, names in WHOLE.items() for name in names.split()]
CHANGED, UNNAMED = "changes its input", "does not name it: "
HOMES = tuple(str(Path(package.__file__).parent) for package in (minitransformer, companion))
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


def good_call(name):
    """Return the arguments of the first call of a function, or of a class, in its own example."""
    function, known, calls = PUBLIC[name], examples(name).globs, []

    def call(*arguments, **named):
        given = inspect.signature(function).bind(*arguments, **named)
        given.apply_defaults()
        calls.append(copy.deepcopy(given))
        return function(*arguments, **named)

    known[name.rpartition(".")[2]] = call
    for example in examples(name).examples:
        exec(compile(example.source, name, "single"), known)
        if calls:
            return calls[0]
    raise ValueError(f"{name} is not called in its own example.")


def same(one, two):
    """Tell whether two inputs are the same, arrays bit by bit; objects of other kinds are not looked into."""
    if isinstance(one, np.ndarray) and one.dtype != object:
        return (one.dtype, one.shape, one.tobytes()) == (two.dtype, two.shape, two.tobytes())
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    return True


def is_a_sentence(error):
    """Tell whether the package raised an error itself, with a sentence that says what was expected, or what to do."""
    last = error.__traceback__
    while last.tb_next:
        last = last.tb_next
    file = last.tb_frame.f_code.co_filename
    ours = file.startswith(HOMES) and linecache.getline(file, last.tb_lineno).strip().startswith("raise ")
    kind = isinstance(error, ValueError | TypeError | KeyError | OSError)
    return ours and kind and any(sign in str(error) for sign in ("expected", ";", "did you mean", "free some space"))


def outcome(function, good, name, bad):
    """Return how a call with a bad argument ends: "right", "refused", or what is wrong with it."""
    given = copy.deepcopy(good)
    given.arguments[name] = bad
    before = copy.deepcopy(given.arguments)
    try:
        function(*given.args, **given.kwargs)
    except Exception as error:
        if not is_a_sentence(error):
            return f"{type(error).__name__}: {error}"
        return "refused" if re.search(rf"\b{name}\b", str(error)) else f"{UNNAMED}{error}"
    return "right" if same(before, given.arguments) else CHANGED


SAID = {  # what a sentence says in place of an argument's name
    ("word_vectors.train_vectors", "sentences"): "words occur",
    ("word_vectors.train_vectors", "min_count"): "words occur",
    ("self_attention.project", "name"): "expected .* too",  # the entry that is missing
    ("embedding.embed", "table"): "expected .* too",
    ("masks.padding_mask", "n"): "for each sequence",  # the lengths that do not fit to it
    ("positions.sinusoidal_positions", "d"): "the width is ",
    ("positions.rotary", "x"): "the width is ",
    ("activations.activations", "english"): "not among the|^sentence is ",
    ("lookups.lookup", "english"): "not among the|^sentence is ",
    ("lookups.translate_with", "english"): "not among the|^sentence is ",
    ("translator.translate", "sentence"): "not among the",  # the unknown word
}


@pytest.mark.parametrize("name", NAMES)
def test_bad_input_is_done_right_or_refused_in_a_sentence_and_never_changed(name, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(running, "tqdm", partial(running.tqdm, disable=True))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "damaged.npz").write_bytes(b"PK\x03\x04 nonsense")
    good, parameters, found = good_call(name), inspect.signature(PUBLIC[name]).parameters, {}
    with np.errstate(all="ignore"):
        for argument, value in good.arguments.items():
            if parameters[argument].kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
                for what, bad in bad_for(value).items():
                    found[argument, what] = outcome(PUBLIC[name], good, argument, bad)
    said = {one: how for one, how in found.items() if how.startswith(UNNAMED)}
    short = ".".join(name.split(".")[-2:])
    known = {one for one, how in said.items() if re.search(SAID.get((short, one[0]), "$."), how.removeprefix(UNNAMED))}
    assert {one: how for one, how in found.items() if one not in known and how not in ("right", "refused")} == {}
    used = {argument for argument, _ in known}
    assert [place for place in SAID if place[0] == short and place[1] not in used] == [], "no longer so: leave it out"


def test_every_function_that_loads_something_by_an_argument_is_promised():
    loading = {name for name in PUBLIC if name.rpartition(".")[2].startswith("load_")}
    loading -= {f"minitransformer.{name}" for name in TRIED}
    assert [name for name in loading - {*NAMES} if inspect.signature(PUBLIC[name]).parameters] == []
