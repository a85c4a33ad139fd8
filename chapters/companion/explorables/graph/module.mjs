// Chapter 13: one attention as a graph, with its numbers forward and its gradients backward.
import {
  begin, brief, button, change, field, make, numbers, quoted, share, softmax, speaker,
} from "../shared/parts.mjs";

const LARGEST = 1e6; // of the numbers that can stand here
const RATE = 0.5; // a step moves each number by so much of its gradient
const NUDGE = 0.1; // of which the sentence tells what it would change
const SURE = 0.99; // a larger weight leaves next to nothing to the others
const FEW = 0.1; // of the values' gradients: below that, queries and keys have stopped to learn
const SCALE = Math.SQRT1_2; // 1 / √d_k
const KEYS = ["query", "keys", "values", "upstream"];
const THICK = 8; // of the line with the largest gradient, in units of the drawing
const INPUTS = { query: "query", key: "keys", value: "values" }; // table -> the part of the state that it shows

// ---- the mathematics -----------------------------------------------------------------------------------------------

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const flip = (A) => A[0].map((_, j) => A.map((row) => row[j]));
const column = (numbers) => numbers.map((number) => [number]);
const most = (...tables) => Math.max(...tables.flat(2).map(Math.abs));
const altered = (table, i, j, value) => table.with(i, table[i].with(j, value));

// The tables by their names, each with a row for every key or one alone, and the loss.
// `move(name, table)` may alter a table on the way.
function forward({ query, keys, values, upstream }, move = (_, table) => table) {
  const [[q], key] = [move("query", [query]), move("key", keys)];
  const score = move("score", column(key.map((k) => SCALE * dot(q, k))));
  const weight = move("weight", column(softmax(score.flat(), 1).weights));
  const value = move("value", values);
  const output = move("output", [flip(value).map((feature) => dot(weight.flat(), feature))]);
  return { query: [q], key, score, weight, value, output, upstream: [upstream], loss: dot(upstream, output[0]) };
}

// The gradients of the tables, by the same names.
function backward({ query: [q], key, weight, value, upstream: [upstream], loss }) {
  const given = value.map((row) => dot(upstream, row));
  const score = given.map((d, i) => weight[i][0] * (d - loss));
  return {
    query: [flip(key).map((feature) => SCALE * dot(score, feature))],
    key: score.map((d) => q.map((number) => SCALE * d * number)),
    score: column(score),
    weight: column(given),
    value: weight.map(([p]) => upstream.map((d) => p * d)),
    output: [upstream],
  };
}

// ---- in words ------------------------------------------------------------------------------------------------------

// A number of few characters, without the zeros at its end; it reads as 0 only where it is 0.
function short(number, digits = 3) {
  const size = Math.abs(number);
  if (size > 0 && size < 0.5 * 10 ** -digits) return "≈0";
  return brief(number, size < 10 ? digits : digits - 1).replace(/\.0+$|(\.\d*[1-9])0+$/, "$1");
}
const factor = (number) => (number < 0 ? `(${short(number)})` : short(number));
const products = (a, b) => a.map((number, i) => `${factor(number)} × ${factor(b[i])}`).join(" + ");

function called(labels, name, i, j) {
  const whose = name === "query" || name === "output" ? name : `${name} of ${quoted(labels[i])}`;
  return name === "score" || name === "weight" ? whose : `${whose}, number ${j + 1}`;
}

// How a gradient is made of those above it, with its numbers.
function sum({ query, key, weight, value, upstream, loss }, slopes, name, i, j) {
  const score = slopes.score.flat();
  const made = {
    query: () => `(${products(score, flip(key)[j])}) ÷ √2`,
    key: () => `${products([score[i]], [query[0][j]])} ÷ √2`,
    score: () => `${short(weight[i][0])} × (${short(slopes.weight[i][0])} − ${factor(loss)})`,
    weight: () => products(upstream[0], value[i]),
    value: () => products(weight[i], [upstream[0][j]]),
    output: () => "as you set it",
  };
  return made[name]();
}

// What the gradient of a number means: how it is made, and what a small step of the number changes.
function meaning(labels, state, found, slopes, [name, i, j]) {
  const slope = slopes[name][i][j];
  const nudge = (each, table) => (each === name ? altered(table, i, j, table[i][j] + NUDGE) : table);
  const change = short(forward(state, nudge).loss - found.loss, 4);
  const title = called(labels, name, i, j).replace(/^./, (letter) => letter.toUpperCase());
  const about = `${NUDGE} × ${factor(slope)} = ${short(NUDGE * slope, 4)}`;
  const step = `A step of ${NUDGE} changes the loss by about ${about}; in fact, by ${change}.`;
  return `${title}: gradient ${short(slope)} = ${sum(found, slopes, name, i, j)}. ${step}`;
}

// What the gradients ask of the query, or why hardly anybody gets one.
function remark(labels, found, slopes) {
  const [weights, scores] = [found.weight.flat(), slopes.score.flat()];
  const [seeking, giving] = [most(slopes.query, slopes.key), most(slopes.value)];
  const rounding = 1e-12 * most(slopes.weight);
  const pick = (best, all) => quoted(labels[all.indexOf(best(...all))]);
  const winner = pick(Math.max, weights);
  if (!most(found.upstream)) return "The upstream gradient is 0: all gradients are 0, and a step moves nothing.";
  if (slopes.weight.every(([given]) => Math.abs(given - found.loss) <= rounding)) {
    return "All values give the same loss. Where the query looks changes nothing: only the values learn.";
  }
  if (Math.max(...weights) > SURE && seeking < FEW * giving) {
    const left = `${winner} has nearly all the weight, and query and keys get ${short(seeking)} at most`;
    return `Saturated: ${left} (chapter 3). Only the value of ${winner} learns.`;
  }
  if (!seeking) return "The query is 0 and all keys are alike, so that neither can begin: only the values learn.";
  const look = `The query should look more at ${pick(Math.min, scores)} and less at ${pick(Math.max, scores)}.`;
  const none = most(found.query) ? "" : " No key learns: its gradient is a multiple of the query, which is 0.";
  return look + none;
}

// ---- what is seen --------------------------------------------------------------------------------------------------

// From the foot up: a table, the words of its title by their roles, how its numbers are made of those below and its gradients of
// those above, and the table beside it, in the column of the query.
const STEPS = [
  ["key", { query: "query q", key: "keys k" }, "", "dq = Σ ds k ÷ √2, dk = ds q ÷ √2", "query"],
  ["score", { ink: "scores" }, "s = q · k ÷ √2", "ds = p (dp − Σ p dp)"],
  ["weight", { weight: "weights" }, "p = softmax(s)", "dp = do · v"],
  ["value", { value: "values v", output: "output" }, "o = Σ p v", "dv = p × do", "output"],
];

// Boxes of the drawing: what stands in them, their roles, and their corners; and its lines, which end in these boxes.
const BOXES = [
  ["q", "query", 2, 2, 30, 22],
  ["k", "key", 2, 34, 30, 62],
  ["s", "ink", 92, 34, 30, 62],
  ["p", "weight", 172, 34, 30, 62],
  ["v", "value", 172, 2, 30, 26],
  ["o", "output", 252, 46, 30, 38],
  ["loss", "ink", 308, 53, 38, 24],
];
const LANES = [45, 65, 85]; // of the keys, in the middle of boxes
const LINES = {
  query: LANES.map((y, i) => `M32 ${7 + 6 * i}C66 ${7 + 6 * i} 62 ${y - 6} 92 ${y - 6}`),
  key: LANES.map((y) => `M32 ${y + 3}H92`),
  score: LANES.map((y) => `M122 ${y}H172`),
  weight: LANES.map((y, i) => `M202 ${y}C228 ${y} 228 ${55 + 10 * i} 252 ${55 + 10 * i}`),
  value: LANES.map((_, i) => `M202 ${23 - 8 * i}H${251 + 8 * i}Q${259 + 8 * i} ${23 - 8 * i} ${259 + 8 * i} ${31 - 8 * i}V46`),
  output: [60, 71].map((y) => `M282 ${y}H308`),
};

// How large a gradient comes back along each line: what a query gets from each score, and the length of a row's.
function carried({ key }, { score, ...slopes }) {
  const rows = Object.fromEntries(Object.entries(slopes).map(([name, table]) => [name, table.map((row) => Math.hypot(...row))]));
  const query = key.map((k, i) => SCALE * Math.abs(score[i][0]) * Math.hypot(...k));
  return { ...rows, query, score: score.map(([d]) => Math.abs(d)), output: slopes.output[0].map(Math.abs) };
}

// The attention as five boxes, with a line for each key, the thicker the larger the gradient that comes back along it.
function drawing(width) {
  const named = Object.entries({ ...LINES, output: LINES.output.slice(0, width) });
  const line = (name) => (d, i) => make("path", { d, "data-line": `${name}-${i}` });
  const paths = Object.fromEntries(named.map(([name, drawn]) => [name, drawn.map(line(name))]));
  const boxes = BOXES.map(([text, role, x, y, width, height]) => {
    const at = { x: x + width / 2, y: y + height / 2 + 5, "text-anchor": "middle" };
    const frame = make("rect", { x, y, width, height, rx: 5 });
    return make("g", { class: `mt-${role}` }, frame, make("text", at, text));
  });
  const node = make("svg", { viewBox: "0 0 348 98", "aria-hidden": "true" }, ...Object.values(paths).flat(), ...boxes);
  const draw = (found, slopes) => {
    const sizes = carried(found, slopes);
    const full = most(...named.map(([name]) => sizes[name])) || 1;
    const style = (size) => `stroke-width: ${(THICK * size) / full}px`;
    named.forEach(([name]) => paths[name].forEach((path, i) => change(path, { style: style(sizes[name][i]) })));
  };
  return { node, draw };
}

// A column for each key, up to its value; a cell holds a number, and below it the gradient of that number.
function graph(labels, width, edit, point) {
  const { place, show } = numbers();
  const [fields, places, cells] = [[], [], []];
  const input = (title, ...at) => {
    const attributes = { step: 0.1, "aria-label": title, "data-name": at.join("-") };
    const allowed = (value) => Math.abs(value) <= LARGEST;
    const told = { rule: "a number from −1,000,000 to 1,000,000", written: (value) => Number(value.toFixed(3)) };
    const made = field(attributes, allowed, (value) => edit(...at, value), told);
    fields.push({ at, show: made.show });
    return made.node;
  };
  const number = (kind, ...at) => {
    places.push({ kind, at });
    return place(`${kind}${at.join("-")}`);
  };
  const inside = (...at) => {
    const [name, i, j] = at;
    const gradient = (node) => make("span", { class: "mt-back" }, node);
    if (name === "output") return [number("", ...at), gradient(input(`upstream gradient, number ${j + 1}`, "upstream", i, j))];
    const title = called(labels, ...at);
    const below = gradient(number("d-", ...at));
    if (INPUTS[name]) return [input(title, ...at), below];
    const node = button("", () => point(at));
    node.append(make("span", { class: "mt-spoken" }, `${title} `), number("", ...at), below);
    return [node];
  };
  const cell = (...at) => {
    const node = make("td", { class: `mt-${at[0]}` }, ...inside(...at));
    for (const kind of ["mouseover", "focusin"]) node.addEventListener(kind, () => point(at, kind === "focusin"));
    cells.push({ node, at });
    return node;
  };
  const group = ([name, words, fore, back, beside]) => {
    const title = Object.entries(words).map(([role, text]) => make("b", { class: `mt-${role}` }, text));
    const both = [make("span", {}, ...title, ` ${fore}`), make("span", { class: "mt-back" }, back)];
    const head = make("th", { colspan: 5, scope: "rowgroup" }, make("div", {}, ...both));
    const lines = Array.from({ length: { key: 2, value: width }[name] ?? 1 }, (_, j) => {
      const one = make("th", { scope: "row" }, `${j + 1}`);
      const first = beside ? [one, cell(beside, 0, j)] : [make("td"), make("td")];
      return make("tr", {}, ...first, ...labels.map((_, i) => cell(name, i, j)));
    });
    return make("tbody", {}, make("tr", {}, head), ...lines);
  };
  const heads = ["it", ...labels].map((text) => make("th", { scope: "col" }, text));
  const caption = make("caption", {}, "Numbers go forward to the loss, do · o. Gradients come back: ◂, and thick lines.");
  const node = make("table", {}, caption, make("thead", {}, make("tr", {}, make("td"), ...heads)), ...STEPS.toReversed().map(group));
  const draw = (found, slopes) => {
    fields.forEach(({ at: [name, i, j], show }) => show(found[name][i][j]));
    places.forEach(({ kind, at }) => {
      const [name, i, j] = at;
      const value = (kind ? slopes : found)[name][i][j];
      show(`${kind}${at.join("-")}`, value, kind || name !== "weight" ? short(value) : share(value, 3));
    });
  };
  const mark = (here) => cells.forEach(({ node, at }) => node.classList.toggle("mt-here", `${at}` === `${here}`));
  return { node, draw, mark };
}

export default {
  render({ model, el }) {
    const state = () => Object.fromEntries(KEYS.map((key) => [key, model.get(key)]));
    const [start, labels] = [state(), model.get("labels")];
    let here = ["key", 0, 0]; // the number whose gradient is explained
    let found, slopes; // the tables that are shown, and their gradients
    let before; // the loss before the last step, if nothing else has moved since
    const set = (changes, loss) => {
      before = loss;
      for (const [key, value] of Object.entries(changes)) model.set(key, value);
      draw(); // also where nothing changed
      model.save_changes();
    };
    const edit = (name, i, j, value) => {
      const key = INPUTS[name] ?? name;
      const old = model.get(key);
      set({ [key]: old[0].with ? altered(old, i, j, value) : old.with(j, value) });
    };
    const explain = () => {
      table.mark(here);
      behind.textContent = meaning(labels, state(), found, slopes, here);
    };
    const point = (at, focused) => {
      here = at;
      explain();
      if (focused) speech.say(behind.textContent);
    };
    const table = graph(labels, start.upstream.length, edit, point);
    const lines = drawing(start.upstream.length);
    const { place, show } = numbers();
    const news = make("span");
    const total = make("p", {}, "loss = ", place("loss"), news);
    const [behind, verdict] = ["behind", "verdict"].map((name) => make("p", { class: `mt-${name}` }));
    const speech = speaker();
    const draw = () => {
      found = forward(state());
      slopes = backward(found);
      lines.draw(found, slopes);
      table.draw(found, slopes);
      explain();
      const gained = found.loss - before;
      show("loss", found.loss, short(found.loss));
      news.textContent = gained ? `, ${gained > 0 ? "up" : "down"} by ${short(Math.abs(gained))}` : "";
      const far = gained > 0 ? "The step was too long. " : "";
      verdict.textContent = far + remark(labels, found, slopes);
      speech.say(`${total.textContent}. ${verdict.textContent}`);
    };
    const step = () => {
      const moved = (value, slope) => Math.max(-LARGEST, Math.min(LARGEST, value - RATE * slope));
      const walked = (name) => found[name].map((row, i) => row.map((value, j) => moved(value, slopes[name][i][j])));
      set({ query: walked("query")[0], keys: walked("key"), values: walked("value") }, found.loss);
    };
    const buttons = [button("take a step", step), button("start again", () => set(start))];
    const controls = make("div", { class: "mt-buttons mt-controls" }, ...buttons);
    const nodes = [lines.node, table.node, behind, make("div", { class: "mt-total" }, total, controls), verdict, speech.node];
    begin(el, model, KEYS, draw, make("div", { class: "mt-graph" }, ...nodes));
  },
};
