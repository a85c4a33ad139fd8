"""Pack the built site into one zip, to read without a network: `python -m bookbuild.products.offline_zip`.

Unpacked anywhere, its index.html opens by a double click.
"""

import io
import sys
import zipfile

from bookbuild import ROOT
from bookbuild.base.dates import moment
from bookbuild.products import downloads
from bookbuild.read.book import Book

SITE = ROOT / "_build" / "html"
FOR_SERVERS = {".buildinfo", ".nojekyll", "404.html", "objects.inv", "robots.txt", "sitemap.xml"}
EARLIEST = (1980, 1, 1, 0, 0, 0)  # that a zip can name


def packed(site, book):
    """Return the files of a site that are of use without a server, name -> content, in the order of their names."""
    left_out = FOR_SERVERS | {downloads.name(book, kind) for kind in downloads.KINDS}
    files = {path.relative_to(site).as_posix(): path for path in site.rglob("*") if path.is_file()}
    contents = {name: files[name].read_bytes() for name in sorted(files) if name not in left_out}
    cover = contents[downloads.COVER].decode("utf8")
    return contents | {downloads.COVER: downloads.linked(cover, book, held=()).encode("utf8")}


def zipped(contents, folder, when):
    """Return a zip, bytes, of files in one folder, all with one date."""
    date, whole = when.timetuple()[:6] if when else EARLIEST, io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", date)
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # as on Unix, wherever this runs
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return whole.getvalue()


def make(root, site):
    """Write the zip into the site; return its path."""
    if not (site / downloads.COVER).is_file():
        raise FileNotFoundError(f"{site.name} holds no built book: run `make book`, then `make zip` again.")
    book = Book(root)
    path = site / downloads.name(book, "zip")
    downloads.replace(path, zipped(packed(site, book), path.stem, moment(root)))
    downloads.settle(root, site)
    return path


def main(root=ROOT, site=SITE):
    """Make the zip and say where it is; return the exit code."""
    try:
        path = make(root, site)
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"The site to read offline is {path.relative_to(root)} ({path.stat().st_size / 1e6:.1f} MB).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
