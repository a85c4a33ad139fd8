"""What cells use of IPython, in the page's Python."""  # noqa: N999
