"""Join the built pages into one HTML document for paper, in the order of _toc.yml: `WholeBook(root, site).html()`.

Title page, contents, cover, parts and chapters, reference.  Ids are made unique by their page's name, and every link
within the book follows; what only a screen can do (folds, explorables, buttons) gives way to what paper can.
Solutions stand at the end of their chapter, where they are not seen before they are looked up.
"""

import html
import posixpath
import re
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import matplotlib
import yaml
from bs4 import BeautifulSoup, NavigableString, Tag
from pygments.formatters import HtmlFormatter

from bookbuild.products.spoken_math import spoken
from bookbuild.read.book import Book
from minitransformer import figures

CONTENTS = "contents"
FORMULA = "formula: "  # begins the description of a formula, by which the PDF's tags tell it from a figure
WIDEST = 92  # characters of a line of code that fit; longer lines are wrapped, with a mark
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
NOT_ON_PAPER = (
    *("script", "noscript", ".headerlink", "a:has(.viewcode-link)", "details.hide", ".toggle-button"),
    *(".mt-explorable > style", ".mt-live", ".mt-controls", ".sd-summary-state-marker"),
)
BLOCKS = ("p", "li", "td", "th", "dt", "dd", "figcaption", "div", "h1", "h2", "h3", "h4", "h5", "h6")
HOST = "book.invalid"  # where the pages are while their links are followed
STYLE = Path(__file__).with_name("pdf.css")
HIGHLIGHTING = "a11y-high-contrast-light"  # as on the pages
FONTS = {  # matplotlib brings them, so that the PDF looks alike on every machine: file -> family, weight, style
    "STIXGeneral": ("STIX", 400, "normal"),
    "STIXGeneralBol": ("STIX", 700, "normal"),
    "STIXGeneralItalic": ("STIX", 400, "italic"),
    "STIXGeneralBolIta": ("STIX", 700, "italic"),
    "DejaVuSans": ("DejaVu Sans", 400, "normal"),
    "DejaVuSans-Bold": ("DejaVu Sans", 700, "normal"),
    "DejaVuSans-Oblique": ("DejaVu Sans", 400, "italic"),
    "DejaVuSans-BoldOblique": ("DejaVu Sans", 700, "italic"),
    "DejaVuSansMono": ("DejaVu Sans Mono", 400, "normal"),
    "DejaVuSansMono-Bold": ("DejaVu Sans Mono", 700, "normal"),
    "DejaVuSansMono-Oblique": ("DejaVu Sans Mono", 400, "italic"),
}
FRAME = """<!doctype html>
<html lang="{language}" data-theme="light"><head><meta charset="utf-8"><title>{title}</title>
<link rel="stylesheet" href="{katex}">
<style>{style}</style></head>
<body>{body}</body></html>
"""
TITLE_PAGE = """<div class="page title-page"><h1 id="title-page">{title}</h1>
<p class="author">{author}</p>
<p>{edition}<br>The pages, on which some pictures can be moved, are at <a href="{address}/">{address}</a>;
there is the code, too, that draws the pictures.</p>
<p>Text and figures: CC BY 4.0. Code: BSD-3-Clause.</p></div>
"""


def identifier(page, anchor=""):
    """Return the id that a place of a page has in the document."""
    place = f"{page}--{anchor}" if anchor else page
    return re.sub(r"[^\w.-]", "-", place)


def numbered(place):
    """Return the room, as HTML, for the number of the page on which a place is: pdf.py fills it in."""
    return f'<span class="page-number" data-place="{place}">000</span>'


def fonts():
    """Return the stylesheet that names the fonts."""
    folder = Path(matplotlib.get_data_path(), "fonts", "ttf")
    rule = "@font-face{{font-family:'{}';font-weight:{};font-style:{};src:url('{}')}}"
    return "\n".join(rule.format(*face, (folder / f"{file}.ttf").as_uri()) for file, face in FONTS.items())


def lines(pre):
    """Return the lines of a `pre`, each a list of strings and elements; an element over several lines is cut."""
    found = [[]]
    for child in pre.children:
        if isinstance(child, NavigableString):
            pieces = [[piece] if piece else [] for piece in str(child).split("\n")]
        else:
            pieces = [[framed(child, piece)] if piece else [] for piece in lines(child)]
        found[-1] += pieces[0]
        found += pieces[1:]
    return found


def framed(element, inside):
    """Return an element like `element` around other things."""
    frame = Tag(name=element.name, attrs=element.attrs)
    frame.extend(inside)
    return frame


def wrap_long_lines(pre):
    """Put each line of a `pre` into an element, marked where it is too long for the page."""
    if max(map(len, pre.get_text().split("\n"))) <= WIDEST:
        return
    parts = lines(pre)
    if not parts[-1]:
        parts.pop()
    pre.clear()
    for part in parts:
        line = Tag(name="span", attrs={"class": "line"})
        line.extend([*part, "\n"])
        if len(line.get_text()) > WIDEST + 1:
            line["class"] = "line long"
        pre.append(line)


def describe_formulas(article):
    """Give each drawn formula its description in the place of the MathML, which paper cannot hold."""
    for formula in article.select(".katex"):
        drawn = formula.select_one(".katex-html")
        formula.attrs |= {"role": "img", "aria-label": FORMULA + spoken(formula.math)}
        formula.select_one(".katex-mathml").decompose()
        del drawn["aria-hidden"]


def keep_order(article):
    """Frame the words beside the formulas of a line: pdf.css lifts both, so that they are written in their order."""
    for formula in article.select("span.math"):
        for parent in takewhile(lambda element: element.name not in BLOCKS, formula.parents):
            frame_words(parent)
        frame_words(formula.find_parent(BLOCKS))


def frame_words(element):
    """Put each string that stands in an element by itself into an element."""
    for string in element.find_all(string=True, recursive=False):
        if string.strip():
            string.wrap(Tag(name="span"))


def unfold(article):
    """Show what is folded on the page."""
    for folded in article.select("details"):
        folded.name = "div"
        folded["class"] = [*folded.get("class", ()), "unfolded"]
    for summary in article.select("summary"):
        summary.name = "p"
        summary["class"] = ["hint-title"]


def drop_what_paper_cannot_do(article):
    """Take out buttons, folded code and what moves, and the answers of exercises that wait for one."""
    for element in article.select(", ".join(NOT_ON_PAPER)):
        element.decompose()
    for output in article.select(".exercise .cell_output"):
        if output.get_text().strip().startswith("○"):
            output.decompose()


def lower_headings(article, by):
    """Make each heading `by` levels lower."""
    for heading in article.find_all(re.compile(r"h[1-5]$")):
        heading.name = f"h{int(heading.name[1]) + by}"


class WholeBook:
    """The book in the folder `root` as one document, made of its built pages in the folder `site`."""

    def __init__(self, root, site):
        self.root, self.site, self.book = Path(root), Path(site), Book(root)
        contents = yaml.safe_load((self.root / "_toc.yml").read_text("utf8"))
        self.cover = contents["root"]
        self.parts = [(part["caption"], [entry["file"] for entry in part["chapters"]]) for part in contents["parts"]]
        self.pages = [self.cover, *(page for _, pages in self.parts for page in pages)]

    @cached_property
    def articles(self):
        """The articles of all pages, page -> element, made ready for paper."""
        return {page: self._article(page) for page in self.pages}

    def _article(self, page):
        source = self.site / f"{page}.html"
        if not source.is_file():
            raise FileNotFoundError(f"{page}.html is not in {self.site.name}: build the book with `make book`.")
        article = BeautifulSoup(source.read_text("utf8"), "html.parser").article
        article.attrs = {"class": "article"}
        self._link_to_explorables(page, article)
        drop_what_paper_cannot_do(article)
        describe_formulas(article)
        keep_order(article)
        unfold(article)
        for pre in article.select("pre"):
            wrap_long_lines(pre)
        self._gather_solutions(page, article)
        if page == self.cover:
            article.h1.string = "About this book"
        else:
            lower_headings(article, by=1)
        self._refer(page, article)
        return article

    def _link_to_explorables(self, page, article):
        for figure in article.select("figure:has(.mt-explorable)"):
            address = self.book.published(page, figure["id"])
            link = BeautifulSoup(f' <a class="online" href="{address}">Move it on its page.</a>', "html.parser")
            (figure.select_one("figcaption p") or figure).append(link)

    def _gather_solutions(self, page, article):
        solutions = article.select(".solution")
        if not solutions:
            return
        section = BeautifulSoup('<section id="solutions"><h2>Solutions</h2></section>', "html.parser").section
        for solution in solutions:
            exercise = article.find(id=solution.select_one(".admonition-title a")["href"].removeprefix("#"))
            place = identifier(page, solution["id"])
            words = f'<p class="to-solution"><a href="#{solution["id"]}">Solution on page {numbered(place)}</a></p>'
            exercise.append(BeautifulSoup(words, "html.parser"))
            section.append(solution.extract())
        article.section.append(section)

    def _refer(self, page, article):
        """Make the ids unique and let what refers to them follow."""
        for element in article.find_all(True):
            if "id" in element.attrs:
                element["id"] = identifier(page, element["id"])
            for name, value in element.attrs.items():
                if name in ("href", "xlink:href"):
                    element[name] = self._address(page, value)
                elif name in ("aria-labelledby", "aria-describedby"):
                    element[name] = " ".join(identifier(page, one) for one in value.split())
                elif "url(#" in str(value):
                    element[name] = re.sub(r"url\(#([^)]+)\)", lambda it: f"url(#{identifier(page, it[1])})", value)
                elif name == "src" and not urlsplit(value).scheme:
                    element[name] = (self.site / posixpath.dirname(page) / unquote(value)).resolve().as_uri()

    def _address(self, page, href):
        """Return where a link of a page leads to in the document: within it, if it holds the place."""
        target = urlsplit(urljoin(f"http://{HOST}/{page}.html", href))
        if target.netloc != HOST:
            return href
        path = unquote(target.path).removeprefix("/")
        if (aim := path.removesuffix(".html")) in self.pages:
            return f"#{identifier(aim, unquote(target.fragment))}"
        return f"{self.book.address}/{path}" + (f"#{target.fragment}" if target.fragment else "")

    def _contents(self):
        """Return the list of contents: the cover, the parts, their chapters and the sections of these."""

        def entry(place, text, kind):
            number = numbered(place)
            return f'<li class="{kind}"><a href="#{place}"><span>{html.escape(text)}</span> {number}</a></li>'

        entries = [entry(identifier(self.cover), "About this book", "chapter")]
        for name, title, pages in self._titled_parts():
            entries.append(entry(name, title, "part"))
            for page in pages:
                article = self.articles[page]
                entries.append(entry(identifier(page), article.h2.get_text(), "chapter"))
                headings = [heading for heading in article.select("h3") if heading.parent.get("id")]
                entries += [entry(heading.parent["id"], heading.get_text(), "section") for heading in headings]
        return f'<div class="page"><h1 id="{CONTENTS}">Contents</h1><ul class="contents">{"".join(entries)}</ul></div>'

    def _titled_parts(self):
        """Yield (id, title, pages) of each part; those with numbered chapters are numbered."""
        count = 0
        for caption, pages in self.parts:
            is_numbered = self.articles[pages[0]].select_one("h2 .section-number")
            count += bool(is_numbered)
            title = f"Part {ROMAN[count - 1]}. {caption}" if is_numbered else caption
            yield re.sub(r"\W+", "-", title.lower()), title, pages

    def _page(self, page):
        name = identifier(page)
        return f'<div class="page" id="{name}" style="page: {name}">{self.articles[page]}</div>'

    def _body(self, edition):
        about = self.book.config
        title = TITLE_PAGE.format(
            title=self.book.title, author=about["author"], edition=edition, address=self.book.address
        )
        parts = [title, self._contents(), self._page(self.cover)]
        for name, caption, pages in self._titled_parts():
            parts.append(f'<div class="page part-page" id="{name}"><h1>{caption}</h1></div>')
            parts += map(self._page, pages)
        return "\n".join(parts)

    def _style(self):
        """Return the stylesheet: fonts, colours, the look, and what stands above the text on each page."""
        running = [
            f'@page {identifier(page)} {{ @top-left {{ content: "{self._heading(page)}" }} }}' for page in self.pages
        ]
        highlighting = HtmlFormatter(style=HIGHLIGHTING).get_style_defs(".highlight")
        return "\n".join([fonts(), figures.css(), highlighting, STYLE.read_text("utf8"), *running])

    def _heading(self, page):
        return " ".join(self.articles[page].select_one("h1, h2").get_text().split()).replace('"', '\\"')

    def html(self, edition):
        """Return the document; `edition` is a sentence of the title page that says which one it is."""
        return FRAME.format(
            language=self.book.config["sphinx"]["config"]["language"],
            title=html.escape(self.book.title),
            katex=(self.root / "node_modules" / "katex" / "dist" / "katex.min.css").as_uri(),
            style=self._style(),
            body=self._body(edition),
        )
