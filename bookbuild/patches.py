"""Monkey patches of libraries, each with its reason; they last as long as the process, which builds one book."""

import functools
import sys


def spare_checker_of_addresses():
    """Let jsonschema, which nbformat uses, import no checker of addresses, which takes seconds and checks nothing."""
    sys.modules["rfc3987_syntax"] = None


def find_plugins_once():
    """Let pybtex look through all that is installed once for each of its plugins, and not for each citation."""
    from pybtex import plugin

    plugin._load_entry_point = functools.cache(plugin._load_entry_point)


def tell_no_traceback():
    """Let Jupyter Book return what stopped it: it would tell each error in a traceback and ask for a report."""
    from jupyter_book import sphinx

    sphinx.handle_exception = lambda *_: None


def execute_by(client):
    """Let myst-nb execute notebooks by `client`: its own cache knows a notebook by its cells alone.

    After a change in the helper package, in an explorable or in a library it would go on showing old outputs; and where
    a build was killed, half of an execution in it stops the next one.
    """
    from myst_nb.core import execute

    execute.NotebookClientCache = client


def keep_social_cards(kept):
    """Let sphinxext-opengraph take cards by `kept(draw, …)`, `draw` being its own function: drawing takes time."""
    from sphinxext import opengraph

    opengraph.create_social_card = functools.partial(kept, opengraph.create_social_card)


def write_sources(wanted):
    """Let viewcode write the pages of all sources or of none.

    Asked for each, it would import each module of the helper to compare its date with a page's.
    """
    from sphinx.ext import viewcode

    viewcode.should_generate_module_page = lambda *_: wanted


def go_by_no_dates(builder):
    """Let a builder find no page out of date by the dates of files, which a copy keeps: handlers tell it which are."""
    builder.get_outdated_docs = list


def write_into(app, folder):
    """Let Sphinx write into another folder than the one that it began with; the builder has a copy of the name."""
    app.outdir = app.builder.outdir = type(app.outdir)(folder)


def mark_quoted_words():
    """Let MyST give `_cat_` the class "word": a word that is spoken of, where `*cat*` is what a voice stresses."""
    from myst_parser.mdit_to_docutils.base import DocutilsRenderer

    render = DocutilsRenderer.render_em

    def render_em(renderer, token):
        render(renderer, token)
        if token.markup == "_":
            renderer.current_node[-1]["classes"].append("word")

    DocutilsRenderer.render_em = render_em
