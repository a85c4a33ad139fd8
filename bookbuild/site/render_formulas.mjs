// Turns formulas into HTML with KaTeX, all of them in one run.
// In:  [{"tex": "…", "display": true}, …] as JSON on standard input.
// Out: [{"html": "…"} or {"error": "…"}, …] as JSON, in the same order.
import { readFileSync } from "node:fs";
import katex from "katex";

const render = ({ tex, display }) => {
  try {
    const options = { displayMode: display, output: "htmlAndMathml", strict: "error", throwOnError: true };
    return { html: katex.renderToString(tex, options) };
  } catch (error) {
    return { error: error.message };
  }
};

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(render)));
