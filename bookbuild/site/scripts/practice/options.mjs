// A group of choices: the arrow keys walk through them, Enter, the space bar, a click or a tap choose.
import { element } from "../page.mjs";

const STEP = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/** Return the group; each choice is a list of nodes, `chosen` is called with its number. */
export function options(choices, label, chosen) {
  const buttons = choices.map((inside, i) => {
    const letter = element("span", { className: "letter" }, "ABCDEFGH"[i]);
    const button = element("button", { className: "option", role: "radio", ariaChecked: "false", tabIndex: i ? -1 : 0 }, letter, element("span", {}, ...inside));
    button.addEventListener("click", () => button.ariaDisabled || chosen(i));
    return button;
  });
  const group = element("div", { className: "options", role: "radiogroup", ariaLabel: label }, ...buttons);
  const reach = (button) => buttons.forEach((one) => (one.tabIndex = one === button ? 0 : -1));
  group.addEventListener("keydown", (event) => {
    if (!STEP[event.key]) return;
    event.preventDefault();
    const next = buttons.at((buttons.indexOf(document.activeElement) + STEP[event.key]) % buttons.length);
    reach(next);
    next.focus();
  });
  /** Mark a choice, and the right one where it is known. */
  group.mark = (chosen, right) => {
    buttons.forEach((button, i) => {
      button.ariaChecked = String(i === chosen);
      button.classList.toggle("is-right", i === right);
    });
    if (buttons[chosen]) reach(buttons[chosen]);
  };
  /** Let nothing be chosen any more. */
  group.close = () => buttons.forEach((button) => (button.ariaDisabled = "true"));
  return group;
}

/** Return what is in an element as new nodes, so that formulas stay formulas. */
export const copy = (from) => [...from.cloneNode(true).childNodes];

/** Return the text of an element in one line. */
export const plain = (from) => from.textContent.replace(/\s+/g, " ").trim();
