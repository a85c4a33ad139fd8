// A number, a row or a table to type: judged as `check` does, with its sentences.
import { element } from "../page.mjs";
import { near } from "./hash.mjs";
import { value } from "./sums.mjs";

const ERROR = 1e-5; // relative, as `check` has it; whole numbers, which have more digits, have none
const TIP = "A number, or a sum such as log(3) / 2, sqrt(2), 0.5 * 0.2.";
const LIST_TIP = "Numbers with commas, such as 3, 4.";

const ROUNDED = "right, but rounded: give every digit, or leave the calculation to the computer.";

/** Return the hint for what was typed, an empty one where it is right; an answer is [hint, hashes, hashes of roundings]. */
export function judge({ name, answers }, found) {
  const typed = {}; // digits -> of each number the hashes that it may have
  const of = (digits) => (typed[digits] ??= found.map((x, i) => near(name, i, x, digits, digits > 10 ? 0 : ERROR)));
  const same = ([digits, ...wanted]) => wanted.length === found.length && of(digits).every((hashes, i) => hashes.has(wanted[i]));
  const exact = answers.find(([, wanted]) => same(wanted));
  if (exact) return exact[0];
  const rounded = answers.find(([, , ...roundings]) => roundings.some(same));
  if (rounded) return rounded[0] || ROUNDED;
  return `not yet: you have ${found.length > 1 ? `[${found.join(", ")}]` : found[0]}.`;
}

export function typed({ box, data, task, say, tell }) {
  const [rows, columns] = data.list ? [1, 1] : data.shape.length === 2 ? data.shape : [1, data.shape[0] ?? 1];
  const count = rows * columns;
  const named = (i) => (rows > 1 ? `row ${Math.floor(i / columns) + 1}, column ${(i % columns) + 1}` : `number ${i + 1}`);
  const inputs = Array.from({ length: count }, (_, i) =>
    element("input", { autocomplete: "off", autocapitalize: "off", spellcheck: false, ariaLabel: count > 1 ? named(i) : task.textContent }));
  const tip = element("p", { className: "tip", id: `tip-${data.name}` }, data.list ? LIST_TIP : TIP);
  const button = element("button", { className: "main" }, "Check");
  const table = element("div", { className: "entries" }, ...inputs);
  table.style.setProperty("--columns", columns);
  for (const input of inputs) {
    input.setAttribute("aria-describedby", tip.id);
    input.addEventListener("keydown", ({ key }) => key === "Enter" && check());
  }
  button.addEventListener("click", check);
  box.append(element("div", { className: "row" }, table, button), tip);

  function check() {
    const texts = inputs.map((input) => input.value.trim());
    const found = data.list ? texts[0].replace(/[()[\]]/g, "").split(",").filter((part) => part.trim()).map(value) : texts.map(value);
    const missing = found.length ? found.findIndex(Number.isNaN) : 0;
    if (missing < 0) return say(...verdict(judge(data, found)), texts);
    const input = inputs[data.list ? 0 : missing];
    tell(input.value.trim() ? `“${input.value}” is no number and no sum such as log(3) / 2.` : "Type a number in each field.");
    input.focus();
  }
  const verdict = (hint) => [!hint, hint];
  return (texts) => {
    texts.forEach((text, i) => (inputs[i].value = text));
    check();
  };
}
