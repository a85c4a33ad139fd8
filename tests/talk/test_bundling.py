"""The fast kernels are assembled when scripts are bundled, and a bundle that imports them has their bytes."""

import json

import pytest
from sphinx.errors import ExtensionError

from bookbuild import ROOT
from bookbuild.base.node import run_node
from bookbuild.site import assets

ENTRY = """
import bytes from "kernels.wasm";
const memory = new WebAssembly.Memory({ initial: 1 });
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { model: { memory } });
process.stdout.write(JSON.stringify([bytes.length, Object.keys(exports).sort()]));
"""


def test_a_bundle_has_the_bytes_of_the_kernels(tmp_path):
    (tmp_path / "entry.mjs").write_text(ENTRY)
    options = [f"--outfile={tmp_path / 'made.js'}", *assets.CLASSIC, *assets.with_kernels(tmp_path / "new")]
    run_node([assets.ESBUILD, tmp_path / "entry.mjs", *options], "The bundle could not be made", folder=ROOT)
    size, names = json.loads(run_node([tmp_path / "made.js"], "The bundle could not run"))
    assert names == ["mix", "q4", "q8", "round", "scores"]
    assert size == (tmp_path / "new" / assets.ASSEMBLED).stat().st_size < 4096  # which a page's own thread may compile


def test_a_mistake_in_the_text_of_the_kernels_is_told_with_its_line(tmp_path, monkeypatch):
    broken = tmp_path / "broken.wat"
    broken.write_text(assets.KERNELS.read_text("utf8").replace("f32x4.abs", "f32x4.bas"), "utf8")
    monkeypatch.setattr(assets, "KERNELS", broken)
    with pytest.raises(ExtensionError, match=r"could not be assembled: [\s\S]*broken.wat:\d+"):
        assets.with_kernels(tmp_path)
