"""Files and folders that appear whole or not at all, and what a killed process leaves of them.

Each is built in a folder next to its place, ``.<name>.<uuid>.new``, which only its owner can open
(`building`). The process that builds holds a lock in it, so that what a killed one left can be told from what
another is building, and is removed by the next that comes there (`clear`). Where a copy is built outside of
the study, the study says meanwhile where (`making`). Small files of values are sealed: they hold
the SHA-256 of their other values, so that a flipped bit shows (`seal`). Interrupts (■ in Jupyter, Ctrl+C)
wait while a file is locked (`uninterrupted`).
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import platformdirs

from sense7_qual._atomic import make_folder, move_in, new_file, new_folder, sync_folder, write_new
from sense7_qual.errors import StoreError

_BUILDING: Final = re.compile(r"\.(.*\.)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.new([.-].*)?", re.DOTALL)

_LOCK: Final = ".lock"  # within such a folder

_TARGET: Final = ".elsewhere"  # within such a folder: what is being built, and where

READ_ONLY: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
"""The numbers of the system's errors that say that a folder cannot be written by this user."""

_BEGINNING: Final = 60  # seconds for which an empty folder is left alone

_UNLOCKED: Final = 86_400  # seconds after which a folder counts as left where the disk has no locks


def write(path: Path, content: bytes, *, overwrite: bool = False) -> None:
    """Write a file whole and wait until it is on the disk; an existing one is left unless `overwrite`.

    Where `path` leads to a file elsewhere, that file is overwritten: its words must not stay there.
    """
    path = path.resolve() if overwrite else path
    with building(path.parent) as folder:
        move_in(write_new(folder / path.name, content), path, overwrite=overwrite)


def refuse_existing(target: Path) -> None:
    """Raise `StoreError` where there is something at `target`."""
    if target.exists() or target.is_symlink():
        raise StoreError(
            f"copy: expected nothing at {target.name!r} – found something there – choose another place; "
            "copies are never overwritten."
        )


def here() -> Path:
    """Return the folder of this user for what is built and has no study folder, and make it if need be."""
    folder = platformdirs.user_state_path("sense7_qual") / "copies"
    with suppress(OSError):
        make_folder(folder)
    return folder


@contextmanager
def building(folder: Path, before: str = ".") -> Iterator[Path]:
    """Give a new folder in `folder` to build in; its name begins with `before`, and it is removed then."""
    with ExitStack() as undone:
        with uninterrupted():
            place = _locked(folder, before, undone)
        yield place


def _locked(folder: Path, before: str, undone: ExitStack) -> Path:
    """Make a folder to build in, and take the lock in it, which ends with this process."""
    place = folder / f"{before}{uuid.uuid4()}.new"
    new_folder(place)
    undone.callback(_remove, place)
    new_file(place / _LOCK)
    lock = undone.enter_context(closing(_opened(place)))
    with suppress(sqlite3.Error):  # some network disks have no locks
        _hold(lock)
    return place


def _remove(place: Path) -> None:
    """Remove what was built; a disk that fails at this too must not hide its first error."""
    with uninterrupted():
        shutil.rmtree(place, ignore_errors=True)


def _opened(place: Path) -> sqlite3.Connection:
    uri = f"{(place / _LOCK).as_uri()}?mode=rw"
    try:
        return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0, check_same_thread=False)
    except sqlite3.Error:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK)) from None


def _hold(lock: sqlite3.Connection) -> None:
    lock.execute("PRAGMA journal_mode=memory")  # no file next to it
    lock.execute("BEGIN EXCLUSIVE")


def is_building(path: Path) -> bool:
    """Return True if something of this name was built or is being built; its place is another."""
    return _BUILDING.fullmatch(path.name) is not None


def is_mark(file: Path) -> bool:
    """Return True if a file is the lock or the note of what is being built, and no part of it."""
    return file.name in (_LOCK, _TARGET) and is_building(file.parent)


def clear(folder: Path) -> None:
    """Remove what processes that were killed while they were building left in `folder`, and elsewhere where
    their notes in it say so (`making`).

    It holds what was being written: texts, too. What cannot be removed here stays, and is `unfinished`.
    """
    for place in _left(folder):
        with suppress(OSError, sqlite3.Error):
            _clear(place)


def _left(folder: Path, before: str = ".") -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.name.startswith(before) and is_building(path)]
    except OSError:  # no such folder, or nobody may look into it
        return []


def _clear(place: Path, beginning: float = _BEGINNING) -> None:
    """Remove what was built at `place`, unless the process that builds there is alive."""
    if place.is_symlink() or not place.is_dir():  # an earlier version built files
        place.unlink()
        return
    names, age = {file.name for file in place.iterdir()}, time.time() - place.stat().st_mtime
    if names <= {_LOCK} and age < beginning:
        return  # nothing yet, perhaps of a process that is about to lock it
    if not (place / _LOCK).is_file():  # of an earlier version
        shutil.rmtree(place)
        return
    with closing(_opened(place)) as lock:
        try:
            _hold(lock)
        except sqlite3.Error as error:
            if error.sqlite_errorname.startswith("SQLITE_BUSY") or age < _UNLOCKED:
                return
        if not _cleared_elsewhere(place):
            return
        shutil.rmtree(place, ignore_errors=True)  # all but the lock, where an open file cannot be removed
    if place.exists():
        shutil.rmtree(place)


def _cleared_elsewhere(place: Path) -> bool:
    """Remove what was built where the note at `place` says; return True if nothing of it can be left."""
    said = _said(place)
    if said is None:
        return True
    target = Path(said["place"])
    left = _left(target.parent, f".{target.name}.")
    for each in left:
        with suppress(OSError, sqlite3.Error):
            _clear(each, beginning=0)
    if _left(target.parent, f".{target.name}."):
        return False
    return bool(left) or (said["computer"] == _computer() and target.parent.is_dir())


def _said(place: Path) -> dict[str, str] | None:
    """Return what is being built elsewhere, as the note at `place` says; None where there is none."""
    file = place / _TARGET
    try:
        # Only a small plain file: it may have come from anybody.
        note = unseal(file.read_bytes()) if file.is_file() and file.stat().st_size < 100_000 else {}
    except (OSError, ValueError, RecursionError):  # half a note: nothing was begun
        return None
    copy = {name: str(note.get(name, "")) for name in ("place", "at", "computer")}
    return copy if Path(copy["place"]).is_absolute() and "\0" not in copy["place"] else None


def _computer() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:16]


def unfinished(folder: Path) -> list[tuple[str, str, str]]:
    """Return the copies that, by the notes in `folder`, are being made elsewhere, or were when a process was
    killed, and could not be cleared away: that, where, and since when."""
    notes = [said for place in _left(folder) if (said := _said(place)) is not None]
    return [("unfinished copy", said["place"], said["at"]) for said in notes]


@contextmanager
def making(target: Path, what: str, home: Path | None = None) -> Iterator[Path]:
    """Give a place next to `target` in which to build the copy that is moved there.

    The folder `home` (a study; where it cannot be written, or where there is none, `here`) has a note of it
    meanwhile, so that `clear` of that finds what is left by a process that was killed. None: no note.
    """
    try:
        with ExitStack() as stack:
            clear(target.parent)
            make_folder(target.parent)
            if home is not None:
                _note_elsewhere(stack, home, target)
            yield stack.enter_context(building(target.parent, f".{target.name}.")) / target.name
    except StoreError:  # an OSError too, which says more
        raise
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise StoreError(
            f"{what} {target.name!r}: expected room and permission to write – found {why} – check free "
            "space and permissions, and try again; nothing was left there."
        ) from None


def _note_elsewhere(stack: ExitStack, home: Path, target: Path) -> None:
    content = seal({"place": str(target), "at": now(), "computer": _computer()})
    for folder in (home, here()):
        try:
            place = stack.enter_context(building(folder))
        except OSError as error:
            if folder == home and error.errno not in READ_ONLY:
                raise
            continue
        write_new(place / _TARGET, content)
        sync_folder(place)
        sync_folder(folder)
        return


def settle(path: Path) -> None:
    """Wait until a file that was written is on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let an interrupt wait until the end of this, and raise `KeyboardInterrupt` then.

    In the middle it could come between taking a lock and being able to give it back; and a notebook keeps the
    frames of the last exception, with every cursor in them that still reads.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # interrupts come to the main thread alone
        return
    waiting: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: waiting.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting:
            before(waiting[0], None)


_SEAL: Final = "sha256"


def seal(values: Mapping[str, Any]) -> bytes:
    """Return `values` as the bytes of a sealed file."""
    plain = json.loads(json.dumps(dict(values)))  # tuples become lists, as they will be read
    return _written({**plain, _SEAL: _hash(plain)})


def unseal(content: bytes) -> dict[str, Any]:
    """Return the values of a sealed file."""
    values = json.loads(content)
    if not isinstance(values, dict) or _written(values) != content:
        raise ValueError("not a sealed file, byte for byte")
    seal = values.pop(_SEAL, None)
    if seal != _hash(values):
        raise ValueError("the seal is broken")
    return values


def _written(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()


def _hash(values: Mapping[str, Any]) -> str:
    canonical = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def now() -> str:
    """Return the time in UTC, as the acts have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
