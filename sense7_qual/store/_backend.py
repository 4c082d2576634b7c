"""What the store asks of the place where a study lies: the protocol that the folder, PostgreSQL and
a bundle meet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.store._files.layout import Opened
from sense7_qual.store._files.study_notes import Copy
from sense7_qual.store._operations import forget, merge, revise, verify
from sense7_qual.store._operations.append import Heads, Salvage, Unread

__all__ = ["Backend"]


class Backend(merge.Into, Protocol):
    """A place where a study lies, or may be made; errors as `Store` documents them.

    `merge.Into` has the part of it that a merge writes by: `withdrawals`, `note`, `exclusively`,
    `check_pseudonym`, `appends_as_own`, `add_codebook`, `in_transaction` and `refuse_unwritable`.
    """

    @property
    def address(self) -> Path | str:
        """The path or address by which the study is opened."""

    @property
    def place(self) -> Path:
        """The folder in which copies that are there only for a moment are built."""

    def clear(self) -> None:
        """Remove what killed processes left of what they were building."""

    def is_there(self) -> bool:
        """Return True if there is a study, also one that cannot be opened."""

    def create(self, *, units: pd.DataFrame, codebook: Codebook) -> None:
        """Make the study from its units and first codebook."""

    def restore(self, source: Path) -> None:
        """Make the study from a file that `archive` wrote."""

    def read(self) -> Opened:
        """Return all but the acts, checked."""

    def current(self) -> str:
        """Return the fingerprint of the codebook that the study names as current."""

    def changed(self, known: Opened) -> bool:
        """Return True if another notebook has recorded a withdrawal since `known` was read."""

    def heads(self, study_id: str) -> Heads:
        """Return how far the acts had come when this computer last saw them."""

    def accept_loss(self, coder: str, known: Opened, note: Callable[[pd.DataFrame], Act]) -> pd.DataFrame:
        """Forget how far the coder's acts had come, and return what was taken out (`take_out`), which an act
        that `note` makes then records."""

    def coders(self) -> tuple[str, ...]:
        """Return the pseudonyms of those of whom an act may be seen here, sorted."""

    def add_coder(self, coder: str, *, role: str | None, lead: bool) -> None:
        """Let a role of the database code as `coder`; in a folder a coder simply has a file."""

    def acts(self, coder: str | None, known: Opened) -> list[Act]:
        """Return the acts of a coder, or of all, each checked."""

    def lead_acts(self, known: Opened, subject: str = "work") -> list[Act]:
        """Return what leads did for the team, about one subject, each act checked by itself;
        of coders' acts that are damaged none, but where there are none at all."""

    def record(self, coder: str, batch: Sequence[Act], known: Opened, unread: Unread | None = None) -> int:
        """Add the new acts of `batch`, which are the coder's and settled; return how many there were.

        `unread` is called first with the acts that the caller has not read, in the same transaction.
        """

    def may_revise(self) -> bool:
        """Return True if whoever opened the study may revise its codebook."""

    def revise(self, wish: revise.Wish, known: Opened, append: Callable[[list[Act]], object]) -> Codebook:
        """Make the wished codebook the current one, with the acts that record it."""

    def verify(self, known: Opened) -> list[verify.Finding]:
        """Return what is found of the study, its units, codebooks and notes, and of each coder."""

    def salvage(self, coder: str, target: Path, known: Opened) -> Salvage:
        """Write the sound acts of a coder's damaged record into the new file `target`."""

    def draft(self, work: str, coder: str) -> dict[str, Any] | None:
        """Return what the coder has begun of `work` and not saved; None where there is nothing."""

    def keep_draft(self, work: str, coder: str, draft: Mapping[str, Any] | None, known: Opened) -> bool:
        """Keep what the coder has begun; None: nothing any more. Return False where no draft can be kept."""

    def merge(
        self,
        other: Path,
        known: Opened,
        *,
        coders: Collection[str] | None,
        recorded: Callable[[], Collection[str]],
    ) -> merge.Merge:
        """Take in what the folder, acts file or archive `other` has (`merge.merge`)."""

    def forget(self, case_id: str, *, why: str) -> forget.Forgotten:
        """Remove the words of a participant."""

    def backup(self, target: Path) -> None:
        """Copy the study to `target`, and note that."""

    def archive(self, target: Path) -> None:
        """Write the study as the file `target`, and note that."""

    def hand_out(self, round: str, coder: str, target: Path) -> None:
        """Copy what the coder needs to code the round blind to the folder `target`, and note that."""

    def note_copy(self, value: Copy) -> None:
        """Add the note of a copy that was made."""

    def as_folder(self, within: Path) -> AbstractContextManager[Path]:
        """Give the study as a folder, for another one to read; a copy is built in `within`."""
