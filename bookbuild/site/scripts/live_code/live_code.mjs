// Live code: the cells of a page become editors, and what is in them runs on a computer that Binder lends.
import { makeBar } from "./bar.mjs";
import { openCells } from "./cells.mjs";
import { PATIENCE, answersAgain, computer, isLent, pause } from "./computer.mjs";
import { screen } from "./outputs.mjs";

const READY = "Ready: change a cell and run it, with its button or with Shift+Enter.";
// What the bar's buttons do in each of its states.
const ACTIONS = {
  asking: { Connect: begin, Cancel: close },
  waiting: { Cancel: close },
  ready: { "Restart Python": () => startAgain("Python", (again) => again.restart().then(() => true)) },
  running: { Stop: stop },
  restarting: {},
  failed: { "Try again": begin, Close: close },
};

let [build, bar, attempt, cells, mending] = [];
let kernel; // there as long as the computer is
let returning; // the return of a kernel that starts afresh
let running; // the run of a cell that is under way
let waiting = []; // cells that are to run

/** Offer a computer of the BinderHub at `address`; `local` tells how to run the chapters oneself. */
window.startLiveCode ??= (local, address) => {
  build = address;
  bar ??= makeBar(ACTIONS, local, "Live code");
  need();
};

function need() {
  bar.show();
  if (!attempt) ask();
  bar.focus();
}

/** Connect to no other host before the reader agrees, who has agreed where this tab has had a computer already. */
function ask() {
  const { host } = new URL(build);
  if (isLent(build)) begin();
  else bar.say("asking", `Live code connects to ${host}, which lends a computer: it learns your address and gets the code that you run. Connect?`);
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
  attempt?.abort();
  attempt = undefined;
  bar.close();
  document.querySelector("[popovertarget=run]").focus();
}

function use(started) {
  kernel = started;
  cells ??= openCells(run);
  kernel.statusChanged.connect((_, status) => {
    if (status === "autorestarting") startAgain("Python broke off, perhaps for want of memory, and", answersAgain);
  });
  kernel.connectionStatusChanged.connect((_, status) => {
    clearTimeout(mending);
    if (status === "disconnected") return lost();
    if (status === "connecting") mending = setTimeout(lost, PATIENCE); // it would be tried for ever
    if (!returning) tell(status === "connecting" && "The line to the computer broke off; trying to mend it.");
  });
  tell();
}

const tell = (trouble) => (running ? bar.say("running", trouble || "Running.") : bar.say("ready", trouble || READY));

function lost() {
  kernel?.dispose();
  [kernel, returning] = [];
  drop(cells);
  bar.say("failed", "The computer is gone, as after ten minutes without use; what you wrote is still here.");
}

/** Say that `who` starts afresh until `way` has brought the kernel back; nothing can run in between. */
async function startAgain(who, way) {
  const mine = (returning = way(kernel).catch(() => false));
  drop(cells);
  bar.say("restarting", `${who} is starting afresh.`);
  const back = await mine;
  if (returning !== mine) return; // the computer is gone, or Python starts once more
  returning = undefined;
  if (back) bar.say("ready", `${who} has started afresh and knows nothing yet: run the cells from the top.`);
  else lost();
}

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
  while (waiting.length) outcome = await runOne(waiting.shift());
  if (outcome) bar.say("ready", outcome);
  dispatchEvent(new Event("outputs"));
}

/** Run a cell and return what came of it, nothing where Python was lost meanwhile. */
async function runOne(cell) {
  mark(cell, "running");
  const future = kernel.requestExecute({ code: cell.code(), allow_stdin: false });
  future.onIOPub = screen(cell.element);
  running = future.done.catch(() => undefined);
  tell();
  const reply = await running;
  running = undefined;
  if (!reply) return "";
  const { status, ename, evalue } = reply.content;
  const error = status === "ok" ? "" : `${ename}: ${evalue}`.split("\n")[0];
  mark(cell, error ? "failed" : "ran");
  if (!error || cell.mayFail) return `Done: ${cell.name} has run.`;
  drop(waiting);
  const above = cells.slice(0, cells.indexOf(cell)).every(({ state }) => state.textContent === "ran");
  return `In ${cell.name}: ${error}${above ? "" : " (Cells above it have not run: try Run to here.)"}`;
}

async function stop() {
  const stopping = running;
  drop(waiting);
  while (running === stopping) {
    await kernel.interrupt().catch(lost);
    await pause(); // it does not heed what comes before it has begun, and is asked again
  }
}
