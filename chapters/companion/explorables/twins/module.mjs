// The cover: a sentence and its twin, what decides how it is translated, and where the model looks; and what the model,
// loaded when the reader comes to the field, makes of a sentence of the reader's own.
import { asking } from "../shared/asking.mjs";
import { average, cut, encode, unpacked, written } from "../shared/transformer.mjs";
import { away, loaded } from "../shared/weights.mjs";
import { begin, button, change, fixed, make, numbers, quoted, speaker } from "../shared/parts.mjs";

const PRONOUNS = ["il", "elle"];
const NOUNS = [1, 5]; // the places of the two nouns that "it" can stand for
const WIDEST = 13; // pixels of a band, for a share of 1
const LEAST = 0.1; // smaller shares of the cross-attention are not drawn
const LITTLE = 0.05; // a difference of weights that shows nothing
const SECONDS = 0.3; // for a band to come from word to word
const MOST = 14; // words of a typed sentence, as many as the longest of the model's language has
const MORE = 8; // words that its translation may have beyond that
const MARKS = 3; // entries of either vocabulary that are no words

// What a model makes of a typed sentence, in the form of the two that are stored: it is both, and no word was swapped.
function translated(model, english, source, target) {
  const ids = english.map((word) => source.indexOf(word));
  const { memory, weights } = encode(model, ids);
  const said = [...written(model, memory, ids.length + MORE)].filter(({ id }) => id >= MARKS);
  const it = english.indexOf("it");
  const found = {
    english,
    french: said.map(({ id }) => target[id]),
    weights: said.map(({ cross }) => average(cross.at(-1))),
    swaps: english.map(() => [0, 0]),
    looks: weights.map((layer) => (it < 0 ? ids.map(() => 0) : average(layer[it]))),
  };
  return Object.fromEntries(Object.entries(found).map(([name, one]) => [name, [one, one]]));
}

// ---- in words ------------------------------------------------------------------------------------------------------

function remark({ english, french, right, looks, typed }, shown, view) {
  const words = english[shown];
  const pronoun = french[shown].find((word) => PRONOUNS.includes(word));
  if (typed) return ofTyped(words, pronoun, looks[shown], view);
  const [meant, rival] = [shown, 1 - shown].map((i) => NOUNS[i]);
  const [means, not] = [meant, rival].map((k) => quoted(words[k]));
  if (view === 0) {
    const here = `“it” stands for ${means} here, so French says ${quoted(pronoun)}: swap a word in bold, and it changes.`;
    const before = `Of ${right[1]} such sentences, never seen before, the model got ${right[0]} right.`;
    return `${here} ${before} Nobody told the model what can be ${words.at(-1)}: it has learned that from sentences of a small made-up language, in which animals tire and streets are wide.`;
  }
  const [own, wrong] = [meant, rival].map((k) => looks[shown][view - 1][k]);
  const taken = `In layer ${view}, mean of its heads, “it” takes ${fixed(own, 2)} from ${means}`;
  const verdict =
    own > wrong + LITTLE
      ? `${means} is what it stands for, but try the twin and the other layer: not every layer shows it.`
      : `It stands for ${means}, so here the weights mislead: where a word looks is not why the answer is as it is.`;
  return `${taken} and ${fixed(wrong, 2)} from ${not}. ${verdict}`;
}

function ofTyped(words, pronoun, looks, view) {
  if (view && words.includes("it")) {
    const row = looks[view - 1];
    const most = [...row.keys()].sort((i, j) => row[j] - row[i]).slice(0, 2);
    const taken = most.map((k) => `${fixed(row[k], 2)} from ${quoted(words[k])}`).join(", then ");
    return `In layer ${view}, mean of its heads, “it” takes ${taken}.`;
  }
  if (view) return "There is no “it” in this sentence.";
  const all = "The model has just translated this, as it would any sentence in its words, sense or nonsense.";
  if (!pronoun) return `${all} Add “because it was too …”, and it has to choose “il” or “elle”.`;
  return `${all} It says ${quoted(pronoun)} here: change a noun or the last word, and see whether that decides.`;
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
  return { node, draw, english: at(said), french: at(written), rows: lines.length };
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
function bands() {
  const [up, down] = ["mt-up", "mt-down"].map((name) => make("g", { class: name }));
  const node = make("svg", { class: "mt-bands", "aria-hidden": "true" }, up, down);
  let words, it, above, across; // the words, which of them is "it", and the paths between them
  let now; // the shares that are seen, the words at which their bands end, and the weights
  let frame;

  const fill = (english, french, place) => {
    [words, it] = [{ english, french }, Math.max(0, place)];
    const none = english.map(() => 0);
    now = now && { shares: none, weights: french.map(() => none), ends: [...none.keys()] }; // from which all grow
    above = english.map(() => make("path"));
    across = french.map(() => english.map(() => make("path")));
    up.replaceChildren(...above);
    down.replaceChildren(...across.flat());
  };

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
  return { node, fill, draw };
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
    const keys = ["english", "french", "weights", "swaps", "looks", "right", "shown", "view", "lines", "typed"];
    const given = ["source", "target", "groups", "translator"];
    const [source, target, groups, translator] = given.map((key) => model.get(key));
    const state = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    const set = (changes) => {
      const fresh = Object.entries(changes).filter(([key, value]) => model.get(key) !== value);
      if (!fresh.length) return draw(); // what stands in the field has been put right
      for (const [key, value] of fresh) model.set(key, value);
      model.save_changes();
    };
    let readable = true; // what stands in the field
    const ask = asking(groups, source.slice(MARKS), MOST, (text) => {
      readable = text !== "";
      const own = [0, 1].findIndex((i) => sentence(i) === text);
      if (!readable) return draw();
      set(own < 0 ? { typed: text } : { shown: own, typed: "" });
    });
    const sentence = (i) => model.get("english")[i].join(" ");
    const start = state();
    const last = start.english.map((words) => words.at(-1));
    const twin = choice("the last word", last, (i) => ask.put(sentence(i)), make("span", {}, "… was too"));
    const views = ["what decides", ...start.looks[0].map((_, i) => `${i ? "" : "attention, "}layer ${i + 1}`)];
    const view = choice("what the bands show", views, (i) => set({ view: i }));
    const all = button("all weights", () => set({ lines: !model.get("lines") }));
    view.node.append(all);
    const lines = bands();
    const stage = make("div", { class: "mt-stage" });
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const say = (text, before = "") => {
      verdict.textContent = text;
      speech.say(before + text);
    };

    let engine = null;
    let coming = false; // are its weights?
    const build = (base64) => {
      engine = cut(unpacked(base64), { ...translator.sizes, source: source.length, target: target.length });
    };
    const [weights] = translator.weights;
    if (!away(weights)) build(weights);
    const bring = async () => {
      if (engine) return;
      say("The model is on its way …");
      if (coming) return;
      coming = true;
      const base64 = await loaded(weights).catch(() => "");
      coming = false;
      if (!base64) return say("The model could not be loaded: check the network, then go to the field again.");
      build(base64);
      draw();
    };
    ask.field.addEventListener("focus", bring);

    const known = `the ${source.length - MARKS} words that the model knows`;
    const hint = `Change a word, or type your own sentence in ${known}: it then loads, and translates.`;
    const aid = make("div", { class: "mt-aid mt-controls" }, make("p", { class: "mt-hint" }, hint), ask.offers);
    const told = make("div", { class: "mt-told" }, verdict, ask.news);
    const row = make("div", { class: "mt-typed mt-controls" }, ask.field);
    const box = make("div", { class: "mt-twins" }, twin.node, row, aid, view.node, stage, told, speech.node);
    let before, words;
    const draw = () => {
      const now = state();
      const { shown, typed } = now;
      change(all, { "aria-pressed": now.lines });
      twin.draw(readable && !typed ? shown : -1);
      view.draw(now.view);
      box.classList.toggle("mt-come", engine !== null);
      box.classList.toggle("mt-unread", !readable);
      if (!readable) return say("");
      ask.show(typed || sentence(shown));
      if (typed && !engine) return bring();
      const seen = typed ? { ...now, ...translated(engine, typed.split(" "), source, target) } : now;
      if (before?.typed !== typed) {
        words = sentences(seen);
        lines.fill(words.english, words.french, seen.english[0].indexOf("it"));
        stage.replaceChildren(lines.node, ...words.node);
        const letters = [...seen.english, ...seen.french].map((all) => all.join(" ").length);
        const rows = Math.max(seen.english[0].length, words.rows);
        change(stage, { style: `--letters: ${Math.max(...letters)}; --rows: ${rows}` });
      }
      words.draw(seen, shown, now.view);
      const changing = seen.swaps[shown].map(([changed, tried]) => (tried ? changed / tried : 0));
      const swapped = before?.view === 0 && now.view === 0 && before.shown !== shown && !before.typed && !typed;
      const drawn = (j) => now.lines || PRONOUNS.includes(seen.french[shown][j]); // at first the pronoun's alone
      const across = seen.weights[shown].map((row, j) => (drawn(j) ? row : row.map(() => 0)));
      lines.draw(now.view ? seen.looks[shown][now.view - 1] : changing, across, swapped);
      stage.classList.toggle("mt-looks", now.view > 0);
      const french = typed ? `${seen.french[shown].join(" ").replaceAll("' ", "'")}. ` : "";
      say(remark(seen, shown, now.view), french);
      before = now;
    };
    for (const key of ["shown", "typed"]) model.on(`change:${key}`, () => (readable = true)); // the kernel's word, too
    begin(el, model, keys, draw, box);
  },
};
