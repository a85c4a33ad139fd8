// What all forms of an exercise share: the answer that is kept, the sentence that is said, the tick.
import { all, element } from "../page.mjs";
import { keep, of, place } from "../place.mjs";

const UNKNOWN = "not yet: "; // begins what is said of a wrong answer that is no known mistake
const NEARLY = "right to "; // two digits

/** Return a sentence as nodes, with what stands in backticks as code. */
export const marked = (sentence) => sentence.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));

/** Tell whether a value is the place of one of `count` things. */
export const isPlace = (value, count, first = 0) => Number.isInteger(value) && value >= first && value < count;

/** Fill the box of an answer: `form` makes what a reader handles and returns whether it can show a kept answer, and how. */
export function exercise(box, form) {
  const data = JSON.parse(box.dataset.answer);
  const whole = box.closest(".exercise");
  const hint = whole.querySelector(".fold.hint");
  const solution = solutionOf(whole);
  const said = element("p", { className: "say", role: "status" });
  const hand = {
    box,
    data,
    whole,
    solution,
    task: box.querySelector(".task"),
    /** Say what an answer is worth, and keep it. */
    say(right, sentence, answer) {
      said.classList.toggle("right", right);
      if (right) said.replaceChildren(element("b", {}, "Right."), " ", opener(solution, "Compare with the solution"), ".");
      else {
        const help = sentence.startsWith(UNKNOWN) && hint ? [" Try ", opener(hint, "the hint"), "."] : [];
        const mark = sentence.startsWith(NEARLY) ? "Nearly: " : "Not yet: ";
        said.replaceChildren(element("b", {}, mark), ...marked(sentence.replace(UNKNOWN, "")), ...help);
      }
      hand.keep(answer, right);
    },
    /** Say something that is no verdict. */
    tell(...sentence) {
      said.classList.remove("right");
      said.replaceChildren(...sentence);
    },
    /** Keep an answer, which is the last one that was given, right or not. */
    keep(answer, done) {
      keep(({ answers }) => (answers[data.name] = { answer, done }));
      tick();
      dispatchEvent(new Event("ticked"));
    },
  };
  const kept = () => of(place(), document.documentElement.dataset.page).answers[data.name];
  const tick = () => {
    box.toggleAttribute("data-done", kept()?.done === true);
    whole.classList.toggle("done", all(".practice", whole).every((one) => "done" in one.dataset));
  };
  const { fits, show } = form(hand);
  const before = kept();
  box.append(said);
  box.classList.add("ready");
  tick();
  if (before && fits(before.answer)) show(before.answer, before.done);
}

/** Return the solution of an exercise. */
function solutionOf(whole) {
  let next = whole.nextElementSibling;
  while (next && !next.matches(".solution")) next = next.nextElementSibling;
  return next;
}

/** Return a button that opens a fold and leads to it. */
function opener(fold, text) {
  const button = element("button", { className: "link" }, text);
  button.addEventListener("click", () => {
    fold.open = true;
    fold.querySelector("summary").focus();
  });
  return button;
}
