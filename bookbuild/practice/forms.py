"""Forms of exercises: how each is answered on its page, made from its Check, its FORMS and its solution."""

import ast
import importlib
import re
from dataclasses import dataclass

from bookbuild.practice.lines import function_in, lines_data
from bookbuild.practice.mend import mend_data
from bookbuild.practice.typed import typed_data

CALL = re.compile(r'check\("([\w-]+)", (.+)\)$', re.MULTILINE)
WRITTEN = re.compile(r"\*(?:Easy|Medium|Hard), \d+ minutes, (in words|open end)\.\*")
WORD = re.compile(r"\w+")
GATES = ("exercise-start", "exercise-end", "solution-start", "solution-end")


@dataclass(frozen=True)
class Answer:
    """What is asked for by one call of `check`: its name, Check and form, and the code of the solution or the suspect.

    Of one that is answered in words there is no Check, and the form is what stands behind its minutes.  `rest` is the
    code of the function that is checked where that is another one, and `names` what the code may use.
    """

    name: str
    task: object
    form: object
    code: str
    rest: str
    names: dict

    def says(self, code):
        """Return what `check` says of the last function in a piece of code."""
        from companion.checks import find_hint

        space, code = dict(self.names), f"{code}\n{self.rest}"
        exec(compile(code, "<exercise>", "exec"), space)
        return find_hint(self.task, space[function_in(code).name])

    @property
    def kind(self):
        """The form in a word, as the page's script knows it."""
        if not self.task:
            return "open" if self.form == "open end" else "words"
        if not self.form and self.task.probes:
            raise ValueError(
                f"{self.name} takes a function: add its form (Typed, Lines or Mend), which says how it is answered on "
                "the page, to FORMS in its chapter's file of chapters/companion/checks/exercises."
            )
        return type(self.form).__name__.lower() if self.form else "typed"


def page_data(answers):
    """Return what a page has to know to judge its answers: name -> data."""
    ordered = [answer for answer in answers if answer.kind == "lines"]
    made = {answer.name: data for answer, data in zip(ordered, lines_data(ordered) if ordered else ())}
    makers = {"mend": mend_data, "typed": typed_data, "pick": typed_data}
    made |= {answer.name: makers[answer.kind](answer) for answer in answers if answer.kind in makers}
    return {answer.name: {"name": answer.name} | made.get(answer.name, {}) for answer in answers}


def exercises(chapter):
    """Return the exercises of a chapter: label -> (its text, its code, the code of its solution)."""
    found, place = {}, None
    for token, _, part in chapter.parts:
        name = part.name if part else ""
        if name == "exercise-start":
            place = found.setdefault(part.options["label"], ([], [], []))
            kind = 1
        elif name == "solution-start":
            kind = 2
        elif name in GATES:
            kind = 0
        elif place and kind and (name == "code-cell" or token.info == "python"):
            place[kind].append(part.source if part else token.content)
        elif place and kind == 1 and token.type == "inline":
            place[0].append(token.content)
    return found


def functions(sources):
    """Return the code of the functions in pieces of code: name -> code, of the last of a name."""
    nodes = [(node, source) for source in sources for node in ast.parse(source).body]
    return {
        node.name: ast.get_source_segment(source, node) for node, source in nodes if isinstance(node, ast.FunctionDef)
    }


def imported(module, chapter):
    """Return a module that the exercises of a chapter need; ValueError says that there is none."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        mend = "name the chapter's file after its module, or add the module"
        raise ValueError(f"{chapter.file} has exercises, for which {error.name} is missing: {mend}.") from None


def names_of(chapter, module, code):
    """Return what the code of a chapter's exercises may use: what cells import for it, and its module's functions."""
    names, words = dict(vars(imported(f"minitransformer.{module}", chapter))), set(WORD.findall(code))
    for cell in chapter.cells:
        imports = [node for node in ast.parse(cell.source).body if isinstance(node, (ast.Import, ast.ImportFrom))]
        needed = [node for node in imports if words & {alias.asname or alias.name for alias in node.names}]
        exec(compile(ast.Module(needed, []), "<imports>", "exec"), names)
    return names


def answers_of(chapter):
    """Return what the exercises of a chapter are answered with: label -> list of Answer."""
    from companion import checks

    known, module = exercises(chapter), chapter.name[3:].replace("-", "_")
    if not any(CALL.search("\n".join(code)) for _, code, _ in known.values()):
        return dict.fromkeys(known, ())  # nothing that a page could judge
    forms = imported(f"companion.checks.exercises.{module}", chapter)
    forms = getattr(forms, "FORMS", {})  # none where all are values to type
    pieces = [repr(forms), *(piece for _, code, solution in known.values() for piece in (*code, *solution))]
    names, found = names_of(chapter, module, "\n".join(pieces)), {}
    for label, (text, code, solution) in known.items():
        given, solved = functions(code), functions(solution)
        space = dict(names)  # a step of a lab may use the functions of others
        exec("\n\n".join(solved.values()), space)
        found[label] = []
        for name, answer in CALL.findall("\n".join(code)):
            form = forms.get(name)
            other = getattr(form, "of", "")
            shown = solved.get(other or answer) if hasattr(form, "strangers") else suspect_in(given)
            if shown is None:
                raise ValueError(f"The solution of {label} defines no {other or answer}, whose lines FORMS asks for.")
            found[label].append(Answer(name, checks.task(name), form, shown, given[answer] if other else "", space))
        if written := WRITTEN.search(" ".join(text)):
            found[label].append(Answer(label.removeprefix("ex-"), None, written[1], "", "", names))
    return found


def suspect_in(given):
    """Return the code of the first function that is not left open, "" where all are."""
    return next((code for code in given.values() if not code.endswith("...")), "")
