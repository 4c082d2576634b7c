"""Revising the codebook of a study: what changed, two people at once, and what earlier codings still say."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing import Queue, get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from sense7_qual import acts, codings
from sense7_qual.codebook import Change, Codebook, Revision, changes, combine
from sense7_qual.errors import ActError, CodebookError, StoreError, TableError
from sense7_qual.frames import CODINGS
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from sense7_qual.store._stored import layout
from sense7_qual.widgets._coding.session import Session
from tests.helpers.revised_codebooks import BASE, UNITS, edited, plus, without


@pytest.fixture(
    params=["folder", pytest.param("postgresql", marks=[pytest.mark.nightly, pytest.mark.postgres])]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "folder":
        yield Store.create(tmp_path / "s", units=UNITS, codebook=BASE)
        return
    address: Callable[..., str] = request.getfixturevalue("postgres")
    made = Store.create(address(), units=UNITS, codebook=BASE)
    yield made
    server.connect(str(made.path)).engine.dispose()


def code(store: Store, coder: str, unit_id: str, *ids: str, book: Codebook | None = None) -> None:
    named = {"coder": coder, "unit_id": unit_id, "codebook": book or store.codebook}
    store.append([*[acts.apply(code=i, **named) for i in ids], acts.finish(**named)])


def decided(store: Store) -> dict[tuple[str, str, str], bool]:
    found = codings.decisions(store.codings(), store.coverage(), store.codebook, revisions=store.revisions)
    keys = zip(found["coder"], found["unit_id"], found["code"], strict=True)
    return dict(zip(keys, found["applied"], strict=True))


def stale(store: Store) -> set[tuple[str, ...]]:
    found = codings.stale(store.codings(), store.coverage(), store.codebook, revisions=store.revisions)
    return set(found.itertuples(index=False, name=None))


# what changed ---------------------------------------------------------------------------------------


def test_every_kind_of_change_is_told() -> None:
    new = plus(without(BASE, "kind", "cold", "other"), "tone", "icy", "distant")
    new = edited(edited(new, "tone", codable=False), "warm", label="Warmth", parent="tone")
    told = changes(BASE, new, merged={"kind": "warm"}, split={"cold": ["icy", "distant"]})
    assert told == (
        Change("rename", "warm"),
        Change("move", "warm"),
        Change("merge", "kind", ("warm",)),
        Change("split", "cold", ("icy", "distant")),
        Change("retire", "other"),
    )
    more = edited(plus(BASE, "new"), "warm", avoid_when=("never",), examples=("Thanks!",))
    assert changes(BASE, more) == (
        Change("add", "new"),
        Change("redefine", "warm"),
        Change("annotate", "warm"),
    )
    assert changes(BASE, BASE) == ()
    assert changes(BASE, edited(BASE, "warm", codable=False)) == (Change("retire", "warm"),)


@pytest.mark.parametrize(
    ("new", "told", "message"),
    [
        (BASE, {"merged": {"kind": "warm"}}, "found 'kind', still one of the new"),
        (without(BASE, "kind"), {"merged": {"knid": "warm"}}, "not one of the old – did you mean 'kind'"),
        (without(BASE, "kind"), {"merged": {"kind": "hot"}}, "found 'hot'"),
        (without(BASE, "cold"), {"split": {"cold": ["warm", "kind"]}}, "found 'warm', 'kind'"),
        (plus(without(BASE, "cold"), "icy"), {"split": {"cold": ["icy"]}}, "two new codes or more .* 'icy'"),
        (plus(without(BASE, "cold"), "icy"), {"split": {"cold": "icy"}}, "expected a list of the codes"),
        (None, {}, "expected a Codebook as new – found NoneType"),
    ],
)
def test_merges_and_splits_that_do_not_fit_are_refused(
    new: Codebook, told: dict[str, dict[str, object]], message: str
) -> None:
    with pytest.raises(CodebookError, match=message):
        changes(BASE, new, **told)


def test_changes_of_two_people_combine_field_by_field() -> None:
    ours = plus(edited(BASE, "warm", label="Warmth"), "ours")
    theirs = plus(edited(without(BASE, "other"), "warm", definition="Warm words."), "theirs")
    found = combine(BASE, ours, theirs)
    assert found["warm"].label == "Warmth"
    assert found["warm"].definition == "Warm words."
    assert found.ids == ("warm", "kind", "cold", "ours", "theirs")
    assert combine(BASE, ours, BASE) == combine(BASE, BASE, ours) == combine(BASE, ours, ours) == ours


def test_changes_of_one_thing_by_two_people_are_a_conflict_that_names_both() -> None:
    ours, theirs = edited(BASE, "warm", label="Warmth"), edited(BASE, "warm", label="Heat")
    with pytest.raises(CodebookError, match="label of code 'warm': yours 'Warmth', theirs 'Heat'"):
        combine(BASE, ours, theirs)
    with pytest.raises(CodebookError, match="code 'warm': yours removed, theirs 'Heat'"):
        combine(BASE, without(BASE, "warm"), theirs)
    words = "Sentinel-Quokka"
    with pytest.raises(CodebookError, match="yours 1 entries, theirs 2 entries") as refused:
        combine(BASE, edited(BASE, "warm", examples=(words,)), edited(BASE, "warm", examples=(words, "b")))
    assert words not in str(refused.value)


# in a study -----------------------------------------------------------------------------------------


def test_every_version_stays_and_says_who_and_why(store: Store) -> None:
    new = store.revise(edited(BASE, "warm", label="Warmth"), why="Clearer.", coder="lead")
    assert new == store.codebook == Store(store.path).codebook
    assert set(store.codebooks) == {BASE.fingerprint, new.fingerprint}
    (said,) = Store(store.path).revisions
    assert (said.coder, said.why, said.base) == ("lead", "Clearer.", BASE.fingerprint)
    assert (said.codebook, said.changes) == (new.fingerprint, (Change("rename", "warm"),))
    assert store.verify()["ok"].all()


def test_a_revision_needs_a_reason_and_a_change(store: Store) -> None:
    with pytest.raises(ActError, match="expected a reason"):
        store.revise(plus(BASE, "new"), why=" ", coder="lead")
    with pytest.raises(ActError, match="found the same"):
        store.revise(BASE, why="No change.", coder="lead")
    assert store.revisions == ()
    assert Store(store.path).codebook == BASE


def test_a_revision_that_is_there_already_is_not_made_twice(store: Store) -> None:
    late = Store(store.path)  # as after a call whose answer was lost
    new = store.revise(plus(BASE, "new"), why="Needed.", coder="lead")
    assert late.codebook == BASE
    assert late.revise(plus(BASE, "new"), why="Needed.", coder="lead") == late.codebook == new
    assert [one.why for one in store.revisions] == ["Needed."]
    with pytest.raises(ActError, match="found the same"):
        late.revise(new, why="Once more.", coder="lead")


def test_two_people_revise_at_once(store: Store) -> None:
    other, early = Store(store.path), Store(store.path)
    store.revise(edited(BASE, "warm", label="Warmth"), why="Clearer.", coder="lead")
    other.append([acts.apply(coder="ana", unit_id="m1", code="warm", codebook=store.codebook)])
    assert other.codebook == BASE  # what this notebook began from, though it has seen the newer version
    both = other.revise(plus(BASE, "new"), why="Needed.", coder="lead2")
    assert both["warm"].label == "Warmth"
    assert "new" in both.ids
    assert [one.changes for one in Store(store.path).revisions] == [
        (Change("rename", "warm"),),
        (Change("add", "new"),),
    ]
    third = edited(BASE, "warm", label="Heat")
    with pytest.raises(CodebookError, match="yours 'Heat', theirs 'Warmth'"):
        early.revise(third, why="Hotter.", coder="lead")
    assert len(store.revisions) == 2


@pytest.mark.long
def test_codings_are_carried_over_by_rule_and_what_is_stale_is_never_counted(store: Store) -> None:
    code(store, "ana", "m1", "warm", "cold")
    code(store, "ana", "m2")
    first = edited(without(BASE, "kind"), "warm", label="Warmth")
    store.revise(first, why="One code.", coder="lead", merged={"kind": "warm"})
    code(store, "ben", "m1", "other")
    second = plus(edited(without(first, "cold"), "other", definition="All else."), "icy", "distant", "new")
    store.revise(second, why="Two kinds.", coder="lead", split={"cold": ["icy", "distant"]})
    assert stale(store) == {
        ("m1", "ana", "icy", "split"),
        ("m1", "ana", "distant", "split"),
        *(
            (unit, coder, one, reason)
            for unit, coder in [("m1", "ana"), ("m2", "ana"), ("m1", "ben")]
            for one, reason in [("other", "redefine"), ("new", "add")]
        ),
    }
    assert decided(store) == {
        ("ana", "m1", "warm"): True,
        ("ana", "m2", "warm"): False,
        ("ben", "m1", "warm"): False,
    }  # of the parts of cold nothing counts, absent where it was, until ana says which part m1 has
    with pytest.raises(TableError, match=r"and revisions=store\.revisions"):
        codings.decisions(store.codings(), store.coverage(), store.codebook)
    code(store, "ben", "m1", "icy")  # looks at the unit again, and says so
    assert not [row for row in stale(store) if row[1] == "ben"]
    now = {key: value for key, value in decided(store).items() if key[0] == "ben"}
    assert now == {("ben", "m1", one): one == "other" for one in ("warm", "other", "new")}
    code(store, "ana", "m1", "icy")  # the last who had to say which part it is
    now = {key: value for key, value in decided(store).items() if key[0] == "ben"}
    assert now == {
        ("ben", "m1", one): one in ("other", "icy") for one in ("warm", "other", "icy", "distant", "new")
    }


def test_merged_codes_count_where_either_was_applied(store: Store) -> None:
    code(store, "ana", "m1", "kind")
    code(store, "ana", "m2", "warm", "kind")
    store.revise(without(BASE, "kind"), why="Same.", coder="lead", merged={"kind": "warm"})
    found = decided(store)
    assert found["ana", "m1", "warm"]
    assert found["ana", "m2", "warm"]
    assert stale(store) == set()
    kept, _ = codings.carried(store.codings(), store.coverage(), store.codebook, revisions=store.revisions)
    CODINGS.check(kept)  # one row for what stands on one span
    assert kept[["unit_id", "code", "was"]].to_numpy().tolist() == [
        ["m1", "warm", "kind"],
        ["m2", "warm", "kind, warm"],
    ]
    assert store.codings()["code"].tolist() == ["kind", "warm", "kind"]  # the history stays


@pytest.mark.long
def test_a_return_to_an_earlier_version_makes_nothing_stale(store: Store) -> None:
    code(store, "ana", "m1", "warm")
    there = store.revise(edited(BASE, "warm", definition="Other."), why="Try.", coder="lead")
    assert [row[2:] for row in stale(store)] == [("warm", "redefine")]
    store.revise(edited(there, "warm", definition=BASE["warm"].definition), why="Back.", coder="lead")
    assert stale(store) == set()
    assert decided(store)["ana", "m1", "warm"]


def test_a_history_that_does_not_lead_there_is_refused(store: Store) -> None:
    code(store, "ana", "m1", "warm")
    store.revise(plus(BASE, "new"), why="Needed.", coder="lead")
    stranger = plus(BASE, "stranger")
    with pytest.raises(TableError, match="expected revisions that lead from"):
        codings.decisions(store.codings(), store.coverage(), stranger, revisions=store.revisions)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "merge", "into": []},
        {"kind": "split", "into": ["icy"]},
        {"kind": "swap", "into": []},
        {"kind": "retire", "into": ["warm"]},
    ],
)
def test_a_revision_that_says_no_change_is_refused(change: dict[str, object]) -> None:
    text = json.dumps({"base": "b", "why": "w", "changes": [{"code": "cold", **change}]})
    with pytest.raises(CodebookError, match="does not hold the changes"):
        Revision.from_text(text, coder="lead", at="2026-01-31", codebook=BASE.fingerprint)


# in the store -----------------------------------------------------------------------------------------


def test_what_was_coded_with_a_code_that_is_gone_can_be_taken_away(store: Store) -> None:
    code(store, "ana", "m1", "kind", "cold")
    note = acts.memo(coder="ana", text="n", target_kind="code", code="kind", codebook=BASE)
    store.append([note])
    book = store.revise(without(BASE, "kind"), why="Same.", coder="lead", merged={"kind": "warm"})
    assert decided(store)["ana", "m1", "warm"]
    gone = acts.remove(coder="ana", unit_id="m1", code="kind", codebook=book)
    again = acts.memo(
        coder="ana", text="N", target_kind="code", code="kind", codebook=book, memo_id=note.memo_id
    )
    store.append([gone, again])
    code(store, "ana", "m1")
    assert not decided(store)["ana", "m1", "warm"]
    assert store.memos()["text"].tolist() == ["N"]
    assert store.verify()["ok"].all()
    for bad in (
        acts.remove(coder="ana", unit_id="m1", code="knid", codebook=book),
        replace(note, act_id="0" * 8 + note.act_id[8:], code="knid"),
    ):
        with pytest.raises(ActError, match="expected a code of codebook 'small' – found 'knid'"):
            store.append([bad])
    with pytest.raises(CodebookError, match="found 'kind'"):
        acts.apply(coder="ana", unit_id="m1", code="kind", codebook=book)


def test_taking_back_works_across_a_revision(store: Store) -> None:
    named = {"coder": "ana", "unit_id": "m1", "codebook": BASE}
    coding, done = acts.apply(code="kind", **named), acts.finish(**named)
    store.append([coding, done])
    book = store.revise(without(BASE, "kind"), why="Same.", coder="lead", merged={"kind": "warm"})
    store.append([acts.undo(coding, codebook=book)])
    assert not decided(store)["ana", "m1", "warm"]
    store.append([acts.redo(coding, codebook=book)])
    assert decided(store)["ana", "m1", "warm"]
    later = acts.finish(**(named | {"codebook": book}))
    store.append([later, acts.undo(later, codebook=book)])
    assert store.coverage()["codebook"].tolist() == [BASE.fingerprint]


@pytest.mark.long
def test_copies_that_were_revised_apart_are_joined_by_the_next_revision(tmp_path: Path) -> None:
    here = Store.create(tmp_path / "here" / "s", units=UNITS, codebook=BASE)
    shutil.copytree(here.path, tmp_path / "there" / "s")
    there = Store(tmp_path / "there" / "s")
    here.revise(plus(BASE, "new"), why="Needed.", coder="lead")
    other = there.revise(
        edited(without(BASE, "kind"), "cold", definition="Icy."),
        why="Same.",
        coder="lead2",
        merged={"kind": "warm"},
    )
    code(there, "ana", "m1", "warm", "cold")
    code(there, "ben", "m1", "warm", book=BASE)
    here.copies.merge(there)
    with pytest.raises(TableError, match=r"store\.revise joins the two"):
        decided(here)
    assert here.revise(here.codebook, why="Both copies.", coder="lead") == here.codebook
    assert decided(here) == {
        ("ana", "m1", "warm"): True,
        ("ana", "m1", "other"): False,
        ("ben", "m1", "warm"): True,
        **{("ben", "m1", one): False for one in ("kind", "cold", "other")},
    }
    assert {one.base for one in here.revisions} == {BASE.fingerprint, other.fingerprint}
    with pytest.raises(ActError, match="found the same"):
        here.revise(here.codebook, why="Once more.", coder="lead")


@pytest.mark.postgres
def test_only_a_lead_revises_in_postgresql(postgres: Callable[..., str]) -> None:
    address = postgres()
    first = Store.create(address, units=UNITS, codebook=BASE)
    first.admin.add_coder("ana", role="ana")
    ana = Store(postgres("ana", address.rpartition("=")[2]))
    with pytest.raises(StoreError, match="which does not lead"):
        ana.revise(plus(BASE, "new"), why="Mine.", coder="ana")
    assert Store(address).codebook == BASE
    for store in (first, ana):
        server.connect(str(store.path)).engine.dispose()


def test_a_revision_that_was_interrupted_and_done_again_stands_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.create(tmp_path / "s", units=UNITS, codebook=BASE)

    def failing(*_: object) -> None:
        raise StoreError("the power went")

    monkeypatch.setattr(layout, "rewrite", failing)
    with pytest.raises(StoreError, match="power"):
        store.revise(plus(BASE, "new"), why="Needed.", coder="lead")
    monkeypatch.undo()
    again = Store(store.path)
    assert again.codebook == BASE
    again.revise(plus(BASE, "new"), why="Needed.", coder="lead")
    again.revise(BASE, why="Not needed.", coder="lead")
    again.revise(plus(BASE, "new"), why="Needed after all.", coder="lead")
    assert [one.why for one in Store(store.path).revisions] == ["Needed.", "Not needed.", "Needed after all."]


def test_what_is_stale_is_queued_again_until_it_is_finished_under_the_new_version(store: Store) -> None:
    code(store, "ana", "m1", "warm")
    code(store, "ana", "m2")
    book = store.revise(edited(BASE, "warm", definition="Warmth alone."), why="Narrower.", coder="lead")
    code(store, "ana", "m2", "warm")

    def queued() -> str:
        of_ana = {unit_id for unit_id, coder, *_ in stale(store) if coder == "ana"}
        acts_ = store.acts(coder="ana")
        session = Session(store.units, book, coder="ana", acts=acts_, rating=None, round=None, review=of_ana)
        assert session.n_finished + len(of_ana) == 2
        assert session.unit(0)["finished"] == (session.flags[0] == "f")
        return session.flags

    assert queued() == "cf"
    code(store, "ana", "m1")
    assert queued() == "ff"


def _revising(path: Path, codebook: Codebook, coder: str, begin: Barrier, said: Queue[str]) -> None:
    store = Store(path)
    begin.wait()
    try:
        store.revise(codebook, why="At once.", coder=coder)
        said.put("done")
    except CodebookError:
        said.put("conflict")


@pytest.mark.long
@pytest.mark.parametrize("same", [True, False])
def test_processes_that_revise_one_folder_at_one_instant(tmp_path: Path, same: bool) -> None:
    path = Store.create(tmp_path / "s", units=UNITS, codebook=BASE).path
    wishes = [edited(BASE, "warm", label=f"Warm {i}") if same else plus(BASE, f"new{i}") for i in range(4)]
    context = get_context("forkserver")  # a fork of this process would have its other threads' locks
    context.set_forkserver_preload([__name__])
    begin, said = context.Barrier(len(wishes)), context.Queue()
    working = [
        context.Process(target=_revising, args=(path, wish, f"lead{i}", begin, said))
        for i, wish in enumerate(wishes)
    ]
    for each in working:
        each.start()
    answers = sorted(said.get(timeout=300) for _ in working)
    for each in working:
        each.join()
    store = Store(path)
    steps = store.revisions
    assert answers == (["conflict"] * 3 + ["done"] if same else ["done"] * 4)
    assert len(steps) == answers.count("done")
    assert [one.base for one in steps] == [BASE.fingerprint, *(one.codebook for one in steps[:-1])]
    assert store.codebook.fingerprint == steps[-1].codebook
    if not same:
        assert set(store.codebook.ids) == {*BASE.ids, "new0", "new1", "new2", "new3"}
    assert store.verify()["ok"].all()
