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
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeVar

from sense7_qual._limits import read_file
from sense7_qual.database import sync_folder
from sense7_qual.errors import StoreError

__all__ = [
    "Copy",
    "Withdrawal",
    "clear",
    "is_note",
    "make_parents",
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
    "unseal",
    "write",
]

_SEAL: Final = "sha256"
_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600


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
    building = _beside(path, content)
    try:
        path.hardlink_to(building)
    except FileExistsError:
        sync_folder(path.parent)  # whoever wrote it may not have come as far as this
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise
        building.rename(path)
    finally:
        building.unlink(missing_ok=True)
    sync_folder(path.parent)


def replace(path: Path, content: bytes) -> None:
    """Put `content` in the place of the file at `path`, all of it or nothing, and wait for the disk.

    Where `path` leads to a file elsewhere, that file is replaced: its words must not stay there.
    """
    path = path.resolve()
    building = _beside(path, content)
    try:
        building.replace(path)
    finally:
        building.unlink(missing_ok=True)
    sync_folder(path.parent)


def refuse_existing(target: Path) -> None:
    """Raise `StoreError` where there is something at `target`."""
    if target.exists() or target.is_symlink():
        raise StoreError(
            f"copy: expected nothing at {target.name!r} – found something there – choose another place; "
            "a copy is never written over."
        )


def clear(folder: Path, before: str = ".") -> None:
    """Remove what writes that were interrupted left in `folder`, under names that begin with `before`.

    They hold what was being written: texts, too. Nobody else may be writing there under such a name.
    """
    left = re.compile(re.escape(before) + r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.new(\..*)?")
    found = [path for path in folder.iterdir() if left.fullmatch(path.name)] if folder.is_dir() else []
    for path in found:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    if found:
        sync_folder(folder)


def make_parents(path: Path) -> None:
    """Make the folders above `path` that are missing, and wait until their names are on the disk."""
    missing = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in missing:
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


def _beside(path: Path, content: bytes) -> Path:
    building = path.with_name(f".{uuid.uuid4()}.new")
    handle = os.open(building, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _FILE_MODE)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:  # also an interrupt
        building.unlink(missing_ok=True)
        raise
    return building


def _written(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()


def _hash(values: Mapping[str, Any]) -> str:
    canonical = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
