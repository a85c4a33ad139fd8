"""What `make kernels` finds where processors print something else, and what it lets pass."""

import os
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_output

from bookbuild import ROOT
from bookbuild.read.book import Book
from minitransformer.public_model.smollm2 import FILE
from tools import kernels

CELL = SimpleNamespace(source='print("moved by", apart)\nfigures.curves(x, y)', line=12, tags=[])
PAGE = SimpleNamespace(page="chapters/10-positions", file="chapters/10-positions.md", cells=[CELL])
DRAWN = (
    '<svg><clipPath id="p{name}"></clipPath><path d="M{x} 2.5L30 4" clip-path="url(#p{name})"/>'
    "<text>{text}</text></svg>"
)


def said(text):
    return [new_output("stream", name="stdout", text=text)]


def shown(**parts):
    return [new_output("display_data", {"text/html": DRAWN.format(**{"name": "a1", "x": 10, "text": "0.5"} | parts)})]


def different(one, other, *allowed):
    return kernels.differences(PAGE, [one], [other], allowed)


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (said("moved by 1e-15\n"), said("moved by 9e-16\n"), [(12, "moved by 1e-15", "moved by 9e-16")]),
        (said("a\nb\n"), said("a\n"), [(12, "b", None)]),
        (said("a\n"), said("a\n") + said("b\n"), [(12, None, "b")]),
        (shown(), shown(text="0.6"), [(12, "0.5", "0.6")]),
        (
            shown(),
            shown(x=11),
            [(12, '<path d="M10 2.5L30 4" clip-path="url(#)"/>', '<path d="M11 2.5L30 4" clip-path="url(#)"/>')],
        ),
        (shown(), shown(x=10.1, name="b2"), []),
        (said("a\n"), said("a\n"), []),
    ],
)
def test_each_line_that_a_reader_sees_differ_is_found(one, other, found):
    assert different(one, other) == found


def test_numbers_of_a_state_may_differ_by_less_than_what_is_shown():
    state = '<div class="mt-explorable" data-state="{{&quot;weights&quot;: [0.25, {}, 1e-9]}}">'
    drawn = lambda number: [new_output("display_data", {"text/html": state.format(number)})]
    assert different(drawn(0.5), drawn(0.505)) == []
    assert len(different(drawn(0.5), drawn(0.55))) == 1


def test_what_is_allowed_passes_in_its_cell_alone():
    one, other = said("moved by 1e-15\n"), said("moved by 9e-16\n")
    assert different(one, other, (r"figures\.curves", "^moved by")) == []
    assert len(different(one, other, (r"figures\.curves", "^<path"))) == 1
    assert len(different(one, other, ("another cell", "^moved by"))) == 1


def test_all_that_is_allowed_is_of_cells_of_the_book_has_a_reason_and_prints_nothing():
    assert kernels.idle(Book(ROOT).pages, kernels.read_allowed()) == []
    assert kernels.idle([PAGE], {PAGE.page: [("curves", "^<"), ("gone", "^<")]}) == [f"{PAGE.page}: gone"]
    for row in kernels.rows_of():
        assert set(row) == {"page", "cell", "line", "why"} and row["line"].startswith("^<"), row


def test_a_processor_is_another_one_to_the_cells_alone(monkeypatch):
    for variable in kernels.VARIABLES:
        monkeypatch.setenv(variable, "left over")
    newest, older = (kernels.environment(name, "place") for name in ("AVX-512", "SSE4.2"))
    assert not {*kernels.VARIABLES} & {*newest}
    assert older["OPENBLAS_CORETYPE"] == "Nehalem" and "X86_V4" in older["NPY_DISABLE_CPU_FEATURES"]
    assert newest["MINITRANSFORMER_CACHE"] == older["MINITRANSFORMER_CACHE"] == "place"


def test_the_published_model_is_lent_to_each_processor(tmp_path, monkeypatch):
    monkeypatch.setenv("MINITRANSFORMER_CACHE", str(tmp_path))
    (tmp_path / FILE).write_bytes(b"GGUF")
    seen = lambda page, variables: os.listdir(variables["MINITRANSFORMER_CACHE"])
    monkeypatch.setattr(kernels, "page_outputs", seen)
    assert kernels.run_pages([PAGE], "SSE4.2") == {PAGE.page: [FILE]}


def test_only_what_the_machine_has_is_tried():
    assert kernels.possible_processors({"baseline": ["X86_V2"], "found": ["X86_V3"]}) == ["AVX2", "SSE4.2"]
    assert kernels.possible_processors({"baseline": ["NEON"]}) == []


def test_a_planted_difference_fails_and_names_the_chapter_and_the_line(monkeypatch, capsys):
    code = "import os\nprint('kernels:', os.environ['OPENBLAS_CORETYPE'])"
    page = SimpleNamespace(**vars(PAGE) | {"cells": [SimpleNamespace(source=code, line=7, tags=[])]})
    monkeypatch.setattr(kernels, "Book", lambda root: SimpleNamespace(pages=[page]))
    monkeypatch.setattr(kernels, "read_allowed", dict)
    monkeypatch.setattr(kernels, "possible_processors", lambda: ["AVX2", "SSE4.2"])
    monkeypatch.setattr(kernels, "book_outputs", lambda page: [said("kernels: Haswell\n")])
    assert kernels.main([]).startswith("1 lines differ between processors")
    assert capsys.readouterr().out.splitlines()[:3] == [
        "chapters/10-positions.md, cell at line 7",
        "  the book: kernels: Haswell",
        "  SSE4.2: kernels: Nehalem",
    ]


def test_what_the_book_prints_is_there_for_each_cell():
    for page in Book(ROOT).pages:
        if page.cells:
            assert len(kernels.book_outputs(page)) == len(page.cells), page.page


def test_where_a_machine_is_but_one_of_them_nothing_is_compared(monkeypatch, capsys):
    monkeypatch.setattr(kernels, "possible_processors", list)
    assert kernels.main([]) is None
    assert capsys.readouterr().out.startswith("Nothing to compare: this machine can be none of AVX-512, ")
