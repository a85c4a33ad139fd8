// Turns formulas into MathML with Temml, all of them in one run.
// In:  [{"tex": "…", "display": true}, …] as JSON on standard input.
// Out: [{"html": "…"} or {"error": "…"}, …] as JSON, in the same order.
import { readFileSync } from "node:fs";
import temml from "temml";

const render = ({ tex, display }) => {
  try {
    return { html: temml.renderToString(tex, { displayMode: display, strict: true, throwOnError: true }) };
  } catch (error) {
    return { error: error.message };
  }
};

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(render)));
