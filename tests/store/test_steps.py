"""Steps in a folder and in PostgreSQL: recorded and undone as a whole, and nothing is dated back."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts, exchange, report, rounds
from sense7_qual.acts import Act
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._stored import acts_files, acts_tables
from tests.helpers.small_study import CODEBOOK, changed, finish, frame_of, put
from tests.helpers.two_coders import Team
from tests.store.conftest import Place

TEXTS = {"m1": "It listened to me. 👩‍👩‍👧", "m2": "Héllo, it was fine.", "m3": "é = 1 + 1"}
BEFORE, UNBLINDED, AFTER = (f"2026-03-0{day}T09:00:00.000Z" for day in (1, 2, 3))

OPENING = {"units": ["m1"], "coders": ["ana", "ben"], "coder": "lead", "codebook": CODEBOOK}


@pytest.fixture
def store(place: Place) -> Store:
    return Store.create(place("pilot"), units=frame_of(TEXTS), codebook=CODEBOOK)


def moved(coding: Act, start: int, end: int, **named: object) -> list[Act]:
    return [changed(one, **named) for one in acts.moved(coding, start=start, end=end, codebook=CODEBOOK)]


def spans(store: Store) -> list[list[object]]:
    return store.codings()[["unit_id", "code", "start", "end"]].astype(object).to_numpy().tolist()


def test_one_undo_takes_a_step_back_after_a_restart(store: Store) -> None:
    first = put(start=0, end=2)
    store.append([first])
    noted = {"coder": "ana", "unit_id": "m1", "text": "why", "target_kind": "span", "codebook": CODEBOOK}
    memo = acts.memo(start=0, end=2, **noted)
    store.append([memo])
    on_new_words = acts.memo(start=0, end=9, memo_id=memo.memo_id, **noted)
    step = acts.in_one_step([*moved(first, 0, 9), on_new_words])
    assert store.append(step) == 3
    assert store.append(step) == 0
    again = Store(store.path)
    assert spans(again) == [["m1", "interest", 0, 9]]
    read = [act for act in again.acts(coder="ana") if act.step == step[0].step]
    assert [act.act_id for act in read] == [act.act_id for act in step]
    assert read[0].moved_from == first.act_id
    assert store.verify()["ok"].all()
    again.append([acts.undo(read, codebook=CODEBOOK)])
    assert spans(Store(store.path)) == [["m1", "interest", 0, 2]]
    assert Store(store.path).memos()["end"].tolist() == [2]
    again.append([acts.redo(read, codebook=CODEBOOK)])
    assert spans(Store(store.path)) == [["m1", "interest", 0, 9]]


def test_a_step_on_several_texts_goes_with_one_undo_and_survives_a_withdrawal(store: Store) -> None:
    step = acts.in_one_step([put(unit_id=one) for one in ("m1", "m2", "m3")])
    store.append(step)
    store.append([acts.undo(step, codebook=CODEBOOK)])
    assert spans(store) == []
    store.forget("p1", why="Asked to.")  # whose text is m2
    assert spans(Store(store.path)) == []
    store.append([acts.redo(step, codebook=CODEBOOK)])
    assert [row[0] for row in spans(Store(store.path))] == ["m1", "m3"]


FIRST = put(start=0, end=9)
STEP = acts.in_one_step([put(code="relational"), put(code="affective")])
WRONG: list[tuple[str, Callable[[], list[Act]], str]] = [
    ("grown later", lambda: [changed(put(code="prosocial"), step=STEP[0].step)], "must be recorded together"),
    (
        "one act of a step",
        lambda: [acts.undo(changed(STEP[0], step=None), codebook=CODEBOOK)],
        "name the act itself, or its step",
    ),
    (
        "on no unit",
        lambda: [changed(acts.undo(STEP, codebook=CODEBOOK), unit_id=None)],
        "the unit and the round",
    ),
    ("never coded", lambda: moved(put(start=0, end=9), 0, 12), "moved_from must name"),
    ("another code", lambda: moved(changed(FIRST, code="relational"), 0, 12), "moved_from must name"),
    ("another unit", lambda: moved(changed(FIRST, unit_id="m2"), 0, 12), "moved_from must name"),
    ("another round", lambda: moved(changed(FIRST, round="one"), 0, 12), "moved_from must name"),
    ("not removed", lambda: moved(FIRST, 0, 12)[:1], "moved_from must name"),
    ("others removed", lambda: moved(changed(FIRST, end=3), 0, 12), "moved_from must name"),
    (
        "apart",
        lambda: [
            changed(act, **({"start": 9, "end": 12} if act.kind == "apply" else {}))
            for act in moved(FIRST, 0, 12)
        ],
        "moved_from must name",
    ),
]


@pytest.mark.parametrize(("made", "message"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_what_would_change_a_step_or_date_a_coding_back_is_refused(
    store: Store, made: Callable[[], list[Act]], message: str
) -> None:
    store.append([FIRST, *STEP])
    with pytest.raises(ActError, match=message):
        store.append(made())
    assert len(store.acts()) == 3


def test_a_copy_a_bundle_and_an_export_keep_steps_and_the_time_of_the_decision(
    store: Store, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("copies")
    first = put(start=0, end=2, at=BEFORE)
    store.append([first, finish()])
    step = moved(first, 0, 9, at=AFTER)
    store.append(step)
    store.copies.archive(folder / "copy.zip")
    restored = Store.restore(folder / "copy.zip", folder / "copy")
    for one in (store, restored):
        assert [act.moved_from for act in one.acts() if act.kind == "apply"] == [None, first.act_id]
        assert one.codings()["at"].tolist() == [BEFORE]
    restored.append([acts.undo(restored.acts(kind="remove"), codebook=CODEBOOK)])
    store.copies.merge(restored.path)
    assert spans(store) == [["m1", "interest", 0, 2]]
    exchange.write_project(store, folder / "study.qdpx")
    assert exchange.read_project(folder / "study.qdpx").codings["at"].tolist()[0].startswith(BEFORE[:19])


def test_coders_see_the_undo_of_a_step_and_never_a_memo_of_ones_own_in_it(place: Place) -> None:
    store = Store.create(place("pilot"), units=frame_of(TEXTS), codebook=CODEBOOK)
    store.append([rounds.open_round("one", **OPENING)])
    own = acts.memo(coder="ana", unit_id="m1", text="mine", codebook=CODEBOOK)
    step = acts.in_one_step([put(round="one"), own])
    store.append(step)
    store.append([acts.undo(step, codebook=CODEBOOK)])
    store.append([rounds.unblind("one", coder="lead", codebook=CODEBOOK)])
    seen = store.acts(coder="ana", viewer="ben")
    assert [act.kind for act in seen] == ["apply", "undo"]
    assert store.codings(viewer="ben").empty


@pytest.mark.postgres
def test_a_coder_of_a_team_sees_the_undo_of_a_step_and_no_memo_of_ones_own(
    postgres: Callable[..., str],
) -> None:
    team = Team(postgres)
    team.lead.append([rounds.open_round("one", **OPENING)])
    own = acts.memo(coder="ana", unit_id="m1", text="mine", codebook=CODEBOOK)
    step = acts.in_one_step([put(round="one"), own])
    team.ana.append(step)
    team.lead.append([rounds.unblind("one", coder="lead", codebook=CODEBOOK)])
    assert len(team.ben.codings(coder="ana")) == 1
    team.ana.append([acts.undo(team.ana.acts(coder="ana"), codebook=CODEBOOK)])
    assert [act.kind for act in team.ben.acts(coder="ana")] == ["apply", "undo"]
    assert team.ben.codings(coder="ana").empty


@pytest.mark.parametrize(("end", "is_late"), [(9, False), (None, True)])
def test_an_edge_that_is_corrected_after_unblinding_is_no_late_decision(
    tmp_path: Path, end: int | None, is_late: bool
) -> None:
    store = Store.create(tmp_path / "s", units=frame_of(TEXTS), codebook=CODEBOOK)
    store.append([rounds.open_round("one", at=BEFORE, **OPENING)])
    first = put(start=0, end=2, round="one", at=BEFORE)
    for coder in ("ana", "ben"):
        own = [changed(first, coder=coder, act_id=str(uuid.uuid4()))]
        own += [acts.finish(coder=coder, unit_id="m1", round="one", codebook=CODEBOOK, at=BEFORE)]
        store.append(own)
    store.append([rounds.unblind("one", coder="lead", codebook=CODEBOOK, at=UNBLINDED)])
    (coded,) = store.acts(coder="ana", kind="apply")
    store.append(moved(coded, 0, end, at=AFTER) if end else [put(round="one", at=AFTER)])
    found = report.review(store, n_boot=20).frame["kind"].tolist()
    assert ("changed_after_unblinding" in found) == is_late


def as_version_1(path: Path) -> None:
    """Turn an acts file into one of version 1."""
    with acts_files.transaction(path, writes=True) as connection:
        for name in acts_tables.NEW_COLUMNS:
            connection.exec_driver_sql(f"ALTER TABLE acts DROP COLUMN {name}")
        connection.exec_driver_sql("UPDATE meta SET value = '1' WHERE name = 'schema'")


def test_a_folder_of_version_1_is_read_and_brought_up_to_date_by_the_next_act(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "old", units=frame_of(TEXTS), codebook=CODEBOOK)
    first = put(start=0, end=2)
    store.append([first])
    file = acts_files.acts_file(store.path, "ana")
    as_version_1(file)
    old = Store(store.path)
    assert old.verify()["ok"].all()
    assert spans(old) == [["m1", "interest", 0, 2]]
    old.append(moved(first, 0, 9))
    assert spans(Store(store.path)) == [["m1", "interest", 0, 9]]
    with acts_files.transaction(file) as connection:
        assert acts_tables.described(connection, "schema") == str(acts_tables.SCHEMA) == "2"
    assert store.verify()["ok"].all()


@pytest.mark.postgres
def test_a_team_of_layout_1_is_brought_up_to_date_by_its_lead(postgres: Callable[..., str]) -> None:
    team = Team(postgres)
    team.ana.append([first := put(start=0, end=2)])
    tables = [f'"{team.name}".shown', *(f'"{team.name}-{coder}".acts' for coder in ("ana", "ben", "lead"))]
    with team.sql("postgres") as connection:
        for table in tables:
            for name in acts_tables.NEW_COLUMNS:
                connection.execute(f"ALTER TABLE {table} DROP COLUMN {name}")  # type: ignore[arg-type]
        connection.execute(
            f'CREATE OR REPLACE FUNCTION "{team.name}".layout() RETURNS integer LANGUAGE sql IMMUTABLE '
            "AS $sql$ SELECT 1 $sql$"
        )  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="Ask the lead to open it once"):
        Store(team.addresses["ana"])
    assert len(Store(team.addresses["lead"]).acts()) == 1
    ana = Store(team.addresses["ana"])
    ana.append(moved(first, 0, 9))
    assert spans(ana) == [["m1", "interest", 0, 9]]
    hope = acts.propose(coder="ana", unit_id="m1", label="Hope", codebook=CODEBOOK)
    ana.append([hope])
    said = {"proposal": hope.act_id, "text": "Too rare.", "codebook": CODEBOOK}
    Store(team.addresses["lead"]).append([acts.answer(coder="lead", **said)])
    assert ana.memos(viewer="ana")["text"].tolist() == ["Too rare."]
    with pytest.raises(StoreError):
        ana.append([acts.answer(coder="ana", **said)])


def test_what_a_search_found_is_kept_read_and_counted_alike(
    store: Store, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("copies")
    found = acts.in_one_step([put(unit_id=one, start=0, end=1, found_by="search") for one in ("m1", "m2")])
    store.append([put(code="affective"), *found, *(finish(one) for one in TEXTS)])
    store.copies.archive(folder / "copy.zip")
    restored = Store.restore(folder / "copy.zip", folder / "copy")
    for one in (Store(store.path), restored):
        assert one.codings()["found_by"].fillna("").tolist() == ["", "search", "search"]
        assert one.verify()["ok"].all()
        objection = next(each for each in report.review(one, n_boot=20) if each.kind == "found_by_search")
        assert objection.n == one.codings()["found_by"].eq("search").sum() == 2
        assert "2 codings were made at once for the results of a search" in str(
            report.methods(one, with_agreement=False, n_boot=20)
        )
    exchange.write_project(store, folder / "study.qdpx")
    assert exchange.read_project(folder / "study.qdpx").codings["found_by"].eq("search").sum() == 2
    exchange.export(store, folder / "coded.xlsx")
    assert pd.read_excel(folder / "coded.xlsx", sheet_name="codings")["found_by"].eq("search").sum() == 2
    store.append([acts.undo(found, codebook=CODEBOOK)])
    assert Store(store.path).codings()["code"].tolist() == ["affective"]
    assert "results of a search" not in str(report.methods(store, with_agreement=False, n_boot=20))
