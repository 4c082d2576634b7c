"""The scale of an effect in a figure: where a number stands, its ticks, and what lies beyond the edge."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from sense7_qual import _present

__all__ = ["EffectScale", "Kind", "effect_scale"]

Kind = Literal["correlation", "odds_ratio", "difference", "share"]

_LIMITS: Final = (0.4, 0.6, 0.8, 1.0)
_SHARES: Final = (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
_STEPS: Final = (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
_FOLDS: Final = (2, 5, 10, 100, 1000, 10_000)


@dataclass(frozen=True, slots=True)
class EffectScale:
    """A scale around no effect, as far to the left as to the right; that of a share begins at 0.

    Attributes
    ----------
    kind : {"correlation", "odds_ratio", "difference", "share"}
        Odds ratios stand on their logarithms, around 1.
    limit : float
        The end of the scale: of a correlation or difference, or the logarithm of an odds ratio.
    ticks : tuple of (float, str)
        The place of each tick and what is printed there.
    """

    kind: Kind
    limit: float
    ticks: tuple[tuple[float, str], ...]

    @property
    def none(self) -> float:
        """The number that stands for no effect, or for no text."""
        return 1.0 if self.kind == "odds_ratio" else 0.0

    def place(self, value: float) -> float:
        """Return where a number stands, from 0 (the left end) to 1; beyond an end it stands there."""
        return min(max(self._share(value), 0.0), 1.0)

    def beyond(self, value: float) -> int:
        """Return −1 or 1 where a number lies left or right of the scale, else 0."""
        share = self._share(value)
        return -1 if share < -1e-9 else 1 if share > 1 + 1e-9 else 0

    def words(self, at: float | None, low: float | None, high: float | None) -> str:
        """Return an effect with its interval as it is printed."""
        if at is None:
            return "not computable"
        if self.kind in ("correlation", "share"):
            value, ends = _present.coefficient(at, 2), _present.interval(low, high, 2)
        else:
            value, ends = _present.number(at, 2), _present.number_interval(low, high, 2)
        return f"{value} {'no interval' if ends == _present.MISSING else ends}"

    def _share(self, value: float) -> float:
        if self.kind == "odds_ratio":
            value = math.log(value) if value > 0 else -math.inf
        return value / self.limit if self.kind == "share" else 0.5 + value / (2 * self.limit)


def effect_scale(kind: Kind, estimates: Iterable[float], ends: Iterable[float]) -> EffectScale:
    """Return a scale that holds all estimates, and of the ends of intervals those that are not far out.

    An interval that is many times wider than the effects would press all others to the middle: it is cut at
    the edge, where the figure says so.

    Examples
    --------
    >>> effect_scale("correlation", [0.31], [0.12, 0.55]).ticks
    ((0.083333, '−.5'), (0.5, '0'), (0.916667, '.5'))
    >>> scale = effect_scale("odds_ratio", [0.5, 3.2], [0.2, 70.0])
    >>> [name for _, name in scale.ticks], scale.beyond(0.2), scale.beyond(70.0)
    (['0.2', '1', '5'], 0, 1)
    >>> effect_scale("share", [0.12, 0.0], [0.31]).ticks
    ((0.0, '0'), (0.666667, '.2'))
    """
    if kind == "share":
        return _share_scale(estimates, ends)
    ratio = kind == "odds_ratio"
    sizes = [abs(math.log(value)) if ratio else abs(value) for value in estimates]
    wide = [abs(math.log(value)) if ratio else abs(value) for value in ends if value > 0 or not ratio]
    largest = max(sizes, default=0.0)
    least = {"correlation": 0.4, "odds_ratio": math.log(2.5), "difference": 0.5}[kind]
    needed = max(least, largest, min(max(wide, default=0.0), max(1.5 * largest, 2 * least)))
    if kind == "correlation":  # which cannot be far out
        needed = max(needed, *wide) if wide else needed
        limit = next((limit for limit in _LIMITS if limit >= needed - 1e-9), 1.0)
        tick = 0.2 if limit < 0.6 else 0.5
        return EffectScale(kind, limit, _ticks(limit, tick, f"−.{10 * tick:.0f}", "0", f".{10 * tick:.0f}"))
    limit = 1.05 * needed
    if kind == "difference":
        tick = max(step for step in _STEPS if step <= 0.85 * limit)
        return EffectScale(kind, limit, _ticks(limit, tick, f"−{tick:g}", "0", f"{tick:g}"))
    fold = max(fold for fold in _FOLDS if math.log(fold) <= 0.85 * limit)
    return EffectScale(kind, limit, _ticks(limit, math.log(fold), f"{1 / fold:g}", "1", f"{fold:g}"))


def _share_scale(estimates: Iterable[float], ends: Iterable[float]) -> EffectScale:
    """Return a scale from 0 that holds all shares; intervals that are far out are cut at its end."""
    largest = max(estimates, default=0.0)
    needed = max(largest, min(max(ends, default=0.0), max(2 * largest, _SHARES[0])))
    limit = next(limit for limit in (*_SHARES, math.inf) if limit >= min(needed, 1.0) - 1e-9)
    tick = max(step for step in (0.05, 0.1, 0.2, 0.5) if step <= 0.85 * limit)
    return EffectScale("share", limit, ((0.0, "0"), (round(tick / limit, 6), f"{tick:g}"[1:])))


def _ticks(limit: float, tick: float, low: str, none: str, high: str) -> tuple[tuple[float, str], ...]:
    """Return a tick on each side, so far from the edges that the numbers of two panels do not meet."""
    places = (0.5 - tick / (2 * limit), 0.5, 0.5 + tick / (2 * limit))
    return tuple(zip((round(place, 6) for place in places), (low, none, high), strict=True))
