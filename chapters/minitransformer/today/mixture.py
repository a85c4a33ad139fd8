"""A mixture of experts: several feed-forward networks, of which each token uses a few; chapter 19."""

import numpy as np

from ..arrays import entry, floats, rows, whole
from ..self_attention import project, project_vjp
from ..softmax import softmax
from .parts import swiglu, swiglu_vjp


def routed(scores, chosen=2, balance=0.0):
    """Return how each token shares itself out among its `chosen` best experts: the softmax of their scores, else 0.

    `balance` is added to the scores while the experts are chosen, and not to those that share.
    Shapes: scores (…, n, experts), balance (experts,) -> (…, n, experts), rows that sum to 1.  Raises ValueError where
    there are fewer experts than are chosen.  Jiang et al. (2024), section 2.1; Wang et al. (2024); used in chapter 19.

    >>> routed([[2.0, 0.0, 2.0, 1.0]]).tolist()
    [[0.5, 0.0, 0.5, 0.0]]
    """
    scores, chosen = floats(scores, "scores", axes=1), whole(chosen, "chosen")
    if chosen > scores.shape[-1]:
        raise ValueError(f"scores has shape {scores.shape} and chosen is {chosen}; expected as many experts, or more.")
    best = np.argsort(-scores - balance, axis=-1, kind="stable")[..., :chosen]
    hidden = np.full_like(scores, -np.inf)
    np.put_along_axis(hidden, best, np.take_along_axis(scores, best, axis=-1), axis=-1)
    return softmax(hidden)


def experts(x, params, chosen=2):
    """Send every token through its `chosen` best experts, each a `swiglu`, and mix what they return by its shares.

    Shapes: x (…, n, d), params W_router (d, experts) and experts, a dict of dicts as in `swiglu`
    and perhaps balance (experts,) -> output (…, n, d_out) and shares (…, n, experts), 0 where an expert does not see a
    token.
    Raises ValueError where shapes do not fit.  Jiang et al. (2024), section 2.1; used in chapter 19.

    >>> one = {"W_gate": np.eye(2), "W_1": np.eye(2), "W_2": np.eye(2)}
    >>> params = {"W_router": np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]), "experts": {1: one, 2: one, 3: one}}
    >>> output, shares = experts([[1.0, 0.0]], params)
    >>> output.round(2).tolist(), shares.tolist()
    ([[0.73, 0.0]], [[0.5, 0.0, 0.5]])
    """
    balance = params.get("balance", 0.0)
    shares = routed(project(x, params, "W_router"), chosen, balance)
    output = 0
    for share, one in zip(np.moveaxis(shares, -1, 0), router_experts(params).values()):
        seen = share > 0
        made = share[seen][:, None] * swiglu(floats(x)[seen], one)
        found = np.zeros((*seen.shape, made.shape[-1]), made.dtype)
        found[seen] = made
        output = output + found
    return output, shares


def experts_vjp(x, params, chosen=2):
    """Return `experts(…)`, (output, shares), and its backward pass: d_output -> dX, gradients like `params`.

    Shapes: as in `experts`.  Which experts are chosen is no number, and gets no gradient; their shares do.
    Used in chapter 19.

    >>> one = {"W_gate": np.eye(2), "W_1": np.eye(2), "W_2": np.eye(2)}
    >>> params = {"W_router": np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]), "experts": {1: one, 2: one, 3: one}}
    >>> (output, shares), backward = experts_vjp([[1.0, 0.0]], params)
    >>> d_x, gradients = backward(np.ones_like(output))
    >>> gradients["experts"][2]["W_1"].tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    scores, back_scores = project_vjp(x, params, "W_router")
    x, shares = floats(x), routed(scores, chosen, params.get("balance", 0.0))
    parts = list(zip(router_experts(params), np.moveaxis(shares, -1, 0)))
    ran = {name: swiglu_vjp(x[share > 0], params["experts"][name]) for name, share in parts}
    output = np.zeros((*x.shape[:-1], next(iter(ran.values()))[0].shape[-1]), shares.dtype)
    for name, share in parts:
        output[share > 0] += share[share > 0][:, None] * ran[name][0]

    def backward(d_output):
        d_x, d_shares, gradients = np.zeros_like(x), np.zeros_like(shares), {}
        for place, (name, share) in enumerate(parts):
            seen, (found, back) = share > 0, ran[name]
            d_shares[seen, place] = np.vecdot(d_output[seen], found)
            d_seen, gradients[name] = back(share[seen][:, None] * d_output[seen])
            d_x[seen] += d_seen
        d_scores = shares * (d_shares - np.vecdot(shares, d_shares)[..., None])
        more, d_router = back_scores(d_scores)
        still = {"balance": np.zeros_like(params["balance"])} if "balance" in params else {}
        return d_x + more, d_router | {"experts": gradients} | still

    return (output, shares), backward


def router_experts(params):
    """Return the experts of `params`, a dict.  Raises ValueError unless W_router has a column for each of them.

    Used in chapter 19.

    >>> list(router_experts({"W_router": np.zeros((4, 2)), "experts": {"a": {}, "b": {}}}))
    ['a', 'b']
    """
    parts, shape = entry(params, "experts"), np.shape(params["W_router"])
    if len(parts) != shape[-1]:
        raise ValueError(f"W_router has shape {shape} and experts are {len(parts)}; expected a column for each expert.")
    return parts


def expert_load(shares):
    """Return which share of all choices each expert gets: (…, n, experts) -> (experts,), with the sum 1.

    Used in chapter 19.

    >>> expert_load([[0.5, 0.0, 0.5], [0.9, 0.1, 0.0]]).tolist()
    [0.5, 0.25, 0.25]
    """
    seen = rows(floats(shares, "shares", axes=2)) > 0
    return seen.sum(axis=0) / seen.sum()
