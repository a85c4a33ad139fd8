// The page's own Python: `start` gives `run` and `stop`, all that the page knows of it, so that another can stand here.
import { ROOT } from "../page.mjs";

const at = new URL(`${ROOT}_static/run_here/`, location);
const EMPTY = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]); // the smallest module
let parts; // the files, once they are fetched
let notes = {}; // what is known of cells: a hash of their code -> a sentence

/** Return what is known of a cell that does not run as it did when the book was built, or nothing. */
export const known = (cell) => notes[cell];

/** Fetch a file and unpack it, unless the server does; `count` is told of the bytes as they come. */
async function fetched(name, count, signal) {
  const response = await fetch(new URL(name, at), { signal });
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  const counted = new TransformStream({
    transform(part, to) {
      count(part.length);
      to.enqueue(part);
    },
  });
  const bytes = new Uint8Array(await new Response(response.body.pipeThrough(counted)).arrayBuffer());
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (!isPacked) return bytes;
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

async function all(tell, signal) {
  await WebAssembly.compile(EMPTY); // or the page's host forbids it, which is to be known before megabytes come
  const index = await fetch(new URL("files.json", at), { signal, cache: "no-cache" });
  if (!index.ok) throw new Error("this copy of the book has come without it");
  const { files, later, cells } = await index.json();
  notes = cells[document.documentElement.dataset.page] ?? {};
  const whole = files.reduce((sum, { size }) => sum + size, 0);
  let come = 0;
  const count = (size) => {
    come += size;
    tell(`Fetching Python: ${(come / 1e6).toFixed(1)} of ${(whole / 1e6).toFixed(1)} MB, once.`);
  };
  const [module, library, book] = await Promise.all(files.map(({ name }) => fetched(name, count, signal)));
  tell("Starting Python.");
  const addresses = Object.entries(later).map(([path, name]) => [path, new URL(name, at).href]);
  return { module: await WebAssembly.compile(module), library, book, later: Object.fromEntries(addresses) };
}

/**
 * Start Python; `tell` hears how far it has come until `signal` is aborted.  Return `run(code, name, show)`, which hands
 * messages like Jupyter's to `show` and gives the error's first line, or nothing, and `stop()`, which ends this Python.
 */
export async function start(tell, signal) {
  parts ??= await all(tell, signal);
  const worker = new Worker(new URL(`${ROOT}_static/run_here_worker.js`, location));
  let [show, end, fail] = [];
  worker.onmessage = ({ data }) => {
    for (const message of data) {
      const { header, content } = message;
      if (header.msg_type === "ended") end(content.error);
      else if (header.msg_type === "broken") fail(new Error(content.error));
      else show?.(message);
    }
  };
  worker.onerror = ({ message }) => fail(new Error(message));
  const ask = (question) =>
    new Promise((resolve, reject) => {
      [end, fail] = [resolve, reject];
      worker.postMessage(question);
    });
  const stop = () => {
    worker.terminate();
    fail(new Error("stopped"));
  };
  const run = (code, name, shown) => {
    show = shown;
    return ask({ code, name });
  };
  await ask(parts);
  return { run, stop };
}
