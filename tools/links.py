"""Ask for every link of the book and of what contributors read, and list the dead ones: `python -m tools.links`.

Sphinx's own check does the asking.  Some hosts refuse programs what they show to people: their answer, 403 or the
like, is no sign of a dead link and is only counted.  The list is also written to _build/dead-links.md.
"""

import json
import re
import sys

from jupyter_book.sphinx import build_sphinx

from bookbuild import ROOT
from bookbuild.base.files import remove, replace_file
from bookbuild.read.book import Book

FOLDER = ROOT / "_build" / "linkcheck"
MORE = "README.md", "CONTRIBUTING.md", "contributing"  # which are no pages of the book
REFUSAL = re.compile(r"(401|403|405|406|418|429|999)\b")


def check_links():
    """Let Sphinx ask; return what it found of each link to another host."""
    remove(FOLDER)
    patterns = [pattern for pattern in Book(ROOT).config["exclude_patterns"] if pattern not in MORE]
    settings = {"external_toc_path": str(ROOT / "_toc.yml"), "external_toc_exclude_missing": False}
    settings |= {"exclude_patterns": [*patterns, "_build"], "latex_individualpages": False}
    settings["linkcheck_report_timeouts_as_broken"] = False  # Sphinx warns of the other
    options = {"noconfig": True, "path_config": ROOT / "_config.yml", "builder": "linkcheck", "really_quiet": True}
    build_sphinx(ROOT, FOLDER, confoverrides=settings, **options)
    found = [json.loads(line) for line in (FOLDER / "output.json").read_text(encoding="utf-8").splitlines()]
    return [link for link in found if link["uri"].startswith("http")]


def sort_out(links):
    """Return the dead links as lines of Markdown, and how many were refused; RuntimeError where nothing answered."""
    broken = [link for link in links if link["status"] in ("broken", "timeout")]
    dead = [link for link in broken if not REFUSAL.match(link["info"])]
    if len(dead) == len(links):
        raise RuntimeError("No link answered: the check of the links needs the network; connect, then retry.")
    lines = [f"- `{link['filename']}:{link['lineno']}` {link['uri']}: {link['info'][:200]}" for link in dead]
    return sorted(lines), len(broken) - len(dead)


if __name__ == "__main__":
    try:
        links = check_links()
        dead, refused = sort_out(links)
    except (RuntimeError, OSError) as error:
        sys.exit(str(error))
    print(f"{len(links)} links were asked for; {refused} hosts refuse programs; {len(dead)} links are dead.")
    replace_file(ROOT / "_build" / "dead-links.md", "\n".join(dead))
    sys.exit("\n".join(dead) or 0)
