"""A study as one store has it open: what was read of it, and how it is read again and written."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path

from sqlalchemy import Connection

from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.acts import KINDS, Act, Record, fold
from sense7_qual.codebook import Codebook, Revision
from sense7_qual.errors import ActError, CodebookError, StoreError
from sense7_qual.rounds import visible
from sense7_qual.store._backend import Locked, Log, Reads
from sense7_qual.store._bundle import Bundle, is_bundle
from sense7_qual.store._files import layout
from sense7_qual.store._files.layout import Opened
from sense7_qual.store._folder import Folder
from sense7_qual.store._operations import append, check_acts, forget, revise
from sense7_qual.store._operations.append import Overtaken, Unread, check_pseudonym
from sense7_qual.store._operations.heads import Head, Heads, Seen, lost, refuse_lost
from sense7_qual.store._postgres import Team
from sense7_qual.store._postgres.server import connect, is_address

__all__ = ["OpenStudy", "at", "writable"]


def at(path: str | Path) -> Reads:
    """Return the folder, the bundle or the database at a path or address; no study need be there yet."""
    if is_address(path):
        return Team(connect(str(path)))
    folder = Path(path).absolute()
    return Bundle(folder) if is_bundle(folder) else Folder(folder)


def writable(reads: Reads) -> Log:
    """Return the place of a study as one that is written to; raise `StoreError` where it is there to read."""
    if not isinstance(reads, Folder | Team):
        raise StoreError(
            f"bundle {reads.place.name!r}: expected a study to write to – found a bundle, which is there to "
            "be read – open the study itself, or keep what you add in files of your own."
        )
    return reads


class OpenStudy:
    """What a store knows of its study. `withdrawn` are the words of participants who withdrew while it was
    open: no memo may bring them back."""

    __slots__ = ("_spelt", "known", "reads", "withdrawn")

    known: Opened
    withdrawn: list[forget.Words]

    def __init__(self, reads: Reads, *, forget_again: bool) -> None:
        self.reads, self.withdrawn = reads, []
        self._spelt: set[str] = set()  # coders who have recorded here: their names are looked at once
        layout.clear(reads.place.scratch)
        self.known = self._read(forget_again=forget_again)
        self._remember_codebook(self.known.study.codebook)

    def __repr__(self) -> str:
        return f"OpenStudy({str(self.reads.place.address)!r})"

    @property
    def log(self) -> Log:
        """Where acts are written; refuses a bundle."""
        return writable(self.reads)

    @property
    def heads(self) -> Heads:
        """What this computer remembers of the study."""
        return Heads(self.known.study.id, self.reads.place.remembered)

    def acts(
        self, *, coder: str | None = None, kind: str | None = None, viewer: str | None = None
    ) -> list[Act]:
        """Return the recorded acts, as `Store.acts` says."""
        if kind is not None and kind not in KINDS:
            raise ActError(
                f"acts: expected kind out of {', '.join(KINDS)} – found {kind!r} – "
                f"{did_you_mean(kind, KINDS)}"
            )
        if viewer is None:
            read = append.read(self.reads, coder, self.known)
        else:  # whether a round is unblinded stands in the lead's acts
            coders = self.reads.coders()
            only = None if coder is None else check_pseudonym(coder, coders)
            all_acts = append.read(self.reads, None, self.known)
            seen = visible(all_acts, viewer=check_pseudonym(viewer, coders))
            read = [act for act in seen if only in (None, act.coder)]
        return read if kind is None else check_acts.of_kind(read, kind)

    def acts_there(self, *, coder: str | None = None, viewer: str | None = None) -> list[Act]:
        """Return the acts without those on units of participants who withdrew."""
        withdrawn = self.known.withdrawn_units
        return [act for act in self.acts(coder=coder, viewer=viewer) if act.unit_id not in withdrawn]

    def standing(self, coder: str | None, viewer: str | None) -> Record:
        """Return what stands now."""
        return fold(self.acts_there(coder=coder, viewer=viewer), codebook=self.known.codebook)

    def lead_acts(self, subject: str = "work") -> list[Act]:
        """Return what leads did for the team, about one subject."""
        return append.lead_acts(self.reads, self.known, subject)

    def history(self) -> tuple[Revision, ...]:
        """Return the revisions of the codebook, in order."""
        return revise.history(self.acts(kind="revise"))

    def append(self, acts: Sequence[Act], unread: Unread | None = None) -> int:
        """Record acts of one coder, all or none; return how many were new."""
        log, batch = self.log, check_acts.as_acts(acts)
        if any(act.codebook not in self.known.codebooks for act in batch):
            self.look_again()  # another notebook may have revised the codebook
        if any(act.unit_id in self.known.withdrawn_units for act in batch):
            self.look_for_withdrawals()  # they may be back, in an older copy of the study
        seen = self.heads.seen()
        if any(act.kind != "revise" for act in batch):
            self.refuse_superseded(seen)
        while True:
            try:
                return self._record(log, batch, seen, unread)
            except Overtaken:
                self.look_again()

    def _record(self, log: Log, acts: Sequence[Act], seen: Seen, unread: Unread | None) -> int:
        forget.refuse_withdrawn_units(acts, self.known.withdrawn_units)
        forget.refuse_repeating(acts, self.withdrawn)
        batch = [check_acts.settled(act, self.known.texts, self.known.codebooks) for act in acts]
        if not batch:
            return 0
        coder = check_acts.one_coder(batch)
        if coder not in self._spelt:
            check_pseudonym(coder, log.coders())
        n_new = append.append(log, batch, self.known, seen, unread)
        self._spelt.add(coder)
        return n_new

    def revise(self, wish: revise.Wish) -> None:
        """Make the wished codebook the current one."""
        known, seen = self.known, self.heads.seen()
        layout.refuse_newer(Path(self.log.place.name), known.study)

        def record(acts: list[Act], new: Codebook, at: Locked | None) -> None:
            if at is None:
                self.append(acts)
                return
            versions = {**known.codebooks, new.fingerprint: new}
            batch = [check_acts.settled(act, known.texts, versions) for act in acts]

            def refuse() -> None:
                refuse_lost(self.reads, at.connection, at.place, wish.coder, seen)

            append.record(at, batch, known=known, refuse_lost=refuse)

        self.look_again(current=self.log.revise(wish, record).fingerprint)

    def superseded(self, now: str, seen: Seen) -> str | None:
        """Return the fingerprint of the codebook that was current here before, where revisions led to it from
        `now`, which the study names today; None where they did not."""
        last = seen.codebook
        later = last not in (None, now) and revise.superseded(self.history(), now, str(last))
        return last if later else None

    def refuse_superseded(self, seen: Seen) -> None:
        """Raise `StoreError` where an older codebook was put in the place of the current one."""
        # What this store calls current may be older than what the study names: then that is looked up.
        if seen.codebook in (None, self.known.study.codebook):
            return
        last = self.superseded(self.reads.current().codebook, seen)
        if last is not None:
            raise StoreError(revise.older_study(last))

    def _remember_codebook(self, current: str) -> None:
        with suppress(StoreError, CodebookError):  # acts that cannot be read are told of where they are read
            if self.superseded(current, self.heads.seen()) is None:
                self.heads.note_codebook(current)

    def look_for_withdrawals(self) -> None:
        """Look again where another notebook has recorded a withdrawal."""
        if self.reads.current().withdrawn_units != self.known.withdrawn_units:
            self.look_again()

    def look_again(self, current: str | None = None) -> None:
        """Read all but the acts: others may have withdrawn a participant or added a codebook.

        What this store calls current stays, so that a change of it can be told from a change of another's.
        """
        known, before = self._read(), self.known
        self.withdrawn += forget.words_of(before.units, known.withdrawn_units - before.withdrawn_units)
        current = current or before.study.codebook
        self.known = replace(known, study=replace(known.study, codebook=current))
        self._remember_codebook(known.study.codebook)

    def _read(self, *, forget_again: bool = False) -> Opened:
        """Read all but the acts; refuse, or remove again, the words of participants who withdrew."""
        reads, known = self.reads, self.reads.contents()
        heads = Heads(known.study.id, reads.place.remembered)
        withdrawn = heads.seen().withdrawn
        back = known.units.loc[known.units["unit_id"].isin(withdrawn), "case_id"].dropna().unique()
        if len(back) and not forget_again:
            raise StoreError(
                f"study: expected no texts of participants who withdrew – found those of {first_three(back)} "
                "again, since an older copy of the study was put in its place – open it with "
                f"Store({str(reads.place.address)!r}, forget_again=True), which removes them again."
            )
        for case_id in back:
            self.log.forget(case_id, why="An older copy of the study had brought the texts back.")
        known = reads.contents() if len(back) else known
        heads.note_withdrawn(known.withdrawn_units)
        return self._with_appearance(known)

    def _with_appearance(self, known: Opened) -> Opened:
        """Return the study with codebooks that know in which order the ids of all its versions appeared."""
        if len(known.codebooks) == 1:
            return known
        revisions: tuple[Revision, ...] = ()
        with suppress(StoreError, CodebookError):  # acts that cannot be read are told of where they are read
            revisions = revise.history(append.lead_acts(self.reads, known, "codebook"))
        order = dict.fromkeys(one for step in revisions for one in (step.base, step.codebook))
        versions = [known.codebooks[one] for one in (*order, known.study.codebook) if one in known.codebooks]
        appeared = tuple(dict.fromkeys(one for version in versions for one in version.ids))
        books = {name: copy(book) for name, book in known.codebooks.items()}  # one of a bundle keeps its name
        for book in books.values():
            object.__setattr__(book, "appeared", appeared)
        return replace(known, codebooks=books)

    def missing(self) -> dict[str, str]:
        """Return what is missing of each coder's acts that were seen here."""
        missing = {}
        for coder, head in self.heads.seen().coders.items():
            with suppress(StoreError):  # of acts that cannot be read, which is found already
                missing[coder] = self.reads.read(coder, partial(_lost, self.reads, coder, head))
        return {coder: what for coder, what in missing.items() if what}


def _lost(reads: Reads, coder: str, head: Head, connection: Connection | None, _: Path) -> str | None:
    return lost(reads, connection, coder, head)
