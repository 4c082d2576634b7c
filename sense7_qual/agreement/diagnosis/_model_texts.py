"""The texts of one code that a model coded: shares of them, and how these differ between groups of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import require_column
from sense7_qual._bootstrap import FEWEST_CLUSTERS, share_interval
from sense7_qual._reasons import Reason
from sense7_qual.agreement._intervals._bootstrap import degrees_of_freedom
from sense7_qual.frames import indexed_by_unit

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Texts:
    """All texts of one code, with what people settled and the model said: 1, 0, or NaN for nothing."""

    code: str
    unit_id: pd.Index
    cluster: Integers
    human: Floats
    model: Floats
    weight: Floats
    level: float

    @property
    def both(self) -> Truths:
        """Texts with a settled code of people and one of the model."""
        return ~np.isnan(self.human) & ~np.isnan(self.model)

    def share(self, measure: str, part: Truths, whole: Truths, *, equal: bool = False, **more: Any) -> Row:
        """Return the row of the share of `part` in `whole`; `equal` counts texts that nobody drew."""
        weight = np.ones(len(part)) if equal else self.weight
        chosen, cluster = weight[whole], self.cluster[whole]
        k = len(np.unique(cluster))
        row: Row = {"measure": measure, "n_units": int(whole.sum()), "n_clusters": k} | more
        if not len(chosen):
            return row | {"reason": Reason.NO_COMPARISON}
        value, moved = ratio(chosen * part[whole], chosen, cluster)
        row["value"] = value
        if k < FEWEST_CLUSTERS:
            return row | {"reason": Reason.FEW_CLUSTERS}
        alone, one = independent(part[whole] - value, chosen), value * (1 - value)
        n = one / alone if alone > 0 else len(chosen)
        ends = share_interval(value, float(np.square(moved).sum()), n, known(moved), self.level)
        return row | dict(zip(("low", "high"), ends, strict=True))


def independent(apart: npt.NDArray[np.floating], weight: Floats) -> float:
    """Return the variance of a weighted mean of independent texts, from how far each is from the mean."""
    return float(np.square(weight * apart).sum() / weight.sum() ** 2)


def known(moved: Floats) -> float:
    """Return the number of participants of equal influence from which a variance would be known as well."""
    if not moved.any():
        return float(len(moved))
    return 1 + degrees_of_freedom(moved, np.ones(len(moved), dtype=np.int64))


def ratio(part: Floats, whole: Floats, cluster: Integers) -> tuple[float, Floats]:
    """Return Σ part / Σ whole, and its move when each cluster is left out, √((k − 1) / k) times."""
    number = np.unique(cluster, return_inverse=True)[1]
    sums = np.stack([np.bincount(number, one) for one in (part, whole)])
    total = sums.sum(axis=1)
    value = float(total[0] / total[1])
    if sums.shape[1] < 2:
        return value, np.full(1, np.nan)
    rest = total[:, None] - sums
    without = rest[0] / rest[1]
    n = len(without)
    return value, np.asarray(np.sqrt((n - 1) / n) * (without - without.mean()))


def group_rows(texts: Texts, units: pd.DataFrame, by: Sequence[str]) -> Iterator[Row]:
    """Yield the differences of sensitivity, of specificity and of what is missing between groups."""
    human, model, both = texts.human == 1, texts.model == 1, texts.both
    everywhere, equal = np.ones(len(model), dtype=np.bool_), np.ones(len(model))
    measures = (
        ("sensitivity", model, both & human, texts.weight),
        ("specificity", ~model, both & ~human, texts.weight),
        ("missing", np.isnan(texts.model), everywhere, equal),
    )
    for column in by:
        require_column(units, column, frame_name="units")
        values = indexed_by_unit(units.set_index("unit_id")[column], name=column).reindex(texts.unit_id)
        for name, inside, known in _levels(column, values):
            for measure, part, whole, weight in measures:
                row = {"measure": f"{measure}_difference", "group": name}
                yield row | _apart(part, weight, whole & known, inside, texts)


def _levels(column: str, values: pd.Series) -> Iterator[tuple[str, Truths, Truths]]:
    """Yield each comparison: its name, the texts in the first group, and those with a known group."""
    known = values.notna().to_numpy(dtype=np.bool_)
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.notna().sum() == known.sum() and numbers.nunique() > 2:
        middle = float(numbers.median())
        above = "above" if (numbers > middle).any() else "at or above"
        inside = (numbers > middle) if above == "above" else (numbers >= middle)
        yield f"{column} {above} {middle:g} – others", inside.to_numpy(dtype=np.bool_), known
        return
    names = sorted(values.dropna().unique(), key=str)
    if len(names) == 2:
        yield (
            f"{column} {names[1]} – {names[0]}",
            values.eq(names[1]).to_numpy(dtype=np.bool_, na_value=False),
            known,
        )
    elif len(names) > 2:
        for name in names:
            yield f"{column} {name} – others", values.eq(name).to_numpy(dtype=np.bool_, na_value=False), known


def _apart(part: Truths, weight: Floats, whole: Truths, inside: Truths, texts: Texts) -> Row:
    """Return the share of `part` in one group less that in the other, with Student's t over participants.

    The interval is at least that of independent texts, and p at least theirs.
    """
    from scipy import special

    sides = [whole & inside, whole & ~inside]
    clusters = [np.unique(texts.cluster[side]) for side in sides]
    there = np.union1d(*clusters)
    row: Row = {"n_units": int(whole.sum()), "n_clusters": len(there)}
    if min(map(len, clusters)) == 0:
        return row | {"reason": Reason.NO_COMPARISON}
    moved, values, alone = np.zeros((2, int(texts.cluster.max()) + 1)), [], 0.0
    for place, side in enumerate(sides):
        value, own = ratio(weight[side] * part[side], weight[side], texts.cluster[side])
        values.append(value)
        moved[place, clusters[place]] = own
        alone += independent(part[side] - value, weight[side])
    row["value"] = values[0] - values[1]
    if min(map(len, clusters)) < FEWEST_CLUSTERS:
        return row | {"reason": Reason.FEW_CLUSTERS}
    both = (moved[0] - moved[1])[there]
    error = float(np.sqrt(np.square(both).sum()))
    if error < 1e-12:
        return row | {"reason": Reason.ONE_PATTERN}
    tail, degrees, least = (1 + texts.level) / 2, known(both) - 1, float(np.sqrt(alone))
    half = max(float(special.stdtrit(degrees, tail)) * error, float(special.ndtri(tail)) * least)
    ends = {"low": max(row["value"] - half, -1.0), "high": min(row["value"] + half, 1.0)}
    p = max(special.stdtr(degrees, -abs(row["value"]) / error), special.ndtr(-abs(row["value"]) / least))
    return row | ends | {"p": 2 * float(p)}
