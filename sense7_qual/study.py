"""The fixed files of a study folder: what the study is, its units, and every version of its codebook.

====================================  =================================================================
file                                  holds
====================================  =================================================================
``study.json``                        the study's id, its current codebook, the hash of its units
``units.parquet``                     the units, which never change once imported
``codebooks/<fingerprint>.yaml``      every version of the codebook that was ever used
``acts/<coder>.sqlite``               the acts of one coder (written by `database`)
====================================  =================================================================

A study is built beside its place, read back, and moved in when whole. Folders and files are readable by
their owner alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Final

import pandas as pd

from sense7_qual.codebook import Codebook
from sense7_qual.database import SCHEMA, sync_folder
from sense7_qual.errors import CodebookError, StoreError, TableError, first_three
from sense7_qual.tables import UNITS

__all__ = [
    "Study",
    "acts_file",
    "acts_files",
    "codebooks_of",
    "create",
    "prepare",
    "read",
    "read_codebooks",
    "read_units",
    "units_of",
]

_STUDY: Final = "study.json"
_UNITS: Final = "units.parquet"
_CODEBOOKS: Final = "codebooks"
_ACTS: Final = "acts"


@dataclass(frozen=True, slots=True)
class Study:
    """What ``study.json`` says: the study's id, the version of the folder, when it was made, the
    fingerprint of the current codebook, and the SHA-256 of ``units.parquet``."""

    id: str
    schema: int
    created: str
    codebook: str
    units_sha256: str


def create(path: Path, *, units: pd.DataFrame, codebook: Codebook) -> None:
    """Make the study folder `path` from its units and first codebook, whole or not at all.

    Raises
    ------
    StoreError
        Something is there already, or the disk refuses.
    TableError
        `units` is not what its contract says, a text is missing, or a column cannot be kept as it is.
    """
    _refuse_existing(path)
    study, units, table = prepare(units, codebook)
    contents = {
        _STUDY: (json.dumps(asdict(study), indent=2) + "\n").encode(),
        _UNITS: table,
        f"{_CODEBOOKS}/{codebook.fingerprint}.yaml": codebook.to_yaml(),
    }
    building = path.with_name(f".{path.name}.{uuid.uuid4()}.new")
    with _refusing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _write(building, contents)
            _read_back(building, units)
            building.rename(path)
            sync_folder(path.parent)
        finally:
            shutil.rmtree(building, ignore_errors=True)


def prepare(units: pd.DataFrame, codebook: Codebook) -> tuple[Study, pd.DataFrame, bytes]:
    """Return what a new study says of itself, its units by their contract, and their Parquet file.

    Raises
    ------
    TableError
        `units` is not what its contract says, a text is missing, or a column cannot be kept as it is.
    """
    units = _checked(units)
    table = _parquet(units)
    study = Study(
        id=str(uuid.uuid4()),
        schema=SCHEMA,
        created=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        codebook=codebook.fingerprint,
        units_sha256=hashlib.sha256(table).hexdigest(),
    )
    return study, units, table


def read(path: Path) -> Study:
    """Return what the study folder `path` says of itself.

    Raises
    ------
    StoreError
        It is no study folder, or one that a newer version wrote.
    """
    try:
        values = json.loads((path / _STUDY).read_bytes())
        study = Study(**{field.name: values[field.name] for field in fields(Study)})
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(
            f"study: expected a study folder at {str(path)!r} – found no {_STUDY} there – check the path, or "
            "make a study with Store.create(path, units=…, codebook=…)."
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"study {path.name!r}: expected {_STUDY} as Store.create wrote it – found it unreadable "
            f"({type(error).__name__}) – put the original file back."
        ) from None
    if not isinstance(study.schema, int) or study.schema > SCHEMA:
        raise StoreError(
            f"study {path.name!r}: expected a study of version {SCHEMA} at most – found version "
            f"{str(study.schema)[:20]} – update sense7_qual (pip install -U sense7_qual)."
        )
    return study


def read_units(path: Path, study: Study) -> pd.DataFrame:
    """Return the units of the study folder `path`, after checking them against their hash.

    Raises
    ------
    StoreError
        The file is missing or is not the one that was written.
    """
    with _refusing(path):
        table = (path / _UNITS).read_bytes()
    return units_of(table, study, name=path.name)


def units_of(table: bytes, study: Study, *, name: str) -> pd.DataFrame:
    """Return the units of the Parquet file `table`, after checking it against the study's hash.

    Raises
    ------
    StoreError
        It is not the one that was written; the message calls the study `name`.
    """
    found = hashlib.sha256(table).hexdigest()
    if found != study.units_sha256:
        raise StoreError(
            f"study {name!r}: expected {_UNITS} as it was imported (sha256 {study.units_sha256[:12]}…) "
            f"– found another file ({found[:12]}…) – put the original back: quotes count on its texts."
        )
    return UNITS.check(pd.read_parquet(BytesIO(table), engine="pyarrow"))


def read_codebooks(path: Path, study: Study) -> dict[str, Codebook]:
    """Return every version of the codebook in the study folder `path`, by fingerprint.

    Raises
    ------
    StoreError
        A file is not the codebook that its name says, or the current one is missing.
    """
    with _refusing(path):
        contents = {file.stem: file.read_bytes() for file in sorted((path / _CODEBOOKS).glob("*.yaml"))}
    return codebooks_of(contents, study, name=path.name)


def codebooks_of(contents: Mapping[str, bytes], study: Study, *, name: str) -> dict[str, Codebook]:
    """Return the codebooks that `contents` holds as YAML by fingerprint, each checked.

    Raises
    ------
    StoreError
        One is not the codebook that its fingerprint says, or the current one is missing.
    """
    found = {fingerprint: _codebook(name, fingerprint, content) for fingerprint, content in contents.items()}
    if study.codebook not in found:
        raise StoreError(
            f"study {name!r}: expected its current codebook as {_CODEBOOKS}/{study.codebook}.yaml – "
            f"found {first_three(found) or 'none'} – put that file back."
        )
    return found


def acts_files(path: Path) -> list[Path]:
    """Return the acts files of the study folder `path`, sorted by coder."""
    with _refusing(path):
        return sorted(file for file in (path / _ACTS).iterdir() if file.suffix == ".sqlite")


def acts_file(path: Path, coder: str) -> Path:
    """Return where the acts of `coder` are, or will be."""
    return path / _ACTS / f"{coder}.sqlite"


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn the system's errors into `StoreError`."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"study {path.name!r}: expected its folder to be read and written – found "
            f"{error.strerror or type(error).__name__} – check room, permissions and missing files; nothing "
            "was changed."
        ) from error


def _refuse_existing(path: Path) -> None:
    with _refusing(path):
        if (path / _STUDY).exists():
            raise StoreError(
                f"study {path.name!r}: expected no study there yet – found one – open it with "
                f"Store({str(path)!r})."
            )
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise StoreError(
                f"study {path.name!r}: expected nothing, or an empty folder – found other files – choose "
                "another folder."
            )


def _checked(units: pd.DataFrame) -> pd.DataFrame:
    """Return `units` by its contract, with a text in every row that is in the form offsets count on."""
    if isinstance(units, pd.DataFrame):
        _refuse_columns(units)  # a column that stands twice has no one kind that the contract could check
    units = UNITS.check(units)
    _refuse_texts(units, units["text"].isna() | (units["text"] == ""), "none", "leave these units out")
    raw = units["text"].str.contains("\r\n", regex=False) | units["text"].str.startswith("\ufeff")
    _refuse_texts(
        units,
        raw,
        "a byte order mark or Windows line ends",
        "read the file with corpus.read, which brings texts to one form that offsets can count on",
    )
    return units


def _refuse_columns(units: pd.DataFrame) -> None:
    bad = [name for name in units.columns if not isinstance(name, str)]
    bad = bad or list(units.columns[units.columns.duplicated()])
    if bad:
        raise TableError(
            f"units: expected column names that are text and differ – found {first_three(bad)} – rename "
            "these columns."
        )


def _refuse_texts(units: pd.DataFrame, bad: pd.Series, found: str, do: str) -> None:
    if bad.any():
        raise TableError(
            f"units: expected a text in every row – found {found} in unit "
            f"{first_three(units['unit_id'][bad])} – {do}."
        )


def _parquet(units: pd.DataFrame) -> bytes:
    """Return `units` as Parquet, or name the columns that do not fit (never a value of theirs)."""
    from pyarrow import ArrowException

    units = units.copy(deep=False)
    units.attrs = {}  # notes of other packages that need not fit in a file
    buffer = BytesIO()
    try:
        units.to_parquet(buffer, engine="pyarrow", index=False)
    except (ArrowException, UnicodeError, TypeError, ValueError):
        bad = [name for name in units.columns if not _fits(units[name])]
        raise TableError(
            f"units: expected values of one kind in each column – found mixed or unknown kinds in column "
            f"{first_three(bad)} – make each all numbers or all text."
        ) from None
    return buffer.getvalue()


def _fits(column: pd.Series) -> bool:
    from pyarrow import Array, ArrowException

    try:
        Array.from_pandas(column)
    except (ArrowException, UnicodeError, TypeError, ValueError):
        return False
    return True


def _write(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write the files of a new study and wait until they are on the disk."""
    folders = (folder, folder / _CODEBOOKS, folder / _ACTS)
    for each in folders:
        each.mkdir(mode=0o700)
    for name, content in contents.items():
        handle = os.open(folder / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    for each in folders:
        sync_folder(each)


def _read_back(folder: Path, units: pd.DataFrame) -> None:
    """Refuse a study that would not open again, or not with the same texts."""
    study = read(folder)
    read_codebooks(folder, study)
    kept = ["unit_id", "text"]
    if not read_units(folder, study)[kept].equals(units[kept]):
        raise StoreError(
            "study: expected to read back the texts that were written – found others – report this with the "
            "versions of pandas and pyarrow; no study was made."
        )


def _codebook(study: str, name: str, content: bytes) -> Codebook:
    try:
        codebook = Codebook.from_yaml(content)
        found = codebook.fingerprint
    except (CodebookError, UnicodeDecodeError) as error:
        found = f"no codebook ({type(error).__name__})"
    if found != name:
        raise StoreError(
            f"study {study!r}: expected {_CODEBOOKS}/{name}.yaml to have the fingerprint in its name – "
            f"found {found} – put the original back; a changed codebook is a new version, not an edit of "
            "this file."
        )
    return codebook
