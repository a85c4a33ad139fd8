"""Processes, of which a page has one; gensim names them."""


class Process:
    """Stands for another process."""


def cpu_count():
    """Return the number of processors that this Python uses."""
    return 1
