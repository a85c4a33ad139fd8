"""Replication of the book's findings: at other widths, depths, seeds, sentences and texts, and from all six starts.

`make findings` measures every row of the list anew, which takes some minutes, and writes what came of each into a file
and into the page *Findings*; `python -m tools.findings NAME …` measures these alone.
"""
