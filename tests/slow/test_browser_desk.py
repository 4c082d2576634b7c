"""The coding desk keeps still: the text keeps its room and the finish button its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from sense7_qual.store import Store
from tests.helpers import lab as labs
from tests.helpers.coding_page import cell, enter, press, saved, shows, sound, spans, study
from tests.helpers.desk_states import MEASURED, TEXT, states
from tests.helpers.nightly import nightly_but
from tests.helpers.panes import in_training, unblinded

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

# Of the window with JupyterLab in it, and whether its side bar is open: the least height of the text's box.
LEAST: Final = {
    (1400, 900, True): 560,
    (1280, 720, False): 390,
    (1024, 768, False): 420,
    (900, 800, True): 380,
}

# What of the desk is not where a click on its middle would meet it.
COVERED: Final = """() => {
  const met = one => {
    const {left, top, width, height} = one.getBoundingClientRect();
    if (!width) return true;
    const at = document.elementFromPoint(left + width / 2, top + height / 2);
    return at === one || one.contains(at);
  };
  const all = ['.s7-active-bar strong', '.s7-active-bar .s7-facet', '.s7-footer .s7-primary', '.s7-state',
    '.s7-margin li.s7-active button', '.s7-whole .s7-active button'];
  return all.filter(name => ![...document.querySelectorAll(`.s7 ${name}`)].every(met));
}"""

# How many letters the lines of the text have, but the last.
LETTERS: Final = """() => {
  const text = document.querySelector('.s7-text'), lines = new Map(), range = document.createRange();
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    for (let at = 0; at < walker.currentNode.length; at++) {
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + 1);
      const line = Math.round(range.getBoundingClientRect().top / 8);
      lines.set(line, (lines.get(line) ?? 0) + 1);
    }
  }
  return [...lines.values()].slice(0, -1).sort((a, b) => a - b);
}"""


@pytest.mark.parametrize(
    ("width", "height", "side_bar"), nightly_but(LEAST, here=[(1400, 900, True), (900, 800, True)])
)
def test_nothing_moves_while_one_codes(
    lab: labs.Lab, tmp_path: Path, width: int, height: int, side_bar: bool
) -> None:
    folder = study(tmp_path / "study", [TEXT] * 3)
    labs.notebook(lab.root / "still.ipynb", cell(folder))
    with lab.page(width=width, height=height, new=True) as page:
        enter(lab, page, "still.ipynb")
        if not side_bar:
            page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
        page.locator(".jp-InputArea").evaluate_all("all => all.forEach(one => one.style.display = 'none')")
        page.locator(".s7").evaluate("root => root.scrollIntoView({block: 'nearest'})")
        page.locator(".s7").focus()
        first: dict[str, Any] | None = None
        for state, in_sight in states(page):
            page.wait_for_timeout(100)
            measured = page.evaluate(MEASURED)
            first = first or measured
            assert (state, measured) == (state, first)
            if in_sight:
                assert (state, page.evaluate(COVERED)) == (state, [])
        assert first is not None
        saved(page)
        assert first["inside"]
        assert first["header"] <= 0
        assert first["still"][1] >= LEAST[width, height, side_bar]
        # At 200 % a page is 450 pixels high: there the conversation gives way, not the text.
        page.locator(".s7").evaluate("root => root.style.setProperty('--s7-frame', '450px')")
        labs.resized(page, 700, 600)
        assert page.evaluate(MEASURED)["still"][1] >= 200
        labs.resized(page, width, height)
        if width > 1000:
            letters = page.evaluate(LETTERS)
            assert letters[len(letters) // 2] >= 44
            assert letters[-1] <= 76


def test_names_in_the_margin_are_shown_whole_or_not_at_all(lab: labs.Lab, tmp_path: Path) -> None:
    folder = study(tmp_path / "study", [TEXT])
    labs.notebook(lab.root / "names.ipynb", cell(folder))
    cut = """() => [...document.querySelectorAll('.s7 :is(.s7-margin, .s7-whole) li button')].flatMap(
      button => {
      const box = button.getBoundingClientRect();
      return [...button.children].filter(part => {
        const {top, bottom, left, right, width} = part.getBoundingClientRect();
        const out = top >= box.bottom - 1 || width === 0;
        return !out && (right > box.right + 1 || left < box.left - 1 || bottom > box.bottom + 1);
      }).map(part => part.textContent);
    })"""
    with lab.page(new=True) as page:
        enter(lab, page, "names.ipynb")
        for key in "1234567":
            press(page, "w", "Shift+ArrowRight", key, "v", "u")
        press(page, "Escape", "3")
        for width in (1400, 1180, 1024, 900):
            labs.resized(page, width, 800)
            assert (width, page.evaluate(cut)) == (width, [])
        sound(page, "one column")


SUGGESTED: Final = """
import pandas as pd
import sense7_qual as qual
def suggest(units):
    spans = [(unit_id, text.find("my sister")) for unit_id, text in zip(units["unit_id"], units["text"])]
    rows = [(unit_id, code, 0.7, True, start, start + 9) for unit_id, start in spans
            for code in ("relational", "interest", "cognitive")]
    return pd.DataFrame(rows, columns=["unit_id", "code", "probability", "suggested", "start", "end"])
qual.widgets.CodingWidget(qual.Store({study!r}), coder="ana", suggest=suggest)
"""
OF_ROUND: Final = """
import sense7_qual as qual
qual.widgets.CodingWidget(qual.Store({study!r}), coder="ana", round={round!r})
"""


@pytest.mark.nightly
@pytest.mark.parametrize("size", [(1400, 900), (1280, 720), (900, 800)])
@pytest.mark.parametrize("shown", ["colleagues", "suggestions", "training"])
def test_what_others_said_of_a_text_moves_nothing(
    lab: labs.Lab, tmp_path: Path, shown: str, size: tuple[int, int]
) -> None:
    if shown == "colleagues":
        code = OF_ROUND.format(study=str(unblinded(tmp_path / "study").path), round="one")
    elif shown == "training":
        code = OF_ROUND.format(study=str(in_training(tmp_path / "study").path), round="training")
    else:
        code = SUGGESTED.format(study=str(study(tmp_path / "study", [TEXT] * 3)))
    labs.notebook(lab.root / "others.ipynb", code)
    with lab.page(width=size[0], height=size[1], new=True) as page:
        enter(lab, page, "others.ipynb")
        if shown == "colleagues":
            press(page, "ArrowLeft")
            shows(page, "t0/1")
        page.locator(".s7").evaluate("root => root.scrollIntoView({block: 'nearest'})")
        before = page.evaluate(MEASURED)
        if shown == "colleagues":
            page.keyboard.press("=")
            page.wait_for_selector(".s7-margin.s7-of-people, .s7-coders")
        else:
            press(page, "1", "Enter")
            page.wait_for_selector(".s7-suggestion.s7-current, .s7-feedback")
        page.wait_for_timeout(200)
        assert page.evaluate(MEASURED)["still"] == before["still"]
        page.keyboard.press("Escape")
        page.wait_for_timeout(200)
        assert page.evaluate(MEASURED)["still"] == before["still"]


def test_the_large_view_and_back_keeps_text_selection_undo_and_a_memo_being_written(
    lab: labs.Lab, tmp_path: Path
) -> None:
    folder = study(tmp_path / "study", [TEXT] * 3)
    labs.notebook(lab.root / "large.ipynb", cell(folder))
    shown = """() => ({
      unit: document.querySelector('.s7-unit-id').innerText,
      words: [...document.querySelectorAll('.s7-selected')].map(one => one.innerText).join(''),
      memo: document.querySelector('.s7-footer textarea').value,
      typing: document.activeElement.matches('.s7-footer textarea'),
    })"""
    with lab.page(width=1400, height=900) as page:
        enter(lab, page, "large.ipynb")
        small = page.locator(".s7").bounding_box()
        press(page, "Enter", "1", "w", "w", "Shift+ArrowRight")
        before = page.evaluate(shown)
        assert before == {"unit": "t1/1", "words": "sentence 0", "memo": "", "typing": False}
        for large in (True, False, True):
            page.keyboard.press("F")
            page.wait_for_function(
                "large => document.querySelector('.s7').matches(':popover-open') === large", arg=large
            )
            assert page.evaluate(shown) == before
        assert page.locator(".s7").bounding_box() == {"x": 0, "y": 0, "width": 1400, "height": 900}
        press(page, "2", "z")
        assert [code for _, code, _ in spans(folder)] == ["affective"]
        page.keyboard.press("Escape")
        page.keyboard.press("m")
        page.keyboard.type("Half a tho")
        page.locator(".s7-header [aria-label='Large view']").click()
        page.wait_for_function("() => !document.querySelector('.s7').matches(':popover-open')")
        assert page.locator(".s7").bounding_box() == small
        after = page.evaluate(shown)
        assert after == {"unit": "t1/1", "words": "", "memo": "Half a tho", "typing": False}
        page.keyboard.press("m")
        page.keyboard.type("ught")
        press(page, "Escape")
    (memo,) = Store(folder).memos()["text"]
    assert memo == "Half a thought"
    assert [code for _, code, _ in spans(folder)] == ["affective"]
