"""Agreement over time: by round, week, codebook version or part of the coding, and drift of one coder."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._bootstrap import check_resampling
from sense7_qual._decisions import finish_order
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.agreement._by_code import by_code
from sense7_qual.agreement._counts import own_decisions
from sense7_qual.agreement._difference import change
from sense7_qual.agreement._results import DRIFT, OVER_TIME, STABILITY
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import COVERAGE, PLAN, clusters_by_unit, people

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_EARLY: Final = ((20, 0.05), (40, 0.1), (60, 0.25))
"""After how many later texts is compared first, and which shares of the error that gets."""
_EVERY: Final = 30
_LATER: Final = ((60, 0.25), (120, 0.25), (None, 0.1))
"""What all further comparisons get: those of the last 60, of the last 120, and of all later texts."""
By = Literal["round", "codebook", "week", "order"]
_PAIR: Final = ["unit_id", "coder"]


class Comparison(NamedTuple):
    """The later texts `start` to `end` (half-open, from 0), compared with the first third at this level."""

    start: int
    end: int
    level: float


@rests_on("decisions")
@DRIFT.returns
def drift(
    decisions: pd.DataFrame,
    coverage: pd.DataFrame,
    *,
    plan: pd.DataFrame | None = None,
    false_alarms: float = 0.05,
) -> pd.DataFrame:
    """Test for each coder whether a code is applied more or less often than in their first texts.

    Use it while coding goes on, after every text if you like: of studies without drift at most 5 % have an
    alarm, over all looks, coders and codes together. An alarm is a reason to talk and to read, not a verdict:
    the share of a code also changes with the texts. So texts must come in random order, as `corpus.assign`
    assigns them; without drift, the later texts of a coder are then like the first ones, however strongly
    codes depend on participants. If a coder codes conversation by conversation, or study by study, other
    texts cause false alarms.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). Decisions of `consensus`, `majority` and `pooled` are left out.
    coverage : DataFrame
        Finished units of the same rounds as the decisions: unit_id, coder, round, finished_at and, where a
        unit was finished again, first_finished_at (ISO 8601), codebook. A coder's texts are ordered by when
        they were first finished (`codings.finish_order`): a text reviewed after a revision of the codebook
        keeps its place. Texts finished at the same time, such as those of one coding sheet, follow the plan.
    plan : DataFrame, optional
        The assignment: coder, unit_id, round, place (`store.plan`), of the same rounds as the decisions.
        Repeated looks need it, unchanged: it gives the size of the first third and the number of looks.
        Without it the texts so far are taken for all, and `false_alarms` holds for a single look at the end.
    false_alarms : float
        The share of studies without drift in which an alarm is allowed, above 0 and below 1. It is divided by
        the coders of decisions and plan and by the codes of `decisions`; coders and codes added later make
        the shares of all others smaller.

    Raises
    ------
    TableError
        A frame breaks its contract, a coder decided on a unit that they have not finished, or a finished unit
        has no time.
    ArgumentError
        `false_alarms` is out of its range.

    Notes
    -----
    After 20, 40 and 60 texts beyond the first third these are compared with it, then after every 30 more the
    last 60, the last 120 and all later texts: each by Fisher's exact test (two-sided by doubling), given how
    often the code was applied in both together. Only the order is random in this, if texts
    are assigned in random order. Each comparison has a planned share of the error (alpha spending): 5, 10
    and 25 % the first three, then 25 % those of 60 texts, 25 % those of 120 and 10 % those of all, each
    divided evenly. By Bonferroni's inequality the bound on false alarms is exact for any number of texts,
    prevalence and clustering; in simulations up to 1.5 % of studies had one.

    Power (benchmarks/drift.md), with two coders and seven codes, for shifts by .2 right after the first
    third: of 1,000 texts 63 % are found within 60 texts at a prevalence of .1, 27 to 31 % at .3 and .5, and
    nearly all by the end; of 300 texts 17 to 38 % within 60 and 41 to 66 % by the end; of 100 texts 8 to 13
    %. More is hardly possible at this bound: one test, made at the best moment, which nobody knows, would
    find 42 to 75 % in 1,000 texts. A sequential test by e-values (Turner, Ly & Grünwald 2024) found far
    fewer. A cumulative sum (Page 1954) finds more shifts of rare codes and late ones, but its limit requires
    knowing the prevalence. A test at .05 after every ten texts gives an alarm in 42 to 100 % of studies
    without drift.

    References
    ----------
    Fisher (1935), The logic of inductive inference, Journal of the Royal Statistical Society 98, 39–82. Lan &
    DeMets (1983), Discrete sequential boundaries for clinical trials, Biometrika 70, 659–663. Page (1954),
    Continuous inspection schemes, Biometrika 41, 100–115. Turner, Ly & Grünwald (2024), Generic E-variables
    for exact sequential k-sample tests that allow for optional stopping, Journal of Statistical Planning and
    Inference 230, 106116.

    Examples
    --------
    Of 180 texts in a random order a coder applies a code to one in six of the first 60, then to most:

    >>> ids = [f"m{i:03}" for i in range(180)]
    >>> decisions = pd.DataFrame({"unit_id": ids, "coder": "ana", "code": "interest",
    ...                           "applied": [i % 6 == 0 if i < 60 else i % 4 > 0 for i in range(180)]})
    >>> times = pd.date_range("2026-02-03", periods=180, freq="h", tz="UTC").strftime("%Y-%m-%dT%H:%M:%SZ")
    >>> coverage = pd.DataFrame({"unit_id": ids, "coder": "ana", "round": None, "finished_at": times,
    ...                          "codebook": None})
    >>> drift(decisions, coverage)[["n_first", "n_later", "difference", "alarm", "at_unit"]].values.tolist()
    [[60, 120, 0.5833333333333334, True, 20]]
    """
    check_arguments(drift, locals())
    if not 0 < false_alarms < 1:
        raise ArgumentError(
            f"drift: expected false_alarms between 0 and 1 – found {false_alarms!r} – 0.05 is usual."
        )
    own = own_decisions(decisions, function="drift")
    assigned = PLAN.empty() if plan is None else people(PLAN.check(plan))
    codes = list(own["code"].unique())
    tests = max(1, len(codes) * len({*own["coder"], *assigned["coder"]}))
    rows = [
        (*row, false_alarms, reason)
        for coder, given, units, n_units in _coders(own, coverage, assigned)
        for *row, reason in _rows(coder, given, units, codes, n_units, false_alarms / tests)
    ]
    return DRIFT.frame(pd.DataFrame(rows, columns=list(DRIFT.columns)[:-1]))  # all but the basis


def comparisons(n_later: int, level: float) -> list[Comparison]:
    """Return the comparisons with the first third of a coder's texts when `n_later` come after it."""
    planned = [(0, end, share) for end, share in _EARLY]
    ends = range(_EARLY[-1][0] + _EVERY, n_later + 1, _EVERY)
    for last, share in _LATER:
        begin = [(end - (last or end), end) for end in ends if last is None or end > last]
        planned += [(start, end, share / len(begin)) for start, end in begin]
    fitting = [(start, end, share) for start, end, share in planned if end <= n_later]
    spent = sum(share for *_, share in fitting)
    return [Comparison(start, end, level * share / spent) for start, end, share in fitting]


def first_alarm(first: Flags, later: Flags, compared: list[Comparison]) -> Integers:
    """Return the number of later texts at the first alarm (…), 0 for none; of decisions (…, texts)."""
    n_first, n_later = first.shape[-1], later.shape[-1]
    before = first.sum(axis=-1)
    applied = np.concatenate([np.zeros((*later.shape[:-1], 1), int), later.cumsum(axis=-1)], axis=-1)
    at = np.zeros(later.shape[:-1], dtype=np.int64)
    for start, end, level in sorted(compared, key=lambda one: one.end):
        if end > n_later:
            break
        now = applied[..., end] - applied[..., start]
        fewest, most = _limits(n_first, end - start, level)
        rings = (now < fewest[before + now]) | (now > most[before + now])
        at = np.where((at == 0) & rings, end, at)
    return at


@lru_cache(maxsize=512)
def _limits(n_first: int, n_now: int, level: float) -> tuple[Integers, Integers]:
    """Return in how few and how many of the `n_now` texts a code may be applied without an alarm.

    One number each for 0, 1 … n_first + n_now texts of both in which it is applied.
    """
    both, now = np.arange(n_first + n_now + 1)[:, None], np.arange(n_now + 1)[None, :]
    before = both - now
    possible = (before >= 0) & (before <= n_first)
    log = _log_choose(n_now, now) + _log_choose(n_first, np.clip(before, 0, n_first))
    p = np.where(possible, np.exp(log - _log_choose(n_first + n_now, both)), 0.0)
    at_most, at_least = p.cumsum(axis=1), p[:, ::-1].cumsum(axis=1)
    tail = level / 2 * (1 - 1e-9)
    return (at_most <= tail).sum(axis=1), n_now - (at_least <= tail).sum(axis=1)


def _log_choose(n: int, k: Integers) -> npt.NDArray[np.float64]:
    from scipy import special

    return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))


def _possible(n_first: int, n_later: int, compared: list[Comparison]) -> bool:
    """Return True if some decisions would have rung the alarm by now."""
    clearest = np.zeros(n_first, dtype=np.bool_), np.ones(n_later, dtype=np.bool_)
    return bool(n_first) and bool(first_alarm(*clearest, compared))


def _coders(
    own: pd.DataFrame, coverage: pd.DataFrame, assigned: pd.DataFrame
) -> list[tuple[str, pd.DataFrame, list[str], int]]:
    """Return each coder's decisions and finished units, in their order, and how many texts they have."""
    finished = COVERAGE.check(coverage)
    order = first_finishes(own, finished, timed=True, plan=assigned)["order"]
    ordered = own.assign(order=order.to_numpy()).sort_values("order", kind="stable")
    units = {
        str(coder): list(part["unit_id"])
        for coder, part in finish_order(finished, plan=assigned).groupby("coder")
    }
    planned = {str(coder): set(part["unit_id"]) for coder, part in assigned.groupby("coder")}
    return [
        (coder, given, units[coder], len(planned.get(coder, set()) | set(units[coder])))
        for coder, given in ((str(one), part) for one, part in ordered.groupby("coder", sort=True))
    ]


def _rows(
    coder: str, given: pd.DataFrame, units: list[str], codes: list[str], n_units: int, level: float
) -> list[tuple[object, ...]]:
    n_first = max(1, n_units // 3)
    compared = comparisons(n_units - n_first, level)
    place = given["unit_id"].map({unit: at for at, unit in enumerate(units)}).to_numpy(dtype=np.int64)
    applied, code = given["applied"].to_numpy(dtype=np.bool_), given["code"].to_numpy(dtype=object)
    rows: list[tuple[object, ...]] = []
    for each in codes:
        early = place[code == each] < n_first
        first, later = applied[code == each][early], applied[code == each][~early]
        before, after = (part.mean() if len(part) else math.nan for part in (first, later))
        shares = (len(first), before, len(later), after, after - before)
        if _gaps(place[code == each], len(units)):
            rows.append((coder, each, *shares, False, pd.NA, Reason.OPEN_BETWEEN))
            continue
        at = int(first_alarm(first, later, compared))
        reason = None if _possible(len(first), len(later), compared) else Reason.FEW_UNITS
        rows.append((coder, each, *shares, at > 0, at or pd.NA, reason))
    return rows


def _gaps(place: Integers, n: int) -> bool:
    """Return True if a text without a decision comes after one with a decision (places from 0 of `n` texts).

    A code that came, or was redefined, is undecided on all texts before; one that was split is undecided just
    where it was applied, and would seem rare there.
    """
    return len(place) > 0 and len(place) < n - place[0]


@rests_on("decisions")
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

    Use it to see coders drift apart, or definitions become clearer in a new version: `change` compares each
    slice with the one before (see `difference`). Do not report only the slice that looks best.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). Decisions of `consensus`, `majority` and `pooled` are left out.
    coverage : DataFrame
        Finished units: unit_id, coder, round, finished_at and, where a unit was finished again,
        first_finished_at (ISO 8601; needed for weeks and order), codebook.
    by : {"round", "codebook", "week", "order"}
        A decision belongs to the round, or to the codebook version, in which its coder last finished the
        unit, so coders are compared on a unit only within one. Units reviewed after a revision are in the
        later version, and were selected by their codes: do not read a trend into that. For weeks (ISO, UTC)
        and order, a unit belongs where the last of its coders first finished it (`codings.finish_order`);
        these times in order are cut into `n_slices` parts with equal numbers of units.
    n_slices : int
        Parts for `by="order"`, 2 or more.
    units, cluster, n_boot, confidence_level, seed
        As for `by_code`.

    Raises
    ------
    TableError
        A frame breaks its contract; a coder decided on a unit that they have not finished; for weeks and
        order, a finished unit has no time.
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
    slices = list(_slices(own, finished, by, n_slices))
    parts = [
        by_code(
            own[rows],
            units=units,
            cluster=cluster,
            n_boot=n_boot,
            confidence_level=confidence_level,
            seed=seed,
        ).assign(by=by, slice=name, place=place)
        for place, (name, rows) in enumerate(slices, start=1)
    ]
    parts = parts or [by_code(own, seed=seed).assign(by=by, slice="", place=0)]
    by_slice = pd.concat(parts, ignore_index=True).astype({"by": "string", "slice": "string"})
    by_slice = by_slice.drop(columns="basis")  # that of all slices is added last
    changes = _changes([own[rows] for _, rows in slices], clusters_by_unit(units, cluster), confidence_level)
    by_slice = by_slice.merge(changes, how="left", on=["code", "place"])
    codes = {code: place for place, code in enumerate([*own["code"].unique(), *by_slice["code"].unique()])}
    order = np.lexsort((by_slice["place"], by_slice["code"].map(codes)))
    lead = ["code", "by", "slice", "place"]
    return by_slice.iloc[order][lead + [name for name in by_slice if name not in lead]].reset_index(drop=True)


def _changes(slices: list[pd.DataFrame], clusters: pd.Series | None, confidence_level: float) -> pd.DataFrame:
    """Return the change of each code in each slice from the slice before."""
    names = {"difference": "change", "low": "change_low", "high": "change_high", "p": "change_p"}
    rows = [
        {"code": code, "place": place}
        | change(one[one["code"] == code], two[two["code"] == code], clusters, confidence_level)
        for place, (one, two) in enumerate(pairwise(slices), start=2)
        for code in two["code"].unique()
    ]
    table = pd.DataFrame(rows, columns=["code", "place", *names]).rename(columns=names)
    return table.astype({"code": "string", "place": "int64", **dict.fromkeys(names.values(), "float64")})


def _check_slicing(by: str, n_slices: int) -> None:
    if by not in get_args(By):
        raise ArgumentError(
            f"over_time: expected by to be one of {', '.join(get_args(By))} – found {by!r} – "
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
    order = finish_order(coverage, plan=plan)
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


@rests_on("first", "second")
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
    """Return each coder's agreement with their own earlier decisions: intra-coder agreement.

    Use it where one coder codes alone, or to separate a coder's own inconsistency from disagreement between
    coders. Do not report it as the reliability of the data: it is the weakest form, and a coder who is
    consistently wrong attains it too.

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
        A frame breaks its contract, or no coder is in both.
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
