// Chapter 21: a hundred questions asked in two ways, and which of the answers are right.
import { begin, change, entry, make, numbers, quoted, slider, speaker } from "../shared/parts.mjs";

const GROUPS = { "both": "right both ways", "first": "the first way alone", "second": "the second alone", "neither": "neither way" };

// A list of the ways to ask, which calls choose(place).
function ways(names, label, choose) {
  const list = make("select", { "aria-label": label }, ...names.map((name) => make("option", {}, name)));
  list.addEventListener("change", () => choose(list.selectedIndex));
  const draw = (at) => (list.selectedIndex = at);
  return { node: make("label", { class: "mt-controls" }, label, list), draw };
}

// A square for each question: its left half is filled where the first way was right, the other where the second was.
function squares(names, choose) {
  const cells = names.map((name, i) => {
    const cell = make("i", { title: name });
    cell.addEventListener("click", () => choose(i));
    return cell;
  });
  const node = make("div", { class: "mt-questions", "aria-hidden": "true" }, ...cells);
  const draw = (first, second, at) => cells.forEach((cell, i) => {
    change(cell, { class: [first[i] && "mt-left", second[i] && "mt-right", i === at && "mt-here"].filter(Boolean).join(" ") });
  });
  return { node, draw };
}

// How many questions are answered rightly by which of the two ways.
function counts() {
  const { place, show } = numbers();
  const lines = Object.entries(GROUPS).map(([name, title]) => entry(title, place(name)));
  const draw = (first, second) => {
    const kinds = first.map((one, i) => (one ? (second[i] ? "both" : "first") : second[i] ? "second" : "neither"));
    for (const name of Object.keys(GROUPS)) {
      const count = kinds.filter((kind) => kind === name).length;
      show(name, count, String(count));
    }
  };
  return { node: make("dl", {}, ...lines), draw };
}

export default {
  render({ model, el }) {
    const get = (key) => model.get(key);
    const set = (key, value) => {
      model.set(key, value);
      model.save_changes();
    };
    const names = get("questions");
    const lists = [["first", "first way"], ["second", "second way"]].map(([key, label]) => (
      [key, ways(get("ways"), label, (i) => set(key, i))]
    ));
    const field = squares(names, (i) => set("at", i));
    const along = slider({ min: 0, max: names.length - 1, step: 1, "aria-label": "question" }, (i) => set("at", i));
    const list = counts();
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const draw = () => {
      const [first, second, at] = ["first", "second", "at"].map(get);
      const right = get("right");
      for (const [key, each] of lists) each.draw(get(key));
      field.draw(right[first], right[second], at);
      list.draw(right[first], right[second]);
      along.value = at;
      change(along, { "aria-valuetext": `${at}, ${get("questions")[at]}` });
      const said = (way) => `${quoted(get("said")[way][at] || "nothing")} ${right[way][at] ? "✓" : "✗"}`;
      verdict.textContent = `${get("questions")[at]}: first ${said(first)}, second ${said(second)}`;
      speech.say(verdict.textContent.replaceAll("✓", "right").replaceAll("✗", "wrong"));
    };
    const both = make("div", { class: "mt-two" }, ...lists.map(([, each]) => each.node));
    const steer = make("div", { class: "mt-controls" }, along);
    const nodes = [both, field.node, steer, verdict, list.node, speech.node];
    const keys = ["ways", "questions", "said", "right", "first", "second", "at"];
    begin(el, model, keys, draw, make("div", { class: "mt-asked" }, ...nodes));
  },
};
