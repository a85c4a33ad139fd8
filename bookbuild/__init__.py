"""What makes the site of this book and its copies: see the folders, each named after what it holds."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
