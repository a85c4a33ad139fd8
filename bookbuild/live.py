"""Serve the book, rebuild it when a file is saved and reload the open page: `python -m bookbuild.live [PORT]`."""

import subprocess
import sys

from livereload import Server

WATCHED = ("chapters", "reference", "bookbuild", "figs", "*.md", "*.yml", "*.bib")


def rebuild():
    """Build in a new process, which imports the helper package and the extensions afresh."""
    if subprocess.run(["make", "--no-print-directory", "book"], check=False).returncode:
        print("The build failed; the pages stay as they were until the next save.", flush=True)


def serve(port):
    """Build once, then serve on this machine and watch until Ctrl-C."""
    rebuild()
    server = Server()
    for name in WATCHED:
        server.watch(name, rebuild)
    print(f"Serving the book at http://127.0.0.1:{port}/ and watching for changes; Ctrl-C stops.", flush=True)
    server.serve(root="_build/html", host="127.0.0.1", port=port)


if __name__ == "__main__":
    try:
        serve(int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
    except OSError as error:
        sys.exit(f"The book could not be served ({error.strerror}): give another port, `make live PORT=8001`.")
