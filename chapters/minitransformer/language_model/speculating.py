"""Speculative decoding: a cheap model drafts, the model that writes checks several tokens in a step; chapter 16."""

import numpy as np

from ..arrays import seeded, whole
from .cache import KeyValueCache, decode_step
from .writing import prompt_ids, sampling_probabilities


def checked_drafts(p, q, drafts, rng):
    """Keep drafted tokens as far as they pass, and draw one more, so that each is drawn as by p alone.

    `q` are the shares by which the drafts were drawn, `p` those of the model that checks, with a row more.  Draft x is
    kept with probability min(1, p(x) / q(x)); in place of the first that is refused, a token is drawn from what p has
    more than q, and the drafts behind it are dropped.
    Shapes: p (k + 1, vocabulary), q (k, vocabulary), drafts (k,) -> a list of 1 to k + 1 tokens.
    Leviathan, Kalman and Matias (2023), Chen et al. (2023); built in chapter 16.

    >>> p, rng = np.array([[0.0, 1.0], [1.0, 0.0]]), np.random.default_rng(0)
    >>> checked_drafts(p, np.array([[1.0, 0.0]]), [0], rng), checked_drafts(p, p[:1], [1], rng)
    ([1], [1, 0])
    """
    for i, token in enumerate(drafts):
        if rng.random() * q[i][token] >= p[i][token]:
            more = np.maximum(p[i] - q[i], 0)
            return [*drafts[:i], int(rng.choice(len(more), p=more / more.sum()))]
    return [*drafts, int(rng.choice(len(p[-1]), p=p[-1]))]


def speculate(model, draft, ids, steps, rng, guesses=4, window=None, **how):
    """Go on with a text as `generate` does, by drafts that the model checks, `guesses` of them in each step.

    `draft(ids)` returns the shares of the next token, (vocabulary,), as a cheaper model sees them; `how` holds the
    temperature and the cuts of `sampling_probabilities`.  What is written is drawn as if the model wrote alone.
    Shapes: ids (n,) -> the text (n + steps,), and how many tokens each step has brought, a list.
    Raises ValueError where `draft` returns another shape, and what `generate` raises.  Used in chapter 16.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=1, positions="rotary", rng=0)
    >>> text, brought = speculate(model, lambda ids: np.full(11, 1 / 11), [3, 1], steps=5, rng=0)
    >>> text.shape, sum(brought) >= 5
    ((7,), True)
    """
    ids, rng, brought = prompt_ids(model, ids).tolist(), seeded(rng), []
    end = len(ids) + whole(steps, "steps", 0)
    cache = KeyValueCache(model, end + whole(guesses, "guesses"), (), window)
    if len(ids) > 1:
        decode_step(model, cache, ids[:-1])
    while len(ids) < end:
        q, drafts = drafted(draft, ids, guesses, model.vocabulary, rng)
        p = sampling_probabilities(decode_step(model, cache, [ids[-1], *drafts]), **how)
        kept = checked_drafts(p, q, drafts, rng)
        ids, brought = ids + kept, [*brought, len(kept)]
        cache.length = len(ids) - 1  # what was refused is taken back
    return np.array(ids[:end]), brought


def drafted(draft, ids, guesses, vocabulary, rng):
    """Draw so many tokens behind a text by the shares of `draft`; return the shares, and the tokens.

    Shapes: ids (n,) -> (guesses, vocabulary), and a list of so many tokens.  Raises ValueError where `draft` returns
    another shape.  Used in chapter 16.

    >>> sure = lambda ids: np.eye(3)[(ids[-1] + 1) % 3]
    >>> drafted(sure, [0], 4, 3, np.random.default_rng(0))[1]
    [1, 2, 0, 1]
    """
    text, q = list(ids), []
    for _ in range(guesses):
        q.append(np.asarray(draft(text), float))
        if q[-1].shape != (vocabulary,):
            raise ValueError(
                f"draft returned shape {q[-1].shape}; expected ({vocabulary},), a share for each token: return one row."
            )
        text.append(int(rng.choice(vocabulary, p=q[-1])))
    return np.array(q), text[len(ids) :]
