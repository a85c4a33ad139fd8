// Chapter 6: a sentence grows word by word, and row by row its shares and their mean are seen to move.
import { begin, box, change, fixed, make, numbers, quoted, softmax, speaker } from "../shared/parts.mjs";
import { player } from "../shared/steps.mjs";

const PACE = 900; // milliseconds from word to word when it plays

// ---- the mathematics -----------------------------------------------------------------------------------------------

// For each word so far, the shares that it gives to those that it may see, and the mean of their values.
function look({ scores, values, causal, equal, shown }) {
  return scores.slice(0, shown).map((row, i) => {
    const seen = row.slice(0, causal ? i + 1 : shown).map((score) => (equal ? 0 : score));
    const { weights } = softmax(seen, 1);
    return { weights, mean: weights.reduce((sum, weight, j) => sum + weight * values[j], 0) };
  });
}

// ---- in words ------------------------------------------------------------------------------------------------------

// A share in per cent, which reads as 0 or 100 only where it is that.
function percent(part) {
  const text = fixed(100 * part, 0);
  if (text === "0" && part > 0) return "<1%";
  return text === "100" && part < 1 ? ">99%" : `${text}%`;
}

// What the newest word makes of those before it, and what becomes of the rows above.
function remark({ labels, equal, causal, shown }, rows) {
  const [{ weights, mean }, new_] = [rows[shown - 1], quoted(labels[shown - 1])];
  const most = weights.indexOf(Math.max(...weights));
  const count = `${shown} words`;
  const each = `${new_} shares equally among ${count}, ${percent(weights[0])} each`;
  const own = shown === 1 ? `${new_} sees itself alone` : equal ? each : "";
  const best = `Of ${count}, ${new_} gives ${quoted(labels[most])} the largest share, ${percent(weights[most])}`;
  const row = `${own || best}; the mean is ${fixed(mean, 2)}.`;
  if (shown === 1) return row;
  if (causal) return `${row} No row above has changed.`;
  const given = rows.slice(0, -1).map((other) => other.weights[shown - 1]);
  const up = given.filter((share) => share > 0).length;
  return `${row} No mask: ${up} of ${given.length} rows above changed, with up to ${percent(Math.max(...given))} for ${new_}.`;
}

// ---- the table -----------------------------------------------------------------------------------------------------

const head = (scope, text) => make("th", { scope }, make("span", { class: "mt-word" }, text));
const side = (value) => `left: ${50 + 50 * value}%`; // from −1 on the left to 1 on the right

// A row for each word: the shares that it gives, then its own value and the mean on a line from −1 to 1.
function table(labels, values, poles) {
  const { place, show } = numbers();
  const lines = labels.map((label, i) => {
    const cells = labels.map((_, j) => {
      const said = make("span", { class: "mt-spoken" }, "hidden");
      return { node: make("td", {}, place(`share-${i}-${j}`), said), said };
    });
    const own = make("span", { class: "mt-own", style: side(values[i]) });
    const mean = make("span", { class: "mt-mean" });
    const track = make("div", { class: "mt-rail", "aria-hidden": "true" }, own, mean);
    const end = make("td", {}, make("div", { class: "mt-end" }, track, place(`mean-${i}`)));
    const node = make("tr", {}, head("row", label), ...cells.map((cell) => cell.node), end);
    return { node, cells, mean };
  });
  const [low, high] = poles;
  const scale = make("span", { class: "mt-poles" }, make("span", {}, `−1 ${low}`), make("span", {}, `${high} 1`));
  const top = make("tr", {}, make("td"), ...labels.map((label) => head("col", label)), make("th", { scope: "col" }, scale));
  const unit = make("span", { class: "mt-unit" }, " and in per cent");
  const legend = ["shares as colour", unit, "; ", make("span", { class: "mt-value" }, "○ value"), " of the word, "];
  const caption = make("caption", {}, ...legend, make("span", { class: "mt-output" }, "◆ mean"), " of its row");
  const node = make("table", {}, caption, make("thead", {}, top), make("tbody", {}, ...lines.map((line) => line.node)));
  const draw = ({ causal, shown }, rows) => {
    lines.forEach(({ node, cells, mean }, i) => {
      const there = i < shown;
      node.classList.toggle("mt-there", there);
      node.classList.toggle("mt-new", i === shown - 1);
      cells.forEach((cell, j) => {
        const share = there ? rows[i].weights[j] : undefined;
        const hidden = there && causal && j > i;
        show(`share-${i}-${j}`, share === undefined ? null : 100 * share, share >= 0.005 ? fixed(100 * share, 0) : "");
        cell.node.style.setProperty("--mt-shade", share ?? 0);
        cell.node.classList.toggle("mt-open", share !== undefined);
        cell.node.classList.toggle("mt-hidden", hidden);
        cell.said.hidden = !hidden;
      });
      show(`mean-${i}`, there ? rows[i].mean : null, there ? fixed(rows[i].mean, 2) : "");
      change(mean, { style: side(there ? rows[i].mean : 0) });
    });
  };
  return { node: make("div", { class: "mt-stairs" }, node), draw };
}

export default {
  render({ model, el }) {
    const keys = ["labels", "scores", "values", "poles", "causal", "equal", "shown"];
    const state = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    const set = (shared) => {
      for (const [key, value] of Object.entries(shared)) model.set(key, value);
      model.save_changes();
      draw(); // also where nothing has changed but the button
    };
    const growth = player({ label: "words so far", first: 1, pace: PACE }, (shown) => set({ shown }));
    const causal = box("causal mask", (causal) => set({ causal }));
    const trained = box("the model's scores", (trained) => set({ equal: !trained }));
    const switches = make("div", { class: "mt-switches mt-controls" }, causal.node, trained.node);
    const room = make("div");
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    let [stairs, known] = [null, ""];
    const draw = () => {
      const view = state();
      const made = JSON.stringify([view.labels, view.values, view.poles]);
      if (known !== made) { // also at the start
        stairs = table(view.labels, view.values, view.poles);
        room.replaceChildren(stairs.node);
        known = made;
      }
      const rows = look(view);
      stairs.draw(view, rows);
      causal.draw(view.causal);
      trained.draw(!view.equal);
      const [count, word] = [view.labels.length, view.labels[view.shown - 1]];
      growth.draw(view.shown, count, `${view.shown} of ${count}: ${word}`);
      verdict.textContent = remark(view, rows);
      speech.say(verdict.textContent);
    };
    begin(el, model, keys, draw, make("div", { class: "mt-masks" }, growth.node, switches, verdict, room, speech.node));
  },
};
