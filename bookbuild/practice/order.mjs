// Whether lines of code can stand in an order: each name made before it is needed, each block opened before it is used.
// A page judges with it what a reader has put in order; the build finds with it the orders that `check` has to judge.

/** Return what is wrong with a line below those above it, "" where nothing is; `known` are the names made so far. */
export function fault(piece, above, known) {
  const line = above.length + 2; // the def line is the first
  const before = above.at(-1) ?? { indent: 0, opens: true };
  const blocks = open(above);
  if (before.opens && piece.indent !== before.indent + 4) return `line ${line - 1} opens a block, so an indented line must follow it.`;
  if (!before.opens && piece.indent > 4 && !blocks.some(({ indent }) => indent + 4 === piece.indent)) return `line ${line} is indented, and ${gone(piece, above)}.`;
  if (piece.goes_on && !blocks.some(({ branches, indent }) => branches && indent === piece.indent)) return `line ${line} goes on with a choice that no line above it begins.`;
  if (above.some(({ ends, indent }) => ends && indent === 4)) return `line ${line} is never reached: the function has returned.`;
  const missing = piece.needs?.find((name) => !known.has(name));
  return missing ? `line ${line} needs ${missing}, and no line above makes it.` : "";
}

/** Say where the block is in which an indented line could stand. */
function gone(piece, above) {
  const first = above.findLastIndex(({ opens, indent }) => opens && indent + 4 === piece.indent);
  return first < 0 ? "no line above it opens a block" : `the block that line ${first + 2} opens has ended above it`;
}

/** Return the headers whose blocks the last of these lines stands in. */
function open(above) {
  const found = [];
  let indent = above.at(-1)?.indent ?? 0;
  for (const line of [...above].reverse())
    if (line.opens && line.indent < indent) {
      found.push(line);
      ({ indent } = line);
    }
  return found;
}

/** Return which of the chosen lines is at fault, and what to say; an empty sentence where they are right. */
export function verdict({ pieces, made, count, failing }, chosen) {
  const known = new Set(made);
  const above = [];
  for (const [i, number] of chosen.entries()) {
    const piece = pieces[number];
    const sentence = fault(piece, above, known);
    if (sentence) return [i, sentence];
    for (const name of piece.makes ?? []) known.add(name);
    above.push(piece);
  }
  const stranger = chosen.findIndex((number) => pieces[number].wrong);
  if (stranger >= 0) return [stranger, pieces[chosen[stranger]].wrong];
  if (chosen.length < count) return [-1, chosen.length ? "every line that you have is right, and something is missing." : "move lines into the function first."];
  if (above.at(-1).opens) return [chosen.length - 1, `line ${chosen.length + 1} opens a block, and nothing stands in it.`];
  const wrong = failing.find(([order]) => order.join() === chosen.join());
  return [-1, wrong ? wrong[1] : ""];
}

/** Return every order of all pieces that has no fault, as lists of their places. */
export function orders({ pieces, made }) {
  const found = [];
  function goOn(order, known) {
    const above = order.map((i) => pieces[i]);
    if (order.length === pieces.length) return above.at(-1).opens || found.push(order);
    for (const [i, piece] of pieces.entries())
      if (!order.includes(i) && !fault(piece, above, known)) goOn([...order, i], new Set([...known, ...(piece.makes ?? [])]));
  }
  goOn([], new Set(made));
  return found;
}
