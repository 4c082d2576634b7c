"""One file each way: what a coder needs to code on their own computer, and their work on its way back.

What goes out is a study folder, or its archive, with the texts of one coder alone. Of the others it has the
ids; quotes and memos on them are erased as a withdrawal erases them: a salted hash stays, so that each chain
can be checked. What comes back is an archive without any text but in the coder's own quotes and memos.

The lead's study notes whom it gave what (``copies/``), under an id of 128 bits that goes along. Whose acts a
merge takes in is decided by that note (`merge`), never by what the file says of itself.
"""

from __future__ import annotations

import hashlib
import secrets
import uuid
import zipfile
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._atomic import move_in
from sense7_qual._formats import BROKEN_ZIP
from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual.acts import Act
from sense7_qual.errors import ActError, StoreError
from sense7_qual.rounds import Round, opened, planned, visible
from sense7_qual.store._backend import Log
from sense7_qual.store._operations import archive
from sense7_qual.store._stored import acts_files, acts_tables, layout, units_parquet, whole_files
from sense7_qual.store._stored.layout import HandedOut

_BACK: Final = "expected a folder that was handed out, or that `sense7-qual code` unpacked"


def hand_out(log: Log, target: Path, *, round: str | None, coder: str) -> None:
    """Write what `coder` needs to code the round (None: the texts of no round) to `target`, a new folder or
    a new .zip file.

    These are the study's own files with the coder's texts, the acts files of the leads and the coder, and of
    others those in which the coder may see every act.
    """
    whole_files.refuse_existing(target)
    making = whole_files.making(target, "hand-out", log.place.scratch)
    with making as building, log.as_folder(building.parent) as path:
        acts_files.refuse_absent(path)
        _refuse_handed(path)
        going, unit_ids = _going(path, round, coder)
        made = archive.copy_of(path, target, "hand-out")  # first, as in `archive`
        made = replace(made, id=str(uuid.UUID(bytes=secrets.token_bytes(16))), coder=coder, round=round or "")
        folder = building.with_name("study") if target.suffix == ".zip" else building
        archive.copy_files(path, folder, going)
        _keep(folder, unit_ids, HandedOut(made.id, coder, made.round, "", ()))
        archive.refuse_unsound(folder, "the copy")
        if folder != building:
            archive.write(folder, building)
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
        _keep(folder, (), handed)
        archive.refuse_unsound(folder, "the copy")
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


def _going(path: Path, round: str | None, coder: str) -> tuple[list[str], set[str]]:
    """Return the coders whose acts files go with a hand-out, and the units whose texts do."""
    study = layout.read(path)
    chains = {acts_files.coder_of(file): _read(file, study.id) for file in acts_files.acts_files(path)}
    acts = [act for of_one in chains.values() for act in of_one]
    one = None if round is None else _round_of(round, coder, opened(acts))
    # An answer to somebody else's proposal may go along: it names no unit and no coder.
    may_go = {(act.coder, act.act_id) for act in visible(acts, viewer=coder)}
    may_go |= {(act.coder, act.act_id) for act in acts if act.traits.by == "team"}
    going = [name for name, of_one in chains.items() if all((a.coder, a.act_id) in may_go for a in of_one)]
    leads = one.leads if one else {act.coder for act in acts if act.traits.by == "team"}
    hidden = sorted(set(leads) & set(chains) - set(going))
    if hidden:
        raise StoreError(
            f"hand_out: expected leads{f' of round {round!r}' if one else ''} who do not code under the same "
            f"pseudonym – found acts of {first_three(hidden)} that {coder!r} may not see – let them code "
            "under other ones."
        )
    return going, _units_of(acts, layout.read_units(path, study)["unit_id"].tolist(), round, coder)


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


def _round_of(name: str, coder: str, rounds: Sequence[Round]) -> Round:
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
    return one


def _read(file: Path, study_id: str) -> list[Act]:
    with acts_files.transaction(file) as connection:
        return acts_tables.read(connection, file, study=study_id, coder=acts_files.coder_of(file))


def _keep(folder: Path, unit_ids: Collection[str], handed: HandedOut) -> None:
    """Keep the texts of these units alone in the study folder, and the coder's own quotes and memos."""
    units = layout.read_units(folder, layout.read(folder))
    kept = units["unit_id"].isin(list(unit_ids))
    table = units_parquet.parquet(_without_stale_categories(units[kept].reset_index(drop=True)))
    withheld = frozenset({*handed.withheld, *units.loc[~kept, "unit_id"]})
    for file in acts_files.acts_files(folder):
        if acts_files.coder_of(file) != handed.coder:
            with acts_files.transaction(file, writes=True) as connection:
                n_erased = acts_files.erase(connection, withheld, ())
            if n_erased:
                acts_files.write_anew(file)
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
