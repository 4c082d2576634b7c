"""A study in PostgreSQL as the store uses it: what a study folder does, by the rights of a role."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from sqlalchemy import Connection

from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.store._backend import Current, Locked, Place, Rows
from sense7_qual.store._files import layout, whole_files
from sense7_qual.store._files.layout import Opened
from sense7_qual.store._files.study_notes import Copy, Withdrawal
from sense7_qual.store._operations import forget
from sense7_qual.store._operations.append import record, with_true_quotes
from sense7_qual.store._operations.check_acts import settled
from sense7_qual.store._operations.revise import Wish
from sense7_qual.store._operations.salvage import no_loss
from sense7_qual.store._operations.verify import Finding
from sense7_qual.store._postgres import roles, schema, through_folder
from sense7_qual.store._postgres.revise import revise_on_server
from sense7_qual.store._postgres.server import SNAPSHOT, Server, retried, run, search_path
from sense7_qual.store._postgres.take_out import rows_and_texts, take_out

__all__ = ["Team"]

_T = TypeVar("_T")
_Note = TypeVar("_Note", Withdrawal, Copy)


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
            openness = through_folder.upload(folder / "study", self.server)
        for warning in openness.warnings():
            warnings.warn(warning, stacklevel=4)

    def contents(self) -> Opened:
        """Return all but the acts, checked."""
        return schema.read(self.server)

    def current(self) -> Current:
        """Return what the study names as current."""

        def work(connection: Connection) -> Current:
            codebook = schema.current_codebook(connection, self.server)
            return Current(codebook, schema.withdrawn(connection, self.server)[0])

        return retried(self.server, work)

    def leads(self) -> bool:
        """Return True if this role leads the study."""
        return retried(self.server, lambda connection: schema.leads(connection, self.server))

    def coders(self) -> tuple[str, ...]:
        """Return the pseudonyms of whom this role may see an act, sorted."""
        return roles.coders(self.server)

    def add_coder(self, coder: str, *, role: str | None, lead: bool) -> None:
        """Let a role code as `coder`."""
        schema.refuse_newer(self.server)
        roles.add_coder(self.server, coder, role=role, lead=lead)

    def acts(
        self, coder: str | None, known: Opened, whole: Callable[[Connection, Path, str], object]
    ) -> list[Act]:
        """Return the acts that this role may see, of a coder or of all, each checked."""
        return [
            act
            for one in (self.coders() if coder is None else [coder])
            for act in self._of(one, known, whole)
        ]

    def _of(self, coder: str, known: Opened, whole: Callable[[Connection, Path, str], object]) -> list[Act]:
        place = schema.place_of(self.server, coder)
        acts = schema.acts(
            self.server, coder, study=known.study.id,
            whole=lambda connection: whole(connection, place, coder),
        )  # fmt: skip
        return with_true_quotes(acts, place, known)

    def read(self, coder: str, work: Callable[[Connection | None, Path], _T]) -> _T | None:
        """Return what `work` returns, done on the coder's tables, where this role may see them whole."""

        def whole(connection: Connection) -> _T | None:
            if not schema.may_see_all(connection, self.server, coder):
                return None
            run(connection, [search_path(f"{self.server.name}-{coder}")])
            return work(connection, schema.place_of(self.server, coder))

        return retried(self.server, whole)

    def lead_acts(self, known: Opened, subject: str) -> list[Act]:
        """Return what leads did for the team, about one subject, which every role may see."""
        return retried(self.server, lambda connection: schema.lead_acts(connection, self.server, subject))

    def notes(self, kind: type[_Note], within: Connection | None = None) -> list[_Note]:
        """Return the notes of a kind, oldest first, for the lead."""
        if within is not None:
            return through_folder.notes_in(within, self.server, kind)
        return through_folder.notes(self.server, kind)

    def verify(self, known: Opened) -> list[Finding]:
        """Return what is found of the study, its units, codebooks and notes, and of each coder."""
        return through_folder.verify_study(self.server)

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
        """Return what `work` returns, done in one transaction on the coder's tables."""

        def on_tables(connection: Connection, place: Path, is_own: bool) -> _T:
            withdrawn, _ = schema.withdrawn(connection, self.server)
            rounds = schema.rounds(connection, self.server) if in_rounds else ()
            schema.enter(connection, self.server, coder)
            return work(Locked(connection, place, is_own, withdrawn, rounds))

        return roles.write(self.server, coder, on_tables, as_lead=as_lead)

    def revise(self, wish: Wish, record: Callable[[list[Act], Codebook, Locked | None], object]) -> Codebook:
        """Make the wished codebook the current one, in one transaction with the acts."""
        return revise_on_server(wish, self.server, record)

    def add_codebook(self, codebook: Codebook) -> None:
        """Add a version of the codebook, where it is not there."""
        retried(self.server, lambda connection: schema.add_codebook(connection, self.server, codebook))

    def add_note(self, note: Withdrawal | Copy, within: Connection | None = None) -> None:
        """Add a note, after waiting for a withdrawal that is under way; for the lead."""
        if within is not None:
            through_folder.add_note(within, self.server, note)
        else:
            retried(self.server, lambda there: through_folder.add_note(there, self.server, note))

    def broken_rows(self, coder: str) -> tuple[Rows, list[dict[str, Any]]]:
        """Return the rows of a coder's changed tables, and of the texts."""

        def work(connection: Connection) -> tuple[Rows, list[dict[str, Any]]]:
            run(connection, [SNAPSHOT, search_path(f"{self.server.name}-{coder}")])
            return rows_and_texts(connection)

        return retried(self.server, work)

    def take_out(self, coder: str, known: Opened, note: Callable[[pd.DataFrame], Act]) -> pd.DataFrame:
        """Take what is not what was written out of the coder's tables, and add the act that says so."""

        def work(connection: Connection) -> pd.DataFrame:
            lost = take_out(connection, self.server, coder, known.study.id)
            if not lost.empty:
                act = settled(note(lost), known.texts, known.codebooks)
                roles.enter_as_own(connection, self.server, act.coder)
                at = Locked(connection, schema.place_of(self.server, act.coder))
                record(at, [act], known=known, refuse_lost=bool)
            return lost

        return retried(self.server, work) if self.leads() else no_loss()

    def forget(self, case_id: str, *, why: str) -> forget.Forgotten:
        """Remove the words of a participant, as the lead."""
        schema.refuse_newer(self.server)
        return through_folder.forget(self.server, case_id, why=why)

    @contextmanager
    def as_folder(self, within: Path) -> Iterator[Path]:
        """Give the study as a folder that is in `within` meanwhile, readable by its owner alone."""
        schema.refuse_newer(self.server)
        with layout.refusing(within), whole_files.building(within) as folder:
            through_folder.download(self.server, folder / "study")
            yield folder / "study"
