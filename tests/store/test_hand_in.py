"""One file each way: a coder's texts go out, their work comes back, and nobody else's does."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sense7_qual import acts, rounds
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._operations import hand_out, merge
from sense7_qual.store._postgres import server
from sense7_qual.store._stored import acts_files, acts_tables, layout, whole_files

BOOK = Codebook(name="small", codes=(Code(id="warm", label="Warm 🫶"), Code(id="cold", label="Cold")))
WORDS = {
    f"u{i}": f"The {animal} that nobody else wrote about slept {i} nights 🦊."
    for i, animal in enumerate(["quokka", "numbat", "bandicoot", "potoroo", "wombat", "echidna"])
}
LEAD: dict[str, Any] = {"coder": "lead", "codebook": BOOK}


@pytest.fixture(params=["folder", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    place: str | Path = tmp_path / "study"
    if request.param == "postgres":
        make: Callable[..., str] = request.getfixturevalue("postgres")
        place = make()
    yield planned(place)
    if request.param == "postgres":
        server.connect(str(place)).engine.dispose()


@pytest.fixture
def folder(tmp_path: Path) -> Store:
    return planned(tmp_path / "study")


def planned(place: str | Path) -> Store:
    """A study in which ben codes u0 to u2 and ana u2 to u5; ana has begun."""
    units = pd.DataFrame(
        {
            "unit_id": list(WORDS),
            "text": list(WORDS.values()),
            "document_id": None,
            "position": None,
            "case_id": [f"p{i // 2}" for i in range(6)],
            "animal": pd.Categorical([words.split()[1] for words in WORDS.values()]),
        }
    )
    store = Store.create(place, units=units, codebook=BOOK)
    plan = {"ben": ("u0", "u1", "u2"), "ana": ("u2", "u3", "u4", "u5")}
    store.append([assigned("lead", plan)])
    store.append([work("warm", "u3", "ana", start=4, end=10), work("cold", "u2", "ana")])
    return store


def assigned(coder: str, units: dict[str, tuple[str, ...]]) -> acts.Act:
    made = rounds.Assignment(units=units, coders=tuple(units), overlap=0.2, seed=1)
    return acts.Act(kind="assign", text=made.to_text(), **acts.stamp(coder, BOOK, None, None))


def work(code: str, unit_id: str, coder: str = "ben", **named: Any) -> acts.Act:
    return acts.apply(**{"coder": coder, "unit_id": unit_id, "code": code, "codebook": BOOK} | named)


def at_ben(store: Store, tmp_path: Path, name: str = "ben") -> Store:
    """What ben has after unpacking the file that he was given."""
    store.copies.hand_out(None, "ben", tmp_path / f"{name}.zip")
    return Store.restore(tmp_path / f"{name}.zip", tmp_path / name)


def came_back(ben: Store, tmp_path: Path) -> Path:
    ben.copies.hand_in(tmp_path / "ben-back.zip")
    return tmp_path / "ben-back.zip"


def held(path: Path) -> bytes:
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return b"".join(file.read_bytes() for file in files if file.is_file())


def test_the_texts_of_one_coder_go_out_and_the_same_acts_come_back(store: Store, tmp_path: Path) -> None:
    ben = at_ben(store, tmp_path)
    for place in (tmp_path / "ben.zip", ben.path):
        content = held(place)
        for unit_id, words in WORDS.items():
            animal = words.split()[1].encode()
            assert (animal in content) == (unit_id in ("u0", "u1", "u2")), (place, unit_id)
    assert ben.units["unit_id"].tolist() == ["u0", "u1", "u2"]
    assert ben.coders == ("lead",)
    assert ben.verify()["ok"].all()
    pd.testing.assert_frame_equal(ben.plan, store.plan)  # everybody may know who codes what
    done = [work("warm", "u0", start=4, end=10), acts.finish(coder="ben", unit_id="u0", codebook=BOOK)]
    ben.append(done)
    ben.append([acts.memo(coder="ben", text="Is it warm? 🤔", unit_id="u1", codebook=BOOK)])
    back = came_back(ben, tmp_path)
    content = held(back)
    assert b"quokka" in content  # his quote
    assert not any(words.split()[1].encode() in content for words in list(WORDS.values())[1:])
    merged = store.copies.merge(back)
    assert merged.counts == {"new": 3, "there": 0, "conflicting": 0, "left out": 0}
    assert store.acts(coder="ben") == ben.acts(coder="ben")
    assert store.copies.merge(back).counts == {"new": 0, "there": 3, "conflicting": 0, "left out": 0}
    assert store.verify()["ok"].all()
    assert store.decisions(coder="ben")["applied"].sum() == 1


def test_a_hand_out_says_no_more_of_others_than_their_ids(folder: Store, tmp_path: Path) -> None:
    """Neither by categories of a column, nor by quotes and memos of an unblinded round."""
    folder.append([rounds.open_round("one", units=["u3", "u0"], coders=["ana", "cleo"], **LEAD)])
    folder.append(
        [
            work("warm", "u3", "cleo", start=4, end=11, round="one"),
            acts.memo(coder="cleo", unit_id="u3", text="POTOROO-MEMO", round="one", codebook=BOOK),
            work("cold", "u0", "cleo", start=4, end=10, round="one"),
        ]
    )
    folder.append([rounds.unblind("one", **LEAD)])
    ben = at_ben(folder, tmp_path)
    assert ben.coders == ("cleo", "lead")
    assert ben.verify()["ok"].all()
    assert not any(secret in held(ben.path) for secret in (b"potoroo", b"POTOROO", b"wombat", b"echidna"))
    assert {act.text for act in ben.acts(coder="cleo", kind="apply")} == {"quokka"}
    assert set(ben.codings()["unit_id"]) == {"u0"}


def test_whoever_has_begun_a_text_keeps_it_and_a_round_has_its_own(folder: Store, tmp_path: Path) -> None:
    folder.append([work("warm", "u5", "ben")])
    folder.append([rounds.open_round("two", units=["u3", "u4"], coders=["ben", "ana"], **LEAD)])
    folder.copies.hand_out("two", "ben", tmp_path / "two.zip")
    assert Store.restore(tmp_path / "two.zip", tmp_path / "two").units["unit_id"].tolist() == [
        "u3",
        "u4",
        "u5",
    ]
    with pytest.raises(ActError, match="expected a coder of the plan, or a round – found 'dee' and no round"):
        folder.copies.hand_out(None, "dee", tmp_path / "dee.zip")
    assert not (tmp_path / "dee.zip").exists()


def test_without_a_plan_a_coder_gets_all_texts(tmp_path: Path) -> None:
    columns = {"document_id": None, "case_id": None, "position": None}
    units = pd.DataFrame({"unit_id": ["a"], "text": ["x"], **columns})
    store = Store.create(tmp_path / "study", units=units, codebook=BOOK)
    store.copies.hand_out(None, "ben", tmp_path / "ben.zip")
    assert Store.restore(tmp_path / "ben.zip", tmp_path / "ben").units["unit_id"].tolist() == ["a"]


def test_acts_of_anybody_else_are_refused_and_each_is_named(store: Store, tmp_path: Path) -> None:
    """Whoever wrote them into it, ben too: in his own file he does what coders do, nothing of a lead's."""
    store.append([rounds.open_round("blind", units=["u0"], coders=["ana", "ben"], **LEAD)])
    ben, before = at_ben(store, tmp_path), store.acts()
    own = {"coder": "ben", "codebook": BOOK}
    fine = acts.finish(unit_id="u0", **own)
    ruling = acts.rule(unit_id="u0", code="warm", applied=True, **own)
    ben.append([fine, ruling])
    ben.append([acts.undo(ruling, codebook=BOOK)])
    ben.append([assigned("ben", {"ana": ("u0",)})])
    ben.append([rounds.unblind("blind", **LEAD)])
    ben.append([work("warm", "u0", "ana")])
    ben.append([work("warm", "u0", "dee")])
    for other in (came_back(ben, tmp_path), ben, with_acts_of_all(ben, tmp_path)):
        merged = store.copies.merge(other)
        refused = merged.items[merged.items["status"] == "refused"]
        kinds = set(zip(refused["coder"], refused["kind"], strict=True))
        assert {("ben", "rule"), ("ben", "undo"), ("ben", "assign")} <= kinds
        if not str(other).endswith("ben-back.zip"):
            assert {("lead", "unblind"), ("ana", "apply"), ("dee", "apply")} <= kinds
    assert {act.act_id for act in store.acts()} - {act.act_id for act in before} == {fine.act_id}
    assert "dee" not in store.coders
    assert not store.rounds[0].unblinded_at
    assert store.plan.query("coder == 'ana'")["unit_id"].tolist() == ["u2", "u3", "u4", "u5", "u0"]  # "blind"
    assert store.verify()["ok"].all()


def with_acts_of_all(ben: Store, tmp_path: Path) -> Path:
    ben.copies.archive(tmp_path / "all of it.zip")
    return tmp_path / "all of it.zip"


def test_the_lead_may_still_name_who_comes_in(folder: Store, tmp_path: Path) -> None:
    ben = at_ben(folder, tmp_path)
    ben.append([work("warm", "u0", "dee")])
    assert folder.copies.merge(ben, coders=["ben", "dee"]).counts["new"] == 1
    assert folder.coders == ("ana", "dee", "lead")


def test_the_note_of_the_lead_decides_not_the_file(store: Store, tmp_path: Path) -> None:
    ben, before = at_ben(store, tmp_path), store.acts()
    ben.append([work("warm", "u0"), acts.finish(coder="ben", unit_id="u0", codebook=BOOK)])
    ben.append([work("warm", "u0", "ana")])
    handed = layout.handed_out(ben.path)
    assert handed is not None
    # ben writes ana's name into it: the study gave this file to ben.
    layout.hand_to(ben.path, replace(handed, coder="ana"))
    merged = store.copies.merge(ben)
    assert set(merged.items.loc[merged.items["status"] == "refused", "coder"]) == {"ana"}
    assert set(merged.items.loc[merged.items["status"] == "new", "coder"]) == {"ben"}
    # An id that the study never gave.
    layout.hand_to(ben.path, replace(handed, id="0" * 8 + "-0000-0000-0000-" + "0" * 12))
    with pytest.raises(StoreError, match="expected a hand-out that this study gave"):
        store.copies.merge(ben)
    # No id at all: then it is no copy of this study either, since texts are missing.
    (ben.path / "handed_out.json").unlink()
    with pytest.raises(StoreError, match=r"expected units\.parquet as it was imported"):
        store.copies.merge(ben.path)
    assert {act.coder for act in store.acts() if act not in before} == {"ben"}


def test_other_copies_bring_named_coders_alone_once_parts_are_out(folder: Store, tmp_path: Path) -> None:
    folder.copies.backup(tmp_path / "copy")
    other = Store(tmp_path / "copy")
    other.append([work("warm", "u4", "ana")])
    folder.copies.hand_out(None, "ben", tmp_path / "ben.zip")
    for place in (other, other.path / "acts" / "ana.sqlite"):
        with pytest.raises(
            StoreError, match=r"whose acts come in, .* – found 1 of 'ana' – nothing was merged"
        ):
            folder.copies.merge(place)
    assert folder.copies.merge(other, coders=["ana"]).counts["new"] == 1
    assert folder.copies.merge(other).counts["new"] == 0


def test_a_file_of_another_study_is_refused(folder: Store, tmp_path: Path) -> None:
    elsewhere = planned(tmp_path / "elsewhere")
    ben = at_ben(elsewhere, tmp_path)
    ben.append([work("warm", "u0")])
    before = folder.acts()
    for other in (came_back(ben, tmp_path), ben.path, tmp_path / "ben.zip"):
        with pytest.raises(StoreError, match="expected another copy of study"):
            folder.copies.merge(other)
    assert folder.acts() == before


def test_who_withdrew_in_between_stays_away(store: Store, tmp_path: Path) -> None:
    ben = at_ben(store, tmp_path)
    ben.append([work("warm", "u0", start=4, end=10), work("cold", "u2", start=4, end=13)])
    ben.append([acts.memo(coder="ben", unit_id="u0", text="QUOKKA-MEMO", codebook=BOOK)])
    ben.append([acts.memo(coder="ben", target_kind="study", text="A thought of mine.", codebook=BOOK)])
    gone = store.forget("p0", why="Withdrew.")
    assert (gone.still_held["what"] == "hand-out").sum() == 1
    merged = store.copies.merge(came_back(ben, tmp_path))
    assert merged.counts["new"] == 4
    assert merged.items["unknown"].tolist().count("words") == 1  # a memo that nothing is left to compare with
    texts = {act.text for act in store.acts(coder="ben")}
    assert "quokka" not in texts
    assert "QUOKKA-MEMO" not in texts
    assert {"bandicoot", "A thought of mine."} <= texts
    assert store.verify()["ok"].all()
    # The other way round: what is handed out now has no word of who withdrew.
    store.copies.hand_out(None, "ben", tmp_path / "again.zip")
    again = Store.restore(tmp_path / "again.zip", tmp_path / "again")
    assert again.units["unit_id"].tolist() == ["u2"]
    assert b"quokka" not in held(again.path)
    assert again.verify()["ok"].all()


def test_the_codebook_may_change_in_between(store: Store, tmp_path: Path) -> None:
    ben = at_ben(store, tmp_path)
    ben.append([work("warm", "u0"), acts.finish(coder="ben", unit_id="u0", codebook=BOOK)])
    clearer = replace(BOOK["warm"], definition="Kind.")
    revised = store.revise(replace(BOOK, codes=(clearer, BOOK["cold"])), why="It was vague.", coder="lead")
    assert store.copies.merge(came_back(ben, tmp_path)).counts["new"] == 2
    assert store.codebook.fingerprint == revised.fingerprint
    decided = store.decisions(coder="ben")
    assert decided["code"].tolist() == ["cold"]  # what was decided on the earlier meaning is to be looked at


@pytest.mark.parametrize("may", [False, True])
def test_ben_adds_codes_only_where_the_lead_lets_coders(folder: Store, tmp_path: Path, may: bool) -> None:
    if may:
        folder.set_options(new_codes="add", coder="lead")
    ben = at_ben(folder, tmp_path)
    more = ben.revise(replace(BOOK, codes=(*BOOK.codes, Code(id="new", label="New"))), why="?", coder="ben")
    ben.append([work("new", "u0", codebook=more), work("warm", "u1")])
    merged = folder.copies.merge(came_back(ben, tmp_path))
    assert merged.codebooks == ((more.fingerprint,) if may else ())
    assert merged.items.set_index("kind")["status"].to_dict()["revise"] == ("new" if may else "refused")
    came = {act.code for act in folder.acts(coder="ben", kind="apply")}
    assert came == ({"new", "warm"} if may else {"warm"})
    if not may:  # nothing is lost: the lead can take it in by name
        assert merged.counts["left out"] == 1
        assert folder.copies.merge(came_back(ben, tmp_path), coders=["ben"]).counts["new"] == 2


def redefined(codes: tuple[Code, ...]) -> tuple[Code, ...]:
    return tuple(replace(code, definition="Something else.") for code in codes)


@pytest.mark.parametrize("hidden", [False, True])
def test_ben_redefines_no_code_where_coders_may_add_some(folder: Store, tmp_path: Path, hidden: bool) -> None:
    """Neither in so many words, nor in a revision that says that it adds a code and no more."""
    folder.set_options(new_codes="add", coder="lead")
    before = folder.codebook
    ben = at_ben(folder, tmp_path)
    more = replace(BOOK, codes=(*redefined(BOOK.codes), Code(id="new", label="New")))
    ben.revise(more, why="Mine.", coder="ben")
    ben.append([work("warm", "u1")])
    if hidden:
        rewrite_revision(ben, "add")
    merged = folder.copies.merge(came_back(ben, tmp_path))
    status = merged.items.set_index("kind")["status"].to_dict()
    assert status == {"revise": "refused", "apply": "new"}
    assert merged.codebooks == ()
    assert (folder.codebook, folder.revisions) == (before, ())
    # The lead's next revision is what the lead did, and nothing else.
    typo = replace(before, codes=(replace(before.codes[0], label="Warmth 🫶"), *before.codes[1:]))
    folder.revise(typo, why="A typing error.", coder="lead")
    (revision,) = folder.revisions
    assert [(change.kind, change.code) for change in revision.changes] == [("rename", "warm")]


def test_a_revision_that_says_more_than_it_does_is_refused(folder: Store, tmp_path: Path) -> None:
    """It adds a code, and says that it redefined another, which the paper would print."""
    folder.set_options(new_codes="add", coder="lead")
    ben = at_ben(folder, tmp_path)
    ben.revise(replace(BOOK, codes=(*BOOK.codes, Code(id="new", label="New"))), why="?", coder="ben")
    rewrite_revision(ben, "redefine")
    merged = folder.copies.merge(came_back(ben, tmp_path))
    assert merged.items["status"].tolist() == ["refused"]
    assert folder.revisions == ()


def rewrite_revision(ben: Store, kind: str) -> None:
    """Write ben's revision anew, with one change of this kind, as who has the file can."""
    revision, *others = ben.acts(coder="ben")
    said = json.loads(str(revision.text))
    changes = [one | {"kind": kind} for one in said["changes"] if one["kind"] == "add"]
    text = json.dumps(said | {"changes": changes}, ensure_ascii=False, sort_keys=True)
    file = acts_files.acts_file(Path(ben.path), "ben")
    file.unlink()
    acts_files.create(file, study=ben.desk.study_id, coder="ben")
    with acts_files.transaction(file, writes=True) as connection:
        rewritten = [replace(revision, text=text), *others]
        acts_tables.add(connection, rewritten, study=ben.desk.study_id, coder="ben")


def test_two_hand_outs_of_one_coder_come_together(folder: Store, tmp_path: Path) -> None:
    first, second = at_ben(folder, tmp_path, "one"), at_ben(folder, tmp_path, "two")
    first.append([work("warm", "u0")])
    second.append([work("cold", "u1")])
    first.copies.hand_in(tmp_path / "one-back.zip")
    second.copies.hand_in(tmp_path / "two-back.zip")
    for name in ("one", "two", "one"):
        folder.copies.merge(tmp_path / f"{name}-back.zip")
    assert {act.code for act in folder.acts(coder="ben")} == {"warm", "cold"}
    assert folder.verify()["ok"].all()
    with pytest.raises(StoreError, match="expected nothing at"):  # never over the work of another hand-out
        first.copies.hand_in(tmp_path / "two-back.zip")
    notes = [json.loads(file.read_text()) for file in (folder.path / "copies").iterdir()]
    assert {(each["coder"], each["round"], each["kind"]) for each in notes} == {("ben", "", "hand-out")}
    assert len({each["id"] for each in notes}) == 2


def test_a_merge_that_was_interrupted_is_completed(
    folder: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ben = at_ben(folder, tmp_path)
    ben.append([work("warm", "u0"), work("cold", "u1")])
    back, before = came_back(ben, tmp_path), folder.acts()
    with monkeypatch.context() as broken:
        broken.setattr(merge, "relinked", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            folder.copies.merge(back)
    assert folder.acts() == before
    assert folder.copies.merge(back).counts["new"] == 2
    assert folder.verify()["ok"].all()


def test_only_a_study_hands_out_and_only_what_was_handed_out_comes_in(folder: Store, tmp_path: Path) -> None:
    ben = at_ben(folder, tmp_path)
    with pytest.raises(StoreError, match="expected the lead's study – found a part of it"):
        ben.copies.hand_out(None, "ben", tmp_path / "again.zip")
    with pytest.raises(StoreError, match="hand_in: expected a folder that was handed out"):
        folder.copies.hand_in(tmp_path / "back.zip")
    with pytest.raises(ActError, match="expected a unit of this study – found 'u3'"):
        ben.append([work("warm", "u3")])


def test_files_are_their_owners_alone_and_links_are_not_followed(folder: Store, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        ben = at_ben(folder, tmp_path)
        back = came_back(ben, tmp_path)
    finally:
        os.umask(before)
    assert {oct(file.stat().st_mode & 0o777) for file in (tmp_path / "ben.zip", back)} == {"0o600"}
    assert ben.path.stat().st_mode & 0o777 == 0o700
    treasure = tmp_path / "treasure"
    treasure.write_text("mine")
    back.unlink()
    back.symlink_to(treasure)
    with pytest.raises(StoreError, match="expected nothing at"):
        ben.copies.hand_in(back)
    assert treasure.read_text() == "mine"


def repacked(source: Path, target: Path, **members: bytes | None) -> Path:
    """The same zip with other members."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            if members.get(name, b"") is not None:
                new.writestr(name, members.get(name, old.read(name)) or b"")
        for name in members.keys() - set(old.namelist()):
            new.writestr(name, members[name] or b"")
    return target


def test_hostile_files_are_refused_and_nothing_is_written(folder: Store, tmp_path: Path) -> None:
    back, before = came_back(at_ben(folder, tmp_path), tmp_path), folder.acts()
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as members:
        members.writestr("acts.jsonl", b"0" * 50_000_000)
        members.writestr("study.json", b"{}")
    hostile = [
        repacked(back, tmp_path / "slip.zip", **{"../../evil.txt": b"x"}),
        repacked(back, tmp_path / "absolute.zip", **{"/tmp/evil.txt": b"x"}),  # noqa: S108 – in a zip
        repacked(back, tmp_path / "swapped.zip", **{"acts.jsonl": b'{"coder": "lead"}\n'}),
        repacked(back, tmp_path / "without.zip", **{"handed_out.json": None}),
        bomb,
    ]
    for file in hostile:
        with pytest.raises(StoreError, match=r"expected an archive as store\.copies"):
            folder.copies.merge(file)
        with pytest.raises(StoreError, match=r"expected an archive as store\.copies"):
            Store.restore(file, tmp_path / "made")
        assert not (tmp_path / "made").exists()
    assert not list(tmp_path.rglob("evil.txt"))
    assert folder.acts() == before
    assert hand_out.handed_in(bomb) is None


def test_a_note_that_nobody_can_read_hides_nothing(folder: Store, tmp_path: Path) -> None:
    ben = at_ben(folder, tmp_path)
    handed = ben.path / "handed_out.json"
    handed.write_bytes(handed.read_bytes().replace(b'"u5"', b'"u0"'))
    with pytest.raises(StoreError, match=r"expected handed_out\.json as store.copies.hand_out wrote it"):
        Store(ben.path)
    shutil.rmtree(ben.path)
    again = Store.restore(tmp_path / "ben.zip", ben.path)
    handed.write_bytes(whole_files.seal({"coder": "ben"}))  # as an earlier version wrote it
    with pytest.raises(StoreError, match=r"expected handed_out\.json"):
        folder.copies.merge(again.path)
    found = again.verify().set_index("file")
    assert not found.loc["handed_out.json", "ok"]
