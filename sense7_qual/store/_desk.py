"""What widgets ask of a study, and nobody else (`store.desk`, which no `dir` lists)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sense7_qual._arguments import check_arguments
from sense7_qual.acts import Act, check_coder
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError
from sense7_qual.store._files import drafts, layout
from sense7_qual.store._open_study import OpenStudy
from sense7_qual.store._operations.append import Overtaken, Unread

__all__ = ["Desk"]


class Desk:
    """The study as a widget works at it."""

    __slots__ = ("_study",)

    def __init__(self, study: OpenStudy) -> None:
        self._study = study

    def __repr__(self) -> str:
        return f"Desk({str(self._study.reads.place.address)!r})"

    def current_codebook(self) -> str:
        """Return the fingerprint of the codebook that the study names as current now.

        It is another than that of ``store.codebook`` where somebody else revised the codebook since the store
        was opened.
        """
        return self._study.reads.current().codebook

    def use_current_codebook(self) -> Codebook:
        """Take the codebook that the study names as current now for the store's own, and return it.

        As if the study was opened again. Raises `StoreError` where an older copy of ``study.json`` was put in
        its place.
        """
        study = self._study
        study.refuse_superseded(study.heads.seen())
        study.look_again(current=study.reads.current().codebook)
        return study.known.codebook

    @property
    def may_revise(self) -> bool:
        """Whether this store may revise the codebook: one of a folder, or of a leading role in PostgreSQL."""
        return self._study.reads.leads()

    def append_after(self, acts: Sequence[Act], *, n_read: int, meet: Callable[[list[Act]], object]) -> int:
        """Record `acts` of one coder as `append` does, once the caller has seen all that is recorded already.

        `meet` is called with the list of acts behind the first `n_read` that the caller has read or recorded,
        if there are any; where it raises an error, nothing is recorded. The coder's tables are locked from
        before it is called until `acts` are recorded, so nothing can come in between. It may be called twice
        where a connection to a server is lost. The next `n_read` is this one plus the number of acts that
        `meet` got plus the number returned. Raises `StoreError`, too, where acts of another copy were merged
        into the coder's since they were read: read them again.
        """
        check_arguments(Desk.append_after, locals(), but=("acts",))
        return self._study.append(acts, Unread(n_read, meet))

    def draft(self, work: str, *, coder: str) -> dict[str, Any] | None:
        """Return what a coder has begun of `work` ("codebook", "adjudication" …) and not saved; None where
        nothing is begun, and in PostgreSQL, which keeps no drafts."""
        check_arguments(Desk.draft, locals())
        work, coder, folder = drafts.checked_work(work), check_coder(coder), self._study.reads.place.drafts
        if folder is None:
            return None
        with layout.refusing(folder):
            return drafts.read(folder, work, coder)

    def keep_draft(self, work: str, draft: Mapping[str, Any] | None, *, coder: str) -> bool:
        """Keep what a coder has begun and not saved; return whether drafts are kept here (not in PostgreSQL).

        It outlives the kernel and the page, in a file that only its owner can open (``drafts/``). It belongs
        to no record: no copy, archive, hand-out or export has it, and a withdrawal takes the participant's
        words out of it. None, or what is empty: nothing is begun any more, and the file is removed. Where it
        cannot be kept, or repeats words of who withdrew, it raises, and the draft before is still there.
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
                    "theirs – write it without; the draft before is kept."
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
