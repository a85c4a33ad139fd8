// An editor in place of a cell's code.  Parts of speech have the names that they have on the page, so they look alike.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorView, keymap } from "@codemirror/view";
import { tagHighlighter, tags } from "@lezer/highlight";

const PARTS = {
  k: [tags.keyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword, tags.operatorKeyword, tags.bool, tags.null],
  s: [tags.number, tags.string, tags.special(tags.string)],
  c: [tags.comment],
  f: [tags.definition(tags.className), tags.definition(tags.function(tags.variableName))],
};
const highlighter = tagHighlighter(
  Object.entries(PARTS).flatMap(([name, spoken]) => spoken.map((tag) => ({ tag, class: name }))),
);

/** Put an editor in place of `code`, the element with a cell's code; `run` is called on Shift+Enter. */
export function edit(code, label, run) {
  const parent = Object.assign(document.createElement("div"), { className: "live-editor" });
  const runKey = { key: "Shift-Enter", run: () => (run(), true) };
  // Tab is not among the keys: it leaves the editor, as it leaves any field.
  const editor = new EditorView({
    doc: code.querySelector("pre").textContent.trimEnd(),
    parent,
    extensions: [
      keymap.of([runKey, ...defaultKeymap, ...historyKeymap]),
      history(),
      bracketMatching(),
      pythonLanguage,
      indentUnit.of("    "),
      syntaxHighlighting(highlighter),
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    ],
  });
  code.replaceWith(parent);
  return () => editor.state.doc.toString();
}
