"""The coder's inbox: what it lists, that the list of texts counts the same, how its queue is answered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sense7_qual import acts, codings, corpus, rounds
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from tests.helpers.browser import OfStudy, new_id

BOOK = Codebook.read("sense7")


def written(tmp_path: Path) -> Any:
    """Return the units of a file: 30 texts."""
    lines = [f"It listened to me {n} times.,m{n}" for n in range(30)]
    (tmp_path / "comments.csv").write_text("\n".join(["comment,id", *lines]))
    return corpus.read(tmp_path / "comments.csv", text="comment", unit_id="id")


@pytest.fixture(
    params=["folder", pytest.param("postgresql", marks=[pytest.mark.nightly, pytest.mark.postgres])]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Return a study in which ana finished 20 of 30 texts, and coded words of 12 of these as affective."""
    where = tmp_path / "study" if request.param == "folder" else request.getfixturevalue("postgres")()
    study = Store.create(where, units=written(tmp_path), codebook=BOOK)
    on = {"coder": "ana", "code": "affective", "codebook": BOOK}
    study.append([acts.apply(unit_id=f"m{n}", start=0, end=11, **on) for n in range(12)])
    study.append([acts.finish(coder="ana", unit_id=f"m{n}", codebook=BOOK) for n in range(20)])
    return study


def revised(store: Store, meaning: str, **fields: Any) -> None:
    """Have the lead change the first code, and say what that does to its meaning."""
    fields = fields or {"definition": BOOK["affective"].definition + " It is warm."}
    codes = [replace(one, **fields) if one.id == "affective" else one for one in BOOK]
    store.revise(
        replace(BOOK, codes=tuple(codes)),
        why="Clearer.",
        coder="lead",
        meaning={"affective": (meaning, "As all agreed.")},
    )


def items(browser: OfStudy, **asked: Any) -> dict[str, dict[str, Any]]:
    return {one["what"]: one for one in browser.ask("inbox", **asked)["items"]}


def listed(browser: OfStudy) -> list[int]:
    rows = browser.ask("list", state="review", here=None, with_order=False)["rows"]
    return [row["place"] for row in rows]


def queue(browser: OfStudy, of: str = "stale") -> list[int]:
    return [place for place, _ in browser.ask("again", of=of)["steps"]]


def stale(store: Store) -> set[str]:
    rows = codings.stale(store.codings(), store.coverage(), store.codebook, revisions=store.revisions)
    return set(rows["unit_id"])


@pytest.mark.parametrize(
    ("meaning", "texts"), [("narrow", range(12)), ("widen", range(12, 20)), ("redefine", range(20))]
)
def test_inbox_list_queue_and_statistics_name_the_same_texts(
    store: Store, meaning: str, texts: range
) -> None:
    assert items(OfStudy(store)) == {}
    revised(store, meaning)
    browser = OfStudy(store)
    expected = list(texts)
    assert (items(browser)["again"]["n"], listed(browser), queue(browser)) == (len(texts), expected, expected)
    assert stale(store) == {f"m{n}" for n in texts}
    browser.do("finish", f"m{expected[0]}")
    assert (items(browser)["again"]["n"], listed(browser), queue(browser)) == (
        len(texts) - 1,
        expected[1:],
        expected[1:],
    )


def test_a_rewording_leaves_nothing_to_look_at_and_its_two_wordings_are_read_once(store: Store) -> None:
    revised(store, "reword")
    browser = OfStudy(store)
    assert (listed(browser), queue(browser), stale(store)) == ([], [], set())
    item = items(browser)["reworded"]
    assert item["rule"]["parts"][0]["words"] == [
        ["=", BOOK["affective"].definition + " "],
        ["+", "It is warm."],
    ]
    assert "reworded" in items(browser)
    assert items(browser, read=item["id"]) == {}
    assert items(browser) == {}


def test_what_was_read_stays_read_in_a_folder_after_a_restart(tmp_path: Path) -> None:
    study = Store.create(tmp_path / "study", units=written(tmp_path), codebook=BOOK)
    study.append([acts.finish(coder="ana", unit_id="m1", codebook=BOOK)])
    revised(study, "reword")
    first = OfStudy(study)
    items(first, read=items(first)["reworded"]["id"])
    assert items(OfStudy(Store(study.path))) == {}


def test_the_queue_shows_which_words_of_the_rule_are_gone_and_new(store: Store) -> None:
    first, *rest = BOOK["affective"].definition.split(" ")
    revised(store, "narrow", definition=" ".join(["Surely", *rest]))
    rule = OfStudy(store).ask("again", of="stale")["rules"][0]
    assert (rule["code"], rule["what"]) == ("affective", "applies to less than before")
    assert rule["parts"][0] == {
        "name": "definition",
        "words": [["-", first + " "], ["+", "Surely "], ["=", " ".join(rest)]],
    }


def test_no_takes_the_coding_off_and_finishes_the_text_in_one_step(store: Store) -> None:
    revised(store, "narrow")
    browser = OfStudy(store)
    off = {"kind": "remove", "code": "affective", "start": 0, "end": 11}
    asked = {
        "with": [off],
        "under": store.codebook.fingerprint,
        "seen": browser.ask("unit", place=0)["unit"]["n_acts"],
    }
    named = new_id()
    done = browser.do("finish", "m0", named, **asked)
    assert (done["kind"], done["unit"]["codings"], done["unit"]["finished"]) == ("finish", [], True)
    again = browser.do("finish", "m0", named, **asked)  # sent twice, as after a lost answer
    assert (again["unit"], len(store.acts(coder="ana"))) == (done["unit"], 34)
    assert "m0" not in set(store.codings()["unit_id"])
    assert stale(store) == {f"m{n}" for n in range(1, 12)}

    after = OfStudy(store)  # as after a restart
    undone = after.do("undo", None)
    assert [one["code"] for one in undone["unit"]["codings"]] == ["affective"]
    assert (undone["n_review"], queue(after), stale(store)) == (
        12,
        list(range(12)),
        {f"m{n}" for n in range(12)},
    )


def test_only_codings_go_along_with_an_act(store: Store) -> None:
    refused = OfStudy(store).do("finish", "m25", **{"with": [{"kind": "rule", "code": "affective"}]})
    assert refused["type"] == "refused"
    assert "m25" not in set(store.coverage()["unit_id"])


def test_a_newer_version_waits_in_the_inbox_until_it_is_loaded(store: Store) -> None:
    browser = OfStudy(store)
    browser.ask("hello")
    revised(Store(store.path) if hasattr(store, "path") else store, "narrow")
    browser.ask("unit", place=20)
    assert list(items(browser)) == ["newer"]
    browser.ask("take_codebook", agreed=store.desk.current_codebook())
    assert list(items(browser)) == ["again"]
    assert items(browser)["again"]["more"].startswith(
        "‘Affective Understanding’ applies to less than before."
    )


def test_texts_finished_before_a_code_existed_are_a_queue_of_their_own(store: Store) -> None:
    hope = Code(id="hope", label="Hope", definition="Looks forward.")
    store.revise(replace(BOOK, codes=(*BOOK.codes, hope)), why="Missing.", coder="lead")
    browser = OfStudy(store)
    item = items(browser)["new"]
    assert (item["title"], item["n"], queue(browser, "new")) == (
        "20 texts finished before ‘Hope’ existed",
        20,
        list(range(20)),
    )
    browser.do("memo", None, target_kind="code", code="hope", text=item["no"])
    assert items(browser) == {}


def test_who_asked_for_texts_is_said(store: Store) -> None:
    revised(store, "narrow")
    browser = OfStudy(store, review=["m3", "m4"])
    assert items(browser)["again"]["more"] == "You were asked to look through them."
    assert (listed(browser), queue(browser)) == ([3, 4], [])


@pytest.mark.parametrize(("review", "begins"), [(None, False), ("stale", True), (["m3"], False)])
def test_the_queue_opens_by_itself_only_where_the_cell_says_so(
    store: Store, review: Any, begins: bool
) -> None:
    revised(store, "narrow")
    assert OfStudy(store, review=review).ask("hello")["again"] is begins


def test_rounds_in_which_something_is_left_are_listed_with_their_texts_and_new_notes(tmp_path: Path) -> None:
    study = Store.create(tmp_path / "study", units=written(tmp_path), codebook=BOOK)
    both = {"coders": ["ana", "ben"], "coder": "lead", "codebook": BOOK}
    study.append([rounds.open_round("one", units=["m1", "m2"], **both)])
    browser = OfStudy(study, round="one")
    assert items(browser) == {}, "the header says how far one is in the round that is open"
    for who in ("ana", "ben"):
        study.append(
            [acts.finish(coder=who, unit_id=one, round="one", codebook=BOOK) for one in ("m1", "m2")]
        )
    study.append([rounds.unblind("one", coder="lead", codebook=BOOK)])
    study.append(
        [
            rounds.open_round("two", units=["m3"], **both),
            rounds.open_round("talk", units=["m1", "m2"], discusses="one", **both),
        ]
    )
    assert items(OfStudy(study, round="one"))["round"] == {
        "id": "round:two",
        "what": "round",
        "title": "Round ‘two’: One text to go",
        "is_news": False,
        "more": "",
        "here": False,
        "round": "two",
    }
    study.append([rounds.unblind("talk", coder="lead", codebook=BOOK)])
    study.append(
        [
            acts.memo(
                coder="ben",
                text="I read it twice.",
                unit_id="m1",
                target_kind="unit",
                round="talk",
                codebook=BOOK,
            )
        ]
    )
    item = items(OfStudy(study, round="talk"))["discussion"]
    assert (item["title"], item["here"]) == ("Discussion of ‘one’: 2 texts left, 1 new note", True)
    study.append([acts.finish(coder="ana", unit_id="m1", round="talk", codebook=BOOK)])
    assert items(OfStudy(study, round="talk"))["discussion"]["title"] == "Discussion of ‘one’: One text left"


@pytest.mark.parametrize("is_training", [False, True])
def test_a_round_that_is_begun_says_how_many_texts_are_left(tmp_path: Path, is_training: bool) -> None:
    study = Store.create(tmp_path / "study", units=written(tmp_path), codebook=BOOK)
    both = {"coders": ["ana", "ben"], "coder": "lead", "codebook": BOOK, "units": ["m1", "m2", "m3"]}
    gold = pd.DataFrame(
        [(unit, code.id, False) for unit in both["units"] for code in BOOK.codable],
        columns=["unit_id", "code", "applied"],
    )
    study.append(
        [
            rounds.open_round("one", gold=gold if is_training else None, **both),
            rounds.open_round("two", **both),
        ]
    )
    study.append([acts.finish(coder="ana", unit_id="m1", round="one", codebook=BOOK)])
    item = items(OfStudy(study, round="two"))["training" if is_training else "round"]
    assert item["title"] == f"{'Training' if is_training else 'Round'} ‘one’: 2 texts to go"


def test_the_widget_of_another_round_is_made_once_and_what_lies_outside_rounds_is_listed(
    tmp_path: Path,
) -> None:
    study = Store.create(tmp_path / "study", units=written(tmp_path), codebook=BOOK)
    both = {"coders": ["ana", "ben"], "coder": "lead", "codebook": BOOK}
    study.append(
        [rounds.open_round("one", units=["m1"], **both), rounds.open_round("two", units=["m2"], **both)]
    )
    study.append([acts.finish(coder="ana", unit_id="m1", round="one", codebook=BOOK)])
    browser = OfStudy(study)
    assert browser.widget._session.round == "two", "the oldest round with texts left"
    opened = [browser.ask("open_round", round=name)["model"] for name in ("one", "one", "two")]
    assert opened[0] == opened[1] != opened[2]
    assert (
        "expected a round that was opened – found 'three'"
        in browser.ask("open_round", round="three")["message"]
    )
    study.assign(coders=["ana", "ben"], overlap=0, coder="lead")
    assert OfStudy(study).widget._session.round is None
    outside = items(OfStudy(study, round="one"))["round"]
    assert (outside["title"], outside["round"]) == ("Round ‘two’: One text to go", "two")
    titles = {one["title"]: one["round"] for one in OfStudy(study, round="one").ask("inbox")["items"]}
    assert titles == {"Outside rounds: 15 texts to go": None, "Round ‘two’: One text to go": "two"}


def test_texts_to_look_through_wait_until_each_is_finished_again_and_begin_as_they_were(
    tmp_path: Path,
) -> None:
    study = Store.create(tmp_path / "study", units=written(tmp_path), codebook=BOOK)
    named = {"units": ["m1", "m2"], "coder": "lead", "codebook": BOOK}
    study.append([rounds.open_round("one", coders=["ana", "ben"], **named)])
    on = {"coder": "ana", "round": "one", "codebook": BOOK}
    study.append(
        [
            acts.apply(unit_id="m1", code="affective", start=0, end=11, **on),
            *(acts.finish(unit_id=one, **on) for one in ("m1", "m2")),
        ]
    )
    study.append([rounds.unblind("one", coder="lead", codebook=BOOK)])
    before = study.decisions()
    study.append([rounds.open_round("again", coders=["ana"], discusses="one", **named)])
    assert "discussion" not in items(OfStudy(study, coder="ben", round="one"))
    browser = OfStudy(study, round="again")
    assert items(browser)["discussion"]["title"] == "Look again at texts of ‘one’: 2 texts left"
    unit = browser.ask("unit", place=0)["unit"]
    assert [one["code"] for one in unit["codings"]] == ["affective"]
    browser.do("finish", "m1", seen=unit["n_acts"])
    assert items(browser)["discussion"]["title"] == "Look again at texts of ‘one’: One text left"
    browser.do("finish", "m2")
    assert items(browser) == {}
    n_acts = len(study.acts(coder="ana"))
    OfStudy(study, round="again")
    assert len(study.acts(coder="ana")) == n_acts, "own codings are copied once"
    own = ["unit_id", "coder", "code", "applied"]
    assert study.decisions(round="again")[own].equals(study.decisions(round="one")[own])
    assert study.decisions()[own].equals(before[own])


@pytest.mark.parametrize("round", ["one", None])
def test_the_answer_to_a_proposal_waits_in_its_coders_inbox_also_in_a_blind_round(
    store: Store, round: str | None
) -> None:
    opened = {"units": ["m1", "m2"], "coders": ["ana", "ben"], "coder": "lead", "codebook": BOOK}
    store.append([rounds.open_round("one", **opened)])
    hope = acts.propose(coder="ana", unit_id="m2", label="Hope", codebook=BOOK, round=round)
    store.append([hope])
    said = {"proposal": hope.act_id, "text": "Sent back: too rare.", "codebook": BOOK, "round": round}
    store.append([acts.answer(coder="lead", **said)])
    browser = OfStudy(store, round="one")
    item = items(browser)["answer"]
    assert (item["title"], item["more"]) == ("Your proposal ‘Hope’", "Sent back: too rare.")
    assert browser.ask("unit", place=item["place"])["unit"]["unit_id"] == "m2"
    assert "answer" not in items(browser, read=item["id"])
    other = OfStudy(store, coder="ben", round="one")
    assert "answer" not in items(other)
    assert other.ask("memos", find="", on="", code=None, first=0, fresh=True)["rows"] == []


def test_of_a_round_that_is_begun_only_notes_after_the_last_finished_text_are_new(tmp_path: Path) -> None:
    study = Store.create(tmp_path / "study", units=written(tmp_path), codebook=BOOK)
    both = {"coders": ["ana", "ben"], "coder": "lead", "codebook": BOOK}
    study.append(
        [rounds.open_round("one", units=["m1", "m2"], **both), rounds.open_round("two", units=["m3"], **both)]
    )
    study.append([acts.finish(coder="ana", unit_id="m1", round="one", codebook=BOOK)])
    assert items(OfStudy(study, round="two"))["round"]["title"] == "Round ‘one’: One text to go"
    for who, unit_id in (("ana", "m2"), ("ben", "m1"), ("ben", "m2")):
        study.append([acts.finish(coder=who, unit_id=unit_id, round="one", codebook=BOOK)])
    study.append([rounds.unblind("one", coder="lead", codebook=BOOK)])
    study.append([rounds.open_round("talk", units=["m1", "m2"], discusses="one", **both)])
    study.append([rounds.unblind("talk", coder="lead", codebook=BOOK)])
    note = {"coder": "ben", "unit_id": "m1", "target_kind": "unit", "round": "talk", "codebook": BOOK}
    study.append([acts.memo(text="I read it twice.", **note, at="2026-03-02T09:00:00Z")])
    study.append(
        [acts.finish(coder="ana", unit_id="m1", round="talk", codebook=BOOK, at="2026-03-02T09:01:00Z")]
    )
    assert items(OfStudy(study, round="two"))["discussion"]["title"] == "Discussion of ‘one’: One text left"
    study.append([acts.memo(text="And once more.", **note, at="2026-03-02T09:02:00Z")])
    title = items(OfStudy(study, round="two"))["discussion"]["title"]
    assert title == "Discussion of ‘one’: One text left, 1 new note"
