"""The exercises' probes: a right answer in which one thing is changed, as by a slip, is not accepted."""

import ast
import importlib
import inspect
from itertools import pairwise

import pytest

from companion.checks import CHAPTERS, CHECKS, _expected, _results
from companion.checks.comparisons import same
from tests.helper.test_checks import ANSWERED

pytestmark = pytest.mark.filterwarnings("ignore")  # Python's and NumPy's about what a slip makes
NEW = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Eq: ast.NotEq}
NEW |= {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.NotEq: ast.Eq}
SYMMETRIC = {"np.maximum", "max", "min", "cosine_similarity", "spatial.distance.cosine"}
WRAPPERS = {"np.array", "np.stack", "np.float64", "np.int64", "bool", "float", "int"}
LIBRARIES = {"np", "special", "spatial"}

EQUAL = {  # why a change makes no difference -> exercise: what changes
    "what only the wrong answers change is 1 here, or not used": """
        feed-forward-bug: b_2 * last(np.arange(len(x))[:, None]) → b_2
        gradients-unit: length ** (1 - longer) → length
        gradients-unit: keep * d_u → d_u
        gradients-unit: 1 - longer → 1
        gradients-unit: 1 - longer → 1 + longer
        gradients-unit: taken * u → u
        multi-head-bug: attention(queries, keys, values, scale=s → attention(queries, keys, values)
        multi-head-bug: scale(x.shape[1], heads) → x.shape[1]
        multi-head-bug: scale(x.shape[1], heads) → scale(heads, x.shape[1])
        multi-head-bug: 1 → 0
        multi-head-bug: 1 → 2
        multi-head-contribution: len(outputs) → outputs
        residuals-remove: skip * stream[-1] → stream[-1]
        residuals-remove: 1 → 0
        residuals-remove: 1 → 2
        transformer-bug: start(x, norm) → x
        transformer-bug: each(step(x, first, lambda x, part=part: → step(x, first, lambda x, part=part: laye
        transformer-count: _parameters(v, d, f, layers, **slip) → _parameters(v, d, f, layers)
        transformer-count: biases * (f + d) → f + d
        transformer-count: 2 * d * last → 2 * d""",
    "the last axis of a table is its axis 1": """
        gradients-bug: -1 → 1
        gradients-bug: -1 → 1
        residuals-block: -1 → 1
        residuals-block: -1 → 1""",
    "an answer is handed copies, and may change them": """
        inside-bug: own.copy() → own
        circuits-without: weights.copy() → weights
        circuits-bug: mixed.copy() → mixed
        circuits-exchange: mixed.copy() → mixed""",
    "a cosine is the same on both sides of 0": """
        inside-pentagon: 72 → -72""",
    "either order will do": """
        attention-from-scratch: zip(special.softmax([a @ b / len(b) ** 0 → zip(v, special.softmax([a @ b / len(b) *
        translation-exact: zip(said, right) → zip(right, said)""",
    "nothing lies exactly on the limit, which is there for rounding; u is drawn from all numbers": """
        attention-reach: _weights(values, point) > 1e-12 → _weights(values, point) >= 1e-12
        training-dropout: u < rate → u <= rate
        training-dropout: b < rate → b <= rate
        language-model-min-p: p >= share * p.max() → p > share * p.max()
        language-model-min-p: logits - logits.max() >= np.log(share) → logits - logits.max() > np.log(share)
        softmax-lab-bets: near > far → near >= far
        softmax-lab-bets: cosine_similarity(x[a], x[b]) > cosine_s → cosine_similarity(x[a], x[b]) >= cosine_""",
    "for reshape any negative length is the one that is left": """
        gradients-bias: 1 → 2
        multi-head-contribution: 1 → 2
        public-model-pack: 2 → -2
        today-neighbours: 1 → 2
        today-neighbours: 1 → 2""",
    "the first 16 of 32 are all but the last 16": """
        public-model-pack: 16 → -16
        public-model-pack: 16 → -16
        public-model-pack: 16 → -16""",
    "the axis is that which is taken where none is named": """
        public-model-halves: np.stack([held & 15, held >> 4], axis=ax → np.stack([held & 15, held >> 4])""",
    "a share is as good as 1 already": """
        multi-head-lab-copier: 40 → 41
        multi-head-lab-previous: 1 → 2
        multi-head-lab-previous: 40 → 41""",
    "the cosine of −x is that of x": """
        positions-row: 3 → -3
        positions-row: 0.03 → -0.03""",
    "none of the last `patience` is better, so they may be among those that are asked, or not": """
        training-stop: i + 1 → i
        training-stop: 1 → 0
        training-stop: i - patience + 1 → i - patience
        training-stop: i - patience + 1 → 1
        training-stop: 1 → 0""",
    "what differs is 0 already, or covered later": """
        training-lab-fed: np.roll(np.where(said < 0, 0, said), 1,  → np.roll(np.where(said < 0, 0, said), 1)
        training-lab-fed: said < 0 → said <= 0
        training-lab-fed: 0 → 1
        translation-score: said.clip(0) → said""",
    "it is so without being asked for": """
        masks-padding: ids.tolist() → ids""",
    "an answer that has not begun may have any place below 0": """
        answering-targets: 1 → 2""",
    "the number of heads changes no number of parameters": """
        transformer-count: 1 → 2""",
}


def slips(node):
    """Yield what slips of the pen make of a piece of code."""
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(number) | float(number)):
            # 1 becomes 0 and not −1, which as an axis is often the same
            yield from map(ast.Constant, {number + 1, 0 if number == 1 else -number} - {number})
        case ast.BinOp(left, op, right):
            yield left
            yield ast.UnaryOp(ast.USub(), right) if isinstance(op, ast.Sub) else right
            if type(op) in NEW:
                yield ast.BinOp(left, NEW[type(op)](), right)
        case ast.Compare(left, [op], [right]) if type(op) in NEW:
            yield ast.Compare(left, [NEW[type(op)]()], [right])
        case ast.UnaryOp(_, operand) | ast.Attribute(operand, "T"):
            yield operand
        case ast.Call(function, arguments, keywords):
            name = ast.unparse(function)
            yield from arguments[: name not in WRAPPERS]
            if isinstance(function, ast.Attribute) and name.partition(".")[0] not in LIBRARIES:
                yield function.value
            for i, (one, two) in enumerate(pairwise(arguments)):
                if name not in SYMMETRIC and ast.unparse(one) != ast.unparse(two):
                    yield ast.Call(function, [*arguments[:i], two, one, *arguments[i + 2 :]], keywords)
            for i in range(len(keywords)):
                yield ast.Call(function, arguments, keywords[:i] + keywords[i + 1 :])


def mutants(tree):
    """Yield for every slip in a tree what it changes, in words, and the source of the whole."""
    for parent in list(ast.walk(tree)):
        for field, value in ast.iter_fields(parent):
            holder, keys = (value, range(len(value))) if isinstance(value, list) else (vars(parent), [field])
            for key in keys:
                before = holder[key]
                for after in slips(before):
                    holder[key] = ast.copy_location(after, before)
                    yield f"{ast.unparse(before):.40} → {ast.unparse(after):.40}", ast.unparse(tree)
                holder[key] = before


def answer_tree(module, table, name):
    """Return the tree of an answer in a module's dict, behind the module's functions that it calls."""
    source = inspect.getsource(module)
    parts = {}
    for part in ast.parse(source).body:
        if isinstance(part, ast.FunctionDef):
            parts[part.name] = part
        elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
            parts[part.targets[0].id] = part
    answers = dict(zip([key.value for key in parts[table].value.keys], parts[table].value.values))
    parts["answer"] = ast.parse("answer = ...").body[0]
    parts["answer"].value = answers[name].args[0] if table == "CHECKS" else answers[name]
    needed, new = [], ["answer"]
    while new:
        needed += new
        used = {node.id for part in new for node in ast.walk(parts[part]) if isinstance(node, ast.Name)}
        new = [part for part in parts if part in used and part not in needed and callable(getattr(module, part))]
    return ast.Module([parts[part] for part in parts if part in needed], [])


def survivors(module, table, name):
    """Return what changes in the mutants of an answer that are accepted."""
    accepted, task = [], CHECKS[name]
    expected = _expected(task)
    for change, source in mutants(answer_tree(module, table, name)):
        space = dict(vars(module))
        try:
            exec(source, space)
            results = _results(task, space["answer"])
        except Exception:
            continue  # it is nobody's answer
        if same(results, expected):
            accepted.append(change)
    return accepted


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_right_answer_with_a_slip_in_it_is_not_accepted(chapter):
    module, accepted = importlib.import_module(f"companion.checks.exercises.{chapter}"), []
    for name, task in module.CHECKS.items():
        answers = [(module, "CHECKS")]
        if task.probes and name in ANSWERED:
            answers.append((ANSWERED[name], "SECOND"))
        accepted += [f"{name}: {change}" for where in answers for change in survivors(*where, name)]
    equal = [line.strip() for lines in EQUAL.values() for line in lines.splitlines()]
    equal = [line for line in equal if line.partition(": ")[0] in module.CHECKS]
    assert sorted(accepted) == sorted(equal), "Give the Check a probe that tells, or add the change to EQUAL, with why."
