// What logits say of the next token: its odds, a token's rank, and which one is taken.
export { random } from "../../../../chapters/companion/explorables/shared/random.mjs";

/** Return the number of the largest, the first of equals: the token that is taken at temperature 0. */
export function likeliest(numbers) {
  let best = 0;
  for (let i = 1; i < numbers.length; i++) if (numbers[i] > numbers[best]) best = i;
  return best;
}

/** Return the share of each token, softmax(logits / temperature); at temperature 0 the likeliest has all. */
export function shares(logits, temperature = 1) {
  const found = new Float64Array(logits.length);
  const most = likeliest(logits);
  if (temperature === 0) {
    found[most] = 1;
    return found;
  }
  let sum = 0;
  for (let i = 0; i < found.length; i++) sum += found[i] = Math.exp((logits[i] - logits[most]) / temperature);
  return found.map((each) => each / sum);
}

/** Return how many others are as large or larger, as chapter 22 counts: 0 is the first, and ties count against it. */
export function rank(numbers, id) {
  let count = -1;
  for (let i = 0; i < numbers.length; i++) if (numbers[i] >= numbers[id]) count++;
  return count;
}

/** Return the numbers of the `count` largest, the largest first, of equals the smaller number first. */
export function first(numbers, count) {
  const found = [];
  for (let i = 0; i < numbers.length; i++) {
    if (found.length === count && numbers[i] <= numbers[found.at(-1)]) continue;
    let to = found.length;
    while (to && numbers[found[to - 1]] < numbers[i]) to--;
    found.splice(to, 0, i);
    found.length = Math.min(found.length, count);
  }
  return found;
}

/** Draw a token by its share; `next` is what `random(seed)` returns: numbers from 0 to 1, the same for the same seed. */
export function draw(some, next) {
  let [whole, sum] = [0, 0];
  for (const each of some) whole += each;
  const point = next() * whole;
  for (let id = 0; id < some.length; id++) if ((sum += some[id]) > point) return id;
  return likeliest(some); // rounding has left a little
}
