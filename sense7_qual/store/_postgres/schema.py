"""The record of a team in PostgreSQL: the same acts as in a study folder, in one schema for each coder.

Several studies can share one database, but give them a separate one: to keep the server's
statistics from coders, an administrator must close them to everybody (`row_security.CLOSING`). `server` says
how an address is written and what happens to a lost connection, `row_security` who sees what.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Final, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    insert,
    select,
    text,
)

from sense7_qual._messages import first_three
from sense7_qual.acts import Act, kinds_where
from sense7_qual.codebook import Codebook
from sense7_qual.errors import NotLetIn, StoreError
from sense7_qual.rounds import Round, opened
from sense7_qual.store._operations.contents import has_readable_change
from sense7_qual.store._postgres import row_security
from sense7_qual.store._postgres.server import SNAPSHOT, Server, retried, run, search_path
from sense7_qual.store._stored import acts_tables, layout
from sense7_qual.store._stored.acts_tables import newer
from sense7_qual.store._stored.layout import Study, StudyData


@dataclass(frozen=True, slots=True)
class Openness:
    """What of the server's statistics coders can see: whether those of `database`, where the study is, were
    `closed`, and the databases `elsewhere` that every role may enter."""

    closed: bool
    database: str
    elsewhere: tuple[str, ...]

    def warnings(self) -> list[str]:
        """Return sentences that the lead should read."""
        sentences = [] if self.closed else [OPEN_STATISTICS.format(self.database, row_security.CLOSING)]
        if self.elsewhere:
            closing = "; ".join(f'REVOKE CONNECT ON DATABASE "{name}" FROM PUBLIC' for name in self.elsewhere)
            sentences.append(
                "study: expected coders to be kept out of the server's other databases, because their "
                f"statistics cover the whole server – found {first_three(self.elsewhere)} open to every "
                "role – let an "
                f"administrator run: {closing}."
            )
        return sentences


OPEN_STATISTICS: Final = (
    "study: expected the statistics of database {0!r} to be closed to coders – found them open, so that "
    "table sizes and activity tell a coder how much others have done (not what) – if that matters and the "
    "database holds only studies, let an administrator read and run, as a superuser: psql --dbname={0} "
    "--file={1} (open_statistics.sql next to it undoes that)."
)

_T = TypeVar("_T")

_METADATA: Final = MetaData()
STUDY: Final = Table(
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
CODEBOOKS: Final = Table(
    "codebooks",
    _METADATA,
    Column("fingerprint", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)
_LEADS: Final = Table("leads", _METADATA, Column("role", Text, primary_key=True))
MEMBERS: Final = Table(
    "members", _METADATA, Column("coder", Text, primary_key=True), Column("role", Text, nullable=False)
)
NOTES: Final = Table(
    "notes",
    _METADATA,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),  # the folder that has such notes in a study folder
    Column("shown", Text),  # of a withdrawal: its units and the hash of those that are left, for every member
    Column("content", LargeBinary, nullable=False),
)
UNBLINDED: Final = Table(
    "unblinded",
    _METADATA,
    Column("round", Text, primary_key=True),
    Column("coder", Text, nullable=False),
    Column("act_id", Text, nullable=False),
)
# What all may see: rows of `acts` and `texts`, numbered anew for each coder.
SHOWN: Final = Table(
    "shown",
    _METADATA,
    *(Column(c.name, c.type, primary_key=c.name in ("coder", "seq")) for c in acts_tables.ACTS.columns),
)
SHOWN_TEXTS: Final = acts_tables.TEXTS.to_metadata(_METADATA, name="shown_texts")


def owner_of(server: Server) -> str:
    """Return a new name for the role that will own a study."""
    return f"{server.name}_owner_{secrets.token_hex(4)}"


def make(
    connection: Connection,
    server: Server,
    made: Study,
    units: bytes,
    codebooks: Mapping[str, bytes],
    owner: str,
) -> tuple[Openness, bool]:
    """Make a study from its units, as Parquet, and the versions of its codebook; the role becomes its lead.

    Returns what of the server's statistics stays open to the coders, and whether it is made only now. Where a
    study of this `owner` is there, the connection was lost after it was made.
    """
    before = is_there(connection, server)
    if before and not connection.execute(_IS_ROLE, {"name": owner}).scalar_one():
        raise StoreError(
            f"study {server.name!r}: expected no schema of this name yet – found one – open it with "
            "Store(…), or name another study in the address."
        )
    if not before:
        _make(connection, server, made, units, codebooks, owner)
    elsewhere = connection.exec_driver_sql(row_security.OPEN_DATABASES).scalars().all()
    closed = connection.exec_driver_sql(row_security.CLOSED).scalar_one()
    return Openness(bool(closed), str(server.engine.url.database), tuple(map(str, elsewhere))), not before


def is_there(connection: Connection, server: Server) -> bool:
    """Return True if there is a schema of the study's name."""
    return bool(connection.execute(_EXISTS, {"name": server.name}).scalar_one())


def _make(
    connection: Connection,
    server: Server,
    made: Study,
    units: bytes,
    codebooks: Mapping[str, bytes],
    owner: str,
) -> None:
    role, _ = connection.execute(WHO).one()
    run(connection, row_security.guard_statements(owner, role))
    run(connection, [f'CREATE SCHEMA "{server.name}" AUTHORIZATION "{owner}"'])
    if connection.execute(_MAY_FOUND).scalar_one():
        run(connection, row_security.founding_statements(owner))
    run(connection, [f'SET LOCAL ROLE "{owner}"', search_path(server.name)])
    _METADATA.create_all(connection, checkfirst=False)
    connection.execute(insert(STUDY), asdict(made) | {"owner": owner, "units": units})
    versions = [{"fingerprint": name, "content": content} for name, content in codebooks.items()]
    connection.execute(insert(CODEBOOKS), versions)
    connection.execute(insert(_LEADS), {"role": role})
    run(connection, [*row_security.study_statements(server.name), "RESET ROLE"])


def read(server: Server) -> StudyData:
    """Read the study's metadata, its units and every version of its codebook, all checked."""
    contents = stored(server)
    return StudyData.of(
        contents.study,
        layout.units_of(contents.units, contents.study, name=server.name, later=contents.later),
        layout.codebooks_of(contents.codebooks, contents.study, name=server.name),
        contents.withdrawn_units,
    )


@dataclass(frozen=True, slots=True, repr=False)
class Stored:
    """A study without its acts as the server keeps it; nothing of it is checked yet."""

    study: Study
    units: bytes
    codebooks: Mapping[str, bytes]
    withdrawn_units: frozenset[str]
    later: frozenset[str]  # the hashes of the units that withdrawals left


def stored(server: Server) -> Stored:
    """Return the study as the server keeps it, without acts; errors as of `read`."""
    return retried(server, lambda connection: stored_in(connection, server))


def stored_in(connection: Connection, server: Server) -> Stored:
    """Return the same as `stored`, in the transaction of `connection`."""
    _refuse_invisible(connection, server)
    layout = _version(connection, server)
    run(connection, [search_path(server.name)])
    if layout < row_security.LAYOUT:
        _bring_up_to_date(connection, server, layout)
    row = connection.execute(select(STUDY)).mappings().one()
    study = Study(**{field.name: row[field.name] for field in fields(Study)})
    if layout > row_security.LAYOUT:  # a later version made it what it is, whatever the study's own number
        study = replace(study, schema=max(study.schema, acts_tables.SCHEMA + 1))
    contents = {name: bytes(content) for name, content in connection.execute(select(CODEBOOKS))}
    withdrawn_units, later = withdrawn(connection, server)
    return Stored(study, bytes(row["units"]), contents, withdrawn_units, later)


def _bring_up_to_date(connection: Connection, server: Server, layout: int) -> None:
    """Give a study that an earlier version made the tables of this one; its lead does that."""
    if not leads(connection, server):
        raise StoreError(
            f"study {server.name!r} was made by an earlier version of sense7_qual. Ask the lead to open it "
            "once with this version, then open it again."
        )
    owner = connection.execute(select(STUDY.c.owner)).scalar_one()
    roles = {str(coder): str(role) for coder, role in connection.execute(select(MEMBERS))}
    statements = row_security.upgrade_statements(server.name, roles, layout)
    if connection.execute(_IS_ROLE, {"name": owner}).scalar_one():  # a restored dump may be without it
        statements.insert(0, f'SET LOCAL ROLE "{owner}"')
    run(connection, [*statements, "RESET ROLE", search_path(server.name)])


def _refuse_invisible(connection: Connection, server: Server) -> None:
    if not connection.execute(_VISIBLE, {"name": server.name}).scalar_one():
        raise NotLetIn(
            f"study {server.name!r}: expected a study that this role may open – found none – check role, "
            "database and study in the address, ask the lead to add you (store.admin.add_coder), or make a "
            "study with Store.create(address, units=…, codebook=…)."
        )


def _version(connection: Connection, server: Server) -> int:
    """Return the version of the study's tables, functions and rules (`row_security.LAYOUT`)."""
    if not connection.execute(_HAS_LAYOUT, {"name": f'"{server.name}".layout()'}).scalar_one():
        raise StoreError(
            f"study {server.name!r}: expected a study – found a schema without one – check the name of "
            "the study in the address."
        )
    return int(connection.execute(text(f'SELECT "{server.name}".layout()')).scalar_one())


def refuse_newer(server: Server) -> None:
    """Raise `StoreError` where a later version made the study: it can be read and not be written."""

    def recorded_version(connection: Connection) -> int:
        if _version(connection, server) > row_security.LAYOUT:
            return acts_tables.SCHEMA + 1
        run(connection, [search_path(server.name)])
        return int(connection.execute(select(STUDY.c.schema)).scalar_one())

    version = retried(server, recorded_version)
    if version > acts_tables.SCHEMA:
        raise StoreError(newer(f"study {server.name!r}", version))


def withdrawn(connection: Connection, server: Server) -> tuple[frozenset[str], frozenset[str]]:
    """Return the units of participants who withdrew, and the hashes of the units that were left."""
    query = text(f'SELECT * FROM "{server.name}".withdrawn()')
    try:
        notes = [json.loads(shown) for shown in connection.execute(query).scalars()]
        units = frozenset(unit_id for each in notes for unit_id in each["unit_ids"])
        return units, frozenset(each["units_sha256"] for each in notes)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(
            f"study {server.name!r}: expected readable notes of withdrawals for the coders – found one "
            f"unreadable or changed ({type(error).__name__}) – put the row back, from the server's backup."
        ) from None


def enter(connection: Connection, server: Server, coder: str) -> None:
    """Let table names mean those of `coder`, and keep every other writer of them out."""
    run(connection, [search_path(f"{server.name}-{coder}")])
    connection.execute(_LOCK)


def keep_withdrawals_out(connection: Connection, server: Server) -> None:
    """Wait for a withdrawal under way, and let none begin until the transaction ends; for the lead."""
    run(connection, [f'LOCK TABLE "{server.name}".notes IN ROW EXCLUSIVE MODE'])


def leads(connection: Connection, server: Server) -> bool:
    """Return True if the role leads the study."""
    return bool(connection.execute(text(f'SELECT "{server.name}".is_lead()')).scalar_one())


def check_lead(connection: Connection, server: Server, what: str) -> None:
    """Raise `StoreError` where the role does not lead the study."""
    if not leads(connection, server):
        role, _ = connection.execute(WHO).one()
        raise StoreError(
            f"{what}: expected the role of a lead, who sees all of study {server.name!r} – found {role!r}, "
            "which does not lead – ask the lead to do it."
        )


def acts(
    server: Server, coder: str, *, study: str, whole: Callable[[Connection], object] = bool
) -> list[Act]:
    """Return the acts of `coder` that this role may see, in order, each checked against its hash.

    Of its own coders, and as the lead, a role sees the whole chain. Of others it sees what the lead has
    unblinded: the acts of those rounds, and what the lead did for the team. `whole` is called with the
    connection, on the coder's tables, where the role sees the whole chain.
    """

    def read(connection: Connection) -> list[Act]:
        run(connection, [SNAPSHOT])  # acts and texts of one moment, while their coder goes on
        place = place_of(server, coder)
        if sees_all(connection, server, coder):
            run(connection, [search_path(f"{server.name}-{coder}")])
            coded = acts_tables.read(connection, place, study=study, coder=coder)
            whole(connection)
            return coded
        return shown(connection, server, SHOWN.c.coder == coder, place)

    return retried(server, read)


def may_see_all(connection: Connection, server: Server, coder: str) -> bool:
    """Return True if the role may see the whole chain of the coder, who need not have acts."""
    own = f'"{server.name}"'
    query = text(f"SELECT {own}.is_mine(:coder) OR {own}.is_lead()")
    return bool(connection.execute(query, {"coder": coder}).scalar_one())


def sees_all(connection: Connection, server: Server, coder: str) -> bool:
    """Return True if the role may see the whole chain of the coder, who has acts."""
    own = f'"{server.name}"'
    query = text(
        f"SELECT {own}.is_mine(:coder) OR "
        f"({own}.is_lead() AND EXISTS (SELECT FROM {own}.coders() c WHERE c = :coder))"
    )
    return bool(connection.execute(query, {"coder": coder}).scalar_one())


def shown(connection: Connection, server: Server, which: ColumnElement[bool], place: Path) -> list[Act]:
    """Return acts that all may see, each checked against its own hash."""
    run(connection, [search_path(server.name)])
    rows = (
        connection.execute(select(SHOWN).where(which).order_by(SHOWN.c.coder, SHOWN.c.seq)).mappings().all()
    )
    texts = select(SHOWN_TEXTS).where(SHOWN_TEXTS.c.text_hash.in_(select(SHOWN.c.text_hash).where(which)))
    return acts_tables.checked_singly(connection, place, rows, texts)


def lead_acts(connection: Connection, server: Server, subject: str = "work") -> list[Act]:
    """Return the leads' acts for the team about one subject, if the acts say what they do."""
    kinds = kinds_where(lambda kind: kind.subject == subject)
    recorded = shown(connection, server, SHOWN.c.kind.in_(kinds), Path(server.name))
    return [act for act in recorded if has_readable_change(act)]


def rounds(connection: Connection, server: Server) -> tuple[Round, ...]:
    """Return the rounds; an act that names no round opens none."""
    return opened(lead_acts(connection, server))


def current_codebook(connection: Connection, server: Server) -> str:
    """Return the fingerprint of the current codebook, without reading the units."""
    _refuse_invisible(connection, server)
    run(connection, [search_path(server.name)])
    return str(connection.execute(select(STUDY.c.codebook)).scalar_one())


def add_codebook(connection: Connection, server: Server, codebook: Codebook) -> None:
    """Add a version of the codebook, where it is not there."""
    run(connection, [search_path(server.name)])
    content = {"fingerprint": codebook.fingerprint, "content": codebook.to_yaml()}
    connection.execute(
        text("INSERT INTO codebooks VALUES (:fingerprint, :content) ON CONFLICT DO NOTHING"), content
    )


def sheet_key(connection: Connection, server: Server, coder: str) -> bytes:
    """Return the key that seals the coding sheets of `coder`; the server refuses it to other coders."""
    query = text(f'SELECT "{server.name}".sheet_key(:coder)')
    return bytes(connection.execute(query, {"coder": coder}).scalar_one())


def place_of(server: Server, coder: str) -> Path:
    """Return the name of the coder's tables in messages."""
    return Path(server.name) / coder


_IS_ROLE: Final = text("SELECT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = :name)")
_MAY_FOUND: Final = text("SELECT has_database_privilege(current_database(), 'CREATE WITH GRANT OPTION')")
_EXISTS: Final = text("SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = :name)")
_VISIBLE: Final = text(
    "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = :name "
    "AND has_schema_privilege(nspname, 'USAGE'))"
)
_HAS_LAYOUT: Final = text("SELECT to_regprocedure(:name) IS NOT NULL")
WHO: Final = text(
    "SELECT session_user, (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = session_user)"
)
_LOCK: Final = text("SELECT pg_advisory_xact_lock(CAST(value AS bigint)) FROM meta WHERE name = 'lock'")
