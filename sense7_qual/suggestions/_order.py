"""In which order to code, with what probability each unit came early, and which get no suggestion."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import SUGGESTIONS, UNITS
from sense7_qual.suggestions._results import ORDER

__all__ = ["order", "withheld"]

Floats = npt.NDArray[np.float64]


def withheld(unit_ids: Sequence[str] | pd.Series, *, share: float = 0.1, seed: int = 0) -> pd.Series:
    """Return for each unit whether it never gets a suggestion, so that the effect of suggestions can be seen.

    A keyed hash of the id decides: the same seed and id always give the same answer, whatever other units
    there are and in which order.

    Parameters
    ----------
    unit_ids
        Ids of units (or of participants, to part a study by them).
    share
        About this share of ids is withheld, 0 … 1.
    seed
        0 or more.

    Returns
    -------
    pandas.Series
        True or False by id, each id once.

    Raises
    ------
    ArgumentError
        `share` is not from 0 to 1.

    Examples
    --------
    >>> ids = [f"m{i}" for i in range(10_000)]
    >>> int(withheld(ids, seed=7).sum())
    944
    """
    check_arguments(withheld, locals())
    check_least(withheld, 0, seed=seed)
    if not 0 <= share <= 1:
        raise ArgumentError(f"withheld: expected a share from 0 to 1 – found {share} – 0.1 is usual.")
    ids = pd.Index(pd.unique(pd.Series(list(unit_ids), dtype="string").str.strip()), name="unit_id")
    key = hashlib.sha256(f"suggestions withheld {seed}".encode()).digest()
    drawn = [
        int.from_bytes(hashlib.blake2b(str(i).encode(), key=key, digest_size=8).digest(), "big") for i in ids
    ]
    return pd.Series([number < share * 2.0**64 for number in drawn], index=ids, name="withheld", dtype=bool)


@ORDER.returns
def order(
    units: pd.DataFrame,
    *,
    n: int | None = None,
    by: Literal["random", "uncertainty"] = "random",
    suggestions: pd.DataFrame | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return in which order to code units: at random, or the next `n` drawn where suggestions are unsure.

    Prefer random: the coded units are then a fair sample of all at any time. By uncertainty every unit has a
    known chance to be among the next `n`, so shares can be weighted back by 1 / `inclusion`.

    Parameters
    ----------
    units
        The units that are not coded yet.
    n
        How many are coded next, from 1 to all. None: all, of which none is drawn before others.
    by
        "random": each with the same chance. "uncertainty": in proportion to .1 + the mean over codes of
        4 p (1 − p), with p the suggested probability; a unit without probabilities gets the mean of the
        others.
    suggestions
        With "uncertainty", the suggestions for these units.
    seed
        0 or more. The order of the rows changes nothing.

    Raises
    ------
    TableError
        Not a `units` frame, or not a frame of suggestions.
    ArgumentError
        `n` is out of range, or "uncertainty" without `n` or without probabilities.

    Notes
    -----
    Drawn systematically from a random order, which keeps the probabilities and `n` exactly. A unit whose
    share of the weights is above 1 / n is drawn surely, and the others share the rest in the same way.

    References
    ----------
    Madow (1949), On the theory of systematic sampling II, Annals of Mathematical Statistics 20, 333–354.
    Hartley & Rao (1962), Sampling with unequal probabilities and without replacement, Annals of Mathematical
    Statistics 33, 350–374.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abcd"), "text": "…", "document_id": "d", "case_id": "p",
    ...                       "position": range(4)})
    >>> sure = pd.DataFrame({"unit_id": list("abcd"), "code": "interest", "suggested": False, "start": None,
    ...                      "end": None, "probability": [0.5, 0.0, 0.0, 1.0]})
    >>> first = order(units, n=1, by="uncertainty", suggestions=sure, seed=7)
    >>> first.sort_values("unit_id")["inclusion"].round(3).tolist()
    [0.786, 0.071, 0.071, 0.071]
    """
    check_arguments(order, locals())
    check_least(order, 0, seed=seed)
    ids = UNITS.check(units)["unit_id"].sort_values().tolist()
    if n is not None and not 1 <= n <= len(ids):
        raise ArgumentError(
            f"order: expected n from 1 to the number of units, {len(ids)} – found {n} – choose how many are "
            "coded next."
        )
    if by == "uncertainty" and (n is None or suggestions is None):
        raise ArgumentError(
            "order: expected n and suggestions where units are drawn by uncertainty – found one of them "
            "missing – say how many are coded next, and pass what the suggester gave."
        )
    weight = np.ones(len(ids)) if suggestions is None or by == "random" else _weights(ids, suggestions)
    chance = _probabilities(weight, len(ids) if n is None else n)
    rng = np.random.default_rng(seed)
    placed = rng.permutation(len(ids))
    drawn = _systematic(chance[placed], rng)
    rows = np.concatenate([rng.permutation(placed[drawn]), placed[~drawn]]).astype(np.intp)
    return pd.DataFrame(
        {
            "unit_id": pd.array([ids[row] for row in rows], dtype="string"),
            "place": np.arange(len(ids)),
            "drawn": np.arange(len(ids)) < int(drawn.sum()),
            "inclusion": chance[rows],
        }
    )


def _weights(ids: list[str], suggestions: pd.DataFrame) -> Floats:
    frame = SUGGESTIONS.check(suggestions)
    chance = frame["probability"].astype(float)
    unsure = (4 * chance * (1 - chance)).groupby(frame["unit_id"]).mean().reindex(ids)
    if unsure.isna().all():
        raise TableError(
            "order: expected suggestions with probabilities for these units – found none – definitions, and "
            "models no better than chance, give none; code at random until there is a better model."
        )
    return np.asarray(0.1 + unsure.fillna(unsure.mean()), dtype=np.float64)


def _probabilities(weight: Floats, count: int) -> Floats:
    """Return each unit's chance to be among the `count` drawn in proportion to their weights."""
    if count >= len(weight):
        return np.ones(len(weight))
    sure = np.zeros(len(weight), dtype=bool)
    while True:
        chance = np.where(sure, 1.0, (count - int(sure.sum())) * weight / float(weight[~sure].sum()))
        more = ~sure & (chance >= 1 - 1e-12)
        if not more.any():
            return np.asarray(chance, dtype=np.float64)
        sure |= more


def _systematic(chance: Floats, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    ends = np.concatenate([[0.0], np.cumsum(chance)])
    ends[-1] = round(ends[-1])  # but for rounding it is a whole number
    return np.diff(np.ceil(ends - rng.random()).clip(min=0)) > 0
