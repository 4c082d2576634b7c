"""The overview in a real JupyterLab: by keys and by mouse, brought up to date, hostile words, and axe."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

import sense7_qual as qual
from sense7_qual import acts, rounds
from tests.helpers import lab as labs
from tests.helpers.axe import AXE, SHOWN, THEMES, show_in, sound
from tests.helpers.coding_page import leave, study
from tests.helpers.hostile_words import WORDS
from tests.helpers.panes import in_the_overview, looked_at
from tests.helpers.revised_codebooks import edited

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

CELL = """
import sense7_qual as qual
store = qual.Store({folder!r})
qual.widgets.OverviewWidget(store, coder={coder!r})
"""
MORE = """
named = dict(coder="ana", unit_id={unit_id!r}, round="two", codebook=store.codebook)
store.append([qual.acts.finish(**named)])
"""
STRANGE = """() => [
  window.ran ?? null,
  [...document.querySelectorAll('.s7 :is(script, img, iframe, object, embed, math, style, base, form, i, a)')]
    .map(each => each.outerHTML),
  [...document.querySelectorAll('.s7 *')].flatMap(each => each.getAttributeNames())
    .filter(name => name.startsWith('on') || name === 'href'),
]"""


def enter(lab: labs.Lab, page: Page, folder: Path | str, name: str, *more: str, coder: str = "chair") -> None:
    labs.notebook(lab.root / name, CELL.format(folder=str(folder), coder=coder), *more)
    lab.open(page, name, run=not more)
    if more:
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
    counted(page)
    page.locator(".s7").focus()


def counted(page: Page) -> None:
    """Wait until everything is counted."""
    page.wait_for_function("() => document.querySelector('.s7-as-of')?.innerText.startsWith('As of')")


def door(page: Page, name: str) -> str:
    """Return what stands on a number, by what is read out of it."""
    return page.get_by_label(name, exact=True).inner_text()


def test_numbers_open_their_texts_by_keys_and_lead_back(lab: labs.Lab, tmp_path: Path) -> None:
    store = looked_at(tmp_path / "study")
    with lab.page() as page:
        enter(lab, page, store.path, "overview.ipynb")
        page.keyboard.press("ArrowDown")
        page.wait_for_selector(".s7-door:focus")
        page.keyboard.press("End")
        last = page.evaluate("() => document.activeElement.dataset.door")
        assert last == page.locator(".s7-door").last.get_attribute("data-door")
        page.keyboard.press("Home")
        first = page.evaluate("() => document.activeElement.dataset.door")
        page.keyboard.press("Enter")
        page.wait_for_selector(".s7-rows:focus")
        page.wait_for_selector(".s7-opened .s7-coders")
        before = page.locator(".s7-opened .s7-unit-id").inner_text()
        page.keyboard.press("ArrowDown")
        page.wait_for_function(
            "id => ![undefined, id].includes(document.querySelector('.s7-opened .s7-unit-id')?.innerText)",
            arg=before,
        )
        page.keyboard.press("Enter")
        page.wait_for_selector(".s7-opened .s7-scroll:focus")
        page.keyboard.press("Escape")
        page.wait_for_selector(".s7-rows:focus")
        page.keyboard.press("/")
        page.keyboard.type("knows")
        page.wait_for_function("() => document.querySelectorAll('.s7-listed .s7-row').length === 1")
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        page.wait_for_selector(".s7-overview")
        page.wait_for_function("door => document.activeElement.dataset.door === door", arg=first)
        leave(page)
        assert not page.evaluate("() => document.querySelector('.s7').contains(document.activeElement)")


@pytest.mark.nightly
def test_a_click_opens_a_number_and_a_cell_that_adds_acts_changes_it(lab: labs.Lab, tmp_path: Path) -> None:
    store = looked_at(tmp_path / "study")
    ids = store.units["unit_id"].tolist()
    with lab.page() as page:
        enter(lab, page, store.path, "acted.ipynb", MORE.format(unit_id=ids[1]))
        assert door(page, "1 of 5 texts finished by ana") == "1"
        page.locator('[aria-label="1 of 5 texts finished by ana"]').click()
        page.wait_for_selector(".s7-listed .s7-row")
        assert page.locator(".s7-listed .s7-row").count() == 1
        page.locator(".s7-back").click()
        page.locator(".jp-Notebook .jp-Cell").last.locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        page.wait_for_selector('[aria-label="2 of 5 texts finished by ana"]')
        counted(page)


@pytest.mark.nightly
def test_a_coder_sees_of_a_blind_round_their_own_part(lab: labs.Lab, tmp_path: Path) -> None:
    store = looked_at(tmp_path / "study")
    with lab.page() as page:
        enter(lab, page, store.path, "coder.ipynb", coder="ben")
        two = page.locator(".s7-round").nth(1)
        assert two.locator("tbody th").all_inner_texts() == ["ben"]
        assert "only the leads of the round see the progress" in two.inner_text()
        assert page.locator(".s7-agreement tbody tr").count() == len(store.codebook.codable)


@pytest.mark.nightly
def test_hostile_words_in_the_overview_are_words(lab: labs.Lab, tmp_path: Path) -> None:
    folder = study(tmp_path / "study", WORDS)
    store = qual.Store(folder)
    book = store.codebook
    for place, code in enumerate(book.codable):
        book = edited(book, code.id, label=f"{WORDS[place]} {place}", definition=WORDS[place])
    store.revise(book, why="Hostile.", coder="chair")
    ids, names = store.units["unit_id"].tolist(), [WORDS[0], WORDS[3]]
    for name in names:
        named = {"units": ids, "coders": ["ana", "ben"], "coder": "chair", "codebook": store.codebook}
        store.append([rounds.open_round(name, **named)])
        store.append([rounds.unblind(name, coder="chair", codebook=store.codebook)])
    code = store.codebook.codable[0].id
    for coder, step in (("ana", 2), ("ben", 3)):
        for place, unit_id in enumerate(ids):
            mine = {"coder": coder, "unit_id": unit_id, "codebook": store.codebook, "round": names[0]}
            applied = [acts.apply(code=code, **mine)] if place % step == 0 else []
            store.append([*applied, acts.finish(**mine)])
    for place, word in enumerate(WORDS[:20]):
        mine = {"coder": "ana", "unit_id": ids[place], "codebook": store.codebook, "round": names[0]}
        store.append([acts.propose(label=f"{word} {place}"[:80], **mine)])
    with lab.page() as page:
        enter(lab, page, folder, "hostile.ipynb")
        assert page.evaluate(STRANGE) == [None, [], []]
        assert names[0] in page.locator(".s7-rounds").inner_text()
        doors = page.locator(".s7-door")
        for place in range(doors.count()):
            doors.nth(place).click()
            page.wait_for_selector(".s7-listed .s7-row-id")
            page.wait_for_selector(".s7-opened .s7-text")
            assert (place, *page.evaluate(STRANGE)) == (place, None, [], [])
            page.keyboard.press("Escape")
            page.wait_for_selector(".s7-overview")
        page.get_by_label(f"{len(ids)} texts of {names[0]}", exact=True).click()
        for word in WORDS:
            page.wait_for_function(
                "word => document.querySelector('.s7-opened .s7-text')?.textContent.includes(word)", arg=word
            )
            assert (word, *page.evaluate(STRANGE)) == (word, None, [], [])
            page.keyboard.press("ArrowDown")


@pytest.mark.nightly
@pytest.mark.parametrize(("width", "theme"), SHOWN)
def test_axe_finds_nothing(lab: labs.Lab, tmp_path: Path, width: int, theme: str) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed (`make frontend` installs it)")
    store = looked_at(tmp_path / "study")
    with lab.page(width=width) as page:
        enter(lab, page, store.path, f"axe-overview-{width}.ipynb")
        page.add_script_tag(path=str(AXE))
        show_in(page, theme)
        panes = []
        for pane in in_the_overview(page):
            sound(page, pane)
            assert page.locator(".s7").evaluate("box => box.scrollWidth <= box.clientWidth")
            panes.append(pane)
        assert len(panes) == 4


@pytest.mark.nightly
@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed (`make frontend` installs it)")
def test_axe_finds_nothing_in_a_coders_inbox_or_an_empty_study(lab: labs.Lab, tmp_path: Path) -> None:
    store, empty = looked_at(tmp_path / "study"), study(tmp_path / "empty")
    store.set_options(leads=["chair"], coder="chair")
    store.revise(edited(store.codebook, "cognitive", definition="Closer."), why="Clearer.", coder="chair")
    for folder, coder, title in ((store.path, "ben", "Your inbox: 2"), (empty, "chair", "How to begin")):
        with lab.page(width=900) as page:
            enter(lab, page, folder, f"axe-{coder}.ipynb", coder=coder)
            page.add_script_tag(path=str(AXE))
            assert page.locator(".s7-next h4").inner_text() == title
            for theme in THEMES:
                show_in(page, theme)
                sound(page, title)
            assert page.locator(".s7").evaluate("box => box.scrollWidth <= box.clientWidth")
        lab.end_kernels()
