"""Chapter 17's module: what is opened, patched and cut is what the model runs, and scores mean what they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minitransformer.feed_forward import gelu
from minitransformer.inside import (
    ablated,
    copies,
    final_norm,
    induction_score,
    linear_probe,
    logit_lens,
    opened,
    patched,
)
from minitransformer.layer_norm import layer_norm
from minitransformer.transformer import LanguageModel
from tests.shared.functions import Case
from tests.shared.oracles import error, random

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
IDS = [[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]]
TWICE = np.array([7, 2, 5, 7, 2, 5])


def lens(stream):
    kind = np.float32 if getattr(stream, "dtype", None) == np.float32 else np.float64
    return logit_lens(stream, model(kind=kind, d=6))


FUNCTIONS = {
    "logit_lens": Case(lens, {"stream": ("n", 6)}, [("n", 11)]),
}


def model(positions="rotary", kind="float64", d=8):
    """Return a model of two layers and two heads, with random gains and biases."""
    made = LanguageModel(11, d, 1 if d == 6 else 2, 2, rng=0, positions=positions, activation=gelu, dtype=kind)
    made.flat += 0.1 * np.random.default_rng(1).normal(size=made.flat.size).astype(kind)
    return made


def reader(change=None):
    return opened(model(), IDS, change)


# Texts that repeat themselves


@given(st.integers(1, 6), st.integers(0, 5), st.integers(0, 9), st.integers(0, 99))
def test_a_text_repeats_its_beginning_and_is_asked_only_where_it_does(shortest, more, places, seed):
    longest = shortest + more
    (ids,), targets = copies(np.random.default_rng(seed), 3, shortest, longest, longest + places, vocabulary=12)
    for text, said in zip(ids, targets):
        length = len(set(text.tolist()))
        assert shortest <= length <= longest
        assert (text == np.resize(text[:length], len(text))).all()
        assert (said[:length] == -1).all()
        assert said[length:].tolist() == np.resize(text[:length], len(text) + 1)[length + 1 :].tolist()


def test_lengths_are_all_drawn():
    (ids,), _ = copies(np.random.default_rng(0), 300, 2, 5, 9, vocabulary=9)
    assert {len(set(text)) for text in ids.tolist()} == {2, 3, 4, 5}


@pytest.mark.parametrize("sizes", [(5, 4, 9, 9), (2, 9, 8, 9), (2, 9, 9, 8), (0, 4, 9, 9), (2, 4.5, 9, 9)])
def test_no_text_that_cannot_be_is_drawn(sizes):
    with pytest.raises(ValueError, match="expected"):
        copies(np.random.default_rng(0), 1, *sizes)


# The score of a head


def by_hand(weights, ids):
    """Return the induction score of one head on texts (texts, n), number by number."""
    found = []
    for table, text in zip(weights, ids):
        for i in range(len(text)):
            for j in reversed(range(i)):
                if text[j] == text[i]:
                    found.append(table[i, j + 1])
                    break
    return np.mean(found)


@given(st.integers(1, 4), st.integers(2, 9), st.integers(0, 99))
def test_the_score_is_the_mean_weight_on_what_followed(texts, n, seed):
    rng = np.random.default_rng(seed)
    ids, weights = rng.integers(3, size=(texts, n)), rng.random((texts, 2, n, n))
    ids[0, :2] = 1
    right = [by_hand(weights[:, head], ids) for head in (0, 1)]
    assert error(induction_score(weights, ids), np.array(right)) < 1e-12


def test_a_head_that_looks_at_the_like_itself_scores_nothing():
    looks = np.eye(6)[[0, 1, 2, 0, 1, 2]][None]
    assert induction_score(looks, TWICE).tolist() == [0]
    assert induction_score(np.eye(6)[[0, 1, 2, 1, 2, 3]][None], TWICE).tolist() == [1]


def test_the_score_is_refused_where_it_has_no_meaning():
    with pytest.raises(ValueError, match="no token occurs twice"):
        induction_score(np.ones((1, 3, 3)), [1, 2, 3])
    with pytest.raises(ValueError, match=r"\(1, 3, 3\) and ids \(4,\)"):
        induction_score(np.ones((1, 3, 3)), [1, 2, 1, 2])


# A run that is opened


@pytest.mark.parametrize("positions", ["rotary", "sinusoidal", "none"])
@pytest.mark.parametrize("kind, most", [("float32", 1e-5), ("float64", 1e-12)])
def test_an_opened_run_is_the_models_own(positions, kind, most):
    one = model(positions, kind)
    found, inside = opened(one, IDS), {}
    logits = one(IDS, record=inside)
    assert error(found["logits"], logits) < most and found["logits"].dtype == kind
    for layer in (1, 2):
        layers = inside["decoder"][layer]
        assert error(found[f"{layer} attention weights"], layers["attention weights"]) < most
        assert error(found[f"{layer} attention output"], layers["attention"]) < most
        assert error(found[f"{layer} feed_forward output"], layers["feed_forward"]) < most


def test_all_that_is_found_has_the_names_that_are_told():
    parts = {
        "attention": "stream normed queries keys values scores weights mixed added output",
        "feed_forward": "stream normed hidden added output",
    }
    names = [f"{number} {part} {what}" for number in (1, 2) for part in parts for what in parts[part].split()]
    assert list(reader()) == ["embedded", *names, "stream", "output", "logits"]


def test_only_what_is_asked_for_is_kept():
    names = ["2 attention weights", "logits"]
    found, whole = opened(model(), IDS, {"1 attention mixed": lambda x: x * 2}, only=names), opened(model(), IDS)
    assert sorted(found) == names and opened(model(), IDS, only=[]) == {}
    assert np.abs(found["logits"] - whole["logits"]).max() > 1e-6
    assert np.array_equal(opened(model(), IDS, only=names)["logits"], whole["logits"])
    for wrong in (["logits", "3 attention weights"], "logits"):
        with pytest.raises(ValueError, match="^only has .*, which happens nowhere in the model"):
            opened(model(), IDS, only=wrong)


@pytest.mark.parametrize("shape", [(10,), (2, 5), (2, 1, 5)])
def test_texts_are_opened_as_they_are_read_in_any_number_of_axes(shape):
    ids = np.reshape(IDS, shape)
    assert error(opened(model(), ids)["logits"], model()(ids)) < 1e-12


@pytest.mark.parametrize("norm, before, after", [("pre", "stream", "normed"), ("post", "sum", "output")])
def test_every_norm_adds_the_eps_of_its_model(norm, before, after):
    one = LanguageModel(11, 8, 2, 2, rng=0, norm=norm, dtype=float)
    one.eps = 0.5
    found, part = opened(one, IDS), one.params["decoder"][1]
    for name in ("attention", "feed_forward"):
        here = {what: found[f"1 {name} {what}"] for what in ("stream", "added", after)}
        here["sum"] = here["stream"] + here["added"]
        right = layer_norm(here[before], part[name]["gain"], part[name]["bias"], 0.5)
        assert error(here[after], right) < 1e-12


def test_each_array_is_what_the_run_goes_on_with():
    before = reader()
    for name in before:
        changed = reader({name: lambda array: array + random(*array.shape, seed=4)})
        assert error(changed["logits"], before["logits"]) > 1e-6, name
        assert error(reader({name: lambda array: array})["logits"], before["logits"]) == 0


def test_a_change_that_happens_nowhere_is_refused():
    with pytest.raises(ValueError, match="3 attention weights"):
        reader({"3 attention weights": lambda array: array})


# Patches and cuts


def test_a_patch_of_everything_gives_the_donors_run_and_of_nothing_ones_own():
    own, donor = reader(), opened(model(), IDS[::-1])
    for name in ("embedded", "2 attention stream", "stream", "logits"):
        assert error(patched(reader, name, donor)["logits"], donor["logits"]) < 1e-12
        assert error(patched(reader, name, own)["logits"], own["logits"]) < 1e-12
        assert error(patched(reader, name, donor, [])["logits"], own["logits"]) < 1e-12


def test_a_part_is_patched_and_the_donor_and_the_rest_stay():
    own, donor = reader(), opened(model(), IDS[::-1])
    kept = donor["1 attention mixed"].copy()
    found = patched(reader, "1 attention mixed", donor, (0, 1))
    assert (found["1 attention mixed"][0, 1] == kept[0, 1]).all()
    assert (found["1 attention mixed"][1] == own["1 attention mixed"][1]).all()
    assert (donor["1 attention mixed"] == kept).all()


def test_a_cut_sets_a_part_to_zero_or_to_a_mean():
    own = reader()["1 attention mixed"]
    for mean in (0.0, own.mean(axis=(0, 2), keepdims=True)):
        found = ablated(reader, "1 attention mixed", ..., mean)["1 attention mixed"]
        assert error(found, np.broadcast_to(mean, own.shape)) == 0
    found = ablated(reader, "1 attention mixed", (slice(None), 1))["1 attention mixed"]
    assert not found[:, 1].any() and (found[:, 0] == own[:, 0]).all()


# Readings


def test_the_lens_at_the_end_is_the_models_own_and_without_the_norm_is_not():
    found = reader()
    assert error(logit_lens(found["stream"], model()), found["logits"]) < 1e-12
    assert error(logit_lens(found["output"], model(), normed=False), found["logits"]) < 1e-12
    assert error(logit_lens(found["stream"], model(), normed=False), found["logits"]) > 0.1
    assert error(final_norm(model(), found["stream"]), found["output"]) < 1e-12
    with pytest.raises(ValueError, match=r"^stream has shape \(8,\); expected at least 2 axes\.$"):
        final_norm(model(), np.ones(8))


def test_a_probe_finds_a_direction_and_is_a_ridge_regression():
    x, towards = random(400, 5), random(5, seed=1)
    labels = np.sign(x @ towards + 0.3)
    direction, offset = linear_probe(x, labels, ridge=2.0)
    assert np.mean(np.sign(x @ direction + offset) == labels) > 0.95
    gradient = x.T @ (x @ direction + offset - labels) + 2.0 * direction
    assert np.abs(gradient).max() < 1e-9 and abs((x @ direction + offset - labels).sum()) < 1e-9


@pytest.mark.parametrize("given, ridge", [({}, 1.0), ({"ridge": 3.0}, 3.0)])
def test_two_vectors_show_by_how_much_a_ridge_holds_the_direction_short(given, ridge):
    direction, offset = linear_probe([[0.0, 5.0], [2.0, 6.0]], [-1, 1], **given)
    gap, toward = np.array([2.0, 1.0]), 2.0  # from one vector to the other, and between their labels
    np.testing.assert_allclose(direction, gap * toward / (gap @ gap + 2 * ridge), rtol=1e-12)
    assert direction @ np.array([1.0, 5.5]) + offset == pytest.approx(0)  # between them


def test_a_probe_of_labels_by_lot_finds_little_where_vectors_are_many():
    x, labels = random(2000, 5), np.random.default_rng(0).permutation(np.repeat([-1, 1], 1000))
    direction, offset = linear_probe(x, labels)
    assert 0.45 < np.mean(np.sign(x @ direction + offset) == labels) < 0.55


def test_a_probe_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"\(4, 2\) and labels \(3,\)"):
        linear_probe(np.ones((4, 2)), np.ones(3))
    with pytest.raises(TypeError, match="^labels holds"):
        linear_probe(np.ones((4, 2)), ["a"] * 4)
    with pytest.raises(ValueError, match="ridge"):
        linear_probe(np.ones((4, 2)), np.ones(4), ridge=-1)
    with pytest.raises(ValueError, match="^x holds NaN"):
        linear_probe(np.full((4, 2), np.nan), np.ones(4))
    with pytest.raises(ValueError, match="^labels holds NaN"):
        linear_probe(np.ones((4, 2)), np.full(4, np.nan))


def test_what_is_copied_has_eight_to_twenty_four_tokens_unless_others_are_asked_for():
    (ids,), targets = copies(np.random.default_rng(0), 300)
    (same,), also = copies(np.random.default_rng(0), 300, shortest=8, longest=24, places=48, vocabulary=64)
    assert np.array_equal(ids, same) and np.array_equal(targets, also) and ids.dtype.kind == targets.dtype.kind == "i"
    lengths = (targets == -1).sum(axis=1)
    assert (lengths.min(), lengths.max()) == (8, 24)
