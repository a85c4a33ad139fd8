// Chapter 12: a model's parts, how many parameters each has and what it multiplies.
import { begin, box, button, change, field, fixed, fold, make, numbers, slider, speaker } from "../shared/parts.mjs";

const MOST = 100000; // what a size can be
const STOPS = {
  d: [8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024],
  heads: [1, 2, 3, 4, 6, 8, 12, 16],
  layers: [1, 2, 3, 4, 6, 8, 12, 16, 24],
  hidden: [16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096],
  vocabulary: [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 37000, 50257, 100000],
  n: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384],
};
const TITLES = { d: "width d", n: "tokens n" };
const KINDS = { decoder: "decoder only", "encoder-decoder": "encoder–decoder" };
const PRESETS = {
  "2017 base": {
    ...{ kind: "encoder-decoder", d: 512, heads: 8, layers: 6, hidden: 2048, vocabulary: 37000, n: 64 },
    ...{ norm: "post", tied: true },
  },
  "GPT-2 small": {
    ...{ kind: "decoder", d: 768, heads: 12, layers: 12, hidden: 3072, vocabulary: 50257, n: 1024 },
    ...{ norm: "pre", tied: true },
  },
};
const LARGER = "The published model has 124,439,808: it also has biases in attention, and learns 1,024 positions.";

// ---- the mathematics -----------------------------------------------------------------------------------------------

// The parts of a stack of layers: what each returns, its parameters and its multiplications in all layers together.
function stack({ d, heads, layers, hidden, n, norm }, cross) {
  const [x, scores] = [`(${n}, ${d})`, `(${heads}, ${n}, ${n})`];
  const project = { shape: x, parameters: layers * 4 * d * d, products: layers * 4 * n * d * d };
  const look = { shape: scores, parameters: 0, products: layers * 2 * n * n * d };
  const wide = { parameters: layers * (2 * d * hidden + hidden + d), products: layers * 2 * n * d * hidden };
  const norms = layers * (cross ? 3 : 2) * 2 * d;
  return {
    attention: project,
    scores: look,
    ...(cross ? { cross: project, "cross-scores": look } : {}),
    feed: { shape: x, ...wide },
    norms: { shape: x, parameters: norms, products: 0 },
    last: { shape: x, parameters: norm === "pre" ? 2 * d : 0, products: 0 },
  };
}

// All parts of the model, by name, in the order in which they are passed; those that it has not are null.
function partsOf(model) {
  const { kind, d, n, vocabulary, tied } = model;
  const both = kind === "encoder-decoder";
  const shape = `(${n}, ${d})`;
  const named = (side, parts) => Object.entries(parts).map(([name, part]) => [`${side}-${name}`, part]);
  return Object.fromEntries([
    ["embedding", { shape, parameters: vocabulary * d, products: 0 }],
    ["positions", { shape, parameters: 0, products: 0 }],
    ...named("encoder", stack(model, false)).map(([name, part]) => [name, both ? part : null]),
    ...named("decoder", stack(model, true)).map(([name, part]) => [name, both ? part : null]),
    ...(both ? [] : named("decoder", stack(model, false))),
    ["head", { shape: `(${n}, ${vocabulary})`, parameters: tied ? 0 : d * vocabulary, products: n * d * vocabulary }],
  ]);
}

const sum = (parts, key) => parts.reduce((sum, part) => sum + (part?.[key] ?? 0), 0);

// ---- in words ------------------------------------------------------------------------------------------------------

const ROWS = {
  attention: "attention matrices",
  scores: "scores and mix",
  cross: "cross-attention matrices",
  "cross-scores": "its scores and mix",
  feed: "feed-forward",
  norms: "norms",
  last: "final norm",
};
const GROUPS = { // of parts that are of one kind
  "the embedding": /embedding/,
  "attention’s matrices": /-attention|-cross$/,
  "scores and mix": /scores/,
  "feed-forward": /feed/,
  "the norms": /norms|last/,
  "the output head": /head/,
};
const COUNTS = { parameters: "parameters", products: "multi\u00adplications" };

// A count with commas, in the unit of its column.
function counted(number, { size, digits }) {
  const value = number / size;
  if (value === 0) return "0";
  if (value < 0.5 * 10 ** -digits) return `<${fixed(10 ** -digits, digits)}`;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

// The unit of a column: one as long as the total has few digits.
function unitOf(total, digits) {
  if (total < 10 ** digits) return { size: 1, name: "", digits: 0 };
  const names = ["millions", "billions", "trillions", "10¹⁵", "10¹⁸", "10²¹"];
  const power = Math.min(names.length - 1, Math.max(0, Math.floor((Math.log10(total) - 4) / 3) - 1));
  return { size: 10 ** (6 + 3 * power), name: names[power], digits: 1 };
}

const whole = { size: 1, digits: 0 };

// Of parameters or products, the share that each group of parts has.
function sharesOf(parts, key) {
  const total = sum(Object.values(parts), key);
  const members = (pattern) => Object.keys(parts).filter((name) => pattern.test(name)).map((name) => parts[name]);
  return Object.values(GROUPS).map((pattern) => sum(members(pattern), key) / total);
}

function leader(shares) {
  const largest = Math.max(...shares);
  return `${Object.keys(GROUPS)[shares.indexOf(largest)]}, ${fixed(100 * largest, 0)}%`;
}

// From how many tokens on scores and mix multiply more than all matrices of a layer.
function crossing({ kind, d, hidden }) {
  const one = counted(2 * d + hidden, whole);
  if (kind === "decoder") return `n\u00a0>\u00a02d + hidden = ${one}`;
  const half = counted(2 * d + Math.floor(hidden / 2), whole);
  return `n\u00a0>\u00a02d + hidden = ${one} in the encoder, and n\u00a0>\u00a02d + hidden/2 = ${half} in the decoder`;
}

function remark(model, parts) {
  if (model.d % model.heads) {
    const [d, heads] = [model.d, model.heads].map((size) => counted(size, whole));
    return `${heads} heads do not divide d = ${d}: each head needs d / heads features, a whole number of them.`;
  }
  const [held, done] = Object.keys(COUNTS).map((key) => leader(sharesOf(parts, key)));
  const most = `The largest share of the parameters: ${held}; of the multiplications: ${done}.`;
  const square = `Scores and mix, the tokens’ square, outgrow a layer’s matrices where ${crossing(model)}.`;
  const known = Object.entries(PRESETS["GPT-2 small"]).every(([key, value]) => key === "n" || model[key] === value);
  return `${most} ${square}${known ? ` ${LARGER}` : ""}`;
}

// ---- what is chosen ------------------------------------------------------------------------------------------------

// One of several, as buttons of which one is pressed.
function choice(label, names, choose) {
  const buttons = Object.entries(names).map(([key, name]) => button(name, () => choose(key)));
  const node = make("div", { class: "mt-pick", role: "group", "aria-label": label }, ...buttons);
  const draw = (chosen) => buttons.forEach((each, i) => change(each, { "aria-pressed": Object.keys(names)[i] === chosen }));
  return { node, draw };
}

// A size: a slider with sensible stops, and a field for any.
function size(key, move) {
  const stops = STOPS[key];
  const title = TITLES[key] ?? key;
  const range = slider({ min: 0, max: stops.length - 1, step: 1, "aria-label": title }, (i) => move(stops[i]));
  const fits = (value) => Number.isInteger(value) && value >= 1 && value <= MOST;
  const attributes = { "aria-label": `${title} as a number`, "data-name": key, step: 1, min: 1, max: MOST };
  const typed = field(attributes, fits, move, { rule: "a whole number from 1 to 100,000" });
  const node = make("div", { class: "mt-size" }, make("span", {}, title), range, typed.node);
  const draw = (value) => {
    const distances = stops.map((stop) => Math.abs(Math.log(stop / value)));
    range.value = distances.indexOf(Math.min(...distances));
    change(range, { "aria-valuetext": value });
    typed.show(value);
  };
  return { node, draw };
}

function settings(set) {
  const kind = choice("kind of model", KINDS, (kind) => set({ kind }));
  const sizes = Object.keys(STOPS).map((key) => [key, size(key, (value) => set({ [key]: value }))]);
  const pre = box("norm before each sublayer (pre)", (pre) => set({ norm: pre ? "pre" : "post" }));
  const tied = box("output tied to the embedding", (tied) => set({ tied }));
  const grid = make("div", { class: "mt-sizes" }, ...sizes.map(([, each]) => each.node), pre.node, tied.node);
  const node = make("div", { class: "mt-sizing mt-controls" }, kind.node, grid);
  const draw = (model) => {
    kind.draw(model.kind);
    for (const [key, each] of sizes) each.draw(model[key]);
    pre.draw(model.norm === "pre");
    tied.draw(model.tied);
  };
  return { node, draw };
}

// ---- the tables ----------------------------------------------------------------------------------------------------

const heading = (...inside) => make("th", { scope: "col" }, ...inside);

// The shares of each group as bars.
function chart() {
  const { place, show } = numbers();
  const rows = Object.keys(GROUPS).map((name, i) => {
    const bars = Object.keys(COUNTS).map(() => make("div", { class: "mt-bar" }));
    const cell = (key, k) => make("div", { class: "mt-share" }, place(`share-${key}-${i}`), make("div", {}, bars[k]));
    const cells = Object.keys(COUNTS).map((key, k) => make("td", {}, cell(key, k)));
    return { bars, node: make("tr", {}, make("th", { scope: "row" }, name), ...cells) };
  });
  const heads = ["share of the", ...Object.values(COUNTS)].map((text) => heading(text));
  const body = make("tbody", {}, ...rows.map((row) => row.node));
  const node = make("table", { class: "mt-shares" }, make("thead", {}, make("tr", {}, ...heads)), body);
  const draw = (parts, possible) => {
    Object.keys(COUNTS).forEach((key, k) => {
      sharesOf(parts, key).forEach((share, i) => {
        const percent = 100 * share;
        rows[i].bars[k].style.width = `${possible ? percent : 0}%`;
        const text = percent > 0 && percent < 0.05 ? "<0.1" : fixed(percent, 1);
        show(`share-${key}-${i}`, possible ? percent : null, possible ? `${text}%` : "–");
      });
    });
  };
  return { node, draw };
}

// A row for each part: its name, the shape of what leaves it, and its numbers.
function table() {
  const { place, show } = numbers();
  const rows = {};
  const line = (name, title) => {
    const shape = make("small", { class: "mt-shape", "data-shape": name });
    const cells = Object.keys(COUNTS).map((key) => make("td", {}, place(`${name}-${key}`)));
    const node = make("tr", {}, make("th", { scope: "row" }, make("span", {}, title), shape), ...cells);
    rows[name] = { node, shape };
    return node;
  };
  const group = (side) => {
    const head = make("th", { scope: "rowgroup", colspan: 3 });
    const names = Object.entries(ROWS).filter(([name]) => side === "decoder" || !name.startsWith("cross"));
    const lines = names.map(([name, title]) => line(`${side}-${name}`, title));
    return { head, node: make("tbody", {}, make("tr", {}, head), ...lines) };
  };
  const units = Object.values(COUNTS).map(() => make("small"));
  const heads = Object.values(COUNTS).map((title, k) => heading(title, units[k]));
  const top = make("tr", {}, heading("part, and the shape of what leaves it"), ...heads);
  const groups = { encoder: group("encoder"), decoder: group("decoder") };
  const before = make("tbody", {}, line("embedding", "embedding"), line("positions", "positions"));
  const after = make("tbody", {}, line("head", "output head"));
  const foot = make("tfoot", {}, line("total", "in all"));
  const bodies = [before, groups.encoder.node, groups.decoder.node, after, foot];
  const node = make("table", {}, make("thead", {}, top), ...bodies);

  const fill = (name, part, used) => {
    const { node, shape } = rows[name];
    node.classList.toggle("mt-none", !part);
    shape.textContent = part?.shape ?? "";
    Object.keys(COUNTS).forEach((key, k) => {
      const value = part?.[key];
      show(`${name}-${key}`, part ? value / used[k].size : null, part ? counted(value, used[k]) : "–");
    });
  };
  const draw = (model, parts, possible) => {
    const totals = Object.fromEntries(Object.keys(COUNTS).map((key) => [key, sum(Object.values(parts), key)]));
    const used = [unitOf(totals.parameters, 9), unitOf(totals.products, 8)];
    used.forEach(({ name, size }, k) => {
      units[k].textContent = name && `in ${name}`;
      change(units[k], { "data-unit": size });
    });
    for (const [side, { head }] of Object.entries(groups)) {
      const has = side === "decoder" || model.kind !== "decoder";
      const layers = model.layers === 1 ? "1 layer" : `${counted(model.layers, whole)} layers together`;
      head.textContent = has ? `${side}, ${layers}` : `no ${side}`;
      head.classList.toggle("mt-muted", !has);
    }
    const all = { ...parts, total: totals };
    for (const name of Object.keys(rows)) fill(name, possible ? all[name] : null, used);
  };
  return { node, draw };
}

const NOTE =
  "Multiplications of all matrix products for n tokens, and n more in the source where there is an encoder. " +
  "Softmax and norms are not counted; pairs that a mask hides are.";

export default {
  render({ model, el }) {
    const keys = ["kind", "d", "heads", "layers", "hidden", "vocabulary", "n", "norm", "tied"];
    const state = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    const start = state();
    const set = (changes) => {
      for (const [key, value] of Object.entries(changes)) model.set(key, value);
      model.save_changes();
    };
    const panel = settings(set);
    const [bars, list] = [chart(), table()];
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const draw = () => {
      const now = state();
      const parts = partsOf(now);
      panel.draw(now);
      const possible = now.d % now.heads === 0;
      bars.draw(parts, possible);
      list.draw(now, parts, possible);
      verdict.textContent = remark(now, parts);
      const total = `${counted(sum(Object.values(parts), "parameters"), whole)} parameters. `;
      speech.say(`${possible ? total : ""}${verdict.textContent}`);
    };
    const presets = { "this chapter’s": start, ...PRESETS };
    const buttons = Object.entries(presets).map(([name, sizes]) => button(name, () => set(sizes)));
    const controls = make("div", { class: "mt-buttons mt-controls" }, ...buttons);
    const every = fold("every part, with what leaves it", list.node, make("p", { class: "mt-note mt-muted" }, NOTE));
    const nodes = [controls, panel.node, verdict, bars.node, every, speech.node];
    begin(el, model, keys, draw, make("div", { class: "mt-build" }, ...nodes));
  },
};
