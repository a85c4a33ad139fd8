"""The model that comes with the package: its file, what it translates, and all that can be seen inside it."""

import numpy as np
import pytest

from companion.evidence import (
    NORMS,
    activations,
    animals_and_things,
    examples,
    hidden,
    looks,
    lookup,
    scored,
    suspect,
    translate_with,
    twin_examples,
    without_norms,
)
from companion.evidence.examples import averaged
from minitransformer.attention import attention
from minitransformer.feed_forward import gelu
from minitransformer.layer_norm import layer_norm
from minitransformer.multi_head import merge_heads, split_heads
from minitransformer.softmax import softmax
from minitransformer.tasks.lexicon import NOUNS
from minitransformer.tasks.sentence_sets import it_sentences
from minitransformer.tasks.sentences import fits
from minitransformer.transformer import stack_size
from minitransformer.translation import (
    FILE,
    PRONOUNS,
    SENTENCES,
    batch_of,
    correct_words,
    english_words,
    french_text,
    french_words,
    load_model,
    load_runs,
    new_model,
    translate,
    translator,
)

TIRED = "The animal didn't cross the street because it was too tired."
SAID = "l'animal n'a pas traversé la rue parce qu'"
ATTENTION = ("normed", "queries", "keys", "values", "scores", "weights", "mixed", "added", "output")
MODEL = load_model()


# The file


def test_the_file_is_small_and_holds_every_weight():
    kept = np.load(FILE)
    assert FILE.stat().st_size <= 400_000 and kept.dtype == np.float16
    assert np.array_equal(MODEL.flat, kept) and MODEL.flat.dtype == np.float32 and kept.size == MODEL.flat.size


@pytest.mark.parametrize(
    "sentence, french",
    [
        (TIRED, f"{SAID}il était trop fatigué"),
        (TIRED.replace("tired", "wide"), f"{SAID}elle était trop large"),
        (
            "My small black cat didn't cross the street because it was tired.",
            "mon petit chat noir n'a pas traversé la rue parce qu'il était fatigué",
        ),
    ],
)
def test_the_sentences_of_the_book_are_translated_rightly(sentence, french):
    assert translate(sentence)[0] == french


def test_what_was_never_seen_together_is_translated_rightly():
    phrases = it_sentences(np.random.default_rng(0), 1_000)
    assert correct_words(MODEL, phrases, SENTENCES).all(axis=-1).mean() >= 0.99


@pytest.mark.parametrize(
    "content, kind, says",
    [
        (None, FileNotFoundError, "is missing; install the package again, or run `make model`."),
        (b"", ValueError, "is damaged ("),
        (b"no weights", ValueError, "is damaged ("),
        (FILE.read_bytes()[:-2], ValueError, "is damaged ("),
        (np.zeros(3), ValueError, f"holds 3 numbers; expected {MODEL.flat.size}: run `make model`."),
        (MODEL.flat * np.nan, ValueError, "holds other weights than were measured; "),
        (np.zeros(MODEL.flat.size, "<U1"), ValueError, "holds other weights than were measured; "),
        (MODEL.flat[::-1].astype(np.float16), ValueError, "holds other weights than were measured; "),
    ],
    ids=["missing", "empty", "another kind", "cut off", "another model", "not finite", "texts", "other weights"],
)
def test_what_is_not_the_models_file_is_refused_with_what_to_do(content, kind, says, tmp_path, monkeypatch):
    path = tmp_path / "translator.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        np.save(path, content)
    monkeypatch.setattr(translator, "FILE", path)
    with pytest.raises(kind) as told:
        load_model()
    sentence = str(told.value)
    assert sentence.startswith(f"{path} {says}") and sentence.endswith("run `make model`.") and "\n" not in sentence


def test_the_runs_are_of_several_seeds_and_once_without_some_nouns():
    runs = load_runs()
    whole = [run for run in runs if not run["without"]]
    assert len(whole) >= 3 and len({run["seed"] for run in whole}) == len(whole) == len(runs) - 1
    for run in runs:
        curves = [run[name] for name in ("exact", "pronoun", "others")]
        assert {len(curve) for curve in curves} == {len(run["after steps"])} and run["after steps"][0] == 0
        assert all(0 <= share <= 1 for curve in curves for share in curve)
        assert set(run["carriers"]) == {"because", "it", "last word"}
    assert all(run["averaged"].keys() == run["cuts"].keys() for run in runs)
    (book,) = (run for run in whole if run["seed"] == 3)
    assert min(book["pairs"].values()) >= 0.99


# What is seen inside


def named(side, looks):
    """Return the names of what is seen in each layer of a side, by the layer and its parts."""
    for number in range(1, stack_size(MODEL, side)[0] + 1):
        yield from ((f"{side} {number} {name}", MODEL.params[side][number][name]) for name in looks)
        yield f"{side} {number} feed_forward", MODEL.params[side][number]["feed_forward"]


SIDES = {"encoder": ["attention"], "decoder": ["attention", "cross_attention"]}
FOUND = activations(TIRED)


def test_everything_has_its_name_and_its_shape():
    n, m, d = len(french_words(SAID)) + 5, len(english_words(TIRED)), 64
    shapes = {"source": (m,), "target": (n,), "logits": (n, len(SENTENCES.french))}
    for side, places in SIDES.items():
        own, heads = {"encoder": m, "decoder": n}[side], stack_size(MODEL, side)[1]
        shapes |= dict.fromkeys((f"{side} embedded", f"{side} stream", f"{side} output"), (own, d))
        for name, _ in named(side, places):
            other = m if "cross" in name else own
            sizes = {"queries": own, "keys": other, "values": other, "mixed": own}
            inside = {what: (heads, size, d // heads) for what, size in sizes.items()}
            inside |= {"scores": (heads, own, other), "weights": (heads, own, other)}
            inside = {"hidden": (own, 4 * d)} if "feed" in name else inside
            inside |= dict.fromkeys(("stream", "normed", "added", "output"), (own, d))
            shapes |= {f"{name} {what}": shape for what, shape in inside.items()}
    assert {name: array.shape for name, array in FOUND.items()} == shapes


def close(found, expected):
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("side, looks", SIDES.items())
def test_what_is_seen_fits_together(side, looks):
    before, heads = FOUND[f"{side} embedded"], stack_size(MODEL, side)[1]
    for name, params in named(side, looks):
        part = {what: FOUND[f"{name} {what}"] for what in ATTENTION if f"{name} {what}" in FOUND}
        close(part["normed"], layer_norm(before, params["gain"], params["bias"]))
        close(before + part["added"], part["output"])
        before = part["output"]
        if name.endswith("feed_forward"):
            hidden = FOUND[f"{name} hidden"]
            close(hidden, gelu(part["normed"] @ params["W_1"] + params["b_1"]))
            close(hidden @ params["W_2"] + params["b_2"], part["added"])
            continue
        read = FOUND["encoder output"] if "cross" in name else part["normed"]
        for what, array in (("queries", part["normed"]), ("keys", read), ("values", read)):
            close(part[what], split_heads(array @ params[f"W_{what[0].upper()}"], heads))
        close(part["scores"], part["queries"] @ part["keys"].swapaxes(-1, -2) / (64 / heads) ** 0.5)
        own = name.startswith("decoder") and "cross" not in name
        hidden = ~np.tri(*part["scores"].shape[1:], dtype=bool) if own else np.zeros(part["scores"].shape[1:], bool)
        close(part["weights"], softmax(np.where(hidden, -np.inf, part["scores"])))
        close(part["mixed"], part["weights"] @ part["values"])
        close(part["added"], merge_heads(part["mixed"]) @ params["W_O"])
    close(FOUND[f"{side} output"], layer_norm(before, **MODEL.params[side]["norm"]))


def test_the_logits_are_the_models_own_and_say_the_translation():
    close(FOUND["logits"], FOUND["decoder output"] @ MODEL.params["output"])
    close(FOUND["logits"], MODEL(FOUND["source"], FOUND["target"]))
    assert [SENTENCES.english[n] for n in FOUND["source"]] == english_words(TIRED)
    said = FOUND["logits"].argmax(axis=-1)
    assert (said[:-1] == FOUND["target"][1:]).all()
    words = [SENTENCES.french[n] for n in said]
    assert words == [*french_words(f"{SAID}il était trop fatigué"), "</s>"]


def test_another_translation_and_another_model_can_be_looked_into():
    other, french = new_model(1), f"{SAID}elle"
    found = activations(TIRED, french, other)
    (source, target, _), _ = batch_of([(english_words(TIRED), french_words(french))], SENTENCES)
    assert (found["target"] == target[0]).all()
    close(found["logits"], other(source, target)[0])
    with pytest.raises(ValueError, match="^éléphant: not among the 127 words of this vocabulary; use others.$"):
        activations(TIRED, "un éléphant")


def test_what_is_put_in_an_arrays_place_goes_on():
    name = "encoder 2 attention mixed"
    same, without = (activations(TIRED, SAID, change={name: lambda x, by=by: x * by}) for by in (1, 0))
    before = activations(TIRED, SAID)
    assert all(np.array_equal(same[each], before[each]) for each in before)
    assert not without[name].any() and not without["encoder 2 attention added"].any()
    close(without["encoder 2 attention output"], before["encoder 1 feed_forward output"])
    assert not np.allclose(without["logits"], before["logits"], atol=0.1)


def test_a_head_is_cut_as_by_zeros_in_its_matrix():
    model = load_model()
    model.params["encoder"][1]["attention"]["W_O"].reshape(4, 16, 64)[1] = 0
    change = {"encoder 1 attention mixed": lambda x: x * (np.arange(4) != 1)[:, None, None]}
    close(activations(TIRED, SAID, change=change)["logits"], activations(TIRED, SAID, model)["logits"])


def test_a_change_of_what_happens_nowhere_is_refused():
    with pytest.raises(ValueError, match="^change has encoder 3 attention mixed, which happens nowhere in the model; "):
        activations(TIRED, SAID, change={"encoder 3 attention mixed": abs})
    with pytest.raises(ValueError, match="^instead has norm, which happens nowhere in the model; "):
        activations(TIRED, SAID, instead={"norm": abs})


def test_a_part_can_be_replaced_by_a_function_of_what_was_found():
    before = activations(TIRED, SAID)
    places = [name.removesuffix(" normed") for name in before if name.endswith(" normed")]
    assert len(places) == 7
    for place in places:
        close(before[f"{place} stream"] + before[f"{place} added"], before[f"{place} output"])
    instead = {f"{place} normed": lambda found, place=place: found[f"{place} stream"] for place in places}
    found = activations(TIRED, SAID, instead=instead, change={"encoder stream": np.zeros_like})
    assert all(np.array_equal(found[f"{place} normed"], found[f"{place} stream"]) for place in places)
    assert not found["encoder stream"].any()
    close(found["encoder output"], np.broadcast_to(load_model().params["encoder"]["norm"]["bias"], (11, 64)))
    assert not scored(examples(20), instead={"decoder output": lambda found: 0 * found["decoder stream"]})[1:].any()


def test_without_norms_hands_on_what_each_norm_reads():
    before = activations(TIRED, SAID)
    assert list(NORMS) == [name for name in before if name.endswith(("normed", "encoder output", "decoder output"))]
    found = activations(TIRED, SAID, instead=without_norms())
    assert all(np.array_equal(found[norm], found[stream]) for norm, stream in NORMS.items())
    seen = {}
    instead = without_norms(
        lambda x, norm: seen.setdefault(norm, x / 2), ["decoder output", "encoder 1 attention normed"]
    )
    halved = activations(TIRED, SAID, instead=instead)
    assert set(seen) == {"decoder output", "encoder 1 attention normed"}
    close(halved["decoder output"], halved["decoder stream"] / 2)
    close(activations(TIRED, SAID, instead=without_norms(norms=[]))["logits"], before["logits"])
    with pytest.raises(ValueError, match="norms has encoder 3 output"):
        without_norms(norms=["encoder 3 output"])


def test_animals_and_things_are_the_examples_of_these_kinds_in_their_order():
    animals, things = animals_and_things(20)
    kind = lambda each, place: NOUNS[each.english.split()[place]][2] == "A"
    assert [(kind(e, e.antecedent), kind(e, e.other)) for e in animals] == [(True, False)] * 20
    assert [(kind(e, e.antecedent), kind(e, e.other)) for e in things] == [(False, True)] * 20
    drawn = examples(200)
    assert [e for e in drawn if e in animals] == animals and [e for e in drawn if e in things] == things
    assert animals_and_things(20, seed=2)[0] != animals


def test_looks_counts_the_largest_weights_of_each_head():
    drawn = examples(10)
    found = looks(drawn, 2, "property")
    for head in range(4):
        tables = [activations(e.english, e.french)["encoder 2 attention weights"][head] for e in drawn]
        most = [table[e.property].argmax() for table, e in zip(tables, drawn)]
        assert found["it"][head] == sum(place == e.it for place, e in zip(most, drawn))
        assert sum(count[head] for count in found.values()) == 10
    with pytest.raises(ValueError, match="asks is 'was'; expected 'it', 'antecedent', 'other' or 'property'"):
        looks(drawn, 1, "was")


def test_a_hidden_word_has_no_weight_for_the_pronoun_and_keeps_it_for_others():
    (each,) = examples(1)
    before = activations(each.english, each.french)["encoder 1 attention weights"]
    after = activations(each.english, each.french, change=hidden(1, "property", "other")(each))
    weights = after["encoder 1 attention weights"]
    assert not weights[:, each.it, [each.property, each.other]].any()
    np.testing.assert_allclose(weights[:, each.it].sum(axis=-1), 1, rtol=1e-6)
    others = np.arange(before.shape[1]) != each.it
    np.testing.assert_array_equal(weights[:, others], before[:, others])
    with pytest.raises(ValueError, match="words is 'noun'"):
        hidden(1, "noun")


def test_an_averaged_head_says_the_same_of_every_word_and_the_others_what_they_say():
    drawn = examples(5)
    changed = activations(drawn[0].english, drawn[0].french, change=averaged({1: (2, 4)}, drawn)(drawn[0]))
    name = "encoder 1 attention mixed"
    plain = [activations(e.english, e.french)[name] for e in drawn]
    mean = np.concatenate(plain, axis=1).mean(axis=1)
    np.testing.assert_allclose(changed[name][[1, 3]], np.broadcast_to(mean[[1, 3], None], changed[name][[1, 3]].shape))
    np.testing.assert_array_equal(changed[name][[0, 2]], plain[0][[0, 2]])


def test_a_head_that_is_averaged_at_one_word_says_its_mean_there_and_elsewhere_what_it_says():
    drawn = examples(5)
    name, it = "encoder 1 attention mixed", drawn[0].it
    changed = activations(drawn[0].english, drawn[0].french, change=averaged({1: (2, 4)}, drawn, "it")(drawn[0]))[name]
    plain = [activations(e.english, e.french)[name] for e in drawn]
    mean = np.mean([run[:, e.it] for run, e in zip(plain, drawn)], axis=0)
    np.testing.assert_allclose(changed[[1, 3], it], mean[[1, 3]], rtol=1e-6)
    changed[[1, 3], it] = plain[0][[1, 3], it]
    np.testing.assert_array_equal(changed, plain[0])
    with pytest.raises(ValueError, match="word is 'was'; expected 'it', 'antecedent', 'other' or 'property'"):
        averaged({1: (2,)}, drawn, "was")


def test_examples_know_the_places_of_their_words():
    found = examples(200)
    for each in found:
        english, french = english_words(each.english), french_words(each.french)
        nouns = [NOUNS[english[place]] for place in (each.antecedent, each.other)]
        assert english[each.it] == "it" and each.property == len(english) - 1
        able = [fits(english[place], english[-1]) for place in (each.antecedent, each.other)]
        assert able == [True, False] and french[each.pronoun] == {"m": "il", "f": "elle"}[nouns[0][1]]
    assert 60 < sum(each.antecedent < each.other for each in found) < 140 and found == examples(200)
    assert found != examples(200, seed=2)


def test_twins_differ_in_their_last_word_and_so_in_their_pronoun():
    pairs = twin_examples(100)
    assert pairs == twin_examples(100) and pairs != twin_examples(100, seed=2)
    for one, other in pairs:
        assert one.english.split()[:-1] == other.english.split()[:-1] and one.english != other.english
        assert (one.antecedent, one.other, one.it) == (other.other, other.antecedent, other.it)
        pronouns = {french_words(each.french)[each.pronoun] for each in (one, other)}
        assert pronouns == {"il", "elle"} and one.pronoun == other.pronoun


def test_a_lookup_is_the_models_own_cross_attention():
    q, k, v, english, said = lookup(TIRED)
    inside = activations(TIRED)
    assert (english, said) == (english_words(TIRED), [*french_words(f"{SAID}il était trop fatigué"), "(end)"])
    output, weights = attention(q, k, v)
    close(weights, inside["decoder 1 cross_attention weights"][0])
    close(output, inside["decoder 1 cross_attention mixed"][0])
    assert lookup(TIRED, "la rue").said == ["la", "rue", "(end)"]


def test_a_translation_with_other_keys_or_values_is_what_is_said_word_by_word():
    for each in examples(12):
        _, keys, values, english, said = lookup(each.english)
        assert french_words(translate_with(each.english)) == said[:-1]
        trade = np.arange(len(english))
        trade[[each.antecedent, each.other]] = each.other, each.antecedent
        change = {"decoder 1 cross_attention values": lambda own, trade=trade: own[:, trade]}
        words = []
        while len(words) < 30 and "</s>" not in words:
            logits = activations(each.english, french_text(words), change=change)["logits"]
            words.append(SENTENCES.french[logits[-1].argmax()])
        found = translate_with(each.english, values=values[trade])
        assert french_words(found) == words[:-1] != said[:-1]
        assert translate_with(each.english, keys=keys[trade]) == found
        assert french_words(translate_with(each.english, keys[trade], values[trade])) == said[:-1]


def test_a_translation_that_does_not_end_is_cut():
    _, keys, values, english, _ = lookup(TIRED)
    too = values[[english.index("too")] * len(english)]
    assert french_words(translate_with(TIRED, values=too)) == 30 * ["trop"]
    with pytest.raises(ValueError, match=r"^values has shape \(1, 64\); expected one row for each of the 11 English"):
        translate_with(TIRED, keys, values[:1])


def test_what_is_scored_is_what_is_right():
    phrases, given = it_sentences(np.random.default_rng(1), 60), examples(60)
    for model in (MODEL, new_model(0)):
        (_, said), found = batch_of(phrases, SENTENCES), correct_words(model, phrases, SENTENCES)
        asked = np.isin(said, PRONOUNS)
        expected = found[~asked & (said >= 0)].mean(), found[asked].mean(), found.all(axis=-1).mean()
        close(scored(given, model=model), np.array(expected))
    hidden = {
        which: lambda each, which=which: {"encoder 2 attention scores": hide(each.it, getattr(each, which))}
        for which in ("antecedent", "other")
    }
    shares = {which: scored(given, change)[1] for which, change in hidden.items()}
    assert shares["other"] == 1 and shares["antecedent"] < 0.7
    with pytest.raises(ValueError, match=r"^examples is \[\]; expected sentences, such as examples"):
        scored([])


def hide(row, column):
    """Return a function that hides a column of scores (heads, n, m) from a row."""
    return lambda scores: np.where((np.indices(scores.shape)[1:] == [[[[row]]], [[[column]]]]).all(0), -np.inf, scores)


# Translators with a fault


def pairs(count):
    """Return sentences as numbers of the words read, in English and in French, and of the French words to be said."""
    drawn = [(english_words(each.english), french_words(each.french)) for each in examples(count)]
    batches = [batch_of([pair], SENTENCES) for pair in drawn]
    return [(source[0], target[0], said[0]) for (source, target, _), said in batches]


@pytest.mark.parametrize(("name", "least", "most"), [("A", 0.2, 0.45), ("B", 1, 1), ("C", 0.1, 0.3), ("D", 0, 0.1)])
def test_a_suspect_is_wrong_in_its_logits_and_in_its_share_of_sentences(name, least, most):
    found, model, right = suspect(name), load_model(), []
    for source, target, said in pairs(100):
        logits = found(source, target)
        assert np.abs(logits - model(source, target)).max() > 0.1
        right.append((logits.argmax(axis=-1) == said).all())
    assert least <= np.mean(right) <= most


def test_the_suspect_without_a_mask_says_last_what_the_model_says():
    found, model = suspect("C"), load_model()
    for source, target, _ in pairs(5):
        for n in range(1, len(target) + 1):
            np.testing.assert_allclose(found(source, target[:n])[-1], model(source, target[:n])[-1], atol=1e-4)


def test_there_are_four_suspects():
    with pytest.raises(ValueError, match="name is 'E'; expected 'A', 'B', 'C' or 'D'"):
        suspect("E")
