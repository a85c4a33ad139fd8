"""The built site as files: links, ids, hosts, outputs and figures, without a browser."""

import itertools
import re
from collections import Counter
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
import yaml

from bookbuild import PACKAGES, ROOT
from bookbuild.site.translator import by_lines
from tests.shared.pages import EMPTY_NAMES, pages

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


def loaded(soup):
    """Return the addresses that a page makes the browser load."""
    elements = [element for element in soup.find_all(list(LOADING)) if element.get("rel") != ["canonical"]]
    found = [element[name] for element in elements for name in LOADING[element.name] if element.get(name)]
    styles = [style.get_text() for style in soup("style")] + [element["style"] for element in soup.select("[style]")]
    return found + [address for style in styles for address in IN_STYLE.findall(style)]


def test_every_link_within_the_site_leads_somewhere(read, ids, site):
    def leads_nowhere(page, address):
        target = urlsplit(urljoin(f"http://site/{page}", address))
        path = unquote(target.path).removeprefix("/")
        anchor = unquote(target.fragment) if path.endswith(".html") else ""
        return target.netloc == "site" and not ((site / path).is_file() and (not anchor or anchor in ids(path)))

    links = {page: [link["href"] for link in read(page).select("a[href], area[href]")] for page in pages()}
    lost = {
        page: [address for address in addresses if leads_nowhere(page, address)] for page, addresses in links.items()
    }
    assert {page: addresses for page, addresses in lost.items() if addresses} == {}


def test_no_page_names_the_folder_in_which_it_was_built(site):
    assert [page for page in pages() if str(ROOT) in (site / page).read_text("utf8")] == []


def test_every_place_has_a_link_that_says_what_it_leads_to(page, read):
    article = read(page).article
    for kind, places, inside in (
        ("heading", "section > :is(h1, h2, h3, h4)", None),
        ("image", "figure", "figcaption"),
        ("exercise", "div.exercise", ".admonition-title"),
        ("term", "dt[id^=term-]", None),
    ):
        for place in article.select(places) if article else ():
            (link,) = (place.select_one(inside) if inside else place).select("a.headerlink")
            assert link["aria-label"] == f"Link to this {kind}", place.get_text()[:60]
            target = link["href"][1:]
            assert target in (place.get("id"), place.parent.get("id")) or place.parent.select(f"span#{target}")


def test_what_a_page_loads_is_of_the_site_and_there(page, read, site):
    addresses = [urlsplit(address) for address in loaded(read(page))]
    assert [address.geturl() for address in addresses if address.netloc] == []
    paths = [Path(page).parent / unquote(address.path) for address in addresses if not address.scheme and address.path]
    assert [path.as_posix() for path in paths if not (site / path).exists()] == []


def test_no_stylesheet_loads_from_another_host(site):
    sheets = {path.name: IN_STYLE.findall(path.read_text("utf8")) for path in site.rglob("*.css")}
    assert {name: found for name, found in sheets.items() if any(urlsplit(address).netloc for address in found)} == {}


def test_a_page_has_one_main_heading_and_skips_no_level(page, read):
    levels = [int(heading.name[1]) for heading in read(page).select("main :is(h1, h2, h3, h4, h5, h6)")]
    assert levels[0] == len(read(page)("h1")) == 1
    assert [pair for pair in itertools.pairwise(levels) if pair[1] > pair[0] + 1] == []


def test_ids_are_unique(page, read):
    count = Counter(element["id"] for element in read(page).select("[id]"))
    assert [name for name, times in count.items() if times > 1] == []


def test_what_the_build_fills_in_is_filled_in(page, read):
    assert [text.get_text() for text in read(page).select("main p") if "{{" in text.get_text()] == []


def test_a_link_says_where_it_leads_and_no_formula_is_kept_from_a_screen_reader(page, read):
    names = [link.get_text(" ", strip=True).lower() for link in read(page).select("main a[href]")]
    assert [name for name in names if name in EMPTY_NAMES] == []
    assert read(page).select("[aria-hidden=true] math, math[aria-hidden=true]") == []


def test_a_page_describes_itself(page, read):
    assert len(read(page).select_one("meta[name=description]")["content"]) > 20


def test_formulas_are_drawn(page, read):
    wrong = read(page).select("article :is(.formula:not(:has(math)), .math, merror)")
    assert [formula.get_text()[:60] for formula in wrong] == []
    assert "MathJax" not in str(read(page).head)


def test_outputs_hold_no_warning(page, read):
    """Only cells that are meant to fail (tag raises-exception) may show a traceback."""
    outputs = [
        output for output in read(page).select(".cell_output") if not output.find_parent(class_="tag_raises-exception")
    ]
    assert [output.get_text()[:200] for output in outputs if re.search(r"Warning|Traceback", output.get_text())] == []
    assert read(page).select(".stderr") == []


def test_figures_are_drawn_in_the_palette_of_the_stylesheet_named_and_described(page, read, site):
    sheets = [(site / page).parent / link["href"] for link in read(page).select("link[href*='apart/']")]
    rules = "".join(path.read_text("utf8") for path in sheets)
    assert ":root{--mt-" not in rules  # they bring the palette for JupyterLab
    for figure in read(page).select("article figure"):
        assert figure.get("id", "").startswith("fig-"), figure.get_text()
        assert figure.figcaption.get_text(strip=True), figure["id"]
        assert figure.select("svg :is(path, line, rect, circle, text, image), img[src]"), figure["id"]
        for drawing in figure.select("svg.mt-figure:not(.mt-machine *)"):
            used = [
                re.search(rf'"{one["data-style"]}"\]\{{(.*?)}}', rules)[1] for one in drawing.select("[data-style]")
            ]
            said = f"{drawing} {used}"
            assert drawing.get("viewbox") and "var(--mt-" in said, figure["id"]
            assert set(re.findall(r"#[0-9a-fA-F]{6}\b", said)) <= {"#000000"}, figure["id"]


def test_the_pages_of_the_helper_document_every_module_those_of_the_chapters_in_their_order(read):
    pages = ("helper", "helper-models", "helper-tools")
    listed = [place["id"] for name in pages for place in read(f"reference/{name}.html").select("[id^=module-]")]
    chapters = ROOT / "chapters"
    paths = [path for package in PACKAGES for path in (chapters / package).rglob("*.py")]
    files = (path.relative_to(chapters).with_suffix("") for path in paths)
    modules = {".".join(path.parts) for path in files if path.name != "__init__"}
    shown = {name.removeprefix("module-") for name in listed}
    inner = re.compile(r"companion\.(checks\.exercises|explorables)\.")
    assert {name for name in modules - shown if not inner.match(name)} == set()
    pages = sorted(ROOT.glob("chapters/[0-9]*.md"))
    chapters = [f"module-minitransformer.{page.stem[3:].replace('-', '_')}" for page in pages]
    assert [name for name in listed if name in chapters] == [name for name in chapters if name in listed]


def test_each_letter_of_the_glossary_leads_to_the_first_term_that_begins_with_it(read):
    page, first = read("reference/glossary.html"), {}
    for term in page.select("dl.glossary > dt"):
        first.setdefault(term.text[0].upper(), f"#{term['id']}")
    assert {link.text: link["href"] for link in page.select(".letters a")} == first


def test_a_minus_sign_stays_with_what_it_belongs_to():
    written = by_lines('<pre>[-np.sin(a), b - 1, x[:-<span class="mi">1</span>]]</pre>')
    kept = re.findall(r'<span class="together">(.*?)</span>', re.sub(r'<span class="s">(.*?)</span>', r"\1", written))
    assert kept == ["-np.sin", "-1"]


def test_every_entry_of_the_glossary_leads_to_the_place_that_builds_it(read):
    entries = read("reference/glossary.html").select("dl.glossary > dd")
    assert entries and [entry.get_text()[:60] for entry in entries if not entry.select("p.built a[href]")] == []


def test_french_words_in_the_text_are_marked(read):
    words = {word.get_text() for word in read("chapters/04-attention.html").select("article > section [lang=fr]")}
    assert words == {"il", "elle"}


def test_a_comma_behind_a_formula_begins_no_line(read):
    formulas = read("chapters/03-softmax.html").select("p math")
    behind = [formula.next_sibling for formula in formulas if isinstance(formula.next_sibling, str)]
    assert [text for text in behind if re.match("[,.;:)]", text) and text.parent.get("class") != ["together"]] == []
    assert [text for text in behind if text.parent.get("class") == ["together"]]


def test_a_page_can_be_read_edited_and_reported_at_its_source(page, read):
    links = [link["href"] for link in read(page).select(".foot a[href]")]
    source = page.replace(".html", ".md")
    if (ROOT / source).is_file():
        for way in (f"{ADDRESS}/edit/{BRANCH}/{source}", f"{ADDRESS}/blob/{BRANCH}/{source}"):
            assert way in links
        assert any(link.startswith(f"{ADDRESS}/issues/new") for link in links)


def test_a_page_leads_to_binder(page, read):
    if page == "404.html":
        pytest.skip("has no menus")
    links = [unquote(link["href"]) for link in read(page).select("#run a[href]")]
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


def test_the_style_that_explorables_share_stands_once_in_the_sheet_of_a_page(read, site):
    found = {page: read(page).select("link[href*='apart/']") for page in pages() if read(page).select(".mt-explorable")}
    sheets = {page: (site / page).parent / links[0]["href"] for page, links in found.items() if len(links) == 1}
    assert sheets.keys() == found.keys() and len(sheets) > 15
    several = {page: path.read_text("utf8").count(".mt-player{display:") for page, path in sheets.items()}
    assert {page: count for page, count in several.items() if count != 1} == {}


def test_of_the_code_that_explorables_share_each_brings_once_what_it_uses(read, site):
    files = {
        (site / page).parent / one["src"] for page in pages() for one in read(page).select(".mt-explorable > script")
    }
    scripts = [file.read_text("utf8") for file in files]
    assert len(scripts) > 10 and [text.count('"http://www.w3.org/2000/svg"') for text in scripts] == [1] * len(scripts)
    using = {part: sum(part in text for text in scripts) for part in ("mt-plane", "mt-dial", "mt-player")}
    assert all(0 < count < len(scripts) / 2 for count in using.values()), using
