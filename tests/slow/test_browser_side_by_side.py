"""All widgets in one notebook: the style sheet of each changes how that widget looks, and no other."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from sense7_qual import acts
from tests.helpers import lab as labs
from tests.helpers.disputes import disputed

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

WORDS = ["queue slow minutes", "kind warm caring", "wrong fact source"]


def embed(texts: list[str]) -> np.ndarray:
    listed = " ".join(WORDS).split()
    counts = np.array([[text.split().count(word) for word in listed] for text in texts], dtype=float)
    return counts + 0.01 + np.array([len(text) % 7 for text in texts])[:, None] / 50


FIRST = """
import numpy as np
import sense7_qual as qual
WORDS = {words!r}
{embed}
store = qual.Store({folder!r})
if not store.acts(kind="record_themes"):
    store.record_themes(
        qual.themes.fit(store.units, embed=embed, granularity=1.0, n_resamples=2), coder="lead"
    )
"""
WIDGETS = {
    "coding": "qual.widgets.CodingWidget(store, coder='anabel', round='one')",
    "codebook": "qual.widgets.CodebookWidget(store, coder='lead')",
    "adjudication": "qual.widgets.AdjudicationWidget(store, coder='lead')",
    "overview": "qual.widgets.OverviewWidget(store, coder='lead')",
    "themes": "qual.widgets.ThemesWidget(store, coder='lead', embed=embed)",
    "quotes": "qual.widgets.QuotesWidget(store, coder='lead')",
    "modelcoder": "qual.widgets.ModelCoderWidget(store, coder='lead')",
}
READY = {
    "coding": ".s7-text-pane .s7-text",
    "codebook": ".s7-tree-figures",
    "adjudication": ".s7-case .s7-disputed",
    "overview": ".s7-door",
    "themes": "canvas.s7-map",
    "quotes": ".s7-passage .s7-text",
    "modelcoder": ".s7-prompt p",
}
# What is opened in a widget, by which key; and where the focus is for it, other than on the whole.
OPENED = [
    ("coding", ":", ".s7-side[aria-label=Memos]"),
    ("codebook", "m", ".s7-revision .s7-merge-form"),
    ("adjudication", "?", ".s7-help"),
    ("themes", "m", ".s7-themes .s7-merge-form"),
    ("quotes", "p", ".s7-paraphrase"),
    ("modelcoder", "m", ".s7-said .s7-box"),
]
HERE = {"codebook": " .s7-tree", "themes": " .s7-theme-rows"}
# Which of the page's sheets the looks of a widget hang on: those without which an element of it, or what
# stands before or after it, looks otherwise.
HANG_ON = """() => {
  const sheets = [...document.styleSheets].filter(one => one.ownerNode.textContent.includes('.s7'));
  const looks = root => [root, ...root.querySelectorAll('*')].map(element =>
    [null, '::before', '::after'].map(part => {
      const style = getComputedStyle(element, part);
      if (part && style.content === 'none') return '';
      return Array.from(style, name => name + ':' + style.getPropertyValue(name)).join(';');
    }).join('|'));
  const roots = [...document.querySelectorAll('.s7')];
  const hangs = roots.map(() => []);
  sheets.forEach((sheet, number) => {
    const before = roots.map(looks);
    sheet.disabled = true;
    roots.forEach((root, at) => {
      const n = looks(root).filter((each, nth) => each !== before[at][nth]).length;
      if (n) hangs[at].push([number, n]);
    });
    sheet.disabled = false;
  });
  const named = roots.map((root, at) => [root.ariaLabel, hangs[at]]);
  return {sheets: sheets.length, hangs: Object.fromEntries(named)};
}"""


def study(folder: Path) -> Path:
    """Make a study with disagreements, half of them settled, for all seven widgets."""
    texts = [f"{WORDS[at % 3]} n{at} 👍🏽 and it listened to me." for at in range(60)]
    store = disputed(folder, texts)
    codes, named = (
        [code.id for code in store.codebook.codable],
        {"coder": "chair", "codebook": store.codebook},
    )
    store.append(
        [acts.rule(unit_id=f"t{at:02}", code=codes[at % 3], applied=True, **named) for at in range(0, 60, 2)]
    )
    return Path(store.path)


def enter(lab: labs.Lab, page: Page, folder: Path, name: str, widgets: list[str]) -> None:
    """Show the widgets, each in a cell, with what opens in them open: lists, forms, keys."""
    first = FIRST.format(folder=str(folder), words=WORDS, embed=inspect.getsource(embed))
    labs.notebook(lab.root / name, first, *(WIDGETS[widget] for widget in widgets))
    lab.open(page, name)
    for widget in widgets:
        page.wait_for_selector(READY[widget])
    for widget, key, opened in OPENED:
        if widget in widgets:
            page.locator(f".s7:has({READY[widget]}){HERE.get(widget, '')}").focus()
            page.keyboard.press(key)
            page.wait_for_selector(opened)
    page.mouse.move(0, 0)
    page.evaluate("() => document.activeElement.blur()")


def test_no_widget_changes_how_another_looks(lab: labs.Lab, tmp_path: Path) -> None:
    folder = study(tmp_path / "study")
    with lab.page() as page:
        enter(lab, page, folder, "all.ipynb", list(WIDGETS))
        found: dict[str, Any] = page.evaluate(HANG_ON)
    assert found["sheets"] == len(found["hangs"]) == len(WIDGETS)
    assert {widget: len(sheets) for widget, sheets in found["hangs"].items()} == dict.fromkeys(
        found["hangs"], 1
    ), found
