"""Merging: what another copy of the study has, and this one has not, is taken in; nothing here is changed.

Acts are a set by their act_id, so merging twice, or both ways, gives the same acts. Where the other copy of
a coder's acts simply goes on from this one's last act, its links are appended as they are. Where a coder
worked in both copies, the chain has forked: the acts that are new here are appended behind this copy's own,
each with the hash and the clock that it had, so that every act of both branches stays and can be
checked. Acts are then read in the order of their clocks, which is the same in every copy.

Each coder's file is merged in one transaction. A crash leaves files that are merged and files that are not
yet; merging again completes them.

What was handed out, and comes back, brings the acts of one coder: of whom, says the note that this study made
when it gave it away. Everything else in it is refused, and listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import pandas as pd
from sqlalchemy import Connection

from sense7_qual._messages import first_three
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import StoreError
from sense7_qual.rounds import Round, ever_opened
from sense7_qual.store._backend import Locked, Log
from sense7_qual.store._operations import contents, verify
from sense7_qual.store._operations.check_acts import knows_code
from sense7_qual.store._operations.contents import has_readable_change
from sense7_qual.store._operations.gate import Gate, InRounds, Recorded, together
from sense7_qual.store._operations.incoming import (
    Chain,
    Incoming,
    hand_out_of,
    incoming_of,
    of_hand_in,
    other_copy,
    refuse_others,
)
from sense7_qual.store._stored import acts_tables, layout, study_notes, whole_files
from sense7_qual.store._stored.acts_files import check_pseudonym, refuse_model_name
from sense7_qual.store._stored.hash_chain import Link, clocks, genesis, relinked
from sense7_qual.store._stored.layout import Study, StudyData
from sense7_qual.store._stored.repeated_passages import Words

_COLUMNS: Final = ("act_id", "coder", "kind", "unit_id", "status", "unknown", "why")


@dataclass(frozen=True, slots=True, eq=False)
class Merge:
    """The result of a merge.

    Attributes
    ----------
    items : DataFrame
        One row per act of the other copy: act_id, coder, kind, unit_id; status: ``new`` (taken in), ``there``
        (known already), ``conflicting`` (the same act_id with other content here: this study's stays),
        ``refused`` (what `append` would refuse; in what comes back from a hand-out also another's act, and
        one that is the lead's to do) or ``left out``; unknown: what this study did not know, one of ``coder``
        (taken in: a coder's first acts), ``unit``, ``codebook``, ``code`` or ``kind`` (left out; kind: an act
        of a newer version, or a malformed opening of a round or revision), or ``words`` (taken in: a memo
        from a single acts file, compared only with the quotes in that file: check that it repeats no words of
        a withdrawn participant), empty if all was known; why: of a refused act what is wrong with it, in a
        sentence, else empty.
    codebooks : tuple of str
        The fingerprints of the codebook versions that came with them.
    withdrawn : tuple of str
        Participants (case_id) with a withdrawal that only the other copy knows of: call ``store.forget`` for
        each.
    """

    items: pd.DataFrame
    codebooks: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Merge({', '.join(f'{n} {status}' for status, n in self.counts.items())})"

    @property
    def counts(self) -> dict[str, int]:
        """The number of acts by status; of refused ones, if there are any."""
        by_status = Counter(self.items["status"])
        names = ("new", "there", "conflicting", "left out", *(["refused"] if by_status["refused"] else []))
        return {status: by_status[status] for status in names}


@dataclass(frozen=True, slots=True)
class _Here:
    """What the acts that come in are judged by; `erased` are hashes of memos that quoted who withdrew."""

    study: Study
    gate: Gate
    erased: frozenset[str] = frozenset()

    def without(self, notes: Sequence[study_notes.Withdrawal]) -> _Here:
        """Return the same after the withdrawals that `notes` say."""
        units = frozenset(unit_id for each in notes for unit_id in each.unit_ids)
        texts = {**self.gate.texts, **dict.fromkeys(units, "")}
        erased = frozenset(memo for each in notes for memo in each.memos)
        return replace(self, gate=replace(self.gate, texts=texts, gone=units), erased=erased)


class _Judged(NamedTuple):
    """What becomes of an act that comes in, what is unknown of it here, and why it is refused."""

    status: str
    unknown: str = ""
    why: str = ""


def merge(
    into: Log,
    other: Path,
    opened: StudyData,
    *,
    coders: Collection[str] | None,
    recorded: Callable[[], Mapping[str, Act]],
    person: bool = False,
) -> Merge:
    """Take in what `other` has: a folder of the same study, or one acts file.

    `other` is another study folder, or an acts file such as a sync client's second copy. `coders` are those
    with new acts that may come in; None means the coder to whom `other` was handed out, else anybody, as long
    as nothing was handed out. `person` says that new coders with names like those of models are people.
    """
    layout.refuse_newer(Path(into.place.name), opened.study)
    if not into.leads():
        raise StoreError(
            f"merge: expected the role of a lead, who sees all of study {into.place.name!r} – found another, "
            "which does not lead – ask the lead to do it."
        )
    versions, files, theirs = other_copy(other, opened.study)
    new_versions = {name: each for name, each in versions.items() if name not in opened.codebooks}
    withdrawals = _Withdrawals(other)  # before the acts: a withdrawal there may begin meanwhile
    incoming = [incoming_of(file, opened.study) for file in files]
    given = hand_out_of(into, other) if coders is None else None
    if given is None:
        refuse_others(incoming, coders, recorded, into)
        rows, leads_here = [], _lead_acts_if_any(into, opened)
    else:
        rows = list(_refused([each for each in incoming if each.coder != given.coder], recorded))
        leads_here = into.lead_acts(opened, "work")
        own = [each for each in incoming if each.coder == given.coder]
        incoming, new_versions = _of_hand_in(own, opened.codebooks, new_versions, leads_here)
    here = _here(opened, new_versions, leads_here, incoming)
    _refuse_misquoted(incoming, here)
    coders_here = into.coders()
    for each in incoming:  # all of them, before anything is written
        check_pseudonym(each.coder, coders_here)
        if each.last and not person:
            refuse_model_name(each.coder, coders_here)
    for codebook in new_versions.values():
        into.add_codebook(codebook)
    rows += [row for each in incoming for row in _merged(into, each, here, withdrawals)]
    items = pd.DataFrame(rows, columns=list(_COLUMNS)).astype("string")
    ours = {each.case_id for each in into.notes(study_notes.Withdrawal)}
    return Merge(items, tuple(sorted(new_versions)), tuple(sorted(theirs - ours)))


def _of_hand_in(
    own: Sequence[Incoming],
    codebooks: Mapping[str, Codebook],
    versions: Mapping[str, Codebook],
    leads_here: Sequence[Act],
) -> tuple[list[Incoming], dict[str, Codebook]]:
    """Return what of the coder's own acts may come in, and the versions with the codes that they added."""
    may_add = contents.options_after(leads_here).new_codes == "add"
    incoming = [of_hand_in(each, codebooks, versions, may_add=may_add) for each in own]
    added = {act.codebook for each in incoming for act in each.revisions}
    return incoming, {name: each for name, each in versions.items() if name in added}


def _here(
    opened: StudyData,
    versions: Mapping[str, Codebook],
    leads_here: Sequence[Act],
    incoming: Sequence[Incoming],
) -> _Here:
    """Return what acts are judged by: the study as it is with the codebooks and rounds that come along."""
    of_team = _team_acts(incoming, ever_opened(leads_here))
    rounds = InRounds(ever_opened([*leads_here, *of_team]))
    return _Here(opened.study, Gate(opened.texts, {**opened.codebooks, **versions}, rounds))


class _Withdrawals:
    """Finds which memos of the other copy repeat words of participants who withdrew here: they come in empty.

    It takes the words to find them, which the other copy may still have; of one acts file there are the
    quotes in it. Memos that a withdrawal over there has found are known by their hashes.
    """

    def __init__(self, other: Path) -> None:
        self._other = other
        units = layout.stored_units(other, layout.read(other)) if other.is_dir() else None
        self._units = None if units is None or units.empty else units
        self._words: dict[tuple[str, tuple[str, ...]], Words] = {}

    @property
    def has_words(self) -> bool:
        """Whether the words of all units are there to compare memos with."""
        return self._units is not None

    def noted(self, into: Log, connection: Connection, incoming: Chain) -> list[study_notes.Withdrawal]:
        """Return the notes of withdrawals here, after adding which of the coder's memos repeat words."""
        notes = into.notes(study_notes.Withdrawal, connection)
        over_there = study_notes.notes(self._other, study_notes.Withdrawal) if self._other.is_dir() else []
        in_there = {str(link.fields.get("text_hash")) for link in incoming.links}
        for case_id in dict.fromkeys(each.case_id for each in notes):
            words = self._words_of(case_id, notes, incoming)
            repeating = {memo for each in over_there if each.case_id == case_id for memo in each.memos}
            repeating = (repeating & in_there) | set(words.repeating(incoming.links))
            repeating -= {memo for each in notes for memo in each.memos}
            if repeating:
                last = next(each for each in reversed(notes) if each.case_id == case_id)
                note = replace(
                    last, id=study_notes.new_id(), at=whole_files.now(), memos=tuple(sorted(repeating))
                )
                into.add_note(note, connection)
                notes.append(note)
        return notes

    def _words_of(self, case_id: str, notes: list[study_notes.Withdrawal], incoming: Chain) -> Words:
        unit_ids = {unit_id for each in notes if each.case_id == case_id for unit_id in each.unit_ids}
        if self._units is None:
            quotes = [
                (act.unit_id, case_id, act.text)
                for act in incoming.acts
                if act.traits.text == "quote" and act.text and act.unit_id in unit_ids
            ]
            return Words.of(
                pd.DataFrame(quotes, columns=["unit_id", "case_id", "text"]).assign(document_id=None),
                notes,
                case_id,
            )
        key = (case_id, tuple(sorted(unit_ids)))
        if key not in self._words:
            self._words[key] = Words.of(self._units, notes, case_id)
        return self._words[key]


def _refuse_misquoted(incoming: Sequence[Incoming], here: _Here) -> None:
    """Refuse a copy whose quotes are not this study's words: it counts on other texts."""
    texts = here.gate.texts
    for each in incoming:
        wrong = [act.unit_id for act in each.acts if act.unit_id in texts and verify.misquoted(act, texts)]
        if wrong:
            raise StoreError(
                f"merge: expected the quotes of coder {each.coder!r} to be words of this study's units – "
                f"found others on unit {first_three(wrong)} – this copy was changed; nothing was merged."
            )


def _refused(
    others: Sequence[Incoming], recorded: Callable[[], Mapping[str, Act]]
) -> Iterator[tuple[object, ...]]:
    """Yield a row for each act of a coder to whom this was not handed out."""
    here = recorded() if others else {}
    for act in (act for each in others for act in each.acts):
        before = here.get(act.act_id)
        status = "refused" if before is None else _already(act, before)
        why = "It is another coder's than the one to whom this was handed out." if before is None else ""
        yield act.act_id, act.coder, act.kind, act.unit_id, status, "", why


def _lead_acts_if_any(into: Log, opened: StudyData) -> list[Act]:
    """Return the leads' acts on rounds here; none where they are lost, and this merge may bring them back."""
    with suppress(StoreError):
        return into.lead_acts(opened, "work")
    return []


def _team_acts(incoming: Iterable[Incoming], rounds_here: Sequence[Round]) -> list[Act]:
    """Return what comes in of what a lead does for the team.

    Who leads a round is known here: an opening that says it was earlier makes nobody its lead.
    """
    leads = {one.name: one.leads for one in rounds_here}
    return [
        act
        for each in incoming
        for act in each.acts
        if act.traits.by == "team"
        and act.act_id not in each.refused
        and act.coder in leads.get(str(act.round), (act.coder,))
        and has_readable_change(act)
    ]


def _merged(
    into: Log, incoming: Incoming, here: _Here, withdrawals: _Withdrawals
) -> Iterator[tuple[object, ...]]:
    """Merge the acts of one coder, all or none, and yield what became of each."""
    if not incoming.last:
        return
    came = incoming.chain(here.study)

    def work(at: Locked) -> tuple[list[_Judged], bool]:
        connection, place = at.connection, at.place
        acts_tables.refuse_newer(connection, place, study=here.study.id, coder=incoming.coder)
        chain = acts_tables.read_chain(connection, place, study=here.study.id, coder=incoming.coder)
        recorded = [link.act for link in chain if link.act is not None]
        # Asked only here, where no withdrawal can begin before these acts are in: it would not find them.
        known = here.without(withdrawals.noted(into, connection, came))
        judged = _judged(came, incoming.refused, Recorded(recorded), known)
        if known.gate.gone and not withdrawals.has_words:
            pairs = zip(came.links, judged, strict=True)
            judged = [_uncompared(link, known, each) for link, each in pairs]
        new = [number for number, each in enumerate(judged) if each.status == "new"]
        _append(connection, chain, came, new, known, at.is_own)
        return judged, not chain

    judged, first_acts = into.write(incoming.coder, work, study=here.study.id, as_lead=True)
    for link, (status, unknown, why) in zip(came.links, judged, strict=True):
        act = link.act
        if act is not None:
            unknown_part = "coder" if first_acts and status == "new" and not unknown else unknown
            yield act.act_id, act.coder, act.kind, act.unit_id, status, unknown_part, why


def _judged(incoming: Chain, refused: Mapping[str, str], recorded: Recorded, here: _Here) -> list[_Judged]:
    """Return what becomes of each act that comes in; of acts of one step all come in, or none."""
    judged: list[_Judged] = []
    for links in together(incoming.links, lambda link: link.act):
        found = [_before_the_gate(link, recorded, refused, here.gate) for link in links]
        coming = [link.act for link, one in zip(links, found, strict=True) if one is None and link.act]
        why = here.gate.refusal(coming, recorded)
        at_the_gate = _Judged("refused", why=why) if why else _Judged("new")
        judged += [one or at_the_gate for one in found]
    return judged


def _before_the_gate(
    link: Link, recorded: Recorded, refused: Mapping[str, str], gate: Gate
) -> _Judged | None:
    """Return what becomes of an act that is here, is refused anyway, or refers to what is not known here."""
    act = link.act
    if act is None:
        return _Judged("left out", "kind")
    before = recorded.act(act.act_id)
    if before is not None:
        return _Judged(_already(act, before))
    if act.act_id in refused:
        return _Judged("refused", why=refused[act.act_id])
    if act.unit_id is not None and act.unit_id not in gate.texts:
        return _Judged("left out", "unit")
    if not has_readable_change(act):
        return _Judged("left out", "kind")
    if act.codebook not in gate.codebooks:
        return _Judged("left out", "codebook")
    return None if knows_code(act, gate.codebooks) else _Judged("left out", "code")


def _uncompared(link: Link, here: _Here, judged: _Judged) -> _Judged:
    """Return `judged`, or that nobody could compare this memo or proposal with the words of who withdrew."""
    act = link.act
    is_open = (
        act is not None
        and act.traits.text == "written"
        and bool(act.text)
        and act.unit_id not in here.gate.gone
    )
    is_new = judged == _Judged("new") and link.fields.get("text_hash") not in here.erased
    return _Judged("new", "words") if is_open and is_new else judged


def _already(act: Act, before: Act) -> str:
    """Return what becomes of an act whose id is here: it may be stamped again, and one may be without its
    text because a participant withdrew."""
    text = before.text if not act.text else act.text if not before.text else None
    same = replace(act, at=before.at) if text is None else replace(act, at=before.at, text=text)
    return "there" if same == (before if text is None else replace(before, text=text)) else "conflicting"


def _append(
    connection: Connection,
    chain: Sequence[Link],
    incoming: Chain,
    new: Sequence[int],
    here: _Here,
    as_own: bool,
) -> None:
    """Append the links at the places `new` of the other chain, with their texts."""
    if not new:
        return
    last = chain[-1].hash if chain else genesis(here.study.id, incoming.coder)
    times = list(clocks(incoming.links))
    links = [incoming.links[place] for place in new]
    rows = relinked(links, [times[place] for place in new], last=last, as_own=as_own)
    acts_tables.add_links(connection, rows, _texts_of(links, incoming, here))


def _texts_of(links: Sequence[Link], incoming: Chain, here: _Here) -> list[dict[str, Any]]:
    """Return the rows of the links' texts; a withdrawn participant's words do not come back."""
    rows = {}
    for link in links:
        fields = link.fields
        text_hash = fields.get("text_hash")
        if text_hash is not None:
            is_withdrawn = fields.get("unit_id") in here.gate.gone or text_hash in here.erased
            salt, text = (None, None) if is_withdrawn else incoming.texts[text_hash]
            rows[text_hash] = {"text_hash": text_hash, "salt": salt, "text": text}
    return list(rows.values())
