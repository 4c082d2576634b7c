"""Decisions and coverage of a round, after a discussion, by majority, and in the order of coding.

Both wings of the package need it: the record, which makes these frames, and the statistics, which take them.
`codings` exports these functions.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from typing import Final

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._basis import BASIS, from_people, parts, state
from sense7_qual._contract import Column, Contract, count, text
from sense7_qual._messages import first_three
from sense7_qual._rests_on import rests_on
from sense7_qual.errors import TableError
from sense7_qual.frames import (
    CODINGS,
    COVERAGE,
    DECISIONS,
    PLAN,
    check_people,
    one_spelling,
    people,
    without_models,
)

TALLY: Final = Contract(
    "tally",
    ("unit_id", "code"),
    {
        "unit_id, code": text(),
        "n_coders": count("1 or more"),
        "n_applied": count("0 to n_coders"),
        **BASIS,
    },
    row="One row per unit × code that a coder decided on, in the order of first appearance",
)

FINISH_ORDER: Final = Contract(
    "finish_order",
    ("unit_id", "coder"),
    {
        "unit_id, coder": text(),
        "at": Column("any", "UTC; missing (and sorted last) without a time"),
    },
    row="One row per unit × coder",
)

_KEY: Final = ["unit_id", "code"]
_PAIR: Final = ["unit_id", "coder"]


def of_round(
    codings: pd.DataFrame, coverage: pd.DataFrame, *, round: str | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Select the codings and the coverage of one round; by default, of each unit's last round.

    Parameters
    ----------
    codings, coverage : DataFrame
        As `Store.codings` and `Store.coverage` return them.
    round : str, optional
        The round. By default, for each coder and unit, the round that was finished last.

    Returns
    -------
    DataFrame, DataFrame
        Codings and coverage with one row of coverage per unit × coder, and the codings of that round on
        finished units.

    Raises
    ------
    TableError
        A frame does not meet its contract; a unit that was finished in a round has a coding without a round,
        or the other way round; or the last finished round cannot be determined.
    """
    check_arguments(of_round, locals())
    codings = CODINGS.check(codings, as_written=True)
    coverage = COVERAGE.check(coverage, as_written=True)
    for name in _PAIR:
        both = pd.concat([codings[name], coverage[name]])
        one_spelling(both, name=name, frame_name="codings and coverage")
    chosen = _last(coverage) if round is None else coverage[coverage["round"] == round]
    chosen = chosen.reset_index(drop=True)
    finished = chosen[[*_PAIR, "round"]].rename(columns={"round": "in_round"})
    joined = codings.merge(finished, on=_PAIR)
    nowhere, in_none = joined["round"].isna(), joined["in_round"].isna()
    _refuse_half_rounds(joined[nowhere != in_none], coverage)
    same = (joined["round"] == joined["in_round"]).fillna(False) | (nowhere & in_none)
    return joined.loc[same.astype(bool), codings.columns].reset_index(drop=True), chosen


def _refuse_half_rounds(mixed: pd.DataFrame, coverage: pd.DataFrame) -> None:
    """Refuse codings that may belong to the finished round or may be left over: it cannot be told."""
    pairs = set(coverage[[*_PAIR, "round"]].fillna("").itertuples(index=False, name=None))
    keys = mixed[[*_PAIR, "round"]].fillna("").itertuples(index=False, name=None)
    unclear = [unit_id for unit_id, coder, round in keys if (unit_id, coder, round) not in pairs]
    if unclear:
        raise TableError(
            "codings: expected a round on all codings of a unit finished in a round, and on no others "
            f"– found codings without one, or with one on a unit finished without, on unit "
            f"{first_three(dict.fromkeys(unclear))} – fill in their round in the column 'round', or leave "
            "these rows out."
        )


def _last(coverage: pd.DataFrame) -> pd.DataFrame:
    several = coverage[coverage.duplicated(_PAIR, keep=False)]
    if several["finished_at"].isna().any():
        raise TableError(
            "coverage: expected the time at which each round was finished – found none for unit "
            f"{first_three(several.loc[several['finished_at'].isna(), 'unit_id'].unique())}, which was "
            "finished in several rounds – name the round."
        )
    if several.empty:
        return coverage
    at = times_of(coverage["finished_at"], frame_name="coverage")
    order = at.sort_values(kind="stable", na_position="first").index
    return coverage.loc[order].drop_duplicates(_PAIR, keep="last").sort_index()


def times_of(column: pd.Series, *, frame_name: str) -> pd.Series:
    """Return a column of ISO 8601 times as UTC; raise `TableError` for other values."""
    at = pd.to_datetime(column, utc=True, format="ISO8601", errors="coerce")
    unread = column.index[at.isna() & column.notna()]
    if len(unread):
        raise TableError(
            f"{frame_name}: expected times in ISO 8601 in column {column.name!r} – found other values "
            f"in {len(unread)} rows (first: row {first_three(unread)}) – write them like "
            "2026-02-03T14:05:00Z, or leave them missing."
        )
    return at


@DECISIONS.returns
def after_discussion(decisions: pd.DataFrame, discussed: pd.DataFrame) -> pd.DataFrame:
    """Replace decisions by those that their coder made in a later discussion.

    Parameters
    ----------
    decisions, discussed : DataFrame
        unit_id, coder, code, applied (bool): of the discussed round, and of its discussion
        (``store.decisions(round=…)`` of each).

    Returns
    -------
    DataFrame
        The rows of `decisions` in their order, with the coder's decision of the discussion where they made
        one. A decision made only in the discussion is left out, because it revises nothing.

    Raises
    ------
    TableError
        A frame does not meet its contract.

    Examples
    --------
    >>> before = pd.DataFrame({"unit_id": ["m1", "m2"], "coder": "ana", "code": "interest", "applied": True})
    >>> after_discussion(before, before.head(1).assign(applied=False))["applied"].tolist()
    [False, True]
    """
    check_arguments(after_discussion, locals())
    before = DECISIONS.check(decisions, as_written=True)
    revised = DECISIONS.check(discussed, as_written=True)
    key = list(DECISIONS.key)
    joined = before[key].merge(revised[[*key, "applied"]], how="left", on=key)["applied"]
    applied = before["applied"].mask(joined.notna(), joined.eq(True))
    after = DECISIONS.check(before.assign(applied=applied.astype(bool)), as_written=True)
    changed = int(before.loc[applied != before["applied"], "unit_id"].nunique())
    rounds = [name for frame in (before, revised) for _, basis in parts(frame) for name in basis.rounds]
    inside = (("changed in the discussion", changed),) if changed else ()
    basis = from_people(before, "after discussion", rounds=tuple(dict.fromkeys(rounds)), inside=inside)
    return state(after, basis)


@DECISIONS.returns
def majority(decisions: pd.DataFrame, *, with_models: bool = False) -> pd.DataFrame:
    """Decide each unit × code by the majority of its coders (more than half).

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). Only coders who decided on the unit count; if only one did, it
        is that coder's decision. Decisions of `consensus`, `majority` and `pooled` are left out, and so are
        those of models, with a warning.
    with_models : bool
        Whether models count as coders; the majority is then not one of people alone.

    Returns
    -------
    DataFrame
        unit_id, coder ("majority"), code, applied (bool). A tie has no row: it is undecided, not absent.

    Raises
    ------
    TableError
        `decisions` does not meet its contract.

    Examples
    --------
    >>> given = pd.DataFrame({"unit_id": "m1", "coder": ["ana", "ben", "cleo"], "code": "interest",
    ...                       "applied": [True, True, False]})
    >>> majority(given)[["unit_id", "coder", "code", "applied"]].values.tolist()
    [['m1', 'majority', 'interest', True]]
    """
    check_arguments(majority, locals())
    counts = tally(decisions, with_models=with_models)
    is_tied = 2 * counts["n_applied"] == counts["n_coders"]
    n_tied, counts = int(is_tied.sum()), counts[~is_tied]
    applied = 2 * counts["n_applied"] > counts["n_coders"]
    decided = counts[_KEY].assign(coder="majority", applied=applied.astype(bool))
    settled = DECISIONS.check(decided[list(DECISIONS.columns)], as_written=True)
    basis = from_people(decisions, "majority", with_models=with_models)
    left_out = ((("tied", n_tied),) if n_tied else ()) + basis.left_out
    stated = replace(basis, n_texts=settled["unit_id"].nunique(), selected=None, left_out=left_out)
    return state(settled, stated)


@rests_on("decisions")
@TALLY.returns
def tally(decisions: pd.DataFrame, *, with_models: bool = False) -> pd.DataFrame:
    """Count the coders who decided on each unit × code, and those who applied the code.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). Decisions of `consensus`, `majority` and `pooled` are left out,
        and so are those of models, with a warning.
    with_models : bool
        Whether models count as coders.

    Raises
    ------
    TableError
        `decisions` does not meet its contract.

    Examples
    --------
    >>> given = pd.DataFrame({"unit_id": "m1", "coder": ["ana", "ben", "cleo"], "code": "interest",
    ...                       "applied": [True, True, False]})
    >>> tally(given)[["unit_id", "code", "n_coders", "n_applied"]].values.tolist()
    [['m1', 'interest', 3, 2]]
    """
    check_arguments(tally, locals())
    checked = DECISIONS.check(decisions, as_written=True)
    compared = check_people(checked)
    if not with_models:
        compared = people(without_models(compared, function="tally"))
    applied = compared.groupby(_KEY, sort=False)["applied"]
    return applied.agg(n_coders="size", n_applied="sum").reset_index()


@FINISH_ORDER.returns
def finish_order(coverage: pd.DataFrame, *, plan: pd.DataFrame | None = None) -> pd.DataFrame:
    """Order the units of all coders by the time at which they first finished them.

    Use it for anything that follows the course of coding. A unit that was finished again, after a revision of
    the codebook or in a later round, keeps its place: units are revisited because of their codes, so the
    times of the last finish would sort units by their codes.

    Parameters
    ----------
    coverage : DataFrame
        As `Store.coverage` returns it. Where first_finished_at is missing, finished_at is used instead.
    plan : DataFrame, optional
        As `Store.plan` returns it: it orders units that a coder finished at the same time, such as those of
        one coding sheet. Units that it lacks come last, in an order drawn from their ids.

    Raises
    ------
    TableError
        A frame does not meet its contract, or a time is not ISO 8601.

    Examples
    --------
    The first of three texts was revisited at the end:

    >>> coverage = pd.DataFrame({
    ...     "unit_id": ["m1", "m2", "m3"], "coder": "ana", "round": None, "codebook": None,
    ...     "first_finished_at": ["2026-02-03T09:00:00Z", "2026-02-03T09:01:00Z", "2026-02-03T09:02:00Z"],
    ...     "finished_at": ["2026-03-01T09:00:00Z", "2026-02-03T09:01:00Z", "2026-02-03T09:02:00Z"]})
    >>> finish_order(coverage)["unit_id"].tolist()
    ['m1', 'm2', 'm3']
    """
    check_arguments(finish_order, locals())
    finished = COVERAGE.check(coverage, as_written=True)
    at = times_of(finished["finished_at"], frame_name="coverage")
    if "first_finished_at" in finished:
        at = times_of(finished["first_finished_at"], frame_name="coverage").fillna(at)
    first = finished[_PAIR].assign(at=at).groupby(_PAIR, sort=True)["at"].min().reset_index()
    planned = PLAN.empty() if plan is None else PLAN.check(plan, as_written=True)
    place = planned.groupby(_PAIR)["place"].min().reset_index()
    placed = first.merge(place, how="left", on=_PAIR)
    placed["place"] = placed["place"].to_numpy(dtype=float, na_value=math.inf)
    # Not by id: units of one participant often have ids in a row, and would look like a change over time.
    placed["drawn"] = [hashlib.blake2b(unit.encode()).hexdigest() for unit in placed["unit_id"]]
    ordered = placed.sort_values(["at", "place", "drawn", "coder"], na_position="last")
    return ordered[[*_PAIR, "at"]].reset_index(drop=True)
