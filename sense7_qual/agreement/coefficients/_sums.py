"""Every coefficient as a function of sums over units.

What a unit adds to the sums depends on its pattern alone. A point estimate is the function at the sums of the
table; a bootstrap is the function at the sums of resamples, all in one matrix product; the influence of a
unit is the function's gradient times what the unit adds. The gradient is taken with a complex step, which is
exact to the last digit, so every function here also takes complex sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sense7_qual.agreement.coefficients._patterns import Patterns, known_coders
from sense7_qual.agreement.coefficients._weights import Metric, Weights, difference, weighted
from sense7_qual.errors import ArgumentError, TableError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]  # real, or complex for the gradient
Function = Callable[[Numbers], Numbers]

_STEP: Final = 1e-30
_CELLS: Final = 4_000_000
_FEW: Final = 64
"""Up to so many values, interval alpha takes the table of their distances, in which no digit is lost."""
_LARGEST: Final = 256
"""Up to so many values, a matrix of differences is searched for the least that a coefficient can be."""


@dataclass(frozen=True, slots=True)
class Totals:
    """A coefficient as a function of sums over units.

    `rows` (P, K) is what a unit of each pattern adds to the K sums, `n_units` (P,) how many units have the
    pattern, and `value` the coefficient at sums (…, K), NaN where it does not exist. `size` is how many cells
    one evaluation takes. `smallest` gives the least that the coefficient can be on any units with these
    categories, −inf where it has no limit. `gwet` is the function that Gwet's published variance belongs to,
    where it is not `value`: it equals the coefficient (alpha without its correction for small samples) and
    has another slope.
    """

    rows: Floats
    n_units: Integers
    value: Function
    size: int
    smallest: Callable[[], float]
    gwet: Function | None = None

    @property
    def estimate(self) -> float:
        """The coefficient of the table."""
        return float(self.value(self.n_units @ self.rows))

    def influence(self, *, conditional: bool = False) -> Floats:
        """Return the influence of a unit of each pattern (P,); their mean over units is 0.

        `conditional` gives that of Gwet's variance: the number of units with two values is known.
        """
        value = self.gwet if conditional and self.gwet else self.value
        sums = self.n_units @ self.rows
        gradient = np.empty(len(sums))
        step = max(1, _CELLS // max(self.size, len(sums)))
        for start in range(0, len(sums), step):
            chosen = np.arange(start, min(start + step, len(sums)))
            moved = np.tile(sums.astype(np.complex128), (len(chosen), 1))
            moved[np.arange(len(chosen)), chosen] += 1j * _STEP
            gradient[chosen] = np.asarray(value(moved)).imag / _STEP
        n = self.n_units.sum()
        influence = n * (self.rows @ gradient)
        return np.asarray(influence - self.n_units @ influence / n)


def _lowest(distance: Floats) -> float:
    """Return −1 where the differences are squared distances of points, and −inf for others.

    Of points, values that are observed together are at most twice as far apart as they are by chance, because
    the disagreement within a unit falls short of that between all units (it is concave in the shares of the
    values). Other matrices have no such limit: of k pairs of values that differ, all others being equal, it
    is 1 − k. Whether there are such points: Schoenberg (1935), Annals of Mathematics 36, 724–732.
    """
    if not 0 < len(distance) <= _LARGEST:
        return -np.inf
    inner = -distance + distance.mean(axis=0) + distance.mean(axis=1)[:, None] - distance.mean()
    return -1.0 if np.linalg.eigvalsh(inner)[0] > -1e-9 * np.abs(inner).max(initial=1e-300) else -np.inf


def alpha_totals(patterns: Patterns, *, level: Metric) -> Totals:
    """Krippendorff's alpha, of the units with two or more values."""
    patterns = patterns.pairable()
    values, counts = patterns.categories, patterns.counts.astype(np.float64)
    pairs = (patterns.n_values - 1).astype(np.float64)
    if isinstance(level, str) and level == "ordinal":
        return _ordinal(patterns, counts, pairs)
    if isinstance(level, str) and level == "interval" and len(values) > _FEW:
        return _interval(patterns, counts, pairs)
    named = isinstance(level, str)
    distance = difference(values, level, patterns.marginals)
    disagreement = ((counts @ distance) * counts).sum(axis=1) / pairs

    def value(sums: Numbers, factor: Function = _one_less) -> Numbers:
        given = sums[..., 1:]
        expected = ((given @ distance) * given).sum(axis=-1)
        return _alpha(sums[..., 0], expected, factor(given.sum(axis=-1)))

    return _alpha_totals(
        np.column_stack([disagreement, counts]),
        patterns,
        value,
        len(values) + 1,
        smallest=lambda: -1.0 if named else _lowest(distance),
    )


def _alpha_totals(
    rows: Floats,
    patterns: Patterns,
    value: Callable[..., Numbers],
    size: int,
    *,
    smallest: Callable[[], float] = lambda: -1.0,
) -> Totals:
    return Totals(
        rows, patterns.n_units, value, size=size, smallest=smallest, gwet=lambda sums: value(sums, _of_gwet)
    )


def _interval(patterns: Patterns, counts: Floats, pairs: Floats) -> Totals:
    """All pairs' squared distances follow from the number of values, their sum and their squares."""
    place = patterns.categories.astype(np.float64)
    place = place - np.average(place, weights=patterns.marginals)  # large numbers would cost digits
    n, s, q = counts.sum(axis=1), counts @ place, counts @ np.square(place)

    def value(sums: Numbers, factor: Function = _one_less) -> Numbers:
        d, n, s, q = np.moveaxis(sums, -1, 0)
        expected = 2 * (n * q - s * s)
        varies = np.real(expected) > 1e-12 * np.real(n * q)  # less is what rounding leaves of one value
        return _alpha(d, np.where(varies, expected, 0), factor(n))

    return _alpha_totals(np.column_stack([2 * (n * q - s * s) / pairs, n, s, q]), patterns, value, 4)


def _ordinal(patterns: Patterns, counts: Floats, pairs: Floats) -> Totals:
    """The distances depend on how often each value is given: the sums are the matrix of coincidences."""
    n_values = counts.shape[1]
    first, second = np.triu_indices(n_values)
    products = counts[:, first] * counts[:, second] - np.where(first == second, counts[:, first], 0.0)

    def value(sums: Numbers, factor: Function = _one_less) -> Numbers:
        matrix = np.zeros((*sums.shape[:-1], n_values, n_values), dtype=sums.dtype)
        matrix[..., first, second] = sums
        matrix[..., second, first] = sums
        given = matrix.sum(axis=-1)
        place = np.cumsum(given, axis=-1) - given / 2
        distance = (place[..., :, None] - place[..., None, :]) ** 2
        expected = given[..., :, None] * given[..., None, :] * distance
        observed, n = (matrix * distance).sum(axis=(-1, -2)), given.sum(axis=-1)
        return _alpha(observed, expected.sum(axis=(-1, -2)), factor(n))

    return _alpha_totals(products / pairs[:, None], patterns, value, max(1, 4 * n_values**2))


def percent_totals(
    patterns: Patterns, *, weights: Weights | None = None, categories: Sequence[Any] | None = None
) -> Totals:
    """Share of agreeing pairs, averaged over the units with two or more values."""
    return _agreement(
        patterns,
        weights,
        categories,
        lambda _, given: np.zeros(given.shape[:-1], dtype=given.dtype),
        lambda _: 0.0,
    )


def fleiss_totals(
    patterns: Patterns, *, weights: Weights | None = None, categories: Sequence[Any] | None = None
) -> Totals:
    """Fleiss' kappa: chance from the shares of the values, the same for every coder."""
    # Units with one value count for chance alone: then agreement can be as far below it as one likes.
    limited = bool((patterns.n_values >= 2).all())
    return _agreement(
        patterns,
        weights,
        categories,
        lambda matrix, share: ((share @ matrix) * share).sum(axis=-1),
        lambda matrix: _lowest(1 - matrix) if limited else -np.inf,
    )


def brennan_prediger_totals(
    patterns: Patterns, *, weights: Weights | None = None, categories: Sequence[Any] | None = None
) -> Totals:
    """Brennan and Prediger's coefficient: chance from the number of categories."""

    def chance(matrix: Floats, share: Numbers) -> Numbers:
        return np.full(share.shape[:-1], matrix.mean() if matrix.size else np.nan, dtype=share.dtype)

    return _agreement(patterns, weights, categories, chance, _lowest_by_categories)


def gwet_totals(
    patterns: Patterns, *, weights: Weights | None = None, categories: Sequence[Any] | None = None
) -> Totals:
    """Gwet's AC1 and, with weights, AC2: chance from how undecided the values' shares are."""

    def chance(matrix: Floats, share: Numbers) -> Numbers:
        q = len(matrix)
        scale = matrix.sum() / (q * (q - 1)) if q > 1 else np.nan
        return np.asarray(scale * (share * (1 - share)).sum(axis=-1))

    return _agreement(patterns, weights, categories, chance, _lowest_by_categories)


def _agreement(
    patterns: Patterns,
    weights: Weights | None,
    categories: Sequence[Any] | None,
    chance: Callable[[Floats, Numbers], Numbers],
    smallest: Callable[[Floats], float],
) -> Totals:
    """Gwet's family: agreement of units with two or more values, chance from units with one or more."""
    patterns, matrix = weighted(patterns, categories, weights)
    agreement, paired = _paired_agreement(patterns, matrix)
    shares = patterns.counts / patterns.n_values[:, None]

    def expected(sums: Numbers) -> Numbers:
        return chance(matrix, _ratio(sums[..., 3:], sums[..., 2, None]))

    rows = np.column_stack([agreement, paired, np.ones(len(paired)), shares])
    return _kappa(rows, patterns, expected, lambda: smallest(matrix))


def _lowest_by_categories(matrix: Floats) -> float:
    """Return the lowest value of coefficients with a chance agreement of at most the mean weight."""
    by_chance = matrix.mean()
    return float((matrix.min() - by_chance) / (1 - by_chance))


def _kappa(rows: Floats, patterns: Patterns, expected: Function, smallest: Callable[[], float]) -> Totals:
    """Agreement (the sums 0 of 1 units) beyond that expected by chance."""

    def value(sums: Numbers) -> Numbers:
        by_chance = expected(sums)
        return _ratio(_ratio(sums[..., 0], sums[..., 1]) - by_chance, 1 - by_chance)

    def gwet(sums: Numbers) -> Numbers:
        by_chance = expected(sums)
        return _ratio((sums[..., 0] - sums[..., 1] * by_chance) / np.real(sums[..., 1]), 1 - by_chance)

    return Totals(rows, patterns.n_units, value, size=rows.shape[1], smallest=smallest, gwet=gwet)


def _paired_agreement(patterns: Patterns, matrix: Floats) -> tuple[Floats, Floats]:
    """Return the share of agreeing pairs in each pattern, 0 where it has no pair, and whether it has one."""
    counts, n = patterns.counts.astype(np.float64), patterns.n_values.astype(np.float64)
    agreeing = ((counts @ matrix) * counts).sum(axis=1) - n
    share = np.divide(agreeing, n * (n - 1), out=np.zeros(len(n)), where=n >= 2)
    return share, (n >= 2).astype(np.float64)


def conger_totals(
    patterns: Patterns, *, weights: Weights | None = None, categories: Sequence[Any] | None = None
) -> Totals:
    """Conger's kappa: chance from each coder's own shares, over all pairs of coders."""
    patterns, matrix = weighted(patterns, categories, weights)
    agreement, paired = _paired_agreement(patterns, matrix)
    coders = known_coders(patterns)
    coders = coders[:, (coders >= 0).any(axis=0)]
    size = len(patterns.categories)
    chosen = (coders[:, :, None] == np.arange(size)).astype(np.float64)

    def expected(sums: Numbers) -> Numbers:
        given = sums[..., 2:].reshape(*sums.shape[:-1], coders.shape[1], size)
        share = _ratio(given, given.sum(axis=-1)[..., None])
        total, own = share.sum(axis=-2), ((share @ matrix) * share).sum(axis=(-1, -2))
        n = coders.shape[1]
        return _ratio(((total @ matrix) * total).sum(axis=-1) - own, np.full(own.shape, n * (n - 1.0)))

    # Coders of other units count for chance too: then agreement can be as far below it as one likes.
    limited = bool((coders >= 0).all())
    return _kappa(
        np.column_stack([agreement, paired, chosen.reshape(len(coders), coders.shape[1] * size)]),
        patterns,
        expected,
        lambda: _lowest(1 - matrix) if limited else -np.inf,
    )


def cohen_totals(
    patterns: Patterns, *, weights: Weights | None = None, categories: Sequence[Any] | None = None
) -> Totals:
    """Cohen's kappa of two coders, over the units that both gave a value to."""
    patterns, matrix = weighted(patterns, categories, weights)
    patterns = _both(patterns)
    return _two_coders(patterns, matrix, lambda table: _cohen(table, matrix))


def scott_totals(
    patterns: Patterns, *, weights: Weights | None = None, categories: Sequence[Any] | None = None
) -> Totals:
    """Scott's pi of two coders, over the units that both gave a value to."""
    patterns, matrix = weighted(patterns, categories, weights)
    patterns = _both(patterns)
    return _two_coders(
        patterns, matrix, lambda table: _cohen((table + np.swapaxes(table, -1, -2)) / 2, matrix)
    )


def light_totals(
    patterns: Patterns, *, weights: Weights | None = None, categories: Sequence[Any] | None = None
) -> Totals:
    """Light's kappa: the mean of Cohen's kappas over the pairs of coders who have units in common."""
    patterns, matrix = weighted(patterns, categories, weights)
    coders, size = known_coders(patterns), len(patterns.categories)
    first, second = np.triu_indices(coders.shape[1], 1)
    common = ((coders[:, first] >= 0) & (coders[:, second] >= 0)).any(axis=0)
    tables = [
        _table_rows(coders[:, [a, b]], size) for a, b in zip(first[common], second[common], strict=True)
    ]

    if not tables:
        return Totals(np.zeros((len(coders), 1)), patterns.n_units, _nowhere, size=1, smallest=lambda: -1.0)

    def value(sums: Numbers) -> Numbers:
        table = sums.reshape(*sums.shape[:-1], len(tables), size, size)
        shared = np.real(table.sum(axis=(-1, -2))) > 0  # not so in resamples, and where units are left out
        each = np.where(shared, _cohen(table, matrix), 0.0)
        return _ratio(each.sum(axis=-1), shared.sum(axis=-1).astype(each.dtype))

    rows = np.hstack(tables)
    return Totals(rows, patterns.n_units, value, size=rows.shape[1], smallest=lambda: _lowest(1 - matrix))


def specific_totals(patterns: Patterns, *, category: object) -> Totals:
    """Specific agreement: of the pairs in which a coder gave the category, the share in which both did."""
    counts, n = patterns.counts.astype(np.float64), patterns.n_values.astype(np.float64)
    if not np.isscalar(category):
        raise ArgumentError(
            f"category: expected one number or string – found {type(category).__name__} – name one category."
        )
    given = counts[:, np.asarray(patterns.categories == category, dtype=np.bool_)].sum(axis=1)
    rows = np.column_stack([given * (given - 1), given * (n - 1)])
    return Totals(
        rows,
        patterns.n_units,
        lambda sums: _ratio(sums[..., 0], sums[..., 1]),
        size=2,
        smallest=lambda: 0.0,
    )


# ---- parts --------------------------------------------------------------------------------------------


def _ratio(above: Numbers, below: Numbers) -> Numbers:
    """Divide, giving NaN where `below` is 0, or so near to it that only rounding keeps it from 0."""
    defined = np.abs(np.real(below)) > 1e-14
    out = np.full(np.broadcast(above, below).shape, np.nan, dtype=np.result_type(above, below, np.float64))
    return np.asarray(np.divide(above, below, out=out, where=defined))


def _one_less(n_values: Numbers) -> Numbers:
    return n_values - 1


def _of_gwet(n_values: Numbers) -> Numbers:
    """Return the number of values, with a slope of 1 + 1/n instead of 1.

    Gwet's published standard errors of alpha are not corrected for small samples but in one term, observed
    agreement, and that is what the slope amounts to.
    """
    return np.asarray(n_values + np.log(n_values / np.real(n_values)))


def _alpha(disagreement: Numbers, expected: Numbers, factor: Numbers) -> Numbers:
    out = np.full(np.shape(expected), np.nan, dtype=np.result_type(expected, np.float64))
    return np.asarray(1 - np.divide(factor * disagreement, expected, out=out, where=np.real(expected) > 0))


def _nowhere(sums: Numbers) -> Numbers:
    return np.full(sums.shape[:-1], np.nan, dtype=sums.dtype)


def _cohen(table: Numbers, matrix: Floats) -> Numbers:
    """Return kappa (…) of tables of two coders (…, V, V)."""
    n = table.sum(axis=(-1, -2))
    observed = _ratio((table * matrix).sum(axis=(-1, -2)), n)
    expected = _ratio(((table.sum(axis=-1) @ matrix) * table.sum(axis=-2)).sum(axis=-1), n * n)
    return _ratio(observed - expected, 1 - expected)


def _two_coders(patterns: Patterns, matrix: Floats, kappa: Function) -> Totals:
    size = len(patterns.categories)
    rows = _table_rows(known_coders(patterns), size)

    def value(sums: Numbers) -> Numbers:
        return kappa(sums.reshape(*sums.shape[:-1], size, size))

    return Totals(
        rows, patterns.n_units, value, size=max(1, rows.shape[1]), smallest=lambda: _lowest(1 - matrix)
    )


def _table_rows(coders: Integers, size: int) -> Floats:
    """Return the cell of two coders' table (P, V · V) that a unit of each pattern is in, if any."""
    rows = np.zeros((len(coders), size * size))
    both = np.flatnonzero((coders >= 0).all(axis=1))
    rows[both, coders[both, 0] * size + coders[both, 1]] = 1.0
    return rows


def _both(patterns: Patterns) -> Patterns:
    """Return the patterns of the units that both of two coders gave a value to."""
    coders = known_coders(patterns)
    if coders.shape[1] != 2:
        raise TableError(
            f"values: expected two coders – found {coders.shape[1]} – choose two, or take a coefficient for "
            "more: conger_kappa, fleiss_kappa, light_kappa, krippendorff_alpha."
        )
    of_both = (coders >= 0).all(axis=1)
    return replace(
        patterns, counts=patterns.counts[of_both], n_units=patterns.n_units[of_both], coders=coders[of_both]
    )
