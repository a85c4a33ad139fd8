// Brings the model's file into memory: from what the browser has kept, from the site, or from a file of the reader's.
// It is kept in pieces, so that a load that was broken off goes on where it was, and a piece cut short is noticed.

const PIECE = 4 << 20; // bytes
const ABSENT = [404, 410]; // what a server says where there is no such file
const SECURE = globalThis.crypto?.subtle; // neither a store nor a hash is to be had on plain http from another host

class LoadError extends Error {
  constructor(code, sentence) {
    super(sentence);
    this.code = code;
  }
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(0);
const nameOf = ({ sha256 }) => `model ${sha256}`;
const placeOf = ({ sha256 }, number) => `https://kept.invalid/${sha256}/${number}`; // of a piece; never asked for
const lengthOf = ({ bytes }, number) => Math.min(PIECE, bytes - number * PIECE);

/** Return the store of a model's pieces, or nothing where the browser has none; `make` it where it is not there. */
async function storeOf(source, make) {
  try {
    return make || (await caches.has(nameOf(source))) ? await caches.open(nameOf(source)) : undefined;
  } catch {
    return undefined; // a private window, or no secure page
  }
}

/** Tell whether the whole file is kept. */
export async function isKept(source) {
  const store = await storeOf(source);
  const pieces = Array.from({ length: Math.ceil(source.bytes / PIECE) }, (_, number) => store?.match(placeOf(source, number)));
  return (await Promise.all(pieces)).every(Boolean);
}

/** Delete what is kept of the file. */
export async function forget(source) {
  await globalThis.caches?.delete(nameOf(source));
}

/**
 * Fill the memory from address 0 with the model's file: `source` is { url, bytes, sha256, name }, `file` one that the
 * reader has chosen, `tell` hears how many bytes are there, and `signal` stops it.
 * Return { from: "kept", "site" or "file", kept: whether it is kept now }.  Throw an error with a sentence for the reader
 * and a `code`: "absent" where the site does not carry the file, "paused", "cut" where it can go on, "other" for another file.
 */
export async function load({ source, file, memory, signal, tell }) {
  const bytes = new Uint8Array(memory.buffer, 0, source.bytes);
  const store = await storeOf(source, true);
  let come = file ? 0 : await fillFromStore(source, store, bytes, tell);
  const from = file ? "file" : come === source.bytes ? "kept" : "site";
  if (file && file.size !== source.bytes) throw new LoadError("other", strange(source, `it has ${file.size} bytes`));
  const keep = keeper(source, store, bytes, from === "kept");
  if (from !== "kept") {
    const parts = file ? file.stream() : await fetched(source, come, signal);
    for await (const part of read(parts, signal)) {
      if (come + part.length > source.bytes) throw new LoadError("other", strange(source, "it is longer"));
      bytes.set(part, come);
      come += part.length;
      tell(come);
      await keep.upTo(come);
    }
  }
  if (come < source.bytes) {
    const sentence = `The file broke off after ${megabytes(come)} of ${megabytes(source.bytes)} MB: press Go on to load the rest.`;
    throw new LoadError("cut", sentence);
  }
  if (SECURE && (await digest(bytes)) !== source.sha256) {
    await forget(source).catch(() => {});
    throw new LoadError("other", strange(source, "its SHA-256 is another one"));
  }
  return { from, kept: keep.isWhole() };
}

const strange = ({ name, bytes, sha256 }, why) =>
  `This is not the file ${name} of ${bytes} bytes (${why}): load it again, or choose the one whose SHA-256 begins with ${sha256.slice(0, 8)}.`;

/** Copy what is kept into memory, up to the first piece that is missing or cut short; return how many bytes that is. */
async function fillFromStore(source, store, bytes, tell) {
  let come = 0;
  for (let number = 0; store && come < source.bytes; number++) {
    const piece = await store.match(placeOf(source, number));
    if (!piece) break;
    const content = new Uint8Array(await piece.arrayBuffer());
    if (content.length !== lengthOf(source, number)) {
      await store.delete(placeOf(source, number));
      break;
    }
    bytes.set(content, come);
    come += content.length;
    tell(come);
  }
  return come;
}

/** Fetch what follows byte `come`, a stream; a server that knows no ranges sends all, of which the first are dropped. */
async function fetched({ url, name }, come, signal) {
  let response;
  try {
    response = await fetch(url, { signal, headers: come ? { Range: `bytes=${come}-` } : {} });
  } catch (problem) {
    if (signal.aborted) throw paused();
    throw new LoadError(location.protocol === "file:" ? "absent" : "cut", `${name} could not be fetched (${problem.message}).`);
  }
  if (ABSENT.includes(response.status)) {
    throw new LoadError("absent", `This copy of the book does not carry ${name}: choose the file on your device.`);
  }
  if (!response.ok) throw new LoadError("cut", `${name} could not be fetched (the server says ${response.status}): go on in a while.`);
  return response.status === 206 ? response.body : response.body.pipeThrough(without(come));
}

/** Return a stream without its first bytes. */
function without(count) {
  return new TransformStream({
    transform(part, to) {
      const dropped = Math.min(count, part.length);
      count -= dropped;
      if (dropped < part.length) to.enqueue(part.subarray(dropped));
    },
  });
}

const paused = () => new LoadError("paused", "Loading has paused; what has come is kept.");

/** Yield the parts of a stream until it ends, breaks off or is stopped. */
async function* read(stream, signal) {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => ({ done: true }));
      if (signal.aborted) throw paused();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Return what keeps the pieces that are whole, from the first that is not kept yet, until the browser has no room. */
function keeper(source, store, bytes, isKeptAlready) {
  const count = Math.ceil(source.bytes / PIECE);
  let next = isKeptAlready ? count : 0;
  const upTo = async (come) => {
    while (store && next < count && next * PIECE + lengthOf(source, next) <= come) {
      const place = placeOf(source, next);
      const content = bytes.slice(next * PIECE, next * PIECE + lengthOf(source, next));
      if (!(await store.match(place))) await store.put(place, new Response(content)).catch(() => (store = undefined));
      next++;
    }
  };
  return { upTo, isWhole: () => Boolean(store) && next === count };
}

async function digest(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
