"""Checkpoints, from which a training is taken up again and need not be repeated; used in chapter 14."""

import re
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from ..arrays import floats
from ..arrays.digests import digest
from ..arrays.files import cache_folder, read_arrays, write_arrays

ARRAYS = ("flat", "params")  # what is no setting of a model
KEPT = 4  # files of one name; older ones are deleted
STATE = ("flat", "mean", "square")  # the arrays of an `Adam`


@dataclass
class Training:
    """What a training has come to: the loss of each step, and what was measured before the steps `at`.

    `found` has a list for each name that `measure` gave, with a number or an array for each of `at`.
    Used in chapter 14.

    >>> done = Training()
    >>> done.note(0, {"right": 0.25})
    >>> done.at, done.found
    ([0], {'right': [0.25]})
    """

    losses: list = field(default_factory=list)
    at: list = field(default_factory=list)
    found: dict = field(default_factory=dict)

    def note(self, step, measured):
        """Add what was measured before a step: a dict of numbers and arrays, which are copied.

        Raises TypeError where it is something else, and ValueError where names or shapes are not those of before.
        """
        if not isinstance(measured, dict):
            kind = type(measured).__name__
            raise TypeError(f"measure(model) is of type {kind}; expected a dict of numbers and arrays, by name.")
        for name, value in measured.items():
            floats(value, str(name))  # or it says why not
        values = {str(name): np.array(value) for name, value in measured.items()}
        shapes = {name: value.shape for name, value in values.items()}
        before = {name: np.shape(values[0]) for name, values in self.found.items()} if self.at else shapes
        if shapes != before:
            raise ValueError(f"measure(model) has shapes {shapes}, and had {before}; expected the same each time.")
        self.at.append(step)
        for name, value in values.items():
            self.found.setdefault(name, []).append(value if value.ndim else value.item())


def checkpoint_path(name, model, batch, *decisive):
    """Return the file of a training: its name, and digests of all that decides what comes out.

    That is the kind of model and its sizes, the first data of `batch`, what it does, what else is `decisive`, NumPy's
    version, and, by itself, the parameters.  A model that is as a file of these left it goes on with that file.
    Raises ValueError where no file can have the name.  Used in chapter 14.

    >>> from functools import partial
    >>> from minitransformer.tasks.reversals import reversals
    >>> from minitransformer.transformer import Transformer
    >>> model = Transformer(12, 8, heads=2, layers=1)
    >>> path = checkpoint_path("rows", model, partial(reversals, count=4))
    >>> path.name.startswith("rows-"), path.suffix
    (True, '.npz')
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", name):
        raise ValueError(
            f"checkpoint is {name!r}; expected a name of letters, digits, - and _, such as 'reversals': "
            "MINITRANSFORMER_CACHE sets the folder."
        )
    sizes = {key: value for key, value in vars(model).items() if key not in ARRAYS}
    data = [batch(np.random.default_rng(seed)) for seed in range(2)]
    kind = digest(type(model), sizes, batch, data, decisive, np.__version__)
    path = cache_folder() / f"{name}-{kind}-{digest(model.flat)}.npz"
    others = [] if path.is_file() else sorted(path.parent.glob(f"{name}-{kind}-*.npz"))
    return next((other for other in others if _left_as(other, model.flat)), path)


def _left_as(path, flat):
    """Tell whether a checkpoint holds these parameters."""
    try:
        return np.array_equal(read_arrays(path, "flat")["flat"], flat)
    except (FileNotFoundError, ValueError):
        return False


def save_checkpoint(path, adam, done):
    """Write the parameters, what Adam knows and what is known of the training to a file, whole or not at all.

    Raises OSError where that cannot be, saying what to do.  Used in chapter 14.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from minitransformer.training import Adam
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "some.npz")
    ...     save_checkpoint(path, Adam(np.ones(3)), Training([0.5]))
    ...     print(restore_checkpoint(path, Adam(np.zeros(3))).losses)
    [0.5]
    """
    found = {f"found {name}": np.array(values) for name, values in done.found.items()}
    state = {name: getattr(adam, name) for name in STATE}
    write_arrays(path, **state, losses=done.losses, at=done.at, **found)
    name, digits = path.stem.rsplit("-", 2)[0], 16 * "?"
    with suppress(OSError):  # another process deletes or reads one just now; the next call tries again
        files = sorted(path.parent.glob(f"{name}-{digits}-{digits}.npz"), key=lambda file: file.stat().st_mtime)
        for old in files[:-KEPT]:
            old.unlink()


def restore_checkpoint(path, adam, settings=None):
    """Take the parameters and what Adam knows from a file, and return its `Training`: an empty one where there is no
    file, and where it is damaged, or of another model or another training than that of `settings`, which is said.
    Used in chapter 14.

    >>> from minitransformer.training import Adam
    >>> restore_checkpoint("nowhere.npz", Adam(np.zeros(3))).losses
    []
    """
    try:
        kept = read_arrays(path, *STATE, "losses", "at")
        if wrong := _unlike(kept, adam.flat, settings):
            raise ValueError(f"{path} {wrong}")
    except FileNotFoundError:
        return Training()
    except ValueError as problem:
        print(f"The checkpoint {problem}: training from the beginning.")
        return Training()
    for name in STATE:
        getattr(adam, name)[:] = kept[name]
    adam.steps = len(kept["losses"])
    found = {name[6:]: values for name, values in kept.items() if name.startswith("found ")}
    found = {name: values.tolist() if values.ndim == 1 else list(values) for name, values in found.items()}
    return Training(kept["losses"].tolist(), kept["at"].tolist(), found)


def _unlike(kept, flat, settings):
    """Return in words what no training of parameters like `flat` leaves in a file, "" where there is nothing."""
    state, losses, at = [kept[name] for name in STATE], kept["losses"], kept["at"]
    if shapes := {array.shape for array in state} - {flat.shape}:
        return f"is of another model, as it holds arrays of shape {shapes.pop()}"
    if kinds := {array.dtype for array in state} - {flat.dtype}:
        return f"is of another model, as it holds numbers of kind {kinds.pop()}"
    if not all(np.isfinite(array).all() for array in state) or (kept["square"] < 0).any():
        return "holds numbers that no training comes to"
    measured = [values for name, values in kept.items() if name.startswith("found ")]
    if losses.ndim != 1 or losses.dtype.kind != "f" or not np.isfinite(losses).all():
        return "holds losses that are no row of finite numbers"
    if any(values.shape[:1] != at.shape for values in measured) or not _when(at, len(losses), settings):
        return "is of another training, as what was measured does not fit its steps"
    return ""


def _when(at, done, settings):
    """Tell whether a training that has done so many steps has measured before the steps `at`."""
    if settings is None:
        return at.ndim == 1
    due = [step for step in range(done + 1) if step % settings.every == 0 or step == settings.steps]
    return done <= settings.steps and at.tolist() == due
