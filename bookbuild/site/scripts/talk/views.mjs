// What is seen from one token: the odds of the next, its rank by layer, and where one head looks.
import { make, percent } from "../../../../chapters/companion/explorables/shared/parts.mjs";
import { all, element } from "../page.mjs";
import { quoted, written } from "./words.mjs";

const VIEW = { width: 360, height: 190, left: 46, right: 10, top: 12, bottom: 34 }; // of the chart
const heard = (text) => element("span", { className: "heard" }, text);
const heading = (text) => element("h3", {}, text);

/** Return the odds: a bar for each token that could come next, its mark where it would be at temperature 1. */
export function makeOdds() {
  const body = element("tbody");
  const head = ["token", "share", "in %", "T = 1"].map((text) => element("th", { scope: "col" }, text));
  const caption = element("caption", {}, "Bars are shares at the temperature that is set, marks those at T = 1.");
  const table = element("table", {}, caption, element("thead", {}, element("tr", {}, ...head)), body);
  const title = heading("What could come next");
  const draw = (from, odds) => {
    title.textContent = `What could come after ${quoted(from)}`;
    const rows = odds.map(({ word, share, plain, came }) => {
      const bar = element("i", { ariaHidden: "true" });
      bar.style.setProperty("--now", share.toFixed(4));
      bar.style.setProperty("--plain", plain.toFixed(4));
      const name = element("th", { scope: "row" }, written(word), ...(came ? [heard(", came")] : []));
      const numbers = [share, plain].map((part) => element("td", {}, percent(part, 1)));
      return element("tr", { className: came ? "came" : "" }, name, element("td", {}, bar), ...numbers);
    });
    body.replaceChildren(...rows);
  };
  return { node: element("section", { className: "talk-odds" }, title, table), draw };
}

// ---- ranks by layer ----

const number = (value) => value.toLocaleString("en-GB");

/** Return the rank of the token that follows, layer by layer, as a chart and as a table for screen readers. */
export function makeRanks(vocabulary, layers) {
  const { width, height, left, right, top, bottom } = VIEW;
  const decades = [1, 10, 100, 1000, 10000].filter((rank) => rank < vocabulary);
  const x = (layer) => left + ((width - left - right) * layer) / layers;
  const y = (rank) => top + ((height - top - bottom) * Math.log(rank)) / Math.log(vocabulary);
  const label = (at, up, text, anchor) => make("text", { x: at, y: up, "text-anchor": anchor }, text);
  const lines = decades.map((rank) => make("path", { d: `M${left} ${y(rank)}H${width - right}`, class: "grid" }));
  const ranks = decades.map((rank) => label(left - 8, y(rank) + 4, number(rank), "end"));
  const steps = [...Array(layers + 1).keys()].filter((layer) => layers < 10 || layer % 5 === 0);
  const places = steps.map((layer) => label(x(layer), height - bottom + 16, layer, "middle"));
  const named = label((left + width - right) / 2, height - 2, "behind layer", "middle");
  const [curve, dots] = [make("path", { class: "curve" }), make("g", { class: "dots" })];
  const picture = { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" };
  const chart = make("svg", picture, ...lines, ...ranks, ...places, named, curve, dots);
  const [title, said, rows] = [heading("Where its word stands"), element("p", { className: "talk-said" }), element("tbody")];
  const columns = ["layer", "rank"].map((text) => element("th", { scope: "col" }, text));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...columns)), rows);
  const draw = ({ ranks: found, word, isGuess }) => {
    const points = found.map((rank, layer) => [x(layer), y(rank)]);
    curve.setAttribute("d", `M${points.map((point) => point.join(" ")).join("L")}`);
    dots.replaceChildren(...points.map(([cx, cy]) => make("circle", { cx, cy, r: 3 })));
    title.textContent = `Rank of ${quoted(word)} by layer`;
    const first = found.findIndex((_, layer) => found.slice(layer).every((rank) => rank === 1));
    const end = first < 0 ? `In the end it has rank ${number(found.at(-1))}.` : `It stands first from layer ${first} on.`;
    said.textContent = `${isGuess ? "The likeliest next token." : "The token that follows."} ${end}`;
    rows.replaceChildren(...found.map((rank, layer) => {
      return element("tr", {}, element("th", { scope: "row" }, layer), element("td", {}, number(rank)));
    }));
  };
  const clear = () => {
    curve.removeAttribute("d");
    for (const one of [dots, rows]) one.replaceChildren();
    title.textContent = "Rank by layer";
    said.textContent = "It is counted when the model has stopped writing.";
  };
  clear();
  return { node: element("section", { className: "talk-ranks" }, title, chart, said, element("div", { className: "heard" }, table)), draw, clear };
}

// ---- the heads ----

const WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

/** Return the sheet of all heads, a column for each layer; `choose(layer, head)` is called for the one that is pressed. */
export function makeHeads(layers, heads, choose) {
  const title = heading("Where a head looks");
  const said = element("p", { className: "talk-said" });
  const cell = (layer, head) => {
    const button = element("button", { type: "button", tabIndex: -1, ariaLabel: `head ${layer}.${head}`, ariaPressed: "false" });
    button.title = `${layer}.${head}`;
    button.addEventListener("click", () => choose(layer, head));
    return button;
  };
  const cells = Array.from({ length: layers }, (_, i) => Array.from({ length: heads }, (_, head) => cell(i + 1, head)));
  const columns = cells.map((column, i) => {
    const name = element("span", { ariaHidden: "true" }, (i + 1) % 5 && i ? "" : i + 1);
    return element("div", {}, name, ...column);
  });
  const sheet = element("div", { className: "talk-heads", role: "group", ariaLabel: "All heads, a column for each layer" }, ...columns);
  const at = (layer, head) => cells[layer - 1]?.[head];
  sheet.addEventListener("keydown", (event) => {
    const way = WAYS[event.key];
    if (!way) return;
    event.preventDefault();
    const [layer, head] = event.target.title.split(".").map(Number);
    at(layer + way[0], head + way[1])?.focus();
  });
  const rest = (there) => cells.flat().forEach((one) => (one.tabIndex = one === there ? 0 : -1));
  sheet.addEventListener("focusin", ({ target }) => rest(target));
  const mark = (layer, head) => {
    for (const one of all("[aria-pressed=true]", sheet)) one.ariaPressed = "false";
    at(layer, head).ariaPressed = "true";
    if (!sheet.contains(document.activeElement)) rest(at(layer, head));
  };
  const draw = ({ layer, head, weights, from, words }) => {
    mark(layer, head);
    title.textContent = `Where head ${layer}.${head} looks`;
    if (weights.length < 2) return (said.textContent = `${quoted(from)} sees nothing but itself.`);
    const others = weights.slice(1);
    const most = others.indexOf(Math.max(...others)) + 1;
    const there = most === weights.length - 1 ? "itself" : quoted(words[most]);
    const rest = others[most - 1] > 0.005 ? `, ${percent(others[most - 1], 0)} % at ${there}` : "";
    return (said.textContent = `From ${quoted(from)} it gives ${percent(weights[0], 0)} % of its weight to the first token, which is not shaded${rest}.`);
  };
  /** Shade each head by what it gives to others than the first token. */
  const shade = (away) => {
    away.forEach((row, i) => row.forEach((share, head) => cells[i][head].style.setProperty("--share", share.toFixed(2))));
  };
  const note = element("p", { className: "talk-said" }, `Heads 0 to ${heads - 1}, from above, of each layer: the stronger the shade, the less it gives to the first token.`);
  return { node: element("section", { className: "talk-where" }, title, said, sheet, note), draw, shade };
}
