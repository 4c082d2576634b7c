"""Verification: every byte of a study that says something is checked against what vouches for it.

- ``study.json`` and the notes of withdrawals and copies vouch for themselves, byte for byte (`signed_json`).
- ``units.parquet`` by its SHA-256 in ``study.json``, or in the note of the withdrawal that rewrote it.
- Each codebook by the fingerprint in its name, and by being what that codebook is written as.
- Each acts file by SQLite's own check of its pages and indices, by its tables being those of its version, by
  the chain of hashes over all acts, by the salted hash of every quote and memo, and by quotes being the
  words of their units. Its acts are folded once more. It must hold every act that it held when a backup or
  archive was last made, so a file that was put back from an older copy shows.

What is left of an acts file are bytes that nothing reads: free space within and between pages, and counters
in the header that SQLite uses as hints. Verification does not look at places but at values: it reads every
value of every table, through both the tables and the indices, so a flipped bit that it does not find has
changed none of them.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

import pandas as pd
from sqlalchemy import Connection, create_engine, select

from sense7_qual._limits import open_file
from sense7_qual._messages import first_three, legible
from sense7_qual.acts import Act, fold
from sense7_qual.acts.contents import SpanMemo
from sense7_qual.errors import ActError, StoreError, TableError
from sense7_qual.store._files import acts_files, drafts, layout, study_notes, units_parquet, whole_files
from sense7_qual.store._files.layout import Study
from sense7_qual.store._files.study_notes import Copy, Withdrawal
from sense7_qual.store._log import sqlite, versions
from sense7_qual.store._log.hash_chain import Link, ordered
from sense7_qual.store._operations.contents import has_readable_change

__all__ = [
    "RESPELT",
    "Finding",
    "Known",
    "act_ids",
    "frame_of",
    "misquoted",
    "missing",
    "nothing_new",
    "of_acts",
    "of_codebook",
    "owner",
    "second_copy",
    "strangers",
    "verify",
    "with_lost",
]

_Note = TypeVar("_Note", Withdrawal, Copy)
_PASSING: Final = frozenset({".tmp", ".part", ".partial", ".new", ".icloud", ".lock"})
RESPELT: Final = "not the bytes that were written"
"""The problem of a codebook that is the one it should be, in another spelling."""
_AGAIN: Final = "call store.forget again for"

_COLUMNS: Final = {
    "file": "string",
    "coder": "string",
    "n_acts": "Int64",
    "ok": "bool",
    "problem": "string",
    "note": "string",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found in one file: a problem, or none; a note where there is something to know."""

    file: str
    coder: str | None = None
    n_acts: int | None = None
    problem: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What acts are judged by: the study, its texts (none where they cannot be read), its codebooks, and its
    notes of withdrawals and copies."""

    study: Study
    texts: Mapping[str, str] | None = field(repr=False)
    codebooks: frozenset[str]
    withdrawn: Sequence[Withdrawal]
    copies: Sequence[Copy]


def verify(path: Path, known: Study) -> list[Finding]:
    """Return what is found in each file of the study folder `path`; damage raises nothing.

    `known` is what ``study.json`` said when it was last read; acts are judged by it where that file is
    damaged now.
    """
    now, first = _study(path, known)
    withdrawn, of_withdrawals = _notes(path / "withdrawn", Withdrawal)
    copies, of_copies = _notes(path / "copies", Copy)
    texts, of_units = _units(path, now, withdrawn)
    codebooks, of_codebooks = _codebooks(path, now)
    judged = Known(now, texts, codebooks, withdrawn, copies)
    findings = [first, of_units, *of_codebooks, *of_withdrawals, *of_copies]
    files = [file for file in _in(path / "acts", ".sqlite") if acts_files.is_acts_file(file)]
    findings += _spelt_apart([_acts(file, judged) for file in files])
    findings += _drafts(path)
    findings += missing({acts_files.coder_of(file) for file in files}, copies)
    return [*(_with_mode(path, each) for each in findings), *_unreadable(path), *_strangers(path)]


def _spelt_apart(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings of acts files, with a problem for names alike but for their case."""
    own = [each for each in findings if each.coder == Path(each.file).stem]
    counts = Counter(str(each.coder).casefold() for each in own)
    told = "as another coder's name but for upper and lower case: both are one file on many disks"
    return [
        replace(each, problem=told)
        if each in own and not each.problem and counts[str(each.coder).casefold()] > 1 else each
        for each in findings
    ]  # fmt: skip


def frame_of(findings: Sequence[Finding]) -> pd.DataFrame:
    """Return findings as the frame that `Store.verify` promises."""
    rows = [
        (legible(f.file), legible(f.coder), f.n_acts, not f.problem, legible(f.problem), legible(f.note))
        for f in findings
    ]
    return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(dict(_COLUMNS))


def with_lost(findings: Sequence[Finding], lost: Mapping[str, str]) -> list[Finding]:
    """Return the findings with what is missing of each coder's acts that were seen here before."""
    told = {finding.file: finding for finding in findings}
    for coder, missing in lost.items():
        name = coder if coder in told else f"acts/{coder}.sqlite"
        finding = told.get(name, Finding(name, coder))
        problems = "; ".join(filter(None, [f"lacks {missing}", finding.problem]))
        told[name] = replace(finding, problem=problems)
    return list(told.values())


def misquoted(act: Act, texts: Mapping[str, str]) -> bool:
    """Return True if an act carries other words than its span has in the unit."""
    is_memo = act.traits.subject == "memo" and act.target_kind == "span"
    if not act.text or not (is_memo or act.traits.text == "quote"):
        return False
    words = str(texts.get(str(act.unit_id), ""))[act.start : act.end]
    if is_memo:
        return has_readable_change(act) and SpanMemo.from_text(act.text).quote != words
    return act.start is None or act.text != words


def owner(connection: Connection) -> str:
    """Return whose acts a file says it holds (empty where it says nothing)."""
    return sqlite.described(connection, "coder")


def second_copy(path: Path) -> str | None:
    """Return whose acts a file holds where its name says another coder: a sync client's second copy."""
    with sqlite.transaction(path) as connection:
        coder = owner(connection)
    return coder if coder and coder != acts_files.coder_of(path) else None


def nothing_new(path: Path) -> bool:
    """Return True if a file is a second copy of a coder's acts, all of which the coder's own file has."""
    coder = second_copy(path)
    own = path.with_name(f"{coder}.sqlite")
    return coder is not None and own.exists() and act_ids(path) <= act_ids(own)


def act_ids(path: Path) -> set[str]:
    """Return the ids of the acts in an acts file."""
    with sqlite.transaction(path) as connection:
        return set(connection.execute(select(sqlite.ACTS.c.act_id)).scalars())


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
    problem = versions.newer("study.json", now.schema) if now.schema > sqlite.SCHEMA else ""
    return now, Finding("study.json", problem=problem)


def _notes(folder: Path, kind: type[_Note]) -> tuple[list[_Note], list[Finding]]:
    notes: list[_Note] = []
    findings = []
    for file in _in(folder, ".json"):
        name = f"{folder.name}/{file.name}"
        if not study_notes.is_note(file):
            continue
        try:
            note = study_notes.read_note(file, kind)
        except StoreError as error:
            findings.append(Finding(name, problem=str(error)))
            continue
        notes.append(note)
        findings.append(Finding(name, note=note.sentence))
    return notes, findings


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


def _units(path: Path, now: Study, withdrawn: Sequence[Withdrawal]) -> tuple[dict[str, str] | None, Finding]:
    later = frozenset(each.units_sha256 for each in withdrawn)
    try:
        table = study_notes.bytes_of(path / "units.parquet")
        units = layout.units_of(table, now, name=path.name, later=later)
    except (StoreError, TableError) as error:
        return None, Finding("units.parquet", problem=str(error))
    except OSError as error:
        return None, Finding("units.parquet", problem=f"cannot be read ({type(error).__name__})")
    remaining = units_parquet.without(units, withdrawn)
    still = [each.case_id for each in withdrawn if units["unit_id"].isin(each.unit_ids).any()]
    problem = (
        f"still holds texts of participants who withdrew – {_AGAIN} {first_three(still)}" if still else ""
    )
    return dict(zip(remaining["unit_id"], remaining["text"], strict=True)), Finding(
        "units.parquet", problem=problem
    )


def _codebooks(path: Path, now: Study) -> tuple[frozenset[str], list[Finding]]:
    known, findings = set(), []
    for file in _in(path / "codebooks", ".yaml"):
        if not layout.is_fingerprint(file.stem):
            continue
        try:
            finding = of_codebook(path.name, file.stem, study_notes.bytes_of(file))
        except OSError as error:
            finding = Finding(f"codebooks/{file.name}", problem=f"cannot be read ({type(error).__name__})")
        findings.append(finding)
        if finding.problem in ("", RESPELT):
            known.add(file.stem)
    if now.codebook not in known and not any(now.codebook in each.file for each in findings):
        findings.append(Finding(f"codebooks/{now.codebook}.yaml", problem="missing, the current codebook"))
    return frozenset(known), findings


def of_codebook(study_name: str, fingerprint: str, content: bytes) -> Finding:
    """Return what is found in a version of the codebook."""
    name = f"codebooks/{fingerprint}.yaml"
    try:
        codebook = layout.codebook_of(study_name, fingerprint, content)
    except StoreError as error:
        return Finding(name, problem=str(error))
    same = codebook.to_yaml() == content
    return Finding(name, problem="" if same else RESPELT)


def _acts(file: Path, known: Known) -> Finding:
    name = f"acts/{file.name}"
    try:
        other = second_copy(file)
        if other is not None:
            return _of_second_copy(file, other)
        with sqlite.transaction(file) as connection:
            version = sqlite.check(connection, file, study=known.study.id, coder=acts_files.coder_of(file))
            of_file = list(_of_file(connection, version))
            return of_acts(connection, file, name, known, of_file)
    except StoreError as error:
        return Finding(name, coder=acts_files.coder_of(file), problem=str(error))


def of_acts(
    connection: Connection, place: Path, name: str, known: Known, problems: Sequence[str] = ()
) -> Finding:
    """Return what is found in the acts of the coder ``place``: chain, texts, quotes and their fold.

    `name` is what the finding calls them; `problems` are those of the file that were found before. Damage
    raises nothing.
    """
    coder = acts_files.coder_of(place)
    try:
        chain = sqlite.read_chain(connection, place, study=known.study.id, coder=coder)
        texts = sqlite.read_texts(connection, place, select(sqlite.TEXTS))
        all_problems = [*problems, *_of_chain(chain, texts, coder, known)]
        fold([link.act for link in ordered(chain) if link.act is not None])
    except (StoreError, ActError, TableError) as error:
        return Finding(name, coder=coder, problem=str(error))
    merged = sum(link.merged for link in chain)
    note = f"{merged} acts merged from another copy" if merged else ""
    return Finding(name, coder, len(chain), "; ".join(all_problems), note)


def _of_second_copy(file: Path, coder: str) -> Finding:
    """A sync client's copy is no damage once the coder's own file has all its acts."""
    name, own = f"acts/{file.name}", file.with_name(f"{coder}.sqlite")
    new = act_ids(file) - (act_ids(own) if own.exists() else set())
    if not new:
        return Finding(name, coder, note=f"a second copy of the acts of {coder!r} with nothing new in it")
    problem = (
        f"a second copy of the acts of {coder!r}, made by a sync client, with {len(new)} acts that "
        f"acts/{coder}.sqlite does not have – take them in with store.copies.merge(the path of this file)"
    )
    return Finding(name, coder, problem=problem)


def _of_file(connection: Connection, version: int) -> Iterator[str]:
    if version > sqlite.SCHEMA:
        yield versions.newer("its tables", version)
    elif versions.structure(connection) != _tables():
        yield f"tables that are not those of version {version}"
    faults = sqlite.problems(connection)
    if faults:
        yield faults


def _of_chain(
    chain: Sequence[Link], texts: Mapping[str, str | None], coder: str, known: Known
) -> Iterator[str]:
    case_of_unit = {unit_id: each.case_id for each in known.withdrawn for unit_id in each.unit_ids}
    may_be_empty = {memo: each.case_id for each in known.withdrawn for memo in each.memos}
    rows = [(link.act, link.fields.get("text_hash")) for link in chain if link.act is not None]
    orphans = set(texts) - {text_hash for _, text_hash in rows}
    emptied = [(act, name) for act, name in rows if name is not None and texts[name] is None]
    lost = [
        act.act_id for act, name in emptied if name not in may_be_empty and act.unit_id not in case_of_unit
    ]
    not_erased = [
        case_of_unit[str(act.unit_id)] for act, _ in rows if act.unit_id in case_of_unit and act.text
    ]
    not_erased += [case_id for memo, case_id in may_be_empty.items() if texts.get(memo)]
    mute = [act.act_id for act, _ in rows if not has_readable_change(act)]
    strange = [act.codebook for act, _ in rows if act.codebook not in known.codebooks]
    if orphans and all(link.act is not None for link in chain):
        yield f"{len(orphans)} texts that belong to no act"
    if lost:
        yield f"quotes or memos that were erased though nobody withdrew, of acts {first_three(lost)}"
    if not_erased:
        cases = first_three(sorted(set(not_erased)))
        yield f"still holds words of participants who withdrew – {_AGAIN} {cases}"
    if mute:
        yield f"rounds or revisions that do not say what they change, in acts {first_three(mute)}"
    if strange:
        yield f"acts under codebooks that are not here: {first_three(sorted(set(strange)))}"
    if known.texts is not None:
        yield from _of_quotes([act for act, _ in rows if act.unit_id not in case_of_unit], known.texts)
    yield from _since_copies(chain, coder, known.copies)


def _of_quotes(acts: Sequence[Act], texts: Mapping[str, str]) -> Iterator[str]:
    unknown = {str(act.unit_id) for act in acts if act.unit_id is not None and act.unit_id not in texts}
    if unknown:
        yield f"acts on units that the study does not have: {first_three(sorted(unknown))}"
    wrong = {str(act.unit_id) for act in acts if act.unit_id in texts and misquoted(act, texts)}
    if wrong:
        yield f"another quote than unit {first_three(sorted(wrong))} has"


def _since_copies(chain: Sequence[Link], coder: str, copies: Sequence[Copy]) -> Iterator[str]:
    """Describe where the file was put back from a copy older than a backup or archive."""
    hashes = {link.hash for link in chain} | {link.branch for link in chain}
    for copy in copies:
        if copy.heads.get(coder, "") not in {"", *hashes}:
            yield (
                f"lacks acts that it had when the {copy.kind} of {copy.at} was made: an older copy was put "
                f"in its place – take them in with store.copies.merge(that {copy.kind})"
            )
            return


def missing(coders: Collection[str], copies: Sequence[Copy]) -> Iterator[Finding]:
    """Yield the coders who are not among `coders`, and had acts when a copy was made."""
    had = {coder: copy for copy in copies for coder in copy.heads}
    for coder in sorted(set(had) - set(coders)):
        what = f"missing; it was there when the {had[coder].kind} of {had[coder].at} was made"
        yield Finding(f"acts/{coder}.sqlite", coder, problem=what)


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
        ".": lambda file: file.name in ("study.json", "units.parquet", layout.LOCK, layout.HANDED),
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
def _tables() -> dict[str, object]:
    """Return the tables that an acts file has."""
    engine = create_engine("sqlite://")
    try:
        with engine.begin() as connection:
            sqlite.ACTS.metadata.create_all(connection, tables=[sqlite.META, sqlite.TEXTS, sqlite.ACTS])
            return versions.structure(connection)
    finally:
        engine.dispose()
