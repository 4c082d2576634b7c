"""A study as one store has it open: how it is read again and written, and what a widget asks of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.acts import KINDS, Act, Record, check_coder, fold
from sense7_qual.codebook import Codebook, Revision
from sense7_qual.errors import ActError, CodebookError, StoreError
from sense7_qual.rounds import visible
from sense7_qual.store._backend import Alone, Log, Reads, Seats
from sense7_qual.store._bundle import Bundle, is_bundle
from sense7_qual.store._folder import Folder
from sense7_qual.store._operations import append, check_acts, forget, revise
from sense7_qual.store._operations.append import (
    Head,
    Heads,
    Last,
    Overtaken,
    ReadSoFar,
    Seen,
    lost,
)
from sense7_qual.store._postgres import Team
from sense7_qual.store._postgres.server import connect, is_address
from sense7_qual.store._stored import drafts, layout
from sense7_qual.store._stored.acts_files import check_pseudonym, refuse_model_name
from sense7_qual.store._stored.layout import StudyData
from sense7_qual.store._stored.repeated_passages import Words, words_of


def at(path: str | Path) -> Reads:
    """Return the folder, the bundle or the database at a path or address; no study need be there yet."""
    if is_address(path):
        return Team(connect(str(path)))
    if "\0" in str(path):
        raise StoreError("study: expected the path of a folder – found one with NUL in it – check the path.")
    folder = Path(path).absolute()
    return Bundle(folder) if is_bundle(folder) else Folder(folder)


def writable(reads: Reads) -> Log:
    """Return the place of a study as one that is written to; raise `StoreError` where it is there to read."""
    if not isinstance(reads, Folder | Team):
        raise StoreError(
            f"bundle {reads.place.name!r}: expected a study to write to – found a bundle, which is "
            "read-only – open the study itself, or keep your additions in your own files."
        )
    return reads


class OpenStudy:
    """What a store knows of its study. `withdrawn` are the words of participants who withdrew while it was
    open: no memo may bring them back."""

    __slots__ = ("_spelt", "known", "reads", "withdrawn")

    known: StudyData
    withdrawn: list[Words]

    def __init__(self, reads: Reads, *, forget_again: bool) -> None:
        self.reads, self.withdrawn = reads, []
        self._spelt: set[str] = set()  # coders who have recorded here: their names are looked at once
        layout.clear_leftovers(reads.place.scratch)
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
        """Return the acts without those on units that have no text here: whose participants withdrew."""
        gone = self.known.without_text
        return [act for act in self.acts(coder=coder, viewer=viewer) if act.unit_id not in gone]

    def standing(self, coder: str | None, viewer: str | None) -> Record:
        """Return the current codings, coverage, memos and proposals."""
        return fold(self.acts_there(coder=coder, viewer=viewer), codebook=self.known.codebook)

    def lead_acts(self, subject: str = "work") -> list[Act]:
        """Return the leads' acts for the team about one subject."""
        return append.lead_acts(self.reads, self.known, subject)

    def history(self) -> tuple[Revision, ...]:
        """Return the revisions of the codebook, in order."""
        return revise.history(self.acts(kind="revise"))

    def append(self, acts: Sequence[Act], unread: ReadSoFar | None = None, *, person: bool = True) -> int:
        """Record acts of one coder, all or none; return how many were new.

        With `person` False, a new coder with the name of a model is refused.
        """
        log, batch = self.log, check_acts.as_acts(acts)
        if any(act.codebook not in self.known.codebooks for act in batch):
            self.look_again()  # another notebook may have revised the codebook
        if any(act.unit_id in self.known.withdrawn_units for act in batch):
            self.look_for_withdrawals()  # they may be back, in an older copy of the study
        seen = self.heads.seen()
        if any(act.kind != "revise" for act in batch):
            self.refuse_superseded(seen)
        if batch and not person and (coder := check_acts.one_coder(batch)) not in self._spelt:
            refuse_model_name(coder, log.coders())
        while True:
            try:
                return self._record(log, batch, seen, unread)
            except Overtaken:
                self.look_again()

    def _record(self, log: Log, acts: Sequence[Act], seen: Seen, unread: ReadSoFar | None) -> int:
        batch = self._settled(log, acts, self.known.codebooks)
        if not batch:
            return 0
        n_new = append.append(log, batch, self.known, seen, unread)
        self._spelt.add(batch[0].coder)
        return n_new

    def _settled(self, log: Log, acts: Sequence[Act], codebooks: Mapping[str, Codebook]) -> list[Act]:
        """Return the acts of one coder with their quotes, after checking them against the study."""
        forget.refuse_withdrawn_units(acts, self.known.withdrawn_units)
        forget.refuse_repeating(acts, self.withdrawn)
        batch = [check_acts.checked(act, self.known.texts, codebooks) for act in acts]
        if batch and (coder := check_acts.one_coder(batch)) not in self._spelt:
            check_pseudonym(coder, log.coders())
        return batch

    def revise(self, wish: revise.Wish) -> None:
        """Make the wished codebook the current one.

        The version is written first, then the acts, then the study names it as current: after a crash in
        between, the same call completes it.
        """
        log, seen = self.log, self.heads.seen()

        def work(study: Alone) -> tuple[Codebook, Last]:
            self.look_for_withdrawals()  # from here on nobody withdraws
            now = replace(self.known.study, codebook=study.current())
            named = {name: text for name, text in study.codebooks().items() if layout.is_fingerprint(name)}
            versions = layout.codebooks_of(named, now, name=log.place.name)
            new, acts = wish.on(versions[now.codebook], versions)
            study.add_codebook(new)
            head: Last = None
            if batch := self._settled(log, acts, {**versions, new.fingerprint: new}):
                _, head = append.append_by(study.write, log, batch, self.known, seen)
            study.make_current(new)
            return new, head

        new, head = log.alone(work, what="revise")
        self.heads.note_head(wish.coder, head)
        self.look_again(current=new.fingerprint)

    def superseded(self, now: str, seen: Seen) -> str | None:
        """Return the fingerprint of the codebook that was current here before, where revisions led to it from
        `now`, which the study names today; None where they did not."""
        last = seen.codebook
        later = last not in (None, now) and revise.superseded(self.history(), now, str(last))
        return last if later else None

    def refuse_superseded(self, seen: Seen) -> None:
        """Raise `StoreError` if an older codebook has replaced the current one."""
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
        self.withdrawn += words_of(before.units, known.withdrawn_units - before.withdrawn_units)
        current = current or before.study.codebook
        self.known = replace(known, study=replace(known.study, codebook=current))
        self._remember_codebook(known.study.codebook)

    def _read(self, *, forget_again: bool = False) -> StudyData:
        """Read all but the acts; refuse, or remove again, the words of participants who withdrew."""
        reads, known = self.reads, self.reads.contents()
        heads = Heads(known.study.id, reads.place.remembered)
        withdrawn = heads.seen().withdrawn
        back = known.units.loc[known.units["unit_id"].isin(withdrawn), "case_id"].dropna().unique()
        if len(back) and not forget_again:
            raise StoreError(
                f"study: expected no texts of participants who withdrew – found those of {first_three(back)} "
                "again, since this is a copy from before – open it with "
                f"Store({str(reads.place.address)!r}, forget_again=True), which removes them again."
            )
        for case_id in back:
            forget.forget(self.log, case_id, why="An older copy of the study had the texts.")
        known = reads.contents() if len(back) else known
        heads.note_withdrawn(known.withdrawn_units)
        return self._with_appearance(known)

    def _with_appearance(self, known: StudyData) -> StudyData:
        """Return the study with codebooks that know the codes of all its versions."""
        revisions: tuple[Revision, ...] = ()
        with suppress(StoreError, CodebookError):  # acts that cannot be read are told of where they are read
            if len(known.codebooks) > 1:
                revisions = revise.history(append.lead_acts(self.reads, known, "codebook"))
        order = [*(one for step in revisions for one in (step.base, step.codebook)), known.study.codebook]
        versions = [known.codebooks[one] for one in dict.fromkeys(order) if one in known.codebooks]
        appeared = tuple(version.codes for version in versions)
        books = {name: copy(book) for name, book in known.codebooks.items()}  # one of a bundle keeps its name
        for book in books.values():
            object.__setattr__(book, "appeared", appeared)
        return replace(known, codebooks=books)

    def missing(self) -> dict[str, str]:
        """Return, by coder, a description of the acts that were seen here and are missing."""
        missing = {}
        for coder, head in self.heads.seen().coders.items():
            with suppress(StoreError):  # of acts that cannot be read, which is found already
                missing[coder] = self.reads.read(coder, partial(_lost, self.reads, coder, head))
        return {coder: what for coder, what in missing.items() if what}


def _lost(reads: Reads, coder: str, head: Head, connection: Connection | None, _: Path) -> str | None:
    return lost(reads, connection, coder, head)


class Desk:
    """The study as a widget works at it."""

    __slots__ = ("_study",)

    def __init__(self, study: OpenStudy) -> None:
        self._study = study

    def __repr__(self) -> str:
        return f"Desk({str(self._study.reads.place.address)!r})"

    @property
    def study_id(self) -> str:
        """The id of the study, the same in all its copies."""
        return self._study.known.study.id

    @property
    def handed_out(self) -> layout.HandedOut | None:
        """To whom this folder was handed out; None for any other study."""
        place = self._study.reads.place.address
        return layout.handed_out(place) if isinstance(place, Path) else None

    def sheet_key(self, coder: str) -> bytes:
        """Return the key that seals the coding sheets of a coder (`exchange.write_coding_sheets`).

        On a server only the lead and the coder may have it.
        """
        check_arguments(Desk.sheet_key, locals())
        return self._study.log.sheet_key(check_pseudonym(coder, self._study.log.coders()))

    def seats(self, coder: str) -> Seats:
        """Return which seat of the server a coder has, and which nobody ever had."""
        check_arguments(Desk.seats, locals())
        return self._study.log.seats(check_pseudonym(coder, self._study.log.coders()))

    def current_codebook(self) -> str:
        """Return the fingerprint of the study's current codebook.

        It differs from that of ``store.codebook`` if somebody else revised the codebook since the store was
        opened.
        """
        return self._study.reads.current().codebook

    def use_current_codebook(self) -> Codebook:
        """Make the study's current codebook the store's own, as opening it again does, and return it.

        Raises `StoreError` if an older copy has replaced ``study.json``.
        """
        study = self._study
        study.refuse_superseded(study.heads.seen())
        study.look_again(current=study.reads.current().codebook)
        return study.known.codebook

    def own_coders(self) -> Sequence[str]:
        """Return the coders as whom whoever opened the study codes: in a folder whoever has coded there."""
        reads = self._study.reads
        return reads.own_coders() if isinstance(reads, Team) else reads.coders()

    @property
    def may_revise(self) -> bool:
        """Whether this store may revise the codebook: one of a folder, or of a leading role in PostgreSQL."""
        return self._study.reads.leads()

    def append_after(self, acts: Sequence[Act], *, n_read: int, meet: Callable[[list[Act]], object]) -> int:
        """Record `acts` of one coder as `append` does, after showing the caller all acts recorded since.

        `meet` is called with the acts that follow the first `n_read`, if there are any; if it raises an
        error, nothing is recorded. The coder's tables are locked from before this call until `acts` are
        recorded. If a connection to a server is lost, it may be called twice. The next `n_read` is this one
        plus the number of acts that `meet` got plus the number returned. Also raises `StoreError` if acts of
        another copy were merged into the coder's since they were read: read them again.
        """
        check_arguments(Desk.append_after, locals(), but=("acts",))
        return self._study.append(acts, ReadSoFar(n_read, meet))

    def draft(self, work: str, *, coder: str) -> dict[str, Any] | None:
        """Return a coder's unsaved draft of `work` ("codebook", "adjudication" …); None if there is none, and
        in PostgreSQL, which keeps no drafts."""
        check_arguments(Desk.draft, locals())
        work, coder, folder = drafts.checked_work(work), check_coder(coder), self._study.reads.place.drafts
        if folder is None:
            return None
        with layout.refusing(folder):
            return drafts.read(folder, work, coder)

    def keep_draft(self, work: str, draft: Mapping[str, Any] | None, *, coder: str) -> bool:
        """Keep a coder's unsaved draft; return True if drafts are kept here (False in PostgreSQL).

        It outlives the kernel and the page, in a file that only its owner can open (``drafts/``). It is not
        part of the record: no copy, archive, hand-out or export has it, and a withdrawal removes the
        participant's words from it. None or an empty draft removes the file. If the draft cannot be kept, or
        repeats words of a withdrawn participant, it raises, and the previous draft stays.
        """
        check_arguments(Desk.keep_draft, locals())
        work, coder, plain = drafts.checked_work(work), check_coder(coder), drafts.plain(draft)
        while True:
            withdrawn = self._study.withdrawn
            if plain and any(
                words.repeated_in(text) for words in withdrawn for text in drafts.strings(plain)
            ):
                raise ActError(
                    "keep_draft: expected no words of participants who withdrew – found a passage of "
                    "theirs – rewrite it without; the previous draft is kept."
                )
            try:
                return self._keep(work, coder, plain or None)
            except Overtaken:
                self._study.look_again()

    def _keep(self, work: str, coder: str, draft: Mapping[str, Any] | None) -> bool:
        reads, known, folder = self._study.reads, self._study.known, self._study.reads.place.drafts
        if folder is None or (draft is None and not drafts.file_of(folder, work, coder).exists()):
            return folder is not None
        layout.refuse_newer(Path(reads.place.name), known.study)
        with layout.exclusively(folder), layout.refusing(folder):  # no withdrawal begins meanwhile
            if reads.current().withdrawn_units != known.withdrawn_units:
                raise Overtaken
            drafts.keep(folder, work, coder, draft)
        return True
