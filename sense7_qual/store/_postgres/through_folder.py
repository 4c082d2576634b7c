"""The whole of a study in PostgreSQL: to and from a study folder, verified, and without one who withdraws.

A study folder and a study in PostgreSQL hold the same things: the same Parquet file of units, the same notes,
and of each coder the same chain of acts. So an archive is written of a folder that was made from the tables,
and is byte for byte that of a study folder with the same content.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from sqlalchemy import Connection, Table, insert, or_, select, update
from sqlalchemy.dialects.postgresql import insert as insert_new

from sense7_qual._messages import first_three
from sense7_qual.acts import KINDS
from sense7_qual.errors import Damaged, StoreError, TableError
from sense7_qual.store._files import acts_files, layout, signed_json, study_notes, whole_files
from sense7_qual.store._files.study_notes import Copy, Withdrawal
from sense7_qual.store._log import sqlite
from sense7_qual.store._log.hash_chain import Link
from sense7_qual.store._log.sqlite import ACTS, TEXTS
from sense7_qual.store._operations import forget as withdrawals, verify
from sense7_qual.store._operations.verify import Finding
from sense7_qual.store._postgres import roles, schema
from sense7_qual.store._postgres.schema import NOTES, SHOWN, SHOWN_TEXTS, STUDY, UNBLINDED
from sense7_qual.store._postgres.server import (
    SNAPSHOT,
    Server,
    outside_transactions,
    retried,
    run,
    search_path,
)

__all__ = ["add_note", "download", "forget", "notes", "notes_in", "upload", "verify_study"]

_Note = TypeVar("_Note", Withdrawal, Copy)
_ELSEWHERE: Final = "the server's write-ahead log, its replicas and its own backups"


def download(server: Server, path: Path) -> None:
    """Write the study as the study folder `path`, as it is at one moment; for the lead."""

    def taken(connection: Connection) -> tuple[schema.Stored, dict[str, bytes], list[_Chain]]:
        run(connection, [SNAPSHOT])
        study = schema.stored_in(connection, server)
        schema.check_lead(connection, server, "copy")
        withdrawals = dict(_contents(connection, server, Withdrawal))
        coders = roles.members(connection, server)
        return study, withdrawals, [_chain(connection, server, coder) for coder in coders]

    study, withdrawals, chains = retried(server, taken)
    contents = {"study.json": signed_json.seal(asdict(study.study)), "units.parquet": study.units}
    contents |= {f"codebooks/{name}.yaml": content for name, content in study.codebooks.items()}
    contents |= {f"withdrawn/{name}.json": content for name, content in withdrawals.items()}
    layout.write(path, contents)
    for each in chains:
        if each.acts:
            file = acts_files.acts_file(path, each.coder)
            sqlite.create(file, study=study.study.id, coder=each.coder)
            with sqlite.transaction(file, writes=True) as connection:
                _insert(connection, each)


class _Chain(NamedTuple):
    """The rows of one coder's tables."""

    coder: str
    acts: list[dict[str, Any]]
    texts: list[dict[str, Any]]


def _chain(connection: Connection, server: Server, coder: str) -> _Chain:
    run(connection, [search_path(f"{server.name}-{coder}")])
    return _rows(connection, coder)


def _rows(connection: Connection, coder: str) -> _Chain:
    acts = connection.execute(select(ACTS).order_by(ACTS.c.seq)).mappings()
    try:
        texts = [dict(row) for row in connection.execute(select(TEXTS)).mappings()]
    except UnicodeDecodeError:
        raise sqlite.damaged(Path(coder), "a quote or memo that is no text") from None
    return _Chain(coder, [dict(row) for row in acts], texts)


def _insert(connection: Connection, chain: _Chain) -> None:
    if chain.texts:
        connection.execute(insert(TEXTS), chain.texts)
    if chain.acts:
        connection.execute(insert(ACTS), chain.acts)


def upload(path: Path, server: Server) -> schema.Openness:
    """Make a study from the study folder `path`, whole or not at all; the role codes as all coders.

    Returns what of the server's statistics stays open to the coders.
    """
    made = layout.read(path)
    layout.refuse_newer(path, made)
    codebooks = {name: book.to_yaml() for name, book in layout.read_codebooks(path, made).items()}
    units, withdrawals = study_notes.bytes_of(path / "units.parquet"), study_notes.notes(path, Withdrawal)

    owner = schema.owner_of(server)

    def work(connection: Connection) -> schema.Openness:
        openness, new = schema.make(connection, server, made, units, codebooks, owner)
        if not new:
            return openness
        for each in withdrawals:
            add_note(connection, server, each)
        for file in acts_files.acts_files(path):
            roles.take(connection, server, acts_files.coder_of(file))
            schema.enter(connection, server, acts_files.coder_of(file))
            with sqlite.transaction(file) as here:
                chain = _rows(here, acts_files.coder_of(file))
            _insert(connection, chain)
        return openness

    return retried(server, work)


def add_note(connection: Connection, server: Server, value: Withdrawal | Copy) -> None:
    """Add a note to the study, in the transaction of `connection`; for the lead."""
    row = {"id": value.id, "kind": type(value).__name__, "shown": _shown_part(value)}
    adding = insert_new(NOTES).values(row | {"content": study_notes.seal_note(value)})
    # The connection may have been lost after it was added.
    connection.execute(adding.on_conflict_do_nothing(), execution_options=_in_schema(server))


def _in_schema(server: Server) -> dict[str, Any]:
    """Name the study's own tables whatever the search path is, which may lead to those of a coder."""
    return {"schema_translate_map": {None: server.name}}


def _shown_part(value: Withdrawal | Copy) -> str | None:
    """Return what every member is told of a note: which units left, and the hash of those that are left."""
    if not isinstance(value, Withdrawal):
        return None
    return json.dumps({"unit_ids": value.unit_ids, "units_sha256": value.units_sha256})


def _shown_notes(connection: Connection, server: Server) -> dict[str, str | None]:
    run(connection, [search_path(server.name)])
    rows = connection.execute(select(NOTES.c.id, NOTES.c.shown))
    return {str(name): None if shown is None else str(shown) for name, shown in rows}


def notes(server: Server, kind: type[_Note]) -> list[_Note]:
    """Return the notes of a kind, oldest first; for the lead."""
    return retried(server, lambda connection: notes_in(connection, server, kind))


def notes_in(connection: Connection, server: Server, kind: type[_Note]) -> list[_Note]:
    """Return what `notes` does, in the transaction of `connection`."""
    read = [study_notes.note_of(content, name, kind) for name, content in _contents(connection, server, kind)]
    return sorted(read, key=lambda each: (each.at, each.id))


def _contents(connection: Connection, server: Server, kind: type[_Note]) -> list[tuple[str, bytes]]:
    query = select(NOTES.c.id, NOTES.c.content).where(NOTES.c.kind == kind.__name__)
    rows = connection.execute(query, execution_options=_in_schema(server))
    return [(str(name), bytes(content)) for name, content in rows]


def verify_study(server: Server) -> list[Finding]:
    """Return what is found in each part of the study that this role may see; damage raises nothing."""
    try:
        stored = schema.stored(server)
    except StoreError as error:
        return [Finding("study", problem=str(error))]
    withdrawn: list[Withdrawal] = []
    copies: list[Copy] = []
    findings: list[Finding] = []
    if retried(server, lambda connection: schema.leads(connection, server)):
        withdrawn, of_withdrawals = _verified_notes(server, Withdrawal)
        copies, of_copies = _verified_notes(server, Copy)
        findings = [*of_withdrawals, *of_copies]
    texts, of_units = _verified_units(server, stored)
    of_codebooks = [
        verify.of_codebook(server.name, name, content) for name, content in stored.codebooks.items()
    ]
    sound = frozenset(Path(each.file).stem for each in of_codebooks if each.problem in ("", verify.RESPELT))
    if stored.study.codebook not in stored.codebooks:
        file = f"codebooks/{stored.study.codebook}.yaml"
        of_codebooks.append(Finding(file, problem="missing, the current codebook"))
    known = verify.Known(stored.study, texts, sound, withdrawn, copies)
    coders = roles.coders(server)
    of_acts = [_verified_acts(server, coder, known) for coder in coders]
    of_rounds = _verified_rounds(server)
    lost = verify.missing(set(coders), copies)
    return [of_units, *of_codebooks, *findings, *of_acts, *of_rounds, *lost]


def _verified_units(server: Server, stored: schema.Stored) -> tuple[dict[str, str] | None, Finding]:
    try:
        units = layout.units_of(stored.units, stored.study, name=server.name, later=stored.later)
    except (StoreError, TableError) as error:
        return None, Finding("units", problem=str(error))
    return dict(zip(units["unit_id"], units["text"], strict=True)), Finding("units")


def _verified_notes(server: Server, kind: type[_Note]) -> tuple[list[_Note], list[Finding]]:
    sound: list[_Note] = []
    findings = []
    shown = retried(server, lambda connection: _shown_notes(connection, server))
    for name, content in retried(server, lambda connection: _contents(connection, server, kind)):
        try:
            each = study_notes.note_of(content, name, kind)
        except StoreError as error:
            findings.append(Finding(name, problem=str(error)))
            continue
        sound.append(each)
        same = shown.get(name) == _shown_part(each)
        problem = "" if same else "tells the coders of another withdrawal than the note itself"
        findings.append(Finding(name, problem=problem, note=each.sentence))
    return sound, findings


def _verified_acts(server: Server, coder: str, known: verify.Known) -> Finding:
    place = schema.place_of(server, coder)

    def whole(connection: Connection) -> Finding | None:
        run(connection, [SNAPSHOT])
        if not schema.sees_all(connection, server, coder):
            return None
        run(connection, [search_path(f"{server.name}-{coder}")])
        finding = verify.of_acts(connection, place, coder, known)
        differing = "" if finding.problem else _of_shown(connection, server, coder)
        return replace(finding, problem=differing) if differing else finding

    finding = retried(server, whole)
    if finding is not None:
        return finding
    try:
        return Finding(coder, coder, len(schema.acts(server, coder, study=known.study.id)))
    except StoreError as error:
        return Finding(coder, coder, problem=str(error))


def _of_shown(connection: Connection, server: Server, coder: str) -> str:
    """Return how the acts of the coder that all may see differ from those of the coder's own chain."""
    run(connection, [search_path(server.name)])
    unblinded = set(connection.execute(select(UNBLINDED.c.round)).scalars())
    shown = {
        str(row.act_id): row.hash for row in connection.execute(select(SHOWN).where(SHOWN.c.coder == coder))
    }
    try:
        schema.shown(connection, server, SHOWN.c.coder == coder, schema.place_of(server, coder))
    except StoreError as error:
        return f"its copy for all to see: {error}"
    run(connection, [search_path(f"{server.name}-{coder}")])
    rows = connection.execute(select(ACTS.c.act_id, ACTS.c.hash, ACTS.c.kind, ACTS.c.round))
    due = {str(r.act_id): r.hash for r in rows if KINDS[r.kind].by == "team" or r.round in unblinded}
    if shown == due:
        return ""
    more, less = sorted(shown.keys() - due.keys()), sorted(due.keys() - shown.keys())
    return f"its copy for all to see differs in acts {first_three(more or less or sorted(due))}"


def _verified_rounds(server: Server) -> list[Finding]:
    """Return the rounds that are open to all though no act unblinded them."""

    def work(connection: Connection) -> list[Finding]:
        run(connection, [SNAPSHOT, search_path(server.name)])
        acts = connection.execute(select(SHOWN.c.act_id, SHOWN.c.round).where(SHOWN.c.kind == "unblind"))
        recorded = {(str(act_id), str(name)) for act_id, name in acts}
        rows = connection.execute(select(UNBLINDED.c.round, UNBLINDED.c.act_id)).all()
        bad = [str(name) for name, act_id in rows if (str(act_id), str(name)) not in recorded]
        return [Finding(f"round {name!r}", problem="open to all, and no act unblinded it") for name in bad]

    return retried(server, work)


def forget(server: Server, case_id: str, *, why: str) -> withdrawals.Forgotten:
    """Remove the words of the participant `case_id` from the study, in one transaction; for the lead.

    Calling it again completes what was begun.

    The tables that had them are written anew afterwards, so that their pages keep no word.
    """

    erased: list[int] = []  # of each attempt: one may have been committed before its connection was lost

    def work(connection: Connection) -> tuple[list[str], withdrawals.Forgotten]:
        schema.check_lead(connection, server, "forget")
        # One withdrawal after the other, each from the units that the one before left.
        run(connection, [f'LOCK TABLE "{server.name}".notes IN SHARE ROW EXCLUSIVE MODE'])
        before = notes_in(connection, server, Withdrawal)
        study = schema.stored_in(connection, server)
        units = layout.units_of(study.units, study.study, name=server.name, later=study.later)
        words = withdrawals.Words.of(units, before, case_id)
        coders = roles.members(connection, server)
        chains, repeating = _looked_through(connection, server, coders, words, study.study.id)
        study = schema.stored_in(connection, server)  # revisions are made under those locks as well
        new, table = withdrawals.noted(units, before, words, why, repeating, study.codebooks)
        if new not in before:
            add_note(connection, server, new)
        memos = withdrawals.noted_memos([*before, new], case_id)
        erased.append(_erased(connection, server, coders, words, memos))
        run(connection, [search_path(server.name)])
        connection.execute(update(STUDY).values(units=table))
        notes = [each for each in notes_in(connection, server, Withdrawal) if each.case_id == case_id]
        remaining = [
            *withdrawals.copies(notes_in(connection, server, Copy), {each.id for each in notes}),
            *words.in_codebooks(study.codebooks),
            *(each for chain in chains.values() for each in words.in_reasons(chain)),
            *(("damaged", f"tables of coder {coder!r}", None) for coder in coders if coder not in chains),
            *whole_files.unfinished(whole_files.here()),
            ("server", _ELSEWHERE, None),
        ]  # fmt: skip
        return coders, withdrawals.forgotten(words, max(erased), notes, remaining)

    coders, done = retried(server, work)
    _write_anew(server, coders)
    return done


def _looked_through(
    connection: Connection, server: Server, coders: Sequence[str], words: withdrawals.Words, study_id: str
) -> tuple[dict[str, list[Link]], list[str]]:
    """Return the chain of each coder, whose tables stay locked, but for damaged ones, and the hashes of what
    surely repeats their words."""
    chains: dict[str, list[Link]] = {}
    repeating: list[str] = []
    for coder in coders:
        schema.enter(connection, server, coder)
        place = schema.place_of(server, coder)
        try:
            chains[coder] = sqlite.read_chain(connection, place, study=study_id, coder=coder)
            repeating += words.repeating(chains[coder])
        except Damaged:
            repeating += words.repeating_rows(_damaged_rows(connection))
    return chains, repeating


def _damaged_rows(connection: Connection) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Yield of each text of the coder whose tables were entered: its hash, itself, what its act says."""
    query = "SELECT t.text_hash, t.text, a.kind, a.unit_id FROM texts t LEFT JOIN acts a USING (text_hash)"
    for name, content, kind, unit_id in connection.exec_driver_sql(f"{query} WHERE t.text IS NOT NULL"):
        yield name, bytes(content).decode("utf-8", "replace"), {"kind": kind, "unit_id": unit_id}


def _erased(
    connection: Connection,
    server: Server,
    coders: Sequence[str],
    words: withdrawals.Words,
    memos: Collection[str],
) -> int:
    """Erase the quotes and memos of the units, and the memos that repeat them; return how many there were."""
    n_texts = 0
    run(connection, [search_path(server.name)])
    _erase(connection, SHOWN, SHOWN_TEXTS, words, memos)
    for coder in coders:
        run(connection, [search_path(f"{server.name}-{coder}")])
        n_texts += _erase(connection, ACTS, TEXTS, words, memos)
    return n_texts


def _erase(
    connection: Connection, acts: Table, texts: Table, words: withdrawals.Words, memos: Collection[str]
) -> int:
    of_units = select(acts.c.text_hash).where(acts.c.unit_id.in_(words.unit_ids))
    theirs = or_(texts.c.text_hash.in_(of_units), texts.c.text_hash.in_(memos))
    return connection.execute(
        update(texts).where(texts.c.text.is_not(None), theirs).values(salt=None, text=None)
    ).rowcount


def _write_anew(server: Server, coders: Sequence[str]) -> None:
    """Let the server write the tables anew, without what was erased."""
    tables = [f'"{server.name}".{name}' for name in ("study", "shown_texts")]
    tables += [f'"{server.name}-{coder}".texts' for coder in coders]
    outside_transactions(server, [f"VACUUM (FULL) {table}" for table in tables])
