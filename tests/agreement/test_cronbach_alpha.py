from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sense7_qual import links
from sense7_qual.errors import QualError, TableError
from tests.helpers.simulation import studies

DIMENSIONS = ["Affective", "Cognitive", "Response", "Interest"]
# Pingouin's dataset "cronbach_wide_missing": 12 people's answers to 11 questions, "." where there is none.
WIDE = [
    "11111111111",
    "11111111010",
    ".011.111100",
    "11101101100",
    "11111000100",
    "01.01111000",
    "11110010000",
    "11111000000",
    "01011000010",
    "10010100.00",
    "11100000000",
    "10010000000",
]


def rated(
    rng: np.random.Generator, *, participants: int = 40, turns: int = 8, missing: float = 0.0
) -> pd.DataFrame:
    """Ratings 1–5 that share what the participant and the turn are like; each participant has habits."""
    case = np.repeat(np.arange(participants), turns)
    common = 0.7 * rng.standard_normal(participants)[case] + 0.7 * rng.standard_normal(len(case))
    habits = 0.4 * rng.standard_normal((participants, 4))[case]
    values = np.clip(np.round(3 + common[:, None] + habits + rng.standard_normal((len(case), 4))), 1, 5)
    values[rng.random(values.shape) < missing] = np.nan
    units = pd.DataFrame(values, columns=DIMENSIONS)
    return units.assign(unit_id=[f"u{i}" for i in range(len(case))], case_id=[f"p{c}" for c in case])


def alpha(units: pd.DataFrame, **settings: object) -> pd.DataFrame:
    chosen = {"ratings": DIMENSIONS, "cluster": "case_id", "missing": "listwise", **settings}
    return links.scales.internal_consistency(units, **chosen)


def test_published_alpha_and_feldts_interval() -> None:
    """Pingouin's documentation: the wide binary example has alpha .733 (pairwise), as R's psych::alpha."""
    wide = pd.DataFrame([[float("nan" if each == "." else each) for each in row] for row in WIDE])
    wide.columns = [f"Q{number}" for number in range(1, 12)]
    names = list(wide.columns)
    units = wide.assign(unit_id=[str(i) for i in range(len(wide))])
    pairwise = alpha(units, ratings=names, cluster="unit_id", missing="pairwise").iloc[0]
    assert pairwise["alpha"] == pytest.approx(0.732660835214447, abs=1e-12)
    listwise = alpha(units, ratings=names, cluster="unit_id").iloc[0]
    assert listwise["alpha"] == pytest.approx(0.8016949152542373, abs=1e-12)
    assert (listwise["n"], listwise["n_missing"]) == (len(wide.dropna()), len(wide) - len(wide.dropna()))
    # Pingouin 0.7's own interval of the rows left (its listwise interval counts those it left out).
    np.testing.assert_allclose(listwise[["feldt_low", "feldt_high"]].astype(float), [0.533, 0.947], atol=5e-4)


@pytest.mark.long
@pytest.mark.parametrize("missing", ["listwise", "pairwise"])
def test_alpha_is_that_of_the_covariances_of_pandas(missing: str) -> None:
    for seed in range(20):
        units = rated(np.random.default_rng(seed), participants=3 + seed, turns=4, missing=0.01 * seed)
        values = units[DIMENSIONS].dropna() if missing == "listwise" else units[DIMENSIONS]
        covariance = values.cov().to_numpy()
        expected = 4 / 3 * (1 - np.trace(covariance) / covariance.sum())
        assert alpha(units, missing=missing)["alpha"].iloc[0] == pytest.approx(expected, rel=1e-10)


def test_each_rating_is_left_out_in_turn() -> None:
    units = rated(np.random.default_rng(1))
    found = alpha(units).set_index("without")
    assert found.index.isna().tolist() == [True, False, False, False, False]
    without = alpha(units, ratings=["Affective", "Cognitive", "Interest"]).iloc[0]
    assert found.loc["Response", "alpha"] == pytest.approx(without["alpha"])
    assert found.loc["Response", "n_items"] == 3
    covariance = units[DIMENSIONS].cov()
    expected = 4 / 3 * (1 - np.trace(covariance) / covariance.to_numpy().sum())
    assert found["alpha"].iloc[0] == pytest.approx(expected)


@pytest.mark.long
def test_intervals_respect_participants() -> None:
    """Feldt's interval takes rows for independent, and misses the true alpha far too often."""
    rng = np.random.default_rng(2)
    true = alpha(rated(rng, participants=4000)).loc[0, "alpha"]
    ours, feldt = [], []
    for _ in range(50):
        row = alpha(rated(rng, participants=20)).iloc[0]
        ours.append(row["alpha_low"] <= true <= row["alpha_high"])
        feldt.append(row["feldt_low"] <= true <= row["feldt_high"])
    assert 0.84 < np.mean(ours) <= 1
    assert np.mean(feldt) < np.mean(ours)


def test_post_task_ratings_count_once_per_conversation() -> None:
    once = rated(np.random.default_rng(3)).assign(document_id=lambda units: units["unit_id"])
    repeated = pd.concat([once, once.assign(unit_id=once["unit_id"] + "x")])
    pd.testing.assert_frame_equal(alpha(repeated, once_per="document_id"), alpha(once))
    blank = pd.concat([once.assign(unit_id=once["unit_id"] + "x", **dict.fromkeys(DIMENSIONS, np.nan)), once])
    pd.testing.assert_frame_equal(alpha(blank, once_per="document_id"), alpha(once))
    with pytest.raises(TableError, match="same ratings on all turns of a 'case_id'"):
        alpha(once, once_per="case_id")


def test_missing_ratings_are_counted() -> None:
    units = rated(np.random.default_rng(4), missing=0.2)
    complete = int(units[DIMENSIONS].notna().all(axis=1).sum())
    listwise, pairwise = alpha(units).iloc[0], alpha(units, missing="pairwise").iloc[0]
    assert listwise["n"] == complete
    assert listwise["n_missing"] == pairwise["n_missing"] == len(units) - complete
    assert pairwise["n"] == units[DIMENSIONS].notna().any(axis=1).sum()
    covariance = units[DIMENSIONS].cov()
    expected = 4 / 3 * (1 - np.trace(covariance) / covariance.to_numpy().sum())
    assert pairwise["alpha"] == pytest.approx(expected)
    assert np.isnan(pairwise["feldt_low"])
    assert pairwise["alpha_low"] < pairwise["alpha"] < pairwise["alpha_high"]


def test_correlations_are_scipys_and_those_within_are_means() -> None:
    units = rated(np.random.default_rng(5), missing=0.1)
    found = links.scales.dimension_correlations(units, ratings=DIMENSIONS, cluster="case_id")
    assert len(found) == 6
    row = found[(found["rating"] == "Cognitive") & (found["other"] == "Interest")].iloc[0]
    both = units[["case_id", "Cognitive", "Interest"]].dropna()
    assert row["n"] == len(both)
    assert row["spearman"] == pytest.approx(stats.spearmanr(both["Cognitive"], both["Interest"]).statistic)
    own = [
        stats.spearmanr(part["Cognitive"], part["Interest"]).statistic
        for _, part in both.groupby("case_id")
        if len(part) > 2 and part["Cognitive"].nunique() > 1 and part["Interest"].nunique() > 1
    ]
    assert (row["n_within"], row["within"]) == (len(own), pytest.approx(np.mean(own)))
    assert row["spearman_low"] < row["spearman"] < row["spearman_high"]
    assert row["within"] < row["spearman"]


@pytest.mark.simulation
def test_correlation_intervals_cover() -> None:
    rng = np.random.default_rng(6)
    pair = {"ratings": ["Affective", "Interest"], "cluster": "case_id"}
    true = links.scales.dimension_correlations(rated(rng, participants=1500), **pair).loc[0, "spearman"]
    covered = []
    for _ in studies(30):
        row = links.scales.dimension_correlations(rated(rng, participants=20), **pair).iloc[0]
        covered.append(row["spearman_low"] <= true <= row["spearman_high"])
    assert np.mean(covered) > 0.82


def test_what_cannot_be_computed_says_why() -> None:
    units = rated(np.random.default_rng(7))
    assert alpha(units.assign(**dict.fromkeys(DIMENSIONS, 3.0)))["reason"].eq("constant_rating").all()
    assert alpha(units.assign(**dict.fromkeys(DIMENSIONS, np.nan)))["reason"].eq("no_rated_units").all()
    few = alpha(units.assign(case_id="p"))
    assert few["reason"].eq("few_clusters").all()
    assert few["alpha"].notna().all()
    assert few["alpha_low"].isna().all()

    def pair(units: pd.DataFrame) -> pd.Series:
        return links.scales.dimension_correlations(units, ratings=DIMENSIONS[:2], cluster="case_id").iloc[0]

    assert pair(units.assign(Affective=2.0))["reason"] == "constant_rating"
    assert pair(units.assign(Affective=np.nan))["reason"] == "no_rated_units"
    many = pair(units.assign(Affective=np.arange(len(units)) / 7))
    assert many["reason"] == "many_levels"
    assert many["spearman"] == many["spearman"]
    same = pair(units.assign(Affective=units["Cognitive"]))
    assert (same["spearman"], same["reason"]) == (pytest.approx(1), "no_variation_between_clusters")


def test_bad_input_is_refused_in_words() -> None:
    units = rated(np.random.default_rng(8))
    with pytest.raises(TableError, match="two or more different columns of ratings"):
        alpha(units, ratings=["Affective"])
    with pytest.raises(TableError, match="did you mean 'Affective'"):
        alpha(units, ratings=["Afective", "Interest"])
    with pytest.raises(TableError, match="label in column 'case_id'"):
        alpha(units.assign(case_id=None))
    with pytest.raises(QualError, match="'listwise' or 'pairwise'"):
        alpha(units, missing="drop")
    with pytest.raises(QualError, match="confidence_level"):
        alpha(units, confidence_level=0)
