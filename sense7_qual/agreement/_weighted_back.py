"""Agreement on units that were drawn with unequal probabilities, weighted back to all of them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._messages import first_three
from sense7_qual._reasons import Reason
from sense7_qual.agreement.coefficients._compute import evidence
from sense7_qual.agreement.coefficients._few_clusters import (
    FEWEST,
    Evidence,
    freedom,
    jackknife_error,
    logarithmic,
    within,
    without_disagreement,
)
from sense7_qual.agreement.coefficients._patterns import Coded
from sense7_qual.errors import TableError
from sense7_qual.frames import require_column

__all__ = ["alpha_of", "probabilities_of", "weighted_row"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_EQUAL = 1e-12


def probabilities_of(inclusion: pd.DataFrame) -> pd.Series:
    """Return the probability of each unit, by unit_id."""
    for column in ("unit_id", "probability"):
        require_column(inclusion, column, frame_name="inclusion")
    ids = inclusion["unit_id"].astype("string").str.strip()
    chance = pd.to_numeric(inclusion["probability"], errors="coerce").to_numpy(dtype=np.float64)
    twice, wrong = ids[ids.duplicated()], ids[~((chance > 0) & (chance <= 1))]
    for bad, expected in ((twice, "each unit once"), (wrong, "probabilities above 0 and up to 1")):
        if len(bad):
            raise TableError(
                f"inclusion: expected {expected} – found otherwise for {first_three(bad)} – pass what "
                "corpus.inclusion returns."
            )
    return pd.Series(chance, index=pd.Index(ids))


def weighted_row(
    table: Coded, unit_ids: pd.Index, cluster: Integers, known: pd.Series, confidence_level: float
) -> dict[str, Any]:
    """Return the numbers of a code, of units (coders, units) with two or more values, for all units."""
    chance = known.reindex(unit_ids.astype("string"))
    missing = chance.index[chance.isna()]
    if len(missing):
        raise TableError(
            "inclusion: expected the probability of every unit that two or more coders decided on – found "
            f"none for {first_three(missing)} – pass corpus.inclusion of the plan, and decisions of it alone."
        )
    weight = 1 / chance.to_numpy(dtype=np.float64)
    codes = table.codes[(table.codes > 0).any(axis=1)]
    row = {
        "n_units": codes.shape[1], "n_coders": len(codes), "n_clusters": len(np.unique(cluster)),
        "n_boot": None, "n_undefined": None,
    }  # fmt: skip
    return row | _coefficients(codes, weight) | alpha_of(table, weight, cluster, confidence_level)


def _sums(codes: npt.NDArray[Any], weight: Floats) -> Floats:
    """Return of each unit (units, 4): disagreement, values applied and absent, squared weights of values."""
    applied, absent = (codes == 2).sum(axis=0), (codes == 1).sum(axis=0)
    values = applied + absent
    apart = 2 * applied * absent / (values - 1)
    return np.stack([weight * apart, weight * applied, weight * absent, weight**2 * values], axis=1)


def _expected(sums: Floats) -> Floats:
    """Return the disagreement expected by chance, corrected for how many values of equal weight there are."""
    total = sums[..., 1] + sums[..., 2]
    worth = total**2 / sums[..., 3]
    return np.asarray(2 * sums[..., 1] * sums[..., 2] / total**2 * worth / (worth - 1))


def _value(sums: Floats) -> Floats:
    """Return alpha of sums (…, 4), NaN where nothing varies."""
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = _expected(sums)
        ratio = sums[..., 0] / (sums[..., 1] + sums[..., 2]) / expected
    return np.asarray(np.where(expected > 0, 1 - ratio, np.nan))


def alpha_of(table: Coded, weight: Floats, cluster: Integers, confidence_level: float) -> dict[str, Any]:
    """Return alpha with its interval from leaving out each unit, or each cluster of units."""
    columns: dict[str, Any] = {"alpha": math.nan, "alpha_low": math.nan, "alpha_high": math.nan}
    if not len(weight):
        return columns | {"reason": Reason.NO_PAIRABLE_UNITS}
    sums = _sums(table.codes, weight)
    value = float(_value(sums.sum(axis=0)))
    if math.isnan(value):
        return columns | {"reason": Reason.NO_VARIATION}
    columns["alpha"] = value
    groups = pd.factorize(cluster)[0]
    of_group: Floats = np.stack([np.bincount(groups, column) for column in sums.T], axis=1).astype(np.float64)
    rests_on = evidence("krippendorff_alpha", table.codes, len(table.categories), groups.astype(np.int64))
    clustered = len(of_group) < len(sums)
    if len(of_group) < 2:
        return columns | {"reason": Reason.ONE_CLUSTER if clustered else Reason.ONE_UNIT}
    if 1 - value < _EQUAL:
        ends = without_disagreement(_worth(rests_on, of_group, weight, groups), confidence_level)
        return columns | _ends(ends, value) | {"reason": Reason.NO_DISAGREEMENT}
    if rests_on.other < FEWEST:
        return columns | {"reason": Reason.FEW_CLUSTERS if clustered else Reason.FEW_UNITS}
    without = _value(of_group.sum(axis=0) - of_group)
    deviations = np.nan_to_num(without - np.nanmean(without))
    times = np.ones(len(without), dtype=np.int64)
    error = jackknife_error(deviations, times)
    if error < _EQUAL:
        return columns | {"reason": Reason.ONE_PATTERN}
    degrees = freedom(deviations, times)
    ends = logarithmic(value, error, degrees, rests_on, confidence_level)
    return columns | _ends(ends, value) | {"reason": None}


def _worth(rests_on: Evidence, of_group: Floats, weight: Floats, groups: Integers) -> Evidence:
    """Return the evidence of as many groups as those of unequal weight are worth (Kish)."""
    each = np.bincount(groups, weight)
    applied, absent = of_group[:, 1].sum(), of_group[:, 2].sum()
    unequal = float(2 * applied * absent / (applied + absent) ** 2)
    groups_worth = max(1, int(each.sum() ** 2 / (each @ each)))
    return Evidence(groups_worth, rests_on.other, rests_on.agreed, rests_on.n_values, unequal)


def _ends(ends: tuple[float, float], value: float) -> dict[str, float]:
    low, high = within(*ends, value, -1.0)
    return {"alpha_low": low, "alpha_high": high}


def _coefficients(codes: npt.NDArray[Any], weight: Floats) -> dict[str, float]:
    """Return what stands beside alpha, each unit by its weight."""
    applied, absent = (codes == 2).sum(axis=0), (codes == 1).sum(axis=0)
    values = applied + absent
    same = (applied * (applied - 1) + absent * (absent - 1)) / (values * (values - 1))
    percent, share = _mean(same, weight), _mean(applied / values, weight)
    of_coder = [
        float(weight[row == 2].sum() / weight[row > 0].sum()) for row in codes if weight[row > 0].sum() > 0
    ]
    chance = [p * q + (1 - p) * (1 - q) for p, q in itertools.combinations(of_coder, 2)]
    expected = float(np.mean(chance)) if chance else math.nan
    others = weight * (values - 1)
    return {
        "prevalence": _mean(applied, weight) / _mean(values, weight) if len(weight) else math.nan,
        "percent": percent,
        "kappa": _beyond(percent, expected),
        "ac1": _beyond(percent, 2 * share * (1 - share)),
        "positive_agreement": _ratio(weight @ (applied * (applied - 1)), others @ applied),
        "negative_agreement": _ratio(weight @ (absent * (absent - 1)), others @ absent),
    }


def _mean(values: npt.NDArray[Any], weight: Floats) -> float:
    return float(weight @ values / weight.sum()) if len(weight) else math.nan


def _beyond(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected) if expected < 1 else math.nan


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else math.nan
