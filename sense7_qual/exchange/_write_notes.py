"""The notes of a project that is written, and texts as XML: what XML cannot hold is replaced and counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual.exchange import _refi

__all__ = ["Notes", "Words", "first_time", "when"]

_UNWRITABLE: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, Char
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?")
_BESIDE: Final = ("confidence", "round")


class Words:
    """Writes texts as XML."""

    def __init__(self, lost: Mapping[str, list[str]]) -> None:
        self._lost = lost

    def plain(self, text: str) -> str:
        """Return a text without the characters that XML cannot hold, each replaced by U+FFFD."""
        replaced, n = _UNWRITABLE.subn("\ufffd", text)
        self._lost["control characters, which XML cannot hold: replaced by U+FFFD"] += [""] * n
        return replaced

    def escaped(self, text: str) -> str:
        """Return a text as the content of an element."""
        return _refi.escaped(self.plain(text))

    def quoted(self, text: str) -> str:
        """Return a text as the value of an attribute, in quotes."""
        return _refi.quoted(self.plain(text))


def when(at: Any) -> str:
    """Return a time as an attribute; nothing where there is none."""
    return f' creationDateTime="{at}"' if isinstance(at, str) and _TIME.fullmatch(at) else ""


def first_time(times: Iterable[Any]) -> str:
    """Return the earliest of some times."""
    return min((at for at in times if when(at)), default="1970-01-01T00:00:00Z")


class Notes:
    """Collects the notes of a project. Each has a time: QualCoder ends its import at one without.

    `begun` is the time of those that have none of their own.
    """

    def __init__(self, words: Words, lost: Mapping[str, list[str]], begun: str) -> None:
        self._words, self._lost, self._begun = words, lost, begun
        self._memos: dict[str, str] = {}
        self._beside: dict[str, tuple[str, str, list[Any]]] = {}

    def __len__(self) -> int:
        """Return in how many ways codings say more than a code."""
        return len(self._beside)

    def xml(self) -> list[str]:
        """Return all notes."""
        beside = [
            self._note(own, name, when(first_time(times)), "", text)
            for own, (name, text, times) in self._beside.items()
        ]
        return [*self._memos.values(), *beside]

    def memo(self, memo: Mapping[str, Any]) -> str:
        """Add a memo, and return the identifier of its note."""
        own = _refi.guid("memo", memo["memo_id"])
        coder = f' creatingUser="{_refi.guid("coder", memo["coder"])}"{when(memo["at"]) or when(self._begun)}'
        stated = {} if pd.isna(memo["round"]) else {"round": memo["round"]}
        if not stated:
            self._lost["memos that were their writer's own: in the file, for whoever gets it"].append(
                memo["memo_id"]
            )
        description = _refi.labelled(_refi.MEMO, stated)
        self._memos[own] = self._note(own, f"Memo of {memo['coder']}", coder, description, memo["text"])
        return own

    def beside(self, row: Mapping[str, Any], facets: Sequence[str]) -> str:
        """Return a reference to the note on what a coding says beside its code; one note for all alike."""
        beside = {
            name: str(row[name]) for name in (*facets, *_BESIDE) if name in row and not pd.isna(row[name])
        }
        if not beside:
            return ""
        text = _refi.labelled(_refi.NOTE_ON_CODING, beside)
        own = _refi.guid("note on codings", text)
        self._beside.setdefault(own, (", ".join(beside.values()), text, []))[2].append(
            row["at"] if when(row.get("at")) else self._begun
        )
        return f'<NoteRef targetGUID="{own}"/>'

    def _note(self, own: str, name: str, attributes: str, description: str, text: str) -> str:
        described = f"<Description>{self._words.escaped(description)}</Description>" if description else ""
        content = f"{described}<PlainTextContent>{self._words.escaped(text)}</PlainTextContent>"
        return f'<Note guid="{own}" name={self._words.quoted(name)}{attributes}>{content}</Note>'
