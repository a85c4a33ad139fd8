"""The exercises of chapter 7, on multi-head attention."""

import numpy as np

from minitransformer.attention import attention
from minitransformer.masks import causal_mask, padding_mask
from minitransformer.multi_head import merge_heads, multi_head_attention, split_heads

from . import Check, Lines, Mend, Typed

_RNG = np.random.default_rng(7)
_BATCHES = tuple((_RNG.normal(size=shape), heads) for shape, heads in (((3, 5, 8), 2), ((2, 4, 15), 5)))
_PARTS = tuple(
    (_RNG.normal(size=(h, n, d_v)), _RNG.normal(size=(h * d_v, d)), i)
    for h, n, d_v, d, i in ((3, 5, 2, 7, 1), (4, 2, 3, 5, 2))
)
_LAYERS = tuple(
    (_RNG.normal(size=(n, d)), *_RNG.normal(size=(4, d, d)), heads) for n, d, heads in ((4, 6, 2), (3, 8, 4))
)


def _params(d, heads, d_k, d_v):
    shapes = {"W_Q": (d, heads * d_k), "W_K": (d, heads * d_k), "W_V": (d, heads * d_v), "W_O": (heads * d_v, d)}
    return {name: _RNG.normal(size=shape) for name, shape in shapes.items()}


_CROSSED = tuple(
    (_RNG.normal(size=(batch, n, d)), _RNG.normal(size=(batch, m, d)), np.array(lengths), _params(d, h, d_k, d_v), h)
    for batch, n, m, d, lengths, h, d_k, d_v in ((3, 4, 5, 6, [5, 2, 3], 2, 3, 4), (2, 5, 3, 8, [3, 1], 4, 2, 1))
)


def _blocks(*factors):
    return lambda width: np.concatenate([factor * np.eye(width) for factor in factors])


def _four(order):
    """A reshape to (batch, n, heads, width), its axes in another `order`."""

    def split(x, heads):
        batch, n, d = x.shape
        return x.reshape(batch, n, heads, d // heads).transpose(order)

    return split


def _bare(x, heads):
    batch, n, d = x.shape
    return x.reshape(batch, heads, n, d // heads)


def _interleaved(x, heads):
    batch, n, d = x.shape
    return x.reshape(batch, n, d // heads, heads).transpose(0, 3, 1, 2)


def _rows(rows):
    """Head i times the rows of W_O that `rows` chooses by i, h and d_v."""
    return lambda outputs, W_O, i: outputs[i] @ W_O[rows(i, len(outputs), outputs.shape[2])]


_part = _rows(lambda i, h, d_v: np.s_[i * d_v : (i + 1) * d_v])


def _layer(split=split_heads, merge=merge_heads, scale=None):
    def run(x, W_Q, W_K, W_V, W_O, heads):
        queries, keys, values = (split(x @ W, heads) for W in (W_Q, W_K, W_V))
        output, _ = attention(queries, keys, values, scale=scale and scale(x.shape[1], heads))
        return merge(output) @ W_O

    return run


def _across(asking, asked, keep=None):
    """Who asks whom, both chosen from (written, original), with a mask made of the lengths and m."""

    def look(written, original, lengths, params, heads):
        x, context = (written, original)[asking], (written, original)[asked]
        mask = keep and keep(lengths, original.shape[1])
        return multi_head_attention(x, params, heads, context, mask)[0]

    return look


def _with_zeros(written, original, lengths, params, heads):
    filled = original * padding_mask(lengths, original.shape[1]).swapaxes(1, 2)
    return multi_head_attention(written, params, heads, context=filled)[0]


_TEXTS = tuple((_RNG.normal(size=shape),) for shape in ((16, 4), (9, 5)))
_SAID = tuple((np.eye(4)[list(text)],) for text in ([0, 1, 2, 0, 1, 3, 2], [3, 1, 1, 2, 3, 1]))
_PADDED = tuple(
    (_RNG.normal(size=(2, m, d)), np.array(lengths), _RNG.normal(size=(2, n, d)))
    for m, n, d, lengths in ((4, 5, 3, [4, 2]), (5, 3, 4, [1, 3]))
)


def _shifted(tokens):
    return np.vstack([np.zeros(tokens.shape[1]), tokens[:-1]])


def _followers(tokens):
    """Return for each token the mean of what has followed it so far, or of all tokens so far where nothing has."""
    rows = []
    for i, token in enumerate(tokens):
        found = [j for j in range(1, i + 1) if (tokens[j - 1] == token).all()]
        rows.append(tokens[found or range(i + 1)].mean(axis=0))
    return np.array(rows)


def _asking(shift=-1, last=-1, sharp=30):
    """Return a first head with a slip: it asks for the place `shift` away and sees up to the place `last` away."""

    def head(tokens):
        places = np.eye(len(tokens))
        keep = np.tri(len(tokens), k=last, dtype=bool)
        return attention(sharp * np.roll(places, shift, axis=1), places, tokens, keep, scale=1)[0]

    return head


def _copying(queries=lambda tokens: tokens, keys=_shifted, values=lambda tokens: tokens, last=0, scale=30):
    """Return a second head with a slip."""

    def head(tokens):
        keep = np.tri(len(tokens), k=last, dtype=bool)
        return attention(queries(tokens), keys(tokens), values(tokens), keep, scale)[0]

    return head


def _reading(source, lengths, target):
    real = padding_mask(lengths, source.shape[1])
    memory = attention(source, source, source, real)[0]
    said = attention(target, target, target, causal_mask(target.shape[1]))[0]
    return attention(said, memory, memory, real)[0]


def _failing(rows=False, last=0, after=False):
    """Return the lab's machine with those of its three faults that are asked for."""

    def machine(source, lengths, target):
        real = np.arange(source.shape[1]) < lengths[:, None]
        memory, _ = attention(source, source, source, real[:, :, None] if rows else real[:, None, :])
        said, _ = attention(target, target, target, np.tri(target.shape[1], k=last, dtype=bool))
        if after:
            return attention(said, memory, memory)[1] * real[:, None, :] @ memory
        return attention(said, memory, memory, real[:, None, :])[0]

    return machine


CHECKS = {
    "multi-head-mix": Check(
        _blocks(1, -2, 1),
        {
            "the heads' outputs stand side by side, so their blocks of W_O stand one below the other.": lambda width: (
                _blocks(1, -2, 1)(width).T
            ),
            "the token itself is taken away: its block needs a minus.": _blocks(1, 2, 1),
            "the token itself counts twice.": _blocks(1, -1, 1),
            "the signs are reversed: the neighbours are added.": _blocks(-1, 2, -1),
            "that is before minus after, as in the text: here both are added, and the token itself is taken away.": (
                _blocks(1, 0, -1)
            ),
            "the order of the heads is before, itself, after.": _blocks(1, 1, -2),
            "one number for each head is not enough: a block of the identity keeps the coordinates apart.": (
                lambda width: np.repeat([1, -2, 1], width)[:, None] * np.ones(width)
            ),
            "the rows of a head lie together: block by block, not in turn.": lambda width: np.kron(
                np.eye(width), [[1], [-2], [1]]
            ),
            "the last head is added, not taken away.": _blocks(1, -2, -1),
            "these are the three factors: each belongs to a block of rows, width × width.": lambda width: [1, -2, 1],
        },
        ((2,), (4,)),
    ),
    "multi-head-split": Check(
        split_heads,
        {
            "the shape is right and the cut is wrong: a bare reshape gives each head a stretch of the text.": _bare,
            "the heads stand behind the tokens: they must come before them.": _four((0, 1, 2, 3)),
            "the heads stand before the batch: (batch, heads, n, width).": _four((2, 0, 1, 3)),
            "the last two axes are swapped: each head needs rows of tokens.": _four((0, 2, 3, 1)),
            "your first head has every h-th feature: its features lie side by side, so reshape to (heads, width).": (
                _interleaved
            ),
            "you cut d / heads heads of width `heads`: the other way round.": lambda x, heads: split_heads(
                x, x.shape[-1] // heads
            ),
            "you repeated the features: each head has its own part of them.": lambda x, heads: np.repeat(
                x[:, None], heads, axis=1
            ),
        },
        _BATCHES,
    ),
    "multi-head-contribution": Check(
        _part,
        {
            "head i begins at row i · d_v, not at row i.": _rows(lambda i, h, d_v: np.s_[i : i + d_v]),
            "heads are counted from 0: that is the one before.": _rows(
                lambda i, h, d_v: np.s_[(i - 1) * d_v : i * d_v]
            ),
            "you took every h-th row: the rows of a head lie together.": _rows(lambda i, h, d_v: np.s_[i::h]),
            "that is always the first block of W_O.": _rows(lambda i, h, d_v: np.s_[:d_v]),
            "heads are counted from 0: that is the one behind.": _rows(
                lambda i, h, d_v: np.s_[(i + 1) * d_v : (i + 2) * d_v]
            ),
            "only head i goes through its block, not the sum of all.": lambda outputs, W_O, i: (
                outputs.sum(axis=0) @ W_O[i * outputs.shape[2] : (i + 1) * outputs.shape[2]]
            ),
            "that is the sum of all heads: take the i-th term.": lambda outputs, W_O, i: merge_heads(outputs) @ W_O,
            "that is what is left without head i.": lambda outputs, W_O, i: (
                merge_heads(outputs) @ W_O - _part(outputs, W_O, i)
            ),
            "heads are added up, not averaged: do not divide by their number.": lambda outputs, W_O, i: (
                _part(outputs, W_O, i) / len(outputs)
            ),
            "that is the head's own output, d_v wide: its rows of W_O are still to come.": lambda outputs, W_O, i: (
                outputs[i]
            ),
        },
        _PARTS,
    ),
    "multi-head-bug": Check(
        _layer(),
        {
            "nothing is repaired: the weights have shape (n, heads, heads), so heads look at heads.": _layer(
                lambda x, h: x.reshape(len(x), h, -1), lambda y: y.reshape(len(y), -1)
            ),
            "a bare reshape to (heads, n, width) gives each head a stretch of the text: reshape, then swap.": _layer(
                lambda x, h: x.reshape(h, len(x), -1), lambda y: y.reshape(y.shape[1], -1)
            ),
            "merging is right; splitting by a bare reshape gives each head a stretch of the text.": _layer(
                lambda x, h: x.reshape(h, len(x), -1)
            ),
            "splitting is right; now the heads must go back behind the tokens before the last reshape.": _layer(
                merge=lambda y: y.reshape(y.shape[1], -1)
            ),
            "the heads are right; the scale is √d_k of one head, not that of the model.": _layer(
                scale=lambda d, h: d**-0.5
            ),
            "the heads are right; the scale is √d_k, not the root of the number of heads.": _layer(
                scale=lambda d, h: h**-0.5
            ),
            "the heads are right; the scale is gone.": _layer(scale=lambda d, h: 1),
            "the heads are joined, but W_O is missing.": lambda x, W_Q, W_K, W_V, W_O, heads: _layer()(
                x, W_Q, W_K, W_V, np.eye(len(W_O)), heads
            ),
            "the queries served as keys.": lambda x, W_Q, W_K, W_V, W_O, heads: _layer()(x, W_Q, W_Q, W_V, W_O, heads),
            "that is one head as wide as the model: cut before you attend.": lambda x, W_Q, W_K, W_V, W_O, heads: (
                attention(x @ W_Q, x @ W_K, x @ W_V)[0] @ W_O
            ),
            "merging is right; the heads must stand before the tokens when attention is called, too.": _layer(
                lambda x, h: x.reshape(len(x), h, -1), lambda y: y.swapaxes(0, 1).reshape(len(y), -1)
            ),
        },
        _LAYERS,
    ),
    "multi-head-cross": Check(
        _across(0, 1, padding_mask),
        {
            "the roles are swapped: you have a row for each token of the original.": _across(1, 0),
            "the original's padding is looked at: the mask is missing.": _across(0, 1),
            "the mask is reversed: True where a token may be looked at.": _across(
                0, 1, lambda lengths, m: ~padding_mask(lengths, m)
            ),
            "the context is missing: what is written looks at itself.": _across(0, 0),
            "the original looks at itself: what is written asks.": _across(1, 1, padding_mask),
            "one mask serves all sentences: each has a length of its own.": _across(
                0, 1, lambda lengths, m: np.arange(m) < lengths.min()
            ),
            "zeros as padding are still looked at: a key of zeros has the score 0, not −∞.": _with_zeros,
            "the mask hides one token too many.": _across(
                0, 1, lambda lengths, m: padding_mask(np.maximum(lengths - 1, 0), m)
            ),
        },
        _CROSSED,
    ),
    "multi-head-parameters": Check(
        884736,
        {
            "W_O is missing: it takes 8 · 32 numbers to 512.": 753664,
            "you counted biases: leave them out.": 886528,
            "you counted one bias of 512 numbers: leave biases out.": 885248,
            "that is 4 d²: here d_v is 32 and the context is 640 wide.": 1048576,
            "the output is 512 wide again, so W_O is (8 · 32, 512).": 917504,
            "the values, too, come from the context, which is 640 wide.": 851968,
            "the keys, too, come from the context, which is 640 wide.": 819200,
            "there is one W_O, as wide as all heads together: 8 · 32 rows.": 770048,
            "the keys and values come from the context, which is 640 wide.": 786432,
            "the heads return values, so W_O takes 8 · 32 numbers, not 8 · 64.": 1015808,
            "values are 32 wide, not 64.": 1179648,
            "the queries come from the tokens that ask, which are 512 wide.": 950272,
            "each head has matrices of its own: you counted W_Q, W_K and W_V of one.": 225280,
            "there is one W_O for all heads: you counted it for each.": 1802240,
            "that gives each head the width of the model: 8 · 64 is that of all heads together.": (
                8 * (512 * 512 + 640 * 512 + 640 * 256) + 131072
            ),
        },
    ),
    "multi-head-lab-previous": Check(
        _shifted,
        {
            "each token gets the next one: a row of queries has its 1 at the place before its own.": _asking(1, 99),
            "each token gets itself: it asks for its own place.": _asking(0, 0),
            "each token asks for its own place, which the mask hides, and so takes the mean of all before it.": _asking(
                0
            ),
            "the first token has nothing before it: leave the diagonal out of the mask, so that its row is 0.": _asking(
                -1, 0
            ),
            "without a mask the first token takes the last one: nothing may be taken from behind.": _asking(-1, 99),
            "the shares are not sharp: multiply the queries by 30.": _asking(sharp=1),
            "attention divides by the root of the width, here the number of places: give it scale=1.": lambda tokens: (
                _asking(sharp=30 / len(tokens) ** 0.5)(tokens)
            ),
        },
        _TEXTS,
    ),
    "multi-head-lab-copier": Check(
        _followers,
        {
            "it finds the word itself and says it again: the keys are what the first head wrote.": _copying(
                keys=lambda tokens: tokens
            ),
            "it says the word before: the values are the tokens, not what the first head wrote.": _copying(
                values=_shifted
            ),
            "it looks ahead: it may use only what has been said.": _copying(last=99),
            "its shares are not sharp: give the scores a scale of 30.": _copying(scale=None),
            "the roles are turned round: each token asks, and what stands before a token is the key.": _copying(
                queries=_shifted, keys=lambda tokens: tokens
            ),
            "the token itself must not be left out: it is what follows the one before it.": _copying(last=-1),
        },
        _SAID,
    ),
    "multi-head-lab-masks": Check(
        _reading,
        {
            "nothing is mended yet: try the three experiments.": _failing(rows=True, last=1, after=True),
            "the source is read rightly; the target still sees ahead, and rows do not sum to 1.": _failing(
                last=1, after=True
            ),
            "nothing sees ahead any more; the other two are still wrong.": _failing(rows=True, after=True),
            "the last mask is right; the first two are still wrong.": _failing(rows=True, last=1),
            "one is left: change the padding of the source, and look at the memory of the real words.": _failing(
                rows=True
            ),
            "one is left: does an output move when a later token of the target changes?": _failing(last=1),
            "one is left: do the last weights of every row sum to 1?": _failing(after=True),
            "now a token does not see itself: the mask begins one place too early.": _failing(last=-1),
        },
        _PADDED,
    ),
}

FORMS = {
    "multi-head-mix": Typed("Type what it returns for `width` = 2.", (2,)),
    "multi-head-split": Lines(
        (
            "return x.reshape(batch, heads, n, d // heads)",
            "return x.reshape(batch, n, d // heads, heads).transpose(0, 3, 1, 2)",
            "return x.reshape(batch, n, heads, d // heads).transpose(0, 2, 3, 1)",
        )
    ),
    "multi-head-contribution": Lines(
        (
            "return outputs[i] @ W_O[i:i + width]",
            "return outputs[i] @ W_O[(i - 1) * width:i * width]",
            "return outputs.sum(axis=0) @ W_O[i * width:(i + 1) * width]",
        )
    ),
    "multi-head-bug": Mend(
        {
            "cut = [(x @ W).reshape(n, heads, d // heads) for W in (W_Q, W_K, W_V)]": {
                "the reshape should put the heads first": (
                    "cut = [(x @ W).reshape(heads, n, d // heads) for W in (W_Q, W_K, W_V)]"
                ),
                "the heads should change places with the tokens": (
                    "cut = [(x @ W).reshape(n, heads, d // heads).swapaxes(0, 1) for W in (W_Q, W_K, W_V)]"
                ),
                "the heads should change places with their features": (
                    "cut = [(x @ W).reshape(n, heads, d // heads).swapaxes(1, 2) for W in (W_Q, W_K, W_V)]"
                ),
            },
            "output, weights = attention(*cut)": {
                "the scale should be that of the whole width": "output, weights = attention(*cut, scale=d**-0.5)",
                "each head should have all the features": "output, weights = attention(x @ W_Q, x @ W_K, x @ W_V)",
            },
            "return output.reshape(n, d) @ W_O": {
                "the heads should be added up": "return output.sum(axis=0).reshape(n, d) @ W_O",
                "the heads should first go back behind the tokens": "return output.swapaxes(0, 1).reshape(n, d) @ W_O",
            },
        }
    ),
    "multi-head-cross": Lines(
        (
            "keep = ~padding_mask(lengths, original.shape[1])",
            "return multi_head_attention(original, params, heads, original, keep)[0]",
            "return multi_head_attention(written, params, heads, original)[0]",
        )
    ),
    "multi-head-lab-previous": Lines(
        (
            "queries = 30 * places",
            "queries = np.roll(places, -1, axis=1)",
            "earlier = np.tri(len(tokens), dtype=bool)",
        )
    ),
    "multi-head-lab-copier": Lines(
        (
            "keys = tokens",
            "earlier = np.tri(len(tokens), k=-1, dtype=bool)",
            "return attention(tokens, keys, keys, keep=earlier, scale=30)[0]",
        )
    ),
    "multi-head-lab-masks": Mend(
        {
            "memory, _ = attention(source, source, source, keep=real[:, :, None])": {
                "the mask should hide the keys, not the queries": (
                    "memory, _ = attention(source, source, source, keep=real[:, None, :])"
                ),
                "the memory should not be masked": "memory, _ = attention(source, source, source)",
            },
            "earlier = np.tri(target.shape[1], k=1, dtype=bool)": {
                "the mask should end at the token itself": "earlier = np.tri(target.shape[1], k=0, dtype=bool)",
                "the mask should end before the token itself": "earlier = np.tri(target.shape[1], k=-1, dtype=bool)",
            },
            "weights = attention(said, memory, memory)[1] * real[:, None, :]": {
                "the mask should be applied before the softmax": (
                    "weights = attention(said, memory, memory, keep=real[:, None, :])[1]"
                ),
                "the mask should be left out": "weights = attention(said, memory, memory)[1]",
            },
        }
    ),
}
