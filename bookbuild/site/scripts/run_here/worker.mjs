// The worker in which Python runs, so that the page never waits and can end it.
import { python } from "./system.mjs";

const MOST = 200_000; // characters that a cell may print
const PACE = 30; // milliseconds between what a cell prints and what the page shows of it
let [py, room, kept, sent] = [undefined, 0, [], 0];

const isText = (message) => message?.header?.msg_type === "stream";

function flush() {
  if (kept.length) postMessage(kept);
  [kept, sent] = [[], performance.now()];
}

/** Pass a message on; of many prints one is made, and no cell prints without end. */
function tell(message) {
  const last = kept.at(-1);
  if (isText(message)) {
    const { content } = message;
    if (room <= 0) return;
    room -= content.text.length;
    if (room <= 0) content.text += "\n… and more than fits here.";
    if (isText(last) && last.content.name === content.name) last.content.text += content.text;
    else kept.push(message);
    if (performance.now() - sent < PACE) return;
  } else kept.push(message);
  flush();
}

onmessage = ({ data }) => {
  room = MOST;
  try {
    if (data.module) {
      py = python(data, tell);
      tell({ header: { msg_type: "ended" }, content: { error: "" } });
    } else py.run(`__import__("driver").run(${JSON.stringify(data.code)}, ${JSON.stringify(data.name)})`);
  } catch ({ message }) { // memory that is used up, or a part of a library that was cut out
    tell({ header: { msg_type: "broken" }, content: { error: message, size: py?.size() } });
  }
};
