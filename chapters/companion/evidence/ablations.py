"""Ablations: a model and its training without each part, as `make ablations` measured them; used in chapter 14."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from minitransformer.arrays.files import read_measurements

FILE = Path(__file__).with_name("ablations.json")


@dataclass(eq=False)
class Ablation:
    """A model that was trained without a part, in another way, or beside such a one, from several seeds.

    Shapes: steps (k,), after which it was measured; exact (seeds, k), the share of 2,000 held-out rows that it turned
    round without a mistake; loss (seeds, k), its mean loss on them, in nats, NaN where it had overflowed; largest
    (seeds, k), the mean of the largest weight of each word in the encoder's first layer, None unless it has one head;
    longer (seeds, k, 5), the share of rows of 13 to 17 digits, None unless rows of 16 were learned from as well.
    `settings` are those of the model and its training.  Used in chapter 14.

    >>> whole = load_ablations()[0]
    >>> isinstance(whole, Ablation), whole.exact.shape[1] == len(whole.steps)
    (True, True)
    """

    heading: str
    name: str
    settings: dict
    steps: object
    exact: object
    loss: object
    largest: object = None
    longer: object = None

    def __str__(self):
        """Return a line of a table: what it is, and for each seed the rows that are right at the end, in per cent."""
        return f"{self.heading:24}{self.name:24}" + "".join(f"{share:8.2%}" for share in self.exact[:, -1])


def load_ablations():
    """Return what was measured, a list of `Ablation`, the first with nothing left out.  Used in chapters 7 and 14.

    >>> [row.name for row in load_ablations()][:3]
    ['nothing left out', 'no positions', 'no residuals']
    """
    return [_row(**variant) for variant in read_measurements(FILE, "variants")]


def _row(heading, name, settings, runs):
    """Return a variant as the file has it as an `Ablation`."""
    names = [each for each in ("exact", "loss", "largest", "longer") if each in runs[0]]
    found = {each: np.array([run[each] for run in runs], dtype=float) for each in names}
    return Ablation(heading, name, settings, np.array(runs[0]["after steps"]), **found)
