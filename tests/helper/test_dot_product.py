"""Chapter 2's module: geometry, agreement with scikit-learn and gensim, and the sources' numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import pairwise

from minitransformer.dot_product import cosine_matrix, cosine_similarity, nearest, unit
from minitransformer.word_vectors import GLOVE_EXAMPLES, PCA_EXAMPLES, load_vectors

numbers = st.floats(-1e3, 1e3).map(lambda x: round(x, 6))


@given(arrays(float, (4, 3), elements=numbers), arrays(float, (2, 3), elements=numbers))
def test_all_pairs_agree_with_scikit_learn(a, b):
    np.testing.assert_allclose(cosine_matrix(a, b), pairwise.cosine_similarity(a, b), atol=1e-12)
    np.testing.assert_allclose(cosine_matrix(a), pairwise.cosine_similarity(a), atol=1e-12)


@given(arrays(float, (4, 3), elements=numbers))
def test_the_matrix_is_the_loop(x):
    loop = [[cosine_similarity(a, b) for b in x] for a in x]
    np.testing.assert_allclose(cosine_matrix(x), loop, atol=1e-12)


@given(arrays(float, 3, elements=st.floats(0.1, 9)), st.floats(1e-150, 1e150))
def test_length_does_not_matter_and_the_opposite_is_minus_one(a, factor):
    np.testing.assert_allclose(cosine_similarity(a, factor * a), 1, atol=1e-12)
    np.testing.assert_allclose(cosine_similarity(a, -factor * a), -1, atol=1e-12)


def test_a_turn_of_both_vectors_changes_nothing():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 5))
    turn, _ = np.linalg.qr(rng.normal(size=(5, 5)))
    np.testing.assert_allclose(cosine_similarity(turn @ a, turn @ b), cosine_similarity(a, b), atol=1e-14)


def test_a_zero_vector_has_cosine_zero_and_no_warning(recwarn):
    assert cosine_similarity([0.0, 0.0], [1.0, 2.0]) == 0
    assert unit(np.zeros(3)).tolist() == [0, 0, 0]
    assert not recwarn.list


def test_leading_axes_are_batches():
    a, b = np.random.default_rng(1).normal(size=(2, 3, 4, 5))
    assert cosine_matrix(a, b).shape == (3, 4, 4)
    np.testing.assert_allclose(cosine_matrix(a, b)[2], cosine_matrix(a[2], b[2]))
    np.testing.assert_allclose(cosine_similarity(a, b)[1], np.diag(cosine_matrix(a[1], b[1])))


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_the_kind_of_float_is_kept(kind):
    x = np.ones((2, 3), dtype=kind)
    assert cosine_matrix(x).dtype == cosine_similarity(x, x).dtype == kind


def test_nearest_finds_what_gensim_finds():
    vectors = load_vectors()
    for word in ("france", "music", "bank"):
        indices, cosines = nearest(vectors.vectors, vectors[word], 11)
        words, values = zip(*vectors.most_similar(word, topn=10))
        assert [vectors.index_to_key[i] for i in indices] == [word, *words]
        np.testing.assert_allclose(cosines[1:], values, atol=1e-6)


def test_equal_cosines_keep_the_order_of_the_rows():
    indices, cosines = nearest([[1.0, 0], [0, 1], [2, 0], [3, 0]], [1.0, 0], 3)
    assert indices.tolist() == [0, 2, 3] and cosines.tolist() == [1, 1, 1]


@pytest.mark.parametrize("k", [0, 5, -1])
def test_an_impossible_k_is_refused(k):
    with pytest.raises(ValueError, match=f"k is {k}; expected a number from 1 to 4"):
        nearest(np.eye(4), np.ones(4), k)


@pytest.mark.parametrize("call", [cosine_similarity, cosine_matrix])
def test_shapes_that_do_not_fit_are_both_named(call):
    with pytest.raises(ValueError, match=r"a has shape \(2, 3\) and b has shape \(2, 4\)"):
        call(np.ones((2, 3)), np.ones((2, 4)))


def test_a_missing_axis_is_named():
    with pytest.raises(ValueError, match=r"a has shape \(2,\) and b has shape \(2,\); expected at least 2 and 2 axes"):
        cosine_matrix([1, 2])
    with pytest.raises(ValueError, match=r"matrix has shape \(2,\).*expected at least 2 and 1 axes"):
        nearest([1.0, 2.0], [1.0, 2.0], 1)


@pytest.mark.parametrize("kind, size", [("float16", 3e4), ("float32", 1e30), ("float64", 1e300), ("float64", 1e-300)])
def test_neither_large_nor_small_vectors_lose_their_direction(kind, size, recwarn):
    a = np.array([size, size], dtype=kind)
    np.testing.assert_allclose(cosine_similarity(a, np.array([1, 0], dtype=kind)), 0.5**0.5, rtol=1e-3)
    assert not recwarn.list


def test_a_cosine_never_leaves_its_range():
    x = np.random.default_rng(2).normal(size=(1000, 5))
    assert cosine_similarity(x, x).max() <= 1 and cosine_matrix(x).max() <= 1


def test_the_numbers_of_the_sources():
    screen, rock, remote = (GLOVE_EXAMPLES[word].astype(float) for word in ("screen", "rock", "remote"))
    pairs = ((screen, rock), (remote, rock), (screen, remote))
    printed = ["0.5682209", "0.4561119", "0.86155677"]
    assert [str(np.float32(cosine_similarity(a, b))) for a, b in pairs] == printed
    without = [cosine_similarity(np.delete(a, 12), np.delete(b, 12)) for a, b in pairs]
    np.testing.assert_allclose(without, [0.0294, -0.0494, 0.7673], atol=5e-5)
    florida, truth = PCA_EXAMPLES["florida"], PCA_EXAMPLES["truth"]
    np.testing.assert_allclose(florida @ PCA_EXAMPLES["texas"], 5.395124299364358, rtol=1e-15)
    np.testing.assert_allclose(florida @ truth, -10.023649994662344, rtol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(florida), 2.4006249368060817, rtol=1e-15)
    np.testing.assert_allclose(cosine_similarity(florida, truth), -0.86883961, atol=5e-9)
