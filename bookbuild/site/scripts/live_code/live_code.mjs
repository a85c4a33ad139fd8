// Live code: the cells of a page become editors, and what is in them runs on a computer that Binder lends.
import { makeBar } from "./bar.mjs";
import { openCells } from "./cells.mjs";
import { computer } from "./computer.mjs";
import { answers, execute, interrupt } from "./kernel.mjs";
import { screen } from "./outputs.mjs";

const READY = "Ready: change a cell and run it, with its button or with Shift+Enter.";
const RUNNING = "Running.";
const BROKEN = "The line to the computer broke off; trying to mend it.";
const LOST = "The computer is gone, as after ten minutes without use; what you wrote is still here.";
const DIED = "Python broke off, perhaps for want of memory, and";
// What the bar's buttons do in each of its states.
const ACTIONS = {
  waiting: { Cancel: close },
  ready: { "Restart Python": () => startAgain("Python", (again) => again.restart()) },
  running: { Stop: stop },
  restarting: {},
  failed: { "Try again": begin, Close: close },
};

let [build, bar, attempt, cells] = [];
let kernel; // there as long as the computer is
let returning; // the return of a kernel that starts afresh
let running; // the run of a cell that is under way
let waiting = []; // cells that are to run

// ---- getting and losing the computer ----

/** Begin, asking the BinderHub at `address`; `local` tells how to run the chapters oneself. */
window.startLiveCode ??= (address, local) => {
  build = address;
  bar ??= makeBar(ACTIONS, local);
  need();
};

function need() {
  bar.show();
  if (!attempt) begin();
  bar.focus();
}

async function begin() {
  const { signal } = (attempt = new AbortController());
  try {
    const started = await computer(build, (said) => signal.aborted || bar.say("waiting", said), signal);
    if (signal.aborted) await started.shutdown();
    else use(started);
  } catch (error) {
    if (!signal.aborted) bar.say("failed", error.message);
  }
}

function close() {
  attempt.abort();
  attempt = undefined;
  bar.close();
  document.querySelector("[popovertarget=run]").focus();
}

function use(started) {
  kernel = started;
  cells ??= openCells(run);
  kernel.statusChanged.connect((_, status) => {
    if (status === "autorestarting") startAgain(DIED, answers);
    if (status === "dead") lost();
  });
  kernel.connectionStatusChanged.connect((_, status) => {
    if (status === "disconnected") lost();
    else if (!returning && status === "connecting") bar.say("ready", BROKEN);
    else if (!returning) tell();
  });
  tell();
}

const tell = () => (running ? bar.say("running", RUNNING) : bar.say("ready", READY));

function lost() {
  const gone = kernel;
  [kernel, returning] = [];
  gone?.dispose();
  drop(cells);
  bar.say("failed", LOST);
}

/** Say that `who` starts afresh until `way` has brought the kernel back; nothing can run in between. */
async function startAgain(who, way) {
  const mine = (returning = way(kernel).then(() => true, () => false));
  drop(cells);
  bar.say("restarting", `${who} is starting afresh.`);
  const back = await mine;
  if (returning !== mine) return; // the computer is gone, or Python starts once more
  returning = undefined;
  if (back) bar.say("ready", `${who} has started afresh and knows nothing yet: run the cells from the top.`);
  else lost();
}

// ---- running cells ----

const mark = (cell, word) => (cell.state.textContent = word);

/** Let no further cell run, and forget how the cells `marked` stand. */
function drop(marked) {
  for (const cell of marked) mark(cell, "");
  waiting = [];
}

function run(wanted) {
  if (!kernel || returning) return need();
  waiting.push(...wanted);
  for (const cell of wanted) mark(cell, "waiting");
  if (!running) work();
}

async function work() {
  let outcome;
  bar.say("running", RUNNING);
  while (waiting.length) outcome = await runOne(waiting.shift());
  if (outcome) bar.say("ready", outcome);
  dispatchEvent(new Event("outputs"));
}

/** Run a cell and return what came of it, nothing where Python was lost meanwhile. */
async function runOne(cell) {
  mark(cell, "running");
  const { show, clear } = screen(cell.element);
  running = execute(kernel, cell.code(), show).catch(() => undefined);
  const error = await running;
  running = undefined;
  if (error === undefined) return "";
  clear(); // what is there from before, where the cell has put out nothing
  mark(cell, error ? "failed" : "ran");
  if (!error || cell.mayFail) return `Done: ${cell.name} has run.`;
  drop(waiting);
  const above = cells.slice(0, cells.indexOf(cell)).every(({ state }) => state.textContent === "ran");
  return `In ${cell.name}: ${error}${above ? "" : " (Cells above it have not run: try Run to here.)"}`;
}

function stop() {
  const stopping = running;
  drop(waiting);
  interrupt(kernel, () => running !== stopping).catch(lost);
}
