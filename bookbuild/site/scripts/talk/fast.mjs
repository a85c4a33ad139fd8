// The door to kernels.wat: the kernels of kernels.mjs, from the bytes of its module.

const [BLOCK, ROUNDED] = [32, 72]; // numbers of a block, and its bytes once they are rounded

/** How many bytes `n` numbers take once they are rounded. */
export const roundedSize = (n) => (n / BLOCK) * ROUNDED;

/** Compile the module, which a page's host may forbid; return what makes kernels on a memory, as `plainKernels` does. */
export async function fastKernels(bytes) {
  const module = await WebAssembly.compile(bytes);
  return (memory, room) => {
    const { round, q4, q8, scores, mix } = new WebAssembly.Instance(module, { model: { memory } }).exports;
    const take = (x, n) => round(x, room, n / BLOCK);
    function times({ kind, shape: [rows, columns], at }, y) {
      const product = kind === "Q4_1" ? q4 : q8;
      product(at, room, y, rows, columns / BLOCK);
    }
    return { take, times, scores, mix };
  };
}
