// Chapter 14: one training, step by step.
import { begin, button, change, fixed, make, numbers, share, slider, speaker } from "../shared/parts.mjs";

const PACE = 400; // milliseconds from one of steps to the next when it plays

// A share in per cent, which reads as 100 only where it is all.
function percent(part) {
  const text = fixed(100 * part, 1).replace(".0", "");
  return part < 1 && text === "100" ? ">99.9%" : `${text}%`;
}

// The losses over a slider that is their axis.
function chart(play, move) {
  const [net, curve] = ["mt-net", "mt-curve"].map((name) => make("path", { class: name }));
  const box = { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img", "aria-label": "curve of the loss" };
  const part = (name) => make("div", { class: `mt-${name}`, "aria-hidden": true });
  const [levels, here, ends] = ["levels", "here", "ends"].map(part);
  const plot = make("div", { class: "mt-plot" }, make("svg", box, net, curve), here);
  const range = slider({ min: 0, "aria-label": "step" }, move);
  const node = make("div", { class: "mt-loss" }, make("p", {}, "loss, logarithmic"), levels, plot, play, range, ends);
  const draw = ({ losses, steps, step }, last, loss, told) => {
    const [top, low] = [Math.max(...losses), Math.min(...losses)].map((loss) => Math.ceil(Math.log10(loss)));
    const height = (loss) => (100 * (top - Math.log10(loss))) / (top - low + 1);
    const powers = Array.from({ length: top - low + 2 }, (_, i) => Number(`1e${top - i}`));
    levels.replaceChildren(...powers.map((power) => make("span", { style: `top: ${height(power)}%` }, power)));
    change(net, { d: powers.map((power) => `M0 ${height(power)}H100`).join("") });
    change(curve, { d: `M${losses.map((each, i) => [(100 * (i + 0.5)) / losses.length, height(each)]).join("L")}` });
    change(here, { style: `left: ${(100 * step) / last}%; --loss: ${height(loss)}%` });
    change(range, { max: last, step: steps[1], "aria-valuetext": told });
    range.value = step;
    ends.replaceChildren(...[0, "steps", last].map((text) => make("span", {}, text)));
  };
  return { node, draw };
}

// What is right, what the model says, and how it attends to the source for that.
function map(labels, targets, letters) {
  const { place, show } = numbers();
  const head = (scope, text) => make("th", { scope }, text);
  const lines = targets.map((target, i) => {
    const cells = labels.map((_, j) => make("td", {}, place(`weight-${i}-${j}`)));
    return make("tr", {}, head("row", target), make("td"), ...cells);
  });
  const top = ["right", "says", ...labels].map((text) => head("col", text));
  const caption = make("caption", {}, "attention to the source, in per cent");
  const node = make("table", { style: `--letters: ${letters}` }, caption, make("tr", {}, ...top), ...lines);
  const draw = (says, weights) => {
    lines.forEach((line, i) => {
      const [, said, ...cells] = line.children;
      said.textContent = says[i];
      said.classList.toggle("mt-wrong", says[i] !== targets[i]);
      cells.forEach((cell, j) => {
        const weight = weights[i][j];
        show(`weight-${i}-${j}`, 100 * weight, weight < 0.005 ? "" : fixed(100 * weight, 0));
        change(cell, { style: `--mt-shade: ${weight}` });
      });
    });
  };
  return { node, draw };
}

export default {
  render({ model, el }) {
    const keys = ["losses", "steps", "exact", "says", "weights", "step"];
    const state = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    const targets = model.get("targets");
    let waiting; // for the next of steps, while it plays
    const set = (step) => {
      model.set("step", step);
      model.save_changes();
      draw(); // also where nothing has changed but the button
    };
    const stop = (step) => {
      clearTimeout(waiting);
      waiting = 0;
      set(step);
    };
    const walk = () => {
      const { steps, step } = state();
      const next = steps[steps.indexOf(step) + 1] ?? 0; // from the last to the first
      waiting = next < steps.at(-1) && setTimeout(walk, PACE);
      set(next);
    };
    const jumps = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
    const play = button("", () => {
      const { steps, step } = state();
      const last = steps.at(-1);
      if (waiting) stop(step);
      else if (jumps()) set(step < last ? last : 0);
      else walk();
    });
    const curve = chart(play, stop);
    const letters = Math.max(...model.get("says").flat().map((word) => word.length)); // of the longest, at any step
    const heat = map(model.get("labels"), targets, letters);
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const draw = () => {
      const now = state();
      const { losses, steps, exact, step } = now;
      const [i, last] = [steps.indexOf(step), steps.at(-1)];
      const says = now.says[i];
      const loss = losses[Math.min(Math.floor((step * losses.length) / last), losses.length - 1)];
      const told = `${step} of ${last}: loss ${share(loss, 3)}, ${percent(exact[i])} of held-out rows right`;
      curve.draw(now, last, loss, told);
      heat.draw(says, now.weights[i]);
      play.textContent = waiting ? "pause" : !jumps() ? "play" : step < last ? "to end" : "restart";
      const right = targets.filter((target, row) => target === says[row]).length;
      verdict.textContent = `Step ${told}; of this one, ${right} of ${targets.length} words.`;
      speech.say(verdict.textContent);
    };
    begin(el, model, keys, draw, make("div", { class: "mt-training" }, curve.node, verdict, heat.node, speech.node));
  },
};
