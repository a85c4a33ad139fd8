"""What `make audit` makes of Lighthouse's reports: which pages, which numbers, which bounds."""

import json

import pytest

from tools import audit
from tools.audit import COLUMNS, LEAST, faults, pages, rows, table


def row(**scores):
    """Return a row of the table in which all is at its best but `scores`."""
    return {**dict.fromkeys(COLUMNS, 0.0), **dict.fromkeys(LEAST, 100), **scores}


@pytest.mark.parametrize("category", LEAST)
def test_a_page_below_a_bound_is_named(category):
    (fault,) = faults({"index.html": row(), "a.html": row(**{category: LEAST[category] - 1}), "b.html": row()}, whole=True)
    assert fault == f"a.html: {category} {LEAST[category] - 1}, at least {LEAST[category]} is asked for"


def test_two_points_less_than_all_is_a_good_performance_of_a_page_but_not_of_the_median():
    found = {"a.html": row(performance=98), "b.html": row(performance=99), "c.html": row()}
    assert faults(found, whole=True) == ["the median of performance is 99, 100 is asked for"]
    assert faults(found, whole=False) == []


def test_the_table_has_a_line_for_each_page_and_ends_with_the_median():
    lines = table({"a.html": row(kB=10), "chapters/b.html": row(performance=90, kB=30)}).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["a.html", "chapters/b.html", "median"]
    assert lines[3].split()[1:5] == ["95", "100", "100", "100"] and "20.0" in lines[3]
    assert len({len(line) for line in lines}) == 1


def report(folder, number, page, performance):
    """Write a report such as Lighthouse's."""
    audits = {name: {"numericValue": 1500} for name in ("largest-contentful-paint", "total-blocking-time")}
    audits["cumulative-layout-shift"] = {"numericValue": 0}
    requests = [{"transferSize": size, "resourceType": kind} for size, kind in ((30_000, "Document"), (5_000, "Image"))]
    audits["network-requests"] = {"details": {"items": requests}}
    about = {"requestedUrl": f"http://localhost:{number}/{page}", "environment": {"benchmarkIndex": 1200}}
    categories = {name: {"score": 1} for name in LEAST} | {"performance": {"score": performance}}
    (folder / f"lhr-{number}.json").write_text(json.dumps({**about, "categories": categories, "audits": audits}), "utf-8")


def test_the_median_visit_to_a_page_counts_without_its_pictures(tmp_path):
    for number, performance in enumerate((0.9, 1, 0.97)):
        report(tmp_path, number, "a%20b/%C3%A9.html", performance)
    ((page, found),) = rows(tmp_path).items()
    assert (page, found["performance"], found["kB"], found["LCP s"]) == ("/a b/é.html", 97, 30, 1.5)


def test_all_pages_are_looked_at_or_those_that_are_wanted(tmp_path):
    for name in ("index.html", "chapters/a.html", "_static/part.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert pages([], tmp_path) == ["chapters/a.html", "index.html"]
    assert pages(["index.html"], tmp_path) == ["index.html"]
    for wanted, site in ((["absent.html"], tmp_path), ([], tmp_path / "absent")):
        with pytest.raises(audit.AuditError, match="^[^\n]+$"):
            pages(wanted, site)
