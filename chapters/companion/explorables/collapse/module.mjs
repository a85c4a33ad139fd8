// Chapter 9: the words of a sentence pass through blocks, and become one where each block replaces them.
import { begin, brief, change, fixed, make, numbers, speaker } from "../shared/parts.mjs";
import { either, player, strip } from "../shared/steps.mjs";

const PACE = 1100; // milliseconds from block to block when it plays
const DEEPEST = 2; // a feature of this size, or a larger one, has the full colour
const WAYS = ["replaced", "added"];

// ---- in words ------------------------------------------------------------------------------------------------------

// How alike the words are, and how alike they would be the other way.
function remark({ cosines, added, block }) {
  const [here, there] = [added, !added].map((way) => cosines[Number(way)][block]);
  const cosine = `the mean cosine of two of them is ${fixed(here, 2)}`;
  if (block === 0) return `Before the first block the words can be told apart: ${cosine}.`;
  const where = `${added ? "Added" : "Replaced"}, after ${block} block${block > 1 ? "s" : ""}`;
  const told = here > 0.95 ? "the words can hardly be told apart" : "the words can be told apart";
  const seen = here > 0.7 && here <= 0.95 ? "the words look alike" : told;
  return `${where}: ${seen}; ${cosine} (${WAYS[Number(!added)]}: ${fixed(there, 2)}).`;
}

// ---- what is seen --------------------------------------------------------------------------------------------------

// The two ways as buttons, each with the line that it has in the drawing.
function ways(choose) {
  const line = (way) => {
    const path = make("path", { class: `mt-course-${way}`, d: "M0 4H28" });
    return make("svg", { viewBox: "0 0 28 8", "aria-hidden": "true" }, path);
  };
  return either("how the words pass a block", WAYS.map((text, way) => [line(way), text]), choose);
}

// The mean cosine from the start to the last block, both ways; the slider below it is its axis.
function courses() {
  const { place, show } = numbers();
  const lines = WAYS.map((_, way) => make("path", { class: `mt-course-${way}` }));
  const [grid, mark] = [make("path", { class: "mt-course-grid" }), make("path", { class: "mt-course-here" })];
  const svg = make("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img" }, grid, mark, ...lines);
  const spot = make("div", { class: "mt-course-spot", "aria-hidden": "true" });
  const levels = [1, 0].map((level) => make("span", { style: `top: ${100 - 100 * level}%` }, String(level)));
  const read = make("p", {}, "mean cosine of two words ", place("cosine"));
  const sides = make("div", { class: "mt-levels", "aria-hidden": "true" }, ...levels);
  const node = make("div", { class: "mt-courses" }, read, sides, make("div", { class: "mt-plot" }, svg, spot));
  const draw = ({ cosines, added, block }) => {
    const last = cosines[0].length - 1;
    const at = (cosine, i) => [(100 * i) / last, 100 - 100 * Math.max(0, cosine)]; // none is far below 0
    change(grid, { d: `M0 0H100M0 100H100${cosines[0].map((_, i) => `M${(100 * i) / last} 0V100`).join("")}` });
    lines.forEach((line, way) => {
      change(line, { d: `M${cosines[way].map(at).join("L")}` });
      line.classList.toggle("mt-course-seen", way === Number(added));
    });
    const now = cosines[Number(added)][block];
    const [left, top] = at(now, block);
    change(mark, { d: `M${left} 0V100` });
    change(spot, { style: `left: ${left}%; top: ${top}%` });
    const told = WAYS.map((text, way) => `${text} ${cosines[way].map((cosine) => fixed(cosine, 2)).join(", ")}`);
    change(svg, { "aria-label": `mean cosine from the start to block ${last}: ${told.join("; ")}` });
    show("cosine", now, fixed(now, 2));
  };
  return { node, draw };
}

// A line for each word: some of its features as colours, and its length.
function table(labels, count) {
  const { place, show } = numbers();
  const strips = labels.map(() => strip(count));
  const head = (text) => make("th", { scope: "col" }, text);
  const top = make("tr", {}, make("td"), head(`${count} features, as colours`), head("length"));
  const lines = labels.map((label, i) => {
    const word = make("th", { scope: "row" }, make("span", { class: "mt-word" }, label));
    return make("tr", {}, word, make("td", {}, strips[i].node), make("td", {}, place(`length-${i}`)));
  });
  const node = make("table", {}, make("thead", {}, top), make("tbody", {}, ...lines));
  const draw = ({ rows, lengths, added, block }) => {
    const way = Number(added);
    strips.forEach((each, i) => each.draw(rows[way][block][i], DEEPEST));
    lengths[way][block].forEach((length, i) => show(`length-${i}`, length, brief(length, 1)));
  };
  return { node, draw };
}

export default {
  render({ model, el }) {
    const keys = ["labels", "rows", "cosines", "lengths", "added", "block"];
    const state = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    const set = (key, value) => {
      model.set(key, value);
      model.save_changes();
      draw(); // also where nothing has changed but the button
    };
    const course = courses();
    const steps = player({ label: "block", pace: PACE }, (block) => set("block", block));
    const switches = ways((way) => set("added", way === 1));
    const verdict = make("p", { class: "mt-verdict" });
    const room = make("div");
    const speech = speaker();
    let [words, known] = [null, ""];
    const draw = () => {
      const now = state();
      const made = JSON.stringify([now.labels, now.rows[0][0][0].length]);
      if (known !== made) { // also at the start
        words = table(now.labels, now.rows[0][0][0].length);
        room.replaceChildren(words.node);
        known = made;
      }
      const last = now.rows[0].length - 1;
      course.draw(now);
      steps.draw(now.block, last, `${now.block} of ${last}`);
      switches.draw(Number(now.added));
      words.draw(now);
      verdict.textContent = remark(now);
      speech.say(verdict.textContent);
    };
    const nodes = [switches.node, course.node, steps.node, verdict, room, speech.node];
    begin(el, model, keys, draw, make("div", { class: "mt-collapse" }, ...nodes));
  },
};
