"""What the tests of the explorables share: how each is tried, the page it stands in, and how its numbers are read."""

import base64
import importlib
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from companion import figures
from companion.explore import NAMES, live
from tests.shared.pages import PAINTED

CASES = Path(__file__).parents[1] / "explorables" / "cases"
NEEDED = {
    "START": "the state that the tests begin with",
    "numbers": "a function that takes a state, and returns by their names all numbers that the explorable shows of it",
    "WALK": "what is done in turn, and what that makes of the state",
    "SPOKEN": "what is done, and what a screen reader is told then",
    "REFUSED": "parts of the state, and what each cannot be",
}
STILL = figures.Picture(480, 365, '<text x="9" y="30">still</text>', "A picture that stands still.", zoom=1)
LONG = ["encyclopaedia", "a", "California"]
CLOSE = {"rtol": 1e-6, "atol": 1e-12}  # page and Python do the same sums in the same precision
HARM = ["</script><script>window.harm = 1</script>", "\"'&amp;", "<img src=x onerror='window.harm=1'>", "d"]
# As a page of the book, it has the palette from the start, and not from the first still picture on.
PALETTE = figures.css().replace("{", "{{").replace("}", "}}")
PAGE = (
    '<!doctype html><html lang="en" {attributes}><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width"><title>Explorables</title><style>'
    + PALETTE
    + "body {{ margin: 1rem; background: var(--mt-paper); color: var(--mt-ink) }}</style>"
    '<main><h1>Explorables</h1>{inside}<p id="below">Below</p></main></html>'
)

# A widget's module, with a stand-in for the kernel: what it is told goes to `saved`, and `set` is the kernel's word.
KERNEL = """async ([source, css, state]) => {
    document.querySelectorAll(".widget").forEach((old) => old.remove());
    const place = document.createElement("div");
    const sheet = Object.assign(document.createElement("style"), { textContent: css, className: "widget" });
    document.head.append(sheet);
    const { default: explorable } = await import(`data:text/javascript;base64,${source}`);
    const heard = [];
    const on = (event, listener) => heard.push([event, listener]);
    window.saved = [];
    window.set = (key, value) => {
        state[key] = value;
        heard.filter(([event]) => event === `change:${key}`).forEach(([, listener]) => listener());
    };
    const named = () => Object.entries(state).map(([key, value]) => [key.replace(/_$/, ""), structuredClone(value)]);
    const model = { get: (key) => state[key], set, on, save_changes: () => saved.push(Object.fromEntries(named())) };
    document.getElementById("below").before(place);
    explorable.render({ model, el: place });
    place.classList.add("widget");
}"""

# Timers of a third of a second and more wait for `pause()`; what is said goes to `spoken`.
TIMERS = """() => {
    const [start, stop, waiting] = [setTimeout, clearTimeout, new Map()];
    for (let last = start(() => {}); last > 0; last--) stop(last); // what was to be said of the start
    window.setTimeout = (run, after) => {
        if (after < 300) return start(run, after);
        waiting.set(-waiting.size - 1, run);
        return -waiting.size;
    };
    window.clearTimeout = (key) => waiting.has(key) ? waiting.set(key, () => {}) : stop(key);
    window.pause = () => waiting.forEach((run) => run());
    window.spoken = [];
    const live = document.querySelector("[aria-live=polite]");
    new MutationObserver(() => spoken.push(live.textContent)).observe(live, { childList: true });
}"""

# Press every button, tick every box, move every slider from end to end, and point at every cell; after each,
# note where what is below begins, how wide the page is, and how each number is written.
STIR = """() => {
    const [below, written, looks] = [document.getElementById("below"), new Set(), []];
    const look = (told) => {
        looks.push([told, below.offsetTop, document.documentElement.scrollWidth]);
        for (const node of document.querySelectorAll(".mt-live :not(input)[data-value]"))
            written.add(`${node.innerText}\\t${node.dataset.value}`);
    };
    const all = (css) => [...document.querySelectorAll(`.mt-live :is(${css})`)].filter((one) => one.checkVisibility());
    look("the start");
    for (const node of all("button, [type=checkbox]")) {
        node.click();
        look(node.textContent || node.parentElement.textContent);
    }
    for (const slider of all("[type=range]")) {
        for (let i = 0; i <= 8; i++) {
            slider.value = Number(slider.min) + ((slider.max - slider.min) * i) / 8;
            slider.dispatchEvent(new Event("input"));
            look(`${slider.ariaLabel} at ${slider.value}`);
        }
    }
    for (const cell of all("[role=gridcell]")) {
        cell.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
        look(cell.innerText);
    }
    const cut = all("td").filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.innerText);
    return { looks, cut, written: [...written].map((pair) => pair.split("\\t")) };
}"""


def case(name):
    """Return the module that says how the tests try an explorable; fail in a sentence where it lacks something."""
    path = f"tests/explorables/cases/{name}.py"
    if not (CASES / f"{name}.py").is_file():
        pytest.fail(f"No test tries the explorable {name}: write {path}, as words.py beside it is.", pytrace=False)
    found = importlib.import_module(f"tests.explorables.cases.{name}")
    for missing in NEEDED.keys() - vars(found).keys():
        pytest.fail(f"{path} has no {missing}: add {NEEDED[missing]}, as words.py beside it does.", pytrace=False)
    return found


def having(part):
    """Return the names of the explorables whose cases have a part that not all of them have."""
    return [path.stem for path in sorted(CASES.glob("*.py")) if f"\n{part} = " in path.read_text("utf8")]


def starts():
    """Return the state with which each explorable starts, by their names."""
    return {name: case(name).START for name in NAMES}


def cells(name, table):
    """Return the numbers of a table by their names: name-i, name-i-j, …"""
    return {"-".join(map(str, [name, *place])): value for place, value in np.ndenumerate(table)}


def number(place, name):
    """Return a number of the page in full precision, None where it says that there is none."""
    value = place.locator(f"[data-name='{name}']").get_attribute("data-value")
    return float(value) if value else None


def text(place, name):
    """Return how a number of the page is written."""
    return place.locator(f"[data-name='{name}']").inner_text()


def shown(place):
    """Return all numbers of an explorable by their names, NaN where it says that there is none."""
    pairs = place.locator("[data-name]").evaluate_all("(all) => all.map(({ dataset: d }) => [d.name, d.value])")
    return {name: float(value) if value else np.nan for name, value in pairs}


def assert_shows(place, name, state, **view):
    """The numbers of the explorable are those that Python makes of the state: all of them, and no others."""
    found, expected = shown(place), case(name).numbers(**state, **view)
    assert found.keys() == expected.keys(), found.keys() ^ expected.keys()
    right = [np.nan if value is None else float(value) for value in expected.values()]
    wrong = {
        key: (found[key], value)
        for key, value in zip(expected, right)
        if not np.isclose(found[key], value, **CLOSE, equal_nan=True)
    }
    assert not wrong, wrong


def fits(written, value):
    """Tell whether `written` is the number `value`, but for the digits that are left out."""
    found = re.search(r"(-?\d+)(\.\d+)?(e-?\d+)?[^\d.]*$", written.replace("−", "-").replace(",", ""))
    if not value or not found or written[0] in "<>":  # of those, other tests tell
        return True
    whole, part, power = (each or "" for each in found.groups())
    step = 10.0 ** (int(power[1:] or 0) - max(0, len(part) - 1))
    return abs(float(whole + part + power) - float(value)) <= 0.5001 * step


def control(place, role, label):
    """Return the control of this role whose name begins with the words `label`."""
    return place.get_by_role(role, name=re.compile(rf"^{re.escape(label)}(?!\w)"))


def act(place, role, label, what=""):
    """Use a control as a reader does: press keys on a slider, fill a field, choose from a list; click all else."""
    found = control(place, role, label)
    if role == "slider":
        for key in what.split():
            found.press(key)
    elif role in ("spinbutton", "textbox"):
        found.fill(what)
    elif role == "combobox":
        found.select_option(what)
    else:
        found.click()


def plain(sentence):
    """Return a sentence with ASCII's minus and spaces."""
    return sentence.replace("−", "-").replace("\N{NO-BREAK SPACE}", " ")


def said(place):
    """Return the sentence of an explorable."""
    return plain(place.locator(".mt-verdict").inner_text())


def middle(thing):
    """Return the point in the middle of an element."""
    box = thing.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(tab, handle, by):
    """Drag a handle by (x, y) pixels, taking hold of it not quite in its middle."""
    x, y = middle(handle)
    tab.mouse.move(x + 4, y - 3)
    tab.mouse.down()
    for part in (0.3, 0.7, 1):
        tab.mouse.move(x + 4 + part * by[0], y - 3 + part * by[1])
    tab.mouse.up()


def swipe(tab, start, by):
    """Move a finger from `start` by (x, y) pixels; return how far the page has scrolled by then."""
    touch, before = tab.context.new_cdp_session(tab), tab.evaluate("scrollY")
    points = [(start[0] + part * by[0], start[1] + part * by[1]) for part in (0, 0.25, 0.5, 0.75, 1)]
    for kind, point in zip(["touchStart", *["touchMove"] * 4], points):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": point[0], "y": point[1]}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    tab.evaluate(PAINTED)
    return tab.evaluate("scrollY") - before


def spoken(tab, move):
    """Return what a screen reader is told while `move` moves things and when it pauses after that."""
    tab.evaluate(TIMERS)
    move()
    assert tab.evaluate("spoken") == []
    tab.evaluate("pause()")
    return tab.evaluate("spoken")


@cache
def widget_files(name):
    """Return the module of a widget, for an address of it, and its stylesheet."""
    widget = live(name, **case(name).START)
    return base64.b64encode(widget._esm.encode()).decode(), widget._css


def run_widget(tab, name, state):
    """Run what a widget sends to JupyterLab; `saved` is what the kernel was told, `set(key, value)` its word."""
    tab.evaluate(KERNEL, [*widget_files(name), {trait(key): value for key, value in state.items()}])
    return tab


def trait(key):
    """Return how a widget calls a part of its state."""
    return "keys_" if key == "keys" else key
