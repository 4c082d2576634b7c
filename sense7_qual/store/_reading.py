"""What can be read of a study without changing it: the part of `Store` that a bundle answers as well.

It bears the name of the whole, by which messages call its methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import pandas as pd

from sense7_qual._arguments import check_arguments, refuse_removed
from sense7_qual.acts import Act, Preregistration, preregistrations
from sense7_qual.adjudication import SettledBy
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
        counts = [
            (len(self._study.known.units), "unit"),
            (len(self.codebook.codes), "code"),
            (len(self.coders) - models, "coder"),
            (models, "model"),
        ]
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
        round: str | Sequence[str | None] | None = None,
        coder: str | Sequence[str] | None = None,
        facet: str | None = None,
        settled_by: SettledBy | None = None,
        codebook: str | None = None,
        waiting: Literal["leave coders out"] | None = None,
        models: bool = False,
        viewer: str | None = None,
        **removed: object,
    ) -> pd.DataFrame:
        """Return decisions on texts and codes: each coder's first independent ones, or what was settled.

        By default what each coder decided first, before they could read another's decisions on the text or a
        model's suggestion: what agreement is about. With `settled_by` what the study holds in the end, for
        counts and links: the same texts, of each coder the last decision, also of those that one coder alone
        coded. The column ``basis`` says in words what is in and what was left out, and travels into results,
        tables and figures.

        Codings under earlier versions of the codebook are carried over to ``store.codebook`` by the study's
        revisions. Those that wait for review are missing, never absent; of a code that was narrowed, widened
        or split, nothing that anybody decided before the change counts until all of it is reviewed
        (`codings.decisions` says how, `codings.stale` lists them). Units of withdrawn participants are left
        out.

        Parameters
        ----------
        round : str or sequence of str, optional
            Only these rounds; None among them stands for what was coded in no round. By default those of the
            registered plan, if it names any, with what was coded in no round, or else all; without rounds of
            training (with gold decisions) and of discussion. Of a round asked for by name, decisions that its
            coders made after seeing others are in, and counted.
        coder : str or sequence of str, optional
            Only these coders; by default those of the registered plan, or all.
        facet : str, optional
            A facet of the codebook, to get one decision for each of its values instead of the code: with
            "valence" `relational.valence=met`, `relational.valence=unmet` and so on.
        settled_by : {"rulings", "discussion", "majority", "nothing", "any"}, optional
            How disagreements count. ``"rulings"``: what all coders of a text decided alike, and rulings on
            the rest, as the coder ``consensus``; what nobody ruled on is left out. ``"discussion"``: the same
            without rulings. ``"majority"``: more than half, as the coder ``majority``; ties are left out.
            ``"any"``: a code counts once anybody applied it. ``"nothing"``: each coder's own last decisions.
        codebook : str, optional
            The fingerprint of an earlier version of the codebook, or its first digits: decisions made under
            it and before, in its codes.
        waiting : {"leave coders out"}, optional
            Of a code that was narrowed, widened or split, leave out the coders who have something to review
            instead of everybody.
        models : bool
            Whether to include decisions of models (``model-…``, `frames.is_model`), as
            `agreement.human_model` takes them. A model that `coder` names is included in any case. They never
            count towards what is settled.
        viewer : str, optional
            Only what this coder may see, as for `acts`.

        Returns
        -------
        DataFrame
            unit_id, coder, code, applied (bool), basis: what every statistic takes.

        Raises
        ------
        ArgumentError
            There is no such round, coder or version, or `settled_by` does not fit `facet`.
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
        refuse_removed(removed, decide.REMOVED, function="decisions")
        check_arguments(Store.decisions, locals(), but=("coder", "round", "removed"))
        study = self._study
        choice = decide.choice(
            round, coder, facet=facet, settled_by=settled_by, leave_out=waiting is not None, models=models
        )
        study.refuse_superseded(study.heads.seen())
        study.look_for_withdrawals()
        try:
            return decide.decisions(
                study.acts(viewer=viewer), study.known, self.coders, choice, codebook=codebook
            )
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
