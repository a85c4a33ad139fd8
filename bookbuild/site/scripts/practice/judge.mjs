// The verdict on numbers that are typed: that of `check`, by its tolerances (same and nearest in comparisons.py).

const RELATIVE = 1e-5; // of whole numbers, which nobody rounds, only what floating point makes of them
const RELATIVE_OF_WHOLE = 1e-9;
const ABSOLUTE = 1e-9;
const ROUNDED = "right to two digits: give six of them, or leave the calculation to the computer.";

const isWhole = (numbers) => numbers.every(Number.isInteger);
const distance = (numbers, others) => Math.max(...numbers.map((x, i) => Math.abs(x - others[i])));

function isSame(found, wanted) {
  const relative = isWhole(wanted) ? RELATIVE_OF_WHOLE : RELATIVE;
  return found.every((x, i) => Math.abs(x - wanted[i]) <= ABSOLUTE + relative * Math.abs(wanted[i]));
}

/** Return how far off numbers may be that are right to two digits: half a unit of the second one of the largest. */
function reach(wanted) {
  const largest = Math.max(...wanted.map(Math.abs));
  return isWhole(wanted) ? 0 : 10 ** (Math.floor(Math.log10(largest)) - 1) / 2;
}

/** Return the hint for what was typed, an empty one where it is right; the answers are [hint, numbers], the right one first. */
export function judge({ answers }, found) {
  const fitting = answers.filter(([, wanted]) => wanted.length === found.length);
  const same = fitting.find(([, wanted]) => isSame(found, wanted));
  if (same) return same[0];
  const near = fitting.map(([hint, wanted]) => [hint, distance(found, wanted), reach(wanted)]).filter(([, off, most]) => off <= most);
  if (near.length) return near.reduce((best, one) => (one[1] < best[1] ? one : best))[0] || ROUNDED;
  return `not yet: you have ${found.length > 1 ? `[${found.join(", ")}]` : found[0]}.`;
}

/** Tell whether a whole number is asked for, so that a comma can only part its thousands. */
export const asksForWhole = ({ answers }) => isWhole(answers[0][1]);
