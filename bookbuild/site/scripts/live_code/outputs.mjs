// Shows what a cell prints, returns, draws or raises, in the same elements as the built page does.

const COLOUR = /\x1b\[[\d;]*m/g; // of a terminal
const OVERWRITTEN = /[^\n]*\r(?!\n)/g; // by a progress bar

const element = (tag, className, ...children) => {
  const made = Object.assign(document.createElement(tag), { className });
  made.append(...children);
  return made;
};
const text = (kind, ...words) =>
  element("div", `output ${kind} notranslate`, element("div", "highlight", element("pre", "", ...words)));
// Scripts in such a fragment run when it is put into the page: that is how explorables start.
const markup = (html) => element("div", "output text_html", document.createRange().createContextualFragment(html));
const picture = (type) => (data, all) => {
  const alt = all["text/plain"] ?? "a picture";
  return element("div", "output image", Object.assign(new Image(), { src: `data:${type};base64,${data}`, alt }));
};
const SHOWN = [
  // the richest first
  ["text/html", markup],
  ["image/svg+xml", markup],
  ["image/png", picture("image/png")],
  ["image/jpeg", picture("image/jpeg")],
  ["text/plain", (words) => text("text_plain", words)],
];

const rich = (data) => {
  const [type, draw] = SHOWN.find(([type]) => type in data) ?? ["", () => text("text_plain", "(cannot be shown here)")];
  return draw(data[type], data);
};

/** Return where the outputs of `cell` stand, if it has a place for them; a figure keeps its caption. */
const place = (cell) => cell.querySelector(":scope > .cell_output > figure, :scope > .cell_output:not(:has(> figure))");

/** Return a function that shows a message of the kernel in `cell`; the first one takes the place of what was there. */
export function screen(cell) {
  const shown = () => [...cell.querySelectorAll(":scope > .cell_output .output")];
  let stale = true;
  const clear = () => {
    for (const output of stale ? shown() : []) output.remove();
    stale = false;
  };
  const add = (output, id) => {
    clear();
    if (id) output.dataset.display = id;
    if (!place(cell)) cell.append(element("div", "cell_output docutils container"));
    const slot = place(cell);
    slot.insertBefore(output, slot.querySelector(":scope > figcaption"));
  };
  const print = ({ name, text: words }) => {
    const last = stale ? null : shown().at(-1);
    const kind = name === "stderr" ? "stderr" : "stream";
    if (!last?.classList.contains(kind)) return add(text(kind, words.replace(OVERWRITTEN, "")));
    const pre = last.querySelector("pre");
    pre.textContent = (pre.textContent + words).replace(OVERWRITTEN, "");
  };
  const replace = ({ data, transient }) => {
    for (const old of document.querySelectorAll(`[data-display="${transient.display_id}"]`)) {
      const renewed = rich(data);
      renewed.dataset.display = transient.display_id;
      old.replaceWith(renewed);
    }
  };
  const show = {
    stream: print,
    display_data: ({ data, transient }) => add(rich(data), transient?.display_id),
    execute_result: ({ data }) => add(rich(data)),
    update_display_data: replace,
    error: ({ traceback }) => add(text("traceback", traceback.join("\n").replace(COLOUR, ""))),
    clear_output({ wait }) {
      stale = true;
      if (!wait) clear();
    },
  };
  return { show: (type, content) => show[type]?.(content), clear };
}
