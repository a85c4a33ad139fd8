"""What makes the site of this book and its copies: see the folders, each named after what it holds."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# jsonschema would import this optional checker of addresses, which takes seconds and checks nothing here.
sys.modules["rfc3987_syntax"] = None
