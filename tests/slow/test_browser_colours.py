"""Codes keep their colours on the screen when others are merged and split, while drafting and once saved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

import sense7_qual as qual
from tests.helpers import lab as labs
from tests.helpers.coding_page import study

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

CELLS = (
    "import sense7_qual as qual\nstore = qual.Store({folder!r})\n"
    "qual.widgets.CodebookWidget(store, coder='lead')",
    "qual.widgets.CodingWidget(qual.Store({folder!r}), coder='ana')",
)
# Label and drawn line of each code.
DRAWN = """([rows, label]) => Object.fromEntries([...document.querySelectorAll(rows)]
  .filter(row => row.querySelector('.s7-sample'))
  .map(row => [row, getComputedStyle(row.querySelector('.s7-sample')).backgroundImage])
  .map(([row, line]) => [row.querySelector(label).textContent, line]))"""
IN_CODEBOOK = [".s7-codebook-widget .s7-tree-row", ".s7-tree-label"]
IN_CODING = [".s7-coding-widget .s7-code", ".s7-label"]


def mark(page: Page, label: str, key: str, form: str) -> None:
    """Mark a code of the draft, and open the form of a key."""
    page.locator(".s7-tree-label", has_text=label).click()
    page.locator(".s7-tree").focus()
    page.keyboard.press(key)
    page.wait_for_selector(f"{form}:focus")


def stepped(page: Page, n: int) -> None:
    """Take the step of the form that is open; wait until the draft has this many."""
    page.keyboard.press("Enter")
    page.wait_for_function("n => document.querySelectorAll('.s7-steps li').length === n", arg=n)


def test_ten_merges_and_splits_leave_the_colours_of_all_other_codes(lab: labs.Lab, tmp_path: Path) -> None:
    sense7 = qual.Codebook.read("sense7")
    more = (qual.Code(id=f"c{n}", label=f"Code {n} without a colour") for n in range(10, 20))
    book = replace(sense7, codes=(*sense7.codes, *more))
    folder, labels = study(tmp_path / "study", codebook=book), [code.label for code in book]
    labs.notebook(lab.root / "colours.ipynb", *(cell.format(folder=str(folder)) for cell in CELLS))
    with lab.page() as page:
        lab.open(page, "colours.ipynb")
        page.wait_for_selector(".s7-coding-widget .s7-code")
        page.wait_for_selector(".s7-tree-figures")
        coded = page.evaluate(DRAWN, IN_CODING)
        assert list(coded) == labels
        assert len(set(coded.values())) == 17
        before = page.evaluate(DRAWN, IN_CODEBOOK)
        for n, (split, merged, into) in enumerate(zip(labels[4:9], labels[9:14], labels[:5], strict=True)):
            mark(page, split, "s", ".s7-split-form input")
            for part in range(2):
                page.locator(".s7-split-form input").nth(part).fill(f"Part {n}.{part}")
            stepped(page, 2 * n + 1)
            mark(page, merged, "m", ".s7-merge-form select")
            page.locator(".s7-merge-form select").select_option(label=into if n < 4 else labels[16])
            stepped(page, 2 * n + 2)
            now = page.evaluate(DRAWN, IN_CODEBOOK)
            assert {one: now.get(one) for one in before} == before | dict.fromkeys((split, merged))
            assert len(set(now.values())) == len(now) == 17
            before = now
        mark(page, "Part 4.0", "w", ".s7-why")
        page.keyboard.type("Two things each.")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".s7-saved-note")
        assert page.evaluate(DRAWN, IN_CODEBOOK) == before
        lab.run_all(page)
        page.wait_for_function(
            "([code]) => document.querySelectorAll(code).length && document.querySelector('.s7-codes')"
            "?.textContent.includes('Part 4.0')",
            arg=IN_CODING,
        )
        assert page.evaluate(DRAWN, IN_CODING) == before
    assert {one: before[one] for one in before if one in coded} == {
        one: coded[one] for one in coded if one in before
    }
