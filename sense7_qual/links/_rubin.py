"""Estimates of several coders, or of several imputations, combined into one.

`pool_jointly` takes the coders' estimates for what they are, estimates from the same participants. Rubin's
rules take each for one imputation of the codes, with the uncertainty within an analysis and that between them
added up: right for imputations, and wider than need be for coders.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sense7_qual.errors import ArgumentError

__all__ = ["Pooled", "pool", "pool_jointly"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pooled:
    """A combined estimate: its standard error, degrees of freedom, and the share of the variance between.

    `weights` (n,) are those of the estimates, adding up to 1.
    """

    estimate: float
    standard_error: float
    df: float
    between_share: float
    n: int
    weights: tuple[float, ...] = (1.0,)

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Return the ends of the t interval."""
        from scipy import special

        half = float(special.stdtrit(self.df, (1 + confidence_level) / 2)) * self.standard_error
        return self.estimate - half, self.estimate + half

    @property
    def p(self) -> float:
        """The two-sided p of the hypothesis that what is estimated is 0."""
        from scipy import special

        if self.standard_error == 0:
            return float("nan")
        return float(2 * special.stdtr(self.df, -abs(self.estimate) / self.standard_error))


def pool(estimates: Floats, variances: Floats, *, df: float) -> Pooled:
    """Return m estimates of one quantity combined by Rubin's rules.

    `estimates` and `variances` (m,), m being 2 or more, are on a scale on which estimates are near normal
    (log odds ratio, Fisher's z). The total variance is W + (1 + 1/m)·B, W being the mean of the variances and
    B the variance of the estimates; between_share (0 to 1) is the second term's part of it. Degrees of
    freedom are those of Barnard & Rubin (1999), `df` those of one complete analysis.

    References
    ----------
    Rubin (1987), Multiple imputation for nonresponse in surveys, ch. 3. Barnard & Rubin (1999), Small-sample
    degrees of freedom with multiple imputation, Biometrika 86, 948–955.

    Examples
    --------
    >>> pooled = pool(np.array([0.2, 0.4]), np.array([0.01, 0.03]), df=30)
    >>> round(pooled.estimate, 6), round(pooled.standard_error**2, 6), round(pooled.between_share, 6)
    (0.3, 0.05, 0.6)
    """
    m = _number(estimates, variances)
    between = (1 + 1 / m) * float(np.var(estimates, ddof=1))
    total = float(np.mean(variances)) + between
    share = between / total if total > 0 else 0.0
    observed = (df + 1) / (df + 3) * df * (1 - share)
    return Pooled(
        estimate=float(np.mean(estimates)),
        standard_error=float(np.sqrt(total)),
        df=_harmonic(observed, (m - 1) / share**2 if share > 0 else np.inf),
        between_share=share,
        n=m,
        weights=(1 / m,) * m,
    )


def pool_jointly(
    estimates: Floats, covariance: Floats, *, df: float | Floats, information: Floats | None = None
) -> Pooled:
    """Return the mean of coders' estimates with the variance that it has over participants and coders.

    `estimates` (m,) are one per coder, m being 2 or more, and `covariance` (m, m) is S, over participants,
    with `df` degrees of freedom (of all of it, or of each variance). `information` (m,) is how much each
    estimate rests on: its variance is taken to be inversely proportional to it (the single variances in S are
    too uncertain to weigh by), and the weights are 1 / (that variance + τ²), so that a coder of few units
    counts for less, and all count alike where coders differ far more than chance makes them. Without it
    weights are equal. Degrees of freedom of the result are Satterthwaite's; between_share is the part of τ² /
    m.

    Coders who read the same texts make partly the same, partly their own errors: `covariance` holds both. The
    variance of the mean with weights w is that over participants, w′Sw, plus τ² w′w, where τ² is what the
    estimates differ beyond S: systematic differences between coders. Rubin's rules count the coders' own
    errors in full, in each analysis and between them, although the mean averages them out; where coders err
    independently their interval is wider than need be.

    Examples
    --------
    >>> pooled = pool_jointly(np.array([0.2, 0.4]), np.array([[0.02, 0.01], [0.01, 0.02]]), df=30)
    >>> round(pooled.estimate, 6), round(pooled.standard_error**2, 6), round(pooled.between_share, 6)
    (0.3, 0.02, 0.25)
    """
    m = _number(estimates, np.diag(covariance))
    apart = float(np.trace(covariance) / m - (covariance.sum() - np.trace(covariance)) / (m * (m - 1)))
    tau_squared = max(0.0, float(np.var(estimates, ddof=1)) - apart)
    weights = _weights(np.diag(covariance), tau_squared, information)
    between = tau_squared * float(weights @ weights)
    total = float(weights @ covariance @ weights) + between
    share = between / total if total > 0 else 0.0
    own_df = float(weights @ np.broadcast_to(df, m))
    return Pooled(
        estimate=float(weights @ estimates),
        standard_error=float(np.sqrt(total)),
        df=1 / ((1 - share) ** 2 / own_df + share**2 / (m - 1)),
        between_share=share,
        n=m,
        weights=tuple(weights.tolist()),
    )


def _weights(variances: Floats, tau_squared: float, information: Floats | None) -> Floats:
    """Return weights that add up to 1, by the variance that each estimate has for its information."""
    m = len(variances)
    if information is None:
        return np.full(m, 1 / m)
    variance = np.mean(variances * information) / information + tau_squared
    weights = 1 / variance if variance.min() > 0 else np.ones(m)
    return np.asarray(weights / weights.sum())


def _number(estimates: Floats, variances: Floats) -> int:
    m = len(estimates)
    if m < 2 or len(variances) != m:
        raise ArgumentError(
            f"pooling: expected two or more estimates, each with its variance – found {m} and "
            f"{len(variances)} – a single estimate has nothing to be pooled with."
        )
    return m


def _harmonic(one: float, other: float) -> float:
    """Return the degrees of freedom of two parts together; 0 where one part has none."""
    return 1 / (1 / one + 1 / other) if one > 0 and other > 0 else 0.0
