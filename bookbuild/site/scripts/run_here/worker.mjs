// The worker in which Python runs, so that the page never waits and can end it.
import { python } from "./system.mjs";

const MOST = 200_000; // characters that a cell may put out
const MOST_OF_ERROR = 20_000;
const MORE = "\n… and more than fits here.";
const PACE = 30; // milliseconds between what a cell prints and what the page shows of it
const AT_ONCE = 100; // prints of a cell that do not wait for it, as nothing may come after them for long
let [py, room, prints, kept, sent] = [undefined, 0, 0, [], 0];

/** Take `size` characters from what a cell may put out, and tell whether they fit. */
const fits = (size) => (room -= size) >= 0;

/** Return the content of a message with no more of its text than fits; an error is told in any case. */
function cut({ text, data, traceback, ...content }) {
  const left = room;
  const begun = (whole) => whole.slice(0, left) + MORE;
  if (text !== undefined) return { ...content, text: fits(text.length) ? text : begun(text) };
  if (traceback) return { ...content, traceback: traceback.map((part) => part.slice(0, MOST_OF_ERROR)) };
  if (!data) return content;
  const size = Object.values(data).reduce((sum, part) => sum + part.length, 0);
  return { ...content, data: fits(size) ? data : { "text/plain": begun(data["text/plain"]) } };
}

const isText = (message) => message?.header?.msg_type === "stream";

function flush() {
  if (kept.length) postMessage(kept);
  [kept, sent] = [[], performance.now()];
}

/** Pass a message on; of many prints one is made, and no cell puts out things without end. */
function tell({ header, content: whole }) {
  if (room < 0 && (whole.text ?? whole.data)) return;
  const [message, last] = [{ header, content: cut(whole) }, kept.at(-1)];
  if (isText(message)) {
    const { content } = message;
    if (isText(last) && last.content.name === content.name) last.content.text += content.text;
    else kept.push(message);
    if (room >= 0 && prints++ > AT_ONCE && performance.now() - sent < PACE) return;
  } else kept.push(message);
  flush();
}

onmessage = ({ data }) => {
  [room, prints] = [MOST, 0];
  try {
    if (data.module) {
      py = python(data, tell);
      tell({ header: { msg_type: "ended" }, content: { error: "" } });
    } else py.run(`__import__("driver").run(${JSON.stringify(data.code)}, ${JSON.stringify(data.name)})`);
  } catch ({ message }) { // memory that is used up, or a part of a library that was cut out
    tell({ header: { msg_type: "broken" }, content: { error: message, size: py?.size() } });
  }
};
