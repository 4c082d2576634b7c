"""The themes widget in a real JupyterLab: names, merges, a code made of a theme, the lasso, hostile words."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page

from sense7_qual.store import Store
from sense7_qual.themes import text_map
from tests.helpers import lab as labs
from tests.helpers.axe import AXE, show_in, sound
from tests.helpers.coding_page import saved, study
from tests.helpers.hostile_words import drawn

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

WORDS = ["queue slow minutes", "kind warm caring", "wrong fact source"]


def embed(texts: list[str]) -> np.ndarray:
    listed = " ".join(WORDS).split()
    ends = [int("0" + "".join(filter(str.isdigit, text))) for text in texts]
    counts = np.array([[text.split().count(word) for word in listed] for text in texts], dtype=float)
    return np.column_stack([counts + 0.01, np.array(ends) % 7 / 20, np.array(ends) % 11 / 20])


CELL = """
import numpy as np
import sense7_qual as qual
WORDS = {words!r}
{embed}
store = qual.Store({folder!r})
if not store.acts(kind="record_themes"):
    themes = qual.themes.fit(store.units, embed=embed, granularity=1.0, n_resamples=2)
    store.record_themes(themes, coder="lead")
widget = qual.widgets.ThemesWidget(store, coder="lead", embed=embed)
widget
"""


def made(folder: Path, n: int = 60) -> Path:
    return study(folder, [f"{WORDS[row % 3]} n{row}" for row in range(n)])


def enter(lab: labs.Lab, page: Page, folder: Path, name: str) -> None:
    labs.notebook(
        lab.root / name, CELL.format(folder=str(folder), words=WORDS, embed=inspect.getsource(embed))
    )
    lab.open(page, name)
    page.wait_for_selector(".s7-theme-row")
    page.wait_for_selector("canvas.s7-map")
    page.locator(".s7-theme-rows").focus()


def named(page: Page) -> list[str]:
    return page.locator(".s7-theme-name").all_inner_texts()


def test_a_theme_is_named_merged_and_made_a_code_by_keys(lab: labs.Lab, tmp_path: Path) -> None:
    folder = made(tmp_path / "study")
    with lab.page() as page:
        enter(lab, page, folder, "themes.ipynb")
        n = len(named(page))
        count = "n => document.querySelectorAll('.s7-theme-name').length === n"
        assert n >= 3
        page.keyboard.press("n")
        page.wait_for_selector(".s7-name-form input:focus")
        page.keyboard.type("<b>First</b>")
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.querySelector('.s7-theme-name').innerText === '<b>First</b>'")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("m")
        page.wait_for_selector(".s7-merge-form select:focus")
        page.locator(".s7-merge-form select").select_option(label="<b>First</b>")
        page.keyboard.press("Enter")
        page.wait_for_function(count, arg=n - 1)
        saved(page)
        page.keyboard.press("u")
        page.wait_for_function(count, arg=n)
        page.locator(".s7-theme-row", has_text="<b>First</b>").click()
        page.keyboard.press("c")
        page.wait_for_selector(".s7-code-form input.s7-first:focus")
        page.keyboard.press("Control+A")
        page.keyboard.type("Being kept waiting")
        page.locator(".s7-code-form .s7-primary").click()
        page.wait_for_function(
            "() => document.querySelector('.s7-facts').innerText.includes('Being kept waiting')"
        )
        saved(page)
    store = Store(folder)
    assert store.codebook["being_kept_waiting"].examples
    assert store.themes.summary["code"].dropna().tolist() == ["being_kept_waiting"]


@pytest.mark.nightly
def test_texts_that_the_mouse_draws_around_are_selected_and_taken_out(lab: labs.Lab, tmp_path: Path) -> None:
    folder = made(tmp_path / "study")
    with lab.page() as page:
        enter(lab, page, folder, "lasso.ipynb")
        page.locator("canvas.s7-map").scroll_into_view_if_needed()
        box = page.locator("canvas.s7-map").bounding_box()
        assert box is not None
        x, y, side = box["x"] + 2, box["y"] + 2, box["width"] - 4
        page.mouse.move(x, y)
        page.mouse.down()
        for across, down in ((1, 0), (1, 1), (0, 1), (0, 0.02)):
            page.mouse.move(x + across * side, y + down * side, steps=4)
        page.mouse.up()
        page.wait_for_function(
            "() => document.querySelector('.s7-status').innerText.includes('60 texts selected')"
        )
        page.locator(".s7-theme-rows").focus()
        page.keyboard.press("x")
        page.wait_for_function(
            "() => document.querySelector('.s7-status').innerText.includes('0 texts selected')"
        )


@pytest.mark.nightly
def test_only_texts_within_the_line_are_selected(lab: labs.Lab, tmp_path: Path) -> None:
    folder = made(tmp_path / "study")
    with lab.page() as page:
        enter(lab, page, folder, "triangle.ipynb")
        canvas = page.locator("canvas.s7-map")
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box is not None
        side = box["width"]
        page.mouse.move(box["x"] + 1, box["y"] + 1)
        page.mouse.down()
        for x, y in ((1, side - 1), (side - 1, side - 1), (1, 1)):
            page.mouse.move(box["x"] + x, box["y"] + y, steps=4)
        page.mouse.up()
        page.wait_for_selector(".s7-selected h4")
        shown = int(page.locator(".s7-selected h4").inner_text().split()[0])
    at = text_map(Store(folder).units, embed=embed)
    below = at["x"] + at["y"]  # of the falling diagonal: y goes up on the map, down on the screen
    assert (below < -0.02).sum() <= shown <= (below < 0.02).sum() < len(at) - 5


@pytest.mark.nightly
@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed (`make frontend` installs it)")
@pytest.mark.parametrize(("width", "theme"), [(1400, "JupyterLab Light"), (900, "JupyterLab Dark")])
def test_axe_finds_nothing_and_hostile_words_are_words(
    lab: labs.Lab, tmp_path: Path, width: int, theme: str
) -> None:
    words = drawn(0)
    folder = study(
        tmp_path / "study", [f"{WORDS[row % 3]} n{row} {words[row % len(words)]}" for row in range(60)]
    )
    with lab.page(width=width) as page:
        enter(lab, page, folder, f"axe-{width}.ipynb")
        page.add_script_tag(path=str(AXE))
        show_in(page, theme)
        sound(page, "themes")
        page.keyboard.press("c")
        page.wait_for_selector(".s7-code-form")
        sound(page, "a code of it")
        assert page.evaluate(
            "() => [window.ran ?? null, document.querySelectorAll('.s7 :is(script, img, iframe, a)').length]"
        ) == [None, 0]
