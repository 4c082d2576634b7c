"""Verification of a study folder: what only files can have.

Acts files whose tables or pages are damaged, second copies that a sync client made, files that are no part of
the study, and files that others on this computer may open.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, create_engine

from sense7_qual._limits import open_file
from sense7_qual.errors import StoreError
from sense7_qual.store._operations.verify import Finding, Known, Parts, Reading, of_acts, verify
from sense7_qual.store._stored import (
    acts_files,
    acts_tables,
    drafts,
    layout,
    sheet_key,
    study_notes,
    whole_files,
)
from sense7_qual.store._stored.layout import HandedOut, Study

_PASSING: Final = frozenset({".tmp", ".part", ".partial", ".new", ".icloud", ".lock"})
_AT_THE_TOP: Final = (
    "study.json",
    "units.parquet",
    layout.HANDED,
    sheet_key.FILE,
    layout.LOCK,
    f"{layout.LOCK}-journal",
)


def verify_folder(path: Path, known: Study, also: Reading | None = None) -> list[Finding]:
    """Return the findings about each file of the study folder `path`; damage raises nothing.

    `known` is what ``study.json`` said when it was last read; acts are judged by it where that file is
    damaged now. `also` gets each coder's acts as they are read.
    """
    now, *of_study = _study(path, known)
    handed, of_handed = _handed(path)
    files = [file for file in _in(path / "acts", ".sqlite") if acts_files.is_acts_file(file)]
    files.sort(key=acts_files.name_of)
    codebooks = [file for file in _in(path / "codebooks", ".yaml") if layout.is_fingerprint(file.stem)]
    parts = Parts(
        now,
        path.name,
        ("units.parquet", _content(path / "units.parquet")),
        {file.stem: _content(file) for file in codebooks},
        _note_files(path / "withdrawn"),
        _note_files(path / "copies"),
        {acts_files.coder_of(file) for file in files},
        handed=handed,
    )

    def acts(judged: Known) -> list[Finding]:
        return [*_spelt_apart([_acts(file, judged, also) for file in files]), *_drafts(path)]

    findings = [*of_study, *of_handed, *_sheet_key(path), *verify(parts, acts)]
    return [*(_with_mode(path, each) for each in findings), *_unreadable(path), *_strangers(path)]


def _content(file: Path) -> bytes | str:
    try:
        return study_notes.read_bytes(file)
    except OSError as error:
        return f"cannot be read ({type(error).__name__})"


def _note_files(folder: Path) -> dict[str, bytes | str]:
    files = [file for file in _in(folder, ".json") if study_notes.is_note(file)]
    return {f"{folder.name}/{file.name}": _content(file) for file in files}


def _spelt_apart(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings of acts files, with a problem for names alike but for their case."""
    own = [each for each in findings if each.coder == Path(each.file).stem]
    counts = Counter(str(each.coder).casefold() for each in own)
    told = "as another coder's name but for upper and lower case: both are one file on many disks"
    return [
        replace(each, problem=told)
        if each in own and not each.problem and counts[str(each.coder).casefold()] > 1
        else each
        for each in findings
    ]


def _in(folder: Path, suffix: str) -> list[Path]:
    try:
        return sorted(file for file in folder.iterdir() if file.suffix == suffix) if folder.is_dir() else []
    except OSError:  # `_unreadable` reports the folder
        return []


def _study(path: Path, known: Study) -> tuple[Study, Finding]:
    try:
        now = layout.read(path)
    except StoreError as error:
        return known, Finding("study.json", problem=str(error))
    problem = acts_tables.newer("study.json", now.schema) if now.schema > acts_tables.SCHEMA else ""
    return now, Finding("study.json", problem=problem)


def _handed(path: Path) -> tuple[HandedOut | None, list[Finding]]:
    try:
        return layout.handed_out(path), []
    except StoreError as error:
        return None, [Finding(layout.HANDED, problem=str(error))]


def _sheet_key(path: Path) -> list[Finding]:
    try:
        there = sheet_key.read(path) is not None
    except StoreError as error:
        return [Finding(sheet_key.FILE, problem=str(error))]
    note = "seals coding sheets; no archive, hand-out or bundle has it"
    return [Finding(sheet_key.FILE, note=note)] if there else []


def _drafts(path: Path) -> list[Finding]:
    found = []
    for file in _in(path / drafts.DRAFTS, ".json"):
        if drafts.is_draft(file):
            work, _, coder = file.stem.partition("-")
            name, problem = f"{drafts.DRAFTS}/{file.name}", ""
            try:
                drafts.read(path, work, coder)
            except StoreError as error:
                problem = str(error)
            note = f"begun by {coder!r} and not saved; no copy of the study has it"
            found.append(Finding(name, problem=problem, note=note))
    return found


def _acts(file: Path, known: Known, also: Reading | None) -> Finding:
    name = f"acts/{file.name}"
    try:
        other = acts_files.second_copy(file)
        if other is not None:
            return _of_second_copy(file, other)
        with acts_files.transaction(file) as connection:
            version = acts_tables.check(
                connection, file, study=known.study.id, coder=acts_files.coder_of(file)
            )
            of_file = list(_of_file(connection, version))
            return of_acts(connection, file, name, known, of_file, also)
    except StoreError as error:
        return Finding(name, coder=acts_files.coder_of(file), problem=str(error))


def _of_second_copy(file: Path, coder: str) -> Finding:
    """A sync client's copy is no damage once the coder's own file has all its acts."""
    name, own = f"acts/{file.name}", file.with_name(f"{coder}.sqlite")
    new = acts_files.act_ids(file) - (acts_files.act_ids(own) if own.exists() else set())
    if not new:
        return Finding(name, coder, note=f"a second copy of the acts of {coder!r} with nothing new in it")
    problem = (
        f"a second copy of the acts of {coder!r}, made by a sync client, with {len(new)} acts that "
        f"acts/{coder}.sqlite does not have – take them in with store.copies.merge(the path of this file)"
    )
    return Finding(name, coder, problem=problem)


def _of_file(connection: Connection, version: int) -> Iterator[str]:
    if version > acts_tables.SCHEMA:
        yield acts_tables.newer("its tables", version)
    elif acts_files.structure(connection) != _tables(version):
        yield f"tables that are not those of version {version}"
    faults = acts_files.problems(connection)
    if faults:
        yield faults


def _with_mode(path: Path, finding: Finding) -> Finding:
    """Note a file that others on this computer may open (a sync client may have made it so)."""
    try:
        bits = 0 if os.name == "nt" else stat.S_IMODE((path / finding.file).stat().st_mode)
    except OSError:
        return finding
    if not bits & 0o077:
        return finding
    mode = f"may be opened by others on this computer (mode {bits:o})"
    return replace(finding, note=f"{finding.note}; {mode}" if finding.note else mode)


def strangers(path: Path) -> list[Path]:
    """Return the files in the study folder that are no part of it; of folders that can be read."""
    part_of: dict[str, Callable[[Path], bool]] = {
        ".": lambda file: file.name in _AT_THE_TOP,
        "codebooks": lambda file: file.suffix == ".yaml" and layout.is_fingerprint(file.stem),
        "acts": acts_files.is_acts_file,
        "withdrawn": study_notes.is_note,
        "copies": study_notes.is_note,
        drafts.DRAFTS: drafts.is_draft,
    }
    named = sorted(Path(folder, name) for folder, _, names in os.walk(path) for name in names)
    files = [file for file in named if _may_be_file(file) and not whole_files.is_mark(file)]
    return [file for file in files if not part_of.get(_folder(path, file), _never)(file)]


def _may_be_file(file: Path) -> bool:
    """Return True if it is a file that is still there, or one of which nothing can be learnt."""
    try:
        return file.is_file()
    except OSError:
        return True


def _never(_: Path) -> bool:
    return False


def _folder(path: Path, file: Path) -> str:
    return file.parent.relative_to(path).as_posix()


def _unreadable(path: Path) -> list[Finding]:
    """Return the folders of a study that cannot be read; one that has gone meanwhile held nothing of it."""
    failed: list[OSError] = []
    for _ in os.walk(path, onerror=failed.append):
        pass
    return [
        Finding(os.path.relpath(error.filename, path), problem=f"cannot be read ({type(error).__name__})")
        for error in failed
        if not isinstance(error, FileNotFoundError)
    ]


def _strangers(path: Path) -> Iterator[Finding]:
    for file in strangers(path):
        try:
            yield _stranger(path, file)
        except FileNotFoundError:  # a temporary file of somebody who is writing, or of a sync client
            continue
        except OSError as error:
            what = (
                f"no part of the study, and cannot be read ({type(error).__name__}): it may hold acts – make "
                "it readable, or move it out of the study"
            )
            yield Finding(file.relative_to(path).as_posix(), problem=what)


def _stranger(path: Path, file: Path) -> Finding:
    """Return what a file is that is no part of the study; `OSError` where it cannot be read or is gone."""
    name = file.relative_to(path).as_posix()
    # What is being built may be locked: opening and closing it here could end the lock.
    passing = file.name.startswith((".", "~")) or any(whole_files.is_building(each) for each in file.parents)
    absent = acts_files.placeholder(file) if _folder(path, file) == "acts" else None
    if absent is not None and not acts_files.acts_file(path, absent).exists():
        what = f"the acts of {absent!r} were left in the cloud – download them; they are not read until then"
        return Finding(name, absent, problem=what)
    if file.name.endswith("-journal"):
        return Finding(name, note="SQLite's journal of a write that is under way or was interrupted")
    if passing or file.suffix.lower() in _PASSING:
        return Finding(name, note="a temporary or half-synced file; not read")
    with open_file(file) as opened:
        is_database = opened.read(16) == b"SQLite format 3\0"
    if is_database:
        what = "may hold acts, under a name that is not read – take them in with store.copies.merge(its path)"
        return Finding(name, problem=what)
    return Finding(name, note="no part of the study, or a sync client's second copy; not read")


@cache
def _tables(version: int) -> dict[str, object]:
    """Return the tables that an acts file of a version has."""
    engine = create_engine("sqlite://")
    try:
        with engine.begin() as connection:
            acts_tables.ACTS.metadata.create_all(
                connection, tables=[acts_tables.META, acts_tables.TEXTS, acts_tables.ACTS]
            )
            for name in acts_tables.NEW_COLUMNS if version == 1 else ():
                connection.exec_driver_sql(f"ALTER TABLE acts DROP COLUMN {name}")
            return acts_files.structure(connection)
    finally:
        engine.dispose()
