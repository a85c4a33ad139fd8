"""What the tests of the explorables share: how each starts, the page they stand in, and how its numbers are read."""

import base64
import re
from functools import cache

import numpy as np

from minitransformer import figures
from minitransformer.explore import live, packed
from tests.shared.explorable_numbers import NUMBERS, modelled

STILL = figures.Picture(480, 365, '<text x="9" y="30">still</text>', "A picture that stands still.", zoom=1)
VECTORS = {"a": [3.0, 1.0], "b": [1.0, 2.0]}
SCORES = {"scores": [2.0, 1.0, 0.0, -1.0], "labels": ["a", "b", "c", "d"], "temperature": 1.0}
SMALL = {"d": 8, "hidden": 16, "layers": 1, "heads": 1, "encoder_layers": 2, "encoder_heads": 2, "tied": True}
ENGLISH = ["<pad>", "<s>", "</s>", "the", "a", "an", "cat", "animal", "black", "sleeps", "it"]
FRENCH = ["<pad>", "<s>", "</s>", "le", "l'", "un", "chat", "animal", "noir", "dort", "il"]
UNTRAINED = [np.random.default_rng(seed).normal(size=2184) / 2 for seed in (3, 117, 662)]
SENTENCE = ["the", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too"]
PHRASE = ["l'", "animal", "n'", "a", "pas", "traversé", "la", "rue", "parce", "qu'"]
START = {
    "vectors": VECTORS,
    "temperature": SCORES,
    "lookup": {
        **{"labels": ["cat", "mat", "tired"], "query": [1.0, 1.0], "keys": [[2.0, 0.5], [-1.0, 2.0], [-1.5, -1.5]]},
        **{"values": [[-2.5, -1.5], [0.0, 2.5], [2.5, -1.5]], "scale": 2**-0.5},
    },
    "sheet": {
        **{"labels": ["I", "love", "coding"], "x": [[1, 0, 1], [0, 1, 0], [1, 1, 1]], "scaled": False},
        **{"W_Q": [[1, 0, 1], [0, 1, 0], [1, 1, 1]], "W_K": [[0, 1, 1], [1, 0, 0], [0, 0, 1]]},
        **{"W_V": [[1, 2, 1], [0, 1, 0], [1, 1, 0]]},
    },
    "masks": {
        **{"labels": ["it", "was", "so", "tired"], "causal": False, "padded": 0, "temperature": 1.0},
        "scores": [[1.0, 2.0, 0.0, 1.5], [2.0, 0.5, 1.0, 0.0], [0.0, 1.0, 0.5, 2.5], [1.0, 0.0, 2.0, 0.5]],
    },
    "heads": {
        **{"labels": ["the", "cat", "sat"], "heads": 2, "step": 0},
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
        **{"labels": ["a", "b", "c", "d"], "x": [1.0, 2.0, 3.0, 6.0], "gain": [1.0] * 4, "bias": [0.0] * 4},
        "eps": 1e-5,
    },
    "depth": {
        **{"scale": 0.9, "depth": 24, "plain": [0.9**i * (1 + 0.1 * (-1) ** i) for i in range(1, 49)]},
        **{"residual": [1.81 ** (i / 2) * (1 - 0.1 * (-1) ** i) for i in range(1, 49)]},
    },
    "graph": {
        **{"labels": ["animal", "street", "road"], "query": [1.0, 0.5], "keys": [[1.0, 0.0], [0.8, 1.0], [0.5, 0.8]]},
        **{"values": [[1.0, 0.2], [0.1, 0.9], [0.0, 1.0]], "wish": [2.0, -0.5]},
    },
    "training": {
        **{"losses": [2.5, 1.8, 1.2, 0.7, 0.3, 0.08, 0.02, 0.004], "steps": [0, 10, 20, 30, 40]},
        **{"exact": [0.0, 0.05, 0.312, 0.9996, 1.0], "labels": ["4", "2", "7"], "targets": ["7", "2", "4", "END"]},
        **{"says": [["START"] * 4, ["7"] * 4, ["7", "4", "4", "2"], ["7", "2", "4", "2"], ["7", "2", "4", "END"]]},
        **{"weights": np.random.default_rng(14).dirichlet([0.4] * 3, (5, 4)).round(3).tolist(), "step": 20},
    },
    "translator": {
        **packed(modelled(SMALL, ENGLISH, FRENCH), *UNTRAINED),
        **{"source": ENGLISH, "target": FRENCH, "groups": {"articles": ENGLISH[3:6], "others": ENGLISH[6:]}},
        **{"twins": ["the animal sleeps", "the animal black"], "examples": ["the black cat sleeps", "it sleeps"]},
        **{"sentence": "the animal sleeps", "pronouns": ["l'"], "steps": [0, 50, 200], "step": 200},
    },
    "twins": {
        "english": [[*SENTENCE, "tired"], [*SENTENCE, "wide"]],
        "french": [[*PHRASE, "il", "était", "trop", "fatigué"], [*PHRASE, "elle", "était", "trop", "large"]],
        **{"weights": np.random.default_rng(15).dirichlet([0.1] * 11, (2, 14)).round(3).tolist()},
        "swaps": [
            [[0, 3], [6, 6], [0, 1], [1, 4], [0, 3], [0, 4], [0, 1], [0, 0], [0, 0], [0, 1], [5, 6]],
            [[0, 3], [0, 6], [0, 1], [0, 4], [0, 3], [4, 4], [0, 1], [0, 0], [0, 0], [0, 1], [6, 6]],
        ],
        "looks": np.random.default_rng(16).dirichlet([0.5] * 11, (2, 2)).round(3).tolist(),
        **{"shown": 0, "view": 0},
    },
    "window": {"sentences": ["the cat eats fish", "the king rules"], "window": 2, "place": 2, "weighed": False},
    "words": {
        **{"words": ["cat", "king", "queen"], "points": [[0.5, 0.1], [-0.3, 0.2], [-0.4, -0.6]]},
        **{
            "near": ["dog mouse", "queen rules", "encyclopaedia king"],
            "cosines": [[0.9, 0.4], [0.8, 0.3], [0.8, -0.1]],
        },
        "chosen": "king",
    },
    "shares": {"scores": [2.0, 1.0, -2.0], "labels": ["animal", "street", "because"], "shift": 0.0},
}
LONG = ["encyclopaedia", "a", "California"]
RNG = np.random.default_rng(8)
EIGHT = {  # features
    **{"labels": ["encyclopaedia", "the", "California", "d", "e", "f", "g", "h"], "eps": 0.3},
    **{name: RNG.normal(size=8).round(1).tolist() for name in ("x", "gain", "bias")},
}
WIDE_GRAPH = {
    **{"labels": ["a", "b", "c"], "query": [-123.456, 31.25], "keys": [[-12.345, 0.123], [-12.34, 0.125], [-12.3, 0]]},
    **{"values": [[-1234.567, 0.001], [234.567, -0.002], [-999.999, 0.003]], "wish": [-1234.5, 0.125]},
}
LONGEST = {  # training
    **{"losses": (4 * 0.95 ** np.arange(150)).tolist(), "exact": [0.0, 0.1234, 0.5, 0.9996, 1.0], "step": 250},
    **{"steps": list(range(0, 1001, 250)), "labels": list("012345678901"), "targets": [*"109876543210", "START"]},
    **{"says": [["START"] * 13] * 5, "weights": [np.tile(np.eye(12), (2, 1))[:13].tolist()] * 5},
}
POSITIONS = {
    **{"kind": "rotary", "position": 20, "learned": RNG.normal(size=(48, 32)).round(2).tolist()},
    **{name: RNG.normal(size=32).round(2).tolist() for name in ("query", "key")},
}
PUBLISHED = {
    "2017 base": {
        **{"kind": "encoder-decoder", "d": 512, "heads": 8, "layers": 6, "hidden": 2048, "vocabulary": 37_000},
        **{"n": 64, "norm": "post", "tied": True},
    },
    "GPT-2 small": {
        **{"kind": "decoder", "d": 768, "heads": 12, "layers": 12, "hidden": 3072, "vocabulary": 50_257},
        **{"n": 1024, "norm": "pre", "tied": True},
    },
}
ODD = {
    **{"kind": "encoder-decoder", "d": 15, "heads": 5, "layers": 3, "hidden": 7, "vocabulary": 101, "n": 13},
    **{"norm": "post", "tied": False},
}
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
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


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
    found, expected = shown(place), NUMBERS[name](**state, **view)
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
    tab.evaluate(FRAMES)
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
    widget = live(name, **START[name])
    return base64.b64encode(widget._esm.encode()).decode(), widget._css


def run_widget(tab, name, state):
    """Run what a widget sends to JupyterLab; `saved` is what the kernel was told, `set(key, value)` its word."""
    tab.evaluate(KERNEL, [*widget_files(name), {trait(key): value for key, value in state.items()}])
    return tab


def trait(key):
    """Return how a widget calls a part of its state."""
    return "keys_" if key == "keys" else key
