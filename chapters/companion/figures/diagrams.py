"""Diagrams: words and their weights, matrices, and models step by step with the shapes of a run.

A diagram of steps is made of columns, and a column of steps from bottom to top: `_Column` and `_Step` say of what.
"""

import math
from collections import namedtuple

import numpy as np

from minitransformer.attention import attention
from minitransformer.self_attention import project

from .picture import ROLES, Picture, arrow, box, element, in_row, text

# ---- words and shapes -----------------------------------------------------------------------------------


def weight_fan(word, *fans, alt, role="key"):
    """Draw one word with lines to others, each as thick as its weight (dict, word -> weight); used in chapter 4.

    The others are keys, or of another `role`; of several dicts each is a fan of its own, below the one before.

    >>> picture = weight_fan("it", {"cat": 0.7, "mat": 0.3}, {"cat": 1}, alt="Two fans.")
    """
    width, row, top, svg = 380 + 10 * max(len(other) for weights in fans for other in weights), 30, 5, []
    for weights in fans:
        middle = top + len(weights) * row / 2
        for i, (other, weight) in enumerate(weights.items()):
            y = top + (i + 0.5) * row
            line, thick = f"M110 {middle:g}C210 {middle:g} 210 {y:g} 300 {y:g}", 1 + 24 * weight
            svg.append(element("path", d=line, fill="none", stroke="weight", stroke_width=thick, stroke_opacity=0.7))
            svg.append(text(310, y + 5, other, role, 15, "start"))
            svg.append(text(width - 40, y + 5, f"{weight:.2f}", "muted", 15, "end"))
        svg.append(element("g", text(100, middle + 7, word, "query", 22, "end"), font_weight="bold"))
        top += len(weights) * row + 20
    return Picture(width, top - 15, f'<g font-family="inherit" font-size="15">{"".join(svg)}</g>', alt)


def lookup_boxes(english, french, *, alt):
    """Draw a translator's lookup between its two sentences, each a list of lines; used in chapter 4.

    >>> picture = lookup_boxes(["the cat"], ["le chat"], alt="Two boxes.")
    """
    sides = (2, "English", "encoder", english, "key"), (300, "French", "decoder", french, "query")
    svg = box(162, 2, 98, 112, "weight") + text(211, 50, "lookup", "weight", 16)
    svg += text(211, 70, "cross-", "muted", 13) + text(211, 86, "attention", "muted", 13)
    for left, title, side, lines, role in sides:
        svg += box(left, 2, 112, 112, role, 0.06) + text(left + 56, 22, title, role, 16)
        svg += text(left + 56, 39, side, "muted", 13)
        svg += "".join(text(left + 56, 64 + 19 * i, line, "ink", 14) for i, line in enumerate(lines))
    ways = (118, 156, 40, "keys", "key"), (118, 156, 84, "values", "value"), (296, 266, 40, "query", "query")
    for start, end, y, name, role in (*ways, (264, 294, 84, "output", "output")):
        svg += arrow(f"M{start} {y}H{end}", 1 if end > start else -1, role)
        svg += text((start + end) / 2, y - 8, name, role, 12)
    return Picture(414, 116, f'<g font-family="inherit">{svg}</g>', alt, zoom=1.3)


def guess_and_nudge(sentence, vectors, *, alt, rate=0.6):
    """Draw one step of word2vec in three panels, a sentence, two guesses and a nudge; used in chapter 1.

    `vectors`, name -> array (2,), are those of a word of the sentence, of a neighbour of it, and of a word drawn at
    random.  The first word's vector moves by `rate` times what each guess lacks times the vector that was guessed with.

    >>> vectors = {"cat": [1, 0.2], "fish": [0.5, 1], "law": [-0.5, 1]}
    >>> picture = guess_and_nudge(["the", "cat", "eats", "fish"], vectors, alt="Three panels.")
    """
    (word, *others), (old, *met) = vectors, np.array(list(vectors.values()), dtype=float)
    guesses = 1 / (1 + np.exp(-np.array(met) @ old))
    new = old + rate * (np.array([1, 0]) - guesses) @ met
    panels = (
        ("a word, its company", _word_in_window(sentence, word, others)),
        (f"guess: near {word}?", _two_guesses(others, guesses)),
        (f"nudge {word}'s vector", _nudged(word, others, old, new, met)),
    )
    letters = {"font_family": "inherit", "font_size": 15}
    drawn = [text(105, 16, f"{i} {title}", "muted", 15) + inside for i, (title, inside) in enumerate(panels, 1)]
    return in_row([Picture(210, 150, element("g", inside, **letters), alt) for inside in drawn], alt)


def _word_in_window(sentence, word, others):
    """Return a sentence in which a word and its neighbour have their colours, and below them the word at random."""
    roles, svg, gap = {word: "query", others[0]: "key"}, "", 8
    x = 105 - (sum(8 * len(one) for one in sentence) + gap * (len(sentence) - 1)) / 2
    for one in sentence:
        wide = 8 * len(one)
        svg += text(x + wide / 2, 66, one, roles.get(one, "muted"), 15)
        svg += element("path", d=f"M{x:g} 73h{wide}", stroke=roles[one], stroke_width=2) if one in roles else ""
        x += wide + gap
    return svg + text(105, 112, "at random:", "muted", 15, "end") + text(112, 112, others[1], "key", 15, "start")


def _two_guesses(others, guesses):
    """Return two bars as long as the guesses, with marks where they should end."""
    svg = ""
    for name, guess, truth, y in zip(others, guesses, (1, 0), (46, 98)):
        svg += text(20, y + 4, name, "key", 15, "start") + text(190, y + 4, f"{guess:.2f}", "ink", 15, "end")
        svg += element("rect", x=20, y=y + 11, width=170, height=14, fill="none", stroke="grid")
        svg += element("rect", x=20, y=y + 11, width=170 * guess, height=14, fill="weight", fill_opacity=0.7)
        side = 1 if truth else -1
        svg += arrow(f"M{20 + 170 * guess + 6 * side:g} {y + 18}H{20 + 170 * truth}", side)
    return svg


def _nudged(word, others, old, new, met):
    """Return a word's vector, before (dashed) and after, and the two that it was compared with."""
    svg, ends = "", [(*one, "key", "") for one in zip(others, met)]
    for name, (x, y), role, dash in (*ends, ("", old, "query", "4 3"), (word, new, "query", "")):
        right, down = 60 + 62 * x, 94 - 46 * y
        line = f"M60 94L{right:.4g} {down:.4g}"
        svg += element("path", d=line, fill="none", stroke=role, stroke_width=2, stroke_dasharray=dash)
        svg += element("circle", cx=right, cy=down, r=3.5, fill=role)
        svg += text(right + 8, down + 5, name, role, 15, "start")
    return svg


def chain_of_slopes(numbers, slopes, ways, *, alt):
    """Draw a chain of numbers that goes up, and beside it their slopes, which come down; used in chapter 13.

    `numbers` and `slopes` are dicts, name -> number, from the first of the chain to the last; `ways` are, for every
    two neighbours, what is done on the way up and what a slope is multiplied by on the way down.

    >>> numbers, slopes, ways = {"x": 2, "y": 4}, {"dx": 4, "dy": 1}, [("square", "times 2x")]
    >>> picture = chain_of_slopes(numbers, slopes, ways, alt="A chain.")
    """
    svg, row = "", 64
    for i, ((name, number), (slope_name, slope)) in enumerate(zip(numbers.items(), slopes.items())):
        top = (len(numbers) - 1 - i) * row + 2
        svg += box(84, top, 96, 32, "ink", 0.06) + text(132, top + 21, f"{name} = {number:.3f}")
        svg += box(212, top, 110, 32, "output", 0.06, stroke_dasharray="5 3")
        svg += text(267, top + 21, f"{slope_name} = {slope:.3f}".replace("-", "−"), "output")
        if i:
            up, down = ways[i - 1]
            svg += arrow(f"M132 {top + row:g}V{top + 34:g}") + _gradient(f"M267 {top + 32:g}", 267, top + row)
            svg += text(122, top + 53, up, "muted", 13, "end") + text(277, top + 53, down, "output", 13, "start")
    svg += _gradient("M180 18", 211, 18, "right")
    return Picture(340, len(numbers) * row - 28, element("g", svg, font_family="inherit"), alt)


def twin_sentences(english, french, weights, swaps, *, alt, **_):
    """Draw two sentences with their translations, as `twins.twins` returns them; used on the cover.

    Bands at the left lead to *it* from the words that decide how it is translated, as thick as the share of the swaps
    that change it; lines between the columns lead from each French word to what it looks at most.

    >>> from companion.evidence.twins import twins
    >>> picture = twin_sentences(**twins(), alt="Two sentences.")
    """
    return in_row([_columns(*one, alt) for one in zip(english, french, weights, swaps)], alt)


def _columns(english, french, weights, swaps, alt):
    """Return one sentence as a column of words, with its translation in a second one."""
    height = lambda row: 24 + 30 * row
    it, rows = height(english.index("it")), np.cumsum([0, *(not word.endswith("'") for word in french[:-1])])
    svg, lines = "", dict.fromkeys(rows, "")
    for i, (word, (changed, tried)) in enumerate(zip(english, swaps)):
        y, bold = height(i), changed > 0 or word == "it"
        if changed:
            path = f"M84 {it}C{40 - abs(it - y) / 8:g} {it} {40 - abs(it - y) / 8:g} {y} 84 {y}"
            svg += element("path", d=path, fill="none", stroke="output", stroke_width=13 * changed / tried)
        name = text(92, y + 6, word, "query" if word == "it" else "ink", 17, "start")
        svg += element("g", name, font_weight=700 if bold else 400)
        svg += text(182, y + 5, f"{changed} of {tried}" * (tried > 0), "output" if changed else "muted", 13, "start")
    for word, row, shares in zip(french, rows, weights):
        y, to, said = height(row), height(int(np.argmax(shares))), word in ("il", "elle")
        path = f"M228 {to}C246 {to} 246 {y} 264 {y}"
        svg += element("path", d=path, fill="none", stroke="weight", stroke_width=4 if said else 1.5)
        lines[row] += element("tspan", word, fill="output", font_weight=700) if said else word
    for row, line in lines.items():
        svg += element("text", line, fill="muted", x=270, y=height(row) + 6, font_size=16, font_style="italic")
    return Picture(360, height(len(english)) - 6, f'<g font-family="inherit">{svg}</g>', alt, zoom=0.92)


def matrix_shapes(lines, *, alt):
    """Draw matrices roughly to scale, joined by signs: what has which shape; used from chapter 4 on.

    `lines` is a list of lines, each a list of signs (text) and matrices (name, rows, columns, role), where rows and
    columns are pairs of symbol and number; an underscore makes a subscript.

    >>> parts = [("X", ("n", 3), ("d", 4), "ink"), "times", ("W", ("d", 4), ("d_k", 2), "query")]
    >>> picture = matrix_shapes([parts], alt="Two matrices.")
    """
    svg, height, width = [], 0, 0
    for line in lines:
        tall, x = max(_sides(part)[1] for part in line), 2
        for part in line:
            wide, high = _sides(part)
            svg.append(_part(part, x, height + (tall - high) / 2 + 6, wide, high))
            x += wide + 12
        height, width = height + tall + 36, max(width, x)
    return Picture(width, height, f'<g font-family="inherit" font-size="13">{"".join(svg)}</g>', alt, zoom=1.1)


def _sides(part):
    """Return the width and the height of a sign, or of a matrix whose name and shape find room."""
    if isinstance(part, str):
        return 8 * len(part), 20
    name, (row, n), (column, m), _ = part
    return max(13 * m, 9 * len(name) + 8, 7 * len(row + column) + 20), max(13 * n, 24)


def _part(part, x, y, wide, high):
    """Return a sign, or a matrix with its name inside and its shape below, with the upper left corner at (x, y)."""
    middle = x + wide / 2
    if isinstance(part, str):
        return text(middle, y + 14, part, size=13)
    name, (row, _), (column, _), role = part
    shape = text(middle, y + high + 14, f"{row} × {column}", "muted", 12)
    return box(x, y, wide, high, role, rx=3) + text(middle, y + high / 2 + 5, name, role, 13) + shape


# ---- models, step by step: what the steps are ---------------------------------------------------------------------


def streams(panels, *, alt, unit=5):
    """Draw two streams from below, to the left and right of the sublayers that read and write both; used in chapter 9.

    `panels` is title -> (size at the start, steps) for each.  A step is the name of a sublayer, how large what it
    writes is, and how large the stream behind it.  Lines are `unit` times as thick as what they carry is large.

    >>> steps = [("attention", 0.5, 1.5), ("feed-forward", 2.0, 3.0)]
    >>> picture = streams({"at it": (1.4, steps), "elsewhere": (1.2, steps)}, alt="Two streams.")
    """
    high, (names, *_) = 66, [[name for name, *_ in steps] for _, steps in panels.values()]
    height = high * len(names) + 66
    svg = "".join(_stream(title, *given, unit, high, right) for right, (title, given) in enumerate(panels.items()))
    for i, name in enumerate(names):
        y = height - 26 - high * (i + 1)
        svg += box(122, y + 6, 106, 52, "weight" if "attention" in name else "ink") + text(175, y + 37, name)
    return Picture(350, height, f'<g font-family="inherit">{svg}</g>', alt, zoom=1.3)


def _stream(title, start, steps, unit, high, right):
    """Return one of the two streams, as SVG; the right one is the mirror image of a left one."""
    bottom, size = high * len(steps) + 40, start
    x, to, anchor = (284, -1, "start") if right else (66, 1, "end")
    flow = lambda d, thick: element("path", d=d, fill="none", stroke="output", stroke_width=thick, stroke_opacity=0.6)
    svg = text(x, bottom + 18, "embedded word", "muted", 13)
    svg += text(x - 20 * to, bottom - 8, f"{start:.2f}", size=13, anchor=anchor)
    for i, (_, written, behind) in enumerate(steps):
        y = bottom - high
        joint = y + 18 + unit * written / 2  # from here on the stream has what is written, too
        svg += flow(f"M{x} {bottom}V{joint:g}", unit * size) + flow(f"M{x} {joint:g}V{y}", unit * behind)
        svg += arrow(f"M{x + to * unit * size / 2:g} {bottom - 14}H{x + 54 * to}", to)
        svg += flow(f"M{x + 56 * to} {y + 18}H{x + to * unit * behind / 2:g}", unit * written)
        svg += text(x + 35 * to, y + 13 - unit * written / 2, f"+{written:.2f}", "output", 13)
        if i == 0:
            svg += text(x + 35 * to, joint + 13, "writes", "muted", 13) + text(
                x + 35 * to, bottom, "reads", "muted", 13
            )
        svg += text(x - 20 * to, y + 8, f"{behind:.2f}", size=13, anchor=anchor)
        bottom, size = y, behind
    return svg + flow(f"M{x} {bottom}V26", unit * size) + text(x, 16, title, size=15)


def parameter_blocks(groups, *, alt):
    """Draw numbers of parameters as blocks, whose area is their number; used in chapter 12.

    `groups` is a dict, name of a row -> dict, name of a block in it -> number; small blocks stay without a name.

    >>> numbers = {"layer 1": {"attention": 64, "feed-forward": 128}}
    >>> picture = parameter_blocks(numbers, alt="Two blocks.")
    """
    whole, left, wide, high, gap = sum(sum(group.values()) for group in groups.values()), 112, 345, 430, 5
    y, svg, roles = gap, "", {"feed-forward": "output", "attention": "weight", "cross-attention": "query", "": "key"}
    for name, group in groups.items():
        total, x = sum(group.values()), left
        tall = high * total / whole
        svg += text(left - 8, y + tall / 2 + 4.5, name, "ink", 13.5, "end")
        for part, number in group.items():
            share = wide * number / total
            inside = {"fill": roles[part], "fill_opacity": 0.22, "stroke": roles[part]}
            svg += element("rect", x=x, y=y, width=share, height=tall, **inside)
            if share > 60:
                lines = [part, f"{number:,}"] if part else [f"{number:,}"]
                svg += "".join(
                    text(x + share / 2, y + tall / 2 + 4.5 + 17 * (i - (len(lines) - 1) / 2), line, "ink", 12.5)
                    for i, line in enumerate(lines)
                )
            x += share
        y += tall + gap
    return Picture(left + wide + 4, y, f'<g font-family="inherit">{svg}</g>', alt)


def layer_orders(*norms, alt, shape=()):
    """Draw a layer in up to three orders side by side, of "pre", "post" and "none"; used in chapter 9.

    `shape` is that of what goes in and comes out.

    >>> picture = layer_orders("pre", "post", alt="Two orders.")
    """
    columns = []
    for norm in norms:
        steps = [_Step(["x"], shape=shape), *_residual(norm, _Step(["attention"], ["weight"]))]
        steps += [*_residual(norm, _Step(["feed-forward"], ["ink"]), shape), _Step(["layer’s output"])]
        columns.append(_Column(steps, "No norm" if norm == "none" else f"{norm}-norm".capitalize()))
    return _diagram(columns, alt)


def then_and_now(*, alt):
    """Draw a layer of 2017 beside one of today, in which what has changed is lit, with the year; used in chapter 19.

    >>> picture = then_and_now(alt="Two layers.")
    """
    old, lit = ["muted"], ["output"]
    norm, added = _Step(["RMS norm"], lit, note="2019"), [_Step(["+"], around=1), _Step(["layer norm"], old)]
    attends = _Step(["self-attention"], old, note="all tokens, all heads")
    feeds = _Step(["feed-forward"], old, note="one network, ReLU")
    then = [_Step(["words, positions"]), attends, *added, feeds, *added]
    now = [
        _Step(["words"]),
        norm,
        _Step(["queries, keys"], lit, note="norm 2020, turn 2021"),
        _Step(["self-attention"], lit, note="shorter memory: 2020"),
        _Step(["+"], around=3),
        norm,
        _Step(["router"], lit, note="a few of many: 2017"),
        _Step(["experts"], lit, note="each gated: 2020"),
        _Step(["+"], around=3),
    ]
    return _diagram([_Column(then, "2017"), _Column(now, "Today")], alt)


def backward_steps(model, ids, *, alt):
    """Draw a language model's run on `ids`, and beside it the way of the gradients back; used in chapter 13.

    Between the two stands what each part leaves behind, the gradients of its own parameters: they make one vector.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(5, 8, heads=2, layers=1, rng=0)
    >>> picture = backward_steps(model, [1, 2], alt="A model and its way back.")
    """
    model(ids, record := {})
    (words, *steps), _, (first, stop, layers) = _decoder(model, record)
    places = "+ positions" * (model.positions in ("sinusoidal", "learned"))
    embedding = _Step(["embedding"], ["ink"], record["decoder"]["embedded"].shape, places)
    inside, head = [step._replace(note="") for step in steps[first - 1 : -2]], steps[-2]
    head = head._replace(roles=["ink"])  # what has the colour of outputs here is a gradient
    steps = [words._replace(labels=["words"]), embedding, *inside, head, _Step(["softmax, loss"], ["ink"])]
    column = _Column(steps, "Forward", (2, 2 + stop - first, layers) if layers > 1 else ())
    return _both_ways(column, _left_behind(model, steps), f"gradient: {model.flat.size:,} numbers", alt)


def _left_behind(model, steps):
    """Return a dict, number of a step -> the names of its own parameters, and how many numbers these are."""
    shapes, found = model.shapes, {}
    sublayers, learned = iter(shapes["decoder"][1].values()), {"E": "embedding", "positions": "positions"}
    for i, (label, *_) in enumerate(step.labels for step in steps):
        own = {"gain": (model.d,), "bias": (model.d,)} if label == "LN" else {}
        if label in ("self-attention", "feed-forward"):
            own = {name: shape for name, shape in next(sublayers).items() if name not in ("gain", "bias")}
        elif label == "embedding":
            own = {name: shapes[key] for name, key in learned.items() if key in shapes}
        elif label == "output head" and not model.tied:
            own = {"output": shapes["output"]}
        elif label == "output head":
            found[i] = "E", f"the {math.prod(shapes['embedding']):,} below"
        if own:
            found[i] = ", ".join(own), f"{sum(map(math.prod, own.values())):,} numbers"
    return found


def _residual(norm, step, shape=()):
    """Return the steps of a sublayer with its norm and the bypass around it, in the order of `residual`."""
    if norm == "post":
        return [step, _Step(["+"], around=1), _Step(["LN"], ["muted"], shape)]
    before = [_Step(["LN"], ["muted"])] if norm == "pre" else []
    return [*before, step, _Step(["+"], shape=shape, around=len(before) + 1)]


def _decoder(model, record):
    """Return the column of a language model, as its run has filled `record`."""
    parts, shape, layer = record["decoder"], record["decoder"]["embedded"].shape, []
    for name, output in parts[1].items():
        if not name.endswith(" weights"):
            params = model.params["decoder"][1][name]
            layer += _residual(model.norm, _sublayer(name, parts[1], params, model.positions), output.shape)
    before = [_Step(["ids"], shape=shape[:-1]), _Step(["embedding"], ["ink"], shape)]
    if model.positions in ("sinusoidal", "learned"):
        before[1:] = [_Step(["embedding"], ["ink"]), _Step(["+"], shape=shape, enters=("positions", "muted", ()))]
    end = [_Step(["LN"], ["muted"], parts["norm"]["output"].shape)] if "norm" in parts else []
    end += [_Step(["output head"], ["output"], record["logits"].shape), _Step(["logits"])]
    repeated = len(before), len(before) + len(layer), sum(isinstance(name, int) for name in parts)
    return _Column([*before, *layer, *end], "Decoder", repeated)


def _sublayer(name, outputs, params, positions):
    """Return the step of a sublayer, with the shape of its weights, or of what is inside a feed-forward part."""
    weights = outputs.get(f"{name} weights")
    if weights is None:
        sizes = [*params["W_1"].shape, params["W_2"].shape[-1]] if "W_1" in params else []
        return _Step([name.replace("_", "-")], ["ink"], note=" → ".join(map(str, sizes)))
    causal = weights.shape[-1] == weights.shape[-2] > 1 and not np.triu(weights, 1).any()
    rotary = "rotary, " * (positions == "rotary" and name == "attention")
    label = "self-attention" if name == "attention" else name.replace("_", "-")
    return _Step([label], ["weight"], note=rotary + "causal, " * causal + _written(weights.shape))


# ---- models, step by step: how they are drawn ---------------------------------------------------------------------

_Step = namedtuple("_Step", "labels roles shape note around enters", defaults=((), (), "", 0, ()))
_Step.__doc__ = """One row of a column: a box for each of `labels`, a list, in their `roles`, or text without roles.

    The label "+" alone is drawn as a sign.  `shape` is what leaves the step upwards, `note` a second line in its box.
    A bypass leads to it `around` so many steps, and (label, role, shape) `enters` it from the side."""
_Column = namedtuple("_Column", "steps title repeated", defaults=("", ()))
_Column.__doc__ = """Steps from bottom to top below a title; `repeated` is (first, stop, times) of those in a frame."""
FORK = 31  # how far below a branch its bypass begins, where the way back has the sign of a sum there


def _diagram(columns, alt, half=58):
    """Draw up to three columns side by side, with boxes at least 2 `half` wide; `alt` is continued in words."""
    room = 22  # beside boxes
    half = max([half, *(_half_needed(step) for column in columns for step in column.steps)])
    near = half + (12 if len(columns) > 1 else 44)  # from the middle of a column to the side without bypasses
    middles = [room + half, room + half + 2 * near + 26, 2 * room + 2 * half + 3 * near + 52][: len(columns)]
    spans = [_spans(column) for column in columns]
    svg, told = "", [alt]
    for column, span, x, side in zip(columns, spans, middles, (-1, 1, 1)):
        title = element("g", text(0, 24, column.title), font_weight="bold")
        svg += element("g", _drawn(column, span, side, half) + title, transform=f"translate({x:g} 0)")
        told.append(_told(column))
    height = 4 - min(span[-1][0] for span in spans)
    inside = element("g", svg, transform=f"translate(0 {height:g})", font_family="inherit")
    width = middles[-1] + (half + room if len(columns) > 1 else near)
    return Picture(width, height + 32, inside, " ".join(told))


def _both_ways(column, left, whole, alt):
    """Draw a column, to its right the way back through its steps, and between the two what is `left` behind.

    `left` is a dict, number of a step -> (names, how many); `whole` says what they are together.
    """
    half = max([52, *map(_half_needed, column.steps)])
    wide = max([54, *(3.7 * len(names.replace("_", "")) for names, _ in left.values())])
    room, spans = 20 + 8 * bool(column.repeated), _spans(column, FORK)
    forth, middle, back = room + half, room + 2 * half + 8 + wide, room + 3 * half + 22 + 2 * wide
    drawn = {
        forth: _drawn(column._replace(repeated=()), spans, -1, half, FORK) + _titled(column.title, spans),
        middle: _left_between(left, spans, wide, 14),
        back: _drawn_back(column.steps, spans, half) + _titled("Backward", spans),
    }
    right, height, top = back + half, 36 - spans[-1][0], sum(spans[-1]) / 2
    svg = _frame_of_both(column.repeated, spans, right + room) if column.repeated else ""
    svg += "".join(element("g", part, transform=f"translate({x:g} 0)") for x, part in drawn.items())
    svg += _gradient(f"M{forth + half:g} {top:g}", back - half - 1, top, "right", 2.4)
    svg += text(middle, top - 8, "loss: 1 number", "output", 12)
    svg += box(middle - wide, -34, right - middle + wide, 33, "output", stroke_width=2.4)
    svg += element("g", text((middle - wide + right) / 2, -12, whole, "output"), font_weight="bold")
    told = "; ".join(f"by {column.steps[i].labels[0]} {names} ({numbers})" for i, (names, numbers) in left.items())
    said = f"{alt} {_told(column)} Backward, the same steps leave behind, from below: {told}; together the {whole}."
    inside = element("g", svg, transform=f"translate(0 {height:g})", font_family="inherit")
    return Picture(right + room, height + 2, inside, said)


def _titled(title, spans):
    """Return the title above a column."""
    return element("g", text(0, spans[-1][0] - 16, title), font_weight="bold")


def _frame_of_both(repeated, spans, width):
    """Return the dashed frame around repeated steps and their way back, with how often they are."""
    first, stop, times = repeated
    bottom, top = spans[first][1] + FORK + 17, spans[stop - 1][0] - 20
    frame = box(3, top, width - 6, bottom - top, "muted", 0.07, 10, stroke_dasharray="4 3")
    return frame + text(width - 4, bottom + 17, f"× {times}", anchor="end")


def _drawn_back(steps, spans, half):
    """Return the gradients' way down through steps, around x = 0, with the bypasses on the right.

    Where a sum was made, both ways get its gradient; where a value was used twice, the two gradients are added.
    """
    branches, svg = {i - step.around: i for i, step in enumerate(steps) if step.around}, ""
    for i in range(len(steps) - 1, 0, -1):
        (top, bottom), fork = spans[i], spans[i - steps[i].around][1] + FORK
        if steps[i].around:
            top = bottom = (top + bottom) / 2
            bypass = f"M0 {top:g}H{half + 7:g}q8 0 8 8V{fork - 8:g}q0 8 -8 8"
            svg += _gradient(bypass, 11, fork, "left", 2.4) + element("circle", cx=0, cy=top, r=4.5, fill="output")
        else:
            svg += box(-half, top, 2 * half, bottom - top, "output", 0.06, stroke_dasharray="5 3")
            svg += text(0, (top + bottom) / 2 + 5, steps[i].labels[0] if i < len(steps) - 1 else "p − y", "output")
        if i in branches:
            svg += _gradient(f"M0 {bottom:g}", 0, fork - 11) + _sum(0, fork, "output")
            bottom = fork + 10
        if i > 1:
            inside = any(first < i <= last for first, last in branches.items())
            svg += _gradient_below(steps[i - 1], bottom, *spans[i - 1], 1.5 if inside else 2.4)
    return svg


def _gradient_below(step, start, top, bottom, width):
    """Return the arrow from the height `start` down to a step, or the line to a dot, and the shape that it carries."""
    end = ((top + bottom) / 2, "no head") if step.around else (top - 1, "down")
    return _gradient(f"M0 {start:g}", 0, *end, width) + text(-9, top - 6, _written(step.shape), "output", 12, "end")


def _left_between(left, spans, half, near):
    """Return what steps leave behind, around x = 0: each with an arrow from the right, all on a line to the foot."""
    svg = _gradient(f"M0 {sum(spans[max(left)]) / 2:g}", 0, -35)
    for i, (names, numbers) in left.items():
        middle = sum(spans[i]) / 2
        svg += _gradient(f"M{half + near:g} {middle:g}", half + 1, middle, "left")
        svg += box(-half, middle - 19, 2 * half, 38, "output")
        svg += text(0, middle - 3, names, "output", 12) + text(0, middle + 13, numbers, "output", 12)
    return svg


def _gradient(path, x, y, to="down", width=1.5):
    """Return a dashed line in the colour of gradients along a path to (x, y), with a full head there, or with none."""
    heads = {"down": (0, 6, "l-5 -8h10z"), "left": (-6, 0, "l8 -5v10z"), "right": (6, 0, "l-8 -5v10z")}
    across, down, head = heads.get(to, (0, 0, ""))
    line = f"{path}L{x - across:g} {y - down:g}"
    svg = element("path", d=line, fill="none", stroke="output", stroke_width=width, stroke_dasharray="5 3")
    return svg + (element("path", d=f"M{x:g} {y:g}{head}", fill="output") if head else "")


def _half_needed(step):
    """Return half of the width that the shape and the note of a step take up."""
    return max(6.2 * len(_written(step.shape)), 3.2 * len(step.note) + 4)


def _told(column):
    """Return what a column shows, in words."""
    said = "; ".join(_told_step(column.steps, i) for i in range(len(column.steps)))
    if column.repeated:
        first, stop, times = column.repeated
        said += f"; {column.steps[first].labels[0]} to {column.steps[stop - 1].labels[0]} {times} times"
    return f"{column.title}, from below".strip(", ").capitalize() + f": {said}."


def _told_step(steps, i):
    step, shape = steps[i], _written(steps[i].shape)
    said = [", ".join(step.labels), step.note]
    said += [f"what entered {steps[i - step.around].labels[0]}"] if step.around else []
    said += ["with", step.enters[0], _written(step.enters[2])] if step.enters else []
    return " ".join(filter(None, [*said, f"→ {shape}" * bool(shape)]))


def _written(shape):
    return " × ".join(map(str, shape))


def _spans(column, fork=15):
    """Return the top and the bottom of every step, above the height 0; bypasses begin `fork` below a step."""
    spans, y, forks = [], -4, [i - step.around for i, step in enumerate(column.steps) if step.around]
    for i, step in enumerate(column.steps):
        y -= 28 * (i > 0) + 14 * (i in column.repeated[:2]) + 2 * (fork - 15) * (i in forks)
        high = 46 if step.note else 25 if "muted" in step.roles else 33 if step.roles else 20
        spans.append((y - high, y))
        y = spans[-1][0]
    return spans


def _drawn(column, spans, side, half, fork=15):
    """Return a column around x = 0, its bypasses to the `side` -1, left, or 1, right, from `fork` below a step."""
    steps, svg = column.steps, _frame(column.repeated, spans, side, half) if column.repeated else ""
    past = {j for i, step in enumerate(steps) if step.around for j in range(i - step.around, i + 1)}
    for i, (step, (top, bottom)) in enumerate(zip(steps, spans)):
        if i:
            role = "ink" if past and i not in past else "muted"
            svg += _from_below(step, steps[i - 1], bottom, spans[i - 1][0], side, half, role)
        if step.around:
            first = i - step.around
            svg += _bypass((top + bottom) / 2, spans[first - 1][0], spans[first][1] + fork, side, half)
        elif step.enters:
            svg += _from_beside(step, (top + bottom) / 2, side, half)
        svg += _boxes(step, 0, top, bottom, half)
    return svg


def _frame(repeated, spans, side, half):
    """Return the dashed frame around repeated steps, with how often they are."""
    first, stop, times = repeated
    (_, bottom), (top, _) = spans[first], spans[stop - 1]
    left, high = -half - (8 if side > 0 else 25), bottom - top + 41
    frame = box(left, top - 20, 2 * half + 33, high, "muted", 0.07, 10, stroke_dasharray="4 3")
    anchor = "end" if side < 0 else "start"
    return frame + text(side * (half + 30), (top + bottom) / 2, f"× {times}", anchor=anchor)


def _from_below(step, below, end, start, side, half, role):
    """Return the arrows to a step from the one below it, with the shapes that they carry."""
    svg, taken, given = "", len(step.labels), len(below.labels)
    arrows = max(taken, given)
    for j in range(arrows):
        x = half / arrows * (2 * j + 1) - half
        svg += arrow(f"M{x:g} {start:g}V{end + 1.5:g}", 0, role)
        if given >= taken or j == taken - 1:
            anchor = "end" if side > 0 else "start"
            svg += text(x - 9 * side, start - 6, _written(below.shape), "muted", 12, anchor)
    return svg


def _bypass(middle, start, fork, side, half):
    """Return the bypass that leads from `start` to the height `middle`, sideways from the height `fork` on."""
    out, r = side * (half + 16), 8 * side
    path = f"M0 {start:g}V{fork:g}H{out - r:g}q{r} 0 {r} -8V{middle + 8:g}q0 -8 {-r} -8H{12 * side:g}"
    return arrow(path, -side, "ink")


def _from_beside(step, middle, side, half):
    """Return what enters a step from the side, in its box with an arrow."""
    label, role, shape = step.enters
    edge, wide = side * (half + 1.5 if step.roles else 12), 8 * len(label) + 14
    x = edge + side * (22 + wide / 2)
    svg = arrow(f"M{edge + 22 * side:g} {middle:g}H{edge:g}", -side)
    svg += text(x, middle + 27, _written(shape), "muted", 12)
    return svg + _boxes(_Step([label], [role]), x, middle - 13, middle + 13, wide / 2)


def _boxes(step, x, top, bottom, half):
    """Return the boxes, the text or the sign of a step, around `x`."""
    middle = (top + bottom) / 2
    if step.labels == ["+"]:
        return _sum(x, middle)
    svg, each, gap = "", half / len(step.labels), 3 * (len(step.labels) > 1)
    for j, label in enumerate(step.labels):
        left, role = x - half + 2 * each * j, step.roles[j] if step.roles else ""
        svg += box(left + gap, top, 2 * (each - gap), bottom - top, role) if role else ""
        ink = role if role in ROLES else "ink"
        svg += text(left + each, middle + (-2 if step.note else 5), label, ink)
        svg += text(left + each, middle + 15, step.note, ink, 12)
    return svg


def _sum(x, y, role="ink"):
    """Return the sign of a sum around (x, y)."""
    svg = element("circle", cx=x, cy=y, r=10, fill="paper", stroke=role, stroke_width=1.5)
    return svg + element("path", d=f"M{x - 5:g} {y:g}h10m-5 -5v10", stroke=role, stroke_width=1.5)


def beginnings(words, answers, *, alt):
    """Draw the words that each output may look at, a row for each, and the word that it has to say; used in chapter 6.

    What comes later is dashed.

    >>> picture = beginnings(["the", "cat"], ["cat", "sat"], alt="Two rows.")
    """
    wide, high = 9 * max(map(len, [*words, *answers])) + 10, 34
    end, svg = len(words) * (wide + 4) + 34, []
    for row, answer in enumerate(answers):
        y = 4 + row * high
        for column, word in enumerate(words):
            x, shown = 4 + column * (wide + 4), column <= row
            svg.append(box(x, y, wide, high - 8, "key") if shown else _dashed(x, y, wide, high - 8))
            svg.append(text(x + wide / 2, y + 18, word if shown else "", "key", 14))
        svg.append(arrow(f"M{end - 30} {y + 13}H{end - 8}", 1))
        svg.append(text(end, y + 18, answer, "output", 15, "start"))
    return Picture(end + wide, len(answers) * high + 4, f'<g font-family="inherit">{"".join(svg)}</g>', alt)


def block_of_bytes(block, *, alt):
    """Draw a block of 32 weights in 20 bytes: scale, least, and 16 bytes with two numbers each; used in chapter 21.

    `block` is one of a GGUF file's kind Q4_1, as bytes.  The low four bits of a byte are shaded, wherever they stand.

    >>> picture = block_of_bytes(bytes(20), alt="Twenty zeros.")
    """
    (scale, least), held, wide = np.frombuffer(block[:4], "<f2"), block[4:], 27
    svg = ""
    for x, pair, said in ((0, block[:2], f"scale {scale:.5f}"), (224, block[2:4], f"least {least:.5f}")):
        svg += "".join(box(x + 2 + wide * i, 2, wide, 28, "ink", 0) for i in range(2))
        svg += "".join(text(x + 15.5 + wide * i, 21, f"{byte:02x}") for i, byte in enumerate(pair))
        svg += text(x + 66, 21, said.replace("-", "−"), anchor="start")
    rows = (56, "the 16 bytes"), (108, "low halves: weights 0 to 15"), (160, "high halves: weights 16 to 31")
    svg += "".join(text(2, y, said, "muted", 14, "start") for y, said in rows)
    for i, byte in enumerate(held):
        x = 2 + wide * i
        shaded = {"x": x + wide / 2, "width": wide / 2, "height": 28, "fill": "ink", "fill_opacity": 0.16}
        svg += box(x, 63, wide, 28, "ink", 0) + element("rect", y=63, **shaded)
        svg += text(x + 7.5, 82, f"{byte >> 4:x}") + text(x + 19.5, 82, f"{byte & 15:x}")
        svg += box(x, 115, wide, 28, "ink", 0.16) + text(x + wide / 2, 134, str(byte & 15))
        svg += box(x, 167, wide, 28, "ink", 0) + text(x + wide / 2, 186, str(byte >> 4))
    return Picture(16 * wide + 4, 198, element("g", svg, font_family="inherit"), alt)


def running_strip(scores, values, block, *, alt):
    """Draw a softmax that sees its scores (n,) in blocks: below each, what is remembered of them; used in chapter 18.

    `values` (n,) are mixed as in attention, by the same weights.

    >>> picture = running_strip([1.0, 3.0, 2.0, 5.0], np.arange(4.0), 2, alt="Two blocks.")
    """
    parts = [slice(start, start + block) for start in range(0, len(scores), block)]
    scores, values, side, left = np.asarray(scores), np.asarray(values), 46, 58
    svg = "".join(text(0, y, said, "muted", 14, "start") for y, said in ((25, "scores"), (83, "factor")))
    svg += "".join(text(0, y, said, "muted", 14, "start") for y, said in ((120, "top"), (143, "total"), (166, "mixed")))
    top, total, mixed, wide = -np.inf, 0.0, 0.0, side * block
    for i, part in enumerate(parts):
        x, higher = left + i * (wide + 16), max(top, scores[part].max())
        factor, e = np.exp(top - higher), np.exp(scores[part] - higher)
        svg += "".join(box(x + side * j, 6, side, 28, "weight") for j in range(len(e)))
        svg += "".join(text(x + side * (j + 0.5), 25, f"{score:g}") for j, score in enumerate(scores[part]))
        svg += f'<g transform="rotate(180 {x + wide / 2:g} 50)">{arrow(f"M{x + wide / 2:g} 64V40")}</g>'
        if i:
            power = f"{top - higher:g}".translate(str.maketrans("-0123456789.", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹·"))
            svg += text(x + wide / 2, 83, f"e{power} = {factor:.4g}", "output", 14) + arrow(f"M{x - 15} 138H{x - 2}", 1)
        top, total, mixed = higher, total * factor + e.sum(), mixed * factor + e @ values[part]
        svg += box(x, 98, wide, 80, "output", 0.06)
        for y, number in ((120, f"{top:g}"), (143, f"{total:.4f}"), (166, f"{mixed:.4f}")):
            svg += text(x + wide / 2, y, number)
    return Picture(x + wide + 4, 184, element("g", svg, font_family="inherit"), alt)


def token_rows(rows, *, alt):
    """Draw how texts are cut into tokens, a dict, label -> tokens: a row of boxes for each; used in chapter 16.

    A blank is drawn as a dot in the middle; a token that the row above does not have is filled.

    >>> picture = token_rows({"letters": ["t", "h", "e"], "1 merge": ["th", "e"]}, alt="Two rows.")
    """
    left, high, svg, before, ends = 12 + 7.5 * max(map(len, rows)), 32, [], None, []
    for row, (label, tokens) in enumerate(rows.items()):
        x, y = left, 4 + row * high
        svg.append(text(left - 8, y + 17, label, "muted", 14, "end"))
        for token in tokens:
            wide, is_new = _letters_wide(token) + 4, before is not None and token not in before
            svg.append(box(x, y, wide, high - 8, "output" if is_new else "key", rx=3))
            svg.append(text(x + wide / 2, y + 17, token.replace(" ", "·"), "output" if is_new else "ink", 14))
            x += wide + 1
        ends.append(x)
        before = tokens
    return Picture(max(ends) + 2, len(rows) * high + 4, f'<g font-family="inherit">{"".join(svg)}</g>', alt)


def cached_steps(tokens, *, alt):
    """Draw what two consecutive steps compute of the keys and values of `tokens`, anew and with a cache; chapter 16.

    Keys stand above values, in a column for each token; what a step computes is filled, what it finds is an outline.

    >>> picture = cached_steps(["O", ",", "she"], alt="Four rows of boxes.")
    """
    wide, svg = 52, ""
    for row, (name, step) in enumerate((way, step) for way in ("all anew", "with a cache") for step in (-1, 0)):
        n, y = len(tokens) + step, 26 + 62 * row + 14 * (row > 1)
        svg += text(96, y + 20, name, "ink", 14, "end") + text(96, y + 37, f"step {n}", "muted", 13, "end")
        for place in range(n):
            x, found = 108 + (wide + 4) * place, name == "with a cache" and place < n - 1
            for part, role in enumerate(("key", "value")):
                svg += box(x, y + 26 * part, wide, 23, role, tint=0 if found else 0.3, rx=3)
                svg += text(x + wide / 2, y + 26 * part + 16, f"{role[0]}_{place + 1}", role if found else "ink", 14)
    for place, token in enumerate(tokens):
        svg += text(108 + (wide + 4) * place + wide / 2, 16, token, "ink", 14)
    return Picture(110 + (wide + 4) * len(tokens), 288, f'<g font-family="inherit">{svg}</g>', alt)


def _letters_wide(token):
    """Return about how wide a token is in letters of 14 units."""
    return sum(14 if letter in "mw" else 6 if letter in " ilfrt" else 9 for letter in token)


def _dashed(x, y, width, height):
    at = {"x": x, "y": y, "width": width, "height": height, "rx": 6}
    return element("rect", **at, fill="none", stroke="muted", stroke_dasharray="3 4")


def traced(stages, held, ways, *, dashed=(), alt):
    """Draw which vector brings what to which, from the embedding, below, to the last layer; used in chapter 17.

    `stages` are the names of the rows, from below.  `held` is (column, row) -> (word, what its vector holds), in up to
    three columns; a way is (from, to, by what, how much), both places as in `held`.  Some ways are `dashed`.

    >>> held = {(0, 0): ("noun", "its gender"), (1, 1): ("it", "gender")}
    >>> way = ((0, 0), (1, 1), "heads", 55)
    >>> picture = traced(["below", "above"], held, [way], alt="One arrow.")
    """
    place = lambda column, row: (135 + 124 * column, 110 * (len(stages) - row) - 84)
    svg = "".join(text(2, place(0, row)[1] + 5, name, "muted", 13, "start") for row, name in enumerate(stages))
    for way in ways:
        svg += _way(place(*way[0]), place(*way[1]), *way[2:], "5 3" if way in dashed else "none")
    for at, (word, what) in held.items():
        (x, y), role = place(*at), "output" if at[1] == len(stages) - 1 else "ink"
        svg += box(x - 40, y - 22, 80, 44, role) + text(x, y - 3 if what else y + 5, word, role, 15)
        svg += text(x, y + 14, what, "muted", 13)
    return Picture(425, 110 * len(stages) - 52, f'<g font-family="inherit">{svg}</g>', alt, zoom=1.2)


def _way(start, end, by, count, dash):
    """Return an arrow from one box to one above it, with what it takes beside it, inside of two that meet."""
    (x, y), (top, high) = start, end
    aside = (x > top) - (x < top)  # 1 for an arrow that comes from the right, and has its words to the left
    middle, anchor = x - 50 * aside + 8 * (not aside), "end" if aside > 0 else "start"
    line = element("g", arrow(f"M{x} {y - 22}L{top + 26 * aside} {high + 24}"), stroke_dasharray=dash)
    return (
        line + text(middle, y - 40, by, size=13, anchor=anchor) + text(middle, y - 25, f"{count}", "muted", 13, anchor)
    )


def head_fans(words, asking, looks, *, alt):
    """Draw where one of `words` looks, the one at place `asking`: a panel for each head.

    `looks` is a dict, title -> weights (n,); lines are as thick as these, and a weight is written from 0.1 on.
    Used in chapter 7.

    >>> picture = head_fans(["the", "cat", "it"], 2, {"head 1": [0.1, 0.8, 0.1]}, alt="A fan.")
    """
    high = 26 * len(words) + 32
    fans = [_fan(words, asking, *each) for each in looks.items()]
    return in_row([Picture(164, high, f'<g font-family="inherit">{svg}</g>', alt) for svg in fans], alt)


def _fan(words, asking, title, weights):
    """Return the inside of one panel of `head_fans`: words in a column, and lines to them from the one that asks."""
    svg, row = text(64, 18, title, "ink", 15, "start"), lambda place: 26 * place + 44
    for place, (word, weight) in enumerate(zip(words, weights)):
        start, y, out, itself = row(asking), row(place), 42 - 5 * abs(asking - place), place == asking
        path = f"M58 {y - 4}c-24 -9 -24 17 0 8" if itself else f"M58 {start}C{out} {start} {out} {y} 58 {y}"
        if weight >= 0.01:
            svg += element("path", d=path, fill="none", stroke="weight", stroke_width=12 * weight, stroke_opacity=0.8)
        name = text(64, y + 5, word, "query" if itself else "ink", 15, "start")
        svg += element("g", name, font_weight="bold") if itself else name
        svg += text(162, y + 5, f"{weight:.2f}" if weight >= 0.1 else "", "weight", 13, "end")
    return svg


def clocks(hands, *, alt):
    """Draw a pair of features of a query and of a key as two hands, with the angle between them; used in chapter 10.

    `hands` is a dict, title -> (query (2,), key (2,)), a face for each; the product of the two stands below it.

    >>> hands = {"2 apart": (np.array([1.0, 0.0]), np.array([0.0, 1.0]))}
    >>> picture = clocks(hands, alt="A clock.")
    """
    longest = max(np.linalg.norm(hand) for both in hands.values() for hand in both)
    faces = [_clock(title, *(np.asarray(hand) / longest for hand in both)) for title, both in hands.items()]
    products = [f"q · k = {np.dot(*both):.2f}".replace("-", "−") for both in hands.values()]
    svg = [face + text(82, 196, product, "weight", 15) for face, product in zip(faces, products)]
    return in_row([Picture(164, 204, f'<g font-family="inherit">{face}</g>', alt) for face in svg], alt)


def _clock(title, query, key):
    """Return the inside of a face of `clocks`, whose hands are at most 1 long."""
    svg = text(82, 16, title, "ink", 14) + element("circle", cx=82, cy=103, r=70, fill="none", stroke="muted")
    ends = [math.atan2(*hand[::-1]) for hand in (query, key)]
    (x, y), (u, v) = ((82 + 24 * math.cos(end), 103 - 24 * math.sin(end)) for end in ends)
    sweep = int((ends[0] - ends[1]) % (2 * math.pi) > math.pi)  # the shorter way round
    arc = f"M{u:.1f} {v:.1f}A24 24 0 0 {sweep} {x:.1f} {y:.1f}"
    svg += element("path", d=arc, fill="none", stroke="weight", stroke_width=3)
    for name, role, (right, up) in (("q", "query", query), ("k", "key", key)):
        x, y, beyond = 82 + 56 * right, 103 - 56 * up, 12 / math.hypot(right, up)
        svg += element("path", d=f"M82 103L{x:.1f} {y:.1f}", stroke=role, stroke_width=4, stroke_linecap="round")
        name = text(round(x + beyond * right, 1), round(y - beyond * up + 5, 1), name, role, 15)
        svg += element("g", name, font_weight="bold")
    return svg


# ---- tables with their numbers -------------------------------------------------------------------------------------

CELL = 15  # the side of a cell


def self_attention_tables(x, params, words, *, alt):
    """Draw self-attention from below, each table shaded by its numbers, with its shape; used in chapter 5.

    Shapes: x (n, d) of numbers that are not negative, one row for each of `words`; params W_Q, W_K, W_V.

    >>> params = {name: np.eye(2) for name in ("W_Q", "W_K", "W_V")}
    >>> picture = self_attention_tables(np.eye(2), params, ["cat", "dog"], alt="Tables.")
    """
    queries, keys, values = (project(x, params, name) for name in ("W_Q", "W_K", "W_V"))
    output, weights = attention(queries, keys, values)
    high = CELL * len(words)
    tops = [4 + k * (high + 46) for k in range(5)]  # from the output down to x
    svg = _shaded(x, "X", "n × d", 190, tops[4], "ink")
    svg += _shaded(queries, "Q", "n × d_k", 76, tops[3], "query")
    svg += _shaded(keys, "K", "n × d_k", 190, tops[3], "key")
    svg += _shaded(values, "V", "n × d_v", 304, tops[3], "value")
    svg += _shaded(queries @ keys.T, "Q Kᵀ / √d_k", "n × n", 121, tops[2], "ink")
    svg += _shaded(weights, "weights", "n × n", 121, tops[1], "weight")
    svg += _shaded(output, "output", "n × d_v", 218, tops[0], "output")
    for left, top in ((190 - CELL * x.shape[1] / 2, tops[4]), (121 - high / 2, tops[1])):
        svg += "".join(text(left - 6, top + CELL * i + 12, word, "muted", 12, "end") for i, word in enumerate(words))
    return Picture(396, tops[4] + high + 6, f'<g font-family="inherit">{svg}{_ways(tops, high)}</g>', alt)


def _ways(tops, high):
    """Return the arrows between the tables of self-attention, from one height to the next above it."""
    ways = [(190, 4, 76, 3, "W_Q", "query"), (190, 4, 190, 3, "W_K", "key"), (190, 4, 304, 3, "W_V", "value")]
    ways += [(76, 3, 111, 2, "", "query"), (190, 3, 131, 2, "", "key"), (121, 2, 121, 1, "softmax", "weight")]
    ways += [(121, 1, 208, 0, "", "weight"), (304, 3, 230, 0, "", "value")]
    svg = ""
    for start, below, end, above, name, role in ways:
        low, up = tops[below] - 5, tops[above] + high + 6
        svg += arrow(f"M{start} {low}C{start} {up + 6} {end} {low - 6} {end} {up}", 0, role)
        outside = (end - 8, "end") if end < start else (end + 8, "start")
        svg += text(outside[0], up + 14, name, role, 13, outside[1])
    return svg


def _shaded(matrix, name, letters, middle, top, role):
    """Return a table of cells around `middle`, the darker the larger the number, with its name and shape beside it."""
    n, m = matrix.shape
    left, shades = middle - CELL * m / 2, (0.8 * matrix / matrix.max()).round(2)
    svg = element("rect", x=left, y=top, width=CELL * m, height=CELL * n, rx=2, fill="none", stroke=role)
    for shade in np.unique(shades[shades > 0]):
        corners = (f"M{left + CELL * j:g} {top + CELL * i:g}" for i, j in np.argwhere(shades == shade))
        cells = "".join(f"{corner}h{CELL}v{CELL}h-{CELL}z" for corner in corners)
        svg += element("path", d=cells, fill=role, fill_opacity=float(shade))
    lines = (f"M{left + CELL * j:g} {top:g}v{CELL * n}" for j in range(1, m))
    rows = (f"M{left:g} {top + CELL * i:g}h{CELL * m}" for i in range(1, n))
    svg += element("path", d="".join([*lines, *rows]), stroke="grid", stroke_width=0.5, fill="none")
    beside = left + CELL * m + 6
    svg += text(beside, top + 14, name, role, 14, "start") + text(beside, top + 32, letters, "muted", 12, "start")
    return svg + text(beside, top + 48, f"{n} × {m}", "muted", 12, "start")
