"""One file each way: what a coder needs to code on their own computer, and their work on its way back.

What goes out is a study folder, or its archive, with the texts of one coder alone, and of each text what a
coder sees next to it. Of the others it has the ids. The coder's own acts go whole. Of anybody else's go the
acts that the coder may see and needs, as an extract: they are linked to each other, as a merge links what
it takes in, and keep the hash that they had. So each can be checked, and what is between them stays at
home. What comes back is an archive without any text but in the coder's own quotes and memos.

The lead's study notes whom it gave what (``copies/``), under an id of 128 bits that goes along. Whose acts a
merge takes in is decided by that note (`merge`), never by what the file says of itself.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import uuid
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pandas as pd
from sqlalchemy import select

from sense7_qual._arguments import check_arguments
from sense7_qual._atomic import move_in
from sense7_qual._formats import BROKEN_ZIP
from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual.acts import KINDS, Act, words_written
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, ArgumentError, StoreError
from sense7_qual.frames import UNITS, require_column
from sense7_qual.rounds import Round, opened, planned, visible
from sense7_qual.store._backend import Log
from sense7_qual.store._operations import archive
from sense7_qual.store._operations.contents import Options, options_after
from sense7_qual.store._stored import (
    acts_files,
    acts_tables,
    layout,
    study_notes,
    units_parquet,
    whole_files,
)
from sense7_qual.store._stored.hash_chain import Link, clocks, genesis, ordered, relinked
from sense7_qual.store._stored.layout import HandedOut
from sense7_qual.store._stored.rare_passages import Written, repeating_rarely, said_in, words_of_codebook
from sense7_qual.store._stored.repeated_passages import texts_in
from sense7_qual.store._stored.study_notes import Withdrawal

_BACK: Final = "expected a folder that was handed out, or that `sense7-qual code` unpacked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The hand-out that was asked for, as the parameters of `Store.copies.hand_out`."""

    round: str | None
    coder: str
    variables: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()


def hand_out(log: Log, target: Path, wish: Wish) -> None:
    """Write what the coder needs to code the round (None: the texts of no round) to `target`, a new folder or
    a new .zip file."""
    coder, round = wish.coder, wish.round or ""
    whole_files.refuse_existing(target)
    making = whole_files.making(target, "hand-out", log.place.scratch)
    with making as building, log.as_folder(building.parent) as path:
        acts_files.refuse_absent(path)
        _refuse_handed(path)
        going = _going(path, wish)
        made = archive.copy_of(path, target, "hand-out")  # first, as in `archive`
        made = replace(made, id=str(uuid.UUID(bytes=secrets.token_bytes(16))), coder=coder, round=round)
        folder = building.with_name("study") if target.suffix == ".zip" else building
        archive.copy_files(path, folder, {coder})
        _add_extracts(path, folder, going.extracts)
        withheld = tuple(unit_id for each in going.untold for unit_id in each.unit_ids)
        _keep(folder, going.units, HandedOut(made.id, coder, round, "", withheld))
        for each in going.untold:
            study_notes.remove(folder, each)
        if folder != building:
            archive.write(folder, building)
        else:
            archive.refuse_unsound(folder, "the copy")
        archive.note_copy(log, made)
        move_in(building, target)


def hand_in(path: Path, target: Path) -> HandedOut:
    """Write the acts of the coder to whom the folder `path` was handed out to the .zip file `target`, which
    may be there from before; return whose they are."""
    handed = layout.handed_out(path)
    if handed is None:
        raise StoreError(
            f"hand_in: {_BACK} – found a study of which nobody was handed a part – name that folder."
        )
    if (target.exists() or target.is_symlink()) and handed_in(target) != handed.id:
        whole_files.refuse_existing(target)
    with whole_files.making(target, "hand-in", path) as building:
        folder = building.with_name("study")
        archive.copy_files(path, folder, {handed.coder})
        units = layout.read_units(folder, layout.read(folder))
        _keep(folder, units.iloc[:0], handed)
        archive.write(folder, building)
        move_in(building, target, overwrite=True)
    return handed


def handed_in(source: Path) -> str | None:
    """Return the id of the hand-out that the .zip file `source` is or answers; None for any other file."""
    check_arguments(handed_in, locals())
    try:
        with archive.opened_file(source) as file, zipfile.ZipFile(file) as members:
            archive.refuse_hostile(members.infolist(), source)
            return HandedOut.of(members.read(layout.HANDED), source.name).id
    except (*BROKEN_ZIP, KeyError):  # a StoreError is an OSError
        return None


def _refuse_handed(path: Path) -> None:
    if layout.handed_out(path) is not None:
        raise StoreError(
            "hand_out: expected the lead's study – found a part of it that was handed out – ask the lead to "
            "hand out what is to be coded."
        )


@dataclass(frozen=True, slots=True, repr=False)
class _Going:
    """What goes with a hand-out: the units, and the acts of others by coder; `untold` are the withdrawals
    that stay at home."""

    units: pd.DataFrame
    extracts: Mapping[str, Sequence[Link]]
    untold: Sequence[Withdrawal]


def _going(path: Path, wish: Wish) -> _Going:
    """Return what goes; raise `ActError` where the coder has nothing to code, and `ArgumentError` where what
    goes may repeat words of other texts."""
    study, coder = layout.read(path), wish.coder
    chains = {acts_files.coder_of(file): _chain(file, study.id) for file in acts_files.acts_files(path)}
    acts = [link.act for chain in chains.values() for link in ordered(chain) if link.act is not None]
    if wish.round is not None:
        _refuse_round(wish.round, coder, opened(acts))
    units = layout.read_units(path, study)
    chosen = units["unit_id"].isin(_units_of(acts, units["unit_id"].tolist(), wish.round, coder))
    own = chains.pop(coder, [])
    extracts = _extracts(chains, acts, set(units.loc[chosen, "unit_id"]), coder)
    books = layout.read_codebooks(path, study).values()
    _refuse_repeated(_words(books, extracts), units[chosen], units[~chosen], wish)
    shown = units.loc[chosen, _columns(units, options_after(acts), wish.variables)]
    withdrawals = study_notes.notes(path, Withdrawal)
    untold = _of_others(withdrawals, acts, own, units["unit_id"].tolist(), coder)
    return _Going(shown.reset_index(drop=True), extracts, untold)


def _extracts(
    chains: Mapping[str, Sequence[Link]], acts: Sequence[Act], unit_ids: Collection[str], coder: str
) -> dict[str, list[Link]]:
    """Return of each chain the acts that the coder may see and needs to code these units."""
    seen = {
        (act.coder, act.act_id)
        for act in visible(acts, viewer=coder)
        if not act.traits.stays and (act.unit_id is None or act.unit_id in unit_ids)
    }
    return {
        name: [link for link in ordered(chain) if link.act and (name, link.act.act_id) in seen]
        for name, chain in chains.items()
    }


def _columns(units: pd.DataFrame, options: Options, variables: Sequence[str]) -> list[str]:
    """Return the columns that go: those by which a text is coded, the rating where coders are shown it, and
    those that were asked for."""
    shown = {
        *UNITS.columns,
        "context",
        *variables,
        *({options.rating_column} if options.rating != "hidden" else ()),
    }
    for name in variables:
        require_column(units, name, frame_name="units")
    return [str(name) for name in units if name in shown]


def _words(books: Iterable[Codebook], extracts: Mapping[str, Sequence[Link]]) -> Iterator[Written]:
    """Yield every text that people wrote in the codebooks and in the acts that go."""
    yield from (each for book in books for each in words_of_codebook(book))
    for act in (link.act for chain in extracts.values() for link in chain if link.act is not None):
        where = f"act {act.act_id}"
        if act.round is not None:
            yield "round", where, act.round
        if act.text and act.traits.text == "written":
            yield act.kind, where, words_written(act.text)
        if act.text and act.traits.text in ("reason", "content"):
            yield from ((act.kind, where, text) for text in _said(act.text))


def _said(text: str) -> Iterator[str]:
    """Yield the texts in what an act says in a form of its own; all of it where it has none."""
    try:
        return texts_in(json.loads(text))
    except (ValueError, RecursionError):
        return iter((text,))


def _refuse_repeated(
    words: Iterable[Written], going: pd.DataFrame, staying: pd.DataFrame, wish: Wish
) -> None:
    """Raise `ArgumentError` where words that go may repeat a passage of a text that stays."""
    known = ("codebook", "round", *KINDS)
    for name in wish.accept:
        if name not in known:
            raise ArgumentError(
                f"hand_out: expected in accept what you have looked at – found {word(name)} – "
                f"{did_you_mean(str(name), known)}"
            )
    looked_at = [each for each in words if each[0] not in wish.accept]
    free = (text for _, text in said_in(going))
    repeating = repeating_rarely({text for *_, text in looked_at}, said_in(staying), free=free)
    found = dict.fromkeys((field, where) for field, where, text in looked_at if text in repeating)
    if found:
        places = "; ".join(f"{field}: {where}" for field, where in found)
        raise ArgumentError(
            f"hand_out: expected no words of texts that {wish.coder!r} is not given – found {len(found)} "
            f"places that may repeat a passage of one ({places}) – look at them; to hand them out as they "
            f"are, pass accept={sorted({*wish.accept, *(field for field, _ in found)})}; nothing was written."
        )


def _of_others(
    withdrawals: Sequence[Withdrawal],
    acts: Sequence[Act],
    own: Sequence[Link],
    unit_ids: Sequence[str],
    coder: str,
) -> list[Withdrawal]:
    """Return the withdrawals of participants whose texts were never the coder's, and of whose words nothing
    was erased in the coder's acts."""
    plan = planned(acts, units={*unit_ids, *(one for each in withdrawals for one in each.unit_ids)})
    theirs = {str(link.act.unit_id) for link in own if link.act is not None}
    theirs |= set(plan.loc[plan["coder"] == coder, "unit_id"])
    memos = {link.fields.get("text_hash") for link in own}
    return [
        each
        for each in withdrawals
        if len(plan) and theirs.isdisjoint(each.unit_ids) and memos.isdisjoint(each.memos)
    ]


def _add_extracts(path: Path, folder: Path, extracts: Mapping[str, Sequence[Link]]) -> None:
    """Write the acts files of others, each with these acts alone, to the study folder that is built."""
    study = layout.read(path)
    for coder, links in extracts.items():
        if links:
            target = folder / layout.ACTS / f"{coder}.sqlite"
            acts_files.create(target, study=study.id, coder=coder)
            rows = relinked(links, list(clocks(links)), last=genesis(study.id, coder))
            texts = _texts_of(acts_files.acts_file(path, coder), links)
            with acts_files.transaction(target, writes=True) as connection:
                acts_tables.add_links(connection, rows, texts)


def _texts_of(file: Path, links: Sequence[Link]) -> list[dict[str, Any]]:
    """Return the rows of the links' quotes and memos."""
    hashes = {link.fields.get("text_hash") for link in links}
    with acts_files.transaction(file) as connection:
        rows = connection.execute(select(acts_tables.TEXTS)).mappings().all()
    return [dict(row) for row in rows if row["text_hash"] in hashes]


def _units_of(acts: Sequence[Act], unit_ids: Sequence[str], round: str | None, coder: str) -> set[str]:
    """Return the units that the coder is to code, and those on which they have done something."""
    plan = planned(acts, units=unit_ids)
    rows = plan[plan["round"].isna() if round is None else plan["round"] == round]
    if round is None and len(plan) and coder not in set(rows["coder"]):
        raise ActError(
            f"hand_out: expected a coder of the plan, or a round – found {word(coder)} and no round – "
            f"{did_you_mean(coder, sorted(set(rows['coder'])))}; rounds: "
            f"{first_three(plan['round'].dropna().unique()) or 'none'}."
        )
    own = {str(act.unit_id) for act in acts if act.coder == coder and act.unit_id is not None}
    return own | set(rows.loc[rows["coder"] == coder, "unit_id"] if len(plan) else unit_ids)


def _refuse_round(name: str, coder: str, rounds: Sequence[Round]) -> None:
    one = next((one for one in rounds if one.name == name), None)
    if one is None:
        raise ActError(
            f"hand_out: expected an open round – found {word(name)} – "
            f"{did_you_mean(str(name), [each.name for each in rounds])}"
        )
    if coder not in one.coders:
        raise ActError(
            f"hand_out: expected a coder of round {name!r} – found {word(coder)} – "
            f"{did_you_mean(str(coder), one.coders)}"
        )


def _chain(file: Path, study_id: str) -> list[Link]:
    with acts_files.transaction(file) as connection:
        return acts_tables.read_chain(connection, file, study=study_id, coder=acts_files.coder_of(file))


def _keep(folder: Path, units: pd.DataFrame, handed: HandedOut) -> None:
    """Keep these units alone in the study folder."""
    all_units = layout.read_units(folder, layout.read(folder))["unit_id"]
    table = units_parquet.parquet(_without_stale_categories(units))
    withheld = frozenset({*handed.withheld, *all_units[~all_units.isin(units["unit_id"])]})
    layout.replace_units(folder, table)
    units_sha256 = hashlib.sha256(table).hexdigest()
    layout.hand_to(folder, replace(handed, units_sha256=units_sha256, withheld=tuple(sorted(withheld))))


def _without_stale_categories(units: pd.DataFrame) -> pd.DataFrame:
    """Return the units without categories that only others have, which a file lists by name; the steps of a
    scale stay."""
    for name, column in units.items():
        if isinstance(column.dtype, pd.CategoricalDtype) and not column.cat.ordered:
            units[name] = column.cat.remove_unused_categories()
    return units
