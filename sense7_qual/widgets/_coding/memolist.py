"""The list of the memos that a coder may see, in the coding widget, and its export."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from sense7_qual import acts as record
from sense7_qual.acts import Act
from sense7_qual.errors import ActError, QualError
from sense7_qual.frames import MEMOS
from sense7_qual.report import Table, tables
from sense7_qual.widgets._coding.memo import KINDS, on_text
from sense7_qual.widgets._desk import Asked, first_of
from sense7_qual.widgets._offsets import as_text, folded

if TYPE_CHECKING:
    from sense7_qual.widgets._coding.session import Session

__all__ = ["MemoList"]

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
        self.asked: Asked = {"memos": self._page}

    def __repr__(self) -> str:
        return f"MemoList({self._session.coder!r})"

    def table(self) -> Table:
        """Return all of them as a table, the newest first."""
        self._ask_study()
        own = record.fold(self._session.memos).memos
        both = pd.concat([own, self._of_others], ignore_index=True).astype(MEMOS.empty().dtypes)
        units = getattr(self._study, "units", self._units)
        return tables.memo(both, units, codebook=self._session.codebook)

    def _page(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return how many memos fit what a browser asks for, and one page of them."""
        if asked.get("fresh") is True:
            self._ask_study()
        rows = self._rows()
        fitting = [row for row in rows if all(fits(row) for fits in self._asked_for(asked))]
        at = first_of(asked)
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
