"""The part of gensim that is written in Python."""

__version__ = "4.4.0"
