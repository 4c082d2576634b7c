"""What one coder codes: a study or its parts, the texts by place, and the memo that a browser asks for."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol

import pandas as pd

from sense7_qual import acts as record
from sense7_qual._messages import did_you_mean, word
from sense7_qual.acts import Act, check_person
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, ArgumentError
from sense7_qual.frames import UNITS, require_column
from sense7_qual.rounds import Round, own_codings
from sense7_qual.widgets._base import desk_of
from sense7_qual.widgets._offsets import as_text, code_points, shown_value, turns

_NEEDS = ("units", "codebook", "acts", "append")


class Given(NamedTuple):
    """What is coded, with which codebook, what was done before, where acts go, and which codebook the study
    names now (its fingerprint; None where there is no study to ask); the study, where there is one, and the
    round."""

    units: pd.DataFrame
    codebook: Codebook
    acts: Sequence[Act]
    save: Callable[[Sequence[Act]], object]
    current: Callable[[], str] | None = None
    study: Any = None
    round: str | None = None


def one_by_one(**parts: Any) -> Given:
    """Return the parts of the long form, all of which must be there."""
    missing = [name for name, value in parts.items() if value is None]
    if missing:
        raise ArgumentError(
            f"CodingWidget: expected an open study, or units, codebook, acts and save – missing: "
            f"{', '.join(missing)} – write CodingWidget(qual.Store(…), coder=…), or pass all four."
        )
    return Given(**parts)


def of_study(study: Any, *, coder: str, round: str | None, **parts: object) -> Given:
    """Return the parts that `study` provides for `coder`; the `parts` of the long form must be None."""
    if isinstance(study, type) or not all(hasattr(study, name) for name in _NEEDS):
        raise ArgumentError(
            f"CodingWidget: expected an open study – found {type(study).__name__} – open it: "
            "CodingWidget(qual.Store(…), coder=…)."
        )
    twice = [name for name, value in parts.items() if value is not None]
    if twice:
        raise ArgumentError(
            f"CodingWidget: got a study and also {', '.join(twice)}, which the study provides – leave them "
            "out, or pass units, codebook, acts and save without a study."
        )
    coder, round = check_person(coder), first_round(study, coder) if round is None else round
    units = _units_of(study, coder, round)
    current = getattr(desk_of(study), "current_codebook", None)
    return Given(units, study.codebook, _own_acts(study, coder, round), study.append, current, study, round)


def _own_acts(study: Any, coder: str, round: str | None) -> Sequence[Act]:
    """Return the coder's acts; a discussion in which they did nothing yet begins with their own codings."""
    acts: Sequence[Act] = study.acts(coder=coder)
    talk = round_of(study, round)
    if talk is None or talk.discusses is None or any(act.round == round for act in acts):
        return acts
    copied = own_codings(acts, talk, coder=coder, codebook=study.codebook)
    if copied:
        study.append(copied)
    return [*acts, *copied]


def round_of(study: Any, name: str | None) -> Round | None:
    """Return the round of this name as it stands in the study; None where there is none."""
    opened: Sequence[Round] = () if name is None else getattr(study, "rounds", ())
    return next((one for one in opened if one.name == name), None)


def first_round(study: Any, coder: str) -> str | None:
    """Return the round to begin with where a coder has texts in rounds alone: the oldest with texts left."""
    plan = getattr(study, "plan", pd.DataFrame())
    if plan.empty:
        return None
    own = plan[(plan["coder"] == coder) & plan["unit_id"].isin(study.units["unit_id"])]
    if own.empty or own["round"].isna().any():
        return None
    of_rounds = {str(name): set(units) for name, units in own.groupby("round", sort=False)["unit_id"]}
    names: list[str] = [one.name for one in study.rounds if one.name in of_rounds] or [*of_rounds]
    left = (name for name in names if of_rounds[name] - _finished(study, coder, name))
    return next(left, names[-1])


def _finished(study: Any, coder: str, round: str) -> set[str]:
    return set(study.coverage(coder=coder, round=round)["unit_id"])


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
    # Of a folder that was handed out the plan is whole, and the texts are those of one coder.
    ids = here.loc[(here["coder"] == coder) & here["unit_id"].isin(units["unit_id"]), "unit_id"]
    if ids.empty:
        raise ActError(_without_units(plan, coder, round, here["coder"].unique().tolist()))
    own: pd.DataFrame = units.set_index("unit_id", drop=False).loc[ids].reset_index(drop=True)
    return own


def _without_units(plan: pd.DataFrame, coder: str, round: str | None, coders: Sequence[str]) -> str:
    """Say why the coder has no texts, and what to do."""
    if not coders:  # texts are assigned in rounds alone, and to others
        coders = plan["coder"].unique().tolist()
    where = "the plan of the study" if round is None else f"round {round!r}"
    remedy = (
        "ask the lead to assign them texts (store.assign)" if round is None else "ask the lead to add them"
    )
    return (
        f"coder: {coder!r} has no texts in {where} – {did_you_mean(coder, coders)}; for a new coder, "
        f"{remedy}."
    )


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
        """Return the turns before the unit at `place`."""
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
                f"unit_id: expected a unit that is coded here – found {word(unit_id)} – "
                f"{did_you_mean(str(unit_id), near)}"
            )
        return place

    def check_place(self, place: object) -> int:
        """Return `place`, or raise `ActError` where no unit has it."""
        if type(place) is not int or not 0 <= place < len(self.unit_ids):
            raise ActError(
                f"units: expected a place from 0 to {len(self.unit_ids) - 1} – found {word(place)} – reload "
                "the page."
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
            raise ActError(f"act on unit {unit_id!r}: no words are selected – select some first.")
        return {"start": named["start"], "end": named["end"]}

    def find_place(self, unit_id: str | None) -> int | None:
        """Return the place of a unit; None where it is not among those that are coded here."""
        return None if unit_id is None else self._place.get(unit_id)

    def known_unit(self, unit_id: object) -> str:
        """Return the id of one of the units; raise `ActError` where there is no such one."""
        if not isinstance(unit_id, str) or unit_id not in self._place:
            raise ActError(
                f"act: expected a unit that is coded here – found {str(unit_id)[:60]!r} – "
                f"{did_you_mean(str(unit_id), self.unit_ids[:1000])}"
            )
        return unit_id


def _value(column: Any, place: int) -> Any:
    """Return the value at `place`; None where it is missing, or there is no column."""
    value = None if column is None else column[place]
    return None if pd.isna(value) else value


KINDS: Final = ("unit", "span", "code", "study")


class Writer(Protocol):
    """What is asked of the session in which a memo is written."""

    coder: str
    codebook: Codebook
    round: str | None

    def known_unit(self, unit_id: object) -> str:
        """Return the id of one of the units."""

    def span(self, message: Mapping[str, Any], unit_id: str) -> dict[str, int]:
        """Return start and end of the span that the browser names."""

    def last_of_memo(self, memo_id: object) -> Act | None:
        """Return the act that wrote a memo last."""


def memo_act(session: Writer, message: Mapping[str, Any], common: Mapping[str, Any]) -> Act:
    """Return the memo that the browser asks for: on the text, a span of it, a code or the study."""
    kind = message.get("target_kind") or "unit"
    if kind not in KINDS:
        raise ActError(
            f"memo: expected it on one of {', '.join(KINDS)} – found {str(kind)[:40]!r} – "
            f"{did_you_mean(str(kind), KINDS)}"
        )
    about: dict[str, Any] = {"target_kind": kind}
    if kind in ("unit", "span"):
        about["unit_id"] = session.known_unit(message.get("unit_id"))
    if kind == "span":
        about |= session.span(message, about["unit_id"])
    if kind == "code":
        about["code"] = session.codebook[str(message.get("code"))].id
    memo_id = message.get("memo_id")
    before = _revised(session, memo_id, about)
    round = before.round if before is not None else session.round if message.get("team") is True else None
    if before is None and message.get("team") is True and round is None:
        raise ActError(
            "memo: a memo for the team needs a round, and none is coded here – write it for yourself, or "
            "open the widget for a round: CodingWidget(…, round=…)."
        )
    return record.memo(
        **common,
        coder=session.coder,
        text=as_text(message.get("text")),
        **about,
        memo_id=memo_id,
        answers=message.get("answers") if before is None else before.answers,
        round=round,
    )


def _revised(session: Writer, memo_id: object, about: Mapping[str, Any]) -> Act | None:
    """Return the last act of the memo that is revised, never one on something else; None for a new memo."""
    before = None if memo_id is None else session.last_of_memo(memo_id)
    is_other = before is not None and any(getattr(before, name) != value for name, value in about.items())
    if is_other or not isinstance(memo_id, str | None):
        raise ActError(f"memo: {str(memo_id)[:40]!r} is not your memo on this – write a new one.")
    return before
