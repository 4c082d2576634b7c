"""Colleagues' codings beside one's own: of a round that its lead has unblinded, to be read alone.

In a discussion these are the colleagues' codings of the discussed round.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sense7_qual import acts as record
from sense7_qual.acts import Act
from sense7_qual.errors import QualError
from sense7_qual.rounds import visible
from sense7_qual.widgets._desk import Asked
from sense7_qual.widgets._session import Session
from sense7_qual.widgets._shown import shown_coding
from sense7_qual.widgets._study import round_of

__all__ = ["Colleagues"]


class Colleagues:
    """What others coded in the round of one coder's session.

    Nothing is read of it before the coder asks, and nothing leaves here but acts that `rounds.visible` lets
    the coder see: of a blind round none.

    Attributes
    ----------
    session : Session
        Whose work it stands beside.
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
        return None if one is None else "blind" if one.unblinded_at is None else "open"

    def _who_there_is(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """Return who there is, read afresh."""
        state = self._state()
        self._theirs = self._read() if state == "open" else {}
        return {"type": "colleagues", "state": state, "names": sorted(self._theirs)}

    def _at_place(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return what stands of others on the text at a place."""
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
        """Return what stands of others in this round, on these units, and may be seen."""
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
