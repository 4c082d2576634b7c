"""A study folder as the store uses it: each coder's acts in a file of their own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from sqlalchemy import Connection

from sense7_qual._atomic import move_in
from sense7_qual._coder_names import spelling
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import StoreError
from sense7_qual.store._backend import Current, Locked, Place, Rows
from sense7_qual.store._files import acts_files, layout, study_notes, whole_files
from sense7_qual.store._files.layout import Opened
from sense7_qual.store._files.study_notes import Copy, Withdrawal
from sense7_qual.store._folder.rounds_cache import Openings
from sense7_qual.store._log import sqlite, versions
from sense7_qual.store._log.broken_rows import rows_one_by_one
from sense7_qual.store._operations import forget, verify
from sense7_qual.store._operations.append import with_true_quotes
from sense7_qual.store._operations.revise import Wish
from sense7_qual.store._operations.salvage import no_loss

__all__ = ["Folder"]

_T = TypeVar("_T")
_Note = TypeVar("_Note", Withdrawal, Copy)


@dataclass(slots=True)
class Folder:
    """The study folder at `path`; its methods are as `Log` says."""

    path: Path
    place: Place = field(init=False)
    _openings: Openings = field(default_factory=Openings, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.place = Place(self.path, self.path.name, self.path, str(self.path.resolve()), self.path)

    def exists(self) -> bool:
        """Return True if there is a study, also one that cannot be opened."""
        return layout.is_study(self.path)

    def create(self, build: Callable[[Path], object]) -> None:
        """Make the study of the folder that `build` makes, whole or not at all."""
        layout.refuse_existing(self.path)
        with whole_files.making(self.path, "study", whole_files.here()) as building:
            build(building)
            move_in(building, self.path, overwrite=True)  # of an empty folder, if any

    def contents(self) -> Opened:
        """Return all but the acts, checked."""
        study = layout.read(self.path)
        units = layout.read_units(self.path, study)
        codebooks = layout.read_codebooks(self.path, study)
        return Opened.of(study, units, codebooks, forget.withdrawn_units(self.path))

    def current(self) -> Current:
        """Return what the study names as current."""
        return Current(layout.read(self.path).codebook, forget.withdrawn_units(self.path))

    def leads(self) -> bool:
        """Return True: who has the folder may do everything."""
        return True

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

    def add_coder(self, coder: str, *, role: str | None, lead: bool) -> None:
        """Raise `StoreError`: a coder simply has a file."""
        raise StoreError(
            "add_coder: expected a study in PostgreSQL – found a folder – nothing is needed there: the first "
            "act of a coder makes their file, and a coder is blind to the files they are not sent."
        )

    def acts(
        self, coder: str | None, known: Opened, whole: Callable[[Connection, Path, str], object]
    ) -> list[Act]:
        """Return the acts of a coder, or of all, each checked."""
        acts_files.refuse_absent(self.path, coder)
        files = acts_files.acts_files(self.path) if coder is None else [self._file(coder)]
        return [act for file in files if file.exists() for act in self._acts_in(file, known, whole)]

    def _acts_in(
        self, file: Path, known: Opened, whole: Callable[[Connection, Path, str], object]
    ) -> list[Act]:
        coder = acts_files.coder_of(file)
        with sqlite.transaction(file) as connection:
            if verify.owner(connection) != coder and verify.nothing_new(file):
                return []  # a sync client's second copy of a file that has all its acts
            version = sqlite.check(connection, file, study=known.study.id, coder=coder)
            acts = sqlite.read(connection, file, study=known.study.id, coder=coder)
            whole(connection, file, coder)
        if version > sqlite.SCHEMA:
            warnings.warn(versions.newer(sqlite.place(file), version), stacklevel=7)
        return with_true_quotes(acts, file, known)

    def read(self, coder: str, work: Callable[[Connection | None, Path], _T]) -> _T | None:
        """Return what `work` returns, done on the coder's file."""
        file = self._file(coder)
        if not file.exists():
            acts_files.refuse_absent(self.path, coder)
            return work(None, file)
        with sqlite.transaction(file) as connection:
            return work(connection, file)

    def lead_acts(self, known: Opened, subject: str) -> list[Act]:
        """Return what leads did for the team, about one subject, of every readable file."""
        read, failed = self._openings.read(acts_files.acts_files(self.path))
        acts = [act for act in read if act.traits.subject == subject]
        if not acts:  # then what is damaged, or not here, may have held them
            acts_files.refuse_absent(self.path)
            if failed:
                raise failed[0]
        return acts

    def notes(self, kind: type[_Note], within: Connection | None = None) -> list[_Note]:
        """Return the notes of a kind, oldest first."""
        return study_notes.notes(self.path, kind)

    def verify(self, known: Opened) -> list[verify.Finding]:
        """Return what is found in every file."""
        return verify.verify(self.path, known.study)

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
        """Return what `work` returns, done in one transaction on the coder's file."""
        # Before the lock: another file may be the one that is written.
        rounds = self._openings.rounds(acts_files.acts_files(self.path)) if in_rounds else ()
        file = self._file(coder)
        with layout.exclusively(self.path) if as_lead else nullcontext():
            if not file.exists():
                if at_first is not None:
                    at_first()
                acts_files.refuse_absent(self.path, coder)
                sqlite.create(file, study=study, coder=coder)
            with sqlite.transaction(file, writes=True) as connection:
                return work(Locked(connection, file, True, forget.withdrawn_units(self.path), rounds))

    def revise(self, wish: Wish, record: Callable[[list[Act], Codebook, Locked | None], object]) -> Codebook:
        """Make the wished codebook the current one.

        The version is written first, then the acts, then the study names it as current: after a crash in
        between, the same call completes it. Of two processes that revise at once, the second begins when the
        first is done.
        """
        with layout.exclusively(self.path):
            now = layout.read(self.path)
            versions = layout.read_codebooks(self.path, now)
            new, acts = wish.on(versions[now.codebook], versions)
            layout.add_codebook(self.path, new)
            record(acts, new, None)
            layout.rewrite(self.path, replace(now, codebook=new.fingerprint))
        return new

    def add_codebook(self, codebook: Codebook) -> None:
        """Add a version of the codebook, where it is not there, and no withdrawal looks through them."""
        with layout.exclusively(self.path):
            layout.add_codebook(self.path, codebook)

    def add_note(self, note: Withdrawal | Copy, within: Connection | None = None) -> None:
        """Add a note."""
        layout.note(self.path, note)

    def broken_rows(self, coder: str) -> tuple[Rows, list[dict[str, Any]]]:
        """Return the rows of a coder's damaged file, and of the texts, as far as they can be read."""
        acts_files.refuse_absent(self.path, coder)
        file = self._file(coder)
        texts = [row for _, row in rows_one_by_one(file, "texts", "rowid") if row is not None]
        return list(rows_one_by_one(file, "acts", "seq")), texts

    def take_out(self, coder: str, known: Opened, note: Callable[[pd.DataFrame], Act]) -> pd.DataFrame:
        """Return nothing: nothing is taken out of a file."""
        return no_loss()

    def forget(self, case_id: str, *, why: str) -> forget.Forgotten:
        """Remove the words of a participant."""
        return forget.forget(self.path, case_id, why=why)

    def as_folder(self, within: Path) -> AbstractContextManager[Path]:
        """Give the folder itself."""
        return nullcontext(self.path)

    def _file(self, coder: str) -> Path:
        return acts_files.acts_file(self.path, coder)
