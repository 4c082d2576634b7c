"""Accuracy of predicted ratings: five measures, with intervals over clusters or over runs."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._bootstrap import FEWEST_CLUSTERS, check_resampling, widened_quantile
from sense7_qual._group_labels import check_groups
from sense7_qual._messages import first_three
from sense7_qual._reasons import Reason
from sense7_qual.errors import TableError
from sense7_qual.ratings._results import RUNS

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Values = Sequence[Any] | npt.NDArray[Any] | pd.Series

LEVELS: Final = 5
"""The rating's levels: 1 to 5."""
MEASURES: Final = ("spearman", "accuracy", "macro_f1", "within_one", "mae")
"""The measures of an `Evaluation`, in the order of tables."""

_CELLS: Final = 2_000_000
#: A mean of means such as (15/7 + 20/7) / 2 must be 2.5, whatever the last binary digit says.
_LAST_DIGIT: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The accuracy of predictions, as `evaluate` returns it and describes each number."""

    spearman: float
    accuracy: float
    macro_f1: float
    within_one: float
    mae: float
    n: int
    n_missing: int
    n_unrated: int
    spearman_low: float = np.nan
    spearman_high: float = np.nan
    accuracy_low: float = np.nan
    accuracy_high: float = np.nan
    macro_f1_low: float = np.nan
    macro_f1_high: float = np.nan
    within_one_low: float = np.nan
    within_one_high: float = np.nan
    mae_low: float = np.nan
    mae_high: float = np.nan
    n_clusters: int | None = None
    n_boot: int | None = None
    n_undefined: int | None = None
    confidence_level: float | None = None
    seed: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The pairs of truth and prediction, their levels from 0, and the number of each pair's cluster."""

    true: Floats
    predicted: Floats
    true_level: Integers
    predicted_level: Integers
    cluster: Integers

    @property
    def n_clusters(self) -> int:
        return int(self.cluster.max(initial=-1)) + 1


def evaluate(
    true: Values,
    predicted: Values,
    *,
    labels: Values | None = None,
    fold: Values | None = None,
    groups: Values | None = None,
    n_boot: int = 2000,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> Evaluation:
    """Measure the accuracy of predicted ratings on a scale of five levels.

    Parameters
    ----------
    true : sequence of numbers
        From 1 to 5; means such as 2.6 are allowed. A pair without a truth is left out.
    predicted : sequence of numbers
        From 1 to 5, NaN where there is no prediction (an unreadable reply, for example). Predictions outside
        that range (on a scale of 0 to 4 or 0 to 100) are refused, not clipped. Series are matched by their
        indexes, which must have the same rows; anything else is matched by position.
    labels : sequence of numbers, optional
        The predicted levels, 1 to 5, of a predictor that gives the most probable level in addition to its
        expected rating. By default `predicted` is rounded.
    fold : sequence, optional
        The fold of each prediction, if the predictor was fitted without that fold. Predictions that are
        constant within every fold then have no Spearman correlation: their differences between folds come
        from the truth left out, and would correlate with it negatively.
    groups : sequence, optional
        The participant of each pair, none missing; needed for intervals.
    n_boot, confidence_level, seed
        Number of bootstrap resamples of clusters; level of the intervals, between 0 and 1; the same seed
        gives the same intervals.

    Returns
    -------
    Evaluation
        - spearman: rank correlation of `true` and `predicted`, −1 to 1, unrounded values, ties as mid-ranks
        - accuracy: share of pairs with the same level, 0 to 1
        - macro_f1: mean of the F1 of each level that occurs in truth or prediction, 0 to 1
        - within_one: share of pairs at most one level apart, 0 to 1
        - mae: mean absolute difference of the unrounded values, in points of the scale
        - n: pairs with both numbers, the basis of all of these; n_missing: pairs with a truth but no
          prediction, which count for no measure; n_unrated: pairs without a truth
        - …_low, …_high: the interval of each (NaN without `groups`), n_clusters, n_boot, n_undefined:
          resamples without a Spearman correlation, which only its interval leaves out
        - confidence_level, seed: as given
        - reason: `no_pairs` (nothing is computed); `constant_truth`, `constant_predictions`,
          `constant_within_folds` (no Spearman correlation); `few_clusters` (fewer than six: no intervals)

    Raises
    ------
    TableError
        Not numbers, a truth, prediction or label outside 1 to 5, lengths or indexes that differ, a missing
        cluster.
    ArgumentError
        A setting is out of its range.

    Notes
    -----
    Levels are rounded half up (2.5 is level 3), truth and prediction alike, so every inner level is equally
    wide. The rule of the published experiment is not known; if many truths are halves, its figures can differ
    for that reason. The intervals resample clusters and are widened for few of them (Hesterberg 2015). They
    do not include the uncertainty of fitting.

    References
    ----------
    Suh et al. (2025), SENSE-7, arXiv:2509.16437: the measures. Hesterberg (2015), What teachers should
    know about the bootstrap, The American Statistician 69, 371–386.

    Examples
    --------
    >>> measures = evaluate([1, 2, 3, 4, 5], [1.4, 2.0, 4.4, float("nan"), 3.5])
    >>> measures.accuracy, measures.within_one, round(measures.mae, 3), measures.n, measures.n_missing
    (0.5, 1.0, 0.825, 4, 1)
    >>> round(measures.spearman, 3)
    0.8
    """
    check_arguments(evaluate, locals())
    if groups is not None:
        check_resampling("evaluate", n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    inputs = {"true": true, "predicted": predicted, "labels": labels, "fold": fold, "groups": groups}
    frame = _aligned({name: values for name, values in inputs.items() if values is not None})
    pairs, folds, n_missing, n_unrated = _pairs(frame)
    reason, estimates = _reason(pairs, folds), _measures(pairs, np.ones((1, pairs.n_clusters)))
    values: dict[str, Any] = {name: float(estimate[0]) for name, estimate in estimates.items()}
    if reason:
        values["spearman"] = np.nan
    counts: dict[str, Any] = {"n": len(pairs.true), "n_missing": n_missing, "n_unrated": n_unrated}
    if groups is not None:
        counts |= {"n_clusters": pairs.n_clusters, "confidence_level": confidence_level, "seed": seed}
        if pairs.n_clusters < FEWEST_CLUSTERS:
            reason = reason or Reason.FEW_CLUSTERS
        else:
            counts |= _intervals(pairs, reason, n_boot, confidence_level, seed)
    return Evaluation(**values, **counts, reason=reason)


@RUNS.returns
def evaluate_runs(true: Values, runs: pd.DataFrame | npt.NDArray[Any]) -> pd.DataFrame:
    """Return mean and standard deviation of each measure over repeated runs of one predictor.

    Parameters
    ----------
    true : sequence of numbers
        From 1 to 5, as for `evaluate`.
    runs : DataFrame or array (n, runs)
        One column of predictions per run, from 1 to 5, NaN where there is none. Frames and Series are matched
        by index.

    Raises
    ------
    TableError
        As for `evaluate`; or `runs` is not two-dimensional or has no column.

    Notes
    -----
    The deviation is that of the predictor on the same conversations, not over other participants: for those,
    see the intervals of `evaluate`.

    Examples
    --------
    >>> measures = evaluate_runs([1, 2, 3, 4], np.array([[1, 2], [2, 2], [3, 3], [4, 3]]))
    >>> measures[["measure", "mean", "sd", "n_runs"]].round(3).iloc[1:3]
        measure   mean     sd  n_runs
    1  accuracy  0.750  0.354       2
    2  macro_f1  0.667  0.471       2
    """
    check_arguments(evaluate_runs, locals(), but=("runs",))
    table = runs if isinstance(runs, pd.DataFrame) else _two_dimensional(runs)
    if table.shape[1] == 0:
        raise TableError("evaluate_runs: expected one column per run – found none – pass at least one run.")
    index = table.index if isinstance(runs, pd.DataFrame) and isinstance(true, pd.Series) else None
    columns = (table.iloc[:, place] for place in range(table.shape[1]))
    evaluations = [evaluate(true, column if index is not None else column.to_numpy()) for column in columns]
    rows = []
    for measure in MEASURES:
        values = pd.Series([getattr(one, measure) for one in evaluations], dtype="float64")
        rows.append(
            {
                "measure": measure,
                "mean": values.mean(),
                "sd": values.std(ddof=1),
                "n_runs": len(evaluations),
                "n_undefined": int(values.isna().sum()),
                "n": sum(one.n for one in evaluations),
                "n_missing": sum(one.n_missing for one in evaluations),
            }
        )
    return pd.DataFrame(rows)


def levels_of(values: Floats) -> Integers:
    """Return the level, 1 to 5, of each rating from 1 to 5: rounded half up.

    Examples
    --------
    >>> levels_of(np.array([2.5, 3.5, 1.2, 5.0, (15 / 7 + 20 / 7) / 2])).tolist()
    [3, 4, 1, 5, 3]
    """
    return np.floor(values + 0.5 + _LAST_DIGIT).astype(np.int64)


def numbers_of(values: Values, *, name: str) -> Floats:
    """Return ratings or predictions as floats from 1 to 5, NaN where missing.

    An error names rows, from 0.
    """
    column = pd.Series(values, dtype=object).reset_index(drop=True)
    fits = column.map(_is_number).astype(bool)
    floats = column.where(fits, np.nan).to_numpy(dtype=np.float64)
    bad = column.notna().to_numpy() & ~np.isfinite(floats)
    if bad.any():
        raise TableError(
            f"{name}: expected numbers from 1 to {LEVELS}, NaN where missing – found something else in "
            f"{int(bad.sum())} rows (first: row {first_three(np.flatnonzero(bad).tolist())}) – correct or "
            "leave out those rows."
        )
    off = np.flatnonzero((floats < 1 - _LAST_DIGIT) | (floats > LEVELS + _LAST_DIGIT))
    if len(off):
        raise TableError(
            f"{name}: expected numbers from 1 to {LEVELS}, NaN where missing – found others in {len(off)} "
            f"rows, from {floats[off].min():g} to {floats[off].max():g} (first: row "
            f"{first_three(off.tolist())}) – bring numbers of another scale to this one, and make codes for "
            "missing values NaN."
        )
    return floats


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def cluster_weights(n_clusters: int, *, n_boot: int, seed: int) -> Floats:
    """Draw clusters: the number of times that each is in each resample (n_boot, clusters)."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=n_boot).astype(np.float64)


def interval(resamples: Floats, n_clusters: int, confidence_level: float) -> tuple[float, float]:
    """Return the percentile interval of resamples, NaN left out, widened for few clusters."""
    from scipy import special

    defined = resamples[~np.isnan(resamples)]
    if not len(defined):
        return np.nan, np.nan
    z = widened_quantile(n_clusters, confidence_level)
    low, high = np.quantile(defined, special.ndtr([-z, z]))
    return float(low), float(high)


def _intervals(
    pairs: _Pairs, reason: str | None, n_boot: int, confidence_level: float, seed: int
) -> dict[str, Any]:
    resamples = _measures(pairs, cluster_weights(pairs.n_clusters, n_boot=n_boot, seed=seed))
    if reason:
        resamples["spearman"] = np.full(n_boot, np.nan)
    ends: dict[str, Any] = {"n_boot": n_boot, "n_undefined": int(np.isnan(resamples["spearman"]).sum())}
    for name, values in resamples.items():
        ends[f"{name}_low"], ends[f"{name}_high"] = interval(values, pairs.n_clusters, confidence_level)
    return ends


def _measures(pairs: _Pairs, weights: Floats) -> dict[str, Floats]:
    """Return each measure (resamples,) where cluster c counts `weights[:, c]` times."""
    if not len(pairs.true):
        return {name: np.full(len(weights), np.nan) for name in MEASURES}
    size = max(1, _CELLS // len(pairs.true))
    blocks = [weights[start : start + size] for start in range(0, len(weights), size)]
    # Level pairs and absolute errors only add up, so a cluster's sums serve for every resample.
    cell = pairs.true_level * LEVELS + pairs.predicted_level
    counts = np.bincount(pairs.cluster * LEVELS**2 + cell, minlength=pairs.n_clusters * LEVELS**2)
    table = (weights @ counts.reshape(-1, LEVELS**2)).reshape(-1, LEVELS, LEVELS)
    error = np.bincount(pairs.cluster, np.abs(pairs.true - pairs.predicted))
    n = table.sum(axis=(1, 2))
    apart = np.abs(np.subtract.outer(np.arange(LEVELS), np.arange(LEVELS)))
    return {
        "spearman": np.concatenate([_spearman(pairs, block[:, pairs.cluster]) for block in blocks]),
        "accuracy": np.trace(table, axis1=1, axis2=2) / n,
        "macro_f1": _macro_f1(table),
        "within_one": (table * (apart <= 1)).sum(axis=(1, 2)) / n,
        "mae": weights @ error / n,
    }


def _macro_f1(table: Floats) -> Floats:
    right = np.diagonal(table, axis1=1, axis2=2)
    either = table.sum(axis=1) + table.sum(axis=2)  # predicted + true = 2 hits + false alarms + misses
    f1 = np.divide(2 * right, either, out=np.zeros_like(either), where=either > 0)
    return np.asarray(f1.sum(axis=1) / (either > 0).sum(axis=1))


def _spearman(pairs: _Pairs, weights: Floats) -> Floats:
    """Return the rank correlation (resamples,) where pair i counts `weights[:, i]` times."""
    first, second = _centred_ranks(pairs.true, weights), _centred_ranks(pairs.predicted, weights)
    spread = (weights * first**2).sum(axis=1) * (weights * second**2).sum(axis=1)
    shared = (weights * first * second).sum(axis=1)
    correlation = np.divide(shared, np.sqrt(spread), out=np.full(len(weights), np.nan), where=spread > 0)
    return np.asarray(correlation)


def _centred_ranks(values: Floats, weights: Floats) -> Floats:
    """Return each pair's mid-rank in each resample, less the mean rank."""
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    order = np.argsort(place, kind="stable")
    up_to = np.cumsum(weights[:, order], axis=1)[:, np.cumsum(times) - 1]
    middle = (up_to + np.concatenate([np.zeros((len(weights), 1)), up_to[:, :-1]], axis=1)) / 2
    return np.asarray((middle - up_to[:, -1:] / 2)[:, place])


def _reason(pairs: _Pairs, folds: Integers | None) -> Reason | None:
    """Return the reason if there is no Spearman correlation."""
    if not len(pairs.true):
        return Reason.NO_PAIRS
    if np.ptp(pairs.true) == 0:
        return Reason.CONSTANT_TRUTH
    if np.ptp(pairs.predicted) == 0:
        return Reason.CONSTANT_PREDICTIONS
    if folds is not None and pd.Series(pairs.predicted).groupby(folds).nunique().max() == 1:
        return Reason.CONSTANT_WITHIN_FOLDS
    return None


def _pairs(frame: pd.DataFrame) -> tuple[_Pairs, Integers | None, int, int]:
    """Return the pairs with both numbers, their folds, and how many lack a prediction or a truth."""
    true = numbers_of(frame["true"], name="true")
    predicted = numbers_of(frame["predicted"], name="predicted")
    levels = levels_of(np.nan_to_num(predicted, nan=1.0))
    if "labels" in frame:
        labels = numbers_of(frame["labels"], name="labels")
        levels = levels_of(np.nan_to_num(np.where(np.isnan(labels), predicted, labels), nan=1.0))
    both = ~np.isnan(true) & ~np.isnan(predicted)
    cluster = np.zeros(int(both.sum()), dtype=np.int64)
    if "groups" in frame:
        _refuse_unlabelled(frame["groups"], "group")
        check_groups(frame["groups"], name="groups")
        cluster = pd.factorize(frame["groups"].astype("string")[both], sort=True)[0].astype(np.int64)
    folds = None
    if "fold" in frame:
        _refuse_unlabelled(frame["fold"], "fold")
        folds = pd.factorize(frame["fold"][both])[0].astype(np.int64)
    pairs = _Pairs(true[both], predicted[both], levels_of(true[both]) - 1, levels[both] - 1, cluster)
    return pairs, folds, int((~np.isnan(true) & np.isnan(predicted)).sum()), int(np.isnan(true).sum())


def _aligned(inputs: dict[str, Values]) -> pd.DataFrame:
    """Return the columns given, in the rows of the first Series: Series by index, others by position."""
    lengths = {name: len(values) for name, values in inputs.items()}
    if len(set(lengths.values())) > 1:
        raise TableError(
            f"evaluate: expected as many values of each – found {lengths} – pass them for the same rows."
        )
    labelled = {name: values for name, values in inputs.items() if isinstance(values, pd.Series)}
    first = next(iter(labelled), "")
    parts = {
        name: _reindexed(labelled[name], labelled[first].index, name, first)
        if name in labelled
        else pd.Series(list(values), dtype=object)
        for name, values in inputs.items()
    }
    return pd.DataFrame({name: part.astype(object).reset_index(drop=True) for name, part in parts.items()})


def _reindexed(values: pd.Series, index: pd.Index, name: str, first: str) -> pd.Series:
    if values.index.equals(index):
        return values
    if not (index.is_unique and values.index.is_unique and index.isin(values.index).all()):
        raise TableError(
            f"evaluate: expected the rows of `{first}` in the index of `{name}`, each once – found others – "
            "give both the same index, or pass arrays to match them by position."
        )
    return values.reindex(index)


def _refuse_unlabelled(column: pd.Series, name: str) -> None:
    missing = np.flatnonzero(column.isna())
    if len(missing):
        raise TableError(
            f"evaluate: expected a {name} for every row – found none in {len(missing)} rows (first: row "
            f"{first_three(missing.tolist())}) – fill it in or leave out those rows."
        )


def _two_dimensional(runs: npt.NDArray[Any]) -> pd.DataFrame:
    array = np.asarray(runs)
    if array.ndim != 2:
        raise TableError(
            f"evaluate_runs: expected an array (n, runs) – found {array.ndim} dimensions – pass one column "
            "per run."
        )
    return pd.DataFrame(array)
