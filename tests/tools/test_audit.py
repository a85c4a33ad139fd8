"""What `make audit` makes of Lighthouse's reports: which pages, which numbers, which bounds."""

import json

import pytest

from tools.audit import COLUMNS, LEAST, AuditError, faults, pages, rows, table


def row(**scores):
    """Return a row of the table in which all is at its best but `scores`."""
    return {**dict.fromkeys(COLUMNS, 0.0), **dict.fromkeys(LEAST, 100), **scores}


@pytest.mark.parametrize("category", LEAST)
def test_a_page_below_a_bound_is_named(category):
    least = LEAST[category]
    found = {"index.html": row(), "a.html": row(**{category: least - 1}), "b.html": row()}
    assert faults(found, whole=True) == [f"a.html: {category} {least - 1}, at least {least} is asked for"]


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
    written = json.dumps({**about, "categories": categories, "audits": audits})
    (folder / f"lhr-{number}.json").write_text(written, encoding="utf-8")


def test_the_median_visit_to_a_page_counts_without_its_pictures(tmp_path):
    for number, performance in enumerate((0.9, 1, 0.97)):
        report(tmp_path, number, "a%20b/%C3%A9.html", performance)
    ((page, found),) = rows(tmp_path).items()
    assert (page, found["performance"], found["kB"], found["LCP s"]) == ("/a b/é.html", 97, 30, 1.5)


@pytest.mark.parametrize("wanted", [[], ["absent.html"]])
def test_a_page_or_a_site_that_is_not_there_is_refused_in_one_sentence(tmp_path, wanted):
    (tmp_path / "_static").mkdir()
    (tmp_path / ("index.html" if wanted else "_static/part.html")).touch()
    with pytest.raises(AuditError, match="^[^\n]+$"):
        pages(wanted, tmp_path)
