"""Train chapter 16's model to uncover hidden tokens, and write what comes of it beside what the writer can do.

A model that uncovers sees both sides.  One begins from random numbers, another from the writer's weights; the control
is the writer, trained on for the same steps.  It writes what `companion.evidence.uncovering.load_uncovering` reads.
"""

import re
from functools import partial

import numpy as np

from companion.evidence.uncovering import FILE
from minitransformer.language_model import generate, load_plays, text_model, windows
from minitransformer.positions import rotary
from minitransformer.softmax import log_softmax
from minitransformer.today import Decoder, covered, decoder_shapes, uncover
from minitransformer.training import train
from tools.measure import plays, report, rounded, write_report

SEEDS, HIDDEN, LENGTH, SIDE = (0,), 768, 64, 32
TRAINING = {"steps": 1_800, "rate": 4e-3, "warmup": 100}  # as for the writer
ROUNDS, TEXTS, WORDS, TRIED = (1, 8, 64), 60, 2_000, 10


def new_model(writer=None, seed=None):
    """Return a model with the writer's parts and one token more that sees both sides, with its weights if given."""
    shapes = decoder_shapes(HIDDEN + 1, 64, 4, 3, 256, norm="layer", gated=False, biases=("1", "2"))
    model = Decoder(shapes, 4, seed, rotate=rotary, scale=8.0, causal=False)
    if writer is not None:
        model.params["embedding"][:HIDDEN] = writer.params["embedding"]
        rest = writer.flat.size - writer.params["embedding"].size
        model.flat[-rest:] = writer.flat[-rest:]
    return model


def trained(kind, ids, seed):
    """Return a model of a kind, a name of KINDS, after its training, or after what a checkpoint holds of it."""
    writer, _ = text_model()
    if kind == "the writer, trained on":
        model, batch = writer, partial(windows, ids=ids)
    else:
        model = new_model(seed=seed) if kind.endswith("scratch") else new_model(writer)
        batch = partial(covered, ids=ids, hidden=HIDDEN)
    name = f"uncovering-{''.join(letter for letter in kind if letter.isalnum())}-{seed}"
    train(model, batch, **TRAINING, seed=seed, checkpoint=name)
    return model


def hidden_bits(model, texts, rng, draws=2):
    """Return the bits of a token of texts (count, n) by the bound: m of the last n − 1 tokens hidden, 1 to all."""
    losses, rng = [], np.random.default_rng(rng)
    for text in np.repeat(texts, draws, axis=0).reshape(-1, 32, texts.shape[1]):
        m = rng.integers(1, text.shape[1], size=(len(text), 1))
        rank = np.argsort(np.argsort(rng.random((len(text), text.shape[1] - 1)), axis=1), axis=1)
        gone = np.hstack([np.zeros((len(text), 1), bool), rank < m])
        logs = log_softmax(model(np.where(gone, HIDDEN, text)).astype(float)[..., :HIDDEN])
        lost = np.take_along_axis(logs, text[..., None], axis=-1)[..., 0] * gone
        losses.append(-lost.sum(axis=1) / m[:, 0])
    return float(np.mean(losses) / np.log(2))


def next_bits(model, texts):
    """Return the bits of a token of texts (count, n), but the first of each, from those before it in the text."""
    logs = log_softmax(model(texts[:, :-1]).astype(float))
    return float(-np.take_along_axis(logs, texts[:, 1:, None], axis=-1).mean() / np.log(2))


def words_in_place(ids, encoding):
    """Return the places of some words that are one token each, with room on both sides, and all tokens that are words.

    A word is a space and letters; what stands behind it begins with something else, or it would go on.
    """
    texts = [encoding.decode([token]) for token in range(HIDDEN)]
    words = np.array([bool(re.fullmatch(" [A-Za-z]+", text)) for text in texts])
    stops = np.array([not re.match("[A-Za-z']", text) for text in texts])
    places = np.flatnonzero(words[ids[:-1]] & stops[ids[1:]])
    places = places[(places >= SIDE) & (places < len(ids) - SIDE)]
    return np.random.default_rng(0).permutation(places)[:WORDS], np.flatnonzero(words)


def found(model, ids, places, words, right=SIDE - 1):
    """Return the share of words (by place) that a model finds, of all that are one token, with some shown behind."""
    texts = ids[places[:, None] + np.arange(-SIDE, SIDE)].copy()
    answers = texts[:, SIDE].copy()
    if model.vocabulary == HIDDEN:  # the writer, which predicts the next token
        scores = np.concatenate([model(some)[:, -1] for some in np.split(texts[:, :SIDE], 20)])
    else:
        texts[:, SIDE] = texts[:, SIDE + 1 + right :] = HIDDEN
        scores = np.concatenate([model(some)[:, SIDE] for some in np.split(texts, 20)])
    return float(np.mean(words[scores[:, words].argmax(axis=1)] == answers))


def tried(model, ids, places, words, right=SIDE - 1):
    """Return the share of words (by place) that a writer finds if it tries its TRIED likeliest, each with what follows.

    A word's score is its own, and those of the `right` tokens behind it, given that word: Bayes' rule.
    """
    texts = ids[places[:, None] + np.arange(-SIDE, SIDE)]
    left = np.concatenate([log_softmax(model(some)[:, -1]) for some in np.split(texts[:, :SIDE], 20)])[:, words]
    likely = np.argsort(-left, axis=1)[:, :TRIED]
    scores = np.take_along_axis(left, likely, axis=1)
    for column, choice in enumerate(words[likely].T):
        filled = texts.copy()
        filled[:, SIDE] = choice
        for rows in np.split(np.arange(len(filled)), 20):
            logs = log_softmax(model(filled[rows, : SIDE + right])[:, SIDE:])
            after = filled[rows, SIDE + 1 : SIDE + 1 + right, None]
            scores[rows, column] += np.take_along_axis(logs, after, axis=-1)[..., 0].sum(axis=-1)
    best = np.take_along_axis(words[likely], scores.argmax(axis=1)[:, None], axis=1)[:, 0]
    return float(np.mean(best == texts[:, SIDE]))


def known(texts, encoding, vocabulary):
    """Return the share of words in texts (count, n) that stand in the training text; the last may be cut off."""
    told = [re.findall("[A-Za-z']+", encoding.decode(text))[:-1] for text in texts]
    return float(np.mean([word in vocabulary for words in told for word in words]))


def measured(name, models, texts, ids, encoding, vocabulary):
    """Return the row of models of one kind, one for each seed."""
    uncovers, (places, words) = models[0].vocabulary > HIDDEN, words_in_place(ids, encoding)
    bits = [
        hidden_bits(each, texts, np.random.default_rng(0)) if uncovers else next_bits(each, texts) for each in models
    ]
    row = {"name": name, "bits": bits, "left": [found(each, ids, places, words, right=0) for each in models]}
    first = texts[:TEXTS, :1]
    if not uncovers:
        row["next"] = [tried(each, ids, places, words, right=1) for each in models]
        row["both"] = [tried(each, ids, places, words) for each in models]
        told = [generate(each, first, LENGTH - 1, temperature=1.0, rng=0) for each in models]
        return row | {"known": [known(each, encoding, vocabulary) for each in told]}
    row["next"] = [found(each, ids, places, words, right=1) for each in models]
    row["both"] = [found(each, ids, places, words) for each in models]
    start = np.hstack([first, np.full((len(first), LENGTH - 1), HIDDEN)])
    for rounds in ROUNDS:
        told = [uncover(each, start, HIDDEN, rounds, np.random.default_rng(0)) for each in models]
        row.setdefault("known", []).append([known(each, encoding, vocabulary) for each in told])
    return row


KINDS = "the writer", "the writer, trained on", "uncovers, from scratch", "uncovers, from the writer's weights"


def main():
    """Train every kind from every seed, and write the file after each."""
    (ids, tested, encoding), rows = plays(), []
    texts = tested[: len(tested) // LENGTH * LENGTH].reshape(-1, LENGTH)
    texts = texts[: len(texts) // 32 * 32]
    vocabulary = set(re.findall("[A-Za-z']+", load_plays()[0]))
    about = (
        f"{TRAINING['steps']} steps, from seeds {SEEDS}; {len(texts)} held-out texts of {LENGTH} tokens, {WORDS} words."
    )
    for kind in KINDS:
        models = [text_model()[0]] if kind == KINDS[0] else [trained(kind, ids, seed) for seed in SEEDS]
        rows.append(rounded(measured(kind, models, texts, tested, encoding, vocabulary)))
        print(rows[-1], flush=True)
        write_report(FILE, report("uncovering", about, models=rows))
