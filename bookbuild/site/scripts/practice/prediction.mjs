// Predict, commit, reveal.  In the text stand a paragraph that begins with "Predict.", a list of choices (or none: then
// a number is typed), what decides, and a fold with a sentence for each choice, the true one beginning with "Right".
// What stands between the question and the fold is veiled until the reader has chosen; the code of a cell only where a
// number is asked, as it computes it.
import { all, element, linked } from "../page.mjs";
import { keep, of, place } from "../place.mjs";
import { hash } from "./hash.mjs";
import { copy, options, plain } from "./options.mjs";
import { value } from "./sums.mjs";

const FOLD = "What each choice says";
const RANGE = /\s*\(between (\S+) and (\S+)\)/;
const met = new Set(); // what a link has shown stays so, whatever else is kept meanwhile

/** Show what a link leads to, which may be veiled. */
export function unveil() {
  const target = linked();
  const veiled = target?.closest(".veiled");
  if (!veiled) return;
  met.add(veiled);
  lift(veiled);
  target.scrollIntoView();
}

function lift(veiled) {
  veiled.classList.remove("veiled");
  veiled.inert = false;
}

/** Return what a prediction is made of: the list or null, what is veiled, the fold or null. */
function parts(question) {
  const list = question.nextElementSibling?.matches("ul") ? question.nextElementSibling : null;
  const between = [];
  let next = (list ?? question).nextElementSibling;
  while (next && !(next.matches(".fold") && plain(next.querySelector("summary")) === FOLD)) {
    between.push(next);
    next = next.nextElementSibling;
  }
  const shown = (part) => (list && part.matches(".cell") ? all(":scope > :not(.cell_input)", part) : part);
  return { list, veils: between.flatMap(shown), fold: next };
}

/** Make a question of the text one that is answered. */
export function prediction(question) {
  const { list, veils, fold } = parts(question);
  if (!fold) return;
  const key = hash(plain(question));
  const sentences = all("li", fold);
  const right = list ? sentences.findIndex((one) => plain(one).startsWith("Right")) : 0;
  const said = element("div", { className: "say", role: "status" });
  const skip = element("button", { className: "link" }, "Skip, and show me");
  const card = element("div", { className: "predict", role: "group", ariaLabel: "Prediction" });
  question.before(card);
  question.tabIndex = -1;
  question.id ||= `predict-${key}`;
  card.append(question);
  const ask = list ? choices(card, list, commit) : number(card, sentences, commit);
  card.append(element("div", { className: "row" }, skip), said);
  skip.addEventListener("click", () => commit({}));

  function commit(guess) {
    if (known()) return;
    const hides = document.activeElement?.matches(".link, .main"); // its own button
    keep(({ guesses }) => (guesses[key] = { ...guess, right: guess.which === right }));
    if (hides) question.focus();
  }

  const known = () => of(place(), document.documentElement.dataset.page).guesses[key];

  function show() {
    const guess = known();
    const open = Boolean(guess) || document.documentElement.dataset.veil === "off";
    for (const [i, veil] of veils.entries()) {
      if (open && veil.classList.contains("veiled")) lift(veil);
      else if (!open && !met.has(veil)) {
        veil.classList.add("veiled");
        veil.classList.toggle("first", !i);
        veil.inert = true;
      }
    }
    fold.classList.toggle("waits", !open);
    skip.hidden = open;
    card.classList.toggle("done", Boolean(guess));
    if (!guess || said.hasChildNodes()) return;
    ask.close(guess, right);
    const told = guess.which === undefined ? [] : guess.which === right ? [right] : [guess.which, right];
    said.append(...told.map((i) => element("p", {}, ...copy(sentences[i].querySelector("p") ?? sentences[i]))));
    for (const node of all("p", said).flatMap((one) => [...one.childNodes])) node.data &&= node.data.replace(RANGE, "");
    if (!told.length) said.append(element("p", {}, "Skipped: the result stands below."));
  }

  addEventListener("kept", show);
  addEventListener("chosen", show);
  show();
}

function choices(card, list, commit) {
  const group = options([...list.children].map((item) => copy(item.querySelector("p") ?? item)), "What do you predict?", (which) => commit({ which }));
  list.classList.add("plain");
  card.append(list, group);
  return {
    close({ which }, right) {
      group.mark(which, right);
      group.close();
    },
  };
}

function number(card, sentences, commit) {
  const [low, high] = plain(sentences[0]).match(RANGE).slice(1).map(Number);
  const input = element("input", { autocomplete: "off", autocapitalize: "off", spellcheck: false });
  const button = element("button", { className: "main" }, "Choose");
  const tell = element("span", { className: "say", role: "status" });
  const guess = () => {
    const typed = value(input.value);
    tell.textContent = Number.isFinite(typed) ? "" : "Type a number first.";
    if (tell.textContent) input.focus();
    else commit({ text: input.value, which: typed < low ? 1 : typed > high ? 2 : 0 });
  };
  button.addEventListener("click", guess);
  input.addEventListener("keydown", ({ key }) => key === "Enter" && guess());
  card.append(element("div", { className: "row" }, element("label", { className: "field" }, "Your guess", input), button, tell));
  return {
    close({ text }) {
      input.value = text ?? "";
      input.readOnly = true;
      button.hidden = true;
    },
  };
}
