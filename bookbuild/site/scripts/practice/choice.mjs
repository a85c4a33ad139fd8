// One of several lines of code, or one of several statements, is the answer.
import { all, element } from "../page.mjs";
import { isPlace } from "./exercise.mjs";
import { judge } from "./judge.mjs";
import { copy, options } from "./options.mjs";

/** The line that completes a function; each wrong one is a known mistake. */
export function choice({ box, data, task, say }) {
  const [head, ...pieces] = blocks(box, data.heights);
  const code = (lines) => [element("code", {}, ...lines)];
  const chosen = (i) => {
    group.mark(i, data.pieces[i].wrong ? -1 : i);
    say(!data.pieces[i].wrong, data.pieces[i].wrong, i);
  };
  const group = options(pieces.map(code), task.textContent, chosen);
  box.append(element("pre", { className: "head" }, ...head), group);
  return { fits: (kept) => isPlace(kept, pieces.length), show: chosen };
}

/** The number of a statement, which stand as a list in the exercise. */
export function pick({ box, data, whole, task, say }) {
  const list = whole.querySelector("ol");
  const chosen = (i) => {
    const hint = judge(data, [i + 1]);
    group.mark(i, hint ? -1 : i);
    say(!hint, hint, i);
  };
  const statements = all(":scope > li", list);
  const group = options(statements.map((item) => copy(item.querySelector("p") ?? item)), task.textContent, chosen);
  list.classList.add("plain");
  box.append(group);
  return { fits: (kept) => isPlace(kept, statements.length), show: chosen };
}

/** Return the statements in the code of a box, each a list of lines: copies, as paper shows the code itself. */
export function blocks(box, heights) {
  const lines = all(".l", box).map((line) => line.cloneNode(true));
  return heights.map((height) => lines.splice(0, height));
}
