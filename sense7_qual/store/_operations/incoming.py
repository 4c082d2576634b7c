"""What another copy of a study brings to a merge, and what of a hand-in may come in at all.

What comes back from a hand-out brings the acts of one coder: of whom, says the note that this study made when
it gave it away, and never the file. Of these acts, those that are a lead's to do are refused, and so are
revisions of the codebook that do more than to add codes, where coders may add them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlalchemy import select

from sense7_qual._messages import first_three
from sense7_qual.acts import Act, check_coder
from sense7_qual.codebook import Codebook, Revision
from sense7_qual.errors import ActError, CodebookError, StoreError
from sense7_qual.store._backend import Log
from sense7_qual.store._stored import acts_files, acts_tables, layout, study_notes
from sense7_qual.store._stored.hash_chain import Link
from sense7_qual.store._stored.layout import Study


@dataclass(frozen=True, slots=True)
class Chain:
    """The links of one coder in the other copy, and their salted texts: several times what their acts are."""

    coder: str
    links: list[Link] = field(repr=False)
    texts: Mapping[str, tuple[str | None, str | None]] = field(repr=False)

    @property
    def acts(self) -> list[Act]:
        """The acts that this version knows."""
        return [link.act for link in self.links if link.act is not None]


@dataclass(frozen=True, slots=True)
class Incoming:
    """The acts of one coder in the acts file `file` of the other copy that this version knows, and by act why
    some may not come in; `last` is the hash of the last link, if there is one.

    All coders' acts are looked at before any comes in, so that only these are kept of each.
    """

    file: Path
    coder: str
    acts: list[Act] = field(repr=False)
    last: str
    refused: Mapping[str, str] = field(default_factory=dict, repr=False)

    def chain(self, known: Study) -> Chain:
        """Return the links, which are those that were looked at; `StoreError` where the file has changed."""
        chain = _chain_of(self.file, known)
        if _last_of(chain) != self.last:
            raise StoreError(
                f"merge: expected the other copy to stay as it is meanwhile – found that the acts of "
                f"{self.coder!r} changed – close it where it is open, let the sync client finish, and merge "
                "again: what is in already stays."
            )
        return chain

    @property
    def revisions(self) -> list[Act]:
        """The revisions that are not refused."""
        return [act for act in self.acts if act.kind == "revise" and act.act_id not in self.refused]


def other_copy(other: Path, known: Study) -> tuple[dict[str, Codebook], list[Path], set[str]]:
    """Return the codebooks, the acts files and the withdrawn cases of the other copy."""
    if other.is_file():
        return {}, [other], set()
    study = layout.read(other)
    if study.id != known.id or study.units_sha256 != known.units_sha256:
        raise StoreError(
            f"merge: expected another copy of study {known.id!r} – found study {study.id!r} – only copies "
            "of one study can be merged: acts of another study refer to other texts."
        )
    layout.refuse_newer(other, study)
    acts_files.refuse_absent(other)
    cases = {each.case_id for each in study_notes.notes(other, study_notes.Withdrawal)}
    return layout.read_codebooks(other, study), acts_files.acts_files(other), cases


def incoming_of(file: Path, known: Study) -> Incoming:
    """Return the acts of a coder in another copy, whose acts file this is."""
    chain = _chain_of(file, known)
    return Incoming(file, chain.coder, chain.acts, _last_of(chain))


def _last_of(chain: Chain) -> str:
    return chain.links[-1].hash if chain.links else ""


def _chain_of(file: Path, known: Study) -> Chain:
    with acts_files.transaction(file) as connection:
        coder = acts_files.owner(connection) or acts_files.coder_of(file)
        acts_tables.refuse_newer(connection, file, study=known.id, coder=coder)
        chain = acts_tables.read_chain(connection, file, study=known.id, coder=coder)
        query = select(acts_tables.TEXTS.c.text_hash, acts_tables.TEXTS.c.salt, acts_tables.TEXTS.c.text)
        texts = {row.text_hash: (row.salt, row.text) for row in connection.execute(query)}
    strangers = {link.act.coder for link in chain if link.act is not None} - {coder}
    if strangers:
        raise acts_tables.damaged(file, f"acts of {first_three(sorted(strangers))} among those of {coder!r}")
    return Chain(coder, chain, texts)


def hand_out_of(into: Log, other: Path) -> study_notes.Copy | None:
    """Return this study's own note of the hand-out that `other` is, or comes back from."""
    handed = layout.handed_out(other) if other.is_dir() else None
    if handed is None:
        return None
    given = next((each for each in into.notes(study_notes.Copy) if each.id == handed.id), None)
    if given is None or not given.coder:
        raise StoreError(
            "merge: expected a hand-out that this study gave – found one that it has no note of – ask who "
            "handed it out; to take it in all the same, name the coders whose acts may come in: coders=[…]."
        )
    return given


def of_hand_in(
    incoming: Incoming, codebooks: Mapping[str, Codebook], versions: Mapping[str, Codebook], *, may_add: bool
) -> Incoming:
    """Return what comes back from a hand-out, with all refused that is not a coder's to do.

    `codebooks` are this study's, and `versions` come along; `may_add` says whether coders may add codes.
    """
    known = dict(codebooks)
    refused: dict[str, str] = {}
    for act in incoming.acts:
        if act.kind == "revise":
            why = _why_not_added(act, known, versions) if may_add else _PROPOSED
            if why:
                refused[act.act_id] = why
            else:
                known |= {act.codebook: versions[act.codebook]} if act.codebook in versions else {}
        elif act.traits.by != "coder":
            refused[act.act_id] = f"{act.kind}: it is the lead's to do, and comes in from no hand-out."
    return replace(incoming, refused=refused)


_PROPOSED = "revise: in this study coders propose codes, and the lead adds them."


def _why_not_added(act: Act, known: Mapping[str, Codebook], versions: Mapping[str, Codebook]) -> str:
    """Return what is wrong with a coder's revision; nothing where it adds codes, and says so."""
    with suppress(ActError, CodebookError):
        revision = Revision.from_text(str(act.text), coder=act.coder, at=act.at, codebook=act.codebook)
        base, new = known.get(revision.base), known.get(act.codebook) or versions.get(act.codebook)
        says_so = all(change.kind == "add" for change in revision.changes)
        if says_so and base is not None and new is not None and _only_adds(base, new):
            return ""
    return (
        "revise: expected codes that are added – found a revision that changes others, or its codebook "
        "missing – ask its coder to propose the change."
    )


def _only_adds(base: Codebook, new: Codebook) -> bool:
    """Return True if a version is another one with codes added, and nothing else changed."""
    before = {code.id for code in base.codes}
    kept = tuple(code for code in new.codes if code.id in before)
    return kept == base.codes and replace(new, codes=kept).fingerprint == base.fingerprint


def refuse_others(
    incoming: Sequence[Incoming],
    coders: Collection[str] | None,
    recorded: Callable[[], Mapping[str, Act]],
    into: Log,
) -> None:
    """Refuse acts that are new here and not of the coders whose acts are meant to come in.

    After something was handed out, these must be named: a copy could come from whoever got it, and says no
    more that it was handed out.
    """
    if coders is None and not any(copy.coder for copy in into.notes(study_notes.Copy)):
        return
    meant = sorted({check_coder(one) for one in coders or ()})
    others = [act for each in incoming if each.coder not in meant for act in each.acts]
    here = recorded() if others else {}
    new = Counter(act.coder for act in others if act.act_id not in here)
    if new:
        found = ", ".join(f"{n} of {coder!r}" for coder, n in sorted(new.items()))
        expected = (
            "to be told whose acts come in, since parts of this study were handed out and this copy does not "
            "come from one of them"
            if coders is None
            else f"new acts of {first_three(meant)} alone in it"
        )
        raise StoreError(
            f"merge: expected {expected} – found {found} – nothing was merged. Ask who made them; to take "
            f"them in, name their coders: coders={sorted({*meant, *new})!r}."
        )
