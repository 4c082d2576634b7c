"""Memos on texts, spans, codes and the study, one's own and the team's, in studies of both kinds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sense7_qual import acts, exchange, report, rounds
from sense7_qual.acts import Act
from sense7_qual.acts.contents import SpanMemo
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._stored import acts_files, acts_tables
from tests.store.conftest import Place

CODEBOOK = Codebook(name="small", codes=(Code(id="warm", label="Warm"),))
UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2"],
        "text": ["My 👩‍👩‍👧 sister Quokka left on Tuesday for good.", "Fine, thanks for asking me about it."],
        "document_id": ["d1", "d2"],
        "case_id": ["p1", "p2"],
        "position": [0, 0],
    }
)
QUOKKA = {"target_kind": "span", "unit_id": "m1", "start": 16, "end": 22}


def note(text: str, coder: str = "ana", **about: Any) -> Act:
    return acts.memo(coder=coder, text=text, codebook=CODEBOOK, **({"unit_id": "m2"} | about))


@pytest.fixture
def store(place: Place) -> Store:
    store = Store.create(place("pilot"), units=UNITS, codebook=CODEBOOK)
    for coder in ("ana", "ben"):
        if isinstance(store.path, str):
            store.admin.add_coder(coder)
    return store


def test_a_memo_on_a_span_keeps_its_quote_and_gives_its_words_alone(store: Store) -> None:
    store.append([note("A name?", **QUOKKA)])
    (act,) = store.acts(coder="ana")
    assert SpanMemo.from_text(act.text) == SpanMemo(text="A name?", quote="Quokka")
    assert act.memo_text == "A name?"
    row = store.memos().iloc[0]
    assert row[["target_kind", "target_id", "text", "start", "end"]].tolist() == [
        "span",
        "m1",
        "A name?",
        16,
        22,
    ]
    assert "Quokka" not in repr(act)
    assert "name" not in repr(SpanMemo.from_text(act.text))
    assert store.append([act]) == 0  # sent again, with or without the quote that the store filled in
    assert store.append([replace(act, text=SpanMemo(text="A name?").to_text())]) == 0
    assert store.verify()["ok"].all()


def test_a_memo_on_a_span_is_revised_ended_and_taken_back(store: Store) -> None:
    first = note("one", **QUOKKA)
    second = note("two", memo_id=first.memo_id, **QUOKKA)
    end = note("", memo_id=first.memo_id, **QUOKKA)
    store.append([first, second, end])
    assert store.memos().empty
    store.append([acts.undo(end, codebook=CODEBOOK)])
    assert store.memos()["text"].tolist() == ["two"]


@pytest.mark.parametrize(
    ("about", "problem"),
    [
        (QUOKKA | {"end": 999}, "expected a span within the text's"),
        (QUOKKA | {"unit_id": "m9"}, "expected a unit of this study"),
        (QUOKKA | {"target_kind": "unit"}, "found a start and end"),
        (QUOKKA | {"start": None, "end": None}, "found no start and end"),
        (QUOKKA | {"start": 5, "end": 5}, "0 ≤ start < end"),
        ({"target_kind": "code", "code": "cold"}, "expected a code of codebook"),
    ],
)
def test_a_memo_on_what_is_not_there_is_refused(store: Store, about: dict[str, Any], problem: str) -> None:
    with pytest.raises(ActError, match=problem):
        store.append([note("a thought", **about)])
    assert store.acts() == []


def test_other_words_than_the_spans_are_refused_and_found(store: Store) -> None:
    wrong = replace(note("one", **QUOKKA), text=SpanMemo(text="one", quote="Wombat").to_text())
    with pytest.raises(ActError, match="expected as quote the words of the span") as refused:
        store.append([wrong])
    assert "Wombat" not in str(refused.value)
    with pytest.raises(ActError, match="expected a memo with the words"):
        store.append([replace(wrong, text="plain")])
    if isinstance(store.path, Path):
        store.append([note("m", unit_id="m2")])
        with acts_files.transaction(store.path / "acts" / "ana.sqlite", writes=True) as connection:
            acts_tables.add(
                connection, [wrong], study=store._study.known.study.id, coder="ana"
            )  # past all checks
        assert "another quote than unit 'm1' has" in " ".join(store.verify()["problem"])
        with pytest.raises(StoreError, match="another quote than unit 'm1' has"):
            store.memos()


def test_a_memo_for_the_team_is_seen_once_its_round_is_unblinded(store: Store) -> None:
    own = [note("own", **QUOKKA), note("own", target_kind="study", unit_id=None)]
    team = [
        note("team", round="one", **QUOKKA),
        note("team", round="one", target_kind="code", unit_id=None, code="warm"),
        note("team", round="one"),
    ]
    store.append([*own, *team])
    ended = note("", round="one", memo_id=team[2].memo_id)
    store.append([ended])
    opening = rounds.open_round(
        "one", units=["m1", "m2"], coders=["ana", "ben"], coder="lead", codebook=CODEBOOK
    )
    store.append([opening])
    for viewer in ("ben", "lead"):
        assert store.memos(viewer=viewer).empty
    store.append([rounds.unblind("one", coder="lead", codebook=CODEBOOK)])
    for viewer in ("ben", "lead"):
        seen = store.memos(viewer=viewer)
        assert set(seen["memo_id"]) == {each.memo_id for each in team[:2]}
        assert set(seen["text"]) == {"team"}
        assert set(seen["round"]) == {"one"}
        assert not {each.act_id for each in own} & {act.act_id for act in store.acts(viewer=viewer)}
    assert len(store.memos(viewer="ana")) == 4


def test_a_memo_stays_its_writers_or_the_teams(store: Store) -> None:
    own, team = note("own"), note("team", round="one")
    store.append([own, team])
    for one, other in ((own, "one"), (team, None), (team, "two")):
        with pytest.raises(ActError, match="expected a memo to keep its round"):
            store.append([note("shared otherwise", memo_id=one.memo_id, round=other)])
    again = note("x", memo_id="chosen")
    with pytest.raises(ActError, match="expected a memo to keep its round"):
        store.append([again, note("y", memo_id="chosen", round="one")])
    assert store.append([again, note("team, clearer", memo_id=team.memo_id, round="one")]) == 2


@pytest.mark.long
def test_memos_go_through_copies_and_merges(store: Store, tmp_path: Path) -> None:
    written = [note("a", round="one", **QUOKKA), note("b"), note("c", target_kind="study", unit_id=None)]
    store.copies.archive(tmp_path / "before.zip")
    store.append(written)
    store.copies.archive(tmp_path / "after.zip")
    copy = Store.restore(tmp_path / "after.zip", tmp_path / "copy")
    pd.testing.assert_frame_equal(copy.memos(), store.memos())
    there = Store.restore(tmp_path / "before.zip", tmp_path / "there")
    there.append([note("d", coder="ben", **QUOKKA)])
    assert store.copies.merge(there).counts["new"] == 1
    assert there.copies.merge(copy).counts["new"] == 3
    assert sorted(there.memos()["text"]) == sorted(store.memos()["text"]) == ["a", "b", "c", "d"]
    for each in (store, there, copy):
        assert each.verify()["ok"].all()


@pytest.mark.long
def test_a_withdrawal_takes_memos_on_spans_and_those_that_quote(store: Store) -> None:
    words = "sister Quokka left on Tuesday"
    on_hers = note("Thinks of leaving.", **QUOKKA)
    elsewhere = {"target_kind": "span", "unit_id": "m2", "start": 0, "end": 4}
    store.append([on_hers, note(f"As in: {words} for good", **elsewhere), note("Polite.", **elsewhere)])
    found = store.forget("p1", why="withdrew")
    assert (found.n_texts, found.n_memos_elsewhere) == (2, 1)
    assert store.memos()["text"].tolist() == ["Polite."]
    assert [act.memo_text for act in store.acts(coder="ana")] == ["", "", "Polite."]
    assert store.verify()["ok"].all()
    if isinstance(store.path, Path):
        stored = (store.path / "acts" / "ana.sqlite").read_bytes()
        assert b"Quokka" not in stored
        assert b"leaving" not in stored


# answers --------------------------------------------------------------------------------------------


def discussed(store: Store) -> tuple[Act, Act]:
    """Have ana write to the team in a round, and ben answer; return both memos."""
    both = {"coders": ["ana", "ben"], "coder": "lead", "codebook": CODEBOOK}
    store.append(
        [
            rounds.open_round("talk", units=["m1", "m2"], **both),
            rounds.unblind("talk", coder="lead", codebook=CODEBOOK),
        ]
    )
    asked = note("Is that warm?", round="talk")
    reply = note("I think so.", "ben", round="talk", answers=asked.memo_id)
    store.append([asked])
    store.append([reply, *(acts.finish(coder="ben", unit_id=one, codebook=CODEBOOK) for one in ("m1", "m2"))])
    return asked, reply


def test_an_answer_names_the_memo_that_it_answers_in_every_copy(
    store: Store, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("copies")
    asked, reply = discussed(store)
    store.copies.archive(folder / "copy.zip")
    store.copies.bundle(folder / "published", texts="withheld")
    for one in (store, Store.restore(folder / "copy.zip", folder / "copy"), Store(folder / "published")):
        named = one.memos().set_index("memo_id")["answers"]
        assert (named.isna()[asked.memo_id], named[reply.memo_id]) == (True, asked.memo_id)
        assert one.verify()["ok"].all()
    exchange.write_project(store, folder / "study.qdpx")
    again = exchange.read_project(folder / "study.qdpx").memos.set_index("text")
    assert again.loc["I think so.", "answers"] == again.loc["Is that warm?", "memo_id"]
    exchange.export(store, folder / "coded.xlsx")
    sheet = pd.read_excel(folder / "coded.xlsx", sheet_name="memos").set_index("memo_id")
    assert sheet.loc[reply.memo_id, "answers"] == asked.memo_id
    assert report.tables.memo(store.memos(), UNITS, codebook=CODEBOOK).rows


def test_an_answer_stays_one_to_the_same_memo(store: Store) -> None:
    asked, reply = discussed(store)
    revise = {"coder": "ben", "round": "talk", "memo_id": reply.memo_id}
    for wrong in ({}, {"answers": "another"}):
        with pytest.raises(ActError, match="the memo that it answers"):
            store.append([note("Not so.", **revise, **wrong)])
    store.append([note("Not so.", answers=asked.memo_id, **revise)])
    assert store.memos()["answers"].dropna().tolist() == [asked.memo_id]
    with pytest.raises(ActError, match="memo for the team"):
        note("Mine alone.", answers=asked.memo_id)
    with pytest.raises(ActError, match="another memo"):
        note("Itself.", round="talk", memo_id="one", answers="one")
