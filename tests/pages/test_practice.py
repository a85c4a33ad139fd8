"""Exercises on the page: each form gives the verdict of `check` on right answers and on all known mistakes."""

import dataclasses
import itertools

import numpy as np
import pytest
from playwright.sync_api import expect

from bookbuild import ROOT
from bookbuild.practice import lines, typed
from bookbuild.practice.forms import asked
from bookbuild.read.book import Book
from minitransformer.checks import find_hint

CHAPTERS = Book(ROOT).chapters
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
# Put lines into the function, in the order of their numbers, and return what the page says and which it marks.
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


RIGHT = "Right. Compare with the solution."


def said(hint):
    """Return what the page says where `check` gives a hint, none where the answer is right."""
    mark = "Nearly" if hint.startswith("right, ") else "Not yet"
    return f"{mark}: {hint.removeprefix('not yet: ')}" if hint else RIGHT


@pytest.fixture(scope="module", params=CHAPTERS, ids=lambda chapter: chapter.name)
def tried(request, browser, site):
    """Return the answers of a chapter, each with its box on the page."""
    tab = browser.new_context().new_page()
    tab.goto(f"{site.as_uri()}/{request.param.page}.html")
    answers = [answer for found in asked(request.param).values() for answer in found]
    boxes = tab.locator(".practice.ready")
    expect(boxes).to_have_count(len(answers))
    yield [(answer, boxes.nth(i)) for i, answer in enumerate(answers)]
    tab.context.close()


def of_form(tried, *kinds):
    """Return the answers of some forms, as the page has them, with their boxes."""
    return [(answer, box) for answer, box in tried if box.get_attribute("data-form") in kinds]


def test_every_exercise_is_answered_on_the_page(tried, request):
    chapter = request.node.callspec.params["tried"]
    assert all(asked(chapter).values())


def test_a_chapter_that_is_not_named_after_its_module_is_named_in_a_sentence():
    renamed = dataclasses.replace(CHAPTERS[2], file="chapters/03-shares.md")
    with pytest.raises(ValueError, match=r"^chapters/03-shares.md .*exercises.shares is missing: name .*\.$"):
        asked(renamed)


def test_what_is_typed_gets_the_verdict_of_check(tried):
    for answer, box in of_form(tried, "typed"):
        value = typed.as_value(answer.task, answer.form)
        shape = getattr(answer.form, "shape", False)
        for hint, one in [("", value.right), *value.wrong.items()]:
            if shape or typed.is_typable(one, value.right):
                texts = [repr(float(x)) for x in np.ravel(one)]
                found = box.evaluate(TYPE, [", ".join(texts)] if shape else texts)
                assert found.strip() == said(find_hint(value, one)), (answer.name, hint)


def test_what_is_rounded_is_said_to_be_so(tried):
    for answer, box in of_form(tried, "typed"):
        value = typed.as_value(answer.task, answer.form)
        if not typed.is_whole(value.right):
            for digits in range(1, 7):
                one = np.round(value.right, digits)
                found = box.evaluate(TYPE, [repr(float(x)) for x in np.ravel(one)]).strip()
                hint = find_hint(value, one)
                unknown = "Not yet: you have "  # what follows are the numbers, which Python writes in another way
                assert found == said(hint) or (found.startswith(unknown) and said(hint).startswith(unknown)), (
                    answer.name
                )


def test_what_is_chosen_gets_the_verdict_of_check(tried):
    for answer, box in of_form(tried, "pick"):
        found = [box.evaluate(CHOOSE, i).strip() for i in range(box.locator(".option").count())]
        assert found == [said(find_hint(answer.task, i + 1)) for i in range(len(found))], answer.name


def blocks(box):
    """Return the statements that a box shows, the def line first; a continued line belongs to the one above it."""
    found = []
    for line in box.evaluate(LINES):
        if found and found[-1].count("(") + found[-1].count("[") > found[-1].count(")") + found[-1].count("]"):
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found[0], found[1:]


def test_each_line_to_choose_gets_the_verdict_of_check(tried):
    for answer, box in of_form(tried, "choice"):
        head, shown = blocks(box)
        hints = [answer.says(f"{head}\n{line}") for line in shown]
        assert [box.evaluate(CHOOSE, i).strip() for i in range(len(shown))] == [said(hint) for hint in hints]
        assert hints.count("") == 1, answer.name


def test_each_order_of_lines_gets_the_verdict_of_check(tried):
    for answer, box in of_form(tried, "lines"):
        head, shown = blocks(box)

        def tell(order, head=head, shown=shown, answer=answer, box=box):
            """Return what `check` and the page say of an order."""
            try:
                hint = answer.says("\n".join([head, *(shown[i] for i in order)]))
            except SyntaxError as error:
                hint = str(error)
            return hint, box.evaluate(ORDER, order).strip()

        written = [shown.index(piece) for piece in lines.pieces_of(answer.code)]
        assert tell(written) == ("", RIGHT)
        assert box.evaluate(ORDER, written[:-1]).startswith("Not yet: "), answer.name
        for order in itertools.islice(itertools.permutations(written), 60):
            hint, found = tell(order)
            dead = found.endswith("is never reached: the function has returned.")
            assert (found == RIGHT) == (not hint) or dead, (answer.name, order)
            assert found in (said(hint), RIGHT) or found.startswith("Not yet: line "), (answer.name, order)
        for stranger in set(range(len(shown))) - {*written}:
            place = lines.replaced_by(shown[stranger].strip(), [shown[i].strip() for i in written])
            hint, found = tell([*written[:place], stranger, *written[place + 1 :]])
            assert hint in answer.task.wrong
            assert found == said(hint), (answer.name, shown[stranger])


def test_each_repair_gets_the_verdict_of_check(tried):
    for answer, box in of_form(tried, "mend"):
        shown, hints = [line.strip() for line in box.evaluate(LINES)], []
        causes = [(shown.index(line), len(options)) for line, options in answer.form.causes.items()]
        for state in itertools.product(*(range(-1, count) for _, count in causes)):
            pairs = [[line, chosen] for (line, _), chosen in zip(causes, state) if chosen >= 0]
            if pairs:
                found, code = box.evaluate(MEND, pairs)
                hints.append(answer.says(code))
                if hints[-1] and hints[-1] not in answer.task.wrong:  # what `check` knows no hint for
                    assert found.startswith("Not yet: "), (answer.name, state)
                else:
                    assert found.strip() == said(hints[-1]), (answer.name, state)
        assert "" in hints, answer.name
