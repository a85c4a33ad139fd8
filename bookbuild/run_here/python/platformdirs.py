"""The folder of what is kept, in the page's Python."""


def user_cache_dir(name):
    """Return the folder."""
    return f"/cache/{name}"
