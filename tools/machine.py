"""Versions and processor of a measurement: trainings part ways where processors round differently."""

import os
import platform
from contextlib import suppress
from pathlib import Path

import numpy as np


def measured_on(processors=Path("/proc/cpuinfo")):
    """Return the versions and the processor that numbers were measured with, a dict to be written beside them."""
    named = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = processors.read_text("utf8").splitlines()
        named = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), named)
    kernels = os.environ.get("OPENBLAS_CORETYPE")
    found = {"Python": platform.python_version(), "NumPy": np.__version__, "processor": named}
    return found | ({"OpenBLAS": f"kernels for {kernels}"} if kernels else {})
