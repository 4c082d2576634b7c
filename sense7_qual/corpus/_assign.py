"""The plan of who codes what, and the probability with which each unit is coded by several coders."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual._coder_names import spelling
from sense7_qual._contract import Column, Contract, number
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.acts import check_person
from sense7_qual.errors import TableError
from sense7_qual.frames import UNITS, require_column

_Stratum = tuple[tuple[bool, str], ...]


def assign(
    units: pd.DataFrame,
    *,
    coders: Sequence[str],
    overlap: float,
    seed: int = 0,
    stratify: str | Sequence[str] | None = None,
    coders_per_unit: int | None = None,
    calibration: int | Sequence[str] = 0,
    fixed: Mapping[str, Sequence[str]] | None = None,
    weights: Mapping[str, float] | None = None,
) -> dict[str, pd.DataFrame]:
    """Assign the units to coders, a share of them to several so that agreement can be computed.

    `Store.assign` does this for a study and keeps the plan in it.

    Parameters
    ----------
    units
        One row per unit (see `sense7_qual.frames.UNITS`).
    coders
        The coders' pseudonyms.
    overlap
        The share of the units, 0 to 1, that several coders code, rounded half up to whole units; at least
        one unit if it is above 0.
    seed
        Seed of the draw; the same seed gives the same plan, whatever the order of the rows of `units`.
    stratify
        A column, or several: the overlap is drawn from each of their combinations in proportion to its size
        (largest remainders), and the rest is assigned evenly. Missing is a stratum of its own.
    coders_per_unit
        The number of coders for a unit of the overlap, from 2; None is all of them. Coders are paired as
        evenly as their loads allow.
    calibration
        The number of units (drawn like the overlap) or the ids of the units that everybody codes first, in
        the same order, so that agreement can be computed early. They are part of the overlap.
    fixed
        Units that stay with a coder, by coder, because they are begun or finished. They count as coded by
        that coder, who need not be among `coders` any more, towards the overlap and the loads.
    weights
        A number above 0 for each unit_id: in each stratum the overlap is drawn in proportion to it, to
        include more informative texts, such as those to which a first coder or a model gives a rare code.
        Agreement on these units is not that of all: reweight it by their probabilities (`inclusion`). None
        draws every unit with equal probability.

    Returns
    -------
    dict of str to pandas.DataFrame
        For each coder, in the order of `coders`, the rows of `units` to code: those of the calibration, those
        that are `fixed`, then the others in the coder's own random order, in which nothing distinguishes the
        overlap from the rest. Every unit is assigned. If nothing is fixed, the loads of any two coders differ
        by at most one unit; so do, within a stratum, the units that they code alone. Otherwise coders with
        fewer units get more, as far as the units that are not fixed allow.

    Raises
    ------
    TableError
        No coder is named or one is named twice, `overlap`, `seed`, `coders_per_unit` or `calibration` is out
        of range, or `units` lacks a column or unit. With `weights`: a unit has none, or a unit that everybody
        codes first, or that several have begun, is not among those drawn.
    ActError
        A name cannot be a person's pseudonym (see `acts.check_person`).

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abcdefgh"), "text": "…", "document_id": None, "case_id": None,
    ...                       "position": None})
    >>> plan = assign(units, coders=["ana", "ben"], overlap=0.25, seed=7)
    >>> {coder: len(part) for coder, part in plan.items()}
    {'ana': 5, 'ben': 5}
    """
    check_arguments(assign, locals())
    names, several = _checked(coders, seed, coders_per_unit)
    rng = np.random.default_rng(seed)
    # The draw comes before the coders, so that the same seed shares the same units when there are more.
    units, strata, shared = strata_and_shares(units, overlap, rng, stratify)
    stay = {
        coder: _rows_of(units, ids, "fixed") for coder, ids in _checked_fixed(read_mapping(fixed)).items()
    }
    if weights is None:
        drawn = [[int(row) for row in rng.permutation(rows)] for rows in strata]
    else:
        weight = checked_weights(units, weights)
        drawn = [drawn_first(rows, n, weight, rng) for rows, n in zip(strata, shared, strict=True)]
    first = _calibration_rows(units, drawn, calibration, rng)
    deal = _Deal(names, stay, rng)
    if weights is not None:
        _refuse_undrawn(units, drawn, shared, first, deal.times)
    deal.out(first, len(names), anew=True)
    alone = []
    # All of the overlap first, so that the coders' shares of it are as equal as their loads.
    for rows, count in zip(drawn, shared, strict=True):
        together, rest = _divided(rows, count, set(first), deal.times)
        deal.out(together, several)
        alone.append(rest)
    for rows in alone:
        deal.out(rows, 1)
    return {name: units.iloc[deal.order(name, first)].reset_index(drop=True) for name in names}


def strata_and_shares(
    units: pd.DataFrame,
    overlap: float,
    seed: int | np.random.Generator,
    stratify: str | Sequence[str] | None,
) -> tuple[pd.DataFrame, list[list[int]], list[int]]:
    """Return the sorted units, the rows of each stratum, and the number of each that is shared."""
    units = UNITS.check(units, as_written=True).sort_values("unit_id", ignore_index=True)
    if isinstance(overlap, str) or not 0 <= overlap <= 1:
        raise TableError(f"expected an overlap from 0 to 1, found {overlap!r} – give a share, such as 0.25.")
    by = [stratify] if isinstance(stratify, str) else stratify
    strata = _strata(units, [] if by is None else list(by))
    shared = _shared_counts([len(rows) for rows in strata], overlap, np.random.default_rng(seed))
    return units, strata, shared


def _refuse_undrawn(
    units: pd.DataFrame,
    drawn: Sequence[Sequence[int]],
    shared: Sequence[int],
    first: Sequence[int],
    times: Mapping[int, int],
) -> None:
    """Refuse units that several code although they were not drawn: their probability is not known."""
    chosen = {row for rows, count in zip(drawn, shared, strict=True) for row in rows[:count]}
    others = [row for row in (*first, *(row for row, n in times.items() if n > 1)) if row not in chosen]
    if others:
        raise TableError(
            "assign: with weights, expected the units that everybody codes first, or several have begun, to "
            f"be among those drawn – found {first_three(units['unit_id'].iloc[others].tolist())} – keep the "
            "weights, the overlap and the seed of the first plan, or calibrate on fewer."
        )


class _Deal:
    """The units assigned so far, and the number that each two coders share."""

    __slots__ = ("names", "pairs", "rng", "rows", "stay", "times")

    def __init__(
        self, names: Sequence[str], stay: Mapping[str, Sequence[int]], rng: np.random.Generator
    ) -> None:
        self.names, self.stay, self.rng = list(names), stay, rng
        self.rows: list[dict[int, None]] = [dict.fromkeys(stay.get(name, ())) for name in names]
        self.pairs = [[0] * len(names) for _ in names]
        self.times = Counter(
            row for rows in stay.values() for row in rows
        )  # also by who is no coder any more

    def out(self, rows: Sequence[int], several: int, *, anew: bool = False) -> None:
        """Assign each row until `several` coders have it, evenly over these rows as well as over all.

        Those with whom it stays count, or with `anew` those of them who are coders.
        """
        here = [0] * len(self.rows)
        for row in rows:
            chosen = [coder for coder, own in enumerate(self.rows) if row in own] if self.times[row] else []
            others = 0 if anew else self.times[row] - len(chosen)
            for _ in range(several - others - len(chosen)):
                coder = self._next(chosen, here)
                chosen.append(coder)
                self.rows[coder][row] = None
                here[coder] += 1
            for coder in chosen:
                for other in chosen:
                    self.pairs[coder][other] += coder != other

    def order(self, name: str, first: Sequence[int]) -> list[int]:
        """Return the coder's rows in the order in which they are coded."""
        before = dict.fromkeys([*first, *self.stay.get(name, ())])
        rest = [row for row in self.rows[self.names.index(name)] if row not in before]
        return [*before, *(int(row) for row in self.rng.permutation(np.array(rest, dtype=np.intp)))]

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


def _checked_fixed(fixed: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    lists = list(fixed.values())
    if any(isinstance(one, str) or not isinstance(one, Iterable) for one in lists):
        raise TableError(
            f"assign: expected fixed to be a mapping of coders to lists of unit_ids – found "
            f"{type(fixed).__name__} – pass {{'ana': ['m1', …], …}}."
        )
    return fixed


def _rows_of(units: pd.DataFrame, unit_ids: Sequence[str], what: str) -> list[int]:
    """Return the rows of the units of these ids, each once, in their order."""
    ids = list(dict.fromkeys(unit_ids))
    rows = pd.Index(units["unit_id"]).get_indexer(pd.Index(ids, dtype="object"))
    unknown = [one for one, row in zip(ids, rows, strict=True) if row < 0]
    if unknown:
        raise TableError(
            f"{what}: expected units of `units` – found {first_three(unknown)} – "
            f"{did_you_mean(str(unknown[0]), units['unit_id'])}"
        )
    return [int(row) for row in rows]


def _calibration_rows(
    units: pd.DataFrame,
    drawn: Sequence[Sequence[int]],
    calibration: int | Sequence[str],
    rng: np.random.Generator,
) -> list[int]:
    """Return the rows that everybody codes first, in their order, out of those `drawn` of each stratum."""
    if isinstance(calibration, int | np.integer) and not isinstance(calibration, bool):
        if not 0 <= calibration <= len(units):
            raise TableError(
                f"expected calibration from 0 to {len(units)}, the number of units – found {calibration} – "
                "choose how many units everybody codes first."
            )
        if not calibration:
            return []
        counts = _largest_remainders([len(rows) for rows in drawn], int(calibration), rng)
        chosen = [row for rows, count in zip(drawn, counts, strict=True) for row in rows[:count]]
        return [int(row) for row in rng.permutation(chosen)]
    if isinstance(calibration, str | float | bool) or not isinstance(calibration, Sequence):
        raise TableError(
            f"expected calibration as a whole number of units, or as their ids – found {calibration!r} – "
            "choose how many units everybody codes first."
        )
    return _rows_of(units, calibration, "calibration")


def _divided(
    rows: Sequence[int], count: int, first: Collection[int], times: Mapping[int, int]
) -> tuple[list[int], list[int]]:
    """Divide the rows of a stratum into those for several coders, besides `first`, and those for one.

    Those that several have begun already are among them, then those drawn first.
    """
    ordered = sorted((row for row in rows if row not in first), key=lambda row: times.get(row, 0) < 2)
    n_first = len(rows) - len(ordered)
    n_begun = sum(times.get(row, 0) > 1 for row in ordered)
    n_together = max(count - n_first, n_begun)
    return ordered[:n_together], ordered[n_together:]


def _checked(coders: Sequence[str], seed: int, coders_per_unit: int | None) -> tuple[list[str], int]:
    names = _coder_names(coders)
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
    names = list(coders) if isinstance(coders, Iterable) and not isinstance(coders, str) else []
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise TableError(f'expected a list of coders – found {coders!r} – name them: coders=["ana", "ben"].')
    folded = [spelling(name.strip()) for name in names]
    times = Counter(folded)
    twice = [name for name, fold in zip(names, folded, strict=True) if times[fold] > 1]
    if twice:
        raise TableError(
            "expected each coder once, also without regard to case or script – found "
            f"{first_three(twice)} – name each once."
        )
    return [check_person(name) for name in names]


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
    """Compute the number of shared units per stratum, by largest remainders, ties drawn."""
    total = sum(sizes)
    if not total or not overlap:
        return [0] * len(sizes)
    return _largest_remainders(sizes, max(1, math.floor(overlap * total + 0.5)), rng)


def _largest_remainders(sizes: Sequence[int], n_units: int, rng: np.random.Generator) -> list[int]:
    """Return `n_units` units divided over the strata in proportion to their sizes."""
    total = sum(sizes)
    counts = [size * n_units // total for size in sizes]
    remainders = [size * n_units % total for size in sizes]
    tie_breaks = rng.permutation(len(sizes))
    largest = sorted(range(len(sizes)), key=lambda i: (-remainders[i], tie_breaks[i]))
    for i in largest[: n_units - sum(counts)]:
        counts[i] += 1
    return counts


Floats = npt.NDArray[np.float64]


def probabilities(weight: Floats, count: int) -> Floats:
    """Return the probability of each unit, of which `count` are drawn in proportion to their weights.

    Examples
    --------
    >>> probabilities(np.array([6.0, 1.0, 1.0]), 2).tolist()
    [1.0, 0.5, 0.5]
    """
    if count >= len(weight):
        return np.ones(len(weight))
    sure = np.zeros(len(weight), dtype=bool)
    while True:
        left = count - int(sure.sum())
        chance = np.where(sure, 1.0, left * weight / weight[~sure].sum())
        more = ~sure & (chance >= 1 - 1e-12)
        if not more.any():
            return chance
        sure |= more


def drawn_first(rows: Sequence[int], count: int, weight: Floats, rng: np.random.Generator) -> list[int]:
    """Return `rows` in a random order in which the `count` drawn by their weights come first."""
    order = rng.permutation(np.asarray(rows, dtype=np.intp))
    chosen = systematic(probabilities(weight[order], count), count, rng)
    together = rng.permutation(order[chosen])
    return [int(row) for row in (*together, *order[~chosen])]


def systematic(chance: Floats, count: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Draw `count` units with these probabilities, of which it is the sum, evenly along their order."""
    ends = np.concatenate([[0.0], np.cumsum(chance)])
    ends[-1] = count  # but for rounding it is
    hits = np.ceil(ends - rng.random()).clip(min=0)
    return np.asarray(np.diff(hits) > 0)


def checked_weights(units: pd.DataFrame, weights: Mapping[str, float]) -> Floats:
    """Return the weight of each unit, in the order of `units`."""
    known = read_mapping(weights)
    missing = [unit_id for unit_id in units["unit_id"] if unit_id not in known]
    if missing:
        raise TableError(
            f"weights: expected a weight for every unit – found none for {first_three(missing)} – give every "
            "unit one; a small one keeps a unit in the draw."
        )
    ids = [str(unit_id) for unit_id in units["unit_id"]]
    wrong = [one for one in ids if not _is_positive(known[one])]
    if wrong:
        raise TableError(
            f"weights: expected numbers above 0 – found others for {first_three(wrong)} – a unit with 0 "
            "could never be drawn, and agreement could not speak of it."
        )
    return np.array([float(known[one]) for one in ids])


def _is_positive(value: object) -> bool:
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        return False
    return math.isfinite(value) and bool(value > 0)


INCLUSION: Final = Contract(
    "inclusion",
    ("unit_id",),
    {
        "unit_id": Column("string", missing=False),
        "probability": number("above 0, at most 1; their sum is the number of units in the overlap", 0, 1),
    },
    row="One row per unit that could be drawn",
)


@INCLUSION.returns
def inclusion(
    units: pd.DataFrame,
    *,
    overlap: float,
    weights: Mapping[str, float],
    seed: int = 0,
    stratify: str | Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return each unit's probability of being drawn into the weighted overlap of `assign`.

    Use it to estimate agreement on all units: ``agreement.by_code(…, inclusion=…)``. Call it with the same
    arguments as `assign`. The study does not keep them: weights made from a first coder's codings would tell
    the second coder what the first one coded.

    Parameters
    ----------
    units, overlap, weights, seed, stratify
        As for `assign`.

    Raises
    ------
    TableError
        As for `assign`; or `overlap` is 0, so that nothing is drawn.

    Notes
    -----
    In each stratum a unit's probability is n w / Σ w for n units of the overlap; units above 1 are drawn with
    certainty, and the others share the rest in the same way. Units are drawn systematically from a random
    order, which keeps these probabilities and the number of units exactly (Madow 1949).

    References
    ----------
    Madow (1949), On the theory of systematic sampling II, Annals of Mathematical Statistics 20, 333–354.
    Hartley & Rao (1962), Sampling with unequal probabilities and without replacement, Annals of Mathematical
    Statistics 33, 350–374.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abcd"), "text": "…", "document_id": None, "case_id": None,
    ...                       "position": None})
    >>> drawn = inclusion(units, overlap=0.5, weights={"a": 4, "b": 1, "c": 1, "d": 1})
    >>> drawn["probability"].round(3).tolist()
    [1.0, 0.333, 0.333, 0.333]
    """
    check_arguments(inclusion, locals())
    units, strata, shared = strata_and_shares(units, overlap, seed, stratify)
    if not sum(shared):
        raise TableError(
            f"inclusion: expected an overlap above 0, and units – found {overlap} of {len(units)} units – "
            "without an overlap no unit is drawn."
        )
    weight = checked_weights(units, weights)
    chance = np.zeros(len(units))
    for rows, count in zip(strata, shared, strict=True):
        chance[rows] = probabilities(weight[rows], count)
    drawn = INCLUSION.frame({"unit_id": units["unit_id"], "probability": chance})
    return drawn[drawn["probability"] > 0].reset_index(drop=True)
