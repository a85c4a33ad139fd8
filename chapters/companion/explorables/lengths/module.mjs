// Chapter 18: what attention costs in one layer, with a table of all scores and in tiles.
import { begin, change, field, make, numbers, slider, speaker } from "../shared/parts.mjs";

const [LEAST, MOST] = [16, 2 ** 20]; // tokens
const OCTAVE = 4; // steps of the slider from a length to twice it
const DEVICES = { phone: 8, laptop: 16, accelerator: 80 }; // their memory in GB, of 10⁹ bytes
const MARKED = ["laptop", "accelerator"]; // in the chart, where a phone's line would lie on the laptop's
const UNITS = ["bytes", "kB", "MB", "GB", "TB", "PB"];
const [LOW, HIGH] = [3, 15]; // powers of 10 of bytes, between which the chart lies
const CHOICES = {
  heads: [1, 4, 8, 12, 16, 32, 64, 128],
  width: [16, 32, 64, 128, 256],
  bytes: [1, 2, 4],
  block: [64, 128, 256, 512, 1024],
};
const KEYS = ["length", ...Object.keys(CHOICES)];

// ---- the formulas --------------------------------------------------------------------------------------------------

// Bytes that one layer holds: queries, keys, values and output, and with them a table of scores, or a tile of it, for
// each head.
function memory({ length, heads, width, bytes, block }) {
  const vectors = 4 * length * width;
  const of = (scores) => bytes * heads * (vectors + scores);
  return { table: of(length ** 2), tiles: of(Math.min(block, length) ** 2) };
}

// Multiplications: of scores and mixing, where tiles convert what they have at each block of keys, and of the matrices.
function multiplications({ length, heads, width, block }) {
  const d = heads * width;
  const table = 2 * length ** 2 * d;
  const converted = Math.ceil(length / block) * length * heads * (width + 1);
  return { table, tiles: table + converted, matrices: 12 * length * d ** 2 };
}

// The longest text whose attention fits into so many bytes: what `memory` gives for more than a block, turned round.
function longest(room, { heads, width, bytes, block }) {
  const each = room / bytes / heads;
  return {
    table: Math.floor(Math.sqrt(4 * width ** 2 + each) - 2 * width),
    tiles: Math.floor((each - block ** 2) / 4 / width),
  };
}

// ---- in words ------------------------------------------------------------------------------------------------------

const grouped = (number) => number.toLocaleString("en-GB");
const three = (number) => number.toPrecision(3);

// A number of bytes as a number of a unit, and that.
function sized(bytes) {
  const power = Math.floor(Math.log10(bytes) / 3 + 1e-9);
  return [bytes / 1000 ** power, UNITS[power]];
}

const told = (bytes) => {
  const [number, unit] = sized(bytes);
  return `${three(number)} ${unit}`;
};

// The smallest of the devices that has so much memory.
function holder(bytes) {
  const found = Object.keys(DEVICES).find((name) => bytes <= DEVICES[name] * 1e9);
  return found ? `fits into ${found === "accelerator" ? "an" : "a"} ${found}` : "fits into none of the three";
}

function remark(state) {
  const { table, tiles } = memory(state);
  const two = `the table needs ${told(table)} and ${holder(table)}; the tiles need ${told(tiles)}`;
  const less = table / tiles;
  const times = less < 1.1 ? "about as much" : `${less < 10 ? less.toFixed(1) : grouped(Math.round(less))} times less`;
  return `At ${grouped(state.length)} tokens ${two}, ${times}.`;
}

// ---- what is seen --------------------------------------------------------------------------------------------------

const height = (bytes) => (100 * (HIGH - Math.log10(bytes))) / (HIGH - LOW); // in the chart, in per cent from its top
const octaves = (length) => Math.log2(length / LEAST);
const along = (length) => (100 * octaves(length)) / octaves(MOST);
const lengths = Array.from({ length: OCTAVE * octaves(MOST) + 1 }, (_, i) => Math.round(LEAST * 2 ** (i / OCTAVE)));

// The memory against the length, both in powers, over a slider that is its axis.
function chart(move) {
  const [net, table, tiles] = ["net", "table", "tiles"].map((name) => make("path", { class: `mt-${name}` }));
  const box = { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img", "aria-label": "memory by length" };
  const part = (name, ...nodes) => make("div", { class: `mt-${name}`, "aria-hidden": true }, ...nodes);
  const at = (bytes) => ({ style: `top: ${height(bytes)}%` });
  const powers = UNITS.slice(1).map((unit, i) => make("span", at(1000 ** (i + 1)), `1 ${unit}`));
  const room = (name) => make("span", at(DEVICES[name] * 1e9), `${name}, ${DEVICES[name]} GB`);
  const rooms = MARKED.map(room);
  const marks = { table: make("i", { class: "mt-table" }), tiles: make("i", { class: "mt-tiles" }) };
  const here = part("here", ...Object.values(marks));
  const plot = make("div", { class: "mt-plot" }, make("svg", box, net, table, tiles), part("rooms", ...rooms), here);
  change(net, { d: UNITS.slice(1).map((_, i) => `M0 ${height(1000 ** (i + 1))}H100`).join("") });
  const range = slider({ min: 0, max: lengths.length - 1, "aria-label": "length" }, (i) => move(lengths[i]));
  const fine = (length) => Number.isInteger(length) && length >= LEAST && length <= MOST;
  const named = { "aria-label": "length as a number", "data-name": "length", inputmode: "numeric" };
  const typed = field(named, fine, move, { rule: `a whole number from ${LEAST} to ${grouped(MOST)}` });
  const words = make("span", {}, "length in tokens");
  const node = make("div", { class: "mt-sizes" }, part("levels", ...powers), plot, range, words, typed.node);
  const draw = (state) => {
    const lines = lengths.map((length) => [along(length), memory({ ...state, length })]);
    change(table, { d: `M${lines.map(([x, size]) => [x, height(size.table)]).join("L")}` });
    change(tiles, { d: `M${lines.map(([x, size]) => [x, height(size.tiles)]).join("L")}` });
    change(here, { style: `left: ${along(state.length)}%` });
    const size = memory(state);
    for (const [name, mark] of Object.entries(marks)) change(mark, { style: `top: ${height(size[name])}%` });
    range.value = lengths.findIndex((length) => length >= state.length);
    change(range, { "aria-valuetext": `${state.length} tokens` });
    typed.show(state.length);
  };
  return { node, draw };
}

// What is needed at this length, and how far each device goes, with the table and in tiles.
function table() {
  const { place, show } = numbers();
  const units = {};
  const cell = (name, unit) => make("td", {}, place(name), unit ? (units[name] = make("span")) : "");
  const line = (title, name, unit) => {
    const [one, two] = ["table", "tiles"].map((kind) => cell(`${name}-${kind}`, unit));
    return make("tr", {}, make("th", { scope: "row" }, title), one, two);
  };
  const head = ["", "table", "tiles"].map((text) => make("th", { scope: "col", class: `mt-${text || "none"}` }, text));
  head[0] = make("td");
  const rooms = Object.entries(DEVICES).map(([name, size]) => line(`tokens in ${size} GB, ${name}`, name));
  const times = ["scores", "matrices"].map((name) => line(`multiplications, ${name}`, name, true));
  const body = make("tbody", {}, line("memory", "memory", true), ...times, ...rooms);
  const node = make("table", {}, make("thead", {}, make("tr", {}, ...head)), body);
  const put = (name, [number, ...unit]) => {
    show(name, number, three(number));
    units[name].replaceChildren(...unit);
  };
  const scientific = (number) => {
    const power = Math.floor(Math.log10(number) + 1e-9);
    return [number / 10 ** power, " × 10", make("sup", {}, power)];
  };
  const draw = (state) => {
    const [sizes, times] = [memory(state), multiplications(state)];
    for (const kind of ["table", "tiles"]) {
      const [number, unit] = sized(sizes[kind]);
      put(`memory-${kind}`, [number, ` ${unit}`]);
      put(`scores-${kind}`, scientific(times[kind]));
      put(`matrices-${kind}`, scientific(times.matrices));
      for (const [name, size] of Object.entries(DEVICES)) {
        const most = longest(size * 1e9, state)[kind];
        show(`${name}-${kind}`, most, grouped(most));
      }
    }
  };
  return { node, draw };
}

// A list to choose a number from, which takes another one too when a kernel sets it.
function choice(name, label, options, move) {
  const option = (value) => make("option", { value }, value);
  const node = make("select", { "aria-label": label }, ...options.map(option));
  node.addEventListener("change", () => move(Number(node.value)));
  const draw = (value) => {
    if (![...node.options].some((each) => Number(each.value) === value)) node.append(option(value));
    node.value = value;
  };
  return { node: make("label", {}, label, node), draw };
}

export default {
  render({ model, el }) {
    const set = (key, value) => {
      model.set(key, value);
      model.save_changes();
    };
    const labels = { heads: "heads", width: "width of a head", bytes: "bytes a number", block: "tile" };
    const choices = Object.entries(CHOICES).map(([name, options]) => {
      return [name, choice(name, labels[name], options, (value) => set(name, value))];
    });
    const [curves, needs] = [chart((length) => set("length", length)), table()];
    const verdict = make("p", { class: "mt-verdict" });
    const speech = speaker();
    const draw = () => {
      const state = Object.fromEntries(KEYS.map((key) => [key, model.get(key)]));
      curves.draw(state);
      needs.draw(state);
      for (const [name, each] of choices) each.draw(state[name]);
      verdict.textContent = remark(state);
      speech.say(verdict.textContent);
    };
    const chosen = make("div", { class: "mt-chosen-sizes mt-controls" }, ...choices.map(([, each]) => each.node));
    const parts = [curves.node, chosen, needs.node, verdict, speech.node];
    begin(el, model, KEYS, draw, make("div", { class: "mt-lengths" }, ...parts));
  },
};
