// Run here: the cells of a page become editors, and what is in them runs in this browser, by a Python of the page's own.
import { makeBar } from "../live_code/bar.mjs";
import { openCells } from "../live_code/cells.mjs";
import { screen } from "../live_code/outputs.mjs";
import { element } from "../page.mjs";
import { hash } from "../practice/hash.mjs";
import { known, start } from "./python.mjs";

const READY = "Ready: change a cell and run it, with its button or with Shift+Enter. NumPy gives no warnings here, as of a division by 0.";
const FORBIDDEN = "This page’s host forbids it to run Python (its Content-Security-Policy lacks 'wasm-unsafe-eval'): Binder runs this one.";
const AFRESH = "Python has started afresh and knows nothing yet: run the cells from the top.";
const EARLIER = ": run the cells above first, with Run to here";
const LONG = /trains a model|two minutes/; // what the note of a cell that takes long says
// What the bar's buttons do in each of its states.
const ACTIONS = {
  waiting: { Cancel: close },
  ready: { "Run all": () => run(cells), "Start again": () => begin(AFRESH) },
  running: { Stop: stop },
  failed: { "Try again": () => begin(), Close: close },
};

let [bar, attempt, cells, python] = [];
let running = false; // whether a cell is
let waiting = []; // cells that are to run

/** Offer to run the cells of this page in it; `local` tells how to run the chapters at home. */
window.runHere ??= (local) => {
  bar ??= makeBar(ACTIONS, local, "Run here");
  bar.show();
  if (!attempt) begin();
  bar.focus();
};

async function begin(sentence = READY) {
  const { signal } = (attempt = new AbortController());
  python?.stop();
  python = undefined;
  bar.say("waiting", "Fetching Python.");
  try {
    const started = await start((said) => bar.say("waiting", said), signal);
    if (signal.aborted) return started.stop();
    python = started;
    cells ??= openCells(run).map(noted);
    drop(cells);
    bar.say("ready", sentence);
  } catch ({ name, message }) {
    const forbidden = name === "CompileError" && /CSP|Content Security/i.test(message);
    const why = forbidden ? FORBIDDEN : `Python could not be started (${message}).`;
    if (!signal.aborted) bar.say("failed", why);
  }
}

function close() {
  attempt?.abort();
  attempt = undefined;
  bar.close();
  document.querySelector("[popovertarget=run]").focus();
}

/** Say at a cell what is known of it: that it does not run here, or that it gives something else. */
function noted(cell) {
  const note = known(hash(cell.book.trim()));
  if (note) cell.element.querySelector(".live-buttons").after(element("p", { className: "live-note" }, note));
  const isAsBuilt = () => cell.code() === cell.book;
  return { ...cell, isLong: () => LONG.test(note) && isAsBuilt(), isLeftOut: () => note?.startsWith("Left out") && isAsBuilt() };
}

const mark = (cell, word) => (cell.state.textContent = word);

/** Let no further cell run, and forget how the cells `marked` stand. */
function drop(marked) {
  for (const cell of marked) mark(cell, "");
  waiting = [];
}

/**
 * Run cells in order.  Of several, one that takes long is passed over; one that is known not to run here does what it
 * can, such as give values to names, and keeps what the book shows.
 */
function run(wanted) {
  if (!python) return bar.focus();
  const found = wanted.map((cell) => cells.find(({ name }) => name === cell.name));
  for (const cell of found) {
    const isQuiet = found.length > 1 && cell.isLeftOut();
    const isPassed = isQuiet && cell.isLong();
    mark(cell, isPassed ? "left out" : "waiting");
    if (!isPassed) waiting.push({ ...cell, isQuiet });
  }
  if (!running) work();
}

/** Tell whether a name is unknown because a cell above has not run, which `cells` know by what they say of themselves. */
function isTooEarly({ name }, error) {
  const above = cells.slice(0, cells.findIndex((cell) => cell.name === name));
  return error.startsWith("NameError") && above.some(({ state }) => !state.textContent);
}

async function work() {
  running = true;
  let outcome = "";
  while (waiting.length) outcome = await runOne(waiting.shift());
  running = false;
  if (outcome) bar.say("ready", outcome);
  dispatchEvent(new Event("outputs"));
}

/** Run a cell and return what came of it, nothing where Python has ended meanwhile. */
async function runOne(cell) {
  mark(cell, "running");
  bar.say("running", `Running ${cell.name}.`);
  const show = cell.isQuiet ? () => {} : screen(cell.element);
  try {
    const error = await python.run(cell.code(), cell.name, show);
    mark(cell, cell.isQuiet ? "left out" : error ? "failed" : "ran");
    if (!error || cell.mayFail || cell.isQuiet) return `Done: ${cell.name} has run.`;
    drop(waiting);
    return `In ${cell.name}: ${error}${isTooEarly(cell, error) ? EARLIER : ""}`;
  } catch ({ message }) {
    show({ header: { msg_type: "status" }, content: { execution_state: "idle" } }); // what other code put out goes
    drop(cells);
    mark(cell, "stopped");
    const why = message.includes("unreachable") ? "it came to a part of a library that is not here" : message;
    begin(message === "stopped" ? `Stopped. ${AFRESH}` : `Python broke off in ${cell.name} (${why}). ${AFRESH}`);
    return "";
  }
}

function stop() {
  drop(waiting);
  python.stop();
}
