"""Training and test sets of sentences, drawn at random from the language of `sentences`; used in chapter 15."""

from functools import cache
from itertools import combinations

from ..arrays import generator, whole
from .lexicon import ADJECTIVES, BEFORE, NOUNS, PLAIN, PROPERTIES, VERBS
from .sentences import LINKS, clause, feminine, fits, it_sentence, noun_phrase, predicate, spelled
from .splits import CLASSES, classes_of, hidden_pairs, triples

FRAMES = sorted({classes for _, _, several in VERBS.values() for classes in several})
NEGATIONS = ("", "", "didn't", "didn't", "never")
PLACES = ([word for word in ADJECTIVES if word in BEFORE], [word for word in ADJECTIVES if word not in BEFORE])


@cache
def _grouped(split, opposed):
    """Return the triples of a split by the classes of their nouns and by whether it is the subject that fits.

    With `opposed` only those whose nouns differ in gender, and classes where each of the two can be the one that fits.
    """
    groups = {}
    for subject, other, adjective in triples(split):
        if not opposed or feminine(subject) != feminine(other):
            both = groups.setdefault(classes_of(subject, other), ([], []))
            both[fits(subject, adjective)].append((subject, other, adjective))
    return {classes: groups[classes] for classes in CLASSES if all(groups.get(classes, [[]]))}


def draw_parts(rng, split="train", opposed=False):
    """Draw what `it_sentence` needs: subject, verb, object, negation, link, degree, property.

    In half of the draws it is the subject that has the property; with `opposed` the nouns differ in French gender, so
    that a guess is right half of the time.  Used in chapter 15.

    >>> (_, _, subject), verb, (_, _, other), *rest = draw_parts(np.random.default_rng(0))
    >>> subject != other, len(rest)
    (True, 4)
    """
    rng, groups = generator(rng), _grouped(split, opposed)
    classes = pick(rng, [each for each in CLASSES if each in groups])
    return _around(rng, *pick(rng, groups[classes][rng.integers(2)]))


def _around(rng, subject, other, adjective):
    """Draw all that a sentence of these three words has beside them."""
    first, second = _adjectives(rng)
    negation, verb = pick(rng, NEGATIONS), pick(rng, _verbs(classes_of(subject, other)))
    link = "because" if rng.random() < 0.85 else "but"
    left, right = _determiner(rng), _determiner(rng)
    return (left, first, subject), verb, (right, second, other), negation, link, _degree(rng, adjective), adjective


def draw_sentence(rng):
    """Draw a sentence of training, spelled: six in ten with *it*, the others a clause, a property, or both.

    No two of its nouns are among the `hidden_pairs`, and it has two adjectives at most beside a property.
    Used in chapter 15.

    >>> phrase = draw_sentence(np.random.default_rng(0))
    >>> len(phrase.french) == len(phrase.sources)
    True
    """
    if generator(rng).random() < 0.6:
        return spelled(it_sentence(*draw_parts(rng)))
    kind = rng.random()
    while True:
        phrase = _property(rng, _adjectives(rng)[0]) if kind < 0.25 else _plain(rng)
        if kind >= 0.8:
            phrase += LINKS["because"] + _property(rng, [])
        nouns = [word for word in phrase.english if word in NOUNS]
        if not any(frozenset(pair) in hidden_pairs() for pair in combinations(nouns, 2)):
            return spelled(phrase)


def _property(rng, adjectives):
    """Draw a phrase that says of a noun, with these adjectives, what it can be."""
    noun = pick(rng, list(NOUNS))
    adjective = pick(rng, [each for each in PROPERTIES if fits(noun, each)])
    return noun_phrase(_determiner(rng), adjectives, noun) + predicate(_degree(rng, adjective), adjective, noun)


def _plain(rng):
    """Draw a clause of two nouns."""
    classes = pick(rng, FRAMES)
    subject = pick(rng, [noun for noun in NOUNS if NOUNS[noun][2] == classes[0]])
    other = pick(rng, [noun for noun in NOUNS if NOUNS[noun][2] == classes[1] and noun != subject])
    first, second = _adjectives(rng)
    ends = (_determiner(rng), first, subject), (_determiner(rng), second, other)
    return clause(ends[0], pick(rng, _verbs(classes)), ends[1], pick(rng, NEGATIONS))


def twins(rng, split="pairs"):
    """Draw two spelled sentences with *because* that differ in their last word, and so in what *it* stands for.

    Used by `make model` and in chapter 4.

    >>> first, second = twins(np.random.default_rng(0))
    >>> differ = [a != b for a, b in zip(first.english, second.english)]
    >>> differ.index(True) == len(differ) - 1
    True
    """
    while True:
        subject, verb, other, negation, _, _, adjective = draw_parts(rng, split, opposed=True)
        names = subject[2], other[2]
        others = [word for word in PROPERTIES if word not in PLAIN and (*names, word) in triples(split)]
        others = [word for word in others if fits(names[0], word) != fits(names[0], adjective)]
        if adjective not in PLAIN and others:
            same = (subject, verb, other, negation, "because", pick(rng, ("too", "very")))
            return tuple(spelled(it_sentence(*same, word)) for word in (adjective, pick(rng, others)))


def it_sentences(rng, count, split="pairs", crowded=False):
    """Draw spelled sentences with *it* whose nouns differ in French gender, so that a guess is right half of the time.

    Where they are `crowded`, each noun has two adjectives, four in all: in training there are two at most.
    Used in chapter 15.

    >>> phrases = it_sentences(np.random.default_rng(0), 3)
    >>> ["it" in phrase.english for phrase in phrases]
    [True, True, True]
    """
    phrases = []
    for _ in range(whole(count, "count", 0)):
        (left, few, subject), verb, (right, fewer, other), *rest = draw_parts(rng, split, opposed=True)
        if crowded:
            few, fewer = ([pick(rng, place) for place in PLACES] for _ in range(2))
        phrases.append(spelled(it_sentence((left, few, subject), verb, (right, fewer, other), *rest)))
    return phrases


def pick(rng, choices):
    """Draw one of a list.  Used in chapter 15.

    >>> pick(np.random.default_rng(0), ["only"])
    'only'
    """
    return choices[generator(rng).integers(len(choices))]


def _adjectives(rng):
    """Draw the adjectives of two nouns: mostly one or none for each, or one of each place for one of them."""
    one = [[pick(rng, list(ADJECTIVES))] if rng.random() < 0.5 else [] for _ in range(2)]
    both = [[pick(rng, place) for place in PLACES], []]
    return (both if rng.random() < 0.15 else one)[:: pick(rng, (1, -1))]


def _determiner(rng):
    return pick(rng, ("the", "the", "a", "this", "my"))


def _degree(rng, adjective):
    return "" if adjective in PLAIN else pick(rng, ("too", "too", "very", ""))


@cache
def _verbs(classes):
    """Return the verbs whose subject and object can be of these classes."""
    return [verb for verb in VERBS if classes in VERBS[verb][2]]
