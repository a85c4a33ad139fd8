// Reads a prompt with the page's model and writes tokens behind it: node talk.mjs MODEL WASM STEPS ID …
// Prints what each took of the processor, in seconds, the tokens, and the memory that is held, in MiB.
import { readFileSync } from "node:fs";
import { fastKernels } from "../../bookbuild/site/scripts/talk/fast.mjs";
import { readGGUF } from "../../bookbuild/site/scripts/talk/gguf.mjs";
import { plainKernels } from "../../bookbuild/site/scripts/talk/kernels.mjs";
import { openModel } from "../../bookbuild/site/scripts/talk/model.mjs";
import { likeliest } from "../../bookbuild/site/scripts/talk/odds.mjs";

const [path, wasm, steps, ...prompt] = process.argv.slice(2);
const bytes = readFileSync(path);
const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes.length / 65536) });
new Uint8Array(memory.buffer).set(bytes);
const kernels = wasm === "plain" ? plainKernels : await fastKernels(readFileSync(wasm));
const { step, logits } = openModel(readGGUF(memory.buffer, bytes.length), memory, kernels);

const ids = prompt.map(Number);
const spent = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

function run() {
  const all = [...ids];
  const start = spent();
  ids.forEach(step);
  all.push(likeliest(logits()));
  const read = spent();
  while (all.length <= ids.length + Number(steps)) {
    step(all.at(-1), all.length - 1);
    all.push(likeliest(logits()));
  }
  return { read: read - start, write: spent() - read, all };
}

if (wasm !== "plain") run(); // the first also waits for the compiler
const mebibytes = process.memoryUsage.rss() / 2 ** 20;
process.stdout.write(JSON.stringify({ ...run(), mebibytes }));
