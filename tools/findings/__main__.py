"""Measure findings, all or those that are named, and write the file and the page of them."""

import json
import sys
import time
import warnings

from bookbuild import ROOT
from bookbuild.base.files import replace_file

from .table import load_findings

FILE, PAGE = ROOT / "tests" / "text" / "findings.json", ROOT / "reference" / "findings.md"
BELOW = "## What was tried, chapter by chapter\n"
HEAD = "| finding | tried on | found | holds |\n|---|---|---|---|\n"


def key_of(each):
    """Return what a kept row says of a finding beside what was found."""
    return {"name": each.name, "chapter": each.chapter, "says": each.says, "tried": each.tried}


def kept_rows():
    """Return what the file has, by name."""
    rows = json.loads(FILE.read_text(encoding="utf-8"))["rows"] if FILE.exists() else []
    return {row["name"]: row for row in rows}


def measured(each):
    """Return the row of a finding, measured now."""
    found, holds = each.measure()
    return key_of(each) | {"found": found, "holds": bool(holds)}


def heading_of(chapter):
    """Return the heading of a chapter's table: its number and its title."""
    text = (ROOT / "chapters" / f"{chapter}.md").read_text(encoding="utf-8")
    title = next(line[2:] for line in text.splitlines() if line.startswith("# "))
    return f"\n### [Chapter {int(chapter[:2])}: {title}](../chapters/{chapter}.md)\n\n"


def tables(rows):
    """Return the page's tables, one for each chapter."""
    lines, last = [], None
    for row in rows:
        if row["chapter"] != last:
            lines.append(heading_of(row["chapter"]) + HEAD)
        lines.append(f"| “{row['says']}” | {row['tried']} | {row['found']} | {'yes' if row['holds'] else '**no**'} |\n")
        last = row["chapter"]
    return "".join(lines)


def page_with(text, rows):
    """Return the page with these rows in the place of its tables."""
    return text.partition(BELOW)[0] + BELOW + tables(rows)


def save(findings, rows):
    """Write the file and the page of findings of which there is a row; `rows` are {name: row}."""
    ordered = [rows[each.name] | key_of(each) for each in findings if each.name in rows]
    whole = {"about": "What came of each finding elsewhere.", "measured by": "make findings", "rows": ordered}
    replace_file(FILE, json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    replace_file(PAGE, page_with(PAGE.read_text(encoding="utf-8"), ordered))


def main(names, findings):
    """Measure the findings of these names, or all, and keep what came of each."""
    warnings.simplefilter("ignore")
    rows = kept_rows() if names else {}
    for each in findings:
        if names and each.name not in names:
            continue
        row = rows[each.name] = measured(each)
        print("holds" if row["holds"] else "FAILS", each.chapter, each.name, row["found"], flush=True)
    save(findings, rows)
    holding = sum(row["holds"] for row in rows.values())
    print(f"{holding} of {len(rows)} findings hold, in {time.process_time() / 60:.0f} minutes of one core.")


if __name__ == "__main__":
    main(sys.argv[1:], load_findings())
