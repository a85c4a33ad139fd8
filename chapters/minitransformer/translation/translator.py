"""The trained translator of chapter 15, whose weights come with the package, and its translations."""

import hashlib
import io
from pathlib import Path

import numpy as np

from ..arrays.files import read_measurements
from ..feed_forward import gelu
from ..transformer import Transformer
from .decoding import END, PAD, START, greedy_decode
from .pairs import MARKS, SENTENCES, english_words, french_text, word_numbers

FILE = Path(__file__).with_name("translator.npy")
STAGES = Path(__file__).with_name("stages.npy")
RUNS = Path(__file__).with_name("translators.json")
BOOK = 3  # the seed of the book's training


def new_model(rng=None):
    """Return a `Transformer` of the kind that chapter 15 trains on sentences.  Used in chapters 14 and 15.

    >>> model = new_model()
    >>> model.d, bool(model.flat.any())
    (64, False)
    """
    source, target = len(SENTENCES.english), len(SENTENCES.french)
    sizes = {"source_vocabulary": source, "encoder_layers": 2, "encoder_heads": 4}
    return Transformer(target, 64, 1, 1, rng, activation=gelu, tied=False, **sizes)


def load_model():
    """Return the book's trained model: the weights of chapter 15's training, which `make model` keeps in float16.

    Raises FileNotFoundError or ValueError where the file is missing or is not the one that was measured (`load_runs`),
    saying what to do.
    Used from chapter 2 on.

    >>> model = load_model()
    >>> model.d, len(model.flat)
    (64, 188736)
    """
    model = new_model()
    model.flat[:] = _kept(FILE, "weights", model.flat.shape)
    return model


def load_stages():
    """Return the book's model in the middle of its training: {step: weights like `model.flat`}, the first step 0.

    `make model` keeps them in float16, of the very training whose end is `load_model`.  Raises what that raises.
    Used in chapter 15.

    >>> stages = load_stages()
    >>> [*stages], stages[0].shape
    ([0, 100, 200, 600, 700, 800], (188736,))
    """
    start, steps = new_model(BOOK).flat, read_measurements(RUNS, "stages after steps")
    return {0: start, **dict(zip(steps, _kept(STAGES, "stages", (len(steps), *start.shape))))}


def _kept(file, name, shape):
    """Return the weights of a file, after checking that they are those that were measured, under this name of RUNS."""
    try:
        written = file.read_bytes()
        kept = np.lib.format.read_array(io.BytesIO(written))
    except FileNotFoundError:
        raise FileNotFoundError(f"{file} is missing; install the package again, or run `make model`.") from None
    except (ValueError, OSError) as damage:
        raise ValueError(f"{file} is damaged ({damage}); install the package again, or run `make model`.") from None
    if kept.shape != shape:
        raise ValueError(f"{file} holds {kept.size} numbers; expected {np.prod(shape)}: run `make model`.")
    if hashlib.sha256(written).hexdigest() != read_measurements(RUNS, name):
        raise ValueError(
            f"{file} holds other weights than were measured; install the package again or run `make model`."
        )
    return kept


def load_runs():
    """Return what `make model` measured: a dict for each training, with its "seed"; that of `load_model` is 3.

    "without" are the nouns that a training never saw beside an *it*, none but for one training; "cuts" say which share
    of the pronouns stays right without a head of the encoder, or without two, and "averaged" which share where these
    bring their mean over all words instead; "hidden", which share where a noun is hidden from a word; "agreement", for
    which share of the adjectives the decoder "looks" at the pronoun, and "obeys" another one; "means", which share of
    the pronouns the mean vector of one gender has "turned" or "kept", at *it* and at the last word.  Used from
    chapter 4 on.

    >>> [run["seed"] for run in load_runs()]
    [0, 1, 2, 3, 4, 5, 3]
    """
    return read_measurements(RUNS, "runs")


def load_progress():
    """Return what `make model` measured every 50 steps: of the training of `load_model`, and of one with easier *it*.

    Each is a dict: "after steps", the shares of words that were right, by kind, and the mean loss that each kind
    brings, such as "pronoun loss".  In the second training *it* always stands for the subject.  Used in chapter 15.

    >>> book, subject = load_progress()
    >>> book["after steps"][:3], subject["pronoun"][3] > 0.9
    ([0, 50, 100], True)
    """
    return read_measurements(RUNS, "progress")


def translate(sentence, model=None):
    """Translate an English sentence of the language of `sentences` into French, with the book's own model or another.

    Shapes: a string -> a string and weights (n + 1, m): the share that each of the `french_words`, and at last the end,
    takes from each of the `english_words`, in the last layer's cross-attention, mean of heads.
    Raises ValueError where a word is unknown or there is none.  Used from chapter 2 on.

    >>> sentence = "the animal didn't cross the street because it was too tired"
    >>> french, weights = translate(sentence)
    >>> french, weights.shape
    ("l'animal n'a pas traversé la rue parce qu'il était trop fatigué", (15, 11))
    """
    model, words = model or load_model(), english_words(sentence)
    if not words or set(words) & set(MARKS):
        raise ValueError(f"sentence is {sentence!r}; expected some English words.")
    source, lengths = word_numbers([words], SENTENCES.english)
    said, record = greedy_decode(model, source, lengths), {}
    model(source, np.hstack([[[START]], said[:, :-1]]), lengths, record)
    last = record["decoder"][model.layers]["cross_attention weights"][0].mean(axis=0)
    words = [SENTENCES.french[number] for number in said[0] if number not in (PAD, END)]
    return french_text(words), last
