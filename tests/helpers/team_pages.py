"""What a coder and a lead do in a browser at a team's server; and the same at a folder."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from playwright.sync_api import Browser, Page

from tests.helpers import team_server
from tests.helpers.coding_page import saved

LOGINS: Final = {"ana": "ada.l", "ben": "bob.k", "cleo": "carl.m", "dee": "dora.n", "lead": "prof.l"}
SECONDS: Final = 90


@dataclass
class Seen:
    """What a browser saw: errors of pages, requests to other servers, and everything that was sent to it."""

    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    frames: list[str] = field(default_factory=list)


def watched(page: Page, seen: Seen, origin: str) -> None:
    """Note what goes wrong in the page, and where it asks for something."""
    page.set_default_timeout(SECONDS * 1_000)
    own = (origin, origin.replace("http", "ws", 1), "data:", "blob:", "about:")
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("request", lambda asked: asked.url.startswith(own) or seen.strangers.append(asked.url))  # type: ignore[func-returns-value]
    page.on("websocket", lambda line: line.on("framereceived", lambda frame: seen.frames.append(str(frame))))


@contextmanager
def signed_in(
    browser: Browser,
    server: team_server.Server,
    who: str,
    *,
    shown: str = ".s7-text",
    seen: Seen | None = None,
) -> Iterator[Page]:
    """Sign in with a browser of one's own, and wait until something is shown."""
    context = browser.new_context(viewport={"width": 1300, "height": 850})
    page = context.new_page()
    watched(page, seen or Seen(), team_server.ADDRESS)
    sign_in(page, LOGINS.get(who, who), server.password("LEAD" if who == "lead" else "TRIAL"))
    page.wait_for_selector(shown)
    yield page
    context.close()


def sign_in(page: Page, login: str, password: str, address: str = team_server.ADDRESS) -> None:
    """Fill in the hub's form."""
    page.goto(address)
    page.fill("#username_input", login)
    page.fill("#password_input", password)
    page.click("#login_submit")


@contextmanager
def at_folder(browser: Browser, folder: str, coder: str, *options: str) -> Iterator[Page]:
    """Open the page of a folder study, served to this computer by the lead's account."""
    words = [str(team_server.BIN / "sense7-qual"), "code", folder, "--coder", coder, "--no-browser", *options]
    command = ["runuser", "-u", "lead", "--", "env", "-i", "HOME=/home/lead", "LANG=C.UTF-8", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/home/lead") as served:
        assert served.stdout
        address = re.search(r"http://\S+", next(line for line in served.stdout if "http" in line))
        assert address
        page = browser.new_page()
        page.set_default_timeout(SECONDS * 1_000)
        page.goto(address[0])
        page.wait_for_selector(".s7-text")
        yield page
        page.close()
        served.terminate()


def code_all(page: Page, presses: Sequence[str]) -> list[str]:
    """Press these keys text by text, and Enter after each; return the ids of the texts as they came."""
    met = []
    page.locator(".s7").focus()
    for keys in presses:
        met.append(page.locator(".s7-unit-id").inner_text())
        for key in [*keys.split(), "Enter"]:
            page.keyboard.press(key)
            saved(page)
    return met
