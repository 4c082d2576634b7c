"""A coding session that is broken into: a kernel killed in a burst, a colleague's new code."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

import sense7_qual as qual
from tests.helpers import lab as labs
from tests.helpers.coding_page import enter, press, saved, shows, study

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

N = 40
CELL = """
import os, pathlib
import sense7_qual as qual
pathlib.Path("pid").write_text(str(os.getpid()))
qual.widgets.CodingWidget(qual.Store({folder!r}), coder="ana")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return study(tmp_path / "study", [f"It asked how I felt, number {place}." for place in range(N)])


def _unfinished_are_listed(page: Page) -> None:
    page.locator("select[aria-label='Which texts']").select_option("unfinished")
    page.wait_for_selector(".s7-list-note")
    page.locator(".s7").focus()


def _called_finished(page: Page) -> list[str]:
    """Return the texts that the list shows as finished, saved or not yet."""
    rows = page.locator(".s7-row-line").all_inner_texts()
    return [row.split(" · ")[1].strip() for row in rows if row.startswith("✓")]


def test_a_kernel_killed_in_a_burst_loses_no_press_that_was_taken(lab: labs.Lab, folder: Path) -> None:
    labs.notebook(lab.root / "killed.ipynb", CELL.format(folder=str(folder)))
    with lab.page(width=1700, height=1_700) as page:
        enter(lab, page, "killed.ipynb")
        _unfinished_are_listed(page)
        for place in range(12):
            page.keyboard.press("1")
            page.keyboard.press("Enter")
            if place == 5:
                os.kill(int((lab.root / "pid").read_text()), signal.SIGKILL)
        page.wait_for_selector(".s7-unsaved", timeout=40_000)
        assert qual.Store(folder).verify()["ok"].all()
        finished = _called_finished(page)
        assert finished == [f"t{place}/1" for place in range(len(finished))]
        assert len(finished) > 1

        lab.begin_again(page)
        lab.run_all(page)
        saved(page)
        store = qual.Store(folder)
        assert store.coverage()["unit_id"].tolist() == finished
        coded = store.codings()["unit_id"].tolist()
        assert coded[: len(finished)] == finished
        assert len(coded) - len(finished) <= 1  # the press before the one that waits for its text
        # And it goes on from there.
        page.locator(".s7").focus()
        page.keyboard.press("n")
        shows(page, f"t{len(finished)}/1")
        press(page, "Enter")
        shows(page, f"t{len(finished) + 1}/1")
    assert len(store.coverage()) == len(finished) + 1
    assert store.verify()["ok"].all()


def test_where_a_dialog_swallows_an_enter_the_next_code_takes_back_none(lab: labs.Lab, folder: Path) -> None:
    labs.notebook(lab.root / "swallowed.ipynb", CELL.format(folder=str(folder)))
    with lab.page() as page:
        enter(lab, page, "swallowed.ipynb")
        press(page, "1")
        page.evaluate("() => { const now = Date.now(); window.clock = Date.now; Date.now = () => now; }")
        page.keyboard.press("2")
        page.evaluate("() => void window.jupyterapp.commands.execute('help:about')")
        page.wait_for_function("() => document.activeElement.closest('.jp-Dialog')")
        for key in ("Enter", "2", "Enter"):  # the first closes the dialog; all of them within a second
            page.keyboard.press(key)
        page.wait_for_selector(".s7-message")
        assert "2 key presses were ignored" in page.locator(".s7-message").inner_text()
        wide = "box => box.querySelector('.s7-desk').offsetWidth === box.clientWidth"
        assert page.locator(".s7").evaluate(wide), "the button of the message makes the panes narrower"
        page.evaluate("() => void (Date.now = window.clock)")
        page.wait_for_timeout(1_100)
        press(page, "Enter")
    store = qual.Store(folder)
    assert store.codings()[["unit_id", "code"]].values.tolist() == [
        ["t0/1", "affective"],
        ["t0/1", "cognitive"],
    ]
    assert store.coverage()["unit_id"].tolist() == ["t0/1"]


def test_a_code_that_a_colleague_adds_meanwhile_takes_nothing_away(lab: labs.Lab, folder: Path) -> None:
    labs.notebook(lab.root / "meanwhile.ipynb", CELL.format(folder=str(folder)))
    with lab.page() as page:
        enter(lab, page, "meanwhile.ipynb")
        press(page, "1", "Enter", "2")
        elsewhere = qual.Store(folder)
        hope = qual.Code(id="hope", label="Hope", key="8", origin="inductive")
        elsewhere.revise(
            replace(elsewhere.codebook, codes=(*elsewhere.codebook.codes, hope)), why="Missing.", coder="lead"
        )
        for key in ("Enter", "3", "Enter"):
            page.keyboard.press(key)
        shows(page, "t3/1")
        saved(page)
        assert "The codebook was revised" in page.locator(".s7").inner_text()
        assert not page.locator(".s7-codebook").get_by_text("Hope").count()
        lab.run_all(page)
        page.wait_for_function("() => document.querySelector('.s7-codebook')?.innerText.includes('Hope')")
    store = qual.Store(folder)
    assert store.codings()["code"].tolist() == ["affective", "cognitive", "response"]
    assert store.coverage()["unit_id"].tolist() == ["t0/1", "t1/1", "t2/1"]
    # What was finished without the code says nothing of it.
    decisions = store.decisions(coder="ana")
    assert "hope" not in set(decisions["code"])
    assert store.verify()["ok"].all()
