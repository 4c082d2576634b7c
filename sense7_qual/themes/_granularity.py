"""How fine the themes are: resamples at several granularities, and the one that they show again best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from sense7_qual.themes._communities import Labels, adjusted_rand, communities
from sense7_qual.themes._fuzzy_graph import fuzzy_graph
from sense7_qual.themes._neighbours import Floats, Neighbours, Vectors, nearest_neighbours

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = [
    "GRANULARITIES",
    "NOT_DRAWN",
    "N_KNOWN",
    "N_NEIGHBOURS",
    "Resamples",
    "affordable",
    "chosen",
    "table",
]

#: Half octaves, from a handful of themes to about as many as the neighbours of a text allow.
GRANULARITIES: Final = (0.5, 0.71, 1.0, 1.41, 2.0, 2.83, 4.0, 5.66, 8.0)
N_NEIGHBOURS: Final = 15
#: A resample draws 63 % of the texts: of 40 known neighbours at least 15 are drawn, but for 3 rows in 10⁴.
N_KNOWN: Final = 40
NOT_DRAWN: Final = -2
#: What chance alone shows again hardly changes beyond this number of texts.
_MOST_BY_CHANCE: Final = 2_000
_N_BY_CHANCE: Final = 5
_RUNS: Final = 20_000
_MOST_IN_A_THEME: Final = 0.5
_CLEARLY_ALIKE: Final = 0.75


def affordable(n: int, *, most: int, least: int) -> int:
    """Return how often to run what takes time with `n` texts: seldom where they are many."""
    return min(most, max(least, _RUNS // n))


@dataclass(slots=True)
class Resamples:
    """Groupings of bootstrap samples of the rows, by granularity: one array of labels per sample.

    Each sample draws n rows with replacement, uses each drawn row once, and is grouped anew from the
    neighbours that were drawn. Sample b is the same rows at every granularity.
    """

    near: Neighbours = field(repr=False)
    min_size: int
    seed: int
    labels: dict[float, list[Labels]] = field(default_factory=dict, repr=False)

    def run(
        self, granularities: Sequence[float], n_resamples: int, report: Callable[[int, int], None]
    ) -> None:
        """Group the samples up to number `n_resamples` at each granularity, those that are missing."""
        done = min((len(self.labels.get(each, [])) for each in granularities), default=0)
        for resample in range(done, n_resamples):
            drawn, graph, seed = self._drawn(resample)
            least = max(2, round(self.min_size * len(drawn) / len(self.near.index)))
            for granularity in granularities:
                labels = np.full(len(self.near.index), NOT_DRAWN, dtype=np.int64)
                labels[drawn] = communities(graph, resolution=granularity, min_size=least, seed=seed)
                self.labels.setdefault(granularity, []).append(labels)
            report(resample + 1, n_resamples)

    def _drawn(self, resample: int) -> tuple[Labels, csr_matrix, int]:
        n = len(self.near.index)
        rng = np.random.default_rng([self.seed, resample])
        drawn = np.unique(rng.integers(0, n, n))
        return drawn, fuzzy_graph(self.near.among(drawn, N_NEIGHBOURS)), int(rng.integers(2**31))

    def similarity(self, granularity: float) -> Floats:
        """Return the adjusted Rand index of each two samples, on the rows that both drew."""
        of_pairs = []
        for one, other in combinations(self.labels.get(granularity, []), 2):
            both = (one != NOT_DRAWN) & (other != NOT_DRAWN)
            of_pairs.append(adjusted_rand(one[both], other[both]))
        return np.array(of_pairs)


def table(
    vectors: Vectors, resamples: Resamples, whole: dict[float, Labels], report: Callable[[int, int], None]
) -> pd.DataFrame:
    """Return for each granularity how alike the samples' groupings are, and how alike by chance.

    Chance is texts without any groups: drawn from one normal distribution with the mean and covariance of
    the vectors, they too have near neighbours that come together in most samples, the more so the finer
    (or coarser) the themes. Without that correction the finest granularity would win wherever groups are
    weak (see ``benchmarks/themes.md``).

    Returns
    -------
    DataFrame
        One row per granularity, as `Themes.granularities`, without `chosen`.
    """
    similar = {each: resamples.similarity(each) for each in whole}
    chance = _by_chance(vectors, resamples, report) if any(map(len, similar.values())) else {}
    rows = []
    for granularity, labels in whole.items():
        ari = similar[granularity]
        low, mean, high = (
            (np.quantile(ari, 0.1), ari.mean(), np.quantile(ari, 0.9)) if len(ari) else [np.nan] * 3
        )
        expected = chance.get(granularity, np.nan)
        beyond = (mean - expected) / (1 - expected) if expected < 1 else np.nan
        n_resamples = len(resamples.labels.get(granularity, []))
        size = np.bincount(labels[labels >= 0])
        rows.append(
            (
                granularity,
                len(size),
                size.max(initial=0) / len(labels),
                n_resamples,
                mean,
                low,
                high,
                expected,
                beyond,
            )
        )
    columns = [
        "granularity",
        "n_themes",
        "largest",
        "n_resamples",
        "ari",
        "ari_low",
        "ari_high",
        "ari_chance",
    ]
    return pd.DataFrame(rows, columns=[*columns, "beyond_chance"])


def chosen(granularities: pd.DataFrame) -> float:
    """Return the granularity that the samples show again best beyond chance (ties: the coarsest).

    One at which a theme holds most of the texts is passed over where the samples are not clearly alike
    (a mean index under .75): in texts without clear groups such a heap is all that every sample shows.
    """
    heap = (granularities["largest"] > _MOST_IN_A_THEME) & ~(granularities["ari"] >= _CLEARLY_ALIKE)
    themes = granularities["n_themes"] > 0
    rows = next(granularities[kept] for kept in (themes & ~heap, themes, ~themes) if kept.any())
    best = rows["beyond_chance"].to_numpy().round(9).argmax()
    return float(rows["granularity"].iloc[best])


def _by_chance(
    vectors: Vectors, resamples: Resamples, report: Callable[[int, int], None]
) -> dict[float, float]:
    """Return the mean index between samples of texts without groups, by granularity."""
    near = nearest_neighbours(_structureless(vectors, resamples.seed), N_KNOWN)
    unrelated = Resamples(near, resamples.min_size, resamples.seed)
    granularities = list(resamples.labels)
    unrelated.run(granularities, min(_N_BY_CHANCE, len(resamples.labels[granularities[0]])), report)
    return {each: float(unrelated.similarity(each).mean()) for each in granularities}


def _structureless(vectors: Vectors, seed: int) -> Vectors:
    """Draw rows from the normal distribution with the rows' mean and covariance, at length 1."""
    some = vectors[:: -(-len(vectors) // _MOST_BY_CHANCE)]
    centred = some - some.mean(axis=0)
    rng = np.random.default_rng([seed, len(some)])
    mixed = rng.normal(size=(len(some), len(some))).astype(np.float32) / np.sqrt(len(some))
    drawn = some.mean(axis=0) + mixed.astype(np.float32) @ centred
    length = np.linalg.norm(drawn, axis=1, keepdims=True)
    return np.asarray(drawn / np.where(length > 0, length, 1), dtype=np.float32)
