"""The coder's page without its kernel: what it says, what was not saved, and how one goes on."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.helpers.coding_page import AXE, SENTINEL, press, shows, spans, study
from tests.helpers.hosts import Host, hosted

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="finds kernels as Linux shows them"),
]

#: The command, whose hour has as many seconds as its first argument says, and its two minutes as the second.
HOUR = """
import sys
from sense7_qual._commands import main, serve
serve.OPEN, serve.ALONE = int(sys.argv[1]), int(sys.argv[2])
sys.exit(main(sys.argv[3:]))
"""


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def served(folder: Path, *more: str, hour: int = 3600, alone: int = 8) -> Iterator[Host]:
    pytest.importorskip("voila", reason="Voilà is not installed")
    words = ["code", str(study(folder / "study")), "--coder", "ana", "--no-browser", *more]
    command = [sys.executable, "-c", HOUR, str(hour), str(alone), *words]
    with hosted(folder, *command, until=r"http://127\.0\.0\.1:\d+/\?token=\S+") as host:
        yield host


def kernels_of(host: Host) -> list[int]:
    """Return the processes of the kernels that the host started."""
    found = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            parent = re.search(r"^PPid:\t(\d+)$", (process / "status").read_text(), re.MULTILINE)
            if (
                parent
                and int(parent[1]) == host.process.pid
                and b"ipykernel" in (process / "cmdline").read_bytes()
            ):
                found.append(int(process.name))
    return found


def paused(page: Page) -> str:
    """Return what the page says once it knows that its kernel is gone."""
    page.wait_for_selector("#s7-paused[open]")
    if AXE.is_file():
        page.add_script_tag(path=str(AXE))
        assert page.evaluate("() => axe.run('#s7-paused').then(r => r.violations.map(v => v.id))") == []
    return page.inner_text("#s7-paused p")


def kept_by_browser(page: Page) -> str:
    """Return all that the browser would keep on the disk."""
    kept = "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
    databases = page.evaluate("indexedDB.databases().then(all => all.map(one => one.name))")
    assert databases == []
    return str(page.evaluate(kept))


@pytest.mark.parametrize(
    "dark", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["light", "dark"]
)
def test_a_killed_kernel_tells_which_change_was_not_saved(tmp_path, browser, dark) -> None:
    with served(tmp_path, *["--dark"] * dark) as host, host.page(browser) as page:
        page.locator(".s7").focus()
        press(page, "3")
        [kernel] = kernels_of(host)
        os.kill(kernel, signal.SIGKILL)
        page.keyboard.press("5")
        assert paused(page) == "1 change was not saved: “Interest” on text t0/1."
        for key in ("Escape", "Escape", "1", "f", "?"):  # none is heard below it
            page.keyboard.press(key)
        page.wait_for_timeout(300)
        assert page.locator("#s7-paused[open]").count() == 1
        assert page.locator(".s7-card").count() == 0
        assert paused(page) == "1 change was not saved: “Interest” on text t0/1."
        assert SENTINEL not in kept_by_browser(page)
        page.keyboard.press("Enter")  # on Open again
        page.wait_for_selector(".s7-saved")
        page.locator(".s7").focus()
        press(page, "Enter")
        shows(page, "t1/1")
        assert spans(host.study) == [("t0/1", "response", None)]


def test_the_newest_page_takes_over_and_the_older_one_says_paused(tmp_path, browser) -> None:
    with served(tmp_path) as host, host.page(browser) as page:
        page.locator(".s7").focus()
        press(page, "3")
        with host.page(browser) as newer:
            assert paused(page) == "Paused, because you opened a newer page. All is saved."
            assert len(kernels_of(host)) == 1
            newer.locator(".s7").focus()
            press(newer, "5")
            page.click("text=Go on")
            page.wait_for_selector(".s7-saved")
            assert paused(newer).startswith("Paused, because you opened a newer page.")
        page.locator(".s7").focus()
        press(page, "5")  # which the newer page had applied: it is removed
        assert {code for _, code, _ in spans(host.study)} == {"response"}


@pytest.mark.nightly
def test_after_an_hour_the_page_pauses_and_goes_on(tmp_path, browser) -> None:
    with served(tmp_path, hour=12) as host, host.page(browser) as page:
        page.locator(".s7").focus()
        press(page, "3")
        assert paused(page) == "Paused after an hour. All is saved."
        assert kernels_of(host) == []
        page.click("text=Go on")
        page.wait_for_selector(".s7-saved")
        page.locator(".s7").focus()
        press(page, "5")
        assert {code for _, code, _ in spans(host.study)} == {"interest", "response"}


class Proxy:
    """Passes on what comes to `port`, until it is stopped, and when it is started again."""

    def __init__(self, to: int) -> None:
        self.to, self.port, self.open = to, 0, list[socket.socket]()
        self.start()

    def start(self) -> None:
        door = socket.create_server(("127.0.0.1", self.port))
        self.port, self.open = door.getsockname()[1], [door]
        threading.Thread(target=self._serve, args=(door,), daemon=True).start()

    def stop(self) -> None:
        for each in self.open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _serve(self, door: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near = door.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.to))
                self.open += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while heard := one.recv(1 << 16):
                other.sendall(heard)
        with suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)


@pytest.mark.nightly
def test_a_line_that_was_cut_is_laid_again_soon_after_the_server_answers(tmp_path, browser) -> None:
    with served(tmp_path, alone=120) as host:
        proxy = Proxy(int(re.search(r":(\d+)/", host.address)[1]))
        through = replace(host, address=re.sub(r":\d+/", f":{proxy.port}/", host.address))
        with through.page(browser) as page:
            page.evaluate("Math.random = () => 0.999")  # the host waits as long as it may, a minute and more
            page.locator(".s7").focus()
            press(page, "3")
            proxy.stop()
            page.keyboard.press("5")
            page.wait_for_timeout(30_000)
            proxy.start()
            page.wait_for_selector(".s7-saved", timeout=25_000)
            proxy.stop()
        assert {code for _, code, _ in spans(host.study)} == {"interest", "response"}


@pytest.mark.nightly
def test_what_was_being_typed_can_be_copied(tmp_path, browser) -> None:
    with served(tmp_path) as host, host.page(browser) as page:
        page.locator(".s7 textarea").first.fill("She was heard at last")
        os.kill(kernels_of(host)[0], signal.SIGKILL)
        said = paused(page)
        assert said.endswith(
            "not saved: memo on text t0/1. What you were typing is not saved; copy it from here:"
        )
        assert page.input_value("#s7-paused textarea") == "She was heard at last"
        assert "heard" not in kept_by_browser(page)


@pytest.mark.nightly
def test_a_study_that_cannot_be_opened_is_one_sentence_on_the_page(tmp_path, browser) -> None:
    with served(tmp_path) as host:
        host.study.rename(tmp_path / "elsewhere")
        with host.page(browser, shown="#rendered_cells pre") as page:
            said = page.inner_text("body")
            assert said.startswith("study: expected a study folder at ")
            for word in ("Traceback", "site-packages", "Voil", "cell", "StoreError"):
                assert word not in said
