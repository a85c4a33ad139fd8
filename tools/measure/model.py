"""Train the model of chapter 15 and keep it for the package; train others like it, and write how they differ.

It trains from each of SEEDS, once more without the nouns of ABSENT in sentences with *it*, and once where *it* always
stands for the subject.  It writes the weights of the book's own training, from BOOK, as float16, at the end and after
each of STAGES, and what came of each training to a file: `minitransformer.translation` reads all three.
"""

import hashlib
import io
from functools import partial
from itertools import combinations, islice, product, repeat

import numpy as np

from companion.evidence import activations, examples, scored
from minitransformer.softmax import log_softmax
from minitransformer.tasks.lexicon import NOUNS, PROPERTIES
from minitransformer.tasks.sentence_sets import draw_sentence, it_sentences, twins
from minitransformer.tasks.sentences import fits
from minitransformer.training import train
from minitransformer.transformer import source_mask
from minitransformer.translation import (
    BOOK,
    END,
    PRONOUNS,
    SENTENCES,
    batch_of,
    correct_words,
    french_words,
    new_model,
    translator,
)
from tools.measure import report, rounded, write_report

SEEDS = range(6)
ABSENT = "hen", "boulevard", "lagoon", "bucket"  # one noun of each class
STAGES = 100, 200, 600, 700, 800  # steps after which the book's training is kept as well
TRAINING = {"steps": 4_000, "rate": 2e-3, "every": 50}
COUNT = 32  # sentences of a batch
TESTED = 2_000  # sentences of each kind
FRENCH_NOUNS = [SENTENCES.french.index(french) for french, *_ in NOUNS.values()]


def draw(rng, count=COUNT, absent=()):
    """Draw a batch of sentences, in which none of the nouns `absent` stands beside an *it*."""
    phrases = []
    while len(phrases) < count:
        phrase = draw_sentence(rng)
        if "it" not in phrase.english or not set(absent) & set(phrase.english):
            phrases.append(phrase)
    return batch_of(phrases, SENTENCES)


def subject_meant(phrase):
    """Tell whether *it*, where a phrase has one, stands for the subject, the first of its nouns."""
    subject = next(word for word in phrase.english if word in NOUNS)
    return "it" not in phrase.english or fits(subject, phrase.english[-1])


def draw_subject_meant(rng, count=COUNT):
    """Draw a batch of sentences, in which *it* always stands for the subject."""
    phrases = filter(subject_meant, map(draw_sentence, repeat(rng)))
    return batch_of([*islice(phrases, count)], SENTENCES)


def losses(model):
    """Return the loss on 400 sentences like those of the training, and what each kind of word adds to it."""
    rng = np.random.default_rng(401)
    arguments, said = batch_of([draw_sentence(rng) for _ in range(400)], SENTENCES)
    picked = np.take_along_axis(log_softmax(model(*arguments)), said.clip(0)[..., None], axis=-1)[..., 0]
    kinds = {"noun": np.isin(said, FRENCH_NOUNS), "pronoun": np.isin(said, PRONOUNS), "other": said >= 0}
    kinds["first word"] = np.arange(said.shape[1]) == np.zeros((len(said), 1))
    kinds["other"] &= ~(kinds["noun"] | kinds["pronoun"] | kinds["first word"])
    return {f"{name} loss": -picked[kind].sum(dtype=float) / (said >= 0).sum() for name, kind in kinds.items()}


def shares(model, phrases):
    """Return which shares of whole sentences, and of some kinds of words, a model says as they should be."""
    (_, said), found = batch_of(phrases, SENTENCES), correct_words(model, phrases, SENTENCES)
    asked, named = np.isin(said, PRONOUNS), np.isin(said, FRENCH_NOUNS)
    kinds = {"pronoun": asked, "others": ~asked & (said >= 0), "noun": named}
    words = {name: found[kind].mean() for name, kind in kinds.items()}
    return {"exact": found.all(-1).mean(), **words, "first word": found[:, 0].mean()}


def carriers(model, both):
    """Return in which share of twins the pronoun follows a word's vector, taken from the other twin's encoder.

    That is tried with the vector of *because*, of *it* and of the last word, each by itself.
    """
    (source, target, lengths), said = batch_of([phrase for twin in both for phrase in twin], SENTENCES)
    rows = np.arange(len(said))
    asked = np.isin(said, PRONOUNS).argmax(1)
    keep = source_mask(source, lengths)
    memory = model.encode(source, keep)

    def pronoun(memory):
        return model.decode(target, memory, keep)[rows, asked][:, PRONOUNS].argmax(-1)

    before, found = pronoun(memory), {}
    places = {"because": source == SENTENCES.english.index("because"), "it": source == SENTENCES.english.index("it")}
    places = {name: mask.argmax(1) for name, mask in places.items()} | {"last word": lengths - 1}
    for name, place in places.items():
        moved = memory.copy()
        moved[rows, place] = memory[rows ^ 1, place[rows ^ 1]]  # the twins stand in neighbouring rows
        found[name] = np.mean(pronoun(moved) != before)
    return found


def means(model, sentences):
    """Return in which shares of the later half of sentences a mean vector of the earlier half turns or keeps a pronoun.

    The mean is of the encoder's output at *it*, or at the last word, over the sentences with one pronoun, and is put in
    the place of that word: the mean of the other gender has "turned" the pronoun, that of its own gender has "kept" it.
    """
    half = len(sentences) // 2
    genders = np.array([french_words(each.french)[each.pronoun] == "elle" for each in sentences])

    def says_elle(each, place, vector):
        def change(memory):
            memory[place] = vector
            return memory

        logits = activations(each.english, each.french, model, {"encoder output": change})["logits"]
        return logits[each.pronoun][PRONOUNS].argmax() == 1

    found = {}
    for name, word in (("it", "it"), ("last word", "property")):
        memories = [activations(each.english, each.french, model)["encoder output"] for each in sentences[:half]]
        vectors = np.array([memory[getattr(each, word)] for memory, each in zip(memories, sentences)])
        mean = [vectors[genders[:half] == gender].mean(axis=0) for gender in (0, 1)]
        given = [(each, getattr(each, word), int(elle)) for each, elle in zip(sentences[half:], genders[half:])]
        turned = [says_elle(each, place, mean[1 - elle]) != elle for each, place, elle in given]
        kept = [says_elle(each, place, mean[elle]) == elle for each, place, elle in given]
        found[name] = {"turned": np.mean(turned), "kept": np.mean(kept)}
    return found


def heads_to_cut(model):
    """Return one head, or two of a layer, of the encoder at a time: name -> (layer, heads, counted from 0)."""
    numbers, layers = range(model.encoder_heads), range(1, model.encoder_layers + 1)
    each = [[head] for head in numbers] + [[*pair] for pair in combinations(numbers, 2)]
    names = [f"head{'s'[: len(cut) - 1]} {' and '.join(str(head + 1) for head in cut)}" for cut in each]
    return {f"layer {layer}, {name}": (layer, cut) for layer in layers for name, cut in zip(names, each)}


def cuts(model, phrases):
    """Return the share of pronouns that stay right where heads of the encoder bring nothing."""
    found = {}
    for name, (layer, cut) in heads_to_cut(model).items():
        W_O = model.params["encoder"][layer]["attention"]["W_O"]
        heads = W_O.reshape(model.encoder_heads, -1, model.d)  # a view
        kept = heads.copy()
        heads[cut] = 0
        found[name] = shares(model, phrases)["pronoun"]
        heads[:] = kept
    return found


def averaged(model, sentences, wanted=None):
    """Return the share of pronouns that stay right where heads bring their mean over all words of the sentences.

    `wanted` are some of the `heads_to_cut`; all where none are given.
    """
    found, means = {}, {}
    for name, (layer, cut) in (wanted or heads_to_cut(model)).items():
        place = f"encoder {layer} attention mixed"
        if layer not in means:
            runs = [activations(each.english, each.french, model)[place] for each in sentences]
            means[layer] = np.concatenate(runs, axis=1).mean(axis=1, keepdims=True)

        def level(heads, cut=cut, mean=means[layer]):
            heads[cut] = mean[cut]
            return heads

        found[name] = scored(sentences, lambda _, change={place: level}: change, model)[1]
    return found


def hidden(model, given):
    """Return the share of pronouns that stay right where a noun is hidden from a word in the encoder's last layer.

    The noun is the one that *it* stands for, the antecedent, or the other one; it is hidden from *it*, or from the
    property, which is the last word.
    """
    name, found = f"encoder {model.encoder_layers} attention scores", {}

    def unseen(scores, row, column):
        scores[:, row, column] = -np.inf
        return scores

    for noun, word in product(("antecedent", "other"), ("it", "property")):
        change = lambda each, noun=noun, word=word: {
            name: lambda scores: unseen(scores, getattr(each, word), getattr(each, noun))
        }
        _, found[f"{noun} from {word}"], _ = scored(given, change, model)
    return found


def aligned(model, phrases):
    """Return for which share of the words, and of the pronouns, cross-attention is largest at what they stand for."""
    (arguments, said), inside = batch_of(phrases, SENTENCES), {}
    model(*arguments, record=inside)
    looks = inside["decoder"][model.layers]["cross_attention weights"].mean(1).argmax(-1)
    places = [(row, place) for row, phrase in enumerate(phrases) for place in range(len(phrase.french))]
    sources = {(row, place): phrases[row].sources[place] for row, place in places}
    right = {at: looks[at] in sources[at] for at in places if sources[at]}
    asked = np.isin(said, PRONOUNS)
    return {"words": np.mean([*right.values()]), "pronouns": np.mean([right[at] for at in right if asked[at]])}


def agreement(model, phrases):
    """Return for which share of the adjectives with two forms the decoder looks at the pronoun, and obeys the other.

    It looks where the row that says the adjective gives the pronoun its largest share; it obeys where the other pronoun
    is fed in and the adjective comes in the form of that one.
    """
    pairs = [(one, two) for one, two, _ in PROPERTIES.values() if one != two]
    forms = {one: two for pair in pairs for one, two in (pair, pair[::-1])}
    phrases = [phrase for phrase in phrases if phrase.french[-1] in forms]
    ((source, target, lengths), said), inside = batch_of(phrases, SENTENCES), {}
    rows, asked = np.arange(len(said)), np.isin(target, PRONOUNS).argmax(1)
    last = (said == END).argmax(1) - 1  # the row that says the adjective
    model(source, target, lengths, inside)
    looks = inside["decoder"][model.layers]["attention weights"].mean(1)[rows, last].argmax(-1)
    target[rows, asked] = sum(PRONOUNS) - target[rows, asked]
    answers = model(source, target, lengths)[rows, last].argmax(-1)
    other = [SENTENCES.french.index(forms[phrase.french[-1]]) for phrase in phrases]
    return {"looks": np.mean(looks == asked), "obeys": np.mean(answers == other)}


def measurements(model):
    """Return the `shares` on sentences that are hard in several ways, what is `aligned`, and what else is counted."""
    rng = np.random.default_rng(TESTED)
    kinds = {"pairs": it_sentences(rng, TESTED), "triples": it_sentences(rng, TESTED, "triples")}
    kinds["crowded"] = it_sentences(rng, TESTED, crowded=True)
    known = it_sentences(rng, 4 * TESTED, "train")
    kinds["absent"] = [phrase for phrase in known if set(ABSENT) & set(phrase.english)][:TESTED]
    able = lambda phrase: {word for word in phrase.english if word in NOUNS and fits(word, phrase.english[-1])}
    kinds["absent and meant"] = [phrase for phrase in kinds["absent"] if set(ABSENT) & able(phrase)]
    kinds["absent and not meant"] = [phrase for phrase in kinds["absent"] if not set(ABSENT) & able(phrase)]
    found = {name: shares(model, phrases) for name, phrases in kinds.items()}
    found["aligned"] = aligned(model, kinds["pairs"])
    found["cuts"], found["hidden"] = cuts(model, kinds["pairs"]), hidden(model, examples(TESTED // 4))
    found["agreement"] = agreement(model, kinds["pairs"])
    found["averaged"] = averaged(model, examples(TESTED, TESTED))  # the sentences of "pairs"
    found["means"] = means(model, examples(300))  # those of the chapter
    return found | {"carriers": carriers(model, [twins(rng) for _ in range(TESTED // 4)])}


def watched(model, phrases):
    """Return what is measured in the middle of a training: shares on some phrases, losses and the weights, float16."""
    return shares(model, phrases) | losses(model) | {"weights": model.flat.astype(np.float16)}


def trained(name, seed, batch, phrases):
    """Train a model from a seed; return it, what was `watched` on the way, as JSON has it, and {step: weights}."""
    model = new_model(seed)
    done = train(model, batch, **TRAINING, seed=seed, measure=partial(watched, phrases=phrases), checkpoint=name)
    kept = dict(zip(done.at, done.found.pop("weights")))
    return model, rounded({"after steps": done.at, **done.found}), kept


def train_translator(seed, absent=()):
    """Train a model from a seed; return it, what came of it and what was `watched`, as JSON, and {step: weights}."""
    unseen = it_sentences(np.random.default_rng(400), 400)
    name = f"model-{seed}{'-absent' if absent else ''}"
    model, found, kept = trained(name, seed, partial(draw, absent=absent), unseen)
    told = {name: values[::2] for name, values in found.items() if not name.endswith("loss")}
    return model, {"seed": seed, "without": list(absent), **told, **rounded(measurements(model))}, found, kept


def train_on_subjects():
    """Return what is watched where *it* stands for the subject in the training and in the questions, as JSON has it."""
    unseen = filter(subject_meant, it_sentences(np.random.default_rng(400), 1200))
    return trained("model-subjects", BOOK, draw_subject_meant, [*islice(unseen, 400)])[1]


def as_file(array):
    """Return the bytes of a .npy file, float16."""
    written = io.BytesIO()
    np.save(written, array.astype(np.float16))
    return written.getvalue()


def main():
    """Train all models, saying what comes out, and write the three files."""
    runs, digest = [], lambda written: hashlib.sha256(written).hexdigest()
    for seed, absent in [*((seed, ()) for seed in SEEDS), (BOOK, ABSENT)]:
        model, found, watched_of, kept = train_translator(seed, absent)
        runs.append(found)
        print(f"seed {seed}{', without ' + ', '.join(absent) if absent else ''}: {found['pairs']}", flush=True)
        if seed == BOOK and not absent:
            progress, weights = [watched_of], as_file(model.flat)
            stages = as_file(np.array([kept[step] for step in STAGES]))
    progress.append(train_on_subjects())
    about = f"Shares of {TESTED} sentences of each kind that are right; after so many steps, of 400; losses on as many."
    digests = {"weights": digest(weights), "stages": digest(stages), "stages after steps": list(STAGES)}
    write_report(translator.FILE, weights)
    write_report(translator.STAGES, stages)
    write_report(translator.RUNS, report("model", about, **digests, runs=runs, progress=progress))
