// The random numbers of NumPy: `random(seed)` returns a function that gives what default_rng(seed).random() gives, one
// after another, for a whole number below 2³².  SeedSequence (O'Neill 2015) seeds PCG64 (O'Neill 2014).
const WORDS = 4; // of 32 bits, in the pool of a seed
const FACTOR = 0x2360ed051fc65da44385df649fccf645n;
const FIRST = { start: 0x43b0d7e5, factor: 0x931e8875 }; // of hashes that fill the pool, and of those that read it
const SECOND = { start: 0x8b51f9dd, factor: 0x58f38ded };

const folded = (word) => (word ^ (word >>> 16)) >>> 0;

// A hash that is another one each time that it is used.
function hasher({ start, factor }) {
  let now = start;
  return (word) => {
    const mixed = word ^ now;
    now = Math.imul(now, factor);
    return folded(Math.imul(mixed, now));
  };
}

// Eight words of 32 bits from a seed.
function spread(seed) {
  const fill = hasher(FIRST);
  const pool = Array.from({ length: WORDS }, (_, i) => fill(i ? 0 : seed));
  const mix = (one, two) => folded(Math.imul(0xca01f9dd, one) - Math.imul(0x4973f715, two));
  for (let from = 0; from < WORDS; from++) {
    for (let to = 0; to < WORDS; to++) if (to !== from) pool[to] = mix(pool[to], fill(pool[from]));
  }
  const read = hasher(SECOND);
  return Array.from({ length: 2 * WORDS }, (_, i) => read(pool[i % WORDS]));
}

export function random(seed) {
  const words = spread(seed).map(BigInt);
  const long = (i) => words[i] | (words[i + 1] << 32n);
  const increment = BigInt.asUintN(128, (((long(4) << 64n) | long(6)) << 1n) | 1n);
  const step = (state) => BigInt.asUintN(128, state * FACTOR + increment);
  let state = step(increment + ((long(0) << 64n) | long(2)));
  return () => {
    state = step(state);
    const [mixed, turn] = [BigInt.asUintN(64, state ^ (state >> 64n)), state >> 122n];
    const turned = BigInt.asUintN(64, (mixed >> turn) | (mixed << (64n - turn)));
    return Number(turned >> 11n) / 2 ** 53;
  };
}
