"""Before the study: how many units to code more than once, for an interval of a given width."""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._bootstrap import check_resampling
from sense7_qual.agreement._intervals import estimate
from sense7_qual.agreement.coefficients import krippendorff_alpha
from sense7_qual.agreement.coefficients._weights import Level, check_level, difference
from sense7_qual.errors import ArgumentError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_MOST_PATTERNS: Final = 100_000
_MOST_UNITS: Final = 10**9
_MOST_SIMULATED: Final = 20_000
"""Units in a simulated study; beyond, the analytic width is exact for all purposes."""


@dataclass(frozen=True, slots=True)
class UnitsNeeded:
    """The number of units to code more than once, and what to expect of a study of that size.

    Parameters
    ----------
    n_units : int
        Units that every coder codes.
    low, high : float
        The interval to expect around the planned alpha, at most 1.
    width : float
        high − low: the planned width, or just below.
    standard_error : float
        Of alpha in a study of that size, above 0.
    n_applied : float
        Expected number of units to which at least one coder applies the code (for a scale: gives a value
        other than its most frequent one).
    design_effect, confidence_level : float
        As given.
    n_simulations, seed : int
        Simulated studies, and their seed.
    median_width, width_90 : float
        Median and 90 % quantile of the widths of the simulated intervals. NaN without any.
    coverage : float
        Share of the simulated intervals that covered the planned alpha, 0–1.
    undefined : float
        Share of the simulated studies without an interval, 0–1, because the code hardly occurred.
    """

    n_units: int
    low: float
    high: float
    width: float
    standard_error: float
    n_applied: float
    design_effect: float
    confidence_level: float
    n_simulations: int
    seed: int
    median_width: float
    width_90: float
    coverage: float
    undefined: float


def units_needed(
    *,
    alpha: float,
    prevalence: float | Sequence[float],
    n_coders: int,
    width: float,
    level: Level | None = None,
    confidence_level: float = 0.95,
    design_effect: float = 1.0,
    n_simulations: int = 200,
    seed: int = 0,
) -> UnitsNeeded:
    """Return the number of units that several coders must code for a given width of alpha's interval.

    Use it before coding starts, with an alpha and a prevalence from a pilot or an earlier study, and for the
    rarest code that will be reported. After the study, use the observed interval instead.

    Parameters
    ----------
    alpha : float
        The expected Krippendorff's alpha, above 0 and below 1.
    prevalence : float, or sequence of float
        Share of the decisions in which the code is applied, above 0 and below 1; or, for a scale of values
        1, 2, 3 …, the share of each (each above 0, adding up to 1).
    n_coders : int
        Coders who code every unit, 2 or more.
    width : float
        The wanted width of the interval, above 0.
    level : {"nominal", "ordinal", "interval", "ratio"}
        The distance between two values of a scale. A code, applied or not, needs no level.
    confidence_level : float
        Level of the interval, between 0 and 1.
    design_effect : float
        1 + (units per participant − 1) · their intraclass correlation, 1 or more. It multiplies the number of
        units, because units of a participant are not independent.
    n_simulations : int
        Studies to simulate, 1 or more, to check the planned size: n_units / design_effect independent units
        each, at most 20,000.
    seed : int
        The same seed simulates the same studies. The number of units does not depend on it.

    Returns
    -------
    UnitsNeeded
        The number of units, the interval to expect, and its performance in the simulated studies. If
        `width_90` is too wide, or `undefined` not near 0, plan more units: half of all studies of the planned
        size have an interval wider than planned.

    Raises
    ------
    ArgumentError
        A number is out of its range; a scale without a level; too many values and coders to list their
        patterns.

    Notes
    -----
    Coders are assumed to be interchangeable: a unit's values are drawn from shares that vary between units by
    a Dirichlet distribution with an intraclass correlation of alpha, so that alpha at any level is the
    planned one. For two coders and a code this is the only model of this kind. The interval is that of
    `estimate` (the delta method on log(1 − alpha)), with the standard error from alpha's influence
    function over all patterns of values.

    References
    ----------
    Donner & Eliasziw (1992), A goodness-of-fit approach to inference procedures for the kappa statistic,
    Statistics in Medicine 11, 1511–1519: the model for two coders. Krippendorff (2011), Computing
    Krippendorff's Alpha-Reliability.

    Examples
    --------
    For two coders and a code at half of the units the standard error of alpha is √((1 − α²) / n) (Donner &
    Eliasziw 1992, with their π = .5), here .08:

    >>> plan = units_needed(alpha=0.6, prevalence=0.5, n_coders=2, width=0.32, n_simulations=20, seed=7)
    >>> plan.n_units, round(plan.standard_error, 2), round(plan.low, 2), round(plan.high, 2)
    (104, 0.08, 0.41, 0.73)
    """
    check_arguments(units_needed, locals())
    check_least(units_needed, 1, n_simulations=n_simulations)
    check_resampling("units_needed", n_boot=n_simulations, confidence_level=confidence_level, seed=seed)
    shares = _shares(prevalence)
    chosen = _level(level, len(shares))
    _check_numbers(alpha=alpha, n_coders=n_coders, width=width, design_effect=design_effect)
    counts = _every_pattern(int(n_coders), len(shares))
    chance = _probability(counts, shares, float(alpha))
    spread = math.sqrt(design_effect) * _spread(counts, chance, shares, chosen)
    n_units = _smallest(spread, float(alpha), float(width), confidence_level)
    low, high = _ends(n_units, spread, float(alpha), confidence_level)
    size = max(2, min(round(n_units / design_effect), _MOST_SIMULATED))
    fared = _simulated(counts, chance, float(alpha), chosen, size, n_simulations, confidence_level, seed)
    common = int(np.argmax(shares)) if len(shares) > 2 else 0
    return UnitsNeeded(
        n_units=n_units,
        low=low,
        high=high,
        width=high - low,
        standard_error=spread / math.sqrt(n_units),
        n_applied=n_units * float(1 - chance[counts[:, common] == n_coders].sum()),
        design_effect=float(design_effect),
        confidence_level=float(confidence_level),
        n_simulations=int(n_simulations),
        seed=int(seed),
        median_width=fared[0],
        width_90=fared[1],
        coverage=fared[2],
        undefined=fared[3],
    )


def _shares(prevalence: float | Sequence[float]) -> Floats:
    """Return the share of each value; of a code: not applied, applied."""
    if isinstance(prevalence, numbers.Real):
        shares = np.array([1 - float(prevalence), float(prevalence)])
    else:
        listed = list(prevalence) if np.iterable(prevalence) else []
        known = all(isinstance(share, numbers.Real) for share in listed)
        shares = np.array(listed if known else [], dtype=np.float64)
    if shares.ndim != 1 or len(shares) < 2 or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-6:
        raise ArgumentError(
            f"units_needed: expected a prevalence between 0 and 1, or the share of each value, above 0 and "
            f"adding up to 1 – found {prevalence!r} – leave out values that do not occur."
        )
    return np.asarray(shares / shares.sum())


def _level(level: Level | None, n_values: int) -> Level:
    if level is None and n_values > 2:
        raise ArgumentError(
            f"units_needed: expected a level for a scale of {n_values} values – found none – choose nominal, "
            "ordinal, interval or ratio."
        )
    chosen = level or "nominal"
    check_level(chosen)
    # Two values have one distance: alpha is the same at every level.
    return chosen if n_values > 2 else "nominal"


def _check_numbers(*, alpha: float, n_coders: int, width: float, design_effect: float) -> None:
    for name, value, fits, allowed in (
        ("alpha", alpha, lambda x: 0 < x < 1, "above 0 and below 1"),
        ("width", width, lambda x: 0.001 <= x < 2, "from 0.001 to 2"),
        ("design_effect", design_effect, lambda x: 1 <= x < math.inf, "of 1 or more"),
    ):
        if not isinstance(value, numbers.Real) or not fits(float(value)):
            raise ArgumentError(f"units_needed: expected {name} {allowed} – found {value!r} – correct it.")
    if not isinstance(n_coders, int | np.integer) or isinstance(n_coders, bool) or n_coders < 2:
        raise ArgumentError(
            f"units_needed: expected n_coders to be a whole number from 2 – found {n_coders!r} – one coder "
            "agrees with nobody."
        )


def _every_pattern(n_coders: int, n_values: int) -> Integers:
    """Return every way in which the coders can spread over the values (P, V)."""
    n_patterns = math.comb(n_coders + n_values - 1, n_values - 1)
    if n_patterns > _MOST_PATTERNS:
        raise ArgumentError(
            f"units_needed: expected at most {_MOST_PATTERNS} patterns of values – found {n_patterns} for "
            f"{n_coders} coders and {n_values} values – group values, or plan with fewer coders."
        )
    bars = itertools.combinations(range(n_coders + n_values - 1), n_values - 1)
    edges = np.array([(-1, *at, n_coders + n_values - 1) for at in bars], dtype=np.int64)
    return np.diff(edges, axis=1) - 1


def _probability(counts: Integers, shares: Floats, alpha: float) -> Floats:
    """Return the probability of each pattern (P,): Dirichlet-multinomial, intraclass correlation alpha."""
    from scipy import special

    total = (1 - alpha) / alpha
    n_coders = counts[0].sum()
    ways = special.gammaln(n_coders + 1) - special.gammaln(counts + 1).sum(axis=1)
    given = (special.gammaln(counts + shares * total) - special.gammaln(shares * total)).sum(axis=1)
    chance = np.exp(ways + given + special.gammaln(total) - special.gammaln(total + n_coders))
    return np.asarray(chance / chance.sum())


def _spread(counts: Integers, chance: Floats, shares: Floats, level: Level) -> float:
    """Return the standard deviation of alpha's influence function over the patterns.

    The ordinal difference depends on the shares too; under this model what that adds to the observed and
    to the expected disagreement cancels.
    """
    apart = difference(np.arange(1.0, len(shares) + 1), level, shares)
    n_coders = counts[0].sum()
    observed = ((counts @ apart) * counts).sum(axis=1) / (n_coders * (n_coders - 1))
    towards = (counts / n_coders) @ apart @ shares
    mean_observed, expected = chance @ observed, shares @ apart @ shares
    ratio = mean_observed / expected
    influence = -(observed - mean_observed) / expected + 2 * ratio * (towards - expected) / expected
    return float(np.sqrt(chance @ np.square(influence)))


def _ends(n_units: int, spread: float, alpha: float, confidence_level: float) -> tuple[float, float]:
    from scipy import special

    t = float(special.stdtrit(n_units - 1, (1 + confidence_level) / 2))
    half = min(t * spread / ((1 - alpha) * math.sqrt(n_units)), 500.0)
    return 1 - (1 - alpha) * math.exp(half), 1 - (1 - alpha) * math.exp(-half)


def _smallest(spread: float, alpha: float, width: float, confidence_level: float) -> int:
    """Return the smallest number of units with an interval no wider than `width`."""

    def fits(n_units: int) -> bool:
        low, high = _ends(n_units, spread, alpha, confidence_level)
        return high - low <= width

    below, above = 1, 2
    while not fits(above):
        below, above = above, 2 * above
        if above > _MOST_UNITS:
            raise ArgumentError(
                f"units_needed: expected a width that a study can reach – found {width}, which takes over "
                f"{_MOST_UNITS} units – plan a wider interval."
            )
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if fits(middle) else (middle, above)
    return above


def _simulated(
    counts: Integers,
    chance: Floats,
    alpha: float,
    level: Level,
    n_units: int,
    n_simulations: int,
    confidence_level: float,
    seed: int,
) -> tuple[float, float, float, float]:
    """Return median and 90 % quantile of the widths, coverage, and the share of studies without interval."""
    rng = np.random.default_rng(seed)
    # One row per pattern: the values 1, 2, 3 … as often as it has them.
    values = np.repeat(np.tile(np.arange(1.0, counts.shape[1] + 1), len(counts)), counts.ravel())
    rows = values.reshape(len(counts), -1)
    ends = []
    for drawn in rng.multinomial(n_units, chance, size=n_simulations):
        study = np.repeat(rows, drawn, axis=0).T
        result = estimate(
            study, krippendorff_alpha, ci="analytic", confidence_level=confidence_level, level=level
        )
        ends.append((result.low, result.high))
    low, high = np.array(ends, dtype=np.float64).T
    known = ~np.isnan(low) & ~np.isnan(high)
    if not known.any():
        return math.nan, math.nan, math.nan, 1.0
    widths = (high - low)[known]
    covered = (low[known] <= alpha) & (alpha <= high[known])
    median, ninety = np.quantile(widths, [0.5, 0.9])
    return float(median), float(ninety), float(covered.mean()), float(1 - known.mean())
