// Lines of code to put in order: a click or a tap moves a line between the two lists, a drag puts it anywhere, the arrow
// keys reorder.  Right is every order in which each name is made before it is needed and `check` agrees.
import { verdict } from "../../../practice/order.mjs";
import { element } from "../page.mjs";
import { blocks } from "./choice.mjs";
import { drag } from "./drag.mjs";
import { isPlace } from "./exercise.mjs";
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

  return {
    fits: (kept) => Array.isArray(kept) && kept.every((number) => isPlace(number, pieces.length)),
    show(kept, done) {
      answer.append(...kept.map((number) => pieces[number]));
      if (done) judge();
    },
  };
}
