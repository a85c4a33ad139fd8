"""Findings on models that a chapter trains, of chapters 14 to 18: trained anew from other starts, or on other texts."""

import re
from collections import Counter
from functools import cache, partial

import numpy as np

from minitransformer.feed_forward import gelu
from minitransformer.gradients import cross_entropy
from minitransformer.inside import ablated, copies, induction_score, opened, patched
from minitransformer.language_model import (
    KeyValueCache,
    KneserNey,
    beam_text,
    bits_per_byte,
    decode_step,
    generate,
    load_plays,
    new_writer,
    text_model,
    token_probabilities,
)
from minitransformer.masks import causal_mask
from minitransformer.positions import rotary
from minitransformer.public_model import dequantise, quantise
from minitransformer.softmax import log_softmax, softmax
from minitransformer.tasks.number_words import number_pair
from minitransformer.tasks.reversals import reversals
from minitransformer.tasks.sentence_sets import it_sentences
from minitransformer.training import Adam, rate_at, train, training_step
from minitransformer.transformer import LanguageModel, Transformer, embed, logits_of, stack
from minitransformer.transformer.walk import normalise, run_decoder, visible
from minitransformer.translation import NUMBERS, PRONOUNS, SENTENCES, batch_of, correct_words, draw_batch, new_model
from minitransformer.word_vectors import load_news
from tools.measure.model import draw as draw_any
from tools.measure.model import draw_subject_meant, subject_meant

from .words import SEEDS, many, shares


@cache
def reverser(seed):
    """Return chapter 14's model, trained from another start."""
    model = Transformer(12, 32, 4, 2, seed, dtype=np.float64)
    train(model, partial(reversals, count=64), 600, rate=4e-3, seed=seed, checkpoint="findings-reversals")
    return model


def reversed_rows(model, seed, *lengths):
    """Return which share of 500 rows a model turns round without a mistake."""
    arguments, answers = reversals(np.random.default_rng(seed), 500, *lengths)
    wrong = (model(*arguments).argmax(-1) != answers) & (answers != -1)
    return (~wrong.any(axis=-1)).mean()


def learns_the_rule():
    found = [reversed_rows(reverser(seed), seed) for seed in SEEDS[:2]]
    return shares(found, 0), {"rows": found}


def longer_rows():
    found = np.array([[reversed_rows(reverser(seed), seed, n, n) for n in (8, 12, 14, 16)] for seed in SEEDS[:2]])
    return "; ".join(shares(row, 0) for row in found), {"8 and 12 digits": found[:, :2], "14 and 16": found[:, 2:]}


def places_met():
    def mixed(rng):
        return reversals(rng, 64, *((16, 16) if rng.random() < 0.5 else ()))

    model = Transformer(12, 32, 4, 2, SEEDS[0], dtype=np.float64)
    train(model, mixed, 900, rate=4e-3, seed=SEEDS[0], checkpoint="findings-places")
    found = [reversed_rows(model, SEEDS[0], n, n) for n in (12, 13, 14, 15, 16)]
    return shares(found, 0), {"12 and 16 digits": [found[0], found[-1]], "14 digits": found[2]}


def stripe():
    found = []
    for seed in SEEDS[:2]:
        (source, fed, lengths), _ = reversals(np.random.default_rng(seed), 500, 8, 8)
        record = {}
        reverser(seed)(source, fed, lengths, record=record)
        weights = record["decoder"][2]["cross_attention weights"].mean(axis=1)
        found.append(np.mean([weights[:, place, 7 - place].mean() for place in range(8)]))
    return many(found, ".1f"), {"weight": found}


@cache
def journalist(first, count, dropout=0.0):
    """Return chapter 14's losses, for other stories and another start: on given and on new text, and there with a
    dropout of 0.3 left on; the share of words in which two such calls differ; and what counting costs on new text.
    """
    stories = load_news()
    known = Counter(word for story in stories[:250] for word in story).most_common(499)
    number = {word: i for i, (word, _) in enumerate(known, 1)}

    def pieces(some):
        ids = np.array([number.get(word, 0) for story in some for word in story])
        return np.lib.stride_tricks.sliding_window_view(ids, 25)

    given = pieces(stories[first : first + count])
    new = pieces(stories[250:])[::24]
    texts = {"given": given[:: len(given) // 100], "new": new}

    def drawn(rng):
        chosen = given[rng.integers(len(given), size=16)]
        return (chosen[:, :-1],), chosen[:, 1:]

    def losses(model):
        return {name: cross_entropy(model(text[:, :-1]), text[:, 1:]) for name, text in texts.items()}

    model = LanguageModel(500, 64, 4, 2, SEEDS[0], dropout=dropout)
    done = train(
        model, drawn, 300, rate=3e-3, warmup=50, seed=SEEDS[0], measure=losses, every=25, checkpoint="findings-news"
    )
    model.dropout, rng = 0.3, np.random.default_rng(0)
    on, again = (model(new[:, :-1], rng=rng) for _ in range(2))
    differ = (on.argmax(-1) != again.argmax(-1)).mean()
    counts = np.bincount(given[:, 0], minlength=500) + 0.5
    counted = -np.log(counts / counts.sum())[new[:, 1:]].mean()
    return done.found | {"on": cross_entropy(on, new[:, 1:]), "differ": differ, "counted": counted}


def overfitting():
    found = [journalist(first, 20) for first in (60, 120)]
    ends = [(min(each["new"]), each["new"][-1], each["given"][-1]) for each in found]
    return "; ".join(f"new at best {a:.2f}, in the end {b:.2f}, given {c:.2f}" for a, b, c in ends), {
        "rise": [b - a for a, b, _ in ends],
        "given below the best by": [a - c for a, _, c in ends],
    }


def dropout_holds():
    plain, dropped = journalist(60, 20)["new"], journalist(60, 20, 0.3)["new"]
    return f"stopped {min(plain):.2f}, not stopped {plain[-1]:.2f}, with dropout {dropped[-1]:.2f}", {
        "below the one not stopped by": plain[-1] - dropped[-1],
        "off early stopping": abs(dropped[-1] - min(plain)),
    }


def dropout_left_on():
    dropped, plain = journalist(60, 20, 0.3), journalist(60, 20)
    told = [f"loss {each['new'][-1]:.2f}, left on {each['on']:.2f}" for each in (dropped, plain)]
    differ = [each["differ"] for each in (dropped, plain)]
    return f"{told[0]}, control {told[1]}; two calls differ in {shares(differ)} of the words", {
        "loss more": dropped["on"] - dropped["new"][-1],
        "words that differ": differ[0],
        "control, over that": differ[1] / differ[0],
    }


def more_text():
    more, few = journalist(0, 250)["new"], journalist(60, 20)["new"]
    return f"250 stories {more[-1]:.2f}, 20 at best {min(few):.2f}", {"gain": min(few) - more[-1]}


def frequencies():
    found = [journalist(*each) for each in ((0, 250), (60, 20), (120, 20))]
    counted = np.array([each["counted"] for each in found])
    gains = counted - [found[0]["new"][-1], *(min(each["new"]) for each in found[1:])]
    text = f"counting costs {many(counted)}, the model less by {many(gains)}"
    return text, {"gain over counting, 250 stories": gains[0], "gain over counting, 20 stories": gains[1:]}


def numbers():
    sizes = {"source_vocabulary": len(NUMBERS.english), "activation": gelu}
    model = Transformer(len(NUMBERS.french), 64, 4, 1, rng=SEEDS[0], **sizes)
    train(model, lambda rng: draw_batch(rng, 32, NUMBERS), 600, rate=4e-3, seed=SEEDS[0], checkpoint="findings-numbers")
    rng = np.random.default_rng(SEEDS[0])
    share = correct_words(model, [number_pair(rng, hidden=True) for _ in range(2000)], NUMBERS).all(axis=-1).mean()
    return f"{share:.1%}", {"right": share}


def one_noun():
    phrases, found = filter(subject_meant, it_sentences(np.random.default_rng(SEEDS[0]), 1200)), []
    tested = [*phrases]
    pronoun = np.isin(batch_of(tested, SENTENCES)[1], PRONOUNS)
    for draw in (draw_subject_meant, draw_any):
        model = new_model(SEEDS[0])
        adam = Adam(model.flat, betas=(0.9, 0.98))
        for step in range(150):
            rng = np.random.default_rng([SEEDS[0], step])
            training_step(model, adam, draw, rng, rate_at(step, 4000, 2e-3, warmup=100))
        found.append(correct_words(model, tested, SENTENCES)[pronoun].mean())
    return f"pronouns at step 150 {shares(found[:1], 0)}, control {shares(found[1:], 0)}", {
        "pronouns at step 150": found[0],
        "control": found[1],
    }


@cache
def plays():
    """Return the book's writer, its encoding, and the tokens of the training text and of the text held out."""
    model, encoding = text_model()
    training, held_out = (np.array(encoding.encode(text)) for text in load_plays())
    return model, encoding, training, held_out


def read_anywhere():
    writer, _, _, held_out = plays()
    ids, places = held_out[20_000:26_400].reshape(100, 64), np.arange(64)

    def read(turn):
        x, keep = embed(ids, writer.params, "rotary"), causal_mask(64)
        x = stack(x, writer.params["decoder"], 4, rotate=turn, activation=gelu, keep=keep)
        return logits_of(x, writer.params)

    plain = read(rotary)
    later = [read(lambda x, k=k: rotary(x, places + k)) for k in (1, 1000)]
    moved = max(np.abs(logits - plain).max() for logits in later)
    same = [(logits.argmax(-1) == plain.argmax(-1)).mean() for logits in (*later, read(None))]
    return f"logits moved by {moved:.4f}, the same words {shares(same)}", {"moved": moved, "without the turn": same[2]}


@cache
def rivals():
    """Return the probability that attention, counting, and half of each give to each held-out token."""
    model, encoding, training, held_out = plays()
    p = {
        "attention": token_probabilities(model, held_out),
        "counting": KneserNey(training, 5, len(encoding.tokens))(held_out),
    }
    return p | {"half of each": (p["attention"] + p["counting"]) / 2}


def by_parts(tokens, parts=5):
    """Return bits a token of each rival on so many parts of the held-out text; `tokens` says which count."""
    costs = {name: -np.log2(each) for name, each in rivals().items()}
    cuts = np.array_split(np.arange(len(tokens)), parts)
    return {name: np.array([cost[cut][tokens[cut]].mean() for cut in cuts]) for name, cost in costs.items()}


def mixture():
    model, _, training, held_out = plays()
    counting = rivals()["counting"]
    others = rivals()["attention"], token_probabilities(model, held_out, 5), ruled(training, held_out)
    costs = [-np.log2(each) for each in (counting, *((counting + other) / 2 for other in others))]
    parts = [[part.mean() for part in np.array_split(cost, 5)] for cost in costs]
    gain, near, control = (np.subtract(parts[0], part) for part in parts[1:])
    return f"gains {many(gain)}, from further back {many(gain - near)}, of the rule {many(control)}", {
        "gain": gain,
        "gain from further back": gain - near,
        "gain of the rule": control,
    }


def ruled(training, test, most=3, extra=32, vocabulary=768):
    """Return what chapter 16's rule that counts gives to each token but the first, from up to so many before it."""
    p = np.full(len(test), 1 / vocabulary)
    for n in range(most + 1):
        runs = Counter(zip(*(training[i : len(training) - n + i].tolist() for i in range(n + 1))))
        before = Counter()
        for run, count in runs.items():
            before[run[:-1]] += count
        for i in range(n, len(test)):
            run = tuple(test[i - n : i + 1].tolist())
            p[i] = (runs[run] + extra * p[i]) / (before[run[:-1]] + extra)
    return p[1:]


def seen_runs():
    training, held_out = plays()[2:]
    met = Counter(zip(training.tolist(), training[1:].tolist()))
    often = np.array([-1, *(met[pair] for pair in zip(held_out[:-2].tolist(), held_out[1:-1].tolist()))])
    lead = []
    for low, high in ((0, 1), (1, 2), (2, 10), (10, 100), (100, np.inf)):
        bits = by_parts((low <= often) & (often < high), 2)
        lead.append(bits["attention"] - bits["counting"])
    return f"attention costs more by {'; '.join(map(many, lead))}", {
        "never or once": lead[:2],
        "2 to 99 times": lead[2:4],
        "at 100 times or more": lead[4],
    }


def counted_bits(counts, text, most=6, extra=32):
    """Return the bits a letter of chapter 16's rule that counts, from runs of up to so many letters and one more."""
    places = np.arange(most, len(text))
    p = 1 / 256
    for n in range(most + 1):
        before = np.array([counts[text[i - n : i]] for i in places])
        p = (np.array([counts[text[i - n : i + 1]] for i in places]) + extra * p) / (before + extra)
    return -np.log2(p).mean()


def tie():
    model, encoding, _, _ = plays()
    training, held_out = load_plays()
    counts, found = Counter(), []
    for n in range(8):
        counts.update(training[i : i + n] for i in range(len(training) - 7))
    for text in (held_out[: len(held_out) // 2], held_out[len(held_out) // 2 :]):
        found += [bits_per_byte(model, encoding.encode(text), encoding), counted_bits(counts, text)]
    return f"attention and counting {many(found)}", {"apart": [abs(found[0] - found[1]), abs(found[2] - found[3])]}


def loops(rows):
    """Return how many texts say some eight tokens twice."""
    return sum(len({tuple(row[i : i + 8]) for i in range(len(row) - 7)}) < len(row) - 7 for row in rows.tolist())


@cache
def beginnings(count=500):
    """Return so many beginnings of 16 tokens from the training text, which is longer than what is held out."""
    ids = plays()[2]
    return ids[np.random.default_rng(SEEDS[0]).integers(len(ids) - 16, size=count)[:, None] + np.arange(16)]


def greedy_loops():
    model = plays()[0]
    greedy = loops(generate(model, beginnings(), 60, window=64)[:, 16:])
    rng = np.random.default_rng(SEEDS[0])
    control = loops(generate(model, beginnings(), 60, temperature=1, rng=rng, window=64)[:, 16:])
    return f"{greedy}, control {control}, of 500", {"greedy": greedy / 500, "T = 1": control / 500}


def beams():
    model, rows = plays()[0], beginnings()[:100]
    found, rivals = np.array([beam_text(model, row, 48)[0][0] for row in rows]), generate(model, rows, 48)

    def likelihood(texts):
        logarithms = log_softmax(model(texts)[:, 15:-1])
        return np.take_along_axis(logarithms, texts[:, 16:, None], axis=-1).sum(axis=(1, 2))

    likelier = np.sum(likelihood(found) > likelihood(rivals))
    return f"likelier in {likelier}, loops in {loops(found[:, 16:])}, of 100", {
        "likelier": likelier,
        "loops": loops(found[:, 16:]),
    }


def cuts():
    model, encoding, _, _ = plays()
    known, found = set(re.findall(r"\w+", load_plays()[0])), []
    for how in ({"temperature": 1}, {"temperature": 1, "top_k": 40}, {"temperature": 0.5}):
        rows = generate(model, beginnings(), 60, rng=np.random.default_rng(SEEDS[0]), window=64, **how)[:, 16:]
        words = [word in known for row in rows for word in re.findall(r"\w+", encoding.decode(row))[1:-1]]
        found.append(1 - np.mean(words))
    return shares(found), {"new words": found[0], "saved by the cut": found[0] - found[1], "at T = 0.5": found[2]}


def too_long():
    model, encoding, training, _ = plays()
    rows = training[: 96 * 256].reshape(96, 256)
    sizes = np.array([len(token) for token in encoding.tokens])[rows[:, 1:]]

    def costs(logits):
        chosen = -np.take_along_axis(log_softmax(logits[:, :-1]), rows[:, 1:, None], axis=-1)[..., 0] / np.log(2)
        return [chosen[:, a:z].sum() / sizes[:, a:z].sum() for a, z in ((31, 63), (128, 255))]

    whole, near = costs(model(rows)), costs(decode_step(model, KeyValueCache(model, 256, (96,), 64), rows))
    return f"all: {many(whole)}, the last 64: {many(near)}", {
        "rise": whole[1] - whole[0],
        "gain of the window": whole[1] - near[1],
    }


def known_words(rows):
    """Return which share of the words of written texts stands in the plays that were learned from."""
    known = set(re.findall(r"\w+", load_plays()[0]))
    return np.mean([w in known for row in rows for w in re.findall(r"\w+", plays()[1].decode(row))[1:-1]])


def penalty():
    model, begun = plays()[0], beginnings()
    found = [
        generate(model, begun, 60, rng=np.random.default_rng(SEEDS[0]), window=64, **how)[:, 16:]
        for how in ({"penalty": 0.5}, {"temperature": 1})
    ]
    words, looped = [known_words(rows) for rows in found], loops(found[0])
    return f"{looped} of 500 loop; known {shares(words)}", {
        "loops": looped / 500,
        "known": words[0],
        "known where drawn": words[1],
    }


def held(model, ids, pairs, most=63):
    """Return the logits of texts (m, n) where keys further than `most` back are turned, in some pairs, as if nearer."""
    n, decoder = np.arange(ids.shape[-1]), model.params["decoder"]
    x, some = model.params["embedding"][ids] * 8, np.repeat(np.isin(range(8), pairs), 2)
    for number in range(1, 4):
        one, wide = decoder[number]["attention"], decoder[number]["feed_forward"]
        parts = (normalise(x, one) @ one[name] for name in ("W_Q", "W_K", "W_V"))
        q, k, v = (np.moveaxis(part.reshape(*ids.shape, 4, 16), -2, 1) for part in parts)
        asked, near = rotary(q, n), rotary(k, n).swapaxes(-1, -2)
        moved = (rotary(q, 0 * n + most) * some) @ k.swapaxes(-1, -2) - (asked * some) @ near
        scores = (asked @ near + np.where(n[:, None] - n > most, moved, 0)) / 4
        heads = softmax(np.where(n[:, None] >= n, scores, -np.inf)) @ v
        x = x + np.moveaxis(heads, 1, -2).reshape(x.shape) @ one["W_O"]
        x = x + gelu(normalise(x, wide) @ wide["W_1"] + wide["b_1"]) @ wide["W_2"] + wide["b_2"]
    return normalise(x, decoder["norm"]) @ model.params["embedding"].T


def fourth_pair():
    model, encoding, training, _ = plays()
    rows = training[: 26 * 15_000].reshape(26, 15_000)[:, :256]
    sizes = np.array([len(token) for token in encoding.tokens])[rows[:, 128:]]
    costs = []
    for pairs in ([], [3], [0, 1, 2, 4, 5, 6, 7]):
        logs = log_softmax(held(model, rows, pairs)[:, 127:-1])
        costs.append(-np.take_along_axis(logs, rows[:, 128:, None], -1).sum() / np.log(2) / sizes.sum())
    return f"none, the fourth, the others held: {many(costs)}", {
        "the fourth saves": costs[0] - costs[1],
        "the others save": costs[0] - costs[2],
    }


@cache
def copier(seed, length=None):
    """Return chapter 17's model from another start, and the tokens that were right on the way; or of one length."""
    sizes = {"hidden": 1, "positions": "rotary", "dtype": np.float64}
    model = LanguageModel(64, d=64, heads=1, layers=2, rng=seed, **sizes)
    if length:
        drawn = partial(copies, batch=32, shortest=length, longest=length, places=2 * length)
        train(model, drawn, 250, rate=3e-3, seed=seed, checkpoint="findings-one-length")
        return model, None
    test, answers = copies(np.random.default_rng(seed), 100)

    def measure(model):
        return {"right": (model(*test).argmax(-1) == answers)[answers >= 0].mean()}

    done = train(
        model,
        partial(copies, batch=32),
        700,
        rate=3e-3,
        seed=seed,
        measure=measure,
        every=50,
        checkpoint="findings-copies",
    )
    return model, np.array(done.found["right"])


def jump():
    found = [np.diff(copier(seed)[1]).max() for seed in SEEDS[:2]]
    ends = [copier(seed)[1][-1] for seed in SEEDS[:2]]
    return f"largest rise {shares(found, 0)}, in the end {shares(ends, 0)}", {"largest rise": found, "in the end": ends}


def two_heads():
    found = []
    for seed in SEEDS[:2]:
        (twice,), _ = copies(np.random.default_rng(seed), 500, shortest=24, longest=24)
        run = opened(copier(seed)[0], twice)
        found.append(
            (
                np.diagonal(run["1 attention weights"], -1, -2, -1).mean(),
                induction_score(run["2 attention weights"], twice)[0],
            )
        )
    before, induction = zip(*found)
    return f"the token before {many(before, '.1f')}, induction {many(induction, '.1f')}", {
        "token before": before,
        "induction": induction,
    }


def copied_with(seed, wire):
    """Return the share of tokens that is right where a wire of layer 2 comes from a run without layer 1's head."""
    model = copier(seed)[0]
    test, answers = copies(np.random.default_rng(seed + 10), 200)

    def run(change=None):
        return opened(model, *test, change)

    without = ablated(run, "1 attention mixed", ...)
    found = patched(run, f"2 attention {wire}", without) if wire else without
    return (found["logits"].argmax(-1) == answers)[answers >= 0].mean()


def keys_need_it():
    found = np.array([[copied_with(seed, wire) for wire in ("queries", "keys", "values")] for seed in SEEDS[:2]])
    return f"queries, keys, values: {'; '.join(shares(row, 0) for row in found)}", {
        "queries and values": found[:, [0, 2]],
        "keys": found[:, 1],
    }


def both_heads():
    found = [copied_with(seed, None) for seed in SEEDS[:2]]
    return shares(found, 0), {"right": found}


def one_length():
    found = []
    for seed, length in ((SEEDS[0], 16), (SEEDS[1], 12)):
        for other in (length, length + 1, length + 4):
            ids, said = copies(np.random.default_rng(seed), 100, other, other, places=2 * other)
            model = copier(seed, length)[0]
            found.append((model(*ids).argmax(-1) == said)[said >= 0].mean())
    return f"at its own length, one more, four more: {shares(found, 0)}", {
        "its own length": [found[0], found[3]],
        "another": [*found[1:3], *found[4:]],
    }


def rounded(*way):
    """Return the writer's bits per byte with its matrices rounded, on the second 10,000 held-out tokens."""
    writer, encoding, _, held_out = plays()
    model = new_writer()
    model.flat[:] = writer.flat
    stack = [model.params]
    while stack:
        for part in stack.pop().values():
            if isinstance(part, dict):
                stack.append(part)
            elif part.ndim == 2 and way:
                rows = part.reshape(1, -1) if way[-1] == "one" else part
                part[:] = dequantise(*quantise(rows, *(way[:1] if way[-1] == "one" else way))).reshape(part.shape)
    return bits_per_byte(model, held_out[10_000:20_000].tolist(), encoding)


def paired(keep, drop=None):
    """Return the writer's bits per byte on the second 10,000 held-out tokens, with the heads of each pair changed.

    Both get the keys and values of head `keep`, or their mean where it is None; or head `drop` has values of 0.
    """
    writer, encoding, _, held_out = plays()
    model = new_writer()
    model.flat[:] = writer.flat
    for part in (layer.get("attention", {}) for layer in model.params["decoder"].values()):
        for name in {"W_K", "W_V"} & {*part}:
            pairs = part[name].reshape(64, 2, 2, 16)
            if drop is None:
                pairs[:] = pairs.mean(axis=2, keepdims=True) if keep is None else pairs[:, :, [keep]]
            elif name == "W_V":
                pairs[:, :, drop] = 0
    return bits_per_byte(model, held_out[10_000:20_000].tolist(), encoding)


def borrowed_keys():
    mean, found = paired(None), [(paired(keep), paired(keep, 1 - keep)) for keep in (0, 1)]
    told = "; ".join(f"head {keep}'s {two[0]:.2f}, silence {two[1]:.2f}" for keep, two in enumerate(found))
    return f"mean {mean:.2f}; {told}", {
        "more than silence": [*(borrowed - silent for borrowed, silent in found), mean - max(two[1] for two in found)]
    }


def half_bits(texts, most=None, last=None):
    """Return the writer's bits a token for the second half of texts; each head keeps so many best or last keys."""
    writer, *_ = plays()
    n = texts.shape[1] - 1

    def note(name, scores):
        if not name.endswith("scores") or most is last is None:
            return scores
        scores = np.where(visible(n, n, last), scores, -np.inf)
        least = np.sort(scores)[..., -most, None] if most else -np.inf
        return np.where(scores >= least, scores, -np.inf)

    logs = log_softmax(run_decoder(writer, texts[:, :-1], note, keep=visible(n, n)).astype(float))[:, n // 2 :]
    return -np.take_along_axis(logs, texts[:, n // 2 + 1 :, None], axis=-1).mean() / np.log(2)


def best_keys():
    _, _, ids, held_out = plays()
    found = []
    for part in (np.array(ids)[:12_800], np.array(held_out)[-12_800:]):
        texts = part.reshape(200, 64)
        found.append([half_bits(texts), half_bits(texts, most=8), half_bits(texts, last=8)])
    every, best, last = np.transpose(found)
    return f"all {many(every)}, best {many(best)}, last {many(last)}", {
        "best loses": best - every,
        "last loses more": last - best,
    }


def eight_bits():
    found = rounded(), rounded(8)
    return f"{found[0]:.3f} and {found[1]:.3f} bits per byte", {"loss": abs(found[0] - found[1])}


def four_bits():
    whole, one, row = rounded(), rounded(4, "one"), rounded(4)
    return f"{whole:.3f}, one scale {one:.3f}, by row {row:.3f}", {
        "one scale loses": one - whole,
        "share left by rows": (row - whole) / (one - whole),
    }
