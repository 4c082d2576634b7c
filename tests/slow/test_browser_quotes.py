"""Choosing quotes in a real JupyterLab: by keys and mouse, a killed kernel, hostile words, axe."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Page

import sense7_qual as qual
from sense7_qual import acts, report
from tests.helpers import lab as labs
from tests.helpers.axe import AXE, show_in, sound
from tests.helpers.disputes import disputed
from tests.helpers.hostile_words import drawn

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

CELL = """
import os, pathlib
import sense7_qual as qual
pathlib.Path("pid").write_text(str(os.getpid()))
store = qual.Store({folder!r})
qual.widgets.QuotesWidget(store, coder="lead", names=["lectured"])
"""
STRANGE = """() => [
  window.ran ?? null,
  [...document.querySelectorAll('.s7 :is(script, img, iframe, object, embed, math, style, base, form, a)')]
    .map(each => each.outerHTML),
  [...document.querySelectorAll('.s7 *')].flatMap(each => each.getAttributeNames())
    .filter(name => name.startsWith('on') || name === 'href'),
]"""
TEXTS = [f"It listened to me {at} times 👩‍👩‍👧 and then it lectured me." for at in range(6)]


def settled(folder: Path, texts: list[str]) -> Path:
    """Make a study of three codes, each of which was ruled to apply to a third of the texts."""
    store = disputed(folder, texts)
    codes = [code.id for code in store.codebook.codable]
    store.append(
        [
            acts.rule(
                coder="chair", unit_id=f"t{at:02}", code=codes[at % 3], applied=True, codebook=store.codebook
            )
            for at in range(len(texts))
        ]
    )
    return Path(store.path)


def enter(lab: labs.Lab, page: Page, folder: Path, name: str) -> None:
    labs.notebook(lab.root / name, CELL.format(folder=str(folder)))
    lab.open(page, name)
    page.wait_for_selector(".s7-passage .s7-text")
    page.locator(".s7").focus()


def open_now(page: Page) -> str:
    """Return which text is open, once its passage is on screen."""
    page.wait_for_selector(".s7-passage .s7-text")
    return page.locator(".s7-passage .s7-unit-id").inner_text()


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.wait_for_selector(".s7-passage .s7-text")
        page.keyboard.press(key)
        page.wait_for_selector(".s7-saved")


def test_quotes_are_chosen_by_keys_and_outlive_a_killed_kernel(lab: labs.Lab, tmp_path: Path) -> None:
    folder = settled(tmp_path / "study", TEXTS)
    with lab.page() as page:
        enter(lab, page, folder, "quotes.ipynb")
        # Shortened to two words, selected by key; then the next is paraphrased, and a word of it is marked.
        first = open_now(page)
        press(page, "w", "Shift+ArrowRight", "c", "a")
        second = open_now(page)
        assert second != first
        page.keyboard.press("p")
        page.wait_for_selector(".s7-paraphrase:focus")
        page.keyboard.type("Felt heard, then talked at.")
        page.keyboard.press("Control+Enter")
        page.wait_for_function("() => document.querySelector('.s7-numbers').innerText.startsWith('2 of')")
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => document.querySelectorAll('.s7-candidate').length === 2")
        third = open_now(page)
        assert page.locator(".s7-candidate mark").count() + page.locator(".s7-original mark").count() > 0
        page.keyboard.press("p")
        page.wait_for_selector(".s7-paraphrase:focus")
        page.keyboard.type("Half a thou")
        page.wait_for_timeout(700)  # what is typed is kept after a pause
        page.keyboard.press("Escape")
        page.wait_for_selector(".s7-saved")
        os.kill(int((lab.root / "pid").read_text()), signal.SIGKILL)
        lab.begin_again(page)
        page.locator(".s7").focus()
        page.keyboard.press("r")
        page.wait_for_selector(".s7-unsaved")
        assert "Cut off · 1 kept here" in page.locator(".s7-unsaved").text_content()
        lab.wait_idle(page)
        lab.run_all(page)
        page.wait_for_selector(".s7-passage .s7-text")
        page.wait_for_selector(".s7-saved")
        page.get_by_role("button", name="Undo", exact=True).click()
        page.wait_for_function("() => document.querySelector('.s7-status').innerText.startsWith('Undone')")
        page.wait_for_selector(".s7-saved")
    store = qual.Store(folder)
    stands = store.quotes().set_index("unit_id")
    assert stands.loc[[first, second, third], "state"].tolist() == ["approved", "approved", "chosen"]
    assert stands.loc[[second, third], "paraphrase"].tolist() == [
        "Felt heard, then talked at.",
        "Half a thou",
    ]
    assert store.verify()["ok"].all()
    codings = store.codings(round="one")
    printed = report.tables.quote(codings, store.units, codebook=store.codebook, quotes=store.quotes())
    assert "Felt heard, then talked at. [paraphrase]" in {row[1] for row in printed.rows}
    others = [row[1] for row in printed.rows if "[paraphrase]" not in row[1]]
    assert others in (["It listened […]"], ["It lis"]), "of a whole text, or of the words that were coded"


@pytest.mark.nightly
@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed (`make frontend` installs it)")
def test_hostile_words_are_words_and_axe_finds_nothing(lab: labs.Lab, tmp_path: Path) -> None:
    words = drawn(1)[:8]
    folder = settled(tmp_path / "study", [f"{word} lectured x" for word in words])
    with lab.page() as page:
        enter(lab, page, folder, "hostile.ipynb")
        page.add_script_tag(path=str(AXE))
        for word in words[:3]:
            page.wait_for_selector(".s7-passage .s7-text")
            page.keyboard.press("p")
            page.wait_for_selector(".s7-paraphrase:focus")
            page.locator(".s7-paraphrase").fill(f"Said: {word}")
            page.keyboard.press("Escape")
            page.wait_for_selector(".s7-saved")
            page.keyboard.press("ArrowDown")
            page.wait_for_selector(".s7-passage .s7-text")
            assert page.evaluate(STRANGE) == [None, [], []]
        shown = set(page.locator(".s7-candidate .s7-candidate-words").all_text_contents())
        assert len([one for one in shown if one.startswith("Said: ")]) == 3
        press(page, "a", "r")
        page.keyboard.press("p")
        page.wait_for_selector(".s7-paraphrase:focus")  # else it takes the focus later, and the "?" with it
        for theme, width in (("JupyterLab Light", 1400), ("JupyterLab Dark", 900)):
            labs.resized(page, width, 950)
            show_in(page, theme)
            sound(page, f"{theme} at {width}")
            page.keyboard.press("?")
            page.wait_for_selector(".s7-help")
            sound(page, f"keys, {theme} at {width}")
            page.keyboard.press("?")
            assert page.locator(".s7").evaluate("box => box.scrollWidth <= box.clientWidth")
