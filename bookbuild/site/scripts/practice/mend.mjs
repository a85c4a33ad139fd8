// A line of code is chosen, and then what is wrong with it: the line is replaced, and `check` has judged every outcome.
import { all, element } from "../page.mjs";
import { isPlace } from "./exercise.mjs";
import { options, plain } from "./options.mjs";

export function mend({ box, data, say, tell, keep }) {
  const state = data.places.map(() => -1);
  const lines = all(".l", box).map((line) => line.cloneNode(true));
  const original = lines.map((line) => line.cloneNode(true));
  const picks = lines.map((line, i) => {
    const button = element("button", { className: "pick", ariaPressed: "false" }, line);
    button.addEventListener("click", () => choose(i));
    return button;
  });
  const below = element("div", { className: "causes" });
  box.append(element("div", { className: "listing", role: "group", ariaLabel: "Lines of the function" }, ...picks), below);

  function choose(line) {
    picks.forEach((pick, i) => (pick.ariaPressed = String(i === line)));
    const place = data.places.indexOf(line);
    below.replaceChildren();
    if (place < 0) return tell("This line does what it should.");
    tell();
    const group = options(data.choices[place].map(([cause]) => [cause]), `What is wrong with line ${line + 1}?`, (i) => {
      state[place] = state[place] === i ? -1 : i; // a second time takes it back
      group.mark(state[place], -1);
      judge();
    });
    group.mark(state[place], -1);
    below.append(element("p", {}, "What is wrong with it?"), group);
  }

  function judge() {
    data.places.forEach((line, place) => {
      const chosen = data.choices[place][state[place]];
      const shown = chosen ? [chosen[1]] : [...original[line].cloneNode(true).childNodes];
      lines[line].replaceChildren(...shown);
      picks[line].classList.toggle("changed", Boolean(chosen));
      picks[line].ariaLabel = plain(lines[line]);
    });
    const hint = data.says[state.join()];
    if (state.some((one) => one >= 0)) return say(!hint, hint, [...state]);
    tell();
    keep([...state], false);
  }

  return {
    fits: (kept) => Array.isArray(kept) && kept.length === state.length && kept.every((chosen, place) => isPlace(chosen, data.choices[place].length, -1)),
    show(kept) {
      kept.forEach((chosen, place) => (state[place] = chosen));
      judge();
    },
  };
}
