"""Codes that emerge in the coding widget: proposing, adding at once, and the texts that wait for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sense7_qual import acts
from sense7_qual.codebook import Code
from sense7_qual.store import Store
from sense7_qual.widgets._codes import alike, code_id
from sense7_qual.widgets._coding.revised import DECLINED
from tests.helpers.browser import SENSE7, SENTINEL, Browser, OfStudy, new_id, units, waiting


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "s", units=units(), codebook=SENSE7)


@pytest.fixture
def adding(store: Store) -> Store:
    store.set_options(new_codes="add", coder="lead")
    return store


def add(browser: Browser, label: str = "Hope", **named: object) -> dict[str, Any]:
    wished = {"label": label, "definition": "Looks forward.", "unit_id": "m0", "start": None, "end": None}
    return browser.ask("add_code", **{**wished, **named})


def decided(store: Store, code: str = "hope") -> dict[str, bool]:
    decisions = store.decisions(coder="ana")
    return decisions[decisions["code"] == code].set_index("unit_id")["applied"].to_dict()


# proposing ------------------------------------------------------------------------------------------


def test_a_proposal_is_an_act_that_is_saved_and_taken_back(store: Store) -> None:
    browser = OfStudy(store)
    assert browser.ask("hello")["new_codes"] == "propose"
    answer = browser.do("propose", label=" Hope \n now", definition=" Looks forward. ", start=8, end=16)
    assert (answer["type"], answer["can_undo"], answer["flag"]) == ("done", True, ".")
    row = store.proposals().iloc[0]
    assert (row["label"], row["definition"], row["start"], row["end"]) == (
        "Hope now",
        "Looks forward.",
        6,
        14,
    )
    browser.do("undo", None)
    assert store.proposals().empty
    assert browser.do("propose", label="", definition="")["type"] == "refused"
    assert browser.do("propose", label=5)["type"] == "refused"
    assert add(browser)["type"] == "refused"
    assert store.codebook == SENSE7


def test_without_a_study_codes_are_proposed_too() -> None:
    saved: list[acts.Act] = []
    browser = Browser(saved.extend)
    assert browser.ask("hello")["new_codes"] == "propose"
    browser.do("propose", label="Hope", definition="", start=None, end=None)
    assert acts.fold(saved).proposals["label"].tolist() == ["Hope"]


# adding at once -------------------------------------------------------------------------------------


@pytest.mark.long
def test_an_added_code_is_live_in_all_views_and_what_was_coded_stays(adding: Store) -> None:
    browser = OfStudy(adding)
    welcome = browser.ask("hello")
    assert welcome["new_codes"] == "add"
    browser.do("apply", code="cognitive")
    browser.do("finish")
    browser.do("apply", "m1", code="affective")
    keys = {code["id"]: code["key"] for code in welcome["codebook"]["codes"]}
    answer = add(browser)
    assert (answer["type"], answer["code"], answer["came"]) == ("added", "hope", "")
    (told,) = browser.told
    assert told["type"] == "codebook"
    after = {code["id"]: code["key"] for code in told["codebook"]["codes"]}
    assert {one: key for one, key in after.items() if one != "hope"} == keys
    assert after["hope"] not in (None, *keys.values())
    assert waiting(browser) == (["hope"], [[0, ["hope"]]])
    code = adding.codebook["hope"]
    assert (code.label, code.definition, code.origin, code.examples) == (
        "Hope",
        "Looks forward.",
        "inductive",
        (),
    )
    assert [one.coder for one in adding.revisions] == ["ana"]
    assert browser.do("apply", "m1", code="hope")["type"] == "done"
    assert browser.ask("unit", place=0)["unit"]["finished"]
    assert [browser.widget.notice, OfStudy(adding).widget.notice] == ["", ""]
    assert decided(adding) == {}


def test_adding_asked_again_by_the_same_message_adds_once(adding: Store) -> None:
    browser = OfStudy(adding)
    message = {"type": "add_code", "client": "c1", "id": new_id(), "label": "Hope", "definition": ""}
    message |= {"unit_id": "m0", "start": None, "end": None}
    assert browser.send(message)["code"] == browser.send(message)["code"] == "hope"
    assert len(adding.revisions) == 1
    assert add(browser, "hope ")["type"] == "refused"


def test_the_text_becomes_an_example_only_where_that_is_asked(adding: Store) -> None:
    browser = OfStudy(adding)
    add(browser, "Hope", start=8, end=16)
    assert SENTINEL not in adding.codebook.to_yaml().decode()
    add(browser, "Joy", start=8, end=16, example=True)
    assert adding.codebook["joy"].examples == ("listened",)
    assert all(SENTINEL not in str(one) for one in (browser.widget.get_state(), browser.widget))


@pytest.mark.long
def test_an_id_is_none_that_any_version_had(adding: Store) -> None:
    browser = OfStudy(adding)
    add(browser, "Hope")
    without = replace(adding.codebook, codes=tuple(one for one in adding.codebook if one.id != "hope"))
    adding.revise(without, why="Retired.", coder="lead")
    assert add(OfStudy(adding), "Hope")["code"] == "hope_2"


@pytest.mark.long
def test_a_colleague_s_change_comes_with_it_and_one_of_meaning_is_told(adding: Store) -> None:
    browser = OfStudy(adding)
    other = Store(adding.path)
    clearer = tuple(
        replace(one, definition="New.") if one.id == "cognitive" else one for one in other.codebook
    )
    other.revise(replace(other.codebook, codes=clearer), why="Clearer.", coder="ben")
    answer = add(browser)
    assert "redefine" in answer["came"]
    assert "cognitive" in answer["came"]
    assert adding.codebook["cognitive"].definition == "New."
    assert "hope" in adding.codebook
    assert browser.do("apply", code="hope")["type"] == "done"


def test_what_is_not_saved_is_not_lost_when_a_code_is_added_meanwhile(adding: Store) -> None:
    browser = OfStudy(adding)
    save, act_id = browser.widget._save, new_id()

    def fails(_: object) -> None:
        raise OSError("full")

    browser.widget._save = fails
    assert browser.do("apply", act_id=act_id, code="cognitive")["type"] == "failed"
    add(browser)
    browser.widget._save = save
    assert browser.do("apply", act_id=act_id, code="cognitive")["type"] == "done"
    assert adding.codings()["codebook"].tolist() == [SENSE7.fingerprint]


# the texts that wait --------------------------------------------------------------------------------


@pytest.mark.long
def test_texts_that_were_finished_before_wait_until_each_is_decided(adding: Store) -> None:
    browser = OfStudy(adding)
    for unit_id in ("m0", "m1", "m2"):
        browser.do("finish", unit_id)
    assert waiting(browser) is None
    add(browser)
    under = browser.ask("hello")["under"]
    assert waiting(browser) == (["hope"], [[0, ["hope"]], [1, ["hope"]], [2, ["hope"]]])
    browser.do("apply", "m0", code="hope")
    browser.do("finish", "m0", under=under)
    browser.do("finish", "m1", under=under)
    assert waiting(browser) == (["hope"], [[2, ["hope"]]])
    assert decided(adding) == {"m0": True, "m1": False}
    browser.do("undo", None)
    assert waiting(browser) == (["hope"], [[1, ["hope"]], [2, ["hope"]]])
    again = OfStudy(Store(adding.path))
    assert waiting(again) == waiting(browser)


@pytest.mark.long
def test_no_to_earlier_texts_stands_in_the_record_until_its_memo_ends(adding: Store) -> None:
    browser = OfStudy(adding)
    browser.do("finish", "m0")
    add(browser)
    (item,) = browser.ask("inbox", read=None)["items"]
    line = item["no"]
    assert line == DECLINED
    browser.do("memo", None, target_kind="code", code="hope", text=f"Rare.\n{line}")
    assert waiting(browser) is None
    assert waiting(OfStudy(Store(adding.path))) is None
    assert adding.memos()["text"].tolist() == [f"Rare.\n{line}"]
    assert decided(adding) == {}
    browser.do("undo", None)
    assert waiting(browser)[0] == ["hope"]
    browser.do("memo", None, target_kind="code", code="hope", text=line)
    add(browser, "Joy")
    assert waiting(browser)[0] == ["hope", "joy"]  # who finishes a text again decides on both
    assert browser.ask("decline", codes=["joy"])["type"] == "refused"


@pytest.mark.long
def test_a_text_with_another_change_is_not_decided_by_one_key(adding: Store) -> None:
    browser = OfStudy(adding)
    browser.do("apply", "m0", code="cognitive")
    browser.do("finish", "m0")
    browser.do("finish", "m1")
    clearer = tuple(
        replace(one, definition="New.") if one.id == "cognitive" else one for one in adding.codebook
    )
    adding.revise(
        replace(adding.codebook, codes=(*clearer, Code(id="hope", label="Hope"))), why="x", coder="lead"
    )
    assert waiting(OfStudy(adding)) is None  # cognitive is another code now, on every text
    split = OfStudy(adding)
    split.do("finish", "m1")
    add(split, "Joy")
    assert waiting(split) == (["joy"], [[1, ["joy"]]])
    assert split.ask("hello")["n_review"] == 1


@pytest.mark.long
def test_a_decision_that_was_shown_under_another_codebook_finishes_nothing(adding: Store) -> None:
    browser = OfStudy(adding)
    browser.do("finish", "m0")
    add(browser)
    under = browser.ask("hello")["under"]
    add(browser, "Joy")
    assert browser.do("finish", "m0", under=under)["type"] == "refused"
    assert decided(adding) == {}


# what is alike --------------------------------------------------------------------------------------

BOOK = replace(
    SENSE7,
    codes=(
        Code(id="hopeful", label="Hopeful", definition="Expects something good of the future."),
        Code(id="anger", label="Anger", definition="Is cross with somebody."),
        Code(id="group", label="Hope", codable=False),
        Code(id="cafe", label="Café talk", definition="Small things."),
    ),
)


@pytest.mark.parametrize(
    ("label", "definition", "expected"),
    [
        ("Hope", "", ["hopeful"]),
        ("hopefull", "", ["hopeful"]),
        ("ANGER", "", ["anger"]),
        ("cafe", "", ["cafe"]),
        ("Optimism", "Expects good of the future", ["hopeful"]),
        ("Future", "", ["hopeful"]),
        ("Boredom", "Nothing happens.", []),
        ("", "Expects good of the future", []),
    ],
)
def test_codes_that_are_alike_by_words(label: str, definition: str, expected: list[str]) -> None:
    found = alike(BOOK, label, definition)
    assert [one["id"] for one in found["codes"]] == expected
    assert found["note"] == ""


def test_codes_that_are_alike_by_meaning_come_behind_and_a_model_that_fails_is_told_of() -> None:
    def embed(texts: list[str]) -> np.ndarray:
        return np.array([[1.0, 0.0] if "cross" in text or "Fury" in text else [0.0, 1.0] for text in texts])

    def fails(texts: list[str]) -> np.ndarray:
        raise RuntimeError(f"no room for {texts}")

    assert alike(BOOK, "Fury", "", embed=embed)["codes"] == [{"id": "anger", "how": "meaning"}]
    failed = alike(BOOK, "Fury", "", embed=fails)
    assert failed["note"] == "Compared by words only: the comparison by meaning failed (RuntimeError)."
    browser = Browser([].extend, codebook=BOOK, embed=embed)
    answer = browser.ask("alike", label="Hope", definition="")
    assert (answer["type"], answer["codes"][0]) == ("alike", {"id": "hopeful", "how": "words"})


@pytest.mark.parametrize("label", ["Hope", "希望", "2nd", "ÄÖ", "x" * 200, "a.b-c", "_"])
def test_an_id_is_one_that_a_code_can_have(label: str) -> None:
    first = code_id(label, [])
    second = code_id(label, [first.upper()])
    assert first != second
    for one in (first, second):
        assert Code(id=one, label=label).id == one


# settings -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rating", "shown"), [("hidden", False), ("shown", True), ("finished", "finished")])
def test_the_rating_is_shown_as_the_lead_settled_it(store: Store, rating: Any, shown: object) -> None:
    store.set_options(rating=rating, coder="lead")
    assert OfStudy(store).ask("hello")["show_rating"] == shown
    assert OfStudy(store, show_rating=False).ask("hello")["show_rating"] is False
