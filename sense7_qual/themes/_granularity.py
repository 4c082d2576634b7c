"""How fine the themes are, and how stable: the median of the granularities that resamples reproduce."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from sense7_qual.themes import _granularity
from sense7_qual.themes._communities import (
    NO_GROUP,
    Labels,
    adjusted_rand,
    by_size,
    centres,
    communities,
    fuzzy_graph,
)
from sense7_qual.themes._expected import Expected, expected
from sense7_qual.themes._neighbours import (
    Floats,
    Neighbours,
    Vectors,
    in_threads,
    nearest_neighbours,
    one_blas_thread,
)
from sense7_qual.themes._texts import Embed, Progress

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from sense7_qual.codebook import Codebook

#: Half octaves, from a handful of themes to about as many as the neighbours of a text allow.
GRANULARITIES: Final = (0.5, 0.71, 1.0, 1.41, 2.0, 2.83, 4.0, 5.66, 8.0)
#: A resample draws 63 % of the texts: of 45 known neighbours at least 19 are drawn, but for 2 rows in 10³.
N_KNOWN: Final = 45
NOT_DRAWN: Final = -2
_LEAST_NEIGHBOURS: Final = 15
_MOST_NEIGHBOURS: Final = 30
#: From 5,000 texts on each has fewer neighbours again, so that the graph does not grow.
_MOST_JOINED: Final = 150_000
#: What chance alone shows again hardly changes beyond this number of texts.
_MOST_BY_CHANCE: Final = 1_000
_RUNS: Final = 20_000
_MOST_IN_A_THEME: Final = 0.5
_CLEARLY_ALIKE: Final = 0.75
#: Lower, and a clear peak at an end is left for the middle; higher, and a flat curve is a matter of luck.
_SHARPNESS: Final = 6


def affordable(n: int, *, most: int, least: int) -> int:
    """Return the number of runs of a step that takes time with `n` texts: few for many texts."""
    return min(most, max(least, _RUNS // n))


def n_neighbours(n: int) -> int:
    """Return to how many of `n` texts each is joined: a tenth of them, between 15 and 30."""
    return max(_LEAST_NEIGHBOURS, min(_MOST_NEIGHBOURS, n // 10, _MOST_JOINED // n))


@dataclass(slots=True)
class Resamples:
    """Groupings of bootstrap samples of the rows, by granularity: one array of labels per sample.

    Each sample draws n rows with replacement, uses each drawn row once, and is grouped anew from the
    neighbours that were drawn: as large a share of its rows as `n_neighbours` are of all, and at least 15.
    Sample b is the same rows at every granularity.
    """

    near: Neighbours = field(repr=False)
    n_neighbours: int
    min_size: int
    seed: int
    labels: dict[float, list[Labels]] = field(default_factory=dict, repr=False)

    def run(
        self, granularities: Sequence[float], n_resamples: int, report: Callable[[int, int], None]
    ) -> None:
        """Group the samples up to number `n_resamples` at each granularity, those that are missing."""
        done = min((len(self.labels.get(each, [])) for each in granularities), default=0)
        for of_sample in in_threads(
            lambda resample: self._grouped(resample, granularities), range(done, n_resamples)
        ):
            for granularity, labels in zip(granularities, of_sample, strict=True):
                self.labels.setdefault(granularity, []).append(labels)
            done += 1
            report(done, n_resamples)

    def _grouped(self, resample: int, granularities: Sequence[float]) -> list[Labels]:
        """Return the labels of one sample at each granularity."""
        drawn, graph, seed = self._drawn(resample)
        least = max(2, round(self.min_size * len(drawn) / len(self.near.index)))
        of_sample = []
        for granularity in granularities:
            labels = np.full(len(self.near.index), NOT_DRAWN, dtype=np.int64)
            labels[drawn] = communities(graph, resolution=granularity, min_size=least, seed=seed)
            of_sample.append(labels)
        return of_sample

    def _drawn(self, resample: int) -> tuple[Labels, csr_matrix, int]:
        n = len(self.near.index)
        rng = np.random.default_rng([self.seed, resample])
        drawn = np.unique(rng.integers(0, n, n))
        k = max(_LEAST_NEIGHBOURS, round(self.n_neighbours * len(drawn) / n))
        return drawn, fuzzy_graph(self.near.among(drawn, k)), int(rng.integers(2**31))

    def similarity(self, granularity: float) -> Floats:
        """Return the adjusted Rand index of each two samples, on the rows that both drew.

        0 where both samples are one heap: they are equal, and show no groups.
        """
        of_pairs = []
        for one, other in combinations(self.labels.get(granularity, []), 2):
            both = (one != NOT_DRAWN) & (other != NOT_DRAWN)
            heap = max(one.max(), other.max()) < 1
            of_pairs.append(0.0 if heap else adjusted_rand(one[both], other[both]))
        return np.array(of_pairs)


def table(
    vectors: Vectors, resamples: Resamples, whole: dict[float, Labels], report: Callable[[int, int], None]
) -> pd.DataFrame:
    """Return for each granularity how alike the samples' groupings are, and how alike by chance.

    Chance is texts without any groups: drawn from one normal distribution with the mean and covariance of
    the vectors, they too have near neighbours that come together in most samples, the more so the finer
    (or coarser) the themes. Without that correction the finest granularity would win wherever groups are
    weak (see ``benchmarks/themes.md``).
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
    """Return the granularity in the middle of those that the samples show again beyond chance.

    The middle is the mean of their logarithms, weighted by the sixth power of what is beyond chance, or
    rather the nearest that was tried (ties: the coarser). Where the curve is flat the single best one would
    change with every sample of texts (see ``benchmarks/themes.md``). Where nothing is beyond chance, it is
    the best (ties: the coarsest).

    One at which a theme holds most of the texts is passed over where the samples are not clearly alike
    (a mean index under .75): in texts without clear groups such a heap is all that every sample shows. One
    with a single theme is taken only where no other has more.
    """
    heap = (granularities["largest"] > _MOST_IN_A_THEME) & ~(granularities["ari"] >= _CLEARLY_ALIKE)
    one, several = granularities["n_themes"] == 1, granularities["n_themes"] > 1
    preferred = (several & ~heap, several, one, ~several)
    rows = granularities[next(each for each in preferred if each.any())]
    beyond, octave = rows["beyond_chance"].to_numpy().round(9), np.log2(rows["granularity"].to_numpy())
    weight = np.maximum(beyond, 0) ** _SHARPNESS
    if weight.any():
        away = np.abs(octave - np.average(octave, weights=weight)).round(9)
        return float(rows["granularity"].iloc[away.argmin()])
    return float(rows["granularity"].iloc[beyond.argmax()])


def as_good(granularities: pd.DataFrame) -> list[int]:
    """Return the least and the largest number of themes that would do as well as the chosen number.

    A granularity does as well where a tenth of its pairs of samples, or more, is at least as alike, beyond
    chance, as those of the chosen one are on average. Only numbers next to each other count: a gap ends the
    range. Without resamples it is the chosen number alone.
    """
    rows = granularities.sort_values("granularity", ignore_index=True)
    best = int(rows["chosen"].to_numpy(dtype=bool).argmax())
    reach = (rows["ari_high"] - rows["ari_chance"]) / (1 - rows["ari_chance"])
    good = (reach.round(9) >= rows["beyond_chance"].round(9).iloc[best]) & (rows["n_themes"] > 1)
    low = high = best
    while low > 0 and good[low - 1]:
        low -= 1
    while high + 1 < len(good) and good[high + 1]:
        high += 1
    own = rows.loc[low:high, "n_themes"]
    return [int(own.min()), int(own.max())]


def _by_chance(
    vectors: Vectors, resamples: Resamples, report: Callable[[int, int], None]
) -> dict[float, float]:
    """Return the mean index between two samples of texts without groups, by granularity.

    The mean is over several such sets of texts: at coarse granularities one alone may fall into halves that
    every sample shows again, and another not (at 300 texts and .5 a standard deviation of .1 to .2).
    """
    granularities = list(resamples.labels)
    n_sets = affordable(len(vectors), most=6, least=3)
    similar = np.empty((n_sets, len(granularities)))
    for number in range(n_sets):
        with one_blas_thread():
            drawn = _structureless(vectors, [resamples.seed, number])
        near = nearest_neighbours(drawn, N_KNOWN)
        unrelated = Resamples(near, resamples.n_neighbours, resamples.min_size, resamples.seed)
        unrelated.run(granularities, 2, lambda done, total: None)
        similar[number] = [unrelated.similarity(each).mean() for each in granularities]
        report(number + 1, n_sets)
    return dict(zip(granularities, similar.mean(axis=0).tolist(), strict=True))


def _structureless(vectors: Vectors, seed: list[int]) -> Vectors:
    """Draw rows from the normal distribution with the rows' mean and covariance, at length 1."""
    some = vectors[:: -(-len(vectors) // _MOST_BY_CHANCE)]
    spread = np.linalg.qr(some - some.mean(axis=0), mode="r") / np.sqrt(len(some))
    normal = np.random.default_rng([*seed, len(some)]).normal(size=(len(some), len(spread)))
    drawn = some.mean(axis=0) + normal.astype(np.float32) @ spread
    length = np.linalg.norm(drawn, axis=1, keepdims=True)
    return np.asarray(drawn / np.where(length > 0, length, 1), dtype=np.float32)


#: Hennig (2007): at .5 or less a resample has dissolved the theme, from .75 on it has found it again.
_DISSOLVED: Final = 0.5
_RECOVERED: Final = 0.75


def stability(jaccard: Floats) -> pd.DataFrame:
    """Compute the stability of each group from the result of `jaccard_of_resamples`.

    A row per group, all in 0 … 1: stability (the mean Jaccard similarity over resamples), dissolved and
    recovered (the shares of resamples with at most .5 and at least .75); missing without resamples.

    References
    ----------
    Hennig (2007), Cluster-wise assessment of cluster stability, CSDA 52, 258–271.
    """
    by_group = pd.DataFrame(jaccard.T)
    counted = by_group.notna().sum(axis=1).replace(0, np.nan)
    return pd.DataFrame(
        {
            "stability": by_group.mean(axis=1),
            "dissolved": (by_group <= _DISSOLVED).sum(axis=1) / counted,
            "recovered": (by_group >= _RECOVERED).sum(axis=1) / counted,
        }
    )


def jaccard_of_resamples(labels: Labels, resamples: Sequence[Labels]) -> Floats:
    """Compute the similarity of each group to its best match in bootstrap samples of the rows.

    `resamples` have the groups in each sample, `NOT_DRAWN` for a row that is not in it. The result
    (n_resamples, groups) is NaN where no member of the group was drawn.

    A group's value is the Jaccard similarity of its drawn members to the most similar group of the sample
    (Hennig 2007; `clusterboot` of the R package fpc, `bootmethod="boot"`).

    References
    ----------
    Hennig (2007), Cluster-wise assessment of cluster stability, CSDA 52, 258–271.
    """
    n_groups = int(labels.max(initial=NO_GROUP)) + 1
    jaccard = np.empty((len(resamples), n_groups))
    for number, again in enumerate(resamples):
        drawn = again != NOT_DRAWN
        jaccard[number] = _best_jaccard(labels[drawn], again[drawn], n_groups)
    return jaccard


def _best_jaccard(labels: Labels, again: Labels, n_groups: int) -> Floats:
    both = np.zeros((n_groups + 1, int(again.max(initial=NO_GROUP)) + 2))
    np.add.at(both, (labels, again), 1)  # −1 counts in the last row and column, which are then left out
    size, size_again = both.sum(axis=1)[:-1, None], both.sum(axis=0)[None, :-1]
    either = size + size_again - both[:-1, :-1]
    overlap = np.divide(both[:-1, :-1], either, out=np.zeros_like(either), where=either > 0)
    best = overlap.max(axis=1, initial=0.0)
    best[size[:, 0] == 0] = np.nan
    return np.asarray(best)


# The groups of distinct texts: themes as fine as resamples show them again, coarse and sub-themes


_MOST_STARTS: Final = 3


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of distinct texts: a number per text at each level, Jaccard per resample and group."""

    granularity: float
    themes: Labels = field(repr=False)
    coarse: Labels = field(repr=False)
    subs: Labels = field(repr=False)
    jaccard: dict[str, Floats] = field(repr=False)
    granularities: pd.DataFrame = field(repr=False)
    settings: dict[str, Any] = field(repr=False)
    expected: Expected | None = field(default=None, repr=False)
    codes: Labels = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)


def groups(
    vectors: Vectors,
    *,
    weights: Labels,
    granularity: float | None,
    min_size: int,
    n_resamples: int,
    seed: int,
    report: Progress,
    codebook: Codebook | None = None,
    embed: Embed | None = None,
) -> Groups:
    """Group distinct texts at every granularity, choose one, and resample.

    `vectors` (n, d) are of distinct texts, of length 1, and `weights` say how many units have each; `report`
    is called with (stage, done, total). With a codebook the codes then have their themes among the groups.
    """
    report("cluster", 0, 1)
    near = nearest_neighbours(vectors, N_KNOWN)
    tried = sorted({*GRANULARITIES} | ({granularity} if granularity else set()))
    whole = _at_each(near, tried, min_size=min_size, seed=seed)
    report("cluster", 1, 1)
    resamples = Resamples(near, n_neighbours(len(vectors)), min_size, seed)
    n_to_choose = affordable(len(vectors), most=n_resamples, least=3)
    resamples.run(tried, n_to_choose, lambda done, total: report("resample", done, n_resamples))
    table = _granularity.table(vectors, resamples, whole, lambda done, total: report("chance", done, total))
    best = granularity or _granularity.chosen(table)
    resamples.run([best], n_resamples, lambda done, total: report("resample", done, total))
    table["chosen"] = table["granularity"] == best
    places = None
    if codebook is not None and embed is not None:
        graph = fuzzy_graph(near.nearest(resamples.n_neighbours))
        places = expected(vectors, near, graph, codebook, embed)
    return _levels(vectors, weights, whole, best, table, resamples, places)


def _at_each(near: Neighbours, tried: list[float], *, min_size: int, seed: int) -> dict[float, Labels]:
    graph = fuzzy_graph(near.nearest(n_neighbours(len(near.index))))
    n_starts = affordable(2 * len(near.index), most=_MOST_STARTS, least=1)
    at_each = in_threads(
        lambda each: communities(graph, resolution=each, min_size=min_size, seed=seed, n_starts=n_starts),
        tried,
    )
    return dict(zip(tried, at_each, strict=True))


def _levels(
    vectors: Vectors,
    weights: Labels,
    whole: dict[float, Labels],
    best: float,
    table: pd.DataFrame,
    resamples: Resamples,
    places: Expected | None,
) -> Groups:
    """Return the themes with the levels above and below, nested in them."""
    of_best = resamples.labels.get(best, [])
    themes, codes = whole[best], np.full(len(vectors), NO_GROUP, dtype=np.int64)
    if places is not None:
        rows = np.arange(len(vectors))
        themes, codes = places.themes(vectors, themes, rows, min_size=resamples.min_size)
        of_best = [_expected_in(places, vectors, labels, resamples.min_size) for labels in of_best]
    themes = by_size(themes, weights)
    above, below = level(table, best, finer=False), level(table, best, finer=True)
    coarse = themes if above is None else coarse_themes(themes, whole[above], weights)
    subs = themes
    if below is not None:
        subs = sub_themes(vectors, themes, whole[below], weights, min_size=resamples.min_size)
    jaccard = {
        name: jaccard_of_resamples(labels, resamples.labels.get(at or 0, of_best))
        for name, labels, at in (("coarse", coarse, above), ("theme", themes, None), ("sub", subs, below))
    }
    low, high = as_good(table)
    n_themes = int(themes.max(initial=NO_GROUP)) + 1 if places is not None else low
    settings = {
        "n_neighbours": resamples.n_neighbours,
        "n_themes_as_good": [min(low, n_themes), max(high, n_themes)],
        "granularity_coarse": above,
        "granularity_sub": below,
    }
    return Groups(best, themes, coarse, subs, jaccard, table, settings, places, codes)


def _expected_in(places: Expected, vectors: Vectors, labels: Labels, min_size: int) -> Labels:
    """Return the groups of a sample with the themes of the codes in it."""
    drawn = np.flatnonzero(labels != NOT_DRAWN)
    found = labels.copy()
    least = max(2, round(min_size * len(drawn) / len(labels)))
    found[drawn], _ = places.themes(vectors, labels[drawn], drawn, min_size=least)
    return found


#: Another level is one with at most half, or at least one and a half times, as many groups.
_FEWER: Final = 0.5
_MORE: Final = 1.5


def level(granularities: pd.DataFrame, chosen: float, *, finer: bool) -> float | None:
    """Return the granularity of the coarse themes, or of the sub-themes: the best beyond chance, or None."""
    own = int(granularities.loc[granularities["granularity"] == chosen, "n_themes"].iloc[0])
    number = granularities["n_themes"]
    if finer:
        other = granularities[(granularities["granularity"] > chosen) & (number >= _MORE * own)]
    else:
        other = granularities[(granularities["granularity"] < chosen) & number.between(2, _FEWER * own)]
    if other.empty:
        return None
    nearest_first = other if finer else other.iloc[::-1]
    value = nearest_first["beyond_chance"].fillna(0).to_numpy()
    return float(nearest_first["granularity"].iloc[value.argmax()])


def coarse_themes(themes: Labels, coarse: Labels, weights: Labels) -> Labels:
    """Return the coarse theme of each row: its theme is where most of the theme's rows are, as a whole."""
    home = _homes(themes, coarse)
    return by_size(np.where(themes == NO_GROUP, NO_GROUP, home[themes]), weights)


def sub_themes(vectors: Vectors, themes: Labels, fine: Labels, weights: Labels, *, min_size: int) -> Labels:
    """Return the sub-theme of each row, within its theme.

    The rows of a theme that are together at the finer granularity too are a sub-theme, from `min_size` rows
    on; the rest of the theme goes to the sub-theme with the nearest centre. A theme that does not fall apart
    is its own sub-theme.
    """
    width = int(fine.max(initial=NO_GROUP)) + 2
    pieces = np.where(themes == NO_GROUP, NO_GROUP, themes * width + fine + 1)
    numbers, inverse, size = np.unique(pieces, return_inverse=True, return_counts=True)
    large = (size >= min_size) & (numbers >= 0) & (numbers % width > 0)
    subs = np.full(len(themes), NO_GROUP, dtype=np.int64)
    n_subs = 0
    for theme in range(int(themes.max(initial=NO_GROUP)) + 1):
        rows = np.flatnonzero(themes == theme)
        own = np.unique(inverse[rows][large[inverse[rows]]])
        labels = np.searchsorted(own, inverse[rows]) if len(own) else np.zeros(len(rows), dtype=np.int64)
        rest = ~np.isin(inverse[rows], own)
        if len(own) and rest.any():
            labels[rest] = NO_GROUP
            labels[rest] = (vectors[rows[rest]] @ centres(vectors[rows], labels).T).argmax(axis=1)
        subs[rows] = n_subs + labels
        n_subs += max(len(own), 1)
    return by_size(subs, weights)


def _homes(themes: Labels, other: Labels) -> Labels:
    """Return for each theme the group of `other` with most of its rows (ties: the larger group)."""
    inside = themes != NO_GROUP
    both = np.zeros((int(themes.max(initial=NO_GROUP)) + 1, int(other.max(initial=NO_GROUP)) + 2))
    np.add.at(both, (themes[inside], other[inside]), 1)
    both[:, -1] -= 0.5  # rows in no group decide only where there is nothing else
    return np.asarray(both[:, :-1].argmax(axis=1) if both.shape[1] > 1 else np.zeros(len(both), int))
