"""Tests that are read together: p adjusted over a family, and equivalence to no link within a margin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._bootstrap import holm
from sense7_qual.errors import ArgumentError
from sense7_qual.links._odds import OF_HYPOTHESIS, Hypothesis, Moves
from sense7_qual.links._pooled import Pooled, correlation_of
from sense7_qual.links._resample import with_adjusted

Floats = npt.NDArray[np.float64]
Adjustment = Literal["bh", "max-t"]
Margin = tuple[str, float]

_EFFECTS: Final = ("rank_biserial", "odds_ratio")
_DRAWS: Final = 10_000  # of each step: the error of an adjusted p is then about half a percent of it


def check_margin(equivalence: Margin | None, *, odds_ratios: bool) -> None:
    """Refuse a margin that is none of the effect that it names."""
    if equivalence is None:
        return
    effect, margin = equivalence
    known = _EFFECTS if odds_ratios else _EFFECTS[:1]
    if effect not in known or not (0 < margin < 1 if effect == "rank_biserial" else 1 < margin < np.inf):
        raise ArgumentError(
            "code_to_rating: expected equivalence as ('rank_biserial', a margin between 0 and 1) or, with "
            f"odds_ratios, ('odds_ratio', a ratio above 1) – found {equivalence!r} – name the largest effect "
            "that would not matter."
        )


def of_margin(equivalence: Margin, hypothesis: Hypothesis) -> str:
    """Return the effect that a margin is of: of an odds ratio, that of the hypothesis."""
    return OF_HYPOTHESIS[hypothesis] if equivalence[0] == "odds_ratio" else equivalence[0]


def equivalence_p(found: Pooled | None, equivalence: Margin) -> float:
    """Return the larger p of two one-sided t tests that the effect is at the margin or beyond it."""
    from scipy import special

    if found is None or not np.isfinite(found.standard_error) or found.standard_error == 0:
        return float("nan")
    effect, margin = equivalence
    bound = np.log(margin) if effect == "odds_ratio" else np.arctanh(margin)
    return float(special.stdtr(found.df, (abs(found.estimate) - bound) / found.standard_error))


def adjusted(table: pd.DataFrame, moves: Sequence[dict[str, Moves]], adjust: Adjustment) -> pd.DataFrame:
    """Fill in the adjusted p of each effect, the name of their family, and how they were adjusted.

    `moves` are those of the rows, by effect. By "max-t" Holm adjusts the p of equivalence.
    """
    if adjust == "max-t":
        named = table.assign(adjustment="max-t", family="codes × sources")
        return _in_family(named, moves, by_max_t=True)
    named = table.assign(adjustment="Benjamini–Hochberg", family="codes of " + table["source"])
    of_source = [_in_family(rows, [], by_max_t=False) for _, rows in named.groupby("source", sort=False)]
    return pd.concat([named.head(0), *of_source])


_TESTED: Final = {
    "p": "rank_biserial",
    "odds_ratio_p": "odds_ratio",
    "between_odds_ratio_p": "between_odds_ratio",
    "equivalence_p": "equivalence",
}


def _in_family(rows: pd.DataFrame, moves: Sequence[dict[str, Moves]], *, by_max_t: bool) -> pd.DataFrame:
    for name, effect in _TESTED.items():
        tested = rows[name].notna().to_numpy()
        rows = with_adjusted(rows, name)
        if by_max_t and tested.any():
            own = [one.get(effect) for one, there in zip(moves, tested, strict=True) if there]
            p = rows.loc[tested, name].to_numpy(dtype=np.float64)
            by = holm(p) if name == "equivalence_p" else max_t(p, correlation_of(own))
            rows.loc[tested, f"{name}_adjusted"] = by
    return rows


def max_t(p: Floats, correlation: Floats, *, draws: int = _DRAWS) -> Floats:
    """Return p (n,) of tests adjusted by the step-down method of the largest statistic.

    `correlation` (n, n) is that of the statistics, taken to be normal together; each p is of its own
    distribution, so that tests with few degrees of freedom count no more than others. The chance that any of
    the tests still in the family has a p as small is the sum of their p, each times the mean of 1 / (number
    of them that do), given that this one does (Naiman & Priebe 2001). So the result is between p and Holm's,
    and what is drawn decides only where.

    References
    ----------
    Westfall & Young (1993), Resampling-based multiple testing, Wiley, algorithm 2.8. Naiman & Priebe (2001),
    Computing scan statistic p values using importance sampling, Journal of Computational and Graphical
    Statistics 10, 296–328.

    Examples
    --------
    One test has nothing to be adjusted for, two that are the same have one p, and two that are unrelated that
    of Šidák, 1 − (1 − .02)²:

    >>> p = np.array([0.02, 0.02])
    >>> max_t(p, np.ones((2, 2))).round(4).tolist(), max_t(p, np.eye(2)).round(4).tolist()
    ([0.02, 0.02], [0.0396, 0.0396])
    """
    from scipy import special

    rng = np.random.default_rng(0)
    order, p = np.argsort(p, kind="stable"), np.maximum(p, np.finfo(np.float64).tiny)
    of, n = correlation[np.ix_(order, order)], len(p)
    root = np.linalg.cholesky(of + 1e-9 * np.eye(n))  # of tests that are the same it would have none
    normal, each = rng.standard_normal((draws, n)) @ root.T, np.arange(draws)
    stepped = np.empty(n)
    for at, smallest in enumerate(p[order]):
        one = at + each % (n - at)
        tail = special.ndtri(smallest / 2 * (1 - rng.random(draws)))
        moved = normal[:, at:] + (tail - normal[each, one])[:, None] * of[one, at:]
        as_small = np.abs(moved) >= -special.ndtri(smallest / 2) - 1e-9
        stepped[at] = (n - at) * smallest * (1 / as_small.sum(axis=1)).mean()
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted
