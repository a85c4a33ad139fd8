"""gensim's texts."""
