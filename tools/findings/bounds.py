"""Bounds in plain words, such as "gap over 0; shuffled is 50 ± 5 %", and what a finding comes to by two of them.

A bound is a list of clauses, divided by semicolons.  Each names numbers that were found, all of which have to be `over`
or `under` a number, `at least` or `at most` as large, or with `is` as near to it as stated.  Behind a sign stands what
is allowed for.
"""

import re

import numpy as np

CLAUSE = re.compile(r"(.+) (over|under|at least|at most|is) ([\d.,]+)(?: [±+−] ([\d.]+))?( %)?")


def clauses(bound):
    """Yield each clause of a bound: what it names, how it compares, the number and what is allowed for."""
    for words in bound.split("; "):
        match = CLAUSE.fullmatch(words)
        if not match:
            raise ValueError(f"the bound {words!r} is not clear; write it as in 'gap over 0' or 'share is 50 ± 5 %'.")
        name, how, number, off, percent = match.groups()
        unit = 0.01 if percent else 1
        yield name, how, unit * float(number.replace(",", "")), unit * float(off or 0)


def met(values, name, how, number, off):
    """Tell whether all numbers of this name, in a dict of lists, are on the right side of a clause."""
    found, off = np.array(values[name], float), off + 1e-9
    sides = {
        "over": found > number,
        "under": found < number,
        "at least": found >= number - off,
        "at most": found <= number + off,
        "is": abs(found - number) <= off,
    }
    return bool(sides[how].all())


def verdict(each, values):
    """Return "same", "weaker" or "fails": what was found misses no bound, the stricter one or the wider one."""
    wide, strict = (all(met(values, *clause) for clause in clauses(bound)) for bound in (each.bound, each.same))
    return "fails" if not wide else "same" if strict else "weaker"
