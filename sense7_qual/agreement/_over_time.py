"""Agreement in each round, week, version of the codebook, or part of the coding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, get_args

import numpy as np
import pandas as pd

from sense7_qual import _decisions
from sense7_qual._arguments import check_arguments
from sense7_qual._bootstrap import check_resampling
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.agreement._by_code import by_code
from sense7_qual.agreement._counts import own_decisions
from sense7_qual.agreement._results import OVER_TIME, STABILITY
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import COVERAGE

__all__ = ["By", "first_finishes", "over_time", "stability"]

By = Literal["round", "codebook", "week", "order"]

_PAIR: Final = ["unit_id", "coder"]


@OVER_TIME.returns
def over_time(
    decisions: pd.DataFrame,
    coverage: pd.DataFrame,
    *,
    by: By,
    n_slices: int = 4,
    units: pd.DataFrame | None = None,
    cluster: str | None = None,
    n_boot: int = 2000,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Return each code's agreement in each round, week, codebook version or part of the coding, in order.

    Use it to see drift: coders who grow apart, or definitions that a new version made clearer. Do not read
    a trend out of overlapping intervals, and do not choose the slice that looks best for the report.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). Decisions of `consensus`, `majority` and `pooled` are left out.
    coverage : DataFrame
        Who finished which unit when: unit_id, coder, round, finished_at and, where a unit was finished again,
        first_finished_at (ISO 8601; needed for weeks and order), codebook.
    by : {"round", "codebook", "week", "order"}
        A decision belongs to the round, or to the codebook version, in which its coder finished the unit for
        the last time, so that coders meet on a unit only within one. What was looked at again after a
        revision is in the later version, and was chosen by its codes: do not read a trend out of that. For
        weeks (ISO, UTC) and order, a unit belongs where the last of its coders first finished it
        (`codings.finish_order`); the order of these times is cut into `n_slices` parts with as many units
        each.
    n_slices : int
        Parts for `by="order"`, 2 or more.
    units, cluster, n_boot, confidence_level, seed
        As for `by_code`.

    Raises
    ------
    TableError
        A frame is not what its contract says; a coder decided on a unit that they have not finished; for
        weeks and order, a finished unit without a time.
    ArgumentError
        `by`, `n_slices` or a setting of the resampling is out of its range.

    References
    ----------
    Krippendorff (2004), Content Analysis: An Introduction to Its Methods (2nd ed.), chapter 11, on the
    reliability of data over time.

    Examples
    --------
    >>> rows = [(f"m{i}", coder, "interest", i % 2 == 0 or (coder == "ben" and i > 4))
    ...         for i in range(8) for coder in ("ana", "ben")]
    >>> decisions = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])
    >>> coverage = decisions[["unit_id", "coder"]].assign(
    ...     round=["pilot"] * 8 + ["main"] * 8, finished_at=None, codebook=None)
    >>> slices = over_time(decisions, coverage, by="round", seed=7)
    >>> slices[["slice", "n_units", "percent"]].values.tolist()
    [['pilot', 4, 1.0], ['main', 4, 0.5]]
    """
    check_arguments(over_time, locals())
    check_resampling("over_time", n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    _check_slicing(by, n_slices)
    own = own_decisions(decisions, function="over_time")
    finished = _finishes(own, COVERAGE.check(coverage), timed=by in ("week", "order"))
    parts = [
        by_code(
            own[rows],
            units=units,
            cluster=cluster,
            n_boot=n_boot,
            confidence_level=confidence_level,
            seed=seed,
        ).assign(by=by, slice=name, place=place)
        for place, (name, rows) in enumerate(_slices(own, finished, by, n_slices), start=1)
    ]
    parts = parts or [by_code(own, seed=seed).assign(by=by, slice="", place=0)]
    by_slice = pd.concat(parts, ignore_index=True).astype({"by": "string", "slice": "string"})
    codes = {code: place for place, code in enumerate(own["code"].unique())}
    order = np.lexsort((by_slice["place"], by_slice["code"].map(codes)))
    lead = ["code", "by", "slice", "place"]
    return by_slice.iloc[order][lead + [name for name in by_slice if name not in lead]].reset_index(drop=True)


def _check_slicing(by: str, n_slices: int) -> None:
    if by not in get_args(By):
        raise ArgumentError(
            f"over_time: expected by out of {', '.join(get_args(By))} – found {by!r} – "
            f"{did_you_mean(str(by), get_args(By))}"
        )
    if not isinstance(n_slices, int | np.integer) or isinstance(n_slices, bool) or n_slices < 2:
        raise ArgumentError(
            f"over_time: expected n_slices to be a whole number from 2 – found {n_slices!r} – 4 is usual."
        )


def _finishes(own: pd.DataFrame, coverage: pd.DataFrame, *, timed: bool) -> pd.DataFrame:
    """Return when each decision's unit was first finished, and in which round and under which codebook last.

    One row per decision, in their order: at (NaT where there is no time), order, round, codebook, and when
    it was first finished in that round (began).
    """
    first = first_finishes(own, coverage, timed=timed)
    last = pd.to_datetime(coverage["finished_at"], utc=True, format="ISO8601")
    given = coverage.get("first_finished_at", coverage["finished_at"])
    began = pd.to_datetime(given, utc=True, format="ISO8601").fillna(last)
    latest = coverage.assign(last=last, began=began).sort_values("last", kind="stable", na_position="first")
    latest = latest.drop_duplicates(_PAIR, keep="last")
    return first.merge(latest[[*_PAIR, "round", "codebook", "began"]], how="left", on=_PAIR)


def first_finishes(
    own: pd.DataFrame, coverage: pd.DataFrame, *, timed: bool, plan: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return when the coder of each decision first finished its unit (at), and its place in their order.

    One row per decision, in their order: unit_id, coder, at, order. With `timed`, a missing time is refused.
    """
    order = _decisions.finish_order(coverage, plan=plan)
    order = order.assign(order=np.arange(len(order)))
    joined = own[_PAIR].merge(order, how="left", on=_PAIR)
    unfinished = joined[joined["order"].isna()].drop_duplicates(_PAIR)
    if len(unfinished):
        named = [f"{unit} / {coder}" for unit, coder in unfinished[_PAIR].itertuples(index=False)]
        raise TableError(
            f"coverage: expected a row for every unit and coder that decided on it – found none for "
            f"{first_three(named)} – pass the coverage that the decisions were made with."
        )
    without = joined[joined["at"].isna()].drop_duplicates(_PAIR)
    if timed and len(without):
        raise TableError(
            f"coverage: expected finished_at for every unit that was decided on – found none for "
            f"{len(without)} units × coders (first: unit {first_three(without['unit_id'].unique())}) – slice "
            "by round or codebook instead."
        )
    return joined


def _slices(
    own: pd.DataFrame, finished: pd.DataFrame, by: By, n_slices: int
) -> Iterator[tuple[str, pd.Series]]:
    """Yield the name of each slice, and which decisions are in it, in time."""
    if by in ("round", "codebook"):
        name = finished[by].fillna("none")
        first = finished["began"].groupby(name, sort=False).min()
        first = first.sort_values(kind="stable", na_position="last")
        for value in first.index:
            yield str(value), name == value
        return
    at = finished["at"].groupby(own["unit_id"]).transform("max")
    if by == "week":
        date = at.dt.isocalendar()
        week = date["year"].astype("string") + "-W" + date["week"].astype("string").str.zfill(2)
        for value in sorted(week.unique()):
            yield str(value), week == value
        return
    paired = own.groupby("unit_id")["coder"].transform("nunique") >= 2
    last = finished["order"].groupby(own["unit_id"]).max().sort_values()
    ordered = last.index[last.index.isin(own.loc[paired, "unit_id"])].to_numpy()
    start = 0
    for part in np.array_split(ordered, n_slices):
        if len(part):
            yield f"{start + 1}–{start + len(part)}", own["unit_id"].isin(part)
        start += len(part)


@STABILITY.returns
def stability(
    first: pd.DataFrame,
    second: pd.DataFrame,
    *,
    units: pd.DataFrame | None = None,
    cluster: str | None = None,
    n_boot: int = 2000,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Return how well each coder agrees with their own earlier decisions: intra-coder agreement.

    Use it where one coder codes alone, or to tell a coder's own wavering from a disagreement between
    coders. Do not report it as the reliability of the data: it is the weakest form, which also a coder who
    is consistently wrong attains.

    Parameters
    ----------
    first, second : DataFrame
        unit_id, coder, code, applied (bool): the earlier and the later decisions, such as those of two
        rounds. A unit counts for a coder who decided on it in both.
    units, cluster, n_boot, confidence_level, seed
        As for `by_code`.

    Raises
    ------
    TableError
        A frame is not what its contract says, or no coder stands in both.
    ArgumentError
        A setting of the resampling is out of its range.

    References
    ----------
    Krippendorff (2004), Content Analysis: An Introduction to Its Methods (2nd ed.), section 11.2: stability.

    Examples
    --------
    >>> rows = [(f"m{i}", "ana", "interest", i % 2 == 0) for i in range(10)]
    >>> first = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])
    >>> second = first.assign(applied=[not first["applied"][0], *first["applied"][1:]])
    >>> stability(first, second, seed=7)[["coder", "n_units", "percent"]].values.tolist()
    [['ana', 10, 0.9]]
    """
    check_arguments(stability, locals())
    check_resampling("stability", n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    earlier, later = (own_decisions(frame, function="stability") for frame in (first, second))
    coders = sorted(set(earlier["coder"]) & set(later["coder"]))
    if not coders:
        known = [*earlier["coder"].unique(), *later["coder"].unique()]
        raise TableError(
            f"decisions: expected a coder with decisions at both times – found "
            f"{first_three(known) or 'no decisions'}, each at one – pass the decisions of both rounds."
        )
    parts = []
    for coder in coders:
        times = [
            frame[frame["coder"] == coder].assign(coder=name)
            for name, frame in (("first", earlier), ("second", later))
        ]
        both = pd.concat(times, ignore_index=True)
        rows = by_code(
            both, units=units, cluster=cluster, n_boot=n_boot, confidence_level=confidence_level, seed=seed
        )
        parts.append(rows.assign(coder=pd.array([coder] * len(rows), dtype="string")))
    rows = pd.concat(parts, ignore_index=True)
    return rows[["coder", *(name for name in rows if name != "coder")]]
