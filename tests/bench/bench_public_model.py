"""Compare SmolLM2 in the book's functions with the library transformers: writing, reading a prompt, memory.

Part of `make bench`; without PyTorch and transformers ours is measured alone.
"""

import importlib
import importlib.util
import subprocess
import sys
import tempfile
import time

import numpy as np

from minitransformer.arrays.files import cache_folder
from minitransformer.language_model import generate, load_plays
from minitransformer.pretrained import save_pretrained
from minitransformer.public_model import load_smollm2
from minitransformer.public_model.smollm2 import FILE, is_smollm2

PEAK = "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"  # KiB, on Linux
OURS = f"""
from minitransformer.language_model import generate
from minitransformer.public_model import load_smollm2
model, _ = load_smollm2()
generate(model, [*range(200)], 8)
{PEAK}
"""
THEIRS = f"""
import sys, torch, transformers
torch.set_num_threads(1)
model = transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
model.generate(torch.arange(200)[None], max_new_tokens=8, do_sample=False, pad_token_id=0)
{PEAK}
"""


def public_model():
    """Race `generate` with that of transformers, in turn, on one thread; and compare the most memory that each held."""
    if not is_smollm2(cache_folder() / FILE):
        print("SmolLM2 is not here, so it is not measured: .venv/bin/python -m minitransformer.public_model")
        return
    with tempfile.TemporaryDirectory() as folder:
        model, encoding = load_smollm2()
        players = {"ours": lambda ids, steps: generate(model, ids, steps)}
        scripts = {"ours": OURS}
        if missing := [name for name in ("torch", "transformers") if not importlib.util.find_spec(name)]:
            print(f"{missing[0]} is not installed, so transformers is not compared: pip install torch transformers")
        else:
            save_pretrained(model, f"{folder}/model")
            players["transformers"], scripts["transformers"] = transformers_model(f"{folder}/model"), THEIRS
        race(players, encoding.encode(load_plays()[1][:2000]))
        weights = model.flat.nbytes / 2**20
        for name, script in scripts.items():
            command = [sys.executable, "-c", script, f"{folder}/model"]
            said = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
            peak = float(said.split()[-1]) / 2**10
            print(f"{name}: {peak:.0f} MiB at most, {peak / weights:.2f} times the weights' {weights:.0f}")


def transformers_model(folder):
    """Return a function that writes with the model of a folder, in the library transformers, as `generate` does."""
    torch, library = importlib.import_module("torch"), importlib.import_module("transformers")
    torch.set_num_threads(1)
    model = library.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    greedy = {"do_sample": False, "pad_token_id": 0}

    def write(ids, steps):
        ids = torch.tensor([ids])
        return model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=steps, **greedy)[0].numpy()

    return write


def race(players, ids, turns=5):
    """Print what each takes of the processor for 64 tokens, and for one behind 200, the median of some turns."""
    for prompt, steps in ((33, 64), (200, 1)):
        taken = []
        for turn in range(turns + 1):
            taken.append([])
            written = []
            for play in players.values():
                start = time.process_time()
                written.append(play(ids[:prompt], steps))
                taken[turn].append(time.process_time() - start)
            assert all(np.array_equal(written[0], other) for other in written), "the texts differ"
        ours, *others = np.median(taken[1:], axis=0)  # the first fetches memory
        print(
            f"{prompt} tokens read and {steps} written: {(prompt if steps == 1 else steps) / ours:.1f} a second", end=""
        )
        print(*(f"; transformers takes {other / ours:.2f} times as long" for other in others))
