"""The book in other formats: PDF, zip, and notebooks in plain Markdown."""
