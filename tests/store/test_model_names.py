"""Who has the name of a model is asked about, and a model decides nothing that a lead decides."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sense7_qual import acts, rounds
from sense7_qual._commands import main
from sense7_qual.acts import Act
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.errors import ActError
from sense7_qual.store import Store
from sense7_qual.store._operations.contents import Options, options_act
from tests.helpers.small_study import CODEBOOK, frame_of, put

LIKE_MODELS = ("gpt-4o", "claude", "llama-3", "model_x", "chatbot")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "study", units=frame_of(), codebook=CODEBOOK)


@pytest.mark.parametrize("name", LIKE_MODELS)
def test_a_coder_called_as_a_model_is_asked_about_once(store: Store, name: str, tmp_path: Path) -> None:
    with pytest.raises(ActError, match=rf"likely the name of a model.*'model-{name}'.*person=True"):
        store.append([put(coder=name)])
    assert store.coders == ()
    assert store.append([put(coder=name)], person=True) == 1
    assert store.append([put("relational", coder=name)]) == 1
    assert set(store.codings()["coder"]) == {name}


@pytest.mark.parametrize("name", ["model-gpt", "person-claude", "claudette", "modeller", "ana", "airi"])
def test_other_names_are_not_asked_about(store: Store, name: str) -> None:
    assert store.append([put(coder=name)]) == 1


def test_a_merge_asks_too(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(store.path, tmp_path / "other")
    Store(tmp_path / "other").append([put(coder="claude")], person=True)
    with pytest.raises(ActError, match="likely the name of a model"):
        store.copies.merge(tmp_path / "other")
    assert store.coders == ()
    places = [str(store.path), str(tmp_path / "other")]
    assert main(["merge", *places]) != 0
    assert main(["merge", *places, "--person"]) == 0
    assert store.coders == ("claude",)
    assert main(["merge", *places]) == 0  # it was said


def test_who_codes_in_a_widget_is_a_person(store: Store) -> None:
    assert store.desk.append_after([put(coder="claude")], n_read=0, meet=lambda _: None) == 1
    assert store.coders == ("claude",)


DECIDING: dict[str, Callable[[dict[str, Any]], Act]] = {
    "rule": lambda by: acts.rule(unit_id="m1", code="interest", applied=True, **by),
    "quote": lambda by: acts.quote(unit_id="m1", code="interest", state="approved", **by),
    "open_round": lambda by: rounds.open_round("one", units=["m1"], coders=["ana"], **by),
    "set_options": lambda by: options_act(Options(), new_codes="add", **by) or put(),
    "preregister": lambda by: acts.preregister(AnalysisPlan(question="?"), **by),
}


@pytest.mark.parametrize("kind", DECIDING)
def test_a_model_decides_nothing_that_a_lead_decides(store: Store, kind: str) -> None:
    by = {"codebook": CODEBOOK, "coder": "lead"}
    assert store.append([DECIDING[kind](by)]) == 1
    for name in ("model-x", "model-lead"):
        with pytest.raises(ActError, match="expected the pseudonym of the person who decided it"):
            store.append([DECIDING[kind]({**by, "coder": name})])
    assert store.coders == ("lead",)
