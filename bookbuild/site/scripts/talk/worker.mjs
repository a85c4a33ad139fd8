// The model's thread: it brings the model, writes, and looks inside, one thing after the other.  Messages come in
// between tokens, so that it can be stopped at any of them.
import { makeEncoding } from "./encoding.mjs";
import { fastKernels } from "./fast.mjs";
import { readGGUF } from "./gguf.mjs";
import module from "kernels.wasm";
import { load } from "./loading.mjs";
import { openModel } from "./model.mjs";
import { draw, first, likeliest, random, rank, shares } from "./odds.mjs";

const CONTEXT = 512; // tokens that there is room for, at most
const PAGE = 65536; // bytes
const EMPTY = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]); // the smallest module
const SHOWN = 8; // of the tokens that could come next
const START = "<|endoftext|>";
const END = "<|im_end|>";

const FORBIDDEN =
  "This page’s host forbids it to compute (its Content-Security-Policy lacks 'wasm-unsafe-eval'): open the book from another place, or from a file.";
const TOO_OLD = "This browser is too old for it: it takes one that knows WebAssembly’s SIMD, such as those since 2023.";
const NO_MEMORY = "There is not enough memory on this device: the model takes 0.2 GB. Close other pages, then try again.";

let [encoding, model] = [];
let ids = []; // the text in tokens, of which the first `read` have been read
let read = 0;
let place = -1; // of the token that was read last
let logits; // of the token behind it, once they are wanted
let changed = "{}"; // what is changed in the model, as text
let temperature = 0;
let chosen = { layer: 1, head: 0 }; // the head that is shown
let stopped = false;
let newest = 0; // the number of the last look that was asked for
let loading = new AbortController();

class Refused extends Error {}

// A breath in which messages come in; a timer would wait 4 ms.
const channel = new MessageChannel();
const breath = () =>
  new Promise((go) => {
    channel.port1.onmessage = go;
    channel.port2.postMessage(0);
  });

async function compiled() {
  try {
    await WebAssembly.compile(EMPTY);
  } catch ({ message }) {
    throw new Refused(/CSP|Content Security/i.test(message) ? FORBIDDEN : message);
  }
  try {
    return await fastKernels(module);
  } catch {
    throw new Refused(TOO_OLD);
  }
}

async function open({ source, file }) {
  loading = new AbortController();
  const kernels = await compiled(); // or it is to be known before megabytes come
  let memory;
  try {
    memory = new WebAssembly.Memory({ initial: Math.ceil(source.bytes / PAGE) });
  } catch {
    throw new Refused(NO_MEMORY);
  }
  const tell = (come) => postMessage({ kind: "progress", come });
  const { from, kept } = await load({ source, file, memory, signal: loading.signal, tell });
  const found = readGGUF(memory.buffer, source.bytes);
  encoding = makeEncoding(found.facts);
  try {
    const context = Math.min(CONTEXT, found.facts["llama.context_length"] ?? CONTEXT);
    model = openModel(found, memory, kernels, { context });
  } catch (error) {
    throw error instanceof RangeError ? new Refused(NO_MEMORY) : error;
  }
  postMessage({ kind: "ready", from, kept, shape: { ...model.shape } });
}

// ---- tokens in words ----

const whole = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
const named = (id) => [...encoding.marks].find(([, number]) => number === id)?.[0];

/** Return what there is to say of a token: its text, the name of a mark, or its bytes where they are no whole letters. */
function word(id) {
  const mark = named(id);
  if (mark) return { mark };
  const bytes = encoding.bytes(id);
  try {
    return { text: whole.decode(bytes) };
  } catch {
    return { bytes: Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ") };
  }
}

// ---- reading and writing ----

function step(at) {
  model.step(ids[at], at);
  [place, logits] = [at, undefined];
}

/** Return the tokens of a text that is to be continued, or of a question in the model's own form. */
function tokensOf(text, asks) {
  const found = asks ? encoding.chatIds(text) : [encoding.marks.get(START), ...encoding.encode(text)];
  const { context } = model.shape;
  if (found.length < context) return found;
  const room = `${found.length} tokens, and there is room for ${context - 1} and one to write`;
  throw new Refused(`That is too long: it has ${room}. Shorten it; what stands below is still the last text.`);
}

/** Read up to a token, from the first that has not been read. */
async function readUpTo(end) {
  for (; read < end && !stopped; read++) {
    step(read);
    await breath();
  }
}

async function write({ text, asks, most, change, seed, temperature: heat }) {
  const begun = performance.now();
  const given = tokensOf(text, asks);
  const same = changed === JSON.stringify(change) ? given.findIndex((id, at) => id !== ids[at]) : 0;
  if (changed !== JSON.stringify(change)) {
    model.change(change);
    changed = JSON.stringify(change);
  }
  read = Math.min(read, same < 0 ? given.length : same, given.length - 1); // what has been read alike stays read
  [ids, stopped, temperature] = [[...given], false, heat]; // the slider may move on: then the bars do, and not the draws
  postMessage({ kind: "begun", words: ids.map(word) });
  await readUpTo(given.length);
  const ends = [encoding.marks.get(END), encoding.marks.get(START)];
  const next = random(seed);
  const letters = encoding.writer();
  let [start, why] = [null, "most"];
  for (let count = 0; !stopped && count < most; count++) {
    logits = model.logits();
    const id = heat ? draw(shares(logits, heat), next) : likeliest(logits);
    start ??= performance.now() - begun;
    if (ends.includes(id)) why = "end";
    else if (ids.length === model.shape.context) why = "full";
    if (why !== "most") break;
    ids.push(id);
    postMessage({ kind: "token", word: word(id), text: letters.add(id), ...seen() });
    await breath();
    await readUpTo(ids.length);
  }
  const count = ids.length - given.length;
  const speed = count > 1 ? (1000 * (count - 1)) / (performance.now() - begun - start) : null;
  postMessage({ kind: "done", why: stopped ? "stopped" : why, count, start, speed, text: letters.end() });
}

// ---- looking inside ----

/** Return what is seen from the token that was read last: the odds of the next, and where the chosen head looks. */
const seen = () => ({ place, odds: odds(), weights: model.attention(chosen.layer, chosen.head).slice(), ...chosen, temperature });

/** Return the shares of some tokens at a temperature, without a list of all, which would take longer. */
function sharesOf(some, heat) {
  const most = likeliest(logits);
  if (!heat) return some.map((id) => Number(id === most));
  const amount = (id) => Math.exp((logits[id] - logits[most]) / heat);
  let sum = 0;
  for (let id = 0; id < logits.length; id++) sum += amount(id);
  return some.map((id) => amount(id) / sum);
}

/** Return the likeliest of the tokens that could come next, with the one that did. */
function odds() {
  const came = ids[place + 1];
  const top = first(logits, SHOWN);
  if (came !== undefined && !top.includes(came)) top[SHOWN - 1] = came;
  const [now, plain] = [temperature, 1].map((heat) => sharesOf(top, heat));
  return top.map((id, i) => ({ word: word(id), share: now[i], plain: plain[i], came: id === came }));
}

/** Return how much of its weight each head gives to others than the first token, a row for each layer. */
function away() {
  const { layers, heads } = model.shape;
  const one = (layer, head) => 1 - model.attention(layer, head)[0];
  return Array.from({ length: layers }, (_, i) => Array.from({ length: heads }, (_, head) => one(i + 1, head)));
}

/** Look from a token: it is read again, at its place, which leaves all that was kept as it was. */
async function look({ number, from }) {
  stopped = false;
  for (; read <= from; read++) { // where writing was stopped before all was read
    if (stopped || number !== newest) return;
    step(read);
    await breath();
  }
  step(from);
  logits = model.logits();
  postMessage({ kind: "inside", ...seen(), away: away() });
  const isGuess = ids[from + 1] === undefined;
  const asked = isGuess ? likeliest(logits) : ids[from + 1];
  const ranks = [];
  for (let layer = 0; layer <= model.shape.layers; layer++) {
    if (number !== newest) return; // another look is wanted
    ranks.push(rank(model.lens(layer), asked) + 1);
    await breath();
  }
  postMessage({ kind: "ranks", place: from, ranks, word: word(asked), isGuess });
}

// ---- messages ----

const show = () => logits && postMessage({ kind: "inside", ...seen() });
const AT_ONCE = {
  pause: () => loading.abort(),
  stop: () => (stopped = true),
  heat(wanted) {
    temperature = wanted.temperature;
    show();
  },
  choose({ layer, head }) {
    chosen = { layer, head };
    show();
  },
};
const TASKS = { open, write, look };

let work = Promise.resolve(); // one task after the other

onmessage = ({ data }) => {
  const { kind } = data;
  AT_ONCE[kind]?.(data);
  if (kind === "look" || kind === "write") data.number = ++newest;
  const task = TASKS[kind];
  if (task) work = work.then(() => task(data)).catch(({ message, code }) => postMessage({ kind: "failed", of: kind, code, message }));
};
