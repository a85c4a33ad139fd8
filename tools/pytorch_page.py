"""What the code of the page *From NumPy to PyTorch* prints, run beside PyTorch: `make pytorch-page`.

The page's blocks of Python run one after another, each in a box of its own but for what the earlier ones have made.
A row has what the helper gives, `ours`, what PyTorch gives, `theirs`, which are the same, and in some `trap`, what the
likely mistake gives, which is not.
"""

import contextlib
import io
import json
import re
import sys
from importlib import metadata

from bookbuild import ROOT
from bookbuild.base.files import replace_file

PAGE, FILE = ROOT / "reference" / "from-numpy-to-pytorch.md", ROOT / "tests" / "oracle" / "printed.json"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
NAMES = ("ours", "theirs", "trap")


def blocks(text):
    """Return the blocks of Python of a page, each with what stands below it as its output, "" where nothing does."""
    return [(code, printed or "") for code, printed in BLOCK.findall(text)]


def run_blocks(codes):
    """Run blocks in order; yield for each what it prints, and its `ours`, `theirs` and `trap` where it has them."""
    known = {"__name__": "page"}
    for code in codes:
        for name in NAMES:
            known.pop(name, None)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(compile(code, PAGE.name, "exec"), known)
        yield said.getvalue(), {name: known[name] for name in NAMES if name in known}


def report_text(codes, printed):
    """Return the text of the file: what each block printed, and with which versions."""
    versions = {name: metadata.version(name).partition("+")[0] for name in ("numpy", "torch")}
    rows = [{"code": code, "printed": said} for code, said in zip(codes, printed)]
    whole = {"about": f"What the code of {PAGE.name} prints.", "measured by": "make pytorch-page"}
    return json.dumps(whole | {"versions": versions, "blocks": rows}, indent=1, ensure_ascii=False) + "\n"


def page_with_outputs(text, printed):
    """Return the page with these outputs below its blocks."""
    outputs = iter(printed)
    return BLOCK.sub(lambda block: f"```python\n{block[1]}```\n{shown(next(outputs))}", text)


def shown(output):
    """Return an output as the page shows it."""
    return f"```text\n{output}```\n" if output else ""


def main():
    """Run the page's code, and write what it prints into the page and the file."""
    text = PAGE.read_text(encoding="utf-8")
    codes = [code for code, _ in blocks(text)]
    printed = [said for said, _ in run_blocks(codes)]
    replace_file(FILE, report_text(codes, printed))
    replace_file(PAGE, page_with_outputs(text, printed))
    print(f"Ran {len(codes)} blocks; wrote {FILE.relative_to(ROOT)} and the outputs of {PAGE.relative_to(ROOT)}.")


if __name__ == "__main__":
    sys.exit(main())
