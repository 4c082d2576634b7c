"""What codings of an earlier round, or under an earlier codebook, still say.

A coding belongs to the round in which it was made, and a unit that is coded in two rounds is decided twice.
A coding made under an earlier version of the codebook is carried over by rule where its meaning stood
(`revisions` lists the rules), and is *stale* where it did not: it is then neither applied nor absent.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError, first_three
from sense7_qual.revisions import Revision, path
from sense7_qual.tables import CODINGS, COVERAGE

__all__ = ["carried", "of_round", "stale"]

_PAIR = ["unit_id", "coder"]


def of_round(
    codings: pd.DataFrame, coverage: pd.DataFrame, *, round: str | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the codings and the coverage of one round; by default, of each unit's last round.

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
        A frame is not what its contract says; on a unit that was finished in a round stands a coding without
        one, or the other way round; or it cannot be told which round was finished last.
    """
    codings, coverage = CODINGS.check(codings), COVERAGE.check(coverage)
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
            "codings: expected a round on all codings of a unit that was finished in one, or on none – found "
            f"some without it, or with one where the unit was finished without, on unit "
            f"{first_three(dict.fromkeys(unclear))} – write the round that they belong to into the frame's "
            "column 'round', or leave those rows out."
        )


def _last(coverage: pd.DataFrame) -> pd.DataFrame:
    several = coverage[coverage.duplicated(_PAIR, keep=False)]
    if several["finished_at"].isna().any():
        raise TableError(
            "coverage: expected the time at which each round was finished – found none for unit "
            f"{first_three(several.loc[several['finished_at'].isna(), 'unit_id'].unique())}, which was "
            "finished "
            "in several rounds – name the round."
        )
    if several.empty:
        return coverage
    at = pd.to_datetime(coverage["finished_at"], utc=True, format="ISO8601")
    order = at.sort_values(kind="stable", na_position="first").index
    return coverage.loc[order].drop_duplicates(_PAIR, keep="last").sort_index()


def carried(
    codings: pd.DataFrame, coverage: pd.DataFrame, codebook: Codebook, *, revisions: Sequence[Revision]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return codings in the codes of `codebook`, and what is undecided because its meaning changed.

    A coder who finished a unit under a later version than that of a coding has affirmed the coding under the
    later version; only a split must then still be decided.

    Parameters
    ----------
    codings, coverage : DataFrame
        Of one round (`of_round`): each unit × coder once in `coverage`.
    codebook : Codebook
        The version to carry over to.
    revisions : sequence of Revision
        As `Store.revisions` returns them.

    Returns
    -------
    codings : DataFrame
        The codings that stand under `codebook`, as `tables.CODINGS`, with `was`: the code as it was applied.
        Several codings that were merged into one stay several, on their spans.
    undecided : DataFrame
        One row per unit × coder × code that must be looked at again: unit_id, coder, code, reason ("add",
        "redefine" or "split").

    Raises
    ------
    TableError
        No revisions lead from the codebook of a coding, or of a finished unit, to `codebook`.
    """
    now = codebook.fingerprint
    ids = [code.id for code in codebook.codable]
    finished = coverage[[*_PAIR, "codebook"]].rename(columns={"codebook": "finished_under"})
    joined = codings.merge(finished, on=_PAIR)
    for name in ("codebook", "finished_under"):
        joined[name] = joined[name].fillna(now)
    keys = list(joined[["code", "codebook", "finished_under"]].itertuples(index=False, name=None))
    fates = {key: _fate(key[0], key[1], key[2], now, revisions) for key in set(keys)}
    stays = [fates[key][0] for key in keys]
    kept = joined.assign(was=joined["code"], code=pd.array(stays, dtype="string"))
    kept = kept[kept["code"].notna()][[*codings.columns, "was"]].reset_index(drop=True)
    parts = [
        (unit, coder, code, "split")
        for unit, coder, key in zip(joined["unit_id"], joined["coder"], keys, strict=True)
        for code in fates[key][1]
    ]
    since = {under: _new_since(under, now, revisions) for under in coverage["codebook"].dropna().unique()}
    changed = [
        (unit, coder, code, since[under][code])
        for unit, coder, under in coverage[[*_PAIR, "codebook"]].itertuples(index=False, name=None)
        if isinstance(under, str)
        for code in ids
        if code in since[under]
    ]
    undecided = pd.DataFrame([*changed, *parts], columns=[*_PAIR, "code", "reason"], dtype="string")
    undecided = undecided[undecided["code"].isin(ids)].drop_duplicates([*_PAIR, "code"])
    # A code that stands by another coding is decided, unless its own meaning is new to the coder.
    stands = kept[[*_PAIR, "code"]].drop_duplicates().assign(stands=True)
    judged = undecided.merge(stands, on=[*_PAIR, "code"], how="left")
    open_still = (judged["reason"] != "split") | judged["stands"].isna()
    return kept, judged.loc[open_still, undecided.columns].reset_index(drop=True)


def stale(
    codings: pd.DataFrame,
    coverage: pd.DataFrame,
    codebook: Codebook,
    *,
    revisions: Sequence[Revision],
    round: str | None = None,
) -> pd.DataFrame:
    """Return what each coder must look at again because the codebook changed after they finished.

    Parameters
    ----------
    codings, coverage, round
        As for `decisions`.
    codebook : Codebook
        The current version.
    revisions : sequence of Revision
        As `Store.revisions` returns them.

    Returns
    -------
    DataFrame
        One row per unit × coder × code of `codebook`: unit_id, coder, code, reason ("add": the code was not
        there; "redefine": it meant something else; "split": it is a part of a code that was applied). A
        coder decides by finishing the unit again under the current version.

    Raises
    ------
    TableError
        A frame is not what its contract says, or no revisions lead to `codebook`.
    """
    return carried(*of_round(codings, coverage, round=round), codebook, revisions=revisions)[1]


def _fate(
    code: str, made_under: str, finished_under: str, now: str, revisions: Sequence[Revision]
) -> tuple[str | None, frozenset[str]]:
    """Return what a coding is now (None: nothing), and the codes that it leaves to be decided."""
    affirmed = path(revisions, made_under, finished_under)
    later = _steps(revisions, made_under if affirmed is None else finished_under, now)
    stands: str | None = code
    parts: frozenset[str] = frozenset()
    for step, agreed in [*((step, True) for step in affirmed or ()), *((step, False) for step in later)]:
        merged = {change.code: change.into[0] for change in step.changes if change.kind == "merge"}
        for change in step.changes:
            if change.kind == "split" and change.code in parts:
                parts = parts - {change.code} | set(change.into)
            if change.code != stands:
                continue
            if change.kind == "split":
                stands, parts = None, parts | set(change.into)
            elif change.kind == "retire" or (change.kind == "redefine" and not agreed):
                stands = None
        stands = merged.get(stands, stands) if stands is not None else None
        parts = frozenset(merged.get(part, part) for part in parts)
    return stands, parts


def _new_since(finished_under: str, now: str, revisions: Sequence[Revision]) -> dict[str, str]:
    """Return the codes whose meaning came after the coder finished, and why."""
    new: dict[str, str] = {}
    for step in _steps(revisions, finished_under, now):
        for change in step.changes:
            if change.kind in ("add", "redefine"):
                new[change.code] = change.kind
            elif change.kind in ("merge", "split") and change.code in new:
                new |= dict.fromkeys(change.into, new[change.code])
    return new


def _steps(revisions: Sequence[Revision], made_under: str, now: str) -> tuple[Revision, ...]:
    steps = path(revisions, made_under, now)
    if steps is None:
        raise TableError(
            "codings: expected revisions that lead from the codebook they were made under "
            f"({made_under[:12]}…) "
            f"to this one ({now[:12]}…) – found none – pass revisions=store.revisions() and "
            "codebook=store.codebook."
        )
    return steps
