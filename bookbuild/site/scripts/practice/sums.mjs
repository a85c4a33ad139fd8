// The value of what a reader types: a number, or a sum such as log(99) / 2, so that nobody has to round.

const FUNCTIONS = { log: Math.log, ln: Math.log, log2: Math.log2, log10: Math.log10, exp: Math.exp, sqrt: Math.sqrt, "√": Math.sqrt, sin: Math.sin, cos: Math.cos, abs: Math.abs };
const CONSTANTS = { pi: Math.PI, π: Math.PI, e: Math.E };
const TRUTH = { true: 1, false: 0 };
const TOKEN = /(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|\*\*|[a-zπ]+\d*|\S/gi;
const DIGIT = /^[\d.]/;
const LONGEST = 200; // characters: longer than any sum that is asked for
const MIXED = /(?<![\d.])(\d+)\s+(\d+)\s*\/\s*(\d+)(?![\d.])/g; // 5 1/3
const WITH_COMMAS = /[\d.]*(?:,\d+)+(?:\.\d+)?/g;
const GROUPED = /^[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/; // 885,248, which elsewhere is a number with three decimals
const EXAMPLE = "a number or a sum such as log(3) / 2";

/** Tell whether the commas of a number can only part its thousands: a whole one is asked for, or more than one comma or a point says so. */
const partsThousands = (number, whole) => GROUPED.test(number) && (whole || number.includes(".") || number.split(",").length > 2);

/** Return a text with the signs of Python; where `whole`, a single comma may part thousands. */
function plain(text, whole) {
  return text
    .replace(/[−–‐‑]/g, "-")
    .replace(/np\.|math\./g, "")
    .replace(WITH_COMMAS, (number) => (partsThousands(number, whole) ? number.replaceAll(",", "") : number))
    .replace(MIXED, "($1+$2/$3)")
    .trim()
    .replace(/°$/, ""); // an angle in degrees, where degrees are asked for
}

/** Return the value, NaN where a text has none; `whole` tells that a whole number is asked for. */
export function value(text, whole = false) {
  if (text.length > LONGEST) return NaN;
  const tokens = plain(text, whole).match(TOKEN) ?? [];
  let at = 0;
  const next = (signs) => signs.includes(tokens[at]) && tokens[at++];
  function sum() {
    let found = product();
    for (let sign; (sign = next(["+", "-"])); ) found += sign === "+" ? product() : -product();
    return found;
  }
  function product() {
    let found = signed();
    let divided = false;
    while (at < tokens.length) {
      const sign = next(["*", "×", "·", "/", "÷"]);
      if (!sign && !follows()) break;
      if (!sign && divided) return NaN; // 1/2π can be read in two ways
      divided ||= "/÷".includes(sign || "*");
      const factor = signed();
      found = "/÷".includes(sign || "*") ? found / factor : found * factor;
    }
    return found;
  }
  /** Tell whether a factor follows without a sign, as in 20π and 2(3 + 4). */
  function follows() {
    const [before, token] = [tokens[at - 1].toLowerCase(), tokens[at].toLowerCase()];
    return (DIGIT.test(before) || before === ")") && (token === "(" || Object.hasOwn(FUNCTIONS, token) || Object.hasOwn(CONSTANTS, token));
  }
  const signed = () => (next(["-"]) ? -signed() : next(["+"]) ? signed() : power());
  function power() {
    const found = marked();
    return next(["**", "^"]) ? found ** signed() : found;
  }
  function marked() {
    let found = atom();
    if (next(["%"])) found /= 100;
    if (next(["°"])) found *= Math.PI / 180;
    return found;
  }
  function atom() {
    const token = (tokens[at++] ?? "").toLowerCase();
    if (token === "(") {
      const found = sum();
      return next([")"]) ? found : NaN;
    }
    if (Object.hasOwn(FUNCTIONS, token)) return FUNCTIONS[token](atom());
    if (Object.hasOwn(CONSTANTS, token)) return CONSTANTS[token];
    if (Object.hasOwn(TRUTH, token)) return TRUTH[token];
    return DIGIT.test(token) ? Number(token) : NaN;
  }
  const found = sum();
  return at === tokens.length ? found : NaN;
}

/** Return what to say of a text that has no value. */
export function unread(text, whole = false) {
  if (!text.trim()) return "Type a number first.";
  if (text.length > LONGEST) return `That is too long: type ${EXAMPLE}.`;
  return /,\d/.test(plain(text, whole))
    ? `“${text}”: write a point before decimals, and nothing between thousands.`
    : `“${text}” is not ${EXAMPLE}.`;
}
