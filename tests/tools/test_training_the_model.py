"""What `make model` does: it trains on what it says, measures what it says, and its files are of one training."""

import json
from functools import partial

import numpy as np
import pytest

from companion.evidence import activations, examples
from minitransformer.tasks.lexicon import NOUNS
from minitransformer.tasks.sentence_sets import it_sentences, twins
from minitransformer.tasks.sentences import fits
from minitransformer.training import train
from minitransformer.translation import (
    SENTENCES,
    batch_of,
    french_text,
    french_words,
    load_model,
    load_progress,
    load_runs,
    load_stages,
    new_model,
    translator,
)
from tools import measure
from tools.measure import model


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """Return the folder of a test, where its checkpoints are too."""
    monkeypatch.setenv("MINITRANSFORMER_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_its_files_are_written_whole_or_not_at_all_and_can_be_read(kept, monkeypatch, capsys):
    small = {"SEEDS": (3, 5), "TRAINING": model.TRAINING | {"steps": 3, "warmup": 1, "every": 2}}
    for name, value in (small | {"COUNT": 4, "TESTED": 12, "STAGES": (2,)}).items():
        monkeypatch.setattr(model, name, value)
    monkeypatch.setattr(translator, "FILE", kept / "translator.npy")
    monkeypatch.setattr(translator, "STAGES", kept / "stages.npy")
    monkeypatch.setattr(translator, "RUNS", kept / "translators.json")
    with monkeypatch.context() as full:
        full.setattr(measure, "replace_file", lambda *_: (_ for _ in ()).throw(OSError("the disk is full")))
        with pytest.raises(OSError, match="the disk is full"):
            model.main()
    assert [path.name for path in kept.iterdir()] == ["cache"]
    model.main()
    assert "seed 3, without hen, boulevard, lagoon, bucket: " in capsys.readouterr().out
    runs = load_runs()
    assert [(run["seed"], run["without"]) for run in runs] == [(3, []), (5, []), (3, [*model.ABSENT])]
    book, found, progress, weights = model.train_translator(3)
    assert runs[0] == json.loads(json.dumps(found)) and runs[0]["after steps"] == [0, 3]
    assert load_progress() == json.loads(json.dumps([progress, model.train_on_subjects()]))
    assert np.array_equal(load_model().flat, book.flat.astype(np.float16))
    assert [*load_stages()] == [0, 2] and np.array_equal(load_stages()[2], weights[2])
    (kept / "stages.npy").write_bytes(model.as_file(weights[3][None]))
    with pytest.raises(ValueError, match="stages.npy holds other weights than were measured; "):
        load_stages()
    assert runs[0]["others"] != runs[2]["others"]


def test_nouns_that_are_absent_stand_in_sentences_without_it_alone():
    (source, _, lengths), _ = model.draw(np.random.default_rng(0), 600, absent=model.ABSENT)
    rows = [{SENTENCES.english[n] for n in row[:length]} for row, length in zip(source, lengths)]
    with_it = set().union(*(row for row in rows if "it" in row))
    assert not with_it & set(model.ABSENT) and with_it & set(NOUNS) == set(NOUNS) - set(model.ABSENT)
    assert set(model.ABSENT) <= set().union(*(row for row in rows if "it" not in row))


def test_it_stands_for_the_subject_alone_where_that_is_asked_for():
    (source, _, lengths), _ = model.draw_subject_meant(np.random.default_rng(0), 300)
    rows = [[SENTENCES.english[n] for n in row[:length]] for row, length in zip(source, lengths)]
    meant = [[fits(word, row[-1]) for word in row if word in NOUNS] for row in rows if "it" in row]
    assert len(rows) == 300 and len(meant) > 100 and all(nouns == [True, False] for nouns in meant)


def test_a_carrier_is_a_word_whose_vector_takes_the_pronoun_along():
    book, rng = load_model(), np.random.default_rng(0)
    both, flips = [twins(rng) for _ in range(20)], {"because": [], "it": [], "last word": []}
    for pair in both:
        (source, target, _), _ = batch_of(pair, SENTENCES)
        memory = book.encode(source)
        for name, turned in flips.items():
            place = -1 if name == "last word" else pair[0].english.index(name)
            moved = memory.copy()
            moved[:, place] = memory[::-1, place]
            for phrase, row, ours, theirs in zip(pair, target, memory, moved):
                at = next(n for n, word in enumerate(phrase.french) if word in ("il", "elle"))
                turned.append(np.ptp([book.decode(row, each)[at][model.PRONOUNS].argmax() for each in (ours, theirs)]))
    assert model.carriers(book, both) == pytest.approx({name: np.mean(turned) for name, turned in flips.items()})


def test_a_mean_vector_is_put_where_its_word_stands_and_turns_the_pronoun_of_the_later_half():
    book, given = load_model(), examples(60)
    places = {"it": [each.it for each in given], "last word": [each.property for each in given]}
    said = [french_words(each.french)[each.pronoun] for each in given]
    outputs_of = lambda each: activations(each.english, each.french)["encoder output"]
    found = {}
    for name, at in places.items():
        outputs = [outputs_of(each)[place] for each, place in zip(given, at)]
        mean = {word: np.mean([x for x, y in zip(outputs[:30], said) if y == word], axis=0) for word in ("il", "elle")}
        changed = {"turned": 0, "kept": 0}
        for each, place, word in zip(given[30:], at[30:], said[30:]):
            for how, other in (("turned", {"il": "elle", "elle": "il"}[word]), ("kept", word)):
                vector = np.eye(len(each.english.split()))[place][:, None] * (mean[other] - outputs_of(each)[place])
                put = {"encoder output": lambda memory, vector=vector: memory + vector}
                logits = activations(each.english, each.french, change=put)["logits"]
                changed[how] += (SENTENCES.french[logits[each.pronoun].argmax()] != word) == (how == "turned")
        found[name] = {how: count / 30 for how, count in changed.items()}
    assert model.means(book, given) == {name: pytest.approx(shares) for name, shares in found.items()}
    assert found["it"] == {"turned": 1, "kept": 1} and found["last word"]["turned"] == 0


def test_an_adjective_is_said_by_a_row_that_looks_at_the_pronoun_and_obeys_another():
    book = load_model()
    phrases = [phrase for phrase in it_sentences(np.random.default_rng(4), 30) if not phrase.french[-1].endswith("e")]
    looks, obeys = [], []  # sentences in which il stands, as no feminine form ends otherwise
    for phrase in phrases:
        *begun, last = phrase.french
        weights = activations(" ".join(phrase.english), french_text(begun))["decoder 1 attention weights"].mean(0)[-1]
        looks.append([*"<", *begun][weights.argmax()] == "il")
        changed = ["elle" if word == "il" else word for word in begun]
        logits = activations(" ".join(phrase.english), french_text(changed))["logits"]
        obeys.append(SENTENCES.french[logits[-1].argmax()] != last)
    assert looks and model.agreement(book, phrases) == {"looks": np.mean(looks), "obeys": np.mean(obeys)}


def test_heads_at_their_mean_bring_every_word_what_they_bring_on_average():
    book, sentences = load_model(), examples(20)
    name = "encoder 2 attention mixed"
    mean = np.hstack([activations(each.english, each.french)[name][:2] for each in sentences]).mean(axis=1)
    right = []
    for each in sentences:
        change = {name: lambda heads: np.stack([*(np.tile(one, (heads.shape[1], 1)) for one in mean), *heads[2:]])}
        logits = activations(each.english, each.french, change=change)["logits"][each.pronoun]
        right.append(SENTENCES.french[logits.argmax()] == french_words(each.french)[each.pronoun])
    both = {"heads 1 and 2": (2, [0, 1])}
    assert model.averaged(book, sentences, both) == {"heads 1 and 2": np.mean(right)} and np.mean(right) < 1
    assert len(model.heads_to_cut(book)) == 20 and model.heads_to_cut(book)["layer 2, heads 1 and 2"] == (2, [0, 1])


def test_a_noun_is_hidden_from_it_or_from_the_property(monkeypatch):
    given, found = examples(5), []

    def scored(given, change, book):
        for each in given:
            weights = activations(each.english, each.french, book, change(each))["encoder 2 attention weights"].sum(
                axis=0
            )
            found.append([tuple(place) for place in np.argwhere(weights == 0)])
        return 0, 0, 0

    monkeypatch.setattr(model, "scored", scored)
    names = [(noun, word) for noun in ("antecedent", "other") for word in ("it", "property")]
    assert [*model.hidden(load_model(), given)] == [f"{noun} from {word}" for noun, word in names]
    assert found == [[(getattr(each, word), getattr(each, noun))] for noun, word in names for each in given]


def test_the_absent_nouns_are_told_apart_by_which_is_meant():
    last = load_runs()[-1]
    assert last["absent and meant"]["pronoun"] < last["absent"]["pronoun"] < last["absent and not meant"]["pronoun"]


# The files


def book_run():
    """Return what was measured of the book's own training."""
    return next(run for run in load_runs() if run["seed"] == model.BOOK and not run["without"])


def test_the_runs_are_those_of_the_tool_as_it_is():
    runs = [(run["seed"], run["without"]) for run in load_runs()]
    assert runs == [*((seed, []) for seed in model.SEEDS), (model.BOOK, [*model.ABSENT])]
    assert all(run["after steps"][-1] == model.TRAINING["steps"] for run in load_runs())


def test_the_weights_are_those_that_were_measured(monkeypatch):
    run = book_run()
    cut = {"layer 2, heads 2 and 3": (2, [1, 2])}  # of twenty, each of which takes 4,000 sentences
    monkeypatch.setattr(model, "averaged", partial(model.averaged, wanted=cut))
    found = model.measurements(load_model())
    kept = {name: run["averaged"][name] for name in cut}
    assert found.keys() <= run.keys() and {"averaged", "means"} <= found.keys()
    for name, numbers in found.pop("means").items():
        assert numbers == pytest.approx(run["means"][name], abs=0.003), name
    for name, numbers in found.items():
        assert numbers == pytest.approx(kept if name == "averaged" else run[name], abs=0.003), name


def test_the_training_begins_as_that_of_the_file():
    run, seed = book_run(), model.BOOK
    measure = partial(model.shares, phrases=it_sentences(np.random.default_rng(400), 400))
    begun = train(new_model(seed), model.draw, 101, rate=model.TRAINING["rate"], seed=seed, measure=measure)
    assert begun.found["others"][:2] == pytest.approx(run["others"][:2], abs=0.02)


def test_what_chapter_15_tells_of_its_training_is_of_one_training():
    run, (book, _) = book_run(), load_progress()
    ends = {name: values[::2] for name, values in book.items() if not name.endswith("loss")}
    assert ends == {name: run[name] for name in ends}
    unseen, young = it_sentences(np.random.default_rng(400), 400), new_model()
    for step, weights in load_stages().items():
        young.flat[:] = weights
        found, at = model.watched(young, unseen), book["after steps"].index(step)
        for name in book.keys() - {"after steps"}:
            assert found[name] == pytest.approx(book[name][at], abs=0.003), (step, name)
