"""What was done, in a real JupyterLab: read, taken back step by step and back to a point, and done again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import lab as labs
from tests.helpers.coding_page import cell, enter, press, saved, shows, sound, spans, study

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]


def test_steps_are_taken_back_and_done_again(lab: labs.Lab, tmp_path: Path) -> None:
    folder = study(tmp_path / "study")
    labs.notebook(lab.root / "history.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "history.ipynb")
        page.keyboard.type("w1")
        page.keyboard.press("Escape")
        press(page, "2", "Enter")
        shows(page, "t1/1")
        press(page, "3")
        page.keyboard.press("<")
        page.wait_for_selector(".s7-rows:focus .s7-act")
        assert page.locator(".s7-act").count() == 4
        sound(page, "history")
        press(page, "ArrowDown", "ArrowDown", "Delete")
        page.wait_for_selector(".s7-taken-back")
        sound(page, "taken back")
        assert sorted(code for _, code, _ in spans(folder)) == ["affective", "response"]
        shows(page, "t0/1")
        page.locator(".s7-rows").focus()
        press(page, "End", "b")
        page.wait_for_selector(".s7-go-back")
        assert "2 steps on 2 texts" in page.locator(".s7-go-back").inner_text()
        sound(page, "going back")
        page.locator(".s7-go-back button", has_text="Take back").click()
        page.wait_for_function("() => document.querySelectorAll('.s7-taken-back').length === 3")
        saved(page)
        assert [code for _, code, _ in spans(folder)] == ["affective"]
        page.locator(".s7-go-back button", has_text="Do them again").click()
        page.wait_for_function("() => document.querySelectorAll('.s7-taken-back').length === 1")
        saved(page)
    assert sorted(code for _, code, _ in spans(folder)) == ["affective", "response"]
