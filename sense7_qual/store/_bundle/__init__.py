"""A bundle as the store opens it: a study that can be read and analysed, and not be written.

What a bundle holds (``write.py``) is a study without what must not leave the lead's computer
(``withhold.py``), the script that recomputes every table and figure of it (``rerun.py``), and what a stranger
has to be told (``describe.py``, and how it is cited: ``cite.py``).

=============================  ======================================================================
file of a bundle               holds
=============================  ======================================================================
``record/study.json``          sealed: which study, in which form, and the SHA-256 of each file below
``record/acts.jsonl``          one act a line, with its hash in the chain; texts as far as they may be there
``codebooks/<id>.yaml``        every version of the codebook
``data/units.parquet``         the units; in the place of texts what stands for them
=============================  ======================================================================

The chain of each coder is checked as it is in a study folder: the hashes are those of the study itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import pandas as pd
from sqlalchemy import Connection

from sense7_qual._limits import read_file
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import CodebookError, StoreError
from sense7_qual.store._files import layout, signed_json, study_notes
from sense7_qual.store._files.layout import Opened
from sense7_qual.store._log import sqlite
from sense7_qual.store._log.hash_chain import genesis, links, ordered, text_hash
from sense7_qual.store._operations import forget, merge, revise, verify
from sense7_qual.store._operations.append import Heads, Salvage, Unread, check_pseudonym

__all__ = ["ACTS", "FORMAT", "STUDY", "UNITS", "Bundle", "codebook_as", "is_bundle"]

_T = TypeVar("_T")

FORMAT: Final = "sense7_qual bundle 1"
STUDY: Final = "record/study.json"
ACTS: Final = "record/acts.jsonl"
UNITS: Final = "data/units.parquet"
_MOST: Final = 4_000_000_000  # bytes of a file
_NAMES: Final = tuple(column.name for column in sqlite.ACTS.columns)


def is_bundle(path: Path) -> bool:
    """Return True if there is a bundle at `path`, sound or not."""
    with layout.refusing(path):
        return (path / STUDY).exists() and not layout.is_study(path)


def codebook_as(fingerprint: str, content: bytes) -> Codebook:
    """Return the codebook in `content`, under the fingerprint that it has with its examples.

    Acts name the codebook by that, and a codebook without examples would have another.
    """
    book = Codebook.from_yaml(content)
    vars(book)["fingerprint"] = fingerprint  # in the place of the cached property
    return book


class _NoHeads(Heads):
    """Nothing is remembered of a bundle on the computer of who reads it."""

    __slots__ = ()

    def _state(self) -> dict[str, Any]:
        return {}

    def _write(self, state: dict[str, Any]) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Bundle:
    """The bundle in the folder `path`; errors as `Store` documents them."""

    path: Path

    @property
    def address(self) -> Path:
        """The path by which it is opened."""
        return self.path

    @property
    def place(self) -> Path:
        """The folder itself, in which nothing is ever built."""
        return self.path

    def clear(self) -> None:
        """Do nothing: nobody builds here."""

    def is_there(self) -> bool:
        """Return True."""
        return True

    def read(self) -> Opened:
        """Return all but the acts, checked."""
        said = self._said()
        study = layout.Study(**{field.name: said[field.name] for field in fields(layout.Study)})
        table = self._file(UNITS, said)
        published = replace(study, units_sha256=hashlib.sha256(table).hexdigest())
        units = layout.units_of(table, published, name=self.path.name)
        return Opened.of(study, units, self._codebooks(said), said["withdrawn_units"])

    def current(self) -> str:
        """Return the fingerprint of the current codebook."""
        return str(self._said()["codebook"])

    def changed(self, known: Opened) -> bool:
        """Return False: nobody withdraws from a bundle; the lead makes a new one."""
        return False

    def heads(self, study_id: str) -> Heads:
        """Return what is remembered of it: nothing."""
        return _NoHeads(study_id, str(self.path))

    def coders(self) -> tuple[str, ...]:
        """Return the pseudonyms of those who have acts, sorted."""
        return tuple(sorted(self._said()["coders"]))

    def check_pseudonym(self, coder: str) -> str:
        """Return the pseudonym, or raise `ActError` where it cannot be one beside the others."""
        return check_pseudonym(coder, self.coders())

    def acts(self, coder: str | None, known: Opened) -> list[Act]:
        """Return the acts of a coder, or of all, the whole record checked."""
        only = None if coder is None else self.check_pseudonym(coder)
        said = self._said()
        lines = [json.loads(line) for line in self._file(ACTS, said).splitlines()]
        acts = []
        for name, theirs in groupby(lines, key=lambda line: str(line["coder"])):
            read = self._chain(list(theirs), study_id=known.study.id, coder=name)
            acts += [self._quoted(act, known, said) for act in read if only in (None, name)]
        return acts

    def lead_acts(self, known: Opened, subject: str = "work") -> list[Act]:
        """Return what leads did for the team, about one subject."""
        return [act for act in self.acts(None, known) if act.traits.subject == subject]

    def verify(self, known: Opened) -> list[verify.Finding]:
        """Return what is found: of each file that it is as it was written, and of each coder the chain."""
        findings = []
        said = self._said()
        for name in said["files"]:
            try:
                self._file(name, said)
                findings.append(verify.Finding(name))
            except StoreError:
                findings.append(verify.Finding(name, problem=verify.RESPELT))
        try:
            acts = self.acts(None, known)
        except StoreError as error:
            return [*findings, verify.Finding("record", problem=str(error))]
        for coder in self.coders():
            findings.append(verify.Finding(ACTS, coder, sum(act.coder == coder for act in acts)))
        return findings

    def _chain(self, lines: list[dict[str, Any]], *, study_id: str, coder: str) -> list[Act]:
        """Return the acts of one coder's lines, each checked against its hash and the one before it."""
        rows, texts, last = [], {}, genesis(study_id, coder)
        for line in lines:
            rows.append(tuple({**line, "previous": last}.get(name) for name in _NAMES))
            last = line["hash"]
            if "text_hash" in line:
                texts[line["text_hash"]] = self._text(line)
        chain = links(_NAMES, rows, texts, first=genesis(study_id, coder), broken=self._refused)
        return [link.act for link in ordered(list(chain)) if link.act is not None]

    def _text(self, line: Mapping[str, Any]) -> str | None:
        """Return the text of an act: what stands for it where it is withheld, else what its hash is of."""
        text: str | None = line.get("text")
        if (
            not line.get("withheld")
            and text is not None
            and text_hash(line.get("salt"), text) != line["text_hash"]
        ):
            raise self._refused("another text than was written in an act")
        return text

    @staticmethod
    def _quoted(act: Act, known: Opened, said: Mapping[str, Any]) -> Act:
        """Return the act; where texts are redacted, with the words of its span as they are there now."""
        is_quote = act.traits.subject == "coding" and act.start is not None and act.unit_id in known.texts
        if said["texts"] != "redacted" or not is_quote:
            return act
        return replace(act, text=known.texts[str(act.unit_id)][act.start : act.end])

    def _codebooks(self, said: Mapping[str, Any]) -> dict[str, Codebook]:
        books = {}
        for name in said["files"]:
            if name.startswith("codebooks/"):
                try:
                    books[Path(name).stem] = codebook_as(Path(name).stem, self._file(name, said))
                except CodebookError:
                    raise self._refused(f"no codebook in {name}") from None
        return books

    def _said(self) -> dict[str, Any]:
        try:
            said = signed_json.unseal(read_file(self.path / STUDY, 100_000_000))
            if said["format"] != FORMAT:
                raise ValueError("another format")
        except (OSError, ValueError, KeyError, RecursionError):
            raise self._refused(f"{STUDY} unreadable, changed, or of a later version") from None
        return said

    def _file(self, name: str, said: Mapping[str, Any]) -> bytes:
        with layout.refusing(self.path):
            content = read_file(self.path / name, _MOST)
        if hashlib.sha256(content).hexdigest() != said["files"][name]:
            raise self._refused(f"another {name} than was written")
        return content

    def _refused(self, found: str) -> StoreError:
        return StoreError(
            f"bundle {self.path.name!r}: expected it as it was made – found {found} – get it again from "
            "where it was published."
        )

    def _read_only(self, *_: object, **__: object) -> NoReturn:
        raise StoreError(
            f"bundle {self.path.name!r}: expected a study to write to – found a bundle, which is there to be "
            "read – open the study itself, or keep what you add in files of your own."
        )

    def may_revise(self) -> bool:
        """Return False."""
        return False

    def appends_as_own(self, coder: str) -> bool:
        """Return False."""
        return False

    def withdrawals(self, connection: Connection | None = None) -> list[study_notes.Withdrawal]:
        """Return none: which units are gone stands in ``study.json``."""
        return []

    def create(self, *, units: pd.DataFrame, codebook: Codebook) -> None:
        """Refuse."""
        self._read_only()

    def restore(self, source: Path) -> None:
        """Refuse."""
        self._read_only()

    def accept_loss(self, coder: str, known: Opened, note: object) -> pd.DataFrame:
        """Refuse."""
        self._read_only()

    def add_coder(self, coder: str, *, role: str | None, lead: bool) -> None:
        """Refuse."""
        self._read_only()

    def record(self, coder: str, batch: Sequence[Act], known: Opened, unread: Unread | None = None) -> int:
        """Refuse."""
        self._read_only()

    def revise(self, wish: revise.Wish, known: Opened, append: Callable[[list[Act]], object]) -> Codebook:
        """Refuse."""
        self._read_only()

    def salvage(self, coder: str, target: Path, known: Opened) -> Salvage:
        """Refuse."""
        self._read_only()

    def draft(self, work: str, coder: str) -> dict[str, Any] | None:
        """Return None: no draft goes into a bundle."""
        return None

    def keep_draft(self, work: str, coder: str, draft: Mapping[str, Any] | None, known: Opened) -> bool:
        """Return False: a bundle is there to be read."""
        return False

    def merge(self, other: Path, known: Opened, **_: Any) -> merge.Merge:
        """Refuse."""
        self._read_only()

    def forget(self, case_id: str, *, why: str) -> forget.Forgotten:
        """Refuse."""
        self._read_only()

    def backup(self, target: Path) -> None:
        """Refuse."""
        self._read_only()

    def archive(self, target: Path) -> None:
        """Refuse."""
        self._read_only()

    def hand_out(self, round: str, coder: str, target: Path) -> None:
        """Refuse."""
        self._read_only()

    def as_folder(self, within: Path) -> AbstractContextManager[Path]:
        """Refuse."""
        self._read_only()

    def note(self, value: study_notes.Withdrawal, connection: Connection) -> None:
        """Refuse."""
        self._read_only()

    def note_copy(self, value: study_notes.Copy) -> None:
        """Refuse."""
        self._read_only()

    def exclusively(self) -> AbstractContextManager[None]:
        """Refuse."""
        self._read_only()

    def refuse_unwritable(self, opened: Opened) -> None:
        """Refuse."""
        self._read_only()

    def add_codebook(self, codebook: Codebook) -> None:
        """Refuse."""
        self._read_only()

    def in_transaction(self, coder: str, study: str, work: Callable[[Connection, Path, bool], _T]) -> _T:
        """Refuse."""
        self._read_only()
