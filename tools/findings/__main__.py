"""Measure findings, all or those that are named, and write the file and the page of them."""

import json
import re
import sys
import time
import warnings
from collections import Counter

import numpy as np

from bookbuild import ROOT
from bookbuild.base.files import replace_file

from .bounds import verdict
from .table import load_findings

FILE, PAGE = ROOT / "tests" / "text" / "findings.json", ROOT / "reference" / "findings.md"
BELOW = "## What was tried, chapter by chapter\n"
KEY = "name", "chapter", "says", "number", "tried", "rival", "bound", "same"


def key_of(each):
    """Return what a kept row says of a finding beside what was found."""
    return {name: getattr(each, name) for name in KEY}


def kept_rows():
    """Return what the file has, by name."""
    rows = json.loads(FILE.read_text(encoding="utf-8"))["rows"] if FILE.exists() else []
    return {row["name"]: row for row in rows}


def measured(each):
    """Return what is kept of a finding, measured now: words, and numbers to four digits."""
    found, values = each.measure()
    return {
        "found": re.sub(r"(?<=\d)%", " %", found),
        "values": {name: [float(f"{x:.4g}") for x in np.ravel(v)] for name, v in values.items()},
    }


def heading_of(chapter):
    """Return the heading of a chapter's part: its number and its title."""
    text = (ROOT / "chapters" / f"{chapter}.md").read_text(encoding="utf-8")
    title = next(line[2:] for line in text.splitlines() if line.startswith("# "))
    return f"\n### [Chapter {int(chapter[:2])}: {title}](../chapters/{chapter}.md)\n"


def entry(row):
    """Return the entry of a row: what it came to and what the chapter said, what was found, and the bounds."""
    number, rival = row["number"] and f" ({row['number']})", row["rival"] and f"; *instead of:* {row['rival']}"
    return (
        f"\n**{row['verdict']}**: “{row['says']}”{number}{rival}\n"
        f": *Tried on* {row['tried']}.\n  *Found:* {row['found']}.\n"
        f": *Fails unless* {row['bound']}; *the same if* {row['same']}.\n"
    )


def listed(rows):
    """Return how many rows came to what, and their entries, chapter by chapter."""
    count, rivals = Counter(row["verdict"] for row in rows), sum(bool(row["rival"]) for row in rows)
    head = f"{count['same']} the same elsewhere, {count['weaker']} weaker, {count['fails']} failed"
    lines, last = [f"\n{len(rows)} findings: {head}; {rivals} of them try a rival.\n"], None
    for row in rows:
        if row["chapter"] != last:
            lines.append(heading_of(row["chapter"]))
        lines.append(entry(row))
        last = row["chapter"]
    return "".join(lines)


def page_with(text, rows):
    """Return the page with these rows in the place of its own."""
    return text.partition(BELOW)[0] + BELOW + listed(rows)


def save(findings, kept):
    """Write the file and the page of findings that were measured; `kept` has what was found, by name."""
    rows = [
        key_of(each)
        | {name: kept[each.name][name] for name in ("found", "values")}
        | {"verdict": verdict(each, kept[each.name]["values"])}
        for each in findings
        if each.name in kept
    ]
    whole = {"about": "What came of each finding elsewhere.", "measured by": "make findings", "rows": rows}
    replace_file(FILE, json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    replace_file(PAGE, page_with(PAGE.read_text(encoding="utf-8"), rows))
    return Counter(row["verdict"] for row in rows)


def main(names, findings):
    """Measure the findings of these names, or all, and keep what came of each; with "-", only judge anew."""
    warnings.simplefilter("ignore")
    kept = kept_rows() if names else {}
    for each in findings:
        if names and each.name not in names:
            continue
        row = kept[each.name] = measured(each)
        print(verdict(each, row["values"]), each.chapter, each.name, row["found"], flush=True)
    count = save(findings, kept)
    said = ", ".join(f"{count[word]} {word}" for word in ("same", "weaker", "fails"))
    print(f"{said}, in {time.process_time() / 60:.0f} minutes of one core.")


if __name__ == "__main__":
    main(sys.argv[1:], load_findings())
