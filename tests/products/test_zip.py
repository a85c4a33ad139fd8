"""The zip of the site, and the links of the cover to what is to be taken away."""

import zipfile
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

from bookbuild import ROOT
from bookbuild.products import downloads
from bookbuild.products import offline_zip as offline
from bookbuild.read.book import Book

BOOK = Book(ROOT)
NAMES = downloads.file_names(BOOK)
PUBLISHED = {kind: f"{BOOK.address}/{name}" for kind, name in NAMES.items()}


def links(folder):
    """Return where the cover of a site leads to for the PDF and the zip."""
    cover = BeautifulSoup((folder / "index.html").read_text("utf8"), "html.parser")
    addresses = [link["href"] for link in cover.select("article a[href]")]
    return {address[-3:]: address for address in addresses if address.endswith((".pdf", ".zip"))}


@pytest.fixture
def cover(site, tmp_path):
    """Return a site of the cover alone, as the build leaves it."""
    page = (site / "index.html").read_text("utf8")
    (tmp_path / "index.html").write_text(downloads.link_files(page, BOOK, beside=()), "utf8")
    return tmp_path


def test_the_cover_leads_to_what_was_handed_out_and_else_to_the_published_file(cover, capsys):
    assert links(cover) == PUBLISHED
    downloads.hand_out("pdf", lambda book, site: b"content", cover)
    assert (cover / NAMES["pdf"]).read_bytes() == b"content" and NAMES["pdf"] in capsys.readouterr().out
    assert links(cover) == PUBLISHED | {"pdf": NAMES["pdf"]}
    fork = Book(ROOT)
    fork.__dict__["address"] = "https://example.org/a-fork"
    page = downloads.link_files((cover / "index.html").read_text("utf8"), fork, beside=())
    assert all(f'href="https://example.org/a-fork/{name}"' in page for name in NAMES.values())


def test_a_full_disk_is_said_in_a_sentence_and_spoils_nothing(cover, monkeypatch):
    (cover / NAMES["zip"]).write_bytes(b"old")

    def full(self, content):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(SystemExit, match=r"^[^\n]*No space left on device[^\n]*run `make zip` again\.$"):
        downloads.hand_out("zip", lambda book, site: b"new", cover)
    assert sorted(path.name for path in cover.iterdir()) == sorted(["index.html", NAMES["zip"]])
    assert (cover / NAMES["zip"]).read_bytes() == b"old"


def test_the_date_is_that_of_the_newest_page_and_never_the_clocks(tmp_path):
    sitemap = tmp_path / "sitemap.xml"
    days = ("2026-11-21", "2026-11-22", "2026-03-30")
    sitemap.write_text("".join(f"<lastmod>{day}</lastmod>" for day in days), "utf8")
    assert downloads.last_change(tmp_path) == datetime(2026, 11, 22)
    sitemap.write_text("<urlset></urlset>", "utf8")
    assert downloads.last_change(tmp_path) is None


@pytest.fixture(scope="module")
def unpacked(site, tmp_path_factory):
    """Return the zip, unpacked in a folder with a space and an accent."""
    place = tmp_path_factory.mktemp("à lire en train")
    file = place / "book.zip"
    file.write_bytes(offline.zip_bytes(BOOK, site))
    with zipfile.ZipFile(file) as archive:
        archive.extractall(place)
        entries = archive.infolist()
    return SimpleNamespace(file=file, entries=entries, folder=place / NAMES["zip"].removesuffix(".zip"))


def test_the_zip_is_one_folder_and_the_same_for_the_same_site(unpacked, site):
    names = [entry.filename for entry in unpacked.entries]
    assert {name.partition("/")[0] for name in names} == {unpacked.folder.name}
    assert len({entry.date_time for entry in unpacked.entries}) == 1
    assert offline.zip_bytes(BOOK, site) == unpacked.file.read_bytes()


def test_the_zip_is_small_and_leaves_out_only_what_is_for_servers(unpacked, site):
    assert 1e6 < unpacked.file.stat().st_size < 9e6
    names = {path.relative_to(unpacked.folder).as_posix() for path in unpacked.folder.rglob("*") if path.is_file()}
    there = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    heavy = {name for name in there if name.startswith(offline.HEAVY)}
    assert names == there - offline.FOR_SERVERS - heavy - {*NAMES.values()}
    changed = [name for name in names if (unpacked.folder / name).read_bytes() != (site / name).read_bytes()]
    assert set(changed) <= {downloads.COVER}
    assert links(unpacked.folder) == PUBLISHED


def test_a_copy_without_a_network_offers_nothing_that_has_to_be_fetched(unpacked, visit):
    tab = visit(unpacked.folder.as_uri()).open("index.html")
    offered = tab.locator(", ".join(f"article a[href$='{name}']" for name in NAMES.values()))
    assert offered.count() == 2
    assert offered.locator("visible=true").count() == 0
    assert tab.locator("li:visible", has_text="Download").count() == 0
