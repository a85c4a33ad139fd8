"""Libraries in C, of which a page has none."""


class CDLL:
    """Stands for a library."""
