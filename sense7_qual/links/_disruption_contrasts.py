"""The contrasts of `disruption`: what is compared with what, as sums over clusters."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._reasons import Reason
from sense7_qual.links._resample import cluster_sums

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Compared:
    """A contrast: sums over clusters, and the functions of them that give the difference and d.

    `fewest` is the number of clusters on the rarer side.
    """

    sums: Floats
    statistic: Callable[[Floats], Floats]
    n_documents: int
    n_with: int
    n_without: int
    mean_with: float
    mean_without: float
    fewest: int

    @property
    def reason(self) -> Reason | None:
        """Return the reason if there is nothing to compute."""
        if self.n_with + self.n_without == 0:
            return Reason.NO_RATED_UNITS
        if not self.n_with:
            return Reason.NO_POOR_TURN
        return None if self.n_without else Reason.NO_COMPARISON


def compared_turns(turns: pd.DataFrame, index: pd.DataFrame, outcomes: Sequence[str]) -> dict[str, Compared]:
    """Return every contrast by its name.

    `turns` are all rated turns in order (document, cluster, rating, poor, place from 1, and each of
    `outcomes` as "outcome …"), `index` those before which none was poor. The less poor ones, which do not
    count, also have later and earlier: the means of the later and the earlier turns, NaN where there are
    none.
    """
    later = index.dropna(subset=["later"])
    adjusted = later.dropna(subset=["earlier"])
    contrasts = {
        "later_turns": _two_groups(later, "later"),
        "later_turns_adjusted": _regression(adjusted),
        "within_document": _before_and_after(turns, adjusted[adjusted["poor"]], _never_poor(turns, index)),
    }
    without = turns[turns["document"].isin(_never_poor(turns, index))].drop_duplicates("document")
    scored = pd.concat([index[index["poor"]], without.assign(poor=False)])
    return contrasts | {
        name: _two_groups(scored.dropna(subset=[f"outcome {name}"]), f"outcome {name}") for name in outcomes
    }


def _never_poor(turns: pd.DataFrame, index: pd.DataFrame) -> pd.Index:
    """Return the documents without a poor turn: all their turns are in the index, none as poor."""
    good = index[~index["poor"]].groupby("document").size()
    return good.index[good == turns.groupby("document").size().reindex(good.index)]


# Two groups of rows


def _two_groups(rows: pd.DataFrame, column: str) -> Compared:
    return _compared(rows, column, _group_terms(rows, column), _difference_and_d)


def _compared(
    rows: pd.DataFrame, column: str, terms: Floats, statistic: Callable[[Floats], Floats]
) -> Compared:
    poor = rows["poor"].to_numpy(dtype=np.bool_)
    values = rows[column].to_numpy(dtype=np.float64)
    _, cluster = np.unique(rows["cluster"], return_inverse=True)
    return Compared(
        sums=cluster_sums(terms, cluster),
        statistic=statistic,
        n_documents=rows["document"].nunique(),
        n_with=int(poor.sum()),
        n_without=int((~poor).sum()),
        mean_with=values[poor].mean() if poor.any() else np.nan,
        mean_without=values[~poor].mean() if (~poor).any() else np.nan,
        fewest=min(len(np.unique(cluster[poor])), len(np.unique(cluster[~poor]))),
    )


def _group_terms(rows: pd.DataFrame, column: str) -> Floats:
    """Return, per row, what adds up to n, sum and sum of squares with and without a poor turn (rows, 6)."""
    values = rows[column].to_numpy(dtype=np.float64)
    values = values - values.mean() if len(values) else values
    powers = np.column_stack([np.ones(len(values)), values, values**2])
    poor = rows["poor"].to_numpy(dtype=np.float64)[:, None]
    return np.hstack([powers * poor, powers * (1 - poor)])


def _difference_and_d(sums: Floats) -> Floats:
    """Return the difference of the means, and that over the pooled standard deviation (…, 2)."""
    means = _divided(sums[..., [1, 4]], sums[..., [0, 3]])
    difference = means[..., 0] - means[..., 1]
    return np.stack([difference, _divided(difference, _pooled_sd(sums))], axis=-1)


def _pooled_sd(sums: Floats) -> Floats:
    n, total, squares = sums[..., [0, 3]], sums[..., [1, 4]], sums[..., [2, 5]]
    around = squares - _divided(total**2, n)
    variance = _divided(around.sum(axis=-1), n.sum(axis=-1) - 2)
    return _root(variance)


# The regression on the turn's own rating, the earlier turns and the place

_PLACES: Final = 8
"""From this place on, turns share one level."""


def _regression(rows: pd.DataFrame) -> Compared:
    """Compare what follows a poor turn with what the line through the good turns' ratings leads to expect.

    Of ratings that are normally distributed, whatever conversations, places and moods do to them, those later
    are expected on a line in those before. Only an effect of poor turns themselves makes a step in it.
    """
    poor, rating, earlier, place, later = (
        rows[name].to_numpy(dtype=np.float64) for name in ("poor", "rating", "earlier", "place", "later")
    )
    places = np.minimum(place, _PLACES)[:, None] == np.arange(2, _PLACES + 1)
    design = np.column_stack([poor, rating, earlier, places])
    q = design.shape[1]
    products = (design[:, :, None] * design[:, None, :]).reshape(len(rows), q**2)
    terms = np.hstack([_group_terms(rows, "later"), products, design * later[:, None]])
    return _compared(rows, "later", terms, functools.partial(_coefficient_and_d, q=q))


def _coefficient_and_d(sums: Floats, *, q: int) -> Floats:
    """Return the coefficient of a poor turn, and that over the pooled standard deviation (…, 2)."""
    normal = sums[..., 6 : 6 + q**2].reshape(*sums.shape[:-1], q, q)
    diagonal = np.diagonal(normal, axis1=-2, axis2=-1)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    # A place that no turn has takes no part: 1 on the diagonal, and a coefficient of 0.
    scaled = normal / (scale[..., :, None] * scale[..., None, :])
    scaled = scaled + np.where(diagonal > 0, 0.0, 1.0)[..., None] * np.eye(q)
    # Without a usable design (no poor turn, only two ratings) there is no coefficient.
    usable = (diagonal[..., 0] > 0) & (np.linalg.eigvalsh(scaled)[..., 0] > 1e-10)
    scaled = np.where(usable[..., None, None], scaled, np.eye(q))
    solved = np.linalg.solve(scaled, (sums[..., 6 + q**2 :] / scale)[..., None])[..., 0, 0] / scale[..., 0]
    coefficient = np.where(usable, solved, np.nan)
    return np.stack([coefficient, _divided(coefficient, _pooled_sd(sums))], axis=-1)


# Before and after within a conversation


def _before_and_after(turns: pd.DataFrame, first_poor: pd.DataFrame, never: pd.Index) -> Compared:
    """Compare the means after and before the first poor turn with what other orders would give."""
    broken = _order_terms(turns[turns["document"].isin(first_poor["document"])], first_poor)
    drift = _drift_terms(turns[turns["document"].isin(never)])
    cluster = np.concatenate([broken.index.to_numpy(), drift.index.to_numpy()])
    terms = np.zeros((len(cluster), 9))
    terms[: len(broken), :7] = broken
    terms[len(broken) :, 7:] = drift
    numbers = np.unique(cluster, return_inverse=True)[1]
    return Compared(
        sums=cluster_sums(terms, numbers),
        statistic=_order_and_d,
        n_documents=len(broken) + len(drift),
        n_with=len(broken),
        n_without=len(drift),
        mean_with=first_poor["later"].mean(),
        mean_without=first_poor["earlier"].mean(),
        fewest=min(broken.index.nunique(), drift.index.nunique()),
    )


def _order_terms(turns: pd.DataFrame, first_poor: pd.DataFrame) -> pd.DataFrame:
    """Return per conversation: 1, excess, excess of places, before, before², after, after²; by cluster.

    Were the order of a conversation's ratings left to chance, the mean after the first poor turn would on
    average lie `share` of the way from its good turns' mean to its poor turns' mean below the mean before it.
    """
    at = first_poor.set_index("document")
    by_document = turns.groupby("document")
    size, n_poor = by_document.size(), by_document["poor"].sum()
    share = pd.Series(
        [_share_of_gap(int(n), int(k)) for n, k in zip(size, n_poor, strict=True)], index=size.index
    )
    poor, good = (turns[turns["poor"] == is_poor].groupby("document") for is_poor in (True, False))
    gap = poor[["rating", "place"]].mean() - good[["rating", "place"]].mean()
    before, after = at["earlier"], at["later"]
    # Places are whole numbers in a row: those before t have the mean t / 2, those after it (t + n + 1) / 2.
    places = (size + 1) / 2
    return pd.DataFrame(
        {
            "n": 1.0,
            "excess": after - before - share * gap["rating"],
            "places": places - share * gap["place"],
            "before": before,
            "before²": before**2,
            "after": after,
            "after²": after**2,
            "cluster": at["cluster"],
        }
    ).set_index("cluster")


@functools.cache
def _share_of_gap(n: int, n_poor: int) -> float:
    """Return the expected share of poor turns after the first, less that before it (0), over all orders.

    Orders are those of `n` turns, `n_poor` of them poor, with a first poor turn that is not the first or last
    turn.
    """
    ways = {t: math.comb(n - t, n_poor - 1) for t in range(2, n)}
    share = sum(way * (n_poor - 1) / (n - t) for t, way in ways.items())
    return share / sum(ways.values())


def _drift_terms(turns: pd.DataFrame) -> pd.DataFrame:
    """Return per conversation without a poor turn: products of place and rating, and place²; by cluster."""
    centred = turns[["place", "rating"]] - turns.groupby("document")[["place", "rating"]].transform("mean")
    products = pd.DataFrame(
        {
            "document": turns["document"],
            "cluster": turns["cluster"],
            "place × rating": centred["place"] * centred["rating"],
            "place²": centred["place"] ** 2,
        }
    )
    summed = products.groupby(["cluster", "document"], as_index=False).sum()
    return summed[summed["place²"] > 0].set_index("cluster")[["place × rating", "place²"]]


def _order_and_d(sums: Floats) -> Floats:
    """Return the mean excess less the drift, and that over the standard deviation (…, 2)."""
    n = sums[..., 0]
    drift = _divided(sums[..., 7], sums[..., 8])
    excess = _divided(sums[..., 1], n) - drift * _divided(sums[..., 2], n)
    around = sums[..., [4, 6]] - _divided(sums[..., [3, 5]] ** 2, n[..., None])
    variance = _divided(around, n[..., None] - 1).mean(axis=-1)
    return np.stack([excess, _divided(excess, _root(variance))], axis=-1)


def _divided(above: Floats, below: Floats) -> Floats:
    """Return above / below, NaN where `below` is not above 0."""
    above, below = np.broadcast_arrays(above, below)
    return np.asarray(np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 1e-12))


def _root(variance: Floats) -> Floats:
    """Return the root, NaN where the variance is none, beyond what rounding leaves."""
    return np.sqrt(np.where(variance > 1e-12, variance, np.nan))
