"""Memos in the coding widget: the act that a browser asks for, the list, and its export."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

import pandas as pd

from sense7_qual import acts as record
from sense7_qual._messages import did_you_mean
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, QualError
from sense7_qual.report import Table, memo_table
from sense7_qual.tables import MEMOS
from sense7_qual.widgets._folded import folded
from sense7_qual.widgets._shown import utf16_units

if TYPE_CHECKING:
    from sense7_qual.widgets._session import Session

__all__ = ["KINDS", "MemoList", "as_text", "free_memos", "memo_act", "on_text"]

PAGE: Final = 50
_LONGEST: Final = 300  # characters of a memo, and of the words that it is about, that a row of the list shows


class MemoList:
    """The memos that one coder may see: all of theirs, and the team's of rounds that are unblinded.

    Attributes
    ----------
    session : Session
        Whose memos they are.
    study : object
        The study, whose `memos(viewer=…)` are the team's; None where there is none to ask.
    units : DataFrame
        The texts that are coded here.
    """

    def __init__(self, session: Session, study: Any, units: pd.DataFrame) -> None:
        self._session = session
        self._study = study
        self._units = units
        self._of_others = MEMOS.empty()
        self._cached: tuple[int, list[dict[str, Any]]] = (-1, [])

    def __repr__(self) -> str:
        return f"MemoList({self._session.coder!r})"

    def table(self) -> Table:
        """Return all of them as a table, the newest first."""
        self._ask_study()
        own = record.fold(self._session.memos).memos
        both = pd.concat([own, self._of_others], ignore_index=True).astype(MEMOS.empty().dtypes)
        units = getattr(self._study, "units", self._units)
        return memo_table(both, units, codebook=self._session.codebook)

    def answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return how many memos fit what a browser asks for, and one page of them."""
        if asked.get("fresh") is True:
            self._ask_study()
        rows = self._rows()
        fitting = [row for row in rows if all(fits(row) for fits in self._asked_for(asked))]
        first = asked.get("first")
        at = first if type(first) is int and first > 0 else 0
        page = [{name: row[name] for name in row if name != "folded"} for row in fitting[at : at + PAGE]]
        return {"type": "memos", "n": len(fitting), "n_all": len(rows), "first": at, "rows": page}

    def _ask_study(self) -> None:
        if not hasattr(self._study, "memos"):
            return
        self._cached = (-1, [])
        with suppress(QualError):  # another coder's damaged acts: told of where the study is read
            frame: pd.DataFrame = self._study.memos(viewer=self._session.coder)
            self._of_others = frame[frame["coder"] != self._session.coder]

    def _asked_for(self, asked: Mapping[str, Any]) -> list[Callable[[Mapping[str, Any]], bool]]:
        wanted, on, code = (
            folded(as_text(asked.get("find"))[:200]).strip(),
            asked.get("on"),
            asked.get("code"),
        )
        if on not in (None, "", *KINDS):
            raise ActError(f"memos: expected one of {', '.join(KINDS)} – found {str(on)[:40]!r}.")
        tests: list[Callable[[Mapping[str, Any]], bool]] = []
        if on:
            tests.append(lambda row: row["on"] == on)
        if code:
            tests.append(lambda row: row["code"] == code or self._bears(row, str(code)))
        if wanted:
            tests.append(lambda row: wanted in row["folded"])
        return tests

    def _bears(self, row: Mapping[str, Any], code: str) -> bool:
        """Return True if the coder put the code on the words that the memo is about, or on some of them."""
        if row["place"] is None:
            return False
        start, end = row["start"], row["end"]
        return any(
            coding["code"] == code
            and (
                start is None or coding["start"] is None or (coding["start"] < end and start < coding["end"])
            )
            for coding in self._session.unit(row["place"])["codings"]
        )

    def _rows(self) -> list[dict[str, Any]]:
        """Return a row for each memo, the newest first; made anew where something was recorded since."""
        session = self._session
        if self._cached[0] != session.n_acts:
            own = [(act.at, self._row(act)) for act in record.standing(session.memos)]
            others = [(row["at"], self._row_of(row)) for row in self._of_others.to_dict("records")]
            oldest = sorted([*own, *others], key=lambda dated: dated[0])
            self._cached = (session.n_acts, [row for _, row in reversed(oldest)])
        return self._cached[1]

    def _row_of(self, memo: Mapping[Any, Any]) -> dict[str, Any]:
        """Return the row of a colleague's memo."""
        known: dict[str, Any] = {name: None if pd.isna(value) else value for name, value in memo.items()}
        target, is_code = known["target_id"], known["target_kind"] == "code"
        act = record.memo(
            coder=known["coder"], text=known["text"], codebook=self._session.codebook, at=known["at"],
            target_kind=known["target_kind"], code=target if is_code else None,
            unit_id=None if is_code else target, start=known["start"], end=known["end"],
            memo_id=known["memo_id"], round=known["round"],
        )  # fmt: skip
        return self._row(act)

    def _row(self, act: Act) -> dict[str, Any]:
        session = self._session
        place = session.find_place(act.unit_id) if act.target_kind in ("unit", "span") else None
        text = None if place is None else session.text(place)
        words = "" if text is None else text[act.start : act.end]
        row = on_text(act, text)
        return {
            **row,
            "text": _shortened(row["text"]),
            "coder": act.coder,
            "own": act.coder == session.coder,
            "at": act.at,
            "unit_id": act.unit_id if act.target_kind in ("unit", "span") else None,
            "place": place,
            "words": _shortened(words),
            "folded": folded(
                f"{row['text']}\0{words if act.target_kind == 'span' else ''}\0{act.unit_id or ''}"
            ),
        }


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


KINDS: Final = ("unit", "span", "code", "study")


class Writer(Protocol):
    """What is asked of the session in which a memo is written."""

    coder: str
    codebook: Codebook
    round: str | None

    def known_unit(self, unit_id: object) -> str:
        """Return the id of one of the units."""

    def span(self, message: Mapping[str, Any], unit_id: str) -> dict[str, int]:
        """Return start and end of the span that the browser names."""

    def first_of_memo(self, memo_id: object) -> Act | None:
        """Return the act with which a memo was first written."""


def as_text(text: object) -> str:
    """Return a text that was typed; half of an emoji, which a text field can hold, becomes U+FFFD."""
    if not isinstance(text, str | None):
        raise ActError(f"act: expected text as memo – found {type(text).__name__} – write it again.")
    return (text or "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def memo_act(session: Writer, message: Mapping[str, Any], common: Mapping[str, Any]) -> Act:
    """Return the memo that the browser asks for: on the text, a span of it, a code or the study."""
    kind = message.get("target_kind") or "unit"
    if kind not in KINDS:
        raise ActError(
            f"memo: expected it on one of {', '.join(KINDS)} – found {str(kind)[:40]!r} – "
            f"{did_you_mean(str(kind), KINDS)}"
        )
    about: dict[str, Any] = {"target_kind": kind}
    if kind in ("unit", "span"):
        about["unit_id"] = session.known_unit(message.get("unit_id"))
    if kind == "span":
        about |= session.span(message, about["unit_id"])
    if kind == "code":
        about["code"] = session.codebook[str(message.get("code"))].id
    memo_id = message.get("memo_id")
    before = _revised(session, memo_id, about)
    round = before.round if before is not None else session.round if message.get("team") is True else None
    if before is None and message.get("team") is True and round is None:
        raise ActError(
            "memo: expected a round that is coded, whose unblinding lets the team see it – found none – "
            "write it for yourself, or open the widget for a round: CodingWidget(…, round=…)."
        )
    return record.memo(
        **common,
        coder=session.coder,
        text=as_text(message.get("text")),
        **about,
        memo_id=memo_id,
        round=round,
    )


def _revised(session: Writer, memo_id: object, about: Mapping[str, Any]) -> Act | None:
    """Return the first act of the memo that is revised, never one on something else; None for a new memo."""
    before = None if memo_id is None else session.first_of_memo(memo_id)
    is_other = before is not None and any(getattr(before, name) != value for name, value in about.items())
    if is_other or not isinstance(memo_id, str | None):
        raise ActError(
            f"memo: expected a memo of one's own on the same thing – found {str(memo_id)[:40]!r} – write a "
            "new one."
        )
    return before


def on_text(act: Act, text: str | None) -> dict[str, Any]:
    """Return what the browser needs to show and to revise a memo; its span in UTF-16 code units of `text`."""
    start, end = act.start, act.end
    if text is not None and start is not None and end is not None:
        start, end = utf16_units(text, start, end)
    return {
        "memo_id": act.memo_id,
        "on": act.target_kind,
        "code": act.code if act.target_kind == "code" else None,
        "start": start,
        "end": end,
        "text": act.memo_text,
        "team": act.round is not None,
    }


def free_memos(acts: Sequence[Act]) -> list[dict[str, Any]]:
    """Return the memos on codes and on the study that stand after `acts`."""
    return [on_text(act, None) for act in record.standing(acts) if act.kind == "memo"]
