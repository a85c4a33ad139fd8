"""Self-attention: queries, keys and values from the same tokens; built in chapter 5."""

from .arrays import matrix_for, rows
from .attention import attention, attention_vjp


def project(x, params, name, of="x"):
    """Return `x` times the matrix `params[name]`, the same matrix for every token.

    Shapes: x (…, n, d_in), params[name] (d_in, d_out) -> (…, n, d_out).  Errors call `x` what `of` says.
    Raises ValueError where the matrix is missing or does not fit, naming both shapes and the axes.  Built in chapter 5.

    >>> project([[1.0, 2.0]], {"W_Q": np.ones((2, 3))}, "W_Q").tolist()
    [[3.0, 3.0, 3.0]]
    """
    return product(*matrix_for(x, params, name, of))


def product(x, matrix):
    """Return `x` (…, d_in) times `matrix` (d_in, d_out), all tokens of all texts in one product: (…, d_out).

    NumPy would multiply text by text, in twice the time.  Used from chapter 5 on.

    >>> product(np.ones((5, 4, 3)), np.ones((3, 2))).shape
    (5, 4, 2)
    """
    return (x.reshape(-1, len(matrix)) @ matrix).reshape(*x.shape[:-1], matrix.shape[1])


def self_attention(x, params, keep=None):
    """Let every token of `x` attend to every token of `x`, itself included.

    Shapes: x (…, n, d), params W_Q (d, d_k), W_K (d, d_k), W_V (d, d_v), keep (…, n, n) of bool, True where a token may
    attend -> output (…, n, d_v), weights (…, n, n): row i says where token i looks.
    Raises ValueError where shapes do not fit, naming them and the axis, and TypeError where `keep` is not bool.
    Vaswani et al. (2017), section 3.2; built in chapter 5.

    >>> eye = np.eye(3)
    >>> output, weights = self_attention(eye, {"W_Q": eye, "W_K": eye, "W_V": eye})
    >>> output.shape, weights.sum(axis=-1).round(9).tolist()
    ((3, 3), [1.0, 1.0, 1.0])
    """
    queries, keys, values = (project(x, params, name) for name in ("W_Q", "W_K", "W_V"))
    return attention(queries, keys, values, keep)


def project_vjp(x, params, name, of="x"):
    """Return `project(…)` and its backward pass: d_output -> dX = d_output Wᵀ and {name: dW}, dW = Xᵀ d_output.

    Shapes: as in `project`; dW is summed over all tokens of all texts.  Used in chapter 13.

    >>> result, backward = project_vjp([[1.0, 2.0]], {"W": np.ones((2, 3))}, "W")
    >>> d_x, gradients = backward(np.array([[1.0, 0.0, 0.0]]))
    >>> d_x.tolist(), gradients["W"].tolist()
    ([[1.0, 1.0]], [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    """
    x, matrix = matrix_for(x, params, name, of)

    def backward(d_output):
        return product(d_output, matrix.T), {name: rows(x).T @ rows(d_output)}

    return product(x, matrix), backward


def self_attention_vjp(x, params, keep=None):
    """Return `self_attention(…)`, (output, weights), and its backward pass: d_output -> dX, {W_Q, W_K, W_V: gradients}.

    Shapes: as in `self_attention`.  Each token has asked, answered and been mixed: its three gradients add up.
    Used in chapter 13.

    >>> params = {name: np.eye(3) for name in ("W_Q", "W_K", "W_V")}
    >>> (output, weights), backward = self_attention_vjp(np.eye(3), params)
    >>> d_x, gradients = backward(np.ones((3, 3)))
    >>> d_x.shape, list(gradients)
    ((3, 3), ['W_Q', 'W_K', 'W_V'])
    """
    parts = [project_vjp(x, params, name) for name in ("W_Q", "W_K", "W_V")]
    result, back = attention_vjp(*(part for part, _ in parts), keep)

    def backward(d_output):
        found = [back_project(d) for (_, back_project), d in zip(parts, back(d_output))]
        return sum(d_x for d_x, _ in found), {name: d for _, gradients in found for name, d in gradients.items()}

    return result, backward
