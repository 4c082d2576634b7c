"""How long does the coding widget take to redraw a text of 200,000 characters with 2,000 codings on spans?

    python -m benchmarks.long_text

In a stock JupyterLab and Chromium, one paragraph without line breaks, and again as lines of 100 words: words
are selected by key and coded, 40 times. From the key press to the frame that shows it, painted (of which up
to 16 ms wait for the screen), and what the browser's main thread did for it. Prints Markdown. Needs Chromium.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import CDPSession

from sense7_qual import acts
from sense7_qual.codebook import Codebook
from sense7_qual.store import Store
from tests.helpers import lab as labs
from tests.helpers.coding_page import cell, enter, saved, study

N_CHARACTERS, N_SPANS, N_PRESSES = 200_000, 2_000, 40
# Notes the milliseconds from a press until the frame after it was painted: the widget draws before that.
PRESSED = """addEventListener('keydown', event => {
  window.painted = new Promise(done => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => done(performance.now() - event.timeStamp);
    port2.postMessage(0);
  }));
}, true)"""
PAINTED = "() => window.painted"


def text(lines: bool) -> str:
    rng = np.random.default_rng(5)
    words = ["so", "it", "listened", "and", "then", "told", "me", "what", "kindness", "would", "have", "been"]
    drawn = rng.choice(words, N_CHARACTERS // 4)
    joined = [" ".join(drawn[at : at + 100]) for at in range(0, len(drawn), 100)]
    return ("\n" if lines else " ").join(joined)[:N_CHARACTERS].strip()


def spent(session: CDPSession) -> float:
    """Return for how many milliseconds the page's main thread worked so far."""
    listed = session.send("Performance.getMetrics")["metrics"]
    return float(1000 * next(one["value"] for one in listed if one["name"] == "TaskDuration"))


def main() -> None:
    """Measure and print."""
    book = Codebook.read("sense7")
    codes = [code.id for code in book.codable]
    print("| text | after | presses | painted, median ms | p95 | main thread, mean ms |")
    print("|---|---|--:|--:|--:|--:|")
    for lines in (False,) if "--paragraph" in sys.argv else (False, True):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            study(place / "study", [text(lines)])
            rng = np.random.default_rng(6)
            starts = np.sort(rng.choice(N_CHARACTERS - 200, N_SPANS, replace=False))
            Store(place / "study").append(
                [acts.apply(coder="ana", unit_id="t0/1", code=codes[row % len(codes)], start=int(at),
                            end=int(at) + int(rng.integers(10, 120)), codebook=book)
                 for row, at in enumerate(starts)]
            )  # fmt: skip
            with labs.running(place / "lab") as server:
                labs.notebook(server.root / "long.ipynb", cell(place / "study"))
                with server.page() as page:
                    page.add_init_script(PRESSED)
                    enter(server, page, "long.ipynb")
                    page.wait_for_timeout(2_000)  # a long paragraph is measured once it stands still
                    session = page.context.new_cdp_session(page)
                    session.send("Performance.enable")
                    times: dict[str, list[tuple[float, float]]] = {"selection": [], "coding": []}
                    for number in range(N_PRESSES):
                        for after, key in (("selection", "w"), ("coding", str(number % 7 + 1))):
                            before = spent(session)
                            page.keyboard.press(key)
                            painted = page.evaluate(PAINTED)
                            times[after].append((painted, spent(session) - before))
                            saved(page)
                            page.wait_for_timeout(150)
                server.end_kernels()
        for after, rows in times.items():
            painted, thread = np.array(rows[5:]).T  # the first ones make the file and compile the script
            name = "lines" if lines else "one paragraph"
            print(f"| {name} | {after} | {len(painted)} | {np.median(painted):.0f} | "
                  f"{np.percentile(painted, 95):.0f} | {thread.mean():.0f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
