"""The frame of the pages, tried as a reader would: drawer, panels, choices, folds, focus, copies, printing, colours."""

import json
import re

import pypdfium2
import pytest
from playwright.sync_api import expect

from bookbuild import ROOT
from bookbuild.base.browser import NO_SANDBOX, chosen
from bookbuild.read.book import Book
from tests.shared.colours import contrast
from tests.shared.local_servers import served
from tests.shared.pages import CLOSE_ALL, NARROW, OPEN_ALL, PAINTED, QUIET, WIDE, Visit, violations

CHAPTER, COVER, TABLES = "chapters/05-self-attention.html", "index.html", "reference/notation.html"
PANELS, BLACK_AND_WHITE = ("Search", "Run", "View"), ("rgb(0, 0, 0)", "rgb(255, 255, 255)")
GROUND = "getComputedStyle(document.body).backgroundColor"
AS_AT_FIRST = f"""() => {{
    ({CLOSE_ALL})();
    document.querySelectorAll(":popover-open").forEach((panel) => panel.hidePopover());
    document.activeElement.blur();
    scrollTo(0, 0);
}}"""
# Each stop of the keyboard has a ring of 2 px or more that stands out from its ground and is not cut off.
RINGS = """() => {
    const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
    const light = (color) => [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => {
        const c = color[i] / 255;
        return sum + share * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    }, 0);
    const ground = (e) => {
        for (; e; e = e.parentElement) {
            const color = numbers(getComputedStyle(e).backgroundColor);
            if ((color[3] ?? 1) > 0.5) return color;
        }
        return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
    };
    const faults = new Set();
    const stops = "a[href], button, input:not(.panel label input), summary, [tabindex='0']";
    for (const e of document.querySelectorAll(stops)) {
        e.focus();
        if (document.activeElement !== e || !e.checkVisibility({ visibilityProperty: true })) continue;
        const ring = e.querySelector(".mt-ring"); // the ring of a handle in a drawing is round
        const { stroke, strokeWidth, outlineColor, outlineStyle, outlineWidth } = getComputedStyle(ring ?? e);
        const wide = parseFloat(ring ? strokeWidth : outlineStyle === "none" ? 0 : outlineWidth);
        const [a, b] = [light(numbers(ring ? stroke : outlineColor)), light(ground(e.parentElement))].sort().reverse();
        const unseen = getComputedStyle(e).opacity < 1;
        if (wide < 2 || (a + 0.05) / (b + 0.05) < 3 || unseen) faults.add(e.outerHTML.slice(0, 90));
    }
    return [...faults];
}"""

# How far below a line of code its first word stands, and how far to the right of where the line begins, once it is
# indented by 34 characters.
DEEP = """(line) => {
    line.style.setProperty("--i", 34);
    line.textContent = " ".repeat(34) + '"the king rules france", "the queen rules spain")]';
    const range = document.createRange();
    range.setStart(line.firstChild, 34);
    range.setEnd(line.firstChild, 35);
    const [word, box] = [range.getBoundingClientRect(), line.getBoundingClientRect()];
    return [word.top - box.top, word.left - box.left];
}"""

# Which places are marked in "On this page" after a jump to each of them, and at the page's end, where that is wrong.
JUMPS = """async () => {
    const painted = PAINTED;
    const links = [...document.querySelectorAll(".here a")], wrong = [];
    const look = async (move, right) => {
        move();
        await painted();
        const marked = [...document.querySelectorAll(".here [aria-current]")];
        if (marked.length !== 1 || marked[0] !== right) wrong.push([right.text, ...marked.map(({ text }) => text)]);
    };
    for (const link of links) await look(() => link.click(), link);
    scrollTo(0, 0);
    await look(() => scrollTo(0, document.documentElement.scrollHeight), links.at(-1));
    return { links: links.length, wrong };
}""".replace("PAINTED", PAINTED)

# How high a line is with each of some texts in place of its own, which it gets back.
HEIGHTS = """(line, texts) => {
    const own = [...line.childNodes];
    const heights = texts.map((text) => {
        line.textContent = text;
        return line.getBoundingClientRect().height;
    });
    line.replaceChildren(...own);
    return heights;
}"""

# How far the end of each formula in a line that ends in a root is behind its last sign.
BEHIND_ROOTS = """() => [...document.querySelectorAll("p math")].flatMap((math) => {
    const last = [...math.querySelectorAll("mi, mn")].at(-1), right = (e) => e.getBoundingClientRect().right;
    return last?.closest("msqrt") ? [right(math) - right(last)] : [];
})"""


@pytest.fixture(scope="module")
def chapter(lend, site):
    """Return a visit to a chapter, opened as a file, which the tests of its tab share."""
    visiting = Visit(lend, site.as_uri(), reduced_motion="reduce", color_scheme="light")
    visiting.open(CHAPTER)
    yield visiting
    visiting.tab.close()


@pytest.fixture
def tab(chapter):
    """Return the chapter in a wide window, at its top, with nothing open; no error may come up."""
    chapter.faults.clear()
    chapter.resize(WIDE)
    chapter.tab.evaluate(AS_AT_FIRST)
    chapter.tab.mouse.move(0, 0)
    yield chapter.tab
    assert chapter.faults == []


@pytest.fixture
def phone(site, visit):
    """Return a chapter on a phone, with touch; no error may come up."""
    visiting = visit(site.as_uri(), width=NARROW, reduced_motion="reduce", has_touch=True, is_mobile=True)
    yield visiting.open(CHAPTER)
    assert visiting.faults == []


def styles(thing, *names):
    """Return values of the computed style of an element."""
    return thing.evaluate("(e, names) => names.map((name) => getComputedStyle(e)[name])", names)


# The drawer of the contents


def test_on_a_phone_the_contents_are_a_drawer_that_closes_in_four_ways(phone):
    drawer, button = phone.locator("#contents"), phone.get_by_role("button", name="Contents", exact=True)
    expect(drawer).to_be_hidden()
    for close in (
        lambda: phone.get_by_role("button", name="Close the contents").tap(),
        lambda: phone.keyboard.press("Escape"),
        lambda: phone.touchscreen.tap(NARROW - 10, 700),
        lambda: drawer.locator("a[href='#exercises']").tap(),
    ):
        button.tap()
        expect(drawer).to_be_visible()
        close()
        expect(drawer).to_be_hidden()
    expect(phone.locator("#exercises h2")).to_be_in_viewport()


def test_the_toolbar_of_a_phone_has_at_most_four_things_and_no_tooltips(phone):
    shown = phone.locator(".bar :is(a, button)").evaluate_all("(all) => all.filter((e) => e.checkVisibility()).length")
    assert shown <= 4
    assert phone.locator(".bar [title]").count() == 0


def test_on_a_wide_page_contents_and_places_stand_beside_the_text_and_show_where_the_reader_is(tab):
    left, right = tab.locator("#contents"), tab.locator(".here")
    text = tab.locator("article").bounding_box()
    assert left.bounding_box()["x"] + left.bounding_box()["width"] <= text["x"]
    assert right.bounding_box()["x"] >= text["x"] + text["width"]
    expect(left.locator("[aria-current=page]")).to_have_text(re.compile("Self-attention: queries, keys, values"))

    for name in ("why-the-square-root", "exercises"):
        tab.evaluate("(name) => document.getElementById(name).scrollIntoView()", name)
        expect(tab.locator(".here [aria-current=location]")).to_have_attribute("href", f"#{name}")


@pytest.mark.parametrize("chapter", ["07-multi-head", "15-translation"])
def test_the_place_that_a_link_leads_to_is_marked_and_the_last_one_at_the_end(chapter, server, visit):
    tab = visit(server).open(f"chapters/{chapter}.html")
    assert tab.evaluate(JUMPS) == {"links": tab.locator(".here a").count(), "wrong": []}


def test_nothing_wide_reaches_into_the_places_beside_the_text(tab):
    ends = tab.locator(".text :is(.cell, figure, .mt-explorable, .scroll, div[class^=highlight-])")
    for width in (1200, WIDE, 1440):
        tab.set_viewport_size({"width": width, "height": 900})
        end = max(ends.evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().right)"))
        assert end < tab.locator(".here").bounding_box()["x"], width


# Panels


def test_a_panel_opens_by_key_over_the_page_and_closes_by_escape(tab):
    for name in PANELS:
        button = tab.get_by_role("button", name=name, exact=True)
        panel = tab.locator(f"#{button.get_attribute('popovertarget')}")
        expect(panel).to_be_hidden()
        button.press("Enter")
        expect(panel).to_be_visible()
        position, ground = styles(panel, "position", "backgroundColor")
        assert position == "fixed" and not ground.endswith(", 0)")
        tab.keyboard.press("Escape")
        expect(panel).to_be_hidden()
        expect(button).to_be_focused()


def test_run_leads_to_live_code_colab_and_the_notebook(read, site):
    panel = read(CHAPTER).select_one("#run")
    assert len(panel.select("button[data-live^='https://mybinder.org/build/gh/']")) == 1
    assert len(panel.select("a[href^='https://colab.research.google.com/github'][href$='.ipynb']")) == 1
    (notebook,) = panel.select("a[download]")
    assert (site / "chapters" / notebook["href"]).is_file()


def test_the_colours_follow_the_system_and_a_choice_is_kept_from_page_to_page_before_the_first_paint(server, visit):
    visiting = visit(server, color_scheme="dark")
    tab = visiting.open(COVER)
    system = tab.evaluate(GROUND)
    tab.emulate_media(color_scheme="light")
    light = tab.evaluate(GROUND)
    tab.get_by_role("button", name="View").click()
    tab.get_by_label("dark").check()
    dark = tab.evaluate(GROUND)
    tab.route("**/book.js*", lambda route: route.abort())
    visiting.open(CHAPTER)
    assert light != dark == tab.evaluate(GROUND) == system


def test_no_address_is_taken_from_what_the_browser_keeps(server, visit):
    visiting = visit(server)
    name = Book(ROOT).owner_and_name
    kept = "{ theme: 'dark', content_root: 'https://example.org/' }"
    visiting.tab.add_init_script(f"localStorage['{name} settings'] = JSON.stringify({kept})")
    tab = visiting.open(CHAPTER)
    tab.keyboard.press("/")
    expect(tab.locator("script[src*=search_index]")).to_have_count(1)
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    assert visiting.faults == []


def test_code_wraps_below_its_own_indent_or_scrolls_as_the_reader_chooses(phone):
    line = phone.locator(".cell_input .l[data-style]", has_text=re.compile(r"^ {4}\S")).first
    padding, indent = (float(length.removesuffix("px")) for length in styles(line, "paddingLeft", "textIndent"))
    assert padding == pytest.approx(-indent) and padding > 30
    below, right = line.evaluate(DEEP)
    assert below < 10 and right > 100
    scrolls = "document.querySelectorAll('.cell_input pre').values().some((e) => e.scrollWidth > e.clientWidth)"
    assert not phone.evaluate(scrolls)
    phone.get_by_role("button", name="View").tap()
    phone.get_by_label("scroll").check()
    assert phone.evaluate(scrolls)


# The cover


def test_the_cover_begins_with_the_way_in_and_the_figure_before_who_it_is_for_and_how_long_it_takes(server, visit):
    tab = visit(server).open(COVER)
    for width, height in ((1280, 800), (NARROW, 844)):
        tab.set_viewport_size({"width": width, "height": height})
        start, figure = (tab.locator(place).bounding_box()["y"] for place in (".start", "#fig-twins"))
        told = tab.get_by_text(re.compile("readers who know Python.* minutes each")).bounding_box()["y"]
        assert start < figure < 0.6 * height < told, width


def test_the_cover_translates_what_is_typed_by_the_weights_of_the_chapter_which_it_loads_then(site, visit):
    visiting, asked = visit(site.as_uri()), []
    visiting.tab.on("request", lambda request: asked.append(request.url.rpartition("/_static/")[2]))
    tab = visiting.open(COVER)
    tab.evaluate(PAINTED)
    assert [file for file in asked if file.startswith("weights")] == []
    field = tab.get_by_role("textbox", name="English sentence")
    field.fill("the cow didn't cross the street because it was too tired")
    expect(tab.locator(".mt-french .mt-output > :not(.mt-away)")).to_have_text("elle")
    (weights,) = [file for file in asked if file.startswith("weights")]
    assert weights in (site / "chapters" / "15-translation.html").read_text("utf8")


def test_the_translator_says_what_the_cover_says_beside_its_training(site, visit):
    visiting = visit(site.as_uri())
    tab = visiting.open(COVER)
    twins = json.loads(tab.locator(".mt-explorable[data-state*=swaps]").get_attribute("data-state"))
    told = [[" ".join(words) for words in twins[language]] for language in ("english", "french")]
    tab = visiting.open("chapters/15-translation.html#fig-translator")
    field = tab.get_by_role("textbox", name="English sentence")
    expect(field).to_have_value(told[0][0])
    for english, french, share in zip(*told, (["il >99%", ""], ["", "elle >99%"])):
        field.fill(english)
        expect(tab.locator(".mt-translator [lang=fr] [role=option]").last).to_have_text(re.compile("^end"))
        words = tab.locator(".mt-translator [lang=fr] [role=option]").evaluate_all(
            "(all) => all.map((word) => word.firstChild.data)"
        )
        assert " ".join(words[:-1]).replace("' ", "'") == french.replace("' ", "'")
        assert tab.locator(".mt-odds > span").all_inner_texts() == share
    training = tab.get_by_role("slider", name="training")
    expect(training).to_have_attribute("aria-valuetext", "after 4000 of 4000 steps")
    training.press("Home")
    expect(tab.locator(".mt-translator")).to_contain_text("after 0 steps")


def test_the_field_keeps_the_focus_where_the_browser_comes_to_the_place_late(site, visit):
    visiting = visit(site.as_uri())
    taken = "({ target }) => setTimeout(() => seen(target.blur()))"  # as Chromium does when it comes to the place
    once = f"window.taken = new Promise((seen) => addEventListener('focusin', {taken}, {{ once: true }}))"
    visiting.tab.add_init_script(once)
    tab = visiting.open("chapters/15-translation.html#fig-translator")
    tab.evaluate("taken")
    field = tab.get_by_role("textbox", name="English sentence")
    expect(field).to_be_focused(timeout=1000)
    field.press("Tab")
    expect(field).not_to_be_focused()


def test_who_was_led_to_the_translator_gets_it_also_where_the_page_has_lost_the_place(site, visit):
    visiting = visit(site.as_uri())
    visiting.tab.add_init_script("IntersectionObserver.prototype.observe = () => {}")
    tab = visiting.open("chapters/15-translation.html#fig-translator")
    expect(tab.get_by_role("textbox", name="English sentence")).to_be_visible()


def test_the_title_in_the_bar_stays_in_one_line_beside_the_tools(server, visit):
    tab = visit(server, width=768).open(COVER)
    assert tab.locator(".brand span").bounding_box()["height"] < 32
    tools = tab.locator(".bar > *").evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().right)")
    assert max(tools) <= 768


# Text, code and folds


def test_lines_and_letters_have_the_size_of_a_book(tab):
    size, width = (
        tab.locator("article section section > p")
        .nth(1)
        .evaluate("""(p) => {
        const range = document.createRange(), { fontSize } = getComputedStyle(p);
        range.selectNodeContents(p);
        const lines = Map.groupBy(range.getClientRects(), ({ bottom }) => Math.round(bottom));
        return [parseFloat(fontSize), Math.max(p.textContent.length / lines.size)];
    }""")
    )
    assert 17 <= size <= 18
    assert width <= 72
    code = tab.locator(".cell_input pre").first
    assert 14 <= float(styles(code, "fontSize")[0].removesuffix("px")) <= 15
    assert (
        tab.locator("figure").first.bounding_box()["width"]
        > tab.locator("article section section > p").nth(1).bounding_box()["width"]
    )


def test_the_code_of_a_figure_folds_below_its_caption(tab):
    for figure in tab.locator("figure:has(svg.mt-figure)").all():
        code = figure.locator("xpath=ancestor::div[contains(@class, 'cell ')][1]").locator("details.code")
        if code.count():
            expect(code.locator("summary")).to_have_text("Code of this figure")
            assert code.bounding_box()["y"] >= figure.bounding_box()["y"] + figure.bounding_box()["height"]


def test_formulas_of_one_line_stand_below_each_other_where_it_is_narrow(tab):
    formula = tab.locator(".formula .parts").first
    for width, below in ((WIDE, False), (NARROW, True)):
        tab.set_viewport_size({"width": width, "height": 900})
        boxes = [part.bounding_box() for part in formula.locator("math").all()]
        assert (boxes[0]["y"] + boxes[0]["height"] <= boxes[-1]["y"]) is below
        assert all(box["x"] + box["width"] < width for box in boxes)


def test_the_longest_lines_of_code_fit_wherever_they_stand(tab):
    tab.evaluate(OPEN_ALL)
    for where in ("section > .cell", ".solution .cell", ".exercise .cell"):
        line = tab.locator(f"{where} > .cell_input .l").first
        for width in (768, WIDE, 1440):
            tab.set_viewport_size({"width": width, "height": 800})
            one, longest = line.evaluate(HEIGHTS, ["0", "0" * 88])
            assert one == longest, (where, width)


def test_folds_open_by_mouse_and_key_and_look_alike(tab):
    for kind in ("hint", "solution", "code"):
        fold = tab.locator(f"details.fold.{kind}").first
        summary, inside = fold.locator("> summary"), fold.locator("> :not(summary)").last
        tab.mouse.move(0, 0)  # what it rests on is darker
        assert styles(summary, "color", "fontSize") == styles(tab.locator(".fold > summary").first, "color", "fontSize")
        expect(inside).to_be_hidden()
        summary.click()
        expect(inside).to_be_visible()
        summary.press("Enter")
        expect(inside).to_be_hidden()


def test_a_root_leaves_no_gap_behind_it(tab):
    gaps = tab.evaluate(BEHIND_ROOTS)
    assert len(gaps) > 3
    assert max(gaps) < 1


def test_what_a_fold_hides_stands_beside_its_line_but_for_code_which_is_as_wide_as_all(tab):
    for fold in tab.locator("details.fold:not(.code, .write)").all():
        left = fold.evaluate("(fold) => (fold.open = true, fold.querySelector('.inside').getBoundingClientRect().left)")
        for part in fold.locator("> .inside > :not(.cell, [class^=highlight-])").all():
            box = part.bounding_box()
            assert box is None or box["x"] > left + 2


def test_a_link_to_a_solution_opens_it(site, visit, read):
    solution = read(CHAPTER).select("details.solution")[-1]["id"]
    tab = visit(site.as_uri()).open(f"{CHAPTER}#{solution}")
    expect(tab.locator("details.solution").last.locator(".cell_input").first).to_be_in_viewport()


def test_code_can_be_copied_as_it_is_written(server, visit):
    tab = visit(server, permissions=("clipboard-read", "clipboard-write")).open(CHAPTER)
    cell = tab.locator(".cell_input:has(.l[data-style])").first
    cell.hover()
    cell.get_by_role("button", name="Copy").click()
    expect(cell.get_by_role("button")).to_have_text("Copied")
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert "\n\n\n" not in copied and "\n    " in copied
    compile(copied, "the copied cell", "exec")


def test_a_chapter_on_paper_has_page_numbers_is_as_wide_as_the_page_and_splits_no_question_and_no_output(site, visit):
    tab = visit(site.as_uri()).open("chapters/04-attention.html")
    tab.emulate_media(media="print")
    lacking = "(all) => all.filter((p) => p.offsetWidth).map((p) => p.parentElement.offsetWidth - p.offsetWidth)"
    assert {*tab.locator("section > p").evaluate_all(lacking)} == {0}
    document = pypdfium2.PdfDocument(tab.pdf(prefer_css_page_size=True))
    pages = ["".join(page.get_textpage().get_text_bounded().split()) for page in document]
    assert (
        len(pages) > 10 and [number for number, text in enumerate(pages, 1) if not text.startswith(str(number))] == []
    )
    whole = ":is(.predict, .output:not(.long) pre):not(:has(math))"
    boxes = tab.locator(whole).evaluate_all("(all) => all.map((e) => e.innerText)")
    dense = ["".join(box.split()) for box in boxes]
    assert len(dense) > 20 and [box for box in dense if not any(box in page.replace("•", "") for page in pages)] == []


# Keyboard and screen readers


@pytest.mark.parametrize("way", ["copied", "selected"])
def test_copy_works_where_a_page_has_no_clipboard_as_over_plain_http(site, browser, way):
    """On a classroom's network: only https and this machine itself count as secure."""
    port = "--host-resolver-rules=MAP book.test 127.0.0.1"
    chromium = browser.browser_type.launch(executable_path=chosen(), args=[*NO_SANDBOX, *QUIET, port])
    with served(site) as address:
        tab = chromium.new_page()
        tab.goto(f"{address.replace('127.0.0.1', 'book.test')}/{CHAPTER}")
        assert not tab.evaluate("isSecureContext")
        if way == "selected":  # in a browser that does not do it for a page
            tab.evaluate("document.execCommand = () => false")
        cell = tab.locator(".cell_input:has(.l[data-style])").first
        code = cell.locator("pre").text_content()
        cell.locator("pre").hover()
        cell.get_by_role("button").click()
        expect(cell.get_by_role("button")).to_have_text("Copied" if way == "copied" else "Selected: press Ctrl+C")
        if way == "copied":
            tab.evaluate("document.body.prepend(document.createElement('textarea'))")
            tab.locator("textarea").first.focus()
            tab.keyboard.press("Control+v")
            assert tab.locator("textarea").first.input_value() == code
            assert tab.evaluate("String(getSelection())") == ""
        else:
            assert tab.evaluate("String(getSelection())").split() == code.split()
    chromium.close()


@pytest.mark.parametrize("kind", [COVER, CHAPTER, "search.html", "404.html"])
def test_the_first_tab_stop_skips_to_the_text_and_the_focus_is_seen_on_everything_that_takes_it(kind, server, visit):
    tab = visit(server, reduced_motion="reduce").open(kind)
    tab.keyboard.press("Tab")  # from now on the focus is moved by keys, as far as the page can tell
    if kind != "404.html":
        link = tab.locator(":focus")
        expect(link).to_have_text("Skip to the text")
        expect(link).to_be_in_viewport()
        tab.keyboard.press("Enter")
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.closest('main') !== null")
    for theme in ("light", "dark"):
        tab.emulate_media(color_scheme=theme)
        assert tab.evaluate(RINGS) == [], theme


def test_the_arrow_keys_scroll_what_is_too_wide(server, visit):
    visiting = visit(server, width=NARROW)
    tab = visiting.open(TABLES)
    box = tab.locator(".scroll[tabindex='0']").first
    assert "inset" in styles(box, "boxShadow")[0]  # which shows that there is more
    box.focus()
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function("(box) => box.scrollLeft > 0", arg=box.element_handle())
    visiting.resize(WIDE)
    expect(tab.locator(".scroll[tabindex='0']")).to_have_count(0)  # what fits is no stop on the way


def test_the_link_to_a_place_shows_under_the_mouse_and_on_focus(tab):
    for place in ("article h2", "article figure", "article .exercise .admonition-title"):
        box, link = tab.locator(place).first, tab.locator(f"{place} a.headerlink").first
        tab.mouse.move(0, 0)
        assert styles(link, "opacity") == ["0"], place
        box.hover()
        assert styles(link, "opacity") == ["1"], place
        tab.keyboard.press("Tab")
        tab.mouse.move(0, 0)
        link.focus()
        assert styles(link, "opacity") == ["1"], place


def test_what_opens_is_accessible_too(server, visit):
    visiting, wrong, looks = visit(server, reduced_motion="reduce"), {}, {"light": set(), "dark": set()}
    tab = visiting.open(CHAPTER)
    tab.evaluate("document.querySelectorAll('article > section > section').forEach((e) => e.remove())")
    for name in (*PANELS, "Contents"):
        visiting.resize(NARROW if name == "Contents" else WIDE)
        tab.get_by_role("button", name=name, exact=True).click()
        for theme in ("light", "dark"):
            tab.emulate_media(color_scheme=theme)
            wrong[name, theme] = violations(tab, rest=theme == "light", seen=looks[theme])
        tab.keyboard.press("Escape")
    assert {name: found for name, found in wrong.items() if found} == {}


def test_pictures_and_explorables_are_seen_in_the_colours_of_the_system(server, visit):
    tab = visit(server, forced_colors="active").open("chapters/06-masks.html")
    for theme, ink, paper in (("light", *BLACK_AND_WHITE), ("dark", *BLACK_AND_WHITE[::-1])):
        tab.emulate_media(color_scheme=theme)
        assert tab.evaluate(GROUND) == paper
        assert styles(tab.locator("figure svg.mt-figure text[data-style]").first, "fill") == [ink]
        assert styles(tab.locator(".mt-live input[type=range]").first, "forcedColorAdjust") == ["none"]


def test_what_is_pressed_first_and_what_is_chosen_is_legible_in_the_colours_of_the_system(server, visit):
    visiting = visit(server, forced_colors="active")
    for name, thing in ((COVER, ".start"), (CHAPTER, ".practice .main"), (CHAPTER, ".panel label:has(:checked)")):
        tab = visiting.open(name)
        for theme in ("light", "dark"):
            tab.emulate_media(color_scheme=theme)
            *colours, adjust = styles(tab.locator(thing).first, "color", "backgroundColor", "forcedColorAdjust")
            text, ground = ("#" + "".join(f"{int(n):02x}" for n in re.findall(r"\d+", c)[:3]) for c in colours)
            assert contrast(text, ground) >= 4.5, (thing, theme)
            assert adjust == "none", thing  # else the browser paints the page's own ground behind the letters
