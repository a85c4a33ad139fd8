"""A small task of translation: numbers from 0 to 999,999 in English and in French words; used in chapter 15."""

from ..arrays import generator, whole

MOST = 999_999
ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
FRENCH_ONES = (
    *("zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze"),
    *("treize", "quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf"),
)
FRENCH_TENS = (
    *("", "", "vingt", "trente", "quarante", "cinquante", "soixante", "soixante"),
    *("quatre-vingt", "quatre-vingt"),
)
ENGLISH_NUMBERS = (*ONES, *TENS[2:], "hundred", "thousand", "and")


def in_english(number):
    """Return a number from 0 to 999,999 as a list of English words: 121 is one hundred and twenty one.

    Raises ValueError for another number.  Used in chapter 15.

    >>> " ".join(in_english(121))
    'one hundred and twenty one'
    """
    number = _checked(number)
    thousands, rest = divmod(number, 1000)
    if thousands:
        return in_english(thousands) + ["thousand"] + (["and"] * (0 < rest < 100)) + (in_english(rest) if rest else [])
    hundreds, rest = divmod(number, 100)
    if hundreds:
        return [ONES[hundreds], "hundred"] + (["and", *in_english(rest)] if rest else [])
    tens, ones = divmod(number, 10)
    return [ONES[number]] if number < 20 else [TENS[tens]] + ([ONES[ones]] if ones else [])


def in_french(number):
    """Return a number from 0 to 999,999 as a list of French words, as one wrote them before 1990: *vingt et un*.

    What hyphens join is one word: *quatre-vingt-onze*.  Raises ValueError for another number.  Used in chapter 15.

    >>> " ".join(in_french(91))
    'quatre-vingt-onze'
    """
    thousands, rest = divmod(_checked(number), 1000)
    if thousands:  # quatre-vingts and cents lose their s before mille, and there is no un before it
        many = [word.removesuffix("s") if word in ("quatre-vingts", "cents") else word for word in in_french(thousands)]
        return ([] if thousands == 1 else many) + ["mille"] + (in_french(rest) if rest else [])
    hundreds, rest = divmod(rest, 100)
    if hundreds:
        count = [FRENCH_ONES[hundreds]] if hundreds > 1 else []
        return count + ["cent" if rest or hundreds == 1 else "cents"] + (in_french(rest) if rest else [])
    return _below_hundred(rest)


def _below_hundred(number):
    """Return a number from 0 to 99 as a list of French words."""
    if number < 20:
        return [FRENCH_ONES[number]]
    tens = number // 10
    ones = number % 20 if tens in (7, 9) else number % 10
    if number == 80:
        return ["quatre-vingts"]
    if ones == 0:
        return [FRENCH_TENS[tens]]
    if ones in (1, 11) and tens < 8:
        return [FRENCH_TENS[tens], "et", FRENCH_ONES[ones]]
    return [f"{FRENCH_TENS[tens]}-{FRENCH_ONES[ones]}"]


def _checked(number):
    """Return a whole number that is not too large.  Raises ValueError where it is."""
    if whole(number, "number", 0) > MOST:
        raise ValueError(f"number is {number}; expected one from 0 to {MOST:,}.")
    return int(number)


def held_out(number):
    """Tell whether a number is kept out of training: every seventh of those from 100 on.  Used in chapter 15.

    >>> [number for number in range(100, 116) if held_out(number)]
    [105, 112]
    """
    return _checked(number) >= 100 and number % 7 == 0


def number_pair(rng, hidden=False):
    """Draw a number of one to six digits, each length as often, in English and in French; `hidden` for a held-out one.

    Used in chapter 15.

    >>> english, french = number_pair(np.random.default_rng(0))
    >>> type(english).__name__, len(french) > 0
    ('list', True)
    """
    hidden, rng = bool(hidden), generator(rng)
    least = 2 if hidden else 0
    while True:
        digits = rng.integers(least, 6)
        number = int(rng.integers(10**digits if digits else 0, 10 ** (digits + 1)))
        if held_out(number) == hidden:
            return in_english(number), in_french(number)


FRENCH_NUMBERS = tuple(
    dict.fromkeys([*(word for n in range(100) for word in in_french(n)), "cent", "cents", "mille", "quatre-vingt"])
)
