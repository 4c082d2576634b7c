"""Small JSON files that vouch for themselves, and the notes of a study that are kept in them.

A sealed file is JSON with the SHA-256 of its other values inside, in one exact form: a bit flipped in it
shows. ``study.json`` is one. A study's notes are further ones, each written once under a name of its own,
so that copies of a study that are synced or merged never have two versions of one note:

=========================  ==========================================================================
file                       says
=========================  ==========================================================================
``withdrawn/<id>.json``    which participant withdrew, with which units, when and why
``copies/<id>.json``       which backup or archive was made, when, where, and how far the acts had come
=========================  ==========================================================================

Whatever is written whole or not at all is built in a folder beside its place, ``.<name>.<uuid>.new``, which
only its owner can open (`building`). The process that builds holds a lock in it, so that what a killed one
left can be told from what another is building, and is removed by the next that comes there (`clear`). Where a
copy is built outside of the study, the study says meanwhile where (`making`).
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import re
import shutil
import sqlite3
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeVar

import platformdirs

from sense7_qual._limits import read_file
from sense7_qual.errors import StoreError
from sense7_qual.interrupts import uninterrupted

__all__ = [
    "READ_ONLY",
    "Copy",
    "Withdrawal",
    "building",
    "clear",
    "here",
    "is_building",
    "is_mark",
    "is_note",
    "make_parents",
    "making",
    "move_in",
    "new_id",
    "note",
    "note_of",
    "notes",
    "now",
    "read_note",
    "refuse_existing",
    "replace",
    "seal",
    "seal_note",
    "settle",
    "sync_folder",
    "unfinished",
    "unseal",
    "write",
]

_SEAL: Final = "sha256"
_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600
_BUILDING: Final = re.compile(r"\.(.*\.)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.new([.-].*)?", re.DOTALL)
_LOCK: Final = ".lock"  # within such a folder
_ELSEWHERE: Final = ".elsewhere"  # within such a folder: what is being built, and where
READ_ONLY: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
"""The numbers of the system's errors that say that a folder cannot be written by this user."""
_BEGINNING: Final = 60  # seconds for which an empty folder is left alone
_UNLOCKED: Final = 86_400  # seconds after which a folder counts as left where the disk has no locks


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A participant's withdrawal: the case, its units, why and when, the hash of ``units.parquet`` without
    them, the hashes of memos elsewhere that quoted them, and what a person must judge: what it is, the id of
    the act, unit, codebook or note, and a unit's column. It holds no text."""

    id: str
    case_id: str
    unit_ids: tuple[str, ...]
    why: str
    at: str
    units_sha256: str
    memos: tuple[str, ...]
    to_judge: tuple[tuple[str, str, str], ...] = ()

    @property
    def said(self) -> str:
        """The note in a sentence."""
        return f"participant {self.case_id!r} withdrew on {self.at[:10]} with {len(self.unit_ids)} units"


@dataclass(frozen=True, slots=True)
class Copy:
    """A backup or archive that was made: its kind, place and time, the withdrawals that it honours, and of
    each coder the hash of the last act (which tells nobody how many there were)."""

    id: str
    kind: str
    place: str
    at: str
    withdrawn: tuple[str, ...]
    heads: Mapping[str, str]

    @property
    def said(self) -> str:
        """The note in a sentence."""
        return f"{self.kind} of {self.at[:10]}"


_Note = TypeVar("_Note", Withdrawal, Copy)
#: The most bytes that a file of a study may have when it is read: far more than any in use, so that a file of
#: holes cannot fill the memory. Acts are read row by row.
_MOST: Final = {
    "study.json": 1_000_000,
    "manifest.json": 10_000_000,
    "units.parquet": 1_000_000_000,
    ".yaml": 5_000_000,
    ".json": 100_000_000,
}
_FOLDERS: Final[Mapping[type, str]] = {Withdrawal: "withdrawn", Copy: "copies"}


def new_id() -> str:
    """Return a new id for a note."""
    return str(uuid.uuid4())


def now() -> str:
    """Return the time in UTC, as the acts have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seal(values: Mapping[str, Any]) -> bytes:
    """Return `values` as the bytes of a sealed file."""
    plain = json.loads(json.dumps(dict(values)))  # tuples become lists, as they will be read
    return _written({**plain, _SEAL: _hash(plain)})


def seal_note(value: Withdrawal | Copy) -> bytes:
    """Return a note as the bytes of its file; with nothing to judge, as earlier versions wrote it."""
    return seal({name: each for name, each in asdict(value).items() if name != "to_judge" or each})


def unseal(content: bytes) -> dict[str, Any]:
    """Return the values of a sealed file.

    Raises
    ------
    ValueError
        A byte of it is not as it was written.
    """
    found = json.loads(content)
    if not isinstance(found, dict) or _written(found) != content:
        raise ValueError("not a sealed file, byte for byte")
    given = found.pop(_SEAL, None)
    if given != _hash(found):
        raise ValueError("the seal is broken")
    return found


def write(path: Path, content: bytes) -> None:
    """Write a new file whole and wait until it is on the disk; one that is there is never replaced."""
    with building(path.parent) as folder:
        move_in(_written_to(folder / path.name, content), path)


def replace(path: Path, content: bytes) -> None:
    """Put `content` in the place of the file at `path`, all of it or nothing, and wait for the disk.

    Where `path` leads to a file elsewhere, that file is replaced: its words must not stay there.
    """
    path = path.resolve()
    with building(path.parent) as folder:
        _written_to(folder / path.name, content).replace(path)
        sync_folder(path.parent)


def move_in(built: Path, path: Path) -> None:
    """Give a finished file its name, and wait for the disk; never replace a file.

    Raises
    ------
    FileExistsError
        Something is at `path`, which is on the disk then.
    """
    try:
        path.hardlink_to(built)
    except FileExistsError:
        sync_folder(path.parent)  # whoever wrote it may not have come as far as this
        raise
    except OSError:
        # A file system without hard links (a memory stick). Here alone two could meet in one instant; a
        # rename is the nearest thing to it there.
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        built.rename(path)
    sync_folder(path.parent)


def refuse_existing(target: Path) -> None:
    """Raise `StoreError` where there is something at `target`."""
    if target.exists() or target.is_symlink():
        raise StoreError(
            f"copy: expected nothing at {target.name!r} – found something there – choose another place; "
            "a copy is never written over."
        )


def here() -> Path:
    """Return the folder of this user for what is built and has no study folder, and make it if need be."""
    folder = platformdirs.user_state_path("sense7_qual") / "copies"
    with suppress(OSError):
        make_parents(folder / "file")
    return folder


@contextmanager
def building(folder: Path, before: str = ".") -> Iterator[Path]:
    """Give a new folder in `folder`, under a name that begins with `before`, to build in; it is removed then.

    Raises
    ------
    OSError
        It cannot be made.
    """
    with ExitStack() as undone:
        with uninterrupted():
            place = _locked(folder, before, undone)
        yield place


def _locked(folder: Path, before: str, undone: ExitStack) -> Path:
    """Make a folder to build in, and take the lock in it, which ends with this process."""
    place = folder / f"{before}{uuid.uuid4()}.new"
    place.mkdir(mode=_FOLDER_MODE)
    undone.callback(_remove, place)
    os.close(os.open(place / _LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR, _FILE_MODE))
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
    lock.execute("PRAGMA journal_mode=memory")  # no file beside it
    lock.execute("BEGIN EXCLUSIVE")


def is_building(path: Path) -> bool:
    """Return True if something of this name was built or is being built; its place is another."""
    return _BUILDING.fullmatch(path.name) is not None


def is_mark(file: Path) -> bool:
    """Return True if a file is the lock or the note of what is being built, and no part of it."""
    return file.name in (_LOCK, _ELSEWHERE) and is_building(file.parent)


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
        if _cleared_elsewhere(place):
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
    file = place / _ELSEWHERE
    try:
        # Only a small plain file: it may have come from anybody.
        found = unseal(file.read_bytes()) if file.is_file() and file.stat().st_size < 100_000 else {}
    except (OSError, ValueError, RecursionError):  # half a note: nothing was begun
        return None
    said = {name: str(found.get(name, "")) for name in ("place", "at", "computer")}
    return said if Path(said["place"]).is_absolute() and "\0" not in said["place"] else None


def _computer() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:16]


def unfinished(folder: Path) -> list[tuple[str, str, str]]:
    """Return which copies the notes in `folder` say are being made elsewhere, or were when their process was
    killed, and could not be cleared away: that, where, and since when."""
    notes = [said for place in _left(folder) if (said := _said(place)) is not None]
    return [("unfinished copy", said["place"], said["at"]) for said in notes]


@contextmanager
def making(target: Path, what: str, home: Path | None = None) -> Iterator[Path]:
    """Give a place beside `target` at which to build the copy that shall be moved there.

    The folder `home` (a study; where it cannot be written, or where there is none, `here`) has a note of it
    meanwhile, so that `clear` of that finds what is left by a process that was killed. None: no note.

    Raises
    ------
    StoreError
        The disk refuses.
    """
    try:
        with ExitStack() as stack:
            clear(target.parent)
            make_parents(target)
            if home is not None:
                _note_elsewhere(stack, home, target)
            yield stack.enter_context(building(target.parent, f".{target.name}.")) / target.name
    except StoreError:  # an OSError too, which says more
        raise
    except OSError as error:
        found = error.strerror or type(error).__name__
        raise StoreError(
            f"{what} {target.name!r}: expected room and permission to write – found {found} – check room and "
            "permissions, and do it again; nothing was left there."
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
        _written_to(place / _ELSEWHERE, content)
        sync_folder(place)
        sync_folder(folder)
        return


def make_parents(path: Path) -> None:
    """Make the folders above `path` that are missing, for this user alone, and wait for the disk."""
    for folder in reversed([folder for folder in path.parents if not folder.exists()]):
        folder.mkdir(mode=_FOLDER_MODE, exist_ok=True)
        sync_folder(folder.parent)


def settle(path: Path) -> None:
    """Wait until a file that was written is on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def most_bytes(name: str) -> int:
    """Return how many bytes a file of a study may have, by its name."""
    file = PurePosixPath(name)
    return _MOST.get(file.name) or _MOST[file.suffix]


def bytes_of(path: Path) -> bytes:
    """Return the bytes of a file of a study.

    Raises
    ------
    OSError
        It has more than `most_bytes`, is no regular file, or cannot be read.
    """
    return read_file(path, most_bytes(path.name))


def note(study: Path, value: Withdrawal | Copy) -> None:
    """Add a note to the study folder."""
    folder = study / _FOLDERS[type(value)]
    folder.mkdir(mode=_FOLDER_MODE, exist_ok=True)
    sync_folder(study)
    write(folder / f"{value.id}.json", seal_note(value))


def notes(study: Path, kind: type[_Note]) -> list[_Note]:
    """Return the notes of a kind in the study folder, oldest first.

    Raises
    ------
    StoreError
        One is not as it was written.
    """
    folder = study / _FOLDERS[kind]
    try:
        files = sorted(folder.iterdir()) if folder.is_dir() else []
    except OSError as error:
        raise _refused(folder.name, error) from None
    found = [read_note(path, kind) for path in files if is_note(path)]
    return sorted(found, key=lambda each: (each.at, each.id))


def is_note(path: Path) -> bool:
    """Tell whether a file has the name of a note."""
    try:
        return path.suffix == ".json" and str(uuid.UUID(path.stem)) == path.stem
    except ValueError:
        return False


def read_note(path: Path, kind: type[_Note]) -> _Note:
    """Return the note at `path`; errors as of `notes`."""
    try:
        content = bytes_of(path)
    except OSError as error:
        raise _refused(f"{path.parent.name}/{path.name}", error) from None
    return note_of(content, path.stem, kind)


def note_of(content: bytes, name: str, kind: type[_Note]) -> _Note:
    """Return the note that `content` holds and that is called `name`; errors as of `notes`."""
    try:
        values = unseal(content)
        plain = {field.name: values[field.name] for field in fields(kind) if field.name != "to_judge"}
        for listed in ("unit_ids", "memos", "withdrawn"):
            if listed in plain:
                plain[listed] = tuple(plain[listed])
        if "to_judge" in values and kind is Withdrawal:
            plain["to_judge"] = tuple(
                (str(what), str(key), str(column)) for what, key, column in values["to_judge"]
            )
        if "heads" in plain:
            plain["heads"] = {str(coder): str(head) for coder, head in plain["heads"].items()}
        texts = [plain[field.name] for field in fields(kind) if field.type == "str"]
        texts += [each for listed in ("unit_ids", "memos", "withdrawn") for each in plain.get(listed, ())]
        if not all(type(text) is str for text in texts):
            raise ValueError("a value that is no text")
        if plain["id"] != name:
            raise ValueError("a note under another's name")
        return kind(**plain)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _refused(f"{_FOLDERS[kind]}/{name}.json", error) from None


def _refused(name: str, error: Exception) -> StoreError:
    return StoreError(
        f"{name!r}: expected a note of this study as it was written – found it unreadable or changed "
        f"({type(error).__name__}) – put the original back, from a backup or from another copy of the study."
    )


def _written_to(path: Path, content: bytes) -> Path:
    """Write a new file, which is on the disk then, and return its path."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _FILE_MODE)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return path


def sync_folder(folder: Path) -> None:
    """Wait until the names in `folder` are on the disk (Windows does this by itself)."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _written(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()


def _hash(values: Mapping[str, Any]) -> str:
    canonical = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
