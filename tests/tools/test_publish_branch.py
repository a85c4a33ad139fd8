"""The script that pushes the notebook copies, with a repository on this machine for the remote one."""

import subprocess

import pytest

from bookbuild import ROOT


def run(*command, folder):
    """Return the finished command."""
    return subprocess.run([*map(str, command)], cwd=folder, capture_output=True, encoding="utf-8")


@pytest.fixture
def place(tmp_path):
    """Return a folder that holds an empty remote repository and a folder to publish, in a path with an accent."""
    place = tmp_path / "le dépôt"
    (place / "notebooks").mkdir(parents=True)
    (place / "notebooks" / "01.ipynb").write_text("one\n", encoding="utf-8")
    run("git", "init", "--quiet", "--bare", "remote.git", folder=place)
    return place


def publish(place, remote="remote.git"):
    """Publish; return the finished command, the files on the branch and its commits, the newest first."""
    done = run("sh", ROOT / "tools" / "publish_branch.sh", "notebooks", "copies", remote, folder=place)
    files = run("git", "ls-tree", "-r", "--name-only", "copies", folder=place / "remote.git").stdout.split()
    return done, files, run("git", "log", "--format=%H", "copies", folder=place / "remote.git").stdout.split()


def test_the_branch_is_made_then_left_and_then_gets_what_changed_on_top(place):
    done, files, first = publish(place)
    assert (done.returncode, files, len(first)) == (0, ["01.ipynb"], 1), done.stderr
    done, files, commits = publish(place)
    assert (done.returncode, files, commits) == (0, ["01.ipynb"], first) and "already held" in done.stdout
    (place / "notebooks" / "01.ipynb").rename(place / "notebooks" / "02.ipynb")
    (place / "notebooks" / ".gitignore").write_text("*.ipynb\n", encoding="utf-8")  # which is published, too
    _, files, commits = publish(place)
    assert (files, commits[1:]) == ([".gitignore", "02.ipynb"], first)


def test_an_empty_folder_is_refused_in_one_sentence_and_a_remote_that_cannot_be_reached_is_a_failure(place):
    done, _, _ = publish(place, remote="absent.git")
    assert done.returncode and "absent.git" in done.stderr
    (place / "notebooks" / "01.ipynb").unlink()
    done, files, _ = publish(place)
    assert (done.returncode, done.stderr.count("\n"), files) == (1, 1, [])
