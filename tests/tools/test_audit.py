"""What `make audit` makes of Lighthouse's scores: medians, and a table in which what is below its bound is marked."""

import pytest

from tools.audit import LEAST, TOP, main, medians, table

BEST = dict.fromkeys(LEAST, 100)


def test_of_several_visits_to_a_page_the_median_counts():
    visits = [
        {"url": f"http://localhost:{port}{TOP}a%20b/%C3%A9.html", "summary": {**dict.fromkeys(LEAST, 1), "seo": score}}
        for port, score in ((1, 0.9), (2, 1), (2, None))
    ]
    assert medians(visits) == {"a b/é.html": {**BEST, "seo": 90}}


@pytest.mark.parametrize("category", LEAST)
def test_a_score_below_its_bound_is_marked_and_no_other(category):
    low = LEAST[category] - 1
    found = {"index.html": BEST, "a.html": {**BEST, category: low}, "b.html": {**BEST, "performance": 95}}
    told = [line.split() for line in table(found, whole=False).splitlines()]
    assert told[0] == list(LEAST) and [page for page, *_ in told[1:]] == [*found, "median"]
    assert [(page, cell) for page, *cells in told[1:] for cell in cells if "!" in cell] == [("a.html", f"{low}!")]


@pytest.mark.parametrize(("whole", "median"), [(True, "99!"), (False, "99")])
def test_five_points_less_than_all_is_a_good_performance_of_a_page_but_not_of_the_whole_book(whole, median):
    found = {f"{score}.html": {**BEST, "performance": score} for score in (95, 99, 100)}
    assert table(found, whole).splitlines()[-1].split()[:2] == ["median", median] and "95!" not in table(found, whole)


def test_a_page_that_is_not_there_is_refused_in_one_sentence():
    assert main(["absent.html"]).startswith("absent.html is not a page of ")
