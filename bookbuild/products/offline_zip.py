"""Pack the built site into one zip, to read without a network: `python -m bookbuild.products.offline_zip`.

Unpacked anywhere, its index.html opens by a double click.
"""

import io
import sys
import zipfile

from bookbuild.products import downloads
from bookbuild.read.book import Book

FOR_SERVERS = {".buildinfo", ".nojekyll", "404.html", "objects.inv", "robots.txt", "sitemap.xml"}
EARLIEST = (1980, 1, 1, 0, 0, 0)  # that a zip can name


def packed(root, site):
    """Return a zip, bytes, of what is of use without a server: one folder, all files with one date."""
    book, when, whole = Book(root), downloads.moment(site), io.BytesIO()
    names = downloads.names(book)
    cover = downloads.linked((site / downloads.COVER).read_text("utf8"), book, held=()).encode("utf8")
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(path for path in site.rglob("*") if path.is_file()):
            name = path.relative_to(site).as_posix()
            if name not in FOR_SERVERS | {*names.values()}:
                date = when.timetuple()[:6] if when else EARLIEST
                entry = zipfile.ZipInfo(f"{names['zip'].removesuffix('.zip')}/{name}", date)
                entry.create_system, entry.external_attr = 3, 0o644 << 16  # as on Unix, wherever this runs
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, cover if name == downloads.COVER else path.read_bytes())
    return whole.getvalue()


if __name__ == "__main__":
    sys.exit(downloads.hand_out("zip", packed))
