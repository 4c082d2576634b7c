"""The words of a coding are corrected by keys, by its two ends, and by its code's key on other words."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page

from sense7_qual.store import Store
from tests.helpers import lab as labs
from tests.helpers.coding_page import cell, ends, enter, press, saved, shows, spans, study

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

TEXT = "It remembered what I said about my exam, but then it lectured me. I felt unheard all day."
RTL = "كان لطيفا جدا معي في كل مرة"


def test_an_edge_moves_by_one_key_and_a_code_takes_the_selection_each_with_one_undo(
    lab: labs.Lab, tmp_path: Path
) -> None:
    folder = study(tmp_path / "study", [TEXT, "Another one."])
    labs.notebook(lab.root / "edges.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "edges.ipynb")
        press(page, "w", "w", "2", "v", "u", "m")  # “remembered”, met, unsure
        page.keyboard.type("Why?")
        press(page, "Escape", "Escape")
        page.keyboard.press("Shift+ArrowRight")
        assert "was “remembered”" in page.locator(".s7-active-bar").inner_text()
        page.wait_for_function("() => document.querySelector('.s7-active-bar q').innerText.endsWith('what”')")
        press(page, "Home")  # any other key keeps it
        assert spans(folder) == [("t0/1", "cognitive", "remembered what")]
        names = (".s7-margin .s7-active button", ".s7-text .s7-active")
        label, words = (page.locator(name).first.bounding_box() for name in names)
        assert label is not None
        assert words is not None
        assert abs(label["y"] - words["y"]) < 10  # next to its words
        assert label["x"] > words["x"] + words["width"]
        kept = Store(folder).codings().iloc[0]
        assert (kept["confidence"], kept["valence"]) == ("unsure", "met")
        (memo,) = Store(folder).memos().itertuples()
        assert TEXT[memo.start : memo.end] == "remembered what"

        press(page, "Escape", "w", *["Shift+ArrowRight"] * 4, "2", "Escape")
        assert spans(folder) == [("t0/1", "cognitive", "It remembered what I said")]
        assert Store(folder).codings()["confidence"].tolist() == ["unsure"]
        press(page, "z")
        assert spans(folder) == [("t0/1", "cognitive", "remembered what")]
        press(page, "z")
        assert spans(folder) == [("t0/1", "cognitive", "remembered")]
        press(page, "y")
        assert spans(folder) == [("t0/1", "cognitive", "remembered what")]


def _drag_end(page: Page, edge: str, to: tuple[float, float]) -> None:
    """Drag one end of the marked coding to a place on screen."""
    box = page.locator(f".s7-handle-{edge}").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move((box["x"] + to[0]) / 2, (box["y"] + to[1]) / 2)
    page.mouse.move(*to)
    page.mouse.up()
    saved(page)


# The place of the nth letter on screen: its left and right edge, half a pixel within it, and its middle.
LETTER = """at => {
  const range = document.createRange();
  const walker = document.createTreeWalker(document.querySelector('.s7-text'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && at >= walker.currentNode.length) at -= walker.currentNode.length;
  range.setStart(walker.currentNode, at);
  range.setEnd(walker.currentNode, at + 1);
  const {left, right, top, height} = range.getBoundingClientRect();
  return [left + 0.5, right - 0.5, top + height / 2];
}"""
# Of each text the drags of an edge: which one, and the word at which the coding then begins or ends. They
# cross the codings of other words, and go to both ends of the text.
DRAGS = {
    "t0/1": [("end", n) for n in (17, 12, 15, 10, 13)] + [("start", n) for n in (1, 3, 0, 2, 4)],
    "t1/1": [("end", n) for n in (3, 6, 2, 5, 4)] + [("start", n) for n in (2, 0, 3, 1, 0)],
}


def test_twenty_drags_of_an_edge_are_exact_each_with_one_undo_also_after_a_restart(
    lab: labs.Lab, tmp_path: Path
) -> None:
    """Also across other codings, to both ends of the text, and in a text from right to left."""
    folder = study(tmp_path / "study", [TEXT, RTL])
    labs.notebook(lab.root / "handles.ipynb", cell(folder))
    stood: list[list[tuple[str, str, str | None]]] = []

    def dragged(page: Page, unit_id: str, text: str) -> None:
        words = [one.span() for one in re.finditer(r"\w+", text)]
        codings = Store(folder).codings().query("code == 'affective' and unit_id == @unit_id")
        first = last = [start for start, _ in words].index(codings["start"].item())
        for edge, word in DRAGS[unit_id]:
            first, last = (word, last) if edge == "start" else (first, word)
            stood.append(spans(folder))
            left, right, middle = page.evaluate(LETTER, words[word][edge == "end"] - (edge == "end"))
            _drag_end(page, edge, (right if (edge == "end") != (text == RTL) else left, middle))
            quote = text[words[first][0] : words[last][1]]
            assert (edge, word, (unit_id, "affective", quote) in spans(folder)) == (edge, word, True)

    with lab.page(new=True) as page:
        enter(lab, page, "handles.ipynb")
        press(page, "s", "5", "Escape", "s", "s", "7", "Escape")  # others, whose edges are crossed
        press(page, *["w"] * 6, "1")
        dragged(page, "t0/1", TEXT)
        between = spans(folder)
        press(page, "ArrowRight")
        shows(page, "t1/1")
        press(page, "w", "w", "1")
        dragged(page, "t1/1", RTL)
        assert all(one != other for one, other in pairwise([*stood, spans(folder)]))
        assert len(stood) == 20
    lab.end_kernels()
    with lab.page(new=True) as page:
        enter(lab, page, "handles.ipynb")
        for n, before in reversed([*enumerate(stood)]):
            press(page, "z")
            assert (n, spans(folder)) == (n, before)
            if n == 10:
                press(page, "z")  # the coding of the second text itself
                assert spans(folder) == between
    assert Store(folder).verify()["ok"].all()


def test_next_to_a_marked_coding_a_drag_selects_and_moves_no_edge(lab: labs.Lab, tmp_path: Path) -> None:
    folder = study(tmp_path / "study", [TEXT])
    labs.notebook(lab.root / "beside.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "beside.ipynb")
        press(page, *["w"] * 4, "1")
        (_, _, word) = spans(folder)[0]
        assert word is not None
        words = TEXT.split(" ")
        at = words.index(word)
        for to, first in ((at + 3, at + 1), (at - 3, at - 1)):
            # From three pixels beside the coding, on the near side of its neighbour.
            begin, end = ends(page, TEXT, words[first])
            far, last = ends(page, TEXT, words[to])
            middle = (begin[1] + end[1]) / 2
            page.mouse.move(begin[0] + 3 if to > at else end[0] - 3, middle)
            page.mouse.down()
            page.mouse.move(last[0] if to > at else far[0], middle)
            page.mouse.up()
            wanted = " ".join(words[min(first, to) : max(first, to) + 1])
            page.wait_for_function(
                "wanted => [...document.querySelectorAll('.s7-selected')].map(one => one.innerText).join('')"
                " === wanted",
                arg=wanted,
            )
            assert spans(folder) == [("t0/1", "affective", word)]
            press(page, "Escape")
            press(page, "ArrowDown")


def test_a_finger_selects_by_two_taps_and_codes(lab: labs.Lab, tmp_path: Path) -> None:
    folder = study(tmp_path / "study", [TEXT])
    labs.notebook(lab.root / "touch.ipynb", cell(folder))
    context = lab.browser.new_context(has_touch=True, viewport={"width": 1100, "height": 900})
    try:
        page = context.new_page()
        page.set_default_timeout(30_000)
        lab.open(page, "touch.ipynb")
        page.wait_for_selector(".s7-text")

        def tap(word: str) -> None:
            begin, end = ends(page, TEXT, word)
            page.touchscreen.tap((begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2)

        def selected(words: str) -> None:
            page.wait_for_function(
                "words => [...document.querySelectorAll('.s7-selected')].map(one => one.innerText).join('')"
                " === words",
                arg=words,
            )

        tap("lectured")
        selected("lectured")
        tap("felt")
        selected("lectured me. I felt")
        tap("lectured")
        selected("")
        tap("remembered")
        tap("said")
        selected("remembered what I said")
        for name, words in (
            ("End: one word on", "remembered what I said about"),
            ("Start: one word on", "what I said about"),
        ):
            page.locator(f".s7-nudges [aria-label='{name}']").tap()
            selected(words)
        page.locator(".s7-code").first.tap()
        saved(page)
        assert spans(folder) == [("t0/1", "affective", "what I said about")]
        tap("felt")
        selected("felt")
        sizes = page.locator(".s7-footer button, .s7-nudges button, .s7-right .s7-code").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect()).map(({width, height}) => [width, height])"
        )
        assert min(min(size) for size in sizes) >= 44
        for width, opens, close in (
            (1100, ".s7-inbox-button", "Close"),
            (700, ".s7-inbox-button", "Close"),
            (700, ".s7-active-bar strong", "Close the panel"),
        ):
            labs.resized(page, width, 900)
            page.locator(opens).tap()
            button = page.get_by_role("button", name=close, exact=True)
            box = button.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= 44
            at = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
            assert page.evaluate("at => document.elementFromPoint(...at).ariaLabel", at) == close
            button.tap()
            button.wait_for(state="hidden")
    finally:
        context.close()
