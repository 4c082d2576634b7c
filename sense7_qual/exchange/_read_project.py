"""Read a REFI-QDA project file (.qdpx) of this or another program.

What programs write differently is tolerated where it is clear what is meant, and listed where something is
lost: namespaces, names of folders, braces around identifiers, comments instead of memos, missing texts. What
no program tells is how it counts positions; `_positions` infers that.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._limits import Limits
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.codebook import Codebook
from sense7_qual.corpus import canonical
from sense7_qual.errors import ArgumentError, ImportRefused
from sense7_qual.exchange import _refi
from sense7_qual.exchange._archive import LIMITS, Archive, Tree, local, open_archive, plain_guid
from sense7_qual.exchange._positions import RULES, Placed, Rule, Selection, Source, infer, is_quote, placed
from sense7_qual.exchange._project import QUOTATIONS, LossReport, Project, has_place, losses_of, put_in_place
from sense7_qual.exchange._read_variables import Memos, Text, groups_of, texts_by_guid, units_of, written_text
from sense7_qual.frames import CODINGS, MODEL_PREFIX, RESERVED_CODERS, is_model

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
        How positions are counted, if you know it: "code-points" or "utf-16" (NVivo), followed by ", CRLF as
        two" if line ends count as two characters and ", BOM counted" if a byte order mark counts. By default
        it is inferred.
    split : str, optional
        The separator of paths in names of codes, such as "::" in ``Coke::diet Coke``
        (ATLAS.ti): such codes are put under headings. By default names stay as they are.
    limits : Limits
        The largest file, and most contents, that are read.

    Returns
    -------
    Project
        Its frames; `Project.losses` lists what was not read. A selection over a whole text becomes a coding
        of the whole unit (`start` and `end` missing). Pictures, audio, video and links are not read.

    Raises
    ------
    ImportRefused
        It is no such file, is damaged or too large, or its way of counting positions cannot be inferred.
    CodebookError
        A codebook cannot hold its codes.
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
            f"read_project: expected split as the separator of paths – found {split!r} – give it as '::', "
            "or leave it out."
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
        self.tree, self.archive, self.path = Tree(root), archive, path
        self.ours = (root.get("origin") or "").startswith(_refi.ORIGIN)
        self.lost: dict[str, list[str]] = defaultdict(list)
        self.coders = _coder_names(self.tree, ours=self.ours)
        self.memos = Memos(self.tree, archive, self._coder, self.lost)
        self.codes: dict[str, str] = {}
        self.codings: list[dict[str, Any]] = []
        self.quotations: list[dict[str, Any]] = []
        if archive.project.rpartition("/")[2] != "project.qde":
            self.lost["a project that is not called project.qde in its file: read as if it were"].append(
                archive.project
            )
        if str(root.tag).rpartition("}")[0].lstrip("{") != _NAMESPACE:
            self.lost["another namespace than the standard's: read as if it were that"].append("Project")

    def project(self, rules: Sequence[Rule], split: str | None) -> Project:
        root = self.tree.root
        self.lost["codings that are not where the standard has them: read from there"] += put_in_place(
            self.tree
        )
        codebook, codes = self._codebook(split)
        texts = self._texts()
        chosen = self._placed(texts, rules)
        for text in texts:
            self._read_codings(text, chosen[text.unit_id])
        self.memos.elsewhere(codes)
        groups = groups_of(self.tree, texts_by_guid(texts), self.codes, ours=self.ours, lost=self.lost)
        units = units_of(self.tree, self.archive, texts, groups.of_texts, ours=self.ours, lost=self.lost)
        coverage = groups.coverage(None if codebook is None else codebook.fingerprint)
        codings, quotations = self._coding_frame(codebook), self._quotation_frame()
        coders = {*codings["coder"], *coverage["coder"], *quotations["coder"], *self.memos.coders}
        return Project(
            name=root.get("name") or self.path.stem,
            origin=root.get("origin") or "",
            description=canonical(self.tree.description(root)),
            units=units,
            codings=codings,
            coverage=coverage,
            undecided=groups.open_decisions(),
            memos=self.memos.frame(),
            quotations=quotations,
            codebook=codebook,
            groups=groups.frame(),
            coders=tuple(sorted(coders)),
            offsets=_offsets_frame(texts, chosen),
            losses=self._losses(coders),
        )

    def _codebook(self, split: str | None) -> tuple[Codebook | None, dict[Element, str]]:
        root = self.tree.root
        if split is not None:
            paths = _refi.split_names(root, split)
            self.lost[f"codes with {split} in their names: put under headings"] += paths
        coded = {plain_guid(each.get("targetGUID")) for each in root.iter() if local(each) == "CodeRef"}
        codebook, codes, changed = _refi.read_codebook(self.tree, self.path.stem, coded)
        self.codes = {plain_guid(element.get("guid")): code for element, code in codes.items()}
        self.lost["codes that only group others, yet are applied: made codes that can be applied"] += changed
        return codebook, codes

    def _losses(self, coders: set[str]) -> LossReport:
        self.lost["users who did nothing that was read: not among the coders"] += [
            name for name in self.coders.values() if name not in coders
        ]
        for what, where in self.tree.unread():
            self.lost[what].append(where)
        return losses_of(self.lost.items())

    def _texts(self) -> list[Text]:
        texts: list[Text] = []
        taken: Counter[str] = Counter()
        for source in self.tree.under("Sources"):
            kind = local(source)
            written = source if kind == "TextSource" else self.tree.first(source, "Representation")
            name = _refi.name_of(source, ours=self.ours)
            if written is None:
                self.lost[f"sources of the kind {kind}: not read, nor what is coded in them"].append(name)
                continue
            raw = written_text(self.tree, self.archive, written)
            if raw is None or not canonical(raw).strip():
                raw = None
                self.lost[
                    "texts that are not in the file: missing; codings on them as the file has them"
                ].append(name)
            if kind != "TextSource":
                self.lost[f"pages of {kind}: their text alone was read"].append(name)
            self.archive.hand_out(raw)
            taken[name] += 1
            unit_id = name if taken[name] == 1 else f"{name} ({taken[name]})"
            if taken[name] > 1:
                self.lost["texts of one name: numbered"].append(unit_id)
            selections = self.tree.of(written, "PlainTextSelection")
            elements = (source,) if kind == "TextSource" else (source, written)
            texts.append(Text(unit_id, elements, raw, selections))
        return texts

    def _placed(self, texts: Sequence[Text], rules: Sequence[Rule]) -> dict[str, Placed]:
        sources = [
            Source(text.unit_id, text.raw, tuple(self._selection(each) for each in text.selections))
            for text in texts
            if text.raw is not None
        ]
        if self.ours and len(rules) > 1:  # our own files say how they count
            stated = self.tree.root.get("origin", "").rpartition(" ")[2]
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
                f"{self.path.name}: several ways of counting positions fit equally well in {len(unsure)} "
                f"texts ({first_three(unsure)}). Nothing was read. Find out which program wrote the file, "
                "and pass offsets='utf-16' (NVivo) or 'code-points' (the standard)."
            )
        return chosen

    def _quotes_that_differ(self, chosen: Mapping[str, Placed]) -> None:
        """Count selections of other words than are noted beside them, where names are quotes at all."""
        n_same = sum(place.quotes for place in chosen.values())
        other = [
            unit_id for unit_id, place in chosen.items() for _ in range(place.quotes_noted - place.quotes)
        ]
        if n_same >= len(other):
            self.lost["selections with other words than the quote noted with them: check them"] += other

    def _selection(self, element: Element) -> Selection:
        name = element.get("name") or ""
        quote = "" if name == _refi.WHOLE else name
        return Selection(_position(element, "startPosition"), _position(element, "endPosition"), quote)

    def _read_codings(self, text: Text, chosen: Placed) -> None:
        for element in text.elements:
            for coding in self.tree.of(element, "Coding"):
                if not has_place(coding):  # or else it is under a selection, too
                    self._add(text, coding, None, element)
        length = -1 if text.raw is None else len(canonical(text.raw))
        for selection, (start, end) in zip(text.selections, chosen.spans, strict=True):
            if start >= end:
                self.lost["selections of no text: not read"].append(text.unit_id)
                continue
            whole = (start, end) == (0, length) and not (self.ours and selection.get("name") != _refi.WHOLE)
            self._read_selection(text, selection, (start, end), whole=whole)
        for element in text.elements:
            if not self.ours:
                self.memos.comment(element, "unit", text.unit_id, None)
            for note in self.tree.references(element) if self.ours else []:
                self.memos.add(note, "unit", text.unit_id, None)

    def _read_selection(self, text: Text, selection: Element, place: tuple[int, int], *, whole: bool) -> None:
        span = None if whole else place
        codings = self.tree.of(selection, "Coding")
        for coding in codings:
            self._add(text, coding, span, selection)
        if whole and codings and not self.ours:
            self.lost["selections of a whole text: read as codings of the whole text"].append(text.unit_id)
        remarked = self.memos.comment(selection, "unit" if whole else "span", text.unit_id, span)
        if not codings and not remarked:
            self._add_quotation(text, selection, place)

    def _add_quotation(self, text: Text, selection: Element, place: tuple[int, int]) -> None:
        name, coder = selection.get("name") or "", self._coder(selection)
        words = "" if text.raw is None else canonical(text.raw)[slice(*place)]
        own = None if not name or is_quote(words, name) else name
        self.archive.hand_out(text.unit_id, coder, own)
        self.quotations.append(
            {
                "unit_id": text.unit_id,
                "coder": coder,
                "start": place[0],
                "end": place[1],
                "name": own,
                "at": selection.get("creationDateTime"),
            }
        )

    def _add(self, text: Text, coding: Element, span: tuple[int, int] | None, at: Element) -> None:
        reference = self.tree.first(coding, "CodeRef")
        code = self.codes.get(plain_guid(None if reference is None else reference.get("targetGUID")))
        if code is None:
            self.lost["codings with a code that the project does not have: not read"].append(text.unit_id)
            return
        start, end = span or (None, None)
        row = {
            "unit_id": text.unit_id,
            "coder": self._coder(coding, at),
            "code": code,
            "start": start,
            "end": end,
            "act_id": plain_guid(coding.get("guid")),
            "at": coding.get("creationDateTime"),
        }
        for note in self.tree.references(coding):
            stated = self.memos.beside_coding(note)
            if stated is None:
                self.memos.add(note, "unit" if span is None else "span", text.unit_id, span)
            else:
                row |= stated
        self.archive.hand_out(*(value for value in row.values() if isinstance(value, str)))
        self.codings.append(row)

    def _coder(self, *elements: Element) -> str:
        for element in elements:
            for attribute in ("creatingUser", "modifyingUser"):
                coder = self.coders.get(plain_guid(element.get(attribute)))
                if coder is not None:
                    return coder
        self.lost["codings and memos of nobody: their coder is called 'unknown'"].append(_UNKNOWN)
        return _UNKNOWN

    def _coding_frame(self, codebook: Any) -> pd.DataFrame:
        facets = [] if codebook is None else [facet.name for facet in codebook.facets]
        rows = pd.DataFrame(self.codings, columns=[*CODINGS.columns, "suggestions", *facets])
        rows[["suggestions", *facets]] = rows[["suggestions", *facets]].astype("string")
        rows["codebook"] = None if codebook is None else codebook.fingerprint
        twice = rows.duplicated(list(CODINGS.key))
        self.lost["codings repeated in the file: read once"] += list(rows.loc[twice, "unit_id"])
        return CODINGS.check(rows[~twice], as_written=True)

    def _quotation_frame(self) -> pd.DataFrame:
        rows = pd.DataFrame(self.quotations, columns=list(QUOTATIONS.columns))
        twice = rows.duplicated(list(QUOTATIONS.key))
        self.lost["selections without a code repeated in the file: read once"] += list(
            rows.loc[twice, "unit_id"]
        )
        return QUOTATIONS.check(rows[~twice], as_written=True)


def _position(element: Element, name: str) -> int:
    written = (element.get(name) or "").strip()
    return int(written) if re.fullmatch(r"[+-]?\d{1,15}", written) else -1


def _unplaced(selections: Sequence[Element]) -> Placed:
    """Return selections where the file has them: without the text, nothing shows how it counts."""
    spans = tuple((_position(each, "startPosition"), _position(each, "endPosition")) for each in selections)
    return Placed("not known: the text is missing", math.nan, spans, 0, 0, 0, ())


def _coder_names(tree: Tree, *, ours: bool) -> dict[str, str]:
    """Return a pseudonym for each user, such that no two differ in upper and lower case alone."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for user in tree.under("Users", "User"):
        name = _refi.name_of(user, ours=ours)
        if name.lower().startswith(MODEL_PREFIX) and not is_model(name):
            name = name.replace("-", " ", 1)  # in another case it names a person, as far as is known
        person, number = name, 1
        while person.casefold() in taken or (
            person.casefold() in RESERVED_CODERS and person not in RESERVED_CODERS
        ):
            number += 1
            person = f"{name} ({number})"
        taken.add(person.casefold())
        names[plain_guid(user.get("guid"))] = person
    return names


def _offsets_frame(texts: Sequence[Text], chosen: dict[str, Placed]) -> pd.DataFrame:
    rows = [
        (
            text.unit_id,
            each.rule,
            each.score,
            len(each.spans),
            each.on_borders / (2 * len(each.spans)),
            each.quotes_noted,
            each.quotes,
        )
        for text in texts
        if (each := chosen[text.unit_id]).spans
    ]
    columns = ["unit_id", "rule", "score", "selections", "on_borders", "quotes_noted", "quotes"]
    return pd.DataFrame(rows, columns=columns)
