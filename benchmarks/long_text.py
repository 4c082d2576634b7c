"""How long does the coding widget take from a key to its picture and to the record, in short and long texts?

    python -m benchmarks.long_text [CHECKOUT …]

In a stock JupyterLab and Chromium: words are selected by key and coded, 20 times, in a text of 600
characters with six codings and in texts of 200,000 with 300 and 2,000 (one paragraph, or lines of 100
words). From the key press to the frame that shows it, painted (of which up to 16 ms wait for the screen),
what the browser's main thread did for it, and from the key press to the kernel's answer that it is
recorded. Other checkouts of the project are measured in turn with this one, and each line says what this
one takes as a share of them. Prints Markdown. Needs Chromium.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from playwright.sync_api import CDPSession, Page

from tests.helpers import lab as labs
from tests.helpers.coding_page import enter
from tests.helpers.places import ROOT

N_PRESSES, N_WARM, N_TURNS = 20, 5, 2
# Characters, codings, characters that end a line of 100 words.
TEXTS = {
    "600 characters, 6 codings": (600, 6, " "),
    "200,000 in lines, 300 codings": (200_000, 300, "\n"),
    "200,000 in one paragraph, 300 codings": (200_000, 300, " "),
    "200,000 in one paragraph, 2,000 codings": (200_000, 2_000, " "),
}
CELL = """
import json, sys
sys.path.insert(0, {tree!r})
import pandas as pd
import sense7_qual as qual
from sense7_qual import acts
from sense7_qual.widgets import CodingWidget
assert qual.__file__.startswith({tree!r})
text, spans = json.load(open({given!r}))
book = qual.Codebook.read("sense7")
codes = [code.id for code in book.codable]
ids = {{"unit_id": ["t0/1"], "document_id": "d1", "case_id": "p1", "position": 1}}
units = pd.DataFrame({{**ids, "text": [text]}})
store = qual.Store.create({folder!r}, units=units, codebook=book)
_ = store.append([acts.apply(coder="ana", unit_id="t0/1", code=codes[row % len(codes)], start=start, end=end,
                             codebook=book) for row, (start, end) in enumerate(spans)])
CodingWidget(store, coder="ana")
"""
# Notes the milliseconds from a press until the frame after it was painted (the widget draws before that), and
# until the coding that it made is recorded.
PRESSED = """addEventListener('keydown', event => {
  const since = () => performance.now() - event.timeStamp;
  window.painted = new Promise(done => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => done(since());
    port2.postMessage(0);
  }));
  const pending = () => document.querySelector('.s7 .s7-text .s7-pending');
  window.recorded = new Promise(done => {
    let seen = false;
    const watch = new MutationObserver(() => {
      seen ||= !!pending();
      if (!seen || pending()) return;
      watch.disconnect();
      done(since());
    });
    watch.observe(document.querySelector('.s7'), {subtree: true, childList: true, attributes: true});
  });
}, true)"""


@dataclass
class Times:
    """What presses took, in milliseconds: until painted, of the main thread, until recorded."""

    selected: list[tuple[float, float]] = field(default_factory=list)
    coded: list[tuple[float, float]] = field(default_factory=list)
    recorded: list[float] = field(default_factory=list)

    def medians(self) -> tuple[float, ...]:
        """Return the medians of the five columns."""
        both = [np.median(rows, axis=0) for rows in (self.selected, self.coded)]
        return (*both[0], *both[1], float(np.median(self.recorded)))


def text(n_characters: int, end_of_line: str) -> str:
    rng = np.random.default_rng(5)
    words = ["so", "it", "listened", "and", "then", "told", "me", "what", "kindness", "would", "have", "been"]
    drawn = rng.choice(words, n_characters // 4)
    joined = [" ".join(drawn[at : at + 100]) for at in range(0, len(drawn), 100)]
    return end_of_line.join(joined)[:n_characters].strip()


def spans(n_characters: int, n_codings: int) -> list[tuple[int, int]]:
    rng = np.random.default_rng(6)
    starts = np.sort(rng.choice(n_characters - 200, n_codings, replace=False))
    return [(int(start), int(start + rng.integers(10, 120))) for start in starts]


def spent(session: CDPSession) -> float:
    """Return for how many milliseconds the page's main thread worked so far."""
    listed = session.send("Performance.getMetrics")["metrics"]
    return float(1000 * next(one["value"] for one in listed if one["name"] == "TaskDuration"))


def presses(page: Page) -> Iterator[tuple[int, str, float, float]]:
    """Select and code word after word: number, key, milliseconds until painted and of the main thread."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    for number in range(N_PRESSES + N_WARM):
        for key in ("w", str(number % 7 + 1)):
            before = spent(session)
            page.keyboard.press(key)
            painted = page.evaluate("() => window.painted")
            yield number, key, painted, spent(session) - before
            page.wait_for_timeout(150)


def measure(server: labs.Lab, tree: Path, given: Path, times: Times) -> None:
    """Add what the widget of a checkout takes."""
    with tempfile.TemporaryDirectory() as folder:
        code = CELL.format(tree=str(tree), given=str(given), folder=f"{folder}/study")
        labs.notebook(server.root / "long.ipynb", code)
        with server.page(new=True) as page:
            page.add_init_script(PRESSED)
            enter(server, page, "long.ipynb")
            page.wait_for_timeout(2_000)  # a long paragraph is measured once it stands still
            for number, key, painted, thread in presses(page):
                recorded = None if key == "w" else page.evaluate("() => window.recorded")
                if number < N_WARM:  # the first ones make the file and compile the script
                    continue
                (times.selected if key == "w" else times.coded).append((painted, thread))
                if recorded is not None:
                    times.recorded.append(recorded)
        server.end_kernels()


def main() -> None:
    """Measure and print."""
    trees = [*(Path(name).resolve() for name in sys.argv[1:]), ROOT]
    print("| text | version | selection painted | main thread | coding painted | main thread | recorded |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for name, (n_characters, n_codings, end_of_line) in TEXTS.items():
        with tempfile.TemporaryDirectory() as folder, labs.running(Path(folder) / "lab") as server:
            given = Path(folder) / "text.json"
            given.write_text(json.dumps([text(n_characters, end_of_line), spans(n_characters, n_codings)]))
            times = {tree: Times() for tree in trees}
            for tree in [*trees] * N_TURNS:
                measure(server, tree, given, times[tree])
        medians = {tree: times[tree].medians() for tree in trees}
        for tree in trees:
            print(f"| {name} | {tree.name} | " + " | ".join(f"{one:.1f}" for one in medians[tree]) + " |")
        for tree in trees[:-1]:
            shares = np.divide(medians[ROOT], medians[tree])
            print(f"| | of {tree.name} | " + " | ".join(f"{one:.0%}" for one in shares) + " |", flush=True)


if __name__ == "__main__":
    main()
