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
const KEYS = ["query", "keys", "values", "wish"];
const INPUTS = { query: "query", key: "keys", value: "values" }; // table -> the part of the state that it shows

// ---- the mathematics -----------------------------------------------------------------------------------------------

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const flip = (A) => A[0].map((_, j) => A.map((row) => row[j]));
const column = (numbers) => numbers.map((number) => [number]);
const most = (...tables) => Math.max(...tables.flat(2).map(Math.abs));
const altered = (table, i, j, value) => table.with(i, table[i].with(j, value));

// The tables by their names, each with a row for every key or one alone, and what is wished for, as one number.
// `move(name, table)` may alter a table on the way.
function forward({ query, keys, values, wish }, move = (_, table) => table) {
  const [[q], key] = [move("query", [query]), move("key", keys)];
  const score = move("score", column(key.map((k) => SCALE * dot(q, k))));
  const weight = move("weight", column(softmax(score.flat(), 1).weights));
  const value = move("value", values);
  const output = move("output", [flip(value).map((feature) => dot(weight.flat(), feature))]);
  return { query: [q], key, score, weight, value, output, wish: [wish], total: dot(wish, output[0]) };
}

// The gradients of the tables, by the same names.
function backward({ query: [q], key, weight, value, wish: [wish], total }) {
  const wanted = value.map((row) => dot(wish, row));
  const score = wanted.map((d, i) => weight[i][0] * (d - total));
  return {
    query: [flip(key).map((feature) => SCALE * dot(score, feature))],
    key: score.map((d) => q.map((number) => SCALE * d * number)),
    score: column(score),
    weight: column(wanted),
    value: weight.map(([p]) => wish.map((d) => p * d)),
    output: [wish],
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
function sum({ query, key, weight, value, wish, total }, slopes, name, i, j) {
  const score = slopes.score.flat();
  const made = {
    query: () => `(${products(score, flip(key)[j])}) ÷ √2`,
    key: () => `${products([score[i]], [query[0][j]])} ÷ √2`,
    score: () => `${short(weight[i][0])} × (${short(slopes.weight[i][0])} − ${factor(total)})`,
    weight: () => products(wish[0], value[i]),
    value: () => products(weight[i], [wish[0][j]]),
    output: () => "the wish itself",
  };
  return made[name]();
}

// What the gradient of a number means: how it is made, and what a small step of the number changes.
function meaning(labels, state, found, slopes, [name, i, j]) {
  const slope = slopes[name][i][j];
  const nudge = (each, table) => (each === name ? altered(table, i, j, table[i][j] + NUDGE) : table);
  const change = short(forward(state, nudge).total - found.total, 4);
  const title = called(labels, name, i, j).replace(/^./, (letter) => letter.toUpperCase());
  const about = `${NUDGE} × ${factor(slope)} = ${short(NUDGE * slope, 4)}`;
  const step = `A step of ${NUDGE} changes wish · output by about ${about}; in fact, by ${change}.`;
  return `${title}: gradient ${short(slope)} = ${sum(found, slopes, name, i, j)}. ${step}`;
}

const WHY = {
  query: "all scores pull at it",
  key: "its score’s gradient times the query",
  value: "its weight times the wish",
};

// Who gets the largest gradient and why, or why hardly anybody gets one.
function remark(labels, found, slopes) {
  const [weights, scores] = [found.weight.flat(), slopes.score.flat()];
  const [seeking, giving] = [most(slopes.query, slopes.key), most(slopes.value)];
  const rounding = 1e-12 * most(slopes.weight);
  const pick = (best, all) => quoted(labels[all.indexOf(best(...all))]);
  const winner = pick(Math.max, weights);
  if (!most(found.wish)) return "Nothing is wished for: all gradients are 0, and a step moves nothing.";
  if (slopes.weight.every(([wanted]) => Math.abs(wanted - found.total) <= rounding)) {
    return "All values fulfil the wish alike. Where the query looks changes nothing: only the values learn.";
  }
  if (Math.max(...weights) > SURE && seeking < FEW * giving) {
    const left = `${winner} has nearly all the weight, and query and keys get ${short(seeking)} at most`;
    return `Saturated: ${left}. Learning where to look has stopped (chapter 3); only the value of ${winner} learns.`;
  }
  if (!seeking) return "The query is 0 and all keys are alike, so that neither can begin: only the values learn.";
  const size = ([name, i, j]) => Math.abs(slopes[name][i][j]);
  const each = (name) => found[name].flatMap((row, i) => row.map((_, j) => [name, i, j]));
  const places = Object.keys(INPUTS).flatMap(each);
  const largest = places.reduce((best, one) => (size(one) > size(best) ? one : best));
  const [name, i, j] = largest;
  const look = `The query should look more at ${pick(Math.max, scores)} and less at ${pick(Math.min, scores)}.`;
  const none = most(found.query) ? "" : " No key learns: its gradient is a multiple of the query, which is 0.";
  const made = `${sum(found, slopes, ...largest)} = ${short(slopes[name][i][j])}`;
  return `${look}${none} The largest gradient is that of the ${called(labels, ...largest)}: ${WHY[name]}, ${made}.`;
}

// ---- what is seen --------------------------------------------------------------------------------------------------

// From the foot up: a table, the words of its title by their roles, how its numbers are made of those below and its gradients of
// those above, and the table beside it, in the column of the query.
const STEPS = [
  ["key", { query: "query q", key: "keys k" }, "", "dq = Σ ds k ÷ √2, dk = ds q ÷ √2", "query"],
  ["score", { ink: "scores" }, "s = q · k ÷ √2", "ds = p (dp − Σ p dp)"],
  ["weight", { weight: "weights" }, "p = softmax(s)", "dp = wish · v"],
  ["value", { value: "values v", output: "output" }, "o = Σ p v", "dv = p × wish", "output"],
];

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
    if (name === "output") return [number("", ...at), gradient(input(`wish for number ${j + 1}`, "wish", i, j))];
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
  const caption = make("caption", {}, "Up: the numbers. Down: their gradients, marked ◂.");
  const node = make("table", {}, caption, make("thead", {}, make("tr", {}, make("td"), ...heads)), ...STEPS.toReversed().map(group));
  const draw = (found, slopes) => {
    const full = most(...Object.keys(INPUTS).map((name) => slopes[name])) || 1;
    fields.forEach(({ at: [name, i, j], show }) => show(found[name][i][j]));
    places.forEach(({ kind, at }) => {
      const [name, i, j] = at;
      const value = (kind ? slopes : found)[name][i][j];
      show(`${kind}${at.join("-")}`, value, kind || name !== "weight" ? short(value) : share(value, 3));
    });
    cells.forEach(({ node, at: [name, i, j] }) => {
      if (INPUTS[name]) change(node, { style: `--to: ${(50 * slopes[name][i][j]) / full}%` });
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
    let before; // what was wished for before the last step, if nothing else has moved since
    const set = (changes, total) => {
      before = total;
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
    const table = graph(labels, start.wish.length, edit, point);
    const { place, show } = numbers();
    const news = make("span");
    const total = make("p", {}, "wish · output = ", place("total"), news);
    const [behind, verdict] = ["behind", "verdict"].map((name) => make("p", { class: `mt-${name}` }));
    const speech = speaker();
    const draw = () => {
      found = forward(state());
      slopes = backward(found);
      table.draw(found, slopes);
      explain();
      const gained = found.total - before;
      show("total", found.total, short(found.total));
      news.textContent = gained ? `, ${gained > 0 ? "up" : "down"} by ${short(Math.abs(gained))}` : "";
      const far = gained < 0 ? "The step was too long: a gradient is true nearby alone. " : "";
      verdict.textContent = far + remark(labels, found, slopes);
      speech.say(`${total.textContent}. ${verdict.textContent}`);
    };
    const step = () => {
      const moved = (value, slope) => Math.max(-LARGEST, Math.min(LARGEST, value + RATE * slope));
      const walked = (name) => found[name].map((row, i) => row.map((value, j) => moved(value, slopes[name][i][j])));
      set({ query: walked("query")[0], keys: walked("key"), values: walked("value") }, found.total);
    };
    const buttons = [button("take a step", step), button("start again", () => set(start))];
    const controls = make("div", { class: "mt-buttons mt-controls" }, ...buttons);
    const nodes = [table.node, behind, make("div", { class: "mt-total" }, total, controls), verdict, speech.node];
    begin(el, model, KEYS, draw, make("div", { class: "mt-graph" }, ...nodes));
  },
};
