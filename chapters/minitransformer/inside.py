"""Interpretability: activations, patching, ablation, the logit lens and linear probes; built in chapter 17."""

import numpy as np

from .arrays import finite, floats, for_features, number, token_ids, whole
from .transformer import logits_of
from .transformer.walk import decoder_only, normalise, run_decoder, visible


def copies(rng, batch, shortest=8, longest=24, places=48, vocabulary=64):
    """Draw texts of random tokens that repeat themselves: ((ids,), targets), as `train` takes them.

    The first `shortest` to `longest` tokens of each differ from one another, and then they come again, until `places`
    are full.  What is to be said is the next token wherever it is a copy, and −1 elsewhere, which the loss leaves out.
    Shapes: -> ids and targets (batch, places) of whole numbers.  Raises ValueError where no text can be so.
    Built in chapter 17.

    >>> (ids,), targets = copies(np.random.default_rng(0), 2, shortest=3, longest=3, places=5, vocabulary=9)
    >>> ids.tolist(), targets.tolist()
    ([[4, 5, 2, 4, 5], [2, 8, 3, 2, 8]], [[-1, -1, -1, 5, 2], [-1, -1, -1, 8, 3]])
    """
    if not whole(shortest, "shortest") <= whole(longest, "longest") <= min(places, vocabulary):
        given = f"shortest is {shortest} and longest {longest}, with {places} places and {vocabulary} tokens"
        raise ValueError(f"{given}; expected shortest ≤ longest, and enough of both.")
    shape = whole(batch, "batch"), whole(places, "places")
    ids, targets = np.empty(shape, int), np.full(shape, -1)
    for text, said in zip(ids, targets):
        length = rng.integers(shortest, longest + 1)
        repeated = np.resize(rng.permutation(vocabulary)[:length], places + 1)
        text[:], said[length:] = repeated[:-1], repeated[length + 1 :]
    return (ids,), targets


def induction_score(weights, ids):
    """Return how much a token gives, on average, to the token that followed its like the last time, for each head.

    Shapes: weights (…, heads, n, n) and ids (…, n) of whole numbers -> (heads,), from 0 to 1.
    Raises ValueError where shapes do not fit, or no token occurs twice.  Olsson et al. (2022); built in chapter 17.

    >>> looks = np.zeros((1, 4, 4))
    >>> looks[0, 2, 1] = looks[0, 3, 2] = 1
    >>> induction_score(looks, [7, 5, 7, 5]).tolist()
    [1.0]
    """
    weights, ids = floats(weights, "weights", 3), token_ids(ids, np.inf)
    if weights.shape[:-3] + weights.shape[-2:] != (*ids.shape, ids.shape[-1]):
        raise ValueError(
            f"weights has shape {weights.shape} and ids {ids.shape}; expected (…, heads, n, n) and (…, n)."
        )
    n = ids.shape[-1]
    like = (ids[..., :, None] == ids[..., None, :]) & np.tri(n, k=-1, dtype=bool)
    last = n - 1 - like[..., ::-1].argmax(axis=-1)  # where its like stood
    *texts, asks = np.nonzero(like.any(axis=-1))
    if not len(asks):
        raise ValueError(f"ids has shape {ids.shape}, and no token occurs twice; expected repeated text.")
    followed = last[(*texts, asks)] + 1
    return np.moveaxis(weights, -3, 0)[(slice(None), *texts, asks, followed)].mean(axis=1)


def opened(model, ids, change=None, only=None):
    """Return all that happens in a `LanguageModel` or a `Decoder` that reads `ids`, by name: a flat dict of arrays.

    "embedded" is what goes into the layers, "stream" what comes out, "output" the same normed where there is a last
    norm, "logits" the end.  Each part of a layer, such as "1 attention", has "… stream", what it finds, "… normed",
    where norms stand before the parts, "… added" and "… output", the stream behind it; an attention also "… queries"
    and "… keys", turned where positions are rotary, "… values", "… scores", "… weights" and "… mixed", a feed-forward
    network "… hidden", unless it is a mixture of experts.
    `change` is {name: function}: what the function makes of a copy of the array of this name goes on in its place.
    `only`, a list of names, says which arrays are kept: of a long text all may take gigabytes.
    Shapes: ids (…, n) -> (…, n, d) for what is on the stream, (…, heads, n, d_k) for queries, keys, values, of which
    there may be fewer heads, and what is mixed of them, (…, heads, n, n) for scores and weights, (…, n, vocabulary) for
    "logits".
    Raises TypeError where the model is of another kind, and ValueError where `change` or `only` has a name that none of
    the arrays has.  Used in chapter 17.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=1, rng=0)
    >>> found = opened(model, [3, 1, 4])
    >>> found["1 attention weights"].shape, bool(np.allclose(found["logits"], model([3, 1, 4])))
    ((2, 3, 3), True)
    """
    found, names, change, ids = {}, set(), change or {}, token_ids(ids, decoder_only(model).vocabulary)
    only = None if only is None else set(only)

    def note(name, array):
        array = change[name](array.copy()) if name in change else array
        names.add(name)
        if only is None or name in only:
            found[name] = array
        return array

    run_decoder(model, ids, note, keep=visible(ids.shape[-1], ids.shape[-1], model.window))
    check_names("change", change, names)
    check_names("only", only or (), names)
    return found


def check_names(given, asked, found):
    """Do nothing where each name that is asked for is that of an array that was found, both dicts or sets of names.

    Raises ValueError, calling those asked for what `given` says, where one is not.  Used in chapter 17.

    >>> check_names("change", {"logits": np.zeros_like}, {"logits": np.ones(3)})
    """
    if unknown := ", ".join(map(str, {*asked} - {*found})):
        raise ValueError(f"{given} has {unknown}, which happens nowhere in the model; expected names of what is found.")


def patched(run, name, donor, at=...):
    """Run a model with one array, or a part of it, taken from another run: *activation patching*.

    `run(change)` is a run that is opened, such as `lambda change: opened(model, ids, change)`; `donor` is what another
    run found, `name` the array, and `at` an index of it, all of it where none is given.
    Shapes: those of what `run` returns.  Vig et al. (2020); built in chapter 17.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=1, rng=0)
    >>> donor, run = opened(model, [5, 1, 4]), lambda change: opened(model, [3, 1, 4], change)
    >>> bool(np.allclose(patched(run, "embedded", donor, at=0)["logits"], donor["logits"]))
    True
    """

    def put(array):
        array[at] = donor[name][at]
        return array

    return run({name: put})


def ablated(run, name, at, mean=0.0):
    """Run a model with a part of an array at 0, or at the `mean` that it has over many texts: an *ablation*.

    `run` and `name` are as in `patched`, `at` is an index of the array.
    Shapes: those of what `run` returns; `mean` is a number or fits that part.  Built in chapter 17.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=1, rng=0)
    >>> found = ablated(lambda change: opened(model, [3, 1, 4], change), "1 attention mixed", ...)
    >>> bool(found["1 attention added"].any())
    False
    """

    def cut(array):
        array[at] = mean
        return array

    return run({name: cut})


def final_norm(model, stream):
    """Return a stream as it leaves the last norm of a model, as it is where the model has none.  Used in chapter 17.

    Shapes: stream (…, n, d) -> the same.

    >>> from minitransformer.transformer import LanguageModel
    >>> final_norm(LanguageModel(2, 2, heads=1, layers=1, rng=0), [[3.0, 1.0]]).round(2).tolist()
    [[1.0, -1.0]]
    """
    norm, stream = model.params["decoder"].get("norm"), floats(stream, "stream", 2)
    if norm is None:
        return stream
    for_features(stream, norm["gain"], "gain", of="stream")
    return normalise(stream, norm, model.eps)


def logit_lens(stream, model, normed=True):
    """Read a stream as a model reads its end: through its last norm, unless that is left out, and its output head.

    Shapes: stream (…, n, d) -> logits (…, n, vocabulary).  nostalgebraist (2020); built in chapter 17.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=1, rng=0)
    >>> found = opened(model, [3, 1, 4])
    >>> bool(np.allclose(logit_lens(found["stream"], model), found["logits"]))
    True
    """
    stream = floats(stream, "stream", 2)
    if normed:
        stream = final_norm(model, stream)
    return logits_of(stream, model.params)


def linear_probe(x, labels, ridge=1.0):
    """Fit the linear rule that best predicts labels of −1 and 1 from vectors: a direction, and an offset.

    x @ direction + offset is above 0 where the label is likely 1.  `ridge` holds the direction short where few vectors
    are given.  Shapes: x (count, d), labels (count,) -> direction (d,), offset, a number.
    Raises ValueError where shapes do not fit.  Alain and Bengio (2017); built in chapter 17.

    >>> direction, offset = linear_probe([[0.0, 3.0], [2.0, 3.0]], [-1, 1])
    >>> direction.round(2).tolist(), round(float(offset), 2)
    ([0.67, 0.0], -0.67)
    """
    x, labels = finite(floats(x, axes=2)), finite(floats(labels, "labels"), "labels")
    if x.ndim != 2 or labels.shape != x.shape[:1]:
        raise ValueError(f"x has shape {x.shape} and labels {labels.shape}; expected (count, d) and (count,).")
    mean, middle = x.mean(axis=0), labels.mean()
    centred, toward = x - mean, labels - middle
    damped = centred.T @ centred + number(ridge, "ridge") * np.eye(x.shape[1])
    direction = np.linalg.solve(damped, centred.T @ toward)
    return direction, middle - mean @ direction
