// Chapter 4: a query among keys, and the mixture of their values.
import {
  begin, brief, button, change, dial, entropy, entry, fixed, fold, make, numbers, plane, point, quoted, share, slider,
  softmax, speaker,
} from "../shared/parts.mjs";

const NEAR = 0.02; // weights that differ less than this from those of a limit are near it
const WIDEST = 30; // how wide the ribbon of a value is that has all the weight
const AROUND = 6000; // milliseconds of a whole turn
const STEP = 30; // degrees of a turn where nothing is to move by itself

// ---- the mathematics -----------------------------------------------------------------------------------------------

const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1]];
const times = (vector, factor) => vector.map((coordinate) => coordinate * factor);
const same = (a, b) => a[0] === b[0] && a[1] === b[1];
const largest = (...vectors) => Math.max(...vectors.flat().map(Math.abs)); // coordinate

// Attention with one query: the products with the keys, the softmax of their multiples, the mean of the values.
function attention(query, keys, values, scale) {
  const scores = keys.map((key) => dot(query, key));
  const { weights } = softmax(scores, 1 / scale);
  const output = [0, 1].map((i) => values.reduce((sum, value, j) => sum + weights[j] * value[i], 0));
  return { scores, scaled: times(scores, scale), weights, output };
}

// The query of this length in a direction, to three digits, as it is told.
function towards(degrees, size) {
  const angle = (degrees * Math.PI) / 180;
  return [Math.cos(angle), Math.sin(angle)].map((part) => (
    Math.abs(part) < 1e-9 ? 0 : Number((size * part).toPrecision(3)) // the cosine of 90° is not quite 0 here
  ));
}

// The outputs of the queries of a length in all directions, in turn.
function around(size, keys, values, scale) {
  const directions = Array.from({ length: 121 }, (_, i) => (i * Math.PI) / 60);
  const queries = directions.map((angle) => [size * Math.cos(angle), size * Math.sin(angle)]);
  return queries.map((query) => attention(query, keys, values, scale).output);
}

// The corners of the convex hull, in turn: along the points from left to right and back, turning left alone.
function hull(points) {
  const left = (a, b, c) => dot(minus(b, a), [c[1] - b[1], b[0] - c[0]]) > 0;
  const extend = (chain, next) => {
    while (chain.length > 1 && !left(chain.at(-2), chain.at(-1), next)) chain.pop();
    return [...chain, next];
  };
  const sorted = points.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
  return [sorted, sorted.toReversed()].flatMap((way) => way.reduce(extend, []).slice(0, -1));
}

// The directions of a query for which two keys tie and none is better: from one side to the other, the winner changes.
function ties(keys) {
  const ways = keys.flatMap((one, i) => keys.slice(i + 1).flatMap((other) => {
    const [x, y] = minus(one, other);
    return [[-y, x], [y, -x]].filter((way) => keys.every((key) => dot(way, minus(key, one)) <= 1e-9 * dot(way, way)));
  }));
  return ways.filter((way) => largest(way) > 0);
}

// ---- in words ------------------------------------------------------------------------------------------------------

// Who wins, by how much, and what that makes of the output.
function remark(labels, query, keys, { scores, scaled, weights }) {
  const top = Math.max(...scores);
  const rounding = 1e-12 * largest(scores); // 0.1 · 0.6 may differ from 0.2 · 0.3
  const winners = labels.filter((_, i) => top - scores[i] <= rounding).map(quoted);
  const winner = scores.indexOf(top);
  const on = keys.findIndex((key) => same(key, query));
  const near = (limit) => weights.every((weight, i) => Math.abs(weight - limit(i)) < NEAR);
  const mean = "the output is the mean of the values";
  if (largest(query) === 0) return `A zero query: all scores are 0, and ${mean}, at any scale.`;
  if (winners.length === labels.length) return `All keys tie: ${mean}, at any scale.`;
  if (near(() => 1 / labels.length)) return `Near one limit: all keys weigh about the same, and ${mean}.`;
  if (winners.length > 1) return `${winners.join(" and ")} tie: the output is a blend, and like none of the values.`;
  const beaten = on >= 0 && on !== winner;
  if (beaten) return `The query lies on ${quoted(labels[on])}, yet ${winners[0]} wins: its key is longer.`;
  const hard = `Near the other limit, a hard lookup: the output is all but the value of ${winners[0]}.`;
  if (near((i) => Number(i === winner))) return hard;
  const second = scores.indexOf(Math.max(...scores.filter((_, i) => i !== winner)));
  const lead = scaled[winner] - scaled[second];
  const ratio = `${fixed(Math.exp(lead), 2)} times as much as ${quoted(labels[second])}`;
  return `${winners[0]} weighs ${ratio}: e to the power of ${fixed(lead, 2)}, the lead of its scaled score.`;
}

// ---- the drawings --------------------------------------------------------------------------------------------------

const role = (name, ...inside) => make("span", { class: `mt-${name}` }, ...inside);
const panel = (drawing, ...title) => make("div", {}, make("p", { class: "mt-title" }, ...title), drawing);

// A name above a point of the upper half and below one of the lower, or on its other side where the drawing ends.
function name(text, kind) {
  const node = make("text", { class: `mt-name mt-${kind}`, "text-anchor": "middle" }, text);
  const draw = ([x, y], away) => {
    const room = 166 - (node.getComputedTextLength() || 9 * text.length) / 2; // it has no length while it is not seen
    const above = y > 0 === Math.abs(y) + away > 155; // y points down here
    change(node, { x: Math.max(-room, Math.min(room, x)), y: above ? y - away : y + away + 10 });
  };
  return { node, draw };
}

// The plane in which the query moves among the keys.
function among(labels, reach, get, move) {
  const { at, path, drawing, handle } = plane(reach);
  const tie = make("path", { class: "mt-tie" });
  const movable = (title, text, kind, get, move) => {
    const [arm, called] = [make("path", { class: `mt-arm mt-${kind}` }), name(text, kind)];
    const grip = handle(title, kind, get, move);
    const draw = (strength) => {
      change(arm, { d: path([0, 0], get()) });
      called.draw(at(get()), 19);
      grip.draw(get());
      grip.node.style.setProperty("--mt-strength", strength);
    };
    return { seen: [arm, called.node], handle: grip.node, draw };
  };
  const all = labels.map((text, i) => {
    const moved = (key) => move({ keys: get("keys").with(i, key) });
    return movable(`key of ${text}`, text, "key", () => get("keys")[i], moved);
  });
  all.push(movable("query", "query", "query", () => get("query"), (query) => move({ query })));
  const seen = [tie, ...all.flatMap((each) => each.seen)];
  const svg = drawing("The plane of the query and the keys", seen, ...all.map((each) => each.handle));
  const draw = ({ weights }) => {
    const far = (way) => times(way, reach / largest(way));
    change(tie, { d: ties(get("keys")).map((way) => path([0, 0], far(way))).join("") });
    all.forEach((each, i) => each.draw(weights[i] ?? 0.2)); // the query, which is last, has no weight
  };
  return { node: panel(svg, role("query", "query"), " among ", role("key", "keys"), "; dashed: ties"), draw };
}

// The plane of the values with their hull and the output, to which each value has a ribbon as wide as its weight; the way
// of the output while the query turns; and a ring around the winner's value.
function mixture(labels, says, reach, get) {
  const { at, path, drawing } = plane(reach);
  const outline = make("path", { class: "mt-hull mt-value" });
  const parts = says.map((text) => {
    const dot = make("circle", { class: "mt-dot mt-value", r: 6 });
    return { line: make("path", { class: "mt-line mt-weight" }), dot, called: name(text, "value") };
  });
  const mark = make("path", { class: "mt-mark mt-output", d: "M0-9L9 0L0 9L-9 0Z" });
  const [way, won] = [make("path", { class: "mt-way mt-output" }), make("circle", { class: "mt-won mt-output", r: 12 })];
  const above = parts.flatMap(({ dot, called }) => [dot, called.node]);
  const svg = drawing("", [outline, ...parts.map(({ line }) => line), way, won, ...above, mark]);
  const draw = ({ scores, weights, output }) => {
    const values = get("values");
    change(outline, { d: `${path(...hull(values))}Z` });
    change(way, { d: path(...around(Math.hypot(...get("query")), get("keys"), values, get("scale"))) });
    const [cx, cy] = at(values[scores.indexOf(Math.max(...scores))]);
    change(won, { cx, cy });
    parts.forEach(({ line, dot, called }, i) => {
      const [cx, cy] = at(values[i]);
      change(line, { d: path(values[i], output), "stroke-width": WIDEST * weights[i] });
      change(dot, { cx, cy });
      called.draw([cx, cy], 12);
    });
    change(mark, { transform: `translate(${at(output)})` });
    const told = values.map((value, i) => `${labels[i]}, which says ${says[i]}, at ${point(value)}`).join("; ");
    change(svg, { "aria-label": `The plane of the values: ${told}. The output is at ${point(output)}.` });
  };
  return { node: panel(svg, role("value", "values"), ": mixed ", role("output", "◆"), ", the winner’s ", role("output", "○")), draw };
}

// ---- the numbers ---------------------------------------------------------------------------------------------------

// Places for the two coordinates of a point: "(", x, ", ", y, ")".
function pairs({ place, show }) {
  const pair = (called) => ["(", place(`${called}-0`), ", ", place(`${called}-1`), ")"];
  const fill = (called, vector) => vector.forEach((value, i) => show(`${called}-${i}`, value, point([value])));
  return { pair, fill };
}

// A line for each key: the key, its score, the scaled score, and the weight as a bar and as a number.
function chart(labels) {
  const filled = numbers();
  const { pair, fill } = pairs(filled);
  const { place, show } = filled;
  const bars = labels.map(() => make("div", { class: "mt-amount" }));
  const lines = labels.map((text, i) => {
    const weight = make("div", {}, make("div", { "aria-hidden": "true" }, bars[i]), place(`weight-${i}`));
    const head = make("th", { scope: "row" }, role("word", text), " ", role("key", ...pair(`key-${i}`)));
    const parts = [place(`score-${i}`), place(`scaled-${i}`), weight];
    return make("tr", {}, head, ...parts.map((part) => make("td", {}, part)));
  });
  const titles = ["key k", "q · k", "scaled", "weight"].map((text) => make("th", { scope: "col" }, text));
  const head = make("thead", {}, make("tr", {}, ...titles));
  const node = make("table", {}, head, make("tbody", {}, ...lines));
  const draw = (keys, { scores, scaled, weights }) => {
    keys.forEach((key, i) => {
      fill(`key-${i}`, key);
      show(`score-${i}`, scores[i], brief(scores[i], 2));
      show(`scaled-${i}`, scaled[i], brief(scaled[i], 2));
      show(`weight-${i}`, weights[i], share(weights[i], 3));
      bars[i].style.width = `${100 * weights[i]}%`;
    });
  };
  return { node, draw };
}

function facts() {
  const filled = numbers();
  const { pair, fill } = pairs(filled);
  const { place, show } = filled;
  const node = make(
    "dl",
    {},
    entry(role("query", "query q"), ...pair("query"), ", length ", place("length")),
    entry(role("output", "output"), ...pair("output")),
    entry("as if blended equally from", place("sharers"), " values"),
  );
  const draw = (query, { weights, output }) => {
    const sharers = Math.exp(entropy(weights));
    fill("query", query);
    fill("output", output);
    show("length", Math.hypot(...query), brief(Math.hypot(...query), 2));
    show("sharers", sharers, fixed(sharers, 1));
  };
  return { node, draw };
}

// ---- the buttons ---------------------------------------------------------------------------------------------------

// Each gives what it changes, and what there is to tell of it.
const BUTTONS = {
  "a long query": ({ query, reach }) => {
    const factor = reach / largest(query);
    if (factor === Infinity) return [{}, "A zero query has no direction in which it could grow."];
    const text = fixed(factor, 1);
    const told = `The query is ${text} times as long: the weights that ${text} times the scale would give.`;
    return [{ query: times(query, factor) }, told];
  },
  "zero query": () => [{ query: [0, 0] }],
  "start again": ({ start }) => [start],
};

// A slider of the query's direction, and a button that lets the query turn once around by itself.
function turner(get, move, save) {
  let [told, size, frame] = [[], 0, 0]; // the last query made here, its length before it was rounded, what is to come
  const degrees = () => Math.round((Math.atan2(get("query")[1], get("query")[0]) * 180) / Math.PI);
  const go = (direction) => {
    if (!same(get("query"), told)) size = Math.hypot(...get("query"));
    told = towards(direction, size);
    move({ query: told });
  };
  const stop = () => {
    if (!frame) return;
    cancelAnimationFrame(frame);
    frame = 0;
    press.textContent = "turn";
    save();
  };
  const turn = () => {
    if (frame) {
      stop();
      return;
    }
    const [start, from] = [performance.now(), degrees()];
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      go(from + STEP);
      save();
      return;
    }
    const step = (now) => {
      const part = Math.min(1, Math.max(0, now - start) / AROUND);
      go(from + 360 * part);
      if (part < 1) frame = requestAnimationFrame(step);
      else stop();
    };
    frame = requestAnimationFrame(step);
    press.textContent = "stop";
  };
  const press = button("turn", turn);
  const input = slider({ min: -180, max: 180, "aria-label": "direction of the query" }, (value) => {
    go(value);
    save();
  });
  const draw = () => {
    if (!input.matches(":active, :focus") || frame) input.value = degrees();
    change(input, { "aria-valuetext": point(get("query")) });
  };
  const node = make("div", { class: "mt-dial mt-turner mt-controls" }, role("query", "turn q"), input, press);
  return { node, draw, stop, press };
}

// A round number that is at least `size`, for a plane to reach to.
function rounded(size) {
  const step = 10 ** Math.floor(Math.log10(size / 2));
  return size > 0 ? Math.ceil(size / step - 1e-9) * step : 1;
}

export default {
  render({ model, el }) {
    const get = (key) => model.get(key);
    const labels = get("labels");
    const start = { query: get("query"), keys: get("keys"), scale: get("scale") };
    const reach = rounded(2 * largest(start.query, ...start.keys)); // room for a longer query
    let news = ""; // what the last button did, until something else moves
    const set = (state, told = "") => {
      news = told;
      for (const [key, value] of Object.entries(state)) model.set(key, value);
    };
    const save = () => model.save_changes();
    const move = (state, told) => {
      set(state, told);
      save();
    };

    const scale = dial(
      {
        title: ["scale"],
        label: "scale",
        middle: Math.SQRT1_2,
        range: 100,
        words: ["0.007, all alike", ["1/√d", make("sub", {}, "k")], "70.7, hard"],
        written: (value) => Number(value.toPrecision(4)),
      },
      (scale) => move({ scale }),
    );
    const turning = turner(get, set, save);
    const planes = [among(labels, reach, get, move), mixture(labels, get("says"), rounded(largest(...get("values"))), get)];
    const [table, list, speech] = [chart(labels), facts(), speaker()];
    const verdict = make("p", { class: "mt-verdict" });
    const draw = () => {
      const [query, keys] = [get("query"), get("keys")];
      const found = attention(query, keys, get("values"), get("scale"));
      planes.forEach((each) => each.draw(found));
      turning.draw();
      scale.draw(get("scale"));
      table.draw(keys, found);
      list.draw(query, found);
      verdict.textContent = news || remark(labels, query, keys, found);
      const most = Math.max(...found.weights);
      const best = `${quoted(labels[found.weights.indexOf(most)])} has the largest weight, ${share(most, 3)}`;
      speech.say(`Query at ${point(query)}: ${best}; output at ${point(found.output)}. ${verdict.textContent}`);
    };

    const press = (action) => () => {
      move(...action({ query: get("query"), reach, start }));
      draw(); // also where nothing moved, for what there is to tell
    };
    const buttons = Object.entries(BUTTONS).map(([text, action]) => button(text, press(action)));
    const controls = make("div", { class: "mt-buttons mt-controls" }, ...buttons);
    const seen = [...planes, turning, scale].map((each) => each.node);
    const counted = fold("each key and the output in numbers", table.node, list.node);
    const whole = make("div", { class: "mt-lookup" }, ...seen, counted, verdict, controls, speech.node);
    for (const kind of ["pointerdown", "keydown"]) {
      whole.addEventListener(kind, ({ target }) => target !== turning.press && turning.stop(), true); // the hand takes over
    }
    begin(el, model, [...Object.keys(start), "values"], draw, whole);
  },
};
