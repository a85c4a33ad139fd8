"""Measure what the tests must not: seconds and memory, as ratios within one run.  `make bench` runs this.

One part: OPENBLAS_NUM_THREADS=1 .venv/bin/python -m tests.bench.bench [PART …]; the parts are listed at the end.
"""

import collections
import contextlib
import importlib
import importlib.util
import itertools
import os
import resource
import sys
import time
import tracemalloc
from functools import partial

import numpy as np
from gensim.models import Word2Vec
from gensim.test.utils import datapath
from scipy import special
from scipy.sparse.linalg import svds
from sklearn.metrics import pairwise
from threadpoolctl import threadpool_limits

from minitransformer.attention import attention, attention_vjp
from minitransformer.dot_product import cosine_matrix, cosine_similarity
from minitransformer.feed_forward import feed_forward
from minitransformer.gradients import cross_entropy_vjp
from minitransformer.inside import ablated, copies, opened
from minitransformer.language_model import BytePairEncoding, KeyValueCache, decode_step, load_plays
from minitransformer.layer_norm import layer_norm
from minitransformer.masks import causal_mask
from minitransformer.multi_head import multi_head_attention
from minitransformer.online_attention import online_attention_vjp
from minitransformer.positions import angles, sinusoidal_positions
from minitransformer.softmax import softmax
from minitransformer.training import Adam, train
from minitransformer.training.running import keep_freed_memory
from minitransformer.transformer import LanguageModel, initialise, layer, layer_shapes, parameter_count, parameter_views
from minitransformer.word_vectors import Vectors, count_pairs, load_corpus, ppmi, train_vectors
from tests.bench.bench_build import builds
from tests.bench.bench_public_model import public_model
from tests.bench.bench_readers import readers
from tests.bench.bench_talk import talk

PAIRS = datapath("wordsim353.tsv")
SIZES = (32, 2, 1, 16, 32), (64, 4, 2, 32, 32), (128, 4, 4, 64, 16), (256, 8, 4, 128, 8)  # d, heads, layers, n, batch
WORDS = 256


def seconds(function, repeats=1):
    """Return the shortest time of `repeats` calls and the last result."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


def race(functions, budget=3):
    """Return the shortest time of each function, tried in turn for `budget` seconds, small ones often at each turn."""
    repeats = [1 + int(0.01 / seconds(function)[0]) for function in functions]
    times, end = [], time.perf_counter() + budget
    while len(times) < 3 or time.perf_counter() < end:
        times.append([seconds(function, often)[0] for function, often in zip(functions, repeats)])
    return np.min(times, axis=0)


def megabytes(function):
    """Return the largest memory that Python and NumPy held at once during a call, above what they held before."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def word_vectors():
    """Compare counting with word2vec on the book's text: time, and agreement with people (WordSim-353)."""
    reading, documents = seconds(load_corpus)
    ours, vectors = seconds(lambda: train_vectors(documents))
    print(f"read the text             {reading:6.1f} s")
    print(f"counts, PPMI, SVD         {ours:6.1f} s   Spearman {spearman(vectors):.2f}", end="   ")
    print(f"peak {megabytes(lambda: train_vectors(documents)):.0f} MiB")
    counts = count_pairs(documents, vectors.key_to_index)
    u, s, _ = svds(ppmi(counts, smoothing=1), k=100, v0=np.ones(len(vectors)))
    unsmoothed = Vectors(100)
    unsmoothed.add_vectors(vectors.index_to_key, (u * np.sqrt(s)).astype(np.float32))
    print(f"the same, not smoothed            Spearman {spearman(unsmoothed):.2f}")
    long = train_vectors(documents, size=400)
    rng = np.random.default_rng(0)
    for size in (200, 400):
        spread = np.std(cosine_similarity(*long.vectors[rng.integers(len(long), size=(2, 100_000)), :size]))
        print(f"{size} numbers: spread of the cosines {spread:.3f}, 1/√d {size**-0.5:.3f}", end="   ")
        print(f"Spearman {spearman(shortened(long, size)):.2f}")
    count_or_guess(documents, ours, long)


def count_or_guess(documents, ours, vectors):
    """Compare counting, which takes `ours` seconds, with word2vec: time, agreement, and what *bank* is near."""
    loop, fast = race([lambda: count_by_loop(documents), lambda: count_pairs(documents, vectors.key_to_index)])
    print(f"counting by the loop takes {loop / fast:.0f} times as long")
    joined = [" ".join(words).replace(" west bank ", " west_bank ").split() for words in documents]
    options = {"vector_size": 100, "alpha": 0.1, "sample": 1e-4, "min_count": 5, "sg": 1, "workers": 1}
    for seed, epochs in itertools.product(range(3), (2, 6, 10)):
        took, model = seconds(lambda seed=seed, epochs=epochs: Word2Vec(documents, seed=seed, epochs=epochs, **options))
        print(f"word2vec, seed {seed}, {epochs:2} passes {took:6.1f} s   Spearman {spearman(model.wv):.2f}", end="   ")
        print(f"{took / ours:.1f} times ours;", *near_bank(model.wv))
    for seed in range(3):
        model = Word2Vec(joined, seed=seed, epochs=6, **options)
        print(f"word2vec, seed {seed}, West Bank one word: {spearman(model.wv):.2f};", *near_bank(model.wv))


def near_bank(vectors):
    """Return the nearest words of *bank*."""
    return [word for word, _ in vectors.most_similar("bank", topn=9)]


def count_by_loop(documents, window=5):
    """Count pairs of words as chapter 1's loop does."""
    pairs = collections.Counter()
    for words in documents:
        for i, word in enumerate(words):
            for neighbour in words[max(0, i - window) : i] + words[i + 1 : i + 1 + window]:
                pairs[word, neighbour] += 1
    return pairs


def shortened(vectors, size):
    """Return the vectors with their first `size` numbers, the strongest patterns."""
    fewer = Vectors(size)
    fewer.add_vectors(vectors.index_to_key, vectors.vectors[:, :size])
    return fewer


def spearman(vectors):
    """Return the rank correlation with human judgement over the pairs whose words are known."""
    return vectors.evaluate_word_pairs(PAIRS)[1][0]


def arrays():
    """Compare the helper's functions with those of SciPy and scikit-learn on one thousand rows."""
    x = np.random.default_rng(0).normal(size=(1000, 1000)).astype(np.float32)
    for name, mine, theirs in (
        ("softmax", lambda: softmax(x), lambda: special.softmax(x, axis=-1)),
        ("cosine_matrix", lambda: cosine_matrix(x), lambda: pairwise.cosine_similarity(x)),
    ):
        ratio = seconds(mine, 20)[0] / seconds(theirs, 20)[0]
        memory = megabytes(mine) / megabytes(theirs)
        print(f"{name:14} {ratio:.2f} times the library's time, {memory:.2f} times its memory")


def attentions():
    """Compare attention and multi-head attention with the plain formula and, where it is installed, with PyTorch."""
    torch = one_thread_of_torch()
    for title, players in (("attention, 1 head of width 64", single), ("multi-head attention, 4 of width 64", multi)):
        for n in (64, 256, 1024, 4096):
            mine, scores, others = players(n, torch)
            row, ratios = compare(n, mine, scores, others)
            if n == 64:
                print(f"\n{title}: ours takes so many times the time and the memory of")
                print(" " * len(row), *(f"{name:>18}" for name in others))
            print(row, *(f"{time:10.2f} {memory:7.2f}" for time, memory in ratios))


def one_thread_of_torch():
    """Return PyTorch, held to one thread and to forward passes, or None, and say so, where it is not installed."""
    if not importlib.util.find_spec("torch"):
        print("PyTorch is not installed, so it is not compared: .venv/bin/python -m pip install torch")
        return None
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    return torch


def layers():
    """Say where a layer's time goes, and compare it, where it is installed, with PyTorch's."""
    torch = one_thread_of_torch()
    for d, heads, _, n, batch in SIZES:
        players = parts_of_a_layer(d, heads, n, batch, torch)
        times = dict(zip(players, race(list(players.values()))))
        shares = ", ".join(f"{name} {times[name] / times['all']:3.0%}" for name in list(players)[1:4])
        against = f", {times['all'] / times['PyTorch']:.2f} times PyTorch's time" if torch else ""
        print(f"d {d:3}, {heads} heads, {batch:2} × {n:3} tokens: {1e3 * times['all']:6.2f} ms ({shares}){against}")


def passes():
    """Say how many forward passes a backward pass takes, without keeping the numbers for it."""
    for d, heads, depth, n, batch in SIZES:
        model = LanguageModel(WORDS, d, heads, depth, 0)
        ids = np.random.default_rng(0).integers(WORDS, size=(batch, n))
        forward, both = race([partial(model, ids), partial(there_and_back, model, ids)])
        back = both / forward - 1
        print(f"d {d:3}, {depth} layers, {batch:2} × {n:3} tokens: backward takes {back:.1f} forward passes")


def long_texts():
    """Compare attention by tiles, both ways, with that which keeps its table and with PyTorch's, masked and not."""
    torch = one_thread_of_torch()
    keep_freed_memory()
    for n, causal in itertools.product((1024, 4096, 16_384), (True, False)):
        parts = np.random.default_rng(0).normal(size=(4, n, 64)).astype(np.float32)
        players = {
            "tiles": partial(tiles_and_back, parts, causal),
            "the table": partial(table_and_back, parts, causal_mask(n) if causal else None),
        }
        if torch:
            players["PyTorch"] = fused_and_back(torch, parts, causal)
        turns = [[user_and_system(function) for function in players.values()] for _ in range(3)]
        took = {name: min(times, key=sum) for name, times in zip(players, zip(*turns))}
        told = ", ".join(f"{name} {user:.2f} + {system:.2f} s" for name, (user, system) in took.items())
        ratios = ", ".join(f"{sum(took['tiles']) / sum(took[name]):.2f} of {name}" for name in [*players][1:])
        beyond = megabytes(players["tiles"]) - 4 * parts[0].nbytes / 2**20
        print(f"{n:6,} tokens, {'causal' if causal else 'no mask'}: {told}; tiles take {ratios}, {beyond:.1f} MiB more")


def user_and_system(function):
    """Return the processor's time of a call, that of the program and that of the system on its behalf."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    function()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime


def gradients_of(passed, d_output):
    """Return an output and its gradients."""
    output, backward = passed
    return output, *backward(d_output)


def tiles_and_back(parts, causal):
    """Pass through attention by tiles in both directions."""
    return gradients_of(online_attention_vjp(*parts[:3], causal=causal), parts[3])


def table_and_back(parts, keep):
    """Pass through plain attention in both directions."""
    (output, _), backward = attention_vjp(*parts[:3], keep)
    return gradients_of((output, backward), parts[3])


def fused_and_back(torch, parts, causal):
    """Return a function that passes through PyTorch's fused attention in both directions."""
    *arrays, upstream = (torch.from_numpy(part)[None, None] for part in parts)
    arrays = [array.requires_grad_() for array in arrays]

    @torch.enable_grad()
    def run():
        output = torch.nn.functional.scaled_dot_product_attention(*arrays, is_causal=causal)
        return output, *torch.autograd.grad(output, arrays, upstream)

    return run


def slowness():
    """Measure four causes of slow NumPy code, each with its cure: time without the cure over time with it."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4096, 4096)).astype(np.float32)
    kept = np.empty_like(a)
    new, old = race([lambda: np.add(a, b), lambda: np.add(a, b, out=kept)])
    print(f"page faults: a sum of 64 MiB into new memory takes {new / old:.1f} times as long as into old memory")
    scores = rng.normal(size=(1024, 1024)).astype(np.float32)
    keep_freed_memory()
    read, place = race([lambda: formula_of_softmax(scores), lambda: softmax(scores)])
    print(f"temporaries: a softmax as one reads it takes {read / place:.1f} times as long as one in place")
    q, k, v = rng.normal(size=(3, 128, 64)).astype(np.float32)
    whole, pairs = race([lambda: np.einsum("nd,md,mv->nv", q, k, v), lambda: q @ k.T @ v])
    print(f"contractions: three factors at once take {whole / pairs:.0f} times as long as two products")
    x = rng.normal(size=(512, 512)).astype(np.float32)
    one, two = (min(threaded(x, threads) for _ in range(5)) for threads in (1, 2))
    print(f"threads: two take {two / one:.1f} times the processor's time of one, at a load of {os.getloadavg()[0]:.0f}")


def formula_of_softmax(scores):
    """Return a softmax with a new array for each step."""
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def threaded(x, threads):
    """Return the processor's time of a product on so many threads."""
    with threadpool_limits(threads):
        return processor_seconds(lambda: x @ x, 20)


def there_and_back(model, ids):
    """Pass through a model in both directions."""
    logits, backward = model.vjp(ids)
    return backward(logits)


def training():
    """Compare a training step (forward, loss, backward, Adam) in float32, where it is installed, with PyTorch's."""
    torch = one_thread_of_torch()
    keep_freed_memory()  # as `train` does; PyTorch gains by it too
    for size in SIZES:
        d, heads, depth, n, batch = size
        ids = np.random.default_rng(0).integers(WORDS, size=(batch, n + 1))
        names = ["ours", "PyTorch", "with a fused Adam"] if torch else ["ours"]
        steps = [step_of_ours(size, ids), *(step_of_torch(torch, size, ids, fused) for fused in range(len(names) - 1))]
        times = in_turn(steps)
        typical, fastest = np.median(times, axis=0), times.min(axis=0)
        print(f"d {d:3}, {heads} heads, layers {depth}, {batch:2} × {n:3} tokens: {1e3 * typical[0]:6.2f} ms", end="")
        for name, its, best in zip(names[1:], typical[1:], fastest[1:]):
            ratios = f"ours {typical[0] / its:.2f} of it, fastest {fastest[0] / best:.2f}"
            print(f"; {name} {1e3 * its:6.2f} ms, {ratios}", end="")
        print(f" ({len(times)} turns)")


def in_turn(functions, budget=10):
    """Return the processor's time of a call, the functions tried in turn for `budget` seconds: (turns, functions).

    Small ones are called often at each turn, as in `race`.  What other programs take of the processor does not count.
    """
    for function in functions * 3:  # the first calls fetch memory
        function()
    repeats = [1 + int(0.03 / seconds(function)[0]) for function in functions]
    times, end = [], time.perf_counter() + budget
    while time.perf_counter() < end:
        times.append([processor_seconds(function, often) for function, often in zip(functions, repeats)])
    return np.array(times)


def processor_seconds(function, repeats):
    """Return the processor's time of one of `repeats` calls."""
    start = time.process_time()
    for _ in range(repeats):
        function()
    return (time.process_time() - start) / repeats


def step_of_ours(size, ids):
    """Return a function that takes a training step of our model on the texts `ids`."""
    d, heads, depth, *_ = size
    model = LanguageModel(WORDS, d, heads, depth, 0)
    adam = Adam(model.flat)

    def step():
        logits, backward = model.vjp(ids[:, :-1])
        _, back_loss = cross_entropy_vjp(logits, ids[:, 1:])
        adam.step(backward(back_loss()))

    return step


def step_of_torch(torch, size, ids, fused):
    """Return a function that takes a training step of the same model in PyTorch, of its own layers."""
    d, heads, depth, n, _ = size
    nn, inputs, targets = torch.nn, torch.from_numpy(ids[:, :-1]), torch.from_numpy(ids[:, 1:])
    table, norm = nn.Embedding(WORDS, d), nn.LayerNorm(d)
    layers = [nn.TransformerEncoderLayer(d, heads, 4 * d, 0.0, batch_first=True, norm_first=True) for _ in range(depth)]
    adam = torch.optim.Adam(nn.ModuleList([table, norm, *layers]).parameters(), fused=bool(fused))
    places = torch.from_numpy(sinusoidal_positions(n, d).astype(np.float32))
    hidden = nn.Transformer.generate_square_subsequent_mask(n)

    @torch.enable_grad()
    def step():
        adam.zero_grad()
        x = table(inputs) * d**0.5 + places
        for each in layers:
            x = each(x, src_mask=hidden, is_causal=True)
        logits = norm(x) @ table.weight.T
        nn.functional.cross_entropy(logits.reshape(-1, WORDS), targets.reshape(-1)).backward()
        adam.step()

    return step


def copiers():
    """Print how models of other sizes learn chapter 17's copying, and what is left of it without some heads."""
    test, answers = copies(np.random.default_rng(1), 100)
    right = lambda logits: (logits.argmax(axis=-1) == answers)[answers >= 0].mean()
    sizes = {"hidden": 1, "positions": "rotary", "dtype": np.float64}
    for d, heads, start in ((64, 1, 1), (64, 1, 2), (64, 2, 0), (64, 2, 1), (32, 1, 0), (32, 1, 1)):
        model = LanguageModel(64, d, heads, layers=2, rng=start, **sizes)
        measure = lambda model: {"right": right(model(*test))}
        done = train(model, lambda rng: copies(rng, 32), 700, rate=3e-3, measure=measure, every=50)
        print(f"width {d}, {heads} heads, start {start}:", *(f"{share:.2f}" for share in done.found["right"]))
        for number, some in itertools.product((1, 2), [*([head] for head in range(heads)), [*range(heads)]]):
            left = ablated(partial(opened, model, *test), f"{number} attention mixed", (slice(None), some))
            print(f"  layer {number} without heads {some}: {right(left['logits']):.2f}")


def tokens():
    """Measure how fast byte-pair merges are learned, and applied to several kinds of bytes, with nothing kept."""
    training, held_out = load_plays()
    data, rng = (training + held_out).encode(), np.random.default_rng(0)
    encoding = BytePairEncoding.train(training, 512)
    learned = min(processor_seconds(lambda: BytePairEncoding.train(training, 512), 1) for _ in range(3))
    print(f"512 merges of {len(training):,} characters learned in {learned:.1f} s")
    letters = bytes(byte for byte in data if chr(byte).isalpha())
    kinds = {"plays": data, "letters alone": letters, "any bytes": rng.bytes(10**6), "blanks": b" " * 10**6}
    for name, text in kinds.items():
        taken = min(processor_seconds(lambda text=text: encoding.encode(text), 1) for _ in range(3))
        print(f"{name:14} {len(text) / taken / 1e6:5.1f} MB/s")


def writing():
    """Compare a step with a cache in float32, one token for each text, without one and, where it is, with PyTorch's."""
    torch = one_thread_of_torch()
    for (d, heads, depth, n, batch), rows in itertools.product(SIZES, (None, 1)):
        rows = rows or batch
        model = LanguageModel(WORDS, d, heads, depth, 0, positions="rotary")
        ids = np.random.default_rng(0).integers(WORDS, size=(rows, n))
        cache = KeyValueCache(model, n, (rows,))
        decode_step(model, cache, ids[:, :-1])
        functions = [partial(again, model, cache, ids[:, -1:]), lambda model=model, ids=ids: model(ids)[:, -1]]
        if torch:
            functions.append(writing_of_torch(torch, model, ids))
            error = np.abs(functions[2]().numpy()[:, -1] - functions[1]()).max()
            assert error < 1e-3, f"PyTorch's logits are off by {error}"
        ours, full, *others = np.median(in_turn(functions, budget=6), axis=0)
        print(f"d {d:3}, {heads} heads, layers {depth}, {rows:2} × {n:3} tokens: {1e3 * ours:6.3f} ms", end="")
        print(f"; without a cache {full / ours:5.2f} times", *(f"; PyTorch {its / ours:.2f} times" for its in others))


def again(model, cache, ids):
    """Read the last tokens of a full cache once more."""
    cache.length = cache.most - 1
    return decode_step(model, cache, ids)


def writing_of_torch(torch, model, ids):
    """Return a function that reads the last token of each text with the same weights, as one writes it in PyTorch."""
    nn, heads, d, (rows, n) = torch.nn.functional, model.heads, model.d, ids.shape
    given = lambda part: {key: given(x) if isinstance(x, dict) else torch.from_numpy(x) for key, x in part.items()}
    params, (*layers, norm) = given(model.params), given(model.params["decoder"]).values()
    fused = [torch.cat([one["attention"][f"W_{name}"] for name in "QKV"], 1).T.contiguous() for one in layers]
    outer = [[one["attention"]["W_O"].T.contiguous(), *turned_matrices(one["feed_forward"])] for one in layers]
    turns = torch.from_numpy(angles(np.arange(n), d // heads).astype(np.float32))
    cos, sin = torch.cos(turns), torch.sin(turns)
    kept = torch.zeros(len(layers), 2, rows, heads, n, d // heads)

    def normed(x, part):
        return nn.layer_norm(x, (d,), part["gain"], part["bias"])

    def turn(x, here):
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cos[here] - odd * sin[here], even * sin[here] + odd * cos[here]], -1).flatten(-2)

    def run(new, first):
        here = slice(first, first + new.shape[1])
        x = nn.embedding(new, params["embedding"]) * d**0.5
        for one, joined, (mixing, wide, narrow), cache in zip(layers, fused, outer, kept):
            parts = nn.linear(normed(x, one["attention"]), joined).view(rows, -1, 3, heads, d // heads)
            q, k, v = parts.permute(2, 0, 3, 1, 4)
            cache[0, :, :, here], cache[1, :, :, here] = turn(k, here), v
            causal = {"is_causal": True} if first == 0 else {}
            mixed = nn.scaled_dot_product_attention(turn(q, here), *cache[:, :, :, : here.stop], **causal)
            x = x + nn.linear(mixed.transpose(1, 2).reshape(x.shape), mixing)
            hidden = nn.relu(nn.linear(normed(x, one["feed_forward"]), wide, one["feed_forward"]["b_1"]))
            x = x + nn.linear(hidden, narrow, one["feed_forward"]["b_2"])
        return nn.linear(normed(x, norm), params["embedding"])

    texts = torch.from_numpy(ids)
    run(texts[:, :-1], 0)
    return lambda: run(texts[:, -1:], n - 1)


def turned_matrices(wide):
    """Return the two matrices of a feed-forward network as PyTorch's `linear` takes them."""
    return [wide[name].T.contiguous() for name in ("W_1", "W_2")]


def parts_of_a_layer(d, heads, n, batch, torch):
    """Return a pre-norm layer, its parts and PyTorch's layer, as functions."""
    shapes, rng = layer_shapes(d, 4 * d), np.random.default_rng(0)
    params = parameter_views(np.zeros(parameter_count(shapes), np.float32), shapes)
    initialise(params, rng)
    x, keep = rng.normal(size=(batch, n, d)).astype(np.float32), causal_mask(n)
    own, wide = params["attention"], params["feed_forward"]
    players = {
        "all": lambda: layer(x, params, heads, keep=keep),
        "norms": lambda: [layer_norm(x, part["gain"], part["bias"]) for part in (own, wide)],
        "attention": lambda: multi_head_attention(x, own, heads, keep=keep),
        "feed-forward": lambda: feed_forward(x, wide),
    }
    if torch:
        theirs = torch.nn.TransformerEncoderLayer(d, heads, 4 * d, 0.0, batch_first=True, norm_first=True)
        tokens, hidden = torch.from_numpy(x), torch.from_numpy(~keep)
        players["PyTorch"] = lambda: theirs(tokens, src_mask=hidden)
    return players


def compare(n, mine, scores, others):
    """Return a line about ours, and how many times the time and memory of each other it takes."""
    took, share, *theirs = race([mine, lambda: softmax(scores), *(other for other, _ in others.values())])
    used = megabytes(mine)
    row = f"n = {n:4} {1e3 * took:8.2f} ms {used:6.1f} MiB, softmax {share / took:3.0%} of the time"
    memories = [memory(other) for other, memory in others.values()]
    return row, [(took / their, used / memory) for their, memory in zip(theirs, memories)]


def single(n, torch):
    """Return our attention, its scores, and others with the function that measures their memory."""
    queries, keys, values = np.random.default_rng(0).normal(size=(3, 1, 1, n, 64)).astype(np.float32)
    others = {"plain formula": (lambda: formula(queries, keys, values), megabytes)}
    if torch:
        parts = [torch.from_numpy(x) for x in (queries, keys, values)]
        others["PyTorch in steps"] = lambda: steps(torch, *parts), torch_megabytes
        fused = torch.nn.functional.scaled_dot_product_attention  # returns no weights, and never holds all scores
        others["PyTorch fused"] = lambda: fused(*parts), torch_megabytes
    return lambda: attention(queries, keys, values), queries @ keys.swapaxes(-1, -2) / 8, others


def multi(n, torch):
    """Return our multi-head attention, its scores, and others with the function that measures their memory."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, n, 256)).astype(np.float32)
    matrices = rng.normal(size=(4, 256, 256)).astype(np.float32) / 16
    params = dict(zip(("W_Q", "W_K", "W_V", "W_O"), matrices))
    queries, keys = (cut(x @ params[name]) for name in ("W_Q", "W_K"))
    others = {"plain formula": (lambda: formula_of_heads(x, matrices), megabytes)}
    if torch:
        layer, tokens = torch.nn.MultiheadAttention(256, 4, bias=False, batch_first=True).eval(), torch.from_numpy(x)
        whole, fused = {"average_attn_weights": False}, {"need_weights": False}
        others["PyTorch in steps"] = lambda: layer(tokens, tokens, tokens, **whole), torch_megabytes
        others["PyTorch fused"] = lambda: layer(tokens, tokens, tokens, **fused), torch_megabytes
    return lambda: multi_head_attention(x, params, 4), queries @ keys.swapaxes(-1, -2) / 8, others


def formula(queries, keys, values):
    """Return attention as one writes it down."""
    scores = queries @ keys.swapaxes(-1, -2) / np.float32(np.sqrt(queries.shape[-1]))
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ values, weights


def formula_of_heads(x, matrices):
    """Return multi-head attention as one writes it down."""
    output, weights = formula(*(cut(x @ matrix) for matrix in matrices[:3]))
    return output.swapaxes(1, 2).reshape(x.shape) @ matrices[3], weights


def cut(x):
    """Return x (1, n, 256) as four heads (1, 4, n, 64)."""
    return x.reshape(1, -1, 4, 64).swapaxes(1, 2)


def steps(torch, queries, keys, values):
    """Return attention and its weights by the steps of the formula in PyTorch."""
    weights = torch.softmax(queries @ keys.mT / 8, -1)
    return weights @ values, weights


def torch_megabytes(function):
    """Return the largest memory that PyTorch held at once during a call, above what it held before."""
    with silence(), importlib.import_module("torch").profiler.profile(profile_memory=True) as profile:
        function()
    events = [event for event in profile.profiler.kineto_results.events() if event.name() == "[memory]"]
    events.sort(key=lambda event: event.start_ns())
    return max(itertools.accumulate(event.nbytes() for event in events)) / 2**20


@contextlib.contextmanager
def silence():
    """Let nothing, not even PyTorch's own log, write to the error stream."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


MODELS = layers, passes, training, copiers, tokens, writing, long_texts, slowness
PARTS = {
    part.__name__: part for part in (word_vectors, arrays, attentions, *MODELS, public_model, talk, readers, builds)
}

if __name__ == "__main__":
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        print("NumPy may use several threads; for ratios that mean something set OPENBLAS_NUM_THREADS=1.")
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
