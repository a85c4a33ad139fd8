// Assembles WebAssembly text: node assemble.mjs FROM.wat TO.wasm
import { readFileSync, writeFileSync } from "node:fs";
import wabt from "wabt";

const [from, to] = process.argv.slice(2);
const module = (await wabt()).parseWat(from, readFileSync(from, "utf8"), { simd: true });
writeFileSync(to, module.toBinary({}).buffer);
