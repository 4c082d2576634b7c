"""The lists next to a text: the memos that a coder may see, with their export, and what the coder did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from sense7_qual import acts as record
from sense7_qual.acts import Act
from sense7_qual.acts.contents import Proposal
from sense7_qual.errors import ActError, QualError
from sense7_qual.frames import MEMOS
from sense7_qual.report import tables
from sense7_qual.widgets._base import Asked, first_of
from sense7_qual.widgets._coding.session import Session
from sense7_qual.widgets._coding.study import KINDS
from sense7_qual.widgets._offsets import as_numbers, as_text, folded, on_text, utf16_units

if TYPE_CHECKING:
    from sense7_qual.report import Table

MEMOS_ON_A_PAGE: Final = 50
_IN_A_ROW: Final = 300  # characters of a memo, and of the words that it is about


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
        """Answer with the number of matching memos, and one page of them."""
        if asked.get("fresh") is True:
            self._ask_study()
        rows = self._rows()
        fitting = [row for row in rows if all(fits(row) for fits in self._asked_for(asked))]
        at = first_of(asked)
        page = [
            {name: row[name] for name in row if name != "folded"}
            for row in fitting[at : at + MEMOS_ON_A_PAGE]
        ]
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
            coder=known["coder"],
            text=known["text"],
            codebook=self._session.codebook,
            at=known["at"],
            target_kind=known["target_kind"],
            code=target if is_code else None,
            unit_id=None if is_code else target,
            start=known["start"],
            end=known["end"],
            memo_id=known["memo_id"],
            answers=known["answers"],
            round=known["round"],
        )
        return self._row(act)

    def _row(self, act: Act) -> dict[str, Any]:
        session = self._session
        place = session.find_place(act.unit_id) if act.target_kind in ("unit", "span") else None
        text = None if place is None else session.text(place)
        words = "" if text is None else text[act.start : act.end]
        row = on_text(act, text)
        return {
            **row,
            "text": shortened(row["text"], _IN_A_ROW),
            "coder": act.coder,
            "own": act.coder == session.coder,
            "at": act.at,
            "answers": act.answers,
            "unit_id": act.unit_id if act.target_kind in ("unit", "span") else None,
            "place": place,
            "words": shortened(words, _IN_A_ROW),
            "folded": folded(
                f"{row['text']}\0{words if act.target_kind == 'span' else ''}\0{act.unit_id or ''}"
            ),
        }


def shortened(text: str, longest: int) -> str:
    """Cut a text after so many characters, and show that it was cut."""
    return text if len(text) <= longest else f"{text[:longest]}…"


SCOPES: Final = ("sitting", "text", "all")
ACTS_ON_A_PAGE: Final = 60
_ON_A_LINE: Final = 120  # characters of a quote or memo that a line of the history shows


class History:
    """The acts of one coder, the newest first: of this sitting, on one text, or all.

    Undo and redo are no lines of their own: what they are about says that it was taken back.

    Attributes
    ----------
    session : Session
        Whose acts they are; what it knows already was done before this sitting.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._n_before = len(session.history)
        self.asked: Asked = {"history": self._page, "back": self._back}

    def __repr__(self) -> str:
        return f"History({len(self._session.history)} acts)"

    def _page(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return one page of the acts that are asked for, and with the first page the times of all."""
        acts = self._asked_for(asked)
        at = first_of(asked)
        seconds = [int(datetime.fromisoformat(act.at).timestamp()) for act in acts] if at == 0 else None
        return {
            "type": "history",
            "n": len(acts),
            "first": at,
            "times": None if seconds is None else as_numbers(np.array(seconds, dtype=np.uint32)),
            "rows": [self._row(act) for act in acts[at : at + ACTS_ON_A_PAGE]],
        }

    def _asked_for(self, asked: Mapping[str, Any]) -> list[Act]:
        scope = asked.get("scope")
        acts = self._session.history
        if scope == "sitting":
            return acts[self._n_before :][::-1]
        if scope == "text":
            unit_id = self._session.known_unit(asked.get("unit_id"))
            return [act for act in reversed(acts) if act.unit_id == unit_id]
        if scope != "all":
            raise ActError(f"history: expected one of {', '.join(SCOPES)} – found {str(scope)[:40]!r}.")
        return acts[::-1]

    def _row(self, act: Act) -> dict[str, Any]:
        session = self._session
        place = session.find_place(act.unit_id)
        text, start, end = "" if place is None else session.text(place), act.start, act.end
        quote = text[start:end] if start is not None else ""
        before = session.knows(str(act.moved_from))
        if start is not None and end is not None:
            start, end = utf16_units(text, start, end)
        return {
            "act_id": act.act_id,
            "kind": act.kind,
            "at": act.at,
            "unit_id": act.unit_id,
            "place": place,
            "code": act.code,
            "on": act.target_kind,
            "start": start,
            "end": end,
            "quote": shortened(quote, _ON_A_LINE),
            "found": len(session.acts_of_step(act)) if act.found_by and act.step else 0,
            "also": sum(one.moved_from is not None for one in session.acts_of_step(act)[1:]) if before else 0,
            "moved_from": shortened(text[before.start : before.end], _ON_A_LINE) if before else None,
            "facets": act.facet_values,
            "unsure": act.confidence == "unsure",
            "words": shortened(_words_of(act), _ON_A_LINE),
            "state": session.state_of(act),
            "taken_back": session.taken_back.get(act.undone_by),
        }

    def _back(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """List the acts to undo, newest first, to go back to one act."""
        acts, act_id = self._session.history, str(asked.get("act_id"))
        place = next((n for n in reversed(range(len(acts))) if acts[n].act_id == act_id), None)
        if place is None:
            raise ActError("history: expected an act of this list – found another – open the history again.")
        after = [act for act in acts[place + 1 :] if self._session.state_of(act) == "stands"]
        texts = {act.unit_id for act in after if act.unit_id is not None}
        ids = [act.act_id for act in reversed(after)]
        return {"type": "back", "act_id": act_id, "ids": ids, "n_texts": len(texts)}


def _words_of(act: Act) -> str:
    if act.traits.subject == "proposal":
        return Proposal.from_text(act.text).label if act.text else ""
    return act.memo_text if act.traits.text == "written" else ""
