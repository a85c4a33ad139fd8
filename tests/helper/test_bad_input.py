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
from minitransformer.training import running
from tests.helper.test_examples import PUBLIC, examples

CHANGED = "changes its input"
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


def is_a_sentence(error):
    """Tell whether an error was raised by the package itself, with a sentence that says what was expected."""
    last = error.__traceback__
    while last.tb_next:
        last = last.tb_next
    file = last.tb_frame.f_code.co_filename
    ours = file.startswith(HOME) and linecache.getline(file, last.tb_lineno).strip().startswith("raise ")
    kind = isinstance(error, ValueError | TypeError | KeyError | OSError)
    return ours and kind and any(sign in str(error) for sign in ("expected", ";", "did you mean"))


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
        return "refused" if is_a_sentence(error) else f"{type(error).__name__}: {error}"
    return "right" if same(before, given.arguments) else CHANGED


# Where an error of Python's or NumPy's own stays, by the reason: functions, each with its arguments


LEFT_OUT = ("figures", "explorables", "explore", "checks")  # pictures, whose tests look at them; check has its own
UNLIKE = {
    "stands at the door itself: the package calls it, and what a reader gave is what it looks at": """
        files.read(path) files.written(path) inputs.floats(axes) inputs.finite(x) inputs.whole(least)
        inputs.number(least most) inputs.one_of(choices) inputs.token_ids(vocabulary) shapes.same_width(names axes)
        shapes.kept(shape) shapes.kept_by_heads(queries keys) shapes.for_features(x) shapes.bias_for(x)
        shapes.summed_to(x gradient) sums.rows(x) sums.sum_tokens(x) sums.sum_features(x) sums.mean_features(x)
        layer_norm.root(mean_square) residuals.added(x) settings.length(gradient) settings.fitting(flat)
        embedding.learned(params) models.source_mask(source lengths) feed_forward.kept_by(shape)""",
    "is called by another function of the package, which has looked at what came": """
        self_attention.product(x matrix) cache.places(cache ids) cache.attend(x cache layer new) cache.turned(x cos sin)
        cache.normed(x part) tiles.tiles(n m block) tiles.tile_scores(queries keys rows columns)
        tiles.take_in(state scores values) tiles.attend_by_tiles(queries keys values block)
        tiles.tile_back(scores asking asked) rounding.dequantise(numbers scales) counting.grams(ids n vocabulary)
        counting.counted(runs vocabulary) counting.blended(runs table shorter vocabulary)
        encoding.merged(ids pair number) encoding.apply_merges(piece numbers) loop.rate_at(step rate warmup)
        parameters.count(shapes) parameters.views(flat shapes) parameters.initialise(params rng)
        parameters.joined(shapes parts) parameters.stack_size(model) parameters.model_shapes(model)
        models.model_sizes(model) checkpoints.save(path adam done) checkpoints.checkpoint_path(model batch)
        answers.targets_for(logits) decoder.normed(part) decoder.normed_vjp(part)
        decoder.network(params activation) decoder.network_vjp(params) decoder.decoder_layer_vjp(params)
        layouts.rows(shapes family) layouts.rows_of(shapes table transposed) layouts.shape_in_file(row shapes)
        layouts.array_for(row params) layouts.unpack(row array params) layouts.at(part path) layouts.sizes_of(config)
        layouts.choices_of(config) layouts.slowed(base width rope) own.own_rows(model) own.own_planned(config most)
        tensors.library(name) tensors.array_of(place)""",
    "takes what only the package or a training makes, and Python says what this has not or cannot": """
        gradients.gradient_check(vjp) gradients.gradient_errors(vjp steps) masks.leaks(model) inside.opened(model)
        inside.logit_lens(model) inside.patched(run donor name at) inside.patched_each(run donor name)
        inside.ablated(run name at mean) cache.step(model cache ids) measuring.foretold(model ids)
        measuring.bits_per_byte(model ids encoding) writing.generate(model temperature) writing.begun(model)
        writing.beam_text(model ids) loop.learn(model adam batch) decoding.greedy(model lengths) decoding.beam(model)
        pairs.batch_of(pairs language) pairs.batch(language) pairs.right(model pairs language)
        twins.pronouns(sentences model) twins.counted(model) examples.scored(examples) lookups.said_with(example)
        inside.last_norm(model) cache.make_room(model cache) answers.log_probability(model)
        answers.log_probability_vjp(model) decoder.decoder_layer(params) published.parameters_of(config)
        layers.layer(activation) layers.stack(params) layers.stack_vjp(params) feed_forward.feed_forward(activation)
        residuals.residual(sublayer) residuals.residual_vjp(sublayer)""",
    "is text or a table of text, and Python says at which word it fails": """
        sentence_sets.pick(choices) sentences.noun_phrase(adjectives) sentences.clause(subject other)
        sentences.it_sentence(subject other) sentences.spelled(phrase) pairs.word_numbers(rows words)
        pairs.french_text(words) word_vectors.count_pairs(sentences index)
        word_vectors.train_vectors(sentences min_count) word_vectors.ppmi(counts smoothing)""",
    "is said by NumPy with the axis, the shape or the size": """
        softmax.entropy(axis) softmax.softmax(temperature) softmax.softmax_vjp(temperature)
        positions.angles(positions) masks.padding_mask(lengths)
        writing.shares(logits temperature) writing.choose(logits temperature) inside.copies(rng places vocabulary)
        inside.linear_probe(ridge) decoder.by_heads(keep) mixture.load(shares) parts.rotary_halves(base)
        parts.rotary_halves_vjp(base)""",
}
BARE = {
    (part.partition("(")[0], argument)
    for parts in UNLIKE.values()
    for part in re.findall(r"[\w.]+\([^)]+\)", parts)
    for argument in part.partition("(")[2].strip(")").split()
}
OVERWRITTEN = {("tiles.take_in", name) for name in ("state", "scores", "values")} | {("tiles.tile_back", "scores")}


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
    assert [one for one in found if one[0] not in BARE] == []
    assert [one for one in found if one[2] == CHANGED and one[0] not in OVERWRITTEN] == []
    names = {place for place, *_ in found}
    of_module = {".".join(name.split(".")[-2:]) for name in good_calls()[module]}
    assert [place for place in BARE if place[0] in of_module and place not in names] == [], (
        "no longer bare: leave it out"
    )


def test_every_function_has_a_good_call():
    tried = {name for calls in good_calls().values() for name in calls}
    assert [name for name in PUBLIC if inspect.isfunction(PUBLIC[name]) and name not in tried] == []
