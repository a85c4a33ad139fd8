"""gensim's vectors, and in place of its compiled training a sentence."""

from .keyedvectors import KeyedVectors  # noqa: F401


class Word2Vec:
    """Stands for gensim's training."""

    def __init__(self, *_, **__):
        raise ImportError("gensim's compiled part is not in the Python of this page: run this on Binder, or at home.")
