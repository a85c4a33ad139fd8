// Chapter 17: a vector of one sentence is put into the pass of its twin, at any word of any layer.
import { cut, encode, unpacked, written } from "../shared/transformer.mjs";
import { away, loaded, near } from "../shared/weights.mjs";
import { begin, button, change, make, numbers, quoted, share, softmax, speaker } from "../shared/parts.mjs";

const MORE = 6; // words of a translation behind what was said, the pronoun among them
const NAMED = 4; // of the places that decide
const LITTLE = 0.005; // a share that is hardly one

const alike = (one, other) => String(one) === String(other);

// ---- the mathematics -----------------------------------------------------------------------------------------------

// What a model makes of the first sentence of a pair when the vector of the second one is put at a place, [layer, word],
// or at none, []: shares(place) of the pronouns, the word that it says(place) there, and the whole french(place).
function laboratory(engine, { source, target, pronouns }, pair, said) {
  const [own, other] = pair.map((text) => text.split(" ").map((word) => source.indexOf(word)));
  const spoken = said.split(" ").map((word) => target.indexOf(word));
  const [kept, given] = [own, other].map((ids) => encode(engine, ids).streams);
  const same = ([layer, word]) => kept[layer][word].every((value, i) => value === given[layer][word][i]);
  const write = (place, more) => {
    const put = (stream, l) => stream.map((vector, t) => (alike(place, [l, t]) ? given[l][t] : vector));
    return [...written(engine, encode(engine, own, put).memory, spoken.length + more, spoken)];
  };
  const found = new Map(); // the logits at the pronoun, by their place
  const logits = (place) => {
    const key = place.length && same(place) ? "" : String(place);
    if (!found.has(key)) found.set(key, write(place, 1).at(-1).logits);
    return found.get(key);
  };
  const shares = (place) => {
    const { weights } = softmax(logits(place), 1);
    return pronouns.map((word) => weights[target.indexOf(word)]);
  };
  const says = (place) => target[logits(place).indexOf(Math.max(...logits(place)))];
  const french = (place) => write(place, MORE).map(({ id }) => target[id]).filter((word) => word !== "</s>");
  return { same, shares, says, french, at: spoken.length };
}

// ---- in words ------------------------------------------------------------------------------------------------------

const layered = (layer) => (layer ? `after layer ${layer}` : "embedded");
const short = (layer) => (layer ? `layer ${layer}` : "embedded");
const named = ([layer, word], words) => `${quoted(words[word])} ${layered(layer)}`;

function remark({ same, says }, words, place, tried, count) {
  const before = quoted(says([]));
  if (place.length) {
    if (same(place)) return `Both sentences have the same vector for ${named(place, words)}, so nothing changes.`;
    const still = says(place) === says([]) ? "still " : "";
    return `With the other sentence's vector for ${named(place, words)}, the model ${still}says ${quoted(says(place))}.`;
  }
  const asks = "Choose a place: the vector of the other sentence goes there, and everything after it is computed anew.";
  if (!tried.length) return `The model says ${before}. ${asks}`;
  const turned = tried.filter((each) => says(each) !== says([])).map((each) => named(each, words));
  const which = turned.length ? `: ${turned.slice(0, NAMED).join(", ")}${turned.length > NAMED ? ", …" : ""}` : "";
  return `${tried.length} of ${count} vectors tried; ${before} changes with ${turned.length || "none"}${which}.`;
}

// ---- what is seen --------------------------------------------------------------------------------------------------

const header = (scope, ...children) => make("th", { scope }, ...children);
const shade = (node, part) => node.style.setProperty("--mt-shade", part);

// The shares of both pronouns, before and after.
function outcome(pronouns) {
  const { place, show } = numbers();
  const rows = ["before", "after"].map((when) => {
    const cells = pronouns.map((_, i) => make("td", {}, place(`${when}-${i}`)));
    return { when, cells, node: make("tr", {}, header("row", when), ...cells) };
  });
  const top = make("tr", {}, make("td"), ...pronouns.map((word) => make("th", { scope: "col", lang: "fr" }, word)));
  const node = make("table", { class: "mt-outcome" }, make("thead", {}, top), make("tbody", {}, ...rows.map((row) => row.node)));
  const draw = (...shares) => rows.forEach(({ when, cells }, r) => cells.forEach((cell, i) => {
    const part = shares[r]?.[i];
    show(`${when}-${i}`, part ?? null, part === undefined ? "" : share(part, 2));
    shade(cell, part ?? 0);
  }));
  return { node, draw };
}

// A button for each word, as a row, and each layer, as a column: one stop of the Tab key, with arrow keys from there.
function table(pair, layers, pronoun, press) {
  const { place, show } = numbers();
  const [words, others] = pair.map((text) => text.split(" "));
  const rows = words.map((word, t) => {
    const cells = Array.from({ length: layers + 1 }, (_, layer) => {
      const node = button("", () => press([layer, t]));
      node.append(place(`share-${layer}-${t}`));
      return node;
    });
    const twin = word === others[t] ? [] : [make("span", { class: "mt-value" }, ` ← ${others[t]}`)];
    const name = header("row", make("span", { class: "mt-word" }, word, ...twin));
    return { cells, node: make("tr", {}, name, ...cells.map((cell) => make("td", {}, cell))) };
  });
  const columns = rows[0].cells.map((_, layer) => header("col", short(layer)));
  const caption = make("caption", {}, `Share of ${quoted(pronoun)} with the other vector there`);
  const top = make("thead", {}, make("tr", {}, make("td"), ...columns));
  const node = make("table", { class: "mt-places mt-controls" }, caption, top, make("tbody", { lang: "en" }, ...rows.map((row) => row.node)));
  const all = rows.map(({ cells }) => cells);
  const rest = (there) => all.flat().forEach((cell) => (cell.tabIndex = cell === there ? 0 : -1));
  node.addEventListener("focusin", ({ target }) => rest(target));
  node.addEventListener("keydown", (event) => {
    const way = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!way) return;
    event.preventDefault();
    const row = all.findIndex((cells) => cells.includes(event.target));
    all[row + way[0]]?.[all[row].indexOf(event.target) + way[1]]?.focus();
  });
  rest(all[0][0]);
  const draw = (chosen, seen, found) => {
    all.forEach((cells, t) => cells.forEach((cell, layer) => {
      const part = seen.some((place) => alike(place, [layer, t])) ? found([layer, t]) : undefined;
      const text = part === undefined ? "" : share(part, 2);
      show(`share-${layer}-${t}`, part ?? null, text);
      shade(cell, part ?? 0);
      cell.classList.toggle("mt-tried", part !== undefined);
      cell.classList.toggle("mt-little", part < LITTLE);
      change(cell, { "aria-pressed": alike(chosen, [layer, t]), "aria-label": `${words[t]} ${layered(layer)}, ${text || "not tried"}` });
    }));
  };
  return { node, draw, places: all.flatMap((cells, t) => cells.map((_, layer) => [layer, t])) };
}

// A list to choose from, and two buttons for the whole table.
function controls(contrasts, choose, tryAll, clear) {
  const node = make("select", { "aria-label": "what differs" }, ...contrasts.map((name) => make("option", {}, name)));
  node.addEventListener("change", () => choose(node.selectedIndex));
  const buttons = [button("try all", tryAll), button("start again", clear)];
  return { node: make("div", { class: "mt-line mt-controls" }, node, ...buttons), draw: (i) => (node.selectedIndex = i) };
}

export default {
  render({ model, el }) {
    const keys = ["sizes", "source", "target", "pronouns", "pairs", "said", "weights", "contrast", "place", "tried"];
    const state = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    const set = (changes) => {
      for (const [key, value] of Object.entries(changes)) model.set(key, value);
      model.save_changes();
    };
    const { sizes, source, target, pronouns, pairs, weights: [weights] } = state();
    const keep = (places) => state().tried.map((old, i) => (i === state().contrast ? places : old));
    const press = (place) => {
      const tried = state().tried[state().contrast];
      const known = tried.some((each) => alike(each, place));
      set({ place: alike(place, state().place) ? [] : place, tried: keep(known ? tried : [...tried, place]) });
    };
    const choose = (contrast) => set({ place: [], contrast });
    const all = () => set({ place: [], tried: keep(tables[state().contrast].places) });
    const settings = controls(model.get("contrasts"), choose, all, () => set({ place: [], tried: keep([]) }));
    const tables = pairs.map((pair) => table(pair, sizes.encoder_layers, pronouns[1], press));
    const stage = make("div", {}, tables[state().contrast].node);
    const result = outcome(pronouns);
    const french = make("p", { class: "mt-french", lang: "fr" });
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    let engine;
    const labs = []; // one for each pair that was seen

    const draw = () => {
      const { contrast, place, tried: { [contrast]: tried }, said } = state();
      const { node, draw: fill, places } = tables[contrast];
      settings.draw(contrast);
      if (stage.firstChild !== node) stage.replaceChildren(node);
      if (!engine) return;
      const lab = (labs[contrast] ??= laboratory(engine, state(), pairs[contrast], said[contrast]));
      fill(place, [place, ...tried], (each) => lab.shares(each)[1]);
      result.draw(lab.shares([]), place.length ? lab.shares(place) : []);
      const pronoun = (word) => make("b", { class: "mt-output" }, word);
      const words = lab.french(place).map((word, i) => [i === lab.at ? pronoun(word) : word, word.endsWith("'") ? "" : " "]);
      french.replaceChildren(...words.flat());
      verdict.textContent = remark(lab, pairs[contrast][0].split(" "), place, tried, places.length);
      speech.say(verdict.textContent);
    };
    const start = (base64) => {
      engine = cut(unpacked(base64), { ...sizes, source: source.length, target: target.length });
      draw();
    };
    const failed = () => (verdict.textContent = "The weights could not be loaded: check the network, then load the page again.");

    const nodes = [settings.node, stage, result.node, french, verdict, speech.node];
    begin(el, model, keys, draw, make("div", { class: "mt-patches" }, ...nodes));
    if (away(weights)) return near(el, 300).then(() => loaded(weights)).then(start, failed);
    start(weights);
  },
};
