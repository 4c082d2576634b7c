"""Which decision about each quote stands, also after the codebook changed.

Decisions are carried over by these rules. What was refused stays refused where its code was redefined, merged
or split: nothing that somebody kept out comes back by a change of the codebook. What was chosen or approved
goes along where its code was merged into one that kept its meaning; a quote that speaks against a code does
not, since it may show the code that the other was merged into. All else is stale: it is to be decided again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual.acts import Act, QuoteDecision, quote_decision, standing
from sense7_qual.codebook import Codebook, Revision, check_codebook
from sense7_qual.codings._carry_over import steps
from sense7_qual.frames import QUOTES

__all__ = ["quotes"]

_CHANGED: Final = frozenset({"redefine", "merge", "split", "retire"})


class _Decided(NamedTuple):
    """A decision, and what became of it under a later codebook."""

    act: Act
    code: str
    decision: QuoteDecision
    is_stale: bool


@QUOTES.returns
def quotes(acts: Iterable[Act], codebook: Codebook, *, revisions: Sequence[Revision]) -> pd.DataFrame:
    """Return the decision that stands about each quote, in the codes of `codebook`.

    Parameters
    ----------
    acts : iterable of Act
        As ``store.acts(kind="quote")`` returns them. Acts of other kinds are passed over.
    codebook : Codebook
        The version to carry over to.
    revisions : sequence of Revision
        As `Store.revisions` returns them.

    Returns
    -------
    DataFrame
        `frames.QUOTES`, one row per unit, code and span. Of decisions about words of one unit that overlap,
        under one code, the last one stands, whoever made it; a decision about a whole unit overlaps all of
        it. A row that is ``stale`` may have a code that `codebook` has no more.

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
    stands: dict[tuple[str, str], list[_Decided]] = {}
    for one in (one for act in _in_time(made) for one in _carried(act, paths[act.codebook])):
        of_text = stands.setdefault((str(one.act.unit_id), one.code), [])
        of_text[:] = [other for other in of_text if not _overlap(other.act, one.act)]
        of_text.append(one)
    rows = [_row(one) for decided in stands.values() for one in decided]
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
    """Yield what becomes of a decision by one revision."""
    kinds = {change.kind: change.into for change in step.changes if change.code == before.code}
    if not _CHANGED & kinds.keys() or before.is_stale:
        yield before
        return
    into = kinds.get("merge", ()) + kinds.get("split", ())
    if before.decision.state == "refused":
        yield from (before._replace(code=code) for code in into or (before.code,))
        return
    redefined = {change.code for change in step.changes if change.kind == "redefine"}
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
        "unit_id": act.unit_id, "code": one.code, "start": act.start, "end": act.end, "role": role,
        "state": "erased" if is_erased else "stale" if one.is_stale else state,
        "paraphrase": act.text if paraphrased else None,
        "coder": act.coder, "at": act.at, "act_id": act.act_id,
    }  # fmt: skip
