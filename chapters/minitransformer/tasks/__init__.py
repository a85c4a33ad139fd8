"""Made-up tasks for models: rows of digits reversed, numbers in French words, sentences translated."""
