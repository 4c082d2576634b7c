"""A round of training in the coding widget: gold of a text after it is finished, and never before."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sense7_qual import Store, acts, rounds
from sense7_qual.store._postgres import server
from tests.helpers.browser import SENSE7, TEXTS, units
from tests.helpers.own_view import EVERYTHING, OwnView

IDS = [f"m{place}" for place in range(len(TEXTS))]
CODES = [code.id for code in SENSE7.codable]


def gold(*applied: tuple[str, str]) -> pd.DataFrame:
    """Return gold decisions on every unit and code."""
    rows = [(unit_id, code, (unit_id, code) in applied) for unit_id in IDS for code in CODES]
    return pd.DataFrame(rows, columns=["unit_id", "code", "applied"])


def opened(store: Store, *applied: tuple[str, str]) -> Store:
    opening = rounds.open_round(
        "training", units=IDS, coders=["ana"], coder="lead", codebook=SENSE7, gold=gold(*applied)
    )
    store.append([opening])
    return store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "study", units=units(), codebook=SENSE7)


@pytest.fixture(
    params=["folder", pytest.param("postgresql", marks=[pytest.mark.nightly, pytest.mark.postgres])]
)
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    made: list[Store] = []

    def new() -> Store:
        place: str | Path = tmp_path / f"study {len(made)}"
        if request.param == "postgresql":
            place = request.getfixturevalue("postgres")()
        made.append(Store.create(place, units=units(), codebook=SENSE7))
        return made[-1]

    yield new
    if request.param == "postgresql":
        for one in made:
            server.connect(str(one.path)).engine.dispose()


def do(view: OwnView, kind: str, code: str | None = None, unit_id: str = "m0") -> dict[str, Any]:
    coding = {} if code is None else {"code": code, "start": None, "end": None}
    return view.ask("act", act={"kind": kind, "unit_id": unit_id, **coding})


@pytest.mark.long
def test_before_a_text_is_finished_every_answer_is_the_same_whatever_gold_says(
    new_store: Callable[[], Store],
) -> None:
    """Of gold on the other texts, too: only what was finished may tell of it."""
    answers = []
    for others in ((), [(unit_id, code) for unit_id in IDS[1:] for code in CODES[:4]]):
        view = OwnView(opened(new_store(), ("m0", "interest"), *others), round="training")
        do(view, "apply", "affective")
        told = [view.ask(kind, **named) for kind, named in EVERYTHING]
        told += [view.ask("feedback", place=place) for place in range(len(IDS))]
        told += [do(view, "apply", "affective", unit_id="m1"), view.ask("unit", place=1)]
        traits = {name: value for name, value in view.widget.get_state().items() if name != "layout"}
        answers.append((told, traits))
    assert answers[0] == answers[1]
    told = answers[1][0]
    assert told[len(EVERYTHING)]["type"] == "feedback"
    assert [one["type"] for one in told[len(EVERYTHING) + 1 :][:3]] == ["refused"] * 3


@pytest.mark.long
def test_after_finish_it_says_code_by_code_what_differs_and_counts_on(store: Store) -> None:
    view = OwnView(
        opened(store, ("m0", "interest"), ("m0", "affective"), ("m1", "interest")), round="training"
    )
    welcome = view.ask("hello")
    assert welcome["training"] == {"n": 0, "most": 4, "kappa": "", "verdict": "go on", "words": ""}
    do(view, "apply", "affective")
    do(view, "apply", "cognitive")
    do(view, "finish")
    feedback = view.ask("feedback", place=0)
    assert {row["code"]: row["state"] for row in feedback["rows"]} == {
        "affective": "same",
        "cognitive": "added",
        "interest": "missed",
    }
    do(view, "apply", "interest", unit_id="m1")
    do(view, "finish", unit_id="m1")
    feedback = view.ask("feedback", place=1)
    assert feedback["rows"] == [{"code": "interest", "state": "same"}]
    assert {code: feedback["counts"][code] for code in ("affective", "cognitive", "interest")} == {
        "affective": [1, 0, 0],
        "cognitive": [0, 0, 1],
        "interest": [1, 1, 0],
    }
    assert feedback["progress"]["n"] == 2
    assert feedback["progress"]["kappa"].startswith(".")


@pytest.mark.long
def test_what_was_first_finished_counts_whatever_is_changed_after_seeing_gold(store: Store) -> None:
    view = OwnView(opened(store, ("m0", "interest")), round="training")
    do(view, "finish")
    before = view.ask("feedback", place=0)
    for kind, code in (("undo", None), ("apply", "interest"), ("finish", None)):
        do(view, kind, code)
    assert (
        view.ask("feedback", place=0)["rows"] == before["rows"] == [{"code": "interest", "state": "missed"}]
    )
    assert OwnView(store, round="training").ask("hello")["training"]["n"] == 1
    one = store.rounds[0]
    first = rounds.first_decisions(store.acts(), one, coder="ana")
    assert not first["applied"].any()
    assert store.decisions(round="training")["applied"].sum() == 1


@pytest.mark.long
def test_training_is_in_the_decisions_of_the_study_only_where_its_round_is_named(store: Store) -> None:
    view = OwnView(opened(store, ("m0", "interest")), round="training")
    do(view, "apply", "interest")
    do(view, "finish")
    assert store.decisions().empty
    assert store.decisions(viewer="ana").empty
    named = {"coder": "ana", "unit_id": "m0", "codebook": SENSE7}
    store.append([acts.apply(code="affective", **named), acts.finish(**named)])
    do(view, "reopen")
    do(view, "finish")  # the last round that was finished, but no decision of the study
    decisions = store.decisions()
    assert decisions.loc[decisions["applied"], "code"].tolist() == ["affective"]
    training = store.decisions(round="training")
    assert training.loc[training["applied"], "code"].tolist() == ["interest"]


def test_another_round_is_no_training(store: Store) -> None:
    store.append([rounds.open_round("one", units=IDS, coders=["ana"], coder="lead", codebook=SENSE7)])
    view = OwnView(store)
    assert view.ask("hello")["training"] is None
    do(view, "finish")
    assert view.ask("feedback", place=0)["type"] == "refused"
    assert "gold" not in repr(store.rounds[0]) + json.dumps(view.heard)


@pytest.mark.long
@pytest.mark.parametrize(("right", "verdict"), [(True, "pass"), (False, "fail")])
def test_the_verdict_is_said_with_its_probability(tmp_path: Path, right: bool, verdict: str) -> None:
    ids = [f"m{number}" for number in range(20)]
    frame = pd.concat([units().iloc[[0]].assign(unit_id=one) for one in ids], ignore_index=True)
    store = Store.create(tmp_path / "study", units=frame, codebook=SENSE7)
    book = store.codebook
    truth = pd.DataFrame(
        [
            (one, code, (at + place) % 3 == 0)
            for at, one in enumerate(ids)
            for place, code in enumerate(CODES)
        ],
        columns=["unit_id", "code", "applied"],
    )
    store.append(
        [rounds.open_round("training", units=ids, coders=["ana"], coder="lead", codebook=book, gold=truth)]
    )
    for one in ids:
        here = truth[truth["unit_id"] == one]
        named = {"coder": "ana", "unit_id": one, "codebook": book, "round": "training"}
        codes = here.loc[here["applied"] == right, "code"]
        store.append([*(acts.apply(code=code, **named) for code in codes), acts.finish(**named)])
    progress = OwnView(store, round="training").ask("hello")["training"]
    assert (progress["verdict"], progress["n"], progress["most"]) == (verdict, 20, 20)
    assert "after 15 texts" in progress["words"]
    assert "% probable" in progress["words"]
