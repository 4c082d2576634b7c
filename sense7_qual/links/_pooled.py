"""The odds ratio of one code; effects pooled over coders or imputations, jointly or by Rubin's rules.

`pool_jointly` treats the coders' estimates as estimates from the same participants. Rubin's rules treat each
as one imputation of the codes, and add the uncertainty within and between analyses: right for imputations,
and wider than necessary for coders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._reasons import Reason
from sense7_qual.errors import ArgumentError
from sense7_qual.links._resample import jackknife_moves
from sense7_qual.links.models._model import CumulativeModel
from sense7_qual.links.models._ordinal import cumulative_mixed, marginal

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]

EFFECTS: Final = ("odds_ratio", "within_odds_ratio", "between_odds_ratio", "gee_odds_ratio")
"""The odds ratios of a row of `code_to_rating`; each has its own low, high and p."""

_MOST_LEVELS: Final = 12
_MERGED_LEVELS: Final = 10
Pooling = Literal["rubin", "joint"]
_MEANS: Final = ("mean_with", "mean_without", "mean_difference")


@dataclass(frozen=True, slots=True)
class LogOdds:
    """A log odds ratio with its standard error and degrees of freedom, or the reason why there is none."""

    estimate: float = np.nan
    standard_error: float = np.nan
    df: float = np.nan
    reason: str | None = None
    cautions: tuple[str, ...] = ()

    def alone(self) -> Pooled:
        """Return it in the form of a combined estimate of one."""
        return Pooled(self.estimate, self.standard_error, self.df, between_share=np.nan, n=1)


def log_odds(
    applied: Truths,
    ratings: Floats,
    cluster: Integers,
    *,
    fewest: int,
    varies: str | None,
    nested: Integers | None = None,
) -> dict[str, LogOdds]:
    """Return the log odds ratio of the code, and of its parts within and between clusters, by mixed models.

    The parts come of a second model with two predictors: the cluster's share of units with the code, and the
    code less that share. A part exists only where the code varies in that way.
    """
    levels = few_levels(ratings)
    whole = _fitted(levels, pd.DataFrame({"code": applied.astype(np.float64)}), cluster, nested)
    estimates = {"odds_ratio": _estimate(whole, "code", fewest)}
    if varies == "both":
        code = pd.Series(applied.astype(np.float64))
        share = code.groupby(cluster).transform("mean")
        parts = _fitted(levels, pd.DataFrame({"within": code - share, "between": share}), cluster, nested)
        estimates["within_odds_ratio"] = _estimate(parts, "within", fewest)
        estimates["between_odds_ratio"] = _estimate(parts, "between", fewest)
    elif varies is not None:
        estimates[f"{varies}_odds_ratio"] = estimates["odds_ratio"]
    return estimates


def population_averaged(applied: Truths, ratings: Floats, cluster: Integers, *, fewest: int) -> LogOdds:
    """Return the log odds ratio averaged over the population, by ordinal estimating equations."""
    code = pd.DataFrame({"code": applied.astype(np.float64)})
    model = marginal(pd.Series(few_levels(ratings)), code, groups=pd.Series(cluster))
    return _estimate(model, "code", fewest)


def few_levels(ratings: Floats) -> Floats:
    """Return the ratings as levels 1, 2 …, neighbours merged to about ten of equal size where there are many.

    Proportional odds hold for merged levels with the same odds ratio, so the estimand stays what it is.
    """
    levels, level, n = np.unique(ratings, return_inverse=True, return_counts=True)
    if len(levels) <= _MOST_LEVELS:
        return (level + 1).astype(np.float64)
    middle = (np.cumsum(n) - n / 2) / n.sum()
    merged = np.unique(np.floor(middle * _MERGED_LEVELS), return_inverse=True)[1]
    return (merged[level] + 1).astype(np.float64)


def columns_of(name: str, pooled: Pooled, confidence_level: float) -> dict[str, float]:
    """Return the columns of one odds ratio: itself, low, high and p."""
    low, high = pooled.interval(confidence_level)
    with np.errstate(over="ignore"):  # an interval that reaches to infinity says so
        ratio, low, high = (float(np.exp(value)) for value in (pooled.estimate, low, high))
    return {name: ratio, f"{name}_low": low, f"{name}_high": high, f"{name}_p": pooled.p}


def _fitted(
    ratings: Floats, predictors: pd.DataFrame, cluster: Integers, nested: Integers | None
) -> CumulativeModel:
    within = None if nested is None else pd.Series(nested)
    return cumulative_mixed(pd.Series(ratings), predictors, groups=pd.Series(cluster), nested=within)


def _estimate(model: CumulativeModel, name: str, fewest: int) -> LogOdds:
    """Return one coefficient; with fewer than six clusters on the rarer side, without its uncertainty."""
    reason = model.reason
    estimate, error = float(model.coefficients[name]), float(model.standard_errors[name])
    if reason is None and fewest < FEWEST_CLUSTERS:
        reason, error = Reason.FEW_CLUSTERS, np.nan
    return LogOdds(estimate, error, float(fewest - 1), reason, tuple(model.cautions))


@dataclass(frozen=True, slots=True)
class RankEffect:
    """A rank-biserial effect, and what it is without each cluster in turn."""

    effect: float
    without: Floats
    clusters: npt.NDArray[np.int64]
    fewest: int

    @property
    def estimate(self) -> float:
        """Fisher's z of the effect."""
        return float(np.arctanh(self.effect))

    @property
    def deviations(self) -> Floats:
        """How much each cluster moves Fisher's z of the effect; their squares add up to its variance."""
        return np.asarray(jackknife_moves(self.without) / (1 - self.effect**2))


@dataclass(frozen=True, slots=True)
class MeanEffect:
    """A difference of means, and what it is without each cluster in turn."""

    estimate: float
    without: Floats
    clusters: npt.NDArray[np.int64]
    fewest: int

    @property
    def deviations(self) -> Floats:
        """How much each cluster moves the difference; their squares add up to its variance."""
        return jackknife_moves(self.without)


@dataclass(frozen=True, slots=True)
class Moves:
    """How much each cluster moves an estimate, in its standard errors: what tests have in common.

    Their squares add up to 1, or to less where a part of the variance is between coders.
    """

    clusters: npt.NDArray[np.int64]
    deviations: Floats


@dataclass(frozen=True, slots=True)
class Analysis:
    """One code and source: the row of the result, and what pooling needs beyond it (where computable).

    `tested` are the estimates that have a p: Fisher's z of the rank-biserial effect, and the log odds ratio.
    """

    row: dict[str, object]
    rank: RankEffect | None = None
    odds: dict[str, LogOdds] = field(default_factory=dict)
    tested: dict[str, Pooled] = field(default_factory=dict)
    moves: Moves | None = None


def analysed(row: dict[str, object], rank: RankEffect | None, odds: dict[str, LogOdds]) -> Analysis:
    """Return one coder's analysis, with what its tests rest on."""
    tested = {name: odds[name].alone() for name in ("odds_ratio",) if name in odds}
    if rank is None:
        return Analysis(row, rank, odds, tested)
    error = float(np.sqrt(np.square(rank.deviations).sum()))
    tested["rank_biserial"] = Pooled(rank.estimate, error, rank.fewest - 1, between_share=np.nan, n=1)
    return Analysis(row, rank, odds, tested, Moves(rank.clusters, rank.deviations / error))


def pooled_analysis(analyses: Sequence[Analysis], *, pooling: Pooling, confidence_level: float) -> Analysis:
    """Return the effects of several coders' analyses combined; `reason` says why there are none."""
    ranked = [analysis for analysis in analyses if analysis.rank is not None]
    if len(ranked) < 2:
        every = {analysis.row["reason"] for analysis in analyses}
        reason = every.pop() if len(every) == 1 and len(analyses) > 1 else Reason.FEWER_THAN_TWO_CODERS
        return Analysis({"n_coders": len(ranked), "reason": reason or Reason.FEWER_THAN_TWO_CODERS})
    effects = [analysis.rank for analysis in ranked if analysis.rank is not None]
    covariance = covariance_of(effects)
    z = np.array([effect.estimate for effect in effects])
    df = np.array([effect.fewest - 1 for effect in effects], dtype=np.float64)
    pooled = _combined(z, covariance, df, _information(ranked), pooling)
    row: dict[str, object] = {
        name: float(np.average([_number(analysis, name) for analysis in ranked], weights=pooled.weights))
        for name in _MEANS
    }
    low, high = np.tanh(pooled.interval(confidence_level))
    row |= {"n_coders": len(ranked), "reason": None, "rank_biserial": float(np.tanh(pooled.estimate))}
    row |= {"rank_biserial_low": float(low), "rank_biserial_high": float(high), "p": pooled.p}
    row["between_coder_share"] = pooled.between_share
    scale = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(scale, scale)
    odds, tested = _pooled_odds(ranked, correlation, pooling=pooling, confidence_level=confidence_level)
    clusters, moved = _moved(effects)
    moves = Moves(clusters, np.array(pooled.weights) @ moved / pooled.standard_error)
    return Analysis(row | odds, tested=tested | {"rank_biserial": pooled}, moves=moves)


def _pooled_odds(
    ranked: Sequence[Analysis], correlation: Floats, *, pooling: Pooling, confidence_level: float
) -> tuple[dict[str, object], dict[str, Pooled]]:
    """Return the odds ratios combined; those of a coder without one are left out of it."""
    row: dict[str, object] = {}
    tested: dict[str, Pooled] = {}
    for name in EFFECTS:
        estimated = [
            i for i, a in enumerate(ranked) if name in a.odds and np.isfinite(a.odds[name].standard_error)
        ]
        if len(estimated) < 2:
            if name == "odds_ratio" and any(name in analysis.odds for analysis in ranked):
                row["odds_ratio_reason"] = Reason.FEWER_THAN_TWO_CODERS
            continue
        odds = [ranked[i].odds[name] for i in estimated]
        errors = np.array([one.standard_error for one in odds])
        # Two coders' odds ratios go together as their rank-biserial effects do: the same units move both.
        covariance = correlation[np.ix_(estimated, estimated)] * np.outer(errors, errors)
        df = np.array([one.df for one in odds])
        pooled = _combined(
            np.array([one.estimate for one in odds]), covariance, df, _information(ranked)[estimated], pooling
        )
        row |= columns_of(name, pooled, confidence_level)
        row[f"{name}_between_coder_share"] = pooled.between_share
        tested[name] = pooled
    return row, tested


def _combined(
    estimates: Floats, covariance: Floats, df: Floats, information: Floats, pooling: Pooling
) -> Pooled:
    if pooling == "rubin":
        return pool(estimates, np.diag(covariance), df=float(df.min()))
    return pool_jointly(estimates, covariance, df=df, information=information)


def _information(analyses: Sequence[Analysis]) -> Floats:
    """Return each coder's information: half the harmonic mean of units with and without the code."""
    n_with, n_without = (
        np.array([_number(analysis, name) for analysis in analyses]) for name in ("n_with", "n_without")
    )
    return np.asarray(n_with * n_without / (n_with + n_without))


def _number(analysis: Analysis, name: str) -> float:
    return float(str(analysis.row[name]))


def covariance_of(effects: Sequence[RankEffect | MeanEffect]) -> Floats:
    """Return the covariance over clusters (effects, effects); of rank effects on Fisher's scale."""
    _, moved = _moved(effects)
    return np.asarray(moved @ moved.T)


def correlation_of(moves: Sequence[Moves | None]) -> Floats:
    """Return the correlation of tests (tests, tests) over clusters; what is between coders is not shared.

    Few clusters make tests seem to go together more than they do. So all correlations are made smaller by the
    share of their squares that is chance (Schäfer & Strimmer 2005): by a third or so with 15 clusters, hardly
    with 200. A test of which it is not known how clusters move it goes with no other.

    References
    ----------
    Schäfer & Strimmer (2005), A shrinkage approach to large-scale covariance matrix estimation, Statistical
    Applications in Genetics and Molecular Biology 4, 32.
    """
    none = Moves(np.empty(0, dtype=np.int64), np.empty(0))
    clusters, moved = _moved([one or none for one in moves])
    correlation = moved @ moved.T
    np.fill_diagonal(correlation, 0.0)
    squares = np.square(correlation[~np.eye(len(moves), dtype=np.bool_)])
    if squares.sum() > 0:
        by_chance = float(np.square(1 - squares).sum() / max(len(clusters) - 1, 1) / squares.sum())
        correlation *= 1 - min(by_chance, 1.0)
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)


def _moved(effects: Sequence[RankEffect | MeanEffect | Moves]) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return all clusters, and how much each moves each of the effects (effects, clusters)."""
    clusters = np.unique(np.concatenate([effect.clusters for effect in effects]))
    moved = np.zeros((len(effects), len(clusters)))
    for row, effect in zip(moved, effects, strict=True):
        row[np.searchsorted(clusters, effect.clusters)] = effect.deviations
    return clusters, moved


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
    m = _checked_number(estimates, variances)
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
    m = _checked_number(estimates, np.diag(covariance))
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


def _checked_number(estimates: Floats, variances: Floats) -> int:
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
