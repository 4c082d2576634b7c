"""Each coder against the others on each code: how often they apply it, and what they find and leave out."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual import codings
from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._reasons import Reason
from sense7_qual.adjudication._results import CODERS

__all__ = ["coder_views"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_CHUNK: Final = 50


def coder_views(
    own: pd.DataFrame,
    ruled: pd.DataFrame,
    clusters: pd.Series,
    *,
    n_boot: int,
    confidence_level: float,
    seed: int,
) -> pd.DataFrame:
    """Return one row per coder × code; `ruled` as `overruled` gives it, `clusters` numbers by unit_id."""
    keys = own[["coder", "code"]].drop_duplicates()
    keys = keys.assign(order=pd.factorize(keys["code"])[0]).sort_values(["coder", "order"], kind="stable")
    against = _against_others(own)
    place = pd.MultiIndex.from_frame(keys[["coder", "code"]])
    at = place.get_indexer(pd.MultiIndex.from_frame(against[["coder", "code"]]))
    cluster = clusters.loc[against["unit_id"]].to_numpy(dtype=np.int64)
    n_clusters = int(clusters.max()) + 1 if len(clusters) else 0
    cells = np.zeros((n_clusters, len(keys), 4))
    np.add.at(
        cells, (cluster, at, 2 * (1 - against["others"]) + (against["others"] != against["applied"])), 1
    )
    resampled = _resampled(cells, n_boot, seed)
    tested = max(1, int(((cells.sum(axis=2) > 0).sum(axis=0) >= FEWEST_CLUSTERS).sum()))
    rows = [_view(cells[:, i], resampled[:, i], confidence_level, tested) for i in range(len(keys))]
    counts = ruled.groupby(["coder", "code"])["overruled"].agg(n_ruled="size", n_overruled="sum")
    frame = keys[["coder", "code"]].reset_index(drop=True).join(pd.DataFrame(rows))
    frame = frame.merge(counts.reset_index(), how="left", on=["coder", "code"])
    frame[["n_ruled", "n_overruled"]] = frame[["n_ruled", "n_overruled"]].fillna(0)
    return CODERS.frame(frame)


def _against_others(own: pd.DataFrame) -> pd.DataFrame:
    """Return decisions beside what most of the other coders decided; ties of the others are left out."""
    tally = codings.tally(own)
    both = own.merge(tally, on=["unit_id", "code"])
    applied = both["applied"].astype("int64")
    twice = 2 * (both["n_applied"] - applied) - (both["n_coders"] - 1)
    is_clear = (both["n_coders"] >= 2) & (twice != 0)
    both = both.assign(applied=applied, others=(twice > 0).astype("int64"))
    return both.loc[is_clear, ["unit_id", "coder", "code", "applied", "others"]]


def _resampled(cells: Floats, n_boot: int, seed: int) -> Floats:
    """Return the sums of resampled clusters (n_boot, coders × codes, 4)."""
    n_clusters = len(cells)
    if n_clusters < FEWEST_CLUSTERS:
        return np.zeros((0, *cells.shape[1:]))
    rng, flat = np.random.default_rng(seed), cells.reshape(n_clusters, -1)
    parts = []
    for start in range(0, n_boot, _CHUNK):
        size = min(_CHUNK, n_boot - start)
        drawn = rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=size)
        parts.append(drawn @ flat)
    return np.concatenate(parts).reshape(n_boot, *cells.shape[1:])


def _view(cells: Floats, resampled: Floats, level: float, tested: int) -> dict[str, object]:
    """Return the numbers of a coder on a code from its counts (clusters, 4), in the order hit, missed,
    absent alike, added, and their resampled sums (n_boot, 4)."""
    hit, missed, alike, added = sums = cells.sum(axis=0)
    n = sums.sum()
    view: dict[str, object] = {"n_units": n, "n_present": hit + missed, "n_absent": alike + added}
    if not n:
        return view | {"reason": Reason.NO_PAIRABLE_UNITS}
    view |= {
        "prevalence": (hit + added) / n,
        "others": (hit + missed) / n,
        "difference": (added - missed) / n,
    }
    filled = (cells.sum(axis=1) > 0).sum()
    if filled >= FEWEST_CLUSTERS:
        low, high = _difference(sums, resampled, int(filled), level)
        surely = _difference(sums, resampled, int(filled), 1 - (1 - level) / tested)
        view |= {"difference_low": low, "difference_high": high}
        view["leans"] = "more" if surely[0] > 0 else "less" if surely[1] < 0 else None
    few = filled < FEWEST_CLUSTERS
    for name, right, wrong in (("sensitivity", 0, 1), ("specificity", 2, 3)):
        if sums[right] + sums[wrong]:
            view[name] = sums[right] / (sums[right] + sums[wrong])
        having = int((cells[:, [right, wrong]].sum(axis=1) > 0).sum())
        few |= having < FEWEST_CLUSTERS
        if having >= FEWEST_CLUSTERS:
            ends = _share(sums[right], sums[wrong], resampled[:, [right, wrong]], having, level)
            view[f"{name}_low"], view[f"{name}_high"] = ends
    return view | ({"reason": Reason.FEW_CLUSTERS} if few else {})


def _difference(sums: Floats, resampled: Floats, n_clusters: int, level: float) -> tuple[float, float]:
    """Return the ends of the paired difference: Bonett and Price, for the units that clusters are worth."""
    from scipy import special

    n, missed, added = sums.sum(), sums[1], sums[3]
    total = resampled.sum(axis=1)
    has_units = total > 0
    spread = np.var((resampled[has_units, 3] - resampled[has_units, 1]) / total[has_units])
    simple = ((missed + added) / n - ((added - missed) / n) ** 2) / n
    worth = n / max(1.0, float(spread / simple)) if simple > 0 else float(n_clusters)
    more, less = ((count / n * worth + 1) / (worth + 2) for count in (added, missed))
    error = np.sqrt((more + less - (more - less) ** 2) / (worth + 2))
    half = special.stdtrit(n_clusters - 1, (1 + level) / 2) * error
    return max(-1.0, float(more - less - half)), min(1.0, float(more - less + half))


def _share(
    right: float, wrong: float, resampled: Floats, n_clusters: int, level: float
) -> tuple[float, float]:
    """Return the ends of a share: Clopper and Pearson, for the units that clusters are worth."""
    from scipy import special

    n, share = right + wrong, right / (right + wrong)
    total = resampled.sum(axis=1)
    has_units = total > 0
    spread = float(np.var(resampled[has_units, 0] / total[has_units]))
    worth = float(n_clusters) if share in (0, 1) else n / max(1.0, spread * n / (share * (1 - share)))
    tail = (1 - level) / 2
    worth *= float(special.ndtri(1 - tail) / special.stdtrit(n_clusters - 1, 1 - tail)) ** 2
    hits = share * worth
    low = special.betaincinv(hits, worth - hits + 1, tail) if hits > 0 else 0.0
    high = special.betaincinv(hits + 1, worth - hits, 1 - tail) if hits < worth else 1.0
    return float(low), float(high)
