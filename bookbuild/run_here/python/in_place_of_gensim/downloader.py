"""In place of gensim's downloads."""

BASE_DIR = "/gensim-data"


def load(*_, **__):
    """Say that there is no network."""
    raise OSError("the Python of this page has no network")
