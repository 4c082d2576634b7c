"""A text with hundreds of codings: each has its label, and all can be reached."""

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
# Whether the marked coding's label and its words are in sight in the pane, and the bar says which it is.
IN_SIGHT = """word => {
  const box = document.querySelector('.s7-scroll').getBoundingClientRect();
  const names = ['.s7-margin .s7-active button', '.s7-text .s7-active'];
  const all = names.map(name => document.querySelector(name));
  const said = document.querySelector('.s7-active-bar q')?.innerText;
  return said === `“${word}”` && all.every(one => {
    const {top, bottom} = one?.getBoundingClientRect() ?? {top: -1};
    return top >= box.top - 1 && bottom <= box.bottom + 1;
  });
}"""

# Counts the places that are measured, and the nodes of the margin that are changed.
COUNTED = """() => {
  window.measured = window.changed = 0;
  for (const name of ['getBoundingClientRect', 'getClientRects']) {
    const measure = Range.prototype[name];
    Range.prototype[name] = function () { window.measured++; return measure.call(this); };
  }
  new MutationObserver(list => { window.changed += list.length; }).observe(
    document.querySelector('.s7-margin'), {subtree: true, childList: true, attributes: true}
  );
}"""


def work(lab: labs.Lab, folder: Path, n_below: int) -> tuple[int, int, int]:
    """Code words of a long text; return how much was measured, changed in the margin, and labelled there."""
    book = Codebook.read("sense7")
    study(folder, [" ".join(f"word{number:04}" for number in range(3_000))])
    spans = [(9 * word, 9 * word + 8) for word in (0, 3, 20, *range(2_000, 2_000 + n_below))]
    Store(folder).append(
        [
            acts.apply(coder="ana", unit_id="t0/1", code="interest", start=start, end=end, codebook=book)
            for start, end in spans
        ]
    )
    labs.notebook(lab.root / f"below{n_below}.ipynb", cell(folder))
    with lab.page(new=True) as page:
        enter(lab, page, f"below{n_below}.ipynb")
        page.wait_for_timeout(1_000)  # the long paragraph was cut
        page.evaluate(COUNTED)
        press(page, "w", "w", "1", "w", "2", "ArrowUp", "u")
        n_labels = page.locator(".s7-margin .s7-coding").count()
        return page.evaluate("() => window.measured"), page.evaluate("() => window.changed"), n_labels


def test_codings_out_of_sight_cost_a_key_nothing(lab: labs.Lab, tmp_path: Path) -> None:
    measured, changed, n_labels = work(lab, tmp_path / "few", 1)
    assert n_labels == 5
    many = work(lab, tmp_path / "many", 400)
    assert (many[0], many[2]) == (measured, n_labels)
    assert many[1] <= changed + 10  # how often it is drawn depends on when the kernel answers


def test_every_one_of_hundreds_of_codings_can_be_reached(lab: labs.Lab, tmp_path: Path) -> None:
    folder, book = tmp_path / "study", Codebook.read("sense7")
    study(folder, [" ".join(f"word{number:03}" for number in range(N))])
    text = Store(folder).units["text"].iloc[0]
    at = [text.index(f"word{number:03}") for number in range(N)]
    Store(folder).append(
        [
            acts.apply(
                coder="ana", unit_id="t0/1", code="interest", start=start, end=start + 7, codebook=book
            )
            for start in at
        ]
    )
    labs.notebook(lab.root / "many.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "many.ipynb")
        labels = "() => document.querySelectorAll('.s7-margin .s7-coding').length"
        page.wait_for_function(f"() => ({labels})() > 50")
        page.locator(".s7-scroll").focus()
        for key in ("PageDown",) * 6:
            page.keyboard.press(key)
        page.wait_for_function(f"() => ({labels})() === {N}")
        # A coding that is clicked in the text, or gone to by keys, has its label next to it.
        page.keyboard.press("End")
        page.locator(f".s7-text [data-at='{at[350]}']").click()
        page.wait_for_function(IN_SIGHT, arg="word350")
        for number in (351, 352, 353):
            page.keyboard.press("ArrowDown")
            page.wait_for_function(IN_SIGHT, arg=f"word{number}")
        # By Tab there is one stop for all of them.
        assert page.locator(".s7-margin button[tabindex='0']").count() == 1
        page.locator(".s7-active-bar .s7-remove").click()
        saved(page)
    codings = Store(folder).codings()
    assert len(codings) == N - 1
    assert at[353] not in set(codings["start"])


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
        page.locator(".s7-scroll").focus()
        page.keyboard.press("End")
        page.wait_for_function("() => !document.querySelector('.s7-below')")
        assert page.evaluate(high) == before
        drag(page, *ends(page, text, "word7990 word7991"))
        page.wait_for_selector(".s7-selected")
        press(page, "5")
    assert spans(folder) == [("t0/1", "interest", "word7990 word7991")]
