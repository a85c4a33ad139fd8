"""Build the book into _build/html, warnings being errors: `python -m bookbuild.build`.

A script and not the command `jupyter-book`, whose first line cannot name a folder with a space, and whose error would
bury the cell that failed under three tracebacks.
"""

import sys

# jsonschema would import this optional checker of addresses, which takes longer than the rest of a build without
# changes and checks nothing here.
sys.modules["rfc3987_syntax"] = None

from jupyter_book.cli.main import main  # noqa: E402


def root_cause(error):
    """Return the exception that `error` came from in the end."""
    while error.__cause__:
        error = error.__cause__
    return error


if __name__ == "__main__":
    try:
        main(["build", ".", "-n", "-W", "--keep-going"])
    except RuntimeError as error:
        sys.exit(f"{root_cause(error)}\nThe book could not be built, for the reason above.")
