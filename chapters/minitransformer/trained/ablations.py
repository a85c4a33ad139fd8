"""What breaks without each part of a model, as `make ablations` measured it; used in chapter 14."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("ablations.json")


@dataclass(eq=False)
class Ablation:
    """A model that was trained without a part, or beside such a one, from several seeds.

    Shapes: steps (k,), after which it was measured; exact (seeds, k), the share of 2,000 held-out rows that it turned
    round without a mistake; loss (seeds, k), its mean loss on them, in nats, NaN where it had overflowed.  `settings`
    are those of the model and its training.  Used in chapter 14.
    """

    heading: str
    name: str
    settings: dict
    steps: object
    exact: object
    loss: object

    def __str__(self):
        """Return a line of a table: what it is, and for each seed the rows that are right at the end, in per cent."""
        return f"{self.heading:24}{self.name:24}" + "".join(f"{share:8.2%}" for share in self.exact[:, -1])


def load_ablations():
    """Return what was measured: a list of `Ablation`, the first of a model that lacks nothing.  Used in chapter 14."""
    return [_row(**variant) for variant in json.loads(FILE.read_text(encoding="utf-8"))["variants"]]


def _row(heading, name, settings, runs):
    """Return a variant as the file has it as an `Ablation`."""
    exact, loss = (np.array([run[each] for run in runs], dtype=float) for each in ("exact", "loss"))
    return Ablation(heading, name, settings, np.array(runs[0]["after steps"]), exact, loss)
