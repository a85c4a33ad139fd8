"""The exercises of chapter 12, on the Transformer."""

import numpy as np

from minitransformer.feed_forward import feed_forward, gelu, relu
from minitransformer.layer_norm import layer_norm
from minitransformer.masks import causal_mask
from minitransformer.multi_head import multi_head_attention
from minitransformer.positions import sinusoidal_positions
from minitransformer.transformer import (
    LanguageModel,
    Transformer,
    embed,
    layer,
    layer_shapes,
    logits_of,
    parameter_count,
    parameter_views,
    stack,
)

from . import Check, Lines, Mend, Pick, Typed

_RNG = np.random.default_rng(1)
_LOGITS = tuple(  # of three last rows two have negative scores alone
    (_RNG.permuted(np.arange(n * v) / v, axis=None).reshape(n, v) - shift,)
    for n, v, shift in ((3, 7, 3), (5, 4, 1.5), (4, 11, 4))
)


def _filled(shapes):
    """Random parameters of these shapes, gains and biases too."""
    return parameter_views(_RNG.normal(size=parameter_count(shapes)) / 2, shapes)


_CROSSES = tuple(
    (
        _RNG.normal(size=(n, 6)),
        _RNG.normal(1, 2, size=(m, 6)),
        _filled(layer_shapes(6, 2)["attention"]),
        heads,
        np.arange(m) < np.arange(n)[:, None] + 2,
    )
    for n, m, heads in ((4, 7, 2), (6, 5, 3))
)
_STACKS = tuple(
    (_RNG.normal(size=(5, 4)), _filled(LanguageModel(1, 4, heads, layers, hidden=3).shapes)["decoder"], heads)
    for heads, layers in ((2, 2), (4, 3))
)


def _across(x, memory, part, heads, keep):
    return x + multi_head_attention(_normal(x, part), part, heads, memory, keep)[0]


def _normal(x, part):
    return layer_norm(x, part["gain"], part["bias"])


def _same(x, norm):
    return x


def _stack(step, start=_same, each=_same, end=lambda x, norm: layer_norm(x, **norm), order=1):
    """Layers run by `step(x, first x, layer)`, in order or backwards, with something done before, between and after."""

    def run(x, params, heads):
        *parts, norm = params.values()
        first = x = start(x, norm)
        for part in parts[::order]:
            x = each(step(x, first, lambda x, part=part: layer(x, part, heads)), norm)
        return end(x, norm)

    return run


def _parameters(v, d, f, layers, tables=2, attention=4, biases=1, norms=2, last=1):
    one = attention * d**2 + 2 * d * f + biases * (f + d) + 2 * d * norms
    return tables * v * d + layers * one + 2 * d * last


def _counted(**slip):
    return lambda v, d, f, layers: _parameters(v, d, f, layers, **slip)


_SHAPES = Transformer(9, 8, 1, 1, tied=False, source_vocabulary=11, encoder_layers=2, encoder_heads=4).shapes
_SENTENCES = tuple(  # of a small translator, whose numbers are all random
    (_RNG.integers(11, size=m), _RNG.integers(9, size=n), _filled(_SHAPES)) for m, n in ((5, 4), (3, 6))
)


def _translator(heads=(4, 1), activation=gelu, past=causal_mask, embedded=embed, run=stack, out=logits_of):
    """A translator that is put together rightly, or with other parts."""

    def translate(source, target, params):
        x = embedded(source, params, table="source_embedding")
        memory = run(x, params["encoder"], heads[0], activation=activation)
        x, options = embedded(target, params), {"keep": past(len(target)), "memory": memory}
        return out(run(x, params["decoder"], heads[1], activation=activation, **options), params)

    return translate


def _added(scale, places=1):
    """Embed words times d ** scale, and add so many times their places."""

    def embedded(ids, params, table="embedding"):
        d = params[table].shape[1]
        return params[table][ids] * d**scale + places * sinusoidal_positions(len(ids), d)

    return embedded


def _no_last_norm(x, side, heads, **options):
    return stack(x, {name: part for name, part in side.items() if name != "norm"}, heads, **options)


def _carrying_the_norm(x, side, heads, activation, keep=None, memory=None):
    *layers, norm = side.values()
    for name, own in ((name, own) for part in layers for name, own in part.items()):
        x = _normal(x, own)
        if name == "feed_forward":
            x = x + feed_forward(x, own, activation)
        else:
            looks = (memory, None) if name == "cross_attention" else (None, keep)
            x = x + multi_head_attention(x, own, heads, *looks)[0]
    return layer_norm(x, **norm)


CHECKS = {
    "transformer-next": Check(
        lambda logits: logits[-1].argmax(),
        {
            "that is a word for every position; only the last row has seen the whole text.": lambda logits: (
                logits.argmax(axis=-1)
            ),
            "without an axis argmax counts through the whole table: take the last row first.": lambda logits: (
                logits.argmax()
            ),
            "the first row has seen only the first token.": lambda logits: logits[0].argmax(),
            "the rows are not to be averaged: each answers a question of its own.": lambda logits: logits.mean(
                axis=0
            ).argmax(),
            "this is the largest score; its place, the word's number, is wanted.": lambda logits: logits[-1].max(),
            "the last column has one word's score at every position; the last row is wanted.": lambda logits: logits[
                :, -1
            ].argmax(),
            "that is the worst word.": lambda logits: logits[-1].argmin(),
            "the largest score is wanted, not the one furthest from 0: a very negative one is a bad word.": (
                lambda logits: np.abs(logits[-1]).argmax()
            ),
            "here each word has its best row; take the last row first.": lambda logits: logits.max(axis=0).argmax(),
        },
        _LOGITS,
    ),
    "transformer-false": Check(
        3,
        {
            "that is true: the head stands at every position, and a row sees nothing of what stands behind it.": 1,
            "that is true: twice as many heads are half as wide, so the four matrices keep their shapes.": 2,
            "that is true: sines are computed, and no matrix of a model has a side as long as the text.": 4,
            "the statements are numbered from 1: give the number that stands before the false one.": 0,
        },
    ),
    "transformer-cross": Check(
        _across,
        {
            "the residual connection is missing.": lambda x, *rest: _across(x, *rest) - x,
            "keep is not used.": lambda x, memory, part, heads, keep: _across(x, memory, part, heads, None),
            "x is not normalised before it asks.": lambda x, memory, part, heads, keep: (
                x + multi_head_attention(x, part, heads, memory, keep)[0]
            ),
            "the memory was normalised at the end of its own stack; here it is done again.": (
                lambda x, memory, part, heads, keep: _across(x, _normal(memory, part), part, heads, keep)
            ),
            "that is post-norm order: the norm stands before the attention, not after the sum.": (
                lambda x, memory, part, heads, keep: _normal(
                    x + multi_head_attention(x, part, heads, memory, keep)[0], part
                )
            ),
            "the stream itself is normalised: add to x, not to its norm.": (
                lambda x, memory, part, heads, keep: _across(x, memory, part, heads, keep) - x + _normal(x, part)
            ),
            "x looks at itself here: give the memory as context.": lambda x, memory, part, heads, keep: (
                x + multi_head_attention(_normal(x, part), part, heads)[0]
            ),
            "the norm needs the gain and the bias of this sublayer.": lambda x, memory, part, heads, keep: (
                x + multi_head_attention(layer_norm(x, np.ones(6), np.zeros(6)), part, heads, memory, keep)[0]
            ),
            "keep is True where a token may look: this is the opposite.": lambda x, memory, part, heads, keep: _across(
                x, memory, part, heads, ~keep
            ),
            "the norm and the residual connection are missing.": lambda x, memory, part, heads, keep: (
                multi_head_attention(x, part, heads, memory, keep)[0]
            ),
            "that is an answer for each token of the memory: the target asks, the memory gives keys and values.": (
                lambda x, memory, part, heads, keep: multi_head_attention(memory, part, heads, x, keep.T)[0]
            ),
            "one head only: pass the number of heads on.": lambda x, memory, part, heads, keep: _across(
                x, memory, part, 1, keep
            ),
            "the queries come from the target and the keys and values from the memory, not the other way round.": (
                lambda x, memory, part, heads, keep: (
                    memory + multi_head_attention(_normal(memory, part), part, heads, x, keep.T)[0]
                )
            ),
        },
        _CROSSES,
    ),
    "transformer-bug": Check(
        _stack(lambda x, first, run: run(x)),
        {
            "the last norm is still missing.": _stack(lambda x, first, run: run(x), end=lambda x, norm: x),
            "every layer still reads the first x.": _stack(lambda x, first, run: run(first)),
            "neither is repaired: every layer reads the first x, and no norm ends the stack.": _stack(
                lambda x, first, run: run(first), end=lambda x, norm: x
            ),
            "the layers have their residual connections inside: do not add x again.": _stack(
                lambda x, first, run: x + run(x)
            ),
            "the norm belongs at the end, once; here it follows every layer.": _stack(
                lambda x, first, run: run(x), each=lambda x, norm: layer_norm(x, **norm)
            ),
            "the last norm has a gain and a bias: pass them on.": _stack(
                lambda x, first, run: run(x), end=lambda x, norm: layer_norm(x, np.ones(4), np.zeros(4))
            ),
            "the layers run backwards.": _stack(lambda x, first, run: run(x), order=-1),
            "the norm belongs at the end, once; here it stands at the beginning.": _stack(
                lambda x, first, run: run(x), start=lambda x, norm: layer_norm(x, **norm), end=lambda x, norm: x
            ),
            "the norm belongs at the end, once; here it stands at the beginning as well.": _stack(
                lambda x, first, run: run(x), start=lambda x, norm: layer_norm(x, **norm)
            ),
        },
        _STACKS,
    ),
    "transformer-count": Check(
        _counted(),
        {
            "the output head of its own is missing.": _counted(tables=1),
            "pre-norm order needs one more norm, at the end.": _counted(last=0),
            "the norms have a gain and a bias each, 2d numbers, twice in a layer.": _counted(norms=1),
            "the norms of the layers are missing.": _counted(norms=0),
            "the biases of the feed-forward network are missing: f and d.": _counted(biases=0),
            "W_O is missing in the attention.": _counted(attention=3),
            "biases and norms count too: f and d in the feed-forward network, 2d in each norm.": _counted(
                biases=0, norms=0, last=0
            ),
            "no norm is counted: two in each layer and one at the end, of 2d numbers each.": _counted(norms=0, last=0),
            "12d² is for a hidden width of 4d; here it is f.": lambda v, d, f, layers: _parameters(v, d, 4 * d, layers),
            "our attention has no biases.": lambda v, d, f, layers: _parameters(v, d, f, layers) + 4 * d * layers,
            "our output head has no bias.": lambda v, d, f, layers: _parameters(v, d, f, layers) + v,
            "the last norm has a bias as well as a gain.": lambda v, d, f, layers: _parameters(v, d, f, layers) - d,
            "that is a layer with a cross-attention, which a decoder-only model has not.": _counted(
                attention=8, norms=3
            ),
            "each layer has parameters of its own: multiply by the number of layers.": lambda v, d, f, layers: (
                _parameters(v, d, f, 1)
            ),
            "the last norm stands once, not in every layer.": lambda v, d, f, layers: _parameters(
                v, d, f, layers, last=layers
            ),
        },
        ((3, 8, 5, 1), (100, 12, 40, 3), (37, 8, 10, 5)),
    ),
    "transformer-lab-assembled": Check(
        _translator(),
        {
            "the encoder has 4 heads; no array says so.": _translator((1, 1)),
            "the decoder has one head, the encoder 4; no array says so.": _translator((4, 4)),
            "the encoder has 4 heads and the decoder one, not the other way round.": _translator((1, 4)),
            "the networks use gelu: with relu most translations stay right, and the logits do not.": (
                _translator(activation=relu)
            ),
            "the causal mask is missing: it is right when it writes, and wrong when it is fed.": (
                _translator(past=lambda n: None)
            ),
            "a word is multiplied by √d before its place is added.": _translator(embedded=_added(0)),
            "the places are missing: all orders of the words are the same.": _translator(embedded=_added(0.5, 0)),
            "the words alone are multiplied by √d, not their places.": _translator(embedded=_added(0.5, 8**0.5)),
            "a norm ends each stack.": _translator(run=_no_last_norm),
            "the skip connection carries the token as it is, not its norm.": _translator(run=_carrying_the_norm),
            "the head is not tied: it has a matrix of its own, params[“output”].": (
                _translator(out=lambda x, params: x @ params["embedding"].T)
            ),
        },
        _SENTENCES,
    ),
    "transformer-lab-faults": Check(
        [2, 6, 3, 4],
        {
            "A is another one: with queries and keys swapped far fewer sentences stay right; plant both.": [5, 6, 3, 4],
            "B is another one: relu changes no word either; plant both, and compare the logits.": [2, 8, 3, 4],
            "A and B are others: plant two faults of each symptom, and compare the logits.": [5, 8, 3, 4],
            "C and D are the other way round: which is right when it writes by itself?": [2, 6, 4, 3],
            "A and C are the other way round: a forgotten mask spares the pronouns.": [3, 6, 2, 4],
            "A and D are the other way round: which of them keeps nearly all words and tosses a coin for il?": [
                4,
                6,
                3,
                2,
            ],
            "D is another one: without √d hardly a third of the words is right.": [2, 6, 3, 1],
            "D is another one: with the sines in one half it would lose more words; plant both.": [2, 6, 3, 7],
        },
    ),
}

FORMS = {
    "transformer-next": Lines(("last = logits[0]", "last = logits[:, -1]", "return last.max()")),
    "transformer-false": Pick(),
    "transformer-cross": Lines(
        ("found, _ = multi_head_attention(asking, part, heads)", "return asking + found", "return found")
    ),
    "transformer-bug": Mend(
        {
            'if name != "norm":': {"the norm should run like a layer": "if True:"},
            "output = layer(x, part, heads)": {
                "what a layer returns should be added to x": "output = x = x + layer(x, part, heads)",
                "what a layer returns should go into the next": "output = x = layer(x, part, heads)",
                "a layer should begin with the norm of the stack": (
                    'output = layer(layer_norm(x, **params["norm"]), part, heads)'
                ),
            },
            "return output": {
                "the input of the stack should be added": "return x + output",
                "the rows should be brought to one length": (
                    "return output / np.linalg.norm(output, axis=-1, keepdims=True)"
                ),
                "the norm of the stack should come last": 'return layer_norm(output, **params["norm"])',
            },
        }
    ),
    "transformer-count": Typed("Type what it returns for `v` = 20, `d` = 3, `f` = 5 and `layers` = 2.", (20, 3, 5, 2)),
    "transformer-lab-assembled": Lines(
        (
            'memory = passed(embedded(source, params["source_embedding"]), params["encoder"], 1)',
            'x = passed(embedded(target, params["embedding"]), params["decoder"], 4, memory)',
            'return x @ params["embedding"].T',
        )
    ),
}
