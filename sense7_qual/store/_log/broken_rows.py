"""The rows of a damaged acts file, one by one, as far as SQLite can read them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from sense7_qual.store._log import leftover_journal, sqlite

__all__ = ["rows_one_by_one"]

_SMALLEST_ROW: Final = 64  # bytes: no act takes fewer, so a file of n bytes has at most n / 64


def rows_one_by_one(path: Path, table: str, key: str) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Yield the rows of a table of a damaged file with their numbers, None for one that SQLite cannot read.

    Behind the last row that can be read, none is told of. Nothing is written, and a journal that lies beside
    the file is left alone.
    """
    unheld = "&immutable=1" if path.with_name(f"{path.name}-journal").exists() else ""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro{unheld}", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        leftover_journal.limit_values(connection)
        try:
            sqlite.refuse_computed(connection.execute, path)
            connection.execute(f"SELECT 1 FROM {table} LIMIT 0")
        except (sqlite3.Error, UnicodeDecodeError):
            raise sqlite.damaged(path, "nothing that can be read") from None
        try:
            most = connection.execute(f"SELECT max({key}) FROM {table}").fetchone()[0] or 0
        except (sqlite3.Error, UnicodeDecodeError):
            most = path.stat().st_size // _SMALLEST_ROW
        most = min(most, path.stat().st_size // _SMALLEST_ROW)  # a damaged number may be any
        unread: list[int] = []
        for number in range(1, most + 1):
            try:
                row = connection.execute(f"SELECT * FROM {table} WHERE {key} = ?", (number,)).fetchone()
            except (sqlite3.Error, UnicodeDecodeError):
                row = None
            if row is None:
                unread.append(number)
                continue
            yield from ((missing, None) for missing in unread)
            unread = []
            yield number, dict(row)
