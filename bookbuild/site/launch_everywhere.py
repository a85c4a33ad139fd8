"""Offer Binder on the pages that are no notebooks too, where the theme has no launch menu: it opens the chapters."""

from urllib.parse import urlsplit

from bookbuild.site.header_menus import LAUNCH, buttons


def address(theme):
    """Return the link to Binder that opens the folder of the chapters, by the options of the theme."""
    hub, repository = theme["launch_buttons"]["binderhub_url"], urlsplit(theme["repository_url"]).path
    return f"{hub}/v2/gh{repository}/{theme['repository_branch']}?urlpath=lab/tree/chapters"


def offer(app, pagename, templatename, context, doctree):
    """Put a launch menu before the other menus of a page that has none."""
    if buttons(context, LAUNCH):
        return
    link = {"type": "link", "text": "Binder", "tooltip": "Launch the chapters on Binder"}
    link |= {"url": address(app.config.html_theme_options), "icon": "_static/images/logo_binder.svg"}
    menu = {"type": "group", "tooltip": "Launch interactive content", "icon": "fas fa-rocket", "label": LAUNCH}
    context.setdefault("header_buttons", []).insert(0, menu | {"buttons": [link]})


def setup(app):
    """Connect the menu, after the theme and live code, which is for pages with cells."""
    app.connect("html-page-context", offer, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
