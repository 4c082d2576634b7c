"""What the lead does on a server, or where something went wrong (`Store.admin`)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual.acts import Act, check_coder, check_person
from sense7_qual.store._open_study import OpenStudy
from sense7_qual.store._operations import salvage
from sense7_qual.store._operations.append import check_pseudonym

__all__ = ["Admin"]


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
        study.heads.forget(coder)
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
