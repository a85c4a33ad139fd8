"""The page *From NumPy to PyTorch* shows what its code printed beside PyTorch, which tests/oracle runs anew."""

import ast
import json
import re

import noxfile
from tools import pytorch_page

TEXT, TOLD = (path.read_text(encoding="utf-8") for path in (pytorch_page.PAGE, pytorch_page.FILE))
KEPT = json.loads(TOLD)
CODES = [code for code, _ in pytorch_page.blocks(TEXT)]


def test_the_page_has_the_code_and_the_output_of_the_file():
    kept = [(block["code"], block["printed"]) for block in KEPT["blocks"]]
    assert pytorch_page.blocks(TEXT) == kept, "the page's code is not that which was run: `make pytorch-page`"


def test_the_versions_are_those_that_the_page_and_the_oracle_name():
    version = KEPT["versions"]["torch"]
    assert f"torch=={version}" == noxfile.PYTORCH
    assert set(re.findall(r"PyTorch (\d+\.\d+)", TEXT)) == {version.rpartition(".")[0]}


def test_every_row_stands_below_a_heading_of_its_own_and_fits_the_page():
    rows = [code for code in CODES if re.search(r"\bours\b.* = ", code)]
    assert len(rows) >= 35 and TEXT.count("\n### ") >= 30
    assert [line for code in CODES for line in code.splitlines() if len(line) > 88] == []


def test_the_settings_of_the_rows_are_explained_and_taken_back():
    for setting, rows, real in ("set_default_dtype", "float64", "float32"), ("set_grad_enabled", "False", "True"):
        first, second = [code for code in CODES if setting in code]
        assert first != CODES[0], "real code does not have it; the page does not open with it"
        assert rows in first and real in second
        assert CODES.index(second) < CODES.index(named(CODES, "class GPT("))


def test_the_page_ends_with_a_model_a_loop_and_the_names_of_a_real_one():
    classes = [code for code in CODES if code.count("(nn.Module):") and CODES.index(code) > len(CODES) / 2]
    assert len(classes) == 3 and 50 <= sum(len(code.strip().splitlines()) for code in classes) <= 66
    loop = named(CODES, "optimizer.zero_grad(")
    assert loop in CODES[CODES.index(named(CODES, "class GPT(")) :]
    for call in ("gpt.train()", "loss.backward()", "optimizer.step()", "gpt.eval()", "torch.no_grad()", "loss.item()"):
        assert call in loop
    names = re.split(r"^## ", TEXT, flags=re.MULTILINE)[-1]
    for name in ["wte", "wpe", "c_attn", "c_proj", "c_fc", "ln_f", "lm_head", "idx", "block_size", "n_embd"]:
        assert f"`{name}`" in names


def named(codes, words):
    """Return the block of code that has these words; there is one."""
    (found,) = [code for code in codes if words in code]
    return found


def test_what_the_rows_import_of_the_helper_is_there():
    for node in (node for code in CODES for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)):
        if node.module.startswith("minitransformer"):
            module = __import__(node.module, fromlist=["*"])
            assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []


def test_outputs_are_written_below_the_blocks_and_nowhere_else(tmp_path, monkeypatch, capsys):
    page, file = tmp_path / "page.md", tmp_path / "printed.json"
    first, second = "```python\ntheirs = 1\nx = 2\n```\n", "```python\nprint(x, 'theirs' in dir())\n```\n"
    page.write_text(f"# A\n\n{first}\nB\n\n{second}```text\n7\n```\n\nC\n", encoding="utf-8")
    monkeypatch.setattr(pytorch_page, "PAGE", page)
    monkeypatch.setattr(pytorch_page, "FILE", file)
    monkeypatch.setattr(pytorch_page, "ROOT", tmp_path)
    monkeypatch.setattr(pytorch_page.metadata, "version", lambda name: "1.0+cpu")
    pytorch_page.main()
    assert page.read_text(encoding="utf-8") == f"# A\n\n{first}\nB\n\n{second}```text\n2 False\n```\n\nC\n"
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert [block["printed"] for block in kept["blocks"]] == ["", "2 False\n"] and kept["versions"]["torch"] == "1.0"
    assert capsys.readouterr().out.startswith("Ran 2 blocks")
