"""A busy kernel is waited for without alarm; one that another page restarted needs no reload of this one."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

import sense7_qual as qual
from tests.helpers import lab as labs
from tests.helpers.axe import AXE, THEMES, show_in, sound
from tests.helpers.coding_page import cell, enter, press, saved, spans, study

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

KERNEL = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
# Everything red that is ever on the screen, and every state of saving, from now on.
WATCH = """() => {
  window.seen = {red: [], states: []};
  const look = () => {
    for (const one of document.querySelectorAll('.s7-unsaved, .s7-message')) seen.red.push(one.innerText);
    const state = document.querySelector('.s7-state')?.textContent;
    if (state && state !== seen.states.at(-1)) seen.states.push(state);
  };
  new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return study(tmp_path / "study")


def run_until(page: Page, flag: Path) -> None:
    """Let the kernel run code until the file is gone, as a cell does that takes long."""
    flag.touch()
    code = f"import pathlib, time\nwhile pathlib.Path({str(flag)!r}).exists():\n    time.sleep(0.1)"
    page.evaluate(f"code => void {KERNEL}.requestExecute({{code}})", code)


def test_a_busy_kernel_is_waited_for_without_alarm(lab: labs.Lab, folder: Path, tmp_path: Path) -> None:
    labs.notebook(lab.root / "busy.ipynb", cell(folder))
    with lab.page() as page:
        lab.open(page, "busy.ipynb", run=False)
        # As in every host but the newest JupyterLab, whose kernel hears widgets while a cell runs.
        page.evaluate(f"() => void ({KERNEL}.commsOverSubshells = 'disabled')")
        lab.run_all(page)
        page.wait_for_selector(".s7-text")
        page.locator(".s7").focus()
        page.evaluate(WATCH)
        run_until(page, tmp_path / "flag")
        page.keyboard.press("1")
        page.keyboard.press("2")
        page.keyboard.press("3")
        page.wait_for_selector(".s7-late")
        page.wait_for_timeout(60_000)
        assert page.locator(".s7-state").text_content() == "◷ Waiting for the kernel · 3 kept here"
        assert spans(folder) == []
        if AXE.is_file():
            page.add_script_tag(path=str(AXE))
            for theme in THEMES[::-1]:
                show_in(page, theme)
                sound(page, f"waiting, {theme}")
        (tmp_path / "flag").unlink()
        saved(page)
        assert page.evaluate("() => seen.red") == []
        states = page.evaluate("() => seen.states")
        since = states[states.index("◷ Waiting for the kernel · 3 kept here") + 1 :]
        # The three are saved one after another, which is said where it takes a while; saved is said of all.
        assert [state for state in since if "kept here" not in state] in (["✓ Saved"], ["Saving…", "✓ Saved"])
    assert sorted(code for _, code, _ in spans(folder)) == ["affective", "cognitive", "response"]
    assert len(qual.Store(folder).acts()) == 3


def test_where_the_host_hears_widgets_while_a_cell_runs_nothing_waits(
    lab: labs.Lab, folder: Path, tmp_path: Path
) -> None:
    labs.notebook(lab.root / "heard.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "heard.ipynb")
        run_until(page, tmp_path / "flag")
        press(page, "1", "2")
        assert sorted(code for _, code, _ in spans(folder)) == ["affective", "cognitive"]
        (tmp_path / "flag").unlink()


def test_a_kernel_restarted_by_another_page_needs_no_reload(lab: labs.Lab, folder: Path) -> None:
    labs.notebook(lab.root / "elsewhere.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "elsewhere.ipynb")
        press(page, "1")
        page.evaluate("() => void (window.isTheSame = true)")
        lab.api("POST", f"/api/kernels/{page.evaluate(f'() => {KERNEL}.id')}/restart", {})
        page.wait_for_selector(".s7-unsaved")
        page.locator(".s7").focus()
        page.keyboard.press("2")
        page.wait_for_function(
            "() => document.querySelector('.s7-state').textContent"
            " === 'Cut off · 1 kept here · run the cell again'"
        )
        lab.run_all(page)
        page.wait_for_selector(".s7-coding:not(.s7-pending) >> nth=1")
        saved(page)
        page.locator(".s7").focus()
        press(page, "3")
        assert page.evaluate("() => window.isTheSame")
    assert sorted(code for _, code, _ in spans(folder)) == ["affective", "cognitive", "response"]
    assert qual.Store(folder).verify()["ok"].all()
