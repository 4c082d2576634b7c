"""Older and newer studies in PostgreSQL: which version tables and rules have, and how they are brought up.

=======  ==========================================================================================
version  what it has
=======  ==========================================================================================
1        no notes of withdrawals and copies; the lead cannot add acts of others (no merge)
2        notes, and `withdrawn()`, which tells coders of withdrawals
3        `layout()`, which says this number; what a lead adds to another's acts says that it was merged
=======  ==========================================================================================

The lead brings a study up by opening it, in one transaction. Until then a coder goes on with a study of
version 2; one of version 1 is refused to them, because it cannot tell them who withdrew. A study of a later
version is read as far as it is understood, and never written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import Connection, text

from sense7_qual.errors import StoreError
from sense7_qual.store._postgres import row_security
from sense7_qual.store._postgres.server import Server, run, search_path

__all__ = ["STEPS", "bring_up", "refuse_older", "version"]

STEPS: Final[Mapping[int, tuple[str, ...]]] = {
    1: (
        "CREATE TABLE notes (id TEXT NOT NULL, kind TEXT NOT NULL, shown TEXT, content BYTEA NOT NULL, "
        "PRIMARY KEY (id))",
    ),
    2: (),
}
"""What brings the tables of a version to the next one; functions and rules are all made anew."""

_USABLE: Final = 2


def version(connection: Connection, server: Server) -> int:
    """Return the version of the study's tables and rules; 0 where the schema holds no study."""
    layout = connection.execute(_LAYOUT, {"name": f'"{server.name}".layout()'}).scalar_one()
    if layout:
        return int(connection.execute(text(f'SELECT "{server.name}".layout()')).scalar_one())
    named = {
        "withdrawn": f'"{server.name}".withdrawn()',
        "share": f'"{server.name}".share()',
        "show": f'"{server.name}".show(text,text[])',
    }
    return int(connection.execute(_EARLIER, named).scalar_one())


def refuse_older(server: Server, found: int) -> None:
    """Raise `StoreError` where a schema holds no study, or one that its lead must bring up first."""
    if found < 1:
        raise StoreError(
            f"study {server.name!r}: expected a study that this version can read – found a schema that holds "
            "none, or one from before rounds could be unblinded – check the name of the study; one that old "
            "is archived with the version that made it, and restored with this one (Store.restore)."
        )
    if found < _USABLE:
        raise StoreError(
            f"study {server.name!r}: expected tables of version {row_security.LAYOUT} – found version "
            f"{found} – ask the lead to open the study once with this version of sense7_qual, which brings "
            "them up."
        )


def bring_up(connection: Connection, server: Server) -> None:
    """Bring the study to today's version, where it is older and the role leads; all of it, or nothing."""
    found = version(connection, server)
    if not 1 <= found < row_security.LAYOUT or not _leads(connection, server):
        return
    owner = connection.execute(text(f'SELECT owner FROM "{server.name}".study')).scalar_one()
    run(connection, [f'SET LOCAL ROLE "{owner}"', search_path(server.name)])
    run(connection, ["LOCK TABLE leads IN ACCESS EXCLUSIVE MODE"])  # two leads that open it at once
    for number in range(version(connection, server), row_security.LAYOUT):
        run(connection, STEPS[number])
    run(connection, row_security.study_statements(server.name))
    for coder in connection.execute(text("SELECT coder FROM members")).scalars().all():
        run(connection, row_security.coder_statements(server.name, str(coder)))
    leads = connection.execute(text("SELECT role FROM leads WHERE role <> session_user")).scalars().all()
    run(connection, ["RESET ROLE"])
    if connection.execute(_IS_SUPERUSER).scalar_one():
        run(connection, row_security.founding_statements(owner))
        run(connection, [row_security.lead_statement(owner, str(role)) for role in leads])


def _leads(connection: Connection, server: Server) -> bool:
    return bool(connection.execute(text(f'SELECT "{server.name}".is_lead()')).scalar_one())


_LAYOUT: Final = text("SELECT to_regprocedure(:name) IS NOT NULL")
_EARLIER: Final = text(
    "SELECT CASE WHEN to_regprocedure(:share) IS NULL OR to_regprocedure(:show) IS NULL THEN 0 "
    "WHEN to_regprocedure(:withdrawn) IS NULL THEN 1 ELSE 2 END"
)
_IS_SUPERUSER: Final = text("SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = session_user")
