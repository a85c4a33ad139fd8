"""Measure what the tests must not: seconds and memory, as ratios within one run.  `make bench` runs this.

OPENBLAS_NUM_THREADS=1 .venv/bin/python -m tests.bench.bench [PART …]; the parts are listed at the end
"""

import os
import sys
import time
import tracemalloc

import numpy as np
from gensim.models import Word2Vec
from gensim.test.utils import datapath
from scipy import special
from scipy.sparse.linalg import svds
from sklearn.metrics import pairwise

from minitransformer.attention import attention
from minitransformer.dot_product import cosine_matrix
from minitransformer.feed_forward import feed_forward
from minitransformer.layer_norm import layer_norm
from minitransformer.masks import causal_mask
from minitransformer.multi_head import multi_head_attention
from minitransformer.softmax import softmax
from minitransformer.transformer import count, initialise, layer, layer_shapes, views
from minitransformer.word_vectors import Vectors, count_pairs, load_corpus, ppmi, train_vectors
from tests.bench.bench_build import builds
from tests.bench.bench_readers import readers

PAIRS = datapath("wordsim353.tsv")


def seconds(function, repeats=1):
    """Return the shortest time of `repeats` calls and the last result."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


def race(functions, budget=3):
    """Return the shortest time of each function, tried in turn for `budget` seconds, small ones often at each turn."""
    repeats = [1 + int(0.01 / seconds(function)[0]) for function in functions]
    times, end = [], time.perf_counter() + budget
    while len(times) < 3 or time.perf_counter() < end:
        times.append([seconds(function, often)[0] for function, often in zip(functions, repeats)])
    return np.min(times, axis=0)


def megabytes(function):
    """Return the largest memory that Python and NumPy held at once during a call, above what they held before."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def word_vectors():
    """Compare counting with word2vec on the book's text: time, and agreement with people (WordSim-353)."""
    reading, documents = seconds(load_corpus)
    ours, vectors = seconds(lambda: train_vectors(documents))
    print(f"read the text             {reading:6.1f} s")
    print(f"counts, PPMI, SVD         {ours:6.1f} s   Spearman {spearman(vectors):.2f}", end="   ")
    print(f"peak {megabytes(lambda: train_vectors(documents)):.0f} MiB")
    counts = count_pairs(documents, vectors.key_to_index)
    u, s, _ = svds(ppmi(counts, smoothing=1), k=100, v0=np.ones(len(vectors)))
    unsmoothed = Vectors(100)
    unsmoothed.add_vectors(vectors.index_to_key, (u * np.sqrt(s)).astype(np.float32))
    print(f"the same, not smoothed            Spearman {spearman(unsmoothed):.2f}")
    for options in (
        {"epochs": 2, "vector_size": 100, "alpha": 0.1, "sample": 1e-4},  # as in chapter 1
        {"epochs": 10, "vector_size": 50, "window": 10},
    ):
        took, model = seconds(
            lambda options=options: Word2Vec(documents, min_count=5, sg=1, seed=0, workers=1, **options)
        )
        name = f"word2vec, {options['epochs']:2} passes"
        print(f"{name:25} {took:6.1f} s   Spearman {spearman(model.wv):.2f}", end="   ")
        print(f"{took / ours:.1f} times ours")


def spearman(vectors):
    """Return the rank correlation with human judgement over the pairs whose words are known."""
    return vectors.evaluate_word_pairs(PAIRS)[1][0]


def arrays():
    """Compare the helper's functions with those of SciPy and scikit-learn on one thousand rows."""
    x = np.random.default_rng(0).normal(size=(1000, 1000)).astype(np.float32)
    for name, mine, theirs in (
        ("softmax", lambda: softmax(x), lambda: special.softmax(x, axis=-1)),
        ("cosine_matrix", lambda: cosine_matrix(x), lambda: pairwise.cosine_similarity(x)),
    ):
        ratio = seconds(mine, 20)[0] / seconds(theirs, 20)[0]
        memory = megabytes(mine) / megabytes(theirs)
        print(f"{name:14} {ratio:.2f} times the library's time, {memory:.2f} times its memory")


def attentions():
    """Compare attention and multi-head attention with the plain formula."""
    for title, players in (("attention, 1 head of width 64", single), ("multi-head attention, 4 of width 64", multi)):
        print(f"\n{title}")
        for n in (64, 256, 1024, 4096):
            mine, scores, plain = players(n)
            took, share, other = race([mine, lambda scores=scores: softmax(scores), plain])
            used = megabytes(mine)
            more = used / megabytes(plain)
            row = f"n = {n:4} {1e3 * took:8.2f} ms {used:6.1f} MiB, softmax {share / took:3.0%} of the time"
            print(f"{row}, {took / other:.2f} times the formula's time, {more:.2f} times its memory")


def layers():
    """Say where a layer's time goes."""
    for d, heads, n, batch in ((32, 2, 16, 32), (64, 4, 32, 32), (128, 4, 64, 16), (256, 8, 128, 8)):
        players = parts_of_a_layer(d, heads, n, batch)
        times = dict(zip(players, race(list(players.values()))))
        shares = ", ".join(f"{name} {times[name] / times['all']:3.0%}" for name in list(players)[1:])
        print(f"d {d:3}, {heads} heads, {batch:2} × {n:3} tokens: {1e3 * times['all']:6.2f} ms ({shares})")


def parts_of_a_layer(d, heads, n, batch):
    """Return a pre-norm layer and its parts, as functions."""
    shapes, rng = layer_shapes(d, 4 * d), np.random.default_rng(0)
    params = views(np.zeros(count(shapes), np.float32), shapes)
    initialise(params, rng)
    x, keep = rng.normal(size=(batch, n, d)).astype(np.float32), causal_mask(n)
    own, wide = params["attention"], params["feed_forward"]
    return {
        "all": lambda: layer(x, params, heads, keep=keep),
        "norms": lambda: [layer_norm(x, part["gain"], part["bias"]) for part in (own, wide)],
        "attention": lambda: multi_head_attention(x, own, heads, keep=keep),
        "feed-forward": lambda: feed_forward(x, wide),
    }


def single(n):
    """Return our attention, its scores, and the plain formula."""
    queries, keys, values = np.random.default_rng(0).normal(size=(3, 1, 1, n, 64)).astype(np.float32)
    scores = queries @ keys.swapaxes(-1, -2) / 8
    return lambda: attention(queries, keys, values), scores, lambda: formula(queries, keys, values)


def multi(n):
    """Return our multi-head attention, its scores, and the plain formula."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, n, 256)).astype(np.float32)
    matrices = rng.normal(size=(4, 256, 256)).astype(np.float32) / 16
    params = dict(zip(("W_Q", "W_K", "W_V", "W_O"), matrices))
    queries, keys = (cut(x @ params[name]) for name in ("W_Q", "W_K"))
    scores = queries @ keys.swapaxes(-1, -2) / 8
    return lambda: multi_head_attention(x, params, 4), scores, lambda: formula_of_heads(x, matrices)


def formula(queries, keys, values):
    """Return attention as one writes it down."""
    scores = queries @ keys.swapaxes(-1, -2) / np.float32(np.sqrt(queries.shape[-1]))
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ values, weights


def formula_of_heads(x, matrices):
    """Return multi-head attention as one writes it down."""
    output, weights = formula(*(cut(x @ matrix) for matrix in matrices[:3]))
    return output.swapaxes(1, 2).reshape(x.shape) @ matrices[3], weights


def cut(x):
    """Return x (1, n, 256) as four heads (1, 4, n, 64)."""
    return x.reshape(1, -1, 4, 64).swapaxes(1, 2)


PARTS = {part.__name__: part for part in (word_vectors, arrays, attentions, layers, readers, builds)}

if __name__ == "__main__":
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        print("NumPy may use several threads; for ratios that mean something set OPENBLAS_NUM_THREADS=1.")
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
