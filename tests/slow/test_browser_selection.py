"""What the mouse selects in the coding widget is what is coded: in a real JupyterLab and Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.helpers import lab as labs
from tests.helpers.coding_page import TEXTS, cell, drag, ends, enter, press, saved, shows, spans, study

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

TEXT = TEXTS[0]
SENTENCE = TEXT[: TEXT.index(" I felt")]
CHANGED_IN_A_DRAG = """() => {
  window.changedInADrag = [];
  window.heardInADrag = [];
  for (const name of ['pointerdown', 'pointermove', 'pointerup'])
    addEventListener(name, event => {
      if (name === 'pointerdown') window.heardInADrag = [];
      const box = document.querySelector('.s7-text'), met = event.composedPath()[0];
      const at = box?.getBoundingClientRect();
      window.heardInADrag.push({
        name, mouse: [event.x, event.y], box: at && [at.x, at.y, at.width, at.height],
        inText: !!box?.contains(met), met: met.className ?? met.nodeName,
      });
    }, true);
  const hears = new MutationObserver(list => window.changedInADrag.push(...list.map(change => change.type)));
  const box = document.querySelector('.s7-text');
  const looksAt = {subtree: true, childList: true, characterData: true, attributes: true};
  addEventListener('pointerdown', () => hears.observe(box, looksAt), true);
  addEventListener('pointerup', () => {
    window.changedInADrag.push(...hears.takeRecords().map(change => change.type));
    hears.disconnect();
  }, true);
}"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return study(tmp_path / "study")


def test_a_mouse_selection_is_coded_where_it_was_seen(lab: labs.Lab, folder: Path) -> None:
    wanted = [
        (0, "👍🏽 about"),
        (0, "exam, but then"),
        (2, "cafe\u0301 – it"),
        (2, "sister"),
        (4, "one\nline two\n\nline"),
        (4, "<b>not bold</b>"),
    ]
    labs.notebook(lab.root / "mouse.ipynb", cell(folder))
    here = 0
    with lab.page() as page:
        enter(lab, page, "mouse.ipynb")
        for place, quote in wanted:
            while here < place:
                here += 1
                press(page, "ArrowRight")
                shows(page, f"t{here}/1")
            drag(page, *ends(page, TEXTS[place], quote))
            page.wait_for_selector(".s7-selected")
            press(page, "5")
            # A second code on the same words, through the button this time.
            page.locator(".s7-code", has_text="Prosocial").click()
            saved(page)
    expected = [(f"t{place}/1", code, quote) for place, quote in wanted for code in ("interest", "prosocial")]
    assert sorted(spans(folder)) == sorted(expected)


OLD = "said 👍🏽 about my exam"
CORRECTIONS = [
    "It remembered",  # before the old selection
    "remembered what I said 👍🏽",  # from before into it
    "what I said 👍🏽 about my exam, but",  # around it
    "said 👍🏽",  # from its start, shorter
    "said 👍🏽 about my exam, but then",  # from its start, longer
    "about my",  # inside
    "my exam",  # to its end
    "my exam, but",  # from inside to behind it
    "but then it lectured",  # behind it
    "felt unheard",
]


def test_a_selection_is_corrected_by_dragging_again(lab: labs.Lab, folder: Path) -> None:
    labs.notebook(lab.root / "again.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "again.ipynb")
        page.evaluate(CHANGED_IN_A_DRAG)
        coded = []
        for key, step in (("5", 1), ("6", -1)):  # from left to right, and from right to left
            for correction in CORRECTIONS:
                for quote in (OLD, correction):
                    drag_over(page, quote, step)
                    assert selected(page) == quote, page.evaluate("window.heardInADrag")
                press(page, key)
                coded += spans(folder)
                press(page, "z")  # else the next words would become those of this coding
        assert page.evaluate("window.changedInADrag") == []
        # A click into the text drops the selection, so that the next key codes the whole text.
        page.mouse.click(*ends(page, TEXT, "felt")[0])
        page.wait_for_selector(".s7-selected", state="detached")
        press(page, "7")
    assert coded == [("t0/1", code, quote) for code in ("interest", "contextual") for quote in CORRECTIONS]
    assert spans(folder) == [("t0/1", "relational", None)]


def test_a_drag_may_leave_the_text_and_keys_may_be_pressed_during_it(lab: labs.Lab, folder: Path) -> None:
    labs.notebook(lab.root / "outside.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "outside.ipynb")
        page.evaluate(CHANGED_IN_A_DRAG)
        box = page.locator(".s7-text").bounding_box()
        assert box is not None
        begin, end = ends(page, TEXT, "exam, but")
        above, below = (begin[0], box["y"] - 60), (begin[0], box["y"] + box["height"] + 40)
        expected = []
        for key, code, start, released, quote in [
            ("1", "affective", end, above, TEXT[: TEXT.index(" then")]),
            ("2", "cognitive", begin, below, TEXT[TEXT.index("exam") :]),
            # What begins beside and below the words and ends in them is selected as well.
            (
                "3",
                "response",
                (box["x"] + 6, box["y"] + box["height"] - 6),
                begin,
                TEXT[TEXT.index("exam") :],
            ),
        ]:
            drag(page, start, released)
            assert selected(page) == quote
            press(page, key)
            expected.append(("t0/1", code, quote))

        # The key is pressed, and an earlier deed is acknowledged, while the button is down.
        page.keyboard.press("w")
        page.keyboard.press("4")
        begin, end = ends(page, TEXT, "my exam")
        page.mouse.move(*begin)
        page.mouse.down()
        page.mouse.move(*end)
        saved(page)
        page.keyboard.press("5")
        page.mouse.up()
        page.wait_for_selector(".s7-coding >> nth=4")
        saved(page)
        assert page.evaluate("window.changedInADrag") == []
    expected += [("t0/1", "prosocial", "but"), ("t0/1", "interest", "my exam")]
    assert spans(folder) == expected


def test_clicks_select_words_and_sentences_and_shift_extends(lab: labs.Lab, folder: Path) -> None:
    labs.notebook(lab.root / "clicks.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "clicks.ipynb")
        for quote, key in (("lectured", "1"), ("about", "2")):  # the second time on marks and a selection
            middle = ends(page, TEXT, quote)[0][0] + 8, ends(page, TEXT, quote)[0][1]
            page.mouse.click(*middle, click_count=2)
            assert selected(page) == quote
            page.mouse.click(*middle, click_count=3)
            assert selected(page) == SENTENCE
            press(page, key)
            page.mouse.click(*middle)  # on its coding, whose words stay selected
            assert selected(page) == SENTENCE
            press(page, "Escape")
            page.wait_for_selector(".s7-selected", state="detached")
        drag(page, *ends(page, TEXT, "said"))
        assert selected(page) == "said"
        page.keyboard.down("Shift")
        page.mouse.click(*ends(page, TEXT, "exam")[1])
        page.keyboard.up("Shift")
        assert selected(page) == "said 👍🏽 about my exam"
        press(page, "3")
        page.locator(".s7-goto input").fill("5")
        page.keyboard.press("Enter")
        shows(page, "t4/1")
        page.mouse.click(*ends(page, TEXTS[4], "two")[1], click_count=3)
        assert selected(page) == "line two"
        press(page, "4")
    expected = [
        ("t0/1", "affective", SENTENCE),
        ("t0/1", "cognitive", SENTENCE),
        ("t0/1", "response", "said 👍🏽 about my exam"),
        ("t4/1", "prosocial", "line two"),
    ]
    assert spans(folder) == expected


def drag_over(page: Page, quote: str, step: int) -> None:
    """Drag over the quote, or from its end to its start; again where the page came between mouse and text."""
    for _ in range(3):
        before = ends(page, TEXT, quote)
        drag(page, *before[::step])
        heard = page.evaluate("window.heardInADrag")
        stayed = all(one["inText"] and one["box"] == heard[0]["box"] for one in heard)
        if stayed and heard[-1]["name"] == "pointerup" and ends(page, TEXT, quote) == before:
            return
    raise AssertionError(f"The page comes between mouse and text: {heard}")


def selected(page: Page) -> str:
    """Return the text that the widget shows as selected, once it has heard the release."""
    page.wait_for_function("() => getSelection().isCollapsed && document.querySelector('.s7-selected')")
    return page.evaluate(
        "() => [...document.querySelectorAll('.s7-selected')].map(e => e.textContent).join('')"
    )
