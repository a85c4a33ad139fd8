"""Chapter 1's module: counting, PPMI, PCA; the trained vectors, their cache, and files of vectors with every fault."""

import gzip
import itertools
from functools import partial

import numpy as np
import pytest
from gensim import downloader
from gensim.models import KeyedVectors
from gensim.test.utils import datapath
from sklearn.decomposition import PCA

from minitransformer import word_vectors
from minitransformer.arrays.files import write_arrays
from minitransformer.word_vectors import (
    GLOVE_EXAMPLES,
    PCA_EXAMPLES,
    count_pairs,
    load_corpus,
    load_vectors,
    pca,
    ppmi,
    train_vectors,
)
from tests.shared.functions import Case
from tests.shared.oracles import random

GLOVE = datapath("test_glove.txt")
TOY = [line.split() for line in ("the cat sat on the mat", "the dog sat on the rug", "a cat saw a dog")] * 3
INDEX = {word: i for i, word in enumerate(["the", "cat", "sat", "dog", "a"])}
FUNCTIONS = {
    "pca": Case(pca, {"x": (9, 6)}, [(9, 2)]),
}


@pytest.mark.parametrize("window", [1, 2, 9])
def test_counting_is_the_triple_loop(window):
    table = np.zeros((5, 5))
    for words in TOY:
        rows = [INDEX[word] for word in words if word in INDEX]
        for (i, row), (j, column) in itertools.permutations(enumerate(rows), 2):
            table[row, column] += abs(i - j) <= window
    assert (count_pairs(TOY, INDEX, window).toarray() == table).all()


def test_what_is_left_out_is_the_window_the_smoothing_and_the_count_of_the_chapter():
    text = [TOY[0] + TOY[2]] * 5  # eleven words, so that a window of 5 is not one of 6
    counts = count_pairs(text, INDEX)
    assert (counts.toarray() == count_pairs(text, INDEX, window=5).toarray()).all()
    assert (counts.toarray() != count_pairs(text, INDEX, window=6).toarray()).any()
    assert (ppmi(counts).toarray() == ppmi(counts, smoothing=0.75).toarray()).all()
    one, two = (train_vectors(text, size=3, **left_out) for left_out in ({}, {"window": 5, "min_count": 5}))
    assert one.index_to_key == two.index_to_key and (one.vectors == two.vectors).all()
    assert (one.vectors != train_vectors(text, size=3, window=6).vectors).any()


@pytest.mark.parametrize("smoothing", [1, 0.75])
def test_ppmi_is_its_definition(smoothing):
    counts = count_pairs(TOY, INDEX, 2)
    joint = counts.toarray() / counts.sum()
    contexts = joint.sum(0) ** smoothing / (joint.sum(0) ** smoothing).sum()
    with np.errstate(divide="ignore"):
        expected = np.maximum(np.log(joint / np.outer(joint.sum(1), contexts)), 0)
    np.testing.assert_allclose(ppmi(counts, smoothing).toarray(), expected, atol=1e-12)


def test_the_corpus_is_the_one_that_the_book_describes():
    documents = load_corpus()
    assert (len(documents), sum(map(len, documents))) == (406, 511_096)


def test_training_is_deterministic_and_orders_words_by_frequency():
    one, two = (train_vectors(TOY, size=3, window=2, min_count=3) for _ in range(2))
    assert one.index_to_key[0] == "the" and one.vectors.dtype == np.float32
    assert (one.vectors == two.vectors).all()


def test_the_signs_of_trained_vectors_are_fixed():
    vectors = train_vectors(TOY, size=4, window=2, min_count=3).vectors
    assert (vectors[np.abs(vectors).argmax(axis=0), range(4)] > 0).all()


def test_many_words_get_the_vectors_of_the_largest_singular_values_as_few_do():
    rng = np.random.default_rng(0)  # ten topics of sixty words each
    text = (60 * rng.integers(10, size=(3_000, 1)) + rng.integers(60, size=(3_000, 12))).astype(str).tolist()
    found = train_vectors(text, size=4, window=2, min_count=0)
    assert found.vectors.shape == (600, 4) and (found.vectors[np.abs(found.vectors).argmax(axis=0), range(4)] > 0).all()
    table = ppmi(count_pairs(text, found.key_to_index, window=2)).toarray()
    largest = np.linalg.svd(table, compute_uv=False)[:4]
    np.testing.assert_allclose((found.vectors**2).sum(axis=0), largest, rtol=1e-5)


@pytest.mark.parametrize("size", [1, 3])
def test_a_few_numbers_are_found_for_words_that_are_nearly_all_alike(size):
    rng = np.random.default_rng(0)
    text = rng.integers(700, size=(3_000, 8)).astype(str).tolist()  # its singular values lie close together
    found = train_vectors(text, size=size)
    table = ppmi(count_pairs(text, found.key_to_index)).toarray()
    largest = np.linalg.svd(table, compute_uv=False)[:size]
    np.testing.assert_allclose((found.vectors**2).sum(axis=0), largest, rtol=1e-5)


def test_all_words_count_where_none_has_to_be_seen():
    every = train_vectors(TOY[:2], size=3, min_count=1)
    assert (train_vectors(TOY[:2], size=3, min_count=0).vectors == every.vectors).all() and len(every) == 7
    with pytest.raises(ValueError, match="^min_count is -1; expected a whole number from 0 on"):
        train_vectors(TOY, min_count=-1)


def test_too_little_text_is_refused():
    with pytest.raises(ValueError, match="size is 100, and 6 words occur 5 times or more; .*give more text"):
        train_vectors(TOY)


def test_the_books_vectors_agree_with_people():
    vectors = load_vectors()
    assert isinstance(vectors, KeyedVectors) and vectors.vectors.shape == (9733, 100)
    assert vectors.evaluate_word_pairs(datapath("wordsim353.tsv"))[1][0] >= 0.5


def test_an_unknown_word_is_named_with_its_near_matches():
    with pytest.raises(KeyError, match="'frnace' is not among the 9,733 words of these vectors: did you mean france"):
        load_vectors()["frnace"]
    with pytest.raises(KeyError, match="did you mean france"):
        load_vectors().most_similar("frnace")
    assert "frnace" not in load_vectors()


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_pca_is_that_of_scikit_learn_with_directions_whose_largest_entry_is_positive(k, seed):
    x = random(7, 4, seed=seed) * [4, 3, 2, 1] + 5
    theirs = PCA(k).fit(x)
    signs = [np.sign(row[np.abs(row).argmax()]) for row in theirs.components_]
    np.testing.assert_allclose(pca(x, k), theirs.transform(x) * signs, atol=1e-12)


def test_the_examples_are_those_of_the_sources():
    assert {word: len(vector) for word, vector in GLOVE_EXAMPLES.items()} == {"screen": 25, "rock": 25, "remote": 25}
    assert GLOVE_EXAMPLES["screen"].dtype == np.float32 and GLOVE_EXAMPLES["remote"][12] == np.float32(-2.7099)
    np.testing.assert_allclose(sum(PCA_EXAMPLES.values()), [1e-8, 0.0], atol=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        PCA_EXAMPLES["texas"][0] = 0


PRINTED = (  # by Tumu (key tumu2024 in the bibliography)
    "keyboard 0.9022769331932068, monitor 0.9000157713890076, plug 0.8990083932876587, engine 0.8985315561294556, "
    "switch 0.896084725856781, device 0.888617753982544, charger 0.8855589032173157, counter 0.8843674063682556, "
    "automatic 0.878197431564331, sync 0.877406656742096"
)


def test_the_published_set_has_the_neighbours_that_its_source_prints():
    try:
        twitter = load_vectors("glove-twitter-25", download=False)
    except FileNotFoundError:
        pytest.skip("glove-twitter-25 is not on this machine, and need not be.")
    words, cosines = zip(*(pair.split() for pair in PRINTED.split(", ")))
    near, found = zip(*twitter.most_similar("remote", topn=10))
    assert near == words
    np.testing.assert_allclose(found, np.array(cosines, float), atol=1e-6)


# The cache of the book's vectors


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """A cache folder of its own and a tiny text; counts how often vectors are trained."""
    trained = []
    monkeypatch.setenv("MINITRANSFORMER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(word_vectors, "load_corpus", lambda: TOY)
    monkeypatch.setattr(word_vectors, "_content", lambda: "0123")

    def train(sentences):
        trained.append(1)
        return train_vectors(sentences, size=3, window=2, min_count=3)

    monkeypatch.setattr(word_vectors, "train_vectors", train)
    return trained


def test_vectors_are_trained_once_and_then_read(quick, tmp_path, capsys):
    first, second = load_vectors(), load_vectors()
    assert len(quick) == 1 and first.index_to_key == second.index_to_key
    assert (first.vectors == second.vectors).all()
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["book-0123.npz"]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("damage", ["cut", "other arrays"])
def test_a_damaged_cache_is_rebuilt_and_one_line_says_so(quick, tmp_path, capsys, damage):
    load_vectors()
    path = tmp_path / "cache" / "book-0123.npz"
    whole = path.read_bytes()
    if damage == "cut":
        path.write_bytes(whole[:-300])
    else:
        write_arrays(path, words=np.array(["a"]))
    load_vectors()
    out = capsys.readouterr().out
    assert len(quick) == 2 and path.read_bytes()[:2] == b"PK"
    assert out.count("\n") == 1 and "damaged" in out and "training them again" in out


# Files of vectors


def test_a_real_glove_file_is_read_as_gensim_reads_it():
    mine, theirs = load_vectors(GLOVE), KeyedVectors.load_word2vec_format(GLOVE, no_header=True)
    assert mine.index_to_key == theirs.index_to_key and len(mine) == 76
    assert (mine.vectors == theirs.vectors).all()


@pytest.fixture
def write(tmp_path):
    def writer(text, name="some vectors é.txt"):
        path = tmp_path / name
        with gzip.open(path, "wb") if name.endswith(".gz") else path.open("wb") as file:
            file.write(text.encode() if isinstance(text, str) else text)
        return path

    return writer


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
def test_word2vec_text_with_its_first_line_is_read(write, name):
    vectors = load_vectors(write('3 2\nthe 1 2 \n" 3 4\nété 5 -6e-1\n', name))
    assert vectors.index_to_key == ["the", '"', "été"]
    assert vectors["été"].tolist() == [5, np.float32(-0.6)]


@pytest.mark.parametrize(
    "text, message",
    [
        ("a 1 2\nb 1\n", "'b' has 1 numbers; expected 2 finite ones"),
        ("a 1 2\nb 1 2 3\n", "'b' has 3 numbers; expected 2 finite ones"),
        ("a 1 2\nb 1 x\n", "could not convert string to float: 'x'"),
        ("a 1 2\nb 1 nan\n", "'b' has 2 numbers; expected 2 finite ones"),
        ("3 2\na 1 2\nb 3 4\n", "unexpected end of input; is count incorrect or file otherwise damaged?"),
        ("2 3\na 1 2\nb 3 4\n", "'a' has 2 numbers; expected 3 finite ones"),
        ("", "its first line has no word with numbers"),
        ("alone\n", "its first line has no word with numbers"),
        (b"\xff\xfe\x00bin", "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
    ],
)
def test_a_faulty_file_is_refused_in_a_sentence_that_names_the_fault(write, text, message):
    path = write(text)
    with pytest.raises(ValueError) as told:
        load_vectors(path)
    assert str(told.value) == f"{path} cannot be read ({message}); expected word2vec or GloVe text: fetch it again."


def test_a_cut_archive_is_refused(write):
    path = write("a 1 2\n" * 1000, "cut.txt.gz")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="cannot be read .*fetch it again"):
        load_vectors(path)


def test_a_missing_file_is_named():
    with pytest.raises(FileNotFoundError, match="there is no file 'nowhere/vectors.txt'"):
        load_vectors("nowhere/vectors.txt")


# gensim's downloader


@pytest.fixture
def no_network(monkeypatch, tmp_path):
    """Give gensim's downloader an empty folder of its own, and no way to fetch anything."""

    def refuse(*args, **kwargs):
        raise OSError("no way\n  out.")

    monkeypatch.setattr(downloader, "BASE_DIR", str(tmp_path))
    monkeypatch.setattr(downloader, "_load_info", refuse)


def put(folder, name, return_path=True):
    """Put a small set of vectors where gensim's downloader does, which reads them too if no path is asked for."""
    assert return_path is True
    (folder / name).mkdir()
    (folder / name / f"{name}.gz").write_bytes(gzip.compress(b"2 2\nremote 1 2\nkeyboard 1 3\n"))


def test_a_set_that_is_here_needs_no_network(no_network, tmp_path):
    put(tmp_path, "glove-twitter-25")
    assert load_vectors("glove-twitter-25").most_similar("remote")[0][0] == "keyboard"


def test_a_set_that_is_not_here_is_fetched_only_when_allowed(no_network):
    with pytest.raises(FileNotFoundError, match=r"load_vectors\('glove-twitter-25'\) fetches it once"):
        load_vectors("glove-twitter-25", download=False)


def test_a_download_goes_through_gensims_downloader(no_network, monkeypatch, tmp_path):
    monkeypatch.setattr(downloader, "load", partial(put, tmp_path))
    assert load_vectors("glove-twitter-25").index_to_key == ["remote", "keyboard"]


def test_no_network_is_said_in_one_sentence(no_network):
    with pytest.raises(ConnectionError, match="could not be fetched into .* .no way out.: it takes a network") as told:
        load_vectors("glove-twitter-25")
    assert "\n" not in str(told.value)


def test_the_first_number_of_a_vector_says_most():
    sizes = np.linalg.norm(train_vectors(TOY, size=4, min_count=1).vectors, axis=0)
    assert (np.diff(sizes) <= 0).all() and sizes[0] > 1.1 * sizes[-1]


def test_a_mean_leaves_unknown_words_out_unless_they_are_to_be_told():
    vectors = load_vectors(GLOVE)
    word = vectors.index_to_key[0]
    assert np.allclose(vectors.get_mean_vector([word, "nonsense"]), vectors.get_mean_vector([word]))
    assert np.allclose(vectors.get_mean_vector([word], pre_normalize=False), vectors[word])
    with pytest.raises(KeyError, match="'nonsense' is not among"):
        vectors.get_mean_vector([word, "nonsense"], ignore_missing=False)
