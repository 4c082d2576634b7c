"""Take the pictures of `docs/coding.md`: an hour of a coder on the synthetic example, in a real JupyterLab.

python scripts/make_screenshots.py [FOLDER] [--all]     # default: docs/pictures/

Some steps are taken light and 1,400 pixels wide, the others dark and 900 wide; with `--all` each in both
themes at both widths, to be looked at. Needs Chromium (`make system`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from playwright.sync_api import Page

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.helpers import lab as labs  # noqa: E402 – not installed with the package
from tests.helpers.coding_page import enter, press  # noqa: E402

CELL: Final = """
import sys
sys.path.insert(0, {notebooks!r})
import example_study
import sense7_qual as qual
from sense7_qual.widgets import CodingWidget
units, book = example_study.explanations(), qual.Codebook.read("sense7")
store = qual.Store.open_or_create({study!r}, units=units, codebook=book)
store.set_options(new_codes="add", rating="finished", coder="lead")
plan = store.assign(coders=["ana", "ben"], overlap=0.25, seed=7, coder="lead")
CodingWidget(store, coder="ana", rating="EmpathyOverall")
"""


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description="Take the pictures of the coder's guide.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--all", action="store_true", help="both themes at both widths")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for dark in (False, True):
        with tempfile.TemporaryDirectory() as place, labs.running(Path(place) / "lab", dark=dark) as server:
            for width in (1400, 900) if chosen.all else (900,) if dark else (1400,):
                steps = set(STEPS) if chosen.all else DARK if dark else set(STEPS) - DARK
                take(server, Path(place) / f"study-{width}", chosen.folder, steps, width=width, dark=dark)


def take(
    server: labs.Lab, study: Path, folder: Path, steps: Collection[str], *, width: int, dark: bool
) -> None:
    """Do all steps, and take the pictures of `steps` in one theme at one width."""
    name = f"hour-{width}.ipynb"
    labs.notebook(server.root / name, CELL.format(notebooks=str(ROOT / "notebooks"), study=str(study)))
    with server.page(width=width, height=900, dark=dark) as page:
        enter(server, page, name)
        page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
        page.locator(".jp-InputArea").evaluate_all("all => all.forEach(each => each.style.display = 'none')")
        page.locator(".s7").focus()
        for number, (step, act) in enumerate(STEPS.items(), start=1):
            act(page)
            page.wait_for_timeout(400)
            if step not in steps:
                continue
            path = folder / f"{number}-{step}-{'dark' if dark else 'light'}-{width}.png"
            page.locator(".s7").screenshot(path=path)
    server.end_kernels()


def _whole(page: Page) -> None:
    press(page, "1", "v", "v", "3", "v")  # unmet, met


def _letters(page: Page) -> None:
    press(page, "Enter", "2", "Enter")
    page.keyboard.press("Space")


def _span(page: Page) -> None:
    words = page.locator(".s7-letters b").all_inner_texts()
    for key in words[3].strip() + words[7].strip():
        page.keyboard.press(key)
    page.wait_for_selector(".s7-letters", state="detached")
    press(page, "7")


def _picker(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("co")


def _list(page: Page) -> None:
    page.keyboard.press("Escape")
    page.locator(".s7").focus()
    press(page, "Enter", "1", "Enter")
    page.keyboard.press(".")
    page.keyboard.type("advice", delay=60)


def _new_code(page: Page) -> None:
    page.keyboard.press("#")
    page.wait_for_selector(".s7-text")
    for key in ("w", "w", "Shift+ArrowRight", "Shift+ArrowRight", "+"):
        page.keyboard.press(key)


def _grid(page: Page) -> None:
    page.locator(".s7-find").fill("")
    page.keyboard.press("Escape")
    page.locator(".s7").focus()
    page.keyboard.press("#")
    page.wait_for_selector("[role=grid]")
    press(page, "4", "Enter", "5", "ArrowDown", "1", "6")


def _memos(page: Page) -> None:
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.locator(".s7").focus()
    page.keyboard.press("m")
    page.keyboard.type("Asks for time, not for advice.")
    page.keyboard.press("Escape")
    page.locator(".s7").focus()
    page.keyboard.press(":")
    page.wait_for_timeout(800)


def _history(page: Page) -> None:
    page.keyboard.press("Escape")
    page.locator(".s7").focus()
    page.keyboard.press("<")
    page.wait_for_timeout(800)


STEPS: Final[dict[str, Callable[[Page], None]]] = {
    "first-text": lambda page: None,
    "whole-text": _whole,
    "letters": _letters,
    "span": _span,
    "picker": _picker,
    "find": _list,
    "grid": _grid,
    "new-code": _new_code,
    "memos": _memos,
    "history": _history,
}
DARK: Final = frozenset({"letters", "find", "new-code", "history"})


if __name__ == "__main__":
    main()
