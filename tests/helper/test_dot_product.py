"""Chapter 2's module: geometry, agreement with scikit-learn and gensim, and the sources' numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import pairwise

from minitransformer.dot_product import cosine_matrix, cosine_similarity, nearest, unit
from minitransformer.word_vectors import GLOVE_EXAMPLES, PCA_EXAMPLES, load_vectors
from tests.shared.functions import Case
from tests.shared.oracles import random

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
FUNCTIONS = {
    "unit": Case(unit, {"a": ("n", 6)}, [("n", 6)]),
    "cosine_similarity": Case(cosine_similarity, {"a": ("n", 6), "b": ("n", 6)}, [("n",)]),
    "cosine_matrix": Case(cosine_matrix, {"a": ("n", 6), "b": ("m", 6)}, [("n", "m")]),
    "nearest": Case(lambda matrix, query: nearest(matrix, query, 3)[1], {"matrix": (9, 6), "query": (6,)}, [(3,)]),
}
tables = [arrays(float, (n, 3), elements=st.floats(-1e3, 1e3).map(lambda x: round(x, 6))) for n in (4, 2)]


@given(*tables)
def test_all_pairs_agree_with_scikit_learn_and_with_one_pair_after_another(a, b):
    np.testing.assert_allclose(cosine_matrix(a, b), pairwise.cosine_similarity(a, b), atol=1e-12)
    np.testing.assert_allclose(cosine_matrix(a), pairwise.cosine_similarity(a), atol=1e-12)
    np.testing.assert_allclose(cosine_similarity(a[:, None], b), cosine_matrix(a, b), atol=1e-12)


@given(arrays(float, 3, elements=st.floats(0.1, 9)), st.floats(1e-150, 1e150))
def test_length_does_not_matter_and_the_opposite_is_minus_one(a, factor):
    np.testing.assert_allclose(cosine_similarity(a, factor * a), 1, atol=1e-12)
    np.testing.assert_allclose(cosine_similarity(a, -factor * a), -1, atol=1e-12)


def test_a_zero_vector_has_no_direction():
    assert cosine_similarity([0.0, 0.0], [1.0, 2.0]) == 0
    assert unit(np.zeros(3)).tolist() == [0, 0, 0]


def test_each_vector_is_divided_by_its_own_length_however_long_the_others_are():
    assert unit([[3e300, 4e300], [0.0, 2e-300]]).round(15).tolist() == [[0.6, 0.8], [0, 1]]


def test_all_rows_can_be_asked_for_and_none_or_more_cannot():
    assert nearest(np.eye(3), [0, 2, 1], 3)[0].tolist() == [1, 2, 0]
    for k in (0, 4):
        with pytest.raises(ValueError, match=f"^k is {k}; expected a number from 1 to 3, the number of rows"):
            nearest(np.eye(3), [0, 2, 1], k)


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
    many = np.tile(np.eye(2), (50, 1))
    assert nearest(many, [1.0, 0], 100)[0].tolist() == [*range(0, 100, 2), *range(1, 100, 2)]


def test_vectors_without_features_stay_empty():
    assert unit(np.zeros((2, 0))).shape == (2, 0)


@pytest.mark.parametrize("kind, size", [("float16", 3e4), ("float32", 1e30), ("float64", 1e300), ("float64", 1e-300)])
def test_neither_large_nor_small_vectors_lose_their_direction(kind, size):
    a = np.array([size, size], dtype=kind)
    np.testing.assert_allclose(cosine_similarity(a, np.array([1, 0], dtype=kind)), 0.5**0.5, rtol=1e-3)


def test_a_cosine_never_leaves_its_range():
    x = random(1000, 5)
    assert cosine_similarity(x, x).max() <= 1 and cosine_matrix(x).max() <= 1
    assert cosine_similarity(x, -x).min() >= -1 and cosine_matrix(x, -x).min() >= -1


def test_the_numbers_of_the_sources():
    screen, rock, remote = (GLOVE_EXAMPLES[word].astype(float) for word in ("screen", "rock", "remote"))
    pairs = ((screen, rock), (remote, rock), (screen, remote))
    printed = ["0.5682209", "0.4561119", "0.86155677"]
    assert [str(np.float32(cosine_similarity(a, b))) for a, b in pairs] == printed
    without = [cosine_similarity(np.delete(a, 12), np.delete(b, 12)) for a, b in pairs]
    np.testing.assert_allclose(without, [0.0294, -0.0494, 0.7673], atol=5e-5)
    parts = [unit(a)[12] * unit(b)[12] for a, b in pairs]
    np.testing.assert_allclose(parts, [0.5554, 0.4803, 0.4318], atol=5e-5)
    florida, texas, politics, truth = (PCA_EXAMPLES[word] for word in ("florida", "texas", "politics", "truth"))
    np.testing.assert_allclose(florida @ texas, 5.395124299364358, rtol=1e-15)
    np.testing.assert_allclose([florida @ texas, politics @ truth], [5.40, 5.70], atol=0.005)
    np.testing.assert_allclose(cosine_similarity(florida, texas), 0.9982, atol=5e-5)
    np.testing.assert_allclose(florida @ truth, -10.023649994662344, rtol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(florida), 2.4006249368060817, rtol=1e-15)
    np.testing.assert_allclose(cosine_similarity(florida, truth), -0.86883961, atol=5e-9)
