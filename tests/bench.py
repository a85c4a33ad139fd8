"""Measure what the tests must not: seconds and memory, as ratios within one run.  `make bench` runs this.

python tests/bench.py
"""

import time
import tracemalloc

import numpy as np
from gensim.models import Word2Vec
from gensim.test.utils import datapath
from scipy import special
from scipy.sparse.linalg import svds
from sklearn.metrics import pairwise

from minitransformer.dot_product import cosine_matrix
from minitransformer.softmax import softmax
from minitransformer.word_vectors import Vectors, count_pairs, load_corpus, ppmi, train_vectors

PAIRS = datapath("wordsim353.tsv")


def seconds(function, repeats=1):
    """Return the shortest time of `repeats` calls and the last result."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


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


if __name__ == "__main__":
    word_vectors()
    arrays()
