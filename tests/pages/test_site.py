"""The built site as files: links, ids, hosts, outputs and figures, without a browser."""

import itertools
import re
from collections import Counter
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pydata_sphinx_theme
import pytest
import yaml
from fontTools.ttLib import TTFont

from bookbuild.site.one_stylesheet import NAME

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))
ADDRESS = CONFIGURATION["repository"]["url"]
BRANCH = CONFIGURATION["repository"]["branch"]
OWNER_AND_NAME = urlsplit(ADDRESS).path.strip("/")
LOADING = {  # the elements that make a browser load something, and the attributes that say what
    **dict.fromkeys(("script", "img", "iframe", "source", "video", "audio", "embed", "track"), ("src", "srcset")),
    "link": ("href",),
    "object": ("data",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
}
IN_STYLE = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])([^"')]+)""")


@pytest.fixture(scope="session")
def ids(read):
    """Return a function that gives the set of all ids on a page."""
    return cache(lambda page: {element["id"] for element in read(page).select("[id]")})


@pytest.fixture(scope="session")
def icons():
    """Return the theme's icons as a dict, class -> character."""
    theme = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static" / "styles"
    css = (theme / "pydata-sphinx-theme.css").read_text("utf8")
    rules = re.findall(r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\([0-9a-f]{4})"', css)
    return {name: chr(int(code, 16)) for names, code in rules for name in re.findall(r"\.(fa-[\w-]+)", names)}


@pytest.fixture(scope="session")
def drawn(site):
    """Return the set of the characters that an icon font of the site draws and its stylesheet uses."""
    css = (site / "_static" / NAME).read_text("utf8")
    fonts = [TTFont(path).getBestCmap() or {} for path in site.rglob("fontawesome/**/*.woff2")]
    return {code for font in fonts for code in font if f'content:"\\{code:04x}"' in css}


def loaded(soup):
    """Return the addresses that a page makes the browser load."""
    elements = [element for element in soup.find_all(list(LOADING)) if element.get("rel") != ["canonical"]]
    found = [element[name] for element in elements for name in LOADING[element.name] if element.get(name)]
    styles = [style.get_text() for style in soup("style")] + [element["style"] for element in soup.select("[style]")]
    return found + [address for style in styles for address in IN_STYLE.findall(style)]


def chapter_names():
    """Return the sources of the chapters, relative to the book, in the order of the table of contents."""
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))["parts"]
    entries = [entry["file"] for part in parts for entry in part["chapters"]]
    return [f"{entry}.md" for entry in entries if entry.startswith("chapters/")]


def test_every_link_within_the_site_leads_somewhere(page, read, ids, site):
    lost = []
    for element in read(page).select("a[href], area[href]"):
        target = urlsplit(urljoin(f"http://site/{page}", element["href"]))
        if target.netloc != "site":
            continue
        path = unquote(target.path).removeprefix("/")
        anchor = unquote(target.fragment) if path.endswith(".html") else ""
        if not (site / path).is_file() or (anchor and anchor not in ids(path)):
            lost.append(element["href"])
    assert not lost


def test_every_file_that_a_page_loads_is_there(page, read, site):
    addresses = [urlsplit(address) for address in loaded(read(page))]
    paths = [Path(page).parent / unquote(address.path) for address in addresses if not address.scheme and address.path]
    assert [path.as_posix() for path in paths if not (site / path).exists()] == []


def test_nothing_is_loaded_from_another_host(page, read):
    assert [address for address in loaded(read(page)) if urlsplit(address).netloc] == []


def test_no_stylesheet_loads_from_another_host(site):
    sheets = {path.name: IN_STYLE.findall(path.read_text("utf8")) for path in site.rglob("*.css")}
    assert {name: found for name, found in sheets.items() if any(urlsplit(address).netloc for address in found)} == {}


def test_a_page_has_one_main_heading(page, read):
    assert len(read(page)("h1")) == 1


def test_headings_skip_no_level(page, read):
    levels = [int(heading.name[1]) for heading in read(page).select("main :is(h1, h2, h3, h4, h5, h6)")]
    assert levels[0] == 1
    assert [pair for pair in itertools.pairwise(levels) if pair[1] > pair[0] + 1] == []


def test_ids_are_unique(page, read):
    count = Counter(element["id"] for element in read(page).select("[id]"))
    assert [name for name, times in count.items() if times > 1] == []


def test_a_page_describes_itself(page, read):
    assert len(read(page).select_one("meta[name=description]")["content"]) > 20


def test_formulas_are_drawn(page, read):
    article = read(page).article
    assert [formula.get_text()[:60] for formula in (article or ()) and article.select(".math:not(:has(math))")] == []
    assert "MathJax" not in str(read(page).head)


def test_outputs_hold_no_warning(page, read):
    """Only cells that are meant to fail (tag raises-exception) may show a traceback."""
    outputs = [
        output for output in read(page).select(".cell_output") if not output.find_parent(class_="tag_raises-exception")
    ]
    assert [output.get_text()[:200] for output in outputs if re.search(r"Warning|Traceback", output.get_text())] == []
    assert read(page).select(".stderr") == []


def test_figures_are_drawn_named_and_described(page, read):
    for figure in read(page).select("article figure"):
        assert figure.get("id", "").startswith("fig-"), figure.get_text()
        assert figure.figcaption.get_text(strip=True), figure["id"]
        assert figure.select("svg :is(path, line, rect, circle, text, image), img[src]"), figure["id"]


def test_french_words_in_the_text_are_marked(read):
    words = {word.get_text() for word in read("chapters/04-attention.html").select("article [lang=fr]")}
    assert words == {"avec"}


@pytest.mark.parametrize("source", chapter_names())
def test_a_chapter_can_be_launched_edited_and_reported(source, read):
    links = [link["href"] for link in read(source.replace(".md", ".html")).select(".article-header-buttons a[href]")]
    assert f"https://mybinder.org/v2/gh/{OWNER_AND_NAME}/{BRANCH}?urlpath=lab/tree/{source}" in links
    assert ADDRESS in links
    assert f"{ADDRESS}/edit/{BRANCH}/{source}" in links
    assert any(link.startswith(f"{ADDRESS}/issues/new") for link in links)


def test_a_page_leads_to_binder(page, read):
    if page == "404.html":
        pytest.skip("has no menus")
    links = [link["href"] for link in read(page).select(".article-header-buttons a[href]")]
    binder = [link for link in links if link.startswith(f"https://mybinder.org/v2/gh/{OWNER_AND_NAME}/{BRANCH}?")]
    assert [(ROOT / link.partition("urlpath=lab/tree/")[2]).exists() for link in binder] == [True]


def test_the_repository_has_one_address(site):
    """Whatever names the book's repository, its site or a launch does so by the address in _config.yml."""
    sources = [path for pattern in ("*.md", "*.cff", "*.toml") for path in ROOT.glob(pattern)]
    texts = {path.name: path.read_text("utf8") for path in [*sources, *site.glob("**/*.html")]}
    name = re.escape(OWNER_AND_NAME.split("/")[1])
    wrong = {
        place: sorted(set(found))
        for place, text in texts.items()
        if (found := re.findall(rf"[\w.:/-]*/(?!{re.escape(OWNER_AND_NAME)}|{name}/)[\w-]+/{name}\b", text))
    }
    assert wrong == {}
    assert f"https://mybinder.org/v2/gh/{OWNER_AND_NAME}/{BRANCH}" in texts["README.md"]


def test_every_icon_on_a_page_is_in_the_fonts(page, read, icons, drawn):
    """The build cuts the icons down; it may not cut away what is to be seen."""
    named = {name for element in read(page).select("i[class], span[class]") for name in element["class"]}
    assert {name for name in named & icons.keys() if ord(icons[name]) not in drawn} == set()
