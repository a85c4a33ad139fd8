"""A line that says how far a training is, in place of tqdm's bar."""

import sys
import time

PACE = 0.5  # seconds from one saying to the next


class tqdm:  # noqa: N801  as it is called
    """Stands for tqdm's bar."""

    def __init__(self, iterable=(), total=None, initial=0, **_):
        self.iterable, self.total, self.n, self.said = iterable, total, initial, time.monotonic()

    def __iter__(self):
        for value in self.iterable:
            yield value
            self.update()
        self.__exit__()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        sys.stdout.write("\r")  # what stands in the line is gone

    def update(self, steps=1):
        """Count steps, and say now and then how many they are."""
        self.n += steps
        if time.monotonic() - self.said > PACE:
            self.said = time.monotonic()
            sys.stdout.write(f"\r{self.n} of {self.total or '?'}")

    def set_postfix(self, *_, **__):
        """Say nothing."""
