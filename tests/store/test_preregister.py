"""An analysis plan in the record: for good, seen by all, and refused where it cannot stand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sense7_qual import acts
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store import Store
from tests.helpers.small_study import CODEBOOK, frame_of
from tests.store.conftest import Place

PLAN = AnalysisPlan(question="What makes an answer empathic?", coders=("ana", "ben"))


def test_a_plan_is_registered_once_and_amended_by_another(place: Place) -> None:
    store = Store.create(place("study"), units=frame_of(), codebook=CODEBOOK)
    first = store.preregister(PLAN, coder="lead")
    assert store.preregister(PLAN, coder="lead") == first
    assert Store(store.path).preregistrations == (first,)
    second = store.preregister(replace(PLAN, n_units=2), coder="chair")
    assert store.preregistrations == (first, second)
    assert store.preregister(PLAN, coder="lead") != first, "an earlier plan is an amendment again"
    assert store.verify()["ok"].all()
    assert store.decisions().empty


def test_it_cannot_be_undone_and_names_columns_that_are_there(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "study", units=frame_of(), codebook=CODEBOOK)
    store.preregister(PLAN, coder="lead")
    (act,) = store.acts(kind="preregister")
    with pytest.raises(ActError, match="which the team has seen"):
        store.append([acts.undo(act, codebook=CODEBOOK)])
    for wrong in ({"rating": "EmpathyOveral"}, {"cluster": "text"}):
        with pytest.raises(ActError, match="expected a column of the study's units"):
            store.preregister(replace(PLAN, **wrong), coder="lead")
    assert len(store.preregistrations) == 1


def test_a_changed_plan_is_seen(tmp_path: Path) -> None:
    """A plan exchanged on the disk no longer has the hash that the chain vouches for."""
    import sqlite3

    store = Store.create(tmp_path / "study", units=frame_of(), codebook=CODEBOOK)
    store.preregister(PLAN, coder="lead")
    (file,) = (tmp_path / "study").rglob("lead*.sqlite")
    with sqlite3.connect(file) as connection:
        changed = replace(PLAN, question="Was it right?").to_text()
        n = connection.execute("UPDATE texts SET text = ? WHERE text = ?", (changed, PLAN.to_text())).rowcount
    connection.close()
    assert n == 1
    assert not store.verify()["ok"].all()
    with pytest.raises(StoreError):
        _ = Store(store.path).preregistrations


def test_words_of_who_withdraws_are_told_and_refused(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "study", units=frame_of(), codebook=CODEBOOK)
    unit = store.units.iloc[0]
    words = "It remembered that my sister was ill and then lectured me about sleep"
    units = store.units.assign(text=[words, *store.units["text"][1:]])
    store = Store.create(tmp_path / "other", units=units, codebook=CODEBOOK)
    store.preregister(replace(PLAN, answers={"sampling": f"Such as: {words}"}), coder="lead")
    forgotten = store.forget(unit["case_id"], why="asked to")
    assert "analysis plan" in forgotten.still_held["what"].tolist()
    with pytest.raises(ActError, match="plans of analysis"):
        store.preregister(replace(PLAN, question=words), coder="lead")
