"""Findings in the published model, tried on other questions and other texts."""

import numpy as np

from companion.evidence.asked import OPPOSITES
from minitransformer.circuits import cut_heads
from minitransformer.inside import opened
from minitransformer.public_model import load_smollm2

from .words import shares


def bare_questions():
    model, encoding = load_smollm2()
    asked = [encoding.encode(f"What is the opposite of {word}?") for word in OPPOSITES]
    empty = sum(int(model(ids)[-1].argmax()) == encoding.marks["<|im_end|>"] for ids in asked)
    return f"{empty} of {len(asked)} are empty", {"empty": empty / len(asked)}


def one_head_copies():
    model, _ = load_smollm2()
    once = np.random.default_rng(7).integers(1000, 40_000, (40, 12))
    twice, copied = np.hstack([once, once]), []
    for heads in ([], [(17, 0)], [(17, head) for head in (1, 2, 3, 4)]):
        logits = opened(model, twice, cut_heads(heads), only=["logits"])["logits"][:, 12:-1]
        copied.append(np.mean(logits.argmax(axis=-1) == twice[:, 13:]))
    return f"copied {shares(copied[:2])}, control {shares(copied[2:])}", {
        "left without it": copied[1] / copied[0],
        "left without the other four": copied[2] / copied[0],
    }
