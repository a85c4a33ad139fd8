"""Findings of chapters 1 and 2, on each half of the text alone, at other widths and with other words."""

from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from gensim.test.utils import datapath
from scipy.sparse.linalg import svds
from scipy.stats import spearmanr

from minitransformer.dot_product import cosine_matrix, cosine_similarity, unit
from minitransformer.word_vectors import count_pairs, load_corpus, load_vectors, ppmi, train_vectors

from .words import SEEDS, many, shares

HALVES = (0, 1)  # every second document, from the first on or from the second
TOWNS = {"gaza", "ramallah", "bethlehem", "hebron", "jenin", "nablus", "jericho", "jerusalem"}
GRAMMAR = ("gram1-adjective-to-adverb", "gram3-comparative", "gram7-past-tense", "gram8-plural")
TOPICS = (
    "music song album band guitar piano jazz concert",
    "football cricket game team players league match tennis",
    "river water lake sea mountain forest island rain",
    "money bank economy trade price market tax cost",
    "war army troops battle soldiers military weapons attack",
    "disease patients medical health hospital drugs treatment doctor",
)
OPPOSITES = (
    "good bad, large small, high low, north south, east west, old young, early late, long short, left right, "
    "black white, men women, upper lower, public private, war peace, father mother, begin end, strong weak, "
    "first last, win lose, inside outside"
)


def listed(name):
    """Return a list that comes with gensim, in small letters."""
    return Path(datapath(name)).read_text(encoding="utf-8").lower()


@cache
def half(which):
    """Return every second document of the text."""
    return load_corpus()[which::2]


@cache
def vectors_of(which, size=100):
    """Return the vectors of a half of the text."""
    return train_vectors(half(which), size)


@cache
def rated(which):
    """Return the rows of both words of each rated pair that a half of the text knows, and the ratings."""
    lines = listed("wordsim353.tsv").splitlines()[1:]
    index = vectors_of(which).key_to_index
    pairs = [line.split("\t") for line in lines if line[0] != "#"]
    known = [(index[a], index[b], float(rating)) for a, b, rating in pairs if a in index and b in index]
    first, second, people = np.array(known).T
    return first.astype(int), second.astype(int), people


def agreement(which, rows, number=cosine_similarity):
    """Return how well the order of a number of each rated pair agrees with people's."""
    first, second, people = rated(which)
    return spearmanr(people, number(rows[first], rows[second]))[0]


def products(a, b):
    """Return the dot product of each row with its partner."""
    return (a * b).sum(axis=-1)


def more_numbers():
    found = np.array([[agreement(one, vectors_of(one).vectors[:, :k]) for k in (2, 10, 100)] for one in HALVES])
    return f"2, 10, 100 numbers: {many(found[0])} and {many(found[1])}", {
        "gain over two and ten numbers": found[:, 2:] - found[:, :2]
    }


def tables(which):
    """Return counts and PPMI of a half of the text, in the order of its vectors."""
    counts = count_pairs(half(which), vectors_of(which).key_to_index)
    return counts, ppmi(counts)


def shortened(table):
    """Return the 100 strongest patterns of a table as vectors."""
    u, s, _ = svds(table, k=100, solver="propack")
    return u * np.sqrt(s)


def no_ppmi():
    found = []
    for one in HALVES:
        counts, information = tables(one)
        rare = counts.tocsc()[:, 200:]
        found.append([agreement(one, shortened(table)) for table in (counts, rare, rare.log1p(), information)])
    text = f"counts, of rarer neighbours, their logarithms, PPMI: {many(found[0])} and {many(found[1])}"
    return text, {"gain of PPMI": [best - damped for _, _, damped, best in found]}


def no_svd():
    found = []
    for one in HALVES:
        first, second, people = rated(one)
        matrix = tables(one)[1]
        bare = spearmanr(people, cosine_similarity(matrix[first].toarray(), matrix[second].toarray()))[0]
        found.append((bare, agreement(one, vectors_of(one).vectors)))
    return f"without and with: {many(found[0])} and {many(found[1])}", {
        "gain of the SVD": [whole - bare for bare, whole in found]
    }


def sums():
    vectors = load_vectors()
    lines = [line.split() for line in listed("questions-words.txt").splitlines()]
    family = next(i for i, line in enumerate(lines) if line == [":", "family"])
    known = [line for i, line in enumerate(lines) if not family < i < family + 507 and all(w in vectors for w in line)]
    drawn = [known[i] for i in np.random.default_rng(SEEDS[0]).permutation(len(known))[:500]]
    nearest = [vectors.similar_by_vector(vectors[b] - vectors[a] + vectors[c], topn=1)[0][0] for a, b, c, _ in drawn]
    share = np.mean([word in given[:3] for word, given in zip(nearest, drawn)])
    return f"{share:.0%} of {len(drawn)}", {"sums that stay": share}


def opposites():
    vectors = load_vectors()
    one, other = zip(*(pair.split() for pair in OPPOSITES.split(", ")))
    table = cosine_matrix(vectors[list(one)], vectors[list(other)])
    apart = table[~np.eye(len(one), dtype=bool)]
    return f"median {np.median(np.diag(table)):.2f}, control {np.median(apart):.2f}", {
        "median less the control's": np.median(np.diag(table)) - np.median(apart)
    }


def west_bank():
    joined = [" ".join(words).replace(" west bank ", " west_bank ").split() for words in load_corpus()]
    found = []
    for documents in (load_corpus(), joined):
        for size, window in ((100, 2), (100, 10), (50, 5)):
            near = train_vectors(documents, size, window).most_similar("bank", topn=9)
            found.append(sum(word in TOWNS for word, _ in near))
    return f"towns among the nearest nine: {many(found[:3], '.0f')}; joined {many(found[3:], '.0f')}", {
        "towns": found[:3],
        "towns, the two words joined": found[3:],
    }


def cosine_or_product():
    rows = [(one, vectors_of(one).vectors[:, :d]) for one in HALVES for d in (100, 25)]
    found = np.array([(agreement(*row), agreement(*row, products)) for row in rows])
    return f"cosine {many(found[:, 0])}, product {many(found[:, 1])}", {"gap": found[:, 0] - found[:, 1]}


def lengths_alone():
    rows = [(one, vectors_of(one).vectors[:, :d]) for one in HALVES for d in (100, 25)]
    found = [agreement(*row, lambda a, b: products(a, a) * products(b, b)) for row in rows]
    return f"rank correlation {many(found)}", {"the lengths' agreement": np.abs(found)}


def long_and_frequent():
    found = []
    for one in HALVES:
        for d in (100, 25):
            lengths = np.linalg.norm(vectors_of(one).vectors[:, :d], axis=1)
            found.append(spearmanr(lengths, -np.arange(len(lengths)))[0])
    return f"rank correlation {many(found)}", {"rank correlation": found}


def commonest():
    found = []
    for one in HALVES:
        lengths = np.linalg.norm(vectors_of(one).vectors, axis=1)
        found += [np.median(lengths[:20]), np.median(lengths[20:1000])]
    return f"median of the 20 commonest and of the next 980: {many(found)}", {
        "median of the 20 over that of the 980": [found[0] / found[1], found[2] / found[3]]
    }


def sorted_rightly(one, other, rng, count=300):
    """Return which share of the rows a question sorts that is made of three of each group; drawn so many times."""
    shares = []
    for a, b in ((rng.permutation(one), rng.permutation(other)) for _ in range(count)):
        question = a[:3].mean(axis=0) - b[:3].mean(axis=0)
        shares.append(np.mean(np.append(a[3:] @ question > 0, b[3:] @ question < 0)))
    return np.mean(shares)


def sorted_by_chance(one, other, rng, count=300):
    """Return the same with the labels of the rows shuffled, each time anew."""
    both = (np.split(rng.permutation(np.vstack([one, other])), [len(one)]) for _ in range(count))
    return np.mean([sorted_rightly(*each, rng, 1) for each in both])


def questions():
    vectors, rng, text = load_vectors(), np.random.default_rng(SEEDS[0]), listed("questions-words.txt")
    rows = lambda words: unit(vectors[sorted(word for word in set(words) if word in vectors)])
    kinds = [text.split(kind + "\n")[1].split(":")[0].split() for kind in GRAMMAR]
    grammar = [(rows(words[::2]), rows(words[1::2])) for words in kinds]
    topics = list(combinations([rows(words.split()) for words in TOPICS], 2))
    found = [sorted_rightly(*pair, rng) for pair in topics], [sorted_rightly(*pair, rng) for pair in grammar]
    control = [np.mean([sorted_by_chance(*pair, rng) for pair in pairs]) for pairs in (topics, grammar)]
    text = f"topics {shares([np.mean(found[0])])}, worst pair {shares([min(found[0])])}; {shares(found[1])}"
    return f"{text}; shuffled {shares(control)}", {
        "worst pair of topics": min(found[0]),
        "plurals": found[1][-1],
        "each kind of grammar": found[1],
        "shuffled": control,
    }


def words_at_random():
    found = []
    for one in HALVES:
        rows = vectors_of(one).vectors
        i, j = np.random.default_rng(SEEDS[one]).integers(len(rows), size=(2, 50_000))
        for x in (rows, rows[1::2] - rows[::2].mean(axis=0)):
            cosines = cosine_similarity(x[i % len(x)], x[j % len(x)])
            found.append((cosines.mean(), cosines.std() * x.shape[1] ** 0.5))
    means, spreads = np.transpose(found)
    text = f"mean, centred mean {many(means)}; spread times √d {many(spreads)}"
    return text, {"mean": means[::2], "centred mean": np.abs(means[1::2]), "spread times √d": spreads}
