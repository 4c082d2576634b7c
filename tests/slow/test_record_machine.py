"""Two copies of a study and a plain list: whatever is done, in whatever order, they say the same.

A state machine over apply, remove, finish, reopen, undo, redo, repeat, revise, assign, rounds that are opened
and unblinded, and (in folders) merge. The model is a list of acts a coder and copy; what stands is what
`acts.fold` makes of the lists, and what a coder sees of the others' is spelled out over them.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from sense7_qual import acts, rounds
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from tests.helpers.revised_codebooks import UNITS

pytestmark = pytest.mark.nightly

BASE = Codebook(name="small", codes=(Code(id="warm", label="Warm"), Code(id="cold", label="Cold")))
SOAK = bool(os.environ.get("SOAK"))
# In memory where there is such a folder: what a disk does is the matter of other tests.
MEMORY = next((folder for folder in [Path("/dev/shm")] if folder.is_dir()), None)  # noqa: S108


def runs(n_runs: int) -> settings:
    return settings(
        max_examples=2_000 if SOAK else n_runs,
        stateful_step_count=50,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


coders = st.sampled_from(["ana", "ben"])
places = st.sampled_from([0, 1])
units = st.sampled_from(["m1", "m2"])
codes = st.sampled_from(["warm", "cold"])
spans = st.sampled_from([(None, None), (0, 2), (1, 4)])
in_rounds = st.sampled_from([None, "one", "two"])
some_coders = st.sampled_from([["ana"], ["ana", "ben"]])
some_units = st.sampled_from([["m1"], ["m1", "m2"]])
EVERYBODY = ("ana", "ben", "lead")
DEEDS = ("apply", "remove", "finish", "reopen", "propose", "show_suggestions")
LEADS = ("open_round", "unblind", "assign", "revise", "set_options", "record_themes", "edit_theme")


def unblinded(known: list[Act]) -> set[str | None]:
    return {act.round for act in known if act.kind == "unblind"}


def seen(known: list[Act], viewer: str | None) -> list[Act]:
    """Return what a coder sees: their own acts, the lead's, and those of unblinded rounds."""
    shown = unblinded(known)
    return [a for a in known if viewer in (None, a.coder) or a.kind in LEADS or a.round in shown]


def outside_their_rounds(known: list[Act], before: set[str]) -> set[str]:
    """Return the acts, not there `before`, that no opening of their round allows or that take back such."""
    ever: dict[str | None, tuple[set[str], set[str]]] = {}
    for one in known:
        if one.kind == "open_round":
            coders, units = ever.setdefault(one.round, (set(), set()))
            coders |= set(json.loads(one.text)["coders"])
            units |= set(json.loads(one.text)["units"])
    outside = {
        one.act_id
        for one in known
        if one.act_id not in before
        and one.kind in DEEDS
        and one.round in ever
        and (one.coder not in ever[one.round][0] or one.unit_id not in ever[one.round][1])
    }
    return outside | {one.act_id for one in known if one.target in outside}


def refused(act: Act, known: list[Act]) -> bool:
    """Tell whether an act is outside its round, or opens an unblinded round for more."""
    openings = [one for one in known if one.kind == "open_round" and one.round == act.round]
    if not openings:
        return act.kind == "unblind"
    last = json.loads(max(openings, key=lambda one: (one.at, one.act_id)).text)
    if act.kind == "open_round" and act.round in unblinded(known):
        return any(set(json.loads(act.text)[what]) - set(last[what]) for what in ("units", "coders"))
    return act.kind in DEEDS and (act.coder not in last["coders"] or act.unit_id not in last["units"])


class Record(RuleBasedStateMachine):
    """One store, checked against a list of acts for every coder."""

    make: ClassVar[Callable[[], list[Store]]]

    @initialize()
    def begin(self) -> None:
        self.stores = type(self).make()
        self.done: list[dict[str, list[Act]]] = [{coder: [] for coder in EVERYBODY} for _ in self.stores]
        self.books = [BASE] * len(self.stores)
        self.n_revisions = 0
        self.seen_so_far: list[int] = []

    def record(self, place: int, act: Act) -> None:
        place %= len(self.stores)
        known = self.done[place][act.coder]
        new = act.act_id not in {one.act_id for one in known}
        if new and refused(act, [one for own in self.done[place].values() for one in own]):
            with pytest.raises(ActError, match="nothing was recorded"):
                self.stores[place].append([act])
            return
        assert self.stores[place].append([act]) == new
        if new:
            quote = None
            if act.kind == "apply" and act.start is not None:  # which the store fills in
                quote = UNITS.set_index("unit_id")["text"][act.unit_id][act.start : act.end]
            known.append(replace(act, text=act.text or quote))

    @rule(place=places, coder=coders, unit_id=units, code=codes, span=spans, round=in_rounds)
    def apply(self, place: int, coder: str, unit_id: str, code: str, span: tuple, round: str | None) -> None:
        book = self.books[place % len(self.stores)]
        named = {"coder": coder, "unit_id": unit_id, "code": code, "round": round, "codebook": book}
        self.record(place, acts.apply(start=span[0], end=span[1], **named))

    @rule(place=places, coder=coders, unit_id=units, code=codes, span=spans, round=in_rounds)
    def remove(self, place: int, coder: str, unit_id: str, code: str, span: tuple, round: str | None) -> None:
        named = {"coder": coder, "unit_id": unit_id, "code": code, "round": round, "codebook": BASE}
        self.record(place, acts.remove(start=span[0], end=span[1], **named))

    @rule(
        place=places, coder=coders, unit_id=units, round=in_rounds, kind=st.sampled_from(["finish", "reopen"])
    )
    def cover(self, place: int, coder: str, unit_id: str, round: str | None, kind: str) -> None:
        self.record(place, getattr(acts, kind)(coder=coder, unit_id=unit_id, round=round, codebook=BASE))

    @rule(place=places, coder=coders, unit_id=units, span=spans, round=in_rounds)
    def propose(self, place: int, coder: str, unit_id: str, span: tuple, round: str | None) -> None:
        named = {"coder": coder, "unit_id": unit_id, "round": round, "codebook": BASE}
        self.record(place, acts.propose(label="Hope", start=span[0], end=span[1], **named))

    @rule(place=places, coder=coders, unit_id=units, withheld=st.booleans(), round=in_rounds)
    def show_suggestions(
        self, place: int, coder: str, unit_id: str, withheld: bool, round: str | None
    ) -> None:
        named = {"coder": coder, "unit_id": unit_id, "round": round, "codebook": BASE}
        self.record(place, acts.contents.show_suggestions(model="words", withheld=withheld, **named))

    @rule(place=places, new_codes=st.sampled_from(["propose", "add"]))
    def set_options(self, place: int, new_codes: str) -> None:
        store, done = self.stores[place % len(self.stores)], self.done[place % len(self.stores)]
        assert store.set_options(new_codes=new_codes, coder="lead").new_codes == new_codes
        known = {act.act_id for act in done["lead"]}
        done["lead"] += [act for act in store.acts(coder="lead") if act.act_id not in known]

    @rule(place=places, coder=coders, n=st.integers(0, 50), kind=st.sampled_from(["undo", "redo"]))
    def take_back(self, place: int, coder: str, n: int, kind: str) -> None:
        able = ("apply", "remove", "finish", "reopen", "propose")
        own = [act for act in self.done[place % len(self.stores)][coder] if act.kind in able]
        if own:
            self.record(place, getattr(acts, kind)(own[n % len(own)], codebook=BASE))

    @rule(place=places, coder=coders, n=st.integers(0, 50))
    def repeat(self, place: int, coder: str, n: int) -> None:
        own = [act for act in self.done[place % len(self.stores)][coder] if act.kind != "revise"]
        if own:
            self.record(place, own[n % len(own)])

    @rule(place=places, round=st.sampled_from(["one", "two"]), coders=some_coders, units=some_units)
    def open_round(self, place: int, round: str, coders: list[str], units: list[str]) -> None:
        self.record(place, rounds.open_round(round, units=units, coders=coders, coder="lead", codebook=BASE))

    @rule(place=places, round=st.sampled_from(["one", "two"]))
    def unblind(self, place: int, round: str) -> None:
        self.record(place, rounds.unblind(round, coder="lead", codebook=BASE))

    @rule(place=places, coders=some_coders, overlap=st.sampled_from([0, 1]))
    def assign(self, place: int, coders: list[str], overlap: float) -> None:
        store, done = self.stores[place % len(self.stores)], self.done[place % len(self.stores)]
        plan = store.assign(coders=coders, overlap=overlap, coder="lead")
        known = {act.act_id for act in done["lead"]}
        new = [act for act in store.acts(coder="lead") if act.act_id not in known]
        done["lead"] += new
        mine = zip(plan["coder"], plan["unit_id"], plan["round"].isna(), strict=True)
        dealt = {(coder, unit_id) for coder, unit_id, is_in_none in mine if is_in_none}
        begun = {
            (act.coder, act.unit_id)
            for coder in coders
            for act in done[coder]
            if act.kind in ("apply", "remove", "finish", "reopen", "propose") and act.round is None
        }
        assert begun <= dealt or not new
        assert {unit_id for _, unit_id in dealt} == set(store.units["unit_id"])

    @precondition(lambda self: self.n_revisions < 3)
    @rule(place=places, coder=coders)
    def revise(self, place: int, coder: str) -> None:
        place %= len(self.stores)
        self.n_revisions += 1
        book = self.stores[place].codebook
        label = f"Warm {self.n_revisions}"
        changed = replace(book, codes=(replace(book.codes[0], label=label), *book.codes[1:]))
        self.books[place] = self.stores[place].revise(changed, why="Clearer.", coder=coder)
        assert self.books[place]["warm"].label == label
        known = {act.act_id for act in self.done[place][coder]}
        made = self.stores[place].acts(coder=coder, kind="revise")  # several where it joins two copies' lines
        self.done[place][coder] += [act for act in made if act.act_id not in known]

    @rule(place=places)
    def reopen_the_store(self, place: int) -> None:
        place %= len(self.stores)
        self.stores[place] = Store(self.stores[place].path)
        assert self.stores[place].codebook == self.books[place]

    def lengths(self) -> list[int]:
        return [len(own) for done in self.done for own in done.values()]

    @precondition(lambda self: self.seen_so_far != self.lengths())
    @rule()
    def look(self) -> None:
        """The stores say what the lists say, also once opened anew."""
        self.seen_so_far = self.lengths()
        for store, done in zip(self.stores, self.done, strict=True):
            plain = [act for coder in EVERYBODY for act in done[coder]]
            assert store.acts() == plain
            for viewer in ("ana", "ben"):
                assert rounds.visible(plain, viewer=viewer) == seen(plain, viewer)

    def teardown(self) -> None:
        if not hasattr(self, "stores"):
            return
        self.look()
        for store, done in zip(self.stores, self.done, strict=True):
            plain = [act for coder in EVERYBODY for act in done[coder]]
            for viewer in (None, "ana"):
                folded = acts.fold(seen(plain, viewer), codebook=store.codebook)
                assert store.codings(viewer=viewer).equals(folded.codings)
                assert store.coverage(viewer=viewer).equals(folded.coverage)
            assert store.verify()["ok"].all()
            if isinstance(store.path, Path):
                shutil.rmtree(store.path.parent)


class Copies(Record):
    """Two copies of one folder, and merging: nothing is lost, and both come to say the same.

    Only what was done in a round's name before it was opened, and does not fit it, stays where it was done:
    nobody can tell it from what was made later with an earlier time.
    """

    @rule(place=places)
    def merge(self, place: int) -> None:
        here, there = self.stores[place], self.stores[1 - place]
        before = {act.act_id for act in here.acts()}
        other = {act.act_id for act in there.acts()}
        outside = outside_their_rounds([*here.acts(), *there.acts()], before)
        merged = here.copies.merge(there).items
        after = here.acts()
        assert {act.act_id for act in after} == (before | other) - outside
        assert set(merged.loc[merged["status"] == "refused", "act_id"]) == outside
        again = here.copies.merge(there).items
        assert here.acts() == after
        assert set(again.loc[again["status"] != "there", "act_id"]) == outside
        for coder in EVERYBODY:
            self.done[place][coder] = [act for act in after if act.coder == coder]


def two_copies() -> list[Store]:
    folder = Path(tempfile.mkdtemp(prefix="machine-", dir=MEMORY))
    store = Store.create(folder / "s", units=UNITS, codebook=BASE)
    other = Path(tempfile.mkdtemp(prefix="machine-", dir=MEMORY)) / "s"
    shutil.copytree(store.path, other)
    return [store, Store(other)]


@pytest.mark.crash
def test_two_copies_of_a_folder_agree_with_a_plain_list() -> None:
    Copies.make = staticmethod(two_copies)
    run_state_machine_as_test(Copies, settings=runs(6))


@pytest.mark.crash
@pytest.mark.postgres
def test_a_study_in_postgresql_agrees_with_a_plain_list(postgres: Callable[..., str]) -> None:
    Record.make = staticmethod(lambda: [Store.create(postgres(), units=UNITS, codebook=BASE)])
    engine = server.connect(postgres()).engine  # which the studies share
    quick = "ALTER ROLE postgres {} synchronous_commit"  # what a disk does is the matter of other tests
    with engine.begin() as connection:
        server.run(connection, [quick.format("SET") + " = off"])
    engine.dispose()
    try:
        run_state_machine_as_test(Record, settings=runs(8))
    finally:
        with engine.begin() as connection:
            server.run(connection, [quick.format("RESET")])
        engine.dispose()
