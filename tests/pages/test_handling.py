"""Exercises on the page in a reader's hands: keys, mouse, finger, and an answer that is found again."""

import copy
import re

import pytest
from playwright.sync_api import expect

from tests.shared.pages import NARROW, PLACE, SETTINGS

PAGE, ORDERED = "chapters/03-softmax.html", "#ex-softmax-temperature"
MENDED, WRITTEN, STATED = "chapters/04-attention.html", "chapters/13-gradients.html", "chapters/12-transformer.html"
CHOSEN = "chapters/14-training.html"

TO_MEND = (".pick >> nth=2", ".option >> nth=0")


@pytest.fixture
def opened(server, visit):
    """Return a function that opens a page, at which no error may come up.

    It is served: after the reload of a file Chromium may not yet know what was kept a moment ago.
    """
    visits = []

    def begin(page, **context):
        visits.append(visit(server, **{"reduced_motion": "reduce"} | context))
        return visits[-1].open(page)

    yield begin
    assert [fault for visiting in visits for fault in visiting.faults] == []


def texts(lines):
    """Return the lines of a list, in their order."""
    return [" ".join(text.split()) for text in lines.all_inner_texts()]


def test_lines_are_put_in_order_by_keyboard_alone(opened):
    tab = opened(PAGE)
    box = tab.locator(ORDERED)
    pool, answer, heard = box.locator(".pool .pick"), box.locator(".answer .pick"), box.locator(".heard")
    first, second = texts(pool)[:2]
    for i in range(2):
        pool.first.focus()
        tab.keyboard.press("Enter")
        expect(answer.nth(i)).to_be_focused()
        expect(heard).to_have_text(re.compile(f"^Line {i + 2}: "))
    assert texts(answer) == [first, second]
    tab.keyboard.press("ArrowUp")
    assert texts(answer) == [second, first]
    expect(answer.first).to_be_focused()
    tab.keyboard.press("ArrowUp")  # nothing is above
    tab.keyboard.press("ArrowDown")
    assert texts(answer) == [first, second]
    tab.keyboard.press(" ")
    expect(heard).to_have_text(re.compile("^Taken out: "))
    assert texts(answer) == [first]


def test_a_line_follows_the_mouse_to_its_place(opened):
    tab = opened(PAGE)
    box = tab.locator(ORDERED)
    box.locator(".pool .pick").first.click()
    box.scroll_into_view_if_needed()
    kept, moved = box.locator(".answer .pick").first, box.locator(".pool .pick").nth(1)
    expected = [*texts(moved), *texts(kept)]
    start, end = moved.bounding_box(), kept.bounding_box()
    tab.mouse.move(start["x"] + 60, start["y"] + 15)
    tab.mouse.down()
    tab.mouse.move(end["x"] + 60, end["y"] + 40, steps=5)
    tab.mouse.move(end["x"] + 60, end["y"] + 5, steps=5)
    tab.mouse.up()
    assert texts(box.locator(".answer .pick")) == expected


def test_a_line_follows_the_finger_by_its_grip_and_the_page_stays(opened):
    tab = opened(PAGE, width=NARROW, has_touch=True, is_mobile=True)
    box = tab.locator(ORDERED)
    box.locator(".bench").evaluate("(bench) => scrollBy(0, bench.getBoundingClientRect().top - 200)")
    grip, goal = box.locator(".pool .grip").first, box.locator(".answer")
    moved, place = texts(box.locator(".pool .pick").first), tab.evaluate("scrollY")
    start, end = grip.bounding_box(), goal.bounding_box()
    finger = tab.context.new_cdp_session(tab)
    x, y, to = start["x"] + start["width"] / 2, start["y"] + start["height"] / 2, end["y"] + end["height"] / 2
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 11):
        point = {"x": x, "y": y + (to - y) * step / 10}
        finger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(box.locator(".answer .pick")).to_have_count(1)
    assert texts(box.locator(".answer .pick")) == moved
    assert tab.evaluate("scrollY") == place


def test_an_answer_in_words_is_written_before_it_is_compared(opened):
    tab = opened(WRITTEN)
    box = tab.locator("#ex-gradients-keep")
    solution = box.locator("xpath=following-sibling::details[1]")
    compare = box.get_by_role("button", name="Compare with the solution")
    box.get_by_role("textbox").fill("the factors")
    compare.click()
    expect(box).to_contain_text("Write a sentence or two first")
    expect(solution).not_to_have_attribute("open", "")
    box.get_by_role("textbox").fill(
        "Both factors of a product, the weights of a softmax, and for a sum nothing at all."
    )
    compare.click()
    expect(solution).to_have_attribute("open", "")
    ticks = solution.get_by_role("checkbox")
    for i in range(3):
        expect(box).not_to_have_class(re.compile("done"))
        ticks.nth(i).check()
    expect(box).to_contain_text("All points are in your answer.")
    expect(box).to_have_class(re.compile("done"))
    tab.reload()
    expect(box).to_have_class(re.compile("done"))
    expect(ticks).to_have_count(3)
    expect(box.get_by_role("textbox")).to_have_value(re.compile("^Both factors"))


def test_a_line_that_is_right_is_said_to_be_so_and_a_repair_can_be_taken_back(opened):
    tab = opened(MENDED)
    box = tab.locator("#ex-attention-bug")
    lines = box.locator(".pick")
    lines.first.click()
    expect(box.get_by_role("status")).to_have_text("This line does what it should.")
    before = texts(lines)
    lines.nth(2).click()
    cause = box.get_by_role("radio").first
    cause.click()
    assert texts(lines) != before
    cause.click()
    assert texts(lines) == before


@pytest.mark.parametrize(
    ("name", "exercise", "act"),
    [
        (CHOSEN, "#ex-training-lab", lambda box: box.locator(".option >> nth=1").click()),
        (STATED, "#ex-transformer-false", lambda box: box.locator(".option >> nth=1").click()),
        (PAGE, ORDERED, lambda box: box.locator(".pool .pick").first.click()),
        (MENDED, "#ex-attention-bug", lambda box: [box.locator(one).click() for one in TO_MEND]),
    ],
    ids=["choice", "pick", "lines", "mend"],
)  # fmt: skip
def test_an_answer_is_found_again(opened, name, exercise, act):
    tab = opened(name)
    box = tab.locator(exercise)
    state = ".practice .option[aria-checked=true], .answer .pick, .pick.changed"
    answer = tab.locator(f"{exercise} :is({state})")
    act(box)
    expect(answer).not_to_have_count(0)
    chosen = texts(answer)
    tab.reload()
    expect(answer).not_to_have_count(0)
    found = texts(answer)
    assert found == [text for text in chosen if text in found]


# What may stand in the browser under our name: of another edition, edited by hand, damaged.
ODD = [None, 7, "x", ["x"], [-2], [99], {"text": 7, "ticks": 7}, {"text": "x", "ticks": [7]}]
ODD_PLACES = ["null", "{", '{"chapters": []}', '{"chapters": {"chapters/03-softmax": 7}}']
KEEP = """([key, odd]) => {
    const names = [...document.querySelectorAll(".practice")].map((box) => JSON.parse(box.dataset.answer).name);
    const answers = Object.fromEntries(names.map((name) => [name, { answer: odd, done: "x" }]));
    localStorage[key] = JSON.stringify({ chapters: { [document.documentElement.dataset.page]: { answers } }, last: 7 });
}"""


@pytest.mark.release
@pytest.mark.parametrize("name", [PAGE, STATED])
def test_what_is_kept_in_another_form_stops_no_exercise(server, visit, read, name):
    """The page that is loaded again and again has no text but its headings and exercises."""
    visiting, page = visit(server, reduced_motion="reduce"), copy.copy(read(name))
    for text in page.select("article > section > section:not(#exercises) > :not(h2)"):
        text.decompose()
    visiting.tab.route(f"**/{name}", lambda route: route.fulfill(body=str(page), content_type="text/html"))
    tab = visiting.open(name)
    count = tab.locator(".practice").count()
    assert count == len(read(name).select(".practice"))
    assert count > 3
    for odd in ODD:
        tab.evaluate(KEEP, [PLACE, odd])
        tab.reload()
        expect(tab.locator(".practice.ready")).to_have_count(count)
    for odd in ODD_PLACES if name == PAGE else ():  # the same for all
        tab.evaluate("([key, odd]) => (localStorage[key] = odd)", [PLACE, odd])
        tab.reload()
        expect(tab.locator(".practice.ready")).to_have_count(count)
    assert visiting.faults == []


def test_no_address_is_read_from_what_is_kept_and_an_odd_one_of_a_place_stops_nothing(opened):
    tab = opened(PAGE)
    kept = '{"theme": "dark", "content_root": "https://example.org/", "page": "x"}'
    tab.evaluate("([key, kept]) => (localStorage[key] = kept)", [SETTINGS, kept])
    tab.goto(f"{tab.url}#%")
    tab.reload()
    expect(tab.locator(".practice.ready")).to_have_count(tab.locator(".practice").count())
    root = tab.evaluate("({ ...document.documentElement.dataset })")
    assert (root["theme"], root["content_root"], root["page"]) == ("dark", "../", "chapters/03-softmax")


def test_a_wrong_answer_leads_to_the_hint_a_right_one_to_the_solution_and_the_tick_goes_with_the_answer(opened):
    tab = opened("chapters/02-dot-product.html")
    box = tab.locator("#ex-dot-product-variance")
    hint, solution = box.locator(".fold.hint"), box.locator("xpath=following-sibling::details[1]")
    said, field = box.get_by_role("status"), box.get_by_role("textbox")
    for typed, says in {"5,333": "“5,333”: write a point", "6": "Not yet: you have 6. Try the hint."}.items():
        field.fill(typed)
        field.press("Enter")
        expect(said).to_contain_text(says)
    box.get_by_role("button", name="the hint").click()
    expect(hint).to_have_attribute("open", "")
    field.fill("5 1/3")
    field.press("Enter")
    expect(said).to_have_text("Right. Compare with the solution.")
    expect(box).to_have_class(re.compile("done"))
    box.get_by_role("button", name="Compare with the solution").click()
    expect(solution).to_have_attribute("open", "")
    expect(solution.locator("summary")).to_be_focused()
    field.fill("5")
    field.press("Enter")
    expect(box).not_to_have_class(re.compile("done"))


def test_paper_has_room_for_answers_and_the_solutions_behind_all_questions(opened):
    tab = opened(PAGE)
    tab.emulate_media(media="print")
    tops = {
        kind: [one.bounding_box()["y"] for one in tab.locator(f"#exercises > {kind}").all()]
        for kind in (".exercise", ".solution")
    }
    assert len(tops[".solution"]) > 5
    assert max(tops[".exercise"]) < min(tops[".solution"])
    assert min(room.bounding_box()["height"] for room in tab.locator(".practice > .room").all()) > 20  # pixels
    expect(tab.locator(".practice:not(:has(> .room))")).to_have_count(0)


def test_exercises_that_need_code_that_runs_say_how(opened):
    tab = opened(PAGE)
    for exercise in ("#ex-softmax-lab", "#ex-softmax-crowd"):
        tab.locator(exercise).locator(".runs").get_by_role("button", name="in the page, in Colab or at home").click()
        expect(tab.locator("#run")).to_be_visible()
        tab.keyboard.press("Escape")
    expect(tab.locator(ORDERED).locator(".runs")).to_have_count(0)
