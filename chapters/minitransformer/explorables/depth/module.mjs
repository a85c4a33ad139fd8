// Chapter 9: what many layers make of a size.
import { begin, brief, button, change, field, make, numbers, slider, speaker } from "../shared/parts.mjs";

const DEEPEST = 48;
const DECADES = 12; // the axis goes from 10⁻¹² to 10¹², whatever the scale, so that one can compare
const LEAST = 0.25; // the slider of the scale goes from here to 2

// ---- the mathematics -----------------------------------------------------------------------------------------------

// A branch of scale s adds s² to the square of the size, for it points elsewhere than what it is added to.
const CHAINS = {
  plain: { name: "plain", law: "s", power: "L", size: (s, l) => s ** l },
  residual: { name: "residual", law: "(1 + s²)", size: (s, l) => (1 + s * s) ** (l / 2) },
  divided: {
    name: "residual, branches divided by √L",
    law: "(1 + s²/L)",
    size: (s, l) => (1 + (s * s) / l) ** (l / 2),
  },
};
const MEASURED = ["plain", "residual"];

// ---- in words ------------------------------------------------------------------------------------------------------

function written(size) {
  if (size >= 1e5 || size < 0.01) return size.toExponential(1).replace("-", "−").replace("+", "");
  return size < 0.995 ? size.toPrecision(2) : brief(size, 2);
}

function remark({ scale: s, depth }) {
  const size = (name) => written(CHAINS[name].size(s, depth));
  const layers = depth === 1 ? "1 layer" : `${depth} layers`;
  const two = `plain ${size("plain")}, residual ${size("residual")}`;
  const three = `${two}; with branches divided by √${depth}, ${size("divided")}`;
  const limit = written(Math.exp((s * s) / 2));
  const why = {
    "-1": "The plain chain multiplies by less than 1 each time, and vanishes. The residual one lets a 1 through.",
    0: "Only at s = 1 does the plain chain keep its size. The residual one grows by √2 in each layer.",
    1: "Both multiply by more than 1 each time, and explode.",
  }[Math.sign(s - 1)];
  return `${layers}, s = ${s}: ${three}. ${why} With divided branches it never exceeds exp(s²/2) = ${limit}.`;
}

// ---- what is seen --------------------------------------------------------------------------------------------------

// The curves over all depths; the slider under them is their axis.
function graph(move) {
  const { place, show } = numbers();
  const at = (l, size) => [(100 * l) / DEEPEST, 50 - (50 * Math.log10(size)) / DECADES];
  const line = (name) => make("path", { class: name });
  const levels = Array.from({ length: 7 }, (_, i) => 4 * i - DECADES);
  const grid = make("path", { class: "mt-net", d: levels.map((power) => `M${at(0, 10 ** power)}H100`).join("") });
  const [one, mark] = [make("path", { class: "mt-one", d: "M0 50H100" }), line("mt-here")];
  const curves = Object.keys(CHAINS).map((name) => [name, line(`mt-faint mt-is-${name}`), line(`mt-is-${name}`)]);
  const dots = MEASURED.map((name) => [name, line(`mt-dots mt-of-${name}`)]);
  const drawn = [...curves.flatMap(([, faint, full]) => [faint, full]), ...dots.map(([, path]) => path)];
  const box = { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img" };
  const svg = make("svg", box, grid, one, mark, ...drawn);
  const words = ["10⁻¹²", "10⁻⁸", "10⁻⁴", "1", "10⁴", "10⁸", "10¹²"];
  const labels = levels.map((power, i) => make("span", { style: `top: ${at(0, 10 ** power)[1]}%` }, words[i]));
  const sides = make("div", { class: "mt-levels", "aria-hidden": "true" }, ...labels);
  const what = "What L layers make of the size 1: of a vector on the way up, of a gradient on the way down.";
  const caption = make("p", { class: "mt-muted" }, what);
  const range = slider({ min: 0, max: DEEPEST, step: 1, "aria-label": "depth" }, (l) => move(Math.max(1, l)));
  const ends = ["0", "", DEEPEST].map((text) => make("span", {}, text));
  ends[1].append("layers L: ", place("depth"));
  const axis = make("div", { class: "mt-below", "aria-hidden": "true" }, ...ends);
  const plot = make("div", { class: "mt-plot" }, svg);
  const node = make("div", { class: "mt-curves" }, caption, sides, plot, range, axis);
  const draw = ({ scale, depth, ...measured }, known) => {
    const path = (name, last) => {
      const size = (l) => (l ? CHAINS[name].size(scale, l) : 1);
      return `M${Array.from({ length: last + 1 }, (_, l) => at(l, size(l))).join("L")}`;
    };
    for (const [name, faint, full] of curves) {
      change(faint, { d: path(name, DEEPEST) });
      change(full, { d: path(name, depth) });
    }
    for (const [name, dotted] of dots) {
      change(dotted, { d: known ? measured[name].map((size, i) => `M${at(i + 1, size)}h0`).join("") : "" });
    }
    change(mark, { d: `M${at(depth, 10 ** DECADES)}L${at(depth, 10 ** -DECADES)}` });
    change(svg, { "aria-label": `sizes behind 1 to ${DEEPEST} layers, logarithmic axis` });
    show("depth", depth, depth);
    range.value = depth;
    change(range, { "aria-valuetext": depth === 1 ? "1 layer" : `${depth} layers` });
  };
  return { node, draw };
}

// The scale, as a slider on a logarithmic scale and as a number.
function amount(move) {
  const limits = { min: Math.log2(LEAST), max: 1, step: 0.05, "aria-label": "scale" };
  const range = slider(limits, (power) => move(Number((2 ** power).toPrecision(3))));
  const named = { "aria-label": "scale as a number", "data-name": "scale" };
  const typed = field(named, (value) => value > 0, move, { rule: "a number above 0" });
  const mark = (text, i) => make("span", { style: `--at: ${i / 3}` }, text);
  const words = make("div", { "aria-hidden": "true" }, ...["0.25", "0.5", "1", "2"].map(mark));
  const name = make("span", {}, "scale ", make("i", {}, "s"), " of a layer");
  const node = make("div", { class: "mt-scaling mt-controls" }, name, make("div", {}, range, words), typed.node);
  const draw = (scale) => {
    range.value = Math.log2(scale);
    change(range, { "aria-valuetext": scale });
    typed.show(scale);
  };
  return { node, draw };
}

// What the lines are, and how large each is at this depth: by its formula, and as it was measured.
function legend(first) {
  const { place, show } = numbers();
  const title = (text) => make("th", { scope: "col" }, text);
  const rows = Object.entries(CHAINS).map(([key, { name, law, power = "L/2" }]) => {
    const line = make("path", { class: `mt-is-${key}`, d: "M0 4H28" });
    const sample = make("svg", { viewBox: "0 0 28 8", "aria-hidden": "true" }, line);
    const formula = make("span", { class: "mt-law" }, law, make("sup", {}, power));
    const head = make("th", { scope: "row" }, sample, name, formula);
    const cells = [place(key), MEASURED.includes(key) ? place(`measured-${key}`) : "–"];
    return make("tr", {}, head, ...cells.map((cell) => make("td", {}, cell)));
  });
  const top = make("tr", {}, make("td"), title("formula"), title(`measured, s\u00a0=\u00a0${first}`));
  const node = make("table", { class: "mt-chains" }, make("thead", {}, top), make("tbody", {}, ...rows));
  const draw = ({ scale, depth, ...measured }, known) => {
    for (const [key, { size }] of Object.entries(CHAINS)) show(key, size(scale, depth), written(size(scale, depth)));
    for (const key of MEASURED) {
      const size = measured[key][depth - 1];
      show(`measured-${key}`, known ? size : null, known ? written(size) : "–");
    }
  };
  return { node, draw };
}

export default {
  render({ model, el }) {
    const keys = ["scale", "depth", "plain", "residual"];
    const state = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    const start = state();
    const set = (changes) => {
      for (const [key, value] of Object.entries(changes)) model.set(key, value);
      model.save_changes();
      draw(); // also where nothing has changed but the slider
    };
    const curves = graph((depth) => set({ depth }));
    const knob = amount((scale) => set({ scale }));
    const table = legend(start.scale);
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const draw = () => {
      const now = state();
      const known = now.scale === start.scale; // it was measured at this scale alone
      curves.draw(now, known);
      knob.draw(now.scale);
      table.draw(now, known);
      verdict.textContent = remark(now);
      speech.say(verdict.textContent);
    };
    const presets = [0.5, 1, 2].map((scale) => button(`s = ${scale}`, () => set({ scale })));
    const press = make("div", { class: "mt-buttons mt-controls" }, ...presets, button("start again", () => set(start)));
    const nodes = [curves.node, knob.node, verdict, table.node, press, speech.node];
    begin(el, model, keys, draw, make("div", { class: "mt-depth" }, ...nodes));
  },
};
