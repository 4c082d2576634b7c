"""Saving what is sound of a coder's damaged acts, and what is lost of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from sense7_qual._atomic import move_in
from sense7_qual._messages import did_you_mean
from sense7_qual.acts import Act, memo
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store._backend import Log
from sense7_qual.store._stored import acts_files, acts_tables, study_notes, whole_files
from sense7_qual.store._stored.hash_chain import Link, clocks, genesis, links, relinked, text_hash


@dataclass(frozen=True, slots=True, eq=False)
class Salvage:
    """The recovered acts of a damaged acts file.

    Attributes
    ----------
    path : Path
        The new acts file.
    n_acts : int
        The number of acts in it: all that are unchanged by their own hash.
    lost : DataFrame
        One row per lost act: seq (its number in the damaged file), act_id and unit_id (missing if they cannot
        be read; they may be what was damaged), problem.
    """

    path: Path
    n_acts: int
    lost: pd.DataFrame

    def __repr__(self) -> str:
        return f"Salvage({self.n_acts} acts saved, {len(self.lost)} lost)"


def salvage(log: Log, coder: str, target: Path, *, study: str) -> Salvage:
    """Write the sound acts of a coder of `log`, in their order, into the new acts file `target`.

    Words of participants who withdrew do not go into it. Behind the first gap each act keeps the hash and the
    clock that it had, as one that was merged does, so that merging with a copy that has them all is possible
    still.
    """
    coders = log.coders()
    if coder not in coders:
        raise StoreError(
            f"salvage: expected a coder of this study – found no acts of {coder!r} – "
            f"{did_you_mean(coder, coders)}"
        )
    rows, texts = log.broken_rows(coder)
    withdrawn = log.notes(study_notes.Withdrawal)
    whole_files.refuse_existing(target)
    with whole_files.making(target, "salvage", log.place.scratch) as built:
        whole, sound, lost = sound_part(rows, texts, coder)
        if not whole:
            raise StoreError(
                f"salvage: expected acts of {coder!r} that are intact – found none – take their acts in "
                "from another copy, with store.copies.merge."
            )
        acts_files.create(built, study=study, coder=coder)
        with acts_files.transaction(built, writes=True) as connection:
            again = relinked(whole, list(clocks(whole)), last=genesis(study, coder))
            acts_tables.add_links(connection, again, _texts_of(whole, sound, withdrawn))
        move_in(built, target)
    return Salvage(target, len(whole), lost)


def _texts_of(
    whole: Sequence[Link], sound: Mapping[str, Mapping[str, Any]], withdrawn: Sequence[study_notes.Withdrawal]
) -> list[dict[str, Any]]:
    """Return the texts of the links, those of participants who withdrew emptied."""
    units = {unit_id for each in withdrawn for unit_id in each.unit_ids}
    emptied = {memo for each in withdrawn for memo in each.memos}
    used = {}
    for link in whole:
        name, unit_id = link.fields.get("text_hash"), link.fields.get("unit_id")
        if name is not None:
            is_withdrawn = unit_id in units or name in emptied
            used[name] = {**sound[name], **({"salt": None, "text": None} if is_withdrawn else {})}
    return list(used.values())


def sound_part(
    rows: Iterable[tuple[int, Mapping[str, Any] | None]], texts: Iterable[Mapping[str, Any]], coder: str
) -> tuple[list[Link], dict[str, Mapping[str, Any]], pd.DataFrame]:
    """Return the links of `rows` that are what was written, the sound texts by hash, and what is lost.

    `rows` and `texts` are as of `salvage`; the frame of what is lost is `Salvage.lost`.
    """
    sound = {str(each["text_hash"]): each for each in texts if _is_whole(each)}
    words = {name: each["text"] for name, each in sound.items()}
    chain: dict[str, Link] = {}
    lost: list[tuple[int, object, object, str]] = []
    for seq, row in rows:
        link = None if row is None else _sound_link(row, words, coder)
        if link is not None and link.fields["act_id"] not in chain:
            chain[link.fields["act_id"]] = link
        else:
            problem = "cannot be read" if row is None else "is not what was written"
            lost.append((seq, row and row.get("act_id"), row and row.get("unit_id"), problem))
    return list(chain.values()), sound, pd.DataFrame(lost, columns=list(LOST)).astype(LOST)


def loss_memo(lost: pd.DataFrame, coder: str, *, by: str | None, why: str, codebook: Codebook) -> Act:
    """Return the memo of `by` on the study that says which rows of `coder` were taken out, and why."""
    if by is None:
        raise ActError(
            f"accept_loss: expected the pseudonym of the lead who removes rows of {coder!r} – found none, "
            f"and {len(lost)} changed rows – pass by=, your pseudonym."
        )
    rows = lost["seq"][lost["seq"] > 0].tolist()
    numbered = f" (rows {', '.join(map(str, rows))})" if rows else ""
    text = (
        f"Taken out of the acts of {coder}, as not what was written: {len(rows)} acts{numbered}, "
        f"{len(lost) - len(rows)} texts. {why}"
    )
    return memo(coder=by, text=text.strip(), target_kind="study", codebook=codebook)


def no_loss() -> pd.DataFrame:
    """Return the frame of what is lost, without a row."""
    return pd.DataFrame(columns=list(LOST)).astype(LOST)


LOST: Final = {"seq": "int64", "act_id": "string", "unit_id": "string", "problem": "string"}


def _is_whole(text: Mapping[str, Any]) -> bool:
    if not {"text_hash", "salt", "text"} <= text.keys():
        return False
    erased = text["salt"] is None and text["text"] is None
    return erased or text_hash(text["salt"], text["text"]) == text["text_hash"]


def _sound_link(row: Mapping[str, Any], words: Mapping[str, str | None], coder: str) -> Link | None:
    """Return the act of a row as its link where its own hash says that it is what was written."""
    try:
        names, alone = list(row), [tuple({**row, "seq": 1}.values())]
        (link,) = links(names, alone, words, first=row["previous"], broken=StoreError, newer=True)
    except (StoreError, KeyError, TypeError, ValueError):
        return None
    return link if link.fields["coder"] == coder else None
