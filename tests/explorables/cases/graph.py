"""What the tests begin with, do and expect of the explorable "graph"."""

import numpy as np

from minitransformer.attention import attention_vjp
from minitransformer.softmax import softmax_vjp
from tests.shared.explorable_page import LONG, cells

START = {
    "labels": ["animal", "street", "road"],
    "query": [1.0, 0.5],
    "keys": [[1.0, 0.0], [0.8, 1.0], [0.5, 0.8]],
    "values": [[1.0, 0.2], [0.1, 0.9], [0.0, 1.0]],
    "upstream": [-2.0, 0.5],
}


def graph_tables(labels, query, keys, values, upstream):
    """Return the tables of one attention, and their gradients by the same names."""
    Q, K, V, d_O = (np.array(numbers, float) for numbers in ([query], keys, values, [upstream]))
    (output, weights), backward = attention_vjp(Q, K, V)
    d_Q, d_K, d_V = backward(d_O)
    d_scores = softmax_vjp(Q @ K.T / 2**0.5)[1](d_O @ V.T)
    tables = {"query": Q, "key": K, "score": K @ Q.T / 2**0.5, "weight": weights.T, "value": V, "output": output}
    gradients = {"query": d_Q, "key": d_K, "score": d_scores.T, "weight": V @ d_O.T, "value": d_V}
    return tables, gradients


def stepped(rate=0.5, **state):
    """Return the state of the graph after a step against its gradients."""
    tables, gradients = graph_tables(**state)
    query, keys, values = (tables[name] - rate * gradients[name] for name in ("query", "key", "value"))
    return {**state, "query": query[0].tolist(), "keys": keys.tolist(), "values": values.tolist()}


def numbers(upstream, **state):
    """Return the numbers of one attention and of its gradients, and the loss."""
    tables, gradients = graph_tables(upstream=upstream, **state)
    named = tables | {f"d-{name}": table for name, table in gradients.items()} | {"upstream": [upstream]}
    found = {key: value for name, table in named.items() for key, value in cells(name, table).items()}
    return found | {"loss": tables["output"][0] @ upstream}


WALK = [
    ("spinbutton", "query, number 1", "-1.5", {"query": [-1.5, 0.5]}),
    ("spinbutton", "key of “street”, number 2", "2.25", {"keys": [[1, 0], [0.8, 2.25], [0.5, 0.8]]}),
    ("spinbutton", "value of “road”, number 1", "-7", {"values": [[1, 0.2], [0.1, 0.9], [-7, 1]]}),
    ("button", "score of “animal”", "", {}),
    ("spinbutton", "upstream gradient, number 2", "0", {"upstream": [-2, 0]}),
    ("spinbutton", "upstream gradient, number 1", "0", {"upstream": [0, 0]}),
    ("button", "take a step", "", {}),  # no gradient comes from above
    ("button", "start again", "", START),
]
SPOKEN = ("spinbutton", "query, number 1", "0.7", {"query": [0.7, 0.5]}, "loss = {loss:.3f}. {said}")
WIDE = {
    "labels": ["a", "b", "c"],
    "query": [-123.456, 31.25],
    "keys": [[-12.345, 0.123], [-12.34, 0.125], [-12.3, 0]],
    "values": [[-1234.567, 0.001], [234.567, -0.002], [-999.999, 0.003]],
    "upstream": [1234.5, -0.125],
}
ROOMY = {**WIDE, "labels": LONG}
TYPED_WRONG = ("key of “road”, number 2", ["-", "e", "1e7", "-1000001"])
SAID = [
    ({}, [], "The query should look more at “animal” and less at “road”."),
    ({"query": [0, 0.1], "keys": [[9, 0], [-9, 0], [0, 0]]}, [], "The query should look more at “animal” and"),
    ({"keys": [[9, 0], [0, 1], [0, 2]]}, [], "Saturated: “animal” has nearly all the weight, and"),
    ({"keys": [[9, 0], [0, 1], [0, 2]]}, [], "at most (chapter 3). Only the value of “animal” learns."),
    ({"query": [0, 0]}, [], "No key learns: its gradient is a multiple of the query, which is 0."),
    ({"query": [0, 0], "keys": [[0, 0]] * 3}, [], "The query is 0 and all keys are alike, so that neither"),
    ({"values": [[2, 1]] * 3}, [], "All values give the same loss. Where the query looks changes nothing:"),
    ({"values": [[1, 0], [2, 4], [3, 8]]}, [], "All values give the same loss."),
    ({"upstream": [0, 0]}, [], "The upstream gradient is 0: all gradients are 0, and a step moves nothing."),
    ({"upstream": [0, 0]}, [("button", "take a step")], "The upstream gradient is 0"),
]
WRITTEN = [
    ({"query": [9, 0]}, {"weight-0-0": "0.757", "d-value-0-0": "−1.513", "d-weight-0-0": "−1.9", "d-key-2-1": "0"}),
    ({"query": [90, 0]}, {"weight-1-0": "<0.001", "d-key-1-0": "≈0", "d-value-1-0": "≈0", "score-0-0": "63.64"}),
    ({"upstream": [0, -2e6]}, {"d-score-0-0": "3e5", "d-weight-2-0": "−2e6", "d-value-2-0": "0"}),
]
REFUSED = [("labels", ["a", "b"]), ("values", [[1, 2, 3]] * 3), ("upstream", [1])]
