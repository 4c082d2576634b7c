"""What a coder's record says of each text, and what a copy of a coding sheet changes in it.

A sheet may have copies that are filled in apart, and may be filled in further after it was read. So a reading
has three sides: the row that the copy has now, the row as it was written or last read, and the record.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sense7_qual.acts import Act, apply, finish, memo, remove, reopen, standing
from sense7_qual.codings import stale
from sense7_qual.exchange._export import NO_CELL


def cell_text(text: str) -> str:
    """Return a text as a cell of a workbook gives it back."""
    return NO_CELL.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n")


def hash_of(text: str) -> str:
    """Hash a text as a cell holds it, to notice a change."""
    return hashlib.sha256(cell_text(text).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True, repr=False)
class Row:
    """What a coder says of one text."""

    codes: frozenset[str]
    unsure: bool
    memo: str
    finished: bool


@dataclass(frozen=True, slots=True, repr=False)
class Base:
    """A row as the sheet was written, or as a reading of it last recorded."""

    codes: frozenset[str]
    unsure: bool
    memo_hash: str
    finished: bool

    @classmethod
    def of(cls, row: Row) -> Base:
        """Return a row as it is now."""
        return cls(row.codes, row.unsure, hash_of(row.memo), row.finished)


def merged(base: Base, sheet: Row, record: Row) -> Row:
    """Return the record of a text with what a copy of a sheet changed in it since `base`.

    Where the copy finished the text, its blanks say that codes are absent; in any other row each mark counts
    by itself.
    """
    decides = sheet.finished and (sheet.codes, sheet.finished) != (base.codes, base.finished)
    marked, cleared = sheet.codes - base.codes, base.codes - sheet.codes
    return Row(
        codes=sheet.codes if decides else (record.codes | marked) - cleared,
        unsure=record.unsure if sheet.unsure == base.unsure else sheet.unsure,
        memo=record.memo if hash_of(sheet.memo) == base.memo_hash else sheet.memo,
        finished=record.finished if sheet.finished == base.finished else sheet.finished,
    )


def taken_back(record: Row, row: Row) -> list[str]:
    """Name what of the record of a text would be lost if it were `row`.

    In a finished text a code without a mark is decided as well, so a new mark takes that back.
    """
    lost = {
        "marks": record.codes - row.codes,
        "codes decided as absent": record.finished and row.codes - record.codes,
        "“finished”": record.finished and not row.finished,
        "memos": record.memo not in row.memo,
        "“unsure”": record.unsure and not row.unsure and row.codes & record.codes,
    }
    return [name for name, is_lost in lost.items() if is_lost]


class Own:
    """The standing acts of one coder in a round, by text."""

    def __init__(self, store: Any, coder: str, round: str | None) -> None:
        self.coder, self.round, self.codebook = coder, round, store.codebook
        self.acts: list[Act] = store.acts(coder=coder)
        self.texts = dict(zip(store.units["unit_id"], store.units["text"], strict=True))
        self._now: dict[tuple[str, str], list[Act]] = {}
        for act in standing(self.acts):
            if act.unit_id and (act.round == round or act.traits.subject == "memo"):
                self._now.setdefault((act.unit_id, act.traits.subject), []).append(act)
        frames = {"codings": store.codings(coder=coder), "coverage": store.coverage(coder=coder)}
        open_still = stale(**frames, codebook=self.codebook, revisions=store.revisions, round=round)
        self._to_review = set(open_still["unit_id"])

    def row(self, unit_id: str) -> Row:
        """Return the coder's present work on a text."""
        codings, written = self._codings(unit_id), self._memo(unit_id)
        return Row(
            codes=frozenset(str(act.code) for act in codings),
            unsure=any(act.confidence == "unsure" for act in codings),
            memo=cell_text(written.memo_text or "") if written else "",
            finished=(unit_id, "coverage") in self._now and unit_id not in self._to_review,
        )

    def _codings(self, unit_id: str) -> list[Act]:
        shown = {code.id for code in self.codebook.codable}
        return [act for act in self._now.get((unit_id, "coding"), ()) if act.code in shown]

    def _memo(self, unit_id: str) -> Act | None:
        memos = self._now.get((unit_id, "memo"), ())
        return next(
            (act for act in memos if act.target_kind == "unit" and act.round in (None, self.round)), None
        )

    def bases(self, written: Mapping[str, Base], token: str) -> dict[str, Base]:
        """Return each row of a sheet as it was written, with what readings of the sheet recorded since."""
        read_at = {
            act.at
            for act in self.acts
            if act.target_kind == "study" and f"({token})" in (act.memo_text or "")
        }
        bases = dict(written)
        for act in self.acts:
            if act.at in read_at and act.unit_id in bases:
                bases[act.unit_id] = _after(bases[act.unit_id], act)
        return bases

    def acts_to(self, unit_id: str, row: Row, *, at: str) -> list[Act]:
        """Return the acts that lead from the record of a text to a row of a sheet."""
        before, codings = self.row(unit_id), self._codings(unit_id)
        mine: dict[str, Any] = {"coder": self.coder, "unit_id": unit_id, "codebook": self.codebook, "at": at}
        here = mine | {"round": self.round}
        unsure = "unsure" if row.unsure else None
        acts = [
            remove(**here, code=str(act.code), start=act.start, end=act.end)
            for act in codings
            if act.code not in row.codes
        ]
        if row.unsure != before.unsure:
            still_marked = [act for act in codings if act.code in row.codes]
            acts += [
                apply(
                    **here,
                    code=str(act.code),
                    start=act.start,
                    end=act.end,
                    confidence=unsure,
                    facets=act.facet_values or None,
                )
                for act in still_marked
            ]
        new = [code.id for code in self.codebook.codable if code.id in row.codes - before.codes]
        acts += [apply(**here, code=code, confidence=unsure) for code in new]
        if row.memo != before.memo:
            old = self._memo(unit_id)
            memo_id, its_round = (old.memo_id, old.round) if old else (None, None)
            acts.append(memo(**mine, text=row.memo, memo_id=memo_id, round=its_round))
        if row.finished != before.finished:
            acts.append((finish if row.finished else reopen)(**here))
        return acts

    def note(self, text: str, at: str | None = None) -> Act:
        """Return a memo on the study."""
        return memo(
            coder=self.coder, text=text, codebook=self.codebook, target_kind="study", round=self.round, at=at
        )


def _after(base: Base, act: Act) -> Base:
    """Return a row after one act that a reading of its sheet recorded."""
    code, unsure = frozenset({str(act.code)}), act.confidence == "unsure"
    if act.kind == "apply":
        return replace(base, codes=base.codes | code, unsure=unsure)
    if act.kind == "remove":
        return replace(base, codes=base.codes - code)
    if act.kind == "memo":
        return replace(base, memo_hash=hash_of(act.memo_text or ""))
    return replace(base, finished=act.kind != "reopen")
