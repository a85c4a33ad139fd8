// The front of a GGUF file: what it tells of its model, and where the numbers of each array stand.  The numbers stay
// where they are, in the file's own bytes.

/** Kinds of numbers that are read, by the file's number for each: so many weights are a block of so many bytes. */
const KINDS = {
  0: { kind: "F32", weights: 1, bytes: 4 },
  3: { kind: "Q4_1", weights: 32, bytes: 20 },
  8: { kind: "Q8_0", weights: 32, bytes: 34 },
};
const OTHERS = { 1: "F16", 2: "Q4_0", 6: "Q5_0", 7: "Q5_1", 10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 30: "BF16" };
const MAGIC = "GGUF";
const VERSION = 3;
const [STRING, LIST] = [8, 9];
const AXES = 4; // at most, of an array

/** Return a function that reads the next value of a kind, by the file's number for it, and what else reads from there. */
function reader(buffer, size) {
  const view = new DataView(buffer, 0, size);
  const text = new TextDecoder("utf-8", { ignoreBOM: true });
  let at = 0;
  const take = (bytes) => (at += bytes) - bytes;
  const whole = (long) => {
    if (long > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError("a count of more than any file holds");
    return Number(long);
  };
  const u32 = () => view.getUint32(take(4), true);
  const u64 = () => whole(view.getBigUint64(take(8), true));
  const string = () => {
    const length = u64();
    if (length > size - at) throw new RangeError("a text beyond the end");
    return text.decode(new Uint8Array(buffer, take(length), length));
  };
  const list = () => {
    const [kind, length] = [u32(), u64()];
    const found = [];
    while (found.length < length) found.push(value(kind));
    return found;
  };
  const readers = {
    0: () => view.getUint8(take(1)),
    1: () => view.getInt8(take(1)),
    2: () => view.getUint16(take(2), true),
    3: () => view.getInt16(take(2), true),
    4: u32,
    5: () => view.getInt32(take(4), true),
    6: () => view.getFloat32(take(4), true),
    7: () => view.getUint8(take(1)) !== 0,
    [STRING]: string,
    [LIST]: list,
    10: u64,
    11: () => Number(view.getBigInt64(take(8), true)),
    12: () => view.getFloat64(take(8), true),
  };
  function value(kind) {
    if (!(kind in readers)) throw new Error(`This GGUF file is damaged: it holds a value of kind ${kind}.`);
    return readers[kind]();
  }
  return { u32, u64, string, value, at: () => at };
}

/** Read a row of the table of arrays; the file has its axes in reverse, the fastest first. */
function row({ u32, u64, string }) {
  const name = string();
  const axes = u32();
  if (!axes || axes > AXES) throw new Error(`This GGUF file is damaged: ${name} has ${axes} axes.`);
  const shape = Array.from({ length: axes }, u64).reverse();
  const [number, offset] = [u32(), u64()];
  if (!(number in KINDS)) {
    const kind = OTHERS[number] ?? `number ${number}`;
    throw new Error(`${name} holds numbers of kind ${kind}; expected F32, Q4_1 or Q8_0.`);
  }
  const { kind, weights, bytes } = KINDS[number];
  if (shape.at(-1) % weights) throw new Error(`This GGUF file is damaged: ${name} has rows of no whole blocks.`);
  const count = shape.reduce((product, length) => product * length, 1);
  return { name, kind, shape, at: offset, bytes: (count / weights) * bytes };
}

function contents(buffer, size) {
  const read = reader(buffer, size);
  const magic = String.fromCharCode(...new Uint8Array(buffer, 0, Math.min(size, MAGIC.length)));
  if (magic !== MAGIC) throw new Error("This is no GGUF file: it does not begin with these four letters.");
  read.u32();
  const version = read.u32();
  if (version !== VERSION) throw new Error(`This GGUF file is of version ${version}; expected ${VERSION}.`);
  const [arrays, keys] = [read.u64(), read.u64()];
  const [facts, tensors] = [{}, {}];
  for (let left = keys; left; left--) {
    const key = read.string();
    facts[key] = read.value(read.u32());
  }
  for (let left = arrays; left; left--) {
    const { name, ...found } = row(read);
    tensors[name] = found;
  }
  const step = facts["general.alignment"] ?? 32;
  if (!(step > 0 && step % 8 === 0)) throw new Error(`This GGUF file is damaged: its arrays stand ${step} bytes apart.`);
  const start = Math.ceil(read.at() / step) * step;
  for (const tensor of Object.values(tensors)) {
    tensor.at += start;
    if (tensor.at % 4) throw new Error("This GGUF file is damaged: an array begins at an odd place.");
    if (tensor.at + tensor.bytes > size) throw new RangeError("an array beyond the end");
  }
  return { facts, tensors };
}

/**
 * Return what a GGUF file of `size` bytes tells that lies at the start of a buffer: its `facts` by name, and its
 * `tensors`, of each its kind, its shape as NumPy has it, its first byte (`at`) and how many `bytes` it has.
 */
export function readGGUF(buffer, size = buffer.byteLength) {
  try {
    return contents(buffer, size);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Error(`This GGUF file is cut short: it tells of more than its ${size.toLocaleString("en")} bytes hold.`);
  }
}
