"""Hits of a search, and the passages of a code, in a real JupyterLab: by keys, and on the disk."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import sense7_qual as qual
from sense7_qual import corpus
from sense7_qual.store import Store
from tests.helpers import lab as labs
from tests.helpers.coding_page import enter, press, saved, shows, spans

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

TEXTS = [
    "It asked about my STRASSE 👍🏽 and then about the Straße again.",
    "Nothing here.",
    "كان في الشارع, die Straße war laut.",
    "The strasse, at last.",
]


def study(folder: Path) -> Path:
    rows = {"id": [f"t{n}" for n in range(len(TEXTS))], "said": TEXTS, "who": "p1"}
    pd.DataFrame(rows).to_csv(folder / "texts.csv", index=False)
    units = corpus.read(folder / "texts.csv", text="said", unit_id="id", case_id="who")
    qual.Store.create(folder / "study", units=units, codebook=qual.Codebook.read("sense7"))
    return folder / "study"


def test_hits_are_coded_one_by_one_and_all_at_once_and_passages_lead_there_and_back(
    lab: labs.Lab, tmp_path: Path
) -> None:
    folder = study(tmp_path)
    code = f"import sense7_qual as qual\nqual.widgets.CodingWidget(qual.Store({str(folder)!r}), coder='ana')"
    labs.notebook(lab.root / "finding.ipynb", code)
    with lab.page() as page:
        enter(lab, page, "finding.ipynb")
        page.keyboard.press(".")
        page.keyboard.type("strasse")
        page.wait_for_function("() => document.querySelectorAll('.s7-hit').length === 2")
        assert page.locator(".s7-text .s7-hit").all_inner_texts() == ["STRASSE", "Straße"]
        press(page, "Escape", *")1)1)2)2")
        shows(page, "t3")
        assert [one[:2] for one in spans(folder)] == [
            ("t0", "affective"),
            ("t0", "affective"),
            ("t2", "cognitive"),
            ("t3", "cognitive"),
        ]
        assert [one[2] for one in spans(folder)] == ["STRASSE", "Straße", "Straße", "strasse"]
        for _ in range(2):
            press(page, "z")

        page.keyboard.press(".")
        page.get_by_text("Code all shown…").click()
        page.wait_for_selector(".s7-code-all")
        press(page, "1", "w")
        assert (
            page.locator(".s7-code-all [role=status]").inner_text() == "4 hits in 3 texts; 2 have it already"
        )
        page.keyboard.press("Enter")
        saved(page)
        codings = Store(folder).codings()
        assert codings["found_by"].eq("search").sum() == 2
        assert [one[2] for one in spans(folder)] == ["STRASSE", "Straße", "Straße", "strasse"]
        press(page, "z")
        assert len(spans(folder)) == 2
        press(page, "y")
        assert len(spans(folder)) == 4

        page.locator(".s7-clear").click()
        press(page, '"')
        page.wait_for_selector(".s7-panel .s7-row b")
        assert page.locator(".s7-panel .s7-row").count() == 4
        before = page.locator(".s7-goto input").input_value()
        page.locator(".s7-panel .s7-row b").get_by_text("STRASSE", exact=True).click()
        shows(page, "t0")
        assert "STRASSE" in page.locator(".s7-active-bar q").inner_text()
        press(page, "Backspace")
        page.wait_for_function(
            "before => document.querySelector('.s7-goto input').value === before", arg=before
        )
    assert len(spans(folder)) == 4
