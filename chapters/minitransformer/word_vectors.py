"""Word vectors: counts of neighbours, PPMI, vectors trained or read from files, PCA; built in chapter 1."""

import bz2
import difflib
import re
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
from gensim import downloader
from gensim.corpora.wikicorpus import extract_pages, process_article
from gensim.models import KeyedVectors
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess
from scipy import sparse
from scipy.sparse.linalg import svds
from smart_open import open as open_any

from .arrays import finite, floats, number, of_type, square, whole, word_lists
from .arrays.digests import digest
from .arrays.files import cache_folder, read_arrays, write_arrays

TEXTS = ("enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2", "lee_background.cor")

GLOVE_EXAMPLES = {  # three words of glove-twitter-25 as printed by Tumu (key tumu2024 in the bibliography)
    word: np.array(numbers.split(), dtype=np.float32)
    for word, numbers in {
        "screen": "0.31098 -0.53336 0.9123 -0.15256 0.89117 -0.10692 0.78658 -0.19013 0.93285 0.52754 0.31475 0.63839 "
        "-3.4433 -0.65918 0.055317 1.3083 0.4009 0.0071616 -0.27728 0.017544 -0.86985 -0.60072 1.3789 0.25096 -1.4383",
        "rock": "0.021641 -0.54484 0.78102 -0.10052 0.10482 0.53319 1.0586 0.90491 0.2594 -0.73547 -0.12972 -0.59679 "
        "-3.4979 -0.61679 -0.15259 0.072474 -0.45453 -0.14681 0.09392 0.32735 -0.68834 -0.020972 0.21344 -0.63178 "
        "1.3292",
        "remote": "0.1125 0.38049 0.40254 0.089511 0.58018 0.067418 0.41842 -0.46138 1.8756 0.99621 0.19743 0.27248 "
        "-2.7099 -0.65497 0.54752 1.0199 0.58964 0.1559 0.93753 -0.28045 -0.8659 -0.88299 0.85855 -0.39055 -1.0604",
    }.items()
}
PCA_EXAMPLES = {  # five GloVe words of width 100 projected to the plane, as printed by Margalit (key margalit2023)
    "florida": np.array([-2.40062016, 0.00478901]),
    "california": np.array([-2.54245794, -0.37579669]),
    "texas": np.array([-2.24764634, -0.12963368]),
    "politics": np.array([3.02004564, 2.88826688]),
    "truth": np.array([4.17067881, -2.38762552]),
}


for _example in (*GLOVE_EXAMPLES.values(), *PCA_EXAMPLES.values()):
    _example.setflags(write=False)  # a reader's cell must not change them for the next one


class Vectors(KeyedVectors):
    """gensim's KeyedVectors, which for an unknown word also names the nearest spellings; used from chapter 1 on.

    >>> vectors = Vectors(2)
    >>> vectors.add_vectors(["cat", "dog"], np.eye(2))
    >>> vectors["dog"].tolist()
    [0.0, 1.0]
    """

    def add_vector(self, key, vector):
        """Add a word as gensim does.  Raises ValueError, naming it, where its numbers are too few, too many or NaN."""
        if np.shape(vector) != (self.vector_size,) or not np.isfinite(vector).all():
            raise ValueError(f"{key!r} has {np.size(vector)} numbers; expected {self.vector_size} finite ones")
        return super().add_vector(key, vector)

    def get_index(self, key, default=None):
        """Return the row of `key`; KeyError with near matches where it is unknown."""
        if key in self.key_to_index or default is not None or not isinstance(key, str):
            return super().get_index(key, default)
        near = difflib.get_close_matches(key.lower(), self.index_to_key[:50_000], n=3)
        hint = f"did you mean {', '.join(near)}?" if near else "try a more frequent word, in lower case."
        raise KeyError(f"{key!r} is not among the {len(self):,} words of these vectors: {hint}")

    def get_mean_vector(self, keys, *args, ignore_missing=True, **kwargs):
        """Return the mean of the vectors of `keys` (…, d) as gensim does, naming near matches of an unknown word."""
        for key in () if ignore_missing else keys:
            if isinstance(key, str):
                self.get_index(key)
        return super().get_mean_vector(keys, *args, ignore_missing=ignore_missing, **kwargs)


def load_news():
    """Return 300 Australian news stories that come with gensim, each a list of lower-case words.

    Used in chapters 1 and 14.

    >>> news = load_news()
    >>> len(news), news[0][:4]
    (300, ['hundreds', 'of', 'people', 'have'])
    """
    with open(datapath(TEXTS[1]), encoding="utf-8") as news:
        return list(map(simple_preprocess, news))


def load_corpus():
    """Return the book's text as a list of documents, each a list of lower-case words.

    106 shortened Wikipedia articles that come with gensim, and the stories of `load_news`.  Used from chapter 1 on.

    >>> documents = load_corpus()
    >>> len(documents), sum(map(len, documents)) > 450_000
    (406, True)
    """
    # Not WikiCorpus, which starts processes: outside Linux, a script of the reader's would run once more in each.
    with bz2.open(datapath(TEXTS[0])) as dump:
        pages = ((text, title, number) for title, text, number in extract_pages(dump, filter_namespaces=("0",)))
        articles = [words for words, _, _ in map(process_article, pages) if len(words) >= 50]
        return [*articles, *load_news()]


def count_pairs(sentences, index, window=5):
    """Count how often two words stand at most `window` words apart.

    Shapes: sentences, lists of words; index, dict of word -> row, words outside it are left out before the distance
    is taken -> sparse (n, n), symmetric.  Raises TypeError for other arguments, and ValueError where `window` is no
    whole number from 1 on.  Built in chapter 1.

    >>> index = {"a": 0, "cat": 1, "sat": 2}
    >>> count_pairs([["a", "cat", "sat"]], index, window=1).toarray().astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    sentences, index = word_lists(sentences, "sentences"), of_type(index, "index", dict)
    rows = [np.array([index[word] for word in words if word in index], dtype=int) for words in sentences]
    steps = range(1, whole(window, "window") + 1)
    left = np.concatenate([row[:-step] for step in steps for row in rows])
    right = np.concatenate([row[step:] for step in steps for row in rows])
    entries = (np.ones(len(left)), (left, right))
    counts = sparse.coo_array(entries, shape=(len(index), len(index))).tocsr()
    return counts + counts.T


def ppmi(counts, smoothing=0.75):
    """Turn co-occurrence counts into positive pointwise mutual information, log p(w, c) / (p(w) p(c)) or 0.

    Shapes: counts, sparse (n, n) -> sparse (n, n).  `smoothing` is the power on the context counts.
    Raises ValueError where `counts` has another shape.
    Church and Hanks (1990), Levy et al. (2015); built in chapter 1.

    >>> ppmi(np.array([[0, 2], [2, 0]])).toarray().round(2).tolist()
    [[0.0, 0.69], [0.69, 0.0]]
    """
    counts = sparse.csr_array(square(counts, "counts"))
    pairs = counts.tocoo()
    word = counts.sum(axis=1)
    context = word ** number(smoothing, "smoothing", -np.inf)
    chance = word[pairs.row] * context[pairs.col] / context.sum()
    information = np.log(pairs.data / chance)
    keep = information > 0
    entries = (information[keep], (pairs.row[keep], pairs.col[keep]))
    return sparse.csr_array(entries, shape=counts.shape)


def train_vectors(sentences, size=100, window=5, min_count=5):
    """Learn word vectors from text: counts, PPMI, truncated SVD.  Deterministic.

    Shapes: sentences, lists of words -> `Vectors` of n words by `size`, most frequent word first, float32; n counts
    the words seen `min_count` times or more.  Raises ValueError where n is not larger than `size`.
    Levy, Goldberg and Dagan (2015); built in chapter 1.

    >>> text = [["cat", "eats", "fish"], ["dog", "eats", "meat"]] * 5
    >>> vectors = train_vectors(text, size=2, window=1)
    >>> vectors.index_to_key, vectors.vectors.shape
    (['eats', 'cat', 'fish', 'dog', 'meat'], (5, 2))
    """
    sentences = word_lists(sentences, "sentences")
    min_count = whole(min_count, "min_count", 0)
    seen = Counter(word for words in sentences for word in words)
    vocabulary = [word for word, count in seen.most_common() if count >= min_count]
    if not 0 < whole(size, "size", 0) < len(vocabulary):
        raise ValueError(
            f"size is {size}, and {len(vocabulary)} words occur {min_count} times or more; "
            "expected fewer numbers than words: give more text."
        )
    index = {word: row for row, word in enumerate(vocabulary)}
    matrix = ppmi(count_pairs(sentences, index, window))
    if len(index) < 500:  # too small for the solver, which may not converge
        u, s, _ = (x[..., size - 1 :: -1] for x in np.linalg.svd(matrix.toarray()))
    else:
        steps, start = max(10 * size, 500), np.ones(len(index))
        u, s, _ = svds(matrix, k=size, v0=start, maxiter=steps, solver="propack")
    u *= np.sign(u[np.abs(u).argmax(axis=0), range(size)])  # largest entries positive
    vectors = Vectors(size)
    vectors.add_vectors(vocabulary, (u * np.sqrt(s))[:, ::-1].astype(np.float32))
    return vectors


def pca(x, k=2):
    """Project the rows of `x` onto the `k` orthogonal directions in which they vary most.

    Shapes: x (n, d) -> (n, k), every column with mean 0.  Signs are fixed: the largest entry of a direction is
    positive.  Raises ValueError where k is not in 1 … min(n, d).  Pearson (1901); built in chapter 1.

    >>> line = np.array([[1.0, 2, 5], [2, 4, 5], [3, 6, 5]])
    >>> flat = pca(line, 1)
    >>> flat.shape, float(np.ptp(flat).round(3))
    ((3, 1), 4.472)
    """
    x = floats(x)
    if x.ndim != 2 or not 1 <= whole(k, "k", 0) <= min(x.shape):
        raise ValueError(f"x has shape {x.shape} and k is {k}; expected (n, d) and 1 ≤ k ≤ min(n, d).")
    centred = finite(x) - x.mean(axis=0)
    directions = np.linalg.svd(centred, full_matrices=False)[2][: int(k)]
    largest = np.abs(directions).argmax(axis=1)
    signs = np.sign(directions[range(len(largest)), largest])
    return centred @ (signs[:, None] * directions).T


def load_vectors(name="book", download=True):
    """Return word vectors: the book's own, a set known to gensim's downloader, or those of a text file.

    `name` is "book", a name such as "glove-twitter-25" (fetched once; FileNotFoundError where it is not here and
    `download` is False, ConnectionError where it cannot be fetched), or the path of a word2vec or GloVe text file,
    plain or compressed (ValueError where the file is malformed or cut).
    The book's own are trained at the first call, in seconds, and kept in the system's cache folder, or in the one
    that the environment variable MINITRANSFORMER_CACHE names.  Used from chapter 2 on.

    >>> vectors = load_vectors()
    >>> vectors.vectors.shape[1], "spain" in dict(vectors.most_similar("france"))
    (100, True)
    """
    if not isinstance(name, str | Path):
        raise TypeError(f'name is {name!r}; expected "book", a set that gensim knows, or a path.')
    if name == "book":
        return _book_vectors()
    if Path(name).is_file():
        return _read_text(Path(name))
    if Path(name).suffix in {".txt", ".vec", ".gz", ".bz2"} or Path(name).name != str(name):
        raise FileNotFoundError(f"there is no file {str(name)!r}; expected word2vec or GloVe text: check the path.")
    return _read_text(_downloaded(name, download))


def _book_vectors():
    """Load the book's vectors from the cache, which is named after what they are made of; train them if need be."""
    path = cache_folder() / f"book-{_content()}.npz"
    try:
        kept = read_arrays(path, "words", "vectors")
    except FileNotFoundError:
        kept = None
    except ValueError as damage:
        print(f"The cache of the book's vectors {damage}: training them again.")
        kept = None
    if kept is None:
        vectors = train_vectors(load_corpus())
        write_arrays(path, words=np.array(vectors.index_to_key), vectors=vectors.vectors)
        return vectors
    vectors = Vectors(kept["vectors"].shape[1])
    vectors.add_vectors(kept["words"].tolist(), kept["vectors"])
    return vectors


def _content():
    """Return a digest of the code that turns the texts, which come with gensim, into vectors."""
    return digest(load_corpus, train_vectors)


def _downloaded(name, download):
    """Return the path of a set of vectors of gensim's downloader, fetched when it is not here yet."""
    path = Path(downloader.BASE_DIR, name, f"{name}.gz")
    if not path.exists() and not download:
        raise FileNotFoundError(f"{name!r} is not on this machine; load_vectors({name!r}) fetches it once.")
    if not path.exists():
        try:
            downloader.load(name, return_path=True)
        except Exception as problem:  # the downloader raises bare Exception too
            reason = re.sub(r"\s+", " ", str(problem)).strip(" .")
            raise ConnectionError(
                f"{name!r} could not be fetched into {downloader.BASE_DIR} ({reason}): it takes a network, a name that "
                'gensim knows and a folder that can be written to; load_vectors("book") needs none of them.'
            ) from None
    return path


def _read_text(path):
    """Read a word2vec text file (first line: how many words, how many numbers) or a GloVe one (no such line)."""
    try:
        with open_any(path, encoding="utf-8") as file:
            first = file.readline().split()
        if len(first) < 2:
            raise ValueError("its first line has no word with numbers")
        header = len(first) == 2 and all(field.isdecimal() for field in first)
        return Vectors.load_word2vec_format(path, no_header=not header)
    except (ValueError, EOFError, OSError, zlib.error) as problem:
        raise ValueError(
            f"{path} cannot be read ({problem}); expected word2vec or GloVe text: fetch it again."
        ) from None
