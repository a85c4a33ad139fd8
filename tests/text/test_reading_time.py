"""The reading time of a chapter: what is counted, and at which pace."""

import pytest

from bookbuild.read.markdown import Page, parser
from tools.lists import reading

EXTENSIONS = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
TEN, LINE, FORMULA = "word " * 1800, "code\n\n", "$$\na\\,b\n$$\n\n"  # minutes of prose
CELL = "```{{code-cell}} ipython3\n---\ntags: [{}]\nmystnb: {{}}\n---\n{}```\n\n"
FIGURE = '```{code-cell} ipython3\n---\nmystnb:\n  figure: {caption: ""}\ntags: [hide-input]\n---\nx\n```\n\n'


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("A word.", 5),
        (TEN, 10),
        ("word " * (1800 + 400), 10),
        ("word " * (1800 + 500), 15),
        (TEN + "`code` " * 500, 15),
        (TEN + "{term}`half` " * 500, 15),
        (TEN + "$a$ {math}`b` " * 500, 10),
        (TEN + "\n\n% " + "word " * 500, 10),
        (f"{TEN}\n\n:::{{admonition}} Title\n{'word ' * 500}\n:::\n", 15),
        (f"{TEN}\n\n{CELL.format('', LINE) * 29}", 10),
        (f"{TEN}\n\n{CELL.format('', LINE) * 31}", 15),
        (f"{TEN}\n\n{CELL.format('hide-input', LINE) * 99}", 10),
        (f"{TEN}\n\n```\n{LINE * 31}```\n", 15),
        (f"{TEN}\n\n{FORMULA * 7}", 10),
        (f"{TEN}\n\n{FORMULA * 8}", 15),
        (f"{TEN}\n\n{FORMULA.rstrip()} (eq-a)\n\n{FORMULA * 7}", 15),
        (f"{TEN}\n\n\\begin{{align}}a\\end{{align}}\n\n{FORMULA * 7}", 15),
        (f"{TEN}\n\n{FIGURE * 4}", 10),
        (f"{TEN}\n\n{FIGURE * 6}", 15),
        (f"{TEN}\n\n## Exercises\n\n{TEN}", 10),
        (f"{TEN}\n\n## Exercises\n\n{TEN}\n\n## Summary\n\n{TEN}", 20),
    ],
)
def test_what_is_gone_through_is_counted_at_the_pace_of_the_docstring(text, minutes):
    assert reading(Page(f"{text}\n\nend", "page.md", 1, parser(EXTENSIONS), 1)) == minutes
