"""The exercises of chapter 15, on translation."""

import numpy as np

from minitransformer.softmax import log_softmax, softmax
from minitransformer.tasks.sentences import Phrase
from minitransformer.translation import END, PAD

from . import Check, Lines, Mend


def _of_said(shares, said):
    return np.take_along_axis(shares, said.clip(0)[..., None], -1)[..., 0]


def _mean_of_words(values, said):
    return (values * (said >= 0)).sum(axis=1) / (said >= 0).sum(axis=1)


def _score(logits, said):
    return _mean_of_words(_of_said(log_softmax(logits), said), said)


def _sum(logits, said):
    return _score(logits, said) * (said >= 0).sum(axis=1)


def _per_place(logits, said):
    return _sum(logits, said) / said.shape[1]


def _with_padding(logits, said):
    return _of_said(log_softmax(logits), said).mean(axis=1)


def _log_of_mean(logits, said):
    return np.log(_mean_of_words(_of_said(softmax(logits), said), said))


def _over_places(logits, said):
    return _mean_of_words(_of_said(log_softmax(logits, axis=1), said), said)


def _not_among(places, weights):
    return ~np.isin(np.arange(weights.shape[1]), places)


def _dropped(weights):
    return _not_among(weights[:-1].argmax(axis=1), weights)


def _exact(said, right):
    return (said == right).all(axis=1).mean()


def _without_end(said, right):
    return ((said == right) | (right <= END)).all(axis=1).mean()


def _sources(first, second):
    return _placed(second.sources, len(first.english)) + _placed(first.sources)


def _placed(sources, by=0):
    return [[place + by for place in places] for places in sources]


def _phrase(english, sources):
    return Phrase(("the", "cat", "saw", "it")[:english], tuple("tuvwxyz"[: len(sources)]), sources)


_RNG = np.random.default_rng(15)
_SAID = (np.array([[3, 1, 2, -1], [0, 2, -1, -1]]), np.array([[4, 2, -1], [2, -1, -1], [1, 4, 2]]))
_LOOKS = np.array([[6, 1, 0, 0, 1], [0, 1, 3, 2, 1], [1, 0, 0, 5, 1], [0, 1, 2, 1, 5], [0, 9, 0, 0, 0.0]])
_LOOKS = (_LOOKS, np.array([[1, 5, 0, 0], [3, 0, 2, 1], [0, 2, 5, 1], [1, 0, 0, 4.0]]), _RNG.normal(size=(6, 9)))
_RIGHT = np.array([[5, 3, 2, 0, 0], [4, 4, 6, 2, 0], [3, 2, 0, 0, 0], [7, 5, 6, 3, 2]])
_EARLY = np.array([[5, 2, 0, 0, 0], [4, 4, 6, 2, 0], [3, 2, 0, 0, 0], [7, 5, 2, 0, 0]])
_LONGER = np.array([[5, 3, 9, 0, 0], [4, 4, 6, 2, 0], [3, 2, 0, 0, 0], [7, 5, 6, 3, 9]])  # a word in place of the end
_TURNED = np.array([[3, 5, 2, 0, 0], [4, 6, 6, 2, 0], [3, 2, 0, 0, 0], [7, 5, 6, 3, 2]])  # the same words otherwise
_SPOKEN = np.array([[5, 3, 2, 0, 0], [4, 3, 6, 2, 0], [3, 5, 2, 0, 0], [7, 5, 6, 3, 2]])

CHECKS = {
    "translation-by-hand": Check(
        np.array([[1, 3, 4, 5, 6, 2], [3, 4, 5, 6, 2, -1]]),
        {
            "the decoder would be fed the very word that it has to say: shift by one.": np.array(
                [[3, 4, 5, 6, 2, 0], [3, 4, 5, 6, 2, -1]]
            ),
            "0 is a word like any other where it has to be said; −1 is what does not count.": np.array(
                [[1, 3, 4, 5, 6, 2], [3, 4, 5, 6, 2, 0]]
            ),
            "without </s> it never learns to stop.": np.array([[1, 3, 4, 5, 6, 0], [3, 4, 5, 6, -1, -1]]),
            "what is fed stands first, what is to be said second.": np.array([[3, 4, 5, 6, 2, -1], [1, 3, 4, 5, 6, 2]]),
            "harmless, as nothing is to be said there; but one place on of what is said, </s> is fed.": np.array(
                [[1, 3, 4, 5, 6, 0], [3, 4, 5, 6, 2, -1]]
            ),
        },
    ),
    "translation-score": Check(
        _score,
        {
            "that is the sum: divide it by the number of words.": _sum,
            "divide by the number of words, not of places: padding is no word.": _per_place,
            "where −1 stands nothing is said: leave these places out.": _with_padding,
            "that is the log of a mean: take the logarithms first.": _log_of_mean,
            "your shares sum to 1 over the places; they must over the words.": _over_places,
        },
        tuple((2 * _RNG.normal(size=(*said.shape, 5)), said) for said in _SAID),
    ),
    "translation-dropped": Check(
        _dropped,
        {
            "the last row is that of </s>, which translates nothing: leave it out.": lambda weights: _not_among(
                weights.argmax(axis=1), weights
            ),
            "over the wrong axis: for each French word, which English one?": lambda weights: _not_among(
                weights[:-1].argmax(axis=0), weights
            ),
            "the first row is that of the first French word; the one to leave out is the last.": lambda weights: (
                _not_among(weights[1:].argmax(axis=1), weights)
            ),
            "the other way round: True where no French word looks most.": lambda weights: ~_dropped(weights),
        },
        tuple((softmax(looks),) for looks in _LOOKS),
    ),
    "translation-exact": Check(
        _exact,
        {
            "</s> counts too: a translation that goes on behind the last word is not right.": _without_end,
            "that is a share of words; count sentences that are right everywhere.": lambda said, right: np.mean(
                said[right != PAD] == right[right != PAD]
            ),
            "that is a share of places, padding among them; count sentences.": lambda said, right: np.mean(
                said == right
            ),
            "a sentence with one right word is not a right one: any or all?": lambda said, right: np.mean(
                (said == right).any(axis=1)
            ),
            "a translation that ends too early passes now: ask wherever the right one has a word or its end.": (
                lambda said, right: ((said == right) | (said <= END)).all(axis=1).mean()
            ),
        },
        (
            (_SPOKEN, _RIGHT),
            (_SPOKEN[:3], _RIGHT[:3]),
            (_RIGHT, _RIGHT),
            (np.roll(_RIGHT, 1, axis=0), _RIGHT),
            (_EARLY, _RIGHT),
            (_LONGER, _RIGHT),
            (_LONGER[:1], _RIGHT[:1]),
            (_TURNED, _RIGHT),
        ),
    ),
    "translation-lab-sources": Check(
        _sources,
        {
            "the other language's words are turned; turn their sources with them.": lambda first, second: (
                _placed(first.sources) + _placed(second.sources, len(first.english))
            ),
            "English keeps its order, so it is the second phrase's places that move.": lambda first, second: (
                _placed(second.sources) + _placed(first.sources, len(second.english))
            ),
            "in English the second phrase still stands behind the first: its places move on.": lambda first, second: (
                _placed(second.sources) + _placed(first.sources)
            ),
            "places are those of English words: move on by as many as the first phrase has.": lambda first, second: (
                _placed(second.sources, len(first.french)) + _placed(first.sources)
            ),
        },
        (
            (_phrase(2, ((1,), (0,), (1,))), _phrase(1, ((0,), (0,)))),
            (_phrase(1, ((0,),)), _phrase(3, ((2,), (0,)))),
            (_phrase(2, ((0, 1),)), _phrase(3, ((1, 2), (0, 2)))),  # each word translates two
            (_phrase(4, ((1,), (0,))), _phrase(2, ((0,),))),  # two English words are not translated
        ),
    ),
}

FORMS = {
    "translation-score": Lines(
        (
            "shares = log_softmax(logits, axis=1)",
            "return (found * counts).sum(axis=1) / said.shape[1]",
            "return found.mean(axis=1)",
        )
    ),
    "translation-dropped": Lines(
        (
            "looked_at = weights.argmax(axis=1)",
            "looked_at = weights[:-1].argmax(axis=0)",
            "return np.isin(words, looked_at)",
        )
    ),
    "translation-exact": Mend(
        {
            "words = right > END": {
                "it asks the wrong table": "words = said > END",
                "the end should count, too": "words = right >= END",
            },
            "return ((said == right) | ~words).all(axis=1).mean()": {
                "one right word should be enough": "return ((said == right) & words).any(axis=1).mean()",
                "it should count words": "return (said == right)[words].mean()",
            },
        }
    ),
    "translation-lab-sources": Lines(
        (
            "places = both.sources",
            "places = (second + first).sources",
            "places = second.sources + first.sources",
        ),
        of="swapped",
    ),
}
