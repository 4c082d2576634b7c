"""The cumulative-link mixed model: ordinal ratings, a random intercept for each participant."""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
import pandas as pd

from sense7_qual.errors import QualError
from sense7_qual.links.cumulative import Floats, Link
from sense7_qual.links.fitted import CumulativeModel
from sense7_qual.links.maximum import Maximum, fixed_maximum, mixed_maximum
from sense7_qual.links.observed import Observed, observed
from sense7_qual.links.quadrature import Parameters, patterns_of

__all__ = ["cumulative_mixed"]

_FEW_CLUSTERS: Final = 10
_NO_SD: Final = 1e-3
_RUNAWAY: Final = 12.0  # a coefficient, on the logit scale for one standard deviation, or a cluster sd


def cumulative_mixed(
    rating: pd.Series,
    predictors: pd.DataFrame | pd.Series,
    *,
    cluster: pd.Series,
    quadrature: int = 10,
    link: Link = "logit",
) -> CumulativeModel:
    """Fit a cumulative-link mixed model: ordinal ratings with a normal random intercept per cluster.

    P(rating ≤ j) = F(threshold j − predictors · coefficients − u), u ~ normal(0, cluster_variance): the
    proportional-odds model (logit) or the ordinal probit model, with participants who rate higher or lower
    throughout. An odds ratio is that of a given participant's ratings with and without the predictor.

    Parameters
    ----------
    rating : Series
        Numbers, or an ordered Categorical; only the order enters. Levels that do not occur are dropped.
    predictors : DataFrame or Series
        Numbers or truth values, a column each, in the same rows as `rating` (and with the same index). No
        constant: the thresholds are the intercepts.
    cluster : Series
        The participant of each row.
    quadrature : int
        Nodes of the adaptive Gauss–Hermite quadrature, 1 to 100; 1 is Laplace's approximation.
    link : {"logit", "probit"}
        F: logistic or normal.

    Returns
    -------
    CumulativeModel
        See there; a row in which the rating, a predictor or the cluster is missing is left out and counted.
        Where nothing can be estimated, the estimates are NaN and `reason` says why.

    Raises
    ------
    TableError
        Ratings or predictors are not numbers (words without an order, infinite values), or the rows of the
        arguments do not run alike.
    QualError
        `quadrature` or `link` is out of its range.

    Notes
    -----
    The marginal likelihood is maximised with its analytic gradient; standard errors are from the negative
    Hessian of it at the maximum (the gradient differentiated numerically). p and intervals use Student's t
    with k − 1 degrees of freedom for k clusters, which matters for few of them. Where the variance of the
    clusters is estimated as 0, the model is the one without random intercepts, and is marked.

    References
    ----------
    Hedeker & Gibbons (1994), A random-effects ordinal regression model for multilevel analysis, Biometrics
    50, 933–944. Liu & Pierce (1994), A note on Gauss–Hermite quadrature, Biometrika 81, 624–629.
    Christensen (2022), ordinal: regression models for ordinal data, R package (clmm): the reference.

    Examples
    --------
    >>> judge = pd.Series([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4])
    >>> warm = pd.Series([0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1], name="warm")
    >>> rating = pd.Series([2, 3, 4, 1, 3, 2, 3, 3, 5, 2, 4, 4])
    >>> model = cumulative_mixed(rating, warm, cluster=judge)
    >>> model.n, model.n_clusters, model.cautions
    (12, 4, ('few_clusters', 'zero_variance'))
    """
    _check_settings(quadrature, link)
    rows = observed("cumulative_mixed", rating, predictors, cluster)
    reason = _reason(rows)
    if reason is not None:
        return _without_estimates(rows, reason, link, quadrature)
    scaled = _Scaled(rows)
    fixed = fixed_maximum(scaled.patterns, link)
    if (_far(fixed.at) or not fixed.converged) and separated(rows):
        return _without_estimates(rows, "separation", link, quadrature)
    if rows.sizes.max() == 1:
        return _result(rows, scaled, fixed, link, quadrature)
    found = mixed_maximum(scaled.patterns, link, quadrature, fixed)
    if found.at.sd < _NO_SD or found.log_likelihood < fixed.log_likelihood:
        found = fixed
    if _far(found.at) or not found.converged:
        reason = "separation" if _far(found.at) else "not_converged"
        return _without_estimates(rows, reason, link, quadrature)
    return _result(rows, scaled, found, link, quadrature)


def separated(rows: Observed) -> bool:
    """Return whether some direction of the parameters raises the likelihood for ever.

    That is so where thresholds and coefficients can move so that no row's level becomes less probable and
    some row's becomes more so: perfect, or quasi-perfect, prediction (a linear programme decides).
    """
    from scipy import optimize

    distinct = np.unique(np.column_stack([rows.level, rows.predictors]), axis=0)
    level, x = distinct[:, 0].astype(np.int64), distinct[:, 1:]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    steps = np.eye(len(rows.labels) - 1)
    upper, lower = level < len(steps), level > 0
    gains = np.vstack(
        [
            np.hstack([steps[level[upper]], -x[upper]]),  # each upper threshold rises above the row …
            np.hstack([-steps[level[lower] - 1], x[lower]]),  # … and each lower one falls below it
        ]
    )
    best = optimize.linprog(-gains.sum(axis=0), A_ub=-gains, b_ub=np.zeros(len(gains)), bounds=(-1, 1))
    return bool(best.status == 0 and gains.sum(axis=0) @ best.x > 1e-6)


class _Scaled:
    """The rows as patterns, predictors centred and in standard deviations."""

    def __init__(self, rows: Observed) -> None:
        self.mean = rows.predictors.mean(axis=0)
        self.sd = rows.predictors.std(axis=0)
        self.patterns = patterns_of(rows.level, (rows.predictors - self.mean) / self.sd, rows.cluster)

    def back(self, n_thresholds: int, with_sd: bool) -> Floats:
        """Return the matrix that takes thresholds, coefficients (and sd) to the predictors' own units."""
        q = len(self.sd)
        matrix = np.eye(n_thresholds + q + with_sd)
        inner = slice(n_thresholds, n_thresholds + q)
        matrix[inner, inner] = np.diag(1 / self.sd)
        matrix[:n_thresholds, inner] = self.mean / self.sd
        return matrix


def _check_settings(quadrature: int, link: str) -> None:
    whole = isinstance(quadrature, int | np.integer) and not isinstance(quadrature, bool)
    if not whole or not 1 <= quadrature <= 100:
        raise QualError(
            "cumulative_mixed: expected quadrature to be a whole number from 1 to 100 – found "
            f"{quadrature!r} – 10 is usual, 1 is Laplace's approximation."
        )
    if link not in ("logit", "probit"):
        raise QualError(
            f"cumulative_mixed: expected link 'logit' or 'probit' – found {link!r} – odds ratios are of the "
            "logit link."
        )


def _reason(rows: Observed) -> str | None:
    """Say why nothing can be estimated, as far as that is seen before trying."""
    if not rows.n:
        return "no_complete_rows"
    if len(rows.labels) == 1:
        return "constant_rating"
    if len(rows.sizes) == 1:
        return "one_cluster"
    if rows.dependent:
        return "collinear_predictors"
    pairs = pd.DataFrame({"cluster": rows.cluster, "level": rows.level}).drop_duplicates()
    if len(pairs) == len(rows.sizes) and rows.sizes.max() > 1:
        return "no_variation_within_clusters"
    return None


def _far(at: Parameters) -> bool:
    return bool(np.abs(at.coefficients).max(initial=0) > _RUNAWAY or at.sd > _RUNAWAY)


def _result(rows: Observed, scaled: _Scaled, found: Maximum, link: Link, quadrature: int) -> CumulativeModel:
    """Return the estimates in the predictors' own units."""
    from scipy import special

    at, n_thresholds = found.at, len(found.at.thresholds)
    with_sd = at.sd != 0
    back = scaled.back(n_thresholds, with_sd)
    estimates = back @ np.concatenate([at.thresholds, at.coefficients, [at.sd] * with_sd])
    covariance = back @ np.linalg.inv(-found.hessian) @ back.T
    names = _names(rows)
    errors = np.sqrt(np.diag(covariance))
    inner = slice(n_thresholds, n_thresholds + len(rows.names))
    degrees = float(len(rows.sizes) - 1)
    labels = [*names, *rows.names, *(["cluster_sd"] * with_sd)]
    alone = rows.sizes.max() == 1
    index = pd.Index(rows.names, name="predictor")
    return dataclasses.replace(
        _without_estimates(rows, None, link, quadrature),
        degrees_of_freedom=degrees,
        coefficients=pd.Series(estimates[inner], index, name="coefficient"),
        standard_errors=pd.Series(errors[inner], index, name="standard_error"),
        p_values=pd.Series(
            2 * special.stdtr(degrees, -np.abs(estimates[inner] / errors[inner])), index, name="p"
        ),
        thresholds=pd.Series(estimates[:n_thresholds], pd.Index(names, name="levels"), name="threshold"),
        covariance=pd.DataFrame(covariance, index=labels, columns=labels),
        cluster_variance=np.nan if alone else at.sd**2,
        cluster_sd=np.nan if alone else at.sd,
        log_likelihood=found.log_likelihood,
        converged=found.converged,
        gradient_norm=found.gradient_norm,
        boundary=not with_sd and not alone,
        cautions=_cautions(rows, boundary=not with_sd and not alone),
    )


def _cautions(rows: Observed, *, boundary: bool) -> tuple[str, ...]:
    found = {
        "few_clusters": len(rows.sizes) < _FEW_CLUSTERS,
        "clusters_of_one": rows.sizes.max() == 1,
        "zero_variance": boundary,
    }
    return tuple(name for name, holds in found.items() if holds)


def _names(rows: Observed) -> list[str]:
    return [f"{low}|{high}" for low, high in zip(rows.labels, rows.labels[1:], strict=False)]


def _without_estimates(
    rows: Observed, reason: str | None, link: Link, quadrature: int | None
) -> CumulativeModel:
    index = pd.Index(rows.names, name="predictor")
    names = _names(rows)
    labels = [*names, *rows.names]
    return CumulativeModel(
        coefficients=pd.Series(np.nan, index, name="coefficient"),
        standard_errors=pd.Series(np.nan, index, name="standard_error"),
        p_values=pd.Series(np.nan, index, name="p"),
        thresholds=pd.Series(np.nan, pd.Index(names, name="levels"), name="threshold", dtype="float64"),
        covariance=pd.DataFrame(np.nan, index=labels, columns=labels),
        cluster_variance=np.nan,
        cluster_sd=np.nan,
        log_likelihood=np.nan,
        n=rows.n,
        n_missing=rows.n_missing,
        n_clusters=len(rows.sizes) if rows.n else 0,
        degrees_of_freedom=np.nan,
        converged=False,
        gradient_norm=np.nan,
        boundary=False,
        reason=reason,
        cautions=(),
        dependent=rows.dependent,
        link=link,
        quadrature=quadrature,
    )
