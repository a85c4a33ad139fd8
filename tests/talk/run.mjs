// Does with the page's scripts what a test asks for: reads {"job": …} as JSON, prints what it found, or its error.
import { readFileSync, writeFileSync } from "node:fs";
import { makeEncoding } from "../../bookbuild/site/scripts/talk/encoding.mjs";
import { fastKernels, roundedSize } from "../../bookbuild/site/scripts/talk/fast.mjs";
import { readGGUF } from "../../bookbuild/site/scripts/talk/gguf.mjs";
import { plainKernels, unpackedRow } from "../../bookbuild/site/scripts/talk/kernels.mjs";
import { openModel } from "../../bookbuild/site/scripts/talk/model.mjs";
import { draw, first, likeliest, random, rank, shares } from "../../bookbuild/site/scripts/talk/odds.mjs";

const PAGE = 65536;

/** Return a memory that begins with a file, and what the file tells. */
function loaded(path) {
  const bytes = readFileSync(path);
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes.length / PAGE) });
  new Uint8Array(memory.buffer).set(bytes);
  return { memory, file: readGGUF(memory.buffer, bytes.length) };
}

const chosen = (wasm) => (wasm ? fastKernels(readFileSync(wasm)) : plainKernels);

const reading = ({ path }) => loaded(path).file;

function encoding({ path, texts = [], decoded = [], questions = [] }) {
  const { encode, chatIds, decode, writer, bytes, marks } = makeEncoding(loaded(path).file.facts);
  const streamed = (ids) => {
    const { add, end } = writer();
    return [...ids.map(add), end()];
  };
  return {
    ids: texts.map(encode),
    chats: questions.map((asked) => chatIds(...asked)),
    texts: decoded.map(decode),
    streamed: decoded.map(streamed),
    bytes: decoded.map((ids) => ids.map((id) => [...bytes(id)])),
    marks: Object.fromEntries(marks),
  };
}

/**
 * Read texts, each with its changes, and return what is asked for, at each token or, where it is `quiet`, at the last one
 * only; `greedy` tokens are written behind, and the logits at the last that is given go into a file.
 */
async function model({ path, wasm, context = 64, runs }) {
  const { memory, file } = loaded(path);
  const { shape, step, logits, lens, attention, change } = openModel(file, memory, await chosen(wasm), { context });
  const found = runs.map(({ ids, places, changes, layers = [], heads = [], greedy = 0, quiet = false, seen = [], last = "" }) => {
    change(changes);
    const told = { logits: [], lens: [], attention: [], written: [] };
    const all = [...ids];
    for (let i = 0; i < all.length; i++) {
      step(all[i], places?.[i] ?? i);
      if (!quiet) {
        told.attention.push(heads.map(([layer, head]) => [...attention(layer, head)]));
        told.lens.push(layers.map((layer) => [...lens(layer)]));
        told.logits.push([...logits()]);
      }
      if (last && i === ids.length - 1) writeFileSync(last, logits());
      if (i >= ids.length - 1 && told.written.length < greedy) {
        told.written.push(likeliest(logits()));
        all.push(told.written.at(-1));
      }
    }
    if (seen.length) {
      told.logits = [...logits()];
      told.lens = seen.map((layer) => [...lens(layer)]);
      told.attention = heads.map(([layer, head]) => [...attention(layer, head)]);
    }
    return told;
  });
  return { shape, runs: found, bytes: memory.buffer.byteLength };
}

/** Multiply a matrix of the file with a vector, and mix some rows, by the plain or the fast kernels. */
async function products({ path, wasm, name, x, row }) {
  const { memory, file } = loaded(path);
  const tensor = file.tensors[name];
  const [rows, columns] = tensor.shape;
  const at = memory.buffer.byteLength;
  memory.grow(1);
  const { take, times, scores, mix } = (await chosen(wasm))(memory, at);
  const [from, to, keys] = [at + roundedSize(columns), at + 8192, at + 16384];
  const floats = new Float32Array(memory.buffer);
  floats.set(x, from / 4);
  floats.set(x, keys / 4);
  take(from, columns);
  times(tensor, to);
  const product = [...floats.subarray(to / 4, to / 4 + rows)];
  const [width, stride] = [8, 32];
  const n = columns / width;
  scores(from, keys, to, n, width, stride);
  mix(from, keys, to + 4096, n, width, stride);
  const here = (address, count) => [...floats.subarray(address / 4, address / 4 + count)];
  return { product, row: [...unpackedRow(memory.buffer, tensor, row)], scores: here(to, n), mix: here(to + 4096, width) };
}

function odds({ logits, temperature, seed, draws, ids, count }) {
  const [found, next] = [shares(logits, temperature), random(seed)];
  const drawn = Array.from({ length: draws }, () => draw(found, next));
  return { shares: [...found], drawn, ranks: ids.map((id) => rank(logits, id)), first: first(logits, count) };
}

const JOBS = { reading, encoding, model, products, odds };
const { job, ...asked } = JSON.parse(readFileSync(0, "utf8"));
try {
  process.stdout.write(JSON.stringify(await JOBS[job](asked)));
} catch (error) {
  process.stdout.write(JSON.stringify({ error: error.message }));
}
