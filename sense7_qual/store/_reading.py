"""What can be read of a study without changing it: the part of `Store` that a bundle answers as well.

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
from sense7_qual.errors import StoreError, TableError
from sense7_qual.frames import is_model
from sense7_qual.rounds import Round, opened, planned
from sense7_qual.store._open_study import OpenStudy
from sense7_qual.store._operations import decide, revise
from sense7_qual.store._operations.contents import Options, options_after
from sense7_qual.themes import Themes, recorded


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
        """The study folder, or the address of the study in PostgreSQL."""
        return self._study.reads.place.address

    @property
    def units(self) -> pd.DataFrame:
        """The units, one row per unit; changing this copy does not change the study."""
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
        """Coders with at least one readable act, sorted."""
        return self._study.reads.coders()

    @property
    def plan(self) -> pd.DataFrame:
        """Who codes what, in which order: what `assign` assigned, and the rounds that were opened.

        Everybody may see it. If two leads assigned at the same time, in two copies or two notebooks, a coder
        has the units of the first assignment (by time, then act_id) and then those of the other, so that
        nobody loses any; the next `assign` makes one plan of both.

        Returns
        -------
        DataFrame
            One row per coder × unit × round (`frames.PLAN`): coder, unit_id, round (missing: no round), place
            (from 0, in the coder's order). Without units of withdrawn participants; empty if nothing was
            assigned and no round opened.

        Raises
        ------
        StoreError
            Acts of a lead that this computer has seen are missing; or there is no plan, and acts that may
            have held it are damaged or missing.
        """
        known = self._study.known
        return planned(self._study.lead_acts(), units=known.texts.keys() | known.withheld)

    @property
    def rounds(self) -> tuple[Round, ...]:
        """Rounds, oldest first (`rounds.opened`).

        Everybody may see them. Errors as of `plan`.
        """
        return opened(self._study.lead_acts())

    @property
    def options(self) -> Options:
        """How the coders work, as the lead decided (`set_options`).

        Everybody may see it. If two leads set one option, in two copies or two notebooks, the later act
        counts, by time and then act_id. Errors as of `plan`.
        """
        return options_after(self._study.lead_acts())

    @property
    def preregistrations(self) -> tuple[Preregistration, ...]:
        """Registered analysis plans, oldest first.

        Everybody may see them. Errors as of `plan`.
        """
        return preregistrations(self._study.lead_acts("plan"))

    @property
    def themes(self) -> Themes:
        """The themes recorded last, as people have named, merged, split and dismissed them.

        Terms and labels are computed from the current texts (`themes.recorded`). Needs the extra ``themes``.

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
        """Revisions of the codebook, oldest first: who changed what, when and why.

        Raises
        ------
        StoreError
            As of `acts`; or an older copy of ``study.json`` replaced the one that this computer has seen.
        """
        self._study.refuse_superseded(self._study.heads.seen())
        return self._study.history()

    def acts(
        self, *, coder: str | None = None, kind: str | None = None, viewer: str | None = None
    ) -> list[Act]:
        """Return the recorded acts, each coder's in the order of recording.

        Parameters
        ----------
        coder : str, optional
            Only this coder's; by default every coder's, in the order of `coders`. Empty for a coder without
            acts.
        kind : str, optional
            Only acts of this kind (`help(sense7_qual.acts)` lists them), and the undo and redo acts about
            them, so that what was undone stays undone.
        viewer : str, optional
            Only what this coder may see while others are blind: their own acts, what the lead did for the
            team, and every act of an unblinded round (`rounds.visible`). For a folder that holds everybody's
            files; in PostgreSQL the database already keeps the rest from a coder's role.

        Raises
        ------
        StoreError
            An acts file is damaged, or belongs to another study or coder. The others still open with
            `coder`.
        ActError
            `coder` or `viewer` cannot be a pseudonym, or `kind` does not exist.
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
        """Return the current codings, one row per unit, coder, code and span (`frames.CODINGS`).

        Each facet of ``store.codebook`` is a further column, and so is a facet of an earlier version that a
        coding states.

        Like `decisions`, this leaves out rounds of training and of discussion, unless `round` names one: then
        it has that round only. Units of withdrawn participants are left out. With `viewer`, only what that
        coder may see (`acts`). Codings of models (``model-…``) are included with `models`, or if `coder`
        names a model.

        Raises
        ------
        ArgumentError
            The study has no such round.
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
        """Return one row per unit that a coder has finished (`frames.COVERAGE`); see `codings`."""
        check_arguments(Store.coverage, locals(), but=("round",))
        frame: pd.DataFrame = self._study.standing(coder, viewer).coverage
        return decide.of_study(frame, self.rounds, round, models=models or coder is not None)

    def memos(self, *, coder: str | None = None, viewer: str | None = None) -> pd.DataFrame:
        """Return the current memos (`frames.MEMOS`); with `viewer`, their own and those for the team.

        A memo with a round is for the team: others see it once the round is unblinded. `report.tables.memo`
        makes a table of them.
        """
        check_arguments(Store.memos, locals())
        return self._study.standing(coder, viewer).memos

    def proposals(self, *, coder: str | None = None, viewer: str | None = None) -> pd.DataFrame:
        """Return the codes that coders have proposed and not withdrawn (`frames.PROPOSALS`).

        One row per proposal: proposal_id, coder, at, label, definition, unit_id, start, end (code points;
        missing: the whole unit), round, origin (the model that proposes it; missing for a coder's own). Who
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
        """Return one decision per finished unit, coder and code: whether the code is applied.

        Codings under earlier versions of the codebook are carried over to ``store.codebook`` by the study's
        revisions. Stale ones are left out: missing, never absent (`codings.decisions` says how,
        `codings.stale` lists them). Units of withdrawn participants are left out.

        Parameters
        ----------
        round : str, optional
            Only units finished in this round, with the codings made in it. By default every finished unit
            counts once, as its coder decided in the round finished last, without rounds of training (with
            gold decisions) and of discussion.
        coder : str, optional
            Only the decisions of this coder (and, with `consensus`, those agreed among all).
        facet : str, optional
            A facet of the codebook, to get one decision for each of its values instead of the code: with
            "valence" `relational.valence=met`, `relational.valence=unmet` and so on.
        consensus : bool
            Whether to add the decisions of the coder ``consensus``: what all coders decided alike, and
            rulings on the rest (`adjudication.consensus`). In a round, rulings count on the units finished in
            it. Revisions in a discussion count here only. Statistics of agreement leave these decisions out.
        single : bool
            With `consensus`, whether a unit with one coder counts as agreed, as in the usual design in which
            part of the units is coded twice.
        before_suggestions : bool
            Whether to take each coder's decisions as they were before a model's suggestions were shown; if
            these were shown from the start, there are none. ``agreement.difference(
            store.decisions(before_suggestions=True), store.decisions())`` compares the two.
        models : bool
            Whether to include decisions of models (``model-…``, `frames.is_model`), as
            `agreement.human_model` takes them. A model that `coder` names is included in any case. They never
            count towards the consensus.
        viewer : str, optional
            Only what this coder may see, as for `acts`.

        Returns
        -------
        DataFrame
            unit_id, coder, code, applied (bool): what every statistic takes.

        Raises
        ------
        ArgumentError
            There is no such round or coder, or `consensus` or `single` does not fit the rest.
        CodebookError
            The codebook has no such facet.
        TableError
            No revision joins two versions of the codebook.
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
        """Return the current rulings, in the codes of the current codebook.

        The latest per unit and code, whoever made it; carried over where the codebook was revised since
        (`codings.rulings` says how). `adjudication.consensus`, `queue`, `remaining` and `overruled` take
        them. Without units of withdrawn participants; with `viewer`, only what that coder may see.

        Raises
        ------
        StoreError
            As of `acts`.
        TableError
            No revision joins two versions of the codebook.
        """
        check_arguments(Store.rulings, locals())
        there = self._study.acts_there(viewer=viewer)
        return decide.rulings_after(there, self._study.known, revise.history(there))

    def quotes(self, *, viewer: str | None = None) -> pd.DataFrame:
        """Return the current decisions about quotes: may they be printed, in which words, and who decided.

        One row per quote (`frames.QUOTES`): the last decision about overlapping words under one code, whoever
        made it; carried over where the codebook was revised since (`codings.quotes` says how). Without units
        of withdrawn participants; with `viewer`, only what that coder may see. **Paraphrases may hold what a
        participant told.** `report.tables.quote` and `report.paper` print approved quotes.

        Raises
        ------
        StoreError
            As of `acts`.
        TableError
            No revision joins two versions of the codebook.
        """
        check_arguments(Store.quotes, locals())
        there = self._study.acts_there(viewer=viewer)
        return decide.quotes_after(there, self._study.known, revise.history(there))
