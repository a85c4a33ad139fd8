"""All that happens in a trained model while it translates, to look at and to change; used from chapter 4 on."""

from functools import cache

import numpy as np

from minitransformer.layer_norm import layer_norm
from minitransformer.masks import causal_mask
from minitransformer.multi_head import merge_heads, split_heads
from minitransformer.softmax import softmax
from minitransformer.transformer import embed, head, stack_size
from minitransformer.translation import SENTENCES, batch_of, english_words, french_words, load_model, translate

_book_model = cache(load_model)  # read once, and never handed out: whoever asks for a model has one to change


def seen(english, french=None, model=None, change=None, instead=None):
    """Return all that happens in a model while it translates a sentence, by name: a flat dict of arrays.

    `english` and `french` are sentences as one writes them; without `french` the model's own translation is taken,
    without `model` the book's.  "source" and "target" are the words read, as numbers.  Each stack has its "embedded"
    input, the "stream" at its end and its "output", which is that stream normed.  Each part of a layer, such as
    "encoder 1 attention", has "… stream", what it finds, "… normed", "… added" and "… output", the stream behind it; an
    attention also "… queries", "… keys", "… values", "… scores", "… weights" and "… mixed", a feed-forward network
    "… hidden".
    `change` is {name: function}: what the function makes of the array of this name goes on in its place.
    `instead` is {name: function}, too: what the function makes of all that was found so far, a dict, goes on in place
    of the array of this name; `change` comes after it.
    Shapes: (n, d) for what is on the stream, (heads, n, d_k) for queries, keys, values and what is mixed of them,
    (heads, n, m) for scores and weights, (n, hidden) for "hidden", (n, vocabulary) for "logits".
    Raises ValueError where a word is unknown, or `change` or `instead` has a name that none of the arrays has.
    Used from chapter 3 on.

    >>> found = seen("the cat was tired")
    >>> found["encoder 1 attention weights"].shape, found["logits"].shape
    ((4, 4, 4), (5, 127))
    >>> no_network = {"encoder 1 feed_forward added": lambda added: 0 * added}
    >>> cut = seen("the cat was tired", change=no_network)
    >>> bool(np.allclose(cut["logits"], found["logits"]))
    False
    """
    model, change, instead = model or _book_model(), change or {}, instead or {}
    french = translate(english, model)[0] if french is None else french
    (source, target, _), _ = batch_of([(english_words(english), french_words(french))], SENTENCES)
    found = {"source": source[0], "target": target[0]}

    def note(name, array):
        array = instead[name](found) if name in instead else array
        found[name] = change[name](array.copy()) if name in change else array
        return found[name]

    memory = None
    for side, read, table in (("encoder", "source", model.source_table), ("decoder", "target", "embedding")):
        x = note(f"{side} embedded", embed(found[read], model.params, model.positions, table))
        for number in range(1, stack_size(model, side)[0] + 1):
            x = _passed(x, model, side, number, memory, note)
        memory = note(f"{side} output", layer_norm(note(f"{side} stream", x), **model.params[side]["norm"]))
    note("logits", head(memory, model.params))
    _all_found("change", change, found)
    _all_found("instead", instead, found)
    return found


def _all_found(given, functions, found):
    """Refuse functions, {name: function}, of which one has the name of no array that was found."""
    if unknown := ", ".join(functions.keys() - found.keys()):
        raise ValueError(f"{given} has {unknown}, which happens nowhere in the model; expected names of what is found.")


def _passed(x, model, side, number, memory, note):
    """Return x (n, d) behind a layer, in which the decoder looks across at a memory (m, d)."""
    for name, params in model.params[side][number].items():
        place = f"{side} {number} {name}"
        x = note(f"{place} stream", x)
        normed = note(f"{place} normed", layer_norm(x, params["gain"], params["bias"]))
        if name == "feed_forward":
            hidden = note(f"{place} hidden", model.activation(normed @ params["W_1"] + params["b_1"]))
            added = hidden @ params["W_2"] + params["b_2"]
        else:
            context = memory if name == "cross_attention" else normed
            keep = causal_mask(len(x)) if (side, name) == ("decoder", "attention") else True
            added = _attended(place, normed, context, params, stack_size(model, side)[1], keep, note)
        x = note(f"{place} output", x + note(f"{place} added", added))
    return x


def _attended(place, x, context, params, heads, keep, note):
    """Return what an attention makes of x (n, d), which asks, and of a context (m, d), which answers: (n, d)."""
    queries = note(f"{place} queries", split_heads(x @ params["W_Q"], heads))
    keys = note(f"{place} keys", split_heads(context @ params["W_K"], heads))
    values = note(f"{place} values", split_heads(context @ params["W_V"], heads))
    scores = note(f"{place} scores", queries @ keys.swapaxes(-1, -2) / keys.shape[-1] ** 0.5)
    weights = note(f"{place} weights", softmax(np.where(keep, scores, -np.inf)))
    return merge_heads(note(f"{place} mixed", weights @ values)) @ params["W_O"]
