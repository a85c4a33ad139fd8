// Which entries of the index answer a query, the best first.
import MiniSearch from "minisearch";
import {forms, words} from "./words.mjs";

const FIELDS = {title: 2.5, chapter: 2, text: 1, code: 0.3}; // what a word counts in each
const SMALL = 0.5; // what an exercise or a figure counts, beside a section
const CHAPTER = 0.2; // what the rest of its chapter adds to a section: a chapter on the matter comes before a mention
const MISTYPED = {from: 4, share: 0.25}; // letters, and how many of them may be wrong

// Returns the function that finds for a query the entries: objects {id, terms}, of which terms are the words met.
export function ranking({pages, entries}) {
  const titles = pages.map((_, page) => entries.find((entry) => entry[0] === page)[2]);
  const vocabulary = new Set();
  const noted = (word) => {
    const all = forms(word);
    all?.forEach((form) => vocabulary.add(form));
    return all;
  };
  const engine = new MiniSearch({fields: Object.keys(FIELDS), tokenize: words, processTerm: noted});
  engine.addAll(entries.map(([page, , title, text, code], id) => ({id, title, chapter: titles[page], text, code})));
  const weight = (id) => pages[entries[id][0]][2] * (/^(ex|fig)-/.test(entries[id][1]) ? SMALL : 1);

  return (query) => {
    const asked = words(query).map(forms).filter(Boolean);
    const found = engine.search(query, {
      boost: FIELDS,
      boostDocument: weight,
      processTerm: forms,
      prefix: (term) => asked.at(-1).includes(term), // its end may not be typed yet
      fuzzy: (term) => !vocabulary.has(term) && term.length >= MISTYPED.from && MISTYPED.share,
    });
    for (const result of found) result.score *= met(asked, result) ** 2;
    addChapters(found, (id) => entries[id][0], weight);
    addNamesakes(found, (id) => entries[id][2], query);
    return found.sort((one, other) => other.score - one.score);
  };
}

// The share of the words asked that a result holds.
const met = (asked, {queryTerms}) =>
  asked.filter((word) => word.some((form) => queryTerms.includes(form))).length / asked.length;

function addChapters(found, pageOf, weight) {
  const sums = new Map();
  for (const {id, score} of found) sums.set(pageOf(id), (sums.get(pageOf(id)) ?? 0) + score);
  for (const result of found) result.score += CHAPTER * weight(result.id) * sums.get(pageOf(result.id));
}

// What bears the very name that was asked comes right after the best result, and a function before it.
function addNamesakes(found, titleOf, query) {
  const [name, best] = [query.trim().toLowerCase(), Math.max(...found.map(({score}) => score))];
  for (const result of found) {
    if (titleOf(result.id).toLowerCase() === name) {
      result.score = Math.max(result.score, best * (name.includes("_") ? 1.001 : 0.999));
    }
  }
}
