"""gensim's dictionaries."""

from .dictionary import Dictionary  # noqa: F401
