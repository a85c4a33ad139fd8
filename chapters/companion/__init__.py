"""What helps a reader of the book and is not its subject: `check` for the exercises, figures, explorables, evidence."""

from . import figures
from .checks import check

__all__ = ["check", "figures"]
