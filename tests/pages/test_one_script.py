"""The joining of scripts, on small ones, and the link to the result in pages."""

from types import SimpleNamespace

import pytest
from sphinx.builders.html._assets import _JavaScript
from sphinx.errors import ExtensionError

from bookbuild.site.one_script import AT_ONCE, MENDED, NAME, THEME, joined, mended, minified, refuse_others, sources
from tests.shared.texts import ROOT


@pytest.fixture
def made(tmp_path):
    """Return a function that makes one script: texts stand for scripts of that text, names for files of the site."""

    def make(*scripts, **files):
        for name, text in files.items():
            (tmp_path / f"{name}.js").write_text(text, "utf8")
        pairs = [(f"{script}.js", None) if script in files else (None, script) for script in scripts]
        return minified(joined(tmp_path, pairs), ROOT)

    return make


def test_scripts_are_joined_in_their_order(made):
    script = made("a", "let second = first;", "b", a="first(1) // one", b="third(second)")
    assert script == "setTimeout(()=>{first(1)});let second=first;setTimeout(()=>{third(second)});\n"


def test_what_others_read_runs_at_once(made):
    name = AT_ONCE[0].removesuffix(".js")
    assert made(name, **{name: "const OPTIONS = 1"}) == "const OPTIONS=1;\n"


def test_scripts_that_end_without_a_semicolon_stay_apart(made):
    assert made("var f = b", "[h].map(g)") == "var f=b;[h].map(g);\n"


def test_letters_of_all_languages_stay(made):
    assert "«é»" in made("a", a='say("«é»")')


def test_a_script_that_cannot_be_read_is_named(made):
    with pytest.raises(ExtensionError, match=r"one script of the pages could not be made: .*Unexpected"):
        made("a", a="let = ;;)")


@pytest.mark.parametrize("name", THEME)
def test_what_the_theme_does_too_early_is_taken_out_of_its_script(site, name):
    before = (site / "_static" / name).read_text("utf8")
    after = mended(name, before)
    assert after.startswith("setTimeout(() => {")
    what, _instead = MENDED[name]
    assert what.search(before)
    assert not what.search(after)


@pytest.mark.parametrize("text", ["", "as it is"])
def test_a_theme_that_has_changed_stops_the_build(text):
    with pytest.raises(ExtensionError, match=rf"{THEME[0]} has changed: .* is there 0 times, not once"):
        mended(THEME[0], text)


def app(*scripts):
    """Return what stands for Sphinx with these scripts registered."""
    listed = {"_js_files": scripts, "_orig_js_files": scripts, "init_js_files": lambda: None}
    return SimpleNamespace(builder=SimpleNamespace(**listed))


def test_scripts_come_once_the_inline_ones_first_then_by_priority_but_for_those_that_nothing_uses():
    late, early = _JavaScript("_static/late.js", priority=900), _JavaScript("_static/early.js", priority=100)
    inline, unused = _JavaScript(None, body="let a"), _JavaScript("_static/doctools.js")
    unread = _JavaScript(None, body="DOCUMENTATION_OPTIONS.pagename = 'of one page'")
    found = sources(app(late, unused, inline, unread, _JavaScript(None, body="let a"), early))
    assert found == [(None, "let a"), ("_static/early.js", None), ("_static/late.js", None)]


def test_a_script_of_one_page_is_refused():
    known, other = _JavaScript("_static/a.js"), _JavaScript("_static/b.js")
    refuse_others(
        app(known), "page", "", {"script_files": [known, _JavaScript(None, body="DOCUMENTATION_OPTIONS.a")]}, 0
    )
    with pytest.raises(
        ExtensionError, match=r"page adds the script '_static/b.js': add it in `setup`, for all pages\."
    ):
        refuse_others(app(known), "page", "", {"script_files": [known, other]}, 0)


def test_every_page_loads_the_one_script_and_it_waits_for_the_text(read, site):
    others = {"search.html": ["_static/search.js"]}
    for page in site.rglob("*.html"):
        name = page.relative_to(site).as_posix()
        if name.startswith("_static") or name == "404.html":
            continue
        loaded = read(name)("script", src=True)
        first, *rest = (script["src"].rpartition("../")[2] for script in loaded)
        assert first.startswith(f"_static/{NAME}?v=")
        assert len(first.rpartition("=")[2]) == 10
        assert rest == others.get(name, [])
        assert all(script.has_attr("defer") for script in loaded)
