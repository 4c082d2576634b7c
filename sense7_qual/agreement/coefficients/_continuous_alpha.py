"""Krippendorff's alpha on wide scales, without a table of values × values: sliders, seconds, real numbers.

Where nearly every unit has a pattern of its own there is nothing to gain from counting patterns. The sum of
all pairs' squared distances then follows from sums and sums of squares (interval; ordinal, whose distances
are those of ranks) or from how often each value is given (nominal). The ratio metric has no such form: its
expected disagreement goes through all pairs of different values, a block at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sense7_qual.agreement.coefficients._patterns import Coded, Patterns
from sense7_qual.agreement.coefficients._weights import Level, places

__all__ = ["WideAlpha", "wide_alpha"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_BLOCK: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class WideAlpha:
    """Krippendorff's alpha as a function of how many times each unit (or pattern) counts.

    One entry for each value that occurs in a unit: `unit` (E,) sorted, `category` (E,), and `count` (E,) how
    many coders gave it there. `n_units` (U,) is how many units there are of each, and `categories` (V,) the
    values.
    """

    unit: Integers
    category: Integers
    count: Floats
    n_units: Integers
    categories: npt.NDArray[Any]
    level: Level

    @property
    def estimate(self) -> float:
        """Alpha of the table."""
        return self.at(self.n_units.astype(np.float64))

    def smallest(self) -> float:
        """Return the least that alpha can be on any units: the distances of all levels are squared ones."""
        return -1.0

    def at(self, times: Floats) -> float:
        """Return alpha where each unit counts `times` (U,) times, NaN where it does not exist."""
        given = self._given(times)
        used = given > 0
        if used.sum() < 2:
            return float("nan")
        place = self._places(given)
        disagreement = float(times @ self._disagreement(place))
        expected = float(given @ self._distances(given, place))
        return 1 - (given.sum() - 1) * disagreement / expected if expected > 0 else float("nan")

    def influence(self, *, conditional: bool = False) -> Floats:
        """Return the influence of each unit (U,) on alpha; their mean over units is 0.

        `conditional` gives Gwet's, of alpha without its correction for small samples.
        """
        times = self.n_units.astype(np.float64)
        given = self._given(times)
        place, factor = self._places(given), given.sum() - (not conditional)
        own = self._disagreement(place)
        disagreement, distances = float(times @ own), self._distances(given, place)
        expected = float(given @ distances)
        ratio = disagreement / expected
        own_slope = 1 + 1 / given.sum() if conditional else 1.0  # see `totals`
        slope = np.bincount(
            self.unit,
            self.count * (own_slope * ratio - 2 * factor * ratio * distances[self.category] / expected),
        )
        slope = slope + factor * own / expected
        if self.level == "ordinal":
            slope = slope + factor * self._through_ranks(times, given, place, ratio, expected)
        influence = -times.sum() * slope
        return np.asarray(influence - times @ influence / times.sum())

    def _given(self, times: Floats) -> Floats:
        given = np.bincount(self.category, times[self.unit] * self.count, minlength=len(self.categories))
        return given.astype(np.float64)

    def _places(self, given: Floats) -> Floats:
        if self.level == "nominal":
            return np.zeros(len(given))
        place = places(self.categories, self.level, given)
        return place if self.level == "ratio" else place - (given @ place) / given.sum()

    def _disagreement(self, place: Floats) -> Floats:
        """Return each unit's summed distances between its values, by its number of values − 1 (U,)."""
        n = np.bincount(self.unit, self.count)
        pairs: npt.NDArray[Any]
        if self.level == "nominal":
            pairs = np.square(n) - np.bincount(self.unit, np.square(self.count))
        elif self.level == "ratio":
            pairs = self._ratio_pairs(place)
        else:
            # About the unit's own mean: nothing is subtracted that is large.
            mean = np.bincount(self.unit, self.count * place[self.category]) / n
            apart = place[self.category] - mean[self.unit]
            pairs = 2 * n * np.bincount(self.unit, self.count * np.square(apart))
        return np.asarray(pairs / (n - 1))

    def _ratio_pairs(self, place: Floats) -> Floats:
        """Go through the pairs of entries of a unit: neighbours, next but one, and so on."""
        pairs = np.zeros(len(self.n_units))
        lag = 1
        while True:
            first = np.flatnonzero(self.unit[lag:] == self.unit[:-lag])
            if not len(first):
                return pairs
            a, b = place[self.category[first]], place[self.category[first + lag]]
            apart = 2 * self.count[first] * self.count[first + lag] * np.square((a - b) / (a + b))
            pairs += np.bincount(self.unit[first], apart, minlength=len(pairs))
            lag += 1

    def _distances(self, given: Floats, place: Floats) -> Floats:
        """Return the summed distances of each value from all values given (V,)."""
        if self.level == "nominal":
            return np.asarray(given.sum() - given)
        if self.level != "ratio":
            squares = np.square(place)
            return np.asarray(given.sum() * squares + given @ squares - 2 * place * (given @ place))
        out = np.empty(len(place))
        step = max(1, _BLOCK // len(place))
        for start in range(0, len(place), step):
            part = place[start : start + step, None]
            total = part + place
            apart = np.divide(part - place, total, out=np.zeros_like(total), where=total > 0)
            out[start : start + step] = np.square(apart, out=apart) @ given
        return out

    def _through_ranks(
        self, times: Floats, given: Floats, place: Floats, ratio: float, expected: float
    ) -> Floats:
        """Return what a unit changes by moving the ranks of all values (U,)."""
        n = np.bincount(self.unit, self.count)
        mean = np.bincount(self.unit, self.count * place[self.category]) / n
        pull = times[self.unit] * self.count * 4 * n[self.unit] * (place[self.category] - mean[self.unit])
        observed = np.bincount(self.category, pull / (n[self.unit] - 1), minlength=len(place))
        by_chance = 4 * given * (given.sum() * place - given @ place)
        slope = (observed - ratio * by_chance) / expected
        # A further value moves its own rank by a half and all higher ones by one.
        moved = slope.sum() - np.cumsum(slope) + slope / 2
        return np.asarray(np.bincount(self.unit, self.count * moved[self.category]), dtype=np.float64)


def wide_alpha(values: Coded | Patterns, *, level: Level) -> WideAlpha:
    """Return the entries of a table of values, of the units with two or more."""
    if isinstance(values, Patterns):
        unit, category = np.nonzero(values.counts)
        entries = unit, category, values.counts[unit, category].astype(np.float64)
        n_units = values.n_units
    else:
        entries = _entries(values)
        n_units = np.ones(values.codes.shape[1], dtype=np.int64)
    return _pairable(*entries, n_units, values.categories, level)


def _entries(values: Coded) -> tuple[Integers, Integers, Floats]:
    unit, coder = np.nonzero(values.codes.T)
    category = values.codes.T[unit, coder].astype(np.int64) - 1
    keys, count = np.unique(unit * len(values.categories) + category, return_counts=True)
    unit, category = np.divmod(keys, max(1, len(values.categories)))
    return unit, category, count.astype(np.float64)


def _pairable(
    unit: Integers,
    category: Integers,
    count: Floats,
    n_units: Integers,
    categories: npt.NDArray[Any],
    level: Level,
) -> WideAlpha:
    has_pairs = np.bincount(unit, count, minlength=len(n_units)) >= 2
    chosen = has_pairs[unit]
    number = np.cumsum(has_pairs) - 1
    used, category = np.unique(category[chosen], return_inverse=True)
    return WideAlpha(
        unit=number[unit[chosen]],
        category=category.astype(np.int64),
        count=count[chosen],
        n_units=n_units[has_pairs],
        categories=categories[used],
        level=level,
    )
