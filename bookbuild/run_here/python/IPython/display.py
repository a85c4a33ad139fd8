"""Shows values in a page, as IPython does in a notebook."""

from driver import display  # noqa: F401


class HTML:
    """A text in HTML."""

    def __init__(self, data):
        self.data = data

    def _repr_html_(self):
        return self.data
