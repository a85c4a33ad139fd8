// What the reader may change in the model: chapter 22's cuts, in the page.
import { element } from "../page.mjs";

const CUTS = {
  "the four that copy": [[18, 3], [18, 4], [18, 5], [19, 6]], // best, in chapter 22
  "four others there": [[18, 0], [18, 1], [18, 2], [19, 0]], // a control
  "one that looks one back": [[17, 0]], // whose note the four read
};
const NUMBERS = [507, 247, 14]; // the largest of the first token's stream, the largest first
const BEHIND = 12; // the layer that writes them
const LATE = 13; // from here on no other token takes the first one's place

const tick = (...inside) => {
  const input = element("input", { type: "checkbox" });
  return { input, node: element("label", { className: "talk-tick" }, input, element("span", {}, ...inside)) };
};
const select = (label, options) => {
  const made = options.map(([value, text]) => element("option", { value }, text));
  return element("select", { ariaLabel: label }, ...made);
};

const named = (some) => some.map(([layer, head]) => `${layer}.${head}`).join(", ").replace(/, (?=[^,]*$)/, " and ");

/** Return the box of changes: `value()` is what the thread is told, `say(change)` tells it in words, `again` calls `write`. */
export function makeChanges({ layers, heads, d }, write) {
  const cuts = Object.entries(CUTS).filter(([, some]) => some.every(([layer, head]) => layer <= layers && head < heads));
  const late = Math.min(LATE, layers);
  const where = select("from which layer on", [[1, "in every layer"], [late, `from layer ${late} on`]]);
  const number = select("which number", NUMBERS.map((one) => [Math.min(one, d - 1), `number ${one}`]));
  const layer = select("behind which layer", Array.from({ length: layers }, (_, i) => [i + 1, `behind layer ${i + 1}`]));
  layer.value = Math.min(BEHIND, layers);
  const which = select("which heads", cuts.map(([name, some], i) => [i, `${name}, ${named(some)}`]));
  const hold = tick("hold back the first token ");
  const cut = tick("cut heads: ");
  const zero = tick("set to zero, in the first token’s stream, ");
  const again = element("button", { type: "button", className: "main", onclick: () => write() }, "Write again");
  for (const [choice, { input }] of [[where, hold], [which, cut], [number, zero], [layer, zero]]) {
    choice.addEventListener("change", () => (input.checked = true));
  }
  const rows = [[hold.node, where], ...(cuts.length ? [[cut.node, which]] : []), [zero.node, number, layer]];
  const legend = element("legend", {}, "Change it");
  const node = element("fieldset", { className: "talk-changes" }, legend, ...rows.map((row) => element("div", {}, ...row)), again);

  const value = () => ({
    ...(hold.input.checked ? { heldFrom: Number(where.value) } : {}),
    ...(cut.input.checked ? { cut: cuts[which.value][1] } : {}),
    ...(zero.input.checked ? { zero: { layer: Number(layer.value), number: Number(number.value) } } : {}),
  });
  const say = ({ heldFrom, cut, zero }) => {
    const held = heldFrom === 1 ? "the first token held back" : heldFrom && `the first token held back from layer ${heldFrom} on`;
    const zeroed = zero && `number ${zero.number} at zero behind layer ${zero.layer}`;
    const said = [held, cut && `${cut.length > 1 ? "heads" : "head"} ${named(cut)} cut`, zeroed].filter(Boolean).join(", ");
    return said && said[0].toUpperCase() + said.slice(1);
  };
  const clear = () => {
    for (const { input } of [hold, cut, zero]) input.checked = false;
  };
  const holdBackLate = () => {
    [where.value, hold.input.checked] = [late, true];
  };
  return { node, again, value, say, clear, holdBackLate };
}
