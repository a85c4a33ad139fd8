"""Exercises that a page can judge: Parsons problems, debugging and numeric answers."""
