"""The frame of the lead's widgets: one height whatever is open, all of it in sight, and the large view."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import pytest

from sense7_qual.store import Store
from tests.helpers import lab as labs
from tests.helpers.disputes import disputed, many_codes
from tests.helpers.nightly import nightly_but

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

CELL: Final = """
import sense7_qual as qual
store = qual.Store({folder!r})
qual.widgets.{name}(store, coder="chair")
"""
# Each widget: when it is ready, and the keys after each of which it is measured.
WIDGETS: Final = {
    "CodebookWidget": (".s7-tree-figures", "ArrowDown m Escape + Escape ? Escape Alt+2 Alt+4"),
    "AdjudicationWidget": (".s7-case .s7-disputed", "a n Escape Escape t ? Escape ArrowRight"),
    "OverviewWidget": (".s7-change .s7-drift", "ArrowDown Enter ? Escape Escape"),
    "ModelCoderWidget": (
        ".s7-consent span:has-text('without a language model')",
        "m Escape c ArrowDown ? Escape ArrowRight",
    ),
    "QuotesWidget": (".s7-passage .s7-text", "p Escape r u w Escape ArrowRight ? Escape"),
}
SIZES: Final = ((1400, 900), (1280, 720), (1024, 768), (900, 1000), (900, 800))
BOX: Final = """() => {
  const {left, top, width, height, bottom} = document.querySelector('.s7').getBoundingClientRect();
  const pane = document.querySelector('.jp-NotebookPanel').getBoundingClientRect();
  return {box: [left, top, width, height].map(Math.round), inside: top >= -1 && bottom <= pane.bottom + 1};
}"""

# The labels of codes in sight, or their short names, of which a word is broken or runs over an edge.
CUT: Final = """labels => {
  const words = new Set(labels.flatMap(label => label.split(' ')));
  const isLabel = text => /\\S/.test(text)
    && text.trim().split(/\\s+/).every(word => words.has(word.replace('…', '')));
  const root = document.querySelector('.s7'), range = document.createRange(), cut = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  let n = 0;
  while (walker.nextNode()) {
    const {data, parentElement} = walker.currentNode;
    if (!isLabel(data) || !parentElement.checkVisibility() || parentElement.closest('option')) continue;
    n++;
    for (const {0: word, index} of data.matchAll(/\\S+/g)) {
      range.setStart(walker.currentNode, index);
      range.setEnd(walker.currentNode, index + word.length);
      const {left, right} = range.getBoundingClientRect();
      const lines = new Set([...range.getClientRects()].map(({top}) => Math.round(top)));
      let clips = parentElement;
      while (clips !== root && getComputedStyle(clips).overflowX === 'visible') clips = clips.parentElement;
      const edge = clips.getBoundingClientRect();
      const scrolls = /auto|scroll/.test(getComputedStyle(clips).overflowX);
      const over = !scrolls && left < edge.right && right > edge.right + 1;
      if (over || lines.size > 1) cut.push([parentElement.className, data]);
    }
  }
  return {n, cut};
}"""
READY: Final = {
    "CodebookWidget": ".s7-tree-figures",
    "AdjudicationWidget": ".s7-case .s7-disputed",
    "OverviewWidget": ".s7-change .s7-drift",
    "QuotesWidget": ".s7-passage .s7-text",
    "ThemesWidget": ".s7-theme-list",
    "CodingWidget": ".s7-text",
}

LONG: Final = [
    " ".join(
        f"In sentence {at} of {n} it asked how my sister had reacted, and it remembered." for at in range(9)
    )
    for n in range(8)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return disputed(tmp_path / "study", LONG).path


@pytest.mark.parametrize("name", nightly_but(WIDGETS, here=["CodebookWidget", "QuotesWidget"]))
def test_nothing_that_opens_moves_the_frame(lab: labs.Lab, folder: Path, name: str) -> None:
    ready, keys = WIDGETS[name]
    labs.notebook(lab.root / f"{name}.ipynb", CELL.format(folder=str(folder), name=name))
    with lab.page(width=1400, height=900, new=True) as page:
        lab.open(page, f"{name}.ipynb")
        page.wait_for_selector(ready)
        page.locator(".jp-InputArea").evaluate_all("all => all.forEach(one => one.style.display = 'none')")
        for width, height in SIZES:
            labs.resized(page, width, height)
            page.locator(".s7").focus()
            page.locator(".s7").evaluate("root => root.scrollIntoView({block: 'nearest'})")
            page.wait_for_timeout(300)
            first = page.evaluate(BOX)
            assert first["inside"]
            for key in keys.split():
                page.keyboard.press(key)
                page.wait_for_timeout(150)
                assert (width, key, page.evaluate(BOX)) == (width, key, first)
            page.keyboard.press("F")
            page.wait_for_timeout(150)
            assert page.evaluate(BOX)["box"] == [0, 0, width, height]
            page.keyboard.press("F")
            page.wait_for_timeout(300)
            assert page.evaluate(BOX) == first


@pytest.mark.parametrize("name", nightly_but(READY, here=["CodebookWidget"]))
@pytest.mark.parametrize("codes", nightly_but(["seven", "many"], here=["many"]))
def test_no_word_of_a_label_is_broken_or_cut(lab: labs.Lab, tmp_path: Path, name: str, codes: str) -> None:
    store = many_codes(tmp_path / "study") if codes == "many" else disputed(tmp_path / "study", LONG)
    more = ""
    if name == "CodingWidget":  # without a round the inbox is shown first
        more = ", round='one'" if codes == "seven" else ""
    elif codes == "many" and name != "ThemesWidget":
        more = ", without_round=True"
    cell = (
        f"import sense7_qual as qual\nqual.widgets.{name}(qual.Store({str(store.path)!r}), "
        f"coder='anabel'{more})"
    )
    labs.notebook(lab.root / "labels.ipynb", cell)
    labels = [code.label for code in store.codebook]
    with lab.page(width=1400, height=900, new=True) as page:
        lab.open(page, "labels.ipynb")
        page.wait_for_selector(READY[name])
        for width, height in SIZES:
            labs.resized(page, width, height)
            found = page.evaluate(CUT, labels)
            assert (width, height, found["cut"]) == (width, height, [])
            assert found["n"] or name == "ThemesWidget"


SLOW: Final = """
import time
import sense7_qual as qual
class Slow(qual.widgets.{name}):
    def _receive(self, *message):
        time.sleep({seconds})
        super()._receive(*message)
store = qual.Store({folder!r})
Slow(store, coder="chair")
"""


@pytest.mark.parametrize("seconds", nightly_but([0, 0.2], here=[0.2]))
@pytest.mark.parametrize(
    ("name", "presses", "kind"), [("AdjudicationWidget", "a1", "rule"), ("QuotesWidget", "a", "quote")]
)
def test_each_of_twenty_decisions_is_recorded_however_fast_they_are_pressed(
    lab: labs.Lab, folder: Path, name: str, presses: str, kind: str, seconds: float
) -> None:
    store = Store(folder)
    labs.notebook(lab.root / "fast.ipynb", SLOW.format(folder=str(folder), name=name, seconds=seconds))
    with lab.page(new=True) as page:
        lab.open(page, "fast.ipynb")
        page.wait_for_selector(WIDGETS[name][0])
        page.locator(".s7").focus()
        for n, delay in enumerate((0, 5, 15, 25, 40), 1):
            page.keyboard.type(presses * 20, delay=delay)
            recorded, end = -1, 0.0
            while recorded < 20 * n and (len(store.acts(kind=kind)) > recorded or time.monotonic() < end):
                if (
                    now := len(store.acts(kind=kind))
                ) > recorded:  # one after the other, also on a slow machine
                    recorded, end = now, time.monotonic() + 60
                page.wait_for_timeout(200)
            assert (delay, len(store.acts(kind=kind))) == (delay, 20 * n)
