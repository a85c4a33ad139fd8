// Chapter 15: the trained model at work.
import { cut, encode, unpacked, written } from "../shared/transformer.mjs";
import { begin, button, change, make, numbers, quoted, share, slider, softmax, speaker } from "../shared/parts.mjs";

const MOST = 24; // words of a sentence
const MORE = 8; // words that a translation may have beyond its sentence's: an untrained model does not stop by itself
const CROSS = "cross-attention";
const LEAST = 0.005; // of a weight that is written
const SURE = 0.99; // of a share that need not be written
const LETTERS = "[\\p{L}\\p{N}'-]"; // of which words are made
const LOADED = /(\w+)\.js$/; // the address of weights that the build has moved out of the page

// The words of a text, whatever its capitals, apostrophes and punctuation.
function split(text) {
  return text.toLowerCase().replaceAll("’", "'").match(new RegExp(`${LETTERS}+`, "gu")) ?? [];
}

// A share in per cent, which reads as 0 or 100 only where it is none or all.
function percent(part, digits) {
  const text = share(part, digits + 2);
  return text.replace(/[\d.]+/, (number) => (100 * number).toFixed(digits));
}

const ended = (word) => (word === "</s>" ? "end" : word);
const average = (rows) => rows[0].map((_, j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length);

// Weights that stand in a script of their own, which a page may load from a file too.
function loaded(address) {
  return new Promise((done, fail) => {
    const script = make("script", { src: address });
    script.addEventListener("load", () => done(window.weights[LOADED.exec(address)[1]]));
    script.addEventListener("error", fail);
    document.head.append(script);
  });
}

// Wait until the reader has come near to an element, or has it opened.
function near(node) {
  return new Promise((done) => {
    const watch = new IntersectionObserver(([{ isIntersecting }]) => {
      if (!isIntersecting) return;
      watch.disconnect();
      done();
    }, { rootMargin: "300px" });
    watch.observe(node);
  });
}

// Make the children of a node one stop of the Tab key; the arrow keys go from child to child.
function roving(node) {
  const rest = (there) => [...node.children].forEach((child) => (child.tabIndex = child === there ? 0 : -1));
  node.addEventListener("focusin", ({ target }) => target !== node && rest(target));
  node.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const next = [...node.children][[...node.children].indexOf(event.target) + way];
    if (!way) return;
    event.preventDefault();
    next?.focus();
  });
  return (there) => rest(there ?? [...node.children].find((child) => child.tabIndex === 0) ?? node.firstChild);
}

// A list to choose from, which calls choose(index).
function choice(label, names, choose) {
  const node = make("select", { "aria-label": label }, ...names.map((name) => make("option", {}, name)));
  node.addEventListener("change", () => choose(node.selectedIndex));
  return node;
}

// The field for a sentence, and words to tap: those that begin like the one that is typed, or else those of a group.
function asking(groups, known, tell) {
  const names = Object.keys(groups);
  const quiet = { autocapitalize: "none", autocomplete: "off", autocorrect: "off", spellcheck: false, lang: "en" };
  const field = make("input", { type: "text", "aria-label": "English sentence", enterkeyhint: "done", ...quiet });
  const news = make("p", { class: "mt-news", role: "status" });
  const named = { "aria-label": "words to add", lang: "en" };
  const words = make("div", { class: "mt-chips", role: "group", tabindex: 0, ...named });
  const settle = roving(words); // the box itself can be scrolled by keys, too
  const group = choice("group of words", names, () => offer());
  let begun = []; // the words that begin like the one that is typed
  let last; // the sentence that was told
  const add = (word) => {
    field.value = `${begun.length ? field.value.replace(new RegExp(`${LETTERS}+$`, "u"), "") : field.value} ${word} `;
    field.value = field.value.trimStart().replace(/ +/g, " ");
    read();
  };
  const offer = () => {
    const offered = begun.length ? begun : groups[names[group.selectedIndex]];
    words.replaceChildren(...offered.map((word) => button(word, () => add(word))));
    settle();
  };
  const read = () => {
    const typed = split(field.value);
    const open = new RegExp(`${LETTERS}$`, "u").test(field.value) ? typed.at(-1) : "";
    begun = known.filter((word) => open && word !== open && word.startsWith(open));
    if (begun.length && !known.includes(open)) typed.pop(); // its end is yet to come
    const unknown = [...new Set(typed.filter((word) => !known.includes(word)))];
    const long = typed.length > MOST && `It takes at most ${MOST} words, and these are ${typed.length}.`;
    const odd = `It has not learned ${unknown.map(quoted).join(" or ")}, only the ${known.length} words below.`;
    say(unknown.length ? odd : long || "");
    offer();
    if (typed.length && !unknown.length && !long) tell((last = typed.join(" ")));
  };
  const say = (message) => {
    news.textContent = message;
    change(field, { "aria-invalid": message !== "" });
  };
  field.addEventListener("input", read);
  field.addEventListener("keydown", ({ key }) => key === "Enter" && begun.length && add(begun[0]));
  const put = (text) => {
    field.value = text;
    read();
  };
  const show = (text) => {
    if (text === last) return; // it comes from here
    [field.value, last, begun] = [text, text, []];
    say("");
    offer();
  };
  return { field, news, put, show, offers: make("div", { class: "mt-offers" }, group, words) };
}

// The words of a sentence side by side, each with a number below it; point(index) is called for the one that is meant.
function sentence(side, language, point) {
  const { place, show } = numbers();
  const node = make("div", { role: "listbox", "aria-label": side, "aria-orientation": "horizontal", lang: language });
  const settle = roving(node);
  // Not "mouseover": it comes also when the words change below a mouse that rests.
  for (const kind of ["mousemove", "focusin", "click"]) {
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

export default {
  render({ model, el }) {
    const [sizes, source, target, steps] = ["sizes", "source", "target", "steps"].map((key) => model.get(key));
    const parts = attentions(sizes);
    const models = new Map(); // by their weights
    const view = { part: parts[0], head: 0, side: "French", at: 0 };
    let come = !LOADED.test(model.get("weights")[0]); // has the reader?  What is in the page is there at once
    let words, found; // labels of both sentences, and what the model has made of them
    let shown = []; // of which sentence and weights
    let waiting;

    const set = (key, value) => {
      model.set(key, value);
      draw(); // also where nothing has changed
      model.save_changes();
    };
    const turn = (changes) => {
      if (Object.keys(changes).every((key) => view[key] === changes[key])) return;
      Object.assign(view, changes);
      if (changes.part) nameHeads();
      explain();
    };
    const nameHeads = () => {
      const names = ["mean of heads", ...Array.from({ length: view.part.heads }, (_, i) => `head ${i + 1}`)];
      heads.replaceChildren(...names.map((name) => make("option", {}, name)));
      heads.hidden = view.part.heads === 1;
    };
    const ask = asking(model.get("groups"), source.slice(3), (text) => set("sentence", text));
    const english = sentence("English", "en", (at) => turn({ side: "English", at }));
    const french = sentence("French", "fr", (at) => turn({ side: "French", at }));
    const twins = model.get("twins").map((text) => {
      return button(`… ${text.split(" ").at(-1)}`, () => ask.put(text));
    });
    const another = button("another sentence", () => {
      const others = model.get("examples").filter((text) => text !== model.get("sentence"));
      ask.put(others[Math.floor(Math.random() * others.length)]);
    });
    const heads = choice("head", [], (i) => turn({ head: i }));
    const look = choice("attention of", parts.map((part) => part.name), (i) => turn({ part: parts[i], head: 0 }));
    const move = slider({ min: 0, max: steps.length - 1, "aria-label": "training" }, (i) => set("step", steps[i]));
    const when = make("span");
    const start = make("span", { class: "mt-start" }, "start", make("small"));
    const [above, below] = ["mt-tag", "mt-tag"].map((name) => make("p", { class: name }));
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();

    const explain = () => {
      if (!found) return;
      const seen = looks(found, view);
      const chosen = (side) => (side === view.side ? view.at : -1);
      english.draw(chosen("English"), seen.English);
      french.draw(chosen("French"), seen.French, found.said.map((id, i) => found.shares[i][id]));
      start.hidden = view.part.kind !== "decoder";
      start.lastChild.textContent = seen.start >= LEAST ? percent(seen.start, 0) : "";
      change(start, { style: `--mt-shade: ${seen.start ?? 0}` });
      above.textContent = seen.English ? "English: attention in %" : "English";
      below.textContent = seen.French ? "French: attention in %" : "French: shares below 99%";
      verdict.textContent = told(words, found, target, view, seen);
      const text = words.French.filter((word) => word !== "end").join(" ").replaceAll("' ", "'");
      speech.say(`${text}. ${verdict.textContent}`);
    };
    const built = (base64) => cut(unpacked(base64), { ...sizes, source: source.length, target: target.length });
    const draw = () => {
      const [text, step] = [model.get("sentence"), model.get("step")];
      const weights = model.get("weights")[steps.indexOf(step)];
      move.value = steps.indexOf(step);
      change(move, { "aria-valuetext": `after ${step} of ${steps.at(-1)} steps` });
      when.textContent = `after ${step} steps`;
      clearTimeout(waiting);
      if (!come) return;
      ask.show(text);
      if (!models.has(weights) && LOADED.test(weights)) return bring(weights);
      if (!models.has(weights)) models.set(weights, built(weights));
      if (text === shown[0] && weights === shown[1]) return explain();
      const ids = text.split(" ").map((word) => source.indexOf(word));
      found = translated(models.get(weights), ids);
      words = { English: ids.map((id) => source[id]), French: found.said.map((id) => ended(target[id])) };
      const pronoun = words.French.findIndex((word) => model.get("pronouns").includes(word));
      if (text !== shown[0]) Object.assign(view, { side: "French", at: Math.max(0, pronoun) });
      view.at = Math.min(view.at, words[view.side].length - 1);
      shown = [text, weights];
      english.fill(words.English);
      french.fill(words.French);
      explain();
    };
    // The reader may be on the way to another step: what is passed by is not loaded.
    const bring = async (weights) => {
      verdict.textContent = "The weights of this step are on their way …";
      await new Promise((done) => (waiting = setTimeout(done, models.size && 200)));
      const failed = () => {
        verdict.textContent = "The weights could not be loaded: check the network, then choose a step again.";
      };
      const base64 = await loaded(weights).catch(failed);
      if (!base64) return;
      models.set(weights, built(base64));
      draw();
    };

    const line = (...children) => make("div", { class: "mt-line mt-controls" }, ...children);
    const training = steps.length > 1 ? [line(when, move)] : [];
    const box = (...nodes) => make("div", { class: "mt-words" }, ...nodes);
    const asked = [ask.field, ask.news, ask.offers, line(...twins, another)];
    const said = [above, box(english.node), below, box(start, french.node), verdict];
    const chosen = [line(look, heads), ...training];
    const whole = make("div", { class: "mt-translator" }, ...asked, ...said, ...chosen, speech.node);
    nameHeads();
    begin(el, model, ["sentence", "step", "weights"], draw, whole);
    if (!come) {
      return near(el).then(() => {
        come = true;
        return draw();
      });
    }
  },
};
