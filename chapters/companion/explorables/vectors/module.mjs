// Chapter 2: two arrows and the numbers between them.
import { begin, button, change, fixed, make, numbers, slider, speaker } from "../shared/parts.mjs";

const REACH = 5; // coordinates go from −5 to 5
const UNIT = 30; // what 1 measures in the drawing
const SIDE = 340; // of the drawing
const PRESETS = {
  "same direction, longer": { a: [2, 1], b: [4, 2] },
  orthogonal: { a: [3, 1], b: [-1, 3] },
  opposite: { a: [3, 1], b: [-1.5, -0.5] },
  "longer beats closer": { a: [3, 1], b: [1, 4], c: [1.6, 0.1] },
};

// ---- the geometry --------------------------------------------------------------------------------------------------

// What is shown about two vectors; null is what a zero vector leaves undefined.
function measure(a, b) {
  const dot = a[0] * b[0] + a[1] * b[1];
  const cross = a[0] * b[1] - a[1] * b[0];
  const [lengthA, lengthB] = [Math.hypot(...a), Math.hypot(...b)];
  const directed = lengthA > 0 && lengthB > 0;
  return {
    dot,
    lengthA,
    lengthB,
    cosine: directed ? dot / (lengthA * lengthB) : null,
    angle: directed ? (Math.abs(Math.atan2(cross, dot)) * 180) / Math.PI : null,
    shadow: lengthA > 0 ? dot / lengthA : null,
    sign: Math.abs(dot) <= 1e-12 * lengthA * lengthB ? 0 : Math.sign(dot), // 0.1 · 0.6 may differ from 0.2 · 0.3
    turn: cross < 0 ? -1 : 1, // 1 where b is to the left of a
  };
}

const scaled = (vector, factor) => vector.map((coordinate) => coordinate * factor);
const unit = (vector) => scaled(vector, 1 / Math.hypot(...vector));
const plus = (one, two) => [one[0] + two[0], one[1] + two[1]];
const left = ([x, y]) => [-y, x]; // a quarter turn
const onGrid = (value) => Math.max(-REACH, Math.min(REACH, Math.round(value * 10) / 10)) + 0; // never −0

// ---- the drawing ---------------------------------------------------------------------------------------------------

const at = ([x, y]) => `${x * UNIT} ${-y * UNIT}`; // y points down there
const line = (...points) => `M${points.map(at).join("L")}`;

function grid() {
  const steps = Array.from({ length: 2 * REACH + 1 }, (_, i) => i - REACH);
  const cross = (s) => line([s, -REACH], [s, REACH]) + line([-REACH, s], [REACH, s]);
  const label = (s, x, y, anchor) => make("text", { x: x * UNIT, y: -y * UNIT, "text-anchor": anchor }, fixed(s, 0));
  return make(
    "g",
    { class: "mt-muted" },
    make("path", { class: "mt-grid", d: steps.map(cross).join("") }),
    make("path", { class: "mt-axes", d: cross(0) }),
    ...[-4, -2, 2, 4].flatMap((s) => [label(s, s, -0.6, "middle"), label(s, -0.25, s - 0.16, "end")]),
  );
}

// An arrow with its name beside its tip: point(vector, 1) puts the name to its left, −1 to its right.
function arrow(name) {
  const shaft = make("path");
  const head = make("path", { class: "mt-head" });
  const text = make("text", { "text-anchor": "middle" }, name);
  const node = make("g", { class: `mt-arrow mt-${name}` }, shaft, head, text);
  const point = (vector, side) => {
    const zero = Math.hypot(...vector) === 0;
    const direction = zero ? [0, 1] : unit(vector);
    const size = Math.min(0.45, Math.hypot(...vector));
    const back = plus(vector, scaled(direction, -size));
    const [one, two] = [0.4, -0.4].map((width) => plus(back, scaled(left(direction), width * size)));
    const place = plus(vector, plus(scaled(direction, 0.2), scaled(left(direction), 0.75 * side)));
    change(shaft, { d: zero ? "" : line([0, 0], back) });
    change(head, { d: zero ? "" : `${line(vector, one, two)}Z` });
    change(text, { x: place[0] * UNIT, y: -place[1] * UNIT + 5 });
  };
  return { node, point };
}

// The place at which to hold an arrow, by mouse, finger or arrow keys; calls move([x, y]).
function handle(name, get, move) {
  const [reach, ring] = [make("circle", { class: "mt-reach" }), make("circle", { class: "mt-ring", r: 13 })];
  const node = make("g", { class: `mt-handle mt-${name}`, role: "slider", tabindex: 0 }, reach, ring);
  change(node, { "aria-label": `tip of ${name}`, "aria-valuemin": -REACH, "aria-valuemax": REACH });
  const pointed = (event) => {
    const box = node.ownerSVGElement.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left - box.width / 2, box.top + box.height / 2 - event.clientY];
    return scaled([x, y], SIDE / UNIT / box.width);
  };
  // A finger on the tip must not scroll the page; Chromium heeds touch-action for a whole drawing only.
  node.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
  let grip; // from where the pointer took hold to the tip
  node.addEventListener("pointerdown", (event) => {
    grip = plus(get(), scaled(pointed(event), -1));
    node.setPointerCapture(event.pointerId);
  });
  node.addEventListener("pointermove", (event) => {
    if (node.hasPointerCapture(event.pointerId)) move(plus(pointed(event), grip));
  });
  node.addEventListener("keydown", (event) => {
    const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!way) return;
    event.preventDefault();
    move(plus(get(), scaled(way, event.shiftKey ? 1 : 0.1)));
  });
  const draw = (vector) => {
    const [x, y] = vector.map((coordinate) => fixed(coordinate, 1));
    change(node, { transform: `translate(${at(vector)})`, "aria-valuenow": vector[0], "aria-valuetext": `${x}, ${y}` });
  };
  return { node, draw };
}

// The arrows in the plane, with the shadow of b on a and the angle between them.
function plane(get, move) {
  const traces = ["way", "shadow", "arc", "drop"].map((name) => make("path", { class: `mt-${name}` }));
  const [way, shadow, arc, drop] = traces;
  const arrows = { c: arrow("c"), a: arrow("a"), b: arrow("b") };
  const handles = ["a", "b"].map((name) => handle(name, () => get(name), (vector) => move(name, vector.map(onGrid))));
  const pair = make("g", {}, arrows.a.node, arrows.b.node);
  const node = make(
    "svg",
    { viewBox: `${-SIDE / 2} ${-SIDE / 2} ${SIDE} ${SIDE}`, role: "group", "aria-label": "The plane with its arrows" },
    make("g", { "aria-hidden": "true" }, grid(), ...traces, arrows.c.node, pair),
    ...handles.map((each) => each.node),
  );
  const draw = (a, b, c, found) => {
    const along = found.lengthA > 0 ? unit(a) : [0, 0];
    const foot = scaled(along, found.shadow ?? 0);
    const [from, to] = [a, b].map((vector) => at(scaled(unit(vector), 0.9)));
    const radius = 0.9 * UNIT;
    const far = scaled(along, REACH / Math.max(...along.map(Math.abs)));
    change(way, { d: found.lengthA > 0 ? line(scaled(far, -1), far) : "" });
    change(shadow, { d: line([0, 0], foot) });
    change(drop, { d: found.lengthA > 0 ? line(b, foot) : "" });
    change(arc, { d: found.angle ? `M${from}A${radius} ${radius} 0 0 ${found.turn > 0 ? 0 : 1} ${to}` : "" });
    arrows.a.point(a, -found.turn);
    arrows.b.point(b, found.turn);
    arrows.c.node.style.display = c ? "" : "none";
    if (c) arrows.c.point(c, -1);
    pair.append(found.lengthA < found.lengthB ? arrows.a.node : arrows.b.node); // the shorter above the longer
    handles[0].draw(a);
    handles[1].draw(b);
  };
  return { node, draw };
}

// ---- the numbers ---------------------------------------------------------------------------------------------------

// Text in which a, b and c and their coordinates have their colours.
function coloured(text) {
  const pieces = text.split(/(?<![a-z])([abc](?:[₁₂]|(?![a-z])))/);
  return pieces.map((piece, i) => (i % 2 ? make("i", { class: `mt-${piece[0]}` }, piece) : piece));
}

const orUndefined = (value, digits, mark = "") => (value === null ? "undefined" : fixed(value, digits) + mark);

function facts() {
  const { place, show } = numbers();
  const entry = (name, symbol, formula) => {
    const term = make("dt", {}, ...coloured(symbol), make("span", { class: "mt-formula" }, ...coloured(formula)));
    return make("div", { class: `mt-fact-${name}` }, term, make("dd", {}, place(name)));
  };
  const sum = make("dd", { class: "mt-sum" });
  const dot = entry("dot", "a · b", " = a₁b₁ + a₂b₂");
  dot.append(sum);
  const node = make(
    "dl",
    {},
    dot,
    entry("length-a", "‖a‖", " = √(a₁² + a₂²)"),
    entry("length-b", "‖b‖", " = √(b₁² + b₂²)"),
    entry("cosine", "cos θ", " = a · b / (‖a‖ ‖b‖)"),
    entry("angle", "θ", ", the angle between them"),
    entry("shadow", "shadow of b on a", " = a · b / ‖a‖"),
  );
  const draw = (a, b, found) => {
    const digits = [...a, ...b].every((value) => onGrid(value) === value) ? 1 : 2;
    const written = (value) => (value < 0 ? `(${fixed(value, digits)})` : fixed(value, digits));
    const [a1, a2] = a.map((value) => make("span", { class: "mt-a" }, written(value)));
    const [b1, b2] = b.map((value) => make("span", { class: "mt-b" }, written(value)));
    sum.replaceChildren("= ", a1, " · ", b1, " + ", a2, " · ", b2);
    show("dot", found.dot, fixed(found.dot, 2));
    show("length-a", found.lengthA, fixed(found.lengthA, 2));
    show("length-b", found.lengthB, fixed(found.lengthB, 2));
    show("cosine", found.cosine, orUndefined(found.cosine, 3));
    show("angle", found.angle, orUndefined(found.angle, 1, "°"));
    show("shadow", found.shadow, orUndefined(found.shadow, 2));
    node.classList.toggle("mt-undefined", found.cosine === null);
  };
  return { node, draw };
}

// What the numbers say, in a sentence; with the arrow c, which of b and c is nearer to a.
function verdict() {
  const { place, show } = numbers();
  const rival = make("span", {}, ...coloured("a · c = "), place("dot-c"), ", cosine ", place("cosine-c"), ": ");
  const said = make("span");
  const draw = (a, c, found) => {
    const other = measure(a, c ?? a);
    const [product, cosine] = [found.dot > other.dot ? "b" : "c", found.cosine > other.cosine ? "b" : "c"];
    show("dot-c", other.dot, fixed(other.dot, 2));
    show("cosine-c", other.cosine, orUndefined(other.cosine, 3));
    rival.style.display = c && found.cosine !== null ? "" : "none";
    const signs = [
      "Negative: the shadow of b falls backwards, against a.",
      "Zero: a and b are orthogonal.",
      "Positive: the shadow of b falls forwards, along a.",
    ];
    let words = signs[found.sign + 1];
    if (c) words = `the product prefers ${product}, the cosine ${cosine}. Length beats direction.`;
    if (c && product === cosine) words = `product and cosine both prefer ${product}.`;
    if (found.cosine === null) words = "Undefined: zero vectors have no direction.";
    said.replaceChildren(...coloured(words));
  };
  return { node: make("p", { class: "mt-verdict" }, rival, said), draw };
}

function sentence(found) {
  const sign = ["negative", "zero", "positive"][found.sign + 1];
  const direction =
    found.cosine === null
      ? "The cosine is undefined: a zero vector has no direction."
      : `The cosine is ${fixed(found.cosine, 3)}, the angle ${fixed(found.angle, 1)} degrees.`;
  return `a · b is ${fixed(found.dot, 2)}, ${sign}. ${direction}`;
}

// A slider for each coordinate.
function coordinates(get, move) {
  const { place, show } = numbers();
  const one = (name, i) => {
    const symbol = `${name}${"₁₂"[i]}`;
    const label = `${symbol}, ${["horizontal", "vertical"][i]} coordinate of ${name}`;
    const input = slider({ min: -REACH, max: REACH, step: 0.1, "aria-label": label }, (value) => {
      move(name, get(name).map((old, j) => (j === i ? value : old)));
    });
    const draw = () => {
      input.value = get(name)[i];
      show(symbol, get(name)[i], fixed(get(name)[i], 1));
    };
    return { node: make("div", { class: `mt-${name}` }, make("i", {}, symbol), input, place(symbol)), draw };
  };
  const all = [one("a", 0), one("a", 1), one("b", 0), one("b", 1)];
  const node = make("div", { class: "mt-sliders mt-controls" }, ...all.map((each) => each.node));
  return { node, draw: () => all.forEach((each) => each.draw()) };
}

export default {
  render({ model, el }) {
    const start = { a: model.get("a"), b: model.get("b") };
    let c = null; // the third arrow, in one of the presets
    const get = (name) => model.get(name);
    const move = (name, vector) => {
      model.set(name, vector);
      model.save_changes();
    };
    const parts = { plane: plane(get, move), facts: facts(), verdict: verdict(), sliders: coordinates(get, move) };
    const speech = speaker();
    const draw = () => {
      const [a, b] = [get("a"), get("b")];
      const found = measure(a, b);
      parts.plane.draw(a, b, c, found);
      parts.facts.draw(a, b, found);
      parts.sliders.draw();
      parts.verdict.draw(a, c, found);
      speech.say(sentence(found));
    };
    const choose = (preset) => () => {
      c = preset.c ?? null;
      move("a", preset.a);
      move("b", preset.b);
      draw(); // also where a and b are what they were
    };
    const presets = Object.entries(PRESETS).map(([name, preset]) => button(name, choose(preset)));
    const buttons = make("div", { class: "mt-buttons mt-controls" }, ...presets, button("start again", choose(start)));
    const nodes = Object.values(parts).map((part) => part.node);
    begin(el, model, ["a", "b"], draw, make("div", { class: "mt-vectors" }, ...nodes, buttons, speech.node));
  },
};
