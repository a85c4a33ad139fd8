"""The plans of reference/teaching.md: their times are sums of what the chapters state, and their exercises exist."""

import math
import re

import pytest
from tests.shared.texts import ROOT, Page

TEACHING = ROOT / "reference" / "teaching.md"
EFFORT = re.compile(r"\*(Easy|Medium|Hard), (\d+) minutes")
PLANS = ("Four weeks", "Eight weeks", "Fourteen weeks")


class Chapter:
    """A chapter's title, reading time, and its exercises: title -> (difficulty, minutes)."""

    def __init__(self, path):
        page = Page(path, path.name)
        starts = [d for d in page.directives if d.name == "exercise-start"]
        self.name, self.reading = path.stem, int(re.search(r"Reading time:\* (\d+) minutes", page.text)[1])
        text = page.text.splitlines()
        efforts = [EFFORT.search("\n".join(text[start.line :])).groups() for start in starts]
        self.exercises = {start.argument: (level, int(n)) for start, (level, n) in zip(starts, efforts)}

    def minutes(self, asked):
        """Return how long it takes to read and to do `asked`: all, easy and medium, or titles with commas."""
        if asked == "all":
            titles = list(self.exercises)
        elif asked == "easy and medium":
            titles = [title for title, (level, _) in self.exercises.items() if level != "Hard"]
        else:
            titles = asked.split(", ")
        return self.reading + sum(self.exercises[title][1] for title in titles)


CHAPTERS = {int(path.name[:2]): Chapter(path) for path in sorted((ROOT / "chapters").glob("[0-9][0-9]-*.md"))}


def table(heading):
    """Return the rows of the first table below a heading, as lists of texts."""
    after = TEACHING.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [[field.strip() for field in line.strip("|").split("|")] for line in after.splitlines() if line[:1] == "|"]
    assert len(rows) > 2
    return rows[2:]


def hours(minutes):
    """Return minutes as the page writes them."""
    return " ".join(f"{n} {unit}" for n, unit in zip(divmod(minutes, 60), ("h", "min")) if n)


def test_every_chapter_stands_with_its_times():
    rows = table("What a week looks like")
    assert [int(re.search(r"\d+", row[0])[0]) for row in rows] == list(CHAPTERS)
    for (title, reading, exercises, _), chapter in zip(rows, CHAPTERS.values()):
        assert f"(../chapters/{chapter.name}.md)" in title
        assert reading == f"{chapter.reading} min"
        total = sum(minutes for _, minutes in chapter.exercises.values())
        assert exercises == f"{len(chapter.exercises)}, {total} min", title


@pytest.mark.parametrize("plan", PLANS)
def test_the_hours_of_a_week_are_the_sum_of_what_is_read_and_set(plan):
    for week, (number, read, asked, time) in enumerate(table(plan), 1):
        numbers = [int(text) for text in read.split(", ")]
        tasks = dict(part.split(": ") for part in asked.split("; ")) if ":" in asked else dict.fromkeys(numbers, asked)
        assert number == str(week)
        assert list(map(int, tasks)) == numbers, f"week {week} sets exercises of chapters that it does not read"
        assert time == hours(sum(CHAPTERS[int(n)].minutes(titles) for n, titles in tasks.items())), f"week {week}"


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_reads_each_chapter_once_in_order_or_says_that_it_is_left_out(plan):
    read = [int(number) for row in table(plan) for number in row[1].split(", ")]
    text = TEACHING.read_text(encoding="utf-8").partition(f"## {plan}\n")[2].partition("\n## ")[0]
    left = re.search(r"Left out are chapters ([\d, and]+)\.", text)
    assert read == sorted(set(CHAPTERS) - {int(number) for number in re.findall(r"\d+", left[1] if left else "")})


def test_the_size_of_a_hub_follows_from_one_reader():
    text = TEACHING.read_text(encoding="utf-8")
    memory = int(re.search(r"(\d+) MB a reader", text)[1])
    work, spell = re.search(r"(\d+) seconds of one core\b.* within (\d+) minutes", text).groups()
    rows = table("How large a hub?")[-3:]
    for readers, gigabytes, cores in rows:
        assert gigabytes == f"{round(int(readers) * memory / 1000)} GB"
        assert cores == str(math.ceil(int(readers) * int(work) / (60 * int(spell))))
