"""The survey grid in a real JupyterLab: short answers as rows, coded by keys and by mouse in the row."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page

import sense7_qual as qual
from tests.helpers import lab as labs
from tests.helpers.coding_page import drag, ends, press, saved
from tests.helpers.panes import unblinded
from tests.helpers.places import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
NUMBER = 600
LONG = "It listened to me, and then it went on about itself for much too long. " * 30

# Where on screen characters `from` and `to` of an answer stand.
AT = """(words, [from, to]) => [from, to].map(at => {
  const range = document.createRange();
  range.setStart(words.firstChild, at); range.setEnd(words.firstChild, at + 1);
  const box = range.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
})"""

# Whether the button that has the focus is in sight in the grid, once the page has come to rest.
FOCUS_IN_SIGHT = """async () => {
  for (let frame = 0; frame < 6; frame++) await new Promise(requestAnimationFrame);
  const both = [document.activeElement, document.querySelector('.s7-grid')];
  const [at, box] = both.map(one => one.getBoundingClientRect());
  return at.top >= box.top && at.bottom <= box.bottom;
}"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a study of 600 short answers with a rating and a condition; the fourth is long."""
    texts = [
        f"It {('listened', 'lectured me', 'forgot')[place % 3]}, number {place}." for place in range(NUMBER)
    ]
    texts[3] = LONG
    units = pd.DataFrame(
        {
            "unit_id": [f"t{place}" for place in range(NUMBER)],
            "text": texts,
            "document_id": [f"d{place}" for place in range(NUMBER)],
            "case_id": [f"p{place // 30}" for place in range(NUMBER)],
            "position": 1,
            "condition": [("warm", "cold")[place % 2] for place in range(NUMBER)],
            "EmpathyOverall": [float(place % 5 + 1) for place in range(NUMBER)],
        }
    )
    qual.Store.create(tmp_path / "study", units=units, codebook=qual.Codebook.read("sense7"))
    return tmp_path / "study"


def enter(lab: labs.Lab, page: Page, name: str, folder: Path, **options: object) -> None:
    """Open a notebook with ana's grid and go into it."""
    rest = "".join(f", {name}={value!r}" for name, value in options.items())
    labs.notebook(
        lab.root / name,
        "import sense7_qual as qual\n"
        "from sense7_qual.widgets import CodingWidget\n"
        f"widget = CodingWidget(qual.Store({str(folder)!r}), coder='ana', rating='EmpathyOverall', "
        f"layout='grid'{rest})\nwidget",
    )
    lab.open(page, name)
    page.wait_for_selector(".s7-grid-row.s7-here .s7-text")
    lab.wait_quiet(page)
    page.locator(".s7-grid").focus()


def here(page: Page, number: int) -> None:
    """Wait until the row of this number is the one that keys are meant for, and in sight."""
    page.wait_for_function(
        """number => {
          const row = document.querySelector('.s7-grid-row.s7-here');
          if (row?.querySelector('.s7-cell-number').innerText !== `${number}`) return false;
          const [at, box] = [row, document.querySelector('.s7-grid')].map(e => e.getBoundingClientRect());
          return at.bottom > box.top + 20 && at.top < box.bottom - 20;
        }""",
        arg=number,
    )


def test_twenty_rows_by_keys_are_what_the_record_holds(lab, folder):
    keys = "1234567"
    codes = [code.id for code in qual.Codebook.read("sense7").codable]
    with lab.page() as page:
        enter(lab, page, "keys.ipynb", folder)
        assert page.locator(".s7-placed").count() < 30  # of 600
        wanted = set()
        for place in range(20):  # without waiting for anything
            for at in {place % 7, (3 * place) % 7} if place % 4 else set():
                page.keyboard.press(keys[at])
                wanted.add((f"t{place}", codes[at]))
            page.keyboard.press("Enter")
        here(page, 21)
        saved(page)
        page.keyboard.press("ArrowUp")
        page.keyboard.press("k")
        here(page, 19)
        press(page, "u", "z")  # what was unsure is so no more
        page.keyboard.press("End")
        here(page, 600)
        page.keyboard.press("Home")
        here(page, 1)
        page.mouse.move(400, 600)
        page.mouse.wheel(0, 6000)  # a row out of sight is not coded
        page.wait_for_function("() => !document.querySelector('.s7-grid-row.s7-here')")
        page.keyboard.press("7")
        here(page, 1)
        assert "Press again" in page.locator(".s7-status").inner_text()
        saved(page)
    store = qual.Store(folder)
    codings = store.codings()
    assert set(zip(codings["unit_id"], codings["code"], strict=True)) == wanted
    assert codings["start"].isna().all()
    assert len(codings) == len(wanted)
    assert codings["confidence"].isna().all()
    assert sorted(store.coverage()["unit_id"]) == sorted(f"t{place}" for place in range(20))


@pytest.mark.nightly
def test_rows_by_mouse_spans_filters_and_the_way_to_the_text(lab, folder):
    with lab.page(width=1700) as page:
        enter(lab, page, "mouse.ipynb", folder)
        page.locator(".s7-placed").nth(1).click()
        here(page, 2)
        page.locator(".s7-placed").nth(2).hover()
        page.locator(".s7-placed").nth(2).locator(".s7-add-code").click()
        here(page, 3)
        page.locator(".s7-here .s7-row-codes button").nth(0).click()
        page.wait_for_selector(".s7-row-codes", state="detached")
        saved(page)
        press(page, "2")
        page.wait_for_function("() => document.querySelectorAll('.s7-here .s7-chip').length === 2")
        page.locator(".s7-here .s7-chip .s7-remove").first.click()
        saved(page)
        drag(page, *ends(page, "It forgot, number 2.", "forgot"))  # words of the row
        press(page, "4")
        assert page.locator(".s7-here .s7-of-span .s7-quote").inner_text() == "“forgot”"
        press(page, "4")  # the same words once more: off, and on again
        press(page, "4", "Escape", "4", "4")  # the whole answer: on and off; the words stay
        page.wait_for_function("() => document.querySelectorAll('.s7-here .s7-chip').length === 2")
        drag(
            page, *page.locator(".s7-placed .s7-cell-words").nth(3).evaluate(AT, [4, 13])
        )  # words of another row
        here(page, 5)
        assert page.locator(".s7-here .s7-selected").inner_text() == "lectured me"
        press(page, "5")
        assert page.locator(".s7-here .s7-of-span .s7-quote").inner_text() == "“lectured me”"
        press(page, "z")
        page.locator(".s7-placed").nth(2).click()
        here(page, 3)
        widths = [cell.bounding_box()["width"] for cell in page.locator(".s7-here > div").all()[:3]]
        assert widths[0] < 60 < 150 <= widths[2] < widths[1]  # number, answer and codes side by side

        long = page.locator(".s7-placed[data-long]")
        assert long.locator(".s7-cell-number").all_inner_texts() == ["4"]
        assert long.bounding_box()["height"] < 130
        long.locator(".s7-open").click()
        page.wait_for_selector(".s7-text-pane .s7-text")
        assert page.locator(".s7-unit-id").inner_text() == "t3"
        page.keyboard.press("#")
        here(page, 4)

        # What was chosen is what the grid shows; a finished row stays until the choice is made anew.
        page.locator("select[aria-label='Which texts']").select_option("unfinished")
        page.locator(".s7-counted", has_text="600 texts").wait_for()
        page.locator(".s7-grid").focus()
        press(page, "Enter")
        here(page, 5)
        page.wait_for_selector(".s7-placed.s7-gone >> nth=0")
        assert page.locator(".s7-placed .s7-cell-number").all_inner_texts()[:5] == ["1", "2", "3", "4", "5"]
        press(page, "z")
        here(page, 4)
        page.keyboard.press(".")
        page.keyboard.type("number 59")
        page.locator(".s7-counted", has_text="11 of 600").wait_for()
        page.wait_for_selector("#" + page.locator(".s7-grid").get_attribute("aria-activedescendant"))
        page.keyboard.press("Enter")
        here(page, 60)
        assert page.locator(".s7-cell-number").all_inner_texts()[1] == "591"

        # Conditions and ratings are shown once they are chosen.
        assert page.locator(".s7-cell-more").count() == 0
        page.locator(".s7-grid-bar button", has_text="Columns").click()
        page.get_by_label("condition").check()
        page.wait_for_selector(".s7-placed .s7-cell-more >> text=cold")
        page.keyboard.press("Escape")
        page.locator(".s7-grid").focus()
        page.keyboard.press("r")
        page.wait_for_selector(".s7-grid-titles >> text=Rating")
    rows = qual.Store(folder).codings()
    assert [(row.unit_id, row.code, row.start) for row in rows.itertuples() if pd.notna(row.start)] == [
        ("t2", "prosocial", 3)
    ]
    assert list(rows.loc[rows["start"].isna(), "unit_id"]) == ["t2"]


@pytest.mark.nightly
@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_axe_finds_nothing_in_the_grid(lab, folder, theme):
    if not AXE.is_file():
        pytest.skip("axe-core is not installed (`make frontend` installs it)")
    with lab.page() as page:
        enter(lab, page, "axe-grid.ipynb", folder, show_rating=True)
        page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
        page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=theme)
        page.locator(".s7-grid").focus()
        press(page, "3", "u", "Enter", "1", "m", "x", "Escape", "w", "2", "ArrowDown", "3")
        page.locator(".s7-grid-bar button", has_text="Columns").click()
        page.get_by_label("condition").check()
        page.add_script_tag(path=str(AXE))
        for width in (1400, 900):
            labs.resized(page, width, 950)
            here(page, 3)
            page.wait_for_selector(".s7-placed .s7-cell-more >> text=cold")
            found = page.evaluate(
                "() => axe.run('.s7', {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"
                ".then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.html + n.failureSummary)]))"
            )
            assert found == []
        line = page.locator(".s7-placed").first
        name, answer = line.locator(".s7-cell-more").last, line.locator(".s7-cell-answer")
        assert name.bounding_box()["y"] > answer.bounding_box()["y"]  # folded under the answer
        assert line.locator(".s7-cell-name").last.is_visible()


def test_in_a_row_that_is_higher_than_the_grid_what_has_the_focus_comes_into_sight(lab, tmp_path):
    store = unblinded(tmp_path / "study")
    labs.notebook(
        lab.root / "high.ipynb",
        f"import sense7_qual as qual\nstore = qual.Store({str(store.path)!r})\n"
        "qual.widgets.CodingWidget(store, coder='ana', round='one', layout='grid')",
    )
    with lab.page(width=700, height=475) as page:
        lab.open(page, "high.ipynb")
        page.wait_for_selector(".s7-grid-row.s7-here .s7-text")
        page.locator(".s7-grid").focus()
        page.keyboard.press("Home")
        press(page, *"34567")
        row, box = (page.locator(one).bounding_box() for one in (".s7-here", ".s7-grid"))
        assert row["height"] > box["height"]
        page.keyboard.press("Tab")
        while "s7-add-code" not in page.evaluate("() => document.activeElement.className"):
            page.keyboard.press("Tab")
        assert page.evaluate(FOCUS_IN_SIGHT)
        page.locator(".s7-here .s7-add-code").click()
        page.locator(".s7-row-codes button").last.click()
        page.wait_for_selector(".s7-row-codes", state="detached")
        saved(page)
    assert store.codings(coder="ana")["start"].isna().sum() == 4  # the last code was applied, and is removed
