"""Acts: the deeds that the record is made of, and the fold that turns them into frames.

An `Act` is one recorded deed of one person. Acts are only ever added; what stands now (codings, coverage,
memos, rulings) is computed from them by `fold`. Undoing is an act too, so nothing is lost by it.

========== ===================================================================================
kind       deed
========== ===================================================================================
apply      a code is put on a unit or a span of it (again: replaces its valence and confidence)
remove     that coding is taken away, also where its code is gone from the codebook
finish     the coder has decided on the unit; every code not applied is thereby coded absent
reopen     the coder takes "finished" back
memo       a note on a unit, a code or the study (again with its `memo_id`: replaces it; empty: ends it)
rule       an adjudicator decides whether a code applies to a unit
undo       the act `target` is taken back
redo       the act `target` is done again, in its old place: what was done later stays done
open_round the lead opens a round: its units, coders and codebook (`rounds.open_round`)
unblind    the lead lets the coders see each other's acts of a round; it cannot be undone
revise     the lead changes the codebook of the study (`Store.revise`)
========== ===================================================================================
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual.act_values import (
    RESERVED_CODERS,
    check_codable,
    check_codebook,
    check_coder,
    check_word,
    is_name,
    whole,
)
from sense7_qual.codebook import VALENCES, Codebook
from sense7_qual.errors import ActError, word
from sense7_qual.tables import CODINGS, COVERAGE, MEMOS, Contract

__all__ = [
    "CONFIDENCES",
    "KINDS",
    "LEAD_KINDS",
    "RESERVED_CODERS",
    "Act",
    "Record",
    "apply",
    "check_coder",
    "finish",
    "fold",
    "memo",
    "redo",
    "remove",
    "reopen",
    "rule",
    "stamp",
    "standing",
    "undo",
]

LEAD_KINDS: Final = ("open_round", "unblind", "revise")
"""What the lead does for the whole team: seen by everybody at once, and never undone."""

KINDS: Final = ("apply", "remove", "finish", "reopen", "memo", "rule", "undo", "redo", *LEAD_KINDS)
CONFIDENCES: Final = ("sure", "unsure")

_ACT_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One recorded deed of one person.

    Made by `apply`, `remove`, `finish`, `reopen`, `memo`, `rule`, `undo` and `redo`, which say what each
    kind needs. The repr leaves `text` out, because it holds participants' words.

    Parameters
    ----------
    act_id : str
        A UUID made where the deed was done, so that sending it twice changes nothing.
    kind : str
        One of `KINDS`.
    coder : str
        The pseudonym of the person (or the name of the model) whose deed it is.
    at : str
        When, in UTC, as ISO 8601 with milliseconds.
    codebook : str
        The fingerprint of the codebook that the person had before them.
    unit_id, code : str, optional
        What the deed is about.
    start, end : int, optional
        The span in Unicode code points, half-open; both missing for the whole unit.
    valence, confidence, round : str, optional
        Facets of a coding; the round of coding it belongs to.
    applied : bool, optional
        The verdict of a ruling.
    target : str, optional
        The act that is undone or done again.
    target_kind, memo_id : str, optional
        What a memo is about, and which memo it revises.
    text : str, optional
        The memo, the quote of a span, or what a round or a revision consists of. Kept apart from the act in
        the store.

    Raises
    ------
    ActError
        A value is not of the form above.
    """

    act_id: str
    kind: str
    coder: str
    at: str
    codebook: str
    unit_id: str | None = None
    code: str | None = None
    start: int | None = None
    end: int | None = None
    valence: str | None = None
    confidence: str | None = None
    round: str | None = None
    applied: bool | None = None
    target: str | None = None
    target_kind: str | None = None
    memo_id: str | None = None
    text: str | None = None

    def __post_init__(self) -> None:
        check_coder(self.coder)
        check_word("kind", self.kind, KINDS)
        if self.valence is not None:
            check_word("valence", self.valence, VALENCES)
        if self.confidence is not None:
            check_word("confidence", self.confidence, CONFIDENCES)
        if not isinstance(self.act_id, str) or not _ACT_ID.fullmatch(self.act_id):
            raise ActError(
                f"act: expected a lower-case UUID as act_id – found {word(self.act_id)} – leave act_id "
                "out to have one made."
            )
        if self.round is not None and not is_name(self.round):
            raise ActError(
                "act: expected the name of a round – found one that is empty, no text, has a space at an "
                "end or a control character – write it as the lead opened it, or leave it out."
            )
        self._check_span()
        for name in _NEEDS[self.kind]:
            if getattr(self, name) is None:
                raise ActError(f"act: expected {name} for kind {self.kind!r} – found none – name it.")

    def _check_span(self) -> None:
        if self.start is None and self.end is None:
            return
        for name in ("start", "end"):
            if type(getattr(self, name)) not in (int, type(None)):  # a frame's integers are NumPy's
                object.__setattr__(self, name, whole(getattr(self, name), name))
        if self.start is None or self.end is None or not 0 <= self.start < self.end:
            raise ActError(
                f"act on unit {word(self.unit_id)}: expected a span with 0 ≤ start < end – found start "
                f"{self.start}, end {self.end} – count code points, half-open, or leave both out for the "
                "whole unit."
            )

    def __repr__(self) -> str:
        shown = ("kind", "coder", "unit_id", "code", "start", "end", "at", "act_id")
        parts = (f"{name}={getattr(self, name)!r}" for name in shown if getattr(self, name) is not None)
        return f"Act({', '.join(parts)})"


_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "apply": ("unit_id", "code"),
    "remove": ("unit_id", "code"),
    "finish": ("unit_id",),
    "reopen": ("unit_id",),
    "memo": ("target_kind", "memo_id", "text"),
    "rule": ("unit_id", "code", "applied"),
    "undo": ("target",),
    "redo": ("target",),
    "open_round": ("round", "text"),
    "unblind": ("round",),
    "revise": ("text",),
}


@dataclass(frozen=True, slots=True)
class Record:
    """What stands after all acts: the frames `codings`, `coverage` and `memos` (see `tables`)."""

    codings: pd.DataFrame
    coverage: pd.DataFrame
    memos: pd.DataFrame

    def __repr__(self) -> str:
        return f"Record({len(self.codings)} codings, {len(self.coverage)} finished, {len(self.memos)} memos)"


def apply(
    *,
    coder: str,
    unit_id: str,
    code: str,
    codebook: Codebook,
    start: int | None = None,
    end: int | None = None,
    valence: str | None = None,
    confidence: str | None = None,
    round: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Apply a code to a unit, or to its code points `start` … `end` (half-open).

    Raises
    ------
    CodebookError
        The codebook has no such code.
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
    if valence is not None and valence not in codebook.valence:
        raise ActError(
            f"act on unit {word(unit_id)}: expected valence out of {', '.join(codebook.valence) or 'none'} – "
            f"found {word(valence)} – use one that the codebook has, or leave it out."
        )
    return Act(
        kind="apply", unit_id=unit_id, code=code, start=start, end=end, valence=valence,
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
    """Say that the coder has decided on the unit: codes not applied to it are coded absent."""
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
    memo_id: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Write a memo on a unit, a code or the study (`target_kind`); with `memo_id`, revise that memo.

    An empty `text` ends the memo.
    """
    check_word("target_kind", target_kind, ("unit", "code", "study"))
    named = {"unit": unit_id, "code": code, "study": "study"}[target_kind]
    if named is None:
        raise ActError(
            f"memo: expected the {target_kind} that it is about – found none – name it as "
            f"{'unit_id' if target_kind == 'unit' else 'code'}."
        )
    if memo_id == "":  # it would become a second memo beside the one that was meant
        raise ActError("memo: expected the id of a memo – found an empty memo_id – leave it out.")
    stamped = stamp(coder, codebook, act_id, at)
    return Act(
        kind="memo", target_kind=target_kind, unit_id=unit_id, code=code, text=text,
        memo_id=stamped["act_id"] if memo_id is None else memo_id, **stamped,
    )  # fmt: skip


def rule(
    *,
    coder: str,
    unit_id: str,
    code: str,
    applied: bool,
    codebook: Codebook,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Decide, as the adjudicator `coder`, whether a code applies to a unit (`applied`: True or False)."""
    check_codable(codebook, unit_id, code)
    if not isinstance(applied, bool | np.bool_):  # the word "False" would be true
        raise ActError(
            f"ruling on unit {word(unit_id)}: expected applied to be True or False – found "
            f"{type(applied).__name__} – say which."
        )
    return Act(
        kind="rule", unit_id=unit_id, code=code, applied=bool(applied), **stamp(coder, codebook, act_id, at)
    )


def undo(act: Act, *, codebook: Codebook, act_id: str | None = None, at: str | None = None) -> Act:
    """Take `act` back, as its own coder."""
    return _about(act, "undo", codebook, act_id, at)


def redo(act: Act, *, codebook: Codebook, act_id: str | None = None, at: str | None = None) -> Act:
    """Do `act`, which was undone, again."""
    return _about(act, "redo", codebook, act_id, at)


def standing(acts: Iterable[Act]) -> list[Act]:
    """Return the acts that stand now: every coding, finished unit, memo and ruling by its last act.

    Each coder's acts must come in the order in which they were done; the order between coders does not
    matter. An act that was undone counts as never done, until it is done again: then it counts in its old
    place. An act that comes again (by its act_id) changes nothing.
    """
    order = _each_once(acts)
    undone: set[tuple[str, str]] = set()
    for act in order:
        if act.kind == "undo":
            undone.add((act.coder, str(act.target)))
        elif act.kind == "redo":
            undone.discard((act.coder, str(act.target)))
    now: dict[tuple[object, ...], Act] = {}
    for act in order:
        if act.kind in ("undo", "redo") or (act.coder, act.act_id) in undone:
            continue
        key, stays = _effect(act)
        if stays:
            now[key] = act  # in the place where it first came: a changed valence moves nothing on screen
        else:
            now.pop(key, None)
    return list(now.values())


def fold(acts: Iterable[Act]) -> Record:
    """Return what stands after `acts`, as frames.

    The same acts always give the same frames; acts of different coders never touch each other.

    Examples
    --------
    >>> from sense7_qual.codebook import Codebook
    >>> sense7 = Codebook.read("sense7")
    >>> fold([apply(coder="ana", unit_id="m17", code="interest", codebook=sense7),
    ...       finish(coder="ana", unit_id="m17", codebook=sense7)])
    Record(1 codings, 1 finished, 0 memos)
    """
    now = standing(acts)
    kinds: dict[str, list[Act]] = {"apply": [], "finish": [], "memo": []}
    for act in now:
        if act.kind in kinds:
            kinds[act.kind].append(act)
    del now
    codings, coverage, memos = (
        _frame(kinds.pop(kind), contract)
        for kind, contract in (("apply", CODINGS), ("finish", COVERAGE), ("memo", MEMOS))
    )
    return Record(codings, coverage, memos)


def _each_once(acts: Iterable[Act]) -> list[Act]:
    order = list(acts)
    try:
        if len({act.act_id for act in order}) == len(order):
            return order  # without a table of a million pairs
        return list({(act.coder, act.act_id): act for act in order}.values())
    except (AttributeError, TypeError):
        raise ActError(
            f"fold: expected acts – found {type(acts).__name__} that holds others – pass store.acts()."
        ) from None


def _effect(act: Act) -> tuple[tuple[object, ...], bool]:
    """Return what the act decides about, and whether something stands there after it."""
    if act.kind in ("apply", "remove"):
        coding = ("coding", act.coder, act.unit_id, act.code, act.start, act.end, act.round)
        return coding, act.kind == "apply"
    if act.kind in ("finish", "reopen"):
        return ("coverage", act.coder, act.unit_id, act.round), act.kind == "finish"
    if act.kind == "memo":
        return ("memo", act.coder, act.memo_id), bool(act.text)
    if act.kind == "rule":
        return ("ruling", act.coder, act.unit_id, act.code), True
    return (act.kind, act.act_id), True


def _frame(acts: Sequence[Act], contract: Contract) -> pd.DataFrame:
    if not acts:
        return contract.empty()
    kinds = contract.empty().dtypes
    # A column at a time: a row at a time would hold a million rows twice.
    return pd.DataFrame(
        {name: pd.array(list(map(_COLUMNS.get(name) or attrgetter(name), acts)), dtype=kinds[name])
         for name in contract.columns}
    )  # fmt: skip


def _about_what(memo: Act) -> str | None:
    return memo.code if memo.target_kind == "code" else memo.unit_id


_COLUMNS: Final[Mapping[str, Callable[[Act], object]]] = {
    "finished_at": attrgetter("at"),
    "target_id": _about_what,
}
"""The columns that are not called as what they come from."""


def stamp(coder: str, codebook: Codebook, act_id: str | None, at: str | None) -> dict[str, Any]:
    """Return who, when, under which codebook and the id of an act, made where they are not given."""
    return {
        "coder": coder,
        "codebook": check_codebook(codebook).fingerprint,
        "act_id": str(uuid.uuid4()) if act_id is None else act_id,
        "at": _now() if at is None else at,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _about(act: Act, kind: str, codebook: Codebook, act_id: str | None, at: str | None) -> Act:
    if not isinstance(act, Act):
        raise ActError(
            f"{kind}: expected the act itself – found {type(act).__name__} – take it from "
            "store.acts(coder=…)."
        )
    if act.kind in ("undo", "redo"):
        raise ActError(
            f"{kind}: expected an act that did something – found an act of kind {act.kind!r} – "
            "name the act that it was about."
        )
    if act.kind in LEAD_KINDS:
        raise ActError(
            f"{kind}: expected an act that can be taken back – found one of kind {act.kind!r} – what the "
            "team has seen stays seen; open another round, or revise the codebook again."
        )
    return Act(
        kind=kind, target=act.act_id, unit_id=act.unit_id, round=act.round,
        **stamp(act.coder, codebook, act_id, at),
    )  # fmt: skip
