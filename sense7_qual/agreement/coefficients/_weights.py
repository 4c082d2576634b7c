"""The distance between two values: Krippendorff's difference functions and Gwet's weights.

Their names are alike. Krippendorff's *ordinal* difference depends on how often each value between two was
given, Gwet's *ordinal* weights on how many categories lie between them. Differences are 0 for equal values,
weights 1. On wide scales (sliders, seconds) `wide_alpha` does without a table of values × values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._messages import did_you_mean
from sense7_qual.agreement.coefficients._patterns import Coded, Patterns
from sense7_qual.errors import ArgumentError

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Weighting = Literal["linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar"]
Floats = npt.NDArray[np.float64]
Metric = Level | npt.ArrayLike | Callable[[Any, Any], float]
Weights = Weighting | npt.ArrayLike
Integers = npt.NDArray[np.int64]
_BLOCK: Final = 4_000_000


def difference(categories: npt.ArrayLike, level: Metric, marginals: npt.ArrayLike) -> Floats:
    """Return Krippendorff's difference of each value from each other value, squared (V, V).

    The result (V, V) is 0 or more, and 0 on the diagonal; the interval level is in squared units of the
    scale, the nominal and the ratio one are 0 to 1. A matrix or function gives the differences as they enter
    alpha (already squared where they are to be). `categories` are numbers, sorted, or strings in the order of
    their scale; only the ordinal level uses `marginals` (V,), how often each was given.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section D.

    Examples
    --------
    >>> difference([1.0, 2.0, 4.0], "interval", [1, 1, 1]).tolist()
    [[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]]
    """
    values = np.asarray(categories)
    if not isinstance(level, str):
        return _given_difference(values, level)
    level = check_level(level)
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    place = places(values, level, np.asarray(marginals, dtype=np.float64))
    apart = place[:, None] - place[None, :]
    if level == "ratio":
        total = place[:, None] + place[None, :]
        apart = np.divide(apart, total, out=np.zeros_like(apart), where=total > 0)
    return np.asarray(np.square(apart))


def places(categories: npt.NDArray[Any], level: Level, marginals: Floats) -> Floats:
    """Return each value's place on a scale with the differences as squared distances (V,).

    At the ordinal level that is the mean rank of the values: half of a value's frequency and those below.
    """
    if level == "ordinal":
        return np.asarray(np.cumsum(marginals, axis=-1) - marginals / 2)
    return np.asarray(categories, dtype=np.float64)


def check_level(level: str) -> Level:
    """Return `level`, or raise `ArgumentError` with the nearest level's name where it is none."""
    if level not in get_args(Level):
        raise ArgumentError(
            f"krippendorff_alpha: expected level {' or '.join(get_args(Level))} – found {level!r} – "
            f"{did_you_mean(str(level), get_args(Level))}"
        )
    return cast(Level, level)


def agreement_weights(categories: npt.ArrayLike, weights: Weights | None) -> Floats:
    """Return Gwet's weights: the agreement of each two values, 1 for equal values (V, V).

    The result (V, V) is 0 to 1, and 1 on the diagonal. Numbers, sorted, count as they are, strings as 1, 2, 3
    … in the order given. None counts equal values alone; a matrix is taken as it is, a DataFrame by the names
    of its rows and columns.

    References
    ----------
    Gwet (2014), Handbook of Inter-Rater Reliability (4th ed.), chapter 3.

    Examples
    --------
    >>> agreement_weights([1, 2, 3], "linear").tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    values = np.asarray(categories)
    if weights is None:
        return np.eye(len(values))
    if not isinstance(weights, str):
        return _given_weights(values, weights)
    if weights not in _DISTANCES:
        raise ArgumentError(
            f"weights: expected {', '.join(_DISTANCES)}, a matrix or None – found {weights!r} – "
            f"{did_you_mean(str(weights), _DISTANCES)}"
        )
    if weights == "ordinal" or values.dtype.kind not in "biuf":
        values = np.arange(1, len(values) + 1)
    if weights == "ratio" and (values < 0).any():
        raise ArgumentError(
            "weights: expected categories ≥ 0 for 'ratio' – found negative ones – use others."
        )
    apart = _DISTANCES[weights](values.astype(np.float64))
    largest = apart.max(initial=0.0)
    return np.asarray(1 - apart / largest) if largest > 0 else np.ones_like(apart)


def _powers(exponent: float) -> Callable[[Floats], Floats]:
    return lambda values: np.asarray(np.abs(values[:, None] - values) ** exponent)


def _between(values: Floats) -> Floats:
    """Pairs among the categories from one to the other."""
    n = np.abs(values[:, None] - values) + 1
    return np.asarray(n * (n - 1) / 2)


def _circular(values: Floats) -> Floats:
    span = np.ptp(values) + 1 if len(values) else 1.0
    return np.asarray(np.sin(np.pi * (values[:, None] - values) / span) ** 2)


def _bipolar(values: Floats) -> Floats:
    """A step counts for more near the ends of the scale than in its middle."""
    if not len(values):
        return np.zeros((0, 0))
    total = values[:, None] + values
    room = (total - 2 * values.min()) * (2 * values.max() - total)
    apart = np.square(values[:, None] - values)
    return np.asarray(np.divide(apart, room, out=np.zeros_like(apart), where=apart > 0))


_DISTANCES: Final[dict[str, Callable[[Floats], Floats]]] = {
    "linear": _powers(1),
    "quadratic": _powers(2),
    "ordinal": _between,
    "radical": _powers(0.5),
    "ratio": lambda values: difference(values, "ratio", values),
    "circular": _circular,
    "bipolar": _bipolar,
}


def _given_difference(values: npt.NDArray[Any], level: npt.ArrayLike | Callable[[Any, Any], float]) -> Floats:
    if callable(level):
        apart = _matrix("level", [[level(a, b) for b in values] for a in values]).reshape(2 * (len(values),))
    else:
        apart = _matrix("level", _by_name("level", level, values))
    _check_matrix("level", apart, values)
    if (apart < 0).any() or np.diagonal(apart).any():
        raise ArgumentError(
            "level: expected differences ≥ 0, and 0 of a value from itself – found others – correct them."
        )
    return apart


def _given_weights(values: npt.NDArray[Any], weights: npt.ArrayLike) -> Floats:
    matrix = _matrix("weights", _by_name("weights", weights, values))
    _check_matrix("weights", matrix, values)
    if (matrix > 1).any() or (matrix < 0).any() or (np.diagonal(matrix) != 1).any():
        raise ArgumentError(
            "weights: expected 1 for equal categories and 0 to 1 for others – found other numbers – "
            "correct them."
        )
    return matrix


def _matrix(name: str, given: object) -> Floats:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise _no_matrix(name, f"a {type(given).__name__} of something else") from None


def _by_name(name: str, given: object, values: npt.NDArray[Any]) -> object:
    """Return a frame with its rows and columns, found by name, in the order of the values."""
    if not isinstance(given, pd.DataFrame):
        return given
    names = pd.Index(values)
    if not (names.isin(given.index).all() and names.isin(given.columns).all()):
        raise ArgumentError(
            f"{name}: expected a DataFrame with rows and columns named by the {len(values)} categories "
            "– found other names – name them, or pass its .to_numpy(), if it has the order of the categories."
        )
    return given.loc[names, names].to_numpy()


def _no_matrix(name: str, problem: str) -> ArgumentError:
    named = get_args(Level) if name == "level" else _DISTANCES
    return ArgumentError(
        f"{name}: expected {', '.join(named)}, or a matrix of numbers – found {problem} – choose one of "
        "these."
    )


def _check_matrix(name: str, matrix: Floats, values: npt.NDArray[Any]) -> None:
    if not matrix.ndim:
        raise _no_matrix(name, "a single number, or nothing")
    shape = (len(values), len(values))
    problem = None
    if matrix.shape != shape:
        problem = " × ".join(map(str, matrix.shape))
    elif not np.isfinite(matrix).all():
        problem = "missing or infinite ones"
    elif not np.allclose(matrix, matrix.T):
        problem = "one that is not symmetric"
    if problem:
        raise ArgumentError(
            f"{name}: expected a symmetric matrix of {shape[0]} × {shape[1]} finite numbers, one row for "
            f"each category that occurs, in their order – found {problem} – make it for these categories."
        )


def places_named(levels: npt.NDArray[Any], named: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the place of each value among the named categories, or refuse values that are not named."""
    place: npt.NDArray[np.intp] = pd.Index(named).get_indexer(pd.Index(levels))
    absent = int((place < 0).sum())
    if absent:
        raise ArgumentError(
            f"categories: expected every value that occurs – found {absent} of {len(place)} missing from the "
            "categories – add them, or correct the values."
        )
    return place


def weighted(
    patterns: Patterns, categories: Sequence[Any] | None, weights: Weights | None
) -> tuple[Patterns, Floats]:
    """Return the patterns with all `categories`, and the weights of each pair of them (V, V)."""
    by_row = not (weights is None or isinstance(weights, str | pd.DataFrame))
    patterns = _with_categories(patterns, categories, by_row=by_row)
    words = patterns.categories.dtype == object
    if words and weights is not None and not patterns.ordered and not isinstance(weights, pd.DataFrame):
        raise ArgumentError(
            f"weights: expected an order of the {len(patterns.categories)} categories, because they are "
            "words – found none (words that look like numbers are words, too) – give them in order, "
            'categories=["poor", "fair", "good"], as an ordered Categorical, or as numbers.'
        )
    return patterns, agreement_weights(patterns.categories, weights)


def _with_categories(patterns: Patterns, categories: Sequence[Any] | None, *, by_row: bool) -> Patterns:
    """Add the categories that could have been given and were not; `by_row`: their order is a matrix's."""
    if categories is None or not len(patterns.categories):
        return patterns
    text = patterns.categories.dtype == object
    named = wanted(categories, text=text)
    if by_row and not text and not np.array_equal(named, np.asarray(list(categories), dtype=np.float64)):
        raise ArgumentError(
            "categories: expected numbers in ascending order, as the rows of the matrix of weights are – "
            "found another order – sort them, and the rows and columns of the matrix with them."
        )
    place = places_named(patterns.categories, named)
    counts = np.zeros((len(patterns.counts), len(named)), dtype=np.int64)
    counts[:, place] = patterns.counts
    coders = None if patterns.coders is None else np.append(place, -1)[patterns.coders]
    return replace(patterns, categories=named, counts=counts, coders=coders, ordered=True)


def wanted(categories: Sequence[Any], *, text: bool) -> npt.NDArray[Any]:
    """Return the named categories in the kind of the values: words in their order, numbers sorted."""
    unordered = isinstance(categories, str) or (text and isinstance(categories, AbstractSet | dict))
    listed = [] if unordered or not np.iterable(categories) else list(categories)
    if listed and all(isinstance(one, str) for one in listed) and text:
        words = [one.strip() for one in listed]
        if len(set(words)) == len(words) and all(words):
            return np.asarray(words, dtype=object)
    elif listed and not any(isinstance(one, str | bytes) for one in listed) and not text:
        try:
            numbers = np.unique(np.asarray(listed, dtype=np.float64))
        except (TypeError, ValueError):
            numbers = np.array([np.nan])
        if np.isfinite(numbers).all():
            return numbers
    kind = "strings, each once, in the order of the scale" if text else "numbers"
    raise ArgumentError(
        f"categories: expected a list of {kind}, as the values are, none of them missing – found a "
        f"{type(categories).__name__} of others – name every category that could have been given."
    )


@dataclass(frozen=True, slots=True)
class WideAlpha:
    """Krippendorff's alpha as a function of how many times each unit (or pattern) counts.

    One entry for each value in a unit: `unit` (E,) sorted, `category` (E,), and `count` (E,) of coders who
    gave it. `n_units` (U,) is the number of units of each kind, and `categories` (V,) the values.
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
        """Return the lowest possible alpha: the distances of all levels are squared ones."""
        return -1.0

    def at(self, times: Floats) -> float:
        """Return alpha where each unit counts `times` (U,) times, NaN where it does not exist."""
        given = self._given(times)
        used = given > 0
        if used.sum() < 2:
            return float("nan")
        place = self.places(given)
        disagreement = float(times @ self._disagreement(place))
        expected = float(given @ self._distances(given, place))
        return 1 - (given.sum() - 1) * disagreement / expected if expected > 0 else float("nan")

    def influence(self, *, conditional: bool = False) -> Floats:
        """Return the influence of each unit (U,) on alpha; their mean over units is 0.

        `conditional` gives Gwet's, of alpha without its correction for small samples.
        """
        times = self.n_units.astype(np.float64)
        given = self._given(times)
        place, factor = self.places(given), given.sum() - (not conditional)
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

    def places(self, given: Floats) -> Floats:
        """Return each category's place on the scale (`places`), around 0 where only differences count."""
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
        """Return the effect of a unit through the ranks of all values (U,)."""
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
    """Return alpha on a wide scale, from the units with two or more values."""
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
