"""Units drawn by weights, systematically from a random order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import read_mapping
from sense7_qual._messages import first_three
from sense7_qual.errors import TableError

__all__ = ["checked_weights", "drawn_first", "probabilities"]

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
    chance = probabilities(weight[order], count)
    ends = np.concatenate([[0.0], np.cumsum(chance)])
    ends[-1] = count  # but for rounding it is
    start = rng.random()
    hits = np.ceil(ends - start).clip(min=0)
    chosen = np.diff(hits) > 0
    together = rng.permutation(order[chosen])
    return [int(row) for row in (*together, *order[~chosen])]


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
