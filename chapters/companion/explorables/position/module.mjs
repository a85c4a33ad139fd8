// Chapter 10: where a token stands.
import { begin, brief, button, change, entry, fixed, make, numbers, slider, speaker } from "../shared/parts.mjs";

const KINDS = ["sinusoidal", "learned", "rotary"];
const HAND = 18; // the length of the longest hand, on a face of radius 20
const SAME = 1e-9; // curves that differ less than this differ by rounding alone

// ---- the mathematics -----------------------------------------------------------------------------------------------

const dot = (a, b) => a.reduce((sum, value, j) => sum + value * b[j], 0);
const pairs = (row) => Array.from({ length: row.length / 2 }, (_, i) => [row[2 * i], row[2 * i + 1]]);
const speed = (i, d) => 1 / 10000 ** ((2 * i) / d); // by what angle pair i turns from position to position

function sinusoid(t, d) {
  return Array.from({ length: d / 2 }, (_, i) => [Math.sin(t * speed(i, d)), Math.cos(t * speed(i, d))]).flat();
}

function turned(row, t) {
  const turn = ([even, odd], i) => {
    const [cos, sin] = [Math.cos(t * speed(i, row.length)), Math.sin(t * speed(i, row.length))];
    return [even * cos - odd * sin, even * sin + odd * cos];
  };
  return pairs(row).flatMap(turn);
}

// What stands at each position, with what it is multiplied there, and the curve of products that each has.
function encode({ kind, learned, query, key }) {
  const d = query.length;
  const rows = {
    sinusoidal: () => learned.map((_, t) => sinusoid(t, d)),
    learned: () => learned,
    rotary: () => learned.map((_, t) => turned(query, t)),
  }[kind]();
  const others = kind === "rotary" ? learned.map((_, t) => turned(key, t)) : rows;
  const curves = rows.map((row) => others.map((other) => dot(row, other)));
  const size = Math.max(...curves.flat().map(Math.abs));
  const tied = curves.every((curve, p) => Math.abs(apart(curves, p, 0)) <= SAME * Math.max(size, 1));
  return { rows, curves, tied };
}

// The largest difference of the curve at position p from that at `home`, moved along, where both are.
function apart(curves, p, home) {
  const gaps = curves[p].map((value, t) => Math.abs(value - (curves[home][t - p + home] ?? value)));
  return Math.max(...gaps);
}

// ---- in words ------------------------------------------------------------------------------------------------------

function remark({ kind, position }, { curves, tied }, home) {
  const law = {
    sinusoidal: "The curve only moves along when you change the position: it depends on the distance alone.",
    learned: tied
      ? "In this table the curve only moves along; but nothing makes a learned one do so."
      : "Another position, another curve: nothing ties them.",
    rotary: "The curve depends on the offset alone, and on query and key.",
  }[kind];
  if (position === home) return `${law} Move the slider: the pale band is this curve, and will move along with it.`;
  const gap = fixed(apart(curves, position, home), 2);
  return `${law} The pale band is the curve of position ${home}, moved along: they differ by at most ${gap}.`;
}

const HANDS = {
  sinusoidal: "A clock for each pair of features: sine to the right, cosine up. Below: how many positions a turn takes.",
  learned: "The same drawing of each pair of features: hands of any length, which jump from position to position.",
  rotary: "The pairs of the query, turned from where they are at 0 (dashed). Below: how many positions a turn takes.",
};
const CURVES = {
  sinusoidal: "This encoding’s dot product with that of each position:",
  learned: "This row’s dot product with that of each position:",
  rotary: "Query turned to this position · key turned to each position:",
};

// ---- what is seen --------------------------------------------------------------------------------------------------

// Which of the kinds.
function choice(choose) {
  const buttons = KINDS.map((kind) => button(kind, () => choose(kind)));
  const node = make("div", { class: "mt-kinds mt-controls", role: "group", "aria-label": "encoding" }, ...buttons);
  const draw = (kind) => buttons.forEach((each, i) => change(each, { "aria-pressed": KINDS[i] === kind }));
  return { node, draw };
}

// The encoding of the position: a clock for each pair of features, and the two numbers under it as bars.
function clocks(d) {
  const { place, show } = numbers();
  const faces = Array.from({ length: d / 2 }, (_, i) => {
    const [start, hand] = ["mt-start", "mt-hand"].map((name) => make("path", { class: name }));
    const tip = make("circle", { class: "mt-tip", r: 2.5 });
    const face = make("circle", { class: "mt-face", r: 20 });
    const svg = make("svg", { viewBox: "-22 -22 44 44", "aria-hidden": "true" }, face, start, hand, tip);
    const cells = [2 * i, 2 * i + 1].map((j) => place(`feature-${j}`));
    const period = make("span", { class: "mt-period" }, place(`period-${i}`));
    const node = make("li", {}, svg, ...cells, period);
    return { node, start, hand, tip, cells };
  });
  const note = make("p", { class: "mt-note mt-muted" });
  const columns = (most) => Math.ceil(faces.length / Math.ceil(faces.length / most)); // in rows of one length
  const named = { role: "list", "aria-label": "pairs of features" };
  const style = `--wide: ${columns(8)}; --narrow: ${columns(6)}`;
  const list = make("ol", { ...named, style }, ...faces.map((face) => face.node));
  const draw = ({ kind, position, query }, rows) => {
    const lengths = rows.flatMap((row) => pairs(row).map((pair) => Math.hypot(...pair)));
    const longest = Math.max(...lengths) || 1;
    const at = ([right, up]) => [(right * HAND) / longest, (-up * HAND) / longest]; // y points down there
    note.textContent = HANDS[kind];
    list.classList.toggle("mt-turned", kind === "rotary"); // it is a query, then
    faces.forEach(({ start, hand, tip, cells }, i) => {
      const pair = pairs(rows[position])[i];
      const [x, y] = at(pair);
      change(hand, { d: `M0 0L${x} ${y}` });
      change(tip, { cx: x, cy: y });
      change(start, { d: kind === "rotary" ? `M0 0L${at(pairs(query)[i])}` : "" });
      pair.forEach((value, k) => {
        show(`feature-${2 * i + k}`, value, brief(value, 2));
        const ends = [50, 50 + (50 * value) / longest].sort((a, b) => a - b);
        change(cells[k], { style: `--from: ${ends[0]}%; --to: ${ends[1]}%` });
      });
      const period = (2 * Math.PI) / speed(i, query.length);
      if (kind === "learned") show(`period-${i}`, null, "\u00a0"); // keeps its line
      else show(`period-${i}`, period, brief(period, 1));
    });
  };
  return { node: make("div", {}, list, note), draw };
}

// The curve over all positions, whose point at the position is marked; the slider under it is its axis.
function graph(n, move) {
  const { place, show } = numbers();
  const part = (name) => make("path", { class: name });
  const [zero, mark, pale, line, points] = ["mt-zero", "mt-mark", "mt-pale", "mt-line", "mt-points"].map(part);
  const box = { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img" };
  const svg = make("svg", box, zero, mark, pale, line, points);
  const here = make("div", { class: "mt-spot", "aria-hidden": "true" });
  const levels = ["top", "zero", "bottom"].map((name) => make("span", { class: `mt-at-${name}` }, place(name)));
  const sides = make("div", { class: "mt-levels", "aria-hidden": "true" }, ...levels);
  const range = slider({ min: 0, max: n - 1, step: 1, "aria-label": "position" }, move);
  const ends = ["0", "", n - 1].map((text) => make("span", {}, text));
  ends[1].append("position ", place("position"));
  const axis = make("div", { class: "mt-ends", "aria-hidden": "true" }, ...ends);
  const caption = make("p", { class: "mt-note mt-muted" });
  const plot = make("div", { class: "mt-plot" }, svg, here);
  const node = make("div", { class: "mt-graph" }, caption, sides, plot, range, axis);
  const draw = ({ kind, position }, { curves }, home) => {
    const all = curves.flat();
    const [top, bottom] = [Math.max(0, ...all), Math.min(0, ...all)];
    const at = (t, value) => [(100 * t) / (n - 1), (100 * (top - value)) / (top - bottom || 1)];
    const path = (curve) => `M${curve.map((value, t) => at(t, value)).join("L")}`;
    const curve = curves[position];
    const [x, y] = at(position, curve[position]);
    const moved = curves[home].map((value, t) => at(t + position - home, value));
    caption.textContent = CURVES[kind];
    change(zero, { d: `M${at(0, 0)}H100` });
    change(mark, { d: `M${x} 0V100` });
    change(pale, { d: `M${moved.filter(([x]) => x > -1e-9 && x < 100 + 1e-9).join("L")}` });
    change(line, { d: path(curve) });
    change(points, { d: curve.map((value, t) => `M${at(t, value)}h0`).join("") });
    change(here, { style: `left: ${x}%; top: ${y}%` });
    change(svg, { "data-values": curve.join(" "), "aria-label": `curve of position ${position}` });
    const level = at(0, 0)[1];
    change(levels[1], { style: `top: ${level}%`, class: Math.abs(level - 50) > 40 ? "mt-edge" : "" });
    const written = (value) => (value ? brief(value, 1) : "0");
    for (const [name, value] of Object.entries({ top, zero: 0, bottom })) show(name, value, written(value));
    show("position", position, position);
    range.value = position;
    change(range, { "aria-valuetext": `${position} of 0 to ${n - 1}` });
  };
  return { node, draw };
}

function facts() {
  const { place, show } = numbers();
  const same = make("span");
  const node = make(
    "dl",
    {},
    entry(same, place("here")),
    entry("largest", place("largest"), " at position ", place("where")),
    entry("gap to the pale band, at most", place("apart")),
  );
  const draw = ({ kind, position }, { curves }, home) => {
    const curve = curves[position];
    const [largest, gap] = [Math.max(...curve), apart(curves, position, home)];
    same.textContent = kind === "rotary" ? "query · key at one position" : "the position with itself";
    show("here", curve[position], brief(curve[position], 2));
    show("largest", largest, brief(largest, 2));
    const where = curve.findIndex((value) => value > largest - SAME * Math.max(1, Math.abs(largest)));
    show("where", where, where);
    show("apart", gap, brief(gap, 2));
  };
  return { node, draw };
}

export default {
  render({ model, el }) {
    const keys = ["kind", "position", "learned", "query", "key"];
    const state = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    const start = state();
    const set = (changes) => {
      for (const [key, value] of Object.entries(changes)) model.set(key, value);
      model.save_changes();
    };
    const kinds = choice((kind) => set({ kind }));
    const hands = clocks(start.query.length);
    const curve = graph(start.learned.length, (position) => set({ position }));
    const list = facts();
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const draw = () => {
      const now = state();
      const found = encode(now);
      kinds.draw(now.kind);
      hands.draw(now, found.rows);
      for (const part of [curve, list]) part.draw(now, found, start.position);
      verdict.textContent = remark(now, found, start.position);
      const here = brief(found.curves[now.position][now.position], 2);
      speech.say(`${now.kind}, position ${now.position}: its own point of the curve is ${here}. ${verdict.textContent}`);
    };
    const again = button("start again", () => set(start));
    const controls = make("div", { class: "mt-buttons mt-controls" }, again);
    const nodes = [kinds.node, hands.node, curve.node, verdict, list.node, controls, speech.node];
    begin(el, model, keys, draw, make("div", { class: "mt-position" }, ...nodes));
  },
};
