"""What one coder's session knows: units, acts, and what stands on each unit.

A session has no widget, no browser and no store in it: it turns the browser's messages into acts, and acts
into what the browser shows. Offsets leave and enter here as UTF-16 code units.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import pandas as pd

from sense7_qual import acts as record
from sense7_qual._messages import first_three
from sense7_qual.acts import KINDS, Act, Kind, about, kinds_where
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError
from sense7_qual.frames import require_column
from sense7_qual.suggestions import answers
from sense7_qual.widgets._base import field
from sense7_qual.widgets._coding.study import Units, memo_act
from sense7_qual.widgets._offsets import (
    as_text,
    folded,
    free_memos,
    on_text,
    shown_coding,
    utf16_units,
)

_UNTOUCHED, _CODED, _FINISHED, _UNSURE = b".cfu"
_ASKED: Final = kinds_where(lambda kind: kind.is_own_step or kind.takes_back)


class Mark(NamedTuple):
    """What stands on a unit, as lists search it: codes, their codings, doubt, memo, the memo folded."""

    codes: frozenset[str]
    codings: tuple[Act, ...]
    unsure: bool
    memo: str | None
    folded_memo: str


class Session(Units):
    """The state of one coder's work on a set of units.

    Attributes
    ----------
    units : DataFrame
        What is coded, in this order.
    codebook : Codebook
        The codes, and the version under which every act is made.
    coder : str
        Whose session it is.
    acts : sequence of Act
        What this coder did before, in order. Acts on units that are not in `units` are kept out.
    rating : str, optional
        The column of `units` with the rating that can be shown beside the text.
    round : str, optional
        The round of coding that finishing a unit belongs to.
    review : iterable of str, or DataFrame
        Units to be looked at again: to be finished, until they are finished under `codebook`. Of a table such
        as `codings.stale` returns, this coder's rows, each with the code that made it so.
    alike : iterable of str
        The fingerprints of versions under which what was coded means the same as under `codebook`.
    """

    def __init__(
        self,
        units: pd.DataFrame,
        codebook: Codebook,
        *,
        coder: str,
        acts: Sequence[Act],
        rating: str | None,
        round: str | None,
        review: Iterable[str] | pd.DataFrame = (),
        alike: Iterable[str] = (),
    ) -> None:
        self.coder = record.check_person(coder)
        self.codebook = codebook
        self.round = round
        self._review: Mapping[str, tuple[str, ...]] = {}
        self._reviewed_under = {codebook.fingerprint}
        self._outdated: frozenset[str] = frozenset()
        self._to_review: set[str] = set()
        self._alike = {codebook.fingerprint, *alike}
        self.position = 0
        super().__init__(units, rating=rating)
        self._acts: defaultdict[str, list[Act]] = defaultdict(list)
        self._known: dict[str, Act] = {}
        self._on_no_text: list[Act] = []
        self._done: list[Act] = []
        self._undone: list[Act] = []
        self.history: list[Act] = []
        """What was done, in order, but for undo and redo; the first act of each step."""
        self.taken_back: dict[str, str] = {}
        """Which acts and steps were taken back, and when."""
        self._steps: defaultdict[str, dict[str, Act]] = defaultdict(dict)
        self._flags = bytearray([_UNTOUCHED]) * len(self.unit_ids)
        self._earlier: set[str] = set()
        self.marks: dict[int, Mark] = {}
        """What stands on each unit with a coding or a memo, by its place."""
        before = list(acts)
        self._refuse_others(before)
        for act in before:
            self._remember(act)
        self._set_review(review)
        for unit_id in self._acts:
            self._reflag(unit_id)
        self.position = self.next_unfinished(-1)

    def __repr__(self) -> str:
        return f"Session({self.coder!r}, {self.n_finished} of {len(self.unit_ids)} units finished)"

    @property
    def n_finished(self) -> int:
        """How many of the units this coder has finished."""
        return self._flags.count(_FINISHED) + self._flags.count(_UNSURE)

    @property
    def flags(self) -> str:
        """One character a unit: ``.`` untouched, ``c`` begun, ``f`` finished, ``u`` finished, unsure."""
        return self._flags.decode("ascii")

    @property
    def n_earlier(self) -> int:
        """How many of the units, but those under review, this coder coded with another codebook alone."""
        return len(self._earlier)

    def flag(self, place: int) -> str:
        """Return the flag of the unit at `place` (see `flags`)."""
        return chr(self._flags[place])

    @property
    def to_review(self) -> list[int]:
        """The places of the units that are still to be looked at again."""
        return [self._place[unit_id] for unit_id in self._to_review]

    @property
    def n_review(self) -> int:
        """How many units are still to be looked at again."""
        return len(self._to_review)

    def look_again(self, review: pd.DataFrame) -> None:
        """Show the units of a table such as `codings.stale` returns as not finished until they are again."""
        before = set(self._review)
        self._set_review(review)
        finishes = (act for one in self._review for act in self._acts.get(one, ()) if act.kind == "finish")
        self._outdated = frozenset(act.act_id for act in finishes)
        for unit_id in (before | self._review.keys()) & self._acts.keys():
            self._reflag(unit_id)

    def _set_review(self, review: Iterable[str] | pd.DataFrame) -> None:
        self._review = _codes_to_review(review, self.coder)
        self._to_review = set(self._review) & self._place.keys()

    def review_of(self, place: int) -> list[str] | None:
        """Return the codes because of which the unit is still to be looked at again; None where it is not."""
        unit_id = self.unit_ids[place]
        return list(self._review[unit_id]) if unit_id in self._to_review else None

    def next_unfinished(self, after: int) -> int:
        """Return the place of the first unfinished unit behind `after`, else from the top, else the last."""
        order = chain(range(after + 1, len(self._flags)), range(after + 1))
        unfinished = (place for place in order if self._flags[place] in (_UNTOUCHED, _CODED))
        return next(unfinished, max(len(self._flags) - 1, 0))

    def knows(self, act_id: str) -> Act | None:
        """Return the act of this id where it has been recorded."""
        return self._known.get(act_id)

    def unit(self, place: int) -> dict[str, Any]:
        """Return all that the browser shows of the unit at `place`."""
        unit_id, text = self.unit_ids[self.check_place(place)], self.text(place)
        now = self._now(unit_id)
        memos = [on_text(act, text) for act in now["memo"] if act.answers is None]
        return {
            "place": place,
            "unit_id": unit_id,
            "text": text,
            "context": self.context(place),
            "rating": self.rating(place),
            "finished": any(map(self._finishes, now["coverage"])),
            "codings": [shown_coding(act, text, self.codebook) for act in now["coding"]],
            "memo": next((memo for memo in memos if memo["on"] == "unit"), None),
            "memos": [memo for memo in memos if memo["on"] == "span"],
            "suggestions": self.shown_suggestions(place),
            "n_acts": self._n_acts_on(unit_id),
        }

    def shown_suggestions(self, place: int) -> dict[str, Any] | None:
        """Return the suggestions shown for the unit at `place`; None where none were shown."""
        text = self.text(place)
        own = [act for act in self._acts.get(self.unit_ids[place], ()) if act.round == self.round]
        shown = next((act for act in own if act.kind == "show_suggestions" and act.text), None)
        if shown is None:
            return None
        columns = ["code", "probability", "start", "end", "answer"]
        rows = []
        for code, chance, first, last, answer in (
            answers(own)[columns].astype(object).itertuples(index=False, name=None)
        ):
            span = (None, None) if pd.isna(first) else utf16_units(text, first, last)
            chance = None if pd.isna(chance) else chance
            rows.append(
                {"code": code, "probability": chance, "start": span[0], "end": span[1], "state": answer}
            )
        return {"withheld": record.contents.Suggested.from_text(shown.text).withheld, "rows": rows}

    def own_words(self, unit_id: str, code: str, start: int, end: int) -> str | None:
        """Return these words (code points) if this coder coded exactly them, or the whole unit, so."""
        place = self._place.get(unit_id)
        if place is None:
            return None
        text = self.text(place)
        spans = [(act.start, act.end) for act in self._now(unit_id)["coding"] if act.code == code]
        is_own = (start, end) in spans or ((None, None) in spans and (start, end) == (0, len(text)))
        return text[start:end] if is_own else None

    def acts_from(self, message: Mapping[str, Any]) -> list[Act]:
        """Return the act that the browser asks for, or the acts of a step; nothing is recorded yet."""
        name = str(message.get("kind"))
        if name not in _ASKED:
            raise ActError(f"act: expected one of {', '.join(_ASKED)} – found {name[:40]!r}.")
        constructors = record if hasattr(record, name) else record.contents
        kind, make = KINDS[name], getattr(constructors, name)  # a constructor has the name of its kind
        common = {"codebook": self.codebook, "act_id": str(message.get("act_id"))}
        if kind.takes_back:
            return [self._taking_back(name, message.get("target"), common)]
        if kind.subject == "memo":
            return [memo_act(self, message, common)]
        unit_id = self.known_unit(message.get("unit_id"))
        mine = {**common, "coder": self.coder, "unit_id": unit_id, "round": self.round}
        if name == "finish":
            self._refuse_another_codebook(message.get("under"))
            self._refuse_unshown(message.get("seen"), unit_id)
        if message.get("with"):
            return self._with_others(message, unit_id)
        if name == "apply" and message.get("from") is not None:
            return self._moved(message, unit_id, common)
        if name == "apply" and message.get("found") is not None:
            return self._found(message, common)
        return [make(**mine, **self._said(kind, message, unit_id))]

    def _with_others(self, message: Mapping[str, Any], unit_id: str) -> list[Act]:
        """Return the codings that are applied and removed with an act, and the act, in one step."""
        name = uuid.UUID(str(message["act_id"]))
        acts: list[Act] = []
        for n, one in enumerate(field(message, "with", list)):
            kind = KINDS.get(str(one.get("kind"))) if isinstance(one, Mapping) else None
            if kind is None or kind.subject != "coding":
                raise ActError("act: expected codings to apply or remove – found others – press again.")
            acts += self.acts_from({**one, "unit_id": unit_id, "act_id": str(uuid.uuid5(name, str(n)))})
        return record.in_one_step([*acts, *self.acts_from({**message, "with": None})])

    def _moved(self, message: Mapping[str, Any], unit_id: str, common: Mapping[str, Any]) -> list[Act]:
        """Return the acts that move codings of the same words, with what is noted on these, to others."""
        named: dict[str, Any] = {"start": None, **field(message, "from", dict), "code": message.get("code")}
        old, new = self._target(named, unit_id), self.span(message, unit_id)
        now = self._now(unit_id)
        on_words = {a.code: a for a in now["coding"] if (a.start, a.end) == (old["start"], old["end"])}
        codes = [old["code"], *map(str, field({"also": [], **message}, "also", list))]
        if not set(codes) <= set(on_words) or (old["start"], old["end"]) == (new["start"], new["end"]):
            raise ActError(
                "Not moved: this coding changed before you could see it. Look at it, then move it again."
            )
        first = uuid.UUID(common["act_id"])
        ids = {code: str(uuid.uuid5(first, f"also {code}")) for code in codes} | {codes[0]: common["act_id"]}
        acts = [
            act
            for code, act_id in ids.items()
            for act in record.moved(on_words[code], **new, codebook=self.codebook, act_id=act_id)
        ]
        if set(codes) == set(on_words):  # otherwise the memos are about the other coding, too
            on_them = (a for a in now["memo"] if (a.start, a.end) == (old["start"], old["end"]))
            acts += [self._moved_memo(act, new, common) for act in on_them if act.target_kind == "span"]
        return record.in_one_step(acts)

    def _found(self, message: Mapping[str, Any], common: Mapping[str, Any]) -> list[Act]:
        """Return the acts that code the results of a search, leaving out what has the code already."""
        acts: list[Act] = []
        first, code = uuid.UUID(common["act_id"]), str(message.get("code"))
        for n, one in enumerate(field(message, "found", list)):
            unit_id = self.known_unit(one.get("unit_id"))
            target = self._target({**one, "code": code}, unit_id)
            if self._standing(unit_id, target) is None:
                act_id = str(uuid.uuid5(first, str(n))) if acts else common["act_id"]
                acts.append(
                    record.apply(
                        coder=self.coder,
                        unit_id=unit_id,
                        round=self.round,
                        found_by="search",
                        **{**common, **target, "act_id": act_id},
                    )
                )
        if not acts:
            raise ActError("Nothing to code: all results of this search have the code now.")
        return record.in_one_step(acts)

    def _standing(self, unit_id: str, target: Mapping[str, Any]) -> Act | None:
        """Return the coding with this code on exactly these words; None where there is none."""
        wanted = tuple(target[name] for name in ("code", "start", "end"))
        there = (act for act in self._now(unit_id)["coding"] if (act.code, act.start, act.end) == wanted)
        return next(there, None)

    def _moved_memo(self, act: Act, span: Mapping[str, int], common: Mapping[str, Any]) -> Act:
        return record.memo(
            coder=self.coder,
            text=act.memo_text,
            target_kind="span",
            unit_id=act.unit_id,
            start=span["start"],
            end=span["end"],
            memo_id=act.memo_id,
            answers=act.answers,
            round=act.round,
            codebook=self.codebook,
            act_id=str(uuid.uuid5(uuid.UUID(common["act_id"]), str(act.memo_id))),
        )

    def _said(self, kind: Kind, message: Mapping[str, Any], unit_id: str) -> dict[str, Any]:
        """Return the fields of an act of this kind."""
        said: dict[str, Any] = self._target(message, unit_id) if "start" in kind.key else {}
        if kind.facets == "coding":
            before = self._standing(unit_id, said)
            said |= {"facets": _facets(message), "confidence": message.get("confidence")}
            said |= {"found_by": before.found_by if before else None}
        if kind.subject == "rejection":
            said["code"] = self._suggested(message, unit_id)
        if kind.subject == "proposal":
            said |= {name: self._target(message, unit_id)[name] for name in ("start", "end")}
            said |= {name: typed(message, name) for name in ("label", "definition")}
        return said

    def _suggested(self, message: Mapping[str, Any], unit_id: str) -> str:
        """Return the code of the message, or raise `ActError` where none such was suggested for the unit."""
        shown, code = self.shown_suggestions(self._place[unit_id]), str(message.get("code"))
        if shown is None or code not in {row["code"] for row in shown["rows"]}:
            raise ActError(
                f"act on unit {unit_id!r}: code {code[:60]!r} was not suggested for it – look at the "
                "suggestions for this text again."
            )
        return code

    def take_saved(self, acts: Sequence[Act]) -> int:
        """Take saved acts into the current state; return the first one's place (else the shown one)."""
        for act in acts:
            self._remember(act)
        for unit_id in {unit_id for act in acts for unit_id in self._units_of(act)}:
            self._reflag(unit_id)
        place = self.find_place(acts[0].unit_id)
        return self.position if place is None else place

    def take_in(self, acts: Sequence[Act]) -> list[Act]:
        """Take in acts that this coder did in another window; return those that change what is shown here.

        Undo and redo without a target pass them over: they go through what was done here.
        """
        shown = [act for act in acts if self.would_show(act)]
        for act in acts:
            self._remember(act, elsewhere=True)
        for unit_id in {unit_id for act in acts for unit_id in self._units_of(act)} & self._acts.keys():
            self._reflag(unit_id)
        return shown

    def would_show(self, act: Act) -> bool:
        """Return True if an act of this coder that is not known here yet changes what is shown here."""
        if act.act_id in self._known or not _is_step(act) or not self._is_of_session(act):
            return False
        takes_a_memo_back = act.traits.takes_back and act.round is None
        return self._is_open(act) or takes_a_memo_back

    def _is_of_session(self, act: Act) -> bool:
        is_free = act.unit_id is None and (act.traits.subject == "memo" or bool(self._taken(act)))
        return act.unit_id in self._place or is_free

    def _taken(self, act: Act) -> list[Act]:
        """Return the acts that `act` takes back, or does again."""
        one = self._known.get(str(act.target))
        return [one] if one is not None else list(self._steps.get(str(act.target), {}).values())

    def _units_of(self, act: Act) -> set[str]:
        """Return the coder's units on which an act changes something."""
        return {str(one.unit_id) for one in (act, *self._taken(act)) if one.unit_id in self._place}

    def places_of(self, acts: Iterable[Act]) -> list[int]:
        """Return the places of the units on which acts change something, in order."""
        return sorted({self._place[unit_id] for act in acts for unit_id in self._units_of(act)})

    def _n_acts_on(self, unit_id: str) -> int:
        """Count the acts on a unit that a view must know to show its current state."""
        own = self._acts.get(unit_id, ())
        return sum(_is_step(act) and self._is_open(act) for act in own)

    @property
    def can_undo(self) -> bool:
        """Whether there is an act to take back."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether there is an undone act to do again."""
        return bool(self._undone)

    def _remember(self, act: Act, *, elsewhere: bool = False) -> None:
        is_more = act.step is not None and bool(self._steps.get(act.step))
        if act.step is not None:
            self._steps[act.step].setdefault(act.act_id, act)
        if act.act_id in self._known or not self._is_of_session(act):
            return
        self._known[act.act_id] = act
        units = self._units_of(act)
        for own in [self._acts[unit_id] for unit_id in units] or [self._on_no_text]:
            own.append(act)
        if act.traits.is_own_step:
            if is_more:
                return
            self.history.append(act)
            # Undoing what another round decided would change its coverage, and nothing here would show it.
            if elsewhere or not self._is_open(act):
                return
            self._done.append(act)
            self._undone.clear()
        elif act.kind == "undo":
            self.taken_back[str(act.target)] = act.at
            _move(act.target, self._done, [] if elsewhere else self._undone)
        elif act.kind == "redo":
            self.taken_back.pop(str(act.target), None)
            _move(act.target, self._undone, [] if elsewhere else self._done)
            again = next(iter(self._taken(act)), None)
            if not elsewhere and again is not None and again not in self._done[-1:] and self._is_open(again):
                self._done.append(again)  # it was taken back before something else was done

    def _reflag(self, unit_id: str) -> None:
        now = self._now(unit_id)
        flag = _CODED if now["coding"] or now["memo"] else _UNTOUCHED
        if any(map(self._finishes, now["coverage"])):
            flag = _UNSURE if _is_unsure(now) else _FINISHED
        self._flags[self._place[unit_id]] = flag
        if flag in (_FINISHED, _UNSURE):
            self._to_review.discard(unit_id)
        elif unit_id in self._review:
            self._to_review.add(unit_id)
        self._remark(self._place[unit_id], now)
        decided = now["coverage"] or now["coding"]
        is_earlier = bool(decided) and all(act.codebook not in self._alike for act in decided)
        (self._earlier.add if is_earlier and unit_id not in self._review else self._earlier.discard)(unit_id)

    def _remark(self, place: int, now: Mapping[str, list[Act]]) -> None:
        memos = [act.memo_text for act in now["memo"] if act.target_kind in ("unit", "span")]
        memo = "\n".join(memos) if memos else None
        codes = frozenset(str(act.code) for act in now["coding"])
        if memo is None and not codes:
            self.marks.pop(place, None)
            return
        self.marks[place] = Mark(codes, tuple(now["coding"]), _is_unsure(now), memo, folded(memo or ""))

    def _now(self, unit_id: str) -> Mapping[str, list[Act]]:
        """Return the current acts on the unit by subject: those of this round, and all memos."""
        now: defaultdict[str, list[Act]] = defaultdict(list)
        for act in record.standing(self._acts.get(unit_id, ())):
            if self._is_open(act):
                now[act.traits.subject].append(act)
        return now

    def _finishes(self, act: Act) -> bool:
        if act.unit_id not in self._review:
            return True
        return act.codebook in self._reviewed_under and act.act_id not in self._outdated

    def is_finished_earlier(self, place: int) -> bool:
        """Return True if the unit at `place` is finished under a version with another meaning."""
        covered = self._now(self.unit_ids[place])["coverage"] if self.unit_ids else []
        return any(act.codebook not in self._reviewed_under for act in covered if self._finishes(act))

    def use(self, codebook: Codebook, *, keeps: bool, alike: Iterable[str]) -> None:
        """Go on under another version; those `alike`, and with `keeps` the one before, mean the same."""
        self.codebook = codebook
        self._reviewed_under = {*(self._reviewed_under if keeps else ()), codebook.fingerprint}
        self._alike = {*(self._alike if keeps else ()), codebook.fingerprint, *alike}
        for unit_id in self._acts:
            self._reflag(unit_id)

    @property
    def acts_of_round(self) -> list[Act]:
        """This coder's acts on these units in this round, in the order in which they were recorded."""
        return [act for act in self._known.values() if act.round == self.round]

    @property
    def n_acts(self) -> int:
        """How many acts are known."""
        return len(self._known)

    @property
    def memos(self) -> list[Act]:
        """All acts of this coder that write memos, with those that take one back or do it again."""
        return about(self._known.values(), "memo")

    @property
    def free_memos(self) -> list[dict[str, Any]]:
        """The memos on codes and on the study, as the browser shows them."""
        return free_memos(self._on_no_text)

    def last_of_memo(self, memo_id: object) -> Act | None:
        """Return the act that wrote a memo of this coder last, and was not undone; None without one."""
        own = [act for act in self._known.values() if act.memo_id == memo_id and isinstance(memo_id, str)]
        return next((act for act in reversed(own) if act.undone_by not in self.taken_back), (*own, None)[0])

    @property
    def last_finished(self) -> dict[str, str]:
        """The version of the codebook under which each unit was finished last."""
        return {str(act.unit_id): act.codebook for act in self.acts_of_round if act.kind == "finish"}

    @property
    def finished_under(self) -> set[str]:
        """The versions of the codebook under which units were finished."""
        return {act.codebook for own in self._acts.values() for act in own if act.kind == "finish"}

    def _refuse_another_codebook(self, under: object) -> None:
        """Refuse to finish for a code alone what a newer version of the codebook asks more about."""
        if under not in (None, self.codebook.fingerprint):
            raise ActError(
                "finish: the codebook changed after this question was shown, so nothing was saved – decide "
                "once more."
            )

    def _refuse_unshown(self, seen: object, unit_id: str) -> None:
        """Refuse to finish a text on which other acts stand than its view had when that was pressed."""
        if seen not in (None, self._n_acts_on(unit_id)):
            raise ActError(
                "Not finished: this text changed before you could see it. Look at it, then press again."
            )

    def _is_open(self, act: Act) -> bool:
        return act.traits.subject == "memo" or act.round == self.round

    def state_of(self, act: Act) -> str:
        """Return the state of an act in the history: ``stands``, ``undone`` or ``fixed``.

        Fixed is what belongs to another round, or to a step that is partly on other texts.
        """
        if not self._is_open(act) or any(one.act_id not in self._known for one in self.acts_of_step(act)):
            return "fixed"
        return "undone" if act.undone_by in self.taken_back else "stands"

    def _taking_back(self, kind: str, target: object, common: dict[str, Any]) -> Act:
        """Return the act that takes back, or does again, the act `target`, or else the last one."""
        make, state, stack = (
            (record.undo, "stands", self._done) if kind == "undo" else (record.redo, "undone", self._undone)
        )
        if target is None:
            if not stack:
                raise ActError(f"{kind}: there is nothing to {kind}.")
            return make(self.acts_of_step(stack[-1]), **common)
        act = self._known.get(target) if isinstance(target, str) else None
        if act is None or not act.traits.is_own_step or self.state_of(act) != state:
            raise ActError(
                f"{kind}: this act is of another round or was changed meanwhile – open the history again."
            )
        return make(self.acts_of_step(act), **common)

    def acts_of_step(self, act: Act) -> list[Act]:
        """Return the acts that are undone together with this one."""
        return [act] if act.step is None else list(self._steps[act.step].values())

    def _refuse_others(self, acts: Sequence[Act]) -> None:
        others = sorted({act.coder for act in acts} - {self.coder})
        if others:
            raise ActError(
                f"acts: expected only acts of {self.coder!r} – found acts of {first_three(others)} – pass "
                f"store.acts(coder={self.coder!r}), so that coders stay blind to each other."
            )


def _is_step(act: Act) -> bool:
    """Return True for what a person does: what is shown to them changes nothing."""
    return act.traits.undoable or act.traits.takes_back


def _is_unsure(now: Mapping[str, list[Act]]) -> bool:
    return any(act.confidence == "unsure" for act in now["coding"])


def _move(act_id: str | None, source: list[Act], target: list[Act]) -> None:
    place = next((place for place in reversed(range(len(source))) if source[place].undone_by == act_id), None)
    if place is not None:
        target.append(source.pop(place))


def _codes_to_review(review: Iterable[str] | pd.DataFrame, coder: str) -> dict[str, tuple[str, ...]]:
    """Return the units to be looked at again, each with the codes because of which."""
    if not isinstance(review, pd.DataFrame):
        return dict.fromkeys(review, ())
    for name in ("unit_id", "coder", "code"):
        require_column(review, name, frame_name="review")
    own = review.loc[review["coder"] == coder, ["unit_id", "code"]].astype(str)
    return {str(unit_id): tuple(codes) for unit_id, codes in own.groupby("unit_id", sort=False)["code"]}


def _facets(message: Mapping[str, Any]) -> dict[str, str]:
    facets = message.get("facets") or {}
    if not isinstance(facets, dict):
        raise ActError(
            f"act: expected facets with their values – found {type(facets).__name__} – set them again."
        )
    return facets


def typed(message: Mapping[str, Any], name: str) -> str:
    """Return a text that was typed, without white space at its ends; a label is made one line."""
    value = message.get(name, "")
    if not isinstance(value, str):
        raise ActError(f"act: expected text as {name} – found {type(value).__name__} – write it again.")
    whole = as_text(value).strip()
    return " ".join(whole.split()) if name == "label" else whole
