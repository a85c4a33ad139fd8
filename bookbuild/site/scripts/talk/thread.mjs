// The door to the model's thread, a worker that the site has as a file.  A page that is opened from a file may start
// none from there, but one from code that it has itself: the same file, loaded as a script, gives it.
import { load, ROOT } from "../page.mjs";

const NAME = "talk_worker";
const FAILED = "What computes could not be started";

async function address() {
  if (location.protocol !== "file:") return new URL(`${ROOT}_static/${NAME}.js`, location);
  await load(NAME);
  return URL.createObjectURL(new Blob([window.workerCode], { type: "text/javascript" }));
}

/** Start the thread; `hear` has a function for each kind of message.  Return what sends it one, such as send("stop"). */
export async function startThread(hear) {
  const worker = new Worker(await address());
  worker.onmessage = ({ data }) => hear[data.kind](data);
  worker.onerror = ({ message }) => {
    worker.terminate();
    hear.died(`${FAILED} (${message || "its script was not found"}).`);
  };
  return (kind, content) => worker.postMessage({ kind, ...content });
}
