"""Activations of a trained translator: every array of its forward pass, to look at and to change; from chapter 3 on."""

from functools import cache

from minitransformer.inside import check_names
from minitransformer.masks import causal_mask
from minitransformer.transformer import embed, logits_of
from minitransformer.transformer.walk import layer_options, walk
from minitransformer.translation import SENTENCES, batch_of, english_words, french_words, load_model, translate

_book_model = cache(load_model)  # read once, and never handed out: whoever asks for a model has one to change


def activations(english, french=None, model=None, change=None, instead=None):
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

    >>> found = activations("the cat was tired")
    >>> found["encoder 1 attention weights"].shape, found["logits"].shape
    ((4, 4, 4), (5, 127))
    >>> no_network = {"encoder 1 feed_forward added": lambda added: 0 * added}
    >>> cut = activations("the cat was tired", change=no_network)
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
        noted = lambda name, array, side=side: note(f"{side} {name}", array)
        keep = causal_mask(len(found[read])) if side == "decoder" else None
        memory = walk(x, model.params[side], noted, keep=keep, memory=memory, **layer_options(model, side))
    note("logits", logits_of(memory, model.params))
    check_names("change", change, found)
    check_names("instead", instead, found)
    return found
