"""Merging copies of a study: a union by act_id that loses nothing, changes nothing and can be repeated."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from itertools import permutations
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._operations import incoming, merge
from sense7_qual.store._stored import acts_files, acts_tables, layout

CODEBOOK = Codebook(
    name="small", codes=(Code(id="interest", label="Interest"), Code(id="warm", label="Warm"))
)
SECOND = Codebook(name="small", codes=(*CODEBOOK.codes, Code(id="cold", label="Cold")))
UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2"],
        "text": ["It listened to me. Quokka.", "She did not."],
        "document_id": ["d1", "d1"],
        "case_id": ["p1", "p2"],
        "position": [0, 1],
    }
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "here", units=UNITS, codebook=CODEBOOK)
    store.append([put("ana", minute=0), put("ana", minute=1, start=0, end=2)])
    return store


def copy_of(store: Store, name: str = "there") -> Store:
    return Store(shutil.copytree(store.path, store.path.with_name(name)))


def put(coder: str, *, minute: int, code: str = "interest", **named: object) -> Act:
    at = f"2026-01-31T12:{minute:02d}:00.000Z"
    return acts.apply(
        **({"coder": coder, "unit_id": "m1", "code": code, "codebook": CODEBOOK, "at": at} | named)
    )


def remove(coder: str, *, minute: int) -> Act:
    at = f"2026-01-31T12:{minute:02d}:00.000Z"
    return acts.remove(coder=coder, unit_id="m1", code="interest", codebook=CODEBOOK, at=at)


def ids(store: Store) -> list[str]:
    return [act.act_id for act in store.acts()]


def everything(store: Store) -> dict[str, bytes]:
    return {str(f.relative_to(store.path)): f.read_bytes() for f in store.path.rglob("*") if f.is_file()}


def test_a_copy_that_changes_while_it_is_merged_is_refused(store: Store) -> None:
    there = copy_of(store)
    study = layout.read(Path(there.path))
    (file,) = acts_files.acts_files(Path(there.path))
    looked_at = incoming.incoming_of(file, study)
    assert [link.act for link in looked_at.chain(study).links] == looked_at.acts
    there.append([put("ana", minute=2, code="warm")])
    with pytest.raises(StoreError, match="'ana' changed"):
        looked_at.chain(study)


def test_acts_that_go_on_from_this_copy_keep_their_links_to_the_last_hash(store: Store) -> None:
    there = copy_of(store)
    there.append([put("ana", minute=2, code="warm")])
    there.append([put("ben", minute=2)])
    found = store.copies.merge(there)
    assert found.counts == {"new": 2, "there": 2, "conflicting": 0, "left out": 0}
    assert repr(found) == "Merge(2 new, 2 there, 0 conflicting, 0 left out)"
    assert found.items["unknown"].tolist() == ["", "", "", "coder"]
    for coder in ("ana", "ben"):
        file = f"acts/{coder}.sqlite"
        assert acts_files.head(store.path / file) == acts_files.head(there.path / file)
    assert store.verify()["ok"].all()
    assert store.acts() == there.acts()


def test_merging_again_or_merging_itself_changes_nothing(store: Store) -> None:
    there = copy_of(store)
    there.append([put("ana", minute=2, code="warm")])
    store.append([put("ana", minute=3, code="warm")])
    store.copies.merge(there.path)
    before = everything(store)
    for other in (there, store, str(there.path)):
        assert store.copies.merge(other).counts["new"] == 0
    assert everything(store) == before


def test_a_coder_who_worked_in_two_copies_keeps_all_acts_in_one_order_wherever_they_are_merged(
    store: Store,
) -> None:
    there, before = copy_of(store), ids(store)
    here_acts = [put("ana", minute=5), remove("ana", minute=9)]  # the last word, though merged first
    there_acts = [remove("ana", minute=6), put("ana", minute=7)]
    store.append(here_acts)
    there.append(there_acts)
    old = everything(store)
    assert store.copies.merge(there).counts["new"] == 2
    assert there.copies.merge(store).counts["new"] == 2
    by_time = [here_acts[0], *there_acts, here_acts[1]]
    assert ids(store) == ids(there) == before + [act.act_id for act in by_time]
    assert store.acts() == there.acts()
    pd.testing.assert_frame_equal(store.codings(), there.codings())
    assert len(store.codings()) == 1  # the span; the whole unit was removed last
    assert store.verify()["ok"].all()
    assert there.verify()["ok"].all()
    assert old.keys() == everything(store).keys() - {"change.lock"}
    # The branch keeps the hashes that it had where it was recorded.
    with closing(sqlite3.connect(there.path / "acts" / "ana.sqlite")) as connection:
        own = connection.execute("SELECT act_id, hash FROM acts WHERE branch IS NULL").fetchall()
    with closing(sqlite3.connect(store.path / "acts" / "ana.sqlite")) as connection:
        merged = connection.execute("SELECT act_id, branch FROM acts WHERE branch IS NOT NULL").fetchall()
    assert set(merged) <= set(own)
    assert len(merged) == 2


@pytest.mark.long
def test_three_copies_merged_in_any_order_read_the_same(store: Store) -> None:
    copies = [store, copy_of(store, "b"), copy_of(store, "c")]
    for number, each in enumerate(copies):
        for step in range(3):
            each.append([put("ana", minute=10 + 3 * step + number, start=0, end=2 + step + 3 * number)])
            each.append([remove("ana", minute=10 + 3 * step + number)])
    copies[0].copies.merge(copies[1])
    copies[2].copies.merge(copies[0])
    copies[2].append([put("ana", minute=1, code="warm")])  # a clock that runs behind: still after all it saw
    copies[1].copies.merge(copies[2])
    copies[0].copies.merge(copies[2])
    copies[0].copies.merge(copies[1])
    assert ids(copies[0]) == ids(copies[1]) == ids(copies[2])
    assert len(ids(store)) == len(set(ids(store))) == 2 + 18 + 1
    assert store.acts()[-1].code == "warm"
    assert all(each.verify()["ok"].all() for each in copies)


def test_an_act_with_other_content_stays_as_it_is_here_and_is_named(store: Store) -> None:
    there = copy_of(store)
    twice = put("ana", minute=4, code="warm")
    other = put("ana", minute=4, code="interest", start=3, end=5, act_id=twice.act_id)
    store.append([twice])
    there.append([other])
    found = store.copies.merge(there)
    assert found.counts == {"new": 0, "there": 2, "conflicting": 1, "left out": 0}
    assert found.items.query("status == 'conflicting'")["act_id"].tolist() == [twice.act_id]
    assert store.acts()[-1] == twice


def test_an_act_that_was_sent_again_with_another_time_is_there(store: Store) -> None:
    there = copy_of(store)
    act = put("ana", minute=4, start=0, end=4)
    store.append([act])
    there.append([put("ana", minute=5, start=0, end=4, act_id=act.act_id)])
    assert store.copies.merge(there).counts == {"new": 0, "there": 3, "conflicting": 0, "left out": 0}


def test_versions_of_the_codebook_come_with_the_acts_that_were_made_under_them(store: Store) -> None:
    there = copy_of(store)
    (there.path / "codebooks" / f"{SECOND.fingerprint}.yaml").write_bytes(SECOND.to_yaml())
    there = Store(there.path)
    there.append([put("ana", minute=4, code="cold", codebook=SECOND), put("ana", minute=5, code="warm")])
    alone = there.path / "acts" / "ana.sqlite"
    found = store.copies.merge(alone)  # the acts file without its study: the codebook is not known here
    assert found.counts == {"new": 1, "there": 2, "conflicting": 0, "left out": 1}
    assert found.items.query("status == 'left out'")["unknown"].tolist() == ["codebook"]
    found = store.copies.merge(there)
    assert found.codebooks == (SECOND.fingerprint,)
    assert found.counts["new"] == 1
    assert store.codebooks[SECOND.fingerprint] == SECOND
    assert store.codebook == CODEBOOK
    assert [act.code for act in store.acts()[-2:]] == ["cold", "warm"]
    assert store.verify()["ok"].all()


@pytest.mark.long
def test_another_study_a_damaged_copy_and_a_clashing_pseudonym_are_refused(
    store: Store, tmp_path: Path
) -> None:
    other = Store.create(tmp_path / "other", units=UNITS, codebook=CODEBOOK)
    other.append([put("cy", minute=1)])
    there = copy_of(store)
    there.append([put("ben", minute=1)])
    there.append([put("ana", minute=8)])
    before = everything(store)
    with pytest.raises(StoreError, match="expected another copy of study"):
        store.copies.merge(other)
    with pytest.raises(StoreError, match="found one of study"):
        store.copies.merge(other.path / "acts" / "cy.sqlite")
    with pytest.raises(StoreError, match="found no study"):
        store.copies.merge(tmp_path)
    with closing(sqlite3.connect(there.path / "acts" / "ben.sqlite", isolation_level=None)) as connection:
        connection.execute("UPDATE acts SET code = 'warm'")
    with pytest.raises(StoreError, match="another content than was written"):
        store.copies.merge(there)
    shutil.copy(there.path / "acts" / "ana.sqlite", there.path / "acts" / "ben.sqlite")
    assert everything(store) == before
    clash = copy_of(store, "clash")
    clash.append([put("Ben", minute=1)])
    store.append([put("ben", minute=1)])
    with pytest.raises(ActError, match="found 'Ben' next to 'ben'"):
        store.copies.merge(clash)


def test_a_merge_that_fails_on_the_way_is_completed_by_the_next(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = copy_of(store)
    for coder in ("ana", "ben", "cy"):
        there.append([put(coder, minute=20)])
    real, calls = merge._append, []

    def failing(*given: object) -> None:
        calls.append(1)
        real(*given)  # type: ignore[arg-type]
        if len(calls) == 2:
            raise StoreError("the disk went away after the second file was written, before its commit")

    monkeypatch.setattr(merge, "_append", failing)
    with pytest.raises(StoreError, match="went away"):
        store.copies.merge(there)
    monkeypatch.undo()
    assert len(store.acts()) == 3  # ana's file whole, ben's without an act
    assert store.verify()["ok"].all()
    assert store.copies.merge(there).counts["new"] == 2
    assert store.acts() == there.acts()


def test_files_that_appear_in_a_synced_folder_are_simply_there(store: Store) -> None:
    there = copy_of(store)
    there.append([put("ben", minute=20)])
    shutil.copy(there.path / "acts" / "ben.sqlite", store.path / "acts" / "ben.sqlite")
    (store.path / "acts" / ".syncthing.cy.sqlite.tmp").write_bytes(b"SQLite format 3\x00 half")
    (store.path / "codebooks" / f"{CODEBOOK.fingerprint} (conflicted copy).yaml").write_bytes(b"x")
    assert store.coders == ("ana", "ben")
    assert len(store.acts()) == 3
    found = store.verify().set_index("file")
    assert found["ok"].all()
    assert "half-synced" in found["note"]["acts/.syncthing.cy.sqlite.tmp"]
    assert len(Store(store.path).acts()) == 3


def test_a_round_that_says_nothing_is_left_out_and_hinders_nobody(store: Store) -> None:
    there = copy_of(store)
    bad = Act(kind="open_round", round="one", text="{}", **acts.stamp("lead", CODEBOOK, None, None))
    file = there.path / "acts" / "lead.sqlite"
    acts_files.create(file, study=layout.read(there.path).id, coder="lead")
    with acts_files.transaction(file, writes=True) as connection:
        acts_tables.add(connection, [bad], study=layout.read(there.path).id, coder="lead")
    assert store.copies.merge(there).items.query("kind == 'open_round'")["status"].tolist() == ["left out"]
    problems = there.verify().set_index("file")["problem"]
    assert "do not say what they change" in problems["acts/lead.sqlite"]
    assert there.append([put("ana", minute=3, round="one")]) == 1


def test_what_verify_advises_about_a_file_from_an_older_copy_mends_it(store: Store, tmp_path: Path) -> None:
    old = (store.path / "acts" / "ana.sqlite").read_bytes()
    store.append([put("ana", minute=3, code="warm")])
    store.append([put("ben", minute=3)])
    store.copies.archive(tmp_path / "one.zip")
    (store.path / "acts" / "ana.sqlite").write_bytes(old)
    (store.path / "acts" / "ben.sqlite").unlink()
    problems = store.verify()["problem"].str.cat()
    assert "store.copies.merge(that archive)" in problems
    assert "missing; it was there when the archive" in problems
    assert store.copies.merge(tmp_path / "one.zip").counts == {
        "new": 2,
        "there": 2,
        "conflicting": 0,
        "left out": 0,
    }
    assert store.verify()["ok"].all()


def test_a_file_with_a_zips_beginning_that_is_no_archive_is_refused(store: Store, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(StoreError, match="expected an archive as"):
        store.copies.merge(tmp_path / "x.zip")


def test_other_programs_hidden_files_among_the_acts_are_not_read(store: Store) -> None:
    known = store.acts()
    for name in ("._ana.sqlite", ".#ana.sqlite", ".ben.sqlite"):  # macOS, Emacs, a sync client
        (store.path / "acts" / name).write_bytes(b"\0\5\26\7" + bytes(4092))
    there = copy_of(store)
    assert store.acts() == known
    assert store.coders == ("ana",)
    assert store.copies.merge(there).counts["there"] == len(known)
    assert store.verify()["ok"].all()


def test_acts_that_were_left_in_the_cloud_are_missed_and_hinder_nobody_else(store: Store) -> None:
    store.append([put("ben", minute=2)])
    whole = copy_of(store)
    (store.path / "acts" / "ben.sqlite").rename(store.path.with_name("ben.sqlite"))
    (store.path / "acts" / ".ben.sqlite.icloud").write_bytes(b"bplist00")
    for deed in (
        store.acts,
        store.codings,
        lambda: store.acts(coder="ben"),
        lambda: store.append([put("ben", minute=3)]),
        lambda: store.forget("p1", why="withdrew"),
        lambda: whole.copies.merge(store),
        lambda: store.copies.backup(store.path.with_name("backup")),
    ):
        with pytest.raises(StoreError, match=r"'ben' left in the cloud|\.ben\.sqlite\.icloud"):
            deed()
    assert not store.verify()["ok"].all()
    assert store.append([put("ana", minute=3)]) == 1
    assert len(store.acts(coder="ana")) == 3
    store.path.with_name("ben.sqlite").rename(store.path / "acts" / "ben.sqlite")
    assert len(store.acts()) == 4
    assert store.verify()["ok"].all()


def test_a_pseudonym_that_is_a_device_on_windows_begins_no_file(store: Store) -> None:
    for name in ("con", "NUL", "Com1", "lpt9"):
        with pytest.raises(ActError, match="a device on Windows"):
            store.append([put(name, minute=3)])
    assert store.append([put("con-1", minute=3)]) == 1


@pytest.mark.long
def test_forks_of_forks_merged_in_every_order_read_the_same(store: Store) -> None:
    """Each copy is a copy of the one before, each coder goes on in each, and clocks run backwards."""
    copies = [store]
    for number in range(3):
        copies.append(copy_of(copies[-1], f"copy{number}"))
        for minute, each in enumerate(copies):
            each.append([put("ana", minute=9 - number - minute, start=number, end=number + 2)])
            each.append([acts.undo(each.acts(coder="ana")[-1], codebook=CODEBOOK, at=put("a", minute=0).at)])
    found = []
    for n, order in enumerate(permutations(range(4))):
        into = copy_of(copies[order[0]], f"into{n}")
        for other in order[1:]:
            into.copies.merge(copies[other])
        found.append((tuple(ids(into)), into.codings().to_csv()))
        assert into.verify()["ok"].all()
    assert len(set(found)) == 1
    assert len(found[0][0]) == len(set(found[0][0])) == 2 + 2 * (2 + 3 + 4)


def spelt_otherwise(store: Store, source: Path) -> Path:
    """Put an acts file into the study as Ana.sqlite, where the disk tells it from ana.sqlite."""
    other = store.path / "acts" / "Ana.sqlite"
    if other.exists():
        pytest.skip("this disk takes Ana.sqlite and ana.sqlite for one file")
    shutil.copy(source, other)
    return other


def test_a_copy_under_another_spelling_is_no_second_coder(store: Store, tmp_path: Path) -> None:
    store.append([put("ana", minute=11, start=0, end=2)])
    store.copies.backup(tmp_path / "copy")
    copy = Store(tmp_path / "copy")
    copy.append([put("ana", minute=12, start=0, end=3)])
    other = spelt_otherwise(store, copy.path / "acts" / "ana.sqlite")
    assert "Ana" not in store.coders
    assert store.append([put("ana", minute=13, start=0, end=4)]) == 1
    [told] = store.verify().set_index("file").loc[["acts/Ana.sqlite"], "problem"]
    assert "take them in with store.copies.merge" in told
    assert store.copies.merge(other).counts["new"] == 1
    assert store.verify()["ok"].all()
    assert len(store.acts(coder="ana")) == 5


def test_two_spellings_of_a_pseudonym_are_told_of_with_what_to_do(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "study", units=UNITS, codebook=CODEBOOK)
    copy = copy_of(store)
    copy.append([put("Ana", minute=14, start=0, end=3)])
    store.append([put("ana", minute=15, start=0, end=2)])
    other = spelt_otherwise(store, copy.path / "acts" / "Ana.sqlite")
    for refused in (
        lambda: Store(store.path).append([put("ana", minute=16, start=0, end=4)]),
        lambda: store.acts(coder="Ana"),
    ):
        with pytest.raises(ActError, match=r"acts of both .* move the other file out of acts/"):
            refused()
    problems = store.verify().set_index("file")["problem"]
    assert problems[["acts/Ana.sqlite", "acts/ana.sqlite"]].str.contains("but for upper and lower case").all()
    other.rename(tmp_path / "Ana.sqlite")
    assert store.append([put("ana", minute=17, start=0, end=4)]) == 1
    assert store.verify()["ok"].all()
