// What the explorables share.  Text from outside enters the page as text, never as markup.
const SVG = "http://www.w3.org/2000/svg";
const DRAWN = ["svg", "g", "path", "circle", "rect", "text"];

// make("p", { class: "mt-note" }, "some text", child, …) -> an element.
export function make(tag, attributes = {}, ...children) {
  const node = DRAWN.includes(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  change(node, attributes);
  node.append(...children);
  return node;
}

export function change(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") node.style.cssText = value; // the attribute itself a page may be forbidden to set
    else node.setAttribute(name, value);
  }
}

// A number as text, with a true minus sign and never −0.
export function fixed(number, digits) {
  const text = number.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

// A number of any size in few characters: from 100 on, each digit before the point takes the place of one after it.
export function brief(number, digits) {
  const size = Math.abs(number);
  if (size === Infinity) return number > 0 ? "∞" : "−∞";
  if (size >= 1e5) return number.toExponential(0).replaceAll("-", "−").replace("+", "");
  return fixed(number, Math.max(0, size < 10 ? digits : digits + 1 - Math.floor(Math.log10(size))));
}

// A weight, which reads as 0 or 1 only where it has rounded to that.
export function share(weight, digits) {
  const least = 10 ** -digits;
  if (weight > 0 && weight < least / 2) return `<${fixed(least, digits)}`;
  if (weight < 1 && weight >= 1 - least / 2) return `>${fixed(1 - least, digits)}`;
  return fixed(weight, digits);
}

// A share in per cent, which reads as 0 or 100 only where it is none or all.
export function percent(part, digits) {
  const text = share(part, digits + 2);
  return text.replace(/[\d.]+/, (number) => (100 * number).toFixed(digits));
}

export const quoted = (label) => `“${label}”`;

// Scores become weights.  The largest score is subtracted first, so that no exponential overflows; a score of −∞ gets
// no weight, and none does where all are −∞.
export function softmax(scores, temperature) {
  const top = Math.max(...scores);
  const amounts = scores.map((score) => (score === -Infinity ? 0 : Math.exp((score - top) / temperature)));
  const total = amounts.reduce((sum, amount) => sum + amount);
  return { top, amounts, total, weights: amounts.map((amount) => amount / (total || 1)) };
}

export function entropy(weights) {
  return weights.reduce((sum, weight) => (weight > 0 ? sum - weight * Math.log(weight) : sum), 0);
}

// Places for numbers: place(name) makes one, show(name, number, text) fills it.  Full precision stays in data-value.
export function numbers() {
  const places = {};
  const place = (name) => (places[name] = make("span", { class: "mt-number", "data-name": name }));
  const show = (name, number, text) => {
    change(places[name], { "data-value": number ?? "" });
    places[name].textContent = text;
  };
  return { place, show };
}

// A sentence for screen readers, spoken when the reader pauses and not at every step on the way.
export function speaker() {
  const node = make("p", { class: "mt-spoken", "aria-live": "polite" });
  let waiting;
  const say = (sentence) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => (node.textContent = sentence), 500);
  };
  return { node, say };
}

export function button(text, press) {
  const node = make("button", { type: "button" }, text);
  node.addEventListener("click", press);
  return node;
}

// A slider that calls move(value): the arrow keys make one step, with shift ten.
export function slider(attributes, move) {
  const node = make("input", { type: "range", ...attributes });
  node.addEventListener("input", () => move(node.valueAsNumber));
  node.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 10, ArrowUp: 10, ArrowLeft: -10, ArrowDown: -10 }[event.key];
    if (!step || !event.shiftKey) return;
    event.preventDefault();
    node.stepUp(step);
    move(node.valueAsNumber);
  });
  return node;
}

// A field for a number: it calls move(value) for a number that is allowed, which `rule` says in words; it marks what is
// not, and lets `begin` tell so.
export function field(attributes, allowed, move, { rule = "a number", written = String } = {}) {
  const node = make("input", { type: "number", step: "any", ...attributes });
  const refuse = () => {
    const [label, value] = [attributes["aria-label"].replace(" as a number", ""), node.dataset.value.replace("-", "−")];
    const detail = `${label}: type ${rule}. What is shown is for ${value}.`;
    node.dispatchEvent(new CustomEvent("refuse", { bubbles: true, detail }));
  };
  const show = (value) => {
    change(node, { "data-value": value });
    if (node.matches(":focus")) return; // while it is typed in: "0." is on the way to a number
    change(node, { "aria-invalid": false });
    node.value = written(value);
  };
  node.addEventListener("input", () => {
    const fine = Number.isFinite(node.valueAsNumber) && allowed(node.valueAsNumber);
    change(node, { "aria-invalid": !fine });
    if (fine) move(node.valueAsNumber);
    else refuse();
  });
  node.addEventListener("blur", () => show(Number(node.dataset.value)));
  return { node, show };
}

// A positive number on a logarithmic scale, as a slider from middle / range to middle · range and as a field.
export function dial({ title, label, middle, range, words, written }, move) {
  const number = (power) => (power === 0 ? middle : Number((middle * range ** power).toPrecision(3)));
  const input = slider({ min: -1, max: 1, step: 0.01, "aria-label": label }, (power) => move(number(power)));
  const named = { "aria-label": `${label} as a number`, "data-name": label };
  const typed = field(named, (value) => value > 0, move, { rule: "a number above 0", written });
  const below = make("div", { "aria-hidden": "true" }, ...words.map((text) => make("span", {}, ...[text].flat())));
  const draw = (value) => {
    input.value = Math.log(value / middle) / Math.log(range);
    change(input, { "aria-valuetext": value });
    typed.show(value);
  };
  const scale = make("div", { class: "mt-scale" }, input, below);
  return { node: make("div", { class: "mt-dial mt-controls" }, make("span", {}, ...title), scale, typed.node), draw };
}

// A box to tick, which calls move(true) or move(false).
export function box(text, move) {
  const node = make("input", { type: "checkbox" });
  node.addEventListener("change", () => move(node.checked));
  return { node: make("label", { class: "mt-box" }, node, text), draw: (ticked) => (node.checked = ticked) };
}

// What a small screen has no room for: folded there, and open where there is room, with nothing to press.
export function fold(title, ...nodes) {
  const roomy = matchMedia("(min-width: 40rem)");
  const node = make("details", { class: "mt-fold" }, make("summary", {}, title), make("div", {}, ...nodes));
  const fit = () => (node.open = roomy.matches);
  roomy.addEventListener("change", fit);
  fit();
  return node;
}

// A term and its description, for a list of facts.
export function entry(term, ...description) {
  return make("div", {}, make("dt", {}, term), make("dd", {}, ...description));
}

// A point as text: at most three digits for each coordinate.
export function point(vector) {
  return vector.map((value) => String(Number(value.toPrecision(3))).replace("-", "−")).join(", ");
}

// A plane, x to the right and y up, from −reach to reach: its paths, its drawing, and handles to move its points by.
export function plane(reach) {
  const unit = 150 / reach; // what 1 measures in the drawing
  const step = 10 ** Math.floor(Math.log10(reach / 2)); // from line to line of the grid
  const lines = Math.floor(reach / step + 1e-9); // of the grid, on each side of 0
  const at = ([x, y]) => [x * unit, -y * unit]; // y points down there
  const path = (...points) => `M${points.map(at).join("L")}`;

  const grid = () => {
    const steps = Array.from({ length: 2 * lines + 1 }, (_, i) => i - lines);
    const cross = (s) => path([s, -reach], [s, reach]) + path([-reach, s], [reach, s]);
    const label = (i, x, y, anchor) => make("text", { x, y, "text-anchor": anchor }, point([i * step]));
    const marked = steps.filter((i) => i && i % Math.ceil(lines / 2.5) === 0);
    const labels = marked.flatMap((i) => [
      label(i, i * step * unit, 18, "middle"),
      label(i, -7.5, 5 - i * step * unit, "end"),
    ]);
    const net = make("path", { class: "mt-grid", d: steps.map((i) => cross(i * step)).join("") });
    return make("g", { class: "mt-muted" }, net, make("path", { class: "mt-axes", d: cross(0) }), ...labels);
  };

  const drawing = (label, seen, ...handles) => {
    const attributes = { class: "mt-plane", viewBox: "-170 -170 340 340", role: handles.length ? "group" : "img" };
    const picture = make("g", { "aria-hidden": "true" }, grid(), ...seen);
    return make("svg", { ...attributes, "aria-label": label }, picture, ...handles);
  };

  // A handle for mouse, finger and arrow keys; it calls move([x, y]).
  const handle = (name, role, get, move) => {
    const [touch, ring] = [make("circle", { class: "mt-reach" }), make("circle", { class: "mt-ring", r: 13 })];
    const node = make("g", { class: `mt-handle mt-${role}`, role: "slider", tabindex: 0 }, touch, ring);
    change(node, { "aria-label": name, "aria-valuemin": -reach, "aria-valuemax": reach });
    const fine = 10 / step; // how many places there are from 0 to 1
    const snap = (value) => Math.max(-reach, Math.min(reach, Math.round(value * fine) / fine));
    const plus = (one, two) => [one[0] + two[0], one[1] + two[1]];
    const pointed = (event) => {
      const frame = node.ownerSVGElement.getBoundingClientRect();
      const [x, y] = [event.clientX - frame.left - frame.width / 2, frame.top + frame.height / 2 - event.clientY];
      return [x, y].map((length) => (length * 340) / unit / frame.width);
    };
    // A finger on the handle must not scroll the page; Chromium heeds touch-action for a whole drawing only.
    node.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    let grip; // from where the pointer took hold to the point
    node.addEventListener("pointerdown", (event) => {
      const [x, y] = pointed(event);
      grip = plus(get(), [-x, -y]);
      node.setPointerCapture(event.pointerId);
    });
    node.addEventListener("pointermove", (event) => {
      if (node.hasPointerCapture(event.pointerId)) move(plus(pointed(event), grip).map(snap));
    });
    node.addEventListener("keydown", (event) => {
      const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!way) return;
      event.preventDefault();
      const by = way.map((sign) => (event.shiftKey ? sign * step : sign / fine));
      move(plus(get(), by).map(snap));
    });
    const draw = (vector) => {
      const value = { "aria-valuenow": vector[0], "aria-valuetext": point(vector) };
      change(node, { transform: `translate(${at(vector)})`, ...value });
    };
    return { node, draw };
  };

  return { at, path, drawing, handle };
}

// Fill `el` and draw, now and whenever a part of the state is changed, by the reader or by the kernel.
export function begin(el, model, keys, draw, ...children) {
  el.classList.add("mt-live");
  el.addEventListener("keydown", (event) => event.stopPropagation()); // JupyterLab would take the arrow keys
  el.append(...children);
  const say = (text) => {
    for (const told of el.querySelectorAll(".mt-verdict, .mt-spoken[aria-live]")) told.textContent = text;
  };
  let refused = false; // whether a field holds what cannot be shown
  el.addEventListener("input", () => (refused = false), true); // before the field reads it
  el.addEventListener("refuse", ({ detail }) => {
    refused = true;
    say(detail);
  });
  el.addEventListener("focusout", () => refused && draw((refused = false)));
  for (const key of keys) model.on(`change:${key}`, draw);
  draw();
}

// Make the children of a node one stop of the Tab key; the arrow keys go from child to child.
export function roving(node) {
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
