// Which entries of the index answer a query, the best first.
import MiniSearch from "minisearch";
import {forms, named, telling, words} from "./words.mjs";

const FIELDS = {title: 2.5, chapter: 2, text: 1, code: 0.3}; // what a word counts in each
const SMALL = 0.5; // what an exercise, a figure or an equation counts, beside a section
const RECALL = 0.3; // what a section counts that names or sums up what others build
const RECALLING = /^(names-you-will-meet-elsewhere|common-misreadings|further-reading|summary|exercises)/;
const CHAPTER = 0.2; // what the rest of its chapter adds to a section: a chapter on the matter comes before a mention
const MISTYPED = {from: 4, share: 0.25}; // letters, and how many of them may be wrong
const EXPLAINS = 0.5; // the weight of a page whose words are those that the book speaks in, and does not only list

// Returns the function that finds for a query the entries: objects {id, terms}, of which terms are the words met.
export function ranking({pages, entries}) {
  const titles = pages.map((_, page) => entries.find((entry) => entry[0] === page)[2]);
  const number = ([page, place]) => (pages[page][1] && !place ? `Chapter ${pages[page][1]}` : "");
  const names = entries.map((entry) => [entry[2], entry[2].split(":")[0], number(entry)].map(named));
  const vocabulary = new Set();
  const noted = (word) => {
    const all = forms(word);
    for (const form of all) vocabulary.add(form);
    return all;
  };
  const engine = new MiniSearch({fields: Object.keys(FIELDS), tokenize: words, processTerm: noted});
  const documents = entries.map((entry, id) => {
    const [page, , title, text, code] = entry;
    return {id, title: `${number(entry)} ${title}`, chapter: titles[page], text, code, explains: pages[page][2] >= EXPLAINS};
  });
  engine.addAll(documents.filter(({explains}) => explains));
  const spoken = new Set(vocabulary);
  engine.addAll(documents.filter(({explains}) => !explains));
  const kind = (place) => (/^(ex|fig|equation)-/.test(place) ? SMALL : RECALLING.test(place) ? RECALL : 1);
  const weight = (id) => pages[entries[id][0]][2] * kind(entries[id][1]);

  return (query) => {
    const asked = written(telling(query), spoken).map((ways) => ways.flatMap(forms));
    const found = engine.search(query, {
      boost: FIELDS,
      boostDocument: weight,
      tokenize: () => [...asked.keys()],
      processTerm: (place) => asked[place],
      prefix: (term) => asked.at(-1).includes(term), // its end may not be typed yet
      fuzzy: (term) => !vocabulary.has(term) && term.length >= MISTYPED.from && MISTYPED.share,
    });
    for (const result of found) result.score *= met(asked, result) ** 2;
    addChapters(found, (id) => entries[id][0], weight);
    addNamesakes(found, (id) => names[id], named(query));
    return found.sort((one, other) => other.score - one.score);
  };
}

// The ways in which the book may write each word that was asked: "layernorm" as two words, "soft max" as one.
function written(asked, spoken) {
  const known = (word) => word.length > 1 && spoken.has(word.toLowerCase());
  const cuts = (word) => [...word].map((_, i) => [word.slice(0, i), word.slice(i)]);
  const ways = asked.map((word) => [word, ...((!known(word) && cuts(word).find((parts) => parts.every(known))) || [])]);
  for (const i of asked.keys()) {
    const joined = asked[i] + asked[i + 1];
    if (i + 1 < asked.length && known(joined)) for (const way of [ways[i], ways[i + 1]]) way.push(joined);
  }
  return ways;
}

// The share of the words asked that a result holds.
const met = (asked, {queryTerms}) =>
  asked.filter((word) => word.some((form) => queryTerms.includes(form))).length / asked.length;

function addChapters(found, pageOf, weight) {
  const sums = new Map();
  for (const {id, score} of found) sums.set(pageOf(id), (sums.get(pageOf(id)) ?? 0) + score);
  for (const result of found) result.score += CHAPTER * weight(result.id) * sums.get(pageOf(result.id));
}

// What bears the very name that was asked comes right after the best result; a function, or what has a number, before it.
function addNamesakes(found, namesOf, asked) {
  const best = Math.max(...found.map(({score}) => score));
  const before = asked.includes("_") || /^\w+ [\d.]+$/.test(asked);
  for (const result of found) {
    if (namesOf(result.id).includes(asked)) result.score = Math.max(result.score, best * (before ? 1.001 : 0.999));
  }
}
