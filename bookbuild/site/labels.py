"""Cross-references in one file: what labels, terms and citations lead to, as Sphinx has found and numbered them.

The file `labels.json` beside the site serves the notebook copies, also outside of a build.
"""

import json
from pathlib import Path
from urllib.parse import quote

from bookbuild.base.files import replace_file
from bookbuild.read.book import LABELS

FORMS = {"figure": "Fig. {}", "exercise": "Exercise {}"}  # what has a number is called by it
BIBLIOGRAPHY = "reference/bibliography.html"


def item_numbers(env):
    """Return the numbers of figures, exercises and equations: (page, id) -> (kind, number)."""
    return {
        (page, place): (kind, ".".join(map(str, number)))
        for page, kinds in env.toc_fignumbers.items()
        for kind, places in kinds.items()
        for place, number in places.items()
    }


def labels(env):
    """Return label -> [name, number, address] of all that the book can refer to."""
    numbered, found = item_numbers(env), {}
    for label, (page, place, title) in env.get_domain("std").labels.items():
        kind, number = numbered.get((page, place), ("", ""))
        found[label] = [FORMS[kind].format(number) if kind in FORMS else str(title), number, f"{page}.html#{place}"]
    for label, (page, _) in env.get_domain("math").equations.items():
        number = numbered[page, f"equation-{label}"][1]
        found[label] = [f"({number})", number, f"{page}.html#equation-{label}"]
    for term, (page, place) in env.get_domain("std")._terms.items():
        found[f"term:{term}"] = [term, "", f"{page}.html#{place}"]
    for key, entry in env.get_domain("cite").bibdata.data.entries.items():
        found[f"cite:{key}"] = [authors(entry), entry.fields["year"], work_address(entry)]
    return found


def authors(entry):
    """Return the family names of a work's authors, as a sentence has them: three or more are et al."""
    people = entry.persons.get("author") or entry.persons["editor"]
    names = [" ".join(map(str, person.rich_prelast_names + person.rich_last_names)) for person in people]
    return " and ".join(names) if len(names) < 3 else f"{names[0]} et al."


def work_address(entry):
    """Return the address of a work, or that of the bibliography where it has none, fit for a Markdown link."""
    if doi := entry.fields.get("doi"):
        return "https://doi.org/" + quote(doi, safe="/:;.")
    return entry.fields.get("url", BIBLIOGRAPHY).replace("(", "%28").replace(")", "%29")


def write_labels(app, env):
    """Write the file; no page need be written because of it alone."""
    if app.builder.format == "html":
        text = json.dumps(labels(env), ensure_ascii=False, indent=1)
        replace_file(Path(app.outdir).with_name(LABELS.name), text)
    return []
