"""Findings of chapter 20, on a writer that is tuned and on votes: trained anew on other texts, or from other starts."""

from functools import partial

import numpy as np

from minitransformer.answering import answer_targets, vote
from minitransformer.feed_forward import gelu
from minitransformer.language_model import bits_per_byte, generate, load_plays, new_writer, text_model, windows
from minitransformer.tasks.orders import QUESTION, SIGNS, WORDS, orders
from minitransformer.training import train
from minitransformer.transformer import LanguageModel
from minitransformer.word_vectors import load_news

from .words import SEEDS, shares


def half_way_back():
    (writer, encoding), stories = text_model(), [" ".join(story) for story in load_news()]
    told, news = (np.array(encoding.encode("\n".join(some))) for some in (stories[30:], stories[:30]))
    plays = np.array(encoding.encode(load_plays()[1]))[4000:]
    tuned, start = new_writer(), writer.flat.copy()
    tuned.flat[:] = start
    train(tuned, partial(windows, ids=told), 80, rate=4e-3, seed=SEEDS[0])
    change, costs = tuned.flat - start, []
    for part in (0, 0.5, 1):
        tuned.flat[:] = start + part * change
        costs.append([bits_per_byte(tuned, text[:4000], encoding) for text in (news, plays)])
    moved = np.subtract(costs, costs[0])
    gain, loss = moved[1] / moved[2]
    return f"{shares([gain], 0)} of the gain, {shares([loss], 0)} of the loss", {"gain": gain, "loss": loss}


def rising(rng):
    """Return a batch of rising digits."""
    ids = orders(rng, falling=False)
    return (ids[:, :-1],), answer_targets(ids, SIGNS)


def votes_of(seed):
    """Return what a sorter from another start gets right by one draw, by a vote of 25, and by the likeliest tokens."""
    model = LanguageModel(WORDS, 32, 4, 1, seed, positions="rotary", activation=gelu, dtype=float)
    train(model, rising, 60, rate=1e-2, seed=seed)
    ids = orders(np.random.default_rng(seed), 300, falling=False)
    wanted, code = ids[:, QUESTION:] @ 13 ** np.arange(5), 13 ** np.arange(5)
    many = np.repeat(ids[:, :QUESTION], 25, axis=0)
    drawn = generate(model, many, 5, temperature=1.0, rng=np.random.default_rng(seed))[:, QUESTION:] @ code
    best = generate(model, ids[:, :QUESTION], 5)[:, QUESTION:] @ code
    drawn = drawn.reshape(-1, 25)
    return [(said == wanted).mean() for said in (drawn[:, 0], vote(drawn), best)]


def votes_take_out_noise():
    one, all_25, best = np.transpose([votes_of(seed) for seed in SEEDS[:2]])
    told = f"one {shares(one, 0)}, vote {shares(all_25, 0)}, likeliest {shares(best, 0)}"
    return told, {"vote beyond one": all_25 - one, "vote beyond likeliest": all_25 - best}
