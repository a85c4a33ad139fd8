// The value of what a reader types: a number, or a sum such as log(99) / 2, so that nobody has to round.

const FUNCTIONS = { log: Math.log, ln: Math.log, log2: Math.log2, log10: Math.log10, exp: Math.exp, sqrt: Math.sqrt, "√": Math.sqrt, sin: Math.sin, cos: Math.cos, abs: Math.abs };
const NUMBERS = { pi: Math.PI, π: Math.PI, e: Math.E };
const TOKEN = /(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|\*\*|[a-zπ]+\d*|\S/gi;

/** Return the value, NaN where a text has none. */
export function value(text) {
  const tokens = text.replace(/−/g, "-").replace(/np\.|math\./g, "").replace(/(?<=\d),(?=\d{3}(?!\d))/g, "").match(TOKEN) ?? [];
  let at = 0;
  const next = (signs) => signs.includes(tokens[at]) && tokens[at++];
  function sum() {
    let found = product();
    for (let sign; (sign = next(["+", "-"])); ) found += sign === "+" ? product() : -product();
    return found;
  }
  function product() {
    let found = signed();
    for (let sign; (sign = next(["*", "×", "·", "/", "÷"])); ) found = "*×·".includes(sign) ? found * signed() : found / signed();
    return found;
  }
  const signed = () => (next(["-"]) ? -signed() : next(["+"]) ? signed() : power());
  function power() {
    const found = atom();
    return next(["**", "^"]) ? found ** signed() : found;
  }
  function atom() {
    const token = tokens[at++] ?? "";
    if (token === "(") {
      const found = sum();
      return next([")"]) ? found : NaN;
    }
    if (Object.hasOwn(FUNCTIONS, token)) return FUNCTIONS[token](atom());
    if (Object.hasOwn(NUMBERS, token)) return NUMBERS[token];
    return /^[\d.]/.test(token) ? Number(token) : NaN;
  }
  const found = sum();
  return at === tokens.length ? found : NaN;
}
