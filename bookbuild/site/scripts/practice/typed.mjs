// A number, a row or a table to type: judged as `check` does, with its sentences.
import { element } from "../page.mjs";
import { asksForWhole, judge } from "./judge.mjs";
import { unread, value } from "./sums.mjs";

const TIP = "A number, or a sum such as log(3) / 2, sqrt(2), 0.5 * 0.2.";
const LIST_TIP = "Numbers with commas, such as 3, 4.";

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

  const whole = asksForWhole(data);
  function check() {
    const texts = inputs.map((input) => input.value.trim());
    const parts = data.list ? texts[0].replace(/[()[\]]/g, "").split(/[,;×]|(?<=\d)\s*x\s*(?=\d)/).filter((part) => part.trim()) : texts;
    const found = parts.map((part) => value(part, whole));
    const missing = found.length ? found.findIndex(Number.isNaN) : 0;
    if (missing < 0) {
      const hint = judge(data, found);
      return say(!hint, hint, texts);
    }
    tell(count > 1 && !texts.every(Boolean) ? "Type a number in each field." : unread(parts[missing] ?? "", whole));
    inputs[data.list ? 0 : missing].focus();
  }
  return {
    fits: (kept) => Array.isArray(kept) && kept.length === count && kept.every((text) => typeof text === "string"),
    show(kept) {
      kept.forEach((text, i) => (inputs[i].value = text));
      check();
    },
  };
}
