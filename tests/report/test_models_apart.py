"""A model that coded a study: no table, figure or sentence counts it as a person, and the methods name it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sense7_qual import acts, agreement, exchange, report, rounds
from sense7_qual.store import Store
from tests.helpers.modelled_study import MODEL, QUICK, of_people
from tests.helpers.overview import Viewer
from tests.helpers.reviewed_study import CODERS

pytestmark = pytest.mark.long


def add_model(store: Store) -> None:
    """Let a model code every text, at random, in a round of its own that is unblinded."""
    rng, book = np.random.default_rng(3), store.codebook
    ids = store.units["unit_id"].tolist()
    store.append([rounds.open_round(MODEL, units=ids, coders=[MODEL], coder="lead", codebook=book)])
    for unit_id in ids:
        mine = {"coder": MODEL, "unit_id": unit_id, "codebook": book, "round": MODEL}
        applied = [acts.apply(code=code.id, **mine) for code in book.codes if rng.random() < 0.5]
        store.append([*applied, acts.finish(**mine)])
    store.append([rounds.unblind(MODEL, coder="lead", codebook=book)])


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Store]:
    both = [of_people(tmp_path_factory.mktemp("study")) for _ in range(2)]
    add_model(both[1])
    return both[0], both[1]


@pytest.mark.nightly
def test_a_paper_has_the_same_tables_figures_and_results(stores: tuple[Store, Store], tmp_path: Path) -> None:
    folders = [tmp_path / "people", tmp_path / "with"]
    for store, folder in zip(stores, folders, strict=True):
        report.paper(
            store,
            None,
            folder,
            settled_by="rulings",
            formats=["csv", "md"],
            conditions=["Warmth"],
            progress=False,
        )
    names = [sorted(path.name for path in folder.iterdir()) for folder in folders]
    assert {name.partition(".")[0] for name in set(names[1]) - set(names[0])} == {
        "models",
        "model_card",
        "model_card_plot",
    }
    assert set(names[0]) <= set(names[1])
    # Which the basis says, and nothing else does.
    left_out = re.compile(r" · left out: 160 by model\\?-x".encode())
    differing = {
        name
        for name in names[0]
        if (folders[0] / name).read_bytes() != left_out.sub(b"", (folders[1] / name).read_bytes())
    }
    # These tell of the model, and of how many acts are on record; paper.json has their hashes.
    assert {name.partition(".")[0] for name in differing} <= {
        "methods",
        "use_of_ai",
        "checklist_coreq",
        "checklist_srqr",
        "paper",
        "review",
    }
    sentence = (
        "In addition, “model-x” coded 160 texts; no number on people's coding counts a model as a coder."
    )
    methods = (folders[1] / "methods.md").read_text("utf-8")
    assert sentence in methods
    assert "coded by 3 coders" in methods
    assert "“model-x”, " not in methods.replace(sentence, "")
    assert "the sensitivity of “model-x” was between" in methods
    results = [(folder / "results.md").read_bytes() for folder in folders]
    assert left_out.sub(b"", results[1]) == results[0]


def test_the_numbers_of_the_methods_are_those_of_their_calls(stores: tuple[Store, Store]) -> None:
    rows = report.methods(stores[1], settled_by="rulings", n_boot=20).frame
    told = rows[rows["call"].str.contains("models=True")]
    assert {"160", "model-x"} <= set(told["printed"].str.split(" ").str[0])
    coverage = stores[1].coverage(models=True)
    assert coverage.loc[coverage["coder"] == MODEL, "unit_id"].nunique() == 160


def test_what_a_reviewer_objects_to_and_deviations_are_the_same(stores: tuple[Store, Store]) -> None:
    reviews = [report.review(store, n_boot=20, rating="Warmth").frame for store in stores]
    own = reviews[1]["kind"].str.startswith("model_")
    assert reviews[1].loc[own, "kind"].tolist() == ["model_not_described"]
    pd.testing.assert_frame_equal(reviews[0], reviews[1][~own].reset_index(drop=True))
    pd.testing.assert_frame_equal(*(report.deviations(store).frame for store in stores))


def test_the_statement_on_ai_finds_the_model_by_itself(stores: tuple[Store, Store]) -> None:
    without, told = (str(report.ai_statement(store, n_boot=20)) for store in stores)
    assert "no use of a model" in without
    assert "no use of a model" not in told
    assert "“model-x” (160 texts)" in told
    rows = agreement.human_model(stores[1].decisions(models=True), n_boot=20)
    assert rows["model"].dropna().unique().tolist() == [MODEL]


def test_the_overview_shows_people_alone(stores: tuple[Store, Store]) -> None:
    parts = [Viewer(store, coder="lead").look() for store in stores]
    Viewer.end()
    assert MODEL not in json.dumps(parts[1])
    for kind, part in parts[0].items():
        for name, shown in part.items():
            if name not in ("at", "revision", "id", "client"):
                assert parts[1][kind][name] == shown, (kind, name)


def test_exports_keep_the_model_by_its_name_and_reliability_has_people_alone(
    stores: tuple[Store, Store], tmp_path: Path
) -> None:
    store = stores[1]
    for table in ("texts", "codings", "reliability"):
        exchange.export(store, tmp_path / f"{table}.csv", table=table)
    texts, codings, reliability = (
        pd.read_csv(tmp_path / f"{name}.csv") for name in ("texts", "codings", "reliability")
    )
    assert texts["c0.model-x"].notna().all()
    assert (codings["coder"] == MODEL).sum() == (store.codings(coder=MODEL)).shape[0]
    assert set(reliability) == {"unit_id", "code", *CODERS}
    exchange.write_project(store, tmp_path / "study.qdpx")
    project = exchange.read_project(tmp_path / "study.qdpx")
    assert (project.codings["coder"] == MODEL).sum() == (codings["coder"] == MODEL).sum()
    with pytest.warns(UserWarning, match=MODEL):
        agreement.by_code(project.decisions(), n_boot=5)


@pytest.mark.nightly
def test_a_bundle_counts_people_and_models_apart(stores: tuple[Store, Store], tmp_path: Path) -> None:
    stores[1].copies.bundle(
        tmp_path / "bundle", texts="withheld", analysis_plan=QUICK, formats=["csv"], progress=None
    )
    assert "of 4 people and 1 model," in (tmp_path / "bundle" / "README.md").read_text("utf-8")
    again = Store(tmp_path / "bundle")
    pd.testing.assert_frame_equal(again.decisions(models=True), stores[1].decisions(models=True))
    assert set(again.decisions()["coder"]) == set(CODERS)


def test_a_table_of_agreement_with_models_says_so(stores: tuple[Store, Store]) -> None:
    decisions = stores[1].decisions(models=True)
    told = [
        report.tables.reliability(agreement.by_code(frame, with_models=asked, n_boot=5)).notes[1]
        for frame, asked in ((stores[1].decisions(), False), (decisions, True))
    ]
    assert "(number of coders: 3)" in told[0]
    assert "(number of coders: 4, models among them: 1)" in told[1]
