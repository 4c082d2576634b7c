"""Verification: every byte of a study that says something is checked against what vouches for it.

- ``study.json`` and the notes of withdrawals and copies vouch for themselves, byte for byte.
- ``units.parquet`` by its SHA-256 in ``study.json``, or in the note of the withdrawal that rewrote it.
- Each codebook by the fingerprint in its name, and by being what that codebook is written as.
- Each acts file by SQLite's own check of its pages and indices, by its tables being those of its version, by
  the chain of hashes over all acts, by the salted hash of every quote and memo, and by quotes being the
  words of their units. Its acts are folded once more. It must hold every act that it held when a backup or
  archive was last made, so a file that was put back from an older copy shows.

What is left of an acts file are bytes that nothing reads: free space within and between pages, and counters
in the header that SQLite uses as hints. Verification does not look at places but at values: it reads every
value of every table, through both the tables and the indices, so a flipped bit that it does not find has
changed none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeVar

import pandas as pd
from sqlalchemy import Connection, select

from sense7_qual._messages import first_three, legible
from sense7_qual.acts import Act, fold
from sense7_qual.acts.contents import SpanMemo
from sense7_qual.errors import ActError, StoreError, TableError
from sense7_qual.store._operations.contents import has_readable_change
from sense7_qual.store._stored import acts_files, acts_tables, layout, study_notes, units_parquet
from sense7_qual.store._stored.hash_chain import Link, ordered
from sense7_qual.store._stored.layout import HandedOut, Study
from sense7_qual.store._stored.study_notes import Copy, Withdrawal

_Note = TypeVar("_Note", Withdrawal, Copy)
Reading = Callable[[Connection, str, Sequence[Link]], None]
"""What else wants a coder's acts while they are read: it is called with each chain that is whole."""
RESPELT: Final = "not the bytes that were written"
"""The problem of a codebook that is the one it should be, in another spelling."""
_AGAIN: Final = "call store.forget again for"

_COLUMNS: Final = {
    "file": "string",
    "coder": "string",
    "n_acts": "Int64",
    "ok": "bool",
    "problem": "string",
    "note": "string",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found in one file: a problem, or none; a note where there is something to know."""

    file: str
    coder: str | None = None
    n_acts: int | None = None
    problem: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What acts are judged by: the study, its texts (none where they cannot be read), its codebooks, its
    notes of withdrawals and copies, and what was handed out, where this is a hand-out."""

    study: Study
    texts: Mapping[str, str] | None = field(repr=False)
    codebooks: frozenset[str]
    withdrawn: Sequence[Withdrawal]
    copies: Sequence[Copy]
    handed: HandedOut | None = field(default=None, repr=False)

    @property
    def withheld(self) -> frozenset[str]:
        """The units whose texts were not handed out."""
        return frozenset(self.handed.withheld) if self.handed else frozenset()

    @property
    def case_of_unit(self) -> dict[str, str]:
        """The participants who withdrew, by each of their units."""
        return {unit_id: each.case_id for each in self.withdrawn for unit_id in each.unit_ids}

    def is_extract(self, coder: str) -> bool:
        """Whether of this coder's acts only those were handed out that another coder needs."""
        return self.handed is not None and self.handed.coder != coder


@dataclass(frozen=True, slots=True, repr=False)
class Parts:
    """What a place keeps of a study but its acts, by what findings call each part: its bytes, or in words why
    it cannot be read. `coders` have acts there, `later` are hashes of units that withdrawals left, and
    `handed` says what was handed out."""

    study: Study
    name: str
    units: tuple[str, bytes | str]
    codebooks: Mapping[str, bytes | str]
    withdrawn: Mapping[str, bytes | str]
    copies: Mapping[str, bytes | str]
    coders: Collection[str]
    later: frozenset[str] = frozenset()
    handed: HandedOut | None = None


def verify(parts: Parts, acts: Callable[[Known], Iterable[Finding]]) -> list[Finding]:
    """Return the findings about each part of a study and about its `acts`; damage raises nothing."""
    withdrawn, of_withdrawals = _notes(parts.withdrawn, Withdrawal)
    copies, of_copies = _notes(parts.copies, Copy)
    texts, of_units = _units(parts, withdrawn)
    of_codebooks = list(_codebooks(parts))
    sound = frozenset(Path(each.file).stem for each in of_codebooks if each.problem in ("", RESPELT))
    known = Known(parts.study, texts, sound, withdrawn, copies, parts.handed)
    findings = [of_units, *of_codebooks, *of_withdrawals, *of_copies, *acts(known)]
    return [*findings, *_missing(parts.coders, copies)]


def _notes(contents: Mapping[str, bytes | str], kind: type[_Note]) -> tuple[list[_Note], list[Finding]]:
    notes: list[_Note] = []
    findings = []
    for name, content in contents.items():
        try:
            note = study_notes.note_of(_read(content), Path(name).stem, kind)
        except StoreError as error:
            findings.append(Finding(name, problem=str(error)))
            continue
        notes.append(note)
        findings.append(Finding(name, note=note.sentence))
    return notes, findings


def _units(parts: Parts, withdrawn: Sequence[Withdrawal]) -> tuple[dict[str, str] | None, Finding]:
    name, content = parts.units
    later = parts.later | {each.units_sha256 for each in withdrawn}
    later |= {parts.handed.units_sha256} if parts.handed else set()
    try:
        units = layout.units_of(_read(content), parts.study, name=parts.name, later=later)
    except (StoreError, TableError) as error:
        return None, Finding(name, problem=str(error))
    remaining = units_parquet.without(units, withdrawn)
    still = [each.case_id for each in withdrawn if units["unit_id"].isin(each.unit_ids).any()]
    problem = (
        f"still holds texts of participants who withdrew – {_AGAIN} {first_three(still)}" if still else ""
    )
    return dict(zip(remaining["unit_id"], remaining["text"], strict=True)), Finding(name, problem=problem)


def _codebooks(parts: Parts) -> Iterator[Finding]:
    for fingerprint, content in parts.codebooks.items():
        name = f"codebooks/{fingerprint}.yaml"
        try:
            codebook = layout.codebook_of(parts.name, fingerprint, _read(content))
        except StoreError as error:
            yield Finding(name, problem=str(error))
        else:
            yield Finding(name, problem="" if codebook.to_yaml() == content else RESPELT)
    if parts.study.codebook not in parts.codebooks:
        yield Finding(f"codebooks/{parts.study.codebook}.yaml", problem="missing, the current codebook")


def _read(content: bytes | str) -> bytes:
    if isinstance(content, str):
        raise StoreError(content)
    return content


def frame_of(findings: Sequence[Finding]) -> pd.DataFrame:
    """Return findings as the frame that `Store.verify` promises."""
    rows = [
        (legible(f.file), legible(f.coder), f.n_acts, not f.problem, legible(f.problem), legible(f.note))
        for f in findings
    ]
    return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(dict(_COLUMNS))


def with_lost(findings: Sequence[Finding], lost: Mapping[str, str]) -> list[Finding]:
    """Return the findings with what is missing of each coder's acts that were seen here before."""
    told = {finding.file: finding for finding in findings}
    for coder, missing in lost.items():
        name = coder if coder in told else f"acts/{coder}.sqlite"
        finding = told.get(name, Finding(name, coder))
        problems = "; ".join(filter(None, [f"lacks {missing}", finding.problem]))
        told[name] = replace(finding, problem=problems)
    return list(told.values())


def misquoted(act: Act, texts: Mapping[str, str]) -> bool:
    """Return True if an act carries other words than its span has in the unit."""
    is_memo = act.traits.subject == "memo" and act.target_kind == "span"
    if not act.text or not (is_memo or act.traits.text == "quote"):
        return False
    words = str(texts.get(str(act.unit_id), ""))[act.start : act.end]
    if is_memo:
        return has_readable_change(act) and SpanMemo.from_text(act.text).quote != words
    return act.start is None or act.text != words


def of_acts(
    connection: Connection,
    place: Path,
    name: str,
    known: Known,
    problems: Sequence[str] = (),
    also: Reading | None = None,
) -> Finding:
    """Return the finding about the acts of the coder ``place``: chain, texts, quotes and their fold.

    `name` is what the finding calls them; `problems` are those of the file that were found before. Damage
    raises nothing. `also` gets the acts too, so that they need not be read again.
    """
    coder = acts_files.coder_of(place)
    try:
        chain = acts_tables.read_chain(connection, place, study=known.study.id, coder=coder)
        texts = acts_tables.read_texts(connection, place, select(acts_tables.TEXTS))
        all_problems = [*problems, *_of_chain(chain, texts, coder, known)]
        fold([link.act for link in ordered(chain) if link.act is not None])
    except (StoreError, ActError, TableError) as error:
        return Finding(name, coder=coder, problem=str(error))
    if also is not None:
        also(connection, coder, chain)
    return Finding(name, coder, len(chain), "; ".join(all_problems), _note_on(chain, coder, known))


def _note_on(chain: Sequence[Link], coder: str, known: Known) -> str:
    if known.handed is not None and known.is_extract(coder):
        return f"an extract: the acts that {known.handed.coder!r} needs"
    merged = sum(link.merged for link in chain)
    return f"{merged} acts merged from another copy" if merged else ""


def _of_chain(
    chain: Sequence[Link], texts: Mapping[str, str | None], coder: str, known: Known
) -> Iterator[str]:
    rows = [(link.act, link.text_hash) for link in chain if link.act is not None]
    is_known = len(rows) == len(chain)  # what belongs to an act of a later version cannot be told
    orphans = set(texts) - {text_hash for _, text_hash in rows}
    if orphans and is_known:
        yield f"{len(orphans)} texts that belong to no act"
    yield from _of_erasures(rows, texts, known, is_extract=known.is_extract(coder))
    yield from _of_contents([act for act, _ in rows], known)
    yield from _since_copies(chain, coder, known.copies)


def _of_erasures(
    rows: Sequence[tuple[Act, str | None]], texts: Mapping[str, str | None], known: Known, *, is_extract: bool
) -> Iterator[str]:
    """Describe texts that were erased though nobody withdrew, and such as a withdrawal left."""
    case_of_unit = known.case_of_unit
    may_be_empty = {memo: each.case_id for each in known.withdrawn for memo in each.memos}
    if not is_extract:  # which goes without the notes of withdrawals that are no business of its coder
        emptied = [
            act
            for act, text_hash in rows
            if text_hash is not None and texts[text_hash] is None and text_hash not in may_be_empty
        ]
        expected = case_of_unit.keys() | known.withheld
        lost = [act.act_id for act in emptied if act.unit_id not in expected]
        if lost:
            yield f"quotes or memos that were erased though nobody withdrew, of acts {first_three(lost)}"
    left = {case_of_unit[act.unit_id] for act, _ in rows if act.text and act.unit_id in case_of_unit}
    left |= {case_id for memo, case_id in may_be_empty.items() if texts.get(memo)}
    if left:
        yield f"still holds words of participants who withdrew – {_AGAIN} {first_three(sorted(left))}"


def _of_contents(acts: Sequence[Act], known: Known) -> Iterator[str]:
    """Describe acts that do not say what they must, or not of this study."""
    mute = [act.act_id for act in acts if not has_readable_change(act)]
    if mute:
        yield f"rounds or revisions that do not say what they change, in acts {first_three(mute)}"
    strange = sorted({act.codebook for act in acts} - known.codebooks)
    if strange:
        yield f"acts under codebooks that are not here: {first_three(strange)}"
    if known.texts is not None:
        gone = known.case_of_unit.keys() | known.withheld
        yield from _of_quotes([act for act in acts if act.unit_id not in gone], known.texts)


def _of_quotes(acts: Sequence[Act], texts: Mapping[str, str]) -> Iterator[str]:
    unknown = {str(act.unit_id) for act in acts if act.unit_id is not None and act.unit_id not in texts}
    if unknown:
        yield f"acts on units that the study does not have: {first_three(sorted(unknown))}"
    wrong = {str(act.unit_id) for act in acts if act.unit_id in texts and misquoted(act, texts)}
    if wrong:
        yield f"another quote than unit {first_three(sorted(wrong))} has"


def _since_copies(chain: Sequence[Link], coder: str, copies: Sequence[Copy]) -> Iterator[str]:
    """Describe where the file was put back from a copy older than a backup or archive."""
    hashes = {link.hash for link in chain} | {link.branch for link in chain}
    for copy in copies:
        if copy.heads.get(coder, "") not in {"", *hashes}:
            yield (
                f"lacks acts that it had when the {copy.kind} of {copy.at} was made: an older copy "
                f"replaced them – take them in with store.copies.merge(that {copy.kind})"
            )
            return


def _missing(coders: Collection[str], copies: Sequence[Copy]) -> Iterator[Finding]:
    """Yield the coders who are not among `coders`, and had acts when a copy was made."""
    had = {coder: copy for copy in copies for coder in copy.heads}
    for coder in sorted(set(had) - set(coders)):
        what = f"missing; it was there when the {had[coder].kind} of {had[coder].at} was made"
        yield Finding(f"acts/{coder}.sqlite", coder, problem=what)
