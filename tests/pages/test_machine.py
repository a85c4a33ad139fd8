"""The one machine: the map on the cover, the figure of chapter 12, and the strip at the head of every chapter."""

import gzip
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from bookbuild import ROOT
from bookbuild.read.book import Book
from companion import figures
from companion.evidence.twins import machine_numbers
from tests.shared.pages import NARROW

MAP, STRIP = 8_192, 2_048  # bytes, compressed
COVER, WHOLE = "index.html", "chapters/12-transformer.html"
CHAPTERS = {chapter.number: chapter for chapter in Book(ROOT).chapters}
DRAWN = range(1, 16)  # the chapters that build a part
SMALLEST = 11.5  # pixels of a letter's body, on a phone
FINGER, ANY_TARGET = 44, 24  # pixels: WCAG 2.5.5, which the other parts of a chapter need not meet, and 2.5.8
TARGETS = """(all) => all.map((part) => {
    const { width, height } = part.getBoundingClientRect();
    return [part.tabIndex === 0, part.dataset.chapter, width, height];
})"""
SIZES = """(all) => all.filter((text) => text.checkVisibility()).map((text) => {
    const { a, b } = text.getScreenCTM();
    return [parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b), text.textContent];
})"""


def does(chapter):
    """Return what a chapter does, or a sentence that asks for it."""
    return chapter.comments.get("Job") or pytest.fail(f"{chapter.file}: add a comment `% Job: …` below the title.")


def packed(*parts):
    return len(gzip.compress("".join(map(str, parts)).encode()))


def heights(path):
    """Return the heights of the bars that a path draws."""
    return [float(height) for height in re.findall(r"12v-([\d.]+)h", path["d"])]


@pytest.mark.parametrize("layout", ["wide", "tall"])
def test_each_part_of_the_map_leads_to_its_chapter_and_bears_its_name_and_job(layout, read):
    links = read(COVER).select(f'[data-layout="{layout}"] a')
    assert {int(link["data-chapter"]) for link in links} == CHAPTERS.keys() & set(DRAWN)
    for link in links:
        chapter = CHAPTERS[int(link["data-chapter"])]
        assert link["href"] == f"{chapter.page}.html"
        assert link.title.text == f"{chapter.number} {chapter.title}\n{does(chapter)}"
    stops = [link for link in links if not link.get("aria-hidden")]
    assert [int(link["data-chapter"]) for link in stops] == sorted({int(link["data-chapter"]) for link in links})
    unheard = [(text.text, link.title.text) for link in stops for text in link.select("text:not([aria-hidden])")]
    assert [pair for pair in unheard if pair[0].lower() not in pair[1].lower()] == []


def test_where_a_chapter_is_missing_its_part_is_no_link():
    chapters = [("one", "1.html", "First."), ("two", "2.html", "Then.")]
    drawn = figures.machine(machine_numbers(), chapters, alt="A machine.")._repr_html_()
    assert set(re.findall(r'<a data-chapter="(\d+)"', drawn)) == {"1", "2"}
    assert set(re.findall(r'<g data-chapter="(\d+)"', drawn)) == {str(n) for n in DRAWN if n > 2}
    assert "<a " not in figures.machine(machine_numbers(), alt="A machine.")._repr_html_()


@pytest.mark.parametrize("drawn", [COVER, WHOLE])
def test_the_numbers_are_those_of_the_model(drawn, read):
    numbers = machine_numbers()
    for drawing in read(drawn).select('[data-layout="wide"], [data-layout="tall"]'):
        bars = [found for path in drawing.select("path.w") if (found := heights(path))]
        weights = [numbers[name] for name in ("self-attention", "masked", "cross-attention", "next")]
        expected = [np.maximum(24 * np.divide(row, max(row)), 2) for row in weights]
        for found, right in zip(sorted(bars), sorted(map(list, expected)), strict=True):  # drawn in the chapters' order
            np.testing.assert_allclose(found, right, atol=0.051)
        assert drawing.select_one(".next").text == numbers["word"]
        assert f"p = {numbers['next'][0]:.2f}" in drawing.text
        words = re.sub(r"\s", "", drawing.text)
        assert all(re.sub(r"\s", "", numbers[side]) in words for side in ("source", "target"))


def test_a_strip_shows_where_the_reader_is_and_what_is_built(read):
    for number, chapter in CHAPTERS.items():
        strip = read(f"{chapter.page}.html").select_one(".strip")
        parts = {state: len(strip.select(f"g.{state}")) for state in ("built", "lit", "later")}
        assert (parts["built"] > 0, parts["later"] > 0) == (number > 1, number < max(DRAWN)), number
        assert parts["lit"] > 0, number
        assert does(chapter) in strip.text and "You are here" in strip.text
        assert packed(strip) <= STRIP, number


def test_the_map_is_light(read):
    assert packed(read(COVER).select_one(".mt-machine")) <= MAP


def test_on_a_phone_its_letters_are_large_enough(server, visit):
    tab = visit(server, width=NARROW).open(COVER)
    sizes = tab.locator(".mt-machine text").evaluate_all(SIZES)
    assert len(sizes) > 30 and [size for size in sizes if size[0] < SMALLEST] == []


def test_a_finger_meets_the_part_that_stands_for_a_chapter_and_any_other_as_well(server, visit):
    tab = visit(server, width=NARROW).open(COVER)
    sizes = tab.locator('[data-layout="tall"] a').evaluate_all(TARGETS)
    assert [found for found in sizes if found[0] and min(found[2:]) < FINGER] == []
    assert [found for found in sizes if min(found[2:]) < ANY_TARGET] == []


def test_a_part_says_what_it_does_where_one_points_or_comes_by_keys(server, visit):
    tab = visit(server).open(COVER)
    job = tab.locator(".mt-machine .job")
    tab.locator('[data-layout="wide"] a[data-chapter="6"]').hover()
    expect(job).to_contain_text(f"6 {CHAPTERS[6].title} {does(CHAPTERS[6])} Open chapter 6")
    tab.locator('[data-layout="wide"] a[data-chapter="3"]').first.focus()
    expect(job).to_contain_text(does(CHAPTERS[3]))
    lit = tab.locator('[data-layout="wide"] a.on').evaluate_all("(all) => all.map((a) => a.dataset.chapter)")
    assert lit == ["3"] * 4
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"**/{CHAPTERS[3].page}.html")


def test_a_finger_asks_first_and_then_opens(server, visit):
    tab = visit(server, width=NARROW, has_touch=True, is_mobile=True).open(COVER)
    part = tab.locator('[data-layout="tall"] a[data-chapter="11"]').first
    part.tap()
    expect(tab.locator(".mt-machine .job")).to_contain_text(does(CHAPTERS[11]))
    expect(tab.locator(".mt-machine .job")).to_be_in_viewport()
    part.tap()
    tab.wait_for_url(f"**/{CHAPTERS[11].page}.html")
