// What explorables share that play step by step, and in which a vector is a strip of colours.
import { button, change, make, slider } from "./parts.mjs";

// A button that plays steps, one after another, and a slider to drag them by; move(step) is told of each.  Where motion
// is unwelcome, the button goes to the end at once, and back.  What else is touched while it plays may stop() it.
export function player({ label, first = 0, pace }, move) {
  let [waiting, now, last] = [0, first, first]; // for the next step, while it plays; the step, and the last one
  const jumps = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  const stop = () => {
    clearTimeout(waiting);
    waiting = 0;
  };
  const go = (step, on) => {
    stop();
    waiting = on && step < last ? setTimeout(() => go(now + 1, true), pace) : 0;
    move(step);
  };
  const press = button("", () => {
    if (waiting) go(now, false);
    else if (jumps()) go(now < last ? last : first, false);
    else go(now < last ? now + 1 : first, true);
  });
  const input = slider({ min: first, step: 1, "aria-label": label }, (step) => go(step, false));
  const draw = (step, most, told) => {
    [now, last] = [step, most];
    change(input, { max: last, "aria-valuetext": told });
    input.value = step;
    press.textContent = waiting ? "pause" : !jumps() ? "play" : step < last ? "to end" : "restart";
  };
  return { node: make("div", { class: "mt-player mt-controls" }, press, input), draw, stop };
}

// Buttons of which one is pressed; choose(which) is told, counted from 0.
export function either(label, faces, choose) {
  const buttons = faces.map((face, i) => button("", () => choose(i)));
  buttons.forEach((each, i) => each.append(...[faces[i]].flat()));
  const node = make("div", { class: "mt-either mt-controls", role: "group", "aria-label": label }, ...buttons);
  const draw = (which) => buttons.forEach((each, i) => change(each, { "aria-pressed": i === which }));
  return { node, draw };
}

// A vector as squares, blue above 0 and orange below, the deeper the larger; from `most` on all are alike.
export function strip(count) {
  const squares = Array.from({ length: count }, () => make("i"));
  const draw = (vector, most) => squares.forEach((square, i) => {
    square.style.setProperty("--tone", Math.max(-1, Math.min(1, vector[i] / most)));
  });
  return { node: make("span", { class: "mt-strip", "aria-hidden": "true" }, ...squares), draw };
}
