"""Find the menus in the head of a page, which the theme makes and which launch, live code and copies add to."""

LAUNCH, DOWNLOAD = "launch-buttons", "download-buttons"


def buttons(context, menu):
    """Return the list of buttons of `menu`, to be changed in place; an empty list where the page has no such menu."""
    return next((group["buttons"] for group in context.get("header_buttons", ()) if group.get("label") == menu), [])
