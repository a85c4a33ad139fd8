"""A finding of chapter 20, tried on a hundred other questions to the published model."""

from companion.evidence.asked import OPPOSITES
from minitransformer.public_model import load_smollm2


def bare_questions():
    model, encoding = load_smollm2()
    asked = [encoding.encode(f"What is the opposite of {word}?") for word in OPPOSITES]
    empty = sum(int(model(ids)[-1].argmax()) == encoding.marks["<|im_end|>"] for ids in asked)
    return f"{empty} of {len(asked)} are empty", empty > 90
