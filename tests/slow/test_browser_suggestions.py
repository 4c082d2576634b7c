"""A model's suggestions, in a real browser: none before a text is finished, then answered by keys."""

from __future__ import annotations

import pytest

import sense7_qual as qual
from tests.helpers import lab as labs
from tests.helpers.coding_page import TEXTS, enter, press, saved, shows, sound, spans, study

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

CELL = """
import pandas as pd
import sense7_qual as qual
def words(units):
    rows = [(unit_id, code, 0.7, True, *span) for unit_id, text in zip(units["unit_id"], units["text"])
            for code, span in (("relational", (text.find("remembered"), text.find("exam"))),
                               ("interest", (None, None)))
            if "remembered" in text or code == "interest" and "asked" in text]
    return pd.DataFrame(rows, columns=["unit_id", "code", "probability", "suggested", "start", "end"])
qual.widgets.CodingWidget(qual.Store({study!r}), coder="ana", suggest=words)
"""


def test_suggestions_come_after_the_text_is_finished_and_are_answered_by_keys(lab, tmp_path):
    folder = study(tmp_path / "study")
    labs.notebook(lab.root / "suggest.ipynb", CELL.format(study=str(folder)))
    sent: list[str] = []
    with lab.page() as page:
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sent.append(str(frame))))
        enter(lab, page, "suggest.ipynb")
        press(page, "1")
        assert not [frame for frame in sent if '"suggestions": {' in frame or '"quotes"' in frame]
        press(page, "Enter")
        page.wait_for_selector(".s7-suggestion.s7-current")
        assert [frame for frame in sent if '"suggestions": {' in frame and '"quotes"' in frame]
        sound(page, "suggestions")
        assert page.locator(".s7-suggestion-words").all_inner_texts() == [
            "“remembered what I said 👍🏽 about my ”",
            "The whole text",
        ]
        shows(page, "t0/1")
        press(page, "*", "!")
        page.wait_for_selector(".s7-suggestion-rejected")
        sound(page, "answered")
        press(page, "Enter")  # of the next text nothing is suggested: Enter goes on at once
        shows(page, "t1/1")
        press(page, "Enter")
        shows(page, "t2/1")
        press(page, "Enter")
        page.locator(".s7-suggestion button", has_text="Apply").click()
        saved(page)
        press(page, "z")
        page.wait_for_selector(".s7-suggestion-none")
    store = qual.Store(folder)
    words = TEXTS[0][TEXTS[0].find("remembered") : TEXTS[0].find("exam")]
    assert sorted(spans(folder)) == [("t0/1", "affective", None), ("t0/1", "relational", words)]
    made = qual.suggestions.answers(store.acts()).set_index(["unit_id", "code"])["answer"]
    assert made.to_dict() == {
        ("t0/1", "relational"): "accepted",
        ("t0/1", "interest"): "rejected",
        ("t2/1", "interest"): "none",
    }
    assert store.decisions()["applied"].sum() == 1
