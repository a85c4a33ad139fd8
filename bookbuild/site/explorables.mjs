// Writes scripts and style sheets with fewer letters.
// In:  [{"code": "…", "loader": "js" or "css"}, …] as JSON on standard input.
// Out: the codes as JSON, in the same order.
import { readFileSync } from "node:fs";
import esbuild from "esbuild";

const shorten = async ({ code, loader }) => (await esbuild.transform(code, { loader, minify: true, charset: "utf8" })).code.trim();

process.stdout.write(JSON.stringify(await Promise.all(JSON.parse(readFileSync(0, "utf8")).map(shorten))));
