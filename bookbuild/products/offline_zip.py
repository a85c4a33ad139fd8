"""Pack the built site into one zip, to read without a network: `python -m bookbuild.products.offline_zip`.

Unpacked anywhere, its index.html opens by a double click.  That cover does not offer the PDF and the zip, which it
could only fetch: the stylesheet hides what is of class `online`.
"""

import io
import zipfile

from bookbuild.products.downloads import COVER, file_names, hand_out, last_change, link_files
from bookbuild.site.model_file import FOLDER

FOR_SERVERS = {".buildinfo", ".nojekyll", "404.html", "objects.inv", "robots.txt", "sitemap.xml"}
HEAVY = ("_static/run_here/", f"{FOLDER}/")  # Python and the model, which only a server can hand out


def zip_bytes(book, site):
    """Return a zip, bytes, of what is of use without a server: one folder, all files with one date."""
    when, whole, files = last_change(site), io.BytesIO(), file_names(book)
    cover = link_files((site / COVER).read_text("utf8"), book, beside=())
    cover = cover.replace("<html ", "<html data-offline ", 1).encode("utf8")
    date = when.timetuple()[:6] if when else (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can name
    with zipfile.ZipFile(whole, "w") as archive:
        for path in sorted(path for path in site.rglob("*") if path.is_file()):
            name = path.relative_to(site).as_posix()
            if name not in FOR_SERVERS | {*files.values()} and not name.startswith(HEAVY):
                entry = zipfile.ZipInfo(f"{files['zip'].removesuffix('.zip')}/{name}", date)
                entry.create_system, entry.external_attr = 3, 0o644 << 16  # as on Unix, wherever this runs
                archive.writestr(entry, cover if name == COVER else path.read_bytes(), zipfile.ZIP_DEFLATED)
    return whole.getvalue()


if __name__ == "__main__":
    hand_out("zip", zip_bytes)
