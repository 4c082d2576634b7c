"""What models coded stands in the record, and comes out of it where it is asked for alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sense7_qual import acts, corpus, rounds
from sense7_qual._commands import main
from sense7_qual.errors import ActError
from sense7_qual.store import Store
from sense7_qual.widgets import (
    AdjudicationWidget,
    CodebookWidget,
    CodingWidget,
    OverviewWidget,
    QuotesWidget,
    ThemesWidget,
)
from tests.helpers.small_study import CODEBOOK, frame_of
from tests.store.conftest import Place

TEXTS = {f"m{i:02}": f"Text {i}." for i in range(12)}
CODES = [code.id for code in CODEBOOK.codes]


@pytest.fixture
def store(place: Place) -> Store:
    """A study in which ana and ben coded twelve texts, the modeller some, and a model all of them."""
    made, rng = (
        Store.create(place("pilot"), units=frame_of(TEXTS), codebook=CODEBOOK),
        np.random.default_rng(2),
    )
    for coder in ("ana", "ben", "modeller", "model-x"):
        batch = []
        for unit_id in list(TEXTS)[: 5 if coder == "modeller" else 12]:
            mine = {"coder": coder, "unit_id": unit_id, "codebook": CODEBOOK}
            batch += [acts.apply(code=code, **mine) for code in CODES if rng.random() < 0.4]
            batch.append(acts.finish(**mine))
        made.append(batch)
    return made


def test_models_come_where_they_are_asked_for(store: Store) -> None:
    assert "model-x" in store.coders
    for read in (store.decisions, store.codings, store.coverage):
        assert set(read()["coder"]) == {"ana", "ben", "modeller"}
        assert set(read(models=True)["coder"]) == {"ana", "ben", "modeller", "model-x"}
        assert set(read(coder="model-x")["coder"]) == {"model-x"}
    assert len(store.decisions(coder="model-x")) == len(TEXTS) * len(CODES)
    assert "3 coders, 1 model)" in repr(store)


@pytest.mark.long
def test_a_model_has_no_say_in_what_is_agreed(store: Store) -> None:
    own, settled = store.decisions(settled_by="nothing"), store.decisions(settled_by="discussion")
    assert set(own["coder"]) == {"ana", "ben", "modeller"}
    alike = own.groupby(["unit_id", "code"])["applied"].nunique().eq(1)
    assert set(settled.set_index(["unit_id", "code"]).index) == set(alike.index[alike])
    with_model = store.decisions(settled_by="discussion", models=True)
    people = with_model[with_model["coder"] == "consensus"].reset_index(drop=True)
    columns = ["unit_id", "coder", "code", "applied"]
    pd.testing.assert_frame_equal(people[columns], settled[columns])
    assert set(with_model["coder"]) == {"consensus", "model-x"}


def test_no_person_sits_down_as_a_model(store: Store, tmp_path: Path) -> None:
    for widget in (
        CodingWidget,
        AdjudicationWidget,
        CodebookWidget,
        OverviewWidget,
        QuotesWidget,
        ThemesWidget,
    ):
        with pytest.raises(ActError, match="'model-x', which names a model"):
            widget(store, coder="model-x")
    with pytest.raises(ActError, match="names a model"):
        store.assign(coders=["ana", "model-x"], overlap=0.5, coder="lead")
    with pytest.raises(ActError, match="names a model"):
        store.copies.hand_out("one", "model-x", tmp_path / "out")
    with pytest.raises(ActError, match="names a model"):
        store.admin.add_coder("model-x", role="bob")
    with pytest.raises(ActError, match="names a model"):
        acts.contents.AnalysisPlan(question="Why?", coders=("ana", "model-x"))
    with pytest.raises(ActError, match="'model-…' in lower case"):
        acts.finish(coder="Model-x", unit_id="m01", codebook=CODEBOOK)


def test_a_model_codes_in_a_round_of_its_own() -> None:
    named = {"units": ["m01"], "coder": "lead", "codebook": CODEBOOK}
    with pytest.raises(ActError, match="all people, or all models – found 'model-x' among people"):
        rounds.open_round("one", coders=["ana", "model-x"], **named)
    own = rounds.opened([rounds.open_round("model-x", coders=["model-x"], **named)])[0]
    assert own.of_models
    assert not rounds.opened([rounds.open_round("one", coders=["ana", "modeller"], **named)])[0].of_models


def test_the_command_line_refuses_a_models_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame_of(TEXTS)[["unit_id", "text"]].to_csv(tmp_path / "texts.csv", index=False)
    units = corpus.read(tmp_path / "texts.csv", text="text", unit_id="unit_id")
    Store.create(tmp_path / "study", units=units, codebook=CODEBOOK)
    assert main(["code", str(tmp_path / "study"), "--coder", "model-x", "--new", "--no-browser"]) != 0
    assert "names a model" in capsys.readouterr().err


def test_copies_keep_who_is_a_model(tmp_path: Path) -> None:
    made = Store.create(tmp_path / "pilot", units=frame_of(TEXTS), codebook=CODEBOOK)
    for coder in ("ana", "model-x"):
        made.append([acts.finish(coder=coder, unit_id="m01", codebook=CODEBOOK)])
    made.copies.archive(tmp_path / "pilot.zip")
    again = Store.restore(tmp_path / "pilot.zip", tmp_path / "again")
    assert set(again.decisions()["coder"]) == {"ana"}
    assert set(again.decisions(models=True)["coder"]) == {"ana", "model-x"}
