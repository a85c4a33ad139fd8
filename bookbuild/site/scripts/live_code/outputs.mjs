// Shows what a cell prints, returns, draws or raises, in the same elements as the built page does.
import { ROOT, all, element } from "../page.mjs";
import { hash } from "../practice/hash.mjs";

const COLOUR = /\x1b\[[\d;]*m/g; // of a terminal

/** Return a text without what a progress bar has overwritten: in each line, up to the last return that does not end it. */
function standing(text) {
  if (!text.includes("\r")) return text;
  return text.split("\n").map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1)).join("\n");
}

const output = (kind, child) => element("div", { className: `output ${kind} notranslate` }, child);
const text = (kind, words) => output(kind, element("pre", {}, words));
// Scripts in such a fragment run when it is put into the page: that is how explorables start.
// A host may let none stand in the page: those that the book's own pages have are files of the site (apart.py).
const markup = (html) => {
  const fragment = document.createRange().createContextualFragment(html);
  for (const inside of all("script:not([src])", fragment)) {
    const file = element("script", { src: `${ROOT}_static/apart/${hash(inside.text.trim())}.js` });
    file.addEventListener("error", () => file.replaceWith(inside));
    inside.replaceWith(file);
  }
  return output("text_html", fragment);
};
const picture = (base64, data, type) =>
  output("image", element("img", { src: `data:${type};base64,${base64}`, alt: data["text/plain"] ?? "a picture" }));
// The richest comes first.
const SHOWN = {
  "text/html": markup,
  "image/svg+xml": markup,
  "image/png": picture,
  "image/jpeg": picture,
  "text/plain": (words) => text("text_plain", words),
};

function rich({ data, transient }) {
  const type = Object.keys(SHOWN).find((type) => type in data);
  const made = type ? SHOWN[type](data[type], data, type) : text("text_plain", "(cannot be shown here)");
  made.dataset.display = transient?.display_id ?? "";
  return made;
}

/** Return a function that shows a message of the kernel in `cell`; the first one takes the place of what was there. */
export function screen(cell) {
  const shown = () => [...cell.querySelectorAll(":scope > .cell_output .output")];
  let stale = true;
  const clear = () => {
    for (const old of stale ? shown() : []) old.remove();
    stale = false;
  };
  const add = (made) => {
    clear();
    const box = cell.querySelector(":scope > .cell_output") ?? cell.appendChild(element("div", { className: "cell_output" }));
    const figure = box.querySelector(":scope > figure"); // it keeps its caption
    if (figure) figure.lastElementChild.before(made);
    else box.append(made);
  };
  const show = {
    stream({ name, text: words }) {
      const kind = name === "stderr" ? "stderr" : "stream";
      if (stale || !shown().at(-1)?.classList.contains(kind)) add(text(kind, ""));
      const pre = shown().at(-1).querySelector("pre");
      pre.textContent = standing(pre.textContent + words);
    },
    display_data: (content) => add(rich(content)),
    execute_result: (content) => add(rich(content)),
    update_display_data(content) {
      const shownBefore = document.querySelectorAll(`[data-display="${content.transient.display_id}"]`);
      for (const old of shownBefore) old.replaceWith(rich(content));
    },
    status: ({ execution_state: state }) => state === "idle" && clear(), // where the cell has put out nothing
    error: ({ traceback }) => add(text("traceback", traceback.join("\n").replace(COLOUR, ""))),
    clear_output({ wait }) {
      stale = true;
      if (!wait) clear();
    },
  };
  return ({ header, content }) => show[header.msg_type]?.(content);
}
