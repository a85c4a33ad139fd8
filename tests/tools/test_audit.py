"""What `make audit` does without Lighthouse: serve the site as GitHub Pages does, judge what was found, print it."""

import gzip
import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tools import audit
from tools.audit import LEAST, AuditError, faults, measured, pages, repeated, served, table

PAGE = "<title>A page</title>" * 100


@pytest.fixture
def site(tmp_path):
    """Return a small site, in a folder with a space and an accent."""
    site = tmp_path / "le site"
    files = {
        "index.html": PAGE,
        "404.html": "gone",
        "_static/a.js": "1;" * 100,
        "_static/part.html": "",
        "a b/é.html": "",
    }
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
    (site / "font.woff2").write_bytes(bytes(1000))
    (tmp_path / "secret.html").write_text("secret", encoding="utf-8")
    return site


def get(address, encoding="gzip"):
    """Return the answer to a request and its body."""
    request = urllib.request.Request(address, headers={"Accept-Encoding": encoding})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer, answer.read()


# The server


@pytest.mark.parametrize(("name", "kind"), [("index.html", "text/html"), ("_static/a.js", "application/javascript")])
def test_text_is_served_compressed_and_may_be_kept_ten_minutes(site, name, kind):
    with served(site, "/book") as top:
        answer, body = get(top + name)
        _, plain = get(top + name, encoding="identity")
    assert gzip.decompress(body) == plain == (site / name).read_bytes()
    assert len(body) < len(plain) / 5
    assert answer.headers["Content-Type"].split("; ") == [kind, "charset=utf-8"]
    assert (answer.headers["Content-Encoding"], answer.headers["Cache-Control"]) == ("gzip", "max-age=600")


def test_what_is_compressed_in_itself_is_served_as_it_is(site):
    with served(site, "/book") as top:
        answer, body = get(f"{top}font.woff2")
    assert body == bytes(1000) and not answer.headers["Content-Encoding"]


def test_a_folder_answers_with_its_index_and_a_name_may_hold_any_letter(site):
    with served(site, "/book") as top:
        assert gzip.decompress(get(top)[1]) == PAGE.encode()
        assert get(f"{top}a%20b/%C3%A9.html")[0].status == 200


@pytest.mark.parametrize("path", ["book/absent.html", "index.html", "book/../secret.html", "book/%2e%2e/secret.html"])
def test_all_else_is_answered_by_the_page_for_what_is_missing(site, path):
    with served(site, "/book") as top, pytest.raises(urllib.error.HTTPError, match="404") as caught:
        get(top.removesuffix("book/") + path, encoding="identity")
    assert caught.value.read() == b"gone"


def test_the_book_is_served_below_the_name_of_its_repository():
    assert audit.base() == "/transformers-from-the-dot-product-up"


# The judgement


def row(page="index.html", failed=(), **scores):
    """Return a row of the table in which all is at its best but `scores`."""
    best = {"page": page, **dict.fromkeys(LEAST, 100), "LCP s": 1.234, "CLS": 0.0, "kB": 123.4, "failed": list(failed)}
    return {**best, **scores}


@pytest.mark.parametrize(
    ("category", "score", "failed"),
    [("performance", 97, ()), ("accessibility", 99, ["label"]), ("best-practices", 96, ["x"]), ("seo", 91, ["y"])],
)
def test_a_page_below_a_bound_is_named_with_what_failed(category, score, failed):
    (fault,) = faults([row(), row("a.html", failed, **{category: score}), row()])
    assert fault.startswith(f"a.html: {category} {score}, at least {LEAST[category]} is asked for")
    assert all(name in fault for name in failed)


def test_two_points_less_than_all_is_a_good_performance_of_a_page_but_not_of_the_median():
    assert faults([row(), row(performance=98), row()]) == []
    assert faults([row(), row(performance=98), row(performance=99)]) == [
        "the median of performance is 99, 100 is asked for"
    ]
    assert faults([row(performance=98)], whole=False) == []


def test_the_table_has_a_line_for_each_page_and_ends_with_the_median():
    lines = table([row("a.html", kB=10), row("chapters/b.html", performance=90, kB=30)]).splitlines()
    assert [line.split()[0] for line in lines] == ["page", "a.html", "chapters/b.html", "median"]
    assert lines[2].split()[1:] == ["90", "100", "100", "100", "1.23", "0.000", "30.0"]
    assert lines[3].split()[1:] == ["95", "100", "100", "100", "1.23", "0.000", "20.0"]
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize(
    ("scores", "visits", "chosen"), [([100], 1, 100), ([90, 100, 97], 3, 97), ([90, 95, 80], 3, 90)]
)
def test_a_page_that_is_not_at_its_best_is_visited_again_and_the_median_counts(scores, visits, chosen):
    left = list(scores)
    assert repeated(lambda: row(performance=left.pop(0)), times=3)["performance"] == chosen
    assert len(left) == len(scores) - visits


def report(*requests, failing=""):
    """Return a report such as Lighthouse's."""
    checks = {"color-contrast": 7, "label": 7, "manual": 0, "meta-description": 1}
    audits = {name: {"score": 0 if name in (failing, "manual") else 1} for name in checks}
    listed = [{"url": url, "transferSize": size, "resourceType": kind} for url, size, kind in requests]
    audits |= {name: {"numericValue": 1500} for name in audit.METRICS.values()}
    audits["network-requests"] = {"details": {"items": listed}}
    parts = {"accessibility": ["color-contrast", "label", "manual"], "seo": ["meta-description"]}
    categories = {
        name: {"score": 0.995, "auditRefs": [{"id": check, "weight": checks[check]} for check in parts.get(name, [])]}
        for name in LEAST
    }
    visited = {"finalDisplayedUrl": "http://127.0.0.1:1/book/", "environment": {"benchmarkIndex": 1200.5}}
    return {"categories": categories, "audits": audits, **visited}


def test_weight_and_requests_are_counted_with_pictures_and_other_hosts_apart():
    row = measured(
        "index.html",
        report(
            ("http://127.0.0.1:1/book/", 30_000, "Document"),
            ("http://127.0.0.1:1/book/a.png", 5_000, "Image"),
            ("https://example.org/a.js", 1_000, "Script"),
            ("data:image/svg+xml,x", 700, "Image"),
        ),
    )
    assert (row["kB"], row["with pictures"], row["requests"], row["other hosts"]) == (31, 36, 3, 1)
    assert (row["LCP s"], row["TBT ms"], row["machine"]) == (1.5, 1500, 1200.5)


def test_a_check_that_failed_is_named_unless_it_does_not_count():
    assert measured("a.html", report(failing="label"))["failed"] == ["label"]
    assert measured("a.html", report())["failed"] == []


# What is looked at


def test_all_pages_are_looked_at_or_those_that_are_wanted(site):
    assert pages(site) == ["404.html", "a b/é.html", "index.html"]
    assert pages(site, ["index.html"]) == ["index.html"]


def test_a_page_or_a_site_that_is_not_there_is_refused_in_one_sentence(site, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    for wanted in (["--site", str(tmp_path / "empty")], ["--site", str(site), "absent.html"]):
        assert audit.main(wanted) == 1
        assert capsys.readouterr().err.count("\n") == 1


def test_without_a_network_one_sentence_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "empty"))
    with pytest.raises(AuditError, match="^Lighthouse could not be fetched .* needs the network") as caught:
        audit.install(tmp_path / "work")
    assert "\n" not in str(caught.value)


def test_what_lighthouse_cannot_look_at_is_said(tmp_path, monkeypatch):
    said = {"runtimeError": {"message": "The page did not paint."}}

    def stands_for_lighthouse(command, **_):
        (path,) = [part.partition("=")[2] for part in command if part.startswith("--output-path=")]
        Path(path).write_text(json.dumps(said), encoding="utf-8")

    monkeypatch.setattr(audit, "node", stands_for_lighthouse)
    with pytest.raises(AuditError, match="did not paint"):
        audit.visit("program", "chromium", "http://127.0.0.1:1/", tmp_path)
