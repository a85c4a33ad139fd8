"""The model that chapter 15 trains: its weights come with the package, and so does what can be seen inside it."""

import json
from pathlib import Path

import numpy as np

from .feed_forward import gelu
from .layer_norm import layer_norm
from .multi_head import split_heads
from .transformer import Transformer
from .translation import SENTENCES, batch_of, english_words, french_words, translate

DATA = Path(__file__).parent / "data"
FILE = DATA / "translator.npy"


def new_model(rng=None):
    """Return a `Transformer` of the kind that chapter 15 trains on sentences.  Used in chapter 15."""
    source, target = len(SENTENCES.english), len(SENTENCES.french)
    sizes = {"source_vocabulary": source, "encoder_layers": 2, "encoder_heads": 4}
    return Transformer(target, 64, 1, 1, rng, activation=gelu, tied=False, **sizes)


def load_model():
    """Return the book's trained model: the weights of chapter 15's training, which `make model` keeps in float16.

    Raises FileNotFoundError or ValueError where the file is missing or is not this model's, saying what to do.
    Used from chapter 15 on.
    """
    model = new_model()
    try:
        with FILE.open("rb") as file:
            kept = np.lib.format.read_array(file)
    except FileNotFoundError:
        raise FileNotFoundError(f"{FILE} is missing; install the package again, or run `make model`.") from None
    except (ValueError, OSError) as damage:
        raise ValueError(f"{FILE} is damaged ({damage}); install the package again, or run `make model`.") from None
    if kept.shape != model.flat.shape:
        raise ValueError(f"{FILE} holds {kept.size} numbers; expected {model.flat.size}: run `make model`.")
    model.flat[:] = kept
    return model


def load_runs():
    """Return what `make model` measured: a dict for each training, with its "seed"; that of `load_model` is 3.

    "without" are the nouns that a training never saw beside an *it*, none but for one training; "cuts" say which share
    of the pronouns stays right without a head of the encoder, or without two.  Used from chapter 7 on.
    """
    return json.loads((DATA / "translators.json").read_text(encoding="utf-8"))["runs"]


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
