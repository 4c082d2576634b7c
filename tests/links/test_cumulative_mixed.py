from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import links
from sense7_qual.errors import QualError, TableError
from sense7_qual.links.models._likelihood import Parameters, integrate, log_probability, patterns_of
from tests.helpers.places import PUBLISHED

REFERENCE = PUBLISHED / "agreement_reference.json"

# Randall (1989), The analysis of sensory data by generalised linear model, Biometrical Journal 31, 781–793:
# bitterness of wine by nine judges, of two bottles each from cold and warm pressing without and with contact
# of the skins (cold no, cold yes, warm no, warm yes).
WINE = """
2 3 3 4 4 4 5 5
1 2 1 3 2 3 5 4
2 3 3 2 5 5 4 4
3 2 3 2 3 2 5 3
2 3 4 3 3 3 3 3
3 2 3 2 2 4 5 4
1 1 2 2 2 3 2 3
2 2 2 3 3 3 3 4
1 2 3 2 3 2 4 4
"""


def wine() -> tuple[pd.Series, pd.DataFrame, pd.Series]:
    ratings = np.array([[int(level) for level in line.split()] for line in WINE.split("\n") if line])
    warm, contact = np.tile([0, 0, 0, 0, 1, 1, 1, 1], 9), np.tile([0, 0, 1, 1] * 2, 9)
    predictors = pd.DataFrame({"tempwarm": warm, "contactyes": contact})
    return pd.Series(ratings.ravel()), predictors, pd.Series(np.repeat(np.arange(1, 10), 8))


def fitted(**settings: Any) -> Any:
    rating, predictors, cluster = wine()
    return links.models.cumulative_mixed(rating, predictors, groups=cluster, **settings)


# R ordinal::clmm(rating ~ temp + contact + (1 | judge), data = wine), with nAGQ = 1 and 10.
@pytest.mark.parametrize(
    ("quadrature", "temp", "contact", "variance", "log_likelihood", "errors"),
    [
        (1, 3.062997, 1.834885, 1.279461, -81.56541, (0.595376, 0.512529)),
        (10, 3.06190, 1.83343, 1.28774, -81.53246, (0.595076, 0.512171)),
    ],
)
def test_wine_as_in_r(
    quadrature: int, temp: float, contact: float, variance: float, log_likelihood: float, errors: Any
) -> None:
    model = fitted(quadrature=quadrature)
    assert model.coefficients["tempwarm"] == pytest.approx(temp, abs=1e-4)
    assert model.coefficients["contactyes"] == pytest.approx(contact, abs=1e-4)
    assert model.cluster_variance == pytest.approx(variance, abs=1e-4)
    assert model.log_likelihood == pytest.approx(log_likelihood, abs=1e-5)
    assert model.standard_errors.tolist() == pytest.approx(errors, abs=1e-4)
    assert (model.n, model.n_clusters, model.n_missing) == (72, 9, 0)
    assert model.converged
    assert model.gradient_norm < 1e-8


MIXED = ("cumulative_logit_mixed", "cumulative_probit_mixed", "cumulative_logit", "cumulative_logit_gee")


def reference(*statistics: str) -> list[Any]:
    """Return the reference rows."""
    entries = json.loads(REFERENCE.read_text(encoding="utf-8"))
    return [
        pytest.param(entry, id=f"{entry['name']} ({entry['source'].split(',')[0]})")
        for entry in entries
        if entry["statistic"] in statistics
    ]


def test_the_reference_rows_are_about_this_wine() -> None:
    for row in reference(*MIXED, "polychoric"):
        frame = pd.DataFrame(row.values[0]["data"]["rows"])
        rating, predictors, cluster = wine()
        assert frame["rating"].tolist() == rating.tolist()
        assert (frame["temp"] == "warm").astype(int).tolist() == predictors["tempwarm"].tolist()
        assert (frame["contact"] == "yes").astype(int).tolist() == predictors["contactyes"].tolist()
        assert frame["judge"].tolist() == cluster.tolist()


@pytest.mark.parametrize("entry", reference(*MIXED))
def test_every_reference_value_of_the_models(entry: Any) -> None:
    rating, predictors, cluster = wine()
    asked, statistic = entry["params"], entry["statistic"]
    if statistic == "cumulative_logit_gee":
        model = links.models.marginal(rating, predictors, groups=cluster, standard_errors="robust")
    elif statistic == "cumulative_logit":  # every row a cluster of its own
        model = links.models.cumulative_mixed(rating, predictors, groups=pd.Series(range(len(rating))))
    else:
        link = "probit" if statistic == "cumulative_probit_mixed" else "logit"
        model = fitted(quadrature=asked.get("nAGQ", 1), link=link)
    tolerance = min(entry["tolerance"], 1e-4)
    for name, value in entry["value"].items():
        assert model.coefficients[name] == pytest.approx(value, abs=tolerance)
    if "thresholds" in asked:
        assert model.thresholds.tolist() == pytest.approx(asked["thresholds"], abs=1e-4)
    if "loglik" in asked:
        assert model.log_likelihood == pytest.approx(asked["loglik"], abs=1e-5)
    if "var_judge" in asked:
        assert model.cluster_variance == pytest.approx(asked["var_judge"], abs=1e-4)
    if "se" in asked:
        errors = list(asked["se"].values()) if isinstance(asked["se"], dict) else asked["se"]
        assert model.standard_errors.tolist() == pytest.approx(errors, abs=1e-4)


@pytest.mark.parametrize("entry", reference("polychoric"))
def test_every_reference_value_of_the_polychoric_correlation(entry: Any) -> None:
    rating, predictors, _ = wine()
    other = predictors[{"temp": "tempwarm", "contact": "contactyes"}[entry["params"]["y"]]]
    found = links.scales.polychoric(rating, other)
    assert found.estimate == pytest.approx(entry["value"], abs=entry["tolerance"])
    assert found.standard_error == pytest.approx(entry["params"]["se"], abs=5e-4)
    assert found.low < found.estimate < found.high


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("quadrature", [1, 2, 10])
@pytest.mark.parametrize("sd", [0.0, 0.3, 4.0])
def test_the_gradient_is_that_of_the_quadrature_itself(link: Any, quadrature: int, sd: float) -> None:
    rating, predictors, cluster = wine()
    patterns = patterns_of(rating.to_numpy() - 1, predictors.to_numpy(dtype=float), cluster.to_numpy() - 1)
    at = np.array([-1.0, 0.5, 2.0, 3.5, 1.2, -0.7, sd])

    def integral(point: np.ndarray) -> Any:
        parameters = Parameters(point[:4], point[4:6], float(point[6]))
        return integrate(patterns, parameters, quadrature=quadrature, link=link)

    steps = 1e-5 * np.eye(7)
    numeric = [
        (integral(at + step).log_likelihood - integral(at - step).log_likelihood) / 2e-5 for step in steps
    ]
    np.testing.assert_allclose(integral(at).gradient, numeric, atol=1e-6)


@pytest.mark.long
def test_the_integral_is_the_integral() -> None:
    """By scipy's adaptive quadrature over the intercept, cluster by cluster, and in the far tails."""
    from scipy import integrate as scipy_integrate, special, stats

    rating, predictors, cluster = wine()
    x = predictors.to_numpy(dtype=float)
    thresholds, coefficients, sd = np.array([-2.0, 0.0, 1.0, 6.0]), np.array([1.5, -1.0]), 1.7
    ends = np.concatenate([[-np.inf], thresholds, [np.inf]])

    def density(u: float, judge: int) -> float:
        mine = (cluster == judge).to_numpy()
        eta, level = x[mine] @ coefficients + sd * u, rating.to_numpy()[mine]
        p = special.expit(ends[level] - eta) - special.expit(ends[level - 1] - eta)
        return float(p.prod() * stats.norm.pdf(u))

    expected = sum(
        np.log(scipy_integrate.quad(density, -12, 12, args=(judge,), epsabs=0)[0]) for judge in range(1, 10)
    )
    patterns = patterns_of(rating.to_numpy() - 1, x, cluster.to_numpy() - 1)
    found = integrate(patterns, Parameters(thresholds, coefficients, sd), quadrature=60, link="logit")
    assert found.log_likelihood == pytest.approx(expected, abs=1e-8)


def test_far_out_the_normal_distribution_keeps_its_digits() -> None:
    from scipy import special, stats

    a, b = np.array([9.0, -9.0, 31.0, -30.0]), np.array([8.0, -10.0, 30.0, -31.0])
    expected = special.logsumexp(
        np.stack(
            [
                stats.norm.logcdf(-np.abs([8.0, 9.0, 30.0, 30.0])),
                stats.norm.logcdf(-np.abs([9.0, 10.0, 31.0, 31.0])),
            ]
        ),
        axis=0,
        b=np.array([[1.0], [-1.0]]),
    )
    np.testing.assert_allclose(log_probability(a, b, np.zeros(4), "probit"), expected, rtol=1e-12)


def study(
    rng: np.random.Generator, *, clusters: int = 40, size: int = 6, effect: float = 1.0, sd: float = 1.0
) -> tuple[pd.Series, pd.DataFrame, pd.Series]:
    cluster = np.repeat(np.arange(clusters), size)
    code = (rng.random(len(cluster)) < 0.3).astype(float)
    latent = effect * code + sd * rng.standard_normal(clusters)[cluster] + rng.logistic(size=len(cluster))
    rating = 1 + np.searchsorted([-2.0, -0.5, 0.8, 2.2], latent)
    return pd.Series(rating), pd.DataFrame({"code": code}), pd.Series([f"p{i}" for i in cluster])


def test_neither_units_nor_order_nor_repetition_changes_the_estimates() -> None:
    rating, predictors, cluster = study(np.random.default_rng(1))
    predictors["age"] = np.random.default_rng(2).normal(40, 10, len(rating))
    plain = links.models.cumulative_mixed(rating, predictors, groups=cluster)
    mixed = np.random.default_rng(3).permutation(len(rating))
    scaled = predictors.assign(age=predictors["age"] * 1e6 + 1e9)
    other = links.models.cumulative_mixed(
        rating.iloc[mixed] * 10, scaled.iloc[mixed], groups=cluster.iloc[mixed].str.upper()
    )
    assert other.coefficients["code"] == pytest.approx(plain.coefficients["code"], abs=1e-5)
    assert other.coefficients["age"] * 1e6 == pytest.approx(plain.coefficients["age"], abs=1e-6)
    assert other.standard_errors["age"] * 1e6 == pytest.approx(plain.standard_errors["age"], rel=1e-4)
    assert other.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-7)
    turned = links.models.cumulative_mixed(-rating, predictors, groups=cluster)
    np.testing.assert_allclose(turned.coefficients, -plain.coefficients, atol=1e-6)
    np.testing.assert_allclose(turned.thresholds[::-1], -plain.thresholds, atol=1e-5)


def test_standard_errors_are_those_of_the_likelihoods_own_curvature() -> None:
    """By second differences of the log-likelihood itself, in the predictors' own units."""
    rating, predictors, cluster = study(np.random.default_rng(4))
    model = links.models.cumulative_mixed(rating, predictors, groups=cluster)
    patterns = patterns_of(rating.to_numpy() - 1, predictors.to_numpy(), pd.factorize(cluster, sort=True)[0])
    at = np.concatenate([model.thresholds, model.coefficients, [model.cluster_sd]])

    def height(point: np.ndarray) -> float:
        parameters = Parameters(point[:4], point[4:5], float(point[5]))
        return integrate(patterns, parameters, quadrature=10, link="logit").log_likelihood

    e = 2e-3 * np.eye(6)
    curvature = [
        [
            (height(at + i + j) - height(at + i - j) - height(at - i + j) + height(at - i - j)) / 1.6e-5
            for j in e
        ]
        for i in e
    ]
    expected = np.linalg.inv(-np.array(curvature))
    np.testing.assert_allclose(model.covariance, expected, rtol=2e-3, atol=1e-4)


def test_intervals_use_students_t_and_odds_ratios_are_of_the_logit_link() -> None:
    model = fitted()
    found = model.intervals(0.95)
    # Student's t with 8 degrees of freedom is tabulated as 2.306 (two-sided 5 %).
    width = (found["high"] - found["low"]) / 2 / found["standard_error"]
    assert width.tolist() == pytest.approx([2.306, 2.306], abs=5e-4)
    assert model.odds_ratios(0.95)["odds_ratio"]["tempwarm"] == pytest.approx(np.exp(3.06190), rel=1e-4)
    assert "few_clusters" in model.cautions
    with pytest.raises(QualError, match="link='logit'"):
        fitted(link="probit").odds_ratios()
    with pytest.raises(QualError, match="between 0 and 1"):
        model.intervals(95)


def test_a_variance_of_zero_is_the_model_without_random_intercepts() -> None:
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    rating, predictors, cluster = study(np.random.default_rng(11), clusters=12, sd=0.0)
    model = links.models.cumulative_mixed(rating, predictors, groups=cluster)
    assert model.boundary
    assert "zero_variance" in model.cautions
    assert model.cluster_variance == 0
    plain = OrderedModel(rating.to_numpy(), predictors.to_numpy(), distr="logit").fit(
        method="bfgs", disp=False, gtol=1e-8
    )
    assert model.coefficients["code"] == pytest.approx(plain.params[0], abs=1e-5)
    assert model.standard_errors["code"] == pytest.approx(plain.bse[0], abs=1e-4)
    assert model.log_likelihood == pytest.approx(plain.llf, abs=1e-7)


def test_rows_with_a_missing_value_are_left_out_and_counted() -> None:
    rating, predictors, cluster = study(np.random.default_rng(5))
    gaps_rating, gaps_code, gaps_cluster = rating.astype("Int64"), predictors.copy(), cluster.astype("string")
    gaps_rating[3], gaps_code.loc[10, "code"], gaps_cluster[20] = pd.NA, np.nan, pd.NA
    model = links.models.cumulative_mixed(gaps_rating, gaps_code, groups=gaps_cluster)
    kept = rating.index.difference([3, 10, 20])
    same = links.models.cumulative_mixed(rating[kept], predictors.loc[kept], groups=cluster[kept])
    assert (model.n, model.n_missing) == (237, 3)
    assert model.coefficients["code"] == pytest.approx(same.coefficients["code"], abs=1e-10)


def test_an_ordered_categorical_is_a_rating() -> None:
    rating, predictors, cluster = wine()
    words = ["none", "little", "some", "much", "very much"]
    named = pd.Series(pd.Categorical.from_codes(rating - 1, ["never", *words][1:], ordered=True))
    model = links.models.cumulative_mixed(named, predictors, groups=cluster)
    assert model.thresholds.index.tolist() == ["none|little", "little|some", "some|much", "much|very much"]
    assert model.coefficients["tempwarm"] == pytest.approx(3.06190, abs=1e-4)


CODE = np.tile([0.0, 1.0, 1.0, 0.0, 0.0, 1.0], 20)
CASE = np.repeat(np.arange(20), 6)
BASE = np.random.default_rng(6).integers(1, 5, 20)[CASE]
NOISE = np.random.default_rng(8).integers(1, 6, 120)
NOTHING = {
    "constant_rating": (np.full(120, 3), {"code": CODE}, CASE),
    "no_complete_rows": (np.full(120, np.nan), {"code": CODE}, CASE),
    "one_cluster": (NOISE, {"code": CODE}, np.zeros(120)),
    "collinear_predictors": (NOISE, {"code": CODE, "other": 1 - CODE}, CASE),
    "separation": (np.where(CODE == 1, 5, np.minimum(NOISE, 4)), {"code": CODE}, CASE),
    "no_variation_within_clusters": (BASE, {"code": CODE}, CASE),
}
VARIANTS = {
    "quasi-complete": (np.where(CODE == 1, 5, NOISE), {"code": CODE}, CASE),
    "rare": (np.where(np.arange(120) == 5, 5, NOISE), {"code": (np.arange(120) == 5) * 1.0}, CASE),
    "within clusters": (BASE + CODE, {"code": CODE}, CASE),
    "clusters all but constant": (BASE + (np.arange(120) == 3), {"code": CODE}, CASE),
}


@pytest.mark.parametrize("reason", NOTHING)
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_where_nothing_can_be_estimated_the_reason_is_named(reason: str, link: Any) -> None:
    rating, predictors, cluster = NOTHING[reason]
    model = links.models.cumulative_mixed(
        pd.Series(rating), pd.DataFrame(predictors), groups=pd.Series(cluster), link=link
    )
    assert model.reason == reason
    assert model.coefficients.isna().all()
    assert model.standard_errors.isna().all()
    assert np.isnan(model.cluster_variance)
    assert not model.converged
    assert model.dependent == (("other",) if reason == "collinear_predictors" else ())
    assert model.intervals()["low"].isna().all()


@pytest.mark.parametrize("which", VARIANTS)
def test_an_infinite_estimate_is_never_reported_as_a_large_one(which: str) -> None:
    rating, predictors, cluster = VARIANTS[which]
    model = links.models.cumulative_mixed(
        pd.Series(rating), pd.DataFrame(predictors), groups=pd.Series(cluster)
    )
    assert model.reason == "separation"
    assert model.coefficients.isna().all()


def test_clusters_of_one_leave_the_model_without_random_intercepts() -> None:
    rating, predictors, _ = study(np.random.default_rng(9))
    model = links.models.cumulative_mixed(rating, predictors, groups=pd.Series(range(len(rating))))
    assert model.cautions == ("clusters_of_one",)
    assert np.isnan(model.cluster_variance)
    assert not model.boundary
    assert model.converged


def test_no_predictors_give_thresholds_and_variance() -> None:
    rating, _, cluster = study(np.random.default_rng(9), effect=0)
    model = links.models.cumulative_mixed(rating, pd.DataFrame(index=rating.index), groups=cluster)
    assert model.coefficients.empty
    assert model.cluster_variance > 0
    assert len(model.thresholds) == 4


BAD = [
    ({"rating": pd.Series(["good", "poor", "good", "poor"])}, "ordered Categorical"),
    ({"rating": pd.Series(pd.Categorical(["a", "b", "a", "b"]))}, "without an order"),
    ({"rating": pd.Series([1.0, 2.0, np.inf, 4.0])}, "1 rows"),
    ({"predictors": pd.DataFrame({"x": [1.0, -np.inf, 0.0, 0.0]})}, "predictor 'x'"),
    ({"predictors": pd.DataFrame({"x": ["yes", "no", "yes", "no"]})}, "4 rows"),
    ({"predictors": pd.DataFrame([[1, 2]] * 4, columns=["x", "x"])}, "found twice: 'x'"),
    ({"predictors": np.zeros((4, 1))}, "DataFrame"),
    ({"groups": pd.Series([1, 1, 2])}, "groups"),
    ({"groups": pd.Series([1, 1, 2, 2], index=[1, 2, 3, 4])}, "same index"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
@pytest.mark.parametrize("fit", [links.models.cumulative_mixed, links.models.marginal])
def test_bad_input_is_refused_without_showing_it(fit: Any, change: dict[str, Any], message: str) -> None:
    given = {
        "rating": pd.Series([1, 2, 3, 2]),
        "predictors": pd.DataFrame({"x": [0.0, 1.0, 0.0, 1.0]}),
        "groups": pd.Series([1, 1, 2, 2]),
    } | change
    with pytest.raises(QualError, match=message) as caught:
        fit(given["rating"], given["predictors"], groups=given["groups"])
    assert "good" not in str(caught.value)
    assert "yes" not in str(caught.value)


@pytest.mark.parametrize("settings", [{"quadrature": 0}, {"quadrature": 2.5}, {"link": "cloglog"}])
def test_settings_out_of_range_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(QualError, match="expected"):
        fitted(**settings)


@pytest.mark.long
def test_population_averaged_odds_ratios() -> None:
    rating, predictors, cluster = study(np.random.default_rng(12), clusters=200, sd=2.0)
    mixed = links.models.cumulative_mixed(rating, predictors, groups=cluster)
    model = links.models.marginal(rating, predictors, groups=cluster)
    # The attenuation of Zeger, Liang & Albert (1988): 1 / √(1 + c² σ²), c = 16 √3 / (15 π).
    c = 16 * np.sqrt(3) / (15 * np.pi)
    shrunk = mixed.coefficients["code"] / np.sqrt(1 + c**2 * mixed.cluster_variance)
    assert model.coefficients["code"] == pytest.approx(shrunk, abs=0.1)
    assert np.isnan(model.cluster_variance)
    robust = links.models.marginal(rating, predictors, groups=cluster, standard_errors="robust")
    assert robust.standard_errors["code"] < model.standard_errors["code"]
    with pytest.raises(QualError, match="bias_reduced"):
        links.models.marginal(rating, predictors, groups=cluster, standard_errors="naive")


@pytest.mark.long
@pytest.mark.parametrize("reason", ["constant_rating", "no_complete_rows", "one_cluster", "separation"])
def test_estimating_equations_name_the_reason_too(reason: str) -> None:
    rating, predictors, cluster = NOTHING[reason]
    model = links.models.marginal(pd.Series(rating), pd.DataFrame(predictors), groups=pd.Series(cluster))
    assert model.reason == reason
    assert model.coefficients.isna().all()


def test_the_polychoric_correlation_is_recovered_and_symmetric() -> None:
    rng = np.random.default_rng(13)
    x = rng.standard_normal(4000)
    y = -0.6 * x + 0.8 * rng.standard_normal(4000)
    first, second = pd.Series(np.digitize(x, [-1, 0, 1.5])), pd.Series(np.digitize(y, [-0.5, 0.4]))
    found, turned = links.scales.polychoric(first, second), links.scales.polychoric(second, -first)
    assert found.low < -0.6 < found.high
    assert turned.estimate == pytest.approx(-found.estimate, abs=1e-7)
    assert turned.standard_error == pytest.approx(found.standard_error, rel=1e-4)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([1, 2, 3, 1], [1, 1, 1, 1], "constant_rating"),
        ([np.nan, 2], [1, np.nan], "no_complete_rows"),
        ([0, 0, 1, 1], [0, 0, 1, 1], "separation"),
        ([0, 0, 1, 1, 1], [0, 0, 0, 1, 1], "separation"),
    ],
)
def test_no_polychoric_correlation_is_named(first: list[float], second: list[float], reason: str) -> None:
    found = links.scales.polychoric(pd.Series(first), pd.Series(second))
    assert found.reason == reason
    assert np.isnan(found.estimate)


def test_the_polychoric_correlation_refuses_bad_input() -> None:
    with pytest.raises(TableError, match="same rows"):
        links.scales.polychoric(pd.Series([1, 2]), pd.Series([1, 2, 3]))
    with pytest.raises(QualError, match="between 0 and 1"):
        links.scales.polychoric(pd.Series([1, 2]), pd.Series([1, 2]), confidence_level=1)


@pytest.mark.long
def test_too_few_nodes_are_said_to_be() -> None:
    rating, predictors, cluster = study(np.random.default_rng(3), clusters=400, size=3, sd=6.0)
    found = {
        nodes: links.models.cumulative_mixed(rating, predictors, groups=cluster, quadrature=nodes)
        for nodes in (1, 10, 25)
    }
    assert found[1].cautions == ("coarse_quadrature",)
    assert found[10].cautions == found[25].cautions == ()
    assert found[10].cluster_sd == pytest.approx(found[25].cluster_sd, rel=0.01)
    assert fitted(quadrature=100).coefficients["tempwarm"] == pytest.approx(3.06190, abs=1e-4)
