"""After one Escape too many no key reaches the notebook around a widget: its cells stay as they are."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page

from tests.helpers import lab as labs
from tests.helpers.disputes import disputed
from tests.helpers.nightly import nightly_but

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

CELL: Final = """
import numpy as np
import sense7_qual as qual
store = qual.Store({folder!r})
def embed(texts):
    return np.array([[len(text) % 7, len(text) % 5, 1.0] for text in texts])
qual.widgets.{name}(store, coder={coder!r}{more})
"""
# Each widget: when it is ready, whose it is, what else it is given.
WIDGETS: Final = {
    "CodingWidget": (".s7-text-pane .s7-text", "anabel", ", round='one'"),
    "CodebookWidget": (".s7-tree-figures", "chair", ""),
    "AdjudicationWidget": (".s7-case .s7-disputed", "chair", ""),
    "OverviewWidget": (".s7-door", "chair", ""),
    "ThemesWidget": (".s7-themes-widget .s7-header", "chair", ", embed=embed"),
    "QuotesWidget": (".s7-passage .s7-text", "chair", ""),
}
# Where they reach JupyterLab, these cut, delete, copy, paste, insert, edit, undo, run cells, turn them into
# Markdown or headings, restart or interrupt the kernel.
KEYS: Final = [
    *string.ascii_letters,
    *string.digits,
    "d d",
    "0 0",
    "i i",
    "Delete",
    "Backspace",
    "Enter",
    "Space",
    "Shift+Enter",
    "Control+Enter",
    "Alt+Enter",
    "ArrowUp",
    "ArrowDown",
    "Home",
    "End",
]
NOTEBOOK: Final = """() => {
  const panel = window.jupyterapp.shell.currentWidget;
  return {
    cells: panel.content.model.sharedModel.toJSON().cells
      .map(one => [one.cell_type, one.source, one.execution_count]),
    kernel: panel.sessionContext.session.kernel.id,
    status: panel.sessionContext.session.kernel.status,
    dialogs: document.querySelectorAll('.jp-Dialog').length,
    within: !!document.activeElement.closest('.s7'),
  };
}"""
NOTES: Final = """() => addEventListener('keydown', ({key}) => {
  if (key === 'Escape') (window.escapes ??= []).push(Date.now());
}, true)"""


def when_idle(page: Page) -> dict[str, Any]:
    """Return the notebook at a moment at which the kernel does nothing."""
    seen = page.wait_for_function(
        f"() => {{ const now = ({NOTEBOOK})(); return now.status === 'idle' ? now : null; }}"
    )
    return dict(seen.json_value())


def escape_twice(page: Page) -> None:
    """Press Escape twice within 0.3 s; a pair that a slow machine pulled apart leaves, and does not count."""
    while True:
        for _ in range(2):
            page.keyboard.press("Escape")
        first, second = page.evaluate("() => window.escapes.slice(-2)")
        if second - first < 300:
            return
        page.locator(".s7").focus()


@pytest.mark.parametrize("name", nightly_but(WIDGETS, here=["CodingWidget"]))
def test_no_key_after_an_escape_changes_the_notebook(lab: labs.Lab, tmp_path: Path, name: str) -> None:
    ready, coder, more = WIDGETS[name]
    folder = disputed(
        tmp_path / "study", [f"It asked how {n} felt, and it listened to me." for n in "abcdefgh"]
    ).path
    code = CELL.format(folder=str(folder), name=name, coder=coder, more=more)
    labs.notebook(lab.root / "hostile.ipynb", "1 + 1", code, "2 + 2")
    with lab.page(new=True) as page:
        lab.open(page, "hostile.ipynb")
        page.wait_for_selector(ready)
        lab.wait_idle(page)
        page.evaluate(NOTES)
        page.locator(".s7").focus()
        before = when_idle(page)
        for n in (1, 2):
            for keys in KEYS:
                page.keyboard.press("Escape") if n == 1 else escape_twice(page)
                for key in keys.split():
                    page.keyboard.press(key)
                assert (n, keys, page.evaluate(NOTEBOOK)["within"]) == (n, keys, True)
        assert when_idle(page) == before
