"""Fetch SmolLM2 where it is not here yet, as set-up does: `python -m minitransformer.public_model`."""

from .smollm2 import fetch_smollm2

if __name__ == "__main__":
    try:
        fetch_smollm2()
    except (OSError, ValueError) as error:  # a cell that needs it tries again
        print(error)
