"""The plan of who codes what: a seeded deal of units to coders, with a share that several of them code."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from sense7_qual._messages import first_three
from sense7_qual.acts import check_coder
from sense7_qual.errors import TableError
from sense7_qual.tables import UNITS, require_column

__all__ = ["assign"]

_Stratum = tuple[tuple[bool, str], ...]


def assign(
    units: pd.DataFrame,
    *,
    coders: Sequence[str],
    overlap: float,
    seed: int = 0,
    stratify: str | Sequence[str] | None = None,
    coders_per_unit: int | None = None,
) -> dict[str, pd.DataFrame]:
    """Deal the units to coders, a share of them to several so that their agreement can be computed.

    Parameters
    ----------
    units
        One row per unit (see `sense7_qual.tables.UNITS`).
    coders
        The coders' pseudonyms.
    overlap
        The share of the units, 0 to 1, that several coders code, rounded half up to whole units; at least
        one unit where it is above 0.
    seed
        Of the draw; the same seed gives the same plan, in whatever order the rows of `units` stand.
    stratify
        A column, or several: the overlap is drawn from each of their combinations in proportion to its size
        (largest remainders), and the rest of it dealt out evenly. Missing is a stratum of its own.
    coders_per_unit
        How many coders code a unit of the overlap, from 2; None is all of them. Coders are paired as evenly
        as their loads allow.

    Returns
    -------
    dict of str to pandas.DataFrame
        For each coder, in the order of `coders`, the rows of `units` to code, in a random order of the
        coder's own in which nothing tells the overlap from the rest. Every unit is dealt. The loads of any
        two coders differ by one unit at most; so do, within a stratum, the units that they code alone.

    Raises
    ------
    TableError
        There is no coder, one stands twice, `overlap`, `seed` or `coders_per_unit` is out of range, or
        `units` has no such column.
    ActError
        A name cannot be a coder's pseudonym (see `acts.check_coder`).

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abcdefgh"), "text": "…", "document_id": None, "case_id": None,
    ...                       "position": None})
    >>> plan = assign(units, coders=["ana", "ben"], overlap=0.25, seed=7)
    >>> {coder: len(part) for coder, part in plan.items()}
    {'ana': 5, 'ben': 5}
    """
    units = UNITS.check(units, as_written=True).sort_values("unit_id", ignore_index=True)
    names, several = _checked(coders, overlap, seed, coders_per_unit)
    strata = _strata(units, [stratify] if isinstance(stratify, str) else list(stratify or ()))
    rng = np.random.default_rng(seed)
    shared = _shared_counts([len(rows) for rows in strata], overlap, rng)
    drawn = [[int(row) for row in rng.permutation(rows)] for rows in strata]
    deal = _Deal(len(names), rng)
    # All of the overlap first, so that the coders' shares of it are as equal as their loads.
    for rows, count in zip(drawn, shared, strict=True):
        deal.out(rows[:count], several)
    for rows, count in zip(drawn, shared, strict=True):
        deal.out(rows[count:], 1)
    return {
        name: units.iloc[rng.permutation(np.array(rows, dtype=np.intp))].reset_index(drop=True)
        for name, rows in zip(names, deal.rows, strict=True)
    }


class _Deal:
    """The units dealt so far, and how often each two coders share one."""

    __slots__ = ("pairs", "rng", "rows")

    def __init__(self, n_coders: int, rng: np.random.Generator) -> None:
        self.rows: list[list[int]] = [[] for _ in range(n_coders)]
        self.pairs = [[0] * n_coders for _ in range(n_coders)]
        self.rng = rng

    def out(self, rows: Sequence[int], several: int) -> None:
        """Deal each row to `several` coders, evenly over the rows as well as over all that was dealt."""
        here = [0] * len(self.rows)
        for row in rows:
            chosen: list[int] = []
            for _ in range(several):
                chosen.append(self._next(chosen, here))
            for coder in chosen:
                self.rows[coder].append(row)
                here[coder] += 1
                for other in chosen:
                    self.pairs[coder][other] += coder != other

    def _next(self, chosen: Sequence[int], here: Sequence[int]) -> int:
        # The least loaded coder always comes next: that alone keeps any two loads within one unit. Among
        # equals, the one with fewer of this stratum, then with fewer units shared with those chosen.
        free = [coder for coder in range(len(self.rows)) if coder not in chosen]
        rank = {
            coder: (len(self.rows[coder]), here[coder], sum(self.pairs[coder][other] for other in chosen))
            for coder in free
        }
        least = min(rank.values())
        equals = [coder for coder in free if rank[coder] == least]
        return equals[int(self.rng.integers(len(equals)))]


def _checked(
    coders: Sequence[str], overlap: float, seed: int, coders_per_unit: int | None
) -> tuple[list[str], int]:
    names = _coder_names(coders)
    if isinstance(overlap, str) or not 0 <= overlap <= 1:
        raise TableError(
            f"expected an overlap from 0 to 1 – found {overlap!r} – give the share, such as 0.25."
        )
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise TableError(
            f"expected a whole number from 0 as seed – found {seed!r} – choose one and report it."
        )
    several = len(names) if coders_per_unit is None else coders_per_unit
    least = min(2, len(names))
    if (
        isinstance(several, bool)
        or not isinstance(several, int | np.integer)
        or not least <= several <= len(names)
    ):
        raise TableError(
            f"expected coders_per_unit from {least} to {len(names)} – found {several!r} – choose how many "
            "coders code each unit of the overlap."
        )
    return names, int(several)


def _coder_names(coders: Sequence[str]) -> list[str]:
    names = [] if isinstance(coders, str) else list(coders)
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise TableError(f'expected a list of coders – found {coders!r} – name them: coders=["ana", "ben"].')
    folded = [name.strip().casefold() for name in names]
    times = Counter(folded)
    twice = [name for name, fold in zip(names, folded, strict=True) if times[fold] > 1]
    if twice:
        raise TableError(
            f"expected each coder once, also without regard to case – found {first_three(twice)} – name each "
            "once."
        )
    for name in names:
        check_coder(name)
    return names


def _strata(units: pd.DataFrame, columns: Sequence[str]) -> list[list[int]]:
    """Return the rows of each stratum, in an order that depends on the strata alone."""
    for column in columns:
        require_column(units, column, frame_name="units")
    rows: dict[_Stratum, list[int]] = {}
    for row, values in enumerate(zip(*(units[column] for column in columns), strict=True)):
        key = tuple((bool(pd.isna(value)), "" if pd.isna(value) else str(value)) for value in values)
        rows.setdefault(key, []).append(row)
    return [rows[key] for key in sorted(rows)] if columns else [list(range(len(units)))]


def _shared_counts(sizes: Sequence[int], overlap: float, rng: np.random.Generator) -> list[int]:
    """Return how many units of each stratum are shared, by largest remainders, ties drawn."""
    total = sum(sizes)
    if not total or not overlap:
        return [0] * len(sizes)
    wanted = max(1, math.floor(overlap * total + 0.5))
    counts = [size * wanted // total for size in sizes]
    remainders = [size * wanted % total for size in sizes]
    tie_breaks = rng.permutation(len(sizes))
    largest = sorted(range(len(sizes)), key=lambda i: (-remainders[i], tie_breaks[i]))
    for i in largest[: wanted - sum(counts)]:
        counts[i] += 1
    return counts
