"""The store: one study's units, codebooks and acts, in a folder that can be copied, synced and archived.

One coder writes one file (`study` says what is where). So nothing is lost when folders are synced or
merged, and a coder who is not sent the others' files cannot see them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pandas as pd

from sense7_qual import (
    acceptance,
    archives,
    database,
    merging,
    migrations,
    postgresql,
    revising,
    server,
    study,
    verification,
    withdrawal,
)
from sense7_qual.acts import KINDS, Act, check_coder, fold
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, StoreError, did_you_mean
from sense7_qual.revisions import Revision

if TYPE_CHECKING:
    from sqlalchemy import Connection

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

    Raises
    ------
    StoreError
        There is no study (or none for this role), it was written by a newer version, its units or
        codebooks are not what was written, or the server cannot be reached.

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

    __slots__ = ("_codebooks", "_gone", "_server", "_study", "_texts", "_units", "path")

    _codebooks: dict[str, Codebook]
    _gone: frozenset[str]
    _study: study.Study
    _texts: dict[str, str]
    _units: pd.DataFrame

    path: Path | str
    """The study folder, or the address of the study in PostgreSQL: what `Store` opens it by."""

    def __init__(self, path: str | Path) -> None:
        self._server = server.connect(str(path)) if server.is_address(path) else None
        self.path = self._server.address if self._server is not None else Path(path).absolute()
        self._gone = frozenset()
        self._open()
        if self._study.schema > database.SCHEMA:
            warnings.warn(migrations.newer("study", self._study.schema), stacklevel=2)

    def _open(self) -> None:
        if self._server is not None:
            self._study, self._units, self._codebooks = postgresql.read(self._server)
        else:
            self._study = study.read(self._folder)
            self._units = study.read_units(self._folder, self._study)
            self._codebooks = study.read_codebooks(self._folder, self._study)
            self._gone = withdrawal.gone(self._folder)
        self._texts = dict(zip(self._units["unit_id"], self._units["text"], strict=True))

    @property
    def _folder(self) -> Path:
        if not isinstance(self.path, Path):
            raise StoreError(
                "store: expected a study in a folder – found one in PostgreSQL – this is done there by the "
                "database's own tools (pg_dump for a backup)."
            )
        return self.path

    @classmethod
    def create(cls, path: str | Path, *, units: pd.DataFrame, codebook: Codebook) -> Store:
        """Make a new study folder at `path` and open it.

        The folder appears whole or not at all, with its parent folders where they are missing.

        Parameters
        ----------
        path : str or Path
            Where the study shall be: a folder, where nothing or an empty one may be yet; or an address in
            PostgreSQL, whose role becomes the lead (`add_coder`). A superuser also closes the statistics of
            that database to the coders, so give the study a database of its own.
        units : DataFrame
            One row per unit, as `corpus.read` returns them; every text must be there and not be empty.
        codebook : Codebook
            The codes to begin with.

        Raises
        ------
        StoreError
            Something is there already, or the disk refuses.
        TableError
            `units` is not what its contract says.
        """
        if server.is_address(path):
            if not postgresql.create(server.connect(str(path)), units=units, codebook=codebook):
                warnings.warn(postgresql.OPEN_STATISTICS, stacklevel=2)
            return cls(path)
        path = Path(path).absolute()
        study.create(path, units=units, codebook=codebook)
        return cls(path)

    def __repr__(self) -> str:
        return f"Store({len(self._units)} units, {len(self.codebook.codes)} codes, {len(self.coders)} coders)"

    @property
    def units(self) -> pd.DataFrame:
        """The units, one row per unit; a copy, which may be changed without changing the study."""
        return self._units.copy()

    @property
    def codebook(self) -> Codebook:
        """The current codebook."""
        return self._codebooks[self._study.codebook]

    @property
    def codebooks(self) -> Mapping[str, Codebook]:
        """Every version of the codebook, by fingerprint."""
        return MappingProxyType(self._codebooks)

    @property
    def coders(self) -> tuple[str, ...]:
        """The pseudonyms of the coders of whom there are acts to be read here, sorted."""
        if self._server is not None:
            return postgresql.coders(self._server)
        names = (path.stem for path in study.acts_files(self._folder))
        return tuple(name for name in names if study.is_coder(name))

    def add_coder(self, coder: str, *, role: str | None = None, lead: bool = False) -> None:
        """Let the PostgreSQL role `role` code as `coder` in this study, blind to the others.

        Only the lead's role can do this: the one that made the study, and those that were added with `lead`.
        A role sees and adds the acts of its own coders, and sees of others what the lead has unblinded.

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
            The pseudonym cannot be one, or differs from a recorded one in upper and lower case only.
        StoreError
            The calling role does not lead, `role` is one that cannot be kept blind, the coder has another
            role already, or the study is a folder, where every coder simply has a file.
        """
        if self._server is None:
            raise StoreError(
                "add_coder: expected a study in PostgreSQL – found a folder – nothing is needed there: the "
                "first act of a coder makes their file, and a coder is blind to the files they are not sent."
            )
        postgresql.add_coder(self._server, self._known_as(coder), role=role, lead=lead)

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
            another act; a pseudonym that differs from a recorded one in upper and lower case only. Nothing
            was recorded.
        StoreError
            The file cannot be written (disk full, no permission, locked for 30 s) or is damaged. Send the
            same acts again when that is mended.
        """
        given = acceptance.as_acts(acts)
        self._refuse_withdrawn(given)
        if any(act.codebook not in self._codebooks for act in given):
            self._look_again()  # another notebook may have revised the codebook
        batch = [acceptance.settled(act, self._texts, self._codebooks) for act in given]
        if not batch:
            return 0
        coder = acceptance.one_coder(batch)
        if self._server is not None:
            return postgresql.write(self._server, coder, lambda there, path: self._record(there, path, batch))
        study.refuse_newer(self._folder, self._study)
        path = self._acts_file(coder)
        if not path.exists():
            acceptance.new_acts(batch, {})  # refuse before a file is made
            database.create(path, study=self._study.id, coder=coder)
        with database.transaction(path, writes=True) as connection:
            self._refuse_withdrawn(batch)  # once more: nobody can be forgotten while this file is locked
            return self._record(connection, path, batch)

    def _record(self, connection: Connection, path: Path, batch: Sequence[Act]) -> int:
        coder = batch[0].coder
        version = database.check(connection, path, study=self._study.id, coder=coder)
        migrations.migrate(connection, path, version)
        named = {act.act_id for act in batch} | {act.target for act in batch if act.target}
        new = acceptance.new_acts(batch, database.find(connection, path, named))
        database.add(connection, new, study=self._study.id, coder=coder)
        return len(new)

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
        thing. What was coded under earlier versions is carried over by `codings.decisions` (with
        ``revisions=store.revisions()``) where its meaning stood; `codings.stale` lists the rest.

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
        wish = revising.Wish(
            base=self.codebook,
            codebook=codebook,
            why=why,
            coder=coder,
            merged=merged or {},
            split=split or {},
        )
        if self._server is not None:
            new = revising.on_server(wish, self._server, self._record_revision)
        else:
            study.refuse_newer(self._folder, self._study)
            new = revising.in_folder(wish, self._folder, self.append)
        self._look_again()
        self._study = replace(self._study, codebook=new.fingerprint)
        return self.codebook

    def _record_revision(self, connection: Connection, path: Path, act: Act, codebook: Codebook) -> None:
        known = {**self._codebooks, codebook.fingerprint: codebook}
        self._record(connection, path, [acceptance.settled(act, self._texts, known)])

    def revisions(self) -> tuple[Revision, ...]:
        """Return how the codebook came to be: who changed what, when and why, in order (`revisions`)."""
        return revising.history(self.acts(kind="revise"))

    def acts(self, *, coder: str | None = None, kind: str | None = None) -> list[Act]:
        """Return the recorded acts, each coder's in the order in which they were recorded.

        Parameters
        ----------
        coder : str, optional
            Only this coder's; by default every coder's, in the order of `coders`. A coder without acts has
            an empty list.
        kind : str, optional
            Only acts of this kind (one of `acts.KINDS`), and the undo and redo acts about one of them:
            without those, what was undone would stand again.

        Raises
        ------
        StoreError
            An acts file is damaged, or belongs to another study or coder; each file is checked as it is
            read, and the others still open with `coder`.
        ActError
            `coder` cannot be a pseudonym, or there is no such `kind`.
        """
        if kind is not None and kind not in KINDS:
            raise ActError(
                f"acts: expected kind out of {', '.join(KINDS)} – found {kind!r} – "
                f"{did_you_mean(kind, KINDS)}"
            )
        if self._server is not None:
            named = self.coders if coder is None else [self._known_as(coder)]
            read = [act for one in named for act in self._fetched(self._server, one)]
        else:
            files = study.acts_files(self._folder) if coder is None else [self._acts_file(coder)]
            read = [act for path in files if path.exists() for act in self._read(path)]
        return read if kind is None else acceptance.of_kind(read, kind)

    def codings(self, *, coder: str | None = None) -> pd.DataFrame:
        """Return the codings that stand now, one row per unit, coder, code and span (`tables.CODINGS`).

        As `coverage` and `memos`, without the units of participants who withdrew.
        """
        return fold(self._of_participants(coder)).codings

    def coverage(self, *, coder: str | None = None) -> pd.DataFrame:
        """Return which coder has finished which unit (`tables.COVERAGE`)."""
        return fold(self._of_participants(coder)).coverage

    def memos(self, *, coder: str | None = None) -> pd.DataFrame:
        """Return the memos that stand now (`tables.MEMOS`)."""
        return fold(self._of_participants(coder)).memos

    def _of_participants(self, coder: str | None) -> list[Act]:
        found = self.acts(coder=coder)
        return [act for act in found if act.unit_id not in self._gone] if self._gone else found

    def verify(self) -> pd.DataFrame:
        """Check the whole study on the disk: every file, act, quote and memo, and the fold of the acts.

        A bit that was flipped in anything that is stored shows (`verification` says what vouches for what).
        Nothing is raised on damage: it is reported.

        Returns
        -------
        DataFrame
            One row per file: file; coder and n_acts (Int64) for an acts file, missing where it cannot be
            read; ok (bool); problem (string; empty where ok); note (string): who withdrew, which copies were
            made, files of sync clients. Of a study in PostgreSQL one row per coder.
        """
        if self._server is not None:
            postgresql.read(self._server)
            rows = [self._verified_there(self._server, coder) for coder in self.coders]
            return verification.frame_of(rows)
        return verification.frame_of(verification.verify(self._folder, self._study))

    def merge(self, other: Store | str | Path) -> merging.Merge:
        """Take in what another copy of this study has and this one has not; nothing here is changed.

        Merging twice, or after a crash once more, gives the same acts. Where a coder worked in two copies,
        the acts of both stay, in the order in which they were done (`merging` says how).

        Parameters
        ----------
        other : Store, str or Path
            Another copy of the study folder, or one acts file: a sync client's second copy, or a coder's
            file that came by mail.

        Returns
        -------
        Merge
            What became of each act, in `items`; versions of the codebook that came with them; participants
            whose withdrawal is known there and not here.

        Raises
        ------
        StoreError
            It is another study, is damaged or of a later version, or a file cannot be written. Coders whose
            acts were merged before stay so; merge again when that is mended.
        """
        folder = self._local("merge")
        found = merging.merge(
            folder,
            (other._local("merge") if isinstance(other, Store) else Path(other).absolute()),
            known=self._study,
            texts=self._texts,
            codebooks=self._codebooks,
            file_of=self._acts_file,
        )
        self._codebooks = study.read_codebooks(folder, self._study)
        return found

    def backup(self, path: str | Path) -> None:
        """Copy the study to the new folder `path`, by SQLite's own backup, and verify the copy.

        The folder appears whole or not at all; one that is there is never written over. Coders may go on
        meanwhile. The study notes that the copy was made (`forget` says what older copies still hold).

        Raises
        ------
        StoreError
            Something is at `path`, the study is not sound, or the disk refuses.
        """
        archives.backup(self._local("backup"), Path(path).absolute())

    def archive(self, path: str | Path) -> None:
        """Write the study as one zip file at `path`: the same study always as the same bytes.

        It holds every act as a line of JSON, the units, every codebook, and a manifest of hashes and
        versions, and can be read without this package. `restore` makes a study of it again.

        Raises
        ------
        StoreError
            Something is at `path`, the study is not sound, or the disk refuses.
        """
        archives.archive(self._local("archive"), Path(path).absolute())

    @classmethod
    def restore(cls, archive: str | Path, path: str | Path) -> Store:
        """Make the new study folder `path` from a file that `archive` wrote, and open it.

        The study is equal to the one that was archived: archived again, it gives the same bytes.

        Raises
        ------
        StoreError
            The file is not byte for byte what `archive` wrote, something is at `path`, or the disk refuses.
        """
        archives.restore(Path(archive).absolute(), Path(path).absolute())
        return cls(path)

    def forget(self, case_id: str, *, why: str) -> withdrawal.Forgotten:
        """Remove the words of a participant who withdraws, everywhere this study keeps them.

        Units, quotes and memos of the participant are erased, also from what SQLite keeps in free pages;
        ids and hashes stay, so that `verify` still passes. Their units leave `units`, `codings`, `coverage`
        and `memos`; `acts` still has the acts, without words. This cannot be undone.

        Parameters
        ----------
        case_id : str
            The participant, as in `units`.
        why : str
            The reason, for the record; it stays in the study and must not name or quote the participant.

        Returns
        -------
        Forgotten
            What was erased, and which backups, archives and files still hold it.

        Raises
        ------
        StoreError
            There is no such participant, a file is damaged, or the disk refuses: call again then.
        """
        folder = self._local("forget")
        found = withdrawal.forget(folder, case_id, why=why)
        self._look_again()
        return found

    def _refuse_withdrawn(self, acts: Sequence[Act]) -> None:
        if self._server is None and withdrawal.gone(self._folder) != self._gone:
            self._look_again()
        withdrawal.refuse_gone(acts, self._gone)

    def _local(self, what: str) -> Path:
        if self._server is not None:
            raise StoreError(
                f"{what}: expected a study folder – found a study in PostgreSQL – use the server's own tools "
                "(pg_dump), or do this in a study folder."
            )
        return self._folder

    def _look_again(self) -> None:
        """Read all but the acts: others may have withdrawn a participant or added a codebook.

        What this store calls current stays, so that a change of it can be told from a change of another's.
        """
        current = self._study.codebook
        self._open()
        self._study = replace(self._study, codebook=current)

    def _verified_there(self, there: server.Server, coder: str) -> verification.Finding:
        try:
            return verification.Finding(coder, coder, len(self._fetched(there, coder)))
        except StoreError as error:
            return verification.Finding(coder, coder, problem=str(error))

    def _read(self, path: Path) -> list[Act]:
        with database.transaction(path) as connection:
            if verification.owner(connection) != path.stem and verification.nothing_new(path):
                return []  # a sync client's second copy of a file that has all its acts
            version = database.check(connection, path, study=self._study.id, coder=path.stem)
            found = database.read(connection, path, study=self._study.id, coder=path.stem)
        if version > database.SCHEMA:
            warnings.warn(migrations.newer(database.place(path), version), stacklevel=4)
        return self._with_true_quotes(found, path)

    def _fetched(self, there: server.Server, coder: str) -> list[Act]:
        found = postgresql.acts(there, coder, study=self._study.id)
        return self._with_true_quotes(found, Path(there.name) / coder)

    def _with_true_quotes(self, found: list[Act], path: Path) -> list[Act]:
        """Return the acts; the words of participants who withdrew are not given out, should any be left."""
        for place, act in enumerate(found):
            if act.text is not None and act.unit_id in self._gone:
                found[place] = replace(act, text="" if act.kind == "memo" else None)
            elif verification.misquoted(act, self._texts):
                raise database.damaged(path, f"another quote than unit {act.unit_id!r} has")
        return found

    def _acts_file(self, coder: str) -> Path:
        """Return where the coder's acts are, or will be."""
        return study.acts_file(self._folder, self._known_as(coder))

    def _known_as(self, coder: str) -> str:
        check_coder(coder)
        # On many disks Ana.sqlite and ana.sqlite are one file, and studies move between disks.
        same = [name for name in self.coders if name.casefold() == coder.casefold() and name != coder]
        if same:
            raise ActError(
                f"coder: expected the pseudonym as it is recorded – found {coder!r} beside {same[0]!r} – "
                f"use {same[0]!r}, or a pseudonym that differs in more than upper and lower case."
            )
        return coder
