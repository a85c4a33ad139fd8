"""Sampling and generation: temperature, top-k, top-p, penalties, greedy decoding, beams; built in chapter 16."""

import numpy as np

from ..arrays import finite, floats, number, rows, seeded, token_ids, whole
from ..softmax import log_softmax, softmax
from ..transformer.walk import decoder_only
from .cache import KeyValueCache, decode_step


def sampling_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    """Return the probability with which each token is drawn: softmax(logits / T), cut to the likeliest ones.

    `top_k` keeps so many of the likeliest tokens, and `top_p` the fewest whose probabilities come to that much, of what
    `top_k` has left; the others get 0, and those kept are divided by their sum.  Of equals the smaller number counts as
    likelier.  Shapes: logits (…, vocabulary) -> the same, in float64.  Raises ValueError where one is NaN or infinite.
    Fan, Lewis and Dauphin (2018), Holtzman et al. (2020); used in chapter 16.

    >>> sampling_probabilities(np.log([0.5, 0.3, 0.2]), top_k=2).round(3).tolist()
    [0.625, 0.375, 0.0]
    >>> sampling_probabilities(np.log([0.5, 0.3, 0.2]), top_p=0.6).round(3).tolist()
    [0.625, 0.375, 0.0]
    """
    p = softmax(finite(np.asarray(logits, float), "logits"), temperature=temperature)
    order = np.argsort(-p, axis=-1, kind="stable")
    ranked = np.take_along_axis(p, order, axis=-1)
    if top_k is not None:
        ranked[..., whole(top_k, "top_k") :] = 0
    if top_p is not None:
        before = np.cumsum(ranked, axis=-1) - ranked
        enough = number(top_p, "top_p", 0, 1) * ranked.sum(axis=-1, keepdims=True)
        ranked[(before >= enough) & (before > 0)] = 0
    np.put_along_axis(p, order, ranked, axis=-1)
    return p / p.sum(axis=-1, keepdims=True)


def sample(logits, temperature=1.0, top_k=None, top_p=None, rng=None):
    """Draw a token for each row of logits, with its `sampling_probabilities`; at temperature 0, take the likeliest.

    Shapes: logits (…, vocabulary) -> (…) of whole numbers.  Raises TypeError where `rng` is no Generator and something
    has to be drawn, and ValueError where a logit is NaN or infinite.  Used in chapter 16.

    >>> logits = np.log([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    >>> sample(logits, temperature=0).tolist()
    [0, 2]
    >>> sample(logits, top_k=1, rng=np.random.default_rng(0)).tolist()
    [0, 2]
    """
    if number(temperature, "temperature") == 0:
        return np.argmax(finite(floats(logits, "logits"), "logits"), axis=-1)
    if not isinstance(rng, np.random.Generator):
        wanted = "a Generator, such as np.random.default_rng(0), or temperature 0"
        raise TypeError(f"rng is {rng!r}; expected {wanted}.")
    sums = np.cumsum(sampling_probabilities(logits, temperature, top_k, top_p), axis=-1)
    drawn = rng.random((*sums.shape[:-1], 1)) * sums[..., -1:]
    return (sums <= drawn).sum(axis=-1)


def generate(
    model,
    ids,
    steps,
    temperature=0.0,
    top_k=None,
    top_p=None,
    rng=None,
    window=None,
    stop=None,
    encoding=None,
    penalty=0.0,
):
    """Let a model go on with a text for so many tokens, each drawn as by `sample`; return the text with them.

    Shapes: ids (…, n), n at least 1 -> (…, n + steps).  Each token attends to the last `window` ones, to all where none
    is given, and `discourage` takes the `penalty` from those that stand among them.  A text ends before its time with
    the token `stop`, or with one of several, or where `stop` is a string, with the token that completes it in what
    `encoding` makes of the new ones; then there are fewer tokens, and of several texts those that have ended repeat
    their last one.
    Raises TypeError where the model is no `LanguageModel` or `Decoder`, and ValueError where there is no token to begin
    with, more than the model has learned positions for, or its logits are NaN or infinite.  Used in chapter 16.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=3, positions="rotary", rng=0)
    >>> generate(model, [3, 1, 4], steps=2).shape
    (5,)
    """
    ids, steps = prompt_ids(model, ids), whole(steps, "steps", 0)
    rng, penalty = None if rng is None else seeded(rng), number(penalty, "penalty", -100, 100)
    ends, first = stopping_rule(stop, encoding, model.vocabulary), ids.shape[-1]
    cache = KeyValueCache(model, first + steps, ids.shape[:-1], window)
    new, done = ids, np.zeros(ids.shape[:-1], bool)
    for _ in range(steps):
        logits = decode_step(model, cache, new, last=True)[..., -1, :]
        logits = logits if penalty == 0 else discourage(logits, ids[..., -cache.window :], penalty)
        new = sample(logits, temperature, top_k, top_p, rng)[..., None]
        new = np.where(done[..., None], ids[..., -1:], new)
        ids = np.concatenate([ids, new], axis=-1)
        done = done | ends(ids[..., first:])
        if stop is not None and done.all():
            break
    return ids


def discourage(logits, ids, penalty):
    """Take a penalty from the logit of each token that stands in a text already.

    Shapes: logits (…, vocabulary), ids (…, n) -> the logits' shape.  Built in chapter 16.

    >>> discourage(np.array([2.0, 1.0, 0.0]), np.array([0, 0, 2]), 0.5).tolist()
    [1.5, 1.0, -0.5]
    """
    seen = np.zeros(logits.shape, bool)
    np.put_along_axis(seen, ids, True, axis=-1)
    return logits - penalty * seen


def stopping_rule(stop, encoding, vocabulary):
    """Return the function that tells which texts have ended, by their new tokens: (…, n) -> (…) of bool.

    `stop` is the number of a token, or several, or a string, for which the `encoding` of the text is needed, or None.
    Raises TypeError or ValueError, saying what was expected, where it is none of these.  Used in chapter 16.

    >>> stopping_rule([2, 5], None, 11)(np.array([[2, 3], [3, 5]])).tolist()
    [False, True]
    """
    if stop is None:
        return lambda new: False
    if not isinstance(stop, str):
        several = isinstance(stop, list | tuple | np.ndarray)
        numbers = token_ids(stop if several else [stop], vocabulary, name="stop")
        return lambda new: np.isin(new[..., -1], numbers)
    if not stop or not hasattr(encoding, "decode"):
        raise ValueError(
            f"stop is {stop!r} and encoding is {encoding!r}; expected a token, or a string of a character or more, and "
            "with a string the encoding of the text, which finds it there."
        )
    return lambda new: np.array([stop in encoding.decode(row) for row in rows(new)], bool).reshape(new.shape[:-1])


def prompt_ids(model, ids):
    """Return the beginning of a text as numbers of tokens.  Used in chapter 16.

    Shapes: (…, n) -> the same.  Raises TypeError where the model does not write, ValueError where there is no token.

    >>> from minitransformer.transformer import LanguageModel
    >>> prompt_ids(LanguageModel(11, 8, heads=2, layers=1), [3, 1, 4]).tolist()
    [3, 1, 4]
    """
    lengths = {np.size(text) for text in ids} if isinstance(ids, list | tuple) else ()
    if len(lengths) > 1:
        told = " and ".join(map(str, sorted(lengths)))
        raise ValueError(
            f"ids has texts of {told} tokens; expected texts of one length: write them one by one, or cut them."
        )
    ids = token_ids(ids, decoder_only(model).vocabulary)
    if not ids.shape[-1]:
        raise ValueError(f"ids has shape {ids.shape}; expected one token or more to begin with.")
    return ids


def beam_text(model, ids, steps, width=4, window=None):
    """Go on with a text for so many tokens, and keep at each the `width` likeliest texts; the likeliest comes first.

    Shapes: ids (n,) -> texts (width, n + steps), log probabilities of what is new (width,).  `window`, and what is
    raised, are as in `generate`.  Used in chapter 16.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=3, positions="rotary", rng=0)
    >>> texts, totals = beam_text(model, [3, 1, 4], steps=2, width=3)
    >>> texts.shape, bool((np.diff(totals) <= 0).all())
    ((3, 5), True)
    """
    ids, steps = np.tile(prompt_ids(model, ids), (whole(width, "width"), 1)), whole(steps, "steps", 0)
    totals = np.where(np.arange(width) == 0, 0.0, -np.inf)  # all are one text as yet
    cache = KeyValueCache(model, ids.shape[1] + steps, ids.shape[:1], window)
    new = ids
    for _ in range(steps):
        found = totals[:, None] + log_softmax(finite(decode_step(model, cache, new, last=True)[:, -1], "logits"))
        best = np.argsort(-found, axis=None, kind="stable")[:width]
        texts, numbers = np.unravel_index(best, found.shape)
        cache.reorder(texts)
        totals, new = found[texts, numbers], numbers[:, None]
        ids = np.hstack([ids[texts], new])
    return ids, totals
