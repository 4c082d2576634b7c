"""Who codes in a study in PostgreSQL: coders, their roles, and writing their acts as one of them."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from sqlalchemy import Connection, insert, select, text, update

from sense7_qual.acts import check_coder
from sense7_qual.errors import StoreError
from sense7_qual.store._backend import Seats
from sense7_qual.store._postgres import row_security
from sense7_qual.store._postgres.schema import (
    MEMBERS,
    STUDY,
    WHO,
    check_lead,
    enter,
    keep_withdrawals_out,
    leads,
    place_of,
)
from sense7_qual.store._postgres.server import Server, retried, run, search_path
from sense7_qual.store._stored import acts_tables
from sense7_qual.store._stored.acts_files import check_pseudonym, refuse_device

_T = TypeVar("_T")

SEAT: Final = re.compile(r"seat[0-9]{2}")
_ROLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.@-]{0,62}")


def coders(server: Server) -> tuple[str, ...]:
    """Return the coders with at least one act that this role may see, sorted."""
    query = text(f'SELECT * FROM "{server.name}".coders()')
    return tuple(retried(server, lambda connection: connection.execute(query).scalars().all()))


def own_coders(server: Server) -> list[str]:
    """Return the coders as whom this role codes, sorted, by the names of schemas, which any role may read."""
    return list(retried(server, lambda there: there.execute(text(_OWN.format(server.name))).scalars()))


def add_coder(server: Server, coder: str, *, role: str | None = None, lead: bool = False) -> None:
    """Make room for the acts of `coder`, to be written by `role` alone; only the lead can do that.

    `role` is by default the lead's own (for a model's codings, say); one that does not exist is made, without
    a password: set one with psql's ``\\password``. With `lead` it leads as well: sees everything, opens and
    unblinds rounds, adds coders. A role that could not be kept blind is refused.
    """
    coder = check_coder(coder)
    refuse_device(coder)  # an archive of the study may become a folder
    if role is not None and not _ROLE.fullmatch(role):
        raise StoreError(
            "add_coder: expected a role of letters, digits, '_', '.', '@' and '-' – found another name – "
            "correct it."
        )
    retried(server, lambda connection: _add_coder(connection, server, coder, role, lead))


def _add_coder(connection: Connection, server: Server, coder: str, role: str | None, lead: bool) -> None:
    own, _ = connection.execute(WHO).one()
    role = role or own
    run(connection, [search_path(server.name)])
    check_lead(connection, server, "add_coder")
    present_role = _member(connection, coder)
    if present_role not in (None, role, own):
        raise StoreError(
            f"add_coder: expected coder {coder!r} to keep role {present_role!r} – found {role!r} – acts of "
            "one coder are written by one role; choose another pseudonym."
        )
    if role != own:
        _check_role(connection, role)
        _let_connect(connection, role)
    owner = connection.execute(select(STUDY.c.owner)).scalar_one()
    if present_role is None:
        keep_withdrawals_out(connection, server)  # one would look for words in the tables that are there
        _make_coder(connection, server, coder, owner)
    if present_role != role:
        run(connection, [f'SET LOCAL ROLE "{owner}"', search_path(server.name)])
        if present_role is None:
            connection.execute(insert(MEMBERS), {"coder": coder, "role": role})
        else:
            connection.execute(update(MEMBERS).where(MEMBERS.c.coder == coder).values(role=role))
        run(connection, [*row_security.role_statements(server.name, coder, role), "RESET ROLE"])
    if lead and role != own:
        run(
            connection,
            [row_security.lead_statement(owner, role), f'SET LOCAL ROLE "{owner}"', search_path(server.name)],
        )
        connection.execute(text("INSERT INTO leads VALUES (:role) ON CONFLICT DO NOTHING"), {"role": role})


def seats(server: Server, coder: str) -> Seats:
    """Return which seat `coder` has, and which nobody ever had in any study; for the lead."""

    def work(connection: Connection) -> Seats:
        run(connection, [search_path(server.name)])
        check_lead(connection, server, "seat")
        role = _member(connection, coder) or ""
        rows = connection.execute(_SEATS).all()
        free = tuple(str(row.rolname) for row in rows if row.rolcanlogin and not row.used)
        own = role if SEAT.fullmatch(role) else ""
        return Seats(own, bool(own) and own not in {row.rolname for row in rows if row.rolcanlogin}, free)

    return retried(server, work)


def end_coder(server: Server, coder: str) -> None:
    """Take the right to sign in from the coder's role, which must be a seat; for the lead."""

    def work(connection: Connection) -> None:
        run(connection, [search_path(server.name)])
        check_lead(connection, server, "end_coder")
        role = _member(connection, coder)
        if role is None or not SEAT.fullmatch(role):
            raise StoreError(
                f"end_coder: expected a coder with a seat (seat01, seat02 …) – found {coder!r} "
                f"{f'with role {role!r}' if role else 'without a role'} – let an administrator end that role."
            )
        row = connection.execute(_ENDS, {"role": role}).one()
        if row.rolcanlogin and not row.may:
            raise StoreError(
                f"end_coder: your role may not end {role}. Let an administrator run: "
                f'ALTER ROLE "{role}" NOLOGIN. The hub lets nobody in without a line in coders.csv.'
            )
        run(connection, [f'ALTER ROLE "{role}" NOLOGIN'] if row.rolcanlogin else [])

    retried(server, work)


def _member(connection: Connection, coder: str) -> str | None:
    """Return the role of `coder`, None where there is no such coder."""
    rows = {str(name): str(role) for name, role in connection.execute(select(MEMBERS))}
    return rows.get(check_pseudonym(coder, rows))


def _check_role(connection: Connection, role: str) -> None:
    """Make the role where there is none; refuse one that row-level security does not hold."""
    row = connection.execute(_ROLES, {"role": role}).first()
    if row is None:
        run(connection, [f'CREATE ROLE "{role}" LOGIN'])
    elif row.open:
        raise StoreError(
            f"add_coder: expected a role that can be kept blind – found {role!r}, a superuser or one that "
            "bypasses row-level security – name an ordinary role."
        )


def _let_connect(connection: Connection, role: str) -> None:
    """Let the role enter the database, where an administrator has shut it to everybody else."""
    database, may, can_let = connection.execute(_CONNECT, {"role": role}).one()
    if may:
        return
    grant = f'GRANT CONNECT ON DATABASE "{database}" TO "{role}"'
    if not can_let:
        raise StoreError(
            f"add_coder: role {role!r} may not connect to database {database!r}, and yours may not allow it. "
            f"Let an administrator run: {grant}. Then add the coder again."
        )
    run(connection, [grant])


def _make_coder(connection: Connection, server: Server, coder: str, owner: str) -> None:
    schema = f"{server.name}-{coder}"
    study = connection.execute(select(STUDY.c.id, STUDY.c.schema)).one()
    # Known to this coder's own sessions alone: nobody else can take the lock, or see whether it is taken.
    lock = secrets.randbits(62)
    meta = {"study": study.id, "coder": coder, "schema": study.schema, "lock": lock}
    run(connection, [f'CREATE SCHEMA "{schema}" AUTHORIZATION "{owner}"'])
    run(connection, [f'SET LOCAL ROLE "{owner}"', search_path(schema)])
    acts_tables.ACTS.metadata.create_all(connection, checkfirst=False)
    connection.execute(insert(acts_tables.META), [{"name": k, "value": str(v)} for k, v in meta.items()])
    run(connection, [*row_security.coder_statements(server.name, coder), "RESET ROLE"])


def write(
    server: Server, coder: str, work: Callable[[Connection, Path, bool], _T], *, as_lead: bool = False
) -> _T:
    """Run `work` and return its result, in one transaction on the coder's tables: all of it, or nothing.

    Where the connection is lost, `work` is done again from the start, also if its transaction may have been
    committed: it must find by itself what is recorded already. With `as_lead` the lead writes for any coder,
    as a merge does; `work` is told whether the role codes as them.
    """

    def locked(connection: Connection) -> _T:
        is_own = True
        if as_lead:
            check_lead(connection, server, "merge")
            run(connection, [row_security.FROM_A_COPY])
            keep_withdrawals_out(connection, server)
            take(connection, server, coder)
            role, _ = connection.execute(WHO).one()
            is_own = _member(connection, coder) == role
            enter(connection, server, coder)
        else:
            enter_as_own(connection, server, coder)
        return work(connection, place_of(server, coder), is_own)

    return retried(server, locked)


def enter_as_own(connection: Connection, server: Server, coder: str) -> None:
    """Let table names mean those of a coder of this role, and keep other writers out; else `StoreError`."""
    _check_own(connection, server, coder)
    enter(connection, server, coder)


def _check_own(connection: Connection, server: Server, coder: str) -> None:
    is_mine = text(f'SELECT "{server.name}".is_mine(:coder)')
    if connection.execute(is_mine, {"coder": coder}).scalar_one():
        return
    if leads(connection, server):
        refuse_device(coder)
        # Where there is one now, another session of this role may have made it since it was asked for.
        if take(connection, server, coder) or connection.execute(is_mine, {"coder": coder}).scalar_one():
            return
    role, _ = connection.execute(WHO).one()
    raise StoreError(
        f"study {server.name!r}: expected acts of a coder of role {role!r} – found acts of {coder!r} – open "
        "the study with that coder's role, or ask the lead to add the coder (store.admin.add_coder)."
    )


def members(connection: Connection, server: Server) -> list[str]:
    """Return the pseudonyms of all coders of the study, sorted, for the lead."""
    run(connection, [search_path(server.name)])
    return sorted(str(name) for name in connection.execute(select(MEMBERS.c.coder)).scalars())


def take(connection: Connection, server: Server, coder: str) -> bool:
    """Make a new coder of the lead's own role, as a folder makes a new file; False where there is one."""
    run(connection, [search_path(server.name)])
    if _member(connection, coder) is not None:
        return False
    _add_coder(connection, server, coder, None, False)
    return True


_CONNECT: Final = text(
    "SELECT current_database(), has_database_privilege(:role, current_database(), 'CONNECT'), "
    "has_database_privilege(current_database(), 'CONNECT WITH GRANT OPTION')"
)

_OWN: Final = """
SELECT coder FROM (
  SELECT substr(nspname, length('{0}-') + 1) AS coder FROM pg_catalog.pg_namespace
  WHERE starts_with(nspname, '{0}-')
) AS coders WHERE "{0}".is_mine(coder) ORDER BY coder COLLATE "C"
"""

# Rights in any database of the server count: a seat of an earlier study writes as the coder it had there.
_SEATS: Final = text(
    "SELECT rolname, rolcanlogin, EXISTS (SELECT FROM pg_catalog.pg_shdepend d WHERE d.refobjid = r.oid "
    "AND d.refclassid = 'pg_catalog.pg_authid'::regclass AND d.deptype IN ('a', 'o')) AS used "
    "FROM pg_catalog.pg_roles r WHERE rolname ~ '^seat[0-9]{2}$' ORDER BY rolname"
)

_ENDS: Final = text(
    "SELECT r.rolcanlogin, own.rolsuper OR (own.rolcreaterole AND ("
    "current_setting('server_version_num')::int < 160000 "
    "OR pg_has_role(session_user, r.oid, 'MEMBER WITH ADMIN OPTION'))) AS may "
    "FROM pg_catalog.pg_roles r, pg_catalog.pg_roles own "
    "WHERE r.rolname = :role AND own.rolname = session_user"
)

_ROLES: Final = text("SELECT rolsuper OR rolbypassrls AS open FROM pg_catalog.pg_roles WHERE rolname = :role")
