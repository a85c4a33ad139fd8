// Chapter 3: scores become weights.
import { begin, button, change, field, fixed, make, numbers, slider, speaker } from "../shared/parts.mjs";

const HOTTEST = 20; // the slider goes from T = 1/20 to T = 20, with T = 1 in the middle
const NEAR = 0.02; // weights that differ less than this from those of a limit are near it

// ---- the mathematics -----------------------------------------------------------------------------------------------

// exp(x / T), divided by the sum.  The largest score is subtracted first, so that no exponential overflows.
function softmax(scores, temperature) {
  const top = Math.max(...scores);
  const amounts = scores.map((score) => Math.exp((score - top) / temperature));
  const total = amounts.reduce((sum, amount) => sum + amount);
  return amounts.map((amount) => amount / total);
}

function entropy(weights) {
  return weights.reduce((sum, weight) => (weight > 0 ? sum - weight * Math.log(weight) : sum), 0);
}

// ---- in words ------------------------------------------------------------------------------------------------------

const quoted = (label) => `“${label}”`;

// Three digits, which say 0 or 1 only where the weight has rounded to that.
function share(weight) {
  if (weight > 0 && weight < 0.0005) return "<0.001";
  if (weight < 1 && weight >= 0.9995) return ">0.999";
  return fixed(weight, 3);
}

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

// The temperature, as a slider on a logarithmic scale and as a number.
function dial(move) {
  const temperature = (power) => Number((HOTTEST ** power).toPrecision(3));
  const attributes = { min: -1, max: 1, step: 0.01, "aria-label": "temperature" };
  const range = slider(attributes, (power) => move(temperature(power)));
  const named = { "aria-label": "temperature as a number", "data-name": "temperature" };
  const number = field(named, (value) => value > 0, move, { rule: "a number above 0" });
  const ends = ["0.05, cold", "1", "20, hot"].map((text) => make("span", {}, text));
  const scale = make("div", { class: "mt-scale" }, range, make("div", { "aria-hidden": "true" }, ...ends));
  const title = make("span", {}, "temperature ", make("i", {}, "T"));
  const draw = (value) => {
    range.value = Math.log(value) / Math.log(HOTTEST);
    change(range, { "aria-valuetext": value });
    number.show(value);
  };
  return { node: make("div", { class: "mt-dial mt-controls" }, title, scale, number.node), draw };
}

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
      show(`weight-${i}`, weights[i], share(weights[i]));
    });
  };
  return { node: make("div", { class: "mt-chart" }, ...heads, ...rows.flatMap((row) => row.nodes)), draw };
}

function facts() {
  const { place, show } = numbers();
  const entry = (term, ...description) => make("div", {}, make("dt", {}, term), make("dd", {}, ...description));
  const node = make(
    "dl",
    {},
    entry("largest weight", place("largest")),
    entry("entropy", place("entropy"), " nats of at most ", place("entropy-max")),
    entry("as if shared equally by", place("sharers")),
  );
  const draw = (weights) => {
    const [largest, spread, most] = [Math.max(...weights), entropy(weights), Math.log(weights.length)];
    show("largest", largest, share(largest));
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

    const parts = {
      dial: dial((temperature) => set({ temperature })),
      chart: chart(labels, (i, value) => set({ scores: get("scores").with(i, value) })),
      facts: facts(),
    };
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const draw = () => {
      const [scores, temperature] = [get("scores"), get("temperature")];
      const weights = softmax(scores, temperature);
      parts.dial.draw(temperature);
      parts.chart.draw(scores, weights);
      parts.facts.draw(weights);
      verdict.textContent = news || remark(scores, labels, weights, temperature);
      const largest = Math.max(...weights);
      const best = `${quoted(labels[weights.indexOf(largest)])} has the largest weight, ${share(largest)}`;
      speech.say(`Temperature ${temperature}: ${best}; entropy ${fixed(entropy(weights), 2)}. ${verdict.textContent}`);
    };

    const rescore = ({ score, tell }) => {
      const [old, temperature] = [get("scores"), get("temperature")];
      const scores = old.map((value) => tidy(score(value)));
      const before = softmax(old, temperature);
      const changes = softmax(scores, temperature).map((weight, i) => Math.abs(weight - before[i]));
      set({ scores }, tell(Math.max(...changes), temperature));
    };
    const again = button("start again", () => set(start));
    const buttons = [...BUTTONS.map((each) => button(each.name, () => rescore(each))), again];
    const controls = make("div", { class: "mt-buttons mt-controls" }, ...buttons);
    const nodes = [...Object.values(parts).map((part) => part.node), verdict, controls, speech.node];
    begin(el, model, ["scores", "temperature"], draw, make("div", { class: "mt-temperature" }, ...nodes));
  },
};
