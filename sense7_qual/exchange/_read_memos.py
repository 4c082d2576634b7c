"""The notes of a REFI-QDA project, and comments in their place, as memos."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from xml.etree.ElementTree import Element

import pandas as pd

from sense7_qual.corpus import canonical
from sense7_qual.exchange import _refi
from sense7_qual.exchange._archive import Archive
from sense7_qual.exchange._read_units import written_text
from sense7_qual.exchange._tree import Tree, plain_guid
from sense7_qual.tables import MEMOS

__all__ = ["Memos"]


class Memos:
    """Collects the memos of one project; `coder_of` names who wrote the first of some elements."""

    def __init__(
        self, tree: Tree, archive: Archive, coder_of: Callable[..., str], lost: Mapping[str, list[str]]
    ) -> None:
        self._tree, self._archive, self._coder_of, self._lost = tree, archive, coder_of, lost
        self._notes = {plain_guid(note.get("guid")): note for note in tree.under("Notes", "Note")}
        self._used: set[str] = set()
        self._texts: dict[str, str] = {}
        self._rows: list[dict[str, Any]] = []

    @property
    def coders(self) -> set[str]:
        """Who wrote memos."""
        return {row["coder"] for row in self._rows}

    def frame(self) -> pd.DataFrame:
        """Return the memos (`tables.MEMOS`)."""
        return MEMOS.check(pd.DataFrame(self._rows, columns=list(MEMOS.columns)))

    def beside_coding(self, note_id: str) -> dict[str, str] | None:
        """Return the facets and round that a note states for a coding; None if it is a memo."""
        note = self._notes.get(note_id)
        stated = None if note is None else _refi.lines_of(self._text(note), _refi.NOTE_ON_CODING)
        if stated is not None:
            self._used.add(note_id)
        return stated

    def add(self, note_id: str, kind: str, target: str | None, span: tuple[int, int] | None) -> str:
        """Add a note as a memo, and return its words."""
        note = self._notes.get(note_id)
        if note is None:
            self._lost["memos that are referred to, and not in the file"].append(target or "study")
            return ""
        again = note_id in self._used
        self._used.add(note_id)
        text = self._text(note)
        if not text.strip():
            self._lost["memos without words"].append(target or "study")
            return ""
        stated = _refi.lines_of(_refi.description(note), _refi.MEMO)
        if stated is None and note.get("name") and not again:
            self._lost["titles of memos: not read"].append(target or "study")
        memo_id = f"{note_id} ({len(self._rows) + 1})" if again else note_id
        self._add(memo_id, kind, target, span, note, text, (stated or {}).get("round"))
        return text

    def comment(self, element: Element, kind: str, target: str, span: tuple[int, int] | None) -> bool:
        """Add a description as a memo, as some programs write comments there; return whether there is one.

        One that says what the notes on the element say is theirs, written twice.
        """
        written = self._tree.description(element)
        comment = canonical(written).strip()
        on_it = [self.add(note_id, kind, target, span) for note_id in self._tree.references(element)]
        if comment and comment != "\n\n".join(on_it).strip():
            memo_id = f"comment on {plain_guid(element.get('guid'))}"
            self._add(memo_id, kind, target, span, element, comment, None)
            self._lost["comments in place of memos: read as memos"].append(target)
        return bool(comment or on_it)

    def elsewhere(self, codes: Mapping[Element, str]) -> None:
        """Add the memos on codes and on the study, and as such those that nothing refers to."""
        for element, code in codes.items():
            for note in self._tree.references(element):
                self.add(note, "code", code, None)
        for note in self._tree.references(self._tree.root):
            self.add(note, "study", None, None)
        for note in [each for each in self._notes if each not in self._used]:
            self.add(note, "study", None, None)

    def _add(
        self, memo_id: str, kind: str, target: str | None, span: tuple[int, int] | None, element: Element,
        text: str, round: str | None,
    ) -> None:  # fmt: skip
        coder = self._coder_of(element)
        self._archive.hand_out(text, coder, target, round)
        start, end = span or (None, None)
        self._rows.append({
            "memo_id": memo_id, "target_kind": kind, "target_id": target, "coder": coder, "text": text,
            "at": element.get("creationDateTime"), "start": start, "end": end, "round": round,
        })  # fmt: skip

    def _text(self, note: Element) -> str:
        """Return the words of a note: those of its description, where it has no others."""
        own = plain_guid(note.get("guid"))
        if own not in self._texts:
            text = canonical(written_text(self._tree, self._archive, note) or "")
            labelled = _refi.lines_of(_refi.description(note), _refi.MEMO) is not None
            if labelled or not text.strip():
                described = canonical(self._tree.description(note))
                text = text if labelled else described
            self._texts[own] = text
        return self._texts[own]
