"""A study in PostgreSQL as the store uses it: what a study folder does, by the rights of a role."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import pandas as pd
from sqlalchemy import Connection, Table, delete, or_, select, update

from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import Damaged
from sense7_qual.store._backend import Alone, Current, Locked, Place, Rows, Seats
from sense7_qual.store._operations.append import record, with_true_quotes
from sense7_qual.store._operations.check_acts import checked
from sense7_qual.store._operations.salvage import no_loss, sound_part
from sense7_qual.store._operations.verify import Finding
from sense7_qual.store._postgres import roles, schema, whole_study
from sense7_qual.store._postgres.row_security import FROM_A_COPY
from sense7_qual.store._postgres.schema import SHOWN, SHOWN_TEXTS, STUDY
from sense7_qual.store._postgres.server import (
    SNAPSHOT,
    Server,
    outside_transactions,
    retried,
    run,
    search_path,
)
from sense7_qual.store._postgres.whole_study import verify_on_server
from sense7_qual.store._stored import acts_tables, layout, whole_files
from sense7_qual.store._stored.acts_tables import ACTS, TEXTS
from sense7_qual.store._stored.hash_chain import Link, clocks, genesis, relinked
from sense7_qual.store._stored.layout import StudyData
from sense7_qual.store._stored.repeated_passages import Remaining, Words
from sense7_qual.store._stored.study_notes import Copy, Withdrawal

__all__ = ["Team", "rows_and_texts", "take_out"]

_T = TypeVar("_T")
_Note = TypeVar("_Note", Withdrawal, Copy)


_COPIES_OF_SERVER: Final = "the server's write-ahead log, its replicas and its own backups"


def _alone(server: Server, work: Callable[[_TeamAlone], _T], *, what: str) -> _T:
    """Run `work` and return its result, in one transaction that keeps other changes of the study out.

    The tables from which texts were erased are written again afterwards, so that their pages keep no word.
    """

    def locked(connection: Connection) -> tuple[_T, _TeamAlone]:
        schema.check_lead(connection, server, what)
        # One after the other, each from what the one before left.
        run(connection, [f'LOCK TABLE "{server.name}".notes IN SHARE ROW EXCLUSIVE MODE'])
        study = _TeamAlone(connection, server)
        return work(study), study

    done, study = retried(server, locked)
    if study.erased:
        tables = [f'"{server.name}".{name}' for name in ("study", "shown_texts")]
        tables += [f'"{server.name}-{coder}".texts' for coder in sorted(study.erased)]
        outside_transactions(server, [f"VACUUM (FULL) {table}" for table in tables])
    return done


class _TeamAlone:
    """The study at `server`; its methods are as `Alone` says."""

    __slots__ = ("_connection", "_server", "erased")

    def __init__(self, connection: Connection, server: Server) -> None:
        self._connection, self._server = connection, server
        self.erased: set[str] = set()

    def notes(self, kind: type[_Note]) -> list[_Note]:
        """Return the notes of a kind, oldest first."""
        return whole_study.notes_in(self._connection, self._server, kind)

    def add_note(self, note: Withdrawal) -> None:
        """Add a note."""
        whole_study.add_note(self._connection, self._server, note)

    def units(self) -> pd.DataFrame:
        """Return all units that are still stored."""
        kept = schema.stored_in(self._connection, self._server)
        return layout.units_of(kept.units, kept.study, name=self._server.name, later=kept.later)

    def put_units(self, table: bytes) -> None:
        """Replace the units by these."""
        run(self._connection, [search_path(self._server.name)])
        self._connection.execute(update(STUDY).values(units=table))

    def current(self) -> str:
        """Return the fingerprint of the current codebook."""
        return schema.current_codebook(self._connection, self._server)

    def codebooks(self) -> Mapping[str, bytes]:
        """Return every version of the codebook, as YAML by fingerprint."""
        return schema.stored_in(self._connection, self._server).codebooks

    def add_codebook(self, codebook: Codebook) -> None:
        """Add a version of the codebook, where it is not there."""
        schema.add_codebook(self._connection, self._server, codebook)

    def make_current(self, codebook: Codebook) -> None:
        """Name a version of the codebook as the current one."""
        run(self._connection, [search_path(self._server.name)])
        self._connection.execute(update(STUDY).values(codebook=codebook.fingerprint))

    def write(
        self, coder: str, work: Callable[[Locked], _T], *, study: str, at_first: Callable[[], object]
    ) -> _T:
        """Run `work` and return its result, on the coder's tables."""
        withdrawn, _ = schema.withdrawn(self._connection, self._server)
        roles.enter_as_own(self._connection, self._server, coder)
        return work(Locked(self._connection, schema.place_of(self._server, coder), True, withdrawn))

    def places(self) -> Sequence[Path]:
        """Return the names of the coders' tables in messages."""
        coders = roles.members(self._connection, self._server)
        return [schema.place_of(self._server, coder) for coder in coders]

    def named(self, place: Path) -> str:
        """Return the name of a coder's tables in `Forgotten`."""
        return f"tables of coder {place.name!r}"

    def chain(self, place: Path) -> list[Link]:
        """Return the acts of a coder, and keep the tables locked."""
        schema.enter(self._connection, self._server, place.name)
        study = acts_tables.described(self._connection, "study")
        return acts_tables.read_chain(self._connection, place, study=study, coder=place.name)

    def damaged_texts(self, place: Path) -> Iterator[tuple[str, object, Mapping[str, object]]]:
        """Yield the texts of a coder whose tables were entered: hash, text, what the act says."""
        query = "SELECT text_hash, t.text, a.kind, a.unit_id FROM texts t LEFT JOIN acts a USING (text_hash)"
        rows = self._connection.exec_driver_sql(f"{query} WHERE t.text IS NOT NULL")
        for name, content, kind, unit_id in rows:
            yield name, bytes(content).decode("utf-8", "replace"), {"kind": kind, "unit_id": unit_id}

    def erasing(self, place: Path, work: Callable[[Connection, list[Link] | None], _T]) -> _T:
        """Run `work` and return its result, on the coder's tables."""
        self.erased.add(place.name)
        try:
            chain = self.chain(place)
        except Damaged:
            return work(self._connection, None)
        return work(self._connection, chain)

    def erase(self, connection: Connection, unit_ids: Collection[str], hashes: Collection[str]) -> int:
        """Erase these texts of the coder whose tables were entered, and from the copies that all may see."""
        n_texts = _erase(connection, ACTS, TEXTS, unit_ids, hashes)
        run(connection, [search_path(self._server.name)])
        _erase(connection, SHOWN, SHOWN_TEXTS, unit_ids, hashes)
        return n_texts

    def elsewhere(self, words: Words) -> Iterator[Remaining]:
        """Yield what else may hold the words of a participant here."""
        yield from whole_files.unfinished(whole_files.here())
        yield "server", _COPIES_OF_SERVER, None


def _erase(
    connection: Connection, acts: Table, texts: Table, unit_ids: Collection[str], hashes: Collection[str]
) -> int:
    of_units = select(acts.c.text_hash).where(acts.c.unit_id.in_(unit_ids))
    theirs = or_(texts.c.text_hash.in_(of_units), texts.c.text_hash.in_(hashes))
    return connection.execute(
        update(texts).where(texts.c.text.is_not(None), theirs).values(salt=None, text=None)
    ).rowcount


@dataclass(slots=True)
class Team:
    """The study at `server`; its methods are as `Log` says."""

    server: Server
    place: Place = field(init=False)

    def __post_init__(self) -> None:
        address = self.server.address
        self.place = Place(address, self.server.name, whole_files.here(), address)

    def exists(self) -> bool:
        """Return True if there is a study, also one that this role may not open."""
        return retried(self.server, lambda connection: schema.is_there(connection, self.server))

    def create(self, build: Callable[[Path], object]) -> None:
        """Make the study of the folder that `build` makes; the role leads, and codes as all its coders."""
        with layout.refusing(self.place.scratch), whole_files.building(self.place.scratch) as folder:
            build(folder / "study")
            openness = whole_study.upload(folder / "study", self.server)
        for warning in openness.warnings():
            warnings.warn(warning, stacklevel=4)

    def contents(self) -> StudyData:
        """Return all but the acts, checked."""
        return schema.read(self.server)

    def current(self) -> Current:
        """Return the current codebook and the withdrawn units."""

        def work(connection: Connection) -> Current:
            codebook = schema.current_codebook(connection, self.server)
            return Current(codebook, schema.withdrawn(connection, self.server)[0])

        return retried(self.server, work)

    def leads(self) -> bool:
        """Return True if this role leads the study."""
        return retried(self.server, lambda connection: schema.leads(connection, self.server))

    def coders(self) -> tuple[str, ...]:
        """Return the coders with at least one act that this role may see, sorted."""
        return roles.coders(self.server)

    def own_coders(self) -> Sequence[str]:
        """Return the coders as whom this role codes, sorted."""
        return roles.own_coders(self.server)

    def add_coder(self, coder: str, *, role: str | None, lead: bool) -> None:
        """Let a role code as `coder`."""
        schema.refuse_newer(self.server)
        roles.add_coder(self.server, coder, role=role, lead=lead)

    def seats(self, coder: str) -> Seats:
        """Return which seat a coder has, and which are free."""
        return roles.seats(self.server, coder)

    def end_coder(self, coder: str) -> None:
        """Take the right to sign in from the coder's seat."""
        roles.end_coder(self.server, coder)

    def acts(
        self, coder: str | None, known: StudyData, whole: Callable[[Connection, Path, str], object]
    ) -> list[Act]:
        """Return the acts that this role may see, of a coder or of all, each checked."""
        return [
            act
            for one in (self.coders() if coder is None else [coder])
            for act in self._of(one, known, whole)
        ]

    def _of(
        self, coder: str, known: StudyData, whole: Callable[[Connection, Path, str], object]
    ) -> list[Act]:
        place = schema.place_of(self.server, coder)
        acts = schema.acts(
            self.server,
            coder,
            study=known.study.id,
            whole=lambda connection: whole(connection, place, coder),
        )
        return with_true_quotes(acts, place, known)

    def read(self, coder: str, work: Callable[[Connection | None, Path], _T]) -> _T | None:
        """Run `work` and return its result, on the coder's tables, where this role may see them whole."""

        def whole(connection: Connection) -> _T | None:
            if not schema.may_see_all(connection, self.server, coder):
                return None
            run(connection, [search_path(f"{self.server.name}-{coder}")])
            return work(connection, schema.place_of(self.server, coder))

        return retried(self.server, whole)

    def lead_acts(self, known: StudyData, subject: str) -> list[Act]:
        """Return the leads' acts for the team about one subject, which every role may see."""
        return retried(self.server, lambda connection: schema.lead_acts(connection, self.server, subject))

    def notes(self, kind: type[_Note], within: Connection | None = None) -> list[_Note]:
        """Return the notes of a kind, oldest first, for the lead."""
        if within is not None:
            return whole_study.notes_in(within, self.server, kind)
        return whole_study.notes(self.server, kind)

    def verify(self, known: StudyData) -> list[Finding]:
        """Return the findings about the study, its units, codebooks and notes, and each coder."""
        return verify_on_server(self.server)

    def write(
        self,
        coder: str,
        work: Callable[[Locked], _T],
        *,
        study: str,
        at_first: Callable[[], object] | None = None,
        in_rounds: bool = False,
        as_lead: bool = False,
    ) -> _T:
        """Run `work` and return its result, in one transaction on the coder's tables."""

        def on_tables(connection: Connection, place: Path, is_own: bool) -> _T:
            withdrawn, _ = schema.withdrawn(connection, self.server)
            rounds = schema.rounds(connection, self.server) if in_rounds else ()
            schema.enter(connection, self.server, coder)
            return work(Locked(connection, place, is_own, withdrawn, rounds))

        return roles.write(self.server, coder, on_tables, as_lead=as_lead)

    def alone(self, work: Callable[[Alone], _T], *, what: str = "forget") -> _T:
        """Run `work` and return its result, in one transaction; for the lead."""
        schema.refuse_newer(self.server)
        return _alone(self.server, work, what=what)

    def add_codebook(self, codebook: Codebook) -> None:
        """Add a version of the codebook, where it is not there."""
        retried(self.server, lambda connection: schema.add_codebook(connection, self.server, codebook))

    def add_note(self, note: Withdrawal | Copy, within: Connection | None = None) -> None:
        """Add a note, after waiting for a withdrawal that is under way; for the lead."""
        if within is not None:
            whole_study.add_note(within, self.server, note)
        else:
            retried(self.server, lambda there: whole_study.add_note(there, self.server, note))

    def sheet_key(self, coder: str) -> bytes:
        """Return the key that seals the coding sheets of a coder; for the lead and the coder."""
        return retried(self.server, lambda connection: schema.sheet_key(connection, self.server, coder))

    def broken_rows(self, coder: str) -> tuple[Rows, list[dict[str, Any]]]:
        """Return the rows of a coder's changed tables, and of the texts."""

        def work(connection: Connection) -> tuple[Rows, list[dict[str, Any]]]:
            run(connection, [SNAPSHOT, search_path(f"{self.server.name}-{coder}")])
            return rows_and_texts(connection)

        return retried(self.server, work)

    def take_out(self, coder: str, known: StudyData, note: Callable[[pd.DataFrame], Act]) -> pd.DataFrame:
        """Take what is not what was written out of the coder's tables, and add the act that says so."""

        def work(connection: Connection) -> pd.DataFrame:
            lost = take_out(connection, self.server, coder, known.study.id)
            if not lost.empty:
                act = checked(note(lost), known.texts, known.codebooks)
                roles.enter_as_own(connection, self.server, act.coder)
                at = Locked(connection, schema.place_of(self.server, act.coder))
                record(at, [act], known=known, refuse_lost=bool)
            return lost

        return retried(self.server, work) if self.leads() else no_loss()

    @contextmanager
    def as_folder(self, within: Path) -> Iterator[Path]:
        """Give the study as a folder that is in `within` meanwhile, readable by its owner alone."""
        schema.refuse_newer(self.server)
        with layout.refusing(within), whole_files.building(within) as folder:
            whole_study.download(self.server, folder / "study")
            yield folder / "study"


def rows_and_texts(connection: Connection) -> tuple[Rows, list[dict[str, Any]]]:
    """Return the rows of the coder's acts with their numbers, and the texts, as they are in the tables."""
    acts = connection.execute(select(acts_tables.ACTS).order_by(acts_tables.ACTS.c.seq)).mappings()
    rows = connection.exec_driver_sql("SELECT text_hash, salt, text FROM texts")
    # What is no text then fits to no hash.
    words = [(*row[:2], row[2] and bytes(row[2]).decode("utf-8", "replace")) for row in rows]
    texts = [dict(zip(("text_hash", "salt", "text"), row, strict=True)) for row in words]
    return [(int(row["seq"]), dict(row)) for row in acts], texts


def take_out(connection: Connection, server: Server, coder: str, study_id: str) -> pd.DataFrame:
    """Take each row that is not what was written out of a coder's tables; return them, as `Salvage.lost`.

    The sound acts stay, in their order. Those behind a row that left are linked again and keep the hash that
    they had, as merged ones do. For the lead, in the transaction of `connection`.
    """
    schema.check_lead(connection, server, "accept_loss")
    if coder not in roles.members(connection, server):
        return no_loss()
    schema.keep_withdrawals_out(connection, server)
    schema.enter(connection, server, coder)
    rows, texts = rows_and_texts(connection)
    links, sound, lost = sound_part(rows, texts, coder)
    used = {str(link.fields["text_hash"]) for link in links if "text_hash" in link.fields}
    unsound = [each for each in texts if str(each["text_hash"]) not in used]
    lost = pd.concat([lost, _of_texts(unsound)], ignore_index=True).astype(dict(lost.dtypes))
    if not lost.empty:
        again = list(relinked(links, list(clocks(links)), last=genesis(study_id, coder)))
        _replace(connection, server, coder, again, [dict(sound[name]) for name in sorted(used)])
    return lost


def _of_texts(texts: Collection[dict[str, Any]]) -> pd.DataFrame:
    rows = [(0, pd.NA, pd.NA, "a text of no act, or not the one that was written") for _ in texts]
    return no_loss() if not rows else pd.DataFrame(rows, columns=list(no_loss()))


def _replace(
    connection: Connection,
    server: Server,
    coder: str,
    links: list[dict[str, Any]],
    texts: list[dict[str, Any]],
) -> None:
    """Put these acts and texts in the place of the coder's, and of the copies of them that all may see.

    No role may delete a row, the owner's neither, so its rule is lifted until the transaction ends.
    """
    run(connection, [search_path(server.name)])
    owner = connection.execute(select(schema.STUDY.c.owner)).scalar_one()
    study, theirs = f'"{server.name}"', f'"{server.name}-{coder}"'
    tables = [f"{theirs}.acts", f"{theirs}.texts", f"{study}.shown", f"{study}.shown_texts"]
    run(
        connection,
        [FROM_A_COPY, f'SET LOCAL ROLE "{owner}"', *(_ruled(table, "NO FORCE") for table in tables)],
    )
    shown, words = schema.SHOWN, schema.SHOWN_TEXTS
    of_others = select(shown.c.text_hash).where(shown.c.coder != coder, shown.c.text_hash.is_not(None))
    hashes = connection.exec_driver_sql(f"SELECT text_hash FROM {theirs}.texts").scalars().all()
    connection.execute(delete(shown).where(shown.c.coder == coder))
    connection.execute(
        delete(words).where(words.c.text_hash.in_(hashes), words.c.text_hash.not_in(of_others))
    )
    run(connection, [search_path(f"{server.name}-{coder}")])
    connection.execute(delete(acts_tables.ACTS))
    connection.execute(delete(acts_tables.TEXTS))
    acts_tables.add_links(connection, links, texts)  # whose trigger shows again what all may see
    run(connection, [*(_ruled(table, "FORCE") for table in tables), "RESET ROLE"])


def _ruled(table: str, how: str) -> str:
    return f"ALTER TABLE {table} {how} ROW LEVEL SECURITY"
