"""The script that pushes the notebook copies, with a repository on this machine for the remote one."""

import subprocess

import pytest

from tools import publish_branch


def git(*arguments, folder):
    """Return what git says in `folder`."""
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, encoding="utf-8", check=True)
    return done.stdout.splitlines()


@pytest.fixture
def remote(tmp_path):
    """Return an empty remote repository, in a path with a space and an accent."""
    folder = tmp_path / "le dépôt.git"
    subprocess.run(["git", "init", "--quiet", "--bare", folder], check=True)
    return folder


@pytest.fixture
def folder(tmp_path):
    """Return a folder to publish."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    (folder / "01.ipynb").write_text("one\n", encoding="utf-8")
    return folder


def publish(folder, remote):
    """Publish; return the names of the files on the branch, and the number of its commits."""
    assert publish_branch.main(folder, "notebooks", remote) == 0
    files = git("ls-tree", "-r", "--name-only", "notebooks", folder=remote)
    return files, len(git("log", "--format=%H", "notebooks", folder=remote))


def test_the_first_run_makes_the_branch(folder, remote):
    assert publish(folder, remote) == (["01.ipynb"], 1)


def test_a_run_without_a_change_makes_no_commit(folder, remote, capsys):
    publish(folder, remote)
    assert publish(folder, remote) == (["01.ipynb"], 1)
    assert "already held" in capsys.readouterr().out


def test_a_change_comes_on_top_of_the_history_and_what_is_gone_is_removed(folder, remote):
    publish(folder, remote)
    (first,) = git("rev-parse", "notebooks", folder=remote)
    (folder / "01.ipynb").unlink()
    (folder / "02.ipynb").write_text("two\n", encoding="utf-8")
    assert publish(folder, remote) == (["02.ipynb"], 2)
    assert git("rev-parse", "notebooks~1", folder=remote) == [first]


def test_files_that_the_machine_ignores_are_published_too(folder, remote):
    (folder / ".gitignore").write_text("*.ipynb\n", encoding="utf-8")
    assert publish(folder, remote)[0] == [".gitignore", "01.ipynb"]


def test_an_empty_folder_is_refused_in_one_sentence(tmp_path, remote, capsys):
    (tmp_path / "empty").mkdir()
    assert publish_branch.main(tmp_path / "empty", "notebooks", remote) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert git("branch", folder=remote) == []


def test_a_remote_that_cannot_be_reached_is_a_failure(folder, tmp_path, capsys):
    assert publish_branch.main(folder, "notebooks", tmp_path / "absent.git") == 1
    assert "could not be published" in capsys.readouterr().err
