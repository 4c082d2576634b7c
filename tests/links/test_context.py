from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual import links
from sense7_qual.errors import QualError, TableError
from tests.helpers.simulation import studies


def study(rng: np.random.Generator, *, participants: int = 30, new: float = 0.0) -> pd.DataFrame:
    """Conversations of five turns, four a participant, each under one of three conditions."""
    case = np.repeat(np.arange(participants), 4)
    condition = rng.integers(0, 3, len(case))
    importance = rng.integers(1, 6, len(case))
    level = (
        0.5 * rng.standard_normal(participants)[case]
        + 0.7 * rng.standard_normal(len(case))
        + new * (condition == 1)
    )
    turn = np.repeat(np.arange(len(case)), 5)
    rating = np.clip(np.round(3 + level[turn] + 0.7 * rng.standard_normal(len(turn))), 1, 5)
    return pd.DataFrame(
        {
            "unit_id": [f"u{i}" for i in range(len(turn))],
            "case_id": [f"p{c}" for c in case[turn]],
            "document_id": [f"d{d}" for d in turn],
            "system": np.array(["A", "B", "C"])[condition][turn],
            "importance": importance[turn],
            "empathy": rating,
        }
    )


def context(units: pd.DataFrame, **settings: object) -> pd.DataFrame:
    chosen = {"rating": "empathy", "variables": ["system", "importance"], "cluster": "case_id", **settings}
    return links.context(units, **chosen)


@pytest.mark.long
def test_effects_are_least_squares_and_errors_leave_participants_out() -> None:
    import statsmodels.formula.api as smf

    units = study(np.random.default_rng(1), new=0.5)
    formula = "empathy ~ C(system) + importance"
    expected = smf.ols(formula, units).fit().params
    found = context(units)
    system = found[found["variable"] == "system"].set_index("level")
    importance = found[(found["variable"] == "importance") & found["level"].isna()].iloc[0]
    assert system.loc["B", "mean_difference"] == pytest.approx(expected["C(system)[T.B]"])
    assert importance["mean_difference"] == pytest.approx(expected["importance"])
    # The jackknife by its definition: one fit without each participant.
    cases = units["case_id"].unique()
    without = pd.DataFrame(smf.ols(formula, units[units["case_id"] != c]).fit().params for c in cases)
    error = np.sqrt((len(cases) - 1) ** 2 / len(cases) * without["C(system)[T.B]"].var())
    row = system.loc["B"]
    from scipy import stats

    half = stats.t.ppf(0.975, len(cases) - 1) * error
    assert row["high"] - row["mean_difference"] == pytest.approx(half)
    assert row["p"] == pytest.approx(2 * stats.t.sf(abs(row["mean_difference"]) / error, len(cases) - 1))


def test_rows_say_what_they_are() -> None:
    units = study(np.random.default_rng(2))
    found = context(units)
    assert found["variable"].tolist() == ["system"] * 4 + ["importance"] * 6
    assert found["level"].isna().sum() == 2
    own = found[found["level"].isna()].set_index("variable")
    assert own["df"].tolist() == [2, 1]
    assert own["p"].between(0, 1).all()
    levels = found[found["variable"] == "system"].iloc[1:]
    assert levels["reference"].tolist() == ["A"] * 3
    assert levels["n_units"].sum() == len(units)
    assert levels["mean"].tolist() == units.groupby("system")["empathy"].mean().tolist()
    single = found[(found["variable"] == "importance")].iloc[0]
    assert single["statistic"] == pytest.approx(_t(single) ** 2)


def _t(row: pd.Series) -> float:
    from scipy import stats

    error = (row["high"] - row["mean_difference"]) / stats.t.ppf(0.975, row["n_clusters"] - 1)
    return float(row["mean_difference"] / error)


def test_the_first_category_is_the_reference() -> None:
    units = study(np.random.default_rng(3))
    ordered = units.assign(system=pd.Categorical(units["system"], ["C", "never", "A", "B"]))
    found = context(ordered, variables="system")
    assert found["level"].fillna("").tolist() == ["", "C", "A", "B"]
    assert set(found["reference"].dropna()) == {"C"}
    truth = context(units.assign(helped=units["importance"] > 3), variables="helped")
    assert truth["level"].fillna("").tolist() == ["", "False", "True"]


@pytest.mark.long
def test_a_condition_without_effect_is_seldom_found_although_conversations_cluster() -> None:
    """Row-wise regression finds it in far more than 5 % of studies."""
    import statsmodels.formula.api as smf

    rng = np.random.default_rng(4)
    p, naive = [], []
    for _ in range(60):
        units = study(rng, participants=25)
        p.append(context(units, variables="system").loc[0, "p"])
        naive.append(smf.ols("empathy ~ system", units).fit().f_pvalue)
    assert np.mean(np.array(p) < 0.05) < 0.14
    assert np.mean(np.array(naive) < 0.05) > 0.2


@pytest.mark.simulation
def test_intervals_cover_the_effect() -> None:
    rng = np.random.default_rng(5)
    large = context(study(rng, participants=8000, new=0.6), variables="system").loc[2, "mean_difference"]
    covered = []
    for _ in studies(50):
        row = context(study(rng, participants=25, new=0.6), variables="system").loc[2]
        covered.append(row["low"] <= large <= row["high"])
    assert np.mean(covered) > 0.86


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"empathy": 3.0}, "constant_rating"),
        ({"empathy": np.nan}, "no_rated_units"),
        ({"system": "A"}, "constant_variable"),
        ({"case_id": "p"}, "few_clusters"),
        ({"importance": lambda units: 1.0 * (units["system"] == "B")}, "collinear_predictors"),
        (
            {"system": lambda units: units["system"].mask(units["case_id"] == "p0", "D")},
            "level_in_few_clusters",
        ),
    ],
)
def test_what_cannot_be_computed_says_why(change: dict[str, object], reason: str) -> None:
    found = context(study(np.random.default_rng(6)).assign(**change)).set_index("variable").loc[["system"]]
    assert set(found["reason"]) == {reason}
    assert found["p"].isna().all()


def test_rows_without_a_variable_are_left_out_and_counted() -> None:
    units = study(np.random.default_rng(7))
    holed = units.assign(importance=units["importance"].astype(float).where(units.index % 10 > 0))
    found = context(holed)
    assert set(found["n_missing"]) == {len(units) // 10}
    expected = context(holed.dropna(subset=["importance"])).drop(columns="n_missing")
    pd.testing.assert_frame_equal(found.drop(columns="n_missing"), expected)


def test_bad_input_is_refused_in_words() -> None:
    units = study(np.random.default_rng(8))
    with pytest.raises(TableError, match="one or more different columns as variables"):
        context(units, variables=[])
    with pytest.raises(TableError, match="without the rating"):
        context(units, variables=["empathy"])
    with pytest.raises(TableError, match="did you mean 'system'"):
        context(units, variables=["sistem"])
    with pytest.raises(TableError, match="at most 30 levels in column 'unit_id'"):
        context(units, variables=["unit_id"])
    with pytest.raises(TableError, match="finite numbers in column 'importance'"):
        context(units.assign(importance=np.inf))
    with pytest.raises(QualError, match="confidence_level"):
        context(units, confidence_level=2)
