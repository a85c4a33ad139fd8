// The sizes of a model, by what its file tells, and where each of its arrays stands in the memory.
import { roundedSize } from "./fast.mjs";

const FAMILY = "llama";
const PAIR = 64; // numbers of a row that are multiplied together, two blocks
const PAGE = 65536; // bytes by which a memory grows
const FLOAT = 4; // bytes
const EVEN = 16; // bytes: what a vector of the kernels is

const refuse = (what) => {
  throw new Error(what);
};

/** Return the sizes of a model of the family "llama"; `context` is how many tokens it will have room for. */
export function shapeOf({ facts, tensors }, context) {
  const family = facts["general.architecture"];
  if (family !== FAMILY) refuse(`This model is of the family ${family}; expected ${FAMILY}.`);
  const fact = (name, usual) => facts[`${FAMILY}.${name}`] ?? usual;
  const whole = (name, usual) => {
    const found = fact(name, usual);
    return Number.isInteger(found) && found > 0 ? found : refuse(`This file's ${FAMILY}.${name} is ${found}; expected a whole number.`);
  };
  const [layers, d, hidden] = ["block_count", "embedding_length", "feed_forward_length"].map((name) => whole(name));
  const heads = whole("attention.head_count");
  const groups = whole("attention.head_count_kv", heads);
  const width = whole("attention.key_length", d / heads);
  const most = whole("context_length", context);
  const shape = { layers, d, heads, groups, width, hidden, context, vocabulary: tensors["token_embd.weight"]?.shape[0] };
  if (!(context > 0 && context <= most)) refuse(`The context is ${context} tokens; expected at least 1 and at most ${most}.`);
  if (heads % groups) refuse(`This model has ${heads} heads and ${groups} groups; expected groups of one size.`);
  for (const [name, size] of Object.entries({ d, hidden, "heads · width": heads * width })) {
    if (size % PAIR) refuse(`This model's ${name} is ${size}; expected a multiple of ${PAIR}.`);
  }
  if (width % 4) refuse(`This model's heads are ${width} wide; expected a multiple of 4.`);
  if (fact("rope.dimension_count", width) !== width) refuse("This model turns a part of each head only; expected all of it.");
  if (fact("rope.scaling.type", "none") !== "none") refuse("This model turns its heads in a way that is not known here.");
  if (fact("expert_count", 0) || fact("attention.sliding_window", 0)) refuse("This model has experts or a window; expected neither.");
  return { ...shape, base: fact("rope.freq_base", 10_000), eps: fact("attention.layer_norm_rms_epsilon", 1e-5) };
}

/** Return the name, rows and columns of every array that such a model has, norms as one row. */
function* expected({ layers, d, heads, groups, width, hidden, vocabulary }) {
  yield ["token_embd.weight", [vocabulary, d]];
  yield ["output_norm.weight", [d]];
  for (let layer = 0; layer < layers; layer++) {
    const parts = {
      attn_norm: [d],
      attn_q: [heads * width, d],
      attn_k: [groups * width, d],
      attn_v: [groups * width, d],
      attn_output: [d, heads * width],
      ffn_norm: [d],
      ffn_gate: [hidden, d],
      ffn_up: [hidden, d],
      ffn_down: [d, hidden],
    };
    for (const [name, shape] of Object.entries(parts)) yield [`blk.${layer}.${name}.weight`, shape];
  }
}

/** Refuse a file in which an array of its model is missing, left over, of another shape or of another kind. */
export function lookAt({ tensors }, shape) {
  const wanted = new Map(expected(shape));
  if (tensors["output.weight"]) wanted.set("output.weight", [shape.vocabulary, shape.d]);
  for (const [name, sizes] of wanted) {
    if (!tensors[name]) refuse(`This file has no ${name}; expected the arrays of its model.`);
    const found = tensors[name];
    if (String(found.shape) !== String(sizes)) refuse(`${name} has shape ${found.shape}; expected ${sizes}.`);
    if ((found.kind === "F32") !== (sizes.length === 1)) {
      refuse(`${name} holds numbers of kind ${found.kind}; expected F32 for norms, Q4_1 or Q8_0 for matrices.`);
    }
  }
  const strange = Object.keys(tensors).find((name) => !wanted.has(name));
  if (strange) refuse(`This file holds, besides what its facts say, ${strange}.`);
}

/** Return the address of each array that is computed, behind `start`, and how many bytes all take with the file. */
function laid(shape, start) {
  const { layers, d, heads, groups, width, hidden, context, vocabulary } = shape;
  const cache = layers * context * groups * width;
  const floats = {
    stream: (layers + 1) * d, // of the newest token: the embedding, and what is behind each layer
    normed: d,
    queries: heads * width,
    mixed: heads * width,
    added: d,
    gate: hidden,
    up: hidden,
    logits: vocabulary,
    lens: vocabulary,
    weights: layers * heads * context, // of the newest token
    keys: cache,
    values: cache,
  };
  const at = {};
  let end = start;
  const put = (name, bytes) => {
    at[name] = Math.ceil(end / EVEN) * EVEN;
    end = at[name] + bytes;
  };
  put("rounded", roundedSize(Math.max(d, hidden, heads * width)));
  for (const [name, count] of Object.entries(floats)) put(name, FLOAT * count);
  return { at, end };
}

/** Let the memory, which begins with the file, grow to what the model takes, and return the address of each array. */
export function room(memory, { tensors }, shape) {
  const file = Math.max(...Object.values(tensors).map(({ at, bytes }) => at + bytes));
  const { at, end } = laid(shape, file);
  const missing = Math.ceil((end - memory.buffer.byteLength) / PAGE);
  try {
    if (missing > 0) memory.grow(missing);
  } catch {
    refuse(`The model takes ${Math.ceil(end / 1e6)} MB of memory, and there is not so much of it.`);
  }
  return at;
}
