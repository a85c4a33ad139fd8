// Live code: the cells of a page become editors, and what is in them runs on a computer that Binder lends.
import { makeBar } from "./bar.mjs";
import { mark, openCells, readyFor } from "./cells.mjs";
import { computer } from "./computer.mjs";
import { answers, execute, interrupt } from "./kernel.mjs";
import { screen } from "./outputs.mjs";

const READY = "Ready: change a cell and run it, with its button or with Shift+Enter.";
const RESTARTING = "Python is starting afresh.";
const AFRESH = "Python has started afresh and knows nothing yet: run the cells from the top.";
const DIED = "Python broke off, perhaps for want of memory, and is starting afresh.";
const AFTER_DEATH = "Python broke off, perhaps for want of memory, and has started afresh: run the cells from the top.";
const BROKEN = "The line to the computer broke off; trying to mend it.";
const LOST = "The computer is gone, as after ten minutes without use; what you wrote is still here.";

let [build, bar, kernel, cells] = [];
let waiting = []; // cells that are to run
let working = false;
let running; // stands for the run of a cell that is under way
let trouble = ""; // why cells were cut short, until others run

// ---- getting and losing the computer ----

async function begin() {
  const attempt = new AbortController();
  const { signal } = attempt;
  const cancel = () => {
    attempt.abort();
    giveUp();
  };
  bar.count(true);
  try {
    const started = await computer(build, (said) => signal.aborted || bar.say(said, { Cancel: cancel }), signal);
    if (signal.aborted) await started.shutdown();
    else use(started);
  } catch (error) {
    if (!signal.aborted) failed(error.message);
  }
}

function use(started) {
  kernel = started;
  kernel.statusChanged.connect((_, status) => {
    if (status === "autorestarting") startAgain(DIED, answers, AFTER_DEATH);
    if (status === "dead") lost();
  });
  kernel.connectionStatusChanged.connect((_, status) => {
    if (status === "disconnected") lost();
    else if (!trouble && status === "connecting") bar.say(BROKEN, AFTERWARDS);
    else if (!trouble) tell();
  });
  cells ??= openCells(run);
  bar.count(false);
  trouble = "";
  tell();
}

const tell = () => (working ? bar.say("Running.", { Stop: stop }) : bar.say(READY, AFTERWARDS));

function failed(reason) {
  bar.count(false);
  bar.say(reason, cells ? { "Try again": begin } : { "Try again": begin, Close: close }, true);
}

const giveUp = () => (cells ? failed(LOST) : close());

function close() {
  bar.close();
  bar = undefined;
  document.querySelector("[popovertarget=run]").focus();
}

function lost() {
  cutShort(LOST);
  kernel?.dispose();
  kernel = undefined;
  failed(LOST);
}

/** Let no further cell run, for `reason`. */
function cutShort(reason, actions = AFTERWARDS) {
  waiting = [];
  trouble = reason;
  for (const cell of cells) mark(cell, "");
  bar.say(reason, actions);
}

/** Say `before` until `way` has brought the kernel back, then `after`; nothing can run in between. */
async function startAgain(before, way, after) {
  const again = kernel;
  cutShort(before, {});
  kernel = undefined;
  const back = await way(again).then(() => true, () => false);
  if (trouble !== before) return; // the computer is gone, or another is there
  kernel = again;
  if (back) cutShort(after);
  else lost();
}

const restart = () => startAgain(RESTARTING, (again) => again.restart(), AFRESH);
const AFTERWARDS = { "Restart Python": restart };

// ---- running cells ----

function run(wanted) {
  if (!kernel) return bar.focus();
  waiting.push(...wanted);
  for (const cell of wanted) mark(cell, "waiting");
  if (!working) work();
}

async function work() {
  [working, trouble] = [true, ""];
  tell();
  let outcome;
  while (waiting.length && !trouble) outcome = await runOne(waiting.shift());
  working = false;
  if (!trouble) bar.say(outcome, AFTERWARDS);
}

async function runOne(cell) {
  mark(cell, "running");
  running = Symbol(cell.name);
  const { show, clear } = screen(cell.element);
  const error = await execute(kernel, cell.code(), show).catch(() => "stopped");
  running = undefined;
  if (trouble) return trouble;
  clear(); // what is there from before, where the cell has put out nothing
  mark(cell, error ? "failed" : "ran");
  if (!error || cell.mayFail) return `Done: ${cell.name} has run.`;
  for (const left of waiting.splice(0)) mark(left, "");
  return `In ${cell.name}: ${error}${readyFor(cell, cells) ? "" : " (Cells above it have not run: try Run to here.)"}`;
}

function stop() {
  const stopping = running;
  for (const left of waiting.splice(0)) mark(left, "");
  interrupt(kernel, () => running !== stopping).catch(lost);
}

/** Begin, asking the BinderHub at `address`; `local` tells how to run the chapters oneself. */
window.startLiveCode = (address, local) => {
  if (bar) return bar.focus();
  build = address;
  bar = makeBar(local);
  bar.show();
  begin();
  bar.focus();
};
