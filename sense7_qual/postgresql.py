"""The record of a team in PostgreSQL: the same acts as in a study folder, in one schema for each coder.

Several studies can stand in one database, but give them a database of their own: `create`, when it is a
superuser, closes the database's statistics to everybody else. `server` says how an address is written and
what happens to a lost connection, `row_security` who sees what.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Final, TypeVar

import pandas as pd
from sqlalchemy import (
    Column,
    Connection,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    insert,
    select,
    text,
    update,
)

from sense7_qual import database, row_security, study
from sense7_qual.acts import Act, check_coder
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, StoreError
from sense7_qual.server import Server, retried, run, search_path
from sense7_qual.study import Study

__all__ = ["OPEN_STATISTICS", "acts", "add_coder", "coders", "create", "read", "set_codebook", "write"]

OPEN_STATISTICS: Final = (
    "study: expected a superuser, who can close the database's statistics to the coders – found another "
    "role, "
    "so that table sizes and activity still tell a coder how much others have done (not what) – let an "
    "administrator run the SQL of sense7_qual.row_security.STATISTICS in this database."
)

_T = TypeVar("_T")

_ROLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.@-]{0,62}")

_METADATA: Final = MetaData()
_STUDY: Final = Table(
    "study",
    _METADATA,
    Column("id", Text, primary_key=True),
    Column("schema", Integer, nullable=False),
    Column("created", Text, nullable=False),
    Column("codebook", Text, nullable=False),
    Column("units_sha256", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("units", LargeBinary, nullable=False),
)
_CODEBOOKS: Final = Table(
    "codebooks",
    _METADATA,
    Column("fingerprint", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)
_LEADS: Final = Table("leads", _METADATA, Column("role", Text, primary_key=True))
_MEMBERS: Final = Table(
    "members", _METADATA, Column("coder", Text, primary_key=True), Column("role", Text, nullable=False)
)
Table(
    "unblinded",
    _METADATA,
    Column("round", Text, primary_key=True),
    Column("coder", Text, nullable=False),
    Column("act_id", Text, nullable=False),
)
# What all may see: rows of `acts` and `texts`, numbered anew for each coder.
_SHOWN: Final = Table(
    "shown",
    _METADATA,
    *(Column(c.name, c.type, primary_key=c.name in ("coder", "seq")) for c in database.ACTS.columns),
)
_SHOWN_TEXTS: Final = database.TEXTS.to_metadata(_METADATA, name="shown_texts")


def create(server: Server, *, units: pd.DataFrame, codebook: Codebook) -> bool:
    """Make a study from its units and first codebook, whole or not at all; the role becomes its lead.

    Returns whether the database's statistics were closed to the coders, which takes a superuser.

    Raises
    ------
    StoreError
        The study is there already, the role may not make one, or the server cannot be reached.
    TableError
        `units` is not what its contract says, a text is missing, or a column cannot be kept as it is.
    """
    made, _, table = study.prepare(units, codebook)
    owner = f"{server.name}_owner_{made.id[:8]}"

    def make(connection: Connection) -> bool:
        if connection.execute(_EXISTS, {"name": server.name}).scalar_one():
            raise StoreError(
                f"study {server.name!r}: expected no schema of this name yet – found one – open it with "
                "Store(…), or name another study in the address."
            )
        role, superuser = connection.execute(_WHO).one()
        run(connection, row_security.guard_statements(owner, role))
        run(connection, [f'CREATE SCHEMA "{server.name}" AUTHORIZATION "{owner}"'])
        if superuser:
            run(connection, [row_security.STATISTICS])
        run(connection, [f'SET LOCAL ROLE "{owner}"', search_path(server.name)])
        _METADATA.create_all(connection, checkfirst=False)
        connection.execute(insert(_STUDY), asdict(made) | {"owner": owner, "units": table})
        connection.execute(
            insert(_CODEBOOKS), {"fingerprint": codebook.fingerprint, "content": codebook.to_yaml()}
        )
        connection.execute(insert(_LEADS), {"role": role})
        run(connection, row_security.study_statements(server.name))
        return bool(superuser)

    return retried(server, make)


def read(server: Server) -> tuple[Study, pd.DataFrame, dict[str, Codebook]]:
    """Return what the study says of itself, its units and every version of its codebook, all checked.

    Raises
    ------
    StoreError
        There is no such study for this role, or it is not what was written.
    """

    def found(connection: Connection) -> tuple[Study, bytes, dict[str, bytes]]:
        if not connection.execute(_VISIBLE, {"name": server.name}).scalar_one():
            raise StoreError(
                f"study {server.name!r}: expected a study that this role may open – found none – check role, "
                "database and study in the address, ask the lead to add you (store.add_coder), or make a "
                "study with Store.create(address, units=…, codebook=…)."
            )
        run(connection, [search_path(server.name)])
        row = connection.execute(select(_STUDY)).mappings().one()
        said = Study(**{field.name: row[field.name] for field in fields(Study)})
        contents = {name: bytes(content) for name, content in connection.execute(select(_CODEBOOKS))}
        return said, bytes(row["units"]), contents

    said, table, contents = retried(server, found)
    if said.schema > database.SCHEMA:
        raise StoreError(
            f"study {server.name!r}: expected a study of version {database.SCHEMA} at most – found version "
            f"{said.schema} – update sense7_qual (pip install -U sense7_qual)."
        )
    units = study.units_of(table, said, name=server.name)
    return said, units, study.codebooks_of(contents, said, name=server.name)


def coders(server: Server) -> tuple[str, ...]:
    """Return the pseudonyms of the coders of whom this role may see an act, sorted."""
    query = text(f'SELECT * FROM "{server.name}".coders()')
    return tuple(retried(server, lambda connection: connection.execute(query).scalars().all()))


def add_coder(server: Server, coder: str, *, role: str | None = None, lead: bool = False) -> None:
    """Make room for the acts of `coder`, to be written by `role` alone; only the lead can do that.

    Parameters
    ----------
    role : str, optional
        The PostgreSQL role that codes as `coder`: by default the lead's own (for a model's codings, say). A
        role that does not exist is made, without a password: set one with psql's ``\\password``.
    lead : bool
        Whether the role leads as well: sees everything, opens and unblinds rounds, adds coders.

    Raises
    ------
    ActError
        The pseudonym cannot be one, or differs from another in upper and lower case only.
    StoreError
        The calling role does not lead, `role` could not be kept blind, or the coder has another role.
    """
    check_coder(coder)
    if role is not None and not _ROLE.fullmatch(role):
        raise StoreError(
            "add_coder: expected a role of letters, digits, '_', '.', '@' and '-' – found another name – "
            "correct it."
        )
    retried(server, lambda connection: _add_coder(connection, server, coder, role, lead))


def _add_coder(connection: Connection, server: Server, coder: str, role: str | None, lead: bool) -> None:
    own, _ = connection.execute(_WHO).one()
    role = role or own
    run(connection, [search_path(server.name)])
    if not connection.execute(text("SELECT is_lead()")).scalar_one():
        raise StoreError(
            f"study {server.name!r}: expected the lead's role to add coder {coder!r} – found {own!r}, which "
            "does not lead – ask the lead to call store.add_coder."
        )
    there = _member(connection, server, coder)
    if there not in (None, role):
        raise StoreError(
            f"add_coder: expected coder {coder!r} to keep role {there!r} – found {role!r} – acts of one "
            "coder are written by one role; choose another pseudonym."
        )
    if role != own:
        _check_role(connection, role)
    owner = connection.execute(select(_STUDY.c.owner)).scalar_one()
    if there is None:
        _make_coder(connection, server, coder, owner)
        run(connection, [f'SET LOCAL ROLE "{owner}"', search_path(server.name)])
        connection.execute(insert(_MEMBERS), {"coder": coder, "role": role})
        run(connection, [*row_security.role_statements(server.name, coder, role), "RESET ROLE"])
    if lead and role != own:
        run(
            connection,
            [f'GRANT "{owner}" TO "{role}"', f'SET LOCAL ROLE "{owner}"', search_path(server.name)],
        )
        connection.execute(text("INSERT INTO leads VALUES (:role) ON CONFLICT DO NOTHING"), {"role": role})


def _member(connection: Connection, server: Server, coder: str) -> str | None:
    """Return the role of `coder`, None where there is no such coder."""
    rows = {str(name): str(role) for name, role in connection.execute(select(_MEMBERS))}
    same = [name for name in rows if name.casefold() == coder.casefold() and name != coder]
    if same:
        raise ActError(
            f"coder: expected the pseudonym as it is recorded – found {coder!r} beside {same[0]!r} – use "
            f"{same[0]!r}, or a pseudonym that differs in more than upper and lower case."
        )
    return rows.get(coder)


def _check_role(connection: Connection, role: str) -> None:
    """Make the role where there is none; refuse one that row-level security does not hold."""
    found = connection.execute(_ROLES, {"role": role}).first()
    if found is None:
        run(connection, [f'CREATE ROLE "{role}" LOGIN'])
    elif found.open:
        raise StoreError(
            f"add_coder: expected a role that can be kept blind – found {role!r}, a superuser or one that "
            "bypasses row-level security – name an ordinary role."
        )


def _make_coder(connection: Connection, server: Server, coder: str, owner: str) -> None:
    schema = f"{server.name}-{coder}"
    said = connection.execute(select(_STUDY.c.id, _STUDY.c.schema)).one()
    # Known to this coder's own sessions alone: nobody else can take the lock, or see whether it is taken.
    lock = secrets.randbits(62)
    meta = {"study": said.id, "coder": coder, "schema": said.schema, "lock": lock}
    run(connection, [f'CREATE SCHEMA "{schema}" AUTHORIZATION "{owner}"'])
    run(connection, [f'SET LOCAL ROLE "{owner}"', search_path(schema)])
    database.ACTS.metadata.create_all(connection, checkfirst=False)
    connection.execute(insert(database.META), [{"name": k, "value": str(v)} for k, v in meta.items()])
    run(connection, [*row_security.coder_statements(server.name, coder), "RESET ROLE"])


def write(server: Server, coder: str, work: Callable[[Connection, Path], _T]) -> _T:
    """Return what `work` returns, done in one transaction on the coder's tables: all of it, or nothing.

    Where the connection is lost, `work` is done again from the start, also if its transaction may have been
    committed: it must find by itself what is recorded already.

    Raises
    ------
    StoreError
        This role does not code as `coder`, the server cannot be reached, or it refuses.
    """

    def locked(connection: Connection) -> _T:
        _check_own(connection, server, coder)
        run(connection, [search_path(f"{server.name}-{coder}")])
        connection.execute(_LOCK)
        return work(connection, _place(server, coder))

    return retried(server, locked)


def _check_own(connection: Connection, server: Server, coder: str) -> None:
    is_mine = text(f'SELECT "{server.name}".is_mine(:coder), "{server.name}".is_lead()')
    own, lead = connection.execute(is_mine, {"coder": coder}).one()
    if own:
        return
    if lead and _lead_takes(connection, server, coder):
        return
    role, _ = connection.execute(_WHO).one()
    raise StoreError(
        f"study {server.name!r}: expected acts of a coder of role {role!r} – found acts of {coder!r} – open "
        "the study with that coder's role, or ask the lead to add the coder (store.add_coder)."
    )


def _lead_takes(connection: Connection, server: Server, coder: str) -> bool:
    """Make a new coder of the lead's own role, as a folder makes a new file; False for another's coder."""
    run(connection, [search_path(server.name)])
    if _member(connection, server, coder) is not None:
        return False
    _add_coder(connection, server, coder, None, False)
    return True


def acts(server: Server, coder: str, *, study: str) -> list[Act]:
    """Return the acts of `coder` that this role may see, in order, each checked against its hash.

    Of its own coders, and as the lead, a role sees the whole chain. Of others it sees what the lead has
    unblinded: the acts of those rounds, and what the lead did for the team.

    Raises
    ------
    StoreError
        An act is not what was written, or the server cannot be reached.
    """
    own = f'"{server.name}"'
    whole = text(
        f"SELECT {own}.is_mine(:coder) OR "
        f"({own}.is_lead() AND EXISTS (SELECT FROM {own}.coders() c WHERE c = :coder))"
    )

    def found(connection: Connection) -> list[Act]:
        place = _place(server, coder)
        if connection.execute(whole, {"coder": coder}).scalar_one():
            run(connection, [search_path(f"{server.name}-{coder}")])
            database.check(connection, place, study=study, coder=coder)
            return database.read(connection, place, study=study, coder=coder)
        run(connection, [search_path(server.name)])
        shown = select(_SHOWN).where(_SHOWN.c.coder == coder).order_by(_SHOWN.c.seq)
        hashes = select(_SHOWN.c.text_hash).where(_SHOWN.c.coder == coder)
        texts = select(_SHOWN_TEXTS).where(_SHOWN_TEXTS.c.text_hash.in_(hashes))
        return database.loose(connection, place, connection.execute(shown).mappings().all(), texts)

    return retried(server, found)


def set_codebook(connection: Connection, server: Server, codebook: Codebook, *, instead_of: str) -> bool:
    """Make `codebook` the current one (again: changes nothing); False where another became so instead."""
    run(connection, [search_path(server.name)])
    content = {"fingerprint": codebook.fingerprint, "content": codebook.to_yaml()}
    connection.execute(
        text("INSERT INTO codebooks VALUES (:fingerprint, :content) ON CONFLICT DO NOTHING"), content
    )
    expected = _STUDY.c.codebook.in_([instead_of, codebook.fingerprint])
    change = update(_STUDY).where(expected).values(codebook=codebook.fingerprint)
    return bool(connection.execute(change).rowcount)


def _place(server: Server, coder: str) -> Path:
    return Path(server.name) / coder


_EXISTS: Final = text("SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = :name)")
_VISIBLE: Final = text(
    "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = :name "
    "AND has_schema_privilege(nspname, 'USAGE'))"
)
_WHO: Final = text(
    "SELECT session_user, (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = session_user)"
)
_ROLES: Final = text("SELECT rolsuper OR rolbypassrls AS open FROM pg_catalog.pg_roles WHERE rolname = :role")
_LOCK: Final = text("SELECT pg_advisory_xact_lock(CAST(value AS bigint)) FROM meta WHERE name = 'lock'")
