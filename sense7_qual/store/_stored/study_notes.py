"""The notes of a study: who withdrew, and which copies were made.

Each is signed JSON, written once under a name of its own, so that copies of a study that are synced or merged
never have two versions of one note:

=========================  ==========================================================================
file                       says
=========================  ==========================================================================
``withdrawn/<id>.json``    which participant withdrew, with which units, when and why
``copies/<id>.json``       which backup or archive was made, when, where, and how far the acts had come
=========================  ==========================================================================
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path, PurePosixPath
from typing import Final, TypeVar

from sense7_qual._atomic import make_folder
from sense7_qual._limits import read_file
from sense7_qual.errors import StoreError
from sense7_qual.store._stored.whole_files import seal, unseal, write


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
    to_judge: tuple[tuple[str, str, str], ...]

    @property
    def sentence(self) -> str:
        """The note in a sentence."""
        return f"participant {self.case_id!r} withdrew on {self.at[:10]} with {len(self.unit_ids)} units"


@dataclass(frozen=True, slots=True)
class Copy:
    """A backup or archive that was made: its kind, place and time, the withdrawals that it honours, and of
    each coder the hash of the last act (which tells nobody how many there were). A hand-out has its coder and
    its round (empty: of no round)."""

    id: str
    kind: str
    place: str
    at: str
    withdrawn: tuple[str, ...]
    heads: Mapping[str, str]
    coder: str = ""
    round: str = ""

    @property
    def sentence(self) -> str:
        """The note in a sentence."""
        return f"{self.kind}{self.coder and f' to {self.coder!r}'} of {self.at[:10]}"


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


def seal_note(value: Withdrawal | Copy) -> bytes:
    """Return a note as the bytes of its file."""
    return seal(asdict(value))


def most_bytes(name: str) -> int:
    """Return the largest size of a file of a study in bytes, by its name."""
    file = PurePosixPath(name)
    return _MOST.get(file.name) or _MOST[file.suffix]


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file of a study."""
    return read_file(path, most_bytes(path.name))


def note(study: Path, value: Withdrawal | Copy) -> None:
    """Add a note to the study folder."""
    folder = study / _FOLDERS[type(value)]
    make_folder(folder)
    write(folder / f"{value.id}.json", seal_note(value))


def remove(study: Path, value: Withdrawal | Copy) -> None:
    """Remove a note from a folder that is being built."""
    (study / _FOLDERS[type(value)] / f"{value.id}.json").unlink()


def notes(study: Path, kind: type[_Note]) -> list[_Note]:
    """Return the notes of a kind in the study folder, oldest first."""
    folder = study / _FOLDERS[kind]
    try:
        files = sorted(folder.iterdir()) if folder.is_dir() else []
    except OSError as error:
        raise _refused(folder.name, error) from None
    read = [read_note(path, kind) for path in files if is_note(path)]
    return sorted(read, key=lambda each: (each.at, each.id))


def withdrawn_units(study: Path) -> frozenset[str]:
    """Return the units of participants who withdrew from the study folder."""
    return frozenset(unit_id for each in notes(study, Withdrawal) for unit_id in each.unit_ids)


def is_note(path: Path) -> bool:
    """Return True if a file has the name of a note."""
    try:
        return path.suffix == ".json" and str(uuid.UUID(path.stem)) == path.stem
    except ValueError:
        return False


def read_note(path: Path, kind: type[_Note]) -> _Note:
    """Return the note at `path`; errors as of `notes`."""
    try:
        content = read_bytes(path)
    except OSError as error:
        raise _refused(f"{path.parent.name}/{path.name}", error) from None
    return note_of(content, path.stem, kind)


def note_of(content: bytes, name: str, kind: type[_Note]) -> _Note:
    """Return the note that `content` holds and that is called `name`; errors as of `notes`."""
    try:
        values = unseal(content)
        # An earlier version did not say to whom a copy was handed out.
        plain = {
            each.name: values.get(each.name, "") if each.default == "" else values[each.name]
            for each in fields(kind)
        }
        for listed in ("unit_ids", "memos", "withdrawn"):
            if listed in plain:
                plain[listed] = tuple(plain[listed])
        if "to_judge" in plain:
            judged = plain["to_judge"]
            plain["to_judge"] = tuple((str(what), str(key), str(column)) for what, key, column in judged)
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
