// The decoder-only model of chapter 12, token by token: pre-norm, rotary positions, gelu.
import { add, attend, cutter, normal, scores, times, widened } from "./transformer.mjs";

// Cut a model's numbers into its parameters; `window` is how many tokens each sees, itself among them.
export function modelled(numbers, { d, heads, layers, tied, vocabulary, window, hidden }) {
  const cut = cutter(numbers, { d, hidden });
  const model = { d, heads, window, target: cut.take(vocabulary * d) };
  model.decoder = cut.layers(layers, () => ({ attention: cut.attention(), wide: cut.wide() }));
  model.last = cut.norm();
  if (!tied) model.output = cut.take(d * vocabulary);
  return model;
}

// Turn each pair of features of every head by an angle that grows with the position t.
function turned(x, t, heads) {
  const width = x.length / heads;
  const found = new Float64Array(x.length);
  for (let i = 0; i < x.length; i += 2) {
    const angle = t / 10000 ** ((i % width) / width);
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    found[i] = x[i] * cos - x[i + 1] * sin;
    found[i + 1] = x[i] * sin + x[i + 1] * cos;
  }
  return found;
}

// What reads tokens one by one, and keeps its keys and values: `read(id)` reads one more, `back(count)` forgets all but
// so many; logits[t] are those of what comes behind token t.
export function reader(model) {
  const { d, heads, window } = model;
  const [ids, logits] = [[], []];
  const kept = model.decoder.map(() => ({ keys: [], values: [] }));
  const read = (id) => {
    const t = ids.push(id) - 1;
    let x = Float64Array.from(model.target.subarray(id * d, (id + 1) * d), (value) => value * Math.sqrt(d));
    model.decoder.forEach(({ attention, wide }, l) => {
      const [inside, { keys, values }] = [normal(x, attention), kept[l]];
      keys.push(turned(times(inside, attention.K), t, heads));
      values.push(times(inside, attention.V));
      const query = turned(times(inside, attention.Q), t, heads);
      const { output } = attend(query, keys.slice(-window), values.slice(-window), heads);
      x = add(x, times(output, attention.O));
      x = add(x, widened(normal(x, wide), wide));
    });
    logits.push(scores(model, normal(x, model.last)));
  };
  const back = (count) => [ids, logits, ...kept.flatMap(Object.values)].forEach((each) => (each.length = count));
  return { ids, logits, read, back };
}
