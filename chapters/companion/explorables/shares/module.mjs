// Chapter 3: scores, their exponentials, and shares.
import {
  begin, brief, button, change, fixed, make, numbers, share, slider, softmax, speaker,
} from "../shared/parts.mjs";

const STEPS = ["score", "exponential", "share"];
const NAMES = ["x = ", "eˣ = ", "share "]; // of the steps, before their numbers
const FARTHEST = 3; // what a score, or the shift, can be, up or down

// A line for each score: its slider, and a bar with its number for each of the steps.
function pipeline(labels, move) {
  const { place, show } = numbers();
  const rows = labels.map((label, i) => {
    const attributes = { min: -FARTHEST, max: FARTHEST, step: 0.1, "aria-label": `score of ${label}` };
    const input = slider(attributes, (value) => move(i, value));
    const bars = STEPS.map((step) => make("div", { class: `mt-bar mt-${step}` }));
    const cells = bars.map((bar, k) => {
      const track = make("div", { class: "mt-track", "aria-hidden": "true" }, bar);
      return make("div", {}, track, make("span", { class: "mt-muted" }, NAMES[k]), place(`${STEPS[k]}-${i}`));
    });
    const title = make("div", { class: "mt-controls mt-name" }, make("span", {}, label), input);
    return { input, bars, nodes: [title, ...cells] };
  });
  const sum = make("div", { class: "mt-muted mt-sum" }, "share = eˣ ÷ sum of the exponentials, ", place("total"));
  const draw = (scores, shift) => {
    const moved = scores.map((score) => score + shift);
    const amounts = moved.map(Math.exp);
    const { weights } = softmax(moved, 1);
    const largest = Math.max(Math.exp(FARTHEST), ...amounts); // the width of a whole bar
    rows.forEach(({ input, bars }, i) => {
      input.value = scores[i];
      change(input, { "aria-valuetext": scores[i] });
      const at = [Math.max(-1, Math.min(1, moved[i] / FARTHEST / 2)), amounts[i] / largest, weights[i]];
      bars[0].style.cssText = `left: ${50 + 50 * Math.min(0, at[0])}%; width: ${50 * Math.abs(at[0])}%`;
      bars[1].style.width = `${100 * at[1]}%`;
      bars[2].style.width = `${100 * at[2]}%`;
      show(`score-${i}`, moved[i], fixed(moved[i], 1));
      show(`exponential-${i}`, amounts[i], brief(amounts[i], 2));
      show(`share-${i}`, weights[i], share(weights[i], 3));
    });
    const total = amounts.reduce((all, amount) => all + amount);
    show("total", total, brief(total, 2));
    return weights;
  };
  const nodes = [...rows.flatMap((row) => row.nodes), sum];
  return { node: make("div", { class: "mt-pipeline" }, ...nodes), draw };
}

// What the shift has done to each of the steps.
function remark(shift) {
  if (shift === 0) return "Move the shift: which of the three columns change, and how?";
  const factor = brief(Math.exp(shift), 2);
  const grown = `so every exponential is ${factor} times what it was, and so is their sum`;
  return `Every score moved by ${fixed(shift, 1)}, ${grown}: no share has changed.`;
}

export default {
  render({ model, el }) {
    const get = (key) => model.get(key);
    const labels = get("labels");
    const start = { scores: get("scores"), shift: get("shift") };
    const set = (state) => {
      for (const [key, value] of Object.entries(state)) model.set(key, value);
      model.save_changes();
    };
    const range = { min: -FARTHEST, max: FARTHEST, step: 0.1, "aria-label": "shift of all scores" };
    const shift = slider(range, (value) => set({ shift: value }));
    const chart = pipeline(labels, (i, value) => set({ scores: get("scores").with(i, value) }));
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const draw = () => {
      shift.value = get("shift");
      change(shift, { "aria-valuetext": get("shift") });
      const weights = chart.draw(get("scores"), get("shift"));
      verdict.textContent = remark(get("shift"));
      const told = labels.map((label, i) => `${label} ${share(weights[i], 3)}`).join(", ");
      speech.say(`Shares: ${told}. ${verdict.textContent}`);
    };
    const again = button("start again", () => set(start));
    const lifted = make("div", { class: "mt-shift mt-controls" }, make("span", {}, "add to all scores"), shift, again);
    const nodes = [lifted, chart.node, verdict, speech.node];
    begin(el, model, ["scores", "shift"], draw, make("div", { class: "mt-shares" }, ...nodes));
  },
};
