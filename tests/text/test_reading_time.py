"""The reading time of a chapter: what is counted, and at which pace; and the time that the whole book takes."""

from types import SimpleNamespace

import pytest

from bookbuild.read.markdown import Page, parser
from bookbuild.read.times import reading, whole

EXTENSIONS = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
TEN, CODE, FORMULA = "word " * 2000, "code\n\n", "$$\na\\,b\n$$\n\n"  # minutes of prose
CELL = "```{{code-cell}} ipython3\n---\ntags: [{}]\nmystnb: {{}}\n---\n{}```\n\n"
FIGURE = '```{code-cell} ipython3\n---\nmystnb:\n  figure: {caption: ""}\ntags: [hide-input]\n---\nx\n```\n\n'


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("A word.", 5),
        (TEN, 10),
        ("word " * (2000 + 400), 10),
        ("word " * (2000 + 600), 15),
        (TEN + "`code` " * 600, 15),
        (TEN + "{term}`half` " * 600, 15),
        (TEN + "$a$ {math}`b` " * 600, 10),
        (TEN + "\n\n% " + "word " * 600, 10),
        (f"{TEN}\n\n:::{{admonition}} Title\n{'word ' * 600}\n:::\n", 15),
        (f"{TEN}\n\n:::{{dropdown}} What each choice says\n{'word ' * 600}\n:::\n", 15),
        (f"{TEN}\n\n:::{{dropdown}} Deeper: why?\n{'word ' * 600}\n\n{FORMULA * 9}\n:::\n", 10),
        (f"{TEN}\n\n:::{{dropdown}} Deeper: why?\nword\n:::\n\n{'word ' * 600}", 15),
        (f"{TEN}\n\n{CELL.format('', CODE) * 7}", 10),
        (f"{TEN}\n\n{CELL.format('', CODE * 9) * 8}", 15),
        (f"{TEN}\n\n{CELL.format('hide-input', CODE) * 99}", 10),
        (f"{TEN}\n\n```\n{CODE}```\n", 10),
        (f"{TEN}\n\n{FORMULA * 7}", 10),
        (f"{TEN}\n\n{FORMULA * 8}", 15),
        (f"{TEN}\n\n{FORMULA.rstrip()} (eq-a)\n\n{FORMULA * 7}", 15),
        (f"{TEN}\n\n\\begin{{align}}a\\end{{align}}\n\n{FORMULA * 7}", 15),
        (f"{TEN}\n\n{FIGURE * 7}", 10),
        (f"{TEN}\n\n{FIGURE * 8}", 15),
        (f"{TEN}\n\n{FIGURE.replace('hide-input', 'hide-cell') * 99}", 10),
        (f"{TEN}\n\n## Exercises\n\n{TEN}", 10),
        (f"{TEN}\n\n## Exercises\n\n{TEN}\n\n## Summary\n\n{TEN}", 20),
    ],
)
def test_what_is_gone_through_is_counted_at_the_pace_of_the_docstring(text, minutes):
    assert reading(Page(f"{text}\n\nend", "page.md", 1, parser(EXTENSIONS), 1)) == minutes


def test_the_whole_book_takes_the_time_of_its_chapters_from_the_shortest_on_and_of_all_exercises():
    exercise = "\n\n```{exercise-start} A\n```\n\n*Hard, 50 minutes.*\n\n```{exercise-end}\n```\n"
    texts = TEN, f"A word.{exercise}", TEN + exercise
    chapters = [Page(text, "page.md", 1, parser(EXTENSIONS), n) for n, text in enumerate(texts, 1)]
    stop = "or up to an hour where you stop to try things"
    assert whole(SimpleNamespace(chapters=chapters)) == (
        f"3 chapters of 5 to 10 minutes each, {stop}, and about 35 minutes of exercises with each"
    )
    alone = SimpleNamespace(chapters=chapters[:1])
    assert whole(alone) == f"1 chapters of 10 minutes each, {stop}, and about 0 minutes of exercises with each"
