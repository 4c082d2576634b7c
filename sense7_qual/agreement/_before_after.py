"""Agreement before and after coders discussed what they disagreed on."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual import _decisions
from sense7_qual._arguments import check_arguments
from sense7_qual._bootstrap import check_resampling
from sense7_qual._reasons import Reason
from sense7_qual.agreement._counts import binary_alpha, cluster_numbers, own_decisions
from sense7_qual.agreement._intervals._bootstrap import (
    FEWEST,
    RESAMPLED_FROM,
    Resampling,
    degrees_of_freedom,
    effective_number,
    jackknife_error,
    left_out,
    resampled_interval,
    summed,
)
from sense7_qual.agreement._results import BEFORE_AFTER
from sense7_qual.frames import clusters_by_unit

__all__ = ["before_after"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_KEY: Final = ["unit_id", "coder", "code"]


@BEFORE_AFTER.returns
def before_after(
    before: pd.DataFrame,
    discussed: pd.DataFrame,
    *,
    units: pd.DataFrame | None = None,
    cluster: str | None = None,
    n_boot: int = 2000,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Return each code's alpha before and after a discussion, and the difference with its interval.

    Use it to report what a discussion changed, next to the agreement of the independent decisions. Do not
    report `after` as the reliability of the coding: coders who have seen the others' decisions are not
    independent of them, and agreement also rises because coders give in.

    Parameters
    ----------
    before : DataFrame
        unit_id, coder, code, applied (bool): the independent decisions, ``store.decisions(round="one")``.
        Decisions of `consensus`, `majority` and `pooled` are left out.
    discussed : DataFrame
        The decisions of the round of discussion. A unit that was not discussed keeps its decisions of before
        (`codings.after_discussion`).
    units, cluster, n_boot, confidence_level, seed
        As for `by_code`. In each resample both alphas are computed from the same clusters.

    Raises
    ------
    TableError
        A frame breaks its contract, or a unit has no cluster or several.
    ArgumentError
        A setting of the resampling is out of its range.

    Notes
    -----
    The interval is the bootstrap of `by_code`, of the difference; from few clusters it is the jackknife's,
    with Student's t and Satterthwaite's degrees of freedom. In simulated discussions of 12 to 80 participants
    95 % intervals covered the true difference in 93 to 96 % (benchmarks/before_after_coverage.py).

    References
    ----------
    Campbell, Quincy, Osserman & Pedersen (2013), Coding in-depth semistructured interviews: Problems of
    unitization and intercoder reliability and agreement, Sociological Methods & Research 42, 294–320
    (negotiated agreement). Efron (1987), Better bootstrap confidence intervals, JASA 82, 171–185.

    Examples
    --------
    >>> before = pd.DataFrame(
    ...     [(f"m{i}", coder, "interest", i % 2 == 0 or (coder == "ben" and i < 4))
    ...      for i in range(8) for coder in ("ana", "ben")],
    ...     columns=["unit_id", "coder", "code", "applied"])
    >>> discussed = before[before["unit_id"].isin(["m1"])].assign(applied=False)
    >>> before_after(before, discussed)[["n_revised", "before", "after"]].round(2).values.tolist()
    [[1.0, 0.5, 0.76]]
    """
    check_arguments(before_after, locals())
    check_resampling("before_after", n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    first, talked = (own_decisions(frame, function="before_after") for frame in (before, discussed))
    later = _decisions.after_discussion(first, talked)["applied"].to_numpy(dtype=np.bool_)
    was = pd.MultiIndex.from_frame(first[_KEY]).isin(pd.MultiIndex.from_frame(talked[_KEY]))
    table = first.assign(later=later, discussed=was)
    clusters = clusters_by_unit(units, cluster)
    how = Resampling(n_boot, confidence_level, seed)
    rows = [
        {"code": code, **_row(table[table["code"] == code], clusters, how),
         "confidence_level": confidence_level, "seed": seed}
        for code in first["code"].unique().tolist()
    ]  # fmt: skip
    return BEFORE_AFTER.frame(rows)


def _row(of_code: pd.DataFrame, clusters: pd.Series | None, how: Resampling) -> dict[str, Any]:
    by_unit = of_code.groupby("unit_id")
    pairable = of_code[by_unit["coder"].transform("size") >= 2]
    counts = (
        pairable.assign(revised=pairable["applied"] != pairable["later"])
        .groupby("unit_id")
        .agg(n=("coder", "size"), applied=("applied", "sum"), later=("later", "sum"),
             discussed=("discussed", "any"), revised=("revised", "sum"))
    )  # fmt: skip
    number = cluster_numbers(pd.Index(counts.index, dtype="string"), clusters)
    row: dict[str, Any] = {
        "n_units": len(counts),
        "n_coders": pairable["coder"].nunique(),
        "n_clusters": len(np.unique(number)),
        "n_discussed": int(counts["discussed"].sum()),
        "n_revised": int(counts["revised"].sum()),
    }
    if not len(counts):
        return row | {"reason": Reason.NO_PAIRABLE_UNITS}
    parts = np.concatenate([_parts(counts, "applied"), _parts(counts, "later")], axis=1)
    total = parts.sum(axis=0)
    alphas = {"before": float(binary_alpha(total[:3])), "after": float(binary_alpha(total[3:]))}
    row |= alphas | {"difference": float(_difference(total))}
    if np.isnan(row["difference"]):
        return row | {"reason": Reason.NO_VARIATION}
    return row | _interval(parts, counts["revised"].to_numpy(dtype=np.int64), number, how)


def _parts(counts: pd.DataFrame, name: str) -> Floats:
    """Return each unit's addition to the totals of `binary_alpha` (U, 3)."""
    n, applied = (counts[column].to_numpy(dtype=np.float64) for column in ("n", name))
    return np.stack([2 * applied * (n - applied) / (n - 1), applied, n - applied], axis=1)


def _difference(totals: Floats) -> Floats:
    return np.asarray(binary_alpha(totals[..., 3:]) - binary_alpha(totals[..., :3]))


def _interval(parts: Floats, revised: Integers, cluster: Integers, how: Resampling) -> dict[str, Any]:
    """Resample the clusters, as `by_code` does; leave them out in turn where they are few."""
    sums = summed(parts, np.arange(len(parts)), cluster)
    if len(sums) == 1:
        return {"reason": Reason.ONE_CLUSTER}
    if not revised.any():
        return {"reason": Reason.ONE_PATTERN}
    rarer = 1 if sums[:, [1, 4]].sum() <= sums[:, [2, 5]].sum() else 2
    carrying = [(sums[:, [rarer, rarer + 3]] > 0).any(axis=1).sum(), len(np.unique(cluster[revised > 0]))]
    n_carrying = int(min(carrying))
    if n_carrying < FEWEST:
        return {"reason": Reason.FEW_CLUSTERS}
    if n_carrying >= RESAMPLED_FROM:
        bounds = resampled_interval(parts, cluster, _difference, how)
        return {
            "low": bounds.low, "high": bounds.high, "n_boot": how.n_boot,
            "n_undefined": bounds.n_undefined, "reason": bounds.reason,
        }  # fmt: skip
    return _left_out(sums, effective_number(parts, cluster, _difference), how.confidence_level)


def _left_out(sums: Floats, n_effective: float, confidence_level: float) -> dict[str, Any]:
    from scipy import special

    times = np.ones(len(sums), dtype=np.int64)
    deviations = left_out(sums, times, _difference)
    if np.isnan(deviations).any():
        return {"reason": Reason.FEW_CLUSTERS}
    degrees = min(degrees_of_freedom(deviations, times), n_effective)
    half = special.stdtrit(degrees, (1 + confidence_level) / 2) * jackknife_error(deviations, times)
    value = float(_difference(sums.sum(axis=0)))
    return {"low": value - half, "high": value + half, "reason": Reason.FEW_CLUSTERS}
