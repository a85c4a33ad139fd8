"""Compare SmolLM2 in the page's scripts, run by Node, with the notebook's `generate` in the same minutes.

Part of `make bench`.
"""

import json
import tempfile
import time
from pathlib import Path

import numpy as np

from bookbuild.base.node import run_node
from bookbuild.site.assets import ASSEMBLED, with_kernels
from minitransformer.arrays.files import cache_folder
from minitransformer.language_model import generate, load_plays
from minitransformer.public_model import load_smollm2
from minitransformer.public_model.smollm2 import FILE, is_smollm2

READ, WRITTEN, TURNS = 40, 48, 3  # tokens of the prompt, tokens behind the first that follows it
SCRIPT = Path(__file__).with_name("talk.mjs")


def talk():
    """Race the page's fast kernels with `generate`, in turn, and run the plain ones once."""
    path = cache_folder() / FILE
    if not is_smollm2(path):
        print("SmolLM2 is not here, so it is not measured: .venv/bin/python -m minitransformer.public_model")
        return
    model, encoding = load_smollm2()
    ids = [0, *encoding.encode(load_plays()[1][:2000])][:READ]
    with tempfile.TemporaryDirectory() as folder:
        with_kernels(Path(folder))
        turns = [(in_the_book(model, ids), in_the_page(path, ids, f"{folder}/{ASSEMBLED}")) for _ in range(TURNS)]
    for book, page in turns:
        assert book["all"] == page["all"], "the texts differ"
    book, page = ({what: np.median([one[what] for one in each]) for what in ("read", "write")} for each in zip(*turns))
    plain = in_the_page(path, ids[:4], "plain", 4)["write"] / 4
    print(
        f"the page writes {WRITTEN / page['write']:.1f} tokens a second, {book['write'] / page['write']:.2f} times as "
        f"many as the notebook; it reads {READ} in {page['read']:.2f} s, {page['read'] / book['read']:.2f} times as "
        f"long; plain kernels write {1 / plain:.1f} a second, {book['write'] / WRITTEN / plain:.2f} times the "
        f"notebook's; {turns[0][1]['mebibytes']:.0f} MiB held, in Node"
    )


def in_the_book(model, ids):
    """Return what reading and writing take of the processor, in seconds, and the text."""
    start = time.process_time()
    generate(model, ids, 1)
    read = time.process_time()
    text = generate(model, ids, 1 + WRITTEN).tolist()
    return {"read": read - start, "write": time.process_time() - read - (read - start), "all": text}


def in_the_page(path, ids, wasm, steps=WRITTEN):
    """Return the same of the page's scripts, and the most memory."""
    return json.loads(run_node([SCRIPT, path, wasm, str(steps), *map(str, ids)], "The page's scripts could not run"))


if __name__ == "__main__":
    talk()
