"""Decisions from codings and coverage; decisions about quotes from acts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._basis import BY_VALUE, LAST, Basis, Waiting, state
from sense7_qual._decisions import of_round
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.acts import Act, QuoteDecision, quote_decision, standing
from sense7_qual.codebook import UNSTATED, Codebook, Facet, Revision, check_codebook
from sense7_qual.codings._carry_over import before_change, carried, steps
from sense7_qual.errors import TableError
from sense7_qual.frames import DECISIONS, QUOTES, require_column

_CHANGED: Final = frozenset({"redefine", "narrow", "widen", "merge", "split", "retire"})
_HARMLESS: Final = {"shows": "widen", "disconfirms": "narrow"}
"""The change of a meaning after which a quote in this role still shows, or still does not show, its code."""


@DECISIONS.returns
def decisions(
    codings: pd.DataFrame,
    coverage: pd.DataFrame,
    codebook: Codebook,
    *,
    round: str | None = None,
    revisions: Sequence[Revision] | None = None,
    facet: str | None = None,
    abstained: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return a decision for every finished unit × coder × code: whether the code is applied.

    A code is applied to a unit if there is at least one coding with it, of the whole unit or of a span.
    Codings on units that the coder has not finished are left out, and so are stale ones: a code added or
    redefined after the coder finished the unit is neither applied nor absent there (`carried` has all rules).
    Where what is stale depends on what was decided (a code that was narrowed, widened or split), nothing that
    anybody decided on the code before the change counts until all of it is reviewed: those texts alone that
    lack it, or have it, would give another prevalence and another agreement.

    Parameters
    ----------
    codings, coverage : DataFrame
        As `Store.codings` and `Store.coverage` return them.
    codebook : Codebook
        Decisions are on its codable codes, in its order.
    round : str, optional
        Only units finished in this round, with the codings made in it. By default every finished unit counts
        once, as its coder decided on it in the round that they finished last (`of_round`).
    revisions : sequence of Revision, optional
        The history of the codebook (`Store.revisions`): needed if codings or finished units are from an
        earlier version, to carry them over by rule (`carried`). To count them as they are, as if no meaning
        had changed, remove the version from both frames: ``codings.assign(codebook=None)``.
    facet : str, optional
        A facet of the codebook, to replace each code by one for each value of the facet: with "valence"
        `relational.valence=met`, `relational.valence=unmet` and so on. A code that is related to high ratings
        where it is met and to low ones where it is unmet shows no link without this. A unit can have several
        of them, on different spans. Codings without a value count as `relational.valence=unstated`, which
        exists only for codes with codings of this kind on finished units. Codes without the facet stay as
        they are.
    abstained : DataFrame, optional
        As ``acts.fold(…).abstained``: what a model could not decide is neither applied nor absent, and has no
        row.

    Returns
    -------
    DataFrame
        unit_id, coder, code, applied (bool): one row for each finished unit × coder × code except the stale
        ones (`stale` lists them); and basis, the same in every row: what they rest on, in words, with what
        waits for review.

    Raises
    ------
    ArgumentError
        `facet` is not text.
    CodebookError
        The codebook does not have the facet.
    TableError
        A frame breaks its contract, a coding's code is not codable, or no `revisions` lead from the codebook
        of a coding to this one. With `facet`: the codings have no column of it, or a value that the facet
        does not have.

    Examples
    --------
    >>> from sense7_qual import acts
    >>> sense7 = Codebook.read("sense7")
    >>> record = acts.fold([
    ...     acts.apply(coder="ana", unit_id="m1", code="interest", codebook=sense7),
    ...     acts.finish(coder="ana", unit_id="m1", codebook=sense7),
    ...     acts.apply(coder="ben", unit_id="m1", code="interest", codebook=sense7)])
    >>> decided = decisions(record.codings, record.coverage, sense7)
    >>> len(decided), int(decided["applied"].sum())  # ben has not finished: no row of his
    (7, 1)
    """
    check_arguments(decisions, locals())
    return decided_on(
        *of_round(codings, coverage, round=round),
        codebook,
        revisions=revisions,
        facet=facet,
        abstained=abstained,
    )


def decided_on(
    codings: pd.DataFrame,
    coverage: pd.DataFrame,
    codebook: Codebook,
    *,
    revisions: Sequence[Revision] | None = None,
    facet: str | None = None,
    abstained: pd.DataFrame | None = None,
    ruled: Collection[tuple[str, str]] = (),
) -> pd.DataFrame:
    """Return the decisions on finished units, with their basis; each pair of unit and coder comes once.

    On the units and codes in `ruled` a ruling decides: what waits there for review keeps no code from having
    a figure.
    """
    check_codebook(codebook)
    undecided = None
    if revisions:
        codings, undecided = carried(codings, coverage, codebook, revisions=revisions)
    else:
        _refuse_others(codings, coverage, codebook)
    _refuse_unknown_codes(codings, codebook)
    finished = coverage[["unit_id", "coder"]]
    names = {code.id: code.id for code in codebook.codable}
    if facet is not None:
        on_finished = codings.merge(finished, on=["unit_id", "coder"])
        codings, names = _by_facet(on_finished, codebook, codebook.facet(facet))
    codes = pd.DataFrame({"code": names.keys(), "named": names.values()}, dtype="string")
    grid = finished.merge(codes, how="cross")
    waiting: tuple[Waiting, ...] = ()
    if undecided is not None and len(undecided):
        earlier = before_change(coverage, codebook.fingerprint, revisions or ())
        waiting = _waiting(undecided, earlier, ruled)
        grid = _without(grid, _missing(undecided, earlier, waiting))
    applied = codings[["unit_id", "coder", "code"]].drop_duplicates()
    marked = grid.merge(applied, how="left", on=["unit_id", "coder", "code"], indicator="found")
    marked["applied"] = (marked.pop("found") == "both").to_numpy()
    if abstained is not None and len(abstained):
        marked = _without_abstained(marked, abstained, coverage, codebook, revisions or ())
    decided = DECISIONS.check(marked.drop(columns="named"), as_written=True)
    return state(decided, _basis(coverage, codebook, waiting))


def _missing(undecided: pd.DataFrame, earlier: pd.DataFrame, waiting: Sequence[Waiting]) -> pd.DataFrame:
    """Return what is missing: all that is undecided, and of codes without a figure all decided before."""
    no_figure = {one.code for one in waiting if one.how}
    dropped = earlier[earlier["code"].isin(no_figure)]
    return pd.concat([undecided[dropped.columns], dropped]).drop_duplicates()


def _without(grid: pd.DataFrame, missing: pd.DataFrame) -> pd.DataFrame:
    named = missing.rename(columns={"code": "named"}).assign(waits=True)
    joined = grid.merge(named, how="left", on=["unit_id", "coder", "named"])
    return joined[joined.pop("waits").isna()]


def _basis(coverage: pd.DataFrame, codebook: Codebook, waiting: tuple[Waiting, ...]) -> Basis:
    n_texts = coverage.groupby("coder")["unit_id"].nunique()
    return Basis(
        rule=LAST,
        rounds=tuple(
            sorted(coverage["round"].fillna("").astype(str).unique(), key=lambda name: (not name, name))
        ),
        codebook=codebook.fingerprint[:8],
        n_texts=int(coverage["unit_id"].nunique()),
        coders=tuple((str(name), int(n)) for name, n in sorted(n_texts.items())),
        waiting=waiting,
    )


def _waiting(
    undecided: pd.DataFrame, earlier: pd.DataFrame, ruled: Collection[tuple[str, str]]
) -> tuple[Waiting, ...]:
    """Count what waits for review, of what was decided on each code before it changed."""
    n_earlier = earlier.groupby("code").size()
    is_ruled = [key in ruled for key in zip(undecided["unit_id"], undecided["code"], strict=True)]
    found = []
    for code, rows in undecided[~pd.Series(is_ruled, index=undecided.index, dtype=bool)].groupby("code"):
        by_value = [BY_VALUE[reason] for reason in rows["reason"] if reason in BY_VALUE]
        n_before = max(len(rows), int(n_earlier.get(code, 0)))
        found.append(Waiting(str(code), len(rows), n_before, by_value[0] if by_value else ""))
    return tuple(found)


def _without_abstained(
    marked: pd.DataFrame,
    abstained: pd.DataFrame,
    coverage: pd.DataFrame,
    codebook: Codebook,
    revisions: Sequence[Revision],
) -> pd.DataFrame:
    """Leave out what was not applied because its coder abstained from it in the round that counts."""
    paths = {name: steps(revisions, name, codebook.fingerprint) for name in set(abstained["codebook"])}
    now = [
        _followed(code, paths[name])
        for code, name in zip(abstained["code"], abstained["codebook"], strict=True)
    ]
    open_still = (
        abstained[["unit_id", "coder", "round"]]
        .assign(named=pd.Series(now, abstained.index))
        .explode("named")
    )
    here = open_still.merge(coverage[["unit_id", "coder", "round"]], on=["unit_id", "coder", "round"])
    cells = here[["unit_id", "coder", "named"]].drop_duplicates().assign(open=True)
    joined = marked.merge(cells, how="left", on=["unit_id", "coder", "named"])
    return joined[joined["applied"] | joined.pop("open").isna()]


def _followed(code: str, path: Sequence[Revision]) -> list[str]:
    """Return the codes that one has become by merging and splitting."""
    codes = [code]
    for step in path:
        into = {one.code: list(one.into) for one in step.changes if one.kind in ("merge", "split")}
        codes = [after for before in codes for after in into.get(before, [before])]
    return codes


def _refuse_others(codings: pd.DataFrame, coverage: pd.DataFrame, codebook: Codebook) -> None:
    """Refuse to guess what another version of the codebook meant; what is no fingerprint names none."""
    under = pd.concat([codings["codebook"], coverage["codebook"]]).dropna().astype("string")
    others = under[(under != codebook.fingerprint) & under.str.fullmatch("[0-9a-f]{32}")]
    if len(others):
        raise TableError(
            "codings: expected codings and finished units made under codebook "
            f"{codebook.fingerprint[:12]}… – found {len(others)} made under "
            f"{first_three(sorted({one[:12] for one in others}))}, and no revisions – pass codebook="
            "store.codebook and revisions=store.revisions to carry them over by rule, or remove the version "
            "from both frames (assign(codebook=None)) to count them as they are."
        )


def _by_facet(codings: pd.DataFrame, codebook: Codebook, facet: Facet) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return codings with each code replaced by code and facet value, and the code of every new name."""
    require_column(codings, facet.name, frame_name="codings")
    stated = codings[facet.name].astype("string").fillna(UNSTATED)
    unknown = sorted(set(stated) - {*facet.names, UNSTATED})
    if unknown:
        raise TableError(
            f"codings: expected {facet.name} to be one of {', '.join(facet.names)} – found "
            f"{first_three(unknown)} – {did_you_mean(unknown[0], facet.names)} Or use the codebook that they "
            "were made under."
        )
    of_it = codings["code"].isin(
        [code.id for code in codebook.codable if facet in codebook.facets_of(code.id)]
    )
    unstated = set(codings.loc[of_it & (stated == UNSTATED), "code"])
    parts = {
        name: code.id
        for code in codebook.codable
        for name in _names(code.id, codebook, facet, ends=[UNSTATED] if code.id in unstated else [])
    }
    by_value = codings["code"] + f".{facet.name}=" + stated
    return codings.assign(code=codings["code"].mask(of_it, by_value).astype("string")), parts


def _names(code: str, codebook: Codebook, facet: Facet, *, ends: Sequence[str]) -> list[str]:
    if facet not in codebook.facets_of(code):
        return [code]
    return [f"{code}.{facet.name}={value}" for value in (*facet.names, *ends)]


def _refuse_unknown_codes(codings: pd.DataFrame, codebook: Codebook) -> None:
    """Refuse a coding that would vanish, because the codebook does not have its code as a codable one."""
    codable = [code.id for code in codebook.codable]
    unknown = sorted(set(codings["code"]) - set(codable))
    if unknown:
        raise TableError(
            f"codings: expected codable codes of codebook {codebook.name!r} – found {first_three(unknown)} – "
            f"{did_you_mean(unknown[0], codable)} Or use the codebook that they were made under."
        )


class _Decided(NamedTuple):
    """A decision, and what became of it under a later codebook."""

    act: Act
    code: str
    decision: QuoteDecision
    is_stale: bool


@QUOTES.returns
def quotes(acts: Iterable[Act], codebook: Codebook, *, revisions: Sequence[Revision]) -> pd.DataFrame:
    """Return the current decision about each quote, in the codes of `codebook`.

    Parameters
    ----------
    acts : iterable of Act
        As ``store.acts(kind="quote")`` returns them. Acts of other kinds are ignored.
    codebook : Codebook
        The version to carry over to.
    revisions : sequence of Revision
        As `Store.revisions` returns them.

    Returns
    -------
    DataFrame
        `frames.QUOTES`, one row per unit, code and span. If decisions under one code are about overlapping
        words of a unit, the last one counts, whoever made it; a decision about a whole unit overlaps all of
        it. A row that is ``stale`` may have a code that is no longer in `codebook`.

    Raises
    ------
    TableError
        No revisions lead from the codebook of a decision to `codebook`.

    Examples
    --------
    >>> from sense7_qual import acts
    >>> sense7 = Codebook.read("sense7")
    >>> named = {"coder": "lead", "unit_id": "m1", "code": "interest", "codebook": sense7}
    >>> whole = acts.quote(state="chosen", start=0, end=40, **named)
    >>> words = acts.quote(state="approved", start=3, end=12, **named)
    >>> quotes([whole, words], sense7, revisions=())[["start", "end", "state"]].values.tolist()
    [[3, 12, 'approved']]
    """
    check_arguments(quotes, locals())
    now = check_codebook(codebook).fingerprint
    made = standing(acts, subject="quote")
    paths = {name: steps(revisions, name, now) for name in {act.codebook for act in made}}
    current: dict[tuple[str, str], list[_Decided]] = {}
    for one in (one for act in _in_time(made) for one in _carried(act, paths[act.codebook])):
        of_text = current.setdefault((str(one.act.unit_id), one.code), [])
        of_text[:] = [other for other in of_text if not _overlap(other.act, one.act)]
        of_text.append(one)
    rows = [_row(one) for decided in current.values() for one in decided]
    frame = pd.DataFrame(rows, columns=list(QUOTES.columns))
    ordered = frame.sort_values(["unit_id", "code", "start"], kind="stable", na_position="first")
    return QUOTES.check(ordered, as_written=True)


def _in_time(made: Iterable[Act]) -> list[Act]:
    """Return decisions in the order of their times, each coder's in the order in which they were made."""
    latest: dict[str, str] = {}
    timed = []
    for act in made:  # a clock that is put back puts nobody's later decision before their earlier one
        latest[act.coder] = max(act.at, latest.get(act.coder, ""))
        timed.append((latest[act.coder], act))
    return [act for _, act in sorted(timed, key=lambda pair: pair[0])]


def _carried(act: Act, path: Sequence[Revision]) -> list[_Decided]:
    one = [_Decided(act, str(act.code), quote_decision(act.facets), False)]
    for step in path:
        one = [after for before in one for after in _after(before, step)]
    return one


def _after(before: _Decided, step: Revision) -> Iterator[_Decided]:
    """Yield the decisions that one becomes by a revision."""
    kinds = {change.kind: change.into for change in step.changes if change.code == before.code}
    if not (_CHANGED - {_HARMLESS[before.decision.role]}) & kinds.keys() or before.is_stale:
        yield before
        return
    into = kinds.get("merge", ()) + kinds.get("split", ())
    if before.decision.state == "refused":
        yield from (before._replace(code=code) for code in into or (before.code,))
        return
    redefined = {change.code for change in step.changes if change.kind in ("redefine", "narrow")}
    if "merge" in kinds and before.decision.role == "shows" and not redefined & {before.code, *into}:
        yield before._replace(code=into[0])
        return
    yield before._replace(is_stale=True)


def _overlap(one: Act, other: Act) -> bool:
    if one.start is None or other.start is None or one.end is None or other.end is None:
        return True
    return one.start < other.end and other.start < one.end


def _row(one: _Decided) -> dict[str, object]:
    act, (role, state, paraphrased) = one.act, one.decision
    is_erased = paraphrased and not act.text and state != "refused"
    return {
        "unit_id": act.unit_id,
        "code": one.code,
        "start": act.start,
        "end": act.end,
        "role": role,
        "state": "erased" if is_erased else "stale" if one.is_stale else state,
        "paraphrase": act.text if paraphrased else None,
        "coder": act.coder,
        "at": act.at,
        "act_id": act.act_id,
    }
