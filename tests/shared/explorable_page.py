"""What the tests of the explorables share: how each starts, the page they stand in, and how its numbers are read."""

import base64
import re

import numpy as np
from axe_playwright_python.base import AXE_SCRIPT

from minitransformer import figures
from minitransformer.explore import live

STILL = figures.Picture(480, 365, '<text x="9" y="30">still</text>', "A picture that stands still.", zoom=1)
VECTORS = {"a": [3.0, 1.0], "b": [1.0, 2.0]}
SCORES = {"scores": [2.0, 1.0, 0.0, -1.0], "labels": ["a", "b", "c", "d"], "temperature": 1.0}
TOKENS = ["the", "cat", "sat"]
START = {
    "vectors": VECTORS,
    "temperature": SCORES,
    "lookup": {
        **{"labels": TOKENS, "query": [1.0, 1.0], "keys": [[2.0, 0.5], [-1.0, 2.0], [-1.5, -1.0]]},
        **{"values": [[-2.0, -1.0], [0.0, 2.0], [2.0, -1.0]], "scale": 0.7},
    },
    "sheet": {
        **{"labels": ["I", "love", "coding"], "x": [[1, 0, 1], [0, 1, 0], [1, 1, 1]], "scaled": False},
        **{"W_Q": [[1, 0, 1], [0, 1, 0], [1, 1, 1]], "W_K": [[0, 1, 1], [1, 0, 0], [0, 0, 1]]},
        **{"W_V": [[1, 2, 1], [0, 1, 0], [1, 1, 0]]},
    },
    "masks": {
        **{"labels": TOKENS, "scores": [[2.0, 1.0, 0.5], [0.0, 1.5, -1.0], [1.0, 3.0, 0.2]]},
        **{"causal": False, "padded": 0, "temperature": 1.0},
    },
    "heads": {
        **{"labels": TOKENS, "heads": 2, "step": 0},
        **{
            name: np.random.default_rng(i).normal(size=(3, 6)).round(1).tolist()
            for i, name in enumerate(("queries", "keys", "values"))
        },
    },
    "position": {
        **{"kind": "sinusoidal", "position": 3, "query": [1.0, 0.5, -1.0, 2.0], "key": [0.5, 1.5, 1.0, -0.5]},
        **{"learned": np.random.default_rng(3).normal(size=(12, 4)).round(1).tolist()},
    },
    "build": {
        **{"kind": "decoder", "d": 16, "heads": 2, "layers": 2, "hidden": 64, "vocabulary": 11, "n": 9},
        **{"norm": "pre", "tied": True},
    },
    "features": {
        **{"labels": ["one", "two", "three", "four"], "x": [1.0, 2.0, 3.0, 4.5], "gain": [1.0, 1.0, 2.0, 1.0]},
        **{"bias": [0.0, 0.5, 0.0, 0.0], "eps": 1e-5},
    },
    "depth": {
        **{"scale": 0.9, "depth": 24, "plain": [0.9**i * (1 + 0.1 * (-1) ** i) for i in range(1, 49)]},
        **{"residual": [1.81 ** (i / 2) * (1 - 0.1 * (-1) ** i) for i in range(1, 49)]},
    },
}
CLOSE = {"rtol": 1e-6, "atol": 1e-12}  # page and Python do the same sums in the same precision
PAUSE = 700  # milliseconds, after which a sentence is spoken
PAGE = """<!doctype html><html lang="en" {attributes}><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Explorables</title><style>body {{ margin: 1rem; background: var(--mt-paper); color: var(--mt-ink) }}</style>
<main><h1>Explorables</h1>{inside}<p id="below">Below</p></main></html>"""


# A widget's module, with a stand-in for the kernel: what it is told goes to `saved`, and `set` is the kernel's word.
KERNEL = """async ([source, css, state]) => {
    document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
    const { default: explorable } = await import(`data:text/javascript;base64,${source}`);
    const heard = [];
    const on = (event, listener) => heard.push([event, listener]);
    const saved = (window.saved = []);
    window.set = (key, value) => {
        state[key] = value;
        heard.filter(([event]) => event === `change:${key}`).forEach(([, listener]) => listener());
    };
    const model = { get: (key) => state[key], set, on, save_changes: () => saved.push(structuredClone(state)) };
    explorable.render({ model, el: document.querySelector("main").appendChild(document.createElement("div")) });
}"""


def number(place, name):
    """Return a number of the page in full precision, None where it says that there is none."""
    value = place.locator(f"[data-name='{name}']").get_attribute("data-value")
    return float(value) if value else None


def assert_numbers(place, expected):
    """The page shows the numbers of `expected`, name -> value, and writes them as they are."""
    shown = dict(place.locator("[data-name]").evaluate_all("(all) => all.map(({ dataset: d }) => [d.name, d.value])"))
    found = {name: float(shown[name]) for name in expected}
    np.testing.assert_allclose(list(found.values()), list(expected.values()), **CLOSE, err_msg=str(found))
    assert_texts(place)


def assert_texts(place):
    """Each number of the page is written as it is, but for the digits that are left out."""
    read = "(all) => all.map((node) => [node.innerText, node.dataset.value])"
    for text, value in place.locator(".mt-live :not(input)[data-value]").evaluate_all(read):
        written = re.search(r"(-?\d+)(\.\d+)?(e-?\d+)?[^\d.]*$", text.replace("−", "-").replace(",", ""))
        if value and written and text[0] not in "<>":  # of those, other tests tell
            step = 10.0 ** (int((written[3] or "e0")[1:]) - max(0, len(written[2] or "") - 1))
            assert abs(float(written[1] + (written[2] or "") + (written[3] or "")) - float(value)) <= 0.5001 * step, (
                text
            )


def middle(thing):
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
    """Move a finger from `start` by (x, y) pixels; return how far the page has scrolled."""
    touch = tab.context.new_cdp_session(tab)
    points = [(start[0] + part * by[0], start[1] + part * by[1]) for part in (0, 0.25, 0.5, 0.75, 1)]
    for kind, point in zip(["touchStart", *["touchMove"] * 4], points):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": point[0], "y": point[1]}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    tab.wait_for_timeout(200)
    return tab.evaluate("scrollY")


def spoken(tab, act):
    """Return what a screen reader is told while `act` acts and when it pauses after that: a list of sentences."""
    tab.wait_for_timeout(PAUSE)
    tab.clock.install(time=0)
    tab.clock.pause_at(1000)  # so that a slow machine makes no pause
    tab.evaluate("""() => {
        window.spoken = [];
        const live = document.querySelector("[aria-live=polite]");
        new MutationObserver(() => spoken.push(live.textContent)).observe(live, { childList: true });
    }""")
    act()
    assert tab.evaluate("spoken") == []
    tab.clock.run_for(PAUSE)
    return tab.evaluate("spoken")


def run_widget(tab, name, state):
    """Run what a widget sends to JupyterLab; `saved.at(-1)` is what the kernel was told, `set(key, value)` its word."""
    widget = live(name, **state)
    shared = {"keys_" if key == "keys" else key: value for key, value in state.items()}
    tab.evaluate(KERNEL, [base64.b64encode(widget._esm.encode()).decode(), widget._css, shared])


def stir(tab):
    """Press every button, tick every box, and move every slider to its ends and its middle; yield after each."""
    for button in tab.locator(".mt-live button >> visible=true").all():
        button.press("Enter")
        yield button.inner_text()
    for box in tab.locator(".mt-live input[type=checkbox] >> visible=true").all():
        box.click()
        yield "box"
    for slider in tab.locator(".mt-live input[type=range] >> visible=true").all():
        for value in (slider.get_attribute("min"), slider.get_attribute("max"), "0"):
            slider.fill(value)
            yield f"{slider.get_attribute('aria-label')} {value}"


def violations(tab):
    """Return what axe finds against the accessibility of the page."""
    tab.evaluate(AXE_SCRIPT)
    found = tab.evaluate("() => axe.run()")["violations"]
    return [(rule["id"], node["html"]) for rule in found for node in rule["nodes"]]
