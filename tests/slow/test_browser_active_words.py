"""What is selected and what is coded are the same words, by mouse and by keys, in JupyterLab and Chromium."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from sense7_qual.codebook import Codebook
from sense7_qual.store import Store
from tests.helpers import lab as labs
from tests.helpers.coding_page import cell, drag, ends, enter, press, saved, spans, study

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

TEXT = "It remembered what I said about my exam, but then it lectured me. I felt unheard all day."
LONG, SHORT = "what I said about my exam", "what I said"


def _with_keys() -> Codebook:
    """Return the SENSE-7 codebook whose facet values have keys."""
    book = Codebook.read("sense7")
    (facet,) = book.facets
    values = [replace(value, key=key) for value, key in zip(facet.values, "jkl", strict=True)]
    return replace(book, facets=(replace(facet, values=tuple(values)),))


def _selected(page: Page, words: str) -> None:
    """Wait until exactly these words are selected on the screen."""
    page.wait_for_function(
        "words => [...document.querySelectorAll('.s7-selected')].map(one => one.textContent).join('')"
        " === words",
        arg=words,
    )


def _drag_handle(page: Page, edge: str, quote: str) -> None:
    """Drag one end of the selected words to the end (or start) of these."""
    box = page.locator(f".s7-handle-{edge}").bounding_box()
    assert box is not None
    start, end = ends(page, TEXT, quote)
    to = start if edge == "start" else end
    page.mouse.move(box["x"] + 1, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move((box["x"] + to[0]) / 2, to[1])
    page.mouse.move(*to)
    page.mouse.up()
    saved(page)


def test_a_second_code_goes_to_the_words_as_they_were_corrected(lab: labs.Lab, tmp_path: Path) -> None:
    folder = study(tmp_path / "study", [TEXT, "Another one."])
    labs.notebook(lab.root / "corrected.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "corrected.ipynb")
        drag(page, *ends(page, TEXT, LONG))
        _selected(page, LONG)
        press(page, "1")
        _drag_handle(page, "end", SHORT)
        _selected(page, SHORT)
        press(page, "2")
        assert sorted(spans(folder)) == [("t0/1", "affective", SHORT), ("t0/1", "cognitive", SHORT)]
        # By keys, both codings and the selection: the next code goes there.
        page.keyboard.press("Shift+ArrowLeft")
        page.keyboard.press("Alt+Shift+ArrowLeft")
        _selected(page, "remembered what I")
        press(page, "3")
        now = [("t0/1", code, "remembered what I") for code in ("affective", "cognitive", "response")]
        assert sorted(spans(folder)) == now
        # Each press is taken back by one undo, and the words that are selected go along.
        press(page, "z")
        assert sorted(spans(folder)) == now[:2]
        press(page, "z")
        assert sorted(spans(folder)) == [(*one[:2], SHORT) for one in now[:2]]
        _selected(page, SHORT)
        press(page, "z", "z")
        assert spans(folder) == [("t0/1", "affective", LONG)]
        _selected(page, LONG)
        press(page, "2")
        assert sorted(spans(folder)) == [(*one[:2], LONG) for one in now[:2]]
        # What is selected afresh belongs to no coding.
        drag(page, *ends(page, TEXT, "lectured me"))
        _selected(page, "lectured me")
        assert page.locator(".s7-handle").count() == 0
        page.keyboard.press("Shift+ArrowLeft")
        _selected(page, "lectured")
        press(page, "3")
        assert ("t0/1", "response", "lectured") in spans(folder)
        # A click on a coding selects its words, and nothing is selected after Escape.
        page.mouse.click(*ends(page, TEXT, "said")[1])
        _selected(page, LONG)
        press(page, "4", "Escape", "5")
    assert sorted(spans(folder))[-3:] == [
        ("t0/1", "interest", None),
        ("t0/1", "prosocial", LONG),
        ("t0/1", "response", "lectured"),
    ]
    assert Store(folder).verify()["ok"].all()


def test_a_new_selection_or_a_codes_key_ends_the_question_which_value_it_is(
    lab: labs.Lab, tmp_path: Path
) -> None:
    folder = study(tmp_path / "study", [TEXT, "Another one."], codebook=_with_keys())
    labs.notebook(lab.root / "question.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "question.ipynb")
        strip = page.locator(".s7-strip")
        for quote in ("remembered", "lectured me", "all day"):
            for other in ("my exam", "unheard", "what I said"):
                drag(page, *ends(page, TEXT, quote))
                _selected(page, quote)
                press(page, "1", "v")
                strip.wait_for()
                drag(page, *ends(page, TEXT, other))
                _selected(page, other)
                strip.wait_for(state="detached")
                press(page, "2")
                assert sorted(spans(folder)) == [
                    ("t0/1", "affective", quote),
                    ("t0/1", "cognitive", other),
                ]
                press(page, "z", "z")
        # The same by keys, and a code's key alone; a value's key is a value's.
        press(page, "w", "1", "v", "s", "2", "v", "3", "v", "j")
        sentence = TEXT[: TEXT.index(" I felt")]
        rows = Store(folder).codings()
        found = {row.code: (TEXT[row.start : row.end], row.valence) for row in rows.itertuples()}
    assert set(found) == {"affective", "cognitive", "response"}
    assert found["response"] == (found["cognitive"][0], "met")
    assert found["cognitive"][0] in (sentence, TEXT[TEXT.index("I felt") :])
