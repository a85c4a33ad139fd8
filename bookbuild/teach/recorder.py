"""Run inside a student's kernel: have `check` hand over what an answer gives, and leave the judging to another process.

`install()` is called before the first cell of the student.  From then on `check("name", answer)` tries the answer on
the exercise's probes and publishes the bare results as arrays; no right answer is compared here, where the student's
code could reach in.  tools/grading.py reads them back with `read`.
"""

import base64
import copy
import io
import json

import numpy as np

MIME = "application/vnd.minitransformer.answer"  # with +json, Jupyter would want to read it
LARGEST = 1_000_000  # numbers in one result; the largest right answer has some hundred


def install():
    """Put a recorder in the place of `minitransformer.checks.check`, for all cells that import it from now on."""
    from IPython.display import display

    from minitransformer import checks

    original, probes = checks.check, {name: task.probes for name, task in checks.CHECKS.items()}

    def record(name, answer):
        if name not in probes:
            return original(name, answer)  # says that there is no such exercise
        message = json.dumps({"name": name, **results(answer, probes[name])})
        display({MIME: message}, raw=True)

    checks.check = record


def results(answer, probes):
    """Return what `answer` gives on each probe (a value: itself), in a form that JSON holds."""
    if not probes:
        return {"function": False, "results": [write(list(answer) if isinstance(answer, tuple) else answer)]}
    if not callable(answer):
        return {"function": False, "results": []}
    return {"function": True, "results": [attempt(answer, probe) for probe in probes]}


def attempt(answer, probe):
    """Return what the function gives on a copy of one probe, or the error that it raises."""
    try:
        with np.errstate(all="ignore"):
            return write(answer(*copy.deepcopy(probe)))
    except Exception as error:
        return {"kind": "error", "type": type(error).__name__[:100], "text": str(error)[:500]}


def write(value):
    """Return a value as JSON: nothing, three dots, several things, an array, or else its text."""
    if value is None or value is ...:
        return {"kind": "nothing" if value is None else "dots"}
    if isinstance(value, tuple):
        return {"kind": "tuple"}
    try:
        array, packed = np.asarray(value), io.BytesIO()
        if array.size <= LARGEST:
            np.save(packed, array, allow_pickle=False)
            return {"kind": "array", "npy": base64.b64encode(packed.getvalue()).decode("ascii")}
    except (TypeError, ValueError):
        pass
    return {"kind": "text", "text": str(value)[:500]}


def read(written):
    """Return the value of one result; raises ValueError where it is none, and runs nothing that it holds."""
    kind = written["kind"]
    if kind == "array":
        return np.load(io.BytesIO(base64.b64decode(written["npy"])), allow_pickle=False)
    if kind == "error":
        raise type(written["type"], (Exception,), {})(written["text"])
    values = {"nothing": None, "dots": ..., "tuple": (), "text": written.get("text")}
    if kind not in values:
        raise ValueError(f"a result is of the kind {kind!r}; expected array, error or {', '.join(values)}.")
    return values[kind]
