"""Memos in a real JupyterLab: on words, a code and the text, found again in their list, by keys alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import sense7_qual as qual
from tests.helpers import lab as labs
from tests.helpers.coding_page import enter, press, saved, shows, sound, study

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]


def test_memos_are_written_shown_on_the_text_and_found_again(lab: labs.Lab, tmp_path: Path) -> None:
    folder = study(tmp_path / "study")
    labs.notebook(
        lab.root / "memos.ipynb",
        f"import sense7_qual as qual\nqual.widgets.CodingWidget(qual.Store({str(folder)!r}), coder='ana')",
    )
    with lab.page() as page:
        enter(lab, page, "memos.ipynb")
        page.keyboard.type("ww")
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.type("mOn <b>words</b> 👍🏽", delay=5)
        page.wait_for_selector(".s7-memo-form textarea:focus")
        sound(page, "form")
        press(page, "Escape", "Escape")
        assert page.locator(".s7-noted").all_inner_texts() == ["remembered what"]
        page.keyboard.type("MOn a code", delay=5)
        press(page, "Escape")
        page.keyboard.type("mOn the text", delay=5)
        press(page, "Escape")
        sound(page, "text")
        page.keyboard.press("ArrowRight")
        shows(page, "t1/1")
        page.keyboard.press(":")
        page.wait_for_selector(".s7-row-quote")
        sound(page, "list")
        press(page, "ArrowDown", "ArrowDown", "Enter")
        shows(page, "t0/1")
        page.wait_for_selector(".s7-selected")
        assert page.locator(".s7-selected").inner_text() == "remembered what"
        page.keyboard.press("m")
        page.wait_for_selector(".s7-memo-form textarea:focus")
        assert page.locator(".s7-memo-form textarea").input_value() == "On <b>words</b> 👍🏽"
        page.locator(".s7-memo-buttons button", has_text="End memo").click()
        saved(page)
        assert page.locator(".s7-noted").count() == 0
        press(page, "z")
        assert page.locator(".s7-noted").count() == 1
    memos = qual.Store(folder).memos()
    assert sorted(memos[["target_kind", "text"]].values.tolist()) == [
        ["code", "On a code"],
        ["span", "On <b>words</b> 👍🏽"],
        ["unit", "On the text"],
    ]
