"""Colleagues' codings beside one's own in a real browser: one key, never one's own text or acts changed."""

from __future__ import annotations

import pytest

from tests.helpers import lab as labs
from tests.helpers.axe import AXE, show_in, sound
from tests.helpers.coding_page import enter, press, saved, shows
from tests.helpers.panes import unblinded

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]


def test_colleagues_stand_beside_on_one_key_and_ones_own_work_goes_on(lab, tmp_path):
    store = unblinded(tmp_path / "study")
    before = store.acts()
    labs.notebook(
        lab.root / "beside.ipynb",
        "import sense7_qual as qual\n"
        f"qual.widgets.CodingWidget(qual.Store({str(store.path)!r}), coder='ana', round='one')",
    )
    with lab.page() as page:
        enter(lab, page, "beside.ipynb")
        shows(page, "t1/1")
        press(page, "ArrowLeft")
        shows(page, "t0/1")
        text = page.locator(".s7-text").inner_text()
        assert "ben" not in page.locator(".s7").inner_text()
        page.keyboard.press("=")
        page.wait_for_selector(".s7-coders")
        assert page.locator(".s7-text").inner_text() == text
        theirs = page.locator(".s7-of-colleague")
        assert [title.split(":")[:2] for title in theirs.evaluate_all("n => n.map(e => e.title)")] == [
            ["ben", " Cognitive Understanding"],
            ["ben", " Relational Continuity"],
            ["cleo", " Affective Understanding"],
        ]
        assert page.locator(".s7-sign-of").evaluate_all("n => n.map(e => e.ariaLabel)") == [
            "only you",
            "the same",
            "the same",
            "only you",
            "only cleo",
            "only ben",
        ]
        page.add_script_tag(path=str(AXE))
        show_in(page, "JupyterLab Light")
        sound(page, "light")
        page.keyboard.press(";")
        page.wait_for_function("() => document.querySelectorAll('.s7-coders thead th').length === 3")
        show_in(page, "JupyterLab Dark")
        sound(page, "dark")
        page.keyboard.press("7")
        page.wait_for_selector(".s7-coding >> nth=2")
        saved(page)
        page.locator(".s7-colleagues-buttons button >> nth=0").click()
        page.wait_for_selector(".s7-coders", state="detached")
        assert theirs.count() == 0
    new = [act for act in store.acts() if act not in before]
    assert [(act.coder, act.kind, act.code) for act in new] == [("ana", "apply", "relational")]
