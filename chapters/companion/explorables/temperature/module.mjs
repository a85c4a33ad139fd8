// Chapter 3: scores become weights.
import {
  begin, button, dial, entropy, entry, field, fixed, make, numbers, quoted, share, softmax, speaker,
} from "../shared/parts.mjs";

const HOTTEST = 20; // the slider goes from T = 1/20 to T = 20, with T = 1 in the middle
const NEAR = 0.02; // weights that differ less than this from those of a limit are near it

const DIGITS = 3; // of a weight

// ---- in words ------------------------------------------------------------------------------------------------------

// The limit that the weights are near, or how far the best is ahead of the next.
function remark(scores, labels, weights, temperature) {
  const top = Math.max(...scores);
  const winners = labels.filter((_, i) => scores[i] === top).map(quoted);
  const near = (limit) => weights.every((weight, i) => Math.abs(weight - limit[i]) < NEAR);
  if (winners.length === scores.length) return "All scores are equal, and so are all weights, at any temperature.";
  if (near(scores.map(() => 1 / scores.length))) return "Near the hot limit: uniform, everyone gets the same.";
  if (near(scores.map((score) => (score === top ? 1 / winners.length : 0)))) {
    const tie = winners.length > 1 ? ", who tie" : "";
    return `Near the cold limit: arg max, everything to ${winners.join(" and ")}${tie}.`;
  }
  const next = Math.max(...scores.filter((score) => score < top));
  const gap = (top - next) / temperature;
  const times = `${fixed(Math.exp(gap), 2)} times as much as ${quoted(labels[scores.indexOf(next)])}`;
  return `${winners[0]} weighs ${times}: e to the power of ${fixed(gap, 2)}, the gap of their scores over T.`;
}

// ---- what is seen --------------------------------------------------------------------------------------------------

// A line for each score: its label, the score, the weight as a bar and as a number.
function chart(labels, move) {
  const { place, show } = numbers();
  const rows = labels.map((label, i) => {
    const named = { "aria-label": `score of ${label}`, "data-name": `score-${i}` };
    const score = field(named, () => true, (value) => move(i, value));
    const bar = make("div", { class: "mt-bar" });
    const level = make("div", { class: "mt-level", style: `left: ${100 / labels.length}%` });
    const track = make("div", { class: "mt-track", "aria-hidden": "true" }, bar, level);
    return { score, bar, nodes: [make("span", { class: "mt-label" }, label), score.node, track, place(`weight-${i}`)] };
  });
  const titles = ["", "score", `weight; dashed: 1/${labels.length}`];
  const heads = titles.map((title) => make("span", { class: "mt-muted" }, title));
  const draw = (scores, weights) => {
    rows.forEach(({ score, bar }, i) => {
      score.show(scores[i]);
      bar.style.width = `${100 * weights[i]}%`;
      show(`weight-${i}`, weights[i], share(weights[i], DIGITS));
    });
  };
  return { node: make("div", { class: "mt-chart" }, ...heads, ...rows.flatMap((row) => row.nodes)), draw };
}

function facts() {
  const { place, show } = numbers();
  const node = make(
    "dl",
    {},
    entry("largest weight", place("largest")),
    entry("entropy", place("entropy"), " nats of at most ", place("entropy-max")),
    entry("as if shared equally by", place("sharers")),
  );
  const draw = (weights) => {
    const [largest, spread, most] = [Math.max(...weights), entropy(weights), Math.log(weights.length)];
    show("largest", largest, share(largest, DIGITS));
    show("entropy", spread, fixed(spread, 2));
    show("entropy-max", most, `ln ${weights.length} = ${fixed(most, 2)}`);
    show("sharers", Math.exp(spread), fixed(Math.exp(spread), 1));
  };
  return { node, draw };
}

// ---- the buttons ---------------------------------------------------------------------------------------------------

// Each changes every score and tells what came of it, from the largest change of a weight and the temperature.
const BUTTONS = [
  {
    name: "add 10 to every score",
    score: (score) => score + 10,
    tell: (change) => `Every score rose by 10. The largest change of a weight is ${fixed(change, 3)}.`,
  },
  {
    name: "double every score",
    score: (score) => 2 * score,
    tell: (_, temperature) => `Every score doubled: the weights that the old scores have at T = ${temperature / 2}.`,
  },
];

// Twelve digits, so that 0.3 + 10 is written 10.3; and never infinite.
const tidy = (score) => Number(Math.max(-1e308, Math.min(1e308, score)).toPrecision(12));

export default {
  render({ model, el }) {
    const get = (key) => model.get(key);
    const labels = get("labels");
    const start = { scores: get("scores"), temperature: get("temperature") };
    let news = ""; // what the last button did, until something else moves
    const set = (state, told = "") => {
      news = told;
      for (const [key, value] of Object.entries(state)) model.set(key, value);
      model.save_changes();
    };

    const heated = { title: ["temperature ", make("i", {}, "T")], label: "temperature", middle: 1, range: HOTTEST };
    const words = ["0.05, cold", "1", "20, hot"];
    const parts = {
      dial: dial({ ...heated, words }, (temperature) => set({ temperature })),
      chart: chart(labels, (i, value) => set({ scores: get("scores").with(i, value) })),
      facts: facts(),
    };
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const draw = () => {
      const [scores, temperature] = [get("scores"), get("temperature")];
      const { weights } = softmax(scores, temperature);
      parts.dial.draw(temperature);
      parts.chart.draw(scores, weights);
      parts.facts.draw(weights);
      verdict.textContent = news || remark(scores, labels, weights, temperature);
      const largest = Math.max(...weights);
      const best = `${quoted(labels[weights.indexOf(largest)])} has the largest weight, ${share(largest, DIGITS)}`;
      speech.say(`Temperature ${temperature}: ${best}; entropy ${fixed(entropy(weights), 2)}. ${verdict.textContent}`);
    };

    const rescore = ({ score, tell }) => {
      const [old, temperature] = [get("scores"), get("temperature")];
      const scores = old.map((value) => tidy(score(value)));
      const [before, after] = [old, scores].map((all) => softmax(all, temperature).weights);
      const changes = after.map((weight, i) => Math.abs(weight - before[i]));
      set({ scores }, tell(Math.max(...changes), temperature));
    };
    const again = button("start again", () => set(start));
    const buttons = [...BUTTONS.map((each) => button(each.name, () => rescore(each))), again];
    const controls = make("div", { class: "mt-buttons mt-controls" }, ...buttons);
    const nodes = [...Object.values(parts).map((part) => part.node), verdict, controls, speech.node];
    begin(el, model, ["scores", "temperature"], draw, make("div", { class: "mt-temperature" }, ...nodes));
  },
};
