"""Key press → kernel → commit on disk → acknowledged in the browser: 50 presses in a stock JupyterLab.

Prints a Markdown table. Needs Chromium (`make system`).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests import lab as labs
from tests.test_browser_coding import cell, enter, saved, study

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
    print("| presses | median ms | p95 ms | max ms |\n|--:|--:|--:|--:|")
    print(f"| {len(times)} | {np.median(times):.0f} | {np.percentile(times, 95):.0f} | {times.max():.0f} |")


if __name__ == "__main__":
    main()
