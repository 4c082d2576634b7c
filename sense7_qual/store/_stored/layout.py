"""The fixed files of a study folder: what the study is, its units, and every version of its codebook.

====================================  =================================================================
file                                  holds
====================================  =================================================================
``study.json``                        the study's id, its current codebook, the hash of its units
``units.parquet``                     the units, which never change once imported
``codebooks/<fingerprint>.yaml``      every version of the codebook that was ever used
``acts/<coder>.sqlite``               the acts of one coder (`acts_files`; written by `sqlite`)
``withdrawn/``, ``copies/``           notes of withdrawals and of copies that were made (`study_notes`)
``handed_out.json``                   to whom the study was handed out, and what was left out (`HandedOut`)
``sheet_key.json``                    the secret that seals coding sheets, once one was written (`sheet_key`)
``drafts/<work>-<coder>.json``        what somebody has begun and not saved (`drafts`)
``change.lock``                       nothing: whoever changes ``study.json`` holds it (`exclusively`)
====================================  =================================================================

Opening a study checks all of ``study.json``, the hash of the units and the fingerprint of every codebook;
reading acts checks their chain, texts and quotes; `verify` checks the rest too. A study is built
next to its place, read back, and moved in when whole. Folders and files are readable by their owner alone.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

import pandas as pd

from sense7_qual._atomic import new_file, new_folder, sync_folder, write_new
from sense7_qual._limits import Limits
from sense7_qual._messages import first_three
from sense7_qual._parquet import frame_of_bytes, guarded_table
from sense7_qual.codebook import Codebook, check_codebook
from sense7_qual.errors import CodebookError, ImportRefused, StoreError, TableError
from sense7_qual.frames import UNITS
from sense7_qual.store._stored import drafts, study_notes, whole_files
from sense7_qual.store._stored.acts_tables import SCHEMA, newer
from sense7_qual.store._stored.units_parquet import checked, parquet, without
from sense7_qual.store._stored.whole_files import uninterrupted

_STUDY: Final = "study.json"
_UNITS: Final = "units.parquet"
LARGEST_UNITS: Final = 1_000_000_000
"""Bytes of the table of units, at most."""
_CODEBOOKS: Final = "codebooks"
ACTS: Final = "acts"
LOCK: Final = "change.lock"
HANDED: Final = "handed_out.json"
_FINGERPRINT: Final = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Study:
    """The metadata in ``study.json``: the study's id, the version of the folder, when it was made, the
    fingerprint of the current codebook, and the SHA-256 of ``units.parquet``."""

    id: str
    schema: int
    created: str
    codebook: str
    units_sha256: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StudyData:
    """What a store has read of its study: all but the acts."""

    study: Study
    units: pd.DataFrame
    codebooks: Mapping[str, Codebook]
    withdrawn_units: frozenset[str]
    """The units of participants who withdrew."""

    texts: Mapping[str, str]
    withheld: frozenset[str] = frozenset()
    """The units whose texts were not handed out with this copy."""

    @classmethod
    def of(
        cls,
        study: Study,
        units: pd.DataFrame,
        codebooks: Mapping[str, Codebook],
        withdrawn_units: Iterable[str],
        withheld: Iterable[str] = (),
    ) -> StudyData:
        """Return the data of a study, with the texts by unit."""
        texts = dict(zip(units["unit_id"], units["text"], strict=True))
        return cls(study, units, codebooks, frozenset(withdrawn_units), texts, frozenset(withheld))

    @property
    def without_text(self) -> frozenset[str]:
        """The units of the study that have no text here."""
        return self.withdrawn_units | self.withheld

    @property
    def codebook(self) -> Codebook:
        """The current codebook."""
        return self.codebooks[self.study.codebook]


@dataclass(frozen=True, slots=True)
class HandedOut:
    """To whom a study folder was handed out (``handed_out.json``).

    Its id is that of the note in the lead's study; `round` is empty for texts of no round. It has the texts
    of the coder alone (`units_sha256` is the hash of that table): the ids of the others are in `withheld`.
    """

    id: str
    coder: str
    round: str
    units_sha256: str
    withheld: tuple[str, ...]

    @classmethod
    def of(cls, content: bytes, name: str) -> HandedOut:
        """Read it from the bytes of the file in the study called `name`."""
        try:
            values = whole_files.unseal(content)
            read = cls(**{field.name: values[field.name] for field in fields(cls)})
            texts = [read.id, read.coder, read.round, read.units_sha256, *read.withheld]
            if not isinstance(read.withheld, list) or not all(type(text) is str for text in texts):
                raise ValueError("a value that is no text")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise _not_handed(name, error) from None
        return replace(read, withheld=tuple(read.withheld))


def build(path: Path, *, units: pd.DataFrame, codebook: Codebook) -> None:
    """Build a new study folder at `path` of its units and first codebook, and read it back."""
    study, units, table = prepare(units, codebook)
    contents = {
        _STUDY: whole_files.seal(asdict(study)),
        _UNITS: table,
        f"{_CODEBOOKS}/{codebook.fingerprint}.yaml": codebook.to_yaml(),
    }
    write(path, contents)
    _read_back(path, units)


def is_study(path: Path) -> bool:
    """Return True if there is a study folder at `path`, sound or not."""
    with refusing(path):
        return (path / _STUDY).exists()


def prepare(units: pd.DataFrame, codebook: Codebook) -> tuple[Study, pd.DataFrame, bytes]:
    """Build a new study's metadata, its validated units and their Parquet bytes."""
    check_codebook(codebook)
    units = checked(units)
    table = parquet(units)
    study = Study(
        id=str(uuid.uuid4()),
        schema=SCHEMA,
        created=whole_files.now(),
        codebook=codebook.fingerprint,
        units_sha256=hashlib.sha256(table).hexdigest(),
    )
    return study, units, table


def read(path: Path) -> Study:
    """Read the metadata of the study folder `path` (``study.json``)."""
    try:
        values = whole_files.unseal(study_notes.read_bytes(path / _STUDY))
        study = Study(**{field.name: values[field.name] for field in fields(Study)})
        if type(study.schema) is not int or study.schema < 1:
            raise ValueError("no version")
        if not all(
            isinstance(getattr(study, name), str) for name in ("id", "created", "codebook", "units_sha256")
        ):
            raise ValueError("no text")
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(
            f"study: expected a study folder at {str(path)!r} – found no {_STUDY} there – check the path, or "
            "make a study with Store.create(path, units=…, codebook=…)."
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(
            f"study {path.name!r}: expected {_STUDY} as Store.create wrote it – found it unreadable or "
            f"changed ({type(error).__name__}) – put the original file back."
        ) from None
    return study


def hand_to(path: Path, handed: HandedOut) -> None:
    """Note in a folder for whom it is built."""
    whole_files.write(path / HANDED, whole_files.seal(asdict(handed)), overwrite=True)


def handed_out(path: Path) -> HandedOut | None:
    """Return to whom the study folder was handed out; None for any other study."""
    try:
        content = study_notes.read_bytes(path / HANDED)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _not_handed(path.name, error) from None
    return HandedOut.of(content, path.name)


def _not_handed(name: str, error: Exception) -> StoreError:
    return StoreError(
        f"study {name!r}: expected {HANDED} as store.copies.hand_out wrote it – found it unreadable "
        f"or changed ({type(error).__name__}) – put the original file back."
    )


def rewrite(path: Path, study: Study) -> None:
    """Replace the metadata of the study folder `path` (``study.json``) by `study`."""
    with refusing(path):
        whole_files.write(path / _STUDY, whole_files.seal(asdict(study)), overwrite=True)


@contextmanager
def exclusively(path: Path) -> Iterator[None]:
    """Keep every other process on this computer from changing ``study.json`` meanwhile.

    SQLite's lock of an empty file does it: on every system, and it ends with the process that holds it.
    """
    try:
        with refusing(path), suppress(FileExistsError):
            # Never opened where it is there: closing it would end the lock that another thread may hold.
            new_file(path / LOCK)
        connect = partial(sqlite3.connect, path / LOCK, isolation_level=None, timeout=30)
        with uninterrupted(), closing(connect()) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            yield
    except sqlite3.Error as error:
        raise StoreError(
            f"study {path.name!r}: expected nobody else to change the study meanwhile – found {LOCK} held or "
            f"unusable ({getattr(error, 'sqlite_errorname', 'SQLite')}) – wait for the other notebook, and "
            "try again."
        ) from None


def read_units(path: Path, study: Study) -> pd.DataFrame:
    """Return the units of the study folder `path`, after checking them against their hash.

    The units of participants who withdrew are not among them, also where the file still has them (in a
    synced folder that brought the withdrawal's note before the rest).
    """
    return without(stored_units(path, study), study_notes.notes(path, study_notes.Withdrawal))


def stored_units(path: Path, study: Study) -> pd.DataFrame:
    """Return all the units that are still in the file, also those of participants who withdrew."""
    with refusing(path):
        table = study_notes.read_bytes(path / _UNITS)
        later = {each.units_sha256 for each in study_notes.notes(path, study_notes.Withdrawal)}
        handed = handed_out(path)
    later |= {handed.units_sha256} if handed else set()
    return units_of(table, study, name=path.name, later=frozenset(later))


def clear_leftovers(path: Path) -> None:
    """Remove what killed processes left of what they were building in the study, or elsewhere of it."""
    if not path.is_dir():
        return  # nor is it where the path itself cannot be one
    inner = (path / name for name in (_CODEBOOKS, ACTS, "withdrawn", "copies", drafts.DRAFTS))
    # The units may lie elsewhere, and are written there. (resolve would raise in a circle of links.)
    for folder in {path, *inner, Path(os.path.realpath(path / _UNITS)).parent, whole_files.here()}:
        whole_files.clear(folder)


def replace_units(path: Path, table: bytes) -> None:
    """Replace the file of units by `table`, if it differs."""
    with refusing(path):
        if study_notes.read_bytes(path / _UNITS) != table:
            whole_files.write(path / _UNITS, table, overwrite=True)


def note(path: Path, value: study_notes.Withdrawal | study_notes.Copy) -> None:
    """Add a note to the study folder."""
    with refusing(path):
        study_notes.note(path, value)


def add_codebook(path: Path, codebook: Codebook) -> None:
    """Add a version of the codebook to the study folder; an existing one is left as it is."""
    with refusing(path), suppress(FileExistsError):
        whole_files.write(path / _CODEBOOKS / f"{codebook.fingerprint}.yaml", codebook.to_yaml())


def refuse_newer(path: Path, study: Study) -> None:
    """Raise `StoreError` where a later version wrote the study: it can be read and not be written."""
    if study.schema > SCHEMA:
        raise StoreError(newer(f"study {path.name!r}", study.schema))


def units_of(table: bytes, study: Study, *, name: str, later: frozenset[str] = frozenset()) -> pd.DataFrame:
    """Return the units of the Parquet file `table`, after checking it against the study's hash."""
    table_sha256 = hashlib.sha256(table).hexdigest()
    if table_sha256 != study.units_sha256 and table_sha256 not in later:
        raise StoreError(
            f"study {name!r}: expected {_UNITS} as it was imported (sha256 {study.units_sha256[:12]}…) "
            f"– found another file ({table_sha256[:12]}…) – put the original back: quotes refer to its texts."
        )
    return _table(table, name)


def units_limits(packed: int) -> Limits:
    """Return the limits for reading the units, given the bytes of their file: what is small on
    the disk and far larger in memory is nobody's data (Snappy, in which units are written, packs at most 21
    bytes into one; a dictionary of texts is given up at 1 MB)."""
    return Limits(
        file_bytes=LARGEST_UNITS,
        unpacked_bytes=min(LARGEST_UNITS, max(100_000_000, 25 * packed)),
        expansion=LARGEST_UNITS,
        rows=max(1_000_000, packed),
        cells=max(20_000_000, packed),
    )


def _table(table: bytes, name: str) -> pd.DataFrame:
    from pyarrow import ArrowException

    limits = units_limits(len(table))
    try:
        guarded_table(table, _UNITS, limits)
        return UNITS.check(frame_of_bytes(table), as_written=True)
    except (
        ArrowException,
        OSError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        TableError,
        ImportRefused,
    ) as error:
        problem, remedy = (
            f"none that can be read ({type(error).__name__})",
            "get the file again from where it was kept",
        )
        if isinstance(error, ImportRefused) and "limits." in str(error):
            problem = f"one of more than {limits.unpacked_bytes / 1e6:,.0f} MB, far more than its file"
            remedy = (
                "keep less of what repeats, such as a whole transcript as the context of each of its units"
            )
        raise StoreError(
            f"study {name!r}: expected {_UNITS} to be a table of units – found {problem} – {remedy}."
        ) from None


def read_codebooks(path: Path, study: Study) -> dict[str, Codebook]:
    """Return every version of the codebook in the study folder `path`, by fingerprint."""
    with refusing(path):
        files = sorted((path / _CODEBOOKS).glob("*.yaml"))
        # A sync client's second copy has another name; `verify` reports it.
        contents = {file.stem: study_notes.read_bytes(file) for file in files if is_fingerprint(file.stem)}
    return codebooks_of(contents, study, name=path.name)


def codebooks_of(contents: Mapping[str, bytes], study: Study, *, name: str) -> dict[str, Codebook]:
    """Return the codebooks that `contents` holds as YAML by fingerprint, each checked."""
    codebooks = {
        fingerprint: codebook_of(name, fingerprint, content) for fingerprint, content in contents.items()
    }
    if study.codebook not in codebooks:
        raise StoreError(
            f"study {name!r}: expected its current codebook as {_CODEBOOKS}/{study.codebook}.yaml – "
            f"found {first_three(codebooks) or 'none'} – put that file back."
        )
    return codebooks


def is_fingerprint(name: str) -> bool:
    """Return True if a file of this name (without its suffix) can be a version of the codebook."""
    return _FINGERPRINT.fullmatch(name) is not None


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Turn the system's errors into `StoreError`."""
    try:
        yield
    except StoreError:  # an OSError too, which says more
        raise
    except OSError as error:
        raise StoreError(
            f"study {path.name!r}: expected its folder to be read and written – found "
            f"{error.strerror or type(error).__name__} – check free space, permissions and missing files, "
            "and try again."
        ) from error


def refuse_existing(path: Path) -> None:
    """Raise `StoreError` where there is a study, or anything but an empty folder."""
    with refusing(path):
        if is_study(path):
            raise StoreError(
                f"study {path.name!r}: expected no study there yet – found one – open it with "
                f"Store({str(path)!r})."
            )
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise StoreError(
                f"study {path.name!r}: expected nothing, or an empty folder – found other files – choose "
                "another folder."
            )


def write(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write the files of a new study, by their names in it, and wait until they are on the disk."""
    inner = {_CODEBOOKS, ACTS, *(name.partition("/")[0] for name in contents if "/" in name)}
    folders = [folder, *(folder / name for name in sorted(inner))]
    for each in folders:
        new_folder(each)
    for name, content in contents.items():
        write_new(folder / name, content)
    for each in folders:
        sync_folder(each)


def _read_back(folder: Path, units: pd.DataFrame) -> None:
    """Refuse a study that would not open again, or not with the same texts."""
    study = read(folder)
    read_codebooks(folder, study)
    compared = ["unit_id", "text"]
    if not read_units(folder, study)[compared].equals(units[compared]):
        raise StoreError(
            "study: expected to read back the texts that were written – found others – report this with the "
            "versions of pandas and pyarrow; no study was made."
        )


@lru_cache(maxsize=64)
def _parsed(content: bytes) -> Codebook:
    # Stores look at every version again and again; the same bytes are the same codebook, which is a value.
    return Codebook.from_yaml(content)


def codebook_of(study: str, name: str, content: bytes) -> Codebook:
    """Return the codebook that `content` holds as YAML, or raise `StoreError` where it is not `name`."""
    try:
        codebook = _parsed(content)
        fingerprint = codebook.fingerprint
    except (CodebookError, UnicodeDecodeError) as error:
        fingerprint = f"no codebook ({type(error).__name__})"
    if fingerprint != name:
        raise StoreError(
            f"study {study!r}: expected {_CODEBOOKS}/{name}.yaml to have the fingerprint in its name – "
            f"found {fingerprint} – put the original back; a changed codebook is a new version, not an edit "
            "of this file."
        )
    return codebook
