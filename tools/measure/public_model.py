"""Ask a published chat model what chapter 21 counts, a hundred cases of each kind, and keep what it says.

Each part of PARTS is a function of the model and its encoding; what it returns stands under its name in the file that
`companion.evidence.asked.load_asked` reads, which is written after each, and its answers, whole, in the one that
`load_answers` reads.  NAMES="pairs sentences" renews these alone.
"""

import bz2
import json
import os
import re
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path

import gensim
import numpy as np

from bookbuild.base.files import replace_file
from companion.evidence.asked import (
    ANIMALS,
    ANSWERS,
    CAPITALS,
    FILE,
    FRENCH,
    OPPOSITES,
    OTHER_WAYS,
    PLACES,
    PROPERTIES,
    QUESTION,
    ROUNDED_WAYS,
    SENTENCE,
    TOKENS,
    WAYS,
    counted_part,
    is_right,
    judged,
    wanted_of,
)
from minitransformer.language_model import KeyValueCache, decode_step, generate, load_plays
from minitransformer.positions import rotary
from minitransformer.public_model import dequantise, dequantised, load_smollm2, quantise, read_gguf
from minitransformer.public_model.smollm2 import fetch_smollm2
from minitransformer.softmax import log_softmax
from minitransformer.today import Decoder, rotary_halves
from tools.measure import report, rounded, write_report

END, FEW = 2, 16
OPPOSITE = ("The opposite of {} is", OPPOSITES, 5)
FIRSTS = ("", "<|endoftext|>", "<|im_end|>", "\n", ".", " the", "I", " Mozart")
BARE = (QUESTION, "Name the capital of {}.", "I do not know the capital of {}.")


def batches(texts, size=25):
    """Yield texts, each once, in arrays of as many tokens, at most `size` in one: (k, n)."""
    alike = defaultdict(list)
    for text in dict.fromkeys(texts):
        alike[len(text)].append(text)
    for some in alike.values():
        yield from (np.array(some[i : i + size]) for i in range(0, len(some), size))


def answers(model, encoding, prompts, steps):
    """Return what the model goes on with, the likeliest token each time, up to the mark that ends it: (text, met)."""
    said = continued(model, [tuple(encoding.encode(prompt)) for prompt in prompts], steps)
    return [(encoding.decode(new[: new.index(END)] if END in new else new), END in new) for new in said]


def continued(model, texts, steps):
    """Return the new tokens of each text, a list; those that end within FEW steps are not continued any further."""
    found = {}
    for ids in batches(texts, 50):
        rows = generate(model, ids, min(steps, FEW), stop=END)
        found |= {tuple(text): row[len(text) :].tolist() for text, row in zip(ids.tolist(), rows)}
    if steps > FEW:
        going = [text for text, new in found.items() if END not in new]
        longer = continued(model, [text + tuple(found[text]) for text in going], steps - FEW)
        found |= {text: found[text] + new for text, new in zip(going, longer)}
    return [found[text] for text in texts]


def capitals_by(model, encoding, ways):
    """Return way -> what the model answers, how many are right, and how many name another country's capital."""
    found = {}
    for way in ways:
        told = answers(model, encoding, [WAYS[way].format(country) for country in CAPITALS], TOKENS[way])
        said = dict(zip(CAPITALS, (text for text, _ in told)))
        found[way] = judged_capitals(said, way) | {"ended": sum(ended for _, ended in told), "said": said}
        print(way, {name: value for name, value in found[way].items() if name != "said"}, flush=True)
    return found


def judged_capitals(said, way):
    """Return what becomes of the answers to one way of asking, country -> text, when they are judged."""
    texts = {country: counted_part(text, way) for country, text in said.items()}
    right = {country: is_right(text, CAPITALS[country]) for country, text in texts.items()}
    others = {
        country: any(is_right(text, wanted) for name, wanted in CAPITALS.items() if name != country)
        for country, text in texts.items()
    }
    return {
        "right": sum(right.values()),
        "another": sum(others[country] and not right[country] for country in said),
        "empty": sum(not text.strip() for text in texts.values()),
        "known": "".join(str(int(one)) for one in right.values()),
    }


def matrices(model):
    """Return the matrices of the layers, of which a GGUF file has rounded all: 210 here."""
    parts = (layer[part] for layer in [model.params["decoder"][n + 1] for n in range(model.layers)] for part in layer)
    return [matrix for part in parts for name, matrix in part.items() if name.startswith("W_")]


ROUNDINGS = ("8 bits", "4 bits", "noise", "3 bits", "2 bits")  # of the 210 matrices, as they are in the file, anew
OFF = 0.1017  # the change that 4 bits make, as a share of a matrix: the noise is as large


def rounding_to(name, seed=0):
    """Return the function of a matrix that one of ROUNDINGS means; `seed` is that of the noise, which is Gaussian."""
    if name == "noise":
        rng = np.random.default_rng(seed)
        return lambda matrix: matrix + rng.normal(0, OFF * np.sqrt((matrix**2).mean()), matrix.shape).astype("f4")
    return lambda matrix: dequantise(*quantise(matrix.T, int(name[0]), 32)).T


def round_all(model, rounding):
    """Round the matrices of a model in place; return the mean size of the change, as a share of the matrix's own."""
    off = []
    for matrix in matrices(model):
        new = rounding(matrix)
        off.append(float(np.sqrt(((new - matrix) ** 2).mean() / (matrix**2).mean())))
        matrix[:] = new
    return float(np.mean(off))


def news():
    """Return the news stories that come with gensim, one text."""
    return Path(gensim.__file__).parent.joinpath("test", "test_data", "lee_background.cor").read_text(encoding="utf-8")


def windows_of(encoding, length, count):
    """Return so many windows of the held-out plays and as many of the news: (2 count, length)."""
    texts = (load_plays()[1][:60_000], news()[:60_000])
    return np.concatenate([np.array(encoding.encode(t))[: length * count].reshape(count, length) for t in texts])


def bits_of(model, windows, encoding):
    """Return how many bits a byte costs in each window (k, n), all but its first token: (k,)."""
    found = []
    for ids in windows.reshape(-1, 4, windows.shape[1]):
        logs = log_softmax(model(ids)[:, :-1])
        bits = -np.take_along_axis(logs, ids[:, 1:, None], -1)[..., 0].sum(-1) / np.log(2)
        found += [one / len(encoding.decode_bytes(row[1:])) for one, row in zip(bits, ids)]
    return np.array(found)


def compared(bits, before):
    """Return bits per byte of plays and of news, and in how many windows they are more than before."""
    plays, stories = np.split(bits, 2)
    return {"plays": plays.mean(), "news": stories.mean(), "worse": int((bits > before).sum())}


def capitals(model, encoding):
    """Return the answers by weights and by way of asking."""
    found = {"as it is": capitals_by(model, encoding, WAYS)}
    for name in ROUNDINGS[:3]:
        model, _ = load_smollm2()
        round_all(model, rounding_to(name))
        print(name)
        found[name] = capitals_by(model, encoding, ROUNDED_WAYS)
    return found


def draws(model, encoding):
    """Return, for other draws of the noise, what the sentence that is begun then names."""
    found = []
    for seed in range(1, 4):
        model, _ = load_smollm2()
        round_all(model, rounding_to("noise", seed))
        said = [text for text, _ in answers(model, encoding, [WAYS["begun"].format(one) for one in CAPITALS], 8)]
        right = sum(map(is_right, said, CAPITALS.values()))
        found.append({"right": right, "located": sum("located" in text for text in said)})
        print(found[-1], flush=True)
    return found


def firsts(model, encoding):
    """Return how many capitals are named where a token stands before the sentence that is begun: token -> count."""
    found = {}
    for before in FIRSTS:
        told = answers(model, encoding, [before + WAYS["begun"].format(country) for country in CAPITALS], 8)
        found[before] = sum(is_right(text, wanted) for (text, _), wanted in zip(told, CAPITALS.values()))
    return found


def rounding(model, encoding):
    """Return, for each rounding, how far it moves the weights, and what a byte costs then in a hundred windows."""
    windows = windows_of(encoding, 64, 50)
    before = bits_of(model, windows, encoding)
    found = {"as it is": {"off": 0.0} | compared(before, before)}
    for name in ROUNDINGS:
        model, _ = load_smollm2()
        found[name] = {"off": round_all(model, rounding_to(name))} | compared(bits_of(model, windows, encoding), before)
        print(name, found[name], flush=True)
    return found


def like(model, rotate):
    """Return a model with the same weights that turns its queries and keys otherwise."""
    other = Decoder(model.shapes, model.heads, rotate=rotate, eps=model.eps)
    other.flat[:] = model.flat
    return other


def in_files_order(model):
    """Return a model whose W_Q and W_K have their columns as the file has them, for neighbours; it turns halves."""
    other, arrays = like(model, model.rotate), read_gguf(fetch_smollm2()).arrays
    for layer in range(model.layers):
        part = other.params["decoder"][layer + 1]["attention"]
        for name, matrix in (("q", part["W_Q"]), ("k", part["W_K"])):
            matrix[:] = dequantised(arrays[f"blk.{layer}.attn_{name}.weight"]).T
    return other


def named(model, encoding, template, wanted, steps):
    """Return which of some things, each with what is right, a model names behind a template: (k,) of bool."""
    told = answers(model, encoding, [template.format(asked) for asked in wanted], steps)
    return np.array([is_right(text, right) for (text, _), right in zip(told, wanted.values())])


def readings(model):
    """Yield each way of reading the file's rotary pairs, the right one first: its name, and the model."""
    base = model.rotate.keywords["base"]
    yield "right", model
    yield "neighbours turned", like(model, partial(rotary, base=base))
    yield "columns not ordered", in_files_order(model)
    yield "no turn", like(model, None)
    yield "base 10,000", like(model, rotary_halves)


def pairs(model, encoding):
    """Return what wrong pairs, a wrong base and no turn at all do to what is named, and to bits."""
    windows, found, right, bits = windows_of(encoding, 64, 50), {}, None, None
    for name, other in readings(model):
        now = bits_of(other, windows, encoding)
        capitals = named(other, encoding, WAYS["begun"], CAPITALS, TOKENS["begun"])
        right, bits = (capitals, now) if bits is None else (right, bits)
        found[name] = {
            "capitals": int(capitals.sum()),
            "the same": int((capitals & right).sum()),
            "opposites": int(named(other, encoding, *OPPOSITE).sum()),
        } | compared(now, bits)
        print(name, found[name], flush=True)
    return found


WORDS = "apple river stone chair music green paper window seven garden bottle winter yellow doctor silver mountain"
WORDS = (WORDS + " coffee basket thunder pencil kitchen island market ladder orange").split()


def questions(encoding):
    """Return what is asked in each task of OTHER_WAYS, a hundred of each."""
    rng = np.random.default_rng(0)
    twos = [f"{a} + {b}" for a, b in rng.choice(8100, 100, replace=False)[:, None] // [90, 1] % 90 + 10]
    words = dict.fromkeys(word for word in [*FRENCH, *OPPOSITES] if len(word) > 3)
    words = [word for word in words if len(encoding.encode(" " + word)) == 1][:100]
    return {
        "sums of one digit": [f"{a} + {b}" for a in range(10) for b in range(10)],
        "sums of two digits": twos,
        "opposites": [*OPPOSITES],
        "words in French": [*FRENCH],
        "words spelled": words,
        "letters copied": ["-".join(word) for word in words],
        "letters counted": words,
        "apart, counted": [" ".join(word) for word in words],
        "five words said again": [", ".join(rng.permutation(WORDS)[:5]) for _ in range(100)],
    }


def judged_others(said, task, way):
    """Return how many answers of a task, question -> text, are right, and how many would be to the next question."""
    wanted = [wanted_of(task, asked) for asked in said]
    texts = [judged(task, way, text) for text in said.values()]
    right, others = (
        sum(bool(re.search(want, text, re.IGNORECASE)) for want, text in zip(some, texts))
        for some in (wanted, wanted[1:] + wanted[:1])
    )
    return {"right": right, "by chance": others, "always the same": max(Counter(wanted).values()), "of": len(said)}


def others(model, encoding):
    """Return task -> way -> how many of a hundred answers are right, and what rivals of the model would have right."""
    found = {}
    for task, asked in questions(encoding).items():
        found[task] = {}
        for way, (template, steps) in OTHER_WAYS[task].items():
            told = answers(model, encoding, [template.format(one) for one in asked], steps)
            said = dict(zip(asked, (text for text, _ in told)))
            found[task][way] = judged_others(said, task, way) | {"ended": sum(ended for _, ended in told), "said": said}
            print(task, way, {name: value for name, value in found[task][way].items() if name != "said"}, flush=True)
    return found


def talking(model, encoding):
    """Return what a hundred chats come to without a stop, and how many texts without marks are met with silence."""
    prompts = [WAYS["chat"].format(country) for country in CAPITALS]
    said = []
    for ids in batches([tuple(encoding.encode(prompt)) for prompt in prompts], 50):
        said += map(encoding.decode, generate(model, ids, 64)[:, ids.shape[1] :])
    began = [text.partition("<|im_end|>")[2] for text in said]
    found = {
        "ended": sum("<|im_end|>" in text for text in said),
        "another turn": sum("<|im_start|>" in text for text in began),
        "a turn of the user": sum("<|im_start|>user" in text for text in began),
    }
    empty = {bare: sum(not text for text, _ in answers(model, encoding, texts, 1)) for bare, texts in bare_texts()}
    print(found, empty, flush=True)
    return {"no stop": found, "empty": empty}


def bare_texts():
    """Yield each form of BARE, and its hundred texts."""
    for bare in BARE:
        yield bare, [bare.format(country) for country in CAPITALS]


def last_logits(model, ids):
    """Return the logits after texts of one length (k, n), whose common beginning is read once: (k, vocabulary)."""
    alike = min(int((ids == ids[0]).all(axis=0).cumprod().sum()), ids.shape[1] - 1)
    cache = KeyValueCache(model, ids.shape[1], (1,))
    if alike:
        decode_step(model, cache, ids[:1, :alike], last=True)
    cache.reorder([0] * len(ids))
    cache.batch = (len(ids),)
    return decode_step(model, cache, ids[:, alike:], last=True)[:, -1]


def noun_gap(model, encoding, prompts, nouns):
    """Return by how much, in logits, each prompt is likelier to go on with the first of its two nouns."""
    texts, known = [tuple(encoding.encode(prompt)) for prompt in prompts], {}
    for ids in batches(texts):
        logits = last_logits(model, ids)
        known |= zip(map(tuple, ids.tolist()), logits)
    both = [[known[text][encoding.encode(f" {noun}")[0]] for noun in two] for text, two in zip(texts, nouns)]
    return np.array([first - second for first, second in both])


def tail_gap(model, encoding, first, second):
    """Return by how much the tails of some texts, (before, tail), are likelier than those of others."""
    places = {tuple(encoding.encode(before + tail)): len(encoding.encode(before)) for before, tail in [*first, *second]}
    known = {}
    for ids in batches(places):
        logs = log_softmax(model(ids)[:, :-1])
        each = np.take_along_axis(logs, ids[:, 1:, None], -1)[..., 0]
        known |= {text: float(one[places[text] - 1 :].sum()) for text, one in zip(map(tuple, ids.tolist()), each)}
    both = [[known[tuple(encoding.encode(before + tail))] for before, tail in texts] for texts in (first, second)]
    return np.subtract(*both)


FOUR = (
    "The cup didn't fit in the bag because it was too big. What was too big? The cup.\n"
    "The boy couldn't see over the wall because it was too high. What was too high? The wall.\n"
    "The man didn't lift the stone because it was too heavy. What was too heavy? The stone.\n"
    "The teacher didn't read the letter because she was too busy. Who was too busy? The teacher.\n"
)
NEXT_NOUN = {  # ways of asking what _it_ means, in which the noun comes next: a text, of the sentence and its words
    "it means the": '{s} In this sentence, the word "it" means the',
    "What was too …?": "{s} What was too {c}? The",
    "four examples": FOUR + "{s} What was too {c}? The",
}
TAILS = {"noun for it": ("{s}", " {n} was too {c}."), "after the noun": ("{s} {n}", " was too {c}.")}


def sentences(model, encoding):
    """Return way of asking what _it_ means -> whole sentence or a rival -> how many of a hundred are right."""
    cases = [(a, b, c) for a in ANIMALS for b in PLACES for c in PROPERTIES]
    cut = [f"The {a} didn't cross the {b}." for a, b, _ in cases]
    whole = [SENTENCE.format(*case) for case in cases]
    found = {}
    for way, text in NEXT_NOUN.items():
        alone = [f"It was too {c}." if way == "it means the" else "" for _, _, c in cases]
        found[way] = {}
        for form, before in {"whole": whole, "no reason": cut, "no sentence": alone}.items():
            prompts = [text.format(s=s, c=c) for s, (_, _, c) in zip(before, cases)]
            prompts = [prompt.replace("\n ", "\n").lstrip() for prompt in prompts]
            found[way][form] = judged_gaps(noun_gap(model, encoding, prompts, [case[:2] for case in cases]))
        print(way, found[way], flush=True)
    replaced = {
        "whole": [f"The {a} didn't cross the {b} because the" for a, b, _ in cases],
        "no reason": [f"{one} The" for one in cut],
        "no sentence": ["The"] * len(cases),
    }
    for way, (head, tail) in TAILS.items():
        found[way] = {}
        for form, before in replaced.items():
            both = [
                [(head.format(s=s, n=case[i]), tail.format(n=case[i], c=case[2])) for s, case in zip(before, cases)]
                for i in (0, 1)
            ]
            found[way][form] = judged_gaps(tail_gap(model, encoding, *both))
        print(way, found[way], flush=True)
    return found


def judged_gaps(gap):
    """Return how many gaps between animal and place are right, and how many twins.

    The four gaps of a pair are those of PROPERTIES; twins are two of its sentences that differ in what _it_ means, and
    are right where both are.
    """
    by_pair = gap.reshape(-1, 4)
    means = np.array([*PROPERTIES.values()])
    right = (by_pair > 0) == (means == 0)
    return {
        "right": int(right.sum()),
        "twins": int((right[:, means == 0] & right[:, means == 1]).sum()),
    }


PARTS = (capitals, others, sentences, pairs, rounding, draws, firsts, talking)


def apart(found):
    """Return a part without its answers, and these alone, by task or rounding: what was asked, and way -> texts."""
    counts = {
        one: {way: {n: v for n, v in row.items() if n != "said"} for way, row in ways.items()}
        for one, ways in found.items()
    }
    said = {
        one: {"asked": [*next(iter(ways.values()))["said"]]}
        | {way: [*row["said"].values()] for way, row in ways.items()}
        for one, ways in found.items()
    }
    return counts, said


def main():
    """Measure each part that is asked for, and write the files after each."""
    wanted = os.environ.get("NAMES", "").split()
    for part in (part for part in PARTS if not wanted or part.__name__ in wanted):
        new = part(*load_smollm2())
        if part in (capitals, others):
            new, said = apart(new)
            kept = json.loads(bz2.decompress(ANSWERS.read_bytes())) if ANSWERS.is_file() else {}
            text = json.dumps(kept | {part.__name__: said}, ensure_ascii=False)
            replace_file(ANSWERS, bz2.compress(text.encode()))
        kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
        found = kept | {part.__name__: rounded(new)}
        parts = {one.__name__: found[one.__name__] for one in PARTS if one.__name__ in found}
        write_report(FILE, report("public-model", "What chapter 21 counts of SmolLM2-135M-Instruct.", **parts))
