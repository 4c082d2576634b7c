"""The version of an acts file: one of a later version is read as far as it is understood, and never written.

Every file and table says its version, so that a later release can bring it to its own tables.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

from sense7_qual.errors import StoreError
from sense7_qual.store._log.sqlite import SCHEMA, check, place

__all__ = ["newer", "refuse_newer", "structure"]


def refuse_newer(connection: Connection, path: Path, *, study: str, coder: str) -> None:
    """Raise `StoreError` where an acts file is of a later version, or is not this coder's in this study."""
    version = check(connection, path, study=study, coder=coder)
    if version > SCHEMA:
        raise StoreError(newer(place(path), version))


def newer(what: str, version: int) -> str:
    """Return the sentence about a study or file that a later version wrote."""
    return (
        f"{what}: expected version {SCHEMA} at most – found version {version}, which can be read as far as "
        "it is understood and not be written – update sense7_qual (pip install -U sense7_qual)."
    )


def structure(connection: Connection) -> dict[str, object]:
    """Return the tables of an acts file with their columns, keys and indices, in a form to compare."""

    def rows(query: str, name: str) -> list[tuple[object, ...]]:
        return sorted((tuple(row) for row in connection.exec_driver_sql(query, (name,))), key=repr)

    objects = connection.exec_driver_sql("SELECT type, name, tbl_name FROM sqlite_master").all()
    tables: dict[str, object] = {"objects": sorted(f"{kind} {name} {table}" for kind, name, table in objects)}
    for kind, name, _ in objects:
        if kind == "table":
            columns = rows('SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)', name)
            foreign = rows('SELECT "table", "from", "to", on_delete FROM pragma_foreign_key_list(?)', name)
            unique = rows('SELECT name, "unique", origin, partial FROM pragma_index_list(?)', name)
            tables[name] = (columns, foreign, unique)
        elif kind == "index":
            tables[name] = rows("SELECT seqno, name FROM pragma_index_info(?)", name)
    return tables
