"""Models of an ordinal rating: cumulative with random intercepts (`cumulative_mixed`), GEE (`marginal`)."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Final, Literal, get_args

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._reasons import Caution, Reason
from sense7_qual.errors import ArgumentError
from sense7_qual.links._inputs import Range
from sense7_qual.links.models._likelihood import (
    Floats,
    Link,
    Nested,
    Parameters,
    Patterns,
    integrate,
    patterns_of,
)
from sense7_qual.links.models._maximise import (
    Maximum,
    fixed_maximum,
    mixed_maximum,
    nested_maximum,
    reason_before,
    reason_within,
    runs_away,
    separated,
)
from sense7_qual.links.models._model import (
    CumulativeModel,
    Estimates,
    Integers,
    Observed,
    fitted,
    observed,
    unfitted,
)

_NO_SD: Final = 1e-3
_NOTICEABLE: Final = 0.1  # of a standard error
Errors = Literal["bias_reduced", "robust"]


def cumulative_mixed(
    rating: pd.Series,
    predictors: pd.DataFrame | pd.Series,
    *,
    groups: pd.Series,
    nested: pd.Series | None = None,
    rating_range: Range | None = None,
    quadrature: int = 10,
    link: Link = "logit",
) -> CumulativeModel:
    """Fit a cumulative-link mixed model: ordinal ratings with a normal random intercept per cluster.

    P(rating ≤ j) = F(threshold j − predictors · coefficients − u − v), u ~ normal(0, cluster_variance): the
    proportional-odds model (logit) or the ordinal probit model, with participants who rate higher or lower
    throughout. An odds ratio is that of a given participant's ratings with and without the predictor.

    Parameters
    ----------
    rating : Series
        Numbers, or an ordered Categorical; only the order enters. Levels that do not occur are dropped.
    predictors : DataFrame or Series
        Numbers or truth values, a column each, in the same rows as `rating` (and with the same index). No
        constant: the thresholds are the intercepts.
    groups : Series
        The participant of each row.
    nested : Series, optional
        The conversation of each row, where participants have several: adds a normal random intercept for
        each, v ~ normal(0, nested_variance). Conversations are distinguished within their participant, so
        they may be numbered from 1 for each. The likelihood is then Laplace's approximation, whatever
        `quadrature` is.
    rating_range : pair of numbers, optional
        The lowest and the highest rating, as for `code_to_rating`. An ordered Categorical states its levels.
    quadrature : int
        Nodes of the adaptive Gauss–Hermite quadrature, 1 to 100; 1 is Laplace's approximation.
    link : {"logit", "probit"}
        F: logistic or normal.

    Returns
    -------
    CumulativeModel
        A row in which the rating, a predictor, the cluster or `nested` is missing is left out and counted.
        Where nothing can be estimated, the estimates are NaN and `reason` says why.

    Raises
    ------
    TableError
        Ratings or predictors are not numbers (words without an order, infinite values), or the arguments do
        not have the same rows.
    ArgumentError
        `quadrature` or `link` is out of its range.

    Notes
    -----
    The marginal likelihood is maximised with its analytic gradient; standard errors are from its negative
    Hessian at the maximum (the gradient differentiated numerically). p and intervals use Student's t
    with k − 1 degrees of freedom for k clusters, which matters for few of them. Where the variance of the
    clusters is estimated as 0, the model is the one without random intercepts, and `boundary` is True.

    In simulated studies of 20, 50 and 300 participants with six ratings each (ICC 0 or .4) 95 % intervals
    covered the coefficient of a predictor that varies within participants in 94 to 97 %, and of one that
    varies between them in 93 to 96 %, but in 99 % with 20 participants and ICC 0
    (benchmarks/cumulative_mixed.py). In 5,000 simulated studies of 8 to 40 participants the search always
    ended at a maximum, or with a reason such as `separation`; in 362 of 500 that R's clmm fitted too, 95 % of
    the coefficients differ from R's by less than .00002 (benchmarks/mixed_robustness.md).

    Where conversations of a participant differ as well, a predictor that varies between them (the system)
    needs `nested`: without it p fell below .05 in 6 to 15 % of simulated studies without an effect, with it
    in 4 to 8 %. Laplace's approximation put a conversation's sd of .8 at .76 with six turns a conversation,
    .71 with three and .56 with two (200 studies each: benchmarks/nested_mixed.py).

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
    >>> model = cumulative_mixed(rating, warm, groups=judge)
    >>> model.n, model.n_clusters, model.cautions
    (12, 4, ('few_clusters', 'zero_variance'))
    """
    check_arguments(cumulative_mixed, locals())
    _check_settings(quadrature, link)
    rows = observed("cumulative_mixed", rating, predictors, groups, nested, rating_range=rating_range)
    reason = reason_before(rows) or reason_within(rows)
    if reason is not None:
        return unfitted(rows, reason, link=link, quadrature=quadrature)
    patterns = patterns_of(rows.level, rows.scaled, rows.cluster)
    fixed = fixed_maximum(patterns, link)
    if runs_away(fixed, link) and separated(rows):
        return unfitted(rows, Reason.SEPARATION, link=link, quadrature=quadrature)
    random = bool(rows.sizes.max() > 1)
    maximum = _highest(rows, patterns, fixed, link, quadrature) if random else fixed
    if not maximum.converged or runs_away(maximum, link):
        reason = Reason.SEPARATION if runs_away(maximum, link) else Reason.NOT_CONVERGED
        return unfitted(rows, reason, link=link, quadrature=quadrature)
    estimates = _estimates(rows, patterns, maximum, link, quadrature)
    nodes = 1 if maximum.at.inner_sd > 0 else quadrature
    return fitted(rows, estimates, link=link, quadrature=nodes if random else None, random=random)


def _highest(rows: Observed, patterns: Patterns, fixed: Maximum, link: Link, quadrature: int) -> Maximum:
    """Return the maximum of the model with random intercepts; of a smaller one where a variance is 0."""
    if rows.nested is not None:
        maximum = _with_conversations(rows, rows.nested, patterns, fixed, link)
        if maximum is not None:
            return maximum
    maximum = mixed_maximum(patterns, link, quadrature, fixed)
    return fixed if maximum.at.sd < _NO_SD or maximum.log_likelihood < fixed.log_likelihood else maximum


def _with_conversations(
    rows: Observed, document: Integers, patterns: Patterns, fixed: Maximum, link: Link
) -> Maximum | None:
    """Return the maximum with a second random intercept, or None where its variance is estimated as 0."""
    by_document = patterns_of(rows.level, rows.scaled, document)
    plain = mixed_maximum(patterns, link, 1, fixed)
    alone = mixed_maximum(by_document, link, 1, fixed)
    owner = rows.cluster[np.unique(document, return_index=True)[1]]
    start = replace(plain.at, sd=max(plain.at.sd, 0.3) * 0.8, inner_sd=max(alone.at.sd, 0.3) * 0.5)
    maximum = nested_maximum(Nested(by_document, owner), link, start)
    if maximum.at.inner_sd < _NO_SD:
        return None
    if maximum.at.sd >= _NO_SD:
        return maximum
    # Participants do not differ beyond their conversations: the conversations' intercept alone is left.
    scores = np.array([alone.scores[owner == each].sum(axis=0) for each in range(int(owner[-1]) + 1)])
    return replace(alone, at=replace(alone.at, sd=0.0, inner_sd=alone.at.sd), scores=scores)


def _estimates(
    rows: Observed, patterns: Patterns, maximum: Maximum, link: Link, quadrature: int
) -> Estimates:
    """Return the estimates in the predictors' own units."""
    named = {"cluster_sd": maximum.at.sd, "nested_sd": maximum.at.inner_sd}
    sds = {name: sd for name, sd in named.items() if sd > 0}
    back = rows.unscaling(extra=len(sds))
    covariance: Floats = np.linalg.inv(-maximum.hessian).astype(np.float64)
    values = np.concatenate([maximum.at.thresholds, maximum.at.coefficients, list(sds.values())])
    coarse = set(sds) == {"cluster_sd"} and _coarse(patterns, maximum.at, covariance, link, quadrature)
    return Estimates(
        back @ values,
        back @ covariance @ back.T,
        maximum.log_likelihood,
        maximum.gradient_norm,
        (Caution.COARSE_QUADRATURE,) * coarse,
        tuple(sds),
        maximum.scores @ covariance @ back.T,
    )


def _coarse(patterns: Patterns, at: Parameters, covariance: Floats, link: Link, quadrature: int) -> bool:
    """Return True if a Newton step on the likelihood with many more nodes moves an estimate noticeably."""
    finer = integrate(patterns, at, quadrature=min(max(25, 3 * quadrature), 100), link=link)
    return bool((np.abs(covariance @ finer.gradient) > _NOTICEABLE * np.sqrt(np.diag(covariance))).any())


def _check_settings(quadrature: int, link: str) -> None:
    whole = isinstance(quadrature, int | np.integer) and not isinstance(quadrature, bool)
    if not whole or not 1 <= quadrature <= 100:
        raise ArgumentError(
            "cumulative_mixed: expected quadrature to be a whole number from 1 to 100 – found "
            f"{quadrature!r} – 10 is usual, 1 is Laplace's approximation."
        )
    if link not in ("logit", "probit"):
        raise ArgumentError(
            f"cumulative_mixed: expected link 'logit' or 'probit' – found {link!r} – only logit gives "
            "odds ratios."
        )


def marginal(
    rating: pd.Series,
    predictors: pd.DataFrame | pd.Series,
    *,
    groups: pd.Series,
    rating_range: Range | None = None,
    standard_errors: Errors = "bias_reduced",
) -> CumulativeModel:
    """Fit ordinal generalised estimating equations: odds ratios averaged over the population of clusters.

    logit P(rating ≤ j) = threshold j − predictors · coefficients; rows of a cluster may depend on each other
    in any way. An odds ratio compares ratings with and without the predictor over all participants, and is
    nearer to 1 than that of a given participant (`cumulative_mixed`), the more so the more participants
    differ.

    Parameters
    ----------
    rating, predictors, groups, rating_range
        As in `cumulative_mixed`.
    standard_errors : {"bias_reduced", "robust"}
        Mancl and DeRouen's, corrected for few clusters, or the sandwich estimate, too small with few
        clusters.

    Returns
    -------
    CumulativeModel
        With the logit link, and without random intercepts: cluster_variance, cluster_sd and log_likelihood
        are NaN, quadrature is None. A row in which a value is missing is left out and counted. `reason` says
        why there are no estimates, as in `cumulative_mixed`, except that ratings may be constant within every
        cluster.

    Raises
    ------
    TableError
        Ratings or predictors are not numbers, or the arguments do not have the same rows.
    ArgumentError
        `standard_errors` is unknown.

    Notes
    -----
    statsmodels' OrdinalGEE with working independence between the rows of a cluster. p and intervals use
    Student's t with k − 1 degrees of freedom for k clusters; 95 % intervals covered in 93 to 97 % of 200
    simulated studies of 20 participants (benchmarks/cumulative_mixed.py).

    References
    ----------
    Heagerty & Zeger (1996), Marginal regression models for clustered ordinal measurements, Journal of the
    American Statistical Association 91, 1024–1036. Mancl & DeRouen (2001), A covariance estimator for GEE
    with improved small-sample properties, Biometrics 57, 126–134.

    Examples
    --------
    >>> judge = pd.Series([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4])
    >>> warm = pd.Series([0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1], name="warm")
    >>> rating = pd.Series([2, 3, 4, 1, 3, 2, 3, 3, 5, 2, 4, 4])
    >>> model = marginal(rating, warm, groups=judge)
    >>> bool(model.odds_ratios()["odds_ratio"]["warm"] > 1), model.cautions
    (True, ('few_clusters',))
    """
    check_arguments(marginal, locals())
    if standard_errors not in get_args(Errors):
        raise ArgumentError(
            f"marginal: expected standard_errors 'bias_reduced' or 'robust' – found {standard_errors!r} – "
            "'bias_reduced' is right for few clusters as for many."
        )
    rows = observed("marginal", rating, predictors, groups, rating_range=rating_range)
    reason = reason_before(rows)
    if reason is not None:
        return unfitted(rows, reason, link="logit", quadrature=None)
    start = fixed_maximum(patterns_of(rows.level, rows.scaled, rows.cluster), "logit")
    if runs_away(start, "logit") and separated(rows):
        return unfitted(rows, Reason.SEPARATION, link="logit", quadrature=None)
    estimates = _estimated(
        rows, np.concatenate([-start.at.thresholds, start.at.coefficients]), standard_errors
    )
    if estimates is None:
        return unfitted(rows, Reason.NOT_CONVERGED, link="logit", quadrature=None)
    return fitted(rows, estimates, link="logit", quadrature=None, random=False)


def _estimated(rows: Observed, start: Floats, standard_errors: Errors) -> Estimates | None:
    """Return the estimates in the predictors' own units; None where the equations are not solved."""
    from statsmodels.genmod.cov_struct import OrdinalIndependence
    from statsmodels.genmod.generalized_estimating_equations import OrdinalGEE

    n_thresholds = len(rows.labels) - 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say is in `converged` and in the standard errors
        model = OrdinalGEE(rows.level, rows.scaled, groups=rows.cluster, cov_struct=OrdinalIndependence())
        try:
            result = model.fit(start_params=start, cov_type=standard_errors)
        except np.linalg.LinAlgError:  # a singular matrix on the way
            return None
    sign = np.where(np.arange(len(start)) < n_thresholds, -1.0, 1.0)  # it models P(rating > j)
    covariance = np.asarray(result.cov_params(), dtype=np.float64) * np.outer(sign, sign)
    values = np.asarray(result.params, dtype=np.float64) * sign
    if not result.converged or not (np.isfinite(values).all() and (np.diag(covariance) > 0).all()):
        return None
    back = rows.unscaling()
    return Estimates(back @ values, back @ covariance @ back.T, np.nan, float(result.score_norm))
