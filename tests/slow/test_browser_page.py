"""The page of `sense7-qual code` in a large window, on a telephone and at 200 %: nothing moves or is cut."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import sync_playwright

from sense7_qual import Store
from sense7_qual._commands import main
from tests.helpers import lab as labs
from tests.helpers.coding_page import saved, study
from tests.helpers.desk_states import MEASURED, TEXT, states
from tests.helpers.hosts import hosted

pytestmark = pytest.mark.browser

# Of the window: the least height of the text's box.
LEAST: Final = {(1400, 900): 560, (465, 670): 250, (390, 844): 380, (700, 450): 200}
WIDER: Final = """() => ['html', 'body', '.s7', '.s7-header', '.s7-whole', '.s7-active-bar',
  '.s7-footer', '.s7-scroll'].filter(
    name => document.querySelector(name).scrollWidth > document.querySelector(name).clientWidth)"""


def test_the_page_keeps_the_room_of_the_text_in_each_size(chromium: str, tmp_path: Path) -> None:
    folder = study(tmp_path / "study", [TEXT] * 12)
    words = ["-m", "sense7_qual", "code", str(folder), "--coder", "ana", "--no-browser"]
    until = r"http://127\.0\.0\.1:\d+/\?token=\S+"
    with hosted(tmp_path, sys.executable, *words, until=until) as host, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with host.page(browser) as page:
            for (width, height), least in LEAST.items():
                labs.resized(page, width, height)
                page.locator(".s7").focus()
                page.keyboard.press("n")
                saved(page)
                first = None
                for state, _ in states(page):
                    page.wait_for_timeout(100)
                    measured = page.evaluate(MEASURED)
                    first = first or measured
                    assert (width, state, measured) == (width, state, first)
                    assert (width, state, page.evaluate(WIDER)) == (width, state, [])
                page.keyboard.press(".")
                page.keyboard.type("sister")
                page.wait_for_selector(".s7-list-note")
                page.keyboard.press("Escape")
                assert (width, page.evaluate(WIDER)) == (width, [])
                page.locator(".s7-clear").click()
                assert first is not None
                assert first["inside"]
                assert first["still"][1] >= least
                assert page.locator(".s7").bounding_box() == {
                    "x": 0,
                    "y": 0,
                    "width": width,
                    "height": height,
                }
        browser.close()


@pytest.mark.nightly
def test_a_file_that_was_handed_out_is_coded_and_comes_back(chromium: str, tmp_path: Path) -> None:
    folder, file = study(tmp_path / "study"), tmp_path / "ben.zip"
    Store(folder).assign(coders=["ana", "ben"], overlap=0.4, seed=3, coder="lead")
    assert main(["hand-out", str(folder), "--coder", "ben", "--out", str(file)]) == 0
    words = [sys.executable, "-m", "sense7_qual", "code", str(file), "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = next(
                found[0] for line in process.stdout or () if (found := re.search(r"http://\S+", line))
            )
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                page = browser.new_page()
                page.goto(address)
                page.wait_for_selector(".s7-codes", timeout=120_000)
                page.locator(".s7").focus()
                for key in ("1", "Enter"):
                    page.keyboard.press(key)
                    saved(page)
                browser.close()
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert main(["merge", str(folder), str(tmp_path / "ben-back.zip")]) == 0
    assert [act.kind for act in Store(folder).acts(coder="ben")] == ["apply", "finish"]
