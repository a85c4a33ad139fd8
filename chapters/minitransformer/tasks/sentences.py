"""A little language of sentences in which *it* must be understood to be translated; used in chapter 15.

Each sentence is built in English and in French at once, word by word, and each French word knows which English words
it stands for.  In a sentence with *it* exactly one of the two nouns can have the property that is told of it.
"""

from typing import NamedTuple

from ..arrays import one_of
from .lexicon import ADJECTIVES, BEFORE, DETERMINERS, ELIDED, NOUNS, PROPERTIES, VERBS

VOWELS = tuple("aeiouyéèêàâîô")
DEGREES = {"too": "trop", "very": "très"}


class Phrase(NamedTuple):
    """Words of both languages, and for each French word the numbers of the English words that it stands for.

    Phrases are added end to end.  Used in chapter 15.

    >>> phrase = Phrase(("the", "cat"), ("le", "chat"), ((0,), (1,)))
    >>> phrase.french
    ('le', 'chat')
    """

    english: tuple = ()
    french: tuple = ()
    sources: tuple = ()

    def __add__(self, other):
        """Return this phrase with another one behind it."""
        moved = tuple(tuple(place + len(self.english) for place in places) for places in other.sources)
        return Phrase(self.english + other.english, self.french + other.french, self.sources + moved)


LINKS = {
    "because": Phrase(("because",), ("parce", "que"), ((0,), (0,))),
    "but": Phrase(("but",), ("mais",), ((0,),)),
}


def feminine(noun):
    """Tell whether a noun, in English, is feminine in French.  Used in chapter 15.

    >>> feminine("street"), feminine("animal")
    (True, False)
    """
    return NOUNS[one_of(noun, "noun", NOUNS)][1] == "f"


def fits(noun, adjective):
    """Tell whether what a noun names can be what an adjective says, both in English.  Used in chapter 15.

    >>> fits("animal", "tired"), fits("street", "tired")
    (True, False)
    """
    return NOUNS[one_of(noun, "noun", NOUNS)][2] in PROPERTIES[one_of(adjective, "adjective", PROPERTIES)][2]


def noun_phrase(determiner, adjectives, noun, negated=False):
    """Return a `Phrase` such as *my small black cat*, *mon petit chat noir*.  Used in chapter 15.

    Of the adjectives at most one stands before the French noun and at most one behind it.

    >>> " ".join(noun_phrase("my", ["small", "black"], "cat").french)
    'mon petit chat noir'
    """
    one_of(determiner, "determiner", DETERMINERS)
    words, gender = (determiner, *adjectives, noun), feminine(noun)
    article = "de" if negated and determiner == "a" else DETERMINERS[determiner][gender]
    places = {word: place for place, word in enumerate(words)}
    ahead = [word for word in adjectives if word in BEFORE]
    behind = [word for word in adjectives if word not in BEFORE]
    french = [article, *(ADJECTIVES[word][gender] for word in ahead), NOUNS[noun][0]]
    french += [ADJECTIVES[word][gender] for word in behind]
    return Phrase(words, tuple(french), ((0,), *((places[word],) for word in (*ahead, noun, *behind))))


def predicate(degree, adjective, noun):
    """Return a `Phrase` such as *was too tired*, *était trop fatigué*: it agrees with `noun`.  Used in chapter 15.

    >>> " ".join(predicate("too", "tired", "cow").french)
    'était trop fatiguée'
    """
    one_of(adjective, "adjective", PROPERTIES)
    degrees = [one_of(degree, "degree", DEGREES)] if degree else []
    french = ("était", *(DEGREES[word] for word in degrees), PROPERTIES[adjective][feminine(noun)])
    return Phrase(("was", *degrees, adjective), french, tuple((place,) for place in range(len(french))))


def verb_phrase(verb, negation):
    """Return a `Phrase` such as *didn't cross*, *n'a pas traversé*: the verb in the past.  Used in chapter 15.

    French adds a word, *a*, that stands for none of the English ones.

    >>> " ".join(verb_phrase("crossed", "didn't").french)
    'ne a pas traversé'
    """
    base, participle, _ = VERBS[one_of(verb, "verb", VERBS)]
    if not negation:
        return Phrase((verb,), ("a", participle), ((), (0,)))
    english, second = ((negation, base), "pas") if negation == "didn't" else ((negation, verb), "jamais")
    return Phrase(english, ("ne", "a", second, participle), ((0,), (), (0,), (1,)))


def clause(subject, verb, other, negation=""):
    """Return a `Phrase` such as *the cat saw a dog*: subject and other are (determiner, adjectives, noun).

    Used in chapter 15.

    >>> phrase = clause(("the", [], "cat"), "saw", ("a", [], "dog"))
    >>> " ".join(phrase.english), " ".join(phrase.french)
    ('the cat saw a dog', 'le chat a vu un chien')
    """
    return noun_phrase(*subject) + verb_phrase(verb, negation) + noun_phrase(*other, negated=bool(negation))


def it_sentence(subject, verb, other, negation, link, degree, adjective):
    """Return a `Phrase` such as *… because it was too tired*, in which *it* stands for the noun that can be so.

    Raises ValueError where both nouns can, or none.  Used in chapter 15.

    >>> ends = ("the", [], "animal"), "crossed", ("the", [], "street")
    >>> phrase = it_sentence(*ends, "didn't", "because", "too", "tired")
    >>> " ".join(phrase.french)
    'le animal ne a pas traversé la rue parce que il était trop fatigué'
    """
    one_of(link, "link", LINKS)
    able = [noun for noun in (subject[2], other[2]) if fits(noun, adjective)]
    if len(able) != 1:
        raise ValueError(f"{adjective} fits {' and '.join(able) or 'no noun'}; expected it to fit one of the two.")
    pronoun = Phrase(("it",), ("elle" if feminine(able[0]) else "il",), ((0,),))
    return clause(subject, verb, other, negation) + LINKS[link] + pronoun + predicate(degree, adjective, able[0])


def spelled(phrase):
    """Return a `Phrase` with *an* before a vowel, and in French with *l'*, *qu'*, *cet* and the like.

    A French word whose form hangs on the next one, as that of *le* and *l'*, stands for what that one stands for too.
    Used in chapter 15.

    >>> from minitransformer.translation import french_text
    >>> french_text(spelled(noun_phrase("the", [], "animal")).french)
    "l'animal"
    """
    english = tuple("an" if word == "a" and after[0] in "aeiou" else word for word, after in _pairs(phrase.english))
    french = tuple(
        ELIDED.get(word, word) if after.startswith(VOWELS) else word for word, after in _pairs(phrase.french)
    )
    sources = zip(phrase.french, phrase.sources, (*phrase.sources[1:], ()))
    return Phrase(english, french, tuple(own + after if word in ELIDED else own for word, own, after in sources))


def _pairs(words):
    """Return each word with the one behind it."""
    return zip(words, (*words[1:], "."))
