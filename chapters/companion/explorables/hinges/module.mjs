// Chapter 11: hinges that add up to a curve, moved by hand or set by least squares.
import { begin, box, brief, button, change, fixed, make, numbers, plane, speaker } from "../shared/parts.mjs";

const REACH = 3; // of the plane: places from −3 to 3, and as high
const GRIP = 0.5; // how far to the right of its place a hinge is held
const MOST = 6; // hinges
const [STEPS, PACE] = [8, 300]; // of the way to the best slopes, and milliseconds from one to the next

// ---- the mathematics -----------------------------------------------------------------------------------------------

const unit = (x, place, bent) => (bent ? Math.max(0, x - place) : x - place); // a hidden unit, before its slope
const total = (x, { places, slopes, bent }) => places.reduce((sum, place, i) => sum + slopes[i] * unit(x, place, bent), 0);
const across = (curve) => curve.map((_, i) => -REACH + (2 * REACH * i) / (curve.length - 1));
const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const to = (digits) => (value) => Number(value.toFixed(digits)) + 0; // never −0

function error(state) {
  return mean(across(state.curve).map((x, i) => (total(x, state) - state.curve[i]) ** 2));
}

// The eigenvalues of a symmetric matrix and their vectors, by Jacobi's turns of two axes at a time.
function eigen(matrix) {
  const [a, n] = [matrix.map((row) => [...row]), matrix.length];
  const vectors = a.map((_, i) => a.map((_, j) => Number(i === j)));
  for (let round = 0; round < 30; round++) {
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        const angle = Math.atan2(2 * a[p][q], a[q][q] - a[p][p]) / 2;
        const [c, s] = [Math.cos(angle), Math.sin(angle)];
        const turn = (row) => ([row[p], row[q]] = [c * row[p] - s * row[q], s * row[p] + c * row[q]]);
        a.forEach(turn);
        vectors.forEach(turn);
        for (let k = 0; k < n; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
      }
    }
  }
  return a.map((row, i) => ({ value: row[i], vector: vectors.map((each) => each[i]) }));
}

// The slopes with the least squares for these places, and the smallest of them where several have it; to two digits.
function best({ curve, places, bent }) {
  const columns = places.map((place) => across(curve).map((x) => unit(x, place, bent)));
  const found = eigen(columns.map((one) => columns.map((other) => dot(one, other))));
  const aims = columns.map((column) => dot(column, curve));
  const least = 1e-10 * Math.max(...found.map(({ value }) => value));
  const kept = found.filter(({ value }) => value > least);
  return places.map((_, i) => kept.reduce((sum, { value, vector }) => sum + (vector[i] * dot(vector, aims)) / value, 0))
    .map(to(2));
}

// The middle of the widest gap between hinges, for another one.
function gap(places) {
  const ends = [-REACH, ...places.toSorted((a, b) => a - b), REACH];
  const gaps = ends.slice(1).map((end, i) => end - ends[i]);
  const widest = gaps.indexOf(Math.max(...gaps));
  return Math.min(REACH - GRIP, to(1)(ends[widest] + gaps[widest] / 2));
}

// ---- in words ------------------------------------------------------------------------------------------------------

const counted = (places) => (places.length === 1 ? "1 hinge" : `${places.length} hinges`);
const often = (count) => ["nowhere", "once", "twice"][count] ?? `${count} times`;

// At how many places of the plane the sum bends.
function bends({ places, slopes }) {
  const turn = (place) => dot(slopes, places.map((other) => Number(other === place)));
  return [...new Set(places)].filter((place) => place > -REACH && Math.abs(turn(place)) > 1e-9).length;
}

function remark(state) {
  const { curve, places, slopes, bent } = state;
  const flat = brief(mean(curve.map((y) => y * y)), 3);
  const [rise, start] = [slopes.reduce((a, b) => a + b), -dot(slopes, places)];
  const line = `y = ${fixed(rise, 2)} x ${start < 0 ? "−" : "+"} ${fixed(Math.abs(start), 2)}`;
  const done = best(state).every((slope, i) => slope === slopes[i]);
  const last = done ? "No slopes do better at these places." : `With no hinge the error is ${flat}.`;
  if (!bent) return `Without a bend, the sum is a straight line, ${line}. ${last}`;
  return `The sum of ${counted(places)} bends ${often(bends(state))} between −3 and 3. ${last}`;
}

// ---- the drawing ---------------------------------------------------------------------------------------------------

// A short line as in the drawing, for the legend.
function sample(width, dashes = "none") {
  const line = { d: "M0 4H24", stroke: "currentColor", "stroke-width": width, "stroke-dasharray": dashes };
  return make("svg", { class: "mt-sample", viewBox: "0 0 24 8", "aria-hidden": "true" }, make("path", line));
}

// The plane: the curve that is sought, each hinge with its grip, and their sum.
function drawn(get, move) {
  const { at, path, drawing, handle } = plane(REACH);
  const within = (height) => Math.max(-REACH, Math.min(REACH, height));
  const sought = make("path", { class: "mt-sought" });
  const sum = make("path", { class: "mt-added mt-output" });
  const all = Array.from({ length: MOST }, (_, i) => {
    const held = () => [get("places")[i] + GRIP, within(GRIP * get("slopes")[i])];
    const near = (one, other) => Math.abs(one - other) < 0.051; // no further than the rounding of a handle
    const moved = ([x, y]) => {
      const [before, height] = held();
      const place = near(x, before) && !near(y, height) ? get("places")[i] : to(1)(x - GRIP);
      const slope = near(y, height) && !near(x, before) ? get("slopes")[i] : to(2)(y / GRIP);
      move({ places: get("places").with(i, place), slopes: get("slopes").with(i, slope) });
    };
    const line = make("path", { class: "mt-hinge mt-value" });
    const grip = handle(`hinge ${i + 1}`, "value", held, moved);
    grip.node.append(make("text", { y: 5, "text-anchor": "middle", "aria-hidden": "true" }, `${i + 1}`));
    const draw = ({ places, slopes, bent }) => {
      const there = i < places.length;
      line.style.display = there ? "" : "none";
      if (!there) grip.node.remove();
      else if (!grip.node.parentNode) svg.append(grip.node);
      if (!there) return;
      const height = (x) => slopes[i] * unit(x, places[i], bent);
      change(line, { d: path(...[-REACH, places[i], REACH].filter((x) => x >= -REACH).map((x) => [x, height(x)])) });
      grip.draw(held());
      change(grip.node, { "aria-valuetext": `place ${fixed(places[i], 1)}, slope ${fixed(slopes[i], 2)}` });
    };
    return { line, grip: grip.node, draw };
  });
  const corner = at([-REACH, REACH]);
  const frame = { x: corner[0], y: corner[1], width: 300, height: 300, viewBox: `${corner.join(" ")} 300 300` };
  const inside = make("svg", frame, sought, ...all.map(({ line }) => line), sum); // cut off where the plane ends
  const svg = drawing("", [inside], ...all.map((each) => each.grip));
  const draw = (state) => {
    const { curve, places } = state;
    change(sought, { d: path(...across(curve).map((x, i) => [x, curve[i]])) });
    const corners = [-REACH, ...places.filter((place) => place > -REACH).toSorted((a, b) => a - b), REACH];
    change(sum, { d: path(...corners.map((x) => [x, total(x, state)])) });
    all.forEach((each) => each.draw(state));
    const told = `the curve that is sought, ${counted(places)} to move, and their sum`;
    change(svg, { "aria-label": `The plane: ${told}.` });
  };
  return { node: svg, draw };
}

// Of each hinge its place and slope, and the error; a line for each that there could be, so that nothing moves.
function listed() {
  const { place, show } = numbers();
  const lines = Array.from({ length: MOST }, (_, i) => {
    const cells = [place(`place-${i}`), place(`slope-${i}`)].map((part) => make("td", {}, part));
    return make("tr", {}, make("th", { scope: "row" }, `${i + 1}`), ...cells);
  });
  const titles = ["hinge", "place", "slope"].map((text) => make("th", { scope: "col" }, text));
  const head = make("thead", {}, make("tr", {}, ...titles));
  const table = make("table", {}, head, make("tbody", {}, ...lines));
  const told = make("p", { class: "mt-error" }, "mean squared error ", place("error"));
  const draw = (state) => {
    lines.forEach((line, i) => {
      const there = i < state.places.length;
      line.classList.toggle("mt-missing", !there);
      show(`place-${i}`, there ? state.places[i] : null, there ? fixed(state.places[i], 1) : "–");
      show(`slope-${i}`, there ? state.slopes[i] : null, there ? brief(state.slopes[i], 2) : "–");
    });
    show("error", error(state), brief(error(state), 3));
  };
  return { node: make("div", { class: "mt-listed" }, table, told), draw };
}

export default {
  render({ model, el }) {
    const keys = ["curve", "places", "slopes", "bent"];
    const get = (key) => model.get(key);
    const state = () => Object.fromEntries(keys.map((key) => [key, get(key)]));
    const start = { places: get("places"), slopes: get("slopes"), bent: get("bent") };
    let [news, waiting] = ["", 0]; // what a button could not do; what is still to come of the way to the best slopes
    const move = (changes, told = "") => {
      news = told;
      for (const [key, value] of Object.entries(changes)) model.set(key, value);
      model.save_changes();
      draw(); // also where nothing has changed but what is told
    };
    const stop = () => {
      clearTimeout(waiting);
      waiting = 0;
      draw();
    };
    const fit = () => {
      const [from, aim] = [get("slopes"), best(state())];
      const walk = (step) => {
        waiting = step < STEPS && setTimeout(() => walk(step + 1), PACE);
        move({ slopes: from.map((slope, i) => to(2)(slope + ((aim[i] - slope) * step) / STEPS)) });
      };
      walk(matchMedia("(prefers-reduced-motion: reduce)").matches ? STEPS : 1);
    };
    const play = button("fit", () => (waiting ? stop() : fit()));
    const more = button("add a hinge", () => {
      const { places, slopes } = state();
      if (places.length === MOST) move({}, `There is room for ${MOST} hinges: take one away, or move one.`);
      else move({ places: [...places, gap(places)], slopes: [...slopes, 0] });
    });
    const less = button("take one away", () => {
      const { places, slopes } = state();
      if (places.length === 1) move({}, "One hinge has to stay.");
      else move({ places: places.slice(0, -1), slopes: slopes.slice(0, -1) });
    });
    const again = button("start again", () => move(start));
    const bend = box("bend each at its place", (bent) => move({ bent }));
    const [picture, list, speech] = [drawn(get, move), listed(), speaker()];
    const verdict = make("p", { class: "mt-verdict" });
    const draw = () => {
      const now = state();
      if (now.places.length !== now.slopes.length) return; // the kernel has set one of the two, and not yet the other
      picture.draw(now);
      list.draw(now);
      bend.draw(now.bent);
      play.textContent = waiting ? "stop" : "fit";
      verdict.textContent = news || remark(now);
      speech.say(`Mean squared error ${brief(error(now), 3)}. ${verdict.textContent}`);
    };
    const legend = make(
      "p",
      { class: "mt-legend" },
      make("span", { class: "mt-muted" }, sample(2.5, "5 4"), "to be matched"),
      make("span", { class: "mt-value" }, sample(1.5), "each hinge"),
      make("span", { class: "mt-output" }, sample(3.5), "their sum"),
    );
    const buttons = make("div", { class: "mt-buttons mt-controls" }, play, more, less, again);
    const controls = make("div", { class: "mt-set mt-controls" }, bend.node, buttons);
    const board = make("div", {}, legend, picture.node);
    const beside = make("div", {}, list.node, verdict);
    const whole = make("div", { class: "mt-hinges" }, board, beside, controls, speech.node);
    for (const kind of ["pointerdown", "keydown"]) {
      whole.addEventListener(kind, ({ target }) => waiting && target !== play && stop(), true); // the hand takes over
    }
    begin(el, model, keys, draw, whole);
  },
};
