// The products of the model in plain JavaScript, as a reader may check them beside those of NumPy.  The weights stay in
// the file's own bytes, in blocks of 32; a number of the file is made only when it is multiplied.
//   Q4_1: scale d and least m, both float16, then 16 bytes of two weights each:  weight = d · number + m
//   Q8_0: scale d, a float16, then 32 bytes with signs:                          weight = d · number

const BLOCK = 32; // weights
const SIZE = { Q4_1: 20, Q8_0: 34 }; // bytes of a block

/** Every float16, by its bits: a sign, five bits of power, ten behind the point. */
const HALF = Float32Array.from({ length: 65536 }, (_, bits) => {
  const sign = bits >> 15 ? -1 : 1;
  const power = (bits >> 10) & 31;
  const rest = (bits & 1023) / 1024;
  return sign * (power ? 2 ** (power - 15) * (1 + rest) : 2 ** -14 * rest);
});

/** Return a row of a matrix as float32: of the embedding, the vector of a token. */
export function unpackedRow(buffer, { kind, shape, at }, row) {
  const view = new DataView(buffer);
  const found = new Float32Array(shape[1]);
  for (let i = 0; i < found.length; i++) {
    const block = at + ((row * found.length + i - (i % BLOCK)) / BLOCK) * SIZE[kind];
    const scale = HALF[view.getUint16(block, true)];
    const place = i % BLOCK;
    if (kind === "Q8_0") found[i] = scale * view.getInt8(block + 2 + place);
    else {
      const two = view.getUint8(block + 4 + (place % 16)); // its low half is weight 0 to 15, its high half 16 to 31
      found[i] = scale * (place < 16 ? two & 15 : two >> 4) + HALF[view.getUint16(block + 2, true)];
    }
  }
  return found;
}

/**
 * Return the kernels on a memory; all addresses are in bytes.  The second argument, their room, they do not need.
 * `take(x, n)` names the vector of the next products; `times(matrix, y)` writes matrix · x to y.
 * `scores(q, keys, out, n, width, stride)` writes q · key for n keys, one behind the other by `stride` bytes.
 * `mix(weights, values, out, n, width, stride)` writes the sum of n values, each times its weight.
 */
export function plainKernels(memory) {
  const floats = new Float32Array(memory.buffer);
  const bytes = new Uint8Array(memory.buffer);
  const signed = new Int8Array(memory.buffer);
  const halves = new Uint16Array(memory.buffer);
  let x = floats;

  // d · Σ number · x + m · Σ x
  function blockOfQ4(w, at) {
    let [products, sum] = [0, 0];
    for (let i = 0; i < 16; i++) {
      const two = bytes[w + 4 + i];
      products += (two & 15) * x[at + i] + (two >> 4) * x[at + i + 16];
      sum += x[at + i] + x[at + i + 16];
    }
    return HALF[halves[w / 2]] * products + HALF[halves[w / 2 + 1]] * sum;
  }

  // d · Σ number · x
  function blockOfQ8(w, at) {
    let products = 0;
    for (let i = 0; i < BLOCK; i++) products += signed[w + 2 + i] * x[at + i];
    return HALF[halves[w / 2]] * products;
  }

  function times({ kind, shape: [rows, columns], at: w }, y) {
    const block = kind === "Q4_1" ? blockOfQ4 : blockOfQ8;
    for (let row = 0; row < rows; row++) {
      let sum = 0;
      for (let at = 0; at < columns; at += BLOCK, w += SIZE[kind]) sum += block(w, at);
      floats[y / 4 + row] = sum;
    }
  }

  function scores(q, keys, out, n, width, stride) {
    for (let place = 0; place < n; place++) {
      let sum = 0;
      const key = (keys + place * stride) / 4;
      for (let i = 0; i < width; i++) sum += floats[q / 4 + i] * floats[key + i];
      floats[out / 4 + place] = sum;
    }
  }

  function mix(weights, values, out, n, width, stride) {
    for (let i = 0; i < width; i++) {
      let sum = 0;
      for (let place = 0; place < n; place++) sum += floats[weights / 4 + place] * floats[(values + place * stride) / 4 + i];
      floats[out / 4 + i] = sum;
    }
  }

  const take = (at, n) => (x = floats.subarray(at / 4, at / 4 + n));
  return { take, times, scores, mix };
}
