"""The drawing style: pictures follow the theme, say what is to be seen, and show what they are given."""

import re
import subprocess
import sys
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from companion import figures
from minitransformer.transformer import LanguageModel, parameter_count
from tests.shared.colours import contrast

ALT = "Something is to be seen here."
SVG = "{http://www.w3.org/2000/svg}"
X = np.random.default_rng(0).normal(size=(6, 8))
CURVES = {"low": [1, 2], "middle": [1, 3], "high": [1, 4]}
SMALL = {f"step {step}\nloss": np.full((8, 8), 0.1) for step in range(5)}  # panels, of pale shades alone
NEAR = {"one": [1, 3], "two": [2, 3], "three": [3, 3.01]}  # lines that end at one height


def run(layers=2, **options):
    """A model and what one run of it left in `record`."""
    model, record = LanguageModel(11, 8, 2, layers, np.random.default_rng(1), **options), {}
    model(np.arange(5), record=record)
    return model, record


def lines(given):
    return figures.curves([1, 2], given, alt=ALT, xlabel="x", ylabel="y")


def tree(picture):
    return ElementTree.fromstring(picture._repr_html_())


def texts(picture):
    """The texts of a drawing, in the order in which they are drawn."""
    return ["".join(text.itertext()) for text in tree(picture).iter(SVG + "text")]


def shapes(parts):
    """The shapes of all arrays in nested dicts, as a figure writes them."""
    each = [shapes(part) if isinstance(part, dict) else {" × ".join(map(str, part.shape))} for part in parts.values()]
    return set().union(*each)


PICTURES = {
    "heatmap": lambda: figures.heatmap(np.eye(2), ["a", "b"], ["c", "d"], alt=ALT),
    "panels": lambda: figures.heatmap(dict.fromkeys("ab", np.eye(2)), "ab", "cd", keep=np.tri(2) > 0, alt=ALT),
    "small panels": lambda: figures.heatmap(SMALL, "abcdefgh", "12345678", digits=None, alt=ALT),
    "arrows": lambda: figures.arrows({"a": [1, 2], "b": [-1, 2.1]}, alt=ALT),
    "word_scatter": lambda: figures.word_scatter(
        {g: {g: [i, 0], g * 2: [i, 1]} for i, g in enumerate("abc")}, alt=ALT, xlabel="x", ylabel="y"
    ),
    "rays": lambda: figures.word_scatter({"a": {"b": [1, 2]}}, alt=ALT, xlabel="x", ylabel="y", rays=True),
    "bars": lambda: figures.bars({"T": [0.2, 0.8]}, ["a", "b"], alt=ALT),
    "curves": lambda: lines(CURVES),
    "dot_rows": lambda: figures.dot_rows({"A": {"a": [0, 9], "b": [7, 7]}, "B": {"c": [100]}}, alt=ALT, xlabel="x"),
    "word_ranges": lambda: figures.word_ranges(
        {"A": {"a": [1, 2], "b": [2.5, 3]}, "B": {"c": [-0.5]}}, alt=ALT, xlabel="x"
    ),
    "share_bars": lambda: figures.share_bars({"T": [[0.5, 0.3, 0.2], [0.8, 0.12, 0.08]]}, ["a", "b"], alt=ALT),
    "grown_bars": lambda: figures.grown_bars(
        [[1, 2], [3, 2.5]], ["a", "b"], [("c", "muted"), ("d", "weight")], alt=ALT, xlabel="x"
    ),
    "normed_points": lambda: figures.normed_points([[1, 2, 3], [4, 0, 0]], alt=ALT),
    "hull": lambda: figures.hull({"a": [0, 0], "b": [2, 1], "c": [1, 3]}, [[1, 1]], alt=ALT),
    "dependence_tables": lambda: figures.dependence_tables({"a": np.ones((2, 2), bool)}, ["x", "y"], alt=ALT),
    "beginnings": lambda: figures.beginnings(["the", "cat"], ["cat", "sat"], alt=ALT),
    "matrix_shapes": lambda: figures.matrix_shapes([[("Q", ("n", 2), ("d", 3), "query"), "→"]], alt=ALT),
    "chain_of_slopes": lambda: figures.chain_of_slopes(
        {"w": 0.5, "<L>": 1}, {"d_w": -2, "d_L": 1}, [("× 2", "× −2")], alt=ALT
    ),
    "labelled_tables": lambda: figures.labelled_tables({"x": ([["a0", "a1"]], [[0, 1]])}, alt=ALT),
    "lookup_boxes": lambda: figures.lookup_boxes(["a <b>"], ["c", "d"], alt=ALT),
    "guess_and_nudge": lambda: figures.guess_and_nudge("ab", {"a": [1, 0], "b": [0, 1], "c": [1, -1]}, alt=ALT),
    "weight_fan": lambda: figures.weight_fan("bank", {"river": 0.3, "<money>": 0.7}, alt=ALT),
    "self_attention_tables": lambda: figures.self_attention_tables(
        np.eye(5, 4), {"W_Q": np.eye(4, 2), "W_K": np.eye(4, 2), "W_V": np.eye(4, 3)}, "abcde", alt=ALT
    ),
    "layer_orders": lambda: figures.layer_orders("pre", "post", alt=ALT),
    "parameter_blocks": lambda: figures.parameter_blocks({"a": {"": 300}, "<b>": {"attention": 500, "": 4}}, alt=ALT),
    "backward_steps": lambda: figures.backward_steps(run()[0], [4, 7, 1], alt=ALT),
    "traced": lambda: figures.traced(
        ["a", "b"],
        {(0, 0): ("<c>", "d"), (2, 0): ("e", ""), (1, 1): ("f", "g")},
        [((0, 0), (1, 1), "h", 55), ((2, 0), (1, 1), "i", 9)],
        alt=ALT,
    ),
    "head_fans": lambda: figures.head_fans(["a", "<b>", "c"], 1, {"x": [0.95, 0.05, 0], "y": [0.3, 0.5, 0.2]}, alt=ALT),
    "clocks": lambda: figures.clocks({"at <0>": ([1, 0], [0, -1]), "at 1": ([0.5, 0.5], [1, 0])}, alt=ALT),
    "large signed table": lambda: figures.signed_table(np.eye(3) - 0.5, "abc", "def", digits=None, alt=ALT),
}
WITHOUT_ROLES = ("arrows", "curves", "dot_rows")


def test_curves_may_have_a_role_each_in_which_line_and_name_are_drawn():
    options = {"alt": ALT, "xlabel": "x", "ylabel": "y"}
    html = figures.curves([1, 2], CURVES, role=("key", "query", "query"), **options)._repr_html_()
    named = figures.curves(
        [1, 2], CURVES, role=("key", "query", "query"), names={"low": (1, 1)}, **options
    )._repr_html_()
    alone = figures.curves([1, 2], CURVES, role="query", **options)._repr_html_()
    assert html.count("var(--mt-query)") == 2 * html.count("var(--mt-key)") > 0 == alone.count("var(--mt-key)")
    assert named.count("var(--mt-key)") == 2 and named.count("var(--mt-query)") == 2  # a line and its name, two lines


def test_lines_that_end_in_one_point_can_be_named_where_they_part():
    named = {"rising": (1.2, 0.5), "falling": (1.6, 0.5)}
    same = {"rising": [0, 1], "falling": [2, 1]}
    picture = figures.curves([1, 2], same, alt=ALT, xlabel="x", ylabel="y", names=named)
    assert [text for text in texts(picture) if text in named] == [*named]


def test_words_stand_by_group_and_in_the_order_of_their_means():
    assert [text for text in texts(PICTURES["word_ranges"]()) if text in "abc"] == ["b", "a", "c"]


def test_numbers_of_a_logarithmic_axis_keep_apart():
    picture = figures.curves(range(1, 41), {"a": range(40)}, alt=ALT, xlabel="x", ylabel="y", logx=True)
    assert [text for text in texts(picture) if text.isdigit()][:6] == ["1", "2", "4", "8", "16", "32"]


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_described_follows_the_theme_and_is_the_same_every_time(name):
    picture = PICTURES[name]()
    element = tree(picture)
    assert [part.get("aria-label")[: len(ALT)] for part in element.iter() if part.get("role")] == [ALT]
    assert all(svg.get("viewBox") for svg in element.iter(SVG + "svg"))
    assert set(re.findall(r"#[0-9a-fA-F]{6}\b", picture.svg)) <= {"#000000"} and "var(--mt-" in picture.svg
    assert name not in WITHOUT_ROLES or not [role for role in figures.ROLES if f"var(--mt-{role}" in picture.svg]
    assert picture._repr_html_() == PICTURES[name]()._repr_html_()


def test_groups_and_lines_are_told_apart_by_their_form():
    marks = re.findall(r'<path id="[^"]*" d="([^"]*z)"', PICTURES["word_scatter"]().svg)
    assert len(set(marks)) == 3 and len(set(re.findall(r"stroke-dasharray: ([\d ,.]+)", lines(CURVES).svg))) == 2


@pytest.mark.parametrize(("given", "leaders"), [(CURVES, 0), (NEAR, 3)])
def test_what_leads_from_a_line_to_its_name_looks_unlike_the_line(given, leaders):
    paths = [(path.get("style"), path.get("d")) for path in tree(lines(given)).iter(SVG + "path")]
    ends = [path.split("L")[-1].split() for style, path in paths if "stroke: var(--mt-ink)" in style]
    leads = [path for style, path in paths if "stroke-linecap: round" in style and "--mt-muted" in style]
    assert len(ends) == 3 and len({x for x, _ in ends}) == 1 and len(leads) == leaders
    assert all(float(path.split()[-2]) > float(ends[0][0]) + 4 for path in leads)


def test_dots_stand_at_their_percentages_beside_their_names_and_equal_ones_apart():
    marks = [mark for mark in tree(PICTURES["dot_rows"]()).iter(SVG + "use") if "--mt-ink" in mark.get("style")]
    dots = np.array([[float(mark.get(side)) for side in "xy"] for mark in marks])
    assert len(dots) == 5 and len(set(map(tuple, dots))) == 5
    left, _, _, _, right = dots[:, 0]
    np.testing.assert_allclose((dots[:, 0] - left) / (right - left), [0, 0.09, 0.07, 0.07, 1], atol=2e-3)
    assert texts(PICTURES["dot_rows"]())[-5:] == ["A", "a", "b", "B", "c"]


def test_a_bar_is_cut_into_its_shares_and_names_the_largest():
    found = "".join(
        path.get("d") for path in tree(PICTURES["share_bars"]()).iter() if "--mt-weight" in str(path.attrib)
    )
    wide = np.reshape([float(width) for width in re.findall(r"h([\d.]+)", found)], (3, 2)).T[:, ::-1]  # palest first
    np.testing.assert_allclose(wide / wide.sum(axis=1, keepdims=True), [[0.5, 0.3, 0.2], [0.8, 0.12, 0.08]], atol=0.01)
    assert texts(PICTURES["share_bars"]())[-2:] == ["0.50", "0.80"]


@pytest.mark.parametrize("role", figures.PALETTE)
def test_a_colour_is_defined_and_can_be_read_on_light_and_dark_paper(role):
    assert "--mt-{}:light-dark({},{});".format(role, *figures.PALETTE[role]) in figures.css()
    for colour, paper in zip(figures.PALETTE[role], figures.PALETTE["paper"]):
        assert role in ("grid", "paper") or contrast(colour, paper) >= 4.5


def test_the_palette_needs_no_matplotlib():
    code = "import sys; from companion import figures; figures.css(); assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_texts_and_links_are_kept_and_coordinates_are_short():
    assert {"river", "<money>"} <= set(texts(PICTURES["weight_fan"]()))
    two = figures.weight_fan("bank", {"river": 0.3, "money": 0.7}, {"river": 0.9, "money": 0.1}, alt=ALT)
    assert [word for word in texts(two) if word[:2] == "0."] == ["0.30", "0.70", "0.90", "0.10"]
    assert texts(two).count("bank") == 2 and two.height > 2 * PICTURES["weight_fan"]().height
    picture = figures.heatmap([[0.1234, 1.0]], ["a"], ["d_k", "2.500"], digits=4, alt=ALT)
    assert {"0.1234", "1.0000", "a", "dk\u200b", "2.500"} <= set(texts(picture))
    assert not re.search(r"<[^>]*(\d\.\d{3}|\.\d*0\D)", picture.svg)


def test_a_fan_has_a_line_as_thick_as_each_weight_in_the_colour_of_weights():
    panels = [*tree(PICTURES["head_fans"]()).iter(SVG + "svg")]
    paths = [one.iter(SVG + "path") for one in panels]
    lines = [[(path.get("stroke"), float(path.get("stroke-width"))) for path in one] for one in paths]
    assert [width for _, width in lines[0]] == pytest.approx([11.4, 0.6])
    assert [width for _, width in lines[1]] == pytest.approx([3.6, 6, 2.4])
    assert {colour for one in lines for colour, _ in one} == {"var(--mt-weight)"}
    written = [["".join(text.itertext()) for text in one.iter(SVG + "text")] for one in panels]
    assert written == [["x", "a", "0.95", "<b>", "c"], ["y", "a", "0.30", "<b>", "0.50", "c", "0.20"]]


def test_clocks_have_a_hand_for_query_and_key_and_say_their_product():
    first, second = tree(PICTURES["clocks"]()).iter(SVG + "svg")
    hands = {path.get("stroke"): path.get("d") for path in first.iter(SVG + "path")}
    assert hands["var(--mt-query)"] == "M82 103L138.0 103.0" and hands["var(--mt-key)"] == "M82 103L82.0 159.0"
    assert hands["var(--mt-weight)"] == "M82.0 127.0A24 24 0 0 0 106.0 103.0"  # the quarter between the two
    written = [["".join(text.itertext()) for text in one.iter(SVG + "text")] for one in (first, second)]
    assert written == [["at <0>", "q", "k", "q · k = 0.00"], ["at 1", "q", "k", "q · k = 0.50"]]


def test_neighbours_of_one_shade_are_one_cell():
    picture = tree(figures.signed_table([[1, 1, -1]], ["a"], "bcd", digits=None, alt=ALT))
    cells = {part.get("style"): part.get("d") for part in picture.iter(SVG + "path") if "opacity" in str(part.attrib)}
    assert sorted(cell.count("M") for cell in cells.values()) == [1, 1]


def test_slopes_come_down_beside_the_numbers_that_go_up():
    parts = list(tree(PICTURES["chain_of_slopes"]()).iter(SVG + "text"))
    found = {"".join(part.itertext()).replace("\u200b", ""): (part.get("x"), float(part.get("y"))) for part in parts}
    assert list(found) == ["w = 0.500", "dw = −2.000", "<L> = 1.000", "dL = 1.000", "× 2", "× −2"]
    assert found["dL = 1.000"][1] == found["<L> = 1.000"][1] < found["× −2"][1] < found["dw = −2.000"][1]
    assert found["dL = 1.000"][0] == found["dw = −2.000"][0] > found["w = 0.500"][0] == found["<L> = 1.000"][0]


def test_many_panels_are_small_enough_for_a_row_of_a_window_and_for_two_on_a_phone():
    pictures = PICTURES["small panels"]().pictures
    assert len({picture.width for picture in pictures}) == 1
    width, gap = pictures[0].width * pictures[0].zoom, 12
    assert 5 * width + 4 * gap <= 770 and 2 * width + gap <= 350 < 3 * width  # as wide as text and pictures may be
    whole = tree(PICTURES["small panels"]())
    for step, drawn in enumerate(whole.iter(SVG + "svg")):
        written = ["".join(words.itertext()) for words in drawn.iter(SVG + "text")]
        assert written == [*"12345678", f"step {step}", "loss", *"abcdefgh"]
        strokes = [path.get("style", "") for path in drawn.iter(SVG + "path")]
        assert sum("stroke: var(--mt-weight)" in stroke for stroke in strokes) == 4  # what a pale shade is one of


@pytest.mark.parametrize("alt", ["", "no capital.", "No full stop"])
def test_alternative_text_must_be_a_sentence(alt):
    with pytest.raises(ValueError, match="it must be a sentence"):
        figures.weight_fan("a", {"b": 1.0}, alt=alt)


def test_a_layer_is_drawn_in_the_order_of_its_norm():
    said = figures.layer_orders("pre", "post", "none", alt=ALT).alt
    pre = "x; LN; attention; + what entered LN; LN; feed-forward; + what entered LN; layer’s output."
    post = "x; attention; + what entered attention; LN; feed-forward; + what entered feed-forward; LN; layer’s output."
    none = "x; attention; + what entered attention; feed-forward; + what entered feed-forward; layer’s output."
    assert said == f"{ALT} Pre-norm, from below: {pre} Post-norm, from below: {post} No norm, from below: {none}"


def test_a_block_of_parameters_is_as_large_as_its_number_and_a_small_one_has_no_name():
    groups = {"a": {"": 300}, "b": {"attention": 400, "": 4}, "c": {"cross-attention": 100, "feed-forward": 96}}
    picture = figures.parameter_blocks(groups, alt=ALT)
    tinted = [part for part in tree(picture).iter(SVG + "rect") if part.get("stroke")]
    areas = [float(part.get("width")) * float(part.get("height")) for part in tinted]
    np.testing.assert_allclose(np.divide(areas, sum(areas)), np.array([300, 400, 4, 100, 96]) / 900, rtol=1e-3)
    assert "400" in texts(picture) and "4" not in texts(picture)


@pytest.mark.parametrize("options", [{}, {"norm": "post"}, {"tied": False}, {"positions": "learned", "max_length": 9}])
@pytest.mark.parametrize("layers", [1, 3])
def test_what_the_parts_leave_behind_makes_the_whole_gradient(layers, options):
    model = LanguageModel(1100, 8, 2, layers, hidden=20, **options)
    drawn = texts(figures.backward_steps(model, [4, 7, 1], alt=ALT))
    numbers = [int(text.split()[0].replace(",", "")) for text in drawn if re.fullmatch(r"[\d,]+ numbers", text)]
    again = (layers - 1) * parameter_count(model.shapes["decoder"][1])  # all layers are drawn as one
    assert sum(numbers) + again == model.flat.size
    assert f"gradient: {model.flat.size:,} numbers" in drawn and (f"× {layers}" in drawn) == (layers > 1)
    assert ("the 8,800 below" in drawn) == model.tied


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
def test_gradients_have_the_shapes_of_what_stands_beside_them(norm):
    model, record = run(layers=1, norm=norm)
    drawn = tree(figures.backward_steps(model, np.arange(5), alt=ALT)).iter(SVG + "text")
    written = [(text.get("fill")[9:-1], text.get("y"), text.text) for text in drawn if " × " in (text.text or "")]
    forth, back = ([rest for role, *rest in written if role == way] for way in ("muted", "output"))
    assert sorted(forth) == sorted(back) and {shape for _, shape in back} == shapes(record) - {"2 × 5 × 5"}


def test_gradients_go_past_every_sublayer_on_dashed_lines():
    drawn = tree(figures.backward_steps(run(layers=1)[0], np.arange(5), alt=ALT))
    paths = list(drawn.iter(SVG + "path"))
    number = r"(-[\d.]+)"
    forth = [re.match(rf"M0 {number}V{number}H.*V{number}q", path.get("d")) for path in paths]
    back = [re.match(rf"M0 {number}H.*V{number}q", path.get("d")) for path in paths]
    ways = {(float(fork), float(end) - 8) for _, fork, end in (way.groups() for way in forth if way)}
    assert len(ways) == 2 and ways == {(float(way[2]) + 8, float(way[1])) for way in back if way}
    assert all(float(path.get("stroke-width")) > 2 for path, way in zip(paths, back) if way)
    lines = [path for path in paths if path.get("stroke") == "var(--mt-output)" and "m-5 -5" not in path.get("d")]
    assert len(lines) > 20 and all(path.get("stroke-dasharray") for path in lines)


def boxes(picture):
    """The boxes of a diagram of steps as rows (left, top, width, height), and its texts, text -> height."""
    (whole,) = tree(picture).findall(SVG + "g")
    down, found, heights = float(whole.get("transform")[12:-1]), [], {}
    for column in whole.findall(SVG + "g"):
        across = float(column.get("transform").split("(")[1].split()[0])
        sides = [[float(box.get(side)) for side in ("x", "y", "width", "height")] for box in column.iter(SVG + "rect")]
        found += [(across + left, down + top, width, height) for left, top, width, height in sides]
        heights |= {"".join(text.itertext()): down + float(text.get("y")) for text in column.iter(SVG + "text")}
    return np.array(found), heights


def test_boxes_stand_apart_with_their_labels_in_the_middle():
    found, heights = boxes(figures.layer_orders("none", alt=ALT))
    rows = sorted({(top, height) for _, top, _, height in found})
    assert {heights[label] - 5 for label in ("attention", "feed-forward")} <= {top + high / 2 for top, high in rows}
    assert all(below[0] - sum(above) >= 25 for above, below in pairwise(rows))
