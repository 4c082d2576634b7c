"""Hosts of widgets other than JupyterLab, each with a home of its own: what they open, fetch and write."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.helpers.coding_page import SENTINEL
from tests.helpers.places import ROOT

START_SECONDS = 120


@dataclass
class Host:
    """What serves the widget, and what went wrong in its pages."""

    address: str
    """With the token, where there is one."""
    study: Path
    home: Path
    """Where everything lies that the host may write: the user's folders and the temporary ones."""
    process: subprocess.Popen[bytes]
    log: Path
    sentinel: str
    """Words of a text that stand nowhere else."""
    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return re.match(r"http://[^/?]+", self.address)[0]  # type: ignore[index]

    @contextmanager
    def page(self, browser: Browser, shown: str = ".s7-text") -> Iterator[Page]:
        """Open the page; at its end no error and no request to another origin may have been seen."""
        page = browser.new_page(viewport={"width": 1300, "height": 850})
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self._watch(request.url))
        page.goto(self.address)
        page.wait_for_selector(shown)
        yield page
        page.close()
        assert self.errors == []
        assert self.strangers == []

    def _watch(self, url: str) -> None:
        if not url.startswith(
            (self.origin, self.origin.replace("http", "ws", 1), "data:", "blob:", "about:")
        ):
            self.strangers.append(url)

    def files_with_texts(self) -> list[str]:
        """Return the files outside of the study that hold one of its texts."""
        paths = [path for path in self.home.rglob("*") if path.is_file() and not path.is_symlink()]
        assert len(paths) > 1
        return [str(path) for path in paths if self.sentinel.encode() in path.read_bytes()]


def environment(home: Path) -> dict[str, str]:
    """Return an environment in which everything that is written lies in `home`."""
    own = {f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    own |= {"HOME": str(home), "TMPDIR": str(home / "tmp"), "IPYTHONDIR": str(home / "ipython")}
    own |= {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    (home / "tmp").mkdir(parents=True)
    return {**os.environ, **own, "PYTHONPATH": str(ROOT), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


@contextmanager
def hosted(folder: Path, *command: str, until: str, sentinel: str = SENTINEL) -> Iterator[Host]:
    """Start a host of the study in `folder`, and wait until it prints an address; end it with Ctrl+C."""
    home, log = folder / "home", folder / "log"
    environ = environment(home)
    with (
        log.open("w") as output,
        subprocess.Popen(command, cwd=home, env=environ, stdout=output, stderr=output) as process,
    ):
        try:
            address = waited_for(until, log, process)
            yield Host(address, folder / "study", home, process, log, sentinel)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    process.kill()


def waited_for(pattern: str, log: Path, process: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        if match := re.search(pattern, log.read_text("utf-8")):
            return match[0]
        time.sleep(0.2)
    pytest.fail(f"{process.args} printed no address:\n{log.read_text('utf-8')[-3000:]}")


def free_port() -> int:
    """Return a port of this computer that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
