// Tokens in words, as buttons, one a token.
import { roving } from "../../../../chapters/companion/explorables/shared/parts.mjs";
import { all, element } from "../page.mjs";

const SIGNS = { " ": "·", "\n": "¶", "\t": "→" };
const MARGIN = 8; // pixels above a token that is scrolled to
const NAMES = { " ": "blank", "\n": "new line", "\t": "tab" };

/** Return a token as it is written: blanks and ends of lines as signs, the start as a word. */
export function written({ text, mark, bytes }) {
  if (mark) return mark === "<|endoftext|>" ? "start" : mark;
  return bytes ? `‹${bytes}›` : text.replace(/[ \n\t]/g, (sign) => SIGNS[sign]);
}

/** Return a token as a sentence quotes it. */
export const quoted = (word) => `“${written(word).replace(/^·/, "")}”`;

/** Return the button of a token. */
function chip(word) {
  const { text, mark, bytes } = word;
  const button = element("button", { type: "button", className: "talk-token", tabIndex: -1, ariaPressed: "false" });
  if (mark || bytes) {
    button.classList.add("mark");
    button.textContent = written(word);
  } else if (text.trim()) {
    const signs = text.match(/^\s*/)[0]; // before the word, drawn by the style and not read out
    button.dataset.signs = written({ text: signs });
    button.textContent = text.slice(signs.length).replace(/[\n\t]/g, (sign) => SIGNS[sign]);
  } else {
    button.dataset.signs = written(word);
    button.ariaLabel = NAMES[text] ?? `${text.length} ${text.includes("\n") ? "new lines and blanks" : "blanks"}`;
  }
  return button;
}

/** Return the text in tokens: `node`, `begin(words)`, `add(words)`, and what marks, shades and scrolls them; `look(place)` is called. */
export function makeText(look) {
  const node = element("div", { className: "talk-text", role: "group", ariaLabel: "The text in tokens" });
  const settle = roving(node);
  let given = 0; // tokens that the reader gave
  node.addEventListener("click", ({ target }) => {
    const place = [...node.children].indexOf(target.closest("button"));
    if (place >= 0) look(place);
  });
  const add = (words) => node.append(...words.map(chip));
  const begin = (words) => {
    node.replaceChildren();
    given = words.length;
    add(words);
    for (const one of node.children) one.classList.add("given");
    settle(node.firstElementChild);
  };
  const mark = (place) => {
    const marked = node.children[place];
    for (const one of all("[aria-pressed=true]", node)) one.ariaPressed = "false";
    marked.ariaPressed = "true";
    if (marked.tabIndex && !node.contains(document.activeElement)) settle(marked);
  };
  /** Scroll to new words, and to the marked one; to be called last, as a browser then has to lay out what was drawn. */
  const scroll = (isNew) => {
    if (isNew) node.scrollTop = node.scrollHeight;
    const marked = node.querySelector("[aria-pressed=true]");
    if (!marked) return;
    const [from, to] = [node.scrollTop, node.scrollTop + node.clientHeight];
    if (marked.offsetTop < from || marked.offsetTop + marked.offsetHeight > to) node.scrollTop = marked.offsetTop - MARGIN;
  };
  /** Shade the words by the roots of weights, small ones being many; the first token's is left out, as it is stated. */
  const shade = (weights) => {
    [...node.children].forEach((one, at) => {
      const share = at && at < weights.length ? Math.sqrt(weights[at]) : 0;
      if (one.style.getPropertyValue("--share") !== share.toFixed(2)) one.style.setProperty("--share", share.toFixed(2));
    });
  };
  return { node, begin, add, mark, shade, scroll, given: () => given };
}
