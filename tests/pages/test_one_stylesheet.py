"""The joining and purging of stylesheets, on small ones, and the link to the result in pages."""

import re

import pytest
from sphinx.errors import ExtensionError

from bookbuild.site.one_stylesheet import NAME, link, one_stylesheet
from bookbuild.site.small_fonts import characters, drawings_of, icons

PAGE = '<p id="first" data-kind="long note">text that names .prose</p><a class="link used" href="x">a</a>'


@pytest.fixture
def made(tmp_path):
    """Return a function that makes one stylesheet of sheets, name -> text, for a page and a script."""

    def make(sheets, page=PAGE, script="", **options):
        for name, text in sheets.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, "utf8")
        return one_stylesheet([tmp_path / name for name in sheets], tmp_path, [page], [script], **options)

    return make


@pytest.mark.parametrize(
    "selector",
    [
        *(
            "p",
            "*",
            ":root",
            ":focus-visible",
            "::selection",
            ":is(p):hover",
            "::backdrop, .absent",
            "#first",
            ".used",
            "a.link:hover",
            "p>a::before",
            "[data-kind]",
            "[data-kind~=note]",
        ),
        *(":not(.absent)", ":is(p,.absent)", "p:has(.absent)", "@media print{p{", "@supports (display:grid){p{"),
    ],
)
def test_a_rule_for_what_a_page_holds_is_kept(made, selector):
    ends = "}" * selector.count("{")
    assert "color:red" in made({"a.css": selector.removesuffix("{") + "{color:red}" + ends[1:]})


@pytest.mark.parametrize(
    "selector",
    ["table", "#second", ".prose", ".absent", "p .absent", ".absent p", "[title]", "[data-kind=short]", ":is(.absent)"],
)
def test_a_rule_for_what_no_page_holds_goes(made, selector):
    assert made({"a.css": selector + "{color:red}"}).strip() == ""


@pytest.mark.parametrize(
    ("script", "selector"),
    [
        ('element.classList.add("shown")', ".shown"),
        ("document.createElement('dialog')", "dialog"),
        ("root.dataset.themeMode = 'dark'", "html[data-theme-mode=dark]"),
    ],
)
def test_a_rule_for_what_a_script_names_is_kept(made, script, selector):
    sheet = {"a.css": selector + "{color:red}"}
    assert "color:red" in made(sheet, page="<html></html>", script=script)
    assert "color:red" in made(sheet, page=f"<html><script defer>{script}</script></html>")
    assert "color:red" not in made(sheet, page="<html></html>")


def test_a_rule_for_what_is_listed_stays(made):
    sheet = {"a.css": ".listed{color:red}.listed .used{color:blue}.absent{color:green}"}
    assert re.findall(r"color:[#\w]+", made(sheet, keep=("listed",))) == ["color:red", "color:#00f"]


def test_the_order_of_the_sheets_is_kept(made):
    css = made({"b.css": "p{color:red}", "a.css": ".used{color:blue}", "c.css": '@import "a/d.css";', "a/d.css": "a{}"})
    assert css.index("p{") < css.index(".used{")


def test_addresses_count_from_the_place_of_the_result(made):
    face = '@font-face{font-family:F;src:url(../fonts/f.woff2) format("woff2"),url(../fonts/f.ttf) format("truetype")}'
    css = made({"deep/er/a.css": face + "p{font-family:F;background:url('dot.svg')}a{background:url(data:,x)}"})
    assert re.findall(r"url\(\"?([^\")]*)", css) == ["deep/fonts/f.woff2", "deep/er/dot.svg", "data:,x"]


def test_fonts_animations_and_variables_that_nothing_uses_go(made):
    css = made({
        "a.css": "@font-face{font-family:F;src:url(f.woff2)}@keyframes k{to{top:0}}:root{--gone:1;--read:2;--set:3}"
        "p{order:var(--set)}"
    }, script="style.getPropertyValue('--read')")  # fmt: skip
    assert css.strip() == ":root{--read:2;--set:3}p{order:var(--set)}"


def test_a_sheet_that_is_not_there_is_named(made, tmp_path):
    with pytest.raises(ExtensionError, match=r"could not be made: Could not resolve .*gone\.css.$"):
        one_stylesheet([tmp_path / "gone.css"], tmp_path, [PAGE], [])


def test_pages_of_one_and_of_several_builds_link_to_the_same_stylesheet(tmp_path):
    """A build that writes one page leaves the others with the hash of an earlier one."""
    folder = tmp_path / "chapters"
    folder.mkdir()
    pages = {tmp_path / "index.html": ("", ""), folder / "new.html": ("../", ""), folder / "old.html": ("../", "0a1b")}
    for page, (up, digest) in pages.items():
        page.write_text(f'<link rel="stylesheet" href="{up}_static/{NAME}?v={digest}" /> naïve', "utf8")
    link(tmp_path, NAME, "c0ffee")
    for page, (up, _digest) in pages.items():
        assert page.read_text("utf8") == f'<link rel="stylesheet" href="{up}_static/{NAME}?v=c0ffee" /> naïve'


def test_icons_are_what_the_stylesheet_shows():
    assert icons(r'.a:before{content:"\f062"}.b:before{content:"\e000"}.c{content:"\201c"}') == "\ue000\uf062"


def test_a_font_of_formulas_gets_the_characters_that_katex_draws_with_it():
    drawn = '<span class="katex-html" aria-hidden="true"><span class="mord">x</span><span>∑&lt;</span></span>'
    bold = drawn.replace('"mord">x', '"mord mathbf" style="top:0">z')
    drawings = drawings_of([f"<p>hidden</p><math>y</math>{drawn}</div><p>é</p>", bold])
    assert characters(drawings, "KaTeX_Main-Regular.woff2") == "<xz∑"
    assert characters(drawings, "KaTeX_Main-Bold.woff2") == "z"
