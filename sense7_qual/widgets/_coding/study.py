"""What one coder codes and where acts go: a study or its parts, the texts by place, other windows."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual.acts import Act, check_person
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, ArgumentError
from sense7_qual.frames import UNITS, require_column
from sense7_qual.rounds import Round
from sense7_qual.widgets._base import desk_of
from sense7_qual.widgets._offsets import code_points, shown_value, turns

if TYPE_CHECKING:
    from sense7_qual.widgets._coding.session import Session

__all__ = ["Given", "Recorder", "Units", "elsewhere_message", "of_study", "one_by_one", "round_of"]

_NEEDS = ("units", "codebook", "acts", "append")


class Given(NamedTuple):
    """What is coded, with which codebook, what was done before, where acts go, and which codebook the study
    names now (its fingerprint; None where there is no study to ask), and the study, where there is one."""

    units: pd.DataFrame
    codebook: Codebook
    acts: Sequence[Act]
    save: Callable[[Sequence[Act]], object]
    current: Callable[[], str] | None = None
    study: Any = None


def one_by_one(**parts: Any) -> Given:
    """Return the parts of the long form, all of which must be there."""
    missing = [name for name, value in parts.items() if value is None]
    if missing:
        raise ArgumentError(
            "CodingWidget: expected an open study, or units, codebook, acts and save – found no "
            f"{', '.join(missing)} – write CodingWidget(qual.Store(…), coder=…), or give all four."
        )
    return Given(**parts)


def of_study(study: Any, *, coder: str, round: str | None, **parts: object) -> Given:
    """Return what `study` holds for `coder`; `parts` are those of the long form, which must be None."""
    if isinstance(study, type) or not all(hasattr(study, name) for name in _NEEDS):
        raise ArgumentError(
            f"CodingWidget: expected an open study – found {type(study).__name__} – open it: "
            "CodingWidget(qual.Store(…), coder=…)."
        )
    twice = [name for name, value in parts.items() if value is not None]
    if twice:
        raise ArgumentError(
            f"CodingWidget: expected the study alone – found {', '.join(twice)} beside it – leave out what "
            "the study holds itself, or give units, codebook, acts and save without the study."
        )
    units = _units_of(study, check_person(coder), round)
    current = getattr(desk_of(study), "current_codebook", None)
    return Given(units, study.codebook, study.acts(coder=coder), study.append, current, study)


def round_of(study: Any, name: str | None) -> Round | None:
    """Return the round of this name as it stands in the study; None where there is none."""
    opened: Sequence[Round] = () if name is None else getattr(study, "rounds", ())
    return next((one for one in opened if one.name == name), None)


def _units_of(study: Any, coder: str, round: str | None) -> pd.DataFrame:
    """Return the coder's units in the order of the plan; all of them where there is no plan."""
    units: pd.DataFrame = study.units
    plan = getattr(study, "plan", pd.DataFrame())
    if plan.empty and round is None:
        return units
    rounds = [] if plan.empty else plan["round"].dropna().unique().tolist()
    if round is not None and round not in rounds:
        raise ActError(
            f"round: expected a round that was opened – found {word(round)} – "
            f"{did_you_mean(str(round), rounds)}"
        )
    here = plan[plan["round"].isna() if round is None else plan["round"] == round]
    ids = here.loc[here["coder"] == coder, "unit_id"]
    if ids.empty:
        raise ActError(_without_units(plan, coder, round, here["coder"].unique().tolist()))
    own: pd.DataFrame = units.set_index("unit_id", drop=False).loc[ids].reset_index(drop=True)
    return own


def _without_units(plan: pd.DataFrame, coder: str, round: str | None, coders: Sequence[str]) -> str:
    """Return why the coder codes nothing, and what to do."""
    others = plan.loc[plan["coder"] == coder, "round"].dropna().unique().tolist()
    if round is None and others:
        return (
            f"coder: expected the round in which {coder!r} codes – found none – pass round={others[0]!r}"
            f"{f' (their rounds: {first_three(others)})' if others[1:] else ''}."
        )
    if not coders:  # nothing is dealt but in rounds, and these are others'
        coders = plan["coder"].unique().tolist()
    where = "the plan of the study" if round is None else f"round {round!r}"
    remedy = (
        "let the lead deal them texts (store.assign)" if round is None else "ask the lead to open it again"
    )
    return (
        f"coder: expected a coder with texts in {where} – found {coder!r} – {did_you_mean(coder, coders)}; a "
        f"new coder: {remedy}."
    )


class _Unshown(ActError):
    """Acts on this text came from another window, and the coder has not seen them."""


class Recorder:
    """Saves the acts of a session, and takes in what the coder did elsewhere since it was read.

    Attributes
    ----------
    session : Session
        Whose acts they are.
    given : Given
        Where acts go; a study with `append_after`, as `Store` has, says what else was recorded.
    came : callable
        Called with the acts that the session has taken in.
    """

    def __init__(self, session: Session, given: Given, came: Callable[[list[Act]], object]) -> None:
        self._session, self._came, self._append = session, came, given.save
        self._append_after = getattr(desk_of(given.study), "append_after", None)
        self._n_read = len(given.acts)

    def __repr__(self) -> str:
        return f"Recorder({self._session.coder!r}, {self._n_read} acts read)"

    def save(self, acts: Sequence[Act]) -> None:
        """Record `acts`; return once they are safe, and what was recorded elsewhere is in the session.

        Raises `ActError` where one of them finishes a text, or takes something back, over acts on that text
        that came from elsewhere: the session has these now, and nothing was recorded.
        """
        if self._append_after is None:
            self._append(acts)
            return
        unread: list[Act] = []

        def meet(others: list[Act]) -> None:
            unread[:] = others  # a lost connection may call this twice
            self._refuse_unshown(acts, others)

        try:
            n_new = self._append_after(acts, n_read=self._n_read, meet=meet)
        except _Unshown:
            self._take_in(unread)
            raise
        own = {act.act_id for act in acts}
        self._take_in([act for act in unread if act.act_id not in own])
        self._n_read += n_new + len(unread)

    def _take_in(self, acts: list[Act]) -> None:
        new = self._session.take_in(acts)
        if new:
            self._came(new)

    def _refuse_unshown(self, acts: Sequence[Act], others: Sequence[Act]) -> None:
        recorded = {act.act_id for act in others}
        for act in acts:
            unshown = [one for one in others if one.unit_id == act.unit_id and self._session.would_show(one)]
            is_of_all = act.kind == "finish" or act.traits.takes_back
            if is_of_all and unshown and act.act_id not in recorded:
                raise _Unshown(
                    f"Not done: {_counted(unshown)} on this text came from another window. Look at "
                    f"{'it' if len(unshown) == 1 else 'them'}, then press again."
                )


def _counted(acts: Sequence[Act]) -> str:
    noun = "coding" if all(act.kind == "apply" for act in acts) else "change"
    return f"{len(acts)} {noun}{'s' * (len(acts) != 1)}"


def elsewhere_message(session: Session, acts: Sequence[Act]) -> dict[str, Any]:
    """Return what is told to all views once the session has taken in `acts` from another window."""
    places = {session.find_place(act.unit_id) for act in acts} - {None}
    return {
        "type": "elsewhere",
        "words": f"{_counted(acts)} came from another window",
        "places": sorted(place for place in places if place is not None),
        "flags": session.flags,
        "memos": session.free_memos,
        "n_finished": session.n_finished,
        "can_undo": session.can_undo,
        "can_redo": session.can_redo,
    }


class Units:
    """What is coded, in this order.

    Attributes
    ----------
    units : DataFrame
        The units.
    rating : str, optional
        Their column with the rating that can be shown beside the text.
    """

    def __init__(self, units: pd.DataFrame, *, rating: str | None) -> None:
        table = UNITS.check(units, as_written=True)
        self.unit_ids: list[str] = table["unit_id"].tolist()
        self._text = table["text"]
        self._context = table["context"].array if "context" in table.columns else None
        if rating is not None:
            require_column(table, rating, frame_name="units")
        self._rating = None if rating is None else table[rating].array

    def __repr__(self) -> str:
        return f"Units({len(self.unit_ids)} units)"

    def context(self, place: int) -> list[dict[str, str]]:
        """Return what was said before the unit at `place`."""
        return turns(_value(self._context, place))

    @cached_property
    def _place(self) -> dict[str, int]:
        return dict(zip(self.unit_ids, range(len(self.unit_ids)), strict=True))

    @cached_property
    def texts(self) -> list[str]:
        """All texts, in order."""
        texts: list[str] = self._text.fillna("").tolist()
        return texts

    def text(self, place: int) -> str:
        """Return the text of the unit at `place`."""
        return _value(self._text.array, place) or ""

    @property
    def has_rating(self) -> bool:
        """Whether the units have a rating that can be shown."""
        return self._rating is not None

    def rating(self, place: int) -> str | None:
        """Return the rating of the unit at `place`, as it is shown."""
        return shown_value(_value(self._rating, place))

    def place_of(self, unit_id: object) -> int:
        """Return the place of a unit."""
        place = self._place.get(unit_id) if isinstance(unit_id, str) else None
        if place is None:
            near = difflib.get_close_matches(str(unit_id)[:100], self.unit_ids, n=1) or self.unit_ids
            raise ActError(
                f"unit_id: expected one of the units to code – found {word(unit_id)} – "
                f"{did_you_mean(str(unit_id), near)}"
            )
        return place

    def check_place(self, place: object) -> int:
        """Return `place`, or raise `ActError` where no unit has it."""
        if type(place) is not int or not 0 <= place < len(self.unit_ids):
            raise ActError(
                f"units: expected a place from 0 to {len(self.unit_ids) - 1} – found {word(place)} – go to "
                "another."
            )
        return place

    def words(self, message: Mapping[str, Any]) -> str:
        """Return the text, or the span of it, that the browser names."""
        unit_id = self.known_unit(message.get("unit_id"))
        span = self._target(message, unit_id)
        return self.text(self._place[unit_id])[span["start"] : span["end"]]

    def _target(self, message: Mapping[str, Any], unit_id: str) -> dict[str, Any]:
        """Return code, start and end (in code points) of a coding that the browser names."""
        code, start, end = str(message.get("code")), message.get("start"), message.get("end")
        if start is None and end is None:
            return {"code": code, "start": None, "end": None}
        if type(start) is not int or type(end) is not int:  # half a span, or a fraction, is no whole unit
            raise ActError(
                f"act on unit {unit_id!r}: expected two whole numbers as start and end – found "
                f"{type(start).__name__} and {type(end).__name__} – select again."
            )
        first, last = code_points(self.text(self._place[unit_id]), start, end)
        return {"code": code, "start": first, "end": last}

    def span(self, message: Mapping[str, Any], unit_id: str) -> dict[str, int]:
        """Return start and end, in code points, of the span that the browser names."""
        named = self._target(message, unit_id)
        if named["start"] is None:
            raise ActError(f"act on unit {unit_id!r}: expected words of the text – found none – select some.")
        return {"start": named["start"], "end": named["end"]}

    def find_place(self, unit_id: str | None) -> int | None:
        """Return the place of a unit; None where it is not among those that are coded here."""
        return None if unit_id is None else self._place.get(unit_id)

    def known_unit(self, unit_id: object) -> str:
        """Return the id of one of the units; raise `ActError` where there is no such one."""
        if not isinstance(unit_id, str) or unit_id not in self._place:
            raise ActError(
                f"act: expected one of the units to code – found {str(unit_id)[:60]!r} – "
                f"{did_you_mean(str(unit_id), self.unit_ids[:1000])}"
            )
        return unit_id


def _value(column: Any, place: int) -> Any:
    """Return the value at `place`; None where it is missing, or there is no column."""
    value = None if column is None else column[place]
    return None if pd.isna(value) else value
