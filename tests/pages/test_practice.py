"""Exercises on the page: each stands there in its form, and one of each form is solved in a browser.

What the pages' scripts say of all answers is tried in tests/practice, without a browser.
"""

import dataclasses
import itertools
import json
import re

import pytest
from playwright.sync_api import expect

from bookbuild import ROOT
from bookbuild.practice import lines, typed
from bookbuild.practice.forms import answers_of
from bookbuild.read.book import Book

CHAPTERS = Book(ROOT).chapters
RIGHT = "Right. Compare with the solution."
# Type texts into the fields of an answer, or choose by its number, and return what the page says.
TYPE = """(box, texts) => {
    box.querySelectorAll("input").forEach((input, i) => (input.value = texts[i]));
    box.querySelector(".main").click();
    return box.querySelector(".say").textContent;
}"""
CHOOSE = """(box, i) => {
    box.querySelectorAll(".option")[i].click();
    return box.querySelector(".say").textContent;
}"""
# Put lines into the function, in the order of their numbers, and return what the page says.
ORDER = """(box, numbers) => {
    for (const one of [...box.querySelectorAll(".answer .pick")]) one.click();
    const pieces = [...box.querySelectorAll(".pool .piece")].sort((a, b) => a.number - b.number);
    for (const number of numbers) pieces[number].querySelector(".pick").click();
    box.querySelector(".main").click();
    return box.querySelector(".say").textContent;
}"""
LINES = "(box) => [...box.querySelectorAll('.highlight-python .l')].map((line) => line.textContent.trimEnd())"
# Choose what is wrong with lines: [line, cause], each once, and take everything back in the end.
MEND = """(box, pairs) => {
    const act = () => {
        for (const [line, cause] of pairs) {
            box.querySelectorAll(".pick")[line].click();
            box.querySelectorAll(".option")[cause].click();
        }
    };
    act();
    const said = box.querySelector(".say").textContent;
    const code = [...box.querySelectorAll(".pick")].map((pick) => pick.textContent.trimEnd()).join("\\n");
    act();
    return [said, code];
}"""


def test_a_chapter_that_is_not_named_after_its_module_is_named_in_a_sentence():
    renamed = dataclasses.replace(CHAPTERS[2], file="chapters/03-shares.md")
    with pytest.raises(ValueError, match=r"^chapters/03-shares.md .*exercises.shares is missing: name .*\.$"):
        answers_of(renamed)


def blocks(box):
    """Return the statements that a box shows, the def line first; a continued line belongs to the one above it."""
    found = []
    for line in box.evaluate(LINES):
        if found and found[-1].count("(") + found[-1].count("[") > found[-1].count(")") + found[-1].count("]"):
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found[0], found[1:]


def try_typed(answer, box):
    """Return what the page says of the right numbers."""
    value = typed.flat(typed.as_value(answer.task, answer.form).right)
    texts = [", ".join(map(repr, value))] if getattr(answer.form, "shape", False) else [*map(repr, value)]
    return box.evaluate(TYPE, texts)


def try_pick(answer, box):
    """Return what the page says of the right statement."""
    return box.evaluate(CHOOSE, answer.task.right - 1)


def try_lines(answer, box):
    """Return what the page says of the solution's lines, after it has said that one is missing."""
    _, shown = blocks(box)
    order = [shown.index(piece) for piece in lines.pieces_of(answer.code)]
    assert box.evaluate(ORDER, order[:-1]).startswith("Not yet: "), answer.name
    return box.evaluate(ORDER, order)


def try_choice(answer, box):
    """Return what the page says of the only line that `check` accepts; the others get its hints."""
    head, shown = blocks(box)
    hints = [answer.says(f"{head}\n{line}").replace("`", "") for line in shown]  # what is in backticks is shown as code
    found = [box.evaluate(CHOOSE, i) for i in range(len(shown))]
    assert [said for said, hint in zip(found, hints) if hint] == [f"Not yet: {hint}" for hint in hints if hint]
    return found[hints.index("")]


def try_mend(answer, box):
    """Return what the page says of the causes that mend the code which it then shows, as `check` does."""
    shown = [line.strip() for line in box.evaluate(LINES)]
    causes = [(shown.index(line), len(options)) for line, options in answer.form.causes.items()]
    for state in itertools.product(*(range(-1, count) for _, count in causes)):
        pairs = [[line, chosen] for (line, _), chosen in zip(causes, state) if chosen >= 0]
        said, code = box.evaluate(MEND, pairs) if pairs else ("", "")
        if said == RIGHT:
            assert answer.says(code) == "", answer.name
            return said
    return f"no choice of causes mends {answer.name}"


# How an answer is asked for, and in which forms the page takes it.
KINDS = {
    **{kind: [kind] for kind in ("typed", "pick", "mend", "words")},
    "lines": ["lines", "choice"],
    "open": ["words"],
}
TRIES = {"typed": try_typed, "pick": try_pick, "lines": try_lines, "choice": try_choice, "mend": try_mend}


@pytest.fixture(scope="module")
def answers():
    """Return what the exercises of each page ask for: page -> {label: list of Answer}."""
    return {f"{chapter.page}.html": answers_of(chapter) for chapter in CHAPTERS}


def form_of(box):
    """Return in which form a box takes its answer: of numbers to type there are one, a row, a table or a list."""
    data = json.loads(box["data-answer"])
    return box["data-form"], len(data.get("shape", ())), data.get("list", False)


def test_every_exercise_stands_on_its_page_in_the_form_that_it_is_answered_in(answers, read):
    for page, found in answers.items():
        assert [label for label, each in found.items() if not each] == []
        boxes = [(json.loads(box["data-answer"])["name"], box["data-form"]) for box in read(page).select(".practice")]
        mine = [answer for each in found.values() for answer in each]
        assert [name for name, _ in boxes] == [answer.name for answer in mine]
        assert [name for (name, form), answer in zip(boxes, mine) if form not in KINDS[answer.kind]] == []


def test_an_exercise_of_each_form_can_be_solved_on_its_page(answers, read, server, visit):
    first, said = {}, {}
    for page, found in answers.items():
        for i, answer in enumerate(answer for each in found.values() for answer in each):
            first.setdefault(form_of(read(page).select(".practice")[i]), (page, i, answer))
    assert {form for form, *_ in first} == {*TRIES, "words"}
    visiting = visit(server, reduced_motion="reduce")
    for (form, *_), (page, i, answer) in first.items():
        if form != "words":
            box = visiting.open(page).locator(".practice").nth(i)
            expect(box).to_have_class(re.compile("ready"))
            said[answer.name] = TRIES[form](answer, box)
    assert said == dict.fromkeys(said, RIGHT)
    assert visiting.faults == []
