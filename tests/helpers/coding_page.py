"""A study, its coding widget in a notebook, and what a coder does there, for the browser tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from playwright.sync_api import Page

import sense7_qual as qual
from sense7_qual.codebook import Codebook
from tests.helpers import lab as labs
from tests.helpers.places import ROOT

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
SENTINEL = "Zitronenfalter-4711"
TEXTS = [
    "It remembered what I said 👍🏽 about my exam, but then it lectured me. I felt unheard.",
    f"Only {SENTINEL} knows.",
    "🇩🇪 cafe\u0301 – it asked how my sister had reacted.",
    "كان لطيفا جدا معي",
    "line one\nline two\n\nline four <b>not bold</b> & so on",
]


def study(folder: Path, texts: Sequence[str] = TEXTS, *, codebook: str | Codebook = "sense7") -> Path:
    """Make a study of these texts, one conversation with its context and ratings."""
    context = json.dumps(
        [{"role": "user", "text": f"Hello {SENTINEL}"}, {"role": "assistant", "text": "Hi."}]
    )
    units = pd.DataFrame(
        {
            "unit_id": [f"t{place}/1" for place in range(len(texts))],
            "text": texts,
            "document_id": "d1",
            "case_id": "p1",
            "position": range(1, len(texts) + 1),
            "context": context,
            "EmpathyOverall": [(2.0, 3.0, 5.0, None, 1.0)[place % 5] for place in range(len(texts))],
        }
    )
    book = Codebook.read(codebook) if isinstance(codebook, str) else codebook
    qual.Store.create(folder, units=units, codebook=book)
    return folder


def cell(folder: Path, **options: object) -> str:
    """Return the notebook cell that shows ana's widget."""
    rest = "".join(f", {name}={value!r}" for name, value in options.items())
    return (
        "import sense7_qual as qual\n"
        "from sense7_qual.widgets import CodingWidget\n"
        f"store = qual.Store({str(folder)!r})\n"
        "widget = CodingWidget(store.units, store.codebook, coder='ana', acts=store.acts(coder='ana'), "
        f"save=store.append, rating='EmpathyOverall'{rest})\n"
        "widget"
    )


def enter(lab: labs.Lab, page: Page, name: str, *, host: str = "lab/tree") -> None:
    """Open the notebook, run it, and go into the widget."""
    lab.open(page, name, host=host)
    page.wait_for_selector(".s7-text")
    lab.wait_quiet(page)
    page.locator(".s7").focus()


def saved(page: Page) -> None:
    """Wait until everything is in the record."""
    page.wait_for_selector(".s7-saved")


def press(page: Page, *keys: str) -> None:
    """Press keys and wait until what they did is in the record."""
    for key in keys:
        page.keyboard.press(key)
    saved(page)


def leave(page: Page) -> None:
    """Give the keyboard back to the notebook: two presses of Escape, neither of them one of a burst."""
    for _ in range(2):
        page.wait_for_timeout(400)
        page.keyboard.press("Escape")


def shows(page: Page, unit_id: str) -> None:
    """Wait until this unit is on screen."""
    page.wait_for_function("id => document.querySelector('.s7-unit-id')?.innerText === id", arg=unit_id)


def spans(folder: Path) -> list[tuple[str, str, str | None]]:
    """Return unit, code and quoted text of each of ana's codings, from the record."""
    store = qual.Store(folder)
    texts = store.units.set_index("unit_id")["text"]
    rows = store.codings()
    return [
        (row.unit_id, row.code, None if pd.isna(row.start) else texts[row.unit_id][row.start : row.end])
        for row in rows.itertuples()
    ]


RECTANGLE = """([from, to]) => {
  const box = document.querySelector('.s7-text');
  const nodes = [], walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) nodes.push(walker.currentNode);
  const at = (offset) => {
    for (const node of nodes) { if (offset <= node.length) return [node, offset]; offset -= node.length; }
  };
  const range = document.createRange();
  range.setStart(...at(from)); range.setEnd(...at(to));
  const first = range.getClientRects()[0], rects = range.getClientRects(), last = rects[rects.length - 1];
  return [first.left, first.top + first.height / 2, last.right, last.top + last.height / 2];
}"""


def ends(
    page: Page, text: str, quote: str, start: int | None = None
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return where on screen the quote (or the one at `start`) begins and ends, half a pixel within it."""
    start = text.index(quote) if start is None else start
    units = [len(text[:end].encode("utf-16-le")) // 2 for end in (start, start + len(quote))]
    left, top, right, bottom = page.evaluate(RECTANGLE, units)
    return (left + 0.5, top), (right - 0.5, bottom)


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag the mouse from one place to another."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    page.mouse.move(*end)
    page.mouse.up()


def sound(page: Page, where: str) -> None:
    """Assert that axe finds nothing in the widget."""
    page.add_script_tag(path=str(AXE))
    found = page.evaluate(
        "() => axe.run('.s7', {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"
        ".then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.html + n.failureSummary)]))"
    )
    assert (where, found) == (where, [])
