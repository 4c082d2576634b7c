"""The store that people open: each method says what it does, and asks the study that it has open to do it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import first_three
from sense7_qual.acts import Act, check_person
from sense7_qual.codebook import Codebook
from sense7_qual.coders import Run
from sense7_qual.errors import ActError, StoreError
from sense7_qual.rounds import open_round
from sense7_qual.store import _open_study
from sense7_qual.store._copies import Admin, Copies
from sense7_qual.store._leading import Store as Leading
from sense7_qual.store._open_study import Desk, OpenStudy
from sense7_qual.store._operations import forget, revise, verify
from sense7_qual.store._operations.append import Heads
from sense7_qual.store._operations.restore import restored
from sense7_qual.store._stored import acts_tables, layout
from sense7_qual.store._stored.layout import StudyData


class Store(Leading):
    """The record of one study: its units, its codebook and the acts of its coders.

    Acts are only ever added. The current state (`codings`, `coverage`, `memos`) is computed from them, so
    the whole history of the coding is kept. A store may be used from several threads, and one study may be
    open in several notebooks at once.

    Parameters
    ----------
    path : str or Path
        The study folder that `Store.create` made, or the address of a study in PostgreSQL, such as
        ``"postgresql://ana@db.example.org/lab?study=pilot"`` (without a password: that comes from
        ``PGPASSWORD``, the keyring or ``~/.pgpass``).
    forget_again : bool
        Whether to remove the words of withdrawn participants again if an older copy of the study has brought
        them back. Without it such a study is not opened.

    Raises
    ------
    StoreError
        There is no study (or none for this role), its units or codebooks were changed, the server cannot be
        reached, or the study has the words of a withdrawn participant again.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from sense7_qual import acts
    >>> sense7 = Codebook.read("sense7")
    >>> units = pd.DataFrame({"unit_id": ["m17"], "text": ["It listened to me."], "document_id": ["d1"],
    ...                       "case_id": ["p1"], "position": [0]})
    >>> store = Store.create(Path(tempfile.mkdtemp()) / "pilot", units=units, codebook=sense7)
    >>> store.append([
    ...     acts.apply(coder="ana", unit_id="m17", code="relational", start=3, end=11, codebook=sense7),
    ...     acts.finish(coder="ana", unit_id="m17", codebook=sense7)])
    2
    >>> store.acts(coder="ana")[0].text  # the quote, filled in from the unit
    'listened'
    >>> Store(store.path)
    Store(1 unit, 7 codes, 1 coder)
    """

    __slots__ = ()

    def __init__(self, path: str | Path, *, forget_again: bool = False) -> None:
        check_arguments(Store.__init__, locals())
        self._study = OpenStudy(_open_study.at(path), forget_again=forget_again)
        schema = self._study.known.study.schema
        if schema > acts_tables.SCHEMA:
            warnings.warn(acts_tables.newer("study", schema), stacklevel=2)

    @classmethod
    def create(
        cls,
        path: str | Path,
        *,
        units: pd.DataFrame,
        codebook: Codebook,
        lead: str | None = None,
        exist_ok: bool = False,
    ) -> Store:
        """Make a new study at `path` and open it.

        It appears whole or not at all, with its parent folders where they are missing.

        Parameters
        ----------
        path : str or Path
            A folder that does not exist or is empty; or an address in PostgreSQL, where its role becomes the
            lead (`store.admin.add_coder`). No other role's rights are changed there; a warning says what the
            server's statistics tell coders, and which script closes them.
        units : DataFrame
            One row per unit, as `corpus.read` returns them; no text may be missing or empty.
        codebook : Codebook
            The codes to begin with.
        lead : str, optional
            The pseudonym of the person who makes and leads the study (`set_options` names others). An
            existing study keeps its leads.
        exist_ok : bool
            Whether to open an existing study, for cells that run again and again. Nothing in it is changed.
            It must have the same units (ids, texts and every column, in any order of rows) and this codebook,
            now or in an earlier version. Units of withdrawn participants do not come back and do not count as
            a difference; a warning says that the table still has them. Take `units` and `codebook` from the
            store afterwards. Two notebooks may do this at the same moment.

        Raises
        ------
        StoreError
            Something exists at `path` already (with `exist_ok`: a study with other units or another codebook,
            or other files), or the disk or server refuses. Nothing was changed.
        TableError
            `units` does not fit its contract.
        ActError
            `codebook` is not a codebook.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import pandas as pd
        >>> sense7 = Codebook.read("sense7")
        >>> units = pd.DataFrame({"unit_id": ["m17"], "text": ["It listened."], "document_id": ["d1"],
        ...                       "case_id": ["p1"], "position": [0]})
        >>> path = Path(tempfile.mkdtemp()) / "pilot"
        >>> Store.create(path, units=units, codebook=sense7, exist_ok=True)
        Store(1 unit, 7 codes, 0 coders)
        >>> Store.create(path, units=units, codebook=sense7, exist_ok=True)
        Store(1 unit, 7 codes, 0 coders)
        """
        check_arguments(Store.create, locals(), but=("units", "codebook"))
        if lead is not None:
            check_person(lead)
        place = _open_study.writable(_open_study.at(path))
        if not (exist_ok and place.exists()):
            try:
                place.create(partial(layout.build, units=units, codebook=codebook))
            except StoreError:
                if not (exist_ok and place.exists()):  # or else another notebook made it at this moment
                    raise
            else:
                store = cls(path)
                if lead is not None:
                    store.set_options(leads=[lead], coder=lead)
                return store
        return cls._meant(path, units, codebook)

    @classmethod
    def _meant(cls, path: str | Path, units: pd.DataFrame, codebook: Codebook) -> Store:
        """Open the study that is there, if it is of these units and this codebook."""
        store = cls(path)
        known = store._study.known
        refuse_other(known, units, codebook, place=store.path)
        withdrawn = withdrawn_among(known, units)
        if withdrawn:
            warnings.warn(
                f"units: expected none of participants who withdrew – found {first_three(withdrawn)} in the "
                "table, which the study leaves out – take their rows out of the table's file, too, and use "
                "store.units.",
                stacklevel=3,
            )
        return store

    @classmethod
    def restore(cls, archive: str | Path, path: str | Path, *, forget_again: bool = False) -> Store:
        """Make a new study at `path` from a file that `archive` wrote, and open it.

        Archived again, the study gives the same bytes. `path` is a folder, or an address in PostgreSQL as for
        `create`: its role leads the study there and codes as all of its coders, until `add_coder` hands each
        over to a role.

        Parameters
        ----------
        archive : str or Path
            The file.
        path : str or Path
            The new place.
        forget_again : bool
            Whether to remove the words of participants who have withdrawn since the file was written, as this
            computer knows; otherwise such a file is refused.

        Raises
        ------
        StoreError
            The file is not byte for byte what `archive` wrote, holds acts that `append` would refuse, or
            texts of participants who have withdrawn; something exists at `path`; or the disk or server
            refuses. Nothing is left at `path`.
        """
        check_arguments(Store.restore, locals())
        place = _open_study.writable(_open_study.at(path))
        place.create(
            partial(
                restored,
                Path(archive).absolute(),
                place=place.place.remembered,
                forget_again=forget_again,
            )
        )
        Heads(place.contents().study.id, place.place.remembered).clear()  # of a study that was here before
        return cls(path, forget_again=forget_again)

    @property
    def copies(self) -> Copies:
        """Copies of the study: `backup`, `archive`, `hand_out`, `hand_in`, `merge` and `bundle`."""
        return Copies(self._study)

    @property
    def admin(self) -> Admin:
        """Repairs, and roles on a server: `add_coder`, `end_coder`, `salvage` and `accept_loss`."""
        return Admin(self._study)

    if TYPE_CHECKING:
        desk: Desk
    else:

        def __getattr__(self, name: str) -> Desk:
            """Return the study as widgets use it, as `desk`: in no `dir`, since nobody else needs it."""
            if name == "desk":
                return Desk(self._study)
            raise AttributeError(f"'Store' object has no attribute {name!r}")

    def append(self, acts: Sequence[Act], *, person: bool = False) -> int:
        """Record `acts` of one coder, all or none, and return how many were new.

        Returns only after the acts are on the disk. An act that is recorded already (same act_id) is
        skipped, so a batch may be sent again after any failure. The quote of a span is filled in from the
        unit's text.

        Parameters
        ----------
        acts : sequence of Act
            In the order in which they were done, all by one coder: each coder has a file, and a batch over
            several files could not be all or nothing.
        person : bool
            True says that a person made them, although the coder is new here and has a name like those of
            models ("claude", "gpt-4o"). Codings of a model are recorded under ``model-…``.

        Raises
        ------
        ActError
            Several coders; an unknown unit, code or codebook; a span outside the text; a quote that is not
            the unit's; an undo or redo of an act that the coder has not done; an act_id that belongs to
            another act; a pseudonym that differs from a recorded one in upper and lower case only, or is
            likely a model's; an act of a lead by a model (``model-…``); a memo
            that repeats words of a participant who withdrew while this store was open. Nothing was recorded.
        StoreError
            The file cannot be written (disk full, no permission, locked for 30 s) or is damaged, or an older
            copy replaced it or ``study.json``. Send the same acts again once that is repaired.
        """
        check_arguments(Store.append, locals(), but=("acts",))
        return self._study.append(acts, person=person)

    def record_model(self, run: Run, *, coder: str) -> int:
        """Record what a model coded, and how it was asked, in a blind round of its own; return the new acts.

        Nobody sees its codings until the lead unblinds the round, which is named as the model
        (`rounds.unblind`). Statistics of people leave them out; `decisions` includes them on request. Called
        again with the same run, nothing is recorded twice. Texts of participants who withdrew are left out.

        Parameters
        ----------
        run : Run
            The result of `coders.code` with this study's units and current codebook.
        coder : str
            The pseudonym of the lead who records it; in PostgreSQL a coder of a leading role.

        Raises
        ------
        ActError
            Another run was recorded under the model's name (give each run its own), or units that the study
            does not have.
        ArgumentError
            The run is of another codebook.
        StoreError
            The study cannot be written, or the role does not lead.
        """
        check_arguments(Store.record_model, locals())
        self._study.look_for_withdrawals()
        gone = self._study.known.withdrawn_units
        made = [act for act in run.acts(self.codebook) if act.unit_id not in gone]
        before = [act for act in self.rounds if act.name == run.coder]
        recorded = self.acts(coder=run.coder, kind="describe") if run.coder in self.coders else []
        if any(act.act_id != made[0].act_id for act in recorded):
            raise ActError(
                f"record_model: expected a model that has not coded yet – found another run of {run.coder!r} "
                "– give each run a name of its own: coders.code(…, coder='model-…')."
            )
        if not before:
            units = list(dict.fromkeys(act.unit_id for act in made if act.unit_id is not None))
            opening = open_round(
                run.coder, units=units, coders=[run.coder], coder=coder, codebook=self.codebook
            )
            self._study.append([opening])
        return self._study.append(made)

    def forget(self, case_id: str, *, why: str) -> forget.Forgotten:
        """Remove the words of a participant who withdraws, everywhere this study keeps them.

        Units, quotes and memos of the participant are erased, also from the database's free pages, and so is
        what certainly repeats their words: memos on other things, and the context and variables of other
        units. Case, white space, punctuation, accents and soft hyphens make no difference. What may repeat
        them is only listed, and nobody else's text is changed. Ids and hashes stay, so that `verify` still
        passes. Their units leave `units`, `codings`, `coverage` and `memos`; `acts` keeps the acts, without
        words. This cannot be undone.

        Damaged acts do not stop this: what can be found in them is erased, and ``still_held`` names them as
        ``damaged``. Save what is sound in them (`salvage`), or put a good copy back, and call this again.

        Parameters
        ----------
        case_id : str
            The participant, as in `units`.
        why : str
            The reason, for the record; it stays in the study and must not name or quote the participant.

        Returns
        -------
        Forgotten
            What was erased, and what still holds it or may hold it, with what to do about each.

        Raises
        ------
        StoreError
            There is no such participant, `why` repeats their words, a note or the units are damaged, the role
            does not lead, or the disk or server refuses. Call it again afterwards: it completes what it
            began.
        """
        check_arguments(Store.forget, locals())
        forgotten = forget.forget(self._study.log, case_id, why=why)
        self._study.look_again()
        return forgotten

    def verify(self) -> pd.DataFrame:
        """Check the whole study on the disk: every file, act, quote and memo, and the fold of the acts.

        Every flipped bit in what is stored shows. Damage is reported, not raised; so are acts, and a
        codebook, that this computer has seen and that are missing because an older copy replaced them.

        Returns
        -------
        DataFrame
            One row per file: file; coder and n_acts (Int64) for an acts file, missing where it cannot be
            read; ok (bool); problem (string; empty if ok); note (string): who withdrew, which copies were
            made, files of sync clients. For a study in PostgreSQL: one row for the units, each version of the
            codebook, each note (for the lead) and each coder with acts that the role may see.
        """
        study = self._study
        findings = verify.with_lost(study.reads.verify(study.known), study.missing())
        with suppress(StoreError):  # reported among the rest
            last = study.superseded(study.reads.current().codebook, study.heads.seen())
            if last is not None:
                findings.append(verify.Finding("current codebook", problem=revise.older_study(last)))
        return verify.frame_of(findings)


def refuse_other(known: StudyData, units: pd.DataFrame, codebook: Codebook, *, place: object) -> None:
    """Raise `StoreError` where the study that is `known` is of other units than these or of another codebook.

    Rows may come in another order. Units of participants who withdrew may be among them or not, and what a
    withdrawal emptied in other units is no difference.
    """
    made, _, table = layout.prepare(units, codebook)
    if made.units_sha256 != known.study.units_sha256:
        # Read back as the study's were: what a file keeps of a frame, and not more, is compared.
        new_units = layout.units_of(table, made, name="given")
        differences = list(_differences(known, new_units))
        if differences:
            raise StoreError(
                f"study at {str(place)!r}: expected the units that it was made of – found {differences[0]} – "
                f"units never change: go on with Store({str(place)!r}), and join further columns to its "
                "units by unit_id, or make a study of these at another place."
            )
    if not {codebook.fingerprint, _with_origins(codebook).fingerprint} & known.codebooks.keys():
        raise StoreError(
            f"study at {str(place)!r}: expected its codebook {known.codebook.name!r}, now or in an earlier "
            f"version – found another, {_compared(known.codebook, codebook)} – go on with "
            f"Store({str(place)!r}) and its codebook, which store.revise(codebook, why=…, coder=…) changes, "
            "or make a study at another place."
        )


def _with_origins(codebook: Codebook) -> Codebook:
    """Return a codebook as it was read when a code without a stated origin counted as deductive."""
    codes = tuple(replace(code, origin=code.origin or "deductive") for code in codebook.codes)
    return replace(codebook, codes=codes)


def withdrawn_among(known: StudyData, units: pd.DataFrame) -> list[str]:
    """Return the ids of `units` of participants who withdrew from the study."""
    return [unit_id for unit_id in units["unit_id"].astype("string") if unit_id in known.withdrawn_units]


def _differences(known: StudyData, units: pd.DataFrame) -> Iterator[str]:
    """Yield what tells the given units from the study's, what matters most first; ids and columns alone."""
    ours = known.units.set_index("unit_id")
    theirs = units[~units["unit_id"].isin(known.withdrawn_units)].set_index("unit_id")
    more, fewer = theirs.index.difference(ours.index), ours.index.difference(theirs.index)
    if len(more):
        yield f"{len(more)} units that it does not have ({first_three(more)})"
    if len(fewer):
        yield f"{len(fewer)} of its units missing ({first_three(fewer)})"
    if len(more) or len(fewer):
        return
    theirs = theirs.loc[ours.index]
    for name in ["text", *ours.columns.intersection(theirs.columns).drop("text")]:
        emptied = bool(known.withdrawn_units) and name != "text"
        other = ours.index[_different(ours[name], theirs[name], emptied=emptied)]
        if len(other):
            yield f"other values in column {name!r} of {len(other)} units ({first_three(other)})"
    for names, what in (
        (theirs.columns.difference(ours.columns), "that it does not have"),
        (ours.columns.difference(theirs.columns), "of it missing"),
    ):
        if len(names):
            yield f"columns {what} ({first_three(names)})"


def _different(ours: pd.Series, theirs: pd.Series, *, emptied: bool) -> Any:
    """Return in which rows two columns differ; what is missing in `ours` alone does not where it may have
    been `emptied`."""
    if ours.equals(theirs):
        return np.zeros(len(ours), dtype=bool)
    pairs = zip(_values(ours), _values(theirs), strict=True)
    return np.array([one != other and not (emptied and one is None) for one, other in pairs], dtype=bool)


def _values(column: pd.Series) -> Sequence[Any]:
    """Return the values of a column as Python's own, None where one is missing."""
    from pyarrow import Array

    values: Sequence[Any] = Array.from_pandas(column).to_pylist()
    return values


def _compared(ours: Codebook, theirs: Codebook) -> str:
    """Describe how a codebook differs from the current one, by the ids of codes."""
    ours_by_id, theirs_by_id = (
        {code.id: code for code in ours.codes},
        {code.id: code for code in theirs.codes},
    )
    other = [name for name in theirs_by_id if name in ours_by_id and theirs_by_id[name] != ours_by_id[name]]
    kinds = (
        ("with", [name for name in theirs_by_id if name not in ours_by_id]),
        ("without", [name for name in ours_by_id if name not in theirs_by_id]),
        ("with another entry for", other),
    )
    differences = [f"{what} {first_three(names)}" for what, names in kinds if names]
    return "; ".join(differences) or "with the same codes and other settings"
