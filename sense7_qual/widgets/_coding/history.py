"""What a coder did, as the coding widget lists it, and what going back to one act would take back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sense7_qual.acts import Act
from sense7_qual.acts.contents import Proposal
from sense7_qual.errors import ActError
from sense7_qual.widgets._coding.texts import as_numbers
from sense7_qual.widgets._desk import Asked, first_of
from sense7_qual.widgets._offsets import utf16_units

if TYPE_CHECKING:
    from sense7_qual.widgets._coding.session import Session

__all__ = ["History"]

SCOPES: Final = ("sitting", "text", "all")
PAGE: Final = 60
_LONGEST: Final = 120  # characters of a quote or memo that a line shows


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
            "rows": [self._row(act) for act in acts[at : at + PAGE]],
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
            "quote": _shortened(quote),
            "facets": act.facet_values,
            "unsure": act.confidence == "unsure",
            "words": _shortened(_words(act)),
            "state": session.state_of(act),
            "taken_back": session.taken_back.get(act.act_id),
        }

    def _back(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return what would be taken back, the newest first, so that one act is the last that stands."""
        acts, act_id = self._session.history, str(asked.get("act_id"))
        place = next((n for n in reversed(range(len(acts))) if acts[n].act_id == act_id), None)
        if place is None:
            raise ActError("history: expected an act of this list – found another – open the history again.")
        after = [act for act in acts[place + 1 :] if self._session.state_of(act) == "stands"]
        texts = {act.unit_id for act in after if act.unit_id is not None}
        ids = [act.act_id for act in reversed(after)]
        return {"type": "back", "act_id": act_id, "ids": ids, "n_texts": len(texts)}


def _words(act: Act) -> str:
    if act.traits.subject == "proposal":
        return Proposal.from_text(act.text).label if act.text else ""
    return act.memo_text if act.traits.text == "written" else ""


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
