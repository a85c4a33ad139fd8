// How a text is cut into words, and which forms of a word count as the same.
import {stemmer} from "stemmer";

const WORD = /[√∂∑∞]|\p{N}+(?:\.\p{N}+)+|[\p{L}\p{N}_]+/gu; // 4.3 is one word
const SMALL = new Set(
  ("a an and are as at be by can do does for from has have how i in is it its me my not of on one or our so than " +
    "that the their there these they this to us use was we what when where which why will with you").split(" "),
);
const MATTER = new Map([["it", "pronoun"]]); // a small word that the book is about
const SAME = new Map([
  ...[["√", "sqrt"], ["root", "sqrt"], ["ε", "epsilon"], ["eps", "epsilon"], ["∞", "infinity"], ["embeddings", "vectors"]],
  ...[["ch", "chapter"], ["eq", "equation"], ["ex", "exercise"], ["fig", "figure"]],
]);

// What learners write in one word, and the book in several.
const MEANT = new Map(
  Object.entries({
    ...{behavior: "looking inside", behaviour: "looking inside"},
    ...{dpo: "preferences", ffn: "feed forward network", flash: "tile", gqa: "grouped query attention"},
    ...{mha: "multi head attention", mla: "latent cache", moe: "mixture of experts", mqa: "grouped query attention"},
    ...{ppo: "reward step", qkv: "queries keys values", rl: "reward step", rlhf: "preferences rewards", rope: "rotary"},
    ...{sdpa: "scaled dot product attention", sft: "fine tuning"},
  }).map(([short, long]) => [short, long.split(" ")]),
);

// The words of `text` with their places: objects {word, index}.
export const places = (text) => [...text.matchAll(WORD)].map((found) => ({word: found[0], index: found.index}));
export const words = (text) => text.match(WORD) ?? [];

const bare = (word) => word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const american = (word) =>
  word
    .replace(/(?<=[iy])s(?=(ation|e|ed|er|es|ing)$)/, "z")
    .replace(/(?<=\w\w)our(?=(s|ed|ing|hood)?$)/, "or")
    .replace(/(?<=^(lic|def|off|pret))enc(?=es?$)/, "ens")
    .replace(/(?<=\wt)re(?=s?$)/, "er");

const known = new Map();

// The forms under which `word` is found: as it stands (that is what the reader begins to type), its stem, its parts.
export function forms(word) {
  if (!known.has(word)) known.set(word, made(word));
  return known.get(word);
}

function made(word) {
  const plain = bare(word);
  const parts = plain.split("_").filter((part) => part.length > 2);
  const all = [plain, stemmer(american(plain)), SAME.get(plain) ?? plain, ...(plain.includes("_") ? parts : [])];
  return [...new Set(all)];
}

// The words of a query that say something; where all are small, what they are about.
export function telling(query) {
  const all = words(query);
  const large = all.filter((word) => !SMALL.has(bare(word)));
  if (large.length) return large.flatMap((word) => MEANT.get(bare(word)) ?? word);
  return all.map((word) => MATTER.get(bare(word)) ?? word);
}

// The name of a thing, in a title or a query: "Fig. 4.3" is figure 4.3, and "(4.1)" equation 4.1.
export function named(text) {
  const said = bare(text.trim()).replace(/^\((?=\d+\.\d+\)$)/, "equation ");
  return words(said).map((word) => SAME.get(word) ?? word).join(" ");
}
