"""The constructors of acts; each mints an id and a time unless they are given."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import word
from sense7_qual.acts._act import Act
from sense7_qual.acts._memo import SpanMemo
from sense7_qual.acts._quote import quote_facets
from sense7_qual.acts._validate import (
    check_codable,
    check_reason,
    check_word,
)
from sense7_qual.codebook import Codebook, check_codebook
from sense7_qual.errors import ActError

__all__ = ["apply", "finish", "memo", "quote", "redo", "remove", "reopen", "rule", "stamp", "undo"]


def apply(
    *,
    coder: str,
    unit_id: str,
    code: str,
    codebook: Codebook,
    start: int | None = None,
    end: int | None = None,
    facets: Mapping[str, str] | None = None,
    confidence: str | None = None,
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Apply a code to a unit, or to its code points `start` … `end` (half-open).

    `facets` says more of the coding in the codebook's own facets: ``{"valence": "met"}``.

    Raises
    ------
    CodebookError
        The codebook has no such code, facet or value, or the facet is for other codes.
    ActError
        The code only groups others, or a value is out of its range.

    Examples
    --------
    >>> from sense7_qual.codebook import Codebook
    >>> apply(coder="ana", unit_id="m17", code="relational", start=4, end=21,
    ...       codebook=Codebook.read("sense7")).kind
    'apply'
    """
    check_codable(codebook, unit_id, code)
    stated = None if facets is None else _pairs(codebook.check_facets(code, facets))
    return Act(
        kind="apply", unit_id=unit_id, code=code, start=start, end=end, facets=stated,
        confidence=confidence, round=round, **stamp(coder, codebook, act_id, at),
    )  # fmt: skip


def remove(
    *,
    coder: str,
    unit_id: str,
    code: str,
    codebook: Codebook,
    start: int | None = None,
    end: int | None = None,
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Take a coding away: the one of this code on exactly this span (or on the whole unit), in this round.

    The code may be one that only an earlier version of the codebook has: what was coded with it can still be
    taken away.
    """
    return Act(
        kind="remove", unit_id=unit_id, code=code, start=start, end=end, round=round,
        **stamp(coder, codebook, act_id, at),
    )  # fmt: skip


def finish(
    *,
    coder: str,
    unit_id: str,
    codebook: Codebook,
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Record that the coder has decided on the unit: codes not applied to it are coded absent."""
    return Act(kind="finish", unit_id=unit_id, round=round, **stamp(coder, codebook, act_id, at))


def reopen(
    *,
    coder: str,
    unit_id: str,
    codebook: Codebook,
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Take "finished" back: the unit's codes are undecided again."""
    return Act(kind="reopen", unit_id=unit_id, round=round, **stamp(coder, codebook, act_id, at))


def memo(
    *,
    coder: str,
    text: str,
    codebook: Codebook,
    target_kind: str = "unit",
    unit_id: str | None = None,
    code: str | None = None,
    start: int | None = None,
    end: int | None = None,
    memo_id: str | None = None,
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Write a memo on a unit, a span of one, a code or the study; with `memo_id`, revise that memo.

    Parameters
    ----------
    text : str
        What it says; empty, it ends the memo.
    target_kind : {"unit", "span", "code", "study"}
        What it is about: `unit_id`, that unit's code points `start` … `end` (half-open), `code`, or all.
    memo_id : str, optional
        The memo that it revises. A memo keeps its `round`.
    round : str, optional
        For the team: the others see the memo once this round is unblinded, and so what it said before it was
        revised or ended. Left out, it stays its writer's for good.

    Raises
    ------
    ActError
        What it is about is not named, a span is none, or `memo_id` is empty.

    Examples
    --------
    >>> from sense7_qual.codebook import Codebook
    >>> act = memo(coder="ana", text="Irony?", target_kind="span", unit_id="m17", start=4, end=21,
    ...            codebook=Codebook.read("sense7"))
    >>> act.target_kind, act.memo_text
    ('span', 'Irony?')
    """
    check_word("target_kind", target_kind, ("unit", "span", "code", "study"))
    is_span = target_kind == "span"
    named = {"unit": unit_id, "span": unit_id, "code": code, "study": "study"}[target_kind]
    if named is None or is_span != (start is not None or end is not None):
        given = "none" if named is None else f"{'no' if is_span else 'a'} start and end"
        raise ActError(
            f"memo: expected the {target_kind} that it is about – found {given} – name a unit as unit_id, a "
            "code as code; a span, and nothing else, has start and end, too."
        )
    if isinstance(memo_id, str) and not memo_id:  # it would become a second memo beside another
        raise ActError("memo: expected the id of a memo – found an empty memo_id – leave it out.")
    stamped = stamp(coder, codebook, act_id, at)
    return Act(
        kind="memo", target_kind=target_kind, unit_id=unit_id, code=code, start=start, end=end,
        text=SpanMemo(text=text).to_text() if is_span and text else text,
        memo_id=stamped["act_id"] if memo_id is None else memo_id, round=round, **stamped,
    )  # fmt: skip


def rule(
    *,
    coder: str,
    unit_id: str,
    code: str,
    applied: bool | None,
    codebook: Codebook,
    reason: str | None = None,
    note: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Decide, as the adjudicator `coder`, whether a code applies to a unit.

    Parameters
    ----------
    applied : bool or None
        Whether it does. None, with the reason ``different_reading`` and no other, lets the disagreement stand
        as data: there is no consensus on this unit and code (`adjudication.consensus`).
    reason : str, optional
        Why the coders disagreed, one of `REASONS`: ``slip``, ``unclear_rule``, ``ambiguous_text``,
        ``missing_code``, ``different_reading``.
    note : str, optional
        What else is to be said, in words of one's own. It may quote the participant: it is kept and erased as
        memos are (`Store.forget`).

    Raises
    ------
    CodebookError
        The codebook has no such code.
    ActError
        The code only groups others, `applied` or `reason` is none of these, or they do not go together.

    Examples
    --------
    >>> from sense7_qual.codebook import Codebook
    >>> ruling = rule(coder="lead", unit_id="m17", code="interest", applied=True, reason="slip",
    ...               codebook=Codebook.read("sense7"))
    >>> ruling.applied, ruling.reason
    (True, 'slip')
    """
    check_codable(codebook, unit_id, code)
    if not isinstance(note, str | None):
        raise ActError(
            f"ruling on unit {word(unit_id)}: expected words as note – found {type(note).__name__} – write a "
            "text, or leave it out."
        )
    check_reason(reason, applied)
    return Act(
        kind="rule", unit_id=unit_id, code=code, applied=None if applied is None else bool(applied),
        facets=None if reason is None else f"reason={reason}", text=note or None,
        **stamp(coder, codebook, act_id, at),
    )  # fmt: skip


def quote(
    *,
    coder: str,
    unit_id: str,
    code: str,
    state: str,
    codebook: Codebook,
    start: int | None = None,
    end: int | None = None,
    role: str = "shows",
    paraphrase: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Decide whether the words `start` … `end` of a unit, or all of it, are printed as a quote for a code.

    Of decisions about words of a unit that overlap, under one code, the last one stands, whoever made it: so
    a quote is shortened by deciding about fewer of its words (`Store.quotes`).

    Parameters
    ----------
    state : {"chosen", "approved", "refused"}
        Set aside for print; may be printed as it stands here, in these words; is not to be printed.
    role : {"shows", "disconfirms"}
        Whether it shows the code, or speaks against it: it looks like the code and is none, or is a case in
        which the code does not do what it usually does.
    paraphrase : str, optional
        What is printed in place of the participant's words, in words of one's own. It is kept and erased as
        memos are (`Store.forget`).

    Raises
    ------
    CodebookError
        The codebook has no such code.
    ActError
        The code only groups others, the paraphrase is blank or belongs to a quote that is refused, or a value
        is none of these.

    Examples
    --------
    >>> from sense7_qual.codebook import Codebook
    >>> quote(coder="lead", unit_id="m17", code="interest", state="approved", start=4, end=21,
    ...       codebook=Codebook.read("sense7")).facets
    'role=shows state=approved words=original'
    """
    check_arguments(quote, locals())
    check_codable(codebook, unit_id, code)
    if paraphrase is not None and not (paraphrase.strip() and state != "refused"):
        raise ActError(
            f"quote on unit {word(unit_id)}: expected as paraphrase words, for a quote that is not refused – "
            "found none of these – write them, or leave it out."
        )
    facets = quote_facets(role, state, "original" if paraphrase is None else "paraphrase")
    return Act(
        kind="quote", unit_id=unit_id, code=code, start=start, end=end, facets=facets,
        text=None if paraphrase is None else paraphrase.strip(), **stamp(coder, codebook, act_id, at),
    )  # fmt: skip


def undo(act: Act, *, codebook: Codebook, act_id: str | None = None, at: str | None = None) -> Act:
    """Take `act` back, as its own coder."""
    return _about(act, "undo", codebook, act_id, at)


def redo(act: Act, *, codebook: Codebook, act_id: str | None = None, at: str | None = None) -> Act:
    """Do `act`, which was undone, again."""
    return _about(act, "redo", codebook, act_id, at)


def _pairs(facets: Mapping[str, str]) -> str | None:
    """Return facets in the one form that is recorded, so that one coding has one hash."""
    return " ".join(f"{name}={facets[name]}" for name in sorted(facets)) or None


def stamp(coder: str, codebook: Codebook, act_id: str | None, at: str | None) -> dict[str, Any]:
    """Return who, when, under which codebook and the id of an act, made where they are not given."""
    return {
        "coder": coder,
        "codebook": check_codebook(codebook).fingerprint,
        "act_id": str(uuid.uuid4()) if act_id is None else act_id,
        "at": _now() if at is None else at,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"  # for +00:00


def _about(act: Act, kind: str, codebook: Codebook, act_id: str | None, at: str | None) -> Act:
    if not isinstance(act, Act):
        raise ActError(
            f"{kind}: expected the act itself – found {type(act).__name__} – take it from "
            "store.acts(coder=…)."
        )
    if act.traits.takes_back:
        raise ActError(
            f"{kind}: expected an act that did something – found an act of kind {act.kind!r} – "
            "name the act that it was about."
        )
    if act.traits.by == "team":
        raise ActError(
            f"{kind}: expected an act that can be taken back – found one of kind {act.kind!r} – what the "
            "team has seen stays seen; open another round, assign, revise or set options again; a theme is "
            "edited the other way, a plan amended by another."
        )
    return Act(
        kind=kind, target=act.act_id, unit_id=act.unit_id, round=act.round,
        **stamp(act.coder, codebook, act_id, at),
    )  # fmt: skip
