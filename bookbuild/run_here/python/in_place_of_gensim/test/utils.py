"""Where gensim's texts are."""

from pathlib import Path


def datapath(name):
    """Return the path of a text that comes with gensim."""
    return str(Path(__file__).parent / "test_data" / name)
