"""The list of texts in a real JupyterLab: 600 texts, by keys alone and by mouse alone."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page

import sense7_qual as qual
from tests.helpers import lab as labs
from tests.helpers.coding_page import cell, enter, press, saved, shows
from tests.helpers.places import ROOT

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
NUMBER = 600
WIDGET = "s7 s7-coding-widget"
FOUND = [17, 203, 599]  # where a café is


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a study of 600 short texts of 20 participants in two conditions."""
    texts = [f"It listened to me about the exam, number {place}." for place in range(NUMBER)]
    for place in FOUND:
        texts[place] = f"It asked which Café I meant, number {place}."
    units = pd.DataFrame(
        {
            "unit_id": [f"t{place}" for place in range(NUMBER)],
            "text": texts,
            "document_id": [f"d{place // 10}" for place in range(NUMBER)],
            "case_id": [f"p{place // 30}" for place in range(NUMBER)],
            "position": [place % 10 for place in range(NUMBER)],
            "condition": [("warm", "cold")[place // 30 % 2] for place in range(NUMBER)],
            "EmpathyOverall": [float(place % 5 + 1) for place in range(NUMBER)],
        }
    )
    qual.Store.create(tmp_path / "study", units=units, codebook=qual.Codebook.read("sense7"))
    return tmp_path / "study"


def ids(page: Page) -> list[str]:
    """Return the ids of the rows that are in the page."""
    return [
        words.split(" · ")[1] for words in page.locator(".s7-row-id").all_inner_texts() if "…" not in words
    ]


def counted(page: Page, words: str) -> None:
    """Wait until the list says that it holds so many texts."""
    page.wait_for_function(
        "words => document.querySelector('.s7-counted span')?.innerText === words", arg=words
    )


def focused(page: Page) -> str:
    return str(page.evaluate("() => document.activeElement.className"))


def test_finding_choosing_and_going_there_by_keys_alone(lab, folder):
    labs.notebook(lab.root / "keys.ipynb", cell(folder))
    with lab.page(width=1700) as page:  # wide enough for a column of texts
        enter(lab, page, "keys.ipynb")
        page.wait_for_selector(".s7-row[aria-label*='listened']")
        assert page.locator(".s7-row").count() < 40  # of 600
        page.keyboard.press(".")
        page.keyboard.type("cafe", delay=20)
        counted(page, "3 of 600 texts")
        assert ids(page) == [f"t{place}" for place in FOUND]
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        shows(page, "t203")
        assert focused(page) == WIDGET
        press(page, "3", "u", "Enter")  # finishing goes on among the three
        shows(page, "t599")
        press(page, "2", "Enter")
        shows(page, "t17")
        page.keyboard.press("ArrowRight")
        shows(page, "t203")
        assert "3 of 600 · “cafe”" in page.locator(".s7-list-note").inner_text()
        row = page.locator(".s7-row[aria-selected=true]")
        assert "finished, unsure" in row.get_attribute("aria-label")

        # From the list to "unsure" and back to all, without a mouse.
        page.keyboard.press(".")
        page.keyboard.press("Control+a")
        page.keyboard.press("Backspace")
        page.keyboard.press("Tab")
        page.keyboard.type("Uns")
        counted(page, "1 of 600 texts")
        assert ids(page) == ["t203"]
        page.keyboard.press("Escape")
        assert focused(page) == WIDGET
        press(page, "u")
        page.wait_for_function(
            "() => document.querySelector('.s7-list-note').innerText.startsWith('0 of 600')"
        )
        assert page.locator(".s7-row.s7-gone").count() == 1
        page.keyboard.press(",")
        assert page.locator(".s7-side").count() == 0
        page.keyboard.press(",")
        assert focused(page) == "s7-rows"
        page.keyboard.press("Escape")
        page.locator(".s7-clear").focus()
        page.keyboard.press("Enter")
        assert (focused(page), page.locator(".s7-list-note").count()) == (WIDGET, 0)
    assert set(qual.Store(folder).coverage()["unit_id"]) == {"t203", "t599"}


def test_choosing_and_going_there_by_mouse_alone(lab, folder):
    labs.notebook(lab.root / "mouse.ipynb", cell(folder), "widget.goto('t300')")
    with lab.page(width=1700) as page:  # wide enough for a column of texts
        lab.open(page, "mouse.ipynb")
        shows(page, "t300")
        page.wait_for_selector(".s7-row[aria-selected=true][aria-label*='t300']")
        page.locator(".s7-row", has_text="t302").click()
        shows(page, "t302")
        page.locator(".s7-filters-button").click()
        page.wait_for_selector("select[aria-label=condition]")
        page.locator("select[aria-label=condition]").select_option("cold")
        page.locator("select[aria-label=Order]").select_option("random")
        page.locator(".s7-list-note", has_text="300 of 600 · condition: cold, random order").wait_for()
        page.wait_for_function("() => document.querySelectorAll('.s7-row-words').length > 3")
        shuffled = ids(page)
        assert shuffled != sorted(shuffled, key=lambda unit_id: int(unit_id[1:]))
        page.locator(".s7-row").nth(1).click()
        shows(page, shuffled[1])
        page.locator(".s7-footer button", has_text="Finish and next").click()
        shows(page, shuffled[2])
        saved(page)
        page.locator(".s7-progress-by > div > button").click()
        page.wait_for_selector(".s7-group-row")
        case = f"p{int(shuffled[1][1:]) // 30}"
        page.locator(".s7-groups").evaluate("box => { box.scrollTop = box.scrollHeight; }")
        page.wait_for_selector(".s7-group-row >> text=p19")
        page.locator(".s7-groups").evaluate("(box, n) => { box.scrollTop = 30 * n; }", int(case[1:]))
        line = page.locator(".s7-group-row").filter(has=page.get_by_text(case, exact=True))
        line.get_by_text("1 of 30", exact=True).wait_for()
        line.click()
        counted(page, "30 of 600 texts")
        page.locator(".s7-clear").click()
        counted(page, "600 texts")
        assert page.locator("select[aria-label=Rating]").count() == 0
        page.locator("button", has_text="Show rating").click()
        page.locator("select[aria-label=Rating]").select_option("5")
        counted(page, "120 of 600 texts")
        page.wait_for_selector(".s7-row .s7-sign >> text=★ 5")
        page.locator("button", has_text="Rating:").click()
        counted(page, "600 texts")
        assert page.locator(".s7-sign").count() == 0


def test_in_one_column_the_list_is_a_sheet_over_the_text(lab, folder):
    labs.notebook(lab.root / "narrow.ipynb", cell(folder))
    with lab.page(width=900) as page:
        enter(lab, page, "narrow.ipynb")
        assert page.locator(".s7").evaluate("e => e.clientWidth") < 760
        assert page.locator(".s7-side").count() == 0
        before = page.locator(".s7-text").bounding_box()
        page.keyboard.press(".")
        page.keyboard.type("cafe")
        counted(page, "3 of 600 texts")
        page.keyboard.press("Enter")  # the first of them
        shows(page, "t17")
        assert (page.locator(".s7-side").count(), focused(page)) == (0, WIDGET)
        page.locator(".s7-clear").click()
        page.locator(".s7-texts-button").click()
        page.wait_for_selector(".s7-row[aria-selected=true][aria-label*='t17']")
        assert page.locator(".s7-text").bounding_box() == before  # it moves nothing
        labs.resized(page, 1400, 950)
        page.wait_for_function("() => document.querySelector('.s7').clientWidth >= 900")
        box, text = page.locator(".s7-side").bounding_box(), page.locator(".s7-text").bounding_box()
        assert text["x"] + text["width"] <= box["x"]  # in the panel's place
        page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
        page.wait_for_function("() => document.querySelector('.s7').clientWidth >= 1180")
        page.wait_for_selector(".s7-with-side > .s7-side")
        box, text = page.locator(".s7-side").bounding_box(), page.locator(".s7-text").bounding_box()
        assert box["x"] + box["width"] <= text["x"]


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_axe_finds_nothing_in_pane_and_sheet(lab, folder, theme):
    if not AXE.is_file():
        pytest.skip("axe-core is not installed (`make frontend` installs it)")
    labs.notebook(lab.root / "axe-texts.ipynb", cell(folder, show_rating=True))
    with lab.page(width=1700) as page:  # wide enough for a column of texts
        enter(lab, page, "axe-texts.ipynb")
        page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
        page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=theme)
        page.locator(".s7").focus()
        press(page, "3", "u", "Enter", "1", "m", "x", "Escape")
        page.keyboard.press(".")
        page.keyboard.type("exam")
        page.locator(".s7-filters-button").click()
        page.locator(".s7-progress-by > div > button").click()
        page.wait_for_selector(".s7-group-row")
        page.locator("select[aria-label='Which texts']").select_option("unfinished")
        page.wait_for_selector(".s7-list-note")
        page.add_script_tag(path=str(AXE))
        for width in (1400, 900):
            labs.resized(page, width, 950)
            if width == 1400:
                page.wait_for_selector(".s7-side", state="detached")
                page.locator(".s7-texts-button").click()
            page.wait_for_selector(".s7-row mark")
            found = page.evaluate(
                "() => axe.run('.s7', {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"
                ".then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.html + n.failureSummary)]))"
            )
            assert found == []
