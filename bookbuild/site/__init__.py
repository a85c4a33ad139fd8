"""This book's Sphinx extension: every part of the site, and when in a build each does its work."""

from bookbuild.site import (
    answer_boxes,
    apart,
    assets,
    fill_in,
    fonts,
    formulas,
    frame,
    fresh_execution,
    glossary,
    inline_code,
    labels,
    model_file,
    notebook_copies,
    page_python,
    previews,
    published,
    search,
    this_build,
    translator,
    weights,
)

# What a build goes through, and who has work to do then, in this order; other extensions come before, but for FIRST.
FIRST = (
    ("config-inited", this_build.begin_build),
    ("builder-inited", this_build.use_new_folder),
)
HANDLERS = {
    "config-inited": (frame.choose_pages, fresh_execution.prepare_execution),
    "builder-inited": (assets.install, assets.write_assets, published.choose_address, search.leave_out_sphinx),
    "env-get-outdated": (this_build.read_again, fill_in.read_again),
    "env-before-read-docs": (this_build.read_open_page, fresh_execution.execute_ahead),
    "source-read": (fill_in.fill_places,),
    "doctree-read": (glossary.note_first_uses,),
    "env-updated": (previews.read_glossary,),
    "env-get-updated": (this_build.write_again, labels.write_labels),
    "doctree-resolved": (glossary.link_terms, weights.move_out, inline_code.minify_explorables),
    "html-collect-pages": (published.missing_page, search.add_page),
    "html-page-context": (
        translator.mend,
        frame.complete,
        frame.draw_map,
        assets.link,
        published.mark,
        notebook_copies.offer_notebook,
        page_python.offer_run_here,
        previews.write_previews,
        search.note_entries,
        apart.move_out,
    ),
    "build-finished": (
        assets.leave_out,
        page_python.write_runtime,
        model_file.complete_site,
        this_build.leave_out_old,
        search.write_index,
        published.write_lists,
        fonts.write_fonts,
        this_build.end_build,
    ),
}
LATE = 1000  # Sphinx calls what has a higher number later; 500 is what other extensions have


def setup(app):
    """Register what Sphinx is to know and connect all handlers."""
    for part in (this_build, frame, translator, answer_boxes, formulas, published):
        part.register(app)
    for event, handler in FIRST:
        app.connect(event, handler, priority=1)
    for event, handlers in HANDLERS.items():
        for place, handler in enumerate(handlers):
            app.connect(event, handler, priority=LATE + place)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
