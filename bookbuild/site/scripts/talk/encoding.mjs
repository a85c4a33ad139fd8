// Texts as token numbers and back, by the tokens and merges that a GGUF file brings: chapter 16's byte pairs.

const RULE = "smollm"; // the file's name for how a text is cut before merging; each digit stands alone
const PIECE = /'(?:s|t|re|ve|m|ll|d)| ?\p{L}+|\p{N}| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?![^\p{White_Space}\p{N}])|\p{White_Space}+/gu;
const MARKS = [3, 4]; // types of tokens that no merges make
const UNUSED = 5;
const [START, END] = ["<|im_start|>", "<|im_end|>"];
const SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face";
const utf8 = new TextEncoder();

/** Return the sign by which a file spells each byte: its own where it can be seen, else one from U+0100 on. */
function byteSigns() {
  let next = 256;
  const seen = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(seen(byte) ? byte : next++));
}

const SIGNS = byteSigns();
const BYTES = new Map(SIGNS.map((sign, byte) => [sign, byte]));

/** Return the bytes of a token, of which the file has a spelling and a type. */
function spelled(sign, type) {
  if (type === UNUSED) return new Uint8Array();
  const signs = [...sign];
  const ordinary = !MARKS.includes(type) && signs.every((one) => BYTES.has(one));
  return ordinary ? Uint8Array.from(signs, (one) => BYTES.get(one)) : utf8.encode(sign);
}

/** Join the parts of a piece, again and again the pair that was learned first, and return what is left of them. */
function merged(parts, ranks) {
  for (;;) {
    let [best, first, second] = [Infinity];
    for (let i = 1; i < parts.length; i++) {
      const rank = ranks.get(`${parts[i - 1]} ${parts[i]}`) ?? Infinity;
      if (rank < best) [best, first, second] = [rank, parts[i - 1], parts[i]];
    }
    if (best === Infinity) return parts;
    const joined = [];
    for (let i = 0; i < parts.length; i++) {
      const fits = parts[i] === first && parts[i + 1] === second;
      joined.push(fits ? first + second : parts[i]);
      if (fits) i++;
    }
    parts = joined;
  }
}

/** Return a decoder that holds bytes back until they are whole letters. */
const letters = () => new TextDecoder("utf-8", { ignoreBOM: true });

function told(facts) {
  const [model, rule, tokens, types, merges] = ["model", "pre", "tokens", "token_type", "merges"].map(
    (name) => facts[`tokenizer.ggml.${name}`],
  );
  if (model !== "gpt2" || rule !== RULE) {
    throw new Error(`This file's encoding is of the kind ${model}, ${rule}; expected gpt2, ${RULE}.`);
  }
  if (![tokens, types, merges].every(Array.isArray) || tokens.length !== types.length) {
    throw new Error("This file's encoding is not whole: it has no tokens, types or merges, or not a type for each token.");
  }
  return { tokens, types, merges };
}

/**
 * Return the encoding of a file, from its facts.
 * `encode(text)` gives token numbers; what spells a mark, such as <|im_end|>, is text like any other.
 * `marks` has the number of each mark by name; `chatIds(question, system)` are a question in the model's own form.
 * `bytes(id)` are those of a token, `decode(ids)` is their text; a `writer()` has `add(id)`, which returns what of the
 * text is whole by then, and `end()`, which returns the rest.
 */
export function makeEncoding(facts) {
  const { tokens, types, merges } = told(facts);
  const ids = new Map(tokens.map((sign, id) => [sign, id]));
  const ranks = new Map(merges.map((pair, rank) => [pair, rank]));
  const marks = new Map(tokens.map((sign, id) => [sign, id]).filter(([, id]) => MARKS.includes(types[id])));
  const known = new Map();

  function pieceIds(piece) {
    if (!known.has(piece)) {
      const parts = merged(Array.from(utf8.encode(piece), (byte) => SIGNS[byte]), ranks);
      known.set(piece, parts.map((part) => ids.get(part)).filter((id) => id !== undefined)); // some bytes have no token
    }
    return known.get(piece);
  }

  function bytes(id) {
    if (!(id in tokens)) throw new Error(`There is no token ${id}; expected a number below ${tokens.length}.`);
    return spelled(tokens[id], types[id]);
  }

  function writer() {
    const decoder = letters();
    return { add: (id) => decoder.decode(bytes(id), { stream: true }), end: () => decoder.decode() };
  }

  function decode(some) {
    const { add, end } = writer();
    return some.map(add).join("") + end();
  }

  const encode = (text) => (text.match(PIECE) ?? []).flatMap(pieceIds);

  function chatIds(question, system = SYSTEM) {
    const mark = (name) => {
      if (!marks.has(name)) throw new Error(`This file's encoding has no ${name}, so its model takes no questions.`);
      return marks.get(name);
    };
    const turns = [...(system === null ? [] : [`system\n${system}`]), `user\n${question}`];
    const asked = turns.flatMap((turn) => [mark(START), ...encode(turn), mark(END), ...encode("\n")]);
    return [...asked, mark(START), ...encode("assistant\n")];
  }

  return { encode, chatIds, marks, bytes, decode, writer, size: tokens.length };
}
