// Talk: the published model runs in the reader's page.  Before it is wanted nothing of it is fetched; from then on the
// panel says how it stands.
import { all, element } from "../page.mjs";
import { makeDesk } from "./desk.mjs";
import { forget, isKept } from "./loading.mjs";
import { startThread } from "./thread.mjs";

const panel = document.querySelector(".talk");
const { dataset } = panel;
const source = { url: new URL(dataset.url, location).href, bytes: Number(dataset.bytes), sha256: dataset.sha256, name: dataset.name };
const megabytes = (bytes) => (bytes / 1e6).toFixed(0);
const SIZE = `${megabytes(source.bytes)} MB`;
const isFile = location.protocol === "file:";

const FROM_FILE = `Opened from a file, the book may fetch nothing: choose ${source.name} on your device.`;
const STARTING = "Starting.";
const FROM = { kept: "from what this browser has kept", site: "from this site", file: "from your file" };

// Which of the buttons each state has.
const SHOWN = {
  waiting: isFile ? ["choose"] : ["load", "choose"],
  kept: ["start", "forget"],
  loading: ["pause"],
  paused: ["goOn", "choose"],
  ready: [],
  "ready, kept": ["forget"],
};

const [words, status, bar, live] = [".talk-words", "[role=status]", "progress", ".talk-live"].map((one) => panel.querySelector(one));
const buttons = Object.fromEntries(all("[data-do]", panel).map((one) => [one.dataset.do, one]));
let send; // what reaches the thread
let desk;
let chosen; // the file that the reader has chosen
let state;

/** Say a sentence; what a screen reader need not hear, such as how many bytes have come, is only shown. */
function say(sentence, isHeard = true) {
  words.textContent = sentence;
  if (isHeard) status.textContent = sentence;
}

function become(now, sentence) {
  const focused = document.activeElement?.closest(".talk [data-do]");
  state = now;
  for (const [name, button] of Object.entries(buttons)) button.hidden = !SHOWN[now].includes(name);
  bar.hidden = now !== "loading" && now !== "paused";
  if (sentence !== undefined) say(sentence);
  if (focused?.hidden) focusOn(buttons[SHOWN[now][0]] ?? words);
}

const focusOn = (node) => (node.querySelector("input") ?? node).focus();

const hear = {
  progress({ come }) {
    [bar.max, bar.value] = [source.bytes, come];
    say(come < source.bytes ? `${megabytes(come)} of ${SIZE}` : "All is here: checking it.", false);
  },
  ready({ from, kept, shape }) {
    const isWaitedFor = panel.contains(document.activeElement); // who reads on meanwhile keeps the place
    become(kept ? "ready, kept" : "ready", `The model is here, ${FROM[from]}.`);
    panel.classList.add("on");
    document.documentElement.classList.add("talks"); // the still picture makes room
    desk = makeDesk(shape, (kind, content) => send(kind, content), (sentence) => (status.textContent = sentence));
    live.replaceChildren(desk.node);
    desk.begin();
    if (isWaitedFor) desk.focus();
  },
  failed({ of, code, message }) {
    if (of !== "open") return desk.fail(message);
    if (code === "paused") return become("paused", message);
    become(code === "cut" ? "paused" : "waiting", message);
    if (code === "absent") buttons.load.hidden = true;
  },
  died(message) {
    send = undefined; // the next click starts another
    become("waiting", message);
  },
};
for (const kind of ["begun", "token", "done", "inside", "ranks"]) hear[kind] = (data) => desk[kind](data);

/** Tell whether a chosen file is the model's: on a page from a file, the thread has nothing to compute a hash with. */
async function isTheModel(file) {
  if (!isFile || !crypto.subtle || file.size !== source.bytes) return true; // then the thread finds out
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("") === source.sha256;
}

async function open(file) {
  chosen = file;
  become("loading", file ? `Reading ${file.name}.` : `Loading ${SIZE}.`);
  try {
    if (file && !(await isTheModel(file))) {
      throw new Error(`${file.name} is not ${source.name}: its SHA-256 is another one.`);
    }
    send ??= await startThread(hear);
    send("open", { source, file });
  } catch ({ message }) {
    hear.failed({ of: "open", message });
  }
}

const acts = {
  load: () => open(),
  start: () => open(),
  goOn: () => open(chosen),
  pause: () => send("pause"),
  async forget() {
    await forget(source);
    if (desk) become("ready", "It is forgotten: the next visit loads it anew. Until this page is closed the model is still here.");
    else become("waiting", "It is forgotten.");
  },
};
for (const [name, act] of Object.entries(acts)) buttons[name].addEventListener("click", act);
buttons.choose.querySelector("input").addEventListener("change", ({ target }) => target.files[0] && open(target.files[0]));

become("waiting", isFile ? FROM_FILE : "");
isKept(source)
  .then((kept) => kept && state === "waiting" && become("kept", "This browser has kept it: nothing is fetched."))
  .catch(() => {});
