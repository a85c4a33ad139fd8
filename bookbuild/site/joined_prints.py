"""Show what a cell prints as it printed it, however busy the machine was.

A kernel sends what is printed in one message or in several, and myst-nb, told to merge these, ends a line after each:
a number could come out cut in two.
"""

from myst_nb.core import render


def joined(outputs):
    """Return the outputs of a cell, neighbours of one stream made one and not a character added."""
    whole = []
    for output in outputs:
        last = whole[-1] if whole else {}
        if output["output_type"] == "stream" and last.get("name") == output["name"]:
            last["text"] += output["text"]
        else:
            whole.append(output.copy())
    return whole


def register(app):
    """Put this in the place of myst-nb's own merging."""
    render.coalesce_streams = joined
