// Chapter 1: a window slides over a text and fills the table of neighbours.
import { begin, box, change, fixed, make, numbers, quoted, slider, speaker } from "../shared/parts.mjs";

// ---- the mathematics -----------------------------------------------------------------------------------------------

// The places that a word meets, left and right, in its own sentence.
function met(sentences, window, place) {
  let first = 0;
  for (const { length } of sentences) {
    if (place < first + length) {
      const places = Array.from({ length }, (_, i) => first + i);
      return places.filter((other) => other !== place && Math.abs(other - place) <= window);
    }
    first += length;
  }
}

// How often each word has met each, when the window has come to a place.
function count(sentences, words, window, place) {
  const text = sentences.flat();
  const table = words.map(() => words.map(() => 0));
  for (let i = 0; i <= place; i++) {
    for (const j of met(sentences, window, i)) table[words.indexOf(text[i])][words.indexOf(text[j])]++;
  }
  return table;
}

const sum = (row) => row.reduce((total, value) => total + value, 0);

// Positive pointwise mutual information: ln of a count over what chance would give, 0 where that is below 0.
function ppmi(table) {
  const [rows, total] = [table.map(sum), sum(table.flat())];
  const columns = table[0].map((_, j) => sum(table.map((row) => row[j])));
  const weigh = (value, i, j) => (value ? Math.max(0, Math.log((value * total) / (rows[i] * columns[j]))) : 0);
  return table.map((row, i) => row.map((value, j) => weigh(value, i, j)));
}

// ---- what is seen --------------------------------------------------------------------------------------------------

// A row for each word and a column for each neighbour.
function grid(words) {
  const { place, show } = numbers();
  const head = (scope, word) => make("th", { scope }, make("span", {}, word));
  const cells = words.map((_, i) => words.map((_, j) => make("td", {}, place(`cell-${i}-${j}`))));
  const lines = words.map((word, i) => make("tr", {}, head("row", word), ...cells[i]));
  const top = make("tr", {}, make("td"), ...words.map((word) => head("col", word)));
  const caption = make("caption");
  const draw = (table, weighed, row, columns) => {
    const most = Math.max(...table.flat()) || 1;
    caption.textContent = `${weighed ? "PPMI" : "counts"}: a row for each word, a column for each neighbour`;
    cells.forEach((line, i) => {
      lines[i].classList.toggle("mt-row", i === row);
      line.forEach((cell, j) => {
        const value = table[i][j];
        show(`cell-${i}-${j}`, value, value ? fixed(value, weighed ? 1 : 0) : "");
        cell.classList.toggle("mt-met", i === row && columns.includes(j));
        change(cell, { style: `--mt-shade: ${value / most}` });
      });
    });
  };
  return { node: make("table", {}, caption, top, ...lines), draw };
}

export default {
  render({ model, el }) {
    const split = () => model.get("sentences").map((sentence) => sentence.split(" "));
    const set = (key) => (value) => {
      model.set(key, value);
      model.save_changes();
    };
    const range = slider({ min: 1, "aria-label": "place" }, set("place"));
    const reach = slider({ min: 1, max: 4, "aria-label": "words to each side" }, set("window"));
    const tick = box("weigh as PPMI", set("weighed"));
    const named = (text, input) => make("label", { class: "mt-named" }, make("span", {}, text), input);
    const controls = make("div", { class: "mt-controls" });
    controls.append(named("place of the window", range), named("words to each side", reach), tick.node);
    const text = make("p", { class: "mt-text" });
    const verdict = make("p", { class: "mt-verdict" });
    const room = make("div", { class: "mt-room" });
    const speech = speaker();
    let [table, known] = [null, ""];
    const draw = () => {
      const [sentences, window, weighed] = [split(), model.get("window"), model.get("weighed")];
      const [all, words] = [sentences.flat(), [...new Set(sentences.flat())]];
      const place = Math.min(model.get("place"), all.length) - 1;
      if (known !== words.join(" ")) { // also at the start
        table = grid(words);
        room.replaceChildren(table.node);
        known = words.join(" ");
      }
      const others = met(sentences, window, place);
      const role = (i) => (i === place ? "mt-query" : others.includes(i) ? "mt-key" : "mt-muted");
      let i = 0;
      const spelled = (word) => make("span", { class: role(i++) }, word);
      text.replaceChildren(...sentences.map((line) => make("span", {}, ...line.map(spelled))));
      const counts = count(sentences, words, window, place);
      table.draw(weighed ? ppmi(counts) : counts, weighed, words.indexOf(all[place]), others.map((j) => words.indexOf(all[j])));
      change(range, { max: all.length, "aria-valuetext": `${place + 1} of ${all.length}: ${all[place]}` });
      change(reach, { "aria-valuetext": window });
      [range.value, reach.value] = [place + 1, window];
      tick.draw(weighed);
      const names = others.map((j) => quoted(all[j])).join(", ") || "nobody";
      const so = `${quoted(all[place])} meets ${names}. The table holds ${sum(counts.flat())} meetings so far.`;
      verdict.textContent = weighed ? `${so} PPMI keeps what is more than chance.` : so;
      speech.say(verdict.textContent);
    };
    const keys = ["sentences", "window", "place", "weighed"];
    begin(el, model, keys, draw, make("div", { class: "mt-window" }, text, controls, verdict, room, speech.node));
  },
};
