"""A study folder as the store uses it: each coder's acts in a file of their own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import pandas as pd
from sqlalchemy import Connection

from sense7_qual._coder_names import spelling
from sense7_qual._messages import did_you_mean
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import StoreError
from sense7_qual.store._files import acts_files, drafts, layout, study_notes, whole_files
from sense7_qual.store._files.layout import Opened
from sense7_qual.store._folder.revise import revise_in_folder
from sense7_qual.store._folder.rounds_cache import Openings
from sense7_qual.store._log import sqlite, versions
from sense7_qual.store._operations import archive, forget, merge, revise, verify
from sense7_qual.store._operations.append import (
    Heads,
    Salvage,
    Unread,
    check_pseudonym,
    lacking,
    lost,
    no_loss,
    record,
    rows_one_by_one,
    salvage,
    with_true_quotes,
)
from sense7_qual.store._operations.check_acts import new_acts

__all__ = ["Folder", "unpacked"]

_T = TypeVar("_T")
_ZIP: Final = b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class Folder:
    """The study folder at `path`; errors as `Store` documents them."""

    path: Path
    _openings: Openings = field(default_factory=Openings, repr=False, compare=False)

    @property
    def address(self) -> Path:
        """The path by which the study is opened."""
        return self.path

    def is_there(self) -> bool:
        """Return True if there is a study, also one that cannot be opened."""
        return layout.is_study(self.path)

    def create(self, *, units: pd.DataFrame, codebook: Codebook) -> None:
        """Make the study from its units and first codebook."""
        layout.create(self.path, units=units, codebook=codebook)

    def restore(self, source: Path) -> None:
        """Make the study from a file that `archive` wrote."""
        archive.restore(source, self.path, whole_files.here())
        self.heads(layout.read(self.path).id).clear()  # of a study that was here before

    def heads(self, study_id: str) -> Heads:
        """Return how far the acts had come when this computer last saw them."""
        return Heads(study_id, str(self.path.resolve()))

    def read(self) -> Opened:
        """Return all but the acts, checked."""
        study = layout.read(self.path)
        units = layout.read_units(self.path, study)
        codebooks = layout.read_codebooks(self.path, study)
        return Opened.of(study, units, codebooks, forget.withdrawn_units(self.path))

    def current(self) -> str:
        """Return the fingerprint of the codebook that the study names as current."""
        return layout.read(self.path).codebook

    def changed(self, known: Opened) -> bool:
        """Return True if another notebook has recorded a withdrawal since."""
        return forget.withdrawn_units(self.path) != known.withdrawn_units

    def coders(self) -> tuple[str, ...]:
        """Return the pseudonyms that have a file, sorted."""
        files = acts_files.acts_files(self.path)
        names = sorted(filter(acts_files.is_coder, map(acts_files.coder_of, files)))
        return tuple(name for name in names if not self._is_copy(name, names))

    def _is_copy(self, name: str, names: Sequence[str]) -> bool:
        """Return True if a file is a copy under another spelling, as Ana.sqlite of ana.sqlite."""
        alike = {one for one in names if one != name and spelling(one) == spelling(name)}
        if alike:
            with suppress(StoreError):  # a damaged file is told of where it is read
                return verify.second_copy(self._file(name)) in alike
        return False

    def check_pseudonym(self, coder: str) -> str:
        """Return the pseudonym, or raise `ActError` where it cannot be one beside the others."""
        return check_pseudonym(coder, self.coders())

    def add_coder(self, coder: str, *, role: str | None, lead: bool) -> None:
        """Raise `StoreError`: a coder simply has a file."""
        raise StoreError(
            "add_coder: expected a study in PostgreSQL – found a folder – nothing is needed there: the first "
            "act of a coder makes their file, and a coder is blind to the files they are not sent."
        )

    def acts(self, coder: str | None, known: Opened) -> list[Act]:
        """Return the acts of a coder, or of all, each checked."""
        acts_files.refuse_absent(self.path, coder)
        files = (
            acts_files.acts_files(self.path) if coder is None else [self._file(self.check_pseudonym(coder))]
        )
        acts = [act for file in files if file.exists() for act in self._read(file, known)]
        self._refuse_deleted(known.study.id, coder)  # last: a file under another name is named as such
        return acts

    def lead_acts(self, known: Opened, subject: str = "work") -> list[Act]:
        """Return what leads did for the team, about one subject, of every readable file.

        Where there are none, every file must be there and readable: what is damaged may have held them.
        """
        read, failed = self._openings.read(acts_files.acts_files(self.path))
        acts = [act for act in read if act.traits.subject == subject]
        if not acts:
            acts_files.refuse_absent(self.path)
            if failed:
                raise failed[0]
        for coder in {act.coder for act in acts} or self.heads(known.study.id).coders:
            missing = self._lost_of(coder, known.study.id)
            if missing:  # an older copy of a lead's acts would give an older plan
                raise StoreError(f"{sqlite.place(self._file(coder))}: expected {missing}.")
        return acts

    def _refuse_deleted(self, study_id: str, coder: str | None) -> None:
        """Raise `StoreError` where acts of `coder`, or of any, were seen here and their file is not there."""
        acts_files.refuse_absent(self.path, coder)
        for one in self.heads(study_id).coders:
            if coder in (None, one) and not self._file(one).exists():
                self._refuse_lost(None, study_id, one)

    def _refuse_lost(self, connection: Connection | None, study_id: str, coder: str) -> None:
        """Raise `StoreError` where acts of the coder that were seen here are not there any more."""
        missing = self._lost(connection, study_id, coder)
        if missing:
            raise StoreError(f"{sqlite.place(self._file(coder))}: expected {missing}.")

    def _lost(self, connection: Connection | None, study_id: str, coder: str) -> str | None:
        head = self.heads(study_id).coders.get(coder)
        if head is None:
            return None
        copies: list[study_notes.Copy] = []
        with suppress(StoreError):  # a damaged note hides no loss
            copies = study_notes.notes(self.path, study_notes.Copy)
        return lost(connection, coder, head, copies)

    def accept_loss(self, coder: str, known: Opened, note: object) -> pd.DataFrame:
        """Forget how far the coder's acts had come; nothing is taken out of a file."""
        self.heads(known.study.id).forget(coder)
        return no_loss()

    def _read(self, file: Path, known: Opened) -> list[Act]:
        coder = acts_files.coder_of(file)
        with sqlite.transaction(file) as connection:
            if verify.owner(connection) != coder and verify.nothing_new(file):
                return []  # a sync client's second copy of a file that has all its acts
            version = sqlite.check(connection, file, study=known.study.id, coder=coder)
            acts = sqlite.read(connection, file, study=known.study.id, coder=coder)
            self._refuse_lost(connection, known.study.id, coder)
            head = sqlite.last(connection)
        self.heads(known.study.id).note_head(coder, head)
        if version > sqlite.SCHEMA:
            warnings.warn(versions.newer(sqlite.place(file), version), stacklevel=6)
        return with_true_quotes(acts, file, known)

    def record(self, coder: str, batch: Sequence[Act], known: Opened, unread: Unread | None = None) -> int:
        """Add the new acts of `batch`, which are the coder's and settled; return how many there were."""
        layout.refuse_newer(self.path, known.study)
        file = self._file(self.check_pseudonym(coder))
        if not file.exists():
            self._refuse_deleted(known.study.id, coder)
            acts_files.refuse_device(coder)
            new_acts(batch, {})  # refuse before a file is made
        in_rounds = any(act.round is not None for act in batch)
        rounds = self._openings.rounds(acts_files.acts_files(self.path)) if in_rounds else ()

        def work(connection: Connection, place: Path, _: bool) -> tuple[int, tuple[int, str] | None]:
            # Once more: nobody can be forgotten while this file is locked.
            forget.refuse_withdrawn(batch, known, forget.withdrawn_units(self.path))
            n_new = record(
                connection, place, batch, known=known, rounds=rounds, unread=unread,
                refuse_lost=lambda open_connection: self._refuse_lost(open_connection, known.study.id, coder),
            )  # fmt: skip
            return n_new, sqlite.last(connection)

        n_new, head = self.in_transaction(coder, known.study.id, work)
        self.heads(known.study.id).note_head(coder, head)
        return n_new

    def salvage(self, coder: str, target: Path, known: Opened) -> Salvage:
        """Write the sound acts of the coder's damaged file into the new file `target`."""
        acts_files.refuse_absent(self.path, coder)
        file = self._file(self.check_pseudonym(coder))
        if not file.exists():
            raise StoreError(
                f"salvage: expected a coder of this study – found no acts of {coder!r} – "
                f"{did_you_mean(coder, self.coders())}"
            )
        texts = [row for _, row in rows_one_by_one(file, "texts", "rowid") if row is not None]
        rows = rows_one_by_one(file, "acts", "seq")
        withdrawn = self.withdrawals()
        whole_files.refuse_existing(target)
        with whole_files.making(target, "salvage", self.path) as built:
            return salvage(rows, texts, built, target, study=known.study.id, coder=coder, withdrawn=withdrawn)

    def in_transaction(self, coder: str, study: str, work: Callable[[Connection, Path, bool], _T]) -> _T:
        """Return what `work` returns, done in one transaction on the coder's file (`merge.Into`)."""
        file = self._file(coder)
        first_acts = not file.exists()
        if first_acts:
            acts_files.refuse_absent(self.path, coder)
            sqlite.create(file, study=study, coder=coder)
        with sqlite.transaction(file, writes=True) as connection:
            return work(connection, file, first_acts)

    def may_revise(self) -> bool:
        """Return True: who has the folder may."""
        return True

    def revise(self, wish: revise.Wish, known: Opened, append: Callable[[list[Act]], object]) -> Codebook:
        """Make the wished codebook the current one; `append` records the act."""
        layout.refuse_newer(self.path, known.study)
        return revise_in_folder(wish, self.path, append)

    def verify(self, known: Opened) -> list[verify.Finding]:
        """Return what is found in every file, and what was seen here and is not there any more."""
        findings = {finding.file: finding for finding in verify.verify(self.path, known.study)}
        for coder in self.heads(known.study.id).coders:
            with suppress(StoreError):  # of a file that cannot be read, which is found already
                missing = self._lost_of(coder, known.study.id)
                name = f"acts/{coder}.sqlite"
                findings[name] = lacking(findings.get(name, verify.Finding(name, coder)), missing)
        return list(findings.values())

    def _lost_of(self, coder: str, study_id: str) -> str | None:
        if not self._file(coder).exists():
            acts_files.refuse_absent(self.path, coder)
            return self._lost(None, study_id, coder)
        with sqlite.transaction(self._file(coder)) as connection:
            return self._lost(connection, study_id, coder)

    def draft(self, work: str, coder: str) -> dict[str, Any] | None:
        """Return what the coder has begun of `work` and not saved; None where there is nothing."""
        with layout.refusing(self.path):
            return drafts.read(self.path, work, coder)

    def keep_draft(self, work: str, coder: str, draft: Mapping[str, Any] | None, known: Opened) -> bool:
        """Keep what the coder has begun; None: nothing any more. Return True: a folder keeps it."""
        if draft is None and not drafts.file_of(self.path, work, coder).exists():
            return True
        layout.refuse_newer(self.path, known.study)
        with layout.exclusively(self.path), layout.refusing(self.path):  # no withdrawal begins meanwhile
            if forget.withdrawn_units(self.path) != known.withdrawn_units:
                raise forget.Overtaken
            drafts.keep(self.path, work, coder, draft)
        return True

    def merge(
        self,
        other: Path,
        known: Opened,
        *,
        coders: Collection[str] | None,
        recorded: Callable[[], Collection[str]],
    ) -> merge.Merge:
        """Take in what the folder, acts file or archive `other` has."""
        with unpacked(other, self.place) as source:
            return merge.merge(self, source, known, coders=coders, recorded=recorded)

    def note(self, value: study_notes.Withdrawal, _: object) -> None:
        """Add the note of a withdrawal (`merge.Into`)."""
        layout.note(self.path, value)

    def note_copy(self, value: study_notes.Copy) -> None:
        """Add the note of a copy that was made."""
        layout.note(self.path, value)

    def withdrawals(self, _: object = None) -> list[study_notes.Withdrawal]:
        """Return the notes of withdrawals, oldest first."""
        return study_notes.notes(self.path, study_notes.Withdrawal)

    def exclusively(self) -> AbstractContextManager[None]:
        """Let no withdrawal begin meanwhile (`merge.Into`)."""
        return layout.exclusively(self.path)

    def refuse_unwritable(self, opened: Opened) -> None:
        """Raise `StoreError` where a later version wrote the study."""
        layout.refuse_newer(self.path, opened.study)

    def appends_as_own(self, coder: str) -> bool:
        """Return True: whoever has the folder writes every file in it (`merge.Into`)."""
        return True

    def add_codebook(self, codebook: Codebook) -> None:
        """Add a version of the codebook, where it is not there."""
        layout.add_codebook(self.path, codebook)

    def backup(self, target: Path) -> None:
        """Copy the study to the folder `target`, and note that."""
        archive.backup(self.path, target, partial(layout.note, self.path))

    def archive(self, target: Path) -> None:
        """Write the study as the file `target`, and note that."""
        archive.archive(self.path, target, partial(layout.note, self.path))

    def hand_out(self, round: str, coder: str, target: Path) -> None:
        """Copy what the coder needs to code the round blind to the folder `target`, and note that."""
        archive.hand_out(self.path, target, partial(layout.note, self.path), round=round, coder=coder)

    @property
    def place(self) -> Path:
        """Where what is there only for a moment is built (`building.building`)."""
        return self.path

    def clear(self) -> None:
        """Remove what killed processes left of what they were building."""
        layout.clear(self.path)

    @contextmanager
    def as_folder(self, within: Path) -> Iterator[Path]:
        """Give the study as a folder, for another one to read."""
        yield self.path

    def forget(self, case_id: str, *, why: str) -> forget.Forgotten:
        """Remove the words of a participant."""
        return forget.forget(self.path, case_id, why=why)

    def _file(self, coder: str) -> Path:
        return acts_files.acts_file(self.path, coder)


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
        archive.restore(other, folder / "study")
        yield folder / "study"
