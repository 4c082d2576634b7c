"""Where a coder's words are: the passages of a code, and the results of a search in the texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sense7_qual.acts import Act
from sense7_qual.errors import ActError
from sense7_qual.widgets._base import Asked, field, first_of
from sense7_qual.widgets._coding.session import Session
from sense7_qual.widgets._coding.texts import TextList
from sense7_qual.widgets._offsets import (
    as_text,
    find_all_folded,
    folded,
    shown_coding,
    utf16_units,
)

PASSAGES_ON_A_PAGE: Final = 60
_AROUND: Final = 30  # characters of the text on either side of a passage
_LONGEST: Final = 120  # characters of a passage, and of a text that is coded as a whole
_MOST_TEXTS: Final = 2000

Span = tuple[int, int]


class Finding:
    """What the list of a code's passages and a search in the texts ask of one coder's session.

    Attributes
    ----------
    session : Session
        Whose codings and texts they are: nobody else's codings are in it.
    texts : TextList
        The list of texts, which knows what a search chooses.
    """

    def __init__(self, session: Session, texts: TextList) -> None:
        self._session, self._texts = session, texts
        self.asked: Asked = {"passages": self._passages, "hits": self._hits, "all_hits": self._all_hits}

    def __repr__(self) -> str:
        return f"Finding({self._session.coder!r})"

    def _passages(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Answer with one page of the coder's passages of a code, newest first."""
        code, wanted = field(asked, "code", str), _wanted(asked)
        marks = self._session.marks.items()
        every = [(act, place) for place, mark in marks for act in mark.codings if act.code == code]
        every.sort(key=lambda one: one[0].at, reverse=True)
        fitting = [one for one in every if not wanted or wanted in folded("".join(self._around(*one)))]
        at = first_of(asked)
        rows = [self._passage(*one) for one in fitting[at : at + PASSAGES_ON_A_PAGE]]
        return {
            "type": "passages",
            "code": code,
            "n": len(fitting),
            "n_all": len(every),
            "first": at,
            "rows": rows,
        }

    def _passage(self, act: Act, place: int) -> dict[str, Any]:
        session = self._session
        return {
            **shown_coding(act, session.text(place), session.codebook),
            "place": place,
            "unit_id": session.unit_ids[place],
            "words": self._around(act, place),
        }

    def _around(self, act: Act, place: int) -> list[str]:
        """Return the coded words, cut where they are long, between what stands before and after them."""
        text = self._session.text(place)
        start, end = (0, len(text)) if act.start is None or act.end is None else (act.start, act.end)
        first, last = max(0, start - _AROUND), min(end, start + _LONGEST)
        before, after = text[first:start], text[end : end + _AROUND]
        if first and " " in before:  # no word is cut
            before = before[before.index(" ") + 1 :]
        if end + _AROUND < len(text) and " " in after:
            after = after[: after.rindex(" ")]
        more = after + "…" * (end + _AROUND < len(text)) if last == end else "…"
        return ["…" * (first > 0) + before, text[start:last], more]

    def _hits(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Answer with the hits in one text, and the nearest ones in the listed texts before and after it."""
        place, wanted = self._session.check_place(asked.get("place")), _wanted(asked)
        before, after = self._texts.beside(asked, place)
        return {
            "type": "hits",
            "place": place,
            "spans": self._spans(place, wanted),
            "before": self._nearest(before[::-1], wanted, -1),
            "after": self._nearest(after, wanted, 0),
        }

    def _spans(self, place: int, wanted: str) -> list[Span]:
        text = self._session.text(place)
        return [utf16_units(text, start, end) for start, end in find_all_folded(text, wanted)]

    def _nearest(self, places: Iterable[int], wanted: str, which: int) -> dict[str, Any] | None:
        for place in map(int, places):
            spans = self._spans(place, wanted)
            if spans:
                return {"place": place, "span": spans[which]}
        return None

    def _all_hits(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Answer with all listed texts that have a hit, and with what is coded there."""
        wanted = _wanted(asked)
        spans = {place: self._spans(place, wanted) for place in self._texts.chosen(asked)}
        found = {place: hits for place, hits in spans.items() if hits}
        if len(found) > _MOST_TEXTS:
            raise ActError(
                f"Too many to code at once: {len(found):,} texts have these words – the limit is "
                f"{_MOST_TEXTS:,} – choose fewer texts with the filters."
            )
        return {"type": "all_hits", "rows": [self._found(place, hits) for place, hits in found.items()]}

    def _found(self, place: int, spans: list[Span]) -> dict[str, Any]:
        unit = self._session.unit(place)
        shown = {name: unit[name] for name in ("place", "unit_id", "text", "finished", "codings")}
        return {**shown, "spans": spans}


def _wanted(asked: Mapping[str, Any]) -> str:
    return folded(as_text(asked.get("find"))[:200]).strip()
