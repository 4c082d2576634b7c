"""What a coder waits for in a stock JupyterLab: a key press until it is saved, a study until its first unit.

A key press goes to the kernel, is committed on the disk and acknowledged in the browser, 50 times; another
50 go to the next text and back, until it is painted (a frame is 16 ms). A study of
100,000 acts, all of one coder, is opened again five times: from running the cell to the unit on the screen.
A widget of 600 and one of 100,000 units in memory are shown ten times each; and in the list of 100,000 texts
words are looked for and texts chosen: from the key press or the choice to the list on the screen.
Prints Markdown tables. Needs Chromium (`make system`).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Page

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import store as records
from sense7_qual.store import Store
from tests.helpers import lab as labs
from tests.helpers.coding_page import cell, enter, saved, study

PRESSES = 50
# Before the widget's own listener, which lets no other hear of a key.
PRESSED = "addEventListener('keydown', event => { window.pressed = window.last = event.timeStamp; }, true)"
WATCH = """() => {
  window.times = [];
  window.pressed = null;
  const root = document.querySelector('.s7');
  new MutationObserver(() => {
    const done = document.querySelector('.s7-saved');
    if (window.pressed !== null && done && !document.querySelector('.s7-pending')) {
      window.times.push(performance.now() - window.pressed);
      window.pressed = null;
    }
  }).observe(root, {subtree: true, childList: true, attributes: true, characterData: true});
}"""
# Resolves with the milliseconds from the last press until another text was on the screen, painted.
PAINTED = """async id => {
  while (document.querySelector('.s7-unit-id')?.innerText === id) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now() - window.last;
}"""
N_ACTS = 100_000
N_OPENINGS = 5
OPEN = """
store = qual.Store({path!r})
CodingWidget(store, coder="ben")
"""
# Runs the next cell; resolves with the milliseconds until its widget shows a unit, and a frame was painted.
RUN_NEXT = """async n => {
  const begin = performance.now();
  window.jupyterapp.commands.execute('notebook:run-cell-and-select-next');
  while (document.querySelectorAll('.s7-text').length < n) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now() - begin;
}"""
SIZES = (600, 100_000)
N_SHOWN = 10
UNITS = """
import pandas as pd
import sense7_qual as qual
from sense7_qual.widgets import CodingWidget
words = "it listened and asked what I meant by my exam but then it lectured me so that I felt unheard".split()
def units(n):
    return qual.frames.UNITS.check(pd.DataFrame({{
        "unit_id": [f"m{{i}}" for i in range(n)],
        "text": [" ".join(words[(i * k) % 19] for k in range(1, 31)) + f" {{i}}" for i in range(n)],
        "document_id": [f"d{{i // 10}}" for i in range(n)], "case_id": [f"p{{i // 30}}" for i in range(n)],
        "position": range(n), "condition": [("warm", "cold")[i // 30 % 2] for i in range(n)],
    }}))
book = qual.Codebook.read("sense7")
made = {{n: units(n) for n in {sizes}}}
"""
SHOW = "CodingWidget(units=made[{n}], codebook=book, coder='ana', acts=[], save=len)"
# Resolves with the milliseconds from the last press or choice to the list that answers it, painted.
ANSWERED = """async words => {
  while (!(document.querySelector('.s7-list-note')?.innerText ?? '').includes(words)) {
    await new Promise(requestAnimationFrame);
  }
  while (document.querySelector('.s7-row') && !document.querySelector('.s7-row-words').innerText) {
    await new Promise(requestAnimationFrame);
  }
  await new Promise(requestAnimationFrame);
  return performance.now() - window.asked;
}"""
STAMP = """() => ['input', 'change'].forEach(name => addEventListener(name, event => {
  window.asked = event.timeStamp;
}, true))"""
LOOKED_FOR = ("exam but", "m99", "unheard 4", "nowhere", "felt")


def shown(server: labs.Lab) -> dict[int, np.ndarray]:
    """Return the milliseconds from running the cell until the first unit of so many was on the screen."""
    cells = [SHOW.format(n=n) for _ in range(N_SHOWN) for n in SIZES]
    name = "shown.ipynb"
    labs.notebook(server.root / name, UNITS.format(sizes=SIZES), SHOW.format(n=SIZES[0]), *cells, "pass")
    with server.page(height=4_000) as page:
        server.open(page, name, run=False)
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell-and-select-next')")
        page.wait_for_timeout(3_000)
        server.wait_idle(page)
        # The first one loads the script and the style sheet.
        times = [page.evaluate(RUN_NEXT, number + 1) for number in range(len(cells) + 1)][1:]
        return {n: np.array(times[place :: len(SIZES)]) for place, n in enumerate(SIZES)}


def listed(server: labs.Lab) -> dict[str, np.ndarray]:
    """Return the milliseconds until the list of 100,000 texts answered each letter, and each choice."""
    labs.notebook(server.root / "list.ipynb", UNITS.format(sizes=SIZES[1:]) + SHOW.format(n=SIZES[1]))
    times: dict[str, list[float]] = {"letters": [], "choices": []}
    with server.page() as page:
        enter(server, page, "list.ipynb")
        page.evaluate(STAMP)
        page.get_by_role("button", name="Filters").click()
        page.wait_for_selector("select[aria-label=condition]")  # by then the texts are ready to be searched
        page.locator(".s7-find").focus()
        for words in LOOKED_FOR:
            for end, letter in enumerate(words, 1):
                page.keyboard.press("Space" if letter == " " else letter)
                if letter != " ":  # which asks for nothing else than the letter before it
                    times["letters"].append(page.evaluate(ANSWERED, f"“{words[:end]}”"))
            page.locator(".s7-find").fill("")
            page.wait_for_function("() => !document.querySelector('.s7-list-note')")
        for _ in range(5):
            for label, value, answer in (
                ("condition", "cold", "cold"),
                ("Which texts", "unfinished", "unfinished"),
                ("Order", "random", "random"),
                ("Order", "document", "by conversation"),
            ):
                page.locator(f"select[aria-label='{label}']").select_option(value)
                times["choices"].append(page.evaluate(ANSWERED, answer))
            page.locator(".s7-clear").click()
    return {name: np.array(each) for name, each in times.items()}


def reopened(server: labs.Lab, place: Path) -> np.ndarray:
    """Return the milliseconds until the first unit of the study at `place` was on the screen."""
    setting_up = "import sense7_qual as qual\nfrom sense7_qual.widgets import CodingWidget\nqual.Store"
    labs.notebook(
        server.root / "open.ipynb", setting_up, *[OPEN.format(path=str(place))] * N_OPENINGS, "pass"
    )
    with server.page(height=4_000) as page:
        server.open(page, "open.ipynb", run=False)
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell-and-select-next')")
        page.wait_for_timeout(1_000)
        server.wait_idle(page)
        return np.array([page.evaluate(RUN_NEXT, number + 1) for number in range(N_OPENINGS)])


def _moved(page: Page, key: str) -> float:
    """Return the milliseconds from a key to the text that it leads to, painted."""
    before = page.locator(".s7-unit-id").inner_text()
    page.keyboard.press(key)
    return float(page.evaluate(PAINTED, before))


def main() -> None:
    """Measure and print."""
    if labs.chromium() is None:
        print("skipped: no Chromium is installed (`make system` installs it)")
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        study(place / "study")
        with labs.running(place / "lab") as server:
            labs.notebook(server.root / "latency.ipynb", cell(place / "study"))
            with server.page() as page:
                page.add_init_script(PRESSED)
                enter(server, page, "latency.ipynb")
                for _ in range(5):  # the first commits make the file
                    page.keyboard.press("1")
                    saved(page)
                page.evaluate(WATCH)
                for number in range(PRESSES):
                    page.keyboard.press("1")
                    page.wait_for_function("n => window.times.length === n", arg=number + 1)
                times = np.array(page.evaluate("() => window.times"))
                moves = np.array([_moved(page, key) for key in ("ArrowRight", "ArrowLeft") * (PRESSES // 2)])
            server.end_kernels()
            large = Store.create(place / "large", units=records.units(), codebook=records.SENSE7)
            records.in_batches(large, N_ACTS, 1_000)
            opened = reopened(server, place / "large")
            server.end_kernels()
            first = shown(server)
            server.end_kernels()
            lists = listed(server)
            server.end_kernels()
    print("| | presses | median ms | p95 ms | max ms |\n|---|--:|--:|--:|--:|")
    for name, each in (("saved", times), ("next text painted", moves)):
        middle, most = np.median(each), np.percentile(each, 95)
        print(f"| {name} | {len(each)} | {middle:.0f} | {most:.0f} | {each.max():.0f} |")
    print(f"\n| openings of {N_ACTS:,} acts | median ms | max ms |\n|--:|--:|--:|")
    print(f"| {len(opened)} | {np.median(opened):.0f} | {opened.max():.0f} |")
    print("\n| units shown | median ms | max ms |\n|--:|--:|--:|")
    for n, each in first.items():
        print(f"| {n:,} | {np.median(each):.0f} | {each.max():.0f} |")
    print(f"\n| in the list of {SIZES[1]:,} | times | median ms | p95 ms | max ms |\n|---|--:|--:|--:|--:|")
    for name, each in lists.items():
        middle, most = np.median(each), np.percentile(each, 95)
        print(f"| {name} | {len(each)} | {middle:.0f} | {most:.0f} | {each.max():.0f} |")


if __name__ == "__main__":
    main()
