"""Ask a published chat model what chapter 20 counts, a hundred cases of each kind, and keep what it says.

Each part of PARTS is a function of the model and its encoding; what it returns stands under its name in the file that
`companion.evidence.asked.load_asked` reads, which is written after each.  NAMES="pairs sentences" renews these alone.
"""

import json
import os
import re
from collections import defaultdict
from functools import partial
from pathlib import Path

import gensim
import numpy as np

from companion.evidence.asked import (
    ANIMALS,
    CAPITALS,
    CHAT,
    FILE,
    FRENCH,
    OPPOSITES,
    OTHER_WAYS,
    PLACES,
    PROPERTIES,
    SENTENCE,
    WAYS,
    is_right,
)
from minitransformer.language_model import generate, load_plays
from minitransformer.online_attention import dequantise, quantise
from minitransformer.positions import rotary
from minitransformer.public_model import dequantised, load_smollm2, read_gguf
from minitransformer.public_model.smollm2 import fetch_smollm2
from minitransformer.softmax import log_softmax
from minitransformer.today import Decoder, rotary_halves
from tools.measure import report, rounded, write_report

END, BATCH = 2, 50
OPPOSITE = ("The opposite of {} is", OPPOSITES, 5)
FIRSTS = ("", "<|endoftext|>", "<|im_end|>", "\n", ".", " the", "I", " Mozart")
STEPS = {"a bare question": 16, "User and Assistant": 16, "three examples": 6}  # the others: 8 begun, 16 in a template


def answers(model, encoding, prompts, steps):
    """Return what the model goes on with, the likeliest token each time, up to the mark that ends it: (text, met)."""
    ids, found = [encoding.encode(prompt) for prompt in prompts], [None] * len(prompts)
    alike = defaultdict(list)
    for place, one in enumerate(ids):
        alike[len(one)].append(place)
    batches = [places[i : i + BATCH] for places in alike.values() for i in range(0, len(places), BATCH)]
    for places in batches:
        rows = generate(model, np.array([ids[place] for place in places]), steps, stop=END)
        for place, row in zip(places, rows):
            said = row[len(ids[place]) :].tolist()
            ended = END in said
            found[place] = encoding.decode(said[: said.index(END)] if ended else said), ended
    return found


def said_first(answer, country):
    """Return the part of an answer that names a capital, for the file: its first line, without the question's words."""
    line = answer.strip().partition("\n")[0].replace("\ufffd", "")  # where it ends within a letter
    line = re.sub(rf"^The capital of {country} is (?:the city of )?", "", line)
    return line if len(line) <= 24 else line[:23] + "…"


def capitals_by(model, encoding, ways):
    """Return way -> what the model answers, how many are right, and how many name the next country's capital."""
    found, wanted = {}, [*CAPITALS.values()]
    for way in ways:
        steps = STEPS.get(way, 16 if "im_start" in WAYS[way] else 8)
        told = answers(model, encoding, [WAYS[way].format(country) for country in CAPITALS], steps)
        texts = [text.partition("\n")[0] if way == "three examples" else text for text, _ in told]
        right = [is_right(text, want) for text, want in zip(texts, wanted)]
        others = [is_right(text, want) for text, want in zip(texts, wanted[1:] + wanted[:1])]
        found[way] = {
            "right": sum(right),
            "by chance": sum(others),
            "empty": sum(not text.strip() for text in texts),
            "ended": sum(ended for _, ended in told),
            "known": "".join(str(int(one)) for one in right),
            "said": [said_first(text, country) for text, country in zip(texts, CAPITALS)],
        }
        print(
            way,
            {name: value for name, value in found[way].items() if name != "said"},
            found[way]["said"][:6],
            flush=True,
        )
    return found


def matrices(model):
    """Return the matrices of the layers, of which a GGUF file has rounded all: 210 here."""
    parts = (layer[part] for layer in [model.params["decoder"][n + 1] for n in range(model.layers)] for part in layer)
    return [matrix for part in parts for name, matrix in part.items() if name.startswith("W_")]


def with_least(matrix, bits, group=32):
    """Round a matrix as the file's own kind does: each group of inputs between its least and its largest number."""
    groups = matrix.T.reshape(matrix.shape[1], -1, group)
    least, most = groups.min(-1, keepdims=True), groups.max(-1, keepdims=True)
    scale = (most - least) / (2**bits - 1)
    return (np.rint((groups - least) / np.where(scale == 0, 1, scale)) * scale + least).reshape(matrix.T.shape).T


ROUNDINGS = {  # of the 210 matrices, as they are in the file, anew
    "8 bits": lambda matrix: dequantise(*quantise(matrix.T, 8, 32)).T,
    "4 bits": lambda matrix: dequantise(*quantise(matrix.T, 4, 32)).T,
    "4 bits with a least number": lambda matrix: with_least(matrix.T, 4).T,
    "3 bits": lambda matrix: dequantise(*quantise(matrix.T, 3, 32)).T,
    "2 bits": lambda matrix: dequantise(*quantise(matrix.T, 2, 32)).T,
}


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
    for name in ("8 bits", "4 bits", "3 bits"):
        model, _ = load_smollm2()
        round_all(model, ROUNDINGS[name])
        print(name)
        found[name] = capitals_by(model, encoding, ("begun", "three examples", "chat"))
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
    for name, way in ROUNDINGS.items():
        model, _ = load_smollm2()
        found[name] = {"off": round_all(model, way)} | compared(bits_of(model, windows, encoding), before)
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
    """Return how many of some things, each with what is right, a model names behind a template."""
    told = answers(model, encoding, [template.format(asked) for asked in wanted], steps)
    return sum(is_right(text, right) for (text, _), right in zip(told, wanted.values()))


def readings(model):
    """Yield each way of reading the file's rotary pairs, the right one first: its name, and the model."""
    base = model.rotate.keywords["base"]
    yield "right", model
    yield "the file's order, halves", in_files_order(model)
    yield "the library's order, neighbours", like(model, partial(rotary, base=base))
    yield "no turn", like(model, None)
    yield "base 10,000", like(model, rotary_halves)


def pairs(model, encoding):
    """Return what wrong pairs, a wrong base and no turn at all do to single tokens, to what comes next, and to bits."""
    single = np.random.default_rng(0).choice(model.vocabulary, 200, replace=False)[:, None]
    plays = load_plays()[1]
    begun = (plays[i : i + 200].partition(" ")[2] for i in range(0, 100_000, 1000))
    texts = np.array([encoding.encode(text)[:16] for text in begun])
    windows = windows_of(encoding, 64, 50)
    alone, then, bits = model(single), model(texts).argmax(-1), bits_of(model, windows, encoding)
    found = {}
    for name, other in readings(model):
        same = (other(texts).argmax(-1) == then).sum(0)
        found[name] = {
            "differ": int((np.abs(other(single) - alone).max((1, 2)) > 1e-3).sum()),
            "same": {str(place): int(same[place - 1]) for place in (1, 2, 3, 4, 8, 16)},
            "capitals": named(other, encoding, WAYS["begun"], CAPITALS, 6),
            "opposites": named(other, encoding, *OPPOSITE),
            "said": answers(other, encoding, ["The capital of France is"], 20)[0][0],
        } | compared(bits_of(other, windows, encoding), bits)
        print(name, found[name], flush=True)
    return found


WORDS = "apple river stone chair music green paper window seven garden bottle winter yellow doctor silver mountain"
WORDS = (WORDS + " coffee basket thunder pencil kitchen island market ladder orange").split()


def asked_and_wanted(encoding):
    """Return, for each task of OTHER_WAYS, what is asked and a pattern of what is right: name -> [(asked, wanted)]."""
    rng = np.random.default_rng(0)
    twos = [(int(a), int(b)) for a, b in rng.choice(8100, 100, replace=False)[:, None] // [90, 1] % 90 + 10]
    ones = [(a, b) for a in range(10) for b in range(10)]
    words = dict.fromkeys(word for word in [*FRENCH, *OPPOSITES] if len(word) > 3)
    words = [word for word in words if len(encoding.encode(" " + word)) == 1][:100]
    lists = [", ".join(rng.permutation(WORDS)[:5]) for _ in range(100)]
    names = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    letters = {word: rf"(?<!\w){'[^a-z]+'.join(word)}(?!\w)" for word in words}
    counts = {word: rf"\b(?:{len(word)}|{names[len(word)]})\b" for word in words}
    whole = {word: "|".join(rf"\b{re.escape(one)}\b" for one in want.split("|")) for word, want in FRENCH.items()}
    opposite = {word: "|".join(rf"\b{one}\b" for one in want.split("|")) for word, want in OPPOSITES.items()}
    sums = lambda chosen: [(f"{a} + {b}", rf"\b{a + b}\b") for a, b in chosen]
    return {
        "sums of one digit": sums(ones),
        "sums of two digits": sums(twos),
        "opposites": [*opposite.items()],
        "words in French": [*whole.items()],
        "words spelled": [*letters.items()],
        "letters copied": [("-".join(word), pattern) for word, pattern in letters.items()],
        "letters of a word counted": [*counts.items()],
        "letters apart counted": [(" ".join(word), pattern) for word, pattern in counts.items()],
        "five words said again": [(one, re.escape(one)) for one in lists],
    }


def judged(task, way, text):
    """Return the part of an answer that counts: of sums the first number, in a chat the last; else its first line."""
    if task.startswith("sums"):
        numbers = re.findall(r"\d+", text.replace(",", ""))
        return numbers[-1 if way == "chat" else 0] if numbers else ""
    return text.strip() if way == "chat" else text.strip().partition("\n")[0]


def others(model, encoding):
    """Return task -> way -> how many of a hundred answers are right, and how many would be to the next question."""
    found = {}
    for task, cases in asked_and_wanted(encoding).items():
        found[task] = {}
        for way, (template, steps) in OTHER_WAYS[task].items():
            told = answers(model, encoding, [template.format(asked) for asked, _ in cases], steps)
            texts = [judged(task, way, text) for text, _ in told]
            hits = [
                [bool(re.search(want, text, re.IGNORECASE)) for text, (_, want) in zip(texts, some)]
                for some in (cases, cases[1:] + cases[:1])
            ]
            examples = {cases[i][0]: texts[i][:60] for i in (3, 33, 73)}
            found[task][way] = {"right": sum(hits[0]), "by chance": sum(hits[1]), "of": len(cases), "such as": examples}
            print(task, way, found[task][way], flush=True)
    return found


def talking(model, encoding):
    """Return what a hundred chats come to without a stop: how many go on, and write a turn for the user themselves."""
    prompts = [WAYS["chat"].format(country) for country in CAPITALS]
    ids = [encoding.encode(prompt) for prompt in prompts]
    alike = defaultdict(list)
    for one in ids:
        alike[len(one)].append(one)
    said = []
    for batch in alike.values():
        rows = generate(model, np.array(batch), 64)
        said += [encoding.decode(row[len(batch[0]) :]) for row in rows]
    began = [text.partition("<|im_end|>")[2] for text in said]
    found = {
        "ended": sum("<|im_end|>" in text for text in said),
        "another turn": sum("<|im_start|>" in text for text in began),
        "a turn of the user": sum("<|im_start|>user" in text for text in began),
        "such as": said[33],
    }
    print(found, flush=True)
    return {"no stop": found}


def last_logs(model, ids):
    """Return the log probabilities of the token behind each of some texts of one length: (k, n) -> (k, vocabulary)."""
    return np.concatenate([log_softmax(model(some)[:, -1]) for some in np.array_split(ids, -(-len(ids) // 8))])


def noun_gap(model, encoding, prompts, nouns):
    """Return by how much, in log probability, each prompt is likelier to go on with the first of its two nouns."""
    found, alike, known = np.zeros(len(prompts)), defaultdict(list), {}
    for prompt in dict.fromkeys(prompts):
        alike[len(encoding.encode(prompt))].append(prompt)
    for some in alike.values():
        known |= zip(some, last_logs(model, np.array([encoding.encode(prompt) for prompt in some])))
    for place, (prompt, two) in enumerate(zip(prompts, nouns)):
        one, other = (known[prompt][encoding.encode(" " + noun)[0]] for noun in two)
        found[place] = one - other
    return found


def tail_gap(model, encoding, first, second):
    """Return by how much the tails of some texts, (before, tail), are likelier than those of others."""

    def tail(pair):
        before, ids = len(encoding.encode(pair[0])), np.array(encoding.encode(pair[0] + pair[1]))
        logs = log_softmax(model(ids)[before - 1 : -1])
        return float(logs[np.arange(len(logs)), ids[before:]].sum())

    known = {pair: tail(pair) for pair in dict.fromkeys([*first, *second])}
    return np.array([known[a] - known[b] for a, b in zip(first, second)])


def sentences(model, encoding):
    """Return, for each way of asking what _it_ means, how many of a hundred sentences are right."""
    cases = [(a, b, c) for a in ANIMALS for b in PLACES for c in PROPERTIES]
    whole, nouns = [SENTENCE.format(*case) for case in cases], [case[:2] for case in cases]
    four = (
        "The cup didn't fit in the bag because it was too big. What was too big? The cup.\n"
        "The boy couldn't see over the wall because it was too high. What was too high? The wall.\n"
        "The man didn't lift the stone because it was too heavy. What was too heavy? The stone.\n"
        "The teacher didn't read the letter because she was too busy. Who was too busy? The teacher.\n"
    )
    by_noun = {
        'the word "it" means the': [f'{s} In this sentence, the word "it" means the' for s in whole],
        "What was too …? The": [f"{s} What was too {c}? The" for s, (_, _, c) in zip(whole, cases)],
        "the same, four examples before": [f"{four}{s} What was too {c}? The" for s, (_, _, c) in zip(whole, cases)],
        "chat, the animal first": [
            CHAT.format(f"{s} What was too {c}, the {a} or the {b}?") + "The" for s, (a, b, c) in zip(whole, cases)
        ],
        "chat, the place first": [
            CHAT.format(f"{s} What was too {c}, the {b} or the {a}?") + "The" for s, (a, b, c) in zip(whole, cases)
        ],
    }
    gaps = {}
    for way, prompts in by_noun.items():
        gaps[way] = noun_gap(model, encoding, prompts, nouns)
        print(way, judged_gaps(gaps[way]), flush=True)
    before = [f"The {a} didn't cross the {b} because the" for a, b, _ in cases]
    both = [[(text, f" {case[i]} was too {case[2]}.") for text, case in zip(before, cases)] for i in (0, 1)]
    behind = [[(text + f" {case[i]}", f" was too {case[2]}.") for text, case in zip(before, cases)] for i in (0, 1)]
    alone = [[(f"The {case[i]}", f" was too {case[2]}.") for case in cases] for i in (0, 1)]
    gaps["the noun put for it"] = tail_gap(model, encoding, *both)
    gaps["what follows the noun"] = tail_gap(model, encoding, *behind)
    gaps["what follows it, without the sentence"] = tail_gap(model, encoding, *alone)
    return {way: judged_gaps(gap) for way, gap in gaps.items()}


def judged_gaps(gap):
    """Return how many gaps between animal and place are right, what each property prefers, and how many it moves."""
    by_pair = gap.reshape(-1, 4)
    means = np.array([*PROPERTIES.values()])
    return {
        "right": int(((by_pair > 0) == (means == 0)).sum()),
        "animal preferred": dict(zip(PROPERTIES, (by_pair > 0).sum(0).tolist())),
        "of": len(by_pair),
        "moved rightly": int((by_pair[:, means == 0].mean(1) > by_pair[:, means == 1].mean(1)).sum()),
    }


PARTS = (sentences, pairs, capitals, firsts, others, talking, rounding)


def main():
    """Measure each part that is asked for, and write the file after each."""
    wanted = os.environ.get("NAMES", "").split()
    for part in (part for part in PARTS if not wanted or part.__name__ in wanted):
        new = rounded(part(*load_smollm2()))
        kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
        found = kept | {part.__name__: new}
        parts = {one.__name__: found[one.__name__] for one in PARTS if one.__name__ in found}
        write_report(FILE, report("public-model", "What chapter 20 counts of SmolLM2-135M-Instruct.", **parts))
