"""The store: one study's units, codebooks and acts, in a folder that can be copied, synced and archived.

One coder writes one file (`study` says what is where). So nothing is lost when folders are synced or
merged, and a coder who is not sent the others' files cannot see them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import pandas as pd

from sense7_qual import database, migrations, postgresql, server, study
from sense7_qual.acts import KINDS, Act, check_coder, fold
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, StoreError, did_you_mean, first_three

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Store"]

_TYPES: Final[Mapping[str, type]] = {"start": int, "end": int, "applied": bool}
_AT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


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

    __slots__ = ("_codebooks", "_server", "_study", "_texts", "_units", "path")

    path: Path | str
    """The study folder, or the address of the study in PostgreSQL: what `Store` opens it by."""

    def __init__(self, path: str | Path) -> None:
        self._server = server.connect(str(path)) if server.is_address(path) else None
        if self._server is not None:
            self.path = self._server.address
            self._study, self._units, self._codebooks = postgresql.read(self._server)
        else:
            self.path = Path(path).absolute()
            self._study = study.read(self._folder)
            self._units = study.read_units(self._folder, self._study)
            self._codebooks = study.read_codebooks(self._folder, self._study)
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
            postgresql.create(server.connect(str(path)), units=units, codebook=codebook)
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
        return tuple(path.stem for path in study.acts_files(self._folder))

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
        batch = [_settled(act, self._texts, self._codebooks) for act in _as_acts(acts)]
        if not batch:
            return 0
        coder = _one_coder(batch)

        def record(connection: Connection, path: Path) -> int:
            version = database.check(connection, path, study=self._study.id, coder=coder)
            migrations.migrate(connection, path, version)
            named = {act.act_id for act in batch} | {act.target for act in batch if act.target}
            new = _new_acts(batch, database.find(connection, path, named))
            database.add(connection, new, study=self._study.id, coder=coder)
            return len(new)

        if self._server is not None:
            return postgresql.write(self._server, coder, record)
        path = self._acts_file(coder)
        if not path.exists():
            _new_acts(batch, {})  # refuse before a file is made
            database.create(path, study=self._study.id, coder=coder)
        with database.transaction(path, writes=True) as connection:
            return record(connection, path)

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
        return read if kind is None else _of_kind(read, kind)

    def codings(self, *, coder: str | None = None) -> pd.DataFrame:
        """Return the codings that stand now, one row per unit, coder, code and span (`tables.CODINGS`)."""
        return fold(self.acts(coder=coder)).codings

    def coverage(self, *, coder: str | None = None) -> pd.DataFrame:
        """Return which coder has finished which unit (`tables.COVERAGE`)."""
        return fold(self.acts(coder=coder)).coverage

    def memos(self, *, coder: str | None = None) -> pd.DataFrame:
        """Return the memos that stand now (`tables.MEMOS`)."""
        return fold(self.acts(coder=coder)).memos

    def verify(self) -> pd.DataFrame:
        """Check the whole study on the disk: units, codebooks, every act, every quote.

        Returns
        -------
        DataFrame
            One row per acts file: coder; n_acts (Int64; missing where the file cannot be read); ok (bool);
            problem (string; empty where ok).

        Raises
        ------
        StoreError
            The units or a codebook are not what was written, so that no act could be judged.
        """
        if self._server is not None:
            postgresql.read(self._server)
            rows = [(coder, *self._verified_there(self._server, coder)) for coder in self.coders]
        else:
            found = study.read(self._folder)
            study.read_units(self._folder, found)
            study.read_codebooks(self._folder, found)
            rows = [(path.stem, *self._verified(path)) for path in study.acts_files(self._folder)]
        frame = pd.DataFrame(rows, columns=["coder", "n_acts", "ok", "problem"])
        return frame.astype({"coder": "string", "n_acts": "Int64", "ok": "bool", "problem": "string"})

    def _verified(self, path: Path) -> tuple[int | None, bool, str]:
        try:
            n_acts = len(self._read(path))
            with database.transaction(path) as connection:
                problem = database.problems(connection)
        except StoreError as error:
            return None, False, str(error)
        return n_acts, not problem, problem

    def _verified_there(self, there: server.Server, coder: str) -> tuple[int | None, bool, str]:
        try:
            return len(self._fetched(there, coder)), True, ""
        except StoreError as error:
            return None, False, str(error)

    def _read(self, path: Path) -> list[Act]:
        with database.transaction(path) as connection:
            database.check(connection, path, study=self._study.id, coder=path.stem)
            found = database.read(connection, path, study=self._study.id, coder=path.stem)
        return self._with_true_quotes(found, path)

    def _fetched(self, there: server.Server, coder: str) -> list[Act]:
        found = postgresql.acts(there, coder, study=self._study.id)
        return self._with_true_quotes(found, Path(there.name) / coder)

    def _with_true_quotes(self, found: list[Act], path: Path) -> list[Act]:
        for act in found:
            if act.kind == "apply" and act.text is not None and act.text != _words(act, self._texts):
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


def _of_kind(acts: Sequence[Act], kind: str) -> list[Act]:
    """Return the acts of `kind` with those that take one of them back or do it again, in their order."""
    chosen = {(act.coder, act.act_id) for act in acts if act.kind == kind}
    about = ("undo", "redo")
    return [
        act for act in acts if act.kind == kind or (act.kind in about and (act.coder, act.target) in chosen)
    ]


def _as_acts(acts: Sequence[Act]) -> list[Act]:
    batch = [] if isinstance(acts, Act) else list(acts)
    other = [type(act).__name__ for act in batch if not isinstance(act, Act)]
    if isinstance(acts, Act):
        other = ["a single Act"]
    if other:
        raise ActError(
            f"append: expected a list of acts – found {first_three(other)} – make them with acts.apply, "
            "acts.finish and so on."
        )
    return batch


def _one_coder(batch: Sequence[Act]) -> str:
    coders = sorted({act.coder for act in batch})
    if len(coders) > 1:
        raise ActError(
            f"append: expected the acts of one coder – found those of {first_three(coders)} – call append "
            "once for each coder."
        )
    return coders[0]


def _new_acts(batch: Sequence[Act], recorded: Mapping[str, Act]) -> list[Act]:
    """Return the acts of `batch` that are not among the `recorded` ones, after checking those they name."""
    known, new = dict(recorded), []
    for act in batch:
        before = known.get(act.act_id)
        if before is None:
            if act.kind in ("undo", "redo"):
                _check_target(act, known)
            known[act.act_id] = act
            new.append(act)
        elif replace(act, at=before.at) != before:  # a deed that is sent again may be stamped again
            raise ActError(
                f"append: expected act_id {act.act_id!r} to stand for one act – found a different act of "
                f"kind {act.kind!r} under it – leave act_id out to have one made; nothing was recorded."
            )
    return new


def _check_target(act: Act, known: Mapping[str, Act]) -> None:
    target = known.get(str(act.target))
    if target is None or target.kind in ("undo", "redo"):
        found = f"an act of kind {target.kind!r}" if target else "no such act of theirs"
        raise ActError(
            f"{act.kind}: expected target {act.target!r} to be an earlier act of coder {act.coder!r} that "
            f"did something – found {found} – name the act itself; nothing was recorded."
        )


def _settled(act: Act, texts: Mapping[str, str], codebooks: Mapping[str, Codebook]) -> Act:
    """Return `act` with its quote, after checking it against the study."""
    _check_values(act)
    codebook = codebooks.get(act.codebook)
    if codebook is None:
        raise ActError(
            f"{_named(act)}: expected a codebook of this study – found fingerprint {act.codebook[:40]!r} – "
            "pass codebook=store.codebook."
        )
    if act.unit_id is not None and act.unit_id not in texts:
        raise ActError(
            f"{_named(act)}: expected a unit of this study – found {act.unit_id!r} – "
            f"{did_you_mean(act.unit_id, texts)}"
        )
    _check_code(act, codebook)
    _check_span(act, texts)
    if act.kind == "memo":
        _check_memo(act)
        return act
    return _with_quote(act, texts)


def _check_values(act: Act) -> None:
    """Refuse what would be recorded as something else than it is."""
    for name in Act.__slots__:
        value, kind = getattr(act, name), _TYPES.get(name, str)
        if value is not None and type(value) is not kind:
            raise ActError(
                f"{_named(act)}: expected {kind.__name__} for {name} – found {type(value).__name__} – "
                "convert it."
            )
        if isinstance(value, str) and not _is_unicode(value):
            raise ActError(
                f"{_named(act)}: expected Unicode text for {name} – found half of a surrogate pair – send "
                "whole characters."
            )
    when = act.at
    if not _AT.fullmatch(when):
        raise ActError(
            f"{_named(act)}: expected the time in UTC like '2026-01-31T12:00:00.000Z' – found "
            f"{when[:40]!r} – leave at out to have it stamped."
        )


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_code(act: Act, codebook: Codebook) -> None:
    if act.code is None:
        return
    if act.code not in codebook.ids:
        raise ActError(
            f"{_named(act)}: expected a code of codebook {codebook.name!r} – found {act.code!r} – "
            f"{did_you_mean(act.code, codebook.ids)}"
        )
    if act.kind in ("apply", "rule") and not codebook.code(act.code).codable:
        raise ActError(
            f"{_named(act)}: expected a code that can be applied – found {act.code!r}, which only groups "
            "others – use one of the codes under it."
        )
    if act.valence is not None and act.valence not in codebook.valence:
        raise ActError(
            f"{_named(act)}: expected valence out of {', '.join(codebook.valence) or 'none'} – found "
            f"{act.valence!r} – use one that the codebook has, or leave it out."
        )


def _check_span(act: Act, texts: Mapping[str, str]) -> None:
    n_points = len(texts.get(str(act.unit_id), ""))
    if act.end is not None and act.end > n_points:
        raise ActError(
            f"{_named(act)}: expected a span within the text's {n_points} code points – found {act.start} … "
            f"{act.end} – count Unicode code points, not bytes or UTF-16 units."
        )


def _check_memo(act: Act) -> None:
    named = {"unit": act.unit_id, "code": act.code, "study": "study"}.get(str(act.target_kind))
    if named is None:
        raise ActError(
            f"{_named(act)}: expected a memo on a unit, a code or the study – found target_kind "
            f"{str(act.target_kind)[:40]!r} without what it is about – make it with acts.memo."
        )


def _with_quote(act: Act, texts: Mapping[str, str]) -> Act:
    """Return `act` with the words of its span as its text (none for a whole unit and for other deeds)."""
    quote = _words(act, texts)
    if act.text is not None and act.text != quote:
        raise ActError(
            f"{_named(act)}: expected as text the words of the span in the unit – found other words "
            f"({len(act.text)} code points) – leave text out to have it filled in."
        )
    return replace(act, text=quote)


def _words(act: Act, texts: Mapping[str, str]) -> str | None:
    if act.kind != "apply" or act.start is None:
        return None
    return texts.get(str(act.unit_id), "")[act.start : act.end]


def _named(act: Act) -> str:
    return f"{act.kind} on unit {act.unit_id!r}" if act.unit_id is not None else act.kind
