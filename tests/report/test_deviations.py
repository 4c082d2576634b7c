"""A study beside what it had registered: each planted departure is found, and without one there is none."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts, corpus, report
from sense7_qual.errors import ArgumentError
from sense7_qual.report._deviations import CHECKS, FIELDS, of_analysis
from sense7_qual.store import Store
from tests.helpers.nightly import nightly_but
from tests.helpers.planned_study import BEFORE, DEVIATIONS, NAMED, PLAN, planned_study
from tests.helpers.reviewed_study import study
from tests.helpers.simulation import studies

pytestmark = pytest.mark.long

#: What goes with some: texts that are not finished are not double-coded either, say.
WITH = {
    "registered_late": {"registered_after_unblinding"},
    "registered_after_unblinding": {"registered_late"},
    "coder_added": {"coder_missing", "fewer_texts"},
    "fewer_double_coded": {"alpha_missed"},
    "suggestions_otherwise": {"fewer_double_coded"},
    "discussion_added": {"round_added"},
    "codes_merged_or_split": {"left_unsettled"},
    "unblinded_early": {"fewer_double_coded", "fewer_texts"},
}


def test_a_study_that_keeps_its_plan_has_no_deviation(tmp_path: Path) -> None:
    found = {seed: report.deviations(planned_study(tmp_path / f"s{seed}", seed=seed)) for seed in studies(2)}
    assert {seed: one.frame["kind"].tolist() for seed, one in found.items() if one} == {}
    assert "Nothing was done differently" in found[0].table.markdown()


@pytest.mark.parametrize("deviation", nightly_but(DEVIATIONS, here=[*DEVIATIONS][::5]))
def test_a_planted_deviation_is_found(deviation: str, tmp_path: Path) -> None:
    store = planned_study(tmp_path / "study", seed=11, deviation=deviation)
    found = {one.kind: one for one in report.deviations(store)}
    assert deviation in found
    assert set(found) - {deviation} <= WITH.get(deviation, set())
    one = found[deviation]
    assert one.n > 0
    assert all(text.endswith(".") and len(text) > 5 for text in (one.planned, one.done))


def test_what_is_planted_is_all_that_is_looked_at() -> None:
    assert len(DEVIATIONS) == len(set(DEVIATIONS)) == 32
    # That other models or prompts were asked is planted in test_model_in_paper.py, where a model has coded.
    assert len(CHECKS) == 17


def test_what_a_plan_leaves_open_cannot_be_departed_from(tmp_path: Path) -> None:
    plan = acts.contents.AnalysisPlan(question="What do people say of it?")
    assert len(report.deviations(study(tmp_path / "study", flaw="unsettled", plan=plan))) == 0


def test_the_last_plan_before_coding_counts_and_later_ones_are_told(tmp_path: Path) -> None:
    store = study(tmp_path / "study", plan=replace(PLAN, n_units=7, level="span"))
    store.append([acts.preregister(PLAN, coder="chair", codebook=store.codebook, at=BEFORE)])
    assert len(report.deviations(store)) == 0
    store.append([acts.preregister(replace(PLAN, n_units=7, level="span"), **NAMED)])
    (amended,) = report.deviations(store)
    assert (amended.kind, amended.n) == ("amended", 2)
    assert "n_units, level" in amended.done


def test_the_chain_proves_the_order_where_clocks_lie(tmp_path: Path) -> None:
    """A plan that is dated back stands behind the unblinding in the chain of its writer."""
    store = study(tmp_path / "study")
    store.append([acts.preregister(PLAN, at="2026-03-01T09:00:00.000Z", **NAMED)])
    found = report.deviations(store)
    assert found.frame["kind"].tolist() == ["registered_after_unblinding"]
    assert "acts after the first unblinding in the chain of lead's acts" in found.registered
    kept = report.deviations(planned_study(tmp_path / "kept"))
    assert "2 acts before the first unblinding in the chain" in kept.registered
    assert PLAN.fingerprint in kept.registered


def test_the_clocks_tell_where_somebody_else_unblinded(tmp_path: Path) -> None:
    store = study(tmp_path / "study")
    named = {"coder": "chair", "codebook": store.codebook}
    store.append([acts.preregister(PLAN, at="2026-03-01T09:00:00.000Z", **named)])
    found = report.deviations(store)
    assert len(found) == 0
    assert "before the first unblinding (by lead), going by their computers' clocks" in found.registered


#: For each field of a plan, what is registered and what else is analysed. A new field needs a row.
ELSE: dict[str, tuple[object, object]] = {
    "question": ("Why?", "What for?"),
    "hypotheses": (("Warm texts are rated higher.",), ("Cold texts are rated lower.",)),
    "coders": (("ana", "ben"), ("ana", "cleo")),
    "rounds": (("one",), ("two",)),
    "n_units": (160, 150),
    "n_participants": (40, 39),
    "double_coded": (0.375, 0.25),
    "n_repeated": (0, 10),
    "level": ("unit", "span"),
    "codebook": ("fixed", "open"),
    "blind": (True, False),
    "new_codes": ("propose", "add"),
    "rating_shown": ("hidden", "shown"),
    "suggestions": ("never", "finished"),
    "models": (("small-1",), ("small-2",)),
    "prompts": (("plain@sha256:0123456789abcdef",), ("plain@sha256:fedcba9876543210",)),
    "themes": (False, True),
    "discussion": (False, True),
    "settled_by": ("rulings", "majority"),
    "coding_until": ("2026-03-02", "2026-03-03"),
    "with_agreement": (True, False),
    "min_alpha": (0.667, 0.6),
    "rating": ("Warmth", "Trust"),
    "cluster": ("case_id", "document_id"),
    "conditions": (("Site",), ("Site", "Model")),
    "adjust": ("max-t", "bh"),
    "equivalence": (("rank_biserial", 0.2), ("odds_ratio", 1.5)),
    "hypothesis": ("within", "between"),
    "n_boot": (2000, 1000),
    "seed": (0, 7),
    "answers": ({"aims": "To explore."}, {"aims": "To confirm."}),
}


@pytest.mark.parametrize("field", [one.name for one in fields(acts.contents.AnalysisPlan)])
def test_every_field_that_is_analysed_otherwise_is_told(field: str) -> None:
    planned, done = (
        acts.contents.AnalysisPlan(**{"question": "Why?"} | {field: value}) for value in ELSE[field]
    )
    (told,) = of_analysis(planned, done)
    assert (told.kind, told.n) == (f"analysed_{field}", 1)
    assert told.planned.startswith(f"{FIELDS[field]}: ")
    assert told.done.startswith("Analysed: ")
    assert told.planned.partition(": ")[2] != told.done.partition(": ")[2]
    assert not list(of_analysis(planned, planned))


def test_a_rating_of_which_the_plan_says_nothing_is_told_and_an_open_field_is_not() -> None:
    plan = acts.contents.AnalysisPlan(question="Why?")
    added = replace(plan, rating="Warmth", hypotheses=("It rises.",), n_units=10, cluster="case_id")
    assert [one.kind for one in of_analysis(plan, added)] == ["analysed_hypotheses", "analysed_rating"]
    assert [one.kind for one in of_analysis(added, plan)] == ["analysed_hypotheses", "analysed_rating"]


@pytest.mark.nightly
def test_a_paper_prints_what_it_analyses_otherwise(tmp_path: Path) -> None:
    store = rated_study(tmp_path / "study", replace(PLAN, rating="Warmth", n_boot=20))
    other = replace(PLAN, rating="Trust", question="What for?", seed=3, n_boot=30)
    report.paper(store, other, tmp_path / "paper", formats=["md"], with_prose=False)
    printed = (tmp_path / "paper" / "deviations.md").read_text("utf-8")
    for row in (
        "Rating that codes are linked to: Warmth. | Analysed: Trust.",
        "| Analysed: What for?",
        "Seed of the intervals: 0. | Analysed: 3.",
        "resamples: 20. | Analysed: 30.",
    ):
        assert row in printed
    report.paper(store, None, tmp_path / "as_planned", formats=["md"], with_prose=False)
    assert "Analysed" not in (tmp_path / "as_planned" / "deviations.md").read_text("utf-8")


def rated_study(path: Path, plan: acts.contents.AnalysisPlan) -> Store:
    """Make the planned study anew with two ratings, its units read from a file."""
    made = study(path.with_name("first"), plan=plan)
    file = path.with_name("units.csv")
    made.units.assign(
        Warmth=[1 + i * 7 % 5 for i in range(160)], Trust=[1 + i * 3 % 5 for i in range(160)]
    ).to_csv(file, index=False)
    units = corpus.read(
        file,
        text="text",
        unit_id="unit_id",
        document_id="document_id",
        case_id="case_id",
        position="position",
        ratings=["Warmth", "Trust"],
    )
    store = Store.create(path, units=units, codebook=made.codebook)
    for coder in made.coders:
        store.append(made.acts(coder=coder))
    return store


def test_without_a_plan_or_a_study_it_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"store\.preregister"):
        report.deviations(study(tmp_path / "study"))
    with pytest.raises(ArgumentError, match="open study"):
        report.deviations(pd.DataFrame())  # type: ignore[arg-type]


def test_the_form_is_filled_from_plan_and_study_and_asks_for_the_rest(tmp_path: Path) -> None:
    plan = replace(PLAN, answers={"sampling": "All who stayed.", "positionality": "Two of us built it."})
    store = study(tmp_path / "study", plan=plan)
    table = report.tables.preregistration(store)
    answers = dict(table.rows)
    assert (
        answers["Sampling and case selection"]
        == "All who stayed.\nTo be coded: 160 texts of 40 participants."
    )
    assert answers["Data sources and types"].startswith("160 texts by 40 participants from 1 document")
    assert answers["Positionality"] == "Two of us built it."
    assert ".667" in answers["Credibility strategies"]
    n_open = sum(answer.startswith("To be answered: ") for answer in answers.values())
    assert n_open == 8
    assert "8 of 16 items are answered. Registered 2026-03-01 09:00 UTC by lead." in table.notes[1]
    assert plan.fingerprint in table.notes[1]
    draft = replace(plan, with_agreement=False, double_coded=None, min_alpha=None)
    asked = report.tables.preregistration(store, draft)
    assert "Not registered yet" in asked.notes[1]
    assert "alpha" not in asked.markdown()
    with pytest.raises(ArgumentError, match="none is registered"):
        report.tables.preregistration(study(tmp_path / "other"))
