"""Lines of code to put in order on a page: which names each makes and needs, and what `check` says of every order."""

import ast
import inspect
import itertools
import random

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


def about(piece):
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


def fits(piece, above, made):
    """Tell whether a statement can follow those above it, as the page does."""
    before = above[-1] if above else {"indent": 0, "opens": True}
    if before["opens"]:
        if piece["indent"] != before["indent"] + 4:
            return False
    elif piece["indent"] not in [4, *(line["indent"] + 4 for line in open_blocks(above))]:
        return False
    same = [line for line in open_blocks(above) if line["indent"] == piece["indent"]] if above else []
    if piece["goes_on"] and not any(line["branches"] for line in same):
        return False
    if any(line["ends"] and line["indent"] == 4 for line in above):
        return False
    return made.issuperset(piece["needs"])


def open_blocks(above):
    """Return the headers whose blocks the last line stands in."""
    found, indent = [], above[-1]["indent"]
    for line in reversed(above):
        if line["opens"] and line["indent"] < indent:
            found.append(line)
            indent = line["indent"]
    return found


def orders(pieces, made):
    """Yield every order of the statements that the page lets pass, as lists of places in `pieces`."""

    def go_on(order, made):
        if len(order) == len(pieces):
            if not pieces[order[-1]]["opens"]:
                yield order
            return
        for i, piece in enumerate(pieces):
            if i not in order and fits(piece, [pieces[j] for j in order], made):
                yield from go_on([*order, i], made | set(piece["makes"]))

    yield from go_on([], set(made))


def replaced_by(stranger, pieces):
    """Return the place of the line in whose stead a stranger stands: the one that makes the same, or ends the same."""
    known = about(stranger)
    alike = [
        i
        for i, piece in enumerate(map(about, pieces))
        if (piece["makes"], piece["ends"], piece["opens"]) == (known["makes"], known["ends"], known["opens"])
    ]
    if not alike:
        raise ValueError(f"{stranger!r} stands for no line of the solution: none makes the same name; write another.")
    return max(alike, key=lambda i: common(pieces[i].strip(), stranger.strip()))


def common(a, b):
    """Return how many letters two lines have in common at their beginnings and ends."""
    pairs = zip, lambda x, y: zip(reversed(x), reversed(y))
    return sum(len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], way(a, b)))) for way in pairs)


def lines(answer):
    """Return what the page needs to judge the order of lines, and those lines, mixed.

    Strangers get the hint of `check` for the function that they make, and so does an order that the names allow and
    `check` does not.
    """
    head, pieces = head_of(answer.code), pieces_of(answer.code)

    def says(chosen):
        return answer.says("\n".join([head, *chosen]))

    if hint := says(pieces):
        raise ValueError(f"The solution of {answer.name} is not right: {hint}")
    told = [about(piece) | {"wrong": ""} for piece in pieces]
    parameters = {arg.arg for arg in function_in(answer.code).args.args}
    mine = set().union(parameters, *(one["makes"] for one in told))
    for stranger in answer.form.strangers:
        place = replaced_by(stranger, pieces)
        indent = " " * told[place]["indent"]
        line = "\n".join(indent + part for part in stranger.split("\n"))
        hint = says([*pieces[:place], line, *pieces[place + 1 :]])
        if hint not in answer.task.wrong:
            raise ValueError(f"{stranger!r} is no known mistake of {answer.name}: check says {hint!r}.")
        told.append(about(line) | {"wrong": hint})
    for one in told:
        one["needs"] = [each for each in one["needs"] if each in mine]
    right = told[: len(pieces)]
    failing = {}
    for order in orders(right, parameters):
        if hint := says([pieces[i] for i in order]):
            failing[tuple(order)] = hint
    mixed = list(range(len(told)))
    random.Random(answer.name).shuffle(mixed)
    return {
        "head": head,
        "made": sorted(parameters),
        "pieces": [told[i] for i in mixed],
        "count": len(pieces),
        "failing": [[[mixed.index(i) for i in order], hint] for order, hint in failing.items()],
    }
