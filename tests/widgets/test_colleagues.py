"""Colleagues' codings in the coding widget: nothing of a blind round, and all of an unblinded one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sense7_qual import Store, acts, rounds
from sense7_qual.errors import StoreError
from sense7_qual.store._postgres import server
from tests.helpers.browser import SENSE7, SENTINEL, TEXTS, units
from tests.helpers.own_view import EVERYTHING, OwnView

IDS = [f"m{place}" for place in range(len(TEXTS))]
WORDS = TEXTS[0].index("listened"), TEXTS[0].index("listened") + len("listened")


def opened(store: Store) -> Store:
    """Open round one to ana, ben and cleo."""
    opening = rounds.open_round(
        "one", units=IDS, coders=["ana", "ben", "cleo"], coder="lead", codebook=SENSE7
    )
    store.append([opening])
    return store


def coded(store: Store, coder: str, *codes: str, unit_id: str = "m0", finish: bool = True) -> None:
    """Let a coder apply codes to "listened", or with a * to the whole text, and finish it."""
    named: dict[str, Any] = {"coder": coder, "unit_id": unit_id, "codebook": SENSE7, "round": "one"}
    start, end = WORDS
    batch = [
        acts.apply(code=code.rstrip("*"), **named, **({} if "*" in code else {"start": start, "end": end}))
        for code in codes
    ]
    store.append([*batch, *([acts.finish(**named)] if finish else [])])


def unblind(store: Store) -> None:
    store.append([rounds.unblind("one", coder="lead", codebook=SENSE7)])


@pytest.fixture(
    params=["folder", pytest.param("postgresql", marks=[pytest.mark.nightly, pytest.mark.postgres])]
)
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    made: list[Store] = []

    def new() -> Store:
        place: str | Path = tmp_path / f"study {len(made)}"
        if request.param == "postgresql":
            postgres: Callable[..., str] = request.getfixturevalue("postgres")
            place = postgres()
        made.append(opened(Store.create(place, units=units(), codebook=SENSE7)))
        return made[-1]

    yield new
    if request.param == "postgresql":
        for store in made:
            server.connect(str(store.path)).engine.dispose()


@pytest.mark.long
def test_in_a_blind_round_every_answer_is_what_it_is_when_nobody_else_has_coded(
    new_store: Callable[[], Store],
) -> None:
    answers = []
    for colleagues in ((), ("ben", "cleo")):
        store = new_store()
        coded(store, "ana", "affective")
        for colleague in colleagues:
            coded(store, colleague, "interest", "cognitive*")
        view = OwnView(store)
        told = [view.ask(kind, **named) for kind, named in EVERYTHING]
        traits = {name: value for name, value in view.widget.get_state().items() if name != "layout"}
        answers.append((told, traits))
    assert answers[0] == answers[1]
    said = json.dumps(answers[1][0])
    assert '"blind"' in said
    assert "ben" not in said
    assert answers[1][0][6]["n"] == 0


@pytest.mark.long
def test_after_unblinding_they_stand_beside_ones_own_code_by_code(new_store: Callable[[], Store]) -> None:
    store = new_store()
    coded(store, "ana", "affective", "interest", "cognitive")
    coded(store, "ben", "affective*", "relational")
    coded(store, "cleo", "interest", finish=False)
    store.append(
        [acts.memo(coder="ben", unit_id="m0", text=f"Private {SENTINEL}", codebook=SENSE7)]
    )  # of no round
    view = OwnView(store)
    assert view.ask("colleagues")["state"] == "blind"
    unblind(store)
    assert view.ask("hello")["colleagues"] == "open"
    assert view.ask("colleagues") == {"type": "colleagues", "state": "open", "names": ["ben", "cleo"]}
    theirs = view.beside()
    assert theirs["ben"]["signs"] == {
        "affective": "both",
        "interest": "own",
        "cognitive": "own",
        "relational": "theirs",
    }
    assert [(one["code"], one["start"], one["end"]) for one in theirs["ben"]["codings"]] == [
        ("affective", None, None),
        ("relational", WORDS[0] + 2, WORDS[1] + 2),  # UTF-16: the emoji before it are 4 units of 2 characters
    ]
    assert (theirs["cleo"]["finished"], theirs["cleo"]["signs"]) == (False, {})
    assert [one["code"] for one in theirs["cleo"]["codings"]] == ["interest"]
    assert view.beside(1)["ben"] == {"coder": "ben", "finished": False, "codings": [], "signs": {}}
    assert "Private" not in json.dumps(view.heard)


def test_the_same_code_on_other_words_is_no_full_agreement_and_what_was_removed_is_gone(
    tmp_path: Path,
) -> None:
    store = opened(Store.create(tmp_path / "study", units=units(), codebook=SENSE7))
    coded(store, "ana", "affective")
    named: dict[str, Any] = {"coder": "ben", "unit_id": "m0", "codebook": SENSE7, "round": "one"}
    gone = acts.apply(code="interest", **named)
    store.append([acts.apply(code="affective", start=0, end=2, **named), gone])
    store.append([acts.undo(gone, codebook=SENSE7), acts.finish(**named)])
    unblind(store)
    view = OwnView(store)
    view.ask("colleagues")
    assert view.beside()["ben"]["signs"] == {"affective": "elsewhere"}


def test_texts_that_differ_from_a_colleague_can_be_listed_and_ones_own_act_is_heeded(tmp_path: Path) -> None:
    store = opened(Store.create(tmp_path / "study", units=units(), codebook=SENSE7))
    codes = (("m0", ["affective*"], ["interest*"]), ("m1", [], []), ("m2", [], ["interest*"]))
    for unit_id, mine, theirs in codes:
        coded(store, "ana", *mine, unit_id=unit_id)
        coded(store, "ben", *theirs, unit_id=unit_id, finish=unit_id != "m2")
    unblind(store)
    view = OwnView(store)

    def listed() -> list[str]:
        return [row["unit_id"] for row in view.ask("list", state="differs", show_rating=False)["rows"]]

    assert listed() == ["m0"]  # m2 ben has not finished
    for kind, code in (("remove", "affective"), ("apply", "interest")):
        view.ask("act", act={"kind": kind, "unit_id": "m0", "code": code, "start": None, "end": None})
    assert listed() == []
    assert {act.coder for act in store.acts() if act.kind == "remove"} == {"ana"}


def test_without_a_round_or_a_study_there_is_nobody_beside(tmp_path: Path) -> None:
    store = opened(Store.create(tmp_path / "study", units=units(), codebook=SENSE7))
    coded(store, "ben", "interest")
    unblind(store)
    parts = {"units": store.units, "codebook": SENSE7, "acts": [], "save": list}
    for view in (OwnView(None, **parts), OwnView(None, round=None, **parts)):
        assert view.ask("hello")["colleagues"] is None
        assert view.ask("colleagues") == {"type": "colleagues", "state": None, "names": []}
        assert view.beside() == {}


def test_a_study_that_cannot_be_read_says_so_where_colleagues_are_asked_for(tmp_path: Path) -> None:
    store = opened(Store.create(tmp_path / "study", units=units(), codebook=SENSE7))
    coded(store, "ben", "interest")
    unblind(store)
    view = OwnView(store)

    class Damaged:
        rounds = store.rounds

        def acts(self) -> None:
            raise StoreError("acts: expected whole files – found a damaged one – run store.verify().")

    view.widget._colleagues._study = Damaged()
    assert view.ask("colleagues")["type"] == "failed"
    assert view.ask("unit", place=9)["type"] == "refused"
    assert view.ask("beside", place="0")["type"] == "refused"


def test_in_a_discussion_the_discussed_round_stands_beside_ones_own(new_store: Callable[[], Store]) -> None:
    store = new_store()
    coded(store, "ben", "interest")
    unblind(store)
    talk = rounds.open_round(
        "talk", units=IDS, coders=["ana", "ben", "cleo"], coder="lead", codebook=SENSE7, discusses="one"
    )
    store.append([talk])
    named: dict[str, Any] = {"coder": "cleo", "unit_id": "m0", "codebook": SENSE7, "round": "talk"}
    store.append([acts.apply(code="relational", **named)])  # blind still, and none of the discussed round
    view = OwnView(store, round="talk")
    answer = view.ask("colleagues")
    assert (answer["state"], answer["names"]) == ("open", ["ben"])
