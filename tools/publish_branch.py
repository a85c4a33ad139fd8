"""Make a branch of a remote repository hold a folder: `python -m tools.publish_branch FOLDER BRANCH REMOTE`.

Its history is kept, so that nbgitpuller and git can pull; where nothing changed, nothing is pushed.
Standard library only: in the workflow that may push, nothing else is installed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

AUTHOR = ("-c", "user.name=github-actions[bot]", "-c", "user.email=github-actions[bot]@users.noreply.github.com")


def git(*arguments, folder, **options):
    """Run git in `folder`; raise where it fails."""
    return subprocess.run(["git", *AUTHOR, *map(str, arguments)], cwd=folder, check=True, encoding="utf-8", **options)


def fetch(branch, remote, work):
    """Make `work` a repository at the tip of the branch, or at an unborn branch where there is none."""
    git("init", "--quiet", f"--initial-branch={branch}", folder=work)
    listed = git("ls-remote", "--heads", remote, f"refs/heads/{branch}", folder=work, stdout=subprocess.PIPE).stdout
    if listed:
        git("fetch", "--quiet", "--depth=1", remote, branch, folder=work)
        git("reset", "--quiet", "--soft", "FETCH_HEAD", folder=work)


def publish(folder, branch, remote, message):
    """Push a commit that makes the branch hold the folder; return whether there was anything to push."""
    with tempfile.TemporaryDirectory() as place:
        work = Path(place) / "work"
        work.mkdir()
        fetch(branch, remote, work)
        shutil.copytree(folder, work, dirs_exist_ok=True)
        git("add", "--all", "--force", folder=work)
        if not git("status", "--porcelain", folder=work, stdout=subprocess.PIPE).stdout:
            return False
        git("commit", "--quiet", f"--message={message}", folder=work)
        git("push", "--quiet", remote, f"HEAD:refs/heads/{branch}", folder=work)
        return True


def main(folder, branch, remote):
    """Publish and say what was done; return the exit code."""
    if not (Path(folder).is_dir() and any(Path(folder).iterdir())):
        print(f"There is nothing to publish in {folder}: write it first.", file=sys.stderr)
        return 1
    source = os.environ.get("GITHUB_SHA", "")[:12]
    try:
        changed = publish(folder, branch, remote, f"Copy the notebooks of {source or 'the book'}")
    except subprocess.CalledProcessError:
        print(f"The branch {branch} could not be published, for the reason above.", file=sys.stderr)
        return 1
    print(f"The branch {branch} {'holds the new' if changed else 'already held these'} files.")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
