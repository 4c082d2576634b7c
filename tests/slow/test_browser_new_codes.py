"""Codes that emerge, in a real browser: added from the text by keys, then decided on for finished texts."""

from __future__ import annotations

from dataclasses import replace

import pytest

import sense7_qual as qual
from sense7_qual.codebook import Code
from tests.helpers import lab as labs
from tests.helpers.coding_page import enter, press, saved, shows, sound, spans, study

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]


def test_a_code_is_added_from_the_text_and_finished_texts_are_decided_on_by_one_key_each(lab, tmp_path):
    folder = study(tmp_path / "study")
    qual.Store(folder).set_options(new_codes="add", coder="lead")
    labs.notebook(
        lab.root / "new.ipynb",
        f"import sense7_qual as qual\nqual.widgets.CodingWidget(qual.Store({str(folder)!r}), coder='ana')",
    )
    with lab.page() as page:
        enter(lab, page, "new.ipynb")
        press(page, "Enter", "Enter")
        shows(page, "t2/1")
        page.keyboard.press("+")
        page.wait_for_selector(".s7-new-label:focus")
        page.keyboard.type("Hope")
        sound(page, "form")
        page.keyboard.press("Enter")
        page.keyboard.type("Looks forward.")
        page.keyboard.press("Enter")
        saved(page)
        page.wait_for_selector(".s7-inbox-button b")
        press(page, "I")
        page.wait_for_selector(".s7-item")
        assert "2 texts" in page.locator(".s7-item").inner_text()
        sound(page, "inbox")
        press(page, "Enter")
        shows(page, "t0/1")
        page.wait_for_selector(".s7-again")
        sound(page, "queue")
        page.keyboard.press("y")
        shows(page, "t1/1")
        page.keyboard.press("Backspace")
        shows(page, "t0/1")
        saved(page)
        page.keyboard.press("y")
        shows(page, "t1/1")
        page.keyboard.press("n")
        page.wait_for_selector(".s7-again", state="detached")
        saved(page)
    store = qual.Store(folder)
    assert store.codebook["hope"].definition == "Looks forward."
    assert sorted(spans(folder)) == [("t0/1", "hope", None), ("t2/1", "hope", None)]
    decisions = store.decisions(coder="ana")
    assert decisions[decisions["code"] == "hope"].set_index("unit_id")["applied"].to_dict() == {
        "t0/1": True,
        "t1/1": False,
    }


def test_a_colleague_s_code_is_taken_in_by_a_key_without_losing_place_selection_or_undo(lab, tmp_path):
    folder = study(tmp_path / "study")
    labs.notebook(
        lab.root / "newer.ipynb",
        f"import sense7_qual as qual\nqual.widgets.CodingWidget(qual.Store({str(folder)!r}), coder='ana')",
    )
    with lab.page() as page:
        enter(lab, page, "newer.ipynb")
        press(page, "1", "Enter")
        shows(page, "t1/1")
        other = qual.Store(folder)
        added = (*other.codebook, Code(id="hope", label="Hope"))
        other.revise(replace(other.codebook, codes=added), why="It was missing.", coder="ben")
        press(page, "ArrowRight")
        shows(page, "t2/1")
        page.wait_for_selector(".s7-inbox-button b")
        sound(page, "a newer codebook")
        press(page, "2", "w")
        selected = page.locator(".s7-selected").inner_text()
        page.keyboard.press(">")
        page.locator(".s7-code", has_text="Hope").wait_for()
        shows(page, "t2/1")
        assert page.locator(".s7-selected").inner_text() == selected
        assert page.locator(".s7-notice").count() == 0
        key = page.locator(".s7-code", has_text="Hope").locator("kbd").inner_text()
        press(page, key)
        press(page, "I")
        page.locator(".s7-refuse").click()
        saved(page)
        page.keyboard.press("Escape")
        press(page, "z", "z")  # the memo that says so, and the code

        newest = qual.Store(folder)
        without = tuple(one for one in newest.codebook if one.id != "affective")
        newest.revise(replace(newest.codebook, codes=without), why="Too broad.", coder="ben")
        press(page, "Enter")
        page.wait_for_selector(".s7-inbox-button b")
        page.keyboard.press(">")
        page.wait_for_selector(".s7-meaning")
        sound(page, "what it means")
        assert (
            "Your coding with ‘Affective Understanding’ no longer counts."
            in page.locator(".s7-meaning").inner_text()
        )
        page.keyboard.press("Escape")
        page.wait_for_selector(".s7-meaning", state="detached")
        assert page.locator(".s7-code", has_text="Affective").count() == 1
        page.keyboard.press(">")
        page.locator(".s7-meaning .s7-take").click()
        page.locator(".s7-code", has_text="Affective").wait_for(state="detached")
    store = qual.Store(folder)
    assert sorted(spans(folder)) == [("t0/1", "affective", None), ("t2/1", "cognitive", None)]
    assert store.memos().empty
