"""Shows values in a page, as IPython does in a notebook."""

from driver import data_of, tell


class HTML:
    """A text in HTML."""

    def __init__(self, data):
        self.data = data

    def _repr_html_(self):
        return self.data


def display(*values):
    """Show values below the cell."""
    for value in values:
        tell("display_data", data=data_of(value))
