"""Which acts the store accepts: checked against the study's units and codebooks before any is recorded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from sense7_qual._arguments import is_unicode
from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual.acts import Act, overlap, place_of_step
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, CodebookError
from sense7_qual.frames import is_model
from sense7_qual.rounds import Round, opened
from sense7_qual.store._operations.contents import checked_content, named

_TYPES: Final[Mapping[str, type]] = {"start": int, "end": int, "applied": bool}
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


def new_acts(batch: Sequence[Act], recorded: Mapping[str, Act]) -> list[Act]:
    """Return the acts of `batch` that are not among the `recorded` ones, after checking those they name."""
    known, new = dict(recorded), []
    steps = {act.step for act in recorded.values()} - {None}
    for act in batch:
        before = known.get(act.act_id)
        if before is None:
            if act.traits.takes_back:
                _check_target(act, known.values())
            if act.step in steps:  # it may be undone already, and the new act would be with it
                raise ActError(
                    f"{named(act)}: all acts of a step must be recorded together, and step {act.step!r} has "
                    "acts already – leave step out; nothing was recorded."
                )
            if act.moved_from is not None:
                _check_moved(act, known.get(act.moved_from), batch)
            known[act.act_id] = act
            new.append(act)
        elif replace(act, at=before.at) != before:  # an act that is sent again may be stamped again
            raise ActError(
                f"append: expected act_id {act.act_id!r} to name one act – found a different act of "
                f"kind {act.kind!r} under it – leave act_id out to have one made; nothing was recorded."
            )
    return new


def refuse_outside(new: Sequence[Act], rounds: Iterable[Round]) -> None:
    """Raise `ActError` where a new act in a round that was opened is not of its coders, or not on its units.

    Only a round's leads open it again, unblind it or assign its units, and only one that was opened can be
    unblinded or assigned. Undo and redo stay possible where a round was opened again with fewer units; one
    that nobody opened is a name alone. A round that was unblinded takes no more coders or units: they would
    not be coded blind.
    """
    rounds_by_name = {one.name: one for one in rounds}
    for act in new:
        one = rounds_by_name.get(str(act.round))
        if act.traits.subject == "work" and act.round is not None:
            _refuse_other_leads(act, one)
        if act.kind == "open_round":
            again = opened([act])[0]
            if one is not None:
                _refuse_late(one, again)
                again = replace(again, leads=one.leads, unblinded_by=one.unblinded_by,
                                unblinded_at=one.unblinded_at, discusses=one.discusses)  # fmt: skip
            if again.discusses is not None:
                _refuse_undiscussable(again, rounds_by_name.get(again.discusses))
            rounds_by_name[again.name] = again
        elif one is not None and act.traits.in_a_round:
            _refuse_stranger(act, one)


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


def _refuse_stranger(act: Act, one: Round) -> None:
    if act.coder not in one.coders:
        raise ActError(
            f"{named(act)}: expected a coder of round {one.name!r} – found {act.coder!r} – ask the "
            "lead, who can open the round again with this coder; nothing was recorded."
        )
    if act.unit_id not in one.units:
        raise ActError(
            f"{named(act)}: expected one of the {len(one.units)} units of round {one.name!r} – found "
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


def _check_target(act: Act, known: Iterable[Act]) -> None:
    targets = [one for one in known if one.undone_by == act.target]
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


def checked(act: Act, texts: Mapping[str, str], codebooks: Mapping[str, Codebook]) -> Act:
    """Return `act` with its quote, after checking it against the study."""
    _check_values(act)
    if act.traits.by != "coder":
        _refuse_model(act)
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
    _check_span(act, texts)
    return checked_content(act, codebook, texts)


def _refuse_model(act: Act) -> None:
    """Refuse that a model decides what people decide: rounds, plans, options, rulings, quotes."""
    if is_model(act.coder):
        raise ActError(
            f"{named(act)}: expected the pseudonym of the person who decided it – found {act.coder!r}, which "
            "names a model – use the person's; nothing was recorded."
        )


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


def refuse_shared_otherwise(new: Sequence[Act], before: Iterable[Act]) -> None:
    """Raise `ActError` where a memo is revised in another round, or as an answer to another memo.

    Who may see a memo must get its revisions and its end too, and nobody else.
    """
    places: dict[str | None, tuple[str | None, str | None]] = {}
    for act in (*before, *new):
        if act.traits.subject != "memo":
            continue
        place = act.round, act.answers
        if places.setdefault(act.memo_id, place) != place:
            raise ActError(
                f"{named(act)}: expected a memo to keep its round (or none) and the memo that it answers – "
                "found another – end it and write a new one; nothing was recorded."
            )
