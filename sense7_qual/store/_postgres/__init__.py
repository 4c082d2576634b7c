"""A study in PostgreSQL as the store uses it: what a study folder does, by the rights of a role."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from sqlalchemy import Connection

from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import StoreError
from sense7_qual.store._files import layout, study_notes, whole_files
from sense7_qual.store._files.layout import Opened
from sense7_qual.store._folder import unpacked
from sense7_qual.store._log import sqlite
from sense7_qual.store._operations import archive, forget, merge, revise
from sense7_qual.store._operations.append import (
    Heads,
    Salvage,
    Unread,
    check_pseudonym,
    lacking,
    lost,
    no_loss,
    record,
    salvage,
    with_true_quotes,
)
from sense7_qual.store._operations.check_acts import settled
from sense7_qual.store._operations.verify import Finding
from sense7_qual.store._postgres import roles, schema, through_folder
from sense7_qual.store._postgres.revise import revise_on_server
from sense7_qual.store._postgres.server import SNAPSHOT, Server, retried, run, search_path
from sense7_qual.store._postgres.take_out import Rows, rows_and_texts, take_out

__all__ = ["Team"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Team:
    """The study at `server`; errors as `Store` documents them."""

    server: Server

    @property
    def address(self) -> str:
        """The address by which the study is opened, without a password."""
        return self.server.address

    def is_there(self) -> bool:
        """Return True if there is a study, also one that this role may not open."""
        return retried(self.server, lambda connection: schema.is_there(connection, self.server))

    def create(self, *, units: pd.DataFrame, codebook: Codebook) -> None:
        """Make the study from its units and first codebook; the role becomes its lead."""
        made, _, table = layout.prepare(units, codebook)
        first = {codebook.fingerprint: codebook.to_yaml()}
        _warn_of_statistics(schema.create(self.server, made, units=table, codebooks=first))

    def restore(self, source: Path) -> None:
        """Make the study from a file that `archive` wrote; the role leads, and codes as all its coders."""
        with unpacked(source, self.place) as folder:
            _warn_of_statistics(through_folder.upload(folder, self.server))
            self.heads(layout.read(folder).id).clear()

    def heads(self, study_id: str) -> Heads:
        """Return how far the acts had come when this computer last saw them."""
        return Heads(study_id, self.server.address)

    def accept_loss(self, coder: str, known: Opened, note: Callable[[pd.DataFrame], Act]) -> pd.DataFrame:
        """Take what is not what was written out of the coder's tables, and forget how far they had come."""
        lost = (
            retried(self.server, lambda connection: self._take_out(connection, coder, known, note))
            if self.may_revise()
            else no_loss()
        )
        self.heads(known.study.id).forget(coder)
        return lost

    def _take_out(
        self, connection: Connection, coder: str, known: Opened, note: Callable[[pd.DataFrame], Act]
    ) -> pd.DataFrame:
        lost = take_out(connection, self.server, coder, known.study.id)
        if lost.empty:
            return lost
        act = settled(note(lost), known.texts, known.codebooks)
        roles.enter_as_own(connection, self.server, act.coder)
        record(
            connection, schema.place_of(self.server, act.coder), [act], known=known, rounds=(),
            refuse_lost=bool,
        )  # fmt: skip
        return lost

    def _refuse_lost(self, missing: str | None) -> None:
        """Raise `StoreError` where acts that were seen here are not there any more (`missing`, of `lost`)."""
        if missing:
            raise StoreError(f"study {self.server.name!r}: expected {missing}.")

    def _lost(self, study_id: str, coder: str) -> str | None:
        """Return what is missing of the coder's acts that were seen here, if the role may see them still."""
        head = self.heads(study_id).coders.get(coder)

        def work(connection: Connection) -> str | None:
            if not schema.may_see_all(connection, self.server, coder):
                return None
            run(connection, [search_path(f"{self.server.name}-{coder}")])
            return lost(connection, coder, head, [])

        return retried(self.server, work)

    def read(self) -> Opened:
        """Return all but the acts, checked."""
        return schema.read(self.server)

    def current(self) -> str:
        """Return the fingerprint of the codebook that the study names as current."""
        return retried(self.server, lambda connection: schema.current_codebook(connection, self.server))

    def changed(self, known: Opened) -> bool:
        """Return False: what others withdrew is looked up in the transaction of every append."""
        return False

    def coders(self) -> tuple[str, ...]:
        """Return the pseudonyms of whom this role may see an act, sorted."""
        return roles.coders(self.server)

    def check_pseudonym(self, coder: str) -> str:
        """Return the pseudonym, or raise `ActError` where it cannot be one beside the others."""
        return check_pseudonym(coder, self.coders())

    def add_coder(self, coder: str, *, role: str | None, lead: bool) -> None:
        """Let a role code as `coder`."""
        schema.refuse_newer(self.server)
        roles.add_coder(self.server, self.check_pseudonym(coder), role=role, lead=lead)

    def acts(self, coder: str | None, known: Opened) -> list[Act]:
        """Return the acts that this role may see, of a coder or of all, each checked."""
        coders = self.coders()
        named = coders if coder is None else [check_pseudonym(coder, coders)]
        for one in set(self.heads(known.study.id).coders) - set(coders):
            if coder in (None, one):  # without a single act left
                self._refuse_lost(self._lost(known.study.id, one))
        return [act for one in named for act in self._of(one, known)]

    def _of(self, coder: str, known: Opened) -> list[Act]:
        heads = self.heads(known.study.id)
        head = heads.coders.get(coder)
        last: list[tuple[int, str] | None] = []

        def whole(connection: Connection) -> None:
            self._refuse_lost(lost(connection, coder, head, []))
            last.append(sqlite.last(connection))

        acts = schema.acts(self.server, coder, study=known.study.id, whole=whole)
        for head_read in last[-1:]:
            heads.note_head(coder, head_read)
        return with_true_quotes(acts, schema.place_of(self.server, coder), known)

    def lead_acts(self, known: Opened, subject: str = "work") -> list[Act]:
        """Return what leads did for the team, about one subject, which every role may see."""
        return retried(self.server, lambda connection: schema.lead_acts(connection, self.server, subject))

    def record(self, coder: str, batch: Sequence[Act], known: Opened, unread: Unread | None = None) -> int:
        """Add the new acts of `batch`, which are the coder's and settled; return how many there were."""
        layout.refuse_newer(Path(self.server.name), known.study)
        in_rounds = any(act.round is not None for act in batch)

        heads = self.heads(known.study.id)

        def work(connection: Connection, place: Path) -> tuple[int, tuple[int, str] | None]:
            # Nobody can be forgotten while this coder's tables are locked.
            forget.refuse_withdrawn(batch, known, schema.withdrawn(connection, self.server)[0])
            rounds = schema.rounds(connection, self.server) if in_rounds else ()
            schema.enter(connection, self.server, coder)
            n_new = record(
                connection, place, batch, known=known, rounds=rounds, unread=unread,
                refuse_lost=lambda there: self._refuse_lost(lost(there, coder, heads.coders.get(coder), [])),
            )  # fmt: skip
            return n_new, sqlite.last(connection)

        n_new, head = roles.write(self.server, coder, work)
        heads.note_head(coder, head)
        return n_new

    def salvage(self, coder: str, target: Path, known: Opened) -> Salvage:
        """Write the sound acts of the coder, whose tables were changed, into the new file `target`."""

        def work(connection: Connection) -> tuple[Rows, list[dict[str, Any]]]:
            run(connection, [SNAPSHOT, search_path(f"{self.server.name}-{coder}")])
            return rows_and_texts(connection)

        rows, texts = retried(self.server, work)
        withdrawn = self.withdrawals()
        whole_files.refuse_existing(target)
        with whole_files.making(target, "salvage", self.place) as built:
            return salvage(rows, texts, built, target, study=known.study.id, coder=coder, withdrawn=withdrawn)

    def in_transaction(self, coder: str, study: str, work: Callable[[Connection, Path, bool], _T]) -> _T:
        """Return what `work` returns, done as the lead on the coder's tables (`merge.Into`)."""

        def on_tables(connection: Connection, place: Path) -> _T:
            return work(connection, place, not schema.has_acts(connection))

        return roles.write(self.server, coder, on_tables, as_lead=True)

    def may_revise(self) -> bool:
        """Return True if this role leads the study."""
        return retried(self.server, lambda connection: schema.leads(connection, self.server))

    def revise(self, wish: revise.Wish, known: Opened, append: object) -> Codebook:
        """Make the wished codebook the current one, in one transaction with the act."""
        layout.refuse_newer(Path(self.server.name), known.study)

        heads = self.heads(known.study.id)

        def record_act(connection: Connection, place: Path, act: Act, codebook: Codebook) -> None:
            versions = {**known.codebooks, codebook.fingerprint: codebook}
            batch, head = [settled(act, known.texts, versions)], heads.coders.get(act.coder)
            record(
                connection, place, batch, known=known, rounds=(),
                refuse_lost=lambda at: self._refuse_lost(lost(at, act.coder, head, [])),
            )  # fmt: skip

        return revise_on_server(wish, self.server, record_act)

    def verify(self, known: Opened) -> list[Finding]:
        """Return what is found of the study, its units, codebooks and notes, and of each coder."""
        findings = {finding.file: finding for finding in through_folder.verify_study(self.server)}
        for coder in self.heads(known.study.id).coders:
            missing = self._lost(known.study.id, coder)
            findings[coder] = lacking(findings.get(coder, Finding(coder, coder)), missing)
        return list(findings.values())

    def draft(self, work: str, coder: str) -> dict[str, Any] | None:
        """Return None: the server keeps no drafts."""
        return None

    def keep_draft(self, work: str, coder: str, draft: Mapping[str, Any] | None, known: Opened) -> bool:
        """Return False: the server keeps no drafts."""
        return False

    def merge(
        self,
        other: Path,
        known: Opened,
        *,
        coders: Collection[str] | None,
        recorded: Callable[[], Collection[str]],
    ) -> merge.Merge:
        """Take in what the folder, acts file or archive `other` has, as the lead."""
        with unpacked(other, self.place) as source:
            return merge.merge(self, source, known, coders=coders, recorded=recorded)

    def note(self, value: study_notes.Withdrawal, connection: Connection) -> None:
        """Add the note of a withdrawal (`merge.Into`)."""
        through_folder.add_note(connection, self.server, value)

    def withdrawals(self, connection: Connection | None = None) -> list[study_notes.Withdrawal]:
        """Return the notes of withdrawals, oldest first, for the lead."""
        if connection is None:
            return through_folder.notes(self.server, study_notes.Withdrawal)
        return through_folder.notes_in(connection, self.server, study_notes.Withdrawal)

    def exclusively(self) -> AbstractContextManager[None]:
        """Do nothing: each transaction of `in_transaction` keeps withdrawals out (`merge.Into`)."""
        return nullcontext()

    def refuse_unwritable(self, opened: Opened) -> None:
        """Raise `StoreError` where a later version made the study, or this role does not lead."""
        layout.refuse_newer(Path(self.server.name), opened.study)
        retried(self.server, lambda connection: schema.check_lead(connection, self.server, "merge"))

    def appends_as_own(self, coder: str) -> bool:
        """Return True if this role codes as the coder, or would (`merge.Into`)."""
        return roles.writes(self.server, coder)

    def add_codebook(self, codebook: Codebook) -> None:
        """Add a version of the codebook, where it is not there."""
        retried(self.server, lambda connection: schema.add_codebook(connection, self.server, codebook))

    def backup(self, target: Path) -> None:
        """Write the study as an archive at `target`, which is what a backup is here, and note that."""
        self.archive(target, kind="backup")

    def archive(self, target: Path, *, kind: str = "archive") -> None:
        """Write the study as the file `target`, and note that."""
        schema.refuse_newer(self.server)

        def note(made: study_notes.Copy) -> None:
            through_folder.note_copy(self.server, replace(made, kind=kind))

        whole_files.refuse_existing(target)
        with whole_files.making(target, kind, self.place) as built, self.as_folder(built.parent) as folder:
            archive.archive(folder, target, note)

    def note_copy(self, value: study_notes.Copy) -> None:
        """Add the note of a copy that was made."""
        through_folder.note_copy(self.server, value)

    def hand_out(self, round: str, coder: str, target: Path) -> None:
        """Copy what the coder needs to code the round blind to the folder `target`, and note that."""
        whole_files.refuse_existing(target)
        with (
            whole_files.making(target, "hand-out", self.place) as built,
            self.as_folder(built.parent) as folder,
        ):
            note = partial(through_folder.note_copy, self.server)
            archive.hand_out(folder, target, note, round=round, coder=coder)

    @property
    def place(self) -> Path:
        """Where what is there only for a moment is built (`building.building`)."""
        return whole_files.here()

    def clear(self) -> None:
        """Remove what killed processes left of what they were building."""
        whole_files.clear(self.place)

    @contextmanager
    def as_folder(self, within: Path) -> Iterator[Path]:
        """Give the study as a folder that is in `within` meanwhile, readable by its owner alone."""
        with layout.refusing(within), whole_files.building(within) as folder:
            through_folder.download(self.server, folder / "study")
            yield folder / "study"

    def forget(self, case_id: str, *, why: str) -> forget.Forgotten:
        """Remove the words of a participant, as the lead."""
        schema.refuse_newer(self.server)
        return through_folder.forget(self.server, case_id, why=why)


def _warn_of_statistics(openness: schema.Openness) -> None:
    for warning in openness.warnings():
        warnings.warn(warning, stacklevel=4)
