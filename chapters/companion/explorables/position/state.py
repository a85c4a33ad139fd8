"""Where a token stands: kind, learned (a row for each position, of even width), position, a query and a key as wide."""

from ..shared.states import fits, numbers, one_of, whole

ROWS = numbers((2, 64), (2, None))


def _pairs(value, state):
    return not ROWS(value, state) and len(value[0]) % 2 == 0


STATE = {
    "kind": one_of("sinusoidal", "learned", "rotary"),
    "learned": fits("2 to 64 rows of finite numbers, all of one even width", _pairs),
    "position": whole(0, lambda state: len(state["learned"]) - 1),
    "query": numbers("columns of learned"),
    "key": numbers("columns of learned"),
}
