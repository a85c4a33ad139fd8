"""What readers are asked to predict, and what tells them the answer before they have chosen.

Words are compared by their first five letters, without those that say little in any text.
"""

import re
from typing import NamedTuple

from tests.text.proofs import numbers, printed
from tests.text.shown import Line, lines

OUTCOMES = "What each choice says"
PREDICTS = re.compile(r"\*\*[Pp]redict(?!\*\* (?!.*\?))")  # bold, but for the verb of an objective
WORD = re.compile(r"[a-zà-ÿ]{2,}|[½¼¾]")
LITTLE = re.compile(r"\w+").findall(
    """
    about above after again all alone also always an and another any are as at be because been before being
    below between both but by can could do does down each either enough ever every few first for from get gets
    give gives had has have he here how if in into is it its itself last less let long made make makes many may
    might more most much must neither never no nobody nor not nothing now number numbers of off on once one only
    or other others our out over own right same say says second see she should since so some something still
    such take taken takes than that the their them then there these they thing things this those to too two
    under up us very was we were what when where which while who why will with without word words would yet you
    your
    """
)
# Sentences that use a prediction's words or numbers and tell no answer, each with the reason.
TELLS_NOTHING = {
    "For the bare product, take two random": "asks of the product, and not of the cosine",
    "Dividing the scores by": "is of the spread 1, and not of 8",
    "At the end it is more than half": "is of the attention, and not of the rows",
}


class Prediction(NamedTuple):
    """A prediction: the numbers of its first line and of the line behind its fold, and its texts."""

    first: int
    end: int
    question: str
    choices: list
    said: list

    @property
    def right(self):
        """The number of the true choice; where a number is typed, of the first sentence."""
        return next(i for i, sentence in enumerate(self.said) if sentence.startswith("Right"))


class Secret(NamedTuple):
    """What tells an answer: words of the true choice alone, of its sentence alone, of the whole prediction, numbers."""

    choice: set
    sentence: set
    whole: set
    numbers: set


def predictions(page):
    """Return the predictions of a page that have a fold."""
    found = []
    for first in (line.number for line in lines(page) if PREDICTS.search(line.words)):
        fold = next((box for box in page.directives if box.argument == OUTCOMES and box.line > first), None)
        if fold:
            asked = "\n".join(page.source.split("\n")[first - 1 : block_end(page, first) - 1])
            question, *choices = re.split(r"^- ", asked, flags=re.MULTILINE)
            _, *said = re.split(r"^- ", fold.content.source, flags=re.MULTILINE)
            found.append(Prediction(first, fold.end, question, choices, said))
    return found


def block_end(page, line):
    """Return the number of the empty line below the block in which a line stands, or which is the next below it."""
    source = [text.strip() for text in page.source.split("\n")] + ["", "end", ""]
    start = next(number for number in range(line, len(source)) if source[number - 1])
    return source.index("", start - 1) + 1


def section(page, line):
    """Return the line of the heading above a line, and that of the next one, of sections."""
    starts = [start for level, start, _ in page.headings if level == 2]
    return max(start for start in starts if start <= line), min(start for start in starts if start > line)


def words(text):
    """Return the words of a text that say something."""
    found = WORD.findall(re.sub(r"\\[A-Za-z]+", " ", text.lower()))
    return {word[:5] for word in found if word not in LITTLE}


def values(text, decimals=0):
    """Return the numbers of a text that have two digits or more, and at least so many decimals."""
    found = [value for written, value in numbers(text) if len(written) > 1]
    return {value for value in found if -value.as_tuple().exponent >= decimals}


def secret(page, one, outputs):
    """Return what tells the answer of a prediction, and stands neither above it in its section nor in its question."""
    start, _ = section(page, one.first)
    above = [line.seen for line in lines(page) if start < line.number < one.first]
    true, sentence = one.choices[one.right] if one.choices else "", one.said[one.right]
    known = " ".join([one.question, *above, *(choice for choice in one.choices if choice != true)])
    others = " ".join([one.question, *one.choices, *(text for text in one.said if text != sentence)])
    veiled = [values(line.words, 2) for line in outputs if one.first < line.number < one.end]
    return Secret(
        words(true) - words(known),
        words(sentence) - words(others),
        words(" ".join([one.question, *one.choices, sentence])),
        set().union(values(true), values(sentence), *veiled) - {value for _, value in numbers(known)},
    )


def telling(page, run):
    """Yield (line, prediction) for each line that a reader sees before choosing and that tells the answer.

    Headings count wherever they stand, since the page lists them; else what stands behind the fold up to the first
    block of the next section, and the code below the choices.  A line tells by all words of the true choice, by two of
    its sentence, near the fold (two blocks) by three of the whole prediction, or by a number.
    """
    outputs = [Line(cell.line, "output", "", printed(result.outputs)) for cell, result in zip(page.cells, run)]
    found = predictions(page)
    closed = {number for one in found for number in range(one.first, one.end)} | folded(page)
    seen = [line for line in [*lines(page), *outputs] if line.number not in closed]
    for one in found:
        hidden, (_, following) = secret(page, one, outputs), section(page, one.first)
        last = block_end(page, following + 1)
        near = min(following, block_end(page, block_end(page, one.end)))
        behind = [line for line in seen if one.end <= line.number < last]
        for line in [*behind, *(line for line in seen if line.kind == "heading"), *code_below(page, one)]:
            found_in, within = words(line.seen), line.kind == "heading" or one.end <= line.number < following
            shared = len(hidden.whole & found_in) if one.end <= line.number < near else 0
            shown = values(line.words, 2 if line.kind == "output" else 0) if line in behind else set()
            named = hidden.choice and hidden.choice <= found_in
            if named or shared > 2 or (within and len(hidden.sentence & found_in) > 1) or hidden.numbers & shown:
                yield line, one


def folded(page):
    """Return the numbers of the lines that lie in folds."""
    boxes = [box for box in page.directives if box.name == "dropdown" or "hide-cell" in box.options.get("tags", [])]
    return {number for box in boxes for number in range(box.line + (box.name == "dropdown"), box.end)}


def code_below(page, one):
    """Return the lines of code that stay visible below the choices."""
    cell = next((cell for cell in page.cells if cell.line > one.first), None)
    if not cell or not one.choices or {"hide-input", "hide-cell"} & {*cell.tags}:
        return []
    return [Line(number, "code", text, "") for number, text in enumerate(cell.source.split("\n"), cell.content.first)]
