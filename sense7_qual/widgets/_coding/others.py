"""What a coder sees next to their own codings: colleagues', gold in training, a model's suggestions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import pandas as pd

from sense7_qual import acts as record, suggestions as models
from sense7_qual._messages import first_three
from sense7_qual._present import coefficient
from sense7_qual.acts import Act
from sense7_qual.acts.contents import Suggestion
from sense7_qual.agreement import Mastery, mastery
from sense7_qual.errors import ActError, ArgumentError, QualError
from sense7_qual.frames import RESERVED_CODERS
from sense7_qual.rounds import Round, first_decisions, visible
from sense7_qual.widgets._base import Asked, Later
from sense7_qual.widgets._coding.session import Session
from sense7_qual.widgets._coding.study import Given, round_of
from sense7_qual.widgets._offsets import shown_coding


class Colleagues:
    """What others coded in the round of one coder's session.

    Nothing is read of it before the coder asks, and nothing leaves here but acts that `rounds.visible` lets
    the coder see: of a blind round none.

    Attributes
    ----------
    session : Session
        Whose work it is shown with.
    study : Store, or what is like one
        Where the others' acts are; None, or one without `rounds`, has none to show.
    """

    def __init__(self, session: Session, study: Any) -> None:
        self._session, self._study = session, study
        # coder → unit → what stands there
        self._theirs: dict[str, dict[str, list[Act]]] = {}
        self.asked: Asked = {"colleagues": self._who_there_is, "beside": self._at_place}

    def __repr__(self) -> str:
        return f"Colleagues({self._session.coder!r}, {len(self._theirs)} colleagues)"

    def state(self) -> str | None:
        """Return "open" or "blind", as the round is; None where no round is coded, or it cannot be known."""
        try:
            return self._state()
        except QualError:  # whatever is wrong is told where codings are asked for
            return None

    @property
    def _round(self) -> str | None:
        coded = round_of(self._study, self._session.round)
        return self._session.round if coded is None else coded.discusses or coded.name

    def _state(self) -> str | None:
        one = round_of(self._study, self._round)
        return None if one is None else "blind" if one.is_blind else "open"

    def _who_there_is(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """List the colleagues, read again."""
        state = self._state()
        self._theirs = self._read() if state == "open" else {}
        return {"type": "colleagues", "state": state, "names": sorted(self._theirs)}

    def _at_place(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the colleagues' codings of the text at a place."""
        unit = self._session.unit(self._session.check_place(asked.get("place")))
        coders = [self._beside(coder, unit) for coder in sorted(self._theirs)]
        return {"type": "beside", "place": unit["place"], "coders": coders}

    def differing(self) -> list[int]:
        """Return the places of texts that the coder and a colleague finished with other codes."""
        session = self._session
        if not self._theirs and self._state() == "open":
            self._theirs = self._read()
        places = {session.place_of(unit_id) for by_unit in self._theirs.values() for unit_id in by_unit}
        return [place for place in sorted(places) if session.flag(place) in "fu" and self._differs(place)]

    def _differs(self, place: int) -> bool:
        session = self._session
        mark, unit_id = session.marks.get(place), session.unit_ids[place]
        own = mark.codes if mark else frozenset()
        finished = (of_one.get(unit_id, []) for of_one in self._theirs.values())
        return any(
            {act.code for act in now if act.kind == "apply"} != own for now in finished if _is_finished(now)
        )

    def _read(self) -> dict[str, dict[str, list[Act]]]:
        """Read the visible codings of others in this round, on these units."""
        session = self._session
        shown = visible(self._study.acts(), viewer=session.coder)
        known, name = set(session.unit_ids), self._round
        by_unit: defaultdict[tuple[str, str], list[Act]] = defaultdict(list)
        for act in shown:
            if act.coder != session.coder and act.round == name and act.unit_id in known:
                by_unit[act.coder, str(act.unit_id)].append(act)
        theirs: dict[str, dict[str, list[Act]]] = {}
        for (coder, unit_id), done in by_unit.items():
            now = [act for act in record.standing(done) if act.traits.decides]
            theirs.setdefault(coder, {})[unit_id] = now
        return theirs

    def _beside(self, coder: str, unit: Mapping[str, Any]) -> dict[str, Any]:
        now = self._theirs[coder].get(unit["unit_id"], [])
        codings = [
            shown_coding(act, unit["text"], self._session.codebook) for act in now if act.kind == "apply"
        ]
        finished = _is_finished(now)
        return {
            "coder": coder,
            "finished": finished,
            "codings": codings,
            "signs": _signs(unit["codings"], codings) if finished and unit["finished"] else {},
        }


def _is_finished(now: Sequence[Act]) -> bool:
    return any(act.kind == "finish" for act in now)


def _signs(own: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return for each code how the two agree on it.

    "both" (on words that overlap, or one of them on the whole text), "elsewhere" (both, on other words),
    "own" or "theirs".
    """
    signs = {}
    for code in dict.fromkeys(coding["code"] for coding in (*own, *theirs)):
        mine, others = ([one for one in codings if one["code"] == code] for codings in (own, theirs))
        if mine and others:
            meets = any(_overlap(one, other) for one in mine for other in others)
            signs[code] = "both" if meets else "elsewhere"
        else:
            signs[code] = "own" if mine else "theirs"
    return signs


def _overlap(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if one["start"] is None or other["start"] is None:
        return True
    return bool(one["start"] < other["end"] and other["start"] < one["end"])


_MOST: Final = 60
_WORDS: Final = {
    "pass": "Passed after {n} texts: your coding agrees with the gold decisions.",
    "fail": "Stopped after {n} texts: talk the differences through with the lead before you go on.",
}


class Training:
    """What a coder in training may know of the gold decisions: those on texts that they have finished.

    Attributes
    ----------
    session : Session
        Whose training it is, if its round has gold decisions.
    study : Store, or what is like one
        Where the round stands.
    """

    def __init__(self, session: Session, study: Any) -> None:
        self._session = session
        self.asked: Asked = {"feedback": self._feedback}
        try:
            one: Round | None = round_of(study, session.round)
        except QualError:  # whatever is wrong is told where acts are saved
            one = None
        self._round = one if one is not None and one.is_training else None

    def __repr__(self) -> str:
        return f"Training({self._session.coder!r}, {self._round!r})"

    def progress(self) -> dict[str, Any] | None:
        """Return the coder's progress and the state of their kappa; None outside training."""
        return None if self._round is None else self._progress(self._so_far(self._round)[1])

    def _feedback(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Compare the coder's first decisions on a finished text with gold."""
        place = self._session.check_place(asked.get("place"))
        if self._round is None:
            raise ActError("feedback: this is not a training round – reload the page.")
        decided, result = self._so_far(self._round)
        here = decided[decided["unit_id"] == self._session.unit_ids[place]]
        if here.empty:
            raise ActError("feedback: this text is not finished – finish it first.")
        return {
            "type": "feedback",
            "place": place,
            "rows": self._rows(self._round, here),
            "counts": {
                row.code: [row.hits, row.misses, row.false_alarms] for row in result.by_code.itertuples()
            },
            "progress": self._progress(result),
        }

    def _so_far(self, one: Round) -> tuple[pd.DataFrame, Mastery]:
        """Return the coder's first decisions, and how they agree with gold."""
        decided = first_decisions(self._session.acts_of_round, one, coder=self._session.coder)
        return decided, mastery(decided, gold=one.gold_decisions)

    def _rows(self, one: Round, decided: pd.DataFrame) -> list[dict[str, str]]:
        """Return the codes that the coder or gold applied: "same", "missed" or "added"."""
        gold = set(dict(one.gold)[decided["unit_id"].iloc[0]])
        own = set(decided.loc[decided["applied"], "code"])
        states = {
            code: "same" if code in own & gold else "missed" if code in gold else "added"
            for code in one.gold_codes
            if code in own | gold
        }
        return [{"code": code, "state": state} for code, state in states.items()]

    def _progress(self, result: Mastery) -> dict[str, Any]:
        has_kappa = result.kappa == result.kappa  # not NaN
        value, low, high = (coefficient(number, 2) for number in (result.kappa, result.low, result.high))
        return {
            "n": result.n_units,
            "most": min(len(self._session.unit_ids), _MOST),
            "kappa": f"{value} ({low}–{high})" if has_kappa else "",
            "verdict": result.verdict,
            "words": _words(result),
        }


def _words(result: Mastery) -> str:
    if result.verdict == "go on":
        return ""
    likely = result.probability if result.verdict == "pass" else 1 - result.probability
    which = result.pass_at if result.verdict == "pass" else result.fail_at
    sure = f" A kappa of {coefficient(which, 2)} is {100 * min(likely, 0.999):.0f} % probable, "
    other = result.fail_at if result.verdict == "pass" else result.pass_at
    return _WORDS[result.verdict].format(n=result.decided_after) + sure + f"against {coefficient(other, 2)}."


Suggest = Callable[[pd.DataFrame], pd.DataFrame]

_AHEAD: Final = 2  # unfinished texts behind the one on screen that are worked out beforehand
_QUOTES: Final = 3
_NEAREST: Final = 30  # human quotes that are looked through for those that the coder may see
_LONGEST_NAME: Final = 200


class SuggestionsOfTexts:
    """The suggestions for the texts of a session, none of which leaves here before it stands in the record.

    Attributes
    ----------
    session : Session
        Whose coding it is.
    given : Given
        The units, and the study where there is one: its lead settled when suggestions are shown.
    suggest : callable, optional
        Units to a frame of suggestions; None shows none.
    screening : Screening, optional
        Which codes a model found absent from which texts; these are dimmed where suggestions are shown.
    save : callable
        Called with the acts; returns once they are safe.
    tell : callable
        Called with the place of a text whose suggestions were asked for too early, once they are there.
    """

    def __init__(
        self,
        session: Session,
        given: Given,
        suggest: Suggest | None,
        screening: models.Screening | None = None,
        *,
        save: Callable[[Sequence[Act]], object],
        tell: Callable[[int], object],
    ) -> None:
        self._session, self._units, self._suggest = session, given.units, suggest
        self._save, self._tell, self._screening = save, tell, screening
        settled = getattr(getattr(given.study, "options", None), "suggestions", "finished")
        coded = round_of(given.study, session.round)
        is_on = suggest is not None and settled != "never" and not (coded is not None and coded.is_training)
        self.when: str | None = settled if is_on else None
        self._later = Later(self._work, say=lambda words: None)
        self._wanted: list[int] = []
        self._asked: set[int] = set()
        # place → the frame of what is suggested and the nearest quotes, or why there is none
        self._ready: dict[int, tuple[pd.DataFrame, pd.DataFrame] | str] = {}
        self.asked: Asked = {"suggestions": self._at_place}

    def __repr__(self) -> str:
        return f"SuggestionsOfTexts({self._session.coder!r}, {self.when})"

    def look_ahead(self, place: int) -> None:
        """Have the suggestions of the text at `place`, and of those behind it, worked out meanwhile."""
        if self.when is None:
            return
        places = [place]
        while len(places) <= _AHEAD and self._session.next_unfinished(places[-1]) not in places:
            places.append(self._session.next_unfinished(places[-1]))
        self._want(places)

    def _at_place(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Record what is shown of a text, and return it; what was shown once stays."""
        session = self._session
        place = session.check_place(asked.get("place"))
        if self.when is None or (self.when == "finished" and session.flag(place) not in "fu"):
            raise ActError("suggestions: this text is not finished – finish it first.")
        head = {"type": "suggestions", "place": place}
        unit_id = session.unit_ids[place]
        if session.shown_suggestions(place) is None:
            left_out = self._is_withheld(place)
            ready = self._ready.get(place)
            if isinstance(ready, str):
                return {**head, "state": "failed", "message": ready}
            if not left_out and ready is None:
                self._asked.add(place)
                self._want([place])
                return {**head, "state": "waiting"}
            self._record(unit_id, () if ready is None else _rows(ready[0]), withheld=left_out)
        elif place not in self._ready:
            self._want([place])  # for its quotes, when it is looked at again
        shown = {"unit": session.unit(place), "quotes": self._quotes(place), "absent": self._absent(place)}
        return {**head, "state": "shown", **shown}

    def _record(self, unit_id: str, rows: Sequence[Suggestion], *, withheld: bool) -> None:
        session = self._session
        act = record.contents.show_suggestions(
            coder=session.coder,
            unit_id=unit_id,
            codebook=session.codebook,
            model=_name(self._suggest),
            suggestions=rows,
            withheld=withheld,
            when=str(self.when),
            round=session.round,
        )
        self._save([act])
        session.take_saved([act])

    def _is_withheld(self, place: int) -> bool:
        return bool(models.withheld([self._session.unit_ids[place]]).iloc[0])

    @cached_property
    def _absent_of(self) -> Mapping[str, list[str]]:
        """The codes that the screening decided absent, by unit; none of those that it decided present: who
        passes over one of these would code it absent."""
        if self._screening is None:
            return {}
        verdicts = self._screening.verdicts
        absent = verdicts[verdicts["verdict"] == "absent"].astype({"unit_id": object, "code": object})
        return {str(unit_id): own.tolist() for unit_id, own in absent.groupby("unit_id")["code"]}

    def _absent(self, place: int) -> list[str]:
        """Return the codes to dim on a text; none under another codebook, where they may mean something else,
        and none on a text from which suggestions are withheld."""
        codebook = None if self._screening is None else self._screening.parameters["codebook"]
        if codebook != self._session.codebook.fingerprint or self._is_withheld(place):
            return []
        return self._absent_of.get(self._session.unit_ids[place], [])

    def _want(self, places: Sequence[int]) -> None:
        new = [place for place in places if place not in self._ready and not self._is_withheld(place)]
        if new:
            self._wanted = new
            self._later.ask()

    def _work(self) -> None:
        """Work out what is wanted, the first first; in a thread of its own."""
        while self._wanted and not self._later.asked_again:
            place = self._wanted.pop(0)
            try:
                self._ready[place] = self._of_text(place)
            except QualError as error:
                self._ready[place] = str(error)
            except Exception as error:  # noqa: BLE001 – a model may raise anything, and quote a text in it
                self._ready[place] = f"the model failed ({type(error).__name__}); go on coding without it"
            if place in self._asked:
                self._asked.discard(place)
                self._tell(place)

    def _of_text(self, place: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        unit, suggest = self._units.iloc[[place]].reset_index(drop=True), self._suggest
        suggested = pd.DataFrame() if suggest is None else suggest(unit.copy())
        frame = models.check(suggested, unit, self._session.codebook)
        frame = frame[frame["suggested"]].sort_values("probability", ascending=False, kind="stable")
        nearest = getattr(suggest, "nearest", None)
        quotes = pd.DataFrame() if nearest is None or frame.empty else nearest(frame, unit, k=_NEAREST)
        return frame, quotes

    def _quotes(self, place: int) -> dict[str, list[str]]:
        """Return by code the nearest quotes that this coder coded: a colleague's say what others decided."""
        ready = self._ready.get(place)
        if ready is None or isinstance(ready, str) or ready[1].empty:
            return {}
        quotes: dict[str, list[str]] = {}
        columns = ["code", "quote_unit_id", "start", "end"]
        for code, unit_id, start, end in ready[1][columns].astype(object).itertuples(index=False, name=None):
            own = quotes.setdefault(code, [])
            words = self._session.own_words(unit_id, code, start, end)
            if words is not None and len(own) < _QUOTES:
                own.append(words)
        return quotes


def check_blind(suggest: Suggest | None, given: Given, coder: str) -> None:
    """Raise `ArgumentError` where a suggester learned from decisions that the coder may not see yet."""
    learned_from = {str(one) for one in getattr(suggest, "parameters", {}).get("coders", ())} - {coder}
    computed = learned_from & set(RESERVED_CODERS)
    if not learned_from:
        return
    if hasattr(given.study, "acts"):
        everything = given.study.acts()
        seen = {act.act_id for act in visible(everything, viewer=coder)}
        hidden = {act.coder for act in everything if act.kind == "finish" and act.act_id not in seen}
    else:
        hidden = learned_from
    blind = sorted(hidden if computed else learned_from & hidden)
    if blind:
        raise ArgumentError(
            f"suggest: this suggester learned from the coding of {first_three(blind)}, which {coder!r} may "
            f"not see yet – pass coder={coder!r} to suggestions.fit, or unblind the round first."
        )


def _rows(frame: pd.DataFrame) -> tuple[Suggestion, ...]:
    def number(value: Any, kind: Callable[[Any], Any]) -> Any:
        return None if pd.isna(value) else kind(value)

    return tuple(
        Suggestion(
            code=str(row.code),
            probability=number(row.probability, lambda one: round(float(one), 4)),
            start=number(row.start, int),
            end=number(row.end, int),
        )
        for row in frame.itertuples()
    )


def _name(suggest: Suggest | None) -> str:
    """Return the model's name for the record: its repr, else the name of the function."""
    name = (
        repr(suggest)
        if hasattr(suggest, "parameters")
        else getattr(suggest, "__name__", type(suggest).__name__)
    )
    return " ".join(str(name).split())[:_LONGEST_NAME]
