"""A bundle as the store opens it: a study that can be read and analysed, and not be written.

What a bundle holds (``write.py``) is a study without what must not leave the lead's computer
(``withhold.py``), the script that recomputes every table and figure of it (``rerun.py``), and what a stranger
has to be told (``describe.py``).

=============================  ======================================================================
file of a bundle               holds
=============================  ======================================================================
``record/study.json``          sealed: which study, in which form, and the SHA-256 of each file below
``record/acts.jsonl``          one act a line, with its hash in the chain; texts as far as they may be there
``codebooks/<id>.yaml``        every version of the codebook
``data/units.parquet``         the units, with replacements for withheld texts
=============================  ======================================================================

The chain of each coder is checked as it is in a study folder: the hashes are those of the study itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import Connection

from sense7_qual._limits import read_file
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import CodebookError, StoreError
from sense7_qual.store._backend import Current, Place
from sense7_qual.store._operations import verify
from sense7_qual.store._stored import acts_tables, layout, whole_files
from sense7_qual.store._stored.hash_chain import genesis, links, ordered, text_hash
from sense7_qual.store._stored.layout import StudyData
from sense7_qual.store._stored.study_notes import Copy, Withdrawal

__all__ = ["ACTS", "FORMAT", "STUDY", "UNITS", "Bundle", "codebook_as", "is_bundle"]

_Note = TypeVar("_Note", Withdrawal, Copy)

FORMAT: Final = "sense7_qual bundle 1"
STUDY: Final = "record/study.json"
ACTS: Final = "record/acts.jsonl"
UNITS: Final = "data/units.parquet"
_MOST: Final = 4_000_000_000  # bytes of a file
_NAMES: Final = tuple(column.name for column in acts_tables.ACTS.columns)


def is_bundle(path: Path) -> bool:
    """Return True if there is a bundle at `path`, sound or not."""
    with layout.refusing(path):
        return (path / STUDY).exists() and not layout.is_study(path)


def codebook_as(fingerprint: str, content: bytes) -> Codebook:
    """Return the codebook in `content`, under the fingerprint that it has with its examples.

    Acts name the codebook by that, and a codebook without examples would have another.
    """
    book = Codebook.from_yaml(content)
    vars(book)["fingerprint"] = fingerprint  # instead of the cached property
    return book


@dataclass(slots=True)
class Bundle:
    """The bundle in the folder `path`; its methods are as `Reads` says."""

    path: Path
    place: Place = field(init=False)

    def __post_init__(self) -> None:
        self.place = Place(self.path, self.path.name, self.path)

    def exists(self) -> bool:
        """Return True."""
        return True

    def contents(self) -> StudyData:
        """Return all but the acts, checked."""
        said = self._said()
        study = layout.Study(**{each.name: said[each.name] for each in fields(layout.Study)})
        table = self._file(UNITS, said)
        published = replace(study, units_sha256=hashlib.sha256(table).hexdigest())
        units = layout.units_of(table, published, name=self.path.name)
        return StudyData.of(study, units, self._codebooks(said), said["withdrawn_units"])

    def current(self) -> Current:
        """Return the current codebook and the withdrawn units."""
        said = self._said()
        return Current(str(said["codebook"]), frozenset(said["withdrawn_units"]))

    def leads(self) -> bool:
        """Return False."""
        return False

    def coders(self) -> tuple[str, ...]:
        """Return the pseudonyms of those who have acts, sorted."""
        return tuple(sorted(self._said()["coders"]))

    def acts(self, coder: str | None, known: StudyData, whole: object = None) -> list[Act]:
        """Return the acts of a coder, or of all, the whole record checked."""
        said = self._said()
        lines = [json.loads(line) for line in self._file(ACTS, said).splitlines()]
        acts = []
        for name, theirs in groupby(lines, key=lambda line: str(line["coder"])):
            read = self._chain(list(theirs), study_id=known.study.id, coder=name)
            acts += [self._quoted(act, known, said) for act in read if coder in (None, name)]
        return acts

    def read(self, coder: str, work: object) -> None:
        """Return None: nothing is remembered of a bundle that could be lost."""

    def lead_acts(self, known: StudyData, subject: str) -> list[Act]:
        """Return the leads' acts for the team about one subject."""
        return [act for act in self.acts(None, known) if act.traits.subject == subject]

    def notes(self, kind: type[_Note], within: Connection | None = None) -> list[_Note]:
        """Return none: ``study.json`` names the units that are gone."""
        return []

    def verify(self, known: StudyData) -> list[verify.Finding]:
        """Return one finding per file (is it as it was written?) and per coder (is the chain?)."""
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
    def _quoted(act: Act, known: StudyData, said: Mapping[str, Any]) -> Act:
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
            said = whole_files.unseal(read_file(self.path / STUDY, 100_000_000))
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
