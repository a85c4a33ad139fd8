// Chapter 12: two attentions that continue a repeated text, as a comic in four panels.
import { begin, change, fixed, make, numbers, quoted, slider, speaker } from "../shared/parts.mjs";
import { player } from "../shared/steps.mjs";

const PACE = 2200; // milliseconds from panel to panel when it plays
const PANELS = 4;
const LEAST = 0.005; // smaller shares are not told

// ---- the mathematics -----------------------------------------------------------------------------------------------

// What comes of shares of words: each word once, with all that it has, the largest first.
function mixed(shares, words) {
  const sums = new Map();
  shares.forEach((share, i) => sums.set(words[i], (sums.get(words[i]) ?? 0) + share));
  return [...sums].filter(([, share]) => share >= LEAST).sort(([, a], [, b]) => b - a);
}

// Of the word that asks: where it looks, who is written to come after it, and what it says; and what each has written.
function look({ words, first, second, asks }) {
  const notes = first.map((row) => mixed(row, words));
  const [asker, row] = [words[asks - 1], second[asks - 1]];
  const after = words.map((_, i) => i < asks && notes[i][0]?.[0] === asker);
  return { notes, asker, after, row, says: mixed(row, words) };
}

// ---- in words ------------------------------------------------------------------------------------------------------

const percent = (share) => `${fixed(100 * share, 0)}%`;
const told = (pairs) => pairs.slice(0, 3).map(([word, share]) => `${quoted(word)} (${percent(share)})`).join(" or ");

function titles({ asker, says }) {
  const said = says.length === 1 ? quoted(says[0][0]) : "a mixture";
  const last = `${quoted(asker)} says ${said}`;
  return ["words alone", "layer 1: who is before me?", `layer 2: who comes after ${quoted(asker)}?`, last];
}

const REMARKS = [
  ({ words }) => `Each of ${words.length} words holds itself and its place, and nothing of the others.`,
  ({ words, first, asks }, { asker, notes }) => {
    const most = first[asks - 1].indexOf(Math.max(...first[asks - 1]));
    if (most === asks - 1) return `${quoted(asker)} sees no word before it, and writes itself down.`;
    return `Each looks one place back and writes down whom it finds: ${quoted(words[most])} is before ${quoted(asker)}.`;
  },
  ({ words }, { asker, after, row }) => {
    const found = words.filter((_, i) => after[i]).map(quoted);
    if (!found.length) return `Nobody it may see has written down ${quoted(asker)}, so it looks at all alike.`;
    const shares = row.reduce((sum, share, i) => sum + (after[i] ? share : 0), 0);
    return `${quoted(asker)} is written down by ${found.join(" and ")}: there it looks, with ${percent(shares)}.`;
  },
  (_, { asker, after, says }) => {
    if (!after.includes(true)) return `${quoted(asker)} has not been followed yet, so what it says is a mixture of all words.`;
    if (says.length > 1) return `It says what has followed ${quoted(asker)}: ${told(says)}.`;
    return `It says what has followed ${quoted(asker)}: ${quoted(says[0][0])}.`;
  },
];

// ---- the panels ----------------------------------------------------------------------------------------------------

// A line from one word to another, above them; a loop where a word looks at itself.
function arc(from, to) {
  const [x, end] = [100 * from + 50, 100 * to + 50];
  if (from === to) return `M${x - 14} 32C${x - 24} 8 ${x + 24} 8 ${x + 14} 32`;
  return `M${x} 32C${x} ${14 - 4 * Math.abs(from - to)} ${end} ${14 - 4 * Math.abs(from - to)} ${end} 32`;
}

// A panel: its title, lines for looks, and for each word a card.
function panel(number, words, choose) {
  const { place, show } = numbers();
  const count = words.length;
  const title = make("p", { class: "mt-opening" });
  const lines = words.map(() => words.map(() => make("path", { class: "mt-throw" })));
  const attributes = { viewBox: `0 0 ${100 * count} 32`, preserveAspectRatio: "none", "aria-hidden": "true" };
  const above = make("svg", attributes, ...lines.flat());
  const cards = words.map((word, i) => {
    const [memo, take] = [make("span", { class: "mt-memo" }), make("span", { class: "mt-take" })];
    if (number === 2 || number === 3) take.append(place(`${number === 2 ? "first" : "second"}-${i}`));
    const node = make("li", {}, make("b", {}, word), memo, take);
    node.addEventListener("click", () => choose(i + 1));
    return { node, memo, take };
  });
  const cast = make("ol", {}, ...cards.map((card) => card.node));
  cast.style.setProperty("--mt-count", count);
  const node = make("section", { class: "mt-scene", "aria-label": `panel ${number}` }, title, above, cast);
  const draw = (state, seen) => {
    const { first, second, asks } = state;
    const there = number <= state.panel;
    node.classList.toggle("mt-due", !there);
    node.classList.toggle("mt-current", number === state.panel);
    title.textContent = `${number}  ${titles(seen)[number - 1]}`;
    lines.forEach((row, i) => row.forEach((line, j) => {
      const table = number === 2 ? first : second;
      const drawn = number > 1 && (number === 2 || i === asks - 1) && table[i][j] >= LEAST && j <= i;
      line.style.visibility = drawn ? "" : "hidden";
      change(line, drawn ? { d: arc(i, j), "stroke-opacity": 0.25 + 0.75 * table[i][j] } : { d: "" });
      line.classList.toggle("mt-own-look", i === asks - 1);
    }));
    cards.forEach(({ node, memo, take }, i) => {
      const known = number > 1;
      const note = seen.notes[i].slice(0, 1).map(([word]) => word);
      memo.textContent = known ? `after ${note}` : `place ${i}`;
      node.classList.toggle("mt-asking", i === asks - 1 && number > 1);
      node.classList.toggle("mt-found", number === 3 && seen.after[i]);
      if (number === 2 || number === 3) {
        const share = i < asks ? (number === 2 ? first : second)[asks - 1][i] : undefined;
        const name = `${number === 2 ? "first" : "second"}-${i}`;
        show(name, share === undefined ? null : 100 * share, share >= LEAST ? percent(share) : "");
      } else if (number === 4) {
        const [best] = seen.says;
        take.textContent = i === asks - 1 ? (seen.says.length === 1 ? best[0] : "?") : "";
      }
    });
  };
  return { node, draw };
}

export default {
  render({ model, el }) {
    const keys = ["words", "first", "second", "panel", "asks"];
    const state = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    const set = (key, value) => {
      model.set(key, value);
      model.save_changes();
      draw(); // also where nothing has changed but the button
    };
    const steps = player({ label: "panel", first: 1, pace: PACE }, (panel) => set("panel", panel));
    const ask = (asks) => {
      steps.stop();
      set("asks", asks);
    };
    const who = make("span");
    const asking = slider({ min: 1, "aria-label": "word that asks" }, ask);
    const choice = make("div", { class: "mt-player mt-controls" }, who, asking);
    const controls = make("div", { class: "mt-acting" }, steps.node, choice);
    const [room, verdict, speech] = [make("div", { class: "mt-scenes" }), make("p", { class: "mt-verdict" }), speaker()];
    let [panels, known] = [[], ""];
    const draw = () => {
      const now = state();
      const made = JSON.stringify(now.words);
      if (known !== made) { // also at the start
        panels = Array.from({ length: PANELS }, (_, i) => panel(i + 1, now.words, ask));
        room.replaceChildren(...panels.map((each) => each.node));
        known = made;
      }
      const seen = look(now);
      panels.forEach((each) => each.draw(now, seen));
      steps.draw(now.panel, PANELS, `${now.panel} of ${PANELS}: ${titles(seen)[now.panel - 1]}`);
      change(asking, { max: now.words.length, "aria-valuetext": `${now.asks} of ${now.words.length}: ${seen.asker}` });
      asking.value = now.asks;
      who.textContent = `${now.asks} asks`;
      verdict.textContent = REMARKS[now.panel - 1](now, seen);
      speech.say(verdict.textContent);
    };
    begin(el, model, keys, draw, make("div", { class: "mt-comic" }, room, controls, verdict, speech.node));
  },
};
