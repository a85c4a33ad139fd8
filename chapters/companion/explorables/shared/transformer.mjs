// The encoder–decoder of chapter 12, forward alone and word by word: pre-norm, sinusoidal positions, gelu.
// A vector is an array of numbers; a matrix, and a table of vectors, is one array with a row after the other.
import { softmax } from "./parts.mjs";

const [START, END] = [1, 2]; // the ids of <s> and </s>

// The numbers of float16 in base64.  One of float32 has 13 bits more behind the point and 112 more in its exponent.
export function unpacked(base64) {
  const halves = new Uint16Array(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer);
  const bits = Uint32Array.from(halves, (half) => ((half & 0x8000) << 16) | ((half & 0x7fff) << 13));
  return new Float32Array(bits.buffer).map((number) => number * 2 ** 112);
}

// Cut a model's numbers into its parameters, which lie in the order of model_shapes in parameters.py.
export function cutter(numbers, { d, hidden }) {
  let at = 0;
  const take = (size) => numbers.subarray(at, (at += size));
  const norm = () => ({ gain: take(d), bias: take(d) });
  const attention = () => ({ Q: take(d * d), K: take(d * d), V: take(d * d), O: take(d * d), ...norm() });
  const wide = () => ({ W1: take(d * hidden), b1: take(hidden), W2: take(hidden * d), b2: take(d), ...norm() });
  const layers = (count, make) => Array.from({ length: count }, make);
  return { take, norm, attention, wide, layers };
}

export function cut(numbers, { d, source, target, ...sizes }) {
  const { take, norm, attention, wide, layers } = cutter(numbers, { d, hidden: sizes.hidden });
  const model = { d, encoder_heads: sizes.encoder_heads, heads: sizes.heads };
  model.target = take(target * d);
  model.source = take(source * d);
  model.encoder = layers(sizes.encoder_layers, () => ({ attention: attention(), wide: wide() }));
  model.memory = norm();
  model.decoder = layers(sizes.layers, () => ({ attention: attention(), cross: attention(), wide: wide() }));
  model.last = norm();
  if (!sizes.tied) model.output = take(d * target);
  return model;
}

export const add = (x, y) => x.map((value, i) => value + y[i]);
export const average = (rows) => rows[0].map((_, j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length);
const mean = (x) => x.reduce((sum, value) => sum + value) / x.length;

// x W, added to a bias where there is one.
export function times(x, matrix, bias) {
  const width = matrix.length / x.length;
  const sums = bias ? Float64Array.from(bias) : new Float64Array(width);
  for (let i = 0, at = 0; i < x.length; i++) {
    const value = x[i];
    for (let j = 0; j < width; j++) sums[j] += value * matrix[at++];
  }
  return sums;
}

export function normal(x, { gain, bias }) {
  const middle = mean(x);
  const centred = x.map((value) => value - middle);
  const spread = Math.sqrt(mean(centred.map((value) => value ** 2)) + 1e-5);
  return centred.map((value, i) => (value / spread) * gain[i] + bias[i]);
}

const gelu = (x) => x.map((v) => 0.5 * v * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (v + 0.044715 * v ** 3))));
export const widened = (x, { W1, b1, W2, b2 }) => times(gelu(times(x, W1, b1)), W2, b2);

// A word's row of a table, times √d, and its position.
function embedded(table, id, t, d) {
  return Float64Array.from(table.subarray(id * d, (id + 1) * d), (value, i) => {
    const angle = t / 10000 ** ((i - (i % 2)) / d);
    return value * Math.sqrt(d) + (i % 2 ? Math.cos(angle) : Math.sin(angle));
  });
}

// One query among keys and values, head by head: what comes of it, and for each head its weights.
export function attend(query, keys, values, heads) {
  const width = query.length / heads;
  const output = new Float64Array(query.length);
  const weights = Array.from({ length: heads }, (_, head) => {
    const [from, to] = [head * width, (head + 1) * width];
    const scores = keys.map((key) => {
      let product = 0;
      for (let i = from; i < to; i++) product += query[i] * key[i];
      return product / Math.sqrt(width);
    });
    const shares = softmax(scores, 1).weights;
    values.forEach((value, j) => {
      for (let i = from; i < to; i++) output[i] += shares[j] * value[i];
    });
    return shares;
  });
  return { output, weights };
}

// What the encoder makes of a sentence, the weights of its layers: layer, word, head, word; and its streams, the vectors
// of all words before the first layer and behind each.  In place of a stream goes on what put(stream, layer) returns.
export function encode(model, ids, put = (stream) => stream) {
  let x = put(ids.map((id, t) => embedded(model.source, id, t, model.d)), 0);
  const streams = [x];
  const weights = model.encoder.map(({ attention, wide }, l) => {
    const inside = x.map((word) => normal(word, attention));
    const [keys, values] = ["K", "V"].map((name) => inside.map((word) => times(word, attention[name])));
    const found = inside.map((word) => attend(times(word, attention.Q), keys, values, model.encoder_heads));
    x = x.map((word, t) => add(word, times(found[t].output, attention.O)));
    x = put(x.map((word) => add(word, widened(normal(word, wide), wide))), l + 1);
    streams.push(x);
    return found.map((each) => each.weights);
  });
  return { memory: x.map((word) => normal(word, model.memory)), weights, streams };
}

// How well each word of the target fits, by a matrix of its own or by the embedding.
export function scores({ d, target, output }, x) {
  if (output) return times(x, output);
  const sums = new Float64Array(target.length / d);
  for (let word = 0, at = 0; word < sums.length; word++) {
    for (let i = 0; i < d; i++) sums[word] += x[i] * target[at++];
  }
  return sums;
}

// Write a translation of at most so many words, behind those that were said the likeliest next each time: of each word
// its id, the logits of all, and the weights, layer, head, word, of its look at what is written and at the memory.  Keys
// and values are kept, so each step works on one word; the future needs no mask, as it is not there yet.
export function* written(model, memory, most, said = []) {
  const kept = model.decoder.map(({ cross }) => {
    const [keys, values] = ["K", "V"].map((name) => memory.map((word) => times(word, cross[name])));
    return { keys: [], values: [], far: { keys, values } };
  });
  for (let id = START, t = 0; id !== END && t < most; t++) {
    let x = embedded(model.target, id, t, model.d);
    const [own, far] = [[], []];
    model.decoder.forEach(({ attention, cross, wide }, l) => {
      const inside = normal(x, attention);
      kept[l].keys.push(times(inside, attention.K));
      kept[l].values.push(times(inside, attention.V));
      const look = (params, word, { keys, values }, seen) => {
        const { output, weights } = attend(times(word, params.Q), keys, values, model.heads);
        seen.push(weights);
        return add(x, times(output, params.O));
      };
      x = look(attention, inside, kept[l], own);
      x = look(cross, normal(x, cross), kept[l].far, far);
      x = add(x, widened(normal(x, wide), wide));
    });
    x = normal(x, model.last);
    const logits = [...scores(model, x)];
    id = said[t] ?? logits.indexOf(Math.max(...logits));
    yield { id, logits, own, cross: far };
  }
}
