"""What makes the site of this book and its copies: see the folders, each named after what it holds."""

from pathlib import Path

from bookbuild.patches import spare_checker_of_addresses

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("minitransformer", "companion")  # beside the chapters: what they build, and what helps a reader

spare_checker_of_addresses()
