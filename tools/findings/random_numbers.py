"""Findings on random numbers and untrained models, of chapters 3 to 14 and 19, at other widths, depths and seeds."""

from functools import partial

import numpy as np
from scipy.optimize import linprog

from minitransformer.dot_product import cosine_matrix
from minitransformer.feed_forward import feed_forward, gelu
from minitransformer.gradients import cross_entropy, cross_entropy_vjp, gradient_check
from minitransformer.layer_norm import layer_norm
from minitransformer.masks import causal_mask, leaks
from minitransformer.multi_head import multi_head_attention
from minitransformer.positions import rotary
from minitransformer.self_attention import self_attention
from minitransformer.softmax import softmax
from minitransformer.tasks.reversals import reversals
from minitransformer.training import Adam
from minitransformer.transformer import LanguageModel, Transformer

from .words import SEEDS, many, shares


def largest_shares(d, keys, seed, scale=1.0, count=1000):
    """Return the largest share that each of `count` random queries of width d gives to one of its random keys."""
    rng = np.random.default_rng(seed)
    scores = np.empty((count, keys))
    for row in scores:
        q, k = rng.uniform(-(3**0.5), 3**0.5, size=d), rng.uniform(-(3**0.5), 3**0.5, size=(keys, d))
        row[:] = k @ q * scale
    return softmax(scores).max(axis=-1)


def one_key():
    found = [np.median(largest_shares(64, 16, seed)) for seed in SEEDS]
    return f"median of the largest share {many(found)}", {"median": found}


def back_to_one():
    found = [np.median(largest_shares(d, 16, seed, d**-0.5)) for d, seed in zip((16, 256, 1024), SEEDS)]
    return f"median of the largest share {many(found)}", {"median": found}


def held_up():
    def steps(seed, lead, adam):
        keys, right = np.random.default_rng(seed).normal(size=(8, 16)), np.eye(8)[1]
        query = np.linalg.pinv(keys) @ (lead * np.eye(8)[0])  # the first key leads, the second one is right
        walk = Adam(query, rate=0.1).step if adam else lambda gradient: np.subtract(query, gradient, out=query)
        for count in range(5000):
            p = softmax(keys @ query)
            if p[1] > 0.5:
                return count
            back = 2 * (p - right)
            walk(keys.T @ (p * (back - back @ p)))
        return 5000

    seeds = range(SEEDS[0], SEEDS[0] + 10)
    found = [
        [np.median([steps(seed, lead, adam) for seed in seeds]) for adam in (False, True)] for lead in (10, 14, 30)
    ]
    text = f"median of the steps, plain and with Adam: {'; '.join(many(pair, '.0f') for pair in found)}"
    return text, {
        "steps from a lead of 30": found[2],
        "Adam's share of the steps from less": [adam / plain for plain, adam in found[:2]],
    }


def two_matrices():
    found = []
    for d, d_k, seed in zip((4, 16, 64), (1, 8, 32), SEEDS):
        rng = np.random.default_rng(seed)
        words, W_Q, W_K = rng.normal(size=(2, d)), *rng.normal(size=(2, 2000, d, d_k))
        for key in (W_K, W_Q):
            s = (words @ W_Q) @ (words @ key).swapaxes(-1, -2)
            found.append(np.mean((s[:, 0, 1] > s[:, 0, 0]) & (s[:, 1, 0] > s[:, 1, 1])))
    return f"{shares(found[::2])}, control {shares(found[1::2])}", {
        "two matrices": found[::2],
        "one matrix": found[1::2],
    }


def one_side():
    found = []
    for d, seed in zip((4, 16, 64), SEEDS):
        rng = np.random.default_rng(seed)
        words, matrices = rng.normal(size=(2, d)), rng.normal(size=(2000, d, d))
        s = (words @ matrices) @ words.T
        found.append(np.mean((s[:, 0, 1] > s[:, 0, 0]) & (s[:, 1, 0] > s[:, 1, 1])))
    return shares(found), {"one matrix on one side": found}


def decided():
    bare = [largest_shares(d, keys, SEEDS[0], 1, 300).mean() for d in (256, 1024) for keys in (8, 64)]
    root = [largest_shares(d, keys, SEEDS[0], d**-0.5, 300).mean() for d in (256, 1024) for keys in (8, 64)]
    flat = [largest_shares(d, keys, SEEDS[0], 1 / d, 300).mean() * keys for d in (256, 1024) for keys in (8, 64)]
    found = f"undivided {many(bare)}; by the root {many(root)}; by d_k, times the keys {many(flat)}"
    return found, {"undivided": bare, "by the root": root, "by d_k, times the keys": flat}


def peeking(x, params):
    """Return what a self-attention makes of x whose mask lets each token see one too far."""
    return self_attention(x, params, np.tri(len(x), k=1, dtype=bool))[0]


def saturated():
    found = []
    for d, n, seed in zip((4, 16, 32), (5, 8, 12), SEEDS):
        rng, planted = np.random.default_rng(seed), 100 * (n - 1)
        for factor in (1000, 1):
            params = {name: rng.normal(size=(d, d)) / d**0.5 for name in ("W_Q", "W_K", "W_V")}
            params["W_Q"] *= factor
            layer = partial(peeking, params=params)
            found.append(sum(len(leaks(layer, rng.normal(size=(n, d)))) for _ in range(100)) / planted)
    return f"found {shares(found[::2])}, control {shares(found[1::2])}", {
        "found": found[::2],
        "found, queries as they are": found[1::2],
    }


def found_by_a_query(keys):
    """Return how many of these keys can get the largest score of all, for some query."""
    count = 0
    for i in range(len(keys)):
        behind = np.delete(keys, i, axis=0) - keys[i]
        count += linprog(0 * keys[i], behind, -np.ones(len(behind)), bounds=(None, None)).success
    return count


def new_block(rng, d):
    """Return the random parameters of a block, as chapter 9 draws them."""
    shapes = dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), (d, d)) | {"W_1": (d, 4 * d), "W_2": (4 * d, d)}
    params = {name: rng.normal(size=shape) / shape[0] ** 0.5 for name, shape in shapes.items()}
    return params | {"b_1": np.zeros(4 * d), "b_2": np.zeros(d)}


def norm(x):
    """Return rows normed, without a gain or a bias."""
    return layer_norm(x, np.ones(x.shape[-1]), np.zeros(x.shape[-1]))


def attend(x, params):
    """Return what an attention with four heads makes of x."""
    return multi_head_attention(x, params, 4)[0]


STEPS = {
    "replaced": lambda x, part, params: part(norm(x), params),
    "pre-norm": lambda x, part, params: x + part(norm(x), params),
    "post-norm": lambda x, part, params: norm(x + part(x, params)),
}


def through(blocks, x, step):
    """Return the rows before the first block and behind each."""
    rows = [x]
    for params in blocks:
        x = step(step(x, attend, params), feed_forward, params)
        rows.append(x)
    return rows


def alike(x):
    """Return the mean cosine of two different rows."""
    return (cosine_matrix(x).sum() - len(x)) / (len(x) * (len(x) - 1))


def drawn_words(d, n, depth, seed):
    """Return so many random words and random blocks."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), [new_block(rng, d) for _ in range(depth)]


def collapse():
    found = []
    for d, n in ((16, 6), (32, 11), (96, 20), (256, 40)):
        drawn = (drawn_words(d, n, 2, seed) for seed in range(101, 121))
        cosines = [alike(through(blocks, x, STEPS["replaced"])[2]) for x, blocks in drawn]
        found.append((np.median(cosines), min(cosines)))
    median, least = np.transpose(found)
    return f"mean cosine, median {many(median)}, least {many(least)}", {"median": median, "least": least}


def kept_apart():
    found = []
    for d, n in ((16, 6), (96, 20), (256, 40)):
        found.append(
            max(
                alike(through(blocks, x, STEPS["pre-norm"])[4])
                for x, blocks in (drawn_words(d, n, 4, s) for s in range(101, 106))
            )
        )
    return f"largest mean cosine after four: {many(found)}", {"largest": found}


def post_norm():
    found = []
    for d, n in ((32, 5), (128, 20)):
        for seed in SEEDS[:2]:
            x, blocks = drawn_words(d, n, 24, seed)
            rows = {name: through(blocks, x, step) for name, step in STEPS.items()}
            found.append(
                [
                    alike(rows[name][at])
                    for name, at in (("replaced", 2), ("post-norm", 2), ("post-norm", 24), ("pre-norm", 24))
                ]
            )
    early, late, end, pre = np.transpose(found)
    text = f"after two: replaced {many(early)}, post-norm {many(late)}; "
    text += f"after 24: post-norm {many(end)}, pre-norm {many(pre)}"
    return text, {"later than without additions by": early - late, "post-norm after 24": end, "pre-norm after 24": pre}


def nudgeable():
    """Yield a way to step, its name, the blocks, all rows on the way and a generator, for two widths and all ways."""
    for d, seed in ((32, SEEDS[0]), (128, SEEDS[1])):
        x, stack = drawn_words(d, 8, 24, seed)
        rng = np.random.default_rng(seed)
        for name, step in STEPS.items():
            yield name, step, stack, through(stack, x, step), rng


def common_nudge():
    found = {name: [] for name in STEPS}
    for name, step, stack, rows, rng in nudgeable():
        for way in ("common", "apart"):
            moves = []
            for _ in range(8):
                nudge = 1e-6 * rng.normal(size=rows[0].shape)
                mean = nudge.mean(axis=0) + np.zeros_like(nudge)
                nudge = mean if way == "common" else nudge - mean
                end = through(stack[11:], rows[11] + nudge, step)[-1]
                moves.append(np.linalg.norm(norm(end) - norm(rows[-1])) / np.linalg.norm(nudge))
            found[name].append(np.mean(moves))
    text = "common and apart, twice: " + ", ".join(f"{name} {many(sizes, '.4f')}" for name, sizes in found.items())
    common = [sizes[i] for sizes in found.values() for i in (0, 2)]
    return text, {"common": common, "apart, replaced": found["replaced"][1::2], "all, pre-norm": found["pre-norm"]}


def lost_nudge():
    found = {name: [] for name in STEPS}
    for name, step, stack, rows, rng in nudgeable():
        moves = np.zeros(2)
        for which, i in enumerate((0, 11)):
            for _ in range(8):
                nudge = 1e-6 * rng.normal(size=stack[i]["W_Q"].shape)
                block = stack[i] | {"W_Q": stack[i]["W_Q"] + nudge}
                end = through([block, *stack[i + 1 :]], rows[i], step)[-1]
                moves[which] += np.linalg.norm(norm(end) - norm(rows[-1])) / np.linalg.norm(nudge)
        found[name].append(moves[1] / (moves[0] if name == "pre-norm" else 8))
    text = ", ".join(f"{name} {many(sizes, '.4f')}" for name, sizes in found.items())
    return text, {"replaced": found["replaced"], "pre-norm": found["pre-norm"]}


def echo(d, layers, count, **options):
    """Return how many tokens an untrained model repeats, of 50 random texts."""
    texts = np.random.default_rng(SEEDS[0]).integers(0, count, size=(50, 10))
    model = LanguageModel(count, d, 4, layers, SEEDS[1], **options)
    return (model(texts).argmax(axis=-1) == texts).mean()


def repeats():
    sizes = [(d, layers, count) for d in (16, 96) for layers, count in ((1, 20), (3, 100))]
    found = [echo(*size) for size in sizes]
    control = [echo(*size, tied=False) for size in sizes]
    return f"{shares(found)}, control {shares(control)}", {
        "share": found,
        "share over chance": [share * size[2] for share, size in zip(found, sizes)],
        "head of its own": control,
    }


def wider():
    texts, found = np.random.default_rng(SEEDS[0]).integers(0, 1000, size=(50, 10)), []
    for d, other in ((32, 384), (128, 288), (384, 32)):
        params = LanguageModel(1000, d, 4, 8, SEEDS[1]).params
        for factor in (d, other):
            found.append((last_scores(texts, params, scale=factor**0.5).argmax(axis=-1) == texts).mean())
    own, swapped = found[::2], found[1::2]
    return f"{shares(own)}, control {shares(swapped)}", {
        "widest": own[2],
        "widest, small factor": swapped[2],
        "narrowest, large factor": swapped[0],
    }


def echo_needs():
    texts = np.random.default_rng(SEEDS[0]).integers(0, 1000, size=(20, 20))
    ways = {"as it is": {}, "no additions": {"add": False}, "no √d": {"scale": 1}, "own head": {"head": "output"}}
    ways |= {"no positions": {"turn": None}}
    found = {name: [] for name in ways}
    for d, layers in ((128, 4), (256, 6)):
        params = LanguageModel(1000, d, 4, layers, SEEDS[1], tied=False).params
        for name, way in ways.items():
            found[name].append((last_scores(texts, params, **way).argmax(axis=-1) == texts).mean())
    gone = ("no additions", "no √d", "own head")
    return "; ".join(f"{name} {shares(each)}" for name, each in found.items()), {
        "without one of the three": [found[name] for name in gone],
        "as it is, or without positions": found["as it is"] + found["no positions"],
    }


def last_scores(texts, params, add=True, scale=None, turn=rotary, head=None):
    """Return chapter 12's scores of a model of random numbers, with the additions, √d, positions or tied head gone."""
    table, keep = params["embedding"], causal_mask(texts.shape[-1])
    x = table[texts] * (table.shape[1] ** 0.5 if scale is None else scale)
    *layers, norm = params["decoder"].values()
    for layer in layers:
        for name, part in layer.items():
            normed = layer_norm(x, part["gain"], part["bias"])
            if name == "attention":
                new = multi_head_attention(normed, part, 4, keep=keep, rotate=turn)[0]
            else:
                new = feed_forward(normed, part, gelu)
            x = x + new if add else new
    return layer_norm(x, **norm) @ (table.T if head is None else params[head])


def by_hand(v, n, sharp=1000.0):
    """Return chapter 12's machine of two layers, which continues a repeated text."""
    word, before, said, place = np.split(np.eye(3 * v + n), [v, 2 * v, 3 * v])
    first = {
        "W_Q": sharp * place.T @ place,
        "W_K": place.T @ np.roll(place, -1, axis=0),
        "W_V": word.T @ word,
        "W_O": word.T @ before,
    }
    second = {"W_Q": sharp * word.T @ word, "W_K": before.T @ word, "W_V": word.T @ word, "W_O": word.T @ said}
    return word, place, (first, second), said.T


def machine():
    found = []
    for length, v in ((8, 20), (30, 40)):
        word, place, layers, said = by_hand(v + 1, 2 * length + 1)
        rng, right = np.random.default_rng(SEEDS[0]), ([], [])
        for text in 1 + rng.choice(v, size=(100, length)):
            ids = np.append(0, np.tile(text, 2))
            x = word[ids] + place
            for part in layers:
                x = x + multi_head_attention(x, part, 1, keep=np.tri(len(ids), dtype=bool))[0]
            best = (x @ said).argmax(axis=1)
            for t in range(length + 1, 2 * length):
                followers = set(np.roll(text, -1)[text == ids[t]])
                right[len(followers) > 1].append(best[t] == ids[t + 1])
        found += map(np.mean, right)
    return f"{shares(found[::2])}, control {shares(found[1::2])}", {
        "followed by one": found[::2],
        "by several": found[1::2],
    }


TEXT = ["the", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too", "tired"]
IDS = np.array([sorted(set(TEXT)).index(word) for word in TEXT])
TARGETS = np.append(np.full(len(IDS) - 2, -1), IDS[-1])


def beginner(width, seed):
    """Return a new model, its loss on the last word of a text, and the gradient."""
    model = LanguageModel(10, width, 2, 2, seed, dtype=np.float64)
    logits, backward = model.vjp(IDS[:-1])
    loss, back_loss = cross_entropy_vjp(logits, TARGETS)
    return model, loss, backward(back_loss())


def lowered(width, step):
    """Return how many of 100 new models have a smaller loss when `step(gradient, rng)` is taken from their numbers."""
    better = 0
    for seed in range(101, 201):
        model, before, gradient = beginner(width, seed)
        model.flat -= step(gradient, np.random.default_rng(seed))
        better += cross_entropy(model(IDS[:-1]), TARGETS) < before
    return better


WIDTHS = 12, 24, 48, 96


def one_step():
    found = [lowered(width, lambda g, rng: 0.03 * g) for width in WIDTHS]
    shuffled = [lowered(width, lambda g, rng: 0.03 * rng.permuted(g)) for width in WIDTHS]
    return f"lower of 100 {many(found, '.0f')}, shuffled {many(shuffled, '.0f')}", {
        "lower": found,
        "shuffled": shuffled,
    }


def tied_table():
    def lowered_at(width, first, last):
        table, better = np.arange(LanguageModel(10, width, 2, 2).flat.size) < 10 * width, 0
        for seed in range(101, 201):
            model, before, gradient = beginner(width, seed)
            step = 0.3 * gradient * table
            two = LanguageModel(10, width, 2, 2, dtype=np.float64, tied=False)
            head = (model.flat - last * step)[table].reshape(10, width)
            two.flat[:] = np.append(model.flat - first * step, head.T)
            better += cross_entropy(two(IDS[:-1]), TARGETS) < before - 1e-9
        return better

    both, *one = ([lowered_at(width, *ends) for width in (64, 96)] for ends in ((1, 1), (1, 0), (0, 1)))
    text = (
        f"lower of 100, both ends {many(both, '.0f')}, the first {many(one[0], '.0f')}, the last {many(one[1], '.0f')}"
    )
    return text, {"at both ends": both, "at one end": one[0] + one[1]}


def wide_arrays():
    def one_less(x):
        spread = np.sqrt((x**2).mean(axis=-1, keepdims=True))
        y, n = x / spread, x.shape[-1]
        return y, lambda d: (d - y * (d * y).sum(axis=-1, keepdims=True) / (n - 1)) / spread

    def alone(x):
        p = softmax(x)
        return p, lambda d: d * p * (1 - p)

    found = [[gradient_check(wrong, (4, n)) for n in (6, 64, 1024)] for wrong in (one_less, alone)]
    told = "; ".join(many(errors, ".0e") for errors in found)
    return f"errors {told}", {"times smaller at a larger size": [(a / b, b / c) for a, b, c in found]}


def says_what_it_is_fed():
    (arguments, answers), found, losses = reversals(np.random.default_rng(SEEDS[0]), 100), [], []
    for tied in (True, False):
        for d, layers in ((16, 1), (96, 3)):
            logits = Transformer(12, d, 4, layers, SEEDS[1], tied=tied)(*arguments)
            found.append((logits.argmax(-1) == arguments[1])[answers != -1].mean())
            losses.append(cross_entropy(logits, answers))
    return f"{shares(found[:2])}, control {shares(found[2:])}", {
        "tied": found[:2],
        "own head": found[2:],
        "loss less ln 12": [loss - np.log(12) for loss in losses[:2]],
    }


def memory_of(keys, values, keep=1.0, corrected=True):
    """Return a memory of pairs, written one after another: it keeps a share at each step, and may be corrected."""
    memory = np.zeros((keys.shape[1], values.shape[1]))
    for k, v in zip(keys, values):
        memory = keep * memory
        memory = memory + np.outer(k, v - k @ memory * corrected)
    return memory


def new_values(d, seed, **rule):
    """Return how often a memory of d by d names the new values of half of d keys, among 64 words."""
    rng, right = np.random.default_rng(seed), []
    for _ in range(40):
        words, keys = unit_rows(rng.normal(size=(64, d))), unit_rows(rng.normal(size=(d, d)))
        said, half = rng.integers(64, size=d + d // 2), d // 2
        memory = memory_of(np.vstack([keys, keys[:half]]), words[said], **rule)
        right.append(((keys[:half] @ memory @ words.T).argmax(axis=1) == said[d:]).mean())
    return np.mean(right)


def unit_rows(x):
    """Return the rows of x, each divided by its length."""
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def overwritten():
    rules = {"delta": {}, "forgetting": {"keep": 0.95, "corrected": False}, "sum": {"corrected": False}}
    found = {name: [new_values(d, SEEDS[1], **rule) for d in (24, 48, 64)] for name, rule in rules.items()}
    return ", ".join(f"{name} {shares(values)}" for name, values in found.items()), found


def positive_keys():
    rng, found, cosines = np.random.default_rng(SEEDS[1]), [], []
    for d, phi in ((16, np.exp), (64, lambda x: np.log1p(np.exp(x))), (128, lambda x: np.maximum(x, 0) + 0.1)):
        first, second = phi(rng.normal(size=(2, 2000, d)))
        same, other = np.vecdot(first, first), np.vecdot(first, second)
        found.append((same / (same + other)).mean())
        cosines.append((other / np.sqrt(same * np.vecdot(second, second))).mean())
    return f"{shares(found)} on the right one, cosines {many(cosines)}", {"weight": found, "cosine": cosines}
