"""Draw the book's logo and favicon, a query and a key with the angle between them, and the README's picture.

    python figs/draw.py        writes favicon.svg, logo.png and page.png beside this file

The logo stands on a field of its own, so that one file serves light and dark pages.  The picture is the top of the
cover, so the book has to be built.
"""

from pathlib import Path

from playwright.sync_api import sync_playwright

from bookbuild import ROOT
from bookbuild.base.browser import NO_SANDBOX, chosen
from companion.figures import PALETTE

FIELD, QUERY, KEY, ANGLE = PALETTE["query"][0], "#ffffff", PALETTE["key"][1], PALETTE["weight"][1]


def arrow(x, y, colour, width):
    """Return an arrow from the point (14, 50) to (x, y), the head drawn in the arrow's own direction."""
    dx, dy = x - 14, y - 50
    length = (dx * dx + dy * dy) ** 0.5
    ux, uy = dx / length, dy / length
    bx, by = x - 13 * ux, y - 13 * uy
    head = f"{x:.1f} {y:.1f} {bx - 6 * uy:.1f} {by + 6 * ux:.1f} {bx + 6 * uy:.1f} {by - 6 * ux:.1f}"
    return (
        f'<path d="M14 50L{bx:.1f} {by:.1f}" stroke="{colour}" stroke-width="{width}"/>'
        f'<polygon points="{head}" fill="{colour}"/>'
    )


def mark(width):
    """Return the mark as an SVG file's text, its lines `width` units wide in a square of 64."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64">'
        f'<rect width="64" height="64" rx="13" fill="{FIELD}"/>'
        f'<path d="M36 45A23 23 0 0 0 27 31" fill="none" stroke="{ANGLE}" stroke-width="{width}"/>'
        f"{arrow(34, 9, QUERY, width)}{arrow(57, 40, KEY, width)}"
        f'<circle cx="14" cy="50" r="{width + 2}" fill="{QUERY}"/></svg>\n'
    )


def photograph(chromium, path):
    """Save a picture of the cover as it opens, down to the caption of its figure."""
    tab = chromium.new_page(viewport={"width": 1280, "height": 1200}, color_scheme="light")
    tab.goto((ROOT / "_build" / "html" / "index.html").as_uri())
    bare = ".contents, .fold { display: none !important }"
    wide = "main { grid-column: 1 / -1 !important; padding-top: 1rem !important }"
    tab.add_style_tag(content=bare + wide)
    box = tab.locator("main figure").first.bounding_box()
    tab.screenshot(path=path, clip={"x": 0, "y": 0, "width": 1280, "height": box["y"] + box["height"] + 24})


def main():
    """Write all three: the favicon with wide lines, since it is seen at 16 pixels, and the logo for cards."""
    here = Path(__file__).parent
    (here / "favicon.svg").write_text(mark(6), encoding="utf-8", newline="\n")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chosen(), args=NO_SANDBOX)
        tab = chromium.new_page(viewport={"width": 64, "height": 64}, device_scale_factor=4)
        tab.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block }}</style>{mark(4)}")
        tab.screenshot(path=here / "logo.png", omit_background=True)
        photograph(chromium, here / "page.png")
        chromium.close()


if __name__ == "__main__":
    main()
