"""Give the site its colours, and take out of it what no page loads.

The palette of the figures becomes a stylesheet of the site, so that text, explorables and figures share one source.
"""

from pathlib import Path

PALETTE = "palette.css"
NOT_LOADED = ("**/*.map", "**/*.ttf", "scripts/fontawesome.js", "searchtools.js", "language_data.js")


def write_palette(app):
    """Write the colours of the figures into the site, where they are not there yet in this state."""
    path = Path(app.outdir) / "_static" / PALETTE
    source = f"/* from minitransformer.figures, state {Path(app.config.nb_execution_cache_path).name} */\n"
    if path.is_file() and path.read_text("utf8").startswith(source):
        return  # importing matplotlib takes longer than all else of a build without changes
    from minitransformer import figures

    path.parent.mkdir(parents=True, exist_ok=True)
    light = "".join(f"--mt-{role}:{shades[0]};" for role, shades in figures.PALETTE.items())
    # On paper all is light, whatever the screen shows; the doubled :root outranks the figures' own style sheets.
    path.write_text(f"{source}{figures.css()}@media print{{:root:root[data-theme]{{{light}}}}}", "utf8")


def lighten(app, exception):
    """Take out what no page loads, once all pages are written."""
    if exception or app.builder.format != "html":
        return
    for pattern in NOT_LOADED:
        for path in Path(app.outdir, "_static").glob(pattern):
            path.unlink()


def remove_pages(app, env, added, changed, removed):
    """Delete the pages of documents that are gone, which Sphinx leaves in the site."""
    if app.builder.format == "html":
        for name in removed:
            Path(app.builder.get_outfilename(name)).unlink(missing_ok=True)
    return []


def setup(app):
    """Connect what is written into the site and what is taken out of it."""
    app.add_css_file(PALETTE)
    app.connect("env-get-outdated", remove_pages)
    app.connect("builder-inited", write_palette)
    app.connect("build-finished", lighten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
