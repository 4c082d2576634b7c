"""What the lead has begun and not saved is there again after the kernel and the browser are both gone."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page

import sense7_qual as qual
from tests.helpers import lab as labs
from tests.helpers.disputes import disputed, sentences

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

CELLS = (
    """
import os, pathlib
import sense7_qual as qual
pathlib.Path("pid").write_text(str(os.getpid()))
store = qual.Store({folder!r})
qual.widgets.CodebookWidget(store, coder="lead")
""",
    'qual.widgets.AdjudicationWidget(store, coder="lead")',
)


def widgets(page: Page) -> tuple[Locator, Locator]:
    page.wait_for_selector(".s7-tree-figures")
    page.wait_for_selector(".s7-case")
    return page.locator(".s7[aria-label=Codebook]"), page.locator(".s7[aria-label=Disagreements]")


def test_a_draft_a_note_and_a_rule_outlive_kernel_and_browser(lab: labs.Lab, tmp_path: Path) -> None:
    folder = Path(disputed(tmp_path / "study", sentences(4)).path)
    cells = [cell.format(folder=str(folder)) for cell in CELLS]
    labs.notebook(lab.root / "unsaved.ipynb", *cells)
    with lab.page(new=True) as page:
        lab.open(page, "unsaved.ipynb")
        codebook, settling = widgets(page)
        codebook.locator(".s7-label-field").fill("Feels with me")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".s7-steps li")
        codebook.locator(".s7-why").fill("Because of")
        settling.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("n")
        page.keyboard.type("Half a note")
        page.keyboard.press("Control+Enter")
        page.keyboard.press("s")
        settling.locator(".s7-change .s7-first").fill("A sharper ru")
        settling.locator(".s7-change .s7-why").fill("It was")
        codebook.locator(".s7-definition-field").fill("In mid-sen")  # and nothing makes a step of it
        page.wait_for_timeout(1_000)
        page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        os.kill(int((lab.root / "pid").read_text()), signal.SIGKILL)
    before = (lab.root / "unsaved.ipynb").read_text()
    assert not [words for words in ("In mid-sen", "Half a note", "A sharper ru") if words in before]
    lab.end_kernels()
    with lab.page(new=True) as page:
        lab.open(page, "unsaved.ipynb")
        codebook, settling = widgets(page)
        assert codebook.locator(".s7-steps li").count() == 1
        assert codebook.locator(".s7-tree-label >> nth=0").inner_text() == "Feels with me"
        assert codebook.locator(".s7-definition-field").input_value() == "In mid-sen"
        assert codebook.locator(".s7-why").input_value() == "Because of"
        assert settling.locator(".s7-case .s7-unit-id").inner_text() == "t01"
        assert settling.locator(".s7-change .s7-first").input_value() == "A sharper ru"
        assert settling.locator(".s7-change .s7-why").input_value() == "It was"
        settling.focus()
        page.keyboard.press("d")
        page.keyboard.press("2")
        page.wait_for_selector(".s7-saved")
        codebook.locator(".s7-definition-field").focus()
        page.keyboard.press("Control+Enter")
        page.wait_for_function("() => document.querySelectorAll('.s7-steps li').length === 2")
        codebook.locator(".s7-save-button").click()
        page.wait_for_selector(".s7-saved-note")
        page.wait_for_timeout(1_000)
    store = qual.Store(folder)
    assert [act.text for act in store.rulings()] == ["Half a note"]
    code = store.codebook.codes[0]
    assert (code.label, code.definition, store.revisions[0].why) == (
        "Feels with me",
        "In mid-sen",
        "Because of",
    )
    assert store.desk.draft("codebook", coder="lead") is None
