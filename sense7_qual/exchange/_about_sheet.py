"""What the hidden sheet of a coding sheet says, and the seal that shows a change of it.

The seal is an HMAC-SHA256 over all of its cells, with a key that the study keeps and no sheet has. So neither
the coder nor a code's column can be changed by hand, and only the study that wrote a sheet reads it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sense7_qual.exchange._sheet_record import Base, cell_text

ABOUT: Final = "about this sheet"
"""The title of the hidden sheet."""
_ENTRIES: Final = ("study", "coder", "round", "codebook", "last_act")
_SEAL: Final = "seal"


@dataclass(frozen=True, slots=True, repr=False)
class About:
    """Whose sheet it is, and what it held when it was written.

    `last_act` is where the coder's record ended. `columns` has the code of each column by its name, `texts`
    the hash of each text and `rows` what its row held, by unit.
    """

    study: str
    coder: str
    round: str | None
    codebook: str
    last_act: str
    columns: Mapping[str, str]
    texts: Mapping[str, str]
    rows: Mapping[str, Base]

    def sealed(self, key: bytes) -> list[list[str]]:
        """Return the cells of the hidden sheet."""
        cells = _trimmed(
            [
                *([name, getattr(self, name) or ""] for name in _ENTRIES),
                *(["column", name, code] for name, code in self.columns.items()),
                *(
                    ["unit", unit_id, self.texts[unit_id], _written(row)]
                    for unit_id, row in self.rows.items()
                ),
            ]
        )
        return [*cells, [_SEAL, _seal_of(cells, key)]]


class Claim:
    """The cells of a hidden sheet that came back, which are not believed until `is_sealed_by` says so."""

    def __init__(self, cells: Sequence[Sequence[str]]) -> None:
        trimmed = _trimmed(cells)
        self._seals = [row[1] for row in trimmed if row[0] == _SEAL and len(row) == 2]
        self._cells = [row for row in trimmed if row[0] != _SEAL]

    def says(self, name: str) -> str | None:
        """Return the value of an entry, such as "study" or "coder"; None if the sheet lacks it."""
        return next(("".join(row[1:2]) for row in self._cells if row[0] == name), None)

    @property
    def has_seal(self) -> bool:
        """False for a sheet of a version before seals."""
        return bool(self._seals)

    def is_sealed_by(self, key: bytes) -> bool:
        """Return True if every cell is as it was when the sheet was sealed with this key."""
        return len(self._seals) == 1 and hmac.compare_digest(
            self._seals[0].encode(), _seal_of(self._cells, key).encode()
        )

    @property
    def token(self) -> str:
        """What names this sheet in the record: all its copies have the same, no other sheet has it."""
        return self._seals[0][:16]

    def about(self) -> About:
        """Return the content of the hidden sheet; ask only once `is_sealed_by` is true."""
        entries = {name: self.says(name) or "" for name in _ENTRIES}
        units = [row[1:] for row in self._cells if row[0] == "unit"]
        return About(
            study=entries["study"],
            coder=entries["coder"],
            round=entries["round"] or None,
            codebook=entries["codebook"],
            last_act=entries["last_act"],
            columns={row[1]: row[2] for row in self._cells if row[0] == "column"},
            texts={unit_id: text_hash for unit_id, text_hash, _ in units},
            rows={unit_id: _read(row) for unit_id, _, row in units},
        )


def _trimmed(cells: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return cells as any program gives them back: without blank ones at the end of a row."""
    rows = [[cell_text(cell) for cell in row] for row in cells]
    ends = [max((n for n, cell in enumerate(row, start=1) if cell), default=0) for row in rows]
    return [row[:end] for row, end in zip(rows, ends, strict=True) if end]


def _seal_of(cells: Sequence[Sequence[str]], key: bytes) -> str:
    return hmac.new(key, json.dumps(cells).encode(), hashlib.sha256).hexdigest()


def _written(row: Base) -> str:
    held = {"codes": sorted(row.codes), "unsure": row.unsure, "memo": row.memo_hash, "finished": row.finished}
    return json.dumps(held)


def _read(cell: str) -> Base:
    held = json.loads(cell)
    return Base(frozenset(held["codes"]), held["unsure"], held["memo"], held["finished"])
