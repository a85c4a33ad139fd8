"""The norms of the book's translator, and what comes in their place; from chapter 8 on."""

from minitransformer.inside import check_names

_PARTS = [*(f"encoder {layer} {part}" for layer in (1, 2) for part in ("attention", "feed_forward")), "encoder"]
_PARTS += ["decoder 1 attention", "decoder 1 cross_attention", "decoder 1 feed_forward", "decoder"]
NORMS = {f"{part} normed" if " " in part else f"{part} output": f"{part} stream" for part in _PARTS}


def without_norms(function=None, norms=NORMS):
    """Return what `activations` and `scored` take as `instead` to do without norms: {norm: function}.

    `NORMS` has the names of all nine, each with the name of what it reads.  What takes a norm's place hands on what
    the norm reads as it is, or `function(x, norm)` of it, where x (n, d) is what it reads and norm is its name.
    Raises ValueError where one of `norms` is not the name of a norm.  Used in chapter 8.

    >>> from companion.evidence import activations
    >>> found = activations("the cat was tired", instead=without_norms(lambda x, norm: x / 2, ["encoder output"]))
    >>> bool((found["encoder output"] == found["encoder stream"] / 2).all())
    True
    """
    check_names("norms", norms, NORMS)
    return {norm: _in_place(norm, function or _as_it_is) for norm in norms}


def _as_it_is(x, norm):
    """Return what a norm reads."""
    return x


def _in_place(norm, function):
    """Return a function of all that was found so far which takes the place of a norm."""
    return lambda found: function(found[NORMS[norm]], norm)
