"""How often each code stands in each theme, with intervals over participants."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual.errors import ArgumentError

__all__ = ["INTERVALS", "check_level", "code_shares", "estimates"]

Floats = npt.NDArray[np.float64]

INTERVALS: Final = ["share_low", "share_high", "lift_low", "lift_high"]


def check_level(function: str, level: float) -> None:
    """Refuse a confidence level outside 0 … 1, in the name of `function`."""
    if not 0 < level < 1:
        raise ArgumentError(
            f"{function}: expected confidence_level between 0 and 1 – found {level!r} – 0.95 is usual."
        )


def code_shares(placed: pd.DataFrame, themes: pd.Series, codes: list[str], level: float) -> pd.DataFrame:
    """Return a row per theme and code, with share and lift and their intervals.

    `placed` has a row per decision: theme (−1 for none), code, unit_id, coder, cluster, applied. The result
    has the columns of `codes_by_theme` but `n_units`.
    """
    numbers = pd.concat([themes, pd.Series(placed["theme"].unique())]).drop_duplicates()
    theme = pd.Categorical(placed["theme"], numbers).codes
    cluster, clusters = pd.factorize(placed["cluster"])
    rows = []
    for code in codes:
        of_code = (placed["code"] == code).to_numpy()
        place = (theme[of_code], cluster[of_code])
        decided = np.zeros((len(numbers), len(clusters)))
        np.add.at(decided, place, 1)
        applied = np.zeros_like(decided)
        np.add.at(applied, place, placed["applied"].to_numpy(dtype=float)[of_code])
        found = estimates(applied, decided, level)
        n_decided = placed[of_code].groupby("theme")["unit_id"].nunique().reindex(numbers, fill_value=0)
        rows.append(
            pd.DataFrame(
                {"theme": numbers.to_numpy(), "code": code, "n_decided": n_decided.to_numpy(), **found}
            )
        )
    wanted = pd.MultiIndex.from_product([themes, codes], names=["theme", "code"])
    table = pd.concat(rows).astype({"code": "string"})
    return table.set_index(["theme", "code"]).reindex(wanted).reset_index().astype({"code": "string"})


def estimates(applied: Floats, decided: Floats, level: float) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of one code, from its counts by theme and cluster, whatever stands in their rows."""
    n, n_clusters = decided.sum(axis=1), (decided > 0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = applied.sum(axis=1) / n
        overall = applied.sum() / decided.sum()
        residual = np.nan_to_num(applied - share[:, None] * decided)
        own = residual / n[:, None]
        # How many texts are of each theme is taken as given.
        everywhere = residual.sum(axis=0) / decided.sum()
        relative = own - share[:, None] * everywhere / overall if overall else own
        found = {
            "n_decisions": n.astype(np.int64),
            "n_clusters": n_clusters,
            "share": share,
            "overall_share": np.full(len(n), overall),
            "lift": share / overall if overall else np.full(len(n), np.nan),
        }
        ends = [
            *_interval(share, own, n, n_clusters, level),
            *_interval(share, relative, n, n_clusters, level),
        ]
        ends[2:] = [end / overall if overall else np.full(len(n), np.nan) for end in ends[2:]]
    return found | dict(zip(INTERVALS, ends, strict=True))


def _interval(
    share: Floats, influence: Floats, n: Floats, n_clusters: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return Wilson's interval of a share, for as many texts as its variance between clusters is worth.

    Korn and Graubard's effective sample size; where the variance is 0 (all or none applied), the number of
    clusters. Missing where there are too few clusters for an interval.
    """
    from scipy import special

    variance = (influence**2).sum(axis=1) * n_clusters / (n_clusters - 1)
    worth = np.where(variance > 0, share * (1 - share) / variance, n_clusters)
    worth = np.clip(worth, 1, n)
    z = special.stdtrit(np.maximum(n_clusters - 1, 1), (1 + level) / 2)
    middle = (share + z**2 / (2 * worth)) / (1 + z**2 / worth)
    half = z / (1 + z**2 / worth) * np.sqrt(share * (1 - share) / worth + z**2 / (4 * worth**2))
    enough = n_clusters >= FEWEST_CLUSTERS
    low = np.where(enough, np.maximum(middle - half, 0), np.nan)
    return low, np.where(enough, np.minimum(middle + half, 1), np.nan)
