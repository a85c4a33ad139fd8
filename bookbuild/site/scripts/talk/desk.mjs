// The desk at which the reader writes, looks and changes, once the model is here.
import { slider } from "../../../../chapters/companion/explorables/shared/parts.mjs";
import { element } from "../page.mjs";
import { makeChanges } from "./changes.mjs";
import { makeHeads, makeOdds, makeRanks } from "./views.mjs";
import { makeText } from "./words.mjs";

const BEGUN = { continue: "The capital of Italy is", ask: "What is the capital of Italy?" };
const HEAD = { layer: 24, head: 4 }; // which fetches the capital, in chapter 22
const TWICE = "the wide street, the tired animal, a red bridge. the wide street, the tired animal,";
const MOST = { least: 1, usual: 40, most: 400 }; // tokens that are written
const SEEDS = 9999;
const REST = 80; // milliseconds between drawings

const ENDED = {
  most: ({ count }) => `It has written ${tokens(count)}.`,
  end: ({ count }) => `It has ended its text after ${tokens(count)}.`,
  full: ({ count }) => `It has written ${tokens(count)}; there is room for no more.`,
  stopped: ({ count }) => `Stopped after ${tokens(count)}.`,
};
const tokens = (count) => `${count} ${count === 1 ? "token" : "tokens"}`;

const button = (name, className, act) => element("button", { type: "button", className, onclick: () => act() }, name);

/** Return a choice of one of several, whose names are `labels` by value. */
function choice(legend, name, labels, change) {
  const one = ([value, label], i) => {
    const input = element("input", { type: "radio", name, value, checked: !i, onchange: () => change(value) });
    return element("label", {}, input, label);
  };
  const node = element("div", { className: "talk-choice", role: "radiogroup", ariaLabel: legend }, ...Object.entries(labels).map(one));
  const set = (value) => (node.querySelector(`[value=${value}]`).checked = true);
  return { node, value: () => node.querySelector(":checked").value, set };
}

/** Return a field for a whole number, which stays within its bounds. */
function count(label, { least, usual, most }) {
  const input = element("input", { type: "number", min: least, max: most, value: usual, inputMode: "numeric" });
  const value = () => Math.round(Math.min(most, Math.max(least, input.valueAsNumber || least)));
  input.addEventListener("change", () => (input.value = value()));
  return { node: element("label", { className: "talk-count" }, label, input), value };
}

/** Return the slider of the temperature. */
function heat(change) {
  const shown = element("output");
  const move = (value) => {
    shown.textContent = value.toFixed(2);
    input.ariaValueText = value ? value.toFixed(2) : "0, the likeliest is taken";
    change?.(value);
  };
  const input = slider({ min: 0, max: 2, step: 0.05, value: 0 }, move);
  shown.textContent = "0.00";
  const set = (value) => {
    input.value = value;
    move(value);
  };
  return { node: element("label", { className: "talk-heat" }, "temperature", input, shown), value: () => input.valueAsNumber, set };
}

/** Return what asks for a drawing, in the next frame that comes after a rest: a slow device has its time to compute. */
function drawer(draw) {
  let [waits, last] = [false, -REST];
  const now = () => {
    waits = false;
    draw();
    last = performance.now();
  };
  return () => {
    if (waits) return;
    waits = true;
    setTimeout(requestAnimationFrame, last + REST - performance.now(), now);
  };
}

/** What was written in two runs, side by side: the last one, and what to compare it with. */
function makeRuns() {
  const side = () => {
    const [title, how, said] = [element("h3"), element("p", { className: "talk-said" }), element("p", { className: "talk-written" })];
    const node = element("section", {}, title, how, said);
    const draw = (name, run) => {
      node.hidden = !run;
      if (!run) return;
      [title.textContent, how.textContent] = [name, run.how];
      said.replaceChildren(element("span", { className: "given" }, run.asked), run.text);
    };
    return { node, draw };
  };
  const [before, now] = [side(), side()];
  const node = element("div", { className: "talk-runs" }, before.node, now.node);
  const draw = (last, earlier) => {
    before.draw("Before", earlier);
    now.draw(earlier ? "Now" : "What it wrote", last);
  };
  draw();
  return { node, draw };
}

/**
 * Return the desk of a model of a shape.  `send(kind, content)` asks the thread, whose answers come to the desk's
 * functions of their names; `hear(sentence)` is for screen readers.
 */
export function makeDesk(shape, send, hear) {
  const { layers, heads, vocabulary } = shape;
  const typed = { ...BEGUN };
  let busy = false;
  let [words, seen, ranks] = [[], null, null];
  let asked; // what the run was asked for
  let isAsked = false; // whether the reader has asked for what is seen
  let then; // what an experiment changes, once it has been written as it is
  let [run, runs] = [null, []]; // the last one; all of this text
  const fresh = []; // words that are yet to be drawn

  const field = element("textarea", { rows: 3, spellcheck: false, lang: "en" });
  const label = element("label", { className: "talk-field" }, element("span"), field);
  const mode = choice("What to do", "talk-mode", { continue: "Continue my text", ask: "Ask a question" }, (value) => {
    field.value = typed[value];
    name();
  });
  const name = () => {
    const asks = mode.value() === "ask";
    label.firstChild.textContent = asks ? "Your question; each one stands alone" : "Your text";
    go.textContent = asks ? "Ask" : "Write";
  };
  field.addEventListener("input", () => (typed[mode.value()] = field.value));

  const temperature = heat((value) => send("heat", { temperature: value }));
  const most = count("tokens", MOST);
  const seed = count("seed", { least: 0, usual: 0, most: SEEDS });
  const go = button("Write", "main", () => write());
  const stop = button("Stop", "quiet", () => busy && send("stop"));
  const tries = Object.entries({
    "a capital": () => put({ text: BEGUN.continue, head: HEAD }),
    "a text said twice": () => put({ text: TWICE, head: { layer: 19, head: 6 } }),
    "the first token held back": () => put({ text: BEGUN.continue, head: HEAD, then: changes.holdBackLate }),
    "an answer, drawn": () => put({ mode: "ask", text: BEGUN.ask, then: () => temperature.set(1) }),
  }).map(([label, act]) => button(label, "quiet", act));
  const offers = element("p", { className: "talk-tries" }, "Try ", ...tries);
  const dials = element("div", { className: "talk-dials" }, temperature.node, most.node, seed.node);
  const error = element("p", { className: "talk-error", role: "alert" });
  const state = element("p", { className: "talk-said" });
  const text = makeText((place) => asking(() => look(place)));
  const [odds, rankings] = [makeOdds(), makeRanks(vocabulary, layers)];
  const sheet = makeHeads(layers, heads, (layer, head) => asking(() => choose(layer, head)));
  const changes = makeChanges(shape, () => write());
  const both = makeRuns();
  const form = element("form", { className: "talk-form" }, mode.node, label, offers, dials, element("div", { className: "talk-go" }, go, stop));
  form.addEventListener("submit", (event) => event.preventDefault());
  field.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && write());

  const views = element("div", { className: "talk-views", hidden: true }, odds.node, rankings.node, sheet.node);
  const node = element("div", { className: "talk-desk" }, form, error, text.node, state, views, changes.node, both.node);

  /** Put an experiment on the desk. */
  function put(wanted) {
    if (busy) return;
    mode.set(wanted.mode ?? "continue");
    typed[mode.value()] = field.value = wanted.text;
    name();
    temperature.set(0);
    changes.clear();
    run = null; // which is compared with none before
    if (wanted.head) choose(wanted.head.layer, wanted.head.head);
    write();
    then = wanted.then;
  }

  function write() {
    if (busy) return;
    const asks = mode.value() === "ask";
    then = null;
    error.textContent = "";
    if (asks && !field.value.trim()) return fail("The question is empty: type one.");
    asked = { text: field.value, asks, temperature: temperature.value(), seed: seed.value(), most: most.value(), change: changes.value() };
    become(true);
    send("write", asked);
  }

  function become(now) {
    busy = now;
    stop.ariaDisabled = String(!busy); // and not disabled, which would take the focus from it
    for (const one of [go, changes.again, ...tries]) one.ariaDisabled = String(busy);
    node.classList.toggle("busy", busy);
  }

  function look(place) {
    if (busy) return;
    ranks = null;
    rankings.clear();
    send("look", { from: place });
  }

  function asking(act) {
    isAsked = !busy; // while it writes, it is only shown
    act();
  }

  const choose = (layer, head) => send("choose", { layer: Math.min(layer, layers), head: Math.min(head, heads - 1) });

  function fail(message) {
    become(false);
    error.textContent = message;
  }

  const draw = drawer(() => {
    if (run) both.draw(run, earlier());
    const isNew = fresh.length > 0;
    text.add(fresh.splice(0));
    if (seen) drawSeen();
    text.scroll(isNew);
  });

  function drawSeen() {
    const from = words[seen.place];
    text.mark(seen.place);
    text.shade(seen.weights);
    odds.draw(from, seen.odds);
    const where = sheet.draw({ ...seen, from, words });
    if (isAsked) hear(where);
    isAsked = false;
    if (seen.away) sheet.shade(seen.away);
    if (ranks) rankings.draw(ranks);
  }

  /** Return the run to compare the last one with: the last that changed nothing, else the one before. */
  function earlier() {
    const others = runs.filter((one) => one !== run);
    return (run.isChanged && others.findLast((one) => !one.isChanged && one.how === run.plain)) || others.at(-1);
  }

  const begun = ({ words: given }) => {
    const plain = `temperature ${asked.temperature.toFixed(2)}${asked.temperature ? `, seed ${asked.seed}` : ""}`;
    const said = changes.say(asked.change);
    if (run?.key !== `${asked.asks} ${asked.text}`) runs = [];
    run = { key: `${asked.asks} ${asked.text}`, asked: asked.asks ? "" : asked.text, text: "", isChanged: said !== "", plain: `As it is, ${plain}.` };
    run.how = said ? `${said}, ${plain}.` : run.plain;
    runs.push(run);
    [words, seen, ranks, fresh.length] = [[...given], null, null, 0];
    views.hidden = false;
    text.begin(given);
    rankings.clear();
    hear("Writing.");
    state.textContent = `Reading ${tokens(given.length)}.`;
    draw();
  };

  const token = ({ word, text: more, ...found }) => {
    words.push(word);
    fresh.push(word);
    run.text += more;
    seen = found;
    state.textContent = "Writing.";
    draw();
  };

  const done = (result) => {
    run.text += result.text;
    become(false);
    const said = ENDED[result.why](result);
    const start = result.start === null ? "" : ` The first came after ${(result.start / 1000).toFixed(2)} s`;
    const speed = result.speed === null ? "" : `, then ${result.speed.toFixed(1)} a second`;
    state.textContent = `${said}${start}${start && `${speed}.`} Choose any token to look from there.`;
    hear(said);
    draw();
    if (then && result.why !== "stopped") {
      then();
      return write();
    }
    if (result.count || result.why !== "stopped") look(text.given() - 1); // from where the first word was written
  };

  const inside = (found) => {
    seen = found;
    draw();
  };

  const ranked = (found) => {
    ranks = found;
    draw();
  };

  const begin = () => {
    field.value = typed.continue;
    name();
    become(false);
    choose(HEAD.layer, HEAD.head);
  };

  return { node, begin, focus: () => field.focus({ preventScroll: true }), fail, begun, token, done, inside, ranks: ranked };
}
