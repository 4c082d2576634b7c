"""The codebook beside the text: more codes than keys, and definitions read by mouse and by key."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page

from sense7_qual.codebook import Code, Codebook
from tests.helpers import lab as labs
from tests.helpers.axe import AXE, THEMES
from tests.helpers.coding_page import cell, enter, press, saved, spans, study
from tests.helpers.simulation import SOAK

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

REST_MS = 350  # as in `opendefinition.ts`
LABELS = (
    "Cognitive Understanding",
    "Warmth",
    "ثقة المستخدم",
    "Nospaces" * 20,
    "Practical help",
    "Long " * 80,
)


def long_codebook() -> Codebook:
    """300 codes: groups of nineteen, with labels right to left, without spaces, of 400 characters."""
    codes = []
    for group in range(15):
        codes.append(Code(id=f"g{group}", label=f"Group {group}", codable=group % 3 == 0))
        for place in range(19):
            codes.append(
                Code(
                    id=f"c{group}.{place}",
                    label=f"{LABELS[place % 6]} {group}.{place}"[:400],
                    parent=f"g{group}" if place < 15 else f"c{group}.3",
                    definition="What it means. " * (300 if place == 0 else 1),
                )
            )
    return Codebook(name="long", codes=tuple(codes))


@pytest.fixture
def folder(tmp_path) -> Path:
    return study(tmp_path / "study", codebook=long_codebook())


def heading(page: Page) -> str:
    return page.locator(".s7-detail h4").inner_text()


def middle(place: Locator) -> tuple[float, float]:
    box = place.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


LONGEST_PAUSE = """() => {
  let last = performance.now();
  window.longestPause = 0;
  window.onmousemove = () => {
    window.longestPause = Math.max(window.longestPause, performance.now() - last);
    last = performance.now();
  };
}"""


def go_to_the_definition(page: Page, row: Locator, starts: str) -> None:
    """Move the mouse from a code to its definition without a pause, which would mean a code on the way."""
    for _ in range(20):  # a busy machine may pause
        page.mouse.move(*middle(row))
        page.wait_for_function(
            "starts => document.querySelector('.s7-detail h4').innerText.startsWith(starts)", arg=starts
        )
        page.evaluate(LONGEST_PAUSE)
        page.mouse.move(*middle(page.locator(".s7-detail")), steps=25)
        if page.evaluate("() => window.longestPause") < REST_MS - 50:
            return
        page.mouse.move(0, 0)
    pytest.fail("the mouse could not be moved without a pause")


def test_a_code_without_a_key_is_found_applied_and_used_again(lab, folder):
    labs.notebook(lab.root / "find.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "find.ipynb")
        press(page, "w", "/", "w", "a", "r", "ArrowDown", "ArrowDown", "Enter")
        assert page.evaluate("() => document.activeElement.matches('.s7')")
        press(page, "Escape", "/", "c", "u", "Escape", "/", *"14.6", "Enter")
        page.keyboard.press("/")
        page.keyboard.type("practical help 9.4")
        page.locator(".s7-codes [role=option] >> nth=0").click()
        # Each got a capital letter of its label.
        press(page, "Escape", "ArrowRight", "Shift+C", "Shift+P")
        page.locator(".s7-recent .s7-code >> nth=0").click()
        saved(page)
    codes = [(unit, code) for unit, code, _ in spans(folder)]
    first = [("t0/1", code) for code in ("c0.13", "c14.6", "c9.4")]
    assert sorted(codes) == sorted([*first, *(("t1/1", code) for _, code in first)])
    assert ("t0/1", "c0.13", "It") in spans(folder)


def test_a_code_is_clicked_while_the_field_to_find_one_is_open(lab, tmp_path):
    folder = study(tmp_path / "short")
    labs.notebook(lab.root / "click.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "click.ipynb")
        page.keyboard.press("/")
        page.wait_for_selector(".s7-filter:focus")
        box = page.locator(".s7-code >> nth=1").bounding_box()
        page.mouse.move(box["x"] + 60, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.wait_for_timeout(150)  # as a hand does; by then the page is drawn anew
        page.mouse.up()
        saved(page)
        page.wait_for_selector(".s7-coding")
        page.keyboard.press("3")
        saved(page)
    assert [code for _, code, _ in spans(folder)] == ["cognitive", "response"]


@pytest.mark.parametrize(("n_codes", "shown"), [(7, 0), (24, 1)])
def test_what_was_used_last_is_shown_where_the_codes_do_not_fit(lab, tmp_path, n_codes, shown):
    codes = tuple(Code(id=f"c{place}", label=f"Code {place}") for place in range(n_codes))
    folder = study(tmp_path / "fits", codebook=Codebook(name="fits", codes=codes))
    labs.notebook(lab.root / "fits.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "fits.ipynb")
        # Seven codes do not fit either in what 200 % leave of 1400 × 950, but are seen at a glance.
        labs.resized(page, 700, 475 if n_codes == 7 else 700)
        press(page, "2")
        page.wait_for_selector(".s7-coding")
        recent = page.locator(".s7-recent .s7-code")
        assert (recent.count(), shown == 0 or recent.is_visible()) == (shown, True)


def test_a_definition_is_reached_by_the_mouse_scrolled_and_pinned(lab, folder):
    labs.notebook(lab.root / "read.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "read.ipynb")
        row = page.locator(".s7-code[data-code='c0.0']")
        go_to_the_definition(page, row, "Cogn")
        page.wait_for_timeout(REST_MS + 250)
        assert heading(page) == "Cognitive Understanding 0.0"
        page.mouse.wheel(0, 300)
        page.wait_for_function("() => document.querySelector('.s7-detail').scrollTop > 200")
        before = page.locator(".s7-detail").evaluate("box => box.scrollTop")
        press(page, "Alt+ArrowDown", "Alt+ArrowDown")
        page.wait_for_function(f"() => document.querySelector('.s7-detail').scrollTop > {before} + 100")

        page.locator(".s7-pin").click()
        page.mouse.move(*middle(page.locator(".s7-code[data-code='c0.1']")))
        page.wait_for_timeout(REST_MS + 250)
        press(page, "2")
        assert heading(page) == "Cognitive Understanding 0.0"
        page.keyboard.press("Alt+3")
        assert heading(page) == "Warmth 0.1"
        press(page, "-", "-", "4")
        assert heading(page) == "ثقة المستخدم 0.2"


@pytest.mark.parametrize("theme", THEMES)
def test_a_long_codebook_is_usable_in_narrow_cells_and_accessible(lab, folder, theme):
    if not AXE.is_file():
        pytest.skip("axe-core is not installed (`make frontend` installs it)")
    labs.notebook(lab.root / "narrow.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "narrow.ipynb")
        page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
        page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=theme)
        page.locator(".s7").focus()
        press(page, "/", "c", "u", "Enter")
        page.add_script_tag(path=str(AXE))
        # 700 × 475 is what 200 % leave of 1400 × 950.
        sizes = [(1400, 950), (900, 950), (640, 950), (700, 475)]
        for width, height in sizes if SOAK else sizes[THEMES.index(theme) :: 2]:
            labs.resized(page, width, height)
            page.locator(".s7").focus()
            for typed in ("", "/co"):
                page.keyboard.type(typed)
                found = page.evaluate(
                    "() => axe.run('.s7', {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"
                    ".then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.html + n.failureSummary)]))"
                )
                assert found == []
            assert page.locator(".s7").evaluate("box => box.scrollWidth <= box.clientWidth")
            codes, text = page.locator(".s7-pick").bounding_box(), page.locator(".s7-text").bounding_box()
            assert codes is not None
            assert text is not None
            assert codes["height"] < 560
            if width == 1400:  # next to each other; in one column the codes are below, in sight with the text
                assert abs(text["y"] - codes["y"]) < 500
            seen = page.locator(".s7").bounding_box()
            assert seen is not None
            assert (
                max(0, seen["y"])
                <= text["y"]
                < codes["y"] + codes["height"]
                <= min(height, seen["y"] + seen["height"])
            )
            page.keyboard.press("Escape")
