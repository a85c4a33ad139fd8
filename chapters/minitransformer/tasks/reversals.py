"""A first task: to say a row of digits in the opposite order; built in chapter 14."""

import numpy as np

from ..arrays import generator, whole

START, END = 10, 11  # the words beside the ten digits
WORDS = 12


def reversals(rng, count, least=4, most=12):
    """Return rows of digits and the same digits in the opposite order, as a batch for `train`.

    Shapes: -> (source (count, most), target (count, most + 1), lengths (count,)), said (count, most + 1): each row has
    from `least` to `most` digits.  The target begins with START; what is to be said ends with END.  Padding is 0, and
    −1, which does not count, in what is to be said.  Used in chapter 14.

    >>> (source, target, lengths), said = reversals(np.random.default_rng(0), count=2)
    >>> source.shape, target.shape, said.shape
    ((2, 12), (2, 13), (2, 13))
    >>> source[0, : lengths[0]].tolist() == said[0, : lengths[0]][::-1].tolist()
    True
    """
    rng, count, least, most = generator(rng), whole(count, "count", 0), whole(least, "least"), whole(most, "most")
    if most < least:
        raise ValueError(f"least is {least} and most {most}; expected most to be no smaller.")
    lengths = rng.integers(least, most + 1, size=count)
    source = rng.integers(10, size=(count, most))
    said = np.full((count, most + 1), -1)
    for row, length in enumerate(lengths):
        source[row, length:] = 0
        said[row, : length + 1] = [*source[row, :length][::-1], END]
    target = np.hstack([np.full((count, 1), START), np.where(said[:, :-1] < 0, 0, said[:, :-1])])
    return (source, target, lengths), said
