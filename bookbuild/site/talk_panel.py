"""The panel on the page *Talk to the real model*: what stands there before the model is loaded, and its style.

The style goes with the panel, so that no other page has a byte of it (apart.py makes it a sheet of its own).
"""

import re
from html import escape
from pathlib import Path

from minitransformer.public_model.smollm2 import FILE, SHA256

PAGE = "reference/talk"
PLACE = "../_static/model"  # of the file, seen from the page
BYTES = 98_362_432
STYLE = Path(__file__).with_name("style") / "talk.css"
COMMENT = re.compile(r"/\*.*?\*/\s*", re.DOTALL)
BUTTONS = {  # what the page's script shows in each state: its name there -> class and words
    "load": ("main", f"Load the model ({BYTES / 1e6:.0f} MB)"),
    "start": ("main", "Start the model"),
    "pause": ("quiet", "Pause"),
    "goOn": ("main", "Go on"),
}


def button(name, kind, words, hidden=True):
    """Return a button of the panel."""
    return f'<button class="{kind}" data-do="{name}"{" hidden" if hidden else ""}>{words}</button>'


def panel(book):
    """Return the panel in Markdown, which is HTML there; without scripts it is nothing."""
    source = {"url": f"{PLACE}/{FILE}", "bytes": BYTES, "sha256": SHA256, "name": FILE}
    data = " ".join(f'data-{name}="{escape(str(value))}"' for name, value in source.items())
    buttons = [button(name, kind, words, name != "load") for name, (kind, words) in BUTTONS.items()]
    chosen = '<label class="quiet file" data-do="choose">Choose its file…<input type="file" accept=".gguf"></label>'
    inside = (
        f'<p class="talk-buttons">{"".join(buttons)}{chosen}{button("forget", "quiet", "Forget it")}</p>\n'
        '<p class="talk-state"><progress hidden aria-label="How much of the model has come"></progress>'
        '<span class="talk-words" tabindex="-1"></span><span class="heard" role="status"></span></p>\n'
        '<div class="talk-live"></div>'
    )
    style = COMMENT.sub("", STYLE.read_text("utf8"))
    return (
        f"```{{raw}} html\n<style>\n{style}</style>\n"
        f'<section class="talk scripted" aria-label="The model" {data}>\n{inside}\n</section>\n```'
    )
