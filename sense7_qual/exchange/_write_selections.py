"""The selections of a project that is written: codings, memos on words, and passages without a code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from sense7_qual.codebook import Codebook
from sense7_qual.exchange import _refi
from sense7_qual.exchange._positions import Rule, positions
from sense7_qual.exchange._study import rows_of
from sense7_qual.exchange._write_notes import Notes, Words, when

__all__ = ["Selections"]

_QUOTE: Final = 100  # characters of a quote beside a selection, as other programs note it


@dataclass(frozen=True, slots=True)
class _Selected:
    """A selection that is written; `name` is what it is called, where that is not its words."""

    start: int
    end: int
    guid: str
    coder: str
    at: Any
    inner: str
    name: str | None = None


class Selections:
    """Collects what is selected on each text."""

    def __init__(self, texts: Mapping[str, str], notes: Notes, words: Words) -> None:
        self._texts, self._notes, self._words = texts, notes, words
        self._selected: dict[str, list[_Selected]] = defaultdict(list)
        self._remarked: set[tuple[str, str, int, int]] = set()

    def add_codings(self, codings: pd.DataFrame, codes: Mapping[str, str], codebook: Codebook) -> None:
        """Add the selections of whole texts, and those of spans, with their codings."""
        facets = [facet.name for facet in codebook.facets if facet.name in codings]
        used: set[str] = set()
        for row in rows_of(codings):
            unit_id, coder = row["unit_id"], row["coder"]
            is_whole = pd.isna(row.get("start"))
            start, end = (0, len(self._texts[unit_id])) if is_whole else (int(row["start"]), int(row["end"]))
            key = (
                "\n".join(str(row[name]) for name in ("unit_id", "coder", "code"))
                + f"\n{start}\n{end}\n{is_whole}"
            )
            key += "".join(f"\n{row[name]}" for name in facets)
            act_id = "" if pd.isna(row["act_id"]) else str(row["act_id"])
            own = _refi.guid("coding", key if not act_id or act_id in used else act_id)
            used.add(act_id)
            at = row.get("at")
            coding = (
                f'<Coding guid="{own}" creatingUser="{_refi.guid("coder", coder)}"{when(at)}>'
                f'<CodeRef targetGUID="{codes[row["code"]]}"/>{self._notes.beside(row, facets)}</Coding>'
            )
            guid, name = _refi.guid("selection", key), _refi.WHOLE if is_whole else None
            self._selected[unit_id].append(_Selected(start, end, guid, coder, at, coding, name))

    def add_memos(self, memos: pd.DataFrame) -> None:
        """Add the selections that memos are on: one for all of a coder on the same words.

        Their words stand in its description, too, where QualCoder looks for them. It ends its import at a
        second selection without a code of the same words and coder.
        """
        on_span = memos[memos["target_kind"] == "span"]
        for _, rows in on_span.groupby(["target_id", "coder", "start", "end"], sort=False):
            first, words = rows.iloc[0], "\n\n".join(rows["text"])
            unit_id, place = str(first["target_id"]), (int(first["start"]), int(first["end"]))
            references = (f'<NoteRef targetGUID="{self._notes.memo(memo)}"/>' for memo in rows_of(rows))
            inner = f"<Description>{self._words.escaped(words)}</Description>{''.join(references)}"
            guid, coder = _refi.guid("memo on span", f"span {first['memo_id']}"), str(first["coder"])
            self._remarked.add((unit_id, coder, *place))
            self._selected[unit_id].append(_Selected(*place, guid, coder, first["at"], inner))

    def add_quotations(self, quotations: pd.DataFrame, lost: Mapping[str, list[str]]) -> None:
        """Add the passages without a code; a coder's memo on the same words stands for one."""
        for row in rows_of(quotations):
            unit_id, coder, start, end = row["unit_id"], row["coder"], int(row["start"]), int(row["end"])
            if (unit_id, coder, start, end) in self._remarked:
                lost["quotations of words on which their coder has a memo: the memo alone"].append(unit_id)
                continue
            guid = _refi.guid("quotation", f"{unit_id}\n{coder}\n{start}\n{end}")
            name = None if pd.isna(row["name"]) else str(row["name"])
            self._selected[unit_id].append(_Selected(start, end, guid, coder, row["at"], "", name))

    def xml(self, unit_id: str, rule: Rule) -> list[str]:
        """Return the selections of a text, its positions counted by a rule."""
        text, selected = self._texts[unit_id], self._selected.get(unit_id, [])
        at = positions(text, rule)
        lines = []
        for one in sorted(selected, key=lambda each: (each.start, each.end, each.guid)):
            quote = text[one.start : one.end]
            name = quote[:_QUOTE] + "…" * (len(quote) > _QUOTE) if one.name is None else one.name
            lines.append(
                f'<PlainTextSelection guid="{one.guid}" name={self._words.quoted(name)} '
                f'startPosition="{at[one.start]}" endPosition="{at[one.end]}" '
                f'creatingUser="{_refi.guid("coder", one.coder)}"{when(one.at)}>'
                f"{one.inner}</PlainTextSelection>"
            )
        return lines
