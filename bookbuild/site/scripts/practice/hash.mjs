// A short name for a text, such as that under which a prediction is kept.

/** Return the 32-bit FNV-1a hash of a text in base 36. */
export function hash(text) {
  let found = 2166136261;
  for (const byte of new TextEncoder().encode(text)) found = Math.imul(found ^ byte, 16777619);
  return (found >>> 0).toString(36);
}
