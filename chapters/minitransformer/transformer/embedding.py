"""The embedding and the output head: words become vectors, and vectors become logits; built in chapter 12."""

import math

import numpy as np

from ..arrays import entry, floats, matrix_for, one_of, rows, token_ids
from ..positions import sinusoidal_positions
from ..self_attention import product

POSITIONS = ("sinusoidal", "learned", "rotary", "none")


def embed(ids, params, positions="sinusoidal", table="embedding", first=0):
    """Look up the row of each token, add its learned position, multiply by √d, and add its sinusoidal position.

    Shapes: ids (…, n) of whole numbers, params[table] (vocabulary, d), and where positions are learned
    params["positions"] (max_length, d) -> (…, n, d); "rotary" and "none" add nothing here.  `first` is the position of
    the first token.  Raises ValueError where a number is not in the vocabulary or there are more tokens than positions.
    Vaswani et al. (2017), section 3.4; built in chapter 12.

    >>> table = np.ones((10, 4))
    >>> embed([3, 1], {"embedding": table}, positions="none").tolist()
    [[2.0, 2.0, 2.0, 2.0], [2.0, 2.0, 2.0, 2.0]]
    """
    words = floats(entry(params, table), table, 2)
    places = position_table(params, positions)
    ids = token_ids(ids, len(words), None if places is None else len(places) - first)
    x = words[ids]
    if places is not None:
        x += places[first : first + ids.shape[-1]]
    x *= words.shape[1] ** 0.5
    if positions == "sinusoidal":
        x += sinusoidal_positions(first + x.shape[-2], x.shape[-1])[first:]
    return x


def position_table(params, positions):
    """Return the table of learned positions, None where a model has none.  Used in chapter 12.

    Raises ValueError where `positions` is no kind of them, or the table is missing or there without being asked for.

    >>> position_table({"embedding": np.ones((10, 4))}, "none") is None
    True
    """
    places = params.get("positions")
    if (one_of(positions, "positions", POSITIONS) == "learned") != (places is not None):
        there = "a table of positions" if places is not None else "no table of positions"
        raise ValueError(f"positions is {positions!r} and params has {there}; expected one where they are learned.")
    return None if places is None else floats(places, "positions", 2)


def embed_vjp(ids, params, positions="sinusoidal", table="embedding"):
    """Return `embed(…)` and its backward pass: d_output -> {table: gradient}, and of learned positions {"positions"}.

    Shapes: as in `embed`.  A row that was looked up for several tokens gets the sum of their gradients, as does a
    position of several texts.  Used in chapter 13.

    >>> x, backward = embed_vjp([3, 1, 3], {"embedding": np.ones((5, 4))}, positions="none")
    >>> backward(np.ones((3, 4)))["embedding"][:, 0].tolist()
    [0.0, 2.0, 0.0, 4.0, 0.0]
    """
    x = embed(ids, params, positions, table)

    def backward(d_output):
        d_output = d_output * d_output.shape[-1] ** 0.5
        gradients = {table: np.zeros_like(floats(params[table], table))}
        # number by number: for whole rows `np.add.at` takes six times as long
        numbers = np.asarray(ids, int)[..., None] * d_output.shape[-1] + np.arange(d_output.shape[-1])
        np.add.at(gradients[table].reshape(-1), numbers.ravel(), d_output.ravel())
        if "positions" in params:
            gradients["positions"] = np.zeros_like(floats(params["positions"], "positions"))
            gradients["positions"][: x.shape[-2]] = d_output.reshape(math.prod(x.shape[:-2]), *x.shape[-2:]).sum(axis=0)
        return gradients

    return x, backward


def output_matrix(params):
    """Return the matrix (d, vocabulary) of the output head: its own, or else the embedding, turned round.

    Used in chapter 12.

    >>> output_matrix({"embedding": np.ones((10, 4))}).shape
    (4, 10)
    """
    return (
        params["output"]
        if isinstance(params, dict) and "output" in params
        else floats(entry(params, "embedding"), "embedding").T
    )


def logits_of(x, params, record=None):
    """Score every word of the vocabulary at every position: with a matrix of its own, or else with the embedding.

    Shapes: x (…, n, d), params["output"] (d, vocabulary) or params["embedding"] (vocabulary, d) -> (…, n, vocabulary).
    `record`, a dict, receives these logits.  Press and Wolf (2017) tie the two; built in chapter 12.

    >>> logits_of(np.ones((3, 4)), {"embedding": np.ones((10, 4))}).shape
    (3, 10)
    """
    record = {} if record is None else record
    matrix = output_matrix(params)
    record["logits"] = product(*matrix_for(x, {"output": matrix}, "output"))
    return record["logits"]


def logits_of_vjp(x, params):
    """Return `logits_of(…)` and its backward pass: d_logits -> dX, and {"output"} or {"embedding"}: its gradient.

    Shapes: as in `logits_of`.  Used in chapter 13.

    >>> logits, backward = logits_of_vjp(np.ones((3, 4)), {"output": np.ones((4, 10))})
    >>> d_x, gradients = backward(np.ones_like(logits))
    >>> d_x.shape, gradients["output"].shape
    ((3, 4), (4, 10))
    """
    x, matrix = matrix_for(x, {"output": output_matrix(params)}, "output")

    def backward(d_logits):
        if "output" in params:
            return product(d_logits, matrix.T), {"output": rows(x).T @ rows(d_logits)}
        return product(d_logits, matrix.T), {"embedding": rows(d_logits).T @ rows(x)}

    return logits_of(x, params), backward
