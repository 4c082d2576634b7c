"""Journals next to an acts file: of a write that was interrupted here, or brought by a sync client.

SQLite copies the pages that a write changes into ``<coder>.sqlite-journal`` first, and when it finds such a
journal that nobody holds, it puts those pages back. After a crash that is what saves the file. But a sync
client may carry a journal to another computer, next to a file that is newer than it: putting its pages back
would take away acts that were acknowledged, or tear the file, and the next sync would carry that home.

So before a file is opened that has a journal, both are tried on copies: the file as SQLite would mend it, and
the file as it lies there. The file is only left to SQLite where that keeps every act of the chain, and brings
back no text that was erased. Where the file is whole as it is and has more, the journal is not of this file
and is taken away. Where neither is whole, nothing is touched.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

from sense7_qual._atomic import new_file
from sense7_qual._limits import open_file
from sense7_qual.errors import Damaged, StoreError
from sense7_qual.store._stored import whole_files
from sense7_qual.store._stored.hash_chain import genesis, links, text_hash

_LONGEST: Final = 5_000  # characters of a table's definition
_MOST: Final = 50
OBJECTS: Final = (
    f"SELECT type, coalesce(length(sql), 0), substr(sql, 1, {_LONGEST}) FROM sqlite_master LIMIT {_MOST}"
)
"""What a file consists of, as far as `only_tables` looks at it."""
# What would be computed when a row is read or written, and comments, in which words could be cut up.
_COMPUTED: Final = re.compile(
    r"\b(AS|CHECK|GENERATED)\b|\bDEFAULT\s*\(|--|/\*|^CREATE VIRTUAL|^CREATE .*INDEX.*\(.*\(",
    re.IGNORECASE | re.DOTALL,
)

_ONE_AT_A_TIME: Final = threading.Lock()
_FileStates: TypeAlias = tuple[object, ...]
_Contents: TypeAlias = tuple[int, int]
_LARGEST: Final = 2_000_000_000
_LONGEST_VALUE: Final = 30_000_000  # bytes of a text, at most
_BUSY: Final = 30  # seconds for which another program may be writing


def settle(path: Path) -> None:
    """Remove a journal next to the acts file `path` that would take acts from it.

    Where neither the file nor what the journal would make of it is whole, both are left as they are
    (`StoreError`).

    Nothing happens where there is no journal, or where it is that of a write under way.
    """
    journal = path.with_name(f"{path.name}-journal")
    if not journal.exists():
        return
    _refuse_too_large(path, journal)
    deadline = time.monotonic() + _BUSY
    with _ONE_AT_A_TIME:
        while journal.exists() and _is_hot(path):
            before = _states_of(path, journal)
            whole_files.clear(path.parent)  # what another left that was killed here
            with suppress(FileNotFoundError), whole_files.building(path.parent) as folder:
                mended, as_it_is = _try_on_copies(path, journal, folder)
                # Another process may have let SQLite mend the file meanwhile: then it is looked at again.
                if before is not None and _states_of(path, journal) == before:
                    _remove_or_refuse(path, journal, before, mended, as_it_is)
                    return
            if time.monotonic() > deadline:
                return  # it is being written all the time, so SQLite has put it in order
            time.sleep(0.01)


def _refuse_too_large(*paths: Path) -> None:
    """Raise `OSError` for a file too large to be copied, unless another process took it away meanwhile."""
    for path in paths:
        with suppress(FileNotFoundError), open_file(path) as file:
            if os.fstat(file.fileno()).st_size > _LARGEST:
                raise OSError(errno.EFBIG, f"more than {_LARGEST:,} bytes in {path.name}")


def _try_on_copies(path: Path, journal: Path, folder: Path) -> tuple[_Contents | None, _Contents | None]:
    """Return what there is (`_whole`) in a copy that SQLite mends, and in one as it is."""
    mended, as_it_is, journal_copy = (folder / name for name in ("mended", "as_it_is", "mended-journal"))
    for source, target in ((path, mended), (path, as_it_is), (journal, journal_copy)):
        shutil.copyfile(source, new_file(target))
    return _whole(mended), _whole(as_it_is)


def _remove_or_refuse(
    path: Path, journal: Path, judged: _FileStates, mended: _Contents | None, as_it_is: _Contents | None
) -> None:
    if as_it_is is not None and (mended is None or mended < as_it_is):
        _remove_journal(path, journal, judged)
    elif mended is None:
        raise Damaged(
            f"'{path.parent.name}/{path.name}': expected a file that is whole, or one that its journal "
            f"mends – found neither – put a good copy of {path.name} back (from a backup, or from the "
            f"coder) and move {journal.name} out of the study; nothing was changed."
        )


def only_tables(objects: Iterable[Any]) -> bool:
    """Return True if a file, by the rows of `OBJECTS`, has plain tables and indices alone.

    A view, a trigger, a virtual table or a computed column can hold endless rows in a small file.
    """
    rows = [tuple(row) for row in objects]
    return len(rows) < _MOST and all(
        kind in ("table", "index") and length < _LONGEST and not _COMPUTED.search(sql or "")
        for kind, length, sql in rows
    )


def limit_values(connection: sqlite3.Connection) -> None:
    """Let values that are longer than any text fail, before they are in memory several times over."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)


def _is_hot(path: Path) -> bool:
    """Return True if SQLite would put the journal's pages back: a connection that may not write says so."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_BUSY)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname in ("SQLITE_READONLY_ROLLBACK", "SQLITE_CANTOPEN"):
            return path.exists()
        raise
    return False


def _states_of(path: Path, journal: Path) -> _FileStates | None:
    """Return what tells the two from others, or from themselves after a write; None where one is gone.

    Places on the disk, sizes, times, and the journal's first bytes, which hold a random number.
    """
    try:
        states = [(each.st_ino, each.st_size, each.st_mtime_ns) for each in (path.stat(), journal.stat())]
        with open_file(journal) as opened:
            return (*states, opened.read(28))
    except FileNotFoundError:
        return None


def _remove_journal(path: Path, journal: Path, judged: _FileStates) -> None:
    """Remove the journal that was judged, once all that the file holds is on the disk."""
    whole_files.settle(path)
    if _states_of(path, journal) == judged:
        journal.unlink()


def _whole(path: Path) -> tuple[int, int] | None:
    """Return how many acts and erased texts a copy has, mended by SQLite if it can be; None where it is not
    whole. A text that was erased must not come back either."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            limit_values(connection)
            return _checked(connection)
    except (sqlite3.Error, StoreError, UnicodeDecodeError, KeyError, ValueError):
        return None


def _checked(connection: sqlite3.Connection) -> tuple[int, int] | None:
    if not only_tables(connection.execute(OBJECTS)):
        return None
    if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
        return None
    meta = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    texts = {}
    for recorded_hash, salt, text in connection.execute("SELECT text_hash, salt, text FROM texts"):
        if (salt, text) != (None, None) and text_hash(salt, text) != recorded_hash:
            return None
        texts[recorded_hash] = text
    rows = connection.execute("SELECT * FROM acts ORDER BY seq")
    names = [column[0] for column in rows.description]
    first = genesis(meta["study"], meta["coder"])
    chain = list(links(names, rows, texts, first=first, broken=StoreError, newer=True))
    used = {link.fields.get("text_hash") for link in chain}
    return (len(chain), list(texts.values()).count(None)) if set(texts) <= used else None
