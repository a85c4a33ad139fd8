"""What all explorables have in common: controls that do what they say, to the eye, the ear, the hand and a kernel."""

import gzip
import re

import numpy as np
import pytest
from traitlets import TraitError

from minitransformer.explore import FOLDER, STATES, explorable, live
from tests.shared import explorable_page as page
from tests.shared.explorable_page import START, act, assert_shows, control, run_widget
from tests.shared.pages import violations

EYE = np.eye(3).tolist()
# Explorable -> what is done, in turn: the role and the beginning of the name of a control, the keys that are pressed on
# it or what is typed; what that changes in the state, and what it changes that no kernel knows.
WALKS = {
    "vectors": [
        ("slider", "a₁", "ArrowUp", {"a": [3.1, 1.0]}),
        ("slider", "a₂", "Shift+ArrowDown ArrowLeft", {"a": [3.1, -0.1]}),
        ("slider", "b₁", "Home", {"b": [-5, 2]}),
        ("slider", "b₂", "End", {"b": [-5, 5]}),
        ("slider", "tip of a", "ArrowLeft Shift+ArrowUp ArrowUp Shift+ArrowRight ArrowDown ArrowDown", {"a": [4, 0.8]}),
        ("slider", "tip of b", "Shift+ArrowUp Shift+ArrowLeft ArrowDown", {"b": [-5, 4.9]}),
        ("button", "same direction, longer", "", {"a": [2, 1], "b": [4, 2]}),
        ("button", "orthogonal", "", {"a": [3, 1], "b": [-1, 3]}),
        ("button", "opposite", "", {"b": [-1.5, -0.5]}),
        ("button", "longer beats closer", "", {"b": [1, 4]}, {"c": [1.6, 0.1]}),
        ("button", "start again", "", START["vectors"], {"c": None}),
    ],
    "temperature": [
        ("slider", "temperature", "ArrowUp", {"temperature": 1.03}),
        ("slider", "temperature", "Shift+ArrowDown", {"temperature": 0.764}),
        ("slider", "temperature", "Home", {"temperature": 0.05}),
        ("slider", "temperature", "End", {"temperature": 20}),
        ("spinbutton", "temperature as a number", "0.37", {"temperature": 0.37}),
        ("spinbutton", "score of c", "-9.9", {"scores": [2, 1, -9.9, -1]}),
        ("button", "add 10", "", {"scores": [12, 11, 0.1, 9]}),
        ("button", "double", "", {"scores": [24, 22, 0.2, 18]}),
        ("button", "start again", "", START["temperature"]),
    ],
    "lookup": [
        ("slider", "query", "ArrowLeft Shift+ArrowUp ArrowUp Shift+ArrowRight ArrowDown", {"query": [1.9, 2]}),
        ("slider", "key of cat", "Shift+ArrowLeft ArrowDown", {"keys": [[1, 0.4], [-1, 2], [-1.5, -1.5]]}),
        ("slider", "scale", "Home", {"scale": 0.00707}),
        ("slider", "scale", "End Shift+ArrowLeft", {"scale": 44.6}),
        ("spinbutton", "scale as a number", "0.123", {"scale": 0.123}),
        ("button", "query on a key", "", {"query": [1, 0.4]}),
        ("button", "query on a key", "", {"query": [-1, 2]}),
        ("button", "a long query", "", {"query": [-2, 4]}),
        ("button", "zero query", "", {"query": [0, 0]}),
        ("button", "start again", "", START["lookup"]),
    ],
    "sheet": [
        ("checkbox", "÷ √3", "", {"scaled": True}),
        ("spinbutton", "W_V, row 2, column 1", "-2.5", {"W_V": [[1, 2, 1], [-2.5, 1, 0], [1, 1, 0]]}, {"here": None}),
        ("button", "double WQ", "", {"W_Q": [[2, 0, 2], [0, 2, 0], [2, 2, 2]]}),
        ("button", "WK = WQ", "", {"W_K": [[2, 0, 2], [0, 2, 0], [2, 2, 2]]}),
        ("button", "swap", "", {"labels": ["coding", "love", "I"], "x": [[1, 1, 1], [0, 1, 0], [1, 0, 1]]}),
        ("button", "identity matrices", "", dict.fromkeys(("W_Q", "W_K", "W_V"), EYE)),
        ("button", "start again", "", START["sheet"]),
    ],
    "masks": [
        ("checkbox", "causal", "", {"causal": True}),
        ("button", "more padding", "", {"padded": 1}),
        ("checkbox", "padding on the left", "", {}, {"left": True}),
        ("button", "it", "", {}, {"row": 0}),
        ("checkbox", "mask after the softmax", "", {}, {"wrong": True}),
        ("spinbutton", "score for was", "-2.5", {"scores": [[1, -2.5, 0, 1.5], *START["masks"]["scores"][1:]]}),
        ("button", "raise", "", {"scores": [[3, -0.5, 2, 3.5], [4, 0.5, 3, 2], [2, 1, 0.5, 4.5], [3, 0, 2, 0.5]]}),
        ("slider", "temperature", "ArrowUp", {"temperature": 1.03}),
        ("button", "less padding", "", {"padded": 0}),
        ("button", "start again", "", START["masks"], {"row": 1, "left": False, "wrong": False}),
    ],
    "heads": [
        *(("slider", "step", key, {"step": step}) for key, step in {"ArrowUp": 1, "End": 5, "ArrowLeft": 4}.items()),
        ("combobox", "number of heads", "3", {"heads": 3}),
        ("button", "back", "", {"step": 3}),
        ("button", "next", "", {"step": 4}),
        ("checkbox", "reshape without swapping", "", {}),
        ("combobox", "number of heads", "2", {"heads": 2}),
        ("checkbox", "reshape without swapping", "", {}),
        ("slider", "step", "Home", {"step": 0}),
    ],
    "position": [
        *(("button", kind, "", {"kind": kind}) for kind in ("rotary", "learned", "sinusoidal", "learned")),
        ("slider", "position", "ArrowRight", {"position": 4}),
        ("slider", "position", "End", {"position": 11}),
        ("slider", "position", "Shift+ArrowLeft", {"position": 1}),
        ("slider", "position", "Home", {"position": 0}),
        ("button", "start again", "", START["position"]),
    ],
    "build": [
        ("button", "encoder–decoder", "", {"kind": "encoder-decoder"}),
        ("checkbox", "norm before", "", {"norm": "post"}),
        ("checkbox", "output tied", "", {"tied": False}),
        ("spinbutton", "heads as a number", "7", {"heads": 7}),
        ("slider", "heads", "End", {"heads": 16}),
        ("slider", "width d", "End", {"d": 1024}),
        ("slider", "layers", "Shift+ArrowUp", {"layers": 24}),
        ("slider", "hidden", "Home", {"hidden": 16}),
        ("spinbutton", "vocabulary as a number", "99999", {"vocabulary": 99_999}),
        ("slider", "tokens n", "End", {"n": 16_384}),
        ("button", "decoder only", "", {"kind": "decoder"}),
        *(("button", name, "", model) for name, model in page.PUBLISHED.items()),
        ("button", "the one of this chapter", "", START["build"]),
    ],
    "features": [
        ("slider", "a", "ArrowRight Shift+ArrowUp ArrowLeft", {"x": [2, 2, 3, 6]}),
        ("spinbutton", "b as a number", "-37.5", {"x": [2, -37.5, 3, 6]}),
        ("button", "c", "", {}, {"chosen": 2}),
        ("slider", "gain", "Home", {"gain": [1, 1, -3, 1]}),
        ("spinbutton", "bias as a number", "0.7", {"bias": [0, 0, 0.7, 0]}),
        ("checkbox", "for all features", "", {}),
        ("slider", "bias", "End", {"bias": [3, 3, 3, 3]}),
        ("spinbutton", "gain as a number", "9", {"gain": [9, 9, 9, 9]}),
        ("slider", "epsilon", "End", {"eps": 1}),
        ("spinbutton", "epsilon as a number", "2.5", {"eps": 2.5}),
        ("button", "add 1 to all", "", {"x": [3, -36.5, 4, 7]}),
        ("button", "double all", "", {"x": [6, -73, 8, 14]}),
        ("button", "make all equal", "", {"x": [-11.25] * 4}),
        ("button", "start again", "", START["features"], {"chosen": 0}),
    ],
    "depth": [
        *(("slider", "depth", key, {"depth": n}) for key, n in {"Home": 1, "Shift+ArrowUp": 11, "End": 48}.items()),
        ("slider", "scale", "End", {"scale": 2}, {"known": False}),
        ("slider", "scale", "ArrowDown Shift+ArrowDown", {"scale": 1.37}),
        ("spinbutton", "scale as a number", "3.5", {"scale": 3.5}),
        *(("button", f"s = {scale}", "", {"scale": scale}) for scale in (0.5, 1, 2)),
        ("button", "start again", "", START["depth"], {"known": True}),
    ],
    "graph": [
        ("spinbutton", "query, number 1", "-1.5", {"query": [-1.5, 0.5]}),
        ("spinbutton", "key of “street”, number 2", "2.25", {"keys": [[1, 0], [0.8, 2.25], [0.5, 0.8]]}),
        ("spinbutton", "value of “road”, number 1", "-7", {"values": [[1, 0.2], [0.1, 0.9], [-7, 1]]}),
        ("button", "score of “animal”", "", {}),
        ("spinbutton", "wish for number 2", "0", {"wish": [2, 0]}),
        ("spinbutton", "wish for number 1", "0", {"wish": [0, 0]}),
        ("button", "take a step", "", {}),  # nothing is wished for
        ("button", "start again", "", START["graph"]),
    ],
    "training": [
        *(("slider", "step", key, {"step": n}) for key, n in {"ArrowUp": 30, "Home": 0, "Shift+ArrowUp": 40}.items()),
        ("slider", "step", "ArrowLeft ArrowDown", {"step": 20}),
    ],
    "translator": [
        ("textbox", "English sentence", "The black cat, sleeps.", {"sentence": "the black cat sleeps"}),
        ("button", "another sentence", "", {"sentence": "it sleeps"}),
        ("button", "an", "", {"sentence": "it sleeps an"}),
        ("combobox", "group of words", "others", {}),
        ("button", "cat", "", {"sentence": "it sleeps an cat"}),
        ("option", "cat", "", {}, {"side": "English", "at": 3}),
        ("combobox", "attention of", "encoder, layer 2", {}, {"part": "encoder", "layer": 2}),
        ("combobox", "head", "head 2", {}, {"head": 1}),
        ("option", "l'", "", {}, {"side": "French", "at": 0}),
        ("combobox", "attention of", "decoder", {}, {"part": "attention", "layer": 1, "head": "mean"}),
        ("option", "le", "", {}, {"at": 2}),
        ("slider", "training", "Home", {"step": 0}),
        ("slider", "training", "End", {"step": 200}),
        ("combobox", "attention of", "cross-attention", {}, {"part": "cross_attention"}),
        ("combobox", "group of words", "articles", {}),
        ("button", "… sleeps", "", START["translator"], {"at": None}),
    ],
    "twins": [
        ("button", "wide", "", {"shown": 1}),
        *(("button", name, "", {"view": i}) for i, name in enumerate(["what decides", "looks: layer 1", "layer 2"])),
        ("button", "tired", "", {"shown": 0}),
        ("button", "what decides", "", {"view": 0}),
    ],
    "window": [
        *(("slider", "place", key, {"place": at}) for key, at in {"ArrowUp": 3, "Home": 1, "End": 7}.items()),
        ("checkbox", "weigh as PPMI", "", {"weighed": True}),
        *(("slider", "words to each side", key, {"window": n}) for key, n in {"Home": 1, "ArrowUp": 2}.items()),
        ("slider", "place", "Home ArrowRight", {"place": 2}),
        ("checkbox", "weigh as PPMI", "", {"weighed": False}),
    ],
    "words": [
        ("textbox", "a word", "Queen ", {"chosen": "queen"}),
        ("button", "another word", "", {"chosen": "cat"}),
        ("textbox", "a word", "kin", {}),  # no word of the list
        ("button", "another word", "", {"chosen": "king"}),
    ],
    "shares": [
        ("slider", "shift", "ArrowUp", {"shift": 0.1}),
        ("slider", "shift", "Shift+ArrowDown", {"shift": -0.9}),
        ("slider", "score of street", "End", {"scores": [2, 3, -2]}),
        ("slider", "score of animal", "Home", {"scores": [-3, 3, -2]}),
        ("button", "start again", "", START["shares"]),
    ],
}
BY_KEYS = [name for name in STATES if name not in ("twins", "words")]  # which have buttons and text alone
# For the kernel to set: a state in which every part is another one than at the start.
WORDS = {"sinusoidal": "rotary", "decoder": "encoder-decoder", "pre": "post"}


def other(value):
    """Return another value of the same kind."""
    if isinstance(value, list):
        return [other(one) for one in value]
    if isinstance(value, str):
        return WORDS.get(value, f"{value}'s")
    return not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else 2 * value + (value == 0)


OTHER = {
    name: {key: other(value) for key, value in state.items()} for name, state in START.items() if name != "translator"
}
OTHER["build"] = page.ODD
OTHER["twins"] = {**{key: value[::-1] for key, value in list(START["twins"].items())[:-2]}, "shown": 1, "view": 2}
OTHER["words"] |= {"words": START["words"]["words"][::-1], "chosen": "queen"}
OTHER["training"] |= {"steps": [0, 20, 40, 60, 80], "step": 40}
OTHER["translator"] = {**START["translator"], "sentence": "it sleeps", "step": 50}
# States that need much room: long words, many digits.
ROOMY = {
    **START,
    **{"temperature": {**START["temperature"], "labels": ["a", "b", "California", "encyclopaedia"]}},
    **{name: {**START[name], "labels": page.LONG} for name in ("lookup", "sheet")},
    "graph": {**page.WIDE_GRAPH, "labels": page.LONG},
    "masks": {**START["masks"], "labels": [*page.LONG, "tired"]},
    **{"position": page.POSITIONS, "features": page.EIGHT, "depth": {**START["depth"], "depth": 48}},
    "training": page.LONGEST,
    "build": {
        **page.PUBLISHED["2017 base"],
        **{"d": 1024, "layers": 24, "hidden": 4096, "vocabulary": 100_000, "n": 16_384, "tied": False},
    },
}
# What is done three times, what that makes of the state, and what a screen reader is told then.
SPOKEN = {
    "vectors": (
        *("slider", "a₁", 3 * "ArrowUp ", {"a": [3.3, 1.0]}),
        "a · b is {dot:.2f}, positive. The cosine is {cosine:.3f}, the angle {angle:.1f} degrees.",
    ),
    "temperature": (
        *("slider", "temperature", 3 * "ArrowUp ", {"temperature": 1.09}),
        "Temperature 1.09: “a” has the largest weight, {largest:.3f}; entropy {entropy:.2f}. {said}",
    ),
    "lookup": (
        *("slider", "query", 3 * "ArrowUp ", {"query": [1.0, 1.3]}),
        "Query at 1, 1.3: “cat” has the largest weight, {weight_0:.3f}; output at {output_0:.3g}, {output_1:.3g}. "
        "{said}",
    ),
    "sheet": ("button", "double WQ", "", {"W_Q": [[2, 0, 2], [0, 2, 0], [2, 2, 2]]}, "{said}"),
    "masks": (
        *("slider", "temperature", 3 * "ArrowUp ", {"temperature": 1.09}),
        "The row of “was”: {weight_1_0:.2f}, {weight_1_1:.2f}, {weight_1_2:.2f}, {weight_1_3:.2f}. {said}",
    ),
    "heads": ("slider", "step", 3 * "ArrowUp ", {"step": 3}, "Step 3 of 5: look. {said}"),
    "position": (
        *("slider", "position", 3 * "ArrowUp ", {"position": 6}),
        "sinusoidal, position 6: its own point of the curve is {here:.2f}. {said}",
    ),
    "build": ("slider", "layers", 3 * "ArrowUp ", {"layers": 6}, "{total_parameters:,.0f} parameters. {said}"),
    "features": ("slider", "a", 3 * "ArrowUp ", {"x": [1.3, 2.0, 3.0, 6.0]}, "“a” becomes {out_0:.2f}. {said}"),
    "depth": ("slider", "depth", 3 * "ArrowUp ", {"depth": 27}, "{said}"),
    "graph": (
        *("spinbutton", "query, number 1", "0.7", {"query": [0.7, 0.5]}),
        "wish · output = {total:.3f}. {said}",
    ),
    "training": ("slider", "step", 2 * "ArrowUp ", {"step": 40}, "{said}"),
    "translator": ("textbox", "English sentence", "it sleeps", {"sentence": "it sleeps"}, "l'chat le. {said}"),
    "twins": ("button", "wide", "", {"shown": 1}, "{said}"),
    "window": ("slider", "place", 3 * "ArrowUp ", {"place": 5}, "{said}"),
    "words": ("button", "another word", "", {"chosen": "queen"}, "{said}"),
    "shares": (
        *("slider", "shift", 3 * "ArrowUp ", {"shift": 0.3}),
        "Shares: animal {share_0:.3f}, street {share_1:.3f}, because {share_2:.3f}. {said}",
    ),
}
# A field, and what is no number for it; nothing at all is none for any.
TYPED_WRONG = {
    **dict.fromkeys(("temperature", "masks"), ("temperature as a number", ["0", "-1"])),
    **dict.fromkeys(("lookup", "depth"), ("scale as a number", ["0", "-1"])),
    "sheet": ("Embedding of “I”, number 1", ["-", "e", "1e9", "-1000001"]),
    "build": ("layers as a number", ["0", "-3", "2.5", "100001"]),
    "features": ("epsilon as a number", ["0"]),
    "graph": ("key of “road”, number 2", ["-", "e", "1e7", "-1000001"]),
}
# What the mouse drags in turn: a point, how far it goes in its plane, and what that makes of the state.
DRAGGED = {
    "vectors": [
        ("tip of a", (-4.5, 1.2), {"a": [-1.5, 2.2]}),
        ("tip of b", (2.5, -5.1), {"b": [3.5, -3.1]}),
        ("tip of b", (40, 0), {"b": [5, -3.1]}),  # the plane ends there
    ],
    "lookup": [
        ("query", (-2.3, 0.4), {"query": [-1.3, 1.4]}),
        ("key of cat", (-40, 1), {"keys": [[-4, 1.5], [-1, 2], [-1.5, -1.5]]}),
    ],
}
# What a finger moves: a slider or a handle, and how far.
TOUCHED = {
    "vectors": ("tip of b", (0, -60)),
    "lookup": ("query", (0, -60)),
    "features": ("c", (60, 0)),
    "position": ("position", (60, 0)),
    "depth": ("depth", (60, 0)),
    "heads": ("step", (60, 0)),
    **dict.fromkeys(("temperature", "masks"), ("temperature", (60, 0))),
    "build": ("layers", (60, 0)),
    "training": ("step", (60, 0)),
    "translator": ("training", (-60, 0)),
    "window": ("words to each side", (60, 0)),
    "shares": ("shift", (60, 0)),
}
PICKED = "[...document.querySelectorAll('.mt-live :is([aria-pressed=true], :checked)')].map((one) => one.outerHTML)"
PHONE = {"has_touch": True, "is_mobile": True, "width": 390}


def do(tab, name, steps):
    """Do the steps of a walk, and yield after each the step, the state and what else the reader chose."""
    state, view = dict(START[name]), {}
    for role, label, what, changes, *chosen in steps:
        act(tab, role, label, what)
        state |= changes
        view |= chosen[0] if chosen else {}
        yield (role, label, changes), state, view


# What moves them


@pytest.mark.parametrize("name", STATES)
def test_every_control_does_what_it_says_and_tells_the_kernel(show, name):
    tab = run_widget(show(), name, START[name])
    assert_shows(tab, name, START[name])
    picked = tab.evaluate(PICKED)
    for (role, label, changes), state, view in do(tab, name, WALKS[name]):
        assert_shows(tab, name, state, **view)
        assert not changes or tab.evaluate("saved.at(-1)") == state
        if role == "slider":
            slider = control(tab, role, label)
            told = slider.get_attribute("aria-valuetext") or (slider.input_value() if name == "vectors" else "nothing")
            first, *_ = re.findall(r"-?[\d.]+(?:e-\d+)?", page.plain(told))
            assert float(first) in np.concatenate([np.ravel(value) for value in changes.values()])
    assert (state, tab.evaluate(PICKED)) == (START[name], picked)  # each walk leads back to its start


@pytest.mark.parametrize("name", STATES)
def test_a_kernel_can_set_every_part(show, name):
    tab, state, view = run_widget(show(), name, START[name]), dict(START[name]), {}
    for key, value in OTHER[name].items():
        tab.evaluate("([key, value]) => set(key, value)", [page.trait(key), value])
        state[key] = value
        if name == "depth":
            view["known"] = state["scale"] == START["depth"]["scale"]
        assert_shows(tab, name, state, **view)


@pytest.mark.parametrize("name", TYPED_WRONG)
def test_what_is_no_number_is_marked_and_not_used(show, name):
    tab, (label, wrong) = run_widget(show(), name, START[name]), TYPED_WRONG[name]
    field = control(tab, "spinbutton", label)
    before = field.input_value()
    for typed in ["", *wrong]:
        field.fill("")
        tab.keyboard.insert_text(typed)  # all at once: on the way there are numbers
        assert field.get_attribute("aria-invalid") == "true"
        assert field.evaluate("(field) => getComputedStyle(field).borderStyle") == "dashed"
        field.blur()
        assert (field.get_attribute("aria-invalid"), field.input_value()) == ("false", before)
    assert_shows(tab, name, START[name], **({"here": None} if name == "sheet" else {}))


@pytest.mark.parametrize("name", STATES)
def test_two_on_a_page_are_independent(show, name):
    tab = show((name, START[name]), (name, START[name]))
    one, two = tab.locator(".mt-explorable").all()
    ((_, state, view),) = do(two, name, WALKS[name][:1])
    assert_shows(one, name, START[name])
    assert_shows(two, name, state, **view)
    assert tab.evaluate("document.querySelectorAll('.mt-explorable [id]').length") == 0


@pytest.mark.parametrize("width", [760, 320])
@pytest.mark.parametrize("name", DRAGGED)
def test_a_point_follows_the_mouse_as_far_as_its_plane_goes(show, name, width):
    tab, state = show((name, START[name]), width=width), dict(START[name])
    for label, (right, up), changes in DRAGGED[name]:
        handle = control(tab, "slider", label)
        reach = float(handle.get_attribute("aria-valuemax"))
        pixels = tab.locator("svg[role=group]").bounding_box()["width"] * 150 / 340 / reach
        page.drag(tab, handle, (right * pixels, -up * pixels))
        state |= changes
        assert_shows(tab, name, state)


@pytest.mark.parametrize(
    "name, label, key, value",
    [
        *((name, "temperature", "temperature", 1) for name in ("temperature", "masks")),
        *(("lookup", "scale", "scale", 2**-0.5), ("features", "epsilon", "eps", 1e-5)),
    ],
)
def test_in_the_middle_of_a_dial_is_its_own_number(show, name, label, key, value):
    tab = show((name, {**START[name], key: 3.7}))
    tab.mouse.click(*page.middle(control(tab, "slider", label)))
    assert_shows(tab, name, {**START[name], key: value})


def test_a_number_on_its_way_is_left_alone(show):
    tab = show(("temperature", START["temperature"]))
    field = control(tab, "spinbutton", "score of b")
    field.fill("")
    for key in "0.5":
        field.press(key)
    assert field.input_value() == "0.5"
    field.press("ArrowDown")
    assert_shows(tab, "temperature", {**START["temperature"], "scores": [2.0, -0.5, 0.0, -1.0]})


@pytest.mark.parametrize("name", TOUCHED)
def test_a_finger_moves_it_and_scrolls_the_page_elsewhere(show, name):
    tab = run_widget(show(**PHONE), name, START[name])
    tab.evaluate("document.getElementById('below').style.height = '3000px'")
    label, by = TOUCHED[name]
    handle = control(tab, "slider", label)
    handle.scroll_into_view_if_needed()
    x, y = page.middle(handle)
    grip = (x + 15, y + 10) if by[1] else (x, y)  # within 22 pixels of a handle's middle
    assert page.swipe(tab, grip, by) == 0
    state = tab.evaluate("saved.at(-1)")
    assert state != START[name]
    assert_shows(tab, name, state)
    words = tab.locator(".mt-verdict")
    words.scroll_into_view_if_needed()
    assert page.swipe(tab, page.middle(words), (0, -120)) > 50
    assert tab.evaluate("saved.at(-1)") == state


@pytest.mark.parametrize("name", STATES)
def test_all_can_be_reached_by_tab_in_turn_and_shows_the_focus(show, name):
    tab = show((name, START[name]))
    count = tab.evaluate("""() => {
        window.stops = [];
        window.rings = [];
        document.addEventListener("focusin", ({ target }) => {
            const inner = target.querySelector(".mt-ring"); // a round one, and then no square one
            const { outlineStyle, outlineWidth } = getComputedStyle(target);
            const square = outlineStyle === "none" ? 0 : parseFloat(outlineWidth);
            stops.push(target);
            rings.push(!inner ? square : square ? 0 : parseFloat(getComputedStyle(inner).strokeWidth));
        });
        const stop = (part) => part.tabIndex >= 0 && part.checkVisibility({ visibilityProperty: true });
        window.awaited = [...document.querySelectorAll(".mt-live *")].filter(stop);
        return awaited.length;
    }""")
    for _ in range(count):
        tab.keyboard.press("Tab")
    assert tab.evaluate("awaited.every((part, i) => part === stops[i])")
    assert min(tab.evaluate("rings")) >= 2


@pytest.mark.parametrize("name", BY_KEYS)
def test_keys_that_move_it_neither_scroll_the_page_nor_reach_what_is_around(show, name):
    tab = show((name, START[name]))
    tab.evaluate("""() => {
        document.getElementById("below").style.height = "3000px";
        window.passed = 0;
        document.addEventListener("keydown", () => window.passed++);
    }""")
    handle = tab.locator(".mt-live :is([role=slider], input[type=range], input[type=number])").first
    handle.focus()
    top = tab.evaluate("scrollY")
    for key in ("ArrowDown", "Shift+ArrowDown", "ArrowRight", "Shift+ArrowLeft"):
        tab.keyboard.press(key)
    tab.evaluate(page.FRAMES)
    assert tab.evaluate("[window.passed, scrollY]") == [0, top]


# What is seen and heard


@pytest.mark.parametrize("name", STATES)
def test_a_screen_reader_hears_one_sentence_when_the_reader_pauses(show, name):
    tab = show((name, START[name]))
    role, label, what, changes, sentence = SPOKEN[name]
    (heard,) = page.spoken(tab, lambda: act(tab, role, label, what))
    state = {**START[name], **changes}
    assert_shows(tab, name, state)
    numbers = {key.replace("-", "_"): value for key, value in page.shown(tab).items()}
    assert page.plain(heard) == sentence.format(said=page.said(tab), **numbers)


@pytest.mark.parametrize("width", [760, 390, 320])
@pytest.mark.parametrize("name", STATES)
def test_nothing_moves_sticks_out_or_is_cut_off_and_every_number_is_written_as_it_is(show, name, width):
    for state in [START[name]] + [ROOMY[name]] * (ROOMY[name] is not START[name]):
        found = show((name, state), width=width, motion="reduce").evaluate(page.STIR)
        (_, top, _), *_ = found["looks"]
        assert [look for look in found["looks"] if look[1:] != [top, width]] == []
        assert [pair for pair in found["written"] if not page.fits(*pair)] == []
        assert found["cut"] == []


def test_a_finger_has_room(show):
    tab = show(*START.items(), **{**PHONE, "width": 320})
    targets = ".mt-reach, button, select, input:not([type=checkbox]), label:has([type=checkbox])"
    small = f"""() => [...document.querySelectorAll(".mt-live :is({targets})")].filter((part) => {{
        const {{ width, height }} = part.getBoundingClientRect();
        return part.checkVisibility() && Math.min(width, height) < 43.9;
    }}).map((part) => part.outerHTML)"""
    assert tab.evaluate(small) == []


def test_they_are_accessible_where_they_start_and_after_a_walk(show):
    shaded = [("heads", {**START["heads"], "step": 3}), ("masks", {**START["masks"], "causal": True})]
    tab = show(*START.items(), *shaded, ("heads", OTHER["heads"]), ("position", page.POSITIONS), motion="reduce")
    assert violations(tab) == []
    tab.evaluate("document.querySelectorAll('.mt-panel:not(.mt-now)').forEach((hidden) => hidden.remove())")
    for name, place in zip(STATES, tab.locator(".mt-explorable").all()):
        *_, (_, state, view) = do(place, name, WALKS[name][:-1])
        assert_shows(place, name, state, **view)
        for field in place.locator("input[type=number]").all()[:1]:
            field.fill("")
    tab.set_viewport_size({"width": 320, "height": 800})
    assert violations(tab) == []
    tab.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert violations(tab, rest=False) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_moves_when_they_start(show, width):
    tab = show(*START.items(), width=width)
    shift = """() => new Promise((done) => {
        let moved = 0;
        const observer = new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) moved += entry.value ?? 0;
            if (list.getEntriesByName("last").length) done(moved);
        });
        observer.observe({ type: "layout-shift", buffered: true });
        observer.observe({ type: "mark" });
        requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("last")));
    })"""
    assert tab.evaluate(shift) == 0


def seen(tab):
    """Return how many still pictures, explorables and groups of controls are seen."""
    return [tab.locator(f"{css} >> visible=true").count() for css in (".mt-still svg", ".mt-live", ".mt-controls")]


def test_the_still_pictures_stand_in_print_and_where_javascript_does_not_run(show):
    tab = show(*START.items())
    still, living, controls = seen(tab)
    assert (still, living) == (0, len(START)) and controls >= len(START)
    tab.emulate_media(media="print")
    assert seen(tab) == [len(START), 0, 0]
    assert seen(show(*START.items(), java_script_enabled=False)) == [len(START), 0, 0]


@pytest.mark.parametrize("motion, moving", [("no-preference", True), ("reduce", False)])
def test_bars_and_shades_move_only_for_those_who_like_it(show, motion, moving):
    tab = show(*START.items(), motion=motion)
    seconds = "(part) => ['transitionDuration', 'animationDuration'].map((name) => getComputedStyle(part)[name])"
    moves = tab.evaluate(f"[...new Set([...document.querySelectorAll('.mt-live *')].flatMap({seconds}))]")
    assert ("0.15s" in moves) == moving and (moving or moves == ["0s"])


# What they are made of


def test_labels_are_text_whatever_they_hold(show):
    labelled = {name: state for name, state in START.items() if "labels" in state}
    states = {name: {**state, "labels": page.HARM[: len(state["labels"])]} for name, state in labelled.items()}
    tab = show(*states.items())
    for name, place in zip(states, tab.locator(".mt-explorable").all()):
        assert set(states[name]["labels"]) <= set(place.locator("*").all_text_contents()), name
    tab.evaluate(page.STIR)
    assert tab.evaluate("window.harm") is None


def test_nothing_is_left_in_the_global_scope(show):
    names = [show(*pairs).evaluate("Object.getOwnPropertyNames(window)") for pairs in ([], START.items())]
    assert set(names[1]) - set(names[0]) == set()


@pytest.mark.parametrize("name", STATES)
def test_an_explorable_is_small_needs_no_other_file_and_is_the_same_every_time(name):
    text = explorable(name, page.STILL, **START[name]).data
    assert not re.search(r"\bsrc=|\bhref=|\bimport\b|\bexport\b|\bfetch\(|https?://(?!www\.w3\.org/)", text)
    assert text == explorable(name, page.STILL, **START[name]).data
    assert len(gzip.compress(re.sub(r"[\w+/]{1000,}", "", text).encode())) < 14_000  # but for weights


@pytest.mark.parametrize("file", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_a_file_of_an_explorable_has_no_colour_but_the_themes_and_cannot_end_its_script(file):
    text = file.read_text("utf-8")
    assert not re.search(r"#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(", text, re.IGNORECASE)
    assert "</script" not in text and "</style" not in text and "innerHTML" not in text


@pytest.mark.parametrize("name", STATES)
def test_page_and_widget_run_the_same_module_and_share_the_state(name):
    source = (FOLDER / f"{name}.mjs").read_text("utf-8").split('"./parts.mjs";\n')[1]
    text, widget, heard = explorable(name, page.STILL, **START[name]).data, live(name, **START[name]), []
    code = re.sub(r"^ *//.*\n", "", source, flags=re.MULTILINE).replace("export default", "const explorable =")
    assert code != source and code in widget._esm and code in text
    for sheet in ("parts.css", f"{name}.css"):
        assert (FOLDER / sheet).read_text("utf-8") in widget._css
    assert {key: widget.get_state()[page.trait(key)] for key in START[name]} == START[name]
    key, value = list(OTHER[name].items())[-1]
    widget.observe(lambda change: heard.append(change.new), page.trait(key))
    widget.set_state({page.trait(key): value})  # what comes in from the page
    assert getattr(widget, page.trait(key)) == value == heard[0]


def test_a_widget_refuses_what_it_cannot_show():
    widget = live("lookup", **START["lookup"])
    for key, value in {"keys_": [[1, 2]], "query": "north"}.items():
        with pytest.raises((ValueError, TraitError), match=f"{key.rstrip('_')} is .*; expected a list of"):
            setattr(widget, key, value)
        assert getattr(widget, key) == START["lookup"][key.rstrip("_")]
