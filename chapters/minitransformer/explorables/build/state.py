"""A model's parts: kind, its sizes, where its norms stand ("pre" or "post"), and whether the output is tied."""

from ..shared.states import one_of, whole

STATE = {
    "kind": one_of("decoder", "encoder-decoder"),
    **dict.fromkeys(("d", "heads", "layers", "hidden", "vocabulary", "n"), whole(1, 100_000)),
    "norm": one_of("pre", "post"),
    "tied": one_of(True, False),
}
