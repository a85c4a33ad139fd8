// The cover: a sentence and its twin, what decides how it is translated, and where the model looks.
import { begin, button, change, fixed, make, numbers, quoted, speaker } from "../shared/parts.mjs";

const PRONOUNS = ["il", "elle"];
const NOUNS = [1, 5]; // the places of the two nouns that "it" can stand for
const WIDEST = 13; // pixels of a band, for a share of 1
const LEAST = 0.1; // smaller shares of the cross-attention are not drawn
const LITTLE = 0.05; // a difference of weights that shows nothing
const SECONDS = 0.3; // for a band to come from word to word

// ---- in words ------------------------------------------------------------------------------------------------------

function remark({ english, french, right, looks, count }, shown, view) {
  const words = english[shown];
  const pronoun = french[shown].find((word) => PRONOUNS.includes(word));
  const [meant, rival] = [shown, 1 - shown].map((i) => NOUNS[i]);
  const [means, not] = [meant, rival].map((k) => quoted(words[k]));
  if (view === 0) {
    const here = `“it” stands for ${means} here, so French says ${quoted(pronoun)}: the words in bold decide.`;
    const before = `Of ${right[1]} such sentences, never seen before, the model got ${right[0]} right.`;
    return `${here} ${before} Nobody told the model what can be ${words.at(-1)}: it has learned that from sentences of a small made-up language, ${count[0]} words of English and ${count[1]} of French, in which animals tire and streets are wide.`;
  }
  const [own, wrong] = [meant, rival].map((k) => looks[shown][view - 1][k]);
  const taken = `In layer ${view}, mean of its heads, “it” takes ${fixed(own, 2)} from ${means}`;
  const verdict =
    own > wrong + LITTLE
      ? `${means} is what it stands for, but try the twin and the other layer: not every layer shows it.`
      : `It stands for ${means}, so here the weights mislead: where a word looks is not why the answer is as it is.`;
  return `${taken} and ${fixed(wrong, 2)} from ${not}. ${verdict}`;
}

// ---- what is seen --------------------------------------------------------------------------------------------------

// French words as they are written: "l'" and the word behind it stand together.
function groups(words) {
  const found = [[]];
  words.forEach((word, i) => {
    found.at(-1).push(i);
    if (!word.endsWith("'") && i < words.length - 1) found.push([]);
  });
  return found;
}

// A word of both sentences in one place, which is as wide as the longer one, so that nothing moves when they change.
function slot(attributes) {
  const nodes = [0, 1].map(() => make("span", attributes));
  const show = (words, shown) => {
    nodes.forEach((node, i) => {
      node.textContent = node.dataset.word = words[i]; // which the sheet gives the room that it needs in bold
      node.classList.toggle("mt-away", i !== shown);
    });
  };
  return { node: make("span", { class: "mt-slot" }, ...nodes), show };
}

// The two sentences, and for each English word the numbers below it.
function sentences({ english, french }) {
  const { place, show } = numbers();
  const said = english[0].map(() => slot({}));
  const written = french[0].map(() => slot({ lang: "fr" }));
  const below = said.map((_, k) => {
    const share = make("span", {}, place(`changed-${k}`), make("i", {}, " of "), place(`tried-${k}`));
    return make("small", {}, share, place(`look-${k}`));
  });
  const items = said.map(({ node }, k) => make("li", {}, node, below[k]));
  const lines = groups(french[0]).map((group) => make("li", {}, ...group.map((j) => written[j].node)));
  const node = [make("ol", { class: "mt-english" }, ...items), make("ol", { class: "mt-french" }, ...lines)];
  const draw = ({ english, french, swaps, looks, lines }, shown, view) => {
    written.forEach((word, j) => {
      word.show([french[0][j], french[1][j]], shown);
      word.node.classList.toggle("mt-output", PRONOUNS.includes(french[shown][j]));
    });
    english[shown].forEach((word, k) => {
      said[k].show([english[0][k], english[1][k]], shown);
      const [changed, tried] = swaps[shown][k];
      const share = view > 0 ? looks[shown][view - 1][k] : null;
      const [counts, look] = [view === 0 && tried > 0, lines ? share : null];
      show(`changed-${k}`, counts ? changed : null, counts ? String(changed) : "");
      show(`tried-${k}`, counts ? tried : null, counts ? String(tried) : "");
      show(`look-${k}`, look, look === null ? "" : fixed(look, 2));
      below[k].classList.toggle("mt-counts", counts);
      items[k].classList.toggle("mt-query", word === "it");
      items[k].classList.toggle("mt-strong", view ? share >= LEAST : changed > 0);
    });
  };
  const at = (nodes) => nodes.map(({ node }) => node);
  return { node, draw, english: at(said), french: at(written) };
}

// A band from a point to another one, by way of two points that are so far off the line of the words.
function band(from, to, column) {
  const far = Math.abs(column ? to[1] - from[1] : to[0] - from[0]);
  const [high, spread] = far < 1 ? [40, 8] : [Math.min(column ? from[0] - 4 : 120, 26 + 0.3 * far), 0];
  const point = ([x, y], off, by) => (column ? [x - off, y + by] : [x + by, y - off]);
  const ends = [point(from, 0, -spread), point(to, 0, spread)];
  return `M${ends[0]}C${point(from, high, -2 * spread)} ${point(to, high, 2 * spread)} ${ends[1]}`;
}

// A line from a French word to an English one.
function line(from, to, column) {
  const middle = (i) => (from[i] + to[i]) / 2;
  const [one, two] = column ? [[middle(0), from[1]], [middle(0), to[1]]] : [[from[0], middle(1)], [to[0], middle(1)]];
  return `M${from}C${one} ${two} ${to}`;
}

// The bands of the view and the lines of the cross-attention, drawn where the words lie: above and below the English
// sentence, or, where both sentences are columns, at its left and its right side.
function bands(words, it) {
  const above = words.english.map(() => make("path"));
  const across = words.french.map(() => words.english.map(() => make("path")));
  const parts = [make("g", { class: "mt-up" }, ...above), make("g", { class: "mt-down" }, ...across.flat())];
  const node = make("svg", { class: "mt-bands", "aria-hidden": "true" }, ...parts);
  let now; // the shares that are seen, the words at which their bands end, and the weights
  let frame;

  const paint = () => {
    const origin = node.getBoundingClientRect();
    const column = getComputedStyle(node).getPropertyValue("--column") === "1";
    const box = (word) => {
      const { left, top, width, height } = word.getBoundingClientRect();
      return { x: left - origin.left, y: top - origin.top, width, height };
    };
    const before = (word) => {
      const { x, y, width, height } = box(word);
      return column ? [x - 6, y + height / 2] : [x + width / 2, y - 2];
    };
    const behind = (word) => {
      const [one, all] = [box(word), box(word.parentElement)];
      return column ? [all.x + all.width + 6, all.y + all.height / 2] : [one.x + one.width / 2, all.y + all.height + 2];
    };
    const starts = words.english.map(before);
    const between = (k) => [0, 1].map((i) => {
      const [a, b] = [Math.floor(k), Math.ceil(k)].map((place) => starts[place][i]);
      return a + (b - a) * (k % 1);
    });
    above.forEach((path, k) => {
      const width = (WIDEST * now.shares[k]).toFixed(2);
      change(path, { d: band(starts[it], between(now.ends[k]), column), "stroke-width": width });
    });
    across.forEach((row, j) => {
      const from = before(column ? words.french[j].parentElement : words.french[j]);
      row.forEach((path, k) => {
        const share = now.weights[j][k] < LEAST ? 0 : now.weights[j][k];
        const wide = words.french[j].classList.contains("mt-output") ? 6 : 2;
        change(path, { d: line(from, behind(words.english[k]), column), "stroke-width": (wide * share).toFixed(2) });
      });
    });
  };

  // Between the twins the band of one noun becomes that of the other: it travels.
  const draw = (shares, weights, travels) => {
    cancelAnimationFrame(frame);
    const was = now?.shares;
    const goal = { shares, weights, ends: shares.map((_, k) => k) };
    const still = !was || matchMedia("(prefers-reduced-motion: reduce)").matches;
    const [gone, come] = travels && was ? [...NOUNS].sort((a, b) => was[b] - was[a]) : [];
    const start = performance.now();
    const step = (time) => {
      const part = still ? 1 : Math.min(1, Math.max(0, (time - start) / 1000 / SECONDS));
      const eased = part * part * (3 - 2 * part);
      const mix = (one, two) => one + (two - one) * eased;
      now = part < 1 ? { ...goal, shares: shares.map((share, k) => mix(was[k], share)) } : goal;
      if (part < 1 && travels) {
        now.shares[come] = mix(was[gone], shares[come]);
        now.shares[gone] = mix(was[come], shares[gone]);
        now.ends = goal.ends.map((k) => (k === come ? mix(gone, come) : k === gone ? mix(come, gone) : k));
      }
      paint();
      if (part < 1) frame = requestAnimationFrame(step);
    };
    if (still) step();
    else frame = requestAnimationFrame(step);
  };
  const again = () => now && paint();
  new ResizeObserver(again).observe(node);
  document.fonts.addEventListener("loadingdone", again); // the words lie elsewhere when their face has come
  return { node, draw };
}

// Buttons of which one is pressed.
function choice(label, names, choose, ...shown) {
  const all = names.map((name, i) => button(name, () => choose(i)));
  const named = { class: "mt-choice mt-controls", role: "group", "aria-label": label };
  const node = make("div", named, ...shown, ...all);
  return { node, draw: (chosen) => all.forEach((one, i) => change(one, { "aria-pressed": i === chosen })) };
}

export default {
  render({ model, el }) {
    const keys = ["english", "french", "weights", "swaps", "looks", "right", "shown", "view", "lines", "count"];
    const state = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    const set = (key, value) => {
      model.set(key, value);
      model.save_changes();
    };
    const start = state();
    const last = start.english.map((words) => words.at(-1));
    const twin = choice("the last word", last, (i) => set("shown", i), make("span", {}, "… was too"));
    const views = ["what decides", ...start.looks[0].map((_, i) => `${i ? "" : "attention, "}layer ${i + 1}`)];
    const view = choice("what the bands show", views, (i) => set("view", i));
    const all = button("all weights", () => set("lines", !model.get("lines")));
    view.node.append(all);
    const words = sentences(start);
    const lines = bands(words, start.english[0].indexOf("it"));
    const stage = make("div", { class: "mt-stage" }, lines.node, ...words.node);
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const box = make("div", { class: "mt-twins" }, twin.node, view.node, stage, verdict, speech.node);
    let before;
    const draw = () => {
      const now = state();
      const { shown } = now;
      change(all, { "aria-pressed": now.lines });
      twin.draw(shown);
      view.draw(now.view);
      words.draw(now, shown, now.view);
      const changing = now.swaps[shown].map(([changed, tried]) => (tried ? changed / tried : 0));
      const swapped = before?.view === 0 && now.view === 0 && before.shown !== shown;
      const drawn = (j) => now.lines || PRONOUNS.includes(now.french[shown][j]); // at first the pronoun's alone
      const weights = now.weights[shown].map((row, j) => (drawn(j) ? row : row.map(() => 0)));
      lines.draw(now.view ? now.looks[shown][now.view - 1] : changing, weights, swapped);
      stage.classList.toggle("mt-looks", now.view > 0);
      verdict.textContent = remark(now, shown, now.view);
      speech.say(verdict.textContent);
      before = now;
    };
    begin(el, model, keys, draw, box);
  },
};
