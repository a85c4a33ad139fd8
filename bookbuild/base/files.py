"""Write files of the site so that no half of one is ever there, whenever the build is stopped."""


def written(path, content):
    """Write text or bytes to a file beside `path` and rename it; leave a file that says so already as it is."""
    data = content if isinstance(content, bytes) else content.encode("utf8")
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.new")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
