"""What `make sizes` measured is of the models that the package makes."""

import numpy as np

from companion.evidence.sizes import load_sizes
from minitransformer.language_model import new_writer
from tools.measure import sizes


def test_the_file_has_the_widths_of_the_tool_and_the_models_of_the_package():
    rows = load_sizes()
    assert [row["d"] for row in rows] == list(sizes.WIDTHS)
    assert [row["parameters"] for row in rows] == [new_writer(d=row["d"]).flat.size for row in rows]
    assert {len(row["bits"]) for row in rows} == {len(sizes.SEEDS)}


def test_a_larger_model_needs_fewer_bits_after_the_same_steps():
    assert (np.diff([row["bits"] for row in load_sizes()], axis=0) < 0).all()
