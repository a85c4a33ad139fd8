// Chapter 6: who may look at whom.
import {
  begin, box, brief, button, change, dial, entropy, entry, field, fixed, fold, make, numbers, quoted, share,
  softmax, speaker,
} from "../shared/parts.mjs";

const HOTTEST = 20; // the slider goes from T = 1/20 to T = 20, with T = 1 in the middle
const RAISE = 2; // what a button adds to every hidden score

// ---- the mathematics -----------------------------------------------------------------------------------------------

// keep[i][j] tells whether token i may look at token j.
function mask({ labels, causal, padded, left }) {
  const real = (j) => (left ? j >= padded : j < labels.length - padded);
  return labels.map((_, i) => labels.map((_, j) => real(j) && (!causal || j <= i)));
}

// The softmax of a row of scores, with its steps.  The wrong way hides nothing before it, and zeroes weights after it.
function weigh(scores, keep, { temperature, wrong }) {
  const found = softmax(scores.map((score, j) => (wrong || keep[j] ? score : -Infinity)), temperature);
  const weights = found.weights.map((weight, j) => (wrong && !keep[j] ? 0 : weight));
  const sum = weights.reduce((sum, weight) => sum + weight);
  const empty = !keep.includes(true);
  return { ...found, weights, sum, empty, broken: !empty && Math.abs(sum - 1) > 1e-9 };
}

// Twelve digits, so that 0.3 + 2 is written 2.3; and never infinite.
const raised = (score) => Number(Math.min(1e308, score + RAISE).toPrecision(12));

// ---- in words ------------------------------------------------------------------------------------------------------

// Which cells are hidden, and what that does to the rows.
function remark({ labels, causal, padded, left }, rows) {
  const broken = rows.filter((row) => row.broken);
  if (broken.length) {
    const worst = broken.reduce((worst, row) => (row.sum < worst.sum ? row : worst));
    const sums = `the row of ${quoted(labels[rows.indexOf(worst)])} sums to ${share(worst.sum, 2)}`;
    return `Wrong: ${sums}. What is hidden still counts, in the sum that divides.`;
  }
  const columns = `the ${left ? "first" : "last"} ${padded === 1 ? "column" : `${padded} columns`}`;
  const past = "Causal: each row sees itself and what came before it.";
  const real = `Padding: no row sees ${columns}; the padding's own rows are there, and nobody reads them.`;
  const both = `Both: each row sees itself and what came before it, but not ${columns}.`;
  const all = "Nothing is hidden: every row shares one whole among all columns.";
  const empty = rows.filter((row) => row.empty).length;
  const none = ` ${empty} ${empty === 1 ? "row sees" : "rows see"} nothing: in this book, all weights are then 0.`;
  return (causal ? (padded ? both : past) : padded ? real : all) + (empty ? none : "");
}

// ---- the switches --------------------------------------------------------------------------------------------------

// How many tokens are padding, with a button on either side of the number.
function stepper(most, move) {
  const { place, show } = numbers();
  let now;
  const step = (sign, by, name) => {
    const node = button(sign, () => now + by >= 0 && now + by <= most && move(now + by));
    change(node, { "aria-label": name });
    return node;
  };
  const [less, more] = [step("−", -1, "less padding"), step("+", 1, "more padding")];
  const node = make("div", { class: "mt-stepper" }, less, place("padded"), more, "tokens of padding");
  const draw = (padded) => {
    now = padded;
    show("padded", padded, padded);
    change(less, { "aria-disabled": padded === 0 }); // a button that is disabled would lose the focus
    change(more, { "aria-disabled": padded === most });
  };
  return { node, draw };
}

function switches(most, set) {
  const causal = box("causal", (causal) => set({ causal }));
  const wrong = box("mask after the softmax (wrong)", (wrong) => set({}, { wrong }));
  const padded = stepper(most, (padded) => set({ padded }));
  const left = box("padding on the left", (left) => set({}, { left }));
  const nodes = [causal, wrong, padded, left].map((each) => each.node);
  const node = make("div", { class: "mt-switches mt-controls" }, ...nodes);
  const draw = (view) => {
    causal.draw(view.causal);
    wrong.draw(view.wrong);
    padded.draw(view.padded);
    left.draw(view.left);
  };
  return { node, draw };
}

// ---- the tables ----------------------------------------------------------------------------------------------------

const title = (text) => make("th", { scope: "col" }, text);
const role = (name, text) => make("span", { class: `mt-${name}` }, text);

// All weights: rows are queries, columns are keys.  What is hidden is crossed out for the eye, and said for the ear.
function heat(labels, choose) {
  const { place, show } = numbers();
  const lines = labels.map((label, i) => {
    const cells = labels.map((_, j) => {
      const said = make("span", { class: "mt-spoken" }, "hidden");
      return { node: make("td", {}, place(`weight-${i}-${j}`), said), said };
    });
    const press = make("button", { type: "button" }, role("word", label));
    const head = make("th", { scope: "row" }, press);
    const node = make("tr", {}, head, ...cells.map((cell) => cell.node), make("td", {}, place(`sum-${i}`)));
    node.addEventListener("click", () => choose(i));
    return { node, press, cells };
  });
  const [queries, keys] = [role("query", "queries"), role("key", "keys")];
  const caption = make("caption", {}, "rows: ", queries, ", columns: ", keys);
  const top = make("tr", {}, make("td"), ...labels.map((label) => title(role("word", label))), title("sum"));
  const body = make("tbody", {}, ...lines.map((line) => line.node));
  const node = make("div", { class: "mt-heat" }, make("table", {}, caption, make("thead", {}, top), body));
  const draw = ({ chosen }, keep, rows) => {
    lines.forEach(({ node, press, cells }, i) => {
      const { weights, sum, broken } = rows[i];
      cells.forEach((cell, j) => {
        show(`weight-${i}-${j}`, weights[j], keep[i][j] ? share(weights[j], 2) : "");
        cell.node.style.setProperty("--mt-shade", weights[j]);
        cell.node.classList.toggle("mt-hidden", !keep[i][j]);
        cell.said.hidden = keep[i][j];
      });
      show(`sum-${i}`, sum, broken ? share(sum, 2) : fixed(sum, 0));
      node.classList.toggle("mt-broken", broken);
      node.classList.toggle("mt-chosen", i === chosen);
      change(press, { "aria-pressed": i === chosen });
    });
  };
  return { node, draw };
}

// The sums of the row that is chosen; its scores can be typed.
function sums(labels, move) {
  const { place, show } = numbers();
  const chosen = role("query", "");
  const lines = labels.map((label, j) => {
    const named = { "aria-label": `score for ${label}`, "data-name": `score-${j}` };
    const score = field(named, () => true, (value) => move(j, value));
    const said = make("span", { class: "mt-spoken" }, "hidden");
    const head = make("th", { scope: "row" }, role("word", label), said);
    const cells = [score.node, place(`amount-${j}`), place(`part-${j}`)].map((part) => make("td", {}, part));
    return { node: make("tr", {}, head, ...cells), score, said };
  });
  const caption = make("caption", {}, "row of ", chosen, ", with m, the largest score that counts");
  const top = make("tr", {}, make("td"), ...["score s", "exp((s − m)/T)", "weight"].map(title));
  const line = (name, ...parts) => {
    return make("tr", {}, make("th", { scope: "row" }, name), ...parts.map((part) => make("td", {}, part)));
  };
  const foot = make("tfoot", {}, line("m", place("top"), "", ""), line("sum", "", place("total"), place("whole")));
  const body = make("tbody", {}, ...lines.map((line) => line.node));
  const node = make("table", { class: "mt-sums" }, caption, make("thead", {}, top), body, foot);
  const draw = ({ chosen: i, scores }, keep, rows) => {
    const { top, amounts, total, weights, sum, broken } = rows[i];
    chosen.textContent = labels[i];
    lines.forEach(({ node, score, said }, j) => {
      node.classList.toggle("mt-hidden", !keep[i][j]);
      said.hidden = keep[i][j];
      score.show(scores[i][j]);
      show(`amount-${j}`, amounts[j], fixed(amounts[j], 3));
      show(`part-${j}`, weights[j], share(weights[j], 3));
    });
    show("top", top === -Infinity ? null : top, top === -Infinity ? "none" : brief(top, 2));
    show("total", total, fixed(total, 3));
    show("whole", sum, broken ? share(sum, 3) : fixed(sum, 3));
  };
  return { node, draw };
}

function facts() {
  const { place, show } = numbers();
  const node = make(
    "dl",
    {},
    entry("hidden cells", place("hidden"), " of ", place("cells")),
    entry("mean entropy of a row", place("entropy")),
    entry("with nothing hidden", place("entropy-free")),
  );
  const mean = (rows) => rows.reduce((sum, row) => sum + entropy(row.weights) / rows.length, 0);
  const draw = ({ scores, temperature }, keep, rows) => {
    const [now, free] = [mean(rows), mean(scores.map((row) => softmax(row, temperature)))];
    const hidden = keep.flat().filter((kept) => !kept).length;
    const known = !rows.some((row) => row.broken); // shares that are no shares of 1 have no entropy
    show("entropy", known ? now : null, known ? `${fixed(now, 2)} nats` : "undefined");
    show("entropy-free", free, `${fixed(free, 2)} nats`);
    show("hidden", hidden, hidden);
    show("cells", rows.length ** 2, rows.length ** 2);
  };
  return { node, draw };
}

export default {
  render({ model, el }) {
    const keys = ["scores", "causal", "padded", "temperature"];
    const labels = model.get("labels");
    const state = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    const start = state();
    const alone = { left: false, wrong: false, chosen: 1 }; // what is not shared with a kernel
    let own = alone;
    let news = ""; // what the last button did, until something else moves
    const set = (shared, mine = {}, told = "") => {
      own = { ...own, ...mine };
      news = told;
      for (const [key, value] of Object.entries(shared)) model.set(key, value);
      model.save_changes();
      draw(); // also where nothing is shared
    };
    const look = () => {
      const view = { labels, ...state(), ...own };
      const keep = mask(view);
      return { view, keep, rows: view.scores.map((row, i) => weigh(row, keep[i], view)) };
    };

    const scored = (j, score) => {
      const scores = model.get("scores");
      set({ scores: scores.with(own.chosen, scores[own.chosen].with(j, score)) });
    };
    const heated = { title: ["temperature ", make("i", {}, "T")], label: "temperature", middle: 1, range: HOTTEST };
    const words = ["0.05, cold", "1", "20, hot"];
    const warmth = dial({ ...heated, words }, (temperature) => set({ temperature }));
    const panel = switches(labels.length - 1, set);
    const [all, one, list] = [heat(labels, (chosen) => set({}, { chosen })), sums(labels, scored), facts()];
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const draw = () => {
      const { view, keep, rows } = look();
      panel.draw(view);
      warmth.draw(view.temperature);
      all.draw(view, keep, rows);
      one.draw(view, keep, rows);
      list.draw(view, keep, rows);
      verdict.textContent = news || remark(view, rows);
      const i = view.chosen;
      const told = rows[i].weights.map((weight, j) => (keep[i][j] ? share(weight, 2) : "hidden"));
      speech.say(`The row of ${quoted(labels[i])}: ${told.join(", ")}. ${verdict.textContent}`);
    };

    const raise = () => {
      const { view, keep, rows } = look();
      const scores = view.scores.map((row, i) => row.map((score, j) => (keep[i][j] ? score : raised(score))));
      const after = scores.map((row, i) => weigh(row, keep[i], view).weights);
      const changes = after.flatMap((row, i) => row.map((weight, j) => Math.abs(weight - rows[i].weights[j])));
      const largest = fixed(Math.max(...changes), 3);
      const told = `Every hidden score rose by ${RAISE}. The largest change of a weight is ${largest}.`;
      set({ scores }, {}, keep.flat().includes(false) ? told : "Nothing is hidden yet: switch a mask on.");
    };
    const buttons = [button("raise the hidden scores", raise), button("start again", () => set(start, alone))];
    const controls = make("div", { class: "mt-buttons mt-controls" }, ...buttons);
    const row = fold("the marked row in numbers", one.node);
    const nodes = [panel.node, warmth.node, all.node, row, list.node, verdict, controls, speech.node];
    begin(el, model, keys, draw, make("div", { class: "mt-masks" }, ...nodes));
  },
};
