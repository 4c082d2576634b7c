"""The words of a coding are corrected by keys, by its two ends, and by its code's key on other words."""

from __future__ import annotations

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

        press(page, "w", *["Shift+ArrowRight"] * 4, "2", "Escape")
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


def test_the_ends_of_a_coding_are_dragged_exactly_also_across_others_and_to_both_ends_of_the_text(
    lab: labs.Lab, tmp_path: Path
) -> None:
    folder = study(tmp_path / "study", [TEXT, RTL])
    labs.notebook(lab.root / "handles.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "handles.ipynb")
        press(page, "s", "s", "5", "Escape")  # another coding, whose edges are crossed
        press(page, *["w"] * 7, "1", "Escape")
        word = spans(folder)[-1][2]
        assert word is not None
        at = TEXT.index(word)
        words = TEXT.split(" ")
        starts = [len(" ".join(words[:n])) + (n > 0) for n in range(len(words))]
        later = [(start, w.rstrip(",.")) for start, w in zip(starts, words, strict=True) if start >= at]
        for start, last in [*later[1:8], later[-1], later[3]]:
            _, end = ends(page, TEXT, TEXT[at : start + len(last)])
            _drag_end(page, "end", end)
            assert ("t0/1", "affective", TEXT[at : start + len(last)]) in spans(folder)
        end = later[3][0] + len(later[3][1])
        for start in [*starts[1:5], 0, starts[3]]:
            begin, _ = ends(page, TEXT, TEXT[start:end])
            _drag_end(page, "start", begin)
            assert ("t0/1", "affective", TEXT[start:end]) in spans(folder)
        press(page, "z")
        assert ("t0/1", "affective", TEXT[0:end]) in spans(folder)
        assert ("t0/1", "interest", "I felt unheard all day.") in spans(folder)

        press(page, "ArrowRight")
        shows(page, "t1/1")
        press(page, "w", "w", "3", "Escape")
        quote = " ".join(RTL.split()[1:4])
        # The last word's left edge, half a pixel within it.
        left = page.evaluate(
            """quote => {
              const text = document.querySelector('.s7-text'), range = document.createRange();
              const nodes = [], walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
              while (walker.nextNode()) nodes.push(walker.currentNode);
              let at = text.textContent.indexOf(quote) + quote.length - 1;
              const node = nodes.find(one => (at < one.length) || (at -= one.length, false));
              range.setStart(node, at); range.setEnd(node, at + 1);
              const {left, top, height} = range.getBoundingClientRect();
              return [left + 0.5, top + height / 2];
            }""",
            quote,
        )
        _drag_end(page, "end", (left[0], left[1]))
    assert ("t1/1", "response", quote) in spans(folder)


def test_next_to_a_marked_coding_a_drag_selects_and_moves_no_edge(lab: labs.Lab, tmp_path: Path) -> None:
    folder = study(tmp_path / "study", [TEXT])
    labs.notebook(lab.root / "beside.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "beside.ipynb")
        press(page, *["w"] * 4, "1", "Escape")
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
        for name, words in (("End: one word on", "remembered what I said about"),
                            ("Start: one word on", "what I said about")):  # fmt: skip
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
