// The byte-pair encoding of chapter 16: tokens 0 to 255 are the bytes, each later one is two earlier ones.

// The pieces within which tokens are made, of bytes as letters of the same number.
const PIECES = / ?[A-Za-z\x80-\xff]{1,32}| ?[0-9]{1,32}| ?[^\sA-Za-z0-9\x80-\xff]{1,32}|\n{1,32}|\s/g;

export function encoding(merges) {
  const tokens = Array.from({ length: 256 }, (_, byte) => [byte]);
  const numbers = new Map(); // of what a pair becomes
  const key = (one, two) => one * 65536 + two;
  for (const [one, two] of merges) {
    numbers.set(key(one, two), tokens.length);
    tokens.push([...tokens[one], ...tokens[two]]);
  }

  // Of the pairs in a piece, the one learned first is merged first, wherever it stands.
  const apply = (piece) => {
    let ids = Array.from(piece, (letter) => letter.charCodeAt(0));
    for (;;) {
      const found = ids.slice(1).map((id, i) => numbers.get(key(ids[i], id)) ?? Infinity);
      const first = Math.min(...found);
      if (first === Infinity) return ids;
      const joined = [];
      for (let i = 0; i < ids.length; i++) joined.push(found[i] === first ? (i++, first) : ids[i]);
      ids = joined;
    }
  };
  const encode = (text) => {
    const letters = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
    return (letters.match(PIECES) ?? []).flatMap(apply);
  };
  const decode = (ids) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes(ids));
  const bytes = (ids) => Uint8Array.from(ids.flatMap((id) => tokens[id]));

  // A token as it is written on the page: a blank as ·, a new line as ¶; bytes that are no text by their numbers.
  const label = (id) => {
    const hex = (byte) => `\\x${byte.toString(16).padStart(2, "0")}`;
    const text = decode([id]);
    if (/\ufffd/.test(text)) return tokens[id].map(hex).join("");
    return text.replaceAll(" ", "·").replaceAll("\n", "¶").replace(/\p{C}/gu, (sign) => hex(sign.charCodeAt(0)));
  };
  return { tokens, encode, decode, label };
}
