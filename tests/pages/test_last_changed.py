"""The date at the foot of a page: when git says that its text was last changed, and nothing where git cannot say."""

import os
import re
import subprocess

import pytest

from bookbuild import ROOT
from bookbuild.site import last_changed

NAME = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


class Repository:
    """A repository in a folder whose name holds a space and an accent."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q")

    def git(self, *arguments, **environment):
        """Run git in the folder, whatever repository the tests themselves are run from."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        subprocess.run(["git", *NAME, *arguments], cwd=self.folder, env=plain | environment, check=True)

    def commit(self, date, **texts):
        """Write Markdown files and commit them at `date`."""
        for name, text in texts.items():
            (self.folder / f"{name}.md").write_text(text, "utf8")
        self.git("add", ".")
        self.git("commit", "-qm", "Change", GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date)


@pytest.fixture
def repository(tmp_path):
    """Return a repository in which the file café was changed after the file other."""
    made = Repository(tmp_path / "livre à lire")
    made.commit("2024-02-28T12:00:00+00:00", café="one", other="one")
    made.commit("2024-03-01T01:30:00+05:00", café="two")
    return made


def test_a_file_has_the_date_of_its_last_commit_in_utc(repository):
    assert last_changed.dates(repository.folder) == {"café.md": "2024-02-29", "other.md": "2024-02-28"}


def test_files_below_the_folder_are_named_from_it(repository):
    (repository.folder / "part").mkdir()
    repository.commit("2024-04-01T00:00:00+00:00", **{"part/page": "one"})
    assert last_changed.dates(repository.folder / "part") == {"page.md": "2024-04-01"}


def test_of_a_merge_the_newer_change_counts(repository):
    repository.git("checkout", "-qb", "side", "HEAD~1")
    repository.commit("2024-05-01T00:00:00+00:00", other="two")
    repository.git("checkout", "-q", "-")
    repository.git("merge", "-q", "--no-edit", "side")
    assert last_changed.dates(repository.folder) == {"café.md": "2024-02-29", "other.md": "2024-05-01"}


def test_a_shallow_clone_knows_no_date(repository, tmp_path):
    repository.git("clone", "-q", "--depth=1", repository.folder.as_uri(), str(tmp_path / "shallow"))
    assert last_changed.dates(tmp_path / "shallow") == {}


def test_without_a_repository_or_git_no_date_is_known(tmp_path, repository, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert last_changed.dates(tmp_path) == {}
    monkeypatch.setenv("PATH", str(tmp_path))
    assert last_changed.dates(repository.folder) == {}


def test_every_page_of_text_says_when_it_was_changed(site):
    known = last_changed.dates(ROOT)
    sources = [ROOT / "index.md", *ROOT.glob("chapters/*.md"), *ROOT.glob("reference/*.md")]
    for name in (path.relative_to(ROOT).as_posix() for path in sources):
        page = (site / name).with_suffix(".html").read_text("utf8")
        told = re.findall(r'Last changed on <time datetime="([\d-]+)">(\d+ \w+ \d{4})</time>', page)
        assert [date for date, _ in told] == [known[name]] if name in known else not told, name
