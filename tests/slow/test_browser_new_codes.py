"""Codes that emerge, in a real browser: added from the text by keys, then decided on for finished texts."""

from __future__ import annotations

import pytest

import sense7_qual as qual
from tests.helpers import lab as labs
from tests.helpers.coding_page import enter, press, saved, shows, sound, spans, study

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]


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
        page.wait_for_selector(".s7-decide")
        saved(page)
        assert "2 texts" in page.locator(".s7-decide").inner_text()
        sound(page, "question")
        page.locator(".s7-decide button >> nth=0").click()
        shows(page, "t0/1")
        sound(page, "banner")
        page.keyboard.press("y")
        shows(page, "t1/1")
        page.keyboard.press("Backspace")
        shows(page, "t0/1")
        saved(page)
        page.keyboard.press("y")
        shows(page, "t1/1")
        page.keyboard.press("n")
        page.wait_for_selector(".s7-decide", state="detached")
        saved(page)
    store = qual.Store(folder)
    assert store.codebook["hope"].definition == "Looks forward."
    assert sorted(spans(folder)) == [("t0/1", "hope", None), ("t2/1", "hope", None)]
    decisions = store.decisions(coder="ana")
    assert decisions[decisions["code"] == "hope"].set_index("unit_id")["applied"].to_dict() == {
        "t0/1": True,
        "t1/1": False,
    }
