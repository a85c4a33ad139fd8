// A decoder of the family "llama", one token after another, on the bytes of its own file: what chapters 19 and 21 build.
import { unpackedRow } from "./kernels.mjs";
import { lookAt, room, shapeOf } from "./shape.mjs";

const FLOAT = 4; // bytes
const AS_IT_IS = { cut: [], heldFrom: null, zero: null };

/** Make numbers shares: e to the power of each times `scale`, divided by their sum. */
function softmax(numbers, scale) {
  let [most, sum] = [-Infinity, 0];
  for (const number of numbers) most = Math.max(most, number);
  for (let i = 0; i < numbers.length; i++) sum += numbers[i] = Math.exp(scale * (numbers[i] - most));
  for (let i = 0; i < numbers.length; i++) numbers[i] /= sum;
}

/** Refuse a number that is not a whole one from `least` to `most`. */
function checked(name, number, least, most) {
  if (Number.isInteger(number) && number >= least && number <= most) return number;
  throw new Error(`${name} is ${number}; expected a whole number from ${least} to ${most}.`);
}

/**
 * Open the model of a `file` that `readGGUF` has read and that lies at the start of `memory`, a WebAssembly.Memory, which
 * grows here: make views of it only afterwards.  `kernels` is `plainKernels` or what `fastKernels` returns.
 * Layers are counted from 1, heads, places and numbers from 0, as in chapter 22.  What is returned are views, which the
 * next call of the same name, or the next step, writes over.
 */
export function openModel(file, memory, kernels, { context = 512 } = {}) {
  const shape = Object.freeze(shapeOf(file, context));
  lookAt(file, shape);
  const { layers, d, heads, groups, width, hidden, vocabulary, eps } = shape;
  const at = room(memory, file, shape);
  const floats = new Float32Array(memory.buffer);
  const { take, times, scores, mix } = kernels(memory, at.rounded);
  const { tensors } = file;
  const view = (address, length) => floats.subarray(address / FLOAT, address / FLOAT + length);
  const behind = (layer) => view(at.stream + FLOAT * layer * d, d); // the stream behind so many layers
  const [added, gate, up] = [view(at.added, d), view(at.gate, hidden), view(at.up, hidden)];
  const row = FLOAT * groups * width; // bytes of a token's keys, or values, in one layer
  const frequencies = Float64Array.from({ length: width / 2 }, (_, i) => shape.base ** ((-2 * i) / width));
  const read = []; // the tokens whose keys and values are kept
  let place = -1; // of the newest token
  let changes = AS_IT_IS;

  /** Write the RMS norm of a vector where the next products read it. */
  function norm(x, { at: gain }) {
    const [gains, normed] = [view(gain, d), view(at.normed, d)];
    let squares = 0;
    for (let i = 0; i < d; i++) squares += x[i] * x[i];
    const scale = 1 / Math.sqrt(squares / d + eps);
    for (let i = 0; i < d; i++) normed[i] = x[i] * scale * gains[i];
    take(at.normed, d);
  }

  /** Turn the pairs of neighbours in each of some heads, as the files of this family have them. */
  function turn(address, count, turned) {
    const x = view(address, count * width);
    for (let i = 0; i < x.length; i += 2) {
      const [cos, sin] = turned[(i % width) / 2];
      const [first, second] = [x[i], x[i + 1]];
      x[i] = first * cos - second * sin;
      x[i + 1] = first * sin + second * cos;
    }
  }

  const weightsOf = (layer, head) => at.weights + FLOAT * ((layer - 1) * heads + head) * context;

  /** Let a head look at all tokens so far, but at the first where it is held back, and mix their values. */
  function look(layer, head, keys, values) {
    const held = changes.heldFrom !== null && layer >= changes.heldFrom && place > 0 ? 1 : 0;
    const group = FLOAT * width * Math.floor((head * groups) / heads) + held * row;
    const [query, mixed] = [at.queries, at.mixed].map((address) => address + FLOAT * width * head);
    const [count, weights] = [place + 1 - held, weightsOf(layer, head)];
    floats[weights / FLOAT] = 0;
    scores(query, keys + group, weights + FLOAT * held, count, width, row);
    softmax(view(weights + FLOAT * held, count), 1 / Math.sqrt(width));
    mix(weights + FLOAT * held, values + group, mixed, count, width, row);
  }

  function attend(layer, part, turned) {
    const cache = (layer - 1) * context * row;
    const [keys, values] = [at.keys + cache, at.values + cache];
    times(part("attn_q"), at.queries);
    times(part("attn_k"), keys + place * row);
    times(part("attn_v"), values + place * row);
    turn(at.queries, heads, turned);
    turn(keys + place * row, groups, turned);
    for (let head = 0; head < heads; head++) look(layer, head, keys, values);
    for (const [of, head] of changes.cut) if (of === layer) view(at.mixed + FLOAT * width * head, width).fill(0);
    take(at.mixed, heads * width);
    times(part("attn_output"), at.added);
  }

  function think(part) {
    times(part("ffn_gate"), at.gate);
    times(part("ffn_up"), at.up);
    for (let i = 0; i < hidden; i++) gate[i] *= up[i] / (1 + Math.exp(-gate[i]));
    take(at.gate, hidden);
    times(part("ffn_down"), at.added);
  }

  const add = (x) => {
    for (let i = 0; i < d; i++) x[i] += added[i];
  };

  const zeroed = (layer) => {
    if (place === 0 && changes.zero?.layer === layer) behind(layer)[changes.zero.number] = 0;
  };

  /** Read a token at the next place, or again at an earlier one: the same token there leaves those behind it as they are. */
  function step(id, where) {
    checked("The token", id, 0, vocabulary - 1);
    place = checked("The place", where, 0, Math.min(read.length, context - 1));
    if (read[place] !== id) read.length = place;
    read[place] = id;
    const turned = Array.from(frequencies, (each) => [Math.cos(place * each), Math.sin(place * each)]);
    behind(0).set(unpackedRow(memory.buffer, tensors["token_embd.weight"], id));
    zeroed(0);
    for (let layer = 1; layer <= layers; layer++) {
      const part = (name) => tensors[`blk.${layer - 1}.${name}.weight`];
      const x = behind(layer);
      x.set(behind(layer - 1));
      norm(x, part("attn_norm"));
      attend(layer, part, turned);
      add(x);
      norm(x, part("ffn_norm"));
      think(part);
      add(x);
      zeroed(layer);
    }
  }

  function output(layer, into) {
    if (place < 0) throw new Error("No token has been read yet.");
    norm(behind(checked("The layer", layer, 0, layers)), tensors["output_norm.weight"]);
    times(tensors["output.weight"] ?? tensors["token_embd.weight"], into);
    return view(into, vocabulary);
  }

  /** Return the logits of the token behind the newest one. */
  const logits = () => output(layers, at.logits);

  /** Return the logits that the stream of the newest token stands for behind so many layers, 0 to all. */
  const lens = (layer) => output(layer, at.lens);

  /** Return the weights with which a head looks from the newest token at each so far, itself the last. */
  function attention(layer, head) {
    checked("The layer", layer, 1, layers);
    checked("The head", head, 0, heads - 1);
    return view(weightsOf(layer, head), place + 1);
  }

  /**
   * Change what happens in the model, and forget what has been read.  `cut` is a list of [layer, head], whose output is
   * made 0; from the layer `heldFrom` on no later token looks at the first; `zero`, a {layer, number}, makes one number of
   * the first token's stream 0 behind a layer (0: of its embedding).  What is not named is as it was made.
   */
  function change({ cut = [], heldFrom = null, zero = null } = {}) {
    for (const [layer, head] of cut) {
      checked("The layer of a head", layer, 1, layers);
      checked("The head", head, 0, heads - 1);
    }
    if (heldFrom !== null) checked("heldFrom", heldFrom, 1, layers);
    if (zero !== null) checked("The layer", zero.layer, 0, layers);
    if (zero !== null) checked("The number", zero.number, 0, d - 1);
    changes = { cut, heldFrom, zero };
    [read.length, place] = [0, -1];
  }

  return { shape, step, logits, lens, attention, change };
}
