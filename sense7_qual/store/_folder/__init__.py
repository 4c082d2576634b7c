"""A study folder as the store uses it: each coder's acts in a file of their own."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import pandas as pd
from sqlalchemy import Connection, select, text

from sense7_qual._atomic import move_in
from sense7_qual._coder_names import spelling
from sense7_qual.acts import Act, kinds_where
from sense7_qual.codebook import Codebook
from sense7_qual.errors import StoreError
from sense7_qual.rounds import Round, opened
from sense7_qual.store._backend import Alone, Current, Locked, Place, Rows, Seats
from sense7_qual.store._folder.alone import FolderAlone
from sense7_qual.store._folder.verify import verify_folder
from sense7_qual.store._operations.append import with_true_quotes
from sense7_qual.store._operations.contents import has_readable_change
from sense7_qual.store._operations.salvage import no_loss
from sense7_qual.store._operations.verify import Finding
from sense7_qual.store._stored import (
    acts_files,
    acts_tables,
    layout,
    sheet_key,
    study_notes,
    whole_files,
)
from sense7_qual.store._stored.acts_files import rows_one_by_one
from sense7_qual.store._stored.layout import StudyData
from sense7_qual.store._stored.study_notes import Copy, Withdrawal

__all__ = ["Folder"]

_T = TypeVar("_T")
_Note = TypeVar("_Note", Withdrawal, Copy)


class TeamActs:
    """What leads did for the team, of every acts file of a folder, as far as each was read."""

    __slots__ = ("_by_file",)

    def __init__(self) -> None:
        self._by_file: dict[Path, _FileActs] = {}

    def acts(self, files: Iterable[Path]) -> list[Act]:
        """Return these acts of `files`.

        A file that cannot be read has none, and an act that does not say its round or plan is left out: what
        is damaged in one coder's file must not keep another from working. `Store.verify` reports it.
        """
        return self.read(files)[0]

    def read(self, files: Iterable[Path]) -> tuple[list[Act], list[StoreError]]:
        """Return the same as `acts`, and the errors of files that cannot be read."""
        acts: list[Act] = []
        failed: list[StoreError] = []
        for file in files:
            try:
                acts += self._by_file.setdefault(file, _FileActs()).acts_of(file)
            except StoreError as error:
                failed.append(error)
        return acts, failed

    def rounds(self, files: Iterable[Path]) -> tuple[Round, ...]:
        """Return the rounds that the acts of `files` open."""
        return opened(self.acts(files))


class _FileActs:
    __slots__ = ("_acts", "_last", "_state")

    def __init__(self) -> None:
        self._state: tuple[object, ...] = ()
        self._last = (0, "")
        self._acts: tuple[Act, ...] = ()

    def acts_of(self, file: Path) -> tuple[Act, ...]:
        state = _state(file)
        if not state or state != self._state:
            with acts_files.transaction(file) as connection:
                self._go_on(connection, file)
            self._state = state
        return self._acts

    def _go_on(self, connection: Connection, file: Path) -> None:
        acts, texts = acts_tables.ACTS, acts_tables.TEXTS
        seq, link = self._last
        same = connection.execute(select(acts.c.hash).where(acts.c.seq == seq)).scalar() == link
        before, after = (self._acts, seq) if same else ((), 0)
        # All columns that the file has: one of an earlier version has fewer.
        query = select(text("*")).select_from(acts).where(acts.c.seq > after, acts.c.kind.in_(_KINDS))
        rows = connection.execute(query.order_by(acts.c.seq)).mappings().all()
        their_texts = select(texts).where(texts.c.text_hash.in_([row["text_hash"] for row in rows]))
        new = acts_tables.checked_singly(connection, file, rows, their_texts)
        self._acts = (*before, *(act for act in new if has_readable_change(act)))
        self._last = acts_tables.last(connection) or (0, "")


def _state(file: Path) -> tuple[object, ...]:
    """Return what differs after every transaction that changed the file, as the file system tells it.

    The file itself is not opened: closing it would end the locks that another thread holds on it. A change so
    short ago that the next one may bear the same time counts as unknown.
    """
    try:
        status = file.stat()
    except OSError:
        return ()
    fresh = abs(time.time_ns() - status.st_mtime_ns) < _TICK
    return () if fresh else (status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_size)


_KINDS: Final = kinds_where(lambda kind: kind.by == "team")

_TICK: Final = 2_000_000_000
"""Nanoseconds: the coarsest clock of a file system that is in use (FAT)."""


@dataclass(slots=True)
class Folder:
    """The study folder at `path`; its methods are as `Log` says."""

    path: Path
    place: Place = field(init=False)
    _team_acts: TeamActs = field(default_factory=TeamActs, repr=False, compare=False)

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

    def contents(self) -> StudyData:
        """Return all but the acts, checked."""
        study = layout.read(self.path)
        units = layout.read_units(self.path, study)
        codebooks = layout.read_codebooks(self.path, study)
        handed = layout.handed_out(self.path)
        withheld = handed.withheld if handed else ()
        return StudyData.of(study, units, codebooks, study_notes.withdrawn_units(self.path), withheld)

    def current(self) -> Current:
        """Return the current codebook and the withdrawn units."""
        return Current(layout.read(self.path).codebook, study_notes.withdrawn_units(self.path))

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
                return acts_files.second_copy(self._file(name)) in alike
        return False

    def add_coder(self, coder: str, *, role: str | None, lead: bool) -> None:
        """Raise `StoreError`: a coder simply has a file."""
        raise StoreError(
            "add_coder: expected a study in PostgreSQL – found a folder – nothing is needed there: the first "
            "act of a coder makes their file, and a coder is blind to the files they are not sent."
        )

    def seats(self, coder: str) -> Seats:
        """Raise `StoreError`: a folder is for one account."""
        raise StoreError(
            "seat: expected a study in PostgreSQL – found a folder, where no server keeps coders apart – "
            "hand out a file to each coder (sense7-qual hand-out), or restore its archive into a database."
        )

    def end_coder(self, coder: str) -> None:
        """Raise `StoreError`: nobody signs in to a folder."""
        raise StoreError(
            "end_coder: expected a study in PostgreSQL – found a folder – nobody signs in there: keep the "
            "files of others from that coder."
        )

    def acts(
        self, coder: str | None, known: StudyData, whole: Callable[[Connection, Path, str], object]
    ) -> list[Act]:
        """Return the acts of a coder, or of all, each checked."""
        acts_files.refuse_absent(self.path, coder)
        files = acts_files.acts_files(self.path) if coder is None else [self._file(coder)]
        return [act for file in files if file.exists() for act in self._acts_in(file, known, whole)]

    def _acts_in(
        self, file: Path, known: StudyData, whole: Callable[[Connection, Path, str], object]
    ) -> list[Act]:
        coder = acts_files.coder_of(file)
        with acts_files.transaction(file) as connection:
            if acts_files.owner(connection) != coder and acts_files.nothing_new(file):
                return []  # a sync client's second copy of a file that has all its acts
            version = acts_tables.check(connection, file, study=known.study.id, coder=coder)
            acts = acts_tables.read(connection, file, study=known.study.id, coder=coder)
            whole(connection, file, coder)
        if version > acts_tables.SCHEMA:
            warnings.warn(acts_tables.newer(acts_tables.place(file), version), stacklevel=7)
        return with_true_quotes(acts, file, known)

    def read(self, coder: str, work: Callable[[Connection | None, Path], _T]) -> _T | None:
        """Run `work` and return its result, on the coder's file."""
        file = self._file(coder)
        if not file.exists():
            acts_files.refuse_absent(self.path, coder)
            return work(None, file)
        with acts_files.transaction(file) as connection:
            return work(connection, file)

    def lead_acts(self, known: StudyData, subject: str) -> list[Act]:
        """Return the leads' acts for the team about one subject, of every readable file."""
        read, failed = self._team_acts.read(acts_files.acts_files(self.path))
        acts = [act for act in read if act.traits.subject == subject]
        if not acts:  # then what is damaged, or not here, may have held them
            acts_files.refuse_absent(self.path)
            if failed:
                raise failed[0]
        return acts

    def notes(self, kind: type[_Note], within: Connection | None = None) -> list[_Note]:
        """Return the notes of a kind, oldest first."""
        return study_notes.notes(self.path, kind)

    def verify(self, known: StudyData) -> list[Finding]:
        """Return the findings about every file."""
        return verify_folder(self.path, known.study)

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
        """Run `work` and return its result, in one transaction on the coder's file."""
        # Before the lock: another file may be the one that is written.
        rounds = self._team_acts.rounds(acts_files.acts_files(self.path)) if in_rounds else ()
        file = self._file(coder)
        with layout.exclusively(self.path) if as_lead else nullcontext():
            if not file.exists():
                if at_first is not None:
                    at_first()
                acts_files.refuse_absent(self.path, coder)
                acts_files.create(file, study=study, coder=coder)
            with acts_files.transaction(file, writes=True) as connection:
                return work(Locked(connection, file, True, study_notes.withdrawn_units(self.path), rounds))

    def alone(self, work: Callable[[Alone], _T], *, what: str = "forget") -> _T:
        """Run `work` and return its result, under the lock of the folder."""
        layout.refuse_newer(self.path, layout.read(self.path))
        acts_files.refuse_absent(self.path)
        with layout.exclusively(self.path):
            layout.clear_leftovers(self.path)
            return work(FolderAlone(self, self.path))

    def add_codebook(self, codebook: Codebook) -> None:
        """Add a version of the codebook, where it is not there, and no withdrawal looks through them."""
        with layout.exclusively(self.path):
            layout.add_codebook(self.path, codebook)

    def add_note(self, note: Withdrawal | Copy, within: Connection | None = None) -> None:
        """Add a note."""
        layout.note(self.path, note)

    def sheet_key(self, coder: str) -> bytes:
        """Return the key that seals the coding sheets of a coder."""
        return sheet_key.key_of(self.path, coder)

    def broken_rows(self, coder: str) -> tuple[Rows, list[dict[str, Any]]]:
        """Return the rows of a coder's damaged file, and of the texts, as far as they can be read."""
        acts_files.refuse_absent(self.path, coder)
        file = self._file(coder)
        texts = [row for _, row in rows_one_by_one(file, "texts", "rowid") if row is not None]
        return list(rows_one_by_one(file, "acts", "seq")), texts

    def take_out(self, coder: str, known: StudyData, note: Callable[[pd.DataFrame], Act]) -> pd.DataFrame:
        """Return nothing: nothing is taken out of a file."""
        return no_loss()

    def as_folder(self, within: Path) -> AbstractContextManager[Path]:
        """Give the folder itself."""
        return nullcontext(self.path)

    def _file(self, coder: str) -> Path:
        return acts_files.acts_file(self.path, coder)
