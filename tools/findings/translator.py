"""Findings on the trained translator, of chapters 3 to 17, on 500 sentences or pairs that no chapter takes."""

from functools import cache

import numpy as np

from companion.evidence import (
    NORMS,
    activations,
    animals_and_things,
    examples,
    hidden,
    looks,
    lookup,
    scored,
    translate_with,
    twin_examples,
    without_norms,
)
from companion.evidence.examples import averaged
from companion.evidence.twins import with_another_noun
from minitransformer.dot_product import unit
from minitransformer.feed_forward import relu
from minitransformer.inside import linear_probe
from minitransformer.layer_norm import layer_norm
from minitransformer.masks import padding_mask
from minitransformer.positions import sinusoidal_positions
from minitransformer.softmax import softmax
from minitransformer.tasks.lexicon import DETERMINERS, NOUNS, PROPERTIES
from minitransformer.tasks.sentence_sets import draw_sentence, it_sentences
from minitransformer.tasks.sentences import feminine
from minitransformer.transformer import logits_of
from minitransformer.translation import (
    END,
    PRONOUNS,
    SENTENCES,
    batch_of,
    beam_search,
    correct_words,
    english_words,
    french_text,
    french_words,
    greedy_decode,
    load_model,
    load_runs,
    translate,
    word_numbers,
)

from .random_numbers import alike
from .words import SEEDS, many, shares

COUNT, KINDS = 500, 250
PARTS = [f"encoder {layer} {part}" for layer in (1, 2) for part in ("attention", "feed_forward")]
PARTS += [f"decoder 1 {part}" for part in ("attention", "cross_attention", "feed_forward")]


@cache
def given():
    """Return 500 sentences that no chapter takes."""
    return examples(COUNT, SEEDS[0])


@cache
def kinds():
    """Return 250 sentences about an animal, whose other noun is a thing, and 250 about a thing, the other an animal."""
    return animals_and_things(KINDS, SEEDS[0])


@cache
def pairs():
    """Return 500 pairs of twins that no chapter takes."""
    return twin_examples(COUNT, SEEDS[0])


@cache
def runs():
    """Return what happens in the model while it reads the 500 sentences."""
    return [activations(each.english, each.french) for each in given()]


def towards_the_other(noun, table, row):
    """Return the step from the mean of the nouns of its French gender to that of the others, the noun left out."""
    kind = feminine(noun)
    own, other = ([row[n] for n in NOUNS if feminine(n) == each and n != noun] for each in (kind, not kind))
    return table[other].mean(axis=0) - table[own].mean(axis=0)


def moved(noun, by, sentences):
    """Return what the model says of sentences, as lists of words, when the row of a noun is moved, `by` a function."""
    row, model = {word: number for number, word in enumerate(SENTENCES.english)}, load_model()
    table = model.params["source_embedding"]
    table[row[noun]] += by(towards_the_other(noun, table.copy(), row))
    return [french_words(translate(sentence, model)[0]) for sentence in sentences]


def turned_nouns():
    rng = np.random.default_rng(SEEDS[0])
    tried = ("wide", "long", "deep", "broken", "heavy", "empty", "closed")
    adjectives = [word for word in PROPERTIES if word not in tried]
    shown = [noun for noun in NOUNS if noun not in ("animal", "bird", "pond", "avenue")]
    noise = lambda step: np.linalg.norm(step) * unit(rng.normal(size=step.shape))
    said = {by: [] for by in (np.copy, noise)}
    for noun in shown:
        for by, found in said.items():
            words = moved(noun, by, [f"the {noun} was {adjective}" for adjective in adjectives])
            found += [(each[0] == ("le" if feminine(noun) else "la"), each[1] == NOUNS[noun][0]) for each in words]
    ours, control = (np.sum(found, axis=0) for found in said.values())
    count = len(shown) * len(adjectives)
    text = f"of {count}, other article {ours[0]}, same noun {ours[1]}; random direction {control[0]}, {control[1]}"
    return text, {"other article": ours[0] / count, "other article by a random step": control[0] / count}


def turned_pronouns():
    found = {"masculine animals": [], "other nouns": [], "the noun not meant": []}
    for each in given():
        own, words = french_words(each.french)[each.pronoun], each.english.split()
        for place in (each.antecedent, each.other):
            noun = words[place]
            he = NOUNS[noun][2] == "A" and not feminine(noun)
            kind = "the noun not meant" if place == each.other else "masculine animals" if he else "other nouns"
            (said,) = moved(noun, np.copy, [each.english])
            found[kind].append(own not in said)
    text = ", ".join(f"{kind} {sum(turned)} of {len(turned)}" for kind, turned in found.items())
    return text, {
        "other nouns": np.mean(found["other nouns"]),
        "masculine animals": np.mean(found["masculine animals"]),
        "the noun not meant": np.mean(found["the noun not meant"]),
    }


def of(count):
    """Return a count of the 500 as one says it."""
    return f"{count:.0f} of {COUNT}"


def three(found):
    """Return what `scored` found as one says it."""
    words, pronouns, whole = found
    return f"words {words:.1%}, pronouns {pronouns:.1%}, sentences {whole:.1%}"


def one_source():
    largest = np.concatenate([run["decoder 1 cross_attention weights"][0, :-1].max(axis=1) for run in runs()])
    return f"{np.mean(largest > 0.9):.1%} of {len(largest):,}", {"words": np.mean(largest > 0.9)}


def looks_at_it():
    count = sum(
        run["decoder 1 cross_attention weights"][0, each.pronoun].argmax() == each.it
        for run, each in zip(runs(), given())
    )
    return of(count), {"pronouns": count / COUNT}


def value_of_it():
    turned, mean = np.zeros(3, int), np.mean([lookup(*each[:2]).values[each.it] for each in given()], axis=0)
    for one, other in pairs():
        here, there = (lookup(*each[:2]).values for each in (one, other))
        it = np.arange(len(here))[:, None] == one.it
        for i, (new, old) in enumerate(((there, here), (here, there), (mean, here))):
            french = french_words(translate_with(one.english, values=np.where(it, new, old)))
            turned[i] += french_words(one.french)[one.pronoun] not in french
    found = f"turned by it alone {turned[0]}, by all but it {turned[1]}, by a mean of it {turned[2]}, of {COUNT}"
    return found, {
        "by it alone": turned[0] / COUNT,
        "by all but it": turned[1] / COUNT,
        "by the mean": turned[2] / COUNT,
    }


def nouns_swapped():
    counts = np.zeros(3, int)
    for each in given():
        words, at = each.english.split(), sorted((each.antecedent, each.other))
        nouns, swap = [NOUNS[words[place]][0] for place in at], np.arange(len(words))
        swap[at] = at[::-1]
        french = french_words(translate_with(each.english, values=lookup(*each[:2]).values[swap]))
        said = [word for word in french if word in nouns]
        counts += said[:1] == nouns[1:], said == nouns[::-1], french_words(each.french)[each.pronoun] in french
    first, both, pronoun = counts
    found = f"the first noun is the other in {first}, both are in {both}, the pronoun is as before in {pronoun}"
    return f"{found}, of {COUNT}", {"both nouns": both / COUNT, "pronoun off from both": abs(pronoun - both) / COUNT}


def most(layer, asks, finds):
    """Return in how many of the 500 sentences each head looks most from one word at another."""
    name = f"encoder {layer} attention weights"
    return sum(
        run[name][:, getattr(each, asks)].argmax(axis=1) == getattr(each, finds) for run, each in zip(runs(), given())
    )


def at_the_adjective():
    found = most(1, "it", "property")
    return f"heads 1 to 4: {many(found, '.0f')}", {
        "heads 2 and 4": found[[1, 3]] / COUNT,
        "heads 1 and 3": found[[0, 2]] / COUNT,
    }


def from_the_adjective():
    found = most(1, "property", "it"), most(2, "property", "it")
    return f"layer 1 {many(found[0], '.0f')}; layer 2 {many(found[1], '.0f')}", {
        "head 3": [row[2] / COUNT for row in found],
        "another": [np.delete(row, 2).max() / COUNT for row in found],
    }


def in_the_middle():
    found = []
    for noun, (_, _, kind) in NOUNS.items():
        for state in (word for word, (_, _, kinds) in PROPERTIES.items() if kind in kinds):
            for other in ("street", "bridge", "cow", "cat", "lake", "river"):
                if other in NOUNS and other != noun:
                    sentence = f"the {noun} was {state} because it saw the {other}"
                    found.append(activations(sentence)["encoder 1 attention weights"][:, 5].argmax(axis=1) == 3)
    share = np.mean(found, axis=0)
    return f"of {len(found)}, heads 1 to 4: {shares(share)}", {
        "head 2": share[1],
        "head 2 less head 4": share[1] - share[3],
    }


def looks_at_the_animal():
    found = [looks(some, 1)[noun][[0, 2]] for some, noun in zip(kinds(), ("antecedent", "other"))]
    return f"heads 1 and 3, where it is meant {many(found[0], '.0f')}, where the thing is {many(found[1], '.0f')}", {
        "at the animal": np.array(found) / KINDS
    }


def finds_the_thing():
    found = looks(kinds()[1], 2)
    return f"of {KINDS} sentences about the thing: {many(found['antecedent'][:3], '.0f')}", {
        "at the thing": found["antecedent"][:3] / KINDS
    }


def by_kind(change):
    """Return which shares of the pronouns are right where the animal is meant, and where the thing is."""
    return np.array([scored(some, change)[1] for some in kinds()])


def both_steps():
    found = by_kind(hidden(1, "property")), by_kind(hidden(2, "antecedent"))
    text = f"no adjective in layer 1 {shares(found[0])}, no noun in layer 2 {shares(found[1])}"
    return text, {"animals without the adjective": found[0][0], "pronouns without the noun": found[1].mean()}


def always_the_thing():
    animals, things = by_kind(hidden(1, "property"))
    return f"right about the animal {animals:.1%}, about the thing {things:.1%}", {
        "right about the animal": animals,
        "right about the thing": things,
    }


def hardly_missed_nouns():
    alone, other = by_kind(hidden(1, "antecedent")), by_kind(hidden(1, "other"))
    both = by_kind(lambda each: hidden(1, "antecedent")(each) | hidden(2, "antecedent")(each))
    text = f"noun meant {shares(alone)}, other noun {shares(other)}; noun meant in both layers {shares(both)}"
    return text, {"one noun hidden": [*alone, *other], "the noun meant, in both layers": both}


def nearest_of_one_matrix(scores):
    """Return the nearest scores that one matrix could make: symmetric, with no negative eigenvalue."""
    values, vectors = np.linalg.eigh((scores + scores.swapaxes(-1, -2)) / 2)
    return vectors * np.maximum(values, 0)[:, None] @ vectors.swapaxes(-1, -2)


def one_matrix_says_the_thing():
    name = "encoder 1 attention scores"
    alike = by_kind(lambda each: {name: lambda scores: (scores + scores.swapaxes(-1, -2)) / 2})
    found = by_kind(lambda each: {name: nearest_of_one_matrix})
    return f"animals and things: symmetric {shares(alike)}, as one matrix could make them {shares(found)}", {
        "symmetric": alike,
        "nearest, animals": found[0],
        "nearest, things": found[1],
    }


def the_row_of_it():
    name = "encoder 1 attention scores"

    def kept(each):
        def change(scores):
            near = nearest_of_one_matrix(scores)
            near[:, each.it] = scores[:, each.it]
            return near

        return {name: change}

    def blind(each):
        def change(scores):
            scores[:, each.property, each.it] = -np.inf
            return scores

        return {name: change}

    found = by_kind(kept), by_kind(blind)
    text = f"animals and things: the row kept {shares(found[0])}, the adjective blind to it {shares(found[1])}"
    return text, {"the row kept": found[0], "the adjective blind": found[1]}


def norms_grow():
    found = [
        np.linalg.norm(np.vstack([run[name] for run in runs()]), axis=1).mean()
        for name in ("encoder embedded", "encoder stream")
    ]
    return f"from {found[0]:.1f} to {found[1]:.1f}", {"first": found[0], "last": found[1]}


def agreement():
    rows = [(run["decoder 1 attention weights"][0, -2], each.pronoun + 1) for run, each in zip(runs(), given())]
    count = sum(row.argmax() == at for row, at in rows)
    return of(count), {"sentences": count / COUNT}


def two_forms(count):
    """Yield each of so many sentences whose adjective has two forms, the words of its French, and the two forms."""
    for each in examples(count, SEEDS[0]):
        forms = PROPERTIES[each.english.split()[each.property]][:2]
        if forms[0] != forms[1]:
            yield each, french_words(each.french), forms


def adjective_follows():
    counts = np.zeros(4, int)
    articles = {a: b for pair in DETERMINERS.values() for a, b in (pair, pair[::-1])}
    for each, french, forms in two_forms(1000):
        english = each.english.split()
        nouns = [NOUNS[english[place]][0] for place in (each.antecedent, each.other)]
        nouns = dict(zip(nouns, nouns[::-1]))
        for i, swap in enumerate(({"il": "elle", "elle": "il"}, nouns, nouns | articles)):
            fed = french_text([swap.get(word, word) for word in french[:-1]])
            said = SENTENCES.french[activations(each.english, fed)["logits"][-1].argmax()]
            counts[i] += said == forms[french[-1] == forms[0]]
        counts[3] += 1
    pronoun, nouns, both, asked = counts
    found = f"with the pronoun {pronoun}, with the nouns {nouns}, with nouns and articles {both}, of {asked}"
    return found, {"with the pronoun": pronoun / asked, "with nouns or articles": max(nouns, both) / asked}


def feminine_without():
    found, asked = np.zeros((2, 2), int), 0
    for each, french, forms in two_forms(COUNT):
        for row, place in zip(found, (each.pronoun + 1, each.pronoun)):

            def hide(scores, place=place):
                scores[:, -1, place] = -np.inf
                return scores

            fed = french_text(french[:-1])
            logits = activations(each.english, fed, change={"decoder 1 attention scores": hide})["logits"]
            said = SENTENCES.french[logits[-1].argmax()]
            row += said == forms[1], said == french[-1]
        asked += 1
    (feminine, right), (_, control) = found
    return f"feminine {feminine}, right {right}, control right {control}, of {asked}", {
        "feminine": feminine / asked,
        "right": right / asked,
        "right without the word before": control / asked,
    }


def open_weights(each):
    """Return the decoder's weights on its own words, with nothing hidden."""
    return softmax(activations(each.english, each.french)["decoder 1 attention scores"])


def future():
    share = np.mean([np.triu(open_weights(each)[0], k=1).sum(axis=1)[:-1].mean() for each in given()])
    return f"{share:.2f} on the future", {"share": share}


def unmasked():
    def change(each):
        weights = open_weights(each)
        return {"decoder 1 attention weights": lambda masked: weights}

    found = scored(given(), change)
    return three(found), {"words": found[0], "sentences": found[2]}


def padded():
    numbers, sizes = word_numbers([each.english.split() for each in given()], SENTENCES.english)
    model, wrong = load_model(), {True: [], False: []}
    for more in (0, 8, 64):
        wider = np.pad(numbers, ((0, 0), (0, more)))
        for hide in (True, False):
            said = greedy_decode(model, wider, sizes if hide else None)
            texts = [french_text([SENTENCES.french[i] for i in row if i > END]) for row in said]
            wrong[hide].append(sum(text != each.french for text, each in zip(texts, given())))
    return f"wrong behind the mask {many(wrong[True], '.0f')}, without {many(wrong[False], '.0f')}", {
        "wrong behind the mask": wrong[True],
        "more with each padding": np.diff(wrong[False]),
        "wrong without mask or padding": wrong[False][0] / COUNT,
    }


def without(cuts):
    """Return the model without some heads of its encoder: {layer: heads, from 1}."""
    model = load_model()
    for layer, heads in cuts.items():
        parts = model.params["encoder"][layer]["attention"]["W_O"].reshape(4, -1, model.d)
        parts[np.array(heads) - 1] = 0
    return model


def kinds_without(*cuts):
    """Return, for each cut, which shares are right where the animal is meant, and where the thing is."""
    return np.array([[scored(some, model=without(cut))[1] for some in kinds()] for cut in cuts])


def heads_cut():
    spared, needed = kinds_without({1: (1, 3)}, {1: (2, 4)})
    return f"animals and things without heads 1 and 3 {shares(spared)}, without 2 and 4 {shares(needed)}", {
        "without 1 and 3": spared,
        "animals without 2 and 4": needed[0],
        "things without 2 and 4": needed[1],
    }


WAYS = "at zero", "at their mean", "at their mean at it"


def cut_by_kind(cut):
    """Return which shares are right (3, 2) with heads at 0, at their mean, and at their mean at the word it."""
    some = [each for both in zip(*kinds()) for each in both]
    return np.stack([*kinds_without(cut), by_kind(averaged(cut, some)), by_kind(averaged(cut, some, "it"))])


def two_ways():
    second, five = cut_by_kind({2: (1, 2, 3)}), cut_by_kind({1: (1, 3), 2: (1, 2, 3)})
    text = ", ".join(f"{way} {shares(a)} and {shares(b)}" for way, a, b in zip(WAYS, second, five))
    return f"animals and things without layer 2's, and without all five: {text}", {
        "animals without layer 2's": second[:, 0],
        "things without them": second[:, 1],
        "without all five": five,
    }


def heads_at_mean():
    found = cut_by_kind({1: (2, 4)})
    text = ", ".join(f"{way} {shares(row)}" for way, row in zip(WAYS, found))
    return f"animals and things, heads 2 and 4 {text}", {
        "both kinds": found.mean(axis=1),
        "animals, at zero or the mean": found[:2, 0],
        "animals, at it": found[2, 0],
    }


def size(x):
    """Return the root mean square of each row."""
    return (x**2).mean(axis=-1) ** 0.5


def sizes_rise():
    names = ["encoder embedded", *(f"{part} output" for part in PARTS[:4])]
    found = [np.concatenate([size(run[name]) for run in runs()]).mean() for name in names]
    return many(found), {
        "first": found[0],
        "last": found[-1],
        "share of the first network": (found[2] - found[1]) / (found[-1] - found[0]),
    }


def by_word(x, name=None):
    """Return each row divided by its own size."""
    return x / size(x)[:, None]


def no_norms():
    found = scored(given(), instead=without_norms())
    return three(found), {"words": found[0], "sentences": found[2]}


def place_means():
    """Return the mean size of what each norm reads, by its name."""
    return {norm: np.concatenate([size(run[stream]) for run in runs()]).mean() for norm, stream in NORMS.items()}


def numbers(norms=NORMS, factor=1):
    """Return what `activations` takes to divide by the mean size of a place, and multiply, in place of norms."""
    means = place_means()
    return without_norms(lambda x, norm: factor * x / means[norm], norms)


def by_place():
    found = scored(given(), instead=numbers())
    return three(found), {"words": found[0], "pronouns": found[1], "sentences": found[2]}


def one_norm():
    found = {norm: scored(given(), instead=numbers() | without_norms(by_word, [norm]))[2] for norm in NORMS}
    end = found.pop("encoder output")
    return f"sentences {shares([end])}, the best other {shares([max(found.values())])}", {
        "at the end": end,
        "the next best": max(found.values()),
    }


FACTORS = 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1


def number_of_kind(norm, elsewhere):
    """Return what `activations` takes for a norm to divide each word by the mean size of its kind, found elsewhere."""
    read, stream = "source" if norm.startswith("encoder") else "target", NORMS[norm]
    words, found = (np.concatenate(each) for each in zip(*((run[read], size(run[stream])) for run in elsewhere)))
    unseen = np.bincount(words) == 0
    means = (np.bincount(words, found) + unseen * found.mean()) / np.maximum(np.bincount(words), 1)
    return lambda run: run[stream] / means[run[read]][:, None]


def size_of_kind():
    elsewhere = [activations(each.english, each.french) for each in examples(COUNT, SEEDS[1])]
    kinds, own = {norm: number_of_kind(norm, elsewhere) for norm in NORMS}, without_norms(by_word)
    end = "encoder output"
    all_nine, at_end = (scored(given(), instead=own | some)[2] for some in (kinds, {end: kinds[end]}))
    best = max(scored(given(), instead=own | numbers([end], factor))[2] for factor in FACTORS)
    return (
        f"sentences with a number for each kind of word {shares([all_nine])}, at the encoder's end alone "
        f"{shares([at_end])}, control {shares([best])}"
    ), {"all nine": all_nine, "the end": at_end, "control": best}


def own_size():
    found = scored(given(), instead=without_norms(by_word))
    best = max(scored(given(), instead=numbers(factor=factor))[2] for factor in FACTORS)
    return f"{three(found)}; with the best of seven numbers {shares([best])} of the sentences", {
        "own size": found[2],
        "best number": best,
    }


def numbered():
    found = []
    for times in (10, 100):
        change = {
            f"{side} embedded": lambda x, times=times: x + times * np.arange(len(x))[:, None]
            for side in ("encoder", "decoder")
        }
        found += [
            scored(given(), lambda each, change=change: change, instead=instead)[2]
            for instead in (None, without_norms(by_word))
        ]
    return f"sentences {shares(found[::2])}, control {shares(found[1::2])}", {
        "layer norm": found[::2],
        "RMSNorm": found[1::2],
    }


def enlarged(names, times):
    """Return what `scored` takes to enlarge the row of *it* in some arrays."""

    def change(each):
        def larger(x):
            x[each.it] *= times
            return x

        return dict.fromkeys(names, larger)

    return change


def pronouns_said(change):
    """Return how many answers at the pronoun's place are "il", "elle" and something else."""
    said = [
        SENTENCES.french[activations(each.english, each.french, change=change(each))["logits"][each.pronoun].argmax()]
        for each in given()
    ]
    il, elle = said.count("il"), said.count("elle")
    return il, elle, len(said) - il - elle


def enlarged_it():
    by = [pronouns_said(enlarged(["encoder embedded"], times)) for times in (10, 30)]
    nothing = pronouns_said(enlarged([f"{part} added" for part in PARTS[:4]], 0))
    return (
        f"*il*, *elle* and others: ten times {many(by[0], '.0f')}, thirty times {many(by[1], '.0f')}, nothing added "
        f"{many(nothing, '.0f')}"
    ), {"il at ten times": by[0][0] / COUNT, "il at thirty, or nothing added": [by[1][0] / COUNT, nothing[0] / COUNT]}


def drowned_it():
    found = [pronouns_said(enlarged(["encoder embedded"], times)) for times in (0.1, 0.2)]
    return f"*il*, *elle* and others: a tenth {many(found[0], '.0f')}, a fifth {many(found[1], '.0f')}", {
        "no pronoun": found[0][2] / COUNT
    }


def with_gains(function):
    """Return what `activations` takes to put a function in each norm's place, with the norm's own gain and bias."""
    params = load_model().params

    def changed(x, name):
        side, *part = name.split()[:-1]
        part = params[side][int(part[0])][part[1]] if part else params[side]["norm"]
        return function(x) * part["gain"] + part["bias"]

    return without_norms(changed)


def slips():
    def normal(x):
        return (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)

    ways = (
        with_gains(lambda x: normal(x) * np.sqrt(1 - 1 / x.shape[-1])),
        with_gains(by_word),
        without_norms(lambda x, norm: normal(x)),
    )
    same, moved = np.zeros(3, int), np.zeros(3)
    for i, way in enumerate(ways):
        for each, run in zip(given(), runs()):
            logits = activations(each.english, each.french, instead=way)["logits"]
            same[i] += (logits.argmax(-1) == run["logits"].argmax(-1)).all()
            moved[i] = max(moved[i], np.abs(logits - run["logits"]).max())
    return f"the same {many(same, '.0f')} of {COUNT}, logits move by up to {many(moved)}", {
        "the same": same / COUNT,
        "move of the logits under RMSNorm": moved[1],
    }


def writes_at_it():
    found = {}
    for part in PARTS[:2]:
        rows = [(size(run[f"{part} added"]), each.it) for run, each in zip(runs(), given())]
        found[part] = np.mean([(row[it], np.delete(row, it).mean()) for row, it in rows], axis=0)
    first, second = found.values()
    return f"attention {many(first)}, network {many(second)}", {
        "at it over elsewhere": first[0] / first[1],
        "the network's": second[0] / second[1],
    }


def pulled_apart():
    ends = "encoder embedded", f"{PARTS[3]} output"
    bare = {f"{part} output": lambda run, part=part: run[f"{part} added"] for part in PARTS[:4]}
    without = [activations(each.english, each.french, instead=bare) for each in given()]
    found, sizes = [], []
    for some in (runs(), without):
        means = [np.vstack([run[stage] for run in some]).mean(axis=0) for stage in ends]
        for less in (0, 1):
            pairs = [(stage, less * mean) for stage, mean in zip(ends, means)]
            found.append([np.mean([alike(run[stage] - mean) for run in some]) for stage, mean in pairs])
        rests = [np.vstack([run[stage] - mean for run in some]) for stage, mean in zip(ends, means)]
        sizes.append([[(each**2).mean() ** 0.5 for each in part] for part in (means, rests)])
    whole, own, bare_whole, bare_own = found
    text = f"first and last: cosine {many(whole)}, less the mean {many(own)}, "
    text += f"size of the mean {many(sizes[0][0])}, of the rest {many(sizes[0][1])}; "
    text += f"without additions cosine {many(bare_whole)}, less the mean {many(bare_own)}"
    mean, rest = (last / first for first, last in sizes[0])
    return text, {
        "last cosine over first": whole[1] / whole[0],
        "growth of the rest over the mean's": rest / mean,
        "growth of the mean": mean,
        "last cosine without additions": bare_whole[1],
    }


def read_early(run, name):
    """Return the words that are read off the decoder's stream at a place."""
    params = load_model().params
    return logits_of(layer_norm(run[name], **params["decoder"]["norm"]), params).argmax(axis=-1)


def early_guess():
    said = np.concatenate([run["logits"].argmax(axis=-1) for run in runs()])
    last = np.concatenate([run["target"] for run in runs()])
    early = np.mean(np.concatenate([read_early(run, "decoder embedded") for run in runs()]) == said)
    best = sum(np.bincount(said[last == word]).max() for word in set(last)) / len(said)
    return f"{early:.1%}, the best guess from the last word {best:.1%}", {
        "early": early,
        "best guess less early": best - early,
    }


def fetched():
    names = [f"decoder 1 {part} output" for part in ("attention", "cross_attention", "feed_forward")]
    said = np.concatenate([run["logits"].argmax(axis=-1) for run in runs()])
    found = [np.mean(np.concatenate([read_early(run, name) for run in runs()]) == said) for name in names]
    return shares(found), {"before": found[0], "once it has written": found[1]}


def cut(part, row=0):
    """Return the shares that are right where a sublayer writes this row to every word."""
    return scored(given(), instead={f"{part} added": lambda found: 0 * found[f"{part} stream"] + row})


def first_attention():
    mean = np.vstack([run[f"{PARTS[0]} added"] for run in runs()]).mean(axis=0)
    found = cut(PARTS[0]), cut(PARTS[0], mean)
    nothing = {f"{PARTS[0]} added": lambda run: 0 * run[f"{PARTS[0]} stream"]}
    animals, things = (scored(some, instead=nothing)[1] for some in kinds())
    text = "; ".join(map(three, found)) + f"; at zero, animals {animals:.1%}, things {things:.1%}"
    return text, {
        "other words": [each[0] for each in found],
        "pronouns": [each[1] for each in found],
        "animals": animals,
        "things": things,
    }


def hardly_missed():
    found = cut(PARTS[3]), cut(PARTS[5])
    return f"network: {three(found[0])}; cross-attention: {three(found[1])}", {
        "sentences": found[0][2],
        "sentences without the cross-attention": found[1][2],
    }


def replaced_once():
    found = [scored(given(), instead={f"{part} output": lambda run, part=part: run[f"{part} added"]}) for part in PARTS]
    first, rest = found[0], found[1:]
    return f"first attention: {three(first)}; sentences elsewhere {shares(each[2] for each in rest)}", {
        "words": first[0],
        "sentences": first[2],
    }


TABLE = sinusoidal_positions(200, 64)


def placed(english, french=None):
    """Return what `activations` takes to give the words other positions."""

    def exchange(table):
        return lambda x: x - TABLE[: len(x)] + table[: len(x)]

    tables = {"encoder": english, "decoder": french}
    return {f"{side} embedded": exchange(table) for side, table in tables.items() if table is not None}


def with_places(english, french=None):
    """Return the shares that are right with other positions."""
    change = placed(english, french)
    return scored(given(), lambda each: change)


def no_places():
    found = with_places(0 * TABLE)
    return three(found), {"sentences": found[2]}


def fast_hands():
    feature, mean = np.arange(64), TABLE[:20].mean(axis=0)
    tables = [np.where(which, TABLE, mean) for which in (feature < 16, feature >= 8)]
    found = [with_places(table, table) for table in tables]
    return f"8 fastest: {three(found[0])}; without 4: {three(found[1])}", {
        "the 8 fastest": found[0][2],
        "without the fastest four": found[1][2],
    }


def shifted():
    found = [with_places(TABLE[k:], TABLE[k:])[2] for k in (1, 2, 3, 5, 8, 100)]
    return f"sentences {shares(found)}", {"by 1": found[0], "by 5 and 8": found[3:5]}


def short_sentences():
    rng, short = np.random.default_rng(SEEDS[0]), []
    while len(short) < COUNT:
        phrase = draw_sentence(rng)
        if len(phrase.english) <= 8 and len(phrase.french) <= 9:
            short.append((" ".join(phrase.english), french_text(phrase.french)))
    change = placed(TABLE[5:], TABLE[5:])
    count = sum(
        (activations(*pair, change=change)["logits"].argmax(-1) != activations(*pair)["logits"].argmax(-1)).any()
        for pair in short
    )
    return of(count), {"changed": count / COUNT}


def one_language():
    found = np.array(
        [
            [with_places(TABLE[k:], TABLE[j:])[:2] for k, j in pairs]
            for pairs in ([(5, j) for j in range(9)], [(k, 5) for k in range(9)])
        ]
    )
    (french, english), (less, more) = found[..., 0], np.ptp(found[..., 1], axis=1)
    said = "; ".join(" ".join(f"{share:.0%}" for share in row) for row in (french, english))
    return f"other words {said}; pronouns differ by {less:.0%} and {more:.0%}", {
        "best shift less 5": [abs(row.argmax() - 5) for row in (french, english)],
        "gain over the better end": [row.max() - max(row[0], row[-1]) for row in (french, english)],
    }


NETS = [part for part in PARTS if "feed" in part]
READER = 205  # the unit of the first network that tells the gender of most nouns


def no_networks():
    means = {f"{part} added": np.vstack([run[f"{part} added"] for run in runs()]).mean(axis=0) for part in NETS}
    zero = scored(given(), lambda each: dict.fromkeys(means, np.zeros_like))
    mean = scored(given(), lambda each: {name: lambda own, row=row: 0 * own + row for name, row in means.items()})
    return f"{three(zero)}; at the mean {three(mean)}", {
        "sentences": [zero[2], mean[2]],
        "pronouns at the mean": mean[1],
    }


def with_relu():
    model = load_model()
    model.activation = relu
    found = scored(given(), model=model)
    return three(found), {"words and sentences": found}


def with_one(x):
    """Return rows with a 1 behind each."""
    return np.column_stack([x, np.ones(len(x))])


def best_matrices():
    fitted = [activations(each.english, each.french) for each in examples(800, SEEDS[1])]
    best = {}
    for part in NETS:
        read, added = (np.concatenate([run[f"{part} {what}"] for run in fitted]) for what in ("normed", "added"))
        matrix = np.linalg.lstsq(with_one(read), added)[0]
        best[f"{part} added"] = lambda found, part=part, matrix=matrix: with_one(found[f"{part} normed"]) @ matrix
    found = scored(given(), instead=best)
    return three(found), {"sentences": found[2]}


@cache
def noun_units(part):
    """Return the hidden units of a network at both nouns of each sentence, and whether these are masculine."""
    rows, masculine = [], []
    for run, each in zip(runs(), given()):
        places = [each.antecedent, each.other]
        rows.append(run[f"{part} hidden"][places])
        masculine += [NOUNS[each.english.split()[place]][1] == "m" for place in places]
    return np.concatenate(rows), np.array(masculine)


def unit_205():
    units, masculine = noun_units(NETS[0])
    names = np.array([each.english.split()[place] for each in given() for place in (each.antecedent, each.other)])
    kinds, rng = sorted(set(names)), np.random.default_rng(SEEDS[0])

    def rates(kind):
        right = ((units > 0) == kind[:, None]).mean(axis=0)
        return np.maximum(right, 1 - right)

    lots = [rng.permutation([NOUNS[noun][1] == "m" for noun in kinds]) for _ in range(20)]
    luck = max(rates(np.array([dict(zip(kinds, lot))[name] for name in names])).max() for lot in lots)
    rate = rates(masculine)[READER]
    horse = (units[names == "horse", READER] > 0).mean()
    others = (units[masculine & (names != "horse"), READER] > 0).mean()
    return f"{rate:.1%}, by luck at most {luck:.1%}; positive at horse {horse:.0%}, other masculine {others:.0%}", {
        "rate": rate,
        "luck": luck,
        "horse": horse,
        "other masculine": others,
    }


def put(units, values, place=slice(None)):
    """Return a change that writes values into some units, at all words or at one."""

    def change(hidden):
        hidden[place, units] = values
        return hidden

    return change


def cut_unit_205():
    mean = np.vstack([run[f"{NETS[0]} hidden"] for run in runs()]).mean(axis=0)[READER]
    found = [scored(given(), lambda each, to=to: {f"{NETS[0]} hidden": put(READER, to)})[2] for to in (0, mean)]
    return f"sentences {shares(found)}", {"sentences": found}


def turned(sentences, change):
    """Return how many pronouns become the other one; `change` is given a sentence and 1 where it is elle, else -1."""
    count = 0
    for each in sentences:
        sign = 1 if "elle" in french_words(each.french) else -1
        logits = activations(each.english, each.french, change=change(each, sign))["logits"]
        il, elle = logits[each.pronoun, PRONOUNS]
        count += sign * (il - elle) > 0
    return count


def add(place, step):
    """Return a change that adds a step at a place."""

    def change(x):
        x[place] += step
        return x

    return change


def eighty_units():
    fresh, rng = examples(COUNT, SEEDS[1]), np.random.default_rng(SEEDS[2])
    units, masculine = noun_units(NETS[0])
    differ = units[masculine].mean(axis=0) - units[~masculine].mean(axis=0)

    def written(some, dose):
        step = dose * length * unit(differ[some])
        return turned(fresh, lambda each, sign: {f"{NETS[0]} hidden": add((each.antecedent, some), sign * step)})

    most = np.abs(differ).argsort()[::-1]
    length = np.linalg.norm(differ[most[:80]])
    lots = [rng.permutation(most[80:])[:80] for _ in range(5)]
    eighty, ten, one = ([written(some, dose) for dose in (1, 2)] for some in (most[:80], most[:10], [READER]))
    others = [max(written(lot, dose) for lot in lots) for dose in (1, 2)]
    return (
        f"80 units {many(eighty, '.0f')}, ten {many(ten, '.0f')}, one {many(one, '.0f')}, others at most "
        f"{many(others, '.0f')}, of {COUNT}"
    ), {
        "80 units": eighty[0] / COUNT,
        "ten": ten[0] / COUNT,
        "other 80": others[0] / COUNT,
        "ten, twice": ten[1] / COUNT,
        "one": np.array(one) / COUNT,
    }


def gender_direction():
    numbers = [SENTENCES.english.index(noun) for noun in NOUNS]
    rows = 8 * load_model().params["source_embedding"][numbers]
    masculine, rng = np.array([NOUNS[noun][1] == "m" for noun in NOUNS]), np.random.default_rng(SEEDS[0])

    def told(kind):
        right = 0
        for noun in range(len(rows)):
            rest = np.arange(len(rows)) != noun
            one, two = rows[kind & rest].mean(axis=0), rows[~kind & rest].mean(axis=0)
            right += ((rows[noun] - (one + two) / 2) @ (one - two) > 0) == kind[noun]
        return right

    def pushed(step):
        return turned(given(), lambda each, sign: {"encoder embedded": add(each.antecedent, sign * step)})

    direction = rows[masculine].mean(axis=0) - rows[~masculine].mean(axis=0)
    steps = np.linalg.norm(direction) * unit(rng.normal(size=(10, direction.size)))
    right, luck = told(masculine), max(told(rng.permutation(masculine)) for _ in range(200))
    count, least = pushed(direction), max(map(pushed, steps))
    return f"{right} nouns, by luck at most {luck}; {count} of {COUNT} pronouns, by random steps at most {least}", {
        "nouns": right,
        "by luck": luck,
        "pronouns": count / COUNT,
        "by random steps": least / COUNT,
    }


def wrong_heads():
    model, found, moved = load_model(), [], []
    pairs_of = [(english_words(each.english), french_words(each.french)) for each in given()]
    arguments, said = batch_of(pairs_of, SENTENCES)
    before = model(*arguments)
    for heads in (8, 2, 1):
        model.encoder_heads = heads
        after = model(*arguments)
        found.append(((after.argmax(-1) == before.argmax(-1)) | (said < 0)).all(axis=1).mean())
        moved.append(np.abs(after - before)[said >= 0].max())
    return f"the same {shares(found)}, off by {many(moved, '.1f')}", {
        "8 heads": found[0],
        "1 head": found[2],
        "off by": moved,
    }


def senseless_scores():
    pairs_of = [(english_words(each.english), french_words(each.french)) for each in given()]
    arguments, said = batch_of(pairs_of, SENTENCES)
    real, found = said >= 0, []
    pronoun, before = np.isin(said, PRONOUNS) & real, load_model()(*arguments).argmax(-1)
    for seed in SEEDS[:3]:
        model, rng = load_model(), np.random.default_rng(seed)
        for number in (1, 2):
            W_K = model.params["encoder"][number]["attention"]["W_K"]
            W_K[:] = W_K[:, rng.permutation(64)]
        good = model(*arguments).argmax(-1) == before
        found.append([good[real & ~pronoun].mean(), good[pronoun].mean(), (good | ~real).all(axis=1).mean()])
    others, pronouns, whole = np.transpose(found)
    told = f"others {shares(others)}; pronouns {shares(pronouns)}; sentences {shares(whole)}"
    return told, {"others": others, "pronouns": pronouns, "sentences": whole}


def which_mask():
    model, found = load_model(), {}
    pairs_of = [(english_words(each.english), french_words(each.french)) for each in given()]
    (source, target, lengths), said = batch_of(pairs_of, SENTENCES)
    for more in (0, 40):
        longer = np.pad(source, [(0, 0), (0, more)])
        keep = padding_mask(lengths, longer.shape[1])
        for name, encoder, across in (("both", keep, keep), ("no cross", keep, None), ("no encoder's", None, keep)):
            logits = model.decode(target, model.encode(longer, encoder), across)
            found[name, more] = ((logits.argmax(-1) == said) | (said < 0)).all(axis=1).mean()
    told = [f"{name} {shares([found[name, 0], found[name, 40]])}" for name in ("both", "no cross", "no encoder's")]
    both, no_cross = ([found[name, more] for more in (0, 40)] for name in ("both", "no cross"))
    return f"sentences as they are, with 40 more: {'; '.join(told)}", {
        "both masks": both,
        "no cross, as it is": no_cross[0],
        "no cross, 40 more": no_cross[1],
    }


def unmasked_says():
    model = load_model()
    pairs_of = [(english_words(each.english), french_words(each.french)) for each in given()]
    (source, target, lengths), said = batch_of(pairs_of, SENTENCES)
    longer = np.pad(source, [(0, 0), (0, 40)])
    keep, french = padding_mask(lengths, longer.shape[1]), np.array(SENTENCES.french, dtype=object)
    feminine = "elle", "la", "cette", "ma", "une", "cassée", "longue", "profonde", "étroite"
    forms = dict(zip(feminine, ("il", "le", "ce", "mon", "un", "cassé", "long", "profond", "étroit"), strict=True))
    own, across = (
        model.decode(target, model.encode(longer, encoder), cross).argmax(-1)
        for encoder, cross in ((None, keep), (keep, None))
    )
    wrong = (own != said) & (said >= 0)
    masculine = np.mean([forms.get(a) == b for a, b in zip(french[said[wrong]], french[own[wrong]])])
    noun = np.isin(french[said[:, 1]], [word for word, *_ in NOUNS.values()])
    wrong = (across != said) & (said >= 0)
    lost = [wrong[noun, 1].mean(), wrong[~noun, 1:3].any(axis=1).mean()]
    return f"masculine for feminine {shares([masculine])}; the noun lost {shares(lost)}", {
        "masculine for feminine": masculine,
        "the noun lost": lost[0],
        "lost behind an adjective": lost[1],
    }


def unseen_pairs():
    phrases = it_sentences(np.random.default_rng(SEEDS[0]), 2000)
    ours = correct_words(load_model(), phrases, SENTENCES).all(axis=-1).mean()
    starts = [run["pairs"]["exact"] for run in load_runs()[:6]]
    return f"{ours:.2%}; starts {shares(starts)}", {"the book's model": ours, "a start": starts}


def order_of_learning():
    found = []
    for run in load_runs()[:6]:
        at = run["after steps"].index(300)
        found.append([run[kind][at] for kind in ("noun", "first word", "pronoun")])
    nouns, first, pronouns = np.transpose(found)
    least = f"nouns {nouns.min():.1%}, first words {first.min():.1%} or more"
    return f"{least}, pronouns {pronouns.max():.1%} or fewer", {
        "nouns": nouns,
        "first words": first,
        "pronouns": pronouns,
    }


def alignment():
    phrases, kept = it_sentences(np.random.default_rng(SEEDS[0]), 2000), {}
    load_model()(*batch_of(phrases, SENTENCES)[0], record=kept)
    rows = kept["decoder"][1]["cross_attention weights"].mean(axis=1).argmax(-1)
    hits = [
        place in sources for phrase, row in zip(phrases, rows) for place, sources in zip(row, phrase.sources) if sources
    ]
    return f"{np.mean(hits):.1%}; starts {shares(run['aligned']['words'] for run in load_runs()[:6])}", {
        "words": np.mean(hits)
    }


def more_at_the_meant():
    rows = [(run["encoder 2 attention weights"].mean(axis=0)[each.it], each) for run, each in zip(runs(), given())]
    count = sum(row[each.antecedent] > row[each.other] for row, each in rows)
    return of(count), {"sentences": count / COUNT}


def needs_the_noun():
    found = [scored(given(), hidden(2, word))[1] for word in ("other", "antecedent")]
    lost = [max(0.0, run["pairs"]["pronoun"] - run["hidden"]["other from it"]) for run in load_runs()[:6]]
    text = f"without the other {found[0]:.1%}, without the one meant {found[1]:.1%}; lost in the starts {shares(lost)}"
    return text, {"without the other": found[0], "without the one meant": found[1], "lost in a start": lost}


@cache
def swaps():
    """Return for each of the 500 sentences those with another noun: meant or not, of the other or the same gender."""
    rng, found = np.random.default_rng(SEEDS[0]), []
    for each in given():
        texts = []
        for place, same in ((each.antecedent, False), (each.antecedent, True), (each.other, False)):
            words = each.english.split()
            _, gender, kind = NOUNS[words[place]]
            others = [noun for noun, (_, its, of_kind) in NOUNS.items() if of_kind == kind and (its == gender) == same]
            words[place] = rng.choice([noun for noun in others if noun not in words])
            texts.append(" ".join(words))
        found.append(texts)
    return found


def decision_at_it():
    turned = np.zeros(3, int)
    for each, run, texts in zip(given(), runs(), swaps()):
        il, elle = run["logits"][each.pronoun, PRONOUNS]
        for i, text in enumerate(texts):
            vector = activations(text, each.french)["encoder output"][each.it]
            after = activations(each.english, each.french, change={"encoder output": put(slice(None), vector, each.it)})
            one, other = after["logits"][each.pronoun, PRONOUNS]
            turned[i] += (one > other) != (il > elle)
    starts = [run["carriers"]["it"] + run["carriers"]["last word"] for run in load_runs()[:6]]
    return f"turn {many(turned, '.0f')} (other gender, same, not meant) of {COUNT}; starts {shares(starts)}", {
        "other gender": turned[0] / COUNT,
        "same gender, or not meant": turned[1:] / COUNT,
        "a start, at it or the last word": starts,
    }


LITTLE = {"the", "a", "an", "this", "my", "didn't", "never", "because", "but", "it", "was", "too", "very"}


def unrelated():
    texts = [set(each.english.split()) - LITTLE for each in given()]
    il = np.array([np.subtract(*run["logits"][each.pronoun, PRONOUNS]) > 0 for each, run in zip(given(), runs())])
    rng, found = np.random.default_rng(SEEDS[0]), np.zeros(2, int)
    for one, each in enumerate(given()):
        for same in (0, 1):
            fits = [i for i, text in enumerate(texts) if (il[i] == il[one]) == same and not text & texts[one]]
            donor = rng.choice(fits)
            vector = runs()[donor]["encoder output"][given()[donor].it]
            change = {"encoder output": put(slice(None), vector, each.it)}
            after = activations(each.english, each.french, change=change)["logits"][each.pronoun, PRONOUNS]
            found[same] += (np.subtract(*after) > 0) == il[donor]
    other, same = found
    return f"of the other gender {other}, of the same {same} follow it, of {COUNT}", {
        "other gender turns": other / COUNT,
        "same gender stays": same / COUNT,
    }


def mean_vector():
    said = np.array([run["logits"][each.pronoun, PRONOUNS].argmax() for each, run in zip(given(), runs())])
    half, counts = COUNT // 2, []
    for word, swap in (("it", 1), ("it", 0), ("property", 1)):
        vectors = np.array([run["encoder output"][getattr(each, word)] for each, run in zip(given(), runs())])
        means, count = [vectors[:half][said[:half] == kind].mean(axis=0) for kind in (0, 1)], 0
        for each, before in zip(given()[half:], said[half:]):
            change = {"encoder output": put(slice(None), means[before ^ swap], getattr(each, word))}
            count += (
                activations(each.english, each.french, change=change)["logits"][each.pronoun, PRONOUNS].argmax()
                != before
            )
        counts.append(count)
    turned, lost, control = counts
    return f"{turned} turn, {half - lost} stay, control {control} turn, of {half}", {
        "turn": turned / half,
        "stay": 1 - lost / half,
        "turn at the last word": control / half,
    }


def default_answer():
    def weight_to(share):
        def cut(each):
            def change(weights):
                weights[:, each.it, each.it] += share * weights[:, each.it, each.antecedent]
                weights[:, each.it, each.antecedent] = 0
                return weights

            return {"encoder 2 attention weights": change}

        return cut

    elle = np.array([french_words(each.french)[each.pronoun] == "elle" for each in given()])
    animal = np.array([NOUNS[each.english.split()[each.antecedent]][2] == "A" for each in given()])
    told, values = [], {"animals": []}
    for name, share in {"dropped": 0, "handed over": 1}.items():
        changes = map(weight_to(share), given())
        said = [
            activations(each.english, each.french, change=change)["logits"][each.pronoun, PRONOUNS].argmax()
            for each, change in zip(given(), changes)
        ]
        right = np.equal(said, elle)
        rows = [[right[(animal == kind) & (elle == she)].mean() for she in (0, 1)] for kind in (False, True)]
        told.append(f"{name}, things {shares(rows[0])}, animals {shares(rows[1])}")
        values |= {f"thing, il {name}": rows[0][0], f"thing, elle {name}": rows[0][1]}
        values["animals"] += rows[1]
    return f"il and elle {'; '.join(told)}", values


def sure_of_nonsense():
    rng, model, found = np.random.default_rng(SEEDS[0]), load_model(), []
    for order in (rng.permutation, list):
        totals = []
        for each in given()[:200]:
            source, _ = word_numbers([list(order(english_words(each.english)))], SENTENCES.english)
            totals.append(beam_search(model, source[0], width=1)[0][1])
        found.append(np.mean(np.exp(totals) > 0.9))
    return f"sure of {shares(found[:1])}, control {shares(found[1:])}", {
        "sure": found[0],
        "sure of the sentences": found[1],
    }


def turns(name, at, donors):
    """Return how many pronouns turn when a part of an array is taken from another run."""
    count = 0
    for (one, _), donor in zip(pairs(), donors):

        def taken(array, donor=donor, one=one):
            array[at(one)] = donor[name][at(one)]
            return array

        before, after = (
            activations(one.english, one.french, change=change)["logits"][one.pronoun, PRONOUNS]
            for change in (None, {name: taken})
        )
        count += (before[0] > before[1]) != (after[0] > after[1])
    return count


@cache
def twins_runs():
    """Return what happens while the model reads the second of each pair, with the French of the first."""
    return [activations(other.english, one.french) for one, other in pairs()]


def where_it_turns():
    stages = (
        ("encoder 1 attention stream", lambda each: each.property),
        ("encoder 2 attention stream", lambda each: each.it),
        ("encoder stream", lambda each: each.it),
        ("encoder 2 attention stream", lambda each: each.antecedent),
    )
    found = [turns(*stage, twins_runs()) for stage in stages]
    return f"turn {many(found, '.0f')} of {COUNT}, the last at the noun", {
        "turn": np.array(found[:3]) / COUNT,
        "turn at the noun": found[3] / COUNT,
    }


def heads_bring():
    name = "encoder 1 attention mixed"
    found = [turns(name, lambda each, some=some: (np.array(some), each.it), twins_runs()) for some in ([1, 3], [0, 2])]
    return f"heads 2 and 4 {found[0]}, heads 1 and 3 {found[1]}, of {COUNT}", {
        "heads 2 and 4": found[0] / COUNT,
        "heads 1 and 3": found[1] / COUNT,
    }


def wires():
    found = [
        turns(f"encoder 2 attention {wire}", lambda each, kind=kind: (slice(None), getattr(each, kind)), twins_runs())
        for wire, kind in (("queries", "it"), ("values", "antecedent"))
    ]
    return f"queries at it {found[0]}, values at the noun {found[1]}, of {COUNT}", {
        "queries": found[0] / COUNT,
        "values at the noun": found[1] / COUNT,
    }


def swapped_runs(some, place):
    """Return what happens while the model reads sentences with another noun of the other gender at this place."""
    rng = np.random.default_rng(0)
    words = [with_another_noun(each.english.split(), getattr(each, place), rng) for each in some]
    return [activations(" ".join(english), each.french) for english, each in zip(words, some)]


def early_heads():
    found = []
    for some in kinds():
        count = 0
        for each, donor in zip(some, swapped_runs(some, "antecedent")):

            def taken(array, donor=donor, each=each):
                array[[0, 2], each.it] = donor["encoder 1 attention mixed"][[0, 2], each.it]
                return array

            before, after = (
                np.diff(activations(each.english, each.french, change=change)["logits"][each.pronoun, PRONOUNS])
                for change in (None, {"encoder 1 attention mixed": taken})
            )
            count += (before > 0) != (after > 0)
        found.append(float(count[0]) / len(some))
    return f"animals {shares(found[:1], 0)}, things {shares(found[1:], 0)}", {"animals": found[0], "things": found[1]}


def nouns_exchanged():
    two_things = [each for each, _ in pairs() if not {NOUNS[noun][2] for noun in nouns_of(each)} & {"A"}]
    found = []
    for some in (*kinds(), two_things):
        changed = []
        for each in some:
            words, (one, other) = each.english.split(), (each.antecedent, each.other)
            words[one], words[other] = words[other], words[one]
            logits = (activations(text, each.french)["logits"] for text in (each.english, " ".join(words)))
            before, after = (np.diff(each_way[each.pronoun, PRONOUNS])[0] > 0 for each_way in logits)
            changed.append(before != after)
        found.append(float(np.mean(changed)))
    said = f"animals {shares(found[:1], 0)}, things beside an animal {shares(found[1:2], 0)}"
    return f"{said}, {len(two_things)} of two things {shares(found[2:], 0)}", {
        "with an animal": np.array(found[:2]),
        "two things": found[2],
    }


def nouns_of(sentence):
    """Return the two nouns of a sentence."""
    words = sentence.english.split()
    return words[sentence.antecedent], words[sentence.other]


def probe_reads():
    def its(found, some):
        return np.array([run["encoder 2 attention stream"][each.it] for run, each in zip(found, some)])

    labels = [1 if NOUNS[each.english.split()[each.antecedent]][1] == "m" else -1 for each in given()]
    direction, offset = linear_probe(its(runs(), given()), labels)
    things = kinds()[1]
    before = its([activations(each.english, each.french) for each in things], things) @ direction + offset > 0
    found = [
        np.mean((its(swapped_runs(things, place), things) @ direction + offset > 0) != before)
        for place in ("antecedent", "other")
    ]
    return f"swapped thing {shares(found[:1], 0)}, swapped animal {shares(found[1:], 0)}", {
        "the thing": found[0],
        "the animal": found[1],
    }
