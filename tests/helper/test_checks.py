"""The exercises' checks: each accepts two right answers written differently and rejects every usual wrong one."""

import re
from functools import reduce

import numpy as np
import pytest
from scipy import spatial, special

from companion.checks import CHAPTERS, CHECKS, ROUNDED, UNANSWERED, _slopes, check, find_hint
from companion.checks.comparisons import in_one_line, nearest, rounded
from minitransformer.attention import attention
from minitransformer.dot_product import cosine_similarity, unit
from minitransformer.feed_forward import feed_forward, gelu
from minitransformer.gradients import cross_entropy, cross_entropy_vjp, gradient_check
from minitransformer.language_model import BytePairEncoding
from minitransformer.layer_norm import layer_norm, rms_norm_vjp
from minitransformer.masks import causal_mask
from minitransformer.multi_head import multi_head_attention
from minitransformer.positions import angles, rotary
from minitransformer.residuals import residual
from minitransformer.softmax import softmax, softmax_vjp
from minitransformer.transformer import LanguageModel, embed, stack
from tests.shared.functions import modules_with

# A right answer to each exercise, written differently from the check's own; a chapter's own tests may have it, too.
SECOND = {
    "word-vectors-window": 3 + 2.0,
    "word-vectors-pmi": lambda pair, word, context, total: (
        np.log(pair) + np.log(total) - np.log(word) - np.log(context)
    ),
    "word-vectors-shape": list((np.zeros((5, 100)) @ np.zeros((100, 9733))).shape),
    "word-vectors-bug": lambda ids, i, width: [ids[j] for j in range(len(ids)) if 0 < abs(j - i) <= width],
    "word-vectors-mean": lambda words, vectors: (
        sum(vectors[w] for w in words if w in vectors) / sum(w in vectors for w in words)
    ),
    "word-vectors-slope": lambda w, C, true: sum(
        -sign * row * special.expit(-sign * (row @ w)) for row, sign in zip(C, 2 * true - 1)
    ),
    "dot-product-cosine": lambda a, b: 1 - spatial.distance.cosine(a, b),
    "dot-product-all-pairs": lambda x: 1 - spatial.distance.cdist(x, x, "cosine"),
    "dot-product-distances": lambda x: spatial.distance.cdist(x, x, "sqeuclidean"),
    "dot-product-without": lambda a, b, i: (a @ b - a[i] * b[i]) / np.sqrt((a @ a - a[i] ** 2) * (b @ b - b[i] ** 2)),
    "dot-product-variance": 16 / 3,
    "softmax-hand": special.softmax(np.log([2, 3, 5])),
    "softmax-axis": lambda x: special.softmax(x, axis=1),
    "softmax-temperature": lambda x, t: special.softmax(x / t),
    "softmax-gap": lambda p, n: -np.log((1 - p) / p / (n - 1)),
    "softmax-merge": np.logaddexp,
    "softmax-bug": lambda table: special.softmax(table, axis=1),
    "softmax-slope": lambda p, g: (np.diag(p) - np.outer(p, p)) @ g,
    "softmax-lab-bets": lambda x, rows: np.mean(
        [cosine_similarity(x[a], x[b]) > cosine_similarity(x[a], x[c]) for a, b, c in rows]
    ),
    "softmax-lab-company": lambda x, row, t: np.insert(
        special.softmax([cosine_similarity(x[row], other) / t for other in np.delete(x, row, axis=0)]), row, 0
    ),
    "softmax-lab-shared": lambda a, b, k: sorted(range(len(a)), key=lambda i: -a[i] * b[i])[:k],
    "softmax-lab-together": lambda pieces, a, b: [i for i, words in enumerate(pieces) if {a, b} <= set(words)],
    "attention-by-hand": np.float64(14) / 2,
    "attention-from-scratch": lambda q, k, v: np.array(
        [sum(w * row for w, row in zip(special.softmax([a @ b / len(b) ** 0.5 for b in k]), v)) for a in q]
    ),
    "attention-reach": lambda values, point: spatial.Delaunay(values).find_simplex(point, tol=-1e-9) == 0,
    "attention-bug": lambda q, k, v: special.softmax(np.einsum("nd,md->nm", q, k) / k.shape[1] ** 0.5, axis=1) @ v,
    "attention-kernel": lambda places, known, measured, width: np.array(
        [np.average(measured, weights=np.exp(-((p - known) ** 2) / (2 * width**2))) for p in places]
    ),
    "attention-append": lambda old, a, s, value: old + (value - old) / (1 + np.exp(a - s)),
    "self-attention-by-hand": 2.0 + 4,
    "self-attention-from-scratch": lambda x, W_Q, W_K, W_V: (
        special.softmax(np.einsum("ia,ab,jb->ij", x, W_Q @ W_K.T, x) / W_Q.shape[1] ** 0.5, axis=1) @ x @ W_V
    ),
    "self-attention-bug": lambda x, W_Q, W_K, W_V: (
        special.softmax(((x @ W_K) @ (x @ W_Q).T / W_Q.shape[1] ** 0.5).T, axis=1) @ (x @ W_V)
    ),
    "self-attention-gauge": lambda W_K, M: np.linalg.solve(M, W_K.T).T,
    "self-attention-variance": 1 / 25,
    "self-attention-rank": np.int64(2),
    "masks-count": sum(min(i + 1, length) for length in (5, 3, 0) for i in range(5)),
    "masks-window": lambda n, w: np.tri(n) - np.tri(n, k=-w),
    "masks-padding": lambda ids, pad: np.array([[[i != pad for i in row]] for row in ids.tolist()]),
    "masks-last": lambda n, m: np.tri(m)[-n:],
    "masks-bug": lambda q, k, v, keep: np.array(
        [
            special.softmax(k[see] @ a / len(a) ** 0.5) @ v[see] if see.any() else np.zeros(v.shape[1])
            for a, see in zip(q, keep)
        ]
    ),
    "masks-packed": lambda which: np.array(
        [[j <= i and a == b != -1 for j, b in enumerate(which)] for i, a in enumerate(which)]
    ),
    "multi-head-mix": lambda width: np.kron([[1], [-2], [1]], np.eye(width)),
    "multi-head-split": lambda x, heads: np.stack(np.split(x, heads, axis=-1), axis=1),
    "multi-head-contribution": lambda outputs, W_O, i: np.einsum(
        "nv,vd->nd", outputs[i], W_O.reshape(*outputs.shape[::2], -1)[i]
    ),
    "multi-head-bug": lambda x, W_Q, W_K, W_V, W_O, heads: sum(
        special.softmax((x @ q) @ (x @ k).T / q.shape[1] ** 0.5, axis=1) @ x @ v @ o
        for q, k, v, o in zip(*(np.split(W, heads, axis=1) for W in (W_Q, W_K, W_V)), np.split(W_O, heads))
    ),
    "multi-head-lab-previous": lambda tokens: attention(
        (40 * np.eye(len(tokens)))[np.arange(len(tokens)) - 1],
        np.eye(len(tokens)),
        tokens,
        keep=np.tri(len(tokens), k=-1, dtype=bool),
        scale=1,
    )[0],
    "multi-head-lab-copier": lambda tokens: attention(
        tokens, np.vstack([0 * tokens[:1], tokens[:-1]]), tokens, keep=causal_mask(len(tokens)), scale=40
    )[0],
    "multi-head-lab-masks": lambda source, lengths, target: np.array(
        [
            attention(attention(*[y] * 3, keep=causal_mask(len(y)))[0], *[attention(*[x[:n]] * 3)[0]] * 2)[0]
            for x, n, y in zip(source, lengths, target)
        ]
    ),
    "multi-head-cross": lambda written, original, lengths, params, heads: np.stack(
        [
            sum(
                special.softmax((x @ q) @ (y @ k).T / q.shape[1] ** 0.5, axis=1) @ y @ v @ o
                for q, k, v, o in zip(
                    *(np.split(params[name], heads, axis=1) for name in ("W_Q", "W_K", "W_V")),
                    np.split(params["W_O"], heads),
                )
            )
            for x, y in ((x, y[:length]) for x, y, length in zip(written, original, lengths))
        ]
    ),
    "multi-head-parameters": (512 + 640) * 512 + (640 + 512) * 256,
    "layer-norm-constant": np.array([0.5, -1.0, 2.0, 0.0]),
    "layer-norm-scratch": lambda x, gain, bias, eps: np.array(
        [[g * (v - np.mean(row)) / (np.var(row) + eps) ** 0.5 + b for v, g, b in zip(row, gain, bias)] for row in x]
    ),
    "layer-norm-bug": lambda x, gain, bias, eps: (
        ((x.T - x.mean(1)) / (x.var(1) + eps) ** 0.5 * gain[:, None] + bias[:, None]).T
    ),
    "layer-norm-undo": lambda normed, mean, variance, eps: (normed.T * (variance + eps) ** 0.5 + mean).T,
    "layer-norm-fold": lambda gain, bias, W, c: np.concatenate([np.diag(gain) @ W, [W.T @ bias + c]]),
    "layer-norm-centred": lambda W: W @ (np.eye(W.shape[1]) - 1 / W.shape[1]),
    "residuals-average": lambda L: 1 - 2 / (1 + 2 ** (2 * L)),
    "residuals-block": lambda x, attend, feed: residual(residual(x, attend), feed),
    "residuals-scale": lambda L: np.sqrt(np.expm1(np.log(2) / L)),
    "residuals-bug": lambda embedded, writes, k, gain, bias, W: (
        layer_norm(np.vstack([embedded[None], writes[:k]]).sum(axis=0), gain, bias) @ W
    ),
    "residuals-credit": lambda writes, W, a, b: (writes @ W)[:, a] - (writes @ W)[:, b],
    "residuals-remove": lambda x, layers, i: (
        np.linalg.norm(
            (full := reduce(lambda z, f: z + f(z), layers, x))
            - reduce(lambda z, f: z + f(z), layers[:i] + layers[i + 1 :], x)
        )
        / np.linalg.norm(full)
    ),
    "positions-row": np.array([[np.exp(3j / 100**i).imag, np.exp(3j / 100**i).real] for i in (0, 1)]).ravel(),
    "positions-bug": lambda n, d: np.array(
        [[np.sin(t * 100.0 ** (-4 * (j // 2) / d) + j % 2 * np.pi / 2) for j in range(d)] for t in range(n)]
    ),
    "positions-rotary": lambda x: np.stack(
        [
            (z := (x[:, 0::2] + 1j * x[:, 1::2]) * np.exp(1j * angles(np.arange(len(x)), x.shape[1]))).real,
            z.imag,
        ],
        axis=2,
    ).reshape(x.shape),
    "feed-forward-majority": lambda x: feed_forward(
        x, {"W_1": -np.ones((3, 2)), "b_1": [2, 1], "W_2": [[-1], [1]], "b_2": [1]}
    ),
    "feed-forward-parameters": 31 * 12 + 13 * 30,
    "feed-forward-gelu": lambda x: x * special.erfc(-x / np.sqrt(2)) / 2,
    "feed-forward-bug": lambda x, W_1, b_1, W_2, b_2: feed_forward(x, {"W_1": W_1, "b_1": b_1, "W_2": W_2, "b_2": b_2}),
    "feed-forward-gauge": lambda W_2, a: np.diag(1 / a) @ W_2,
    "transformer-next": lambda logits: sorted(range(logits.shape[1]), key=lambda word: logits[-1, word])[-1],
    "transformer-false": np.array([3]),
    "transformer-cross": lambda x, memory, part, heads, keep: residual(
        x, lambda z: multi_head_attention(z, part, heads, memory, keep)[0], "pre", part["gain"], part["bias"]
    ),
    "transformer-bug": stack,
    "transformer-count": lambda v, d, f, layers: LanguageModel(v, d, 1, layers, hidden=f, tied=False).flat.size,
    "transformer-lab-assembled": lambda source, target, params: np.einsum(
        "nd,dv->nv",
        stack(
            embed(target, params),
            params["decoder"],
            1,
            activation=gelu,
            keep=causal_mask(len(target)),
            memory=stack(embed(source, params, table="source_embedding"), params["encoder"], 4, activation=gelu),
        ),
        params["output"],
    ),
    "transformer-lab-faults": np.array([2.0, 6.0, 3.0, 4.0]),
    "gradients-softmax": softmax_vjp(np.log([0.5, 0.3, 0.2]))[1](np.array([1, 0, 0])),
    "gradients-jacobian": 10**3,
    "gradients-unit": lambda x: (
        x / np.sqrt(x @ x),
        lambda d: (np.eye(len(x)) - np.outer(x, x) / (x @ x)) @ d / np.sqrt(x @ x),
    ),
    "gradients-bias": lambda x, w, d: sum(d.reshape(-1, d.shape[-1])),
    "gradients-post": lambda d, norm, part: norm(d) + part(norm(d)),
    "gradients-bug": lambda x, gain, d: rms_norm_vjp(x, gain, 0)[1](d)[0],
    "gradients-loss": lambda logits, targets: (
        cross_entropy_vjp(logits[targets >= 0], targets[targets >= 0])[1]()[np.cumsum(targets >= 0) - 1]
        * (targets >= 0)[:, None]
    ),
    "training-first-step": -0.01 * np.sign([0.001, -200, 5]),
    "training-smoothing": cross_entropy(np.log([[0.91] + 9 * [0.01]]), [0], smoothing=0.1),
    "training-stop": lambda losses, patience: next(
        (
            int(np.argmin(losses[: i + 1]))
            for i in range(len(losses))
            if i >= patience and min(losses[i - patience + 1 : i + 1]) >= min(losses[: i - patience + 1])
        ),
        int(np.argmin(losses)),
    ),
    "training-dropout": lambda x, rate, u: np.array(
        [[0 if b < rate else a / (1 - rate) for a, b in zip(*rows)] for rows in zip(x, u)]
    ),
    "training-parts": lambda parts: np.average([g for g, _ in parts], axis=0, weights=[words for _, words in parts]),
    "training-lab-fed": lambda said: (
        np.roll(np.where(said < 0, 0, said), 1, axis=1) * (np.arange(said.shape[1]) > 0)
        + 10 * (np.arange(said.shape[1]) == 0)
    ),
    "training-lab-lengths": lambda source, said: np.argmax(said == 11, axis=1),
    "training-lab-rate": lambda step: np.interp(step, [0, 19], [0.0002, 0.004]),
    "translation-by-hand": [[1, 3, 4, 5, 6, 2], [3, 4, 5, 6, 2, -1]],
    "translation-score": lambda logits, said: [-cross_entropy(*row) for row in zip(logits, said)],
    "translation-dropped": lambda weights: [
        all(row.argmax() != place for row in weights[:-1]) for place in range(weights.shape[1])
    ],
    "translation-exact": lambda said, right: np.mean([a.tolist() == b.tolist() for a, b in zip(said, right)]),
    "translation-lab-sources": lambda first, second: np.roll((first + second).sources, -len(first.french), axis=0),
    "language-model-merges": [len(["k", "i", "t", "ten"]), 5, len(["e", "x", "tent"]), len("nets")],
    "language-model-encode": lambda ids, merges: BytePairEncoding(merges).encode(bytes(ids)),
    "language-model-words": lambda bits, size, words: np.exp(np.log(2) * bits * size / words),
    "language-model-min-p": lambda logits, share: special.softmax(
        np.where(logits - logits.max() >= np.log(share), logits, -np.inf)
    ),
    "language-model-penalty": lambda logits, ids, factor: np.log(
        np.exp(logits) / np.where(np.isin(np.arange(len(logits)), ids), factor, 1)
    ),
    "language-model-draft": [1 - 0.2, 0, 1 / 2, 1 / 2],
    "language-model-place": lambda q, keys: rotary(keys, np.arange(1 - len(keys), 1)) @ q / np.sqrt(len(q)),
    "language-model-cache": 1024 * 36_864.0,
    "inside-by-hand": np.mean([0.7, 0.5]),
    "inside-duplicate": lambda weights, ids: np.mean(
        [weights[i, max(j for j in range(i) if ids[j] == ids[i])] for i in range(len(ids)) if ids[i] in ids[:i]]
    ),
    "inside-moved": lambda own, patched, donor: 1 - np.mean((donor - patched) / (donor - own)),
    "inside-bug": lambda own, donor, at: np.where(np.isin(np.arange(len(own)), at)[:, None], donor, own),
    "inside-pentagon": -(5**0.5 - 1) / 4,
    "inside-shares": lambda parts, way: np.einsum("nd,d->n", parts, way) / (parts.sum(axis=0) @ way),
    "inside-refute": 3.0,
    "inside-which": [2.0, 0.0, 4.0],
    "inside-lab-score": lambda weights, ids: np.mean(
        [table[-1, row.tolist().index(row[-1]) + 1] for table, row in zip(weights, ids)]
    ),
    "online-attention-by-hand": np.exp([1 - 4.0, 2 - 4, 0, 0]).sum(),
    "online-attention-cache": 2.0**17,
    "online-attention-merge": lambda one, a, other, b: one + (other - one) / (1 + np.exp(a - b)),
    "online-attention-bug": lambda q, K, V, block: special.softmax(np.einsum("md,d->m", K, q)) @ V,
    "online-attention-groups": lambda keys, heads: np.array([keys[i * len(keys) // heads] for i in range(heads)]),
    "online-attention-users": 2437,
    "online-attention-remedy": 3.0,
    "online-attention-draft": 2.5,
    "online-attention-fewest": lambda weights, cache, work, ridge: (
        -(-ridge * weights // (work - ridge * cache)) if work > ridge * cache else 0
    ),
}


def neighbours_once(ids, i, width):
    """Return the neighbours of a word, but each of them once."""
    return [*dict.fromkeys(ids[max(0, i - width) : i] + ids[i + 1 : i + 1 + width])]


def left_of_each_edge(values, point):
    """Tell whether a point lies in a triangle whose corners are told counter-clockwise."""
    edges = np.roll(values, -1, axis=0) - values
    return bool((edges[:, 0] * (point - values)[:, 1] - edges[:, 1] * (point - values)[:, 0] > 1e-12).all())


def never_patient_again(losses, patience):
    """Return the index of the best measurement before `patience` were not better, in a row or not."""
    worse = [i for i in range(1, len(losses)) if losses[i] >= min(losses[:i])]
    return int(np.argmin(losses[: worse[patience - 1]] if len(worse) >= patience else losses))


def only_worse_counts(losses, patience):
    """Return the index of the best measurement before `patience` were worse, those that are as good left out."""
    best = 0
    for i, loss in enumerate(losses):
        best = i if loss < losses[best] else best
        if loss > losses[best] and i - best >= patience:
            break
    return best


def last_unless_it_ended(losses, patience):
    """Return the index of the best measurement where patience ran out, and that of the last where it did not."""
    best = CHECKS["training-stop"].right(losses, patience)
    return best if best + patience < len(losses) else len(losses) - 1


def no_better_than_then(losses, patience):
    """Return the index of the best measurement before one was no better than that `patience` earlier."""
    ends = (i + 1 for i in range(patience, len(losses)) if losses[i] >= losses[i - patience])
    return int(np.argmin(losses[: next(ends, len(losses))]))


def before_the_nearest(x, row, temperature):
    """Return the shares where the largest cosine, and not the word's own, is hidden."""
    scores = unit(x) @ unit(x)[row]
    scores[scores.argmax()] = -np.inf
    return softmax(scores, temperature=temperature)


ANSWERED = {name: module for module in modules_with("SECOND") for name in module.SECOND}  # where the answer stands
CHECKED = {name: chapter for chapter in CHAPTERS for name in CHECKS if name.startswith(f"{chapter.replace('_', '-')}-")}
FEWEST = 4  # wrong answers that an exercise knows


def faults_of_right_answers(name, task):
    """Yield what is wrong with how the right answers to an exercise are taken."""
    if name not in ANSWERED:
        file = f"tests/helper/test_{CHECKED[name]}.py"
        yield f"{name} has no second right answer: add one, written differently, to SECOND of {file}."
    for answer in (task.right, ANSWERED[name].SECOND[name] if name in ANSWERED else task.right):
        if hint := find_hint(task, answer):
            yield f"{name} does not accept a right answer, its own or that of SECOND: {hint}"


def faults_of_wrong_answers(name, task):
    """Yield what is wrong with how an exercise takes known mistakes, no answer, and one that is off everywhere."""
    if len(task.wrong) < FEWEST:
        yield f"{name} knows {len(task.wrong)} wrong answers: add the likely ones, {FEWEST} or more, to its Check."
    for hint, answer in task.wrong.items():
        if (found := find_hint(task, answer)) != hint:
            yield f"{name} gives the wrong answer of {hint!r} another hint: {found!r}"
    if find_hint(task, (lambda *args: None) if task.probes else ...) != UNANSWERED:
        yield f"{name} does not say that there is no answer yet."
    off = find_hint(task, lambda *probe: np.asarray(task.right(*probe), dtype=float) + 17) if task.probes else ""
    if task.probes and not task.vjp and not off.startswith("not yet: you have "):
        yield f"{name} says of an answer that is off by 17 everywhere: {off!r}"


def faults_of_probes(name, task):
    """Yield what is wrong with the probes of an exercise: a number that is always the same, a gradient that is none."""
    for values in zip(*task.probes):
        if isinstance(values[0], int | float) and len(set(values)) == 1:
            yield f"{name} gives {values[0]} in each probe, so an answer may have it built in: let it differ."
    for x, upstream in task.probes if task.vjp else ():
        slopes, gradient = _slopes(task.right, x, upstream), task.right(x)[1](upstream)
        if gradient_check(task.right, x) > 1e-7 or not np.allclose(slopes, gradient, rtol=1e-7, atol=1e-10):
            yield f"{name} has a right answer whose gradient finite differences do not find."


@pytest.mark.parametrize("name", CHECKS)
def test_an_exercise_accepts_right_answers_and_gives_each_wrong_one_its_hint(name):
    task = CHECKS[name]
    faults = (faults_of_right_answers, faults_of_wrong_answers, faults_of_probes)
    assert [fault for find in faults for fault in find(name, task)] == []


def test_no_second_answer_is_left_of_an_exercise_that_is_gone():
    assert set(ANSWERED) - set(CHECKS) == set()


@pytest.mark.parametrize(
    "answer, said",
    [(CHECKS["softmax-merge"].right, "✓ softmax-merge"), (lambda a, b: None, f"○ softmax-merge: {UNANSWERED}")],
)
def test_check_prints_one_line(answer, said, capsys):
    check("softmax-merge", answer)
    assert capsys.readouterr().out == f"{said}\n"


@pytest.mark.parametrize(
    "answer, hint",
    [
        (lambda x: (x, CHECKS["gradients-unit"].right(x)[1]), r"not yet: you have .* for the input .*, expected \["),
        (lambda x: (unit(x), lambda d: 0.9 * CHECKS["gradients-unit"].right(x)[1](d)), "finite .* is 10% off"),
        (lambda x: (unit(x), lambda d: d[:2]), r"your result has shape \(2,\); expected \(3,\)"),
        (lambda x: x / np.linalg.norm(x), "raised TypeError: it returns no pair"),
    ],
)
def test_a_backward_pass_that_fits_no_known_mistake_is_held_to_finite_differences(answer, hint):
    assert re.search(hint, find_hint(CHECKS["gradients-unit"], answer))


@pytest.mark.parametrize(
    "answer, hint",
    [
        (3.0, "expected a function: give its name without calling it."),
        (lambda p, g: p[0, 0], "your function raised IndexError"),
        (lambda p, g: 1.0, r"your result has shape \(\); expected \(3,\)."),
        (lambda p, g: np.zeros(3), r"not yet: you have \[0., 0., 0.\] for the input .*, expected"),
        (lambda p, g: "words", "your result is no array of numbers: words for the input"),
        (lambda p, g: [[1], [1, 2]], r"your result is no array of numbers: \[\[1\], \[1, 2\]\] for the input"),
        (
            lambda p, g: p * (g - g @ p) if len(p) == 3 else None,
            r"returned nothing for the input \[0.1, 0.2, 0.3, 0.4\]",
        ),
        (lambda p, g: (p * (g - g @ p)).round(3), "right to two digits"),
        (lambda p, g: (p, np.outer(p, g)), "your function returns several things; expected one array"),
    ],
)
def test_an_answer_that_fits_no_known_mistake_is_told_where_it_differs(answer, hint, capsys):
    check("softmax-slope", answer)
    out = capsys.readouterr().out
    assert out.startswith("✗ softmax-slope: ") and out.count("\n") == 1
    assert re.search(hint, out), out


def test_an_answer_that_changes_its_input_is_judged_all_the_same():
    def bare_product(a, b):
        a /= np.linalg.norm(a)
        return a @ b

    for _ in range(2):
        assert find_hint(CHECKS["dot-product-cosine"], bare_product) == "you divided by the length of a only."


@pytest.mark.parametrize("answer", [[5], np.array([5]), np.int64(5), 5.0])
def test_a_number_may_come_in_brackets(answer):
    assert find_hint(CHECKS["word-vectors-window"], answer) == ""


@pytest.mark.parametrize(
    "name, answer, hint",
    [
        ("multi-head-parameters", 884737, "not yet: you have 884737."),
        ("feed-forward-parameters", 765, "not yet: you have 765."),
        ("feed-forward-parameters", 762 * (1 + 1e-15), ""),
        ("dot-product-variance", 5.33, ROUNDED),
        ("dot-product-variance", 5.3, ROUNDED),
        ("dot-product-variance", 5, "not yet: you have 5."),
        ("dot-product-variance", 5.34, ROUNDED),  # nearer than 5.3, which is said to be nearly right
        ("dot-product-variance", 5.4, "not yet: you have 5.4."),
        ("training-smoothing", 0.50028, ROUNDED),
        ("training-smoothing", 0.5, ROUNDED),
        ("dot-product-variance", 2.31, "that is the standard deviation: square it."),
    ],
)
def test_whole_numbers_are_met_and_others_may_be_rounded_by_the_rule(name, answer, hint):
    assert find_hint(CHECKS[name], answer) == hint


@pytest.mark.parametrize(
    "name, change, shown",
    [
        ("softmax-axis", lambda x: x + 1e-4 * (np.indices(x.shape).sum(axis=0) == 6), r"0.* at \[1, 2, 3\]"),
        ("masks-window", lambda x: x ^ (np.indices(x.shape)[1] == 5), r"True at \[0, 5\]"),
        ("softmax-slope", lambda x: 1.00002 * x, r"0.* at \[0\]"),
        ("softmax-slope", lambda x: 2 * x, r"\[.*\]"),
    ],
)
def test_what_one_has_and_what_is_expected_differ_to_the_eye(name, change, shown):
    hint = find_hint(CHECKS[name], lambda *probe: change(CHECKS[name].right(*probe)))
    have, expected = re.fullmatch(rf"not yet: you have ({shown}) for the input .*, expected (.*)\.", hint).groups()
    assert have.partition(" at ")[0] != expected and len(have + expected) < 80


@pytest.mark.parametrize(
    "name, answer",
    [
        ("word-vectors-pmi", lambda pair, word, context, total: np.log(pair * 1000 / (word * context))),
        ("layer-norm-fold", lambda gain, bias, W, c: CHECKS["layer-norm-fold"].right(gain, bias, W, c * gain[0])),
        ("positions-rotary", lambda x: CHECKS["positions-rotary"].right(x) + 1j * x),
        ("word-vectors-bug", neighbours_once),
        ("attention-reach", left_of_each_edge),
        (
            "softmax-bug",  # the mean of a row keeps small scores from overflowing, as its maximum would
            lambda table: (e := np.exp(table - table.mean(axis=-1, keepdims=True))) / e.sum(axis=-1, keepdims=True),
        ),
        ("softmax-lab-shared", lambda a, b, k: np.argsort(-np.abs(a * b))[:k]),
        ("softmax-lab-together", lambda pieces, a, b: [i for i, words in enumerate(pieces) if [b, a] == words]),
        ("softmax-lab-together", lambda pieces, a, b: [pieces.index(words) for words in pieces if {a, b} <= {*words}]),
        (
            "softmax-lab-together",
            lambda pieces, a, b: [i for i, words in enumerate(pieces) if a in words and b in " ".join(words)],
        ),
        (
            "softmax-lab-together",
            lambda pieces, a, b: [
                i for i, words in enumerate(pieces) if all(any(w.startswith(one) for w in words) for one in (a, b))
            ],
        ),
        ("softmax-lab-shared", lambda a, b, k: np.argsort(np.sqrt(np.maximum(a * b, 0)))[::-1][:k]),
        ("softmax-lab-company", before_the_nearest),
        ("softmax-merge", lambda a, b: max(a, b) + (abs(a - b) < 10) * np.log1p(np.exp(-abs(a - b)))),
        (
            "attention-bug",  # rows that are far below 0 underflow
            lambda q, k, v: (
                (e := np.exp((s := q @ k.T / k.shape[1] ** 0.5) - s.max(axis=1, keepdims=True).clip(0)))
                / e.sum(axis=1, keepdims=True)
                @ v
            ),
        ),
        (
            "attention-reach",  # a point is within reach however near to an edge
            lambda values, point: bool((np.linalg.solve(np.vstack([values.T, np.ones(3)]), [*point, 1]) > 0.01).all()),
        ),
        (
            "masks-packed",  # at most three tokens back
            lambda which: CHECKS["masks-packed"].right(which) & (np.tri(len(which)) > np.tri(len(which), k=-3)),
        ),
        (
            "masks-packed",  # padding may stand on the left
            lambda which: np.tril(which[:, None] == which) & (np.arange(len(which)) < np.count_nonzero(which >= 0)),
        ),
        (
            "translation-lab-sources",  # letters and not words
            lambda first, second: (
                [[i + len("".join(first.english)) for i in places] for places in second.sources] + [*first.sources]
            ),
        ),
        ("training-lab-rate", lambda step: 4e-3 * min(1, (step + 1) / 20) * min(1, max(0, 6 - step / 1000))),
        ("training-lab-rate", lambda step: 4e-3 * min(1, (step % 400 + 1) / 20)),
        ("training-stop", only_worse_counts),
        ("training-stop", last_unless_it_ended),
        ("training-stop", no_better_than_then),
        ("translation-exact", lambda said, right: np.mean((np.sort(said) == np.sort(right)).all(axis=1))),
        ("translation-exact", lambda said, right: np.mean([{*one} == {*other} for one, other in zip(said, right)])),
        (
            "word-vectors-bug",  # the word stands to the left of itself
            lambda ids, i, width: [word for j, word in enumerate(ids) if 0 < abs(j - ids.index(ids[i])) <= width],
        ),
        ("training-stop", never_patient_again),
        ("translation-exact", lambda said, right: np.mean(((said == right) | (right == 2)).all(axis=1))),
        (
            "translation-lab-sources",  # all English words need not be translated
            lambda first, second: (
                [[i + 1 + max(map(max, first.sources)) for i in places] for places in second.sources] + [*first.sources]
            ),
        ),
        (
            "attention-reach",  # a point on the last edge is out of reach as well
            lambda values, point: (
                (w := np.linalg.solve((values[1:] - values[0]).T, point - values[0])).min() > 0 and w.sum() <= 1
            ),
        ),
    ],
)
def test_what_is_right_for_some_numbers_alone_is_not_accepted(name, answer):
    assert find_hint(CHECKS[name], answer)


def test_a_nan_is_not_right():
    assert find_hint(CHECKS["dot-product-variance"], float("nan"))


def test_a_value_that_is_far_off_does_not_give_the_answer_away():
    assert "5.33" not in find_hint(CHECKS["dot-product-variance"], 7.0)


def test_an_unknown_exercise_names_the_nearest():
    says = "no exercise 'softmax-mirge'; did you mean one of: softmax-merge, .* A new one stands in CHECKS of its ch"
    with pytest.raises(ValueError, match=says):
        check("softmax-mirge", 1)


def test_what_is_near_several_known_answers_is_told_the_nearest_first_and_a_text_none():
    known = {"a third": 0.333, "rounded up": 0.334, "a half": 0.5, "two": [0.334, 0.334]}
    assert nearest(0.3339, known) == ["rounded up", "a third"]
    assert nearest(0.3331, known) == ["a third", "rounded up"]
    assert nearest("0.33 or so", known) == nearest([[0.334, 0.334]], known) == []


def test_values_are_near_in_two_digits_whatever_their_shape():
    assert nearest(13.0, {"half a digit": 12.5}) == ["half a digit"]
    assert nearest([0.334, 0.5], {"both": [1 / 3, 0.5]}) == ["both"] and nearest([0.334], {"one": 1 / 3}) == ["one"]
    assert nearest([[0.334, 0.5]], {"both": [1 / 3, 0.5]}) == []


def test_two_digits_are_those_of_the_largest_number():
    assert rounded([10.0], [10.4]) and rounded([np.array([10.0, 0.0])], [np.array([10.0, 0.4])])
    assert not rounded([9.0], [9.4]) and not rounded([100.0], [104.0])


def test_what_is_told_of_an_answer_has_at_most_a_line():
    assert in_one_line(np.arange(10)) == "[0, 1, 2, ..., 7, 8, 9]"
    assert in_one_line("x " * 80) == "x " * 49 + "…"  # one word more would be too long


@pytest.mark.parametrize("exercise", ["residuals-block", "residuals-remove"])
def test_what_is_told_of_functions_that_an_answer_was_given_has_their_names(exercise, capsys):
    check(exercise, lambda x, *others: 1.5 + 0 * x if exercise == "residuals-block" else 1.5)
    said = capsys.readouterr().out
    assert "not yet" in said and "<" not in said and ("attend, feed" in said or "layer 0, layer 1" in said)
