"""Greedy decoding and beam search for an encoder and a decoder; built in chapter 15."""

import numpy as np

from ..arrays import whole, whole_numbers
from ..softmax import log_softmax
from ..transformer import source_mask

PAD, START, END = range(3)  # the numbers of <pad>, <s> and </s>


def as_batch(source, one=False):
    """Return a source (batch, m), or `one` sentence (m,), as an array (batch, m) of whole numbers.

    Raises ValueError where it is no batch of sentences, or no sentence.  Used in chapter 15.

    >>> as_batch([[3, 4]]).shape
    (1, 2)
    """
    source = whole_numbers(source, "source")
    if source.ndim != (1 if one else 2) or not source.size:
        expected = "(m,), one word or more" if one else "(batch, m), a row of one word or more a sentence"
        raise ValueError(f"source has shape {source.shape}; expected {expected}.")
    return source[None] if one else source


def greedy_decode(model, source, lengths=None, most=30):
    """Say at each place the likeliest word, and read it at the next, until every row has said </s>.

    Shapes: source (batch, m), lengths (batch,) as in a `Transformer` -> (batch, n), n at most `most`, with <pad>
    behind </s>.  Built in chapter 15.

    >>> from minitransformer.translation import SENTENCES, load_model, word_numbers
    >>> source, lengths = word_numbers([["the", "cat", "was", "tired"]], SENTENCES.english)
    >>> [SENTENCES.french[number] for number in greedy_decode(load_model(), source, lengths)[0]]
    ['le', 'chat', 'était', 'fatigué', '</s>']
    """
    source = as_batch(source)
    keep = source_mask(source, lengths)
    memory, ids = model.encode(source, keep), np.full((len(source), 1), START)
    while ids.shape[1] <= whole(most, "most") and not (ids == END).any(axis=1).all():
        words = model.decode(ids, memory, keep)[:, -1].argmax(axis=-1)
        ended = (ids == END).any(axis=1)
        ids = np.column_stack([ids, np.where(ended, PAD, words)])
    return ids[:, 1:]


def beam_search(model, source, width=4, most=30):
    """Keep at each place the `width` likeliest beginnings of a translation; return those that end, the likeliest first.

    Shapes: source (m,) -> a list of (ids (n,), log probability), each ending with </s> unless it is cut at `most`.
    Built in chapter 15.

    >>> from minitransformer.translation import SENTENCES, load_model, word_numbers
    >>> (source,), _ = word_numbers([["the", "cat", "was", "tired"]], SENTENCES.english)
    >>> (best, logarithm), *others = beam_search(load_model(), source, width=2)
    >>> " ".join(SENTENCES.french[number] for number in best[1:-1]), len(others)
    ('chat était fatigué', 1)
    """
    memory = model.encode(as_batch(source, one=True))
    growing, ended = [((START,), 0.0)], []
    for _ in range(whole(most, "most")):
        rows = np.array([ids for ids, _ in growing])
        logits = model.decode(rows, np.repeat(memory, len(rows), axis=0))[:, -1]
        totals = log_softmax(logits) + np.array([[total] for _, total in growing])
        best = np.argsort(totals, axis=None)[::-1][: whole(width, "width") - len(ended)]
        places = zip(*np.unravel_index(best, totals.shape))
        found = [((*growing[i][0], int(word)), float(totals[i, word])) for i, word in places]
        ended += [(ids, total) for ids, total in found if ids[-1] == END]
        growing = [(ids, total) for ids, total in found if ids[-1] != END]
        if not growing:
            break
    found = [(np.array(ids[1:]), total) for ids, total in ended + growing]
    return sorted(found, key=lambda each: -each[1])
