"""Memos in the coding widget: on a text, words of it, a code, the study; their list, and what leaves it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sense7_qual import acts, rounds
from sense7_qual.acts import Act
from sense7_qual.store import Store
from tests.helpers.browser import SENSE7, SENTINEL, TEXTS, Browser, OfStudy, new_id, units
from tests.helpers.hostile_strings import HOSTILE

STUDY = {"target_kind": "study", "unit_id": None}
WARM = {"target_kind": "code", "code": "affective", "unit_id": None}


def saving(**options: Any) -> tuple[Browser, list[Act]]:
    saved: list[Act] = []
    return Browser(saved.extend, **options), saved


def listed(browser: Browser, **asked: object) -> list[str]:
    return [row["text"] for row in browser.ask("memos", **asked)["rows"]]


def test_a_memo_on_words_is_shown_with_its_text_and_taken_back() -> None:
    browser, saved = saving()
    answer = browser.do("memo", target_kind="span", start=5, end=10, unit_id="m1", text="A thought 👍🏽")
    assert (saved[0].target_kind, TEXTS[1][saved[0].start : saved[0].end]) == ("span", "cafe\u0301")
    (memo,) = answer["unit"]["memos"]
    assert (memo["start"], memo["end"], memo["text"], memo["team"]) == (5, 10, "A thought 👍🏽", False)
    assert (answer["flag"], answer["unit"]["memo"], answer["can_undo"]) == ("c", None, True)
    again = {"target_kind": "span", "start": 5, "end": 10, "unit_id": "m1", "memo_id": memo["memo_id"]}
    assert browser.do("memo", text="two", **again)["unit"]["memos"][0]["text"] == "two"
    assert browser.do("memo", text="", **again)["unit"]["memos"] == []
    assert browser.do("undo", unit_id=None)["unit"]["memos"][0]["text"] == "two"


def test_memos_on_codes_and_on_the_study_outlive_the_widget() -> None:
    browser, saved = saving()
    for about, text in ((WARM, "on the code"), (STUDY, "on it all")):
        answer = browser.do("memo", text=text, **about)
        assert answer["type"] == "done"
    assert [(memo["on"], memo["code"], memo["text"]) for memo in answer["memos"]] == [
        ("code", "affective", "on the code"),
        ("study", None, "on it all"),
    ]
    later = Browser(saved.extend, acts=tuple(saved))
    welcome = later.ask("hello")
    assert (welcome["memos"], welcome["can_undo"]) == (answer["memos"], True)
    assert [memo["text"] for memo in later.do("undo", unit_id=None)["memos"]] == ["on the code"]
    assert [memo["text"] for memo in later.do("redo", unit_id=None)["memos"]] == ["on the code", "on it all"]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({"target_kind": "theme"}, "expected it on one of unit, span, code, study"),
        ({"target_kind": ["unit"]}, "expected it on one of unit, span, code, study"),
        ({"target_kind": "span", "start": None, "end": None}, "no words are selected"),
        ({"target_kind": "span", "start": 1}, "two whole numbers"),
        ({"target_kind": "span", "start": 3, "end": 999}, "outside the text of"),
        ({"target_kind": "code", "code": "cold"}, "cold"),
        ({"target_kind": "code"}, "None"),
        ({"team": True}, "needs a round"),
        ({"text": ["x"]}, "expected text as memo"),
        ({"target_kind": "unit", "unit_id": None}, "expected a unit that is coded here"),
    ],
)
def test_a_memo_that_cannot_stand_is_refused(message: dict[str, Any], problem: str) -> None:
    browser, saved = saving()
    answer = browser.do("memo", **({"text": SENTINEL} | message))
    assert (answer["type"], saved) == ("refused", [])
    assert problem in answer["message"]
    assert SENTINEL not in answer["message"]


def test_a_memo_keeps_what_it_is_about_and_for_whom() -> None:
    browser, saved = saving(round="one")
    first = browser.do("memo", text="mine")["unit"]["memo"]
    browser.do("memo", text="mine still", memo_id=first["memo_id"], team=True)
    browser.do("memo", text="ours", unit_id="m1", team=True)
    assert [act.round for act in saved] == [None, None, "one"]
    for about in (WARM, STUDY, {"unit_id": "m2"}, {"target_kind": "span", "start": 0, "end": 2}):
        answer = browser.do("memo", text="x", memo_id=first["memo_id"], **about)
        assert (answer["type"], len(saved)) == ("refused", 3)


def test_the_list_has_the_newest_first_and_filters() -> None:
    browser, _ = saving()
    browser.do("apply", code="affective", start=0, end=5)
    browser.do("memo", text="Überall on m0")
    browser.do("memo", text="words", target_kind="span", start=0, end=2)
    browser.do("memo", text="other words", target_kind="span", start=6, end=8)
    browser.do("memo", text="code", **WARM)
    browser.do("memo", text="study", **STUDY)
    assert listed(browser) == ["study", "code", "other words", "words", "Überall on m0"]
    assert listed(browser, on="span") == ["other words", "words"]
    assert listed(browser, code="affective") == ["code", "words", "Überall on m0"]
    assert listed(browser, find="UBERALL") == ["Überall on m0"]
    assert listed(browser, find="m0") == ["other words", "words", "Überall on m0"]
    row = browser.ask("memos", on="span")["rows"][1]
    assert (row["place"], row["unit_id"], row["start"], row["end"]) == (0, "m0", 0, 2)
    assert (row["words"], row["own"], row["coder"]) == (TEXTS[0][:2], True, "ana")
    assert browser.ask("memos", on="theme")["type"] == "refused"


@pytest.mark.long
def test_thousands_of_memos_come_in_pages_at_once() -> None:
    before = [
        acts.memo(
            coder="ana", unit_id="m0", text=f"memo {n}", codebook=SENSE7, at=f"2026-01-01T00:00:00.{n:06}Z"
        )
        for n in range(5000)
    ]
    browser, _ = saving(acts=before)
    page = browser.ask("memos", first=100)
    assert (page["n"], page["n_all"], page["first"], len(page["rows"])) == (5000, 5000, 100, 50)
    assert page["rows"][0]["text"] == "memo 4899"


def in_a_study(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "pilot", units=units(), codebook=SENSE7)
    named = {"units": ["m0", "m1"], "coders": ["ana", "ben"], "codebook": SENSE7}
    store.append([rounds.open_round("one", coder="lead", **named)])
    for text, round in ((f"ben alone {SENTINEL}", None), ("of ben, for the team", "one")):
        span = {"target_kind": "span", "unit_id": "m1", "start": 0, "end": 2}
        store.append([acts.memo(coder="ben", text=text, codebook=SENSE7, round=round, **span)])
    store.append([acts.memo(coder="ana", text="own", codebook=SENSE7, target_kind="study")])
    return store


def test_the_teams_memos_are_listed_once_their_round_is_unblinded(tmp_path: Path) -> None:
    store = in_a_study(tmp_path)
    browser = Browser(None, units=store, codebook=None, acts=None, round="one")  # type: ignore[arg-type]
    assert listed(browser, fresh=True) == ["own"]
    assert len(browser.widget.memos().rows) == 1
    store.append([rounds.unblind("one", coder="lead", codebook=SENSE7)])
    assert listed(browser) == ["own"]
    rows = browser.ask("memos", fresh=True)["rows"]
    assert [(row["text"], row["coder"], row["own"]) for row in rows] == [
        ("own", "ana", True),
        ("of ben, for the team", "ben", False),
    ]
    assert SENTINEL not in str(browser.heard)
    theirs = {"target_kind": "span", "start": 0, "end": 2, "memo_id": rows[1]["memo_id"]}
    browser.do("memo", text="", unit_id="m1", **theirs)
    assert listed(browser, fresh=True)[1] == "of ben, for the team"
    table = browser.widget.memos()
    table.write(tmp_path / "memos.docx")
    assert [row[5] for row in table.rows] == ["ana", "the team, with round one"]
    assert "own" not in repr(table)


def test_a_coder_answers_a_memo_of_the_team_and_revises_the_answer(tmp_path: Path) -> None:
    store = in_a_study(tmp_path)
    store.append([rounds.unblind("one", coder="lead", codebook=SENSE7)])
    browser = OfStudy(store, round="one")
    theirs = next(row for row in browser.ask("memos", fresh=True)["rows"] if not row["own"])
    named = new_id()
    said = {"text": "So do I.", "team": True, "answers": theirs["memo_id"]}
    assert browser.do("memo", "m1", named, **said)["unit"]["memo"] is None
    browser.do("memo", "m1", text="Or not.", memo_id=named)
    row = store.memos(viewer="ben").set_index("memo_id").loc[named]
    assert (row["text"], row["answers"], row["round"]) == ("Or not.", theirs["memo_id"], "one")
    assert browser.ask("memos")["rows"][0]["answers"] == theirs["memo_id"]


@pytest.mark.long
@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_typed_comes_back_as_it_is(text: str) -> None:
    browser, saved = saving()
    for about in ({"target_kind": "span", "start": 0, "end": 2}, WARM, STUDY):
        answer = browser.do("memo", text=text, **about)
        assert answer["type"] == "done"
    shown = [*answer["memos"], *browser.ask("unit", place=0)["unit"]["memos"]]
    typed = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert {memo["text"] for memo in shown} == ({typed} if typed else set())
    assert {act.memo_text for act in saved} == {typed}
    assert text.strip() == "" or text not in repr(browser.widget)
