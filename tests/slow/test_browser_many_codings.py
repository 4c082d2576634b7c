"""A text with hundreds of codings: only those in sight are drawn in their list, and all can be reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from sense7_qual import acts
from sense7_qual.codebook import Codebook
from sense7_qual.store import Store
from tests.helpers import lab as labs
from tests.helpers.coding_page import cell, drag, ends, enter, press, saved, spans, study

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

N = 400
IN_SIGHT = """row => {
  const box = document.querySelector('.s7-codings').getBoundingClientRect();
  const here = document.querySelector(`.s7-coding[data-row="${row}"]`)?.getBoundingClientRect();
  return here && here.top >= box.top - 1 && here.bottom <= box.bottom + 1;
}"""


def test_every_one_of_hundreds_of_codings_can_be_reached(lab: labs.Lab, tmp_path: Path) -> None:
    folder, book = tmp_path / "study", Codebook.read("sense7")
    study(folder, [" ".join(f"word{number}" for number in range(N))])
    text = Store(folder).units["text"].iloc[0]
    at = [f"{text} ".index(f"word{number} ") for number in range(N)]
    Store(folder).append(
        [acts.apply(coder="ana", unit_id="t0/1", code="interest", start=start, end=start + 5, codebook=book)
         for start in at]
    )  # fmt: skip
    labs.notebook(lab.root / "many.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "many.ipynb")
        rows = page.locator(".s7-coding")
        page.wait_for_selector(".s7-coding")
        assert rows.count() < 60
        assert rows.first.get_attribute("aria-setsize") == str(N)

        # A coding that is clicked in the text is brought into sight in the list.
        page.locator(f".s7-text [data-at='{at[250]}']").click()
        page.wait_for_function(IN_SIGHT, arg=250)
        assert page.locator(".s7-coding.s7-active").get_attribute("data-row") == "250"

        # A row with the focus stays while the list is scrolled away: keys must not go to the notebook.
        page.locator(".s7-coding[data-row='250'] .s7-remove").focus()
        page.locator(".s7-codings").evaluate("box => { box.scrollTop = box.scrollHeight; }")
        page.wait_for_function(IN_SIGHT, arg=N - 1)
        assert page.evaluate("document.activeElement.closest('.s7-coding')?.dataset.row") == "250"
        page.locator(".s7-codings").evaluate("box => { box.scrollTop = 0; }")
        page.wait_for_function(IN_SIGHT, arg=0)
        assert page.evaluate("document.activeElement.closest('.s7-coding')?.dataset.row") == "250"
        assert rows.count() < 60

        # By Tab alone one gets on from row to row, beyond those that were drawn.
        page.locator(".s7-coding[data-row='0'] .s7-remove").focus()
        per_row = page.locator(".s7-coding[data-row='1'] button").count()
        for _ in range(40 * per_row):
            page.keyboard.press("Tab")
        page.wait_for_function(IN_SIGHT, arg=40)
        assert page.evaluate("document.activeElement.closest('.s7-coding')?.dataset.row") == "40"

        # The last one is removed.
        page.locator(".s7-codings").evaluate("box => { box.scrollTop = box.scrollHeight; }")
        page.wait_for_function(IN_SIGHT, arg=N - 1)
        page.locator(f".s7-coding[data-row='{N - 1}'] .s7-remove").click()
        saved(page)
        press(page, "w")
    codings = Store(folder).codings()
    assert len(codings) == N - 1
    assert at[-1] not in set(codings["start"])


def test_a_very_long_text_is_as_high_and_as_usable_when_what_is_out_of_sight_is_not_painted(
    lab: labs.Lab, tmp_path: Path
) -> None:
    text = " ".join(f"word{number}" for number in range(8_000))
    folder = study(tmp_path / "study", [text])
    labs.notebook(lab.root / "high.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "high.ipynb")
        high = "() => document.querySelector('.s7-text').scrollHeight"
        before = page.evaluate(high)
        skipped = "() => document.querySelectorAll('.s7-text > div[style*=content-visibility]').length"
        page.wait_for_function(f"() => ({skipped})() > 20")
        assert page.evaluate(high) == before
        page.locator(".s7-text").focus()
        page.keyboard.press("End")
        page.wait_for_function("() => !document.querySelector('.s7-below')")
        assert page.evaluate(high) == before
        drag(page, *ends(page, text, "word7990 word7991"))
        page.wait_for_selector(".s7-selected")
        press(page, "5")
    assert spans(folder) == [("t0/1", "interest", "word7990 word7991")]
