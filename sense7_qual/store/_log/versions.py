"""Older and newer acts files: which version a file has, and how it is brought to today's tables.

=======  ==========================================================================================
version  tables
=======  ==========================================================================================
1        meta, texts, acts
2        acts also has `branch` and `clock`, which merged acts have (`hash_chain`)
=======  ==========================================================================================

Reading changes no file: the columns that an older version lacks are missing in its acts. A file is migrated
where its coder's next act is written, in the same transaction, so that a crash leaves it as it was or as it
shall be. A file of a later version is read as far as it is understood, and never written.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, update

from sense7_qual.errors import StoreError
from sense7_qual.store._log.sqlite import META, SCHEMA, place

__all__ = ["STEPS", "migrate", "newer", "structure"]

STEPS: Final[Mapping[int, tuple[str, ...]]] = {
    1: ("ALTER TABLE acts ADD COLUMN branch TEXT", "ALTER TABLE acts ADD COLUMN clock TEXT"),
}
"""What brings the tables of a version to the next one. A step that was released is never changed."""


def migrate(connection: Connection, path: Path, version: int) -> None:
    """Bring the tables of an acts file of `version` to today's; the transaction must be one that writes.

    Raises
    ------
    StoreError
        A later version of the package wrote the file; it is left as it is.
    """
    if version > SCHEMA:
        raise StoreError(newer(place(path), version))
    if version == SCHEMA:
        return
    for number in range(version, SCHEMA):
        for statement in STEPS[number]:
            connection.exec_driver_sql(statement)
    connection.execute(update(META).where(META.c.name == "schema").values(value=str(SCHEMA)))


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
    found: dict[str, object] = {"objects": sorted(f"{kind} {name} {table}" for kind, name, table in objects)}
    for kind, name, _ in objects:
        if kind == "table":
            columns = rows('SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)', name)
            foreign = rows('SELECT "table", "from", "to", on_delete FROM pragma_foreign_key_list(?)', name)
            unique = rows('SELECT name, "unique", origin, partial FROM pragma_index_list(?)', name)
            found[name] = (columns, foreign, unique)
        elif kind == "index":
            found[name] = rows("SELECT seqno, name FROM pragma_index_info(?)", name)
    return found
