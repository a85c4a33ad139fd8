"""In place of gensim's compiled reader."""


class MmReader:
    """Stands for the reader."""
