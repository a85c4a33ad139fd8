// Chapter 1: a map of words; type one, and see the words nearest to it.
import { begin, button, change, fixed, make, numbers, quoted, speaker } from "../shared/parts.mjs";

// A dot for each word, and the name of the one that is chosen; none is where `chosen` is −1.
function map(size) {
  const dots = Array.from({ length: size }, () => make("circle"));
  const name = make("text");
  const svg = make("svg", { viewBox: "-112 -106 224 212", role: "img" }, ...dots, name);
  const draw = (words, points, chosen, near) => {
    const reach = Math.max(...points.flat().map(Math.abs)) || 1;
    const at = ([x, y]) => [(100 * x) / reach, (-100 * y) / reach];
    dots.forEach((dot, i) => {
      const [cx, cy] = at(points[i]);
      const role = i === chosen ? "mt-query" : near.includes(words[i]) ? "mt-key" : "mt-muted";
      change(dot, { cx, cy, r: role === "mt-muted" ? 1.5 : 4, class: role });
    });
    const [x, y] = at(points[chosen] ?? [0, 0]);
    change(name, { x: x + (x > 0 ? -7 : 7), y: y + 4, "text-anchor": x > 0 ? "end" : "start", class: "mt-query" });
    name.textContent = words[chosen] ?? "";
    change(svg, { "aria-label": `map of ${words.length} words, of which ${words[chosen] ?? "none"} is marked` });
  };
  return { node: svg, draw };
}

// The nearest words with their cosines.
function list(size) {
  const { place, show } = numbers();
  const names = Array.from({ length: size }, () => make("span"));
  const bars = names.map(() => make("span", { class: "mt-bar", "aria-hidden": true }));
  const lines = names.map((name, i) => make("li", {}, name, bars[i], place(`cosine-${i}`)));
  const draw = (near, cosines) => {
    names.forEach((name, i) => {
      const there = i < near.length;
      name.textContent = there ? near[i] : "\u00a0";
      change(bars[i], { style: `--share: ${there ? Math.min(1, Math.max(0, cosines[i])) : 0}` });
      show(`cosine-${i}`, there ? cosines[i] : null, there ? fixed(cosines[i], 2) : "");
    });
  };
  return { node: make("ol", {}, ...lines), draw };
}

// What is said of a word that is not on the map.
function missing(typed, words) {
  if (!typed) return "Type a word, and see those nearest to it.";
  const alike = words.filter((word) => word.startsWith(typed)).slice(0, 4);
  return alike.length ? `Go on: ${alike.join(", ")} …` : `${quoted(typed)} is not among these ${words.length} words.`;
}

export default {
  render({ model, el }) {
    const get = (key) => model.get(key);
    let typed = null; // a word that is not there
    const set = (chosen) => {
      typed = null;
      model.set("chosen", chosen);
      model.save_changes();
      draw(); // also where the word is the one that it was
    };
    model.on("change:chosen", () => (typed = null)); // the kernel's word, too
    const field = make("input", { type: "text", "aria-label": "a word", spellcheck: false, autocapitalize: "off" });
    field.addEventListener("input", () => {
      const word = field.value.trim().toLowerCase();
      if (get("words").includes(word)) return set(word);
      typed = word;
      draw();
    });
    field.addEventListener("blur", () => typed === null && draw()); // without blanks and capitals
    const at = () => Math.max(0, get("words").indexOf(get("chosen")));
    const next = button("another word", () => set(get("words")[(at() + 1) % get("words").length]));
    const dots = map(get("words").length);
    const nearest = list(get("near")[0].split(" ").length);
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const draw = () => {
      const [words, i] = [get("words"), typed === null ? at() : -1];
      const [near, cosines] = i < 0 ? [[], []] : [get("near")[i].split(" "), get("cosines")[i]];
      dots.draw(words, get("points"), i, near);
      nearest.draw(near, cosines);
      if (typed === null && !field.matches(":focus")) field.value = words[i];
      change(field, { "aria-invalid": Boolean(typed) });
      const so = () => `Nearest to ${quoted(words[i])} is ${quoted(near[0])}, cosine ${fixed(cosines[0], 2)}.`;
      verdict.textContent = typed === null ? so() : missing(typed, words);
      speech.say(verdict.textContent);
    };
    const nodes = [make("div", { class: "mt-controls" }, field, next), verdict, dots.node, nearest.node, speech.node];
    const keys = ["words", "points", "near", "cosines", "chosen"];
    begin(el, model, keys, draw, make("div", { class: "mt-words" }, ...nodes));
  },
};
