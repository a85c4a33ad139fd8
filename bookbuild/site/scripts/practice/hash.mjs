// Answers are not written out in a page: see bookbuild/site/answers.py.

/** Return the 32-bit FNV-1a hash of a text in base 36. */
export function hash(text) {
  let found = 2166136261;
  for (const byte of new TextEncoder().encode(text)) found = Math.imul(found ^ byte, 16777619);
  return (found >>> 0).toString(36);
}

/** Return the hashes of all numbers that are `x` but for a relative error, at place `i` of the answer called `name`. */
export function near(name, i, x, digits, error) {
  const start = `${name}:${digits}:${i}:`;
  if (Math.abs(x) < 1e-9) return new Set([hash(`${start}0`)]);
  const [mantissa, exponent] = Math.abs(x).toExponential(digits - 1).split("e");
  const whole = Number(mantissa.replace(".", ""));
  const reach = Math.round(error * whole);
  const found = new Set();
  for (let k = whole - reach; k <= whole + reach; k++) found.add(hash(`${start}${x < 0 ? "-" : ""}${k}e${exponent - digits + 1}`));
  return found;
}
