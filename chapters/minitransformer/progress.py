"""What a reader sees of a training while it runs, and how it is stopped; chapter 14."""

import signal
import sys
import threading
from contextlib import contextmanager

from tqdm import tqdm


@contextmanager
def stopping():
    """Give a list that fills when Ctrl-C is pressed, in place of an exception amid a step; a second one is raised.

    In another than the main thread, and where Ctrl-C is ignored, nothing changes.  Used in chapter 14.
    """
    asked, before = [], signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before in (signal.SIG_IGN, None):
        yield asked
        return

    def ask(*_):
        if asked:
            raise KeyboardInterrupt
        asked.append("Ctrl-C")

    signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def progress(done, steps, path=None):
    """Show a bar with the time that is left while a `Training` goes on, and say at the end where it was stopped.

    Gives the bar, tqdm's, which shows where the training was `kept` if it is taken up from there.  Used in chapter 14.
    """
    first = len(done.losses)
    with tqdm(total=steps, initial=first, file=sys.stdout, unit="step") as bar:
        bar.set_postfix_str(f"kept in {path}" if first else "", refresh=False)
        yield bar
    if len(done.losses) < steps:
        print(f"Stopped after {len(done.losses)} of {steps} steps; the model keeps what it has learned.")
