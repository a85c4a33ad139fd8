"""Parsons problems: lines of code to put in order on a page, and what `check` says of every order."""

import ast
import inspect
import itertools
import json
import random
from pathlib import Path

from bookbuild.base.node import run_node

ORDERS = Path(__file__).with_name("orders.mjs")
HEADERS = (ast.For, ast.While, ast.If, ast.With)


def function_in(code):
    """Return the last function of a piece of code, as a tree."""
    return [node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)][-1]


def head_of(code):
    """Return the def line of the last function."""
    function = function_in(code)
    return code.split("\n")[function.lineno - 1]


def pieces_of(code):
    """Return the statements of the last function, each with its indent; of a block its header is a statement."""
    source, found = code.split("\n"), []

    def add(first, last):
        text = "\n".join(source[first - 1 : last])
        found.append(text)

    def visit(body):
        for node in body:
            if not isinstance(node, HEADERS):
                add(node.lineno, node.end_lineno)
                continue
            add(node.lineno, node.body[0].lineno - 1)
            visit(node.body)
            rest = getattr(node, "orelse", [])
            if (
                len(rest) == 1
                and isinstance(rest[0], ast.If)
                and source[rest[0].lineno - 1].lstrip().startswith("elif")
            ):
                visit(rest)
            elif rest:
                add(rest[0].lineno - 1, rest[0].lineno - 1)
                visit(rest)

    visit(function_in(code).body)
    return found


def tree_of(piece):
    """Return the tree of a statement; a header gets a body."""
    text = inspect.cleandoc(piece)
    if not text.endswith(":"):
        return ast.parse(text)
    if text.startswith(("elif", "else")):
        text = f"if True:\n    pass\n{text}"
    return ast.parse(f"{text}\n    pass")


def statement_data(piece):
    """Return what the page has to know of a statement: the names it makes and needs, and how it stands in a block."""
    makes, needs, inner = set(), set(), set()
    for node in ast.walk(tree_of(piece)):
        if isinstance(node, ast.Name):
            (makes if isinstance(node.ctx, ast.Store) else needs).add(node.id)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            needs.add(node.target.id)
        if isinstance(node, (ast.comprehension, ast.Lambda)):
            target = node.args if isinstance(node, ast.Lambda) else node.target
            inner |= {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
            inner |= {part.arg for part in ast.walk(target) if isinstance(part, ast.arg)}
    makes, needs = makes - inner, needs - inner  # at the end, as a target is met before the names within it
    text = piece.strip()
    return {
        "text": piece,
        "indent": len(piece) - len(piece.lstrip(" ")),
        "makes": sorted(makes),
        "needs": sorted(needs),
        "opens": text.endswith(":"),
        "branches": text.startswith(("if", "elif")),
        "goes_on": text.startswith(("elif", "else")),
        "ends": text.startswith("return"),
    }


def orders(questions):
    """Return for each (statements, names made before) every order that the page lets pass, as lists of places."""
    told = json.dumps([{"pieces": pieces, "made": made} for pieces, made in questions])
    return json.loads(run_node([ORDERS], "The orders of an exercise's lines could not be found", question=told))


def replaced_by(stranger, pieces):
    """Return the place of the line in whose stead a stranger stands: the one that makes the same, or ends the same."""
    known = statement_data(stranger)
    alike = [
        i
        for i, piece in enumerate(map(statement_data, pieces))
        if (piece["makes"], piece["ends"], piece["opens"]) == (known["makes"], known["ends"], known["opens"])
    ]
    if not alike:
        raise ValueError(f"{stranger!r} stands for no line of the solution: none makes the same name; write another.")
    return max(alike, key=lambda i: common(pieces[i].strip(), stranger.strip()))


def common(a, b):
    """Return how many letters two lines have in common at their beginnings and ends."""
    pairs = zip, lambda x, y: zip(reversed(x), reversed(y))
    return sum(len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], way(a, b)))) for way in pairs)


def lines_data(answers):
    """Return for each answer what the page needs to judge the order of its lines, and those lines, mixed.

    Strangers get the hint of `check` for the function that they make, and so does an order that the names allow and
    `check` does not.
    """
    parts = [parts_of(answer) for answer in answers]
    passed = orders([(right, made) for right, _, made in parts])
    return [shuffled_lines(answer, *part, allowed) for answer, part, allowed in zip(answers, parts, passed)]


def parts_of(answer):
    """Return what the page has to know of the solution's lines and of the strangers, and the names of arguments."""
    pieces = pieces_of(answer.code)
    if hint := verdict_on(answer, pieces):
        raise ValueError(f"The solution of {answer.name} is not right: {hint}")
    right, strangers = [statement_data(piece) | {"wrong": ""} for piece in pieces], []
    for stranger in answer.form.strangers:
        place = replaced_by(stranger, pieces)
        indent = " " * right[place]["indent"]
        line = "\n".join(indent + part for part in stranger.split("\n"))
        hint = verdict_on(answer, [*pieces[:place], line, *pieces[place + 1 :]])
        if hint not in answer.task.wrong:
            raise ValueError(f"{stranger!r} is no known mistake of {answer.name}: check says {hint!r}.")
        strangers.append(statement_data(line) | {"wrong": hint})
    made = sorted(arg.arg for arg in function_in(answer.code).args.args)
    mine = {*made}.union(*(one["makes"] for one in right))
    for one in (*right, *strangers):
        one["needs"] = [name for name in one["needs"] if name in mine]
    return right, strangers, made


def verdict_on(answer, pieces):
    """Return what `check` says of these lines below the def line."""
    return answer.says("\n".join([head_of(answer.code), *pieces]))


def shuffled_lines(answer, right, strangers, made, allowed):
    """Return the lines, mixed, with what `check` says of the `allowed` orders of the right ones."""
    hints = [verdict_on(answer, [right[i]["text"] for i in order]) for order in allowed]
    places = list(range(len(right) + len(strangers)))
    random.Random(answer.name).shuffle(places)
    return {
        "head": head_of(answer.code),
        "made": made,
        "pieces": [[*right, *strangers][i] for i in places],
        "count": len(right),
        "failing": [[[places.index(i) for i in order], hint] for order, hint in zip(allowed, hints) if hint],
    }
