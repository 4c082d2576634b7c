"""Read a REFI-QDA project file (.qdpx) of this or another program.

What programs write differently is tolerated where it is clear what is meant, and listed where something is
lost: namespaces, names of folders, braces around identifiers, comments in place of memos, missing texts. What
no program tells is how it counts positions; `_positions` infers that.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._limits import Limits
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.corpus import canonical
from sense7_qual.errors import ArgumentError, ImportRefused
from sense7_qual.exchange import _refi
from sense7_qual.exchange._archive import LIMITS, Archive, local, open_archive
from sense7_qual.exchange._losses import losses_of
from sense7_qual.exchange._positions import RULES, Placed, Rule, Selection, Source, infer, placed
from sense7_qual.exchange._project import Project
from sense7_qual.exchange._read_units import Text, finished_texts, under, units_of
from sense7_qual.tables import CODINGS, MEMOS, RESERVED_CODERS

__all__ = ["read_project"]

_NAMESPACE: Final = "urn:QDA-XML:project:1.0"
_UNKNOWN: Final = "unknown"


def read_project(
    path: str | Path, *, offsets: str | None = None, split: str | None = None, limits: Limits = LIMITS
) -> Project:
    """Read a REFI-QDA project (.qdpx), as ATLAS.ti, MAXQDA, NVivo, QualCoder and others export it.

    The standard counts positions in code points; programs count otherwise and do not say so. How each text's
    positions were counted is therefore inferred from what is selected (ends of words, noted quotes) and is
    stated in ``project.offsets`` with its probability. Where two ways of counting fit alike and place a
    selection differently, nothing is guessed.

    Parameters
    ----------
    path : str or Path
        The file.
    offsets : str, optional
        How positions are counted, where you know it: "code-points" or "utf-16" (NVivo), and where texts have
        line ends of two characters ", CRLF as two", where they begin with a byte order mark ", BOM counted"
        behind it. By default it is inferred.
    split : str, optional
        What stands between the steps of a path in names of codes, such as "::" in ``Coke::diet Coke``
        (ATLAS.ti): such codes are put under headings. By default names stay as they are.
    limits : Limits
        How much the file may hold.

    Returns
    -------
    Project
        Its frames; `Project.losses` lists what was not read. A selection over a whole text becomes a coding
        of the whole unit (`start` and `end` missing). Pictures, audio, video and links are not read.

    Raises
    ------
    ImportRefused
        It is no such file, is damaged or too large, or it cannot be told how positions are counted.
    CodebookError
        Its codes are none that a codebook can hold.
    ArgumentError
        `offsets` is none of the ways to count, or `split` is empty.

    References
    ----------
    REFI-QDA standard 1.5, https://www.qdasoftware.org.

    Examples
    --------
    ``project = exchange.read_project("from_nvivo.qdpx")``, then ``project.offsets`` and ``project.losses``.
    """
    check_arguments(read_project, locals())
    rules = _rules(offsets)
    if split is not None and not split.strip():
        raise ArgumentError(
            f"read_project: expected split as what stands between steps – found {split!r} – such as '::'."
        )
    archive = open_archive(Path(path), limits)
    reader = _Reader(archive.root(), archive, Path(path))
    return reader.project(rules, split)


def _rules(offsets: str | None) -> Sequence[Rule]:
    if offsets is None:
        return RULES
    named = [rule for rule in RULES if rule.name == offsets]
    if not named:
        raise ArgumentError(
            f"read_project: expected offsets as one of {', '.join(rule.name for rule in RULES)} – found "
            f"{str(offsets)[:40]!r} – {did_you_mean(str(offsets), [rule.name for rule in RULES])}"
        )
    return named


class _Reader:
    """Reads one project, and counts what is lost on the way."""

    def __init__(self, root: Element, archive: Archive, path: Path) -> None:
        self.root, self.archive, self.path = root, archive, path
        self.ours = (root.get("origin") or "").startswith(_refi.ORIGIN)
        self.lost: dict[str, list[str]] = defaultdict(list)
        self.coders = _coder_names(root, ours=self.ours)
        self.notes = {_refi.plain_guid(note.get("guid")): note for note in under(self.root, "Notes")}
        self.used_notes: set[str] = set()
        self.codings: list[dict[str, Any]] = []
        self.memos: list[dict[str, Any]] = []
        if archive.project.rpartition("/")[2] != "project.qde":
            self.lost["a project that is not called project.qde in its file: read as if it were"].append(
                archive.project
            )
        if str(root.tag).rpartition("}")[0].lstrip("{") != _NAMESPACE:
            self.lost["another namespace than the standard's: read as if it were that"].append("Project")

    def project(self, rules: Sequence[Rule], split: str | None) -> Project:
        if split is not None:
            paths = _refi.split_names(self.root, split)
            self.lost[f"codes with {split} in their names: put under headings"] += paths
        coded = {
            _refi.plain_guid(each.get("targetGUID")) for each in self.root.iter() if local(each) == "CodeRef"
        }
        codebook, self.codes, changed = _refi.read_codebook(self.root, self.path.stem, coded)
        self.lost["codes that only group others, yet are applied: made codes that can be applied"] += changed
        texts = self._texts()
        chosen = self._placed(texts, rules)
        for text in texts:
            self._read_codings(text, chosen[text.unit_id])
        self._memos_elsewhere()
        self._count_the_rest()
        units = units_of(self.root, texts, ours=self.ours, lost=self.lost)
        fingerprint = None if codebook is None else codebook.fingerprint
        coverage, undecided = finished_texts(self.root, texts, fingerprint, self.lost)
        codings = self._coding_frame(codebook)
        coders = sorted({*codings["coder"], *coverage["coder"], *(memo["coder"] for memo in self.memos)})
        return Project(
            name=self.root.get("name") or self.path.stem,
            origin=self.root.get("origin") or "",
            units=units,
            codings=codings,
            coverage=coverage,
            undecided=undecided,
            memos=MEMOS.check(pd.DataFrame(self.memos, columns=list(MEMOS.columns))),
            codebook=codebook,
            coders=tuple(coders),
            offsets=_offsets_frame(texts, chosen),
            losses=losses_of(self.lost.items()),
        )

    def _texts(self) -> list[Text]:
        texts: list[Text] = []
        taken: Counter[str] = Counter()
        for source in under(self.root, "Sources"):
            kind = local(source)
            written = source if kind == "TextSource" else _child(source, "Representation")
            name = _refi.name_of(source, ours=self.ours)
            if written is None:
                self.lost[f"sources of the kind {kind}: not read, nor what is coded in them"].append(name)
                continue
            raw = self._raw(written)
            if raw is None or not canonical(raw).strip():
                raw = None
                self.lost[
                    "texts that are not in the file: missing; codings on them as the file has them"
                ].append(name)
            if kind != "TextSource":
                self.lost[f"pages of {kind}: their text alone was read"].append(name)
            taken[name] += 1
            unit_id = name if taken[name] == 1 else f"{name} ({taken[name]})"
            if taken[name] > 1:
                self.lost["texts of one name: numbered"].append(unit_id)
            selections = [each for each in written if local(each) == "PlainTextSelection"]
            texts.append(Text(unit_id, source if kind == "TextSource" else written, raw, selections))
        return texts

    def _raw(self, source: Element) -> str | None:
        """Return a text as the file has it; None where it is empty, elsewhere, or in no known encoding."""
        inline = _child(source, "PlainTextContent")
        if inline is not None and inline.text:
            return inline.text
        where = source.get("plainTextPath") or ""
        content = self.archive.file(where.partition("://")[2]) if where.startswith("internal://") else None
        if content is None:
            return None
        encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            return None

    def _placed(self, texts: Sequence[Text], rules: Sequence[Rule]) -> dict[str, Placed]:
        sources = [
            Source(text.unit_id, text.raw, tuple(self._selection(each) for each in text.selections))
            for text in texts
            if text.raw is not None
        ]
        if self.ours and len(rules) > 1:  # our own files say how they count
            stated = self.root.get("origin", "").rpartition(" ")[2]
            rules = [rule for rule in RULES if rule.name == stated] or rules
        chosen = {text.unit_id: _unplaced(text.selections) for text in texts if text.raw is None}
        unsure = []
        for source, probability in zip(sources, infer(sources, among=rules), strict=True):
            place = placed(source, probability)
            if place is None:
                unsure.append(source.unit_id)
                continue
            chosen[source.unit_id] = place
            moved = [source.unit_id] * len(place.inside)
            self.lost["selections with an end inside a character or outside the text: moved"] += moved
        self._quotes_that_differ(chosen)
        if unsure:
            raise ImportRefused(
                f"{self.path.name}: expected selections that show how positions are counted – found several "
                f"ways of counting that fit alike in {len(unsure)} texts ({first_three(unsure)}) – ask which "
                "program wrote it, and pass offsets='utf-16' (NVivo) or 'code-points' (the standard)."
            )
        return chosen

    def _quotes_that_differ(self, chosen: Mapping[str, Placed]) -> None:
        """Count selections of other words than are noted beside them, where names are quotes at all."""
        n_same = sum(place.quotes for place in chosen.values())
        other = [
            unit_id for unit_id, place in chosen.items() for _ in range(place.quotes_noted - place.quotes)
        ]
        if n_same >= len(other):
            self.lost["selections whose words are not the quote noted beside them: check them"] += other

    def _selection(self, element: Element) -> Selection:
        name = element.get("name") or ""
        quote = "" if name == _refi.WHOLE else name
        return Selection(_position(element, "startPosition"), _position(element, "endPosition"), quote)

    def _read_codings(self, text: Text, chosen: Placed) -> None:
        length = -1 if text.raw is None else len(canonical(text.raw))
        for coding in (each for each in text.element if local(each) == "Coding"):
            self._add(text, coding, None, text.element)
        for selection, (start, end) in zip(text.selections, chosen.spans, strict=True):
            if start >= end:
                self.lost["selections of no text: not read"].append(text.unit_id)
                continue
            whole = (start, end) == (0, length) and not (self.ours and selection.get("name") != _refi.WHOLE)
            if whole and not self.ours:
                self.lost["selections of a whole text: read as codings of the whole text"].append(
                    text.unit_id
                )
            span = None if whole else (start, end)
            codings = [each for each in selection if local(each) == "Coding"]
            for coding in codings:
                self._add(text, coding, span, selection)
            for note in _references(selection):
                self._add_memo(note, "unit" if whole else "span", text.unit_id, span)
            comment = _refi.description(selection).strip()
            if comment:
                self._comment(comment, selection, text.unit_id, span)
        for note in _references(text.element):
            self._add_memo(note, "unit", text.unit_id, None)
        comment = _refi.description(text.element)
        if comment.strip() and not self.ours:
            self._comment(comment, text.element, text.unit_id, None)

    def _add(self, text: Text, coding: Element, span: tuple[int, int] | None, at: Element) -> None:
        reference = _child(coding, "CodeRef")
        code = self.codes.get(_refi.plain_guid(None if reference is None else reference.get("targetGUID")))
        if code is None:
            self.lost["codings with a code that the project does not have: not read"].append(text.unit_id)
            return
        start, end = span or (None, None)
        row = {
            "unit_id": text.unit_id, "coder": self._coder(coding, at), "code": code, "start": start,
            "end": end, "act_id": _refi.plain_guid(coding.get("guid")), "at": coding.get("creationDateTime"),
        }  # fmt: skip
        for note in _references(coding):
            written = self.notes.get(note)
            stated = (
                _refi.lines_of(self._note_text(written), _refi.NOTE_ON_CODING)
                if written is not None
                else None
            )
            if stated is None:
                self._add_memo(note, "unit" if span is None else "span", text.unit_id, span)
            else:
                self.used_notes.add(note)
                row |= stated
        self.codings.append(row)

    def _coder(self, *elements: Element) -> str:
        for element in elements:
            for attribute in ("creatingUser", "modifyingUser"):
                coder = self.coders.get(_refi.plain_guid(element.get(attribute)))
                if coder is not None:
                    return coder
        self.lost["codings and memos of nobody: their coder is called 'unknown'"].append(_UNKNOWN)
        return _UNKNOWN

    def _note_text(self, note: Element) -> str:
        return canonical(self._raw(note) or "")

    def _add_memo(self, note_id: str, kind: str, target: str | None, span: tuple[int, int] | None) -> None:
        note = self.notes.get(note_id)
        if note is None:
            self.lost["memos that are referred to, and not in the file"].append(target or "study")
            return
        again = note_id in self.used_notes
        self.used_notes.add(note_id)
        text = self._note_text(note)
        if not text.strip():
            self.lost["memos without words"].append(target or "study")
            return
        stated = _refi.lines_of(_refi.description(note), _refi.MEMO) or {}
        start, end = span or (None, None)
        self.memos.append({
            "memo_id": f"{note_id} ({len(self.memos) + 1})" if again else note_id, "target_kind": kind,
            "target_id": target, "coder": self._coder(note), "text": text, "at": note.get("creationDateTime"),
            "start": start, "end": end, "round": stated.get("round"),
        })  # fmt: skip

    def _comment(self, comment: str, element: Element, target: str, span: tuple[int, int] | None) -> None:
        """Read a description as a memo: some programs write comments there."""
        start, end = span or (None, None)
        self.memos.append({
            "memo_id": f"comment on {_refi.plain_guid(element.get('guid'))}",
            "target_kind": "unit" if span is None else "span", "target_id": target,
            "coder": self._coder(element), "text": canonical(comment), "at": element.get("creationDateTime"),
            "start": start, "end": end, "round": None,
        })  # fmt: skip
        self.lost["comments in place of memos: read as memos"].append(target or "study")

    def _memos_elsewhere(self) -> None:
        book = [each for each in self.root if local(each) == "CodeBook"]
        for code in (each for one in book for each in one.iter() if local(each) == "Code"):
            for note in _references(code):
                self._add_memo(note, "code", self.codes[_refi.plain_guid(code.get("guid"))], None)
        for note in _references(self.root):
            self._add_memo(note, "study", None, None)
        for note in [each for each in self.notes if each not in self.used_notes]:
            self._add_memo(note, "study", None, None)

    def _count_the_rest(self) -> None:
        for wrapper, what in (("Links", "links"), ("Graphs", "maps and graphs")):
            self.lost[f"{what}: not read"] += [each.get("name") or "" for each in under(self.root, wrapper)]
        for kind in ("SelectionRef", "PDFSelection"):
            n = sum(local(each) == kind for each in self.root.iter())
            self.lost[f"elements of the kind {kind}: not read"] += [kind] * n

    def _coding_frame(self, codebook: Any) -> pd.DataFrame:
        facets = [] if codebook is None else [facet.name for facet in codebook.facets]
        rows = pd.DataFrame(self.codings, columns=[*CODINGS.columns, *facets])
        rows[facets] = rows[facets].astype("string")
        rows["codebook"] = None if codebook is None else codebook.fingerprint
        twice = rows.duplicated(list(CODINGS.key))
        self.lost["codings that stand there twice: read once"] += list(rows.loc[twice, "unit_id"])
        return CODINGS.check(rows[~twice], as_written=True)


def _child(element: Element, name: str) -> Element | None:
    return next((each for each in element if local(each) == name), None)


def _references(element: Element) -> Iterator[str]:
    return (_refi.plain_guid(each.get("targetGUID")) for each in element if local(each) == "NoteRef")


def _position(element: Element, name: str) -> int:
    written = (element.get(name) or "").strip()
    return int(written) if re.fullmatch(r"[+-]?\d{1,15}", written) else -1


def _unplaced(selections: Sequence[Element]) -> Placed:
    """Return selections where the file has them: without the text, nothing shows how it counts."""
    spans = tuple((_position(each, "startPosition"), _position(each, "endPosition")) for each in selections)
    return Placed("not known: the text is missing", math.nan, spans, 0, 0, 0, ())


def _coder_names(root: Element, *, ours: bool) -> dict[str, str]:
    """Return a pseudonym for each user, such that no two differ in upper and lower case alone."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    users = [user for each in root if local(each) == "Users" for user in each]
    for user in users:
        name = _refi.name_of(user, ours=ours)
        person, number = name, 1
        while person.casefold() in taken or (
            person.casefold() in RESERVED_CODERS and person not in RESERVED_CODERS
        ):
            number += 1
            person = f"{name} ({number})"
        taken.add(person.casefold())
        names[_refi.plain_guid(user.get("guid"))] = person
    return names


def _offsets_frame(texts: Sequence[Text], chosen: dict[str, Placed]) -> pd.DataFrame:
    rows = [
        (text.unit_id, each.rule, each.score, len(each.spans), each.on_borders / (2 * len(each.spans)),
         each.quotes_noted, each.quotes)
        for text in texts
        if (each := chosen[text.unit_id]).spans
    ]  # fmt: skip
    columns = ["unit_id", "rule", "score", "selections", "on_borders", "quotes_noted", "quotes"]
    return pd.DataFrame(rows, columns=columns)
