// Chapter 16: the page's own language model goes on with a text.
import { encoding } from "../shared/encoding.mjs";
import { modelled, reader } from "../shared/language_model.mjs";
import { random } from "../shared/random.mjs";
import { unpacked } from "../shared/transformer.mjs";
import { away, loaded, near } from "../shared/weights.mjs";
import {
  begin, button, change, field, fixed, make, numbers, percent, quoted, roving, slider, softmax, speaker,
} from "../shared/parts.mjs";

const MOST = 120; // tokens that it writes
const LONGEST = 200; // letters of a beginning
const SHOWN = 6; // tokens of those that it considers
const PACE = 120; // milliseconds for a token
const JUMP = 20; // tokens that it writes at once where motion is unwelcome
const SEEDS = 9999;
const COUNTS = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500]; // of top-k, before all

const GIVEN = ["sizes", "weights", "merges", "window"];
const MOVED = ["text", "steps", "temperature", "k", "p", "seed"];

const jumps = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// The shares with which a token is chosen: the temperature, then the k likeliest, then as many as have p of what is
// left.  At temperature 0 the likeliest has all.
function shares(logits, { temperature, k, p }) {
  const { weights } = softmax(logits, temperature || 1);
  const order = ranked(logits).slice(0, temperature ? k : 1);
  const total = order.reduce((sum, id) => sum + weights[id], 0);
  let before = 0; // the share of those that are likelier
  const kept = order.filter((id) => {
    const fits = p === 1 || before < p * total;
    before += weights[id];
    return fits;
  });
  const left = kept.reduce((sum, id) => sum + weights[id], 0);
  const found = new Float64Array(logits.length);
  for (const id of kept) found[id] = weights[id] / left;
  return found;
}

// The tokens from the likeliest on.
const ranked = (logits) => [...logits.keys()].sort((i, j) => logits[j] - logits[i]);

// The token on which a random number from 0 to 1 falls, when all shares lie side by side.
function drawn(shares, number) {
  let sum = 0;
  const id = shares.findIndex((share) => (sum += share) > number);
  return id < 0 ? shares.findLastIndex((share) => share > 0) : id; // for a sum that rounding has left short of 1
}

// What the model writes: a beginning, and as many tokens as it is asked for, each with the shares of all that it could
// have been.  What it has read is read again only from where another token was chosen.
function author(model) {
  const { ids, logits, read, back } = reader(model);
  const put = (id, t) => {
    if (ids[t] === id) return;
    back(t);
    read(id);
  };
  return (begun, { steps, seed, ...settings }) => {
    const next = random(seed);
    begun.forEach(put);
    const written = Array.from({ length: steps + 1 }, (_, i) => {
      const now = logits[begun.length + i - 1];
      const all = shares(now, settings);
      const id = drawn(all, next());
      if (i < steps) put(id, begun.length + i);
      return { id, logits: now, shares: all };
    });
    return written;
  };
}

// A row of tokens as chips, up to a token that stands behind them; lines end where theirs do, or before a blank.
function chips(node, labels, behind) {
  labels.forEach((label, i) => {
    const old = node.children[i];
    const made = make("span", node.role ? { role: "option", tabindex: -1 } : {}, label);
    if (!old) node.append(made);
    else if (old.textContent !== label) old.replaceWith(made); // what stays does not appear anew
    node.children[i].classList.toggle("mt-break", label.endsWith("¶"));
    node.children[i].classList.toggle("mt-open", /^[·¶]/.test(labels[i + 1] ?? behind));
  });
  while (node.children.length > labels.length) node.lastChild.remove();
}

// The text in tokens; point(index) is called for the one of the model's that is meant.
function page(point) {
  const begun = make("span", { class: "mt-begun" });
  const list = { role: "listbox", "aria-label": "tokens of the model", "aria-orientation": "horizontal", lang: "en" };
  const written = make("span", list);
  const box = { class: "mt-tokens", tabindex: 0, role: "group", "aria-label": "the text in tokens" };
  const node = make("div", box, begun, written);
  const settle = roving(written);
  for (const kind of ["focusin", "click"]) {
    written.addEventListener(kind, ({ target }) => {
      const at = [...written.children].indexOf(target.closest("[role=option]"));
      if (at >= 0) point(at);
    });
  }
  const draw = (first, tokens, at, label) => {
    const grown = tokens.length !== written.children.length;
    const labels = tokens.map(({ id }) => label(id));
    chips(begun, first.map(label), labels[0] ?? "");
    chips(written, labels, "");
    written.hidden = !tokens.length; // an empty list has no options
    tokens.forEach(({ id, shares }, i) => {
      change(written.children[i], { style: `--mt-shade: ${shares[id].toFixed(3)}`, "aria-selected": i === at });
    });
    if (!tokens.length) return;
    settle(written.children[at]);
    if (grown) node.scrollTop = node.scrollHeight;
  };
  return { node, draw };
}

// What is considered: the likeliest tokens with their shares, as drawn from and as at temperature 1 with nothing cut.
function table(vocabulary) {
  const { place, show } = numbers();
  const names = [...Array(SHOWN).keys(), "rest"];
  const rows = names.map((name) => {
    const [label, bar] = [make("th", { scope: "row" }), make("i", { "aria-hidden": "true" })];
    const cells = [make("td", {}, bar), make("td", {}, place(`share-${name}`)), make("td", {}, place(`plain-${name}`))];
    return { label, bar, node: make("tr", {}, label, ...cells) };
  });
  const head = ["token", "share", "in %", "T = 1"].map((text) => make("th", { scope: "col" }, text));
  const caption = make("caption", {}, place("left"), ` of ${vocabulary} can be drawn; mark: T = 1`);
  const body = make("tbody", {}, ...rows.map(({ node }) => node));
  const node = make("table", {}, caption, make("thead", {}, make("tr", {}, ...head)), body);
  const draw = ({ id, logits, shares }, chosen, label) => {
    const plain = softmax(logits, 1).weights;
    const top = ranked(logits).slice(0, SHOWN);
    if (chosen && !top.includes(id)) top[SHOWN - 1] = id;
    const rest = (all) => Math.max(0, 1 - top.reduce((sum, each) => sum + all[each], 0));
    const left = shares.filter((share) => share > 0).length;
    show("left", left, left);
    rows.forEach((row, i) => {
      const [now, before] = [shares, plain].map((all) => (i < SHOWN ? all[top[i]] : rest(all)));
      row.label.textContent = i < SHOWN ? label(top[i]) : `${vocabulary - SHOWN} others`;
      change(row.bar, { style: `--now: ${now.toFixed(4)}; --plain: ${before.toFixed(4)}` });
      show(`share-${names[i]}`, 100 * now, percent(now, 1));
      show(`plain-${names[i]}`, 100 * before, percent(before, 1));
      row.node.classList.toggle("mt-taken", Boolean(chosen) && top[i] === id);
      row.node.classList.toggle("mt-cut", now === 0);
    });
  };
  const clear = () => {
    for (const name of ["left", ...names.flatMap((name) => [`share-${name}`, `plain-${name}`])]) show(name, null, "");
    rows.forEach(({ label, bar }) => {
      label.textContent = "";
      change(bar, { style: "--now: 0; --plain: 0" });
    });
  };
  return { node, draw, clear };
}

// What there is to say of a token that was chosen, or of the next one.
function told({ id, logits, shares }, chosen, temperature, label) {
  const [first, second] = ranked(logits);
  const part = (one) => `${quoted(label(one))} ${percent(shares[one], 1)}%`;
  const left = shares.filter((share) => share > 0).length;
  if (!chosen) return `Next could be ${part(first)}${left > 1 ? `, then ${part(second)}` : ", and nothing else"}.`;
  if (!temperature) return `${quoted(label(id))} is the likeliest, and at temperature 0 the likeliest is taken.`;
  if (left === 1) return `${quoted(label(id))} is all that is left to choose from.`;
  if (id === first) return `${part(id)} was drawn, the likeliest; second was ${part(second)}.`;
  const place = ranked(logits).indexOf(id) + 1;
  return `${part(id)} was drawn, number ${place} from the top; likeliest was ${part(first)}.`;
}

// A slider with its name before and its value behind it.
function setting(name, attributes, move) {
  const [input, value] = [slider({ "aria-label": name, ...attributes }, move), make("output")];
  const draw = (position, text, spoken) => {
    input.value = position;
    change(input, { "aria-valuetext": spoken });
    value.textContent = text;
  };
  return { nodes: [make("span", {}, name), input, value], draw };
}

// The sliders of temperature, k and p; set(key, value) is called for what the reader moves.
function settings(vocabulary, set) {
  const counts = [...COUNTS.filter((count) => count < vocabulary), vocabulary];
  const heat = setting("temperature", { min: 0, max: 2, step: 0.05 }, (temperature) => set("temperature", temperature));
  const top = setting("top-k", { min: 0, max: counts.length - 1, step: 1 }, (i) => set("k", counts[i]));
  const mass = setting("top-p", { min: 0.05, max: 1, step: 0.05 }, (p) => set("p", p));
  const draw = ({ temperature, k, p }) => {
    heat.draw(temperature, fixed(temperature, 2), `${temperature}${temperature ? "" : ", the likeliest is taken"}`);
    const [at, all] = [counts.findIndex((count) => count >= k), k === vocabulary];
    top.draw(at, all ? "all" : k, `${k}${all ? ", all tokens" : ""}`);
    mass.draw(p, p === 1 ? "all" : fixed(p, 2), `${p}${p === 1 ? ", nothing cut" : ""}`);
  };
  return { node: make("div", { class: "mt-dials mt-controls" }, ...[heat, top, mass].flatMap((s) => s.nodes)), draw };
}

// The buttons: one token, all that follow until it is stopped, and none; set(steps) is called.
function player(steps, set) {
  let waiting = 0; // for the next token, while it goes on
  const draw = () => (on.textContent = waiting ? "stop" : "go on");
  const stop = () => {
    clearTimeout(waiting);
    waiting = 0;
    draw();
  };
  const more = (count) => set(Math.min(MOST, steps() + count));
  const go = () => {
    waiting = steps() + 1 < MOST ? setTimeout(go, PACE) : 0;
    draw();
    more(1);
  };
  const press = (text, act) => button(text, () => {
    const going = waiting;
    stop();
    act(going);
  });
  const one = press("one token", () => more(1));
  const on = press("go on", (going) => going || (jumps() ? more(JUMP) : go()));
  const again = press("start again", () => set(0));
  return { nodes: [one, on, again], stop };
}

// The field for a beginning; tell(text) is called for what is typed, also where it is empty.
function typing(tell) {
  const quiet = { autocapitalize: "none", autocomplete: "off", spellcheck: false, lang: "en" };
  const field = make("textarea", { rows: 2, maxlength: LONGEST, ...quiet });
  const mark = () => change(field, { "aria-invalid": field.value === "" });
  field.addEventListener("input", () => {
    mark();
    tell(field.value);
  });
  const show = (text) => {
    if (field.value === text) return; // it comes from here
    field.value = text;
    mark();
  };
  return { node: make("label", { class: "mt-typing" }, make("span", {}, "beginning"), field), show };
}

// The field for the seed.
function seeding(set) {
  const fine = (seed) => Number.isInteger(seed) && seed >= 0 && seed <= SEEDS;
  const attributes = { "aria-label": "seed", "data-name": "seed", inputmode: "numeric" };
  const { node, show } = field(attributes, fine, set, { rule: `a whole number from 0 to ${SEEDS}` });
  return { node: make("span", { class: "mt-seed" }, make("span", { "aria-hidden": "true" }, "seed"), node), show };
}

export default {
  render({ model, el }) {
    const { sizes, weights, merges, window } = Object.fromEntries(GIVEN.map((key) => [key, model.get(key)]));
    const vocabulary = 256 + merges.length;
    const { encode, decode, label } = encoding(merges);
    const built = (base64) => author(modelled(unpacked(base64), { ...sizes, vocabulary, window }));
    let write = away(weights) ? null : built(weights);
    let at = null; // the token that is looked at, null for the newest
    let readable = true; // what stands in the field

    const set = (key, value) => {
      model.set(key, value);
      model.save_changes();
    };
    const typed = typing((text) => {
      readable = text !== "";
      play.stop();
      if (readable) set("text", text);
      else draw();
    });
    const play = player(() => model.get("steps"), (steps) => {
      at = null;
      set("steps", steps);
    });
    const seed = seeding((value) => set("seed", value));
    const text = page((place) => {
      if (place === (at ?? model.get("steps") - 1)) return;
      at = place;
      draw();
    });
    const [considered, dials] = [table(vocabulary), settings(vocabulary, set)];
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const say = (sentence, before = "") => {
      verdict.textContent = sentence;
      speech.say(before + sentence);
    };

    const draw = () => {
      const state = Object.fromEntries(MOVED.map((key) => [key, model.get(key)]));
      dials.draw(state);
      seed.show(state.seed);
      if (!write) return;
      if (!readable) {
        text.draw([], [], 0, label);
        considered.clear();
        return say("Type a beginning: a model that has read nothing has nothing to go on with.");
      }
      typed.show(state.text);
      const begun = encode(state.text);
      const tokens = write(begun, state);
      const place = Math.min(at ?? Infinity, state.steps - 1);
      const now = tokens.at(place); // the next one where there is none yet
      const chosen = state.steps > 0;
      text.draw(begun, tokens.slice(0, -1), place, label);
      considered.draw(now, chosen, label);
      const wrote = decode(tokens.slice(0, -1).map(({ id }) => id)).replace(/\s+/g, " ").trim();
      say(told(now, chosen, state.temperature, label), wrote && `It wrote: ${wrote}. `);
    };
    model.on("change:text", () => (readable = true)); // the kernel's word, too

    const buttons = make("div", { class: "mt-buttons mt-controls" }, ...play.nodes, seed.node);
    const parts = [typed.node, buttons, text.node, considered.node, verdict, dials.node, speech.node];
    begin(el, model, MOVED, draw, make("div", { class: "mt-writer" }, ...parts));
    const bring = async () => {
      say("The weights are on their way …");
      const base64 = await loaded(weights).catch(() => "");
      if (!base64) return say("The weights could not be loaded: check the network, and open this page again.");
      write = built(base64);
      draw();
    };
    if (!write) return near(el, 300).then(bring);
  },
};
