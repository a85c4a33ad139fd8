// The cells of the page, each with an editor, buttons and a word on how it stands.
import { edit } from "./editor.mjs";

const button = (name, label, onclick) => {
  const made = Object.assign(document.createElement("button"), { type: "button", className: "live-button", onclick });
  made.append(name);
  made.setAttribute("aria-label", label);
  return made;
};

function open(element, index, runThis, runToHere) {
  const name = `cell ${index + 1}`;
  const input = element.querySelector(".cell_input");
  const code = edit(input.firstElementChild, `Code of ${name}`, runThis);
  const state = Object.assign(document.createElement("span"), { className: "live-state" });
  const buttons = Object.assign(document.createElement("div"), { className: "live-buttons" });
  buttons.append(`Cell ${index + 1}`, button("Run", `Run ${name}`, runThis));
  if (index) buttons.append(button("Run to here", `Run to here: every cell from the top to ${name}`, runToHere));
  buttons.append(state);
  input.append(buttons);
  return { element, name, code, state, mayFail: element.classList.contains("tag_raises-exception") };
}

/** Do what changes the heights of cells without moving what is being read. */
function keepPlace(change) {
  const blocks = [...document.querySelectorAll(".text :is(p, .cell, figure)")];
  const anchor = blocks.find((block) => block.getBoundingClientRect().top >= 0) ?? document.body;
  const before = anchor.getBoundingClientRect().top;
  const changed = change();
  window.scrollBy({ top: anchor.getBoundingClientRect().top - before, behavior: "instant" });
  return changed;
}

/** Make all cells editable and return them; `run` is called with the cells that a button asks for. */
export function openCells(run) {
  const elements = [...document.querySelectorAll(".text .cell:has(.cell_input)")];
  const cells = [];
  const opened = (element, i) => open(element, i, () => run([cells[i]]), () => run(cells.slice(0, i + 1)));
  keepPlace(() => cells.push(...elements.map(opened)));
  return cells;
}

/** Say beside the buttons of `cell` how it stands. */
export const mark = (cell, state) => (cell.state.textContent = state);

/** Tell whether all cells above `cell` have run. */
export const readyFor = (cell, cells) =>
  cells.slice(0, cells.indexOf(cell)).every(({ state }) => state.textContent === "ran");
