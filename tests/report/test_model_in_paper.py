"""A model that coded through a recorded run: what the paper, the statement and the review say of it."""

from __future__ import annotations

import importlib
import json
import re
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import report
from sense7_qual._basis import Basis
from sense7_qual._present import coefficient
from sense7_qual.acts.contents import settings_of
from sense7_qual.coders import Run
from sense7_qual.report import Text
from sense7_qual.store import Store
from tests.helpers.modelled_study import MODEL, QUICK, add_run, of_people

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Run]:
    store = of_people(tmp_path_factory.mktemp("study"))
    return store, add_run(store)


@pytest.fixture(scope="module")
def folder(made: tuple[Store, Run], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("papers") / "paper"
    report.paper(made[0], None, path, settled_by="rulings", formats=["csv", "md"], progress=False)
    return path


def check_numbers(text: Text, store: Store) -> None:
    """Hold that every number and name of a text is what its call gives."""
    packages = ("acts", "agreement", "codings", "links", "rounds", "suggestions")
    names: dict[str, Any] = {name: importlib.import_module(f"sense7_qual.{name}") for name in packages}
    names |= {"store": store, "json": json, "metadata": metadata, "Basis": Basis}
    known: dict[str, Any] = {}
    for row in text.frame.itertuples():
        if row.call not in known:
            known[row.call] = eval(row.call, names)  # noqa: S307
        value = eval(f"it{row.where}", names | {"it": known[row.call]}) if row.where else known[row.call]  # noqa: S307
        if isinstance(value, float | np.floating):
            assert float(value) == pytest.approx(float(row.value), abs=1e-12), row.sentence
        else:
            assert str(value) == str(row.value), row.sentence


def test_every_number_of_the_statement_on_ai_is_that_of_its_call(made: tuple[Store, Run]) -> None:
    store, run = made
    text = report.ai_statement(store, n_boot=20)
    check_numbers(text, store)
    told = str(text)
    settings = settings_of(store.acts(kind="describe")[0])
    for code, prompt in settings["prompts"].items():
        assert f"{code} {prompt}" in told
    lost, n = len(run.refused), len(run.answers)
    assert f"{lost} answers had no decision ({100 * lost / n:.1f}%): {lost} – the model says" in told
    assert "Each prompt asked about one code alone" in told
    assert "It was not asked again" in told
    assert "Its codes were not suggested to coders." in told
    assert "Among people, Krippendorff's alpha" in told
    assert "cross-kappa" in told
    assert not any("For each model" in question for question in text.questions)


def test_the_sentence_of_the_methods_is_that_of_the_card(made: tuple[Store, Run], folder: Path) -> None:
    methods = report.methods(made[0], settled_by="rulings", rating="Warmth", n_boot=20)
    sentence = next(str(one) for one in methods.sentences if "the sensitivity of" in str(one))
    table = pd.read_csv(folder / "model_card.csv", dtype=str)
    value = table.set_index("Measure")["Value"]
    ends = [end for name in ("Sensitivity", "Specificity") for end in (min(value[name]), max(value[name]))]
    assert re.findall(r"(?:1)?\.\d\d", sentence) == ends
    assert (
        f"On {table.set_index('Measure').loc['Prevalence, people', 'n'].astype(int).max()} texts" in sentence
    )
    rows = methods.frame
    told = rows[rows["call"].str.contains("model_card")]
    assert {coefficient(one, 2) for one in told["value"] if isinstance(one, float)} == set(ends)


def test_the_paper_has_the_table_the_card_and_the_figure(made: tuple[Store, Run], folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    assert {"models.md", "model_card.md", "model_card_plot.png"} <= names
    foot = (folder / "model_card.md").read_text("utf-8")
    for words in (
        "as if drawn at random",
        "Not measured: the code in texts of fewer than 10 participants",
        "m-2026-01-01",
        "sha256",
    ):
        assert words in foot
    alone = report.paper(
        made[0],
        None,
        folder.parent / "without",
        settled_by="any",
        formats=["md"],
        with_agreement=False,
        with_prose=False,
        progress=False,
    )
    assert dict(alone.left_out.itertuples(index=False))["models"] == "the analysis plan is without agreement"


def test_a_reviewer_asks_for_what_a_model_lacks(made: tuple[Store, Run], tmp_path: Path) -> None:
    def kinds(store: Store) -> list[str]:
        found = report.review(store, n_boot=20, rating="Warmth").frame["kind"]
        return [kind for kind in found if kind.startswith("model_")]

    assert kinds(made[0]) == []
    poor = of_people(tmp_path)
    add_run(poor, unsure=0.8)
    assert kinds(poor) == ["model_not_measured", "model_missing"]
    assert MODEL in report.review(poor, n_boot=20).frame["seen"].str.cat()


def test_a_model_or_prompt_that_was_not_planned_is_a_deviation(tmp_path: Path) -> None:
    planned = replace(QUICK, models=("m-2026-01-01",), prompts=("plain-1@sha256:0",))
    store = of_people(tmp_path, plan=planned)
    run = add_run(store)
    prompts = tuple(dict(run.card)["prompts"].values())
    found = report.deviations(store).frame.set_index("kind")
    assert "model_changed" not in found.index
    assert found.loc["prompt_changed", "n"] == len(set(prompts))
    assert all(prompt in found.loc["prompt_changed", "done"] for prompt in prompts)
    assert "plain-1@sha256:0" in str(report.tables.preregistration(store).rows)
