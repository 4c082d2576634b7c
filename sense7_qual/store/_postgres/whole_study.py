"""A study in PostgreSQL as a whole: from and to a study folder, its notes, and its verification.

A study folder and a study in PostgreSQL hold the same things: the same Parquet file of units, the same notes,
and of each coder the same chain of acts. So an archive is written of a folder that was made from the tables,
and is byte for byte that of a study folder with the same content.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, insert, select
from sqlalchemy.dialects.postgresql import insert as insert_new

from sense7_qual._messages import first_three
from sense7_qual.acts import KINDS
from sense7_qual.errors import StoreError
from sense7_qual.store._operations.verify import Finding, Known, Parts, of_acts, verify
from sense7_qual.store._postgres import roles, row_security, schema
from sense7_qual.store._postgres.schema import NOTES, SHOWN, UNBLINDED
from sense7_qual.store._postgres.server import (
    SNAPSHOT,
    Server,
    retried,
    run,
    search_path,
)
from sense7_qual.store._stored import acts_files, acts_tables, layout, study_notes, whole_files
from sense7_qual.store._stored.acts_tables import ACTS, TEXTS
from sense7_qual.store._stored.study_notes import Copy, Withdrawal

_Note = TypeVar("_Note", Withdrawal, Copy)


def download(server: Server, path: Path) -> None:
    """Write the study as the study folder `path`, as it is at one moment; for the lead."""

    def taken(connection: Connection) -> tuple[schema.Stored, dict[str, bytes], list[_Chain]]:
        run(connection, [SNAPSHOT])
        study = schema.stored_in(connection, server)
        schema.check_lead(connection, server, "copy")
        withdrawals = dict(note_contents(connection, server, Withdrawal))
        coders = roles.members(connection, server)
        return study, withdrawals, [_chain(connection, server, coder) for coder in coders]

    study, withdrawals, chains = retried(server, taken)
    contents = {"study.json": whole_files.seal(asdict(study.study)), "units.parquet": study.units}
    contents |= {f"codebooks/{name}.yaml": content for name, content in study.codebooks.items()}
    contents |= {f"withdrawn/{name}.json": content for name, content in withdrawals.items()}
    layout.write(path, contents)
    for each in chains:
        if each.acts:
            file = acts_files.acts_file(path, each.coder)
            acts_files.create(file, study=study.study.id, coder=each.coder)
            with acts_files.transaction(file, writes=True) as connection:
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
        raise acts_tables.damaged(Path(coder), "a quote or memo that is no text") from None
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
    if layout.handed_out(path) is not None:
        raise StoreError(
            "study: expected a whole study for the server – found a part that was handed out to one coder – "
            "merge it into the study that it comes from."
        )
    codebooks = {name: book.to_yaml() for name, book in layout.read_codebooks(path, made).items()}
    units, withdrawals = study_notes.read_bytes(path / "units.parquet"), study_notes.notes(path, Withdrawal)

    owner = schema.owner_of(server)

    def work(connection: Connection) -> schema.Openness:
        openness, new = schema.make(connection, server, made, units, codebooks, owner)
        if not new:
            return openness
        run(connection, [row_security.FROM_A_COPY])
        for each in withdrawals:
            add_note(connection, server, each)
        for file in acts_files.acts_files(path):
            roles.take(connection, server, acts_files.coder_of(file))
            schema.enter(connection, server, acts_files.coder_of(file))
            with acts_files.transaction(file) as here:
                chain = _rows(here, acts_files.coder_of(file))
            _insert(connection, chain)
        return openness

    return retried(server, work)


def add_note(connection: Connection, server: Server, value: Withdrawal | Copy) -> None:
    """Add a note to the study, in the transaction of `connection`; for the lead."""
    row = {"id": value.id, "kind": type(value).__name__, "shown": shown_part(value)}
    adding = insert_new(NOTES).values(row | {"content": study_notes.seal_note(value)})
    # The connection may have been lost after it was added.
    connection.execute(adding.on_conflict_do_nothing(), execution_options=_in_schema(server))


def _in_schema(server: Server) -> dict[str, Any]:
    """Name the study's own tables whatever the search path is, which may lead to those of a coder."""
    return {"schema_translate_map": {None: server.name}}


def shown_part(value: Withdrawal | Copy) -> str | None:
    """Return the part of a note for every member: the units that left, and the hash of the rest."""
    if not isinstance(value, Withdrawal):
        return None
    return json.dumps({"unit_ids": value.unit_ids, "units_sha256": value.units_sha256})


def notes(server: Server, kind: type[_Note]) -> list[_Note]:
    """Return the notes of a kind, oldest first; for the lead."""
    return retried(server, lambda connection: notes_in(connection, server, kind))


def notes_in(connection: Connection, server: Server, kind: type[_Note]) -> list[_Note]:
    """Return the same as `notes`, in the transaction of `connection`."""
    read = [
        study_notes.note_of(content, name, kind) for name, content in note_contents(connection, server, kind)
    ]
    return sorted(read, key=lambda each: (each.at, each.id))


def note_contents(connection: Connection, server: Server, kind: type[_Note]) -> list[tuple[str, bytes]]:
    """Return the notes of a kind as they are stored: id and bytes of each."""
    query = select(NOTES.c.id, NOTES.c.content).where(NOTES.c.kind == kind.__name__)
    rows = connection.execute(query, execution_options=_in_schema(server))
    return [(str(name), bytes(content)) for name, content in rows]


def verify_on_server(server: Server) -> list[Finding]:
    """Return the findings about each part of the study that this role may see; damage raises nothing."""
    try:
        stored = schema.stored(server)
    except StoreError as error:
        return [Finding("study", problem=str(error))]
    withdrawn, copies = retried(server, lambda connection: _notes(connection, server))
    coders = roles.coders(server)
    parts = Parts(
        stored.study,
        server.name,
        ("units", stored.units),
        stored.codebooks,
        withdrawn,
        copies,
        coders,
        stored.later,
    )

    def acts(known: Known) -> list[Finding]:
        return [*(_of_coder(server, coder, known) for coder in coders), *_of_rounds(server)]

    untrue = {*_untrue_notes(server, withdrawn, Withdrawal), *_untrue_notes(server, copies, Copy)}
    untold = "tells the coders of another withdrawal than the note itself"
    return [
        replace(each, problem=untold) if each.file in untrue and not each.problem else each
        for each in verify(parts, acts)
    ]


def _notes(connection: Connection, server: Server) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return the notes of withdrawals and of copies by id, for the lead; for others none."""
    if not schema.leads(connection, server):
        return {}, {}
    withdrawn = note_contents(connection, server, Withdrawal)
    return dict(withdrawn), dict(note_contents(connection, server, Copy))


def _untrue_notes(server: Server, contents: dict[str, bytes], kind: type[_Note]) -> Iterator[str]:
    """Yield the ids of sound notes of which the coders are told something else."""

    def shown(connection: Connection) -> dict[str, str | None]:
        run(connection, [search_path(server.name)])
        return {str(name): told for name, told in connection.execute(select(NOTES.c.id, NOTES.c.shown))}

    told = retried(server, shown) if contents else {}
    for name, content in contents.items():
        with suppress(StoreError):
            if told.get(name) != shown_part(study_notes.note_of(content, name, kind)):
                yield name


def _of_coder(server: Server, coder: str, known: Known) -> Finding:
    place = schema.place_of(server, coder)

    def whole(connection: Connection) -> Finding | None:
        run(connection, [SNAPSHOT])
        if not schema.sees_all(connection, server, coder):
            return None
        run(connection, [search_path(f"{server.name}-{coder}")])
        finding = of_acts(connection, place, coder, known)
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


def _of_rounds(server: Server) -> list[Finding]:
    """Return the rounds that are open to all though no act unblinded them."""

    def work(connection: Connection) -> list[Finding]:
        run(connection, [SNAPSHOT, search_path(server.name)])
        acts = connection.execute(select(SHOWN.c.act_id, SHOWN.c.round).where(SHOWN.c.kind == "unblind"))
        recorded = {(str(act_id), str(name)) for act_id, name in acts}
        rows = connection.execute(select(UNBLINDED.c.round, UNBLINDED.c.act_id)).all()
        bad = [str(name) for name, act_id in rows if (str(act_id), str(name)) not in recorded]
        return [Finding(f"round {name!r}", problem="open to all, and no act unblinded it") for name in bad]

    return retried(server, work)
