"""Intervals of agreement on spans, from resampled clusters of texts.

All statistics of spans but the alpha_U of 2004 are functions of sums over texts, so that a resample is a
weighted sum. The alpha_U of 2004 also depends on the gaps between the texts: resampled texts are laid end to
end anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._reasons import Reason
from sense7_qual.agreement._intervals._bootstrap import Interval, Resampling, ends, resampled_interval
from sense7_qual.agreement.coefficients._few_clusters import effective_clusters
from sense7_qual.agreement.spans._alpha_u_2004 import resampled_borders
from sense7_qual.agreement.spans._unitizing_alphas import (
    Tally,
    all_text_alpha,
    all_text_parts,
    coded_text_alpha,
    coded_text_parts,
)
from sense7_qual.agreement.spans._values import Continuum, covered

__all__ = [
    "all_text_interval",
    "border_interval",
    "coded_text_interval",
    "mean_f1",
    "overlap_interval",
    "overlap_parts",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_EQUAL: Final = 1e-9


def all_text_interval(each: Tally, k: int, cluster: Integers, how: Resampling) -> Interval:
    """Return the interval of u-alpha of a code, from what each text (T,) in its cluster adds."""
    parts = all_text_parts(each, k)
    total, length, both, _ = _by_cluster(parts, cluster).T
    few = _too_few([length, total - length], length - both)
    return Interval(reason=few) if few else resampled_interval(parts, cluster, all_text_alpha, how)


def coded_text_interval(each: Tally, k: int, cluster: Integers, how: Resampling) -> Interval:
    """Return the interval of (k)u-alpha of a code, from what each text (T,) in its cluster adds."""
    parts = coded_text_parts(each, k)
    coded, both, _, total, _, _ = _by_cluster(parts, cluster).T
    few = _too_few([coded, total - coded], coded - both)
    return Interval(reason=few) if few else resampled_interval(parts, cluster, coded_text_alpha, how)


def overlap_interval(parts: Floats, cluster: Integers, how: Resampling) -> Interval:
    """Return the interval of the overlap F1, averaged over pairs of coders, from its parts in each text."""
    shared, marked = np.split(_by_cluster(parts, cluster), 2, axis=1)
    few = _too_few([marked.sum(axis=1)], (marked - 2 * shared).sum(axis=1))
    return Interval(reason=few) if few else resampled_interval(parts, cluster, mean_f1, how)


def border_interval(line: Continuum, k: int, estimate: float, cluster: Integers, how: Resampling) -> Interval:
    """Return the interval of the alpha_U of 2004 of a code; `line` holds texts that every coder finished."""
    spans = np.bincount(cluster[line.of_text[line.of_code == k]], minlength=_n(cluster)).astype(np.float64)
    few = _too_few([spans], np.array([1 - estimate]))
    if few:
        return Interval(reason=few)
    n = len(spans)
    draws = np.random.default_rng(how.seed).multinomial(n, np.full(n, 1 / n), size=how.n_boot)
    resamples = resampled_borders(line, k, draws[:, cluster])
    without = resampled_borders(line, k, (1 - np.eye(n, dtype=np.int64))[:, cluster])
    # What a text changes would take as long as the resamples: as of texts that do not depend on each other.
    n_groups = effective_clusters(np.zeros(len(cluster)), np.ones(len(cluster)), cluster)
    return ends(resamples, estimate, np.nanmean(without) - without, n_groups, how)


def overlap_parts(line: Continuum, k: int) -> Floats:
    """Return, for each text and pair of coders, the shared and then the marked characters (T, 2 · pairs).

    A pair counts on the texts that both finished.
    """
    here = covered(line, line.of_code == k)
    done = line.finished[:, line.text]
    first, second = np.triu_indices(len(line.coders), 1)
    parts = np.zeros((line.finished.shape[1], 2, len(first)))
    for pair, (a, b) in enumerate(zip(first, second, strict=True)):
        width = line.width * (done[a] & done[b])
        for of, count in enumerate((here[a] & here[b], here[a].astype(np.int64) + here[b])):
            parts[:, of, pair] = np.bincount(line.text, width * count, minlength=len(parts))
    return parts.reshape(len(parts), 2 * len(first))


def mean_f1(parts: Floats) -> Floats:
    """Return the overlap F1 (…), a mean over pairs of coders, from sums (…, 2 · pairs); NaN without spans."""
    shared, marked = np.split(parts, 2, axis=-1)
    each = np.divide(2 * shared, marked, out=np.zeros_like(marked), where=marked > 0)
    n_pairs = (marked > 0).sum(axis=-1)
    out = np.full(np.shape(n_pairs), np.nan)
    return np.asarray(np.divide(each.sum(axis=-1), n_pairs, out=out, where=n_pairs > 0))


def _n(cluster: Integers) -> int:
    return int(cluster.max()) + 1 if len(cluster) else 0


def _by_cluster(parts: Floats, cluster: Integers) -> Floats:
    """Sum what texts (T, K) add over their clusters (G, K)."""
    rows = np.zeros((_n(cluster), parts.shape[1]))
    np.add.at(rows, cluster, parts)
    return rows


def _too_few(carried: Sequence[Floats], differ: Floats) -> Reason | None:
    """Return why clusters cannot carry an interval: by what each has (G,), and where coders differ."""
    if len(carried[0]) < 2:
        return Reason.ONE_CLUSTER
    if min((length > 0).sum() for length in carried) < FEWEST_CLUSTERS:
        return Reason.FEW_CLUSTERS
    return None if (differ > _EQUAL).any() else Reason.NO_DISAGREEMENT
