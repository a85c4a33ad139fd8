"""The drawing style: pictures follow the theme, say what is to be seen, and are the same every time."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from minitransformer import figures
from minitransformer.transformer import LanguageModel, Transformer
from tests.shared.pages import contrast

ALT = "Something is to be seen here."
RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 8))
MATRICES = {name: RNG.normal(size=(8, 8)) for name in ("W_Q", "W_K", "W_V", "W_O")}


def run(kind=Transformer, layers=2, source=7, target=5, **options):
    """A model and what one run of it left in `seen`."""
    model, seen = kind(11, 8, 2, layers, np.random.default_rng(1), **options), {}
    model(*[np.arange(n) for n in ((source, target) if kind is Transformer else (target,))], seen=seen)
    return model, seen


def texts(picture):
    """The texts of a drawing, in the order in which they are drawn."""
    return ["".join(text.itertext()) for text in ElementTree.fromstring(picture._repr_html_()).iter(SVG + "text")]


def shapes(parts):
    """The shapes of all arrays in nested dicts, as a figure writes them."""
    each = [shapes(part) if isinstance(part, dict) else {" × ".join(map(str, part.shape))} for part in parts.values()]
    return set().union(*each)


SVG = "{http://www.w3.org/2000/svg}"
PICTURES = {
    "heatmap": lambda: figures.heatmap(np.eye(2), ["a", "b"], ["c", "d"], alt=ALT),
    "arrows": lambda: figures.arrows({"a": [1, 2], "b": [-1, 2.1]}, alt=ALT),
    "words": lambda: figures.word_scatter({"g": {"a": [1, 2], "b": [2, 1]}}, alt=ALT),
    "bars": lambda: figures.bars({"T": [0.2, 0.8]}, ["a", "b"], alt=ALT),
    "curves": lambda: figures.curves([1, 2], {"y": [1, 4]}, alt=ALT, xlabel="x", ylabel="y"),
    "panels": lambda: figures.heatmap(
        {"a": np.eye(2), "b": np.eye(2)}, ["a", "b"], ["c", "d"], keep=np.tri(2) > 0, alt=ALT
    ),
    "hull": lambda: figures.hull({"a": [0, 0], "b": [2, 1], "c": [1, 3]}, [[1, 1]], alt=ALT),
    "moves": lambda: figures.tracks({"a": [[0, 0], [1, 2]]}, alt=ALT, xlabel="x", ylabel="y"),
    "products": lambda: figures.matrix_shapes([[("Q", ("n", 2), ("d", 3), "query"), "→"]], alt=ALT),
    "tables": lambda: figures.labelled_tables({"x": ([["a0", "a1"]], [[0, 1]])}, alt=ALT),
    "fan": lambda: figures.weight_fan("bank", {"river": 0.3, "<money>": 0.7}, alt=ALT),
    "concept_map": lambda: figures.concept_map([("1", "1.html", [("a & b", "1.html#a"), ("c", "#c")])], alt=ALT),
    "block": lambda: figures.layer_orders("pre", "post", alt=ALT),
    "architecture": lambda: figures.architecture(*run(), alt=ALT),
    "attention_steps": lambda: figures.attention_steps(X, X[:5], X[:5], np.ones((6, 5), bool), alt=ALT),
    "heads_steps": lambda: figures.multi_head_steps(X, MATRICES, 2, alt=ALT),
    "overview": lambda: figures.language_model_steps(LanguageModel(11, 8, 2, 3, RNG), ["a", "<b>"], [4, 7], alt=ALT),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_whole_xml_with_its_alternative_text(name):
    html = PICTURES[name]()._repr_html_()
    element = ElementTree.fromstring(html)
    assert element.get("aria-label").startswith(ALT) and all(svg.get("viewBox") for svg in element.iter(SVG + "svg"))
    assert len(html) > 500


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_has_no_colour_but_the_themes(name):
    svg = PICTURES[name]().svg
    stray = set(re.findall(r"(?<!, )#[0-9a-fA-F]{6}\b", svg)) - {"#000000"}
    assert not stray and "var(--mt-" in svg


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_the_same_every_time(name):
    assert PICTURES[name]()._repr_html_() == PICTURES[name]()._repr_html_()


@pytest.mark.parametrize("name", ["arrows", "words", "curves", "tables", "concept_map"])
def test_what_has_no_role_has_no_colour_of_one(name):
    assert not [role for role in figures.ROLES if f"var(--mt-{role}" in PICTURES[name]().svg]


@pytest.mark.parametrize("name", ["words", "curves"])
def test_what_has_no_role_is_told_apart_by_its_form(name):
    several = {
        "words": lambda: figures.word_scatter({g: {g: [i, 0], g * 2: [i, 1]} for i, g in enumerate("abc")}, alt=ALT),
        "curves": lambda: figures.curves(
            [1, 2], {g: [1, i] for i, g in enumerate("abcd")}, alt=ALT, xlabel="", ylabel=""
        ),
    }[name]().svg
    marks = set(
        re.findall(r'<path id="[^"]*" d="([^"]*)"' if name == "words" else r"stroke-dasharray: ([\d ,.]+)", several)
    )
    assert len(marks) >= 3


@pytest.mark.parametrize("role", ["ink", *figures.ROLES])
@pytest.mark.parametrize("theme", [0, 1])
def test_numbers_can_be_read_on_the_darkest_cell(role, theme):
    svg = figures.heatmap([[0.0, 1.0]], ["a"], ["b", "c"], role=role, alt=ALT).svg
    (shade,) = {float(shade) for shade in re.findall(r"(?:fill-)?opacity: ([\d.]+)", svg)}
    paper, colour, ink = (figures.PALETTE[name][theme] for name in ("paper", role, "ink"))
    channels = [round(shade * int(colour[i : i + 2], 16) + (1 - shade) * int(paper[i : i + 2], 16)) for i in (1, 3, 5)]
    assert contrast(ink, "#" + "".join(f"{channel:02x}" for channel in channels)) >= 4.5


def test_pictures_in_a_row_are_read_as_one():
    element = ElementTree.fromstring(PICTURES["panels"]()._repr_html_())
    assert element.get("role") == "img" and len(list(element)) == 2
    assert not [svg for svg in element if svg.get("role") or svg.get("aria-label")]


def test_the_text_of_a_drawing_is_text():
    assert "river" in PICTURES["fan"]().svg and "&lt;money&gt;" in PICTURES["fan"]().svg
    assert re.search(r"<text[^>]*>a</text>", PICTURES["bars"]().svg)


@pytest.mark.parametrize("alt", ["", "no capital.", "No full stop"])
def test_alternative_text_must_be_a_sentence(alt):
    with pytest.raises(ValueError, match="it must be a sentence"):
        figures.weight_fan("a", {"b": 1.0}, alt=alt)


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
    assert f" from below: {order}" in figures.layer_orders(norm, alt=ALT).alt


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
@pytest.mark.parametrize("kind", [LanguageModel, Transformer])
def test_the_shapes_of_a_model_are_those_of_its_run(kind, norm):
    model, seen = run(kind, norm=norm)
    drawn = {text.removeprefix("causal, ") for text in texts(figures.architecture(model, seen, alt=ALT))}
    ids = {"5", "7"} if kind is Transformer else {"5"}
    assert {text for text in drawn if re.fullmatch(r"\d+( × \d+)*", text)} == shapes(seen) | ids
    assert "8 → 32 → 8" in drawn and "× 2" in drawn


@pytest.mark.parametrize(
    "options",
    [
        {"layers": 3},
        {"norm": "post"},
        {"norm": "none"},
        {"positions": "rotary"},
        {"hidden": 20},
        {"source": 6},
        {"kind": LanguageModel},
    ],
)
def test_another_model_gives_another_drawing_and_another_text(options):
    first, other = figures.architecture(*run(), alt=ALT), figures.architecture(*run(**options), alt=ALT)
    assert texts(first) != texts(other) and first.alt != other.alt


def test_the_text_tells_every_row_of_the_run_in_order():
    said = figures.architecture(*run(), alt=ALT).alt
    feed_forward = "LN; feed-forward 8 → 32 → 8; + what entered LN → {0} × 8"
    encoder = (
        "source ids → 7; embedding; + with positions → 7 × 8; LN; self-attention 2 × 7 × 7; + what entered LN → 7 × 8"
    )
    decoder = (
        "target ids → 5; embedding; + with positions → 5 × 8; LN; self-attention causal, 2 × 5 × 5; + what entered "
    )
    decoder += "LN → 5 × 8; LN; cross-attention 2 × 5 × 7; + what entered LN → 5 × 8"
    assert said == (
        f"{ALT} Encoder, from below: {encoder}; {feed_forward.format(7)}; LN → 7 × 8; memory; LN to + 2 times. "
        f"Decoder, from below: {decoder}; {feed_forward.format(5)}; LN → 5 × 8; output head → 5 × 11; logits; "
        "LN to + 2 times. Memory enters cross-attention as keys and values."
    )


@pytest.mark.parametrize("name", ["embedded", "attention", "feed_forward", "attention weights", "norm", "logits"])
def test_every_shape_is_that_of_its_own_array(name):
    model, seen = run(LanguageModel)
    side = seen["decoder"]
    part, key = {"norm": (side["norm"], "output"), "logits": (seen, name), "embedded": (side, name)}.get(
        name, (side[1], name)
    )
    part[key] = np.zeros((3, 41, 43))
    assert "3 × 41 × 43" in texts(figures.architecture(model, seen, alt=ALT))


def test_rotary_positions_are_told_where_they_enter():
    said = figures.architecture(*run(positions="rotary"), alt=ALT).alt
    assert said.count("rotary") == 2 and "self-attention rotary, causal, 2 × 5 × 5" in said


def test_three_orders_stand_side_by_side():
    drawn = figures.layer_orders("pre", "post", "none", alt=ALT)
    assert {"Pre-norm", "Post-norm", "No norm"} <= set(texts(drawn)) and drawn.width > PICTURES["block"]().width


def test_a_sublayer_that_is_added_is_drawn():
    model, seen = run(LanguageModel)
    before = texts(figures.architecture(model, seen, alt=ALT))
    for i in (1, 2):
        seen["decoder"][i]["gated_mixing"] = np.zeros((5, 8))
        model.params["decoder"][i]["gated_mixing"] = {}
    after = texts(figures.architecture(model, seen, alt=ALT))
    assert "gated-mixing" not in before and after.count("LN") == before.count("LN") + 1 and "gated-mixing" in after


def test_the_encoder_alone_has_no_decoder():
    model, seen = run()
    del seen["decoder"], seen["logits"]
    drawn = texts(figures.architecture(model, seen, alt=ALT))
    assert "self-attention" in drawn and not {"cross-attention", "logits", "Decoder", "K", "V"} & set(drawn)
    assert "ids" in drawn and drawn.index("7 × 8") and "memory" in drawn


def test_attention_and_heads_say_the_shapes_of_their_arrays():
    drawn = texts(figures.attention_steps(X, X[:5], X[:5, :3], np.ones((6, 5), bool), alt=ALT))
    assert [drawn.count(shape) for shape in ("6 × 8", "5 × 8", "5 × 3", "6 × 3", "6 × 5")] == [1, 1, 1, 1, 5]
    assert "mask" not in texts(figures.attention_steps(X, X, X, alt=ALT))
    heads = texts(figures.multi_head_steps(X, MATRICES, 4, alt=ALT))
    assert heads.count("4 × 6 × 2") == 4 and heads.count("6 × 8") == 6 and "4 heads, weights 4 × 6 × 6" in heads


def test_the_overview_goes_from_words_to_one_row_of_the_vocabulary():
    drawn = texts(PICTURES["overview"]())
    assert "ids" not in drawn and "logits" not in drawn
    assert drawn.index("<b>") < drawn.index("7") < drawn.index("embedding") < drawn.index("output head")
    assert "2 × 11" in drawn and "11" in drawn and "3, one after the other" in drawn


@pytest.mark.parametrize("name", ["block", "architecture", "attention_steps", "heads_steps", "overview"])
def test_a_diagram_stays_inside_its_picture_and_can_be_read_on_a_phone(name):
    picture = PICTURES[name]()
    root = ElementTree.fromstring(picture._repr_html_())
    assert picture.width <= 440 and min(float(text.get("font-size")) for text in root.iter(SVG + "text")) >= 12
    (whole,) = [group for group in root.iter(SVG + "g") if group.get("font-family")]
    (height,) = re.findall(r"translate\(0 (.*)\)", whole.get("transform"))
    for group in [group for group in root.iter(SVG + "g") if group.get("transform")]:
        left = float(group.get("transform").split("(")[1].split()[0])
        for box in group.findall(SVG + "rect"):
            x, y, width, tall = (float(box.get(side)) for side in ("x", "y", "width", "height"))
            assert left + x >= 0 and left + x + width <= picture.width
            assert float(height) + y >= 1 and float(height) + y + tall <= picture.height


def boxes(picture):
    """The front boxes of a diagram of one column, (top, height, width), and its texts, (text, height)."""
    root = ElementTree.fromstring(picture._repr_html_())
    rects = [[float(box.get(side)) for side in ("y", "height", "width")] for box in root.iter(SVG + "rect")]
    return rects, {"".join(text.itertext()): float(text.get("y")) for text in root.iter(SVG + "text")}


def test_boxes_stand_apart_with_their_labels_in_the_middle():
    rects, heights = boxes(figures.multi_head_steps(X, MATRICES, 2, alt=ALT))
    rows = sorted({tuple(rect[:2]) for rect in rects})
    middles = {top + height / 2 for top, height in rows}
    assert {heights[label] - 5 for label in ("x", "split", "merge")} <= middles
    assert heights["attention"] + 2 in middles
    gaps = [below[0] - sum(above) for above, below in pairwise(rows)]
    assert sum(gap < 28 for gap in gaps) == 1  # the two sheets of attention lie on each other


def test_boxes_grow_with_what_stands_in_them():
    model, seen = Transformer(11, 8, 2, 1, np.random.default_rng(1)), {}
    model(np.ones((12, 10), int), np.ones((12, 10), int), seen=seen)
    rects, heights = boxes(figures.architecture(model, seen, alt=ALT))
    frame, widest, *_ = sorted({width for _, _, width in rects}, reverse=True)
    assert frame > widest > 6 * max(len(text) for text in heights)


def test_coordinates_are_rounded_and_numbers_that_are_read_are_not():
    picture = figures.heatmap([[0.1234, 1.0]], ["a"], ["b", "c"], digits=4, alt="A table.")
    assert ">0.1234<" in picture.svg
    assert not re.search(r"<[^>]*\d\.\d{3}[^>]*>", picture.svg)
