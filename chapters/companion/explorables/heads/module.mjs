// Chapter 7: how one matrix becomes many heads, and one again.
import {
  begin, box, brief, button, change, fixed, make, quoted, share, slider, softmax, speaker,
} from "../shared/parts.mjs";

const LAST = 5; // steps are counted from 0
const LINES = ["solid", "dashed", "dotted", "double"]; // below the numbers of the heads, in turn
const WAY = 450; // milliseconds in which numbers go to their new places

// ---- the mathematics, as NumPy does it -----------------------------------------------------------------------------

// The same entries in the same order, cut into `blocks` blocks of `rows` rows.
function reshape(entries, blocks, rows) {
  const width = entries.length / (blocks * rows);
  const row = (k) => entries.slice(k * width, (k + 1) * width);
  return Array.from({ length: blocks }, (_, i) => Array.from({ length: rows }, (_, j) => row(i * rows + j)));
}

const swapAxes = (blocks) => blocks[0].map((_, j) => blocks.map((block) => block[j]));
const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

// A table for each head, in which every token has a row.  The wrong way reshapes to that shape, and swaps nothing.
function split(x, heads, wrong) {
  return wrong ? reshape(x.flat(), heads, x.length) : swapAxes(reshape(x.flat(), x.length, heads));
}

function merge(blocks, wrong) {
  return reshape((wrong ? blocks : swapAxes(blocks)).flat(2), 1, blocks[0].length)[0];
}

// The scores, weights and outputs of each head.
function attend({ queries, keys, values, heads }, wrong) {
  const [Q, K, V] = [queries, keys, values].map((x) => split(x, heads, wrong));
  const root = Math.sqrt(Q[0][0].length);
  const scores = Q.map((block, h) => block.map((query) => K[h].map((key) => dot(query, key) / root)));
  const weights = scores.map((block) => block.map((row) => softmax(row, 1).weights));
  const mixed = (row, block) => block[0].map((_, j) => dot(row, block.map((value) => value[j])));
  return { scores, weights, outputs: weights.map((block, h) => block.map((row) => mixed(row, V[h]))) };
}

// ---- in words ------------------------------------------------------------------------------------------------------

const TITLES = ["one matrix", "split each row", "swap the axes", "look", "mix the values", "merge"];
const shape = (...sizes) => `(${sizes.join(", ")})`;

// The largest difference of two arrays.
function apart(one, other) {
  const numbers = other.flat(2);
  return fixed(Math.max(...one.flat(2).map((value, k) => Math.abs(value - numbers[k]))), 2);
}

// Where two heads look, as far as it differs.
function looks(labels, weights) {
  const best = weights.map((block) => block.map((row) => row.indexOf(Math.max(...row))));
  for (let h = 1; h < best.length; h++) {
    const i = labels.findIndex((_, i) => best[h][i] !== best[0][i]);
    const at = (k) => `most at ${quoted(labels[best[k][i]])} in head ${k + 1}`;
    if (i >= 0) return `${quoted(labels[i])} looks ${at(0)} and ${at(h)}.`;
  }
  return best.length > 1 ? "Here all heads look most at the same tokens." : "One head has one way of looking.";
}

// What a step does, with its code.
function sentence({ labels, queries, heads, step }, wrong, right, found) {
  const [n, d] = [labels.length, queries[0].length];
  const [w, split] = [d / heads, shape(heads, n, d / heads)];
  const [a, b] = labels.map(quoted);
  if (wrong && heads === 1 && step > 0) return "With one head there is nothing to swap: both ways are the same.";
  const fine = "the shape is right and no error is raised";
  const told = [
    `Q has ${d} numbers for each of ${n} tokens. The heads will share its columns, ${w} each, and those of K and V.`,
    `Q.reshape${shape(n, heads, w)} splits the row of each token into a piece for each head. K and V are split alike.`,
    `Then .swapaxes(0, 1) gives ${split}: a table for each head, in which every token has one row.`,
    `Each head has its own scores, q · k / √${w} (small), and their softmax. ${looks(labels, found.weights)}`,
    `Each head mixes its own columns of V with its own weights: ${heads} outputs of ${n} tokens, ${w} numbers wide.`,
    `At last .swapaxes(0, 1).reshape${shape(n, d)} puts the heads of each token side by side, as wide as Q was.`,
  ];
  const weights = `These weights differ from the right ones by up to ${apart(found.weights, right.weights)}.`;
  const outputs = `the outputs differ from the right ones by up to ${apart(found.outputs, right.outputs)}`;
  const toldWrong = [
    told[0],
    `Wrong: Q.reshape${split} at once; ${fine}. But the row of ${b} in head 1 is a piece of ${a}, as its numbers tell.`,
    `Wrong: nothing is swapped; ${fine}. But two pieces of ${a} pass for ${a} and ${b} in head 1.`,
    `Wrong, and it does not show: each row sums to 1, and no error is raised. ${weights}`,
    `Wrong: ${fine}, but ${outputs}.`,
    `Wrong: .reshape${shape(n, d)} alone; ${fine}. It even undoes the wrong split, so that a round trip finds nothing.`,
  ];
  return (wrong ? toldWrong : told)[step];
}

// ---- the tables of each step ---------------------------------------------------------------------------------------

// Numbers with their origin: the token and the feature that they belong to.
const tagged = (table) => table.map((row, token) => row.map((value, feature) => ({ value, token, feature })));

// For each step, its tables: { title, rows, groups or columns, cells }.
function stepsOf({ labels, queries, heads }, wrong, { scores, weights, outputs }) {
  const w = queries[0].length / heads;
  const names = queries[0].slice(0, heads).map((_, h) => `head ${h + 1}`);
  const posed = wrong && heads > 1 ? labels.map((label) => `${label}?`) : labels; // what the rows are taken for
  const perHead = (blocks) => blocks.map((cells, h) => ({ title: names[h], rows: posed, cells }));
  const whole = (title, rows, cells) => [{ title, rows, groups: names, cells }];
  const Q = tagged(queries);
  const cut = reshape(Q.flat(), labels.length, heads).map((cells, i) => ({ title: labels[i], rows: names, cells }));
  const each = (blocks, cell) => blocks.map((block, h) => block.map((row, i) => row.map((v, j) => cell(v, h, i, j))));
  const heat = each(scores, (score, h, i, j) => ({ value: weights[h][i][j], score }));
  const made = each(outputs, (value, h, token, j) => ({ value, token, feature: h * w + j }));
  return [
    whole("Q", labels, Q),
    wrong ? perHead(split(Q, heads, wrong)) : cut,
    perHead(split(Q, heads, wrong)),
    perHead(heat).map((table) => ({ ...table, columns: posed })),
    perHead(made),
    whole("outputs", posed, merge(made, wrong)),
  ];
}

// How the numbers of a step are written: with two decimals, or fewer where these say it all.
function writer(values) {
  const digits = [0, 1].find((digits) => values.every((value) => Number(value.toFixed(digits)) === value)) ?? 2;
  return (value) => brief(value, digits);
}

// A number on a chip in the shade of its head, with its origin; or a weight, with its score.
function chip(cell, name, { labels, queries, heads, written, kind }) {
  const number = make("span", { class: "mt-number", "data-name": name, "data-value": cell.value });
  if ("score" in cell) {
    const { value, score } = cell;
    number.append(share(value, 2));
    const small = make("small", { "data-name": `score-${name}`, "data-value": score }, brief(score, 2));
    return make("div", { class: "mt-chip mt-shaded", style: `--share: ${100 * value}%` }, number, small);
  }
  const { value, token, feature } = cell;
  const head = Math.floor((feature * heads) / queries[0].length);
  const style = `--head: ${head / Math.max(heads - 1, 1)}; --line: ${LINES[head % LINES.length]}`;
  const origin = { "data-origin": `${kind} ${token} ${feature}`, title: `${labels[token]}, feature ${feature + 1}` };
  const small = make("small", {}, make("span", {}, labels[token]), ` ${feature + 1}`);
  number.append(written(value));
  return make("div", { class: "mt-chip", style, ...origin }, number, small);
}

function tableOf({ title, rows, columns, groups, cells }, name, look) {
  const header = (scope, text, span = 1) => make("th", { scope, title: text, colspan: span }, text);
  const wide = cells[0].length / (groups?.length ?? 1);
  const top = columns?.map((text) => header("col", text)) ?? groups?.map((text) => header("colgroup", text, wide));
  const lines = cells.map((row, i) => {
    const chips = row.map((cell, j) => make("td", {}, chip(cell, `${name}-${i}-${j}`, look)));
    return make("tr", {}, header("row", rows[i]), ...chips);
  });
  const head = top ? [make("thead", {}, make("tr", {}, make("td"), ...top))] : [];
  return make("table", {}, make("caption", {}, title), ...head, make("tbody", {}, ...lines));
}

// The tables of every step, one of which is shown.
function panelsOf(state, wrong, found) {
  return stepsOf(state, wrong, found).map((tables, step) => {
    const cells = tables.flatMap((table) => table.cells.flat());
    const look = { ...state, written: writer(cells.map((cell) => cell.value)), kind: step < 3 ? "query" : "output" };
    const nodes = tables.map((table, t) => tableOf(table, `${wrong ? "wrong" : "right"}-${step}-${t}`, look));
    const attributes = { role: "group", "aria-label": `tables of step ${step}` };
    return make("div", { class: `mt-panel mt-step-${step}`, ...attributes }, ...nodes);
  });
}

// ---- what is seen --------------------------------------------------------------------------------------------------

// Where the numbers are that are shown now, by their origin.
function places(stage) {
  const chips = [...stage.querySelectorAll(".mt-now [data-origin]")];
  return chips.map((node) => ({ node, origin: node.dataset.origin, ...node.getBoundingClientRect().toJSON() }));
}

// Let them go there from where they were, for those who like that.
function glide(stage, before) {
  if (!before.length || matchMedia("(prefers-reduced-motion: reduce)").matches) return; // at first there is no way
  for (const { node, origin, left, top } of places(stage)) {
    const from = before.find((place) => place.origin === origin);
    if (!from) continue;
    const start = { transform: `translate(${from.left - left}px, ${from.top - top}px)` };
    node.animate([start, { transform: "none" }], { duration: WAY, easing: "ease-in-out" });
  }
}

// The numbers of heads that divide the width, to choose from.
function choice(width, choose) {
  const divisors = Array.from({ length: width }, (_, k) => k + 1).filter((heads) => width % heads === 0);
  const options = divisors.map((heads) => make("option", {}, heads));
  const list = make("select", { "aria-label": "number of heads" }, ...options);
  list.addEventListener("change", () => choose(Number(list.value)));
  return { node: make("label", { class: "mt-choice" }, "heads", list), draw: (heads) => (list.value = heads) };
}

// Back, a slider and next.
function stepper(get, go) {
  const range = slider({ min: 0, max: LAST, step: 1, "aria-label": "step" }, go);
  const turn = (name, by) => button(name, () => get() + by >= 0 && get() + by <= LAST && go(get() + by));
  const [back, next] = [turn("back", -1), turn("next", 1)];
  const draw = (step) => {
    range.value = step;
    change(range, { "aria-valuetext": `${step} of ${LAST}, ${TITLES[step]}` });
    change(back, { "aria-disabled": step === 0 }); // a button that is disabled would lose the focus
    change(next, { "aria-disabled": step === LAST });
  };
  return { node: make("div", { class: "mt-steps mt-controls" }, back, range, next), draw };
}

export default {
  render({ model, el }) {
    const keys = ["labels", "queries", "keys", "values", "heads", "step"];
    const set = (key, value) => {
      model.set(key, value);
      model.save_changes();
    };
    const steps = stepper(() => model.get("step"), (step) => set("step", step));
    const heads = choice(model.get("queries")[0].length, (heads) => set("heads", heads));
    let wrong = false; // whether nothing is swapped, which the kernel does not know
    const swapless = box("reshape without swapping (wrong)", (ticked) => {
      wrong = ticked;
      draw();
    });
    const turn = button("turn the words round", () => {
      for (const key of ["labels", "values"]) model.set(key, [...model.get(key)].reverse()); // not what they ask for
      model.save_changes();
    });
    const title = make("b");
    const verdict = make("p", { class: "mt-verdict" });
    const stage = make("div", { class: "mt-stage" });
    const speech = speaker();
    let panels, built; // of the right way and of the wrong way; the state without its step, for which they were made

    const draw = () => {
      const now = Object.fromEntries(keys.map((key) => [key, model.get(key)]));
      const { step } = now;
      const before = places(stage);
      const [right, scrambled] = [attend(now, false), attend(now, true)];
      const data = JSON.stringify({ ...now, step: 0 });
      if (data !== built) {
        built = data;
        panels = [panelsOf(now, false, right), panelsOf(now, true, scrambled)];
        stage.replaceChildren(...panels.flat());
      }
      for (const panel of panels.flat()) {
        const shown = panel === panels[Number(wrong)][step];
        panel.classList.toggle("mt-now", shown);
        panel.tabIndex = shown ? 0 : -1; // it can be scrolled where it is wide
      }
      glide(stage, before);
      steps.draw(step);
      heads.draw(now.heads);
      title.textContent = `Step ${step} of ${LAST}: ${TITLES[step]}`;
      verdict.textContent = sentence(now, wrong, right, wrong ? scrambled : right);
      speech.say(`${title.textContent}. ${verdict.textContent}`);
    };

    const settings = make("div", { class: "mt-settings mt-controls" }, heads.node, turn, swapless.node);
    const nodes = [steps.node, settings, title, verdict, stage, speech.node];
    begin(el, model, keys, draw, make("div", { class: "mt-heads" }, ...nodes));
  },
};
