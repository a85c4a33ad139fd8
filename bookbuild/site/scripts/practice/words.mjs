// An answer in words: written first, then compared with the solution, whose points are ticked off.
import { all, element } from "../page.mjs";

const ENOUGH = 8; // words

export function words({ box, solution, tell, keep }) {
  const text = element("textarea", { className: "words", ariaLabel: "Your answer", rows: 5 });
  const compare = element("button", { className: "main" }, "Compare with the solution");
  const points = all(":scope > .inside > section > ol > li", solution);
  const ticks = points.map((point, i) => {
    const tick = element("input", { type: "checkbox", className: "tick scripted", ariaLabel: `Point ${i + 1} is in my answer` });
    tick.addEventListener("change", save);
    return tick;
  });
  box.append(text, element("div", { className: "row" }, compare));
  text.addEventListener("change", save);
  compare.addEventListener("click", () => {
    if (text.value.trim().split(/\s+/).length >= ENOUGH) return open(true);
    tell("Write a sentence or two first: it teaches more than reading one.");
    text.focus();
  });

  function open(moves) {
    points.forEach((point, i) => point.prepend(ticks[i]));
    compare.hidden = true;
    solution.open = true;
    if (moves) solution.querySelector("summary").focus();
    tell(ticks.length ? "The solution is open below: tick each point that your answer has." : "The solution is open below.");
    save();
  }
  function save() {
    const done = ticks.map((tick) => tick.checked);
    keep({ text: text.value, ticks: done, open: compare.hidden }, compare.hidden && done.every(Boolean));
    const count = done.filter(Boolean).length;
    if (count) tell(count < done.length ? `${count} of ${done.length}: add what is missing to your answer.` : "All points are in your answer.");
  }
  return {
    fits: (kept) => typeof kept?.text === "string" && Array.isArray(kept.ticks),
    show(kept) {
      text.value = kept.text;
      ticks.forEach((tick, i) => (tick.checked = kept.ticks[i] === true));
      if (kept.open === true) open(false);
    },
  };
}
