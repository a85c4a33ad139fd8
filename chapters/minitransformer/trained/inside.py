"""All that happens in a trained model while it translates a sentence; used from chapter 4 on."""

from ..layer_norm import layer_norm
from ..multi_head import split_heads
from ..translation import SENTENCES, batch_of, english_words, french_words, load_model, translate


def seen(english, french=None, model=None):
    """Return all that happens in a model while it translates a sentence, by name: a flat dict of arrays.

    `english` and `french` are sentences as one writes them; without `french` the model's own translation is taken,
    without `model` the book's.  "source" and "target" are the words read, as numbers.  Each stack has its "embedded"
    input and its "output", and each part of a layer, such as "encoder 1 attention", has "… normed", "… added" and
    "… output", the stream behind it; an attention also "… queries", "… keys", "… values", "… scores", "… weights" and
    "… mixed", a feed-forward network "… hidden".
    Shapes: (n, d) for what is on the stream, (heads, n, d_k) for queries, keys, values and what is mixed of them,
    (heads, n, m) for scores and weights, (n, hidden) for "hidden", (n, vocabulary) for "logits".
    Raises ValueError where a word is unknown.  Used from chapter 4 on.
    """
    model = model or load_model()
    french = translate(english, model)[0] if french is None else french
    (source, target, _), _ = batch_of([(english_words(english), french_words(french))], SENTENCES)
    inside, found = {}, {"source": source[0], "target": target[0]}
    found["logits"] = model(source, target, seen=inside)[0]
    for side in model.sides:
        x = found[f"{side} embedded"] = inside[side].pop("embedded")[0]
        found[f"{side} output"] = inside[side].pop("norm")["output"][0]
        for number, parts in inside[side].items():
            for name, params in model.params[side][number].items():
                normed, output = layer_norm(x, params["gain"], params["bias"]), parts[name][0]
                if name == "feed_forward":
                    made = {"hidden": model.activation(normed @ params["W_1"] + params["b_1"])}
                else:
                    context = found["encoder output"] if name == "cross_attention" else normed
                    made = _looked(normed, context, params, parts[f"{name} weights"][0])
                made = {"normed": normed, **made, "added": output - x, "output": output}
                found |= {f"{side} {number} {name} {what}": array for what, array in made.items()}
                x = output
    return found


def _looked(x, context, params, weights):
    """Return what an attention makes of x (n, d), which asks, and of a context (m, d), which answers, by name."""
    queries = split_heads(x @ params["W_Q"], len(weights))
    keys, values = (split_heads(context @ params[name], len(weights)) for name in ("W_K", "W_V"))
    scores = queries @ keys.swapaxes(-1, -2) / keys.shape[-1] ** 0.5
    found = {"queries": queries, "keys": keys, "values": values, "scores": scores, "weights": weights}
    return found | {"mixed": weights @ values}
