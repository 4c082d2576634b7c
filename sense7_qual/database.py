"""The tables of the record, and the SQL that writes and reads one coder's chained acts.

An acts file is a SQLite database that belongs to one coder of one study. Every act is a row of `acts`;
its `hash` covers its fields and the hash of the row before, and the first row is bound to the study and
the coder. Quotes and memo texts stand apart in `texts`, under a salted hash: when a participant withdraws,
salt and text are emptied, the chain stays whole, and the hash alone cannot be guessed back to the words.

What the chain shows: a changed, inserted, reordered or missing act, and a file of another study or coder.
What it cannot show: a file put back from an older copy, which is a shorter chain that is right in itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Engine,
    ForeignKey,
    Integer,
    MetaData,
    NullPool,
    Row,
    Select,
    Table,
    Text,
    create_engine,
    event,
    insert,
    select,
)
from sqlalchemy.exc import DBAPIError

from sense7_qual.acts import Act
from sense7_qual.errors import ActError, StoreError

__all__ = [
    "ACTS",
    "META",
    "SCHEMA",
    "TEXTS",
    "add",
    "check",
    "create",
    "damaged",
    "find",
    "problems",
    "read",
    "sync_folder",
    "transaction",
]

SCHEMA: Final = 1
"""The version of the tables and of the study folder that this version of the package writes."""

PRAGMAS: Final[dict[str, Any]] = {
    "busy_timeout": 30_000,  # milliseconds that a second kernel waits for the first; set before all else
    "journal_mode": "delete",  # no side files that a synced folder could tear from their database
    "synchronous": 3,  # EXTRA: also the directory entry of the journal outlives a power cut
    "foreign_keys": 1,
    "trusted_schema": 0,  # a file from a stranger runs no functions
}

_METADATA: Final = MetaData()

META: Final = Table(
    "meta",
    _METADATA,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

TEXTS: Final = Table(
    "texts",
    _METADATA,
    Column("text_hash", Text, primary_key=True),
    Column("salt", Text),  # salt and text are empty once the text is erased
    Column("text", Text),
)

ACTS: Final = Table(
    "acts",
    _METADATA,
    Column("seq", Integer, primary_key=True),
    Column("act_id", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("coder", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("codebook", Text, nullable=False),
    Column("unit_id", Text),
    Column("code", Text),
    Column("start", Integer),
    Column("end", Integer),
    Column("valence", Text),
    Column("confidence", Text),
    Column("round", Text),
    Column("applied", Boolean),
    Column("target", Text),
    Column("target_kind", Text),
    Column("memo_id", Text),
    Column("text_hash", Text, ForeignKey("texts.text_hash")),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
)

_BOOKKEEPING: Final = ("seq", "previous", "hash")
_FIELDS: Final = tuple(column.name for column in ACTS.columns if column.name not in _BOOKKEEPING)
_OWN: Final = _FIELDS[:-1]  # what an act has as it is: all but text_hash
_NOTHING: Final = dict.fromkeys(_FIELDS)
_ROWS: Final = select(*(ACTS.c[name] for name in (*_BOOKKEEPING, *_FIELDS)))
_TEXTS: Final = select(TEXTS.c.text_hash, TEXTS.c.salt, TEXTS.c.text)
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


def create(path: Path, *, study: str, coder: str) -> None:
    """Make the acts file of `coder`, without acts; one that is there already is left as it is.

    It is built beside its place and moved in when whole, so that an empty or half-made acts file is always
    a damaged one, never a coder without acts.
    """
    building = path.with_name(f".{uuid.uuid4()}.new")
    meta = {"study": study, "coder": coder, "schema": str(SCHEMA)}
    with _refusing(path):
        os.close(os.open(building, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            with _begin(building, "BEGIN IMMEDIATE") as connection:
                _METADATA.create_all(connection)
                connection.execute(insert(META), [{"name": k, "value": v} for k, v in meta.items()])
            _move_in(building, path)
        finally:
            building.unlink(missing_ok=True)


def _move_in(building: Path, path: Path) -> None:
    """Give the finished file its name, unless another process was first; never replace a file."""
    try:
        path.hardlink_to(building)
    except FileExistsError:
        return
    except OSError:
        # A file system without hard links (a memory stick). Here alone two first acts in one instant could
        # meet; a rename is the nearest thing to it there.
        if not path.exists():
            building.rename(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in `folder` are on the disk (Windows does this by itself)."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def transaction(path: Path, *, writes: bool = False) -> Iterator[Connection]:
    """Open the acts file for one transaction: all of it happens, or nothing.

    Every transaction has its own connection, because widgets' messages arrive in another thread than
    cells. One that writes takes the write lock before it reads, so that no other process can come between.

    Raises
    ------
    StoreError
        The file is no database, is damaged, is locked by another program, or cannot be written.
    """
    # A reader must not take the write lock: it would wait for coders, and fail on a read-only copy.
    with _refusing(path), _begin(path, "BEGIN IMMEDIATE" if writes else "BEGIN") as connection:
        yield connection


@contextmanager
def _begin(path: Path, how: str) -> Iterator[Connection]:
    with _engine(path).connect() as connection:
        own = connection.execution_options(begin=how)
        with own.begin():
            yield own


@lru_cache(maxsize=256)
def _engine(path: Path) -> Engine:
    def connect() -> sqlite3.Connection:
        # mode=rw: a file that is missing is never made here; the driver's own transactions are switched off
        # because they begin too late and lose updates.
        wait = PRAGMAS["busy_timeout"] / 1000
        return sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=wait)

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)
    event.listen(engine, "connect", _set_pragmas)
    event.listen(engine, "begin", _emit_begin)
    return engine


def _set_pragmas(connection: sqlite3.Connection, _: object) -> None:
    for name, wanted in PRAGMAS.items():
        connection.execute(f"PRAGMA {name}={wanted}")
        found = connection.execute(f"PRAGMA {name}").fetchone()
        if found != (wanted,):
            raise StoreError(
                f"acts file: expected SQLite to take {name}={wanted} – found {found} – update SQLite, or "
                "move the study to a local disk."
            )


def _emit_begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN IMMEDIATE"))


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn the database's errors into `StoreError`.

    The original is cut off (`from None`): SQLite's messages can quote the very text that it stumbled over.
    """
    try:
        yield
    except DBAPIError as error:
        raise _refusal(path, getattr(error.orig, "sqlite_errorname", "")) from None
    except sqlite3.Error as error:
        raise _refusal(path, getattr(error, "sqlite_errorname", "")) from None
    except UnicodeDecodeError:  # of SQLite's message, which quotes the damaged file's own bytes
        raise _refusal(path, "") from None
    except OSError as error:
        raise _refusal(path, "SQLITE_IOERR", error.strerror or type(error).__name__) from None


def _refusal(path: Path, name: str, reason: str = "") -> StoreError:
    shown = f"{reason or name or 'undecodable text'}"
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return StoreError(
            f"{place(path)}: expected room and permission to write – found {shown} – nothing of this call is "
            "lost that was acknowledged before; free space on the disk and save again (repeats change "
            "nothing)."
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreError(
            f"{place(path)}: expected the file to be free within 30 s – found it locked by another program "
            f"({shown}) – close that program (a sync client, a database browser) and save again."
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return StoreError(
            f"{place(path)}: expected a file that may be opened and written – found {shown} – check the "
            "permissions of the study folder."
        )
    return damaged(path, f"a file that SQLite cannot read as one ({shown})")


def place(path: Path) -> str:
    """Name an acts file in a message: within its study, without the way there."""
    return f"'{path.parent.name}/{path.name}'"


def damaged(path: Path, found: str) -> StoreError:
    """Return the error for an acts file that cannot be trusted."""
    return StoreError(
        f"{place(path)}: expected the unbroken acts of one coder – found {found} – put a good copy of this "
        "file back (from a backup, or from the coder); the other coders' files still open with "
        "store.acts(coder=…), and store.verify() names every damaged one."
    )


def check(connection: Connection, path: Path, *, study: str, coder: str) -> None:
    """Raise `StoreError` where the file is not the acts file of this coder in this study."""
    meta: dict[str, str] = {row.name: row.value for row in connection.execute(select(META))}
    if meta.get("study") != study:
        raise StoreError(
            f"{place(path)}: expected an acts file of study {study!r} – found one of study "
            f"{meta.get('study')!r} – move it back to the study folder that it came from."
        )
    if meta.get("coder") != coder:
        raise StoreError(
            f"{place(path)}: expected the acts of coder {coder!r} – found those of coder "
            f"{meta.get('coder')!r} – where {meta.get('coder')}.sqlite is missing, give the file that name; "
            "where both are there, a sync client made a copy: move it out of the study and keep it."
        )
    found = meta.get("schema", "")
    if found != str(SCHEMA):
        raise StoreError(
            f"{place(path)}: expected tables of version {SCHEMA} – found version {found[:20]!r} – update "
            "sense7_qual to the version that wrote them."
        )


def add(connection: Connection, acts: Sequence[Act], *, study: str, coder: str) -> None:
    """Append `acts` to the coder's chain; the transaction must be one that writes."""
    if not acts:
        return
    last = connection.execute(select(ACTS.c.seq, ACTS.c.hash).order_by(ACTS.c.seq.desc()).limit(1)).first()
    begin, previous = (last.seq, last.hash) if last else (0, _genesis(study, coder))
    rows, texts = [], []
    for seq, act in enumerate(acts, start=begin + 1):
        fields = {name: value for name in _OWN if (value := getattr(act, name)) is not None}
        if act.text is not None:
            salt = secrets.token_hex(16)
            fields["text_hash"] = _text_hash(salt, act.text)
            texts.append({"text_hash": fields["text_hash"], "salt": salt, "text": act.text})
        chained = _chained(previous, fields)
        rows.append({**_NOTHING, **fields, "seq": seq, "previous": previous, "hash": chained})
        previous = chained
    if texts:
        connection.execute(insert(TEXTS), texts)
    connection.execute(insert(ACTS), rows)


def find(connection: Connection, path: Path, act_ids: Iterable[str]) -> dict[str, Act]:
    """Return the recorded acts out of `act_ids`, by id, each checked against its own hash."""
    wanted = sorted(set(act_ids))
    found: dict[str, Act] = {}
    for begin in range(0, len(wanted), 500):  # well under SQLite's limit of parameters
        chunk = _ROWS.where(ACTS.c.act_id.in_(wanted[begin : begin + 500]))
        rows = connection.execute(chunk).all()
        hashes = TEXTS.c.text_hash.in_([row.text_hash for row in rows])
        texts = _read_texts(connection, path, _TEXTS.where(hashes))
        found |= {row.act_id: _act(row, path, texts) for row in rows}
    return found


def read(connection: Connection, path: Path, *, study: str, coder: str) -> list[Act]:
    """Return the coder's acts in order, after checking the chain and every text against its hash.

    Raises
    ------
    StoreError
        An act or a text is not what was written, or acts are missing.
    """
    texts = _read_texts(connection, path, _TEXTS)
    acts: list[Act] = []
    last = _genesis(study, coder)
    for number, row in enumerate(connection.execute(_ROWS.order_by(ACTS.c.seq)), start=1):
        if row[0] != number or row[1] != last:
            raise damaged(path, f"a break in the chain at act {number}")
        acts.append(_act(row, path, texts))
        last = row[2]
    # The count walks another tree of the file (the index), so a page that lost its tail shows.
    counted = connection.exec_driver_sql("SELECT count(*) FROM acts").scalar_one()
    if not counted == len(acts) == len({act.act_id for act in acts}):
        raise damaged(path, f"{len(acts)} acts where {counted} different ones are indexed")
    return acts


def problems(connection: Connection) -> str:
    """Return what SQLite's own full check of the file finds, empty where it is sound."""
    found = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
    return "" if found == ["ok"] else f"{len(found)} faults in SQLite's own check of the file"


def _read_texts(connection: Connection, path: Path, query: Select[Any]) -> dict[str, str | None]:
    """Return the texts by their hash, each checked; an erased one is None."""
    texts: dict[str, str | None] = {}
    for text_hash, salt, text in connection.execute(query):
        erased = salt is None and text is None
        if not erased and _text_hash(salt, text) != text_hash:
            raise damaged(path, "a quote or memo that is not the one that was written")
        texts[text_hash] = text
    return texts


def _act(row: Row[Any], path: Path, texts: Mapping[str, str | None]) -> Act:
    """Return the act of a row that its hash vouches for.

    The text of an erased memo is empty: the memo has ended, its act stays.
    """
    seq, previous, chained, *values = tuple(row)
    fields = {name: value for name, value in zip(_FIELDS, values, strict=True) if value is not None}
    if chained != _chained(previous, fields):
        raise damaged(path, f"another content than was written in act {seq}")
    text_hash = fields.pop("text_hash", None)
    if text_hash is not None and text_hash not in texts:
        raise damaged(path, f"no quote or memo text where act {seq} has one")
    text = None if text_hash is None else texts[text_hash]
    try:
        return Act(**fields, text="" if text is None and fields["kind"] == "memo" else text)
    except ActError as error:
        raise damaged(path, f"an act {seq} that cannot be one") from error


def _genesis(study: str, coder: str) -> str:
    return _sha256(_encode({"study": study, "coder": coder, "schema": SCHEMA}))


def _chained(previous: str, fields: dict[str, Any]) -> str:
    """Return the hash of an act: over the hash before it and the fields that it has, as canonical JSON."""
    try:
        return _sha256(previous + _encode(fields))
    except TypeError:
        return ""  # bytes or nothing where text was written: no recorded hash equals this


def _text_hash(salt: str, text: str) -> str:
    try:
        return _sha256(salt + text)
    except TypeError:
        return ""


def _sha256(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()
