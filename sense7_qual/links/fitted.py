"""A fitted model of ordinal ratings: estimates, their uncertainty, and what went wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sense7_qual.errors import QualError

__all__ = ["CumulativeModel"]


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
        Of thresholds, coefficients and, where it was estimated above 0, cluster_sd.
    cluster_variance, cluster_sd : float
        Variance, and standard deviation, of the clusters' random intercepts; NaN in a model without them.
    log_likelihood : float
        NaN where the model has none (estimating equations).
    n, n_missing, n_clusters : int
        Complete rows, rows left out because a value is missing, and clusters of the complete rows.
    degrees_of_freedom : float
        Of Student's t: the number of clusters less one.
    converged : bool
        The gradient vanishes at a proper maximum.
    gradient_norm : float
        Largest absolute element of the gradient, predictors in standard deviations.
    boundary : bool
        The clusters' variance is estimated as 0: the model is that without random intercepts.
    reason : str or None
        Why there are no estimates: `no_complete_rows`, `constant_rating`, `one_cluster`,
        `collinear_predictors` (see `dependent`), `separation` (an estimate would be infinite),
        `no_variation_within_clusters` (every cluster has one rating alone: its variance would be infinite),
        `not_converged`.
    cautions : tuple of str
        What to know of estimates that there are: `few_clusters` (fewer than 10), `clusters_of_one` (no
        cluster has two rows: no random intercept is estimated), `zero_variance` (see `boundary`).
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
    log_likelihood: float
    n: int
    n_missing: int
    n_clusters: int
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
        QualError
            `confidence_level` is not between 0 and 1.
        """
        from scipy import special

        if not 0 < confidence_level < 1:
            raise QualError(
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
        QualError
            The link is not "logit", or `confidence_level` is not between 0 and 1.
        """
        if self.link != "logit":
            raise QualError(
                f"odds_ratios: expected a model with link='logit' – found {self.link!r} – its coefficients "
                "are no log odds ratios; take `intervals`."
            )
        found = self.intervals(confidence_level)
        ends = {"odds_ratio": "coefficient", "low": "low", "high": "high"}
        ratios = {name: np.exp(found[end].to_numpy()) for name, end in ends.items()}
        return pd.DataFrame(ratios, index=found.index).assign(p=found["p"])
