"""Count how long a chapter takes, and say so in the box at its head, beside the time that its exercises state.

The pace is that of a reader who wants to follow: 180 words of prose a minute (a story is read at about 240), 5 seconds
for a line of code, 20 for a displayed formula, 30 for a figure.  Code that is folded and the section of the exercises
are not counted, nor is what cells print; an exercise states its minutes itself.  The sum is rounded to 5 minutes, as
nobody reads by the clock.
"""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform

WORDS = 180  # a minute
SECONDS = {"lines": 5, "formulas": 20, "figures": 30}
STEP = 5  # minutes
STATED = "Reading time:"
EFFORT = re.compile(r"\b(?:Easy|Medium|Hard), (\d+) minutes")
FOLDED = "tag_hide-input"
NOT_PROSE = (nodes.raw, nodes.literal_block, nodes.math, nodes.math_block, nodes.comment)


def skipped(node):
    """Tell whether a reader goes past `node`: code that is folded, or the exercises."""
    if not isinstance(node, nodes.Element):
        return False
    folded = "cell_input" in node.get("classes", ()) and FOLDED in node.parent.get("classes", ())
    return folded or "exercises" in node.get("ids", ())


def parts(node):
    """Give the nodes below `node` that a reader goes through."""
    for child in node.children:
        if not skipped(child):
            yield child
            if not isinstance(child, NOT_PROSE):
                yield from parts(child)


def counts(document):
    """Return how many words, lines of code, displayed formulas and figures a page has."""
    read = list(parts(document))
    code = [node.astext() for node in read if isinstance(node, nodes.literal_block) and "output" not in node["classes"]]
    return {
        "words": sum(len(node.split()) for node in read if isinstance(node, nodes.Text)),
        "lines": sum(bool(line.strip()) for text in code for line in text.splitlines()),
        "formulas": sum(isinstance(node, nodes.math_block) for node in read),
        "figures": sum(isinstance(node, nodes.figure) for node in read),
    }


def minutes(words, **others):
    """Return the reading time, rounded to `STEP` minutes."""
    time = words / WORDS + sum(count * SECONDS[kind] for kind, count in others.items()) / 60
    return max(STEP, STEP * round(time / STEP))


class SayReadingTime(SphinxTransform):
    """Put the counted times in the place of those that the chapter's text states."""

    default_priority = 980

    def apply(self):
        """Replace the words after “Reading time:”, which a chapter's box has."""
        for label in [node for node in self.document.findall(nodes.emphasis) if node.astext() == STATED]:
            exercises = sum(map(int, EFFORT.findall(self.document.astext())))
            told = f" {minutes(**counts(self.document))} minutes, exercises {exercises} more."
            siblings = label.parent.children
            siblings[siblings.index(label) + 1 :] = [nodes.Text(told)]


def register(app):
    """Count the times of every page that is read."""
    app.add_transform(SayReadingTime)
