"""How acts become frames: undo and redo, what each act leaves, and the frames of that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual.acts._act import Act, each_once, facet_values
from sense7_qual.acts._kinds import KINDS, kinds_where
from sense7_qual.acts._make import Proposal
from sense7_qual.codebook import Codebook, check_codebook
from sense7_qual.errors import ActError
from sense7_qual.frames import ABSTAINED, CODINGS, COVERAGE, MEMOS, PROPOSALS, Contract


@dataclass(frozen=True, slots=True)
class Record:
    """The result of `fold`: the frames `codings`, `coverage`, `memos`, `proposals` and `abstained`."""

    codings: pd.DataFrame
    coverage: pd.DataFrame
    memos: pd.DataFrame
    proposals: pd.DataFrame
    abstained: pd.DataFrame

    def __repr__(self) -> str:
        return f"Record({len(self.codings)} codings, {len(self.coverage)} finished, {len(self.memos)} memos)"


def fold(acts: Iterable[Act], *, codebook: Codebook | None = None) -> Record:
    """Replay the acts and return the current codings, coverage, memos, proposals and abstentions.

    The same acts always give the same frames; acts of different coders never affect each other. `codings` has
    a column for each facet of `codebook`, in its order, followed by any others that a coding states.
    `coverage` has both the first and the last time at which a unit was finished: reopening keeps the first. A
    coding with corrected edges keeps the time of the first (`Act.moved_from`).

    Examples
    --------
    >>> from sense7_qual.acts import apply, finish
    >>> from sense7_qual.codebook import Codebook
    >>> sense7 = Codebook.read("sense7")
    >>> fold([apply(coder="ana", unit_id="m17", code="interest", codebook=sense7),
    ...       finish(coder="ana", unit_id="m17", codebook=sense7)])
    Record(1 codings, 1 finished, 0 memos)
    """
    every = each_once(acts)
    acts = done(every)
    first: dict[tuple[str, str | None, str | None], str] = {}
    for act in acts:
        if act.kind == "finish":
            first.setdefault((act.coder, act.unit_id, act.round), act.at)
    now = current(acts)
    about: dict[str, list[Act]] = {subject: [] for subject in _FRAMES}
    for act in now:
        if (subject := act.traits.subject) in about:
            about[subject].append(act)
    del now
    facets = _facets(about["coding"], codebook)
    firsts = [first[act.coder, act.unit_id, act.round] for act in about["coverage"]]
    moved = decided_at(every)
    made = [moved.get((act.coder, act.act_id), act.at) for act in about["coding"]] if moved else None
    codings, coverage, memos, proposals, abstained = (
        _frame(about.pop(subject), contract) for subject, contract in _FRAMES.items()
    )
    coverage["first_finished_at"] = pd.array(firsts, dtype="string")
    if made is not None:
        codings["at"] = pd.array(made, dtype="string")
    return Record(codings.assign(**facets), coverage, memos, proposals, abstained)


def decided_at(acts: Sequence[Act]) -> dict[tuple[str, str], str]:
    """Return when codings with corrected edges were first made, by coder and act.

    The acts that removed the earlier words have these times too.
    """
    moved = [act for act in acts if act.moved_from is not None]
    if not moved:
        return {}
    applied = {(act.coder, act.act_id): act for act in acts if act.kind == "apply"}
    decided: dict[tuple[str, str], str] = {}
    cleared: dict[tuple[object, ...], str] = {}
    for act in moved:  # in order: what an act was moved from came before it
        key = (act.coder, str(act.moved_from))
        before = applied.get(key, act)
        at = decided[act.coder, act.act_id] = decided.get(key, before.at)
        cleared[act.step, *_place(before)] = at
    removed = (act for act in acts if act.kind == "remove" and (act.step, *_place(act)) in cleared)
    return decided | {(act.coder, act.act_id): cleared[act.step, *_place(act)] for act in removed}


_place: Final = attrgetter("coder", "unit_id", "code", "start", "end", "round")


def _facets(applied: Sequence[Act], codebook: Codebook | None) -> dict[str, pd.Series]:
    texts = [act.facets for act in applied]
    read = {text: facet_values(text) if text is not None else {} for text in set(texts)}
    known = [] if codebook is None else [facet.name for facet in check_codebook(codebook).facets]
    others = {name for values in read.values() for name in values} - set(known)
    columns = {}
    for name in (*known, *sorted(others)):
        by_text = {text: values.get(name) for text, values in read.items()}
        columns[name] = pd.Series([by_text[text] for text in texts], dtype="string")
    return columns


def _frame(acts: Sequence[Act], contract: Contract) -> pd.DataFrame:
    if not acts:
        return contract.empty()
    kinds = contract.empty().dtypes
    # A column at a time: a row at a time would hold a million rows twice.
    return pd.DataFrame(
        {
            name: pd.array(list(map(_COLUMNS.get(name) or attrgetter(name), acts)), dtype=kinds[name])
            for name in contract.columns
        }
    )


def _about_what(act: Act) -> str | None:
    return act.code if act.target_kind == "code" else act.unit_id


def _text(act: Act) -> str | None:
    """Return the words of a memo; the whole text where that cannot be read (`Store.verify` reports it)."""
    try:
        return act.memo_text
    except ActError:
        return act.text


def _proposed(act: Act) -> Proposal | None:
    """Return the proposal; None where the act does not say it (`Store.verify` reports that)."""
    try:
        return Proposal.from_text(act.text)
    except ActError:
        return None


_FRAMES: Final = {
    "coding": CODINGS,
    "coverage": COVERAGE,
    "memo": MEMOS,
    "proposal": PROPOSALS,
    "abstention": ABSTAINED,
}

_COLUMNS: Final[Mapping[str, Callable[[Act], object]]] = {
    "finished_at": attrgetter("at"),
    "target_id": _about_what,
    "text": _text,
    "proposal_id": attrgetter("act_id"),
    "reason": lambda act: act.facet_values["reason"],
    "label": lambda act: (one := _proposed(act)) and one.label,
    "definition": lambda act: (one := _proposed(act)) and one.definition,
    "origin": lambda act: ((one := _proposed(act)) and one.origin) or None,
}
"""The columns that are not called as what they come from."""


def standing(acts: Iterable[Act], *, subject: str | None = None) -> list[Act]:
    """Return the acts that count now: the last one about each coding, finished unit, memo, ruling, proposal.

    Decisions about quotes are all kept: `codings.quotes` says which of them counts. Each coder's acts must be
    in order; the order between coders does not matter. An undone act, or step, counts as never done; redone,
    it counts in its old place. An act that comes again (same act_id) changes nothing. With a `subject`, for
    example "coding" or "ruling", only acts about that.
    """
    check_arguments(standing, locals(), but=("acts",))
    now = current(done(acts))
    return now if subject is None else [act for act in now if act.traits.subject == subject]


def about(acts: Iterable[Act], subject: str) -> list[Act]:
    """Return the acts about a `subject`, with those that undo or redo one of them, in order."""
    every = list(acts)
    chosen = {(act.coder, act.undone_by) for act in every if act.traits.subject == subject}
    return [act for act in every if act.traits.subject == subject or (act.coder, act.target) in chosen]


def current(acts: Iterable[Act]) -> list[Act]:
    """Return, of acts that were not undone (`done`), the last about each coding, unit, memo …"""
    now: dict[tuple[object, ...], Act] = {}
    for act in acts:
        key, stays = _effect(act)
        if stays:
            now[key] = act  # in the place where it first came: a changed facet moves nothing on screen
        else:
            now.pop(key, None)
    return list(now.values())


def done(acts: Iterable[Act]) -> list[Act]:
    """Return the acts that were not undone, in order, without undo and redo."""
    order = each_once(acts)
    undone: set[tuple[str, str]] = set()
    for act in order:
        if act.kind == "undo":
            undone.add((act.coder, str(act.target)))
        elif act.kind == "redo":
            undone.discard((act.coder, str(act.target)))
    return [
        act
        for act in order
        if act.kind not in _TAKING_BACK and (act.coder, act.step or act.act_id) not in undone
    ]


def _effect(act: Act) -> tuple[tuple[object, ...], bool]:
    """Return the subject that the act decides about, and whether a value is left there after it."""
    subject, which, leaves = _DECIDED[act.kind]
    stays = leaves == "this" or (leaves == "while_worded" and bool(act.text))
    return (subject, which(act)), stays


_TAKING_BACK: Final = frozenset(kinds_where(lambda kind: kind.takes_back))
_DECIDED: Final = {
    name: (kind.subject, attrgetter("coder", *kind.key), kind.leaves) for name, kind in KINDS.items()
}
"""What each kind decides about, once for a million acts."""
