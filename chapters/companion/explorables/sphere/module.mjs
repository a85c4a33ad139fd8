// Chapter 8: a token of three features falls into a plane and goes to a circle, in a space that can be turned.
import { begin, button, change, fixed, make, numbers, slider, speaker } from "../shared/parts.mjs";
import { player } from "../shared/steps.mjs";

const PACE = 1400; // milliseconds from step to step when it plays
const WAY = 700; // milliseconds of the way to a new place or view
const UNIT = 34; // what 1 measures in the drawing
const REACH = 2.5; // how far the axes go, and the sliders
const FLOOR = 2.6; // how far the drawn part of the plane goes
const EPS = 1e-5;
const RADIUS = Math.sqrt(3);
const NAMES = ["token x", "x − μ", "(x − μ) / σ", "output"];
const WORDS = ["as it is", "without its mean", "divided by σ", "with gain and bias"];
const VIEWS = { "from above": 90, "at a slant": 25, "from the side": 0 };

// ---- the mathematics -----------------------------------------------------------------------------------------------

const mean = (row) => row.reduce((sum, value) => sum + value, 0) / row.length;
const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const between = (from, to, part) => from.map((value, i) => value + part * (to[i] - value));
const scaled = (point, { gain, bias }) => point.map((value, i) => value * gain[i] + bias[i]);

// The token at each step, and what it was divided by.
function normalise({ x, ...params }) {
  const middle = mean(x);
  const centred = x.map((value) => value - middle);
  const deviation = Math.sqrt(mean(centred.map((value) => value ** 2)) + EPS);
  const normed = centred.map((value) => value / deviation);
  return { places: [x, centred, normed, scaled(normed, params)], deviation };
}

// Three directions at right angles: two in the plane of mean 0, and up, where all features grow alike.
const [RIGHT, AWAY, UP] = [[1, -1, 0], [1, 1, -2], [1, 1, 1]].map((way) => way.map((part) => part / Math.hypot(...way)));
const inPlane = (right, away) => RIGHT.map((part, i) => right * part + away * AWAY[i]);

// Where a point is seen: in the drawing, whose y points down.
function seenFrom([turn, height]) {
  const [a, b] = [turn, height].map((degrees) => (degrees * Math.PI) / 180);
  return (point) => {
    const [right, away, up] = [RIGHT, AWAY, UP].map((way) => dot(point, way));
    const across = right * Math.cos(a) + away * Math.sin(a);
    const behind = away * Math.cos(a) - right * Math.sin(a);
    return [UNIT * across, -UNIT * (up * Math.cos(b) + behind * Math.sin(b))];
  };
}

// ---- in words ------------------------------------------------------------------------------------------------------

function remark({ x, gain, bias, step, view }, { places, deviation }) {
  const middle = mean(x);
  const equal = new Set(x).size === 1;
  const side = Math.abs(middle) < 1e-9 ? "in" : middle > 0 ? "above" : "below";
  const length = (i) => fixed(Math.hypot(...places[i]), 2);
  const plain = gain.every((value) => value === 1) && bias.every((value) => value === 0);
  const told = [
    `The token has mean ${fixed(middle, 2)}: it lies ${side} the plane of mean 0.`,
    `Without its mean the token lies in the plane: its shadow, of length ${length(1)}.`,
    equal
      ? "All features are equal: the shadow is 0, and no division brings it to the circle."
      : `Divided by σ = ${fixed(deviation, 2)}, it lies on the circle of length √3, as any other token would.`,
    plain
      ? "Gain 1 and bias 0 leave it where it was."
      : `Gain and bias stretch and shift each feature: out of the plane, along with the whole circle. Length ${length(3)}.`,
  ];
  if (step < 2 && Math.abs(view[1]) > 75) return `${told[step]} From above, taking off the mean does not show: tilt it.`;
  if (step < 2 && Math.abs(view[1]) < 8) return `${told[step]} From the side, the plane is a line.`;
  return told[step];
}

// ---- what is seen --------------------------------------------------------------------------------------------------

// The space: axes, plane, sphere and circle, and in it the token with its way so far.
function scene() {
  const part = (name) => make("path", { class: `mt-space-${name}` });
  const [floor, axes, equal, far, near, image, drop, way] = [
    "floor", "axes", "equal", "far", "near", "image", "drop", "way",
  ].map(part);
  const ball = make("circle", { class: "mt-space-ball", r: UNIT * RADIUS });
  const letters = ["1", "2", "3", "all equal"].map((text) => make("text", { "text-anchor": "middle" }, text));
  const foot = make("circle", { class: "mt-space-foot", r: 4 });
  const token = make("circle", { class: "mt-space-token", r: 8 });
  const name = make("text", { class: "mt-space-name" });
  const parts = [floor, ball, far, axes, equal, ...letters, near, image, drop, foot, way, token, name];
  const node = make("svg", { class: "mt-space", viewBox: "-150 -150 300 300", role: "slider", tabindex: 0 }, ...parts);
  change(node, { "aria-label": "view", "aria-valuemin": -180, "aria-valuemax": 180 });
  const draw = (state, { places }, view, place) => {
    const at = seenFrom(view);
    const line = (...points) => `M${points.map((point) => at(point).map((part) => part.toFixed(2))).join("L")}`;
    const ends = [0, 1, 2].map((i) => [0, 1, 2].map((j) => (i === j ? REACH : 0)));
    const steps = [-FLOOR, -FLOOR / 2, 0, FLOOR / 2, FLOOR];
    const net = steps.flatMap((step) => [
      line(inPlane(step, -FLOOR), inPlane(step, FLOOR)),
      line(inPlane(-FLOOR, step), inPlane(FLOOR, step)),
    ]);
    change(floor, { d: net.join("") });
    change(axes, { d: ends.map((end) => line(end.map((part) => -part), end)).join("") });
    const top = [REACH, REACH, REACH].map((part) => 0.8 * part);
    change(equal, { d: line(top.map((part) => -part), top) });
    [...ends, top].forEach((end, i) => {
      const [x, y] = at(end.map((part) => 1.12 * part));
      change(letters[i], { x, y: y + 5 });
    });
    const flat = RADIUS * UNIT * Math.abs(Math.sin((view[1] * Math.PI) / 180));
    const half = (sweep) => `M${-UNIT * RADIUS} 0A${UNIT * RADIUS} ${flat} 0 0 ${sweep} ${UNIT * RADIUS} 0`;
    change(near, { d: half(view[1] < 0 ? 1 : 0) });
    change(far, { d: half(view[1] < 0 ? 0 : 1) });
    const turns = Array.from({ length: 61 }, (_, i) => (i * Math.PI) / 30);
    const circle = turns.map((angle) => inPlane(RADIUS * Math.cos(angle), RADIUS * Math.sin(angle)));
    change(image, { d: place > 2 ? line(...circle.map((point) => scaled(point, state))) : "" });
    const [done, last] = [Math.floor(place), Math.min(3, Math.floor(place) + 1)];
    const here = between(places[done], places[last], place - done);
    change(drop, { d: line(places[0], places[1]) });
    const [cx, cy] = at(places[1]);
    change(foot, { cx, cy });
    change(way, { d: line(...places.slice(0, done + 1), here) });
    const [x, y] = at(here);
    change(token, { cx: x, cy: y });
    token.classList.toggle("mt-output", place > 2);
    change(name, { x: x + (x > 60 ? -13 : 13), y: y - 10, "text-anchor": x > 60 ? "end" : "start" });
    name.textContent = NAMES[state.step];
    const [turn, height] = state.view;
    const above = `${fixed(Math.abs(height), 0)}° ${height < 0 ? "below" : "above"} the plane`;
    change(node, { "aria-valuenow": turn, "aria-valuetext": `turned ${fixed(turn, 0)}°, seen from ${above}` });
  };
  return { node, draw };
}

// Turn the space by the arrow keys, the mouse or a finger, for which the page scrolls only up and down.
function turnable(node, get, move) {
  const turned = (by) => {
    const [turn, height] = get().map((degrees, i) => Math.round(degrees + by[i]));
    return [((((turn + 180) % 360) + 360) % 360) - 180, Math.max(-90, Math.min(90, height))];
  };
  node.addEventListener("keydown", (event) => {
    const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!way) return;
    event.preventDefault();
    move(turned(way.map((sign) => sign * (event.shiftKey ? 30 : 5))));
  });
  let grip; // where the pointer was when it was last heeded
  node.addEventListener("pointerdown", (event) => {
    grip = [event.clientX, event.clientY];
    node.setPointerCapture(event.pointerId);
  });
  node.addEventListener("pointermove", ({ clientX, clientY, pointerId }) => {
    const by = [(grip?.[0] ?? 0) - clientX, clientY - (grip?.[1] ?? 0)].map((length) => length / 2);
    if (!node.hasPointerCapture(pointerId) || Math.max(...by.map(Math.abs)) < 1) return;
    grip = [clientX, clientY];
    move(turned(by));
  });
}

// A slider for each feature, side by side.
function features(move) {
  const { place, show } = numbers();
  const ranges = [0, 1, 2].map((i) => {
    const named = { min: -REACH, max: REACH, step: 0.1, "aria-label": `feature ${i + 1}` };
    return slider(named, (value) => move(i, value));
  });
  const columns = ranges.map((range, i) => make("div", {}, make("span", {}, `feature ${i + 1} `, place(`x-${i}`)), range));
  const draw = (x) => ranges.forEach((range, i) => {
    range.value = x[i];
    change(range, { "aria-valuetext": x[i] });
    show(`x-${i}`, x[i], fixed(x[i], 1));
  });
  return { node: make("div", { class: "mt-space-features mt-controls" }, ...columns), draw };
}

// A line for each step that has been made: the features, their mean and the length.
function table() {
  const { place, show } = numbers();
  const head = (scope, text) => make("th", { scope }, text);
  const titles = ["1", "2", "3", "mean", "length"].map((text) => head("col", text));
  const lines = NAMES.map((name, i) => {
    const cells = [0, 1, 2].map((j) => place(`at-${i}-${j}`)).concat(place(`mean-${i}`), place(`length-${i}`));
    return make("tr", {}, head("row", name), ...cells.map((cell) => make("td", {}, cell)));
  });
  const node = make("table", {}, make("thead", {}, make("tr", {}, make("td"), ...titles)), make("tbody", {}, ...lines));
  const draw = (step, places) => places.forEach((point, i) => {
    const fill = (name, value) => show(name, i > step ? null : value, i > step ? "\u00a0" : fixed(value, 2));
    point.forEach((value, j) => fill(`at-${i}-${j}`, value));
    fill(`mean-${i}`, mean(point));
    fill(`length-${i}`, Math.hypot(...point));
    lines[i].classList.toggle("mt-later", i > step);
    lines[i].classList.toggle("mt-here", i === step);
  });
  return { node, draw };
}

export default {
  render({ model, el }) {
    const keys = ["x", "gain", "bias", "step", "view"];
    const state = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    let [shown, frame] = [null, 0]; // the turn, the height and the step that are drawn, on their way to the state's
    const set = (key, value) => {
      model.set(key, value);
      model.save_changes();
      draw(); // also where nothing has changed but the button
    };
    const space = scene();
    const turn = (view) => {
      shown = [...view, shown[2]]; // at once: it is in the reader's hand
      set("view", view);
    };
    turnable(space.node, () => model.get("view"), turn);
    const views = Object.entries(VIEWS).map(([text, height]) => {
      return button(text, () => set("view", [model.get("view")[0], height]));
    });
    const steps = player({ label: "step", pace: PACE }, (step) => set("step", step));
    const sliders = features((i, value) => set("x", model.get("x").with(i, value)));
    const lines = table();
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();

    // Go to where the state is, at once where there is nothing to go or motion is unwelcome.
    const follow = (now, found) => {
      cancelAnimationFrame(frame);
      const to = [...now.view, now.step];
      const from = shown ?? to;
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches || from.every((value, i) => value === to[i]);
      const start = performance.now();
      const walk = (time) => {
        const part = still ? 1 : Math.min(1, Math.max(0, time - start) / WAY);
        shown = between(from, to, part * part * (3 - 2 * part));
        space.draw(now, found, shown.slice(0, 2), shown[2]);
        if (part < 1) frame = requestAnimationFrame(walk);
      };
      walk(start);
    };
    const draw = () => {
      const now = state();
      const found = normalise(now);
      follow(now, found);
      steps.draw(now.step, 3, `${now.step} of 3: ${WORDS[now.step]}`);
      sliders.draw(now.x);
      lines.draw(now.step, found.places);
      verdict.textContent = remark(now, found);
      speech.say(verdict.textContent);
    };
    const looks = make("div", { class: "mt-buttons mt-controls" }, ...views);
    const drawing = make("div", { class: "mt-space-room" }, space.node, looks);
    const nodes = [drawing, steps.node, sliders.node, verdict, lines.node, speech.node];
    begin(el, model, keys, draw, make("div", { class: "mt-sphere" }, ...nodes));
  },
};
