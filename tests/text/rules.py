"""The rules that keep the book true: each finds what is wrong on all pages, as `file:line: what; what instead`.

What stops the build is no rule here: labels that stand twice, terms and sources that are nowhere.
"""

import ast
import difflib
import re
import statistics
import tomllib
from collections import Counter
from functools import cached_property

import jupytext
from pybtex.database import parse_file

from bookbuild import PACKAGES
from bookbuild.read.book import Book
from tests.shared.notebook_header import HEADER
from tests.text import shown
from tests.text.predicted import OUTCOMES, PREDICTS, TELLS_NOTHING, telling
from tests.text.predicted import predictions as predicted
from tests.text.proofs import Proof, decimals, executed, nearby, numbers, printed, proofs
from tests.text.shown import emphases, inlines, lines, roles, tree

VERBS = {  # what a reader can be seen to do
    "build",
    "choose",
    "compare",
    "compute",
    "decide",
    "derive",
    "detect",
    "draw",
    "explain",
    "find",
    "measure",
    "name",
    "predict",
    "prove",
    "read",
    "show",
    "spot",
    "state",
    "tell",
    "train",
    "use",
}
COMMENTS = {"Question": "the README", "Job": "the map on the cover", "Projector": "the teaching page"}
DEFINES = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.Import | ast.ImportFrom  # a cell that ends so shows nothing
SECTIONS = ("Exercises", "Summary", "Common misreadings", "Further reading")
PREFIXES = {"math": "eq", "figure": "fig", "exercise": "ex", "prf:definition": "def"}
BANNED = re.compile(r"\b(?:simply|obviously|just)\b", re.IGNORECASE)
QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|‘[^’]*’")
AMERICAN = re.compile(
    r"\b(?!(?:re|over|down|out|cap)?siz|priz|seiz)\w{3,}(?:iz(?:e[sdr]?|ing|ations?)|yz(?:e[sdr]?|ing))\b"
    r"|\b\w*(?:behavior|color|favor|neighbor)\w*|\b(?:center(?:ed|ing|s)?|gray|modeling|labeled|labeling|traveled)\b"
)
PRONOUN = re.compile(r"\b[Ii]t(?:s|self)?\b")
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|et al|vs|cf|eqs?|figs?|pp?|[A-Z])\.", re.IGNORECASE)
TWO_SENTENCES = re.compile(r"[.!?][\"”)]*\s+[\"“(*]*[A-Z]")
RANGE = re.compile(r"Right \(between [\d.−e-]+ and [\d.−e-]+\)")
FOLDED = {"source_hidden": True}  # running a cell shows its outputs in any case
NO_RUN = "its run in _build is missing or of another text; build the book."
DEFINITION = (ast.FunctionDef, ast.ClassDef)
# Names of the package that no chapter calls, each with the reason.
UNCHECKED = re.compile(r", (in words|open end)\.")  # kinds of exercises that no function can judge
BUILT = re.compile(r"[Bb]uilt in chapter (\d+)")
NOT_CALLED = {
    "companion/figures/picture": "what charts and diagrams are made of",
    "companion/explorables/shared/states": "the states of explorables are checked with it",
    "minitransformer/today/parts.rotary_halves_vjp": "the backward pass of a model finds it beside rotary_halves",
    "minitransformer/today/parts.relu_squared_vjp": "the backward pass of a model finds it beside relu_squared",
    "companion/evidence/asked.wanted_of": "what `make public-model` has counted as right",
    "companion/evidence/asked.judged": "what `make public-model` has counted as an answer",
    "companion/figures/charts.rank_curve": "the page on which one talks to the model draws with it",
    "companion/explore.live": "a widget needs a kernel, which a built page has not; chapter 3 tells of it",
}


class CheckedBook(Book):
    """The pages and both packages under a root; `checks` are the names that `check("…")` knows."""

    def __init__(self, root, checks):
        super().__init__(root)
        self.checks = checks
        chapters = root / "chapters"
        paths = [path for package in PACKAGES for path in sorted((chapters / package).rglob("*.py"))]
        paths = [path for path in paths if path.parent.name != "exercises"]
        self.modules = {path.relative_to(chapters).with_suffix("").as_posix(): path for path in paths}

    @cached_property
    def trees(self):
        """The syntax tree of each module."""
        return {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in self.modules.items()}

    @cached_property
    def public(self):
        """(module, name) -> definition of every public function and class of the package."""
        nodes = [(module, node) for module, tree in self.trees.items() for node in tree.body]
        return {(m, n.name): n for m, n in nodes if isinstance(n, DEFINITION) and not n.name.startswith("_")}

    @cached_property
    def cited(self):
        """Each citation as (page, line, key)."""
        found = [(page, role) for page in self.pages for role in roles(page) if role.name.startswith("cite")]
        return [(page, role.line, key.strip()) for page, role in found for key in role.content.split(",")]


# Places of a page


def at(page, line=1):
    """Return a place of a page as an editor takes it."""
    return f"{page.file}:{line}"


def slug(page):
    """Return the name of a chapter without its number."""
    return re.sub(r"^\d\d-", "", page.name)


def module_of(page):
    """Return the name of a chapter's module."""
    return f"minitransformer/{slug(page).replace('-', '_')}"


def section(page, title):
    """Return the line numbers of the section of this title; none where there is none."""
    starts = [(line, name) for level, line, name in page.headings if level == 2]
    ends = [*(line for line, _ in starts[1:]), page.source.count("\n") + 2]
    return next((range(start, end) for (start, name), end in zip(starts, ends) if name == title), range(0))


def items(page, within):
    """Return the line numbers of the items of outermost lists within some lines."""
    found = [line for token, line, _ in page.parts if token.type == "list_item_open" and token.level == 1]
    return [line for line in found if line in within]


def spans(page, what):
    """Return each {what-start} with the lines up to its {what-end}."""
    ends = [found.line for found in page.directives if found.name == f"{what}-end"]
    starts = [found for found in page.directives if found.name == f"{what}-start"]
    return [(start, range(start.line, min((end for end in ends if end > start.line), default=0))) for start in starts]


def checked(cells):
    """Return the names of the checks that cells call."""
    return [call.args[0].value for cell in cells for call in check_calls(cell)]


def check_calls(cell):
    """Return the calls of `check` in a cell."""
    called = [node for node in ast.walk(tree(cell)) if isinstance(node, ast.Call)]
    return [call for call in called if getattr(call.func, "id", "") == "check"]


def within(things, lines):
    """Return the cells or directives that begin in some lines."""
    return [thing for thing in things if thing.line in lines]


def solved(page):
    """Return the cells of a page that stand in solutions."""
    return [cell for _, span in spans(page, "solution") for cell in within(page.cells, span)]


def names(found):
    """Return every name and attribute in a syntax tree."""
    nodes = list(ast.walk(found))
    plain = {node.id for node in nodes if isinstance(node, ast.Name)}
    return plain | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


# The rules


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
            yield f"{at(page)}: {NO_RUN}"
            continue
        found, recalled, tried = proofs(page, run), set(), tried_elsewhere(page, book.root)
        pool += found
        for line in sorted(lines(page), key=lambda line: line.number):
            near = nearby(page, line.number, found) if page in book.chapters else pool + tried
            for written, value in decimals(line.seen):
                if value not in recalled and not any(proof.shows(value) for proof in near):
                    sources = [e for e in listed if (e["chapter"], e["value"]) == (page.name, written)]
                    used += sources
                    if not sources:
                        yield f"{at(page, line.number)}: {written} ({line.kind}) is not shown by a cell of its section."
                        continue
                recalled.add(value)
    yield from sources_of_numbers(book, listed, used)


def tried_elsewhere(page, root):
    """Return what `make findings` has measured, for the page that shows it; test_findings.py holds the two together."""
    file = root / "tests" / "text" / "findings.json"
    text = file.read_text(encoding="utf-8") if page.page == "reference/findings" and file.is_file() else ""
    return [Proof(0, value, False) for _, value in numbers(text)]


def sources_of_numbers(book, listed, used):
    """A listed number occurs, and its source is cited there, a target of make, or says that no claim is made."""
    makefile = (book.root / "Makefile").read_text(encoding="utf-8")
    keys = {(page.name, key) for page, _, key in book.cited}
    for entry in listed:
        where, source = f"tests/text/cited_numbers.toml: {entry['value']} of {entry['chapter']}", entry["source"]
        measured = source.startswith("make ") and f"\n{source[5:]}:" in makefile
        if entry not in used:
            yield f"{where} does not occur there, or a cell shows it; remove the entry."
        if not (measured or source.startswith("posed: ") or (entry["chapter"], source) in keys):
            yield f"{where}: expected a key cited there, `make` and a target, or `posed:` and why; found {source!r}."


def claims_are_counted(book):
    """What is said of the trained model is counted: the sentences that say "in this model" hold a listed claim.

    tests/text/counted/CHAPTER.toml lists the claims, each with words of the text that it `says`, words of the output
    that has `shown` it, and how many `sentences` were counted: a hundred or more, or `all` and of which kind, where
    there are fewer.  That number is printed, or stands in the cell or in the sentence.
    """
    folder = book.root / "tests" / "text" / "counted"
    names = {page.name for page in book.chapters}
    for path in sorted(folder.glob("*.toml")):
        if path.stem not in names:
            yield f"tests/text/counted/{path.name}: there is no chapter {path.stem}; rename the file."
    for page in book.chapters:
        path = folder / f"{page.name}.toml"
        listed = tomllib.loads(path.read_text(encoding="utf-8")).get("claim", []) if path.is_file() else []
        told = [(line.number, plain(line.words)) for line in lines(page) if line.kind in ("prose", "quote")]
        for claim in listed:
            yield from (f"tests/text/counted/{path.name}: {what}" for what in uncounted(claim, page, told, book.root))
        for number, text in told:
            if "in this model" in text.lower() and not any(plain(claim["says"]) in text for claim in listed):
                yield f"{at(page, number)}: a claim that is not counted; list it in tests/text/counted/{path.name}."


def uncounted(claim, page, told, root):
    """Yield what a listed claim lacks: its sentence, the output that has shown it, or how many it was counted on."""
    says, count = plain(claim["says"]), str(claim["sentences"])
    texts = [text for _, text in told if says in text]
    outputs = [(cell, printed(ran.outputs)) for cell, ran in zip(page.cells, executed(page, root) or [])]
    found = [(cell, output) for cell, output in outputs if claim["shown"] in output]
    if not texts:
        yield f"“{says}” is not in the text; remove the claim, or list it as it stands there."
    if not found:
        yield f"“{claim['shown']}”, which shows that {says}, is in no output."
    elif not any(count in [n.replace(",", "") for n, _ in numbers(part)] for part in counted(found, texts)):
        yield f"{count}, on which “{says}” was counted, is neither in that output nor in its cell nor in the sentence."
    if claim["sentences"] < 100 and "all" not in claim:
        yield f"“{says}” was counted on {count} sentences; expected a hundred, or `all` and the kind that they are."


def counted(found, texts):
    """Return the texts that may say how many were counted."""
    return [*texts, *(output for _, output in found), *(cell.source.replace("_", "") for cell, _ in found)]


def plain(text):
    """Return a text without the signs of quoted and of stressed words."""
    return re.sub(r"[_*]", "", text)


def quoted_words(book):
    """A quoted _it_ and the pronoun stand in no line together; a word is quoted by _underscores_ all over a page."""
    for page in book.chapters:
        quoted, starred = set(), {}
        for number, kind, tokens in inlines(page):
            if kind not in ("prose", "quote", "caption"):
                continue
            words, stressed, rest = emphases(tokens)
            quoted |= {*words}
            starred |= {word: number for word in stressed if word not in starred}
            if "it" in map(str.lower, words) and PRONOUN.search(rest):
                yield f"{at(page, number)}: the word _it_ stands beside the pronoun; say what the pronoun means."
        for word in sorted(quoted & starred.keys()):
            yield f"{at(page, starred[word])}: *{word}* is quoted elsewhere; write _{word}_, or stress another word."


def derived_code_is_the_module(book):
    """A chapter defines what a docstring says is built in it, in the same code but for docstrings."""
    for page in book.chapters:
        module = module_of(page)
        if not {module, f"{module}/__init__"} & set(book.modules):
            yield f"{at(page)}: there is no {module}.py; a chapter and its module have one name."
        built = {name: (owner, node) for (owner, name), node in book.public.items() if built_in(node) == page.number}
        cells = [cell for cell in page.cells if "raises-exception" not in cell.tags]
        nodes = [(cell, node) for cell in cells for node in tree(cell).body if isinstance(node, DEFINITION)]
        for cell, node in [(cell, node) for cell, node in nodes if node.name in built]:
            owner, ours = built[node.name]
            changes = [d for d in difflib.ndiff(code(ours, node), code(node)) if d[0] in "-+"]
            if changes:
                yield f"{at(page, cell.line)}: {node.name} is not {owner}.py's (-): {' '.join(changes[:4])}."
        for name in built.keys() - {node.name for _, node in nodes}:
            yield f"{at(page)}: no cell defines {built[name][0]}.{name}, whose docstring says that it is built here."


def built_in(node):
    """Return the number of the chapter in which a function or a class is built, 0 where it is in none."""
    found = BUILT.search(ast.get_docstring(node) or "")
    return int(found[1]) if found else 0


def code(node, shown=None):
    """Return the lines of a definition, decorators included, docstrings and layout not; of a class what is `shown`."""
    node = ast.parse(ast.unparse(node)).body[0]
    if isinstance(node, ast.ClassDef) and isinstance(shown, ast.ClassDef):
        methods = {part.name for part in shown.body if isinstance(part, ast.FunctionDef)}
        node.body = [part for part in node.body if getattr(part, "name", None) in {None, *methods}]
    for part in ast.walk(node):
        if isinstance(part, DEFINITION) and ast.get_docstring(part) is not None:
            part.body = part.body[1:] or [ast.Pass()]
    return ast.unparse(node).splitlines()


def headers(book):
    """A page with cells opens with the header of all, a chapter then with its label."""
    for page in book.pages:
        if page.cells and not page.source.startswith(HEADER):
            yield f"{at(page)}: the header is not that of the other chapters; copy one of theirs."
    for page in book.chapters:
        if [name for _, name, _ in shown.labels(page)[:1]] != [f"ch-{slug(page)}"]:
            yield f"{at(page)}: the first label is not (ch-{slug(page)})=; a chapter is labelled with its file's name."


def saving_changes_nothing(book):
    """A page with cells is written as jupytext writes it, so that JupyterLab saves it byte for byte."""
    for page in (page for page in book.pages if page.cells):
        saved = jupytext.writes(jupytext.reads(page.source, "md:myst"), "md:myst")
        if saved != page.source:
            pairs = enumerate(zip(page.source.splitlines(), saved.splitlines()), 1)
            first = next((number for number, (is_now, will_be) in pairs if is_now != will_be), 1)
            yield f"{at(page, first)}: JupyterLab saves other text; run `.venv/bin/jupytext --to md:myst {page.file}`."


def openings(book):
    """A chapter opens with what lists say of it, three to five objectives, what it builds on, and its reading time."""
    for page in book.chapters:
        for kind in COMMENTS:
            if kind not in page.comments:
                yield f"{at(page)}: no comment `% {kind}: …` below the title; {COMMENTS[kind]} shows it."
        boxes = [box for box in page.directives if "objectives" in box.options.get("class", "")]
        if len(boxes) != 1:
            yield f"{at(page)}: {len(boxes)} admonitions of class objectives; expected one."
        for box in boxes:
            listed = items(page, range(box.line, box.end))
            if not 3 <= len(listed) <= 5:
                yield f"{at(page, box.line)}: {len(listed)} objectives; expected three to five."
            told = {line.number: re.sub(r"\W", "", line.words.partition(" ")[0]).lower() for line in lines(page)}
            for line in (line for line in listed if told[line] not in VERBS):
                yield f"{at(page, line)}: an objective begins with “{told[line]}”; expected a verb that one can test."
        starts = [line for level, line, _ in page.headings if level == 2]
        opening = " ".join(line.seen for line in lines(page) if line.number < min(starts, default=0)).lower()
        for what, pattern in (("“Builds on”", "builds? on"), ("reading time in minutes", r"\d+ min")):
            if not re.search(pattern, opening):
                yield f"{at(page)}: no {what} before the first section."


def closings(book):
    """A chapter has its closing sections, a summary of five items, and further reading that cites."""
    for page in book.chapters:
        for title in (title for title in SECTIONS if not section(page, title)):
            yield f"{at(page)}: no section “{title}”."
        points, reading = items(page, section(page, "Summary")), section(page, "Further reading")
        if len(points) != 5:
            yield f"{at(page)}: {len(points)} summary items; expected five."
        if not any(cites is page and line in reading for cites, line, _ in book.cited):
            yield f"{at(page)}: the further reading cites nothing; expected {{cite:t}} or {{cite:p}}."


def exercises(book):
    """Four exercises or more, each with difficulty, minutes, hint, starter cell and a folded solution that checks.

    One that says of itself “in words” has three points as a model answer in place of a check, one of “open end” none.
    """
    for page in book.chapters:
        tasks = spans(page, "exercise")
        if len(tasks) < 4:
            yield f"{at(page)}: {len(tasks)} exercises; expected four or more."
        for task, span in tasks:
            where, said = at(page, task.line), [line.seen for line in lines(page) if line.number in span]
            if not any(re.search(r"\b(Easy|Medium|Hard), \d+ minutes", text) for text in said):
                yield f"{where}: the exercise states no effort; expected such as “Easy, 3 minutes.”"
            if not any("hint" in found.argument.lower() for found in within(page.directives, span)):
                yield f"{where}: the exercise has no hint."
            unchecked = next((found[1] for text in said if (found := UNCHECKED.search(text))), "")
            if not checked(within(page.cells, span)) and not unchecked:
                yield f"{where}: no cell of the exercise calls check(“…”), and it is not “in words” or of “open end”."
            yield from solutions(page, task, checked(within(page.cells, span)), unchecked)


def solutions(page, task, asked, unchecked):
    """The gated solution of one exercise is folded and calls the same checks, or has three points."""
    found = [pair for pair in spans(page, "solution") if pair[0].argument == task.options.get("label")]
    if len(found) != 1:
        yield f"{at(page, task.line)}: {len(found)} solutions to the exercise; expected one {{solution-start}}."
    for start, span in found:
        if set(checked(within(page.cells, span))) != set(asked):
            yield f"{at(page, start.line)}: the solution's cells do not call the exercise's checks, {sorted(asked)}."
        if unchecked == "in words" and len(items(page, span)) != 3:
            yield f"{at(page, start.line)}: the model answer has {len(items(page, span))} points; expected three."
        if "dropdown" not in start.options.get("class", ""):
            yield f"{at(page, start.line)}: the solution is not folded; add :class: dropdown."


def veils(book):
    """What a prediction veils is short, two results and 120 words, and hides nothing that is needed elsewhere.

    The figure that decides may be shown by the choice.
    """
    for page in book.chapters:
        for one in predicted(page):
            fold = next(box for box in page.directives if box.argument == OUTCOMES and box.line > one.first)
            cells = [cell for cell in page.cells if one.first < cell.line < fold.line]
            if not cells:
                continue
            results = [cell for cell in cells if not isinstance(ast.parse(cell.source).body[-1], DEFINES)]
            hidden = range(cells[0].line, fold.line)
            told = [line.words for line in lines(page) if line.number in hidden and line.kind != "alt"]
            words = len(re.findall(r"\w[\w’'-]*", " ".join(told)))
            if len(results) > 2 or words > 120:
                yield f"{at(page, one.first)}: veils {len(results)} results and {words} words; expected 2 and 120."
            rest = "\n".join(text for n, text in enumerate(page.source.split("\n"), 1) if n not in hidden)
            for kind, name, line in shown.labels(page):
                if line in hidden and line != results[0].line and re.search(rf"[(`]{name}[)`]", rest):
                    yield f"{at(page, line)}: the {kind} {name} is needed elsewhere and veiled; put it behind the fold."


def folding(book):
    """JupyterLab shows the cells of solutions folded, by a first line that gives nothing away, and no other cell."""
    for page in book.chapters:
        folded = solved(page)
        for cell in page.cells:
            expected, found = FOLDED if cell in folded else {}, cell.options.get("jupyter", {})
            if found != expected:
                yield f"{at(page, cell.line)}: the cell's metadata `jupyter` is {found}; expected {expected}."
            if expected and gives_away(cell):
                yield f"{at(page, cell.line)}: JupyterLab shows a folded cell's first line; put a comment before it."


def gives_away(cell):
    """Tell whether the first line holds what the cell hands to a check, in full or under its name."""
    handed = set().union(*(names(argument) for call in check_calls(cell) for argument in call.args[1:]))
    first = re.match(r"(\w+) = |(?:#|def |class |import |from )", cell.source)
    return not first or first[1] in handed


def predictions(book):
    """What a reader predicts has choices, or a number to type, a cell that decides, and a fold with their sentences.

    The fold has a sentence for each choice, of which one begins with “Right”; of a number three, the first its range.
    """
    for page in book.chapters:
        for line in (line for line in lines(page) if PREDICTS.search(line.words)):
            where, (choices, cells, said) = at(page, line.number), prediction(page, line.number)
            expected = len(choices) or 3
            right = [sentence for sentence in said if sentence.startswith("Right")]
            if not line.words.startswith("**Predict.** "):
                yield f"{where}: a prediction is a paragraph of its own that begins with **Predict.**"
            elif len(said) != expected or len(choices) not in (0, 2, 3, 4):
                yield f"{where}: {len(choices)} choices and {len(said)} sentences in the fold “{OUTCOMES}”."
            elif len(right) != 1 or (not choices and not RANGE.match(said[0])):
                yield f"{where}: {len(right)} sentences begin with “Right”, or a number has no range; expected one."
            elif not cells:
                yield f"{where}: no cell between the choices and the fold decides."


def prediction(page, line):
    """Return what follows the prediction at a line: its choices, the cells, the sentences of the fold."""
    choices, cells, kinds = [], [], []
    for token, number, box in (part for part in page.parts if part[1] and part[1] > line):
        kinds.append(token.type)
        if token.type == "list_item_open" and not cells and not box and kinds[0] == "bullet_list_open":
            choices.append(number)
        elif token.type == "heading_open" or (box and box.argument == OUTCOMES):
            inside = lines_within(page, box) if box else []
            return choices, cells, [text[2:] for text in inside if text.startswith("- ")]
        elif box and box.name == "code-cell":
            cells.append(box)
    return choices, cells, []


def lines_within(page, box):
    """Return the lines of a box."""
    return page.source.splitlines()[box.line - 1 : box.end]


def predictions_keep_their_secret(book):
    """Nothing that a reader sees before choosing has the words or numbers by which the true choice is known.

    That is headings, the code below the choices, and what stands behind the fold up to the next section's first block.
    """
    for page in book.chapters:
        run = executed(page, book.root)
        if run is None:
            yield f"{at(page)}: {NO_RUN}"
        for line, asked in telling(page, run or []):
            text = " ".join((line.seen or line.words).split())
            if not line.seen.startswith(tuple(TELLS_NOTHING)):
                yield (
                    f"{at(page, line.number)}: “{text[:60]}” tells the answer of the prediction in line {asked.first}; "
                    f"put “{OUTCOMES}” behind it, or write it otherwise."
                )


def solutions_are_right(book):
    """Every check in a solution said ✓ in the run, and no starter cell did."""
    for page in book.chapters:
        run, folded = executed(page, book.root), solved(page)
        if run is None:
            yield f"{at(page)}: {NO_RUN}"
        for cell, result in ((cell, result) for cell, result in zip(page.cells, run or []) if checked([cell])):
            said = printed(result.outputs)
            if ("✓" in said and "✗" not in said) != (cell in folded):
                expected = "✓" if cell in folded else "a hint, as it is not solved"
                yield f"{at(page, cell.line)}: the check said {said.strip()!r}; expected {expected}."


def check_names(book):
    """Each exercise check of the package is called in one chapter, and each that is called exists."""
    calls = {(page.file, name) for page in book.chapters for name in checked(page.cells)}
    counts = Counter(name for _, name in calls)
    for name in sorted(name for name in book.checks if counts[name] != 1):
        yield f"checks.py: the check {name!r} is called in {counts[name]} chapters; expected one."
    for file, name in sorted(call for call in calls if call[1] not in book.checks):
        yield f"{file}:1: check({name!r}) is not in checks.CHECKS."


def rhythm(book):
    """15 code cells or more, none over 20 lines or too wide; of the open ones the median has 4, nine in ten at most 10.

    No three cells of which only the output is seen follow each other.
    """
    for page in book.chapters:
        sizes = {cell.line: sum(bool(line.strip()) for line in cell.source.splitlines()) for cell in page.cells}
        shown = {cell.line: sizes[cell.line] for cell in page.cells if is_open(cell)}
        if len(page.cells) < 15:
            yield f"{at(page)}: {len(page.cells)} code cells; expected 15 or more."
        if statistics.median(shown.values() or [0]) > 4:
            yield f"{at(page)}: the median open cell has {statistics.median(shown.values()):g} lines; expected 4."
        long = [line for line, size in shown.items() if size > 10]
        if len(long) > len(shown) / 10:
            yield f"{at(page)}: {len(long)} of {len(shown)} open cells are over 10 lines long (at {long})."
        for three in zip(page.cells, page.cells[1:], page.cells[2:]):
            between = lines_between(page, *three[:2]) + lines_between(page, *three[1:])
            if not between and all("hide-input" in cell.tags for cell in three):
                yield f"{at(page, three[2].line)}: a third closed cell in a row; join them, or show the core."
        for cell in page.cells:
            if sizes[cell.line] > 20:
                yield f"{at(page, cell.line)}: a cell of {sizes[cell.line]} lines; expected at most 20."
            wide = max(map(len, cell.source.splitlines()), default=0)
            if wide > 88 and "hide-input" not in cell.tags:
                yield f"{at(page, cell.line)}: a line of {wide} characters; expected at most 88, the page's width."
            if re.search(r"\b(plt|pyplot|matplotlib)\b", cell.source):
                yield f"{at(page, cell.line)}: a cell plots with matplotlib; call a function of figures."


def is_open(cell):
    """Return whether the code of a cell is seen at once, as that of folds and solutions is not."""
    return not {"hide-input", "hide-cell"} & {*cell.tags} and "jupyter" not in cell.options


def lines_between(page, first, second):
    """Return the lines with words between two boxes."""
    return [line for line in page.source.splitlines()[first.end : second.line - 1] if line.strip()]


def length(book):
    """A chapter's prose, its exercises and what choices say apart, has 1,400 to 3,500 words."""
    for page in book.chapters:
        apart = {number for what in ("exercise", "solution") for _, span in spans(page, what) for number in span}
        folds = [box for box in page.directives if box.argument == OUTCOMES]
        apart |= {number for box in folds for number in range(box.line, box.end)}
        told = [line for line in lines(page) if line.kind in ("prose", "quote", "heading", "title", "table")]
        read = [line.words for line in told if line.number not in apart]
        words = len(re.findall(r"\w[\w’'-]*", " ".join(read)))
        if not 1400 <= words <= 3500:
            yield f"{at(page)}: {words} words of prose; expected 1,400 to 3,500."


def wording(book):
    """One sentence a line, British spelling, and none of the banned words, but in quotations."""
    for page in book.pages:
        for line in (line for line in lines(page) if line.kind != "quote"):
            text = QUOTED.sub("", line.words)
            for word in BANNED.findall(text):
                yield f"{at(page, line.number)}: “{word}”; leave it out."
            for match in AMERICAN.finditer(text):
                yield f"{at(page, line.number)}: “{match[0]}” is American; the book's spelling is British."
            if line.kind == "prose" and TWO_SENTENCES.search(ABBREVIATION.sub("", line.words)):
                yield f"{at(page, line.number)}: two sentences in one line; expected a line for each."


def labels(book):
    """Labels are kebab-case with the prefix of their kind."""
    for page in book.pages:
        for kind, name, line in shown.labels(page):
            prefix = PREFIXES.get(kind, "ch|eq|fig|def|ex")
            if not re.fullmatch(rf"(?:{prefix})(-[a-z0-9]+)+", name):
                yield f"{at(page, line)}: the label {name!r} of a {kind}; expected {prefix}-kebab-case."


def figures(book):
    """Each chapter draws; each figure has a name, a caption of its own, and an alt text that is a sentence."""
    captions = {}
    for page in book.pages:
        drawn = [cell for cell in page.cells if cell.figure is not None or shown.alts(cell)]
        if page in book.chapters and not drawn:
            yield f"{at(page)}: no figure is drawn; expected one or more."
        for cell in drawn:
            where, figure = at(page, cell.line), cell.figure or {}
            caption = " ".join(figure.get("caption", "").split())
            if not caption or not figure.get("name"):
                yield f"{where}: a figure without caption or name; expected both under mystnb: figure."
            elif caption in captions:
                yield f"{where}: the caption is that of {captions[caption]}; expected another."
            captions.setdefault(caption, where)
            if not shown.alts(cell):
                yield f"{where}: no alt=“…” in the figure's cell."
            for alt in shown.alts(cell):
                if not re.match(r"[A-Z].*\.$", alt) or len(alt.split()) < 6:
                    yield f"{where}: alt {alt!r} is not a sentence that says what is to be seen."
        for found in (found for found in page.directives if found.name in ("figure", "image")):
            yield f"{at(page, found.line)}: {{{found.name}}} shows a file; let a cell draw it by figures."


def glossary(book):
    """Every term of the glossary is used in a chapter, or its definition ends with a link to the one that builds it."""
    boxes = [found.content.source for page in book.pages for found in page.directives if found.name == "glossary"]
    entries = [entry for box in boxes for entry in re.split(r"\n(?=[^\s:%])", box) if "](../chapters/" not in entry]
    terms = {entry.partition("\n")[0].strip().lower() for entry in entries}
    used = {role.target.lower() for page in book.chapters for role in roles(page) if role.name == "term"}
    for term in sorted(terms - used):
        yield f"reference/glossary.md: no chapter uses {{term}}`{term}`."


def references(book):
    """Every reference has a DOI or an address and is cited."""
    for key, entry in parse_file(book.root / "references.bib").entries.items():
        if not {"doi", "url"} & {name.lower() for name in entry.fields}:
            yield f"references.bib: {key} has neither doi nor url."
        if key not in {cited for _, _, cited in book.cited}:
            yield f"references.bib: no page cites {key}."


def package_is_taught(book):
    """Every public function is used in a chapter or on the cover, as its docstring says, which gives shapes too."""
    called = {str(page.number): helpers_in(page) for page in book.chapters}
    drawn = {"cover": set().union(*(helpers_in(page) for page in book.pages if page.name == "index")), **called}
    reached = {place: reach(book, used) for place, used in drawn.items()}
    for (module, name), node in book.public.items():
        where, text = f"{module}.py:{node.lineno}: {name}", ast.get_docstring(node) or ""
        if isinstance(node, ast.ClassDef) or {module, f"{module}.{name}"} & set(NOT_CALLED):
            continue
        users = {place for place, used in reached.items() if name in used}
        if not users:
            yield f"{where} is used in no chapter; use it, make it private, or list it in NOT_CALLED."
        elif not users & set(re.findall(r"\d+|cover", " ".join(re.findall(r"chapters? [\d, and]+|cover", text)))):
            yield f"{where}: the docstring names none of the places that use it: {', '.join(sorted(users))}."
        if built_in(node) and node.args.args and not re.search(r"[Ss]hape|\(…|\([nd]\b", text):
            yield f"{where}: the docstring gives no shapes."


def helpers_in(page):
    """Return the names of the package that a page's cells use: imported, defined, or behind an imported module."""
    nodes = [node for cell in page.cells for node in ast.walk(tree(cell))]
    imports = [n for n in nodes if isinstance(n, ast.ImportFrom) and (n.module or "").startswith(PACKAGES)]
    known = {alias.name for node in imports for alias in node.names} | {
        n.name for n in nodes if isinstance(n, DEFINITION)
    }
    behind = {n.attr for n in nodes if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") in known}
    return behind | known & {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def reach(book, first):
    """Return the names `first`, those that the functions and classes of these names use, and so on."""
    bodies = {node.name: node for tree in book.trees.values() for node in tree.body if isinstance(node, DEFINITION)}
    todo, seen = set(first), set()
    while todo:
        seen |= todo
        todo = set().union(*(names(bodies[name]) for name in todo & set(bodies))) - seen
    return seen


def package_is_small(book):
    """A function has at most 20 lines; matplotlib is imported in figures only."""
    texts = {module: path.read_text(encoding="utf-8").splitlines() for module, path in book.modules.items()}
    for module, code in book.trees.items():
        for node in ast.walk(code):
            where = f"{module}.py:{getattr(node, 'lineno', 1)}"
            if isinstance(node, ast.FunctionDef):
                first = node.body[1 if ast.get_docstring(node) and len(node.body) > 1 else 0].lineno
                size = sum(bool(line.strip()) for line in texts[module][first - 1 : node.end_lineno])
                if size > 20:
                    yield f"{where}: {node.name} has {size} lines; expected at most 20."
            imports = isinstance(node, ast.Import | ast.ImportFrom) and ast.unparse(node)
            if imports and "matplotlib" in imports and not module.startswith("companion/figures"):
                yield f"{where}: matplotlib is imported outside figures."


def portable_myst(book):
    """Nothing that Jupyter Book 2 rejects, hyphenated file names, and links that work on GitHub and in JupyterLab."""
    for page in book.pages:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*\.md", page.file.rpartition("/")[2]):
            yield f"{at(page)}: the file's name is not hyphenated lower case."
        for item in [*roles(page), *page.directives]:
            if re.match(r"footcite|glue|doc$", item.name):
                yield f"{at(page, item.line)}: {{{item.name}}} is not portable; use a link, {{cite:p}} or plain text."
        for number, line in enumerate(page.source.splitlines(), 1):
            if label := re.search(r"\]\((ch-[^)]*)\)", line):
                yield f"{at(page, number)}: the link to {label[1]} works in the built book alone; name the file."


RULES = (
    numbers_are_proved, claims_are_counted, quoted_words, derived_code_is_the_module, headers, saving_changes_nothing,
    openings, closings, exercises,
    predictions, predictions_keep_their_secret, veils, folding, solutions_are_right, check_names, rhythm, length,
    wording, labels, figures, glossary, references, package_is_taught, package_is_small, portable_myst,
)  # fmt: skip
