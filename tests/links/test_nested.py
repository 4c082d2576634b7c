from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special, stats

from sense7_qual import links
from sense7_qual.errors import TableError
from sense7_qual.links.models._likelihood import Nested, Parameters, integrate_nested, patterns_of
from tests.helpers.rating_studies import with_means
from tests.helpers.simulation import studies

CUTS = np.array([-1.5, 0.0, 1.2])


def study(
    rng: np.random.Generator,
    *,
    participants: int = 40,
    conversations: int = 3,
    turns: int = 5,
    sd: float = 1.0,
    inner_sd: float = 0.8,
) -> dict[str, Any]:
    """`code` varies between turns (its coefficient is .8), `system` between conversations (−.7)."""
    document = np.repeat(np.arange(participants * conversations), turns)
    case = document // conversations
    frame = pd.DataFrame({"code": rng.random(len(case)) < 0.4, "system": rng.random(len(case)) < 0.5}) * 1.0
    frame["system"] = frame["system"].to_numpy()[document * turns]
    effects = sd * rng.standard_normal(participants)[case]
    effects = effects + inner_sd * rng.standard_normal(participants * conversations)[document]
    latent = frame["code"] * 0.8 - frame["system"] * 0.7 + effects + rng.logistic(size=len(case))
    rating = pd.Series(1.0 + np.searchsorted(CUTS, latent))
    # Conversations are numbered anew for each participant.
    nested = pd.Series(document % conversations)
    return {"rating": rating, "predictors": frame, "groups": pd.Series(case), "nested": nested}


def tiny(link: str, turns: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray, Nested, Parameters]:
    rng = np.random.default_rng(3)
    document = np.repeat(np.arange(5), turns)
    x, level = rng.standard_normal((len(document), 1)), rng.integers(0, 4, len(document))
    level[:4] = [0, 1, 2, 3]
    nested = Nested(patterns_of(level, x, document), np.array([0, 0, 0, 1, 1]))
    return level, x, document, nested, Parameters(CUTS, np.array([0.6]), 1.1, 0.7)


def log_density(link: str, level: np.ndarray, eta: np.ndarray) -> np.ndarray:
    ends = np.concatenate([[-np.inf], CUTS, [np.inf]])
    below = special.expit if link == "logit" else special.ndtr
    return np.log(below(ends[level + 1] - eta) - below(ends[level] - eta))


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_the_likelihood_is_laplaces_by_a_general_search_and_a_dense_hessian(
    link: Literal["logit", "probit"],
) -> None:
    level, x, document, nested, at = tiny(link)
    expected = 0.0
    for case, documents in enumerate(([0, 1, 2], [3, 4])):
        rows = np.isin(document, documents)
        number = document[rows] - documents[0]

        def height(b: np.ndarray, rows: Any = rows, number: Any = number) -> float:
            eta = x[rows] @ at.coefficients + at.sd * b[0] + at.inner_sd * b[1:][number]
            return float(log_density(link, level[rows], eta).sum() - b @ b / 2)

        size, step = 1 + len(documents), 1e-3
        mode = optimize.minimize(lambda b, h=height: -h(b), np.zeros(size), tol=1e-10).x
        hessian = np.empty((size, size))
        for i, one in enumerate(step * np.eye(size)):
            for j, two in enumerate(step * np.eye(size)):
                corners = (height(mode + a * one + b * two) * a * b for a in (1, -1) for b in (1, -1))
                hessian[i, j] = sum(corners) / (4 * step**2)
        expected += height(mode) - np.linalg.slogdet(-hessian)[1] / 2
        assert case == nested.owner[documents[0]]
    assert integrate_nested(nested, at, link=link).log_likelihood == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("turns", "off"), [(4, 0.03), (40, 0.006)])
def test_the_likelihood_is_near_the_integral_by_brute_force(turns: int, off: float) -> None:
    """60 × 60 nodes of Gauss–Hermite quadrature, not adaptive; the more rows, the nearer."""
    level, x, document, nested, at = tiny("logit", turns)
    node, weight = np.polynomial.hermite_e.hermegauss(60)
    weight = np.log(weight / weight.sum())
    exact = 0.0
    for documents in ([0, 1, 2], [3, 4]):
        over_outer = weight.copy()
        for one in documents:
            rows = document == one
            eta = x[rows] @ at.coefficients
            effect = at.sd * node[:, None] + at.inner_sd * node
            height = sum(log_density("logit", y, e + effect) for y, e in zip(level[rows], eta, strict=True))
            over_outer += special.logsumexp(height + weight, axis=1)
        exact += special.logsumexp(over_outer)
    found = integrate_nested(nested, at, link="logit").log_likelihood
    assert found == pytest.approx(exact, abs=off * 5)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_the_gradient_is_that_of_the_likelihood(link: Literal["logit", "probit"]) -> None:
    *_, nested, at = tiny(link)
    values = np.concatenate([at.thresholds, at.coefficients, [at.sd, at.inner_sd]])

    def height(values: np.ndarray) -> Any:
        return integrate_nested(nested, Parameters(values[:3], values[3:4], *values[4:]), link=link)

    steps = 1e-5 * np.eye(len(values))
    numeric = [(height(values + s).log_likelihood - height(values - s).log_likelihood) / 2e-5 for s in steps]
    assert height(values).gradient == pytest.approx(np.array(numeric), abs=1e-7)


def test_without_a_variance_of_conversations_it_is_laplaces_approximation_of_the_plain_model() -> None:
    from sense7_qual.links.models._likelihood import integrate

    level, x, _, nested, at = tiny("logit")
    at = dataclasses.replace(at, inner_sd=0.0)
    plain = patterns_of(level, x, np.repeat(nested.owner, 4))
    found = integrate_nested(nested, at, link="logit")
    expected = integrate(plain, at, quadrature=1, link="logit")
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, abs=1e-9)
    assert found.gradient[:-1] == pytest.approx(expected.gradient, abs=1e-8)


@pytest.mark.simulation
def test_parameters_are_recovered_and_intervals_cover_where_the_plain_models_do_not() -> None:
    rng = np.random.default_rng(5)
    found, covered, plain = [], [], []
    for _ in studies(30):
        given = study(rng)
        model = links.models.cumulative_mixed(**given)
        assert model.converged
        found.append([*model.coefficients, model.cluster_sd, model.nested_sd])
        covered.append(holds(model))
        plain.append(holds(links.models.cumulative_mixed(**{**given, "nested": None})))
    assert np.mean(found, axis=0) == pytest.approx([0.8, -0.7, 1.0, 0.8], abs=0.12)
    # Of 30 intervals with 95 %, fewer than 25 would be seen in one of 60 such tests.
    assert (np.mean(covered, axis=0) >= 25 / 30).all()
    assert np.mean(plain, axis=0)[1] < np.mean(covered, axis=0)[1]


def holds(model: Any) -> np.ndarray:
    ends = model.intervals()
    true = np.array([0.8, -0.7])
    return ((ends["low"] <= true) & (true <= ends["high"])).to_numpy()


def test_what_the_result_says() -> None:
    given = study(np.random.default_rng(6))
    model = links.models.cumulative_mixed(**given)
    assert (model.n, model.n_clusters, model.n_nested, model.quadrature) == (600, 40, 120, 1)
    assert model.nested_variance == pytest.approx(model.nested_sd**2)
    assert model.covariance.index[-2:].tolist() == ["cluster_sd", "nested_sd"]
    assert model.degrees_of_freedom == 39
    assert "laplace_approximation" in model.cautions
    plain = links.models.cumulative_mixed(**{**given, "nested": None})
    assert plain.n_nested is None
    assert np.isnan(plain.nested_sd)
    # What the second variance gains in likelihood is far beyond chance (1 degree of freedom).
    assert stats.chi2.sf(2 * (model.log_likelihood - plain.log_likelihood), 1) < 1e-4


def test_the_order_of_rows_and_the_names_of_conversations_change_nothing() -> None:
    given = study(np.random.default_rng(7))
    order = np.random.default_rng(8).permutation(600)
    other = {name: column.iloc[order].reset_index(drop=True) for name, column in given.items()}
    other["nested"] = "t" + (other["groups"] * 3 + other["nested"]).astype(str)
    one, two = links.models.cumulative_mixed(**given), links.models.cumulative_mixed(**other)
    assert two.coefficients.to_numpy() == pytest.approx(one.coefficients.to_numpy(), abs=1e-6)
    assert two.nested_sd == pytest.approx(one.nested_sd, abs=1e-6)


@pytest.mark.long
def test_a_variance_of_zero_leaves_the_smaller_model() -> None:
    rng = np.random.default_rng(9)
    inner, outer = [], []
    for _ in range(6):
        given = study(rng, inner_sd=0.0)
        model, plain = (
            links.models.cumulative_mixed(**given),
            links.models.cumulative_mixed(**{**given, "nested": None}),
        )
        if model.nested_sd == 0:
            assert "zero_nested_variance" in model.cautions
            pd.testing.assert_series_equal(model.coefficients, plain.coefficients)
            assert model.quadrature == 10
        inner.append(model.nested_sd)
        model = links.models.cumulative_mixed(**study(rng, sd=0.0))
        assert model.boundary == (model.cluster_sd == 0)
        outer.append((model.cluster_sd, model.nested_sd))
    assert 0 in inner
    assert (0 in np.array(outer)[:, 0], np.mean(outer, axis=0)[1]) == (True, pytest.approx(0.8, abs=0.2))


def test_what_cannot_be_told_apart_is_named_and_missing_conversations_leave_rows_out() -> None:
    given = study(np.random.default_rng(10), participants=12)
    for nested in (given["groups"], pd.Series(range(180))):
        model = links.models.cumulative_mixed(**{**given, "nested": nested})
        assert model.reason == "levels_not_separable"
        assert model.coefficients.isna().all()
    constant = given["rating"].groupby([given["groups"], given["nested"]]).transform("first")
    found = links.models.cumulative_mixed(**{**given, "rating": constant})
    assert found.reason == "no_variation_within_clusters"
    some = given["nested"].astype(float).where(given["nested"].index > 9)
    assert links.models.cumulative_mixed(**{**given, "nested": some}).n_missing == 10
    with pytest.raises(TableError, match="nested 179"):
        links.models.cumulative_mixed(**{**given, "nested": given["nested"].iloc[1:]})
    with pytest.raises(TableError, match="same index"):
        links.models.cumulative_mixed(**{**given, "nested": given["nested"].set_axis(range(1, 181))})


@pytest.mark.long
def test_links_take_the_conversation_too() -> None:
    given = study(np.random.default_rng(11))
    units = pd.DataFrame({"unit_id": [f"u{i}" for i in range(600)], "empathy": given["rating"]})
    units["case_id"], units["document_id"] = given["groups"], given["groups"] * 3 + given["nested"]
    decisions = pd.concat(
        [
            units[["unit_id"]].assign(coder="ana", code=code, applied=values > 0)
            for code, values in given["predictors"].items()
        ]
    )
    about = {"rating": "empathy", "cluster": "case_id"}
    found = links.code_to_rating(decisions, units, **about, nested="document_id", seed=7, n_boot=1)
    for code, row in found.set_index("code").iterrows():
        x = with_means(given["predictors"][[code]].gt(0).astype(float), given["groups"])
        model = links.models.cumulative_mixed(**{**given, "predictors": x})
        assert np.log(row["odds_ratio"]) == pytest.approx(model.coefficients[code], abs=1e-6)
    x = with_means(given["predictors"].gt(0).astype(float), given["groups"])
    model = links.models.cumulative_mixed(**{**given, "predictors": x})
    together = links.joint(decisions, units, **about, nested="document_id", source="ana")
    expected = model.coefficients[list(given["predictors"])].tolist()
    assert np.log(together["odds_ratio"]).tolist() == pytest.approx(expected, abs=1e-5)
    assert together["caution"].tolist() == ["laplace_approximation"] * 2
    once = links.code_to_rating(decisions, units, **about, nested="case_id", seed=7, n_boot=1)
    assert set(once["odds_ratio_reason"]) == {"levels_not_separable"}
    unnamed = units.assign(document_id=units["document_id"].where(units.index > 2))
    with pytest.raises(TableError, match="label in column 'document_id'"):
        links.code_to_rating(decisions, unnamed, **about, nested="document_id", seed=7)
