"""Draw the README's picture, figs/page.png, from the built book: `python -m tools.page_picture [PAGE[#PLACE]]`."""

import io
import sys

from PIL import Image
from playwright.sync_api import sync_playwright

from bookbuild import ROOT
from bookbuild.base.browser import NO_SANDBOX, chosen
from bookbuild.base.files import written

LIMIT = 300_000  # bytes
SIZE = {"width": 1280, "height": 830}


def photograph(place):
    """Return a page of the built book, `place` at its top, as a PNG of 128 colours, which flat pages do not show."""
    file, _, anchor = place.partition("#")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chosen(), args=NO_SANDBOX)
        page = browser.new_page(viewport=SIZE, device_scale_factor=1.5, color_scheme="light")
        page.goto((ROOT / "_build" / "html" / file).as_uri())
        page.wait_for_load_state("networkidle")
        if anchor:  # scrolled to, and not opened at, which would mark the heading
            page.evaluate("id => document.getElementById(id).scrollIntoView()", anchor)
        png = page.screenshot()
    small = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(128).save(small, "PNG", optimize=True)
    return small.getvalue()


def draw(place="chapters/02-dot-product.html#fig-two-vectors"):
    """Write figs/page.png, but not where it would be too large for a README; say which."""
    png = photograph(place)
    if len(png) > LIMIT:
        sys.exit(f"The picture has {len(png):,} bytes, more than {LIMIT:,}: choose a quieter place.")
    written(ROOT / "figs" / "page.png", png)
    print(f"{place} is drawn in figs/page.png ({len(png):,} bytes).")


if __name__ == "__main__":
    draw(*sys.argv[1:2])
