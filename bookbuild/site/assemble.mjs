// Assembles WebAssembly text: node assemble.mjs FROM.wat TO.wasm
import { readFileSync, writeFileSync } from "node:fs";
import wabt from "wabt";

const [from, to] = process.argv.slice(2);
const { parseWat } = await wabt();
try {
  writeFileSync(to, parseWat(from, readFileSync(from, "utf8"), { simd: true }).toBinary({}).buffer);
} catch ({ message }) { // without the stack, which quotes all of wabt
  console.error(message);
  process.exitCode = 1;
}
