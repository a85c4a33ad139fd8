// The door to kernels.wat: the kernels of kernels.mjs, from the bytes of its module.

const BLOCK = 32; // numbers that are rounded together
const [WHOLE, SUMS] = [2, 8]; // bytes of each number once it is rounded, and of what is kept of a block

/** How many bytes `n` numbers take once they are rounded. */
export const roundedSize = (n) => n * WHOLE + (n / BLOCK) * SUMS;

/** Compile the module, which a page's host may forbid; return what makes kernels on a memory, as `plainKernels` does. */
export async function fastKernels(bytes) {
  const module = await WebAssembly.compile(bytes);
  return (memory, room) => {
    const { round, q4, q8, scores, mix } = new WebAssembly.Instance(module, { model: { memory } }).exports;
    let sums; // behind the whole numbers of a vector, which need not have that many
    function take(x, n) {
      sums = room + n * WHOLE;
      round(x, room, sums, n / BLOCK);
    }
    function times({ kind, shape: [rows, columns], at }, y) {
      const product = kind === "Q4_1" ? q4 : q8;
      product(at, room, sums, y, rows, columns / BLOCK / 2);
    }
    return { take, times, scores, mix };
  };
}
