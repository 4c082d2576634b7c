from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.outliers_influence import variance_inflation_factor

from sense7_qual import links
from sense7_qual.errors import QualError, TableError
from tests.helpers.rating_studies import with_means

N, SIZE = 60, 6
CASE = np.repeat(np.arange(N), SIZE)
SYSTEMS = ["gpt", "llama", "base"]


def study(seed: int = 7) -> tuple[dict[str, np.ndarray], pd.DataFrame]:
    """Return three codes of 360 units: `a` raises ratings, `b` goes with it, `c` lowers them for llama."""
    rng = np.random.default_rng(seed)
    n = N * SIZE
    a = rng.random(n) < 0.4
    applied = {"a": a, "b": np.where(rng.random(n) < 0.7, a, rng.random(n) < 0.4), "c": rng.random(n) < 0.4}
    system = np.array(SYSTEMS)[CASE % 3]
    latent = 1.5 * a - 2.0 * applied["c"] * (system == "llama")
    latent = latent + rng.standard_normal(N)[CASE] + rng.logistic(size=n)
    units = pd.DataFrame(
        {
            "unit_id": [f"u{i:03d}" for i in range(n)],
            "case_id": [f"p{i}" for i in CASE],
            "system": system,
            "empathy": np.digitize(latent, [-1, 0, 1, 2]) + 1,
        }
    )
    return applied, units


def decisions(applied: dict[str, np.ndarray], units: pd.DataFrame, coder: str = "ana") -> pd.DataFrame:
    parts = [
        pd.DataFrame(
            {"unit_id": units["unit_id"], "coder": coder, "code": code, "applied": values.astype(bool)}
        )
        for code, values in applied.items()
    ]
    return pd.concat(parts, ignore_index=True).assign(coder=coder)


def joint(applied: dict[str, np.ndarray], units: pd.DataFrame, **settings: object) -> pd.DataFrame:
    chosen = {"rating": "empathy", "cluster": "case_id", "source": "ana", **settings}
    return links.joint(decisions(applied, units), units, **chosen)


@pytest.mark.long
def test_the_rows_are_those_of_one_model_with_all_codes() -> None:
    applied, units = study()
    found = joint(applied, units).set_index("code")
    x = with_means(pd.DataFrame(applied).astype(float), units["case_id"])
    model = links.models.cumulative_mixed(units["empathy"], x, groups=units["case_id"])
    expected = own(model, list(applied), found["n_clusters_both"].to_numpy())
    for ours, theirs in [("odds_ratio", "odds_ratio"), ("odds_ratio_low", "low"), ("p", "p")]:
        np.testing.assert_allclose(found[ours], expected[theirs], rtol=1e-5)
    both = [pd.Series(one).groupby(CASE).nunique().eq(2).sum() for one in applied.values()]
    assert found["n_clusters_both"].tolist() == both
    assert found["n"].tolist() == [360] * 3
    assert found["n_with"].tolist() == [int(values.sum()) for values in applied.values()]
    np.testing.assert_allclose(found["p_adjusted"], multipletests(found["p"], method="fdr_bh")[1])
    np.testing.assert_allclose(found["p_holm"], multipletests(found["p"], method="holm")[1])
    assert set(found["family"]) == {"codes of ana"}


def own(model: object, names: list[str], n_both: np.ndarray) -> pd.DataFrame:
    """Return odds ratios of a model with Student's t of one degree of freedom less than `n_both`."""
    estimate, error = model.coefficients[names], model.standard_errors[names]
    half = stats.t.ppf(0.975, n_both - 1) * error
    ratios = {"odds_ratio": estimate, "low": estimate - half, "high": estimate + half}
    found = pd.DataFrame({name: np.exp(value) for name, value in ratios.items()})
    return found.assign(p=2 * stats.t.sf(np.abs(estimate / error), n_both - 1))


def test_a_code_that_only_goes_along_has_no_link_of_its_own() -> None:
    applied, units = study()
    together = joint(applied, units).set_index("code")
    alone = joint({"b": applied["b"]}, units).set_index("code")
    assert alone.loc["b", "p"] < 0.01
    assert together.loc["b", "p"] > 0.05
    assert together.loc["a", "p"] < 0.01


def test_variance_inflation_is_that_of_statsmodels() -> None:
    applied, units = study()
    found = joint(applied, units)["variance_inflation"]
    within = (one - pd.Series(one * 1.0).groupby(CASE).transform("mean") for one in applied.values())
    x = np.column_stack([np.ones(len(units)), *within])
    expected = [variance_inflation_factor(x, column) for column in (1, 2, 3)]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_codes_that_no_model_can_hold_are_named_and_do_not_disturb_the_others() -> None:
    applied, units = study()
    rng = np.random.default_rng(1)
    top = (units["empathy"] == 5).to_numpy() & (rng.random(len(units)) < 0.2)
    more = applied | {
        "twin": applied["c"],
        "never": np.zeros(len(units)),
        "always": np.ones(len(units)),
        "top": top,
    }
    found = joint(more, units).set_index("code")
    assert found["reason"].dropna().to_dict() == {
        "c": "collinear_codes",
        "twin": "collinear_codes",
        "never": "code_never_applied",
        "always": "code_always_applied",
        "top": "separation",
    }
    assert np.isinf(found.loc["twin", "variance_inflation"])
    assert found.loc["top", "n_with"] == top.sum()
    rest = {code: values[~top] for code, values in applied.items()}
    expected = joint(rest, units[~top]).set_index("code")
    for code in ("a", "b"):  # adjusted for `c` all the same
        assert found.loc[code, "odds_ratio"] == pytest.approx(expected.loc[code, "odds_ratio"], rel=1e-8)
        assert found.loc[code, "n"] == len(units) - top.sum()


def test_leaving_out_what_an_infinite_odds_ratio_explains_is_the_limit_of_the_likelihood() -> None:
    """The coefficient of the separating code is held at ever larger values: the others settle."""
    from sense7_qual.links.models._likelihood import Parameters, integrate, patterns_of

    applied, units = study()
    top = (units["empathy"] == 5).to_numpy() & (np.random.default_rng(1).random(len(units)) < 0.2)
    found = joint({"a": applied["a"], "top": top}, units).set_index("code")
    rest = ~top
    x = pd.DataFrame({"a": applied["a"].astype(float)})[rest]
    x = with_means(x, units["case_id"][rest])
    model = links.models.cumulative_mixed(units["empathy"][rest], x, groups=units["case_id"][rest])
    assert found.loc["a", "odds_ratio"] == pytest.approx(np.exp(model.coefficients["a"]))
    share = x.groupby(units["case_id"][rest])["a"].mean().reindex(units["case_id"]).to_numpy()
    x = np.column_stack([applied["a"], share, top]).astype(float)
    patterns = patterns_of(units["empathy"].to_numpy() - 1, x, CASE)
    coefficients = np.array([*model.coefficients[["a", "mean of a"]], 60.0])
    at = Parameters(model.thresholds.to_numpy(), coefficients, model.cluster_sd)
    full = integrate(patterns, at, quadrature=10, link="logit")
    assert full.log_likelihood == pytest.approx(model.log_likelihood, abs=1e-6)
    np.testing.assert_allclose(full.gradient, 0, atol=1e-4)


@pytest.mark.long
def test_interaction_with_the_condition() -> None:
    applied, units = study()
    found = joint(applied, units, interaction="system")
    assert found["effect"].value_counts().to_dict() == {"code": 3, "interaction": 6}
    crossed = found[found["effect"] == "interaction"].set_index(["code", "level"])
    assert set(crossed["reference"]) == {"base"}
    assert crossed.loc[("c", "llama"), "p_holm"] < 0.01
    assert crossed.loc[("c", "gpt"), "p"] > 0.05
    assert crossed.loc[("c", "gpt"), "joint_p"] == crossed.loc[("c", "llama"), "joint_p"] < 0.01
    assert set(crossed["family"]) == {"codes of ana by system"}
    # The model by hand, for one code.
    x = pd.DataFrame({code: values.astype(float) for code, values in applied.items()})
    for level in ("gpt", "llama"):
        here = (units["system"] == level).astype(float)
        x[level], x[f"c {level}"] = here, here * applied["c"]
    x = with_means(x, units["case_id"])
    model = links.models.cumulative_mixed(units["empathy"], x, groups=units["case_id"])
    expected = own(model, ["c llama"], crossed.loc[("c", "llama"), "n_clusters_both"]).iloc[0]
    assert crossed.loc[("c", "llama"), "odds_ratio"] == pytest.approx(expected["odds_ratio"], rel=1e-5)
    assert crossed.loc[("c", "llama"), "odds_ratio_high"] == pytest.approx(expected["high"], rel=1e-5)


def test_with_two_conditions_the_joint_p_is_the_interactions_own() -> None:
    applied, units = study()
    units = units.assign(system=np.where(units["system"] == "gpt", "gpt", "other"))
    crossed = joint(applied, units, interaction="system").query("effect == 'interaction'")
    np.testing.assert_allclose(crossed["joint_p"], crossed["p"], rtol=1e-6)


@pytest.mark.long
def test_a_code_that_a_condition_lacks_has_no_interaction_there() -> None:
    applied, units = study()
    gpt = (units["system"] == "gpt").to_numpy()
    crossed = joint(applied | {"c": applied["c"] & ~gpt}, units, interaction="system")
    crossed = crossed.query("effect == 'interaction'").set_index(["code", "level"])
    assert crossed.loc[("c", "gpt"), "reason"] == "code_never_applied"
    assert crossed.loc[("c", "llama"), "odds_ratio"] < 1
    base = (units["system"] == "base").to_numpy()
    crossed = joint(applied | {"c": applied["c"] & ~base}, units, interaction="system")
    assert set(crossed.query("effect == 'interaction' and code == 'c'")["reason"]) == {"code_never_applied"}


@pytest.mark.long
def test_an_ordered_condition_sets_the_reference() -> None:
    applied, units = study()
    units["system"] = pd.Categorical(units["system"], categories=SYSTEMS)
    crossed = joint(applied, units, interaction="system").query("effect == 'interaction'")
    assert set(crossed["reference"]) == {"gpt"}


def test_units_that_the_source_did_not_decide_on_in_full_are_left_out() -> None:
    applied, units = study()
    all_of_it = decisions(applied, units)
    missing = all_of_it[~((all_of_it["unit_id"] == "u000") & (all_of_it["code"] == "b"))]
    units.loc[5, "empathy"] = np.nan
    found = links.joint(missing, units, rating="empathy", cluster="case_id", source="ana")
    assert set(found["n"]) == {358}


def test_a_constant_rating_is_the_reason_of_every_code() -> None:
    applied, units = study()
    found = joint(applied, units.assign(empathy=3))
    assert set(found["reason"]) == {"constant_rating"}
    assert found["odds_ratio"].isna().all()
    none = joint(applied, units.assign(empathy=np.nan))
    assert set(none["reason"]) == {"no_rated_units"}


def test_bad_input_of_the_joint_model() -> None:
    applied, units = study()
    with pytest.raises(TableError, match="two conditions"):
        joint(applied, units.assign(system="gpt"), interaction="system")
    with pytest.raises(TableError, match="did you mean 'system'"):
        joint(applied, units, interaction="sytem")
    with pytest.raises(TableError, match="ben"):
        joint(applied, units, source="ben")
    with pytest.raises(TableError, match="pooled"):
        joint(applied, units, source="pooled")
    with pytest.raises(QualError, match="between 0 and 1"):
        joint(applied, units, confidence_level=95)


def test_co_occurrence_is_pearsons_correlation_and_counts() -> None:
    applied, units = study()
    found = links.co_occurrence(decisions(applied, units), source="ana").set_index(["code", "other"])
    assert found.index.tolist() == [("a", "b"), ("a", "c"), ("b", "c")]
    for (one, other), row in found.iterrows():
        x, y = applied[one].astype(float), applied[other].astype(float)
        assert row["phi"] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-12)
        assert row["n_both"] == (x * y).sum()
        assert row["lift"] == pytest.approx((x * y).mean() / (x.mean() * y.mean()))


def test_co_occurrence_that_cannot_be_computed_is_named() -> None:
    units = pd.DataFrame({"unit_id": list("abcd")})
    some = decisions({"x": np.array([1, 0, 1, 0]), "never": np.zeros(4), "always": np.ones(4)}, units)
    other = decisions({"alone": np.ones(1)}, pd.DataFrame({"unit_id": ["z"]}))
    found = links.co_occurrence(pd.concat([some, other]), source="ana").set_index(["code", "other"])
    reasons = found["reason"].to_dict()
    assert reasons[("x", "never")] == reasons[("never", "always")] == "code_never_applied"
    assert reasons[("x", "always")] == "code_always_applied"
    assert reasons[("x", "alone")] == "no_common_units"
    assert found["phi"].isna().all()
    assert found.loc[("x", "always"), "lift"] == 1
