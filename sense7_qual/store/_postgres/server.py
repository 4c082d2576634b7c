"""Connections to the PostgreSQL server of a team: addresses, passwords, time limits, and trying again.

An address such as ``postgresql://ana@db.example.org/lab?study=pilot`` names the role (``ana``), the
database (``lab``) and the study in it (``sense7_qual`` where none is named).

**Passwords** are never in the address, because notebooks show addresses. They are looked for in the
environment (``PGPASSWORD``), in the keyring (service ``sense7_qual``, name ``role@host/database``), and in
``~/.pgpass``.

**Lost connections** are made again, and what was not acknowledged is sent again, for `PATIENCE` seconds. An
act is known by its act_id, so that one that did arrive is not recorded twice. After that the call fails with
`StoreError`, nothing that was acknowledged is lost, and the same call can be made again.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from sense7_qual.errors import ActError, NotLetIn, StoreError
from sense7_qual.store._postgres.row_security import CLOCKS_APART, WRONG_TIME
from sense7_qual.store._stored import acts_tables

_T = TypeVar("_T")

PATIENCE: Final = 15.0
"""Seconds for which a lost connection is tried again before a call fails."""

SNAPSHOT: Final = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
"""The first statement of a transaction that reads several tables as they are at one moment."""

_TIMEOUTS: Final = {
    "connect_timeout": 5,  # seconds
    "tcp_user_timeout": 10_000,  # milliseconds until unanswered data means that the connection is gone
    "keepalives_idle": 30,
    "application_name": "sense7_qual",
    "options": "-c statement_timeout=30s -c lock_timeout=30s -c idle_in_transaction_session_timeout=60s",
}
_PASSING: Final = ("08", "40", "57P", "53300", "23505", "42P06", "XX000")
"""SQLSTATEs of what passes: lost connections, deadlocks, a restart, too many clients, two acts at once, two
who make one coder, and two who give rights on one table ("tuple concurrently updated", an internal error)."""

_REFUSED: Final = (
    "authentication",
    "password",
    "does not exist",
    "no pg_hba.conf",
    "is not permitted",
    "permission denied",
)
"""Words of libpq, which has no code for a login that was refused. Trying again may lock the account."""

_STUDY_NAME: Final = re.compile(r"(?!pg_)[a-z][a-z0-9_]{0,19}")  # PostgreSQL keeps pg_… for itself


@dataclass(frozen=True, slots=True, repr=False)
class Server:
    """One study in one database, as one role: its name, its address without a password, its connections."""

    name: str
    address: str
    engine: Engine

    def __repr__(self) -> str:
        return f"Server({self.address!r})"


def is_address(path: object) -> bool:
    """Return True if `path` is the address of a database and not a folder."""
    return isinstance(path, str) and re.match(r"postgres(ql)?(\+psycopg)?://", path) is not None


def connect(address: str) -> Server:
    """Return the server at `address`; nothing is sent yet."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise _unfit("one that cannot be read") from None  # it may hold a password
    if url.password or "password" in url.query:
        raise StoreError(
            "store: expected an address without a password – found one with a password – take it out, "
            "since the notebook would show it, and put it into PGPASSWORD, ~/.pgpass or the keyring "
            "(keyring set "
            "sense7_qual role@host/database)."
        )
    if not url.username or not url.database:
        raise _unfit("one without a role or a database")
    name = url.query.get("study", "sense7_qual")
    if not isinstance(name, str) or not _STUDY_NAME.fullmatch(name):
        raise _unfit(f"study {str(name)[:40]!r}")
    url = url.set(drivername="postgresql+psycopg").difference_update_query(["study"])
    return Server(name, address, _engine(url))


def _unfit(problem: str) -> StoreError:
    return StoreError(
        "store: expected an address like 'postgresql://role@host/database?study=name' (a study of lower-case "
        f"letters, digits and '_', 20 at most, not pg_…) – found {problem} – correct it."
    )


@cache
def _engine(url: URL) -> Engine:
    """The connections to this address, which all stores of the process share."""
    engine = create_engine(
        url,
        connect_args=dict(_TIMEOUTS),
        hide_parameters=True,
        pool_pre_ping=True,
        pool_size=2,
        max_overflow=30,
    )
    named = f"{url.username}@{url.host or url.query.get('host', 'localhost')}/{url.database}"

    @event.listens_for(engine, "do_connect")
    def _(_dialect: object, _record: object, _args: object, parameters: dict[str, Any]) -> None:
        if "PGPASSWORD" not in os.environ and (password := _from_keyring(named)):
            parameters["password"] = password

    if hasattr(os, "register_at_fork"):
        # A forked process must not speak over its parent's connections.
        os.register_at_fork(after_in_child=lambda: engine.dispose(close=False))
    return engine


def _from_keyring(named: str) -> str | None:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        password: str | None = keyring.get_password("sense7_qual", named)
    except (KeyringError, RuntimeError):  # no keyring on this machine, or it stays locked
        return None
    return password


def search_path(schema: str) -> str:
    """The statement that lets plain table names mean those of `schema`, until the transaction ends."""
    return f'SET LOCAL search_path = "{schema}"'


def run(connection: Connection, statements: Iterable[str]) -> None:
    """Run SQL statements that take no parameters, one after the other."""
    for statement in statements:
        connection.exec_driver_sql(statement, execution_options={"no_parameters": True})


def retried(server: Server, work: Callable[[Connection], _T]) -> _T:
    """Run `work` in a transaction and return its result; if that fails in passing, try it again."""
    deadline, wait = time.monotonic() + PATIENCE, 0.05
    while True:
        try:
            with server.engine.connect() as connection, connection.begin():
                return work(connection)
        except DBAPIError as error:
            if not _passes(error) or time.monotonic() + wait > deadline:
                raise _refusal(server, error) from None  # its message can quote a row
        except UnicodeDecodeError:
            raise acts_tables.damaged(Path(server.name), "text that is not UTF-8") from None
        time.sleep(wait * random.uniform(0.5, 1))  # noqa: S311 – so that waiting coders do not come at once
        wait = min(2 * wait, 2)


def outside_transactions(server: Server, statements: Iterable[str]) -> None:
    """Run statements that take long and cannot run in a transaction (VACUUM)."""
    try:
        with server.engine.connect() as connection:
            own = connection.execution_options(isolation_level="AUTOCOMMIT")
            run(own, ["SET statement_timeout = 0", *statements, "RESET statement_timeout"])
    except DBAPIError as error:
        raise _refusal(server, error) from None


def _passes(error: DBAPIError) -> bool:
    state = getattr(error.orig, "sqlstate", None)
    if state is not None:
        return str(state).startswith(_PASSING)
    lost = type(error.orig).__name__ in ("OperationalError", "InterfaceError")
    return lost and not _is_refused(error, (*_REFUSED, "not known"))


def _is_refused(error: DBAPIError, words: Iterable[str] = _REFUSED) -> bool:
    return any(word in str(error.orig) for word in words)


def _refusal(server: Server, error: DBAPIError) -> StoreError | ActError:
    """Return the error that says what is known; of the server's own words none that may quote a row."""
    state, kind = getattr(error.orig, "sqlstate", None), type(error.orig).__name__
    if state == "42501":
        return NotLetIn(
            f"study {server.name!r}: expected a role with the right to do this – found none (42501) – ask "
            "the lead of the study, or the database's administrator."
        )
    if state == WRONG_TIME:
        return ActError(
            "append: expected the time of an act in an unblinded round to be now, since it says whether the "
            f"act was blind – found more than {CLOCKS_APART} minutes between it and the server's clock – set "
            "this computer's clock, and do the last step again; it was not recorded."
        )
    if state == "53100":
        return StoreError(
            f"study {server.name!r}: the disk of the database's server is full ({state}). Everything "
            "reported as saved is safe. Ask whoever runs the server to free some space, then save again "
            "(saving twice does no harm)."
        )
    # Without an SQLSTATE the words are the client library's own: no row was ever near them.
    answer = f"{kind} {state}" if state else f"{kind}: {str(error.orig).strip().splitlines()[0][:200]}"
    kind_of_error = NotLetIn if state is None and _is_refused(error) else StoreError
    return kind_of_error(
        f"study {server.name!r}: no answer from the server ({answer}). Everything reported as saved is "
        "safe. Check network, role and password, and try again (saving twice does no harm)."
    )
