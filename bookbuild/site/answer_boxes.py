"""Answer boxes of exercises on the page: beside each what fits it, made from its Check and its solution."""

import json
import re

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx_design.shared import is_component
from sphinx_exercise.nodes import exercise_enumerable_node

from bookbuild.practice.forms import CALL, answers_of, page_data
from bookbuild.site.translator import fold, fold_title

CODE = re.compile(r"`(.+?)`")
RUN = '<button class="link" popovertarget="run">in the page, in Colab or at home</button>'
HOW = (
    f'<p class="how"><span class="scripted">Answer them here, on the page, or write the code yourself, {RUN}. </span>'
    '<a href="../reference/exercises.html">How to do the exercises</a></p>'
)
RUNS = {  # what stands in exercises for which a page alone is not enough
    "open": f'<p class="runs">It needs code that runs: open the chapter {RUN}, then write down what you find.</p>',
    "lab": f'<p class="runs">Some steps need code that runs: open the chapter {RUN}. The others can be done here.</p>',
}
ROOM = 6  # lines of paper for an answer in words
NUMBERS = ["none", "one", "two", "three", "four"]
TASKS = {  # what stands above each form
    "lines": "Put the lines in order below the first; {strangers} do not belong.",
    "choice": "Which line is right?",
    "mend": "Choose a line that is wrong, and what is wrong with it.",
    "pick": "Choose one.",
    "typed": "Type your answer.",
    "words": "Write your answer, then compare.",
    "open": "Write what you found, then compare.",
}


class practice(nodes.General, nodes.Element):  # noqa: N801, docutils calls a visitor by the name of the class
    """What an exercise is answered in; its children are what paper shows of it."""


def visit_practice(translator, node):
    """Open the box that the page's script fills."""
    data = {"data-form": node["form"], "data-answer": node["answer"]}
    translator.body.append(translator.starttag(node, "div", CLASS="practice", **data))


def depart_practice(translator, node):
    """Close it."""
    translator.body.append("</div>\n")


def task(text):
    """Return the paragraph that says what to do: Markdown of nothing but code."""
    parts = CODE.split(text)
    made = [nodes.literal("", part) if i % 2 else nodes.Text(part) for i, part in enumerate(parts)]
    return nodes.paragraph("", "", *made, classes=["task"])


def shown_code(code):
    """Return the node of code that is only shown."""
    return nodes.literal_block(code, code, language="python")


def box(answer, data):
    """Return the node for one answer, with what the page has to know of it."""
    form, code = answer.kind, ""
    if form == "lines":
        form = "lines" if data["count"] > 1 else "choice"
        lines = [data.pop("head"), *(piece.pop("text") for piece in data["pieces"])]
        data["heights"] = [line.count("\n") + 1 for line in lines]
        data["pieces"] = [{key: value for key, value in piece.items() if value} for piece in data["pieces"]]
        code = "\n".join(lines)
    elif form == "mend":
        code = answer.code
    says = getattr(answer.form, "said", "") or TASKS[form]
    strangers = NUMBERS[len(getattr(answer.form, "strangers", ()))]
    shown = [task(says.format(strangers=strangers) if form == "lines" else says), *([shown_code(code)] if code else [])]
    room = data["count"] if form == "lines" else ROOM if form in ("words", "open") else 1
    shown.append(nodes.raw("", f'<div class="room">{"<i></i>" * room}</div>', format="html"))
    answer = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return practice("", *shown, form="words" if form == "open" else form, answer=answer)


def is_cell(node):
    """Tell whether a node is a code cell."""
    return node.get("nb_element") == "cell_code" if isinstance(node, nodes.Element) else False


class AddPractice(SphinxTransform):
    """Put into each exercise what it is answered in, and its cell into a fold."""

    default_priority = 850

    def apply(self, **_):
        """Change the tree of one chapter."""
        chapter = next((one for one in self.app.book_build.book.chapters if one.page == self.env.docname), None)
        if not chapter:
            return
        answers = answers_of(chapter)
        data = page_data([answer for found in answers.values() for answer in found])
        for node in list(self.document.findall(exercise_enumerable_node)):
            fill(node[-1], [(answer, box(answer, data[answer.name])) for answer in answers[node["ids"][0]]])
        for section in self.document.findall(nodes.section):
            if section["ids"][0] == "exercises":
                section.insert(1, nodes.raw("", HOW, format="html"))


def fill(exercise, boxes):
    """Put the box of each answer of an exercise before its cell, or where the code that is to be mended stands."""
    if not boxes:
        return
    cells = [node for node in exercise if is_cell(node) and CALL.search(node.astext())]
    lab = sum(map(is_cell, exercise)) > 1  # whose cells stand among its steps; elsewhere the hint comes before the cell
    if runs := RUNS.get("lab" if lab else boxes[0][0].kind):
        exercise.insert(exercise.first_child_matching_class(nodes.paragraph) + 1, nodes.raw("", runs, format="html"))
    for answer, made in boxes:
        block = next((node for node in exercise if isinstance(node, nodes.literal_block)), None)
        if block and answer.kind == "mend":
            exercise.replace(block, made)
            continue
        own = [cell for cell in cells if answer.name in dict(CALL.findall(cell.astext()))]
        hints = [part for part in exercise if is_component(part, "dropdown")]
        before = own if lab and own else (*own, *hints)
        exercise.insert(min(map(exercise.index, before)), made)
    for cell in cells:
        for output in [part for part in cell if part.astext().startswith("○")]:
            cell.remove(output)
        place = exercise.index(cell)
        exercise[place] = fold("", fold_title("", "Write it yourself"), cell, classes=["write"])


def register(app):
    """Let Sphinx know the box and what makes it."""
    app.add_node(practice, html=(visit_practice, depart_practice))
    app.add_transform(AddPractice)
