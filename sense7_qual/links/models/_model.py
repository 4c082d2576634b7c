"""A fitted model of ordinal ratings: estimates, their uncertainty, and what went wrong."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._reasons import Caution, Reason
from sense7_qual.errors import ArgumentError
from sense7_qual.links.models._design import Observed
from sense7_qual.links.models._link_functions import Floats

__all__ = ["CumulativeModel", "Estimates", "fitted", "unfitted"]

_FEW_CLUSTERS: Final = 10


@dataclass(frozen=True, slots=True, eq=False)
class CumulativeModel:
    """A cumulative-link model of a rating: P(rating ≤ j) = F(threshold j − predictors · coefficients − …).

    Attributes
    ----------
    coefficients : Series
        By predictor, on the scale of the link: positive = higher ratings. With the logit link, exp(…) is
        an odds ratio. NaN where `reason` says why.
    standard_errors, p_values : Series
        By predictor. p is two-sided, of the hypothesis that the coefficient is 0, from Student's t.
    thresholds : Series
        By pair of neighbouring levels ("1|2"), rising.
    covariance : DataFrame
        Of thresholds, coefficients and, where they were estimated above 0, cluster_sd and nested_sd.
    cluster_variance, cluster_sd : float
        Variance, and standard deviation, of the clusters' random intercepts; NaN in a model without them.
    nested_variance, nested_sd : float
        The same of the conversations' within clusters; NaN in a model without them.
    log_likelihood : float
        NaN where the model has none (estimating equations).
    n, n_missing, n_clusters : int
        Complete rows, rows left out because a value is missing, and clusters of the complete rows.
    n_nested : int or None
        Conversations of the complete rows; None where none were given.
    degrees_of_freedom : float
        Of Student's t: the number of clusters less one.
    converged : bool
        The gradient vanishes at a proper maximum.
    gradient_norm : float
        Largest absolute element of the gradient, predictors in standard deviations.
    boundary : bool
        The clusters' variance is estimated as 0: the model is that without their random intercepts.
    reason : str or None
        Why there are no estimates: `no_complete_rows`, `constant_rating`, `one_cluster`,
        `collinear_predictors` (see `dependent`), `separation` (an estimate would be infinite: the predictors,
        or predictors and clusters, tell some levels apart perfectly, or all but), `not_converged`,
        `no_variation_within_clusters` (every cluster, or every conversation, has one level alone: its
        variance would be infinite), `levels_not_separable` (each cluster has one conversation, or each
        conversation one row).
    cautions : tuple of str
        What to know of estimates that there are: `few_clusters` (fewer than 10), `clusters_of_one` (no
        cluster has two rows: no random intercept is estimated), `zero_variance` (see `boundary`),
        `zero_nested_variance` (conversations of a cluster differ no more than chance makes them),
        `laplace_approximation` (of the model with conversations: its variances come out somewhat small where
        conversations have few rows), `coarse_quadrature` (with many more nodes an estimate would move by more
        than a tenth of its standard error: take more).
    dependent : tuple of str
        Predictors that are constant, or linear combinations of those before them.
    link : str
        "logit" or "probit".
    quadrature : int or None
        Nodes per cluster; None where nothing was integrated.
    """

    coefficients: pd.Series
    standard_errors: pd.Series
    p_values: pd.Series
    thresholds: pd.Series
    covariance: pd.DataFrame
    cluster_variance: float
    cluster_sd: float
    nested_variance: float
    nested_sd: float
    log_likelihood: float
    n: int
    n_missing: int
    n_clusters: int
    n_nested: int | None
    degrees_of_freedom: float
    converged: bool
    gradient_norm: float
    boundary: bool
    reason: str | None
    cautions: tuple[str, ...]
    dependent: tuple[str, ...]
    link: str
    quadrature: int | None

    def intervals(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """Return each predictor's coefficient with its interval, by Student's t.

        Parameters
        ----------
        confidence_level : float
            Between 0 and 1.

        Returns
        -------
        DataFrame
            By predictor: coefficient, standard_error, low, high, p.

        Raises
        ------
        ArgumentError
            `confidence_level` is not between 0 and 1.
        """
        check_arguments(CumulativeModel.intervals, locals())
        from scipy import special

        if not 0 < confidence_level < 1:
            raise ArgumentError(
                f"intervals: expected confidence_level between 0 and 1 – found {confidence_level!r} – 0.95 "
                "is usual."
            )
        t = float(special.stdtrit(self.degrees_of_freedom, (1 + confidence_level) / 2))
        return pd.DataFrame(
            {
                "coefficient": self.coefficients,
                "standard_error": self.standard_errors,
                "low": self.coefficients - t * self.standard_errors,
                "high": self.coefficients + t * self.standard_errors,
                "p": self.p_values,
            }
        )

    def odds_ratios(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """Return each predictor's odds ratio of a higher rating with its interval; of the logit link alone.

        Parameters
        ----------
        confidence_level : float
            Between 0 and 1.

        Returns
        -------
        DataFrame
            By predictor: odds_ratio, low, high (above 0), p.

        Raises
        ------
        ArgumentError
            The link is not "logit", or `confidence_level` is not between 0 and 1.
        """
        check_arguments(CumulativeModel.odds_ratios, locals())
        if self.link != "logit":
            raise ArgumentError(
                f"odds_ratios: expected a model with link='logit' – found {self.link!r} – its coefficients "
                "are no log odds ratios; take `intervals`."
            )
        intervals = self.intervals(confidence_level)
        ends = {"odds_ratio": "coefficient", "low": "low", "high": "high"}
        ratios = {name: np.exp(intervals[end].to_numpy()) for name, end in ends.items()}
        return pd.DataFrame(ratios, index=intervals.index).assign(p=intervals["p"])


@dataclass(frozen=True, slots=True)
class Estimates:
    """What a search found, in the predictors' own units: thresholds, coefficients, and the `sds` named."""

    values: Floats
    covariance: Floats
    log_likelihood: float
    gradient_norm: float
    cautions: tuple[str, ...] = ()
    sds: tuple[str, ...] = ()


def fitted(
    rows: Observed, fit: Estimates, *, link: str, quadrature: int | None, random: bool
) -> CumulativeModel:
    """Return the model of what was found; `random`: with random intercepts, whose variance may be 0."""
    from scipy import special

    names, n_thresholds, q = _pairs(rows), len(rows.labels) - 1, len(rows.names)
    sds = dict(zip(fit.sds, fit.values[n_thresholds + q :].tolist(), strict=True))
    estimates = fit.values[n_thresholds : n_thresholds + q]
    errors = np.sqrt(np.diag(fit.covariance))[n_thresholds : n_thresholds + q]
    degrees = float(len(rows.sizes) - 1)
    labels = [*names, *rows.names, *fit.sds]
    index = pd.Index(rows.names, name="predictor", dtype=object)
    deviation = sds.get("cluster_sd", 0.0) if random else np.nan
    inner = sds.get("nested_sd", 0.0) if rows.nested is not None else np.nan
    cautions = {
        Caution.FEW_CLUSTERS: len(rows.sizes) < _FEW_CLUSTERS,
        Caution.CLUSTERS_OF_ONE: rows.sizes.max() == 1,
        Caution.ZERO_VARIANCE: deviation == 0,
        Caution.ZERO_NESTED_VARIANCE: inner == 0,
        Caution.LAPLACE_APPROXIMATION: inner > 0,
    }
    return dataclasses.replace(
        unfitted(rows, None, link=link, quadrature=quadrature),
        coefficients=pd.Series(estimates, index, name="coefficient"),
        standard_errors=pd.Series(errors, index, name="standard_error"),
        p_values=pd.Series(2 * special.stdtr(degrees, -np.abs(estimates / errors)), index, name="p"),
        thresholds=pd.Series(fit.values[:n_thresholds], pd.Index(names, name="levels"), name="threshold"),
        covariance=pd.DataFrame(fit.covariance, index=labels, columns=labels),
        cluster_variance=deviation**2,
        cluster_sd=deviation,
        nested_variance=inner**2,
        nested_sd=inner,
        log_likelihood=fit.log_likelihood,
        degrees_of_freedom=degrees,
        converged=True,
        gradient_norm=fit.gradient_norm,
        boundary=deviation == 0,
        cautions=(*(name for name, holds in cautions.items() if holds), *fit.cautions),
    )


def unfitted(rows: Observed, reason: Reason | None, *, link: str, quadrature: int | None) -> CumulativeModel:
    """Return the model without estimates, and why."""
    index, names = pd.Index(rows.names, name="predictor", dtype=object), _pairs(rows)
    labels = [*names, *rows.names]
    return CumulativeModel(
        coefficients=pd.Series(np.nan, index, name="coefficient"),
        standard_errors=pd.Series(np.nan, index, name="standard_error"),
        p_values=pd.Series(np.nan, index, name="p"),
        thresholds=pd.Series(np.nan, pd.Index(names, name="levels", dtype=object), name="threshold"),
        covariance=pd.DataFrame(np.nan, index=labels, columns=labels),
        cluster_variance=np.nan,
        cluster_sd=np.nan,
        nested_variance=np.nan,
        nested_sd=np.nan,
        log_likelihood=np.nan,
        n=rows.n,
        n_missing=rows.n_missing,
        n_clusters=len(rows.sizes),
        n_nested=None if rows.nested is None else len(np.unique(rows.nested)),
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


def _pairs(rows: Observed) -> list[str]:
    return [f"{low}|{high}" for low, high in zip(rows.labels, rows.labels[1:], strict=False)]
