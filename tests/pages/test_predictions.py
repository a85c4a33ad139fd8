"""Predict, commit, reveal: a result is hidden until the reader has chosen, by keys, finger or mouse."""

import re

import pytest
from playwright.sync_api import expect

from tests.shared.pages import NARROW, WIDE, violations

CHOICES, NUMBER = "chapters/13-gradients.html", "chapters/02-dot-product.html"
OUTPUT = "xpath=following-sibling::*[contains(@class, 'cell')][1]/*[contains(@class, 'cell_output')]"
FOLD = "xpath=following-sibling::details[1]"


@pytest.fixture
def opened(server, visit):
    """Return a function that opens a page with its results veiled; no error may come up."""
    visits = []

    def begin(page, **context):
        visits.append(visit(server, veiled=True, **{"reduced_motion": "reduce"} | context))
        return visits[-1].open(page)

    yield begin
    assert [fault for visiting in visits for fault in visiting.faults] == []


def told(tab):
    """Return all that a screen reader is told of a page, in one text."""
    tree = tab.context.new_cdp_session(tab).send("Accessibility.getFullAXTree")["nodes"]
    return " ".join(str(node.get("name", {}).get("value", "")) for node in tree if not node["ignored"])


def test_a_result_is_hidden_from_the_eye_and_from_a_screen_reader_and_the_code_is_not(opened):
    tab = opened(CHOICES)
    card = tab.locator(".predict").first
    for colours in ("none", "active"):
        tab.emulate_media(forced_colors=colours)
        expect(card.locator(FOLD)).to_be_hidden()
        expect(card.locator(OUTPUT).locator("pre")).to_be_hidden()
        expect(card.locator("xpath=following-sibling::*[1]/*[1]")).to_be_visible()
    assert "passes, 17.5 days" not in told(tab)
    tab.get_by_role("button", name="Skip, and show me").first.click()
    assert "passes, 17.5 days" in told(tab)


def test_the_arrows_walk_and_enter_chooses(opened):
    tab = opened(CHOICES)
    card, options = tab.locator(".predict").first, tab.locator(".predict").first.get_by_role("radio")
    options.first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp"):
        tab.keyboard.press(key)
    expect(options.nth(1)).to_be_focused()
    expect(card.locator(OUTPUT).locator("pre")).to_be_hidden()
    tab.keyboard.press("Enter")
    expect(options.nth(1)).to_be_checked()
    expect(options.nth(1)).to_be_focused()
    expect(options.nth(2)).to_have_class(re.compile("is-right"))
    said = card.get_by_role("status").locator("p")
    assert [text[:5] for text in said.all_inner_texts()] == ["In a ", "Right"]
    expect(card.locator(OUTPUT).locator("pre")).to_be_visible()
    expect(card.locator(FOLD)).to_be_visible()
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press(" ")
    expect(options.nth(1)).to_be_checked()  # a choice is taken back by a button, not by a slip of the finger
    assert tab.evaluate("document.activeElement.closest('.predict') !== null")


def test_the_choice_and_the_right_one_are_named_in_words(opened):
    card = opened(CHOICES).locator(".predict").first
    options = card.get_by_role("radio")
    options.nth(0).click()
    assert [one.split("\n")[-1] for one in options.all_inner_texts()] == ["your choice", "a day", "right"]
    card.get_by_role("button", name="Choose again").click()
    options.nth(2).click()
    assert [one.split("\n")[-1] for one in options.all_inner_texts()] == ["an hour", "a day", "your choice, right"]


def test_who_chooses_again_finds_the_question_as_it_was(opened):
    tab = opened(CHOICES)
    card = tab.locator(".predict").first
    before = card.inner_html()
    card.get_by_role("radio").first.click()
    card.get_by_role("button", name="Choose again").click()
    expect(card.get_by_role("radio").first).to_be_focused()
    assert card.inner_html() == before
    expect(card.locator(OUTPUT).locator("pre")).to_be_hidden()
    tab.reload()
    expect(tab.locator(".predict.done")).to_have_count(0)


def test_a_kept_guess_that_is_no_choice_is_none(opened):
    tab = opened(CHOICES)
    tab.get_by_role("radio").first.click()
    tab.evaluate("""() => {
        for (const key of Object.keys(localStorage))
            localStorage[key] = localStorage[key].replace('"which":0', '"which":"9"');
    }""")
    tab.reload()
    expect(tab.locator(".predict.done")).to_have_count(0)
    expect(tab.locator(".practice").last).to_have_class(re.compile("ready"))


def test_a_number_beside_the_range_is_told_on_which_side_and_can_be_typed_again(opened):
    card = opened(NUMBER).locator(".predict:has(input)")
    for typed, says in (("0.001", ["Too s", "Right"]), ("1/2", ["Too l", "Right"]), ("0.03", ["Right"])):
        card.get_by_label("Your guess").fill(typed)
        card.get_by_role("button", name="Choose").click()
        assert [text[:5] for text in card.locator("div[role=status] p").all_inner_texts()] == says
        card.get_by_role("button", name="Choose again").click()
        expect(card.get_by_label("Your guess")).to_be_focused()
        expect(card.get_by_label("Your guess")).to_have_value("")


def test_all_predictions_of_a_page_begin_anew(opened):
    tab = opened(CHOICES)
    veiled = tab.locator(".veiled").count()
    for card in tab.locator(".predict").all():
        card.get_by_role("radio").first.click()
    expect(tab.locator(".veiled")).to_have_count(0)
    tab.get_by_role("button", name="Start this page’s predictions anew").last.click()
    for _ in range(2):
        expect(tab.locator(".veiled")).to_have_count(veiled)
        expect(tab.locator(".predict.done")).to_have_count(0)
        tab.reload()


def test_a_right_choice_is_told_why_by_finger_on_a_phone(opened):
    tab = opened(CHOICES, width=NARROW, has_touch=True, is_mobile=True)
    card = tab.locator(".predict").first
    card.get_by_role("radio").nth(2).tap()
    assert [text[:5] for text in card.get_by_role("status").locator("p").all_inner_texts()] == ["Right"]
    expect(card.get_by_role("button", name="Skip")).to_be_hidden()


def test_a_number_is_typed_and_its_code_is_hidden_too(opened):
    tab = opened(NUMBER)
    card = tab.locator(".predict:has(input)")
    code = card.locator("xpath=following-sibling::*[contains(@class, 'cell')][1]/*[1]").locator("pre")
    expect(code).to_be_hidden()
    card.get_by_label("Your guess").focus()
    for typed in ("no", "0.03"):
        tab.keyboard.press("Control+A")
        tab.keyboard.type(typed)
        tab.keyboard.press("Enter")
        if typed == "no":
            expect(card).to_contain_text("“no” is not a number")
    expect(code).to_be_visible()
    said = card.locator("div[role=status] p")
    expect(said).to_have_count(1)
    assert said.inner_text().startswith("Right: ")  # without the range, which is the author's


def test_the_veil_can_be_lifted_for_good_and_let_down_again(opened):
    tab = opened(CHOICES)
    veiled = tab.locator(".veiled")
    assert veiled.count() > 2
    for choice, expected in (("Show all results", 0), ("Hide results until I choose", veiled.count())):
        tab.get_by_role("button", name=choice).first.click()
        expect(tab.locator(".predict > p").first).to_be_focused()
        expect(veiled).to_have_count(expected)
        tab.reload()
        expect(veiled).to_have_count(expected)


@pytest.mark.parametrize("chapter", [CHOICES, NUMBER])
def test_what_is_veiled_is_one_strip(opened, chapter):
    """Below each question stand its choices, the code that one predicts from, and one line in place of the rest."""
    tab = opened(chapter)
    for width in (WIDE, NARROW):
        tab.set_viewport_size({"width": width, "height": 844})
        assert set(tab.locator(".veiled").evaluate_all("veils => veils.map((veil) => veil.offsetHeight)")) == {0}
        cards, strips = tab.locator(".predict").all(), tab.locator(".veil").all()
        assert len(cards) == len(strips) == tab.locator(".text p > strong:text-is('Predict.')").count()
        for strip in strips:
            assert strip.bounding_box()["height"] < 50
            shown = strip.evaluate("""(strip) => {
                let one = strip, room = 0;
                while ((one = one.nextElementSibling) && one.matches(".veiled")) room += one.offsetHeight;
                return one ? one.getBoundingClientRect().top - strip.getBoundingClientRect().bottom : 0;
            }""")
            assert shown < 60  # the margins of the strip and of what follows


def test_what_opens_and_closes_leaves_the_question_where_it_is_on_the_screen(opened):
    tab = opened(NUMBER)
    tab.add_style_tag(content="html { overflow-anchor: none; }")  # as in a browser that holds no place by itself
    card = tab.locator(".predict:has([role=radio])").last  # with others above it that open as well
    for width in (WIDE, NARROW):
        tab.set_viewport_size({"width": width, "height": 900})
        card.scroll_into_view_if_needed()
        place = card.bounding_box()["y"]
        for name in ("Skip", "Start this page", "Show all", "Hide results", "B", "Choose again"):
            role = "radio" if name == "B" else "button"
            card.get_by_role(role, name=re.compile(f"^{name}")).click()
            assert card.bounding_box()["y"] == pytest.approx(place, abs=1), (name, width)


def test_a_link_into_what_is_veiled_shows_it(opened):
    tab = opened(f"{NUMBER}#fig-two-vectors")
    expect(tab.locator("#fig-two-vectors")).to_be_in_viewport()
    expect(tab.locator("#fig-two-vectors figcaption")).to_be_visible()
    tab.evaluate("dispatchEvent(new Event('kept'))")  # as when the place is kept, soon after
    expect(tab.locator("#fig-two-vectors figcaption")).to_be_visible()
    expect(tab.locator(".veil").first).to_be_hidden()
    tab.get_by_role("button", name="Hide results until I choose").click()
    expect(tab.locator("#fig-two-vectors figcaption")).to_be_hidden()


def test_the_search_of_the_browser_finds_what_is_veiled_and_opens_it(opened):
    tab = opened(NUMBER)
    assert tab.locator(".veiled:not([hidden=until-found])").count() == 0
    tab.goto(f"{tab.url}#:~:text=The%20cosine%20wins")  # to the browser, a text in an address is a search
    expect(tab.get_by_text("The cosine wins")).to_be_in_viewport()
    strips = tab.locator(".veil").evaluate_all("strips => strips.map((strip) => strip.hidden)")
    assert strips == [False, True, False, False]


def test_paper_shows_the_choices_and_all_results(opened):
    tab = opened(CHOICES)
    tab.emulate_media(media="print")
    card = tab.locator(".predict").first
    expect(card.locator("ul")).to_be_visible()
    expect(card.get_by_role("radio").first).to_be_hidden()
    expect(card.locator(OUTPUT).locator("pre")).to_be_visible()
    expect(card.locator(FOLD).locator("li").first).to_be_visible()


def test_axe_finds_nothing_before_and_after(opened):
    tab, looks = opened(NUMBER, color_scheme="light", width=NARROW), {"light": set(), "dark": set()}
    for opening in (False, True):
        if opening:
            tab.get_by_role("radio").first.click()
            tab.get_by_role("button", name="Skip, and show me").first.click()
        for scheme, seen in looks.items():
            tab.emulate_media(color_scheme=scheme)
            assert violations(tab, ".text", rest=scheme == "light", seen=seen) == [], scheme


# What is kept


def test_what_was_predicted_and_solved_is_kept_and_told_in_the_summary(opened):
    tab = opened(NUMBER)
    cards, tally = tab.locator(".predict"), tab.locator(".tally")
    cards.nth(0).get_by_role("radio").nth(1).click()
    cards.nth(3).get_by_role("radio").nth(0).click()
    field = tab.locator("#ex-dot-product-variance input")
    field.fill("48 / 9")
    field.press("Enter")
    for _ in range(2):
        expect(tally).to_contain_text(
            "You predicted 1 of 2; look again at A direction is a question. You solved 1 of 7"
        )
        expect(cards.nth(3).get_by_role("radio").nth(0)).to_be_checked()
        expect(tab.locator("#ex-dot-product-variance")).to_have_class(re.compile("done"))
        expect(field).to_have_value("48 / 9")
        tab.reload()


def test_the_contents_mark_what_is_read_and_the_cover_offers_to_continue(opened):
    tab = opened("index.html", alone=True)
    expect(tab.locator(".continue")).to_have_count(0)
    tab.clock.install()
    tab.goto(tab.url.replace("index", "chapters/03-softmax"))
    link = tab.locator(".contents a[data-page='chapters/03-softmax']")
    tab.locator("#common-misreadings").scroll_into_view_if_needed()  # the summary's end is on the screen
    tab.clock.run_for(11000)
    expect(link).not_to_have_class("read")  # a leap is no reading
    for section in tab.locator("article > section > section:has(> h2)").all():
        section.evaluate("(section) => scrollBy(0, section.getBoundingClientRect().bottom - innerHeight + 40)")
        tab.clock.run_for(11000)
        if section.get_attribute("id") == "summary":
            break
    expect(link).to_have_class("read")
    tab.go_back()
    expect(tab.locator(".continue")).to_contain_text("Continue: chapter 3, ")
    assert "chapters/03-softmax.html#" in tab.locator(".continue").get_attribute("href")
    assert tab.locator(".start").all_inner_texts() == [tab.locator(".continue").inner_text()]  # the one black button


def test_a_panel_shows_what_is_kept_exports_it_forgets_it_and_imports_it(opened, tmp_path):
    tab = opened(CHOICES)
    tab.get_by_role("radio").first.click()

    def panel():
        tab.get_by_role("button", name="View", exact=True).click()
        tab.get_by_role("button", name="What is kept of your work").click()

    panel()
    expect(tab.locator(".kept")).to_contain_text("0 chapters read, 1 prediction made, 0 answers right.")
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Export as a file").click()
    kept, other = download.value.path(), tmp_path / "other.json"
    other.write_text('{"chapters": 7}', encoding="utf8")
    tab.get_by_role("button", name="Forget everything").click()
    tab.get_by_role("button", name="Press again to forget everything").click()
    expect(tab.locator(".predict.done")).to_have_count(0)
    panel()
    expect(tab.locator(".kept")).to_have_text("Nothing is kept yet.")
    tab.get_by_label("Import from a file").set_input_files(other)
    expect(tab.locator(".kept")).to_have_text(
        "“other.json” holds no work on this book: choose a file that was exported here."
    )
    tab.get_by_label("Import from a file").set_input_files(kept)
    expect(tab.locator(".predict.done")).to_have_count(1)


REFUSALS = {
    "no storage": "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('refused') } })",
    "full": "const full = new Proxy({}, { set() { throw new DOMException('full') } }); "
    "Object.defineProperty(window, 'localStorage', { value: full })",
}


@pytest.mark.parametrize("script", REFUSALS.values(), ids=REFUSALS)
def test_where_nothing_can_be_kept_all_works_until_the_page_is_left(site, visit, script):
    visiting = visit(site.as_uri(), veiled=True)
    visiting.tab.add_init_script(script)
    tab = visiting.open(NUMBER)
    tab.get_by_role("radio").first.click()
    tab.locator("#ex-dot-product-variance input").fill("1")
    tab.locator("#ex-dot-product-variance input").press("Enter")
    expect(tab.locator(".tally")).to_contain_text("You predicted 0 of 1; look again at")
    assert visiting.faults == []
