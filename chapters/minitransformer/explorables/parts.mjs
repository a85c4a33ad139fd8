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
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
}

// A number as text, with a true minus sign and never −0.
export function fixed(number, digits) {
  const text = number.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
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

// A field for a number: it calls move(value) for a number that is allowed, and marks what is not.
export function field(attributes, allowed, move) {
  const node = make("input", { type: "number", step: "any", ...attributes });
  const show = (value) => {
    change(node, { "data-value": value });
    if (node.matches(":focus")) return; // while it is typed in: "0." is on the way to a number
    change(node, { "aria-invalid": false });
    node.value = value;
  };
  node.addEventListener("input", () => {
    const fine = Number.isFinite(node.valueAsNumber) && allowed(node.valueAsNumber);
    change(node, { "aria-invalid": !fine });
    if (fine) move(node.valueAsNumber);
  });
  node.addEventListener("blur", () => show(Number(node.dataset.value)));
  return { node, show };
}

// Fill `el` and draw, now and whenever a part of the state is changed, by the reader or by the kernel.
export function begin(el, model, keys, draw, ...children) {
  el.classList.add("mt-live");
  el.addEventListener("keydown", (event) => event.stopPropagation()); // JupyterLab would take the arrow keys
  el.append(...children);
  for (const key of keys) model.on(`change:${key}`, draw);
  draw();
}
