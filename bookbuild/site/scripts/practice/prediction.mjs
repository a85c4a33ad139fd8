// Predict, commit, reveal.  In the text stand a paragraph that begins with "Predict.", a list of choices (or none: then
// a number is typed), what decides and what tells the answer, and a fold with a sentence for each choice, the true one
// beginning with "Right".  All between the question and the end of the fold is hidden behind one strip until the reader
// has chosen.  Only the code directly below the choices stays, since one predicts from it; where a number is asked it
// goes too, as it computes it.
import { all, element, linked, setting } from "../page.mjs";
import { keep, of, place } from "../place.mjs";
import { hash } from "./hash.mjs";
import { copy, options, plain } from "./options.mjs";
import { unread, value } from "./sums.mjs";

const FOLD = "What each choice says";
const RANGE = /\s*\(between (\S+) and (\S+)\)/;
const FINDABLE = "onbeforematch" in document.documentElement; // the browser's search in the page opens what is hidden
const { dataset } = document.documentElement;
const met = new Set(); // cards whose results a link or a search has shown: they stay, whatever is kept meanwhile

/** Show what a link leads to, which may be veiled. */
export function unveil() {
  const target = linked();
  const veiled = target?.closest(".veiled");
  if (!veiled) return;
  veiled.dispatchEvent(new Event("beforematch"));
  target.scrollIntoView();
}

/** Return what a prediction is made of: the list or null, the cell whose code stays or null, what is veiled, the fold. */
function parts(question) {
  const list = question.nextElementSibling?.matches("ul") ? question.nextElementSibling : null;
  const between = [];
  let fold = (list ?? question).nextElementSibling;
  while (fold && !(fold.matches(".fold") && plain(fold.querySelector("summary")) === FOLD)) {
    between.push(fold);
    fold = fold.nextElementSibling;
  }
  const cell = list && between[0]?.querySelector(":scope > .cell_input") ? between.shift() : null;
  const outputs = cell ? all(":scope > :not(.cell_input)", cell) : [];
  return { list, cell, veils: [...outputs, ...between, fold], fold };
}

function veil(part, hidden) {
  part.classList.toggle("veiled", hidden);
  if (FINDABLE) part.hidden = hidden && "until-found";
}

/** Make a question of the text one that is answered. */
export function prediction(question) {
  const { list, cell, veils, fold } = parts(question);
  if (!fold) return;
  const key = hash(plain(question));
  const sentences = all("li", fold);
  const right = list ? sentences.findIndex((one) => plain(one).startsWith("Right")) : 0;
  const card = element("div", { className: "predict", role: "group", ariaLabel: "Prediction" });
  const said = element("div", { className: "say", role: "status" });
  const strip = element("p", { className: "veil" }, "What follows is hidden until you choose.");
  question.before(card);
  question.tabIndex = -1;
  question.id ||= `predict-${key}`;
  card.append(question);
  const ask = list ? choices(card, list, commit) : number(card, sentences, commit);
  (cell ?? card).after(strip);

  const skip = control("Skip, and show me", () => commit({}));
  const showAll = control("Show all results", () => setting("veil", "off"));
  const again = control("Choose again", () => keep(({ guesses }) => delete guesses[key]), () => ask.field());
  const anew = control("Start this page’s predictions anew", () => keep((mine) => (mine.guesses = {})));
  const hideAll = control("Hide results until I choose", () => {
    met.clear();
    setting("veil", "");
  });
  card.append(said, element("div", { className: "row" }, skip, showAll, again, anew, hideAll));

  function commit(made) {
    keep(({ guesses }) => (guesses[key] = { ...made, right: made.which === right }));
  }

  /** Return a button that changes the page while the question stays where it is on the screen. */
  function control(label, change, next = () => question) {
    const button = element("button", { className: "link" }, label);
    const top = () => card.getBoundingClientRect().top;
    button.addEventListener("click", () => {
      const before = top();
      change();
      next().focus({ preventScroll: true }); // the button itself is gone
      scrollBy({ top: top() - before, behavior: "instant" });
    });
    return button;
  }

  /** Return the guess that is kept; what is kept in another form is none. */
  function known() {
    const made = of(place(), dataset.page).guesses[key];
    const isChoice = made?.which === undefined || (Number.isInteger(made.which) && made.which in sentences);
    return isChoice ? made : undefined;
  }

  let shown; // the guess that the card shows

  function show() {
    const made = known();
    const always = dataset.veil === "off" || met.has(card);
    const open = Boolean(made) || always;
    for (const part of veils) veil(part, !open);
    strip.hidden = open;
    skip.hidden = showAll.hidden = open;
    again.hidden = anew.hidden = !made;
    hideAll.hidden = !always;
    card.classList.toggle("done", Boolean(made));
    if (JSON.stringify(made) === shown) return; // nothing is announced twice
    shown = JSON.stringify(made);
    ask.show(made, right);
    said.replaceChildren(...(made ? verdict(made) : []));
  }

  /** Return what a guess is told: the sentence of the choice, and that of the right one. */
  function verdict({ which }) {
    if (which === undefined) return [element("p", {}, "Skipped: the result stands below.")];
    const told = [...new Set([which, right])].map((i) => copy(sentences[i].querySelector("p") ?? sentences[i]));
    for (const node of told.flat()) node.data &&= node.data.replace(RANGE, "");
    return told.map((nodes) => element("p", {}, ...nodes));
  }

  for (const part of veils) {
    part.addEventListener("beforematch", () => {
      met.add(card);
      show();
    });
  }
  addEventListener("kept", show);
  addEventListener("chosen", show);
  show();
}

/** Ask by a list of choices; those that a reader and the book made are named in words. */
function choices(card, list, commit) {
  const texts = [...list.children].map((item) => item.querySelector("p") ?? item);
  const fresh = () => options(texts.map(copy), "What do you predict?", (which) => commit({ which }));
  let group = fresh();
  list.classList.add("plain");
  card.append(list, group);

  function show(made, right) {
    const before = group;
    const focused = before.contains(document.activeElement);
    group = fresh();
    before.replaceWith(group);
    if (!made) return;
    group.mark(made.which, right);
    group.close();
    for (const [i, button] of [...group.children].entries()) {
      const names = [i === made.which && "your choice", i === right && "right"].filter(Boolean).join(", ");
      if (names) button.append(element("span", { className: "named" }, names));
    }
    if (focused) group.children[made.which].focus({ preventScroll: true });
  }
  return { show, field: () => group.firstElementChild };
}

/** Ask for a number, which is too small, too large or in the range that the first sentence gives. */
function number(card, sentences, commit) {
  const [low, high] = plain(sentences[0]).match(RANGE).slice(1).map(Number);
  const input = element("input", { autocomplete: "off", autocapitalize: "off", spellcheck: false });
  const button = element("button", { className: "main" }, "Choose");
  const tell = element("span", { className: "say", role: "status" });

  function choose() {
    const whole = Number.isInteger(low) && Number.isInteger(high);
    const typed = value(input.value, whole);
    tell.textContent = Number.isFinite(typed) ? "" : unread(input.value, whole);
    input.focus({ preventScroll: true });
    if (!tell.textContent) commit({ text: input.value, which: typed < low ? 1 : typed > high ? 2 : 0 });
  }
  button.addEventListener("click", choose);
  input.addEventListener("keydown", ({ key }) => key === "Enter" && !input.readOnly && choose());
  card.append(element("div", { className: "row" }, element("label", { className: "field" }, "Your guess", input), button, tell));

  function show(made) {
    input.value = made?.text ?? "";
    input.readOnly = Boolean(made);
    button.hidden = Boolean(made);
  }
  return { show, field: () => input };
}
