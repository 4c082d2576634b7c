"""`Store.decisions`: from the record to the statistics in one call, equal to the long form on both stores."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import sense7_qual as qual
from sense7_qual import acts, adjudication, codings, rounds
from sense7_qual._basis import Basis
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, ArgumentError, StoreError, TableError
from sense7_qual.frames import DECISIONS
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from tests.helpers.small_study import facet

BOOK = Codebook(
    name="small",
    codes=tuple(Code(id=i, label=i.title(), definition=f"About {i}.") for i in ("warm", "kind", "cold")),
    facets=(facet("valence", "met", "unmet"),),
)
UNITS = pd.DataFrame(
    {
        "unit_id": [f"m{i}" for i in range(1, 7)],
        "text": [f"Text number {i} of many." for i in range(1, 7)],
        "document_id": "d",
        "case_id": ["p1", "p1", "p2", "p2", "p3", "p3"],
        "position": range(6),
    }
)
Frame = pd.DataFrame


@pytest.fixture(
    params=["folder", pytest.param("postgresql", marks=[pytest.mark.nightly, pytest.mark.postgres])]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "folder":
        yield Store.create(tmp_path / "s", units=UNITS, codebook=BOOK)
        return
    address: Callable[..., str] = request.getfixturevalue("postgres")
    made = Store.create(address(), units=UNITS, codebook=BOOK)
    yield made
    server.connect(str(made.path)).engine.dispose()


def did(
    store: Store, coder: str, unit_id: str, *ids: str, finish: bool = True, round: str | None = None, **facets
) -> None:
    """Let a coder apply codes to a unit under the codebook that stands, and finish it."""
    named = {"coder": coder, "unit_id": unit_id, "codebook": store.codebook, "round": round}
    deeds = [acts.apply(code=i, **named, **facets) for i in ids]
    store.append(deeds + [acts.finish(**named)] * finish)


def ruled(store: Store, unit_id: str, code: str, applied: bool, coder: str = "lead") -> acts.Act:
    ruling = acts.rule(coder=coder, unit_id=unit_id, code=code, applied=applied, codebook=store.codebook)
    store.append([ruling])
    return ruling


def long_form(store: Store, *, coder: str | None = None, round: str | None = None, **switches: bool) -> Frame:
    return codings.decisions(
        store.codings(coder=coder),
        store.coverage(coder=coder),
        store.codebook,
        round=round,
        revisions=store.revisions,
        **switches,
    )


def agreed(store: Store, decisions: Frame) -> Frame:
    rulings = codings.rulings(store.acts(kind="rule"), store.codebook, revisions=store.revisions)
    return adjudication.consensus(decisions, rulings=rulings, single=True)


def same(found: Frame, expected: Frame) -> None:
    """Compare decisions; what they rest on is said in other words where rule or time differ."""
    columns = list(DECISIONS.columns)
    assert list(found.columns) == [*columns, "basis"]
    pd.testing.assert_frame_equal(found[columns], expected[columns].reset_index(drop=True))


def said(decisions: Frame, unit_id: str, coder: str = "ana") -> dict[str, bool]:
    rows = decisions[(decisions["unit_id"] == unit_id) & (decisions["coder"] == coder)]
    return dict(zip(rows["code"], rows["applied"], strict=True))


def changed(book: Codebook, *gone: str, new: tuple[str, ...] = ()) -> Codebook:
    kept = tuple(code for code in book.codes if code.id not in gone)
    return replace(book, codes=(*kept, *(Code(id=i, label=i.title()) for i in new)))


# the frame ------------------------------------------------------------------------------------------


def test_nothing_is_decided_yet(store: Store) -> None:
    found = store.decisions()
    assert found.empty
    same(found, long_form(store))
    for settled_by in ("rulings", "discussion", "majority", "nothing", "any"):
        same(store.decisions(settled_by=settled_by), long_form(store))


def test_a_unit_that_a_coder_has_not_finished_is_missing_and_never_absent(store: Store) -> None:
    did(store, "ana", "m1", "warm")
    did(store, "ana", "m2", "warm", finish=False)
    did(store, "ben", "m2")
    found = store.decisions()
    same(found, long_form(store))
    assert said(found, "m1") == {"warm": True, "kind": False, "cold": False}
    assert said(found, "m2") == {}
    assert said(found, "m2", "ben") == dict.fromkeys(("warm", "kind", "cold"), False)
    again = acts.reopen(coder="ana", unit_id="m1", codebook=BOOK)
    store.append([again])
    assert said(store.decisions(), "m1") == {}
    store.append([acts.undo(again, codebook=BOOK)])
    same(store.decisions(), found)


@pytest.mark.long
def test_the_statistics_take_it_as_it_is(store: Store) -> None:
    for unit_id, ana, ben in (("m1", "warm", "warm"), ("m3", "kind", "cold"), ("m5", "warm", "kind")):
        did(store, "ana", unit_id, ana)
        did(store, "ben", unit_id, ben)
    by = {"units": store.units, "cluster": "case_id"}
    expected = qual.agreement.by_code(long_form(store), **by)
    found = qual.agreement.by_code(store.decisions(), **by)
    numbers = [name for name in expected.columns if name != "basis"]
    pd.testing.assert_frame_equal(found[numbers], expected[numbers])
    settled = store.decisions(settled_by="rulings")
    both = pd.concat([store.decisions(), settled], ignore_index=True)
    pd.testing.assert_frame_equal(qual.agreement.by_code(both, **by)[numbers], expected[numbers])


# revisions ------------------------------------------------------------------------------------------


@pytest.mark.long
def test_codings_are_carried_over_by_the_studys_own_revisions(store: Store) -> None:
    """Renamed, merged, split, retired, redefined and new codes, each as the long form has them."""
    did(store, "ana", "m1", "warm", "cold")
    did(store, "ana", "m2", "kind")
    did(store, "ana", "m3")
    first = store.codebook["warm"]
    renamed = tuple(
        replace(first, label="Warmth") if code is first else code for code in store.codebook.codes
    )
    store.revise(replace(store.codebook, codes=renamed), why="A label.", coder="lead")
    same(store.decisions(), long_form(store))
    assert said(store.decisions(), "m1") == {"warm": True, "kind": False, "cold": True}

    store.revise(changed(store.codebook, "kind"), why="One.", coder="lead", merged={"kind": "warm"})
    assert said(store.decisions(), "m2") == {"warm": True, "cold": False}

    split = {"cold": ["icy", "distant"]}
    store.revise(
        changed(store.codebook, "cold", new=("icy", "distant")), why="Two.", coder="lead", split=split
    )
    same(store.decisions(), long_form(store))
    # Which part it is on m1 has not been said. m2 alone, where cold was absent, would make both parts rare.
    assert said(store.decisions(), "m1") == {"warm": True}
    assert said(store.decisions(), "m2") == {"warm": True}
    waiting = {one.code: (one.n, one.of, one.how) for one in Basis.of(store.decisions()).waiting}
    assert waiting == {"icy": (1, 3, "split"), "distant": (1, 3, "split")}
    did(store, "ana", "m1", "icy")
    assert said(store.decisions(), "m1") == {"warm": True, "icy": True, "distant": False}
    assert said(store.decisions(), "m2") == {"warm": True, "icy": False, "distant": False}

    store.revise(changed(store.codebook, new=("dry",)), why="More.", coder="lead")
    assert "dry" not in said(store.decisions(), "m3")  # nobody looked for it there
    did(store, "ben", "m3", "dry")
    assert said(store.decisions(), "m3", "ben")["dry"]

    clearer = replace(store.codebook["warm"], definition="Warm, and shows it.")
    codes = tuple(clearer if code.id == "warm" else code for code in store.codebook.codes)
    store.revise(replace(store.codebook, codes=codes), why="Clearer.", coder="lead")
    assert said(store.decisions(), "m1") == {"icy": True, "distant": False}
    store.revise(changed(store.codebook, "distant"), why="Unused.", coder="lead")
    assert said(store.decisions(), "m3") == {"icy": False}
    same(store.decisions(), long_form(store))
    same(Store(store.path).decisions(), long_form(store))


def test_the_long_form_without_revisions_is_refused_where_this_is_not(store: Store) -> None:
    did(store, "ana", "m1", "warm")
    store.revise(changed(BOOK, "cold"), why="Unused.", coder="lead")
    with pytest.raises(TableError, match="and no revisions"):
        codings.decisions(store.codings(), store.coverage(), store.codebook)
    assert said(store.decisions(), "m1") == {"warm": True, "kind": False}


@pytest.mark.long
def test_a_codebook_that_was_revised_in_another_notebook_is_told(store: Store) -> None:
    did(store, "ana", "m1", "warm")
    other = Store(store.path)
    other.revise(changed(BOOK, "cold"), why="Unused.", coder="lead")
    assert said(store.decisions(), "m1") == {"warm": True, "kind": False, "cold": False}  # as it was opened
    did(other, "ben", "m1", "kind")
    with pytest.raises(StoreError, match="another notebook has revised it since – open the study again"):
        store.decisions()
    same(Store(store.path).decisions(), other.decisions())


# choosing -------------------------------------------------------------------------------------------


@pytest.mark.long
def test_of_one_round_by_default_of_the_first_and_settled_of_the_last(store: Store) -> None:
    did(store, "ana", "m1", "warm", round="one")
    did(store, "ana", "m2", "kind", round="one")
    did(store, "ana", "m1", "cold", round="two")
    for round in ("one", "two"):
        same(store.decisions(round=round), long_form(store, round=round))
    # A text stays at the place where it was first finished; the long form has it where it was last.
    in_order = long_form(store).sort_values(["unit_id"], kind="stable")
    same(store.decisions(settled_by="nothing"), in_order)
    first = {"warm": True, "kind": False, "cold": False}
    assert said(store.decisions(), "m1") == said(store.decisions(round="one"), "m1") == first
    assert said(store.decisions(round=["one", "two"]), "m1") == first
    assert dict(Basis.of(store.decisions()).left_out) == {"of a later round": 1}
    last = {"warm": False, "kind": False, "cold": True}
    assert said(store.decisions(settled_by="nothing"), "m1") == last
    assert set(store.decisions(round="two")["unit_id"]) == {"m1"}


def test_a_round_that_is_not_there_is_refused_and_one_without_codings_is_empty(store: Store) -> None:
    opening = {"units": ["m1"], "coders": ["ana", "ben"], "coder": "lead", "codebook": BOOK}
    store.append([rounds.open_round("calibration", **opening)])
    assert store.decisions(round="calibration").empty
    with pytest.raises(ArgumentError, match=r"found 'calibratoin' – did you mean 'calibration'\?"):
        store.decisions(round="calibratoin")


@pytest.mark.long
def test_of_one_coder(store: Store) -> None:
    did(store, "ana", "m1", "warm")
    did(store, "ben", "m1", "kind")
    same(store.decisions(coder="ana"), long_form(store, coder="ana"))
    same(store.decisions(coder=["ana", "ben"]), long_form(store))
    settled = store.decisions(coder="ana", settled_by="rulings")
    assert said(settled, "m1", "consensus") == {"warm": True, "kind": False, "cold": False}


@pytest.mark.parametrize("coder", ["anna", "Ana", "ana "])
def test_a_coder_who_is_not_there_is_refused(store: Store, coder: str) -> None:
    did(store, "ana", "m1", "warm")
    with pytest.raises(ArgumentError, match=rf"found '{coder}' – did you mean 'ana'\?"):
        store.decisions(coder=coder)
    with pytest.raises(ArgumentError, match="settled_by='rulings'"):
        store.decisions(coder="consensus")


def test_a_coder_who_has_not_begun_has_no_decisions(store: Store) -> None:
    opening = {"units": ["m1"], "coders": ["ana", "ben"], "coder": "lead", "codebook": BOOK}
    store.append([rounds.open_round("one", **opening)])
    assert store.decisions(coder="ben").empty


def test_a_coder_of_the_plan_who_has_not_begun_has_none_either(store: Store) -> None:
    store.assign(coders=["ana", "ben"], overlap=0.5, coder="lead")
    assert store.decisions(coder="ben").empty
    with pytest.raises(ArgumentError, match="did you mean 'ben'"):
        store.decisions(coder="bne")


def test_by_facet(store: Store) -> None:
    did(store, "ana", "m1", "warm", facets={"valence": "met"})
    did(store, "ben", "m1", "warm", facets={"valence": "unmet"})
    did(store, "ben", "m2", "kind")
    found = store.decisions(facet="valence")
    same(found, long_form(store, facet="valence"))
    assert said(found, "m1")["warm.valence=met"]
    assert not said(found, "m1")["warm.valence=unmet"]
    # The codes are those of all, so that ana's decisions are the same alone as among the others.
    same(store.decisions(facet="valence", coder="ana"), found[found["coder"] == "ana"])
    assert said(store.decisions(facet="valence", coder="ana"), "m1")["kind.valence=unstated"] is False


# consensus ------------------------------------------------------------------------------------------


@pytest.mark.long
def test_what_is_settled_is_what_was_agreed_ruled_or_coded_by_one(store: Store) -> None:
    for coder, code in (("ana", "warm"), ("ben", "kind")):
        did(store, coder, "m1", code)
    did(store, "ana", "m2", "warm")
    ruled(store, "m1", "warm", True)
    undone = ruled(store, "m1", "kind", True)
    store.append([acts.undo(undone, codebook=BOOK)])
    same(store.decisions(settled_by="rulings"), agreed(store, long_form(store)))
    settled = store.decisions(settled_by="rulings")
    assert said(settled, "m1", "consensus") == {"cold": False, "warm": True}
    assert said(settled, "m2", "consensus") == {"warm": True, "kind": False, "cold": False}
    counted = Basis.of(settled)
    assert dict(counted.inside) == {"agreed": 1, "by one coder": 3, "ruled": 1}
    assert dict(counted.left_out) == {"unsettled": 1}


@pytest.mark.long
def test_each_way_of_settling_counts_what_it_leaves_out(store: Store) -> None:
    for coder, code in (("ana", "warm"), ("ben", "kind"), ("chi", "warm")):
        did(store, coder, "m1", code)
    for coder, code in (("ana", "warm"), ("ben", "kind")):
        did(store, coder, "m2", code)
    majority = store.decisions(settled_by="majority")
    assert said(majority, "m1", "majority") == {"warm": True, "kind": False, "cold": False}
    assert said(majority, "m2", "majority") == {"cold": False}
    assert dict(Basis.of(majority).left_out) == {"tied": 2}
    anybody = store.decisions(settled_by="any")
    assert said(anybody, "m2", "any coder") == {"warm": True, "kind": True, "cold": False}
    discussed = store.decisions(settled_by="discussion")
    assert dict(Basis.of(discussed).left_out) == {"unsettled": 4}
    assert said(store.decisions(settled_by="nothing"), "m2", "ben") == {
        "warm": False,
        "kind": True,
        "cold": False,
    }


@pytest.mark.long
def test_rulings_are_carried_over(store: Store) -> None:
    for coder, code in (("ana", "warm"), ("ben", "kind")):
        did(store, coder, "m1", code)
        did(store, coder, "m2", code)
    ruled(store, "m1", "kind", True)
    ruled(store, "m2", "kind", False)
    store.revise(changed(BOOK, "kind"), why="One.", coder="lead", merged={"kind": "cold"})
    decisions = long_form(store)
    same(store.decisions(settled_by="rulings"), agreed(store, decisions))
    assert said(store.decisions(settled_by="rulings"), "m1", "consensus") == {"cold": True}
    ruled(store, "m2", "cold", True)
    with pytest.raises(ActError, match="carry them over"):  # what the notebooks did
        adjudication.consensus(decisions, rulings=store.acts(kind="rule"))


def test_rulings_count_in_a_round_on_its_units_alone(store: Store) -> None:
    for coder, code in (("ana", "warm"), ("ben", "kind")):
        did(store, coder, "m1", code, round="one")
        did(store, coder, "m2", code, round="two")
    ruled(store, "m1", "warm", True)
    ruled(store, "m2", "warm", False)
    found = store.decisions(round="one", settled_by="rulings")
    assert set(found["unit_id"]) == {"m1"}
    assert said(found, "m1", "consensus") == {"warm": True, "cold": False}
    assert said(store.decisions(settled_by="rulings"), "m2", "consensus") == {"warm": False, "cold": False}


@pytest.mark.long
def test_who_withdrew_is_in_no_decision_and_no_ruling_brings_them_back(store: Store) -> None:
    for unit_id in ("m1", "m3"):
        did(store, "ana", unit_id, "warm")
        did(store, "ben", unit_id, "kind")
        ruled(store, unit_id, "warm", True)
    other = Store(store.path)
    store.forget("p1", why="Withdrew.")
    found = store.decisions(settled_by="rulings")
    assert set(found["unit_id"]) == {"m3"}
    assert {"m1", "m3"} == set(agreed(store, long_form(store))["unit_id"])  # the long form has to be told
    if isinstance(store.path, Path):  # where another notebook's withdrawal is seen at once
        same(other.decisions(settled_by="rulings"), found)
    same(Store(store.path).decisions(settled_by="rulings"), found)


# blindness ------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_blind_round_stays_blind(store: Store) -> None:
    opening = {"units": ["m1", "m2"], "coders": ["ana", "ben"], "coder": "lead", "codebook": BOOK}
    store.append([rounds.open_round("one", **opening)])
    did(store, "ana", "m1", "warm", round="one")
    did(store, "ben", "m1", "kind", round="one")
    ruled(store, "m1", "warm", True)
    assert set(store.decisions(viewer="ana")["coder"]) == {"ana"}
    assert store.decisions(viewer="ana", coder="ben").empty
    seen = store.decisions(viewer="ana", settled_by="rulings")
    assert said(seen, "m1", "consensus") == {"warm": True, "kind": False, "cold": False}
    assert [name for name, _ in Basis.of(seen).coders] == ["ana"]
    same(
        store.decisions(viewer="ana"),
        codings.decisions(store.codings(viewer="ana"), store.coverage(viewer="ana"), BOOK),
    )
    store.append([rounds.unblind("one", coder="lead", codebook=BOOK)])
    assert set(store.decisions(viewer="ana", round="one")["coder"]) == {"ana", "ben"}
    with pytest.raises(ActError, match="found 'Ana' next to 'ana'"):
        store.decisions(viewer="Ana")


@pytest.mark.postgres
def test_a_role_sees_what_the_database_shows_it(postgres: Callable[..., str]) -> None:
    address = postgres()
    lead = Store.create(address, units=UNITS, codebook=BOOK)
    for coder in ("ana", "ben"):
        lead.admin.add_coder(coder, role=coder)
    opening = {"units": ["m1"], "coders": ["ana", "ben"], "coder": "lead", "codebook": BOOK}
    lead.append([rounds.open_round("one", **opening)])
    ana, ben = (Store(postgres(coder, address.rpartition("=")[2])) for coder in ("ana", "ben"))
    did(ana, "ana", "m1", "warm", round="one")
    did(ben, "ben", "m1", "kind", round="one")
    lead.revise(changed(BOOK, "cold"), why="Unused.", coder="lead")
    ana = Store(ana.path)
    assert set(ana.decisions()["coder"]) == {"ana"}
    assert said(ana.decisions(), "m1") == {"warm": True, "kind": False}
    assert ana.decisions(coder="ben").empty  # the round names him
    lead.append([rounds.unblind("one", coder="lead", codebook=lead.codebook)])
    same(ana.decisions(), Store(address).decisions())
    for each in (address, ana.path, ben.path):
        server.connect(str(each)).engine.dispose()


# wrong arguments ------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        ({"facet": True}, "expected facet to be text or None – found True"),
        ({"consensus": True}, "no argument 'consensus' – found it – pass settled_by='rulings'"),
        ({"single": True}, "no argument 'single'"),
        ({"before_suggestions": True}, "no argument 'before_suggestions'"),
        ({"settled_by": "consensus"}, "expected settled_by"),
        ({"facet": "valence", "settled_by": "rulings"}, "expected facet or settled_by="),
        ({"waiting": "drop"}, "expected waiting"),
        ({"codebook": "0000"}, "expected codebook to be a fingerprint"),
        ({"coder": ["ana", "bne"]}, "expected coder out of the coders of the study – found 'bne'"),
        ({"coder": pd.Series(["ana"])}, "expected coder out of the coders of the study – found Series"),
        ({"round": 1}, "expected round out of the rounds of the study – found int"),
        ({"round": ""}, "expected round out of the rounds of the study – found ''"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(tmp_path: Path, wrong: dict, found: str) -> None:
    store = Store.create(tmp_path / "s", units=UNITS, codebook=BOOK)
    did(store, "ana", "m1", "warm", round="one")
    with pytest.raises(ArgumentError, match=found):
        store.decisions(**wrong)


def test_switches_of_the_long_form_are_refused_too(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", units=UNITS, codebook=BOOK)
    did(store, "ana", "m1", "warm", facets={"valence": "unmet"})
    with pytest.raises(ArgumentError, match="expected facet to be text or None – found True"):
        codings.decisions(store.codings(), store.coverage(), BOOK, facet=True)
    with pytest.raises(ArgumentError, match="expected single to be True or False – found 'no'"):
        adjudication.consensus(store.decisions(), single="no")


def test_a_ruling_on_a_code_settles_no_decision_by_facet(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", units=UNITS, codebook=BOOK)
    did(store, "ana", "m1", "warm", facets={"valence": "unmet"})
    ruling = ruled(store, "m1", "warm", True)
    with pytest.raises(ActError, match="found 'warm' by a facet"):
        adjudication.consensus(store.decisions(facet="valence"), rulings=[ruling])


def test_everything_is_said_by_name() -> None:
    kinds = {each.kind for each in inspect.signature(Store.decisions).parameters.values()}
    assert kinds == {
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
        inspect.Parameter.VAR_KEYWORD,
    }  # self, the rest, and what there is no more
