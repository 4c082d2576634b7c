"""A round of training in a real browser: gold after Enter, Enter goes on, and nothing of it before."""

from __future__ import annotations

import pytest

import sense7_qual as qual
from tests.helpers import lab as labs
from tests.helpers.axe import AXE, show_in, sound
from tests.helpers.coding_page import enter, saved, shows
from tests.helpers.panes import in_training

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]


def test_what_differs_is_shown_after_finish_and_enter_goes_on(lab, tmp_path):
    store = in_training(tmp_path / "study")
    labs.notebook(
        lab.root / "training.ipynb",
        "import sense7_qual as qual\n"
        f"qual.widgets.CodingWidget(qual.Store({str(store.path)!r}), coder='ana', round='training')",
    )
    with lab.page() as page:
        enter(lab, page, "training.ipynb")
        shows(page, "t0/1")
        assert "Training: 0 of at most 5 texts" in page.locator(".s7-training").inner_text()
        page.keyboard.press("1")
        page.keyboard.press("7")
        saved(page)
        assert page.locator(".s7-feedback").count() == 0
        page.keyboard.press("Enter")
        page.wait_for_selector(".s7-feedback")
        shows(page, "t0/1")
        # missed, added, and the same as gold
        assert page.locator(".s7-feedback-row .s7-sign-of").all_inner_texts() == ["−", "+", "="]
        page.add_script_tag(path=str(AXE))
        show_in(page, "JupyterLab Light")
        sound(page, "light")
        show_in(page, "JupyterLab Dark")
        sound(page, "dark")
        page.keyboard.press("Enter")
        shows(page, "t1/1")
        assert page.locator(".s7-feedback").count() == 0
        assert "1 of at most 5 texts" in page.locator(".s7-training").inner_text()
    assert qual.Store(store.path).decisions().empty
