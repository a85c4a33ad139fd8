// Chapter 8: one token through layer normalisation.
import {
  begin,
  box,
  brief,
  button,
  change,
  dial,
  entry,
  field,
  fixed,
  fold,
  make,
  numbers,
  quoted,
  slider,
  speaker,
} from "../shared/parts.mjs";

const MOST = 1e6; // no button makes a feature larger
const ROUNDING = 1e-24; // a variance this small against the mean square is rounding alone

// ---- the mathematics -----------------------------------------------------------------------------------------------

const mean = (row) => row.reduce((sum, value) => sum + value, 0) / row.length;

function layerNorm({ x, gain, bias, eps }) {
  const middle = mean(x);
  const centred = x.map((value) => value - middle);
  const variance = mean(centred.map((value) => value ** 2));
  const normed = centred.map((value) => value / Math.sqrt(variance + eps));
  const out = normed.map((value, i) => value * gain[i] + bias[i]);
  return { middle, variance, normed, out, bound: Math.sqrt(x.length - 1) };
}

// Twelve digits, so that 0.3 + 1 is written 1.3; and never without end.
const tidy = (value) => Number(Math.max(-MOST, Math.min(MOST, value)).toPrecision(12));

// The first of 1, 2, 5, 10, … that is at least as large.
function nice(size) {
  const power = 10 ** Math.floor(Math.log10(size));
  return power * [1, 2, 5, 10].find((step) => step * power >= size * (1 - 1e-9));
}

// ---- in words ------------------------------------------------------------------------------------------------------

function remark({ labels, x, gain, bias, eps }, { middle, variance, normed, bound }) {
  const most = `√${x.length - 1} = ${fixed(bound, 2)}`;
  const moved = gain.some((value) => value !== 1) || bias.some((value) => value !== 0);
  const then = moved ? " Gain and bias then stretch and shift each feature by itself." : "";
  const far = normed.findIndex((value) => Math.abs(value) > 0.99 * bound);
  if (variance <= ROUNDING * mean(x.map((value) => value ** 2))) {
    return "All features are equal: no differences are left. Each output is its bias; without ε it would be 0/0.";
  }
  if (eps > variance / 9) {
    const size = fixed(Math.sqrt(variance / (variance + eps)), 2);
    return `Here ε counts beside the variance: normalised, the standard deviation is ${size} and not 1.${then}`;
  }
  if (far >= 0) {
    const alone = `${quoted(labels[far])} stands alone and is as large as any can be, ${most}, however far you pull it`;
    return `${alone}. The others are pressed together.${then}`;
  }
  const facts = `The mean is ${brief(middle, 2)}, the standard deviation ${brief(Math.sqrt(variance), 2)}`;
  const each = "each normalised feature says how many of these it lies from the mean, and none exceeds";
  return `${facts}: ${each} ${most}.${then}`;
}

// Each changes every feature, and tells what came of it.
const BUTTONS = [
  { name: "add 1 to all", change: (x) => x + 1, did: "Every feature rose by 1", why: "the mean rose with them" },
  { name: "double all", change: (x) => 2 * x, did: "Every feature doubled", why: "so did the standard deviation" },
];

function told({ did, why }, largest) {
  const cause = largest < 0.0005 ? `: ${why}` : ", for ε counts here";
  return `${did}. The largest change of an output is ${fixed(largest, 3)}${cause}.`;
}

// ---- what is seen --------------------------------------------------------------------------------------------------

// A line for each feature: its name, which chooses it; x, to be dragged and typed; and what becomes of it.
function chart(labels, choose, move) {
  const { place, show } = numbers();
  let reach = 0;
  const lines = labels.map((label, i) => {
    const name = button(label, () => choose(i));
    const range = slider({ step: "any", "aria-label": label }, (value) => move(i, tidy(value)));
    const named = { "aria-label": `${label} as a number`, "data-name": `x-${i}` };
    const typed = field(named, () => true, (value) => move(i, value));
    const [normed, out, limit] = ["normed", "out", "limit"].map((part) => make("div", { class: `mt-part-${part}` }));
    const drawn = make("div", { class: "mt-rail", "aria-hidden": "true" }, limit, normed, out);
    const arrow = make("span", { class: "mt-spoken" }, " becomes ");
    const written = make("span", { class: "mt-became" }, place(`normed-${i}`), arrow, place(`out-${i}`));
    const node = make("div", { class: "mt-feature" }, name, range, typed.node, drawn, written);
    return { node, name, range, typed, normed, out, limit };
  });
  const note = make("p", { class: "mt-muted" });
  const key = (part, text) => make("span", { class: `mt-key-${part}` }, text);
  note.append("Drag or type the features. ", key("normed", "Normalised"), ", then ", key("out", "with gain and bias"));
  note.append(". Dashed: the most that there can be without them.");
  const draw = (now, { normed, out, bound }, chosen, fresh) => {
    reach = Math.max(fresh ? 0 : reach, nice(Math.max(1, ...now.x.map(Math.abs)) * (fresh ? 1.5 : 1)));
    const full = 1.2 * bound * 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(...out.map(Math.abs)) / (1.2 * bound))));
    const at = (value) => 50 + (50 * value) / full;
    const span = (from, to) => `left: ${Math.min(at(from), at(to))}%; width: ${Math.abs(at(to) - at(from))}%`;
    lines.forEach((line, i) => {
      change(line.name, { "aria-pressed": i === chosen });
      change(line.range, { min: -reach, max: reach, step: reach / 100, "aria-valuetext": now.x[i] });
      line.range.value = now.x[i];
      line.typed.show(now.x[i]);
      change(line.normed, { style: span(0, normed[i]) });
      change(line.out, { style: span(0, out[i]) });
      change(line.limit, { style: span(-bound, bound) });
      show(`normed-${i}`, normed[i], brief(normed[i], 2));
      show(`out-${i}`, out[i], brief(out[i], 2));
    });
  };
  return { node: make("div", { class: "mt-lines" }, note, ...lines.map((line) => line.node)), draw };
}

// Gain and bias of the chosen feature, or of all at once.
function affine(move, together) {
  const all = box("for all features", together);
  const title = make("span");
  const row = (name) => {
    const range = slider({ min: -3, max: 3, step: 0.1, "aria-label": name }, (value) => move(name, value));
    const typed = field({ "aria-label": `${name} as a number`, "data-name": name }, () => true, (v) => move(name, v));
    return { name, range, typed, node: make("div", { class: "mt-knob" }, make("span", {}, name), range, typed.node) };
  };
  const rows = ["gain", "bias"].map(row);
  const head = make("div", { class: "mt-heading" }, title, all.node);
  const node = make("div", { class: "mt-affine mt-controls" }, head, ...rows.map((each) => each.node));
  const draw = (now, chosen, whole) => {
    title.textContent = whole ? "gain and bias" : `gain and bias of ${quoted(now.labels[chosen])}`;
    all.draw(whole);
    for (const { name, range, typed } of rows) {
      range.value = now[name][chosen];
      change(range, { "aria-valuetext": now[name][chosen] });
      typed.show(now[name][chosen]);
    }
  };
  return { node, draw };
}

function facts() {
  const { place, show } = numbers();
  const node = make(
    "dl",
    {},
    entry("mean μ", place("mean")),
    entry("variance σ²", place("variance")),
    entry("standard deviation σ", place("deviation")),
    entry("furthest from 0, normalised", place("largest"), " of at most ", place("bound")),
  );
  const draw = ({ middle, variance, normed, bound }) => {
    const largest = Math.max(...normed.map(Math.abs));
    show("mean", middle, brief(middle, 2));
    show("variance", variance, brief(variance, 2));
    show("deviation", Math.sqrt(variance), brief(Math.sqrt(variance), 2));
    show("largest", largest, fixed(largest, 2));
    show("bound", bound, fixed(bound, 2));
  };
  return { node, draw };
}

export default {
  render({ model, el }) {
    const keys = ["labels", "x", "gain", "bias", "eps"];
    const state = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    const start = state();
    let own = { chosen: 0, whole: false, news: "", fresh: true }; // what is not shared with a kernel
    const set = (shared, mine = {}) => {
      own = { ...own, news: "", ...mine };
      for (const [key, value] of Object.entries(shared)) model.set(key, value);
      model.save_changes();
      draw(); // also where nothing is shared
    };
    const lines = chart(start.labels, (chosen) => set({}, { chosen }), (i, v) => set({ x: model.get("x").with(i, v) }));
    const knobs = affine(
      (name, v) => set({ [name]: model.get(name).map((old, i) => (own.whole || i === own.chosen ? v : old)) }),
      (whole) => set({}, { whole }),
    );
    const written = (eps) => (eps < 0.001 ? eps.toExponential() : String(eps));
    const named = { title: ["ε, added to σ²"], label: "epsilon", middle: 1e-5, range: 1e5, written };
    const small = dial({ ...named, words: ["10⁻¹⁰", "10⁻⁵", "1"] }, (eps) => set({ eps }));
    const list = facts();
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const draw = () => {
      const now = state();
      const found = layerNorm(now);
      lines.draw(now, found, own.chosen, own.fresh);
      own.fresh = false;
      knobs.draw(now, own.chosen, own.whole);
      small.draw(now.eps);
      list.draw(found);
      verdict.textContent = own.news || remark(now, found);
      const one = `${quoted(now.labels[own.chosen])} becomes ${brief(found.out[own.chosen], 2)}`;
      speech.say(`${one}. ${verdict.textContent}`);
    };
    const alter = (each) => {
      const now = state();
      const x = now.x.map((value) => tidy(each.change(value)));
      const [before, after] = [now, { ...now, x }].map((all) => layerNorm(all).out);
      set({ x }, { news: told(each, Math.max(...after.map((value, i) => Math.abs(value - before[i])))) });
    };
    const level = () => set({ x: model.get("x").map((_, i, all) => tidy(mean(all))) });
    const again = () => set(start, { chosen: 0, whole: false, fresh: true });
    const buttons = BUTTONS.map((each) => button(each.name, () => alter(each)));
    buttons.push(button("make all equal", level), button("start again", again));
    const press = make("div", { class: "mt-buttons mt-controls" }, ...buttons);
    const counted = fold("ε, mean and variance", small.node, list.node);
    const nodes = [lines.node, verdict, press, knobs.node, counted, speech.node];
    begin(el, model, keys.slice(1), draw, make("div", { class: "mt-features" }, ...nodes));
  },
};
