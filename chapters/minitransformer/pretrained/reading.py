"""A `Decoder` read step by step, with a cache, and opened, as chapters 16 and 17 do it; used in chapter 19."""

import numpy as np

from ..arrays import token_ids
from ..inside import last_norm, opened
from ..language_model.cache import make_room, places, step
from ..layer_norm import rms_norm
from ..multi_head import merge_heads, split_heads
from ..self_attention import project
from ..softmax import softmax
from ..today.decoder import Decoder, group_count, linear, normed
from ..today.mixture import experts
from ..today.parts import silu
from ..transformer import head


@make_room.register
def _room(model: Decoder, cache):
    """Give a cache room for the keys and values of a `Decoder`: (layers, 2, …, groups, most, d_k).

    A model with a window has no use for a longer one.
    """
    asks = model.params["decoder"][1]["attention"]
    groups = group_count(asks, model.heads)
    shape = (model.layers, 2, *cache.batch, groups, cache.most, asks["W_K"].shape[1] // groups)
    cache.kept = np.zeros(shape, model.flat.dtype)
    cache.window = min(cache.window, model.window or cache.window)


@step.register
def _step(model: Decoder, cache, ids):
    """Read the next tokens of a text by a `Decoder`, as `step` does.

    Shapes: ids (…, n) in a cache whose batch is … -> logits (…, n, vocabulary).
    """
    ids = token_ids(ids, model.vocabulary)
    new = places(cache, ids)
    logits = _passed(model, ids, new, lambda name, array: array, cache)
    cache.length = new.stop
    return logits


@opened.register
def _opened(model: Decoder, ids, change=None):
    """Return all that happens in a `Decoder` that reads `ids`, by name, as `opened` does.

    Shapes: those of `opened`, but for keys and values, (…, groups, n, d_k).  The "… hidden" of a network with a gate is
    what has passed it; one of experts has none.
    """
    found, change = {}, change or {}

    def note(name, array):
        found[name] = change[name](array.copy()) if name in change else array
        return found[name]

    ids = token_ids(ids, model.vocabulary)
    _passed(model, ids, slice(0, ids.shape[-1]), note)
    if unknown := ", ".join(change.keys() - found.keys()):
        raise ValueError(f"change has {unknown}, which happens nowhere in the model; expected names of what is found.")
    return found


@last_norm.register
def _norm(model: Decoder, stream):
    """Return a stream as it leaves the last norm of a `Decoder`.  Shapes: (…, n, d) -> the same."""
    return normed(stream, model.params["decoder"]["norm"], model.eps)


def _passed(model, ids, new, note, cache=None):
    """Return the logits of tokens at the places `new`, a slice; all that is found on the way passes through `note`.

    Shapes: ids (…, n) -> (…, n, vocabulary).
    """
    x = note("embedded", _looked_up(model, ids, new))
    for layer in range(1, model.layers + 1):
        for name, part in model.params["decoder"][layer].items():
            place = f"{layer} {name}"
            x = note(f"{place} stream", x)
            inner = note(f"{place} normed", normed(x, part, model.eps))
            if name == "attention":
                added = _attended(place, inner, part, model, note, new, cache)
            else:
                added = _widened(place, inner, part, model, note)
            x = note(f"{place} output", x + note(f"{place} added", added))
    x = note("output", last_norm(model, note("stream", x)))
    return note("logits", head(x, model.params))


def _looked_up(model, ids, new):
    """Return the row of each token, scaled, and its learned position at the places `new`.

    Shapes: ids (…, n) -> (…, n, d).  Raises ValueError where there are not so many positions.
    """
    x = model.params["embedding"][ids] * model.flat.dtype.type(model.scale)
    learned = model.params.get("positions")
    if learned is None:
        return x
    if new.stop > len(learned):
        raise ValueError(f"the text has {new.stop} tokens; expected {len(learned)} at most, as there are positions.")
    return x + learned[new]


def _attended(place, x, part, model, note, new, cache=None):
    """Return what an attention of a `Decoder` makes of x, at the places `new`: (…, n, d) -> (…, n, d).

    Each head of keys and values meets all heads of queries of its group at once.
    """
    groups, where = group_count(part, model.heads), np.arange(new.start, new.stop)
    queries, keys, values = (
        split_heads(linear(x, part, name), count) for name, count in zip("QKV", (model.heads, groups, groups))
    )
    if "queries" in part:
        queries = rms_norm(queries, part["queries"]["gain"], model.eps)
        keys = rms_norm(keys, part["keys"]["gain"], model.eps)
    turn = (lambda x, positions: x) if model.turn is None else model.turn
    queries, keys = note(f"{place} queries", turn(queries, where)), note(f"{place} keys", turn(keys, where))
    values = note(f"{place} values", values)
    layer = int(place.partition(" ")[0])
    keys, values, seen, window = _remembered(keys, values, new, model.window, cache, layer)
    scores = note(f"{place} scores", _by_group(queries, keys.swapaxes(-1, -2)) / keys.shape[-1] ** 0.5)
    behind = where[:, None] - seen
    hidden = (behind < 0) | (behind >= window)
    weights = note(f"{place} weights", softmax(np.where(hidden, -np.inf, scores)))
    return linear(merge_heads(note(f"{place} mixed", _by_group(weights, values))), part, "O")


def _remembered(keys, values, new, window, cache, layer):
    """Return all keys and values that tokens at the places `new` may attend to, their places, and the window.

    Without a cache those are their own; a cache keeps them.
    Shapes: (…, groups, n, d_k) twice -> (…, groups, m, d_k) twice, (m,), a number.
    """
    if cache is None:
        return keys, values, np.arange(new.start, new.stop), window or np.inf
    kept = cache.kept[layer - 1]
    kept[0][..., new, :], kept[1][..., new, :] = keys, values
    seen = slice(max(0, new.start + 1 - cache.window), new.stop)
    return kept[0][..., seen, :], kept[1][..., seen, :], np.arange(seen.start, seen.stop), cache.window


def _by_group(x, shared):
    """Return products of matrices of each head with that of its group: head h meets group h // (heads / groups).

    Shapes: x (…, heads, n, a), shared (…, groups, a, b) -> (…, heads, n, b).
    """
    heads, groups = x.shape[-3], shared.shape[-3]
    grouped = x.reshape(*x.shape[:-3], groups, heads // groups, *x.shape[-2:])
    found = grouped @ shared[..., None, :, :]
    return found.reshape(*found.shape[:-4], heads, *found.shape[-2:])


def _widened(place, x, part, model, note):
    """Return what a network of a `Decoder` makes of x: (…, n, d) -> (…, n, d)."""
    if "W_router" in part:
        return experts(x, part, model.chosen)[0]
    if "W_gate" in part:
        hidden = silu(project(x, part, "W_gate")) * project(x, part, "W_1")
    else:
        hidden = model.activation(linear(x, part, "1"))
    return linear(note(f"{place} hidden", hidden), part, "2")
