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
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd

from sense7_qual import database, sealed, study, verification
from sense7_qual.acts import Act
from sense7_qual.errors import ActError, StoreError, did_you_mean, first_three
from sense7_qual.sealed import Copy, Withdrawal
from sense7_qual.study import Study

__all__ = ["Forgotten", "forget", "gone", "refuse_gone"]

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
        One row per thing out of reach: what (``backup``, ``archive``, ``codebook``, ``file``), place, at
        (missing but for copies). Backups and archives that were made before hold the words until they are
        deleted; so may file systems' snapshots and sync clients' histories, which nothing here can list.
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
    now = study.read(path)
    study.refuse_newer(path, now)
    before = sealed.notes(path, Withdrawal)
    units = study.stored_units(path, now)
    unit_ids = _units_of(units, before, case_id)
    words = units.loc[units["unit_id"].isin(unit_ids), ["text"]]["text"].dropna().tolist()
    passages = {text[i : i + _PASSAGE] for text in words for i in range(len(text) - _PASSAGE + 1)}
    if now.schema < database.SCHEMA:
        study.rewrite(path, now)  # a version that knows no withdrawals must not open it
    note = _noted(path, now, units, before, case_id, unit_ids, why, passages)
    n_texts = 0
    for file in study.acts_files(path):
        n_texts += database.erase(file, unit_ids, note.memos)
    held = pd.DataFrame(_still_held(path, note, passages), columns=["what", "place", "at"]).astype("string")
    return Forgotten(case_id, len(unit_ids), n_texts, len(note.memos), held)


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


def _units_of(units: pd.DataFrame, before: Sequence[Withdrawal], case_id: str) -> tuple[str, ...]:
    noted = [unit_id for each in before if each.case_id == case_id for unit_id in each.unit_ids]
    there = units.loc[units["case_id"] == case_id, "unit_id"].tolist()
    if not noted and not there:
        raise StoreError(
            f"forget: expected a participant (case_id) of this study – found {str(case_id)[:60]!r} – "
            f"{did_you_mean(case_id, units['case_id'].dropna().unique())}"
        )
    return tuple(dict.fromkeys([*noted, *there]))


def _noted(
    path: Path,
    now: Study,
    units: pd.DataFrame,
    before: Sequence[Withdrawal],
    case_id: str,
    unit_ids: tuple[str, ...],
    why: str,
    passages: set[str],
) -> Withdrawal:
    """Note the withdrawal, then write the units without the participant's; return the note."""
    at, memos = sealed.now(), tuple(_repeating(path, now, unit_ids, passages))
    draft = Withdrawal(sealed.new_id(), case_id, unit_ids, why, at, "", memos)
    table = study.parquet(study.without(units, [*before, draft]))
    found = hashlib.sha256(table).hexdigest()
    earlier = next((each for each in before if each.case_id == case_id and each.units_sha256 == found), None)
    if earlier is not None and set(memos) <= set(earlier.memos):
        note = earlier
    else:
        note = Withdrawal(draft.id, case_id, unit_ids, why, at, found, memos)
        study.note(path, note)
    study.replace_units(path, table)
    return note


def _repeating(path: Path, now: Study, unit_ids: tuple[str, ...], passages: set[str]) -> Iterator[str]:
    """Yield the hashes of memos on other things that repeat a passage."""
    gone = set(unit_ids)
    for file in study.acts_files(path):
        with database.transaction(file) as connection:
            coder = verification.owner(connection) or file.stem
            chain = database.read_chain(connection, file, study=now.id, coder=coder)
        for link in chain:
            act = link.act
            elsewhere = act is not None and act.kind == "memo" and act.unit_id not in gone
            if elsewhere and repeats(str(act and act.text), passages):
                yield str(link.fields["text_hash"])


def repeats(text: str, passages: set[str]) -> bool:
    """Tell whether `text` has one of the passages in it."""
    return any(text[i : i + _PASSAGE] in passages for i in range(len(text) - _PASSAGE + 1))


def _still_held(path: Path, note: Withdrawal, passages: set[str]) -> Iterator[tuple[str, str, str | None]]:
    notes = {each.id for each in sealed.notes(path, Withdrawal) if each.case_id == note.case_id}
    for copy in sealed.notes(path, Copy):
        if not notes & set(copy.withdrawn):
            yield copy.kind, copy.place, copy.at
    for file in sorted((path / "codebooks").glob("*.yaml")):
        # Its fingerprint vouches for all of it, so an example in it cannot be taken out.
        if repeats(file.read_text("utf-8"), passages):
            yield "codebook", f"codebooks/{file.name}", None
    for file in verification.strangers(path):
        yield "file", file.relative_to(path).as_posix(), None
