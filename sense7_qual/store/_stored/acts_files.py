"""The acts files of a study folder: finding them, their SQLite databases, and reading damaged ones."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    Connection,
    Engine,
    NullPool,
    create_engine,
    event,
    insert,
    select,
)
from sqlalchemy.exc import DBAPIError

from sense7_qual._atomic import move_in, new_file, sync_folder
from sense7_qual._coder_names import spelling
from sense7_qual._messages import first_three
from sense7_qual._suspicious_names import likely_model
from sense7_qual.acts import check_coder
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store._stored import acts_tables, leftover_journal
from sense7_qual.store._stored.acts_tables import META, SCHEMA, damaged, described, last, place
from sense7_qual.store._stored.layout import ACTS, refusing
from sense7_qual.store._stored.whole_files import building, uninterrupted

_DEVICE: Final = re.compile(r"CON|PRN|AUX|NUL|COM[0-9]|LPT[0-9]")


def is_coder(name: str) -> bool:
    """Return True if an acts file of this name (without its suffix) can be a coder's."""
    try:
        check_coder(name)
    except ActError:
        return False
    return True


def acts_files(path: Path) -> list[Path]:
    """Return the acts files of the study folder `path`, sorted by coder.

    Hidden files (``._ana.sqlite`` of macOS, say) are other programs' own.
    """
    with refusing(path):
        files = [file for file in (path / ACTS).iterdir() if is_acts_file(file)]
    files.sort(key=name_of)
    times = Counter(map(coder_of, files))
    twice = [file.name for file in files if times[coder_of(file)] > 1]
    if twice:
        raise StoreError(
            f"study {path.name!r}: expected one acts file of a coder – found {first_three(twice)}, with "
            "names that look the same and differ in how accents are written – move one out of the "
            "folder, and merge it."
        )
    return files


def name_of(file: Path) -> str:
    """Return the name of an acts file in one normal form of Unicode: what acts files are in order by."""
    return unicodedata.normalize("NFC", file.name)


def coder_of(file: Path) -> str:
    """Return the coder in the name of an acts file, in one normal form of Unicode (disks differ)."""
    return unicodedata.normalize("NFC", file.stem)


def refuse_absent(path: Path, coder: str | None = None) -> None:
    """Raise `StoreError` where a sync client has left the acts of `coder`, or of any coder, in the cloud:
    without them, numbers would be of fewer coders, and a first act would begin a second file."""
    with refusing(path):
        named = [placeholder(file) for file in sorted((path / ACTS).iterdir())]
    absent = [one for one in named if one and coder in (None, one) and not acts_file(path, one).exists()]
    if absent:
        raise StoreError(
            f"study {path.name!r}: expected the acts on this computer – found those of "
            f"{first_three(absent)} left in the cloud (.icloud) – download the study folder (in the Finder: "
            "Download Now), and do it again."
        )


def refuse_device(coder: str) -> None:
    """Raise `ActError` where Windows would take the name of the coder's file for a device (CON, COM1 …)."""
    if _DEVICE.fullmatch(coder.upper()):
        raise ActError(
            f"coder: expected a pseudonym that can name a file on every computer – found {coder!r}, which is "
            "a device on Windows – choose another."
        )


def is_acts_file(file: Path) -> bool:
    """Return True if a file in ``acts/`` has a name under which acts are read."""
    return file.suffix == ".sqlite" and not file.name.startswith(".")


def placeholder(file: Path) -> str | None:
    """Return the coder of an iCloud placeholder for an acts file that is not downloaded yet."""
    match = re.fullmatch(r"\.(.+)\.sqlite\.icloud", unicodedata.normalize("NFC", file.name))
    return match[1] if match and is_coder(match[1]) else None


def acts_file(path: Path, coder: str) -> Path:
    """Return the path of the coder's acts file, which need not exist yet."""
    file = path / ACTS / f"{coder}.sqlite"
    if coder.isascii() or file.exists():
        return file
    return next((one for one in acts_files(path) if coder_of(one) == coder), file)


def owner(connection: Connection) -> str:
    """Return the coder that a file names as its own (empty if it names none)."""
    return described(connection, "coder")


def second_copy(path: Path) -> str | None:
    """Return the coder in a file if its name says another: then it is a sync client's second copy."""
    with transaction(path) as connection:
        coder = owner(connection)
    return coder if coder and coder != coder_of(path) else None


def nothing_new(path: Path) -> bool:
    """Return True if a file is a second copy of a coder's acts, all of which the coder's own file has."""
    coder = second_copy(path)
    own = path.with_name(f"{coder}.sqlite")
    return coder is not None and own.exists() and act_ids(path) <= act_ids(own)


def act_ids(path: Path) -> set[str]:
    """Return the ids of the acts in an acts file."""
    with transaction(path) as connection:
        return set(connection.execute(select(acts_tables.ACTS.c.act_id)).scalars())


_SMALLEST_ROW: Final = 64  # bytes: no act takes fewer, so a file of n bytes has at most n / 64


def rows_one_by_one(path: Path, table: str, key: str) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Yield the rows of a table of a damaged file with their numbers, None for one that SQLite cannot read.

    After the last readable row none is reported. Nothing is written, and a journal next to the file is left
    alone.
    """
    unheld = "&immutable=1" if path.with_name(f"{path.name}-journal").exists() else ""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro{unheld}", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        leftover_journal.limit_values(connection)
        try:
            refuse_computed(connection.execute, path)
            connection.execute(f"SELECT 1 FROM {table} LIMIT 0")
        except (sqlite3.Error, UnicodeDecodeError):
            raise damaged(path, "nothing that can be read") from None
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


PRAGMAS: Final[dict[str, Any]] = {
    "busy_timeout": 30_000,  # milliseconds that a second kernel waits for the first; set before all else
    "journal_mode": "delete",  # no side files that a synced folder could tear from their database
    "synchronous": 3,  # EXTRA: also the directory entry of the journal outlives a power cut
    "foreign_keys": 1,
    "trusted_schema": 0,  # a file from a stranger runs no functions
}


def create(path: Path, *, study: str, coder: str) -> None:
    """Make the acts file of `coder`, without acts; an existing one is left as it is.

    It is built next to its place and moved in when whole, so that an empty or half-made acts file is always
    a damaged one, never a coder without acts.
    """
    meta = {"study": study, "coder": coder, "schema": str(SCHEMA)}
    with uninterrupted(), _refusing(path), building(path.parent) as folder:
        built = folder / path.name
        new_file(built)
        with _begin(built, "BEGIN IMMEDIATE") as connection:
            acts_tables.ACTS.metadata.create_all(connection)
            connection.execute(insert(META), [{"name": k, "value": v} for k, v in meta.items()])
        with suppress(FileExistsError):  # another process was first
            move_in(built, path)


@contextmanager
def transaction(path: Path, *, writes: bool = False) -> Iterator[Connection]:
    """Open the acts file for one transaction: all of it happens, or nothing.

    Every transaction has its own connection, because widgets' messages arrive in another thread than
    cells. One that writes takes the write lock before it reads, so that no other process can come between.
    """
    # A reader must not take the write lock: it would wait for coders, and fail on a read-only copy.
    begin = _begin(path, "BEGIN IMMEDIATE" if writes else "BEGIN")
    with uninterrupted(), _refusing(path), begin as connection:
        refuse_computed(connection.exec_driver_sql, path)
        if writes:
            acts_tables.bring_up_to_date(connection)
        yield connection


def refuse_computed(execute: Callable[[str], Iterable[Any]], path: Path) -> None:
    """Raise `StoreError` where a file has views, triggers or computed columns."""
    if not leftover_journal.only_tables(execute(leftover_journal.OBJECTS)):
        raise damaged(path, "views, triggers or computed columns, which no acts file has")


@contextmanager
def _begin(path: Path, how: str) -> Iterator[Connection]:
    with _engine(path).connect() as connection:
        own = connection.execution_options(begin=how)
        with own.begin():
            yield own


@lru_cache(maxsize=256)
def _engine(path: Path) -> Engine:
    connect = partial(_connected, path)
    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)
    event.listen(engine, "connect", _set_pragmas)
    event.listen(engine, "begin", _emit_begin)
    return engine


def _connected(path: Path) -> sqlite3.Connection:
    leftover_journal.settle(path)
    # mode=rw: a file that is missing is never made here; the driver's own transactions are switched off
    # because they begin too late and lose updates.
    wait = PRAGMAS["busy_timeout"] / 1000
    connection = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=wait)
    leftover_journal.limit_values(connection)
    return connection


def _set_pragmas(connection: sqlite3.Connection, _: object) -> None:
    for name, value in PRAGMAS.items():
        connection.execute(f"PRAGMA {name}={value}")
        setting = connection.execute(f"PRAGMA {name}").fetchone()
        if setting != (value,):
            raise StoreError(
                f"acts file: expected SQLite to take {name}={value} – found {setting} – update SQLite, or "
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
    except StoreError:  # an OSError too, which says more
        raise
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
            f"{place(path)}: disk full or read-only ({shown}). Everything reported as saved is safe. Free "
            "some space, or check permissions, and save again (saving twice does no harm)."
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreError(
            f"{place(path)}: another program has locked the file for more than 30 s ({shown}). Everything "
            "reported as saved is safe. Close that program (a sync client, a database browser) and save "
            "again."
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return StoreError(
            f"{place(path)}: the file cannot be opened and written ({shown}). Everything reported as saved "
            "is safe. Check the permissions of the study folder."
        )
    return damaged(path, f"a file that SQLite cannot read as one ({shown})")


def erase(connection: Connection, unit_ids: Collection[str], text_hashes: Collection[str]) -> int:
    """Erase the quotes and memos on units, and those of the given hashes; return how many there were.

    The transaction must be one that writes; `write_anew` follows it. No index is asked: it may be damaged.
    """
    connection.exec_driver_sql("PRAGMA secure_delete=ON")
    units, theirs = set(unit_ids), set(text_hashes)
    acts = connection.exec_driver_sql("SELECT unit_id, text_hash FROM acts NOT INDEXED")
    theirs |= {
        recorded_hash for unit_id, recorded_hash in acts if unit_id in units and recorded_hash is not None
    }
    texts = connection.exec_driver_sql(
        "SELECT rowid, text_hash FROM texts NOT INDEXED WHERE text IS NOT NULL"
    )
    rows = [(number,) for number, recorded_hash in texts if recorded_hash in theirs]
    if rows:
        connection.exec_driver_sql("UPDATE texts SET salt = NULL, text = NULL WHERE rowid = ?", rows)
    return len(rows)


def write_anew(path: Path) -> None:
    """Write the acts file again, so that neither free pages nor space within pages keep what was erased."""
    with uninterrupted(), _refusing(path), closing(_connected(path)) as connection:
        _set_pragmas(connection, None)
        refuse_computed(connection.execute, path)
        connection.execute("PRAGMA temp_store=MEMORY")  # what is written again goes through no other file
        connection.execute("VACUUM")


def copy(path: Path, target: Path) -> None:
    """Copy an acts file by SQLite's own backup, which waits for writers and takes one moment of the file."""
    with uninterrupted(), _refusing(path):
        new_file(target)
        with closing(_connected(path)) as source, closing(_connected(target)) as connection:
            _set_pragmas(connection, None)
            source.backup(connection)
    sync_folder(target.parent)


def head(path: Path) -> tuple[int, str] | None:
    """Return the number of acts in the file and the hash of the last (None without acts)."""
    with transaction(path) as connection:
        return last(connection)


def problems(connection: Connection) -> str:
    """Return the result of SQLite's own full check of the file, empty if it is sound."""
    faults = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
    return "" if faults == ["ok"] else f"{len(faults)} faults in SQLite's own check of the file"


def has_sound_tables(connection: Connection) -> bool:
    """Return True if SQLite's own check finds nothing but faults of indices, which no row depends on."""
    return all(
        fault == "ok" or " index " in fault
        for fault in connection.exec_driver_sql("PRAGMA integrity_check").scalars()
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


def check_pseudonym(coder: str, coders: Iterable[str]) -> str:
    """Return the pseudonym `coder`, or raise `ActError` if it is too like one of `coders`."""
    coder = check_coder(coder)
    # On many disks Ana.sqlite and ana.sqlite are one file, and studies move between disks.
    known = list(coders)
    same = [name for name in known if spelling(name) == spelling(coder) and name != coder]
    if same and coder in known:
        raise ActError(
            f"coder: expected one spelling of a pseudonym – found acts of both {coder!r} and {same[0]!r}, "
            "which share one file on many disks – decide which counts, move the other file out of acts/ "
            "and keep it: the hashes of its acts cover the spelling, so that no merge can take them in."
        )
    if same:
        raise ActError(
            f"coder: expected the pseudonym as it is recorded – found {coder!r} next to {same[0]!r} – "
            f"use {same[0]!r}, or a pseudonym that differs in more than case or similar letters."
        )
    return coder


def refuse_model_name(coder: str, coders: Iterable[str]) -> None:
    """Raise `ActError` where the name of a coder who is not among `coders` yet is likely a model's."""
    if likely_model(coder) and coder not in coders:
        raise ActError(
            f"coder: expected a person's pseudonym, or a model's – found {coder!r}, which would count as a "
            f"person and is likely the name of a model – call it 'model-{coder.lower()}'; if it is a person, "
            "pass person=True (--person). Nothing was recorded."
        )
