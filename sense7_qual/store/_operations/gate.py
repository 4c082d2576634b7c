"""The gate: which acts come into a study, whatever way they come.

What is appended, by widgets and sheets too, what a merge or a hand-in brings and what an archive restores is
checked here, and nowhere else: each act by itself (`check_acts.checked`), then what was done together against
what its coder did before and the rounds (`admitted`). `Gate` asks both of the acts of a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeVar

from sense7_qual._messages import first_three, word
from sense7_qual.acts import Act, overlap, place_of_step
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, CodebookError
from sense7_qual.rounds import Round, opened
from sense7_qual.store._operations.check_acts import checked
from sense7_qual.store._operations.contents import named

_Item = TypeVar("_Item")


class Recorded:
    """The acts of one coder so far, in which a new act finds what it refers to."""

    __slots__ = ("_by_id", "_by_target", "_memos", "steps")

    def __init__(self, acts: Iterable[Act] = ()) -> None:
        self._by_id: dict[str, Act] = {}
        self._by_target: dict[str, list[Act]] = {}
        self._memos: dict[str | None, tuple[str | None, str | None]] = {}
        self.steps: set[str | None] = set()
        for act in acts:
            self.add(act)

    def add(self, act: Act) -> None:
        """Add an act."""
        self._by_id[act.act_id] = act
        self._by_target.setdefault(act.undone_by, []).append(act)
        self.steps |= {act.step} - {None}
        if act.traits.subject == "memo":
            self._memos.setdefault(act.memo_id, _audience(act))

    def drop(self, acts: Iterable[Act]) -> None:
        """Take acts out again that were added together, and then not let in."""
        for act in acts:
            del self._by_id[act.act_id]
            self._by_target[act.undone_by].remove(act)
            self.steps.discard(act.step)

    def act(self, act_id: str | None) -> Act | None:
        """Return the act of an id, if there is one."""
        return self._by_id.get(str(act_id))

    def undone_with(self, target: str | None) -> list[Act]:
        """Return the acts that an undoing of `target` takes back: one act, or all of a step."""
        return self._by_target.get(str(target), [])

    def audience_of(self, memo_id: str | None) -> tuple[str | None, str | None] | None:
        """Return who may see a memo, by its round and the memo that it answers; None where it is new."""
        return self._memos.get(memo_id)


class InRounds:
    """The rounds that acts come into, by name, with their coders and units to look acts up in."""

    __slots__ = ("_by_name", "_members")

    def __init__(self, rounds: Iterable[Round] = ()) -> None:
        self._by_name = {one.name: one for one in rounds}
        self._members: dict[str, tuple[frozenset[str], frozenset[str]]] = {}

    def get(self, name: str | None) -> Round | None:
        """Return the round of a name; None where nobody opened it."""
        return self._by_name.get(str(name))

    def members(self, one: Round) -> tuple[frozenset[str], frozenset[str]]:
        """Return the coders and the units of a round."""
        found = self._members.get(one.name)
        if found is None:
            found = self._members[one.name] = frozenset(one.coders), frozenset(one.units)
        return found

    def open(self, one: Round) -> None:
        """Open a round, or open it again."""
        self._by_name[one.name] = one
        self._members.pop(one.name, None)


def admitted(
    batch: Sequence[Act], recorded: Recorded, rounds: InRounds | None, *, in_order: bool = True
) -> list[Act]:
    """Return the acts of `batch`, which were done together, that are not `recorded` yet, and add them to it.

    Each is `checked` by itself already. Without `rounds` these are asked later. `in_order` says that the
    rounds are as they were when the acts were done: a copy brings acts of other days, so that whether a round
    could be opened then is not asked. It raises `ActError` where an act does not fit what its coder did
    before, or its round; then none of them was added.
    """
    new: list[Act] = []
    taken_steps = {act.step for act in batch} & recorded.steps
    try:
        for act in batch:
            before = recorded.act(act.act_id)
            if before is None:
                _check_references(act, recorded, taken_steps, batch)
                if rounds is not None:
                    _refuse_outside(act, rounds, in_order=in_order)
                recorded.add(act)
                new.append(act)
            else:
                _refuse_other(act, before)
    except ActError:
        recorded.drop(new)
        raise
    return new


@dataclass(frozen=True, slots=True, repr=False)
class Gate:
    """What acts of a copy are checked against.

    These are the study's texts ("" for each unit in `gone`, whose participant withdrew), its codebooks, and
    its rounds with all that they ever had (`rounds.ever_opened`), if these are asked.
    """

    texts: Mapping[str, str]
    codebooks: Mapping[str, Codebook]
    rounds: InRounds | None
    gone: frozenset[str] = frozenset()

    def refusal(self, batch: Sequence[Act], recorded: Recorded) -> str:
        """Return why acts that were done together do not come in; nothing where they do: they are added."""
        try:
            for act in batch:
                checked(act, self.texts, self.codebooks, gone=self.gone)
            admitted(batch, recorded, self.rounds, in_order=False)
        except (ActError, CodebookError) as error:
            return str(error)
        return ""


def together(acts: Iterable[_Item], act_of: Callable[[_Item], Act | None]) -> Iterator[list[_Item]]:
    """Group acts by their step; an act without a step is a group of its own."""

    def step(numbered: tuple[int, _Item]) -> str | int:
        number, item = numbered
        act = act_of(item)
        return number if act is None or act.step is None else act.step

    for _, group in groupby(enumerate(acts), key=step):
        yield [item for _, item in group]


def _refuse_other(act: Act, before: Act) -> None:
    """Refuse a second act under one id; one that is sent again may be stamped again."""
    if replace(act, at=before.at) != before:
        raise ActError(
            f"append: expected act_id {act.act_id!r} to name one act – found a different act of "
            f"kind {act.kind!r} under it – leave act_id out to have one made; nothing was recorded."
        )


def _check_references(
    act: Act, recorded: Recorded, taken_steps: Set[str | None], batch: Sequence[Act]
) -> None:
    """Refuse an act that refers to others of its coder which are not there, or not as it says."""
    if act.traits.takes_back:
        _check_target(act, recorded.undone_with(act.target))
    if act.step in taken_steps:  # it may be undone already, and the new act would be with it
        raise ActError(
            f"{named(act)}: all acts of a step must be recorded together, and step {act.step!r} has "
            "acts already – leave step out; nothing was recorded."
        )
    if act.moved_from is not None:
        _check_moved(act, recorded.act(act.moved_from), batch)
    if act.traits.subject == "memo":
        _refuse_shared_otherwise(act, recorded.audience_of(act.memo_id))


def _refuse_outside(act: Act, rounds: InRounds, *, in_order: bool) -> None:
    """Raise `ActError` where an act in a round that was opened is not of its coders, or not on its units.

    Only a round's leads open it again, unblind it or assign its units, and only one that was opened can be
    unblinded or assigned. Undo and redo stay possible where a round was opened again with fewer units; one
    that nobody opened is a name alone. A round that was unblinded takes no more coders or units: they would
    not be coded blind.
    """
    one = rounds.get(act.round)
    if act.traits.subject == "work" and act.round is not None:
        _refuse_other_leads(act, one)
    if act.kind == "open_round":
        if in_order:
            _open(act, one, rounds)
    elif one is not None and act.traits.in_a_round:
        _refuse_stranger(act, one, *rounds.members(one))


def _open(act: Act, one: Round | None, rounds: InRounds) -> None:
    """Open the round of an act, which may be open already."""
    again = opened([act])[0]
    if one is not None:
        _refuse_late(one, again)
        again = replace(
            again,
            leads=one.leads,
            unblinded_by=one.unblinded_by,
            unblinded_at=one.unblinded_at,
            discusses=one.discusses,
        )
    if again.discusses is not None:
        _refuse_undiscussable(again, rounds.get(again.discusses))
    rounds.open(again)


def _refuse_other_leads(act: Act, one: Round | None) -> None:
    if one is None and act.kind != "open_round":
        raise ActError(
            f"{act.kind}: expected an open round – found none called {word(act.round)} – open it "
            "first, with rounds.open_round; nothing was recorded."
        )
    if one is not None and act.coder not in one.leads:
        raise ActError(
            f"{act.kind}: expected a lead of round {one.name!r} ({first_three(one.leads)}) – found "
            f"{act.coder!r} – ask them to do it, or to open the round again with leads=[{act.coder!r}]; "
            "nothing was recorded."
        )


def _refuse_stranger(act: Act, one: Round, coders: Set[str], units: Set[str]) -> None:
    if act.coder not in coders:
        raise ActError(
            f"{named(act)}: expected a coder of round {one.name!r} – found {act.coder!r} – ask the "
            "lead, who can open the round again with this coder; nothing was recorded."
        )
    if act.unit_id not in units:
        raise ActError(
            f"{named(act)}: expected one of the {len(units)} units of round {one.name!r} – found "
            "another – code it in its own round, or ask the lead to open this one again with it; nothing "
            "was recorded."
        )


def _refuse_late(unblinded: Round, again: Round) -> None:
    if unblinded.unblinded_at is None:
        return
    for what in ("coders", "units"):
        late = [one for one in getattr(again, what) if one not in getattr(unblinded, what)]
        if late:
            raise ActError(
                f"open_round: expected no more {what} in round {again.name!r}, which was unblinded "
                f"{unblinded.unblinded_at} – found {first_three(late)} – open another round, in which "
                "they are blind; nothing was recorded."
            )


def _refuse_undiscussable(discussion: Round, discussed: Round | None) -> None:
    """Raise `ActError` where a round cannot be discussed so: nobody may see what is blind."""
    if discussed is None or discussed.unblinded_at is None or discussed.discusses or discussed.is_training:
        found = (
            "none of this name"
            if discussed is None
            else "one that is a discussion itself"
            if discussed.discusses
            else "one of training"
            if discussed.is_training
            else "one that is blind"
        )
        raise ActError(
            f"open_round: expected a round to discuss that coders finished and its lead unblinded – found "
            f"{found} ({word(discussion.discusses)}) – unblind it first, or name the first round; nothing "
            "was recorded."
        )
    for what in ("coders", "units"):
        late = [one for one in getattr(discussion, what) if one not in getattr(discussed, what)]
        if late:
            raise ActError(
                f"open_round: expected {what} of the discussed round {discussed.name!r} – found "
                f"{first_three(late)} – leave them out: a discussion revises what was decided there; nothing "
                "was recorded."
            )


def _check_moved(act: Act, earlier: Act | None, batch: Sequence[Act]) -> None:
    """Refuse to date a coding back to one that it does not replace: the others may have been seen since."""
    same = ("kind", "coder", "unit_id", "code", "round")
    removal = {
        (one.kind, one.unit_id, one.code, one.start, one.end, one.round)
        for one in batch
        if one.step == act.step
    }
    if (
        earlier is None
        or any(getattr(earlier, name) != getattr(act, name) for name in same)
        or ("remove", act.unit_id, act.code, earlier.start, earlier.end, act.round) not in removal
        or not overlap(act, earlier)
    ):
        raise ActError(
            f"{named(act)}: moved_from must name the coder's coding with this code on overlapping words, "
            "which the same step removes – leave moved_from out; nothing was recorded."
        )


def _check_target(act: Act, targets: Sequence[Act]) -> None:
    if not targets or not all(one.traits.undoable for one in targets):
        described = f"an act of kind {targets[0].kind!r}" if targets else "no such act of theirs"
        raise ActError(
            f"{act.kind}: expected target {word(act.target)} to be an earlier act of coder {act.coder!r} "
            f"that did something – found {described} – name the act itself, or its step; nothing was "
            "recorded."
        )
    if (act.unit_id, act.round) != place_of_step(targets):
        # Who may see an act, or has it withdrawn, must get its undoing too.
        raise ActError(
            f"{act.kind}: expected the unit and the round of the act that it is about – found others – make "
            f"it with acts.{act.kind}; nothing was recorded."
        )


def _audience(act: Act) -> tuple[str | None, str | None]:
    """Return what says who may see a memo: its round, and the memo that it answers."""
    return act.round, act.answers


def _refuse_shared_otherwise(act: Act, before: tuple[str | None, str | None] | None) -> None:
    """Raise `ActError` where a memo is revised in another round, or as an answer to another memo.

    Who may see a memo must get its revisions and its end too, and nobody else.
    """
    if before not in (None, _audience(act)):
        raise ActError(
            f"{named(act)}: expected a memo to keep its round (or none) and the memo that it answers – "
            "found another – end it and write a new one; nothing was recorded."
        )
