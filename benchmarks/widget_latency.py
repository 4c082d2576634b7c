"""What a coder waits for in a stock JupyterLab: a key press until it is saved, a study until its first unit.

A key press goes to the kernel, is committed on the disk and acknowledged in the browser, 50 times. A study of
100,000 acts, all of one coder, is opened again five times: from running the cell to the unit on the screen.
Prints Markdown tables. Needs Chromium (`make system`).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import store as records
from sense7_qual.store import Store
from tests.helpers import lab as labs
from tests.helpers.coding_page import cell, enter, saved, study

PRESSES = 50
WATCH = """() => {
  window.times = [];
  const root = document.querySelector('.s7');
  let pressed = null;
  root.addEventListener('keydown', () => { pressed = performance.now(); }, true);
  new MutationObserver(() => {
    const done = document.querySelector('.s7-saved');
    if (pressed !== null && done && !document.querySelector('.s7-pending')) {
      window.times.push(performance.now() - pressed);
      pressed = null;
    }
  }).observe(root, {subtree: true, childList: true, attributes: true, characterData: true});
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
                enter(server, page, "latency.ipynb")
                for _ in range(5):  # the first commits make the file
                    page.keyboard.press("1")
                    saved(page)
                page.evaluate(WATCH)
                for number in range(PRESSES):
                    page.keyboard.press("1")
                    page.wait_for_function("n => window.times.length === n", arg=number + 1)
                times = np.array(page.evaluate("() => window.times"))
            server.end_kernels()
            large = Store.create(place / "large", units=records.units(), codebook=records.SENSE7)
            records.in_batches(large, N_ACTS, 1_000)
            opened = reopened(server, place / "large")
            server.end_kernels()
    print("| presses | median ms | p95 ms | max ms |\n|--:|--:|--:|--:|")
    print(f"| {len(times)} | {np.median(times):.0f} | {np.percentile(times, 95):.0f} | {times.max():.0f} |")
    print(f"\n| openings of {N_ACTS:,} acts | median ms | max ms |\n|--:|--:|--:|")
    print(f"| {len(opened)} | {np.median(opened):.0f} | {opened.max():.0f} |")


if __name__ == "__main__":
    main()
