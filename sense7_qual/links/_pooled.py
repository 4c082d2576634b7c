"""Effects pooled over coders or imputations, jointly or by Rubin's rules.

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

from sense7_qual._reasons import Reason
from sense7_qual.errors import ArgumentError
from sense7_qual.links._odds import EFFECTS, LogOdds, Moves
from sense7_qual.links._resample import jackknife_moves

Floats = npt.NDArray[np.float64]

Pooling = Literal["rubin", "joint"]
_MEANS: Final = ("mean_with", "mean_without", "mean_difference")


def columns_of(name: str, pooled: Pooled, confidence_level: float) -> dict[str, float]:
    """Return the columns of one odds ratio: itself, low, high and p; of that within participants, df."""
    low, high = pooled.interval(confidence_level)
    with np.errstate(over="ignore"):  # an interval that reaches to infinity says so
        ratio, low, high = (float(np.exp(value)) for value in (pooled.estimate, low, high))
    columns = {name: ratio, f"{name}_low": low, f"{name}_high": high, f"{name}_p": pooled.p}
    known = name == "odds_ratio" and np.isfinite(pooled.standard_error)
    return columns | ({"odds_ratio_df": pooled.df} if known else {})


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
class Analysis:
    """One code and source: the row of the result, and what pooling needs beyond it (where computable).

    `tested` are the estimates that have a p: Fisher's z of the rank-biserial effect, and the log odds ratios.
    `moves` are those of each of them.
    """

    row: dict[str, object]
    rank: RankEffect | None = None
    odds: dict[str, LogOdds] = field(default_factory=dict)
    tested: dict[str, Pooled] = field(default_factory=dict, repr=False)
    moves: dict[str, Moves] = field(default_factory=dict, repr=False)


def analysed(row: dict[str, object], rank: RankEffect | None, odds: dict[str, LogOdds]) -> Analysis:
    """Return one coder's analysis, with what its tests rest on."""
    tested = {name: alone(odds[name]) for name in EFFECTS if name in odds}
    moves = {name: one.moves for name, one in odds.items() if one.moves is not None}
    if rank is None:
        return Analysis(row, rank, odds, tested, moves)
    error = float(np.sqrt(np.square(rank.deviations).sum()))
    tested["rank_biserial"] = Pooled(rank.estimate, error, rank.fewest - 1, between_share=np.nan, n=1)
    moves["rank_biserial"] = Moves(rank.clusters, rank.deviations / error)
    return Analysis(row, rank, odds, tested, moves)


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
    odds, tested, moves = _pooled_odds(ranked, pooling=pooling, confidence_level=confidence_level)
    tested["rank_biserial"] = pooled
    moves["rank_biserial"] = _moves_of(pooled, *_moved(effects))
    return Analysis(row | odds, tested=tested, moves=moves)


def _moves_of(pooled: Pooled, clusters: npt.NDArray[np.int64], moved: Floats) -> Moves:
    """Return how much each cluster moves a pooled estimate from how it moves each (estimates, clusters)."""
    return Moves(clusters, np.array(pooled.weights) @ moved / pooled.standard_error)


def _pooled_odds(
    ranked: Sequence[Analysis], *, pooling: Pooling, confidence_level: float
) -> tuple[dict[str, object], dict[str, Pooled], dict[str, Moves]]:
    """Return the odds ratios combined; those of a coder without one are left out of it."""
    row: dict[str, object] = {}
    tested: dict[str, Pooled] = {}
    moves: dict[str, Moves] = {}
    for name in EFFECTS:
        estimated = [a for a in ranked if name in a.odds and np.isfinite(a.odds[name].standard_error)]
        if len(estimated) < 2:
            if name == "odds_ratio":
                row["odds_ratio_reason"] = _why_none(ranked)
            continue
        odds = [one.odds[name] for one in estimated]
        errors = np.array([one.standard_error for one in odds])
        # Two coders' odds ratios go together as each participant moves both. Those averaged over the
        # population have no such moves of their own: they go together as the rank-biserial effects do.
        known = [one.moves or a.moves["rank_biserial"] for one, a in zip(odds, estimated, strict=True)]
        clusters, moved = _moved(known)
        moved = moved * errors[:, None]
        df = np.array([one.df for one in odds])
        estimates = np.array([one.estimate for one in odds])
        pooled = _combined(
            estimates, covariance_of_moves(known, errors), df, _information(estimated), pooling
        )
        row |= columns_of(name, pooled, confidence_level)
        row[f"{name}_between_coder_share"] = pooled.between_share
        tested[name], moves[name] = pooled, _moves_of(pooled, clusters, moved)
    return row, tested, moves


def _why_none(ranked: Sequence[Analysis]) -> str | None:
    """Return why no odds ratio could be pooled: the coders' own reason, where they have one in common."""
    reasons = {a.odds["odds_ratio"].reason for a in ranked if "odds_ratio" in a.odds}
    if not reasons:
        return None
    return (reasons.pop() if len(reasons) == 1 else None) or Reason.FEWER_THAN_TWO_CODERS


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


def covariance_of_moves(moves: Sequence[Moves], errors: Floats) -> Floats:
    """Return the covariance (estimates, estimates) from how each cluster moves them, and their errors."""
    moved = _moved(moves)[1] * errors[:, None]
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


def alone(one: LogOdds) -> Pooled:
    """Return one estimate in the form of a combined one."""
    return Pooled(one.estimate, one.standard_error, one.df, between_share=np.nan, n=1)


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
