// A field for an English sentence in words that a model knows, and words to tap.
import { button, change, make, quoted, roving } from "./parts.mjs";

const NAMED = 2; // of the words that it does not know
const UNREAD = /[^\p{L}\p{M}\p{N}\p{P}\s]+\p{M}*/u; // signs that are no part of words and do not stand between them
const LETTERS = "[\\p{L}\\p{N}'’-]"; // of which words are made
const [WORDS, LAST, FIRST] = [`${LETTERS}+`, `${LETTERS}*$`, `^${LETTERS}*`].map((part) => new RegExp(part, "gu"));

// The words of a text, whatever its capitals, apostrophes and punctuation.
function split(text) {
  return text.toLowerCase().replaceAll("’", "'").match(WORDS) ?? [];
}

// A list to choose from, which calls choose(index).
export function choice(label, names, choose) {
  const options = names.map((name) => make("option", {}, name));
  const node = make("select", { class: "mt-entry", "aria-label": label }, ...options);
  node.addEventListener("change", () => choose(node.selectedIndex));
  return node;
}

// What keeps a text from being translated, as a sentence for the reader; "" where nothing does.
function fault(text, typed, known, most) {
  const odd = text.match(UNREAD);
  const unknown = [...new Set(typed.filter((word) => !known.includes(word)))].slice(0, NAMED);
  if (!text.trim()) return "Type a sentence, or tap its words.";
  if (odd) return `It reads words, and cannot read ${quoted(odd[0])}.`;
  if (unknown.length) {
    return `It has not learned ${unknown.map(quoted).join(" or ")}, only the ${known.length} words offered here.`;
  }
  return typed.length > most ? `It takes at most ${most} words, and these are ${typed.length}.` : "";
}

// The field for a sentence of at most so many words, and words to tap: those that begin like the one at the caret, or
// else those of a group.  It calls tell(sentence) for one that can be translated, and tell("") for what cannot; while a
// word is on its way it waits.
export function asking(groups, known, most, tell) {
  const names = Object.keys(groups);
  const quiet = { autocapitalize: "none", autocomplete: "off", autocorrect: "off", spellcheck: false, lang: "en" };
  const named = { class: "mt-entry", "aria-label": "English sentence", enterkeyhint: "done" };
  const field = make("input", { type: "text", ...named, ...quiet });
  const news = make("p", { class: "mt-news", role: "status" });
  const box = { "aria-label": "words to add", lang: "en" };
  const words = make("div", { class: "mt-chips", role: "group", tabindex: 0, ...box });
  const settle = roving(words); // the box itself can be scrolled by keys, too
  const group = choice("group of words", names, () => offer());
  let begun = []; // the words that begin like the one at the caret
  let offered = []; // the words to tap
  let last = ""; // what was told
  // The word that ends at the caret or goes on behind it, and its place.
  const here = () => {
    const [text, caret] = [field.value, field.selectionStart];
    const [before] = text.slice(0, caret).match(LAST);
    const after = before && text.slice(caret).match(FIRST)[0];
    const place = { from: caret - before.length, to: caret + after.length };
    return { word: split(before + after)[0] ?? "", last: caret === text.length, ...place };
  };
  // A word takes the place of one that is not known, or of the one at the caret, and stands behind all at their end.
  const add = (word) => {
    const unknown = [...field.value.matchAll(WORDS)].find(([each]) => !known.includes(split(each)[0]));
    const [caret, wrong] = [here(), !begun.length && unknown];
    const { from, to } = wrong ? { from: wrong.index, to: wrong.index + wrong[0].length } : caret;
    const behind = caret.last && !wrong && !begun.length;
    const tail = field.value.slice(to).trimStart();
    const head = `${field.value.slice(0, behind ? to : from)} ${word} `.trimStart().replace(/ +/g, " ");
    field.value = head + tail;
    if (tail) field.setSelectionRange(head.length - 1, head.length - 1);
    read();
  };
  const offer = () => {
    const now = begun.length ? begun : groups[names[group.selectedIndex]];
    if (now === offered) return; // so that the one that was tapped keeps the focus
    offered = now;
    const held = words.matches(":focus-within");
    words.replaceChildren(...offered.map((word) => button(word, () => add(word))));
    settle();
    if (held) words.firstChild.focus();
  };
  const read = () => {
    const { word } = here();
    begun = known.filter((each) => word && each !== word && each.startsWith(word));
    const coming = begun.length > 0 && !known.includes(word);
    const typed = split(field.value);
    const wrong = fault(field.value, coming ? typed.filter((each) => each !== word) : typed, known, most);
    say(wrong);
    offer();
    if (wrong || !coming) tell((last = wrong ? "" : typed.join(" ")));
  };
  const say = (message) => {
    news.textContent = message;
    change(field, { "aria-invalid": message !== "" });
  };
  field.addEventListener("input", read);
  field.addEventListener("keydown", ({ key }) => key === "Enter" && begun.length && add(begun[0]));
  const put = (text) => {
    field.value = text;
    read();
  };
  const show = (text) => {
    // It comes from here.
    if (text === last) return;
    [field.value, last, begun] = [text, text, []];
    say("");
    offer();
  };
  return { field, news, put, show, offers: make("div", { class: "mt-offers" }, group, words) };
}
