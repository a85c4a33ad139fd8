"""Faulty translators: the book's weights and one fault each, to be told apart from outside; the lab of chapter 12."""

from minitransformer.arrays import one_of
from minitransformer.layer_norm import rms_norm
from minitransformer.multi_head import merge_heads, split_heads
from minitransformer.softmax import softmax
from minitransformer.translation import SENTENCES, french_text, load_model

from .activations import activations

ENCODER = [f"encoder {number} {name}" for number in (1, 2) for name in ("attention", "feed_forward")]
DECODER = [f"decoder 1 {name}" for name in ("attention", "cross_attention", "feed_forward")]


def suspect(name):
    """Return the translator "A", "B", "C" or "D": the book's weights in a model with one fault.

    It is a function of a source and a target as numbers, the target with <s> before it, that returns logits.
    Shapes: (m,), (n,) -> (n, vocabulary).  Raises ValueError where there is no such translator.  Used in chapter 12.

    >>> from minitransformer.translation import START, word_numbers
    >>> (source,), _ = word_numbers([["the", "cat", "was", "tired"]], SENTENCES.english)
    >>> suspect("A")(source, np.array([START])).shape
    (1, 127)
    """
    model = load_model()
    fault = {"A": _a, "B": _b, "C": _c, "D": _d}[one_of(name, "name", ("A", "B", "C", "D"))](model)

    def translator(source, target):
        english = " ".join(SENTENCES.english[number] for number in source)
        french = french_text([SENTENCES.french[number] for number in target[1:]])
        return activations(english, french, model, **fault)["logits"]

    return translator


def _a(model):
    """Split heads of the encoder by a bare reshape, and put them together by another one."""

    def split(right):  # (heads, n, d_k)
        return merge_heads(right).reshape(right.shape)

    def merged(mixed):  # so that the heads, rightly put together, are those that are wrongly so
        heads, n, d_k = mixed.shape
        return split_heads(mixed.reshape(n, heads * d_k), heads)

    wrong = {"queries": split, "keys": split, "values": split, "mixed": merged}
    return {"change": {f"{place} {what}": wrong[what] for place in ENCODER[::2] for what in wrong}}


def _b(model):
    """Divide by the root mean square, and subtract no mean."""

    def rms(stream, norm):
        return lambda found: rms_norm(found[stream], norm["gain"]) + norm["bias"]

    changed = {}
    for side, places in (("encoder", ENCODER), ("decoder", DECODER)):
        changed[f"{side} output"] = rms(f"{side} stream", model.params[side]["norm"])
        for place in places:
            _, number, name = place.split()
            changed[f"{place} normed"] = rms(f"{place} stream", model.params[side][int(number)][name])
    return {"instead": changed}


def _c(model):
    """Let each French word look at those behind it."""
    return {"instead": {"decoder 1 attention weights": lambda found: softmax(found["decoder 1 attention scores"])}}


def _d(model):
    """Add what a part of the encoder says to what it has read, which is normed, and not to the stream."""

    def added(place):
        return lambda found: found[f"{place} normed"] + found[f"{place} added"]

    return {"instead": {f"{place} output": added(place) for place in ENCODER}}
