"""Build what Binder would build, without a container engine: `python -m tools.binder`, or `make binder`.

repo2docker, which makes Binder's images, prints its recipe, a Dockerfile.  The recipe is followed line by line in
_build/binder/image, which stands for the root of the image; REPLACED says which lines are not run as they are, and why.
What it takes to start a server there is written to _build/binder/image.json, for tests/binder_launch.py.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tools import pythons
from tools.environment import ROOT, SetUpError, pip_reason

REPO2DOCKER = "jupyter-repo2docker==2026.4.0"
WORK = ROOT / "_build" / "binder"
USER = {"NB_USER": "jovyan", "NB_UID": "1000"}  # the arguments of the build that Binder gives
PLACES = re.compile(r"/(srv|home|tmp|etc|usr/local)\b")  # folders of the image that are made below its stand-in

# What a RUN line is known by, and why it is not run as it is.
REPLACED = {
    r"apt-get|locale-gen": "needs root: this machine's own programs and the locale C.UTF-8 are used",
    r"groupmod|useradd": "makes a user, which needs root: you are the user",
    r"chown|/usr/bin/install -o": "gives files to that user: they are yours",
    r"install-base-env\.bash": "fetches conda: pip installs the Python packages of its lock file instead",
}
# conda's name of a Python package where pip has another, or none (a second name of a package that is listed as well).
RENAMED = {
    "brotli-python": "brotli",
    "python-fastjsonschema": "fastjsonschema",
    "jupyterhub-base": "jupyterhub",
    "nbconvert-core": "nbconvert",
    "cached_property": None,
    "cpython": None,
}
LOCKED = re.compile(r"/([\w.-]+?)-([^-\s/]+)-py[h\d][^-\s/]*?\.(?:conda|tar\.bz2)#")


def instructions(recipe):
    """Return the (word, rest) of each instruction of a Dockerfile, lines that go on in the next one joined."""
    lines = [line for line in recipe.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ").splitlines()
    return [tuple(line.strip().split(None, 1)) for line in joined if line.strip()]


def expand(text, variables):
    """Return `text` with each ${NAME} replaced by its value, "" where it has none."""
    return re.sub(r"\$\{(\w+)\}", lambda name: variables.get(name[1], ""), text)


def frozen(lock):
    """Return the Python packages of a conda lock file as requirements of pip."""
    named = [(RENAMED.get(name, name), version) for name, version in LOCKED.findall(lock)]
    return [f"{name}=={version}" for name, version in named if name]


def original(name):
    """Return the path that repo2docker has written, "-2f" for "/", into the name of a file that it would copy."""
    coded = name.rpartition("-")[0].encode()
    return Path(re.sub(rb"-([0-9a-f]{2})", lambda code: bytes([int(code[1], 16)]), coded).decode())


def pip(command, **options):
    """Run a command of pip; raise SetUpError, with its reason, where it fails."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", **options
    )
    if done.returncode:
        raise SetUpError(pip_reason(done.stdout, "what was made of it is in _build/binder"))
    return done.stdout


def megabytes(folder):
    """Return the size of all files below `folder`."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir()) / 1e6


class Image:
    """The stand-in of an image: its root, the copy of the repository, and what the recipe has set so far."""

    def __init__(self, root, source, tool):
        self.root, self.source, self.tool = root, source, tool
        self.folder, self.start, self.command = root, [], []
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "JUPYTER", "CONDA", "VIRTUAL_ENV"))}
        self.variables = {**kept, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

    def place(self, path):
        """Return where a path of the image is here."""
        return Path(path) if Path(path).is_relative_to(self.root) else self.root / path.lstrip("/")

    def value(self, text):
        """Return the value that the recipe gives a variable, in the places of this machine."""
        text = text.replace("en_US.UTF-8", "C.UTF-8")
        return expand(f"{self.root}{text}" if PLACES.match(text) else text, self.variables)

    def follow(self, recipe):
        """Follow a Dockerfile; raise SetUpError at an instruction that has no method here."""
        for word, rest in instructions(recipe):
            if not (do := getattr(self, f"do_{word.lower()}", None)):
                raise SetUpError(
                    f"The recipe has the instruction {word}, which tools/binder.py lacks: add do_{word.lower()}."
                )
            do(rest)

    def do_from(self, rest):
        """Take this machine for the image that the recipe begins with."""
        print(f"  FROM {rest}: this machine in its place")

    def do_skip(self, rest):
        """Leave out what has no effect here: the user, the open port, the labels."""

    do_user = do_expose = do_label = do_skip

    def do_arg(self, rest):
        """Set an argument of the build: as given, else to its default."""
        name, _, default = rest.partition("=")
        self.variables[name] = USER.get(name) or self.value(default)

    def do_env(self, rest):
        """Set variables."""
        for pair in shlex.split(rest):
            name, _, text = pair.partition("=")
            self.variables[name] = self.value(text)

    def do_workdir(self, rest):
        """Change the folder, which is made where it is missing."""
        self.folder = self.place(expand(rest, self.variables))
        self.folder.mkdir(parents=True, exist_ok=True)

    def do_copy(self, rest):
        """Copy a file of the repository or of repo2docker, or the whole repository."""
        name, target = expand(rest, self.variables).split(" ", 1)[1].split(" ", 1)
        target = self.place(target)
        if name.endswith("/"):
            shutil.copytree(self.source / name.removeprefix("src/"), target, dirs_exist_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.origin(name), target)

    def origin(self, name):
        """Return the file that a COPY line takes."""
        if name.startswith("src/"):
            return self.source / name.removeprefix("src/")
        if name.startswith("build_script_files/"):
            return original(name.partition("/")[2])
        return self.tool / "buildpacks" / name.lstrip("/")

    def do_run(self, rest):
        """Run a line of the recipe as it is, in its folder and with its variables, or what stands for it."""
        reason = next((reason for known, reason in REPLACED.items() if re.search(known, rest)), None)
        print(
            f"  RUN {rest[:75].strip()}{'...' if len(rest) > 75 else ''}"
            + (f"\n      replaced: {reason}" if reason else "")
        )
        begun, before = time.monotonic(), megabytes(self.root)
        if "install-base-env" in rest:
            self.make_base()
        elif not reason:
            pip(["bash", "-c", rest], cwd=self.folder, env=self.variables)
        else:
            return
        print(f"      {time.monotonic() - begun:.0f} s, {megabytes(self.root) - before:.0f} MB", flush=True)

    def make_base(self):
        """Make the environment that is there before the repository's own packages, as far as pip has it."""
        lock = Path(self.variables["NB_ENVIRONMENT_FILE"]).read_text(encoding="utf-8")
        version = re.search(r"/python-(\d+\.\d+)", lock)[1]
        if not (python := pythons.find(version)):
            raise SetUpError(f"Binder's image has Python {version}, which was not found here: install it.")
        prefix = self.variables["NB_PYTHON_PREFIX"]
        subprocess.run([python, "-m", "venv", prefix], check=True)
        pip([pythons.inside(prefix), "-m", "pip", "install", "--no-deps", *frozen(lock)], env=self.variables)

    def do_entrypoint(self, rest):
        """Note the program that starts the server; its login shell, which only activates conda, is left out."""
        self.start = ["python3", "-u", *(str(self.place(part)) for part in json.loads(rest))]

    def do_cmd(self, rest):
        """Note the command that the image runs where none is given."""
        self.command = json.loads(rest)

    def describe(self):
        """Return what it takes to start a server."""
        keys = ("start", "command", "variables")
        return {"root": str(self.root), "folder": str(self.folder), **{key: getattr(self, key) for key in keys}}


def copy_repository(target, root=ROOT):
    """Copy what git has or would have after `git add`: what Binder clones, less the history."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, target / name)


def print_recipe(work, source):
    """Install repo2docker in an environment of its own; return its folder and the recipe that it prints."""
    subprocess.run([sys.executable, "-m", "venv", work / "repo2docker"], check=True)
    python = pythons.inside(work / "repo2docker")
    pip([python, "-m", "pip", "install", REPO2DOCKER])
    find = [python, "-c", "import pathlib, repo2docker; print(pathlib.Path(repo2docker.__file__).parent)"]
    options = {"encoding": "utf-8", "check": True, "stdout": subprocess.PIPE}
    folder = subprocess.run(find, **options).stdout.strip()
    arguments = ["--no-build", "--debug", "--user-name", USER["NB_USER"], "--user-id", USER["NB_UID"], str(source)]
    return Path(folder), subprocess.run([python, "-m", "repo2docker", *arguments], **options).stdout


def build(work=WORK):
    """Follow the recipe afresh and note how a server is started."""
    if " " in str(work):
        raise SetUpError(f"Binder's recipe quotes no paths, and {work} has a space: run this in a clone without one.")
    shutil.rmtree(work, ignore_errors=True)
    source = work / "source"
    print("Asking repo2docker for its recipe.", flush=True)
    copy_repository(source)
    tool, recipe = print_recipe(work, source)
    (work / "Dockerfile").write_text(recipe, encoding="utf-8")
    print("Following it; the whole recipe is _build/binder/Dockerfile.", flush=True)
    image = Image(work / "image", source, tool)
    image.follow(recipe)
    (work / "image.json").write_text(json.dumps(image.describe(), indent=1), encoding="utf-8")
    print(f"The image's own files: {megabytes(image.root):.0f} MB.")


if __name__ == "__main__":
    try:
        build()
    except (SetUpError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(str(error))
