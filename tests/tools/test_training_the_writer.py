"""What `make writer` does: it trains on the plays, and its file is that of the text, the model and the training."""

import re
from functools import partial

import numpy as np
import pytest

from minitransformer.language_model import BytePairEncoding, bits_per_byte, load_plays, new_writer, text_model, windows
from minitransformer.language_model import writer as kept
from minitransformer.training import train
from tools import measure
from tools.measure import writer


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Return the folder of a test, where its checkpoints are too."""
    monkeypatch.setenv("MINITRANSFORMER_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_the_file_is_written_whole_or_not_at_all_and_can_be_read(folder, monkeypatch, capsys):
    monkeypatch.setattr(writer, "TRAINING", writer.TRAINING | {"steps": 3, "warmup": 1})
    monkeypatch.setattr(measure, "load_plays", lambda: [part[:9_000] for part in load_plays()])
    monkeypatch.setattr(kept, "FILE", folder / "writer.npz")
    with monkeypatch.context() as full:
        full.setattr(measure, "replace_file", lambda *_: (_ for _ in ()).throw(OSError("the disk is full")))
        with pytest.raises(OSError, match="the disk is full"):
            writer.main()
    assert [path.name for path in folder.iterdir()] == ["cache"]
    writer.main()
    said = re.search(r"Held out: (\S+) bits for each byte, (\S+) as float16", capsys.readouterr().out)
    trained, encoding, held_out, losses = writer.train_writer()
    model, read = text_model()
    assert np.array_equal(model.flat, trained.flat.astype(np.float16)) and read.tokens == encoding.tokens
    assert len(losses) == 3
    assert [f"{bits_per_byte(each, held_out, encoding):.4f}" for each in (trained, model)] == [*said.groups()]
    assert 8 < float(said[1]) * len(encoding.decode_bytes(held_out)) / len(held_out) < 11  # bits for each of 768 tokens


# The file


def test_the_merges_are_those_of_the_text():
    training, _ = load_plays()
    assert text_model()[1].tokens == BytePairEncoding.train(training, kept.MERGES).tokens


def test_the_weights_are_those_that_were_measured():
    model, encoding = text_model()
    ids = encoding.encode(load_plays()[1])
    assert bits_per_byte(model, ids, encoding) == pytest.approx(np.load(kept.FILE)["bits"], abs=0.0005)


def test_the_training_begins_as_that_of_the_file_and_has_as_many_steps():
    losses, (training, _) = np.load(kept.FILE)["losses"], load_plays()
    assert len(losses) == writer.TRAINING["steps"]
    batch = partial(windows, ids=np.array(text_model()[1].encode(training)))
    model, settings = new_writer(writer.TRAINING["seed"]), writer.TRAINING | {"steps": 101}
    assert train(model, batch, **settings).losses == pytest.approx(losses[:101], abs=0.02)  # all of the warm-up
