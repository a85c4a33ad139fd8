"""What a page says of an answer is what `check` says: tried on right answers and on known mistakes, with no browser."""

import itertools
import json
import re
from math import e, log, pi
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bookbuild import ROOT
from bookbuild.base.node import run_node
from bookbuild.practice import forms, lines, typed
from bookbuild.practice.mend import mend_data
from bookbuild.read.book import Book
from companion.checks import ROUNDED, find_hint
from companion.checks.exercises import Check

JUDGE = Path(__file__).with_name("judge.mjs")
TRIED = 60  # orders of an exercise
UNKNOWN = "not yet: you have "  # what follows are the numbers, which Python writes in another way
POINT = "write a point before decimals, and nothing between thousands"


def judged(**questions):
    """Return the verdicts of the pages' scripts, a list for each kind of question."""
    return json.loads(run_node([JUDGE], "The pages' scripts could not judge", question=json.dumps(questions)))


@pytest.fixture(scope="module")
def answers():
    """Return all answers that are asked for in the book, each with what its page knows."""
    asked = [forms.answers_of(chapter) for chapter in Book(ROOT).chapters]
    every = [answer for chapter in asked for found in chapter.values() for answer in found]
    return list(zip(every, forms.page_data(every).values()))


def of_kind(answers, *kinds):
    """Return those answers that are given in some way."""
    return [(answer, told) for answer, told in answers if answer.kind in kinds]


def test_numbers_get_the_verdict_of_check_also_where_they_are_rounded(answers):
    tried = []
    for answer, told in of_kind(answers, "typed", "pick"):
        value = typed.as_value(answer.task, answer.form)
        for one in (value.right, *value.wrong.values()):
            if told.get("list") or typed.is_typable(one, value.right):
                roundings = [np.round(one, digits) for digits in range(1, 7)]
                tried += [(answer.name, told, value, found) for found in (one, *roundings)]
    found = judged(typed=[[told, typed.flat(one)] for _, told, _, one in tried])["typed"]
    pairs = [(name, one, find_hint(value, one), said) for (name, _, value, one), said in zip(tried, found)]
    assert [pair for pair in pairs if pair[2] != pair[3] and not all(UNKNOWN in said for said in pair[2:])] == []


def test_orders_of_lines_get_the_verdict_of_check(answers):
    """An order is right on the page where `check` accepts it; a stranger in it gets the hint for what it makes."""
    tried = []
    for answer, told in of_kind(answers, "lines"):
        head, shown = told["head"], [piece["text"] for piece in told["pieces"]]
        written = [shown.index(piece) for piece in lines.pieces_of(answer.code)]
        orders = [*itertools.islice(itertools.permutations(written), TRIED), written[:-1]]
        for stranger in set(range(len(shown))) - {*written}:
            place = lines.replaced_by(shown[stranger].strip(), [shown[i].strip() for i in written])
            orders.append([*written[:place], stranger, *written[place + 1 :]])
        for order in orders:
            try:
                hint = answer.says("\n".join([head, *(shown[i] for i in order)]))
            except SyntaxError as error:
                hint = str(error)
            tried.append((answer, told, list(order), hint))
    found = judged(orders=[[told, order] for _, told, order, _ in tried])["orders"]
    wrong = []
    for (answer, told, order, hint), said in zip(tried, found):
        dead = said.endswith("is never reached: the function has returned.")
        stranger = any(told["pieces"][i]["wrong"] for i in order)
        agrees = said == hint if stranger else bool(said) == bool(hint)
        if not (agrees or dead):
            wrong.append((answer.name, order, hint, said))
    assert wrong == []


def test_what_is_typed_is_read_as_it_was_meant_or_not_at_all():
    """A comma that could be a decimal one is never guessed; the second entry says that a whole number is asked for."""
    values = {
        ("log(3) / 2", False): log(3) / 2,
        ("2 * 3**4", False): 162,
        ("-2^2", False): -4,
        ("√2·√2", False): 2,
        ("np.log2(8)", False): 3,
        ("20π", False): 20 * pi,
        ("2 sqrt(4)", False): 4,
        ("2(3 + 4)", False): 14,
        ("3e", False): 3 * e,
        ("3e-2", False): 0.03,
        ("135°", False): 135,
        ("cos(180°)", False): -1,
        ("80%", False): 0.8,
        ("5 1/3", False): 16 / 3,
        ("−5 1/3", False): -16 / 3,
        ("–0.5", False): -0.5,
        ("True", False): 1,
        ("false", False): 0,
        ("885,248", True): 885248,
        ("1,234,567", False): 1234567,
        ("1,234.5", False): 1234.5,
    }
    found = judged(values=list(values))["values"]
    assert {text: said for (text, _), said in zip(values, found)} == pytest.approx(
        {text: number for (text, _), number in values.items()}
    )
    unread = {
        ("0,032", False): POINT,
        ("0,032", True): POINT,
        ("-0,693", False): POINT,
        ("0,5", True): POINT,
        ("885,248", False): POINT,
        ("1.234,5", False): POINT,
        (",5", False): POINT,
        ("1/2π", False): "is not a number or a sum",  # which can be read in two ways
        ("5 3", False): "is not a number or a sum",
        ("cat", False): "is not a number or a sum",
        ("constructor", False): "is not a number or a sum",
        ("(" * 20_000, False): "too long",
        (" ", False): "Type a number first.",
    }
    found = judged(values=list(unread))["values"]
    assert [(text[:20], said) for ((text, _), part), said in zip(unread.items(), found) if part not in str(said)] == []


def test_of_two_answers_that_are_near_the_nearer_one_is_meant():
    told = {"answers": [["", [0.5003]], ["that is another one.", [0.4983]]]}
    tried = {0.5003: "", 0.5: ROUNDED, 0.50028: ROUNDED, 0.498: "that is another one.", 0.6: "not yet: you have 0.6."}
    assert dict(zip(tried, judged(typed=[[told, [number]] for number in tried])["typed"])) == tried


def test_a_line_below_a_block_that_has_ended_is_told_which():
    pieces = [
        {"text": "", "indent": 4, "opens": True, "wrong": ""},
        {"text": "", "indent": 8, "opens": False, "wrong": ""},
        {"text": "", "indent": 4, "opens": False, "wrong": ""},
    ]
    told = {"pieces": pieces, "made": [], "count": 3, "failing": []}
    tried = {
        (0, 1, 2): "",
        (2, 1, 0): "line 3 is indented, and no line above it opens a block.",
        (0, 2, 1): "line 2 opens a block, so an indented line must follow it.",
        (2, 0): "every line that you have is right, and something is missing.",
    }
    assert dict(zip(tried, judged(orders=[[told, order] for order in tried])["orders"])) == tried
    told["count"] = 2
    sentence = "line 3 opens a block, and nothing stands in it."
    assert judged(orders=[[told, [2, 0]]])["orders"] == [sentence]
    pieces.append({"text": "", "indent": 8, "opens": False, "wrong": ""})
    told["count"] = 4
    sentence = "line 5 is indented, and the block that line 2 opens has ended above it."
    assert judged(orders=[[told, [0, 1, 2, 3]]])["orders"] == [sentence]


def test_a_function_without_a_form_is_said_to_lack_one():
    task = Check(abs, {}, ((1.0,),))
    with pytest.raises(ValueError, match=r"halving takes a function: add its form .* to FORMS in"):
        forms.page_data([forms.Answer("halving", task, None, "", "", {})])


CODE = "def f(x):\n    y = x * 3\n    return y - 1"
TWICE_AND_ONE = {"y = x * 2": lambda code: "x * 2" in code, "return y + 1": lambda code: "y + 1" in code}


@pytest.mark.parametrize(
    ("causes", "wrong", "says"),
    [
        ({"y = 3": {}}, [], "'y = 3' stands 0 times in the code of probe; give a line that stands once."),
        ({"y = x * 3": {"twice": "y = x * 2"}}, [], "One choice of causes has to mend probe, and no other"),
        (
            {"y = x * 3": {"twice": "y = x * 2"}, "return y - 1": {"plus": "return y + 1", "more": "return y + 1 "}},
            ["a part"],
            "One choice of causes has to mend probe, and no other; these do: ['0,0', '0,1']",
        ),
        (
            {"y = x * 3": {"twice": "y = x * 2"}, "return y - 1": {"plus": "return y + 1"}},
            ["as it was"],
            "probe has no hint for -1,0, which mends a part; add what is left to the Check's `wrong`.",
        ),
    ],
)
def test_a_repair_is_one_and_every_part_of_it_has_its_hint(causes, wrong, says):
    def hint(code):
        done = [test(code) for test in TWICE_AND_ONE.values()]
        return {0: "as it was", 1: "a part", 2: ""}[sum(done)]

    answer = SimpleNamespace(
        name="probe", form=SimpleNamespace(causes=causes), code=CODE, says=hint, task=SimpleNamespace(wrong=wrong)
    )
    with pytest.raises(ValueError, match=f"^{re.escape(says)}"):
        mend_data(answer)
