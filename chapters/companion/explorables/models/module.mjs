// Chapter 19: what the sizes of a decoder cost, beside published models.
import { begin, button, change, entry, make, numbers, slider, speaker } from "../shared/parts.mjs";

const SIZES = ["layers", "d", "heads", "groups", "experts"];
const FIXED = ["vocabulary", "width", "hidden", "chosen", "positions", "norms", "gated", "normed", "untied"];
const BIASES = ["Q", "K", "V", "O", "1", "2"];
const COLUMNS = [...SIZES, ...FIXED, ...BIASES]; // of the table of models
const KEYS = ["begun", ...SIZES, "context"];
const BYTES = 2; // of a number
const SIZED = ["bytes", "kB", "MB", "GB", "TB", "PB"];
const COUNTED = ["", "thousand", "million", "billion", "trillion", "quadrillion"];
const PARTS = ["embedding", "attention", "feed-forward", "idle experts"];
const PANELS = ["parameters", "operations", "cache", "bytes read"];

const upTo = (last) => Array.from({ length: last }, (_, i) => i + 1);
const STOPS = {
  layers: () => upTo(128),
  d: () => [64, 128, 256, 384, 512, 640, 768, 896, 1024, 1280, 1536, 2048, 2560, 3072, 3584, 4096, 5120, 6144, 7168, 8192],
  heads: () => [1, 2, 4, 6, 8, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128],
  groups: ({ heads }) => upTo(heads).filter((one) => heads % one === 0),
  experts: () => [0, 2, 4, 8, 16, 32, 64, 128, 256],
  context: () => upTo(14).map((power) => 64 * 2 ** power),
};
const TITLES = { d: "width d", groups: "groups of keys" };

// ---- the formulas --------------------------------------------------------------------------------------------------

// All numbers of a decoder: those that have a control, and what follows for the rest from the model that it began as.
function whole(row, sizes) {
  const model = Object.fromEntries(COLUMNS.map((name, i) => [name, row[i]]));
  const hidden = Math.round((model.hidden * sizes.d) / model.d);
  return { ...model, ...sizes, hidden, chosen: Math.min(model.chosen || 2, sizes.experts) };
}

// The parameters of each part; of the norms, each belongs to what it stands before, the last to the embedding.
function parameters(m) {
  const [asked, kept] = [m.heads * m.width, m.groups * m.width];
  const biases = m.Q * asked + (m.K + m.V) * kept + m.O * m.d;
  const attention = m.d * (2 * asked + 2 * kept) + biases + m.normed * 2 * m.width + m.norms * m.d;
  const one = (2 + m.gated) * m.d * m.hidden + m["1"] * m.hidden + m["2"] * m.d;
  const among = m.experts ? m.d * m.experts + m.chosen * one : one;
  return {
    "embedding": m.d * (m.vocabulary * (1 + m.untied) + m.positions + m.norms),
    "attention": m.layers * attention,
    "feed-forward": m.layers * (among + m.norms * m.d),
    "idle experts": m.layers * Math.max(0, m.experts - m.chosen) * one,
  };
}

// What a token costs where so many stand before it: two operations for each parameter that is multiplied with, and four
// for each number of a key that is looked at; in bytes, these parameters and the cache.
function costs(m) {
  const parts = parameters(m);
  const all = PARTS.reduce((sum, name) => sum + parts[name], 0);
  const used = all - parts["idle experts"];
  const multiplied = used - m.d * (m.vocabulary * m.untied + m.positions);
  const token = 2 * m.layers * m.groups * m.width * BYTES;
  const cache = m.context * token;
  const operations = 2 * multiplied + 4 * m.layers * m.heads * m.width * m.context;
  return { parts, all, used, token, cache, operations, read: BYTES * multiplied + cache };
}

const areas = ({ all, operations, cache, read }) => [all, operations, cache, read]; // of PANELS

// ---- in words ------------------------------------------------------------------------------------------------------

const grouped = (number) => number.toLocaleString("en-GB");
const three = (number) => Number(number.toPrecision(3));

// A number as a number of a unit, and that.
function scaled(number, units) {
  const power = Math.floor(Math.log10(three(number)) / 3 + 1e-9);
  return [number / 1000 ** power, units[power]];
}

const told = (bytes) => {
  const [number, unit] = scaled(bytes, SIZED);
  return `${number.toPrecision(3)} ${unit}`;
};

const percent = (part, whole) => `${Math.round((100 * part) / whole)} %`;

function remark(name, model, { all, used, cache, read }) {
  const who = name ? `${name} has` : "These sizes make";
  const active = used < all ? `, of which a token uses ${percent(used, all)}` : "";
  const filled = `${grouped(model.context)} tokens fill a cache of ${told(cache)}`;
  return `${who} ${grouped(all)} parameters${active}; ${filled}, ${percent(cache, read)} of what the next token reads.`;
}

// ---- what is seen --------------------------------------------------------------------------------------------------

// A square for each cost: its area is that of the model, the outlines are those of the published ones, of which the
// largest is named.
function squares(names) {
  const part = (name, ...nodes) => make("div", { class: `mt-${name}` }, ...nodes);
  const outlines = PANELS.map(() => names.map(() => part("outline")));
  const largestOnes = PANELS.map(() => make("span", { class: "mt-largest" }));
  const strips = PANELS.map((_, i) => (i ? [] : PARTS.map((name, k) => part(`slice mt-part-${k}`))));
  const filled = strips.map((nodes) => part("filled", ...nodes));
  const panels = PANELS.map((name, i) => part("square", part("whole-square", filled[i], ...outlines[i]), make("span", {}, name), largestOnes[i]));
  const node = make("div", { class: "mt-squares", "aria-hidden": "true" }, ...panels);
  const draw = (own, others, begun) => {
    const sizes = (cost, i) => areas(cost)[i];
    PANELS.forEach((_, i) => {
      const largest = Math.max(sizes(own, i), ...others.map((cost) => sizes(cost, i)));
      const first = others.map((cost) => sizes(cost, i)).reduce((best, size, k, all) => (size > all[best] ? k : best), 0);
      largestOnes[i].textContent = `outermost: ${names[first]}`;
      const side = (cost) => `width: ${100 * Math.sqrt(sizes(cost, i) / largest)}%`;
      change(filled[i], { style: side(own) });
      outlines[i].forEach((outline, k) => {
        change(outline, { style: side(others[k]), class: `mt-outline${k === begun ? " mt-its-own" : ""}` });
      });
    });
    strips[0].forEach((strip, k) => change(strip, { style: `flex-grow: ${own.parts[PARTS[k]] / own.all}` }));
  };
  return { node, draw };
}

// All costs as numbers, and the share of each part of the parameters.
function facts() {
  const { place, show } = numbers();
  const unit = { cache: make("span"), read: make("span"), operations: make("span") };
  const rows = {
    "all": "parameters",
    "used": "used by a token",
    "operations": "operations a token",
    "token": "cache a token, bytes",
    "cache": "cache of all tokens",
    "read": "read for a token",
  };
  const list = Object.entries(rows).map(([name, title]) => entry(title, place(name), unit[name] ?? ""));
  const shares = PARTS.map((name, k) => {
    const key = make("i", { class: `mt-part-${k}`, "aria-hidden": "true" });
    return make("span", {}, key, `${name} `, place(`part-${k}`), " %");
  });
  const node = make("div", { class: "mt-costs" }, make("p", {}, ...shares), make("dl", {}, ...list));
  const put = (name, [number, text]) => {
    show(name, number, number.toPrecision(3));
    unit[name].textContent = ` ${text}`;
  };
  const draw = (cost) => {
    for (const name of ["all", "used", "token"]) show(name, cost[name], grouped(cost[name]));
    for (const name of ["cache", "read"]) put(name, scaled(cost[name], SIZED));
    put("operations", scaled(cost.operations, COUNTED));
    PARTS.forEach((name, k) => {
      const share = (100 * cost.parts[name]) / cost.all;
      show(`part-${k}`, share, share.toFixed(1));
    });
  };
  return { node, draw };
}

// A slider that stops at the sizes of a list, which may hang on the other sizes.
function stops(name, get, set) {
  const title = TITLES[name] ?? name;
  const list = () => STOPS[name](get());
  const node = slider({ min: 0, step: 1, "aria-label": title }, (i) => set(name, list()[i]));
  const { place, show } = numbers();
  const whole = make("div", { class: "mt-size mt-controls" }, make("span", {}, `${title} `, place(name)), node);
  const draw = (value) => {
    const known = list();
    const at = known.findIndex((one) => one >= value);
    change(node, { max: known.length - 1, "aria-valuetext": value });
    node.value = at < 0 ? known.length - 1 : at;
    show(name, value, grouped(value));
  };
  return { node: whole, draw };
}

export default {
  render({ model, el }) {
    const [names, table] = [model.get("models"), model.get("table")];
    const get = () => Object.fromEntries([...SIZES, "context"].map((key) => [key, model.get(key)]));
    const put = (state) => {
      for (const [key, value] of Object.entries(state)) model.set(key, value);
      model.save_changes();
    };
    const set = (name, value) => {
      if (name !== "heads") return put({ [name]: value });
      const groups = STOPS.groups({ heads: value }).findLast((one) => one <= model.get("groups"));
      return put({ heads: value, groups });
    };
    const sizes = (i) => Object.fromEntries(SIZES.map((name, k) => [name, table[i][k]]));
    const buttons = names.map((name, i) => button(name, () => put({ begun: i, ...sizes(i) })));
    const sliders = Object.keys(STOPS).map((name) => [name, stops(name, get, set)]);
    const [picture, list] = [squares(names), facts()];
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const draw = () => {
      const [state, begun] = [get(), model.get("begun")];
      const own = whole(table[begun], state);
      const others = names.map((_, i) => costs(whole(table[i], { ...sizes(i), context: state.context })));
      const isBegun = SIZES.every((name, k) => table[begun][k] === state[name]);
      const cost = costs(own);
      buttons.forEach((one, i) => change(one, { "aria-pressed": isBegun && i === begun }));
      for (const [name, each] of sliders) each.draw(state[name]);
      picture.draw(cost, others, begun);
      list.draw(cost);
      verdict.textContent = remark(isBegun && names[begun], own, cost);
      speech.say(verdict.textContent);
    };
    const published = make("div", { class: "mt-either mt-published mt-controls" }, ...buttons);
    const moved = make("div", { class: "mt-all-sizes" }, ...sliders.map(([, each]) => each.node));
    const parts = [published, moved, picture.node, list.node, verdict, speech.node];
    begin(el, model, KEYS, draw, make("div", { class: "mt-models" }, ...parts));
  },
};
