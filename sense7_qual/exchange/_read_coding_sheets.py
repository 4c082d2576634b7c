"""Read a coding sheet that came back: the rows of this copy, and the acts that record what it changed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sense7_qual._arguments import check_arguments
from sense7_qual._formats import bytes_of, read_grids
from sense7_qual._limits import Limits
from sense7_qual._messages import first_three, outside
from sense7_qual.acts import Act
from sense7_qual.errors import ImportRefused
from sense7_qual.exchange._about_sheet import ABOUT, About, Claim
from sense7_qual.exchange._coding_sheets import CODING, RULE, plan_of
from sense7_qual.exchange._project import require_study
from sense7_qual.exchange._sheet_record import Own, Row, cell_text, hash_of, merged, taken_back


def read_coding_sheets(store: Any, path: str | Path, *, undo: bool = False) -> list[Act]:
    """Return the acts that record what a coding sheet changed; nothing is recorded yet.

    ``store.append(exchange.read_coding_sheets(store, "sheets/ana.xlsx"))`` records them, all or none; reading
    the sheet again then returns none, and a sheet that was filled in further can be read again. The acts of
    one reading share one time, and a memo on the study says that a sheet was read.

    What counts is what this copy changed since the sheet was written, or since a reading of it recorded the
    text. A reading only adds. A text in which this copy would take something back that is recorded – a mark,
    an absence decided in a finished text, “finished”, “unsure”, a memo – is left as it is recorded, and a
    warning names it: an older copy, or another one, looks the same as a mark that was removed. With `undo`
    the copy counts there, too.

    Warnings also name rows that are missing from the sheet, the texts of participants who have withdrawn,
    “unsure” without a code, and rows with cells below no column name; none of these is recorded.

    Parameters
    ----------
    store : Store
        The study that the sheet is of.
    path : str or Path
        The workbook of one coder.
    undo : bool
        Whether what this copy takes back is taken back in the record.

    Raises
    ------
    ArgumentError
        `store` is no study.
    ImportRefused
        The file is no coding sheet, or one of another study, coder or version of the codebook; another study
        or an earlier version of the package wrote it, or its hidden sheet was changed; a column, an id or a
        text was changed; a mark is not 1; two sheets of the workbook have marks.
    StoreError
        `store` is a bundle, or the secret that seals its sheets is damaged.

    Examples
    --------
    ``store.append(exchange.read_coding_sheets(store, "sheets/ana.xlsx"))``
    """
    check_arguments(read_coding_sheets, locals(), but=("store",))
    require_study(store, "read_coding_sheets")
    sheet = _Sheet.read(Path(path), store)
    record = Own(store, sheet.about.coder, sheet.about.round)
    sheet.refuse_lost_record(record)
    reading = _Reading(sheet, record)
    reading.warn(undo=undo)
    return reading.acts(undo=undo)


class _Reading:
    """What a copy of a sheet says of each text that is in the study, next to its record."""

    def __init__(self, sheet: _Sheet, record: Own) -> None:
        self.sheet, self.record = sheet, record
        self.rows: dict[str, Row] = {}
        self.taken: dict[str, list[str]] = {}
        """By text what the copy takes back."""
        bases = record.bases(sheet.about.rows, sheet.token)
        for unit_id, row in sheet.rows.items():
            if unit_id in record.texts:
                row = replace(row, unsure=row.unsure and bool(row.codes))
                now = record.row(unit_id)
                self.rows[unit_id] = merged(bases[unit_id], row, now)
                self.taken[unit_id] = taken_back(now, self.rows[unit_id])

    def acts(self, *, undo: bool) -> list[Act]:
        """Return the acts of this reading, and the memo that names the sheet."""
        note = self.record.note("")  # its time is that of all acts of this reading
        acts = [
            act
            for unit_id, row in self.rows.items()
            if undo or not self.taken[unit_id]
            for act in self.record.acts_to(unit_id, row, at=note.at)
        ]
        n = len({act.unit_id for act in acts})
        summary = f"Coding sheet ({self.sheet.token}) was read: {n} texts."
        return [*acts, self.record.note(summary, at=note.at)] if acts else []

    def warn(self, *, undo: bool) -> None:
        """Name what is taken back, or is not because `undo` is false, and what is not recorded."""
        notices = [*self._taken_back(undo=undo), *self._left_out()]
        if notices:
            warnings.warn(f"coding sheet {self.sheet.name!r}: {'; '.join(notices)}.", stacklevel=outside())

    def _taken_back(self, *, undo: bool) -> Iterator[str]:
        texts = {unit_id: taken for unit_id, taken in self.taken.items() if taken}
        kinds = dict.fromkeys(kind for taken in texts.values() for kind in taken)
        what = "; ".join(
            f"{kind} of {first_three([one for one, taken in texts.items() if kind in taken])}"
            for kind in kinds
        )
        if texts and undo:
            yield f"this copy took something back in texts: {len(texts)} – {what}"
        elif texts:
            yield (
                f"texts in which this copy would take something back: {len(texts)} – {what} – they are left "
                "as recorded; if this is the only copy, or all of this is meant, read it with undo=True, and "
                "else write the sheet again, which then has what every copy brought"
            )

    def _left_out(self) -> Iterator[str]:
        sheet, texts = self.sheet, self.record.texts
        left_out = {
            "rows missing from the sheet": [
                one for one in sheet.about.texts if one in texts and one not in sheet.rows
            ],
            "no longer in the study": [one for one in sheet.rows if one not in texts],
            "“unsure” without a code": [
                one for one, row in sheet.rows.items() if row.unsure and not row.codes
            ],
            "cells below no column name": sheet.with_more,
        }
        for why, unit_ids in left_out.items():
            if unit_ids:
                yield f"not recorded: {why}: {len(unit_ids)} – {first_three(unit_ids)}"


@dataclass(frozen=True, slots=True, repr=False)
class _Sheet:
    """A coding sheet that this study wrote, and the rows that are filled in."""

    name: str
    about: About
    token: str
    rows: dict[str, Row] = field(default_factory=dict)
    with_more: list[str] = field(default_factory=list)
    """The texts with something in a column that has no name."""

    def refused(self, expected: str, found: str, to_do: str) -> ImportRefused:
        return _refused(self.name, expected, found, to_do)

    @classmethod
    def read(cls, path: Path, store: Any) -> _Sheet:
        grids = _grids_of(path)
        claim = Claim(grids[ABOUT])
        about = _believed(claim, path.name, store)
        sheet = cls(path.name, about, claim.token)
        sheet._refuse_other_texts(store)
        sheet.rows.update(sheet._filled(grids[CODING]))
        return sheet

    def _filled(self, rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, Row]]:
        """Yield each text's row, in whatever order rows and columns are; refuse what was changed."""
        header = next((row for row in rows if _is_header(row)), [])
        names = [name for name in header if name]
        wanted = {"unit_id", "text", *self.about.columns, "unsure", "memo", "finished"}
        if len(set(names)) < len(names) or not wanted <= set(names) <= wanted | {"question", "conversation"}:
            raise self.refused("the columns as they were written", "others", "restore the header")
        seen: set[str] = set()
        for row in rows:
            if row is header or [cell for cell in row if cell] == [RULE]:
                continue
            cells = [*row, *[""] * len(header)]
            values = {name: cell for name, cell in zip(header, cells, strict=False) if name}
            unit_id = self._unit_of(values, seen)
            seen.add(unit_id)
            named_cells = sum(1 for name, cell in values.items() if cell)
            if sum(1 for cell in row if cell) > named_cells:
                self.with_more.append(unit_id)
            yield unit_id, self._row(unit_id, values)

    def _unit_of(self, values: Mapping[str, str], seen: set[str]) -> str:
        """Return the unit of a row, whose id and text are as they were written."""
        unit_id = values["unit_id"]
        if unit_id in seen:
            raise self.refused("each id as it was written", f"{unit_id!r} twice", "restore the cell")
        if unit_id not in self.about.texts:
            after = f"after that of unit {list(seen)[-1]!r}" if seen else "at the top"
            raise self.refused("each id as it was written", f"another in the row {after}", "restore the cell")
        if hash_of(values["text"]) != self.about.texts[unit_id]:
            to_do = "restore the cell, or write the sheet again"
            raise self.refused(f"the text of unit {unit_id!r} as it was written", "another", to_do)
        return unit_id

    def _row(self, unit_id: str, values: Mapping[str, str]) -> Row:
        marks = {name: values[name].strip() for name in (*self.about.columns, "unsure", "finished")}
        if wrong := [name for name, mark in marks.items() if mark not in ("", "1")]:
            where = f"1 or a blank cell in {wrong[0]!r} of unit {unit_id!r}"
            raise self.refused(where, f"{len(marks[wrong[0]])} characters", "correct the cell")
        codes = frozenset(code for name, code in self.about.columns.items() if marks[name])
        finished, memo = bool(marks["finished"]), cell_text(values["memo"])
        return Row(codes, unsure=bool(marks["unsure"]), memo=memo, finished=finished)

    def _refuse_other_texts(self, store: Any) -> None:
        """Refuse a sheet with texts that are others in the study."""
        changed = [
            unit_id
            for unit_id, text in zip(store.units["unit_id"], store.units["text"], strict=True)
            if self.about.texts.get(unit_id, hash_of(text)) != hash_of(text)
        ]
        if changed:
            raise self.refused("the study's texts", f"others: {first_three(changed)}", "write it again")

    def refuse_lost_record(self, record: Own) -> None:
        """Refuse a sheet that was written when the coder's record had acts that are not in it here."""
        last = self.about.last_act
        if last and last not in {act.act_id for act in record.acts}:
            raise self.refused(f"the record to hold act {last!r}", "none", "read it where it was written")


def _grids_of(path: Path) -> dict[str, list[list[str]]]:
    """Return the rows of the coding sheet and of its hidden sheet; refuse a workbook without these two, and
    one with a second sheet of marks."""
    found = read_grids(bytes_of(path, Limits()), path.name, None, Limits())
    refused = [grid for grid in found if isinstance(grid, ImportRefused)]
    grids = {
        grid.title: [[cell or "" for cell in row] for row in grid.rows.values()]
        for grid in found
        if not isinstance(grid, ImportRefused)
    }
    if not {CODING, ABOUT} <= grids.keys():
        if refused:
            raise refused[0]
        to_do = "use the one that was written"
        raise _refused(path.name, "a workbook of write_coding_sheets", "another", to_do)
    with_marks = [title for title, rows in grids.items() if any(map(_is_header, rows))]
    if len(with_marks) > 1:
        to_do = "keep the one that is filled in, under the name “coding”, and delete the others"
        raise _refused(path.name, "one sheet of marks", str(len(with_marks)), to_do)
    return grids


def _is_header(row: Sequence[str]) -> bool:
    return {"unit_id", "text", "finished"} <= set(row)


def _believed(claim: Claim, name: str, store: Any) -> About:
    """Return the hidden sheet's content, if this study sealed it and it is for the present work."""
    if claim.says("study") != str(store.desk.study_id):
        raise _refused(name, "a sheet of this study", "one of another", "open that study")
    coder, round = claim.says("coder") or "", claim.says("round") or None
    coders, other = set(plan_of(store, round)["coder"]), Path(name).stem
    if coder not in coders or (other in coders and other != coder):
        expected = f"the sheet of a coder of {'the plan' if round is None else 'the round'}, under their name"
        raise _refused(name, expected, "that of another coder", "use the coder's own file")
    again = "write the sheets again and copy the marks into the new ones"
    if not claim.has_seal:
        raise _refused(name, "a sheet with a seal", "one of an earlier version", again)
    if not claim.is_sealed_by(store.desk.sheet_key(coder)):
        expected, found = "the hidden sheet as this study wrote it", "another"
        raise _refused(name, expected, found, f"read it in the study that wrote it, or {again}")
    about = claim.about()
    if about.codebook != store.codebook.fingerprint:
        raise _refused(name, "the present codebook", "another version", "write the sheets again")
    return about


def _refused(name: str, expected: str, found: str, to_do: str) -> ImportRefused:
    return ImportRefused(
        f"coding sheet {name!r}: expected {expected} – found {found} – nothing was recorded; {to_do}."
    )
