"""The history in the coding widget: what was done, taken back step by step or back to a point, and again."""

from __future__ import annotations

import base64
import struct
from datetime import datetime
from typing import Any

import pytest

from sense7_qual import acts
from sense7_qual.acts import Act
from tests.helpers.browser import SENSE7, SENTINEL, Browser
from tests.helpers.hostile_strings import HOSTILE


def saving(**options: Any) -> tuple[Browser, list[Act]]:
    saved: list[Act] = list(options.get("acts", ()))
    return Browser(saved.extend, **options), saved


def rows(browser: Browser, scope: str = "sitting", **asked: object) -> list[dict[str, Any]]:
    answer = browser.ask("history", scope=scope, **asked)
    assert answer["type"] == "history", answer
    found: list[dict[str, Any]] = answer["rows"]
    return found


def kinds(browser: Browser, **asked: Any) -> list[tuple[str, str]]:
    return [(row["kind"], row["state"]) for row in rows(browser, **asked)]


def test_every_step_is_listed_the_newest_first_with_its_words_and_time() -> None:
    browser, saved = saving()
    browser.do("apply", code="affective", start=3, end=7, facets={"valence": "met"}, confidence="unsure")
    browser.do("memo", text="why", target_kind="code", code="affective", unit_id=None)
    browser.do("propose", label="Hope", definition="", unit_id="m1")
    browser.do("finish", unit_id="m1")
    listed = rows(browser)
    assert [row["kind"] for row in listed] == ["finish", "propose", "memo", "apply"]
    assert [row["words"] for row in listed] == ["", "Hope", "why", ""]
    first = listed[-1]
    assert (first["quote"], first["start"], first["end"], first["place"]) == ("👍🏽", 3, 7, 0)
    assert (first["facets"], first["unsure"], first["code"]) == ({"valence": "met"}, True, "affective")
    times = base64.b64decode(browser.ask("history", scope="sitting")["times"])
    assert struct.unpack(f"<{len(saved)}I", times) == tuple(
        int(datetime.fromisoformat(act.at).timestamp()) for act in reversed(saved)
    )


def test_a_moved_coding_is_one_line_with_the_words_before() -> None:
    browser, saved = saving()
    browser.do("apply", code="affective", start=3, end=7)
    browser.do("apply", code="affective", start=0, end=7, **{"from": {"start": 3, "end": 7}})
    first, *others = rows(browser)
    assert len(others) == 1
    assert (first["kind"], first["moved_from"], others[0]["moved_from"]) == ("apply", "👍🏽", None)
    assert first["quote"].endswith("👍🏽")
    answer = browser.do("undo", unit_id=None, target=first["act_id"])
    assert [(one["start"], one["end"]) for one in answer["unit"]["codings"]] == [(3, 7)]
    assert kinds(browser) == [("apply", "undone"), ("apply", "stands")]
    assert rows(browser)[0]["taken_back"] == saved[-1].at
    browser.do("redo", unit_id=None, target=first["act_id"])
    assert kinds(browser) == [("apply", "stands"), ("apply", "stands")]


def test_codings_that_were_moved_together_are_one_line_that_says_how_many() -> None:
    browser, _ = saving()
    for code in ("affective", "cognitive", "relational"):
        browser.do("apply", code=code, start=3, end=7)
    on_all = {"from": {"start": 3, "end": 7}, "also": ["affective", "cognitive"]}
    browser.do("apply", code="relational", start=0, end=7, **on_all)
    first, second, *_ = listed = rows(browser)
    assert (len(listed), first["code"], first["moved_from"], first["also"]) == (4, "relational", "👍🏽", 2)
    assert second["also"] == 0
    answer = browser.do("undo", unit_id=None, target=first["act_id"])
    assert {(one["code"], one["start"]) for one in answer["unit"]["codings"]} == {
        ("affective", 3),
        ("cognitive", 3),
        ("relational", 3),
    }


def test_one_step_is_taken_back_and_done_again_after_others() -> None:
    browser, saved = saving()
    for code in ("affective", "cognitive", "relational"):
        browser.do("apply", code=code)
    middle = rows(browser)[1]["act_id"]
    answer = browser.do("undo", unit_id=None, target=middle)
    assert [one["code"] for one in answer["unit"]["codings"]] == ["affective", "relational"]
    assert kinds(browser) == [("apply", "stands"), ("apply", "undone"), ("apply", "stands")]
    assert rows(browser)[1]["taken_back"] == saved[-1].at
    assert browser.do("undo", unit_id=None, target=middle)["type"] == "refused"
    browser.do("finish")  # from here on the key for redo has nothing to do again
    assert browser.do("redo", unit_id=None)["type"] == "refused"
    answer = browser.do("redo", unit_id=None, target=middle)
    assert [one["code"] for one in answer["unit"]["codings"]] == ["affective", "cognitive", "relational"]
    assert [act.kind for act in saved[-3:]] == ["undo", "finish", "redo"]
    assert browser.do("undo", unit_id=None)["unit"]["finished"] is True  # the last that was done: the redo
    assert [act.target for act in saved[-1:]] == [middle]
    # A new widget knows the same.
    again, _ = saving(acts=tuple(saved))
    assert kinds(again, scope="all") == kinds(browser)
    assert kinds(again) == []


def test_going_back_is_told_beforehand_and_is_undone_by_the_same_steps() -> None:
    browser, saved = saving()
    browser.do("apply", code="affective")
    here = saved[0].act_id
    browser.do("apply", code="cognitive", unit_id="m1")
    browser.do("apply", code="relational", unit_id="m1")
    browser.do("undo", unit_id=None)
    browser.do("memo", text="on it all", target_kind="study", unit_id=None)
    browser.do("finish", unit_id="m2")
    told = browser.ask("back", act_id=here)
    assert (len(told["ids"]), told["n_texts"]) == (3, 2)
    assert told["ids"] == [saved[5].act_id, saved[4].act_id, saved[1].act_id]
    for target in told["ids"]:
        assert browser.do("undo", unit_id=None, target=target)["type"] == "done"
    assert acts.fold(saved).codings["code"].tolist() == ["affective"]
    assert browser.ask("back", act_id=here)["ids"] == []
    for target in reversed(told["ids"]):
        assert browser.do("redo", unit_id=None, target=target)["type"] == "done"
    record = acts.fold(saved)
    assert record.codings["code"].tolist() == ["affective", "cognitive"]
    assert (len(record.coverage), len(record.memos)) == (1, 1)


def test_another_rounds_acts_are_listed_and_stay() -> None:
    before = [acts.apply(coder="ana", unit_id="m0", code="affective", round="one", codebook=SENSE7)]
    browser, saved = saving(acts=before, round="two")
    assert kinds(browser, scope="all") == [("apply", "fixed")]
    assert browser.do("undo", unit_id=None, target=before[0].act_id)["type"] == "refused"
    assert browser.ask("back", act_id=before[0].act_id)["ids"] == []
    assert saved == before


@pytest.mark.parametrize(
    "asked",
    [{"scope": "ever"}, {}, {"scope": ["all"]}, {"scope": "text"}, {"scope": "text", "unit_id": "m9"}],
)
def test_what_cannot_be_asked_for_is_refused(asked: dict[str, Any]) -> None:
    browser, _ = saving()
    assert browser.ask("history", **asked)["type"] == "refused"
    assert browser.ask("back", act_id=SENTINEL)["type"] == "refused"
    for target in (5, ["x"], "x"):
        assert browser.do("undo", unit_id=None, target=target)["type"] == "refused"


@pytest.mark.long
def test_ten_thousand_acts_come_in_pages() -> None:
    before = [
        acts.apply(coder="ana", unit_id=f"m{n % 3}", code="affective", codebook=SENSE7, act_id=None)
        for n in range(10_000)
    ]
    browser, _ = saving(acts=before)
    answer = browser.ask("history", scope="all")
    assert (answer["n"], len(answer["rows"])) == (10_000, 60)
    later = browser.ask("history", scope="all", first=5000)
    assert (later["times"], later["rows"][0]["act_id"]) == (None, before[4999].act_id)
    assert browser.ask("history", scope="text", unit_id="m1")["n"] == 3333


@pytest.mark.long
@pytest.mark.parametrize("text", HOSTILE)
def test_what_was_typed_comes_back_as_it_is(text: str) -> None:
    browser, _ = saving()
    browser.do("memo", text=text)
    typed = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert rows(browser)[0]["words"] == (typed if len(typed) <= 120 else f"{typed[:120]}…")
