"""The odds ratio at each split of a scale, next to R's, and the test that they are the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual import links
from sense7_qual.errors import ArgumentError, TableError

# Randall (1989), as in R's ordinal::wine: nine judges, two bottles each of cold and warm, without and with
# contact.
WINE = """
23344455 12132354 23325544 32323253 23433333 32322454 11222323 22233334 12323244
"""
COUNTS = [200, 300, 250, 250, 100, 260, 280, 360, 40, 90, 160, 210]  # of ratings 1 to 4, by x = 0, 1, 2


def wine() -> tuple[pd.Series, pd.DataFrame, pd.Series]:
    ratings = np.array([[int(level) for level in judge] for judge in WINE.split()])
    warm, contact = np.tile([0, 0, 0, 0, 1, 1, 1, 1], 9), np.tile([0, 0, 1, 1] * 2, 9)
    predictors = pd.DataFrame({"tempwarm": warm, "contactyes": contact})
    return pd.Series(ratings.ravel()), predictors, pd.Series(np.repeat(np.arange(1, 10), 8))


def counted() -> tuple[pd.Series, pd.Series]:
    rating, x = np.tile([1, 2, 3, 4], 3), np.repeat([0, 1, 2], 4)
    return pd.Series(np.repeat(rating, COUNTS)), pd.Series(np.repeat(x, COUNTS), name="x")


def test_splits_are_those_of_glm_and_the_test_is_near_the_likelihood_ratio_of_r() -> None:
    """R: exp(coef(glm((y >= j) ~ x, binomial))), and ordinal::nominal_test, LRT 7.2962 on 2 df, p .02604."""
    rating, x = counted()
    table = links.models.proportional_odds(rating, x, groups=pd.Series(range(len(x))), model="marginal")
    assert table["split"].tolist()[1:] == ["2", "3", "4"]
    assert table["odds_ratio"].to_numpy()[1:] == pytest.approx([1.84599887, 1.70517856, 1.49265221], abs=1e-6)
    assert table["n_above"].tolist()[1:] == [2160, 1510, 820]
    assert table["p_proportional"][0] == pytest.approx(0.02604, abs=0.004)
    assert table["caution"].str.contains("not_proportional").all()


def test_splits_of_the_mixed_model_are_those_of_lme4() -> None:
    """R: lme4::glmer((rating >= j) ~ temp + contact + (1 | judge), nAGQ = 10), data = ordinal::wine."""
    rating, predictors, judge = wine()
    table = links.models.proportional_odds(rating, predictors, groups=judge, model="mixed")
    split = table.set_index(["predictor", "split"])["odds_ratio"]
    assert split["tempwarm", "3"] == pytest.approx(10.92101, abs=0.001)
    assert split["contactyes", "3"] == pytest.approx(4.68171, abs=0.001)
    assert split["tempwarm", "4"] == pytest.approx(70.97433, abs=0.01)
    assert split["contactyes", "4"] == pytest.approx(13.84248, abs=0.001)
    rows = table[table["split"].isna()].set_index("predictor")
    model = links.models.cumulative_mixed(rating, predictors, groups=judge)
    assert rows["odds_ratio"].to_numpy() == pytest.approx(model.odds_ratios()["odds_ratio"].to_numpy())
    assert table.set_index(["predictor", "split"]).loc[("tempwarm", "2"), "reason"] == "separation"
    assert (rows["p_proportional"] > 0.1).all()  # ordinal::nominal_test: p .37 and .90
    assert not table["caution"].fillna("").str.contains("not_proportional").any()


def study(n: int, effects: list[float], rng: np.random.Generator) -> tuple[pd.Series, pd.Series, pd.Series]:
    case = np.repeat(np.arange(n), rng.integers(4, 10, size=n))
    x = (case % 2).astype(float)
    above = rng.normal(size=n)[case] + rng.logistic(size=len(case))
    # Participants use the scale differently: some its ends, others its middle.
    cuts = np.outer(np.exp(0.7 * rng.normal(size=n))[case], np.linspace(-1.5, 1.5, len(effects)))
    rating = 1 + (above[:, None] + np.outer(x, effects) > cuts).sum(axis=1)
    return pd.Series(rating), pd.Series(x, name="x"), pd.Series(case)


def p_of(rating: pd.Series, x: pd.Series, groups: pd.Series) -> float:
    from sense7_qual.links.models._model import observed
    from sense7_qual.links.models._proportional_odds import _tested

    return _tested(observed("", rating, x, groups))["x"][0]


def test_the_test_holds_its_size_over_participants_where_rows_do_not_and_finds_what_differs() -> None:
    """In small, of a condition between 20 participants, what benchmarks/proportional_odds.md measures."""
    rng, same, by_rows, differ = np.random.default_rng(8), [], [], []
    for _ in range(150):
        rating, x, case = study(20, [0.0] * 4, rng)
        same.append(p_of(rating, x, case))
        by_rows.append(p_of(rating, x, pd.Series(range(len(x)))))
        differ.append(p_of(*study(60, [-1.5, -0.5, 0.5, 1.5], rng)))
    assert np.mean(np.array(same) < 0.05) <= 0.09
    assert np.mean(np.array(by_rows) < 0.05) >= 0.12
    assert np.mean(np.array(differ) < 0.05) >= 0.6


def test_order_and_names_of_participants_and_the_scale_of_a_predictor_change_nothing() -> None:
    rng = np.random.default_rng(9)
    rating, x, case = study(20, [0.5, 1.0, 1.5], rng)
    table = links.models.proportional_odds(rating, x, groups=case, model="marginal")
    order = rng.permutation(len(x))
    again = links.models.proportional_odds(
        10 * rating[order], 5 * x[order] - 3, groups="p" + case[order].astype(str), model="marginal"
    )
    assert again["p_proportional"].to_numpy() == pytest.approx(table["p_proportional"].to_numpy(), rel=1e-6)
    assert again["odds_ratio"].to_numpy() ** 5 == pytest.approx(table["odds_ratio"].to_numpy(), rel=1e-5)


def test_what_cannot_be_computed_has_a_reason() -> None:
    rating, x, case = study(20, [0.5, 1.0, 1.5], np.random.default_rng(10))
    two = links.models.proportional_odds(rating.clip(2, 3), x, groups=case, model="marginal")
    assert two["reason"].tolist()[0] == "two_levels"
    assert np.isnan(two["p_proportional"]).all()
    first = ~case.duplicated() & (case < 5)
    rare = rating.clip(1, 3).where(~first, 4)
    few = links.models.proportional_odds(rare, x, groups=case, model="marginal").set_index("split")
    assert few["reason"].fillna("").tolist()[-1] == "few_clusters"
    assert np.isnan(few["low"].iloc[-1])
    assert few["odds_ratio"].notna().all()
    small = case < 5
    none = links.models.proportional_odds(rating[small], x[small], groups=case[small], model="marginal")
    assert none["reason"][0] == "few_clusters"
    same = links.models.proportional_odds(rating * 0 + 1, x, groups=case, model="mixed")
    assert same["reason"].tolist() == ["constant_rating"]


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"model": "probit"}, ArgumentError, "expected model to be 'mixed' or 'marginal'"),
        ({"rating": pd.Series(range(72)) % 13}, TableError, "at most 12 levels"),
        ({"confidence_level": 95}, ArgumentError, "confidence_level"),
    ],
)
def test_bad_input_is_refused(changed: dict[str, object], error: type[Exception], said: str) -> None:
    rating, predictors, judge = wine()
    given = {"rating": rating, "predictors": predictors, "groups": judge, "model": "mixed"} | changed
    with pytest.raises(error, match=said):
        links.models.proportional_odds(**given)  # type: ignore[arg-type]
