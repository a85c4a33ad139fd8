"""Train recurrent networks of the size of chapter 14's Transformer on its task, and write what each gets right.

`companion.evidence.recurrence.load_recurrence` reads the file.
"""

import numpy as np

from companion.evidence.recurrence import FILE, LENGTHS
from minitransformer.attention import attention_vjp
from minitransformer.gradients import cross_entropy
from minitransformer.masks import padding_mask
from minitransformer.tasks.reversals import END, WORDS, reversals
from minitransformer.training import train
from minitransformer.transformer import initialise, joined_gradients, parameter_count, parameter_views
from tools.measure import report, rounded, write_report

D, SEEDS, STEPS = 32, (0, 1, 2), 600
RATES = 1.3e-3, 4e-3, 1.2e-2, 3.6e-2, 0.11  # of which one is chosen with the first seed
KINDS = {  # what differs from the gated network, how many times as many steps, and the rates that are tried
    "gated": ({}, 1, RATES),
    "gated, attending": ({"h": 82, "attends": True}, 1, RATES),  # of equal size
    "plain": ({"h": 153, "gated": False}, 1, RATES),  # of equal size
    "gated, waiting": ({"wait": 12}, 1, RATES[2:4]),
    "gated, backwards": ({"backwards": True}, 1, RATES[2:4]),
    "gated, longer": ({}, 4, RATES[2:4]),
    "gated, wider": ({"h": 166}, 1, RATES[2:4]),
}


def plain_step(a, state, U):
    """Return the next state, and its backward pass: a, what the input gives, and state (batch, h), U (h, h)."""
    new = np.tanh(a + state @ U)

    def backward(d_new):
        d_a = d_new * (1 - new**2)
        return d_a, d_a @ U.T, state.T @ d_a

    return new, backward


def gated_step(a, state, U):
    """Return the next state of a gated recurrent unit, and its backward pass: a (batch, 3h), U (h, 3h)."""
    h, recalled = state.shape[1], state @ U
    gates = 1 / (1 + np.exp(-(a + recalled)[:, : 2 * h]))
    keep, reset = gates[:, :h], gates[:, h:]
    fresh = np.tanh(a[:, 2 * h :] + reset * recalled[:, 2 * h :])

    def backward(d_new):
        d_fresh = d_new * (1 - keep) * (1 - fresh**2)
        d_gates = np.hstack([d_new * (state - fresh), d_fresh * recalled[:, 2 * h :]]) * gates * (1 - gates)
        d_recalled = np.hstack([d_gates, d_fresh * reset])
        return np.hstack([d_gates, d_fresh]), d_new * keep + d_recalled @ U.T, state.T @ d_recalled

    return keep * state + (1 - keep) * fresh, backward


def run_vjp(x, state, params, step):
    """Return the states (batch, n, h) after each of x (batch, n, D), from one (batch, h) on, and the backward pass."""
    a, states, backs = x @ params["W"] + params["b"], [], []
    for t in range(x.shape[1]):
        state, back = step(a[:, t], state, params["U"])
        states.append(state)
        backs.append(back)

    def backward(d_states):
        d_a, d_state, d_U = np.empty_like(a), 0, np.zeros_like(params["U"])
        for t in reversed(range(x.shape[1])):  # back through time
            d_a[:, t], d_state, d_here = backs[t](d_states[:, t] + d_state)
            d_U += d_here
        return d_a @ params["W"].T, d_state, {"W": np.tensordot(x, d_a, 2 * [[0, 1]]), "U": d_U, "b": d_a.sum((0, 1))}

    return np.stack(states, axis=1), backward


class Recurrent:
    """A network that reads a row into one state, and writes from that: called as a `Transformer` is."""

    def __init__(self, rng, h=83, gated=True, wait=0, backwards=False, attends=False, dtype=np.float32):
        """Make the parameters: `wait` is how often END is read behind a row; `attends` adds the package's attention."""
        self.h, self.gated, self.wait, self.backwards, self.attends = h, gated, wait, backwards, attends
        side = {"W": (D, h * (1 + 2 * gated)), "U": (h, h * (1 + 2 * gated)), "b": (h * (1 + 2 * gated),)}
        sides = {"encoder": side, "decoder": side}
        self.shapes = {"embedding": (WORDS, D), **sides, "output": (h * (1 + attends), WORDS)}
        self.flat = np.zeros(parameter_count(self.shapes), dtype)
        self.params = parameter_views(self.flat, self.shapes)
        initialise(self.params, np.random.default_rng(rng))

    def __call__(self, source, target, lengths):
        """Return the logits."""
        return self.vjp(source, target, lengths)[0]

    def vjp(self, source, target, lengths, rng=None):
        """Return the logits and their backward pass."""
        params, step, rows = self.params, gated_step if self.gated else plain_step, np.arange(len(source))
        places, last = np.arange(source.shape[1] + self.wait), lengths - 1 + self.wait
        if self.backwards:
            source = np.take_along_axis(source, lengths[:, None] - 1 - np.arange(source.shape[1]), axis=1)
        source = np.where(places < lengths[:, None], np.pad(source, ((0, 0), (0, self.wait))), END)
        start = np.zeros((len(source), self.h), self.flat.dtype)
        read, back_read = run_vjp(params["embedding"][source], start, params["encoder"], step)
        written, back_write = run_vjp(params["embedding"][target], read[rows, last], params["decoder"], step)
        found = [written]
        if self.attends:
            (fetched, _), back_fetch = attention_vjp(written, read, read, padding_mask(lengths, source.shape[1]))
            found.append(fetched)
        found = np.concatenate(found, axis=-1)

        def backward(d_logits):
            d_found, d_read = d_logits @ params["output"].T, np.zeros_like(read)
            d_written = d_found[..., : self.h]
            if self.attends:
                d_queries, d_keys, d_values = back_fetch(d_found[..., self.h :])
                d_written, d_read = d_written + d_queries, d_keys + d_values
            d_target, d_last, d_decoder = back_write(d_written)
            d_read[rows, last] += d_last
            d_source, _, d_encoder = back_read(d_read)
            d_embedding = np.zeros_like(params["embedding"])
            np.add.at(d_embedding, source, d_source)
            np.add.at(d_embedding, target, d_target)
            found_by = {"embedding": d_embedding, "encoder": d_encoder, "decoder": d_decoder}
            return joined_gradients(self.shapes, [found_by, {"output": np.tensordot(found, d_logits, 2 * [[0, 1]])}])

        return found @ params["output"], backward


def trained(kind, rate, seed):
    """Return a model of this kind after its training at this rate, from this seed."""
    differs, times, _ = KINDS[kind]
    model = Recurrent(seed, **differs)
    train(model, lambda rng: reversals(rng, 64), times * STEPS, rate=rate, seed=seed)
    return model


def scores(model, seed):
    """Return the share of rows right for each of LENGTHS, and of 12 digits the share right at each place of the answer.

    Of the wrong digits in its middle also the shares that belong one place before or after, and four before or after.
    """
    rows = []
    for length in LENGTHS:
        arguments, said = reversals(np.random.default_rng(3000 + seed), 1000, length, length)
        answer = model(*arguments).argmax(axis=-1)
        rows.append((answer == said).all(axis=1).mean())
        if length == 12:
            right, wrong = answer == said, (answer != said)[:, 4:8]  # where there are four places on both sides
            shifted = {far: [answer[:, 4:8] == said[:, 4 + by : 8 + by] for by in (-far, far)] for far in (1, 4)}
            near = {f"{far} off": np.any(found, axis=0)[wrong].mean() for far, found in shifted.items() if wrong.any()}
    return {"rows": rows, "digits": [*right.mean(axis=0)[:12]], "wrong": int(wrong.sum()), **near}


def measured(kind):
    """Return the parameters, the best rate by the loss on held-out rows, the loss at each, and the scores by seed."""
    arguments, said = reversals(np.random.default_rng(2000), 500)
    first = {rate: trained(kind, rate, SEEDS[0]) for rate in KINDS[kind][2]}
    losses = {rate: cross_entropy(model(*arguments), said) for rate, model in first.items()}
    rate = min(losses, key=losses.get)
    models = [first[rate], *(trained(kind, rate, seed) for seed in SEEDS[1:])]
    runs = [scores(model, seed) for model, seed in zip(models, SEEDS)]
    return rounded({"parameters": models[0].flat.size, "rate": rate, "losses": [*losses.values()], "runs": runs})


def main():
    """Train every kind, and write the file."""
    about = f"Chapter 14's task after {STEPS} steps, or four times as many, from seeds {SEEDS}, at the best rate."
    write_report(FILE, report("recurrence", about, models={kind: measured(kind) for kind in KINDS}))
