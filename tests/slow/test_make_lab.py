"""`make lab` as a new user types it: two codings by keyboard on the coding notebook, and still there.

Set SENSE7_CLONE to a fresh clone to run it there with all of its set-up; otherwise a copy of this checkout is
used with this environment.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import sense7_qual as qual
from tests.helpers.places import ROOT

pytestmark = [pytest.mark.nightly, pytest.mark.browser]

SKIPPED = (".git", ".venv", "node_modules", "studies", "paper", ".cache", "__pycache__", ".ipynb_checkpoints")
SETUP_SECONDS = 900


@pytest.fixture
def running(chromium, tmp_path) -> Iterator[tuple[Path, str]]:
    """Type `make lab`; give the project's folder and the address that Jupyter prints."""
    clone = os.environ.get("SENSE7_CLONE")
    place = Path(clone) if clone else tmp_path / "project"
    command = ["make", "lab"]
    if not clone:
        shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(*SKIPPED))
        venv = Path(sys.executable).parents[1]
        # This environment as it is: setting it up again would install the copy into it.
        command += [f"VENV={venv}", "-o", f"{venv}/.lab-ready"]
    own = {f"JUPYTER_{name}_DIR": str(tmp_path / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    env = {**os.environ, **own, "BROWSER": "true", "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings")}
    log = tmp_path / "lab.log"
    with (
        log.open("w") as output,
        subprocess.Popen(
            command, cwd=place, env=env, stdout=output, stderr=output, start_new_session=True
        ) as make,
    ):
        try:
            yield place, _address(log, make)
        finally:
            os.killpg(make.pid, signal.SIGTERM)


def _address(log: Path, make: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + SETUP_SECONDS
    while time.monotonic() < end and make.poll() is None:
        found = re.search(r"http://127\.0\.0\.1:\d+/lab/tree/\S+token=\w+", log.read_text())
        if found:
            return found[0]
        time.sleep(0.5)
    pytest.fail(f"make lab gave no address:\n{log.read_text()[-3000:]}")


def _run_all(page) -> None:
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.wait_for_selector(".s7-text", timeout=120_000)
    page.locator(".s7").first.scroll_into_view_if_needed()


def _kernel_is_ready(page) -> None:
    page.get_by_text(re.compile(r"Python 3 \(ipykernel\) \| Idle")).wait_for(timeout=60_000)


def _notebook_is_saved(path: Path) -> None:
    """Wait for the widget's output in the file: a page that is loaded anew shows what the file holds."""
    end = time.monotonic() + 60
    while "widget-view+json" not in path.read_text():
        assert time.monotonic() < end, "Ctrl+S saved no notebook"
        time.sleep(0.1)


def test_the_example_is_coded_and_stays_coded(chromium, running) -> None:
    from playwright.sync_api import sync_playwright

    place, address = running
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 950})
        page.set_default_timeout(60_000)
        page.goto(address)
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        _kernel_is_ready(page)
        _run_all(page)
        page.locator(".s7").first.focus()
        for key in ("w", "Shift+ArrowRight", "7", "Escape", "3"):
            page.keyboard.press(key)
        page.wait_for_selector(".s7-saved")
        codings = ["Response", "Relational"]
        assert page.locator(".s7-coding strong").all_text_contents() == codings
        if folder := os.environ.get("SENSE7_SCREENSHOTS"):
            page.screenshot(path=f"{folder}/make-lab.png")
        page.keyboard.press("Control+s")
        _notebook_is_saved(place / "notebooks" / "01_coding.ipynb")

        page.reload()
        page.wait_for_selector(".s7-coding >> nth=1")
        assert page.locator(".s7-coding strong").all_text_contents() == codings

        page.get_by_role("menuitem", name="Kernel", exact=True).click()
        page.get_by_role("menuitem", name=re.compile("Restart Kernel and Run All Cells")).click()
        page.get_by_role("button", name="Confirm Kernel Restart").click()
        # The widget of the old kernel goes, the new one comes with what is in the record.
        page.wait_for_selector(".s7", state="detached")
        page.wait_for_selector(".s7-coding >> nth=1")
        assert page.locator(".s7-coding strong").all_text_contents() == codings
        browser.close()
    found = qual.Store(place / "notebooks" / "studies" / "example").codings(coder="me")
    assert sorted(found["code"]) == ["relational", "response"]
    assert found.set_index("code")["start"].isna().to_dict() == {"relational": False, "response": True}
