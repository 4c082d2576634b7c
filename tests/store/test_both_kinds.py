"""Copies, merges, rounds and withdrawals: the same tests over a study folder and a study in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pandas as pd
import psycopg
import pytest

from sense7_qual import acts, rounds
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from tests.helpers.disk import another_computer
from tests.store.conftest import Place

CODEBOOK = Codebook(
    name="small", codes=(Code(id="interest", label="Interest"), Code(id="warm", label="Warm"))
)
WORDS = "My sister Quokka left on Tuesday"
UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2", "m3"],
        "text": [f"{WORDS} 👩‍👩‍👧.", "Fine, thanks.", "Another one's words."],
        "document_id": ["d1", "d1", "d2"],
        "case_id": ["p1", "p2", "p3"],
        "position": [0, 1, 0],
        "context": [None, f"{WORDS}.", "kept"],
    }
)


@pytest.fixture
def store(place: Place) -> Store:
    store = Store.create(place("pilot"), units=UNITS, codebook=CODEBOOK)
    for coder in ("ana", "ben"):
        named = {"coder": coder, "unit_id": "m1", "codebook": CODEBOOK}
        store.append([acts.apply(code="interest", start=i, end=i + 9, **named) for i in range(4)])
        memo = acts.memo(text=f"ähm\n\x00 Quokka {coder}", **named)
        ruling = acts.rule(code="interest", applied=True, **named)
        store.append([memo, ruling, acts.finish(**named), acts.undo(memo, codebook=CODEBOOK)])
    store.append(
        [
            acts.memo(coder="ana", target_kind="study", text=f"as in '{WORDS}'", codebook=CODEBOOK),
            acts.memo(coder="ana", target_kind="study", text="A thought of mine.", codebook=CODEBOOK),
        ]
    )
    return store


def put(coder: str = "ana", unit_id: str = "m2", **named: object) -> acts.Act:
    return acts.apply(**({"coder": coder, "unit_id": unit_id, "code": "warm", "codebook": CODEBOOK} | named))


def same(one: Store, other: Store) -> bool:
    pd.testing.assert_frame_equal(one.units, other.units)
    return (one.acts(), dict(one.codebooks)) == (other.acts(), dict(other.codebooks))


# archives -------------------------------------------------------------------------------------------


@pytest.mark.long
def test_an_archive_restores_to_an_equal_study_of_either_kind_and_the_same_bytes(
    store: Store, place: Place, tmp_path: Path
) -> None:
    book = replace(CODEBOOK, codes=(replace(CODEBOOK.codes[0], label="Attention"), *CODEBOOK.codes[1:]))
    store.revise(book, why="Clearer.", coder="lead")
    store.copies.archive(tmp_path / "one.zip")
    again = Store.restore(tmp_path / "one.zip", place("again"))
    folder = Store.restore(tmp_path / "one.zip", tmp_path / "in a folder")
    for number, each in enumerate((store, again, folder)):
        assert same(store, each)
        assert each.codebook == book
        assert each.verify()["ok"].all()
        each.copies.archive(tmp_path / f"{number}.zip")
        assert (tmp_path / f"{number}.zip").read_bytes() == (tmp_path / "one.zip").read_bytes()
    assert again.append([put()]) == 1
    assert store.copies.merge(again).counts["new"] == 1
    assert folder.copies.merge(store).counts["new"] == 1
    assert same(store, folder)


def test_a_copy_is_never_written_over_and_none_is_made_of_a_damaged_one(
    store: Store, place: Place, tmp_path: Path
) -> None:
    store.copies.archive(tmp_path / "one.zip")
    with pytest.raises(StoreError, match="copies are never overwritten"):
        store.copies.archive(tmp_path / "one.zip")
    with pytest.raises(StoreError, match=r"found (one|something)"):
        Store.restore(tmp_path / "one.zip", store.path)
    (tmp_path / "two.zip").write_bytes((tmp_path / "one.zip").read_bytes().replace(b"Quokka", b"Quagga", 1))
    where = place("none")
    with pytest.raises(StoreError, match="expected an archive as"):
        Store.restore(tmp_path / "two.zip", where)
    with pytest.raises(StoreError, match="found n"):
        Store(where)


def test_a_backup_can_be_opened_or_restored(store: Store, tmp_path: Path) -> None:
    store.copies.backup(tmp_path / "backup")
    is_folder = (tmp_path / "backup").is_dir()
    found = Store(tmp_path / "backup") if is_folder else Store.restore(tmp_path / "backup", tmp_path / "b")
    assert same(store, found)
    assert store.verify()["note"].str.contains("backup of").sum() == 1


# merges ---------------------------------------------------------------------------------------------


@pytest.mark.long
def test_acts_of_a_copy_are_taken_in_once_and_itemised(store: Store, tmp_path: Path) -> None:
    store.copies.archive(tmp_path / "one.zip")
    there = Store.restore(tmp_path / "one.zip", tmp_path / "there")
    twice = put(unit_id="m3")
    there.append([put(), twice])
    there.append([put("cy")])
    store.append([put(unit_id="m3", code="interest", act_id=twice.act_id)])
    found = store.copies.merge(there)
    assert found.counts == {"new": 2, "there": 18, "conflicting": 1, "left out": 0}
    assert found.items.query("unknown == 'coder'")["coder"].tolist() == ["cy"]
    before = store.acts()
    for other in (there, str(there.path), there.path / "acts" / "ana.sqlite", tmp_path / "one.zip"):
        assert store.copies.merge(other).counts["new"] == 0
    assert store.acts() == before
    assert store.verify()["ok"].all()
    assert there.copies.merge(store).counts["new"] == 0  # the conflicting one stays what it is on either side
    assert {act.act_id for act in there.acts()} == {act.act_id for act in before}


def test_another_study_is_refused_and_nothing_is_changed(store: Store, tmp_path: Path) -> None:
    other = Store.create(tmp_path / "other", units=UNITS, codebook=CODEBOOK)
    other.append([put("cy")])
    other.copies.archive(tmp_path / "other.zip")
    before = store.acts()
    for each in (other, tmp_path / "other.zip", other.path / "acts" / "cy.sqlite"):
        with pytest.raises(StoreError, match="study"):
            store.copies.merge(each)
    assert store.acts() == before


# rounds ---------------------------------------------------------------------------------------------


def test_acts_outside_an_opened_round_are_refused(store: Store) -> None:
    assert store.append([put("eve", round="one")]) == 1  # a name alone, so far
    named = {"units": ["m1", "m2"], "coders": ["ana", "ben"], "coder": "lead", "codebook": CODEBOOK}
    store.append([rounds.open_round("one", **named)])
    first = put(round="one")
    assert store.append([first]) == 1
    with pytest.raises(ActError, match="expected a coder of round 'one' – found 'eve'"):
        store.append([put("eve", round="one", unit_id="m1")])
    with pytest.raises(ActError, match="expected one of the 2 units of round 'one'"):
        store.append([put(round="one"), put(round="one", unit_id="m3")])
    store.append([rounds.open_round("one", **(named | {"units": ["m1"]}))])
    assert store.append([first]) == 0  # sent again, it is there
    assert store.append([acts.undo(first, codebook=CODEBOOK)]) == 1
    with pytest.raises(ActError, match="expected one of the 1 units"):
        store.append([put(round="one")])
    assert store.append([put(round="two", unit_id="m3"), put()]) == 2


def test_a_round_is_its_leads_alone(store: Store) -> None:
    """A coder who unblinds a round, or opens the lead's round again, changes nothing."""
    named = {"units": ["m1"], "coders": ["ana", "ben"], "codebook": CODEBOOK}
    with pytest.raises(ActError, match="expected an open round"):
        store.append([rounds.unblind("one", coder="ana", codebook=CODEBOOK)])
    store.append([rounds.open_round("one", coder="lead", **named)])
    for act in (
        rounds.unblind("one", coder="ana", codebook=CODEBOOK),
        rounds.open_round("one", coder="ana", **(named | {"leads": ["ana"]})),
    ):
        with pytest.raises(ActError, match=r"expected a lead of round 'one' \('lead'\) – found 'ana'"):
            store.append([act])
    assert rounds.opened(store.acts())[0].unblinded_at is None
    store.append([rounds.open_round("one", coder="lead", **(named | {"leads": ["ana"]}))])
    store.append([rounds.unblind("one", coder="ana", codebook=CODEBOOK)])
    assert rounds.opened(store.acts())[0].unblinded_by == "ana"


@pytest.mark.long
def test_a_merge_brings_no_unblinding_of_others(store: Store, tmp_path: Path) -> None:
    named = {"units": ["m1"], "coders": ["ana", "ben"], "codebook": CODEBOOK}
    store.copies.archive(tmp_path / "one.zip")
    there = Store.restore(tmp_path / "one.zip", tmp_path / "there")
    unblinding = rounds.unblind("one", coder="ana", codebook=CODEBOOK)
    there.append([rounds.open_round("one", coder="ana", **named), unblinding])
    there.append([put("ben", round="one", unit_id="m1")])
    late = rounds.open_round("one", coder="lead", **named, at="2020-01-01T00:00:00Z")
    store.append([late])
    merged = store.copies.merge(there)
    assert (merged.counts["new"], merged.counts["refused"]) == (1, 2)
    assert rounds.opened(store.acts())[0].unblinded_at is None
    assert "apply" not in {act.kind for act in store.acts(viewer="ana", coder="ben") if act.round == "one"}
    store.append([rounds.unblind("one", coder="lead", codebook=CODEBOOK)])
    assert "apply" in {act.kind for act in store.acts(viewer="ana", coder="ben") if act.round == "one"}
    assert store.verify()["ok"].all()


def test_a_viewer_sees_their_own_until_the_round_is_unblinded(store: Store) -> None:
    of_ben = put("ben", round="one")
    store.append([of_ben])
    store.append([put(round="one", unit_id="m3")])
    assert {act.coder for act in store.acts(viewer="ana")} == {"ana"}
    assert store.acts(viewer="ana", coder="ben") == []
    assert set(store.codings(viewer="ana")["coder"]) == set(store.coverage(viewer="ana")["coder"]) == {"ana"}
    assert store.memos(viewer="ben")["coder"].tolist() == []
    opening = rounds.open_round(
        "one", units=["m1", "m2", "m3"], coders=["ana", "ben"], coder="lead", codebook=CODEBOOK
    )
    store.append([opening, rounds.unblind("one", coder="lead", codebook=CODEBOOK)])
    assert store.acts(viewer="ana", coder="ben") == [of_ben]
    assert store.codings(viewer="ana", coder="ben")["unit_id"].tolist() == ["m2"]
    with pytest.raises(ActError, match="found 'Ana' next to 'ana'"):
        store.acts(viewer="Ana")


# withdrawal -----------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_participants_words_leave_and_old_copies_bring_nothing_back(store: Store, tmp_path: Path) -> None:
    store.copies.archive(tmp_path / "old.zip")
    other, before = Store(store.path), store.acts()
    found = store.forget("p1", why="withdrew")
    assert (found.n_units, found.n_texts, found.n_memos_elsewhere) == (1, 2 * (4 + 1) + 1, 1)
    assert found.still_held["what"].tolist()[0] == "archive"
    for each in (store, Store(store.path)):
        assert each.units["unit_id"].tolist() == ["m2", "m3"]
        assert each.units["context"].isna().tolist() == [True, False]
        assert "m1" not in set(each.codings()["unit_id"])
        assert [act.act_id for act in each.acts()] == [act.act_id for act in before]
        assert {act.text for act in each.acts() if act.unit_id == "m1"} == {None, ""}
        assert each.memos()["text"].tolist() == ["A thought of mine."]
        assert each.verify()["ok"].all()
    for each in (other, store):
        with pytest.raises(ActError, match="of a participant who withdrew"):
            each.append([put(unit_id="m1", start=0, end=30)])
    assert other.append([put()]) == 1
    another_computer()
    late = Store.restore(tmp_path / "old.zip", tmp_path / "late")
    late.append([put(unit_id="m1", start=0, end=31)])
    assert store.copies.merge(late).counts["new"] == 1
    assert "Quokka" not in "".join(str(act.text) for act in store.acts())
    store.copies.archive(tmp_path / "new.zip")
    content = (tmp_path / "new.zip").read_bytes()
    assert b"sister" not in content
    assert b"Quokka" not in content
    again = Store.restore(tmp_path / "new.zip", tmp_path / "new")
    assert again.acts() == store.acts()
    assert store.forget("p1", why="asked again").n_texts == 0
    with pytest.raises(StoreError, match="did you mean 'p2'"):
        store.forget("p22", why="a slip")
    another_computer()
    assert late.copies.merge(store).withdrawn == ("p1",)


@pytest.mark.long
def test_memos_that_repeat_their_words_come_in_empty(store: Store, tmp_path: Path) -> None:
    """Also memos on something else, which were written in a copy that had the words still."""
    store.copies.archive(tmp_path / "old.zip")
    late = Store.restore(tmp_path / "old.zip", tmp_path / "late")
    store.forget("p1", why="withdrew")
    for target in ({"unit_id": "m2"}, {"target_kind": "study"}):
        late.append([acts.memo(coder="ana", text=f"She said: {WORDS}!", codebook=CODEBOOK, **target)])
        late.append([acts.memo(coder="ana", text="A new thought.", codebook=CODEBOOK, **target)])
    assert store.copies.merge(late).counts["new"] == 4
    assert "Quokka" not in "".join(str(act.text) for act in store.acts())
    assert store.memos()["text"].tolist().count("A new thought.") == 2
    assert store.verify()["ok"].all()
    assert store.copies.merge(late).counts["new"] == 0
    store.copies.archive(tmp_path / "new.zip")
    assert b"Quokka" not in (tmp_path / "new.zip").read_bytes()
    assert store.forget("p1", why="again").n_texts == 0


def test_a_reason_that_repeats_their_words_is_named(store: Store) -> None:
    more = replace(CODEBOOK, codes=(*CODEBOOK.codes, Code(id="cold", label="Cold")))
    store.revise(more, why=f"because of '{WORDS}'", coder="lead")
    held = store.forget("p1", why="withdrew").still_held
    assert held["what"].tolist().count("revision") == 1


def test_a_notebook_that_was_open_revises_without_their_words(store: Store) -> None:
    """Its store still knows the words; the study, from which they have gone, could not tell."""
    other = Store(store.path)
    store.forget("p1", why="withdrew")
    more = replace(CODEBOOK, codes=(*CODEBOOK.codes, Code(id="cold", label="Cold")))
    with pytest.raises(ActError, match="repeat a passage of theirs"):
        other.revise(more, why=f"because of '{WORDS}'", coder="lead")
    assert Store(store.path).codebook == CODEBOOK
    other.revise(more, why="Needed.", coder="lead")
    assert [one.why for one in Store(store.path).revisions] == ["Needed."]


# PostgreSQL alone -----------------------------------------------------------------------------------


def plain(address: str) -> str:
    return address.partition("&study=")[0]


@pytest.mark.postgres
def test_no_table_of_the_server_keeps_the_words(postgres: Callable[..., str], tmp_path: Path) -> None:
    address = postgres()
    only_here = UNITS.assign(text=UNITS["text"].str.replace("Quokka", "Wombat"), context=None)
    store = Store.create(address, units=only_here, codebook=CODEBOOK)
    named = {"coder": "ana", "unit_id": "m1", "codebook": CODEBOOK, "round": "one"}
    store.append([acts.apply(code="warm", start=3, end=16 + i, **named) for i in range(9)])
    opening = rounds.open_round("one", units=["m1"], coders=["ana"], coder="lead", codebook=CODEBOOK)
    store.append([opening, rounds.unblind("one", coder="lead", codebook=CODEBOOK)])
    with psycopg.connect(plain(address), autocommit=True) as admin:
        base = Path(admin.execute("SHOW data_directory").fetchone()[0]) / "base"

        def held() -> bool:
            admin.execute("ANALYZE")
            admin.execute("CHECKPOINT")
            return any(b"sister Wombat" in file.read_bytes() for file in base.rglob("*") if file.is_file())

        assert held()
        found = store.forget("p1", why="withdrew")
        assert not held()
    assert found.still_held["what"].tolist()[:-3] == ["server"]
    server.connect(address).engine.dispose()


@pytest.mark.postgres
def test_only_a_lead_copies_merges_or_forgets_and_hands_coders_over(
    postgres: Callable[..., str], tmp_path: Path
) -> None:
    address = postgres()
    lead = Store.create(address, units=UNITS, codebook=CODEBOOK)
    lead.admin.add_coder("ana", role="ana")
    ana = Store(postgres("ana", address.rpartition("=")[2]))
    ana.append([put()])
    lead.copies.archive(tmp_path / "one.zip")
    before = lead.acts()
    for deed in (
        lambda: ana.copies.archive(tmp_path / "two.zip"),
        lambda: ana.copies.backup(tmp_path / "two.zip"),
        lambda: ana.copies.merge(tmp_path / "one.zip"),
        lambda: ana.forget("p1", why="no"),
    ):
        with pytest.raises(StoreError, match="expected the role of a lead"):
            deed()
    assert lead.acts() == before
    assert not (tmp_path / "two.zip").exists()
    assert ana.verify()["ok"].all()
    second = postgres()
    restored = Store.restore(tmp_path / "one.zip", second)
    with pytest.raises(StoreError, match="found none"):
        Store(postgres("ana", second.rpartition("=")[2]))
    restored.admin.add_coder("ana", role="ana")
    there = Store(postgres("ana", second.rpartition("=")[2]))
    assert there.acts() == before
    assert there.append([put(unit_id="m3")]) == 1
    with pytest.raises(StoreError, match="acts of a coder of role"):
        restored.append([put(unit_id="m3")])
    with pytest.raises(StoreError, match="to keep role 'ana' – found 'ben'"):
        restored.admin.add_coder("ana", role="ben")
    for each in (address, ana.path, second, there.path):
        server.connect(str(each)).engine.dispose()


@pytest.mark.postgres
def test_the_lead_reads_what_a_coder_is_writing_as_of_one_moment(postgres: Callable[..., str]) -> None:
    store = Store.create(postgres(), units=UNITS, codebook=CODEBOOK)
    other = Store(store.path)
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(lambda: [other.append([put(start=0, end=1 + i % 9)]) for i in range(150)])
        while not writing.done():
            assert all(act.text for act in store.acts())
            assert store.verify()["ok"].all()
        assert sum(writing.result()) == 150
    assert len(store.acts()) == 150
    server.connect(str(store.path)).engine.dispose()
