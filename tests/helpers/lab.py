"""A real JupyterLab in a real Chromium, for the browser tests and benchmarks.

One server serves test after test, and one page of it: opening JupyterLab takes seconds, opening another
notebook in it does not. Every notebook gets a fresh kernel. Page errors and requests to another origin are
collected, and both lists must be empty at the end.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page, TimeoutError as PlaywrightTimeout, sync_playwright

from tests.helpers import forked_kernels

START_SECONDS = 90
SECONDS = 90
"""How long a page is waited for: what takes longer never comes, however busy the machine is."""
# Whether JupyterLab is open in a page; and, where no dialog is in the way, to end all that is open in it.
OPEN = "() => window.jupyterapp?.name === 'JupyterLab'"
EMPTIED = """async theme => {
  const app = window.jupyterapp;
  if (app?.name !== 'JupyterLab' || document.querySelector('.jp-Dialog')) return false;
  for (const each of [...app.shell.widgets('main')]) each.dispose();
  app.shell.expandLeft();
  const now = document.body.dataset.jpThemeName;
  if (now !== theme) await app.commands.execute('apputils:change-theme', {theme});
  return true;
}"""


def chromium() -> str | None:
    """Return the path of an installed Chromium, or None."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


def notebook(path: Path, *cells: str) -> Path:
    """Write a notebook of code cells."""
    import nbformat  # takes more than a second: not in each process that collects tests

    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nb.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nb, path)
    return path


@dataclass
class Lab:
    """A running server, its folder, and what went wrong in its pages."""

    root: Path
    url: str
    token: str
    browser: Browser
    dark: bool = False
    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    idle: list[Page] = field(default_factory=list)
    """The page that the next test may take, if any."""

    def api(self, method: str, path: str, body: Any = None) -> Any:
        """Call the server's REST interface."""
        request = urllib.request.Request(  # noqa: S310 – loopback
            f"{self.url}{path}",
            method=method,
            headers={"Authorization": f"token {self.token}"},
            data=json.dumps(body).encode() if body is not None else None,
        )
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            content = answer.read()
        return json.loads(content) if content else None

    def end_kernels(self) -> None:
        """Shut every kernel down, so that the next notebook starts with fresh code."""
        end = time.monotonic() + START_SECONDS
        while sessions := self.api("GET", "/api/sessions"):
            for session in sessions:
                try:
                    self.api("DELETE", f"/api/sessions/{session['id']}")
                except urllib.error.HTTPError:  # the server is just now starting a killed one again
                    if time.monotonic() > end:
                        raise
                    time.sleep(0.2)

    @contextmanager
    def page(self, *, width: int = 1400, height: int = 950, new: bool = False) -> Iterator[Page]:
        """Open a page that records its errors and its requests to other origins.

        Where the last one was left in order it is that again, with nothing open in JupyterLab and its left
        panel open.
        """
        page = self.idle.pop() if self.idle and not new else self._new_page()
        page.set_viewport_size({"width": width, "height": height})
        try:
            yield page
            if not self.idle and page.evaluate(EMPTIED, _theme(self.dark)):
                page.mouse.move(0, 0)
                self.idle.append(page)
        finally:
            if page not in self.idle:
                page.context.close()

    def _new_page(self) -> Page:
        page = self.browser.new_context(color_scheme="dark" if self.dark else "light").new_page()
        page.set_default_timeout(SECONDS * 1_000)
        page.on("pageerror", lambda error: self._blame(str(error)))
        page.on("request", lambda request: self._watch(request.url))
        return page

    def _blame(self, error: str) -> None:
        # JupyterLab says so of itself where a kernel is ended before it has answered.
        if "Canceled future for create_subshell_request" not in error:
            self.errors.append(error)

    def _watch(self, url: str) -> None:
        local = (self.url, self.url.replace("http", "ws", 1), "data:", "blob:", "about:")
        if not url.startswith(local):
            self.strangers.append(url)

    def open(self, page: Page, name: str, *, run: bool = True, host: str = "lab/tree") -> None:
        """Open a notebook (and run all its cells); wait until the kernel is idle.

        `host` is ``lab/tree`` for JupyterLab or ``notebooks`` for Notebook 7.
        """
        if host == "lab/tree" and page.evaluate(OPEN):
            opened = "async path => void await window.jupyterapp.commands.execute('docmanager:open', {path})"
            page.evaluate(opened, name)
        else:
            page.goto(f"{self.url}/{host}/{name}?token={self.token}{'&reset' if host == 'lab/tree' else ''}")
            page.wait_for_function("() => window.jupyterapp !== undefined")
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        self.wait_idle(page)
        if run:
            self.run_all(page)

    def run_all(self, page: Page) -> None:
        """Run all cells and wait until they are done."""
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        self.wait_idle(page)

    def begin_again(self, page: Page) -> None:
        """Wait until the host has started a killed kernel again.

        It says so in a dialog, which a key pressed meanwhile may have closed.
        """
        with suppress(PlaywrightTimeout):
            page.get_by_role("button", name="Ok", exact=True).click(timeout=15_000)
        self.wait_idle(page)

    def wait_idle(self, page: Page) -> None:
        """Wait until the current notebook's kernel is idle."""
        page.wait_for_function(
            """() => {
              const panel = window.jupyterapp.shell.currentWidget;
              return panel?.sessionContext?.session?.kernel?.status === 'idle';
            }"""
        )

    def wait_quiet(self, page: Page) -> None:
        """Wait until the kernel has answered all that widgets asked when they came on the page.

        A kernel that answers for longer than three seconds has presses ignored, and a busy machine gets it
        there: a test that presses many keys at once begins when it is quiet.
        """
        page.wait_for_function(
            """() => {
              const kernel = window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel;
              if (kernel?.status !== 'idle') window.quietSince = performance.now();
              window.quietSince ??= performance.now();
              return performance.now() - window.quietSince > 200;
            }"""
        )
        page.evaluate("() => { delete window.quietSince }")


# Lab lays out what is in it some frames after its window has another size, and a widget some frames later.
_STEADY: Final = """() => new Promise(resolve => {
  const sizes = () => [...document.querySelectorAll('.s7, .s7-text')].map(
    one => [one.clientWidth, one.clientHeight]).join();
  let last = sizes(), since = performance.now();
  const look = now => {
    if (sizes() !== last) [last, since] = [sizes(), now];
    if (now - since > 250) resolve();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""


def resized(page: Page, width: int, height: int) -> None:
    """Give the window another size and wait until the widgets in it keep theirs."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(_STEADY)


def _theme(dark: bool) -> str:
    return "JupyterLab Dark" if dark else "JupyterLab Light"


def _settings(folder: Path, *, dark: bool) -> None:
    apputils = folder / "@jupyterlab" / "apputils-extension"
    apputils.mkdir(parents=True)
    settings = {
        "notification": {"fetchNews": "false", "checkForUpdates": False},
        "themes": {"theme": _theme(dark)},
    }
    for name, values in settings.items():
        (apputils / f"{name}.jupyterlab-settings").write_text(json.dumps(values))


@contextmanager
def running(folder: Path, *, dark: bool = False, forked: bool = False) -> Iterator[Lab]:
    """Start a JupyterLab server on a free loopback port, and Chromium; end both.

    With `forked` its kernels are forked off one that has imported the package.
    """
    root = folder / "notebooks"
    root.mkdir(parents=True, exist_ok=True)
    _settings(folder / "settings", dark=dark)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    own = {
        name: str(folder / name.lower())
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    own |= {
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "ws"),
        "JUPYTER_PATH": str(folder / "first"),
    }
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *(f"--port={port}", "--ip=127.0.0.1", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={token}", "--ServerApp.terminals_enabled=False"),
        *("--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True"),
        f"--ServerApp.root_dir={root}",
    ]
    log = folder / "server.log"
    with (
        log.open("w") as output,
        forked_kernels.offered(folder / "first", output) if forked else nullcontext(),
        subprocess.Popen(
            command,
            env={**os.environ, **own, "PYDEVD_DISABLE_FILE_VALIDATION": "1"},
            stdout=output,
            stderr=output,
        ) as server,
    ):
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, token, server, log)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=chromium(),
                    args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"],
                )
                try:
                    yield Lab(root=root, url=url, token=token, browser=browser, dark=dark)
                finally:
                    browser.close()
        finally:
            server.terminate()


def _wait(url: str, token: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if server.poll() is not None:
            raise RuntimeError(f"JupyterLab ended at once: {log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(f"{url}/api/status?token={token}", timeout=2):  # noqa: S310
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start in {START_SECONDS} s: {log.read_text()[-2000:]}")
