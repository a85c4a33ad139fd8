"""How long chapters take: to read, and to do their exercises.

A chapter is read at the pace of a reader who wants to follow: 200 words of prose a minute (a story is read at 240), and
20 seconds for each thing that one stops at, a cell whose code is seen, a displayed formula or a figure.  What is folded
to go deeper, folded code and the section of the exercises are not counted, nor is what cells print.  The sum is rounded
to 5 minutes, as nobody reads by the clock.  An exercise states its minutes itself.
"""

import itertools
import re

WORD, STOP = 60 / 200, 20  # seconds
EXERCISE = re.compile(r"\{exercise-start\} (.*)\n(?s:.*?)\b(Easy|Medium|Hard), (\d+) minutes")


def gone_through(chapter):
    """Yield the parts of a chapter, tokens and directives, that a reader goes through: no exercises, no *Deeper*."""
    headed = passed = False
    last, folded = 1, 0  # lines
    for token, line, box in chapter.parts:
        if headed:
            passed = token.content == "Exercises"
        headed = token.type == "heading_open" and token.tag == "h2"
        last = line or last
        if box and box.name == "dropdown" and box.argument.startswith("Deeper"):
            folded = box.end
        if not passed and last > folded:
            yield token, box


def seconds(token, box):
    """Return how long a part takes, without those in it."""
    if token.type == "inline":
        said = [part for part in token.children if part.type in ("text", "code_inline", "myst_role")]
        return sum(WORD * len(part.content.split()) for part in said if part.meta.get("name") != "math")
    if token.type in ("math_block", "amsmath") or (box and box.name == "math"):
        return STOP
    if not box:
        return STOP if token.type == "fence" else 0
    if box.name != "code-cell":
        return WORD * len(box.argument.split())
    if "hide-cell" in box.tags:
        return 0
    code = 0 if "hide-input" in box.tags else STOP
    return code + (STOP + WORD * len(box.figure["caption"].split()) if box.figure else 0)


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
    practice = 5 * round(sum(sum(minutes(chapter, "all")) for chapter in book.chapters) / len(times) / 5)
    return (
        f"{len(times)} chapters of {each} minutes each, or up to an hour where you stop to try things, "
        f"and about {practice} minutes of exercises with each"
    )
