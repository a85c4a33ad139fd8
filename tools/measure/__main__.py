"""Train models anew and keep what was measured: `python -m tools.measure NAME`, as `make NAME` does.

NAME is a module beside this one.  Stopped at any time and called again, it goes on from its last checkpoints.
"""

import signal
import sys
from importlib import import_module

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # or processes that it has begun would go on
    try:
        import_module(f"tools.measure.{sys.argv[1]}").main()
    except KeyboardInterrupt:
        sys.exit("Stopped: the same command goes on from the last checkpoints.")
