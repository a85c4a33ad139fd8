// Makes one small stylesheet of many: joined in their order, without what no page can use, minified.
// In:  {"sheets": [paths], "folder": "where the result will lie", "words": {…}, "variables": […], "keep": […]} as JSON
//      on standard input; `words` is what PurgeCSS calls the result of an extractor.
// Out: the stylesheet on standard output.
import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import esbuild from "esbuild";
import { PurgeCSS } from "purgecss";

const { sheets, folder, words, variables, keep } = JSON.parse(readFileSync(0, "utf8"));

// Addresses of fonts and pictures count from the sheet that names them; from now on they count from `folder`.
const rebase = ({ path, kind, resolveDir }) =>
  kind === "url-token" && !/^[a-z]+:/.test(path)
    ? { path: relative(folder, resolve(resolveDir, path)).replaceAll("\\", "/"), external: true }
    : undefined;

const stop = (error) => {
  process.stderr.write(error.errors?.map(({ text }) => text).join("\n") ?? error.message);
  process.exit(1);
};

const joined = await esbuild
  .build({
    stdin: { contents: sheets.map((path) => `@import ${JSON.stringify(path)};`).join(""), loader: "css", resolveDir: folder },
    bundle: true,
    write: false,
    plugins: [{ name: "rebase", setup: ({ onResolve }) => onResolve({ filter: /.*/ }, rebase) }],
    logLevel: "silent",
  })
  .catch(stop);
// PurgeCSS would drop a selector that names no element, such as :focus-visible; a pseudo-class is never what is unused.
const PSEUDO = /^:/;
const [purged] = await new PurgeCSS().purge({
  css: [{ raw: joined.outputFiles[0].text }],
  content: [{ raw: "", extension: "words" }],
  extractors: [{ extensions: ["words"], extractor: () => words }],
  safelist: { standard: [...keep, PSEUDO], variables },
  ...{ fontFace: true, keyframes: true, variables: true },
});
process.stdout.write((await esbuild.transform(purged.css, { loader: "css", minify: true, legalComments: "none" })).code);
