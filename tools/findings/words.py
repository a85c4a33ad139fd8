"""Phrases for what was found, and the seeds that no chapter takes."""

SEEDS = (101, 102, 103)


def many(numbers, form=".2f"):
    """Return numbers in a row: 0.91, 0.88, 0.93."""
    return ", ".join(format(float(number), form) for number in numbers).replace("-", "−")


def shares(numbers, digits=1):
    """Return shares in a row, in per cent; with fewer digits where a model was trained, and would end elsewhere."""
    return ", ".join(f"{100 * float(number):.{digits}f} %" for number in numbers)
