"""Copies of a study: a backup is a study folder, an archive one file; both are checked before they count.

An archive is a zip without compression, so that the same study gives the same bytes on every computer, and
nothing in it can unfold into more than it is:

=============================  ======================================================================
member                         holds
=============================  ======================================================================
``manifest.json``              the version of everything, and the SHA-256 and size of every member
``study.json``                 as in the study folder
``units.parquet``              as in the study folder
``codebooks/<id>.yaml``        every version of the codebook
``withdrawn/<id>.json``        the notes of withdrawals
``acts.jsonl``                 one act a line, by coder and place in the chain, with its hash and text
``handed_out.json``            in what is handed out or in, to whom (`hand_out`)
=============================  ======================================================================

What a copy was made of is noted in the study (``copies/``), so that a withdrawal can say what older copies
still hold, and verification can tell a file that was put back from an older copy.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import warnings
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import groupby, islice
from pathlib import Path
from typing import Any, BinaryIO, Final

from sqlalchemy import Connection, select

from sense7_qual._arguments import is_unicode
from sense7_qual._atomic import make_folder, move_in, new_file, new_folder
from sense7_qual._formats import BROKEN_ZIP
from sense7_qual._limits import open_file
from sense7_qual._messages import first_three
from sense7_qual._parquet import guarded_table
from sense7_qual.acts import check_coder
from sense7_qual.errors import ActError, ImportRefused, StoreError
from sense7_qual.store._backend import Log
from sense7_qual.store._folder.verify import verify_folder
from sense7_qual.store._operations.verify import Reading
from sense7_qual.store._stored import (
    acts_files,
    acts_tables,
    layout,
    sheet_key,
    study_notes,
    whole_files,
)
from sense7_qual.store._stored.hash_chain import Link, genesis
from sense7_qual.store._stored.study_notes import Copy, Withdrawal

_FORMAT: Final = "sense7_qual study"
_MEMBER: Final = re.compile(
    r"manifest\.json|study\.json|handed_out\.json|units\.parquet|acts\.jsonl|codebooks/[0-9a-f]{32}\.yaml|"
    r"withdrawn/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json"
)
_ALWAYS: Final = frozenset({"study.json", "units.parquet", "acts.jsonl"})
_ACTS: Final = "acts.jsonl"
_ZIP: Final = b"PK\x03\x04"
_encode: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
_LONGEST_LINE: Final = 64_000_000  # bytes of one act: more than the longest text that a unit may have


def backup(log: Log, target: Path) -> None:
    """Copy a study folder to the new folder `target`, through SQLite's backup of each acts file; of a study
    on a server, write an archive.

    A study that is not sound, and one from which a participant withdrew meanwhile, is refused; then nothing
    is left at `target`.
    """
    path = log.place.address
    if not isinstance(path, Path):
        archive(log, target, kind="backup")
        return
    acts_files.refuse_absent(path)
    whole_files.refuse_existing(target)
    with whole_files.making(target, "backup", path) as building:
        copy_files(path, building, {acts_files.coder_of(file) for file in acts_files.acts_files(path)})
        sheet_key.copy(path, building)
        refuse_unsound(building, "the copy")
        note_copy(log, copy_of(building, target, "backup"))
        move_in(building, target)


def copy_files(path: Path, building: Path, coders: Collection[str]) -> None:
    """Build a study folder of the study's own files and the acts files of `coders`."""
    make_folder(building)
    for folder in ("codebooks", "acts", "withdrawn"):
        if (path / folder).is_dir():
            new_folder(building / folder)
    for name, content in _plain(path).items():
        whole_files.write(building / name, content)
    for file in acts_files.acts_files(path):
        if acts_files.coder_of(file) in coders:
            acts_files.copy(file, building / "acts" / file.name)


def archive(log: Log, target: Path, *, kind: str = "archive") -> None:
    """Write a study as one file at `target`; errors as of `backup`.

    The copy is noted before it exists: a copy that no withdrawal knows of would be worse.
    """
    whole_files.refuse_existing(target)
    making = whole_files.making(target, kind, log.place.scratch)
    with making as building, log.as_folder(building.parent) as path:
        made = copy_of(path, target, kind)  # first: a study is unsound where a withdrawal in it left words
        write(path, building, "the study")
        with building.open("rb") as file:
            members_of(file, target)  # read back, with every hash
        note_copy(log, made)
        move_in(building, target)


@contextmanager
def unpacked(other: Path, within: Path) -> Iterator[Path]:
    """Give the folder or acts file `other`; an archive as a folder that is in `within` meanwhile."""
    is_archive = False
    if other.is_file():
        with other.open("rb") as file:
            is_archive = file.read(len(_ZIP)) == _ZIP
    if not is_archive:
        yield other
        return
    with layout.refusing(within), whole_files.building(within) as folder:
        unpack(other, folder / "study")
        yield folder / "study"


def unpack(source: Path, building: Path) -> None:
    """Build the study folder of the archive `source`; what is not byte for byte what `archive` wrote is
    refused."""
    refuse_changed(source, building, lay_out(source, building))


def lay_out(source: Path, building: Path) -> dict[str, dict[str, Any]]:
    """Build the study folder of an archive, whose acts are still to be checked; return its manifest's files.

    Of any other member the hash was compared.
    """
    with opened_file(source) as file:
        names = members_of(file, source)
        with zipfile.ZipFile(file) as members:
            _unpack(members, names, building, source)
    study = layout.read(building)
    layout.refuse_newer(source, study)
    layout.read_units(building, study)
    return names


def refuse_changed(
    source: Path, building: Path, names: Mapping[str, Mapping[str, Any]], also: Reading | None = None
) -> None:
    """Refuse what was laid out, if it is not sound, or not what `archive` would write as the same bytes.

    `also` gets the acts meanwhile.
    """
    digest, n_bytes = hashlib.sha256(), 0

    def read(connection: Connection, coder: str, chain: Sequence[Link]) -> None:
        nonlocal n_bytes
        for line in map(line_of, _lines(connection, chain)):
            digest.update(line)
            n_bytes += len(line)
        if also is not None:
            also(connection, coder, chain)

    refuse_unsound(building, "the archive", read)
    as_archived = {name: _described(content) for name, content in _plain(building).items()}
    as_archived[_ACTS] = {"sha256": digest.hexdigest(), "bytes": n_bytes}
    if as_archived != names:
        raise refused(source, "acts in another form than they are archived in")


@contextmanager
def opened_file(source: Path) -> Iterator[BinaryIO]:
    """Open an archive to read it; `StoreError` where it cannot be."""
    try:
        file = open_file(source)
    except OSError as error:
        raise refused(source, f"none that can be read ({error.strerror})") from None
    with file:
        yield file


def refuse_unsound(path: Path, what: str, also: Reading | None = None) -> None:
    """Raise `StoreError` where `what`, the study folder at `path`, is not as it was written.

    `also` gets each coder's acts as they are read.
    """
    bad = [each for each in verify_folder(path, layout.read(path), also) if each.problem]
    if bad:
        raise StoreError(
            f"copy: expected {what} to be sound – found problems in {first_three(each.file for each in bad)} "
            "– look at store.verify(), and repair or merge these first; no copy was made."
        )


def note_copy(log: Log, made: Copy) -> None:
    """Note the copy; whoever withdraws after this finds the note, and before this it is refused."""
    try:
        log.add_note(made)
    except StoreError as error:
        if getattr(error.__cause__, "errno", None) not in whole_files.READ_ONLY:
            raise
        warnings.warn(
            "copy: expected to note in the study that it was made – found that the study cannot be written – "
            f"forget will not name this {made.kind}: delete it when a participant withdraws.",
            stacklevel=4,
        )
    if {each.id for each in log.notes(Withdrawal)} != set(made.withdrawn):
        raise StoreError(
            "copy: expected nobody to withdraw while it was made – found that a participant did – try "
            "again; no copy was made."
        )


def copy_of(path: Path, target: Path, kind: str) -> Copy:
    """Return the note that a copy of this kind is made at `target`."""
    withdrawn = tuple(each.id for each in study_notes.notes(path, Withdrawal))
    heads = {
        acts_files.coder_of(file): head[1]
        for file in acts_files.acts_files(path)
        if (head := acts_files.head(file)) is not None
    }
    return Copy(study_notes.new_id(), kind, str(target), whole_files.now(), withdrawn, heads)


def _plain(path: Path) -> dict[str, bytes]:
    """Return the files of a study that are copied as they are."""
    files = [path / "study.json", path / "units.parquet"]
    files += [file for file in [path / layout.HANDED] if file.is_file()]
    files += [file for file in (path / "codebooks").glob("*.yaml") if layout.is_fingerprint(file.stem)]
    if (path / "withdrawn").is_dir():
        files += [file for file in (path / "withdrawn").iterdir() if study_notes.is_note(file)]
    return {file.relative_to(path).as_posix(): study_notes.read_bytes(file) for file in sorted(files)}


def write(path: Path, target: Path, what: str = "the copy") -> None:
    """Write the archive of the study folder `path`: the same study always as the same bytes.

    One that is not as it was written is refused, as by `refuse_unsound`: what goes into the archive is what
    was checked, in one reading.
    """
    acts = target.with_name(f"{target.name}.acts")
    n_acts = _write_acts(path, acts, what)
    plain = _plain(path)
    files = {name: _described(content) for name, content in plain.items()}
    with acts.open("rb") as file:
        files[_ACTS] = {
            "sha256": hashlib.file_digest(file, "sha256").hexdigest(),
            "bytes": acts.stat().st_size,
        }
    manifest = {
        "format": _FORMAT,
        "schema": acts_tables.SCHEMA,
        "written_by": f"sense7_qual {version('sense7_qual')}",
        "study": layout.read(path).id,
        "n_acts": n_acts,
        "files": dict(sorted(files.items())),
    }
    with zipfile.ZipFile(new_file(target), "w", zipfile.ZIP_STORED) as members:
        members.writestr(_member("manifest.json"), (json.dumps(manifest, indent=2) + "\n").encode())
        for name, content in plain.items():
            members.writestr(_member(name), content)
        with members.open(_member(_ACTS), "w", force_zip64=True) as to, acts.open("rb") as lines:
            shutil.copyfileobj(lines, to, 1 << 20)
    whole_files.settle(target)


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    member.create_system, member.external_attr = 3, 0o600 << 16
    return member


def _described(content: bytes) -> dict[str, object]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def _write_acts(path: Path, target: Path, what: str) -> dict[str, int]:
    """Write every act as a line of canonical JSON; return how many each coder has."""
    counts: dict[str, int] = {}
    with new_file(target).open("wb") as out:

        def read(connection: Connection, coder: str, chain: Sequence[Link]) -> None:
            out.writelines(map(line_of, _lines(connection, chain)))
            counts[coder] = len(chain)

        refuse_unsound(path, what, read)
    return counts


def sound_lines(path: Path, what: str) -> list[dict[str, Any]]:
    """Return every act as its line has it, by coder and in the chain's order; errors as of
    `refuse_unsound`."""
    lines: list[dict[str, Any]] = []
    refuse_unsound(path, what, lambda connection, _, chain: lines.extend(_lines(connection, chain)))
    return lines


def _lines(connection: Connection, chain: Sequence[Link]) -> Iterator[dict[str, Any]]:
    """Yield the acts of a coder with seq and hash, and the salt and text where there is one."""
    texts = {row.text_hash: row for row in connection.execute(select(acts_tables.TEXTS))}
    for seq, link in enumerate(chain, start=1):
        line: dict[str, Any] = {"seq": seq, "hash": link.hash, **link.fields}
        row = texts.get(line.get("text_hash", ""))
        if row is not None and row.text is not None:
            line |= {"salt": row.salt, "text": row.text}
        yield line


def line_of(values: Mapping[str, Any]) -> bytes:
    """Return an act as its line of canonical JSON."""
    return f"{_encode(values)}\n".encode()


def refused(source: Path, problem: str) -> StoreError:
    """Return the error for a file that is not an archive as it was written."""
    return StoreError(
        f"archive {source.name!r}: expected an archive as store.copies.archive wrote it – found {problem} – "
        "get the file again from where it was kept; nothing was restored."
    )


def members_of(file: BinaryIO, source: Path) -> dict[str, dict[str, Any]]:
    """Return the manifest's files, after checking that the zip holds exactly these, as they were."""
    try:
        with zipfile.ZipFile(file) as members:
            infos = members.infolist()
            refuse_hostile(infos, source)
            manifest = json.loads(members.read("manifest.json"))
            files = manifest["files"]
            if manifest["format"] != _FORMAT or type(manifest["schema"]) is not int:
                raise refused(source, "another kind of file")
            if manifest["schema"] > acts_tables.SCHEMA:
                raise StoreError(acts_tables.newer(f"archive {source.name!r}", manifest["schema"]))
            lacking = sorted(_ALWAYS - set(files))
            if lacking:
                raise refused(source, f"an archive without {first_three(lacking)}")
            if sorted([*files, "manifest.json"]) != sorted(info.filename for info in infos):
                raise refused(source, "other members than its manifest names")
            with members.open(_ACTS) as lines:
                next(_acts(lines, source), None)  # so that what is no act is not hashed for minutes
            for name, entry in files.items():
                with members.open(name) as member:
                    sha256 = hashlib.file_digest(member, "sha256").hexdigest()  # type: ignore[arg-type]
                if sha256 != entry["sha256"]:
                    raise refused(source, f"member {name!r} with another hash than its manifest says")
    except StoreError:  # an OSError too, which says more
        raise
    except (*BROKEN_ZIP, KeyError, TypeError, AttributeError) as error:
        raise refused(source, f"a damaged or foreign file ({type(error).__name__})") from None
    return dict(files)


def refuse_hostile(infos: list[zipfile.ZipInfo], source: Path) -> None:
    """Refuse names that lead elsewhere or stand twice, and anything that could be more than it seems."""
    names = [info.filename for info in infos]
    strange = [name for name in names if not _MEMBER.fullmatch(name)]
    if strange:
        raise refused(source, f"{len(strange)} members that an archive does not have")
    large = [
        i.filename for i in infos if i.filename != _ACTS and i.file_size > study_notes.most_bytes(i.filename)
    ]
    if large:
        raise refused(source, f"members larger than any that a study has: {first_three(large)}")
    if len(set(names)) != len(names):
        raise refused(source, "members that are in it twice")
    packed = [
        info
        for info in infos
        if info.compress_type != zipfile.ZIP_STORED
        or info.file_size != info.compress_size
        or info.flag_bits & 1
    ]
    ends = [info.header_offset + info.file_size for info in infos]
    if packed or sum(info.file_size for info in infos) > max(ends, default=0):
        raise refused(source, "members that are compressed, encrypted or overlap")


def _unpack(members: zipfile.ZipFile, names: Mapping[str, Any], building: Path, source: Path) -> None:
    """Write the study folder; every name was checked against the few that an archive has."""
    new_folder(building)
    for folder in {"codebooks", "acts", *(name.partition("/")[0] for name in names if "/" in name)}:
        new_folder(building / folder)
    for name in names:
        if name != _ACTS:
            whole_files.write(building / name, members.read(name))
    _refuse_unfolding(building / "units.parquet", source)
    study = layout.read(building)
    with members.open(_ACTS) as lines:
        acts = _acts(lines, source)
        for coder, rows in groupby(acts, key=lambda row: str(row["coder"])):
            _restore_acts(building, study.id, coder, rows, source)


def _refuse_unfolding(table: Path, source: Path) -> None:
    """Refuse a table that is small on the disk and would fill the memory."""
    try:
        packed = table.read_bytes()
        guarded_table(packed, table.name, layout.units_limits(len(packed)))
    except ImportRefused as error:
        raise refused(source, f"units that cannot be read, or are more than a study has ({error})") from None


def _acts(lines: Any, source: Path) -> Iterator[dict[str, Any]]:
    while line := lines.readline(_LONGEST_LINE):
        try:
            row = json.loads(line)
            fit = isinstance(row["coder"], str) and all(map(_is_plain, row.values()))
        except (ValueError, KeyError, TypeError, RecursionError):
            fit = False
        if not fit:
            raise refused(source, "a line that is no act")
        yield row


def _is_plain(value: object) -> bool:
    """Return True if a column can hold the value: whole characters, or a number that is not too large."""
    if isinstance(value, str):
        return value.isascii() or is_unicode(value)
    return isinstance(value, int) and -(2**63) <= value < 2**63


def _restore_acts(
    building: Path, study_id: str, coder: str, rows: Iterator[dict[str, Any]], source: Path
) -> None:
    try:
        path = acts_files.acts_file(building, check_coder(coder))
    except ActError:
        raise refused(source, "acts of a coder that cannot be one") from None
    if path.exists():
        raise refused(source, "the acts of a coder in two places")
    acts_files.create(path, study=study_id, coder=coder)
    last = genesis(study_id, coder)
    with acts_files.transaction(path, writes=True) as connection:
        while some := list(islice(rows, acts_tables.TOGETHER)):
            last = _insert(connection, some, last, source)


def _insert(connection: Connection, rows: Sequence[dict[str, Any]], last: str, source: Path) -> str:
    """Put the acts of some lines, which follow the hash `last`, into an acts file; return the last one's."""
    known = {column.name for column in acts_tables.ACTS.columns}
    nothing = dict.fromkeys(known)
    acts, texts = [], []
    for row in rows:
        if "text_hash" in row:
            text = {name: row.pop(name, None) for name in ("salt", "text")}
            texts.append({"text_hash": row["text_hash"], **text})
        if not row.keys() <= known:
            raise refused(source, "an act with fields that acts do not have")
        acts.append({**nothing, **row, "previous": last})
        last = str(row.get("hash"))
    acts_tables.insert_all(connection, acts_tables.TEXTS, texts)
    acts_tables.insert_all(connection, acts_tables.ACTS, acts)
    return last
