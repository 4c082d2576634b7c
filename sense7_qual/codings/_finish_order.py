"""In which order units were coded: by when their coders first finished them."""

from __future__ import annotations

import hashlib
import math

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import first_three
from sense7_qual.errors import TableError
from sense7_qual.tables import COVERAGE, PLAN

__all__ = ["finish_order"]

_PAIR = ["unit_id", "coder"]


def finish_order(coverage: pd.DataFrame, *, plan: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the units of all coders in the order in which they first finished them.

    Use it for whatever follows the course of coding. A unit that was finished again, because the codebook was
    revised or in a later round, keeps its place: which units are looked at again depends on what was coded
    on them, so the times of their last finish would sort units by their codes.

    Parameters
    ----------
    coverage : DataFrame
        As `Store.coverage` returns it. Without a column first_finished_at, or where it is missing,
        finished_at is taken for it.
    plan : DataFrame, optional
        As `Store.plan` returns it: the order of units that a coder finished at once, such as those of one
        coding sheet. Those that are not in it come after the others, in an order drawn from their ids.

    Returns
    -------
    DataFrame
        One row per unit × coder: unit_id, coder, at (UTC; missing, and last, where there is no time).

    Raises
    ------
    TableError
        A frame is not what its contract says, or a time is not ISO 8601.

    Examples
    --------
    Of three texts the first was looked at again at the end:

    >>> coverage = pd.DataFrame({
    ...     "unit_id": ["m1", "m2", "m3"], "coder": "ana", "round": None, "codebook": None,
    ...     "first_finished_at": ["2026-02-03T09:00:00Z", "2026-02-03T09:01:00Z", "2026-02-03T09:02:00Z"],
    ...     "finished_at": ["2026-03-01T09:00:00Z", "2026-02-03T09:01:00Z", "2026-02-03T09:02:00Z"]})
    >>> finish_order(coverage)["unit_id"].tolist()
    ['m1', 'm2', 'm3']
    """
    check_arguments(finish_order, locals())
    finished = COVERAGE.check(coverage, as_written=True)
    at = _read(finished["finished_at"])
    if "first_finished_at" in finished:
        at = _read(finished["first_finished_at"]).fillna(at)
    first = finished[_PAIR].assign(at=at).groupby(_PAIR, sort=True)["at"].min().reset_index()
    planned = PLAN.empty() if plan is None else PLAN.check(plan, as_written=True)
    place = planned.groupby(_PAIR)["place"].min().reset_index()
    placed = first.merge(place, how="left", on=_PAIR)
    placed["place"] = placed["place"].to_numpy(dtype=float, na_value=math.inf)
    # Not by id: units of one participant often have ids in a row, and would look like a change over time.
    placed["drawn"] = [hashlib.blake2b(unit.encode()).hexdigest() for unit in placed["unit_id"]]
    ordered = placed.sort_values(["at", "place", "drawn", "coder"], na_position="last")
    return ordered[[*_PAIR, "at"]].reset_index(drop=True)


def _read(times: pd.Series) -> pd.Series:
    at = pd.to_datetime(times, utc=True, format="ISO8601", errors="coerce")
    unread = times.index[at.isna() & times.notna()]
    if len(unread):
        raise TableError(
            f"coverage: expected times as ISO 8601 – found other values in {len(unread)} rows (first: row "
            f"{first_three(unread)}) – write 2026-02-03T14:05:00Z."
        )
    return at
