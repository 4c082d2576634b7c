"""What missing ratings could do to a link: how many there are, bounds, and a shift of what they would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import Progress, check_arguments, reporting
from sense7_qual._bootstrap import FEWEST_CLUSTERS, check_resampling
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.errors import ArgumentError
from sense7_qual.links import _inputs, _resample
from sense7_qual.links._inputs import RatingRange
from sense7_qual.links.models._results import MISSING_RATINGS

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Ends = tuple[float, float]

_DIRECTIONS: Final = {"same": (1.0, 1.0), "opposite": (1.0, -1.0)}
_STEPS: Final = 20  # of the search for a tipping delta, twice
_HALVINGS: Final = 45
_CELLS: Final = 1_000_000
_NO_ERROR: Final = 1e-12
_STEEPEST: Final = 700.0  # exp of it is still a number


@rests_on("decisions")
@MISSING_RATINGS.returns
def missing_ratings(
    decisions: pd.DataFrame,
    units: pd.DataFrame,
    *,
    rating: str,
    cluster: str,
    rating_range: RatingRange = None,
    sources: Sequence[str] | None = None,
    deltas: Sequence[float] | None = None,
    confidence_level: float = 0.95,
    progress: Progress | bool | None = None,
) -> pd.DataFrame:
    """Say how many ratings are missing, with and without each code, and what they could do to its link.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). A unit that a source has not decided on is missing for it.
    units : DataFrame
        unit_id and the columns named by `rating` and `cluster`. A decided unit without a rating counts as
        missing.
    rating, cluster
        As for `code_to_rating`.
    rating_range : pair of numbers, or mapping of str to pair, optional
        As for `code_to_rating`. Bounds rest on the ends of the scale: without it, and apart from SENSE-7's
        ratings, on the lowest and the highest rating of a decided unit.
    sources : sequence of str, optional
        As for `code_to_rating`, except "pooled", which has no units of its own.
    deltas : sequence of float, optional
        Differences of the missing ratings from the observed ones to assume, in points of the rating; 0 is
        always among them. By default nine, to half the length of the scale in either direction.
    confidence_level : float
        Level of every interval, between 0 and 1.
    progress : bool or callable, optional
        True shows a bar; a function is told (done, total).

    Raises
    ------
    TableError
        As `code_to_rating`.
    ArgumentError
        `confidence_level` is not between 0 and 1, or a delta is larger than the scale.

    Notes
    -----
    `code_to_rating` takes the rated texts for all: what it estimates is the link over all decided texts if
    missing ratings are, with and without the code, like the observed ones. Nothing in the data can show that
    they are. The rows of delta 0 are that estimate, with the same rank_biserial and p. Others are a
    pattern-mixture model: on each side, missing ratings have the distribution of the observed ones, tilted
    (multiplied by the exponential of a multiple of the rating) so that their mean differs by delta. That is
    the same as a logistic model of being missing, given the rating. Tilted ratings stay on the scale, on
    levels that were observed with (or without) the code; mean_difference does not depend on the tilt.

    With `opposite` at ±delta the effects are as far apart as they can be where neither side's missing ratings
    differ by more than delta, so delta_sign there says how far, in any direction, missing ratings may be from
    observed ones before the link can change its sign. The bounds allow any missing rating and assume nothing.

    Intervals and p take participants as clusters: the delete-one-cluster jackknife of the estimate, which
    recomputes the shares of missing ratings too, and Student's t with k − 1 degrees of freedom, k being the
    number of participants with rated texts on the rarer side. With the true delta they covered the link
    over all texts in 93 to 97 % of simulated studies of 12 to 60 participants, where the rated texts alone
    did in as few as 11 % (benchmarks/missing_ratings.md).

    Odds ratios are not adjusted. Whether ratings are missing in some conditions rather than in others,
    `context` says: ``units.assign(missing=units[rating].isna() * 1.0)`` with rating "missing".

    References
    ----------
    Little (1993), Pattern-mixture models for multivariate incomplete data, JASA 88, 125–134. Birmingham,
    Rotnitzky & Fitzmaurice (2003), Pattern-mixture and selection models for analysing longitudinal data with
    monotone missing patterns, JRSS B 65, 275–297: the tilt. Horowitz & Manski (2000), Nonparametric analysis
    of randomized experiments with missing covariate and outcome data, JASA 95, 77–84: the bounds. Higgins,
    White & Wood (2008), Imputation methods for missing outcome data in meta-analysis of clinical trials,
    Clinical Trials 5, 225–239: for two levels.

    Examples
    --------
    The trial of Beasley in Higgins, White & Wood (2008), as ratings 0 and 1: 29 of 47 responded, 22 are
    missing; without the drug 20 of 34, 34 are missing. The bounds are (29 / 69) − (54 / 68) and (51 / 69) −
    (20 / 68):

    >>> responded = [1] * 29 + [0] * 18 + [None] * 22 + [1] * 20 + [0] * 14 + [None] * 34
    >>> units = pd.DataFrame({"unit_id": [f"u{i}" for i in range(137)], "well": responded,
    ...                       "case_id": [f"p{i}" for i in range(137)]})
    >>> decisions = pd.DataFrame({"unit_id": units["unit_id"], "coder": "ana", "code": "drug",
    ...                           "applied": [True] * 69 + [False] * 68})
    >>> found = missing_ratings(decisions, units, rating="well", cluster="case_id", deltas=[0]).round(3)
    >>> found.loc[0, ["rank_biserial", "lowest", "highest", "missing_with", "missing_without"]].tolist()
    [0.029, -0.374, 0.445, 0.319, 0.5]
    """
    check_arguments(missing_ratings, locals())
    check_resampling("missing_ratings", n_boot=1, confidence_level=confidence_level, seed=0)
    decisions = _inputs.checked_decisions(decisions, sources, function="missing_ratings")
    chosen = [name for name in _inputs.chosen_sources(decisions, sources) if name != "pooled"]
    texts = _inputs.decided_ratings(decisions, units, rating, cluster, rating_range=rating_range)
    known = texts["rating"].dropna()
    ends = _inputs.range_in(units, rating, rating_range) or (known.min(), known.max())
    steps = _steps(deltas, ends)
    codes = [str(code) for code in decisions["code"].unique()]
    rows: list[dict[str, object]] = []
    by_source = _inputs.by_source(decisions, chosen)
    with reporting(progress, len(by_source) * len(codes), doing="missing ratings", unit="code") as tell:
        for place, (source, decided) in enumerate(by_source.items()):
            decided = decided.merge(texts, on="unit_id", how="inner")
            for n, code in enumerate(codes, start=1):
                own = {"source": source, "code": code, "confidence_level": confidence_level}
                found = _rows(decided[decided["code"] == code], ends, steps, confidence_level)
                rows += [own | row for row in found]
                tell(place * len(codes) + n, len(by_source) * len(codes))
    return MISSING_RATINGS.frame(rows)


def _steps(deltas: Sequence[float] | None, ends: Ends) -> list[float]:
    """Return the deltas to assume, 0 among them, each once and rising."""
    length = ends[1] - ends[0]
    if deltas is None:
        return np.linspace(-length / 2, length / 2, 9).tolist() if length > 0 else [0.0]
    beyond = [delta for delta in deltas if abs(delta) > length]
    if beyond:
        raise ArgumentError(
            f"missing_ratings: expected deltas within the length of the scale, {length:g} – found "
            f"{beyond[0]:g} – ratings cannot differ by more."
        )
    return sorted({0.0, *map(float, deltas)})


def _rows(decided: pd.DataFrame, ends: Ends, steps: list[float], level: float) -> list[dict[str, object]]:
    """Return the rows of one code and source from its decided texts: applied, rating, cluster."""
    applied = decided["applied"].to_numpy(dtype=np.bool_)
    ratings = decided["rating"].to_numpy(dtype=np.float64)
    cluster = np.unique(decided["cluster"], return_inverse=True)[1]
    is_rated = ~np.isnan(ratings)
    counts = _resample.count(applied[is_rated], ratings[is_rated], cluster[is_rated])
    reason = _resample.reason_of(
        applied[is_rated], counts, _resample.effect_of(counts), _resample.jackknifed_effects(counts)
    )
    row = _counted(applied, is_rated, cluster) | _bounds(applied, ratings, cluster, ends, level)
    row["reason"] = reason
    if not counts.fewest_clusters or reason == Reason.CONSTANT_RATING:
        return [row | {"direction": way, "delta": delta} for way in _DIRECTIONS for delta in steps]
    df = counts.fewest_clusters - 1 if reason is None else 0
    texts = _Texts.of(applied, ratings, cluster, df, level)
    rows = []
    for direction, signs in _DIRECTIONS.items():
        row |= {"direction": direction, **texts.tipping(np.array(signs), ends[1] - ends[0])}
        shifted = texts.shifted(np.outer(steps, signs))
        rows += [row | one | {"delta": delta} for delta, one in zip(steps, shifted, strict=True)]
    return rows


def _counted(applied: _resample.Truths, is_rated: _resample.Truths, cluster: Integers) -> dict[str, object]:
    """Return how many ratings are missing, with and without the code, and of how many participants."""
    terms = np.column_stack([applied & ~is_rated, applied, ~applied & ~is_rated, ~applied])
    sums = _resample.cluster_sums(terms.astype(np.float64), cluster)
    n_missing, n = sums[:, 0] + sums[:, 2], sums[:, 1] + sums[:, 3]
    found: dict[str, object] = {
        "n_clusters": len(sums),
        "n_clusters_missing": int((n_missing > 0).sum()),
        "n_clusters_unrated": int((n_missing == n).sum()),
    }
    for name, missing, every in zip(("with", "without"), *sums.sum(axis=0).reshape(2, 2).T, strict=True):
        found |= {f"n_{name}": int(every - missing), f"n_missing_{name}": int(missing)}
        found[f"missing_{name}"] = missing / every if every else np.nan
    fewest = int((sums[:, [1, 3]] > 0).sum(axis=0).min())
    if fewest >= FEWEST_CLUSTERS:
        without = _resample.left_out(sums, _shares_apart)
        found["missing_p"] = _resample.jackknife_p(float(_shares_apart(sums.sum(axis=0))), without, fewest)
    return found


def _shares_apart(sums: Floats) -> Floats:
    """Return the share missing with the code less that without it, from the sums (…, 4)."""
    return np.asarray(sums[..., 0] / sums[..., 1] - sums[..., 2] / sums[..., 3])


def _bounds(
    applied: _resample.Truths, ratings: Floats, cluster: Integers, ends: Ends, level: float
) -> dict[str, object]:
    """Return the bounds of both effects, with every missing rating at one end of the scale."""
    found: dict[str, object] = {}
    if not 0 < applied.sum() < len(applied) or np.isnan(ends).any():
        return found
    for name, with_code, without, sign in (("lowest", *ends, -1), ("highest", *ends[::-1], 1)):
        filled = np.where(np.isnan(ratings), np.where(applied, with_code, without), ratings)
        counts = _resample.count(applied, filled, cluster)
        effect, others = _resample.effect_of(counts), _resample.jackknifed_effects(counts)
        found |= {name: effect, f"mean_{name}": filled[applied].mean() - filled[~applied].mean()}
        if counts.fewest_clusters >= FEWEST_CLUSTERS:
            half = _quantile(counts.fewest_clusters - 1, level) * _resample.jackknife_error(others)
            found["bounds_low" if sign < 0 else "bounds_high"] = np.clip(effect + sign * half, -1, 1)
    return found


def _quantile(df: int, level: float) -> float:
    from scipy import special

    return float(special.stdtrit(df, (1 + level) / 2))


@dataclass(frozen=True, slots=True)
class _Texts:
    """The decided texts of one code and source, that has rated texts with and without it.

    `rated` are counts (clusters, levels), `missing` counts (clusters,), each with and without the code; `df`
    are the degrees of freedom of intervals, 0 where there are none.
    """

    levels: Floats
    rated: tuple[Floats, Floats]
    missing: tuple[Floats, Floats]
    df: int
    quantile: float

    @classmethod
    def of(
        cls, applied: _resample.Truths, ratings: Floats, cluster: Integers, df: int, level: float
    ) -> _Texts:
        """Count the texts by cluster and level."""
        n, is_rated = int(cluster.max()) + 1, ~np.isnan(ratings)
        levels, place = np.unique(ratings[is_rated], return_inverse=True)
        each = np.eye(len(levels))[place]
        having, lacking = (
            _resample.cluster_sums(each * side[is_rated, None], cluster[is_rated])
            for side in (applied, ~applied)
        )
        sides = np.column_stack([applied & ~is_rated, ~applied & ~is_rated]).astype(np.float64)
        missing = _resample.cluster_sums(sides, cluster).T
        more = ((0, n - len(having)), (0, 0))  # clusters without a rating that come last
        rated = np.pad(having, more), np.pad(lacking, more)
        return cls(levels, rated, (missing[0], missing[1]), df, _quantile(df, level) if df else np.nan)

    def effects(self, shifts: Floats) -> tuple[Floats, Floats, Floats]:
        """Return rank-biserial effects and differences of means (shifts, 1 + clusters), and assumed means.

        `shifts` (shifts, 2) are those with and without the code. The first column is of all clusters, each
        other one without a cluster.
        """
        size = max(1, _CELLS // self.rated[0].size)
        blocks = [self._effects(shifts[at : at + size]) for at in range(0, len(shifts), size)]
        rank, mean, assumed = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        return rank, mean, assumed

    def _effects(self, shifts: Floats) -> tuple[Floats, Floats, Floats]:
        filled, assumed = [], []
        for rated, missing, shift in zip(self.rated, self.missing, shifts.T, strict=True):
            counts, lacking = _without_each(rated), _without_each(missing)[:, None]
            total = counts.sum(axis=1, keepdims=True)
            shares = np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)
            made = tilted(shares, self.levels, shares @ self.levels + shift[:, None])
            filled.append(counts + lacking * made)
            assumed.append(made[:, 0] @ self.levels)
        means = [side @ self.levels / side.sum(axis=-1) for side in filled]
        return _resample.rank_biserial(*filled), means[0] - means[1], np.column_stack(assumed)

    def errors(self, effects: Floats, shifts: Floats) -> Floats:
        """Return the standard errors of effects (shifts, 1 + clusters).

        Where nothing is shifted, clusters without any rating say nothing.
        """
        rated = (self.rated[0] + self.rated[1]).sum(axis=1) > 0
        each = zip(effects[:, 1:], shifts, strict=True)
        return np.array([_resample.jackknife_error(one if by.any() else one[rated]) for one, by in each])

    def shifted(self, shifts: Floats) -> list[dict[str, object]]:
        """Return the effects at each shift, with their intervals if they have any."""
        rank, mean, assumed = self.effects(shifts)
        columns: dict[str, Floats] = {
            "mean_missing_with": assumed[:, 0],
            "mean_missing_without": assumed[:, 1],
        }
        for name, each, most in (("rank_biserial", rank, 1.0), ("mean_difference", mean, np.inf)):
            error = self.errors(each, shifts)
            error[error < _NO_ERROR] = np.nan  # ratings so far apart that no cluster makes a difference
            half = self.quantile * error
            columns |= {name: each[:, 0], f"{name}_low": np.clip(each[:, 0] - half, -most, most)}
            columns[f"{name}_high"] = np.clip(each[:, 0] + half, -most, most)
            if self.df and name == "rank_biserial":
                tested = zip(each[:, 0], error, strict=True)
                columns["p"] = np.array([_resample.t_test(one, by, self.df) for one, by in tested])
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def tipping(self, signs: Floats, length: float) -> dict[str, float]:
        """Return the deltas nearest to 0 at which the sign, and whether the interval holds 0, change."""
        deltas = np.linspace(-length, length, 2 * _STEPS + 1)
        found = {}
        for name, margin in self._margins(np.outer(deltas, signs)).items():
            crossed = np.flatnonzero(np.sign(margin) != np.sign(margin[_STEPS])) - _STEPS
            after, before = crossed[crossed > 0][:1], crossed[crossed < 0][-1:]
            each = [(deltas[at + _STEPS - np.sign(at)], deltas[at + _STEPS]) for at in (*after, *before)]
            found[name] = min((self._crossing(name, signs, *ends) for ends in each), key=abs, default=np.nan)
        return found

    def _crossing(self, name: str, signs: Floats, near: float, far: float) -> float:
        """Return the delta between two at which a margin crosses 0."""
        deltas = np.linspace(near, far, _STEPS + 1)
        margin = self._margins(np.outer(deltas, signs))[name]
        at = np.flatnonzero(np.sign(margin) != np.sign(margin[0]))[0]
        before, after = margin[at - 1], margin[at]
        return float(deltas[at - 1] + (deltas[at] - deltas[at - 1]) * before / (before - after))

    def _margins(self, shifts: Floats) -> dict[str, Floats]:
        """Return the effects, and by how much their intervals, if any, exclude 0 (negative: hold it)."""
        rank = self.effects(shifts)[0]
        margins = {"delta_sign": rank[:, 0]}
        if self.df:
            margins["delta_interval"] = np.abs(rank[:, 0]) - self.quantile * self.errors(rank, shifts)
        return margins


def _without_each(counts: Floats) -> Floats:
    """Return the sums over all clusters, then those without each cluster in turn (1 + clusters, …)."""
    whole = counts.sum(axis=0)
    return np.concatenate([whole[None], whole - counts])


def tilted(shares: Floats, levels: Floats, means: Floats) -> Floats:
    """Return the shares (…, levels), tilted exponentially to have the means (…), or as near as they come.

    >>> tilted(np.array([0.5, 0.5, 0]), np.array([1.0, 2, 3]), np.array(1.8)).round(3).tolist()
    [0.2, 0.8, 0.0]
    """
    at = (levels - levels[0]) / (levels[-1] - levels[0])
    aims = (means - levels[0]) / (levels[-1] - levels[0])
    low, high = np.full(aims.shape, -_STEEPEST), np.full(aims.shape, _STEEPEST)
    for _ in range(_HALVINGS):
        slope = (low + high) / 2
        weights = shares * np.exp(slope[..., None] * at)
        below = weights @ at < aims * weights.sum(axis=-1)
        low, high = np.where(below, slope, low), np.where(below, high, slope)
    weights = shares * np.exp((low + high)[..., None] / 2 * at)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
