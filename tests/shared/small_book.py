"""A small book with the real configuration, extensions and helper package, for the tests that build one."""

import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.shared.notebook_header import HEADER

ROOT = Path(__file__).resolve().parents[2]
REAL = ("_config.yml", "bookbuild", "figs", "package.json", "package-lock.json")
HELPER, COMPANION = "chapters/minitransformer", "chapters/companion"
BUILD = [sys.executable, "-m", "bookbuild.build"]
FORKED = "forkserver" in multiprocessing.get_all_start_methods()
LIBRARIES = ["jupyter_book.sphinx", "myst_nb.sphinx_ext", "sphinx.ext.viewcode", "sphinxext.opengraph._social_cards"]
FILES = {  # one of everything that the build makes
    "_toc.yml": """format: jb-book
root: index
parts:
  - caption: Chapters
    numbered: true
    chapters:
      - file: chapters/01-probe
      - file: chapters/02-whole
  - caption: Reference
    chapters:
      - file: reference/glossary
      - file: reference/helper
      - file: reference/bibliography
""",
    "references.bib": """
@book{sieve2001, author = {Sieve, Ada}, year = {2001}, title = {Bread}, publisher = {Crust}}
@book{rye2002, author = {Rye, Al}, year = {2002}, title = {Dough}, publisher = {Crust}}
@book{oat2003, author = {Oat, Cy}, year = {2003}, title = {Crumbs}, publisher = {Crust}}
""",
    "index.md": """# A small book

Two chapters, of which the second is {ref}`ch-whole`: {{ chapters and their times }}.

<div class="mt-machine" role="img" aria-label="Both."><svg></svg></div>
""",
    "chapters/minitransformer/probe.py": """from pathlib import Path
CONSTANT = 17
EXPLORABLE = Path(__file__).parents[1] / "companion" / "explorables" / "probe.mjs"


def fail():
    raise ValueError("as it should")
""",
    "chapters/companion/explorables/probe.mjs": "first",
    "chapters/01-probe.md": HEADER
    + """
# Probe

% Job: Cut it in two.

A formula: $a^2$.

A {term}`half`, as in {numref}`fig-halves`, {ref}`fig-halves`, {ref}`ex-half` and {cite:t}`sieve2001`.

```{code-cell} ipython3
from minitransformer import probe
print("constant", probe.CONSTANT, "explorable", probe.EXPLORABLE.read_text())
```

```{code-cell} ipython3
:tags: [raises-exception]

probe.fail()
```

```{code-cell} ipython3
import time
print("the number 5", end="", flush=True)
time.sleep(0.5)
print(".29\\n\\nand more")
```

```{code-cell} ipython3
import sys
from tqdm import tqdm
print("the sum", sum(tqdm([2, 4], file=sys.stdout)))
```

```{code-cell} ipython3
from IPython.display import HTML
HTML(f'<div class="mt-explorable" data-weights="&quot;{"A" * 20_000}&quot;"></div>')
```
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
from companion import figures
figures.bars({"halves": [0.5, 0.5]}, ["left", "right"], ylabel="weight", alt="Two bars of 0.5.")
```

```{code-cell} ipython3
{name: len(name) for name in {"b", "a", "ccc"}}["ccc"]
```

```{exercise-start} Half
:label: ex-half
```

Halve 3.

```{exercise-end}
```

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
    """A book of two chapters, the first of which shows a constant of the helper package and an explorable's text."""

    def __init__(self, folder):
        self.folder = folder
        for name in (*REAL, HELPER, COMPANION):
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, folder / name)
        (folder / "node_modules").symlink_to(ROOT / "node_modules")
        (folder / "reference").mkdir()
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name, text):
        """Write the file `name` of the book."""
        (self.folder / name).write_text(text, "utf8")

    def change(self, name, old, new):
        """Replace `old`, which must be there, in the file `name` of the book."""
        text = (self.folder / name).read_text("utf8")
        assert old in text
        self.write(name, text.replace(old, new))

    def start(self, command=BUILD, **environment):
        """Start to build as `make book` does, or by another command; return the process."""
        quiet = {**os.environ, **environment}
        pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
        return subprocess.Popen(command, cwd=self.folder, env=quiet, **pipe)

    def build(self, command=BUILD, **environment):
        """Build and return whether it went well and what it said."""
        if FORKED and command is BUILD and not environment:
            return build_forked(self.folder)
        process = self.start(command, **environment)
        said = process.communicate()[0]
        return process.returncode == 0, said

    def built(self, **environment):
        """Build, which must go well, and return what the site holds: the path of each file -> its bytes."""
        good, said = self.build(**environment)
        assert good, said
        top = self.folder / "_build" / "html"
        return {path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*") if path.is_file()}

    def page(self, name="chapters/01-probe"):
        """Return a built page."""
        return (self.folder / "_build" / "html" / f"{name}.html").read_text("utf8")


def build_forked(folder):
    """Do what `BUILD` does in a process that has the libraries: their import is most of a small build's time."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["bookbuild", *LIBRARIES])  # it spares them an import that nothing needs
    with tempfile.NamedTemporaryFile() as said:
        process = context.Process(target=run_build, args=(folder, dict(os.environ), said.name))
        process.start()
        process.join()
        return process.exitcode == 0, said.read().decode("utf8", "replace")


def run_build(folder, environment, said):
    """Build the book in `folder` by its own copy of the machinery, saying all in the file `said`; end this process."""
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.modules.pop("bookbuild", None)  # the book has its own
    with open(said, "wb") as file:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), stream.fileno())
            stream.reconfigure(encoding="utf-8", errors="replace")
    from bookbuild.build import main

    sys.exit(main())


def different(site, other):
    """Return the names of the files that two sites do not have alike."""
    return [name for name in sorted({*site, *other}) if site.get(name) != other.get(name)]
