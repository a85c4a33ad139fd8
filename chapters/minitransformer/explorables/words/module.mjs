// Chapter 1: a map of words; type one, and see the words nearest to it.
import { begin, button, change, fixed, make, numbers, quoted, speaker } from "../shared/parts.mjs";

// A dot for each word, and the name of the one that is chosen.
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
    const [x, y] = at(points[chosen]);
    change(name, { x: x + (x > 0 ? -7 : 7), y: y + 4, "text-anchor": x > 0 ? "end" : "start", class: "mt-query" });
    name.textContent = words[chosen];
    change(svg, { "aria-label": `map of ${words.length} words, of which ${words[chosen]} is marked` });
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
    near.forEach((word, i) => {
      names[i].textContent = word;
      change(bars[i], { style: `--share: ${Math.min(1, Math.max(0, cosines[i]))}` });
      show(`cosine-${i}`, cosines[i], fixed(cosines[i], 2));
    });
  };
  return { node: make("ol", {}, ...lines), draw };
}

export default {
  render({ model, el }) {
    const get = (key) => model.get(key);
    let typed = null; // a word that is not there
    const set = (chosen) => {
      typed = null;
      model.set("chosen", chosen);
      model.save_changes();
    };
    const at = () => Math.max(0, get("words").indexOf(get("chosen")));
    const field = make("input", { type: "text", "aria-label": "a word", spellcheck: false, autocapitalize: "off" });
    field.addEventListener("input", () => {
      const word = field.value.trim().toLowerCase();
      if (get("words").includes(word)) return set(word);
      typed = word;
      draw();
    });
    field.addEventListener("blur", () => set(get("words")[at()]));
    const next = button("another word", () => set(get("words")[(at() + 1) % get("words").length]));
    const dots = map(get("words").length);
    const nearest = list(get("near")[0].split(" ").length);
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const draw = () => {
      const [words, i] = [get("words"), at()];
      const near = get("near")[i].split(" ");
      dots.draw(words, get("points"), i, near);
      nearest.draw(near, get("cosines")[i]);
      if (typed === null) field.value = words[i];
      change(field, { "aria-invalid": typed !== null });
      const alike = words.filter((word) => typed && word.startsWith(typed)).slice(0, 4);
      const hint = alike.length ? `Go on: ${alike.join(", ")} …` : `Not among these ${words.length} words.`;
      const so = `Nearest to ${quoted(words[i])} is ${quoted(near[0])}, cosine ${fixed(get("cosines")[i][0], 2)}.`;
      verdict.textContent = typed === null ? so : hint;
      speech.say(verdict.textContent);
    };
    const controls = make("div", { class: "mt-controls" }, field, next);
    const nodes = [controls, verdict, dots.node, nearest.node, speech.node];
    begin(el, model, ["words", "points", "near", "cosines", "chosen"], draw, make("div", { class: "mt-words" }, ...nodes));
  },
};
