"""This book's Sphinx extension: every part of the site, set up in the order in which the parts build on each other."""

from importlib import import_module

PARTS = (
    *("prerendered_math", "fresh_execution", "joined_prints", "live_code", "small_drawings", "small_explorables"),
    *("site_search", "site_assets", "one_script", "one_stylesheet", "page_polish", "launch_everywhere"),
    *("notebook_copies", "previews", "fresh_downloads", "reading_time", "last_changed", "published_site"),
    *("social_cards", "build_record"),
)


def setup(app):
    """Set up each part."""
    for part in PARTS:
        import_module(f"{__name__}.{part}").setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
