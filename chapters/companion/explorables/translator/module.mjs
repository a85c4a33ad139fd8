// Chapter 15: the trained model at work.
import { asking, choice } from "../shared/asking.mjs";
import { average, cut, encode, unpacked, written } from "../shared/transformer.mjs";
import { away, loaded, near } from "../shared/weights.mjs";
import { begin, button, change, make, numbers, percent, quoted, roving, slider, softmax, speaker } from "../shared/parts.mjs";

const MOST = 24; // words of a sentence
const MORE = 8; // words that a translation may have beyond its sentence's: an untrained model does not stop by itself
const CROSS = "cross-attention";
const LEAST = 0.005; // of a weight that is written
const DRAWN = 0.05; // of a weight that is drawn as a line
const WIDEST = 6; // pixels of a line, for a weight of 1 of the word that is looked at
const THIN = 1; // and of the others
const SURE = 0.99; // of a share that need not be written

const ended = (word) => (word === "</s>" ? "end" : word);

// The words of a sentence side by side, each with a number below it; point(index) is called for the one that is meant.
function sentence(side, language, point) {
  const { place, show } = numbers();
  const node = make("div", { role: "listbox", "aria-label": side, "aria-orientation": "horizontal", lang: language });
  const settle = roving(node);
  for (const kind of ["focusin", "click"]) {
    node.addEventListener(kind, ({ target }) => {
      const at = [...node.children].indexOf(target.closest("[role=option]"));
      if (at >= 0) point(at);
    });
  }
  const fill = (words) => {
    words.forEach((word, i) => {
      const old = node.children[i];
      if (old?.firstChild.data === word) return; // what stays does not appear anew
      const made = make("span", { role: "option", tabindex: -1 }, word, place(`${side}-${i}`));
      made.classList.toggle("mt-elided", word.endsWith("'"));
      if (old) old.replaceWith(made);
      else node.append(made);
    });
    while (node.children.length > words.length) node.lastChild.remove();
  };
  const draw = (chosen, weights, shares = []) => {
    settle(node.children[chosen]);
    [...node.children].forEach((word, i) => {
      const value = weights ? weights[i] : shares[i];
      const seen = weights ? value >= LEAST : value < SURE;
      show(`${side}-${i}`, value === undefined ? null : 100 * value, seen ? percent(value, 0) : "");
      change(word, { style: `--mt-shade: ${weights?.[i] ?? 0}`, "aria-selected": i === chosen });
    });
  };
  return { node, fill, draw };
}

// Lines from each French word to the English ones, as wide as the weights between them; those of a chosen word are
// wider.  They lie behind the words, and end where the words do, also while a sentence is scrolled.
function lines(english, french) {
  const node = make("svg", { class: "mt-links", "aria-hidden": "true" });
  let now = []; // [French word, English word, pixels, whether it is of the chosen word]
  const paint = () => {
    const origin = node.getBoundingClientRect();
    const end = (word, edge) => {
      const [one, room] = [word, word.parentElement.parentElement].map((each) => each.getBoundingClientRect());
      const y = Math.max(room.top, Math.min(room.bottom, one[edge]));
      return [one.left + one.width / 2 - origin.left, y - origin.top];
    };
    const paths = now.map(([j, k, width, chosen]) => {
      const [[x, y], [u, v]] = [end(french.children[j], "top"), end(english.children[k], "bottom")];
      const d = `M${x},${y}C${x},${(y + v) / 2} ${u},${(y + v) / 2} ${u},${v}`;
      return make("path", { d, "stroke-width": width, class: chosen ? "mt-chosen" : "" });
    });
    node.replaceChildren(...paths);
  };
  const draw = (rows, { side, at }) => {
    now = rows.flatMap((row, j) => [...row].map((weight, k) => {
      const chosen = at === (side === "French" ? j : k);
      return [j, k, weight < DRAWN ? 0 : weight * (chosen ? WIDEST : THIN), chosen];
    })).filter(([, , width]) => width);
    paint();
  };
  new ResizeObserver(paint).observe(node);
  document.fonts.addEventListener("loadingdone", paint); // the words lie elsewhere when their face has come
  return { node, draw, paint };
}

// A bar that two words share: the pronouns where one of them was said, else the two that were likeliest.
function odds() {
  const parts = [0, 1].map(() => make("span"));
  const node = make("p", { class: "mt-odds", "aria-hidden": "true" }, ...parts);
  const draw = (two) => {
    node.classList.toggle("mt-none", !two.length);
    two.forEach(([word, share], i) => {
      parts[i].textContent = share < 0.1 ? "" : `${word} ${percent(share, 0)}%`;
      change(parts[i], { style: `flex-grow: ${share.toFixed(4)}; --mt-shade: ${share.toFixed(4)}` });
    });
  };
  return { node, draw };
}

// The parts of the model that attend, the one to begin with first: kind, layer, number of heads and name.
function attentions({ layers, heads, encoder_layers, encoder_heads }) {
  const several = (kind, layers, heads) => {
    const name = (layer) => (layers > 1 ? `${kind}, layer ${layer + 1}` : kind);
    return Array.from({ length: layers }, (_, layer) => ({ kind, layer, heads, name: name(layer) }));
  };
  const encoder = several("encoder", encoder_layers, encoder_heads);
  return [...several(CROSS, layers, heads), ...encoder, ...several("decoder", layers, heads)];
}

// What a model makes of the ids of a sentence: of each word that it writes its id and the shares of all that it could
// have written, and by the kind of attention all weights: layer, asking word, head, word.
function translated(model, ids) {
  const { memory, weights } = encode(model, ids);
  const words = [...written(model, memory, ids.length + MORE)];
  const gathered = (name) => model.decoder.map((_, layer) => words.map((word) => word[name][layer]));
  const shares = words.map(({ logits }) => softmax(logits, 1).weights);
  const attention = { encoder: weights, decoder: gathered("own"), [CROSS]: gathered("cross") };
  return { said: words.map(({ id }) => id), shares, attention };
}

// The weights between a word of a sentence (side, at) and those of either sentence, as far as the part reads them; head
// 0 is the mean of all.  The decoder begins with a word of its own, the start.
function looks({ attention }, { part, head, side, at }) {
  const rows = attention[part.kind][part.layer].map((row) => (head ? row[head - 1] : average(row)));
  if (part.kind === CROSS) return side === "French" ? { English: rows[at] } : { French: rows.map((row) => row[at]) };
  if (part.kind === "encoder") return side === "English" ? { English: rows[at] } : {};
  return side === "French" ? { French: rows[at].slice(1), start: rows[at][0] } : {};
}

// What there is to say of a word: how sure it is, and where it looks.
function told(words, { shares }, target, view, seen) {
  const { part, side, at } = view;
  const measured = (name, weight) => `${quoted(name)} ${percent(weight, 1)}%`;
  const [here, french] = [quoted(words[side][at]), side === "French"];
  const sorted = french ? [...shares[at].keys()].sort((i, j) => shares[at][j] - shares[at][i]) : [];
  const [first, second] = sorted.map((id) => measured(ended(target[id]), shares[at][id]));
  const sure = french ? `${first}; second choice ${second}. ` : "";
  const entries = ["English", "French"].flatMap((name) => [...(seen[name] ?? [])].map((w, i) => [words[name][i], w]));
  if (seen.start) entries.push(["start", seen.start]);
  if (!entries.length) return `${sure}The ${part.kind} does not read this sentence: choose a word of the other one.`;
  const most = entries.sort(([, one], [, two]) => two - one).slice(0, 2).map((entry) => measured(...entry));
  const looked = part.kind === CROSS ? "is looked at most by" : "looks most at";
  const way = french ? "It looks most at" : `${here} ${looked}`;
  return `${sure}${way} ${most.join(", then ")}.`;
}

// What is looked at: a part of the model, one of its heads or their mean, and a word of either sentence.
function viewing(parts, changed) {
  const view = { part: parts[0], head: 0, side: "French", at: 0, picked: false }; // has the reader chosen the word?
  const heads = choice("head", [], (i) => turn({ head: i }));
  const names = parts.map((part) => part.name);
  const look = choice("attention of", names, (i) => turn({ part: parts[i], head: 0 }));
  const nameHeads = () => {
    const each = Array.from({ length: view.part.heads }, (_, i) => `head ${i + 1}`);
    heads.replaceChildren(...["mean of heads", ...each].map((name) => make("option", {}, name)));
    heads.hidden = view.part.heads === 1;
  };
  const turn = (changes) => {
    if (Object.keys(changes).every((key) => view[key] === changes[key])) return;
    Object.assign(view, changes);
    if (changes.part) nameHeads();
    changed();
  };
  nameHeads();
  return { view, turn, nodes: [look, heads] };
}

// Both sentences, the numbers below their words, and what is told of the one that is looked at.
function answer(target, pronouns, { view, turn }) {
  const english = sentence("English", "en", (at) => turn({ side: "English", at, picked: true }));
  const french = sentence("French", "fr", (at) => turn({ side: "French", at, picked: true }));
  const [across, bar] = [lines(english.node, french.node), odds()];
  const start = make("span", { class: "mt-start" }, "start", make("small"));
  const tag = make("p", { class: "mt-tag" });
  const verdict = make("p", { class: "mt-verdict" });
  const speech = speaker();
  const box = (...nodes) => {
    const node = make("div", { class: "mt-words" }, ...nodes);
    node.addEventListener("scroll", across.paint);
    return node;
  };
  let words, found; // labels of both sentences, and what the model has made of them
  const draw = (seen) => {
    const chosen = (side) => (side === view.side ? view.at : -1);
    english.draw(chosen("English"), seen.English);
    french.draw(chosen("French"), seen.French, found?.said.map((id, i) => found.shares[i][id]));
    start.hidden = !found || view.part.kind !== "decoder";
    start.lastChild.textContent = seen.start >= LEAST ? percent(seen.start, 0) : "";
    change(start, { style: `--mt-shade: ${seen.start ?? 0}` });
    const crossing = found && view.part.kind === CROSS;
    across.draw(crossing ? found.said.map((_, at) => looks(found, { ...view, side: "French", at }).English) : [], view);
    bar.draw(found && view.side === "French" ? rivals(found.said[view.at], found.shares[view.at]) : []);
    const counted = [seen.English && "attention (English)", `${seen.French ? "attention" : "how sure it is"} (French)`];
    tag.textContent = found ? `In %: ${counted.filter(Boolean).join(", ")}` : "";
  };
  const rivals = (id, shares) => {
    const two = pronouns.map((word) => target.indexOf(word));
    const likeliest = [...shares.keys()].sort((i, j) => shares[j] - shares[i]).slice(0, 2);
    return (two.length === 2 && two.includes(id) ? two : likeliest).map((i) => [ended(target[i]), shares[i]]);
  };
  const say = (text) => (verdict.textContent = text);
  const explain = () => {
    if (!found) return;
    const seen = looks(found, view);
    draw(seen);
    say(told(words, found, target, view, seen));
    const text = words.French.filter((word) => word !== "end").join(" ").replaceAll("' ", "'");
    speech.say(`${text}. ${verdict.textContent}`);
  };
  const show = (said, made) => {
    [words, found] = [said, made];
    talk.classList.toggle("mt-unread", !made);
    english.fill(words.English);
    french.fill(words.French);
    view.at = Math.max(0, Math.min(view.at, words[view.side].length - 1));
    explain();
  };
  const clear = () => {
    show({ English: [], French: [] });
    draw({});
    say("");
    speech.say("");
  };
  const talk = make("div", { class: "mt-talk" }, across.node, box(english.node), box(start, french.node));
  return { nodes: [tag, talk, bar.node], verdict, spoken: speech.node, show, explain, clear, say };
}

// The models at the steps of the training, built when they are asked for.  One whose weights the build has moved out of
// the page is brought, unless the reader is on the way to another step: what is passed by is not loaded.
function library(sizes, say) {
  const models = new Map(); // by their weights
  let waiting;
  const build = (weights, base64) => models.set(weights, cut(unpacked(base64), sizes));
  const failed = () => void say("The weights could not be loaded: check the network, then choose a step again.");
  const bring = async (weights, then) => {
    say("The weights of this step are on their way …");
    await new Promise((done) => (waiting = setTimeout(done, models.size && 200)));
    const base64 = await loaded(weights).catch(failed);
    if (!base64) return;
    build(weights, base64);
    then();
  };
  const get = (weights) => {
    clearTimeout(waiting);
    if (!models.has(weights) && !away(weights)) build(weights, weights);
    return models.get(weights);
  };
  return { get, bring };
}

// Buttons that put a sentence into the field: each twin, and any of the examples but the one that is there.
function suggestions(model, put) {
  const twins = model.get("twins").map((text) => button(`… ${text.split(" ").at(-1)}`, () => put(text)));
  const another = button("another sentence", () => {
    const others = model.get("examples").filter((text) => text !== model.get("sentence"));
    put(others[Math.floor(Math.random() * others.length)]);
  });
  return [...twins, another];
}

// The slider over the steps of the training.
function trainer(steps, move) {
  const range = slider({ min: 0, max: steps.length - 1, "aria-label": "training" }, (i) => {
    range.classList.remove("mt-pulse");
    move(steps[i]);
  });
  near(range, 0).then(() => range.classList.add("mt-pulse"));
  const when = make("span");
  const draw = (step) => {
    range.value = steps.indexOf(step);
    change(range, { "aria-valuetext": `after ${step} of ${steps.at(-1)} steps` });
    when.textContent = step === steps.at(-1) ? `trained, ${step} steps` : `after ${step} steps`;
  };
  return { nodes: [when, range], draw };
}

export default {
  render({ model, el }) {
    const [sizes, source, target, steps] = ["sizes", "source", "target", "steps"].map((key) => model.get(key));
    let come = !away(model.get("weights")[0]); // has the reader?  What is in the page is there at once
    let readable = true; // what stands in the field
    let shown = []; // of which sentence and weights

    const set = (key, value) => {
      model.set(key, value);
      draw(); // also where nothing has changed
      model.save_changes();
    };
    const ask = asking(model.get("groups"), source.slice(3), MOST, (text) => {
      readable = text !== "";
      if (readable) set("sentence", text);
      else draw();
    });
    const seen = viewing(attentions(sizes), () => said.explain());
    const said = answer(target, model.get("pronouns"), seen);
    const models = library({ ...sizes, source: source.length, target: target.length }, said.say);
    const training = trainer(steps, (step) => set("step", step));

    const translate = (text, weights) => {
      const ids = text.split(" ").map((word) => source.indexOf(word));
      const found = translated(models.get(weights), ids);
      const words = { English: ids.map((id) => source[id]), French: found.said.map((id) => ended(target[id])) };
      const pronoun = words.French.findIndex((word) => model.get("pronouns").includes(word));
      if (text !== shown[0]) seen.view.picked = false;
      if (!seen.view.picked) Object.assign(seen.view, { side: "French", at: Math.max(0, pronoun) });
      shown = [text, weights];
      said.show(words, found);
    };
    const draw = () => {
      const [text, step] = [model.get("sentence"), model.get("step")];
      const weights = model.get("weights")[steps.indexOf(step)];
      training.draw(step);
      if (!come) return;
      if (!readable) {
        shown = [];
        return said.clear();
      }
      ask.show(text);
      if (!models.get(weights)) return models.bring(weights, draw);
      if (text !== shown[0] || weights !== shown[1]) translate(text, weights);
      else said.explain();
    };
    model.on("change:sentence", () => (readable = true)); // the kernel's word, too

    const line = (...children) => make("div", { class: "mt-line mt-controls" }, ...children);
    const asked = [said.verdict, line(...suggestions(model, ask.put), ...seen.nodes), ask.field, ask.news, ask.offers];
    const trained = steps.length > 1 ? [line(...training.nodes)] : [];
    const whole = make("div", { class: "mt-translator" }, ...said.nodes, ...trained, ...asked, said.spoken);
    begin(el, model, ["sentence", "step", "weights"], draw, whole);
    if (!come) {
      return near(el, 300).then(() => {
        come = true;
        return draw();
      });
    }
  },
};
