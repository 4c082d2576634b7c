"""What can be read of a study without changing it: the part of `Store` that a bundle can answer, too.

It bears the name of the whole, by which messages call its methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual.acts import Act, Preregistration, preregistrations
from sense7_qual.codebook import Codebook, Revision
from sense7_qual.corpus import planned
from sense7_qual.errors import StoreError, TableError
from sense7_qual.frames import is_model
from sense7_qual.rounds import Round, opened
from sense7_qual.store._open_study import OpenStudy
from sense7_qual.store._operations import decide, revise
from sense7_qual.store._operations.contents import Options, options_after
from sense7_qual.themes import Themes, recorded

__all__ = ["Store"]


class Store:
    """What needs no argument is a property; what is read with a choice is a method."""

    __slots__ = ("_study",)

    _study: OpenStudy

    def __repr__(self) -> str:
        models = sum(map(is_model, self.coders))
        counts = [(len(self._study.known.units), "unit"), (len(self.codebook.codes), "code"),
                  (len(self.coders) - models, "coder"), (models, "model")]  # fmt: skip
        named = [f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in counts if n or noun != "model"]
        return f"Store({', '.join(named)})"

    @property
    def path(self) -> Path | str:
        """The study folder, or the address of the study in PostgreSQL: what `Store` opens it by."""
        return self._study.reads.place.address

    @property
    def units(self) -> pd.DataFrame:
        """The units, one row per unit; a copy, which may be changed without changing the study."""
        return self._study.known.units.copy()

    @property
    def codebook(self) -> Codebook:
        """The current codebook."""
        return self._study.known.codebook

    @property
    def codebooks(self) -> Mapping[str, Codebook]:
        """Every version of the codebook, by fingerprint."""
        return MappingProxyType(dict(self._study.known.codebooks))

    @property
    def coders(self) -> tuple[str, ...]:
        """The pseudonyms of the coders of whom there are acts to be read here, sorted."""
        return self._study.reads.coders()

    @property
    def plan(self) -> pd.DataFrame:
        """Who codes what, in which order: what `assign` dealt, and the rounds that were opened.

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
        return planned(self._study.lead_acts(), units=self._study.known.texts)

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds that stand, in the order in which they were opened (`rounds.opened`).

        Everybody may see them. Errors as of `plan`.
        """
        return opened(self._study.lead_acts())

    @property
    def options(self) -> Options:
        """How the coders work, as the lead settled it (`set_options`).

        Everybody may see it. Where two leads set one option, in two copies or two notebooks, the later act
        counts, by its time and then its act_id. Errors as of `plan`.
        """
        return options_after(self._study.lead_acts())

    @property
    def preregistrations(self) -> tuple[Preregistration, ...]:
        """The analysis plans that were registered, in order of time.

        Everybody may see them. Errors as of `plan`.
        """
        return preregistrations(self._study.lead_acts("plan"))

    @property
    def themes(self) -> Themes:
        """The themes that were recorded last, as people named, merged, split and dismissed them.

        Terms and labels are computed from the texts that the study has now (`themes.recorded`); it needs the
        extra ``themes``.

        Raises
        ------
        TableError
            No themes were recorded.
        StoreError
            As of `plan`.
        """
        return recorded(self._study.lead_acts("themes"), self.units)

    @property
    def revisions(self) -> tuple[Revision, ...]:
        """How the codebook came to be: who changed what, when and why, in order (`revisions`).

        Raises
        ------
        StoreError
            As of `acts`; or the current codebook is an older one than was current here before: an older copy
            of ``study.json`` was put in its place.
        """
        self._study.refuse_superseded(self._study.heads.seen())
        return self._study.history()

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
        return self._study.acts(coder=coder, kind=kind, viewer=viewer)

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
        frame: pd.DataFrame = self._study.standing(coder, viewer).codings
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
        frame: pd.DataFrame = self._study.standing(coder, viewer).coverage
        return decide.of_study(frame, self.rounds, round, models=models or coder is not None)

    def memos(self, *, coder: str | None = None, viewer: str | None = None) -> pd.DataFrame:
        """Return the memos that stand now (`frames.MEMOS`); with `viewer`, theirs and those for the team.

        A memo is for the team if it has a round, and others see it once that is unblinded.
        `report.tables.memo` makes a table of them, which can be written.
        """
        check_arguments(Store.memos, locals())
        return self._study.standing(coder, viewer).memos

    def proposals(self, *, coder: str | None = None, viewer: str | None = None) -> pd.DataFrame:
        """Return the codes that coders proposed and did not take back (`frames.PROPOSALS`).

        One row per proposal: proposal_id, coder, at, label, definition, unit_id, start, end (code points;
        missing: the whole unit), round, origin (the model that proposes it; missing where a coder does). Who
        may see it: as of `codings`.
        """
        check_arguments(Store.proposals, locals())
        return self._study.standing(coder, viewer).proposals

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
        >>> from sense7_qual.store import Store
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
        study = self._study
        choice = decide.Choice(round=round, coder=coder, facet=facet, consensus=consensus, single=single,
                               before_suggestions=before_suggestions, models=models)  # fmt: skip
        study.refuse_superseded(study.heads.seen())
        study.look_for_withdrawals()
        try:
            return decide.decide(study.acts(viewer=viewer), study.known, self.coders, choice)
        except TableError:
            if study.reads.current().codebook == self.codebook.fingerprint:
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
        there = self._study.acts_there(viewer=viewer)
        return decide.rulings_after(there, self._study.known, revise.history(there))

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
        there = self._study.acts_there(viewer=viewer)
        return decide.quotes_after(there, self._study.known, revise.history(there))
