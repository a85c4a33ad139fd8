"""What was measured of models that lack a part: it can be read, it is whole, and begins with what lacks nothing."""

import numpy as np

from companion.evidence.ablations import load_ablations

ROWS = load_ablations()


def test_every_variant_has_a_share_and_a_loss_of_every_seed_at_every_step():
    (seeds,) = {len(row.exact) for row in ROWS}
    assert seeds >= 3
    for row in ROWS:
        assert row.exact.shape == row.loss.shape == (seeds, len(row.steps))
        assert row.steps[0] == 0 and row.steps[-1] == row.settings["steps"]
        assert (row.exact[:, 0] == 0).all() and ((row.exact >= 0) & (row.exact <= 1)).all()
        assert not (row.loss < 0).any() and not np.isnan(row.loss[:, 0]).any()
        assert (row.largest is not None) == (row.settings["heads"] == 1)
        assert row.largest is None or (row.largest.shape == row.loss.shape and (abs(row.largest - 0.5) < 0.5).all())


def test_a_variant_is_a_line_of_a_table_and_has_a_name_of_its_own():
    lines = str(ROWS[0]), *map(str, ROWS[1:])
    assert all(line.startswith(f"{row.heading}  ") and f" {row.name}  " in line for row, line in zip(ROWS, lines))
    assert len({line[:48] for line in lines}) == len(ROWS) and len(set(map(len, lines))) == 1 and len(lines[0]) < 80
    shares = [float(share) / 100 for share in lines[0][48:].replace("%", "").split()]
    np.testing.assert_allclose(shares, ROWS[0].exact[:, -1], atol=5e-6)


def test_what_lacks_nothing_comes_first_and_learns_its_task():
    assert ROWS[0].name == "nothing left out" and ROWS[0].settings["without"] is None
    assert (ROWS[0].exact[:, -1] > 0.99).all() and (ROWS[0].loss[:, -1] < 0.01).all()
