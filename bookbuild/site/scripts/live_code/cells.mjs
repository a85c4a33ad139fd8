// The cells of the page, each with an editor, buttons and a word on how it stands.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorView, keymap } from "@codemirror/view";
import { tagHighlighter, tags } from "@lezer/highlight";
import { element } from "../page.mjs";
import { keep, of, place } from "../place.mjs";
import { hash } from "../practice/hash.mjs";
import { button } from "./bar.mjs";

// Parts of speech have the names that they have on the page, so they look alike.
const highlighter = tagHighlighter([
  { tag: [tags.keyword, tags.bool], class: "k" },
  { tag: tags.literal, class: "s" },
  { tag: tags.comment, class: "c" },
  { tag: [tags.definition(tags.className), tags.definition(tags.function(tags.variableName))], class: "f" },
]);

const edit = (code, label, run, changed) =>
  new EditorView({
    doc: code,
    extensions: [
      // Tab is not among the keys: it leaves the editor, as it leaves any field.
      keymap.of([{ key: "Shift-Enter", run: () => (run(), true) }, ...defaultKeymap, ...historyKeymap]),
      history(),
      EditorView.updateListener.of(({ docChanged }) => docChanged && changed()),
      bracketMatching(),
      pythonLanguage,
      indentUnit.of("    "),
      syntaxHighlighting(highlighter),
      document.documentElement.dataset.code === "scroll" ? [] : EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    ],
  });

function open(cell, index, runFrom) {
  const name = `cell ${index + 1}`;
  const run = () => runFrom(index);
  const input = cell.querySelector(".cell_input");
  const book = input.querySelector("pre").textContent.trimEnd();
  const key = hash(book.trim());
  const kept = of(place(), document.documentElement.dataset.page).code[key] ?? book;
  const editor = edit(kept, `Code of ${name}`, run, changed);
  const code = () => editor.state.doc.toString();
  const state = element("span", { className: "live-state" });
  const buttons = element("div", { className: "live-buttons" }, `Cell ${index + 1}`, button("Run", run, `Run ${name}`));
  if (index) buttons.append(button("Run to here", () => runFrom(0), `Run to here: every cell from the top to ${name}`));
  const back = button("The book’s code", () => editor.dispatch({ changes: { from: 0, to: code().length, insert: book } }), `Put the book’s code back into ${name}`);
  back.hidden = kept === book;
  buttons.append(back, state);
  input.replaceChildren(editor.dom, buttons);
  /** Keep what has been changed, as answers are kept. */
  function changed() {
    back.hidden = code() === book;
    keep((mine) => {
      if (back.hidden) delete mine.code[key];
      else mine.code[key] = code();
    });
  }
  return { element: cell, name, book, code, state, mayFail: cell.classList.contains("tag_raises-exception") };
}

/** Make all cells editable and return them; `run` is called with the cells that a button asks for. */
export function openCells(run) {
  const top = (block) => block.getBoundingClientRect().top;
  const read = [...document.querySelectorAll(".text :is(p, .cell, figure)")].find((block) => block.checkVisibility() && top(block) >= 0);
  const before = read && top(read);
  const elements = [...document.querySelectorAll(".text .cell:has(.cell_input)")];
  const cells = elements.map((cell, i) => open(cell, i, (first) => run(cells.slice(first, i + 1))));
  if (read) window.scrollBy({ top: top(read) - before, behavior: "instant" }); // what is being read stays in its place
  return cells;
}
