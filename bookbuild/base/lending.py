"""The published model, lent to notebooks that run with a cache of their own: too large to be fetched for each."""

import contextlib

from minitransformer.arrays.files import cache_folder
from minitransformer.public_model.smollm2 import FILE


def lend_model(cache):
    """Let what runs with the folder `cache` find the published model there, where this machine has it: by a link."""
    kept = cache_folder() / FILE
    if kept.is_file():
        with contextlib.suppress(OSError):  # not everybody may make links on Windows: it is fetched then
            (cache / FILE).symlink_to(kept.resolve())
