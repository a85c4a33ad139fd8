"""The rules that keep the book true: each finds what is wrong on all pages, as `file:line: what; what instead`."""

import ast
import difflib
import re
import statistics
import tomllib
from collections import Counter
from functools import cached_property

import jupytext
from pybtex.database import parse_file

from tests.shared.proofs import decimals, executed, nearby, printed, proofs
from tests.shared.texts import Page, names

VERBS = {  # what a reader can be seen to do
    *("build", "choose", "compare", "compute", "decide", "derive", "detect", "draw", "explain", "find", "measure"),
    *("name", "predict", "prove", "read", "show", "spot", "state", "tell", "train", "use"),
}
SECTIONS = ("Exercises", "Summary", "Common misreadings", "Further reading")
PREFIXES = {"math": "eq", "figure": "fig", "exercise": "ex", "prf:definition": "def"}
BANNED = re.compile(r"\b(?:simply|obviously|just)\b", re.IGNORECASE)
QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|‘[^’]*’")
AMERICAN = re.compile(
    r"\b(?!(?:re|over|down|out|cap)?siz|priz|seiz)\w{3,}(?:iz(?:e[sdr]?|ing|ations?)|yz(?:e[sdr]?|ing))\b"
    r"|\b\w*(?:behavior|color|favor|neighbor)\w*|\b(?:center(?:ed|ing|s)?|gray|modeling|labeled|labeling|traveled)\b"
)
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|et al|vs|cf|eqs?|figs?|pp?|[A-Z])\.", re.IGNORECASE)
TWO_SENTENCES = re.compile(r"[.!?][\"”)]*\s+[\"“(*]*[A-Z]")
FOLDED = {"source_hidden": True}  # running a cell shows its outputs in any case
NO_RUN = "its run in _build is missing or of another text; build the book."
DEFINITION = (ast.FunctionDef, ast.ClassDef)
HEADER = """---
jupytext:
  cell_metadata_filter: jupyter,mystnb,tags,-all
  notebook_metadata_filter: -jupytext.text_representation.format_version,-jupytext.text_representation.jupytext_version
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3 (ipykernel)
  language: python
  name: python3
---
"""

# Public names of the package that no chapter derives, or that no chapter calls, each with the reason.
NOT_DERIVED = {
    "word_vectors.load_corpus": "reads files",
    "word_vectors.load_vectors": "reads files, the cache and the network",
    "word_vectors.Vectors": "gensim's class with errors that help",
    "transformer.model_shapes": "lists the tables and layers that a model has; the chapter derives the layers' shapes",
}
DRAWING = ("figures", "explore")  # what no chapter derives and no reader has to hold in mind
NOT_CALLED = {
    "figures/picture": "what charts and diagrams are made of",
    "explore.live": "a widget needs a kernel, which a built page has not; chapter 3 tells of it",
}


class Book:
    """The pages and the helper package under a root; `checks` are the names that `check("…")` knows."""

    def __init__(self, root, checks):
        self.root, self.checks = root, checks
        self.chapters = self._pages("chapters/[0-9][0-9]-*.md")
        self.pages = self.chapters + self._pages("index.md") + self._pages("reference/*.md")
        package = root / "chapters" / "minitransformer"
        paths = [path for pattern in ("*.py", "figures/*.py") for path in sorted(package.glob(pattern))]
        self.modules = {path.relative_to(package).with_suffix("").as_posix(): path for path in paths}

    def _pages(self, pattern):
        return [Page(path, path.relative_to(self.root).as_posix()) for path in sorted(self.root.glob(pattern))]

    @cached_property
    def trees(self):
        return {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in self.modules.items()}

    @cached_property
    def public(self):
        """(module, name) -> definition of every public function and class of the package."""
        nodes = [(module, node) for module, tree in self.trees.items() for node in tree.body]
        return {(m, n.name): n for m, n in nodes if isinstance(n, DEFINITION) and not n.name.startswith("_")}

    @cached_property
    def cited(self):
        """Each citation as (page, line, key)."""
        roles = [(page, role) for page in self.pages for role in page.roles if role.name.startswith("cite")]
        return [(page, role.line, key.strip()) for page, role in roles for key in role.content.split(",")]


def module_of(page):
    return page.slug.replace("-", "_")


def numbers_are_proved(book):
    """Every decimal is shown by a cell of its section, was shown earlier, or is listed with its source.

    The opening and sections without cells may use what any cell of the chapter shows, other pages what any cell does.
    """
    file = book.root / "tests" / "text" / "cited_numbers.toml"
    listed = tomllib.loads(file.read_text(encoding="utf-8")).get("number", [])
    used, pool = [], []
    for page in book.pages:
        run = executed(page, book.root) if page.cells else []
        if run is None:
            yield f"{page.at()}: {NO_RUN}"
            continue
        found, recalled = proofs(page, run), set()
        pool += found
        for line in sorted(page.lines, key=lambda line: line.number):
            near = nearby(page, line.number, found) if page in book.chapters else pool
            for written, value in decimals(line.seen):
                if value not in recalled and not any(proof.shows(value) for proof in near):
                    sources = [e for e in listed if (e["chapter"], e["value"]) == (page.path.stem, written)]
                    used += sources
                    if not sources:
                        yield f"{page.at(line.number)}: {written} ({line.kind}) is not shown by a cell of its section."
                        continue
                recalled.add(value)
    yield from sources_of_numbers(book, listed, used)


def sources_of_numbers(book, listed, used):
    """A listed number occurs, and its source is cited there, a target of make, or says that no claim is made."""
    makefile = (book.root / "Makefile").read_text(encoding="utf-8")
    keys = {(page.path.stem, key) for page, _, key in book.cited}
    for entry in listed:
        where, source = f"tests/text/cited_numbers.toml: {entry['value']} of {entry['chapter']}", entry["source"]
        measured = source.startswith("make ") and f"\n{source[5:]}:" in makefile
        if entry not in used:
            yield f"{where} does not occur there, or a cell shows it; remove the entry."
        if not (measured or source.startswith("posed: ") or (entry["chapter"], source) in keys):
            yield f"{where}: expected a key cited there, `make` and a target, or `posed:` and why; found {source!r}."


def derived_code_is_the_module(book):
    """A chapter defines all that its module has in public, in the same code but for docstrings."""
    for page in book.chapters:
        module = module_of(page)
        if module not in book.modules:
            yield f"{page.at()}: there is no minitransformer/{module}.py; a chapter and its module have one name."
        names = {name for owner, name in book.public if owner == module}
        cells = [cell for cell in page.cells if "raises-exception" not in cell.tags]
        nodes = [(cell, node) for cell in cells for node in cell.tree.body if isinstance(node, DEFINITION)]
        for cell, node in [(cell, node) for cell, node in nodes if node.name in names]:
            changes = [d for d in difflib.ndiff(code(book.public[module, node.name]), code(node)) if d[0] in "-+"]
            if changes:
                yield f"{page.at(cell.line)}: {node.name} is not {module}.py's (-): {' '.join(changes[:4])}."
        for name in names - {node.name for _, node in nodes}:
            if f"{module}.{name}" not in NOT_DERIVED:
                yield f"{page.at()}: no cell defines {module}.{name}; derive it or list it in NOT_DERIVED."


def code(node):
    """The lines of a definition, decorators included, docstrings and layout not."""
    node = ast.parse(ast.unparse(node)).body[0]
    for part in ast.walk(node):
        if isinstance(part, DEFINITION) and ast.get_docstring(part) is not None:
            part.body = part.body[1:] or [ast.Pass()]
    return ast.unparse(node).splitlines()


def headers_and_titles(book):
    """A page with cells opens with the header of all, a chapter then with its label; every page has one h1."""
    for page in book.pages:
        if sum(level == 1 for level, _ in page.headings) != 1:
            yield f"{page.at()}: {sum(level == 1 for level, _ in page.headings)} headings of level 1; expected one."
        if page.cells and not page.text.startswith(HEADER):
            yield f"{page.at()}: the header is not that of the other chapters; copy one of theirs."
    for page in book.chapters:
        if [label.name for label in page.labels[:1]] != [f"ch-{page.slug}"]:
            yield f"{page.at()}: the first label is not (ch-{page.slug})=; a chapter is labelled with its file's name."


def saving_changes_nothing(book):
    """A page with cells is written as jupytext writes it, so that JupyterLab saves it byte for byte."""
    for page in (page for page in book.pages if page.cells):
        saved = jupytext.writes(page.notebook, "md:myst")
        if saved != page.text:
            pairs = enumerate(zip(page.text.splitlines(), saved.splitlines()), 1)
            first = next((number for number, (is_now, will_be) in pairs if is_now != will_be), 1)
            yield f"{page.at(first)}: JupyterLab saves other text; run `.venv/bin/jupytext --to md:myst {page.name}`."


def openings(book):
    """A chapter opens with three to five objectives that one can test, what it builds on, and its reading time."""
    for page in book.chapters:
        boxes = [d for d in page.directives if "objectives" in d.options.get("class", "")]
        if len(boxes) != 1:
            yield f"{page.at()}: {len(boxes)} admonitions of class objectives; expected one."
        for box in boxes:
            verbs = [(line, first_word(page, line)) for line in page.items if box.line < line < box.end]
            if not 3 <= len(verbs) <= 5:
                yield f"{page.at(box.line)}: {len(verbs)} objectives; expected three to five."
            for line, verb in verbs:
                if verb not in VERBS:
                    yield f"{page.at(line)}: an objective begins with “{verb}”; expected a verb that one can test."
        opening = " ".join(line.seen for line in page.lines if line.number < next(iter(page.starts), 0)).lower()
        for what, pattern in (("“Builds on”", "builds? on"), ("reading time in minutes", r"\d+ min")):
            if not re.search(pattern, opening):
                yield f"{page.at()}: no {what} before the first section."


def first_word(page, number):
    text = next((line.words for line in page.lines if line.number == number), "")
    return re.sub(r"\W", "", (text.split() or [""])[0]).lower()


def closings(book):
    """A chapter has its closing sections, a summary of five items, and further reading that cites."""
    for page in book.chapters:
        for title in SECTIONS:
            if not page.section(title):
                yield f"{page.at()}: no section “{title}”."
        summary = page.section("Summary")
        if summary and sum(line in summary for line in page.items) != 5:
            yield f"{page.at(summary[0])}: {sum(line in summary for line in page.items)} summary items; expected five."
        reading = page.section("Further reading")
        if reading and not any(p is page and line in reading for p, line, _ in book.cited):
            yield f"{page.at(reading[0])}: the further reading cites nothing; expected {{cite:t}} or {{cite:p}}."


def exercises(book):
    """Four exercises or more, each with difficulty, minutes, hint, starter cell and a folded solution that checks."""
    for page in book.chapters:
        tasks = [d for d in page.directives if d.name in ("exercise", "exercise-start")]
        if len(tasks) < 4:
            yield f"{page.at()}: {len(tasks)} exercises; expected four or more."
        for task in tasks:
            stops = [d.line for d in page.directives if d.name in ("exercise", "exercise-start", "solution-start")]
            stop = min([line for line in stops if line > task.line], default=len(page.text))
            text = "\n".join(page.text.splitlines()[task.line - 1 : stop - 1]).lower()
            if not re.search(r"\b(easy|medium|hard), \d+ minutes", text):
                yield f"{page.at(task.line)}: the exercise states no effort; expected such as “Easy, 3 minutes.”"
            if not any("hint" in f"{d.name} {d.argument}".lower() for d in within(page.directives, task.line, stop)):
                yield f"{page.at(task.line)}: the exercise has no hint."
            asked = checked(page, task.line, stop)
            if not asked:
                yield f"{page.at(task.line)}: no cell after the exercise calls check(“…”)."
            yield from solutions(page, task, asked)
        yield from folding(page)


def solutions(page, task, asked):
    """The gated solution of one exercise is folded and calls the same checks."""
    found = [(start, stop) for start, stop in solution_blocks(page) if start.argument == task.options.get("label")]
    if len(found) != 1:
        yield f"{page.at(task.line)}: {len(found)} solutions to the exercise; expected one {{solution-start}}."
    for start, stop in found:
        if set(checked(page, start.line, stop)) != set(asked):
            yield f"{page.at(start.line)}: the solution's cells do not call the exercise's checks, {sorted(asked)}."
        if "dropdown" not in start.options.get("class", ""):
            yield f"{page.at(start.line)}: the solution is not folded; add :class: dropdown."


def folding(page):
    """JupyterLab shows the cells of solutions folded, by a first line that gives nothing away, and no other cell."""
    solved = solved_cells(page)
    for cell in page.cells:
        expected = FOLDED if cell.line in solved else {}
        if cell.folded != expected:
            yield f"{page.at(cell.line)}: the cell's metadata `jupyter` is {cell.folded}; expected {expected}."
        if expected and gives_away(cell):
            yield f"{page.at(cell.line)}: JupyterLab shows a folded cell's first line; put a comment before the answer."


def gives_away(cell):
    """Say whether the first line holds what the cell hands to a check, in full or under its name."""
    calls = [n for n in ast.walk(cell.tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "check"]
    handed = set().union(*(names(argument) for call in calls for argument in call.args[1:]))
    first = re.match(r"(\w+) = |(?:#|def |class |import |from )", cell.source)
    return not first or first[1] in handed


def solution_blocks(page):
    """Each {solution-start} with the line of its {solution-end}."""
    ends = [d.line for d in page.directives if d.name == "solution-end"]
    starts = [d for d in page.directives if d.name == "solution-start"]
    return [(start, min([line for line in ends if line > start.line], default=start.line)) for start in starts]


def solved_cells(page):
    """The lines of the cells that stand in solutions."""
    return {cell.line for start, stop in solution_blocks(page) for cell in within(page.cells, start.line, stop)}


def within(things, start, stop):
    return [thing for thing in things if start < thing.line < stop]


def checked(page, start, stop):
    return [name for cell in within(page.cells, start, stop) for name in cell.checked]


def solutions_are_right(book):
    """Every check in a solution said ✓ in the run, and no starter cell did."""
    for page in book.chapters:
        run = executed(page, book.root)
        if run is None:
            yield f"{page.at()}: {NO_RUN}"
            continue
        solved = solved_cells(page)
        for cell, result in ((cell, result) for cell, result in zip(page.cells, run) if cell.checked):
            said = printed(result.outputs)
            if ("✓" in said and "✗" not in said) != (cell.line in solved):
                expected = "✓" if cell.line in solved else "a hint, as it is not solved"
                yield f"{page.at(cell.line)}: the check said {said.strip()!r}; expected {expected}."


def check_names(book):
    """Each exercise check of the package is called in one chapter, and each that is called exists."""
    calls = {(page.name, name) for page in book.chapters for cell in page.cells for name in cell.checked}
    counts = Counter(name for _, name in calls)
    for name in sorted(book.checks):
        if counts[name] != 1:
            yield f"checks.py: the check {name!r} is called in {counts[name]} chapters; expected one."
    for page, name in sorted(calls):
        if name not in book.checks:
            yield f"{page}:1: check({name!r}) is not in checks.CHECKS."


def rhythm(book):
    """15 to 40 code cells: median at most 4 lines, nine in ten at most 10, none over 20 or wider than the page."""
    for page in book.chapters:
        sizes = [cell.size for cell in page.cells] or [0]
        if not 15 <= len(page.cells) <= 40:
            yield f"{page.at()}: {len(page.cells)} code cells; expected 15 to 40."
        if statistics.median(sizes) > 4:
            yield f"{page.at()}: the median cell has {statistics.median(sizes):g} lines; expected at most 4."
        long = [cell for cell in page.cells if cell.size > 10]
        if len(long) > len(sizes) / 10:
            where = ", ".join(str(cell.line) for cell in long)
            yield f"{page.at()}: {len(long)} of {len(sizes)} cells have over 10 lines (at {where}); expected a tenth."
        for cell in page.cells:
            if cell.size > 20:
                yield f"{page.at(cell.line)}: a cell of {cell.size} lines; expected at most 20."
            wide = max(map(len, cell.source.splitlines()), default=0)
            if wide > 88 and "hide-input" not in cell.tags:
                yield f"{page.at(cell.line)}: a line of {wide} characters; expected at most 88, the page's width."
            if cell.names & {"plt", "pyplot", "matplotlib"} or "matplotlib" in cell.source:
                yield f"{page.at(cell.line)}: a cell plots with matplotlib; call a function of figures."


def length(book):
    """A chapter's prose has 1,500 to 3,500 words."""
    for page in book.chapters:
        lines = [line.words for line in page.lines if line.kind in ("prose", "quote", "heading", "title", "table")]
        words = len(re.findall(r"\w[\w’'-]*", " ".join(lines)))
        if not 1500 <= words <= 3500:
            yield f"{page.at()}: {words} words of prose; expected 1,500 to 3,500."


def wording(book):
    """One sentence a line, British spelling, and none of the banned words, but in quotations."""
    for page in book.pages:
        for line in (line for line in page.lines if line.kind != "quote"):
            text = QUOTED.sub("", line.words)
            for word in BANNED.findall(text):
                yield f"{page.at(line.number)}: “{word}”; leave it out."
            for match in AMERICAN.finditer(text):
                yield f"{page.at(line.number)}: “{match[0]}” is American; the book's spelling is British."
            if line.kind == "prose" and TWO_SENTENCES.search(ABBREVIATION.sub("", line.words)):
                yield f"{page.at(line.number)}: two sentences in one line; expected a line for each."


def labels(book):
    """Labels are kebab-case with the prefix of their kind and unique in the book."""
    seen = {}
    for where, label in [(page.at(label.line), label) for page in book.pages for label in page.labels]:
        prefix = PREFIXES.get(label.kind, "ch|eq|fig|def|ex")
        if not re.fullmatch(rf"(?:{prefix})(-[a-z0-9]+)+", label.name):
            yield f"{where}: the label {label.name!r} of a {label.kind}; expected {prefix}-kebab-case."
        if label.name in seen:
            yield f"{where}: the label {label.name!r} is already at {seen[label.name]}."
        seen.setdefault(label.name, where)


def figures(book):
    """Each chapter draws; each figure has a name, a caption of its own, and an alt text that is a sentence."""
    captions = {}
    for page in book.pages:
        drawn = [cell for cell in page.cells if cell.figure is not None or cell.alts]
        placed = [d for d in page.directives if d.name in ("figure", "image")]
        found = [(c.line, c.figure or {}, c.alts) for c in drawn]
        found += [(d.line, {"caption": d.body.strip(), **d.options}, [d.options.get("alt", "")]) for d in placed]
        if page in book.chapters and not drawn:
            yield f"{page.at()}: no figure is drawn; expected one or more."
        for line, options, alts in found:
            where, caption = page.at(line), " ".join(options.get("caption", "").split())
            if not caption or not options.get("name"):
                yield f"{where}: a figure without caption or name; expected both under mystnb: figure."
            elif caption in captions:
                yield f"{where}: the caption is that of {captions[caption]}; expected another."
            captions.setdefault(caption, where)
            if not alts:
                yield f"{where}: no alt=“…” in the figure's cell."
            for alt in alts:
                if not re.match(r"[A-Z].*\.$", alt) or len(alt.split()) < 6:
                    yield f"{where}: alt {alt!r} is not a sentence that says what is to be seen."


def glossary(book):
    """Every term of the glossary is used in a chapter, and every {term} is in the glossary."""
    boxes = [(page, d) for page in book.pages for d in page.directives if d.name == "glossary"]
    terms = {line.strip().lower() for _, d in boxes for line in d.body.splitlines() if re.match(r"[^\s:%]", line)}
    uses = [(page, role) for page in book.pages for role in page.roles if role.name == "term"]
    used = {role.target.lower() for page, role in uses if page in book.chapters}
    for term in sorted(terms - used):
        yield f"reference/glossary.md: no chapter uses {{term}}`{term}`."
    for page, role in uses:
        if role.target.lower() not in terms:
            yield f"{page.at(role.line)}: the term {role.target!r} is not in the glossary."


def references(book):
    """Every reference has a DOI or an address and is cited; every citation is in references.bib."""
    entries = parse_file(book.root / "references.bib").entries
    for page, line, key in book.cited:
        if key not in entries:
            yield f"{page.at(line)}: {key} is not in references.bib."
    for key, entry in entries.items():
        if not {"doi", "url"} & {name.lower() for name in entry.fields}:
            yield f"references.bib: {key} has neither doi nor url."
        if key not in {cited for _, _, cited in book.cited}:
            yield f"references.bib: no page cites {key}."


def package_is_taught(book):
    """Every public function is used in a chapter or on the cover, as its docstring says, which gives shapes too."""
    taught = {module_of(page) for page in book.chapters}
    called = {page.path.stem[:2].lstrip("0"): helpers_in(page) for page in book.chapters}
    drawn = {"cover": set().union(*(helpers_in(page) for page in book.pages if page.name == "index.md")), **called}
    reached = {place: reach(book, used) for place, used in drawn.items()}
    for (module, name), node in book.public.items():
        where, text = f"minitransformer/{module}.py:{node.lineno}: {name}", ast.get_docstring(node) or ""
        if isinstance(node, ast.ClassDef) or {module, f"{module}.{name}"} & set(NOT_CALLED):
            continue
        users = {place for place, used in (called if module in taught else reached).items() if name in used}
        if not users:
            yield f"{where} is used in no chapter; use it, make it private, or list it in NOT_CALLED."
        elif not users & set(re.findall(r"\d+|cover", " ".join(re.findall(r"chapters? [\d, and]+|cover", text)))):
            yield f"{where}: the docstring names none of the places that use it: {', '.join(sorted(users))}."
        derived = module in taught and f"{module}.{name}" not in NOT_DERIVED
        if derived and node.args.args and not re.search(r"[Ss]hape|\(…|\([nd]\b", text):
            yield f"{where}: the docstring gives no shapes."


def helpers_in(page):
    """The names of the package that a page's cells use: imported or defined there, or behind an imported module."""
    nodes = [node for cell in page.cells for node in ast.walk(cell.tree)]
    imports = [n for n in nodes if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("minitransformer")]
    known = {alias.name for node in imports for alias in node.names} | {
        n.name for n in nodes if isinstance(n, DEFINITION)
    }
    behind = {n.attr for n in nodes if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") in known}
    return behind | known & {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def reach(book, first):
    """The names `first`, those that the functions and classes of these names use, and so on."""
    bodies = {node.name: node for tree in book.trees.values() for node in tree.body if isinstance(node, DEFINITION)}
    todo, seen = set(first), set()
    while todo:
        seen |= todo
        todo = set().union(*(names(bodies[name]) for name in todo & set(bodies))) - seen
    return seen


def package_is_small(book):
    """At most 1,800 lines, drawing and answers to exercises aside, and 20 a function; matplotlib in figures only."""
    texts = {module: path.read_text(encoding="utf-8").splitlines() for module, path in book.modules.items()}
    total = sum(len(text) for module, text in texts.items() if module.split("/")[0] not in DRAWING)
    if total > 1800:
        yield f"minitransformer: {total} lines without {' and '.join(DRAWING)}; expected at most 1,800."
    for module, tree in book.trees.items():
        for node in ast.walk(tree):
            where = f"minitransformer/{module}.py:{getattr(node, 'lineno', 1)}"
            if isinstance(node, ast.FunctionDef):
                first = node.body[1 if ast.get_docstring(node) and len(node.body) > 1 else 0].lineno
                size = sum(bool(line.strip()) for line in texts[module][first - 1 : node.end_lineno])
                if size > 20:
                    yield f"{where}: {node.name} has {size} lines; expected at most 20."
            imports = isinstance(node, ast.Import | ast.ImportFrom) and ast.unparse(node)
            if imports and "matplotlib" in imports and module.split("/")[0] != "figures":
                yield f"{where}: matplotlib is imported outside figures."


def portable_myst(book):
    """Nothing that Jupyter Book 2 rejects, hyphenated file names, and links that work on GitHub and in JupyterLab."""
    for page in book.pages:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*\.md", page.path.name):
            yield f"{page.at()}: the file's name is not hyphenated lower case."
        for item in [*page.roles, *page.directives]:
            if re.match(r"footcite|glue|doc$", item.name):
                yield f"{page.at(item.line)}: {{{item.name}}} is not portable; use a link, {{cite:p}} or plain text."
        for number, line in enumerate(page.text.splitlines(), 1):
            if label := re.search(r"\]\((ch-[^)]*)\)", line):
                yield f"{page.at(number)}: the link to {label[1]} works in the built book alone; name the file."


RULES = (
    numbers_are_proved, derived_code_is_the_module, headers_and_titles, saving_changes_nothing, openings, closings,
    exercises, solutions_are_right, check_names, rhythm, length, wording, labels, figures, glossary, references,
    package_is_taught, package_is_small, portable_myst,
)  # fmt: skip
