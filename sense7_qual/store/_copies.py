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
from sense7_qual.errors import ArgumentError, StoreError
from sense7_qual.store import _open_study
from sense7_qual.store._bundle import write as bundles
from sense7_qual.store._bundle.describe import citation
from sense7_qual.store._open_study import OpenStudy
from sense7_qual.store._operations import archive, decide, merge, revise, salvage
from sense7_qual.store._operations.append import check_pseudonym
from sense7_qual.store._reading import Store

__all__ = ["Admin", "Copies"]


class Copies:
    """The copies of one study."""

    __slots__ = ("_study",)

    def __init__(self, study: OpenStudy) -> None:
        self._study = study

    def __repr__(self) -> str:
        return f"Copies({str(self._study.reads.place.address)!r})"

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
        check_arguments(Copies.backup, locals())
        archive.backup(self._study.log, Path(path).absolute())

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
        check_arguments(Copies.archive, locals())
        archive.archive(self._study.log, Path(path).absolute())

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
        check_arguments(Copies.hand_out, locals())
        archive.hand_out(self._study.log, Path(path).absolute(), round=round, coder=check_person(coder))

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
        check_arguments(Copies.merge, locals())
        study, log = self._study, self._study.log
        reads = _open_study.at(other) if isinstance(other, str | Path) else other._study.reads
        scratch = log.place.scratch
        with (
            _open_study.writable(reads).as_folder(scratch) as copy,
            archive.unpacked(copy, scratch) as source,
        ):
            merged = merge.merge(log, source, study.known, coders=coders, recorded=self._recorded_ids)
        study.look_again()
        return merged

    def _recorded_ids(self) -> set[str]:
        with suppress(StoreError):
            return {act.act_id for act in self._study.acts()}
        return set()  # what cannot be read here counts as new over there

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
        ``store.copies.bundle("published", texts="withheld", rating="Warmth", progress=True)``
        """
        check_arguments(Copies.bundle, locals())
        log, known, target = self._study.log, self._study.known, Path(path).absolute()
        self._refuse_within(target)
        there = self._study.acts_there()
        quotes = decide.quotes_after(there, known, revise.history(there))
        plan = self._plan_with(analysis_plan, rating=rating, cluster=cluster, seed=seed)
        wish = bundles.Wish(
            plan=plan, texts=texts, title=title, conditions=tuple(conditions), variables=tuple(variables),
            names=tuple(names), formats=tuple(formats), overwrite=overwrite,
            paraphrased=decide.paraphrased(quotes), accept=tuple(accept),
            cited=citation(authors, licence, keywords, software),
        )  # fmt: skip
        bundles.check(wish, [str(name) for name in known.units.columns])
        decisions = decide.decide(self._study.acts(), known, log.coders(), decide.Choice())
        if decisions.empty:
            raise ArgumentError(
                "bundle: expected texts that a coder has finished – found none – make it when some are."
            )
        bundles.write(log, target, wish, progress=progress)

    def _refuse_within(self, target: Path) -> None:
        """Refuse a bundle in the study folder: who copies the folder would copy what is not to be there."""
        study = self._study.reads.place.address
        if isinstance(study, Path) and target.resolve().is_relative_to(study.resolve()):
            raise StoreError(
                "bundle: expected a place outside of the study – found one within its folder – name another."
            )

    def _plan_with(self, given: AnalysisPlan | None, **asked: Any) -> AnalysisPlan:
        registered = preregistrations(self._study.lead_acts("plan"))
        plan = given or (
            registered[-1].plan if registered else AnalysisPlan(question="What do the codes show?")
        )
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
        check_arguments(Admin.add_coder, locals())
        log = self._study.log
        if role is not None:
            coder = check_person(coder)
        log.add_coder(check_pseudonym(coder, log.coders()), role=role, lead=lead)

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
        check_arguments(Admin.accept_loss, locals())
        study, coder = self._study, check_coder(coder)

        def note(lost: pd.DataFrame) -> Act:
            return salvage.loss_memo(lost, coder, by=by, why=why, codebook=study.known.codebook)

        lost = study.log.take_out(coder, study.known, note)
        study.heads.drop(coder)
        return lost

    def salvage(self, coder: str, path: str | Path) -> salvage.Salvage:
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
        check_arguments(Admin.salvage, locals())
        study, target = self._study, Path(path).absolute()
        return salvage.salvage(study.log, check_coder(coder), target, study=study.known.study.id)
