// Lines of code to put in order: a click or a tap moves a line between the two lists, a drag puts it anywhere, the arrow
// keys reorder.  Right is every order in which each name is made before it is needed and `check` agrees.
import { all, element } from "../page.mjs";
import { blocks } from "./choice.mjs";
import { drag } from "./drag.mjs";
import { plain } from "./options.mjs";

const STEP = { ArrowUp: -1, ArrowDown: 1 };
const TIP = "Tap a line to move it to the function or back; drag it by its grip; with the keyboard, Enter moves it and ↑ ↓ reorder.";

export function lines({ box, data, say, tell, keep }) {
  const [head, ...codes] = blocks(box, data.heights);
  const answer = element("ol", { className: "answer", ariaLabel: "Your function" });
  const pool = element("ol", { className: "pool", ariaLabel: "Lines to choose from" });
  const heard = element("p", { className: "heard", role: "status" }); // the eye sees where a line goes
  const tip = element("p", { className: "tip", id: `tip-${data.name}` }, TIP);
  const pieces = codes.map((code, i) => {
    const grip = element("span", { className: "grip", ariaHidden: "true" }, "⠿");
    const button = element("button", { className: "pick" }, ...code);
    const piece = Object.assign(element("li", { className: "piece" }, grip, button), { number: i });
    button.setAttribute("aria-describedby", tip.id);
    button.addEventListener("click", () => piece.dragged || move(piece, piece.parentElement === pool ? answer : pool));
    button.addEventListener("keydown", (event) => {
      if (!STEP[event.key] || piece.parentElement === pool) return;
      event.preventDefault();
      move(piece, answer, [...answer.children].indexOf(piece) + STEP[event.key]);
    });
    drag(piece, grip, [answer, pool], changed);
    return piece;
  });
  pool.append(...pieces);
  const check = element("button", { className: "main" }, "Check");
  check.addEventListener("click", judge);
  const mine = element("div", {}, element("pre", { className: "head" }, ...head), answer);
  box.append(tip, element("div", { className: "bench" }, mine, pool), element("div", { className: "row" }, check), heard);

  function move(piece, list, index = list.children.length) {
    const focused = piece.contains(document.activeElement);
    const others = [...list.children].filter((one) => one !== piece);
    const place = Math.max(0, Math.min(index, others.length));
    list.insertBefore(piece, others[place] ?? null);
    if (focused) piece.querySelector("button").focus();
    const text = plain(piece.querySelector("button"));
    heard.textContent = list === pool ? `Taken out: ${text}` : `Line ${place + 2}: ${text}`;
    changed();
  }

  function changed() {
    for (const piece of pieces) piece.classList.remove("faulty");
    tell();
    keep([...answer.children].map((piece) => piece.number), false);
  }

  function judge() {
    const chosen = [...answer.children].map(({ number }) => number);
    const [fault, sentence] = verdict(data, chosen);
    for (const piece of pieces) piece.classList.toggle("faulty", Boolean(sentence) && chosen[fault] === piece.number);
    say(!sentence, sentence, chosen);
  }

  return (chosen) => {
    answer.append(...chosen.map((number) => pieces[number]));
    if ("done" in box.dataset) judge();
  };
}

/** Return which of the chosen lines is at fault, and what to say; an empty sentence where they are right. */
export function verdict({ pieces, made, count, failing }, chosen) {
  const known = new Set(made);
  const above = [];
  for (const [i, number] of chosen.entries()) {
    const piece = pieces[number];
    const line = i + 2; // the def line is the first
    const blocks = open(above);
    const before = above.at(-1) ?? { indent: 0, opens: true };
    if (before.opens && piece.indent !== before.indent + 4) return [i, `line ${line - 1} opens a block, so an indented line must follow it.`];
    if (!before.opens && piece.indent > 4 && !blocks.some(({ indent }) => indent + 4 === piece.indent)) return [i, `line ${line} is indented, and no line above it opens a block.`];
    if (piece.goes_on && !blocks.some(({ branches, indent }) => branches && indent === piece.indent)) return [i, `line ${line} goes on with a choice that no line above it begins.`];
    if (above.some(({ ends, indent }) => ends && indent === 4)) return [i, `line ${line} is never reached: the function has returned.`];
    const missing = piece.needs?.find((name) => !known.has(name));
    if (missing) return [i, `line ${line} needs ${missing}, and no line above makes it.`];
    for (const name of piece.makes ?? []) known.add(name);
    above.push(piece);
  }
  const stranger = chosen.findIndex((number) => pieces[number].wrong);
  if (stranger >= 0) return [stranger, pieces[chosen[stranger]].wrong];
  if (chosen.length < count) return [-1, chosen.length ? "every line that you have is right, and something is missing." : "move lines into the function first."];
  const wrong = failing.find(([order]) => order.join() === chosen.join());
  return wrong ? [-1, wrong[1]] : [-1, ""];
}

/** Return the headers whose blocks the last of these lines stands in. */
function open(above) {
  const found = [];
  let indent = above.at(-1)?.indent ?? 0;
  for (const line of [...above].reverse())
    if (line.opens && line.indent < indent) {
      found.push(line);
      ({ indent } = line);
    }
  return found;
}
