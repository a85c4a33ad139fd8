"""What every number of an explorable must be, by NumPy, SciPy and the book's own functions.

Each function takes a state, and what the reader chose that no kernel knows; it returns name -> number, None where
there is none.
"""

import base64

import numpy as np
from scipy.special import entr
from scipy.special import softmax as scipy_softmax

from minitransformer.attention import attention, attention_vjp
from minitransformer.feed_forward import gelu
from minitransformer.layer_norm import layer_norm
from minitransformer.masks import causal_mask, padding_mask
from minitransformer.multi_head import merge_heads, split_heads
from minitransformer.positions import rotary, sinusoidal_positions
from minitransformer.self_attention import project, self_attention
from minitransformer.softmax import entropy, softmax, softmax_vjp
from minitransformer.transformer import Transformer


def cells(name, table):
    """Return the numbers of a table by their names: name-i, name-i-j, …"""
    return {"-".join(map(str, [name, *place])): value for place, value in np.ndenumerate(table)}


def vectors(a, b, c=None):
    """Return the numbers of two arrows, and of a third one that is like the first where there is none."""
    lengths = {name: np.linalg.norm(vector) for name, vector in {"a": a, "b": b, "c": c or a}.items()}
    cosine = lambda vector, length: np.dot(a, vector) / lengths["a"] / length if lengths["a"] and length else None
    angle = abs(np.angle(complex(*b) / complex(*a), deg=True)) if lengths["a"] and lengths["b"] else None
    return {
        **{"a₁": a[0], "a₂": a[1], "b₁": b[0], "b₂": b[1], "dot": np.dot(a, b), "angle": angle},
        **{"length-a": lengths["a"], "length-b": lengths["b"], "cosine": cosine(b, lengths["b"])},
        **{"shadow": np.dot(a, b) / lengths["a"] if lengths["a"] else None},
        **{"dot-c": np.dot(a, c or a), "cosine-c": cosine(c or a, lengths["c"])},
    }


def temperature(scores, labels, temperature):
    """Return the numbers of a softmax."""
    with np.errstate(over="ignore"):  # the distance of 1e308 and −1e308 is infinite, and its weight 0
        weights = scipy_softmax(np.subtract(scores, max(scores)) / temperature)
    spread = entr(weights).sum()
    spread = {"entropy": spread, "entropy-max": np.log(len(labels)), "sharers": np.exp(spread)}
    chart = cells("weight", weights) | cells("score", scores)
    return chart | spread | {"largest": weights.max(), "temperature": temperature}


def lookup(labels, query, keys, values, scale):
    """Return the numbers of one query among keys."""
    output, weights = attention(np.array([query], float), np.array(keys, float), np.array(values, float), scale=scale)
    scores = np.array(keys) @ query
    with np.errstate(over="ignore"):
        chart = cells("score", scores) | cells("scaled", scores * scale) | cells("weight", weights[0])
    points = cells("key", keys) | cells("query", query) | cells("output", output[0])
    facts = {"length": np.linalg.norm(query), "sharers": np.exp(entr(weights).sum()), "scale": scale}
    return chart | points | facts


def sheet_tables(labels, x, scaled, **matrices):
    """Return all tables of self-attention, in the order of the page."""
    params = {name: np.array(matrices[name], float) for name in ("W_Q", "W_K", "W_V")}
    x = np.array(x, float)
    Q, K, V = (project(x, params, name) for name in params)
    output, weights = self_attention(x, params) if scaled else attention(Q, K, V, scale=1)
    scores, divisor = Q @ K.T, Q.shape[1] ** 0.5 if scaled else 1
    products = {"x": x, "W_Q": params["W_Q"], "Q": Q, "W_K": params["W_K"], "K": K, "W_V": params["W_V"], "V": V}
    return products | {"scores": scores, "divided": scores / divisor, "weights": weights, "outputs": output}


def sheet(here=("scores", 0, 0), **state):
    """Return the numbers of the sheet; `here` is the number whose sum is shown, None where one is typed in."""
    tables = sheet_tables(**state)
    found = {key: value for name, table in tables.items() for key, value in cells(name, table).items()}
    return found | ({"sum": tables[here[0]][here[1], here[2]]} if here else {})


def weigh(scores, causal, padded, temperature, left=False, wrong=False, **_):
    """Return what is kept, the scores that count, −∞ where they do not, and the weights, all (n, n)."""
    n = len(scores)
    keep = padding_mask([n - padded], n)[0]
    keep = np.broadcast_to((keep[:, ::-1] if left else keep) & (causal_mask(n) if causal else True), (n, n))
    counting = np.array(scores) if wrong else np.where(keep, scores, -np.inf)
    return keep, counting, softmax(counting, temperature=temperature) * keep


def broken_rows(keep, weights):
    """Return for each row whether it sees something and still does not sum to 1."""
    return (abs(weights.sum(axis=1) - 1) > 1e-9) & keep.any(axis=1)


def masks(row=1, **state):
    """Return the numbers of masked softmax, with those of the chosen row."""
    keep, counting, weights = weigh(**state)
    scores, warmth, top = np.array(state["scores"]), state["temperature"], counting[row].max()
    with np.errstate(over="ignore"):
        amounts = np.exp((counting[row] - (top if np.isfinite(top) else 0)) / warmth)
    known = not broken_rows(keep, weights).any()
    return {
        **cells("weight", weights) | cells("sum", weights.sum(axis=1)) | cells("score", scores[row]),
        **cells("amount", amounts) | cells("part", weights[row]),
        **{"hidden": (~keep).sum(), "cells": keep.size, "padded": state["padded"], "temperature": warmth},
        **{"total": amounts.sum(), "whole": weights[row].sum(), "top": top if np.isfinite(top) else None},
        **{"entropy": entropy(weights).mean() if known else None},
        **{"entropy-free": entropy(softmax(scores, temperature=warmth)).mean()},
    }


def head_steps(queries, keys, values, heads, wrong=False, **_):
    """Return the tables of the six steps, each (tables, rows, columns), and the scores of the fourth."""
    Q, K, V = (np.array(x, float) for x in (queries, keys, values))
    (n, d), h = Q.shape, heads
    q, k, v = (x.reshape(h, n, d // h) if wrong else split_heads(x, h) for x in (Q, K, V))
    output, weights = attention(q, k, v)
    merged = output.reshape(n, d) if wrong else merge_heads(output)
    cut = q if wrong else Q.reshape(n, h, d // h)
    return [Q[None], cut, q, weights, output, merged[None]], q @ k.swapaxes(-1, -2) / np.sqrt(d // h)


def heads(**state):
    """Return the numbers of every step, in the right way and in the wrong one."""
    found = {}
    for way in ("right", "wrong"):
        steps, scores = head_steps(**state, wrong=way == "wrong")
        for step, tables in enumerate(steps):
            found |= cells(f"{way}-{step}", tables)
        found |= cells(f"score-{way}-3", scores)
    return found


def encodings(kind, learned, query, key, **_):
    """Return what stands at each position (n, d), and the dot products of each with all others (n, n)."""
    n, d = np.shape(learned)
    if kind == "rotary":
        queries, keys = (rotary(np.tile(np.array(vector), (n, 1))) for vector in (query, key))
        return queries, queries @ keys.T
    rows = sinusoidal_positions(n, d) if kind == "sinusoidal" else np.array(learned)
    return rows, rows @ rows.T


def gap(curves, position, home):
    """Return how far the curve of a position is at most from that of `home`, moved along to it."""
    shift, n = position - home, len(curves)
    return max(abs(curves[position, t] - curves[home, t - shift]) for t in range(n) if 0 <= t - shift < n)


def position(home=3, **state):
    """Return the numbers of an encoding; `home` is the position that it began at."""
    rows, curves = encodings(**state)
    d, p = rows.shape[1], state["position"]
    curve = curves[p]
    largest = int(np.flatnonzero(curve > curve.max() - 1e-9 * max(1, abs(curve.max())))[0])
    periods = 2 * np.pi * 10000 ** (np.arange(0, d, 2) / d)
    periods = cells("period", periods if state["kind"] != "learned" else np.full(d // 2, None))
    levels = {"top": max(0, curves.max()), "bottom": min(0, curves.min()), "zero": 0}
    facts = {"position": p, "here": curve[p], "largest": curve.max(), "where": largest, "apart": gap(curves, p, home)}
    return cells("feature", rows[p]) | periods | levels | facts


SIDES = {
    "encoder": ("attention", "scores", "feed", "norms", "last"),
    "decoder": ("attention", "scores", "cross", "cross-scores", "feed", "norms", "last"),
}
ROWS = ["embedding", "positions", *(f"{side}-{part}" for side, parts in SIDES.items() for part in parts), "head"]
SIZES = ("d", "heads", "layers", "hidden", "vocabulary", "n")
GROUPS = [("embedding",), ("attention", "cross"), ("scores",), ("feed",), ("norms", "last"), ("head",)]


def layer_counts(d, hidden, n, cross, **_):
    """Return (parameters, multiplications) of each part of one layer, counted matrix by matrix."""
    four = (sum(np.prod(shape) for shape in [(d, d)] * 4), 4 * n * d * d)
    square = (0, n * n * d + n * n * d)
    wide = (d * hidden + hidden + hidden * d + d, n * d * hidden + n * hidden * d)
    parts = {"attention": four, "scores": square} | ({"cross": four, "cross-scores": square} if cross else {})
    return parts | {"feed": wide, "norms": (2 * d * (3 if cross else 2), 0)}


def counts(**state):
    """Return (parameters, multiplications) of each part of a model and of all, None for a part that is not there."""
    d, vocabulary, n, both = state["d"], state["vocabulary"], state["n"], state["kind"] == "encoder-decoder"
    found = dict.fromkeys(ROWS) | {"embedding": (vocabulary * d, 0), "positions": (0, 0)}
    for side in ("encoder", "decoder") if both else ("decoder",):
        for name, (held, done) in layer_counts(**state, cross=both and side == "decoder").items():
            found[f"{side}-{name}"] = (state["layers"] * held, state["layers"] * done)
        found[f"{side}-last"] = (2 * d if state["norm"] == "pre" else 0, 0)
    found["head"] = (0 if state["tied"] else d * vocabulary, n * d * vocabulary)
    return found | {"total": tuple(map(sum, zip(*filter(None, found.values()))))}


def units(total):
    """Return the unit in which each column is written: 1, or the power of 1000 that leaves at most four digits."""
    powers = [10.0 ** (6 + 3 * k) for k in range(6)]
    most = {0: 1e9, 1: 1e8}
    return [1 if all_ < most[k] else next(u for u in powers if all_ < 1e4 * u) for k, all_ in enumerate(total)]


def build(**state):
    """Return the counts of every part, in the units of their columns, and the shares of each group of parts."""
    found = counts(**state)
    possible, unit = state["d"] % state["heads"] == 0, units(found["total"])
    numbers = {name: state[name] for name in SIZES}
    for k, column in enumerate(("parameters", "products")):
        for name, pair in found.items():
            numbers[f"{name}-{column}"] = pair[k] / unit[k] if pair and possible else None
        parts = {name: pair[k] for name, pair in found.items() if pair and name != "total"}
        sums = [sum(value for name, value in parts.items() if name.split("-")[-1] in group) for group in GROUPS]
        assert sum(sums) == found["total"][k]
        shares = np.array(sums) / sum(sums)
        numbers |= cells(f"share-{column}", 100 * shares if possible else np.full(len(GROUPS), None))
    return numbers


def features(labels, x, gain, bias, eps, chosen=0):
    """Return the numbers of layer normalisation, with gain and bias of the feature that is chosen."""
    x, gain, bias = (np.array(numbers, float) for numbers in (x, gain, bias))
    normed = layer_norm(x, np.ones(len(x)), np.zeros(len(x)), eps)
    return {
        **cells("x", x) | cells("normed", normed) | cells("out", layer_norm(x, gain, bias, eps)),
        **{"mean": x.mean(), "variance": x.var(), "deviation": x.std(), "bound": np.sqrt(len(x) - 1)},
        **{"largest": abs(normed).max(), "gain": gain[chosen], "bias": bias[chosen], "epsilon": eps},
    }


def chains(scale, depths):
    """Return what each chain's gradient measures behind `depths` layers, by adding up squares layer by layer."""
    found = {"plain": [], "residual": [], "divided": []}
    for depth in depths:
        plain, residual, divided = 1.0, 1.0, 1.0  # squares
        for _ in range(int(depth)):
            plain, residual = plain * scale**2, residual + scale**2 * residual
            divided += scale**2 / depth * divided
        for name, square in zip(found, (plain, residual, divided)):
            found[name].append(np.sqrt(square))
    return {name: np.array(sizes) for name, sizes in found.items()}


def depth(scale, depth, plain, residual, known=True):
    """Return the sizes behind so many layers; `known` says whether they were measured at this scale."""
    sizes = {name: curve[0] for name, curve in chains(scale, [depth]).items()}
    measured = {"measured-plain": plain[depth - 1], "measured-residual": residual[depth - 1]}
    measured = measured if known else dict.fromkeys(measured)
    return sizes | measured | {"depth": depth, "scale": scale}


def graph_tables(labels, query, keys, values, wish):
    """Return the tables of one attention, and their gradients by the same names."""
    Q, K, V, wish = (np.array(numbers, float) for numbers in ([query], keys, values, [wish]))
    (output, weights), backward = attention_vjp(Q, K, V)
    d_Q, d_K, d_V = backward(wish)
    d_scores = softmax_vjp(Q @ K.T / 2**0.5)[1](wish @ V.T)
    tables = {"query": Q, "key": K, "score": K @ Q.T / 2**0.5, "weight": weights.T, "value": V, "output": output}
    gradients = {"query": d_Q, "key": d_K, "score": d_scores.T, "weight": V @ wish.T, "value": d_V}
    return tables, gradients


def graph(wish, **state):
    """Return the numbers of one attention and of its gradients, and how much of the wish its output fulfils."""
    tables, gradients = graph_tables(wish=wish, **state)
    named = tables | {f"d-{name}": table for name, table in gradients.items()} | {"wish": [wish]}
    found = {key: value for name, table in named.items() for key, value in cells(name, table).items()}
    return found | {"total": tables["output"][0] @ wish}


def stepped(rate=0.5, **state):
    """Return the state of the graph after a step along its gradients."""
    tables, gradients = graph_tables(**state)
    query, keys, values = (tables[name] + rate * gradients[name] for name in ("query", "key", "value"))
    return {**state, "query": query[0].tolist(), "keys": keys.tolist(), "values": values.tolist()}


def moment(losses, steps, exact, targets, says, weights, step, **_):
    """Return what a training has come to at a step: the loss then, which rows and words are right, and the weights."""
    at, each = steps.index(step), steps[-1] / len(losses)  # a loss stands for so many steps
    loss = [loss for i, loss in enumerate(losses) if i * each <= step][-1]
    return loss, exact[at], np.array(says[at]) == targets, np.array(weights[at])


def training(**state):
    """Return the weights at a step, in per cent."""
    return cells("weight", 100 * moment(**state)[-1])


def modelled(sizes, source, target, dtype=np.float64):
    """Return a model of these sizes and vocabularies, all its parameters 0."""
    more = {name: sizes[name] for name in ("hidden", "encoder_layers", "encoder_heads", "tied")}
    more |= {"source_vocabulary": len(source), "activation": gelu, "dtype": dtype}
    return Transformer(len(target), sizes["d"], sizes["heads"], sizes["layers"], **more)


def written(model, ids):
    """Return what a model says to a row of ids, word by word until </s> or for 8 words more, and all that is `seen`."""
    said, seen = [], {}
    while 2 not in said and len(said) < len(ids) + 8:
        said.append(int(model([ids], [[1, *said]], seen=seen)[0, -1].argmax()))
    return said, seen


def translated(sizes, source, target, sentence, steps, step, weights, **_):
    """Return the words of a translation, as ids, and all that its model has `seen`."""
    model = modelled(sizes, source, target)
    model.flat[:] = np.frombuffer(base64.b64decode(weights[steps.index(step)]), "<f2")
    return written(model, [source.index(word) for word in sentence.split()])


def translator(part="cross_attention", layer=1, head="mean", side="French", at=None, **state):
    """Return the number below each word of either sentence, in per cent."""
    said, seen = translated(**state)
    words = [state["target"][word] for word in said]
    found = [place for place, word in enumerate(words) if word in state["pronouns"]]
    at = at if at is not None else (found or [0])[0]
    heads = seen["encoder" if part == "encoder" else "decoder"][layer][
        f"{part.replace('encoder', 'attention')} weights"
    ]
    table = heads[0].mean(axis=0) if head == "mean" else heads[0, head]
    below = {"English": [None] * len(state["sentence"].split())}
    below["French"] = softmax(seen["logits"][0])[range(len(said)), said]
    if part == "cross_attention":
        below["English" if side == "French" else "French"] = table[at] if side == "French" else table[:, at]
    elif part == "encoder" and side == "English":
        below["English"] = table[at]
    elif part == "attention" and side == "French":
        below["French"] = [*table[at, 1 : at + 1], *[None] * (len(said) - at)]
    return {
        f"{name}-{i}": None if value is None else 100 * value
        for name, values in below.items()
        for i, value in enumerate(values)
    }


def twins(swaps, looks, shown, view, **_):
    """Return how often each word decides, and where *it* looks: what is not shown is None."""
    counts = [pair if view == 0 and pair[1] else (None, None) for pair in swaps[shown]]
    row = looks[shown][view - 1] if view else [None] * len(counts)
    changed, tried = zip(*counts)
    named = {"changed": changed, "tried": tried, "look": row}
    return {f"{name}-{k}": value for name, values in named.items() for k, value in enumerate(values)}


def window(sentences, window, place, weighed):
    """Return the table of neighbours, as counts or PPMI, when the window has come to a place."""
    text = [(word, line) for line, sentence in enumerate(sentences) for word in sentence.split(" ")]
    words = list(dict.fromkeys(word for word, _ in text))
    table = np.zeros((len(words), len(words)))
    for i, (word, line) in enumerate(text[:place]):
        for other, there in text[max(0, i - window) : i] + text[i + 1 : i + 1 + window]:
            table[words.index(word), words.index(other)] += line == there
    if not weighed:
        return cells("cell", table)
    chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return cells("cell", np.log(np.divide(table, chance, out=np.ones_like(table), where=table > chance)))


def words(words, cosines, chosen, **_):
    """Return the cosines of the chosen word with those near it."""
    return cells("cosine", cosines[words.index(chosen) if chosen in words else 0])


def shares(scores, labels, shift):
    """Return each score after the shift, its exponential and its share."""
    moved = np.add(scores, shift)
    chart = cells("score", moved) | cells("exponential", np.exp(moved)) | cells("share", scipy_softmax(scores))
    return chart | {"total": np.exp(moved).sum()}


NUMBERS = {
    **{"vectors": vectors, "temperature": temperature, "lookup": lookup, "sheet": sheet, "masks": masks},
    **{"heads": heads, "position": position, "build": build, "features": features, "depth": depth},
    **{"graph": graph, "training": training, "translator": translator},
    "twins": twins,
    "window": window,
    "words": words,
    "shares": shares,
}
