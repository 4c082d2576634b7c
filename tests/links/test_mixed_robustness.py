"""The mixed model on small and uneven studies: it gives estimates or a reason, and never dies."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from benchmarks import mixed_robustness
from sense7_qual import links
from sense7_qual.links.models import _maximise
from sense7_qual.links.models._likelihood import Integral
from tests.helpers.places import PUBLISHED

ROWS = PUBLISHED / "ordinal_158_rows.csv"
Study = tuple[pd.Series, pd.DataFrame, pd.Series]


def uneven() -> Study:
    """Return a study on which a search without a bound on its first step ended in no numbers.

    A few of 13 participants gave most of the 67 ratings, and the lowest level occurs once.
    """
    rng = np.random.default_rng([5, 3107])
    participants = int(rng.integers(8, 41))
    sizes = np.clip(rng.lognormal(1.5, 1.2, participants).astype(int), 1, 40)
    case = np.repeat(np.arange(participants), sizes)
    code = (rng.random(len(case)) < 0.3).astype(np.float64)
    latent = 0.8 * code + rng.choice([0.5, 1.0, 1.5, 2.0]) * rng.standard_normal(participants)[case]
    latent += rng.logistic(size=len(case))
    rating = 1 + np.searchsorted([-4, -2.5, 0, 1.2], latent)
    return pd.Series(rating), pd.DataFrame({"code": code}), pd.Series(case)


def decided(applied: dict[str, np.ndarray], rating: pd.Series, case: pd.Series) -> list[pd.DataFrame]:
    unit_id = [f"u{i}" for i in range(len(rating))]
    decisions = [
        pd.DataFrame({"unit_id": unit_id, "coder": "ana", "code": code, "applied": values})
        for code, values in applied.items()
    ]
    cases = case.map("p{}".format)
    return [pd.concat(decisions), pd.DataFrame({"unit_id": unit_id, "case_id": cases, "rating": rating})]


def test_an_uneven_study_as_in_r() -> None:
    """R 4.2.2, ordinal 2022.11.16: clmm(factor(rating) ~ code + (1 | case), nAGQ = 10) on `uneven()`."""
    rating, predictors, case = uneven()
    model = links.models.cumulative_mixed(rating, predictors, groups=case)
    assert model.coefficients["code"] == pytest.approx(0.888683, abs=1e-4)
    assert model.standard_errors["code"] == pytest.approx(0.606347, abs=1e-4)
    assert model.cluster_variance == pytest.approx(1.88668, abs=1e-3)
    assert model.log_likelihood == pytest.approx(-72.1380647, abs=1e-5)
    assert model.thresholds.tolist() == pytest.approx([-4.906112, -3.688643, 0.626967, 1.890661], abs=1e-4)


@pytest.mark.long
def test_no_row_that_is_left_out_makes_an_uneven_study_die() -> None:
    rating, predictors, case = uneven()
    reasons = []
    for row in rating.index:
        kept = rating.index != row
        model = links.models.cumulative_mixed(rating[kept], predictors[kept], groups=case[kept])
        reasons.append(model.reason)
        assert np.isfinite(model.standard_errors["code"])
    assert set(reasons) == {None}


def test_the_table_stands_where_a_code_would_have_ended_the_search() -> None:
    rating, predictors, case = uneven()
    other = np.random.default_rng(1).random(len(rating)) < 0.5
    decisions, units = decided({"c": predictors["code"] > 0, "d": other}, rating, case)
    table = links.code_to_rating(
        decisions, units, rating="rating", cluster="case_id", seed=1, n_boot=20, details=True
    )
    row = table.set_index(["code", "source"]).loc[("c", "ana")]
    assert row["mixed_odds_ratio"] == pytest.approx(np.exp(0.888683), abs=1e-3)
    assert np.isfinite(table["odds_ratio"]).all()


@pytest.mark.long
def test_158_rows_as_in_r() -> None:
    """R's clmm: coefficient .829, variance of the participants 2.33; and with any row left out, estimates."""
    study = pd.read_csv(ROWS)
    code = study[["applied"]].astype(np.float64)
    model = links.models.cumulative_mixed(study["rating"], code, groups=study["case_id"])
    assert model.coefficients["applied"] == pytest.approx(0.829, abs=1e-3)
    assert model.cluster_variance == pytest.approx(2.33, abs=5e-3)
    for row in study.index[::4]:
        kept = study.index != row
        left = links.models.cumulative_mixed(study["rating"][kept], code[kept], groups=study["case_id"][kept])
        assert left.reason is None


@pytest.mark.long
def test_small_studies_of_every_kind_have_estimates_or_a_reason() -> None:
    """The first of the 5,000 of benchmarks/mixed_robustness.py."""
    counts, errors = mixed_robustness.counted(mixed_robustness.of_the_model, range(40))
    assert errors == []
    assert counts["not_converged"] == 0
    assert counts["estimates"] + counts["estimates, variance 0"] > 25
    counts, errors = mixed_robustness.counted(mixed_robustness.of_the_table, range(4))
    assert errors == []


def test_a_likelihood_that_is_no_number_is_a_reason_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the search meets, the code has a row with its other numbers."""
    rating, predictors, case = uneven()
    integrate = _maximise.integrate

    def nowhere(*given: object, **settings: object) -> Integral:
        found = integrate(*given, **settings)  # type: ignore[arg-type]
        return dataclasses.replace(found, gradient=found.gradient * np.nan)

    monkeypatch.setattr(_maximise, "integrate", nowhere)
    model = links.models.cumulative_mixed(rating, predictors, groups=case)
    assert model.reason == "not_converged"
    assert model.coefficients.isna().all()
    decisions, units = decided({"c": predictors["code"] > 0}, rating, case)
    row = links.code_to_rating(
        decisions, units, rating="rating", cluster="case_id", sources=["ana"], seed=1, n_boot=20
    ).iloc[0]
    assert row["odds_ratio_reason"] == "not_converged"
    assert np.isnan(row["odds_ratio"])
    assert np.isfinite(row["rank_biserial"])


def test_estimating_equations_that_meet_a_singular_matrix_are_not_solved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from statsmodels.genmod.generalized_estimating_equations import OrdinalGEE

    def singular(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(OrdinalGEE, "fit", singular)
    rating, predictors, case = uneven()
    model = links.models.marginal(rating, predictors, groups=case)
    assert model.reason == "not_converged"
    assert model.coefficients.isna().all()
