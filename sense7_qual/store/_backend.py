"""What the store asks of the place where a study lies: a bundle is read alone, the folder and PostgreSQL are
written to as well.

Errors are as `Store` documents them. What is the same at every place is written once over these protocols, in
``_operations/``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import pandas as pd
from sqlalchemy import Connection

from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.rounds import Round
from sense7_qual.store._operations.verify import Finding
from sense7_qual.store._stored.hash_chain import Link
from sense7_qual.store._stored.layout import StudyData
from sense7_qual.store._stored.repeated_passages import Remaining, Words
from sense7_qual.store._stored.study_notes import Copy, Withdrawal

_T = TypeVar("_T")
_Note = TypeVar("_Note", Withdrawal, Copy)

Rows: TypeAlias = list[tuple[int, dict[str, Any] | None]]
"""Rows of acts with their numbers, None for one that cannot be read."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a study lies.

    `address` opens it, and messages call it `name`. Temporary copies are built in `scratch`. This computer
    remembers under `remembered` what it saw there, and `drafts` is the study folder that keeps what is begun
    (where these are empty or None, it does not).
    """

    address: Path | str
    name: str
    scratch: Path
    remembered: str = ""
    drafts: Path | None = None


class Current(NamedTuple):
    """What the study names as current: its codebook (the fingerprint), and the units that were withdrawn."""

    codebook: str
    withdrawn_units: frozenset[str]


class Seats(NamedTuple):
    """Seats of a server: roles that its administrator made for coders (``seat01``, ``seat02`` …). The one
    that a coder has (empty: none), whether it has ended, and those that nobody ever had."""

    own: str
    has_ended: bool
    free: tuple[str, ...]


class Locked(NamedTuple):
    """What a coder's tables are written with: the connection, what messages call the tables, whether acts may
    be appended as the coder's own, who has withdrawn, and the rounds (if they were asked for)."""

    connection: Connection
    place: Path
    is_own: bool = True
    withdrawn_units: frozenset[str] = frozenset()
    rounds: tuple[Round, ...] = ()


class Reads(Protocol):
    """A place where a study lies."""

    place: Place

    def exists(self) -> bool:
        """Return True if there is a study, also one that cannot be opened."""

    def contents(self) -> StudyData:
        """Return all but the acts, checked."""

    def current(self) -> Current:
        """Return the current codebook and the withdrawn units, without reading the units."""

    def leads(self) -> bool:
        """Return True if whoever opened the study may revise its codebook."""

    def coders(self) -> tuple[str, ...]:
        """Return the coders with at least one act that may be seen here, sorted."""

    def acts(
        self, coder: str | None, known: StudyData, whole: Callable[[Connection, Path, str], object]
    ) -> list[Act]:
        """Return the acts of a coder, or of all, each checked; `whole` is called with each coder's tables
        that may be read whole, what messages call them, and the coder."""

    def read(self, coder: str, work: Callable[[Connection | None, Path], _T]) -> _T | None:
        """Run `work` and return its result, on the coder's tables as they are at one moment, or with None
        where the coder has none any more; None where nobody may see them whole here."""

    def lead_acts(self, known: StudyData, subject: str) -> list[Act]:
        """Return the leads' acts for the team about one subject, each act checked by itself; of coders' acts
        that are damaged none, but where there are none at all."""

    def notes(self, kind: type[_Note], within: Connection | None = None) -> list[_Note]:
        """Return the notes of a kind, oldest first; within the transaction of `write`."""

    def verify(self, known: StudyData) -> list[Finding]:
        """Return the findings about the study, its units, codebooks and notes, and each coder."""


class Log(Reads, Protocol):
    """A place where a study can be made, and acts be added."""

    def create(self, build: Callable[[Path], object]) -> None:
        """Make the study of the study folder that `build` makes at a path, whole or not at all."""

    def add_coder(self, coder: str, *, role: str | None, lead: bool) -> None:
        """Let a role of the database code as `coder`; in a folder a coder simply has a file."""

    def seats(self, coder: str) -> Seats:
        """Return which seat of a server `coder` has, and which are free."""

    def end_coder(self, coder: str) -> None:
        """Take the right to sign in from the seat of `coder`."""

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
        """Run `work` in one transaction on the coder's tables, which are made if the coder has none, and
        return its result; it may be done again where a connection is lost.

        No withdrawal comes between what `work` reads and what it writes. `at_first` is called before a file
        is made. With `as_lead` it writes for any coder, as a merge does.
        """

    def alone(self, work: Callable[[Alone], _T], *, what: str = "forget") -> _T:
        """Run `work` while nobody else withdraws a participant or revises the codebook; return its result.

        In PostgreSQL it is one transaction, which may be repeated from its start where a connection is lost;
        `what` names the deed where the role does not lead. Afterwards the places from which texts were erased
        are written again, so that no free page keeps a word.
        """

    def add_codebook(self, codebook: Codebook) -> None:
        """Add a version of the codebook, where it is not there."""

    def add_note(self, note: Withdrawal | Copy, within: Connection | None = None) -> None:
        """Add a note; within the transaction of `write`."""

    def sheet_key(self, coder: str) -> bytes:
        """Return the key that seals the coding sheets of `coder`, from a secret of the study, which is made
        if there is none."""

    def broken_rows(self, coder: str) -> tuple[Rows, list[dict[str, Any]]]:
        """Return the rows of a coder's damaged acts, and of the texts, as far as they can be read."""

    def take_out(self, coder: str, known: StudyData, note: Callable[[pd.DataFrame], Act]) -> pd.DataFrame:
        """Take what is not what was written out of the coder's tables, if the caller leads, and add the act
        that `note` makes of it; return what was taken out. Nothing is taken out of a file."""

    def as_folder(self, within: Path) -> AbstractContextManager[Path]:
        """Give the study as a folder, for another one to read; a copy is built in `within`."""


class Alone(Protocol):
    """A study in the hands of one: as `Log.alone` gives it. A coder's acts are called by their place."""

    def notes(self, kind: type[_Note]) -> list[_Note]:
        """Return the notes of a kind, oldest first."""

    def add_note(self, note: Withdrawal) -> None:
        """Add a note."""

    def units(self) -> pd.DataFrame:
        """Return all units that are still stored, also those of participants who withdrew."""

    def put_units(self, table: bytes) -> None:
        """Replace the units by these, as Parquet."""

    def current(self) -> str:
        """Return the fingerprint of the current codebook."""

    def add_codebook(self, codebook: Codebook) -> None:
        """Add a version of the codebook, where it is not there."""

    def make_current(self, codebook: Codebook) -> None:
        """Name a version of the codebook as the current one."""

    def write(
        self, coder: str, work: Callable[[Locked], _T], *, study: str, at_first: Callable[[], object]
    ) -> _T:
        """Run `work` as `Log.write` does."""

    def codebooks(self) -> Mapping[str, bytes]:
        """Return every readable version of the codebook, as YAML by fingerprint."""

    def places(self) -> Sequence[Path]:
        """Return the places with acts."""

    def named(self, place: Path) -> str:
        """Return the name of a place in `Forgotten`."""

    def chain(self, place: Path) -> list[Link]:
        """Return the acts at a place; raise `Damaged` where they are not what was written."""

    def damaged_texts(self, place: Path) -> Iterable[tuple[str, object, Mapping[str, object]]]:
        """Yield each text at a damaged place that can be read: its hash, itself, what is known of its act."""

    def erasing(self, place: Path, work: Callable[[Connection, list[Link] | None], _T]) -> _T | None:
        """Run `work` and return its result, on the acts at a place, read again under the lock that keeps
        writers out; None for its second argument where they are damaged. None where they are too damaged to
        be written to."""

    def erase(self, connection: Connection, unit_ids: Collection[str], hashes: Collection[str]) -> int:
        """Erase the texts on these units and those of these hashes; return how many there were."""

    def elsewhere(self, words: Words) -> Iterator[Remaining]:
        """Yield what else may hold the words of a participant here."""
