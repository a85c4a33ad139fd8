// Chapter 12: the whole machine, whose boxes open, and a light that walks from the words to the next word.
import { begin, brief, button, change, fixed, make, numbers, quoted, speaker } from "../shared/parts.mjs";
import { player } from "../shared/steps.mjs";

const PACE = 1400; // milliseconds from box to box when it plays
const [WIDTH, LANE, HIGH] = [360, 94, 44]; // of the drawing: its width, from lane to lane, and a box
const [TOP, STREAM, INLINE] = [2, 60, 38]; // in a lane: boxes beside the stream, the stream, boxes on it

// What is in a box: short and long names, a drawing about 22 units wide around (0, 0).
const [FAN, RING] = ["M-11-10Q0-10 3 0M-11 10Q0 10 3 0M-11 0H3", "M3 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0"];
const squares = (kept, size) => {
  const places = Array.from({ length: 25 }, (_, k) => [Math.floor(k / 5), k % 5]).filter(([i, j]) => kept(i, j));
  return places.map(([i, j]) => `M${4.4 * j - 11} ${4.4 * i - 11}h${size}v${size}h-${size}z`).join("");
};
const KINDS = {
  words: { short: "words", long: "the words", drawn: [["mt-ink", "M-11-6H11M-11 0H6M-11 6H9"]] },
  embedded: { short: "vectors", long: "vectors and positions", drawn: [["mt-full", squares(() => true, 3.4)]] },
  attention: { short: "attend", long: "self-attention", drawn: [["mt-value", FAN], ["mt-output mt-full", RING]] },
  masked: { short: "masked", long: "masked self-attention", drawn: [["mt-weight mt-full", squares((i, j) => j <= i, 3.4)]] },
  cross_attention: {
    short: "across",
    long: "cross-attention",
    drawn: [["mt-query", "M-11 11L5-11m-6 2l6-2l1 7"], ["mt-key", "M-11 11L11 4m-6-3l6 3l-4 5"]],
  },
  feed_forward: { short: "network", long: "feed-forward network", drawn: [["mt-half", "M-14-3L0-10L14-3V3L0 10L-14 3z"]] },
  output: { short: "norm", long: "the last norm", drawn: [["mt-ink", "M-3-11h6q3 0 3 3v16q0 3-3 3h-6q-3 0-3-3v-16q0-3 3-3z"]] },
  logits: { short: "head", long: "the output head", drawn: [["mt-output", "M-7-5L7-11V11L-7 5z"]] },
  next: { short: "next", long: "the next word", drawn: [] },
};
const SIDES = ["encoder", "decoder"];
const BESIDE = ["attention", "cross_attention", "feed_forward"]; // the boxes that add to the stream

const side = (box) => (box.startsWith("encoder") ? "encoder" : "decoder");
const last = (text) => text.replace(/\[.*/, "").split(" ").at(-1);
const kind = (box) => KINDS[box.startsWith("decoder") && last(box) === "attention" ? "masked" : last(box)];

// The name of a box, such as "encoder, layer 1: self-attention".
function title(box) {
  const layer = box.match(/ (\d+) /);
  const whose = layer ? `${side(box)}, layer ${layer[1]}` : side(box);
  return `${whose}: ${kind(box).long}`;
}

// What the rows and the columns of an array are: words of a side, the likeliest next words, or features.
function axes({ source, target, likely }, box, name) {
  const own = side(box) === "encoder" ? source : target;
  const context = last(box) === "cross_attention" ? source : own;
  if (["logits", "next"].includes(box)) return { rows: likely, columns: [quoted(target.at(-1))] };
  if (last(name) === "weights") return { rows: own, columns: context, shares: true };
  return { rows: ["keys", "values"].includes(last(name)) ? context : own };
}

// ---- in words ------------------------------------------------------------------------------------------------------

const TOLD = {
  source: "Each word as its number in the vocabulary.",
  target: "All that has been said so far, each word as its number.",
  embedded: "A learned vector for each word, times √d, plus its position.",
  normed: "The stream as the norm hands it to this box.",
  queries: "What each word asks.",
  keys: "What each word is found by.",
  values: "What each word gives to those that look at it.",
  hidden: "The hidden units of each word, behind the bend.",
  added: "What is added to each word.",
  output: "The stream behind this box: what came in, plus what was added.",
};

// What an array is, and what can be seen in it.
function remark(state, box, [name, shape, rows]) {
  const { source, target, it, likely } = state;
  const behind = quoted(target.at(-1));
  if (box === "logits") return `A score for each of ${shape.at(-1)} words to follow ${behind}; these are the largest.`;
  if (box === "next") return `After ${behind} the model says ${quoted(likely[0])}, with a probability of ${fixed(rows[0][0], 2)}.`;
  if (box === "encoder output") return "The stream, normed once more: the cross-attention makes keys and values of it.";
  if (box === "decoder output") return "The stream, normed once more; the last row is to become the next word.";
  if (last(name) !== "weights") return TOLD[last(name)];
  const row = side(box) === "encoder" ? it : target.length - 1;
  const { rows: own, columns } = axes(state, box, name);
  const most = Math.max(...rows[row]);
  const from = quoted(columns[rows[row].indexOf(most)]);
  const best = `${quoted(own[row])} takes the most from ${from}, ${fixed(100 * most, 0)}%`;
  return `How much each word takes from each other, in per cent: ${best}.`;
}

// ---- the map -------------------------------------------------------------------------------------------------------

// The boxes in two lanes, and the light; `open(step)` opens one.
function map({ steps, likely }, open) {
  const lanes = SIDES.map((name) => steps.flatMap(([box], i) => (side(box) === name ? [i] : [])));
  const pitch = (WIDTH - 4) / Math.max(...lanes.map((lane) => lane.length));
  const places = steps.map(([box], i) => {
    const lane = SIDES.indexOf(side(box));
    const on = !BESIDE.includes(last(box));
    return { x: 2 + pitch * (lanes[lane].indexOf(i) + 0.5), top: LANE * lane + (on ? INLINE : TOP), y: LANE * lane + STREAM, on };
  });
  const ends = lanes.map((lane) => [places[lane[0]], places[lane.at(-1)]]);
  const stream = (x, { y }, to) => `M${x} ${y}H${to}`;
  const ground = ends.map(([from, to]) => stream(from.x, from, to.x)).join("");
  const walked = make("path", { class: "mt-walked" });
  const memory = places[lanes[0].at(-1)];
  const asked = steps.flatMap(([box], i) => (last(box) === "cross_attention" ? [places[i].x] : []));
  const across = [["mt-key", -4], ["mt-value", 4]].map(([role, by]) => {
    const way = asked.map((x) => `M${memory.x + by} ${memory.top + HIGH}V${LANE - 5 + by / 2}H${x + by}V${LANE + TOP}`);
    return make("path", { class: `mt-across ${role}`, d: way.join("") });
  });
  const light = make("circle", { class: "mt-light", r: 5 });
  const wide = pitch - 4;
  const stops = steps.map(([box], i) => {
    const { x, top, y, on } = places[i];
    const called = kind(box);
    const inner = called.drawn.map(([role, d]) => make("path", { class: `mt-drawn ${role}`, d }));
    if (box === "next") inner.push(make("text", { class: "mt-output mt-said", "text-anchor": "middle", y: 5 }, likely[0]));
    const seen = [box === "next" ? likely[0] : "", called.short].join(" ").trim(); // by which one may call it, too
    const wires = on ? "" : `M${x - wide / 3} ${y}V${top + HIGH}M${x + wide / 3} ${top + HIGH}V${y}`;
    const node = make(
      "g",
      { class: "mt-stop", role: "tab", "aria-label": title(box).includes(seen) ? title(box) : `${title(box)}, ${seen}` },
      make("path", { class: "mt-wire", d: wires }),
      make("rect", { x: x - pitch / 2, y: top - 2, width: pitch, height: HIGH + 4, class: "mt-touch" }),
      make("rect", { x: x - wide / 2, y: top, width: wide, height: HIGH, rx: 6, class: "mt-case" }),
      make("g", { transform: `translate(${x} ${top + 16}) scale(0.9)` }, ...inner),
      " ",
      make("text", { class: "mt-called", x, y: top + HIGH - 5, "text-anchor": "middle", "aria-hidden": "true" }, called.short),
    );
    node.addEventListener("click", () => open(i + 1));
    return node;
  });
  const picture = make("g", { "aria-hidden": "true" }, make("path", { class: "mt-ground", d: ground }), walked, ...across);
  const attributes = { class: "mt-map", viewBox: `0 0 ${WIDTH} ${2 * LANE - 8}`, role: "tablist", "aria-label": "boxes of the machine" };
  const node = make("svg", attributes, picture, ...stops, light);
  node.addEventListener("keydown", (event) => {
    const to = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    const at = stops.indexOf(event.target) + 1;
    if (to === undefined || !at) return;
    event.preventDefault();
    const step = Math.max(1, Math.min(stops.length, at + to));
    open(step);
    stops[step - 1].focus();
  });
  const draw = (step) => {
    const now = places[step - 1];
    stops.forEach((stop, i) => {
      change(stop, { "aria-selected": i === step - 1, tabindex: i === step - 1 ? 0 : -1 });
      stop.classList.toggle("mt-later", i >= step);
    });
    const whole = now.y > LANE ? stream(ends[0][0].x, ends[0][0], ends[0][1].x) : "";
    const [from] = ends[Number(now.y > LANE)];
    change(walked, { d: whole + stream(from.x, from, now.x) });
    light.style.transform = `translate(${now.x}px, ${now.on ? now.top : now.y}px)`;
    for (const line of across) line.classList.toggle("mt-later", now.y < LANE);
  };
  return { node, draw };
}

// ---- what is in a box ----------------------------------------------------------------------------------------------

// An array as a table: words beside its rows, a colour for each sign, shares in that of weights.
function table(state, box, [name, , rows]) {
  const { place, show } = numbers();
  const { rows: labels, columns, shares } = axes(state, box, name);
  const most = Math.max(...rows.flat().map(Math.abs)) || 1;
  const plain = last(name) === "source" || last(name) === "target";
  const written = (value) => {
    if (shares) return value ? fixed(100 * value, 0) : "";
    if (plain) return String(value);
    return box === "next" ? fixed(value, 3) : fixed(value, 1);
  };
  const heads = rows[0].map((_, j) => columns?.[j] ?? String(j + 1));
  const top = heads.map((text) => make("th", { scope: "col" }, make("span", {}, text)));
  const watched = side(box) === "encoder" ? state.it : labels.length - 1;
  const lines = rows.map((row, i) => {
    const cells = row.map((value, j) => {
      const cell = make("td", {}, place(`x-${i}-${j}`));
      show(`x-${i}-${j}`, shares ? 100 * value : value, written(value));
      if (!plain) cell.style.setProperty("--mt-depth", Math.abs(value) / most);
      cell.classList.add(shares || box === "next" ? "mt-shared" : value < 0 ? "mt-minus" : "mt-plus");
      return cell;
    });
    const own = labels === state.likely ? i === 0 : labels.length === rows.length && i === watched;
    const head = make("th", { scope: "row", class: own ? "mt-watched" : "" }, labels[i]);
    return make("tr", {}, head, ...cells);
  });
  const kinds = `${shares ? "mt-between" : ""} ${rows[0].length === 1 ? "mt-single" : ""}`;
  const head = make("thead", {}, make("tr", {}, make("td"), ...top));
  return make("table", { class: kinds }, head, make("tbody", {}, ...lines));
}

// What stands above a table: how the array is called in Python, its shape, and how much of it is shown.
function caption([name, shape, rows]) {
  const size = shape.length > 1 ? shape.join(" × ") : `${shape[0]}`;
  const [shown, all] = [rows[0].length, shape.at(-1)];
  const cut = shape.length > 1 && shown > 1 && shown < all ? `, first ${shown}` : "";
  return [make("code", {}, name), ` ${size}${cut}`];
}

export default {
  render({ model, el }) {
    const keys = ["source", "target", "it", "likely", "steps", "step", "part"];
    const state = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
    const arraysOf = (step) => model.get("steps")[step - 1][1];
    const set = (changes) => {
      for (const [key, value] of Object.entries(changes)) model.set(key, value);
      model.save_changes();
      draw();
    };
    // Open a box at the array of the same kind as the one that is open, or else at its weights, or else at its first.
    const open = (step) => {
      const names = arraysOf(step).map(([name]) => last(name));
      const like = names.indexOf(last(arraysOf(model.get("step"))[model.get("part") - 1][0]));
      const best = like < 0 ? names.indexOf("weights") : like;
      set({ step, part: Math.max(0, best) + 1 });
    };
    const walk = player({ label: "step", first: 1, pace: PACE }, open);
    const most = Math.max(...model.get("steps").map(([, arrays]) => arrays.length));
    const presses = Array.from({ length: most }, (_, i) => button("", () => {
      walk.stop();
      set({ part: Math.min(i + 1, arraysOf(model.get("step")).length) });
    }));
    const choice = make("div", { class: "mt-arrays mt-controls" }, ...presses);
    const heading = make("p", { class: "mt-opens" });
    const [told, room] = [make("p", { class: "mt-caption" }), make("div", { class: "mt-inside" })];
    const panel = make("div", { role: "tabpanel", tabindex: 0 }, heading, choice, told, room);
    const [verdict, speech, place] = [make("p", { class: "mt-verdict" }), speaker(), make("div", { class: "mt-over" })];
    let [drawing, known] = [null, null];
    const draw = () => {
      const now = state();
      const [box, arrays] = now.steps[Math.min(now.step, now.steps.length) - 1];
      const part = Math.min(now.part, arrays.length) - 1;
      const made = JSON.stringify([now.steps.map(([name]) => name), now.likely[0]]);
      if (known !== made) { // also at the start
        drawing = map(now, (step) => (walk.stop(), open(step)));
        place.replaceChildren(drawing.node);
        known = made;
      }
      drawing.draw(now.step);
      walk.draw(now.step, now.steps.length, `${now.step} of ${now.steps.length}: ${title(box)}`);
      heading.textContent = title(box);
      change(panel, { "aria-label": title(box) });
      presses.forEach((press, i) => {
        press.hidden = i >= arrays.length;
        press.textContent = press.hidden ? "" : last(arrays[i][0]).replace(/^softmax.*/, "softmax");
        change(press, { "aria-pressed": i === part });
      });
      told.replaceChildren(...caption(arrays[part]));
      room.style.setProperty("--mt-rows", Math.max(now.source.length, now.target.length, now.likely.length));
      room.replaceChildren(table(now, box, arrays[part]));
      verdict.textContent = remark(now, box, arrays[part]);
      speech.say(`${title(box)}. ${verdict.textContent}`);
    };
    const whole = make("div", { class: "mt-opened" }, place, walk.node, panel, verdict, speech.node);
    whole.addEventListener("keydown", ({ target }) => {
      if (walk.node.contains(target)) return;
      walk.stop(); // the hand takes over
      draw();
    }, true);
    begin(el, model, keys, draw, whole);
  },
};
