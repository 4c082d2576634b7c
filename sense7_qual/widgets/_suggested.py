"""What a model suggests for the texts of one coder: worked out beforehand, recorded, and only then shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual import acts as record
from sense7_qual import suggestions as models
from sense7_qual._messages import first_three
from sense7_qual.acts import Act, Suggestion
from sense7_qual.errors import ActError, ArgumentError, QualError, StoreError
from sense7_qual.frames import RESERVED_CODERS
from sense7_qual.rounds import visible
from sense7_qual.widgets._desk import Asked
from sense7_qual.widgets._later import Later
from sense7_qual.widgets._session import Session
from sense7_qual.widgets._study import Given, round_of

__all__ = ["SuggestionsOfTexts", "check_blind"]

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
        *,
        save: Callable[[Sequence[Act]], object],
        tell: Callable[[int], object],
    ) -> None:
        self._session, self._units, self._suggest = session, given.units, suggest
        self._save, self._tell = save, tell
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
            raise ActError("suggestions: expected a finished text – found another – finish it first.")
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
        return {**head, "state": "shown", "unit": session.unit(place), "quotes": self._quotes(place)}

    def _record(self, unit_id: str, rows: Sequence[Suggestion], *, withheld: bool) -> None:
        session = self._session
        act = record.show_suggestions(
            coder=session.coder, unit_id=unit_id, codebook=session.codebook, model=_name(self._suggest),
            suggestions=rows, withheld=withheld, when=str(self.when), round=session.round,
        )  # fmt: skip
        try:
            self._save([act])
        except StoreError:  # an OSError too, which says more
            raise
        except OSError as error:
            raise StoreError(f"saving failed: {error.strerror or type(error).__name__}") from error
        session.record(act)

    def _is_withheld(self, place: int) -> bool:
        return bool(models.withheld([self._session.unit_ids[place]]).iloc[0])

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
                self._ready[place] = f"the model failed ({type(error).__name__}); coding goes on without it"
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
            f"suggest: expected a suggester that learned from what {coder!r} may see – found one that "
            f"learned from {first_three(blind)}, to whose coding they are blind – pass coder={coder!r} to "
            "suggestions.fit, or unblind the round first."
        )


def _rows(frame: pd.DataFrame) -> tuple[Suggestion, ...]:
    def number(value: Any, kind: Callable[[Any], Any]) -> Any:
        return None if pd.isna(value) else kind(value)

    return tuple(
        Suggestion(
            code=str(row.code), probability=number(row.probability, lambda one: round(float(one), 4)),
            start=number(row.start, int), end=number(row.end, int),
        )
        for row in frame.itertuples()
    )  # fmt: skip


def _name(suggest: Suggest | None) -> str:
    """Return what the record calls the model: what it says of itself, else the name of the function."""
    name = (
        repr(suggest)
        if hasattr(suggest, "parameters")
        else getattr(suggest, "__name__", type(suggest).__name__)
    )
    return " ".join(str(name).split())[:_LONGEST_NAME]
