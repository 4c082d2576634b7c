"""Copies of a study (`Store.copies`), and what the lead mends in it (`Store.admin`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from sense7_qual._arguments import Progress, check_arguments
from sense7_qual.acts import Act, check_coder, check_person, preregistrations
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.adjudication import Choice, SettledBy
from sense7_qual.errors import ArgumentError, StoreError
from sense7_qual.store import _open_study
from sense7_qual.store._bundle import write as bundles
from sense7_qual.store._bundle.describe import citation
from sense7_qual.store._open_study import OpenStudy
from sense7_qual.store._operations import archive, decide, hand_out, merge, revise, salvage
from sense7_qual.store._reading import Store
from sense7_qual.store._stored.acts_files import check_pseudonym


class Copies:
    """The copies of one study."""

    __slots__ = ("_study",)

    def __init__(self, study: OpenStudy) -> None:
        self._study = study

    def __repr__(self) -> str:
        return f"Copies({str(self._study.reads.place.address)!r})"

    def backup(self, path: str | Path) -> None:
        """Copy the study to the new folder `path` with SQLite's own backup, and verify the copy.

        The folder appears whole or not at all; an existing one is never overwritten. Coders can go on working
        meanwhile. The study notes that the copy was made (`forget` lists the copies that still hold words).
        For a study in PostgreSQL the copy is an archive, one file: `restore` turns it into a study.

        Raises
        ------
        StoreError
            Something exists at `path`, the study is damaged, the role does not lead, or the disk refuses.
        """
        check_arguments(Copies.backup, locals())
        archive.backup(self._study.log, Path(path).absolute())

    def archive(self, path: str | Path) -> None:
        """Write the study as one zip file; the same study always gives the same bytes.

        It holds every act as a line of JSON, the units, every codebook, and a manifest of hashes and
        versions, and can be read without this package. `restore` turns it into a study again. A folder and a
        study in PostgreSQL with the same content give the same archive, byte for byte.

        Raises
        ------
        StoreError
            Something exists at `path`, the study is damaged, the role does not lead, or the disk refuses.
        """
        check_arguments(Copies.archive, locals())
        archive.archive(self._study.log, Path(path).absolute())

    def hand_out(
        self,
        round: str | None,
        coder: str,
        path: str | Path,
        *,
        variables: Sequence[str] = (),
        accept: Collection[str] = (),
    ) -> None:
        """Write what `coder` needs to code on their own computer: a study folder, or one file.

        It has the texts of this coder alone: those of the round, or of the plan, and those that they have
        already worked on. Of the other texts it has the ids. It has the codebooks, all acts of the coder, and
        of everybody else's acts those that `acts` with ``viewer=coder`` shows and that are needed to code
        these texts (rounds, plan, options, revisions, answers, what was unblinded). Rulings, quotes, memos
        that are not for the team, analysis plans and themes stay with the study, and so do variables. Where
        a codebook, a reason or another text that goes along may repeat a passage of a text that does not (18
        letters and digits in a row that one or two participants wrote, or 12 with a word that hardly anybody
        else uses), it asks. The study notes to whom it was given, and `merge` takes in their work alone.
        `forget` lists it.

        Parameters
        ----------
        round : str or None
            The name of an open round. None: the texts that `assign` gave them outside rounds, or all if the
            study has no plan and no round.
        coder : str
            One of its coders.
        path : str or Path
            The new folder, or a new .zip file, which ``sense7-qual code`` opens.
        variables : sequence of str
            Columns of `units` that go along in addition to the ids, text, position and context. The rating
            goes along only if the coding widget shows it (`Store.set_options`).
        accept : collection of str
            What you have looked at and hand out as it is, although it may repeat other texts: "codebook",
            "round" (its name) or a kind of act ("revise", "answer", "memo" …).

        Raises
        ------
        ArgumentError
            What goes along may repeat a passage of another text, and is not in `accept`.
        TableError
            The units have no such variable.
        ActError
            There is no such round, the coder is not in it or in the plan, or the coder is a model.
        StoreError
            Something exists at `path`, the study is damaged or was itself handed out, the role does not lead,
            or the disk refuses. Nothing is left at `path`.
        """
        check_arguments(Copies.hand_out, locals())
        wish = hand_out.Wish(
            round=round, coder=check_person(coder), variables=tuple(variables), accept=tuple(accept)
        )
        hand_out.hand_out(self._study.log, Path(path).absolute(), wish)

    def hand_in(self, path: str | Path) -> None:
        """Write the work of the coder to whom this folder was handed out to one .zip file, for `merge`.

        It has the acts of this coder alone, and no text but in their quotes and memos. An earlier file of the
        same hand-out at `path` is replaced, anything else is not.

        Raises
        ------
        StoreError
            The study is no folder that was handed out, something else exists at `path`, or the disk refuses.
        """
        check_arguments(Copies.hand_in, locals())
        folder = self._study.log.place.address
        hand_out.hand_in(Path(folder), Path(path).absolute())

    def merge(
        self, other: Store | str | Path, *, coders: Collection[str] | None = None, person: bool = False
    ) -> merge.Merge:
        """Take in what only another copy of this study has; nothing that is here is changed.

        Merging twice, or again after a crash, gives the same acts. If a coder worked in two copies, the acts
        of both stay, in the order in which they were done.

        Parameters
        ----------
        other : Store, str or Path
            Another copy of the study: a folder, an archive, a study in PostgreSQL that this role leads; or
            one acts file: a sync client's second copy, or a coder's file that came by mail. Into a study in
            PostgreSQL its lead merges, for all coders; a coder who is new there belongs to the lead's role,
            until `add_coder` hands them over.
        coders : collection of str, optional
            The coders with new acts to take in; if anybody else has new acts, nothing is merged. By default
            everybody; but from what was handed out (`hand_out`, `hand_in`) only the coder to whom this
            study gave it, whatever the file says, and only what coders do: a ruling or an unblinding made
            there is refused, as all acts of others are. Once the study has handed something out, name the
            coders of any other copy.
        person : bool
            True says that new coders with names like those of models ("claude", "gpt-4o") are people.

        Returns
        -------
        Merge
            What became of each act, in `items`; the codebook versions that came with them; participants with
            a withdrawal that only the other copy knows of.

        Raises
        ------
        ActError
            A new coder has the name of a model, and `person` is not True. Nothing was merged.
        StoreError
            It is another study, is damaged or was written by a newer version, it is a hand-out that this
            study did not give, it has new acts of coders not named in `coders`, a file cannot be written, or
            the role does not lead. Acts merged before the error stay; merge again once it is repaired.
        """
        check_arguments(Copies.merge, locals())
        study, log = self._study, self._study.log
        study.look_again()  # a copy in which somebody withdrew may have been opened here meanwhile
        reads = _open_study.at(other) if isinstance(other, str | Path) else other._study.reads
        scratch = log.place.scratch
        with (
            _open_study.writable(reads).as_folder(scratch) as copy,
            archive.unpacked(copy, scratch) as source,
        ):
            merged = merge.merge(
                log, source, study.known, coders=coders, recorded=self._recorded, person=person
            )
        study.look_again()
        return merged

    def _recorded(self) -> dict[str, Act]:
        with suppress(StoreError):
            return {act.act_id: act for act in self._study.acts()}
        return {}  # what cannot be read here counts as new over there

    def bundle(
        self,
        path: str | Path,
        *,
        texts: Literal["withheld", "redacted", "all"],
        analysis_plan: AnalysisPlan | None = None,
        rating: str | None = None,
        cluster: str | None = None,
        settled_by: SettledBy | None = None,
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
        """Write a folder to publish (OSF, Zenodo) from which anybody can recompute every table and figure.

        It has the units, codebooks and acts, the tables and figures (`report.paper`), a script and a notebook
        that recompute them and compare to the last byte, the versions of all packages, metadata (RO-Crate
        1.1), and a README that says what is not in it. The script runs here twice, in a process that sees
        only the bundle: to write, and to compare. ``Store(path)`` opens the folder read-only. The same study
        and versions give the same bytes. A later withdrawal names the bundle.

        Parameters
        ----------
        path : str or Path
            The new folder, or a new .zip file that holds it.
        texts : {"withheld", "redacted", "all"}
            How much of the participants' words is in it. "withheld": none; each text is replaced by blocks of
            the same length. "redacted": the texts, with a block for each letter of an identifier that
            `redact.find` or `names` finds, and of words for which a paraphrase is printed (`quotes`); what is
            not found stays. "all": all. The first two withhold the codebook's examples, the words of memos,
            proposals and notes, columns of words, and whatever else repeats participants' words: a rule of a
            code, a reason for a revision, the question, hypotheses and answers of an analysis plan (25
            letters and digits in a row, a whole text of 12 or more in three words or more, a name or
            identifier). "withheld" also withholds what may repeat a rare passage, and lists where it is in a
            warning before anything is written: 18 letters and digits in a row that one or two participants
            wrote, or 12 with a word that no more used and that is not common in its language.
        analysis_plan : AnalysisPlan, optional
            The plan, as for `report.paper`; by default the one registered last.
        rating, cluster, settled_by, seed : optional
            Instead of the plan's; as for `report.paper`.
        conditions : sequence of str
            As for `report.paper`.
        variables : sequence of str
            Columns of words to keep: look at their content first. Numbers, truth values, times, the rating,
            the cluster and conditions are kept anyway.
        names : collection of str
            Names to redact, as for `redact.find`.
        accept : collection of str
            Fields or columns that you have looked at and publish as they are. Rare passages in these fields
            ("codebook", "revise", "analysis plan" …) are published, and so are names and ids that repeat
            participants' words but cannot be withheld, because the record's hashes cover them ("round",
            "code", "coder", "column" …), and ids that look like addresses or names of people ("case_id",
            "document_id", "unit_id"). Otherwise these are refused.
        formats : sequence of str
            Of the tables, as for `report.paper`.
        title : str, optional
            The bundle's title in its README and metadata; by default the codebook's.
        authors : sequence of str
            Each as "Family, Given; ORCID; affiliation"; the last two are optional. With authors the bundle
            has ``CITATION.cff`` (1.2.0) and ``.zenodo.json``.
        licence : str, optional
            The SPDX identifier of a licence for data (CC0-1.0, CC-BY-4.0 and the other Creative Commons
            licences 4.0, ODbL-1.0, ODC-By-1.0, PDDL-1.0); without one LICENSE.md asks for it.
        keywords : sequence of str
            Keywords for the metadata.
        software : str, optional
            The address of the software that made it, https://….
        overwrite : bool
            Whether to replace an earlier bundle at `path`.
        progress : bool or callable, optional
            True shows a bar; a function is called with (done, total).

        Raises
        ------
        ArgumentError
            `texts`, a format, a column or the licence is unknown; an author, an ORCID (its last character
            checks the others, ISO 7064 MOD 11-2) or an address is malformed; no text is finished; several
            coders decided and nothing says how disagreements count; or a name or id repeats participants'
            words, or looks like a person's, and is not accepted.
        StoreError
            Something exists at `path`, `path` is within the study, the study is a bundle or damaged, the role
            does not lead, the disk refuses, or the script fails or gives another result the second time.
            Nothing is left at `path`.

        Examples
        --------
        ``store.copies.bundle("published", texts="withheld", rating="Warmth", progress=True)``
        """
        check_arguments(Copies.bundle, locals())
        log, known, target = self._study.log, self._study.known, Path(path).absolute()
        self._refuse_within(target)
        there = self._study.acts_there()
        quotes = decide.quotes_after(there, known, revise.history(there))
        plan = self._plan_with(
            analysis_plan, rating=rating, cluster=cluster, settled_by=settled_by, seed=seed
        )
        wish = bundles.Wish(
            plan=plan,
            texts=texts,
            title=title,
            conditions=tuple(conditions),
            variables=tuple(variables),
            names=tuple(names),
            formats=tuple(formats),
            overwrite=overwrite,
            paraphrased=decide.paraphrased(quotes),
            accept=tuple(accept),
            cited=citation(authors, licence, keywords, software),
        )
        bundles.check(wish, [str(name) for name in known.units.columns])
        decisions = decide.decisions(self._study.acts(), known, log.coders(), Choice(), codebook=None)
        if decisions.empty:
            raise ArgumentError(
                "bundle: expected texts that a coder has finished – found none – make it once some are."
            )
        self._refuse_open_question(plan)
        bundles.write(log, target, wish, progress=progress)

    def _refuse_open_question(self, plan: AnalysisPlan) -> None:
        """Raise `ArgumentError` where several coders decided and nothing says how disagreements count."""
        from sense7_qual import report

        registered = preregistrations(self._study.lead_acts("plan"))
        if plan.settled_by is None and not (registered and registered[-1].plan.settled_by):
            study = Store()
            study._study = self._study
            answers = report.open_answers(study, with_agreement=plan.with_agreement)
            if answers:
                raise report.ask_in_call("bundle", answers)

    def _refuse_within(self, target: Path) -> None:
        """Refuse a bundle in the study folder: who copies the folder would copy what is not to be there."""
        study = self._study.reads.place.address
        if isinstance(study, Path) and target.resolve().is_relative_to(study.resolve()):
            raise StoreError(
                "bundle: expected a place outside the study – found one within its folder – name another."
            )

    def _plan_with(self, given: AnalysisPlan | None, **asked: Any) -> AnalysisPlan:
        registered = preregistrations(self._study.lead_acts("plan"))
        plan = given or (
            registered[-1].plan if registered else AnalysisPlan(question="What do the codes show?")
        )
        if plan.settled_by is None and registered:
            plan = replace(plan, settled_by=registered[-1].plan.settled_by)
        return replace(plan, **{name: value for name, value in asked.items() if value is not None})


class Admin:
    """The roles and the damage of one study."""

    __slots__ = ("_study",)

    def __init__(self, study: OpenStudy) -> None:
        self._study = study

    def __repr__(self) -> str:
        return f"Admin({str(self._study.reads.place.address)!r})"

    def add_coder(self, coder: str, *, role: str | None = None, lead: bool = False) -> None:
        """Let the PostgreSQL role `role` code as `coder` in this study, blind to the others.

        Only a leading role can do this: the role that made the study, or one that was added with `lead`. A
        role sees and adds the acts of its own coders; of others it sees what the lead has unblinded. A coder
        of the calling role itself (a restored or merged one, say) can be handed over to another role.

        Parameters
        ----------
        coder : str
            The pseudonym.
        role : str, optional
            By default the lead's own role (for the codings of a model, say). A role that does not exist is
            created without a password: an administrator sets one with psql's ``\\password``.
        lead : bool
            Whether the role leads, too: it then sees everything, opens and unblinds rounds, revises the
            codebook and adds coders.

        Raises
        ------
        ActError
            `coder` cannot be a pseudonym, differs from a recorded one only in upper and lower case, or is a
            model's (``model-…``) while `role` is given.
        StoreError
            The calling role does not lead, `role` cannot be kept blind, the coder has another role already,
            or the study is a folder, where every coder simply has a file.
        """
        check_arguments(Admin.add_coder, locals())
        log = self._study.log
        if role is not None:
            coder = check_person(coder)
        log.add_coder(check_pseudonym(coder, log.coders()), role=role, lead=lead)

    def end_coder(self, coder: str) -> None:
        """Let the seat of `coder` sign in no more; everything that they recorded stays.

        A seat is a PostgreSQL role that an administrator made for coders (``seat01``, ``seat02`` …). It is
        never given to anybody else, because it may write as this coder. Ending it again changes nothing.
        ``sense7-qual seat`` calls this.

        Raises
        ------
        ActError
            `coder` cannot be a pseudonym.
        StoreError
            The coder has no seat, the calling role does not lead or may not end the seat, or the study is a
            folder.
        """
        check_arguments(Admin.end_coder, locals())
        log = self._study.log
        log.end_coder(check_pseudonym(coder, log.coders()))

    def accept_loss(self, coder: str, *, by: str | None = None, why: str = "") -> pd.DataFrame:
        """Accept that acts of `coder` are permanently lost or changed.

        If an older copy has replaced a coder's acts, `acts`, `append` and `verify` say so until the lost acts
        are back (`merge` with a copy that has them). Call this if no copy has them. In a folder it changes
        nothing in the study: move a damaged file away by hand (`salvage`).

        In PostgreSQL a row that was added to a coder's tables without this package blocks `decisions`,
        `archive` and `backup`. The lead removes such rows with this call: each changed act leaves the
        tables, the others stay, in their order, and a memo of `by` on the study records how many left, and
        why. Call `salvage` first: it keeps a copy of what is sound.

        Parameters
        ----------
        coder : str
            The pseudonym of their coder.
        by : str, optional
            The lead's own pseudonym, for the memo; needed if rows are removed.
        why : str
            What is known about these rows, for the memo.

        Returns
        -------
        DataFrame
            One row per removed act or text: seq (0 for a text), act_id, unit_id (both missing if unknown),
            problem. Empty for a folder.

        Raises
        ------
        ActError
            `coder` cannot be a pseudonym, or there are rows to remove and `by` is missing.
        StoreError
            The role does not code as `by`, or the server cannot be reached; nothing was removed.
        """
        check_arguments(Admin.accept_loss, locals())
        study, coder = self._study, check_coder(coder)

        def note(lost: pd.DataFrame) -> Act:
            return salvage.loss_memo(lost, coder, by=by, why=why, codebook=study.known.codebook)

        lost = study.log.take_out(coder, study.known, note)
        study.heads.drop(coder)
        return lost

    def salvage(self, coder: str, path: str | Path) -> salvage.Salvage:
        """Recover the intact acts of a damaged acts file into a new file; list what was lost.

        An act is intact if its own hash shows that it was not changed. Nothing in the study is changed.
        Afterwards move the damaged file (``acts/<coder>.sqlite``) out of the study and keep it, and take the
        new one in with `merge`; then merge a backup, which may have the lost acts.

        Parameters
        ----------
        coder : str
            The pseudonym.
        path : str or Path
            The new file, outside the study; it gets no words of withdrawn participants.

        Returns
        -------
        Salvage
            The number of recovered acts, and in `lost` those that were not.

        Raises
        ------
        StoreError
            There is no such coder, no act is intact, something exists at `path`, or the disk refuses.
        """
        check_arguments(Admin.salvage, locals())
        study, target = self._study, Path(path).absolute()
        return salvage.salvage(study.log, check_coder(coder), target, study=study.known.study.id)
