"""Choosing quotes without a browser: what is proposed and shown, what is recorded, what stays hidden."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from sense7_qual import acts, redact, report
from sense7_qual.errors import ActError, ArgumentError, StoreError, TableError
from sense7_qual.store import Store
from sense7_qual.widgets import QuotesWidget
from tests.helpers.adjudicator import BLIND, UNITS, decided, disagree
from tests.helpers.browser import new_id
from tests.helpers.chooser import Chooser
from tests.helpers.revised_codebooks import BASE

pytestmark = pytest.mark.long

RATED = UNITS.assign(stars=[4.0, 3, 5, 2, 1])


def disputed(path: Path) -> None:
    disagree(Store.create(path, units=RATED, codebook=BASE))


@pytest.fixture
def store(copied: Callable[[Callable[[Path], object]], Store]) -> Store:
    return copied(disputed)


def test_passages_come_in_the_order_of_the_rule_with_what_one_must_know(store: Store) -> None:
    store.append([acts.rule(coder="chair", unit_id="m3", code="warm", applied=False, codebook=BASE)])
    chooser = Chooser(store, rating="stars", names=["kind of it"])
    welcome = chooser.ask("hello")
    assert "Not counted, because blind: round 'blind'." in welcome["words"]
    (kind, disputed) = chooser.rows("kind")
    assert (kind["unit_id"], kind["why"], kind["rating"], kind["case_id"]) == (
        "m3",
        "drawn at random",
        "5",
        "q",
    )
    assert (kind["coders"], kind["identifies"]) == ("ana, ben, cleo", "name")
    assert [kind["words"][start:end] for start, end in kind["marks"]] == ["kind of it"]
    assert disputed["why"] == "disputed: 1 of 3 coders applied it, not settled"
    warm = {row["unit_id"]: row for row in chooser.rows("warm")}
    assert warm["m3"]["why"] == "near miss: 1 of 3 coders applied it, ruled not to apply"
    assert (warm["m3"]["role"], warm["m3"]["drawn"]) == ("disconfirms", True)
    # The words between 3 and 11 were coded, and 👍🏽 before the end of the text counts as four in a browser.
    assert (warm["m1"]["start"], warm["m1"]["end"], warm["m1"]["words"]) == (3, 11, "listened")
    shown = chooser.ask("text", unit_id="m1", code="warm", start=3, end=11)
    assert (shown["text"], shown["coded"][0]["coder"]) == ("It listened 👍🏽 to me.", "ana")
    assert shown["context"] == [{"role": "user", "text": "Before it."}]


def test_nothing_of_a_blind_round_is_shown_nor_what_was_decided_on_it(store: Store) -> None:
    hidden = {"unit_id": "m2", "code": "warm", "codebook": BASE}
    store.append([acts.quote(coder="chair", state="approved", paraphrase=f"{BLIND} knows.", **hidden)])
    chooser = Chooser(store)
    chooser.ask("hello")
    for code in BASE.codable:
        for row in chooser.rows(code.id):
            chooser.ask("text", **{name: row[name] for name in ("unit_id", "code", "start", "end")})
    refused = chooser.ask("text", unit_id="m2", code="warm", start=None, end=None)
    assert refused["type"] == "refused"
    assert chooser.decide("m2", "warm")["type"] == "refused"
    assert BLIND not in json.dumps(chooser.heard)
    assert chooser.widget.n_approved == 0, "another lead's quote on a text that is blind is not counted"
    assert len(store.quotes()) == 1


def test_decisions_are_recorded_once_and_taken_back(store: Store) -> None:
    chooser = Chooser(store)
    chooser.ask("hello")
    asked = new_id()
    for _ in range(2):  # the answer was lost
        done = chooser.decide("m3", "kind", id=asked)
    assert (done["type"], done["rows"][0]["quote"]["state"]) == ("done", "approved")
    assert (chooser.widget.n_approved, len(store.acts(kind="quote"))) == (1, 1)
    chooser.decide("m1", "warm", "chosen", start=3, end=11, paraphrase=" It paid attention. ")
    stands = store.quotes().set_index("unit_id")
    assert stands.loc["m1", ["state", "start", "end", "paraphrase"]].tolist() == [
        "chosen",
        3,
        11,
        "It paid attention.",
    ]
    assert chooser.undo()["undone"] is True
    assert chooser.undo("redo")["redone"] is True
    assert [chooser.undo()["unit_id"], chooser.undo()["unit_id"]] == ["m1", "m3"]
    assert chooser.undo()["type"] == "refused"
    assert store.quotes().empty
    chooser.undo("redo")
    assert store.quotes()[["unit_id", "state", "coder"]].values.tolist() == [["m3", "approved", "lead"]]
    assert Chooser(store).widget.n_approved == 1, "a new widget goes on where this one was"
    assert Chooser(store, coder="chair").undo()["type"] == "refused", "nobody takes back what another decided"


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [(12, 13, "👍🏽"), (12, 14, "👍🏽"), (14, 18, "👍🏽 t"), (3, 8, "liste")],
)
def test_no_character_is_divided_by_a_cut(store: Store, start: int, end: int, words: str) -> None:
    chooser = Chooser(store)
    assert chooser.decide("m1", "kind", "chosen", start=start, end=end)["type"] == "done"
    (quote,) = store.quotes().to_dict("records")
    assert RATED["text"][0][quote["start"] : quote["end"]] == words


def test_words_that_stand_in_a_paraphrase_are_approved_under_no_other_code(store: Store) -> None:
    store.append(decided("ana", "m4", "kind", round="open"))
    chooser = Chooser(store)
    chooser.decide("m4", "warm", paraphrase="It heard my family.")
    refused = chooser.decide("m4", "kind")
    assert (refused["type"], "under Warm, these words are paraphrased" in refused["message"]) == (
        "refused",
        True,
    )
    shown = chooser.ask("text", unit_id="m4", code="kind", start=None, end=None)
    assert shown["others"] == [{"code": "warm", "state": "approved", "paraphrase": "It heard my family."}]
    assert chooser.decide("m4", "kind", paraphrase="It heard my family.")["type"] == "done"
    printed = report.tables.quote(
        store.codings(round="open"), store.units, codebook=BASE, quotes=store.quotes()
    )
    assert {row[1] for row in printed.rows} == {"It heard my family. [paraphrase]"}


def test_a_paraphrase_that_is_begun_outlives_the_widget(store: Store) -> None:
    chooser = Chooser(store)
    draft = {"unit_id": "m3", "code": "kind", "start": None, "end": None, "text": "It was f"}
    assert chooser.ask("keep", drafts=[draft])["type"] == "kept"
    from sense7_qual.widgets._lead import IN_KERNEL

    IN_KERNEL.clear()
    assert Chooser(Store(store.path)).ask("hello")["unsaved"] == {"drafts": [draft]}
    store.forget("q", why="asked")
    assert Chooser(Store(store.path)).ask("hello")["unsaved"] in ({}, {"drafts": []})


def test_what_comes_in_meanwhile_is_read_when_asked_and_a_merged_code_keeps_its_quotes(store: Store) -> None:
    chooser = Chooser(store)
    chooser.decide("m3", "kind")
    merged = replace(BASE, codes=tuple(one for one in BASE.codes if one.id != "kind"))
    store.revise(merged, why="One.", coder="lead", merged={"kind": "warm"})
    chooser.ask("code", code="warm", first=0, fresh=True)
    rows = {row["unit_id"]: row for row in chooser.rows("warm")}
    assert rows["m3"]["quote"]["state"] == "approved"
    assert chooser.ask("code", code="kind", first=0)["type"] == "refused"
    assert chooser.undo()["undone"] is True


GOOD = {"kind": "quote", "unit_id": "m3", "code": "kind", "state": "approved", "role": "shows"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"state": "printed"},
        {"role": "shown"},
        {"code": "warm "},
        {"unit_id": 3},
        {"start": 2, "end": 99},
        {"start": True, "end": 2},
        {"paraphrase": 3},
        {"paraphrase": "So KIND of it!"},
        {"kind": "apply"},
    ],
)
def test_what_no_page_sends_is_refused_and_nothing_is_recorded(store: Store, wrong: dict[str, Any]) -> None:
    chooser = Chooser(store)
    assert chooser.ask("act", act=GOOD | wrong)["type"] == "refused"
    assert store.acts(kind="quote") == []


def test_what_is_no_study_of_a_lead_is_refused(store: Store) -> None:
    with pytest.raises(ArgumentError, match="expected an open study"):
        QuotesWidget(pd.DataFrame(), coder="lead")
    with pytest.raises(ArgumentError, match="per_code to be 1 or more"):
        QuotesWidget(store, coder="lead", per_code=0)
    with pytest.raises(TableError, match="did you mean 'stars'"):
        QuotesWidget(store, coder="lead", rating="star")
    with pytest.raises(ActError):
        QuotesWidget(store, coder="consensus")

    class Coders(Store):
        desk = SimpleNamespace(may_revise=False)

    with pytest.raises(StoreError, match="only a leading role"):
        QuotesWidget(Coders(store.path), coder="ana")


def test_a_quote_whose_coding_was_removed_is_listed_and_can_be_refused(store: Store) -> None:
    chooser = Chooser(store, rating="stars")
    assert chooser.decide("m1", "warm", start=3, end=11)["type"] == "done"
    words = {"unit_id": "m1", "code": "warm", "start": 3, "end": 11}
    store.append([acts.remove(coder="ana", round="open", codebook=BASE, **words)])
    other = Chooser(store, coder="chair", rating="stars")  # who did not decide it, and might see the coding
    for reader in (chooser, other):
        (row,) = [
            row for row in reader.ask("code", code="warm", first=0, fresh=True)["rows"] if row["removed"]
        ]
        assert (row["unit_id"], row["words"], row["quote"]["state"]) == ("m1", "listened", "approved")
        assert (row["rating"], row["case_id"], row["coders"], row["drawn"]) == ("4", "p", "", False)
    counted = {one["code"]: one for one in chooser.ask("hello")["progress"]}["warm"]
    assert (counted["n_approved"], counted["n_waiting"]) == (0, 1), "it is not printed, and is to be decided"
    shown = chooser.ask("text", **{name: row[name] for name in ("unit_id", "code", "start", "end")})
    assert (shown["text"], shown["coded"]) == ("It listened 👍🏽 to me.", [])
    refused = chooser.decide("m1", "warm", start=3, end=11)
    assert (refused["type"], "the coding of this passage was removed" in refused["message"]) == (
        "refused",
        True,
    )
    done = chooser.decide("m1", "warm", "refused", start=3, end=11)
    assert [row["quote"]["state"] for row in done["rows"]] == ["refused"]
    assert chooser.undo()["rows"][0]["quote"]["state"] == "approved"
    chooser.decide("m1", "warm", "refused", start=3, end=11)
    assert not any(row["removed"] for row in Chooser(store).rows("warm"))


def test_identifiers_are_looked_for_in_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n, read = 300, []
    texts = [f"Mail it{at}@example.org." for at in range(n)]
    units = pd.DataFrame(
        {
            "unit_id": [f"m{at:03}" for at in range(n)],
            "text": texts,
            "document_id": "d",
            "case_id": [f"p{at}" for at in range(n)],
            "position": range(n),
        }
    )
    units.loc[100:, "text"] = "It listened."
    store = Store.create(tmp_path / "many", units=units, codebook=BASE)
    store.append([act for unit_id in units["unit_id"] for act in decided("lead", unit_id, "warm")])
    find = redact.find

    def counting(frame: pd.DataFrame, **named: Any) -> pd.DataFrame:
        read.extend(frame["unit_id"])
        return find(frame, **named)

    monkeypatch.setattr(redact, "find", counting)
    chooser = Chooser(store)
    assert len(set(read)) < 100
    rows = chooser.rows("warm")
    assert len(set(read)) < 150
    assert sum(row["identifies"] == "email" for row in rows) > 5
    assert [row["identifies"] for row in rows if row["drawn"]] == ["", "", ""]
