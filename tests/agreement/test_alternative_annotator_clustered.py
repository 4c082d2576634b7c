"""The alternative annotator test of ratings, and over participants: by hand, statsmodels, simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import t as students

from sense7_qual import agreement
from sense7_qual.agreement._intervals._bootstrap import effective_clusters
from sense7_qual.agreement.diagnosis import alternative_annotator_test
from sense7_qual.errors import ArgumentError, TableError

pytestmark = pytest.mark.filterwarnings("ignore:alternative_annotator_test:RuntimeWarning")


def rated(n: int, each: int, seed: int, *, stray: float = 0.8) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Three humans and a model rate texts; on some participants the model is far off, on others near."""
    rng = np.random.default_rng(seed)
    case = np.repeat(np.arange(n), rng.integers(each // 2, each + each // 2, size=n))
    truth = rng.integers(1, 6, size=len(case))
    own = rng.normal(size=(3, len(case))) * 0.9
    model = rng.normal(size=len(case)) * np.exp(stray * rng.normal(size=n))[case]
    values = np.clip(np.round(truth + np.vstack([own, model])), 1, 5)
    ids = [f"u{place}" for place in range(len(case))]
    sheet = pd.DataFrame(values.T, columns=["ana", "ben", "cleo", "model-a"])
    units = pd.DataFrame({"unit_id": ids, "case_id": [f"p{one}" for one in case]})
    return agreement.from_wide(sheet.assign(unit_id=ids), coders="columns"), units


@pytest.mark.parametrize("distance", ["absolute", "squared"])
def test_ratings_are_scored_by_their_distance_from_the_other_humans(distance: Any) -> None:
    """The steps with −|difference| (the paper) and −RMSE (its authors' code), with values missing."""
    power = {"absolute": 1, "squared": 2}[distance]
    values, _ = rated(12, 6, seed=1)
    holes = values.mask(np.random.default_rng(2).random(values.shape) < 0.2)
    test = alternative_annotator_test(holes, epsilon=0.1, by="rating", distance=distance, fewest_units=10)
    humans = ["ana", "ben", "cleo"]
    for row in test.humans.itertuples():
        ahead = []
        for _, unit in holes.iterrows():
            others = [unit[one] for one in humans if one != row.human and not np.isnan(unit[one])]
            if others and not np.isnan(unit[str(row.human)]) and not np.isnan(unit["model-a"]):
                apart = [np.abs(np.array(others) - unit[one]) ** power for one in (row.human, "model-a")]
                scores = [-(np.mean(one) ** (1 / power)) for one in apart]
                ahead.append((scores[1] >= scores[0] - 1e-12, scores[0] >= scores[1] - 1e-12))
        of_model, of_human = np.mean(ahead, axis=0)
        assert row.n_units == len(ahead)
        assert (row.advantage_model, row.advantage_human) == pytest.approx((of_model, of_human))
    assert test.results["code"].isna().all()
    plain = test.results[["winning_rate", "advantage_probability"]].iloc[0]
    assert plain["advantage_probability"] == pytest.approx(test.humans["advantage_model"].mean())


def test_a_rating_of_two_values_is_a_code() -> None:
    values, _ = rated(12, 6, seed=3)
    high = (values >= 4).astype(float)
    long = high.stack().rename("applied").reset_index().assign(code="high")
    long["applied"] = long["applied"] == 1
    as_code = alternative_annotator_test(long, epsilon=0.1)
    as_rating = alternative_annotator_test(high, epsilon=0.1, by="rating")
    columns = ["human", "n_units", "advantage_model", "advantage_human", "t", "p", "p_adjusted", "won"]
    pd.testing.assert_frame_equal(as_code.humans[columns], as_rating.humans[columns])


def test_over_participants_the_error_is_the_cluster_robust_one_of_statsmodels() -> None:
    values, units = rated(20, 8, seed=4)
    test = alternative_annotator_test(values, epsilon=0.1, by="rating", units=units, cluster="case_id")
    plain = alternative_annotator_test(values, epsilon=0.1, by="rating")
    case = units.set_index("unit_id")["case_id"].reindex(values.index)
    for row, other in zip(test.humans.itertuples(), plain.humans.itertuples(), strict=True):
        others = [one for one in ("ana", "ben", "cleo") if one != row.human]
        apart = {
            one: (values[others].sub(values[one], axis=0)).abs().sum(axis=1)
            for one in (str(row.human), "model-a")
        }
        human, model = apart[str(row.human)], apart["model-a"]
        difference = (human <= model).astype(float) - (model <= human).astype(float)
        robust = sm.OLS(difference.to_numpy(), np.ones(len(difference))).fit(
            cov_type="cluster", cov_kwds={"groups": pd.factorize(case)[0], "df_correction": True}
        )
        away = (difference - difference.mean()).to_numpy()
        worth = effective_clusters(away, np.ones(len(away)), pd.factorize(case)[0])
        error = robust.bse[0] * np.sqrt(worth / (worth - 1))
        assert row.t == pytest.approx((difference.mean() - 0.1) / error, rel=1e-6)
        assert row.n_clusters == 20
        # Never more degrees of freedom than participants less one.
        assert abs(row.p - 0.5) <= abs(students.cdf(row.t, 19) - 0.5)
        assert row.difference == other.difference
        assert row.t != other.t


def test_over_participants_it_is_wrong_as_rarely_as_it_says_where_texts_alone_are_not() -> None:
    """In small, what benchmarks/alternative_annotator.md measures: epsilon is the true difference."""
    large, _ = rated(4000, 8, seed=5)
    true = alternative_annotator_test(large, epsilon=0.0, by="rating").humans["difference"][0]
    rejected = []
    for seed in range(150):
        values, units = rated(15, 12, seed=seed + 100)
        p = [
            alternative_annotator_test(values, epsilon=true, by="rating", **by).humans["p"][0]
            for by in ({"units": units, "cluster": "case_id"}, {})
        ]
        rejected.append([one < 0.05 for one in p])
    clustered, alone = np.mean(rejected, axis=0)
    assert clustered <= 0.08
    assert alone > clustered


def test_few_participants_and_bad_ratings_are_told() -> None:
    values, units = rated(5, 20, seed=6)
    with pytest.warns(RuntimeWarning, match="left out for too few participants"):
        few = alternative_annotator_test(values, epsilon=0.1, by="rating", units=units, cluster="case_id")
    assert few.results["reason"].tolist() == ["few_clusters"]
    assert few.humans["p"].isna().all()
    with pytest.raises(TableError, match="expected numbers with by='rating'"):
        alternative_annotator_test(values.astype(str) + "x", epsilon=0.1, by="rating")
    with pytest.raises(TableError, match=r"agreement\.from_wide"):
        alternative_annotator_test(pd.DataFrame({"a": [1.0]}), epsilon=0.1, by="rating")
    with pytest.raises(TableError, match="found none"):
        alternative_annotator_test(values.drop(columns="model-a"), epsilon=0.1, by="rating")
    with pytest.raises(TableError, match="-99"):
        alternative_annotator_test(values.replace(5.0, -99.0), epsilon=0.1, by="rating")
    with pytest.raises(TableError, match="cluster: expected a label"):
        alternative_annotator_test(values, epsilon=0.1, by="rating", units=units.iloc[1:], cluster="case_id")
    with pytest.raises(ArgumentError):
        alternative_annotator_test(values, epsilon=0.1, by="rating", cluster="case_id")
