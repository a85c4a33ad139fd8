"""Widgets, which need a kernel that answers, and are not in the page's Python."""


class AnyWidget:
    """Stands for a widget."""

    def __init__(self, **_):
        raise ImportError("anywidget is not in the Python of this page: widgets move in JupyterLab.")
