"""Exercises on the page: each is there with all that it needs, and can be solved, and got wrong, in its own way."""

import dataclasses
import itertools

import pytest
from playwright.sync_api import expect

from bookbuild import ROOT
from bookbuild.practice import lines, typed
from bookbuild.practice.forms import asked
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
        asked(renamed)


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


TRIES = {"typed": try_typed, "pick": try_pick, "lines": try_lines, "choice": try_choice, "mend": try_mend}


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.name)
def test_every_exercise_of_a_chapter_can_be_solved_on_its_page(chapter, server, visit):
    visiting, found = visit(server, reduced_motion="reduce"), asked(chapter)
    tab, answers = visiting.open(f"{chapter.page}.html"), [answer for each in found.values() for answer in each]
    assert [label for label, each in found.items() if not each] == []
    boxes = tab.locator(".practice.ready")
    expect(boxes).to_have_count(len(answers))
    said = {}
    for i, answer in enumerate(answers):
        kind = boxes.nth(i).get_attribute("data-form")
        if kind != "words":
            said[answer.name] = TRIES[kind](answer, boxes.nth(i))
    assert {name: sentence for name, sentence in said.items() if sentence != RIGHT} == {}
    assert visiting.faults == []
