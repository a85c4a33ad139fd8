// What all forms of an exercise share: the answer that is kept, the sentence that is said, the tick.
import { all, element } from "../page.mjs";
import { keep, of, place } from "../place.mjs";

const unpack = (text) => JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))));

/** Fill the box of an answer: `form` makes what a reader handles and returns how an earlier answer is put back. */
export function exercise(box, form) {
  const data = unpack(box.dataset.answer);
  const whole = box.closest(".exercise");
  const said = element("p", { className: "say", role: "status" });
  const hand = {
    box,
    data,
    whole,
    task: box.querySelector(".task"),
    /** Say what an answer is worth, and keep it. */
    say(right, sentence, answer) {
      const nearly = sentence?.startsWith("right, "); // but rounded
      const mark = right ? "Right." : nearly ? "Nearly: " : "Not yet: ";
      said.classList.toggle("right", right);
      said.replaceChildren(element("b", {}, mark), right ? " Compare with the solution." : sentence.replace("not yet: ", ""));
      if (answer !== undefined) hand.keep(answer, right);
    },
    /** Say something that is no verdict. */
    tell(...sentence) {
      said.classList.remove("right");
      said.replaceChildren(...sentence);
    },
    keep(answer, done) {
      keep(({ answers }) => (answers[data.name] = { answer, done: done || Boolean(answers[data.name]?.done) }));
      tick();
      dispatchEvent(new Event("ticked"));
    },
  };
  const tick = () => {
    box.toggleAttribute("data-done", Boolean(before()?.done));
    whole.classList.toggle("done", all(".practice", whole).every((one) => "done" in one.dataset));
  };
  const before = () => of(place(), document.documentElement.dataset.page).answers[data.name];
  const again = form(hand);
  box.append(said);
  box.classList.add("ready");
  if (before()) again(before().answer);
  tick();
}
