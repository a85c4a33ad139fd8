"""Checks of what a model that answers is trained on; used in chapter 20."""

from ..arrays import finite, floats, number, whole_numbers


def alike(first, second, *names):
    """Return two rows (count,) of numbers as arrays of floats, one number of each for an answer.

    Raises ValueError, naming both, where they have not one shape, or hold NaN or infinite numbers.  Used in chapter 20.

    >>> [row.tolist() for row in alike([1, 2], [3, 4], "better", "worse")]
    [[1.0, 2.0], [3.0, 4.0]]
    """
    first, second = (finite(floats(each, name), name) for each, name in zip((first, second), names))
    if first.shape != second.shape or first.ndim != 1 or not first.size:
        raise ValueError(
            f"{names[0]} has shape {first.shape} and {names[1]} {second.shape}; expected (count,), one of both for "
            "each answer."
        )
    return first, second


def above_zero(value, name):
    """Return a number.  Raises ValueError where it is not above 0.  Used in chapter 20.

    >>> above_zero(0.1, "beta")
    0.1
    """
    if number(value, name) == 0:
        raise ValueError(f"{name} is 0; expected a number above 0.")
    return value


def groups(rewards):
    """Return rewards (…, count) as floats.  Raises ValueError where a group has none, or one is NaN or infinite.

    Used in chapter 20.

    >>> groups([1, 0]).tolist()
    [1.0, 0.0]
    """
    return finite(_with_answers(floats(rewards, "rewards"), "rewards"), "rewards")


def several(answers):
    """Return answers (…, count) as whole numbers.  Raises TypeError or ValueError where there is none.

    Used in chapter 20.

    >>> several([3, 1]).tolist()
    [3, 1]
    """
    return _with_answers(whole_numbers(answers, "answers"), "answers")


def _with_answers(values, name):
    """Return an array (…, count).  Raises ValueError, naming it, where a question has no answer."""
    if values.ndim == 0 or not values.shape[-1]:
        raise ValueError(f"{name} has shape {values.shape}; expected (…, count), an answer or more for each question.")
    return values


def turns(ids):
    """Return texts (…, n) as whole numbers.  Raises TypeError or ValueError where they have not two tokens or more.

    Used in chapter 20.

    >>> turns([1, 104]).tolist()
    [1, 104]
    """
    ids = whole_numbers(ids, "ids")
    if ids.ndim == 0 or ids.shape[-1] < 2:
        raise ValueError(f"ids has shape {ids.shape}; expected (…, n), two tokens or more.")
    return ids


def fitting(W, A, B):
    """Return W (n, m), A (n, r) and B (r, m) as floats.  Raises ValueError where they do not fit.  Used in chapter 20.

    >>> [part.shape for part in fitting(np.eye(2), np.ones((2, 1)), np.ones((1, 2)))]
    [(2, 2), (2, 1), (1, 2)]
    """
    W, A, B = (floats(each, name, axes=2) for each, name in ((W, "W"), (A, "A"), (B, "B")))
    if W.shape != (A.shape[0], B.shape[-1]) or A.shape[-1] != B.shape[0]:
        raise ValueError(
            f"W has shape {W.shape}, A {A.shape} and B {B.shape}; expected (n, m), (n, r) and (r, m) of one n, m and r."
        )
    return W, A, B
