"""The builder of the book: its Sphinx extension, the PDF, the zip and the notebooks, each in its folder."""

from pathlib import Path

from bookbuild.patches import spare_checker_of_addresses

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("minitransformer", "companion")  # beside the chapters: what they build, and what helps a reader

spare_checker_of_addresses()
