"""The plan of who codes what, kept in the study: the same tests over a study folder and one in PostgreSQL."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import acts, rounds
from sense7_qual.codebook import Code, Codebook
from sense7_qual.corpus import assign
from sense7_qual.errors import ActError, ArgumentError, QualError, StoreError, TableError
from sense7_qual.rounds import Assignment, assignments, planned
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from tests.helpers.disk import another_computer

BOOK = Codebook(name="small", codes=(Code(id="warm", label="Warm"), Code(id="cold", label="Cold")))
ASKED = {"coders": ["ana", "ben"], "overlap": 0.25, "seed": 7, "coder": "lead"}
Place = Callable[[str], str | Path]


def units_of(n: int = 40) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "unit_id": [f"u{i:03}" for i in range(n)],
            "text": [f"Words of text number {i}." for i in range(n)],
            "document_id": None,
            "case_id": [f"p{i % 8}" for i in range(n)],
            "position": None,
            "model": ["a" if i % 4 else "b" for i in range(n)],
        }
    )


@pytest.fixture(
    params=["folder", pytest.param("postgresql", marks=[pytest.mark.nightly, pytest.mark.postgres])]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    place: str | Path = tmp_path / "study"
    if request.param == "postgresql":
        postgres: Callable[..., str] = request.getfixturevalue("postgres")
        place = postgres()
    yield Store.create(place, units=units_of(), codebook=BOOK)
    if request.param == "postgresql":
        server.connect(str(place)).engine.dispose()


@pytest.fixture
def folder(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "study", units=units_of(), codebook=BOOK)


def own(plan: pd.DataFrame, coder: str) -> list[str]:
    return plan.loc[plan["coder"] == coder, "unit_id"].tolist()


def loads(plan: pd.DataFrame) -> dict[str, int]:
    return plan.groupby("coder").size().to_dict()


def finish(store: Store, coder: str, unit_ids: list[str], **named: str) -> None:
    store.append([acts.finish(coder=coder, unit_id=one, codebook=BOOK, **named) for one in unit_ids])


# the deal ---------------------------------------------------------------------------------------------


@st.composite
def later_deals(draw):
    """Return units, a first deal, what its coders began of it, and a second deal."""
    n, n_first, n_later = draw(st.integers(1, 50)), draw(st.integers(1, 4)), draw(st.integers(1, 5))
    names = ["ana", "ben", "cleo", "dora", "emil"]
    units = units_of(n)
    strata = draw(st.lists(st.sampled_from(["a", "b", None]), min_size=n, max_size=n))
    units["model"] = pd.Series(strata, dtype="string")
    asked = {
        "overlap": draw(st.sampled_from([0, 0.1, 0.25, 0.5, 1])),
        "seed": draw(st.integers(0, 99)),
        "stratify": draw(st.sampled_from([None, "model"])),
    }
    calibration = draw(st.integers(0, n))
    first = assign(units, coders=names[:n_first], calibration=calibration, **asked)
    begun = {
        coder: part["unit_id"].tolist()[: draw(st.integers(0, len(part)))] for coder, part in first.items()
    }
    later = names[5 - n_later :] if draw(st.booleans()) else names[:n_later]
    return units, first, begun, later, first["ana"]["unit_id"].tolist()[:calibration], asked


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(case=later_deals())
def test_a_later_deal_moves_nothing_that_is_begun_and_keeps_its_other_promises(case):
    units, first, begun, later, calibration, asked = case
    for part in first.values():
        assert part["unit_id"].tolist()[: len(calibration)] == calibration
    parts = assign(units, coders=later, calibration=calibration, fixed=begun, **asked)
    assert list(parts) == later
    lists = {coder: part["unit_id"].tolist() for coder, part in parts.items()}
    times = Counter(unit for ids in lists.values() for unit in ids)
    times.update(unit for coder, ids in begun.items() if coder not in later for unit in ids)
    assert set(times) == set(units["unit_id"])
    for coder, ids in lists.items():
        assert len(set(ids)) == len(ids)
        assert ids[: len(calibration)] == calibration
        assert set(begun.get(coder, [])) <= set(ids)
    wanted = int(asked["overlap"] * len(units) + 0.5)
    wanted = max(wanted, 1) if asked["overlap"] else wanted
    if len(later) > 1:
        assert sum(count >= len(later) for count in times.values()) >= max(wanted, len(calibration))
    began_together = sum(
        sum(unit in ids for ids in begun.values()) > 1 for unit in set(units["unit_id"]) - set(calibration)
    )
    n_strata = 1 if asked["stratify"] is None else units["model"].nunique(dropna=False)
    if len(later) > 1:
        most = max(wanted, len(calibration)) + began_together + n_strata * len(calibration)
        assert sum(count > 1 for count in times.values()) <= most
    # Who got a unit alone had the fewest at that moment: nobody has two fewer.
    n_units = {coder: len(ids) for coder, ids in lists.items()}
    for coder, ids in lists.items():
        if any(times[unit] == 1 and unit not in begun.get(coder, []) for unit in ids):
            assert n_units[coder] <= min(n_units.values()) + 1
    again = assign(
        units.sample(frac=1, random_state=1), coders=later, calibration=calibration, fixed=begun, **asked
    )
    assert lists == {coder: part["unit_id"].tolist() for coder, part in again.items()}


def test_the_same_seed_shares_the_same_units_when_there_are_more_coders() -> None:
    def shared(coders: list[str]) -> set[str]:
        parts = assign(units_of(), coders=coders, overlap=0.25, seed=3, stratify="model")
        sets = [set(part["unit_id"]) for part in parts.values()]
        return set.intersection(*sets)

    assert shared(["ana", "ben"]) == shared(["ana", "ben", "cleo"])
    assert len(shared(["ana", "ben"])) == 10


def test_calibration_is_drawn_from_the_strata_in_one_order_for_all() -> None:
    parts = assign(
        units_of(),
        coders=["ana", "ben", "cleo"],
        overlap=0.3,
        seed=3,
        calibration=8,
        stratify="model",
        coders_per_unit=2,
    )
    firsts = [part["unit_id"].tolist()[:8] for part in parts.values()]
    assert firsts[0] == firsts[1] == firsts[2] != sorted(firsts[0])
    drawn = units_of().set_index("unit_id").loc[firsts[0], "model"]
    assert drawn.value_counts().to_dict() == {"a": 6, "b": 2}
    times = Counter(unit for part in parts.values() for unit in part["unit_id"])
    assert Counter(times.values()) == {3: 8, 2: 4, 1: 28}  # the calibration is part of the overlap of 12
    assert [len(part) for part in parts.values()] == [20, 20, 20]


@pytest.mark.parametrize("calibration", [-1, 41, 2.5, True, "u001"])
def test_a_calibration_that_cannot_be_is_refused(calibration: object) -> None:
    with pytest.raises(QualError, match="expected calibration"):
        assign(units_of(), coders=["ana"], overlap=0, calibration=calibration)


def test_units_that_are_not_there_cannot_stay() -> None:
    with pytest.raises(TableError, match="fixed: expected units of `units` – found 'u0001'"):
        assign(units_of(), coders=["ana"], overlap=0, fixed={"ana": ["u0001"]})
    with pytest.raises(QualError, match="expected coders to be a list of text – found 3"):
        assign(units_of(), coders=3, overlap=0)


# in the study -----------------------------------------------------------------------------------------


def test_a_study_without_a_plan_says_so(store: Store) -> None:
    plan = store.plan
    assert plan.columns.tolist() == ["coder", "unit_id", "round", "place"]
    assert len(plan) == 0


def test_the_plan_is_kept_with_the_study_and_asking_again_changes_nothing(
    store: Store, tmp_path: Path
) -> None:
    plan = store.assign(**ASKED, stratify="model", calibration=5)
    dealt = assign(units_of(), coders=["ana", "ben"], overlap=0.25, seed=7, stratify="model", calibration=5)
    for coder, part in dealt.items():
        assert own(plan, coder) == part["unit_id"].tolist()
        assert plan.loc[plan["coder"] == coder, "place"].tolist() == list(range(25))
    assert plan["round"].isna().all()
    before = store.acts()
    assert [(act.kind, act.coder) for act in before] == [("assign", "lead")]
    for calibration in (5, None):
        pd.testing.assert_frame_equal(
            store.assign(**ASKED, stratify=["model"], calibration=calibration), plan
        )
    assert store.acts() == before
    assert store.acts(viewer="ana") == before
    assert store.verify()["ok"].all()
    store.copies.archive(tmp_path / "study.zip")
    restored = Store.restore(tmp_path / "study.zip", tmp_path / "again")
    pd.testing.assert_frame_equal(restored.plan, plan)
    pd.testing.assert_frame_equal(Store(store.path).plan, plan)


def test_a_coder_who_comes_later_takes_nothing_that_is_begun(store: Store) -> None:
    plan = store.assign(**ASKED, calibration=4)
    for coder, n in (("ana", 9), ("ben", 6)):
        finish(store, coder, own(plan, coder)[:n])
    touched = own(plan, "ben")[10]  # begun, and taken back: they have read it
    coded = acts.apply(coder="ben", unit_id=touched, code="warm", codebook=BOOK)
    store.append([coded, acts.undo(coded, codebook=BOOK)])
    noted = own(plan, "ben")[12]
    store.append([acts.memo(coder="ben", unit_id=noted, text="Hm.", codebook=BOOK)])
    later = store.assign(**ASKED | {"coders": ["ana", "ben", "cleo"]})
    assert set(own(plan, "ana")[:9]) <= set(own(later, "ana"))
    assert {*own(plan, "ben")[:6], touched, noted} <= set(own(later, "ben"))
    assert own(later, "cleo")[:4] == own(plan, "ana")[:4] == own(later, "ben")[:4]
    assert set(loads(later).values()) == {20}  # 10 of 40 by all three, 30 by one
    assert later.groupby("unit_id").size().value_counts().to_dict() == {1: 30, 3: 10}
    assert len(store.acts(kind="assign")) == 2
    assert store.verify()["ok"].all()


def test_who_leaves_keeps_what_they_began_and_somebody_else_gets_what_they_did_not_finish(
    store: Store,
) -> None:
    plan = store.assign(**ASKED | {"overlap": 0})
    of_ben = own(plan, "ben")
    finish(store, "ben", of_ben[:5])
    store.append([acts.apply(coder="ben", unit_id=of_ben[5], code="warm", codebook=BOOK)])
    later = store.assign(**ASKED | {"coders": ["ana"], "overlap": 0})
    assert own(later, "ben") == of_ben[:6]
    assert set(own(later, "ana")) == set(units_of()["unit_id"]) - set(of_ben[:5])
    back = store.assign(**ASKED | {"overlap": 0})
    assert set(of_ben[:6]) <= set(own(back, "ben"))


def test_a_participant_who_withdraws_leaves_the_plan(store: Store) -> None:
    plan = store.assign(**ASKED, calibration=6)
    store.forget("p3", why="By mail.")
    left = store.plan
    gone = {f"u{i:03}" for i in range(40) if i % 8 == 3}
    assert set(left["unit_id"]) == set(plan["unit_id"]) - gone
    for coder in ("ana", "ben"):
        assert own(left, coder) == [unit for unit in own(plan, coder) if unit not in gone]
        assert left.loc[left["coder"] == coder, "place"].tolist() == list(range(len(own(left, coder))))
    assert store.verify()["ok"].all()
    pd.testing.assert_frame_equal(store.assign(**ASKED, calibration=6), left)
    assert len(store.acts(kind="assign")) == 1
    later = store.assign(**ASKED | {"coders": ["ana", "ben", "cleo"]})
    assert set(later["unit_id"]) == set(left["unit_id"])


@pytest.mark.long
def test_two_leads_who_assign_at_once_have_one_plan_of_both_in_either_copy(
    store: Store, tmp_path: Path
) -> None:
    store.copies.archive(tmp_path / "one.zip")
    other = Store.restore(tmp_path / "one.zip", tmp_path / "other")
    ours = store.assign(**ASKED)
    theirs = other.assign(**ASKED | {"coders": ["ben", "cleo"], "coder": "chair"})
    third = Store.restore(tmp_path / "one.zip", tmp_path / "third")
    third.copies.merge(other)
    third.copies.merge(store)
    store.copies.merge(other)
    other.copies.merge(store)
    for each in (other, third):
        pd.testing.assert_frame_equal(store.plan, each.plan)
    both = store.plan
    assert own(both, "ana") == own(ours, "ana")
    assert own(both, "cleo") == own(theirs, "cleo")
    first, second = own(ours, "ben"), own(theirs, "ben")
    assert own(both, "ben") == [*first, *(unit for unit in second if unit not in first)]
    assert store.verify()["ok"].all()
    one = store.assign(**ASKED | {"coders": ["ana", "ben", "cleo"]})
    assert one.groupby("unit_id").size().value_counts().to_dict() == {1: 30, 3: 10}
    assert other.copies.merge(store).counts["new"] == 1
    pd.testing.assert_frame_equal(other.plan, one)


def test_the_units_of_a_round_are_all_its_coders_unless_they_are_assigned(store: Store) -> None:
    named = {"units": ["u005", "u001", "u009", "u007"], "coders": ["ana", "ben"]}
    store.append([rounds.open_round("one", **named, coder="lead", codebook=BOOK)])
    plan = store.plan
    assert own(plan, "ana") == own(plan, "ben") == named["units"]
    assert set(plan["round"]) == {"one"}
    dealt = store.assign(**ASKED | {"overlap": 0}, round="one")
    assert loads(dealt) == {"ana": 2, "ben": 2}
    finish(store, "ana", own(dealt, "ana")[:1], round="one")
    all_of_it = store.assign(**ASKED | {"overlap": 0})
    in_round = all_of_it[all_of_it["round"] == "one"]
    assert loads(in_round) == {"ana": 2, "ben": 2}
    assert loads(all_of_it[all_of_it["round"].isna()]) == {"ana": 20, "ben": 20}
    with pytest.raises(ActError, match="did you mean 'one'"):
        store.assign(**ASKED, round="oen")
    with pytest.raises(ActError, match="expected coders of round 'one' – found 'cleo'"):
        store.assign(**ASKED | {"coders": ["ana", "cleo"]}, round="one")
    with pytest.raises(ActError, match="expected a lead of round 'one'"):
        store.assign(**ASKED | {"overlap": 1, "coder": "chair"}, round="one")
    fewer = named | {"units": ["u001", "u009"], "coders": ["ana"]}
    store.append([rounds.open_round("one", **fewer, coder="lead", codebook=BOOK)])
    plan = store.plan
    assert set(plan.loc[plan["round"] == "one", "coder"]) <= {"ana"}
    assert set(plan.loc[plan["round"] == "one", "unit_id"]) <= {"u001", "u009"}


def test_who_gets_a_folder_gets_the_plan(store: Store, tmp_path: Path) -> None:
    store.append([rounds.open_round("one", units=["u001"], coders=["ana"], coder="lead", codebook=BOOK)])
    plan = store.assign(**ASKED)
    finish(store, "ben", own(plan, "ben")[:1])
    store.copies.hand_out("one", "ana", tmp_path / "for ana")
    handed = Store(tmp_path / "for ana")
    assert handed.coders == ("lead",)
    pd.testing.assert_frame_equal(handed.plan, store.plan)


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "error", "reason"),
    [
        ({"coders": "ana"}, ArgumentError, "expected coders to be a list of text"),
        ({"coders": 3}, ArgumentError, "expected coders to be a list of text"),
        ({"coders": [["ana"]]}, ArgumentError, "expected coders to be a list of text"),
        ({"coders": ["ana", "An a"]}, ActError, "expected a pseudonym"),
        ({"coders": ["Ana"]}, ActError, "use 'ana'"),
        ({"overlap": 25}, TableError, "an overlap from 0 to 1"),
        ({"stratify": "modle"}, TableError, "did you mean 'model'"),
        ({"calibration": 41}, TableError, "calibration from 0 to 40"),
        ({"calibration": 1.5}, ArgumentError, "expected calibration"),
        ({"coder": "the lead"}, ActError, "expected a pseudonym"),
        ({"round": "one"}, ActError, "expected an open round"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_recorded(
    folder: Store, change: dict[str, object], error: type[Exception], reason: str
) -> None:
    finish(folder, "ana", ["u001"])
    with pytest.raises(error, match=reason):
        folder.assign(**ASKED | change)
    assert folder.acts(kind="assign") == []
    assert len(folder.plan) == 0


@pytest.mark.long
def test_more_calibration_than_the_plan_has_is_refused(folder: Store) -> None:
    plan = folder.assign(**ASKED, calibration=6)
    with pytest.raises(TableError, match="at most the 6 calibration texts of the current plan"):
        folder.assign(**ASKED | {"coders": ["ana", "cleo"]}, calibration=7)
    fewer = folder.assign(**ASKED | {"coders": ["ana", "cleo"]}, calibration=3)
    assert own(fewer, "cleo")[:3] == own(plan, "ana")[:3]


def test_an_act_that_says_no_plan_is_never_taken(folder: Store, tmp_path: Path) -> None:
    shutil.copytree(folder.path, tmp_path / "other")
    folder.assign(**ASKED)
    (made,) = folder.acts()
    for text in ("", "[]", "{}", made.text.replace('"ana"', '"an a"'), made.text.replace('"u00', '["u00')):
        bad = replace(made, text=text, act_id="00000000-0000-4000-8000-000000000000")
        with pytest.raises(ActError, match="does not hold the units of each coder"):
            folder.append([bad])
    elsewhere = replace(bad, text=made.text.replace('"u001"', '"v001"'))
    with pytest.raises(ActError, match="assign: expected units of this study – found 'v001'"):
        folder.append([elsewhere])
    with pytest.raises(ActError, match="expected an act that can be undone"):
        acts.undo(made, codebook=BOOK)
    assert len(folder.acts()) == 1
    assert Assignment.from_act(made).to_text() == made.text
    assert "u001" not in repr(Assignment.from_act(made))


def test_damage_never_passes_for_no_plan_and_hinders_no_other_coder(folder: Store) -> None:
    plan = folder.assign(**ASKED)
    finish(folder, "ben", own(plan, "ben")[:1])
    (folder.path / "acts" / "ben.sqlite").write_bytes(b"no database")
    pd.testing.assert_frame_equal(Store(folder.path).plan, plan)
    (folder.path / "acts" / "lead.sqlite").write_bytes(b"no database")
    with pytest.raises(StoreError):
        _ = Store(folder.path).plan
    (folder.path / "acts" / "lead.sqlite").unlink()
    with pytest.raises(StoreError):
        _ = Store(folder.path).plan


def test_an_older_copy_of_the_leads_acts_is_no_plan(folder: Store, tmp_path: Path) -> None:
    folder.assign(**ASKED)
    file = folder.path / "acts" / "lead.sqlite"
    shutil.copy(file, tmp_path / "older")
    later = folder.assign(**ASKED | {"coders": ["ana", "cleo"]})
    newer = file.read_bytes()
    shutil.copy(tmp_path / "older", file)
    with pytest.raises(StoreError, match="an older copy replaced theirs"):
        _ = Store(folder.path).plan
    file.write_bytes(newer)
    pd.testing.assert_frame_equal(Store(folder.path).plan, later)


@pytest.mark.postgres
def test_in_postgresql_leads_assign_and_coders_see_the_plan(postgres: Callable[..., str]) -> None:
    study = f"plan_{len(BOOK.codes)}_roles"
    lead = Store.create(postgres(study=study), units=units_of(), codebook=BOOK)
    roles = {coder: f"{coder}_of_{study}" for coder in ("ana", "ben", "zoe")}
    for coder, role in roles.items():
        lead.admin.add_coder(coder, role=role, lead=coder == "zoe")
    ana = Store(postgres(role=roles["ana"], study=study))
    with pytest.raises(StoreError, match="expected a role with the right to do this"):
        ana.assign(**ASKED | {"coder": "ana"})
    with pytest.raises(StoreError, match="acts of a coder of role"):
        ana.assign(**ASKED)
    assert len(lead.plan) == len(ana.plan) == 0
    plan = lead.assign(**ASKED)
    pd.testing.assert_frame_equal(ana.plan, plan)
    finish(Store(postgres(role=roles["ben"], study=study)), "ben", own(plan, "ben")[:3])
    assert {act.coder for act in ana.acts()} == {"lead"}
    zoe = Store(postgres(role=roles["zoe"], study=study))
    later = zoe.assign(**ASKED | {"coders": ["ana", "ben", "cleo"], "coder": "zoe"})
    assert set(own(plan, "ben")[:3]) <= set(own(later, "ben"))
    pd.testing.assert_frame_equal(ana.plan, later)
    assert lead.verify()["ok"].all()
    for each in (lead, ana, zoe):
        server.connect(str(each.path)).engine.dispose()


def test_where_two_notebooks_assign_at_once_nobody_loses_a_unit(folder: Store) -> None:
    one, other = Store(folder.path), Store(folder.path)
    first = one.assign(**ASKED)
    (made,) = one.acts()
    dealt = Assignment.from_act(made)
    late = replace(dealt, seed=8, units={name: ids[::-1] for name, ids in dealt.units.items()})
    other.append([acts.Act(kind="assign", text=late.to_text(), **acts.stamp("lead", BOOK, None, None))])
    both = folder.plan
    assert len(assignments(folder.acts())) == 2
    for coder in ("ana", "ben"):
        assert set(own(both, coder)) == set(own(first, coder))
        assert own(both, coder) == own(first, coder)  # the first one's order
    assert planned(reversed(folder.acts()), units=set(units_of()["unit_id"])).equals(both)


def test_pairs_still_share_evenly_after_a_coder_came(folder: Store) -> None:
    asked = ASKED | {"overlap": 1, "coders_per_unit": 2}
    folder.assign(**asked)
    later = folder.assign(**asked | {"coders": ["ana", "ben", "cleo", "dora"]})
    sets = {coder: set(own(later, coder)) for coder in ("ana", "ben", "cleo", "dora")}
    assert set(loads(later).values()) == {20}
    shared = [len(sets[one] & sets[other]) for one, other in combinations(sets, 2)]
    assert max(shared) - min(shared) <= 1


def test_another_computer_reads_the_same_plan(folder: Store, tmp_path: Path) -> None:
    plan = folder.assign(**ASKED)
    another_computer()
    shutil.copytree(folder.path, tmp_path / "copy")
    pd.testing.assert_frame_equal(Store(tmp_path / "copy").plan, plan)
