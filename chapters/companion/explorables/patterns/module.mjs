// Chapter 22: where every head of a model looks, in one text, as a sheet of small patterns of which one is opened.
import { begin, box, change, make, numbers, percent, share, slider, speaker } from "../shared/parts.mjs";

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const KEYS = ["labels", "layers", "heads", "weights", "layer", "head", "first"];

// ---- the mathematics -----------------------------------------------------------------------------------------------

// The weights of one head, a row for each token, from the digits in which all are written, 0 to 63 for 0 to 1.
function pattern({ labels, heads, weights }, layer, head) {
  const n = labels.length;
  let at = (((layer - 1) * heads + head) * n * (n + 1)) / 2;
  return labels.map((_, i) => labels.slice(0, i + 1).map(() => DIGITS.indexOf(weights[at++]) / 63));
}

const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value) / values.length : 0);

// What goes, on average, to the first token, to the one before, and to what followed the last like of a token.
function scores(labels, rows) {
  const likes = labels.map((label, i) => labels.lastIndexOf(label, i - 1)).map((like, i) => (i ? like : -1));
  const asks = rows.filter((_, i) => likes[i] >= 0).map((row) => row[likes[row.length - 1] + 1]);
  return {
    first: mean(rows.slice(1).map((row) => row[0])),
    before: mean(rows.slice(2).map((row) => row.at(-2))),
    followed: mean(asks),
  };
}

// The largest weight that is shaded: of all, or of those that do not go to the first token.
function most(rows, first) {
  return Math.max(1 / 63, ...rows.flatMap((row, i) => (first ? row : row.slice(i ? 1 : 0))));
}

// ---- what is seen --------------------------------------------------------------------------------------------------

// All heads, a column for each layer, in white whose opacity is the weight, and which the sheet's style takes from the
// paper, so that it is dark on light and light on dark; a pointer opens the head that it is at.
function sheet(open) {
  const [canvas, mark] = [make("canvas"), make("i")];
  const node = make("div", { class: "mt-sheet-of-heads", "aria-hidden": "true" }, canvas, mark);
  let made = "";
  const draw = (state) => {
    const { labels, layers, heads, weights, layer, head, first } = state;
    const step = labels.length + 1; // a line of pixels between two patterns
    const known = JSON.stringify([labels.length, layers, heads, weights, first]);
    if (known !== made) {
      change(canvas, { width: layers * step, height: heads * step });
      const context = canvas.getContext("2d");
      for (let l = 1; l <= layers; l++) for (let h = 0; h < heads; h++) {
        const rows = pattern(state, l, h);
        const top = most(rows, first);
        const image = context.createImageData(step - 1, step - 1);
        rows.forEach((row, i) => row.forEach((weight, j) => {
          const shade = j || first ? 255 * Math.min(1, weight / top) : 0;
          image.data.set([255, 255, 255, shade], 4 * (i * (step - 1) + j));
        }));
        context.putImageData(image, (l - 1) * step, h * step);
      }
      made = known;
    }
    const size = `left: ${(100 * (layer - 1)) / layers}%; top: ${(100 * head) / heads}%; `;
    change(mark, { style: `${size}width: ${100 / layers}%; height: ${100 / heads}%` });
  };
  canvas.addEventListener("click", ({ offsetX, offsetY }) => {
    const { layers, heads } = open();
    const part = (at, whole, count) => Math.max(0, Math.min(count - 1, Math.floor((at * count) / whole)));
    open(part(offsetX, canvas.clientWidth, layers) + 1, part(offsetY, canvas.clientHeight, heads));
  });
  return { node, draw };
}

// The head that is open: a row for each token, with the shares that it gives.
function table(labels) {
  const { place, show } = numbers();
  const spoken = (part) => make("span", { class: "mt-spoken" }, part); // shades for the eye, numbers for the ear
  const lines = labels.map((label, i) => {
    const cells = labels.slice(0, i + 1).map((_, j) => make("td", {}, spoken(place(`weight-${i}-${j}`))));
    const rest = labels.slice(i + 1).map(() => make("td", { class: "mt-later" }));
    const name = make("th", { scope: "row" }, make("span", { class: "mt-word" }, label));
    return { cells, node: make("tr", {}, name, ...cells, ...rest) };
  });
  const columns = labels.map((label) => make("th", { scope: "col" }, spoken(label)));
  const top = make("thead", {}, make("tr", {}, make("td"), ...columns));
  const caption = make("caption", { class: "mt-spoken" }, "weights of the open head in per cent, a row for each token");
  const node = make("table", { class: "mt-opened" }, caption, top, make("tbody", {}, ...lines.map((line) => line.node)));
  const draw = (rows, first) => {
    const full = most(rows, first);
    lines.forEach(({ cells }, i) => cells.forEach((cell, j) => {
      show(`weight-${i}-${j}`, 100 * rows[i][j], percent(rows[i][j], 0));
      cell.style.setProperty("--mt-shade", j || first ? Math.min(1, rows[i][j] / full) : 0);
      cell.classList.toggle("mt-left-out", !j && !first);
    }));
  };
  return { node, draw };
}

export default {
  render({ model, el }) {
    const state = () => Object.fromEntries(KEYS.map((key) => [key, model.get(key)]));
    const set = (values) => {
      for (const [key, value] of Object.entries(values)) model.set(key, value);
      model.save_changes();
    };
    const open = (layer, head) => (layer === undefined ? state() : set({ layer, head }));
    const [all, { place, show }, speech] = [sheet(open), numbers(), speaker()];
    const layer = slider({ min: 1, "aria-label": "layer" }, (layer) => set({ layer }));
    const head = slider({ min: 0, "aria-label": "head" }, (head) => set({ head }));
    const first = box("show the first token", (first) => set({ first }));
    const named = make("strong");
    const facts = [" of its weight go to the first token, ", " to the token before, ", " to what followed its like."];
    const parts = ["first", "before", "followed"].flatMap((name, i) => [place(name), facts[i]]);
    const verdict = make("p", { class: "mt-verdict" }, named, ": ", ...parts);
    const room = make("div");
    let [opened, made] = [null, ""];
    const draw = () => {
      const now = state();
      if (made !== JSON.stringify(now.labels)) {
        opened = table(now.labels);
        room.replaceChildren(opened.node);
        made = JSON.stringify(now.labels);
      }
      change(layer, { max: now.layers });
      change(head, { max: now.heads - 1 });
      [layer.value, head.value] = [now.layer, now.head];
      change(layer, { "aria-valuetext": `layer ${now.layer} of ${now.layers}` });
      change(head, { "aria-valuetext": `head ${now.head}` });
      first.draw(now.first);
      const rows = pattern(now, now.layer, now.head);
      all.draw(now);
      opened.draw(rows, now.first);
      named.textContent = `Head ${now.layer}.${now.head}`;
      for (const [name, part] of Object.entries(scores(now.labels, rows))) show(name, part, share(part, 2));
      speech.say(verdict.textContent);
    };
    const line = (text, input) => make("label", {}, make("span", {}, text), input);
    const controls = make("div", { class: "mt-which mt-controls" }, line("layer", layer), line("head", head), first.node);
    begin(el, model, KEYS, draw, make("div", { class: "mt-patterns" }, all.node, controls, verdict, room, speech.node));
  },
};
