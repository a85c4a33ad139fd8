"""The page of claims as a quiz: a verdict is hidden until the reader has judged, and the score is kept."""

import re

import pytest
from playwright.sync_api import expect

from bookbuild import ROOT
from bookbuild.read.book import Book
from bookbuild.read.claims import PAGE, claims

URL = f"{PAGE}.html"
BOOK = Book(ROOT)
CLAIMS = claims(next(page for page in BOOK.pages if page.page == PAGE))
RIGHT = [["True:", "False:", "True only if"].index(claim.verdict) for found in CLAIMS.values() for claim in found]


@pytest.fixture
def opened(server, visit):
    """Return a function that opens the page with its verdicts hidden; no error may come up."""
    visits = []

    def begin(**context):
        visits.append(visit(server, veiled=True, **{"reduced_motion": "reduce"} | context))
        return visits[-1].open(URL)

    yield begin
    assert [fault for visiting in visits for fault in visiting.faults] == []


def test_every_claim_of_the_source_can_be_judged(opened):
    tab = opened()
    expect(tab.locator(".claim")).to_have_count(len(RIGHT))
    expect(tab.locator(".score")).to_have_count(1 + len(CLAIMS))
    assert tab.locator(".claim > p.veiled").count() == len(RIGHT)
    expect(tab.locator(".claim > p.veiled").first).to_be_hidden()


def test_who_judges_sees_the_verdict_and_the_score_is_kept(opened):
    tab = opened()
    for number, choice in ((0, RIGHT[0]), (1, (RIGHT[1] + 1) % 3)):
        tab.locator(".claim").nth(number).get_by_role("radio").nth(choice).click()
    for _ in range(2):
        expect(tab.locator(".score").first).to_contain_text(f"judged 2 of {len(RIGHT)}, 1 of them rightly")
        expect(tab.locator(".score").nth(1)).to_contain_text("judged 2 of 10, 1 of them rightly")
        expect(tab.locator(".score").nth(2)).to_contain_text("judged 0 of 10.")
        expect(tab.locator(".claim").nth(0).locator("> p").last).to_be_visible()
        expect(tab.locator(".claim").nth(0).get_by_role("status")).to_have_text("You judged rightly.")
        expect(tab.locator(".claim").nth(1).get_by_role("status")).to_contain_text("You said: ")
        expect(tab.locator(".claim").nth(1).get_by_role("radio").nth(RIGHT[1])).to_have_class(re.compile("is-right"))
        expect(tab.locator(".claim").nth(2).locator("> p").last).to_be_hidden()
        tab.reload()
    tab.get_by_role("button", name="View").click()
    tab.get_by_role("button", name="What is kept of your work").click()
    expect(tab.locator(".kept")).to_contain_text("0 predictions made, 0 answers right, 2 claims judged.")


def test_the_keyboard_judges_and_begins_anew(opened):
    tab = opened()
    first = tab.locator(".claim").first
    first.get_by_role("radio").first.focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    expect(first.get_by_role("radio").nth(1)).to_be_checked()
    expect(first.get_by_role("radio").nth(1)).to_be_focused()
    tab.locator(".score").nth(1).get_by_role("button", name="Judge them anew").click()
    expect(first.get_by_role("radio").first).to_be_focused()
    expect(first.locator("> p").last).to_be_hidden()
    expect(tab.locator(".claim.done")).to_have_count(0)


def test_all_verdicts_can_be_shown_and_hidden(opened):
    tab = opened()
    tab.get_by_role("button", name="Show all verdicts").click()
    expect(tab.locator(".claim > p.veiled")).to_have_count(0)
    tab.get_by_role("button", name="Hide verdicts until I choose").click()
    expect(tab.locator(".claim > p.veiled")).to_have_count(len(RIGHT))


def test_a_judgement_in_another_form_is_none(opened):
    tab = opened()
    tab.locator(".claim").first.get_by_role("radio").first.click()
    tab.evaluate("""() => {
        for (const key of Object.keys(localStorage))
            localStorage[key] = localStorage[key].replace('"which":0', '"which":"length"');
    }""")
    tab.reload()
    expect(tab.locator(".claim.done")).to_have_count(0)


@pytest.mark.parametrize("context", [{"java_script_enabled": False}, {}], ids=["without scripts", "on paper"])
def test_all_stands_there(opened, context):
    tab = opened(**context)
    if not context:
        tab.emulate_media(media="print")
        expect(tab.locator(".options, .score").first).to_be_hidden()
    for text in ("False: the table of all their products", "True only if a decomposition has chosen them"):
        expect(tab.get_by_text(text).first).to_be_visible()


def test_a_chapter_leads_to_the_claims_about_it(read):
    for chapter in (chapter for chapter in BOOK.chapters if chapter.number in CLAIMS):
        [link] = read(f"{chapter.page}.html").select("p.claims > a")
        assert link.text.startswith("Ten claims about this chapter")
        page, _, place = link["href"].partition("#")
        assert page == f"../{URL}"
        assert read(URL).select_one(f"[id='{place}'] > h2").text.startswith(f"Chapter {chapter.number}: ")
