"""What Binder does with this repository, without a container engine: `make binder`, by the sessions of noxfile.py.

repo2docker, which makes Binder's images, prints its recipe, a Dockerfile.  What it does with the repository has to be
KNOWN; then its lines of pip are run in a clean environment of the Python of binder/runtime.txt.
"""

import re
import shlex
import shutil
import subprocess

from bookbuild import ROOT

REPO2DOCKER = "jupyter-repo2docker==2026.4.0"
WORK = ROOT / "_build" / "binder"
RECIPE = WORK / "Dockerfile"
HOME = WORK / "home"  # stands for the folder into which Binder clones
PYTHON = (ROOT / "binder" / "runtime.txt").read_text(encoding="utf-8").strip().removeprefix("python-")
PROGRAMS = "${KERNEL_PYTHON_PREFIX}/bin/"
# What the recipe does from the folder of the repository on, but for what it sets, labels and calls itself.
KNOWN = (
    "RUN chown ${NB_USER}:${NB_USER} ${REPO_DIR}",
    "COPY src/binder/requirements.txt ${REPO_DIR}/binder/requirements.txt",
    "COPY src/ ${REPO_DIR}/",
    f'RUN {PROGRAMS}pip install --no-cache-dir -r "binder/requirements.txt"',
    "COPY /python3-login /usr/local/bin/python3-login",
    "COPY /repo2docker-entrypoint /usr/local/bin/repo2docker-entrypoint",
    'ENTRYPOINT ["/usr/local/bin/repo2docker-entrypoint"]',
    'CMD ["jupyter", "notebook", "--ip", "0.0.0.0"]',
)


def commands(recipe, python=PYTHON):
    """Return the commands of pip, lists of words, that install the repository; raise RuntimeError at other lines.

    Of each line is read what it does, and not what it says of owners and rights.
    """
    own = recipe.partition("\nWORKDIR ${REPO_DIR}\n")[2]
    joined = re.sub(r"^\s*#.*\n", "", own, flags=re.MULTILINE).replace("\\\n", " ")
    lines = [re.sub(r" --ch(own|mod)=\S+", "", " ".join(line.split())) for line in joined.splitlines() if line.strip()]
    done = [line for line in lines if line.split()[0] not in ("ARG", "ENV", "LABEL", "USER")]
    if odd := sorted(set(done) ^ set(KNOWN)):
        raise RuntimeError(f"Binder's recipe and KNOWN in tools/binder.py differ: look at these lines, {odd}.")
    if f"environment.py-{python}-" not in recipe.replace("-2d", "-").replace("-2e", "."):
        raise RuntimeError(f"Binder's recipe does not take the Python of binder/runtime.txt, {python}: see {RECIPE}.")
    return [shlex.split(line.removeprefix(f"RUN {PROGRAMS}")) for line in done if line.startswith(f"RUN {PROGRAMS}")]


def copy_repository(target):
    """Copy what git has or would have after `git add`: what Binder clones, less the history."""
    shutil.rmtree(target, ignore_errors=True)
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
