// The lines of a text that show best why it was found: of a section's first sentence all, if it is not long.
import {forms, places} from "./words.mjs";

const LENGTH = 160; // characters
const BEFORE = 50; // of these at most so many before the first word met

// Returns the parts of the excerpt: objects {said, marked}, in the order of the text.
export function excerpt(text, terms) {
  const met = places(text)
    .map(({word, index}) => ({index, end: index + word.length, form: forms(word).find((form) => terms.includes(form))}))
    .filter(({form}) => form);
  const from = beginning(text, best(met)?.index ?? 0);
  const to = ending(text, from + LENGTH);
  const parts = [{said: from > 0 ? "… " : "", marked: false}];
  let done = from;
  for (const {index, end} of met.filter((word) => word.index >= from && word.end <= to)) {
    parts.push({said: text.slice(done, index), marked: false}, {said: text.slice(index, end), marked: true});
    done = end;
  }
  parts.push({said: text.slice(done, to) + (to < text.length ? " …" : ""), marked: false});
  return parts.filter(({said}) => said);
}

// The word from which on the most different words are met.
function best(met) {
  const within = ({index}) => met.filter((word) => word.index >= index && word.end <= index + LENGTH - BEFORE);
  const different = (word) => new Set(within(word).map(({form}) => form)).size;
  return met.reduce((top, word) => (top && top.count >= different(word) ? top : {...word, count: different(word)}), null);
}

function beginning(text, index) {
  const sentence = text.lastIndexOf(". ", index);
  if (index - sentence < BEFORE) return sentence < 0 ? 0 : sentence + 2;
  return text.indexOf(" ", index - BEFORE) + 1;
}

const ending = (text, index) => (index >= text.length ? text.length : text.lastIndexOf(" ", index));
