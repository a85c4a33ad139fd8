"""A small book with the real configuration, extensions and helper package, for the tests that build one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.shared.notebook_header import HEADER

ROOT = Path(__file__).resolve().parents[2]
REAL = (
    "_config.yml",
    "_static",
    "bookbuild",
    "tools",
    "figs",
    "package.json",
    "package-lock.json",
    "chapters/minitransformer",
)
CONTENTS = """format: jb-book
root: index
chapters:
  - file: chapters/01-probe
"""
INDEX = """# A small book

One chapter.

```{glossary}
probe
  A first meaning.
```
"""
CHAPTER = (
    HEADER
    + """
# Probe

A formula: $a^2$.

A {term}`probe` is a try.

```{code-cell} ipython3
from minitransformer import probe
print("constant", probe.CONSTANT, "explorable", probe.EXPLORABLE.read_text())
```

```{code-cell} ipython3
import time
print("the number 5", end="", flush=True)
time.sleep(0.5)
print(".29\\n\\nand more")
```
"""
)
PROBE = """from pathlib import Path
CONSTANT = 17
EXPLORABLE = Path(__file__).parents[1] / "explorables" / "probe.mjs"
"""

WHOLE = {  # one of everything that the build makes
    "_toc.yml": f"""{CONTENTS}  - file: chapters/02-whole
  - file: reference/glossary
  - file: reference/helper
  - file: reference/bibliography
""",
    "references.bib": """
@book{sieve2001, author = {Sieve, Ada}, year = {2001}, title = {Bread}, publisher = {Crust}}
@book{rye2002, author = {Rye, Al}, year = {2002}, title = {Dough}, publisher = {Crust}}
""",
    "chapters/02-whole.md": HEADER
    + """
(ch-whole)=
# The whole

A {term}`half` {cite:p}`rye2002,sieve2001` of $x$ is in {numref}`fig-halves`, by {eq}`eq-half`.

$$
h(x) = 0.5\\,x
$$ (eq-half)

```{code-cell} ipython3
---
tags: [hide-input]
mystnb:
  figure:
    caption: Halves of one.
    name: fig-halves
---
from minitransformer import figures
figures.bars({"halves": [0.5, 0.5]}, ["left", "right"], ylabel="weight", alt="Two bars of 0.5.")
```

```{code-cell} ipython3
{name: len(name) for name in {"b", "a", "ccc"}}["ccc"]
```

````{exercise} Half
:label: ex-half

Halve 3.
````

```{solution-start} ex-half
:class: dropdown
```

It is 1.5.

```{solution-end}
```
""",
    "reference/glossary.md": "# Glossary\n\n```{glossary}\nhalf\n  One of two equal parts.\n```\n",
    "reference/helper.md": "# Helper\n\n```{eval-rst}\n.. automodule:: minitransformer.softmax\n   :members:\n```\n",
    "reference/bibliography.md": "# Bibliography\n\n```{bibliography}\n```\n",
}


class SmallBook:
    """A book of one chapter, which shows a constant of the helper package and the text of an explorable.

    `more` are further files of it, by their names.
    """

    def __init__(self, folder, more=()):
        self.folder = folder
        for name in REAL:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, folder / name)
        (folder / "node_modules").symlink_to(ROOT / "node_modules")
        self.write("_toc.yml", CONTENTS)
        self.write("references.bib", "")
        self.write("index.md", INDEX)
        self.write("chapters/01-probe.md", CHAPTER)
        self.write("chapters/minitransformer/probe.py", PROBE)
        self.write("chapters/minitransformer/explorables/probe.mjs", "first")
        (folder / "reference").mkdir()
        for name, text in dict(more).items():
            self.write(name, text)

    def write(self, name, text):
        """Write the file `name` of the book."""
        (self.folder / name).write_text(text, "utf8")

    def change(self, name, old, new):
        """Replace `old`, which must be there, in the file `name` of the book."""
        text = (self.folder / name).read_text("utf8")
        assert old in text
        self.write(name, text.replace(old, new))

    def build(self, command=("-m", "bookbuild.build"), **environment):
        """Build as `make book` does, or by another command of Python; return whether it went well and what it said."""
        quiet = {**os.environ, "NO_COLOR": "1", **environment}
        done = subprocess.run(
            [sys.executable, *command],
            **{"cwd": self.folder, "env": quiet, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT},
            **{"encoding": "utf-8", "errors": "replace"},
        )
        return done.returncode == 0, done.stdout

    def site(self):
        """Return what the built site holds: the path of each file -> its bytes."""
        top = self.folder / "_build" / "html"
        return {path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*") if path.is_file()}

    def index(self):
        """Return what the search is told of the book."""
        return (self.folder / "_build" / "html" / "_static" / "search_index.js").read_text("utf8")

    def page(self):
        """Return the built page of the chapter."""
        return (self.folder / "_build" / "html" / "chapters" / "01-probe.html").read_text("utf8")
