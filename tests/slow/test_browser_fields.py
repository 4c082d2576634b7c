"""Hostile strings in what the coding widget shows and in each of its fields: words, nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page

import sense7_qual as qual
from tests.helpers import lab as labs
from tests.helpers.coding_page import enter, saved
from tests.helpers.hostile_words import drawn

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

WORDS = drawn(2)
# What no word may bring into the page, and what it may not have run.
STRANGE = """() => [
  window.ran ?? null,
  [...document.querySelectorAll('.s7 :is(script, img, iframe, object, embed, math, style, base, form, b i)')]
    .map(each => each.outerHTML),
  [...document.querySelectorAll('.s7 *')].flatMap(each => each.getAttributeNames())
    .filter(name => name.startsWith('on') || name === 'href'),
]"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study whose texts, ids, people, conversations, variables and codes are the hostile strings."""
    names = [f"{word}#{place}" for place, word in enumerate(WORDS)]
    units = pd.DataFrame(
        {
            "unit_id": names,
            "text": WORDS,
            "document_id": names,
            "case_id": names,
            "position": 1,
            "condition": [WORDS[place % 7] for place in range(len(WORDS))],
            "context": [json.dumps([{"role": "user", "text": word}]) for word in WORDS],
        }
    )
    codes = tuple(
        qual.Code(id=f"c{place}", label=word, definition=word, use_when=(word,), examples=(word,))
        for place, word in enumerate(dict.fromkeys(word.strip() for word in WORDS[:24]))
    )
    store = qual.Store.create(
        tmp_path / "study", units=units, codebook=qual.Codebook(name=WORDS[0], codes=codes)
    )
    store.set_options(new_codes="add", coder="lead")
    return tmp_path / "study"


def _sound(page: Page, where: str) -> None:
    ran, elements, attributes = page.evaluate(STRANGE)
    assert (where, ran, elements, attributes) == (where, None, [], [])


def _each(page: Page, field: str, *, wait: str | None = None) -> None:
    """Write each of the strings into a field, and look at the page."""
    for word in WORDS:
        page.locator(field).fill(word)
        assert page.locator(field).input_value() == word.replace("\n", "")
        if wait:
            page.wait_for_selector(wait)
        _sound(page, f"{field} {word}")


def test_hostile_words_are_shown_and_kept_as_words(lab: labs.Lab, folder: Path) -> None:
    labs.notebook(
        lab.root / "fields.ipynb",
        f"import sense7_qual as qual\nqual.widgets.CodingWidget(qual.Store({str(folder)!r}), coder='ana')",
    )
    with lab.page() as page:
        enter(lab, page, "fields.ipynb")
        for place, word in enumerate(WORDS):
            page.wait_for_function(
                "id => document.querySelector('.s7-unit-id')?.innerText === id", arg=f"{word}#{place}"
            )
            assert page.locator(".s7-text").evaluate("box => box.textContent") == word
            _sound(page, word)
            page.locator(".s7-memo textarea").fill(word)
            page.locator(".s7").focus()
            page.keyboard.press("ArrowRight")
        saved(page)
        page.locator(".s7-texts-button").click()
        _each(page, ".s7-find")
        page.locator(".s7-find").fill("")
        page.locator(".s7").focus()
        page.keyboard.press("/")
        _each(page, ".s7-filter")
        page.keyboard.press("Escape")
        page.locator(".s7").focus()
        page.keyboard.press("+")
        _each(page, ".s7-new-label")
        _each(page, ".s7-new-definition")
        page.locator(".s7-new-label").fill("Hope " + WORDS[0])
        page.locator(".s7-new-definition").fill(WORDS[1])
        page.locator(".s7-new-send").click()
        saved(page)
        page.wait_for_selector(".s7-new-code", state="detached")
        _sound(page, "the new code")
    store = qual.Store(folder)
    memos = store.memos(coder="ana").set_index("target_id")["text"].to_dict()
    assert memos == {f"{word}#{place}": word for place, word in enumerate(WORDS)}
    added = store.codebook.codes[-1]
    assert (added.label, added.definition) == ("Hope " + WORDS[0], WORDS[1])
