"""The drawing style: pictures follow the theme, say what is to be seen, and are the same every time."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from minitransformer import figures

ALT = "Something is to be seen here."
PICTURES = {
    "heatmap": lambda: figures.heatmap(np.eye(2), ["a", "b"], ["c", "d"], alt=ALT),
    "arrows": lambda: figures.arrows({"a": [1, 2], "b": [-1, 2.1]}, alt=ALT),
    "words": lambda: figures.words({"g": {"a": [1, 2], "b": [2, 1]}}, alt=ALT),
    "bars": lambda: figures.bars({"T": [0.2, 0.8]}, ["a", "b"], alt=ALT),
    "curves": lambda: figures.curves([1, 2], {"y": [1, 4]}, alt=ALT, xlabel="x", ylabel="y"),
    "panels": lambda: figures.heatmap(
        {"a": np.eye(2), "b": np.eye(2)}, ["a", "b"], ["c", "d"], keep=np.tri(2) > 0, alt=ALT
    ),
    "hull": lambda: figures.hull({"a": [0, 0], "b": [2, 1], "c": [1, 3]}, [[1, 1]], alt=ALT),
    "moves": lambda: figures.moves({"a": [[0, 0], [1, 2]]}, alt=ALT, xlabel="x", ylabel="y"),
    "products": lambda: figures.products([[("Q", ("n", 2), ("d", 3), "query"), "→"]], alt=ALT),
    "tables": lambda: figures.tables({"x": ([["a0", "a1"]], [[0, 1]])}, alt=ALT),
    "fan": lambda: figures.fan("bank", {"river": 0.3, "<money>": 0.7}, alt=ALT),
    "concept_map": lambda: figures.concept_map([("1", "1.html", [("a & b", "1.html#a"), ("c", "#c")])], alt=ALT),
    "block": lambda: figures.block("pre", "post", alt=ALT),
}


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


def contrast(a, b):
    high, low = sorted([luminance(a), luminance(b)], reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_whole_xml_with_its_alternative_text(name):
    html = PICTURES[name]()._repr_html_()
    element = ElementTree.fromstring(html)
    assert element.get("aria-label").startswith(ALT) and element.get("viewBox")
    assert len(html) > 500


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_has_no_colour_but_the_themes(name):
    svg = PICTURES[name]().svg
    stray = set(re.findall(r"(?<!, )#[0-9a-fA-F]{6}\b", svg)) - {"#000000"}
    assert not stray and "var(--mt-" in svg


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_the_same_every_time(name):
    assert PICTURES[name]()._repr_html_() == PICTURES[name]()._repr_html_()


def test_the_text_of_a_drawing_is_text():
    assert "river" in PICTURES["fan"]().svg and "&lt;money&gt;" in PICTURES["fan"]().svg
    assert re.search(r"<text[^>]*>a</text>", PICTURES["bars"]().svg)


@pytest.mark.parametrize("alt", ["", "no capital.", "No full stop"])
def test_alternative_text_must_be_a_sentence(alt):
    with pytest.raises(ValueError, match="it must be a sentence"):
        figures.fan("a", {"b": 1.0}, alt=alt)


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("role", [role for role in figures.PALETTE if role not in ("grid", "paper")])
def test_colours_can_be_read_on_their_paper(role, theme):
    assert contrast(figures.PALETTE[role][theme], figures.PALETTE["paper"][theme]) >= 4.5


def test_the_style_sheet_defines_every_colour_for_both_themes():
    light, dark = figures.css().split("}")[:2]
    for role, shades in figures.PALETTE.items():
        assert f"--mt-{role}:{shades[0]};" in light and f"--mt-{role}:{shades[1]};" in dark


def test_links_of_the_map_are_kept():
    svg = PICTURES["concept_map"]().svg
    assert re.findall('href="([^"]*)"', svg) == ["1.html", "1.html#a", "#c"] and "a &amp; b" in svg


@pytest.mark.parametrize(
    ("norm", "order"),
    [
        ("pre", "x; LN; attention; + what entered LN; LN; feed-forward; + what entered LN; layer’s output."),
        ("post", "x; attention; + what entered attention; LN; feed-forward; + what entered feed-forward; LN; layer’s"),
        ("none", "x; attention; + what entered attention; feed-forward; + what entered feed-forward; layer’s output."),
    ],
)
def test_a_block_is_drawn_in_the_order_of_its_norm(norm, order):
    assert f" from below: {order}" in figures.block(norm, alt=ALT).alt
