"""Train models from several seeds, measure them, and keep what comes out: what `make model` and its like share."""

import datetime
import json
import re

import numpy as np

from bookbuild.base.files import replace_file
from minitransformer.language_model import MERGES, BytePairEncoding, load_plays
from tools.machine import measured_on


def rounded(found):
    """Return numbers, in lists and dicts, to four decimals; None for what has overflowed, which JSON does not know."""
    if isinstance(found, dict):
        return {name: rounded(value) for name, value in found.items()}
    if isinstance(found, list):
        return [rounded(value) for value in found]
    if isinstance(found, float | np.floating):
        return round(float(found), 4) if np.isfinite(found) else None
    return found


def report(target, about, **content):
    """Return the text of a file of measurements: what they are, when, by which target of make and on what, and they."""
    whole = {
        "about": about,
        "measured by": f"make {target}",
        "date": datetime.date.today().isoformat(),
        "versions": measured_on(),
        **content,
    }
    text = json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
    return re.sub(r"[\[{][^][{}]*[]}]", lambda innermost: " ".join(innermost[0].split()), text)


def write_report(file, text):
    """Write a file whole or not at all, and say so."""
    replace_file(file, text)
    print(f"Wrote {file}.")


def plays():
    """Return the plays of chapter 16 as tokens: those to train on, those held out, and their encoding."""
    training, held_out = load_plays()
    encoding = BytePairEncoding.train(training, MERGES)
    return np.array(encoding.encode(training)), np.array(encoding.encode(held_out)), encoding
