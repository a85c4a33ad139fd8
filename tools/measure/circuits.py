"""Open a published chat model as chapter 22 does, on a hundred cases or more of each kind, and keep what is found.

Each part of PARTS is a function of the model and its encoding; what it returns stands under its name in the file that
`companion.evidence.circuits.load_circuits` reads, which is written after each.  NAMES="copying sink" renews these.
"""

import json
import os
from collections import Counter
from functools import partial

import numpy as np
from gensim.test.utils import datapath

from companion.evidence.circuits import FILE, NOUNS, OTHER_NOUNS, capital_cases, crossing
from minitransformer.circuits import (
    cut_heads,
    exchanged,
    previous_score,
    ranks,
    seen_only,
    sink_mask,
    sink_share,
)
from minitransformer.inside import induction_score, logit_lens
from minitransformer.language_model import load_plays
from minitransformer.masks import causal_mask
from minitransformer.public_model import load_smollm2
from minitransformer.softmax import log_softmax
from minitransformer.today import window_mask
from minitransformer.transformer import logits_of
from minitransformer.transformer.walk import layer_options, visible, walk
from tools.measure import report, rounded, write_report

LAYERS, HEADS = range(1, 31), range(9)
STREAMS = ["embedded", *(f"{layer} feed_forward output" for layer in LAYERS)]
WEIGHTS = [f"{layer} attention weights" for layer in LAYERS]
ALL = slice(None)


def read(model, ids, change=None, names=(), at=ALL, first=1, stream=None):
    """Return what a run finds: the arrays of these names, and the logits at the places `at`, none where it is None.

    With a `stream` the run begins with it before the layer `first`.
    """
    found, change, ids = {}, change or {}, np.asarray(ids)

    def note(name, array):
        array = change[name](array.copy()) if name in change else array
        if name in names:
            found[name] = array
        return array

    params = {name: part for name, part in model.params["decoder"].items() if name == "norm" or name >= first}
    x = note("embedded", model.embedded(ids)) if stream is None else stream
    n = ids.shape[-1]
    output = walk(x, params, note, **layer_options(model, "decoder"), keep=visible(n, n))
    return found if at is None else found | {"logits": logits_of(output[..., at, :], model.params)}


def bits(logits, said):
    """Return what each token costs, in bits: logits (…, vocabulary), said (…) -> (…)."""
    return -np.take_along_axis(log_softmax(logits), said[..., None], axis=-1)[..., 0] / np.log(2)


def batches(ids, size=20):
    """Return the texts in batches."""
    return [ids[i : i + size] for i in range(0, len(ids), size)]


def best(table, count):
    """Return the pairs of layer and head with the largest numbers of a table (30, 9)."""
    return [(int(at // 9) + 1, int(at % 9)) for at in np.argsort(-table, axis=None, kind="stable")[:count]]


def others(heads, scores, rng, sizes=None):
    """Return as many other heads, drawn among those that score little, each once.

    They are of the same layers, or with `sizes` (30, 9) each is one of the five nearest in size from layer 13 on.
    """
    free, drawn = [(layer, head) for layer in range(13, 31) for head in HEADS if scores[layer - 1, head] < 0.1], []
    for layer, head in heads:
        some = [one for one in free if one not in drawn and (sizes is not None or one[0] == layer)]
        if sizes is not None:
            apart = [abs(np.log(sizes[at - 1, one] / sizes[layer - 1, head])) for at, one in some]
            some = [some[i] for i in np.argsort(apart, kind="stable")[:5]]
        drawn.append(some[rng.integers(len(some))])
    return drawn


def named(heads):
    """Return heads in words, as 17.0 for head 0 of layer 17."""
    return " ".join(f"{layer}.{head}" for layer, head in heads)


def plays(encoding, count, n):
    """Return so many texts of n tokens from the held-out plays: (count, n)."""
    text = load_plays()[1]
    step = len(text) // count
    return np.array([encoding.encode(text[i * step : i * step + 8 * n])[:n] for i in range(count)])


def news(encoding, count, n):
    """Return so many texts of n tokens from the news that gensim brings along: (count, n)."""
    with open(datapath("lee_background.cor"), encoding="utf-8") as file:
        ids = np.array(encoding.encode(file.read()[: 8 * count * n]))
    return ids[: count * n].reshape(count, n)


def held(arrays):
    """Return the changes that put arrays in place of what a run finds."""
    return {name: lambda array, kept=kept: kept for name, kept in arrays.items()}


def random_texts(count=50, n=20):
    """Return random tokens said twice, and as many that are not repeated: each (count, 2n)."""
    rng = np.random.default_rng(1)
    once = rng.integers(1000, 40_000, (count, n))
    return np.hstack([once, once]), np.array([1000 + rng.permutation(39_000)[: 2 * n] for _ in range(count)])


def scores(model, twice):
    """Return the scores of all heads and the size of what they add in the second half, each (30, 9)."""
    mixed, found = [f"{layer} attention mixed" for layer in LAYERS], Counter()
    for texts in batches(twice):
        run = read(model, texts, names=[*WEIGHTS, *mixed], at=None)
        for layer in LAYERS:
            weights = run[WEIGHTS[layer - 1]]
            size = np.linalg.norm(added_by(model, run, layer)[:, :, twice.shape[1] // 2 :], axis=-1).mean(axis=(0, 2))
            row = [induction_score(weights, texts), previous_score(weights), size]
            found[layer] += len(texts) / len(twice) * np.array(row)
    return np.stack([found[layer] for layer in LAYERS], axis=1)


def added_by(model, run, layer):
    """Return what each head of a layer adds to the stream: (texts, heads, n, d)."""
    W_O = model.params["decoder"][layer]["attention"]["W_O"]
    return run[f"{layer} attention mixed"] @ W_O.reshape(len(HEADS), -1, W_O.shape[-1])


def heads_apart(model, twice, plain, heads):
    """Return for some heads how much they look at the same places of texts that do not repeat, and what they raise.

    That is the median rank, in what the head alone adds, read as the lens reads a stream, of the token that followed;
    and the same of the one after it.
    """
    n = twice.shape[1] // 2
    asks, rows = np.arange(n, 2 * n - 2), []
    names = [f"{layer} attention {what}" for layer, _ in heads for what in ("mixed", "weights")]
    run, other = (read(model, ids, names=names, at=None) for ids in (twice, plain))
    for layer, head in heads:
        control = other[f"{layer} attention weights"][:, head, asks, asks - n + 1].mean()
        added = added_by(model, run, layer)[:, head]
        rank = [
            [ranks(logit_lens(one[asks], model), text[asks + step]) for one, text in zip(added, twice)]
            for step in (1, 2)
        ]
        rows.append([control, *(round(float(np.median(each))) for each in rank)])
    return rows


def resumable(model, texts):
    """Return the function that reads texts with changes, from the first layer that is changed on."""
    plain = read(model, texts, names=STREAMS, at=None)

    def again(edits, **rest):
        if "embedded" in (edits or {}):
            return read(model, texts, edits, **rest)
        first = min((int(name.split()[0]) for name in edits or {}), default=30)
        return read(model, texts, edits, first=first, stream=plain[STREAMS[first - 1]], **rest)

    return again


def copied(runs, twice, change=None):
    """Return the share of the second half that is copied, and its bits a token; `change` may be a function of texts."""
    n, right, cost = twice.shape[1] // 2, [], []
    for texts, again in zip(batches(twice, 25), runs):
        logits = again(change(texts) if callable(change) else change, at=slice(n, 2 * n - 1))["logits"]
        right.append((logits.argmax(axis=-1) == texts[:, n + 1 :]).mean(axis=1))
        cost.append(bits(logits, texts[:, n + 1 :]).mean(axis=1))
    return [np.concatenate(part).mean() for part in (right, cost)]


def copying(model, encoding):
    """Return the scores of all heads, and how much is copied without some of them."""
    twice, once = random_texts()
    induction, previous, sizes = scores(model, twice)
    eight, rng = best(induction, 8), np.random.default_rng(0)
    mixed, n = "17 attention mixed", twice.shape[1] // 2

    def to_mean(texts):
        mean = read(model, texts, names=[mixed], at=None)[mixed][:, 0].mean(axis=(0, 1))
        return {mixed: lambda array: np.concatenate([np.broadcast_to(mean, array[:, :1].shape), array[:, 1:]], axis=1)}

    def without(wire, layers=(18, 19), groups=None):
        def change(texts):
            donor = read(model, texts, cut_heads([(17, 0)]), [f"{layer} attention {wire}" for layer in layers], at=None)
            if groups is None:
                return held(donor)
            at = {name: np.s_[:, groups[int(name.split()[0])]] for name in donor}
            return {name: partial(put_in, other=other, at=at[name]) for name, other in donor.items()}

        return change

    def first_half_kept(texts):
        donor = read(model, texts, names=[f"{layer} attention keys" for layer in range(18, 31)], at=None)
        at = np.s_[:, :, :n]
        keep = {name: partial(put_in, other=other, at=at) for name, other in donor.items()}
        return cut_heads([(17, 0)]) | keep

    looking_back = [head for head in best(previous, 9)[1:] if previous[head[0] - 1, head[1]] > 0.5]
    cuts = {"nothing": [], "17.0": [(17, 0)], "17.1 17.2 17.5 17.8": [(17, head) for head in (1, 2, 5, 8)]}
    cuts |= {"all others that look back": looking_back} | {named(eight[:count]): eight[:count] for count in (1, 4, 8)}
    drawn = {f"same layers {i}": others(eight[:4], induction, rng) for i in range(3)}
    drawn |= {f"as large {i}": others(eight[:4], induction, rng, sizes) for i in range(5)}
    drawn |= {f"eight as large {i}": others(eight, induction, rng, sizes) for i in range(3)}
    cuts = {name: cut_heads(heads) for name, heads in (cuts | drawn).items()} | {"17.0 to its mean": to_mean}
    cuts |= {f"{wire} without 17.0": without(wire) for wire in ("queries", "keys", "values")}
    own = {layer: sorted({head // 3 for at, head in eight[:4] if at == layer}) for layer in (18, 19)}
    rest = {layer: [group for group in range(3) if group not in own[layer]] for layer in own}
    cuts |= {"keys of the best four without 17.0": without("keys", groups=own)}
    cuts |= {"all other keys without 17.0": without("keys", groups=rest)}
    cuts |= {"17.0 cut, keys of the first half kept": first_half_kept}
    logits = read(model, twice[:25], at=slice(0, n - 1))["logits"]
    first = [(logits.argmax(axis=-1) == twice[:25, 1:n]).mean(), bits(logits, twice[:25, 1:n]).mean()]
    found = {"texts": len(twice), "tokens": n, "first half": first, "induction": induction, "previous": previous}
    found |= {"eight": eight, "eight apart": heads_apart(model, twice, once, eight)}
    found |= {"looking back": looking_back, "drawn": drawn}
    found["sizes"] = {
        name: size_of(heads, sizes) for name, heads in ({"eight": eight, "17.0": [(17, 0)]} | drawn).items()
    }
    found["largest of layer 17"] = np.delete(sizes[16], 0).max()
    found["as large apart"] = heads_apart(model, twice, once, drawn["as large 0"])
    runs = [resumable(model, texts) for texts in batches(twice, 25)]
    found["cuts"] = {name: copied(runs, twice, change) for name, change in cuts.items()}
    shuffled = np.hstack([np.random.default_rng(2).permuted(twice[:, :n], axis=1), twice[:, n:]])
    runs = [resumable(model, texts) for texts in batches(shuffled, 25)]
    return found | {"shuffled": copied(runs, shuffled)}


def put_in(array, other, at):
    """Put a part of another array into one."""
    array[at] = other[at]
    return array


def size_of(heads, sizes):
    """Return the mean size of what some heads add."""
    return np.mean([sizes[layer - 1, head] for layer, head in heads])


def natural(model, encoding):
    """Return bits a token and the share that is right, in the first and the second reading of passages of plays."""
    once = plays(encoding, 50, 32)
    n, rng = 32, np.random.default_rng(1)
    induction, previous, sizes = scores(model, random_texts()[0])
    four, eight = best(induction, 4), best(induction, 8)
    cuts = {"nothing": [], "17.0": [(17, 0)], "four": four, "eight": eight}
    cuts |= {"four that look back": best(previous, 4)}
    cuts |= {
        f"{name} others {i}": others(heads, induction, rng, sizes)
        for name, heads in (("four", four), ("eight", eight))
        for i in range(2)
    }
    shuffled = np.random.default_rng(2).permuted(once, axis=1)
    runs = [resumable(model, np.hstack([some, some])) for some in batches(once)]
    found = {"texts": len(once), "tokens": n}
    found |= {name: both_readings(runs, np.hstack([once, once]), cut_heads(heads)) for name, heads in cuts.items()}
    mixed = np.hstack([shuffled, once])
    return found | {
        "first reading shuffled": both_readings([resumable(model, some) for some in batches(mixed)], mixed, {})
    }


def both_readings(runs, twice, change):
    """Return bits a token of the first and the second reading, and the shares that are right."""
    n, rows = twice.shape[1] // 2, []
    for texts, again in zip(batches(twice), runs):
        logits = again(change, at=slice(0, 2 * n - 1))["logits"]
        right, cost = logits.argmax(axis=-1) == texts[:, 1:], bits(logits, texts[:, 1:])
        rows += [[cost[:, : n - 1].mean(), cost[:, n:].mean(), right[:, : n - 1].mean(), right[:, n:].mean()]]
    return np.average(rows, axis=0, weights=[len(texts) for texts in batches(twice)])


def plain_texts(encoding, n=40):
    """Return a hundred texts of n tokens, half plays and half news, and the bytes of each, the first token's apart."""
    texts = np.concatenate([plays(encoding, 50, n), news(encoding, 50, n)])
    return texts, np.array([sum(len(encoding.tokens[i]) for i in text[1:]) for text in texts])


def compared(model, texts, sizes, changes):
    """Return bits per byte under each change, and in how many texts they are more than without one."""
    costs = {name: [] for name in {"nothing": None} | changes}
    for some in batches(texts, 25):
        again = resumable(model, some)
        for name, cost in costs.items():
            logits = again(changes.get(name), at=slice(0, -1))["logits"]
            cost.append(bits(logits, some[:, 1:]).sum(axis=1))
    whole = {name: np.concatenate(cost) for name, cost in costs.items()}
    return {name: [cost.sum() / sizes.sum(), int((cost > whole["nothing"]).sum())] for name, cost in whole.items()}


def set_to(what, at, number=0):
    """Return the change that sets a part of some arrays to a number."""

    def put(array):
        array[at] = number
        return array

    return dict.fromkeys(what, put)


def hidden_token(n, place):
    """Return the mask that hides the token at a place from all behind it: (n, n) of bool."""
    keep = causal_mask(n)
    keep[place + 1 :, place] = False
    return keep


def sizes_of(stream):
    """Return the root mean square of each vector: (…, d) -> (…)."""
    return np.sqrt((stream**2).mean(axis=-1))


def sink(model, encoding):
    """Return the first token's share of attention, its sizes and largest feature, and the costs where it is hidden."""
    texts, sizes = plain_texts(encoding)
    values = [f"{layer} attention values" for layer in LAYERS]
    parts = [f"{layer} {part} added" for layer in LAYERS for part in ("attention", "feed_forward")]
    share, lengths, cosines, added = np.zeros((30, 9)), np.zeros((30, 2)), np.zeros((31, 2)), np.zeros((30, 2))
    first, rest, number, inside, largest, units = ([] for _ in range(6))
    for some in batches(texts):
        run = read(model, some, names=[*STREAMS, *WEIGHTS, *values, *parts, "12 feed_forward hidden"], at=None)
        share += [sink_share(run[name]) / 5 for name in WEIGHTS]
        long = np.array([np.linalg.norm(run[name], axis=-1) for name in values])
        lengths += (
            np.stack([long[..., 0].mean(axis=(1, 2)), np.median(long[..., 1:], axis=-1).mean(axis=(1, 2))], 1) / 5
        )
        streams = np.array([run[name] for name in STREAMS])
        first.append(sizes_of(streams[:, :, 0]))
        rest.append(np.median(sizes_of(streams[:, :, 1:]), axis=-1))
        number.append(streams[:, :, 0, 507])
        squares = np.sort(streams[:, :, 0] ** 2, axis=-1)
        inside.append(squares[..., -3:].sum(axis=-1) / squares.sum(axis=-1))
        largest.append(np.abs(streams[:, :, 1:]).max(axis=(2, 3)))
        added += np.array([run[name][:, 0, 507].mean() for name in parts]).reshape(30, 2) / 5
        cosines += [
            [alike(stream[:, 1:]), alike(stream[:, 1:] - stream[:, 1:].mean(1, keepdims=True))] for stream in streams
        ]
        units.append(run["12 feed_forward hidden"][..., [1229, 1487]])
    number, units = np.concatenate(number, axis=1), np.concatenate(units)
    n = texts.shape[1]
    layers = {"all layers": LAYERS, "layers 13 to 30": range(13, 31)}
    hidden = {f"the first, {name}": seen_only(hidden_token(n, 0), some) for name, some in layers.items()}
    hidden |= {f"the sixth, {name}": seen_only(hidden_token(n, 5), some) for name, some in layers.items()}
    hidden |= {
        f"values of the {name} at 0": set_to(values, np.s_[..., place, :])
        for name, place in (("first", 0), ("sixth", 5))
    }
    return {
        "texts": len(texts),
        "tokens": n,
        "share": share.mean(axis=1),
        "share of all heads": [share.mean(), share.max(), int((share > 0.5).sum())],
        "even": np.mean(1 / np.arange(11, n + 1)),
        "values": lengths[:, 0] / lengths[:, 1],
        "size of the first": np.median(np.concatenate(first, axis=1), axis=1),
        "size of the others": np.median(np.concatenate(rest, axis=1), axis=1),
        "number": np.median(number, axis=1),
        "number from, to": [number[12].min(), number[12].max()],
        "texts with it": int((number[12] > 5000).sum()),
        "three largest": np.concatenate(inside, axis=1).mean(axis=1),
        "largest of the others": np.median(np.concatenate(largest, axis=1), axis=1),
        "added": added,
        "units": np.median(units[:, 0], axis=0),
        "units elsewhere": np.abs(units[:, 1:]).max(axis=(0, 1)),
        "tokens elsewhere with a unit above 100": int((np.abs(units[:, 1:]) > 100).any(axis=-1).sum()),
        "cosines": cosines / 5,
        "hidden": compared(model, texts, sizes, hidden),
    }


def alike(vectors):
    """Return the mean cosine of two vectors of one text: (texts, n, d)."""
    u = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    n = u.shape[1]
    return (((u.sum(axis=1) ** 2).sum(axis=-1) - n) / (n * (n - 1))).mean()


def one_number(model, encoding):
    """Return what it costs to change the first token's largest number behind layer 12, or never to let it arise.

    Behind each cost stands in how many texts it is more, then the share of attention, in layers 13 to 27, that goes to
    the first token and to the 21st.
    """
    texts, sizes = plain_texts(encoding)
    behind, hidden = "12 feed_forward output", "12 feed_forward hidden"
    runs = [read(model, some, names=[behind, hidden], at=None) for some in batches(texts, 25)]
    stream, units = (np.concatenate([run[name] for run in runs]) for name in (behind, hidden))
    order = np.argsort(-np.abs(stream[:, 0].mean(axis=0)))
    three = np.random.default_rng(0).choice(order[3:50], 3, replace=False)
    makers = np.argsort(-np.abs(units[:, 0]).mean(axis=0))[:4]
    number = np.s_[:, 0, 507]
    means = {"its mean": stream[number].mean(), "the mean of other tokens": stream[:, 1:, 507].mean()}
    changes = {"as it is": {behind: lambda array: array}, "507 at 0": set_to([behind], number)}
    changes |= {f"507 at {name}": set_to([behind], number, mean) for name, mean in means.items()}
    changes |= {"507, 247 and 14 at 0": set_to([behind], np.s_[:, 0, order[:3]])}
    changes |= {"247 and 14 at 0": set_to([behind], np.s_[:, 0, order[1:3]])}
    changes |= {"three others at 0": set_to([behind], np.s_[:, 0, three])}
    changes |= {"all of the sixth at 0": set_to([behind], np.s_[:, 5])}
    changes |= {"all but 507, 247 and 14 at 0": set_to([behind], np.s_[:, 0, order[3:]])}
    changes |= {"all of the first at 0": set_to([behind], np.s_[:, 0])}
    changes |= {"units 1229 and 1487 at 0": set_to([hidden], np.s_[:, 0, [1229, 1487]])}
    changes |= {"the same at all others": set_to([hidden], np.s_[:, 1:, [1229, 1487]])}
    changes |= {"the next two units at 0": set_to([hidden], np.s_[:, 0, makers[2:]])}
    changes |= {
        f"{what} given to the 21st": {behind: lambda array, of=of: given(array, of)}
        for what, of in (("507", 507), ("all of the first", ALL))
    }
    found = {"texts": len(texts), "tokens": texts.shape[1], "largest": order[:5], "makers": makers}
    costs, shares = compared(model, texts, sizes, changes), shares_of(model, texts, changes)
    return found | {"means": means, "cuts": {name: costs[name] + shares[name] for name in changes}}


def given(stream, of):
    """Give the 21st token some features of the first."""
    stream[:, 20, of] = stream[:, 0, of]
    return stream


def shares_of(model, texts, changes):
    """Return the shares of the first token and of the 21st, in layers 13 to 27 and from the 26th token on."""
    found, names = Counter(), WEIGHTS[12:27]
    for some in batches(texts, 25):
        again = resumable(model, some)
        for name, change in changes.items():
            run = again(change, names=names, at=None)
            weights = np.mean([run[name][:, :, 25:].mean(axis=(0, 1, 2)) for name in names], axis=0)
            found[name] += weights[[0, 20]] * len(some) / len(texts)
    return {name: share.tolist() for name, share in found.items()}


def only_itself(model, encoding):
    """Return which tokens have the number: the second where the first is hidden, repeated ones, one that is cut off."""
    texts, _ = plain_texts(encoding, 30)
    n, behind, later = texts.shape[1], "12 feed_forward output", "19 attention weights"
    has = lambda run: run[behind][..., 507] > 5000
    look = lambda run: run[later][:, :, 10:].mean(axis=(0, 1, 2))
    plain = read(model, texts, names=[behind, later], at=None)
    second = read(model, texts, seen_only(hidden_token(n, 0), LAYERS), [behind, later], at=None)
    found = {"texts": len(texts), "as it is": has(plain).sum(axis=0)[:4], "share as it is": look(plain)[:4]}
    late = read(model, texts, seen_only(hidden_token(n, 0), range(13, 31)), [later], at=None)
    found |= {"share, first hidden from layer 13": look(late)[:4]}
    found |= {"first hidden": has(second).sum(axis=0)[:4], "share, first hidden": look(second)[:4]}
    for times in (2, 4, 8):
        again = np.hstack([np.repeat(texts[:, :1], times - 1, axis=1), texts])[:, :n]
        run = read(model, again, names=[behind, later], at=None)
        found[f"said {times} times"] = [has(run).sum(axis=0)[:10], look(run)[:times].sum()]
    for name, seen in (("alone", []), ("with the first", [0]), ("with the one before", [24])):
        keep = causal_mask(n)
        keep[25, :25] = np.isin(np.arange(25), seen)
        run = read(model, texts, seen_only(keep, LAYERS), [behind], at=None)
        found[f"the 26th {name}"] = int(has(run)[:, 25].sum())
    for last in (1, 2, 3):
        keep = causal_mask(n)
        keep[25, :25] = False
        run = read(model, texts, seen_only(keep, range(1, last + 1)), [behind], at=None)
        found[f"the 26th alone up to layer {last}"] = int(has(run)[:, 25].sum())
    ids = np.random.default_rng(0).integers(17, 49_152, (200, 1))
    keys = [f"{layer} attention keys" for layer in LAYERS]
    run = read(model, ids, names=[behind, *keys], at=0)
    said = Counter(encoding.decode([int(i)]) for i in run["logits"].argmax(axis=-1))
    found |= {"tokens alone": 200, "with it": int(has(run).sum()), "said": said.most_common(2)}
    found["keys alike"] = [alike(run[name][:, :, 0].reshape(1, 200, -1)) for name in keys]
    return found


def window(model, encoding, n=168, wide=128, counted=24, half=50):
    """Return bits per byte of the last tokens of some texts, half plays and half news, by what a token sees of them."""
    texts = np.concatenate([plays(encoding, half, n), news(encoding, half, n)])
    sizes = np.array([sum(len(encoding.tokens[i]) for i in text[-counted:]) for text in texts])
    place = np.arange(n)
    later = window_mask(n, wide - 4) | (causal_mask(n) & (place >= 4) & (place < 8))
    masks = {"all": None, "the last 128": window_mask(n, wide), "the first and the last 127": sink_mask(n, wide)}
    masks |= {"the first four and the last 124": sink_mask(n, wide, 4), "tokens 5 to 8 and the last 124": later}
    found = {"texts": len(texts), "tokens": n, "counted": counted}
    costs = {}
    for name, keep in masks.items():
        change = {} if keep is None else seen_only(keep, LAYERS)
        at = slice(n - counted - 1, n - 1)
        logits = (read(model, some, change, at=at)["logits"] for some in batches(texts, 10))
        cost = np.concatenate([bits(one, some[:, -counted:]) for one, some in zip(logits, batches(texts, 10))])
        costs[name] = cost = cost.sum(axis=1)
        kinds = [cost[some].sum() / sizes[some].sum() for some in (slice(half), slice(half, None))]
        worse, better = (cost > costs["all"]).sum(), (cost < costs.get("the last 128", cost)).sum()
        found[name] = [cost.sum() / sizes.sum(), *kinds, int(worse), int(better)]
    return found


def answers_of(model, encoding):
    """Return the countries of one token whose capital is said: names, ids (n, 5), answers (n,), of how many."""
    names, ids, answers = capital_cases(encoding, length=5)
    right = read(model, ids, at=-1)["logits"].argmax(axis=-1) == answers
    return [name for name, yes in zip(names, right) if yes], ids[right], answers[right], len(names)


def turned(again, answers, change, steps=(1, 2, 3)):
    """Return how often the other country's capital is likelier, how often it is said, and of how many."""
    likelier = said = 0
    own = np.arange(len(answers))
    for step in steps:
        order = np.roll(own, step)
        logits = again(change(order), at=-1)["logits"]
        likelier += int((logits[own, answers[order]] > logits[own, answers]).sum())
        said += int((logits.argmax(axis=-1) == answers[order]).sum())
    return [likelier, said, len(own) * len(steps)]


def exchanged_array(name, at, order):
    """Return the change by which texts have at a place of an array what other texts have there."""
    return {name: exchanged(order, at)}


def exchanged_heads(heads, place=4):
    """Return the function that gives the changes by which heads have at a place what another text has there."""

    def change(order):
        layers = {layer for layer, _ in heads}
        own = {layer: [head for at, head in heads if at == layer] for layer in layers}
        return {f"{layer} attention mixed": exchanged(order, (own[layer], place)) for layer in layers}

    return change


def streams(model, encoding):
    """Return how many answers turn with the stream of the country, or of the last token, behind each layer."""
    _, ids, answers, asked = answers_of(model, encoding)
    found, again = {"asked": asked, "countries": len(ids)}, resumable(model, ids)
    for where, place in (("country", 3), ("last", 4)):
        rows = [turned(again, answers, partial(exchanged_array, name, place)) for name in STREAMS]
        found |= {where: [row[0] for row in rows], "pairs": rows[0][2]}
    return found


def fetching(model, encoding):
    """Return what brings the answer: heads and wires of layers taken from another country, and heads cut."""
    names, ids, answers, _ = answers_of(model, encoding)
    whole = read(model, ids, names=["24 attention weights"], at=None)
    found = {"countries": names}
    groups = {"24.4": [(24, 4)], "the other eight of layer 24": [(24, head) for head in HEADS if head != 4]}
    groups |= {f"all of layer {layer}": [(layer, head) for head in HEADS] for layer in (23, 24, 25)}
    wires = {
        "queries of the last": ("queries", (ALL, 4)),
        "keys of the country": ("keys", (ALL, 3)),
        "values of the country": ("values", (ALL, 3)),
    }
    again = resumable(model, ids)
    turning = {name: turned(again, answers, exchanged_heads(heads)) for name, heads in groups.items()}
    turning |= {
        name: turned(again, answers, partial(exchanged_array, f"24 attention {wire}", at))
        for name, (wire, at) in wires.items()
    }

    def to_mean(array):
        array[:, 4, 4] = array[:, 4, 4].mean(axis=0)
        return array

    cuts = {"nothing": None, "24.4": cut_heads([(24, 4)]), "24.4 to its mean": {"24 attention mixed": to_mean}}
    cuts |= {"the other eight": cut_heads(groups["the other eight of layer 24"])}
    left = {name: read(model, ids, change, at=-1)["logits"] for name, change in cuts.items()}
    found["turning"] = turning
    found["cuts"] = {
        name: [int((one.argmax(-1) == answers).sum()), np.median(ranks(one, answers))] for name, one in left.items()
    }
    found["weights"] = whole["24 attention weights"][:, :, 4].mean(axis=0)
    return found


def lens(model, encoding):
    """Return how high the answer and the country's own name stand behind each layer, as it is and without the mean."""
    ends, asked, said, five = {}, {}, {}, {}
    for length in (5, 6, 7, 8):
        names, ids, answers = capital_cases(encoding, length)
        if len(names):
            run = read(model, ids, names=STREAMS, at=-1)
            for i, name in enumerate(names):
                stream = np.array([run[layer][i] for layer in STREAMS])
                ends[name], said[name] = stream[:, -1], int(run["logits"][i].argmax())
                asked[name] = answers[i], encoding.encode(" " + name)[0]
                five |= {name: stream} if length == 5 else {}
    names, rng = sorted(ends), np.random.default_rng(0)
    capital, own = np.array([asked[name] for name in names]).T
    right = capital == np.array([said[name] for name in names])
    stream = np.array([ends[name] for name in names])
    halves = np.arange(len(names)) % 2
    other_half = np.array([stream[halves != half].mean(axis=0) for half in halves])
    less, other = stream - stream.mean(axis=0), rng.permuted(np.arange(len(names)))
    while (capital[other] == capital).any() or (own[other] == own).any():
        other = rng.permuted(other)
    high = lambda x, ids: np.array([ranks(logit_lens(one, model), np.full(31, i)) for one, i in zip(x, ids)])
    tables = {"capital, as it is": high(stream, capital), "capital": high(less, capital), "own name": high(less, own)}
    tables |= {"capital, mean of the other half": high(stream - other_half, capital)}
    tables |= {"another capital": high(less, capital[other]), "another name": high(less, own[other])}
    found = {"countries": len(names), "right": int(right.sum())}
    for name, table in tables.items():
        for kind, some in (("right", right), ("wrong", ~right)):
            found[f"{name}, {kind}"] = {
                "median": np.median(table[some], axis=0).round(),
                "of ten": (table[some] < 10).sum(axis=0),
            }
    ahead = tables["own name"][:, 24] < tables["capital"][:, 24]
    found["own name ahead behind layer 24"] = [int(ahead[some].sum()) for some in (right, ~right)]
    wrong = Counter(encoding.decode([said[name]]) for name, yes in zip(names, right) if not yes)
    found["said in place"] = wrong.most_common(4)
    chosen = [name for name in five if said[name] == asked[name][0]]
    mean, every = np.mean([*five.values()], axis=0), np.array([five[name] for name in chosen])
    capital, own = np.array([asked[name] for name in chosen]).T
    at_all = lambda x, ids: [
        [np.median(ranks(logit_lens(x[:, layer, place], model), ids)) for place in range(5)] for layer in range(31)
    ]
    sheet = {"capital, as it is": at_all(every, capital), "capital": at_all(every - mean, capital)}
    return found | {"sheet": sheet | {"own name": at_all(every - mean, own)}, "sheet of": len(chosen)}


def pronoun(model, encoding):
    """Return where the heads look from _it_ in a hundred sentences, and what is answered without those that point.

    Behind each margin, for what was too tired and too wide, stands in how many sentences the subject is preferred.
    """
    pairs = [(subject, place) for subject in NOUNS for place in OTHER_NOUNS]
    texts = {word: [crossing(subject, place, word) for subject, place in pairs] for word in ("tired", "wide")}
    ids = {word: np.array([encoding.encode(text) for text in some]) for word, some in texts.items()}
    subject, it = 1, [encoding.decode([i]) for i in ids["tired"][0]].index(" it")
    runs = {word: read(model, some, names=WEIGHTS, at=None) for word, some in ids.items()}
    looks = np.array([[run[name][:, :, it].mean(axis=0) for name in WEIGHTS] for run in runs.values()])
    apart = max(np.abs(runs["tired"][name][:, :, it] - runs["wide"][name][:, :, it]).max() for name in WEIGHTS)
    at_subject = looks[0, :, :, subject]
    asked = {
        word: np.array([encoding.encode(f"{text} What was too {word}? The") for text in some])
        for word, some in texts.items()
    }
    rivals = [np.array([encoding.encode(" " + word)[0] for word in words]) for words in zip(*pairs)]

    n, rng, eight = asked["tired"].shape[1], np.random.default_rng(0), best(at_subject, 8)
    free = lambda layer, drawn: [
        (layer, head) for head in HEADS if at_subject[layer - 1, head] < 0.1 and (layer, head) not in [(17, 0), *drawn]
    ]
    wire, gone = causal_mask(n), causal_mask(n)
    wire[it, subject] = gone[it + 1 :, it] = False
    changes = {"nothing": None, "the four": cut_heads(eight[:4]), "the eight": cut_heads(eight)}
    changes |= {"it cannot see the subject": seen_only(wire, LAYERS), "none sees it": seen_only(gone, LAYERS)}
    controls = []
    for i in range(5):
        drawn = []
        for layer, _ in eight:
            some = free(layer, drawn)
            drawn.append(some[rng.integers(len(some))])
        controls.append(drawn)
        changes[f"control {i}"] = cut_heads(drawn)
    found = {"sentences": len(pairs), "apart": apart, "at the first": looks[0, :, :, 0].mean()}
    found |= {"at the subject": at_subject.mean(), "eight": [[*at, at_subject[at[0] - 1, at[1]]] for at in eight]}
    found |= {"controls": [named(drawn) for drawn in controls]}
    margins = {name: [] for name in changes}
    every = np.arange(len(pairs))
    for some in asked.values():
        runs = [resumable(model, batch) for batch in batches(some)]
        for name, change in changes.items():
            logits = np.concatenate([again(change, at=-1)["logits"] for again in runs])
            margin = logits[every, rivals[0]] - logits[every, rivals[1]]
            margins[name] += [margin.mean(), int((margin > 0).sum())]
    return found | {"margins": margins}


PARTS = (lens, fetching, one_number, pronoun, copying, natural, sink, streams, only_itself, window)


def main():
    """Measure every part, or those that NAMES says, and write the file after each."""
    model, encoding = load_smollm2()
    asked = os.environ.get("NAMES", "").split() or [part.__name__ for part in PARTS]
    for part in (part for part in PARTS if part.__name__ in asked):
        row = rounded(plain(part(model, encoding)))
        found = json.loads(FILE.read_text(encoding="utf-8"))["circuits"] if FILE.is_file() else {}
        found |= {part.__name__: row}
        print(part.__name__, row, flush=True)
        write_report(
            FILE, report("circuits", "What is found inside SmolLM2-135M-Instruct, part by part.", circuits=found)
        )


def plain(found):
    """Return what is found with lists in place of arrays, and numbers of Python's own kinds."""
    if isinstance(found, dict):
        return {name: plain(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [plain(value) for value in found]
    return found.tolist() if isinstance(found, np.ndarray | np.generic) else found
