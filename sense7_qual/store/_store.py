"""The store that people open: each method says what it does, and asks the back-end to do it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import pandas as pd

from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual._progress import Progress
from sense7_qual.acts import (
    KINDS,
    Act,
    Preregistration,
    Record,
    check_coder,
    check_person,
    fold,
    preregister,
    preregistrations,
)
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.codebook import Codebook, Revision
from sense7_qual.corpus import planned
from sense7_qual.errors import ActError, ArgumentError, CodebookError, StoreError, TableError
from sense7_qual.frames import is_model, require_column
from sense7_qual.rounds import Round, opened, visible
from sense7_qual.store._backend import Backend
from sense7_qual.store._bundle import Bundle, is_bundle, write as bundles
from sense7_qual.store._bundle.cite import citation
from sense7_qual.store._files import drafts
from sense7_qual.store._files.layout import Opened
from sense7_qual.store._folder import Folder
from sense7_qual.store._log import sqlite, versions
from sense7_qual.store._operations import (
    assign,
    check_acts,
    decide,
    forget,
    merge,
    revise,
    same_study,
    set_options,
    verify,
)
from sense7_qual.store._operations.append import Salvage, Unread, loss_memo
from sense7_qual.store._postgres import Team
from sense7_qual.store._postgres.server import connect, is_address
from sense7_qual.themes import Themes, edit, record, recorded

__all__ = ["Store"]


class Store:
    """The record of one study: its units, its codebook and the acts of its coders.

    Acts are only ever added. What stands now (`codings`, `coverage`, `memos`) is computed from them, so
    the whole history of the coding stays. A store may be used from several threads, and one study may be
    open in several notebooks at once.

    Parameters
    ----------
    path : str or Path
        The study folder that `Store.create` made, or the address of a study in PostgreSQL, such as
        ``"postgresql://ana@db.example.org/lab?study=pilot"`` (without a password: that comes from
        ``PGPASSWORD``, the keyring or ``~/.pgpass``).
    forget_again : bool
        Whether to remove again the words of participants whose withdrawal this computer knows of, where an
        older copy of the study, which has them, was put in its place. Without it such a study is not opened.

    Raises
    ------
    StoreError
        There is no study (or none for this role), it was written by a newer version, its units or
        codebooks are not what was written, the server cannot be reached, or the study has the words of a
        participant again who withdrew.

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
    Store(1 units, 7 codes, 1 coders)
    """

    __slots__ = ("_backend", "_known", "_withdrawn", "path")

    _backend: Backend
    _known: Opened
    _withdrawn: list[forget.Words]
    """The words of participants who withdrew while this store was open: no memo may bring them back."""

    path: Path | str
    """The study folder, or the address of the study in PostgreSQL: what `Store` opens it by."""

    def __init__(self, path: str | Path, *, forget_again: bool = False) -> None:
        check_arguments(Store.__init__, locals())
        self._backend = open_backend(path)
        self._backend.clear()
        self.path = self._backend.address
        self._known, self._withdrawn = self._read(forget_again=forget_again), []
        self._remember_codebook(self._known.study.codebook)
        if self._known.study.schema > sqlite.SCHEMA:
            warnings.warn(versions.newer("study", self._known.study.schema), stacklevel=2)

    @classmethod
    def create(
        cls, path: str | Path, *, units: pd.DataFrame, codebook: Codebook, lead: str | None = None
    ) -> Store:
        """Make a new study folder at `path` and open it.

        The folder appears whole or not at all, with its parent folders where they are missing.

        Parameters
        ----------
        path : str or Path
            Where the study shall be: a folder, where nothing or an empty one may be yet; or an address in
            PostgreSQL, whose role becomes the lead (`add_coder`). No right of another role is changed there;
            a warning says what the server's statistics tell coders, and which script closes them.
        units : DataFrame
            One row per unit, as `corpus.read` returns them; every text must be there and not be empty.
        codebook : Codebook
            The codes to begin with.
        lead : str, optional
            The pseudonym of who makes and leads the study (`set_options` names others).

        Raises
        ------
        StoreError
            Something is there already (`open_or_create` opens a study that is), or the disk refuses.
        TableError
            `units` is not what its contract says.
        ActError
            `codebook` is none.
        """
        check_arguments(Store.create, locals(), but=("units", "codebook"))
        if lead is not None:
            check_person(lead)
        open_backend(path).create(units=units, codebook=codebook)
        store = cls(path)
        if lead is not None:
            store.set_options(leads=[lead], coder=lead)
        return store

    @classmethod
    def open_or_create(
        cls, path: str | Path, *, units: pd.DataFrame, codebook: Codebook, lead: str | None = None
    ) -> Store:
        """Open the study at `path`, or make it where there is none: for cells that run again and again.

        A study that is there is opened as it is, with all its acts and its current codebook; nothing in it is
        changed. It must be the one that is meant: of the same units (ids, texts and every column; the order
        of the rows does not matter), and with this codebook, now or in an earlier version. Two notebooks may
        call this at one moment: one makes the study, and both open it.

        Units of participants who withdrew do not come back, and are no difference; a warning says that the
        table still has them. Take `units` and `codebook` from the store afterwards: there they are as the
        study has them.

        Parameters
        ----------
        path, units, codebook, lead
            As for `create`; a study that is there keeps its leads.

        Raises
        ------
        StoreError
            The study there is of other units or of another codebook, or is damaged; other files are there;
            or the disk or server refuses. Nothing was changed.
        TableError
            `units` is not what its contract says.
        ActError
            `codebook` is none.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import pandas as pd
        >>> sense7 = Codebook.read("sense7")
        >>> units = pd.DataFrame({"unit_id": ["m17"], "text": ["It listened."], "document_id": ["d1"],
        ...                       "case_id": ["p1"], "position": [0]})
        >>> path = Path(tempfile.mkdtemp()) / "pilot"
        >>> Store.open_or_create(path, units=units, codebook=sense7)
        Store(1 units, 7 codes, 0 coders)
        >>> Store.open_or_create(path, units=units, codebook=sense7)
        Store(1 units, 7 codes, 0 coders)
        """
        check_arguments(Store.open_or_create, locals(), but=("units", "codebook"))
        backend = open_backend(path)
        if not backend.is_there():
            try:
                return cls.create(path, units=units, codebook=codebook, lead=lead)
            except StoreError:
                if not backend.is_there():  # or else another notebook made it at this moment
                    raise
        store = cls(path)
        same_study.refuse_other(store._known, units, codebook, place=store.path)
        withdrawn = same_study.withdrawn_among(store._known, units)
        if withdrawn:
            warnings.warn(
                f"units: expected none of participants who withdrew – found {first_three(withdrawn)} in the "
                "table, which the study leaves out – take their rows out of the table's file, too, and use "
                "store.units.",
                stacklevel=2,
            )
        return store

    def __repr__(self) -> str:
        n_units, n_codes = len(self._known.units), len(self.codebook.codes)
        models = sum(map(is_model, self.coders))
        by = f"{len(self.coders) - models} coders" + (f", {models} models" if models else "")
        return f"Store({n_units} units, {n_codes} codes, {by})"

    @property
    def units(self) -> pd.DataFrame:
        """The units, one row per unit; a copy, which may be changed without changing the study."""
        return self._known.units.copy()

    @property
    def codebook(self) -> Codebook:
        """The current codebook."""
        return self._known.codebook

    def current_codebook(self) -> str:
        """Return the fingerprint of the codebook that the study names as current now.

        It is another than that of `codebook` where somebody else revised the codebook since this store was
        opened: `use_current_codebook` takes that one.

        Raises
        ------
        StoreError
            The study cannot be read.
        """
        return self._backend.current()

    def use_current_codebook(self) -> Codebook:
        """Take the codebook that the study names as current now for this store's own, and return it.

        As if the study was opened again: `codebook`, `decisions` and what is coded from now on go by it.

        Raises
        ------
        StoreError
            The study cannot be read, or the codebook that it names is an older one than was current here
            before: an older copy of ``study.json`` was put in its place.

        Examples
        --------
        After ``store.current_codebook() != store.codebook.fingerprint``: ``store.use_current_codebook()``.
        """
        self._refuse_superseded()
        self._look_again(current=self._backend.current())
        return self.codebook

    @property
    def may_revise(self) -> bool:
        """Whether this store may revise the codebook: one of a folder, or of a leading role in PostgreSQL."""
        return self._backend.may_revise()

    @property
    def codebooks(self) -> Mapping[str, Codebook]:
        """Every version of the codebook, by fingerprint."""
        return MappingProxyType(dict(self._known.codebooks))

    @property
    def coders(self) -> tuple[str, ...]:
        """The pseudonyms of the coders of whom there are acts to be read here, sorted."""
        return self._backend.coders()

    def add_coder(self, coder: str, *, role: str | None = None, lead: bool = False) -> None:
        """Let the PostgreSQL role `role` code as `coder` in this study, blind to the others.

        Only the lead's role can do this: the one that made the study, and those that were added with `lead`.
        A role sees and adds the acts of its own coders, and sees of others what the lead has unblinded. A
        coder of the calling role itself (a restored or merged one, say) can be handed over to another role.

        Parameters
        ----------
        coder : str
            The pseudonym.
        role : str, optional
            By default the lead's own role (for the codings of a model, say). A role that does not exist is
            made, without a password: an administrator sets one with psql's ``\\password``.
        lead : bool
            Whether the role leads as well: it then sees everything, opens and unblinds rounds, revises the
            codebook and adds coders.

        Raises
        ------
        ActError
            The pseudonym cannot be one, or differs from a recorded one in upper and lower case only; or it is
            a model's (``model-…``), and `role` a person's.
        StoreError
            The calling role does not lead, `role` is one that cannot be kept blind, the coder has another
            role already, or the study is a folder, where every coder simply has a file.
        """
        check_arguments(Store.add_coder, locals())
        if role is not None:
            coder = check_person(coder)
        self._backend.add_coder(coder, role=role, lead=lead)

    def append(self, acts: Sequence[Act]) -> int:
        """Record `acts` of one coder, all or none, and return how many were new.

        Returns only after the acts are on the disk. An act that is recorded already (by its act_id) is
        passed over, so a batch may be sent again after any failure. The quote of a span is filled in from
        the unit's text.

        Parameters
        ----------
        acts : sequence of Act
            In the order in which they were done. All of one coder: each coder has a file, and a batch over
            several files could not be all or nothing.

        Raises
        ------
        ActError
            Several coders; an unknown unit, code or codebook; a span outside the text; a quote that is not
            the unit's; an undo or redo of an act that the coder has not done; an act_id that stands for
            another act; a pseudonym that differs from a recorded one in upper and lower case only; a memo
            that repeats words of a participant who withdrew while this store was open. Nothing was recorded.
        StoreError
            The file cannot be written (disk full, no permission, locked for 30 s) or is damaged, or an older
            copy of it, or of ``study.json``, was put in its place. Send the same acts again when that is
            mended.
        """
        return self._append(check_acts.as_acts(acts))

    def append_after(self, acts: Sequence[Act], *, n_read: int, meet: Callable[[list[Act]], object]) -> int:
        """Record `acts` of one coder as `append` does, once the caller has seen all that is recorded already.

        For a program that keeps the acts of a coder in memory while the same coder may work in another
        window. The file, or the coder's tables, are locked from before `meet` is called until `acts` are
        recorded, so nothing can come in between.

        Parameters
        ----------
        acts : sequence of Act
            As for `append`.
        n_read : int
            How many acts of this coder the caller has read or recorded: the first is
            ``len(store.acts(coder=…))``.
        meet : callable
            Called with the list of acts behind the first `n_read`, if there are any. Where it raises an
            error, nothing is recorded. It may be called twice where a connection to a server is lost.

        Returns
        -------
        int
            How many of `acts` were new. The next `n_read` is this one plus the number of acts that `meet` got
            plus the number returned.

        Raises
        ------
        ActError
            As for `append`.
        StoreError
            As for `append`, or acts of another copy were merged into the coder's since they were read: read
            them again.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import pandas as pd
        >>> from sense7_qual import acts
        >>> sense7 = Codebook.read("sense7")
        >>> units = pd.DataFrame({"unit_id": ["m17"], "text": ["It listened."], "document_id": ["d1"],
        ...                       "case_id": ["p1"], "position": [0]})
        >>> store = Store.create(Path(tempfile.mkdtemp()) / "pilot", units=units, codebook=sense7)
        >>> act = {"coder": "ana", "unit_id": "m17", "codebook": sense7}
        >>> store.append([acts.apply(**act, code="relational")])  # in another window
        1
        >>> store.append_after([acts.finish(**act)], n_read=0, meet=lambda new: print(new[0].code))
        relational
        1
        """
        check_arguments(Store.append_after, locals(), but=("acts",))
        return self._append(check_acts.as_acts(acts), Unread(n_read, meet))

    def _append(self, batch: Sequence[Act], unread: Unread | None = None) -> int:
        if self._backend.changed(self._known) or any(a.codebook not in self._known.codebooks for a in batch):
            self._look_again()  # another notebook may have revised the codebook
        if any(act.kind != "revise" for act in batch):
            self._refuse_superseded()
        while True:
            try:
                return self._record(batch, unread)
            except forget.Overtaken:
                self._look_again()

    def _record(self, acts: Sequence[Act], unread: Unread | None) -> int:
        forget.refuse_withdrawn_units(acts, self._known.withdrawn_units)
        forget.refuse_repeating(acts, self._withdrawn)
        batch = [check_acts.settled(act, self._known.texts, self._known.codebooks) for act in acts]
        if not batch:
            return 0
        return self._backend.record(check_acts.one_coder(batch), batch, self._known, unread)

    def revise(
        self,
        codebook: Codebook,
        *,
        why: str,
        coder: str,
        merged: Mapping[str, str] | None = None,
        split: Mapping[str, Sequence[str]] | None = None,
    ) -> Codebook:
        """Make a changed codebook the current one, and return it; every version stays.

        `codebook` is taken as a change of ``store.codebook`` as this store knows it. Where somebody else
        revised the study's codebook meanwhile, both sides' changes are combined if they do not touch the same
        thing. What was coded under earlier versions is carried over by `decisions` where its meaning stood;
        `codings.stale` lists the rest. Where two copies of the study were revised apart and merged, a
        revision here joins both lines of versions.

        Parameters
        ----------
        codebook : Codebook
            The changed codebook.
        why : str
            The reason, as the methods section will tell it.
        coder : str
            The pseudonym of who decides this; in PostgreSQL one of a leading role.
        merged : mapping of str to str, optional
            Codes that are gone, and the code that each went into.
        split : mapping of str to sequence of str, optional
            Codes that are gone, and the new codes that each was divided into.

        Raises
        ------
        CodebookError
            Somebody else changed the same thing meanwhile (both sides are shown), or `merged` or `split` do
            not fit the two versions. Nothing was changed.
        ActError
            No reason, or nothing changed.
        StoreError
            The study cannot be written, or the role does not lead.
        """
        check_arguments(Store.revise, locals())
        wish = revise.Wish(
            base=self.codebook,
            codebook=codebook,
            why=why,
            coder=coder,
            merged=read_mapping(merged),
            split=read_mapping(split),
            revisions=self._history,
        )
        new = self._backend.revise(wish, self._known, self.append)
        self._look_again(current=new.fingerprint)
        return self.codebook

    def assign(
        self,
        *,
        coders: Sequence[str],
        overlap: float,
        coder: str,
        seed: int = 0,
        stratify: str | Sequence[str] | None = None,
        coders_per_unit: int | None = None,
        calibration: int | None = None,
        round: str | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> pd.DataFrame:
        """Deal the units to coders, keep that in the study, and return the plan (`plan`).

        The same call again changes nothing. A call with other coders, or another overlap, deals anew what
        nobody has begun: a unit on which a coder has done anything stays with that coder, as far as this
        copy of the study knows (merge the coders' copies first). Who has fewer units gets more. A coder who
        is left out keeps what they have begun and gets no more; what they did not finish is dealt to somebody
        else as well.

        Parameters
        ----------
        coders : sequence of str
            The pseudonyms of all who shall code from now on.
        overlap, seed, stratify, coders_per_unit
            How: as `corpus.assign` says.
        coder : str
            The pseudonym of who assigns, the lead; in PostgreSQL one of a leading role.
        calibration : int, optional
            How many units everybody codes first, all in the same order, so that agreement can be computed
            early. By default as many as in the plan that stands, else none. A coder who comes later gets the
            same ones.
        round : str, optional
            A round that was opened: its units are dealt to its coders, who else code all of them.
        weights : mapping of str to float, optional
            By which the overlap is drawn, as `corpus.assign` says. They are not kept in the study, only that
            they are the same: keep them, or what `corpus.inclusion` makes of them, yourself.

        Returns
        -------
        DataFrame
            The plan of the whole study, as `plan` returns it.

        Raises
        ------
        TableError
            A value is out of range, or `units` has no such column.
        ActError
            A name cannot be a pseudonym, there is no such round, or a coder is not one of it.
        StoreError
            Acts of a coder are damaged, the study cannot be written, or the role does not lead.
        """
        if self._backend.changed(self._known):
            self._look_again()
        one = not isinstance(coders, Iterable) or isinstance(coders, str | pd.DataFrame)
        names = coders if one else list(coders)
        check_arguments(Store.assign, locals() | {"coders": names})
        act = assign.act_of(
            self._known.units, self.acts(), coder=coder, codebook=self.codebook, coders=names,
            overlap=overlap, seed=seed, stratify=stratify, coders_per_unit=coders_per_unit,
            calibration=calibration, round=round, weights=weights,
        )  # fmt: skip
        if act is not None:
            for each in names:
                self._backend.check_pseudonym(each)
            self.append([act])
        return self.plan()

    def plan(self) -> pd.DataFrame:
        """Return who codes what, in which order: what `assign` dealt, and the rounds that were opened.

        Everybody may see it. Where two leads assigned at once, in two copies or two notebooks, a coder has
        the units of the first assignment (by its time, then its act_id) and then those of the other, so that
        nobody loses one; the next `assign` makes one plan of both.

        Returns
        -------
        DataFrame
            One row per coder × unit × round (`frames.PLAN`): coder, unit_id, round (missing: of no round),
            place (from 0, in the coder's order). Without units of participants who withdrew; empty where
            nothing was assigned and no round opened.

        Raises
        ------
        StoreError
            Acts of a lead are missing that were seen here; or there is no plan, and acts are damaged or
            missing that may have held it.
        """
        return planned(self._backend.lead_acts(self._known), units=self._known.texts)

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds that stand, in the order in which they were opened (`rounds.opened`).

        Everybody may see them. Errors as of `plan`.
        """
        return opened(self._backend.lead_acts(self._known))

    @property
    def options(self) -> set_options.Options:
        """How the coders work, as the lead settled it (`set_options`).

        Everybody may see it. Where two leads set one option, in two copies or two notebooks, the later act
        counts, by its time and then its act_id. Errors as of `plan`.
        """
        return set_options.options_after(self._backend.lead_acts(self._known))

    def set_options(
        self,
        *,
        coder: str,
        new_codes: Literal["propose", "add"] | None = None,
        rating: Literal["hidden", "shown", "finished"] | None = None,
        suggestions: Literal["finished", "shown", "never"] | None = None,
        rating_column: str | None = None,
        leads: Sequence[str] | None = None,
    ) -> set_options.Options:
        """Settle how the coders work, and return all `options`; what is left out stays as it is.

        Parameters
        ----------
        coder : str
            The pseudonym of who settles it, the lead; in PostgreSQL one of a leading role.
        new_codes : {"propose", "add"}, optional
            What the coding widget does with a code that a coder misses: "propose" (until something is set)
            sends it to the lead (`proposals`); "add" puts it into the codebook at once, as a revision of the
            coder's. In PostgreSQL only leading roles can revise; the others propose.
        rating : {"hidden", "shown", "finished"}, optional
            Whether the coding widget shows the rating from the start ("hidden" until something is set), or of
            each text once the coder has finished it; ``CodingWidget(…, show_rating=…)`` takes precedence.
        suggestions : {"finished", "shown", "never"}, optional
            When ``CodingWidget(…, suggest=…)`` shows what a model suggests for a text: once the coder has
            finished it ("finished", until something is set), from the start, or never. Whoever sees
            suggestions first is not independent of them: `decisions` tells the two apart.
        rating_column : str, optional
            The column of `units` that is the study's rating (``sense7-qual new`` names it): ``sense7-qual
            report`` links the codes to it where no plan is registered and no ``--rating`` is given.
        leads : sequence of str, optional
            The pseudonyms of all who lead the study from now on (who made it: `create`). The lead's widgets
            ask others to leave them to these. Once some are named, only one of them names others. In a folder
            this is an agreement and no lock: whoever has the folder has its files.

        Raises
        ------
        ActError
            No option, or a value that it does not have.
        TableError
            The units have no such column.
        StoreError
            The study cannot be written, or the role does not lead.
        """
        check_arguments(Store.set_options, locals())
        if rating_column is not None:
            require_column(self._known.units, rating_column, frame_name="units")
        options = self.options
        if leads is not None and options.leads and check_person(coder) not in options.leads:
            raise ActError(
                f"set_options: expected a lead of this study ({first_three(options.leads)}) – found "
                f"{coder!r} – let one of them name the leads."
            )
        named = None if leads is None else tuple(map(check_person, leads))
        act = set_options.act_of(
            options, coder=coder, codebook=self.codebook, new_codes=new_codes, rating=rating,
            suggestions=suggestions, rating_column=rating_column, leads=named,
        )  # fmt: skip
        if act is not None:
            self.append([act])
        return self.options

    def preregister(self, plan: AnalysisPlan, *, coder: str) -> Preregistration:
        """Register what the study will do, and return it as it stands in the record; for good.

        A later call amends it: both stay, and `report.deviations` says what became of them. A plan that is
        registered last already is not registered again. ``.plan.fingerprint`` of what is returned, published
        elsewhere (OSF, an e-mail), shows that no other plan was put in its place.

        Parameters
        ----------
        plan : AnalysisPlan
            What is settled beforehand (`qual.AnalysisPlan`); its rating and cluster are columns of `units`.
        coder : str
            The pseudonym of who registers it, the lead; in PostgreSQL one of a leading role.

        Raises
        ------
        ActError
            The plan names a column that the units do not have, or repeats words of a participant who
            withdrew while this store was open.
        StoreError
            The study cannot be written, or the role does not lead.
        """
        check_arguments(Store.preregister, locals())
        columns = [name for name in self.units.columns if name not in ("text", "context")]
        for name in (plan.rating, plan.cluster):
            if name is not None and name not in columns:
                raise ActError(
                    f"preregister: expected a column of the study's units – found {word(name)} – "
                    f"{did_you_mean(name, columns)}"
                )
        before = self.preregistrations()
        if before and before[-1].plan == plan:
            return before[-1]
        act = preregister(plan, coder=coder, codebook=self.codebook)
        self.append([act])
        return preregistrations([act])[0]

    def preregistrations(self) -> tuple[Preregistration, ...]:
        """Return the analysis plans that were registered, in order of time.

        Everybody may see them. Errors as of `plan`.
        """
        return preregistrations(self._backend.lead_acts(self._known, "plan"))

    def record_themes(self, themes: Themes, *, coder: str) -> pd.DataFrame:
        """Record the themes of a topic model, and return which of them the study had before.

        A theme that shares half of its units or more with one before keeps that one's number, and with it its
        name, its code, and whether people merged or dismissed it (`themes.match_recorded`, which says the
        same without recording).

        Parameters
        ----------
        themes : Themes
            What `themes.fit` returned for units of this study.
        coder : str
            The pseudonym of who records them, the lead; in PostgreSQL one of a leading role.

        Returns
        -------
        DataFrame
            As `themes.match_recorded`: run_theme, theme, is_new, nearest, jaccard.

        Raises
        ------
        ActError
            The themes are of units that the study does not have; nothing was recorded.
        StoreError
            The study cannot be written, or the role does not lead.
        """
        check_arguments(Store.record_themes, locals())
        act, numbers = record(themes, self._theme_acts(), coder=coder, codebook=self.codebook)
        self.append([act])
        return numbers

    def edit_theme(
        self,
        theme: int,
        *,
        coder: str,
        name: str | None = None,
        merge_into: int | None = None,
        dismissed: bool | None = None,
        parts: Sequence[Collection[str]] | None = None,
        code: str | None = None,
        why: str = "",
    ) -> None:
        """Name, merge, dismiss or split a theme of the study, or link it to a code: one of these at a time.

        What is done is taken back by its opposite; it stays through later runs (`record_themes`).

        Parameters
        ----------
        theme : int
            Its number in the study, as `themes` has it.
        coder : str
            The pseudonym of who does it, the lead; in PostgreSQL one of a leading role.
        name, merge_into, dismissed, parts, code, why : optional
            As `themes.edit` says.

        Raises
        ------
        TableError
            No themes were recorded.
        ArgumentError
            There is no such theme or code, none or several things are to be done, or they are impossible.
        ActError
            The name or the reason repeats words of a participant who withdrew while this store was open.
        StoreError
            The study cannot be written, or the role does not lead.
        """
        check_arguments(Store.edit_theme, locals())
        act = edit(
            theme, self._theme_acts(), self.units, coder=coder, codebook=self.codebook, name=name,
            merge_into=merge_into, dismissed=dismissed, parts=parts, code=code, why=why,
        )  # fmt: skip
        self.append([act])

    def themes(self) -> Themes:
        """Return the themes that were recorded last, as people named, merged, split and dismissed them.

        Terms and labels are computed from the texts that the study has now (`themes.recorded`); it needs the
        extra ``themes``.

        Raises
        ------
        TableError
            No themes were recorded.
        StoreError
            As of `plan`.
        """
        return recorded(self._theme_acts(), self.units)

    def _theme_acts(self) -> list[Act]:
        return self._backend.lead_acts(self._known, "themes")

    def revisions(self) -> tuple[Revision, ...]:
        """Return how the codebook came to be: who changed what, when and why, in order (`revisions`).

        Raises
        ------
        StoreError
            As of `acts`; or the current codebook is an older one than was current here before: an older copy
            of ``study.json`` was put in its place.
        """
        self._refuse_superseded()
        return self._history()

    def _history(self) -> tuple[Revision, ...]:
        return revise.history(self.acts(kind="revise"))

    def _superseded(self, now: str) -> str | None:
        """Return the fingerprint of the codebook that was current here before, where revisions led to it from
        `now`, which the study names today; None where they did not."""
        last = self._backend.heads(self._known.study.id).codebook
        later = last not in (None, now) and revise.superseded(self._history(), now, str(last))
        return last if later else None

    def _refuse_superseded(self) -> None:
        # What this store calls current may be older than what the study names: then that is looked up.
        if self._backend.heads(self._known.study.id).codebook in (None, self._known.study.codebook):
            return
        last = self._superseded(self._backend.current())
        if last is not None:
            raise StoreError(revise.older_study(last))

    def _remember_codebook(self, current: str) -> None:
        with suppress(StoreError, CodebookError):  # acts that cannot be read are told of where they are read
            if self._superseded(current) is None:
                self._backend.heads(self._known.study.id).note_codebook(current)

    def acts(
        self, *, coder: str | None = None, kind: str | None = None, viewer: str | None = None
    ) -> list[Act]:
        """Return the recorded acts, each coder's in the order in which they were recorded.

        Parameters
        ----------
        coder : str, optional
            Only this coder's; by default every coder's, in the order of `coders`. A coder without acts has
            an empty list.
        kind : str, optional
            Only acts of this kind (`help(sense7_qual.acts)` lists them), and the undo and redo acts about one
            of them: without those, what was undone would stand again.
        viewer : str, optional
            Only what this coder may see while others are blind: their own acts, what the lead did for the
            team, and every act of an unblinded round (`rounds.visible`). For a folder that holds everybody's
            files; in PostgreSQL the database already keeps the rest from a coder's role.

        Raises
        ------
        StoreError
            An acts file is damaged, or belongs to another study or coder; each file is checked as it is
            read, and the others still open with `coder`.
        ActError
            `coder` or `viewer` cannot be a pseudonym, or there is no such `kind`.
        """
        check_arguments(Store.acts, locals())
        if kind is not None and kind not in KINDS:
            raise ActError(
                f"acts: expected kind out of {', '.join(KINDS)} – found {kind!r} – "
                f"{did_you_mean(kind, KINDS)}"
            )
        if viewer is None:
            read = self._backend.acts(coder, self._known)
        else:  # whether a round is unblinded stands in the lead's acts
            only = None if coder is None else self._backend.check_pseudonym(coder)
            visible_acts = visible(
                self._backend.acts(None, self._known), viewer=self._backend.check_pseudonym(viewer)
            )
            read = [act for act in visible_acts if only in (None, act.coder)]
        return read if kind is None else check_acts.of_kind(read, kind)

    def codings(
        self,
        *,
        round: str | None = None,
        coder: str | None = None,
        models: bool = False,
        viewer: str | None = None,
    ) -> pd.DataFrame:
        """Return the codings that stand now, one row per unit, coder, code and span (`frames.CODINGS`).

        Each facet of ``store.codebook`` is a column behind these, and so is one that an earlier version had
        and that a coding states.

        As `decisions`, without rounds of training and of discussion, unless `round` names one: then that
        round alone. As `coverage` and `memos`, without the units of participants who withdrew; with
        `viewer`, only what that coder may see (`acts`). Those of models (``model-…``) are there with
        `models`, or where `coder` names one.

        Raises
        ------
        ArgumentError
            `round` is none of the study's.
        """
        check_arguments(Store.codings, locals(), but=("round",))
        frame: pd.DataFrame = self._standing(coder, viewer).codings
        return decide.of_study(frame, self.rounds, round, models=models or coder is not None)

    def coverage(
        self,
        *,
        round: str | None = None,
        coder: str | None = None,
        models: bool = False,
        viewer: str | None = None,
    ) -> pd.DataFrame:
        """Return which coder has finished which unit (`frames.COVERAGE`); rounds, models as of `codings`."""
        check_arguments(Store.coverage, locals(), but=("round",))
        frame: pd.DataFrame = self._standing(coder, viewer).coverage
        return decide.of_study(frame, self.rounds, round, models=models or coder is not None)

    def memos(self, *, coder: str | None = None, viewer: str | None = None) -> pd.DataFrame:
        """Return the memos that stand now (`frames.MEMOS`); with `viewer`, theirs and those for the team.

        A memo is for the team if it has a round, and others see it once that is unblinded.
        `report.tables.memo` makes a table of them, which can be written.
        """
        check_arguments(Store.memos, locals())
        return self._standing(coder, viewer).memos

    def proposals(self, *, coder: str | None = None, viewer: str | None = None) -> pd.DataFrame:
        """Return the codes that coders proposed and did not take back (`frames.PROPOSALS`).

        One row per proposal: proposal_id, coder, at, label, definition, unit_id, start, end (code points;
        missing: the whole unit), round, origin (the model that proposes it; missing where a coder does). Who
        may see it: as of `codings`.
        """
        check_arguments(Store.proposals, locals())
        return self._standing(coder, viewer).proposals

    def decisions(
        self,
        *,
        round: str | None = None,
        coder: str | None = None,
        facet: str | None = None,
        consensus: bool = False,
        single: bool = False,
        before_suggestions: bool = False,
        models: bool = False,
        viewer: str | None = None,
    ) -> pd.DataFrame:
        """Return every finished unit × coder × code, with whether the code is applied there.

        What was coded under earlier versions of the codebook is carried over by the study's own revisions to
        ``store.codebook``, and what is stale is left out: missing, never absent (`codings.decisions` says
        how, `codings.stale` lists it). Units of participants who withdrew are left out.

        Parameters
        ----------
        round : str, optional
            Only units finished in this round, with the codings made in it. By default every finished unit
            counts once, as its coder decided on it in the round that they finished last; rounds of training
            (with gold decisions) and of discussion are left out then.
        coder : str, optional
            Only the decisions of this coder (and, with `consensus`, those agreed among all).
        facet : str, optional
            A facet of the codebook, to decide on each of its values by itself, in place of the code: with
            "valence" `relational.valence=met`, `relational.valence=unmet` and so on.
        consensus : bool
            Whether to add the decisions of the coder ``consensus``: what all coders decided alike, and the
            rulings, carried over too, on the rest (`adjudication.consensus`). In a round, rulings count on
            the units that were finished in it. What coders revised in a discussion counts here, and here
            alone. Statistics of agreement leave these decisions out.
        single : bool
            With `consensus`, whether a unit that one coder alone decided on counts as agreed, as in the usual
            design in which part of the units is coded twice.
        before_suggestions : bool
            Whether each coder's decisions on a unit count as they were before a model's suggestions for it
            were shown to them; where they were shown from the start, none count. ``agreement.before_after(
            store.decisions(before_suggestions=True), store.decisions())`` reports the two apart.
        models : bool
            Whether the decisions of models (``model-…``, `frames.is_model`) are there as well, as
            `agreement.human_model` takes them. One that `coder` names is there in any case. They never enter
            what is agreed.
        viewer : str, optional
            Only of what this coder may see while others are blind, as for `acts`.

        Returns
        -------
        DataFrame
            unit_id, coder, code, applied (bool): what every statistic takes.

        Raises
        ------
        ArgumentError
            There is no such round or coder, `consensus` or `single` do not fit the rest, or a switch is
            neither True nor False.
        CodebookError
            The codebook has no such facet.
        TableError
            Versions that no revision joins.
        StoreError
            As of `acts`, or the codebook was revised elsewhere since this store was opened.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import pandas as pd
        >>> from sense7_qual import acts
        >>> sense7 = Codebook.read("sense7")
        >>> units = pd.DataFrame({"unit_id": ["m17"], "text": ["It listened."], "document_id": ["d1"],
        ...                       "case_id": ["p1"], "position": [0]})
        >>> store = Store.create(Path(tempfile.mkdtemp()) / "pilot", units=units, codebook=sense7)
        >>> store.append([acts.apply(coder="ana", unit_id="m17", code="interest", codebook=sense7),
        ...               acts.finish(coder="ana", unit_id="m17", codebook=sense7)])
        2
        >>> decisions = store.decisions()
        >>> len(decisions), decisions.loc[decisions["applied"], "code"].tolist()
        (7, ['interest'])
        """
        check_arguments(Store.decisions, locals(), but=("coder", "round"))
        choice = decide.Choice(round=round, coder=coder, facet=facet, consensus=consensus, single=single,
                               before_suggestions=before_suggestions, models=models)  # fmt: skip
        self._refuse_superseded()
        if self._backend.changed(self._known):
            self._look_again()  # another notebook may have recorded a withdrawal
        try:
            return decide.decide(self.acts(viewer=viewer), self._known, self.coders, choice)
        except TableError:
            if self._backend.current() == self.codebook.fingerprint:
                raise
            raise StoreError(revise.newer_codebook(self.path)) from None

    def rulings(self, *, viewer: str | None = None) -> list[Act]:
        """Return the rulings that stand, in the codes of the current codebook.

        One per unit × code, the latest, whoever made it; carried over where the codebook was revised since
        (`codings.rulings` says how). `adjudication.consensus`, `queue`, `remaining` and `overruled` take
        them. Without the units of participants who withdrew; with `viewer`, only what that coder may see.

        Raises
        ------
        StoreError
            As of `acts`.
        TableError
            Versions that no revision joins.
        """
        check_arguments(Store.rulings, locals())
        withdrawn_units = self._known.withdrawn_units
        there = [act for act in self.acts(viewer=viewer) if act.unit_id not in withdrawn_units]
        return decide.rulings_after(there, self._known, revise.history(there))

    def quotes(self, *, viewer: str | None = None) -> pd.DataFrame:
        """Return what is decided about quotes: which may be printed, in which words, and who said so.

        One row per quote (`frames.QUOTES`): of decisions about words that overlap, under one code, the last
        one, whoever made it; carried over where the codebook was revised since (`codings.quotes` says how).
        Without the units of participants who withdrew; with `viewer`, only what that coder may see.
        **Paraphrases may hold what a participant told.** `report.tables.quote` and `report.paper` print what
        is approved.

        Raises
        ------
        StoreError
            As of `acts`.
        TableError
            Versions that no revision joins.
        """
        check_arguments(Store.quotes, locals())
        withdrawn_units = self._known.withdrawn_units
        there = [act for act in self.acts(viewer=viewer) if act.unit_id not in withdrawn_units]
        return decide.quotes_after(there, self._known, revise.history(there))

    def _standing(self, coder: str | None, viewer: str | None) -> Record:
        withdrawn_units = self._known.withdrawn_units
        there = (act for act in self.acts(coder=coder, viewer=viewer) if act.unit_id not in withdrawn_units)
        return fold(there, codebook=self.codebook)

    def draft(self, work: str, *, coder: str) -> dict[str, Any] | None:
        """Return what a coder has begun and not saved, as `keep_draft` kept it.

        Parameters
        ----------
        work : str
            What it is a draft of, in small letters; the widgets call theirs "codebook" and "adjudication".
        coder : str
            Whose draft.

        Returns
        -------
        dict or None
            None where nothing is begun, and in PostgreSQL, which keeps no drafts.

        Raises
        ------
        StoreError
            The draft is not as it was written, or cannot be read.
        ArgumentError
            `work` is no word of small letters.

        Examples
        --------
        ``store.draft("codebook", coder="lead")``
        """
        check_arguments(Store.draft, locals())
        return self._backend.draft(drafts.checked_work(work), check_coder(coder))

    def keep_draft(self, work: str, draft: Mapping[str, Any] | None, *, coder: str) -> bool:
        """Keep what a coder has begun and not saved, so that it outlives the kernel and the page.

        In a folder it is a file of its own that only its owner can open (``drafts/``). It belongs to no
        record: no copy, archive, hand-out or export has it, and a withdrawal takes the participant's words
        out of it.

        Parameters
        ----------
        work : str
            What it is a draft of, in small letters; the widgets call theirs "codebook" and "adjudication".
        draft : mapping or None
            What JSON can hold; it takes the place of the draft before. None, or what is empty: nothing is
            begun any more, and the file is removed.
        coder : str
            Whose draft.

        Returns
        -------
        bool
            Whether drafts are kept here: PostgreSQL keeps none.

        Raises
        ------
        StoreError
            It cannot be written, or a later version wrote the study. The draft before is still there.
        ActError
            It repeats words of a participant who withdrew while this store was open.
        ArgumentError
            `work` is no word of small letters, or JSON cannot hold the draft.

        Examples
        --------
        ``store.keep_draft("codebook", {"note": "Split warmth?"}, coder="lead")``
        """
        check_arguments(Store.keep_draft, locals())
        work, coder, plain = drafts.checked_work(work), check_coder(coder), drafts.plain(draft)
        while True:
            if plain and any(
                words.repeated_in(text) for words in self._withdrawn for text in drafts.strings(plain)
            ):
                raise ActError(
                    "keep_draft: expected no words of participants who withdrew – found a passage of "
                    "theirs – write it without; the draft before is kept."
                )
            try:
                return self._backend.keep_draft(work, coder, plain or None, self._known)
            except forget.Overtaken:
                self._look_again()

    def verify(self) -> pd.DataFrame:
        """Check the whole study on the disk: every file, act, quote and memo, and the fold of the acts.

        A bit that was flipped in anything that is stored shows (`verification` says what vouches for what).
        Nothing is raised on damage: it is reported; so are acts, and a codebook, that were seen on this
        computer and are not there any more, because an older copy was put in their place.

        Returns
        -------
        DataFrame
            One row per file: file; coder and n_acts (Int64) for an acts file, missing where it cannot be
            read; ok (bool); problem (string; empty where ok); note (string): who withdrew, which copies were
            made, files of sync clients. Of a study in PostgreSQL one row for the units, each version of the
            codebook, each note (for the lead) and each coder of whom the role sees acts.
        """
        findings = self._backend.verify(self._known)
        with suppress(StoreError):  # reported among the rest
            last = self._superseded(self._backend.current())
            if last is not None:
                findings.append(verify.Finding("current codebook", problem=revise.older_study(last)))
        return verify.frame_of(findings)

    def accept_loss(self, coder: str, *, by: str | None = None, why: str = "") -> pd.DataFrame:
        """Accept that acts of `coder` are gone, or are not what was written, for good.

        Where an older copy was put in the place of a coder's acts, `acts`, `append` and `verify` say so until
        they are back (`merge` with a copy that has them). Call this where no copy has them. In a folder it
        changes nothing in the study: a damaged file is moved away by hand (`salvage`).

        In PostgreSQL a row that somebody added to a coder's tables past this package hinders `decisions`,
        `archive` and `backup`. There the lead takes such rows out with this: each act that is not what was
        written leaves the tables, the others stay, in their order, and a memo of `by` on the study says in
        the record how many left, and why. Call `salvage` before, which keeps a copy of what is sound.

        Parameters
        ----------
        coder : str
            The pseudonym whose acts these are.
        by : str, optional
            The lead's own pseudonym, whose memo records it; needed where rows are taken out.
        why : str
            What became known of these rows, for the memo.

        Returns
        -------
        DataFrame
            One row per act or text that was taken out: seq (0 for a text), act_id, unit_id (both missing
            where unknown), problem. Without a row in a folder.

        Raises
        ------
        ActError
            `coder` cannot be a pseudonym, or rows are to be taken out and nobody is named as `by`.
        StoreError
            The role does not code as `by`, or the server cannot be reached; nothing was taken out.
        """
        check_arguments(Store.accept_loss, locals())

        def note(lost: pd.DataFrame) -> Act:
            return loss_memo(lost, coder, by=by, why=why, codebook=self.codebook)

        return self._backend.accept_loss(check_coder(coder), self._known, note)

    def salvage(self, coder: str, path: str | Path) -> Salvage:
        """Write all sound acts of a coder whose acts are damaged into a new acts file, and say which are not.

        An act is sound if it is, by its own hash, what was written. Nothing in the study is changed.
        Afterwards move the damaged file (``acts/<coder>.sqlite``) out of the study and keep it, and take the
        new one in with `merge`; then merge a backup, which may have the acts that were lost.

        Parameters
        ----------
        coder : str
            The pseudonym.
        path : str or Path
            The new file, outside of the study; words of participants who withdrew do not go into it.

        Returns
        -------
        Salvage
            How many acts were saved, and in `lost` which were not.

        Raises
        ------
        StoreError
            There is no such coder, nothing sound was found, something is at `path`, or the disk refuses.
        """
        check_arguments(Store.salvage, locals())
        return self._backend.salvage(check_coder(coder), Path(path).absolute(), self._known)

    def merge(self, other: Store | str | Path, *, coders: Collection[str] | None = None) -> merge.Merge:
        """Take in what another copy of this study has and this one has not; nothing here is changed.

        Merging twice, or after a crash once more, gives the same acts. Where a coder worked in two copies,
        the acts of both stay, in the order in which they were done (`_operations/merge.py` says how).

        Parameters
        ----------
        other : Store, str or Path
            Another copy of the study: a folder, an archive, a study in PostgreSQL that this role leads; or
            one acts file: a sync client's second copy, or a coder's file that came by mail. Into a study in
            PostgreSQL its lead merges, for all coders; a coder who is new there is the lead's, until
            `add_coder` hands them over.
        coders : collection of str, optional
            Whose new acts are taken in; where there are new ones of anybody else, nothing is merged. By
            default those of everybody, but of a folder that was handed to a coder (`hand_out`) that coder's
            alone: nobody else works there, and a ruling or a round unblinded there is none of the lead's.

        Returns
        -------
        Merge
            What became of each act, in `items`; versions of the codebook that came with them; participants
            whose withdrawal is known there and not here.

        Raises
        ------
        StoreError
            It is another study, is damaged or of a later version, it has new acts of others than are meant
            (`coders`), a file cannot be written, or the role does not lead. Coders whose acts were merged
            before stay so; merge again when that is mended.
        """
        check_arguments(Store.merge, locals())
        backend = other._backend if isinstance(other, Store) else open_backend(other)
        with backend.as_folder(self._backend.place) as copy:
            merged = self._backend.merge(copy, self._known, coders=coders, recorded=self._recorded_ids)
        self._look_again()
        return merged

    def _recorded_ids(self) -> set[str]:
        with suppress(StoreError):
            return {act.act_id for act in self.acts()}
        return set()  # what cannot be read here counts as new over there

    def backup(self, path: str | Path) -> None:
        """Copy the study to the new folder `path`, by SQLite's own backup, and verify the copy.

        The folder appears whole or not at all; one that is there is never written over. Coders may go on
        meanwhile. The study notes that the copy was made (`forget` says what older copies still hold). Of a
        study in PostgreSQL the copy is an archive, one file: `restore` makes a study of it.

        Raises
        ------
        StoreError
            Something is at `path`, the study is not sound, the role does not lead, or the disk refuses.
        """
        check_arguments(Store.backup, locals())
        self._backend.backup(Path(path).absolute())

    def hand_out(self, round: str, coder: str, path: str | Path) -> None:
        """Write the folder with which `coder` codes a round blind, on a computer of their own.

        It is a study folder with the units, the codebooks, the acts of the round's leads and the coder's own,
        and nothing that `acts` with ``viewer=coder`` would not show. `merge` takes their work in.

        Parameters
        ----------
        round : str
            A round that was opened.
        coder : str
            One of its coders.
        path : str or Path
            The new folder.

        Raises
        ------
        ActError
            There is no such round, the coder is not in it, or is a model.
        StoreError
            A lead has coded under the pseudonym that opened the round; something is at `path`, the study is
            not sound, the role does not lead, or the disk refuses. Nothing is left at `path`.
        """
        check_arguments(Store.hand_out, locals())
        self._backend.hand_out(round, check_person(coder), Path(path).absolute())

    def archive(self, path: str | Path) -> None:
        """Write the study as one zip file at `path`: the same study always as the same bytes.

        It holds every act as a line of JSON, the units, every codebook, and a manifest of hashes and
        versions, and can be read without this package. `restore` makes a study of it again. A folder and a
        study in PostgreSQL with the same content have the same archive, byte for byte.

        Raises
        ------
        StoreError
            Something is at `path`, the study is not sound, the role does not lead, or the disk refuses.
        """
        check_arguments(Store.archive, locals())
        self._backend.archive(Path(path).absolute())

    def bundle(
        self,
        path: str | Path,
        *,
        texts: Literal["withheld", "redacted", "all"],
        analysis_plan: AnalysisPlan | None = None,
        rating: str | None = None,
        cluster: str | None = None,
        seed: int | None = None,
        conditions: Sequence[str] = (),
        variables: Sequence[str] = (),
        names: Collection[str] = (),
        accept: Collection[str] = (),
        formats: Sequence[str] = ("csv", "docx"),
        title: str | None = None,
        authors: Sequence[str] = (),
        licence: str | None = None,
        keywords: Sequence[str] = (),
        software: str | None = None,
        overwrite: bool = False,
        progress: Progress | bool | None = None,
    ) -> None:
        """Write what a stranger needs to recompute every table and figure, to publish it (OSF, Zenodo).

        The folder has the units, codebooks and acts, the tables and figures (`report.paper`), a script and a
        notebook that recompute them and compare to the last byte, the versions of all packages, metadata
        (RO-Crate 1.1), and a README that says what is not in it. The script runs here twice, in a process of
        its own that knows the bundle alone: to write them, and to compare. ``Store(path)`` opens the folder,
        to read. The same study and versions give the same bytes. A withdrawal afterwards names the bundle.

        Parameters
        ----------
        path : str or Path
            The new folder; or a file in .zip, which holds it.
        texts : {"withheld", "redacted", "all"}
            What of the participants' words is in it. "withheld": none; a text of blocks, as long, stands for
            each. "redacted": the texts, with a block for each letter of an identifier that `redact.find` or
            `names` finds, and of words in the place of which a paraphrase is printed (`quotes`); what it
            does not find stays. "all": all. In the first two the examples of the
            codebook and what memos, proposals and notes say are withheld, and columns of words; so is what
            else repeats participants' words: a rule of a code, a reason for a revision, the question,
            hypotheses and answers of an analysis plan (25 letters and digits in a row, a whole text of 12 or
            more in three words or more, a name or identifier).
        analysis_plan : AnalysisPlan, optional
            What is analysed, as for `report.paper`; by default the one that was registered last.
        rating, cluster, seed : optional
            In the place of the plan's.
        conditions : sequence of str
            As for `report.paper`.
        variables : sequence of str
            Columns of words that stay: look at what is in them. Numbers, truth values, times, the rating, the
            cluster and conditions stay anyway.
        names : collection of str
            Names to redact, as for `redact.find`.
        accept : collection of str
            What you have looked at and publish as it is, by field or column: names and ids that repeat
            participants' words and that the record's hashes cover, so that none can be withheld ("round",
            "code", "coder", "column" …), and ids that look like addresses or names of people ("case_id",
            "document_id", "unit_id"). Without it these are refused.
        formats : sequence of str
            Of the tables, as for `report.paper`.
        title : str, optional
            What the bundle is called in its README and metadata; by default after the codebook.
        authors : sequence of str
            Who made it, each as "Family, Given; ORCID; affiliation", the last two of which may be left out.
            With authors it has ``CITATION.cff`` (1.2.0) and ``.zenodo.json``.
        licence : str, optional
            The SPDX identifier of a licence for data (CC0-1.0, CC-BY-4.0 and the other Creative Commons
            licences 4.0, ODbL-1.0, ODC-By-1.0, PDDL-1.0); without one LICENSE.md asks for it.
        keywords : sequence of str
            What it is about.
        software : str, optional
            The address of the software that it was made with, https://….
        overwrite : bool
            Whether an earlier bundle at `path` is replaced.
        progress : bool or callable, optional
            True shows a bar; a function is told (done, total).

        Raises
        ------
        ArgumentError
            `texts`, a format, a column or the licence is another one, an author, an ORCID (its last sign
            checks the others, ISO 7064 MOD 11-2) or an address is none, no text was finished, or a name or id
            repeats participants' words, or looks like a person's, and is not accepted.
        StoreError
            Something is at `path`, it is within the study, the study is a bundle or not sound, the role does
            not lead, the disk refuses, or the script fails or gives another result the second time. Nothing
            is left at `path`.

        Examples
        --------
        ``store.bundle("published", texts="withheld", rating="Warmth", progress=True)``
        """
        check_arguments(Store.bundle, locals())
        target = Path(path).absolute()
        self._refuse_within(target)
        plan = self._plan_with(analysis_plan, rating=rating, cluster=cluster, seed=seed)
        wish = bundles.Wish(
            plan=plan, texts=texts, title=title, conditions=tuple(conditions), variables=tuple(variables),
            names=tuple(names), formats=tuple(formats), overwrite=overwrite,
            paraphrased=decide.paraphrased(self.quotes()), accept=tuple(accept),
            cited=citation(authors, licence, keywords, software),
        )  # fmt: skip
        bundles.check(wish, [str(name) for name in self._known.units.columns])
        if self.decisions().empty:
            raise ArgumentError(
                "bundle: expected texts that a coder has finished – found none – make it when some are."
            )
        place = self._backend.place
        with self._backend.as_folder(place) as folder:
            bundles.write(folder, target, wish, home=place, note=self._backend.note_copy, progress=progress)

    def _refuse_within(self, target: Path) -> None:
        """Refuse a bundle in the study folder: who copies the folder would copy what is not to be there."""
        if isinstance(self.path, Path) and target.resolve().is_relative_to(self.path.resolve()):
            raise StoreError(
                "bundle: expected a place outside of the study – found one within its folder – name another."
            )

    def _plan_with(self, given: AnalysisPlan | None, **asked: Any) -> AnalysisPlan:
        registered = self.preregistrations()
        plan = given or (
            registered[-1].plan if registered else AnalysisPlan(question="What do the codes show?")
        )
        return replace(plan, **{name: value for name, value in asked.items() if value is not None})

    @classmethod
    def restore(cls, archive: str | Path, path: str | Path) -> Store:
        """Make the new study `path` from a file that `archive` wrote, and open it.

        The study is equal to the one that was archived: archived again, it gives the same bytes. `path` is a
        folder, or an address in PostgreSQL as for `create`: the role leads the study there and codes as all
        of its coders, until `add_coder` hands each over to a role.

        Raises
        ------
        StoreError
            What the file holds is not byte for byte what `archive` wrote, something is at `path`, or the disk
            or server refuses.
        """
        check_arguments(Store.restore, locals())
        open_backend(path).restore(Path(archive).absolute())
        return cls(path)

    def forget(self, case_id: str, *, why: str) -> forget.Forgotten:
        """Remove the words of a participant who withdraws, everywhere this study keeps them.

        Units, quotes and memos of the participant are erased, also from what the database keeps in free
        pages, and so is what surely repeats their words: memos on other things, and the context and variables
        of other units. Case, white space, punctuation, accents and soft hyphens make no difference. What only
        may repeat them is listed, and nobody else's text is changed. Ids and hashes stay, so that `verify`
        still passes. Their units leave `units`, `codings`,
        `coverage` and `memos`; `acts` still has the acts, without words. This cannot be undone.

        Damaged acts of a coder hinder nothing: what can be found in them is erased, and they are named in
        ``still_held`` as ``damaged``. Save what is sound in them (`salvage`), or put a good copy back, and
        call this again.

        Parameters
        ----------
        case_id : str
            The participant, as in `units`.
        why : str
            The reason, for the record; it stays in the study and must not name or quote the participant.

        Returns
        -------
        Forgotten
            What was erased, and what still holds it, or may hold it, with what to do about it.

        Raises
        ------
        StoreError
            There is no such participant, `why` repeats their words, a note or the units are damaged, the role
            does not lead, or the disk or server refuses: call again then.
        """
        check_arguments(Store.forget, locals())
        forgotten = self._backend.forget(case_id, why=why)
        self._look_again()
        return forgotten

    def _read(self, *, forget_again: bool = False) -> Opened:
        """Read all but the acts; refuse, or remove again, the words of participants who withdrew."""
        known = self._backend.read()
        heads = self._backend.heads(known.study.id)
        back = known.units.loc[known.units["unit_id"].isin(heads.withdrawn), "case_id"].dropna().unique()
        if len(back) and not forget_again:
            raise StoreError(
                f"study: expected no texts of participants who withdrew – found those of {first_three(back)} "
                "again, since an older copy of the study was put in its place – open it with "
                f"Store({str(self._backend.address)!r}, forget_again=True), which removes them again."
            )
        for case_id in back:
            self._backend.forget(case_id, why="An older copy of the study had brought the texts back.")
        known = self._backend.read() if len(back) else known
        heads.note_withdrawn(known.withdrawn_units)
        return self._with_appearance(known)

    def _with_appearance(self, known: Opened) -> Opened:
        """Return the study with codebooks that know in which order the ids of all its versions appeared."""
        if len(known.codebooks) == 1:
            return known
        revisions: tuple[Revision, ...] = ()
        with suppress(StoreError, CodebookError):  # acts that cannot be read are told of where they are read
            revisions = revise.history(self._backend.lead_acts(known, "codebook"))
        order = dict.fromkeys(one for step in revisions for one in (step.base, step.codebook))
        versions = [known.codebooks[one] for one in (*order, known.study.codebook) if one in known.codebooks]
        appeared = tuple(dict.fromkeys(one for version in versions for one in version.ids))
        books = {name: copy(book) for name, book in known.codebooks.items()}  # one of a bundle keeps its name
        for book in books.values():
            object.__setattr__(book, "appeared", appeared)
        return replace(known, codebooks=books)

    def _look_again(self, current: str | None = None) -> None:
        """Read all but the acts: others may have withdrawn a participant or added a codebook.

        What this store calls current stays, so that a change of it can be told from a change of another's.
        """
        known = self._read()
        self._withdrawn += forget.words_of(
            self._known.units, known.withdrawn_units - self._known.withdrawn_units
        )
        current = current or self._known.study.codebook
        self._known = replace(known, study=replace(known.study, codebook=current))
        self._remember_codebook(known.study.codebook)


def open_backend(path: str | Path) -> Backend:
    """Return the folder or the database at a path or address; no study need be there yet."""
    if is_address(path):
        return Team(connect(str(path)))
    folder = Path(path).absolute()
    return Bundle(folder) if is_bundle(folder) else Folder(folder)
