"""What `make ablations` does: it leaves out what it says, puts it back, and its file is of the code as it is now."""

import json

import numpy as np
import pytest

from minitransformer import multi_head, training
from minitransformer.gradients import gradient_check
from minitransformer.tasks.reversals import END, reversals
from minitransformer.transformer import layers
from tools import measure
from tools.measure import ablations

SMALL = ablations.BASELINE | {"d": 8, "heads": 2, "layers": 1, "steps": 6, "warmup": 2, "batch": 4, "dtype": "float64"}
PARTS = ("residuals", "scale")
PLACES = {layers: ("residual", "residual_vjp"), multi_head: ("attention", "attention_vjp")}


def standing():
    """What stands where a part can be left out."""
    return [getattr(module, name) for module, names in PLACES.items() for name in names]


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """Return the folder of the checkpoints of a test."""
    monkeypatch.setenv("MINITRANSFORMER_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("part", [None, *PARTS])
def test_a_model_without_a_part_has_the_gradient_that_finite_differences_find(part):
    model = ablations.model_of(SMALL, seed=0)
    model.flat += np.random.default_rng(1).normal(size=model.flat.size) / 10
    arguments, _ = reversals(np.random.default_rng(0), 2)

    def vjp(flat):
        model.flat[:] = flat
        return model.vjp(*arguments)

    with ablations.leaving_out(part):
        assert gradient_check(vjp, model.flat.copy()) < 1e-7
        without = model(*arguments)
        np.testing.assert_allclose(model.vjp(*arguments)[0], without, atol=1e-12)
    assert np.allclose(without, model(*arguments)) == (part is None)


def test_without_residuals_nothing_of_what_enters_a_layer_goes_past_its_parts():
    params = ablations.model_of(SMALL, seed=0).params["encoder"][1]
    x = np.random.default_rng(0).normal(size=(5, 8))
    params["feed_forward"]["W_2"][:] = 0
    with ablations.leaving_out("residuals"):
        assert (layers.layer(x, params, 2) == 0).all()
    assert (layers.layer(x, params, 2) != 0).any()


def test_without_the_scale_scores_are_the_products_of_queries_and_keys():
    params = ablations.model_of(SMALL, seed=0).params["encoder"][1]["attention"]
    x = np.random.default_rng(0).normal(size=(5, 8))
    larger = params | {"W_Q": params["W_Q"] * 2}  # times √d_k
    with ablations.leaving_out("scale"):
        _, weights = multi_head.multi_head_attention(x, params, 2)
    np.testing.assert_allclose(weights, multi_head.multi_head_attention(x, larger, 2)[1], rtol=1e-12)


def test_a_smaller_start_is_one_of_the_matrices_that_write_to_the_stream_and_of_no_others():
    whole, small = (ablations.model_of(SMALL | {"start": start}, seed=0).params for start in (1, 0.5))
    for side in ("encoder", "decoder"):
        for part, arrays in whole[side][1].items():
            for name, array in arrays.items():
                factor = 0.5 if name in ("W_O", "W_2") else 1
                np.testing.assert_array_equal(small[side][1][part][name], factor * array)
    np.testing.assert_array_equal(small["embedding"], whole["embedding"])


def test_sublayers_that_start_at_the_identity_return_what_they_are_given(monkeypatch):
    monkeypatch.setattr(ablations, "NOISE", 0)
    params = ablations.model_of(SMALL | {"start": "identity"}, seed=0).params["encoder"][1]
    x = 100 * np.tile(np.eye(4), 2)  # so far apart that each word looks at itself alone, in both heads
    for name, sublayer in (("attention", layers.multi_head_attention), ("feed_forward", layers.feed_forward)):
        found = sublayer(x, params[name], 2)[0] if name == "attention" else sublayer(x, params[name])
        np.testing.assert_allclose(found, x, atol=1e-12)


@pytest.mark.parametrize("start", list(ablations.STARTS))
def test_a_start_close_to_the_identity_is_one_of_its_matrices_and_of_no_others(start):
    usual, near = (ablations.model_of(SMALL | {"start": each}, seed=0).params for each in (1, start))
    for side in ("encoder", "decoder"):
        for part, arrays in usual[side][1].items():
            for name, array in arrays.items():
                if name in ablations.STARTS[start]:
                    expected = ablations.identity(name, array.shape)
                    off = near[side][1][part][name] - expected
                    assert 0.03 < off.std() < 0.07 and np.abs(np.linalg.svd(expected)[1]).min() >= 1
                else:
                    np.testing.assert_array_equal(near[side][1][part][name], array)
    np.testing.assert_array_equal(near["embedding"], usual["embedding"])


def test_scores_that_begin_smaller_are_those_of_smaller_queries_and_keys_and_of_nothing_else():
    whole, small = (ablations.model_of(SMALL | {"scores": scores}, seed=0).params for scores in (1, 0.25))
    for name, array in whole["encoder"][1]["attention"].items():
        factor = 0.5 if name in ("W_Q", "W_K") else 1
        np.testing.assert_allclose(small["encoder"][1]["attention"][name], factor * array, rtol=1e-15)


def test_without_the_root_and_with_scores_that_begin_as_small_a_model_begins_as_with_it():
    arguments, _ = reversals(np.random.default_rng(0), 2)
    d_k = SMALL["d"] // SMALL["heads"]
    with ablations.leaving_out("scale"):
        control = ablations.model_of(SMALL | {"scores": d_k**-0.5}, seed=0)(*arguments)
    np.testing.assert_allclose(control, ablations.model_of(SMALL, seed=0)(*arguments), atol=1e-12)


def test_plain_descent_goes_against_the_gradient_and_momentum_against_a_sum_of_which_nine_tenths_are_kept():
    gradients = np.random.default_rng(0).normal(size=(2, 3))
    plain, momentum = (ablations.OPTIMISERS[name](np.zeros(3)) for name in ("plain", "momentum"))
    for gradient in gradients:
        plain.step(gradient, 0.1)
        momentum.step(gradient, 0.1)
    np.testing.assert_allclose(plain.flat, -0.1 * gradients.sum(axis=0))
    np.testing.assert_allclose(momentum.flat, -0.1 * (1.9 * gradients[0] + gradients[1]))
    assert ablations.OPTIMISERS["Adam"] is training.Adam


def test_with_a_scale_for_each_parameter_the_shared_one_is_adam_and_with_one_for_all_steps_keep_the_means_direction():
    gradients = np.random.default_rng(0).normal(size=(5, 6)) * [1, 10, 100, 1, 10, 100]
    flats = {name: np.zeros(6) for name in ("Adam", "own", "halves", "all")}
    walkers = {"Adam": training.Adam(flats["Adam"], betas=(0.9, 0.98))}
    for name, starts in {"own": range(6), "halves": (0, 3), "all": (0,)}.items():
        walkers[name] = ablations.Shared(flats[name], starts=starts, betas=(0.9, 0.98))
    for gradient in gradients:
        for walker in walkers.values():
            walker.step(gradient, 0.1)
    np.testing.assert_allclose(flats["own"], flats["Adam"], rtol=1e-9)
    once = {
        name: ablations.Shared(np.zeros(6), starts=starts) for name, starts in {"halves": (0, 3), "all": (0,)}.items()
    }
    for walker in once.values():
        walker.step(gradients[0], 0.1)
    size = np.sqrt((gradients[0].reshape(2, 3) ** 2).mean(axis=1))
    np.testing.assert_allclose(once["halves"].flat, -0.1 * gradients[0] / np.repeat(size, 3), rtol=1e-6)
    np.testing.assert_allclose(once["all"].flat, -0.1 * gradients[0] / np.sqrt((gradients[0] ** 2).mean()), rtol=1e-6)


def test_by_the_sign_alone_every_parameter_goes_by_the_whole_rate():
    walker = ablations.Sign(np.zeros(3))
    walker.step(np.array([5.0, -0.01, 0.0]), 0.1)
    assert walker.flat.tolist() == [-0.1, 0.1, 0]
    walker.step(np.array([-1.0, -0.01, 0.0]), 0.1)  # the mean is still positive
    assert walker.flat.tolist() == [-0.2, 0.2, 0]


def test_one_scale_per_matrix_begins_where_each_array_of_the_model_begins():
    model = ablations.model_of(SMALL, seed=0)
    starts = ablations.optimiser_of("per matrix", model).keywords["starts"]
    arrays = ablations.arrays_in(model.params)
    assert [model.flat[start] for start in starts] == [array.flat[0] for array in arrays]
    assert len(starts) == len(set(starts)) == len(arrays) > 10
    assert ablations.optimiser_of("one scale", model) is ablations.Shared


def test_where_rows_of_another_length_are_learned_from_as_well_they_are_half_of_a_batch():
    (source, target, lengths), said = ablations.rows_of(np.random.default_rng(0), 8, also=16)
    assert source.shape == (8, 16) and target.shape == said.shape == (8, 17)
    assert (lengths[:4] <= 12).all() and (lengths[4:] == 16).all()
    for row, answer, length in zip(source, said, lengths):
        assert answer[: length + 1].tolist() == [*row[:length][::-1], END] and (answer[length + 1 :] == -1).all()
    np.testing.assert_array_equal(target[:, 1:], np.where(said[:, :-1] < 0, 0, said[:, :-1]))
    usual = ablations.rows_of(np.random.default_rng(0), 8)
    np.testing.assert_array_equal(usual[1], reversals(np.random.default_rng(0), 8)[1])


def test_a_training_on_other_lengths_is_measured_on_longer_rows_and_no_other_is():
    found = ablations.run_job((SMALL | {"also": 16}, 0))
    assert np.shape(found["longer"]) == (2, len(ablations.LONGER)) and "longer" not in ablations.run_job((SMALL, 0))
    assert found["loss"][-1] != ablations.run_job((SMALL, 0))["loss"][-1]


@pytest.mark.parametrize("name", list(ablations.OPTIMISERS))
def test_a_training_goes_by_the_optimiser_that_is_asked_for_and_the_next_by_adam(name):
    found = ablations.run_job((SMALL | {"optimiser": name}, 0))
    assert (found == ablations.run_job((SMALL, 0))) == (name == "Adam")
    assert training.loop.Adam is training.Adam


def test_of_a_single_head_that_looks_everywhere_alike_the_largest_weight_is_one_over_the_length():
    model = ablations.model_of(SMALL | {"heads": 1}, seed=0)
    assert 0.1 < ablations.held_out_scores(model)["largest"] < 1
    model.params["encoder"][1]["attention"]["W_Q"][:] = 0
    (_, _, lengths), _ = reversals(np.random.default_rng(ablations.HELD_OUT), 250)
    assert ablations.held_out_scores(model)["largest"] == pytest.approx(len(lengths) / lengths.sum())


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ValueError, None])
@pytest.mark.parametrize("part", PARTS)
def test_what_was_replaced_stands_again_whatever_happens(part, stop, monkeypatch):
    before, during = standing(), []

    def measured(_):
        during.append(standing())
        if stop:
            raise stop
        return {}

    monkeypatch.setattr(ablations, "held_out_scores", measured)
    if stop:
        with pytest.raises(stop):
            ablations.train_variant(SMALL | {"without": part}, 0)
    else:
        ablations.train_variant(SMALL | {"without": part}, 0)
    assert sum(now is not then for now, then in zip(during[0], before)) == 2
    assert standing() == before


def test_a_training_that_was_stopped_goes_on_to_the_same_end_and_none_of_another_variant_does(kept, monkeypatch):
    monkeypatch.setattr(ablations, "EVERY", 3)
    whole, taken, step = ablations.run_job((SMALL, 0)), [], training.Adam.step
    assert whole["after steps"] == [0, 3, 6]

    def counted(adam, *given):
        taken.append(given)
        if len(taken) == 5:
            raise KeyboardInterrupt
        step(adam, *given)

    monkeypatch.setattr(training.Adam, "step", counted)
    monkeypatch.setenv("MINITRANSFORMER_CACHE", str(kept / "empty"))
    with pytest.raises(KeyboardInterrupt):
        ablations.run_job((SMALL, 0))
    assert ablations.run_job((SMALL | {"without": "scale"}, 0))["loss"] != whole["loss"] and len(taken) == 5 + 6
    assert ablations.run_job((SMALL, 0)) == whole and len(taken) == 5 + 6 + 3


def test_a_training_that_overflows_is_a_result_and_a_wrong_setting_is_none(monkeypatch):
    monkeypatch.setattr(ablations, "EVERY", 2)
    steep = SMALL | {"norm": "none", "rate": 1e20, "dtype": "float32"}
    found = ablations.run_job((steep, 0))
    assert found["after steps"] == [0, 2, 4, 6] and found["exact"] == [0, 0, 0, 0]
    assert found["loss"][0] > 0 and found["loss"][-1] is None and found == ablations.run_job((steep, 0))
    with pytest.raises(ValueError, match="expected more steps"):
        ablations.run_job((SMALL | {"steps": 2}, 0))


def test_all_variants_are_trained_from_all_seeds_and_written_whole_or_not_at_all(kept, monkeypatch, capsys):
    path = kept / "found" / "ablations.json"
    monkeypatch.setattr(ablations, "BASELINE", SMALL)
    monkeypatch.setattr(ablations, "VARIANTS", [("one layer", "whole", {}), ("one layer", "part", {"norm": "none"})])
    monkeypatch.setattr(ablations, "SEEDS", (3, 5))
    monkeypatch.setattr(ablations, "FILE", path)
    with monkeypatch.context() as full:
        full.setattr(measure, "replace_file", lambda *_: (_ for _ in ()).throw(OSError("the disk is full")))
        with pytest.raises(OSError, match="the disk is full"):
            ablations.main()
    assert not path.exists() and len(list(kept.glob("*.npz"))) == 4
    ablations.main()
    assert [file.name for file in kept.rglob("*") if file.is_file()] == ["ablations.json"]
    whole, part = json.loads(path.read_text(encoding="utf-8"))["variants"]
    assert whole["settings"] == SMALL and part["settings"] == SMALL | {"norm": "none"} and part["name"] == "part"
    assert [run["seed"] for run in part["runs"]] == [3, 5] and whole["runs"][0] != part["runs"][0]
    assert part["runs"][1] == ablations.run_job((part["settings"], 5))
    said = capsys.readouterr().out
    assert "4 of 4, one layer: part, seed 5: 0.0%" in said and "step" not in said


def test_numbers_that_overflowed_are_written_as_json_knows_them():
    numbers = [measure.rounded(np.float32(number)) for number in ("nan", "inf", "0.25")]
    text = ablations.report_text([[{"seed": 0, "loss": numbers}]])
    found = json.loads(text, parse_constant=pytest.fail)
    assert found["variants"][0]["runs"][0]["loss"] == [None, None, 0.25] and '"loss": [ null, null, 0.25 ]' in text


# The file


def test_the_file_is_of_the_variants_the_settings_and_the_seeds_that_the_tool_has_now():
    found = json.loads(ablations.FILE.read_text(encoding="utf-8"))["variants"]
    assert [(row["heading"], row["name"]) for row in found] == [variant[:2] for variant in ablations.VARIANTS]
    assert [row["settings"] for row in found] == [ablations.BASELINE | differs for *_, differs in ablations.VARIANTS]
    assert {tuple(run["seed"] for run in row["runs"]) for row in found} == {ablations.SEEDS}
    for row in found:
        steps = [*range(0, row["settings"]["steps"] + 1, ablations.EVERY)]
        assert all(run["after steps"] == steps for run in row["runs"])


@pytest.mark.parametrize("name", ["nothing left out", "no residuals", "only W_Q, W_K", "W_Q = W_K = 4I", "identity"])
def test_the_file_is_what_the_code_as_it_is_now_would_find(name):
    found = json.loads(ablations.FILE.read_text(encoding="utf-8"))["variants"]
    settings, run = next((row["settings"], row["runs"][1]) for row in found if row["name"] == name)
    short = settings | {"steps": settings["warmup"] + 1}  # until then the rates are the same
    again = ablations.run_job((short, run["seed"]))
    assert again["training loss"][0] == pytest.approx(run["training loss"][0], rel=1e-2)  # the next drift apart
    assert again["loss"][0] == pytest.approx(run["loss"][0], rel=1e-2)


def test_without_residuals_nearly_every_row_is_turned_round_from_two_starts_and_from_one_of_larger_scores_far_fewer():
    found = json.loads(ablations.FILE.read_text(encoding="utf-8"))["variants"]
    rows = [row for row in found if row["heading"] == "no residuals, 2000"]
    shares = {row["name"]: [run["exact"][-1] for run in row["runs"]] for row in rows}
    assert shares.pop("identity") == [1, 1, 1] and min(shares.pop("only W_Q, W_K")) > 0.98
    assert max(shares.pop("usual start")) < 0.02 and max(shares.pop("W_Q = W_K = 4I")) < 0.3 and len(shares) == 2
    assert max(max(each) for each in shares.values()) < 0.6 and min(map(min, shares.values())) < 0.2


def test_what_the_chapter_says_of_the_new_variants_is_what_the_file_has():
    rows = {
        (row["heading"], row["name"]): row["runs"] for row in json.loads(ablations.FILE.read_text("utf-8"))["variants"]
    }
    hard = [run["exact"][-1] for run in rows["one head, d_k 128", "scaled, hard start"]]
    longer = np.array([run["longer"][-1] for run in rows["rows of 16 as well", "half of the rows"]])
    assert max(hard) < 0.05 and (longer[:, 1] < 0.5).all() and (longer[:, 3] > 0.99).all()
    assert (longer[:, 1] < longer[:, [0, 2]].min(axis=1)).all()
    assert min(run["exact"][-1] for run in rows["plain, 1,200 steps", "rate 1"]) > 0.95
    early = {
        heading: max(np.mean([run["exact"][1] for run in runs]) for (each, _), runs in rows.items() if each == heading)
        for heading in (
            "one scale, two layers",
            "sign, two layers",
            "per matrix, two layers",
            "Adam, two layers",
        )
    }
    assert early["one scale, two layers"] < early["sign, two layers"] < early["per matrix, two layers"]
    assert early["per matrix, two layers"] < early["Adam, two layers"]


def test_no_two_variants_are_alike_in_what_they_are_or_are_called():
    settings = [tuple((ablations.BASELINE | differs).values()) for *_, differs in ablations.VARIANTS]
    names = {variant[:2] for variant in ablations.VARIANTS}
    assert len(set(settings)) == len(names) == len(ablations.VARIANTS)
    assert all(set(differs) <= set(ablations.BASELINE) for *_, differs in ablations.VARIANTS)
