// How a text is cut into words, and which forms of a word count as the same.
import {stemmer} from "stemmer";

const WORD = /[√∂∑∞]|\p{N}+(?:\.\p{N}+)+|[\p{L}\p{N}_]+/gu; // 4.3 is one word
const STOP = new Set(
  ("a an and are as at be by can do does for from has have how i in is it its me my not of on one or our so than " +
    "that the their there these they this to us use was we what when where which why will with you").split(" "),
);
const SAME = {"√": "sqrt", root: "sqrt", ε: "epsilon", eps: "epsilon", "∞": "infinity", embeddings: "vectors", fig: "figure"};

// The words of `text` with their places: objects {word, index}.
export const places = (text) => [...text.matchAll(WORD)].map((found) => ({word: found[0], index: found.index}));
export const words = (text) => text.match(WORD) ?? [];

const bare = (word) => word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const american = (word) => word.replace(/is(?=(ation|e|ed|er|es|ing)$)/, "iz").replace(/our(?=s?$)/, "or");

const known = new Map();

// The forms under which `word` is found: as it stands (that is what the reader begins to type), its stem, its parts.
// Nothing where it says nothing by itself.
export function forms(word) {
  if (!known.has(word)) known.set(word, made(word));
  return known.get(word);
}

function made(word) {
  const plain = bare(word);
  if (STOP.has(plain)) return null;
  const parts = plain.split("_").filter((part) => part.length > 2);
  const all = [plain, stemmer(american(plain)), SAME[plain] ?? plain, ...(plain.includes("_") ? parts : [])];
  return [...new Set(all)];
}
