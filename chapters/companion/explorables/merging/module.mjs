// Chapter 10: two sentences of the same words, whose rows become one set where no position is added.
import { begin, change, fixed, make, numbers, quoted, speaker } from "../shared/parts.mjs";
import { either, player, strip } from "../shared/steps.mjs";

const PACE = 1300; // milliseconds from step to step when it plays
const DEEPEST = 2; // a feature of this size, or a larger one, has the full colour
const SAME = 0.005; // rows that differ less than this in each feature are written as the same

// ---- in words ------------------------------------------------------------------------------------------------------

const text = (words) => quoted(words.join(" "));

// Whether the rows differ, and in the end what the decoder makes of them.
function remark({ steps, apart, french, positions, step }) {
  const way = Number(positions);
  const gaps = apart[way][Math.min(step, steps.length - 1)];
  const most = Math.max(...gaps);
  if (step < steps.length) {
    const others = gaps.filter((gap) => gap >= SAME).length;
    const who = others === gaps.length ? "each word has" : `${others} of ${gaps.length} words ${others > 1 ? "have" : "has"}`;
    const same = "each word has the same row in both sentences";
    return `${steps[step]}: ${others ? `${who} another row in the other sentence, up to ${fixed(most, 2)} apart` : same}.`;
  }
  const said = french[way][0] === french[way][1] ? "the same French for both" : "different French";
  if (most < SAME) return `Put in one order, the rows are the same. The decoder, which does not heed the order, writes ${said}.`;
  return `Put in one order, the rows still differ, by up to ${fixed(most, 2)}. The decoder writes ${said}.`;
}

// ---- what is seen --------------------------------------------------------------------------------------------------

// The words of one sentence, each with some of its features as colours.
function column(words, count, side) {
  const rows = words.map((word) => {
    const { node, draw } = strip(count);
    return { node: make("li", {}, make("span", {}, word), node), draw };
  });
  const list = { class: `mt-merge-words mt-merge-${side}`, role: "list", "aria-label": words.join(" ") };
  const node = make("ol", list, ...rows.map((row) => row.node));
  const draw = (vectors, places) => rows.forEach((row, i) => {
    row.draw(vectors[i], DEEPEST);
    row.node.style.transform = `translateY(${100 * (places[i] - i)}%)`;
  });
  return { node, draw };
}

// A line from each word of one sentence to the same word of the other, thick where its two rows are the same.
function joins(count) {
  const lines = Array.from({ length: count }, () => make("path"));
  const box = { class: "mt-merge-joins", viewBox: `0 0 1 ${count}`, preserveAspectRatio: "none", "aria-hidden": "true" };
  const node = make("svg", { ...box, style: `--count: ${count}` }, ...lines);
  const draw = (places, gaps) => lines.forEach((line, i) => {
    change(line, { d: `M0 ${i + 0.5}C0.5 ${i + 0.5} 0.5 ${places[i] + 0.5} 1 ${places[i] + 0.5}` });
    line.classList.toggle("mt-merge-same", gaps[i] < SAME);
  });
  return { node, draw };
}

// How far the two rows of each word are apart.
function gaps(words) {
  const { place, show } = numbers();
  const head = words.map((word) => make("th", { scope: "col" }, word));
  const cells = words.map((_, i) => make("td", {}, place(`apart-${i}`)));
  const caption = make("caption", {}, "largest difference between a word’s two rows");
  const node = make("table", {}, caption, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, make("tr", {}, ...cells)));
  const draw = (values) => values.forEach((value, i) => show(`apart-${i}`, value, fixed(value, 2)));
  return { node, draw };
}

// Both sentences side by side, below them their French, and the differences.
function pair([one, other], count) {
  const columns = [column(one, count, "left"), column(other, count, "right")];
  const [lines, table] = [joins(one.length), gaps(one)];
  const french = [0, 1].map((i) => make("p", { class: `mt-merge-french mt-merge-${["left", "right"][i]}`, lang: "fr" }));
  const [left, right] = columns.map((each) => each.node);
  const both = make("div", { class: "mt-merge-pair" }, left, lines.node, right, ...french);
  const draw = (state) => {
    const [way, last] = [Number(state.positions), state.steps.length - 1];
    const at = Math.min(state.step, last);
    const ordered = state.step > last;
    const own = one.map((_, i) => i);
    const places = other.map((word, i) => (ordered ? one.indexOf(word) : i));
    columns.forEach((each, i) => each.draw(state.rows[way][at][i], [own, places][i]));
    lines.draw(one.map((word) => places[other.indexOf(word)]), state.apart[way][at]);
    table.draw(state.apart[way][at]);
    french.forEach((each, i) => {
      each.textContent = state.french[way][i];
      each.classList.toggle("mt-merge-said", ordered);
      each.classList.toggle("mt-merge-same", state.french[way][0] === state.french[way][1]);
      change(each, { "aria-hidden": !ordered });
    });
  };
  return { nodes: [both, table.node], draw };
}

export default {
  render({ model, el }) {
    const keys = ["sentences", "steps", "rows", "apart", "french", "positions", "step"];
    const state = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    const set = (key, value) => {
      model.set(key, value);
      model.save_changes();
      draw(); // also where nothing has changed but the button
    };
    const ways = either("the encoder reads", ["without positions", "with positions"], (way) => set("positions", way === 1));
    const steps = player({ label: "step", pace: PACE }, (step) => set("step", step));
    const verdict = make("p", { class: "mt-verdict" });
    const room = make("div", { class: "mt-merge-room" });
    const speech = speaker();
    let [sentences, known] = [null, ""];
    const draw = () => {
      const now = state();
      const made = JSON.stringify([now.sentences, now.rows[0][0][0][0].length]);
      if (known !== made) { // also at the start
        sentences = pair(now.sentences, now.rows[0][0][0][0].length);
        room.replaceChildren(...sentences.nodes);
        known = made;
      }
      const last = now.steps.length;
      ways.draw(Number(now.positions));
      steps.draw(now.step, last, `${now.step} of ${last}: ${now.steps[now.step] ?? "in one order"}`);
      sentences.draw(now);
      verdict.textContent = remark(now);
      const said = now.sentences.map((words, i) => `${text(words)}: ${quoted(now.french[Number(now.positions)][i])}.`);
      speech.say([verdict.textContent, ...(now.step < last ? [] : said)].join(" "));
    };
    begin(el, model, keys, draw, make("div", { class: "mt-merging" }, ways.node, steps.node, verdict, room, speech.node));
  },
};
