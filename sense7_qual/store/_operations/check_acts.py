"""Which acts come into a study: one gate for every way in.

What is appended, by widgets and sheets too, what a merge or a hand-in brings and what an archive restores is
checked here, and nowhere else: each act by itself, against the study's texts and codebooks (`checked`), then
what was done together against what its coder did before and the rounds (`admitted`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Final, TypeVar

from sense7_qual._arguments import is_unicode
from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual.acts import Act, overlap, place_of_step
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, CodebookError
from sense7_qual.frames import is_model
from sense7_qual.rounds import Round, opened
from sense7_qual.store._operations.contents import checked_content, named

_Item = TypeVar("_Item")
_TYPES: Final[Mapping[str, type]] = {"start": int, "end": int, "applied": bool}
MOST_LETTERS: Final = 100_000
"""Of a memo, and of whatever else is written in words of one's own."""
_AT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


def of_kind(acts: Sequence[Act], kind: str) -> list[Act]:
    """Return the acts of `kind` with those that take one of them back or do it again, in their order."""
    chosen = {(act.coder, act.undone_by) for act in acts if act.kind == kind}
    return [
        act
        for act in acts
        if act.kind == kind or (act.traits.takes_back and (act.coder, act.target) in chosen)
    ]


def as_acts(acts: Sequence[Act]) -> list[Act]:
    """Return `acts` as a list, or raise `ActError` where one is no act."""
    batch = list(acts) if isinstance(acts, Iterable) else []
    other = [type(act).__name__ for act in batch if not isinstance(act, Act)]
    if not isinstance(acts, Iterable):
        other = ["a single Act" if isinstance(acts, Act) else type(acts).__name__]
    if other:
        raise ActError(
            f"append: expected a list of acts – found {first_three(other)} – make them with acts.apply, "
            "acts.finish and so on."
        )
    return batch


def one_coder(batch: Sequence[Act]) -> str:
    """Return the coder of `batch`, or raise `ActError` where there are several."""
    coders = sorted({act.coder for act in batch})
    if len(coders) > 1:
        raise ActError(
            f"append: expected the acts of one coder – found those of {first_three(coders)} – call append "
            "once for each coder."
        )
    return coders[0]


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
        except ActError as error:
            return str(error)
        return ""


def together(acts: Iterable[_Item], act_of: Callable[[_Item], Act | None]) -> Iterator[list[_Item]]:
    """Yield what was done together: the acts of one step, any other by itself."""

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
            "none of this name" if discussed is None
            else "one that is a discussion itself" if discussed.discusses
            else "one of training" if discussed.is_training
            else "one that is blind"
        )  # fmt: skip
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
    removal = {(one.kind, one.unit_id, one.code, one.start, one.end, one.round)
               for one in batch if one.step == act.step}  # fmt: skip
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


def checked(
    act: Act,
    texts: Mapping[str, str],
    codebooks: Mapping[str, Codebook],
    *,
    gone: Set[str] = frozenset(),
) -> Act:
    """Return `act` with its quote, after checking it against the study.

    `gone` are those units in `texts` whose participants withdrew: an act on one, which a copy brings, comes
    in without its words.
    """
    _check_values(act)
    if act.traits.by != "coder":
        _refuse_model(act)
    _check_length(act)
    codebook = codebooks.get(act.codebook)
    if codebook is None:
        raise ActError(
            f"{named(act)}: expected a codebook of this study – found fingerprint {word(act.codebook)} – "
            "pass codebook=store.codebook."
        )
    if act.unit_id is not None and act.unit_id not in texts:
        raise ActError(
            f"{named(act)}: expected a unit of this study – found {word(act.unit_id)} – "
            f"{did_you_mean(act.unit_id, texts)}"
        )
    _check_code(act, codebook, codebooks)
    _check_facets(act, codebook)
    if act.unit_id in gone or is_erased(act):
        return act
    _check_span(act, texts)
    return checked_content(act, codebook, texts)


def _refuse_model(act: Act) -> None:
    """Refuse that a model decides what people decide: rounds, plans, options, rulings, quotes."""
    if is_model(act.coder):
        raise ActError(
            f"{named(act)}: expected the pseudonym of the person who decided it – found {act.coder!r}, which "
            "names a model – use the person's; nothing was recorded."
        )


def is_erased(act: Act) -> bool:
    """Return True where a withdrawal took the text of an act, which is empty since."""
    return act.text == "" and act.traits.text == "written"


def _check_values(act: Act) -> None:
    """Refuse what would be recorded as something else than it is."""
    for name in Act.__slots__:
        value, kind = getattr(act, name), _TYPES.get(name, str)
        if value is not None and type(value) is not kind:
            raise ActError(
                f"{named(act)}: expected {kind.__name__} for {name} – found {type(value).__name__} – "
                "convert it."
            )
        if isinstance(value, str) and name != "text" and "\0" in value:
            raise ActError(f"{named(act)}: expected {name} without NUL – found one in it – take it out.")
        if isinstance(value, str) and not is_unicode(value):
            raise ActError(
                f"{named(act)}: expected Unicode text for {name} – found half of a surrogate pair – send "
                "whole characters."
            )
    if not _is_time(act.at):
        raise ActError(
            f"{named(act)}: expected the time in UTC like '2026-01-31T12:00:00.000Z' – found "
            f"{word(act.at)} – leave `at` out: it is filled in."
        )


def _check_length(act: Act) -> None:
    """Refuse more words than anybody writes, which every reading of the study would carry."""
    if act.traits.text == "written" and len(act.text or "") > MOST_LETTERS:
        raise ActError(
            f"{named(act)}: expected a {act.traits.noun} of at most {MOST_LETTERS:,} letters – found "
            f"{len(act.text or ''):,} – shorten it, or keep the long text in a file of its own; nothing was "
            "recorded."
        )


def _is_time(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:  # a month 13, which nothing could put in order later
        return False
    return _AT.fullmatch(value) is not None


def knows_code(act: Act, codebooks: Mapping[str, Codebook]) -> bool:
    """Return True if the code of an act, if it has one, is of its codebook, which must be one of `codebooks`.

    What was coded before a code was merged, split or retired can still be taken away, and a memo on it still
    be written: for these any version of the codebook will do.
    """
    if act.code is None:
        return True
    books = codebooks.values() if act.traits.code == "ever" else [codebooks[act.codebook]]
    return any(act.code in book for book in books)


def _check_code(act: Act, codebook: Codebook, codebooks: Mapping[str, Codebook]) -> None:
    if not knows_code(act, codebooks):
        raise ActError(
            f"{named(act)}: expected a code of codebook {codebook.name!r} – found {word(act.code)} – "
            f"{did_you_mean(str(act.code), codebook.ids)}"
        )
    if act.code is None:
        return
    if act.traits.code == "codable" and not codebook[act.code].codable:
        raise ActError(
            f"{named(act)}: expected a code that can be applied – found {act.code!r}, which only groups "
            "others – use one of the codes under it."
        )


def _check_facets(act: Act, codebook: Codebook) -> None:
    read_as = act.traits.facets
    if (
        act.facets is None
        or read_as in ("quote", "abstention")
        or (read_as == "ruling" and act.facets == f"reason={act.reason}")
    ):
        return
    if read_as != "coding":
        raise ActError(
            f"{named(act)}: expected facets only in a coding – found them in an act of kind {act.kind!r} – "
            "leave them out; a ruling has a reason."
        )
    try:
        codebook.check_facets(str(act.code), act.facet_values)
    except CodebookError as error:
        raise ActError(f"{named(act)}: {error}") from None


def _check_span(act: Act, texts: Mapping[str, str]) -> None:
    n_points = len(texts.get(str(act.unit_id), ""))
    if act.end is not None and act.end > n_points:
        raise ActError(
            f"{named(act)}: expected a span within the text's {n_points} code points – found {act.start} … "
            f"{act.end} – count Unicode code points, not bytes or UTF-16 units."
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
