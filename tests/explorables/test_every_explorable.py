"""What all explorables have in common: controls that do what they say, to the eye, the ear, the hand and a kernel."""

import gzip
import re

import numpy as np
import pytest
from traitlets import TraitError

from companion.explore import FOLDER, NAMES, explorable, live
from tests.shared import explorable_page as page
from tests.shared.explorable_page import act, assert_shows, case, control, having, run_widget, starts
from tests.shared.pages import PAINTED, violations

# What `shared` does for all of them is tried on these: points to drag, a dial and fields, and a model at work.
THREE = ["vectors", "temperature", "translator"]
PICKED = "[...document.querySelectorAll('.mt-live :is([aria-pressed=true], :checked)')].map((one) => one.outerHTML)"
PHONE = {"has_touch": True, "is_mobile": True, "width": 390}
SCREEN = 844 - 48  # pixels of a phone, without the bar of a page


def do(tab, name, steps):
    """Do the steps of a walk, and yield after each the step, the state and what else the reader chose."""
    state, view = dict(case(name).START), {}
    for role, label, what, changes, *chosen in steps:
        act(tab, role, label, what)
        state |= changes
        view |= chosen[0] if chosen else {}
        yield (role, label, changes), state, view


def other(value):
    """Return another value of the same kind."""
    if isinstance(value, list):
        return [other(one) for one in value]
    if isinstance(value, str):
        return f"{value}'s"
    return not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else 2 * value + (value == 0)


def others(name):
    """Return a state in which every part is another one than at the start, for the kernel to set."""
    own = getattr(case(name), "OTHER", {})
    return {key: own[key] if key in own else other(value) for key, value in case(name).START.items()}


def roomy(name):
    """Return a state that needs much room, long words and many digits, or the start where no state needs more."""
    return getattr(case(name), "ROOMY", case(name).START)


# What moves them


@pytest.mark.parametrize("name", NAMES)
def test_every_control_does_what_it_says_and_tells_the_kernel(show, name):
    start = case(name).START
    tab = run_widget(show(), name, start)
    assert_shows(tab, name, start)
    picked = tab.evaluate(PICKED)
    for (role, label, changes), state, view in do(tab, name, case(name).WALK):
        assert_shows(tab, name, state, **view)
        assert not changes or tab.evaluate("saved.at(-1)") == state
        if role == "slider":
            slider = control(tab, role, label)
            told = slider.get_attribute("aria-valuetext") or (slider.input_value() if name == "vectors" else "nothing")
            first, *_ = re.findall(r"-?[\d.]+(?:e-\d+)?", page.plain(told))
            assert float(first) in np.concatenate([np.ravel(value) for value in changes.values()])
    assert (state, tab.evaluate(PICKED)) == (start, picked)  # each walk leads back to its start


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_can_set_every_part(show, name):
    start = case(name).START
    tab, state = run_widget(show(), name, start), dict(start)
    for key, value in others(name).items():
        tab.evaluate("([key, value]) => set(key, value)", [page.trait(key), value])
        state[key] = value
        assert_shows(tab, name, state)


@pytest.mark.parametrize("name", having("TYPED_WRONG"))
def test_what_is_no_number_is_marked_and_not_used(show, name):
    start, (label, wrong) = case(name).START, case(name).TYPED_WRONG
    tab = run_widget(show(), name, start)
    field = control(tab, "spinbutton", label)
    before = field.input_value()
    for typed in ["", *wrong]:
        field.fill("")
        tab.keyboard.insert_text(typed)  # all at once: on the way there are numbers
        assert field.get_attribute("aria-invalid") == "true"
        assert re.fullmatch(r".+: type a .*number.*\. What is shown is for .+\.", page.said(tab))
        assert field.evaluate("(field) => getComputedStyle(field).borderStyle") == "dashed"
        field.blur()
        assert (field.get_attribute("aria-invalid"), field.input_value()) == ("false", before)
        assert ": type a" not in page.said(tab)
    assert_shows(tab, name, start, **({"here": None} if name == "sheet" else {}))


@pytest.mark.parametrize("name", THREE)
def test_two_on_a_page_are_independent(show, name):
    start = case(name).START
    tab = show((name, start), (name, start))
    one, two = tab.locator(".mt-explorable").all()
    ((_, state, view),) = do(two, name, case(name).WALK[:1])
    assert_shows(one, name, start)
    assert_shows(two, name, state, **view)


@pytest.mark.parametrize("name", having("DRAGGED"))
def test_a_point_follows_the_mouse_as_far_as_its_plane_goes(show, name):
    state = dict(case(name).START)
    tab = show((name, state), width=320)
    for label, (right, up), changes in case(name).DRAGGED:
        handle = control(tab, "slider", label)
        reach = float(handle.get_attribute("aria-valuemax"))
        pixels = tab.locator("svg[role=group]").bounding_box()["width"] * 150 / 340 / reach
        page.drag(tab, handle, (right * pixels, -up * pixels))
        state |= changes
        assert_shows(tab, name, state)


def test_in_the_middle_of_a_dial_is_its_own_number(show):
    start = case("lookup").START
    tab = show(("lookup", {**start, "scale": 3.7}))
    tab.mouse.click(*page.middle(control(tab, "slider", "scale")))
    assert_shows(tab, "lookup", {**start, "scale": 2**-0.5})


def test_a_number_on_its_way_is_left_alone(show):
    start = case("temperature").START
    tab = show(("temperature", start))
    field = control(tab, "spinbutton", "score of b")
    field.fill("")
    for key in "0.5":
        field.press(key)
    assert field.input_value() == "0.5"
    field.press("ArrowDown")
    assert_shows(tab, "temperature", {**start, "scores": [2.0, -0.5, 0.0, -1.0]})


@pytest.mark.parametrize("name", having("TOUCHED"))
def test_a_finger_moves_it_and_scrolls_the_page_elsewhere(show, name):
    start, (label, by) = case(name).START, case(name).TOUCHED
    tab = run_widget(show(**PHONE), name, start)
    tab.evaluate("document.getElementById('below').style.height = '3000px'")
    handle = control(tab, "slider", label)
    handle.scroll_into_view_if_needed()
    x, y = page.middle(handle)
    grip = (x + 15, y + 10) if by[1] else (x, y)  # within 22 pixels of a handle's middle
    assert page.swipe(tab, grip, by) == 0
    state = tab.evaluate("saved.at(-1)")
    assert state != start
    assert_shows(tab, name, state)
    words = tab.locator(".mt-verdict")
    words.scroll_into_view_if_needed()
    assert page.swipe(tab, page.middle(words), (0, -120)) > 50
    assert tab.evaluate("saved.at(-1)") == state


def test_all_can_be_reached_by_tab_in_turn_and_shows_the_focus(show):
    tab = show(*starts().items())
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
    assert tab.evaluate("awaited.filter((part, i) => part !== stops[i]).map((part) => part.outerHTML)") == []
    assert tab.evaluate("stops.filter((_, i) => rings[i] < 2).map((part) => part.outerHTML)") == []


@pytest.mark.parametrize("name", ["vectors", "temperature", "sheet"])
def test_keys_that_move_it_neither_scroll_the_page_nor_reach_what_is_around(show, name):
    tab = show((name, case(name).START))
    tab.evaluate("""() => {
        document.getElementById("below").style.height = "3000px";
        window.passed = 0;
        document.addEventListener("keydown", () => window.passed++);
    }""")
    tab.locator(".mt-live :is([role=slider], input[type=range], input[type=number])").first.focus()
    top = tab.evaluate("scrollY")
    for key in ("ArrowDown", "Shift+ArrowDown", "ArrowRight", "Shift+ArrowLeft"):
        tab.keyboard.press(key)
    tab.evaluate(PAINTED)
    assert tab.evaluate("[window.passed, scrollY]") == [0, top]


# What is seen and heard


@pytest.mark.parametrize("name", NAMES)
def test_a_screen_reader_hears_one_sentence_when_the_reader_pauses(show, name):
    start, (role, label, what, changes, sentence) = case(name).START, case(name).SPOKEN
    tab = show((name, start))
    (heard,) = page.spoken(tab, lambda: act(tab, role, label, what))
    assert_shows(tab, name, {**start, **changes})
    numbers = {key.replace("-", "_"): value for key, value in page.shown(tab).items()}
    assert page.plain(heard) == sentence.format(said=page.said(tab), **numbers)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_moves_sticks_out_or_is_cut_off_and_every_number_is_written_as_it_is(show, name):
    start = case(name).START
    for state in [start] if roomy(name) is start else [start, roomy(name)]:
        for width in (760, 320):
            found = show((name, state), width=width, motion="reduce").evaluate(page.STIR)
            (_, top, _), *_ = found["looks"]
            assert [look for look in found["looks"] if look[1:] != [top, width]] == []
            assert [pair for pair in found["written"] if not page.fits(*pair)] == []
            assert found["cut"] == []


def test_a_finger_has_room(show):
    tab = show(*starts().items(), **{**PHONE, "width": 320})
    targets = ".mt-reach, button, select, summary, input:not([type=checkbox]), label:has([type=checkbox])"
    small = f"""() => [...document.querySelectorAll(".mt-live :is({targets})")].filter((part) => {{
        const {{ width, height }} = part.getBoundingClientRect();
        return part.checkVisibility() && Math.min(width, height) < 43.9;
    }}).map((part) => part.outerHTML)"""
    assert tab.evaluate(small) == []


def test_they_are_accessible_after_a_walk(show):
    """As they start, axe looks at them on their pages."""
    shaded = [("heads", {**case("heads").START, "step": 3}), ("masks", {**case("masks").START, "causal": True})]
    tab = show(*starts().items(), *shaded, ("heads", others("heads")), ("position", roomy("position")), motion="reduce")
    tab.evaluate("document.querySelectorAll('.mt-panel:not(.mt-now)').forEach((hidden) => hidden.remove())")
    for name, place in zip(NAMES, tab.locator(".mt-explorable").all()):
        *_, (_, state, view) = do(place, name, case(name).WALK[:-1])
        assert_shows(place, name, state, **view)
        for field in place.locator("input[type=number]").all()[:1]:
            field.fill("")
    tab.set_viewport_size({"width": 320, "height": 800})
    assert violations(tab) == []
    tab.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert violations(tab, rest=False) == []


@pytest.mark.parametrize("theme, system", [("light", "dark"), ("dark", "light")])
def test_they_can_be_read_in_the_colours_of_the_system_whatever_the_theme_of_the_page(show, theme, system):
    colours = {"forced_colors": "active", "color_scheme": system}
    tab = show(*starts().items(), attributes=f'data-theme="{theme}"', motion="reduce", **colours)
    assert tab.evaluate("getComputedStyle(document.querySelector('.mt-live')).forcedColorAdjust") == "none"
    tab.evaluate("document.querySelectorAll('h1, #below').forEach((one) => one.remove())")  # the tests' page's own
    assert violations(tab, rest=False) == []


def test_each_fits_the_screen_of_a_phone_below_the_bar_of_the_page(show):
    tab = show(*starts().items(), **PHONE)
    high = "(all) => all.map((one) => one.offsetHeight)"
    heights = dict(zip(NAMES, tab.locator(".mt-live").evaluate_all(high)))
    assert {name: height for name, height in heights.items() if height > SCREEN} == {}


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_moves_when_they_start(show, width):
    tab = show(*starts().items(), width=width)
    shift = """() => new Promise((done) => {
        let moved = 0;
        const observer = new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) moved += entry.value ?? 0;
            if (list.getEntriesByName("last").length) done(moved);
        });
        observer.observe({ type: "layout-shift", buffered: true });
        observer.observe({ type: "mark" });
        (PAINTED)().then(() => performance.mark("last"));
    })""".replace("PAINTED", PAINTED)
    assert tab.evaluate(shift) == 0


def seen(tab):
    """Return how many still pictures, explorables and groups of controls are seen."""
    return [tab.locator(f"{css} >> visible=true").count() for css in (".mt-still svg", ".mt-live", ".mt-controls")]


def test_the_still_pictures_stand_in_print_and_where_javascript_does_not_run(show):
    tab = show(*starts().items())
    still, living, controls = seen(tab)
    assert (still, living) == (0, len(NAMES)) and controls >= len(NAMES)
    tab.emulate_media(media="print")
    assert seen(tab) == [len(NAMES), 0, 0]
    assert seen(show(*starts().items(), java_script_enabled=False)) == [len(NAMES), 0, 0]


@pytest.mark.parametrize("motion, moving", [("no-preference", True), ("reduce", False)])
def test_bars_and_shades_move_only_for_those_who_like_it(show, motion, moving):
    tab = show(*starts().items(), motion=motion)
    seconds = "(part) => ['transitionDuration', 'animationDuration'].map((name) => getComputedStyle(part)[name])"
    moves = tab.evaluate(f"[...new Set([...document.querySelectorAll('.mt-live *')].flatMap({seconds}))]")
    assert ("0.15s" in moves) == moving and (moving or moves == ["0s"])


# What they are made of


def test_labels_are_text_whatever_they_hold(show):
    labelled = {name: state for name, state in starts().items() if "labels" in state}
    states = {name: {**state, "labels": page.HARM[: len(state["labels"])]} for name, state in labelled.items()}
    tab = show(*states.items())
    for name, place in zip(states, tab.locator(".mt-explorable").all()):
        assert set(states[name]["labels"]) <= set(place.locator("*").all_text_contents()), name
    tab.evaluate(page.STIR)
    assert tab.evaluate("window.harm") is None


def test_nothing_is_left_in_the_global_scope(show):
    names = [show(*pairs).evaluate("Object.getOwnPropertyNames(window)") for pairs in ([], starts().items())]
    assert set(names[1]) - set(names[0]) == set()


def test_an_explorable_is_small_needs_no_other_file_and_is_the_same_every_time():
    for name, state in starts().items():
        text = explorable(name, page.STILL, **state).data
        assert not re.search(r"\bsrc=|\bhref=|\bimport\b|\bexport\b|\bfetch\(|https?://(?!www\.w3\.org/)", text), name
        assert text == explorable(name, page.STILL, **state).data, name
        assert len(gzip.compress(re.sub(r"[\w+/]{1000,}", "", text).encode())) < 19_000, name  # but for weights


def test_a_folder_has_its_three_files_which_have_no_colour_but_the_themes_and_cannot_end_their_script():
    for folder in [path for path in FOLDER.iterdir() if path.is_dir() and path.name not in ("shared", "__pycache__")]:
        files = {path.name for path in folder.iterdir() if path.is_file()}
        assert files == {"module.mjs", "style.css", "state.py"}, f"{folder.name}: {files}"
    for path in [*FOLDER.rglob("*.mjs"), *FOLDER.rglob("*.css")]:
        text = path.read_text("utf-8")
        assert not re.search(r"#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(", text, re.IGNORECASE), path
        assert "</script" not in text and "</style" not in text and "innerHTML" not in text, path


@pytest.mark.parametrize("name", THREE)
def test_page_and_widget_run_the_same_module_and_share_the_state(name):
    start, folder = case(name).START, FOLDER / name
    source = (folder / "module.mjs").read_text("utf-8").split('/parts.mjs";\n')[1]
    text, widget, heard = explorable(name, page.STILL, **start).data, live(name, **start), []
    code = re.sub(r"^ *//.*\n", "", source, flags=re.MULTILINE).replace("export default", "const explorable =")
    assert code != source and code in widget._esm and code in text
    for sheet in (FOLDER / "shared/parts.css", folder / "style.css"):
        assert sheet.read_text("utf-8") in widget._css
    assert {key: widget.get_state()[page.trait(key)] for key in start} == start
    key, value = list(others(name).items())[-1]
    widget.observe(lambda change: heard.append(change.new), page.trait(key))
    widget.set_state({page.trait(key): value})  # what comes in from the page
    assert getattr(widget, page.trait(key)) == value == heard[0]


def test_a_widget_refuses_what_it_cannot_show():
    start = case("lookup").START
    widget = live("lookup", **start)
    for key, value in {"keys_": [[1, 2]], "query": "north"}.items():
        with pytest.raises((ValueError, TraitError), match=f"{key.rstrip('_')} is .*; expected "):
            setattr(widget, key, value)
        assert getattr(widget, key) == start[key.rstrip("_")]


def test_an_explorable_that_nothing_tries_is_named_with_what_to_add():
    with pytest.raises(
        pytest.fail.Exception, match="^No test tries the explorable new: write tests/explorables/cases/new.py"
    ):
        case("new")
