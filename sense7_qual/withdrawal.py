"""Withdrawal: a participant's words leave the study, and the record of who did what stays whole.

What goes: the participant's units with their texts and variables; the quotes and memos on them; earlier turns
of the same conversations; and memos on anything else that repeat a passage of theirs. What stays: the ids of
the units, the acts, and hashes that are salted, so that the chain can be checked and nothing can be guessed
back from it. A note in ``withdrawn/`` is written first: from that moment on no copy of the package shows or
takes in those words, also where a synced folder or a merge brings them back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pandas as pd

from sense7_qual import database, sealed, study, unit_tables, verification
from sense7_qual.acts import Act
from sense7_qual.chain import Link
from sense7_qual.errors import ActError, StoreError, did_you_mean, first_three
from sense7_qual.sealed import Copy, Withdrawal
from sense7_qual.study import Study

__all__ = ["Forgotten", "Held", "Words", "copies", "forget", "forgotten", "gone", "noted", "refuse_gone"]

Held = tuple[str, str, str | None]
"""What still holds a participant's words (as in `Forgotten.still_held`), where, and since when."""

_PASSAGE: Final = 25  # code points: longer than a common turn of phrase, shorter than most sentences


@dataclass(frozen=True, slots=True, eq=False)
class Forgotten:
    """What was forgotten, and what still holds it.

    Parameters
    ----------
    case_id : str
        The participant.
    n_units, n_texts, n_memos_elsewhere : int
        Units that left the study; quotes and memos that were erased; how many of these were memos on
        something else that repeated a passage of 25 code points or more.
    still_held : DataFrame
        One row per thing out of reach: what (``backup``, ``archive``, ``codebook``, ``revision``, ``file``,
        ``server``), place, at (of copies, and of revisions whose reason repeats a passage; else missing).
        Backups and archives that were made before hold the words until they are deleted; so may file
        systems' snapshots and sync clients' histories, which nothing here can list.
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


def forget(path: Path, case_id: str, *, why: str) -> Forgotten:
    """Remove the words of the participant `case_id` from the study folder `path`.

    Raises
    ------
    StoreError
        The study has no such participant, is damaged or from a later version, or the disk refuses; call
        again then, which completes what was begun.
    """
    study.refuse_newer(path, study.read(path))
    study.refuse_absent(path)
    with study.alone(path):
        now = study.read(path)
        study.clear(path)
        before = sealed.notes(path, Withdrawal)
        units = study.stored_units(path, now)
        words = Words.of(units, before, case_id)
        if now.schema < database.SCHEMA:
            study.rewrite(path, now)  # a version that knows no withdrawals must not open it
        chains = _chains(path, now)
        memos = [memo for chain in chains for memo in words.repeating(chain)]
        note, table = noted(units, before, words, why, memos)
        if note not in before:
            study.note(path, note)
        study.replace_units(path, table)
        n_texts = sum(database.erase(file, words.unit_ids, note.memos) for file in study.acts_files(path))
    notes = {each.id for each in sealed.notes(path, Withdrawal) if each.case_id == case_id}
    held = [*copies(sealed.notes(path, Copy), notes), *_in_files(path, words)]
    held += [each for chain in chains for each in words.in_reasons(chain)]
    return forgotten(words, n_texts, note, held)


def forgotten(words: Words, n_texts: int, note: Withdrawal, held: Sequence[Held]) -> Forgotten:
    """Return what a withdrawal did; `held` is one row per thing that still has the words."""
    frame = pd.DataFrame(held, columns=["what", "place", "at"]).astype("string")
    return Forgotten(words.case_id, len(words.unit_ids), n_texts, len(note.memos), frame)


def gone(path: Path) -> frozenset[str]:
    """Return the units of participants who withdrew from the study folder `path`."""
    return frozenset(unit_id for each in sealed.notes(path, Withdrawal) for unit_id in each.unit_ids)


def refuse_gone(acts: Sequence[Act], units: frozenset[str]) -> None:
    """Raise `ActError` where an act is on a unit of a participant who withdrew."""
    found = [str(act.unit_id) for act in acts if act.unit_id in units]
    if found:
        raise ActError(
            f"append: expected units of the study – found {first_three(found)} of a participant who withdrew "
            "– open the study again, without these units; nothing was recorded."
        )


@dataclass(frozen=True, slots=True, repr=False)
class Words:
    """What a participant wrote: the ids of the units, and every passage of them."""

    case_id: str
    unit_ids: tuple[str, ...]
    passages: frozenset[str]

    @classmethod
    def of(cls, units: pd.DataFrame, before: Sequence[Withdrawal], case_id: str) -> Words:
        """Return the words of the participant `case_id` in `units`, or that were there `before`.

        Raises
        ------
        StoreError
            There is no such participant.
        """
        noted = [unit_id for each in before if each.case_id == case_id for unit_id in each.unit_ids]
        there = units.loc[units["case_id"] == case_id, "unit_id"].tolist()
        if not noted and not there:
            raise StoreError(
                f"forget: expected a participant (case_id) of this study – found {str(case_id)[:60]!r} – "
                f"{did_you_mean(case_id, units['case_id'].dropna().unique())}"
            )
        unit_ids = tuple(dict.fromkeys([*noted, *there]))
        texts = units.loc[units["unit_id"].isin(unit_ids), "text"].dropna().tolist()
        passages = {text[i : i + _PASSAGE] for text in texts for i in range(len(text) - _PASSAGE + 1)}
        return cls(case_id, unit_ids, frozenset(passages))

    def repeated_in(self, text: str) -> bool:
        """Tell whether `text` has a passage of theirs in it."""
        return any(text[i : i + _PASSAGE] in self.passages for i in range(len(text) - _PASSAGE + 1))

    def repeating(self, chain: Sequence[Link]) -> Iterator[str]:
        """Yield the hashes of the memos on other things that repeat a passage."""
        gone = set(self.unit_ids)
        for link in chain:
            act = link.act
            elsewhere = act is not None and act.kind == "memo" and act.unit_id not in gone
            if elsewhere and self.repeated_in(str(act and act.text)):
                yield str(link.fields["text_hash"])

    def in_reasons(self, chain: Sequence[Link]) -> Iterator[Held]:
        """Yield the revisions whose reason repeats a passage; it cannot be taken out of what they say."""
        for link in chain:
            act = link.act
            if act is not None and act.kind == "revise" and self.repeated_in(str(act.text)):
                yield "revision", f"act {act.act_id} of {act.coder!r}", act.at


def noted(
    units: pd.DataFrame, before: Sequence[Withdrawal], words: Words, why: str, memos: Sequence[str]
) -> tuple[Withdrawal, bytes]:
    """Return the note of the withdrawal (an earlier one that says it all) and the units without theirs."""
    draft = Withdrawal(sealed.new_id(), words.case_id, words.unit_ids, why, sealed.now(), "", tuple(memos))
    table = unit_tables.parquet(unit_tables.without(units, [*before, draft]))
    found = hashlib.sha256(table).hexdigest()
    for each in before:
        if (each.case_id, each.units_sha256) == (words.case_id, found) and set(memos) <= set(each.memos):
            return each, table
    return replace(draft, units_sha256=found), table


def _chains(path: Path, now: Study) -> list[list[Link]]:
    chains = []
    for file in study.acts_files(path):
        with database.transaction(file) as connection:
            coder = verification.owner(connection) or file.stem
            chains.append(database.read_chain(connection, file, study=now.id, coder=coder))
    return chains


def copies(made: Sequence[Copy], notes: set[str]) -> Iterator[Held]:
    """Yield the copies that were made before the withdrawal, which `notes` are of."""
    for copy in made:
        if not notes & set(copy.withdrawn):
            yield copy.kind, copy.place, copy.at


def _in_files(path: Path, words: Words) -> Iterator[Held]:
    for file in sorted((path / "codebooks").glob("*.yaml")):
        # Its fingerprint vouches for all of it, so an example in it cannot be taken out.
        if words.repeated_in(file.read_text("utf-8")):
            yield "codebook", f"codebooks/{file.name}", None
    for file in verification.strangers(path):
        yield "file", file.relative_to(path).as_posix(), None
