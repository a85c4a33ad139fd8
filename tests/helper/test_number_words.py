"""Numbers in words: a table written by hand, and what a task of translation needs of them."""

import numpy as np
import pytest

from minitransformer.tasks.number_words import (
    ENGLISH_NUMBERS,
    FRENCH_NUMBERS,
    held_out,
    in_english,
    in_french,
    number_pair,
)

TABLE = {
    0: ("zero", "zéro"),
    1: ("one", "un"),
    10: ("ten", "dix"),
    16: ("sixteen", "seize"),
    17: ("seventeen", "dix-sept"),
    20: ("twenty", "vingt"),
    21: ("twenty one", "vingt et un"),
    22: ("twenty two", "vingt-deux"),
    61: ("sixty one", "soixante et un"),
    69: ("sixty nine", "soixante-neuf"),
    70: ("seventy", "soixante-dix"),
    71: ("seventy one", "soixante et onze"),
    72: ("seventy two", "soixante-douze"),
    77: ("seventy seven", "soixante-dix-sept"),
    80: ("eighty", "quatre-vingts"),
    81: ("eighty one", "quatre-vingt-un"),
    90: ("ninety", "quatre-vingt-dix"),
    91: ("ninety one", "quatre-vingt-onze"),
    99: ("ninety nine", "quatre-vingt-dix-neuf"),
    100: ("one hundred", "cent"),
    101: ("one hundred and one", "cent un"),
    180: ("one hundred and eighty", "cent quatre-vingts"),
    200: ("two hundred", "deux cents"),
    201: ("two hundred and one", "deux cent un"),
    280: ("two hundred and eighty", "deux cent quatre-vingts"),
    300: ("three hundred", "trois cents"),
    571: ("five hundred and seventy one", "cinq cent soixante et onze"),
    999: ("nine hundred and ninety nine", "neuf cent quatre-vingt-dix-neuf"),
    1_000: ("one thousand", "mille"),
    1_001: ("one thousand and one", "mille un"),
    1_021: ("one thousand and twenty one", "mille vingt et un"),
    1_080: ("one thousand and eighty", "mille quatre-vingts"),
    1_100: ("one thousand one hundred", "mille cent"),
    1_200: ("one thousand two hundred", "mille deux cents"),
    2_000: ("two thousand", "deux mille"),
    21_000: ("twenty one thousand", "vingt et un mille"),
    71_000: ("seventy one thousand", "soixante et onze mille"),
    80_000: ("eighty thousand", "quatre-vingt mille"),
    80_080: ("eighty thousand and eighty", "quatre-vingt mille quatre-vingts"),
    81_000: ("eighty one thousand", "quatre-vingt-un mille"),
    100_000: ("one hundred thousand", "cent mille"),
    101_101: ("one hundred and one thousand one hundred and one", "cent un mille cent un"),
    200_000: ("two hundred thousand", "deux cent mille"),
    200_200: ("two hundred thousand two hundred", "deux cent mille deux cents"),
    280_000: ("two hundred and eighty thousand", "deux cent quatre-vingt mille"),
    999_999: (
        "nine hundred and ninety nine thousand nine hundred and ninety nine",
        "neuf cent quatre-vingt-dix-neuf mille neuf cent quatre-vingt-dix-neuf",
    ),
}


@pytest.mark.parametrize("number, words", TABLE.items(), ids=map(str, TABLE))
def test_a_number_is_what_a_teacher_writes(number, words):
    assert (" ".join(in_english(number)), " ".join(in_french(number))) == words


def test_no_two_numbers_are_alike_and_all_words_are_of_the_vocabularies():
    numbers = [*range(10_000), *range(10_000, 1_000_000, 97)]
    for say, words in ((in_english, ENGLISH_NUMBERS), (in_french, FRENCH_NUMBERS)):
        said = [tuple(say(number)) for number in numbers]
        assert len(set(said)) == len(numbers)
        assert {word for row in said for word in row} == set(words) and len(set(words)) == len(words)


def test_every_seventh_number_of_three_digits_or_more_is_held_out():
    assert [number for number in range(130) if held_out(number)] == [105, 112, 119, 126]
    assert held_out(999_999) and not held_out(999_998)


def value(words):
    """Return the number that English words say, adding them up."""
    values = {word: place for place, word in enumerate(ENGLISH_NUMBERS[:20])}
    values |= {word: 10 * tens for tens, word in enumerate(ENGLISH_NUMBERS[20:28], 2)} | {"and": 0}
    thousands = rest = 0
    for word in words:
        if word == "thousand":
            thousands, rest = rest, 0
        else:
            rest = rest * 100 if word == "hundred" else rest + values[word]
    return 1_000 * thousands + rest


@pytest.mark.parametrize("hidden, digits", [(False, {1, 2, 3, 4, 5, 6}), (True, {3, 4, 5, 6})])
def test_what_is_drawn_is_held_out_or_not_of_any_length_and_decided_by_the_generator(hidden, digits):
    rng, again = np.random.default_rng(0), np.random.default_rng(0)
    pairs = [number_pair(rng, hidden) for _ in range(1_000)]
    assert pairs == [number_pair(again, hidden) for _ in range(1_000)]
    numbers = [value(english) for english, _ in pairs]
    assert [in_french(number) for number in numbers] == [french for _, french in pairs]
    assert {held_out(number) for number in numbers} == {hidden}
    assert {len(str(number)) for number in numbers} == digits and (0 in numbers) == (not hidden)


@pytest.mark.parametrize(
    "number, says",
    [
        (-1, "number is -1; expected a whole number from 0 on."),
        (1_000_000, "number is 1000000; expected one from 0 to 999,999."),
        (2.5, "number is 2.5; expected a whole number from 0 on."),
        ("7", "number is '7'; expected a whole number from 0 on."),
    ],
)
@pytest.mark.parametrize("say", [in_english, in_french])
def test_what_is_no_such_number_is_refused(say, number, says):
    with pytest.raises(ValueError, match=f"^{says}$"):
        say(number)
