"""What codings and rulings made under an earlier codebook still say: every rule, case by case."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count, pairwise

import pytest
from hypothesis import example, given, settings, strategies as st

from sense7_qual import acts, adjudication, codings
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook, Revision, changes
from sense7_qual.errors import ActError, TableError
from sense7_qual.store._operations.revise import history
from tests.helpers.revised_codebooks import BASE, edited, plus, without
from tests.helpers.small_study import facet

_minutes = count()


def at() -> str:
    """Return a time that is a minute after the last."""
    return f"{datetime(2026, 1, 31) + timedelta(minutes=next(_minutes)):%Y-%m-%dT%H:%M:%S}.000Z"


def did(book: Codebook, unit_id: str, *ids: str, finish: bool = True, **facets: object) -> list[Act]:
    """Return ana's codings of a unit, minute by minute."""
    named: dict[str, object] = {"coder": "ana", "unit_id": unit_id, "codebook": book}
    applied = [acts.apply(code=i, at=at(), **named, **facets) for i in ids]
    return applied + [acts.finish(at=at(), **named)] * finish


def step(old: Codebook, new: Codebook, **told: object) -> Revision:
    made = changes(old, new, **told)
    return Revision(
        coder="lead", at=at(), why="So.", base=old.fingerprint, codebook=new.fingerprint, changes=made
    )


def line(*books: Codebook, **told: object) -> list[Revision]:
    """Return the steps between books; what is told is told of the last."""
    pairs = list(pairwise(books))
    return [step(*pair, **(told if pair == pairs[-1] else {})) for pair in pairs]


def said(deeds: list[Act], book: Codebook, steps: list[Revision]) -> dict[str, object]:
    """Return ana's decisions on unit m1: True, False, or why a code is undecided."""
    record = acts.fold(deeds)
    made = codings.decisions(record.codings, record.coverage, book, revisions=steps)
    left = codings.stale(record.codings, record.coverage, book, revisions=steps)
    made, left = made[made["unit_id"] == "m1"], left[left["unit_id"] == "m1"]
    decided, open_still = (
        dict(zip(f["code"], f[c], strict=True)) for f, c in ((made, "applied"), (left, "reason"))
    )
    assert not decided.keys() & open_still.keys()
    assert decided.keys() | open_still.keys() == {one.id for one in book.codable}
    return decided | open_still


ABSENT = {"warm": False, "kind": False, "cold": False, "other": False}


@pytest.mark.long
def test_codes_that_are_merged_into_a_new_one_are_carried_over_to_it() -> None:
    book = plus(without(BASE, "warm", "kind"), "warmth")
    steps = line(BASE, book, merged={"warm": "warmth", "kind": "warmth"})
    for ids, expected in ((["warm"], True), (["kind", "warm"], True), (["cold"], False)):
        assert said(did(BASE, "m1", *ids), book, steps)["warmth"] is expected
    # A code that came after the coder had finished is not known to be absent, and so not the merged one.
    more = plus(BASE, "gentle")
    book = plus(without(more, "warm", "gentle"), "warmth")
    steps = line(BASE, more, book, merged={"warm": "warmth", "gentle": "warmth"})
    assert said(did(BASE, "m1"), book, steps)["warmth"] == "add"
    assert said(did(BASE, "m1", "warm"), book, steps)["warmth"] is True
    assert said(did(more, "m1"), book, steps)["warmth"] is False


@pytest.mark.long
def test_a_code_that_takes_in_a_new_one_stays_applied_where_it_was() -> None:
    more = plus(BASE, "gentle")
    book = replace(BASE, title="Again")
    steps = line(BASE, more, book, merged={"gentle": "warm"})
    assert said(did(BASE, "m1", "warm"), book, steps) == ABSENT | {"warm": True}
    assert said(did(BASE, "m1"), book, steps) == ABSENT | {"warm": "add"}
    redefined = edited(book, "warm", definition="Warm, or gentle.")
    assert said(did(BASE, "m1", "warm"), redefined, [*steps, step(book, redefined)])["warm"] == "redefine"


@pytest.mark.long
def test_a_split_is_decided_by_applying_a_part_or_taking_the_coding_away() -> None:
    book = plus(without(BASE, "cold"), "icy", "distant")
    steps = line(BASE, book, split={"cold": ["icy", "distant"]})
    before = did(BASE, "m1", "cold")
    assert [said(before, book, steps)[i] for i in ("icy", "distant")] == ["split", "split"]
    # Finished again, but which part it is was not said: neither is absent.
    assert [said(before + did(book, "m1"), book, steps)[i] for i in ("icy", "distant")] == ["split", "split"]
    assert [said(before + did(book, "m1", "icy"), book, steps)[i] for i in ("icy", "distant")] == [
        True,
        False,
    ]
    half = before + did(book, "m1", "icy", finish=False)  # not finished again
    assert [said(half, book, steps)[i] for i in ("icy", "distant")] == [True, "split"]
    gone = acts.remove(coder="ana", unit_id="m1", code="cold", codebook=book, at=at())
    assert [said([*before, gone, *did(book, "m1")], book, steps)[i] for i in ("icy", "distant")] == [
        False
    ] * 2
    # A part that is split again, and one that is merged away, stay to be decided as what they became.
    last = plus(without(book, "icy", "distant"), "frosty", "frozen")
    more = [*steps, step(book, last, split={"icy": ["frosty", "frozen"]}, merged={"distant": "other"})]
    assert said(before, last, more) == {
        "warm": False,
        "kind": False,
        "other": "split",
        "frosty": "split",
        "frozen": "split",
    }
    assert said(before + did(book, "m1", "distant"), last, more) == {
        "warm": False,
        "kind": False,
        "other": True,
        "frosty": False,
        "frozen": False,
    }


def test_a_code_that_comes_back_is_undecided_until_the_unit_is_finished_again() -> None:
    less, book = without(BASE, "other"), edited(BASE, "other", definition="New.")
    steps = line(BASE, less, book)
    assert said(did(BASE, "m1", "other"), book, steps) == ABSENT | {"other": "add"}
    assert said(did(BASE, "m1", "other") + did(less, "m1"), book, steps) == ABSENT | {"other": "add"}
    assert said(did(BASE, "m1", "other") + did(book, "m1"), book, steps) == ABSENT | {"other": True}


def test_what_is_applied_after_finishing_is_not_affirmed_by_it() -> None:
    """A version that was returned to: the coding was made between, under another meaning."""
    between = edited(BASE, "warm", definition="Other.")
    steps = line(BASE, between, BASE)
    deeds = did(BASE, "m1") + did(between, "m1", "warm", finish=False)
    assert said(deeds, BASE, steps) == ABSENT | {"warm": "redefine"}
    assert said(deeds + did(BASE, "m1"), BASE, steps) == ABSENT | {"warm": True}


@pytest.mark.long
def test_rename_then_redefine_and_finishing_in_between() -> None:
    renamed = edited(BASE, "warm", label="Warmth")
    book = edited(renamed, "warm", definition="Warmth alone.")
    steps = line(BASE, renamed, book)
    assert said(did(BASE, "m1", "warm"), renamed, steps) == ABSENT | {"warm": True}
    assert said(did(BASE, "m1", "warm"), book, steps) == ABSENT | {"warm": "redefine"}
    assert said(did(BASE, "m1", "warm") + did(book, "m1"), book, steps) == ABSENT | {"warm": True}
    # A redefined code that is then merged: what was coded under the old meaning says nothing of the new code.
    last = without(book, "warm")
    more = [*steps, step(book, last, merged={"warm": "kind"})]
    assert said(did(BASE, "m1", "warm"), last, more)["kind"] == "redefine"
    assert said(did(BASE, "m1", "warm", "kind"), last, more)["kind"] is True


def test_merged_codings_of_two_valences_or_spans_stay_two() -> None:
    base = replace(BASE, facets=(facet("valence", "met", "unmet"),))
    book = without(base, "kind")
    steps = line(base, book, merged={"kind": "warm"})
    deeds = did(base, "m1", "warm", finish=False, facets={"valence": "met"}, start=0, end=2)
    deeds += did(base, "m1", "kind", finish=False, facets={"valence": "unmet"}, start=0, end=2)
    deeds += did(base, "m1", "kind", finish=False, facets={"valence": "met"}, start=3, end=5) + did(
        base, "m1"
    )
    record = acts.fold(deeds)
    kept, _ = codings.carried(record.codings, record.coverage, book, revisions=steps)
    assert kept["was"].tolist() == ["warm", "kind", "kind"]
    assert (kept["code"] == "warm").all()
    found = codings.decisions(record.codings, record.coverage, book, revisions=steps, facet="valence")
    assert found.loc[found["applied"], "code"].tolist() == ["warm.valence=met", "warm.valence=unmet"]


def test_a_value_that_the_codebook_has_no_more_says_nothing_and_the_coding_stands() -> None:
    facets = (facet("valence", "met", "unmet"), facet("heat", "low"), facet("old", "one"))
    base = replace(BASE, facets=facets)
    narrow = (facet("valence", "met"), facet("heat", "low", codes=("warm",)))
    book = replace(without(base, "cold"), facets=narrow)
    steps = line(base, book, merged={"cold": "kind"})
    said = {"valence": "unmet", "heat": "low", "old": "one"}
    deeds = did(base, "m1", "warm", finish=False, facets=said)
    deeds += did(base, "m1", "cold", finish=False, facets={"valence": "met", "heat": "low"}) + did(base, "m1")
    record = acts.fold(deeds, codebook=book)
    assert record.codings.set_index("code").loc["warm", ["valence", "heat", "old"]].tolist() == [
        "unmet",
        "low",
        "one",
    ]
    kept, _ = codings.carried(record.codings, record.coverage, book, revisions=steps)
    by_code = kept.set_index("code")[["valence", "heat"]].fillna("none")
    assert by_code.to_dict("index") == {
        "warm": {"valence": "none", "heat": "low"},
        "kind": {"valence": "met", "heat": "none"},
    }
    found = codings.decisions(record.codings, record.coverage, book, revisions=steps, facet="valence")
    assert set(found.loc[found["applied"], "code"]) == {"warm.valence=unstated", "kind.valence=met"}


def test_merged_codings_with_one_facet_alike_and_one_apart_stay_two() -> None:
    base = replace(BASE, facets=(facet("valence", "met", "unmet"), facet("heat", "low", "high")))
    book = without(base, "kind")
    steps = line(base, book, merged={"kind": "warm"})
    deeds = did(base, "m1", "warm", finish=False, facets={"valence": "met", "heat": "low"})
    for heat, expected in (("low", ["kind, warm"]), ("high", ["warm", "kind"])):
        other = did(base, "m1", "kind", finish=False, facets={"valence": "met", "heat": heat})
        record = acts.fold(deeds + other + did(base, "m1"), codebook=book)
        kept, _ = codings.carried(record.codings, record.coverage, book, revisions=steps)
        assert kept["was"].tolist() == expected


def test_carrying_takes_one_round() -> None:
    deeds = []
    for name in ("1", "2"):
        named = {"coder": "ana", "unit_id": "m1", "codebook": BASE, "round": name}
        deeds += [acts.apply(code="warm", at=at(), **named), acts.finish(at=at(), **named)]
    record = acts.fold(deeds)
    for name, found in ((None, "2"), ("1", "1")):
        kept, _ = codings.carried(record.codings, record.coverage, BASE, revisions=[], round=name)
        assert kept["round"].tolist() == [found]


def test_revisions_are_told_in_the_order_of_versions_where_clocks_differ() -> None:
    books = [BASE, *(plus(BASE, *["one", "two", "three", "four"][:n]) for n in range(1, 5))]
    steps = line(*books)
    late = [replace(each, at=when) for each, when in zip(steps, "2314", strict=True)]
    made = [
        Act(kind="revise", text=one.to_text(), **acts.stamp("lead", book, None, one.at))
        for one, book in zip(late, books[1:], strict=True)
    ]
    assert [one.codebook for one in history(made[::-1])] == [one.codebook for one in steps]


# against a plain model --------------------------------------------------------------------------------


class Meanings:
    """What every code meant in every version, as a set of atoms of meaning.

    A new or redefined code means something new; a merged code means what both did; a split divides every atom
    of the code among its parts. A coding says that some atom of its code applies, and finishing that no other
    atom does that the coder knew of. So a code applies where it means all that a coding may mean, and is
    absent where it means nothing that a coding may mean and nothing that the coder did not know of.
    """

    def __init__(self) -> None:
        self.books = [BASE]
        self.atoms = [{one.id: {one.id} for one in BASE.codes}]
        self.divided: dict[str, list[str]] = {}
        self.steps: list[Revision] = []
        self.fresh = count()

    def revise(self, kind: str, which: int, other: int) -> None:
        book, atoms = self.books[-1], dict(self.atoms[-1])
        ids = [one.id for one in book.codes]
        here, there = ids[which % len(ids)], ids[other % len(ids)]
        n, told = next(self.fresh), {}
        if kind == "add":
            new = self.retired(book) or f"new{n}"
            book, atoms[new] = plus(book, new), {f"atom{n}"}
        elif kind == "redefine":
            book, atoms[here] = edited(book, here, definition=f"Version {n}."), {f"atom{n}"}
        elif kind == "rename":
            book = edited(book, here, label=f"Label {n}")
        elif kind == "split":
            parts = [f"part{n}a", f"part{n}b"]
            book, told = plus(without(book, here), *parts), {"split": {here: parts}}
            for atom in atoms.pop(here):
                self.divided[atom] = [f"{atom}/{part}" for part in parts]
                for part in parts:
                    atoms[part] = atoms.get(part, set()) | {f"{atom}/{part}"}
        elif len(ids) < 3 or here == there:
            return
        elif kind == "retire":
            book = without(book, here)
            del atoms[here]
        else:
            target = there if kind == "merge" else f"both{n}"
            gone = [here] if kind == "merge" else [here, there]
            book = without(book, *gone)
            book = book if kind == "merge" else plus(book, target)
            told = {"merged": dict.fromkeys(gone, target)}
            atoms[target] = atoms[here] | atoms[there]
            for one in gone:
                del atoms[one]
        book = replace(book, version=str(n))  # never a version that was there before
        self.steps.append(step(self.books[-1], book, **told))
        self.books.append(book)
        self.atoms.append(atoms)

    def retired(self, book: Codebook) -> str | None:
        """Return a code that is gone and may come back: every other time."""
        gone = [i for one in self.books for i in one.ids if i not in book.ids]
        return gone[0] if gone and len(self.books) % 2 else None

    def leaves(self, atoms: set[str]) -> set[str]:
        """Return what the atoms have been divided into up to now."""
        return {
            leaf for a in atoms for leaf in (self.leaves(set(self.divided[a])) if a in self.divided else {a})
        }

    def verdicts(self, codings: list[tuple[int, str]], finished: int) -> dict[str, bool | None]:
        meant = []
        for made, code in codings:  # what the coder had before them when finishing
            atoms, name = self.atoms[made][code], code  # the code that the coding is, which merges change
            for there in self.atoms[made : finished + 1]:
                into = [one for one in there if self.leaves(atoms) <= self.leaves(there[one])]
                name = code if code in there else name if name in there else into[0] if into else name
                atoms = there.get(name, atoms)
            meant.append(self.leaves(atoms))
        told = [now for now in meant if not any(other < now and self.one(other, finished) for other in meant)]
        known = self.leaves({atom for atoms in self.atoms[finished].values() for atom in atoms})
        found: dict[str, bool | None] = {}
        for code, atoms in self.atoms[-1].items():
            now = self.leaves(atoms)
            applied, maybe = any(one <= now for one in told), any(one & now for one in told)
            found[code] = True if applied else False if not maybe and now <= known else None
        return found

    def one(self, leaves: set[str], finished: int) -> bool:
        """Tell whether these leaves lie in one code of the version under which the unit was finished."""
        return any(leaves <= self.leaves(atoms) for atoms in self.atoms[finished].values())


kinds = st.sampled_from(["add", "rename", "redefine", "merge", "merge into a new one", "split", "retire"])
numbers = st.integers(0, 9)


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(kinds, numbers, numbers, st.lists(numbers, max_size=2)), max_size=6), numbers, numbers
)
@example([("add", 0, 0, []), ("merge", 0, 2, []), ("redefine", 1, 0, [])], 0, 3)  # affirmed after a merge
@example([("split", 2, 0, []), ("redefine", 3, 0, [3])], 2, 2)  # a part, redefined and then applied
def test_decisions_say_what_the_meanings_of_the_codes_imply(
    history_: list[tuple[str, int, int, list[int]]], first: int, finished: int
) -> None:
    """One unit, coded bit by bit while the codebook changes, and finished somewhere on the way."""
    model, applied, deeds = Meanings(), [], []
    finished %= len(history_) + 1

    def apply(numbers: list[int]) -> None:
        version = len(model.books) - 1
        for number in numbers:
            ids = model.books[-1].ids
            applied.append((version, ids[number % len(ids)]))
            deeds.extend(did(model.books[-1], "m1", applied[-1][1], finish=False))

    apply([first])
    finished_under = None
    for number, (kind, which, other, coded) in enumerate([*history_, ("end", 0, 0, [])]):
        if number == finished:
            deeds.extend(did(model.books[-1], "m1"))
            finished_under = len(model.books) - 1
        if kind != "end":
            model.revise(kind, which, other)
        if finished_under is None:
            apply(coded)
    assert finished_under is not None
    # The coding that stands is the last of its code.
    standing = list({code: (made, code) for made, code in applied}.values())
    expected = model.verdicts(standing, finished_under)
    found = said(deeds, model.books[-1], model.steps)
    for code, value in found.items():
        # Parts of a split code that were merged again, or redefined, stay to be decided though one may know.
        was_split = any(change.kind == "split" for step in model.steps for change in step.changes)
        known = None if isinstance(value, str) and was_split else expected[code]
        assert (None if isinstance(value, str) else value) == known, (code, expected, model.steps)


# rulings ----------------------------------------------------------------------------------------------


def ruled(book: Codebook, **verdicts: bool) -> list[Act]:
    named = {"coder": "dora", "unit_id": "m1", "codebook": book}
    return [acts.rule(code=code, applied=applied, at=at(), **named) for code, applied in verdicts.items()]


def verdicts(made: list[Act], book: Codebook, steps: list[Revision]) -> dict[str, bool | None]:
    found = codings.rulings(made, book, revisions=steps)
    assert {act.codebook for act in found} <= {book.fingerprint}
    assert len({act.act_id for act in found}) == len(found)
    return {str(act.code): act.applied for act in found}


def test_rulings_are_carried_over_by_the_same_rules() -> None:
    book = plus(edited(without(BASE, "kind", "cold"), "other", definition="New."), "icy", "distant")
    steps = line(BASE, book, merged={"kind": "warm"}, split={"cold": ["icy", "distant"]})
    assert verdicts(ruled(BASE, kind=True), book, steps) == {"warm": True}
    assert verdicts(ruled(BASE, kind=False), book, steps) == {}  # warm may still apply
    assert verdicts(ruled(BASE, kind=False, warm=False), book, steps) == {"warm": False}
    assert verdicts(ruled(BASE, kind=False, warm=True), book, steps) == {"warm": True}
    assert verdicts(ruled(BASE, warm=False), book, steps) == {}
    assert verdicts(ruled(BASE, cold=True, other=True), book, steps) == {}
    assert verdicts(ruled(BASE, cold=False), book, steps) == {"icy": False, "distant": False}
    # What was ruled later, under the new version, stands; an undone ruling does not.
    assert verdicts(ruled(BASE, kind=True) + ruled(book, warm=False), book, steps) == {"warm": False}
    once = ruled(BASE, kind=True)
    assert verdicts([*once, acts.undo(once[0], codebook=book)], book, steps) == {}
    with pytest.raises(TableError, match="expected revisions that lead"):
        codings.rulings(once, book, revisions=())


def test_consensus_refuses_rulings_under_several_codebooks() -> None:
    book = edited(BASE, "warm", definition="New.")
    steps = line(BASE, book)
    made = ruled(BASE, warm=True, kind=True) + ruled(book, cold=True)
    record = acts.fold(did(book, "m1"))
    decided = codings.decisions(record.codings, record.coverage, book)
    with pytest.raises(ActError, match=r"codings\.rulings"):
        adjudication.consensus(decided, rulings=made)
    found = adjudication.consensus(decided, rulings=codings.rulings(made, book, revisions=steps))
    assert dict(zip(found["code"], found["applied"], strict=True)) == {"kind": True, "cold": True}
