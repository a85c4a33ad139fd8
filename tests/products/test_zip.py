"""The zip of the site, and the links of the cover to what is to be taken away."""

import html
import re
import shutil
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import url2pathname

import pytest
from bs4 import BeautifulSoup

from bookbuild.base import dates as edition
from bookbuild.products import downloads
from bookbuild.products import offline_zip as offline
from bookbuild.read.book import Book
from tools.environment import ROOT

BOOK = Book(ROOT)
PUBLISHED = {kind: f"{BOOK.address}/{downloads.name(BOOK, kind)}" for kind in downloads.KINDS}


def links(folder):
    """Return where the cover of a site leads to for the PDF and the zip."""
    cover = BeautifulSoup((folder / "index.html").read_text("utf8"), "html.parser")
    addresses = [link["href"] for link in cover.select("article a[href]")]
    return {address[-3:]: address for address in addresses if address.endswith((".pdf", ".zip"))}


@pytest.fixture
def copy(site, tmp_path):
    """Return a copy of the site's pages without what was taken from them before."""
    folder = tmp_path / "html"
    shutil.copytree(site, folder, ignore=shutil.ignore_patterns("*.pdf", "*.zip", "_static", "_sources", "_modules"))
    downloads.settle(ROOT, folder)
    return folder


# The links of the cover


def test_the_cover_leads_to_what_is_published(copy):
    assert links(copy) == PUBLISHED


@pytest.mark.parametrize("kind", downloads.KINDS)
def test_the_cover_of_a_site_that_holds_a_file_leads_to_it_and_back_again(copy, kind):
    (copy / downloads.name(BOOK, kind)).touch()
    downloads.settle(ROOT, copy)
    assert links(copy) == PUBLISHED | {kind: downloads.name(BOOK, kind)}
    downloads.forget(ROOT, copy)
    downloads.settle(ROOT, copy)
    assert links(copy) == PUBLISHED


def test_a_file_is_never_half_written(tmp_path, monkeypatch):
    path = tmp_path / "book.pdf"
    path.write_bytes(b"old")

    def full(self, content):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(path), "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        downloads.replace(path, b"new")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("book.pdf", b"old")]


# The date


def test_the_date_is_given_or_the_commits_and_never_the_clocks(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert edition.moment(tmp_path) == datetime(1970, 1, 2, tzinfo=UTC)
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert edition.moment(tmp_path) is None and edition.said(None) == ""
    monkeypatch.setattr(edition, "committed", lambda root: "1795000000\n")
    assert edition.said(edition.moment(tmp_path)) == "18 November 2026"


def test_without_git_there_is_no_date(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert edition.committed(ROOT) == ""


# The zip


@pytest.fixture(scope="module")
def unpacked(site, tmp_path_factory):
    """Return the zip's bytes, unpacked in a folder with a space and an accent."""
    place = tmp_path_factory.mktemp("à lire en train")
    whole = offline.zipped(offline.packed(site, BOOK), "book", None)
    (place / "book.zip").write_bytes(whole)
    with zipfile.ZipFile(place / "book.zip") as archive:
        archive.extractall(place)
    return SimpleNamespace(bytes=whole, folder=place / "book", file=place / "book.zip")


def test_the_zip_holds_one_folder_in_order_and_with_one_date(unpacked):
    with zipfile.ZipFile(unpacked.file) as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == sorted(entry.filename for entry in entries)
    assert {entry.filename.partition("/")[0] for entry in entries} == {"book"}
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}


def test_the_same_site_gives_the_same_bytes(unpacked, site):
    assert offline.zipped(offline.packed(site, BOOK), "book", None) == unpacked.bytes


def test_the_zip_is_small_and_leaves_out_what_is_for_servers(unpacked, site):
    assert 1e6 < len(unpacked.bytes) < 8e6
    names = {path.relative_to(unpacked.folder).as_posix() for path in unpacked.folder.rglob("*") if path.is_file()}
    there = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    assert there - names <= offline.FOR_SERVERS | {downloads.name(BOOK, kind) for kind in downloads.KINDS}
    assert not names & offline.FOR_SERVERS
    assert links(unpacked.folder) == PUBLISHED


def test_every_link_in_the_zip_leads_somewhere(unpacked):
    asked = set()
    for page in unpacked.folder.rglob("*.html"):
        if "_static" not in page.parts:
            addresses = set(re.findall(r'<[^<>]*\s(?:href|src)="([^"#?]+)', page.read_text("utf8")))
            asked |= {urlsplit(urljoin(page.as_uri(), html.unescape(address))) for address in addresses}
    files = {unquote(target.path) for target in asked if target.scheme == "file"}
    assert len(files) > 50
    assert [path for path in files if not Path(url2pathname(path)).exists()] == []


def test_the_unpacked_site_is_read_and_searched_without_a_network(unpacked, browser):
    tab = browser.new_context(offline=True).new_page()
    failed = []
    # A page that is left does not wait for what it was loading.
    tab.on("requestfailed", lambda asked: asked.failure == "net::ERR_ABORTED" or failed.append(asked.url))
    tab.on("request", lambda request: request.url.startswith("http") and failed.append(request.url))
    tab.goto((unpacked.folder / "index.html").as_uri())
    tab.locator("article a[href*='03-softmax']").first.click()
    tab.locator("article svg.mt-figure").first.wait_for()
    tab.locator(".mt-explorable").first.scroll_into_view_if_needed()
    tab.locator(".mt-live input").first.wait_for()
    assert failed == []
    tab.goto(f"{(unpacked.folder / 'search.html').as_uri()}?q=temperature")
    tab.locator("#search-results a[href*='chapters/03-softmax']").first.wait_for()
    tab.context.close()


def test_without_a_built_book_one_sentence_says_what_to_do(tmp_path, capsys):
    assert offline.main(ROOT, tmp_path) == 1
    assert re.fullmatch(r"\S+ holds no built book: run `make book`, then `make zip` again\.\n", capsys.readouterr().err)


def test_the_zip_is_put_into_the_site_which_then_leads_to_it(copy):
    path = offline.make(ROOT, copy)
    assert zipfile.is_zipfile(path)
    assert links(copy) == PUBLISHED | {"zip": path.name}
