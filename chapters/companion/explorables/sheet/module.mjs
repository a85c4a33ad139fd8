// Chapter 5: the whole of self-attention as a sheet of numbers.
import { begin, box, button, change, field, fixed, make, quoted, share, softmax, speaker } from "../shared/parts.mjs";

const LARGEST = 1e6; // of the numbers that can be typed
const HINT = "Change a number in a frame. Point at any other, or go to it with the arrow keys, to see its sum.";

// ---- the mathematics -----------------------------------------------------------------------------------------------

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const flip = (A) => A[0].map((_, j) => A.map((row) => row[j]));
const times = (A, B) => A.map((row) => flip(B).map((column) => dot(row, column)));
const identity = (A) => A.map((row, i) => row.map((_, j) => (i === j ? 1 : 0))); // of the shape of A

// All tables of the sheet, by their names.
function selfAttention({ x, W_Q, W_K, W_V, scaled }) {
  const [Q, K, V] = [W_Q, W_K, W_V].map((matrix) => times(x, matrix));
  const scores = times(Q, flip(K));
  const divisor = scaled ? Math.sqrt(K[0].length) : 1;
  const divided = scores.map((row) => row.map((score) => score / divisor));
  const weights = divided.map((row) => softmax(row, 1).weights);
  return { x, W_Q, W_K, W_V, Q, K, V, scores, divided, weights, outputs: times(weights, V) };
}

// The cells that a number is made of, each [table, row, column]: two lists of them where it is a sum of products.
function sources(sheet, name, i, j) {
  const across = (table, row) => sheet[table][row].map((_, k) => [table, row, k]);
  const down = (table, column) => sheet[table].map((_, k) => [table, k, column]);
  const made = {
    Q: () => [across("x", i), down("W_Q", j)],
    K: () => [across("x", i), down("W_K", j)],
    V: () => [across("x", i), down("W_V", j)],
    scores: () => [across("Q", i), across("K", j)],
    divided: () => [[["scores", i, j]]],
    weights: () => [across("divided", i)],
    outputs: () => [across("weights", i), down("V", j)],
  };
  return made[name]?.() ?? [];
}

// ---- in words ------------------------------------------------------------------------------------------------------

const TABLES = {
  x: { role: "ink", formula: ["", "x"], all: "embeddings", one: "Embedding" },
  W_Q: { role: "query", formula: ["x · ", "W_Q"], one: "Query" },
  Q: { role: "query", formula: ["= ", "Q"], all: "queries", one: "Query" },
  W_K: { role: "key", formula: ["x · ", "W_K"], one: "Key" },
  K: { role: "key", formula: ["= ", "K"], all: "keys", one: "Key" },
  W_V: { role: "value", formula: ["x · ", "W_V"], one: "Value" },
  V: { role: "value", formula: ["= ", "V"], all: "values", one: "Value" },
  scores: { role: "ink", formula: ["Q · Kᵀ = ", "scores"], one: "Score" },
  divided: { role: "ink", formula: [" = ", "scaled"], one: "Scaled score" },
  weights: { role: "weight", formula: ["softmax: ", "weights"], one: "Weight" },
  outputs: { role: "output", formula: ["· V = ", "outputs"], one: "Output" },
};
const isMatrix = (name) => name.startsWith("W_");
const isGiven = (name) => name === "x" || isMatrix(name);
const isPairs = (name) => ["scores", "divided", "weights"].includes(name); // a row and a column for each token

// Text in which W_Q and the like have their index below.
function lowered(text) {
  return text.split(/_([QKV])/).map((part, k) => (k % 2 ? make("sub", {}, part) : part));
}

function cellName(labels, name, i, j) {
  if (isMatrix(name)) return `${name}, row ${i + 1}, column ${j + 1}`;
  const of = `${TABLES[name].one} of ${quoted(labels[i])}`;
  return isPairs(name) ? `${of} for ${quoted(labels[j])}` : `${of}, number ${j + 1}`;
}

// How the numbers of a table are written: with as many digits as a cell has room for.
function writer(name, table) {
  const sizes = table.flat().map(Math.abs);
  const most = Math.max(...sizes);
  const digits = sizes.every(Number.isInteger) || most >= 100 ? 0 : most < 10 ? 2 : 1;
  return (value) => {
    if (name === "weights") return share(value, 2);
    if (Math.abs(value) < 9999.5) return fixed(value, digits);
    return value.toExponential(0).replace("e+", "e").replace("-", "−");
  };
}

// The sum behind a cell, as nodes: numbers of at most four decimals, and ≈ where one of them was rounded.
function sumOf(sheet, scaled, name, i, j) {
  let exact = true;
  const number = ([table, row, column]) => {
    const value = sheet[table][row][column];
    const text = String(Number(Math.abs(value) < LARGEST ? value.toFixed(4) : value.toPrecision(5)));
    exact &&= Number(text) === value;
    const attributes = { class: `mt-number mt-${TABLES[table].role}`, "data-value": value };
    return make("span", attributes, text.replace("e+", "e").replaceAll("-", "−"));
  };
  const factor = (cell) => (sheet[cell[0]][cell[1]][cell[2]] < 0 ? ["(", number(cell), ")"] : [number(cell)]);
  const power = (cell) => ["exp(", number(cell), ")"];
  const added = (terms) => terms.flatMap((term, k) => (k ? [" + ", ...term] : term));
  const [left, right] = sources(sheet, name, i, j);
  let sum;
  if (right) sum = added(left.map((cell, k) => [...factor(cell), " × ", ...factor(right[k])]));
  else if (name === "weights") sum = [...power(left[j]), " ÷ (", ...added(left.map(power)), ")"];
  else sum = [number(left[0]), scaled ? ` ÷ √${sheet.K[0].length}` : ", not divided,"];
  const result = number([name, i, j]);
  change(result, { "data-name": "sum" });
  return [...sum, exact ? " = " : " ≈ ", result];
}

// What a number does that can be changed, in place of its sum.
function purpose(name, i, j) {
  const part = `it adds number ${i + 1} of each word to number ${j + 1} of its ${TABLES[name].one.toLowerCase()}`;
  return `${name === "x" ? "it meets all three matrices" : part}. Shift with ↑ or ↓ changes it by 1.`;
}

// ---- what is seen --------------------------------------------------------------------------------------------------

const WAYS = {
  ...{ ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] },
  ...{ Home: [0, -Infinity], End: [0, Infinity] },
};

// Tab comes to a table of cells once, and the arrow keys go from cell to cell; with shift they change a number.
function walk(node, cells) {
  const all = cells.flat();
  const inside = (place, size) => Math.max(0, Math.min(size - 1, place));
  node.addEventListener("focusin", ({ target }) => all.forEach((cell) => (cell.tabIndex = cell === target ? 0 : -1)));
  node.addEventListener("keydown", (event) => {
    const { key, target, shiftKey, ctrlKey, altKey } = event;
    if (!WAYS[key] || altKey || (shiftKey && !target.stepUp)) return;
    event.preventDefault();
    const [down, right] = WAYS[key];
    if (shiftKey) {
      target.stepUp(-down);
      return target.dispatchEvent(new Event("input"));
    }
    const [at, width] = [all.indexOf(target), cells[0].length];
    const row = inside(Math.floor(at / width) + (ctrlKey && !down ? right : down), cells.length);
    const next = cells[row][inside((at % width) + right, width)];
    next.focus();
    next.select?.();
  });
  all.forEach((cell, k) => (cell.tabIndex = k ? -1 : 0));
}

// A number that follows from others.
function follower(attributes) {
  const node = make("span", { role: "gridcell", ...attributes });
  const show = (value, text) => {
    change(node, { "data-value": value, style: `--share: ${100 * value}%` }); // the share is seen in the weights alone
    node.textContent = text;
    node.classList.toggle("mt-long", text.length > 4);
  };
  return { node, show };
}

// A table below its title: cells[i][j] has a node, which can be focused, and show(value, text).
function tableOf(name, labels, numbers, title, edit) {
  const counted = (list) => list.map((_, k) => String(k + 1));
  const [rows, columns] = [isMatrix(name) ? counted(numbers) : labels, isPairs(name) ? labels : counted(numbers[0])];
  const one = (i, j) => {
    const named = { "data-name": `${name}-${i}-${j}` };
    if (!isGiven(name)) return follower(named);
    const attributes = { ...named, step: 1, "aria-label": cellName(labels, name, i, j) };
    const rule = "a number from −1,000,000 to 1,000,000";
    return field(attributes, (value) => Math.abs(value) <= LARGEST, (value) => edit(name, i, j, value), { rule });
  };
  const cells = numbers.map((row, i) => row.map((_, j) => one(i, j)));
  const nodes = cells.map((row) => row.map(({ node }) => node));
  const header = (role, text) => make("span", { role, title: text }, text);
  const framed = (node) => (isGiven(name) ? make("span", { role: "gridcell", class: "mt-frame" }, node) : node);
  const top = [make("span"), ...columns.map((column) => header("columnheader", column))];
  const lines = [top, ...nodes.map((row, i) => [header("rowheader", rows[i]), ...row.map(framed)])];
  const label = `${TABLES[name].formula[1]} ${TABLES[name].all ?? ""}`.trim();
  const grid = make(
    "div",
    { class: "mt-cells", role: "grid", "aria-label": label, style: `--columns: ${columns.length}` },
    ...lines.map((line) => make("div", { role: "row" }, ...line)),
  );
  walk(grid, nodes);
  return { node: make("div", { class: `mt-of-${name} mt-${TABLES[name].role}` }, title, grid), cells };
}

// The most rows or columns of a table.
const longest = (sheet) => Math.max(...Object.values(sheet).map((table) => Math.max(table.length, table[0].length)));

// The columns of x, Q, K and V side by side.
const across = ({ x, Q, K, V }) => [x, Q, K, V].reduce((sum, table) => sum + table[0].length, 0);

function titleOf(name) {
  const { formula, all = "" } = TABLES[name];
  return make("div", { class: "mt-title" }, formula[0], make("b", {}, ...lowered(formula[1])), ` ${all}`);
}

// ---- the buttons ---------------------------------------------------------------------------------------------------

const swapped = (list) => [list.at(-1), ...list.slice(1, -1), list[0]];
const doubled = (value) => (Math.abs(2 * value) > LARGEST ? value : 2 * value);

// What each sets, and what it tells: from the sheet after it and before it, and the labels after it.
const PRESETS = {
  "W_K = W_Q": {
    set: ({ W_Q }) => ({ W_K: W_Q }),
    tell({ scores }, _, labels) {
      const [a, b] = [quoted(labels[0]), quoted(labels.at(-1))];
      const mutual = `${a} for ${b} and ${b} for ${a} are both ${writer("scores", scores)(scores[0].at(-1))}`;
      return `The scores are symmetric now: ${mutual}. The weights need not be: each row is divided by its own sum.`;
    },
  },
  "identity matrices": {
    set: ({ W_Q, W_K, W_V }) => ({ W_Q: identity(W_Q), W_K: identity(W_K), W_V: identity(W_V) }),
    tell({ x, Q, scores, weights }, _, labels) {
      const own = scores.map((row, i) => row[i]);
      const longest = own.indexOf(Math.max(...own));
      const cut = Q[0].length < x[0].length ? `, cut to ${Q[0].length} numbers` : "";
      const most = share(weights[longest][longest], 2);
      const gives = `the longest, ${quoted(labels[longest])}, gives no word more than itself: ${most}`;
      return `Queries and keys are the embeddings${cut}. The diagonal of the scores holds squared lengths; ${gives}.`;
    },
  },
  "double W_Q": {
    set: ({ W_Q }) => ({ W_Q: W_Q.map((row) => row.map(doubled)) }),
    tell({ scores }, past) {
      const all = scores.flat().every((score, k) => score === 2 * past.scores.flat()[k]);
      if (!all) return "Not every number could be doubled: the largest that can stand here is 1,000,000.";
      return "Every score doubled: these are the weights that the old scores have at half the temperature.";
    },
  },
  "swap first and last": {
    set: ({ x, labels }) => ({ labels: swapped(labels), x: swapped(x) }),
    tell({ outputs }, past, labels) {
      const old = swapped(past.outputs).flat();
      const most = fixed(Math.max(...outputs.flat().map((value, k) => Math.abs(value - old[k]))), 3);
      const places = `${quoted(labels.at(-1))} and ${quoted(labels[0])} changed places`;
      return `${places}, and every word kept its output (largest change ${most}): attention does not see their order.`;
    },
  },
};
const GROUPS = [["x", "W_Q", "Q", "W_K", "K", "W_V", "V"], ["scores", "divided", "weights", "outputs"]];
const KEYS = ["labels", "x", "W_Q", "W_K", "W_V", "scaled"];

// The cell whose sum is shown first: the last number, which all steps lead to.
const first = ({ outputs }) => ["outputs", outputs.length - 1, outputs[0].length - 1];

// ---- the whole sheet -----------------------------------------------------------------------------------------------

// The tables, made anew where the labels or the widths are others.
function tablesOf(edit, scale) {
  const node = make("div", { class: "mt-tables" });
  let cells, divide, shape; // of every table; the box for scaled; for which labels and widths they were made
  const build = (labels, sheet) => {
    cells = {};
    divide = box(`÷ √${sheet.K[0].length}`, scale);
    const table = (name) => {
      const title = titleOf(name);
      if (name === "divided") title.prepend(divide.node);
      const made = tableOf(name, labels, sheet[name], title, edit);
      cells[name] = made.cells;
      return made.node;
    };
    node.replaceChildren(...GROUPS.map((names) => make("div", {}, ...names.map(table))));
    node.classList.toggle("mt-small", longest(sheet) <= 3);
    node.classList.toggle("mt-flat", longest(sheet) > 3 && across(sheet) <= 11);
    const wider = (strip) => strip.scrollWidth > strip.clientWidth;
    const reach = (strip) => (wider(strip) ? change(strip, { tabindex: 0 }) : strip.removeAttribute("tabindex"));
    const seen = new ResizeObserver(() => [...node.children].forEach(reach)); // the keyboard scrolls what is wider
    [...node.children].forEach((strip) => seen.observe(strip));
  };
  // Write the numbers, mark those that differ from the sheet before, and count them but for the given ones.
  const draw = ({ labels, scaled }, sheet, before) => {
    const sizes = JSON.stringify([labels, sheet.x[0].length, sheet.K[0].length, sheet.V[0].length]);
    if (sizes !== shape) build(labels, sheet);
    shape = sizes;
    divide.draw(scaled);
    let changed = 0;
    for (const [name, table] of Object.entries(cells)) {
      const [text, values, old] = [writer(name, sheet[name]), sheet[name].flat(), before?.[name].flat()];
      table.flat().forEach((cell, k) => {
        cell.show(values[k], text(values[k]));
        const moved = cell.node.classList.toggle("mt-changed", Boolean(old) && old[k] !== values[k]);
        changed += moved && !isGiven(name);
      });
    }
    return changed;
  };
  const has = ([name, i, j]) => Boolean(cells[name][i]?.[j]);
  // Light a cell and those that it is made of.
  const light = (sheet, here) => {
    const lit = ([table, row, column], kind) => cells[table][row][column].node.classList.add(kind);
    Object.values(cells).flat(2).forEach(({ node }) => node.classList.remove("mt-here", "mt-lit"));
    lit(here, "mt-here");
    sources(sheet, ...here).flat().forEach((cell) => lit(cell, "mt-lit"));
  };
  return { node, draw, has, light };
}

// The line that tells how a number is made, or what it does.
function behindOf() {
  const node = make("p", { class: "mt-behind" });
  const draw = ({ labels, scaled }, sheet, [name, i, j]) => {
    const sum = isGiven(name) ? [purpose(name, i, j)] : sumOf(sheet, scaled, name, i, j);
    node.replaceChildren(make("b", {}, ...lowered(cellName(labels, name, i, j)), ": "), ...sum);
    node.style.setProperty("--terms", longest(sheet));
  };
  return { node, draw };
}

// What there is to tell of a number that was typed, and of scores that are scaled or not.
function edited(labels, [name, i, j], value) {
  const now = `${cellName(labels, name, i, j)}, is ${writer(name, [[value]])(value)} now`;
  return (changed) => `${now}. Numbers that changed with it, each marked in its corner: ${changed}.`;
}
function divided(scaled, width) {
  const root = fixed(Math.sqrt(width), 2);
  if (scaled) return `The scores are divided by ${root}: these are their weights at the temperature ${root}.`;
  return "The scores are taken as they are: these are their weights at the temperature 1.";
}

export default {
  render({ model, el }) {
    const state = () => Object.fromEntries(KEYS.map((key) => [key, model.get(key)]));
    const start = state();
    let sheet, past; // the tables that are shown; those before the reader's change, while it is made
    let changed; // how many numbers followed the last change
    let here; // the cell whose sum is shown
    let tell;

    const set = (changes, told) => {
      [past, tell] = [sheet, told];
      for (const [key, value] of Object.entries(changes)) model.set(key, value);
      draw(); // also where nothing changed
      past = undefined;
      model.save_changes();
    };
    const edit = (name, i, j, value) => {
      const told = edited(model.get("labels"), [name, i, j], value);
      const table = model.get(name).map((row, k) => (k === i ? row.with(j, value) : row));
      set({ [name]: table }, () => told(changed));
    };
    const scale = (scaled) => set({ scaled }, () => divided(scaled, sheet.K[0].length));
    const [tables, behind, speech] = [tablesOf(edit, scale), behindOf(), speaker()];
    const verdict = make("p", { class: "mt-verdict" });
    const point = () => {
      if (!here || !tables.has(here)) here = first(sheet); // at the start, and where its table became smaller
      tables.light(sheet, here);
      behind.draw(state(), sheet, here);
    };
    const draw = () => {
      const last = past ?? sheet;
      sheet = selfAttention(state());
      changed = tables.draw(state(), sheet, last);
      point();
      if (!past) tell = () => HINT; // at first, and where the kernel changed it
      verdict.replaceChildren(...lowered(tell(sheet, last, model.get("labels"))));
      speech.say(verdict.textContent);
    };

    for (const kind of ["mouseover", "focusin"]) {
      tables.node.addEventListener(kind, ({ target }) => {
        const name = target.closest("[data-name]")?.dataset.name;
        if (!name) return;
        const [table, i, j] = name.split("-");
        here = [table, Number(i), Number(j)];
        point();
        if (kind === "focusin") speech.say(behind.node.textContent);
      });
    }
    const buttons = Object.entries(PRESETS).map(([name, preset]) => {
      const node = button("", () => set(preset.set(state()), preset.tell));
      node.append(...lowered(name));
      return node;
    });
    const again = button("start again", () => set(start, () => HINT));
    const controls = make("div", { class: "mt-buttons mt-controls" }, ...buttons, again);
    const nodes = [tables.node, behind.node, verdict, controls, speech.node];
    begin(el, model, KEYS, draw, make("div", { class: "mt-sheet" }, ...nodes));
  },
};
