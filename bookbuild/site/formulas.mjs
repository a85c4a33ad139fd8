// Turns formulas into MathML with Temml, all of them in one run.
// In:  [{"tex": "…", "display": true}, …] as JSON on standard input.
// Out: [{"html": "…"} or {"error": "…"}, …] as JSON, in the same order.
import { readFileSync } from "node:fs";
import temml from "temml";

const drawn = (tex, displayMode) => temml.renderToString(tex, { displayMode, strict: true, throwOnError: true });

// A display of several formulas, \qquad apart, is drawn as so many, which stand below each other where it is narrow.
const render = ({ tex, display }) => {
  try {
    const parts = display ? tex.split("\\qquad").filter((part) => part.trim()) : [tex];
    const html = parts.map((part) => drawn(part, display)).join("");
    return { html: parts.length > 1 ? `<span class="parts">${html}</span>` : html };
  } catch (error) {
    return { error: error.message };
  }
};

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(render)));
