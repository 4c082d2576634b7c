"""Typing faster than texts come: every press is for the text that it was meant for, in a real JupyterLab."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page

import sense7_qual as qual
from sense7_qual.codebook import Code, Codebook
from tests.helpers import lab as labs
from tests.helpers.coding_page import cell, enter, press, saved, shows, spans, study

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

CODES = qual.Codebook.read("sense7").ids
N_TEXTS = 1_000 if os.environ.get("SOAK") else 40  # each way to code comes in every forty


MARKS = r"""() => [...document.querySelectorAll('.s7-mark')].map(mark => [
  mark.textContent,
  getComputedStyle(mark).backgroundImage.match(/rgb\([\d, ]+\)/g)])"""


def typed(place: int) -> str:
    """Return the keys for the text at `place`, in several ways to code it; \\n is Enter."""
    key, other = str(place % 7 + 1), str((place + 1) % 7 + 1)
    ways = [key, f"w{key}", f"{other}z{key}", f"mn1d{place}|{key}"]
    return f"{ways[{2: 1, 18: 2, 39: 3}.get(place % 40, 0)]}\n"


def write(page: Page, keys: str) -> None:
    """Press the keys, 5 ms a key; | is Escape."""
    for number, piece in enumerate(keys.split("|")):
        if number:
            page.keyboard.press("Escape")
        page.keyboard.type(piece, delay=5)


def test_no_press_is_lost_or_codes_another_text_at_5_ms_a_key(lab: labs.Lab, tmp_path: Path) -> None:
    folder = study(tmp_path / "study", [f"Word and {place}." for place in range(N_TEXTS)])
    labs.notebook(lab.root / "fast.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "fast.ipynb")
        write(page, "".join(typed(place) for place in range(N_TEXTS)))
        page.set_default_timeout(450 * N_TEXTS + 90_000)
        saved(page)
        page.wait_for_selector(".s7-all-done")
    expected = [
        (f"t{place}/1", CODES[place % 7], "Word" if place % 40 == 2 else None) for place in range(N_TEXTS)
    ]
    assert sorted(spans(folder), key=str) == sorted(expected, key=str)
    store = qual.Store(folder)
    assert len(store.coverage()) == N_TEXTS
    memos = store.memos()
    assert dict(zip(memos["target_id"], memos["text"], strict=True)) == {
        f"t{place}/1": f"n1d{place}" for place in range(39, N_TEXTS, 40)
    }


def test_enter_in_the_filter_applies_and_the_next_enter_finishes(lab: labs.Lab, tmp_path: Path) -> None:
    codes = [Code(id=f"c{number}", label=f"Topic {number}", definition="Said.") for number in range(12)]
    book = Codebook(name="topics", codes=tuple(codes))
    folder = study(tmp_path / "study", [f"Text {place}." for place in range(6)], codebook=book)
    labs.notebook(lab.root / "filter.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "filter.ipynb")
        for place in range(2):
            page.keyboard.type(f"/topic {place + 10}\n\n", delay=5)
        shows(page, "t2/1")
        assert page.locator(".s7-filter").input_value() == ""
        # The same by Tab and Enter on the code's own button, and by its click.
        page.keyboard.type("/topic 11", delay=5)
        page.keyboard.press("Tab")
        page.keyboard.type("\n\n", delay=5)
        shows(page, "t3/1")
        page.keyboard.press("Escape")
        page.locator(".s7-code", has_text="Topic 11").click()
        page.keyboard.press("Enter")
        shows(page, "t4/1")
        # What stands already is not taken away by looking for it again.
        page.keyboard.type("/topic 11\n/topic 11\n\n", delay=5)
        saved(page)
        shows(page, "t5/1")
        # Two codings of which one lies in the other are seen as two: a label, a colour and a line each.
        press(page, "s", "1", "Escape", "w", "2")
        marks = page.evaluate(MARKS)
        assert [text for text, _ in marks] == ["Text", " 5."]
        assert [len(set(colours)) for _, colours in marks] == [2, 1]
        assert page.locator(".s7-margin .s7-coding strong").all_inner_texts() == ["0", "1"]
    expected = [(f"t{place}/1", f"c{code}", None) for place, code in enumerate((10, 11, 11, 11, 11))]
    assert sorted(spans(folder)) == [*expected, ("t5/1", "c0", "Text 5."), ("t5/1", "c1", "Text")]
    assert len(qual.Store(folder).coverage()) == 5
