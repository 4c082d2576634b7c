"""Withdrawal: a participant's words leave the study, and the record of who did what stays whole.

What goes: the participant's units with their texts and variables; the quotes and memos on them; earlier turns
of the same conversations; and what surely repeats a passage of theirs: memos on other things, and the context
and variables of other units. What may be theirs is listed for a person to judge. Texts of other participants
are never changed. What stays: the ids of the units, the acts, and hashes that are salted, so that the chain
can be checked and nothing can be guessed back from it.

Texts are compared by their letters and digits only. Surely theirs are 25 of them, or a whole short text, that
no other participant's text has; 12 that are rare in the study are for a person to judge
(`repeated_passages`).

A note in ``withdrawn/`` is written first: from that moment on no copy of the package shows or takes in those
words, also where a synced folder or a merge brings them back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pandas as pd
from sqlalchemy import Connection

from sense7_qual._messages import first_three, legible
from sense7_qual.acts import Act, words_written
from sense7_qual.errors import ActError, Damaged, StoreError
from sense7_qual.store._backend import Alone, Log
from sense7_qual.store._stored import study_notes, units_parquet, whole_files
from sense7_qual.store._stored.hash_chain import Link
from sense7_qual.store._stored.repeated_passages import SAID, UNIT, Remaining, Words
from sense7_qual.store._stored.study_notes import Copy, Withdrawal

_ADVICE: Final = {
    "backup": "delete it",
    "archive": "delete it",
    "hand-out": "have it deleted by who has it",
    "unfinished copy": "open the study again on the computer on which it was made, with its disk",
    "file": "look into it, and delete it",
    "damaged": "store.admin.salvage(coder, path), move the damaged acts out, store.copies.merge(path), "
    "forget again",
    "draft to judge": "open it in its widget; change or discard it there",
    "server": "ask its administrator how long they are kept",
    "codebook": "no call: acts count on every version; leave it out of what is published",
    "revision": "no call: the record keeps reasons; leave it out of what is published",
    "round": "no call: the record keeps names of rounds; leave it out of what is published",
    "analysis plan": "no call: the record keeps what was registered; leave it out of what is published",
    **dict.fromkeys(
        ["memo to judge", "proposal to judge", "ruling to judge", "theme to judge", "paraphrase to judge"],
        "read it; nothing takes a single one out, so keep it out of what is published",
    ),
    UNIT: "no call: nobody else's data is changed; compare it with the original data",
    "note": "no call: notes of withdrawals stay; leave it out of what is published",
    "embedding cache": "models.clear_cache(folder)",
    "reply cache": "models.clear_cache(folder)",
    "notebook": "restart the kernel, clear the outputs and save",
}
_OUTSIDE_THE_STUDY: Final[tuple[Remaining, ...]] = (
    ("embedding cache", "folders given to models.embedder(cache=…)", None),
    ("reply cache", "folders given to models.chat(cache=…)", None),
    ("notebook", "kernels that had the study open, and outputs that were saved", None),
)


@dataclass(frozen=True, slots=True, eq=False)
class Forgotten:
    """The result of a withdrawal: what was erased, and what may still hold the words.

    Attributes
    ----------
    case_id : str
        The participant.
    n_units, n_texts, n_memos_elsewhere : int
        The numbers of units that left the study, of erased quotes and memos, and of those among them that
        were memos on something else and certainly repeated the participant's words: 25 letters and digits in
        a row, or a whole short text, that no other participant's text has.
    still_held : DataFrame
        One row per place that holds their words, or may do so: what, place, at (for copies and acts; else
        missing), to_clear (what to do about it). what is one of

        - ``backup``, ``archive``, ``hand-out``: a copy made before; ``file``: a file that is not part of the
          study; ``unfinished copy``: one that is being made, or was when its process was killed;
        - ``codebook``, ``revision``, ``round``, ``analysis plan``, ``note``: a codebook version, the reason
          for a revision, the name of a round, a registered plan or the reason for a withdrawal that repeats,
          or may repeat, their words;
        - ``memo to judge``, ``proposal to judge``, ``ruling to judge``, ``theme to judge``, ``paraphrase to
          judge``, ``unit to judge``: a memo, a proposal, a ruling's note, a theme's name, the paraphrase of a
          quote, or another unit's text, context or variable that may repeat them: 12 letters and digits in a
          row over more than one word that no other participant's text has, or a longer passage that one has.
          A person must judge;
        - ``draft to judge``: an unsaved draft that may repeat them in the same way (certain repeats are
          removed);
        - ``damaged``: damaged acts, in which only what can be read was erased (`Store.forget`); ``memo to
          judge`` names a whole file if it came back after the words to compare it with were gone;
        - ``server``, ``embedding cache``, ``reply cache``, ``notebook``: always listed, since the study
          cannot look into them.

        Snapshots of file systems and histories of sync clients may hold them, too.
    """

    case_id: str
    n_units: int
    n_texts: int
    n_memos_elsewhere: int
    still_held: pd.DataFrame

    def __repr__(self) -> str:
        return (
            f"Forgotten({self.case_id!r}, {self.n_units} units, {self.n_texts} quotes and memos; "
            f"{len(self.still_held)} copies or files may still hold them)"
        )


def forget(log: Log, case_id: str, *, why: str) -> Forgotten:
    """Remove the words of the participant `case_id` from the study.

    Where the study's own parts are damaged or the disk or server refuses, it raises; calling it again
    completes what was begun. Damaged acts raise nothing: they are among what still holds words.
    """
    counts: list[int] = []  # of each attempt: one may have been committed before its connection was lost

    def work(study: Alone) -> Forgotten:
        before = study.notes(Withdrawal)
        units = study.units()
        words = Words.of(units, before, case_id)
        memos = [memo for place in study.places() for memo in _repeating(study, place, words)]
        codebooks = study.codebooks()
        note, table = _note_and_units(units, before, words, why, memos, codebooks)
        if note not in before:
            study.add_note(note)
        study.put_units(table)
        # From here on no act with a word of theirs is taken in, so that what is there now is all.
        erased = {place: _erased(study, place, words, note) for place in study.places()}  # new ones as well
        counts.append(sum(n_texts for n_texts, _ in erased.values()))
        notes = [each for each in study.notes(Withdrawal) if each.case_id == case_id]
        remaining = [
            *_copies_before(study.notes(Copy), {each.id for each in notes}),
            *words.remaining_in_codebooks(codebooks),
            *(row for _, rows in erased.values() for row in rows),
            *study.elsewhere(words),
        ]
        if not units["unit_id"].isin(words.unit_ids).any():  # they came back: no text is left to compare with
            come_back = [study.named(place) for place, (n_texts, _) in erased.items() if n_texts]
            remaining += [("memo to judge", f"memos in {name}", None) for name in come_back]
        return _result(words, max(counts), notes, remaining)

    return log.alone(work)


def _repeating(study: Alone, place: Path, words: Words) -> list[str]:
    """Return the hashes of what surely repeats their words in a coder's acts, also in damaged ones."""
    try:
        return list(words.repeating(study.chain(place)))
    except Damaged:
        return list(words.repeating_rows(study.damaged_texts(place)))


def _erased(study: Alone, place: Path, words: Words, note: Withdrawal) -> tuple[int, list[Remaining]]:
    """Erase their words from a coder's acts, also those that came in since these were first read.

    Returns how many texts there were, and what still holds words: reasons, or all of it where it is damaged.
    """
    damaged: list[Remaining] = [("damaged", study.named(place), None)]

    def work(connection: Connection, chain: list[Link] | None) -> tuple[int, list[Remaining]]:
        memos = _noted_memos(study.notes(Withdrawal), words.case_id)
        new = set(words.repeating(chain or [])) - memos
        if new:
            study.add_note(
                replace(note, id=study_notes.new_id(), at=whole_files.now(), memos=tuple(sorted(new)))
            )
        n_texts = study.erase(connection, words.unit_ids, memos | new)
        return n_texts, damaged if chain is None else list(words.remaining_in_acts(chain))

    return study.erasing(place, work) or (0, damaged)


def _noted_memos(notes: Sequence[Withdrawal], case_id: str) -> set[str]:
    """Return the hashes of all memos that were found to repeat words of a participant."""
    return {memo for each in notes if each.case_id == case_id for memo in each.memos}


def _result(
    words: Words, n_texts: int, notes: Sequence[Withdrawal], remaining: Sequence[Remaining]
) -> Forgotten:
    """Return what a withdrawal did; `remaining` is one row per thing that still has the words."""
    rows = [
        [legible(each) for each in row]
        for row in (*remaining, *words.remaining_in_units, *_OUTSIDE_THE_STUDY)
    ]
    frame = pd.DataFrame(rows, columns=["what", "place", "at"]).astype("string")
    frame["to_clear"] = frame["what"].map(_ADVICE).astype("string")
    n_memos = len(_noted_memos(notes, words.case_id))
    return Forgotten(words.case_id, len(words.unit_ids), n_texts, n_memos, frame)


def refuse_withdrawn_units(acts: Sequence[Act], units: frozenset[str]) -> None:
    """Raise `ActError` where an act is on a unit of a participant who withdrew."""
    unit_ids = [str(act.unit_id) for act in acts if act.unit_id in units]
    if unit_ids:
        raise ActError(
            f"append: expected units of the study – found {first_three(unit_ids)} of a participant who "
            "withdrew – open the study again, without these units; nothing was recorded."
        )


def refuse_repeating(acts: Sequence[Act], withdrawn: Sequence[Words]) -> None:
    """Raise `ActError` where something written repeats words of participants who withdrew."""
    texts = [words_written(act.text) for act in acts if act.text and act.kind in SAID]
    n_repeating = sum(any(words.repeated_in(text) for words in withdrawn) for text in texts)
    if n_repeating:
        raise ActError(
            f"append: expected no words of participants who withdrew – found {n_repeating} memos, proposals, "
            "rulings, names of themes, paraphrases, reasons or plans of analysis that repeat a passage of "
            "theirs – rewrite them without it; nothing was recorded."
        )


def _note_and_units(
    units: pd.DataFrame,
    before: Sequence[Withdrawal],
    words: Words,
    why: str,
    memos: Sequence[str],
    codebooks: Mapping[str, bytes],
) -> tuple[Withdrawal, bytes]:
    """Return the note of the withdrawal (an earlier one if nothing is new) and the units without theirs."""
    if words.repeated.passages.in_text(why):
        raise StoreError(
            "forget: expected a reason without the participant's words – found a passage of theirs, or "
            "what may be one – give another reason, which stays in the study; nothing was changed."
        )
    to_judge = words.to_judge(codebooks)
    draft = Withdrawal(
        study_notes.new_id(),
        words.case_id,
        words.unit_ids,
        why,
        whole_files.now(),
        "",
        tuple(memos),
        to_judge,
    )
    table = units_parquet.parquet(units_parquet.without(units, [*before, draft], words.repeated))
    table_sha256 = hashlib.sha256(table).hexdigest()
    for each in before:
        says_all = set(memos) <= set(each.memos) and set(to_judge) <= set(each.to_judge)
        if says_all and (each.case_id, each.units_sha256) == (words.case_id, table_sha256):
            return each, table
    return replace(draft, units_sha256=table_sha256), table


def _copies_before(made: Sequence[Copy], notes: set[str]) -> Iterator[Remaining]:
    """Yield the copies that were made before the withdrawal, which `notes` are of."""
    for copy in made:
        if not notes & set(copy.withdrawn):
            yield copy.kind, copy.place, copy.at
