"""How long chapters take: to read, and to do their exercises.

A chapter is read at the pace of a reader who wants to follow: 180 words of prose a minute (a story is read at 240),
5 seconds for a line of code, 20 for a displayed formula, 30 for a figure.  Code that is folded and the section of the
exercises are not counted, nor is what cells print.  The sum is rounded to 5 minutes, as nobody reads by the clock.
An exercise states its minutes itself.
"""

import itertools
import re

WORD, LINE, FORMULA, FIGURE = 60 / 180, 5, 20, 30  # seconds
EXERCISE = re.compile(r"\{exercise-start\} (.*)\n(?s:.*?)\b(Easy|Medium|Hard), (\d+) minutes")


def gone_through(chapter):
    """Yield the parts of a chapter, tokens and directives, that a reader goes through: not the exercises."""
    headed = passed = False
    for token, _, box in chapter.parts:
        if headed:
            passed = token.content == "Exercises"
        headed = token.type == "heading_open" and token.tag == "h2"
        if not passed:
            yield token, box


def seconds(token, box):
    """Return how long a part takes, without those in it."""
    if token.type == "inline":
        said = [part for part in token.children if part.type in ("text", "code_inline", "myst_role")]
        return sum(WORD * len(part.content.split()) for part in said if part.meta.get("name") != "math")
    if token.type in ("math_block", "amsmath") or (box and box.name == "math"):
        return FORMULA
    if not box:
        return LINE * lines(token.content) if token.type == "fence" else 0
    if box.name != "code-cell":
        return WORD * len(box.argument.split())
    code = 0 if {"hide-input", "hide-cell"} & {*box.tags} else LINE * lines(box.source)
    return code + (FIGURE + WORD * len(box.figure["caption"].split()) if box.figure else 0)


def lines(code):
    """Return how many lines of code are not empty."""
    return sum(bool(line.strip()) for line in code.split("\n"))


def reading(chapter):
    """Return the minutes that a chapter takes to read."""
    return max(5, 5 * round(sum(itertools.starmap(seconds, gone_through(chapter))) / 300))


def minutes(chapter, asked):
    """Return the minutes of the exercises that are `asked`: all, easy and medium, or titles with commas."""
    known = EXERCISE.findall(chapter.source)
    some = {"all": known, "easy and medium": [found for found in known if found[1] != "Hard"]}
    named = some.get(asked, [found for found in known if found[0] in asked.split(", ")])
    if asked not in some and len(named) != len(asked.split(", ")):
        titles = ", ".join(title for title, _, _ in known)
        raise ValueError(f"A plan of reference/teaching.md sets {asked!r} of {chapter.file}, which has: {titles}.")
    return [int(time) for _, _, time in named]


def whole(book):
    """Return how long the book takes, in words."""
    times = sorted(map(reading, book.chapters))
    each = " to ".join(map(str, dict.fromkeys((times[0], times[-1]))))
    hours = round(sum(sum(minutes(chapter, "all")) for chapter in book.chapters) / 60)
    return f"{len(times)} chapters of {each} minutes each, and {hours} hours of exercises"
