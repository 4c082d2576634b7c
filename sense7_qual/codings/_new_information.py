"""How much new each further participant brought, as Guest, Namey and Chen report it, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._reasons import Reason
from sense7_qual.codings._results import NEW_INFORMATION
from sense7_qual.codings._saturation import by_participant, development
from sense7_qual.errors import ArgumentError

__all__ = ["new_information"]

Floats = npt.NDArray[np.float64]


@NEW_INFORMATION.returns
def new_information(
    codings: pd.DataFrame,
    units: pd.DataFrame,
    *,
    cluster: str,
    coverage: pd.DataFrame,
    codes: Sequence[str] | None = None,
    order: Sequence[str] | None = None,
    base_size: int = 4,
    run_length: int = 2,
    threshold: float = 0.05,
    n_orders: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Return how many new codes each run of participants brought, relative to those of the first ones.

    Use it where a journal asks for saturation as Guest, Namey and Chen (2020) report it: "at most 5 % new
    information was reached at participant 6⁺²". The order in which participants happened to be coded decides
    much of it: report the band over other orders (`ratio_low`, `ratio_high`) and in how many of them it was
    reached by then (`share_reached`). That nothing new came in a run comes true early by chance; what further
    participants would still bring is answered by `saturation`.

    Parameters
    ----------
    codings, units, cluster, coverage, codes, order
        As for `development`. Pass as `codes` those that emerged from the texts (`codebook.emerged`).
    base_size : int
        How many participants the first codes are counted in, 1 or more; 4, 5 or 6 are usual.
    run_length : int
        How many participants one after the other make a run, 1 or more; 2 or 3 are usual.
    threshold : float
        At most this share of new codes counts as saturation, 0 to 1; .05 and 0 are usual.
    n_orders : int
        How many random orders of the participants the band is of.
    seed : int
        Of these orders.

    Raises
    ------
    TableError
        As of `development`.
    ArgumentError
        A setting is out of its range.

    Notes
    -----
    Runs overlap: the first is of the participants behind the base, the next begins one later. What is new in
    a run is the sum of what is new in each of its participants. Saturation at place 6 with runs of two is
    written 6⁺²: six participants, and two more to see that it had been reached.

    References
    ----------
    Guest, Namey & Chen (2020), A simple method to assess and report thematic saturation in qualitative
    research, PLoS ONE 15(5), e0232076.

    Examples
    --------
    The first four participants have three codes; of the next two, one brings a fourth:

    >>> having = {"p1": "hope doubt", "p2": "hope", "p3": "trust", "p4": "doubt", "p5": "fear", "p6": "hope",
    ...           "p7": "trust"}
    >>> units = pd.DataFrame({"unit_id": list(having), "case_id": list(having)})
    >>> coverage = pd.DataFrame({"unit_id": list(having), "coder": "ana", "round": None,
    ...                          "finished_at": [f"2026-02-0{i}" for i in range(1, 8)], "codebook": None})
    >>> codings = pd.DataFrame([(unit, code) for unit, codes in having.items() for code in codes.split()],
    ...                        columns=["unit_id", "code"])
    >>> codings = codings.assign(coder="ana", start=None, end=None, round=None, confidence=None, act_id=None,
    ...                          at=None, codebook=None)
    >>> result = new_information(codings, units, cluster="case_id", coverage=coverage, n_orders=50)
    >>> result[["place", "n_base", "n_new", "ratio", "reached"]].round(2).values.tolist()
    [[4, 3, 1, 0.33, False], [5, 3, 0, 0.0, True]]
    """
    check_arguments(new_information, locals())
    check_least(new_information, 1, base_size=base_size, run_length=run_length, n_orders=n_orders)
    check_least(new_information, 0, seed=seed)
    if not 0 <= threshold <= 1:
        raise ArgumentError(
            f"new_information: expected threshold from 0 to 1 – found {threshold!r} – 0.05 is usual."
        )
    coded = development(codings, units, cluster=cluster, coverage=coverage, codes=codes, order=order)
    first, n = coded["n_new"].to_numpy(dtype=np.float64), len(coded)
    if n < base_size + run_length:
        return NEW_INFORMATION.empty()
    applied, _ = by_participant(codings, units, cluster, coverage, function="development")
    counted = applied if codes is None else applied[applied["code"].isin(list(codes))]
    having = _having(counted, coded["cluster"].tolist())
    rng = np.random.default_rng(seed)
    shuffled = np.stack([_found_at(having[rng.permutation(n)]) for _ in range(n_orders)])
    own, n_new = _ratios(first[None], base_size, run_length)
    others, _ = _ratios(shuffled, base_size, run_length)
    settings = {"run_length": run_length, "threshold": threshold, "n_orders": n_orders, "seed": seed}
    rows = {
        "place": np.arange(base_size, n - run_length + 1), "n_base": int(first[:base_size].sum()),
        "n_new": n_new[0], "ratio": own[0], **_band(others), "reached": _reached(own, threshold)[0],
        "share_reached": _reached(others, threshold).mean(axis=0), **settings,
        "reason": Reason.CODE_NEVER_APPLIED if np.isnan(own[0, 0]) else None,
    }  # fmt: skip
    return NEW_INFORMATION.frame(pd.DataFrame(rows))


def _having(applied: pd.DataFrame, names: list[str]) -> npt.NDArray[np.bool_]:
    """Return which participant has which code: (participants, codes), in the order of `names`."""
    table = pd.crosstab(applied["cluster"].astype("string"), applied["code"].astype("string"))
    found: npt.NDArray[np.bool_] = table.reindex(names, fill_value=0).to_numpy() > 0
    return found


def _found_at(having: npt.NDArray[np.bool_]) -> Floats:
    """Return how many codes each participant brought first, in this order."""
    places = having[:, having.any(axis=0)].argmax(axis=0)
    return np.bincount(places, minlength=len(having)).astype(np.float64)


def _ratios(new: Floats, base_size: int, run_length: int) -> tuple[Floats, Any]:
    """Return the ratio of each run in each order, and how many codes were new in it."""
    base = new[:, :base_size].sum(axis=1, keepdims=True)
    runs = np.lib.stride_tricks.sliding_window_view(new[:, base_size:], run_length, axis=1).sum(axis=2)
    return np.where(base > 0, runs / np.where(base > 0, base, 1), np.nan), runs.astype(np.int64)


def _reached(ratios: Floats, threshold: float) -> npt.NDArray[np.bool_]:
    return np.logical_or.accumulate(ratios <= threshold, axis=1)  # a missing ratio reaches nothing


def _band(ratios: Floats) -> dict[str, Floats]:
    known = ratios[~np.isnan(ratios[:, 0])]
    if not len(known):
        return {name: np.full(ratios.shape[1], np.nan) for name in ("ratio_low", "ratio_high")}
    low, high = np.quantile(known, (0.025, 0.975), axis=0)
    return {"ratio_low": low, "ratio_high": high}
