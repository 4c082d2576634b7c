"""Read a coding sheet that came back: what it says of itself, and the acts that lead to it."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sense7_qual._arguments import check_arguments
from sense7_qual._formats import bytes_of, read_grids
from sense7_qual._limits import Limits
from sense7_qual._messages import first_three, outside
from sense7_qual.acts import Act
from sense7_qual.errors import ImportRefused
from sense7_qual.exchange._coding_sheets import (
    ABOUT,
    CODING,
    SAID,
    Own,
    Row,
    cell_text,
    hash_of,
    named,
    plan_of,
)
from sense7_qual.exchange._project import require_study


def read_coding_sheets(store: Any, path: str | Path) -> list[Act]:
    """Return the acts that lead from a coder's record to their coding sheet; nothing is recorded yet.

    ``store.append(exchange.read_coding_sheets(store, "sheets/ana.xlsx"))`` records them, all or none; reading
    the sheet again then returns none, and a sheet that was filled in further can be read again. The acts of
    one reading share one time, and a memo on the study says which sheet was read.

    A text that was coded elsewhere after the sheet was written keeps its record; a warning names it, and the
    texts of participants who have withdrawn.

    Parameters
    ----------
    store : Store
        The study that the sheet is of.
    path : str or Path
        The workbook of one coder.

    Raises
    ------
    ArgumentError
        `store` is no study.
    ImportRefused
        The file is no coding sheet, or one of another study, coder or version of the codebook; a column, an
        id or a text was changed; a mark is not 1.

    Examples
    --------
    ``store.append(exchange.read_coding_sheets(store, "sheets/ana.xlsx"))``
    """
    check_arguments(read_coding_sheets, locals(), but=("store",))
    require_study(store, "read_coding_sheets")
    sheet = _Sheet.read(Path(path))
    sheet.refuse_other(store)
    record = Own(store, sheet.coder, sheet.round)
    moved = _moved_since(sheet, record)
    note = record.note("")  # its time is that of all acts of this reading
    gone = [unit_id for unit_id in sheet.rows if unit_id not in record.texts]
    wanted = {
        unit_id: record.acts_to(unit_id, row, at=note.at)
        for unit_id, row in sheet.rows.items()
        if unit_id in record.texts
    }
    changed = [unit_id for unit_id, acts in wanted.items() if acts]
    unsure = [unit_id for unit_id, row in sheet.rows.items() if row.unsure and not row.codes]
    _warn(
        sheet.name,
        {
            "the record was changed elsewhere, and is left as it is": [
                each for each in changed if each in moved
            ],
            "no longer in the study": gone,
            "“unsure” without a code, which is not recorded": unsure,
        },
    )
    acts = [act for unit_id in changed if unit_id not in moved for act in wanted[unit_id]]
    n = len({act.unit_id for act in acts})
    said = f"Coding sheet {sheet.name!r} ({sheet.token}) was read: {n} texts."
    return [*acts, record.note(said, at=note.at)] if acts else []


def _warn(name: str, found: Mapping[str, Sequence[str]]) -> None:
    said = [f"{what}: {first_three(unit_ids)}" for what, unit_ids in found.items() if unit_ids]
    if said:
        warnings.warn(f"coding sheet {name!r}: {'; '.join(said)}.", stacklevel=outside())


def _moved_since(sheet: _Sheet, record: Own) -> set[str]:
    """Return the texts about which this coder did something elsewhere since the sheet was written."""
    ids = [act.act_id for act in record.acts]
    last = sheet.last_act
    if last and last not in ids:
        raise sheet.refused(f"the record to hold act {last!r}", "none", "read it where it was written")
    read = {
        act.at for act in record.acts
        if act.target_kind == "study" and f"({sheet.token})" in (act.memo_text or "")
    }  # fmt: skip
    later = record.acts[ids.index(last) + 1 if last else 0 :]
    return {act.unit_id for act in later if act.unit_id and act.at not in read}


@dataclass(frozen=True, slots=True, repr=False)
class _Sheet:
    """What a coding sheet says of itself, and the rows that are filled in."""

    name: str
    study: str
    coder: str
    round: str | None
    codebook: str
    last_act: str
    columns: Mapping[str, str]
    """By name the code of a column."""
    hashes: Mapping[str, str]
    rows: dict[str, Row]

    @property
    def token(self) -> str:
        """What names this sheet in the record."""
        said = [self.study, self.coder, self.round, self.codebook, self.last_act]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]

    def refused(self, expected: str, found: str, to_do: str) -> ImportRefused:
        return _refused(self.name, expected, found, to_do)

    @classmethod
    def read(cls, path: Path) -> _Sheet:
        grids = {}
        for grid in read_grids(bytes_of(path, Limits()), path.name, None, Limits()):
            if isinstance(grid, ImportRefused):
                raise grid
            grids[grid.title] = [[cell or "" for cell in row] for row in grid.rows.values()]
        about = [[*row, "", ""][:3] for row in grids.get(ABOUT, ())]
        said = {key: value for key, value, _ in about if key in SAID}
        if CODING not in grids or said.keys() != {*SAID}:
            wanted, to_do = "a workbook of write_coding_sheets", "use the one that was written"
            raise _refused(path.name, wanted, "another", to_do)
        columns, hashes = ({a: b for kind, a, b in about if kind == each} for each in ("column", "unit"))
        round = said.pop("round") or None
        sheet = cls(path.name, **said, round=round, columns=columns, hashes=hashes, rows={})
        sheet.rows.update(sheet._filled(grids[CODING]))
        return sheet

    def _filled(self, rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, Row]]:
        """Yield each text's row; refuse what was changed, and marks other than 1."""
        header = next((row for row in rows if row[0] == "unit_id"), [])
        names = [name for name in header if name]
        wanted = {"unit_id", "text", *self.columns, "unsure", "memo", "finished"}
        if len(set(names)) < len(names) or not wanted <= set(names) <= wanted | {"question", "conversation"}:
            raise self.refused("the columns as they were written", "others", "restore the header")
        seen: set[str] = set()
        for row in rows[list(rows).index(header) + 1 :]:
            cells = dict(zip(header, [*row, *[""] * len(header)], strict=False))
            unit_id = cells["unit_id"]
            if unit_id not in self.hashes or unit_id in seen:
                found = f"{unit_id[:40]!r} {'twice' if unit_id in seen else 'instead'}"
                raise self.refused("each id as it was written", found, "restore the cell")
            if hash_of(cells["text"]) != self.hashes[unit_id]:
                raise self.refused(f"the text of unit {unit_id!r} as it was written", "another",
                                   "restore the cell, or write the sheet again")  # fmt: skip
            seen.add(unit_id)
            marks = {name: cells[name].strip() for name in (*self.columns, "unsure", "finished")}
            if wrong := [name for name, mark in marks.items() if mark not in ("", "1")]:
                raise self.refused(f"1 or a blank cell in {wrong[0]!r} of unit {unit_id!r}",
                                   f"{len(marks[wrong[0]])} characters", "correct the cell")  # fmt: skip
            codes = frozenset(self.columns[name] for name in self.columns if marks[name])
            finished, memo = bool(marks["finished"]), cell_text(cells["memo"])
            yield unit_id, Row(codes, unsure=bool(marks["unsure"]), memo=memo, finished=finished)

    def refuse_other(self, store: Any) -> None:
        """Refuse a sheet of another study, coder, round or codebook, or with texts that are others there."""
        if self.study != str(store.desk.study_id):
            raise self.refused("a sheet of this study", "one of another", "open that study")
        coders, other = set(plan_of(store, self.round)["coder"]), Path(self.name).stem
        if self.coder not in coders or (other in coders and other != self.coder):
            raise self.refused(f"the sheet of a coder of {named(self.round)}, under their name",
                               f"that of {self.coder[:40]!r}", "use the coder's own file")  # fmt: skip
        if self.codebook != store.codebook.fingerprint:
            raise self.refused("the present codebook", "another version", "write the sheets again")
        changed = [
            unit_id
            for unit_id, text in zip(store.units["unit_id"], store.units["text"], strict=True)
            if unit_id in self.hashes and self.hashes[unit_id] != hash_of(text)
        ]
        if changed:
            raise self.refused("the study's texts", f"others: {first_three(changed)}", "write it again")


def _refused(name: str, expected: str, found: str, to_do: str) -> ImportRefused:
    return ImportRefused(
        f"coding sheet {name!r}: expected {expected} – found {found} – nothing was recorded; {to_do}."
    )
